"""A launch: a kernel with the addresses of its arrays, a stream and as many blocks as it takes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from rbdgen.errors import ArrayValueError
from rbdgen.gpu.array import DeviceArray
from rbdgen.gpu.device import Device
from rbdgen.gpu.operand import Operand
from rbdgen.gpu.stream import Stream

MOST_BLOCKS: Final = 2**31 - 1
"""The largest number of blocks of a launch."""


class Launch:
    """A kernel and its arguments. The context of the device must be the current one in all methods."""

    def __init__(self, device: Device, kernel: Any, stream: Stream, states: int) -> None:
        """Args:
        device: the GPU.
        kernel: the function of the driver.
        stream: the stream that does the work.
        states: the number of states.
        """
        self.device, self.stream, self.states = device, stream, states
        self._kernel, self._kept = kernel, list[Any]()
        self._launch: tuple[Any, ...] | None = None

    def wait_for(self, operands: Iterable[Operand]) -> None:
        """Lets the stream wait for what other streams have written so far."""
        streams = {x.stream.handle: x.stream for x in operands if x.stream is not None}
        for other in streams.values():
            self.device.wait(self.stream, other)

    def copied(self, row: npt.NDArray[Any]) -> int:
        """The address of a copy on the GPU of numbers of the host, which all states share."""
        made = DeviceArray(self.device, row.shape, row.dtype, self.stream)
        self._kept += [made, row]
        if made.nbytes:
            driver = self.device.driver
            stream = self.stream.of(driver)
            driver.cuMemcpyHtoDAsync_v2(made.address, driver.ffi.from_buffer(row), row.nbytes, stream)
        return made.address

    def set_arguments(self, caller: str, arguments: Mapping[str, int], facts: Mapping[str, Any]) -> None:
        """Lays out the arguments of the kernel, all of 64 bits, in the order that its facts give.

        Raises:
            ArrayValueError: there are more states than a launch can have.
        """
        ffi = self.device.driver.ffi
        blocks = -(-self.states // facts["states_per_block"])
        if blocks > MOST_BLOCKS:
            most = MOST_BLOCKS * facts["states_per_block"]
            raise ArrayValueError(f"{caller}: {self.states} states are too many; pass at most {most}")
        named = {"states": self.states, **arguments}
        values = ffi.new("unsigned long long[]", [named[name] for name in facts["arguments"]])
        pointers = ffi.new("void *[]", [values + k for k in range(len(facts["arguments"]))])
        self._kept += [values, pointers]
        if blocks:
            grid, block = (blocks, 1, 1), (facts["threads"], 1, 1)
            stream = self.stream.of(self.device.driver)
            self._launch = (self._kernel, *grid, *block, facts["shared_bytes"], stream, pointers, ffi.NULL)

    def __call__(self) -> None:
        """Gives the work to the GPU."""
        if self._launch is not None:
            self.device.driver.cuLaunchKernel(*self._launch)

    def end(self, inputs: Iterable[Operand], outputs: Iterable[Operand]) -> None:
        """Lets the streams of outputs wait for the work, and keeps what other streams might give back."""
        for other in {x.stream.handle: x.stream for x in outputs if x.stream is not None}.values():
            self.device.wait(other, self.stream)
        elsewhere = [
            x for x in (*inputs, *outputs) if x.stream is None or x.stream.handle != self.stream.handle
        ]
        on_host = [x for x in self._kept if isinstance(x, np.ndarray)]
        self.device.hold([*elsewhere, *on_host], self.stream)
