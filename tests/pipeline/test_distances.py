"""The capsules and the pairs of a robot follow from its shapes, its joints and the options."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from support.covers import joint, origin, robot, shape
from support.shapes import TETRAHEDRON

from rbdgen.description.builder import RobotBuilder
from rbdgen.description.capsules import NO_DISTANCES, Distances
from rbdgen.errors import RbdgenError
from rbdgen.pipeline.robot import load_robot

BALL = shape('<sphere radius="0.05"/>')

BIG = shape('<sphere radius="0.6"/>')

FAR = origin((0.0, 0.0, 1.0))


def chain(folder: Path, shapes: tuple[str, ...], limits: str = "-1 1") -> Path:
    """Links a, b, c, ... one above the other, 1 m apart."""
    names = "abcdefgh"[: len(shapes)]
    turned = FAR + '<axis xyz="1 0 0"/>'
    joints = [joint(*pair, turned, "revolute", limits) for pair in pairwise(names)]
    return robot(folder, dict(zip(names, shapes, strict=True)), joints)


def wanted(path: Path, **options: object) -> Distances:
    return load_robot(path, **options).description.distances  # type: ignore[arg-type]


def test_nothing_is_read_without_an_option(tmp_path: Path) -> None:
    path = chain(tmp_path, (shape('<mesh filename="none.stl"/>'), BALL))
    assert wanted(path) == NO_DISTANCES


def test_names_and_pairs(tmp_path: Path) -> None:
    found = wanted(chain(tmp_path, (BALL * 2, BALL, BALL)), pairs="all")
    assert [x.name for x in found.capsules] == ["a/0", "a/1", "b/0", "c/0"]
    pairs = [("a/0", "b/0"), ("a/0", "c/0"), ("a/1", "b/0"), ("a/1", "c/0"), ("b/0", "c/0")]
    assert list(found.pairs) == pairs
    assert found.left_out == ()


def test_neighbours_are_left_out(tmp_path: Path) -> None:
    """A body without shapes between two others does not part them."""
    found = wanted(chain(tmp_path, (BALL, "", BALL, BALL), "-3 3"), pairs="auto")
    assert found.pairs == (("a/0", "d/0"),)
    assert [x[2] for x in found.left_out] == ["neighbours", "neighbours"]
    assert {x[:2] for x in found.left_out} == {("a/0", "c/0"), ("c/0", "d/0")}


def test_pairs_that_never_meet_are_left_out(tmp_path: Path) -> None:
    found = wanted(chain(tmp_path, (BALL, BALL, BALL), "-0.5 0.5"), pairs="auto")
    assert found.pairs == ()
    assert Counter(x[2].split(":")[0] for x in found.left_out) == {"neighbours": 2, "proved apart": 1}
    assert found.left_out[1][2].startswith("proved apart: ")


def test_pairs_that_are_always_in_contact_are_left_out_and_told(tmp_path: Path) -> None:
    path = chain(tmp_path, (BIG * 2, BIG, shape('<sphere radius="1.5"/>')))
    loaded = load_robot(path, pairs="auto")
    assert ("a/0", "c/0", "always in contact") in loaded.description.distances.left_out
    (line,) = [x for x in loaded.warnings if "in contact" in x]
    assert (
        "2 pairs are in contact in all of 2000 random configurations, and left out: a/0 c/0, a/1 c/0" in line
    )


def test_one_body_has_no_pairs(tmp_path: Path) -> None:
    """Links that are fixed to each other are one body, and so are links that do not move."""
    links = dict.fromkeys("abcd", BALL)
    joints = [joint("a", "b", FAR, "fixed"), joint("b", "c", FAR), joint("c", "d", FAR, "fixed")]
    found = wanted(robot(tmp_path, links, joints), pairs="all")
    assert set(found.pairs) == {(f"{x}/0", f"{y}/0") for x in "ab" for y in "cd"}


def srdf(folder: Path, *pairs: str) -> Path:
    path = folder / "r.srdf"
    rows = "".join(f'<disable_collisions link1="{x[0]}" link2="{x[1]}" reason="Never"/>' for x in pairs)
    path.write_text(f'<robot name="r">{rows}</robot>')
    return path


def test_pairs_of_an_srdf(tmp_path: Path) -> None:
    path = chain(tmp_path, (BALL, BALL, BALL, BALL), "-3.1 3.1")
    loaded = load_robot(path, pairs="srdf", srdf=srdf(tmp_path, "ab", "ca"))
    found = loaded.description.distances
    assert found.pairs == (("a/0", "d/0"), ("b/0", "c/0"), ("b/0", "d/0"), ("c/0", "d/0"))
    assert found.left_out == (("a/0", "b/0", "SRDF: Never"), ("a/0", "c/0", "SRDF: Never"))
    (line,) = [x for x in loaded.warnings if "SRDF" in x]
    assert "2 pairs are neighbours, which the SRDF does not disable: b/0 c/0, c/0 d/0; kept" in line
    for options in ({}, {"obstacles": "spheres=1"}):
        found = wanted(path, srdf=srdf(tmp_path, "ca"), **options)
        assert found.pairs == (("a/0", "d/0"), ("b/0", "d/0"))
    with pytest.raises(RbdgenError, match=r"is for pairs='auto'.* and pairs='srdf'.*; leave it out"):
        load_robot(path, pairs="all", srdf=srdf(tmp_path, "ca"))


def test_pairs_of_a_file(tmp_path: Path) -> None:
    path = chain(tmp_path, (BALL * 2, BALL, BALL))
    file = tmp_path / "pairs.txt"
    file.write_text("c a\nb a/1\na c\n")
    assert wanted(path, pairs=file).pairs == (("a/0", "c/0"), ("a/1", "c/0"), ("a/1", "b/0"))


def test_capsules_of_a_file_replace_those_of_links(tmp_path: Path) -> None:
    file = tmp_path / "capsules.toml"
    file.write_text('[[capsule]]\nlink = "a"\nfrom = [0, 0, 0]\nto = [0, 0, 1]\nradius = 0.2\n')
    path = chain(tmp_path, (shape('<mesh filename="none.stl"/>'), BALL))
    first, second = wanted(path, capsules=file, pairs="all").capsules
    assert (first.name, first.half_length, first.radius, first.excess) == ("a/0", 0.5, 0.2, None)
    assert (second.name, second.radius, second.excess) == ("b/0", 0.05, 0.0)
    without = chain(tmp_path, ("", ""))
    assert [x.name for x in wanted(without, capsules=file).capsules] == ["a/0"]


def test_visual_shapes(tmp_path: Path) -> None:
    path = chain(tmp_path, (BALL.replace("collision", "visual"), BALL))
    assert [x.link for x in wanted(path, shapes="visual").capsules] == ["a"]
    assert [x.link for x in wanted(path, shapes="collision").capsules] == ["b"]


def test_meshes(tmp_path: Path) -> None:
    """A mesh is moved, scaled and mirrored as its shape says; all excesses are told."""
    vertices, faces = TETRAHEDRON
    obj = [f"v {x} {y} {z}" for x, y, z in vertices] + [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in faces]
    (tmp_path / "t.obj").write_text("\n".join(obj))
    mesh = shape('<mesh filename="t.obj" scale="1 -2 3"/>', origin((0.5, 0, 0)))
    loaded = load_robot(chain(tmp_path, (mesh, BALL)), cover={"mesh": "capsules:1"})
    first = loaded.description.distances.capsules[0]
    corners = [(0.5 + x, -2 * y, 3 * z) for x, y, z in vertices]
    for corner in corners:
        r = [a - b for a, b in zip(corner, first.center, strict=True)]
        t = sum(a * b for a, b in zip(r, first.axis, strict=True))
        t = min(max(t, -first.half_length), first.half_length)
        away = sum((a - t * b) ** 2 for a, b in zip(r, first.axis, strict=True)) ** 0.5
        assert away <= first.radius + 1e-9
    (line,) = [x for x in loaded.warnings if "stand out" in x]
    assert "capsules stand out of the shapes of links by at most: 'a' " in line
    assert line.endswith(" mm")


def test_planes_of_an_mjcf_are_told(tmp_path: Path) -> None:
    path = tmp_path / "r.xml"
    body = '<body name="b"><joint name="j" axis="1 0 0"/><geom type="capsule" size="0.1 0.2"/></body>'
    floor = '<geom name="floor" type="plane" size="1 1 1"/>'
    path.write_text(f"<mujoco><worldbody>{floor}{body}</worldbody></mujoco>")
    loaded = load_robot(path, pairs="all")
    assert [(x.link, x.half_length) for x in loaded.description.distances.capsules] == [("b", 0.2)]
    assert any("a plane has no capsule; left out: use a halfspace" in x for x in loaded.warnings)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pairs": "lost.txt"}, "lost.txt: cannot be read .*; give auto, all, srdf or a file"),
        ({"pairs": 3}, "pairs 3 is not known; give auto, all, srdf or the path of a file"),
        ({"pairs": ""}, "pairs '' is not known"),
        ({"pairs": "srdf"}, "pairs='srdf' needs the pairs of an SRDF; give srdf='FILE'"),
        ({"srdf": 1}, "srdf 1 is no path; give that of a file"),
        ({"capsules": ""}, "capsules '' is no path"),
        ({"shapes": "both"}, "shapes 'both' is not known; choose from: visual, collision"),
        ({"shapes": "visual"}, "its links have no visual shapes; give shapes='collision' or capsules='FILE'"),
        ({"cover": "mesh"}, "cover 'mesh' is not a dict; give"),
        ({"cover": {"sphere": "capsules:1"}}, "cover of 'sphere' cannot be chosen; choose from: mesh"),
        ({"cover": {"boxes": "capsules:1"}}, "cover of 'boxes' cannot be chosen; did you mean 'box'?"),
        ({"cover": {"mesh": "capsules:0"}}, "not a cover of a mesh; choose capsules:K, K from 1 to 32"),
        ({"cover": {"mesh": "capsules:33"}}, "not a cover of a mesh"),
        ({"cover": {"mesh": 3}}, "not a cover of a mesh"),
        ({"cover": {"box": "short"}}, "not a cover of a box; choose capsules:K"),
        ({"cover": {"cylinder": "capsules:2"}}, "not a cover of a cylinder; choose short or capsule$"),
    ],
)
def test_wrong_options_are_one_line(tmp_path: Path, options: dict[str, object], message: str) -> None:
    with pytest.raises(RbdgenError, match=message) as error:
        wanted(chain(tmp_path, (BALL, BALL)), **options)
    assert "\n" not in str(error.value)


MESH = {"cover": {"mesh": "capsules:2"}}


@pytest.mark.parametrize(
    ("inside", "options", "message"),
    [
        ("", {}, r"its links have no shapes for collision; give capsules='FILE'"),
        (BALL.replace("collision", "visual"), {}, "give shapes='visual' or capsules='FILE'"),
        (
            '<mesh filename="a.stl"/>',
            {},
            r"link 'a' has a mesh; give cover=.'mesh': 'capsules:3'. or capsules=",
        ),
        (
            '<mesh filename="a.stl"/>',
            MESH,
            "link 'a': mesh 'a.stl': there is no such file; .* or give capsules=",
        ),
        ('<mesh filename="empty.obj"/>', MESH, "mesh 'empty.obj': it has no triangles"),
        ('<mesh filename="http://a/b.stl"/>', MESH, "none is read from the network"),
        (
            '<sphere radius="-1"/>',
            {},
            "a shape for collision of link 'a' could not be read; correct it, or give",
        ),
        ("<blob/>", {}, "a shape for collision of link 'a' could not be read"),
    ],
)
def test_wrong_shapes_are_one_line(
    tmp_path: Path, inside: str, options: dict[str, object], message: str
) -> None:
    (tmp_path / "empty.obj").write_text("v 0 0 0\n")
    first = inside if inside in ("", BALL) or "visual" in inside else shape(inside)
    path = chain(tmp_path, (first, ""))
    with pytest.raises(RbdgenError, match=message) as error:
        wanted(path, **{"pairs": "all", **options})
    assert "\n" not in str(error.value)


def test_too_many_pairs_are_one_line(tmp_path: Path) -> None:
    path = chain(tmp_path, (BALL * 101, BALL * 100))
    with pytest.raises(
        RbdgenError, match="201 capsules have 10,100 pairs, more than 10,000; give pairs='FILE'"
    ):
        wanted(path, pairs="all")


def test_a_robot_without_a_file_has_no_shapes() -> None:
    rod = {"parent": "base", "joint": "j", "type": "revolute", "axis": (1, 0, 0), "mass": 1.0}
    built = RobotBuilder("r").add_body("base").add_body("rod", **rod, com=(0, 0, 1), inertia=(1, 1, 1))
    with pytest.raises(RbdgenError, match="its links have no shapes for collision; give capsules='FILE'"):
        load_robot(built, pairs="auto")


def test_a_pair_of_one_body_is_one_line(tmp_path: Path) -> None:
    file = tmp_path / "pairs.txt"
    for pair in ("a a", "a/0 a/1"):
        file.write_text(f"b a\n{pair}\n")
        with pytest.raises(RbdgenError, match=f"pairs.txt:2: pair {pair}: one body; name two that move"):
            wanted(chain(tmp_path, (BALL * 2, BALL)), pairs=file)
