"""The Coriolis matrix in the bodies' own axes, with velocities relative to each frame's origin.

The sweeps are those that compute dID/dv in `derivatives/local.py`, with other rates: w replaces 2 w, which
halves l2, K2 and the rate of p, and S' = dS/dt replaces Psi1 + dS/dt. Forces and accelerations are not
needed. The equations of the entries are in `one_frame.py`.
"""

from __future__ import annotations

from rbdgen.functions.derivatives.local import CLIMB, INWARD, Direction, Subtree, own_subtree
from rbdgen.functions.momentum.rates import origin_rate, turning
from rbdgen.model.reduce import ReducedBody
from rbdgen.spatial.ops import NO_FORCE, NO_MOTION, ZERO, Vector
from rbdgen.sweeps.bodies import relative_motion
from rbdgen.sweeps.records import Each
from rbdgen.sweeps.sweep import Given, Gives, Outward


def step(body: ReducedBody, x: Given) -> Gives:
    """Compute a body's angular velocity, the directions of its joint, the rate of its origin, and its
    composites.
    """
    own = relative_motion(body, x.v)
    w = body.rotation.to_child(x.parent) + own.angular
    return {
        "w": w,
        "direction": [Direction(S, NO_MOTION, NO_MOTION, turning(w, S)) for S in body.subspace],
        "rate": origin_rate(body, x.parent, own.linear),
        "subtree": own_subtree(body.moments, w, NO_FORCE),
    }


OUTWARD = Outward(
    "outward",
    "w",
    step,
    world=lambda _: ZERO,
    reads=("placement", "moments", "v"),
    gives={"w": Vector, "direction": Each(Direction), "rate": Vector, "subtree": Subtree},
)

CORIOLIS_MATRIX = (OUTWARD, INWARD, CLIMB)
"""The sweeps that compute C, nv x nv, from v under the name `dtau_dv`. Entries between different branches are
exactly 0.
"""
