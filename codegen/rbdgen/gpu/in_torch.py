"""Functions on a GPU for PyTorch: autograd takes their gradients from the kernels `NAME_vjp`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Final

from rbdgen.errors import BuildError, LoadError
from rbdgen.gpu.operand import ALIGNMENT
from rbdgen.signature import BAR

if TYPE_CHECKING:
    from rbdgen.gpu.kernel import KernelFunction

try:
    import torch
except ImportError as error:
    raise BuildError(f"lib.torch: PyTorch is missing ({error}); pip install 'rbdgen[torch]'") from error

_MODE: Final = "vjp"


class TorchFunctions:
    """The functions of a library on a GPU as attributes, each made on first use."""

    def __init__(self, functions: Mapping[str, KernelFunction]) -> None:
        self._functions = functions

    def __repr__(self) -> str:
        return f"<{', '.join(self._functions)} for PyTorch>"

    def __dir__(self) -> list[str]:
        return list(self._functions)

    def __getattr__(self, name: str) -> TorchFunction:
        if name.startswith("_") or name not in self._functions:
            near = get_close_matches(name, self._functions, 1)
            meant = f"did you mean {near[0]!r}? " if near else ""
            raise AttributeError(
                f"lib.torch: no function {name!r} was generated; {meant}there are: "
                f"{', '.join(self._functions)}"
            )
        made = TorchFunction(self._functions[name], self._functions.get(f"{name}_{_MODE}"))
        setattr(self, name, made)
        return made


class TorchFunction:
    """A function of tensors on a GPU: `tau = lib.torch.rnea(q, v, a)`, differentiable in reverse mode.

    Tensors have the type of the library. Leading axes are states, the same for all tensors. A number or a
    tensor without leading axes is shared by all states, and its gradient is the sum over them. Tensors that
    are not contiguous are copied.

    Raises, on a call, what `KernelFunction` does, and:
        LoadError: a tensor requires a gradient, and there is none with respect to it; or, in the backward
            pass, gradients of gradients are asked for.
    """

    def __init__(self, value: KernelFunction, vjp: KernelFunction | None) -> None:
        """`vjp` is the function's product with derivatives; None if it was not generated."""
        self.value, self.vjp = value, vjp
        self.__name__ = self.__qualname__ = value.__name__
        self.__doc__ = value.__doc__
        self._shapes = {x.name: x.shape for x in value.signature.inputs}

    def __repr__(self) -> str:
        return f"<{self.__name__} for PyTorch>"

    def __call__(self, *given: Any, **named: Any) -> Any:
        """Gives the computation to the GPU, on the stream on which PyTorch works."""
        inputs = self.value.inputs(given, named)
        moving = [
            name
            for name, x in zip(self._shapes, inputs, strict=True)
            if isinstance(x, torch.Tensor) and x.requires_grad and torch.is_grad_enabled()
        ]
        if not moving:
            return self.value.packed(self.values(inputs))
        for name in moving:
            self._check(name)
        results = _Evaluated.apply(self, *inputs)
        return self.value.packed(results)

    def values(self, inputs: Sequence[Any]) -> list[Any]:
        """The results as tensors."""
        return list(map(_tensor, _listed(self.value(*map(_array, inputs)))))

    def gradients(self, inputs: Sequence[Any], bars: Sequence[Any]) -> dict[str, Any]:
        """The gradients by the name of the input, from those of the results."""
        assert self.vjp is not None
        names = (y.name + BAR for y in self.value.signature.outputs)
        known = dict(zip(self._shapes, inputs, strict=True)) | dict(zip(names, bars, strict=True))
        taken = [_array(known[x.name]) for x in self.vjp.signature.inputs]
        outputs = [y.name.removesuffix(BAR) for y in self.vjp.signature.outputs]
        found = zip(outputs, map(_tensor, _listed(self.vjp(*taken))), strict=True)
        return {name: self._summed(name, known[name], gradient) for name, gradient in found}

    def _summed(self, name: str, given: Any, gradient: Any) -> Any:
        """The sum over all states if the input is shared by them."""
        if not isinstance(given, torch.Tensor) or given.shape == gradient.shape:
            return gradient
        return gradient.reshape(-1, *self._shapes[name]).sum(0)

    def _check(self, name: str) -> None:
        """Raises LoadError if there is no gradient with respect to an input."""
        wanted, caller = f"{self.__name__}_{_MODE}", f"lib.torch.{self.__name__}"
        if self.vjp is None:
            raise LoadError(
                f"{caller}: {name} requires a gradient, which takes the function {wanted}; generate it too, "
                "or pass a tensor that is detached"
            )
        shapes = {y.name.removesuffix(BAR): y.shape for y in self.vjp.signature.outputs}
        if name not in shapes:
            raise LoadError(f"{caller}: there are no derivatives by {name}; pass a tensor that is detached")
        if shapes[name] != self._shapes[name]:
            raise LoadError(
                f"{caller}: {wanted} has derivatives in the tangent space of {name}; generate the library "
                "with coordinates=True"
            )


class _Evaluated(torch.autograd.Function):  # type: ignore[misc]
    """A call of a `TorchFunction` as a node of PyTorch's graph."""

    @staticmethod
    def forward(context: Any, function: TorchFunction, *inputs: Any) -> tuple[Any, ...]:
        context.function = function
        context.numbers = [None if isinstance(x, torch.Tensor) else x for x in inputs]
        context.save_for_backward(*(x for x in inputs if isinstance(x, torch.Tensor)))
        return tuple(function.values(inputs))

    @staticmethod
    def backward(context: Any, *bars: Any) -> tuple[Any, ...]:
        if torch.is_grad_enabled():  # else PyTorch would take gradients for constants
            raise LoadError(
                f"lib.torch.{context.function.__name__}: there are no gradients of gradients on a GPU; leave "
                "create_graph out"
            )
        tensors = iter(context.saved_tensors)
        inputs = [next(tensors) if x is None else x for x in context.numbers]
        found = context.function.gradients(inputs, bars)
        names = [x.name for x in context.function.value.signature.inputs]
        needed = context.needs_input_grad[1:]
        return None, *(
            found[name] if is_needed else None for name, is_needed in zip(names, needed, strict=True)
        )


def _listed(results: Any) -> list[Any]:
    return list(results) if isinstance(results, tuple) else [results]


def _array(given: Any) -> Any:
    """A tensor as kernels read it: detached, in C order and aligned. Other inputs stay as they are."""
    if not isinstance(given, torch.Tensor):
        return given
    tensor = given.detach().contiguous()
    return tensor.clone() if tensor.data_ptr() % ALIGNMENT else tensor


def _tensor(array: Any) -> Any:
    return torch.from_dlpack(array)
