"""Inverse dynamics in two loops over bodies.

The equations of `rnea_classical`: one straight line outward for the motion of a body and the force that it
takes, one inward that hands forces on to parents. More operations than unrolled, where many are with zeros
and vanish, in code that hardly grows with the robot.
"""

from __future__ import annotations

from collections.abc import Sequence

from rbdgen.access import Access, whole
from rbdgen.functions.inverse_dynamics.classical import (
    BodyMotion,
    acceleration_matrix,
    floating_motion,
    force_to_parent,
    inertial_force,
)
from rbdgen.model.joints import Pose
from rbdgen.model.reduce import ReducedModel
from rbdgen.spatial.ops import NO_FORCE, ZERO, Force, Vector
from rbdgen.spatial.scalar import Scalar, add, mul
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.looped import (
    LoopedBodies,
    LoopedBody,
    looped_bodies,
    packed_force,
    unpacked_force,
)
from rbdgen.sweeps.loops import Arrays, FormLoop, LoopedForm


def rnea_looped(
    reduced: ReducedModel, moving: bool = True, accelerated: bool = True, external: bool = False
) -> LoopedForm:
    """The loops for output `tau` of inputs q, v, a and fext.

    Without `accelerated` there is no a, without `moving` no v, without `external` no fext.
    """
    bodies = looped_bodies(reduced)
    runs = bodies.inward
    inward = FormLoop(
        "inward",
        lambda x: _inward(bodies.placed(x), x),
        reads={
            **bodies.joints(runs),
            "force": bodies.own("force", 6, runs),
            "parent": bodies.above("force", 6, runs),
        },
        writes={"tau": bodies.freedom("tau", runs), "sum": bodies.above("force", 6, runs)},
        count=len(runs),
    )
    base = FormLoop(
        "base",
        lambda x: {"tau": base_force(bodies, x)},
        reads={"force": whole("force", 6)},
        writes={"tau": whole("tau", 6)},
    )
    loops = [bodies.positions, *outward_loops(bodies, moving, accelerated, external), inward]
    if bodies.floating:
        loops.append(base)
    return bodies.loops(loops, {"tau": reduced.nv}, outward_scratch(bodies, moving))


def outward_loops(
    bodies: LoopedBodies, moving: bool, accelerated: bool, external: bool
) -> tuple[FormLoop, FormLoop]:
    """The root; then every body's motion and the force that it takes."""
    runs, width = bodies.outward, _width(moving)
    given = [*(["v"] if moving else []), *(["a"] if accelerated else [])]
    reads = {name: bodies.freedom(name, runs) for name in given}
    if external:
        rows = tuple(6 * (k + bodies.floating) for k in runs)
        reads |= {"fext": Access("fext", tuple(range(6)), rows), **bodies.constants(runs, bodies.frames)}
    root = FormLoop(
        "root",
        lambda x: _root(bodies, x, moving),
        inputs=("q", *given) if bodies.floating else (),
        reads={"fext": whole("fext", 6)} if external and bodies.floating else {},
        writes={"motion": whole("motion", width), "force": whole("force", 6)},
    )
    outward = FormLoop(
        "outward",
        lambda x: _outward(bodies, x),
        reads={
            **bodies.joints(runs),
            **bodies.constants(runs, bodies.moments),
            **reads,
            "parent": bodies.level("motion", width, 0),
        },
        writes={"motion": bodies.level("motion", width, 1), "force": bodies.own("force", 6, runs)},
        count=len(runs),
    )
    return root, outward


def outward_scratch(bodies: LoopedBodies, moving: bool) -> dict[str, int]:
    """The scratch that `outward_loops` write."""
    count = len(bodies.parents)
    levels = 1 + max(bodies.depths, default=0)
    return {
        "joint": bodies.joint_width * count,
        "motion": _width(moving) * levels,
        "force": 6 * (count + 1),
    }


def _width(moving: bool) -> int:
    """Numbers of a body's motion: a, and w and wdot where anything moves."""
    return 9 if moving else 3


def _packed(w: Vector, wdot: Vector, a: Vector, moving: bool) -> list[Scalar]:
    return [*a, *w, *wdot] if moving else list(a)


def _unpacked(values: Sequence[Scalar]) -> BodyMotion:
    a, w, wdot = Vector(*values[:3]), Vector(*values[3:6]), Vector(*values[6:])
    return BodyMotion(w, wdot, a, acceleration_matrix(w, wdot))


def _root(bodies: LoopedBodies, x: State, moving: bool) -> Arrays:
    """Motion and force of the world, or of the floating base."""
    reduced = bodies.reduced
    w, wdot, a, force = ZERO, ZERO, -reduced.gravity, NO_FORCE
    if bodies.floating:
        pose, still = x.q[0], [0] * reduced.nv
        assert isinstance(pose, Pose)
        w, wdot, a = floating_motion(reduced, 0, pose, x.v or still, x.a or still)
        force = inertial_force(reduced.moments[0], BodyMotion(w, wdot, a, acceleration_matrix(w, wdot)))
    if "fext" in x.arrays:
        fext = x.arrays["fext"]
        force = force - Force(Vector(*fext[3:]), Vector(*fext[:3]))
    turned = bodies.root.to_child
    return {
        "motion": _packed(turned(w), turned(wdot), turned(a), moving),
        "force": [*turned(force.moment), *turned(force.force)],
    }


def base_force(bodies: LoopedBodies, x: State) -> list[Scalar]:
    """The force of row 0 in the floating base's axes, in the order of its degrees of freedom."""
    force = unpacked_force(x.arrays["force"])
    return [*bodies.root.to_parent(force.force), *bodies.root.to_parent(force.moment)]


def _outward(bodies: LoopedBodies, x: State) -> Arrays:
    """One body's motion from its parent's, and the force that it takes."""
    body, parent = bodies.placed(x), _unpacked(x.arrays["parent"])
    rate, acceleration = (x.arrays[name][0] if name in x.arrays else 0 for name in ("v", "a"))
    linear = parent.a + parent.U.apply(body.translation)
    w, wdot, a = map(body.rotation.to_child, (parent.w, parent.wdot, linear))
    w, wdot, a = _joint_motion(body, w, wdot, a, rate, acceleration)
    w, wdot, a = w.named(x.naming, "w"), wdot.named(x.naming, "wdot"), a.named(x.naming, "a")
    motion = BodyMotion(w, wdot, a, acceleration_matrix(w, wdot).named(x.naming, "U"))
    force = inertial_force(bodies.moments_of(x), motion)
    if "fext" in x.arrays:
        force = force - bodies.external_force(x)
    moving = len(x.arrays["parent"]) == _width(True)
    return {"motion": _packed(w, wdot, a, moving), "force": packed_force(force)}


def _joint_motion(
    body: LoopedBody, w: Vector, wdot: Vector, a: Vector, rate: Scalar, acceleration: Scalar
) -> tuple[Vector, Vector, Vector]:
    """What a joint adds to its parent's motion, all in the child's axes: w x S qd, S qd and S qdd."""
    turn, twice = mul(body.turning, rate), mul(2, mul(body.sliding, rate))
    turned = Vector(mul(w.y, turn), mul(-w.x, turn), mul(body.turning, acceleration))
    slid = Vector(mul(w.y, twice), mul(-w.x, twice), mul(body.sliding, acceleration))
    return Vector(w.x, w.y, add(w.z, turn)), wdot + turned, a + slid


def _inward(body: LoopedBody, x: State) -> Arrays:
    """One joint's torque; its force handed on to the parent."""
    force = unpacked_force(x.arrays["force"])
    total = unpacked_force(x.arrays["parent"]) + force_to_parent(body, force)
    return {"tau": [body.along_joint(force)], "sum": packed_force(total)}
