"""The inverse of the joint-space inertia matrix with its columns as the lanes of vectors.

W and D are those of `minv_hybrid`, and Minv = W D^-1 W^T. Entry (i, j) is a sum over the common ancestors of
i and j, where i and j count as their own ancestors. Neighbouring columns form a block, which fills a vector.
The degrees of freedom over which the entries of a row and a block are summed form a path from the root. One
loop computes the sums for all rows and blocks that share a path. Entries left of the diagonal are copied from
those right of it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from rbdgen.access import Access, MatrixView, Place, whole
from rbdgen.functions.inertia_matrix.inverse_hybrid import INVERSE_FACTOR
from rbdgen.model.model import WORLD, Model
from rbdgen.model.reduce import ReducedModel
from rbdgen.spatial.scalar import dot, mul
from rbdgen.sweeps.freedoms import WIDE
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.loops import Arrays, FormLoop, LoopedForm, cleared, copied
from rbdgen.sweeps.straight import straight

Path = tuple[int, ...]

MOST: Final = 128
"""The largest number of columns. With more, two further matrices on the stack would exceed 128 KiB each,
which is too much for a thread.
"""


def columns_fill(model: Model) -> bool:
    """Whether there are enough columns to fill a vector, and not too many."""
    return WIDE <= model.nv <= MOST


@dataclass(frozen=True)
class Blocks:
    """The degrees of freedom in blocks of `wide` neighbours. A block is named by its first degree of freedom,
    and the last block may overlap the previous one.

    A chain is a sequence of degrees of freedom without a branch. A block meets a chain if it has degrees of
    freedom of the chain or below it.
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
        """For every degree of freedom, the chain that contains it."""
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
        """The degrees of freedom over which the entries of row i and a block are summed, from the root on.
        They are the ancestors of i and the chain of i, without those whose chains the block does not meet.
        """
        own = {*self.reduced.ancestors[i], *self.chains[i]}
        return tuple(k for k in sorted(own) if self.meets(k, block))

    @cached_property
    def by_path(self) -> dict[Path, list[tuple[int, int]]]:
        """For every path, the rows and blocks that share it, for blocks on the diagonal or right of it."""
        found = defaultdict(list)
        for block in self.firsts:
            for i in range(block + self.wide):
                found[self.path(i, block)].append((i, block))
        return dict(sorted(found.items()))

    @cached_property
    def met(self) -> list[tuple[int, int]]:
        """The pairs of a degree of freedom and a block that meets its chain. At these, vectors of W^T are
        read.
        """
        return [(k, block) for k in range(self.reduced.nv) for block in self.firsts if self.meets(k, block)]

    def matrix(self, array: str) -> MatrixView:
        """A matrix over the degrees of freedom."""
        return MatrixView(array, self.reduced.nv)

    def vectors(self, array: str, rows: Sequence[int], at: Iterable[tuple[int, int]]) -> Access:
        """The places of these rows of a matrix in each run, for the blocks at (row, block)."""
        lanes = [(row, block + lane) for row, block in at for lane in range(self.wide)]
        return self.matrix(array).block(rows, (0,), lanes)

    def numbers(self, array: str, rows: Sequence[int], columns: Iterable[int]) -> Access:
        """The places of these rows in each run, with one column for all lanes of a block."""
        lanes = [(0, column) for column in columns for _ in range(self.wide)]
        return self.matrix(array).block(rows, (0,), lanes)


def minv_vectors(reduced: ReducedModel) -> LoopedForm:
    """The loops for output `Minv`, nv x nv, from input q."""
    blocks, size = Blocks(reduced), reduced.nv**2
    products = [_product(blocks, path, at) for path, at in blocks.by_path.items()]
    loops = (_clear(blocks), _factor(reduced), _scale(blocks), *products, *_mirror(blocks))
    scratch = {"W": size, "scaled": size, "inverse_D": reduced.nv}
    return LoopedForm(loops, {"Minv": size}, scratch, lanes_of_one_state=True)


def _clear(blocks: Blocks) -> FormLoop:
    """The loop that writes zeros wherever vectors of W^T are read."""
    return cleared(blocks.vectors("W", (0,), blocks.met))


def _factor(reduced: ReducedModel) -> FormLoop:
    """The straight line that computes W^T and 1 / D."""
    nv, entries = reduced.nv, [(i, k) for i, above in enumerate(reduced.ancestors) for k in (i, *above)]

    def trace(x: State) -> Arrays:
        given = straight(reduced, x).run(*INVERSE_FACTOR)
        return {"factor": [given["W"][i][k] for i, k in entries], "weights": given["inverse_D"]}

    factor = MatrixView("W", nv).entries((k, i) for i, k in entries)
    writes = {"factor": factor, "weights": whole("inverse_D", nv)}
    return FormLoop("factor", trace, writes, inputs=("q",))


def _scale(blocks: Blocks) -> FormLoop:
    """The loop that computes D^-1 W^T."""
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
    """The loop that computes the entries of rows and blocks that share this path."""
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
    """The loops that write entries left of the diagonal: first those within the blocks on the diagonal, then
    those of whole blocks.
    """
    every, firsts, wide = range(blocks.wide), blocks.firsts, blocks.wide
    right = [(max(0, min(row, block - wide)), block) for block in firsts for row in range(0, block, wide)]
    full, half = [(i, j) for i in every for j in every], [(i, j) for j in every for i in range(j)]
    within = [(block, block) for block in firsts]
    return [_transposed(blocks, at, own) for at, own in ((within, half), (right, full)) if at and own]


def _transposed(blocks: Blocks, at: Sequence[Place], entries: Sequence[Place]) -> FormLoop:
    """The loop that copies the entries (i, j) of the squares that start at these rows and columns to their
    mirror images.
    """
    Minv = blocks.matrix("Minv")
    right, left = Minv.entries(entries, at), Minv.entries(map(_mirrored, entries), map(_mirrored, at))
    return copied("mirror", right, left)


def _mirrored(place: Place) -> Place:
    row, column = place
    return column, row
