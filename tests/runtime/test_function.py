"""Calls: accepted arrays, refusals, and the results."""

from __future__ import annotations

import shutil
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.toys import facts, inertia, straight, torque, toys

from rbdgen.emit.package import EmitOptions
from rbdgen.emit.render import render
from rbdgen.errors import ArrayTypeError, ArrayValueError, LoadError, RbdgenError
from rbdgen.graph.evaluate import evaluate
from rbdgen.runtime import Library, open_library
from rbdgen.runtime.arrays import check_shape
from rbdgen.toolchain.cache import Cache
from rbdgen.toolchain.compiler import find_compiler
from rbdgen.toolchain.module import Toolchain, build

Array = np.ndarray[Any, Any]
Q = np.array([0.3, -1.2])
V = np.array([0.7, 0.1])
TAU = evaluate(straight(torque()), {"q": Q, "v": V})["tau"]


def built(cache: Cache, options: EmitOptions | None = None) -> Path:
    toolchain = Toolchain(find_compiler(), ("-O1", "-ffp-contract=off"), 2)
    return build(render(facts(), toys(), options), toolchain, cache)


@pytest.fixture(scope="module")
def lib(build_cache: Cache) -> Library:
    return open_library(built(build_cache))


@pytest.fixture(scope="module")
def single(build_cache: Cache) -> Library:
    return open_library(built(build_cache, EmitOptions(real="float")))


def close(result: Array, expected: Array, dtype: type = np.float64) -> None:
    assert result.dtype == dtype
    np.testing.assert_allclose(result, expected, rtol=1e-15 if dtype is np.float64 else 1e-6, atol=0)


def test_one_state(lib: Library) -> None:
    close(lib.torque(Q, V), TAU)
    close(lib.torque(q=Q, v=V), TAU)
    close(lib.torque(Q, v=V), TAU)


def test_several_outputs_are_a_named_tuple(lib: Library) -> None:
    result = lib.inertia(Q)
    assert result._fields == ("M", "g")
    close(result.M, evaluate(straight(inertia()), {"q": Q})["M"])
    close(result.g, np.zeros(2))


CONVERSIONS: dict[str, Callable[[Array], Any]] = {
    "list": lambda x: x.tolist(),
    "tuple": lambda x: tuple(x.tolist()),
    "big-endian": lambda x: x.astype(">f8"),
    "long double": lambda x: x.astype(np.longdouble),
    "every other": lambda x: np.repeat(x, 2, axis=-1)[..., ::2],
    "reversed": lambda x: x[..., ::-1].copy()[..., ::-1],
    "fortran": np.asfortranarray,
    "read-only": lambda x: np.frombuffer(x.tobytes()).reshape(x.shape),
    "misaligned": lambda x: np.frombuffer(b"x" + x.tobytes(), offset=1).reshape(x.shape),
    "subclass": lambda x: x.view(np.recarray),
}


@pytest.mark.parametrize("conversion", CONVERSIONS.values(), ids=CONVERSIONS)
@pytest.mark.parametrize("states", [(), (3,)])
def test_any_real_array_is_taken(
    lib: Library, conversion: Callable[[Array], Any], states: tuple[int, ...]
) -> None:
    q, v = np.tile(Q, (*states, 1)).reshape(*states, 2), np.tile(V, (*states, 1)).reshape(*states, 2)
    expected = np.broadcast_to(TAU, (*states, 2))
    close(lib.torque(conversion(q), conversion(v)), expected)
    close(lib.torque(conversion(q), v), expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int8, np.uint64, np.bool_])
def test_other_real_dtypes_are_converted(lib: Library, dtype: type) -> None:
    q = np.array([1, 0], dtype)
    close(lib.torque(q, V), lib.torque(q.astype(float), V))


def test_single_precision(single: Library) -> None:
    close(single.torque(Q, V), TAU, np.float32)
    close(single.torque(Q.astype(np.float32), V.astype(np.float32)), TAU, np.float32)
    out = np.empty(2, np.float32)
    assert single.torque(Q, V, out=out) is out
    with pytest.raises(ArrayTypeError, match="out for tau has dtype float64, expected float32"):
        single.torque(Q, V, out=np.empty(2))


@pytest.mark.parametrize(
    ("q_axes", "v_axes"),
    [
        ((), (5,)),
        ((5,), ()),
        ((4, 1), (3,)),
        ((1,), (5,)),
        ((2, 3, 4), (3, 1)),
        ((0,), ()),
        ((3, 0), (1, 1)),
        ((1, 1), ()),
    ],
)
def test_leading_axes_broadcast(lib: Library, q_axes: tuple[int, ...], v_axes: tuple[int, ...]) -> None:
    random = np.random.default_rng(0)
    q, v = random.standard_normal((*q_axes, 2)), random.standard_normal((*v_axes, 2))
    result = lib.torque(q, v)
    assert result.shape == (*np.broadcast_shapes(q_axes, v_axes), 2)
    for index in np.ndindex(result.shape[:-1]):
        one = [np.broadcast_to(x, result.shape)[index] for x in (q, v)]
        np.testing.assert_array_equal(result[index], lib.torque(*one))
    M = lib.inertia(q).M
    assert M.shape == (*q_axes, 2, 2)


def test_more_states_than_one_chunk(lib: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    chunk = 64
    monkeypatch.setattr(lib.torque, "_chunk", chunk)
    monkeypatch.setattr(lib.torque, "_quick", lib.torque._quick_way())
    q = np.linspace(-1, 1, 2 * (chunk + 7)).reshape(-1, 2)
    result = lib.torque(q, V)
    for k in (0, chunk - 1, chunk, len(q) - 1):
        np.testing.assert_array_equal(result[k], lib.torque(q[k], V))


def test_nan_passes_through_its_own_state_alone(lib: Library) -> None:
    q = np.tile(Q, (3, 1))
    q[1, 0] = np.nan
    result = lib.torque(q, V)
    assert np.isnan(result[1]).all()
    close(result[[0, 2]], np.tile(TAU, (2, 1)))
    assert np.isnan(lib.torque(q[1], V)).all()


def test_out_is_written_and_given_back(lib: Library) -> None:
    out = np.full(2, np.nan)
    assert lib.torque(Q, V, out=out) is out
    close(out, TAU)
    states = np.full((4, 2), np.nan)
    assert lib.torque(np.tile(Q, (4, 1)), V, out=states[::1]).base is states
    close(states, np.tile(TAU, (4, 1)))
    several = (np.empty((2, 2)), np.full(2, np.nan))
    assert lib.inertia(Q, out=several) is several
    close(several[1], np.zeros(2))
    again = lib.inertia(Q)
    assert lib.inertia(Q, out=again) is again


def test_out_beside_the_inputs_in_one_array(lib: Library) -> None:
    block = np.concatenate([Q, V, np.empty(2)])
    lib.torque(block[:2], block[2:4], out=block[4:])
    close(block[4:], TAU)


def read_only() -> Array:
    array = np.empty(2)
    array.flags.writeable = False
    return array


@pytest.mark.parametrize(
    ("out", "error", "message"),
    [
        ([0.0, 0.0], ArrayTypeError, "torque: out for tau is a list; pass a numpy.ndarray"),
        (np.empty(2, np.float32), ArrayTypeError, "out for tau has dtype float32, expected float64"),
        (np.empty(2, ">f8"), ArrayTypeError, "out for tau has dtype >f8, expected float64"),
        (np.empty(3), ArrayValueError, "out for tau has shape (3,), expected (2,)"),
        (np.empty((1, 2)), ArrayValueError, "out for tau has shape (1, 2), expected (2,)"),
        (
            np.empty(4)[::2],
            ArrayValueError,
            "out for tau is not in C order; pass numpy.empty((2,), 'float64')",
        ),
        (read_only(), ArrayValueError, "out for tau is read-only; pass a writable array"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_an_unfit_out_is_refused(lib: Library, out: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        lib.torque(Q, V, out=out)
    assert message in str(caught.value)


@pytest.mark.parametrize("as_list", [False, True])
def test_an_overlapping_out_is_refused(lib: Library, as_list: bool) -> None:
    q = Q.copy()
    v = V.tolist() if as_list else V
    for out in (q, q[:], q.view()):
        with pytest.raises(ArrayValueError, match="out for tau overlaps q; pass an array of its own"):
            lib.torque(q, v, out=out)
    block = np.zeros(5)
    with pytest.raises(ArrayValueError, match="out for tau overlaps q"):
        lib.torque(block[1:3], v, out=block[2:4])
    M = np.empty((2, 2))
    with pytest.raises(ArrayValueError, match="out for g overlaps out for M"):
        lib.inertia(Q, out=(M, M[0]))
    with pytest.raises(ArrayTypeError, match="out must be a tuple of 2 arrays: M, g"):
        lib.inertia(Q, out=M)


def test_matrices_whose_states_lie_last_are_told() -> None:
    check_shape("f", "fext", (100, 3, 6), (3, 6))
    with pytest.raises(ArrayValueError, match=r"first axis; pass numpy\.moveaxis\(fext, -1, 0\)$"):
        check_shape("f", "fext", (3, 6, 100), (3, 6))
    with pytest.raises(ArrayValueError, match=r"expected \(\.\.\., 3, 6\)$"):
        check_shape("f", "fext", (6, 3), (3, 6))


@pytest.mark.parametrize(
    ("arrays", "error", "message"),
    [
        ((Q, np.zeros(3)), ArrayValueError, "torque: v has shape (3,), expected (..., 2)"),
        ((Q, 1.0), ArrayValueError, "torque: v has shape (), expected (..., 2)"),
        (
            (Q[:, None], V),
            ArrayValueError,
            "torque: q has shape (2, 1), expected (..., 2): states lie along the first axis; pass q.T",
        ),
        (
            (Q, np.zeros((2, 100))),
            ArrayValueError,
            "torque: v has shape (2, 100), expected (..., 2): states lie along the first axis; pass v.T",
        ),
        ((np.zeros((2, 5, 7)), V), ArrayValueError, "torque: q has shape (2, 5, 7), expected (..., 2)"),
        (
            (np.zeros((3, 2)), np.zeros((4, 2))),
            ArrayValueError,
            "torque: leading axes do not broadcast: q (3, 2), v (4, 2)",
        ),
        ((Q, V.astype(complex)), ArrayTypeError, "torque: v has dtype complex128; pass real numbers"),
        ((Q, ["a", "b"]), ArrayTypeError, "torque: v has dtype <U1; pass real numbers"),
        ((Q, [None, 1.0]), ArrayTypeError, "torque: v has dtype object; pass real numbers"),
        (
            (Q, [[1.0], [1.0, 2.0]]),
            ArrayValueError,
            "torque: v is not an array; pass numbers, no ragged lists",
        ),
        ((Q, np.zeros(2, "M8[s]")), ArrayTypeError, "torque: v has dtype datetime64[s]; pass real numbers"),
        ((Q,), ArrayTypeError, "torque: v is missing; call torque(q, v)"),
        ((), ArrayTypeError, "torque: q is missing; call torque(q, v)"),
        ((Q, V, V), ArrayTypeError, "torque: 3 arrays given; call torque(q, v)"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_does_not_fit_is_named(lib: Library, arrays: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        lib.torque(*arrays)
    assert str(caught.value) == message
    assert isinstance(caught.value, RbdgenError)
    assert isinstance(caught.value, TypeError if error is ArrayTypeError else ValueError)


def test_unknown_and_double_names(lib: Library) -> None:
    with pytest.raises(ArrayTypeError, match=r"unexpected argument 'a'; call torque\(q, v\)"):
        lib.torque(Q, V, a=V)
    with pytest.raises(ArrayTypeError, match="unexpected argument 'q'"):
        lib.torque(Q, q=V)


def test_bind_reads_the_inputs_as_they_are_then(lib: Library) -> None:
    q, out = Q.copy(), np.empty(2)
    step = lib.torque.bind(q, V, out=out)
    assert step.out is out
    step()
    close(out, TAU)
    q[0] = -1.0
    step()
    close(out, lib.torque(q, V))
    own = lib.torque.bind(q, v=V)
    own()
    close(own.out, out)


def test_bind_of_states_and_of_several_outputs(lib: Library) -> None:
    q = np.random.default_rng(0).standard_normal((5, 2))
    for threads in (1, 3):
        step = lib.torque.bind(q, V, threads=threads)
        assert step() is step.out
        close(step.out, lib.torque(q, V))
    empty = lib.torque.bind(q[:0], V)
    assert empty().shape == (0, 2)
    matrices = lib.inertia.bind(q)
    matrices()
    close(matrices.out.M, lib.inertia(q).M)
    close(matrices.out.g, np.zeros((5, 2)))


def test_bind_keeps_its_arrays_alive(lib: Library) -> None:
    step = lib.torque.bind(Q.copy(), V.copy())
    noise = [np.full(2, 9.0) for _ in range(100)]
    step()
    close(step.out, TAU)
    assert len(noise) == 100


@pytest.mark.parametrize("q", [[0.3, -1.2], Q.astype(np.float32), np.repeat(Q, 2)[::2]])
def test_bind_converts_nothing(lib: Library, q: Any) -> None:
    with pytest.raises(ArrayTypeError, match=r"torque\.bind: q must be a float64 array in C order"):
        lib.torque.bind(q, V)


def test_bind_checks_shapes_and_out(lib: Library) -> None:
    with pytest.raises(
        ArrayValueError, match=r"torque\.bind: q has shape \(1, 2\), expected \(2,\) or \(3, 2\)"
    ):
        lib.torque.bind(Q[None], np.zeros((3, 2)))
    with pytest.raises(ArrayValueError, match="overlaps q"):
        lib.torque.bind(Q, V, out=Q)


def test_what_a_function_tells_of_itself(lib: Library) -> None:
    assert lib.torque.cost["total"] == 19
    assert lib.torque.cost["sin"] == 2
    assert "void toy_torque(" in lib.torque.source
    assert [x.name for x in lib.torque.signature.inputs] == ["q", "v"]
    assert (lib.torque.__doc__ or "").startswith(
        "torque(q, v, *, out=None, threads=1) -> tau\n\nToy torque.\n"
    )
    units = "q (2,) [rad], v (2,) [rad/s] -> tau (2,) [N m]"
    assert repr(lib.torque) == f"<torque: {units}; 19 operations>"


def test_a_notebook_shows_the_functions_of_a_library(lib: Library) -> None:
    html = lib._repr_html_()
    assert html.count("<tr>") == 1 + len(lib.functions)
    assert "<td>torque</td><td>q (2,) [rad], v (2,) [rad/s]</td><td>tau (2,) [N m]</td>" in html


def test_source_that_is_gone(lib: Library, tmp_path: Path) -> None:
    shutil.copytree(lib.folder, tmp_path / "toy")
    (tmp_path / "toy" / "toy_torque.c").unlink()
    lib = open_library(tmp_path / "toy")
    with pytest.raises(LoadError, match=r"toy_torque\.c: could not be read; generate the folder again"):
        _ = lib.torque.source


def test_other_threads_run_meanwhile(lib: Library) -> None:
    """Another thread gets the interpreter during a call of C, as nothing else in this test releases it."""
    step = lib.torque.bind(np.zeros((100_000, 2)), V)
    gate, ran = threading.Semaphore(0), []

    def follow() -> None:
        gate.acquire()
        ran.append(True)

    thread = threading.Thread(target=follow)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000.0)  # no thread is forced to release the interpreter
    try:
        thread.start()
        gate.release()
        for _ in range(10_000):  # the system may wake the thread late
            step()
            if ran:
                break
        assert ran
    finally:
        sys.setswitchinterval(interval)
        thread.join()
