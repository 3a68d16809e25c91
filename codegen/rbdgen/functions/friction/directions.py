"""The loops that end the derivatives of a step with frictional contacts: a row of them in each run.

With S = N^-1 W of `implicit.py`, P = M^-1 J^T and T = P S, the derivatives of v_next are

    K = M^-1 - T P^T
    dv_dq = -dt K ID_q - T C_q
    dv_dv = -dt K ID_v - T H,    H = J + C_v + dt J s
    dv_dtau = dt K
    dv_dmu = -P N^-1 F_mu

less terms that `derivatives.py` adds. First N^T is factored. A row of T is then W^T N^-T p for a row p of P.
All rows take the same operations, so neighbouring rows can be the lanes of a vector.

With soles, N and P are those of the rows of G, see `sole.py`. The condensed equations have S = P_c^T M in
place of W, with P_c for the P of corners, so T has a column for each impulse of a corner. T P^T is then made
of P_c^T T^T = Q^T N^-T p for the rows of G.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from rbdgen.access import MatrixView, column, whole
from rbdgen.functions.contacts.derivative_columns import moving_dofs
from rbdgen.functions.derivatives.columns import related_dofs
from rbdgen.functions.derivatives.known_columns import floating_bases
from rbdgen.functions.form import flat
from rbdgen.functions.friction.arrays import SOLVED, matrix
from rbdgen.functions.friction.implicit import AtSolution, known
from rbdgen.functions.friction.linear import factored, substituted
from rbdgen.functions.friction.solver import Solver
from rbdgen.model.model import Model
from rbdgen.spatial.rows import times, transposed
from rbdgen.spatial.scalar import Scalar, add, dot, mul, neg, sub
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.loops import Arrays, FormLoop, LoopedForm

INVERSE, PUSHES, TORQUE_Q, TORQUE_V = "inverse", "pushes", "torque_q", "torque_v"
TURNS, SPEEDS = "turns", "speeds"
"""The names of the arrays dt M^-1, P^T, ID_q, ID_v, C_q and H."""

DT = "dt"
"""The name of the input of the function that the loops read."""

FACTORS, SLOPES, BY_MU = "factors", "slopes", "by_mu"
"""The names of the arrays of the factors of N^T, the blocks of W (for soles of S and Q), and -F_mu."""

BY_Q, BY_V, BY_TAU, BY_FRICTION = "dv_dq", "dv_dv", "dv_dtau", "by_friction"
"""The names of the derivatives of v_next."""

Places = Sequence[tuple[int, int]]
"""The rows and columns of the elements of a matrix that may be nonzero."""


@dataclass(frozen=True)
class Directions:
    """The loops for one robot."""

    model: Model
    solver: Solver

    @property
    def nv(self) -> int:
        return self.model.coupling.independent

    @cached_property
    def places(self) -> dict[str, Places]:
        """The elements of each matrix that may be nonzero. A matrix that is not here has no known zeros."""
        model = self.model
        linear = {first + k for first in floating_bases(model) for k in range(3)}
        moving = [(contact, sorted(moving_dofs(model, contact))) for contact in model.contacts]
        counts = (3 * contact.touching or contact.rows for contact in model.contacts)
        moves = list(
            enumerate(dofs for (_, dofs), count in zip(moving, counts, strict=True) for _ in range(count))
        )
        related = enumerate(related_dofs(model.elimination.ancestors))
        torques = [(i, k) for k, dofs in related for i in sorted(dofs) if k not in linear]
        moved = [(row, k) for row, dofs in moves for k in dofs]
        moved += [(len(moves) + k, joint.idx_v) for k, joint in enumerate(model.held_joints)]
        return {
            TORQUE_Q: torques,
            TORQUE_V: torques,
            TURNS: moved,
            SPEEDS: moved,
        }

    @property
    def reads(self) -> dict[str, int]:
        """The sizes of the arrays that the loops read."""
        solver, nv = self.solver, self.nv
        matrices = dict.fromkeys((INVERSE, TORQUE_Q, TORQUE_V), nv * nv)
        matrices |= {PUSHES: solver.size * nv} | dict.fromkeys((TURNS, SPEEDS), solver.impulses * nv)
        return {**known(solver), SOLVED: solver.impulses, DT: 1, **matrices}

    @property
    def widths(self) -> list[int]:
        """The number of columns of the block of each contact in `SLOPES`."""
        return [block.count + (block.size if block.corners else 0) for block in self.solver.blocks]

    def looped(self) -> LoopedForm:
        """The loops. They give the derivatives of v_next with respect to q, v, tau and the friction."""
        n, nv, cones, sizes = self.solver.size, self.nv, self.solver.cones, known(self.solver)
        sizes[SOLVED] = self.solver.impulses
        slopes = sum(block.size * width for block, width in zip(self.solver.blocks, self.widths, strict=True))
        shared = {
            FACTORS: whole(FACTORS, n * n),
            SLOPES: whole(SLOPES, slopes),
            BY_MU: whole(BY_MU, n * cones),
        }
        factor = FormLoop(
            "factor",
            self._factor,
            shared,
            {name: whole(name, size) for name, size in sizes.items() if size},
        )
        reads = {name: MatrixView(name, nv).entries(places) for name, places in self.places.items() if places}
        rows = FormLoop(
            "rows",
            self._row,
            {
                **{name: MatrixView(name, nv).row(range(nv)) for name in (BY_Q, BY_V, BY_TAU)},
                BY_FRICTION: MatrixView(BY_FRICTION, cones).row(range(nv)),
            },
            {
                **shared,
                **reads,
                DT: whole(DT, 1),
                "inverse_row": column(INVERSE, nv, nv, range(nv)),
                "pushes_row": column(PUSHES, n, nv, range(nv)),
                PUSHES: whole(PUSHES, n * nv),
            },
            count=nv,
        )
        outputs = {**dict.fromkeys((BY_Q, BY_V, BY_TAU), nv * nv), BY_FRICTION: nv * cones}
        scratch = {name: len(access.elements) for name, access in shared.items()}
        return LoopedForm((factor, rows), outputs, scratch)

    def _factor(self, x: State) -> Arrays:
        """The factors of N^T, the blocks of W, and -F_mu."""
        at = AtSolution(self.solver, x.arrays)
        return {
            FACTORS: flat(factored(transposed(at.linear.N))),
            SLOPES: [value for own in at.linear.equations for value in flat(own.slopes)],
            BY_MU: [value for column in at.by_friction() for value in at.linear.condensed(column)],
        }

    def _row(self, x: State) -> Arrays:
        """A row of the derivatives, by the equations at the top of this file."""
        n, nv, ((dt,), p) = self.solver.size, self.nv, (x.arrays[DT], x.arrays["pushes_row"])
        w = substituted(matrix(x.arrays[FACTORS], n), p)
        entries, t, along = iter(x.arrays[SLOPES]), list[Scalar](), list[Scalar]()
        for block, width in zip(self.solver.blocks, self.widths, strict=True):
            slopes = [[next(entries) for _ in range(width)] for _ in range(block.size)]
            own = times(transposed(slopes), w[block.rows])
            along += own[-block.size :]
            t += own[: -block.size] if block.corners else own
        held = times(transposed(matrix(x.arrays[PUSHES], nv)), [mul(dt, value) for value in along])
        k = [sub(*pair) for pair in zip(x.arrays["inverse_row"], held, strict=True)]
        parts = {BY_Q: (TORQUE_Q, TURNS), BY_V: (TORQUE_V, SPEEDS)}
        found = {
            name: [
                neg(add(*pair))
                for pair in zip(self._product(x, k, torque), self._product(x, t, change), strict=True)
            ]
            for name, (torque, change) in parts.items()
        }
        return {**found, BY_TAU: k, BY_FRICTION: [dot(list(row), w) for row in matrix(x.arrays[BY_MU], n)]}

    def _product(self, x: State, row: Sequence[Scalar], name: str) -> list[Scalar]:
        """A row times a matrix, without its known zeros."""
        found: list[Scalar] = [0] * self.nv
        places = self.places[name]
        for (i, k), value in zip(places, x.arrays[name] if places else (), strict=True):
            found[k] = add(found[k], mul(row[i], value))
        return found
