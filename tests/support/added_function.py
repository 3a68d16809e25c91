"""A function that rbdgen does not have: the derivatives of gravity torques, as its author would write them.

Run as a program with the argument "first" or "last", it puts the row there in its family, builds the function
in all its forms, and compares each with central differences of `gravity`.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Final

import numpy as np

import rbdgen
from rbdgen.functions.arguments import Q, square
from rbdgen.functions.derivatives import one_frame
from rbdgen.functions.derivatives import rows as family
from rbdgen.functions.form import Form, Outputs, swept, swept_in_loops
from rbdgen.functions.function import Function
from rbdgen.functions.resistance import Added, by_position
from rbdgen.model.build import Robot
from rbdgen.model.model import Model
from rbdgen.signature import Signature
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.sweep import without

NAME: Final = "gravity_derivatives"

_AT_REST: Final = without(one_frame.derivatives(("dtau_dq",)), "v", "a")

_OUTPUTS: Final = {"dg_dq": "dtau_dq"}


def _textbook(model: Model, x: State) -> Outputs:
    still = [0] * model.nv
    return family.RNEA_DERIVATIVES.forms[0].trace(model, replace(x, v=still, a=still))[:1]


GRAVITY_DERIVATIVES: Final = Function(
    Signature(NAME, (Q,), (square("dg_dq", "N m/rad, N/rad, N/m", "derivative of gravity torques"),)),
    "derivatives of gravity torques",
    (
        Form("textbook", "derivatives of inverse dynamics at rest", _textbook),
        swept("one_frame", "the same, simplified", _OUTPUTS, _AT_REST),
        swept_in_loops("the same in loops", _OUTPUTS, _AT_REST),
    ),
    operations=lambda size: 400 * size.bodies + 40 * size.ancestors,
    resistance=(Added("dg_dq", by_position),),
    derivative_of="gravity",
)


def main(place: str) -> None:
    row = (GRAVITY_DERIVATIVES,)
    family.ROWS = (*row, *family.ROWS) if place == "first" else (*family.ROWS, *row)
    from support.limbs import with_limbs  # noqa: PLC0415  (reads the table)

    from rbdgen.functions.table import lookup, rows_of  # noqa: PLC0415

    robot = with_limbs([("revolute", "prismatic")] * 2)
    assert NAME in rows_of(robot.model)
    compare(robot, [form.name for form in lookup(NAME).all_forms])


def compare(robot: Robot, forms: list[str]) -> None:
    """Compares these forms with central differences of `gravity` in the tangent space of q."""
    manifold, nv = robot.model.manifold, robot.model.sizes["nv"]
    gravity = rbdgen.build(robot, ["gravity"]).gravity
    q, h = manifold.random(np.random.default_rng(4)), 1e-6
    steps = h * np.eye(nv)
    differences = [
        (gravity(manifold.integrate(q, step)) - gravity(manifold.integrate(q, -step))) / (2 * h)
        for step in steps
    ]
    expected = np.stack(differences, axis=-1)
    assert np.abs(expected).max() > 1
    for form in forms:
        library = rbdgen.build(robot, [NAME], variants={NAME: form})
        assert np.abs(getattr(library, NAME)(q) - expected).max() < 1e-7, form
        print(form)


if __name__ == "__main__":
    main(sys.argv[1])
