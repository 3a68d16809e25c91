"""Computes torques for a million states of the quadruped, out of core, on two worker processes.

The states are on disk. Each worker reads a block of them, calls the batch function, and writes the torques
back. The function is sent to the workers as sources; a worker compiles them once for its machine, or finds
the result in its cache. It needs the extra `dask`: pip install 'rbdgen[dask]'.

    python examples/million_states.py [COUNT] [FOLDER]
"""

from __future__ import annotations

import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
from dask import delayed
from dask.distributed import Client, LocalCluster, progress
from numpy.lib.format import open_memmap

import rbdgen
from rbdgen.resources import robot_root
from rbdgen.runtime import Library

BLOCK = 50_000


@dataclass(frozen=True)
class OnDisk:
    """An array in a file, which every process opens itself; only the rows that are read are in memory."""

    path: str
    shape: tuple[int, int]
    dtype: np.dtype[np.float64] = field(default_factory=lambda: np.dtype(np.float64))
    ndim: int = 2

    def __post_init__(self) -> None:
        open_memmap(self.path, mode="w+", dtype=self.dtype, shape=self.shape)

    def __getitem__(self, index: Any) -> np.ndarray[Any, Any]:
        return np.array(np.load(self.path, mmap_mode="r")[index])

    def __setitem__(self, index: Any, rows: np.ndarray[Any, Any]) -> None:
        np.load(self.path, mmap_mode="r+")[index] = rows


def random_states(lib: Library, count: int, seed: int = 0) -> tuple[da.Array, da.Array, da.Array]:
    """q, v and a of `count` random states as lazy arrays in blocks."""
    nq, nv = lib.nq, lib.nv
    lengths = [min(BLOCK, count - first) for first in range(0, count, BLOCK)]
    configurations = delayed(lib.random)
    blocks = [
        da.from_delayed(configurations(seed + k, (length,)), (length, nq), float)
        for k, length in enumerate(lengths)
    ]
    q = da.concatenate(blocks)
    random = da.random.default_rng(seed)
    v, a = (random.standard_normal((count, nv), chunks=(BLOCK, nv)) for _ in range(2))
    return q, v, a


def main(count: int, folder: Path) -> None:
    """Writes `count` states and then their torques to `folder`, and prints the time that the torques took."""
    robot = rbdgen.load_robot(robot_root() / "quadruped12.urdf", base="floating")
    lib = rbdgen.build(robot, functions=["rnea"])
    nq, nv = lib.nq, lib.nv
    names = ("q", "v", "a", "tau")
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster, Client(cluster):
        files = [
            OnDisk(str(folder / f"{name}.npy"), (count, width))
            for name, width in zip(names, (nq, nv, nv, nv), strict=True)
        ]
        da.store(random_states(lib, count), files[:3], lock=False)
        q, v, a = (da.from_array(file, chunks=(BLOCK, file.shape[1])) for file in files[:3])
        start = time.perf_counter()
        tau = da.map_blocks(lib.rnea, q, v, a, dtype=np.float64, chunks=(q.chunks[0], (nv,)))
        stored = da.store(tau, files[3], lock=False, compute=False).persist()
        progress(stored)
        stored.compute()
        print(f"\n{count} states in {time.perf_counter() - start:.1f} s, disk and all")
    k = count // 2
    inputs = [file[k] for file in files[:3]]
    print(
        f"state {k}: tau differs by {np.abs(lib.rnea(*inputs) - files[3][k]).max():.1e} from a single call's"
    )


if __name__ == "__main__":
    states = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    if len(sys.argv) > 2:
        main(states, Path(sys.argv[2]))
    else:
        with tempfile.TemporaryDirectory() as temporary:
            main(states, Path(temporary))
