"""The machine code of kernels, which is loaded on each GPU when it is first called there."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from rbdgen.errors import DeviceError
from rbdgen.gpu.device import Device
from rbdgen.gpu.driver import DYNAMIC_SHARED, SUCCESS
from rbdgen.machine import PLAIN_SHARED


@dataclass(frozen=True)
class Code:
    """The machine code of the kernels of a folder."""

    place: str
    """The folder, for errors."""
    needs: int
    """The major version of CUDA that the driver must support."""
    read: Callable[[str], bytes]
    """Reads a file of the folder by its path. Raises LoadError if it is missing or has changed."""


class Loaded:
    """A kernel on the GPUs on which it was called."""

    def __init__(self, caller: str, facts: Mapping[str, Any], code: Code) -> None:
        """`caller` is the name of the function in errors; `facts` are those of the kernel."""
        self._caller, self._facts, self._code = caller, facts, code
        self._kernels: dict[int, Any] = {}
        self._lock = threading.Lock()

    def on(self, device: Device) -> Any:
        """The kernel on a GPU, which is loaded once."""
        with self._lock:
            if device.ordinal not in self._kernels:
                self._kernels[device.ordinal] = self._loaded(device)
            return self._kernels[device.ordinal]

    def _loaded(self, device: Device) -> Any:
        """Loads the machine code that suits a GPU best. Raises DeviceError if none does."""
        driver, facts, code = device.driver, self._facts, self._code
        archs = facts["architectures"]
        arch = device.best(list(archs))
        major, minor = device.capability
        if arch is None:
            raise DeviceError(
                f"{code.place}: has kernels for {', '.join(archs)}, and none runs on {device}, which is "
                f"sm_{major}{minor}; generate it for that architecture"
            )
        if driver.version[0] < code.needs:
            raise DeviceError(
                f"{code.place}: its kernels need a driver for CUDA {code.needs}, and the driver supports "
                f"{driver.told}; install a newer driver, or generate them with NVRTC {driver.version[0]}"
            )
        if facts["shared_bytes"] > device.shared_bytes:
            raise DeviceError(
                f"{self._caller}: a block needs {facts['shared_bytes']} bytes of shared memory for "
                f"{facts['states_per_block']} states, and {device} has at most {device.shared_bytes}; "
                "take another GPU"
            )
        image = code.read(archs[arch]["cubin"])
        with device.current():
            module = driver.ffi.new("CUmodule *")
            status = driver.library.cuModuleLoadData(module, driver.ffi.from_buffer(image))
            if status != SUCCESS:
                raise DeviceError(
                    f"{code.place}/{archs[arch]['cubin']}: {device} refuses it: {driver.word_of(status)}; "
                    "generate it again"
                )
            kernel = driver.got("CUfunction", "cuModuleGetFunction", module[0], facts["kernel"].encode())
            if facts["shared_bytes"] > PLAIN_SHARED:
                driver.cuFuncSetAttribute(kernel, DYNAMIC_SHARED, facts["shared_bytes"])
        return kernel
