"""The elementary functions in JavaScript, from the text that has them in C.

Words are `BigInt`s, because the operations on bits of JavaScript's numbers have 32 bits only.
"""

from __future__ import annotations

from dataclasses import dataclass

from rbdgen.emit.c.kernels import CKernels, math_function
from rbdgen.emit.real import Real


@dataclass(frozen=True)
class Kernels(CKernels):
    """The elementary functions of numbers, as c/kernels.jinja writes them in JavaScript."""

    def function(self, name: str, *arguments: str) -> str:
        return f"function {self.prefix}{name}({', '.join(arguments)})"

    def variable(self, kind: str) -> str:
        return "const"

    def integer(self, value: int) -> str:
        return f"{value % 2**self.constants.bits:#x}n"

    def small(self, value: int) -> str:
        return f"{value}n"

    def places(self, value: int) -> str:
        return f"{value}n"

    def wrapped(self, text: str) -> str:
        return f"BigInt.asUintN({self.constants.bits}, {text})"


def kernels_of(name: str, real: Real, functions: tuple[str, ...]) -> Kernels:
    """The elementary functions of these operations. `name` is the robot's."""
    return Kernels(functions, math_function(name, ""), "", "", real, "$sqrt")
