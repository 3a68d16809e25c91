"""The contexts of the templates for a robot and its functions: finished texts, which templates only place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from rbdgen.emit.names import RESERVED, comment_text, unique_identifiers
from rbdgen.emit.numbers import literal
from rbdgen.emit.package import (
    ContactFacts,
    EmitOptions,
    FrameFacts,
    FunctionSource,
    JointFacts,
    ParameterFacts,
    ResistanceFacts,
    RobotFacts,
)
from rbdgen.emit.pattern import pattern_lines
from rbdgen.emit.real import real_type
from rbdgen.emit.text import release_of
from rbdgen.runtime.configuration import Manifold
from rbdgen.signature import Rolling, SizedArgument, SizedSignature


@dataclass(frozen=True)
class CArgument:
    """An array argument of a function."""

    name: str
    parameter: str
    """The declaration of the argument with the restrict macro."""
    plain: str
    """The declaration of the argument without the restrict macro."""
    size: int
    shape: str
    """Its shape as NumPy takes it."""
    doc: str
    """One line that describes it."""
    step: str
    """The name of the C variable for the distance between the array's rows of two states."""
    owner: str
    """The type by which C++ returns it: `matrix` for two axes, else `std::array`."""
    pattern: tuple[str, ...]
    """Lines that say which of its elements may be other than 0."""
    optional: bool
    """Whether a call from Python may omit it."""
    control: bool = False
    """Whether each step of a rollout has its own value."""
    each: str = ""
    """The name of the C variable for the distance between the values for two steps of a rollout; empty
    if the caller has no choice."""


@dataclass(frozen=True)
class CFunction:
    """A function as the header, the source and the Python binding show it."""

    name: str
    symbol: str
    file: str
    """The name of its C file."""
    batch: str
    """The name of the C file of its batch function."""
    doc: str
    counts: str
    """The number of its operations by kind, in words."""
    inputs: tuple[CArgument, ...]
    outputs: tuple[CArgument, ...]
    in_place: bool = False
    """Whether it has a twin that writes its result over its first input."""
    rolling: Rolling | None = None
    """Describes its rollout, which calls it once for each step; None if it has no rollout."""

    @property
    def rollout(self) -> str:
        """The name of its rollout."""
        return f"{self.symbol}_rollout"

    @property
    def rolls(self) -> bool:
        return self.rolling is not None

    @property
    def state(self) -> tuple[CArgument, ...]:
        """The inputs that are the state of a rollout."""
        return self.inputs[: self.rolling.state] if self.rolling else ()

    @property
    def next_state(self) -> tuple[CArgument, ...]:
        """The outputs that are the state at the end of a step."""
        return self.outputs[: len(self.state)]

    @property
    def further(self) -> tuple[CArgument, ...]:
        """The outputs of a step besides the state."""
        return self.outputs[len(self.state) :]

    @property
    def control(self) -> CArgument:
        """The input of which each step of a rollout has its own value."""
        assert self.rolling
        return self.inputs[self.rolling.control]

    @property
    def twin(self) -> str:
        """The name of its twin that works in place."""
        return f"{self.symbol}_in_place"

    @property
    def twin_parameters(self) -> tuple[str, ...]:
        """The parameters of the twin, which can write to the first input."""
        first, *others = self.inputs
        return (first.parameter.removeprefix("const "), *(argument.parameter for argument in others))

    @property
    def arguments(self) -> tuple[CArgument, ...]:
        return self.inputs + self.outputs


Facts = TypeVar("Facts", JointFacts, FrameFacts, ContactFacts, ParameterFacts)


@dataclass(frozen=True)
class CRow(Generic[Facts]):
    """A row of facts of the robot, as in the manifest, with the texts that only the C header needs."""

    macro: str
    """The end of the names of its macros, such as `<ROBOT>_Q_<macro>`."""
    comment: str
    facts: Facts

    @property
    def identifier(self) -> str:
        """The name of the row in a namespace of C++."""
        name = self.macro.lower()
        return f"{name}_" if name in RESERVED else name


@dataclass(frozen=True)
class CRobot:
    """The context that all C files of a robot share. Texts from the robot's description are escaped for
    comments.
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
    joints: tuple[CRow[JointFacts], ...]
    resistance: tuple[str, ...]
    """Lists damping, friction, stiffness and armature, in one line for each joint that has some."""
    parameters: tuple[CRow[ParameterFacts], ...]
    """The numbers of the robot that stay inputs."""
    defaults: tuple[str, ...]
    """The default values of these parameters, as C literals."""
    frames: tuple[CRow[FrameFacts], ...]
    contacts: tuple[CRow[ContactFacts], ...]
    contact_rows: int

    @property
    def release(self) -> str:
        """The version as build tools take it."""
        return release_of(self.version)

    @property
    def of(self) -> str:
        """The owner of the functions: the robot, or the title alone if there is no body."""
        return f"the robot '{self.title}'" if self.nbodies else self.title

    @property
    def subject(self) -> str:
        """The quantities that the functions compute."""
        return f"rigid-body dynamics of {self.of}, {self.base} base" if self.nbodies else self.title


def robot_context(facts: RobotFacts, options: EmitOptions) -> CRobot:
    """The robot as all templates see it."""
    real = real_type(options.real)
    carriers = {-1: "the world"} | {i: body.name for i, body in enumerate(facts.bodies)}
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
        _rows(facts.joints, lambda joint: _joint_text(joint, facts.manifold)),
        tuple(map(_resistance, facts.resistance)),
        _rows(facts.parameters, lambda row: f"{row.name}, {row.unit}"),
        tuple(literal(row.default, options.real) for row in facts.parameters),
        _rows(facts.frames, lambda frame: f"{frame.name}, on {carriers[frame.body]}"),
        _rows(facts.contacts, lambda contact: f"{contact.name}: {contact_text(contact)}"),
        sum(contact.rows for contact in facts.contacts),
    )


def _rows(facts: Sequence[Facts], comment: Callable[[Facts], str]) -> tuple[CRow[Facts], ...]:
    """The rows of facts, each with a macro that no other row has."""
    macros = unique_identifiers(row.name for row in facts)
    return tuple(
        CRow(macro.upper(), comment_text(comment(row)), row) for macro, row in zip(macros, facts, strict=True)
    )


def contact_text(contact: ContactFacts) -> str:
    """The constraint and the links of a contact: "point of foot", "frame, loop of hand and handle"."""
    links = " and ".join(end.name for end in contact.ends)
    kind = "sole" if len(contact.touches) > 1 else contact.kind
    return f"{kind}{', loop' if len(contact.ends) > 1 else ''} of {links}"


def _joint_text(joint: JointFacts, manifold: Manifold) -> str:
    """The joint's name, followed by the meaning of its elements if it has several."""
    (layout,) = (row.space.layout for row in manifold.joints if row.idx_q == joint.idx_q)
    return f"{joint.name}; {layout}" if layout else joint.name


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
    """Names, prototype and documentation of a function.

    If `counted` is set, every loop must have a known number of runs, so the function gets no rollout.
    """
    restrict = f"{restrict_macro(facts.name)} "
    inputs = [_argument(x, f"const {real} *", restrict) for x in function.signature.inputs]
    rolling = None if counted else function.signature.rolling
    if rolling:
        inputs[rolling.control] = replace(inputs[rolling.control], control=True)
        for k in rolling.further:
            inputs[k] = replace(inputs[k], each=f"{inputs[k].name}_each")
    return CFunction(
        function.name,
        f"{facts.name}_{function.name}",
        f"{facts.name}_{function.name}.c",
        f"{facts.name}_{function.name}_batch.c",
        comment_text(
            f"{function.doc}; form {function.form} ({function.axes})" if function.form else function.doc
        ),
        str(function.cost).replace(" =", " operations ="),
        tuple(inputs),
        tuple(_argument(x, f"{real} *", restrict) for x in function.signature.outputs),
        _in_place(function.signature),
        rolling,
    )


def _in_place(signature: SizedSignature) -> bool:
    """Whether the function maps one inertia to another."""
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
        f"matrix<{', '.join(map(str, argument.shape))}>"
        if len(argument.shape) == 2
        else f"std::array<real, {argument.size}>",
        pattern_lines(argument),
        argument.default is not None,
    )


def restrict_macro(name: str) -> str:
    """The macro in the header that stands for C's restrict, because C++ compilers also read the header."""
    return f"{name.upper()}_RESTRICT"
