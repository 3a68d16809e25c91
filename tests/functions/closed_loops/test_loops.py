"""Functions of closed loops agree with Pinocchio and with differences; their structure and descriptions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support.closed_loops import Oracle, acceleration_with_closed_loop, drift, jacobian, position
from support.few import few
from support.functions import OF_CLOSED_LOOPS
from support.linkages import four_bar, two_legs
from support.rationals import Rationals
from support.synthetic import urdf
from support.trees import TREES, chain

import rbdgen
from rbdgen import RobotBuilder
from rbdgen.checks.check import check
from rbdgen.description.schema import LoopKind
from rbdgen.description.urdf import parse_urdf
from rbdgen.functions.closed_loops.independent import closed_positions
from rbdgen.functions.closed_loops.relative_motion import loop_jacobian
from rbdgen.graph.engine import GraphEngine
from rbdgen.model.build import build_robot
from rbdgen.model.closed_loops import Loop
from rbdgen.model.frames import Frame
from rbdgen.model.model import WORLD, Model
from rbdgen.model.tree_size import tree_size
from rbdgen.selection.trace import trace_on
from rbdgen.spatial.ops import Matrix, Transform, Vector

Array = NDArray[np.float64]

CLOSED = {
    "types": (TREES["tree of types"], (3, 6)),
    "two on the world": (TREES["arms of types"], (2, 4)),
    "floating": (TREES["floating arms with a ball"], (2, 4)),
    "to an ancestor": (chain("RFPR"), (0, 3)),
    "from a descendant": (chain("RPSR"), (3, 1)),
    "to the world": (chain("FSR"), (2, WORLD)),
    "from the world": (chain("LHR"), (WORLD, 2)),
}
"""Trees, each with the two bodies that a closed loop connects."""


def tree_with_loop(name: str, kind: LoopKind) -> Model:
    tree, (first, second) = CLOSED[name]
    numbers = Rationals(17)
    model = numbers.model(*tree)
    anchors = (Frame(str(body), body, numbers.transform()) for body in (first, second))
    return replace(model, loops=(Loop(*anchors, kind),))


each_tree = pytest.mark.parametrize("name", CLOSED)
each_kind = pytest.mark.parametrize("kind", ["point", "frame"])


def some_state(model: Model, seed: int = 3) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(seed)
    return model.manifold.random(rng), *rng.normal(size=(2, model.nv))


@each_kind
@each_tree
def test_jacobian_is_that_of_pinocchio(name: str, kind: LoopKind) -> None:
    """They agree in configurations that do not close the loop, too."""
    model = tree_with_loop(name, kind)
    q, v, _ = some_state(model)
    np.testing.assert_allclose(jacobian(model, q), Oracle(model, q, v).jacobian(kind), rtol=0, atol=1e-12)


@each_tree
def test_drift_of_a_frame_is_the_relative_acceleration(name: str) -> None:
    model = tree_with_loop(name, "frame")
    q, v, _ = some_state(model)
    expected = Oracle(model, q, v).frame_drift()
    np.testing.assert_allclose(drift(model, q, v), expected, rtol=1e-12, atol=1e-12)


@each_kind
@each_tree
def test_drift_is_the_rate_of_the_jacobian(name: str, kind: LoopKind) -> None:
    model = tree_with_loop(name, kind)
    q, v, a = some_state(model)

    def velocity(t: float) -> Array:
        return jacobian(model, model.manifold.integrate(q, t * v + t * t / 2 * a)) @ (v + t * a)

    rate = (velocity(1e-5) - velocity(-1e-5)) / 2e-5
    np.testing.assert_allclose(jacobian(model, q) @ a + drift(model, q, v), rate, rtol=1e-7, atol=1e-7)


@each_tree
def test_velocity_of_a_point_is_the_rate_of_its_position(name: str) -> None:
    """The points need not coincide: the loop is open here."""
    model = tree_with_loop(name, "point")
    q, v, _ = some_state(model)
    ends = [position(model, model.manifold.integrate(q, t * v)) for t in (1e-6, -1e-6)]
    np.testing.assert_allclose(jacobian(model, q) @ v, (ends[0] - ends[1]) / 2e-6, rtol=1e-8, atol=1e-8)


@each_tree
def test_velocity_of_a_closed_frame_is_the_rate_of_its_position(name: str) -> None:
    """Frame 2 is placed so that it coincides with frame 1 in the configuration of the test."""
    model = tree_with_loop(name, "frame")
    q, v, _ = some_state(model)
    (loop,) = model.loops
    oracle = Oracle(model, q, v)
    (one, in_one), (two, _) = oracle.frames
    M = oracle.data.oMi[two].actInv(oracle.data.oMi[one] * in_one)
    laid = Transform(Matrix(*(Vector(*row) for row in M.rotation.tolist())), Vector(*M.translation.tolist()))
    model = replace(model, loops=(replace(loop, second=replace(loop.second, placement=laid)),))
    assert np.abs(position(model, q)).max() < 1e-13
    ends = [position(model, model.manifold.integrate(q, t * v)) for t in (1e-6, -1e-6)]
    np.testing.assert_allclose(jacobian(model, q) @ v, (ends[0] - ends[1]) / 2e-6, rtol=1e-8, atol=1e-8)


def test_position_of_a_frame_is_the_sine_of_the_angle_about_its_axis() -> None:
    robot = rbdgen.load_robot(four_bar(), loops=["rocker=plane"])
    residual = position(robot.model, np.array([0.1, 0.2, 0.4]))
    np.testing.assert_allclose(residual[3:], [0, 0, -np.sin(0.4)], atol=1e-15)


def test_what_carries_both_frames_takes_no_part() -> None:
    """The columns of the base, which carries both frames, are 0 before any simplification."""
    model = tree_with_loop("floating", "frame")
    rows = loop_jacobian(model, Rationals(5).coordinates(model))
    assert all(type(value) is int and value == 0 for row in rows for value in row[:6])
    assert all(any(row[k] != 0 for row in rows) for k in range(6, model.nv))


LINKAGES = {
    "four-bar, point": (four_bar(tilt=(0.3, -0.5, 0.7)).add_loop("tip", "end", "point"), 2, 1),
    "four-bar, frame": (four_bar(tilt=(0.3, -0.5, 0.7)).add_loop("tip", "end"), 3, 0),
    "two legs": (two_legs().add_loop("corner", "upper1", "point"), 3, 6),
}
"""Each linkage with the rank of its Jacobian and its number of remaining degrees of freedom."""


@pytest.mark.parametrize("name", LINKAGES)
def test_linkages_move_as_pinocchio_says(name: str) -> None:
    built, rank, freedoms = LINKAGES[name]
    robot = rbdgen.load_robot(built)
    model = robot.model
    assert robot.warnings == ()
    assert robot.independent_rows is not None
    assert len(robot.independent_rows) == rank == model.nv - freedoms
    closed = closed_positions(model)
    assert len(closed) > 3
    rng = np.random.default_rng(4)
    for q in closed[:3]:
        assert np.abs(position(model, q)).max() < 1e-9
        J = jacobian(model, q)
        assert np.linalg.matrix_rank(J, 1e-7) == rank
        assert np.linalg.matrix_rank(J[list(robot.independent_rows)], 1e-7) == rank
        v = rng.normal(size=model.nv)
        v -= np.linalg.pinv(J, 1e-7) @ J @ v
        ours, theirs = acceleration_with_closed_loop(robot, q, v, rng.normal(size=model.nv))
        np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-6)


def test_a_loop_that_cannot_close_is_told() -> None:
    robot = rbdgen.load_robot(four_bar(0.1, 0.2, 0.1), loops=["tip=end:point"])
    assert robot.independent_rows is None
    assert [text for text in robot.warnings if "no position was found" in text] == [
        "'four_bar': no position was found in which all loops are closed; check their frames and lengths"
    ]


def test_half_a_turn_is_not_closed() -> None:
    """The sine of half a turn is 0, like that of no turn."""
    built = RobotBuilder("slide").add_body("ground")
    built.add_body("cart", parent="ground", type="prismatic", axis=(1, 0, 0), mass=1)
    built.add_body("back", parent="cart", type="fixed", rpy=(0, 0, np.pi))
    assert rbdgen.load_robot(built, loops=["ground=cart"]).independent_rows == (0,)
    robot = rbdgen.load_robot(built, loops=["ground=back"])
    assert np.abs(position(robot.model, np.zeros(1))).max() < 1e-15
    assert robot.independent_rows is None


@pytest.mark.parametrize("engine", few(["sympy"], ["casadi", "sympy", "graph"]))
def test_compiled(engine: str) -> None:
    robot = rbdgen.load_robot(two_legs(), loops=["upper1=corner", "platform=world:point"], base="floating")
    model = robot.model
    lib = rbdgen.build(robot, functions=list(OF_CLOSED_LOOPS), engine=engine)
    q, v, _ = some_state(model)
    assert lib.loop_jacobian(q).shape == (9, model.nv)
    np.testing.assert_allclose(lib.loop_position(q), position(model, q), rtol=0, atol=1e-14)
    np.testing.assert_allclose(lib.loop_jacobian(q), jacobian(model, q), rtol=0, atol=1e-14)
    np.testing.assert_allclose(lib.loop_drift(q, v), drift(model, q, v), rtol=0, atol=1e-13)


def test_generated_folder_tells_and_checks(tmp_path: Path) -> None:
    robot = rbdgen.load_robot(four_bar(), loops=["tip=end:point"])
    folder = rbdgen.generate(robot, tmp_path, functions=["rnea", *OF_CLOSED_LOOPS])
    manifest = rbdgen.load(folder).manifest
    assert manifest["nloop"] == 3
    assert manifest["independent_loop_rows"] == [0, 1]
    (told,) = manifest["loops"]
    assert (told["kind"], told["rows"]) == ("point", 3)
    assert [(x["name"], x["body"]) for x in told["frames"]] == [("tip", 1), ("end", 2)]
    findings = check(folder)
    assert all(finding.passed is not False for finding in findings)
    assert any("drift" in finding.what and finding.passed for finding in findings)


@each_kind
def test_estimates_are_near_what_is_traced(kind: LoopKind) -> None:
    """Estimates are near the traced counts for two limbs with general axes, placements and frames."""
    model = build_robot(parse_urdf(urdf([-1, 0, 1, 2, -1, 4, 5, 6]))).model
    anchors = (Frame(str(body), body, model.bodies[body - 1].placement) for body in (3, 7))
    model = replace(model, loops=(Loop(*anchors, kind),))
    for row in OF_CLOSED_LOOPS.values():
        tracer = GraphEngine()
        counted = tracer.cost(trace_on(tracer, model, row, row.forms[0])).total
        assert 0.8 < row.operations(tree_size(model)) / counted < 1.25, row.name


def test_a_long_robot_is_closed_as_well() -> None:
    """The tolerance of closing a loop grows with the lengths of the robot, as rounding does."""
    long = 1e5
    built = RobotBuilder("long").add_body("ground")
    turning: dict[str, Any] = {"type": "revolute", "axis": (0, 0, 1), "mass": 1.0, "com": (1, 0, 0)}
    for side, x in enumerate((0.0, 1.2 * long)):
        built.add_body(f"a{side}", parent="ground", xyz=(x, 0, 0), **turning)
        built.add_body(f"b{side}", parent=f"a{side}", xyz=(long, 0, 0), **turning)
        built.add_body(f"tip{side}", parent=f"b{side}", type="fixed", xyz=(long, 0, 0))
    assert rbdgen.load_robot(built.add_loop("tip0", "tip1", "point")).independent_rows == (0, 1)


FOLLOWING = """<robot name="r"><link name="root"/>
<link name="a">INERTIAL</link>
<link name="b">INERTIAL</link>
<link name="c">INERTIAL</link>
<joint name="ja" type="continuous"><parent link="root"/><child link="a"/><axis xyz="1 2 0"/></joint>
<joint name="jb" type="prismatic"><parent link="a"/><child link="b"/><axis xyz="0 1 2"/>
<origin xyz=".1 .2 .3" rpy=".1 .5 .3"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
<joint name="jc" type="continuous"><parent link="b"/><child link="c"/><axis xyz="1 0 3"/>
<origin xyz=".3 .2 .3" rpy=".4 .5 .1"/><mimic joint="ja" multiplier="-1.5" offset=".2"/></joint></robot>"""


def test_joints_that_follow_others_fold(tmp_path: Path) -> None:
    """Jc has a column for each independent joint, and the drift includes the joints that follow it."""
    path = tmp_path / "r.urdf"
    inertia = '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
    path.write_text(FOLLOWING.replace("INERTIAL", f'<inertial><mass value="1"/>{inertia}</inertial>'))
    robot = rbdgen.load_robot(path, loops=["c=world:point"])
    lib = rbdgen.build(robot, functions=list(OF_CLOSED_LOOPS))
    q, v, a = np.random.default_rng(1).normal(size=(3, 2))
    assert lib.loop_jacobian(q).shape == (3, 2)
    e = 1e-4
    before, now, after = (lib.loop_position(q + t * v + t * t / 2 * a) for t in (-e, 0, e))
    np.testing.assert_allclose(lib.loop_jacobian(q) @ v, (after - before) / 2 / e, atol=1e-6)
    second = (after - 2 * now + before) / e**2
    np.testing.assert_allclose(lib.loop_jacobian(q) @ a + lib.loop_drift(q, v), second, atol=1e-5)
