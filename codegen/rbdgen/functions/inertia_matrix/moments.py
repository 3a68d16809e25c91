"""The joint-space inertia matrix from composite mass moments.

The composite-rigid-body algorithm (Featherstone 2008, table 6.2) on a `ReducedModel`: a composite is
(m, h, Sigma), moved to the parent by planar rotations and h' = h + m p, Sigma' = Sigma + h' p^T + p h^T; the
force of a unit acceleration about z is read off as n = (-Sigma_xz, -Sigma_yz, Sigma_xx + Sigma_yy),
f = (-h_y, h_x, 0).
"""

from __future__ import annotations

from collections.abc import Sequence

from rbdgen.model.joints import Coordinate
from rbdgen.model.moments import MassMoments
from rbdgen.model.reduce import ReducedModel
from rbdgen.spatial.ops import IDENTITY, Force
from rbdgen.spatial.scalar import Naming, Scalar, unnamed
from rbdgen.sweeps.bodies import Base, Body, Jointed, along_base, along_joint, force_to_parent
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.records import Entry
from rbdgen.sweeps.straight import straight
from rbdgen.sweeps.sweep import Climb, Given, Gives, Inward, Sum


def unit_force(body: Jointed, subtree: MassMoments) -> Force:
    """What a unit acceleration of a body's joint takes."""
    force: Force = subtree.rate_about_z() * body.turning + subtree.rate_along_z() * body.sliding
    return force


def unit_forces(subtree: MassMoments) -> list[Force]:
    """What a unit acceleration of each degree of freedom of a floating base takes, linear ones first."""
    h, m, J = subtree.first, subtree.mass, subtree.rotational
    return [Force(h.cross(e), e * m) for e in IDENTITY] + [Force(J.apply(e), e.cross(h)) for e in IDENTITY]


def composite(body: Body, x: Given) -> Gives:
    """A subtree's mass moments, handed on to the parent; what a unit acceleration of its joint takes."""
    force = unit_force(body, x.composite)
    moved = x.composite.rotated(body.rotation).translated(body.translation)
    return {"composite": moved, "force": force, "M": along_joint(body, force)}


def base_block(_: Base, x: Given) -> Gives:
    """A floating base's own 6 x 6."""
    return {"M": [value for force in unit_forces(x.composite) for value in along_base(force)]}


def felt(above: Jointed, x: Given) -> Gives:
    """The entry of M between a body's joint and an ancestor's: S^T f, f the unit force moved there."""
    entry = along_joint(above, x.force)
    return {"M": entry, "M_below": entry}


def felt_by_base(_: Base, x: Given) -> Gives:
    """The six entries of M between a body's joint and a floating base."""
    entries = along_base(x.force)
    return {"M": entries, "M_below": entries}


INERTIA_MATRIX = (
    Inward(
        "composites",
        {"composite": Sum(MassMoments, lambda body: body.moments)},
        composite,
        base_block,
        reads=("placement", "moments"),
        gives={"M": Entry, "force": Force},
        base_gives={"M": Entry},
    ),
    Climb("ancestors", "force", force_to_parent, felt, felt_by_base, gives=("M", "M_below")),
)
"""The sweeps that give `M`."""


def crba_composite(
    reduced: ReducedModel, q: Sequence[Coordinate], naming: Naming = unnamed
) -> list[list[Scalar]]:
    """M(q), nv x nv, full symmetric; entries between dofs on different branches are exactly 0.

    kg m^2 between rotations, kg between translations, kg m across.
    """
    return straight(reduced, State(q, naming=naming)).run(*INERTIA_MATRIX)["M"]
