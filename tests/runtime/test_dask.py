"""Functions on a cluster of two processes: blocks of arrays, and generalised universal functions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import dask.array as da
import numpy as np
import pytest
from dask.distributed import Client, LocalCluster
from support.toys import facts, toys

from rbdgen.emit.package import EmitOptions
from rbdgen.emit.render import render
from rbdgen.pipeline.rebuild import open_built
from rbdgen.runtime import Library
from rbdgen.toolchain.cache import Cache
from rbdgen.toolchain.compiler import find_compiler
from rbdgen.toolchain.module import Toolchain, build

pytestmark = pytest.mark.filterwarnings("ignore")  # of dask's own dependencies


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
