"""The columns of M X = -B by chains of joints, with neighbouring columns as the lanes of vectors; see
`chains.py`.

Columns of B are zero in the rows of some chains; those of derivatives are nonzero only above and below a
joint. Vectors of columns skip the other chains on the way to the base.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rbdgen.access import Access, MatrixView, column, square, whole
from rbdgen.functions.inertia_matrix.chains import ROOM, ROOT, ChainLanes, split, times, total
from rbdgen.spatial.scalar import Scalar, add, dot
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.loops import Arrays, FormLoop
from rbdgen.sweeps.sweep import BASE


class Run(NamedTuple):
    """One column of a vector of columns, at one chain."""

    chain: int
    vector: int
    lane: int
    column: int


@dataclass
class ChainColumns:
    """The loops that solve for the columns of the array `right`, from `first` on, into the array `result`, nv
    x nv.
    """

    chains: ChainLanes
    right: str
    result: str
    first: int
    nonzero: Callable[[int, int], bool]
    """Whether a column may be nonzero in the rows of a chain."""

    def __post_init__(self) -> None:
        self.nv = self.chains.lanes.reduced.nv
        self.wide = max(1, min(ROOM, self.nv - self.first))
        last = self.nv - self.wide
        self.starts = [min(k, last) for k in range(self.first, self.nv, self.wide)]
        sizes = self.chains.lanes.sizes
        solved = ROOM * len(self.starts) * self.chains.lanes.count
        sizes["solved"] = max(solved, sizes.get("solved", 0))
        for depth, level in enumerate(self.chains.levels):
            slots = BASE * ROOM * len(self.starts) * len(level)
            used = {
                f"passed{depth}": any(map(self._passes, level)),
                f"moved{depth}": any(map(self._moves, level)),
            }
            for name in filter(used.get, used):
                sizes[name] = max(slots, sizes.get(name, 0))

    def loops(self) -> list[FormLoop]:
        """The loops to the base and back."""
        on = self.chains.on
        loops: list[FormLoop] = []
        for level in reversed(self.chains.levels[1:]):
            ends = self._by_size([k for k in level if not on[k]], True)
            carriers = [runs for k in level if on[k] for runs in self._by_carried(k)]
            loops += map(self._inward, [*ends, *carriers])
        if self.chains.based:
            loops += [self._base(runs) for runs in self._by_carried(ROOT)]
        for level in self.chains.levels[1:]:
            for related in (True, False):
                for inner in (True, False):
                    those = [k for k in level if bool(on[k]) == inner]
                    loops += [self._out(runs, related) for runs in self._by_size(those, related)]
        return loops

    def _moves(self, k: int) -> bool:
        """Whether a chain, or the base, moves other chains."""
        return bool(self.chains.on[k]) and (self.chains.based or k != ROOT)

    def _passes(self, k: int) -> bool:
        """Whether a chain has to hand on its force, because the chain that carries it moves."""
        return k != ROOT and self._moves(self.chains.chains[k].carrier)

    # ---- runs

    def _related(self, k: int, vector: int) -> bool:
        start = self.starts[vector]
        return any(self.nonzero(k, column) for column in range(start, start + self.wide))

    def _runs(self, k: int, vector: int) -> list[Run]:
        return [Run(k, vector, lane, self.starts[vector] + lane) for lane in range(self.wide)]

    def _alone(self, runs: Sequence[Run]) -> tuple[int, ...]:
        """The runs whose column is in no earlier vector. The last vector starts earlier than its turn, to be
        full.
        """
        fresh = [self.first + self.wide * v for v in range(len(self.starts))]
        return tuple(k for k, run in enumerate(runs) if run.column >= fresh[run.vector])

    def _by_size(self, chains: Sequence[int], related: bool) -> list[list[Run]]:
        """The vectors of those chains that are `related` to their columns (or are not), with chains of one
        size together.
        """
        found = []
        for alike in self.chains.alike(chains):
            pairs = [(k, v) for k in alike for v in range(len(self.starts)) if self._related(k, v) == related]
            if pairs:
                found.append([run for k, v in pairs for run in self._runs(k, v)])
        return found

    def _by_carried(self, k: int) -> list[list[Run]]:
        """The vectors at a chain that carries others, grouped by the number of related chains on it."""
        groups: dict[int, list[Run]] = {}
        for v in range(len(self.starts)):
            if k == ROOT or self._related(k, v):
                groups.setdefault(len(self._below(k, v)), []).extend(self._runs(k, v))
        return list(groups.values())

    def _below(self, k: int, vector: int) -> list[int]:
        """The chains on this one that hand on a force."""
        return [c for c in self.chains.on[k] if self._related(c, vector)]

    # ---- what a run reads and writes

    def _rows(self, array: str, runs: Sequence[Run]) -> Access:
        """The rows of a chain in a matrix."""
        chain = self.chains.chains[runs[0].chain]
        first = self.chains.lanes.first
        rows = (first + self.chains.chains[run.chain].joints[0] for run in runs)
        starts = [(row, run.column) for row, run in zip(rows, runs, strict=True)]
        return MatrixView(array, self.nv).down(chain.size, starts)

    def _solved(self, runs: Sequence[Run]) -> Access:
        """Where the results of a chain's own b are stored, vector by vector."""
        chains, count = self.chains.chains, self.chains.lanes.count
        starts = [(count * run.vector + chains[run.chain].joints[0], run.lane) for run in runs]
        return MatrixView("solved", ROOM).down(chains[runs[0].chain].size, starts)

    def _slot(self, array: str, runs: Sequence[Run], chains: Sequence[int]) -> Access:
        """A force or a motion for each run's chain; all these chains have the same depth."""
        depth = next(depth for depth, level in enumerate(self.chains.levels) if chains[0] in level)
        level = self.chains.levels[depth]
        starts = [
            (BASE * (len(self.starts) * level.index(k) + run.vector), run.lane)
            for run, k in zip(runs, chains, strict=True)
        ]
        return MatrixView(f"{array}{depth}", ROOM).down(BASE, starts)

    def _forces_below(self, runs: Sequence[Run]) -> dict[str, Access]:
        below = [self._below(run.chain, run.vector) for run in runs]
        return {
            f"force_{i}": self._slot("passed", runs, [own[i] for own in below]) for i in range(len(below[0]))
        }

    def _inverse(self, runs: Sequence[Run]) -> Access:
        size = self.chains.chains[runs[0].chain].size
        return self.chains.inverse.entries(square(size), [run.chain for run in runs])

    def _gains(self, runs: Sequence[Run]) -> Access:
        """The rows of K of the joints of a chain."""
        chains = self.chains.chains
        firsts = [(chains[run.chain].joints[0], 0) for run in runs]
        return self.chains.K.block(range(chains[runs[0].chain].size), range(BASE), firsts)

    def _subspaces(self, runs: Sequence[Run]) -> Access:
        chains = self.chains.chains
        joints = range(chains[runs[0].chain].size)
        return self.chains.subspaces(joints, [(0, chains[run.chain].joints[0]) for run in runs])

    # ---- loops

    def _inward(self, runs: Sequence[Run]) -> FormLoop:
        """The result of a chain's own b, and the force that it hands on together with those of the chains on
        it.
        """
        chain = self.chains.chains[runs[0].chain]
        forces = self._forces_below(runs)

        def trace(x: State) -> Arrays:
            b, force = list(x.arrays["b"]), [0] * BASE
            if forces:
                force = [total(values) for values in zip(*(x.arrays[name] for name in forces), strict=True)]
                S = split(x.arrays["S"], BASE)
                b = [add(own, dot(S_j, force)) for own, S_j in zip(b, S, strict=True)]
            own = times(split(x.arrays["inverse"], chain.size), b)
            if not passes:
                return {"new_solved": own}
            K = zip(*split(x.arrays["K"], BASE), strict=True)
            return {
                "new_solved": own,
                "new_passed": [add(more, dot(list(line), b)) for more, line in zip(force, K, strict=True)],
            }

        passes = self._passes(runs[0].chain)
        passed = self._slot("passed", runs, [run.chain for run in runs])
        return FormLoop(
            "solve",
            trace,
            {"new_solved": self._solved(runs), **({"new_passed": passed} if passes else {})},
            {
                "inverse": self._inverse(runs),
                **({"K": self._gains(runs)} if passes else {}),
                **({"S": self._subspaces(runs)} if forces else {}),
                "b": self._rows(self.right, runs),
                **forces,
            },
            count=len(runs),
            alone=self._alone(runs),
        )

    def _base(self, runs: Sequence[Run]) -> FormLoop:
        """The solution at a floating base."""
        forces = self._forces_below(runs)
        columns = [run.column for run in runs]

        def trace(x: State) -> Arrays:
            b = [add(own, total(x.arrays[name][i] for name in forces)) for i, own in enumerate(x.arrays["b"])]
            found = times(split(x.arrays["base_inverse"], BASE), b)
            return {"new_x": found, **({"new_moved": found} if moves else {})}

        moves = self._moves(ROOT)
        moved = self._slot("moved", runs, [ROOT for _ in runs])
        return FormLoop(
            "base",
            trace,
            {
                "new_x": column(self.result, BASE, self.nv, columns),
                **({"new_moved": moved} if moves else {}),
            },
            {
                "base_inverse": whole("base_inverse", BASE**2),
                "b": column(self.right, BASE, self.nv, columns),
                **forces,
            },
            count=len(runs),
            alone=self._alone(runs),
        )

    def _out(self, runs: Sequence[Run], related: bool) -> FormLoop:
        """The solution of joints, on the way from the base. If not `related`, only the carrier's motion adds
        to it.
        """
        chains, chain = self.chains, self.chains.chains[runs[0].chain]
        moves, inner = self._moves(chain.carrier), self._moves(runs[0].chain)
        carriers = [chains.chains[run.chain].carrier for run in runs]

        def trace(x: State) -> Arrays:
            found: list[Scalar] = list(x.arrays["own"]) if related else [0] * chain.size
            a: Sequence[Scalar] = x.arrays["moved"] if moves else [0] * BASE
            if moves:
                K = split(x.arrays["K"], BASE)
                found = [dot([1, *row], [own, *a]) for own, row in zip(found, K, strict=True)]
            if not inner:
                return {"new_x": found}
            S = zip(*split(x.arrays["S"], BASE), strict=True)
            return {
                "new_x": found,
                "new_moved": [add(value, dot(list(line), found)) for value, line in zip(a, S, strict=True)],
            }

        writes = {"new_x": self._rows(self.result, runs)}
        reads = {"own": self._solved(runs)} if related else {}
        if moves:
            reads |= {"K": self._gains(runs), "moved": self._slot("moved", runs, carriers)}
        if inner:
            writes["new_moved"] = self._slot("moved", runs, [run.chain for run in runs])
            reads["S"] = self._subspaces(runs)
        return FormLoop("out", trace, writes, reads, count=len(runs), alone=self._alone(runs))
