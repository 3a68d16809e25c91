"""The inputs and outputs of a user's own function, as a signature."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final

from rbdgen.emit.names import check_argument_name, check_own_names
from rbdgen.emit.reserved import OF_ROLLOUTS
from rbdgen.errors import EmitError, OptionError
from rbdgen.functions.arguments import FEXT, TAU, A, Q, V
from rbdgen.functions.table import check_own_name
from rbdgen.signature import BAR, DOT, RANGE_STEPS, Argument, Signature, range_steps, rolling_of

DT: Final = Argument("dt", "time_step", (), "s", "the time step")

CALLED_WITH: Final = ("out", "threads")
"""The arguments that calls from Python take besides those of the function."""

TABLE: Final = "table"
"""The input of functions whose parameters stay inputs."""

KNOWN: Final[Mapping[str, Argument]] = MappingProxyType({x.name: x for x in (Q, V, A, TAU, FEXT, DT)})
"""The arrays whose shapes and units depend on the robot, by name."""

SIZES: Final = ("nq", "nv", "nx", "njoints", "nbodies", "ninertial", "nloop", "nf", "nc", "ncontacts")
"""The sizes of a robot that shapes may name."""


@dataclass(frozen=True)
class Quantity:
    """An input or output of a user's own function.

    Args:
        unit: the SI unit, such as "N m". It appears only in documentation.
        shape: numbers or sizes of the robot, such as 3, ("nf", 3) or "nv". The default is a single number.
        held: whether derivatives are not taken with respect to this input, as for targets and weights.
        range: the least and the largest value for which an input is meant. Self-tests draw it from this
            range; otherwise they draw numbers of either sign.
        symmetric: whether a square matrix is symmetric. Of such an input only the lower triangle is read.
        meaning: a few words for the documentation.

    Raises:
        OptionError: a size of the shape is unknown, the unit is not a text, the range is not sound, or a
            symmetric quantity is not square.
    """

    unit: str = "1"
    shape: int | str | tuple[int | str, ...] = ()
    held: bool = False
    range: tuple[float, float] | None = None
    symmetric: bool = False
    meaning: str = ""

    def __post_init__(self) -> None:
        shape = self.shape if isinstance(self.shape, tuple) else (self.shape,)
        for size in shape:
            counts = isinstance(size, int) and not isinstance(size, bool) and size > 0
            if not (counts or (isinstance(size, str) and size in SIZES)):
                raise OptionError(f"shape {shape!r}: give positive integers, or sizes: {', '.join(SIZES)}")
        object.__setattr__(self, "shape", shape)
        if not isinstance(self.unit, str):
            raise OptionError(f"unit {self.unit!r} is not a text; give the SI unit, such as 'N m'")
        if self.range is not None:
            object.__setattr__(self, "range", _range(self.range))
        if self.symmetric and not (len(shape) == 2 and shape[0] == shape[1]):
            raise OptionError(
                f"shape {shape!r}: a symmetric quantity is a square matrix; leave symmetric out"
            )

    def argument(self, name: str) -> Argument:
        """The quantity as an argument of a function."""
        assert isinstance(self.shape, tuple)
        return Argument(
            name,
            "held" if self.held else "values",
            self.shape,
            self.unit,
            self.meaning or name.replace("_", " "),
            (0, 1) if self.symmetric else None,
            range=self.range,
        )


def _range(given: Any) -> tuple[float, float]:
    low, high = given if isinstance(given, (tuple, list)) and len(given) == 2 else (math.nan, math.nan)
    for value in (low, high):
        if not (isinstance(value, numbers.Real) and math.isfinite(value)):
            raise OptionError(f"range {given!r} is not a range; give two numbers, such as (0.1, 2)")
    if not low < high:
        raise OptionError(f"range {given!r} is empty; give the least value, then the largest")
    if range_steps((low, high))[1] < RANGE_STEPS:
        raise OptionError(f"range {given!r} is too narrow for numbers of its size; give a wider one")
    return float(low), float(high)


def argument_of(name: str, given: Any, where: str) -> Argument:
    """The argument that a user declares as a quantity, a known array ("q"), a unit ("m"), or a unit and
    sizes.

    Raises OptionError with `where` in front.
    """
    try:
        check_argument_name(name)
        if isinstance(given, Quantity):
            return given.argument(name)
        if isinstance(given, str):
            return replace(KNOWN[given], name=name) if given in KNOWN else Quantity(given).argument(name)
        if isinstance(given, tuple) and given:
            unit, *sizes = given
            shape = sizes[0] if len(sizes) == 1 and isinstance(sizes[0], tuple) else tuple(sizes)
            return Quantity(unit, shape).argument(name)
    except (OptionError, EmitError) as error:
        raise OptionError(f"{where}, '{name}': {error}") from None
    raise OptionError(f"{where}, '{name}': {given!r} is no quantity; give a unit and sizes, such as ('m', 3)")


def signature(
    name: str, arguments: Iterable[str], inputs: Mapping[str, Any], outputs: Mapping[str, Any]
) -> Signature:
    """The signature of a function of this name, whose text takes these arguments after the robot.

    Raises OptionError for a name that is taken, and for inputs and outputs that are not declared soundly.
    """
    where = f"function '{name}'"
    try:
        check_own_names(name, ())
        check_own_name(name)
    except EmitError as error:
        raise OptionError(f"{where}: {error}") from None
    for declared, what in ((inputs, "inputs"), (outputs, "outputs")):
        if not isinstance(declared, Mapping):
            raise OptionError(f"{where}: {what} {declared!r} is not a dict; give {{'x': ('m', 3)}}")
    names = list(arguments)
    for unknown in inputs:
        if unknown not in names:
            raise OptionError(f"{where}: the text takes no argument '{unknown}'; leave it out of inputs")
    for missing in names:
        if missing not in inputs and missing not in KNOWN:
            known = ", ".join(KNOWN)
            raise OptionError(
                f"{where}: '{missing}' is none of {known}; declare it, inputs={{'{missing}': ('m', 3)}}"
            )
    if not names:
        raise OptionError(f"{where}: the text takes nothing but the robot; give it an input, such as q")
    if not outputs:
        raise OptionError(f"{where} names no output; give outputs={{'tau': 'tau'}}")
    made = Signature(
        name,
        tuple(argument_of(x, inputs.get(x, x), f"{where}, input") for x in names),
        tuple(argument_of(x, told, f"{where}, output") for x, told in outputs.items()),
    )
    _check_arrays(where, made)
    return made


def _check_arrays(where: str, made: Signature) -> None:
    """Raises OptionError if the name of an array is that of another array of the generated code."""
    names, outputs = ([x.name for x in some] for some in (made.inputs, made.outputs))
    for clash in outputs:
        if clash in names:
            raise OptionError(f"{where}: '{clash}' is an input and an output; rename one of them")
    derivatives = tuple(f"d{y}_d{x}" for y in outputs for x in names)
    trigonometry = [
        f"{of}_{x.name}" for x in made.inputs if x.kind == "configuration" for of in ("sin", "cos")
    ]
    rolls = rolling_of(made.inputs, made.outputs) is not None
    for array in (*names, *outputs):
        if rolls and array in OF_ROLLOUTS:
            raise OptionError(f"{where}: rollouts have an argument '{array}'; rename it")
        if array in CALLED_WITH:
            raise OptionError(f"{where}: every call takes an argument '{array}'; rename it")
        if array == TABLE:
            raise OptionError(f"{where}: '{TABLE}' is the array of parameters that stay inputs; rename it")
        if array.endswith((BAR, DOT)) or array.startswith(derivatives):
            raise OptionError(f"{where}: '{array}' would be the name of an array of a derivative; rename it")
        if array in trigonometry:
            raise OptionError(f"{where}: '{array}' is an input of code that is given sines; rename it")
        try:
            check_own_names(made.name, (array, array + BAR, array + DOT))
        except EmitError as error:
            raise OptionError(f"{where}: {error}") from None
