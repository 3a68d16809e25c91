"""A GPU: its primary context, its streams, and the memory that kernels use until they have run."""

from __future__ import annotations

import threading
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any, Final

from rbdgen.errors import DeviceError
from rbdgen.gpu.driver import (
    MAJOR,
    MEMORY_POOLS,
    MINOR,
    ORDINAL_OF_POINTER,
    SHARED_OF_A_BLOCK,
    SUCCESS,
    WITHOUT_TIMES,
    Driver,
    driver_at,
)
from rbdgen.gpu.stream import Stream
from rbdgen.options import environment_driver

_ALONE: Final = frozenset({(8, 7), (8, 8), (11, 0)})
"""The compute capabilities of GPUs on one chip with the processor (Tegra). Their machine code runs on no
other GPU, and that of others does not run on them (CUDA C++ Programming Guide, "Binary Compatibility")."""


class Device:
    """A GPU.

    Its primary context is retained once and kept. CuPy, JAX and PyTorch use the same one, so arrays of all of
    them can be read.

    Attributes:
        ordinal: its number, from 0.
        name: its name, such as "NVIDIA H100".
        capability: its compute capability, such as (9, 0).
        shared_bytes: the largest number of bytes of shared memory of a block.
    """

    def __init__(self, driver: Driver, ordinal: int) -> None:
        """Raises DeviceError if there is no such GPU, or if it cannot allocate in the order of a stream."""
        self.driver, self.ordinal = driver, ordinal
        count = driver.got("int", "cuDeviceGetCount")
        if not 0 <= ordinal < count:
            raise DeviceError(f"there is no GPU {ordinal}; there are {count}, numbered from 0")
        device = driver.got("CUdevice", "cuDeviceGet", ordinal)
        name = driver.ffi.new("char[256]")
        driver.cuDeviceGetName(name, 256, device)
        self.name = driver.ffi.string(name).decode(errors="replace")
        major, minor, self.shared_bytes, pools = (
            driver.got("int", "cuDeviceGetAttribute", attribute, device)
            for attribute in (MAJOR, MINOR, SHARED_OF_A_BLOCK, MEMORY_POOLS)
        )
        self.capability: tuple[int, int] = (major, minor)
        if not pools:
            raise DeviceError(f"{self}: does not allocate memory in the order of a stream; take another GPU")
        self._context = driver.got("CUcontext", "cuDevicePrimaryCtxRetain", device)
        self._held = defaultdict[int, deque[tuple[Any, Sequence[Any]]]](deque)
        self._later: list[tuple[int, Stream]] = []
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"GPU {self.ordinal} ({self.name})"

    @contextmanager
    def current(self) -> Iterator[None]:
        """Makes its context the one of the calling thread, until the block ends."""
        driver = self.driver
        if driver.got("CUcontext", "cuCtxGetCurrent") == self._context:
            yield
            return
        driver.cuCtxPushCurrent_v2(self._context)
        try:
            yield
        finally:
            driver.cuCtxPopCurrent_v2(driver.ffi.new("CUcontext *"))

    def allocated(self, size: int, stream: Stream) -> int:
        """The address of new memory of `size` bytes, in the order of a stream; 0 if there are none."""
        return (
            int(self.driver.got("CUdeviceptr", "cuMemAllocAsync", size, stream.of(self.driver)))
            if size
            else 0
        )

    def freed(self, address: int, stream: Stream) -> None:
        """Gives memory back, in the order of a stream.

        A stream that is captured in a CUDA graph would give it back in every launch of the graph. Its memory
        is given back later.
        """
        with self.current():
            if self.captures(stream):
                self._later.append((address, stream))
            else:
                self.driver.cuMemFreeAsync(address, stream.of(self.driver))

    def wait(self, stream: Stream, other: Stream) -> None:
        """Lets what a stream gets from now on run after what another stream has got so far."""
        if stream.handle == other.handle:
            return
        event = self._event_on(other)
        self.driver.cuStreamWaitEvent(stream.of(self.driver), event, 0)
        self.driver.cuEventDestroy_v2(event)

    def hold(self, objects: Sequence[Any], stream: Stream) -> None:
        """Keeps objects until a stream has done what it has got so far.

        They are let go by a later call of a function, because no thread waits for streams.
        """
        if objects:
            event = self._event_on(stream)
            with self._lock:
                self._held[stream.handle].append((event, objects))

    def let_go(self) -> None:
        """Lets the objects go whose streams are done with them, and frees what could not be freed before.

        A stream finishes with objects in the order in which they were held, so at most one unfinished event
        of each stream is queried.
        """
        later, self._later = self._later, []
        for address, stream in later:
            self.freed(address, stream)
        if not self._held:
            return
        done: list[tuple[Any, Sequence[Any]]] = []  # released after the lock, as that may run destructors
        with self._lock:
            for handle, held in list(self._held.items()):
                while held and self._is_done(held[0][0]):
                    done.append(held.popleft())
                if not held:
                    del self._held[handle]
        for event, _ in done:
            self.driver.cuEventDestroy_v2(event)

    def synchronize(self, stream: Stream) -> None:
        """Waits until a stream is done."""
        self.driver.cuStreamSynchronize(stream.of(self.driver))
        self.let_go()

    def captures(self, stream: Stream) -> bool:
        """Whether the stream is captured in a CUDA graph, or must not be used because another one is."""
        status = self.driver.ffi.new("int *")
        return bool(self.driver.library.cuStreamIsCapturing(stream.of(self.driver), status) or status[0])

    def _event_on(self, stream: Stream) -> Any:
        """A new event that occurs when a stream has done what it has got so far."""
        event = self.driver.got("CUevent", "cuEventCreate", WITHOUT_TIMES)
        self.driver.cuEventRecord(event, stream.of(self.driver))
        return event

    def _is_done(self, event: Any) -> bool:
        return bool(self.driver.library.cuEventQuery(event) == SUCCESS)

    def runs(self, capability: tuple[int, int]) -> bool:
        """Whether it runs machine code for GPUs of this compute capability."""
        own: tuple[int, int] = self.capability
        if own in _ALONE or capability in _ALONE:
            return own == capability
        return own[0] == capability[0] and own[1] >= capability[1]

    def best(self, archs: Sequence[str]) -> str | None:
        """The architecture among those, such as "sm_90", whose machine code suits it best; None if none
        runs."""
        running = [arch for arch in archs if self.runs(_capability(arch))]
        return max(running, key=_capability, default=None)


def _capability(arch: str) -> tuple[int, int]:
    """The compute capability of an architecture: (9, 0) for "sm_90"."""
    return divmod(int(arch.removeprefix("sm_")), 10)


def driver() -> Driver:
    """The driver of this machine. Raises DeviceError if there is none."""
    return driver_at(environment_driver())


def device_of(ordinal: int) -> Device:
    """The GPU with this number. Raises DeviceError if there is none."""
    return _device(driver(), ordinal)


@cache
def _device(found: Driver, ordinal: int) -> Device:
    return Device(found, ordinal)


def current_device() -> Device:
    """The GPU whose context the calling thread uses, or else the first one."""
    found = driver()
    if found.got("CUcontext", "cuCtxGetCurrent") == found.ffi.NULL:
        return device_of(0)
    return device_of(found.got("CUdevice", "cuCtxGetDevice"))


def ordinal_at(address: int) -> int | None:
    """The number of the GPU to whose memory an address belongs; None if it belongs to none."""
    found = driver()
    ordinal = found.ffi.new("int *", -1)
    with current_device().current():
        status = found.library.cuPointerGetAttribute(ordinal, ORDINAL_OF_POINTER, address)
    return int(ordinal[0]) if status == SUCCESS and ordinal[0] >= 0 else None


def native_architecture(archs: Sequence[str]) -> str | None:
    """The architecture among those that suits the GPU of this machine best; None if there is no GPU, or none
    of them runs on it."""
    try:
        return current_device().best(archs)
    except DeviceError:
        return None
