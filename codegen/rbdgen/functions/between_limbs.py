"""Products of rows of limbs that are lanes, see `Lanes`: entries of a symmetric matrix between two limbs."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from rbdgen.spatial.scalar import Scalar, dot, mul
from rbdgen.sweeps.inputs import Lanes

Entries = Mapping[int, Scalar]
"""The entries of a row by degrees of freedom. Entries that are not stored are 0."""


def between_limbs(
    rows: Sequence[Entries],
    weights: Sequence[Scalar],
    lanes: Lanes,
    several: Collection[int],
    inside: Collection[int],
) -> list[list[Scalar | None]]:
    """R diag(weights) R^T between the limb in each lane and the limbs 1, 2, ... lanes ahead.

    Each distance has as many rows as R. Entries that are not between limbs, and entries that are mirror
    images of others, are None.

    Args:
        rows: the rows of R.
        weights: a number for each degree of freedom.
        lanes: the operations over lanes.
        several: the rows that stand for a row of each limb.
        inside: the degrees of freedom of limbs. Two limbs share only the others.
    """
    if lanes.count == 1:
        return []
    above = [{k: value for k, value in row.items() if k not in inside} for row in rows]
    scaled = [{k: mul(value, weights[k]) for k, value in row.items()} for row in above]
    turned, found = above, []
    for distance in range(1, lanes.count):
        turned = [{k: lanes.turn(value) for k, value in row.items()} for row in turned]
        block: list[list[Scalar | None]] = [[None] * len(rows) for _ in rows]
        for i in several if 2 * distance <= lanes.count else ():
            for j in several:
                opposite = 2 * distance == lanes.count
                if opposite and i == j:  # the mirror image is this entry in the lanes of the other half
                    block[i][j] = dot(
                        [mul(value, turned[i][k]) for k, value in above[i].items()],
                        [weights[k] for k in above[i]],
                    )
                elif not opposite or i < j:
                    common = [k for k in scaled[i] if k in turned[j]]
                    block[i][j] = dot([scaled[i][k] for k in common], [turned[j][k] for k in common])
        found += block
    return found
