"""Whole derivatives of every function: NAME_jacobian, NAME_gradient and NAME_hessian of a function NAME.

    NAME_jacobian(x) -> dy_dx      for every output y and every input x that moves
    NAME_gradient(x) -> y, dy_dx   of a function of one number
    NAME_hessian(x)  -> dy_dx_dz   of a function of one number, for every pair of inputs x, z in order

An example is `energy_hessian(q, v) -> (dE_dq_dq, dE_dq_dv, dE_dv_dv)`. Inputs with respect to which NAME_vjp
takes no derivative are held here too. Derivatives by a configuration, and of one, are in the tangent space.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from rbdgen.errors import OptionError
from rbdgen.functions.differentiated import HELD, of_a_graph
from rbdgen.functions.form import Form
from rbdgen.functions.function import Function, Whole
from rbdgen.signature import Argument, Signature

_SOURCE: Final = "Griewank and Walther 2008, chapter 3"

MOST_AXES: Final = 3
"""The largest number of axes of an array, as in `templates/python/calls.c`."""

BY_COLUMNS: Final = "columns"
"""The form that computes a Jacobian column by column."""

BY_ROWS: Final = "rows"
"""The form that computes a Jacobian row by row."""


BY_DERIVATIVES: Final = "derivatives"
"""The form of a Jacobian for functions whose derivatives are a row of the table."""

BY_CALLS: Final = "calls"
"""The form of a Jacobian of a composition by the derivatives of the rows that it calls."""


@dataclass(frozen=True)
class Kind:
    """A kind of whole derivative."""

    summary: str
    forms: tuple[tuple[str, str], ...]
    """The name and the source of each form."""
    of_a_number: bool
    """Whether the function must have a single number as its output."""
    times: int
    """The approximate ratio of its operations to those of the function."""


WHOLE: Final[Mapping[str, Kind]] = MappingProxyType(
    {
        "jacobian": Kind(
            "derivatives of the results of {}",
            (
                (BY_COLUMNS, f"forward differentiation; {_SOURCE}"),
                (BY_ROWS, f"reverse differentiation; {_SOURCE}"),
            ),
            False,
            15,
        ),
        "gradient": Kind(
            "the value and the derivatives of {}",
            ((BY_ROWS, f"reverse differentiation; {_SOURCE}"),),
            True,
            4,
        ),
        "hessian": Kind(
            "second derivatives of {}",
            ((BY_COLUMNS, f"forward over reverse differentiation; {_SOURCE}"),),
            True,
            60,
        ),
    }
)


def whole_of(name: str) -> tuple[str, str] | None:
    """Split the name of a whole derivative into the name of the function and the kind. None for other
    names.
    """
    base, _, kind = name.rpartition("_")
    return (base, kind) if base and kind in WHOLE else None


def whole(function: Function, kind: str, row: Function | None = None, *, by_calls: bool = False) -> Function:
    """The row of a whole derivative. Raises OptionError if the function has none.

    `row` is the row whose outputs are the derivatives of the function, or None if there is none. `by_calls`
    says whether the function calls rows that have such a row.
    """
    name, made = f"{function.name}_{kind}", WHOLE[kind]
    if function.differentiated is not None or function.whole is not None:
        raise OptionError(
            f"function '{name}': '{function.name}' is a derivative itself; take those of its function"
        )
    if any(x.packed for x in function.signature.outputs):
        raise OptionError(f"function '{name}': the results of '{function.name}' are packed; take NAME_jvp")
    outputs = function.signature.outputs
    if made.of_a_number and not (len(outputs) == 1 and not outputs[0].shape):
        raise OptionError(
            f"function '{name}': '{function.name}' returns more than one number; "
            f"take {function.name}_jacobian"
        )
    by = tuple(x for x in function.signature.inputs if x.kind not in HELD)
    if not by:
        raise OptionError(f"function '{name}': all inputs of '{function.name}' are held; leave it out")
    derivatives = _outputs(function, kind, by)
    if (large := next((x for x in derivatives if len(x.shape) > MOST_AXES), None)) is not None:
        raise OptionError(
            f"function '{name}': {large.name} would have {len(large.shape)} axes, and arrays have at most "
            f"{MOST_AXES}; take NAME_jvp"
        )
    forms = [] if function.only_along else list(made.forms)
    if row is not None and (kind != "jacobian" or not _is_complete(row, function, derivatives)):
        row = None
    if row is not None:
        forms.append((BY_DERIVATIVES, f"the cheapest form of {row.name}"))
    if kind == "jacobian" and by_calls:
        forms.append((BY_CALLS, "the chain rule through the functions that are called"))
    return function.derivative(
        Signature(name, function.signature.inputs, tuple(derivatives)),
        made.summary.format(function.name),
        tuple(Form(form, source, of_a_graph(name, function.name)) for form, source in forms),
        made.times,
        whole=Whole(kind, function, by, row),
    )


def _is_complete(row: Function, function: Function, derivatives: list[Argument]) -> bool:
    """Whether a row has all derivatives of a function. Some lack those by inputs such as anchors."""
    names = [[x.name for x in one.signature.inputs] for one in (row, function)]
    return names[0] == names[1] and len(row.signature.outputs) == len(derivatives)


def _moving(x: Argument) -> tuple[str | int, ...]:
    """The shape of an array's rate of change, which is in the tangent space for a configuration."""
    return ("nv",) if x.kind == "configuration" else x.shape


def _outputs(function: Function, kind: str, by: tuple[Argument, ...]) -> list[Argument]:
    first = [_by(y, x) for y in function.signature.outputs for x in by]
    if kind == "jacobian":
        return first
    if kind == "gradient":
        return [*function.signature.outputs, *first]
    return [_second(dy, z) for k, dy in enumerate(first) for z in by[k:]]


def _second(dy: Argument, z: Argument) -> Argument:
    """The derivative of a first derivative."""
    made = _by(dy, z)
    return replace(made, name=made.name[1:], meaning=f"d({dy.meaning})/d{z.name}")


def _by(y: Argument, x: Argument) -> Argument:
    """The derivative of an array by another one."""
    shape = (*_moving(y), *_moving(x))
    return Argument(f"d{y.name}_d{x.name}", "values", shape, f"({y.unit})/({x.unit})", f"d{y.name}/d{x.name}")
