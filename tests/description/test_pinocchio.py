"""A Pinocchio model becomes a robot with the same vectors and the same results."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from support.robots import BUNDLED

import rbdgen
from rbdgen.errors import DescriptionError, OptionError


def model_of(name: str, base: str) -> Any:
    free = (pin.JointModelFreeFlyer(),) if base == "floating" else ()
    return pin.buildModelFromUrdf(str(BUNDLED[name]), *free)


def numbers(value: Any) -> list[float]:
    """The numbers of a scalar, a vector or a matrix."""
    return [y for x in value for y in numbers(x)] if isinstance(value, Iterable) else [float(value)]


@pytest.mark.parametrize("base", ["fixed", "floating"])
@pytest.mark.parametrize("name", ["arm7", "quadruped12"])
def test_a_urdf_by_way_of_pinocchio_gives_the_same_model(name: str, base: Any) -> None:
    found = rbdgen.from_pinocchio(model_of(name, base))
    expected = rbdgen.load_robot(BUNDLED[name], base=base)
    assert (found.joint_names, found.base, found.warnings) == (expected.joint_names, base, ())
    assert [a.link for a in found.attachments] == [a.link for a in expected.attachments]
    for ours, theirs in zip(found.model.bodies, expected.model.bodies, strict=True):
        assert (ours.name, ours.parent, ours.joint.type) == (theirs.name, theirs.parent, theirs.joint.type)
        assert ours.joint.limit == theirs.joint.limit
        for mine, its in (
            (ours.joint.axis, theirs.joint.axis),
            (ours.placement.translation, theirs.placement.translation),
            (ours.placement.rotation, theirs.placement.rotation),
            (ours.inertia.first_moment, theirs.inertia.first_moment),
            (ours.inertia.rotational, theirs.inertia.rotational),
        ):
            np.testing.assert_allclose(numbers(mine), numbers(its), rtol=1e-13, atol=1e-15)


def inertia(rng: np.random.Generator) -> Any:
    """Draws the inertia of an ellipsoid at any place."""
    return pin.SE3.Random().act(pin.Inertia.FromEllipsoid(rng.uniform(1, 3), *rng.uniform(0.1, 0.5, 3)))


def random_model(seed: int, joints: int, *, first: Any = None) -> Any:
    """A chain with branches, whose placements, inertias and axes are drawn by Pinocchio."""
    pin.seed(seed)
    rng = np.random.default_rng(seed)
    model = pin.Model()
    model.name = "random"
    model.gravity.linear = np.array([0.5, -1.0, -9.0])
    parent = 0
    if first is not None:
        parent = model.addJoint(0, first, pin.SE3.Identity(), "root_joint")
        model.appendBodyToJoint(parent, inertia(rng), pin.SE3.Identity())
    for k in range(joints):
        axis = rng.normal(size=3)
        axis /= np.linalg.norm(axis)
        turning, sliding = pin.JointModelRevoluteUnaligned(axis), pin.JointModelPrismaticUnaligned(axis)
        kind = (turning, sliding, pin.JointModelRZ())[k % 3]
        joint = model.addJoint(parent, kind, pin.SE3.Random(), f"j{k:02}")
        model.appendBodyToJoint(joint, inertia(rng), pin.SE3.Random())
        parent = joint if k % 4 else parent
    return model


@pytest.mark.parametrize("first", [None, pin.JointModelFreeFlyer()], ids=["fixed", "floating"])
def test_results_are_those_of_pinocchio(first: Any) -> None:
    model = random_model(7, 6, first=first)
    robot = rbdgen.from_pinocchio(model, snap=0)
    rnea, crba = rbdgen.trace(robot, "rnea"), rbdgen.trace(robot, "crba")
    data, rng = model.createData(), np.random.default_rng(3)
    assert robot.warnings == ()
    for _ in range(5):
        q = pin.integrate(model, pin.neutral(model), rng.normal(size=model.nv))
        v, a = rng.normal(size=(2, model.nv))
        tau = pin.rnea(model, data, q, v, a)
        np.testing.assert_allclose(rnea(q, v, a).full().ravel(), tau, rtol=1e-11, atol=1e-11)
        M = np.triu(pin.crba(model, data, q))
        np.testing.assert_allclose(np.triu(crba(q).full()), M, rtol=1e-11, atol=1e-11)


def test_a_continuous_joint_has_its_angle() -> None:
    model = pin.Model()
    joint = model.addJoint(0, pin.JointModelRUBY(), pin.SE3.Identity(), "wheel")
    model.appendBodyToJoint(joint, pin.Inertia(2.0, np.array([0.1, 0, 0]), np.eye(3)), pin.SE3.Identity())
    robot = rbdgen.from_pinocchio(model)
    q, angle = np.array([np.cos(0.3), np.sin(0.3)]), [0.3]
    expected = pin.computeGeneralizedGravity(model, model.createData(), q)
    assert rbdgen.trace(robot, "gravity")(angle).full().ravel() == pytest.approx(expected)


def test_fixed_links_are_known_by_name() -> None:
    model = random_model(1, 2)
    at = pin.SE3.Random()
    model.addBodyFrame("tool", 2, at, 0)
    (tool,) = (a for a in rbdgen.from_pinocchio(model, snap=0).attachments if a.link == "tool")
    assert (tool.body, tool.merged) == (1, True)
    np.testing.assert_allclose(numbers(tool.placement.rotation), numbers(at.rotation), atol=1e-15)
    np.testing.assert_allclose(numbers(tool.placement.translation), at.translation)


# ---- resistance


def resisting(first: Any = None) -> Any:
    model = random_model(1, 4, first=first)
    ball = model.addJoint(model.njoints - 1, pin.JointModelSpherical(), pin.SE3.Random(), "k")
    model.appendBodyToJoint(ball, inertia(np.random.default_rng(1)), pin.SE3.Random())
    joints = slice(0 if first is None else 6, None)
    for what, own in (
        ("armature", [0, 0.1, 0.2, 0]),
        ("damping", [0, 0, 0.2, 0]),
        ("friction", [0.3, 0, 0, 0]),
    ):
        values = np.zeros(model.nv)
        values[joints] = [*own, *[own[2]] * 3]
        setattr(model, what, values)
    if hasattr(model, "lowerDryFrictionLimit"):
        model.lowerDryFrictionLimit = -model.friction
    return model


@pytest.mark.parametrize(
    "first",
    [None, pytest.param(pin.JointModelFreeFlyer(), marks=pytest.mark.campaign)],
    ids=["fixed", "floating"],
)
def test_rotors_are_those_of_pinocchio_and_damping_comes_on_top(first: Any) -> None:
    model, rng = resisting(first), np.random.default_rng(2)
    data = model.createData()
    for losses in (False, True):
        friction = "exact" if losses else None
        robot = rbdgen.from_pinocchio(model, snap=0, damping=losses, friction=friction)
        rnea, crba = rbdgen.trace(robot, "rnea"), rbdgen.trace(robot, "crba")
        q = pin.integrate(model, pin.neutral(model), rng.normal(size=model.nv))
        v, a = rng.normal(size=(2, model.nv))
        tau = pin.rnea(model, data, q, v, a)
        tau += losses * (model.damping * v + model.friction * np.sign(v))
        np.testing.assert_allclose(rnea(q, v, a).full().ravel(), tau, rtol=1e-11, atol=1e-11)
        M = np.triu(pin.crba(model, data, q))
        np.testing.assert_allclose(np.triu(crba(q).full()), M, rtol=1e-11, atol=1e-11)
        told = [
            warning.partition(": ")[2].partition(":")[0].partition("' has ")[2] for warning in robot.warnings
        ]
        left = ["friction 0.3; left out", "damping 0.2; left out", "damping 0.2; left out"]
        assert told == ([] if losses else left)


def test_parameters_of_rotors_are_those_that_pinocchio_uses(tmp_path: Path) -> None:
    """Pinocchio adds rotors to the armature when it reads a file; values that are set later have no
    effect."""
    path, model = tmp_path / "r.srdf", random_model(1, 2)
    rotor = '<joint name="j01" mass="1e-5" gear_ratio="100"/>'
    path.write_text(f'<robot name="random"><rotor_params>{rotor}</rotor_params></robot>')
    pin.loadRotorParameters(model, str(path), False)
    robot = rbdgen.from_pinocchio(model)
    assert [joint.resistance.armature for joint in robot.joints] == pytest.approx([0, 0.1])
    assert robot.warnings == ()
    model.armature = np.zeros(2)
    robot = rbdgen.from_pinocchio(model)
    assert not any(joint.resistance.acts for joint in robot.joints)
    assert robot.warnings == (
        "Pinocchio's model 'random': joint 'j01' has a rotor, but no armature; ignored, as Pinocchio's "
        "functions do",
    )


def test_what_is_not_read_is_told() -> None:
    model = random_model(1, 3, first=pin.JointModelFreeFlyer())
    model.armature = np.ones(model.nv)
    told = [x.partition(": ")[2] for x in rbdgen.from_pinocchio(model).warnings]
    assert told == ["joint 'root_joint' has armature; ignored: a floating base has none"]
    if hasattr(model, "lowerDryFrictionLimit"):
        model.armature, model.lowerDryFrictionLimit = np.zeros(model.nv), -np.eye(model.nv)[7]
        told = [x.partition(": ")[2] for x in rbdgen.from_pinocchio(model).warnings]
        assert told == ["joint 'j01' has a different friction backward; ignored: the forward one is used"]


def test_resistance_that_differs_within_a_joint_is_refused() -> None:
    model = resisting()
    model.armature = np.arange(7.0)
    with pytest.raises(DescriptionError, match="joint 'k' has armature that differs between its degrees"):
        rbdgen.from_pinocchio(model)


@pytest.mark.parametrize("option", [{"damping": 3}, {"friction": "tanh"}, {"mimic": "maybe"}])
def test_options_that_make_no_sense(option: Any) -> None:
    with pytest.raises(rbdgen.RbdgenError, match=f"^{next(iter(option))} .*; (give|choose)|choose"):
        rbdgen.from_pinocchio(random_model(1, 1), **option)


# ---- followers


def with_follower(kind: Any, *, scaling: float = -1.5) -> Any:
    """A model in which a joint of this type, at the end of a branch, follows the first joint."""
    model = random_model(2, 3)
    joint = model.addJoint(2, kind, pin.SE3.Random(), "k")
    model.appendBodyToJoint(joint, inertia(np.random.default_rng(3)), pin.SE3.Random())
    return pin.transformJointIntoMimic(model, 1, joint, scaling, 0.4)


FOLLOWERS = {
    "revolute": pin.JointModelRevoluteUnaligned(0.6, 0.0, 0.8),
    "prismatic": pin.JointModelPY(),
}


@pytest.mark.parametrize("kind", FOLLOWERS)
def test_mimic_joints_follow_as_in_pinocchio(kind: str) -> None:
    model, rng = with_follower(FOLLOWERS[kind]), np.random.default_rng(1)
    robot, data = rbdgen.from_pinocchio(model, snap=0), model.createData()
    assert [(x.joint, x.primary, x.multiplier, x.offset) for x in robot.followers] == [
        ("k", "j00", -1.5, 0.4)
    ]
    assert {joint.name: joint.type for joint in robot.description.joints}["k"] == kind
    q, v, a = rng.normal(size=(3, model.nv))
    tau = pin.rnea(model, data, q, v, a)
    found = rbdgen.trace(robot, "rnea")(q, v, a).full().ravel()
    np.testing.assert_allclose(found, tau, rtol=1e-11, atol=1e-11)
    M = np.triu(pin.crba(model, data, q))
    np.testing.assert_allclose(np.triu(rbdgen.trace(robot, "crba")(q).full()), M, rtol=1e-11, atol=1e-11)
    free = rbdgen.from_pinocchio(model, mimic="independent")
    assert free.joint_names == ("j00", "j01", "j02", "k")


@pytest.mark.parametrize(
    ("kind", "scaling", "told"),
    [(pin.JointModelRX(), 0.0, "of scaling 0"), (pin.JointModelHX(0.2), 2.0, "helical")],
    ids=["still", "helical"],
)
def test_mimic_joints_that_are_refused(kind: Any, scaling: float, told: str) -> None:
    with pytest.raises(DescriptionError, match=f"joint 'k' is a mimic joint {told}"):
        rbdgen.from_pinocchio(with_follower(kind, scaling=scaling))


def test_why_helical_ones_are_refused() -> None:
    """Pinocchio moves the placement of a helical follower along the axis, but its velocity does not."""
    model = with_follower(pin.JointModelHX(0.2), scaling=2.0)
    joint = model.joints[model.getJointId("k")]
    data = joint.createData()
    joint.calc(data, np.ones(model.nq))
    assert data.M.translation[0] == pytest.approx(0.2 * 2.4)
    assert np.array(data.S).ravel()[0] == 0


def in_order(*joints: tuple[str, int]) -> Any:
    """A model of these joints, given by name and parent."""
    model = pin.Model()
    for name, parent in joints:
        joint = model.addJoint(parent, pin.JointModelRX(), pin.SE3.Random(), name)
        model.appendBodyToJoint(joint, inertia(np.random.default_rng(1)), pin.SE3.Identity())
    return model


def test_the_order_is_the_models() -> None:
    robot = rbdgen.from_pinocchio(in_order(("b", 0), ("a", 0)))
    assert (robot.joint_names, robot.warnings) == (("b", "a"), ())


def test_an_order_that_is_not_depth_first_is_told() -> None:
    robot = rbdgen.from_pinocchio(in_order(("b", 0), ("a", 0), ("c", 1)))
    assert robot.joint_names == ("b", "c", "a")
    assert robot.warnings[0].endswith("vectors follow the order of joint_names instead")


X, Y = np.eye(3)[0], np.eye(3)[1]
TYPES = {
    "Planar": pin.JointModelPlanar(),
    "Spherical": pin.JointModelSpherical(),
    "FreeFlyer": pin.JointModelFreeFlyer(),
    "HX": pin.JointModelHX(0.1),
    "HelicalUnaligned": pin.JointModelHelicalUnaligned(0.6, 0.0, 0.8, -0.3),
    "Universal": pin.JointModelUniversal(X, Y),
}


@pytest.mark.parametrize("kind", TYPES)
def test_joints_of_every_type(kind: str) -> None:
    """A joint of each type between two others; a planar joint has cos and sin of its angle in Pinocchio."""
    model = random_model(4, 1)
    rng = np.random.default_rng(4)
    for name, type_ in (("k", TYPES[kind]), ("l", pin.JointModelRX())):
        joint = model.addJoint(model.njoints - 1, type_, pin.SE3.Random(), name)
        model.appendBodyToJoint(joint, inertia(rng), pin.SE3.Random())
    robot = rbdgen.from_pinocchio(model, snap=0)
    theirs = pin.integrate(model, pin.neutral(model), rng.normal(size=model.nv))
    v, a = rng.normal(size=(2, model.nv))
    q = theirs
    if kind == "Planar":
        q = np.array([*theirs[:3], np.arctan2(theirs[4], theirs[3]), theirs[5]])
    expected = pin.rnea(model, model.createData(), theirs, v, a)
    found = rbdgen.trace(robot, "rnea")(q, v, a).full().ravel()
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("kind", [pin.JointModelSphericalZYX(), pin.JointModelTranslation()])
def test_another_type_is_refused_by_name(kind: Any) -> None:
    model = random_model(1, 1)
    model.addJoint(1, kind, pin.SE3.Identity(), "ball")
    name = kind.shortname().removeprefix("JointModel")
    with pytest.raises(DescriptionError, match=rf"^Pinocchio's model 'random':2: joint 'ball' is a {name}, "):
        rbdgen.from_pinocchio(model)


def test_a_free_body_away_from_the_origin_or_beside_others_is_no_base() -> None:
    away, beside = pin.Model(), random_model(1, 1, first=pin.JointModelFreeFlyer())
    away.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Random(), "free")
    beside.addJoint(0, pin.JointModelRX(), pin.SE3.Identity(), "beside")
    for model in (away, beside):
        joint = model.njoints - 1
        model.appendBodyToJoint(joint, inertia(np.random.default_rng(1)), pin.SE3.Identity())
        robot = rbdgen.from_pinocchio(model)
        assert (robot.base, robot.model.nv) == ("fixed", model.nv)


def spoilt(what: str) -> Any:
    model = random_model(1, 1)
    if what == "number":
        model.jointPlacements[1].translation = np.array([0, np.nan, 0])
    elif what == "resistance":
        model.armature = np.array([np.nan])
    elif what == "mass":
        model.inertias[1].mass = -1.0
    else:
        model.names[1] = "a\nb"
    return model


@pytest.mark.parametrize(
    ("what", "told"),
    [
        ("number", "a number that is not finite"),
        ("resistance", "joint 'j00' has a number that is not finite; correct it"),
        ("mass", "less than zero"),
        ("name", "is no name for a"),
    ],
)
def test_what_no_file_could_say_is_refused(what: str, told: str) -> None:
    with pytest.raises(DescriptionError, match=told) as error:
        rbdgen.from_pinocchio(spoilt(what))
    assert "\n" not in str(error.value)


def test_what_is_no_model_is_refused() -> None:
    with pytest.raises(rbdgen.RbdgenError, match="is no Pinocchio model; give a pinocchio"):
        rbdgen.from_pinocchio("arm7")


def test_distances_of_capsules_in_a_file(tmp_path: Path) -> None:
    """A model has no shapes, but links on which a file places capsules, as in the URDF."""
    path = tmp_path / "capsules.toml"
    text = '[[capsule]]\nlink = "link{}"\nfrom = [0, 0, -0.1]\nto = [0, 0, 0.1]\nradius = 0.05\n'
    path.write_text("".join(text.format(k) for k in (1, 4, 7)))
    urdf = str(BUNDLED["arm7"])
    model = pin.buildModelFromUrdf(urdf)
    asked: dict[str, Any] = {
        "capsules": path,
        "pairs": "all",
        "obstacles": "spheres=1",
        "distance": "exact",
        "distance_floor": 1e-6,
        "softmin": 50.0,
        "groups": {"ball": ["sphere[0]~*"]},
    }
    found, expected = (
        x.model.distances for x in (rbdgen.from_pinocchio(model, **asked), rbdgen.load_robot(urdf, **asked))
    )
    assert found == expected
    assert len(found.pairs) == 6
    with pytest.raises(OptionError, match="its links have no shapes for collision"):
        rbdgen.from_pinocchio(model, pairs="auto")
