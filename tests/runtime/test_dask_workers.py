"""Dask arrays on a cluster of two processes: libraries travel once, and workers compile them."""

from __future__ import annotations

import json
import os
import pickle
import platform
from collections.abc import Iterator
from pathlib import Path
from typing import Any

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

pytestmark = pytest.mark.filterwarnings("ignore")  # these come from dependencies of Dask


FOREIGN = "-march=armv8-a" if platform.machine() == "x86_64" else "-march=x86-64-v2"
"""A flag for another kind of processor."""


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


@pytest.fixture(scope="module")
def arm() -> Library:
    return rbdgen.build(rbdgen.load_robot("double_pendulum"), ["rnea", "step", "difference"])


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
    """One task holds the texts of the library; all others refer to it."""
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
    """A user's own tasks can share a library: it goes to each worker once, and tasks refer to it."""
    q = np.random.default_rng(6).standard_normal((4, 2))
    shared = client.scatter(lib, broadcast=True)
    futures = client.map(torque_of, [shared] * 4, list(q))
    np.testing.assert_array_equal(client.gather(futures), lib.torque(q, np.zeros(2)))
    assert max(client.run_on_scheduler(bytes_of_tasks).values()) < 4096


def test_a_worker_of_another_kind_of_processor(client: Client, build_cache: Cache, tmp_path: Path) -> None:
    """A worker whose compiler does not have the flags of the sender gets the C sources."""
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
