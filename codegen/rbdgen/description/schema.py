"""The frozen types of a robot description: names and numbers as the file gives them, and the root of the
tree.

All units are SI (m, rad, kg, kg m^2, N, N m, s). `line` is the line of the element in the file.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from rbdgen.description import capsules
from rbdgen.description.contacts import DEFAULT_PLAN, Contact, ContactSet, Extra, SolverPlan
from rbdgen.description.solids import OnLink

Vector3 = capsules.Vector3
JointType = Literal[
    "revolute", "continuous", "prismatic", "fixed", "planar", "floating", "spherical", "helical", "universal"
]
"""URDF has no spherical, helical or universal joints; the other formats have some of them."""


@dataclass(frozen=True, slots=True)
class Origin:
    """The pose of an inner frame in an outer one: r_outer = R r_inner + xyz, R = Rz(yaw) Ry(pitch)
    Rx(roll)."""

    xyz: Vector3 = (0.0, 0.0, 0.0)  # m
    rpy: Vector3 = (0.0, 0.0, 0.0)  # roll, pitch, yaw about the fixed axes of the outer frame, rad


@dataclass(frozen=True, slots=True)
class Inertial:
    """The mass of a link, and its rotational inertia about the centre of mass, in the axes of `origin`."""

    origin: Origin  # a frame at the centre of mass, in the link's frame
    mass: float  # kg, never negative
    ixx: float  # kg m^2, and so the others
    ixy: float
    ixz: float
    iyy: float
    iyz: float
    izz: float
    line: int


@dataclass(frozen=True, slots=True)
class Limit:
    """The limits of a joint; None if the file gives none. Continuous joints have no position limits."""

    lower: float | None  # rad or m
    upper: float | None  # rad or m
    effort: float | None  # N m or N
    velocity: float | None  # rad/s or m/s


@dataclass(frozen=True, slots=True)
class Mimic:
    """The law by which a joint follows another: q = multiplier q_joint + offset."""

    joint: str  # the name of the joint that it follows
    multiplier: float
    offset: float  # rad or m


@dataclass(frozen=True, slots=True)
class Joint:
    """A joint. Its frame coincides with the frame of the child link at q = 0."""

    name: str
    type: JointType
    parent: str  # the name of the parent link
    child: str  # the name of the child link
    origin: Origin  # the frame of the joint in the parent link's frame
    axis: Vector3  # of unit length, in the joint's frame
    limit: Limit | None
    damping: float  # N m s/rad or N s/m
    friction: float  # N m or N
    mimic: Mimic | None  # None for fixed joints
    line: int
    pitch: float = 0.0  # of a helical joint, m/rad; the lead of the thread is 2 pi times the pitch
    second_axis: Vector3 = (0.0, 0.0, 0.0)  # of a universal joint, in the child's axes
    armature: float = 0.0  # the inertia of the motor's rotor, reflected to the joint, kg m^2 or kg
    stiffness: float = 0.0  # of a spring, N m/rad or N/m
    spring_reference: float = 0.0  # the position at which the spring is at rest, rad or m


@dataclass(frozen=True, slots=True)
class Link:
    """A rigid body."""

    name: str
    inertial: Inertial | None  # None if the file gives none
    line: int
    hidden: bool = False  # whether it is a massless link between two joints of one body: `fext` leaves it out


Order = Literal["name", "file"]

LoopKind = Literal["point", "frame"]
"""The parts that a closed loop keeps together: the origins of its two frames, or the whole frames."""


@dataclass(frozen=True, slots=True)
class Loop:
    """A closed loop: two frames that stay together."""

    frame1: str  # the name of a link, or "world"
    frame2: str
    kind: LoopKind
    where: str  # what messages call the place that defines the loop
    origin1: Origin = Origin()  # the constrained frame in the axes of `frame1`
    origin2: Origin = Origin()
    asked: bool = True  # whether the user defined the loop, rather than the file


@dataclass(frozen=True, slots=True)
class Place:
    """A frame on a link that is not itself a link: a site of MJCF, an operational frame of Pinocchio."""

    name: str
    link: str | None  # the name of the link; None for the world
    origin: Origin


@dataclass(frozen=True, slots=True)
class File:
    """The file of a description, from which its shapes are read when they are needed."""

    path: str  # absolute
    form: Literal["urdf", "mjcf"]
    data: bytes  # the contents of the file, or the URDF that a xacro expands to


@dataclass(frozen=True, slots=True)
class Description:
    """A robot whose links and joints form one tree."""

    name: str
    links: tuple[Link, ...]  # in the order of the file
    joints: tuple[Joint, ...]  # in the order of the file
    root: str  # the name of the link at the root of the tree
    path: str  # the path of the file, as given
    sha256: str  # of the file's bytes, in hexadecimal
    warnings: tuple[str, ...]  # each `FILE:LINE: what is odd; what was done about it`
    floating: bool = False  # whether the file itself states that the root moves freely
    loops: tuple[Loop, ...] = ()
    contacts: tuple[Contact, ...] = ()
    contact_sets: tuple[ContactSet, ...] = ()
    contact_solver: SolverPlan = DEFAULT_PLAN
    contact_with: tuple[Extra, ...] = ()
    distances: capsules.Distances = field(default_factory=capsules.Distances)
    places: tuple[Place, ...] = ()
    gravity: Vector3 | None = None  # m/s^2 in world axes; None if the description gives none
    order: Order = "name"  # the order of the joints below a link: by name, or as in the file
    lines: bool = True  # whether messages about several links or joints give the line of each
    file: File | None = field(default=None, compare=False, repr=False)  # None if it was not read from a file
    solids: tuple[OnLink, ...] = field(default=(), compare=False, repr=False)  # of a robot built in Python
