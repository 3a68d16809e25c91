"""The context of c/kernels.jinja, which has the elementary functions in C, for numbers and for vectors."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from rbdgen.emit.numbers import literal
from rbdgen.emit.real import Real
from rbdgen.graph.cost import Cost
from rbdgen.graph.kernel_constants import CONSTANTS, Constants
from rbdgen.graph.kernels import KERNELS


@dataclass(frozen=True)
class CKernels:
    """The elementary functions of one type."""

    functions: tuple[str, ...]
    """The operations whose functions are wanted."""
    prefix: str
    """The beginning of the functions' names."""
    type: str
    """The C type of a value."""
    word: str
    """The C type of a value's bits."""
    real: Real
    """The type of the numbers in a value."""
    sqrt: str
    """The square root of a value."""
    every: str = ""
    """The macro that copies a number to all lanes of a vector; empty if a value is one number."""

    @property
    def vector(self) -> bool:
        """Whether a value is a vector."""
        return bool(self.every)

    @property
    def roots(self) -> bool:
        """Whether a function takes a square root."""
        return not {"asin", "acos", "hypot"}.isdisjoint(self.functions)

    @property
    def copy(self) -> str:
        """The macro that copies bits."""
        return f"{self.prefix.upper()}COPY"

    @property
    def constants(self) -> Constants:
        """The constants of the functions."""
        return CONSTANTS[np.dtype(self.real.numpy)]

    @property
    def sign(self) -> str:
        """The word in which only the bit of the sign is set."""
        return self.integer(1 << (self.constants.bits - 1))

    @property
    def minus_infinity(self) -> str:
        """The bits of -infinity."""
        return self.integer(self.constants.bits_of(-math.inf))

    @property
    def nan(self) -> str:
        """The bits of NaN."""
        return self.integer(self.constants.bits_of(math.nan))

    @property
    def always(self) -> str:
        """The specifiers of a function that is inlined."""
        return "static inline __attribute__((always_inline))" if self.vector else "static inline"

    def function(self, name: str, *arguments: str) -> str:
        """The beginning of a function of values."""
        declared = ", ".join(f"{self.type} {argument}" for argument in arguments)
        return f"{self.always} {self.type} {self.prefix}{name}({declared})"

    def variable(self, kind: str) -> str:
        """The beginning of the definition of a constant variable."""
        return f"const {kind}"

    def number(self, value: float) -> str:
        """A literal of the numbers' type."""
        return literal(value, self.real.name)

    def integer(self, value: int) -> str:
        """A literal of the type of bits, modulo its size."""
        return f"{value % 2**self.constants.bits:#x}u"

    def small(self, value: int) -> str:
        """A literal of the type of bits with few digits."""
        return f"{value}u"

    def places(self, value: int) -> str:
        """The number of places of a shift."""
        return f"{value}"

    def wrapped(self, text: str) -> str:
        """An expression of the type of bits, modulo its size."""
        return text


def kernels_in(costs: Iterable[Cost]) -> tuple[str, ...]:
    """The operations with kernels that are counted at least once."""
    found = list(costs)
    return tuple(op for op in KERNELS if any(cost.counts[op] for cost in found))


def number_kernels(name: str, real: Real, functions: tuple[str, ...]) -> CKernels:
    """The functions of one number, in c/ROBOT_math.h. `name` is the robot's."""
    word = f"uint{CONSTANTS[np.dtype(real.numpy)].bits}_t"
    return CKernels(functions, math_function(name, ""), real.name, word, real, real.sqrt)


def vector_kernels(name: str, macro: str, real: Real, functions: tuple[str, ...]) -> CKernels:
    """The functions of a vector, in c/ROBOT_lanes.h. `name` and `macro` are the robot's."""
    kind = f"{name}_lanes"
    return CKernels(functions, f"{kind}_", kind, f"{kind}_word", real, f"{kind}_sqrt", f"{macro}_ALL")


def math_function(name: str, op: str) -> str:
    """The C function of an operation on one number. `name` is the robot's."""
    return f"{name}_math_{op}"
