"""Forward dynamics: articulated bodies for robots on which joints follow others.

This is the articulated-body algorithm in the form of `step.py`, for freedoms (independent degrees of freedom)
that may move several joints. A freedom that moves one joint is released, that is eliminated, at this joint. A
freedom that moves several joints waits until the sweep reaches the last body that carries all of them, while
other joints on the way are released as usual, see `subtree.py`. Without followers this is the
articulated-body algorithm. If all freedoms waited for the world, it would be M and its factor.

Constraint embedding: Jain, Robot and Multibody Dynamics, 2011; Chignoli, Wensing et al., Recursive Rigid-Body
Dynamics Algorithms for Systems with Kinematic Loops, 2023. Their clusters make every freedom with a joint
between those of the group wait; here only the group's own freedom waits.
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
    """What the step at a body needs to know about freedoms, which are given by their numbers."""

    moves: tuple[tuple[Member, ...], ...]
    """For each degree of freedom of the joint, the freedoms that move it and their multipliers."""
    own: bool
    """Whether each of the joint's degrees of freedom has one freedom, which moves nothing else."""
    complete: tuple[int, ...]
    """Freedoms of this joint that are released after it has joined: their other joints are all below it."""
    met: tuple[int, ...]
    """Freedoms of other joints for which this is the last body that carries them all."""

    def rates(self, y: Mapping[int, Scalar]) -> list[Scalar]:
        """The accelerations of the joint's degrees of freedom."""
        return [dot([k for _, k in move], [y[g] for g, _ in move]) for move in self.moves]


class Changed(NamedTuple):
    """A body's change of acceleration relative to that at qdd = 0, and the accelerations of freedoms known
    there.
    """

    motion: Motion
    y: Mapping[int, Scalar]

    def named(self, naming: Naming, label: str) -> Changed:
        """The same with a name for each number of the motion."""
        return self._replace(motion=self.motion.named(naming, label))


def forward_dynamics_embedded(
    reduced: ReducedModel,
    q: Sequence[Coordinate],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    fext: Sequence[Force] | None = None,
    naming: Naming = unnamed,
) -> list[Scalar]:
    """qdd of the independent degrees of freedom; q and v of all joints, tau of the independent ones."""
    model, on_followers = reduced.model, [0] * (reduced.nv - len(tau))
    x = State(q, v, tau=[*tau, *on_followers], fext=fext, naming=naming)
    forces = body_forces(accelerated=False, external=fext is not None)
    return embedded_accelerations(reduced, x, model.coupling.groups, forces)[: len(tau)]


def embedded_accelerations(reduced: ReducedModel, x: State, groups: Groups, forces: Outward) -> list[Scalar]:
    """The change of the accelerations of all degrees of freedom against those that `forces` are for; tau of
    all of them."""
    bodies, at_world = released(reduced, x, groups, forces)
    return bodies.run(accelerations(at_world.accelerations(NO_MOTION, {})))["a"]


def released(reduced: ReducedModel, x: State, groups: Groups, *before: Sweep) -> tuple[Straight, Released]:
    """The inward sweep after others, and the freedoms that met in the world. Without `force` it is 0."""
    model, bodies = reduced.model, straight(reduced, x)
    carriers = carrying_bodies(model, groups)
    bodies.values |= {"freedoms": freedoms_at(model, groups, carriers), "force": [NO_FORCE] * reduced.nbodies}
    handed_on = bodies.run(*before, EMBEDDED)["handed_on"]
    roots = [i for i, body in enumerate(model.bodies) if body.parent == WORLD]
    rest = accumulated(Subtree.__add__, [handed_on[i] for i in roots])
    met = tuple(g for g, carrier in enumerate(carriers) if carrier == WORLD)
    return bodies, rest.released(met)[1]


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
    """What each body needs to know about freedoms. For `carriers`, see `carrying_bodies`."""
    movers: list[list[Member]] = [[] for _ in range(model.nv)]
    for g, members in enumerate(groups):
        for k, multiple in members:
            movers[k].append((g, multiple))
    found = []
    for i, body in enumerate(model.bodies):
        moves = tuple(map(tuple, body.joint.slice(movers)))
        numbers = {g for move in moves for g, _ in move}
        here = [g for g, carrier in enumerate(carriers) if carrier == i]
        complete = tuple(g for g in here if g in numbers)
        met = tuple(g for g in here if g not in numbers)
        own = len(numbers) == len(moves) and all(len(groups[g]) == 1 for g in numbers)
        found.append(Freedoms(moves, own, complete, met))
    return found


def hand_on(body: Body, x: Given) -> Gives:
    """Release the freedoms that met at the body, let the joint join, then release the freedoms that are
    complete.
    """
    freedoms: Freedoms = x.freedoms
    subtree, met, complete = x.subtree + Subtree(force=x.force), None, None
    if freedoms.met:
        subtree, met = subtree.released(freedoms.met)
    for joining in zip(freedoms.moves, body.subspace, body.armature, x.tau, strict=True):
        subtree = subtree.joined(*joining)
    if freedoms.complete:
        alone = body if freedoms.own else None
        subtree, complete = subtree.released(freedoms.complete, alone, x.tau)
    above = subtree.to_parent(body)
    return {"subtree": above, "handed_on": above, "met": met, "complete": complete}


EMBEDDED = Inward(
    "embedded",
    {"subtree": Sum(Subtree, lambda body: Subtree(SubtreeInertia(body.moments)))},
    hand_on,
    reads=("placement", "moments", "tau", "force", "freedoms"),
)


def accelerate(body: Body, x: Given) -> Gives:
    """The inverse order: the freedoms released at the joint, the motion of the joint, the freedoms that
    met.
    """
    freedoms: Freedoms = x.freedoms
    complete: Released | None = x.complete
    above, y = x.parent
    if complete is not None and freedoms.own:
        known = Given(parent=above, a=complete.known(y), scaled=complete.scaled, L=complete.lower)
        found = acceleration(body, known)
        motion, y = found["change"], {**y, **dict(zip(complete.freedoms, found["a"], strict=True))}
    else:
        motion = motion_to_child(body, above)
        if complete is not None:
            y = {**y, **complete.accelerations(motion, y)}
        motion = motion + relative_motion(body, freedoms.rates(y))
    if x.met is not None:
        y = {**y, **x.met.accelerations(motion, y)}
    return {"a": freedoms.rates(y), "change": Changed(motion, y)}


def accelerations(met: Mapping[int, Scalar]) -> Outward:
    """The sweep that gives `a`. `met` has the accelerations of the freedoms that met in the world."""
    return Outward(
        "accelerations",
        "change",
        accelerate,
        world=lambda _: Changed(NO_MOTION, met),
        reads=("placement", "freedoms", "met", "complete"),
        gives={"a": Scalar, "change": Changed},
    )
