"""The inverse of the joint-space inertia matrix by articulated bodies, for robots on which joints follow
others.

A freedom is an independent degree of freedom, which may move several joints. It is released, that is
eliminated, at a body that the inward sweep reaches, see `articulated/embedded.py`. The inward sweep of
forward dynamics factors M = L^T D L, as in `minv_hybrid`. Row g of W = L^-1 holds the effects that a unit
torque on freedom g has on the freedoms that are released after it on the way to the root. Then Minv = W D^-1
W^T.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rbdgen.functions.articulated.embedded import Freedoms, carrying_bodies, released
from rbdgen.functions.articulated.subtree import Released
from rbdgen.functions.inertia_matrix.inverse import weighted_square
from rbdgen.model.articulated import combination
from rbdgen.model.joints import Coordinate
from rbdgen.model.model import WORLD
from rbdgen.model.reduce import ReducedModel
from rbdgen.spatial.ldl import back_substituted
from rbdgen.spatial.ops import NO_FORCE, Force
from rbdgen.spatial.scalar import Naming, Scalar, dot, mul, sub, unnamed
from rbdgen.sweeps.bodies import Jointed, force_to_parent, with_joint_force
from rbdgen.sweeps.inputs import State


@dataclass
class Load:
    """The remainder of a unit torque on its way to the root: a force on the current body, and torques on
    freedoms that are not released yet. `row` collects the effects on released freedoms, which form a row of
    W.
    """

    u: dict[int, Scalar]
    force: Force = NO_FORCE
    row: dict[int, Scalar] = field(default_factory=dict)

    def join(self, body: Jointed, freedoms: Freedoms) -> None:
        """Add the effect of the force to the torques on the freedoms that move the joint."""
        for move, S in zip(freedoms.moves, body.subspace, strict=True):
            for g, k in move:
                self.u[g] = sub(self.u.get(g, 0), mul(k, S.dot(self.force)))

    def release(self, freedoms: Released) -> None:
        """Release (eliminate) these freedoms."""
        felt = back_substituted(freedoms.lower, [self.u.get(g, 0) for g in freedoms.freedoms])
        self.row |= dict(zip(freedoms.freedoms, felt, strict=True))
        self.force = self.force + combination(freedoms.scaled, felt)
        for j, column in freedoms.coupling_to_waiting.items():
            self.u[j] = sub(self.u.get(j, 0), dot(list(column), felt))


def minv_embedded(
    reduced: ReducedModel, q: Sequence[Coordinate], naming: Naming = unnamed
) -> list[list[Scalar]]:
    """M(q)^-1 over the independent degrees of freedom, full symmetric."""
    groups = reduced.model.coupling.groups
    bodies, at_world = released(reduced, State(q, tau=[0] * reduced.nv, naming=naming), groups)
    given, inverse_D = bodies.values, [0] * len(groups)
    for freedoms in filter(None, (*given["released_here"], *given["released_with_joint"], at_world)):
        for g, value in zip(freedoms.freedoms, freedoms.inverse_diagonal, strict=True):
            inverse_D[g] = value
    carriers = enumerate(carrying_bodies(reduced.model, groups))
    rows = [_row(g, carrier, bodies.bodies, given, at_world, naming) for g, carrier in carriers]
    return weighted_square(rows, inverse_D)


def _row(
    g: int,
    carrier: int,
    bodies: Sequence[Any],
    given: Mapping[str, Sequence[Any]],
    at_world: Released,
    naming: Naming,
) -> dict[int, Scalar]:
    """The row of W for freedom g, which is released at the body `carrier`."""
    load, i = Load({g: 1}), carrier
    while i != WORLD:
        body, freedoms, joined = bodies[i], given["freedoms"][i], given["released_with_joint"][i]
        if g not in freedoms.released_with_joint:
            if given["released_here"][i]:
                load.release(given["released_here"][i])
            load.join(body, freedoms)
        if joined:
            load.release(joined)
            if freedoms.own:
                load.force = with_joint_force(body, load.force, [int(k == g) for k in joined.freedoms])
        load.force = force_to_parent(body, load.force).named(naming, f"force[{g},{i}]")
        i = body.parent
    load.release(at_world)
    return load.row
