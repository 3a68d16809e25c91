"""COLLADA files are read with colours and placements; hostile ones are errors of one line."""

from __future__ import annotations

import numpy as np
import pytest

from rbdgen.description.shapes.shape import Color, Triangles
from rbdgen.errors import DescriptionError
from rbdgen.show import collada
from rbdgen.show.collada import read_collada

NAMESPACE = "http://www.collada.org/2005/11/COLLADASchema"

EFFECT = (
    '<library_effects><effect id="fx"><profile_COMMON><technique sid="c"><phong><diffuse>'
    "<color>0.1 0.2 0.3 0.4</color></diffuse></phong></technique></profile_COMMON></effect></library_effects>"
    '<library_materials><material id="mat"><instance_effect url="#fx"/></material></library_materials>'
)

TRIANGLE = (
    '<triangles count="1" material="m"><input semantic="VERTEX" source="#v" offset="0"/>'
    "<p>0 1 2</p></triangles>"
)


def mesh(primitives: str = TRIANGLE, positions: str = "0 0 0 1 0 0 0 1 0 1 1 0", stride: int = 3) -> str:
    return (
        '<library_geometries><geometry id="g"><mesh><source id="s">'
        f'<float_array id="f">{positions}</float_array><technique_common><accessor source="#f" '
        f'stride="{stride}"/></technique_common></source><vertices id="v"><input semantic="POSITION" '
        f'source="#s"/></vertices>{primitives}</mesh></geometry></library_geometries>'
    )


INSTANCE = (
    '<instance_geometry url="#g"><bind_material><technique_common><instance_material symbol="m" '
    'target="#mat"/></technique_common></bind_material></instance_geometry>'
)


def scene(nodes: str = f"<node>{INSTANCE}</node>") -> str:
    return (
        f'<library_visual_scenes><visual_scene id="vs">{nodes}</visual_scene></library_visual_scenes>'
        '<scene><instance_visual_scene url="#vs"/></scene>'
    )


def read(body: str, asset: str = "") -> list[tuple[Color | None, Triangles]]:
    text = f'<COLLADA xmlns="{NAMESPACE}" version="1.4.1"><asset>{asset}</asset>{body}</COLLADA>'
    return read_collada(text.encode(), "a.dae")


def corners(body: str, asset: str = "") -> list[list[list[float]]]:
    """The corners of all triangles."""
    return [triangle for _, (v, f) in read(body, asset) for triangle in v[f].tolist()]


FIRST = [[0, 0, 0], [1, 0, 0], [0, 1, 0]]


def test_a_triangle_with_its_color() -> None:
    ((color, (vertices, faces)),) = read(EFFECT + mesh() + scene())
    assert color == (0.1, 0.2, 0.3, 1.0)
    assert (vertices.shape, faces.tolist()) == ((4, 3), [[0, 1, 2]])


@pytest.mark.parametrize("without", ["", "<library_materials/>", EFFECT.replace("#fx", "#other")])
def test_a_broken_material_keeps_its_triangles(without: str) -> None:
    ((color, (_, faces)),) = read(without + mesh() + scene())
    assert (color, len(faces)) == (None, 1)


POLYLIST = (
    '<polylist count="2"><input semantic="VERTEX" source="#v" offset="0"/><input semantic="NORMAL" '
    'source="#n" offset="1"/><vcount>3 4</vcount><p>0 9 1 9 2 9 0 9 1 9 3 9 2 9</p></polylist>'
)

POLYGONS = (
    '<polygons count="2"><input semantic="NORMAL" source="#n" offset="0"/><input semantic="VERTEX" '
    'source="#v" offset="1"/><p>9 0 9 1 9 2</p><p>9 0 9 1 9 3 9 2</p></polygons>'
)


@pytest.mark.parametrize("primitive", [POLYLIST, POLYGONS])
def test_polygons_become_triangles(primitive: str) -> None:
    ((_, (_, faces)),) = read(mesh(primitive) + scene())
    assert faces.tolist() == [[0, 1, 2], [0, 1, 3], [0, 3, 2]]


def test_polygons_of_less_than_three_corners_have_no_area() -> None:
    primitive = POLYLIST.replace("3 4", "1 2 4").replace("0 9 1 9 2 9 0", "0 9 1 9 2 9 0", 1)
    ((_, (_, faces)),) = read(mesh(primitive) + scene())
    assert faces.tolist() == [[0, 1, 3], [0, 3, 2]]


def test_further_numbers_of_a_vertex_are_skipped() -> None:
    found = corners(mesh(positions="0 0 0 7 1 0 0 7 0 1 0 7", stride=4) + scene())
    assert found == [FIRST]


@pytest.mark.parametrize(
    ("transformation", "first"),
    [
        ("<translate>1 2 3</translate>", [1, 2, 3]),
        ("<translate>1 0 0</translate><scale>2 2 2</scale>", [1, 0, 0]),
        ("<scale>2 2 2</scale><translate>1 0 0</translate>", [2, 0, 0]),
        ("<rotate>0 0 2 90</rotate><translate>1 0 0</translate>", [0, 1, 0]),
        ("<matrix>1 0 0 5 0 1 0 6 0 0 1 7 0 0 0 1</matrix>", [5, 6, 7]),
        ("<rotate>0 0 0 90</rotate>", [0, 0, 0]),
    ],
)
def test_nodes_are_placed(transformation: str, first: list[float]) -> None:
    nodes = f"<node>{transformation}<node>{INSTANCE}</node></node>"
    np.testing.assert_allclose(corners(mesh() + scene(nodes))[0][0], first, atol=1e-15)


def test_the_unit_applies_and_the_axis_does_not() -> None:
    asset = '<unit meter="0.01"/><up_axis>Y_UP</up_axis>'
    np.testing.assert_allclose(corners(mesh() + scene(), asset)[0], 0.01 * np.array(FIRST))


def test_a_mirrored_node_keeps_the_outside_outside() -> None:
    nodes = f"<node><scale>-1 1 1</scale>{INSTANCE}</node>"
    a, b, c = (np.array(x) for x in corners(mesh() + scene(nodes))[0])
    assert np.cross(b - a, c - a)[2] > 0


def test_only_what_a_scene_contains_counts() -> None:
    assert corners(mesh() + scene("<node/>")) == []
    twice = f'<library_nodes><node id="n">{INSTANCE}</node></library_nodes>'
    nodes = '<node><instance_node url="#n"/></node><node><instance_node url="#n"/></node>'
    assert corners(mesh() + twice + scene(nodes)) == [FIRST, FIRST]
    other = '<library_visual_scenes><visual_scene id="other"><node/></visual_scene></library_visual_scenes>'
    assert len(corners(mesh() + other + scene())) == 1


NODE_OF_NODES = "".join(
    f'<node id="n{k}"><instance_node url="#n{k + 1}"/><instance_node url="#n{k + 1}"/></node>'
    for k in range(60)
)

HOSTILE = {
    "not XML": ("<a", "not XML"),
    "another root": (f"</COLLADA><!-- {'x' * 10} --><x>", "not XML"),
    "an index that is too large": (
        mesh(TRIANGLE.replace("0 1 2", "0 1 4")) + scene(),
        "an index of a vertex",
    ),
    "a negative index": (mesh(TRIANGLE.replace("0 1 2", "0 1 -1")) + scene(), "an index of a vertex"),
    "an index that is no number": (mesh(TRIANGLE.replace("0 1 2", "0 1 x")) + scene(), "not all numbers"),
    "an index that is not whole": (mesh(TRIANGLE.replace("0 1 2", "0 1 1.5")) + scene(), "an index of a"),
    "an index that is NaN": (mesh(TRIANGLE.replace("0 1 2", "0 1 nan")) + scene(), "an index of a vertex"),
    "two corners": (mesh(TRIANGLE.replace("0 1 2", "0 1")) + scene(), "other vertices than it lists"),
    "half a row": (mesh(POLYGONS.replace("9 2</p>", "9</p>")) + scene(), "has 5 numbers, not whole vertices"),
    "another count": (mesh(POLYLIST.replace("3 4", "3 5")) + scene(), "other vertices than it lists"),
    "a negative count": (mesh(POLYLIST.replace("3 4", "8 -1")) + scene(), "other vertices than it lists"),
    "no counts": (mesh(POLYLIST.replace("vcount", "count")) + scene(), "<polylist> has no <vcount>"),
    "a large offset": (mesh(TRIANGLE.replace('"0"', '"1e9"')) + scene(), "no sound <input>"),
    "a negative offset": (mesh(TRIANGLE.replace('"0"', '"-1"')) + scene(), "no sound <input>"),
    "no vertices": (mesh(TRIANGLE.replace("VERTEX", "OTHER")) + scene(), "no sound <input>"),
    "no source": (mesh(TRIANGLE.replace("#v", "#w")) + scene(), "refers to 'w', which does not exist"),
    "no positions": (mesh(TRIANGLE.replace("#v", "#s")) + scene(), "<vertices> have no positions"),
    "positions that are not points": (mesh(positions="0 0 0 1") + scene(), "has 4 numbers in groups of 3"),
    "a stride of 0": (mesh(stride=0) + scene(), "numbers in groups of 0"),
    "no geometry": (scene(), "refers to 'g', which does not exist"),
    "no scene": ('<scene><instance_visual_scene url="#a"/></scene>', "refers to 'a', which does not exist"),
    "no matrix": (scene("<node><matrix>1 2</matrix></node>"), "<matrix> has 2 numbers, not 16"),
    "a node in itself": (scene('<node id="n"><instance_node url="#n"/></node>'), "more than 100,000 nodes"),
    "nodes of nodes": (scene(f'{NODE_OF_NODES}<node id="n60"/>'), "more than 100,000 nodes"),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_hostile_file_is_one_line(what: str) -> None:
    body, told = HOSTILE[what]
    with pytest.raises(DescriptionError) as error:
        read(body)
    text = str(error.value)
    assert told in text
    assert text.startswith("a.dae:")
    assert "\n" not in text


def test_an_entity_is_refused() -> None:
    laughs = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><COLLADA>&b;</COLLADA>'
    with pytest.raises(DescriptionError, match=r"the file has a DOCTYPE.*; delete the DOCTYPE: a COLLADA"):
        read_collada(laughs.encode(), "a.dae")


def test_an_empty_file_and_another_one_are_refused() -> None:
    with pytest.raises(DescriptionError, match=r"a\.dae: the file is empty; give a COLLADA file"):
        read_collada(b"", "a.dae")
    with pytest.raises(DescriptionError, match=r"a\.dae:1: this is no COLLADA file"):
        read_collada(b"<robot/>", "a.dae")


def test_repeated_geometry_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collada, "MOST_TRIANGLES", 3)
    assert len(corners(mesh() + scene(f"<node>{INSTANCE * 3}</node>"))) == 3
    with pytest.raises(DescriptionError, match="more than 3 triangles"):
        read(mesh() + scene(f"<node>{INSTANCE * 4}</node>"))


def test_long_texts_are_read() -> None:
    positions = "0 0 0 1 0 0 0 1 0 " + "1.000000000000 0 0 " * 600_000
    assert len(positions) > 10_000_000
    assert corners(mesh(positions=positions) + scene()) == [FIRST]
