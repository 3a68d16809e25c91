"""The quick way of single calls takes the intended arguments, and no others."""

from __future__ import annotations

import gc
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.toys import facts, toys

from rbdgen.emit.package import PRIVATE, EmitOptions
from rbdgen.emit.render import render
from rbdgen.errors import ArrayTypeError, ArrayValueError
from rbdgen.runtime import Library, open_library
from rbdgen.toolchain.cache import Cache
from rbdgen.toolchain.compiler import find_compiler
from rbdgen.toolchain.module import Toolchain, build

Q = np.array([0.3, -1.2])
V = np.array([0.7, 0.1])


@pytest.fixture(scope="module")
def lib(build_cache: Cache) -> Library:
    toolchain = Toolchain(find_compiler(), ("-O1", "-ffp-contract=off"), 2)
    return open_library(build(render(facts(), toys()), toolchain, build_cache))


@pytest.fixture
def only_quick(lib: Library, monkeypatch: pytest.MonkeyPatch) -> Library:
    """A library in which the careful way of calls raises an error."""

    def careful(*_: Any) -> None:
        raise AssertionError("the careful way was taken")

    for function in lib.functions.values():
        monkeypatch.setattr(function, "_careful", careful)
    return lib


def fortran(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.stack([array, array], axis=-1)[:, 0]


def misaligned(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    raw = np.empty(array.nbytes + 1, np.uint8)[1:].view(array.dtype)
    raw[:] = array
    return raw


def test_fit_arrays_are_quick(only_quick: Library) -> None:
    out = np.empty(2)
    assert only_quick.torque(Q, V, out=out) is out
    np.testing.assert_array_equal(out, only_quick.torque(Q, V))
    result = only_quick.inertia(Q)
    assert type(result).__name__ == "inertia_outputs"
    assert result._fields == ("M", "g")
    assert result.M.shape == (2, 2)
    M, g = result
    assert M is result.M
    assert g is result.g
    read_only = Q.copy()
    read_only.flags.writeable = False
    only_quick.torque(read_only, V)


class Several(tuple[Any, ...]):
    """A subclass of tuple."""


CONVERTED: dict[str, tuple[Any, Any]] = {
    "list": ([0.3, -1.2], Q),
    "tuple": ((0.3, -1.2), Q),
    "list of scalars": (list(Q), Q),
    "integers": ([1, -3], np.array([1.0, -3.0])),
    "mixed": ([True, -1.2], np.array([1.0, -1.2])),
    "not numbers": ([float("nan"), float("-inf")], np.array([np.nan, -np.inf])),
    "whole doubles": ([2**53, -(2**53)], np.array([2.0**53, -(2.0**53)])),
    "list of states": ([[0.3, -1.2], [1, 2]], np.array([Q, [1.0, 2.0]])),
    "list of arrays": ([Q, Q], np.array([Q, Q])),
    "byte order": (Q.astype(">f8"), Q),
    "float": (Q.astype(np.float32), Q.astype(np.float32).astype(float)),
    "half": (np.array([1, 2], np.float16), np.array([1.0, 2.0])),
    "long double": (Q.astype(np.longdouble), Q),
    "strides": (fortran(Q), Q),
    "reversed": (Q[::-1], Q[::-1].copy()),
    "misaligned": (misaligned(Q), Q),
    "some states": (np.array([Q, V, Q])[::2], np.array([Q, Q])),
    "of one number": (np.broadcast_to(0.3, (3, 2)), np.full((3, 2), 0.3)),
    "array of integers": (np.array([0, 1]), np.array([0.0, 1.0])),
    "unsigned": (np.array([2**64 - 1, 1], np.uint64), np.array([2.0**64, 1.0])),
    "booleans": (np.array([True, False]), np.array([1.0, 0.0])),
}


@pytest.mark.parametrize(("given", "read"), CONVERTED.values(), ids=CONVERTED)
def test_what_c_converts(only_quick: Library, given: Any, read: Any) -> None:
    out = np.empty(read.shape)
    np.testing.assert_array_equal(only_quick.torque(given, V), only_quick.torque(read, V))
    np.testing.assert_array_equal(only_quick.torque(v=given, q=Q), only_quick.torque(Q, read))
    assert only_quick.torque(given, given, out=out) is out
    np.testing.assert_array_equal(out, only_quick.torque(read, read))


LEFT: dict[str, Any] = {
    "subclass": np.ma.array(Q),
    "tuple of another type": Several((0.3, -1.2)),
    "huge integers": [2**70, 1],
    "text": "0.3",
    "texts": ["0.3", "1"],
    "complex": [1j, 0.0],
    "objects": [None, 1.0],
    "complex array": Q.astype(complex),
    "times": Q.astype("m8[s]"),
    "nothing": None,
    "empty": [],
    "one number": 0.5,
    "a number of numpy's": np.float32(0.5),
    "ragged": [[0.1], [0.1, 0.2]],
    "too long": [0.1, 0.2, 0.3],
    "column": Q[:, None],
}


@pytest.mark.parametrize("q", LEFT.values(), ids=LEFT)
def test_what_c_leaves_to_the_careful_way(only_quick: Library, q: Any) -> None:
    for arrays, named in (((q, V), {}), ((), {"q": q, "v": V}), ((V,), {"v": q})):
        with pytest.raises(AssertionError, match="the careful way"):
            only_quick.torque(*arrays, **named)


def test_names_that_are_no_constants(lib: Library) -> None:
    """A name that a program puts together is another object than the name in a call, with the same
    letters."""
    name = "".join(["q", ""])
    np.testing.assert_array_equal(lib.torque(**{name: Q, "v": V}), lib.torque(Q, V))


def test_integers_that_no_double_holds(lib: Library) -> None:
    """They are converted as by NumPy: to int64, then to double or float."""
    np.testing.assert_array_equal(
        lib.torque([2**53 + 1, 3], V), lib.torque(np.array([2**53 + 1, 3]).astype(float), V)
    )


def test_warnings_of_conversions_are_given_once(build_cache: Cache) -> None:
    toolchain = Toolchain(find_compiler(), ("-O1", "-ffp-contract=off"), 2)
    single = open_library(build(render(facts(), toys(), EmitOptions(real="float")), toolchain, build_cache))
    for q in ([1e300, 0.0], np.array([1e300, 0.0])):
        with pytest.warns(RuntimeWarning, match="overflow") as caught:
            assert np.isnan(single.torque(q, V)).any()
        assert len(caught) == 1
        with pytest.raises(RuntimeWarning, match="overflow"):
            single.torque(q, V)  # warnings are errors in tests


@pytest.mark.parametrize("step", [2, -2])
def test_what_is_converted_may_not_overlap_out_either(lib: Library, step: int) -> None:
    block = np.zeros(4)
    q = block[::step]
    with pytest.raises(ArrayValueError, match="out for tau overlaps q"):
        lib.torque(q, V, out=block[1:3])
    whole = np.zeros(2, np.int64)
    with pytest.raises(ArrayValueError, match="out for tau overlaps v"):
        lib.torque(Q, whole, out=whole.view(float))
    between = np.zeros(5)
    np.testing.assert_array_equal(lib.torque(between[::4], V, out=between[1:3]), lib.torque(np.zeros(2), V))


QS = np.stack([Q, Q + 1, Q - 1])
VS = np.stack([V, V / 2, -V])


def test_many_states_are_quick(lib: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = np.stack([lib.torque(*state) for state in zip(QS, VS, strict=True)])
    alone = [lib.inertia(q) for q in QS]
    shared = np.stack([lib.torque(q, V) for q in QS])
    monkeypatch.setattr(lib.torque, "_careful", None)
    monkeypatch.setattr(lib.inertia, "_careful", None)
    out = np.empty((3, 2))
    assert lib.torque(QS, VS, out=out, threads=2) is out
    np.testing.assert_array_equal(out, expected)
    np.testing.assert_array_equal(lib.torque(QS, VS), expected)
    np.testing.assert_array_equal(lib.torque(QS[:, None], VS[:, None])[:, 0], expected)
    np.testing.assert_array_equal(lib.torque(QS, V), shared)
    assert lib.torque(QS[:0], V).shape == (0, 2)
    pair = (np.empty((3, 2, 2)), np.empty((3, 2)))
    assert lib.inertia(QS, out=pair) is pair
    for k, result in enumerate(alone):
        np.testing.assert_array_equal(pair[0][k], result.M)
        np.testing.assert_array_equal(lib.inertia(QS).g[k], result.g)


@pytest.mark.parametrize(
    ("q", "v", "out", "threads"),
    [
        (QS, VS[:2], None, 1),
        (QS, VS[:1], None, 1),
        (QS, VS[:, None], None, 1),
        (QS, np.zeros((3, 3)), None, 1),
        (QS, VS, np.empty((2, 2)), 1),
        (QS, VS, np.empty(2), 1),
        (QS, VS, np.empty((3, 2, 1)), 1),
        (QS, VS, np.empty((2, 3)).T, 1),
        (QS, VS, np.empty((3, 2), np.float32), 1),
        (QS, VS, QS, 1),
        (QS, VS, None, 0),
        (QS, VS, None, -1),
        (QS, VS, None, True),
        (QS, VS, None, 2**70),
    ],
)
def test_many_states_that_do_not_fit(lib: Library, q: Any, v: Any, out: Any, threads: Any) -> None:
    assert lib.torque._quick(q, v, out, threads) is NotImplemented


def test_outputs_that_do_not_fit(lib: Library) -> None:
    M, g = np.empty((3, 2, 2)), np.empty((3, 2))
    block = np.empty(17)
    overlapping = (block[:12].reshape(3, 2, 2), block[11:].reshape(3, 2))
    read_only = np.empty((3, 2))
    read_only.flags.writeable = False
    for out in ((M,), [M, g], (g, M), (M, g[:2]), M, overlapping, (M, None), (M, read_only)):
        assert lib.inertia._quick(QS, out, 1) is NotImplemented


@pytest.mark.parametrize("arrays", [(), (Q,), (Q, V, V), (Q, V, V, V)])
def test_a_wrong_number_of_arrays(lib: Library, arrays: tuple[Any, ...]) -> None:
    assert lib.torque._quick(*arrays, None, 1) is NotImplemented


def test_overlap_by_a_single_number_is_seen(lib: Library) -> None:
    block = np.zeros(5)
    for q, v, out in ((block[:2], V, block[1:3]), (Q, block[2:4], block[3:])):
        with pytest.raises(ArrayValueError, match=r"out for tau overlaps [qv]"):
            lib.torque(q, v, out=out)
    lib.torque(block[:2], V, out=block[2:4])


def test_no_reference_is_lost_or_kept(lib: Library) -> None:
    out = np.empty(2)
    pair = (np.empty((3, 2, 2)), np.empty((3, 2)))
    large = np.zeros((5000, 2))  # large enough for results in memory that the runtime reuses
    numbers, single, strided, wrong = [0.25, 0.5], Q.astype(np.float32), QS[::2, ::-1], Q.astype(complex)

    def bound() -> None:
        lib.torque.bind(Q, V, out=out)()
        lib.inertia.bind(QS, out=pair, threads=2)()

    calls = [
        lambda: lib.torque(Q, V),
        lambda: lib.torque(Q, V, out=out),
        lambda: lib.inertia(Q),
        lambda: lib.torque(QS, VS),
        lambda: lib.inertia(QS),
        lambda: lib.inertia(large),
        lambda: lib.inertia(QS, out=pair),
        lambda: lib.torque._quick(QS, VS[:2], None, 1),
        bound,
        lambda: lib.torque._quick(Q, V, [1.0], 1),
        lambda: lib.torque(q=Q, v=V),
        lambda: lib.torque(numbers, single, out=out),
        lambda: lib.torque([Q, Q], strided),
        lambda: lib.torque._quick(numbers, [1.0, None], None, 1),
        lambda: lib.torque._quick(single, numbers, None, 1, a=numbers),
        lambda: lib.torque._quick(single, strided, numbers, 1),
        lambda: lib.torque._quick(wrong, V, None, 1),
    ]
    kept = (
        Q,
        V,
        QS,
        VS,
        large,
        numbers,
        single,
        strided,
        wrong,
        lib.torque.dtype,
        out,
        pair,
        *pair,
        None,
        NotImplemented,
        True,
        False,
        lib.inertia._tuple,
    )
    for call in calls:
        call()
    gc.collect()
    before = [sys.getrefcount(x) for x in kept]
    for call in calls:
        for _ in range(1000):
            call()
    gc.collect()
    after = [sys.getrefcount(x) for x in kept]
    assert max(abs(a - b) for a, b in zip(after, before, strict=True)) < 20


def test_bound_calls_read_anew_and_write_in_place(lib: Library) -> None:
    q = Q.copy()
    step = lib.torque.bind(q, V)
    assert step() is step.out
    first = step.out.copy()
    q[:] = 0.1
    step()
    np.testing.assert_array_equal(step.out, lib.torque(q, V))
    assert (first != step.out).any()
    with pytest.raises(TypeError, match="takes no arguments"):
        step(q)
    several = lib.inertia.bind(q)
    assert several() is several.out
    np.testing.assert_array_equal(several.out.M, lib.inertia(q).M)


def test_bound_arrays_live_as_long_as_the_call(lib: Library) -> None:
    step = lib.torque.bind(Q.copy(), V.copy(), out=np.empty(2))
    gc.collect()
    step()
    np.testing.assert_array_equal(step.out, lib.torque(Q, V))


def test_many_leading_axes(lib: Library) -> None:
    result = lib.inertia(np.tile(Q, (1,) * 30 + (1,)))
    assert result.M.shape == (1,) * 30 + (2, 2)
    np.testing.assert_array_equal(result.M.reshape(2, 2), lib.inertia(Q).M)


@pytest.mark.parametrize("axes", [31, 32, 62, 63])
@pytest.mark.parametrize("as_c_reads_it", [True, False])
def test_more_leading_axes_than_there_may_be(lib: Library, axes: int, as_c_reads_it: bool) -> None:
    """63 leading axes are possible in NumPy's vectors, but not in its matrices."""
    q = np.zeros((1,) * axes + (2,), None if as_c_reads_it else np.float32)
    with pytest.raises(
        ArrayValueError, match=rf"^inertia: {axes} leading axes are too many; pass at most 30$"
    ):
        lib.inertia(q)


def test_more_elements_than_there_can_be(lib: Library) -> None:
    """Inputs that broadcast to 2 ** 62 states, whose results would have 2 ** 66 bytes, are refused."""
    q = np.broadcast_to(Q, (2**31, 1, 2))
    v = np.broadcast_to(V, (2**31, 2))
    with pytest.raises(
        ArrayValueError, match=r"^torque: tau would have 9223372036854775808 elements; pass f"
    ):
        lib.torque(q, v)


@pytest.mark.parametrize("q", [np.ma.array(Q), np.ma.array(QS, mask=QS > 0)])
def test_masked_arrays_are_refused(lib: Library, q: Any) -> None:
    message = r"^torque: q is a masked array; pass its filled\(\) values$"
    for call in (lib.torque, lib.torque.bind):
        with pytest.raises(ArrayTypeError, match=message):
            call(q, V)
    with pytest.raises(ArrayTypeError, match="out for tau is a MaskedArray"):
        lib.torque(np.array(q), V, out=np.ma.empty(q.shape))


def test_the_quick_calls_of_another_python_are_left_alone(lib: Library, tmp_path: Path) -> None:
    shutil.copytree(lib.folder, tmp_path / "toy")
    path = tmp_path / "toy" / "manifest.json"
    text = path.read_text()
    old = lib.manifest["build"]["calls"]
    new = old.replace(sys.implementation.cache_tag, "cpython-27m")
    assert old != new
    (tmp_path / "toy" / old).rename(tmp_path / "toy" / new)
    path.write_text(text.replace(old, new))
    other = open_library(tmp_path / "toy")
    assert other.torque._calls is None
    assert lib.torque._calls is not None
    np.testing.assert_array_equal(other.torque(Q, V), lib.torque(Q, V))


def test_without_the_module_of_quick_calls_all_is_as_before(lib: Library, tmp_path: Any) -> None:
    for name in lib.manifest["files"]:
        if f"{PRIVATE}/_calls" not in name:
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_bytes((lib.folder / name).read_bytes())
    slow = open_library(tmp_path)
    np.testing.assert_array_equal(slow.torque(Q, V), lib.torque(Q, V))
    step = slow.torque.bind(Q, V)
    assert step() is step.out
    np.testing.assert_array_equal(step.out, lib.torque(Q, V))
