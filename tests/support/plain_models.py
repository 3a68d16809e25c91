"""Small models that are built link by link, with and without inertia."""

from __future__ import annotations

from rbdgen.model.inertia import NO_INERTIA, Inertia
from rbdgen.model.joints import Floating, Joint, Prismatic, Revolute
from rbdgen.model.model import WORLD, Body, Model
from rbdgen.spatial.ops import IDENTITY, ZERO, Matrix, Transform, Vector

X, Y, Z = IDENTITY


SOLID = Inertia.from_center_of_mass(2, Vector(0.1, 0.2, 0.3), Matrix.diagonal(0.3, 0.4, 0.5))


Link = tuple[int, str, Vector, Vector, Inertia]
"""The parent, the letter of the joint type (F, R or P), the axis, the position in the parent, the inertia."""


def robot(*links: Link) -> Model:
    kinds = {"F": Floating(), "R": Revolute(), "P": Prismatic()}
    bodies: list[Body] = []
    idx_q = idx_v = 0
    for parent, letter, axis, place, inertia in links:
        joint = Joint(f"joint{len(bodies)}", kinds[letter], axis, idx_q, idx_v)
        bodies.append(Body(f"body{len(bodies)}", parent, joint, Transform(IDENTITY, place), inertia))
        idx_q, idx_v = idx_q + joint.nq, idx_v + joint.nv
    return Model("r", tuple(bodies))


def chain(axes: str, *inertias: Inertia) -> Model:
    """A chain of revolute joints at distances of 0.5 m along x; only the last links have these inertias."""
    massless = [NO_INERTIA] * (len(axes) - len(inertias))
    return robot(
        *(
            (k - 1, "R", {"x": X, "y": Y, "z": Z}[axis], X * (0.5 if k else 0), inertia)
            for k, (axis, inertia) in enumerate(zip(axes, [*massless, *inertias], strict=True))
        )
    )


FREE = (WORLD, "F", ZERO, ZERO, NO_INERTIA)
"""A floating root link without mass."""
