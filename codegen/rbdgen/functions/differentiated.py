"""The derivatives of every function along directions: NAME_vjp, NAME_jvp and NAME_hvp of a row NAME.

    f(x) -> y           x_bar = (dy/dx)^T y_bar     NAME_vjp(x, y_bar) -> x_bar
                        y_dot = (dy/dx) x_dot       NAME_jvp(x, x_dot) -> y_dot
                        d(x_bar)/dx x_dot           NAME_hvp(x, y_bar, x_dot) -> x_bar_dot

`rnea_vjp(q, v, a, tau_bar) -> (q_bar, v_bar, a_bar)` is an example. Their rows follow from the function's own
row: by hand nothing is written but the form of NAME_jvp that some rows name as `along`. What is not negative
(which contacts hold, gains) and parameters of the robot are held.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from rbdgen.errors import OptionError
from rbdgen.functions.function import Call, Differentiated, Form, Function, Identity
from rbdgen.model.tree_size import TreeSize
from rbdgen.signature import BAR, DOT, Argument, Kind, Signature

HELD: Final[frozenset[Kind]] = frozenset({"nonnegative", "parameters", "table"})
"""What no derivative is by."""


@dataclass(frozen=True)
class Mode:
    """One of the three: what it takes beside the function's inputs, what it gives, how it can be made.

    `form`: name and source of the one that all have; `by_inverse`: source of that of functions with an
    inverse; `by_along`: of that of functions with a form `along` a direction, whose name it has; `times`:
    about how many times as many operations as the function.
    """

    seeded: bool
    moved: bool
    summary: str
    form: tuple[str, str]
    by_inverse: str
    by_along: str
    times: int


BY_INVERSE: Final = "by_inverse"
"""The name of that form."""

_SOURCE = "Griewank and Walther 2008, chapter 3"

MODES: Final[Mapping[str, Mode]] = MappingProxyType(
    {
        "vjp": Mode(
            True,
            False,
            "weights times derivatives of {}: the gradient of its weighted results",
            ("reverse", f"reverse differentiation; {_SOURCE}"),
            "z_bar = M^-1 y_bar, then reverse differentiation of the inverse at -z_bar",
            "its changes along a direction, linear in that, transposed: {}",
            4,
        ),
        "jvp": Mode(
            False,
            True,
            "derivatives of {} times rates: how fast its results change",
            ("forward", f"forward differentiation; {_SOURCE}"),
            "M^-1 (z_dot - what forward differentiation of the inverse gives)",
            "{}",
            4,
        ),
        "hvp": Mode(
            True,
            True,
            "second derivatives of the weighted results of {} times rates",
            ("forward_reverse", f"forward over reverse differentiation; {_SOURCE}"),
            "forward differentiation of the gradient by the inverse",
            "forward differentiation of the transposed changes along a direction: {}",
            12,
        ),
    }
)


def mode_of(name: str) -> tuple[str, str] | None:
    """The function and the mode in the name of a derivative, None in other names."""
    base, _, mode = name.rpartition("_")
    return (base, mode) if base and mode in MODES else None


def differentiated(function: Function, mode: str, inverse: Function | None = None) -> Function:
    """The row of a derivative of a function. Raises OptionError where it can have none."""
    name, made = f"{function.name}_{mode}", MODES[mode]
    _check_depth(name, function, made)
    if any(x.packed for x in function.signature.outputs):
        raise OptionError(
            f"function '{name}': the results of '{function.name}' are packed, each robot has others; take "
            "NAME_hvp of the function that they are derivatives of"
        )
    by = tuple(x for x in function.signature.inputs if x.kind not in HELD)
    forms = [made.form]
    if inverse is not None:
        forms.append((BY_INVERSE, made.by_inverse))
    traced = [Form(form, source, _of_a_graph(name, function.name)) for form, source in forms]
    if (along := function.along) is not None:
        source = made.by_along.format(along.source)
        traced.append(Form(along.name, source, _of_a_graph(name, function.name), over=along.over))
    return replace(
        function,
        signature=_signature(function.signature, name, made, by, coordinates=False),
        summary=made.summary.format(function.name),
        forms=tuple(traced),
        operations=partial(_operations, function, made.times),
        pinocchio=None,
        identities=_identities(function, by) if mode == "vjp" else (),
        resistance=(),
        derivative_of=None,
        projected=None,
        measure=None,
        inverse=None,
        along=None,
        differentiated=Differentiated(mode, function, by, inverse),
    )


def _check_depth(name: str, function: Function, mode: Mode) -> None:
    """OptionError where a derivative of a derivative is one too many, or two of its inputs had one name."""
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
    """The row of a derivative with those by q in its nq numbers; other rows as they are."""
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
    """The function's inputs, then the seeds in the order of what they are of."""

    def moving(x: Argument, suffix: str, unit: str, meaning: str) -> Argument:
        """A vector that goes with an input."""
        if x.kind != "configuration":
            return Argument(x.name + suffix, "values", x.shape, unit, meaning)
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


def _operations(function: Function, times: int, size: TreeSize) -> int:
    return times * function.operations(size)


def _of_a_graph(name: str, of: str) -> Callable[..., Any]:
    """Its forms are no algorithms that could run on scalars."""

    def trace(*_: object) -> Any:
        raise OptionError(
            f"function '{name}' is made of the graph of '{of}'; trace that, and differentiate what you get"
        )

    return trace


def _identities(function: Function, by: Iterable[Argument]) -> tuple[Identity, ...]:
    """y_bar . (J x_dot) = (J^T y_bar) . x_dot, told by the first of the two."""
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
    """The scalar product at every state."""
    pairs = zip(found, seeds, strict=True)
    return sum(np.einsum("ki,ki->k", *(np.reshape(x, (len(x), -1)) for x in pair)) for pair in pairs)
