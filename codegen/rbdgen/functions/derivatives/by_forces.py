"""Derivatives with respect to external forces, which are Jacobians of all bodies.

A force f on a body has the power f . J v. Therefore tau = ID(q, v, a) - J^T f and a = FD(q, v, tau) + M^-1
J^T f, which are both linear in f (Featherstone 2008, section 2.4 on power, and table 5.1). A row of J^T
consists of the velocities of all bodies if one joint alone moves at unit rate. A row of M^-1 J^T consists of
their velocities if the joint rates are the same row of M^-1. An outward sweep computes either of them, so no
columns have to be solved for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, TypeAlias

from rbdgen.access import MatrixView, whole
from rbdgen.functions.derivatives.columns import aba_derivatives_columns
from rbdgen.functions.derivatives.one_frame import placed_bodies
from rbdgen.model.joints import Angle, Coordinate, angle_of, with_angle
from rbdgen.model.model import WORLD, Model
from rbdgen.model.reduce import ReducedModel
from rbdgen.spatial.ops import Motion
from rbdgen.spatial.rows import Rows
from rbdgen.spatial.scalar import Naming, Scalar, unnamed
from rbdgen.sweeps.bodies import motion_to_child, relative_motion
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.loops import Arrays, FormLoop, LoopedForm

Seen: TypeAlias = Callable[[int, Motion], Motion]
"""Maps the index of a body and its motion in its own axes to the motion in the frame of its joint."""


def unit_rates(nv: int, rate: Scalar) -> Rows:
    """Rows of joint rates. In each row only one joint moves, at this rate."""
    return [[rate if k == j else 0 for k in range(nv)] for j in range(nv)]


def motions_by_rates(
    model: Model, q: Sequence[Coordinate], rates: Rows, naming: Naming = unnamed
) -> list[list[Scalar]]:
    """For every row of joint rates, a row with the velocities of all bodies, 6 numbers per body.

    The layout is that of fext: in the frames of the joints, linear part first, without hidden bodies.
    Velocities of bodies that do not move are exactly 0.
    """
    return _motions(placed_bodies(model, q), model.visible, lambda _, motion: motion, rates, naming)


def motions_by_rates_local(
    reduced: ReducedModel, q: Sequence[Coordinate], rates: Rows, naming: Naming = unnamed
) -> list[list[Scalar]]:
    """The rows of `motions_by_rates`, computed in the bodies' own axes."""
    bodies = reduced.at(q)

    def seen(i: int, motion: Motion) -> Motion:
        return bodies[i].in_joint_frame(motion, reduced.bodies[i].frame, reduced.unit_length)

    return _motions(bodies, reduced.model.visible, seen, rates, naming)


def _motions(
    bodies: Sequence[Any], visible: Sequence[int], seen: Seen, rates: Rows, naming: Naming
) -> list[list[Scalar]]:
    rows = []
    for k, row in enumerate(rates):
        moving: list[Motion] = []
        for i, body in enumerate(bodies):
            motion = relative_motion(body, body.joint.slice(row))
            if body.parent != WORLD:
                motion = motion_to_child(body, moving[body.parent]) + motion
            moving.append(motion.named(naming, f"moved[{k},{i}]"))
        motions = (seen(i, moving[i]) for i in visible)
        rows.append([value for motion in motions for value in (*motion.linear, *motion.angular)])
    return rows


# ---- in loops


def aba_fext_derivatives_columns(reduced: ReducedModel) -> LoopedForm:
    """The loops for outputs `da_dq`, `da_dv`, `da_dtau`, `da_dfext` from inputs q, v, tau, fext.

    These are the loops of `aba_derivatives_columns`, followed by a loop with a run for every row of M^-1.
    """
    model, form = reduced.model, aba_derivatives_columns(reduced)
    nv, width = model.coupling.independent, 6 * len(model.visible)
    angles = whole("angles", 2 * model.nbodies)

    def torques(x: State) -> Arrays:
        """Compute the results of the first loop, and the sines and cosines that all later runs share."""
        return {**first.trace(x), "angles": [value for q_i in x.q for value in angle_of(q_i) or (0, 0)]}

    def motions(x: State) -> Arrays:
        pairs = iter(x.arrays["angles"])
        q = [with_angle(q_i, Angle(*islice(pairs, 2))) for q_i in x.q]
        rates = model.coupling.extended(x.arrays["rates"])
        return {"motions": motions_by_rates_local(reduced, q, [rates], x.naming)[0]}

    first, *others = form.loops
    rows = FormLoop(
        "motions",
        motions,
        reads={"angles": angles, "rates": MatrixView("da_dtau", nv).row(range(nv))},
        writes={"motions": MatrixView("da_dfext", width).row(range(nv))},
        inputs=("q",),
        count=nv,
        zeros={"rates": _other_trees(model.elimination.ancestors)},
    )
    inputs, writes = (*first.inputs, "fext"), {**first.writes, "angles": angles}
    return LoopedForm(
        (replace(first, trace=torques, inputs=inputs, writes=writes), *others, rows),
        {**form.outputs, "da_dfext": nv * width},
        {**form.scratch, "angles": 2 * model.nbodies},
    )


def _other_trees(ancestors: Sequence[Sequence[int]]) -> tuple[tuple[int, ...], ...]:
    """For every degree of freedom, those in other trees. M^-1 is 0 between trees that only the world
    connects.
    """
    roots = [above[-1] if above else k for k, above in enumerate(ancestors)]
    return tuple(tuple(k for k, other in enumerate(roots) if other != root) for root in roots)
