"""Parts of a file that the dynamics leave out give one warning each, and parts without effect give none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.robots import BUNDLED
from support.small_urdf import BODY, transmission, urdf

from rbdgen.cli import main
from rbdgen.cli.tables import MOST_WARNINGS, folded
from rbdgen.description.ignored import MOST
from rbdgen.description.schema import Mimic
from rbdgen.description.urdf import parse_urdf, read_urdf
from rbdgen.errors import DescriptionError
from rbdgen.model.build import build_robot

TORQUES = "ignored: add these torques yourself"
GEARS = "ignored: torques are those at the joint; pass armature (--armature) for rotors"
GAZEBO = "ignored: settings of Gazebo are not read"
ELEMENT = "ignored: no element of URDF"
ATTRIBUTE = "ignored: no attribute of URDF"


@pytest.mark.parametrize(
    ("element", "told"),
    [
        ('<dynamics damping="0" friction="1e-3" K="2"/>', f"<dynamics> of joint 'j' has K 2; {TORQUES}"),
        ("<dampening/>", f"joint 'j' has <dampening>; {ELEMENT}"),
        ("<drake:damping/>", f"joint 'j' has <damping>; {ELEMENT}"),
        ('<origin xzy="1 2 3"/>', f"<origin> of joint 'j' has an attribute xzy; {ATTRIBUTE}"),
        ('<origin drake:xyz="1 2 3"/>', f"<origin> of joint 'j' has an attribute xyz; {ATTRIBUTE}"),
        (
            "<dynamics><spring_stiffness>3</spring_stiffness><x>0</x></dynamics>",
            f"<dynamics> of joint 'j' has spring_stiffness 3; {TORQUES}",
        ),
        ("<dynamics/>", None),
        ('<dynamics damping="0.5"/>', None),  # the model warns of it, as it may use it
        ('<dynamics damping="0" friction="0.0"/>', None),
        ('<limit effort="1" current="2"/>', None),
        ('<safety_controller k_velocity="1"/><calibration rising="1"/>', None),
        ('<origin xml:base="x"/>', None),
    ],
)
def test_in_a_joint(element: str, told: str | None) -> None:
    expected = () if told is None else (f"r.urdf:6: {told}",)
    assert parse_urdf(urdf(joint=element), "r.urdf").warnings == expected


def test_damping_of_a_fixed_joint_is_nothing() -> None:
    assert parse_urdf(urdf(joint='<dynamics damping="0.5"/>', kind="fixed"), "r.urdf").warnings == ()


@pytest.mark.parametrize(
    ("element", "told"),
    [
        ('<origin xyz="0 0 1"/>', f"link 'b' has <origin>; {ELEMENT}"),
        ('<visual/><collision><x/></collision><contact><y z="1"/></contact>', None),
        (
            BODY.replace("</inertial>", "<com/></inertial>"),
            f"<inertial> of link 'b' has <com>; {ELEMENT}",
        ),
        (
            BODY.replace('value="1"', 'value="1" unit="g"'),
            f"<mass> of link 'b' has an attribute unit; {ATTRIBUTE}",
        ),
    ],
)
def test_in_a_link(element: str, told: str | None) -> None:
    link = element if "inertial" in element else BODY + element
    expected = () if told is None else (f"r.urdf:4: {told}",)
    assert parse_urdf(urdf(link=link), "r.urdf").warnings == expected


@pytest.mark.parametrize(
    ("element", "told"),
    [
        (
            transmission("<mechanicalReduction>50</mechanicalReduction><motorInertia>1e-4</motorInertia>"),
            f"transmission 't' has mechanicalReduction 50, motorInertia 1e-4; {GEARS}",
        ),
        (
            transmission('<drake:gear_ratio value="160"/>'),
            f"transmission 't' has gear_ratio 160; {GEARS}",
        ),
        (
            transmission('<gear_ratio value="160"/><rotor_inertia value="3e-5"/>'),
            f"transmission 't' has gear_ratio 160, rotor_inertia 3e-5; {GEARS}",
        ),
        (
            transmission('<drake:rotor_inertia value="3e-5"/>').replace('"j"', '"k"'),
            f"transmission 't' has rotor_inertia 3e-5; {GEARS}",
        ),
        (transmission('<drake:gear_ratio value="160"/><drake:rotor_inertia value="3e-5"/>'), None),
        (
            f"<ros2_control>{transmission('<mechanical_reduction>2</mechanical_reduction>')}</ros2_control>",
            f"transmission 't' has mechanical_reduction 2; {GEARS}",
        ),
        (transmission("<mechanicalReduction>-1.0</mechanicalReduction>"), None),
        (transmission("<hardwareInterface>EffortJointInterface</hardwareInterface>"), None),
        (
            '<gazebo reference="j"><implicitSpringDamper>true</implicitSpringDamper>'
            "<springStiffness>3</springStiffness></gazebo>",
            f"<gazebo> of 'j' has implicitSpringDamper true, springStiffness 3; {GAZEBO}",
        ),
        (
            '<gazebo reference="b"><turnGravityOff>1</turnGravityOff></gazebo>',
            f"<gazebo> of 'b' has turnGravityOff 1; {GAZEBO}",
        ),
        ('<gazebo><joint name="loop" type="revolute"/></gazebo>', f"<gazebo> has joint; {GAZEBO}"),
        ("<gazebo><static>true</static></gazebo>", f"<gazebo> has static true; {GAZEBO}"),
        (
            '<gazebo reference="b"><inertial><fluid_added_mass><xx>1.5</xx><xy>0</xy></fluid_added_mass>'
            "</inertial></gazebo>",
            f"<gazebo> of 'b' has fluid_added_mass; {GAZEBO}",
        ),
        (
            '<gazebo reference="b"><inertial auto="true"><density>900</density></inertial></gazebo>',
            f"<gazebo> of 'b' has inertial true, density 900; {GAZEBO}",
        ),
        (
            '<gazebo reference="b"><velocity_decay><linear>0.1</linear></velocity_decay></gazebo>',
            f"<gazebo> of 'b' has velocity_decay; {GAZEBO}",
        ),
        (
            '<gazebo reference="j"><axis><dynamics><spring_reference>0.2</spring_reference>'
            "<spring_stiffness>3</spring_stiffness></dynamics></axis></gazebo>",
            f"<gazebo> of 'j' has spring_reference 0.2, spring_stiffness 3; {GAZEBO}",
        ),
        (
            '<gazebo reference="j"><dynamics><damping>3</damping></dynamics></gazebo>',
            f"<gazebo> of 'j' has damping 3; {GAZEBO}",
        ),
        (
            '<gazebo reference="j"><axis><mimic joint="k"><multiplier>3</multiplier></mimic></axis></gazebo>',
            f"<gazebo> of 'j' has mimic; {GAZEBO}",
        ),
        (
            '<gazebo><plugin filename="gz-sim-hydrodynamics-system" name="gz::sim::systems::Hydrodynamics"/>'
            '<plugin filename="gz_ros2_control-system"/></gazebo>',
            f"<gazebo> has plugin gz::sim::systems::Hydrodynamics gz-si...; {GAZEBO}",
        ),
        (
            '<gazebo><plugin name="p" filename="libmimic.so"><mimicJoint>j</mimicJoint></plugin></gazebo>',
            f"<gazebo> has plugin p libmimic.so; {GAZEBO}",
        ),
        (
            '<gazebo reference="b"><static>0</static><velocity_decay/><inertial><fluid_added_mass><xx>0</xx>'
            "</fluid_added_mass></inertial><axis><dynamics><damping>0.0</damping></dynamics></axis>"
            "<collision><surface><friction>1</friction></surface></collision><plugin filename='camera'/>"
            "</gazebo>",
            None,
        ),
        (
            '<gazebo reference="b"><turnGravityOff>false</turnGravityOff><gravity>true</gravity><mu1>1</mu1>'
            '<springStiffness>0</springStiffness><sensor name="s"/><plugin name="p"/></gazebo>',
            None,
        ),
        ("<loop_joint/>", f"robot 'r' has <loop_joint>; {ELEMENT}"),
        ('<sensor name="s"/><material name="m"/><ros2_control/>', None),
    ],
)
def test_in_a_robot(element: str, told: str | None) -> None:
    expected = () if told is None else (f"r.urdf:8: {told}",)
    assert parse_urdf(urdf(robot=element), "r.urdf").warnings == expected


CONTROL = '<ros2_control name="c" type="system"><joint name="{}"{}>{}</joint></ros2_control>'

K = (
    f'<link name="c">{BODY}</link><joint name="k" type="continuous"><parent link="a"/><child link="c"/>'
    "{}</joint>"
)


def param(name: str, value: str) -> str:
    return f'<param name="{name}">{value}</param>'


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        (param("mimic", "j"), Mimic("j", 1.0, 0.0)),
        (param("mimic", " j ") + param("multiplier", "-2"), Mimic("j", -2.0, 0.0)),
        (param("offset", "\n0.5\n") + param("mimic", "j"), Mimic("j", 1.0, 0.5)),
        (param("multiplier", "two"), None),  # the multiplier belongs to no follower
        (param("mimic", ""), None),
        ("", None),
    ],
)
def test_a_follower_of_ros2_control_is_read(params: str, expected: Mimic | None) -> None:
    description = parse_urdf(urdf(robot=K.format("") + CONTROL.format("k", "", params)), "r.urdf")
    assert [joint.mimic for joint in description.joints] == [None, expected]
    assert description.warnings == ()
    assert build_robot(description).joint_names == (("j", "k") if expected is None else ("j",))


@pytest.mark.parametrize(
    ("control", "mimic", "told"),
    [
        (CONTROL.format("k", "", param("mimic", "j")), '<mimic joint="j"/>', None),
        (CONTROL.format("k", ' mimic="true"', ""), '<mimic joint="j"/>', None),
        (
            CONTROL.format("k", "", param("mimic", "j")),
            '<mimic joint="j" multiplier="3"/>',
            "<ros2_control>: joint 'k' has a different mimic above; ignored: 3 'j' + 0 is used",
        ),
        (
            CONTROL.format("k", ' mimic="false"', ""),
            '<mimic joint="j" offset="0.5"/>',
            "<ros2_control>: joint 'k' has mimic false; ignored: 1 'j' + 0.5 is used",
        ),
        (
            CONTROL.format("x", "", param("mimic", "j")),
            "",
            "<ros2_control>: 'x', which mimics 'j', is no moving joint; ignored",
        ),
        (
            '<gazebo><plugin filename="libmimic.so"><mimicJoint>k</mimicJoint></plugin></gazebo>',
            '<mimic joint="j"/>',
            None,
        ),
    ],
)
def test_what_ros2_control_says_otherwise_is_told(control: str, mimic: str, told: str | None) -> None:
    warnings = parse_urdf(urdf(robot=K.format(mimic) + control), "r.urdf").warnings
    assert warnings == (() if told is None else (f"r.urdf:8: {told}",))


@pytest.mark.parametrize("what", ["multiplier", "offset"])
def test_a_follower_of_ros2_control_by_no_number(what: str) -> None:
    control = CONTROL.format("k", "", param("mimic", "j") + param(what, "nan"))
    with pytest.raises(DescriptionError, match=f"r.urdf:8: {what} of param '{what}' is 'nan'"):
        parse_urdf(urdf(robot=K.format("") + control), "r.urdf")


def test_a_default_namespace_is_that_of_urdf() -> None:
    text = urdf(joint='<dynamics damped="1"/>').replace(' name="r"', ' name="r" xmlns="http://x"', 1)
    assert parse_urdf(text, "r.urdf").warnings == (
        f"r.urdf:6: <dynamics> of joint 'j' has damped 1; {TORQUES}",
    )


@pytest.mark.parametrize("name", sorted(BUNDLED))
def test_our_own_robots_have_nothing_that_is_ignored(name: str) -> None:
    assert read_urdf(BUNDLED[name]).warnings == ()


def test_more_than_a_dozen_are_folded_by_kind() -> None:
    dozen = [f"r.urdf:{line}: joint 'j{line}'; ignored" for line in range(1, MOST_WARNINGS + 1)]
    assert folded(dozen) == dozen
    other = "r.urdf:99: axis; normalised"
    (first, last) = folded([*dozen, other])
    assert first == f"{dozen[0]} (and {MOST_WARNINGS - 1} more alike: see rbdgen inspect)"
    assert last == other


def test_a_million_odd_elements_are_a_thousand_lines() -> None:
    """A thousand warnings are printed, and the last one says that there are others."""
    warnings = parse_urdf(urdf(robot="<odd/>" * 2 * MOST), "r.urdf").warnings
    assert warnings == (
        *[f"r.urdf:8: robot 'r' has <odd>; {ELEMENT}"] * MOST,
        f"r.urdf:8: robot 'r' has <odd>; {ELEMENT}, and so is more below it",
    )
    assert len(parse_urdf(urdf(robot="<odd/>" * MOST), "r.urdf").warnings) == MOST


def damped(joints: int) -> str:
    """A chain of damped joints, one per line from line 2."""
    chain = [
        f'<link name="l{i + 1}">{BODY}</link><joint name="j{i}" type="revolute"><parent link="l{i}"/>'
        f'<child link="l{i + 1}"/><dynamics damping="1"/></joint>'
        for i in range(joints)
    ]
    return '<robot name="r"><link name="l0"/>\n' + "\n".join(chain) + "</robot>"


def test_inspect_and_the_manifest_tell_all_and_generation_folds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    many = MOST_WARNINGS + 1
    Path("r.urdf").write_text(damped(many))
    expected = [
        f"{i + 2}: joint 'j{i}' has damping 1; left out: pass damping=True (--damping), or add these torques "
        "yourself"
        for i in range(many)
    ]
    assert main(["inspect", "r.urdf"]) == 0
    told = [line for line in capsys.readouterr().out.splitlines() if "warning" in line]
    assert told == [f"rbdgen: warning: r.urdf:{text}" for text in expected]
    assert main(["r.urdf", "-f", "gravity", "--no-compile", "-o", "out"]) == 0
    told = [line for line in capsys.readouterr().err.splitlines() if "warning" in line]
    more = f" (and {MOST_WARNINGS} more alike: see rbdgen inspect)"
    assert told == [f"rbdgen: warning: r.urdf:{expected[0]}{more}"]
    assert json.loads(Path("out/r/manifest.json").read_text())["warnings"] == expected
