"""The limits within which the choice of a form is made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Limits:
    """Limits on the number of trials, and the gains by which a form must be better."""

    contenders: int = 2
    """The number of the cheapest traces that go through the passes, which seldom change their order."""
    large: int = 4000
    """From this number of operations on, only the cheapest trace goes through the passes."""
    refinement: int = 300_000
    """The number of operations that the search for body axes may trace for one function: some seconds."""
    least_gain: float = 0.01
    """The fraction of operations that one frame for a parallel-axis chain must save before the search.

    The search itself gains some per cent and may reverse a small difference.
    """
    most_work: float = 0.9
    """The greatest work of a line with alike limbs as lanes, as a fraction of a straight line's work.

    `make bench-forms` compares the work that the choice counts with times.
    """
    most_batch_loss: float = 1.1
    """The limit on operations of the program limb by limb, which batches run, relative to the straight
    line.
    """
    longest_for_vectors: int = 160_000
    """The limit on executed operations of loops whose lanes are parts of one state.

    Loops over columns do not count. A batch runs these loops as one straight line with about three fifths of
    the operations, and compilers take long for lines of more than 100 000 operations.
    """
    longest_apart: int = 40_000
    """The limit on operations of a straight line that is made for batches alone, beside a program in loops.

    Longer lines take long to design and to compile, and batches then run the loops.
    """
    registers: float = 2.0
    """The number of registers of 32 bytes, as AVX2 has them, that the longest vectors fill. Choices count
    with more if the registers of the oldest processor are shorter.
    """
    tried_lengths: int = 4
    """The number of lengths that are tried as the unit, the most frequent first."""
    least_unit: float = 1e-9
    """The shortest unit, in m and as a fraction of the longest length.

    A shorter length comes from rounding and is no dimension of the robot.
    """


LIMITS: Final = Limits()
"""The limits of all choices."""
