"""Regressors on a `ReducedModel`: what motions there take of every parameter.

With U = [wdot x] + w w^T - |w|^2 1 and the classical acceleration a of the origin, less gravity, the force of
a body with m = 1 is (0, a), with m c = e_k it is (e_k x a, U e_k). With Ixx = 1 the moment is
(wdot_x, w_z w_x, -w_x w_y), with Ixy = 1 it is (-U_zx, U_zy, w_x^2 - w_y^2), cyclic; pairs are (moment,
force).
"""

from __future__ import annotations

from rbdgen.functions.inverse_dynamics.classical import BodyMotion, body_forces
from rbdgen.functions.momentum.energy import KINETIC, POTENTIAL
from rbdgen.functions.regressors.bodies import kinetic_coefficients
from rbdgen.model.axes import AlignedBody
from rbdgen.model.inertial_parameters import ENTRIES
from rbdgen.model.model import WORLD
from rbdgen.model.reduce import ReducedBody, ReducedModel
from rbdgen.spatial.ops import IDENTITY, ZERO, Force, Vector
from rbdgen.spatial.planar import PlanarRotation, Z
from rbdgen.spatial.scalar import Scalar, add, mul, neg, sub
from rbdgen.sweeps.bodies import along_joint, force_to_parent
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.straight import straight


def regressor(reduced: ReducedModel, x: State) -> list[list[Scalar]]:
    """Y, nv x 10 nbodies, of q, v and a."""
    driver = straight(reduced, x)
    motions = driver.run(body_forces())["motion"]
    columns = reduced.model.visible
    Y: list[list[Scalar]] = [[0] * (10 * len(columns)) for _ in range(reduced.nv)]
    for place, i in enumerate(columns):
        framed, body = reduced.bodies[i], driver.bodies[i]
        forces = [
            body.external_force(force, framed.frame, reduced.unit_length)
            for force in unit_forces(in_joint_frame(framed, body, motions[i], reduced.unit_length))
        ]
        above = i
        while above != WORLD:
            at = driver.bodies[above]
            for column, force in enumerate(forces, 10 * place):
                for k, value in enumerate(along_joint(at, force), at.joint.idx_v):
                    Y[k][column] = x.naming(f"Y[{k},{column}]", value)
            forces = [
                force_to_parent(at, force).named(x.naming, f"f[{column},{above}]")
                for column, force in enumerate(forces, 10 * place)
            ]
            above = at.parent
    return Y


def in_joint_frame(
    framed: AlignedBody, body: ReducedBody, motion: BodyMotion, unit_length: Scalar
) -> BodyMotion:
    """A body's motion at the origin and in the axes of its joint's own frame, in m."""
    a, w, wdot = motion.a * unit_length, motion.w, motion.wdot
    if body.lag is not None:
        a, w, wdot = (PlanarRotation(Z, *body.lag).inverse.apply(x) for x in (a, w, wdot))
    turned = BodyMotion(a, w, wdot)
    R, p = framed.frame
    a = a - turned.U.apply(R.T.apply(p))
    return BodyMotion(*(R.apply(x) for x in (a, w, wdot)))


def unit_forces(motion: BodyMotion) -> list[Force]:
    """The force that each of the ten parameters takes, in their order."""
    a, w, wdot, U = motion.a, motion.w, motion.wdot, motion.U
    lifting = [Force(e.cross(a), column) for e, column in zip(IDENTITY, U.T, strict=True)]
    return [Force(ZERO, a), *lifting, *(Force(_turning(w, wdot, i, j), ZERO) for i, j in ENTRIES)]


def _turning(w: Vector, wdot: Vector, i: int, j: int) -> Vector:
    """J wdot + w x J w, where entry (i, j) of J is 1, and so is (j, i)."""
    k = 3 - i - j
    moment: list[Scalar] = [0, 0, 0]
    if i == j:
        y, z = (i + 1) % 3, (i + 2) % 3
        moment[i], moment[y], moment[z] = wdot[i], mul(w[z], w[i]), neg(mul(w[i], w[y]))
    else:
        # i, j, k cyclic, or j, i, k
        sign = 1 if j == (i + 1) % 3 else -1
        product = sub(mul(w[i], w[i]), mul(w[j], w[j]))
        moment[k] = mul(sign, product)
        moment[i] = add(wdot[j], mul(-sign, mul(w[k], w[i])))
        moment[j] = add(wdot[i], mul(sign, mul(w[k], w[j])))
    return Vector(*moment)


def kinetic_regressor(reduced: ReducedModel, x: State) -> list[Scalar]:
    """K, 10 nbodies, of q and v."""
    driver = straight(reduced, x)
    velocities = driver.run(KINETIC)["velocity"]
    coefficients: list[Scalar] = []
    for i in reduced.model.visible:
        frame, body = reduced.bodies[i].frame, driver.bodies[i]
        seen = body.in_joint_frame(velocities[i], frame, reduced.unit_length)
        coefficients += kinetic_coefficients(seen)
    return coefficients


def potential_regressor(reduced: ReducedModel, x: State) -> list[Scalar]:
    """P, 10 nbodies, of q."""
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
