"""Forward dynamics in three loops over bodies.

The articulated-body algorithm in the equations of `aba_bias`: outward each body's bias force, inward the
articulated inertias and bias forces, outward again the accelerations, every loop one straight line.
"""

from __future__ import annotations

from collections.abc import Sequence

from rbdgen.access import Access, whole
from rbdgen.functions.forward_dynamics.articulated_planar import to_parent
from rbdgen.functions.forward_dynamics.bias import to_child
from rbdgen.functions.inverse_dynamics.classical import force_to_parent
from rbdgen.functions.inverse_dynamics.looped import base_force, outward_loops, outward_scratch
from rbdgen.model.articulated import ArticulatedInertia, JointFactor, factor_joint
from rbdgen.model.inertia import Inertia
from rbdgen.model.moments import MassMoments
from rbdgen.model.reduce import ReducedModel
from rbdgen.spatial.ops import Matrix, Motion, Vector
from rbdgen.spatial.scalar import Scalar, sub
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.looped import (
    LoopedBodies,
    LoopedBody,
    Runs,
    cleared,
    looped_bodies,
    packed_force,
    packed_symmetric,
    unpacked_force,
    unpacked_symmetric,
)
from rbdgen.sweeps.loops import Arrays, FormLoop, LoopedForm

INERTIA = 21
"""Numbers of a symmetric 6 x 6."""


def aba_looped(reduced: ReducedModel, external: bool = False) -> LoopedForm:
    """The loops for output `a` of inputs q, v, tau and, where there are `external` forces, fext.

    Between the last two loops `a` holds D^-1 u, and `scaled` U D^-1 of every joint.
    """
    bodies = looped_bodies(reduced)
    count, runs = len(bodies.outward), bodies.inward
    articulated = FormLoop(
        "articulated",
        lambda x: _articulated(bodies, x),
        reads={
            **factor_reads(bodies, runs),
            "tau": bodies.freedom("tau", runs),
            "force": bodies.own("force", 6, runs),
            "parent": bodies.above("force", 6, runs),
        },
        writes={
            **factor_writes(bodies, runs),
            "rate": bodies.freedom("a", runs),
            "force_sum": bodies.above("force", 6, runs),
        },
        count=count,
    )
    runs = bodies.outward
    accelerations = FormLoop(
        "accelerations",
        lambda x: _accelerations(bodies.placed(x), x),
        reads={
            **bodies.joints(runs),
            "scaled": bodies.own("scaled", 6, runs),
            "rate": bodies.freedom("a", runs),
            "parent": bodies.level("change", 6, 0),
        },
        writes={"a": bodies.freedom("a", runs), "change": bodies.level("change", 6, 1)},
        count=count,
    )
    root, outward = outward_loops(bodies, moving=True, accelerated=False, external=external)
    clear = cleared("inertia", INERTIA * (count + 1))
    scratch = {
        **outward_scratch(bodies, moving=True),
        "inertia": clear.count,
        "scaled": 6 * (count + 1),
        "change": 6 * (1 + max(bodies.depths, default=0)),
    }
    return bodies.loops(
        [bodies.positions, root, clear, outward, articulated, _base(bodies), accelerations],
        {"a": reduced.nv},
        scratch,
    )


def factor_reads(bodies: LoopedBodies, runs: Runs) -> dict[str, Access]:
    """What `joint_factor` and `handed_on` need: the bodies, what their children and their siblings left."""
    return {
        **bodies.joints(runs),
        **bodies.constants(runs, bodies.moments),
        "inertia": bodies.own("inertia", INERTIA, runs),
        "parent_inertia": bodies.above("inertia", INERTIA, runs),
    }


def factor_writes(bodies: LoopedBodies, runs: Runs) -> dict[str, Access]:
    return {
        "scaled": bodies.own("scaled", 6, runs),
        "inertia_sum": bodies.above("inertia", INERTIA, runs),
    }


def joint_factor(bodies: LoopedBodies, body: LoopedBody, x: State) -> tuple[ArticulatedInertia, JointFactor]:
    """IA of a body, of what its children handed on and its own moments, and U and D of its joint."""
    inertia = _rigid(bodies.moments_of(x)) + _unpacked(x.arrays["inertia"])
    return inertia, factor_joint(inertia, (body.subspace,))


def handed_on(body: LoopedBody, inertia: ArticulatedInertia, factor: JointFactor, x: State) -> Arrays:
    """U D^-1, and what of the inertia the parent feels added to what its other children left there."""
    total = _unpacked(x.arrays["parent_inertia"]) + to_parent(body, factor.project(inertia))
    return {"scaled": packed_force(factor.scaled), "inertia_sum": _packed(total)}


def base_inertia(bodies: LoopedBodies, x: State) -> JointFactor:
    """U and D of a floating base."""
    left, root = _unpacked(x.arrays["inertia"]), bodies.root
    children = ArticulatedInertia(
        root.symmetric_to_parent(left.A), root.general_to_parent(left.B), root.symmetric_to_parent(left.C)
    )
    inertia = _rigid(bodies.reduced.moments[0]) + children
    return factor_joint(inertia, bodies.reduced.bodies[0].joint.motion_subspace)


def _articulated(bodies: LoopedBodies, x: State) -> Arrays:
    """One joint's articulated inertia and D^-1 u, u = tau - S^T p; both handed on to the parent."""
    body, force = bodies.placed(x), unpacked_force(x.arrays["force"])
    inertia, factor = joint_factor(bodies, body, x)
    (rate,) = factor.solve([sub(x.arrays["tau"][0], body.along_joint(force))])
    passed = force_to_parent(body, force + factor.U[0] * rate)
    total = unpacked_force(x.arrays["parent"]) + passed
    return {**handed_on(body, inertia, factor, x), "rate": [rate], "force_sum": packed_force(total)}


def _base(bodies: LoopedBodies) -> FormLoop:
    """The root's change of acceleration: none of the world, that of a floating base from its 6 x 6."""
    change = {"change": whole("change", 6)}
    if not bodies.floating:
        return FormLoop("base", lambda _: {"change": [0] * 6}, change)
    return FormLoop(
        "base",
        lambda x: _base_acceleration(bodies, x),
        reads={
            "inertia": whole("inertia", INERTIA),
            "force": whole("force", 6),
            "tau": whole("tau", 6),
        },
        writes={**change, "a": whole("a", 6)},
    )


def _base_acceleration(bodies: LoopedBodies, x: State) -> Arrays:
    u = [sub(t, p) for t, p in zip(x.arrays["tau"], base_force(bodies, x), strict=True)]
    a = base_inertia(bodies, x).solve(u)
    turned = bodies.root.to_child
    return {"a": a, "change": [*turned(Vector(*a[3:])), *turned(Vector(*a[:3]))]}


def _accelerations(body: LoopedBody, x: State) -> Arrays:
    """qdd = D^-1 u - D^-1 U^T a', a' the parent's change of acceleration against qdd = 0."""
    change = x.arrays["parent"]
    above = to_child(body, Motion(Vector(*change[:3]), Vector(*change[3:])))
    qdd = sub(x.arrays["rate"][0], above.dot(unpacked_force(x.arrays["scaled"])))
    own = above + body.subspace * qdd
    return {"a": [qdd], "change": [*own.angular, *own.linear]}


def _rigid(moments: MassMoments) -> ArticulatedInertia:
    return ArticulatedInertia.of(Inertia.from_second_moment(moments.mass, moments.first, moments.second))


def _packed(inertia: ArticulatedInertia) -> list[Scalar]:
    general = [value for row in inertia.B for value in row]
    return [*packed_symmetric(inertia.A), *general, *packed_symmetric(inertia.C)]


def _unpacked(values: Sequence[Scalar]) -> ArticulatedInertia:
    B = Matrix(*(Vector(*values[k : k + 3]) for k in (6, 9, 12)))
    return ArticulatedInertia(unpacked_symmetric(values[:6]), B, unpacked_symmetric(values[15:]))
