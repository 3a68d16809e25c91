"""Computes torques by inverse dynamics for a million random states of the quadruped, or for many more.

Every block of states is drawn in the process that needs it. Only the mean square and the largest value of the
torques are kept, or with --to all torques, in a file, so the memory does not grow with the number of states.
The sources of the library are sent to each worker process once; a worker compiles them for its processor, or
finds them in its cache. The example needs the extra `dask`: pip install 'rbdgen[dask]'.

    python examples/million_states.py                                two worker processes
    python examples/million_states.py 100_000_000 --workers 1
    python examples/million_states.py --threads 2                    threads of this process, no workers
    python examples/million_states.py --direct                       no Dask: a loop that calls the library
    python examples/million_states.py --to tau.npy                   all torques into a file
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from typing import Any, NamedTuple

import dask
import dask.array as da
import numpy as np
from dask.diagnostics import ProgressBar
from dask.distributed import Client, LocalCluster, progress
from numpy.lib.format import open_memmap

import rbdgen
from rbdgen.runtime import Library

BLOCK = 50_000
"""The number of states of one task, which needs 30 MB."""

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class OnDisk:
    """An array in a file of NumPy's format; every process opens the file itself to write its rows."""

    path: str

    def __setitem__(self, index: Any, rows: Array) -> None:
        np.load(self.path, mmap_mode="r+")[index] = rows


def normal(block: Array, stream: int, block_id: tuple[int, ...]) -> Array:
    """Random numbers in the shape of a block, which depend only on the block and the stream."""
    return np.random.default_rng([stream, *block_id]).standard_normal(block.shape)


def torques(lib: Library, count: int) -> da.Array:
    """The torques (count, nv) of random states, as a lazy array of blocks."""
    numbers, v, a = (
        da.empty((count, width), chunks=(BLOCK, width)).map_blocks(normal, stream, dtype=float)
        for stream, width in enumerate((lib.nq, lib.nv, lib.nv))
    )
    return lib.rnea(lib.normalize(numbers), v, a)


def figures(tau: Array) -> Array:
    """The sum of squares and the largest torque of every joint in a block, (1, 2, nv)."""
    return np.stack([np.sum(tau**2, axis=0), np.max(np.abs(tau), axis=0)])[None]


def all_figures(tau: da.Array) -> da.Array:
    """The figures of all blocks, (blocks, 2, nv)."""
    chunks = ((1,) * tau.numblocks[0], 2, tau.shape[1])
    return tau.map_blocks(figures, chunks=chunks, new_axis=1, dtype=float)


class Cost(NamedTuple):
    """The cost of a computation: elapsed time in s, processor time in s, and the peak memory of the largest
    process in GB.
    """

    seconds: float
    busy: float
    memory: float


def on_workers(lib: Library, later: Any, workers: int) -> tuple[Any, Cost]:
    """Computes lazy arrays by worker processes, and returns the result and its cost."""
    with LocalCluster(n_workers=workers, threads_per_worker=1) as cluster, Client(cluster) as client:
        client.run(repr, lib)  # workers open the library before the clock starts
        begun, busy = time.perf_counter(), sum(client.run(time.process_time).values()) + time.process_time()
        found = client.compute(later)
        progress(found, notebook=False)
        results = client.gather(found)
        seconds = time.perf_counter() - begun
        busy = sum(client.run(time.process_time).values()) + time.process_time() - busy
        return results, Cost(seconds, busy, max(peak(), *client.run(peak).values()))


def on_threads(later: Any, threads: int) -> tuple[Any, Cost]:
    """Computes lazy arrays by threads of this process, and returns the result and its cost."""
    begun, busy = time.perf_counter(), time.process_time()
    with ProgressBar():
        results = dask.compute(*later, scheduler="threads", num_workers=threads)
    return results, Cost(time.perf_counter() - begun, time.process_time() - busy, peak())


def directly(lib: Library, count: int) -> tuple[Any, Cost]:
    """Computes the same figures by a loop over blocks, without Dask, and returns them and the cost."""
    found, begun, busy = [], time.perf_counter(), time.process_time()
    for k, first in enumerate(range(0, count, BLOCK)):
        length = min(BLOCK, count - first)
        q, v, a = (
            normal(np.empty((length, width)), stream, (k, 0))
            for stream, width in enumerate((lib.nq, lib.nv, lib.nv))
        )
        found.append(figures(lib.rnea(lib.normalize(q), v, a)))
        print(f"\r{first + length:12,} states", end="", flush=True)
    cost = Cost(time.perf_counter() - begun, time.process_time() - busy, peak())
    return [np.concatenate(found)], cost


def peak() -> float:
    """The largest memory of this process so far, in GB."""
    return getrusage(RUSAGE_SELF).ru_maxrss / 1e6


def main() -> None:
    """Computes the torques, and prints the figures, the states per second and the memory."""
    arguments = parsed()
    count = arguments.count
    lib = rbdgen.build(rbdgen.load_robot("quadruped12", base="floating"), ["rnea"])
    if arguments.direct:
        results, cost = directly(lib, count)
    else:
        tau = torques(lib, count)
        later = [all_figures(tau)]
        if arguments.to is not None:
            open_memmap(arguments.to, mode="w+", dtype=tau.dtype, shape=tau.shape)
            later.append(da.store(tau, OnDisk(str(arguments.to)), lock=False, compute=False))
        if arguments.threads:
            results, cost = on_threads(later, arguments.threads)
        else:
            results, cost = on_workers(lib, later, arguments.workers)
    print(f"\n{count:,} states in {cost.seconds:.1f} s, {count / cost.seconds:,.0f} per second")
    print(f"{cost.busy / count * 1e6:.2f} us of processor time per state; {cost.memory:.2f} GB per process")
    squares, largest = results[0][:, 0].sum(0), results[0][:, 1].max(0)
    for name, of_all in (("root mean square", np.sqrt(squares / count)), ("largest", largest)):
        print(f"{name} of joint torques, N m: {' '.join(f'{x:.2f}' for x in of_all[6:])}")


def parsed() -> argparse.Namespace:
    """The arguments of the command line."""
    parser = argparse.ArgumentParser(description="Torques of many random states of the quadruped.")
    parser.add_argument("count", type=int, nargs="?", default=1_000_000, help="the number of states")
    parser.add_argument("--workers", type=int, default=2, help="the number of worker processes")
    parser.add_argument(
        "--threads", type=int, default=0, help="the number of threads of this process, in place of workers"
    )
    parser.add_argument("--direct", action="store_true", help="call the library in a loop, without Dask")
    parser.add_argument("--to", type=Path, help="write all torques to this file, in NumPy's format")
    return parser.parse_args()


if __name__ == "__main__":
    main()
