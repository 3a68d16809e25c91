"""Arrays in the memory of a GPU: the results of functions, and copies of arrays of NumPy."""

from __future__ import annotations

from contextlib import suppress
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from rbdgen.errors import ArrayTypeError, ArrayValueError, DeviceError
from rbdgen.gpu import dlpack
from rbdgen.gpu.device import Device
from rbdgen.gpu.stream import DEFAULT, Stream, stream_of

_NO_SYNCHRONISATION = -1
"""The stream with which a consumer of DLPack says that it takes care of the order itself."""


class DeviceArray:
    """An array in C order in the memory of a GPU.

    Other libraries read it in place: `torch.from_dlpack(x)`, `cupy.from_dlpack(x)`, and
    `jax.dlpack.from_dlpack(x)`. Libraries that take `__cuda_array_interface__`, such as Numba, read it as
    well. `numpy()` copies it to the host.

    Its memory is given back when nobody refers to it any more, in the order of its stream.

    Attributes:
        shape, dtype: as in NumPy.
        device: the GPU.
        stream: the handle of the stream on which it was written; its numbers are there once this stream is
            done.
        address: the address of the first number; 0 if there are none.
    """

    def __init__(self, device: Device, shape: tuple[int, ...], dtype: np.dtype[Any], stream: Stream) -> None:
        """A new array without values. The context of `device` must be the current one."""
        self.device, self.shape, self.dtype = device, shape, dtype
        self.written_on = stream
        self.address = 0
        self.address = device.allocated(self.nbytes, stream)

    def __del__(self) -> None:
        if self.address:
            with suppress(DeviceError, TypeError, AttributeError):  # the process ends, and the driver is gone
                self.device.freed(self.address, self.written_on)

    @classmethod
    def of(cls, device: Device, array: npt.NDArray[Any], stream: Stream) -> DeviceArray:
        """A copy of an array in C order, which must stay as it is until the stream has done the copy."""
        made = cls(device, array.shape, array.dtype, stream)
        if made.address:
            driver = device.driver
            source = driver.ffi.from_buffer(array)
            driver.cuMemcpyHtoDAsync_v2(made.address, source, array.nbytes, stream.of(driver))
        return made

    def __repr__(self) -> str:
        return f"<DeviceArray {self.shape} {self.dtype} on {self.device}>"

    def __len__(self) -> int:
        if not self.shape:
            raise ArrayTypeError("len() of an array without axes; see its shape")
        return self.shape[0]

    @property
    def stream(self) -> int:
        return self.written_on.handle

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return prod(self.shape)

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    def synchronize(self) -> None:
        """Waits until the stream on which the array was written is done."""
        with self.device.current():
            self.device.synchronize(self.written_on)

    def numpy(self) -> npt.NDArray[Any]:
        """A copy on the host. Waits until the array's stream is done."""
        host = np.empty(self.shape, self.dtype)
        if self.address:
            driver = self.device.driver
            with self.device.current():
                to = driver.ffi.from_buffer(host)
                driver.cuMemcpyDtoHAsync_v2(to, self.address, host.nbytes, self.written_on.of(driver))
                self.device.synchronize(self.written_on)
        return host

    def __array__(self, *_: Any, **__: Any) -> npt.NDArray[Any]:
        raise ArrayTypeError("an array on a GPU is not copied to the host by the way; call its numpy()")

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "data": (self.address, False),
            "strides": None,
            "stream": self.written_on.handle,
            "version": 3,
        }

    def __dlpack_device__(self) -> tuple[int, int]:
        return dlpack.CUDA, self.device.ordinal

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """Lends the array, see DLPack. `stream` is the one on which it is read.

        Raises:
            ArrayValueError: another device, a copy or an ambiguous stream is asked for.
        """
        if copy or (dl_device is not None and tuple(dl_device) != self.__dlpack_device__()):
            raise ArrayValueError("an array on a GPU is lent as it is; copy it by numpy()")
        if stream == 0:
            raise ArrayValueError("stream 0 may be either default stream; pass 1 for that of the process")
        if stream != _NO_SYNCHRONISATION:
            reader = DEFAULT if stream is None else stream_of("__dlpack__", stream)
            with self.device.current():
                self.device.wait(reader, self.written_on)
        place = self.address, self.device.ordinal
        return dlpack.capsule_of(*place, self.shape, self.dtype.itemsize, self)
