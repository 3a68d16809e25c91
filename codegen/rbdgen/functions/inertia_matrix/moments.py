"""The joint-space inertia matrix from composite mass moments.

The composite-rigid-body algorithm (Featherstone 2008, table 6.2) on a `ReducedModel`: a composite is
(m, h, Sigma), moved to the parent by planar rotations and h' = h + m p, Sigma' = Sigma + h' p^T + p h^T; the
force of a unit acceleration about z is read off as n = (-Sigma_xz, -Sigma_yz, Sigma_xx + Sigma_yy),
f = (-h_y, h_x, 0).
"""

from __future__ import annotations

from collections.abc import Sequence

from rbdgen.functions.inverse_dynamics.classical import along_joint, force_to_parent
from rbdgen.model.joints import Coordinate, Joint, JointKind
from rbdgen.model.model import WORLD
from rbdgen.model.moments import MassMoments
from rbdgen.model.reduce import ReducedBody, ReducedModel
from rbdgen.spatial.ops import IDENTITY, Force
from rbdgen.spatial.scalar import Naming, Scalar, unnamed


def crba_composite(
    reduced: ReducedModel, q: Sequence[Coordinate], naming: Naming = unnamed
) -> list[list[Scalar]]:
    """M(q), nv x nv, full symmetric; entries between dofs on different branches are exactly 0.

    kg m^2 between rotations, kg between translations, kg m across.
    """
    bodies = reduced.at(q)
    M: list[list[Scalar]] = [[0] * reduced.nv for _ in range(reduced.nv)]
    for i, subtree in enumerate(composites(bodies, naming)):
        own = bodies[i].joint.idx_v
        for k, unit in enumerate(unit_forces(bodies[i].joint, subtree), own):
            _fill(M, k, own, along_joint(bodies[i], unit), naming)
            j, force = i, unit
            while bodies[j].parent != WORLD:
                force = force_to_parent(bodies[j], force).named(naming, f"f[{k},{bodies[j].parent}]")
                j = bodies[j].parent
                _fill(M, k, bodies[j].joint.idx_v, along_joint(bodies[j], force), naming)
    return M


def composites(bodies: Sequence[ReducedBody], naming: Naming) -> list[MassMoments]:
    """The mass moments of every subtree, in the axes and about the origin of its first body."""
    subtrees = [body.moments for body in bodies]
    for i in reversed(range(len(bodies))):
        if (parent := bodies[i].parent) != WORLD:
            moved = subtrees[i].rotated(bodies[i].rotation).translated(bodies[i].translation)
            subtrees[parent] = (subtrees[parent] + moved).named(naming, f"Ic[{parent}]")
    return subtrees


def unit_forces(joint: Joint, subtree: MassMoments) -> list[Force]:
    """What a unit acceleration of each of the joint's own degrees of freedom takes, linear ones first."""
    if joint.kind is JointKind.REVOLUTE:
        return [subtree.rate_about_z()]
    if joint.kind is JointKind.PRISMATIC:
        return [subtree.rate_along_z()]
    h, m, J = subtree.first, subtree.mass, subtree.rotational
    return [Force(h.cross(e), e * m) for e in IDENTITY] + [Force(J.apply(e), e.cross(h)) for e in IDENTITY]


def _fill(M: list[list[Scalar]], column: int, first: int, values: Sequence[Scalar], naming: Naming) -> None:
    """Entries between one degree of freedom and those of its own joint or of an ancestor's."""
    for row, value in enumerate(values, first):
        if row <= column:
            M[row][column] = M[column][row] = naming(f"M[{row},{column}]", value)
