"""Random robots as URDF text: trees of all joint types, with fixed and massless links and any placements."""

from __future__ import annotations

from math import pi

import numpy as np
from hypothesis import strategies as st

_QUARTER_TURNS = (0.0, pi / 2, -pi / 2, pi)


@st.composite
def robots(draw: st.DrawFn, max_joints: int = 7) -> str:
    """A URDF with up to `max_joints` joints, in which every moving joint carries a body."""
    count = draw(st.integers(1, max_joints))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    types = [draw(st.sampled_from(("revolute", "continuous", "prismatic", "fixed"))) for _ in range(count)]
    if all(kind == "fixed" for kind in types):
        types[0] = "revolute"
    parents = [draw(st.integers(0, child)) for child in range(count)]
    # The names are in a random order, since children are visited by name and not in the order of the file.
    names = draw(st.permutations([f"joint_{k}" for k in range(count)]))
    lines = ['<robot name="random">', _link(0, rng)]
    for k in range(count):
        massless = types[k] == "fixed" and draw(st.booleans())
        lines.append(f'<link name="link_{k + 1}"/>' if massless else _link(k + 1, rng))
        lines.append(_joint(names[k], types[k], parents[k], k + 1, draw(st.booleans()), rng))
    return "\n".join([*lines, "</robot>"])


def _link(index: int, rng: np.random.Generator) -> str:
    """A link with the inertia of six point masses."""
    points = rng.standard_normal((6, 3)) * 0.2
    points -= points.mean(axis=0)
    J = np.trace(points.T @ points) * np.eye(3) - points.T @ points
    names = ("ixx", 0, 0), ("ixy", 0, 1), ("ixz", 0, 2), ("iyy", 1, 1), ("iyz", 1, 2), ("izz", 2, 2)
    entries = " ".join(f'{name}="{float(J[i, j])!r}"' for name, i, j in names)
    return (
        f'<link name="link_{index}"><inertial>{_origin(rng, rng.random() < 0.3)}'
        f'<mass value="{rng.uniform(0.5, 5)!r}"/><inertia {entries}/></inertial></link>'
    )


def _joint(
    name: str, kind: str, parent: int, child: int, right_angles: bool, rng: np.random.Generator
) -> str:
    if right_angles:
        axis = [0.0, 0.0, 0.0]
        axis[int(rng.integers(3))] = float(rng.choice([-1, 1]))
    else:
        axis = rng.standard_normal(3).tolist()
    limits = '<limit lower="-3" upper="3" effort="1" velocity="1"/>' if kind != "fixed" else ""
    return (
        f'<joint name="{name}" type="{kind}"><parent link="link_{parent}"/><child link="link_{child}"/>'
        f'{_origin(rng, right_angles)}<axis xyz="{_numbers(axis)}"/>{limits}</joint>'
    )


def _origin(rng: np.random.Generator, right_angles: bool) -> str:
    rpy = rng.choice(_QUARTER_TURNS, 3) if right_angles else rng.uniform(-3, 3, 3)
    return f'<origin xyz="{_numbers(rng.uniform(-0.5, 0.5, 3).tolist())}" rpy="{_numbers(rpy.tolist())}"/>'


def _numbers(values: list[float]) -> str:
    return " ".join(repr(value) for value in values)
