"""Robots with limbs: a base, limbs that only differ in their numbers, and limbs of other types."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from rbdgen.description.contacts import Contact
from rbdgen.description.urdf import parse_urdf
from rbdgen.functions.table import lookup
from rbdgen.model.build import Base, Robot, build_robot
from rbdgen.model.model import Model
from rbdgen.model.reduce import reduce
from rbdgen.selection.limbs import InLimbs, cheapest_loop_in_limbs
from rbdgen.selection.trace import trace_program

LEG, SLIDE = ("revolute", "revolute"), ("revolute", "prismatic", "revolute")

CASES: Final[list[tuple[Sequence[Sequence[str]], Base, int]]] = [
    ([LEG] * 4, "floating", 4),
    ([SLIDE, LEG, ("prismatic",), SLIDE, LEG, LEG], "floating", 2),  # two pairs, and two single limbs
    ([SLIDE] * 2, "fixed", 2),  # no trunk
]
"""Limbs, with the base of the robot and the number of lanes."""


def with_limbs(
    limbs: Sequence[Sequence[str]],
    base: Base = "floating",
    seed: int = 0,
    contacts: Sequence[Contact] = (),
) -> Robot:
    """A trunk with these limbs, whose numbers are random and whose axes are coordinate axes."""
    return build_robot(replace(parse_urdf(limbed(limbs, seed)), contacts=tuple(contacts)), base)


def limbed(limbs: Sequence[Sequence[str]], seed: int = 0) -> str:
    """The URDF of a trunk with these limbs."""
    random = np.random.default_rng(seed)
    parts = [_link("trunk", random)]
    for k, joints in enumerate(limbs):
        above = "trunk"
        for depth, kind in enumerate(joints):
            name = f"limb{k}_{depth}"
            origin = " ".join(f"{x:.3f}" for x in random.uniform(-0.4, 0.4, 3))
            axis = ("1 0 0", "0 1 0", "0 0 1")[depth % 3]
            parts.append(
                f'<joint name="{name}_joint" type="{kind}"><parent link="{above}"/><child link="{name}"/>'
                f'<origin xyz="{origin}"/><axis xyz="{axis}"/>'
                '<limit lower="-1" upper="1" effort="9" velocity="9"/></joint>'
            )
            parts.append(_link(name, random))
            above = name
    return f'<robot name="limbed">{"".join(parts)}</robot>'


def loops_in_limbs(name: str, model: Model, form_name: str = "columns") -> InLimbs:
    """A form of a function in loops, with alike limbs as lanes in one of its loops."""
    function, reduced = lookup(name), reduce(model)
    form = function.form(form_name)
    program = trace_program(reduced, function, form, "graph")
    found = cheapest_loop_in_limbs(program, function, form, model, [("as given", reduced)], 0.25, sums=True)
    assert found is not None
    return found


def _link(name: str, random: np.random.Generator) -> str:
    """A link with the inertia of a few points."""
    points = random.uniform(-0.2, 0.2, (5, 3))
    r = points - points.mean(0)
    square = (np.eye(3) * (r**2).sum() - r.T @ r) * 0.3
    com = " ".join(f"{x:.4f}" for x in points.mean(0))
    entries = " ".join(f'i{"xyz"[i]}{"xyz"[j]}="{square[i, j]:.6f}"' for i in range(3) for j in range(i, 3))
    return (
        f'<link name="{name}"><inertial><origin xyz="{com}"/><mass value="1.5"/>'
        f"<inertia {entries}/></inertial></link>"
    )
