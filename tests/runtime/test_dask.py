"""Dask arrays: calls that are put off, on this process and on a cluster of two processes."""

from __future__ import annotations

import json
import os
import pickle
import platform
import runpy
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import dask
import dask.array as da
import numpy as np
import pytest
from dask.distributed import Client, LocalCluster, Scheduler, wait
from support.toys import facts, toys

import rbdgen
from rbdgen.emit.package import EmitOptions
from rbdgen.emit.render import render
from rbdgen.emit.write import write_folder
from rbdgen.pipeline.rebuild import library_of, open_built
from rbdgen.runtime import Library
from rbdgen.toolchain.cache import Cache
from rbdgen.toolchain.compiler import find_compiler
from rbdgen.toolchain.module import Toolchain, build, package_files

pytestmark = pytest.mark.filterwarnings("ignore")  # of dask's own dependencies


FOREIGN = "-march=armv8-a" if platform.machine() == "x86_64" else "-march=x86-64-v2"
"""Of another kind of processor."""


@pytest.fixture(scope="module")
def lib(build_cache: Cache) -> Library:
    toolchain = Toolchain(find_compiler(), ("-O2", "-ffp-contract=off"), 2)
    return open_built(build(render(facts(), toys(), EmitOptions(trig="builtin")), toolchain, build_cache))


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    environment = {"RBDGEN_CACHE": str(tmp_path_factory.mktemp("worker"))}
    with (
        pytest.MonkeyPatch.context() as patch,
        LocalCluster(n_workers=0, threads_per_worker=1, dashboard_address=None, processes=True) as cluster,
    ):
        for name, value in environment.items():
            patch.setenv(name, value)
        cluster.scale(2)
        with Client(cluster) as client:
            client.wait_for_workers(2)
            yield client


def test_on_two_processes(lib: Library, client: Client) -> None:
    random = np.random.default_rng(0)
    q, v = random.standard_normal((2, 1000, 2))
    expected = lib.torque(q, v)
    blocks = [da.from_array(x, chunks=(100, 2)) for x in (q, v)]
    mapped = da.map_blocks(lib.torque, *blocks, dtype=np.float64)
    np.testing.assert_array_equal(mapped.compute(), expected)
    ufunc = da.apply_gufunc(lib.torque, "(i),(i)->(i)", *blocks, output_dtypes=np.float64)
    np.testing.assert_array_equal(ufunc.compute(), expected)
    caches = client.run(lambda: __import__("os").environ["RBDGEN_CACHE"])
    assert len(caches) == 2
    (cache,) = set(caches.values())
    assert list(Path(cache).glob("*/toy/manifest.json")), "the workers built it for themselves"


def test_several_outputs_come_back_whole(lib: Library, client: Client) -> None:
    q = np.random.default_rng(1).standard_normal((50, 2))
    result = client.submit(lib.inertia, q).result()
    np.testing.assert_array_equal(result.M, lib.inertia(q).M)


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
    """Dask arrays, one for each output, with the bits of a plain call; what they say before is true."""
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
    """Chunks that cut states in two, and that differ from array to array."""
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
    """Chunks that cut steps and matrices; a Dask array among others; one policy for all states."""
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
    """Dask says what it is; whoever computes it fails."""
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
    """Beside the one that is the library."""
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
    """By way of Dask the figures are those of a loop, and a file holds the torques that they are of."""
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


def misses() -> int:
    """The number of libraries that this process made from bytes."""
    return library_of.cache_info().misses


def test_a_library_travels_once_and_is_compiled_by_workers_alone(lib: Library, client: Client) -> None:
    """The scheduler, which is part of this process here, does not compile it."""
    q, v = (da.random.default_rng(k).standard_normal((1000, 2), chunks=(50, 2)) for k in range(2))
    here, there = misses(), client.run(misses)
    torque, inertia = lib.torque(q, v), lib.inertia(q)
    results = client.compute([torque, *inertia])
    expected = [torque, *inertia]
    for own, other in zip(client.gather(results), expected, strict=True):
        np.testing.assert_array_equal(own, other.compute(scheduler="synchronous"))
    assert misses() == here
    made = [after - there[worker] for worker, after in client.run(misses).items()]
    assert max(made) <= 1


def bytes_of_tasks(dask_scheduler: Scheduler) -> dict[str, int]:
    """The bytes that the scheduler sends to a worker for each task, without results of other tasks."""
    return {str(key): len(pickle.dumps(task.run_spec)) for key, task in dask_scheduler.tasks.items()}


def test_tasks_carry_no_library(arm: Library, client: Client) -> None:
    """One of them is the library's texts; all others name it."""
    q = da.zeros((1000, 2), chunks=(50, 2))
    tau = np.zeros((3, 2))
    feedback = {"gains": np.zeros((3, 2, 4)), "states": np.zeros((3, 4))}
    lazy = client.persist([arm.rnea(q, q, q), arm.rollout(q, q, tau, 0.01, **feedback).q])
    wait(lazy)
    sizes = client.run_on_scheduler(bytes_of_tasks)
    texts = [size for key, size in sizes.items() if key.startswith("rbdgen-")]
    assert [len(pickle.dumps(arm)) <= size for size in texts] == [True]
    assert len(sizes) > 40
    assert max(size for key, size in sizes.items() if not key.startswith("rbdgen-")) < 4096
    del lazy


def torque_of(library: Library, q: np.ndarray) -> Any:
    return library.torque(q, np.zeros(2))


def test_a_scattered_library(lib: Library, client: Client) -> None:
    """For a user's own tasks: the library goes to each worker once, and tasks refer to it."""
    q = np.random.default_rng(6).standard_normal((4, 2))
    shared = client.scatter(lib, broadcast=True)
    futures = client.map(torque_of, [shared] * 4, list(q))
    np.testing.assert_array_equal(client.gather(futures), lib.torque(q, np.zeros(2)))
    assert max(client.run_on_scheduler(bytes_of_tasks).values()) < 4096


def test_a_worker_of_another_kind_of_processor(client: Client, build_cache: Cache, tmp_path: Path) -> None:
    """Such a worker gets C, with flags that its compiler does not have."""
    toolchain = Toolchain(find_compiler(), ("-O2", "-ffp-contract=off"), 2)
    made = build(render(facts("foreign"), toys(), EmitOptions(trig="builtin")), toolchain, build_cache)
    write_folder(tmp_path / "foreign", package_files(made))
    origin = tmp_path / "foreign" / "_rbdgen" / "origin.json"
    told = json.loads(origin.read_text())
    origin.write_text(json.dumps({**told, "flags": [*told["flags"], FOREIGN]}))
    lib = open_built(tmp_path / "foreign")
    with pytest.raises(rbdgen.RbdgenError, match=r"failed: .*; this machine is .* arch=") as error:
        lib.torque(da.ones((10, 2), chunks=(5, 2)), np.zeros(2)).compute()
    assert "\n" not in str(error.value)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="levels of x86-64")
def test_a_library_for_many_processors(client: Client, build_cache: Cache) -> None:
    """Each worker compiles all levels and takes its own."""
    levels = ("x86-64-v2", "x86-64-v3", "x86-64-v4")
    toolchain = Toolchain(find_compiler(), ("-march=x86-64-v2", "-O2", "-ffp-contract=off"), 2, levels)
    made = render(facts("many"), toys(), EmitOptions(trig="builtin"))
    lib = open_built(build(made, toolchain, build_cache))
    q = np.random.default_rng(7).standard_normal((100, 2))
    lazy = lib.torque(da.from_array(q, chunks=(50, 2)), np.zeros(2))
    np.testing.assert_array_equal(lazy.compute(), lib.torque(q, np.zeros(2)))


def name_compiler(command: str) -> None:
    os.environ["CC"] = command


def test_a_worker_that_cannot_compile_says_so_in_one_line(client: Client, build_cache: Cache) -> None:
    toolchain = Toolchain(find_compiler(), ("-O2", "-ffp-contract=off"), 2)
    made = render(facts("other"), toys(), EmitOptions(trig="builtin"))
    other = open_built(build(made, toolchain, build_cache))
    client.run(name_compiler, "/none/cc")
    try:
        with pytest.raises(rbdgen.RbdgenError, match="the C compiler '/none/cc' is not there") as error:
            other.torque(da.ones((10, 2), chunks=(5, 2)), np.zeros(2)).compute()
        assert "\n" not in str(error.value)
    finally:
        client.run(name_compiler, "cc")
