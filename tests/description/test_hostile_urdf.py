"""Malformed numbers in every place are refused with their line, and so is excessive structure."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.urdf_judge import check_message

from rbdgen.cli import main
from rbdgen.description.schema import Description
from rbdgen.description.urdf import parse_urdf
from rbdgen.errors import DescriptionError

ROBOT = """<robot name="r">
<link name="a"/>
<link name="b"><inertial>
<origin xyz="0 0 1" rpy="0 0 1"/>
<mass value="1"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
<joint name="j" type="revolute"><parent link="a"/><child link="b"/>
<origin xyz="0 0 1" rpy="0 0 1"/>
<axis xyz="0 0 1"/>
<limit lower="0" upper="0" effort="0" velocity="0"/>
<dynamics damping="0" friction="0"/>
<mimic joint="j" multiplier="1" offset="0"/></joint></robot>"""

PLACES = [
    *(
        (line, f'{name}="0 0 ', "1")
        for line, name in ((4, "xyz"), (4, "rpy"), (8, "xyz"), (8, "rpy"), (9, "xyz"))
    ),
    (5, 'value="', "1"),
    *(
        (6, f'{name}="', value)
        for name, value in zip(("ixx", "ixy", "ixz", "iyy", "iyz", "izz"), "100101", strict=True)
    ),
    *((10, f'{name}="', "0") for name in ("lower", "upper", "effort", "velocity")),
    *((11, f'{name}="', "0") for name in ("damping", "friction")),
    (12, 'multiplier="', "1"),
    (12, 'offset="', "0"),
]
"""The places of all numbers: the line, the text before, and the number as written."""

IDS = [f"line {line} {before[:-2]}" for line, before, _ in PLACES]

MALFORMED = (
    "", " ", "-", "+", ".", "e5", "1e", "1e+", "--1", "+-1", "1.2.3", "1 .", "- 1", "1e400", "-1e400",
    "1e9999", "9" * 400, "nan", "NaN", "-nan", "inf", "-Infinity", "0x10", "0b1", "1_000", "1,5", "1;5", "1f",
    "1m", "1/2", "\uff11", "\u0663", "\u00bd", "1\u200b", "\u22121", "${pi}", "True", "None", "&#0;", "&pi;",
    "<", '"',
)  # fmt: skip


def written(place: tuple[int, str, str], text: str) -> str:
    """The URDF with this text in place of the number at this place."""
    line, before, old = place
    lines = ROBOT.split("\n")
    assert lines[line - 1].count(f'{before}{old}"') == 1
    lines[line - 1] = lines[line - 1].replace(f'{before}{old}"', f'{before}{text}"')
    return "\n".join(lines)


@pytest.mark.parametrize("place", PLACES, ids=IDS)
def test_a_malformed_number_is_refused_by_its_line(place: tuple[int, str, str]) -> None:
    for text in MALFORMED:
        data = written(place, text).encode()
        with pytest.raises(DescriptionError) as caught:
            parse_urdf(data, "some.urdf")
        assert caught.value.line == place[0], text
        check_message(str(caught.value), data)


def numbers_of(robot: Description) -> list[float | None]:
    """All numbers of the robot in the order of PLACES; the last one of each triple."""
    body, joint = robot.links[1].inertial, robot.joints[0]
    assert body is not None
    assert joint.limit is not None
    assert joint.mimic is not None
    limit, mimic = joint.limit, joint.mimic
    return [
        *(triple[2] for triple in (body.origin.xyz, body.origin.rpy, joint.origin.xyz, joint.origin.rpy)),
        joint.axis[2],
        *(body.mass, body.ixx, body.ixy, body.ixz, body.iyy, body.iyz, body.izz),
        *(limit.lower, limit.upper, limit.effort, limit.velocity, joint.damping, joint.friction),
        *(mimic.multiplier, mimic.offset),
    ]  # fmt: skip


@pytest.mark.parametrize("place", PLACES, ids=IDS)
@settings(max_examples=15, deadline=None)
@given(
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(["{!r}", " {!r}\n", "{:+.17e}", "{:.17E}"]),
)
def test_every_finite_number_is_read_to_its_last_bit(
    place: tuple[int, str, str], number: float, form: str
) -> None:
    """Numbers from 5e-324 to 1.8e308 are read at every place in every notation; axes become unit vectors."""
    if 'value="' in place[1]:
        number = abs(number)
    if place[0] == 9:
        number = 1.0 if number >= 0 else -1.0
    robot = parse_urdf(written(place, form.format(number)))
    assert numbers_of(robot)[PLACES.index(place)] == number


BODY = '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'


def chain(links: int) -> str:
    body = "".join(
        f'<link name="l{i + 1}">{BODY}</link><joint name="j{i}" type="revolute"><parent link="l{i}"/>'
        f'<child link="l{i + 1}"/></joint>\n'
        for i in range(links)
    )
    return f'<robot name="r"><link name="l0"/>{body}</robot>'


DEEP = f"<material>{'<a>' * 200}{'</a>' * 200}</material>"
STRUCTURES = {
    "2000 links": chain(2000),
    "200 deep": chain(1).replace('<link name="l0"/>', f'<link name="l0">{DEEP}</link>'),
    "CDATA": chain(1).replace('<link name="l0"/>', '<![CDATA[<link name="no"/>]]><link name="l0"/>'),
    "processing instructions": "<?x <!DOCTYPE?>" + chain(1).replace("<mass", "<?link no?><mass") + "<?y?>",
    "a default namespace": chain(1).replace("<robot", '<robot xmlns="urn:any" xmlns:g="urn:g"'),
    "xml:base": chain(1).replace("<robot", '<robot xml:base="file:///etc/" xml:space="preserve"'),
    "character references": chain(1).replace('"1"', '"&#x31;"').replace('"revolute"', '"&#114;evolute"'),
    "every attribute on its line": chain(1).replace(" ", "\r\n"),
    "100 000 comments": chain(1).replace("<mass", "<!---->" * 100_000 + "<mass"),
    "a comment of 1 MB": chain(1) + f"<!--{'x' * 1_000_000}-->",
}  # fmt: skip


@pytest.mark.parametrize("name", STRUCTURES)
def test_odd_structure_is_harmless(name: str) -> None:
    robot = parse_urdf(STRUCTURES[name])
    assert robot.root == "l0"
    assert len(robot.links) == len(robot.joints) + 1 == (2001 if name == "2000 links" else 2)
    assert robot.warnings == ()


@pytest.mark.parametrize("written", ["<b:c/>", '<link name="c" b:d="1"/>', "<xacro:c/>"])
def test_an_undeclared_prefix_is_refused_whatever_comes_after_it(written: str) -> None:
    """lxml alone accepts the prefix if libxml2 warns of something later, here of an instruction's name."""
    text = chain(1).replace("<link", f"{written}<?xml-odd?><link", 1)
    with pytest.raises(DescriptionError, match=r"^some\.urdf:1: .*(prefix b |prefix xacro )"):
        parse_urdf(text, "some.urdf")


@pytest.mark.parametrize("tag", ["mass", "inertia", "inertial", "parent"])
def test_elements_of_another_namespace_are_not_those_of_urdf(tag: str) -> None:
    text = (
        chain(1)
        .replace(f"<{tag} ", f'<{tag} xmlns="urn:other" ')
        .replace(f"<{tag}>", f'<{tag} xmlns="urn:other">')
    )
    data = text.encode()
    if tag == "inertial":  # optional: without it, the link is massless, with a warning
        (missing, told) = parse_urdf(data, "some.urdf").warnings
        assert missing.endswith("taken as massless")
        assert told == "some.urdf:1: link 'l1' has <inertial>; ignored: no element of URDF"
        return
    with pytest.raises(DescriptionError, match=rf"^some\.urdf:1: .* has no <{tag}>; ") as caught:
        parse_urdf(data, "some.urdf")
    check_message(str(caught.value), data)


@pytest.mark.parametrize("place", PLACES[:6], ids=IDS[:6])
def test_a_number_of_megabytes_is_told_in_one_line(place: tuple[int, str, str]) -> None:
    for text in ("1" * 3_000_000, "x" * 12_000_000):
        data = written(place, text).encode()
        with pytest.raises(DescriptionError) as caught:
            parse_urdf(data, "some.urdf")
        check_message(str(caught.value), data)
        assert "XML_PARSE" not in str(caught.value)  # an option of libxml2, which users cannot set


def test_hostile_names_do_not_break_the_tree_of_inspect(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "r.urdf"
    text = (
        chain(1).replace('"l0"', '"a&#10;b"').replace('"l1"', '"&#x202e;c"').replace('"j0"', '"&#x85;[red]"')
    )
    path.write_text(text.replace('name="r"', 'name="r&#13;"'))
    assert main(["inspect", str(path)]) == 0
    printed = capsys.readouterr().out.split("\n")
    assert all(line.isprintable() for line in printed)
    assert printed[0].startswith(r"r\r: fixed base")
    assert r"merged: a\nb" in printed[1]
    assert r"\u202ec: 1 kg; joint \x85[red], revolute" in printed[2]
