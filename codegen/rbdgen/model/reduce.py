"""The reduced model: the same mechanics with fewer operations.

There are four savings: body axes with z on the joint's axis; placements as planar rotations; mass moments
instead of inertias; and inertia that a joint does not feel, which is moved to its parent. Joint coordinates,
torques and accelerations are those of the original `Model`. Every saving can be left out.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from rbdgen.errors import ModelError
from rbdgen.model.angles import ZERO_ANGLE, constant_angle
from rbdgen.model.axes import AlignedBody, AlignedFrame, align, align_frame
from rbdgen.model.base_parameters import drop_unfelt_moments, regrouped, without_residue
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
"""An angle in rad, or an `Angle`, which may be rational."""


Moved = dict[tuple[int, Angle, Scalar, Angle, Scalar], AlignedBody]
"""Bodies in turned and slid frames, by their index, turn and slide, and by those of their parent."""


@dataclass(frozen=True, slots=True)
class ReducedBody:
    """A body of a reduced model at a position of its joint.

    All quantities are in its axes, unless stated otherwise.
    """

    name: str
    parent: int
    joint: Joint
    rotation: FactoredRotation
    """The rotation from the body's axes to its parent's."""
    translation: Vector
    """The origin of the body, in its parent's axes."""
    axis: Vector
    """The z axis of the body, in its parent's axes."""
    subspace: tuple[Motion, ...]
    """The motion subspace S."""
    moments: MassMoments
    lag: Angle | None
    """The angle by which the body is turned against these axes, if its equations are in the axes of its
    parent; None otherwise."""

    @property
    def armature(self) -> tuple[Scalar, ...]:
        """The inertia of its joint's rotors, one number per degree of freedom."""
        return self.joint.armature

    def external_force(self, fext: Force, frame: Transform, unit_length: Scalar) -> Force:
        """Expresses in the body's axes a force that is given in the joint's own frame. `frame` is the pose of
        this body in the joint's own frame.
        """
        own = frame.force_to_child(fext)
        moment, force = own.moment, own.force * unit_length
        if self.lag is None:
            return Force(moment, force)
        turned = PlanarRotation(Z, *self.lag)
        return Force(turned.apply(moment), turned.apply(force))

    def in_joint_frame(self, motion: Motion, frame: Transform, unit_length: Scalar) -> Motion:
        """Expresses a motion, given in the body's axes, in the joint's own frame and in m; the transpose of
        `external_force`.
        """
        w, v = motion.angular, motion.linear * unit_length
        if self.lag is not None:
            back = PlanarRotation(Z, *self.lag).inverse
            w, v = back.apply(w), back.apply(v)
        return frame.motion_to_parent(Motion(w, v))


@dataclass(frozen=True, slots=True)
class PlacedFrame:
    """A frame on a body of a reduced model. `parent` is the index of the body, or WORLD."""

    parent: int
    rotation: FactoredRotation
    translation: Vector


@dataclass(frozen=True, slots=True)
class PlacedContact:
    """A contact on the bodies of a reduced model."""

    contact: Contact
    axes: PlacedFrame
    """The axes of its rows, on the body relative to which it is described."""
    ends: tuple[PlacedFrame, ...]
    """The places of the contact (two for a closed loop), in the axes of the links that were named."""


@dataclass(frozen=True)
class ReducedModel:
    """A model in chosen frames. `reduce` makes one, and `with_axes` makes another choice for the same
    model.
    """

    model: Model
    aligned: tuple[AlignedBody, ...]
    """The bodies before any turn or slide was chosen."""
    turns: tuple[Angle, ...]
    """The chosen turns, one per body."""
    slides: tuple[Scalar, ...]
    """The chosen slides, one per body."""
    base_parameters: bool
    parallel: frozenset[int]
    """Bodies whose equations are in their parent's axes."""
    unit_length: Scalar
    """The unit of length of this model, in m."""
    bodies: tuple[AlignedBody, ...]
    """Every body in its own turned and slid frame."""
    moments: tuple[MassMoments, ...]
    """The regrouped mass moments, as far as joints feel them."""
    still: Vector
    """The first moment of the mass that was moved to the world, in world axes."""
    gravity: Vector
    """The acceleration of gravity, in units of length / s^2, in world axes."""
    whole: tuple[MassMoments, ...]
    """The mass moments, including parts of the robot's angular momentum that no joint feels."""
    frames: tuple[AlignedFrame, ...] = ()
    """The model's frames on these bodies."""
    contacts: tuple[tuple[AlignedFrame, ...], ...] = ()
    """The model's contacts on these bodies, each as a frame for the axes of its rows and one for each end."""

    @property
    def nv(self) -> int:
        return self.model.nv

    @property
    def nbodies(self) -> int:
        return len(self.bodies)

    @cached_property
    def ancestors(self) -> tuple[tuple[int, ...], ...]:
        """The ancestors of every degree of freedom, nearest first."""
        return tuple(tuple(self.model.ancestor_dofs(k)) for k in range(self.nv))

    @property
    def of_momentum(self) -> ReducedModel:
        """The model with moments that give the robot's momentum in all directions."""
        return replace(self, moments=self.whole)

    @property
    def in_metres(self) -> ReducedModel:
        """The model with 1 m as the unit of length."""
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
        """The model with only these contacts, in this order."""
        model = self.model.with_contacts(names)
        own = dict(zip(self.model.contacts, self.contacts, strict=True))
        return replace(self, model=model, contacts=tuple(own[contact] for contact in model.contacts))

    @property
    def on_points(self) -> ReducedModel:
        """The model in metres, with a contact at each corner of its soles in place of the soles."""
        metres, found = self.in_metres, list[tuple[AlignedFrame, ...]]()
        for contact, (axes, *ends) in zip(self.model.contacts, metres.contacts, strict=True):
            for corner in contact.corners:
                (end,) = ends
                place = end.translation + end.rotation.to_parent(corner)
                found.append((axes, replace(end, translation=place)))
            found += [] if contact.corners else [(axes, *ends)]
        return replace(metres, model=self.model.on_points, contacts=tuple(found))

    def with_axes(
        self,
        turns: Sequence[Turn] | None = None,
        slides: Sequence[Scalar] | None = None,
        parallel: Collection[int] = (),
        unit_length: Scalar = 1,
        moved: Moved | None = None,
    ) -> ReducedModel:
        """The reduced model in other frames; for the arguments see `reduce`.

        Bodies are looked up in `moved` and added to it, so that later calls need not compute them again. All
        these calls must give turns and slides as numbers of the same types.
        """
        choice = self.base_parameters, parallel, unit_length, moved
        return _framed(self.model, self.aligned, turns, slides, *choice)

    def at(self, q: Sequence[Coordinate]) -> list[ReducedBody]:
        """The bodies at joint coordinates q, one coordinate per body."""
        placed: list[ReducedBody] = []
        for i, (body, own, q_i) in enumerate(zip(self.bodies, self.moments, q, strict=True)):
            lag = None if body.parent == WORLD else placed[body.parent].lag
            placed.append(_placed(body, own, q_i, lag, i in self.parallel))
        return placed

    def external_forces(
        self, placed: Sequence[ReducedBody], fext: Sequence[Force] | None
    ) -> list[Force] | None:
        """External forces in the bodies' axes, from forces in the joints' own frames."""
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

    `turns` and `slides` say how far every body's frame is turned about its joint's axis and slid along it, in
    rad and m; with None, no frame is turned or slid. `base_parameters` says whether to move inertia to
    parents. `parallel` are bodies of revolute joints whose equations are written in their parent's axes; the
    axis of each is parallel to its parent's. `unit_length` is the length, in m, that becomes 1.

    Raises ModelError for a choice that does not fit: a turn or slide for a joint without a single axis, a
    body in `parallel` whose axis is not parallel to its parent's, or a unit of length other than 1 for a
    robot with a floating base or with joints that are not revolute.
    """
    return _framed(model, align(model), turns, slides, base_parameters, parallel, unit_length, None)


def _framed(
    model: Model,
    aligned: tuple[AlignedBody, ...],
    turns: Sequence[Turn] | None,
    slides: Sequence[Scalar] | None,
    base_parameters: bool,
    parallel: Collection[int],
    unit_length: Scalar,
    moved: Moved | None,
) -> ReducedModel:
    n = len(aligned)
    phi = (ZERO_ANGLE,) * n if turns is None else tuple(map(_angle, turns))
    d = (0,) * n if slides is None else tuple(slides)
    bodies = []
    for i, (body, turn, slide) in enumerate(zip(aligned, phi, d, strict=True)):
        if not body.joint.type.one_axis and (turn != ZERO_ANGLE or slide != 0):
            raise ModelError(
                f"body '{body.name}': the axes of a {body.joint.type.name} joint are fixed; leave it unturned"
            )
        above = (ZERO_ANGLE, 0) if body.parent == WORLD else (phi[body.parent], d[body.parent])
        choice = (turn, slide, *above)
        found = None if moved is None else moved.get((i, *choice))
        if found is None:
            found = body.moved(*choice)
            if moved is not None:
                moved[i, *choice] = found
        bodies.append(found)

    def carried(frame: Frame) -> AlignedFrame:
        above = (ZERO_ANGLE, 0) if frame.body == WORLD else (phi[frame.body], d[frame.body])
        own = align_frame(frame, aligned).beside(ZERO_ANGLE, 0, *above)
        return replace(own, translation=own.translation * reciprocal(unit_length))

    _check_parallel(bodies, parallel)
    if base_parameters:
        whole, still = regrouped(bodies)
        moments = drop_unfelt_moments(bodies, whole, parallel)
    else:
        moments = whole = [without_residue(body.moments) for body in bodies]
        still = ZERO
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
    """The bodies with lengths in this unit."""
    if any(not body.joint.type.turns for body in bodies):
        raise ModelError(
            f"model '{model.name}': a unit of length needs a fixed base and revolute joints; leave it at 1"
        )
    per_unit = reciprocal(unit)
    return [replace(body, translation=body.translation * per_unit) for body in bodies]


def _in_units(own: MassMoments, unit: Scalar) -> MassMoments:
    """The moments for a unit of length of l m: m l^2, h l and Sigma, so that torques stay in N m."""
    return MassMoments(mul(own.mass, unit * unit), own.first * unit, own.second)


def _placed(
    body: AlignedBody, own: MassMoments, q: Coordinate, behind: Angle | None, stays: bool
) -> ReducedBody:
    """One body at q. `behind` is the `lag` of the parent."""
    translation, axis, gamma = body.translation, body.axis, body.gamma
    lag: Angle | None = None
    if behind is not None:
        turned = PlanarRotation(Z, *behind)
        translation, axis, gamma = turned.apply(translation), turned.apply(axis), gamma + behind
    shift, turn, attitude = body.joint.type.displacement(q)
    translation = translation + _moved(shift, axis, gamma, body)
    theta = body.theta0 if turn is None else turn + body.theta0
    if turn is not None and body.alpha == ZERO_ANGLE:
        # all rotations are about the same z axis, so they are one rotation by the sum of the angles
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
    """Expresses in the parent's axes a shift that is given in the body's axes at q = 0."""
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
