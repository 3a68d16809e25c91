"""Streams: the order in which a GPU works. Those of all libraries are handles of the driver."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any, Final

from rbdgen.errors import ArrayTypeError


@dataclass(frozen=True)
class Stream:
    """A stream of the driver."""

    handle: int
    """The handle of the driver; 1 is the default stream of the process, 2 that of the calling thread."""
    owner: Any = None
    """The object that owns the stream, which is kept alive; None if the caller keeps it."""

    def of(self, driver: Any) -> Any:
        """The handle as C takes it."""
        return driver.ffi.cast("CUstream", self.handle)


DEFAULT: Final = Stream(1)
"""The default stream of the process (CU_STREAM_LEGACY)."""


def stream_of(caller: str, given: Any) -> Stream:
    """The stream that a caller passes: a handle, or a stream of PyTorch, CuPy, Numba or cuda.core.

    Raises:
        ArrayTypeError: it is none of these.
    """
    handle = given
    for name in ("cuda_stream", "ptr", "handle"):
        if not isinstance(handle, int) and hasattr(handle, name):
            handle = getattr(handle, name)
    if not isinstance(handle, int) and hasattr(handle, "__cuda_stream__"):
        handle = handle.__cuda_stream__()[1]
    handle = getattr(handle, "value", handle)
    if isinstance(handle, bool) or not isinstance(handle, int) or handle < 0:
        raise ArrayTypeError(
            f"{caller}: stream is {given!r}; pass a handle, or a stream of PyTorch, CuPy or cuda.core"
        )
    return Stream(handle or DEFAULT.handle, None if given is handle else given)


def torch_stream(array: Any) -> Stream | None:
    """PyTorch's current stream on the GPU of an array if it is a tensor on a GPU, else None.

    PyTorch is not imported here, because a caller who has a tensor has imported it.
    """
    torch: Any = sys.modules.get("torch")
    if torch is None or not isinstance(array, getattr(torch, "Tensor", ())):
        return None
    tensor: Any = array
    if not tensor.is_cuda:
        return None
    return Stream(torch.cuda.current_stream(tensor.device).cuda_stream or DEFAULT.handle)
