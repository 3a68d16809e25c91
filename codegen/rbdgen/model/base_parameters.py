"""Base parameters: inertia that a joint does not feel is moved to its parent, from the leaves to the root.

Khalil and Dombre, Modeling, Identification and Control of Robots, 2002, ch. 9. For a revolute joint about z,
the part (m, h_z, Sigma_zz) is a rod on the axis. For a prismatic joint, whose body rotates with its parent,
the part is all of Sigma. Every joint type defines this part, see `JointType.split`.

For the moved part I S = 0 and S x* I = I S x, so torques, joint-space inertias and accelerations do not
change, even with external forces. Neither does the potential energy, because the rod stays where it was. The
part that a root hands on belongs to the world and is kept for the potential energy. Constraint forces between
links change, and the inertia that remains need not be that of a physical body.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fractions import Fraction

from rbdgen.model.axes import AlignedBody, cleared, largest_magnitude, magnitude
from rbdgen.model.model import WORLD
from rbdgen.model.moments import MassMoments
from rbdgen.spatial.ops import ZERO, Matrix, Symmetric, Vector, mirrored
from rbdgen.spatial.scalar import Scalar, add

Scales = tuple[Scalar, Scalar, Scalar]
"""The magnitudes of the terms from which a body's mass, first moment and second moment were added."""


def regrouped(bodies: Sequence[AlignedBody]) -> tuple[list[MassMoments], Vector]:
    """The moments of all bodies after the parts that joints do not feel were moved to their parents, and the
    world's first moment.

    The robot's momentum does not change, because the moved parts have none of their own.
    """
    moments = [body.moments for body in bodies]
    scales = [_scales(own) for own in moments]
    still, largest = ZERO, 0
    for i in reversed(range(len(bodies))):
        body = bodies[i]
        moments[i], moved = body.joint.type.split(moments[i])
        if moved is None:
            continue
        moved = in_parent(body, moved)
        if body.parent == WORLD:
            still, largest = still + moved.first, add(largest, _scales(moved)[1])
        else:
            moments[body.parent] += moved
            m, h, S = _scales(moved)
            above = scales[body.parent]
            scales[body.parent] = above[0] + m, above[1] + h, above[2] + S
    rounded = [_without_residue(own, scale) for own, scale in zip(moments, scales, strict=True)]
    return rounded, Vector(*(cleared(x, largest) for x in still))


def drop_unfelt_moments(
    bodies: Sequence[AlignedBody], moments: Sequence[MassMoments], parallel: Collection[int] = ()
) -> list[MassMoments]:
    """Drops the part of every body's moments that no joint feels, and that only matters for angular momentum.

    `parallel` are bodies that rotate relative to the axes of their equations, see `ReducedModel`.
    """
    return [
        _about_fixed_axis(own, i in parallel) if fixed else own
        for i, (own, fixed) in enumerate(zip(moments, on_fixed_axis(bodies), strict=True))
    ]


def on_fixed_axis(bodies: Sequence[AlignedBody]) -> list[bool]:
    """Whether each body can only rotate about a direction that is fixed in the world."""
    fixed: list[bool] = []
    for body in bodies:
        parallel = body.parent == WORLD or (fixed[body.parent] and body.alpha.sin == 0)
        fixed.append(body.joint.type.turns and parallel)
    return fixed


def _about_fixed_axis(own: MassMoments, even: bool) -> MassMoments:
    """The moments of a body that only rotates about z: of Sigma it feels only Sigma_xx + Sigma_yy.

    One entry holds the sum. If the axes do not turn with the body (`even`), two entries hold half of it each,
    so that no rotation about z changes them.
    """
    polar = add(own.second[0].x, own.second[1].y)
    half = polar * Fraction(1, 2)
    second = Matrix.diagonal(half, half, 0) if even else Matrix.diagonal(polar, 0, 0)
    return MassMoments(own.mass, own.first, second)


def in_parent(body: AlignedBody, own: MassMoments) -> MassMoments:
    """Expresses moments of mass that have no effect on the joint in the parent's frame."""
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = (tuple(row) for row in own.second)
    if xx == xy == xz == yy == yz == 0:
        return _rod(own.mass, own.first.z, zz, body.axis, body.translation)
    return own.rotated(body.rotation).translated(body.translation)


def _rod(mass: Scalar, first: Scalar, second: Scalar, z: Vector, p: Vector) -> MassMoments:
    """Mass on the line p + z t: h = h_z z + m p, Sigma = Sigma_zz z z^T + h_z (z p^T + p z^T) + m p p^T.

    No terms cancel here if z is almost parallel to an axis of the parent.
    """
    a, h = z * second + p * first, z * first + p * mass
    entries = [[z[i] * a[j] + p[i] * h[j] if j >= i else 0 for j in range(3)] for i in range(3)]
    return MassMoments(mass, h, mirrored(entries))


def _scales(own: MassMoments) -> Scales:
    return magnitude(own.mass), largest_magnitude(own.first), largest_magnitude(_upper(own.second))


def without_residue(own: MassMoments) -> MassMoments:
    """The moments, with entries set to 0 that are only rounding relative to the others."""
    return _without_residue(own, _scales(own))


def _without_residue(own: MassMoments, scales: Scales) -> MassMoments:
    m, h, S = scales
    xx, xy, xz, yy, yz, zz = [cleared(x, S) for x in _upper(own.second)]
    return MassMoments(
        cleared(own.mass, m),
        Vector(*[cleared(x, h) for x in own.first]),
        mirrored([[xx, xy, xz], [0, yy, yz], [0, 0, zz]]),
    )


def _upper(second: Symmetric) -> tuple[Scalar, ...]:
    """The six entries of the upper triangle."""
    a, b, c = second
    return a.x, a.y, a.z, b.y, b.z, c.z
