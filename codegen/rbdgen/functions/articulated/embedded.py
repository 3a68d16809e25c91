"""Forward dynamics: articulated bodies for robots on which joints follow others.

This is the articulated-body algorithm in the form of `step.py`, for freedoms (independent degrees of freedom)
that may move several joints. A freedom that moves one joint is released, that is eliminated, at this joint. A
freedom that moves several joints waits until the sweep reaches the last body that carries all of them, while
other joints on the way are released as usual, see `subtree.py`. Without followers this is the
articulated-body algorithm. If all freedoms waited for the world, it would form M and factor it.

Constraint embedding: Jain, Robot and Multibody Dynamics, 2011; Chignoli, Wensing et al., Recursive Rigid-Body
Dynamics Algorithms for Systems with Kinematic Loops, 2023. In their clusters, the freedoms of all joints that
lie between the joints of a group wait as well. Here only the freedom of the group waits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce as accumulated
from typing import NamedTuple

from rbdgen.functions.articulated.step import acceleration
from rbdgen.functions.articulated.subtree import Released, Subtree, SubtreeInertia
from rbdgen.functions.inverse_dynamics.classical import body_forces
from rbdgen.model.coupling import Member
from rbdgen.model.joints import Coordinate
from rbdgen.model.model import WORLD, Model
from rbdgen.model.reduce import ReducedModel
from rbdgen.spatial.ops import NO_FORCE, NO_MOTION, Force, Motion
from rbdgen.spatial.scalar import Naming, Scalar, dot, unnamed
from rbdgen.sweeps.bodies import Body, motion_to_child, relative_motion
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.straight import Straight, straight
from rbdgen.sweeps.sweep import Given, Gives, Inward, Outward, Sum, Sweep

Groups = Sequence[Sequence[Member]]
"""For every freedom, the degrees of freedom that it moves and their multipliers, with its own degree of
freedom first.
"""


class Freedoms(NamedTuple):
    """The data on freedoms that the step at a body uses. A freedom is given by its number."""

    moves: tuple[tuple[Member, ...], ...]
    """For each degree of freedom of the joint, the freedoms that move it and their multipliers."""
    own: bool
    """Whether each of the joint's degrees of freedom has one freedom, which moves nothing else."""
    released_with_joint: tuple[int, ...]
    """Freedoms of this joint that are released after it has joined: their other joints are all below it."""
    released_here: tuple[int, ...]
    """Freedoms of other joints for which this is the last body that carries them all."""

    def rates(self, y: Mapping[int, Scalar]) -> list[Scalar]:
        """The accelerations of the joint's degrees of freedom."""
        return [dot([k for _, k in move], [y[g] for g, _ in move]) for move in self.moves]


class Changed(NamedTuple):
    """The acceleration of a body minus that at qdd = 0, and the accelerations of the freedoms that are known
    at this body.
    """

    motion: Motion
    y: Mapping[int, Scalar]

    def named(self, naming: Naming, label: str) -> Changed:
        """Give each number of the motion a name."""
        return self._replace(motion=self.motion.named(naming, label))


def forward_dynamics_embedded(
    reduced: ReducedModel,
    q: Sequence[Coordinate],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    fext: Sequence[Force] | None = None,
    naming: Naming = unnamed,
) -> list[Scalar]:
    """qdd of the independent degrees of freedom. q and v are given for all joints, and tau for the
    independent degrees of freedom.
    """
    model, on_followers = reduced.model, [0] * (reduced.nv - len(tau))
    x = State(q, v, tau=[*tau, *on_followers], fext=fext, naming=naming)
    forces = body_forces(accelerated=False, external=fext is not None)
    return embedded_accelerations(reduced, x, model.coupling.groups, forces)[: len(tau)]


def embedded_accelerations(reduced: ReducedModel, x: State, groups: Groups, forces: Outward) -> list[Scalar]:
    """The accelerations of all degrees of freedom, relative to those for which the sweep `forces` computes
    forces. `x.tau` has an element for each degree of freedom.
    """
    bodies, at_world = released(reduced, x, groups, forces)
    return bodies.run(accelerations(at_world.accelerations(NO_MOTION, {})))["a"]


def released(reduced: ReducedModel, x: State, groups: Groups, *before: Sweep) -> tuple[Straight, Released]:
    """Run the sweeps `before` and then the inward sweep. Returns the driver with the values of all bodies,
    and the freedoms that are released at the world. If no sweep gives `force`, it is 0.
    """
    model, bodies = reduced.model, straight(reduced, x)
    carriers = carrying_bodies(model, groups)
    bodies.values |= {"freedoms": freedoms_at(model, groups, carriers), "force": [NO_FORCE] * reduced.nbodies}
    handed_on = bodies.run(*before, EMBEDDED)["handed_on"]
    roots = [i for i, body in enumerate(model.bodies) if body.parent == WORLD]
    rest = accumulated(Subtree.__add__, [handed_on[i] for i in roots])
    released_here = tuple(g for g, carrier in enumerate(carriers) if carrier == WORLD)
    return bodies, rest.released(released_here)[1]


def carrying_bodies(model: Model, groups: Groups) -> list[int]:
    """For every freedom, the last body that carries all joints that it moves, or WORLD. A joint's own body
    counts.
    """
    body_of = {body.joint.idx_v + k: i for i, body in enumerate(model.bodies) for k in range(body.joint.nv)}

    def carrier(a: int, b: int) -> int:
        up, _ = model.path(a, b)
        return model.bodies[up[-1]].parent if up else a

    return [accumulated(carrier, [body_of[k] for k, _ in members]) for members in groups]


def freedoms_at(model: Model, groups: Groups, carriers: Sequence[int]) -> list[Freedoms]:
    """The `Freedoms` of each body. For `carriers`, see `carrying_bodies`."""
    movers: list[list[Member]] = [[] for _ in range(model.nv)]
    for g, members in enumerate(groups):
        for k, multiple in members:
            movers[k].append((g, multiple))
    found = []
    for i, body in enumerate(model.bodies):
        moves = tuple(map(tuple, body.joint.slice(movers)))
        numbers = {g for move in moves for g, _ in move}
        here = [g for g, carrier in enumerate(carriers) if carrier == i]
        released_with_joint = tuple(g for g in here if g in numbers)
        released_here = tuple(g for g in here if g not in numbers)
        own = len(numbers) == len(moves) and all(len(groups[g]) == 1 for g in numbers)
        found.append(Freedoms(moves, own, released_with_joint, released_here))
    return found


def hand_on(body: Body, x: Given) -> Gives:
    """Release the freedoms for which this is the last body that carries them, add the joint, then release the
    freedoms that the joint completes.
    """
    freedoms: Freedoms = x.freedoms
    subtree, released_here, released_with_joint = x.subtree + Subtree(force=x.force), None, None
    if freedoms.released_here:
        subtree, released_here = subtree.released(freedoms.released_here)
    for joining in zip(freedoms.moves, body.subspace, body.armature, x.tau, strict=True):
        subtree = subtree.joined(*joining)
    if freedoms.released_with_joint:
        alone = body if freedoms.own else None
        subtree, released_with_joint = subtree.released(freedoms.released_with_joint, alone, x.tau)
    above = subtree.to_parent(body)
    return {
        "subtree": above,
        "handed_on": above,
        "released_here": released_here,
        "released_with_joint": released_with_joint,
    }


EMBEDDED = Inward(
    "embedded",
    {"subtree": Sum(Subtree, lambda body: Subtree(SubtreeInertia(body.moments)))},
    hand_on,
    reads=("placement", "moments", "tau", "force", "freedoms"),
)


def accelerate(body: Body, x: Given) -> Gives:
    """Compute accelerations in the inverse order of `hand_on`: those of the freedoms released with the joint,
    that of the joint, and those of the freedoms released at the body.
    """
    freedoms: Freedoms = x.freedoms
    joined: Released | None = x.released_with_joint
    above, y = x.parent
    if joined is not None and freedoms.own:
        known = Given(
            parent=above,
            a=joined.known(y),
            scaled=joined.scaled,
            L=joined.lower,
        )
        found = acceleration(body, known)
        motion, y = found["change"], {**y, **dict(zip(joined.freedoms, found["a"], strict=True))}
    else:
        motion = motion_to_child(body, above)
        if joined is not None:
            y = {**y, **joined.accelerations(motion, y)}
        motion = motion + relative_motion(body, freedoms.rates(y))
    if x.released_here is not None:
        y = {**y, **x.released_here.accelerations(motion, y)}
    return {"a": freedoms.rates(y), "change": Changed(motion, y)}


def accelerations(at_world: Mapping[int, Scalar]) -> Outward:
    """The sweep that computes `a`. `at_world` has the accelerations of the freedoms released at the world."""
    return Outward(
        "accelerations",
        "change",
        accelerate,
        world=lambda _: Changed(NO_MOTION, at_world),
        reads=("placement", "freedoms", "released_here", "released_with_joint"),
        gives={"a": Scalar, "change": Changed},
    )
