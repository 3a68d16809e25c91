"""What emission takes and gives: facts of a robot, functions as graphs, options; the files of a folder."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from rbdgen.emit.names import check_argument_name, check_identifier, check_robot_name
from rbdgen.errors import EmitError
from rbdgen.graph.cost import Cost
from rbdgen.graph.programs.program import Program
from rbdgen.machine import Real
from rbdgen.options import Trig
from rbdgen.runtime.configuration import Manifold
from rbdgen.signature import SizedSignature

MANIFEST: Final = "manifest.json"
PRIVATE: Final = "_rbdgen"
"""Folder of a generated package that holds its loader and the C that binds it to Python."""

ATTRIBUTES: Final = frozenset(
    {"library", "manifest", "joint_names", "idx_q", "idx_v", "frames", "contacts", "parameters"}
    | {"normalize", "neutral", "random", "full_configuration"}
    | {"release_memory", "limit_memory"}
)
"""What a generated package offers beside its functions."""

IN_PYTHON: Final = ("integrate", "difference")
"""What it offers in Python where no function of that name is generated."""


@dataclass(frozen=True)
class JointFacts:
    """A moving joint as the manifest lists it; limits in rad or m, None where there is none."""

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
    """A joint that another one moves, as the manifest lists it: q = multiplier q_primary + offset.

    It has no place in q and v. `offset` in rad or m; a joint with the multiplier 0 stands still.
    """

    joint: str
    primary: str
    multiplier: float
    offset: float


@dataclass(frozen=True)
class BodyFacts:
    """A moving body as the manifest lists it: its joint, its placement at q = 0, its inertia.

    `parent`: index, -1 for the world; `axis` in the joint's frame, `pitch` in m/rad where it is a screw,
    `hidden` where it only stands between two joints and takes no external force; `rotation`, `translation`:
    the joint's frame in the parent's, m; `mass`, `first_moment`, `rotational_inertia`: about the origin of
    the joint's frame, kg, kg m, kg m^2.
    """

    name: str
    parent: int
    joint: str
    kind: str
    axis: tuple[float, ...]
    rotation: tuple[tuple[float, ...], ...]
    translation: tuple[float, ...]
    mass: float
    first_moment: tuple[float, ...]
    rotational_inertia: tuple[tuple[float, ...], ...]
    pitch: float | None = None
    hidden: bool = False


@dataclass(frozen=True)
class ResistanceFacts:
    """What a joint sets against its motion: tau = ID + d v + f s(v) + k (q - q0) + A a, in SI units.

    `velocity_scale`: e of s(v) = v / sqrt(v^2 + e^2), 0 for the sign of v; the others in the order above.
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
    """A named frame: on the body of this index, -1 for the world, placed there; m."""

    name: str
    body: int
    rotation: tuple[tuple[float, ...], ...]
    translation: tuple[float, ...]


@dataclass(frozen=True)
class LoopFacts:
    """A closed loop as the manifest lists it: two frames, and what it holds of them, 3 or 6 rows."""

    kind: str
    rows: int
    frames: tuple[FrameFacts, FrameFacts]


@dataclass(frozen=True)
class ContactFacts:
    """A contact as the manifest lists it: `rows` of them, from `first_row` on, in the axes of the body of
    index `axes`, -1 for the world; `ends`: links and points
    in their axes, one or (a loop) two."""

    name: str
    kind: str
    rows: int
    first_row: int
    axes: int
    ends: tuple[FrameFacts, ...]


@dataclass(frozen=True)
class BaseFacts:
    """Base parameters R pi as the manifest lists them: the inertial parameters whose columns of the regressor
    stay, such as "Ixx:forearm", and R by rows."""

    names: tuple[str, ...]
    matrix: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class ParameterFacts:
    """A number of the robot that stays an input, as the manifest lists it."""

    name: str
    default: float
    unit: str


@dataclass(frozen=True)
class LinkFacts:
    """A link with inertial parameters: `values`: mass, then m c and the inertia about the origin, or, where
    `about_center`, c and the inertia about it; `places`: of each in p, None where it is no parameter."""

    link: str
    about_center: bool
    values: tuple[float, ...]
    places: tuple[int | None, ...]


@dataclass(frozen=True)
class RobotFacts:
    """All that the emitted files say of a robot.

    `name` is the checked identifier that prefixes every C name and names the Python package; `robot_name`
    is what the URDF says, any text. `joints` are the moving joints in order, without the base; `manifold`:
    what the elements of q and v are, the base's with them; `followers`: joints that others move. `merged`:
    (link, body it was merged into). `snapped`: (joint, largest change of an entry of its rotation).
    `warnings`: `LINE: what is odd in the URDF; what was done about it`.
    `options`: what generated it, as JSON values. `resistance`: of the joints that have some. `nloop`: rows of
    all closed `loops`; `independent_rows`: those of them that say all, None where that is not known;
    `independent_velocities`: elements of v that say all others where loops are closed, none if not asked for;
    `frames`: those chosen for functions of frames, in order; `contacts`: those that functions are of, in the
    order of their rows, `contact_sets`: names of some of them, by the suffix of functions of these alone;
    `base_parameters`: those that a function is of,
    None where none is; `parameters`: those that stay inputs, `parameter_links`: the links whose inertia they
    are of.
    """

    name: str
    robot_name: str
    base: str
    nq: int
    nv: int
    nbodies: int
    joints: tuple[JointFacts, ...]
    urdf_sha256: str
    version: str
    manifold: Manifold
    followers: tuple[FollowerFacts, ...] = ()
    bodies: tuple[BodyFacts, ...] = ()
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)
    merged: tuple[tuple[str, str], ...] = ()
    snapped: tuple[tuple[str, float], ...] = ()
    warnings: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    resistance: tuple[ResistanceFacts, ...] = ()
    nloop: int = 0
    loops: tuple[LoopFacts, ...] = ()
    independent_rows: tuple[int, ...] | None = None
    independent_velocities: tuple[int, ...] = ()
    frames: tuple[FrameFacts, ...] = ()
    contacts: tuple[ContactFacts, ...] = ()
    contact_sets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    base_parameters: BaseFacts | None = None
    parameters: tuple[ParameterFacts, ...] = ()
    parameter_links: tuple[LinkFacts, ...] = ()

    def __post_init__(self) -> None:
        check_robot_name(self.name)

    @property
    def floating(self) -> bool:
        return self.base == "floating"


@dataclass(frozen=True)
class FunctionSource:
    """A function ready to print.

    `program` computes one state, `batch` many, None for a function that has no batch function; both are
    verified, and nodes stand in the order of the statements. `form` is the chosen form; `alternatives` are
    the operation counts of the forms that were not. `doc`: one line, what it computes; `derivative_of`: the
    function whose derivatives its outputs are; `lanes`: the same program with alike limbs as lanes; what is
    printed for one state where there is one; `dependence`: of a product with derivatives, which elements of
    outputs depend on which of its directions, by output and direction, see `graph.programs.dependence`.
    """

    signature: SizedSignature
    program: Program
    form: str
    axes: str
    cost: Cost
    doc: str
    alternatives: Mapping[str, Cost] = field(default_factory=dict)
    batch: Program | None = None
    derivative_of: str | None = None
    lanes: Program | None = None
    dependence: Mapping[str, Mapping[str, tuple[int, ...]]] = field(default_factory=dict)

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
        """What the C of one state is printed from."""
        return self.lanes or self.program


@dataclass(frozen=True)
class EmitOptions:
    """How the C looks.

    `extensions`: compiler extensions and libm beyond sine and cosine are allowed (target host);
    `nesting`: levels of single-use operations inside one statement, see `emit.c.printer`; `prefix`, `flags`:
    of the target's tools and compiler, for the build files of the folder; `emit`, `knots`: as in `Options`.
    """

    real: Real = "double"
    trig: Trig = "libm"
    target: str = "host"
    extensions: bool = True
    nesting: int = 1
    prefix: str = ""
    flags: tuple[str, ...] = ("-O2", "-ffp-contract=off")
    emit: tuple[str, ...] = ()
    knots: int = 1

    @property
    def small_machine(self) -> bool:
        """Whether another machine's compiler is needed: a small one's, without Python."""
        return bool(self.prefix)

    @property
    def small_float(self) -> bool:
        """Whether what float costs in accuracy goes into the manifest: on small machines."""
        return self.real == "float" and self.small_machine


@dataclass(frozen=True)
class Sources:
    """The text files of a generated folder, by path inside it, in order; the manifest is among them."""

    name: str
    files: Mapping[str, str]

    @property
    def manifest(self) -> dict[str, Any]:
        manifest: dict[str, Any] = json.loads(self.files[MANIFEST])
        return manifest

    def c_sources(self) -> Iterator[tuple[str, str]]:
        """Every function with its C file."""
        for name, facts in self.manifest["functions"].items():
            yield name, facts["source"]
