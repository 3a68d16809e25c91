"""The reduced model: the same mechanics with fewer operations.

Four savings: body axes with z on the joint's axis; placements as planar rotations; mass moments instead of
inertias; inertia that a joint does not feel is moved to its parent. Joint coordinates, torques and
accelerations are those of the `Model` it was made from; every saving can be left out.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from rbdgen.errors import ModelError
from rbdgen.model.angles import ZERO_ANGLE, constant_angle
from rbdgen.model.axes import AlignedBody, AlignedFrame, align, align_frame
from rbdgen.model.base_parameters import felt, regrouped, without_residue
from rbdgen.model.contacts import Contact
from rbdgen.model.frames import Frame
from rbdgen.model.joints import Angle, Coordinate, Joint
from rbdgen.model.model import WORLD, Model
from rbdgen.model.moments import MassMoments
from rbdgen.spatial.ops import ZERO, Force, Motion, Transform, Vector
from rbdgen.spatial.planar import FactoredRotation, PlanarRotation, X, Z
from rbdgen.spatial.quaternion import Quaternion, QuaternionRotation
from rbdgen.spatial.scalar import Scalar, is_zero, mul, reciprocal

Turn = float | Angle
"""In rad, or as an `Angle`, which may be rational."""


@dataclass(frozen=True, slots=True)
class ReducedBody:
    """A body as the cheap algorithms see it, at a position of its joint.

    `rotation`: from its axes to its parent's; `translation`: its origin in its parent's axes; `axis`: z in
    its parent's axes; `subspace`: S, in its axes; `moments`: in its axes; `lag`: the angle from its axes to
    the body itself where the equations stay in the parent's axes, else None.
    """

    name: str
    parent: int
    joint: Joint
    rotation: FactoredRotation
    translation: Vector
    axis: Vector
    subspace: tuple[Motion, ...]
    moments: MassMoments
    lag: Angle | None

    @property
    def armature(self) -> tuple[Scalar, ...]:
        """The inertia of its joint's rotors, one number a degree of freedom."""
        return self.joint.armature

    def external_force(self, fext: Force, frame: Transform, unit_length: Scalar) -> Force:
        """A force given in the joint's own frame, in which `frame` is this body's, seen in its axes."""
        own = frame.force_to_child(fext)
        moment, force = own.moment, own.force * unit_length
        if self.lag is None:
            return Force(moment, force)
        turned = PlanarRotation(Z, *self.lag)
        return Force(turned.apply(moment), turned.apply(force))

    def in_joint_frame(self, motion: Motion, frame: Transform, unit_length: Scalar) -> Motion:
        """A motion in its axes, seen in the joint's own frame, in m: `external_force`, transposed."""
        w, v = motion.angular, motion.linear * unit_length
        if self.lag is not None:
            back = PlanarRotation(Z, *self.lag).inverse
            w, v = back.apply(w), back.apply(v)
        return frame.motion_to_parent(Motion(w, v))


@dataclass(frozen=True, slots=True)
class PlacedFrame:
    """A frame on a body, as the cheap algorithms see that body; `parent`: its index, or WORLD."""

    parent: int
    rotation: FactoredRotation
    translation: Vector


@dataclass(frozen=True, slots=True)
class PlacedContact:
    """A contact, as the cheap algorithms see its bodies; `ends`: its places on them, one or (a loop) two, in
    the axes of the links that were named; `axes`: those of its rows, on the body that it is seen from."""

    contact: Contact
    axes: PlacedFrame
    ends: tuple[PlacedFrame, ...]


@dataclass(frozen=True)
class ReducedModel:
    """A model in chosen frames; `reduce` makes one, `with_axes` another choice of the same model.

    `bodies`: every body in its own turned and slid frame, moments regrouped, lengths in `unit_length` m;
    `aligned`: the bodies before any choice; `turns`, `slides`: the choices, one a body; `parallel`: bodies
    whose equations stay in their parent's axes; `still`: the first moment of what was moved to the world;
    `gravity`: in units of length / s^2; both in world axes; `whole`: the moments with what no joint feels of
    the robot's angular momentum; `frames`, `contacts`: the model's, on these bodies, a contact with a frame
    for the axes of its rows, then for each of its ends.
    """

    model: Model
    aligned: tuple[AlignedBody, ...]
    turns: tuple[Angle, ...]
    slides: tuple[Scalar, ...]
    base_parameters: bool
    parallel: frozenset[int]
    unit_length: Scalar
    bodies: tuple[AlignedBody, ...]
    moments: tuple[MassMoments, ...]
    still: Vector
    gravity: Vector
    whole: tuple[MassMoments, ...]
    frames: tuple[AlignedFrame, ...] = ()
    contacts: tuple[tuple[AlignedFrame, ...], ...] = ()

    @property
    def nv(self) -> int:
        return self.model.nv

    @property
    def nbodies(self) -> int:
        return len(self.bodies)

    @cached_property
    def ancestors(self) -> tuple[tuple[int, ...], ...]:
        """The degrees of freedom above every degree of freedom, nearest first."""
        return tuple(tuple(self.model.ancestor_dofs(k)) for k in range(self.nv))

    @property
    def of_momentum(self) -> ReducedModel:
        """The same with moments that give the robot's momentum in all directions."""
        return replace(self, moments=self.whole)

    @property
    def in_metres(self) -> ReducedModel:
        """The same with 1 m as the unit of length."""
        if self.unit_length == 1:
            return self
        return self.with_axes(self.turns, self.slides, self.parallel)

    def frames_on(self, placed: Sequence[ReducedBody]) -> list[PlacedFrame]:
        """The chosen frames on bodies at a position."""
        return [_frame_on(frame, placed) for frame in self.frames]

    def contacts_on(self, placed: Sequence[ReducedBody]) -> list[PlacedContact]:
        """The contacts on bodies at a position."""
        found = []
        for contact, frames in zip(self.model.contacts, self.contacts, strict=True):
            axes, *ends = (_frame_on(frame, placed) for frame in frames)
            found.append(PlacedContact(contact, axes, tuple(ends)))
        return found

    def with_contacts(self, names: Sequence[str]) -> ReducedModel:
        """The same with these of the contacts alone, in this order."""
        model = self.model.with_contacts(names)
        own = dict(zip(self.model.contacts, self.contacts, strict=True))
        return replace(self, model=model, contacts=tuple(own[contact] for contact in model.contacts))

    def with_axes(
        self,
        turns: Sequence[Turn] | None = None,
        slides: Sequence[Scalar] | None = None,
        parallel: Collection[int] = (),
        unit_length: Scalar = 1,
    ) -> ReducedModel:
        """The same model in other frames; arguments as in `reduce`."""
        return _framed(self.model, self.aligned, turns, slides, self.base_parameters, parallel, unit_length)

    def at(self, q: Sequence[Coordinate]) -> list[ReducedBody]:
        """The bodies at joint coordinates q, one coordinate a body."""
        placed: list[ReducedBody] = []
        for i, (body, own, q_i) in enumerate(zip(self.bodies, self.moments, q, strict=True)):
            lag = None if body.parent == WORLD else placed[body.parent].lag
            placed.append(_placed(body, own, q_i, lag, i in self.parallel))
        return placed

    def external_forces(
        self, placed: Sequence[ReducedBody], fext: Sequence[Force] | None
    ) -> list[Force] | None:
        """External forces in the bodies' axes, from those in the joints' own frames."""
        if fext is None:
            return None
        return [
            body.external_force(f, framed.frame, self.unit_length)
            for body, framed, f in zip(placed, self.bodies, fext, strict=True)
        ]


def reduce(
    model: Model,
    turns: Sequence[Turn] | None = None,
    slides: Sequence[Scalar] | None = None,
    *,
    base_parameters: bool = True,
    parallel: Collection[int] = (),
    unit_length: Scalar = 1,
) -> ReducedModel:
    """The reduced form of a numeric model.

    `turns`, `slides`: how far every body's frame is turned about its joint's axis and slid along it, in rad
    and m, None for not at all; `base_parameters`: whether to move inertia to parents; `parallel`: revolute
    bodies with an axis parallel to their parent's whose equations are written in their parent's axes;
    `unit_length`: the length, in m, that becomes 1.

    Raises ModelError where a choice does not fit: turned axes of a joint without one axis, a parallel body
    whose axis is not parallel, a unit of length on a robot that is not fixed and all revolute.
    """
    return _framed(model, align(model), turns, slides, base_parameters, parallel, unit_length)


def _framed(
    model: Model,
    aligned: tuple[AlignedBody, ...],
    turns: Sequence[Turn] | None,
    slides: Sequence[Scalar] | None,
    base_parameters: bool,
    parallel: Collection[int],
    unit_length: Scalar,
) -> ReducedModel:
    n = len(aligned)
    phi = (ZERO_ANGLE,) * n if turns is None else tuple(map(_angle, turns))
    d = (0,) * n if slides is None else tuple(slides)
    bodies = []
    for body, turn, slide in zip(aligned, phi, d, strict=True):
        if not body.joint.type.one_axis and (turn != ZERO_ANGLE or slide != 0):
            raise ModelError(
                f"body '{body.name}': the frame of a {body.joint.type.name} joint is given; leave it unturned"
            )
        above = (ZERO_ANGLE, 0) if body.parent == WORLD else (phi[body.parent], d[body.parent])
        bodies.append(body.moved(turn, slide, *above))

    def carried(frame: Frame) -> AlignedFrame:
        above = (ZERO_ANGLE, 0) if frame.body == WORLD else (phi[frame.body], d[frame.body])
        own = align_frame(frame, aligned).beside(ZERO_ANGLE, 0, *above)
        return replace(own, translation=own.translation * reciprocal(unit_length))

    _check_parallel(bodies, parallel)
    whole, still = [without_residue(body.moments) for body in bodies], ZERO
    if base_parameters:
        whole, still = regrouped(bodies)
    moments = felt(bodies, whole, parallel) if base_parameters else whole
    if unit_length != 1:
        bodies = _scaled(model, bodies, unit_length)
        moments, whole = ([_in_units(own, unit_length) for own in some] for some in (moments, whole))
    return ReducedModel(
        model,
        aligned,
        phi,
        d,
        base_parameters,
        frozenset(parallel),
        unit_length,
        tuple(bodies),
        tuple(moments),
        still * unit_length,
        model.gravity * reciprocal(unit_length),
        tuple(whole),
        tuple(map(carried, model.frames)),
        tuple(tuple(map(carried, (model.seen_from(x), *x.ends))) for x in model.contacts),
    )


def _angle(turn: Turn) -> Angle:
    return turn if isinstance(turn, Angle) else constant_angle(turn)


def _check_parallel(bodies: Sequence[AlignedBody], parallel: Collection[int]) -> None:
    for i in parallel:
        body = bodies[i]
        if not body.joint.type.turns or body.alpha != ZERO_ANGLE:
            raise ModelError(
                f"body '{body.name}': its axis is not parallel to its parent's; leave it out of `parallel`"
            )


def _scaled(model: Model, bodies: list[AlignedBody], unit: Scalar) -> list[AlignedBody]:
    """Lengths in units."""
    if any(not body.joint.type.turns for body in bodies):
        raise ModelError(
            f"model '{model.name}': a unit of length needs a fixed base and revolute joints; leave it at 1"
        )
    per_unit = reciprocal(unit)
    return [replace(body, translation=body.translation * per_unit) for body in bodies]


def _in_units(own: MassMoments, unit: Scalar) -> MassMoments:
    """m l^2 and h l leave N m as they are; Sigma does not change."""
    return MassMoments(mul(own.mass, unit * unit), own.first * unit, own.second)


def _placed(
    body: AlignedBody, own: MassMoments, q: Coordinate, behind: Angle | None, stays: bool
) -> ReducedBody:
    """One body at q. `behind`: the `lag` of the parent."""
    translation, axis, gamma = body.translation, body.axis, body.gamma
    lag: Angle | None = None
    if behind is not None:
        turned = PlanarRotation(Z, *behind)
        translation, axis, gamma = turned.apply(translation), turned.apply(axis), gamma + behind
    shift, turn, attitude = body.joint.type.displacement(q)
    translation = translation + _moved(shift, axis, gamma, body)
    theta = body.theta0 if turn is None else turn + body.theta0
    if turn is not None and body.alpha == ZERO_ANGLE:
        # z stays where it is: one turn about it, by the sum
        gamma, theta = ZERO_ANGLE, theta if behind is None else behind + theta
    if stays:
        lag, rotation = theta, FactoredRotation()
        own = own.rotated(FactoredRotation.of(PlanarRotation(Z, *lag)))
    else:
        rotation = _rotation(gamma, body.alpha, theta, attitude)
    z = Vector(0, 0, 1) if body.joint.type.one_axis else ZERO
    subspace = body.joint.type.motion_subspace(z)
    return ReducedBody(body.name, body.parent, body.joint, rotation, translation, axis, subspace, own, lag)


def _frame_on(frame: AlignedFrame, placed: Sequence[ReducedBody]) -> PlacedFrame:
    """A frame on bodies at a position."""
    gamma, translation = frame.gamma, frame.translation
    lag = None if frame.parent == WORLD else placed[frame.parent].lag
    if lag is not None:
        gamma, translation = gamma + lag, PlanarRotation(Z, *lag).apply(translation)
    return PlacedFrame(frame.parent, _rotation(gamma, frame.alpha, frame.theta0), translation)


def _moved(shift: Vector, axis: Vector, gamma: Angle, body: AlignedBody) -> Vector:
    """A shift in the body's axes at q = 0, seen in the parent's."""
    if is_zero(shift.x) and is_zero(shift.y):
        along: Vector = axis * shift.z
        return along
    return _rotation(gamma, body.alpha, body.theta0).to_parent(shift)


def _rotation(
    gamma: Angle, alpha: Angle, theta: Angle, attitude: Quaternion | None = None
) -> FactoredRotation:
    factors = PlanarRotation(Z, *gamma), PlanarRotation(X, *alpha), PlanarRotation(Z, *theta)
    last = () if attitude is None else (QuaternionRotation(attitude),)
    return FactoredRotation.of(*factors, *last)
