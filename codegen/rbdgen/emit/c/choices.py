"""Choices between two values as C expressions without a branch.

For `a < b ? x : y`, compilers compute a value that nothing else reads behind a jump. If the comparison is
instead the index into an array of the two values, the code has no jump on x86, Cortex-M and RISC-V, and it is
the shortest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

CHOICES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "max": "(unsigned)({0} > {1}) | (unsigned)!({0} >= {0})",
        "min": "(unsigned)({0} < {1}) | (unsigned)!({0} <= {0})",
        "select": "{0} < {1}",
        "select_le": "{0} <= {1}",
    }
)
"""The condition under which each operation takes the first of its last two operands. `!(x >= x)` holds only
for NaN. Compilers test it with one instruction, whereas `==` in place of `>=` takes a jump. Comparisons are
converted to numbers because MISRA C has no `|` of comparisons.
"""

REPEATED: Final = frozenset({"sq", "sign", "max", "min"})
"""The operations whose text repeats an operand, which must be short."""


def choice(op: str, pair: str, operands: Sequence[str]) -> str:
    """The text of a choice from the array of that name, which `pair_of` declares."""
    return f"{pair}[{CHOICES[op].format(*operands)}]"


def pair_of(pair: str, real: str, operands: Sequence[str]) -> str:
    """The declaration of the two values of a choice: an array, which C++ allows if it has a name."""
    *_, first, second = operands
    return f"const {real} {pair}[2] = {{{second}, {first}}};"
