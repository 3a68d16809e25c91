"""One time step with frictional contacts.

The step finds impulses at velocity level (Moreau; Stewart and Trinkle, An implicit time-stepping scheme for
rigid body dynamics with inelastic collisions and Coulomb friction, 1996). With the velocity v_free = v + dt
FD of the motion without contacts, the rows J of all contacts and G = J M^-1 J^T,

    c = (G + R) lambda + J v_free + b,  v_next = v_free + M^-1 J^T lambda,  q_next = q exp(dt v_next)

For contacts with friction, c and lambda obey the law of Coulomb, see `cone.py`, with b of `ground.py` in the
normal row and the compliance R. For bilateral contacts, which are frames and closed loops, c = 0.

A step is a straight line around the loops of the solver: the problem comes before them, and the motion after.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from rbdgen.functions.configurations.manifold import integrated
from rbdgen.functions.contacts.composite import Robot
from rbdgen.functions.friction.arguments import Law
from rbdgen.functions.friction.articulated import OnArticulatedBodies
from rbdgen.functions.friction.composite import OnMatrices
from rbdgen.functions.friction.ground import normal_bias, planes, softened, steps
from rbdgen.functions.friction.solver import DRIVE, GRIP, SMOOTHING, STEPS, STRIPS, Solver, blocks_of
from rbdgen.functions.resistance import model_of
from rbdgen.functions.trajectories.steps import times
from rbdgen.model.model import Model
from rbdgen.model.reduce import ReducedModel
from rbdgen.spatial.scalar import Scalar, add, mul
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.loops import Arrays


def solver_of(model: Model) -> Solver:
    """The solver for the contacts of a robot."""
    return Solver(blocks_of(model.contacts), model.contact_solver)


class Moved(NamedTuple):
    """The end of a step."""

    q: Sequence[Scalar]
    v: Sequence[Scalar]
    impulse: Sequence[Scalar]
    """The impulses in the axes that users know."""


class Step:
    """A step at a state: first `problem`, then `moved`, with the impulses that solve the problem.

    `articulated` says whether M is factored joint by joint.
    """

    def __init__(self, robot: Robot, x: State, *, articulated: bool) -> None:
        self._model, self._x = model_of(robot), x
        self._solver, (self._dt,) = solver_of(self._model), x.arrays["dt"]
        blocks = self._solver.blocks
        grounds = iter(planes(x.arrays["ground"]))
        own = {k: next(grounds) for k, block in enumerate(blocks) if block.number is not None}
        inner = replace(x, arrays={})
        self._contacts: OnArticulatedBodies | OnMatrices
        if articulated:
            assert isinstance(robot, ReducedModel)
            self._contacts = OnArticulatedBodies(robot, inner, blocks, own)
        else:
            self._contacts = OnMatrices(robot, inner, blocks, own)

    def problem(self) -> Arrays:
        """The arrays that the solver reads."""
        law, dt, contacts = Law(*self._x.arrays["law"]), self._dt, self._contacts
        G = [list(row) for row in contacts.G]
        before, gaps = contacts.velocities, iter(contacts.gaps)
        free = [add(v, mul(dt, a)) for v, a in zip(before, contacts.accelerations, strict=True)]
        drive, scales = list(free), list[Scalar]()
        for block in self._solver.blocks:
            rows, cone = block.rows, block.number is not None
            own = [row[rows] for row in G[rows]]
            for k, value in enumerate(softened(own, law.softness if cone else 0), rows.start):
                G[k][k] = value
            if not cone:
                scales += [1 / G[k][k] for k in range(rows.start, rows.stop)]
                continue
            scales += steps([row[rows] for row in G[rows]])
            normal = rows.stop - 1
            bias = normal_bias(law, next(gaps), dt, before[normal], free[normal])
            drive[normal] = add(free[normal], bias)
        return {
            STRIPS: self._solver.strips(G),
            DRIVE: drive,
            GRIP: list(self._x.arrays["friction"]),
            STEPS: scales,
            SMOOTHING: [4 * law.smoothing],
        }

    def moved(self, impulses: Sequence[Scalar]) -> Moved:
        """The end of the step."""
        v = self._contacts.moved(impulses, self._dt)
        q = integrated(self._model, self._x.positions, times(v, self._dt), self._x.elementary)
        return Moved(q, v, self._contacts.given(impulses))

    def solved(self) -> tuple[list[Scalar], Scalar]:
        """The impulses and the residual, computed with whatever scalars the state has."""
        return self._solver.solve(self._x, self.problem())
