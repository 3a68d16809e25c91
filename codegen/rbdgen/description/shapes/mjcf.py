"""Reads the shapes of an MJCF from the model that MuJoCo's compiler makes of it.

The compiler resolves defaults, `fromto`, meshes and the boxes or cylinders that are fitted to meshes. A geom
is visual if its group is one that MuJoCo's viewer shows at first, 0 to 2, and it is for collision if it may
touch anything: if its `contype` or `conaffinity` is not 0, or if it belongs to a pair of <contact>. A geom
can be both, which gives two shapes.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from rbdgen.description.document import Document, line_of
from rbdgen.description.mjcf import Names, compiled, rotation_of
from rbdgen.description.quoting import quoted
from rbdgen.description.shapes.shape import Color, Kind, Shape, Shapes, Triangles, clipped
from rbdgen.spatial.ops import Matrix, Transform, Vector

_SHOWN_GROUPS: Final = 3

_DEFAULT_COLOR: Final = (0.5, 0.5, 0.5, 1.0)
"""The colour of a geom that has none."""

_KINDS: Final[dict[int, Kind]] = {
    0: "plane",
    2: "sphere",
    3: "capsule",
    4: "ellipsoid",
    5: "cylinder",
    6: "box",
    7: "mesh",
}
"""The kinds by their numbers in mjtGeom."""


def mjcf_shapes(document: Document, path: str) -> Shapes:
    """The shapes of an MJCF, its meshes, and one line for every geom that is left out.

    The lines of shapes are those of named geoms in the file itself; otherwise the line is 1.

    Args:
        document: a file that the reader of descriptions has accepted.
        path: the path of the file, from which MuJoCo reads it again.

    Raises:
        DescriptionError: MuJoCo refuses the file, which must have changed.
    """
    model, _ = compiled(path)
    links = Names(model).bodies
    lines = {element.get("name"): line_of(element) for element in document.root.iter("geom")}
    colliding = {int(k) for k in (*model.pair_geom1, *model.pair_geom2)}
    colliding |= set(np.flatnonzero(np.asarray(model.geom_contype) | np.asarray(model.geom_conaffinity)))
    meshes: dict[str, Triangles] = {}
    shapes: list[Shape] = []
    missing: list[str] = []
    incomplete: set[str] = set()
    for k in range(model.ngeom):
        name, link = str(model.geom(k).name) or None, links[model.geom_bodyid[k]]
        line = lines.get(name, 1)
        if int(model.geom_type[k]) not in _KINDS:
            told = "a geom" if name is None else f"geom {quoted(name)}"
            what = f"{told} of body {quoted(link)} is a height field or a signed distance function"
            missing.append(document.warning(line, f"{what}; left out: use a mesh to see it"))
            incomplete.add(link)
            continue
        common = {"link": link, "name": name, "line": line, **_geom(model, k, meshes)}
        if 0 <= int(model.geom_group[k]) < _SHOWN_GROUPS:
            shapes.append(Shape(role="visual", **common))
        if k in colliding:
            shapes.append(Shape(role="collision", friction=float(model.geom_friction[k][0]), **common))
    return Shapes(tuple(shapes), meshes, tuple(missing), frozenset(incomplete))


def _geom(model: Any, k: int, meshes: dict[str, Triangles]) -> dict[str, Any]:
    """The fields of the shape of a geom. Its mesh, if any, is added to `meshes`."""
    kind = _KINDS[int(model.geom_type[k])]
    fields: dict[str, Any] = {
        "kind": kind,
        "placement": Transform(
            Matrix(*(Vector(*map(float, row)) for row in rotation_of(model.geom_quat[k]))),
            Vector(*map(float, model.geom_pos[k])),
        ),
        "color": _color(model, k),
    }
    if kind == "mesh":
        mesh = int(model.geom_dataid[k])
        fields["mesh"] = str(model.mesh(mesh).name)
        meshes.setdefault(fields["mesh"], _triangles(model, mesh))
    else:
        fields["size"] = _size(kind, *map(float, model.geom_size[k]))
    return fields


def _size(kind: Kind, x: float, y: float, z: float) -> tuple[float, ...]:
    """The size of a shape from that of MuJoCo, which has half lengths."""
    sizes: dict[Kind, tuple[float, ...]] = {
        "box": (2 * x, 2 * y, 2 * z),
        "sphere": (x,),
        "cylinder": (x, 2 * y),
        "capsule": (x, 2 * y),
        "ellipsoid": (x, y, z),
        "plane": (x, y),
    }
    return sizes[kind]


def _color(model: Any, k: int) -> Color | None:
    """The colour of a geom: its own, otherwise that of its material, as in MuJoCo's viewer."""
    own, material = np.asarray(model.geom_rgba[k]), int(model.geom_matid[k])
    if not np.array_equal(own, _DEFAULT_COLOR):
        return clipped(own)
    return clipped(model.mat_rgba[material]) if material >= 0 else None


def _triangles(model: Any, mesh: int) -> Triangles:
    """A mesh in the frame of its geoms, in which the compiler has turned it to its principal axes."""
    first, count = int(model.mesh_vertadr[mesh]), int(model.mesh_vertnum[mesh])
    begin, faces = int(model.mesh_faceadr[mesh]), int(model.mesh_facenum[mesh])
    return Triangles(
        np.array(model.mesh_vert[first : first + count], float),
        np.array(model.mesh_face[begin : begin + faces], np.int64),
    )
