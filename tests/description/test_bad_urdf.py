"""Bad files are refused in one line that names the file, the line, the fault and the remedy."""

from __future__ import annotations

import pytest
from support.bad_urdf import (
    BILLION,
    EXTERNAL,
    HERE,
    MOMENTS,
    Bad,
    edge,
    inertial,
    of_type,
    revolute,
    robot,
    two_links,
)

from rbdgen.description.urdf import parse_urdf
from rbdgen.errors import DescriptionError

BAD = [
    # Not a URDF
    Bad("empty", "", "is empty", "give a URDF"),
    Bad("blank", " \n\t\n", "is empty", "give a URDF"),
    Bad("prose", f"Hello.{HERE}", "not XML", "correct the file"),
    Bad(
        "cut off",
        f'<robot name="r">\n<link name="a"/>\n<link name="b">{HERE}',
        "not XML: Premature end",
        "correct",
    ),
    Bad(
        "wrong end tag",
        f'<robot name="r">\n<link name="a">\n</robot>{HERE}',
        "not XML: Opening and ending",
        "correct",
    ),
    Bad(
        "twice an attribute", robot(f'<link name="a" name="b"/>{HERE}'), "Attribute name redefined", "correct"
    ),
    Bad(
        "two root elements",
        f'<robot name="r"/>\n<robot name="s"/>{HERE}',
        "not XML: Extra content",
        "correct",
    ),
    Bad("null character", robot(f'<link name="a\0"/>{HERE}'), "not XML", "correct"),
    Bad("undeclared entity", robot(f'<link name="&a;"/>{HERE}'), "Entity 'a' not defined", "correct"),
    Bad("undeclared prefix", robot(f"<b:link/>{HERE}"), "prefix b on link is not defined", "correct"),
    Bad("too deep", "<robot>" + "<a>" * 3000 + HERE, "nested more than 256 deep", "correct"),
    Bad("entity expansion", BILLION, "DOCTYPE", "delete the DOCTYPE"),
    Bad("external entity", EXTERNAL, "DOCTYPE", "delete the DOCTYPE"),
    Bad(
        "external DTD",
        f'<?a?><!--\n-->\n<!DOCTYPE robot SYSTEM "http://x/y">{HERE}\n<robot/>',
        "DOCTYPE",
        "delete",
    ),
    Bad(
        "xacro",
        f'<robot name="r" xmlns:xacro="http://x">\n<xacro:arm/>{HERE}</robot>',
        "<xacro:arm>",
        "run xacro",
    ),
    Bad(
        "old xacro",
        f'<robot name="r" xmlns:m="urn:xacro">\n<m:arm/>{HERE}</robot>',
        "is a xacro",
        "run xacro",
    ),
    Bad(
        "undeclared xacro",
        f'<robot name="r">\n<xacro:arm/>{HERE}</robot>',
        "prefix xacro is not declared",
        "xmlns:xacro=",
    ),
    Bad(
        "xacro in an attribute",
        f'<robot name="${{1}}" xmlns:xacro="http://x"/>{HERE}',
        "a xacro",
        "run xacro",
    ),
    Bad("SRDF", f'<robot name="r"><group name="g"/></robot>{HERE}', "an SRDF file", "give the robot's URDF"),
    Bad("SDF", f'<?xml version="1.0"?>\n<sdf version="1.6"/>{HERE}', "an SDF file", "give the URDF"),
    Bad("MJCF", f"<mujoco/>{HERE}", "an MJCF file", "give a URDF"),
    Bad("other XML", f"<html/>{HERE}", "whose root is <html>", "give a URDF"),
    # Names
    Bad(
        "robot without name",
        f'<robot>{HERE}<link name="a"/></robot>',
        "<robot> has no name",
        'write name="..."',
    ),
    Bad("no links", f'<robot name="r"/>{HERE}', "has no links", "add a <link>"),
    Bad("link without name", robot(f"<link/>{HERE}"), "<link> of robot 'r' has no name", "write name"),
    Bad("blank link name", robot(f'<link name=" "/>{HERE}'), "link ' ' has an empty name", "write name"),
    Bad(
        "joint without name",
        two_links(f'<joint type="fixed"/>{HERE}'),
        "<joint> of robot 'r' has no name",
        "write name",
    ),
    Bad(
        "doubled link",
        robot(f'<link name="a"/>\n<link name="a"/>{HERE}'),
        "link 'a' is already defined at line 3",
        "rename",
    ),
    Bad(
        "doubled joint",
        robot(
            '<link name="a"/><link name="b"/><link name="c"/>\n'
            f"{edge('j', 'a', 'b')}\n{edge('j', 'b', 'c')}{HERE}"
        ),
        "joint 'j' is already defined at line 4",
        "rename",
    ),
    Bad(
        "doubled hostile names",
        robot(
            f'<link name="a&quot;; system(&quot;x&#10;"/>\n<link name="a&quot;; system(&quot;x&#10;"/>{HERE}'
        ),
        r"""link 'a"; system("x\n' is already defined""",
        "rename",
    ),
    # Joint types
    Bad("no type", two_links(f'<joint name="j"/>{HERE}'), "joint 'j' has no type", "write type"),
    Bad("universal", of_type("universal"), "'universal', which is not supported", "two revolute"),
    Bad("helical", of_type("helical"), "'helical', which is not supported", "the robot in Python"),
    Bad(
        "planar across z",
        two_links(
            '<joint name="j" type="planar"><parent link="a"/><child link="b"/>\n'
            f'<axis xyz="1 0 0"/>{HERE}</joint>'
        ),
        "planar joint 'j' has an axis that is not its frame's z",
        "turn <origin> instead",
    ),
    Bad("spherical", of_type("spherical"), "'spherical', which is not supported", "three revolute"),
    Bad("unknown type", of_type("Revolute"), "'Revolute', which is not supported", "use one of revolute"),
    # The tree
    Bad(
        "two parents",
        robot(
            '<link name="a"/><link name="b"/><link name="c"/>\n'
            f"{edge('j', 'a', 'c')}\n{edge('k', 'b', 'c')}{HERE}"
        ),
        "link 'c' has two parents, by joints 'j' (line 4) and 'k'",
        "keep one",
    ),
    Bad(
        "two joints between the same links",
        robot(f'<link name="a"/><link name="b"/>\n{edge("j", "a", "b")}\n{edge("k", "a", "b")}{HERE}'),
        "link 'b' has two parents",
        "keep one",
    ),
    Bad(
        "own parent",
        robot(f'<link name="a"/>\n{edge("j", "a", "a")}{HERE}'),
        "joint 'j' closes a loop",
        "tree",
    ),
    Bad(
        "no root",
        robot(f'<link name="a"/><link name="b"/>\n{edge("j", "a", "b")}\n{edge("k", "b", "a")}{HERE}'),
        "joint 'k' closes a loop: link 'a' is its own ancestor",
        "must form a tree",
    ),
    Bad(
        "loop beside the tree",
        robot(
            '<link name="root"/><link name="a"/><link name="b"/>\n'
            f"{edge('j', 'a', 'b')}\n{edge('k', 'b', 'a')}{HERE}"
        ),
        "closes a loop",
        "must form a tree",
    ),
    Bad(
        "two roots",
        robot(f'<link name="a"/>\n<link name="b"/>{HERE}\n<link name="c"/>\n{edge("j", "a", "c")}'),
        "2 root links: 'a' (line 3), 'b' (line 4)",
        "connect them",
    ),
    Bad(
        "five roots",
        robot(f'<link name="a"/>\n<link name="b"/>{HERE}\n<link name="c"/><link name="d"/><link name="e"/>'),
        "5 root links: 'a' (line 3), 'b' (line 4), 'c' (line 5), 'd' (line 5), ...",
        "connect them",
    ),
    Bad(
        "unknown parent",
        two_links(edge("j", "x", "b") + HERE),
        "parent 'x' of joint 'j' is no link",
        "add the link",
    ),
    Bad(
        "unknown child",
        two_links(edge("j", "a", "x") + HERE),
        "child 'x' of joint 'j' is no link",
        "add the link",
    ),
    Bad(
        "no parent",
        two_links(f'<joint name="j" type="fixed">{HERE}\n</joint>'),
        "'j' has no <parent>",
        "write <parent",
    ),
    Bad(
        "no child",
        two_links(f'<joint name="j" type="fixed">{HERE}\n<parent link="a"/></joint>'),
        "'j' has no <child>",
        "write <child",
    ),
    Bad(
        "parent without link",
        two_links(f'<joint name="j" type="fixed">\n<parent/>{HERE}<child link="b"/></joint>'),
        "<parent> of joint 'j' has no link",
        "write link",
    ),
    Bad(
        "two axes",
        revolute(f'<axis xyz="1 0 0"/>\n<axis xyz="0 1 0"/>{HERE}'),
        "joint 'j' has 2 <axis>",
        "keep one",
    ),
    # Numbers
    Bad(
        "zero axis",
        revolute(f'<axis xyz="0 0 0"/>{HERE}'),
        "axis of joint 'j' has zero length",
        "write a direction",
    ),
    Bad("tiny axis", revolute(f'<axis xyz="0 1e-300 0"/>{HERE}'), "has zero length", "write a direction"),
    Bad("axis without xyz", revolute(f"<axis/>{HERE}"), "<axis> of joint 'j' has no xyz", "write xyz"),
    Bad("two numbers", revolute(f'<axis xyz="0 1"/>{HERE}'), "has 2 numbers, not 3", 'write xyz="X Y Z"'),
    Bad(
        "four numbers",
        revolute(f'<origin rpy="0 1 2 3"/>{HERE}'),
        "rpy of <origin> of joint 'j' has 4",
        "write rpy",
    ),
    Bad("commas", revolute(f'<origin xyz="0, 1, 2"/>{HERE}'), "'0,', not a finite number", "write a decimal"),
    Bad(
        "NaN",
        revolute(f'<origin xyz="0 nan 0"/>{HERE}'),
        "xyz of <origin> of joint 'j' is 'nan'",
        "write a decimal",
    ),
    Bad(
        "infinite",
        revolute(f'<origin xyz="0 inf 0"/>{HERE}'),
        "'inf', not a finite number",
        "write a decimal",
    ),
    Bad(
        "overflow",
        revolute(f'<limit effort="1e999"/>{HERE}'),
        "'1e999', not a finite number",
        "write a decimal",
    ),
    Bad(
        "words",
        revolute(f'<dynamics damping="some"/>{HERE}'),
        "damping of <dynamics> of joint 'j' is 'some'",
        "write",
    ),
    Bad(
        "underscore", revolute(f'<limit lower="1_0"/>{HERE}'), "'1_0', not a finite number", "write a decimal"
    ),
    Bad("unit", revolute(f'<limit upper="1m"/>{HERE}'), "'1m', not a finite number", "write a decimal"),
    Bad("other digits", revolute(f'<limit upper="٣"/>{HERE}'), "not a finite number", "write a decimal"),
    Bad(
        "xacro expression",
        revolute(f'<limit upper="${{pi/2}}"/>{HERE}'),
        "'${pi/2}'",
        "xmlns:xacro=",
    ),
    Bad(
        "quaternion",
        revolute(f'<origin quat_xyzw="0 0 0 1"/>{HERE}'),
        "quat_xyzw",
        "write the rotation as rpy",
    ),
    Bad("mimic nobody", revolute(f"<mimic/>{HERE}"), "<mimic> of joint 'j' has no joint", "write joint"),
    # Inertia
    Bad(
        "negative mass",
        inertial(f'<mass value="-1"/>{HERE}{MOMENTS}'),
        "mass of link 'b' is -1 kg",
        "zero or more",
    ),
    Bad(
        "NaN mass",
        inertial(f'<mass value="NaN"/>{HERE}{MOMENTS}'),
        "value of <mass> of link 'b' is 'NaN'",
        "write",
    ),
    Bad(
        "mass without value",
        inertial(f"<mass/>{HERE}{MOMENTS}"),
        "<mass> of link 'b' has no value",
        "write value",
    ),
    Bad(
        "no mass",
        two_links(link=f"<inertial>{HERE}\n{MOMENTS}</inertial>"),
        "has no <mass>",
        "or delete <inertial>",
    ),
    Bad(
        "no inertia",
        two_links(link=f'<inertial>{HERE}\n<mass value="1"/></inertial>'),
        "has no <inertia>",
        "six",
    ),
    Bad(
        "five moments",
        inertial(f'<mass value="1"/>\n<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0"/>{HERE}'),
        "<inertia> of link 'b' has no izz",
        "write izz",
    ),
    Bad(
        "two inertials",
        two_links(link=f'<inertial><mass value="1"/>{MOMENTS}</inertial>\n<inertial/>{HERE}'),
        "link 'b' has 2 <inertial>",
        "keep one",
    ),
    Bad(
        "empty moment",
        inertial(f'<mass value="1"/>\n{MOMENTS.replace("1", "", 1)}{HERE}'),
        "has an empty ixx",
        "write",
    ),
]


@pytest.mark.parametrize("bad", BAD, ids=[bad.name for bad in BAD])
def test_bad_file_is_refused_by_line(bad: Bad) -> None:
    line = next((number for number, text in enumerate(bad.text.split("\n"), 1) if HERE in text), None)
    with pytest.raises(DescriptionError) as caught:
        parse_urdf(bad.text, "bad.urdf")
    message = str(caught.value)
    assert caught.value.line == line
    assert message.startswith("bad.urdf: " if line is None else f"bad.urdf:{line}: ")
    what, _, what_to_do = message.rpartition("; ")
    assert bad.what in what
    assert bad.what_to_do in what_to_do
    assert len(message.splitlines()) == 1
    assert caught.value.__cause__ is None
    assert message.isprintable()


@pytest.mark.parametrize("encoding", ["utf-16", "latin-1"])
def test_other_encodings_are_refused(encoding: str) -> None:
    data = '<?xml version="1.0"?>\n<robot name="é"><link name="a"/></robot>'.encode(encoding)
    with pytest.raises(DescriptionError, match=r"^bad\.urdf:[12]: the file is not UTF-8; save it in UTF-8$"):
        parse_urdf(data, "bad.urdf")


def test_utf_7_cannot_hide_a_doctype() -> None:
    """The declared encoding is not used, so that `+ADw-`, an encoded `<`, is plain text before the root."""
    doctype = b"+ADwAIQ-DOCTYPE robot+AD4-"
    data = b'<?xml version="1.0" encoding="UTF-7"?>\n' + doctype + b'<robot name="r"><link name="a"/></robot>'
    with pytest.raises(DescriptionError, match="not XML"):
        parse_urdf(data, "bad.urdf")


def test_long_names_are_cut_in_messages() -> None:
    with pytest.raises(DescriptionError) as caught:
        parse_urdf(f'<robot name="{"n" * 10_000}"/>', "bad.urdf")
    assert len(str(caught.value)) < 200
