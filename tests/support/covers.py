"""Points of shapes, an own distance from capsules, and robots whose links have shapes for collision."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from rbdgen.description.capsules import Capsule
from rbdgen.description.shapes.covers.swept import Array, Swept

INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'


def outside(points: Array, a: Array, b: Array, radius: float) -> Array:
    """The distances of points (n, 3) from the capsule between a and b; negative inside."""
    length = float(np.dot(b - a, b - a))
    t = np.clip((points - a) @ (b - a) / length, 0, 1) if length > 0 else np.zeros(len(points))
    return np.asarray(np.linalg.norm(points - a - np.outer(t, b - a), axis=1) - radius)


def ends_of(capsule: Capsule | Swept) -> tuple[Array, Array]:
    center, reach = np.array(capsule.center), capsule.half_length * np.array(capsule.axis)
    return center - reach, center + reach


def outside_of_all(points: Array, capsules: Iterable[Capsule | Swept]) -> Array:
    """The distances of points from the capsule that holds them best."""
    return np.min([outside(points, *ends_of(x), x.radius) for x in capsules], axis=0)


def uncovered(triangles: Array, capsules: Iterable[Capsule | Swept], depth: int = 12) -> Array:
    """The triangles that no single capsule holds, nor the halves that they are cut into `depth` times.

    A capsule is convex, so it holds a triangle if it holds its corners.
    """
    capsules, left = list(capsules), triangles
    for _ in range(depth):
        held = [
            outside(left.reshape(-1, 3), *ends_of(x), x.radius).reshape(-1, 3).max(axis=1) <= 1e-9
            for x in capsules
        ]
        left = left[~np.any(held, axis=0)]
        if not len(left):
            break
        longest = np.linalg.norm(np.roll(left, -1, axis=1) - left, axis=2).argmax(axis=1)
        a, b, c = (left[np.arange(len(left)), (longest + k) % 3] for k in range(3))
        middle = (a + b) / 2
        left = np.concatenate([np.stack([a, middle, c], 1), np.stack([middle, b, c], 1)])
    return left


def directions(count: int, seed: int = 1) -> Array:
    """Random unit vectors (count, 3), and the coordinate axes."""
    random = np.random.default_rng(seed).standard_normal((count, 3))
    found = random / np.linalg.norm(random, axis=1)[:, None]
    return np.concatenate([found, np.eye(3), -np.eye(3)])


def surface_of(capsule: Capsule | Swept, count: int = 4000) -> Array:
    """Points of the surface of a capsule: the ends, and the side between."""
    a, b = ends_of(capsule)
    normals = directions(count)
    axis = np.array(capsule.axis)
    upper = (normals @ axis > 0)[:, None]
    across = normals - np.outer(normals @ axis, axis)
    across /= np.maximum(np.linalg.norm(across, axis=1), 1e-12)[:, None]
    t = np.random.default_rng(2).uniform(0, 1, (len(normals), 1))
    return np.concatenate(
        [np.where(upper, b, a) + capsule.radius * normals, a + t * (b - a) + capsule.radius * across]
    )


def shape(geometry: str, origin: str = "") -> str:
    """A <collision>."""
    return f"<collision>{origin}<geometry>{geometry}</geometry></collision>"


def origin(xyz: tuple[float, float, float], rpy: tuple[float, float, float] = (0, 0, 0)) -> str:
    return f'<origin xyz="{" ".join(map(repr, xyz))}" rpy="{" ".join(map(repr, rpy))}"/>'


def robot(folder: Path, links: Mapping[str, str], joints: Iterable[str], name: str = "robot.urdf") -> Path:
    """The file of a URDF with these insides of links, which all have an inertia, and these joints."""
    inside = "\n".join(f'<link name="{link}">{INERTIAL}{shapes}</link>' for link, shapes in links.items())
    path = folder / name
    path.write_text(f'<robot name="r">\n{inside}\n' + "\n".join(joints) + "\n</robot>\n", encoding="utf-8")
    return path


def joint(parent: str, child: str, inside: str = "", kind: str = "revolute", limits: str = "-1 1") -> str:
    """A joint about z, or along z, named after its child."""
    lower, upper = limits.split()
    limit = "" if kind in ("fixed", "continuous") else f'<limit lower="{lower}" upper="{upper}"/>'
    axis = "" if "<axis" in inside or kind == "fixed" else '<axis xyz="0 0 1"/>'
    return (
        f'<joint name="to_{child}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f"{inside}{axis}{limit}</joint>"
    )
