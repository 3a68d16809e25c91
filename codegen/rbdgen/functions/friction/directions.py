"""The loops that end the derivatives of a step with frictional contacts: a row of them in each run.

With S = N^-1 W of `implicit.py`, P = M^-1 J^T and T = P S, the derivatives of v_next are

    K = M^-1 - T P^T
    dv_dq = -dt K ID_q - T C_q
    dv_dv = -dt K ID_v - T H,    H = J + C_v + dt J s
    dv_dtau = dt K
    dv_dmu = -P N^-1 F_mu

less terms that `derivatives.py` adds. First N^T is factored. A row of T is then W^T N^-T p for a row p of P.
All rows take the same operations, so neighbouring rows can be the lanes of a vector.
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
from rbdgen.functions.friction.implicit import Linear, by_blocks
from rbdgen.functions.friction.newton import factored, substituted
from rbdgen.functions.friction.solver import SOLVED, Solver
from rbdgen.model.model import Model
from rbdgen.spatial.rows import Rows, times, transposed
from rbdgen.spatial.scalar import Scalar, add, dot, mul, neg, sub
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.loops import Arrays, FormLoop, LoopedForm

INVERSE, PUSHES, TORQUE_Q, TORQUE_V = "inverse", "pushes", "torque_q", "torque_v"
TURNS, SPEEDS = "turns", "speeds"
"""The names of the arrays dt M^-1, P^T, ID_q, ID_v, C_q and H."""

DT = "dt"
"""The name of the input of the function that the loops read."""

FACTORS, SLOPES, BY_MU = "factors", "slopes", "by_mu"
"""The names of the arrays of the factors of N^T, the blocks of W, and -F_mu."""

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
        moves = list(enumerate(dofs for contact, dofs in moving for _ in range(contact.rows)))
        related = enumerate(related_dofs(model.elimination.ancestors))
        torques = [(i, k) for k, dofs in related for i in sorted(dofs) if k not in linear]
        moved = [(row, k) for row, dofs in moves for k in dofs]
        return {
            TORQUE_Q: torques,
            TORQUE_V: torques,
            TURNS: moved,
            SPEEDS: moved,
        }

    @property
    def reads(self) -> dict[str, int]:
        """The sizes of the arrays that the loops read."""
        n, nv = self.solver.size, self.nv
        matrices = dict.fromkeys((INVERSE, TORQUE_Q, TORQUE_V), nv * nv)
        matrices |= dict.fromkeys((PUSHES, TURNS, SPEEDS), n * nv)
        return {**self.solver.sizes, SOLVED: n, DT: 1, **matrices}

    def looped(self) -> LoopedForm:
        """The loops. They give the derivatives of v_next with respect to q, v, tau and the friction."""
        n, nv, cones, sizes = self.solver.size, self.nv, self.solver.cones, self.solver.sizes
        shared = {
            FACTORS: whole(FACTORS, n * n),
            SLOPES: whole(SLOPES, sum(block.size**2 for block in self.solver.blocks)),
            BY_MU: whole(BY_MU, n * cones),
        }
        factor = FormLoop(
            "factor",
            self._factor,
            shared,
            {name: whole(name, size) for name, size in {**sizes, SOLVED: n}.items() if size},
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
        linear = Linear(self.solver, x.arrays)
        return {
            FACTORS: flat(factored(transposed(linear.N))),
            SLOPES: [value for block in linear.W for value in flat(block)],
            BY_MU: flat(linear.by_friction()),
        }

    def _row(self, x: State) -> Arrays:
        """A row of the derivatives, by the equations at the top of this file."""
        n, nv, ((dt,), p) = self.solver.size, self.nv, (x.arrays[DT], x.arrays["pushes_row"])
        w = substituted(_rows(x.arrays[FACTORS], n), p)
        entries = iter(x.arrays[SLOPES])
        blocks = [[[next(entries) for _ in range(b.size)] for _ in range(b.size)] for b in self.solver.blocks]
        t = by_blocks(self.solver, list(map(transposed, blocks)), w)
        held = times(transposed(_rows(x.arrays[PUSHES], nv)), [mul(dt, value) for value in t])
        k = [sub(*pair) for pair in zip(x.arrays["inverse_row"], held, strict=True)]
        parts = {BY_Q: (TORQUE_Q, TURNS), BY_V: (TORQUE_V, SPEEDS)}
        found = {
            name: [
                neg(add(*pair))
                for pair in zip(self._product(x, k, torque), self._product(x, t, change), strict=True)
            ]
            for name, (torque, change) in parts.items()
        }
        return {**found, BY_TAU: k, BY_FRICTION: [dot(list(row), w) for row in _rows(x.arrays[BY_MU], n)]}

    def _product(self, x: State, row: Sequence[Scalar], name: str) -> list[Scalar]:
        """A row times a matrix, without its known zeros."""
        found: list[Scalar] = [0] * self.nv
        places = self.places[name]
        for (i, k), value in zip(places, x.arrays[name] if places else (), strict=True):
            found[k] = add(found[k], mul(row[i], value))
        return found


def _rows(values: Sequence[Scalar], width: int) -> Rows:
    return [list(values[k : k + width]) for k in range(0, len(values), width)]
