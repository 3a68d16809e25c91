"""The loops of a sweep for one sole: the velocity of its frame, the turns of its corners, and its step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rbdgen.access import Access, MatrixView, element, whole
from rbdgen.functions.friction.arrays import (
    ARMS,
    BIASES,
    COMPLIANCES,
    CORNERS,
    DAMPING,
    DRIVE,
    GRIP,
    RATES,
    RESPONSES,
    SMOOTHING,
    STEPS,
    STRIPS,
    Newest,
    corners_in,
    matrix,
)
from rbdgen.functions.friction.layout import Block
from rbdgen.functions.friction.newton import Problem
from rbdgen.functions.friction.sole import FRAME_ROWS, NUMBERS, Response, gathered
from rbdgen.functions.friction.sole_alone import ROUNDS, Taken, Turn, step_of_sole, turn
from rbdgen.model.contacts import SolverPlan
from rbdgen.spatial.scalar import add, dot
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.loops import Arrays, FormLoop

OF_CORNERS: Final = {ARMS: NUMBERS, BIASES: 1, COMPLIANCES: 2, RESPONSES: 3 * FRAME_ROWS + 9}
"""The sizes of the arrays that describe corners, for each corner."""

DAMPED: Final = 0.16
"""The damping of the Newton steps of soles in the first sweep."""

LESS: Final = 0.3
"""The damping in a sweep, relative to that in the sweep before. There is none in sweeps after Newton steps of
all contacts.
"""


def damping(plan: SolverPlan) -> tuple[float, ...]:
    """The damping in each sweep: first those before all Newton steps, then those after one."""
    return (*(DAMPED * LESS**k for k in range(plan.sweeps)), *[0.0] * plan.between)


@dataclass(frozen=True)
class SoleLoops:
    """The loops of a sole in the sweep with this number. `size` is the number of rows of all contacts."""

    block: Block
    size: int
    number: int
    at: Newest

    def loops(self) -> list[FormLoop]:
        """The loops, in order."""
        return [self._moving(), self._turns(), self._step()]

    def _moving(self) -> FormLoop:
        """The velocity of the frame."""
        n, first = self.size, self.block.first

        def trace(x: State) -> Arrays:
            impulses = list(x.arrays["impulses"])
            rows = zip(x.arrays["own"], matrix(x.arrays["strip"], n), strict=True)
            return {RATES: [add(own, dot(row, impulses)) for own, row in rows]}

        reads = {
            "strip": MatrixView(STRIPS, n).block(range(FRAME_ROWS), range(n), [(first, 0)]),
            "own": Access(DRIVE, tuple(range(FRAME_ROWS)), (first,)),
            "impulses": Access(self.at.rows, tuple(range(n)), (first,)),
        }
        return FormLoop("moving", trace, {RATES: whole(RATES, FRAME_ROWS)}, reads)

    def _turns(self) -> FormLoop:
        """The turns of all corners, in rounds."""
        turns = [corner for _ in range(ROUNDS) for corner in range(len(self.block.corners))]
        impulse = self._each(self.at.corners, 3, self.block.corners, turns)
        reads = {name: self._each(name, size, self.block.corners, turns) for name, size in OF_CORNERS.items()}
        reads |= {
            CORNERS: impulse,
            RATES: whole(RATES, FRAME_ROWS),
            GRIP: self._each(GRIP, 1, self.block.numbers, turns),
            STEPS: Access(STEPS, (0, 1, 2), tuple(self.block.place + 3 * k for k in turns)),
        }
        return FormLoop(
            "turn", _turn, {"after": impulse, "rates_after": reads[RATES]}, reads, count=len(turns)
        )

    @staticmethod
    def _each(array: str, size: int, all_of_it: range, turns: Sequence[int]) -> Access:
        """The numbers of the corner of each turn."""
        return Access(array, tuple(range(size)), tuple(size * all_of_it[k] for k in turns))

    def _step(self) -> FormLoop:
        """The Newton step."""
        count, n, first = len(self.block.corners), self.size, self.block.first
        own = {name: size for name, size in OF_CORNERS.items() if name != RESPONSES}
        reads = {name: self._all(name, size, self.block.corners) for name, size in own.items()}
        reads |= {
            CORNERS: self._all(self.at.corners, 3, self.block.corners),
            RATES: whole(RATES, FRAME_ROWS),
            GRIP: self._all(GRIP, 1, self.block.numbers),
            STEPS: Access(STEPS, tuple(range(3 * count)), (self.block.place,)),
            STRIPS: MatrixView(STRIPS, n).block(range(FRAME_ROWS), range(FRAME_ROWS), [(first, 0)]),
            SMOOTHING: whole(SMOOTHING, 1),
            DAMPING: element(DAMPING, [self.number]),
        }
        writes = {
            "next": self._all(self.at.after_sweep.corners, 3, self.block.corners),
            "impulse": Access(self.at.rows, (*range(FRAME_ROWS), *range(n, n + FRAME_ROWS)), (first,)),
        }
        return FormLoop("sole", _step, writes, reads)

    @staticmethod
    def _all(array: str, size: int, all_of_it: range) -> Access:
        """The numbers of all corners."""
        return Access(array, tuple(range(size * len(all_of_it))), (size * all_of_it.start,))


def _turn(x: State) -> Arrays:
    (corner,), (mu,) = corners_in(x.arrays), x.arrays[GRIP]
    numbers = x.arrays[RESPONSES]
    response = Response(matrix(numbers[: 3 * FRAME_ROWS], 3), matrix(numbers[3 * FRAME_ROWS :], 3))
    before = Turn(list(x.arrays[CORNERS]), list(x.arrays[RATES]))
    found = turn(Taken(corner, response, mu, x.arrays[STEPS], before))
    return {"after": found.impulse, "rates_after": found.velocities}


def _step(x: State) -> Arrays:
    corners, each = corners_in(x.arrays), list(x.arrays[CORNERS])
    count = len(corners)
    alone = Problem(
        [Block(0, FRAME_ROWS, 0, range(count), range(count))],
        matrix(x.arrays[STRIPS], FRAME_ROWS),
        [0] * FRAME_ROWS,
        x.arrays[GRIP],
        x.arrays[STEPS],
        x.arrays[SMOOTHING][0],
        corners,
    )
    found = step_of_sole(alone, each, x.arrays[RATES], x.arrays[DAMPING][0])
    return {"next": found, "impulse": 2 * gathered([corner.arm for corner in corners], found)}
