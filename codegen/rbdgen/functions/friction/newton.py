"""A guarded Newton step for the impulses of all contacts.

The derivative of the natural map F (see `cone.py`) is N = D + W G, where D is its derivative by the
impulses at fixed velocities, and W that by the velocities, with c = G lambda + g. The step -N^-1 F is exact
if no contact changes its mode. It is shortened to the factor with the least |F|^2 among a few, or left out
if none makes |F| smaller. N is eliminated without pivots; a step that is not finite is not taken, because
no comparison with NaN is true.

Where several corners of a sole carry a load that fewer could carry, full steps tend to a wrong choice among
them. Steps for one sole alone, see `sole_alone.py`, are therefore damped at first: D + damping W / r takes
the place of D, as if the contacts were softer (Levenberg, A method for the solution of certain problems in
least squares, 1944).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from rbdgen.functions.friction.cone import TINY, Cone, Scale, cone
from rbdgen.functions.friction.held import Bounds, Held, held
from rbdgen.functions.friction.layout import Block
from rbdgen.functions.friction.linear import Equations, Linear, of_bounded, of_cone, of_joint
from rbdgen.functions.friction.sole import CERTAINTY, Alone, Arm, Corner, gathered, of_sole, spread
from rbdgen.spatial.rows import Rows
from rbdgen.spatial.scalar import Scalar, add, dot, maximum, mul, select, sub

TRIES: Final = (1, 0.5, 0.25, 0.1)
"""The factors of the step that are tried."""


class Impulses(NamedTuple):
    """The impulses of all contacts."""

    rows: list[Scalar]
    """The impulses along the rows of G: for a sole its force and moment."""
    each: list[Scalar]
    """lambda: for a sole the impulses of its corners, and for other contacts those of its rows."""


class Modes(NamedTuple):
    """The natural map of all that is not bilateral."""

    cones: list[Cone]
    joints: list[Held]


@dataclass(frozen=True)
class Problem:
    """The equations of the impulses lambda of all contacts, with velocities c = G lambda + g.

    For a sole, c has the velocities of the corners, see `sole.py`.
    """

    blocks: Sequence[Block]
    G: Rows
    g: Sequence[Scalar]
    mu: Sequence[Scalar]
    """The coefficients of friction."""
    steps: Sequence[Scalar]
    """The numbers r of the natural map, one for each impulse; the two tangential ones of a point are equal.
    """
    smoothing: Scalar
    """4 sigma."""
    corners: Sequence[Corner] = ()
    """The corners of all soles."""
    bounds: Sequence[Bounds] = ()
    """The laws of joints with limits or dry friction."""

    @property
    def for_newton(self) -> Problem:
        """The problem with the steps of the natural map for Newton steps."""
        steps = list(self.steps)
        for block in self.blocks:
            if block.corners:
                steps[block.impulses] = [mul(CERTAINTY, r) for r in steps[block.impulses]]
        return replace(self, steps=steps)

    def corners_of(self, block: Block) -> Sequence[Corner]:
        """The corners of a sole."""
        return self.corners[block.corners.start : block.corners.stop]

    def arms_of(self, block: Block) -> list[Arm]:
        """P of each corner of a sole."""
        return [corner.arm for corner in self.corners_of(block)]

    def on_rows(self, each: Sequence[Scalar]) -> list[Scalar]:
        """The impulses along the rows of G."""
        found: list[Scalar] = []
        for block in self.blocks:
            own = list(each[block.impulses])
            found += gathered(self.arms_of(block), own) if block.corners else own
        return found

    def felt(self, rows: Sequence[Scalar]) -> list[Scalar]:
        """The velocities of the points of contact, from those of the rows of G."""
        found: list[Scalar] = []
        for block in self.blocks:
            own = list(rows[block.rows])
            found += spread(self.arms_of(block), own) if block.corners else own
        return found

    def velocities(self, impulses: Impulses) -> list[Scalar]:
        """c."""
        rows = [add(own, dot(row, impulses.rows)) for own, row in zip(self.g, self.G, strict=True)]
        return self.yielding(self.felt(rows), impulses.each, biased=True)

    def yielding(
        self, felt: Sequence[Scalar], each: Sequence[Scalar], *, biased: bool = False
    ) -> list[Scalar]:
        """The velocities with the compliances of corners and, if they are `biased`, with b."""
        found = list(felt)
        for block in self.blocks:
            for corner, touch in zip(self.corners_of(block), block.touches, strict=False):
                own = touch.impulse
                found[own] = [
                    add(value, mul(R, x))
                    for value, R, x in zip(found[own], corner.compliance.rows, each[own], strict=True)
                ]
                if biased:
                    found[own.stop - 1] = add(found[own.stop - 1], corner.bias)
        return found

    def natural_map(self, each: Sequence[Scalar], velocities: Sequence[Scalar]) -> Modes:
        """The natural map of every point that can touch the ground, and of every joint."""
        found: list[Cone] = []
        for number, own in (touch for block in self.blocks for touch in block.touches):
            tangential, _, normal = self.steps[own]
            scale = Scale(tangential, normal, mul(self.smoothing, normal))
            found.append(cone(each[own], velocities[own], self.mu[number], scale))
        joints: list[Held] = []
        for block in (block for block in self.blocks if block.joints):
            k = block.place
            rho = 1 / self.steps[k]
            z = sub(velocities[k], mul(rho, each[k]))
            joints.append(held(z, rho, self.bounds[block.joints.start]))
        return Modes(found, joints)

    def values(self, modes: Modes, velocities: Sequence[Scalar]) -> list[Scalar]:
        """F. For a bilateral contact it is r c."""
        found: list[Scalar] = []
        for block in self.blocks:
            for joint in block.joints:
                k = block.place
                found.append(mul(self.steps[k], sub(velocities[k], modes.joints[joint].velocity)))
            if not (block.numbers or block.joints):
                moving = zip(self.steps[block.impulses], velocities[block.impulses], strict=True)
                found += [mul(*pair) for pair in moving]
            for number in block.numbers:
                found += modes.cones[number].F
        return found

    def linear(self, modes: Modes, damping: Scalar = 0) -> Linear:
        """The derivative of F."""
        found: list[Equations] = []
        for block in self.blocks:
            if block.joints:
                found.append(of_bounded(modes.joints[block.joints.start].free, self.steps[block.place]))
                continue
            if not block.numbers:
                found.append(of_joint(self.steps[block.impulses], damping))
                continue
            points = [
                (modes.cones[number], self.steps[own], self.mu[number], damping)
                for number, own in block.touches
            ]
            if not block.corners:
                found += [of_cone(*point) for point in points]
                continue
            corners = zip(points, self.corners_of(block), strict=True)
            alone = [Alone.of(*point, corner.compliance) for point, corner in corners]
            found.append(of_sole(self.arms_of(block), alone))
        return Linear(self.blocks, self.G, found)


def newton_step(
    problem: Problem, each: Sequence[Scalar], velocities: Sequence[Scalar], damping: Scalar = 0
) -> Impulses:
    """The change of the impulses in a guarded step, from them and their velocities."""
    problem = problem.for_newton
    modes = problem.natural_map(each, velocities)
    F = problem.values(modes, velocities)
    change = problem.linear(modes, damping).solve([-value for value in F])
    dc = problem.yielding(problem.felt(change.velocities), change.each)
    least, taken = dot(F, F), 0
    for factor in TRIES:
        moved, faster = _along(each, change.each, factor), _along(velocities, dc, factor)
        F = problem.values(problem.natural_map(moved, faster), faster)
        size = dot(F, F)
        taken = select(size, least, factor, taken)
        least = select(size, least, size, least)
    both = ([select(0, taken, taken * d, 0) for d in part] for part in (change.rows, change.each))
    return Impulses(*both)


def without_gain(problem: Problem, each: Sequence[Scalar]) -> list[Scalar]:
    """The impulses lambda, or a part of them if they would add energy: that which takes the most.

    a lambda changes the energy by a lambda . g + a^2 / 2 lambda . (c - g) or, for contacts above the ground,
    by less. If the law holds, lambda . c is at most sigma times the number of points, so this is less for all
    a up to 1.
    """
    whole = problem.velocities(Impulses(problem.on_rows(each), list(each)))
    still: list[Scalar] = [0] * len(each)
    free = problem.yielding(problem.felt(problem.g), still, biased=True)
    given = dot(list(each), free)
    taken = sub(dot(list(each), whole), given)
    most = 0.25 * len(problem.mu) * problem.smoothing
    part = select(most, given + 0.5 * taken, maximum(-given, 0) / maximum(taken, TINY), 1)
    return [mul(part, value) for value in each]


def _along(x: Sequence[Scalar], d: Sequence[Scalar], factor: Scalar) -> list[Scalar]:
    return [add(a, mul(factor, b)) for a, b in zip(x, d, strict=True)]
