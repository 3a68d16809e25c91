"""A robot that is built in Python equals the robot that a file describes, and is checked in the same way."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.robots import BUNDLED

import rbdgen
from rbdgen.description.schema import Description
from rbdgen.description.urdf import read_urdf
from rbdgen.errors import DescriptionError, ModelError


def rebuilt(robot: Description) -> rbdgen.RobotBuilder:
    """The builder of a description, with bodies in the order of the links."""
    builder = rbdgen.RobotBuilder(robot.name)
    above = {joint.child: joint for joint in robot.joints}
    for link in sorted(robot.links, key=lambda link: link.name != robot.root):
        given: dict[str, Any] = {}
        if link.inertial is not None:
            body = link.inertial
            assert body.origin.rpy == (0, 0, 0)
            moments = (body.ixx, body.ixy, body.ixz, body.iyy, body.iyz, body.izz)
            given |= {"mass": body.mass, "com": body.origin.xyz, "inertia": moments}
        if (joint := above.get(link.name)) is not None:
            given |= {"parent": joint.parent, "joint": joint.name, "type": joint.type}
            given |= {"xyz": joint.origin.xyz, "rpy": joint.origin.rpy}
            given |= {"axis": None if joint.type == "fixed" else joint.axis}
            if joint.type != "fixed":
                given |= {"damping": joint.damping, "friction": joint.friction}
            if joint.mimic is not None:
                given["mimic"] = (joint.mimic.joint, joint.mimic.multiplier, joint.mimic.offset)
            if joint.limit is not None:
                limit = joint.limit
                ends = None if limit.lower is None else (limit.lower, limit.upper)
                given |= {"limit": ends, "effort": limit.effort, "velocity": limit.velocity}
        builder.add_body(link.name, **given)
    return builder


@pytest.mark.parametrize("name", [name for name in BUNDLED if name != "puma560"])  # rotated inertias
def test_it_gives_what_the_file_gives(name: str) -> None:
    expected, found = read_urdf(BUNDLED[name]), rebuilt(read_urdf(BUNDLED[name])).description()
    links = [replace(link, line=0, inertial=None) for link in found.links]
    assert links == [replace(link, line=0, inertial=None) for link in expected.links]
    for ours, theirs in zip(found.links, expected.links, strict=True):
        assert ours.inertial == (theirs.inertial and replace(theirs.inertial, line=ours.line))
    for mine, its in zip(found.joints, expected.joints, strict=True):
        assert replace(mine, line=0) == replace(its, line=0)
    assert (found.name, found.root, found.warnings) == (expected.name, expected.root, ())


def pendulum(**changed: Any) -> rbdgen.RobotBuilder:
    body: dict[str, Any] = {"parent": "base", "type": "continuous", "axis": (0, 1, 0)}
    body |= {"mass": 2.0, "com": (0, 0, -0.5), "inertia": (0.1, 0.2, 0.1)}
    return rbdgen.RobotBuilder("pendulum").add_body("base").add_body("rod", **(body | changed))


def test_a_pendulum_by_hand() -> None:
    """The gravity torque is m g l sin(q), and M = m l^2 + I."""
    lib = rbdgen.build(rbdgen.load_robot(pendulum()), functions=["gravity", "crba"])
    assert lib.joint_names == ("rod_joint",)
    assert lib.gravity([0.3]) == pytest.approx([2 * 9.81 * 0.5 * np.sin(0.3)])
    assert lib.crba([0.3])[0, 0] == pytest.approx(2 * 0.25 + 0.2)


INERTIAS = {
    "three": (0.1, 0.2, 0.3),
    "six": (0.1, 0, 0, 0.2, 0, 0.3),
    "matrix": [[0.1, 0, 0], [0, 0.2, 0], [0, 0, 0.3]],
    "array": np.diag([0.1, 0.2, 0.3]),
}


@pytest.mark.parametrize("inertia", INERTIAS.values(), ids=INERTIAS)
def test_an_inertia_is_three_or_six_numbers_or_a_matrix(inertia: Any) -> None:
    body = pendulum(inertia=inertia).description().links[1].inertial
    assert body is not None
    assert (body.ixx, body.ixy, body.ixz, body.iyy, body.iyz, body.izz) == (0.1, 0, 0, 0.2, 0, 0.3)


def test_an_axis_may_have_any_length() -> None:
    assert pendulum(axis=np.array([0, 3, 4])).description().joints[0].axis == (0, 0.6, 0.8)


@pytest.mark.parametrize(
    ("given", "nq", "nv"),
    [
        ({"type": "planar"}, 3, 3),
        ({"type": "spherical"}, 4, 3),
        ({"type": "floating"}, 7, 6),
        ({"type": "helical", "axis": (0, 0, 2), "pitch": 0.1}, 1, 1),
        ({"type": "universal", "axis": (1, 0, 0), "second_axis": (0, 2, 0)}, 2, 2),
    ],
)
def test_joints_of_every_type(given: Any, nq: int, nv: int) -> None:
    robot = rbdgen.load_robot(pendulum(**{"axis": None} | given))
    assert (robot.model.nq, robot.model.nv) == (nq, nv)
    if given["type"] == "helical":  # the weight of a hanging screw acts along its thread
        gravity = rbdgen.trace(robot, "gravity")([0.3]).full().ravel()
        assert gravity == pytest.approx([2 * 9.81 * 0.1])


def test_resistance_by_hand() -> None:
    """Springs and rotors are always included, damping and friction only on request."""
    own = {"damping": 0.7, "friction": 0.5, "armature": 0.4, "stiffness": 3, "spring_reference": -0.2}
    rnea = rbdgen.trace(rbdgen.load_robot(pendulum(**own), damping=True, friction="exact"), "rnea")
    bodies = 2 * 9.81 * 0.5 * np.sin(0.3) + (2 * 0.25 + 0.2) * 0.9
    expected = bodies + 0.7 * 2 + 0.5 + 3 * (0.3 + 0.2) + 0.4 * 0.9
    assert rnea(0.3, 2, 0.9).full().ravel() == pytest.approx([expected])
    robot = rbdgen.load_robot(pendulum(**own))
    expected -= 0.7 * 2 + 0.5
    assert rbdgen.trace(robot, "rnea")(0.3, 2, 0.9).full().ravel() == pytest.approx([expected])
    (told,) = robot.warnings
    assert told.startswith("robot 'pendulum', body:2: joint 'rod_joint' has damping 0.7, friction 0.5; left")


def test_a_joint_follows_another() -> None:
    """A joint may follow one that is added later."""
    finger = {"type": "prismatic", "mass": 0.1, "inertia": (0.1, 0.1, 0.1)}
    hand = rbdgen.RobotBuilder("hand").add_body("palm")
    hand.add_body("right", parent="palm", axis=(0, 1, 0), mimic=("left_joint", -2.0, 0.01), **finger)
    hand.add_body("left", parent="palm", axis=(0, 1, 0), **finger)
    lib = rbdgen.build(rbdgen.load_robot(hand), ["crba"])
    assert lib.joint_names == ("left_joint",)
    assert lib.full_configuration([0.3])["right_joint"] == pytest.approx(0.01 - 0.6)
    assert lib.crba([0.3])[0, 0] == pytest.approx(0.1 + 4 * 0.1)
    assert rbdgen.load_robot(hand, mimic="independent").model.nv == 2


def test_what_is_odd_is_warned_of() -> None:
    robot = pendulum(inertia=(0.1, 0.1, 0.9)).add_body("tip", parent="rod", type="fixed")
    (warning,) = rbdgen.load_robot(robot).warnings
    assert warning == (
        "robot 'pendulum', body:2: inertia of link 'rod' violates the triangle inequality: its largest "
        "principal moment exceeds the sum of the others by 0.7 kg m^2; used as it stands"
    )


def test_an_inertia_in_other_units_smells() -> None:
    (warning,) = rbdgen.load_robot(pendulum(inertia=(1e4, 1e4, 1e4))).warnings
    assert warning.startswith(
        "robot 'pendulum', body:2: link 'rod' of 2 kg has a radius of gyration of 86.6 m"
    )
    assert not rbdgen.load_robot(pendulum(inertia=(500, 500, 500))).warnings


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "no parent": ({"parent": None}, "'rod' has no parent; name the body that carries it"),
    "no type": ({"type": None}, "joint 'rod_joint' has no type; choose from: revolute"),
    "an unknown type": ({"type": "hinge"}, "joint 'rod_joint' has the type 'hinge'"),
    "no axis": ({"axis": None}, "has no axis; give axis"),
    "an axis without direction": ({"axis": (0, 0, 0)}, "has zero length"),
    "an axis of a fixed joint": ({"type": "fixed"}, "leave axis out"),
    "a helical joint without a pitch": ({"type": "helical"}, "helical joint 'rod_joint' has no pitch"),
    "a pitch of a continuous joint": ({"pitch": 0.1}, "leave pitch out"),
    "a universal joint without its other axis": ({"type": "universal"}, "has no second_axis"),
    "an axis of a planar joint": ({"type": "planar"}, "leave axis out"),
    "a limit of a continuous joint": ({"limit": (0, 1)}, "leave limit out"),
    "a negative mass": ({"mass": -1}, "mass is -1 kg, less than zero"),
    "a mass that is no number": ({"mass": "2"}, "mass is ['2']; give 1 finite number"),
    "NaN": ({"xyz": (0, 0, float("nan"))}, "xyz is (0, 0, nan); give 3 finite numbers"),
    "two numbers": ({"rpy": (0, 0)}, "rpy is (0, 0); give 3 finite numbers"),
    "one moment": ({"inertia": 7}, "inertia is 7; give 3 or 6 finite numbers"),
    "no numbers": ({"com": 7}, "com is 7; give 3 finite numbers"),
    "inertia without a mass": ({"mass": None}, "com and inertia are given without a mass"),
    "four moments": ({"inertia": (1, 2, 3, 4)}, "inertia is (1, 2, 3, 4); give 3 or 6 finite numbers"),
    "a matrix that is not symmetric": ({"inertia": np.arange(9.0).reshape(3, 3)}, "is not symmetric"),
    "a matrix of another shape": ({"inertia": [[1, 2], [3, 4], [5, 6]]}, "give 9 finite numbers"),
    "damping of a fixed joint": (
        {"type": "fixed", "axis": None, "damping": 1, "stiffness": 2},
        "fixed joint 'rod_joint' has damping, stiffness; leave it out",
    ),
    "a fixed joint that follows": (
        {"type": "fixed", "axis": None, "mimic": ("a", 1, 0)},
        "fixed joint 'rod_joint' has mimic; leave it out",
    ),
    "a negative damping": (
        {"damping": -1},
        "damping of joint 'rod_joint' is -1; give a number of 0 or more",
    ),
    "a spring of NaN": ({"stiffness": float("nan")}, "stiffness is [nan]; give 1 finite number"),
    "a name for a mimic": ({"mimic": "elbow"}, "mimic of joint 'rod_joint' is 'elbow'; give (joint, multi"),
    "a mimic without an offset": ({"mimic": ("elbow", 1)}, "is ('elbow', 1); give (joint, multiplier, of"),
    "a mimic of text": ({"mimic": ("elbow", "1", 0)}, "multiplier and offset of mimic is ('1', 0); give 2"),
    "a name without letters": ({"joint": " "}, "' ' is no name for the joint"),
    "a name of two lines": ({"joint": "a\nb"}, r"'a\nb' is no name for the joint"),
}


@pytest.mark.parametrize("what", BAD)
def test_what_is_wrong_with_a_body_is_one_line(what: str) -> None:
    changed, told = BAD[what]
    with pytest.raises(DescriptionError) as error:
        pendulum(**changed)
    assert str(error.value).startswith("robot 'pendulum', body:2: ")
    assert told in str(error.value)
    assert "\n" not in str(error.value)


def test_a_body_that_was_refused_was_not_added() -> None:
    builder = rbdgen.RobotBuilder("r").add_body("a")
    with pytest.raises(DescriptionError):
        builder.add_body("b", parent="a", type="fixed", mass=-1)
    assert [link.name for link in builder.description().links] == ["a"]
    assert builder.description().joints == ()


def test_what_all_bodies_are_needed_for_is_found_in_the_end() -> None:
    doubled = pendulum().add_body("rod", parent="base", type="fixed", joint="j")
    for builder, told in (
        (rbdgen.RobotBuilder("r"), "robot 'r', body: the robot has no body"),
        (doubled, "robot 'pendulum', body:3: link 'rod' is already defined at line 2"),
        (pendulum(parent="bass"), "robot 'pendulum', body:2: parent 'bass' of joint 'rod_joint' is no link"),
    ):
        with pytest.raises(DescriptionError) as error:
            rbdgen.load_robot(builder)
        assert str(error.value).startswith(told)
    with pytest.raises(ModelError, match=r"^robot 'pendulum', body:2: nothing resists joint 'rod_joint'"):
        rbdgen.load_robot(pendulum(mass=None, com=(0, 0, 0), inertia=(0, 0, 0)))


@pytest.mark.parametrize(
    "given", [{"axis": np.array([0, 0, 1])}, {"xyz": (0, 0, 1)}, {"damping": 0.0}, {"mimic": ["j", 1, 0]}]
)
def test_the_root_has_no_joint(given: Any) -> None:
    with pytest.raises(DescriptionError, match="is the first body, the root, which no joint moves"):
        rbdgen.RobotBuilder("r").add_body("a", **given)


def test_a_joint_that_is_followed_is_there() -> None:
    with pytest.raises(ModelError, match=r"^robot 'pendulum', body:2: joint 'rod_joint' mimics 'elbow', whi"):
        rbdgen.load_robot(pendulum(mimic=("elbow", 1, 0)))


@pytest.mark.parametrize("name", ["", None, "a\0b"])
def test_a_robot_has_a_name(name: Any) -> None:
    with pytest.raises(DescriptionError, match="is no name for the robot"):
        rbdgen.RobotBuilder(name)


@pytest.mark.parametrize("path", [5, None, b"arm7"])
def test_what_is_no_path_is_refused(path: Any) -> None:
    with pytest.raises(rbdgen.RbdgenError, match="is no path; give that of a robot's file"):
        rbdgen.load_robot(path)


def test_inertias_of_one() -> None:
    """With inertias of 1, products are integers, whose halves must not be fractions that CasADi lacks."""
    ball = rbdgen.RobotBuilder("ball").add_body("ball", mass=1.0, inertia=(1, 1, 1))
    rnea = rbdgen.trace(rbdgen.load_robot(ball, base="floating"), "rnea", variant="classical")
    tau = rnea([0] * 6 + [1], [0] * 6, [1] * 6)
    np.testing.assert_allclose(tau.full().ravel(), [1, 1, 10.81, 1, 1, 1])
