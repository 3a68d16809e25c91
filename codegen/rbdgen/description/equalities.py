"""Reads the equality constraints of an MJCF file.

A constraint that keeps two bodies together becomes a closed loop. A linear constraint on two joints makes one
joint follow the other.
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
    """The equality constraints of a file, grouped by their treatment."""

    loops: tuple[Loop, ...]
    mimics: Mapping[str, Mimic]  # by the name of the joint that follows
    idle: tuple[str, ...]  # constraints that are inactive, or whose bodies cannot move relative to each other
    others: tuple[str, ...]  # constraints that rbdgen does not support


def equalities_of(model: Any, names: Sequence[str], carried: Collection[int], path: str) -> Equalities:
    """The constraints of MuJoCo's model, in its order.

    Args:
        model: MuJoCo's model.
        names: the names of its bodies.
        carried: the bodies that are links of the robot; all others stay in place.
        path: the name of the file in messages.
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
    """The two bodies that a constraint keeps together; an empty list for constraints of other kinds."""
    if model.eq_type[k] not in (_CONNECT, _WELD):
        return []
    ends = int(model.eq_obj1id[k]), int(model.eq_obj2id[k])
    return [int(model.site_bodyid[end]) for end in ends] if _of_sites(model, k) else list(ends)


def _of_sites(model: Any, k: int) -> bool:
    return bool(model.eq_objtype[k] == _SITE)


def _follower(model: Any, k: int) -> tuple[str, Mimic] | None:
    """The name of the joint that follows and its coupling, q1 - ref1 = c0 + c1 (q2 - ref2) with q of `qpos`.

    Returns None if the constraint does not couple two joints, or couples them nonlinearly.
    """
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
    """Whether joint `name` follows a joint already, or `other` follows it directly or through other
    joints."""
    chain = [name, other]
    while chain[-1] in mimics and chain[-1] != name:
        chain.append(mimics[chain[-1]].joint)
    return name in mimics or chain[-1] == name


def _frames(model: Any, k: int) -> tuple[Origin, Origin]:
    """The frame of the constraint in each of its two bodies.

    MuJoCo stores the relative orientation of a weld of two bodies with the first body.
    """
    if _of_sites(model, k):
        return _site(model, int(model.eq_obj1id[k])), _site(model, int(model.eq_obj2id[k]))
    data = model.eq_data[k]
    if model.eq_type[k] == _CONNECT:
        return _origin(data[:3]), _origin(data[3:6])
    return _origin(data[3:6], data[6:10]), _origin(data[:3])


def _site(model: Any, site: int) -> Origin:
    return _origin(model.site_pos[site], model.site_quat[site])


def _origin(position: Any, quaternion: Any = (1.0, 0.0, 0.0, 0.0)) -> Origin:
    """The origin at a position, in m, with the axes of a quaternion of any length, w first."""
    x, y, z = map(float, position)
    w, *vector = (np.array(quaternion) / np.linalg.norm(quaternion)).tolist()
    turned: Matrix = rotation_of((*vector, w))
    return Origin((x, y, z), rpy_from_rotation(turned))
