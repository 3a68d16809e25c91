"""One time step with frictional contacts.

The step finds impulses at velocity level (Moreau; Stewart and Trinkle, An implicit time-stepping scheme for
rigid body dynamics with inelastic collisions and Coulomb friction, 1996). With the velocity v_free = v + dt
FD of the motion without contacts, the rows J of all contacts and G = J M^-1 J^T,

    c = (G + R) lambda + J v_free + b,  v_next = v_free + M^-1 J^T lambda,  q_next = q exp(dt v_next)

For contacts with friction, c and lambda obey the law of Coulomb, see `cone.py`, with b of `ground.py` in the
normal row. R is the softness times the mobility of the contact, see `mobility.py`. For bilateral contacts,
which are frames and closed loops, c = 0. A sole has six rows, but impulses at its corners, see `sole.py`.

A step is a straight line around the loops of the solver: the problem comes before them, and the motion after.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from rbdgen.functions.configurations.manifold import integrated
from rbdgen.functions.contacts.composite import Robot
from rbdgen.functions.form import flat
from rbdgen.functions.friction.arguments import Law
from rbdgen.functions.friction.arrays import (
    ARMS,
    BIASES,
    BOUNDS,
    COMPLIANCES,
    DRIVE,
    GRIP,
    RESPONSES,
    SMOOTHING,
    STEPS,
    STRIPS,
    matrix,
)
from rbdgen.functions.friction.ground import (
    Approach,
    Plane,
    Spring,
    compliance,
    normal_bias,
    planes,
    softened,
    steps,
)
from rbdgen.functions.friction.held import Bounds, Held, Slopes, bounds_of, held, slopes_of_bounds
from rbdgen.functions.friction.layout import Block, blocks_of
from rbdgen.functions.friction.row_loops import RowLoops
from rbdgen.functions.friction.sole import Arm, Compliance, Corner, Response, gathered
from rbdgen.functions.friction.solver import Solver
from rbdgen.functions.resistance import model_of
from rbdgen.functions.trajectories.steps import times
from rbdgen.model.model import Model
from rbdgen.spatial.rows import Rows
from rbdgen.spatial.scalar import Scalar, add, mul, sub
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.loops import Arrays, LoopedForm


def solver_of(model: Model) -> Solver:
    """The solver for the contacts of a robot."""
    return Solver(blocks_of(model.contacts, len(model.held_joints)), model.contact_solver)


def small_loops(model: Model) -> LoopedForm:
    """The loops of the solver with the least code. Soles have no others than those for speed."""
    solver = solver_of(model)
    return solver.looped() if solver.corners else RowLoops(solver).looped()


class Moved(NamedTuple):
    """The end of a step."""

    q: Sequence[Scalar]
    v: Sequence[Scalar]
    impulse: Sequence[Scalar]
    """The impulses in the axes that users know."""


class Contacts(Protocol):
    """The contacts of a robot at a state, before a step."""

    @property
    def G(self) -> Rows:
        """J M^-1 J^T."""

    @property
    def gaps(self) -> list[Scalar]:
        """The distance from its plane of each point that can touch the ground."""

    @property
    def arms(self) -> list[Arm]:
        """P of each corner of a sole, see `sole.py`."""

    @property
    def velocities(self) -> list[Scalar]:
        """J v."""

    @property
    def accelerations(self) -> list[Scalar]:
        """J a of the motion without contacts. J and v are those before the step."""

    def moved(self, impulses: Sequence[Scalar], dt: Scalar) -> list[Scalar]:
        """v after the step, from the impulses along the rows of G."""

    def given(self, impulses: Sequence[Scalar]) -> list[Scalar]:
        """The impulses in the axes that users know."""


OfContacts = TypeVar("OfContacts", bound=Contacts)


class Step(Generic[OfContacts]):
    """A step at a state: first `problem`, then `moved`, with the impulses that solve the problem.

    `made` makes the contacts from the robot, the state, the blocks of rows, and the planes of each contact
    with friction by the number of the contact. `mobilities` are those of `mobility.py`.
    """

    def __init__(
        self,
        robot: Robot,
        x: State,
        made: Callable[[Any, State, Sequence[Block], dict[int, list[Plane]]], OfContacts],
        mobilities: Sequence[Scalar],
    ) -> None:
        self._model, self._x = model_of(robot), x
        self.solver, (self.dt,) = solver_of(self._model), x.arrays["dt"]
        self.law, blocks = Law(*x.arrays["law"]), self.solver.blocks
        grounds = planes(x.arrays["ground"], x.arrays.get("anisotropy", ()))
        gains = matrix(x.arrays.get("springs", ()), 2)
        self._springs = [Spring.of(stiffness, damping, self.dt) for stiffness, damping in gains]
        own = {
            k: grounds[block.numbers.start : block.numbers.stop]
            for k, block in enumerate(blocks)
            if block.numbers
        }
        self._mobilities = mobilities
        self.contacts: OfContacts = made(robot, replace(x, arrays={}), blocks, own)

    @cached_property
    def _free(self) -> list[Scalar]:
        """J v_free."""
        rates = zip(self.contacts.velocities, self.contacts.accelerations, strict=True)
        return [add(v, mul(self.dt, a)) for v, a in rates]

    @property
    def approaches(self) -> list[Approach]:
        """The motion of each point that can touch the ground along the normal of its plane."""
        found, gaps = list[Approach](), self.contacts.gaps
        for block in self.solver.blocks:
            for k, number in enumerate(block.numbers):
                before, free = (self._normal(block, k, x) for x in (self.contacts.velocities, self._free))
                spring = self._springs[number] if self._springs else None
                found.append(Approach(gaps[number], self.dt, before, free, spring))
        return found

    def _normal(self, block: Block, k: int, velocities: Sequence[Scalar]) -> Scalar:
        """The velocity of the k-th point of a contact along its normal, from those of all rows."""
        own = list(velocities[block.rows])
        return self.contacts.arms[block.corners[k]].velocity(own)[2] if block.corners else own[2]

    def problem(self) -> Arrays:
        """The arrays that the solver reads."""
        G = [list(row) for row in self.contacts.G]
        drive, scales = list(self._free), list[Scalar]()
        corners, responses = list[Corner](), list[Response]()
        biases = [normal_bias(self.law, x) for x in self.approaches]
        for block in self.solver.blocks:
            rows = block.rows
            own = [row[rows] for row in G[rows]]
            for number, corner in zip(block.numbers, block.corners, strict=False):
                arm = self.contacts.arms[corner]
                responses.append(Response.of(arm, own))
                R = Compliance(*(compliance(responses[-1].own, soft) for soft in self._compliance(number)))
                corners.append(Corner(arm, biases[number], R))
                scales += steps(responses[-1].softened(R))
            if block.corners:
                continue
            soft = self._softness_of(block)
            for k, value in enumerate(softened(own, soft), rows.start):
                G[k][k] = value
            if block.numbers:
                scales += steps([row[rows] for row in G[rows]])
                normal = rows.stop - 1
                drive[normal] = add(drive[normal], biases[block.numbers.start])
            else:
                scales += [1 / G[k][k] for k in range(rows.start, rows.stop)]
        return {
            STRIPS: self.solver.strips(G),
            DRIVE: drive,
            GRIP: list(self._x.arrays["friction"]),
            STEPS: scales,
            SMOOTHING: [4 * self.law.smoothing],
            ARMS: [x for corner in corners for x in corner.arm.numbers],
            BIASES: [corner.bias for corner in corners],
            COMPLIANCES: [x for corner in corners for x in corner.compliance],
            RESPONSES: [x for response in responses for part in response for x in flat(part)],
            BOUNDS: [x for bounds in self._bounds for x in bounds],
        }

    @property
    def _bounds(self) -> list[Bounds]:
        """The laws of joints with limits or dry friction."""
        model, q = self._model, self._x.positions
        return [bounds_of(model, x, q[x.idx_q], self.law, self.dt) for x in model.held_joints]

    @property
    def slopes_of_bounds(self) -> list[Slopes]:
        """The derivatives of the laws of joints with respect to their coordinates."""
        model, q = self._model, self._x.positions
        return [slopes_of_bounds(model, x, q[x.idx_q], self.law, self.dt) for x in model.held_joints]

    def held(self, v_next: Sequence[Scalar], impulses: Sequence[Scalar]) -> list[Held]:
        """The modes of joints with limits or dry friction at the end of the step."""
        found, scales = list[Held](), self.problem()[STEPS]
        for block in (block for block in self.solver.blocks if block.joints):
            number, impulse, rho = block.joints.start, impulses[block.place], 1 / scales[block.place]
            (soft,) = self._softness_of(block)
            c = add(v_next[self._model.held_joints[number].idx_v], mul(soft, impulse))
            found.append(held(sub(c, mul(rho, impulse)), rho, self._bounds[number]))
        return found

    def _softness_of(self, block: Block) -> Sequence[Scalar]:
        """R of the rows of a contact that is no sole, or of a joint."""
        if block.numbers:
            return self._compliance(block.numbers.start).rows
        if block.joints:
            return [mul(self.law.softness, self._mobilities[self.solver.cones + block.joints.start])]
        return [0] * block.size

    def _compliance(self, number: int) -> Compliance:
        """The compliance of a point that can touch the ground."""
        soft = mul(self.law.softness, self._mobilities[number])
        if not self._springs:
            return Compliance(soft, soft)
        spring = self._springs[number]
        return Compliance(soft, spring.chosen(spring.compliance, soft))

    def on_rows(self, impulses: Sequence[Scalar]) -> list[Scalar]:
        """The impulses along the rows of G."""
        found: list[Scalar] = []
        for block in self.solver.blocks:
            own = impulses[block.impulses]
            arms = [self.contacts.arms[k] for k in block.corners]
            found += gathered(arms, own) if arms else own
        return found

    def moved(self, impulses: Sequence[Scalar]) -> Moved:
        """The end of the step."""
        v = self.contacts.moved(self.on_rows(impulses), self.dt)
        q = integrated(self._model, self._x.positions, times(v, self.dt), self._x.elementary)
        return Moved(q, v, self.contacts.given(impulses))

    def solved(self, *, small: bool = False) -> tuple[list[Scalar], Scalar]:
        """The impulses and the residual, computed with whatever scalars the state has. With `small`, they
        are computed by the loops with the least code.
        """
        looped = small_loops(self._model) if small else self.solver.looped()
        problem = State(q=(), arrays=self.problem(), naming=self._x.naming)
        impulses, (residual,) = looped.run(problem)
        return impulses, residual
