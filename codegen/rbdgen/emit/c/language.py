"""What C writes in its own way, so that the same printers can also print another language.

Names are those of the graph, which are identifiers in C.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from rbdgen.emit.c.choices import choice, pair_of
from rbdgen.emit.c.expression import ATOM, SUM, Expression, within
from rbdgen.emit.numbers import literal
from rbdgen.emit.reserved import LOCAL_ARRAYS

ANGLES, SINES, COSINES, WORKSPACE, TILES = LOCAL_ARRAYS


class Chosen(NamedTuple):
    """A choice between two values: the statements that it needs first, and its expression."""

    first: list[str]
    expression: Expression


class Sines(NamedTuple):
    """The sines and cosines of angles: declarations of arrays, which may stand before all statements, and the
    statements that fill them.
    """

    scratch: list[str]
    statements: list[str]


class Language:
    """C. Another language overrides what it writes otherwise."""

    fewest_zeros: int = 3
    """The smallest number of neighbouring zeros that are written at once."""

    def variable(self, kind: str, name: str, value: str) -> str:
        """The statement that defines a constant local variable."""
        return f"const {kind} {name} = {value};"

    def scratch(self, kind: str, name: str, size: int) -> str:
        """The declaration of a local array without initial values."""
        return f"{kind} {name}[{size}];"

    def element(self, array: str, at: int, *, moved: bool = False) -> str:
        """An element of an array, which is a parameter that `passed` may begin at any element if `moved`."""
        del moved
        return f"{array}[{at}]"

    def parameter(self, kind: str, restrict: str, name: str, *, written: bool, moved: bool = False) -> str:
        """The declaration of an array that is a parameter. `restrict` says that nothing else points to it."""
        del moved
        return f"{'' if written else 'const '}{kind} *{restrict} {name}"

    def passed(self, array: str, begin: str = "", *, moved: bool = False) -> str:
        """The argument for such a parameter, from the element `begin` on (an expression; empty for 0)."""
        del moved
        return f"{array} + {begin}" if begin else array

    def handed_on(self, name: str, parameter: str) -> str:
        """The argument that hands a parameter with this declaration on to another function."""
        del parameter
        return name

    def zeros(self, first: str, array: str, count: int) -> str:
        """The statement that writes zeros to an array from the element `first` on."""
        return f"memset(&{first}, 0, {count} * sizeof {array}[0]);"

    def loop(self, count: str, statements: Sequence[str], counter: str = "k") -> list[str]:
        """A loop of `count` runs (an expression), which the variable `counter` counts."""
        inside = [f"    {statement}" for statement in statements]
        return [f"for (int {counter} = 0; {counter} < {count}; ++{counter}) {{", *inside, "}"]

    def choice(self, op: str, name: str, real: str, operands: Sequence[Expression]) -> Chosen:
        """A choice between two numbers, which are put into an array first.

        Args:
            op: the operation, of `choices.CHOICES`.
            name: the name of the array.
            real: the type of the numbers.
            operands: the operands.
        """
        texts = [operand.text for operand in operands]
        depth = 1 + max(operand.depth for operand in operands)
        return Chosen([pair_of(name, real, texts)], Expression(choice(op, name, texts), ATOM, depth))

    def sign(self, x: Expression, real: str) -> Expression:
        """(x > 0) - (x < 0), which takes no branch, plus 0 x, which is NaN where x is NaN or infinite.

        The operand counts as used twice, as for `sq`, so its text is short.
        """
        zero, text = literal(0.0, real), within(x, 2)
        return Expression(
            f"({real})(({text} > {zero}) - ({text} < {zero})) + {zero} * {text}", SUM, x.depth + 1
        )

    def sines(self, kind: str, prefix: str, angles: Sequence[str]) -> Sines:
        """The calls of the built-in sine and cosine for these angles, one by one."""
        size = len(angles)
        declared = [
            f"const {kind} {ANGLES}[{size}] = {{{', '.join(angles)}}};",
            f"{kind} {SINES}[{size}], {COSINES}[{size}];",
        ]
        calls = [f"{prefix}_sincos({ANGLES}[{k}], &{SINES}[{k}], &{COSINES}[{k}]);" for k in range(size)]
        return Sines([], [*declared, *calls])


C: Final = Language()
