"""Two steps that solve for columns of a matrix over a tree of chains, with columns as the lanes of vectors.

A chain is an unbranched row of joints, such as a leg, treated as one joint. Its carrier is the chain, or the
floating base, on which it is mounted. The step inward reads the chain's part `b` of a right-hand side and the
sum `force` of the forces of the chains on it. It gives the chain's own solution, `solved`, and the force
`passed` to the carrier. The step outward reads this solution as `own`, and the motion of the carrier as
`moved`. It gives the chain's part `x` of the solution and, by the name `moved`, the chain's own motion. A
floating base is the last chain inward and the first one outward, and runs both steps in one loop.

A column may be zero in the rows of some chains: one that belongs to a derivative with respect to a joint is
nonzero only in the rows of the joint's ancestors and descendants. On the way to the base, vectors of columns
skip the chains in whose rows they are zero.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Final, NamedTuple, TypeAlias

from rbdgen.access import Access, MatrixView
from rbdgen.spatial.scalar import Scalar, total
from rbdgen.sweeps.freedoms import WIDE
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.loops import Arrays, FormLoop
from rbdgen.sweeps.sweep import BASE, Given, Gives

ROOT: Final = -1
"""The number that stands for the floating base or the world, as the carrier of a chain."""

Nonzero: TypeAlias = Callable[[int, int], bool]
"""Tells, from the numbers of a chain and of a column, whether the column may be nonzero in its rows."""

Key: TypeAlias = Callable[[int, int], tuple[int, ...] | None]
"""Gives the key of a chain and a vector. Runs with equal keys share a loop, and runs without a key are left
out. Loops come in the order of the first number of their keys.
"""


class Chain(NamedTuple):
    """The joints of a chain, counted from 0 after a floating base, and the number of its carrier."""

    joints: range
    carrier: int


@dataclass(frozen=True)
class ChainTree:
    """The chains of a tree of joints. Every chain comes after its carrier."""

    parents: Sequence[int]
    """The joint that carries each joint, or -1."""
    first: int
    """The number of degrees of freedom of the base, which come before those of the joints."""

    @cached_property
    def chains(self) -> list[Chain]:
        """All chains, in the order of their first joints."""
        found: list[Chain] = []
        of = {ROOT: ROOT}
        for k, above in enumerate(self.parents):
            if k not in of:
                end = k + 1
                while [j for j, carrier in enumerate(self.parents) if carrier == end - 1] == [end]:
                    end += 1
                of |= dict.fromkeys(range(k, end), len(found))
                found.append(Chain(range(k, end), of[above]))
        return found

    @cached_property
    def on(self) -> dict[int, list[int]]:
        """The chains that each chain carries."""
        numbers = range(len(self.chains))
        return {c: [k for k in numbers if self.chains[k].carrier == c] for c in (ROOT, *numbers)}

    @cached_property
    def levels(self) -> list[list[int]]:
        """The chains at each depth. The first level is the root alone."""
        found = [[ROOT]]
        while below := [c for k in found[-1] for c in self.on[k]]:
            found.append(below)
        return found

    def size(self, k: int) -> int:
        """The number of degrees of freedom of a chain, or of the base."""
        return BASE if k == ROOT else len(self.chains[k].joints)

    def row(self, k: int) -> int:
        """The first degree of freedom of a chain, or of the base."""
        return 0 if k == ROOT else self.first + self.chains[k].joints[0]

    def moves(self, k: int) -> bool:
        """Whether a chain, or the base, moves other chains."""
        return bool(self.on[k]) and (self.first > 0 or k != ROOT)

    def passes(self, k: int) -> bool:
        """Whether a chain has to hand on its force, because its carrier moves."""
        return k != ROOT and self.moves(self.chains[k].carrier)

    def alike(self, chains: Sequence[int]) -> list[list[int]]:
        """The chains, grouped by their size."""
        sizes = dict.fromkeys(map(self.size, chains))
        return [[k for k in chains if self.size(k) == size] for size in sizes]


class Run(NamedTuple):
    """One column of a vector of columns, at one chain."""

    chain: int
    vector: int
    lane: int
    column: int


@dataclass
class Columns:
    """The loops that solve for the columns of the array `right`, from `first` on, into the array `result`."""

    tree: ChainTree
    inward: Callable[[Given], Gives]
    outward: Callable[[Given], Gives]
    constants: Mapping[str, Callable[[Sequence[int]], Access]]
    """Give the places of the matrices that steps read (`inverse`, `K` and `S`), for chains of one size."""
    sizes: dict[str, int]
    """The sizes of scratch arrays, to which those of these loops are added."""
    right: str
    result: str
    first: int
    nonzero: Nonzero

    def __post_init__(self) -> None:
        tree = self.tree
        self.nv = tree.first + len(tree.parents)
        self.wide = max(1, min(WIDE, self.nv - self.first))
        last = self.nv - self.wide
        self.starts = [min(k, last) for k in range(self.first, self.nv, self.wide)]
        used = {"solved": len(tree.parents)}
        for depth, level in enumerate(tree.levels):
            used |= {f"passed{depth}": BASE * len(level)} if any(map(tree.passes, level)) else {}
            used |= {f"moved{depth}": BASE * len(level)} if any(map(tree.moves, level)) else {}
        for name, rows in used.items():
            self.sizes[name] = max(WIDE * len(self.starts) * rows, self.sizes.get(name, 0))

    def loops(self) -> list[FormLoop]:
        """The loops to the base and back."""
        levels = self.tree.levels if self.tree.first else self.tree.levels[1:]
        inward = (runs for level in reversed(levels) for runs in self._runs(level, self._to_base))
        outward = (runs for level in self.tree.levels[1:] for runs in self._runs(level, self._from_base))
        return [*map(self._inward, inward), *map(self._outward, outward)]

    # ---- runs

    def _runs(self, level: Sequence[int], key: Key) -> list[list[Run]]:
        """The runs of all vectors at the chains of a level, grouped into loops by their keys."""
        groups: dict[tuple[int, ...], list[Run]] = {}
        for k, (v, start) in product(level, enumerate(self.starts)):
            if (at := key(k, v)) is not None:
                groups.setdefault(at, []).extend(Run(k, v, lane, start + lane) for lane in range(self.wide))
        return [groups[at] for at in sorted(groups, key=lambda at: at[0])]

    def _to_base(self, k: int, vector: int) -> tuple[int, ...] | None:
        """The key of a step inward; None if the columns are zero in the rows of the chain.

        Chains that carry no other share a loop if they have the same size. Every other chain has a loop for
        each number of forces that it receives.
        """
        if k != ROOT and not self._related(k, vector):
            return None
        carries = bool(self.tree.on[k])
        return (carries, k if carries else self.tree.size(k), len(self._below(k, vector)))

    def _from_base(self, k: int, vector: int) -> tuple[int, ...]:
        """The key of a step outward. Chains of one size share a loop if either all of them or none carry
        others, and if the columns are nonzero in the rows of all of them or of none.
        """
        order = 2 * (not self._related(k, vector)) + (not self.tree.on[k])
        return (order, self.tree.size(k))

    def _related(self, k: int, vector: int) -> bool:
        start = self.starts[vector]
        return any(self.nonzero(k, column) for column in range(start, start + self.wide))

    def _below(self, k: int, vector: int) -> list[int]:
        """The chains on this one that hand on a force."""
        return [c for c in self.tree.on[k] if self._related(c, vector)]

    # ---- what a run reads and writes

    def _rows(self, array: str, runs: Sequence[Run]) -> Access:
        """The rows of a chain in a column of a matrix."""
        starts = [(self.tree.row(run.chain), run.column) for run in runs]
        return MatrixView(array, self.nv).down(self.tree.size(runs[0].chain), starts)

    def _solved(self, runs: Sequence[Run]) -> Access:
        """The places of the chains' own solutions, vector by vector."""
        rows = (len(self.tree.parents) * run.vector + self.tree.chains[run.chain].joints[0] for run in runs)
        starts = [(row, run.lane) for row, run in zip(rows, runs, strict=True)]
        return MatrixView("solved", WIDE).down(self.tree.size(runs[0].chain), starts)

    def _slot(self, array: str, runs: Sequence[Run], chains: Sequence[int]) -> Access:
        """The place of a force or a motion in each run. `chains` has its chain for each run; all these chains
        have the same depth.
        """
        depth, level = next(pair for pair in enumerate(self.tree.levels) if chains[0] in pair[1])
        starts = [
            (BASE * (len(self.starts) * level.index(k) + run.vector), run.lane)
            for run, k in zip(runs, chains, strict=True)
        ]
        return MatrixView(f"{array}{depth}", WIDE).down(BASE, starts)

    # ---- loops

    def _inward(self, runs: Sequence[Run]) -> FormLoop:
        """The loop of the step inward: a chain solves for its own b, and hands on its force together with
        those of the chains on it. At a floating base the loop runs both steps and gives the solution.
        """
        chains, forces = [run.chain for run in runs], self._forces(runs)
        passes, based = self.tree.passes(chains[0]), chains[0] == ROOT
        constants = ["inverse", *(["K"] if passes else []), *(["S"] if forces and not based else [])]
        reads = {name: self.constants[name](chains) for name in constants}
        reads |= {"b": self._rows(self.right, runs), **forces}
        if based:
            moved = {"moved": self._slot("moved", runs, chains)} if self.tree.moves(ROOT) else {}
            return self._loop("base", runs, reads, {"x": self._rows(self.result, runs), **moved}, self._both)
        passed = {"passed": self._slot("passed", runs, chains)} if passes else {}
        return self._loop("solve", runs, reads, {"solved": self._solved(runs), **passed}, self.inward)

    def _both(self, x: Given) -> Gives:
        """Run both steps, one after the other."""
        x.own = self.inward(x)["solved"]
        return self.outward(x)

    def _outward(self, runs: Sequence[Run]) -> FormLoop:
        """The loop of the step outward, which gives the solution at joints. In chains in whose rows the
        columns are zero, the solution depends on the carrier's motion alone.
        """
        k, chains = runs[0].chain, [run.chain for run in runs]
        writes = {"x": self._rows(self.result, runs)}
        reads = {"own": self._solved(runs)} if self._related(k, runs[0].vector) else {}
        if self.tree.passes(k):
            carriers = [self.tree.chains[c].carrier for c in chains]
            reads |= {"K": self.constants["K"](chains), "moved": self._slot("moved", runs, carriers)}
        if self.tree.moves(k):
            writes["moved"] = self._slot("moved", runs, chains)
            reads["S"] = self.constants["S"](chains)
        return self._loop("out", runs, reads, writes, self.outward)

    def _forces(self, runs: Sequence[Run]) -> dict[str, Access]:
        """The forces of the chains on each run's chain."""
        below = zip(*(self._below(run.chain, run.vector) for run in runs), strict=True)
        return {f"force_{i}": self._slot("passed", runs, chains) for i, chains in enumerate(below)}

    def _loop(
        self,
        name: str,
        runs: Sequence[Run],
        reads: Mapping[str, Access],
        writes: Mapping[str, Access],
        step: Callable[[Given], Gives],
    ) -> FormLoop:
        """The loop of a step for these runs.

        Arrays that it does not read are 0, except that the S of a floating base is the unit matrix.
        """
        n, forces = self.tree.size(runs[0].chain), [key for key in reads if key.startswith("force")]
        units = [int(i == j) for i in range(BASE) for j in range(BASE)]
        zeros = {"b": n, "own": n, "moved": BASE, "inverse": 0, "K": BASE * n, "S": BASE * n}
        absent = {key: [0] * size for key, size in zeros.items()}
        absent |= {"S": units} if runs[0].chain == ROOT else {}

        def trace(x: State) -> Arrays:
            at = Given(**{key: list(x.arrays.get(key, value)) for key, value in absent.items()})
            at.inverse, at.K, at.S = split(at.inverse, n), split(at.K, BASE), split(at.S, BASE)
            at.force = [total(x.arrays[key][i] for key in forces) for i in range(BASE)]
            found = step(at)
            return {f"new_{key}": found[key] for key in writes}

        # the last vector starts early enough to be full, and so repeats columns of the one before it
        fresh = [self.first + self.wide * v for v in range(len(self.starts))]
        distinct = tuple(k for k, run in enumerate(runs) if run.column >= fresh[run.vector])
        places = {f"new_{key}": access for key, access in writes.items()}
        return FormLoop(name, trace, places, reads, count=len(runs), distinct_runs=distinct)


def split(values: Sequence[Scalar], width: int) -> list[list[Scalar]]:
    """The values in rows of this width."""
    return [list(values[k : k + width]) for k in range(0, len(values), width)]
