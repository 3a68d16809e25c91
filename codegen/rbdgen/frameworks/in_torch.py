"""Generated functions as functions of PyTorch, for autograd, torch.func and torch.compile.

One operator, `rbdgen::evaluate`, calls the functions of all libraries. C++ differentiates it in reverse and
forward mode, and so the products with Jacobians of which first derivatives consist: their derivatives are
products with second derivatives, which Python builds when C++ first asks for them. This module also defines
the shapes of the operator's results and its batching rule for vmap.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from rbdgen.errors import ArrayTypeError, BuildError, RbdgenError
from rbdgen.frameworks.bridge import Bridge, Products, Role, compiled, existing
from rbdgen.frameworks.differentiable import Differentiable, check, disagreeing, native
from rbdgen.frameworks.functions import More
from rbdgen.frameworks.parameters import Update
from rbdgen.runtime import Function, Library
from rbdgen.signature import UPDATE, SizedArgument

try:
    import torch
except ImportError as error:
    raise BuildError(
        f"lib.torch: PyTorch is missing or too old ({error}); pip install -U 'rbdgen[torch]'"
    ) from error

Tensors = Sequence[Any]

OPERATOR = "rbdgen::evaluate"


@cache
def bridge() -> Bridge:
    """The bridge to PyTorch, with its operator registered."""
    folder = Path(torch.__file__).parent
    headers = existing(
        "torch",
        torch.__version__,
        [str(folder / "include"), str(folder / "include/torch/csrc/api/include")],
        "torch/library.h",
    )
    abi = f"-D_GLIBCXX_USE_CXX11_ABI={int(torch.compiled_with_cxx11_abi())}"
    libraries = (f"-L{folder / 'lib'}", "-lc10", "-ltorch_cpu")
    made = compiled("torch", torch.__version__, ("-std=c++20", abi, *headers), libraries)
    made.library.rbdgen_on_second(_SECOND)
    torch.library.register_fake(OPERATOR, _shapes)
    torch.library.register_vmap(OPERATOR, _batched)
    return made


def function_of(library: Library, more: More | None, name: str) -> Callable[..., Any]:
    """The function for PyTorch.

    Its results are those of the library: a tensor, or a named tuple of several.
    """
    value = library.functions[name]
    differentiable = Differentiable(value, library, more)
    key, why_not = _differentiated(differentiable)
    real = getattr(torch, str(value.dtype))
    inputs = value.signature.inputs
    expected = [(argument, argument.shape, len(argument.shape)) for argument in inputs]
    evaluate = torch.ops.rbdgen.evaluate.default

    def checked(*given: Any, **named: Any) -> Any:
        if named or len(given) != len(inputs):
            given = value.inputs(given, named)
        tensors, leading = [], set()
        for (argument, wanted, rank), x in zip(expected, given, strict=True):
            tensor = x if isinstance(x, torch.Tensor) else _tensor(value, argument, x)
            shape = tuple(tensor.shape)
            own = len(shape) - rank
            if shape[own:] != wanted or tensor.dtype is not real or not (tensor.is_cpu and _dense(tensor)):
                _refuse(value, argument, tensor)
            tensors.append(tensor)
            leading.add(shape[:own])
        if len(leading) > 1:
            tensors = _of_one_leading(value, tensors)
        if why_not is not None and any(map(_moving, tensors)):
            raise why_not
        return value.packed(evaluate(tensors, key))

    checked.__name__ = checked.__qualname__ = value.__name__
    checked.__doc__ = value.__doc__
    return Update(library, checked, _fitting, _stacked, torch.exp) if name == UPDATE else checked


def _stacked(tensors: Tensors) -> Any:
    return torch.stack(torch.broadcast_tensors(*tensors), -1)


def _fitting(function: Function, argument: SizedArgument, given: Any) -> Any:
    """The argument as a tensor. Raises an error if C cannot read it."""
    tensor = given if isinstance(given, torch.Tensor) else _tensor(function, argument, given)
    own = tensor.dim() - len(argument.shape)
    fits = own >= 0 and tuple(tensor.shape[own:]) == argument.shape
    if not fits or str(tensor.dtype) != f"torch.{function.dtype}" or not (tensor.is_cpu and _dense(tensor)):
        _refuse(function, argument, tensor)
    return tensor


def _dense(tensor: Any) -> bool:
    return tensor.layout is torch.strided


def _moving(tensor: Any) -> bool:
    """Whether a derivative with respect to this tensor is asked for, in reverse or forward mode."""
    reverse = torch.is_grad_enabled() and tensor.requires_grad
    return reverse or torch.autograd.forward_ad.unpack_dual(tensor).tangent is not None


def _differentiated(differentiable: Differentiable) -> tuple[int, RbdgenError | None]:
    """The key of the function, and the error why C++ does not differentiate it; None if it does."""
    made = bridge()
    try:
        transposed, along = differentiable.both
    except RbdgenError as error:
        return made.key(differentiable.value), error
    curved = [differentiable.inputs[k].kind == "configuration" for k in differentiable.by]
    plain = Products(
        made.key(transposed),
        made.key(along),
        differentiable.by,
        len(differentiable.inputs),
        tuple(k for k, is_curved in enumerate(curved) if is_curved),
        tuple(differentiable.library.manifold.quaternions),
    )
    vjp = made.key(transposed, replace(plain, role=Role.TRANSPOSED))
    jvp = made.key(along, replace(plain, role=Role.ALONG))
    for key in (vjp, jvp):
        _of_product[key] = differentiable
    return made.key(differentiable.value, replace(plain, vjp=vjp, jvp=jvp)), None


_of_product: dict[int, Differentiable] = {}
"""The function of each product that C++ differentiates, by the key of the product."""


def _second(key: int, why: Any, size: int) -> int:
    """The key of the product with second derivatives that C++ asks for, which is built now if it is missing.

    If there is none, the result is 0, and `why` receives the reason.
    """
    try:
        return bridge().key(_of_product[key].hvp)
    except Exception as error:  # C++ raises it again
        text = f"lib.torch: no second derivatives: {error}".encode()[: size - 1]
        ctypes.memmove(why, text + b"\0", len(text) + 1)
        return 0


_SECOND = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.POINTER(ctypes.c_char), ctypes.c_size_t)(
    _second
)
"""`_second` for C++, which must exist as long as the bridge."""


def _tensor(function: Function, argument: SizedArgument, given: Any) -> Any:
    """A number or an array, such as one of NumPy, as a tensor."""
    if isinstance(given, (int, float)):
        return torch.as_tensor(given, dtype=getattr(torch, str(function.dtype)))
    return torch.from_numpy(native(function, argument, given))


def _refuse(function: Function, argument: SizedArgument, tensor: Any) -> None:
    """Raises the error that says why C cannot read a tensor."""
    if not tensor.is_cpu:
        raise ArrayTypeError(
            f"{function.__name__}: {argument.name} is on {tensor.device}, but the functions run on the CPU; "
            "pass tensor.cpu()"
        )
    if not _dense(tensor):
        raise ArrayTypeError(f"{function.__name__}: {argument.name} is sparse; pass tensor.to_dense()")
    advice = (
        "pass tensor.double(), or build with real='float'"
        if str(function.dtype) == "float64"
        else "pass tensor.float(), or build with real='double'"
    )
    dtype = str(tensor.dtype).removeprefix("torch.")
    check(function.__name__, argument, tuple(tensor.shape), dtype, str(function.dtype), advice)


def _of_one_leading(function: Function, tensors: Tensors) -> list[Any]:
    """The tensors with their leading axes broadcast against each other."""
    inputs = function.signature.inputs
    own = [tensor.shape[: tensor.dim() - len(x.shape)] for x, tensor in zip(inputs, tensors, strict=True)]
    try:
        leading = torch.broadcast_shapes(*own)
    except RuntimeError as error:
        raise disagreeing(function, [tuple(tensor.shape) for tensor in tensors]) from error
    return [tensor.expand(*leading, *x.shape) for x, tensor in zip(inputs, tensors, strict=True)]


def _shapes(tensors: Tensors, key: int) -> list[Any]:
    """Results with shapes and types but without values, for torch.compile."""
    signature = bridge().function(key).signature
    first = tensors[0]
    leading = first.shape[: first.dim() - len(signature.inputs[0].shape)]
    return [first.new_empty(*leading, *output.shape) for output in signature.outputs]


def _batched(info: Any, axes: Any, tensors: Tensors, key: int) -> tuple[Any, Any]:
    """The batching rule of the operator, which adds a leading axis for vmap."""
    moved = [
        tensor.expand(info.batch_size, *tensor.shape) if axis is None else tensor.movedim(axis, 0)
        for tensor, axis in zip(tensors, axes[0], strict=True)
    ]
    results = torch.ops.rbdgen.evaluate.default(moved, key)
    return results, [0] * len(results)
