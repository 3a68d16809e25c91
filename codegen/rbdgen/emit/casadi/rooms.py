"""Where the arrays of an entry point lie in the memory that CasADi gives it, and the tables of a file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from rbdgen.emit.casadi.entries import Array, Call, Callee, Input, Passed, Tables
from rbdgen.emit.casadi.matrices import matrix_of
from rbdgen.signature import SizedArgument

_NEAR: Final = 16 * 1024
"""Bytes of results of C that stay in the nearest caches until CasADi's are made of them."""

_LANES: Final = 8
"""States of a vector, at most."""


class Rooms:
    """The tables of a file for so many states a call, and the numbers of w that an entry point has taken."""

    def __init__(self, robot: str, knots: int) -> None:
        self.robot, self.knots = robot, knots
        self.sparsities, self.places = Tables(), Tables()
        self.work = 0

    def begin(self) -> None:
        """The next entry point: nothing of w is taken."""
        self.work = 0

    def taken(self, size: int) -> int:
        """Where so many more numbers of w lie."""
        room, self.work = self.work, self.work + size
        return room

    def input(self, name: str, x: SizedArgument, local: str, *, differentiable: bool = True) -> Input:
        """An array that CasADi passes for every state; C has it by rows, as `local`."""
        matrix, room = matrix_of(x), self.taken(self.knots * x.size)
        ordered = matrix.places == tuple(range(x.size))
        return Input(
            name,
            local,
            self.sparsities.number(matrix.beside(self.knots)),
            x.size,
            len(matrix.entries),
            None if ordered else self.places.number(matrix.places),
            differentiable=differentiable,
            room=room,
        )

    def placeholder(self, name: str, x: SizedArgument) -> Input:
        """An array that nobody reads, told to be all zeros."""
        return self.unread(name, replace(matrix_of(x), entries=()).beside(self.knots))

    def unread(self, name: str, sparsity: tuple[int, ...]) -> Input:
        """The same, of a sparsity."""
        return Input(name, "", self.sparsities.number(sparsity), 0, 0, taken=False)

    def call(
        self,
        callee: Callee,
        states: int,
        given: Mapping[str, Passed],
        *,
        apart: bool = False,
        prefix: str = "",
        count: int | None = None,
    ) -> Call:
        """A call of a function of C, with room for what it gives.

        `given`: what stands for its inputs; `apart`: of a batch in vectors; `prefix`: of the names of its
        results; `count`: states of a batch, None for those of the entry point.
        """
        batch = count is not None or (callee.batch and self.knots > 1)
        held = count or (whole(states) if batch and apart else states)
        arrays = tuple(
            Array(prefix + output.name, output.size, self.taken(held * output.size))
            for output in callee.signature.outputs
        )
        passed = tuple(given[x.name] for x in callee.signature.inputs)
        symbol = f"{self.robot}_{callee.signature.name}"
        return Call(symbol, batch, passed, arrays, batch and apart, count)

    def states(self, outputs: Iterable[SizedArgument], *callees: Callee) -> int:
        """How many at once: whole vectors, whose results stay in the caches."""
        if self.knots == 1 or not all(callee.batch for callee in callees):
            return 1
        a_state = 8 * sum(output.size for output in outputs)
        return min(self.knots, max(_LANES, _NEAR // a_state // _LANES * _LANES))


def whole(states: int) -> int:
    """As many as whole vectors have lanes."""
    return -(-states // _LANES) * _LANES
