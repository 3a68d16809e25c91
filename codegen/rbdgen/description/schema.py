"""What a robot description says, as frozen types: the file's names and numbers, nothing derived but the root.

SI units throughout (m, rad, kg, kg m^2, N, N m, s). `line` is the line of the element in the file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rbdgen.description.contacts import Contact, ContactSet

Vector3 = tuple[float, float, float]
JointType = Literal[
    "revolute", "continuous", "prismatic", "fixed", "planar", "floating", "spherical", "helical", "universal"
]
"""A spherical, helical or universal joint has no name in URDF; other descriptions do."""


@dataclass(frozen=True, slots=True)
class Origin:
    """A frame seen from another: r_outer = R r_inner + xyz with R = Rz(yaw) Ry(pitch) Rx(roll)."""

    xyz: Vector3 = (0.0, 0.0, 0.0)  # m
    rpy: Vector3 = (0.0, 0.0, 0.0)  # rad: roll, pitch, yaw about the outer frame's fixed axes


@dataclass(frozen=True, slots=True)
class Inertial:
    """Mass and inertia in the axes of `origin`, a frame that stands at the centre of mass."""

    origin: Origin  # in the link's frame
    mass: float  # kg, never negative
    ixx: float  # kg m^2
    ixy: float
    ixz: float
    iyy: float
    iyz: float
    izz: float
    line: int


@dataclass(frozen=True, slots=True)
class Limit:
    """A joint's limits; None where the file says nothing (`continuous` joints have no position limits)."""

    lower: float | None  # rad or m
    upper: float | None  # rad or m
    effort: float | None  # N m or N
    velocity: float | None  # rad/s or m/s


@dataclass(frozen=True, slots=True)
class Mimic:
    """q = multiplier q_joint + offset."""

    joint: str
    multiplier: float
    offset: float  # rad or m


@dataclass(frozen=True, slots=True)
class Joint:
    """A joint; its frame, also the child link's frame at q = 0, stands at `origin` in the parent link."""

    name: str
    type: JointType
    parent: str
    child: str
    origin: Origin
    axis: Vector3  # of unit length, in the joint's frame
    limit: Limit | None
    damping: float  # N m s/rad or N s/m
    friction: float  # N m or N
    mimic: Mimic | None  # None on fixed joints
    line: int
    pitch: float = 0.0  # m/rad, of a helical joint: a thread's lead is 2 pi times it
    second_axis: Vector3 = (0.0, 0.0, 0.0)  # of a universal joint, in the child's axes
    armature: float = 0.0  # kg m^2 or kg: of a motor's rotor as the joint feels it
    stiffness: float = 0.0  # N m/rad or N/m, of a spring
    spring_reference: float = 0.0  # rad or m: where the spring rests


@dataclass(frozen=True, slots=True)
class Link:
    """A rigid body; `inertial` is None where the file gives none.

    `hidden`: it only stands between two joints of one body, massless; no external force acts on it.
    """

    name: str
    inertial: Inertial | None
    line: int
    hidden: bool = False


Order = Literal["name", "file"]

LoopKind = Literal["point", "frame"]
"""What a loop holds together: the origins of its frames, or their axes as well."""


@dataclass(frozen=True, slots=True)
class Loop:
    """Two frames that stay together: each `origin` in a link, or in the world.

    `where`: how messages name the place that says so; `asked`: whether the user did, not a file.
    """

    frame1: str
    frame2: str
    kind: LoopKind
    where: str
    origin1: Origin = Origin()
    origin2: Origin = Origin()
    asked: bool = True


@dataclass(frozen=True, slots=True)
class Place:
    """A frame that a link carries and that is no link: a site of MJCF, an operational frame of Pinocchio.

    `link`: its name, None for the world.
    """

    name: str
    link: str | None
    origin: Origin


@dataclass(frozen=True, slots=True)
class Description:
    """A robot whose links and joints form one tree under the link `root`; both in the order of the file.

    `gravity`: in m/s^2, world axes, None where the description has none; `order`: of the joints below a link,
    that of the file or by name; `lines`: whether the lines of links and joints are where all of them is said,
    so that a message about several of them names each.
    """

    name: str
    links: tuple[Link, ...]
    joints: tuple[Joint, ...]
    root: str
    path: str  # as given
    sha256: str  # of the file's bytes, in hexadecimal
    warnings: tuple[str, ...]  # each `FILE:LINE: what is odd; what was done about it`
    floating: bool = False  # whether the file itself says that the root moves freely
    loops: tuple[Loop, ...] = ()
    contacts: tuple[Contact, ...] = ()
    contact_sets: tuple[ContactSet, ...] = ()
    places: tuple[Place, ...] = ()
    gravity: Vector3 | None = None
    order: Order = "name"
    lines: bool = True
