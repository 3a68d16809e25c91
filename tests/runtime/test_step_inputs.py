"""Inputs of steps with friction: defaults, and numbers without a meaning, which are refused in one line."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rbdgen
from rbdgen import Point
from rbdgen.cli import main
from rbdgen.cli.arguments import robot_of
from rbdgen.cli.parsers import PARSERS
from rbdgen.errors import ArrayValueError, RbdgenError
from rbdgen.functions.friction.step import solver_of
from rbdgen.runtime import Library

ROBOT: dict[str, Any] = {"base": "floating", "contacts": [Point("tip", "lower", (0, 0, -1)), Point("lower")]}


def built(real: str) -> Library:
    return rbdgen.build(rbdgen.load_robot("double_pendulum", **ROBOT), ["contact_step"], real=real)


@pytest.fixture(scope="module")
def lib() -> Library:
    return built("double")


def state(lib: Library) -> list[Any]:
    return [lib.neutral(), np.zeros(lib.nv), np.zeros(lib.nv), 1e-3]


LEVEL = [0.0, 0, 1, 0]
LAW = [1e-4, 0.2, 1.0, 0.0, 0.05, 0.0]


def test_level_ground_and_the_law_are_defaults(lib: Library) -> None:
    q, v, tau, dt = state(lib)
    q[2] = 2.0
    ours = lib.contact_step(q, v, tau, dt, friction=[0.5, 0.5])
    expected = lib.contact_step(q, v, tau, dt, [LEVEL, LEVEL], [0.5, 0.5], LAW)
    for one, other in zip(ours, expected, strict=True):
        np.testing.assert_array_equal(one, other)
    assert ours._fields == ("q_next", "v_next", "impulse", "residual")


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"friction": [0.5, -0.1]}, "friction[1] is -0.1; pass a number that is not negative"),
    ({"friction": [[0.5, 1], [-2, 1]]}, "friction[0] is -2; pass a number that is not negative"),
    (
        {"ground": [LEVEL, [0, 0, 1.001, 0]]},
        "ground has a normal of length 1.001, at the point with the number 1; scale normals to length 1",
    ),
    (
        {"ground": [[0, 0, 0, 1], LEVEL]},
        "ground has a normal of length 0, at the point with the number 0; scale normals to length 1",
    ),
    ({"dt": 0}, "dt is 0; pass a positive time step, in s"),
    ({"dt": [1e-3, -1e-3]}, "dt is -0.001; pass a positive time step, in s"),
    ({"law": [-1e-4, *LAW[1:]]}, "law[0] is -0.0001; pass a number that is not negative"),
    ({"law": [*LAW[:5], -1]}, "law[5] is -1; pass a number that is not negative"),
]


@pytest.mark.parametrize(("given", "said"), REFUSED)
def test_numbers_without_a_meaning(lib: Library, given: dict[str, Any], said: str) -> None:
    """Calls and bound calls refuse them, by position and by name."""
    q, v, tau, dt = state(lib)
    named = {"dt": dt, "friction": [0.5, 0.5], **given}
    with pytest.raises(ArrayValueError) as caught:
        lib.contact_step(q, v, tau, **named)
    assert str(caught.value) == f"contact_step: {said}"
    by_position = [
        named.get("dt"),
        named.get("ground", [LEVEL, LEVEL]),
        named["friction"],
        named.get("law", LAW),
    ]
    with pytest.raises(ArrayValueError) as caught:
        lib.contact_step(q, v, tau, *by_position)
    assert str(caught.value) == f"contact_step: {said}"
    arrays = {name: np.array(value, float) for name, value in named.items()}
    with pytest.raises(ArrayValueError) as caught:
        lib.contact_step.bind(q, v, tau, **arrays)
    assert str(caught.value) == f"contact_step: {said}"


def test_what_has_a_meaning_passes(lib: Library) -> None:
    """Normals that rounding shortens, friction 0, softness 0, and NaN, which the outputs show."""
    q, v, tau, dt = state(lib)
    near = [[0, 0, 1 - 1e-7, 0], LEVEL]
    found = lib.contact_step(q, v, tau, dt, ground=near, friction=[0, 0], law=[0.0, *LAW[1:]])
    assert all(np.isfinite(output).all() for output in found)
    found = lib.contact_step(q, v, tau, dt, friction=[np.nan, 0.5])
    assert np.isnan(found.residual).all()
    with pytest.raises(
        ArrayValueError, match=r"contact_step: friction has shape \(3,\), expected \(\.\.\., 2\)"
    ):
        lib.contact_step(q, v, tau, dt, friction=[0.5, 0.5, -0.5])


def test_warnings_of_configurations_stay(lib: Library) -> None:
    q, v, tau, dt = state(lib)
    lib.check_states()
    with pytest.warns(rbdgen.StateWarning, match="contact_step: q"):
        lib.contact_step(2 * q, v, tau, dt, friction=[0.5, 0.5])
    with pytest.raises(ArrayValueError, match="dt is 0"):
        lib.contact_step(q, v, tau, 0.0, friction=[0.5, 0.5])
    with pytest.raises(ArrayValueError, match="dt is 0"):
        lib.contact_step.bind(q, v, tau, np.array(0.0), friction=np.array([0.5, 0.5]))


def test_in_float_contacts_are_a_little_soft() -> None:
    lib = built("float")
    q, v, tau, dt = state(lib)
    with pytest.raises(ArrayValueError) as caught:
        lib.contact_step(q, v, tau, dt, friction=[0.5, 0.5], law=[1e-7, *LAW[1:]])
    assert str(caught.value) == "contact_step: law[0], the softness, is 1e-07; pass at least 1e-06 in float"
    turned = np.array([[0.6, 0, 0.8, 0], LEVEL], np.float32)
    assert np.isfinite(lib.contact_step(q, v, tau, dt, turned, [0.5, 0.5]).q_next).all()


# ---- options


def test_a_plan_is_given_from_both_sides() -> None:
    """Every plan gives its own numbers of sweeps and Newton steps."""
    given = ["double_pendulum", "--base", "floating", "--contact", "lower", "--contact-solver", "5,3,2"]
    shell = robot_of(PARSERS["generate"]().parse_args(given), "double_pendulum")
    python = rbdgen.load_robot(
        "double_pendulum", base="floating", contacts=["lower"], contact_solver=[5, 3, 2]
    )
    assert shell.model.contact_solver == python.model.contact_solver == (5, 3, 2)
    assert rbdgen.load_robot("double_pendulum", **ROBOT).model.contact_solver == (3, 2, 0)
    loops = [(loop.name, loop.count) for loop in solver_of(python.model).looped().loops]
    assert loops[1:] == [("sweep", 5), ("newton", 1), ("sweep", 2), ("newton", 1), ("newton", 1), ("end", 1)]


@pytest.mark.parametrize(
    "plan", [(3, 2), (3, 2, 0, 1), (0, 0, 3), (-1, 2, 0), (101, 2, 0), (3.5, 2, 0), "320", 3]
)
def test_plans_that_make_no_sense(plan: Any) -> None:
    with pytest.raises(RbdgenError) as caught:
        rbdgen.load_robot("double_pendulum", **ROBOT, contact_solver=plan)
    assert "not three whole numbers from 0 to 100, one of the first two positive" in str(caught.value)
    assert "such as 3,2,0" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("radius", [-0.1, "thick", None, np.nan, np.inf])
def test_radii_that_make_no_sense(radius: Any) -> None:
    with pytest.raises(RbdgenError) as caught:
        rbdgen.load_robot("double_pendulum", contacts=[Point("tip", "lower", radius=radius)])
    said = str(caught.value)
    assert said.startswith("contact 'tip': radius ")
    assert said.endswith(" is not a radius; give a number >= 0, in m")


def test_extras_are_given_from_both_sides() -> None:
    """They are sorted, and named once."""
    given = ["quadruped12", "--base", "floating", "--contact", "trunk", "--contact-with", "limits,elastic"]
    shell = robot_of(PARSERS["generate"]().parse_args([*given, "--contact-with", "limits"]), "quadruped12")
    python = rbdgen.load_robot(
        "quadruped12", base="floating", contacts=["trunk"], contact_with=["limits", "elastic"]
    )
    assert shell.model == python.model
    assert python.model.contact_with == ("elastic", "limits")
    assert len(python.model.held_joints) == 12


def test_contacts_without_a_point() -> None:
    frames = rbdgen.load_robot("double_pendulum", contacts=[rbdgen.Frame("tip", "lower")])
    for robot in (frames, rbdgen.load_robot("double_pendulum")):
        with pytest.raises(RbdgenError) as caught:
            rbdgen.build(robot, ["contact_step"])
        assert str(caught.value) == (
            "function 'contact_step' needs contacts at points or soles, which 'double_pendulum' does not "
            "have; give contacts=['NAME=LINK'] to load_robot, or take step, which does without"
        )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--contact", "lower", "--contact-solver", "3,2"], "--contact-solver 3,2: not three whole numbers"),
        (["--contact", "lower", "--contact-solver", "0,0,1"], "--contact-solver 0,0,1: not three whole"),
        (["--contact", "lower", "--contact-solver", "a,b,c"], "--contact-solver a,b,c: not three whole"),
        (["--contact", "lower", "--contact-with", "soft"], "--contact-with soft is not known; choose from:"),
        (["--contact-with", "elastic"], "--contact-with elastic: there are no contacts at points or soles"),
        (
            ["--contact", "lower", "--contact-with", "friction"],
            "--contact-with friction: the friction of joints is not used; give --friction exact as well",
        ),
        (["--contact-frame", "lower"], "function 'contact_step' needs contacts at points"),
        ([], "function 'contact_step' needs contacts at points"),
    ],
)
def test_the_command_line_refuses_them_too(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str], tmp_path: Any
) -> None:
    given = ["double_pendulum", "--functions", "contact_step", "-o", str(tmp_path), *arguments]
    assert main(given) != 0
    *_, last = capsys.readouterr().err.strip().splitlines()  # after warnings
    assert last.startswith(f"rbdgen: error: {said}")
    assert list(tmp_path.iterdir()) == []
