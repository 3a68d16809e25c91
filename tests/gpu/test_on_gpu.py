"""Functions on a real GPU: bits, streams, CUDA graphs, and times, which are printed (pytest -m gpu -s)."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from support.cuda import STATES, interpreted, same_bits
from support.web import states_of

import rbdgen
from rbdgen.errors import DeviceError
from rbdgen.gpu.device import Device, current_device
from rbdgen.gpu.library import KernelLibrary
from rbdgen.gpu.stream import Stream
from rbdgen.options import Options, environment_driver
from rbdgen.pipeline.design import design_functions
from rbdgen.pipeline.request import Request

pytestmark = pytest.mark.gpu

CASES = [("double_pendulum", "float", False), ("arm7", "float", False), ("arm7", "double", True)]
"""Robots, types of numbers, and whether the kernels have the bits of the C."""

FUNCTIONS = ["rnea", "aba", "minv", "step"]

MANY = 2**18


@pytest.fixture
def device() -> Device:
    try:
        return current_device()
    except DeviceError as error:
        pytest.skip(f"no GPU: {error}")


@cache
def built(robot: str, real: str, same_bits: bool) -> KernelLibrary:
    options: dict[str, Any] = {"real": real, "same_bits": same_bits}
    return rbdgen.build(robot, FUNCTIONS, target="cuda", **options)


def listed(results: Any) -> list[Any]:
    return list(results) if isinstance(results, tuple) else [results]


@pytest.mark.parametrize("count", [1, STATES, 5_000])
@pytest.mark.parametrize(("robot", "real", "plain"), CASES)
def test_bits(robot: str, real: str, plain: bool, count: int, device: Device) -> None:
    lib = built(robot, real, plain)
    options = Options.of(target="cuda", functions=FUNCTIONS, real=real, same_bits=plain)
    functions = design_functions(Request(rbdgen.load_robot(robot), options, package=False))
    drawn = states_of(lib.manifest, count)
    for function in functions:
        inputs, signature = drawn[function.name], function.signature
        arrays = [lib.to_device(inputs[x.name].reshape(-1, *x.shape)) for x in signature.inputs]
        found = listed(lib.functions[function.name](*arrays))
        expected = interpreted(function, inputs, fuse=not plain)
        for y, got in zip(signature.outputs, found, strict=True):
            assert same_bits(got.numpy().reshape(count, -1), expected[y.name]), f"{function.name}: {y.name}"


@pytest.mark.parametrize(("robot", "real", "plain"), CASES)
def test_rollouts_are_steps(robot: str, real: str, plain: bool, device: Device) -> None:
    """Rollouts of 50 steps have the bits of single steps, for controls of their own and for shared ones."""
    lib = built(robot, real, plain)
    random = np.random.default_rng(0)
    q, v = (lib.to_device(0.1 * random.standard_normal((5_000, lib.nv))) for _ in range(2))
    for leading in ((5_000,), ()):
        controls = random.standard_normal((*leading, 50, lib.nv))
        found = lib.rollout(q, v, lib.to_device(controls), 0.001)
        last = lib.rollout(q, v, lib.to_device(controls), 0.001, last=True)
        state = (q, v)
        for k in range(50):
            state = lib.step(*state, lib.to_device(controls[..., k, :]), 0.001)
            for part, own in zip(found, state, strict=True):
                assert same_bits(part.numpy()[:, k], own.numpy())
        for part, own in zip(last, state, strict=True):
            assert same_bits(part.numpy(), own.numpy())


def new_stream(device: Device) -> Stream:
    """A stream that does not wait for the default one."""
    made = ctypes.c_void_p()
    with device.current():
        assert ctypes.CDLL(environment_driver()).cuStreamCreate(ctypes.byref(made), 1) == 0
    assert made.value is not None
    return Stream(made.value)


def arrays_of(lib: KernelLibrary, count: int, stream: Stream | None = None) -> list[Any]:
    inputs = states_of(lib.manifest, count)["rnea"].values()
    return [lib.to_device(x, stream=None if stream is None else stream.handle) for x in inputs]


def test_streams_wait_for_each_other(device: Device) -> None:
    """A chain of calls from stream to stream gives what one stream gives, many times."""
    lib = built("arm7", "float", False)
    streams = [new_stream(device) for _ in range(3)]
    q, v, a = arrays_of(lib, MANY)

    def chain(handles: list[int]) -> Any:
        tau = a
        for handle in handles:
            tau = lib.rnea(q, v, tau, stream=handle)
        return tau.numpy()

    expected = chain([1] * 6)
    for _ in range(20):
        assert same_bits(chain([stream.handle for stream in streams] * 2), expected)


def test_bound_calls_in_a_cuda_graph(device: Device) -> None:
    lib = built("arm7", "float", False)
    stream, library = new_stream(device), ctypes.CDLL(environment_driver())
    arrays = arrays_of(lib, STATES, stream)
    expected = lib.rnea(*arrays).numpy()
    out = lib.to_device(np.zeros_like(expected), stream=stream.handle)
    bound, on = lib.rnea.bind(*arrays, out=out, stream=stream.handle), ctypes.c_void_p(stream.handle)
    graph, instance = ctypes.c_void_p(), ctypes.c_void_p()
    with device.current():
        assert library.cuStreamBeginCapture_v2(on, 0) == 0
        bound()
        assert library.cuStreamEndCapture(on, ctypes.byref(graph)) == 0
        assert library.cuGraphInstantiateWithFlags(ctypes.byref(instance), graph, ctypes.c_ulonglong(0)) == 0
        assert not same_bits(out.numpy(), expected)
        assert library.cuGraphLaunch(instance, on) == 0
    assert same_bits(out.numpy(), expected)


@pytest.mark.parametrize(("robot", "real", "plain"), CASES)
def test_times_are_printed(robot: str, real: str, plain: bool, device: Device) -> None:
    """The least times of bound calls in microseconds, for few and for many states; nothing is asserted."""
    lib = built(robot, real, plain)
    lines = [f"{device}, {robot}, {real}"]
    for count in (1024, 2**14, MANY):
        arrays = arrays_of(lib, count)
        for name in ("rnea", "aba"):
            bound = lib.functions[name].bind(*arrays)
            lines.append(f"{name:5} {count:8} states {least(bound):9.1f} us")
    for count in (1024, 2**14, 2**16):
        q, v = (lib.to_device(np.zeros((count, lib.nv))) for _ in range(2))
        bound = lib.rollout.bind(q, v, lib.to_device(np.zeros((count, 50, lib.nv))), 0.001, last=True)
        lines.append(f"50 steps {count:8} rollouts {least(bound):9.1f} us")
    print("\n".join(lines))


def least(bound: Callable[[], Any], calls: int = 20) -> float:
    """The least time of a call in microseconds, from several calls at once."""
    times = []
    for _ in range(10):
        begun = time.perf_counter()
        for _ in range(calls):
            out = bound()
        out.synchronize()
        times.append((time.perf_counter() - begun) / calls)
    return min(times) * 1e6
