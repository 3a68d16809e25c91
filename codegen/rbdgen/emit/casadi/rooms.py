"""The places of an entry point's arrays in the work array `w` of CasADi, and the tables of a file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from rbdgen.emit.casadi.entries import Array, Call, Callee, Input, Passed, Tables
from rbdgen.emit.casadi.matrices import matrix_of
from rbdgen.signature import SizedArgument

_NEAR: Final = 16 * 1024
"""The size, in bytes, of C results that stay in the nearest caches until they become CasADi's results."""

_LANES: Final = 8
"""The largest number of states in a vector."""


class Rooms:
    """Collects the tables of a file and reserves places in `w`, for `knots` states per call.

    `work` is the size of `w` that the current entry point uses so far.
    """

    def __init__(self, robot: str, knots: int) -> None:
        self.robot, self.knots = robot, knots
        self.sparsities, self.places = Tables(), Tables()
        self.work = 0

    def begin(self) -> None:
        """Begins the next entry point with an empty `w`."""
        self.work = 0

    def taken(self, size: int) -> int:
        """Reserves `size` numbers of `w` and returns their place."""
        room, self.work = self.work, self.work + size
        return room

    def input(self, name: str, x: SizedArgument, local: str, *, differentiable: bool = True) -> Input:
        """An array that CasADi passes for every state; C stores it by rows under the name `local`."""
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
        """An array that nothing reads; CasADi is told that it is all zeros."""
        return self.unread(name, replace(matrix_of(x), entries=()).beside(self.knots))

    def unread(self, name: str, sparsity: tuple[int, ...]) -> Input:
        """An array that nothing reads, with the given sparsity."""
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
        """A call of a C function, with places for its outputs.

        Args:
            callee: the function.
            states: the states that the entry point computes at a time.
            given: the arrays that are passed for its inputs.
            apart: whether the outputs of a batch stay SIMD vectors.
            prefix: the prefix of the names of its outputs.
            count: the states of a batch, or None for those of the entry point.
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
        """The number of states to compute at a time: whole vectors whose results stay in the caches."""
        if self.knots == 1 or not all(callee.batch for callee in callees):
            return 1
        a_state = 8 * sum(output.size for output in outputs)
        return min(self.knots, max(_LANES, _NEAR // a_state // _LANES * _LANES))


def whole(states: int) -> int:
    """The number of states, rounded up to whole vectors."""
    return -(-states // _LANES) * _LANES
