"""Calls with Dask arrays are delayed; the tests compute them in this process."""

from __future__ import annotations

import runpy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import dask
import dask.array as da
import numpy as np
import pytest

import rbdgen
from rbdgen.runtime import Library

pytestmark = pytest.mark.filterwarnings("ignore")  # these come from dependencies of Dask


STATES = 100


@pytest.fixture(scope="module")
def arm() -> Library:
    robot = rbdgen.load_robot("double_pendulum", frames=["lower"])
    functions = [
        "rnea",
        "crba",
        "kinetic_energy",
        "frame_placement",
        "rnea_derivatives",
        "step",
        "difference",
    ]
    return rbdgen.build(robot, functions)


@pytest.fixture(scope="module")
def vectors() -> list[np.ndarray]:
    return list(np.random.default_rng(2).standard_normal((3, STATES, 2)))


def assert_put_off(lazy: Any, expected: Any) -> None:
    """Asserts that outputs are Dask arrays of the right shape and type, with the bits of a plain call."""
    if isinstance(expected, dict):
        assert list(lazy) == list(expected)
        lazy, expected = tuple(lazy.values()), tuple(expected.values())
    if isinstance(expected, tuple):
        assert type(lazy) is type(expected)
        for own, other in zip(lazy, expected, strict=True):
            assert_put_off(own, other)
        return
    assert isinstance(lazy, da.Array)
    assert (lazy.shape, lazy.dtype) == (expected.shape, expected.dtype)
    assert all(len(chunks) == 1 for chunks in lazy.chunks[1:])
    assert type(lazy._meta) is np.ndarray
    assert lazy._meta.dtype == expected.dtype
    computed = lazy.compute(scheduler="synchronous")
    np.testing.assert_array_equal(computed, expected)
    assert computed.dtype == expected.dtype


CALLS: dict[str, Callable[[Library, Any, Any, Any], Any]] = {
    "a vector": lambda lib, q, v, a: lib.rnea(q, v, a),
    "a matrix": lambda lib, q, v, a: lib.crba(q),
    "a number": lambda lib, q, v, a: lib.kinetic_energy(q, v),
    "several outputs": lambda lib, q, v, a: lib.rnea_derivatives(q, v, a),
    "outputs of other shapes": lambda lib, q, v, a: lib.frame_placement(q),
    "by name": lambda lib, q, v, a: lib.rnea(q, a=a, v=v, threads=2),
    "one state for all": lambda lib, q, v, a: lib.rnea(q, v[0], a[:1]),
    "one state": lambda lib, q, v, a: lib.rnea(q[0], v[0], a[0]),
    "no state": lambda lib, q, v, a: lib.crba(q[:0]),
    "one state in one chunk for all": lambda lib, q, v, a: (
        lib.rnea(q[:1].rechunk(-1), v.rechunk(-1), a[0])
        if isinstance(q, da.Array)
        else lib.rnea(q[:1], v, a[0])
    ),
    "two leading axes": lambda lib, q, v, a: lib.rnea(q.reshape(10, 10, 2), v[:10], a[0]),
    "a number of dt": lambda lib, q, v, a: lib.step(q, v, a, 0.01),
    "a rollout": lambda lib, q, v, a: lib.rollout(q, v, a[:, None] * np.ones((7, 1)), 0.01),
    "its end": lambda lib, q, v, a: lib.rollout(q[0], v[0], a[:, None], dt=0.01, last=True, threads=2),
}


@pytest.mark.parametrize("name", CALLS)
def test_calls_are_put_off(arm: Library, vectors: list[np.ndarray], name: str) -> None:
    """The chunks split single states, and differ between the arrays."""
    chunks = [(30, 1), (45, 2), (100, 2)]
    lazy = [da.from_array(x, chunks=chunk) for x, chunk in zip(vectors, chunks, strict=True)]
    assert_put_off(CALLS[name](arm, *lazy), CALLS[name](arm, *vectors))


STEPS = 9


@pytest.fixture(scope="module")
def controls() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The inputs of rollouts with feedback: tau, gains, and states including the one at the end."""
    random = np.random.default_rng(3)
    shapes = (STEPS, 2), (STEPS, 2, 4), (STEPS + 1, 4)
    tau, gains, states = (random.standard_normal((STATES, *shape)) for shape in shapes)
    return tau, gains, states


@pytest.mark.parametrize("last", [False, True])
def test_rollouts_with_feedback(
    arm: Library, vectors: list[np.ndarray], controls: tuple[np.ndarray, ...], last: bool
) -> None:
    """Chunks may split steps and matrices, arrays may be mixed, and one policy may serve all states."""
    (q, v, _), (tau, gains, states) = vectors, controls
    lazy_q, lazy_v = da.from_array(q, chunks=(30, 1)), da.from_array(v, chunks=(45, 2))
    lazy_tau, lazy_gains, lazy_states = (
        da.from_array(x, chunks=(40, 4, *x.shape[2:-1], 1)) for x in (tau, gains, states)
    )
    expected = arm.rollout(q, v, tau, 0.01, gains=gains, states=states, last=last)
    feedback = {"gains": lazy_gains, "states": lazy_states}
    assert_put_off(arm.rollout(lazy_q, lazy_v, lazy_tau, 0.01, **feedback, last=last, threads=2), expected)
    assert_put_off(arm.rollout(q, v, tau, 0.01, gains=lazy_gains, states=states, last=last), expected)
    one = arm.rollout(q, v, tau[0], 0.01, gains=gains[0], states=states[0, :STEPS], last=last)
    policy = {"gains": gains[0], "states": lazy_states[0, :STEPS]}
    assert_put_off(arm.rollout(lazy_q, lazy_v, lazy_tau[0], 0.01, **policy, last=last), one)
    open_loop = arm.rollout(lazy_q, v, tau, 0.01, gains=None, states=None, last=last)
    assert_put_off(open_loop, arm.rollout(q, v, tau, 0.01, last=last))


@pytest.fixture(scope="module")
def floating() -> Library:
    robot = rbdgen.load_robot("double_pendulum", base="floating", contacts=["lower"])
    return rbdgen.build(robot, ["contact_pose"])


def test_what_is_no_function_of_c_is_put_off_too(floating: Library) -> None:
    q, other = floating.random(4, (2, STATES))
    v = np.random.default_rng(5).standard_normal((STATES, floating.nv))
    lazy_q, lazy_other = (da.from_array(x, chunks=(30, 4)) for x in (2 * q, other))
    q = 2 * q
    assert_put_off(floating.normalize(lazy_q), floating.normalize(q))
    assert_put_off(floating.integrate(lazy_q, v), floating.integrate(q, v))
    assert_put_off(floating.difference(other[0], lazy_q), floating.difference(other[0], q))
    assert_put_off(floating.difference(lazy_q, lazy_other), floating.difference(q, other))
    assert_put_off(floating.full_configuration(lazy_q), floating.full_configuration(q))
    anchors = floating.anchor(lazy_other)
    assert isinstance(anchors, da.Array)
    np.testing.assert_array_equal(anchors.compute(), floating.anchor(other))


def test_a_quaternion_of_length_zero_is_found_where_it_is_computed(floating: Library) -> None:
    lazy = floating.normalize(da.zeros((10, floating.nq), chunks=5))
    with pytest.raises(rbdgen.RbdgenError, match="normalize: a quaternion has length zero"):
        lazy.compute(scheduler="synchronous")


def never(block: np.ndarray) -> np.ndarray:
    raise AssertionError("computed")


def untouched(*shape: int) -> da.Array:
    """A Dask array with known shape and type, whose computation raises an error."""
    meta = np.empty((0,) * len(shape))
    return da.zeros(shape, chunks=(10**6, *shape[1:])).map_blocks(never, dtype=float, meta=meta)


def test_beside_plain_arrays_and_lists(arm: Library, vectors: list[np.ndarray]) -> None:
    q, v, a = vectors
    expected = arm.rnea(q, v, a)
    assert_put_off(arm.rnea(da.from_array(q, chunks=(30, 2)), v, a.tolist()), expected)
    assert_put_off(arm.rnea(q, v, da.from_array(a, chunks=(30, 2))), expected)


def test_other_types_of_numbers(arm: Library, vectors: list[np.ndarray]) -> None:
    single = vectors[0].astype(np.float32)
    assert_put_off(arm.crba(da.from_array(single, chunks=(30, 2))), arm.crba(single))


def test_nothing_is_computed_before(arm: Library) -> None:
    q = untouched(10**9, 2)
    assert arm.crba(q).shape == (10**9, 2, 2)
    feedback = {"gains": np.zeros((1, 2, 4)), "states": np.zeros((1, 4))}
    assert arm.rollout(q, q, q[:, None], 0.01, **feedback).tau.shape == (10**9, 1, 2)
    assert arm.normalize(q).shape == (10**9, 2)
    assert arm.full_configuration(q)["elbow"].shape == (10**9,)


def test_what_is_read_at_once_is_refused(arm: Library) -> None:
    q = untouched(10, 2)
    message = (
        r"^(rnea|step\.rollout): (q|tau) is a Dask array, which is read here at once; pass its compute\(\)$"
    )
    one = np.zeros((10, 2))
    for bind in (
        lambda: arm.rnea.bind(q, q, q),
        lambda: arm.step.rollout.bind(q, one, one, 0.1),
        lambda: arm.rollout.bind(one, one, q, 0.1),
    ):
        with pytest.raises(rbdgen.RbdgenError, match=message):
            bind()


def test_checks_look_at_blocks_where_they_are_computed(arm: Library) -> None:
    lib = rbdgen.build("double_pendulum", ["gravity"], checks=True)
    assert lib.gravity(untouched(10, 2)).shape == (10, 2)
    degrees = lib.gravity(da.full((10, 2), 90.0, chunks=5))
    with pytest.warns(rbdgen.errors.StateWarning, match="looks like degrees"):
        degrees.compute(scheduler="synchronous")


def test_calls_one_after_the_other_are_one_task_for_each_block(arm: Library) -> None:
    """Calls in sequence are one task per block, and one more task is the library."""
    q = da.ones((100, 2), chunks=(10, 2))
    chain = arm.rnea(arm.normalize(q), q, arm.rnea(q, 2 * q, q)) + 1
    assert len(dask.optimize(chain)[0].__dask_graph__()) == 11


def test_the_same_call_has_the_same_name(arm: Library) -> None:
    q = da.ones((10, 2), chunks=5)
    assert arm.crba(q).name == arm.crba(q).name
    assert arm.crba(q).name != arm.crba(q, threads=2).name
    assert arm.rnea(q, q, q).name != arm.rnea(q, q, 2 * q).name


MISTAKES: dict[str, tuple[Callable[[Library, Any], Any], str]] = {
    "a state too short": (
        lambda lib, q: lib.crba(q[:, :1]),
        r"crba: q has shape \(100, 1\), expected \(..., 2\)",
    ),
    "leading axes": (lambda lib, q: lib.rnea(q, q[:7], q), "rnea: leading axes do not broadcast: q "),
    "complex numbers": (lambda lib, q: lib.crba(q + 1j), "crba: q has dtype complex128; pass real numbers"),
    "out": (
        lambda lib, q: lib.crba(q, out=np.zeros((100, 2, 2))),
        "crba: out cannot be given with Dask arrays",
    ),
    "unknown chunks": (
        lambda lib, q: lib.crba(q[q[:, 0] > 0]),
        r"crba: q has chunks of unknown size; call its",
    ),
    "masked": (lambda lib, q: lib.crba(da.ma.masked_less(q, 0)), "blocks of q are of type MaskedArray; pass"),
    "a missing one": (lambda lib, q: lib.rnea(q), r"rnea: v is missing; call rnea\(q, v, a\)"),
    "one too many": (lambda lib, q: lib.crba(q, q), r"crba: 2 arrays given; call crba\(q\)"),
    "threads": (lambda lib, q: lib.crba(q, threads=0), "crba: threads is 0; pass 1 or more"),
    "texts beside": (lambda lib, q: lib.rnea(q, "v", q), "rnea: v has dtype <U1; pass real numbers"),
    "no steps": (lambda lib, q: lib.rollout(q, q, q[:, None][:, :0], 0.1), "give one step at least"),
    "unknown steps": (
        lambda lib, q: lib.rollout(q[0], q[0], q[q[:, 0] > 0], 0.1),
        r"step\.rollout: tau has chunks of unknown size; call its",
    ),
    "unknown rows of states": (
        lambda lib, q: lib.rollout(q[0], q[0], q, 0.1, gains=np.zeros((100, 2, 4)), states=q[q[:, 0] > 0]),
        r"step\.rollout: states has chunks of unknown size; call its",
    ),
    "gains alone": (
        lambda lib, q: lib.rollout(q[0], q[0], q, 0.1, gains=da.zeros((100, 2, 4))),
        r"step\.rollout: states is missing; call",
    ),
    "gains of other steps": (
        lambda lib, q: lib.rollout(q[0], q[0], q, 0.1, gains=da.zeros((99, 2, 4)), states=da.zeros((100, 4))),
        r"gains has shape \(99, 2, 4\), expected \(..., 100, 2, 4\)",
    ),
    "out of a rollout": (
        lambda lib, q: lib.rollout(q[0], q[0], q, 0.1, out=(np.zeros((100, 2)), np.zeros((100, 2)))),
        r"step\.rollout: out cannot be given with Dask arrays",
    ),
    "a rollout's leading axes": (
        lambda lib, q: lib.rollout(q, q[:7], q[:, None], 0.1),
        r"step\.rollout: leading axes do not broadcast",
    ),
    "leading axes of a method": (
        lambda lib, q: lib.integrate(q, q[:7]),
        "integrate: leading axes do not broadcast",
    ),
    "a method of unknown chunks": (
        lambda lib, q: lib.full_configuration(q[q[:, 0] > 0]),
        "full_configuration: q has chunks of unknown size",
    ),
    "steps missing": (
        lambda lib, q: lib.rollout(q, q, q[0], 0.1),
        r"tau has shape \(2,\), expected \(..., N, 2\)",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_refused_at_once(arm: Library, vectors: list[np.ndarray], name: str) -> None:
    call, message = MISTAKES[name]
    with pytest.raises(rbdgen.RbdgenError, match=message) as error:
        call(arm, da.from_array(vectors[0], chunks=(30, 2)))
    assert "\n" not in str(error.value)


def test_parameters(vectors: list[np.ndarray]) -> None:
    """A table for each state, from parameters for each state; by name they are refused."""
    lib = rbdgen.build(rbdgen.load_robot("double_pendulum"), ["gravity"], params=["mass:lower"])
    q = vectors[0]
    p = np.linspace(1, 2, STATES)[:, None]
    lazy = da.from_array(p, chunks=(20, 1))
    assert_put_off(lib.gravity(q, lib.update(lazy)), lib.gravity(q, lib.update(p)))
    with pytest.raises(
        rbdgen.RbdgenError, match="update: a value is a Dask array; pass all parameters as one"
    ):
        lib.update({"mass:lower": lazy[:, 0]})


def test_a_generated_package_does_the_same(arm: Library, vectors: list[np.ndarray], tmp_path: Path) -> None:
    """A generated package includes this code, and needs no Dask."""
    rbdgen.generate(rbdgen.load_robot("double_pendulum"), tmp_path, ["gravity"])
    np.save(tmp_path / "q.npy", vectors[0])
    script = (
        "import sys, numpy as np, double_pendulum as lib; q = np.load('q.npy'); expected = lib.gravity(q);"
        "assert 'dask' not in sys.modules; import dask.array as da; lazy = da.from_array(q, chunks=(30, 2));"
        "g = lib.gravity(lazy);"
        "assert isinstance(g, da.Array); np.testing.assert_array_equal(g.compute(), expected); print('same')"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout == "same\n"


def test_the_example_of_many_states(arm: Library, tmp_path: Path) -> None:
    """Dask gives the figures of a loop, and writes their torques to a file."""
    path = Path(__file__).resolve().parents[2] / "examples" / "million_states.py"
    example = SimpleNamespace(**runpy.run_path(str(path)))
    count = 2 * example.BLOCK + 7
    (direct,), _ = example.directly(arm, count)
    tau, file = example.torques(arm, count), tmp_path / "tau.npy"
    np.lib.format.open_memmap(file, mode="w+", dtype=tau.dtype, shape=tau.shape)
    stored = da.store(tau, example.OnDisk(str(file)), lock=False, compute=False)
    (found, _), cost = example.on_threads([example.all_figures(tau), stored], 2)
    np.testing.assert_array_equal(found, direct)
    squares = np.sum(np.load(file) ** 2, axis=0)
    np.testing.assert_allclose(squares, direct[:, 0].sum(0), rtol=1e-12)
    assert min(cost) > 0
