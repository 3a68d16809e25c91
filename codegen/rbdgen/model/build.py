"""Builds a model from a description: fixed links are merged, and bodies are numbered depth first as in
Pinocchio.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType

from rbdgen.description.free import FreeNames
from rbdgen.description.order import ordered
from rbdgen.description.quoting import quoted
from rbdgen.description.schema import Description, Link
from rbdgen.description.schema import Joint as DescribedJoint
from rbdgen.errors import ModelError
from rbdgen.model.angles import constant_angle
from rbdgen.model.attachments import Attachment
from rbdgen.model.closed_loops import model_loops
from rbdgen.model.contacts import model_contacts, model_sets, overdetermined
from rbdgen.model.distances import model_distances
from rbdgen.model.frames import chosen_frames, known_frames
from rbdgen.model.inertia import NO_INERTIA, Inertia
from rbdgen.model.joints import (
    JOINT_TYPES,
    Floating,
    Follows,
    Helical,
    Joint,
    JointType,
    Resistance,
    Revolute,
)
from rbdgen.model.mimic import Follower, Mimics, describe_mimics, followers_of
from rbdgen.model.model import STANDARD_GRAVITY, WORLD, Body, Model
from rbdgen.model.regularity import unresisted
from rbdgen.model.resistance import LOSSLESS, Dissipation, left_out, resistance_of
from rbdgen.model.robot import Base, Robot
from rbdgen.model.rotations import Snapped, snap_axis, snap_rotation
from rbdgen.model.scales import out_of_scale
from rbdgen.spatial.ops import NO_TRANSFORM, ZERO, ZERO_MATRIX, Matrix, Transform, Vector, mirrored
from rbdgen.spatial.rpy import rotation_from_rpy
from rbdgen.wording import both, option

__all__ = ["BASE_JOINT", "DEFAULT_SNAP", "Base", "Robot", "build_robot", "centroidal", "rebuilt"]

BASE_JOINT = "root_joint"
"""The name of the floating base's joint, as in Pinocchio. A _ is appended if another joint has this name."""

DEFAULT_SNAP = 1e-9

ALMOST_RIGHT = 1e-3
"""Entries of a rotation below this (but not 0) look like a right angle that was written with too few
digits.
"""

ROUNDING = 1e-15
"""A snap by less than this is the rounding of cos(pi/2) and not worth a report."""


def build_robot(
    description: Description,
    base: Base = "fixed",
    snap: float = DEFAULT_SNAP,
    gravity: Vector = STANDARD_GRAVITY,
    dissipation: Dissipation = LOSSLESS,
    mimic: Mimics = "eliminate",
    frames: Iterable[str] = (),
) -> Robot:
    """The model of a described robot.

    `snap`: entries of fixed rotations with a magnitude up to this become 0 (0: none). `dissipation`: whether
    damping and friction of the joints enter the model. `mimic`: whether mimic joints follow others or are
    "independent". `frames`: names or patterns of the frames of functions `frame_...`.

    Raises ModelError for impossible mechanics: no moving joint, a joint that no inertia resists, a follower
    of a joint that cannot be followed, or numbers that are too large or too small; and for an unknown frame.
    """
    followers = followers_of(description) if mimic == "eliminate" else {}
    builder = _Builder(description, snap, dissipation, followers)
    builder.walk(base)
    known = known_frames(description, builder.attachments, snap)
    loops, still = model_loops(description.loops, known)
    chosen = chosen_frames(frames, known, description)
    contacts = model_contacts(description.contacts, known, description)
    sets = model_sets(description.contact_sets, contacts)
    bodies = tuple(builder.finished_bodies())
    model = Model(
        description.name,
        bodies,
        gravity,
        tuple(loops),
        (),
        tuple(chosen),
        contacts,
        sets,
        description.contact_solver,
        description.contact_with,
        model_distances(description, known),
    )
    _check_moving(model, description)
    _check_scales(model, description)
    _check_resisted(model, description)
    return Robot(
        model,
        description,
        base,
        snap,
        tuple(builder.attachments),
        tuple(builder.snapped),
        (
            *description.warnings,
            *describe_mimics(description, mimic),
            *builder.warnings,
            *still,
            *left_out(description, dissipation),
            *overdetermined(contacts, model.sizes["nv"]),
        ),
        dissipation,
        tuple(followers.values()),
    )


def rebuilt(robot: Robot, description: Description, inertias: Mapping[str, Inertia]) -> Model:
    """The model of a robot with other lengths, from this description, and with other inertias of these links.

    Both may be symbols. Nothing is checked again.
    """
    followers = {follower.joint: follower for follower in robot.followers}
    builder = _Builder(description, robot.snap, robot.dissipation, followers, inertias)
    builder.walk(robot.base)
    known = known_frames(description, builder.attachments, robot.snap)
    loops, _ = model_loops(description.loops, known)
    frames = tuple(known[frame.name] for frame in robot.model.frames)
    return replace(
        robot.model,
        bodies=tuple(builder.finished_bodies()),
        loops=tuple(loops),
        frames=frames,
        contacts=model_contacts(description.contacts, known, description),
        distances=model_distances(description, known),
    )


def centroidal(link: Link, snap: float) -> tuple[float, Vector, Matrix]:
    """A link's mass, its centre of mass, and its inertia about this centre, in the link's axes.

    All are 0 if the link has no inertia in the file.
    """
    given = link.inertial
    if given is None:
        return 0, ZERO, ZERO_MATRIX
    rotation, _ = snap_rotation(rotation_from_rpy(*given.origin.rpy), snap)
    about_center = rotation.congruence(
        mirrored(
            [
                [given.ixx, given.ixy, given.ixz],
                [0, given.iyy, given.iyz],
                [0, 0, given.izz],
            ]
        )
    )
    return given.mass, Vector(*given.origin.xyz), about_center


class _Builder:
    """The walk over the links. `bodies` grows depth first, and `inertias` has the inertia of each body with
    the links that were merged into it.

    `given` has the inertias of links that replace those of the description.
    """

    def __init__(
        self,
        description: Description,
        snap: float,
        dissipation: Dissipation,
        followers: Mapping[str, Follower],
        given: Mapping[str, Inertia] = MappingProxyType({}),
    ) -> None:
        self.given = given
        self.description = description
        self.order = description.order
        self.dissipation = dissipation
        self.snap = snap
        self.followers = followers
        self.links = {link.name: link for link in description.links}
        self.children: dict[str, list[DescribedJoint]] = defaultdict(list)
        for joint in description.joints:
            self.children[joint.parent].append(joint)
        self.free = FreeNames(joint.name for joint in description.joints)
        self.bodies: list[Body] = []
        self.inertias: list[Inertia] = []
        self.attachments: list[Attachment] = []
        self.snapped: list[Snapped] = []
        self.warnings: list[str] = []

    def walk(self, base: Base) -> None:
        """Visits all links depth first, the children of a link in their order. A stack allows chains of any
        depth.
        """
        root = self.links[self.description.root]
        body = WORLD
        if base == "floating":
            body = self.add_body(
                root.name, self.free(BASE_JOINT), Floating(), ZERO, WORLD, NO_TRANSFORM, None
            )
        self.attach(root, body, NO_TRANSFORM, merged=base == "fixed")
        stack = self.pending(root, body, NO_TRANSFORM)
        while stack:
            joint, parent, frame = stack.pop()
            link = self.links[joint.child]
            placement = self.cleaned(frame @ self.placement(joint))
            if self.stands_still(joint):
                self.attach(link, parent, placement, merged=True)
                stack += self.pending(link, parent, placement)
            else:
                body = self.add_moving(link, joint, parent, placement)
                self.attach(link, body, NO_TRANSFORM, merged=False)
                stack += self.pending(link, body, NO_TRANSFORM)

    def pending(self, link: Link, body: int, frame: Transform) -> list[tuple[DescribedJoint, int, Transform]]:
        return [(joint, body, frame) for joint in reversed(ordered(self.children[link.name], self.order))]

    def placement(self, joint: DescribedJoint) -> Transform:
        """The placement of the joint at q = 0. Its rotation is snapped on its own, so that chains stay exact.

        The placement of a joint that follows another by k q + c includes the offset c, so that its own
        coordinate is k q.
        """
        rotation, change = snap_rotation(rotation_from_rpy(*joint.origin.rpy), self.snap)
        if change > ROUNDING:
            self.snapped.append(Snapped(joint.name, change))
        smallest = min((abs(x) for row in rotation for x in row if x != 0), default=1.0)
        if self.snap > 0 and smallest < ALMOST_RIGHT:
            self.warnings.append(
                f"{self.description.path}:{joint.line}: joint {quoted(joint.name)} is {smallest:.1e} off a "
                f"right angle, which costs operations; if it is meant to be right, pass "
                f"{both('snap', float(f'{2 * smallest:.0e}'))}"
            )
        origin = Transform(rotation, Vector(*joint.origin.xyz))
        if joint.name not in self.followers:
            return origin
        kind, offset = _type_of(joint), self.followers[joint.name].offset
        moved = kind.transform(self.axis(joint), kind.coordinate([offset], constant_angle))
        return origin @ moved

    def stands_still(self, joint: DescribedJoint) -> bool:
        """Whether the joint is fixed, or follows another joint with multiplier 0."""
        follower = self.followers.get(joint.name)
        return joint.type == "fixed" or (follower is not None and follower.multiplier == 0)

    def axis(self, joint: DescribedJoint) -> Vector:
        return snap_axis(Vector(*joint.axis), self.snap)

    def cleaned(self, placement: Transform) -> Transform:
        """The placement without the rounding errors of a chain of fixed rotations, which are snapped as
        well.
        """
        return Transform(snap_rotation(placement.rotation, self.snap)[0], placement.translation)

    def add_moving(self, link: Link, joint: DescribedJoint, parent: int, placement: Transform) -> int:
        """Adds the body of a moving joint's link, and returns its index. A universal joint becomes two
        revolute joints in series.
        """
        axis = self.axis(joint)
        if joint.type == "universal":
            first, second = (self.free(f"{joint.name}_{k}") for k in (1, 2))
            between = self.add_body(link.name, first, Revolute(), axis, parent, placement, joint, hidden=True)
            axis = snap_axis(Vector(*joint.second_axis), self.snap)
            return self.add_body(link.name, second, Revolute(), axis, between, NO_TRANSFORM, joint)
        return self.add_body(
            link.name, joint.name, _type_of(joint), axis, parent, placement, joint, hidden=link.hidden
        )

    def add_body(
        self,
        name: str,
        joint_name: str,
        kind: JointType,
        axis: Vector,
        parent: int,
        placement: Transform,
        described: DescribedJoint | None,
        *,
        hidden: bool = False,
    ) -> int:
        joint = Joint(
            joint_name,
            kind,
            axis,
            0,
            0,
            described.limit if described else None,
            self.resistance_of(described),
        )
        self.bodies.append(Body(name, parent, joint, placement, NO_INERTIA, hidden))
        self.inertias.append(NO_INERTIA)
        return len(self.bodies) - 1

    def resistance_of(self, described: DescribedJoint | None) -> Resistance:
        """The resistance of a joint of the description; a base has none."""
        if described is None:
            return Resistance()
        return resistance_of(described, self.dissipation, self.description.path)

    def attach(self, link: Link, body: int, frame: Transform, *, merged: bool) -> None:
        """Adds a link's inertia to the body that carries it. Links on the world do not move."""
        self.attachments.append(Attachment(link.name, body, frame, merged))
        if body != WORLD:
            self.inertias[body] = self.inertias[body] + self.inertia_of(link).transformed(frame)

    def inertia_of(self, link: Link) -> Inertia:
        """A link's ten parameters in the link's frame."""
        if link.name in self.given:
            return self.given[link.name]
        return (
            NO_INERTIA if link.inertial is None else Inertia.from_center_of_mass(*centroidal(link, self.snap))
        )

    def finished_bodies(self) -> list[Body]:
        """The bodies, with indices of their joints in q and v. Joints that follow others come after all
        others.
        """
        bodies = [replace(body, inertia=own) for body, own in zip(self.bodies, self.inertias, strict=True)]
        independent: dict[str, Joint] = {}
        nq = nv = 0
        for i in sorted(range(len(bodies)), key=lambda i: self.follower(bodies[i]) is not None):
            joint, follower = replace(bodies[i].joint, idx_q=nq, idx_v=nv), self.follower(bodies[i])
            if follower is None:
                independent[joint.name] = joint
            else:
                primary = independent[follower.primary]
                follows = Follows(primary.idx_q, primary.idx_v, follower.multiplier)
                # q of a follower does not include the offset, which is a part of the placement; the reference
                # is shifted even if there is no spring, because the stiffness may become an input
                own = joint.resistance
                resistance = replace(own, reference=own.reference - follower.offset)
                joint = replace(joint, follows=follows, resistance=resistance)
            bodies[i] = replace(bodies[i], joint=joint)
            nq, nv = nq + joint.nq, nv + joint.nv
        return bodies

    def follower(self, body: Body) -> Follower | None:
        """The law by which the body's joint follows another one; None for independent joints and for a
        floating base.
        """
        return None if body.floats else self.followers.get(body.joint.name)


def _type_of(joint: DescribedJoint) -> JointType:
    """The type of a moving joint, except for a universal joint, which becomes two joints."""
    return Helical(joint.pitch) if joint.type == "helical" else JOINT_TYPES[joint.type]


def _check_moving(model: Model, description: Description) -> None:
    if model.nv == 0:
        raise ModelError(
            f"{description.path}: the robot has no moving joint; nothing to generate with a fixed base: "
            f"pass {option('base', 'floating')} or add a joint"
        )


def _check_scales(model: Model, description: Description) -> None:
    """Refuses a robot with numbers so large or so small that doubles lose their digits."""
    found = out_of_scale(model)
    if found is not None:
        body = model.bodies[found[0]]
        raise ModelError(f"{_place(body, description)}: joint {quoted(body.joint.name)} {found[1]}")


def _check_resisted(model: Model, description: Description) -> None:
    """Refuses a robot whose inertia matrix is singular in every position."""
    unresisting = unresisted(model)
    if unresisting is None:
        return
    body = model.bodies[unresisting]
    if body.floats:
        remedy = f"give link {quoted(body.name)} mass and inertia, or pass {option('base', 'fixed')}"
    else:
        remedy = "give its links mass and inertia, or make the joint fixed"
    raise ModelError(
        f"{_place(body, description)}: nothing resists joint {quoted(body.joint.name)} in any position: what "
        "it moves has no inertia about it, or the joints behind it undo its motion, so that the inertia "
        f"matrix is singular; {remedy}"
    )


def _place(body: Body, description: Description) -> str:
    """The file and line of a body's joint, or those of the link if it floats."""
    joint = next((joint for joint in description.joints if joint.child == body.name), None)
    line = next(link.line for link in description.links if link.name == body.name)
    line = line if joint is None else joint.line
    return f"{description.path}:{line}"
