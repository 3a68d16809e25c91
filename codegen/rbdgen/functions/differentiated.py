"""The derivatives of every function along directions: NAME_vjp, NAME_jvp and NAME_hvp of a function NAME.

    f(x) -> y           x_bar = (dy/dx)^T y_bar     NAME_vjp(x, y_bar) -> x_bar
                        y_dot = (dy/dx) x_dot       NAME_jvp(x, x_dot) -> y_dot
                        d(x_bar)/dx x_dot           NAME_hvp(x, y_bar, x_dot) -> x_bar_dot

An example is `rnea_vjp(q, v, a, tau_bar) -> (q_bar, v_bar, a_bar)`. The rows of these derivatives are derived
from the row of the function. Only the form of NAME_jvp that a row may give as `along` is written by hand. No
derivatives are taken with respect to inputs of kind "nonnegative", such as gains and the flags of closed
contacts. By default none are taken with respect to parameters of the robot either.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from rbdgen.errors import OptionError
from rbdgen.functions.form import Form
from rbdgen.functions.function import Call, Differentiated, Function, Identity
from rbdgen.signature import BAR, DOT, OBSTACLES, Argument, Kind, Signature

HELD: Final[frozenset[Kind]] = frozenset({"nonnegative", "parameters", "table", "held", *OBSTACLES})
"""The kinds of inputs with respect to which functions are not differentiated by default."""


@dataclass(frozen=True)
class Mode:
    """One of the three derivatives along directions."""

    seeded: bool  # whether the inputs include weights of the function's outputs (_bar)
    moved: bool  # whether the inputs include rates of the function's inputs (_dot)
    summary: str
    form: tuple[str, str]  # the name and the source of the form that exists for every function
    by_inverse: str  # the source of the form for functions that have an inverse
    by_along: str  # the source of the form that uses the function's form `along` and has its name
    times: int  # the approximate ratio of its operations to those of the function


BY_INVERSE: Final = "by_inverse"
"""The name of the form for functions that have an inverse."""

_SOURCE = "Griewank and Walther 2008, chapter 3"

MODES: Final[Mapping[str, Mode]] = MappingProxyType(
    {
        "vjp": Mode(
            True,
            False,
            "gradient of the weighted results of {}: weights times derivatives",
            ("reverse", f"reverse differentiation; {_SOURCE}"),
            "z_bar = M^-1 y_bar, then reverse differentiation of the inverse at -z_bar",
            "the transpose of the derivative along a direction, which is linear in it: {}",
            4,
        ),
        "jvp": Mode(
            False,
            True,
            "rates of the results of {}: derivatives times rates of its inputs",
            ("forward", f"forward differentiation; {_SOURCE}"),
            "M^-1 (z_dot - what forward differentiation of the inverse gives)",
            "{}",
            4,
        ),
        "hvp": Mode(
            True,
            True,
            "rate of the gradient of the weighted results of {}: second derivatives times rates",
            ("forward_reverse", f"forward over reverse differentiation; {_SOURCE}"),
            "forward differentiation of the gradient by the inverse",
            "forward differentiation of the transpose of the derivative along a direction: {}",
            12,
        ),
    }
)


def mode_of(name: str) -> tuple[str, str] | None:
    """Split the name of a derivative into the name of the function and the mode. Returns None for other
    names.
    """
    base, _, mode = name.rpartition("_")
    return (base, mode) if base and mode in MODES else None


def differentiated(function: Function, mode: str, inverse: Function | None = None) -> Function:
    """Make the row of a derivative of a function. Raises OptionError if there is no such derivative."""
    name, made = f"{function.name}_{mode}", MODES[mode]
    _check_depth(name, function, made)
    if any(x.packed for x in function.signature.outputs):
        raise OptionError(
            f"function '{name}': the results of '{function.name}' are packed, and differ between robots; "
            "take NAME_hvp of the function that it differentiates"
        )
    by = tuple(x for x in function.signature.inputs if x.kind not in HELD)
    forms = [] if function.only_along else [made.form]
    if inverse is not None:
        forms.append((BY_INVERSE, made.by_inverse))
    trace = of_a_graph(name, function.name)
    vectors = all(len(x.shape) == 1 and x.kind != "configuration" for x in function.signature.outputs)
    in_limbs = vectors and function.in_limbs is not None
    traced = [Form(form, source, trace, can_use_limbs=in_limbs) for form, source in forms]
    if (along := function.along) is not None:
        source = made.by_along.format(along.source)
        own = vectors and along.can_use_limbs
        traced.append(Form(along.name, source, trace, degrees=along.degrees, can_use_limbs=own))
    return function.derivative(
        _signature(function.signature, name, made, by, coordinates=False),
        made.summary.format(function.name),
        tuple(traced),
        made.times,
        identities=_identities(function, by) if mode == "vjp" else (),
        differentiated=Differentiated(mode, function, by, inverse),
    )


def _check_depth(name: str, function: Function, mode: Mode) -> None:
    """Raises OptionError for a third derivative, or if two of the inputs would have the same name."""
    inner = function.differentiated
    if inner is None:
        return
    if inner.of.differentiated is not None:
        raise OptionError(f"function '{name}': derivatives of '{function.name}' are not made; take fewer")
    if MODES[inner.mode].moved and mode.moved:
        raise OptionError(
            f"function '{name}': '{function.name}' has rates among its inputs; take {function.name}_vjp"
        )


def in_coordinates(function: Function, table: Argument | None = None) -> Function:
    """The row of a derivative along directions that is taken with respect to the nq elements of q and, if
    `table` is given, with respect to the parameters in it. Other rows are returned unchanged.
    """
    made = function.differentiated
    if made is None:
        return function
    of, by = in_coordinates(made.of, table), made.by if table is None else (*made.by, table)
    signature = _signature(of.signature, function.name, MODES[made.mode], by, coordinates=True)
    return replace(
        function, signature=signature, differentiated=replace(made, of=of, by=by, coordinates=True)
    )


def _signature(
    of: Signature, name: str, mode: Mode, by: Iterable[Argument], *, coordinates: bool
) -> Signature:
    """The signature of a derivative. Its inputs are those of the function, then the weights, then the rates,
    each in the order of the function."""

    def moving(x: Argument, suffix: str, unit: str, meaning: str) -> Argument:
        """Make the argument for the weights, the rates or the gradient of an input or output."""
        if x.kind != "configuration":
            return Argument(x.name + suffix, "values", x.shape, unit, meaning, optional=x.optional)
        space = "in coordinates" if coordinates else "in the tangent space"
        return Argument(
            x.name + suffix, "values", ("nq" if coordinates else "nv",), unit, f"{meaning}, {space}"
        )

    def rate(x: Argument) -> Argument:
        changing = moving(x, DOT, f"({x.unit})/s", f"how fast {x.name} changes")
        return replace(changing, symmetric=x.symmetric)

    weights = [moving(y, BAR, f"1/({y.unit})", f"weights of {y.name} in the loss L") for y in of.outputs]
    rates = [moving(x, DOT, f"({x.unit})/s", f"how fast {x.name} changes") for x in by]
    gradients = [moving(x, BAR, f"1/({x.unit})", f"dL/d{x.name}") for x in by]
    inputs = (*of.inputs, *(weights if mode.seeded else ()), *(rates if mode.moved else ()))
    outputs = gradients if mode.seeded else [rate(y) for y in of.outputs]
    if mode.seeded and mode.moved:
        outputs = [rate(x) for x in gradients]
    return Signature(name, inputs, tuple(outputs))


def of_a_graph(name: str, of: str) -> Callable[..., Any]:
    """Make a trace that raises OptionError, since these forms differentiate a graph and cannot run on
    scalars.
    """

    def trace(*_: object) -> Any:
        raise OptionError(
            f"function '{name}' is made of the graph of '{of}'; trace that, and differentiate the result"
        )

    return trace


def _identities(function: Function, by: Iterable[Argument]) -> tuple[Identity, ...]:
    """The identity y_bar . (J x_dot) = (J^T y_bar) . x_dot of NAME_jvp and NAME_vjp."""
    vjp, jvp = f"{function.name}_vjp", f"{function.name}_jvp"
    weights = [y.name + BAR for y in function.signature.outputs]
    rates = [x.name + DOT for x in by]

    def sides(call: Call, x: Mapping[str, Any]) -> tuple[Any, Any]:
        return (
            _products(_as_tuple(call(jvp)), [x[name] for name in weights]),
            _products(_as_tuple(call(vjp)), [x[name] for name in rates]),
        )

    return (Identity(f"{jvp} and {vjp} are transposed", (jvp, vjp), sides),)


def _as_tuple(found: Any) -> tuple[Any, ...]:
    return found if isinstance(found, tuple) else (found,)


def _products(found: Iterable[Any], seeds: Iterable[Any]) -> Any:
    """The scalar product of results and seeds at every state."""
    pairs = zip(found, seeds, strict=True)
    return sum(np.einsum("ki,ki->k", *(np.reshape(x, (len(x), -1)) for x in pair)) for pair in pairs)
