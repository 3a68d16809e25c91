"""Signatures of emitted functions.

C prototypes, cffi declarations, checks of Python arguments, documentation and manifest are made from them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, takewhile
from math import ceil, floor, log2, prod
from typing import Final, Literal, NamedTuple, TypeVar

MANIFEST_FORMAT: Final = 5
"""The version of manifest.json. It increases when older folders can no longer be opened."""

UPDATE: Final = "update"
"""The name of the function that computes the table of parameters, if some parameters stayed inputs."""

BAR: Final = "_bar"
"""The suffix of gradients: tau_bar is the gradient of a loss with respect to tau."""

DOT: Final = "_dot"
"""The suffix of rates: a_dot is the rate of a."""

FLOATING: Final = "; a floating base first: "
"""Separates the meaning of an argument from the part that only applies to robots with a floating base."""

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
    "coefficients",
    "time_step",
    "held",
    "planes",
    "error",
    "obstacles",
    "outward_planes",
    "values",
]
"""The kind of an array, which does not depend on its name:

- `configuration`: q. `velocity`, `acceleration`: vectors of the tangent space (v, a).
- `force`: torques and forces of the joints (tau). `external_forces`: a force and a moment for every body.
- `matrix`: (nv, nv). `tensor`: (nv, nv, nv). `columns`: the last axis has nv elements, as in a Jacobian.
- `torque_coefficients`: (nv, ninertial). `energy_coefficients`: a number for every inertial parameter.
- `by_external_forces`: nv rows, each with a force and a moment for every body.
- `scalar`: one number, such as an energy. `inertia`: the ten parameters of a body. `time_step`: in s.
- `sines`, `cosines`: those of the angles of a configuration.
- `parameters`: parameters of the robot that stay inputs. `table`: computed from them by the update function.
- `nonnegative`: numbers that are not negative, such as which contacts are closed. No derivatives are taken
  with respect to them.
- `coefficients`: numbers that are not negative, such as those of friction.
- `held`: numbers by which no derivative is taken, such as targets, limits, and weights of a user's own
  function.
- `planes`: a unit normal and an offset in each row.
- `error`: an error that is 0 except for rounding, so that it has no relative error.
- `obstacles`: shapes of one kind, one in each row. `outward_planes`: obstacles that are planes, as unit
  normals and offsets. No derivatives are taken with respect to either.
- `values`: none of these.
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


BY_LIMB: Final = frozenset({"nv", "njoints", "nbodies", "ninertial", "nc", "ncontacts", "nanchor", "nshare"})
"""Sizes of axes along which each joint, body or contact has elements of its own."""


OBSTACLES: Final[tuple[Kind, ...]] = ("obstacles", "outward_planes")
"""The kinds of inputs that are obstacles."""


@dataclass(frozen=True)
class Argument:
    """One array of a function."""

    name: str
    kind: Kind
    shape: tuple[str | int, ...]
    """Integers or symbolic sizes ("nq", "nv", "nbodies", "ninertial", "nf"); empty for a scalar."""
    unit: str
    meaning: str
    symmetric: tuple[int, int] | None = None
    """Two axes whose exchange changes nothing. In a tensor, single elements may still differ."""
    packed: bool = False
    """Whether it is always packed, see `SizedArgument`."""
    default: float | tuple[float, ...] | None = None
    """The value of every element, or the values along the last axis, if a call from Python leaves the
    argument out; None if it must be given.
    """
    range: tuple[float, float] | None = None
    """The least and the largest value for which it is meant; None for all."""
    optional: bool = False
    """Whether the functions of a robot for which it has no element do not take it."""

    @property
    def can_be_by_limb(self) -> bool:
        """Whether it is known which of its elements belong to a limb, because each of its axes is over
        joints, bodies or contacts. Axes of the same length for all robots belong to no limb. A single number,
        such as an energy, is left out, because every joint may add a term to it.
        """
        by_limb = all(isinstance(n, int) or n in BY_LIMB for n in self.shape)
        return self.kind in OF_JOINTS or (by_limb and self.kind != "scalar")

    def sized(self, sizes: Mapping[str, int]) -> SizedArgument:
        """The argument with the sizes of one robot filled in."""
        shape = tuple(sizes[n] if isinstance(n, str) else n for n in self.shape)
        default: tuple[float, ...] | None = None
        if self.default is not None:
            values = self.default if isinstance(self.default, tuple) else (self.default,)
            default = values * (prod(shape) // len(values))
        return SizedArgument(
            self.name,
            shape,
            self.unit,
            self.meaning,
            self.kind,
            self.symmetric,
            default=default,
            range=self.range,
        )


@dataclass(frozen=True)
class SizedArgument:
    """An `Argument` for one robot. Its shape has numbers, and matrices are row-major.

    A packed output only holds the elements that are not always 0, in row-major order. If two elements are
    always equal because the array is symmetric, it holds the one in the lower triangle.
    """

    name: str
    shape: tuple[int, ...]
    unit: str
    meaning: str
    kind: Kind = "values"
    symmetric: tuple[int, int] | None = None
    nonzero: tuple[int, ...] | None = None
    """The row-major positions of the elements that are not always 0, ascending; None for all elements."""
    dense: tuple[int, ...] | None = None
    """The shape of the whole array if the output is packed; None if it is not."""
    default: tuple[float, ...] | None = None
    """The value if a call from Python leaves the argument out; None if it must be given."""
    range: tuple[float, float] | None = None
    """The least and the largest value for which it is meant; None for all."""

    @property
    def size(self) -> int:
        return prod(self.shape)


SomeArgument = TypeVar("SomeArgument", Argument, SizedArgument)


@dataclass(frozen=True)
class Signature:
    """The inputs and outputs of a function, in the order of the C prototype."""

    name: str
    inputs: tuple[Argument, ...]
    outputs: tuple[Argument, ...]

    def sized(self, sizes: Mapping[str, int]) -> SizedSignature:
        """The signature with the sizes of one robot filled in (`{"nq": 7, "nv": 7, "nbodies": 7}`)."""
        inputs, outputs = (
            tuple(sized for x in some if (sized := x.sized(sizes)).size or not x.optional)
            for some in (self.inputs, self.outputs)
        )
        return SizedSignature(self.name, inputs, outputs)


@dataclass(frozen=True)
class SizedSignature:
    """A `Signature` for one robot."""

    name: str
    inputs: tuple[SizedArgument, ...]
    outputs: tuple[SizedArgument, ...]

    def on_fixed_base(self) -> SizedSignature:
        """The signature without the parts of meanings that only apply to a floating base."""

        def fixed(arguments: tuple[SizedArgument, ...]) -> tuple[SizedArgument, ...]:
            return tuple(replace(x, meaning=x.meaning.partition(FLOATING)[0]) for x in arguments)

        return SizedSignature(self.name, fixed(self.inputs), fixed(self.outputs))

    @property
    def rolling(self) -> Rolling | None:
        """The description of its rollouts, or None if the function is not an integration step."""
        return rolling_of(self.inputs, self.outputs)


class Rolling(NamedTuple):
    """Describes the rollouts of an integration step, which call it once for each step."""

    state: int
    """The number of its first inputs that are the state, and of its first outputs that are the next one."""
    control: int
    """The index of the input that has a value for each step."""
    further: tuple[int, ...]
    """The indices of the inputs that have one value for all steps or, if the caller says so, one for each."""
    feedback: bool
    """Whether the state is q and v alone, on which feedback can act."""


_OF_ROLLOUTS: Final[tuple[Kind, ...]] = ("time_step", "parameters", "table")
"""Kinds of inputs that have one value for all steps of a rollout."""


def rolling_of(inputs: Sequence[SomeArgument], outputs: Sequence[SomeArgument]) -> Rolling | None:
    """Describe the rollouts of a function. Returns None if the function is not an integration step.

    The first inputs of a step are the state, and its first outputs are the state one time step later, of the
    same kinds and shapes. Among the other inputs are the time step and the torques. If the state begins with
    q and v, there may be further outputs.
    """
    kinds = [x.kind for x in inputs]
    pairs = zip(inputs, outputs, strict=False)
    alike = takewhile(lambda pair: (pair[0].kind, pair[0].shape) == (pair[1].kind, pair[1].shape), pairs)
    state = sum(1 for _ in alike)
    joints = kinds[: min(state, 2)] == ["configuration", "velocity"]
    whole = state == len(outputs) or joints
    if not (whole and "time_step" in kinds[state:] and "force" in kinds[state:]):
        return None
    control = kinds.index("force", state)
    others = [k for k in range(state, len(kinds)) if k != control]
    further = tuple(k for k in others if kinds[k] not in _OF_ROLLOUTS)
    return Rolling(state, control, further, joints and state == 2)


RANGE_STEPS: Final = 256
"""The least number of values of a range that self-tests draw."""


def range_steps(ends: tuple[float, float]) -> tuple[int, int, float]:
    """The values of a range that self-tests draw: `(first + k) step` for k from 0 to below `count`.

    The step is a power of two, so that float and double numbers have the same values. The result is first,
    count and step. The count is less than `RANGE_STEPS` if the numbers have too few digits for the range.
    """
    low, high = ends
    step = 2.0 ** max(floor(log2((high - low) / RANGE_STEPS)), ceil(log2(max(abs(low), abs(high)))) - 24)
    first = ceil(low / step)
    return first, floor(high / step) - first + 1, step


def ranges_text(numbers: Sequence[int]) -> str:
    """Ascending numbers as a text with ranges: "0-5 8 10-11"."""
    return " ".join(str(a) if a == b else f"{a}-{b}" for a, b in _ranges(numbers))


def numbers_of(text: str) -> tuple[int, ...]:
    """The numbers of a text with ranges, see `ranges_text`."""
    ends = ([int(number) for number in word.split("-")] for word in text.split())
    return tuple(number for first, *last in ends for number in range(first, (last or [first])[0] + 1))


def _ranges(numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    """The first and the last number of every run of consecutive numbers."""
    breaks = [k for k, (a, b) in enumerate(pairwise(numbers), 1) if b != a + 1]
    for start, end in pairwise([0, *breaks, len(numbers)]):
        if end > start:
            yield numbers[start], numbers[end - 1]
