"""Robots of any size and scale as URDF text, with a given tree and random numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np


def chain(count: int) -> list[int]:
    """The parents of a chain: the parent of link k is link k - 1, and link -1 is the root."""
    return list(range(-1, count - 1))


def binary_tree(count: int) -> list[int]:
    """The parents of a tree in which every link has two children."""
    return [(k - 1) // 2 for k in range(count)] if count else []


def urdf(parents: Sequence[int], seed: int = 0, length: float = 0.2, mass: float = 1.0) -> str:
    """A robot of revolute joints with random axes and placements.

    `length` in m and `mass` in kg scale all placements, centres of mass and inertias.
    """
    rng = np.random.default_rng(seed)
    lines = ['<robot name="synthetic">', '<link name="root"/>']
    for k, parent in enumerate(parents):
        place, turn = length * rng.uniform(-1, 1, 3), rng.uniform(-3, 3, 3)
        lines.append(_link(f"link_{k}", length, mass, rng))
        above = "root" if parent < 0 else f"link_{parent}"
        lines.append(
            f'<joint name="joint_{k:04}" type="continuous"><parent link="{above}"/><child link="link_{k}"/>'
            f'<origin xyz="{_numbers(place)}" rpy="{_numbers(turn)}"/>'
            f'<axis xyz="{_numbers(rng.standard_normal(3))}"/></joint>'
        )
    return "\n".join([*lines, "</robot>"])


def _link(name: str, length: float, mass: float, rng: np.random.Generator) -> str:
    """A link with the inertia of six equal point masses."""
    points = length * rng.standard_normal((6, 3)) / 2
    points -= points.mean(axis=0)
    J = mass / 6 * (np.trace(points.T @ points) * np.eye(3) - points.T @ points)
    names = ("ixx", 0, 0), ("ixy", 0, 1), ("ixz", 0, 2), ("iyy", 1, 1), ("iyz", 1, 2), ("izz", 2, 2)
    entries = " ".join(f'{entry}="{float(J[i, j])!r}"' for entry, i, j in names)
    return (
        f'<link name="{name}"><inertial><origin xyz="{_numbers(length * rng.uniform(-1, 1, 3) / 2)}"/>'
        f'<mass value="{mass!r}"/><inertia {entries}/></inertial></link>'
    )


def _numbers(values: Iterable[float]) -> str:
    return " ".join(repr(float(value)) for value in values)
