"""Reads MJCF with MuJoCo's compiler, which resolves includes, defaults, angles and inertias of geoms.

A body of MuJoCo becomes a link with the frame of that body. If a body has several joints, massless links
connect them into a chain. A joint whose anchor is not the origin of its body gets a link at the anchor. The
coordinates are those of MuJoCo's `qpos`, in its order, except that w is the last element of a quaternion. If
`ref` of a joint is not 0, the joint's placement is rotated or shifted back by it.
A linear `equality/joint` constraint makes one joint follow another. `outside.py` deals with the features of
MJCF that rbdgen does not support.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from rbdgen.description.assembly import assembled
from rbdgen.description.document import Document, line_of
from rbdgen.description.equalities import Equalities, equalities_of
from rbdgen.description.free import FreeNames
from rbdgen.description.mjcf_size import check_size
from rbdgen.description.outside import left_out
from rbdgen.description.quoting import escaped, quoted
from rbdgen.description.schema import Description, Inertial, Joint, JointType, Limit, Link, Origin, Place
from rbdgen.errors import DescriptionError
from rbdgen.spatial.rpy import rpy_from_rotation

_Array = npt.NDArray[np.float64]

_FREE, _BALL, _SLIDE, _HINGE = range(4)  # mjtJoint
_KINDS: dict[int, JointType] = {
    _FREE: "floating",
    _BALL: "spherical",
    _SLIDE: "prismatic",
    _HINGE: "revolute",
}
_WORLD = 0


def read_mjcf(document: Document, ignore: Collection[str] = (), bounds: float = 1.0) -> Description:
    """The description of an MJCF file; a free body that carries all other joints is a floating base.

    The lines of links and joints are those of the named bodies in the file itself; for bodies of included
    files the line is 1.

    Args:
        document: the file.
        ignore: the features of `outside.IGNORABLE` that are left out of the description if the file has them.
        bounds: a factor on the bounds of size, see `mjcf_size.check_size`.

    Raises:
        DescriptionError: MuJoCo is missing or refuses the file, the file is too large, or it has an
            unsupported feature that `ignore` does not name.
    """
    check_size(document, bounds)
    model, told = compiled(document.path)
    with np.errstate(invalid="ignore", over="ignore"):  # `assembled` refuses numbers that overflow
        return _described(document, model, told, ignore)


def _described(document: Document, model: Any, told: list[str], ignore: Collection[str]) -> Description:
    path = document.path
    root = root_of(model)
    named = Names(model)
    names = named.bodies
    written = {element.get("name"): line_of(element) for element in document.root.iter("body")}
    lines = [written.get(name, 1) for name in names]
    links, joints = [Link(names[root], _inertial(model, root, lines), lines[root])], []
    carried = {root}
    for body in range(root + 1, model.nbody):
        if model.body_parentid[body] in carried:
            carried.add(body)
            chain = list(_joints(model, body, named))
            between = [joint.child for joint in chain if joint.type != "fixed"][:-1]
            for joint in chain:
                own = joint.child == names[body]
                inertial = _inertial(model, body, lines) if own else _massless(lines[body])
                links.append(Link(joint.child, inertial, lines[body], hidden=joint.child in between))
                joints.append(replace(joint, line=lines[body]))
    equalities = Equalities((), {}, (), ())
    if not _disabled(model, "EQUALITY", "CONSTRAINT"):
        equalities = equalities_of(model, names, carried, path)
    joints = [replace(joint, mimic=equalities.mimics.get(joint.name)) for joint in joints]
    told += left_out(model, equalities, ignore, path)
    warnings = (*told, *_warnings(model, root, named.joints, path))
    description = assembled(_name(model), links, joints, path, warnings)
    places = tuple(_sites(model, names, carried))
    x, y, z = map(float, model.opt.gravity)
    return replace(
        description,
        floating=root != _WORLD,
        loops=equalities.loops,
        places=places,
        gravity=(0.0, 0.0, 0.0) if _disabled(model, "GRAVITY") else (x, y, z),
        order="file",
        lines=False,
    )


def compiled(path: str) -> tuple[Any, list[str]]:
    """MuJoCo's model, and the warnings that MuJoCo would otherwise write to a file in the current folder."""
    try:
        import mujoco  # noqa: PLC0415  (an extra)
    except ImportError:
        what = "this is an MJCF file, which is read by MuJoCo"
        raise DescriptionError(path, None, what, "pip install 'rbdgen[mujoco]', or give a URDF") from None
    told: list[str] = []
    kept = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(told.append)
    try:
        model = mujoco.MjModel.from_xml_path(path)
    except ValueError as error:
        raise DescriptionError(path, None, _said(str(error)), "correct the file") from None
    finally:
        mujoco.set_mju_user_warning(kept)
    return model, [f"{path}: {_said(text)}" for text in told]


def _said(text: str) -> str:
    return f"MuJoCo says: {escaped(' '.join(text.split()), 300)}"


def _types(model: Any, body: int) -> list[int]:
    first = model.body_jntadr[body]
    return [int(kind) for kind in model.jnt_type[first : first + model.body_jntnum[body]]]


def root_of(model: Any) -> int:
    """The free body that carries all other joints; the world if there is none."""
    moving = [b for b in range(1, model.nbody) if model.body_jntnum[b]]
    free = bool(moving) and _FREE in _types(model, moving[0])
    return moving[0] if free and all(model.body_rootid[b] == moving[0] for b in moving) else _WORLD


class Names:
    """The names of bodies and joints, by their numbers in MuJoCo.

    An element without a name in the file gets one that no other element has.
    """

    def __init__(self, model: Any) -> None:
        bodies, joints = (
            [str(of(k).name) for k in range(count)]
            for of, count in ((model.body, model.nbody), (model.joint, model.njnt))
        )
        self.free = FreeNames({*bodies, *joints, *(str(model.site(k).name) for k in range(model.nsite))})
        self.bodies = [name or self.free(f"body{b}") for b, name in enumerate(bodies)]
        self.joints = [
            name or self.free(f"{self.bodies[model.jnt_bodyid[j]]}_joint{j}") for j, name in enumerate(joints)
        ]


def _sites(model: Any, names: list[str], carried: set[int]) -> Iterator[Place]:
    """The sites that have a name and belong to a link of the robot or to the world."""
    for k in range(model.nsite):
        name, body = str(model.site(k).name), int(model.site_bodyid[k])
        if name and body in {_WORLD, *carried}:
            x, y, z = map(float, model.site_pos[k])
            turned = rpy_from_rotation(rotation_of(model.site_quat[k]).tolist())
            yield Place(name, None if body == _WORLD else names[body], Origin((x, y, z), turned))


def _joints(model: Any, body: int, names: Names) -> Iterator[Joint]:
    """The joints that connect a body to its parent, from the parent outward.

    They include fixed joints: one if the body has no joint of its own, and one from the anchor of the last
    joint to the origin of the body if they differ.
    """
    name, parent = names.bodies[body], names.bodies[model.body_parentid[body]]
    R, p, behind = rotation_of(model.body_quat[body]), np.array(model.body_pos[body]), np.zeros(3)
    first, count = int(model.body_jntadr[body]), int(model.body_jntnum[body])
    for j in range(first, first + count):
        label = names.joints[j]
        kind = _KINDS[int(model.jnt_type[j])]
        if kind == "floating":  # its coordinates are the pose itself
            R, p = np.eye(3), np.zeros(3)
        turning = kind in ("revolute", "prismatic")
        axis = np.array(model.jnt_axis[j] if turning else (1, 0, 0))
        anchor = np.array(model.jnt_pos[j] if kind != "floating" else (0, 0, 0))
        ref = float(model.qpos0[model.jnt_qposadr[j]]) if turning else 0.0
        at = p + R @ (anchor - behind)
        if kind == "prismatic":
            at = at - R @ axis * ref
        elif kind == "revolute":
            R = R @ _about(axis, -ref)
        inmost = j == first + count - 1 and not anchor.any()
        child = name if inmost else names.free(f"{name}_{label}")
        joint = _joint(label, kind, parent, child, R, at, axis, _limit(model, j))
        yield replace(joint, **_resistance(model, j))
        parent, R, p, behind = child, np.eye(3), np.zeros(3), anchor
    if parent != name:
        label = names.free(f"{name}_fixed" if not count else f"{name}_origin")
        yield _joint(label, "fixed", parent, name, R, p - behind, np.array([1.0, 0, 0]), None)


def _joint(
    name: str,
    kind: JointType,
    parent: str,
    child: str,
    R: _Array,
    p: _Array,
    axis: _Array,
    limit: Limit | None,
) -> Joint:
    x, y, z = (p + 0.0).tolist()
    a, b, c = (axis + 0.0).tolist()
    kind = "continuous" if kind == "revolute" and limit is None else kind
    origin = Origin((x, y, z), rpy_from_rotation(R.tolist()))
    return Joint(name, kind, parent, child, origin, (a, b, c), limit, 0.0, 0.0, None, 1)


def _limit(model: Any, joint: int) -> Limit | None:
    if not model.jnt_limited[joint] or model.jnt_type[joint] == _BALL:
        return None
    lower, upper = map(float, model.jnt_range[joint])
    return Limit(lower, upper, None, None)


def _inertial(model: Any, body: int, lines: list[int]) -> Inertial | None:
    """The inertia of a body in the principal axes that MuJoCo computed; None for a body without mass."""
    mass, (ixx, iyy, izz) = float(model.body_mass[body]), map(float, model.body_inertia[body])
    if mass == ixx == iyy == izz == 0:
        return None
    x, y, z = map(float, model.body_ipos[body])
    axes = rpy_from_rotation(rotation_of(model.body_iquat[body]).tolist())
    return Inertial(Origin((x, y, z), axes), mass, ixx, 0.0, 0.0, iyy, 0.0, izz, lines[body])


def _massless(line: int) -> Inertial:
    """The inertia of a link between two joints of one body, which is zero."""
    return Inertial(Origin(), 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, line)


def rotation_of(quaternion: Any) -> _Array:
    """The rotation matrix of a unit quaternion, w first."""
    w, x, y, z = map(float, quaternion)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def _about(axis: _Array, angle: float) -> _Array:
    """The rotation by an angle, in rad, about a unit axis."""
    return rotation_of([np.cos(angle / 2), *(np.sin(angle / 2) * axis)])


def _name(model: Any) -> str:
    return bytes(model.names).partition(b"\0")[0].decode(errors="replace") or "robot"


def _resistance(model: Any, joint: int) -> dict[str, Any]:
    """The armature, damping, friction and spring of a joint, the same for all its degrees of freedom.

    `qpos_spring` is the position of `qpos` at which the spring is at rest. It is `springref` itself, with
    `ref` not subtracted.
    """
    v, q = int(model.jnt_dofadr[joint]), int(model.jnt_qposadr[joint])
    found = {"armature": float(model.dof_armature[v])}
    if not _disabled(model, "DAMPER", "PASSIVE"):
        found["damping"] = float(model.dof_damping[v])
    if not _disabled(model, "FRICTIONLOSS", "CONSTRAINT"):
        found["friction"] = float(model.dof_frictionloss[v])
    if model.jnt_type[joint] in (_SLIDE, _HINGE) and not _disabled(model, "SPRING", "PASSIVE"):
        found["stiffness"] = float(model.jnt_stiffness[joint])
        found["spring_reference"] = float(model.qpos_spring[q])
    return found


def _disabled(model: Any, *names: str) -> bool:
    """Whether the file disables one of these features; not every version of MuJoCo has a flag for each."""
    import mujoco  # noqa: PLC0415  (an extra)

    flags = (getattr(mujoco.mjtDisableBit, f"mjDSBL_{name}", 0) for name in names)
    return any(int(model.opt.disableflags) & int(flag) for flag in flags)


def _warnings(model: Any, root: int, joints: Sequence[str], path: str) -> Iterator[str]:
    """A warning if the free joint of the base has damping, friction, armature or a spring, which are
    ignored."""
    if root != _WORLD:
        free = int(model.body_jntadr[root])
        values = [f"{what} {value:g}" for what, value in _resistance(model, free).items() if value]
        if values:
            what = f"joint {quoted(joints[free])} has {', '.join(values)}"
            yield f"{path}: {what}; ignored: a floating base has none"
