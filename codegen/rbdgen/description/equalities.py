"""The equality constraints of an MJCF file: those that hold two bodies together are closed loops."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from rbdgen.description.quoting import quoted
from rbdgen.description.schema import Loop, Origin
from rbdgen.spatial.ops import Matrix
from rbdgen.spatial.quaternion import rotation_of
from rbdgen.spatial.rpy import rpy_from_rotation

_CONNECT, _WELD = 0, 1  # mjtEq
_SITE = 6  # mjtObj


def loops_of(model: Any, names: Sequence[str], carried: Collection[int], path: str) -> list[Loop]:
    """The active `connect` and `weld` constraints of MuJoCo's model that a joint can move.

    `names`: of its bodies; `carried`: those that are links of the robot. The others stay in place.
    """
    known = {0, *carried}
    loops = []
    for k in range(model.neq):
        ends = int(model.eq_obj1id[k]), int(model.eq_obj2id[k])
        sites = model.eq_objtype[k] == _SITE
        bodies = [int(model.site_bodyid[end]) if sites else end for end in ends]
        if not (model.eq_active0[k] and model.eq_type[k] in (_CONNECT, _WELD) and known.issuperset(bodies)):
            continue
        if model.body_weldid[bodies[0]] == model.body_weldid[bodies[1]]:
            continue
        first, second = (_site(model, end) for end in ends) if sites else _anchors(model, k)
        label = str(model.equality(k).name) or f"equality{k}"
        loops.append(
            Loop(
                names[bodies[0]],
                names[bodies[1]],
                "point" if model.eq_type[k] == _CONNECT else "frame",
                f"{path}: constraint {quoted(label)}",
                first,
                second,
                asked=False,
            )
        )
    return loops


def _anchors(model: Any, k: int) -> tuple[Origin, Origin]:
    """Where a constraint of two bodies holds each of them; a weld turns the first one's frame."""
    data = model.eq_data[k]
    if model.eq_type[k] == _CONNECT:
        return _origin(data[:3]), _origin(data[3:6])
    return _origin(data[3:6], data[6:10]), _origin(data[:3])


def _site(model: Any, site: int) -> Origin:
    return _origin(model.site_pos[site], model.site_quat[site])


def _origin(position: Any, quaternion: Any = (1.0, 0.0, 0.0, 0.0)) -> Origin:
    """`quaternion`: w first, of any length."""
    x, y, z = map(float, position)
    w, *vector = (np.array(quaternion) / np.linalg.norm(quaternion)).tolist()
    turned: Matrix = rotation_of((*vector, w))
    return Origin((x, y, z), rpy_from_rotation(turned))
