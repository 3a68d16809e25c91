"""Motion in the space of configurations, joint by joint. Each joint type handles its own elements of q.

Joints that follow others have no part in q and v. Derivatives are taken in the tangent space; each of these
matrices is block diagonal, with one block per joint.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from rbdgen.model.joints import Joint, Turning
from rbdgen.model.model import Model
from rbdgen.spatial.exponential import Blocks, Elementary, Exponential, Logarithm
from rbdgen.spatial.ops import ZERO_MATRIX
from rbdgen.spatial.rows import Rows
from rbdgen.spatial.scalar import Scalar

Vector: TypeAlias = Sequence[Scalar]
Blocked: TypeAlias = list[tuple[Joint, Rows]]
"""A matrix on the tangent space, given by its blocks on the diagonal, one per joint. All other entries are 0.
"""


def joints_of(model: Model) -> Iterator[Joint]:
    """The joints that follow no other."""
    return (body.joint for body in model.bodies if body.joint.follows is None)


def positions_of(joint: Joint, q: Vector) -> Vector:
    """The joint's elements of q."""
    return q[joint.idx_q : joint.idx_q + joint.nq]


def integrated(model: Model, q: Vector, v: Vector, functions: Elementary) -> list[Scalar]:
    """The configuration that is reached from q in one second at the velocity v."""
    result: list[Scalar] = [0] * model.sizes["nq"]
    for joint in joints_of(model):
        moved = joint.type.integrate(positions_of(joint, q), joint.slice(v), functions)
        result[joint.idx_q : joint.idx_q + joint.nq] = moved
    return result


def difference(model: Model, q0: Vector, q1: Vector, functions: Elementary) -> list[Scalar]:
    """The velocity that leads from q0 to q1 in one second."""
    result: list[Scalar] = [0] * model.sizes["nv"]
    for joint in joints_of(model):
        found = joint.type.difference(positions_of(joint, q0), positions_of(joint, q1), functions)
        result[joint.idx_v : joint.idx_v + joint.nv] = found
    return result


def integrate_derivatives(model: Model, v: Vector, functions: Elementary) -> tuple[Blocked, Blocked]:
    """The derivatives of `integrated` with respect to q and v. They do not depend on q itself."""

    def blocks(joint: Joint, type: Turning) -> tuple[Rows, Rows]:
        moved = Exponential(type.motion(joint.slice(v)), functions)
        return _chosen(type, moved.by_start()), _chosen(type, moved.by_motion())

    return _both(model, blocks, 1)


def difference_derivatives(
    model: Model, q0: Vector, q1: Vector, functions: Elementary
) -> tuple[Blocked, Blocked]:
    """The derivatives of `difference` with respect to q0 and q1."""

    def blocks(joint: Joint, type: Turning) -> tuple[Rows, Rows]:
        displaced = type.displaced(positions_of(joint, q0), positions_of(joint, q1), functions)
        motion = Logarithm(*displaced, functions)
        return _chosen(type, motion.by_start()), _chosen(type, motion.by_end())

    return _both(model, blocks, -1)


def _both(
    model: Model, blocks: Callable[[Joint, Turning], tuple[Rows, Rows]], first: int
) -> tuple[Blocked, Blocked]:
    """The two matrices of blocks. For a joint whose v is the rate of its q, its blocks are `first` and 1."""
    made = [
        (joint, *(blocks(joint, joint.type) if isinstance(joint.type, Turning) else ([[first]], [[1]])))
        for joint in joints_of(model)
    ]
    return [(joint, block) for joint, block, _ in made], [(joint, block) for joint, _, block in made]


def _chosen(type: Turning, blocks: Blocks) -> Rows:
    """The rows and columns that belong to the joint type's own velocities."""
    first, second = blocks
    upper = [[*a, *b] for a, b in zip(first, second, strict=True)]
    lower = [[*a, *b] for a, b in zip(ZERO_MATRIX, first, strict=True)]
    rows = [*upper, *lower]
    return [[rows[i][j] for j in type.moves] for i in type.moves]


def filled(blocked: Blocked, size: int) -> list[Scalar]:
    """The whole matrix with its zeros, row-major."""
    rows: Rows = [[0] * size for _ in range(size)]
    for joint, block in blocked:
        for i, row in enumerate(block):
            rows[joint.idx_v + i][joint.idx_v : joint.idx_v + joint.nv] = row
    return [value for row in rows for value in row]
