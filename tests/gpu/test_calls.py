"""Functions on a GPU: bits, streams, lifetimes and arrays of other libraries.

The driver is one that runs kernels on the CPU.
"""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from support.cuda import interpreted, same_bits
from support.driver import Foreign, Lent, StandIn, compiled

import rbdgen
from rbdgen.emit.package import FunctionSource
from rbdgen.gpu import dlpack
from rbdgen.gpu.array import DeviceArray
from rbdgen.gpu.device import Device
from rbdgen.gpu.library import KernelLibrary
from rbdgen.gpu.stream import Stream
from rbdgen.options import Options
from rbdgen.pipeline.design import design_functions
from rbdgen.pipeline.request import Request

Array = np.ndarray[Any, Any]

STATES = 133
"""A number of states that fills no last block and no last warp."""


@cache
def designed() -> dict[str, FunctionSource]:
    """The functions whose kernels the tests run."""
    options = Options.of(target="cuda", functions=["rnea", "aba", "step"], real="float")
    functions = design_functions(Request(rbdgen.load_robot("double_pendulum"), options, package=False))
    return {function.name: function for function in functions}


def drawn(leading: tuple[int, ...], dtype: Any = np.float32, count: int = 3) -> list[Array]:
    """Arrays (*leading, 2)."""
    random = np.random.default_rng(0)
    return [random.standard_normal((*leading, 2)).astype(dtype) for _ in range(count)]


def wanted(name: str, *inputs: Array) -> list[Array]:
    """The outputs (states, size) by the interpreter, for inputs (states, size)."""
    function = designed()[name]
    named = {x.name: array for x, array in zip(function.signature.inputs, inputs, strict=True)}
    return list(interpreted(function, named, fuse=True).values())


def torques(*inputs: Array) -> Array:
    (tau,) = wanted("rnea", *inputs)
    return tau


@pytest.mark.parametrize("leading", [(), (1,), (STATES,), (3, 43)], ids=str)
def test_bits_of_calls(leading: tuple[int, ...], lib: KernelLibrary, driver: StandIn) -> None:
    """The whole way from an array of NumPy and back, for outputs of one array and of several."""
    inputs = drawn(leading)
    q, v, a = map(lib.to_device, inputs)
    rows = [array.reshape(-1, 2) for array in inputs]
    tau = lib.rnea(q, v, a)
    assert (tau.shape, tau.dtype, tau.ndim) == ((*leading, 2), np.float32, len(leading) + 1)
    assert same_bits(tau.numpy().reshape(-1, 2), torques(*rows))
    found = lib.step(q, v, tau, 0.01)
    assert found._fields == ("q_next", "v_next")
    dt = np.full((len(rows[0]), 1), 0.01, np.float32)
    for got, expected in zip(found, wanted("step", *rows[:2], torques(*rows), dt), strict=True):
        assert same_bits(got.numpy().reshape(-1, 2), expected)
    assert driver.settings.contexts == 1
    assert driver.settings.modules == 2


def test_no_states(lib: KernelLibrary, driver: StandIn) -> None:
    q = lib.to_device(np.zeros((0, 2)))
    tau = lib.rnea(q, q, q)
    assert tau.numpy().shape == (0, 2)
    assert (driver.settings.launches, driver.live) == (0, 0)
    assert len(tau) == 0
    assert dlpack.lent(tau.__dlpack__()).shape == (0, 2)


def test_an_input_without_leading_axes_is_that_of_all_states(lib: KernelLibrary, driver: StandIn) -> None:
    q, v, a = drawn((STATES,))
    tau = lib.rnea(lib.to_device(q), lib.to_device(v[0]), a=lib.to_device(a))
    assert same_bits(tau.numpy(), torques(q, np.tile(v[0], (STATES, 1)), a))
    dt = lib.to_device(np.full(STATES, 0.25))
    found = lib.step(lib.to_device(q), lib.to_device(v), lib.to_device(a), dt)
    expected = wanted("step", q, v, a, np.full((STATES, 1), 0.25, np.float32))
    assert same_bits(found.v_next.numpy(), expected[1])
    copies = driver.settings.copies
    shared = lib.step(lib.to_device(q), lib.to_device(v), lib.to_device(a), 0.25)
    assert same_bits(shared.v_next.numpy(), expected[1])
    assert driver.settings.copies - copies == 5  # three arrays and a number there, and the result back
    del tau, dt, found, shared
    assert driver.live == 0


def test_a_library_built_for_the_gpu_of_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = rbdgen.generate("double_pendulum", tmp_path, ["rnea"], target="cuda")
    driver = StandIn(compiled(folder, tmp_path / "driver"), tmp_path)
    driver.settings.major, driver.settings.minor = 12, 1
    monkeypatch.setenv("RBDGEN_LIBCUDA", str(driver.path))
    lib = rbdgen.build("double_pendulum", ["rnea"], target="cuda")
    assert list(lib.rnea.facts["architectures"]) == ["sm_121"]
    assert lib.dtype == np.float64
    inputs = drawn((STATES,), np.float64)
    tau = lib.rnea(*map(lib.to_device, inputs))
    assert same_bits(tau.numpy(), torques(*inputs))
    driver.finish()


def test_results_go_where_they_are_wanted(lib: KernelLibrary, driver: StandIn) -> None:
    inputs = drawn((STATES,))
    q, v, a = map(lib.to_device, inputs)
    out = lib.to_device(np.zeros((STATES, 2)))
    assert lib.rnea(q, v, a, out=out) is out
    assert same_bits(out.numpy(), torques(*inputs))
    stream = driver.stream()
    foreign = Foreign(lib.to_device(np.zeros((STATES, 2))), stream=stream)
    both = (out, foreign)
    assert lib.step(q, v, a, 0.01, out=both) is both
    expected = wanted("step", *inputs, np.full((STATES, 1), 0.01, np.float32))
    assert same_bits(out.numpy(), expected[0])
    # the foreign array's own stream has waited for the results
    tau = lib.rnea(foreign, v, a, stream=stream)
    assert same_bits(tau.numpy(), torques(expected[1], *inputs[1:]))
    assert driver.settings.allocated == 7


def test_streams_wait_for_each_other(lib: KernelLibrary, driver: StandIn) -> None:
    """Nothing runs in a queue before somebody waits for it, so a missing wait would give NaN."""
    q, v, a = drawn((STATES,))
    one, other, third = driver.stream(), driver.stream(), driver.stream()
    x = lib.to_device(q, stream=one)
    first = lib.rnea(x, lib.to_device(v), lib.to_device(a))
    assert first.stream == one
    second = lib.rnea(x, lib.to_device(v), first, stream=other)
    foreign = Foreign(second, stream=other)
    last = lib.rnea(foreign, Lent(first), x, stream=SimpleNamespace(cuda_stream=third))
    assert (second.stream, last.stream) == (other, third)
    expected = torques(torques(q, v, torques(q, v, a)), torques(q, v, a), q)
    assert same_bits(last.numpy(), expected)


def test_memory_stays_until_other_streams_are_done(lib: KernelLibrary, driver: StandIn) -> None:
    inputs = drawn((STATES,))
    one, other = driver.stream(), driver.stream()
    arrays = [lib.to_device(x, stream=one) for x in inputs]
    tau = lib.rnea(*arrays[:2], Lent(arrays[2]), stream=other)
    del arrays
    lib.to_device(np.zeros(3), stream=one)  # waits for the stream of the arrays, on which they would be freed
    assert same_bits(tau.numpy(), torques(*inputs))
    del tau
    assert driver.live == 0
    assert driver.settings.events == 0
    assert driver.settings.allocated == driver.settings.freed == 5


def test_numbers_of_a_call_stay_until_they_are_copied(lib: KernelLibrary, driver: StandIn) -> None:
    q, v, tau = drawn((STATES,))
    arrays = list(map(lib.to_device, (q, v, tau)))
    results = [lib.step(*arrays, dt) for dt in np.arange(20) / 100]
    for k, result in enumerate(results):
        dt = np.full((STATES, 1), k / 100, np.float32)
        assert same_bits(result.v_next.numpy(), wanted("step", q, v, tau, dt)[1])


def test_calls_that_wait_do_not_slow_others_down(
    lib: KernelLibrary, driver: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A call asks for one event of each stream, however many calls are waiting there."""
    arrays = list(map(lib.to_device, drawn((STATES,))))
    asked, is_done = list[Any](), Device._is_done
    monkeypatch.setattr(Device, "_is_done", lambda own, event: asked.append(event) or is_done(own, event))
    results = [lib.step(*arrays, 0.01) for _ in range(50)]
    assert len(asked) <= 50
    results[-1].q_next.synchronize()
    assert len(asked) <= 101
    del results, arrays
    assert driver.live == 0


class Tensor:
    """A tensor of PyTorch as far as a call looks at it."""

    is_cuda, device = True, "cuda:0"

    def __init__(self, array: DeviceArray) -> None:
        self._lent = Lent(array)
        self.__cuda_array_interface__ = {**array.__cuda_array_interface__, "stream": None, "version": 2}
        self.__dlpack__, self.__dlpack_device__ = self._lent.__dlpack__, self._lent.__dlpack_device__

    @property
    def readers(self) -> list[int]:
        return self._lent.readers


def test_tensors_bring_their_current_stream(
    lib: KernelLibrary, driver: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = driver.stream()
    cuda = SimpleNamespace(current_stream=lambda device: SimpleNamespace(cuda_stream=own))
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(Tensor=Tensor, cuda=cuda))  # type: ignore[arg-type]
    inputs = drawn((STATES,))
    tensors = [Tensor(lib.to_device(x)) for x in inputs]
    tau = lib.rnea(*tensors)
    assert tau.stream == own
    assert [tensor.readers for tensor in tensors] == [[own]] * 3
    assert same_bits(tau.numpy(), torques(*inputs))
    out = Tensor(lib.to_device(np.zeros((STATES, 2))))
    lib.rnea(*map(lib.to_device, inputs), out=out)
    assert same_bits(lib.rnea(out, out, out).numpy(), torques(*[torques(*inputs)] * 3))


def test_bound_calls_only_launch(lib: KernelLibrary, driver: StandIn) -> None:
    inputs = drawn((STATES,))
    stream = driver.stream()
    q, v, tau = (lib.to_device(x) for x in inputs)
    step = lib.step.bind(q, v, tau, 0.01, stream=stream)
    assert driver.settings.launches == 0
    before = driver.settings.copies, driver.settings.allocated
    for _ in range(3):
        assert step() is step.out
    assert (driver.settings.copies, driver.settings.allocated) == before
    assert driver.settings.launches == 3
    del q, v, tau
    expected = wanted("step", *inputs, np.full((STATES, 1), 0.01, np.float32))
    assert same_bits(step.out.q_next.numpy(), expected[0])
    assert same_bits(step.out.v_next.numpy(), expected[1])
    del step
    assert driver.live == 0


def test_bound_calls_in_a_cuda_graph(lib: KernelLibrary, driver: StandIn) -> None:
    inputs = drawn((STATES,))
    stream = driver.stream()
    q, v, a = (lib.to_device(x, stream=stream) for x in inputs)
    call, graph, instance = lib.rnea.bind(q, v, a), ctypes.c_void_p(), ctypes.c_void_p()
    on, library = ctypes.c_void_p(stream), driver.library
    assert library.cuStreamBeginCapture_v2(on, 0) == 0
    call()
    with pytest.raises(
        rbdgen.RbdgenError, match=r"^rnea: the stream is being captured .* bind the call before"
    ):
        lib.rnea(q, v, a)
    temporary = lib.to_device(inputs[0], stream=driver.stream())
    temporary.written_on = Stream(stream)
    del temporary  # a graph must not give memory back in each launch
    assert library.cuStreamEndCapture(on, ctypes.byref(graph)) == 0
    assert library.cuGraphInstantiateWithFlags(ctypes.byref(instance), graph, ctypes.c_ulonglong(0)) == 0
    with q.device.current():
        assert library.cuGraphLaunch(instance, on) == 0
    assert same_bits(call.out.numpy(), torques(*inputs))
    assert driver.settings.launches == 1
    lib.rnea(q, v, a)
    assert driver.live == 4


def test_arrays_are_lent_and_given_back(lib: KernelLibrary, driver: StandIn) -> None:
    """A library takes a capsule by renaming it, reads the array, and calls the function in the struct."""
    numbers = drawn((5,), count=1)[0]
    array = lib.to_device(numbers)
    assert array.__dlpack_device__() == (2, 0)
    capsule = array.__dlpack__(stream=-1, max_version=(1, 0), dl_device=(2, 0), copy=False)
    found = dlpack.lent(capsule)
    assert (found.typestr, found.shape, found.strides) == ("<f4", (5, 2), (8, 4))
    read = (ctypes.c_float * 10).from_address(found.address)
    assert list(read) == numbers.ravel().tolist()
    del array, found
    assert driver.live == 1  # the capsule has it
    del capsule
    assert driver.live == 0
    capsule = lib.to_device(numbers).__dlpack__()
    api = ctypes.pythonapi
    place = ctypes.c_void_p(id(capsule))
    pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)
    managed = pointer(("PyCapsule_GetPointer", api))(place, b"dltensor")
    api.PyCapsule_SetName(place, b"used_dltensor")
    del capsule
    assert driver.live == 1  # the reader has it
    deleter = dlpack._Managed.from_address(managed).deleter
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(deleter)(managed)
    assert driver.live == 0
    with pytest.raises(rbdgen.RbdgenError, match=r"^an array on a GPU is lent as it is; copy"):
        lib.to_device(numbers).__dlpack__(copy=True)
    with pytest.raises(rbdgen.RbdgenError, match=r"^stream 0 may be either default stream; pass 1"):
        lib.to_device(numbers).__dlpack__(stream=0)


def test_each_gpu_has_its_own_context_and_kernels(lib: KernelLibrary, driver: StandIn) -> None:
    inputs = drawn((STATES,))
    for device in (1, 0, 1):
        tau = lib.rnea(*(lib.to_device(x, device=device) for x in inputs))
        assert tau.device.ordinal == tau.__dlpack_device__()[1] == device
        assert same_bits(tau.numpy(), torques(*inputs))
    assert (driver.settings.contexts, driver.settings.modules) == (2, 2)
    current = ctypes.c_void_p()
    driver.library.cuCtxGetCurrent(ctypes.byref(current))
    assert current.value is None  # the context of the caller is as it was


def test_more_shared_memory_is_asked_for(
    lib: KernelLibrary, driver: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rbdgen.gpu.machine_code.PLAIN_SHARED", lib.rnea.facts["shared_bytes"] - 1)
    q = lib.to_device(drawn((1,))[0])
    lib.rnea(q, q, q)
    assert driver.settings.attributes == 1
    assert driver.settings.bytes == lib.rnea.facts["shared_bytes"]


def test_what_is_said_of_functions_and_arrays(lib: KernelLibrary, driver: StandIn) -> None:
    assert repr(lib) == "<double_pendulum on a GPU: rnea, aba, step>"
    assert "operations on a GPU>" in repr(lib.rnea)
    assert str(lib.rnea.__signature__) == "(q, v, a, *, out=None, stream=None)"
    assert "threads" not in str(lib.rnea.__doc__)
    example = str(lib.step.__doc__).partition("Example:\n")[2].partition("\n\n")[0]
    names = {"lib": lib, "np": np}
    exec("\n".join(line[4:] for line in example.splitlines()), names)
    assert names["q_next"].shape == (1000, 2)  # type: ignore[attr-defined]
    q = lib.to_device(np.zeros((4, 2)))
    assert repr(q) == "<DeviceArray (4, 2) float32 on GPU 0 (Stand-in 0)>"
    assert (len(q), q.size, q.nbytes) == (4, 8, 32)
    with pytest.raises(
        AttributeError, match=r"^no function 'crba' was generated; there are: rnea, aba, step"
    ):
        lib.crba  # noqa: B018


def test_missing_order_and_early_releases_are_seen(
    lib: KernelLibrary, driver: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tests above fail if streams do not wait for each other, or if memory does not wait for streams."""
    inputs = drawn((STATES,))
    one, other = driver.stream(), driver.stream()
    arrays = [lib.to_device(x, stream=one) for x in inputs]
    expected = torques(torques(*inputs), *inputs[1:])
    with monkeypatch.context() as patch:
        patch.setattr(Device, "wait", lambda *_: None)
        found = lib.rnea(lib.rnea(*arrays), *arrays[1:], stream=other)
        assert not same_bits(found.numpy(), expected)
    with monkeypatch.context() as patch:
        patch.setattr(Device, "hold", lambda *_: None)
        found = lib.rnea(*arrays, stream=other)
        del arrays
        lib.to_device(np.zeros(3), stream=one)
        with pytest.raises(rbdgen.RbdgenError, match=r"CUDA_ERROR_ILLEGAL_ADDRESS"):
            found.numpy()
    ctypes.c_int.in_dll(driver.library, "fake_error").value = 0
