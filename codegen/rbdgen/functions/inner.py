"""Loops in the middle of a straight line, and their derivatives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from rbdgen.model.model import Model
from rbdgen.spatial.scalar import Scalar
from rbdgen.sweeps.loops import LoopedForm


@dataclass(frozen=True)
class Inner:
    """Loops in the middle of a straight line. They read outputs of the line, and give inputs of it."""

    loops: Callable[[Model], LoopedForm]
    """Makes the loops for a robot."""
    reads: Callable[[Model], Mapping[str, int]]
    """Gives the sizes of the arrays that the loops read."""
    smallest: Callable[[Model], LoopedForm] | None = None
    """Makes loops with less code, for forms for size; None if there are no others."""

    @property
    def for_size(self) -> Inner:
        """The loops with the least code."""
        return self if self.smallest is None else replace(self, loops=self.smallest)


@dataclass(frozen=True)
class Implicit:
    """Differentiates loops that solve an equation F(y, p) = 0 for y, by the implicit function theorem.

    y is the first output of the loops, p are the arrays that they read, and other outputs have no
    derivatives. `adjoint` reads p, y and `y_bar`, and `tangent` reads p, y and what `changes` gives.
    """

    adjoint: Inner
    """Gives the arrays that `weights` reads."""
    weights: Callable[[Model, Mapping[str, Sequence[Scalar]]], Mapping[str, Sequence[Scalar]]]
    """Computes `p_bar` of each array p from p, y and the outputs of `adjoint`."""
    tangent: Inner
    """Gives `y_dot`."""
    changes: Callable[[Model, Mapping[str, Sequence[Scalar]]], Mapping[str, Sequence[Scalar]]]
    """Computes the rates of F at constant y, from p, y and the arrays `p_dot`."""
