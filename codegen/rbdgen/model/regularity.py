"""Finds joints whose motion no inertia resists, for which the joint-space inertia matrix M is singular in
every position.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
import numpy.typing as npt

from rbdgen.model.angles import constant_angle
from rbdgen.model.inertia import Inertia
from rbdgen.model.joints import Coordinate, Joint
from rbdgen.model.model import WORLD, Model
from rbdgen.spatial.ops import Matrix, Transform

Numbers = npt.NDArray[np.float64]

SINGULAR = 1e-7
"""A pivot below this fraction of the square root of the composite inertia counts as zero. The square of the
fraction, which appears in M, is some tens of ulps of a double."""

GOLDEN = (sqrt(5) - 1) / 2
"""The inverse of the golden ratio, whose multiples have fractional parts that are spread evenly between 0 and
1 without repetition."""


@np.errstate(all="ignore")  # other checks refuse numbers near the ends of their range
def unresisted(model: Model) -> int | None:
    """A body whose joint nothing resists in any position; None if M can be inverted.

    If there are several such bodies, it is one near the leaves.

    M is singular if a motion of the joints gives no momentum of bodies or rotors: all that a joint moves is
    massless, or the joints below it cancel its motion, as the only limb of a massless base can. The
    determinant of M is analytic in q: if it vanishes at one generic position, it does so everywhere.

    The matrix from joint velocities to the bodies' momenta is brought to triangular form by orthogonal
    transformations, from the leaves to the root. M is the square of this matrix, so small pivots keep twice
    as many digits as in M.
    """
    if not model.coupling.is_trivial:
        return _unresisted_group(model)
    unit = typical_length(model)
    composite = [_inertia_matrix(body.inertia, unit) for body in model.bodies]
    momenta = [_scaled(inertia) for inertia in composite]
    for i in reversed(range(model.nbodies)):
        body, rows = model.bodies[i], momenta[i]
        least = SINGULAR * sqrt(composite[i].diagonal().max())
        for S, rotor in zip(body.joint.motion_subspace, body.joint.armature, strict=True):
            scale = unit if any(S.angular) else 1.0  # lengths are measured in `unit`, also a helical joint's
            column = rows @ np.array([*S.angular, *(x / scale for x in S.linear)], float)
            if rotor != 0:
                # the rotor's momentum, a row in which only this column is nonzero
                column = np.append(column, sqrt(rotor) / scale)
                rows = np.vstack([rows, np.zeros(6)])
            size = np.linalg.norm(column)
            if size <= least:
                return i
            rows = rows - np.outer(column / size, column / size @ rows)
        if body.parent != WORLD:
            X = _motion_matrix(body.transform(_some_position(body.joint, i, unit)), unit)
            composite[body.parent] = composite[body.parent] + X.T @ composite[i] @ X
            _, momenta[body.parent] = np.linalg.qr(np.vstack([momenta[body.parent], rows @ X]))
    return None


@np.errstate(all="ignore")
def _unresisted_group(model: Model) -> int | None:
    """Computes `unresisted` for a robot with followers.

    A column of the matrix belongs to a group: an independent degree of freedom and those that follow it. A
    group may span several limbs, so the whole matrix is factored at once.

    A follower that nothing resists is no fault if something resists a joint that moves with it.
    """
    unit, sizes, moving = typical_length(model), np.zeros(model.nv), {}
    steps = [
        _motion_matrix(body.transform(position), unit)
        for body, position in zip(model.bodies, _positions(model, unit), strict=True)
    ]
    composite = [_inertia_matrix(body.inertia, unit) for body in model.bodies]
    order = list(reversed(model.elimination.order))
    groups = [model.coupling.groups[group] for group in order]
    places = {i: (column, float(k)) for column, members in enumerate(groups) for i, k in members}
    columns: list[Numbers] = []
    rows: list[Numbers] = []
    for i, body in enumerate(model.bodies):
        above = np.zeros((6, len(groups))) if body.parent == WORLD else steps[i] @ columns[body.parent]
        for k, S in enumerate(body.joint.motion_subspace, body.joint.idx_v):
            own = np.array([*S.angular, *(x / unit for x in S.linear)], float)
            column, multiplier = places[k]
            above[:, column] += multiplier * own
            moving[k], sizes[k] = i, np.linalg.norm(own)
            rotor = body.joint.armature[k - body.joint.idx_v]
            if rotor != 0:
                rows.append(np.zeros((1, len(groups))))
                rows[-1][0, column] = multiplier * sqrt(rotor) / unit
        columns.append(above)
        rows.append(_scaled(composite[i]) @ above)
    for i in reversed(range(model.nbodies)):
        joint, parent = model.bodies[i].joint, model.bodies[i].parent
        sizes[joint.idx_v : joint.idx_v + joint.nv] *= sqrt(composite[i].diagonal().max())
        if parent != WORLD:
            composite[parent] = composite[parent] + steps[i].T @ composite[i] @ steps[i]
    # a diagonal entry is the length of the part of a column that is orthogonal to all columns before it
    triangle = np.asarray(np.linalg.qr(np.concatenate(rows), mode="r"))
    for members, left in zip(groups, np.abs(triangle.diagonal()).tolist(), strict=True):
        if left <= SINGULAR * max(abs(k) * sizes[i] for i, k in members):
            return moving[members[0][0]]
    return None


def _positions(model: Model, unit: float) -> list[Coordinate]:
    """Generic positions of the joints; the positions of followers result from those that they follow."""
    q = [0.0] * model.nq
    for i, body in enumerate(model.bodies):
        if body.joint.nq == 1 and body.joint.follows is None:
            q[body.joint.idx_q] = _some_value(i) * (unit if body.joint.type.elements == ("length",) else 1)
    return [
        _some_position(body.joint, i, unit)
        if body.joint.nq > 1
        else body.joint.type.coordinate([_led(body.joint, q)], constant_angle)
        for i, body in enumerate(model.bodies)
    ]


def _led(joint: Joint, q: list[float]) -> float:
    follows = joint.follows
    return q[joint.idx_q] if follows is None else follows.multiplier * q[follows.idx_q]


def typical_length(model: Model) -> float:
    """The bodies' radius of gyration in m, the unit of length in which masses and moments are comparable.

    It is 1 m if the robot has no mass or no rotational inertia.
    """
    mass = sum(float(body.inertia.mass) for body in model.bodies)
    moment = sum(float(body.inertia.rotational.trace()) for body in model.bodies)
    return sqrt(moment) / sqrt(mass) if mass > 0 and moment > 0 else 1.0


def _scaled(inertia: Numbers) -> Numbers:
    """A map from motion to momentum, divided by the square root of the largest inertia."""
    largest = inertia.diagonal().max()
    return inertia / sqrt(largest) if largest > 0 else inertia


def _some_position(joint: Joint, i: int, unit: float) -> Coordinate:
    """A position between 1 and 2 rad or units. No two joints have the same value, so no axes coincide by
    chance.
    """
    return joint.type.some_position(_some_value(i), unit)


def _some_value(i: int) -> float:
    return 1 + (i + 1) * GOLDEN % 1


def _inertia_matrix(inertia: Inertia, unit: float) -> Numbers:
    """The 6 x 6 matrix from motion to momentum, angular part first."""
    h = _array(Matrix.skew(inertia.first_moment)) / unit
    return np.block([[_array(inertia.rotational) / unit / unit, h], [-h, float(inertia.mass) * np.eye(3)]])


def _motion_matrix(placement: Transform, unit: float) -> Numbers:
    """The 6 x 6 matrix from motions in the parent's frame to motions in the child's, angular part first."""
    R = _array(placement.rotation).T
    return np.block([[R, np.zeros((3, 3))], [-R @ _array(Matrix.skew(placement.translation)) / unit, R]])


def _array(matrix: Matrix) -> Numbers:
    return np.array([list(row) for row in matrix], float)
