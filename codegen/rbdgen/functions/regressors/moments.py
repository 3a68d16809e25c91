"""Regressors on a `ReducedModel`: the forces per unit of every parameter.

Let a be the classical acceleration of the origin, minus gravity, and U = [wdot x] + w w^T - |w|^2 1. With m =
1 and all other parameters 0, the moment and the force on a body are 0 and a. With m c = e_k they are e_k x a
and U e_k. Entries of the inertia cause a moment only: (wdot_x, w_z w_x, -w_x w_y) with Ixx = 1, and (-U_zx,
U_zy, w_x^2 - w_y^2) with Ixy = 1. The other entries follow by cyclic permutation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rbdgen.functions.inverse_dynamics.classical import BodyMotion, body_forces
from rbdgen.functions.momentum.energy import KINETIC, POTENTIAL
from rbdgen.functions.regressors.bodies import kinetic_coefficients
from rbdgen.functions.regressors.coefficients import Coefficients, Unfelt
from rbdgen.model.inertial_parameters import ENTRIES, UNIT_INERTIAS
from rbdgen.model.model import WORLD
from rbdgen.model.moments import MassMoments
from rbdgen.model.reduce import ReducedBody, ReducedModel
from rbdgen.spatial.ops import IDENTITY, ZERO, Force, Vector
from rbdgen.spatial.planar import PlanarRotation, Z
from rbdgen.spatial.scalar import Naming, Scalar, add, mul, neg, sub
from rbdgen.sweeps.bodies import force_to_parent
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.straight import straight


def regressor(reduced: ReducedModel, x: State) -> list[list[Scalar]]:
    """Y, nv x 10 nbodies, from q, v and a."""
    reduced = reduced.in_metres
    driver = straight(reduced, x)
    motions = driver.run(body_forces())["motion"]
    rows: list[dict[int, Coefficients]] = []
    for i, framed in enumerate(reduced.bodies):
        above = {} if framed.parent == WORLD else rows[framed.parent]
        rows.append(_coefficients(driver.bodies, i, Unfelt.by(framed), motions[i], above, x.naming))
    columns = reduced.model.visible
    Y: list[list[Scalar]] = [[0] * (10 * len(columns)) for _ in range(reduced.nv)]
    for place, i in enumerate(columns):
        framed = reduced.bodies[i]
        units = [MassMoments.of(unit.rotated(framed.frame.rotation.T)) for unit in UNIT_INERTIAS]
        for k, row in rows[i].items():
            about_joint = row.slid(neg(framed.slide))
            for column, unit in enumerate(units, 10 * place):
                Y[k][column] = x.naming(f"Y[{k},{column}]", about_joint.of(unit))
    return Y


def _coefficients(
    bodies: Sequence[ReducedBody],
    i: int,
    unfelt: Unfelt,
    motion: BodyMotion,
    parent: Mapping[int, Coefficients],
    naming: Naming,
) -> dict[int, Coefficients]:
    """The torques of body i and its ancestors per unit of body i's moments, by degree of freedom.

    `parent` has the torques per unit of the moments of its parent.
    """
    units = unit_forces(in_own_axes(bodies[i], motion))
    forces = {column: _in_axes_of_equations(bodies[i], units[column]) for column in unfelt.carried}
    rows: dict[int, Coefficients] = {}
    above = i
    while above != WORLD:
        at = bodies[above]
        for k, S in enumerate(at.subspace, at.joint.idx_v):
            values = {column: S.dot(force) for column, force in forces.items()}
            rows[k] = unfelt.completed(values, parent.get(k))
        forces = {
            column: force_to_parent(at, force).named(naming, f"f[{10 * i + column},{above}]")
            for column, force in forces.items()
        }
        above = at.parent
    return rows


def in_own_axes(body: ReducedBody, motion: BodyMotion) -> BodyMotion:
    """A body's motion, which is given in the axes of its equations, in axes that turn with the body."""
    if body.lag is None:
        return motion
    back = PlanarRotation(Z, *body.lag).inverse.apply
    return BodyMotion(back(motion.a), back(motion.w), back(motion.wdot))


def _in_axes_of_equations(body: ReducedBody, force: Force) -> Force:
    """A force given in axes that turn with the body, in the axes of the body's equations. This is the inverse
    rotation of `in_own_axes`.
    """
    if body.lag is None:
        return force
    turned = PlanarRotation(Z, *body.lag).apply
    return Force(turned(force.moment), turned(force.force))


def unit_forces(motion: BodyMotion) -> list[Force]:
    """The force for each of the ten parameters at 1, in their order."""
    a, w, wdot, U = motion.a, motion.w, motion.wdot, motion.U
    lifting = [Force(e.cross(a), column) for e, column in zip(IDENTITY, U.T, strict=True)]
    return [Force(ZERO, a), *lifting, *(Force(_turning(w, wdot, i, j), ZERO) for i, j in ENTRIES)]


def _turning(w: Vector, wdot: Vector, i: int, j: int) -> Vector:
    """J wdot + w x J w, where J has 1 at (i, j) and (j, i), and 0 elsewhere."""
    k = 3 - i - j
    moment: list[Scalar] = [0, 0, 0]
    if i == j:
        y, z = (i + 1) % 3, (i + 2) % 3
        moment[i], moment[y], moment[z] = wdot[i], mul(w[z], w[i]), neg(mul(w[i], w[y]))
    else:
        # (i, j, k) is a cyclic permutation of the axes, or (j, i, k) is
        sign = 1 if j == (i + 1) % 3 else -1
        product = sub(mul(w[i], w[i]), mul(w[j], w[j]))
        moment[k] = mul(sign, product)
        moment[i] = add(wdot[j], mul(-sign, mul(w[k], w[i])))
        moment[j] = add(wdot[i], mul(sign, mul(w[k], w[j])))
    return Vector(*moment)


def kinetic_regressor(reduced: ReducedModel, x: State) -> list[Scalar]:
    """K, 10 nbodies, from q and v."""
    driver = straight(reduced, x)
    velocities = driver.run(KINETIC)["velocity"]
    coefficients: list[Scalar] = []
    for i in reduced.model.visible:
        frame, body = reduced.bodies[i].frame, driver.bodies[i]
        seen = body.in_joint_frame(velocities[i], frame, reduced.unit_length)
        coefficients += kinetic_coefficients(seen)
    return coefficients


def potential_regressor(reduced: ReducedModel, x: State) -> list[Scalar]:
    """P, 10 nbodies, from q."""
    driver = straight(reduced, x)
    fields = driver.run(POTENTIAL)["field"]
    unit = reduced.unit_length
    coefficients: list[Scalar] = []
    for i in reduced.model.visible:
        upward, body = fields[i].upward * unit, driver.bodies[i]
        if body.lag is not None:
            upward = PlanarRotation(Z, *body.lag).inverse.apply(upward)
        R, p = reduced.bodies[i].frame
        potential = sub(mul(fields[i].potential, unit * unit), upward.dot(R.T.apply(p)))
        coefficients += [potential, *R.apply(upward), *[0] * 6]
    return coefficients
