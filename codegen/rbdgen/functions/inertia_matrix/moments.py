"""The joint-space inertia matrix from composite mass moments.

This is the composite-rigid-body algorithm (Featherstone 2008, table 6.2) on a `ReducedModel`. A composite is
(m, h, Sigma): mass, first moment and second moment. It is moved to the parent by planar rotations and by h' =
h + m p, Sigma' = Sigma + h' p^T + p h^T. The force of a unit acceleration is read off from it: for a rotation
about z, n = (-Sigma_xz, -Sigma_yz, Sigma_xx + Sigma_yy) and f = (-h_y, h_x, 0).
"""

from __future__ import annotations

from collections.abc import Sequence

from rbdgen.model.joints import Coordinate
from rbdgen.model.moments import MassMoments
from rbdgen.model.reduce import ReducedModel
from rbdgen.spatial.ops import Force
from rbdgen.spatial.scalar import Naming, Scalar, add, unnamed
from rbdgen.sweeps.bodies import Body, Jointed, along_joint
from rbdgen.sweeps.inputs import ALONE, Lanes, State
from rbdgen.sweeps.records import Each, Entry
from rbdgen.sweeps.straight import straight
from rbdgen.sweeps.sweep import Climb, Given, Gives, Inward, Sum, carry_force


def unit_forces(body: Jointed, subtree: MassMoments) -> list[Force]:
    """The forces I S at unit acceleration of each of a joint's degrees of freedom."""
    return [subtree.apply(S) for S in body.subspace]


def composite(body: Body, x: Given) -> Gives:
    """Compute the mass moments of a subtree for the parent, and the forces at unit accelerations of the
    joint.
    """
    forces = unit_forces(body, x.composite)
    moved = x.composite.rotated(body.rotation).translated(body.translation)
    own = [along_joint(body, force) for force in forces]
    for k, rotor in enumerate(body.armature):
        own[k][k] = add(own[k][k], rotor)
    return {"composite": moved, "force": forces, "M": [value for row in own for value in row]}


def felt(above: Jointed, x: Given) -> Gives:
    """Compute the entries of M between a joint and that of an ancestor: S^T f, where f is the unit force
    carried to the ancestor.
    """
    entries = along_joint(above, x.force)
    return {"M": entries, "M_below": entries}


INERTIA_MATRIX = (
    Inward(
        "composites",
        {"composite": Sum(MassMoments, lambda body: body.moments)},
        composite,
        reads=("placement", "moments"),
        gives={"M": Entry, "force": Each(Force)},
        base_gives={"M": Entry},
    ),
    Climb("ancestors", "force", carry_force, felt, gives=("M", "M_below")),
)
"""The sweeps that compute `M`."""


def crba_composite(
    reduced: ReducedModel, q: Sequence[Coordinate], naming: Naming = unnamed, lanes: Lanes = ALONE
) -> list[list[Scalar]]:
    """M(q), nv x nv, full symmetric. Entries between degrees of freedom on different branches are exactly 0.

    Units are kg m^2 between rotations, kg between translations, and kg m between the two.
    """
    return straight(reduced, State(q, naming=naming, lanes=lanes)).run(*INERTIA_MATRIX)["M"]
