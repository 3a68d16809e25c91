"""The equality constraints of an MJCF file.

Those that hold two bodies together are closed loops; a linear one of two joints makes one follow the other.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from rbdgen.description.quoting import quoted
from rbdgen.description.schema import Loop, LoopKind, Mimic, Origin
from rbdgen.spatial.ops import Matrix
from rbdgen.spatial.quaternion import rotation_of
from rbdgen.spatial.rpy import rpy_from_rotation

_CONNECT, _WELD, _JOINT = range(3)  # mjtEq
_SITE = 6  # mjtObj


class Equalities(NamedTuple):
    """`mimics`: by the name of the joint that follows; `idle`: constraints that are switched off, or hold
    what no joint moves; `others`: those that the model does not know."""

    loops: tuple[Loop, ...]
    mimics: Mapping[str, Mimic]
    idle: tuple[str, ...]
    others: tuple[str, ...]


def equalities_of(model: Any, names: Sequence[str], carried: Collection[int], path: str) -> Equalities:
    """The constraints of MuJoCo's model, in its order.

    `names`: of its bodies; `carried`: those that are links of the robot. The others stay in place.
    """
    loops: list[Loop] = []
    mimics: dict[str, Mimic] = {}
    idle, others = [], []
    for k in range(model.neq):
        label = quoted(str(model.equality(k).name) or f"equality{k}")
        bodies = _bodies(model, k)
        if not model.eq_active0[k] or (
            bodies and model.body_weldid[bodies[0]] == model.body_weldid[bodies[1]]
        ):
            idle.append(label)
        elif bodies and {0, *carried}.issuperset(bodies):
            first, second = (names[body] for body in bodies)
            kind: LoopKind = "point" if model.eq_type[k] == _CONNECT else "frame"
            where = f"{path}: constraint {label}"
            loops.append(Loop(first, second, kind, where, *_frames(model, k), asked=False))
        elif (pair := _follower(model, k)) and not _leads(pair[0], pair[1].joint, mimics):
            mimics[pair[0]] = pair[1]
        else:
            others.append(label)
    return Equalities(tuple(loops), mimics, tuple(idle), tuple(others))


def _bodies(model: Any, k: int) -> list[int]:
    """The two that a constraint holds together; none where it does another thing."""
    if model.eq_type[k] not in (_CONNECT, _WELD):
        return []
    ends = int(model.eq_obj1id[k]), int(model.eq_obj2id[k])
    return [int(model.site_bodyid[end]) for end in ends] if _of_sites(model, k) else list(ends)


def _of_sites(model: Any, k: int) -> bool:
    return bool(model.eq_objtype[k] == _SITE)


def _follower(model: Any, k: int) -> tuple[str, Mimic] | None:
    """The joint that follows and how, in `qpos`: q1 - ref1 = c0 + c1 (q2 - ref2)."""
    if model.eq_type[k] != _JOINT or model.eq_obj2id[k] < 0:
        return None
    c0, c1, *higher = map(float, model.eq_data[k][:5])
    if any(higher):
        return None
    joints = int(model.eq_obj1id[k]), int(model.eq_obj2id[k])
    ref1, ref2 = (float(model.qpos0[model.jnt_qposadr[joint]]) for joint in joints)
    name, other = (str(model.joint(joint).name) for joint in joints)
    return name, Mimic(other, c1, ref1 + c0 - c1 * ref2)


def _leads(name: str, other: str, mimics: Mapping[str, Mimic]) -> bool:
    """Whether a joint follows already, or moves the one that it is to follow."""
    chain = [name, other]
    while chain[-1] in mimics and chain[-1] != name:
        chain.append(mimics[chain[-1]].joint)
    return name in mimics or chain[-1] == name


def _frames(model: Any, k: int) -> tuple[Origin, Origin]:
    """Where a constraint holds each body; a weld of bodies turns the first one's frame."""
    if _of_sites(model, k):
        return _site(model, int(model.eq_obj1id[k])), _site(model, int(model.eq_obj2id[k]))
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
