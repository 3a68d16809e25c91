"""The URDF reader on good files: the elements that it reads, its defaults, its warnings, and its work."""

from __future__ import annotations

import hashlib
import math
import sys
import sysconfig
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any
from xml.sax.saxutils import quoteattr

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rbdgen.description.schema import Description, Limit, Mimic, Origin
from rbdgen.description.urdf import parse_urdf, read_urdf
from rbdgen.errors import DescriptionError

TraceFunction = Callable[[FrameType, str, Any], Any]

EXAMPLES = Path(sysconfig.get_path("purelib")) / "cmeel.prefix/share/example-robot-data/robots"

ARM = """<?xml version="1.0"?>
<robot name="arm">
  <material name="grey"/>
  <link name="world"/>
  <link name="upper">
    <inertial>
      <origin xyz="0 0.1 -2e-1" rpy="0.5 0 -.5"/>
      <mass value="+2."/>
      <inertia ixx="1" ixy="0.01" ixz="0.02" iyy="1.5" iyz="0.03" izz="1.25"/>
    </inertial>
  </link>
  <joint name="shoulder" type="revolute">
    <parent link="world"/>
    <child link="upper"/>
    <origin xyz="1 2 3" rpy="1.5707963267948966 0 0"/>
    <axis xyz="0 0 -1"/>
    <limit lower="-1" upper="2" effort="30" velocity="4"/>
    <dynamics damping="0.5" friction="0.25"/>
  </joint>
</robot>
"""


def one_joint(joint: str, link: str = "") -> Description:
    """A robot of two links and a joint, with these elements in the joint and the second link."""
    return parse_urdf(
        f'<robot name="r">\n<link name="a"/>\n<link name="b">{link}</link>\n'
        f'<joint name="j" {joint}<parent link="a"/><child link="b"/></joint>\n</robot>',
        "r.urdf",
    )


def inertial(mass: float, xx: float, yy: float, zz: float, xy: float = 0.0) -> str:
    moments = f'ixx="{xx}" ixy="{xy}" ixz="0" iyy="{yy}" iyz="0" izz="{zz}"'
    return f'<inertial><mass value="{mass}"/><inertia {moments}/></inertial>'


BODY = inertial(1, 1, 1, 1)


def test_every_field_is_read_as_written() -> None:
    arm = parse_urdf(ARM, "arm.urdf")
    assert (arm.name, arm.path, arm.root) == ("arm", "arm.urdf", "world")
    assert arm.sha256 == hashlib.sha256(ARM.encode()).hexdigest()
    world, upper = arm.links
    assert (world.name, world.inertial, world.line) == ("world", None, 4)
    body = upper.inertial
    assert body is not None
    assert body.origin == Origin((0.0, 0.1, -0.2), (0.5, 0.0, -0.5))
    assert body.mass == 2.0
    assert (body.ixx, body.ixy, body.ixz, body.iyy, body.iyz, body.izz) == (1.0, 0.01, 0.02, 1.5, 0.03, 1.25)
    assert (upper.line, body.line) == (5, 6)
    (joint,) = arm.joints
    assert (joint.name, joint.type, joint.parent, joint.child) == ("shoulder", "revolute", "world", "upper")
    assert joint.origin == Origin((1.0, 2.0, 3.0), (math.pi / 2, 0.0, 0.0))
    assert joint.axis == (0.0, 0.0, -1.0)
    assert joint.limit == Limit(lower=-1.0, upper=2.0, effort=30.0, velocity=4.0)
    assert (joint.damping, joint.friction, joint.mimic, joint.line) == (0.5, 0.25, None, 12)


def test_missing_elements_take_the_conventions_of_urdfdom() -> None:
    (joint,) = one_joint('type="prismatic">', BODY).joints
    assert joint.origin == Origin((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    assert joint.axis == (1.0, 0.0, 0.0)
    assert (joint.limit, joint.damping, joint.friction) == (None, 0.0, 0.0)
    (joint,) = one_joint('type="prismatic"><origin rpy="0 1 0"/><limit effort="1"/>', BODY).joints
    assert joint.origin == Origin((0.0, 0.0, 0.0), (0.0, 1.0, 0.0))
    assert joint.limit == Limit(lower=0.0, upper=0.0, effort=1.0, velocity=None)


def test_continuous_joints_have_no_position_limits() -> None:
    (joint,) = one_joint(
        'type="continuous"><limit lower="0" upper="0" effort="1" velocity="2"/>', BODY
    ).joints
    assert joint.limit == Limit(lower=None, upper=None, effort=1.0, velocity=2.0)


def test_fixed_joints_ignore_axis_and_mimic() -> None:
    robot = one_joint('type="fixed"><axis xyz="0 0 0"/><mimic joint="nobody"/>')
    assert robot.joints[0].axis == (1.0, 0.0, 0.0)
    assert robot.joints[0].mimic is None
    assert robot.warnings == ()


def test_a_single_link_is_a_robot() -> None:
    assert parse_urdf(f'<robot name="brick"><link name="b">{BODY}</link></robot>').root == "b"


def test_a_default_namespace_and_foreign_elements_are_passed_over() -> None:
    robot = parse_urdf(
        '<robot name="r" xmlns="http://drake.mit.edu" xmlns:g="urn:gazebo"><g:link name="no"/>'
        '<transmission name="t"><joint name="no"/></transmission>'
        '<gazebo><link name="no"/></gazebo><link name="a"/></robot>'
    )
    assert [link.name for link in robot.links] == ["a"]
    assert robot.joints == ()


def test_byte_order_mark_comments_and_foreign_declared_encoding() -> None:
    prolog = '\ufeff<?xml version="1.0" encoding="latin-1"?><!-- <!DOCTYPE -->'
    text = f'{prolog}<robot name="é"><link name="ß"/></robot>'
    robot = parse_urdf(text.encode())
    assert (robot.name, robot.root) == ("é", "ß")


@pytest.mark.parametrize(
    "name", ['a"; system("x', "int", "../../etc/passwd", "*/ #error", "a b", "\\", "名", "a\nb"]
)
def test_any_name_is_legal_here(name: str) -> None:
    written = quoteattr(name, {"\n": "&#10;"})
    robot = parse_urdf(f"<robot name={written}><link name={written}/></robot>")
    assert (robot.name, robot.root) == (name, name)


@pytest.mark.parametrize(
    ("written", "axis", "warned"),
    [
        ("0 0 1", (0.0, 0.0, 1.0), False),
        ("-0 -1 0", (0.0, -1.0, 0.0), False),
        ("0.707107 0.707107 0", (math.sqrt(0.5), math.sqrt(0.5), 0.0), False),
        ("0 0 2", (0.0, 0.0, 1.0), True),
        ("3 0 -4", (0.6, 0.0, -0.8), True),
        ("1e308 1e308 1e308", (1 / math.sqrt(3),) * 3, True),
    ],
)
def test_axes_become_unit_vectors(written: str, axis: tuple[float, float, float], warned: bool) -> None:
    robot = one_joint(f'type="revolute"><axis xyz="{written}"/>', BODY)
    assert robot.joints[0].axis == pytest.approx(axis, abs=1e-15)
    assert math.copysign(1.0, robot.joints[0].axis[0]) == 1.0  # not -0.0
    assert len(robot.warnings) == warned
    assert all("r.urdf:4: axis of joint 'j' has length" in warning for warning in robot.warnings)


def test_mimic_on_a_moving_joint_is_read() -> None:
    robot = one_joint('type="revolute"><mimic joint="j" multiplier="-2" offset="0.5"/>', BODY)
    assert robot.joints[0].mimic == Mimic("j", -2.0, 0.5)
    assert one_joint('type="revolute"><mimic joint="j"/>', BODY).joints[0].mimic == Mimic("j", 1.0, 0.0)


@pytest.mark.parametrize(
    ("body", "warning"),
    [
        (inertial(1, 1, 1, 1), None),
        (inertial(1, 1, 1, 2), None),  # a flat disc, at the limit of physical inertias
        (inertial(0, 0, 0, 0), None),
        (inertial(1, 0, 0, 0), None),  # a point
        (inertial(1, 1e-9, 1e-9, 1e-9), None),
        (inertial(1, 1, 1, 2.001), "triangle"),
        (inertial(1, -1, 1, 1), "triangle"),
        (inertial(1, 1, 1, 1, xy=0.9), "triangle"),  # principal moments 0.1, 1.9, 1
        (inertial(1, 1e-13, 1e-13, 3e-13), None),  # lost in the rounding of a mass of 1 kg
        (inertial(1e-3, 1e-13, 1e-13, 3e-13), "triangle"),
        (inertial(1, 1e308, 1e308, 1e308), "radius of gyration"),
        (inertial(0, 1, 1, 1), "no mass"),
    ],
)
def test_inertia_that_no_body_has_is_warned_of(body: str, warning: str | None) -> None:
    robot = one_joint('type="revolute">', body)
    assert len(robot.warnings) == (warning is not None)
    assert all(found.startswith("r.urdf:3: ") and (warning or "") in found for found in robot.warnings)


def test_missing_inertials_are_one_warning_that_spares_mere_frames() -> None:
    links = "".join(f'\n<link name="{name}"/>' for name in ["world", "tool", *"abcdefghi"])
    moving = "".join(
        f'<joint name="{name}" type="revolute"><parent link="world"/><child link="{name}"/></joint>'
        for name in "abcdefghi"
    )
    fixed = '<joint name="t" type="fixed"><parent link="a"/><child link="tool"/></joint>'
    robot = parse_urdf(f'<robot name="r">{links}{moving}{fixed}</robot>', "r.urdf")
    named = "'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h' and 1 more"
    assert robot.warnings == (f"r.urdf:4: no <inertial> in links {named}; taken as massless",)
    seen = parse_urdf('<robot name="r"><link name="a"><visual/></link></robot>', "r.urdf")
    assert seen.warnings == ("r.urdf:1: no <inertial> in link 'a'; taken as massless",)


def test_lines_are_right_far_into_a_file() -> None:
    filler = "\n".join(f'<link name="l{i}"/>' for i in range(60_000))
    with pytest.raises(DescriptionError, match=r"^r\.urdf:60002: "):
        parse_urdf(f'<robot name="r">\n{filler}\n<link name=""/></robot>', "r.urdf")


def chain(count: int) -> str:
    """A chain of links with children before their parents, the most difficult order for finding ancestors."""
    links = [f'<link name="l{i}">{BODY}</link>' for i in range(count)]
    joints = [
        f'<joint name="j{i}" type="revolute"><parent link="l{i}"/><child link="l{i + 1}"/>'
        '<origin xyz="0 0 1" rpy="0 0 0"/><axis xyz="0 1 0"/></joint>'
        for i in reversed(range(count - 1))
    ]
    return "\n".join(['<robot name="chain">', *links, *joints, "</robot>"])


def test_ten_thousand_links_in_a_chain_are_read() -> None:
    robot = parse_urdf(chain(10_000))
    assert (len(robot.links), len(robot.joints), robot.root) == (10_000, 9_999, "l0")


def instructions(call: Callable[[], object]) -> int:
    """The number of Python's instructions in a call, without C, which is the same on every machine."""
    taken = 0

    def count(frame: FrameType, event: str, _: object) -> TraceFunction:
        nonlocal taken
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        taken += event == "opcode"
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        call()
    finally:
        sys.settrace(before)
    return taken


def test_twice_the_links_take_twice_the_instructions() -> None:
    short, long = chain(200), chain(400)
    parse_urdf(short)  # the first call does work that is done only once
    few, many = (instructions(partial(parse_urdf, text)) for text in (short, long))
    assert many < 2.05 * few


def test_a_file_is_read_as_its_contents_are(tmp_path: Path) -> None:
    path = tmp_path / "arm.urdf"
    path.write_text(ARM)
    assert read_urdf(path) == parse_urdf(ARM, str(path))
    assert read_urdf(str(path)).path == str(path)


@pytest.mark.parametrize(
    ("file", "links", "moving"),
    [
        ("ur_description/urdf/ur5_robot.urdf", 11, 6),
        ("panda_description/urdf/panda.urdf", 13, 9),
        ("hyq_description/robots/hyq_no_sensors.urdf", 19, 12),
        ("solo_description/robots/solo12.urdf", 17, 12),
        ("anymal_b_simple_description/robots/anymal.urdf", 23, 12),
        ("talos_data/robots/talos_reduced.urdf", 60, 32),
    ],
)
def test_real_robots_are_read(file: str, links: int, moving: int) -> None:
    robot = read_urdf(EXAMPLES / file)
    assert len(robot.links) == links
    assert len(robot.joints) == links - 1
    assert sum(joint.type != "fixed" for joint in robot.joints) == moving


_NAMES = st.text(st.characters(categories=("L", "N", "P", "S"), include_characters=" "), min_size=1).filter(
    str.strip
)
_FLOATS = st.floats(allow_nan=False, allow_infinity=False)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_random_trees_are_read_back(data: st.DataObject) -> None:
    """Any tree is read with its names, parents, numbers and root, in any order of its elements."""
    names = data.draw(st.lists(_NAMES, min_size=1, max_size=8, unique=True))
    edges = {i: data.draw(st.integers(0, i - 1)) for i in range(1, len(names))}
    xyz = {i: data.draw(st.tuples(_FLOATS, _FLOATS, _FLOATS)) for i in edges}
    types = {i: data.draw(st.sampled_from(["revolute", "continuous", "prismatic", "fixed"])) for i in edges}
    elements = [f"<link name={quoteattr(name)}/>" for name in names]
    elements += [
        f'<joint name={quoteattr(names[i])} type="{types[i]}"><parent link={quoteattr(names[parent])}/>'
        f'<child link={quoteattr(names[i])}/><origin xyz="{" ".join(map(repr, xyz[i]))}"/></joint>'
        for i, parent in edges.items()
    ]
    order = data.draw(st.permutations(elements))
    robot = parse_urdf(f'<robot name="r">{"".join(order)}</robot>')
    assert robot.root == names[0]
    assert {link.name for link in robot.links} == set(names)
    found = {joint.name: joint for joint in robot.joints}
    for i, parent in edges.items():
        joint = found[names[i]]
        assert (joint.parent, joint.child, joint.type) == (names[parent], names[i], types[i])
        assert joint.origin.xyz == xyz[i]


@settings(max_examples=300, deadline=None)
@given(st.integers(0, len(ARM)), st.integers(0, 30), st.text(max_size=8))
def test_damaged_files_are_read_or_refused_in_one_line(start: int, length: int, patch: str) -> None:
    """If any text replaces a slice of a good file, the only error is a DescriptionError of one line."""
    damaged = ARM[:start] + patch + ARM[start + length :]
    message = "arm.urdf: read"
    try:
        parse_urdf(damaged, "arm.urdf")
    except DescriptionError as error:
        message = str(error)
    assert message.startswith("arm.urdf:")
    assert len(message.splitlines()) == 1


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=64))
def test_arbitrary_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(DescriptionError):
        parse_urdf(data, "x")
