"""The solver in loops over rows and contacts, for machines with little flash.

The algorithm is that of `solver.py`. What is a straight line over all contacts there is a loop here, whose
line is that of one contact, or of one element of a matrix. Code then grows neither with the plan nor with the
number of contacts. Results agree up to rounding. Robots with soles have no such loops.

In a Newton step, the matrix [N, -F] is eliminated in place by the method of Gauss and Jordan without pivots:
one row after the other is divided by its pivot and subtracted from all others, in the columns that follow.
The last column is then the step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import gcd
from typing import Final

from rbdgen.access import Access, MatrixView, element, whole
from rbdgen.functions.friction import row_lines as lines
from rbdgen.functions.friction.arrays import (
    BOUNDS,
    DRIVE,
    GRIP,
    IMPULSES,
    RESIDUAL,
    SMOOTHING,
    SOLVED,
    STEPS,
    STRIPS,
    Newest,
)
from rbdgen.functions.friction.block import TURNS, Slip
from rbdgen.functions.friction.held import Bounds
from rbdgen.functions.friction.layout import Block
from rbdgen.functions.friction.newton import TRIES
from rbdgen.functions.friction.solver import Solver
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.loops import Arrays, FormLoop, LoopedForm, cleared, copied

BESIDE: Final = "beside"
"""The array of the velocity of a contact whose own impulse is 0."""

STOPS, SLIP, DIRECTION = "stops", "slip", "direction"
"""The arrays of the impulse that stops a contact, of `Slip`, and of the direction of the slip."""

ANGLES: Final = "angles"
"""The table of the cosines and sines of the angles of halvings."""

VELOCITIES, CHANGE, FASTER = "velocities", "change", "faster"
"""The arrays of c, of the change of the impulses, which is held twice as they are, and of the change of c."""

FACTORS: Final = "factors"
"""The table of the factors of a change: 0 and those that are tried."""

VALUES, MODES, FREE = "values", "modes", "freed"
"""The arrays of F, of `lines.Modes` of each point, and of `Held.free` of each joint."""

WEIGHTS: Final = "weights"
"""The array of W: four numbers for a point, and one for any other row."""

SYSTEM: Final = "equations"
"""The array of [N, -F]."""

PIVOT, SIZE, BEST = "pivot", "size", "best"
"""The arrays of the inverse of a pivot, of |F|^2, and of the least |F|^2 with its factor."""

LARGEST: Final = "largest"
"""The array of the largest |F / r|, and of the sum of |F|."""

_THREE: Final = (0, 1, 2)


@dataclass(frozen=True)
class RowLoops:
    """The loops over rows of a solver without soles."""

    solver: Solver

    @cached_property
    def _points(self) -> list[Block]:
        """The contacts with friction."""
        return [block for block in self.solver.blocks if block.numbers]

    @cached_property
    def _closed(self) -> list[int]:
        """The rows of bilateral contacts."""
        blocks = (x for x in self.solver.blocks if not (x.numbers or x.joints))
        return [k for block in blocks for k in range(block.first, block.first + block.size)]

    @cached_property
    def _joints(self) -> list[Block]:
        """The joints with limits or dry friction."""
        return [block for block in self.solver.blocks if block.joints]

    @cached_property
    def _firsts(self) -> list[int]:
        """The first row of the block of each row."""
        return [block.first for block in self.solver.blocks for _ in range(block.size)]

    @cached_property
    def _weights(self) -> dict[int, int]:
        """The place of the first weight of a point or of another row, by its first row."""
        places, at = dict[int, int](), 0
        for block in self.solver.blocks:
            for k in range(block.size)[:: 3 if block.numbers else 1]:
                places[block.first + k] = at
                at += lines.WEIGHTS if block.numbers else 1
        return places

    @property
    def _system(self) -> MatrixView:
        return MatrixView(SYSTEM, self.solver.size + 1)

    def looped(self) -> LoopedForm:
        """The loops. They give the arrays `SOLVED` and `RESIDUAL`."""
        n, plan = self.solver.size, self.solver.plan
        loops = [cleared(element(IMPULSES, range(2 * n))), *self._sweeps(plan.sweeps)]
        for step in range(plan.steps):
            loops += self._newton()
            if step + 2 < plan.steps:
                loops += self._sweeps(plan.between)
        loops += self._end()
        sizes = {IMPULSES: 2 * n, BESIDE: 3, STOPS: 3, SLIP: len(Slip._fields), DIRECTION: 2}
        sizes |= {VELOCITIES: n, CHANGE: 2 * n, FASTER: n, VALUES: n, FREE: self.solver.joints}
        sizes |= {MODES: len(lines.Modes._fields) * self.solver.cones, SYSTEM: n * (n + 1), PIVOT: 1}
        sizes |= {WEIGHTS: n + len(self._points) * (lines.WEIGHTS - 3), SIZE: 1, BEST: 2, LARGEST: 2}
        tables = {ANGLES: tuple(x for pair in TURNS for x in pair), FACTORS: (0.0, *map(float, TRIES))}
        used = {x.array for loop in loops for x in (*loop.writes.values(), *loop.reads.values())}
        scratch = {name: size for name, size in sizes.items() if name in used}
        tables = {name: table for name, table in tables.items() if name in used}
        return LoopedForm(tuple(loops), {SOLVED: n, RESIDUAL: 1}, scratch, tables)

    # ---- sweeps

    def _sweeps(self, count: int) -> list[FormLoop]:
        return [loop for _ in range(count) for block in self.solver.blocks for loop in self._visit(block)]

    def _visit(self, block: Block) -> list[FormLoop]:
        """The impulse of one contact or joint, from those of all others."""
        if not block.numbers:
            return [self.solver.sweep([block], Newest())]
        n, first = self.solver.size, block.first
        loops = [copied("begin", element(DRIVE, range(first, first + 3)), element(BESIDE, _THREE))]
        for k in _THREE if n > 3 else ():
            strip = range(n * (first + k) + 3, n * (first + k + 1))
            loops.append(_product(BESIDE, k, strip, IMPULSES, range(first + 3, first + n)))
        read = {
            "D": MatrixView(STRIPS, n).block(_THREE, _THREE, [(first, 0)]),
            "beside": whole(BESIDE, 3),
            "mu": element(GRIP, block.numbers),
        }
        slip, e, stops = whole(SLIP, len(Slip._fields)), whole(DIRECTION, 2), whole(STOPS, 3)
        halving = Access(ANGLES, (0, 1), tuple(range(0, 2 * len(TURNS), 2)))
        both = Access(IMPULSES, (*_THREE, n, n + 1, n + 2), (first,))
        return [
            *loops,
            FormLoop("guess", lines.guess, {"slip": slip, "e": e, "stops": stops}, read),
            FormLoop(
                "turn", lines.turn, {"after": e}, {"slip": slip, "e": e, "halving": halving}, count=len(TURNS)
            ),
            FormLoop("choose", lines.choose, {"impulse": both}, {**read, "e": e, "stops": stops}),
        ]

    # ---- the natural map

    def _added(self, to: str, factors: str) -> list[FormLoop]:
        """Adds G times an array, which is held twice, to another one."""
        n = self.solver.size
        return [
            _product(to, k, range(n * k, n * (k + 1)), factors, range(first, first + n))
            for k, first in enumerate(self._firsts)
        ]

    def _at_the_impulses(self) -> list[FormLoop]:
        """c and F with no change of the impulses."""
        n = self.solver.size
        zeros = {name: element(name, range(n)) for name in (CHANGE, FASTER)}
        return [
            copied("begin", element(DRIVE, range(n)), element(VELOCITIES, range(n))),
            *self._added(VELOCITIES, IMPULSES),
            FormLoop("still", lambda _: {name: [0] for name in zeros}, zeros, count=n),
            *self._map(0),
        ]

    def _map(self, factor: int) -> list[FormLoop]:
        """F and its modes, with the factor of this number of the change."""
        points, joints, loops = self._points, self._joints, list[FormLoop]()
        if points:
            reads = {"mu": element(GRIP, [x.numbers.start for x in points]), "smoothing": whole(SMOOTHING, 1)}
            modes = {"modes": _numbered(MODES, len(lines.Modes._fields), range(len(points)))}
            firsts = [x.first for x in points]
            loops.append(_mapped("map", lines.map_of_point, 3, firsts, factor, reads, modes))
        if self._closed:
            loops.append(_mapped("closed", lines.map_of_row, 1, self._closed, factor, {}, {}))
        if joints:
            numbers, firsts = [x.joints.start for x in joints], [x.first for x in joints]
            reads = {"law": _numbered(BOUNDS, len(Bounds._fields), numbers)}
            free = {"freed": element(FREE, numbers)}
            loops.append(_mapped("held", lines.map_of_joint, 1, firsts, factor, reads, free))
        return loops

    def _size(self) -> list[FormLoop]:
        """|F|^2."""
        n, size = self.solver.size, whole(SIZE, 1)
        reads = {"value": element(VALUES, range(n)), "sum": size}
        return [cleared(size), FormLoop("square", lines.add_square, {"sum_after": size}, reads, count=n)]

    # ---- a Newton step

    def _newton(self) -> list[FormLoop]:
        n, size, best, system = self.solver.size, whole(SIZE, 1), whole(BEST, 2), self._system
        loops = [*self._at_the_impulses(), *self._size()]
        loops.append(FormLoop("first", lines.first, {"best": best}, {"size": size}))
        loops += [*self._derivative(), *self._eliminated()]
        step = {"number": element(SYSTEM, [system.index(k, n) for k in range(n)])}
        twice = {"copies": Access(CHANGE, (0, n), tuple(range(n)))}
        loops.append(FormLoop("change", lines.twice, twice, step, count=n))
        loops += self._added(FASTER, CHANGE)
        for factor in range(1, len(TRIES) + 1):
            reads = {"size": size, "best": best, "factor": element(FACTORS, [factor])}
            better = FormLoop("better", lines.better, {"best_after": best}, reads)
            loops += [*self._map(factor), *self._size(), better]
        reads = {"number": element(IMPULSES, range(n)), "change": element(CHANGE, range(n)), "best": best}
        both = {"copies": Access(IMPULSES, (0, n), tuple(range(n)))}
        return [*loops, FormLoop("step", lines.stepped, both, reads, count=n)]

    def _derivative(self) -> list[FormLoop]:
        """N and -F."""
        n, system, points, joints = self.solver.size, self._system, self._points, self._joints
        loops = [cleared(element(SYSTEM, range(n * (n + 1))))]
        if points:
            firsts, numbers = [x.first for x in points], [x.numbers.start for x in points]
            weights = Access(WEIGHTS, tuple(range(lines.WEIGHTS)), tuple(self._weights[k] for k in firsts))
            reads = {
                "modes": _numbered(MODES, len(lines.Modes._fields), range(len(points))),
                "r": Access(STEPS, _THREE, tuple(firsts)),
                "mu": element(GRIP, numbers),
            }
            own = system.block(_THREE, _THREE, [(first, first) for first in firsts])
            writes = {"weights": weights, "own": own}
            loops.append(FormLoop("linear", lines.linear_of_point, writes, reads, count=len(points)))
        if self._closed:
            places = [self._weights[k] for k in self._closed]
            loops.append(copied("begin", element(STEPS, self._closed), element(WEIGHTS, places)))
        if joints:
            rows = [x.first for x in joints]
            reads = {"freed": element(FREE, [x.joints.start for x in joints]), "r": element(STEPS, rows)}
            own = system.entries([(0, 0)], [(k, k) for k in rows])
            writes = {"weight": element(WEIGHTS, [self._weights[k] for k in rows]), "own": own}
            loops.append(FormLoop("bounded", lines.linear_of_joint, writes, reads, count=len(joints)))
        loops += self._weighted()
        right = element(SYSTEM, [system.index(k, n) for k in range(n)])
        reads = {"value": element(VALUES, range(n))}
        return [*loops, FormLoop("right", lines.negated, {"right": right}, reads, count=n)]

    def _weighted(self) -> list[FormLoop]:
        """Adds W G to N. The columns of G in the strip of a contact are those of N in another order, in which
        as many as all contacts have at least are neighbours.
        """
        n, loops = self.solver.size, list[FormLoop]()
        width = gcd(*(block.size for block in self.solver.blocks))
        for row, place in self._weights.items():
            point = row in {block.first for block in self._points}
            rows, size = (3, lines.WEIGHTS) if point else (1, 1)
            name, line = ("weigh", lines.weigh_point) if point else ("scale", lines.weigh_row)
            for first in range(0, n, width):
                strip = n * row + (first - self._firsts[row]) % n
                entries = self._system.down(rows, [(row, first + k) for k in range(width)])
                reads = {
                    "G": Access(STRIPS, tuple(range(0, rows * n, n)), tuple(range(strip, strip + width))),
                    "weights": Access(WEIGHTS, tuple(range(size)), (place,)),
                    "before": entries,
                }
                loops.append(FormLoop(name, line, {"after": entries}, reads, count=width))
        return loops

    def _eliminated(self) -> list[FormLoop]:
        """[1, N^-1 (-F)] in the place of [N, -F], except for the columns that are not read any more."""
        n, system, loops = self.solver.size, self._system, list[FormLoop]()
        inverse = whole(PIVOT, 1)
        for k in range(n):
            on_diagonal = element(SYSTEM, [system.index(k, k)])
            along = element(SYSTEM, [system.index(k, j) for j in range(k + 1, n + 1)])
            writes = {"inverse": inverse, "zero": on_diagonal}
            loops.append(FormLoop("pivot", lines.pivot, writes, {"pivot": on_diagonal}))
            reads = {"number": along, "inverse": inverse}
            loops.append(FormLoop("divide", lines.divide, {"after": along}, reads, count=n - k))
            for i in range(n):  # row k is not changed, as its entry on the diagonal is 0 now
                others = element(SYSTEM, [system.index(i, j) for j in range(k + 1, n + 1)])
                reads = {"number": others, "factor": element(SYSTEM, [system.index(i, k)]), "along": along}
                loops.append(FormLoop("subtract", lines.subtract, {"after": others}, reads, count=n - k))
        return loops

    # ---- the end

    def _end(self) -> list[FormLoop]:
        """Shrinks the impulses to the cones, and computes the residual."""
        n, points, largest = self.solver.size, self._points, whole(LARGEST, 2)
        loops: list[FormLoop] = []
        if points:
            firsts = tuple(x.first for x in points)
            reads = {
                "impulse": Access(IMPULSES, _THREE, firsts),
                "mu": element(GRIP, [x.numbers.start for x in points]),
            }
            both = {"impulse_after": Access(IMPULSES, (*_THREE, n, n + 1, n + 2), firsts)}
            loops.append(FormLoop("shrink", lines.shrink, both, reads, count=len(points)))
        loops += [*self._at_the_impulses(), FormLoop("start", lines.start_error, {"largest": largest}, {})]
        reads = {"value": element(VALUES, range(n)), "r": element(STEPS, range(n)), "largest": largest}
        loops.append(FormLoop("error", lines.error, {"largest_after": largest}, reads, count=n))
        told = {"residual": whole(RESIDUAL, 1)}
        loops.append(FormLoop("residual", lines.residual, told, {"largest": largest}))
        return [*loops, copied("begin", element(IMPULSES, range(n)), element(SOLVED, range(n)))]


def _numbered(array: str, size: int, numbers: Sequence[int]) -> Access:
    """The elements of some points or joints, in an array that has `size` elements for each of them."""
    return Access(array, tuple(range(size)), tuple(size * k for k in numbers))


def _product(to: str, row: int, strip: Sequence[int], factors: str, places: Sequence[int]) -> FormLoop:
    """Adds a part of a row of G times these numbers to an element of an array."""
    total = element(to, [row])
    reads = {"entry": element(STRIPS, strip), "factor": element(factors, places), "total": total}
    return FormLoop("product", lines.add_product, {"total_after": total}, reads, count=len(places))


def _mapped(
    name: str,
    line: Callable[[State], Arrays],
    size: int,
    firsts: Sequence[int],
    factor: int,
    reads: Mapping[str, Access],
    writes: Mapping[str, Access],
) -> FormLoop:
    """A loop that writes F of rows, of which `size` begin at each of the first ones."""

    def of(array: str) -> Access:
        return Access(array, tuple(range(size)), tuple(firsts))

    arrays = {"impulse": IMPULSES, "velocity": VELOCITIES, "change": CHANGE, "faster": FASTER, "r": STEPS}
    own = {name: of(array) for name, array in arrays.items()}
    all_reads = {**own, "factor": element(FACTORS, [factor]), **reads}
    return FormLoop(name, line, {"values": of(VALUES), **writes}, all_reads, count=len(firsts))
