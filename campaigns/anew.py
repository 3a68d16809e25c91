"""Describes robots again with other values of their parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

import rbdgen
from campaigns.built import Recipe
from rbdgen import RobotBuilder
from rbdgen.description.schema import Description, Inertial, Joint, Link
from rbdgen.model.build import Robot

Array = NDArray[np.float64]


class Changed(RobotBuilder):
    """A builder whose description has the given values of parameters, by their names."""

    def __init__(self, built: RobotBuilder, values: Mapping[str, float]) -> None:
        super().__init__(built.name)
        self._changed = changed(built.description(), values)

    def description(self) -> Description:
        return self._changed


def described(recipe: Recipe, values: Mapping[str, float]) -> Robot:
    """The robot of a recipe with these values of parameters, by their names."""
    gravity = list(recipe.options.get("gravity", (0, 0, -9.81)))
    for k, axis in enumerate("xyz"):
        gravity[k] = values.get(f"gravity.{axis}", gravity[k])
    return rbdgen.load_robot(Changed(recipe.built, values), **{**recipe.options, "gravity": gravity})


def changed(description: Description, values: Mapping[str, float]) -> Description:
    """The description with these values of parameters, by their names."""
    links = tuple(_link(link, values) for link in description.links)
    joints = tuple(_joint(joint, values) for joint in description.joints)
    return replace(description, links=links, joints=joints)


def _joint(joint: Joint, values: Mapping[str, float]) -> Joint:
    xyz = [values.get(f"xyz:{joint.name}.{a}", x) for a, x in zip("xyz", joint.origin.xyz, strict=True)]
    x, y, z = xyz
    resisting: dict[str, Any] = {
        kind: values[f"{kind}:{joint.name}"]
        for kind in ("damping", "friction", "stiffness", "armature")
        if f"{kind}:{joint.name}" in values
    }
    return replace(joint, origin=replace(joint.origin, xyz=(x, y, z)), **resisting)


def _link(link: Link, values: Mapping[str, float]) -> Link:
    own = {
        name.partition(":")[0] + name[len(link.name) + name.index(":") + 1 :]: value
        for name, value in values.items()
        if name.partition(":")[0] in ("mass", "com", "inertia", "ten")
        and (name.partition(":")[2] == link.name or name.partition(":")[2].rpartition(".")[0] == link.name)
    }
    if not own or link.inertial is None:
        return link
    given = link.inertial
    assert given.origin.rpy == (0, 0, 0)
    m, c = given.mass, np.array(given.origin.xyz)
    J = np.array(
        [
            [given.ixx, given.ixy, given.ixz],
            [given.ixy, given.iyy, given.iyz],
            [given.ixz, given.iyz, given.izz],
        ]
    )
    if any(name.startswith("ten") for name in own):
        first, about = m * c, J + m * (c @ c * np.eye(3) - np.outer(c, c))
        m = own.get("ten.m", m)
        first = np.array([own.get(f"ten.m{a}", x) for a, x in zip("xyz", first, strict=True)])
        about = _entries(about, own, "ten.I")
        c = first / m
        J = about - m * (c @ c * np.eye(3) - np.outer(c, c))
    else:
        m = own.get("mass", m)
        c = np.array([own.get(f"com.{a}", x) for a, x in zip("xyz", c, strict=True)])
        J = _entries(J, own, "inertia.")
    return replace(link, inertial=_inertial(given, m, c, J))


def _entries(J: Array, own: Mapping[str, float], prefix: str) -> Array:
    """J (3, 3) with the entries of the upper triangle replaced by `own[prefix + axes]`, and mirrored."""
    found = J.copy()
    for i in range(3):
        for j in range(i, 3):
            found[i, j] = found[j, i] = own.get(f"{prefix}{'xyz'[i]}{'xyz'[j]}", J[i, j])
    return found


def _inertial(given: Inertial, m: float, c: Array, J: Array) -> Inertial:
    x, y, z = (float(a) for a in c)
    entries: dict[str, Any] = {
        f"i{'xyz'[i]}{'xyz'[j]}": float(J[i, j]) for i in range(3) for j in range(i, 3)
    }
    return replace(given, mass=float(m), origin=replace(given.origin, xyz=(x, y, z)), **entries)
