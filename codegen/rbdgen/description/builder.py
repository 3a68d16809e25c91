"""Builds a robot in Python, body by body, instead of reading it from a file."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain
from numbers import Real
from typing import Any, TypeVar, get_args

from rbdgen.description.quoting import quoted, told
from rbdgen.description.schema import (
    Description,
    Inertial,
    Joint,
    JointType,
    Limit,
    Link,
    Loop,
    LoopKind,
    Mimic,
    Origin,
    Vector3,
)
from rbdgen.description.solids import OnLink, Solid, SolidRole, solids_of
from rbdgen.errors import DescriptionError

_TYPES: tuple[JointType, ...] = get_args(JointType)
_WITH_AXIS = ("revolute", "continuous", "prismatic", "helical", "universal")
_NO_AXIS: dict[JointType, Vector3] = {"planar": (0.0, 0.0, 1.0)}
_ZERO = (0.0, 0.0, 0.0)
_SYMMETRY = 1e-9
"""The largest difference of two symmetric entries of an inertia matrix, relative to its largest entry."""

_Built = TypeVar("_Built", bound="RobotBuilder")


class RobotBuilder:
    """Builds a robot body by body; `rbdgen.load_robot` accepts a builder in place of a path.

        arm = rbdgen.RobotBuilder("arm")
        arm.add_body("base")
        arm.add_body("upper", parent="base", type="revolute", axis=(0, 1, 0), xyz=(0, 0, 0.3),
                     mass=2.0, com=(0, 0, 0.2), inertia=(0.02, 0.02, 0.001))
        robot = rbdgen.load_robot(arm)

    The first body is the root. Messages name a body by its number, `robot 'arm', body:2`.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._path = f"robot {quoted(str(name))}, body"
        self._links: list[Link] = []
        self._joints: list[Joint] = []
        self._loops: list[Loop] = []
        self._solids: list[OnLink] = []
        self._name(name, "the robot")

    def add_body(
        self: _Built,
        name: str,
        *,
        parent: str | None = None,
        joint: str | None = None,
        type: JointType | None = None,
        axis: Sequence[float] | None = None,
        second_axis: Sequence[float] | None = None,
        pitch: float | None = None,
        xyz: Sequence[float] = _ZERO,
        rpy: Sequence[float] = _ZERO,
        mass: float | None = None,
        com: Sequence[float] = _ZERO,
        inertia: Sequence[float] | Sequence[Sequence[float]] = _ZERO,
        limit: tuple[float, float] | None = None,
        effort: float | None = None,
        velocity: float | None = None,
        damping: float | None = None,
        friction: float | None = None,
        armature: float | None = None,
        stiffness: float | None = None,
        spring_reference: float | None = None,
        mimic: tuple[str, float, float] | None = None,
        visual: Solid | Sequence[Solid] = (),
        collision: Solid | Sequence[Solid] = (),
    ) -> _Built:
        """Adds a body and the joint above it; the first body, the root, has no joint.

        Args:
            name: the name of the body.
            parent: the name of the parent body.
            joint: the name of the joint; None means NAME_joint.
            type: "revolute", "continuous", "prismatic", "fixed", "planar" (in the x-y plane of its frame),
                "floating", "spherical", "helical" or "universal".
            axis: the axis of the joint in the body's frame, of any length. It is required for revolute,
                continuous, prismatic, helical and universal joints, and not allowed for others. For a
                universal joint it is the first axis, at q = 0.
            second_axis: the second axis of a universal joint, in the body's frame.
            pitch: the pitch of a helical joint, m/rad; the lead of the thread is 2 pi times the pitch.
            xyz: the position of the body's frame in the parent's frame at q = 0, m.
            rpy: its orientation at q = 0, rad: rotations about the parent's x, then y, then z axis.
            mass: the mass, kg; None for a frame without mass.
            com: the centre of mass in the body's frame, m.
            inertia: the rotational inertia about the centre of mass, in axes parallel to the body's, kg m^2:
                three numbers (ixx, iyy, izz), six (ixx, ixy, ixz, iyy, iyz, izz), or a symmetric 3 x 3
                matrix.
            limit: the lowest and the highest position, rad or m. Only steps with friction enforce them, on
                request.
            effort: the largest torque or force, N m or N; stored, but never enforced.
            velocity: the largest velocity, rad/s or m/s; stored, but never enforced.
            damping: the viscous damping of the joint, N m s/rad or N s/m; used only if `load_robot` is called
                with `damping`.
            friction: the Coulomb friction of the joint, N m or N; used only if `load_robot` is called with
                `friction`.
            armature: the inertia of the motor's rotor, reflected to the joint, kg m^2 or kg: n^2 J for a
                rotor of inertia J that turns n times as fast as the joint.
            stiffness: the stiffness of a spring at the joint, N m/rad or N/m.
            spring_reference: the position at which the spring is at rest, rad or m; 0 if not given.
            mimic: (joint, multiplier, offset), such as ("left_finger", -1, 0). This joint follows the named
                one: q = multiplier q_joint + offset, with the offset in rad or m.
            visual: what the body looks like: one shape or several of `rbdgen.Box`, `Sphere`, `Cylinder`,
                `Capsule`, `Ellipsoid` and `Mesh`, such as [rbdgen.Box((0.1, 0.1, 0.3), xyz=(0, 0, 0.15))].
                Without it, the shapes for collision are drawn.
            collision: the shapes with which the body touches other things, for contacts and distances.

        Returns:
            The builder.

        Raises:
            DescriptionError: an argument is wrong; the message is one line. `description` checks what depends
                on several bodies, such as joints that form a loop.
        """
        self._name(name, "the body")
        origin = Origin(self._vector("xyz", xyz), self._vector("rpy", rpy))
        link = Link(name, self._inertial(mass, com, inertia), self._line)
        shapes = [*self._on_link(name, "visual", visual), *self._on_link(name, "collision", collision)]
        given = (axis, second_axis, pitch, limit, effort, velocity)
        resistance = {
            "damping": damping,
            "friction": friction,
            "armature": armature,
            "stiffness": stiffness,
            "spring_reference": spring_reference,
        }
        if self._links:
            made = self._joint(name, parent, joint, type, origin, *given)
            self._joints.append(self._with_more(made, resistance, mimic))
        elif any(x is not None for x in (parent, joint, type, mimic, *given, *resistance.values())) or (
            origin != Origin()
        ):
            what = f"{quoted(name)} is the first body, the root, which no joint moves"
            raise self._error(what, "leave out parent, joint, type, axis, xyz, rpy and all else of a joint")
        self._links.append(link)
        self._solids += shapes
        return self

    def add_loop(self: _Built, frame1: str, frame2: str, kind: LoopKind = "frame") -> _Built:
        """Adds a closed loop: a constraint that keeps two frames together, in addition to the joints of the
        tree.

            linkage.add_loop("coupler_tip", "rocker_tip", "point")

        Args:
            frame1: a body, which may be fixed to its parent, or "world".
            frame2: another body, or "world".
            kind: "frame" if the two frames coincide; "point" if only their origins do, as in a ball joint.

        Returns:
            The builder.

        Raises:
            DescriptionError: `kind` is neither of these. `load_robot` checks that the bodies exist.
        """
        if kind not in get_args(LoopKind):
            told = quoted(str(kind))
            raise self._error(f"the kind of the loop is {told}", "give frame or point")
        where = f"robot {quoted(self.name)}, loop:{len(self._loops) + 1}"
        self._loops.append(Loop(str(frame1), str(frame2), kind, where))
        return self

    def description(self) -> Description:
        """The description of the robot. Raises DescriptionError if its bodies and joints form no tree."""
        from rbdgen.description.assembly import assembled  # noqa: PLC0415  (keeps `import rbdgen` quick)

        tree = assembled(self.name, self._links, self._joints, self._path)
        return replace(tree, loops=tuple(self._loops), solids=tuple(self._solids))

    @property
    def _line(self) -> int:
        return len(self._links) + 1

    def _error(self, what: str, what_to_do: str) -> DescriptionError:
        return DescriptionError(self._path, self._line, what, what_to_do)

    def _name(self, name: object, of: str) -> None:
        """Raises DescriptionError for a name that is empty or not printable."""
        if not (isinstance(name, str) and name.strip() and name.isprintable()):
            raise self._error(f"{quoted(str(name))} is no name for {of}", "give a text of printable letters")

    def _on_link(self, link: str, role: SolidRole, given: object) -> list[OnLink]:
        """The shapes of an argument of `add_body`, with their numbers checked."""
        solids = solids_of(role, given, self._numbers, self._error)
        return [OnLink(link, role, solid, self._line) for solid in solids]

    def _type(self, joint: str, given: JointType | None) -> JointType:
        for known in _TYPES:
            if given == known:
                return known
        named = "no type" if given is None else f"the type {quoted(str(given))}, which is not supported"
        raise self._error(f"joint {quoted(joint)} has {named}", f"choose from: {', '.join(_TYPES)}")

    def _joint(
        self,
        name: str,
        parent: str | None,
        joint: str | None,
        given: JointType | None,
        origin: Origin,
        axis: Sequence[float] | None,
        second_axis: Sequence[float] | None,
        pitch: float | None,
        limit: Sequence[float] | None,
        effort: float | None,
        velocity: float | None,
    ) -> Joint:
        label = f"{name}_joint" if joint is None else joint
        self._name(label, "the joint")
        if parent is None:
            raise self._error(f"{quoted(name)} has no parent", "name the body that carries it")
        kind = self._type(label, given)
        for what, value, wanted in (
            ("axis", axis, kind in _WITH_AXIS),
            ("second_axis", second_axis, kind == "universal"),
            ("pitch", pitch, kind == "helical"),
        ):
            if wanted and value is None:
                raise self._error(f"{kind} joint {quoted(label)} has no {what}", f"give {what}")
            if value is not None and not wanted:
                raise self._error(f"{kind} joint {quoted(label)} has a {what}", f"leave {what} out")
        return Joint(
            name=label,
            type=kind,
            parent=str(parent),
            child=name,
            origin=origin,
            axis=_NO_AXIS.get(kind, (1.0, 0.0, 0.0)) if axis is None else self._unit("axis", label, axis),
            limit=self._limit(kind, limit, effort, velocity),
            damping=0.0,
            friction=0.0,
            mimic=None,
            line=self._line,
            pitch=0.0 if pitch is None else self._numbers("pitch", [pitch], (1,))[0],
            second_axis=_ZERO if second_axis is None else self._unit("second_axis", label, second_axis),
        )

    def _with_more(
        self, joint: Joint, resistance: dict[str, float | None], mimic: tuple[str, float, float] | None
    ) -> Joint:
        """The joint with its damping, friction, armature and spring, and with the joint that it follows."""
        given = {what: value for what, value in resistance.items() if value is not None}
        if joint.type == "fixed" and (given or mimic is not None):
            what = f"fixed joint {quoted(joint.name)} has {', '.join([*given] or ['mimic'])}"
            raise self._error(what, "leave it out")
        numbers: dict[str, Any] = {
            what: self._numbers(what, [value], (1,))[0] for what, value in given.items()
        }
        for what, value in numbers.items():
            if value < 0 and what != "spring_reference":
                raise self._error(
                    f"{what} of joint {quoted(joint.name)} is {value:g}", "give a number of 0 or more"
                )
        return replace(joint, mimic=self._mimic(joint.name, mimic), **numbers)

    def _mimic(self, joint: str, given: tuple[str, float, float] | None) -> Mimic | None:
        if given is None:
            return None
        if not (isinstance(given, Sequence) and len(given) == 3 and isinstance(given[0], str)):
            what = f"mimic of joint {quoted(joint)} is {told(given)}"
            raise self._error(what, "give (joint, multiplier, offset)")
        return Mimic(given[0], *self._numbers("multiplier and offset of mimic", given[1:], (2,)))

    def _unit(self, what: str, joint: str, axis: Sequence[float]) -> Vector3:
        given = self._vector(what, axis)
        if math.hypot(*given) < 1e-9:
            told = f"{what} of joint {quoted(joint)} has zero length"
            raise self._error(told, "give a direction, such as (0, 0, 1)")
        from rbdgen.description.soundness import unit  # noqa: PLC0415  (keeps `import rbdgen` quick)

        return unit(*given)

    def _limit(
        self,
        kind: JointType,
        limit: Sequence[float] | None,
        effort: float | None,
        velocity: float | None,
    ) -> Limit | None:
        if limit is None and effort is None and velocity is None:
            return None
        ends: Sequence[float | None] = (None, None)
        if limit is not None:
            if kind not in ("revolute", "prismatic", "helical"):
                raise self._error(f"a {kind} joint has no limit of position", "leave limit out")
            ends = self._numbers("limit", limit, (2,))
        effort, velocity = (
            None if value is None else self._numbers(what, [value], (1,))[0]
            for what, value in (("effort", effort), ("velocity", velocity))
        )
        return Limit(ends[0], ends[1], effort, velocity)

    def _inertial(
        self,
        mass: float | None,
        com: Sequence[float],
        inertia: Sequence[float] | Sequence[Sequence[float]],
    ) -> Inertial | None:
        center, moments = self._vector("com", com), self._moments(inertia)
        if mass is None:
            if any(center) or any(moments):
                raise self._error("com and inertia are given without a mass", "give mass")
            return None
        (kilograms,) = self._numbers("mass", [mass], (1,))
        if kilograms < 0:
            raise self._error(f"mass is {kilograms:g} kg, less than zero", "give a mass of zero or more")
        ixx, ixy, ixz, iyy, iyz, izz = moments
        return Inertial(Origin(center), kilograms, ixx, ixy, ixz, iyy, iyz, izz, self._line)

    def _moments(self, given: Sequence[float] | Sequence[Sequence[float]]) -> list[float]:
        """ixx, ixy, ixz, iyy, iyz, izz of any of the forms that `add_body` accepts."""
        rows: list[Any] = list(given) if isinstance(given, Iterable) else []
        if len(rows) == 3 and all(isinstance(row, Iterable) for row in rows):
            m = self._numbers("inertia", list(chain.from_iterable(rows)), (9,))
            most = _SYMMETRY * max(map(abs, m))
            if max(abs(m[1] - m[3]), abs(m[2] - m[6]), abs(m[5] - m[7])) > most:
                raise self._error("inertia is not symmetric", "give a symmetric matrix, or six numbers")
            return [m[0], m[1], m[2], m[4], m[5], m[8]]
        values = self._numbers("inertia", given, (3, 6))
        return values if len(values) == 6 else [values[0], 0.0, 0.0, values[1], 0.0, values[2]]

    def _vector(self, what: str, given: Sequence[float]) -> Vector3:
        x, y, z = self._numbers(what, given, (3,))
        return x, y, z

    def _numbers(self, what: str, given: object, counts: tuple[int, ...]) -> list[float]:
        """The given numbers as floats. Raises DescriptionError unless they are finite and their number is one
        of `counts`."""
        values = []
        if isinstance(given, Iterable):
            values = [float(x) if isinstance(x, Real) else math.nan for x in given]
        if len(values) not in counts or not all(map(math.isfinite, values)):
            wanted = " or ".join(map(str, counts))
            told = quoted(" ".join(repr(given).split()))[1:-1]
            raise self._error(
                f"{what} is {told}", f"give {wanted} finite number{'' if wanted == '1' else 's'}"
            )
        return values
