"""Dynamics in independent velocities agree with multipliers, Pinocchio and projections, or are refused."""

from __future__ import annotations

import runpy
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support.closed_loops import acceleration_with_closed_loop, drift, jacobian
from support.forms import FunctionForm, run_on_floats
from support.functions import BY_INDEPENDENT
from support.linkages import SOLID, chain_on_the_world, four_bar, legs, three_arms, two_legs
from support.synthetic import urdf

import rbdgen
from rbdgen.checks.check import check
from rbdgen.cli import main
from rbdgen.description.urdf import parse_urdf
from rbdgen.errors import OptionError
from rbdgen.functions.closed_loops.independent import closed_positions
from rbdgen.functions.table import TABLE
from rbdgen.graph.engine import GraphEngine
from rbdgen.model.build import Robot, build_robot
from rbdgen.model.closed_loops import Loop
from rbdgen.model.frames import Frame
from rbdgen.model.reduce import reduce
from rbdgen.model.tree_size import tree_size
from rbdgen.selection.axes import operations
from rbdgen.selection.trace import trace_on

Array = NDArray[np.float64]

TILT = (0.3, -0.5, 0.7)

ARMS = [f"upper{k}_joint" for k in range(3)]
LEG = ["lower0_joint_1", "lower0_joint_2", "upper0_joint", "platform_joint"]


def load(name: str, folder: Path, **options: Any) -> Robot:
    if name == "four-bar":
        loops, independent = ["tip=end:point"], ["crank_joint"]
        return rbdgen.load_robot(four_bar(tilt=TILT), loops=loops, independent=independent, **options)
    if name == "four-bar, frame":
        loops, independent = ["tip=end"], ["rocker_joint"]
        built = four_bar().add_body("hinge", parent="tip", type="revolute", axis=(0, 0, 1), **SOLID)
        return rbdgen.load_robot(built, loops=["hinge=end"], independent=independent, **options)
    if name == "two legs":
        return rbdgen.load_robot(two_legs(), loops=["corner=upper1:point"], independent=LEG, **options)
    if name == "three arms":
        loops = ["hand1=corner1:point", "hand2=corner2:point"]
        return rbdgen.load_robot(three_arms(), loops=loops, independent=ARMS, **options)
    path = chain_on_the_world(folder)
    return rbdgen.load_robot(path, loops=["l4=world:point"], independent=["j0"], **options)


CASES = {
    "four-bar": {},
    "four-bar, frame": {"damping": True, "armature": {"rocker_joint": 0.4, "crank_joint": 0.1}},
    "two legs": {"base": "floating"},
    "three arms": {"armature": {"lower0_joint": 0.2, "plate_joint": 0.1}},
    "followers": {"armature": {"j0": 0.3, "j4": 0.2, "j2": 0.1}},
}

each_case = pytest.mark.parametrize("name", CASES)


def states(robot: Robot, count: int = 4) -> dict[str, Array]:
    model = robot.model
    q = closed_positions(model)[:count]
    assert len(q) == count
    rng = np.random.default_rng(5)
    names = ("v_i", "a_i", "tau_i")
    return {"q": q, **{name: rng.normal(size=(count, len(model.independent))) for name in names}}


def results(robot: Robot, name: str, inputs: Mapping[str, Array]) -> list[list[Array]]:
    """The outputs of every form of a function."""
    row = {**TABLE, **BY_INDEPENDENT}[name]
    forms = [form for form in row.forms if form.loops is None]
    return [run_on_floats(FunctionForm(row, form), robot.model, inputs) for form in forms]


@each_case
def test_motions_keep_loops_closed(name: str, tmp_path: Path) -> None:
    robot = load(name, tmp_path, **CASES[name])
    model, inputs = robot.model, states(robot)
    ((G,),) = results(robot, "loop_projection", inputs)
    ((v, a),) = results(robot, "loop_motion", inputs)
    chosen = list(model.independent)
    np.testing.assert_array_equal(G[:, chosen], np.broadcast_to(np.eye(len(chosen)), G[:, chosen].shape))
    np.testing.assert_allclose((G @ inputs["v_i"][..., None])[..., 0], v, atol=1e-12)
    np.testing.assert_array_equal(a[:, chosen], inputs["a_i"])
    for k, q in enumerate(inputs["q"]):
        J = jacobian(model, q)
        np.testing.assert_allclose(J @ G[k], 0, atol=1e-9)
        rest = drift(model, q, np.array(model.coupling.extended(list(v[k]))))
        np.testing.assert_allclose(J @ a[k], -rest, rtol=1e-9, atol=1e-9 * np.abs(rest).max())


@each_case
def test_projections(name: str, tmp_path: Path) -> None:
    """References are the tree's own functions with resistance, projected by NumPy."""
    robot = load(name, tmp_path, **CASES[name])
    inputs = states(robot)
    ((G,),) = results(robot, "loop_projection", inputs)
    ((v, a),) = results(robot, "loop_motion", inputs)
    whole = {"q": inputs["q"], "v": v, "a": a}
    tau, M = (results(robot, function, whole)[0][0] for function in ("rnea", "crba"))
    left = np.swapaxes(G, 1, 2)
    torque, inertia = (left @ tau[..., None])[..., 0], left @ M @ G
    for (found,), expected in (
        *((x, torque) for x in results(robot, "loop_rnea", inputs)),
        *((x, inertia) for x in results(robot, "loop_crba", inputs)),
        *((x, inputs["a_i"]) for x in results(robot, "loop_aba", {**inputs, "tau_i": torque})),
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize("name", ["four-bar", "four-bar, frame", "two legs"])
def test_forward_dynamics_is_that_of_multipliers(name: str, tmp_path: Path) -> None:
    """References are multipliers by NumPy from M and Jc, and Pinocchio's constraint dynamics."""
    robot = load(name, tmp_path)
    inputs = states(robot)
    ((v, _),) = results(robot, "loop_motion", inputs)
    tau = np.zeros_like(v)
    chosen = list(robot.model.independent)
    tau[:, chosen] = inputs["tau_i"]
    for (found,) in results(robot, "loop_aba", inputs):
        for k, q in enumerate(inputs["q"]):
            for expected in acceleration_with_closed_loop(robot, q, v[k], tau[k]):
                np.testing.assert_allclose(found[k], expected[chosen], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    ("independent", "said"),
    [
        (["crank"], "there is no joint 'crank'; did you mean 'crank_joint'"),
        (
            ["crank_joint", "rocker_joint"],
            "closed loops leave 1 of the velocities of 'crank_joint', 'coupler_joint', 'rocker_joint' "
            "independent, not 2; name joints with 1 in all",
        ),
        (
            "crank_joint",
            r"independent 'crank_joint' is not a list; give a list of joints, such as \['crank'\]",
        ),
    ],
)
def test_what_makes_no_sense(independent: Any, said: str) -> None:
    with pytest.raises(OptionError, match=said):
        rbdgen.load_robot(four_bar(), loops=["tip=end:point"], independent=independent)


def test_a_joint_that_says_nothing_of_the_others_is_refused() -> None:
    """The loop makes two carts on rails move together, and leaves the wheel on one of them free."""
    built = rbdgen.RobotBuilder("rails").add_body("ground")
    slide: dict[str, Any] = {"type": "prismatic", "axis": (1, 0, 0), "mass": 1.0}
    built.add_body("left", parent="ground", **slide)
    built.add_body("right", parent="ground", xyz=(0, 1, 0), **slide)
    built.add_body(
        "wheel", parent="right", type="revolute", axis=(0, 0, 1), mass=1, com=(0, 0, 1), inertia=(1, 1, 1)
    )
    built.add_body("eye", parent="left", type="fixed", xyz=(0, 1, 0))
    said = "the velocities of these joints do not determine those of 'wheel_joint'; name others"
    with pytest.raises(OptionError, match=said):
        rbdgen.load_robot(built, loops=["eye=wheel:point"], independent=["left_joint", "right_joint"])


def test_without_loops_or_names_there_are_no_such_functions() -> None:
    with pytest.raises(OptionError, match=r"'arm7' has no closed loop; give loops=\['FRAME1=FRAME2'\]"):
        rbdgen.load_robot("arm7", independent=["joint1"])
    robot = rbdgen.load_robot(four_bar(), loops=["tip=end:point"])
    said = "'loop_aba' needs independent velocities, which 'four_bar' does not have; give independent=\\['J"
    with pytest.raises(OptionError, match=said):
        rbdgen.build(robot, functions=["loop_aba"])


def test_a_loop_that_cannot_close_is_refused() -> None:
    with pytest.raises(OptionError, match="no position was found in which all loops are closed"):
        rbdgen.load_robot(four_bar(0.1, 0.2, 0.1), loops=["tip=end:point"], independent=["crank_joint"])


def test_compiled(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The manifest lists the choice, the checks pass, and results are those of the textbook forms."""
    robot = load("two legs", tmp_path)
    folder = rbdgen.generate(robot, tmp_path, functions=["rnea", *BY_INDEPENDENT])
    library = rbdgen.load(folder)
    assert library.manifest["independent_velocities"] == [0, 1, 2, 3, 4, 5]
    assert all(finding.passed is not False for finding in check(folder))
    inputs = states(robot)
    for name in BY_INDEPENDENT:
        function = library.functions[name]
        found = function(*(inputs[x.name] for x in function.signature.inputs))
        outputs = found if isinstance(found, tuple) else (found,)
        for ours, theirs in zip(outputs, results(robot, name, inputs)[0], strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(chain_on_the_world(tmp_path))
    asked = ["--loop", "l4=world:point", "--independent", "j0"]
    assert main(["inspect", path, *asked]) == 0
    assert "independent velocities: v[0]" in capsys.readouterr().out
    assert main([path, *asked, "-f", "loop_crba", "-o", str(tmp_path), "--no-compile", "-q"]) == 0
    assert "loop_crba" in (tmp_path / "held" / "manifest.json").read_text()


@pytest.mark.parametrize("name", BY_INDEPENDENT)
def test_estimates_are_near_what_is_traced(name: str) -> None:
    """The robot has two limbs with general axes and placements, which meet at a point."""
    model = build_robot(parse_urdf(urdf([-1, 0, 1, 2, -1, 4, 5, 6]))).model
    anchors = (Frame(str(body), body, model.bodies[body - 1].placement) for body in (3, 7))
    model = replace(model, loops=(Loop(*anchors, "point"),), independent=(0, 1, 2, 3, 4))
    tracer, row = GraphEngine(), BY_INDEPENDENT[name]
    counted = tracer.cost(trace_on(tracer, model, row, row.forms[0])).total
    assert 0.8 < row.operations(tree_size(model)) / counted < 1.25


def test_pinned(golden: Callable[[str, str], None]) -> None:
    """Pins the operations of the cheap forms as traced, and those of the open tree for comparison."""
    lines = []
    for count in (1, 4):
        loops = [f"heel{k}=tip{k}:point" for k in range(count)]
        names = [f"{part}{k}_joint" for k in range(count) for part in ("hip", "thigh", "crank")]
        robot = rbdgen.load_robot(legs(count), "floating", loops=loops, independent=names)
        reduced = reduce(robot.model)
        for tree, closed in (("rnea", "loop_rnea"), ("crba", "loop_crba"), ("aba", "loop_aba")):
            rows = {**TABLE, **BY_INDEPENDENT}
            forms = [(name, form) for name in (tree, closed) for form in rows[name].forms]
            counts = {
                f"{name}-{form.name}": operations(reduced, rows[name], form)
                for name, form in forms
                if form.reduced and form.loops is None and form.worth_trying(robot.model)
            }
            lines.append(f"legs {count}: {counts}\n")
    golden("operation_counts/loops.txt", "".join(lines))


def test_example(capsys: pytest.CaptureFixture[str]) -> None:
    """The example keeps the energy over a second of motion."""
    runpy.run_path(str(Path(__file__).parents[3] / "examples" / "four_bar.py"), run_name="__main__")
    printed = capsys.readouterr().out
    assert "after 1 s: q = [-4.359  4.771  1.981], crank at 1.048 rad/s" in printed
    assert "energy 6.7545 J, then 6.7545 J" in printed
