"""The resistance of a description in the model, with its warnings and refusals."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.plain_models import SOLID, X, Z, chain, robot

from rbdgen.description.urdf import parse_urdf
from rbdgen.errors import ModelError, OptionError
from rbdgen.model.build import Robot, build_robot
from rbdgen.model.inertia import NO_INERTIA
from rbdgen.model.joints import Resistance
from rbdgen.model.model import WORLD, Model
from rbdgen.model.regularity import unresisted
from rbdgen.model.resistance import Dissipation
from rbdgen.options import Options
from rbdgen.pipeline.design import design_functions
from rbdgen.pipeline.request import Request
from rbdgen.spatial.ops import ZERO

BOTH = Dissipation(damping=True, friction=("smooth", 0.1))


def build(kind: str, dissipation: Dissipation = BOTH, **changed: float | str) -> Robot:
    """A robot with a joint of this type, with damping 0.5 and friction 0.25, or with other values."""
    inertial = (
        '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
    )
    described = parse_urdf(
        f'<robot name="r"><link name="a"/><link name="b">{inertial}</link><joint name="j" type="revolute">'
        '<parent link="a"/><child link="b"/><dynamics damping="0.5" friction="0.25"/></joint></robot>',
        "r.urdf",
    )
    joint = replace(described.joints[0], type=kind, **changed)  # type: ignore[arg-type]
    return build_robot(replace(described, joints=(joint,)), dissipation=dissipation)


@pytest.mark.parametrize("kind", ["revolute", "prismatic", "helical", "spherical", "universal"])
def test_used(kind: str) -> None:
    made = build(kind, armature=2.0, second_axis=(0, 0, 1))
    expected = Resistance(0.5, 0.25, 0.1, armature=2.0)
    assert [joint.resistance for joint in made.joints] == [expected] * len(made.joints)
    assert made.warnings == ()


def test_springs_and_rotors_are_used_without_being_asked_for() -> None:
    made = build("revolute", Dissipation(), armature=2.0, stiffness=3.0, spring_reference=0.1)
    assert made.joints[0].resistance == Resistance(stiffness=3.0, reference=0.1, armature=2.0)


@pytest.mark.parametrize(
    ("dissipation", "told"),
    [
        (
            Dissipation(),
            "damping 0.5, friction 0.25; left out: pass damping=True (--damping) and friction='exact' "
            "(--friction exact), or add these torques yourself",
        ),
        (
            Dissipation(friction="exact"),
            "damping 0.5; left out: pass damping=True (--damping), or add these torques yourself",
        ),
    ],
)
def test_left_out(dissipation: Dissipation, told: str) -> None:
    assert build("revolute", dissipation).warnings == (f"r.urdf:1: joint 'j' has {told}",)


@pytest.mark.parametrize("kind", ["planar", "floating"])
def test_joints_that_have_none(kind: str) -> None:
    made = build(kind, armature=2.0)
    assert not made.joints[0].resistance.acts
    told = f"damping 0.5, friction 0.25, armature 2; ignored: {kind} joints have none"
    assert made.warnings == (f"r.urdf:1: joint 'j' has {told}",)


@pytest.mark.parametrize("kind", ["planar", "floating", "spherical", "universal"])
def test_springs_of_several_degrees_of_freedom(kind: str) -> None:
    with pytest.raises(
        ModelError, match=f"^r.urdf:1: joint 'j' is {kind} and has a stiffness, 3; springs act"
    ):
        build(kind, stiffness=3.0)


@pytest.mark.parametrize("value", ["damping", "friction", "stiffness", "armature"])
def test_what_would_drive_a_joint(value: str) -> None:
    for number in (-1.0, float("inf"), float("nan")):
        with pytest.raises(ModelError, match=f"^r.urdf:1: joint 'j' has {value} {number:g}; write a number"):
            build("revolute", **{value: number})


def test_an_angle_that_is_not_given_has_no_spring() -> None:
    options = Options(functions=("rnea",), trig="input")
    with pytest.raises(OptionError, match=r"^trig='input': joint 'j' has a spring, which needs the angle"):
        design_functions(Request(build("revolute", stiffness=3.0), options))


def with_rotors(model: Model, *armature: float) -> Model:
    bodies = (
        replace(body, joint=replace(body.joint, resistance=Resistance(armature=A)))
        for body, A in zip(model.bodies, armature, strict=True)
    )
    return replace(model, bodies=tuple(bodies))


def test_rotors_resist_where_bodies_do_not() -> None:
    """Rotors make M regular for coincident parallel axes, and for joints that move no mass."""
    massless = chain("zz", NO_INERTIA)
    assert unresisted(massless) == 1
    assert unresisted(with_rotors(massless, 0.0, 1e-3)) == 0
    assert unresisted(with_rotors(massless, 1e-3, 1e-3)) is None
    twice = robot((WORLD, "R", Z, ZERO, NO_INERTIA), (0, "R", Z, ZERO, SOLID))
    assert unresisted(twice) == 0
    assert unresisted(with_rotors(twice, 0.1, 0.0)) is None
    assert unresisted(with_rotors(twice, 0.0, 0.1)) is None
    slides = robot((WORLD, "P", X, ZERO, NO_INERTIA), (0, "R", X, ZERO, SOLID))
    assert unresisted(slides) is None
