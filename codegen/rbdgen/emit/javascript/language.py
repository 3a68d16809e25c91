"""What JavaScript writes otherwise than C.

Numbers are doubles, and the operators are those of IEEE 754, so that results have the bits of the C. Arrays
are `Float64Array`s. A parameter in C may point inside an array; here two parameters stand for it, the array
and the index at which it begins, called `x` and `x$`. Names that begin with `$` are those of the module
itself, and identifiers in C have no such letter.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rbdgen.emit.c.expression import CHOSEN, SUM, Expression, within
from rbdgen.emit.c.language import COSINES, SINES, Chosen, Language, Sines
from rbdgen.emit.numbers import literal

RESERVED: Final = frozenset(
    """
    arguments debugger eval extends function implements instanceof interface let null package super
    undefined var
    """.split()  # noqa: SIM905  (a list would take a screen)
)
"""The words that JavaScript reserves in modules, besides those that no array may have in C and Python."""

_CONDITIONS: Final = {
    "max": "{0} > {1} || {0} !== {0}",
    "min": "{0} < {1} || {0} !== {0}",
    "select": "{0} < {1}",
    "select_le": "{0} <= {1}",
}
"""The condition under which each operation takes the first of its last two operands; only NaN differs from
itself.
"""


def name_of(array: str) -> str:
    """The name of an array in JavaScript."""
    return f"${array}" if array in RESERVED else array


class JavaScript(Language):
    """JavaScript. Arrays that C puts on the stack are made once for each function."""

    fewest_zeros = 32  # a call of `fill` takes as long as some ten statements

    def variable(self, kind: str, name: str, value: str) -> str:
        return f"const {name} = {value};"

    def scratch(self, kind: str, name: str, size: int) -> str:
        return f"const {name_of(name)} = new Float64Array({size});"

    def element(self, array: str, at: int, *, moved: bool = False) -> str:
        name = name_of(array)
        if not moved:
            return f"{name}[{at}]"
        return f"{name}[{name}$ + {at}]" if at else f"{name}[{name}$]"

    def parameter(self, kind: str, restrict: str, name: str, *, written: bool, moved: bool = False) -> str:
        own = name_of(name)
        return f"{own}, {own}$" if moved else own

    def passed(self, array: str, begin: str = "", *, moved: bool = False) -> str:
        return f"{name_of(array)}, {begin or 0}" if moved else name_of(array)

    def handed_on(self, name: str, parameter: str) -> str:
        return parameter

    def zeros(self, first: str, array: str, count: int) -> str:
        name, _, begin = first.removesuffix("]").partition("[")
        return f"{name}.fill(0.0, {begin}, {begin} + {count});"

    def loop(self, count: str, statements: Sequence[str], counter: str = "k") -> list[str]:
        inside = [f"    {statement}" for statement in statements]
        return [f"for (let {counter} = 0; {counter} < {count}; ++{counter}) {{", *inside, "}"]

    def choice(self, op: str, name: str, real: str, operands: Sequence[Expression]) -> Chosen:
        texts = [within(operand, SUM) for operand in operands]
        *_, first, second = texts
        text = f"{_CONDITIONS[op].format(*texts)} ? {first} : {second}"
        return Chosen([], Expression(text, CHOSEN, 1 + max(operand.depth for operand in operands)))

    def sign(self, x: Expression, real: str) -> Expression:
        zero, text = literal(0.0, real), within(x, 2)
        return Expression(f"(({text} > {zero}) - ({text} < {zero})) + {zero} * {text}", SUM, x.depth + 1)

    def sines(self, kind: str, prefix: str, angles: Sequence[str]) -> Sines:
        size = len(angles)
        return Sines(
            [self.scratch(kind, SINES, size), self.scratch(kind, COSINES, size)],
            [f"{prefix}_sincos({angle}, {SINES}, {COSINES}, {k});" for k, angle in enumerate(angles)],
        )
