"""Sweeps that do not fit the function of their row are refused in one line when the row is made."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import pytest
from support.rationals import Rationals
from support.trees import some

from rbdgen.errors import GraphError
from rbdgen.functions.arguments import Q, square
from rbdgen.functions.derivatives.one_frame import derivatives
from rbdgen.functions.form import Form, swept, swept_in_lanes, swept_in_loops
from rbdgen.functions.function import Function
from rbdgen.model.reduce import reduce
from rbdgen.signature import Signature
from rbdgen.spatial.ops import Vector
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.sweep import Sweep, without

SWEEPS = derivatives(("dtau_dq",))

MAKERS: dict[str, Callable[[str, Sequence[str] | Mapping[str, str], Sequence[Sweep]], Form]] = {
    "in one line": lambda source, *rest: swept("one_frame", source, *rest),
    "in loops": swept_in_loops,
    "in lanes": swept_in_lanes,
}

each_maker = pytest.mark.parametrize("how", MAKERS)


def row(how: str, outputs: Sequence[str] | Mapping[str, str], sweeps: Sequence[Sweep]) -> Function:
    """A row of derivatives of gravity torques, which only take q."""
    output = square("dg_dq", "N m/rad", "derivative of gravity torques")
    forms = (MAKERS[how]("at rest", outputs, sweeps),)
    return Function(
        Signature("gravity_derivatives", (Q,), (output,)), "", forms, operations=lambda size: size.bodies
    )


def refused(how: str, outputs: Sequence[str] | Mapping[str, str], sweeps: Sequence[Sweep]) -> str:
    with pytest.raises(GraphError) as caught:
        row(how, outputs, sweeps)
    return str(caught.value)


@each_maker
def test_an_output_that_sweeps_call_otherwise(how: str) -> None:
    message = (
        "function 'gravity_derivatives': output 'dg_dq' is not among what its sweeps give (dtau_dq); "
        "name it so, or map it"
    )
    at_rest = without(SWEEPS, "v", "a")
    assert refused(how, ("dg_dq",), at_rest) == message
    assert refused(how, ("dtau_dq",), at_rest) == message
    assert refused(how, {"dg_dq": "motion"}, at_rest) == message


@each_maker
def test_an_input_that_the_function_does_not_take(how: str) -> None:
    message = (
        "function 'gravity_derivatives': sweep 'outward' reads {}, which the function does not take; "
        "leave it out of `reads`, as `without` does"
    )
    assert refused(how, {"dg_dq": "dtau_dq"}, SWEEPS) == message.format("a, v")
    assert refused(how, {"dg_dq": "dtau_dq"}, without(SWEEPS, "a")) == message.format("v")


@each_maker
@pytest.mark.parametrize("tree", some("pendulum", "tree of turns", "floating tree"))
def test_outputs_are_mapped_and_inputs_left_out(tree: str, how: str) -> None:
    """Derivatives of gravity torques are those of inverse dynamics at v = a = 0."""
    r = Rationals(4)
    model = replace(r.model(*some(tree)[tree]), gravity=Vector(1, Fraction(1, 2), -9))
    reduced, x = reduce(model), State(r.coordinates(model))
    (form,) = row(how, {"dg_dq": "dtau_dq"}, without(SWEEPS, "v", "a")).forms
    still = State(x.q, [0] * model.nv, [0] * model.nv)
    (expected,) = swept("one_frame", "", ("dtau_dq",), SWEEPS).trace(reduced, still)
    assert [list(output) for output in form.trace(reduced, x)] == [expected]
    assert form.loops is None or list(form.loops(reduced).outputs) == ["dg_dq"]
