"""Input and output of emission: facts of a robot, functions as graphs, options, the files of a folder."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, cast

from rbdgen.emit.names import check_argument_name, check_identifier, check_robot_name
from rbdgen.emit.tools import Board, Kernels, ModuleFlags
from rbdgen.errors import EmitError
from rbdgen.graph.bounds.found import Bounds
from rbdgen.graph.cost import Cost
from rbdgen.graph.programs.program import Program
from rbdgen.machine import Real
from rbdgen.options import Trig
from rbdgen.runtime.configuration import Manifold
from rbdgen.signature import SizedSignature

MANIFEST: Final = "manifest.json"
PRIVATE: Final = "_rbdgen"
"""The folder of a generated package that holds its loader and the C that binds it to Python."""

ATTRIBUTES: Final = frozenset(
    {"library", "manifest", "joint_names", "idx_q", "idx_v", "frames", "contacts", "parameters"}
    | {"normalize", "neutral", "random", "full_configuration"}
    | {"release_memory", "limit_memory"}
)
"""The names that a generated package offers besides its functions."""

IN_PYTHON: Final = ("integrate", "difference")
"""The functions that are written in Python if no function of that name is generated."""


@dataclass(frozen=True)
class JointFacts:
    """A moving joint as the manifest lists it. Limits are in rad or m, and None if there is none."""

    name: str
    kind: str
    idx_q: int
    idx_v: int
    lower: float | None = None
    upper: float | None = None
    effort: float | None = None
    velocity: float | None = None


@dataclass(frozen=True)
class FollowerFacts:
    """A mimic joint as the manifest lists it: q = multiplier q_primary + offset.

    It has no elements in q and v. The offset is in rad or m; a joint with the multiplier 0 is fixed.
    """

    joint: str
    primary: str
    multiplier: float
    offset: float


@dataclass(frozen=True)
class BodyFacts:
    """A moving body as the manifest lists it: its joint, its placement at q = 0, and its inertia."""

    name: str
    parent: int
    """The index of the parent body, -1 for the world."""
    joint: str
    kind: str
    axis: tuple[float, ...]
    """The axis of the joint, in the joint's frame."""
    rotation: tuple[tuple[float, ...], ...]
    """The orientation of the joint's frame in the parent's frame."""
    translation: tuple[float, ...]
    """The origin of the joint's frame in the parent's frame, in m."""
    mass: float
    """The mass, in kg."""
    first_moment: tuple[float, ...]
    """The first moment of mass about the origin of the joint's frame, in kg m."""
    rotational_inertia: tuple[tuple[float, ...], ...]
    """The rotational inertia about the origin of the joint's frame, in kg m^2."""
    pitch: float | None = None
    """The pitch of a screw joint, in m/rad."""
    hidden: bool = False
    """Whether the body only connects two joints and takes no external force."""


@dataclass(frozen=True)
class ResistanceFacts:
    """The resistance of a joint: tau = ID + d v + f s(v) + k (q - q0) + A a, in SI units.

    The fields are d, f, e, k, q0 and A, in this order, where e is the velocity scale in s(v) = v / sqrt(v^2 +
    e^2). If e is 0, s(v) is the sign of v.
    """

    joint: str
    damping: float
    friction: float
    velocity_scale: float
    stiffness: float
    reference: float
    armature: float


@dataclass(frozen=True)
class FrameFacts:
    """A named frame, its body (the index, or -1 for the world) and its pose on that body, in m."""

    name: str
    body: int
    rotation: tuple[tuple[float, ...], ...]
    translation: tuple[float, ...]


@dataclass(frozen=True)
class LoopFacts:
    """A closed loop as the manifest lists it: its two frames, and the number of constraint rows, 3 or 6."""

    kind: str
    rows: int
    frames: tuple[FrameFacts, FrameFacts]


@dataclass(frozen=True)
class ContactFacts:
    """A contact as the manifest lists it."""

    name: str
    kind: str
    rows: int
    """The number of its constraint rows."""
    first_row: int
    """The index of its first row."""
    axes: int
    """The index of the body in whose axes the rows are expressed, -1 for the world."""
    ends: tuple[FrameFacts, ...]
    """The links and the points on them, in the axes of these links: one, or two for a closed loop."""
    touches: tuple[tuple[float, ...], ...]
    """The points that can touch the ground in steps with friction, from the contact's point and in the axes
    of its link: that point itself, or the corners of a sole. Contacts that stay closed have none.
    """


@dataclass(frozen=True)
class BaseFacts:
    """Base parameters R pi as the manifest lists them."""

    names: tuple[str, ...]
    """The inertial parameters whose columns of the regressor remain, such as "Ixx:forearm"."""
    matrix: tuple[tuple[float, ...], ...]
    """The matrix R by rows."""


@dataclass(frozen=True)
class ParameterFacts:
    """A number of the robot that stays an input, as the manifest lists it."""

    name: str
    default: float
    unit: str


@dataclass(frozen=True)
class LinkFacts:
    """A link whose inertial parameters are inputs, as the manifest lists it."""

    link: str
    about_center: bool
    """Whether `values` refer to the centre of mass."""
    values: tuple[float, ...]
    """The mass, then m c and the inertia about the origin, or c and the inertia about c (`about_center`)."""
    places: tuple[int | None, ...]
    """The index in p of each value, or None if the value is no parameter."""


@dataclass(frozen=True)
class CapsuleFacts:
    """A capsule on a body. Lengths are in m."""

    name: str
    link: str
    body: int
    """The index of the body, or -1 for the world."""
    center: tuple[float, ...]
    """In the frame of the body's joint, or in world axes."""
    axis: tuple[float, ...]
    half_length: float
    radius: float
    excess: float | None
    """The largest distance from its surface to the shape that it covers; None if it is not known."""


@dataclass(frozen=True)
class DistanceFacts:
    """The capsules and pairs of functions of distances."""

    capsules: tuple[CapsuleFacts, ...]
    pairs: tuple[str, ...]
    """The names of the pairs in the order of the results."""
    left_out: tuple[tuple[str, str, str], ...]
    """Pairs that are left out: two capsules and the reason."""
    obstacles: Mapping[str, int]
    """The number of obstacles of each kind."""
    groups: Mapping[str, tuple[int, ...]]
    """The pairs of each group that has a smooth minimum."""
    segments: str
    """The formula for the closest points of two segments, "plain" or "exact"."""
    floor: float
    """The rounding of the distance of axes, in m."""
    softmin: float
    """The sharpness of the smooth minimum, in 1/m."""


@dataclass(frozen=True)
class RobotFacts:
    """The facts of a robot that the emitted files state."""

    name: str
    """The checked identifier that is the prefix of every C name and the name of the Python package."""
    robot_name: str
    """The name in the URDF, which may be any text."""
    base: str
    nq: int
    nv: int
    nbodies: int
    joints: tuple[JointFacts, ...]
    """The moving joints in order, without the base."""
    urdf_sha256: str
    version: str
    manifold: Manifold
    """The meanings of the elements of q and v, including those of the base."""
    followers: tuple[FollowerFacts, ...] = ()
    """The mimic joints."""
    bodies: tuple[BodyFacts, ...] = ()
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)
    merged: tuple[tuple[str, str], ...] = ()
    """Pairs of a link and the body into which it was merged."""
    snapped: tuple[tuple[str, float], ...] = ()
    """Pairs of a joint and the largest change of an entry of its rotation."""
    warnings: tuple[str, ...] = ()
    """The warnings of the description, each `LINE: PROBLEM; REMEDY`, with what was done about the problem."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """The options of the generator, as JSON values."""
    resistance: tuple[ResistanceFacts, ...] = ()
    """The resistance of each joint that has some."""
    nloop: int = 0
    """The number of constraint rows of all closed loops."""
    loops: tuple[LoopFacts, ...] = ()
    independent_rows: tuple[int, ...] | None = None
    """A largest set of independent rows of the closed loops, or None if it is not known."""
    independent_velocities: tuple[int, ...] = ()
    """Elements of v that determine all others if the loops are closed; empty if not requested."""
    frames: tuple[FrameFacts, ...] = ()
    """The frames that were chosen for functions of frames, in order."""
    contacts: tuple[ContactFacts, ...] = ()
    """The contacts that functions use, in the order of their rows."""
    contact_sets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Names of some contacts, by the suffix of the functions that use only these."""
    contact_solver: tuple[int, ...] = ()
    """The plan of the solver for contacts with friction."""
    contact_with: tuple[str, ...] = ()
    """The options of steps with friction, such as "elastic"."""
    distances: DistanceFacts | None = None
    """The capsules and pairs of functions of distances; None if there are none."""
    own: tuple[str, ...] = ()
    """The names of the user's own functions."""
    base_parameters: BaseFacts | None = None
    """The base parameters, or None if no function uses them."""
    parameters: tuple[ParameterFacts, ...] = ()
    """The numbers of the robot that stay inputs."""
    parameter_links: tuple[LinkFacts, ...] = ()
    """The links to whose inertia the parameters belong."""
    log_cholesky: tuple[int, ...] = ()
    """The indices in p of the first of ten parameters that libraries compute from log-Cholesky parameters."""

    def __post_init__(self) -> None:
        check_robot_name(self.name)

    @property
    def floating(self) -> bool:
        return self.base == "floating"


@dataclass(frozen=True)
class FunctionSource:
    """A function that is ready to be printed."""

    signature: SizedSignature
    program: Program
    """The verified program for one state; its nodes stand in the order of the statements."""
    form: str
    """The form that was chosen."""
    axes: str
    cost: Cost
    doc: str
    """One line that says what the function computes."""
    alternatives: Mapping[str, Cost] = field(default_factory=dict)
    """The operation counts of the forms that were not chosen."""
    batch: Program | None = None
    """The verified program for many states, or None if the function has no batch function."""
    derivative_of: str | None = None
    """The name of the function whose derivatives the outputs are."""
    lanes: Program | None = None
    """The program with alike limbs as lanes. If it exists, it is printed for one state in place of
    `program`.
    """
    same_bits: bool = True
    """Whether `batch` computes the bits of a single call. Otherwise it is a program of its own."""
    dependence: Mapping[str, Mapping[str, tuple[int, ...]]] = field(default_factory=dict)
    """For a product with derivatives: the elements of each output that depend on each element of a direction,
    by output and direction (see `graph.programs.dependence`).
    """
    members: tuple[str, ...] = ()
    """The functions that it calls together."""
    bounds: Bounds | None = None
    """The bounds of its outputs; None unless they are asked for."""

    def __post_init__(self) -> None:
        name = check_identifier(self.signature.name)
        if name in ATTRIBUTES or name.startswith("_"):
            raise EmitError(f"a function cannot be named '{name}'; the generated package needs that name")
        for argument in (*self.signature.inputs, *self.signature.outputs):
            check_argument_name(argument.name)
        taken = [(x.name, x.size) for x in self.signature.inputs]
        given = [(x.name, x.shape) for x in self.signature.outputs]
        for program in (self.program, self.batch or self.program, self.printed):
            if taken != [(x.name, x.size) for x in program.inputs] or given != [
                (x.name, x.shape) for x in program.outputs
            ]:
                raise EmitError(f"{name}: a program's inputs and outputs are not those of the signature")

    @property
    def name(self) -> str:
        return self.signature.name

    @property
    def printed(self) -> Program:
        """The program from which the C for one state is printed."""
        return self.lanes or self.program


@dataclass(frozen=True)
class EmitOptions:
    """The style of the C."""

    real: Real = "double"
    trig: Trig = "libm"
    target: str = "host"
    extensions: bool = True
    """Whether compiler extensions, and libm beyond sine and cosine, are allowed (target host)."""
    nesting: int = 1
    """The largest number of levels of nested operations in one statement; see `emit.c.printer`."""
    prefix: str = ""
    """The prefix of the target's tools, for the build files of the folder."""
    flags: tuple[str, ...] = ("-O2", "-ffp-contract=off")
    """The flags of the target's compiler, for the build files of the folder."""
    module: ModuleFlags | None = None
    """The flags for a WebAssembly module; None if the target has none."""
    kernels: Kernels | None = None
    """The style of kernels of CUDA; None if the folder has none."""
    boards: tuple[Board, ...] = ()
    """The boards that run what is compiled from the folder."""
    emit: tuple[str, ...] = ()
    """The option `emit` of `Options`."""
    package: bool = True
    """Whether the folder is a Python package too."""

    @property
    def small_machine(self) -> bool:
        """Whether the C is for a cross compiler, that is, for a small machine without Python."""
        return bool(self.prefix)

    @property
    def small_float(self) -> bool:
        """Whether the manifest records the error of float: on small machines."""
        return self.real == "float" and self.small_machine


@dataclass(frozen=True)
class Sources:
    """The text files of a generated folder, by path in the folder, in order. The manifest is one of them."""

    name: str
    files: Mapping[str, str]

    @property
    def manifest(self) -> dict[str, Any]:
        return cast("dict[str, Any]", json.loads(self.files[MANIFEST]))

    def c_sources(self) -> Iterator[tuple[str, str]]:
        """The name of every function, with the path of its C file."""
        for name, facts in self.manifest["functions"].items():
            yield name, facts["source"]
