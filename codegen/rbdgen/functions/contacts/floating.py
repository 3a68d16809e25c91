"""Inverse dynamics of a floating base: first the base is fixed, then it is released.

While the base is fixed, it rotates at a constant angular velocity, and the acceleration of its origin, less
gravity, is zero. Neither its attitude nor its linear velocity matters then, and the algorithm is
`rnea_classical`. A force F and a moment N remain at the base. Once the base is released, they accelerate the
robot as one rigid body of mass m, first moment h and inertia J, which adds a torque at every joint:

    (J + [h x][h x]/m) wdot = -N + h x F/m,  a = -(F + wdot x h)/m,  tau_i += (I_i S_i) . X_i (wdot, a)

where I_i is the composite inertia at joint i, and X_i transforms motions of the base to body i. This is the
algorithm of Featherstone 2008, section 9.5, in another order.

Contacts at rest determine the acceleration of the base. Let W be weights, J_b the base's columns of J, and c
the accelerations that the contacts lack while the base is fixed. The least-squares acceleration of the base
is K^-1 J_b^T W c with K = J_b^T W J_b. The smallest forces that support a wrench f at the base are W J_b K^-1
f. K is the spatial inertia of point masses W at the contact points. About their centre it consists of a mass
and a 3 x 3 rotational inertia.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from functools import reduce as accumulated
from typing import NamedTuple, TypeVar

from rbdgen.functions.contacts.arguments import LAMBDA
from rbdgen.functions.contacts.on_bodies import (
    End,
    Held,
    acceleration,
    held_contacts,
    less_felt,
    motion_inward,
    on_end,
    seen_from,
)
from rbdgen.functions.form import Outputs
from rbdgen.functions.inertia_matrix.moments import unit_forces
from rbdgen.functions.inverse_dynamics.classical import BodyMotion, inertial_force, moved
from rbdgen.functions.momentum.energy import half
from rbdgen.functions.resistance import rotor_torque, terms_of, torque
from rbdgen.model.inertia import from_second_moment
from rbdgen.model.model import WORLD
from rbdgen.model.moments import MassMoments
from rbdgen.model.reduce import ReducedModel
from rbdgen.spatial.ldl import LDL, ldl
from rbdgen.spatial.ops import IDENTITY, NO_FORCE, ZERO, ZERO_MATRIX, Force, Matrix, Motion, Vector
from rbdgen.spatial.scalar import Scalar, add, reciprocal
from rbdgen.sweeps.bodies import along_joint, force_to_parent, motion_to_child
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.records import Kind, named
from rbdgen.sweeps.sweep import BASE, Given

T = TypeVar("T")


@dataclass(frozen=True)
class Solid:
    """A free rigid body, accelerated by forces about its origin."""

    moments: MassMoments

    @cached_property
    def _per_mass(self) -> Scalar:
        return reciprocal(self.moments.mass)

    @cached_property
    def _turning(self) -> LDL:
        """J + [h x][h x]/m, factored."""
        h = self.moments.first
        about_center = self.moments.second - Matrix.outer(h, h * self._per_mass)
        return ldl([list(row) for row in from_second_moment(about_center)])

    def acceleration(self, force: Force) -> Motion:
        """I^-1 f."""
        h, f = self.moments.first, force.force
        wdot = Vector(*self._turning.solve([*(force.moment - h.cross(f * self._per_mass))]))
        return Motion(wdot, (f - wdot.cross(h)) * self._per_mass)


class Floating:
    """A robot at a state, with its base fixed.

    `bodies` and `contacts` are placed at the configuration of the state. `up` is minus gravity in the axes of
    the base. `motions` has one motion per body, and `subtrees` has the mass moments of the subtree of each
    body.
    """

    def __init__(self, reduced: ReducedModel, x: State) -> None:
        self.reduced = reduced
        self.x = replace(x, a=[*[0] * BASE, *x.arrays["a_joints"]])
        self.bodies = reduced.at(x.q)
        self.contacts = held_contacts(reduced, self.bodies)
        self.up = self.bodies[0].rotation.to_child(-reduced.gravity)
        self.motions = [BodyMotion(ZERO, Vector(*x.v[3:BASE]), ZERO)]
        world = BodyMotion(-reduced.gravity, ZERO, ZERO)
        for i, body in enumerate(self.bodies[1:], 1):
            above = world if body.parent == WORLD else self.motions[body.parent]
            rates = (list(body.joint.slice(values)) for values in (self.x.v, self.x.a))
            given = Given(parent=above, **dict(zip("va", rates, strict=True)))
            self.motions.append(named(BodyMotion, moved(body, given), x.naming, f"motion[{i}]"))

    @cached_property
    def subtrees(self) -> list[MassMoments]:
        found = [body.moments for body in self.bodies]
        for i in reversed(range(1, len(found))):
            body = self.bodies[i]
            if body.parent != WORLD:
                seen = found[i].rotated(body.rotation).translated(body.translation)
                total = found[body.parent] + self.x.lanes.handed_on(MassMoments, seen, i, body.parent)
                found[body.parent] = named(MassMoments, total, self.x.naming, f"subtree[{body.parent}]")
        return found

    def collected(self, on_bodies: Sequence[Force]) -> tuple[list[Scalar], Force]:
        """The joint torques for the motions of the bodies under the external forces `on_bodies`, and the
        force that remains at the base.
        """
        forces = [
            inertial_force(body.moments, motion) - own
            for body, motion, own in zip(self.bodies, self.motions, on_bodies, strict=True)
        ]
        terms = (terms_of(self.reduced.model, term, self.x) for term in (torque, rotor_torque))
        tau = list(map(add, *terms))
        for i in reversed(range(1, len(forces))):
            body = self.bodies[i]
            for k, own in enumerate(along_joint(body, forces[i]), body.joint.idx_v):
                tau[k] = add(tau[k], own)
            if body.parent != WORLD:
                felt = force_to_parent(body, forces[i])
                total = forces[body.parent] + self.x.lanes.handed_on(Force, felt, i, body.parent)
                forces[body.parent] = total.named(self.x.naming, f"force[{body.parent}]")
        return tau, forces[0]

    def let_go(self, base: Motion, tau: list[Scalar]) -> None:
        """Add the torques that the acceleration of the released base causes, in place."""
        motions: list[Motion | None] = [base]
        for i, body in enumerate(self.bodies[1:], 1):
            above = None if body.parent == WORLD else motions[body.parent]
            if above is None:
                motions.append(None)
                continue
            carried = motion_to_child(body, above).named(self.x.naming, f"carried[{i}]")
            motions.append(carried)
            for k, unit in enumerate(unit_forces(body, self.subtrees[i]), body.joint.idx_v):
                tau[k] = add(tau[k], carried.dot(unit))

    def seen(self, end: End, path: Sequence[int]) -> Motion:
        """The acceleration of an end, less gravity, in the axes of the body before the path."""
        return motion_inward(self.bodies, path, acceleration(end, self.motions[end.body]))

    def acceleration(self, base: Motion) -> list[Scalar]:
        """The acceleration of the base: vdot = a + R^T g - w x v, and wdot."""
        w, v = Vector(*self.x.v[3:BASE]), Vector(*self.x.v[:3])
        return [*(base.linear - self.up - w.cross(v)), *base.angular]


def contact_rnea_floating(reduced: ReducedModel, x: State) -> Outputs:
    """tau and a_base for given lambda."""
    robot = Floating(reduced, x)
    bodies, given = robot.bodies, [NO_FORCE] * reduced.nbodies
    parts = [held.force(x.arrays[LAMBDA.name]) for held in robot.contacts]
    for held, part in zip(robot.contacts, parts, strict=True):
        for end in held.ends if held.carrier == WORLD else ():
            force = held.on(end, on_end(bodies, end, part * end.sign), x.lanes)
            given[end.body] = given[end.body] + force
    tau, left = robot.collected(given)
    base = Solid(robot.subtrees[0]).acceleration(-left)
    robot.let_go(base, tau)
    for held, part in zip(robot.contacts, parts, strict=True):
        for end in held.ends if held.carrier != WORLD else ():
            force = held.on(end, on_end(bodies, end, part * end.sign), x.lanes)
            less_felt(bodies, end.path, force, tau, x.lanes)
    return [tau[BASE:], robot.acceleration(base)]


class Support(NamedTuple):
    """A contact that holds the base."""

    held: Held
    end: End
    """The end on the base, or on a limb that it carries."""
    other: End | None
    """The other end of a closed loop, if it is on a body that the base does not carry."""
    point: Vector
    """The position of the contact in the base's axes."""
    share: Sequence[Scalar]
    """The weight of the contact's force and, if it has a moment, that of the moment."""


class Stance:
    """All contacts that hold the base.

    `center` is the weighted mean of the contact points, relative to the base's origin. About this point, the
    force and the moment of a wrench are supported independently of each other. The points of `supports` are
    relative to `center`.
    """

    def __init__(self, robot: Floating) -> None:
        self.robot, self.supports = robot, list(_supports(robot))
        self.per_share = reciprocal(accumulated(add, self._of_each(Scalar, lambda own: own.share[0]), 0))
        moments = self._of_each(Vector, lambda own: own.point * own.share[0])
        self.center = sum(moments, ZERO) * self.per_share
        self.supports = [own._replace(point=own.point - self.center) for own in self.supports]
        second = sum(self._of_each(Matrix, _second_moment), ZERO_MATRIX)
        self.turning = ldl([list(row) for row in from_second_moment(second)])

    def _of_each(self, kind: Kind, of: Callable[[Support], T]) -> Iterator[T]:
        """The terms of a sum over all supports. One that stands for several gives the sum of theirs."""
        for support in self.supports:
            term, lanes = of(support), self.robot.x.lanes
            yield lanes.joined(kind, term) if support.held.stands_for_several(lanes) else term

    def _moved(self, force: Force) -> Motion:
        """The motion K^-1 f, about `center`."""
        return Motion(Vector(*self.turning.solve([*force.moment])), force.force * self.per_share)

    def base(self) -> Motion:
        """The acceleration of the base that leaves the smallest accelerations of the contacts."""
        m = self._moved(sum(self._of_each(Force, self._lacking), NO_FORCE))
        return Motion(m.angular, m.linear + self.center.cross(m.angular))

    def _lacking(self, support: Support) -> Force:
        own = self.robot.seen(support.end, support.end.path[1:])
        return _pull(support, self._target(support.other) - own)

    def _target(self, other: End | None) -> Motion:
        """The acceleration that an end should have, less gravity, in the base's axes."""
        if other is None:
            return Motion(ZERO, self.robot.up)
        there, turn = self.robot.seen(other, other.path), self.robot.bodies[0].rotation.to_child
        return Motion(turn(there.angular), turn(there.linear))

    def forces(self, wrench: Force) -> list[Force]:
        """The smallest forces at the contact points that support a wrench at the base, in the base's axes."""
        y = self._moved(Force(wrench.moment - self.center.cross(wrench.force), wrench.force))
        at_points = (
            Motion(y.angular, y.linear + y.angular.cross(support.point)) for support in self.supports
        )
        return list(map(_shared, self.supports, at_points))


def _second_moment(support: Support) -> Matrix:
    """The second moment of a support's weight at its point, plus the part that the weight of its moment
    adds.
    """
    r, (share, *turning) = support.point, support.share
    spread = (IDENTITY * half(of_moment) for of_moment in turning)
    return sum(spread, Matrix.outer(r * share, r))


def _shared(support: Support, m: Motion) -> Force:
    """W times a motion of the contact's point."""
    share, *turning = support.share
    return Force(m.angular * turning[0] if turning else ZERO, m.linear * share)


def _pull(support: Support, m: Motion) -> Force:
    """J_b^T W m."""
    weighted = _shared(support, m)
    return Force(support.point.cross(weighted.force) + weighted.moment, weighted.force)


def _supports(robot: Floating) -> Iterator[Support]:
    """The contacts that hold the base. Closed loops between links that the base carries do not hold it."""
    for held in robot.contacts:
        near = [end for end in held.ends if end.path[0] == 0]
        if held.carrier == WORLD and near:
            point = seen_from(robot.bodies, near[0].path[1:], near[0].point)
            share = robot.x.arrays["share"][held.rows.start // 3 : held.rows.stop // 3]
            other = next((end for end in held.ends if end is not near[0]), None)
            yield Support(held, near[0], other, point, share)


def contact_rnea_least_floating(reduced: ReducedModel, x: State) -> Outputs:
    """tau, lambda and a_base for `share`. Closed loops between links that the base carries have no force."""
    robot = Floating(reduced, x)
    stance, bodies = Stance(robot), robot.bodies
    tau, left = robot.collected([NO_FORCE] * reduced.nbodies)
    base = stance.base()
    robot.let_go(base, tau)
    forces: list[Scalar] = [0] * reduced.model.sizes["nc"]
    carried = stance.forces(left + robot.subtrees[0].apply(base))
    for (held, end, other, _, _), force in zip(stance.supports, carried, strict=True):
        on_base = held.on(end, on_end(bodies, end, force, before=1), x.lanes)
        less_felt(bodies, end.path[1:], on_base, tau, x.lanes)
        in_world = Force(*map(bodies[0].rotation.to_parent, (force.moment, force.force)))
        if other is not None:
            on_other = held.on(other, on_end(bodies, other, -in_world), x.lanes)
            less_felt(bodies, other.path, on_other, tau, x.lanes)
        numbers = [*(in_world.force * end.sign), *(in_world.moment * end.sign)]
        forces[held.rows] = numbers[: held.rows.stop - held.rows.start]
    return [tau[BASE:], forces, robot.acceleration(base)]
