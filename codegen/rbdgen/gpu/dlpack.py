"""DLPack: how libraries of arrays lend each other memory.

A capsule of Python has the address of a struct in C, which describes the array and has a function that gives
the memory back (https://dmlc.github.io/dlpack/latest/python_spec.html).
"""

from __future__ import annotations

import ctypes
from ctypes import POINTER, c_char_p, c_int, c_int32, c_int64, c_uint8, c_uint16, c_uint64, c_void_p
from dataclasses import dataclass
from math import prod
from typing import Any, Final

CUDA: Final = 2
"""The type of memory of GPUs of NVIDIA (kDLCUDA)."""

MANAGED: Final = 13
"""The type of memory that GPUs and the processor share (kDLCUDAManaged)."""

_FLOAT: Final = 2
"""The code of floating-point numbers (kDLFloat)."""

_NAME: Final = b"dltensor"


class _Tensor(ctypes.Structure):
    """DLTensor."""

    _fields_ = (
        ("data", c_void_p),
        ("device_type", c_int),
        ("device_id", c_int32),
        ("ndim", c_int32),
        ("code", c_uint8),
        ("bits", c_uint8),
        ("lanes", c_uint16),
        ("shape", POINTER(c_int64)),
        ("strides", POINTER(c_int64)),
        ("byte_offset", c_uint64),
    )


class _Managed(ctypes.Structure):
    """DLManagedTensor."""

    _fields_ = (("tensor", _Tensor), ("context", c_void_p), ("deleter", c_void_p))


@dataclass(frozen=True)
class Lent:
    """An array of another library."""

    address: int
    typestr: str
    """The type of its numbers as NumPy writes it, such as "<f4"; that of others is told in words."""
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None
    """The steps along its axes in bytes; None if it is in C order without gaps."""
    capsule: Any
    """The capsule, which keeps the memory alive."""


_new = ctypes.PYFUNCTYPE(ctypes.py_object, c_void_p, c_char_p, c_void_p)(("PyCapsule_New", ctypes.pythonapi))
_is_valid = ctypes.PYFUNCTYPE(c_int, c_void_p, c_char_p)(("PyCapsule_IsValid", ctypes.pythonapi))
_pointer = ctypes.PYFUNCTYPE(c_void_p, c_void_p, c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))


def lent(capsule: Any) -> Lent:
    """The array of a capsule. Raises BufferError if the capsule is not one of DLPack."""
    place = id(capsule)  # the address of the object, as the functions of CPython take it
    if not _is_valid(place, _NAME):
        raise BufferError("its __dlpack__ returns no capsule named dltensor")
    tensor = _Managed.from_address(_pointer(place, _NAME)).tensor
    size = tensor.bits // 8
    plain = tensor.code == _FLOAT and tensor.lanes == 1 and size in (2, 4, 8)
    return Lent(
        (tensor.data or 0) + tensor.byte_offset,
        f"<f{size}" if plain else f"of code {tensor.code} and {tensor.bits} bits",
        tuple(tensor.shape[k] for k in range(tensor.ndim)),
        tuple(tensor.strides[k] * size for k in range(tensor.ndim)) if tensor.strides else None,
        capsule,
    )


_KEPT: Final[dict[int, tuple[_Managed, Any, Any]]] = {}
"""The arrays that other libraries have borrowed and not given back yet, by the address of the struct."""


def _give_back(address: int) -> None:
    """The function in the struct, which the other library calls."""
    _KEPT.pop(address, None)


def _capsule_goes(capsule: int) -> None:
    """Gives the memory back if no library has taken it; a library that does renames the capsule."""
    if _is_valid(capsule, _NAME):
        _KEPT.pop(_pointer(capsule, _NAME), None)


_DELETER: Final = ctypes.CFUNCTYPE(None, c_void_p)(_give_back)
_DESTRUCTOR: Final = ctypes.PYFUNCTYPE(None, c_void_p)(_capsule_goes)


def capsule_of(address: int, ordinal: int, shape: tuple[int, ...], itemsize: int, owner: Any) -> Any:
    """A capsule with an array of floating-point numbers in C order; `owner` is kept until it is given back.

    Args:
        address: the address of the first number.
        ordinal: the number of the GPU.
        shape: the sizes of the axes.
        itemsize: the bytes of a number.
        owner: the object that has the memory.
    """
    steps = [prod(shape[k + 1 :]) for k in range(len(shape))]
    sizes = c_int64 * len(shape)
    own_shape, own_steps = sizes(*shape), sizes(*steps)
    managed = _Managed(
        _Tensor(
            address or None,
            CUDA,
            ordinal,
            len(shape),
            _FLOAT,
            8 * itemsize,
            1,
            ctypes.cast(own_shape, POINTER(c_int64)),
            ctypes.cast(own_steps, POINTER(c_int64)),
            0,
        ),
        None,
        ctypes.cast(_DELETER, c_void_p),
    )
    place = ctypes.addressof(managed)
    _KEPT[place] = managed, (own_shape, own_steps), owner
    return _new(place, _NAME, ctypes.cast(_DESTRUCTOR, c_void_p))
