"""The joint-space inertia matrix in loops over bodies, and over pairs of a body and one above it.

The composite-rigid-body algorithm in the equations of `crba_composite`: inward the composites, and the force
that a unit acceleration of every joint takes; then one step of such a force to the next body above, run for
every body above every body.
"""

from __future__ import annotations

from collections.abc import Sequence

from rbdgen.access import Access, column, whole
from rbdgen.functions.inertia_matrix.moments import unit_forces
from rbdgen.functions.inverse_dynamics.classical import force_to_parent
from rbdgen.model.reduce import ReducedModel
from rbdgen.spatial.scalar import Scalar
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.looped import (
    LoopedBodies,
    along_joint,
    cleared,
    looped_bodies,
    packed_force,
    packed_moments,
    unpacked_force,
    unpacked_moments,
)
from rbdgen.sweeps.loops import Arrays, FormLoop, LoopedForm

MOMENTS = 10
"""Numbers of a body's mass moments."""

BASE = 6
"""Degrees of freedom of a floating base."""


def crba_looped(reduced: ReducedModel) -> LoopedForm:
    """The loops for output `M`, nv x nv, of input q.

    A row of the scratch array `force` is the force of one joint, as far inward as it has come.
    """
    bodies = looped_bodies(reduced)
    nv, count = reduced.nv, len(bodies.outward)
    clear = cleared("composite", MOMENTS * (count + 1))
    loops = [bodies.positions, cleared("M", nv * nv), clear, _composites(bodies), _steps(bodies)]
    if bodies.floating:
        loops += [_base_block(bodies), _base_columns(bodies)]
    scratch = {"joint": bodies.joint_width * count, "composite": clear.count, "force": 6 * (count + 1)}
    return bodies.loops(loops, {"M": nv * nv}, scratch)


def _composites(bodies: LoopedBodies) -> FormLoop:
    """Mass moments of subtrees, handed on to parents; what a unit acceleration of every joint takes."""
    runs = bodies.inward
    return FormLoop(
        "composites",
        lambda x: _composite(bodies, x),
        reads={
            **bodies.joints(runs),
            **bodies.constants(runs, bodies.moments),
            "children": bodies.own("composite", MOMENTS, runs),
            "parent": bodies.above("composite", MOMENTS, runs),
        },
        writes={
            "force": bodies.own("force", 6, runs),
            "M": entries(bodies, "M", runs, runs),
            "sum": bodies.above("composite", MOMENTS, runs),
        },
        count=len(runs),
    )


def _composite(bodies: LoopedBodies, x: State) -> Arrays:
    body = bodies.placed(x)
    subtree = bodies.moments_of(x) + unpacked_moments(x.arrays["children"])
    force = subtree.rate_about_z() * body.turning + subtree.rate_along_z() * body.sliding
    moved = subtree.rotated(body.rotation).translated(body.translation)
    return {
        "force": packed_force(force),
        "M": [body.along_joint(force)],
        "sum": packed_moments(unpacked_moments(x.arrays["parent"]) + moved),
    }


def _steps(bodies: LoopedBodies) -> FormLoop:
    """Every joint's force at every body above, and what that body's joint feels of it."""
    forces, below, above = bodies.steps

    def step(x: State) -> Arrays:
        force = force_to_parent(bodies.placed(x), unpacked_force(x.arrays["force"]))
        entry = along_joint(bodies.kinds.complete(x.arrays.get("above", ())), force)
        return {"passed": packed_force(force), "upper": [entry], "lower": [entry]}

    return FormLoop(
        "steps",
        step,
        reads={
            **bodies.joints(below),
            **({"above": bodies.kinds.place(above)} if bodies.kinds.varying else {}),
            "force": bodies.own("force", 6, forces),
        },
        writes={
            "passed": bodies.own("force", 6, forces),
            "upper": entries(bodies, "M", above, forces),
            "lower": entries(bodies, "M", forces, above),
        },
        count=len(forces),
    )


def entries(bodies: LoopedBodies, matrix: str, rows: Sequence[int], columns: Sequence[int]) -> Access:
    """The entries between the degrees of freedom of two bodies a run."""
    nv, freedoms = bodies.reduced.nv, bodies.freedoms
    return Access(
        matrix, (0,), tuple(nv * freedoms[i] + freedoms[k] for i, k in zip(rows, columns, strict=True))
    )


def _base_block(bodies: LoopedBodies) -> FormLoop:
    """A floating base's own 6 x 6."""
    nv, (own, *_) = bodies.reduced.nv, bodies.reduced.moments

    def block(x: State) -> Arrays:
        children = unpacked_moments(x.arrays["composite"]).rotated(bodies.root)
        forces = unit_forces(bodies.reduced.bodies[0].joint, own + children)
        return {"M": [value for force in forces for value in (*force.force, *force.moment)]}

    return FormLoop(
        "base",
        block,
        reads={"composite": whole("composite", MOMENTS)},
        writes={"M": Access("M", tuple(nv * i + k for i in range(BASE) for k in range(BASE)))},
    )


def base_force_columns(bodies: LoopedBodies, x: State) -> list[Scalar]:
    """A force at a child of a floating base, handed on to it, in the order of its degrees of freedom."""
    force = force_to_parent(bodies.placed(x), unpacked_force(x.arrays["force"]))
    return [*bodies.root.to_parent(force.force), *bodies.root.to_parent(force.moment)]


def _base_columns(bodies: LoopedBodies) -> FormLoop:
    """Every joint's force at a floating base, where all of it is felt."""
    nv, runs = bodies.reduced.nv, bodies.outward
    freedoms = tuple(bodies.freedoms[k] for k in runs)

    def felt(x: State) -> Arrays:
        force = base_force_columns(bodies, x)
        return {"column": force, "row": force}

    return FormLoop(
        "base_columns",
        felt,
        reads={
            **bodies.joints([bodies.branches[k][-1] for k in runs]),
            "force": bodies.own("force", 6, runs),
        },
        writes={
            "column": column("M", BASE, nv, freedoms),
            "row": Access("M", tuple(range(BASE)), tuple(nv * k for k in freedoms)),
        },
        count=len(runs),
    )
