"""Computes torques by inverse dynamics for a million random states of the quadruped on a GPU.

It prints the states per second of calls, of bound calls, and of a copy of the torques to the host, and
compares the torques of the first states with those of the CPU. It needs a GPU of NVIDIA with its driver, and
the extra `cuda`: pip install 'rbdgen[cuda]'. Without a GPU it says so in a line.

    python examples/million_states_gpu.py
    python examples/million_states_gpu.py 100_000 --robot arm7 --real double
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import rbdgen
from rbdgen.errors import DeviceError
from rbdgen.gpu.device import current_device
from rbdgen.gpu.library import KernelLibrary

COMPARED = 1000
"""The number of states whose torques are compared with those of the CPU."""

REPETITIONS = 20


def least(run: Callable[[], Any]) -> float:
    """The least time in s of several runs. `run` waits until the GPU is done."""
    run()
    times = []
    for _ in range(REPETITIONS):
        begun = time.perf_counter()
        run()
        times.append(time.perf_counter() - begun)
    return min(times)


def states(gpu: KernelLibrary, count: int) -> tuple[np.ndarray[Any, Any], ...]:
    """Random configurations, velocities and accelerations (count, ...)."""
    random = np.random.default_rng(0)
    q = gpu.manifold.random(random, (count,))
    v, a = (random.standard_normal((count, gpu.nv)) for _ in range(2))
    return q, v, a


def main() -> None:
    """Computes the torques, and prints the times and the largest difference to the CPU."""
    arguments = parsed()
    count = arguments.count
    try:
        device = current_device()
    except DeviceError as error:
        print(f"skipped, as it needs a GPU: {error}")
        return
    base = "floating" if arguments.robot == "quadruped12" else "fixed"
    robot = rbdgen.load_robot(arguments.robot, base=base)
    gpu = rbdgen.build(robot, ["rnea"], target="cuda", real=arguments.real)
    host = states(gpu, count)
    arrays = [gpu.to_device(x) for x in host]
    bound = gpu.rnea.bind(*arrays)

    print(f"{device}, {count:,} states of {robot.name} in {arguments.real}")
    for name, run in (
        ("call", lambda: gpu.rnea(*arrays).synchronize()),
        ("bound call", lambda: bound().synchronize()),
        ("copy to the host", bound.out.numpy),
    ):
        seconds = least(run)
        print(f"{name:16} {seconds * 1e3:9.3f} ms, {count / seconds:,.0f} states per second")
    cpu = rbdgen.build(robot, ["rnea"])
    few = [x[:COMPARED] for x in host]
    wanted = cpu.rnea(*few)
    difference = np.abs(bound.out.numpy()[:COMPARED] - wanted).max() / np.abs(wanted).max()
    print(f"largest difference to the CPU in double: {difference:.1e} of the largest torque")


def parsed() -> argparse.Namespace:
    """The arguments of the command line."""
    parser = argparse.ArgumentParser(description="Torques of many random states on a GPU.")
    parser.add_argument("count", type=int, nargs="?", default=1_000_000, help="the number of states")
    parser.add_argument("--robot", default="quadruped12", help="a bundled robot (default quadruped12)")
    parser.add_argument("--real", default="float", choices=("float", "double"), help="the type of numbers")
    return parser.parse_args()


if __name__ == "__main__":
    main()
