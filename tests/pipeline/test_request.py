"""A request refuses impossible options before any work; it can be divided and sent to other processes."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

import rbdgen
from rbdgen.errors import EmitError, OptionError
from rbdgen.options import Options
from rbdgen.pipeline import design
from rbdgen.pipeline.flash import smaller_forms
from rbdgen.pipeline.last_passes import last_passes
from rbdgen.pipeline.page import build_library
from rbdgen.pipeline.progress import silent
from rbdgen.pipeline.request import Request


@pytest.fixture
def idle(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets the test fail if the design begins."""

    def worked(*_: object) -> None:
        raise AssertionError("work was begun")

    monkeypatch.setattr(design, "search", worked)
    monkeypatch.setattr(design, "in_parallel", worked)


@pytest.mark.usefixtures("idle")
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"functions": ["rnea", "no_such"]}, "unknown function 'no_such'"),
        ({"functions": ["rnea"], "variants": {"rnea": "no_such"}}, "has no form 'no_such'"),
        ({"functions": ["rnea"], "variants": {"rnea": "limbs"}}, "has no alike limbs"),
        ({"functions": ["rnea"], "variants": {"rnea": "limbs"}, "trig": "input"}, "gives sines one by one"),
        ({"functions": ["rnea"], "params": ["mas:*"]}, "mas:"),
        ({"functions": ["rnea_dparams"]}, "needs parameters that stay inputs"),
        ({"functions": ["regressor_base"], "params": ["mass:*"]}, "columns that depend on the parameters"),
        ({"functions": ["rnea"], "coordinates": True}, "is an option of NAME_vjp, NAME_jvp and NAME_hvp"),
        ({"functions": ["rnea"], "budget": 10}, "the budget is 10"),
        ({"functions": ["rnea"], "target": "portable", "arch": "x86-64-v3"}, "has its own"),
        ({"functions": ["rnea"], "name": "class"}, "not usable as a name"),
        ({"functions": ["rnea"], "compiler": "tcc"}, "is not known; choose from: auto, gcc, clang"),
        ({"functions": ["rnea"], "compiler": ["gcc"]}, "is not known; choose from: auto, gcc, clang"),
        ({"functions": ["rnea"], "compiler": ""}, "is not known; choose from: auto, gcc, clang"),
        ({"functions": ["rnea"], "compiler": "auto", "contract": True}, "fuse different products and sums"),
    ],
)
def test_refused_before_any_work(options: dict[str, Any], message: str) -> None:
    pendulum = rbdgen.load_robot("double_pendulum")
    with pytest.raises((OptionError, EmitError), match=message) as caught:
        build_library(pendulum, Options.of(**options))
    assert "\n" not in str(caught.value)


@pytest.mark.usefixtures("idle")
def test_angles_that_are_needed_are_refused_before_any_work() -> None:
    builder = rbdgen.RobotBuilder("vice").add_body("frame", mass=1, inertia=(1, 1, 1))
    builder.add_body("jaw", parent="frame", joint="thread", type="helical", axis=(0, 0, 1), pitch=0.1, mass=1)
    with pytest.raises(OptionError, match="joint 'thread' is helical and needs its angle beside the sine"):
        rbdgen.build(rbdgen.load_robot(builder), ["rnea"], trig="input")


def test_a_request_is_the_same_in_another_process() -> None:
    request = Request(
        rbdgen.load_robot("double_pendulum"), Options.of(functions=["rnea", "aba"], trig="libm")
    )
    copy = pickle.loads(pickle.dumps(request))
    assert copy == request
    assert list(copy.rows) == ["rnea", "aba"]
    assert all(copy.rows[name] is row for name, row in request.rows.items())


def test_some_functions_of_a_request_keep_their_options() -> None:
    """Options for functions that are not among the selected ones are dropped."""
    asked = Options.of(functions=["rnea", "rnea_vjp"], coordinates=True, variants={"rnea": "looped"})
    request = Request(rbdgen.load_robot("double_pendulum"), asked)
    assert request.only("rnea").options.variants == {"rnea": "looped"}
    assert not request.only("rnea").options.coordinates
    assert request.only("rnea_vjp").options.coordinates
    assert request.only("rnea_vjp").options.variants == {}


def test_smaller_forms_beside_derivatives_by_coordinates() -> None:
    """Forms in loops are tried for functions beside derivatives by coordinates, which have no such forms."""
    asked = Options.of(functions=["rnea", "rnea_vjp"], coordinates=True, budget_flash=10_000_000)
    found = smaller_forms(Request(rbdgen.load_robot("double_pendulum"), asked), silent)
    assert [form.form for form in found["rnea"]] == ["looped"]


def test_passes_are_those_that_the_options_ask_for() -> None:
    robot = rbdgen.load_robot("double_pendulum")

    def names(**options: Any) -> list[str]:
        request = Request(robot, Options.of(functions=["rnea"], **options))
        return [step.__name__ for step in last_passes(request, request.rows["rnea"])]

    assert names(trig="libm") == ["without_zeros"]
    assert names(trig="builtin") == ["without_zeros", "in_stages"]
    assert names(trig="input") == ["given", "without_zeros"]
