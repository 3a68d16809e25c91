"""The signature of an emitted function: one truth for C prototype, cffi, Python checks, docs and manifest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import prod
from typing import Final, Literal

MANIFEST_FORMAT: Final = 4
"""Of manifest.json: raised when a folder written before can no longer be opened."""

UPDATE: Final = "update"
"""The function that makes the table of parameters, where some of the robot stayed inputs."""

BAR: Final = "_bar"
"""Ends the name of a gradient: tau_bar is that of a loss by tau."""

DOT: Final = "_dot"
"""Ends the name of a rate: a_dot says how fast a changes."""

FLOATING: Final = "; a floating base first: "
"""In the meaning of an argument: what follows is of floating bases alone."""

Kind = Literal[
    "configuration",
    "velocity",
    "acceleration",
    "force",
    "external_forces",
    "matrix",
    "columns",
    "tensor",
    "torque_coefficients",
    "by_external_forces",
    "energy_coefficients",
    "scalar",
    "inertia",
    "sines",
    "cosines",
    "parameters",
    "table",
    "nonnegative",
    "time_step",
    "values",
]
"""What an array is, whatever its name.

`configuration`: where the joints stand (q). `velocity`, `acceleration`: vectors of the tangent space (v, a).
`force`: torques and forces of the joints (tau). `external_forces`: a force and a moment for every body.
`matrix`: degrees of freedom by degrees of freedom; `tensor`: with a third axis of them. `columns`: something
for every degree of freedom, which is its last axis, such as a Jacobian. `torque_coefficients`: degrees of
freedom by inertial parameters. `energy_coefficients`: a number for every inertial parameter. `scalar`: one
number, such as an energy. `inertia`: the ten parameters of a body. `sines`, `cosines`: of the angles in a
configuration. `parameters`: numbers of the robot that stay inputs; `table`: what the update function makes of
them. `nonnegative`: numbers that are not negative, such as which contacts hold. `time_step`: s.
`by_external_forces`: degrees of freedom by a force and a moment for every body. `values`: none of these.
"""

OF_JOINTS: Final[tuple[Kind, ...]] = (
    "configuration",
    "velocity",
    "acceleration",
    "force",
    "external_forces",
    "matrix",
)
"""Kinds of arrays whose elements belong to joints or bodies."""

CoordinatesKind = Literal["angle", "slide", "screw", "planar", "spherical", "floating"]
"""How a joint moves: by an angle in rad (`screw`: and slides in proportion), by a displacement in m, in a
plane (q = [x y angle]), about a point (q = [qx qy qz qw]) or freely (q = [x y z qx qy qz qw])."""


LAYOUTS: Final[Mapping[CoordinatesKind, str]] = {
    "planar": "q: x y angle; v: along the moved x and y, about z",
    "spherical": "q: quaternion x y z w; v: angular, in the moved axes",
    "floating": "q: x y z, quaternion x y z w; v: linear, angular, in the moved axes",
}
"""In words, of joints with several elements."""


@dataclass(frozen=True)
class JointCoordinates:
    """A joint's elements of q and v: q[idx_q : idx_q + nq] and v[idx_v : idx_v + nv]."""

    name: str
    kind: CoordinatesKind
    idx_q: int
    nq: int
    idx_v: int
    nv: int


@dataclass(frozen=True)
class Argument:
    """One array of a function.

    `shape` holds symbolic sizes ("nq", "nv", "nbodies", "ninertial", "nf") or integers, none for a scalar;
    `unit` is for people. `symmetric`: two axes, where exchanging them changes nothing, of a tensor but for
    those elements that a straight line gives values of their own; `packed`: whether it is always given
    packed, see `SizedArgument`; `default`: what each of its elements is where a call from Python leaves it
    out, None where it may not.
    """

    name: str
    kind: Kind
    shape: tuple[str | int, ...]
    unit: str
    meaning: str
    symmetric: tuple[int, int] | None = None
    packed: bool = False
    default: float | None = None

    def sized(self, sizes: Mapping[str, int]) -> SizedArgument:
        """The argument with the sizes of one robot filled in."""
        shape = tuple(sizes[n] if isinstance(n, str) else n for n in self.shape)
        default = None if self.default is None else (self.default,) * prod(shape)
        return SizedArgument(
            self.name, shape, self.unit, self.meaning, self.kind, self.symmetric, default=default
        )


@dataclass(frozen=True)
class SizedArgument:
    """An `Argument` of one robot: its shape is numbers; matrices are row-major.

    `nonzero`: the elements that are not always 0, by their row-major positions, ascending; None for all of
    them. A packed output holds these alone, in this order: its shape is their number, and `dense` that of
    the array that they are of. Of two elements there that the `symmetric` axes exchange, it leaves out the
    one with the lower index first where both are always the same. `default`: what a call from Python takes
    where it leaves the argument out, None where it may not.
    """

    name: str
    shape: tuple[int, ...]
    unit: str
    meaning: str
    kind: Kind = "values"
    symmetric: tuple[int, int] | None = None
    nonzero: tuple[int, ...] | None = None
    dense: tuple[int, ...] | None = None
    default: tuple[float, ...] | None = None

    @property
    def size(self) -> int:
        return prod(self.shape)


@dataclass(frozen=True)
class Signature:
    """What a function takes and gives, inputs first, in the order of the C prototype."""

    name: str
    inputs: tuple[Argument, ...]
    outputs: tuple[Argument, ...]

    def sized(self, sizes: Mapping[str, int]) -> SizedSignature:
        """The signature with the sizes of one robot filled in (`{"nq": 7, "nv": 7, "nbodies": 7}`)."""
        return SizedSignature(
            self.name,
            tuple(argument.sized(sizes) for argument in self.inputs),
            tuple(argument.sized(sizes) for argument in self.outputs),
        )


@dataclass(frozen=True)
class SizedSignature:
    """A `Signature` of one robot."""

    name: str
    inputs: tuple[SizedArgument, ...]
    outputs: tuple[SizedArgument, ...]

    def on_fixed_base(self) -> SizedSignature:
        """The same without a word of floating bases."""

        def fixed(arguments: tuple[SizedArgument, ...]) -> tuple[SizedArgument, ...]:
            return tuple(replace(x, meaning=x.meaning.partition(FLOATING)[0]) for x in arguments)

        return SizedSignature(self.name, fixed(self.inputs), fixed(self.outputs))

    @property
    def rolls(self) -> bool:
        """Whether it can follow itself: it gives its first inputs, the state, a time step later."""
        taken = [x.kind for x in self.inputs]
        return "time_step" in taken and [x.kind for x in self.outputs] == taken[: len(self.outputs)]


def ranges_text(numbers: Sequence[int]) -> str:
    """Ascending numbers in few words: "0-5 8 10-11"."""
    return " ".join(str(a) if a == b else f"{a}-{b}" for a, b in _ranges(numbers))


def numbers_of(text: str) -> tuple[int, ...]:
    """The numbers of such a text."""
    ends = ([int(number) for number in word.split("-")] for word in text.split())
    return tuple(number for first, *last in ends for number in range(first, (last or [first])[0] + 1))


def _ranges(numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    """First and last of every run of neighbours."""
    breaks = [k for k, (a, b) in enumerate(pairwise(numbers), 1) if b != a + 1]
    for start, end in pairwise([0, *breaks, len(numbers)]):
        if end > start:
            yield numbers[start], numbers[end - 1]
