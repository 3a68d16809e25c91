"""The loops that end the derivatives of a semi-implicit step: a column of A or B in each run.

Let dv_next = dv + h da and dq_next = J_q dq + H dv_next with H = h J_v, see `steps.in_state_space`. A column
of the lower half is then h times a column of da, plus 1 on the diagonal of the part for v. A column of the
upper half is H times the lower column, plus one of J_q. All columns take the same operations, so neighbouring
ones can be the lanes of a vector. For joints that turn in several directions, the columns of J_q and H are
read from arrays with zeros in all other columns. The diagonals of other joints are written at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rbdgen.access import Access, MatrixView, column, element, whole
from rbdgen.functions.configurations.manifold import Blocked, joints_of
from rbdgen.functions.form import flat
from rbdgen.model.joints import Joint, Turning
from rbdgen.model.model import Model
from rbdgen.spatial.scalar import Scalar, add, dot, mul
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.loops import Arrays, FormLoop, LoopedForm

DT: Final = "dt"
"""The name of the input of the function that the loops read."""

START_Q, START_V = "start_q", "start_v"
"""The names of the arrays of the rows of J_q and H that belong to joints that turn."""

BY_Q, BY_V, BY_TAU = "da_dq", "da_dv", "da_dtau"
"""The names of the derivatives of the accelerations."""


@dataclass(frozen=True)
class StateSpace:
    """The loops for one robot."""

    model: Model

    @property
    def nv(self) -> int:
        return self.model.sizes["nv"]

    @property
    def turning(self) -> list[Joint]:
        """The joints that turn in several directions, such as a floating base."""
        return [joint for joint in joints_of(self.model) if isinstance(joint.type, Turning)]

    @property
    def rows(self) -> int:
        """The number of rows of the arrays that the straight line gives."""
        return self.model.sizes["nturns"]

    @property
    def reads(self) -> dict[str, int]:
        """The sizes of the arrays that the loops read."""
        given = dict.fromkeys((START_Q, START_V), self.rows * self.nv)
        return {DT: 1, **given, **dict.fromkeys((BY_Q, BY_V, BY_TAU), self.nv**2)}

    def rows_of(self, blocked: Blocked) -> list[Scalar]:
        """The rows of a block-diagonal matrix that belong to joints that turn."""
        found: list[Scalar] = []
        for joint, block in blocked:
            if joint in self.turning:
                before, after = [0] * joint.idx_v, [0] * (self.nv - joint.idx_v - joint.nv)
                found += flat([[*before, *row, *after] for row in block])
        return found

    def looped(self) -> LoopedForm:
        """The loops. They give A and B, row-major."""
        nv = self.nv
        loops = [
            self._columns(BY_Q, column("A", 2 * nv, 2 * nv, range(nv)), START_Q),
            self._columns(BY_V, column("A", 2 * nv, 2 * nv, range(nv, 2 * nv)), START_V),
            self._columns(BY_TAU, column("B", 2 * nv, nv, range(nv)), None),
            *self._diagonals(),
        ]
        return LoopedForm(tuple(loops), {"A": 4 * nv * nv, "B": 2 * nv * nv})

    def _columns(self, of: str, to: Access, start: str | None) -> FormLoop:
        """The loop over the columns of one part."""
        nv, rows = self.nv, self.rows
        reads = {DT: whole(DT, 1), "da": column(of, nv, nv, range(nv))}
        if rows:
            own = [(joint.idx_v, joint.nv) for joint in self.turning for _ in range(joint.nv)]
            blocks = [(row, first + k) for row, (first, n) in enumerate(own) for k in range(n)]
            reads["blocks"] = MatrixView(START_V, nv).entries(blocks)
            if start is not None:
                reads["start"] = column(start, rows, nv, range(nv))

        def trace(x: State) -> Arrays:
            (h,) = x.arrays[DT]
            lower = [mul(h, value) for value in x.arrays["da"]]
            upper = [mul(h, value) for value in lower]
            first, entries = iter(x.arrays.get("start", [0] * rows)), iter(x.arrays.get("blocks", ()))
            for joint in self.turning:
                own = slice(joint.idx_v, joint.idx_v + joint.nv)
                block = [[next(entries) for _ in range(joint.nv)] for _ in range(joint.nv)]
                upper[own] = [add(next(first), dot(row, lower[own])) for row in block]
            return {"column": [*upper, *lower]}

        return FormLoop(f"columns_{of}", trace, {"column": to}, reads, count=nv)

    def _diagonals(self) -> list[FormLoop]:
        """The loops that write the diagonals again, with 1 added to those of J_q and of dv/dv."""
        nv, A = self.nv, MatrixView("A", 2 * self.nv)
        turning = {k for joint in self.turning for k in range(joint.idx_v, joint.idx_v + joint.nv)}
        single = [k for k in range(nv) if k not in turning]

        def reads(some: Sequence[int]) -> dict[str, Access]:
            places = [k * (nv + 1) for k in some]
            return {DT: whole(DT, 1), "by_q": element(BY_Q, places), "by_v": element(BY_V, places)}

        def entry(row: int, column: int, some: Sequence[int]) -> Access:
            return element("A", [A.index(row + k, column + k) for k in some])

        def kept(x: State) -> Arrays:
            ((h,), (by_v,)) = x.arrays[DT], x.arrays["by_v"]
            return {"own": [add(mul(h, by_v), 1)]}

        def moved(x: State) -> Arrays:
            ((h,), (by_q,)) = x.arrays[DT], x.arrays["by_q"]
            (own,) = kept(x)["own"]
            return {"own": [own], "position": [add(mul(h, mul(h, by_q)), 1)], "rate": [mul(h, own)]}

        loops = []
        if turning:
            some = sorted(turning)
            read = {name: access for name, access in reads(some).items() if name != "by_q"}
            loops.append(FormLoop("turning", kept, {"own": entry(nv, nv, some)}, read, count=len(some)))
        if single:
            writes = {
                "own": entry(nv, nv, single),
                "position": entry(0, 0, single),
                "rate": entry(0, nv, single),
            }
            loops.append(FormLoop("diagonals", moved, writes, reads(single), count=len(single)))
        return loops
