"""The gradient of distances, written out rather than differentiated.

The closest points count as constants, because the distance is stationary in them. The gradient of a pair is a
wrench, the normal n and its moment m = p x n for a point p on the line of n:

    dd/dq_k = +- (z_k . m + (o_k x z_k) . n)     + from the first of the pair, - from the second

for the joints on the path between both bodies. All other elements are 0.
"""

from __future__ import annotations

from collections.abc import Sequence

from rbdgen.functions.distances.nearest import (
    Met,
    is_moved_with_root,
    moved_by,
    nearest,
    signed,
    wrench,
)
from rbdgen.functions.distances.placed import Placed
from rbdgen.model.model import WORLD, Model
from rbdgen.model.reduce import ReducedModel
from rbdgen.signature import DOT
from rbdgen.spatial.ops import NO_FORCE, NO_MOTION, Force, Motion
from rbdgen.spatial.scalar import Scalar
from rbdgen.sweeps.inputs import State


def jacobian(robot: Model | ReducedModel, x: State) -> list[list[Scalar]]:
    """J (npairs, nv), row-major, over all degrees of freedom."""
    placed = Placed.at(robot, x)
    return [[value for met in nearest(placed) for value in row(placed, met)]]


def row(placed: Placed, met: Met) -> list[Scalar]:
    """The gradient of one distance over all degrees of freedom."""
    found: list[Scalar] = [0] * placed.model.nv
    n, m = wrench(met)
    force = Force(m, n)
    for body, sign in moved_by(placed.model, met.first, met.second):
        joint = placed.model.bodies[body].joint
        for k, column in enumerate(placed.columns[body], joint.idx_v):
            found[k] = signed(column.dot(force), sign)
    return found


def weighted(placed: Placed, found: Sequence[Met], weights: Sequence[Scalar]) -> list[Scalar]:
    """The sum of weighted gradients over all degrees of freedom: the wrenches are summed on every body, and
    from the tips to the root.
    """
    model = placed.model
    on = [NO_FORCE] * model.nbodies
    for met, weight in zip(found, weights, strict=True):
        n, m = wrench(met)
        force = Force(m, n) * weight
        if is_moved_with_root(placed, met):
            on[placed.root] = on[placed.root] + (force if met.second == WORLD else -force)
        for body, sign in ((met.first, 1), (met.second, -1)):
            if body not in (WORLD, placed.root):
                on[body] = on[body] + (force if sign > 0 else -force)
    result: list[Scalar] = [0] * model.nv
    for i in reversed(range(model.nbodies)):
        joint, parent = model.bodies[i].joint, model.bodies[i].parent
        for k, column in enumerate(placed.columns[i], joint.idx_v):
            result[k] = column.dot(on[i])
        if parent not in (WORLD, placed.root):
            on[parent] = on[parent] + on[i]
    return result


def rates(robot: Model | ReducedModel, x: State) -> list[list[Scalar]]:
    """The rates of the distances (npairs,) in m/s at the rates q_dot of x.arrays."""
    placed = Placed.at(robot, x)
    return [rates_of(placed, list(nearest(placed)))]


def rates_of(placed: Placed, found: list[Met]) -> list[Scalar]:
    """The rates of these distances, from the motions of the bodies. Its transpose sums wrenches on bodies."""
    twists = placed.twists(placed.model.coupling.extended(placed.x.arrays[f"q{DOT}"]))
    result = []
    for met in found:
        n, m = wrench(met)
        relative = _relative(placed, twists, met)
        result.append(relative.dot(Force(m, n)))
    return result


def _relative(placed: Placed, twists: list[Motion], met: Met) -> Motion:
    """The motion of the first of a pair against the second."""

    def of(body: int) -> Motion:
        return NO_MOTION if body in (WORLD, placed.root) else twists[body]

    moved = of(met.first) - of(met.second)
    if is_moved_with_root(placed, met):
        base = twists[placed.root]
        moved = moved + base if met.second == WORLD else moved - base
    return moved
