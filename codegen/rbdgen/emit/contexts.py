"""What the templates see of a robot and its functions: printed strings, nothing to compute."""

from __future__ import annotations

from dataclasses import dataclass

from rbdgen.emit.names import comment_text, unique_identifiers
from rbdgen.emit.numbers import literal
from rbdgen.emit.package import (
    ContactFacts,
    EmitOptions,
    FunctionSource,
    JointFacts,
    ResistanceFacts,
    RobotFacts,
)
from rbdgen.emit.pattern import pattern_lines
from rbdgen.emit.real import real_type
from rbdgen.runtime.configuration import Manifold
from rbdgen.signature import LAYOUTS, SizedArgument, SizedSignature


@dataclass(frozen=True)
class CArgument:
    """A function's array: `parameter` and `plain` declare it with and without the restrict macro.

    `shape`: as Python's NumPy takes it; `pattern`: lines that tell which of its elements may be other than 0;
    `optional`: whether a call from Python may leave it out; `control`: whether each step has its own.
    """

    name: str
    parameter: str
    plain: str
    size: int
    shape: str
    doc: str
    step: str
    pattern: tuple[str, ...]
    optional: bool
    control: bool


@dataclass(frozen=True)
class CFunction:
    """A function for header, source and binding; `file` and `batch` name its C files.

    `in_place`: whether it has a twin that writes its result over its first input; `rolls`: whether it has
    one that repeats it, each time from the state before.
    """

    name: str
    symbol: str
    file: str
    batch: str
    doc: str
    counts: str
    inputs: tuple[CArgument, ...]
    outputs: tuple[CArgument, ...]
    in_place: bool = False
    rolls: bool = False

    @property
    def rollout(self) -> str:
        """The name of the function that repeats it."""
        return f"{self.symbol}_rollout"

    @property
    def twin(self) -> str:
        """The name of that twin."""
        return f"{self.symbol}_in_place"

    @property
    def twin_parameters(self) -> tuple[str, ...]:
        """Its parameters: the first input can be written to."""
        first, *others = self.inputs
        return (first.parameter.removeprefix("const "), *(argument.parameter for argument in others))

    @property
    def arguments(self) -> tuple[CArgument, ...]:
        return self.inputs + self.outputs


@dataclass(frozen=True)
class CJoint:
    """A joint's row of the header; `macro` follows `<ROBOT>_Q_` and `<ROBOT>_V_`."""

    macro: str
    comment: str
    idx_q: int
    idx_v: int


@dataclass(frozen=True)
class CFrame:
    """A chosen frame's row of the header; `macro` follows `<ROBOT>_FRAME_`."""

    macro: str
    comment: str


@dataclass(frozen=True)
class CContact:
    """A contact's row of the header; `macro` follows `<ROBOT>_CONTACT_` and `<ROBOT>_ROW_`."""

    macro: str
    comment: str
    first_row: int


@dataclass(frozen=True)
class CParameter:
    """An element of p; `macro` follows `<ROBOT>_P_`."""

    macro: str
    comment: str
    index: int
    default: str


@dataclass(frozen=True)
class CRobot:
    """What every C file of a robot shares; texts from the description are escaped for comments.

    `resistance`: what joints set against their motion, a line a joint; `parameters`: what stays an input.
    """

    name: str
    macro: str
    title: str
    version: str
    base: str
    nq: int
    nv: int
    nbodies: int
    real: str
    fabs: str
    trig: str
    target: str
    joints: tuple[CJoint, ...]
    resistance: tuple[str, ...]
    parameters: tuple[CParameter, ...]
    frames: tuple[CFrame, ...]
    contacts: tuple[CContact, ...]
    contact_rows: int

    @property
    def of(self) -> str:
        """What the functions are of: the robot, or any body where there is none."""
        return f"the robot '{self.title}'" if self.nbodies else self.title

    @property
    def subject(self) -> str:
        """What the functions are about."""
        return f"rigid-body dynamics of {self.of}, {self.base} base" if self.nbodies else self.title


def robot_context(facts: RobotFacts, options: EmitOptions) -> CRobot:
    """The robot for all templates."""
    real = real_type(options.real)
    macros = unique_identifiers(joint.name for joint in facts.joints)
    return CRobot(
        facts.name,
        facts.name.upper(),
        comment_text(facts.robot_name),
        comment_text(facts.version),
        comment_text(facts.base),
        facts.nq,
        facts.nv,
        facts.nbodies,
        real.name,
        real.fabs,
        options.trig,
        comment_text(options.target),
        tuple(
            CJoint(macro.upper(), comment_text(_joint_text(joint, facts.manifold)), joint.idx_q, joint.idx_v)
            for macro, joint in zip(macros, facts.joints, strict=True)
        ),
        tuple(map(_resistance, facts.resistance)),
        tuple(
            CParameter(
                macro.upper(), comment_text(f"{row.name}, {row.unit}"), k, literal(row.default, options.real)
            )
            for k, (macro, row) in enumerate(
                zip(unique_identifiers(x.name for x in facts.parameters), facts.parameters, strict=True)
            )
        ),
        _frames(facts),
        _contacts(facts),
        sum(contact.rows for contact in facts.contacts),
    )


def _frames(facts: RobotFacts) -> tuple[CFrame, ...]:
    """The chosen frames, in order."""
    macros = unique_identifiers(frame.name for frame in facts.frames)
    carriers = {-1: "the world"} | {i: body.name for i, body in enumerate(facts.bodies)}
    return tuple(
        CFrame(macro.upper(), comment_text(f"{frame.name}, on {carriers[frame.body]}"))
        for macro, frame in zip(macros, facts.frames, strict=True)
    )


def _contacts(facts: RobotFacts) -> tuple[CContact, ...]:
    """The contacts, in order."""
    macros = unique_identifiers(contact.name for contact in facts.contacts)
    return tuple(
        CContact(macro.upper(), comment_text(f"{x.name}: {contact_text(x)}"), x.first_row)
        for macro, x in zip(macros, facts.contacts, strict=True)
    )


def contact_text(contact: ContactFacts) -> str:
    """What a contact holds, and of which links: "point of foot", "frame, loop of hand and handle"."""
    links = " and ".join(end.name for end in contact.ends)
    return f"{contact.kind}{', loop' if len(contact.ends) > 1 else ''} of {links}"


def _joint_text(joint: JointFacts, manifold: Manifold) -> str:
    """Its name, and what its elements are where it has several."""
    (kind,) = (row.kind for row in manifold.joints if row.idx_q == joint.idx_q)
    return f"{joint.name}; {LAYOUTS[kind]}" if kind in LAYOUTS else joint.name


def _resistance(row: ResistanceFacts) -> str:
    values = {
        "d": row.damping,
        "f": row.friction,
        "e": row.velocity_scale,
        "k": row.stiffness,
        "q0": row.reference,
        "A": row.armature,
    }
    told = ", ".join(f"{name} = {value!r}" for name, value in values.items() if value != 0)
    return f"{comment_text(row.joint)}: {told}"


def function_context(
    facts: RobotFacts, function: FunctionSource, real: str, *, counted: bool = False
) -> CFunction:
    """Names, prototype and documentation of a function. `counted`: every loop has a number of runs that is
    known, so that none repeats the function as often as wanted."""
    restrict = f"{restrict_macro(facts.name)} "
    return CFunction(
        function.name,
        f"{facts.name}_{function.name}",
        f"{facts.name}_{function.name}.c",
        f"{facts.name}_{function.name}_batch.c",
        comment_text(
            f"{function.doc}; form {function.form} ({function.axes})" if function.form else function.doc
        ),
        str(function.cost).replace(" =", " operations ="),
        tuple(_argument(x, f"const {real} *", restrict) for x in function.signature.inputs),
        tuple(_argument(x, f"{real} *", restrict) for x in function.signature.outputs),
        _in_place(function.signature),
        function.signature.rolls and not counted,
    )


def _in_place(signature: SizedSignature) -> bool:
    """Whether an inertia becomes an inertia."""
    return signature.inputs[0].kind == "inertia" and [x.kind for x in signature.outputs] == ["inertia"]


def _argument(argument: SizedArgument, pointer: str, restrict: str) -> CArgument:
    shape = f" ({' x '.join(map(str, argument.shape))}, row-major)" if len(argument.shape) > 1 else ""
    return CArgument(
        argument.name,
        f"{pointer}{restrict}{argument.name}",
        f"{pointer}{argument.name}",
        argument.size,
        str(argument.size) if len(argument.shape) == 1 else str(argument.shape),
        comment_text(f"{argument.name}[{argument.size}]{shape}, {argument.unit}: {argument.meaning}"),
        f"{argument.name}_step",
        pattern_lines(argument),
        argument.default is not None,
        argument.kind == "force",
    )


def restrict_macro(name: str) -> str:
    """What the header calls C's restrict, for compilers of C++ too."""
    return f"{name.upper()}_RESTRICT"
