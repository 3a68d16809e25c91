"""Forward dynamics: articulated bodies where joints follow others.

The articulated-body algorithm in the form of `bias.py`, for freedoms that move several joints. A freedom of
one joint is released at that joint, as ever. One of several waits for the body that carries them all, while
the other joints on the way there are released as they are met: see `subtree.py`. Without followers this is
the articulated-body algorithm; if all freedoms waited for the world it would be M and its factor.

Constraint embedding: Jain, Robot and Multibody Dynamics, 2011; Chignoli, Wensing et al., Recursive Rigid-Body
Dynamics Algorithms for Systems with Kinematic Loops, 2023. Their clusters make every freedom wait that has a
joint between those of the group; here it is the group's own alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce as accumulated
from typing import NamedTuple

from rbdgen.functions.forward_dynamics.bias import acceleration
from rbdgen.functions.forward_dynamics.subtree import Released, Subtree, SubtreeInertia
from rbdgen.functions.inverse_dynamics.classical import body_forces
from rbdgen.model.coupling import Member
from rbdgen.model.joints import Coordinate
from rbdgen.model.model import WORLD, Model
from rbdgen.model.reduce import ReducedModel
from rbdgen.spatial.ops import NO_FORCE, NO_MOTION, Force, Motion
from rbdgen.spatial.scalar import Naming, Scalar, mul, unnamed
from rbdgen.sweeps.bodies import Body, motion_to_child, relative_motion
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.straight import Straight, straight
from rbdgen.sweeps.sweep import Given, Gives, Inward, Outward, Sum, Sweep


class Freedoms(NamedTuple):
    """What the step at a body has to know of freedoms, by their numbers.

    `moves`: that of each of the joint's degrees of freedom, and how many times as fast that is; `own`:
    whether they move this joint alone; `complete`: those of the joint whose other joints are all below it;
    `met`: those of other joints, for which this is the last body that carries them all.
    """

    moves: tuple[Member, ...]
    own: bool
    complete: tuple[int, ...]
    met: tuple[int, ...]


class Changed(NamedTuple):
    """A body's change of acceleration against that at qdd = 0; accelerations of the freedoms known there."""

    motion: Motion
    y: Mapping[int, Scalar]

    def named(self, naming: Naming, label: str) -> Changed:
        """With a name for each number of the motion."""
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
    on_followers = [0] * (reduced.nv - len(tau))
    x = State(q, v, tau=[*tau, *on_followers], fext=fext, naming=naming)
    bodies, at_world = released(reduced, x, body_forces(accelerated=False, external=fext is not None))
    sweep = accelerations(at_world.accelerations(NO_MOTION, {}))
    return bodies.run(sweep)["a"][: len(tau)]


def released(reduced: ReducedModel, x: State, *before: Sweep) -> tuple[Straight, Released]:
    """The inward sweep after others, and the freedoms that met in the world. Without `force` it is 0."""
    model, bodies = reduced.model, straight(reduced, x)
    carriers = carrying_bodies(model)
    bodies.values |= {"freedoms": freedoms_at(model, carriers), "force": [NO_FORCE] * reduced.nbodies}
    handed_on = bodies.run(*before, EMBEDDED)["handed_on"]
    roots = [i for i, body in enumerate(model.bodies) if body.parent == WORLD]
    rest = accumulated(Subtree.__add__, [handed_on[i] for i in roots])
    met = tuple(g for g, carrier in enumerate(carriers) if carrier == WORLD)
    return bodies, rest.released(met)[1]


def carrying_bodies(model: Model) -> list[int]:
    """For every independent degree of freedom the last body that carries all the joints it moves, maybe that
    of one of them; or WORLD."""
    body_of = {body.joint.idx_v + k: i for i, body in enumerate(model.bodies) for k in range(body.joint.nv)}

    def carrier(a: int, b: int) -> int:
        up, _ = model.path(a, b)
        return model.bodies[up[-1]].parent if up else a

    return [accumulated(carrier, [body_of[k] for k, _ in members]) for members in model.coupling.groups]


def freedoms_at(model: Model, carriers: Sequence[int]) -> list[Freedoms]:
    """For every body. `carriers`: see `carrying_bodies`."""
    groups = model.coupling.groups
    mover = {k: (g, multiple) for g, members in enumerate(groups) for k, multiple in members}
    found = []
    for i, body in enumerate(model.bodies):
        moves = tuple(mover[body.joint.idx_v + k] for k in range(body.joint.nv))
        numbers = {g for g, _ in moves}
        released = [g for g, carrier in enumerate(carriers) if carrier == i]
        complete = tuple(g for g in released if g in numbers)
        met = tuple(g for g in released if g not in numbers)
        found.append(Freedoms(moves, all(len(groups[g]) == 1 for g in numbers), complete, met))
    return found


def hand_on(body: Body, x: Given) -> Gives:
    """What met at the body is released, then the joint joins, then what is complete is released."""
    freedoms: Freedoms = x.freedoms
    subtree, met, complete = x.subtree + Subtree(force=x.force), None, None
    if freedoms.met:
        subtree, met = subtree.released(freedoms.met)
    for k, (g, multiple) in enumerate(freedoms.moves):
        subtree = subtree.joined(g, multiple, body.subspace[k], body.armature[k], x.tau[k])
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
    """The same the other way round: the freedoms released at the joint, its motion, what met at the body."""
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
        motion = motion + relative_motion(body, [mul(multiple, y[g]) for g, multiple in freedoms.moves])
    if x.met is not None:
        y = {**y, **x.met.accelerations(motion, y)}
    return {"a": [mul(multiple, y[g]) for g, multiple in freedoms.moves], "change": Changed(motion, y)}


def accelerations(met: Mapping[int, Scalar]) -> Outward:
    """The sweep that gives `a`. `met`: the accelerations of the freedoms that met in the world."""
    return Outward(
        "accelerations",
        "change",
        accelerate,
        world=lambda _: Changed(NO_MOTION, met),
        reads=("placement", "freedoms", "met", "complete"),
        gives={"a": Scalar, "change": Changed},
    )
