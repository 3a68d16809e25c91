"""The inverse of the joint-space inertia matrix with its columns as the lanes of vectors.

W and D are those of `minv_hybrid`, Minv = W D^-1 W^T. Entry (i, j) is a sum over the degrees of freedom that
i and j have above them, themselves among them. Eight neighbouring columns share a vector, and a row and eight
columns have a path from the root in common: the sum over one path is one straight line, run for every row and
every eight columns that share it. What is left of the diagonal mirrors what is right of it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from rbdgen.access import Access, whole
from rbdgen.functions.inertia_matrix.inverse_hybrid import INVERSE_FACTOR
from rbdgen.model.model import WORLD, Model
from rbdgen.model.reduce import ReducedModel
from rbdgen.spatial.scalar import dot, mul
from rbdgen.sweeps.freedoms import WIDE
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.loops import Arrays, FormLoop, LoopedForm
from rbdgen.sweeps.straight import straight

Path = tuple[int, ...]

MOST: Final = 128
"""Columns, beyond which two more matrices on the stack, of 128 KiB each, would be too much for a thread."""


def columns_fill(model: Model) -> bool:
    """Whether there are columns enough for a vector, and not too many."""
    return WIDE <= model.nv <= MOST


@dataclass(frozen=True)
class Blocks:
    """The degrees of freedom in blocks of `wide` neighbours, named by their first; the last block may overlap
    the one before.

    A chain is what follows one another without a branching. A block meets a chain if it has degrees of
    freedom of the chain or below.
    """

    reduced: ReducedModel

    @property
    def wide(self) -> int:
        return min(WIDE, self.reduced.nv)

    @cached_property
    def firsts(self) -> list[int]:
        last = self.reduced.nv - self.wide
        return [*range(0, last, self.wide), last]

    @cached_property
    def chains(self) -> list[range]:
        """Of every degree of freedom the chain that it is in."""
        parents = self.reduced.model.parent_dof
        first: list[int] = []
        for k, above in enumerate(parents):
            continues = above != WORLD and above == k - 1 and parents.count(above) == 1
            first.append(first[above] if continues else k)
        return [range(k, k + first.count(k)) for k in first]

    def meets(self, k: int, block: int) -> bool:
        """Whether a block meets the chain of a degree of freedom."""
        top, ancestors = self.chains[k][0], self.reduced.ancestors
        return any(j == top or top in ancestors[j] for j in range(block, block + self.wide))

    def path(self, i: int, block: int) -> Path:
        """The chains that i is in or below and that the block meets, from the root on."""
        own = {*self.reduced.ancestors[i], *self.chains[i]}
        return tuple(k for k in sorted(own) if self.meets(k, block))

    @cached_property
    def by_path(self) -> dict[Path, list[tuple[int, int]]]:
        """Every path, and the rows and blocks on the diagonal or right of it that have it in common."""
        found = defaultdict(list)
        for block in self.firsts:
            for i in range(block + self.wide):
                found[self.path(i, block)].append((i, block))
        return dict(sorted(found.items()))

    @cached_property
    def met(self) -> list[tuple[int, int]]:
        """Every degree of freedom with the blocks that meet its chain: where vectors of W^T are read."""
        return [(k, block) for k in range(self.reduced.nv) for block in self.firsts if self.meets(k, block)]

    def lanes(self, row: int, block: int) -> list[int]:
        """Places of a block in a row of a matrix."""
        return [self.reduced.nv * row + block + lane for lane in range(self.wide)]

    def vectors(self, array: str, rows: Sequence[int], at: Iterable[tuple[int, int]]) -> Access:
        """Run by run these rows of a matrix, in blocks of the rows and blocks named."""
        offsets = (place for row, block in at for place in self.lanes(row, block))
        return Access(array, tuple(self.reduced.nv * k for k in rows), tuple(offsets))

    def numbers(self, array: str, rows: Sequence[int], columns: Iterable[int]) -> Access:
        """The same of one column for all lanes of a block."""
        offsets = (column for column in columns for _ in range(self.wide))
        return Access(array, tuple(self.reduced.nv * k for k in rows), tuple(offsets))


def minv_vectors(reduced: ReducedModel) -> LoopedForm:
    """The loops for output `Minv`, nv x nv, of input q."""
    blocks, size = Blocks(reduced), reduced.nv**2
    products = [_product(blocks, path, at) for path, at in blocks.by_path.items()]
    loops = (_clear(blocks), _factor(reduced), _scale(blocks), *products, *_mirror(blocks))
    scratch = {"W": size, "scaled": size, "inverse_D": reduced.nv}
    return LoopedForm(loops, {"Minv": size}, scratch, by_freedom=True)


def _clear(blocks: Blocks) -> FormLoop:
    """Zeros where vectors of W^T are read."""
    zeros = blocks.vectors("W", (0,), blocks.met)
    return FormLoop("clear", lambda _: {"zero": [0]}, {"zero": zeros}, count=len(zeros.offsets))


def _factor(reduced: ReducedModel) -> FormLoop:
    """W^T, and 1 / D."""
    nv, entries = reduced.nv, [(i, k) for i, above in enumerate(reduced.ancestors) for k in (i, *above)]

    def trace(x: State) -> Arrays:
        given = straight(reduced, x).run(*INVERSE_FACTOR)
        return {"factor": [given["W"][i][k] for i, k in entries], "weights": given["inverse_D"]}

    writes = {"factor": Access("W", tuple(nv * k + i for i, k in entries)), "weights": whole("inverse_D", nv)}
    return FormLoop("factor", trace, writes, inputs=("q",))


def _scale(blocks: Blocks) -> FormLoop:
    """D^-1 W^T."""
    scaled = blocks.vectors("scaled", (0,), blocks.met)
    return FormLoop(
        "scale",
        lambda x: {"product": [mul(x.arrays["factor"][0], x.arrays["weight"][0])]},
        {"product": scaled},
        {
            "factor": replace(scaled, array="W"),
            "weight": blocks.numbers("inverse_D", (0,), [k for k, _ in blocks.met]),
        },
        count=len(scaled.offsets),
    )


def _product(blocks: Blocks, path: Path, at: Sequence[tuple[int, int]]) -> FormLoop:
    """Entries of rows and blocks that have this path in common."""
    row = blocks.numbers("W", path, [i for i, _ in at])
    block = blocks.vectors("scaled", path, [(0, block) for _, block in at])
    entries = blocks.vectors("Minv", (0,), at)
    return FormLoop(
        "product",
        lambda x: {"entry": [dot(list(x.arrays["row"]), list(x.arrays["block"])) if path else 0]},
        {"entry": entries},
        {"row": row, "block": block} if path else {},
        count=len(entries.offsets),
    )


def _mirror(blocks: Blocks) -> list[FormLoop]:
    """What is left of the diagonal: within the blocks on it, then blocks as a whole."""
    every, firsts, wide = range(blocks.wide), blocks.firsts, blocks.wide
    right = [(max(0, min(row, block - wide)), block) for block in firsts for row in range(0, block, wide)]
    full, half = [(i, j) for i in every for j in every], [(i, j) for j in every for i in range(j)]
    within = [(block, block) for block in firsts]
    return [_transposed(blocks, at, own) for at, own in ((within, half), (right, full)) if at and own]


def _transposed(
    blocks: Blocks, at: Sequence[tuple[int, int]], entries: Sequence[tuple[int, int]]
) -> FormLoop:
    """Entries (i, j) of the squares that begin at these rows and columns, copied to where they mirror."""
    nv = blocks.reduced.nv
    right = Access(
        "Minv", tuple(nv * i + j for i, j in entries), tuple(nv * row + column for row, column in at)
    )
    left = Access(
        "Minv", tuple(nv * j + i for i, j in entries), tuple(nv * column + row for row, column in at)
    )
    return FormLoop(
        "mirror", lambda x: {"left": list(x.arrays["right"])}, {"left": left}, {"right": right}, count=len(at)
    )
