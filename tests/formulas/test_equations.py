"""Equations have the values of the functions, and are written as in textbooks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy
from lxml import etree
from numpy.typing import NDArray
from support.forms import FunctionForm, run_on_floats
from support.states import random_inputs

import rbdgen
from rbdgen.errors import OptionError
from rbdgen.formulas.derive import QUANTITIES
from rbdgen.functions.table import lookup
from rbdgen.model.build import Robot

Array = NDArray[np.float64]

STATES = 5

FINGERS = """<robot name="gripper"><link name="base"/>
<link name="wrist"><inertial><origin xyz="0.01 0 0.02"/><mass value="0.5"/>
  <inertia ixx="1e-3" ixy="0" ixz="0" iyy="2e-3" iyz="0" izz="1e-3"/></inertial></link>
<joint name="turn" type="revolute"><parent link="base"/><child link="wrist"/><axis xyz="1 0 0"/>
  <limit effort="1" velocity="1" lower="0" upper="1"/></joint>
<link name="left"><inertial><origin xyz="0.02 0 0"/><mass value="0.1"/>
  <inertia ixx="1e-5" ixy="0" ixz="0" iyy="2e-5" iyz="0" izz="2e-5"/></inertial></link>
<joint name="left_finger" type="revolute"><parent link="wrist"/><child link="left"/><origin xyz="0.1 0 0"/>
  <axis xyz="0 0 1"/><limit effort="1" velocity="1" lower="0" upper="1"/><dynamics damping="0.3"/></joint>
<link name="right"><inertial><origin xyz="0.02 0 0"/><mass value="0.1"/>
  <inertia ixx="1e-5" ixy="0" ixz="0" iyy="2e-5" iyz="0" izz="2e-5"/></inertial></link>
<joint name="right_finger" type="revolute"><parent link="left"/><child link="right"/>
  <origin xyz="0.1 0 0" rpy="0 0 0.4"/><axis xyz="0 0 1"/><limit effort="1" velocity="1" lower="0" upper="1"/>
  <dynamics damping="0.2"/><mimic joint="left_finger" multiplier="-0.5" offset="0.2"/></joint>
</robot>"""


def chain(*joints: Mapping[str, Any], tilt: float = 0.0) -> rbdgen.RobotBuilder:
    """A chain of different bodies with these joints."""
    arm = rbdgen.RobotBuilder("chain").add_body("base")
    parent = "base"
    for k, joint in enumerate(joints, 1):
        arm.add_body(
            f"body{k}",
            parent=parent,
            xyz=(0.3, 0.0, 0.1 * k),
            rpy=(tilt, 0.0, 0.0),
            mass=1.0 + k,
            com=(0.05, 0.0, 0.02 * k),
            inertia=(0.02, 0.001, 0.0, 0.03, 0.002 * k, 0.04),
            **joint,
        )
        parent = f"body{k}"
    return arm


X, Z = (1, 0, 0), (0, 0, 1)

CHAINS: dict[str, rbdgen.RobotBuilder] = {
    "spherical pendulum": chain({"type": "revolute", "axis": Z}, {"type": "revolute", "axis": X}),
    "tilted": chain({"type": "revolute", "axis": Z}, {"type": "revolute", "axis": Z}, tilt=0.5),
    "oblique axis": chain({"type": "revolute", "axis": (1, 2, 2)}, {"type": "prismatic", "axis": (1, 1, 0)}),
    "scara": chain(*({"type": kind, "axis": Z} for kind in ("revolute", "revolute", "prismatic"))),
    "against": chain({"type": "revolute", "axis": Z}, {"type": "revolute", "axis": (0, 0, -1)}),
    "between": chain(*({"type": x, "axis": Z} for x in ("continuous", "prismatic", "revolute"))),
    "screw": chain({"type": "helical", "axis": Z, "pitch": 0.2}, {"type": "revolute", "axis": X}),
    "universal": chain({"type": "universal", "axis": X, "second_axis": Z}, {"type": "revolute", "axis": Z}),
}

MOVING: dict[str, rbdgen.RobotBuilder] = {
    "spherical": chain({"type": "spherical"}, {"type": "revolute", "axis": Z}),
    "planar": chain({"type": "planar"}, {"type": "revolute", "axis": Z}),
    "floating": chain({"type": "floating"}, {"type": "revolute", "axis": X}),
}
"""Robots with joints whose v is not dq/dt."""

SLOPES = ("crba", "coriolis", "gravity", "nle", "rnea", "kinetic_energy", "potential_energy")


def evaluated(equations: Any, inputs: Mapping[str, Array], values: Mapping[Any, float]) -> dict[str, Array]:
    """The matrices (states, rows, columns) at these states, by label."""
    columns = {
        sympy.Symbol(f"{letter}{k + 1}", real=True): given
        for letter, array in inputs.items()
        for k, given in enumerate(array.T)
    }
    arguments = {**columns, **values}
    found = {}
    for label, matrix in equations.matrices.items():
        assert matrix.free_symbols <= arguments.keys()
        entries = sympy.lambdify(list(arguments), list(matrix), "numpy")(*arguments.values())
        full = [np.broadcast_to(np.asarray(x, dtype=float), (STATES,)) for x in entries]
        found[label] = np.stack(full, axis=1).reshape(STATES, *matrix.shape)
    return found


def check(robot: Robot, functions: Sequence[str], symbols: str, values_of: Robot | None = None) -> None:
    """Compares equations with other forms of the functions; C is tested by M a + C v + g = tau."""
    equations = rbdgen.equations(robot, functions, symbols, 20_000)
    other = values_of or robot
    inputs = random_inputs(other.model, lookup("rnea").signature, STATES, seed=3)
    values = equations.values
    if values_of is not None:
        values = rbdgen.equations(values_of, functions, symbols).values
    found = evaluated(equations, inputs, values)

    def computed(name: str) -> Array:
        row = lookup(name)
        return run_on_floats(FunctionForm(row, row.forms[1]), other.model, inputs)[0]

    for name in functions:
        if name != "coriolis":
            expected = computed(name)
            ours = found[QUANTITIES[name].label].reshape(expected.shape)
            scale = max(1.0, float(np.abs(expected).max()))
            assert np.abs(ours - expected).max() < 1e-12 * scale, name
    if "coriolis" in functions:
        turning = np.einsum("kij,kj->ki", found["C"], inputs["v"])
        expected = computed("nle") - computed("gravity")
        scale = max(1.0, float(np.abs(expected).max()))
        assert np.abs(turning - expected).max() < 1e-12 * scale


@pytest.mark.parametrize("symbols", ["all", "none", "masses,gravity", "lengths", "inertias"])
@pytest.mark.parametrize("name", ["double_pendulum", "planar3r"])
def test_bundled_robots(name: str, symbols: str) -> None:
    check(rbdgen.load_robot(name), SLOPES, symbols)


@pytest.mark.parametrize("symbols", ["all", "none"])
@pytest.mark.parametrize("name", CHAINS)
def test_joints_of_all_types(name: str, symbols: str) -> None:
    check(rbdgen.load_robot(CHAINS[name]), SLOPES, symbols)


@pytest.mark.parametrize("name", MOVING)
def test_joints_whose_v_is_no_rate(name: str) -> None:
    robot = rbdgen.load_robot(MOVING[name])
    check(robot, [x for x in SLOPES if x != "coriolis"], "all")
    with pytest.raises(
        OptionError, match=rf"body1_joint' is {name}: its v is not dq/dt.*functions=\['crba', 'gravity'\]"
    ):
        rbdgen.equations(robot)


def test_a_floating_base() -> None:
    check(rbdgen.load_robot("double_pendulum", base="floating"), ["crba", "nle"], "all")


def test_an_arm_of_six_joints_in_numbers() -> None:
    check(rbdgen.load_robot("puma560"), ["crba", "gravity"], "none")


def test_joints_that_follow_and_damp(tmp_path: Path) -> None:
    path = tmp_path / "gripper.urdf"
    path.write_text(FINGERS)
    check(rbdgen.load_robot(path), SLOPES, "all")
    damped = rbdgen.load_robot(path, damping=True, armature={"left_finger": 0.1})
    check(damped, SLOPES, "none")
    text = rbdgen.equations(damped).text()
    assert "right_finger follows: -0.5 q2" in text
    assert "C, h and tau hold the damping of the joints" in text
    assert "M, tau and T hold the armature of the joints" in text


def test_springs() -> None:
    arm = rbdgen.load_robot(CHAINS["screw"])
    bodies = [
        replace(
            body,
            joint=replace(
                body.joint, resistance=replace(body.joint.resistance, stiffness=3.0, reference=0.1)
            ),
        )
        for body in arm.model.bodies
    ]
    sprung = replace(arm, model=replace(arm.model, bodies=tuple(bodies)))
    check(sprung, SLOPES, "all")
    assert "hold the stiffness" in rbdgen.equations(sprung).text()


def test_symbols_stand_for_any_robot_of_that_shape() -> None:
    """The symbolic equations of a pendulum with the numbers of another one are those of the other."""
    other = rbdgen.RobotBuilder("other").add_body("base")
    for name, parent, z in (("upper", "base", 0.0), ("lower", "upper", -0.7)):
        mass = 2.0 if name == "upper" else 3.5
        other.add_body(
            name,
            parent=parent,
            joint="shoulder" if name == "upper" else "elbow",
            type="continuous",
            axis=(0, 1, 0),
            xyz=(0, 0, z),
            mass=mass,
            com=(0, 0, -0.1 * mass),
            inertia=(0.3, 0.2 * mass, 0.1),
        )
    check(rbdgen.load_robot("double_pendulum"), SLOPES, "all", rbdgen.load_robot(other, gravity=(0, 0, -1.6)))


def test_the_textbook_pendulum(golden: Callable[[str, str], None]) -> None:
    equations = rbdgen.equations(rbdgen.load_robot("double_pendulum"))
    golden("formulas/double_pendulum.txt", equations.text())
    golden("formulas/double_pendulum.tex", equations.latex())
    golden("formulas/double_pendulum.html", equations.html())
    m1, m2, l1, lc1, lc2, I1, I2 = sympy.symbols("m1 m2 l1 lc1 lc2 I1 I2", real=True)
    q2, v1, v2 = sympy.symbols("q2 v1 v2", real=True)
    M, C = equations.matrices["M"], equations.matrices["C"]
    textbook = I1 + I2 + m1 * lc1**2 + m2 * (l1**2 + lc2**2 + 2 * l1 * lc2 * sympy.cos(q2))
    assert sympy.expand(M[0, 0] - textbook) == 0
    h = -m2 * l1 * lc2 * sympy.sin(q2)
    assert sympy.expand(C - sympy.Matrix([[h * v2, h * (v1 + v2)], [-h * v1, 0]])) == sympy.zeros(2)
    skew = M.diff(q2) * v2 - 2 * C
    assert sympy.expand(skew + skew.T) == sympy.zeros(2)


def test_how_other_robots_are_written(golden: Callable[[str, str], None]) -> None:
    """Pins energies and torques of three links, axes that are not parallel, and equations with many zeros."""
    planar = rbdgen.equations(rbdgen.load_robot("planar3r"), SLOPES)
    golden("formulas/planar3r.txt", planar.text())
    golden(
        "formulas/spherical_pendulum.txt",
        rbdgen.equations(rbdgen.load_robot(CHAINS["spherical pendulum"])).text(),
    )
    golden(
        "formulas/quadruped12.txt",
        rbdgen.equations(rbdgen.load_robot("quadruped12"), symbols="masses").text(),
    )


def test_two_runs_say_the_same() -> None:
    robot = rbdgen.load_robot(CHAINS["spherical pendulum"])
    assert rbdgen.equations(robot).latex() == rbdgen.equations(robot).latex()


def test_the_page_is_well_formed_and_loads_nothing() -> None:
    arm = rbdgen.RobotBuilder("<b>&é").add_body("base")
    arm.add_body(
        "a_1 <i>&%", parent="base", type="revolute", axis=Z, mass=1, com=(0.1, 0, 0), inertia=(1, 1, 1e-7)
    )
    equations = rbdgen.equations(rbdgen.load_robot(arm, gravity=(0, -9.81, 0)), SLOPES, "masses")
    page = equations.html()
    etree.fromstring(page.replace("<!DOCTYPE html>", "").replace('<meta charset="utf-8">', ""))
    assert page.isascii()
    assert not any(word in page for word in ("http", "src=", "<script", "<b>", "<i>&"))
    assert r"a\_1 <i>\&\%" in equations.latex()


def test_a_tree_has_a_length_to_every_joint(golden: Callable[[str, str], None]) -> None:
    tree = chain({"type": "revolute", "axis": Z}, {"type": "revolute", "axis": Z})
    tree.add_body("branch", parent="body1", type="revolute", axis=X, xyz=(0, 0.2, 0), mass=1, com=(0, 0.1, 0))
    robot = rbdgen.load_robot(tree)
    check(robot, SLOPES, "all")
    golden("formulas/tree.txt", rbdgen.equations(robot).text())
    assert "l_{1,3}" in rbdgen.equations(robot).latex()


def test_rounding_is_told() -> None:
    """A note says that numbers are rounded: those before terms, in brackets and of angles."""
    arm = rbdgen.load_robot(CHAINS["tilted"])
    assert "numbers are rounded to 6 digits" in rbdgen.equations(arm).text()
    assert "rounded" not in rbdgen.equations(rbdgen.load_robot("planar3r"), symbols="none").text()


def test_mathtext_draws_the_latex() -> None:
    mathtext = pytest.importorskip("matplotlib.mathtext").MathTextParser("agg")
    lines = rbdgen.equations(rbdgen.load_robot(CHAINS["scara"]), SLOPES, "masses").latex().splitlines()
    drawn = [line.removesuffix(r" \\").replace("&", "") for line in lines if "&=" in line]
    assert len(drawn) > 10
    for line in drawn:
        mathtext.parse(f"${line}$")


def test_traces_are_closed_on_request() -> None:
    robot = rbdgen.load_robot("double_pendulum")
    (M,) = rbdgen.trace(robot, "crba", "sympy", closed=True)
    q2 = sympy.Symbol("q2", real=True)
    assert (
        sympy.Matrix([[2 * sympy.cos(q2), sympy.cos(q2)], [sympy.cos(q2), 0]])
        + sympy.Matrix(
            [[sympy.Rational(2663, 1000), sympy.Rational(133, 100)], [sympy.Rational(133, 100)] * 2]
        )
        == M
    )
    steps, (same,) = rbdgen.trace(robot, "crba", "sympy")
    assert steps
    assert same.shape == (2, 2)
    for engine, variant in (("casadi", None), ("sympy", "moments")):
        with pytest.raises(OptionError, match="give engine='sympy' alone"):
            rbdgen.trace(robot, "crba", engine, variant, closed=True)
    with pytest.raises(OptionError, match="no closed expressions of function 'aba'"):
        rbdgen.trace(robot, "aba", "sympy", closed=True)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"functions": ["crba", "gradient"]},
            "of function 'gradient' are known; choose from: crba, coriolis",
        ),
        ({"functions": ["crba", "crba"]}, "'crba' is asked for twice"),
        ({"functions": "crba,gradient"}, "of function 'gradient'"),
        ({"functions": []}, "no function is asked for"),
        ({"symbols": "masses,colours"}, "unknown set of symbols 'colours'; choose from: masses, lengths"),
        ({"symbols": ["all", "none"]}, "unknown set of symbols 'all'"),
        ({"symbols": 3}, "symbols 3 are not a list"),
        ({"budget_terms": 0}, "a budget of 0 terms"),
        ({"budget_terms": 19}, "have 22 terms, more than the budget of 19 terms; make fewer numbers symbols"),
        ({"budget_terms": 1}, "take more than 200 products of terms"),
    ],
)
def test_what_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        rbdgen.equations(rbdgen.load_robot("double_pendulum"), **given)


def test_large_robots_are_refused() -> None:
    for name, how in (("puma560", "6 degrees"), ("humanoid30", "30 degrees")):
        with pytest.raises(OptionError, match=f"'{name}' \\({how} of freedom\\).*budget of 1,000 terms; "):
            rbdgen.equations(rbdgen.load_robot(name))


def test_what_no_polynomial_says(tmp_path: Path) -> None:
    arm = chain({"type": "revolute", "axis": X}, {"type": "revolute", "axis": X})
    with pytest.raises(OptionError, match="'chain' has closed loops"):
        rbdgen.equations(rbdgen.load_robot(arm, loops=["body2=world:point"]))
    source = Path(__file__).parents[2] / "robots" / "double_pendulum.urdf"
    path = tmp_path / "robot.urdf"
    path.write_text(source.read_text().replace("<limit", '<dynamics friction="0.1"/><limit'))
    with pytest.raises(OptionError, match="joint 'shoulder' has Coulomb friction"):
        rbdgen.equations(rbdgen.load_robot(path, friction=("smooth", 0.1)))


def test_equations_in_a_notebook() -> None:
    """A notebook shows equations as one line of text and one display of LaTeX."""
    found = rbdgen.equations(rbdgen.load_robot("double_pendulum"))
    assert repr(found) == "<Equations of double_pendulum: M (2, 2), C (2, 2), g (2, 1)>"
    shown = found._repr_latex_()
    assert shown.startswith("$$\\begin{aligned}\nM_{11} &= I_{1} + I_{2}")
    assert shown.endswith("\\end{aligned}$$")
    assert shown.count(" &= ") == shown.count(" \\\\\n") + 1 == 9
    energies = rbdgen.equations(rbdgen.load_robot("double_pendulum"), ["kinetic_energy", "nle"])
    assert repr(energies) == "<Equations of double_pendulum: T (1, 1), h (2, 1)>"
