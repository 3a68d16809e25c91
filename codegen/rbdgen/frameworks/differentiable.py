"""A function of a library together with its derivatives, for frameworks of automatic differentiation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from rbdgen.errors import ArrayTypeError, ArrayValueError, LoadError
from rbdgen.frameworks.functions import More
from rbdgen.runtime import Function, Library
from rbdgen.runtime.arrays import Array, as_real, check_shape
from rbdgen.signature import BAR, DOT, OBSTACLES, UPDATE, SizedArgument


@dataclass(frozen=True, eq=False)
class Differentiable:
    """A function y = f(x...) and the products with its Jacobians J, which are built on first use.

    `vjp(x..., y_bar...)` returns x_bar = J^T y_bar, and `jvp(x..., x_dot...)` returns y_dot = J x_dot. Both
    are with respect to the elements of x, so a gradient for q has nq numbers, even if nv is smaller.
    """

    value: Function
    library: Library
    more: More | None  # builds derivatives that the library lacks; None if that is not possible

    @property
    def name(self) -> str:
        return self.value.__name__

    @property
    def inputs(self) -> tuple[SizedArgument, ...]:
        return self.value.signature.inputs

    @property
    def outputs(self) -> tuple[SizedArgument, ...]:
        return self.value.signature.outputs

    @cached_property
    def vjp(self) -> Function:
        return self._along(["vjp"])["vjp"]

    @cached_property
    def jvp(self) -> Function:
        return self._along(["jvp"])["jvp"]

    @cached_property
    def hvp(self) -> Function:
        """`hvp(x..., y_bar..., x_dot...)` returns the rate of x_bar if x changes at the rate x_dot."""
        return self._along(["hvp"])["hvp"]

    @cached_property
    def both(self) -> tuple[Function, Function]:
        """`vjp` and `jvp`; if both are missing, they are built at once, which is faster than one by one."""
        found = self._along(["vjp", "jvp"])
        return found["vjp"], found["jvp"]

    @cached_property
    def by(self) -> tuple[int, ...]:
        """The numbers of the inputs with respect to which derivatives exist."""
        held = ["nonnegative", "held", *OBSTACLES]
        if self.name != UPDATE:
            held.append("parameters")
        return tuple(k for k, x in enumerate(self.inputs) if x.kind not in held)

    def no_derivative(self, k: int) -> ArrayTypeError:
        """The error to raise if a derivative with respect to input k is asked for, which does not exist."""
        x = self.inputs[k]
        remedy = "keep it constant, derivatives by parameters go through the table that update returns"
        if x.kind in OBSTACLES:
            remedy = "keep it constant"
        elif x.kind == "held":
            remedy = "keep it constant, or declare it without held=True"
        return ArrayTypeError(f"{self.name}: there are no derivatives by {x.name}; {remedy}")

    def _along(self, modes: Sequence[str]) -> Mapping[str, Function]:
        """The derivatives of these modes, built if the library lacks those for the elements of q."""
        if any(x.kind in ("sines", "cosines") for x in self.inputs):
            raise LoadError(
                f"{self.name}: there are no derivatives by sines and cosines; leave trig='input' out"
            )
        if packed := [y.name for y in self.outputs if y.dense is not None]:
            raise LoadError(
                f"{self.name}: there are no derivatives of {packed[0]}, which is packed; "
                "build the library without packed=True"
            )
        names = {mode: f"{self.name}_{mode}" for mode in modes}
        known = self.library.functions if _by_elements(self.library) else {}
        tabled = any(x.kind == "table" for x in self.inputs)
        known = {name: f for name, f in known.items() if not tabled or _is_by_table(f)}
        missing = [name for name in names.values() if name not in known]
        if not missing:
            return {mode: known[name] for mode, name in names.items()}
        if self.more is None:
            raise LoadError(
                f"{self.name}: there is no {missing[0]} by the elements of q; generate the library with "
                f"functions=[..., {', '.join(map(repr, missing))}], coordinates=True"
            )
        built = self.more.library(missing).functions
        return {mode: built[name] if name in missing else known[name] for mode, name in names.items()}


def _by_elements(library: Library) -> bool:
    """Whether the library's derivatives are with respect to the elements of q: on request, or because q's
    tangent space is the same."""
    return library.manifold.flat or bool(library.manifest["options"].get("coordinates"))


def _is_by_table(function: Function) -> bool:
    """Whether a product with derivatives includes those with respect to the parameter table."""
    arrays = (*function.signature.inputs, *function.signature.outputs)
    return any(x.name in ("table" + BAR, "table" + DOT) for x in arrays)


def native(function: Function, argument: SizedArgument, given: Any) -> Array:
    """The argument as a C-contiguous NumPy array in the machine's byte order, checked as in calls of the
    library."""
    array = as_real(function.__name__, argument, given)
    return np.array(array, array.dtype.newbyteorder("="), order="C")


def check(
    function: str, argument: SizedArgument, shape: tuple[int, ...], dtype: str, real: str, advice: str
) -> None:
    """Raises ArrayTypeError or ArrayValueError if an array of a framework has a type or shape that C cannot
    read.

    `advice` says what to do about another floating-point type.
    """
    if dtype != real:
        told = advice if dtype.startswith("float") else f"pass real numbers as {real}"
        raise ArrayTypeError(f"{function}: {argument.name} is {dtype}, the library is of {real}; {told}")
    check_shape(function, argument.name, shape, argument.shape)


def disagreeing(value: Function, shapes: Sequence[tuple[int, ...]]) -> ArrayValueError:
    """The error to raise if leading axes do not broadcast."""
    told = ", ".join(f"{x.name} {shape}" for x, shape in zip(value.signature.inputs, shapes, strict=True))
    return ArrayValueError(f"{value.__name__}: leading axes do not broadcast: {told}")
