"""Derivatives of inverse dynamics in loops over bodies, degrees of freedom and pairs of them.

The equations of `rnea_derivatives`, every quantity in one frame, that of the root: outward the directions of
all degrees of freedom and every body's composite; inward the composites of subtrees, plain sums; then what
each degree of freedom j takes, t1 to t4; last all entries between j and each degree of freedom above it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rbdgen.access import Access, whole
from rbdgen.functions.derivatives.one_frame import Composite, Direction, own_composite
from rbdgen.functions.inverse_dynamics.classical import upward_in_base
from rbdgen.model.joints import Pose
from rbdgen.model.reduce import ReducedModel
from rbdgen.spatial.ops import IDENTITY, NO_MOTION, ZERO, Force, Matrix, Motion, Transform, Vector
from rbdgen.spatial.scalar import Scalar, add
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.looped import (
    LoopedBodies,
    cleared,
    looped_bodies,
    packed_force,
    packed_symmetric,
    unpacked_force,
    unpacked_symmetric,
)
from rbdgen.sweeps.loops import Arrays, FormLoop, LoopedForm

BASE = 6
"""Degrees of freedom of a floating base."""

MOTION, COMPOSITE, DIRECTION, COLUMN = 24, 28, 24, 27
"""Numbers of a body's placement and motion, of a subtree, of a degree of freedom, of t1 to t4."""

OUTPUTS = ("dtau_dq", "dtau_dv", "dtau_da")


def rnea_derivatives_looped(reduced: ReducedModel, inertia: bool = True) -> LoopedForm:
    """The loops for outputs `dtau_dq`, `dtau_dv`, `dtau_da`, nv x nv, of inputs q, v, a.

    Without `inertia` the last one is left out.
    """
    outputs = OUTPUTS if inertia else OUTPUTS[:2]
    bodies = looped_bodies(reduced)
    nv, count = reduced.nv, len(bodies.outward)
    scratch = {
        "joint": bodies.joint_width * count,
        "motion": MOTION * (1 + max(bodies.depths, default=0)),
        "composite": COMPOSITE * (count + 1),
        "direction": DIRECTION * nv,
        "column": COLUMN * nv,
    }
    inward = FormLoop(
        "inward",
        lambda x: {"sum": [add(a, b) for a, b in zip(x.arrays["parent"], x.arrays["own"], strict=True)]},
        reads={
            "own": bodies.own("composite", COMPOSITE, bodies.inward),
            "parent": bodies.above("composite", COMPOSITE, bodies.inward),
        },
        writes={"sum": bodies.above("composite", COMPOSITE, bodies.inward)},
        count=count,
    )
    base = range(BASE if bodies.floating else 0)
    own = [(j, i) for j in base for i in base]
    joints = range(len(base), nv)
    above = [(j, i) for j in joints for i in (j, *reduced.ancestors[j])]
    below = [(j, i) for j in joints for i in reduced.ancestors[j]]
    inertias = [output for output in outputs if output == "dtau_da"]
    loops = [
        bodies.positions,
        *(cleared(name, nv * nv) for name in outputs),
        _root(bodies),
        _outward(bodies),
        inward,
        _columns(bodies),
        _entries(bodies, "base", own, _own_entries, outputs),
        _entries(bodies, "entries", above, _entries_above, outputs, inertias),
        _entries(bodies, "below", below, _entries_above, (), OUTPUTS[:2]),
    ]
    return bodies.loops(loops, dict.fromkeys(outputs, nv * nv), scratch)


def _root(bodies: LoopedBodies) -> FormLoop:
    """Placement and motion of the world; of a floating base also its directions and composite."""
    floating = bodies.floating
    writes = {"motion": whole("motion", MOTION), "composite": whole("composite", COMPOSITE)}
    if floating:
        writes["direction"] = whole("direction", DIRECTION * BASE)
    return FormLoop(
        "root",
        lambda x: _root_values(bodies, x),
        writes,
        reads={"v": whole("v", BASE), "a": whole("a", BASE)} if floating else {},
        inputs=("q",) if floating else (),
    )


def _root_values(bodies: LoopedBodies, x: State) -> Arrays:
    reduced, turned = bodies.reduced, bodies.root.to_child
    if not bodies.floating:
        world = Motion(ZERO, turned(-reduced.gravity))
        motion = _packed_motion(Transform(IDENTITY, ZERO), NO_MOTION, world)
        return {"motion": motion, "composite": [0] * COMPOSITE}
    pose = x.q[0]
    assert isinstance(pose, Pose)
    world = Motion(ZERO, turned(upward_in_base(reduced, 0, pose)))
    v, a = (Motion(turned(Vector(*y[3:6])), turned(Vector(*y[:3]))) for y in (x.arrays["v"], x.arrays["a"]))
    a = a + world
    frame = Transform(Matrix(*map(turned, IDENTITY)).T, ZERO)
    columns = [frame.motion_to_parent(S) for S in reduced.bodies[0].joint.motion_subspace]
    directions = [Direction(S, NO_MOTION, world.cross(S), v.cross(S)) for S in columns]
    own = reduced.moments[0]
    return {
        "motion": _packed_motion(Transform(IDENTITY, ZERO), v, a),
        "composite": _packed_composite(own_composite(own.mass, own.first, own.second, frame, v, a)),
        "direction": [value for direction in directions for value in _packed_direction(direction)],
    }


def _outward(bodies: LoopedBodies) -> FormLoop:
    """A body's placement and motion, its direction and its own composite."""
    runs = bodies.outward
    return FormLoop(
        "outward",
        lambda x: _outward_values(bodies, x),
        reads={
            **bodies.joints(runs),
            **bodies.constants(runs, bodies.moments),
            "v": bodies.freedom("v", runs),
            "a": bodies.freedom("a", runs),
            "parent": bodies.level("motion", MOTION, 0),
        },
        writes={
            "motion": bodies.level("motion", MOTION, 1),
            "composite": bodies.own("composite", COMPOSITE, runs),
            "direction": _rows("direction", DIRECTION, bodies.freedoms),
        },
        count=len(runs),
    )


def _outward_values(bodies: LoopedBodies, x: State) -> Arrays:
    body, (above, parent_v, parent_a) = bodies.placed(x), _unpacked_motion(x.arrays["parent"])
    rotation = Matrix(*map(body.rotation.to_child, above.rotation))
    frame = Transform(rotation, above.translation + above.rotation.apply(body.translation))
    S = frame.motion_to_parent(body.subspace)
    psi1 = parent_v.cross(S)
    psi2 = parent_a.cross(S) + parent_v.cross(psi1)
    v = parent_v + S * x.arrays["v"][0]
    a = parent_a + S * x.arrays["a"][0] + psi1 * x.arrays["v"][0]
    own = bodies.moments_of(x)
    return {
        "motion": _packed_motion(frame, v, a),
        "composite": _packed_composite(own_composite(own.mass, own.first, own.second, frame, v, a)),
        "direction": _packed_direction(Direction(S, psi1, psi2, psi1 * 2)),
    }


def _columns(bodies: LoopedBodies) -> FormLoop:
    """t1, t2, t3, t3 + S x* f, and the angular part of t4 of every degree of freedom."""
    nv = bodies.reduced.nv
    rows = (0,) * (nv - len(bodies.freedoms)) + tuple(k + 1 for k in bodies.outward)
    return FormLoop(
        "columns",
        _column,
        reads={
            "direction": _rows("direction", DIRECTION, range(nv)),
            "composite": _rows("composite", COMPOSITE, rows),
        },
        writes={"column": _rows("column", COLUMN, range(nv))},
        count=nv,
    )


def _column(x: State) -> Arrays:
    d, subtree = _unpacked_direction(x.arrays["direction"]), _unpacked_composite(x.arrays["composite"])
    inertia = subtree.inertia
    t1 = inertia.apply(d.S)
    t2 = subtree.B(d.S) * 2 + inertia.apply(d.velocity_column)
    t3 = subtree.B(d.psi1) * 2 + inertia.apply(d.psi2)
    turned = t3 + d.S.cross_force(subtree.force)
    t4 = subtree.B_transposed(d.S) * 2
    return {"column": [*(value for t in (t1, t2, t3, turned) for value in packed_force(t)), *t4]}


def _entries(
    bodies: LoopedBodies,
    loop: str,
    pairs: Sequence[tuple[int, int]],
    trace: Callable[[State], Arrays],
    upper: Sequence[str],
    lower: Sequence[str] = (),
) -> FormLoop:
    """What degree of freedom i, at j's own joint or above, has to do with j's column.

    `upper`: the matrices whose entry (i, j) is written; `lower`: those whose entry (j, i) is.
    """
    nv = bodies.reduced.nv
    columns, others = ([pair[k] for pair in pairs] for k in range(2))
    writes = {output: Access(output, (0,), tuple(nv * i + j for j, i in pairs)) for output in upper}
    writes |= {
        f"{output}_below": Access(output, (0,), tuple(nv * j + i for j, i in pairs)) for output in lower
    }
    return FormLoop(
        loop,
        lambda x: {array: values for array, values in trace(x).items() if array in writes},
        reads={
            "column": _rows("column", COLUMN, columns),
            "direction": _rows("direction", DIRECTION, others),
        },
        writes=writes,
        count=len(pairs),
    )


def _own_entries(x: State) -> Arrays:
    """Within one joint S turns with the body: no S x* f."""
    t1, t2, t3, *_ = _unpacked_column(x.arrays["column"])
    S = _unpacked_direction(x.arrays["direction"]).S
    return {"dtau_dq": [S.dot(t3)], "dtau_dv": [S.dot(t2)], "dtau_da": [S.dot(t1)]}


def _entries_above(x: State) -> Arrays:
    """Of j itself both ways are the same number, but not to the last bit: one way is written."""
    t1, t2, _, turned, t4 = _unpacked_column(x.arrays["column"])
    other = _unpacked_direction(x.arrays["direction"])
    M = other.S.dot(t1)
    return {
        "dtau_dq": [other.S.dot(turned)],
        "dtau_dv": [other.S.dot(t2)],
        "dtau_da": [M],
        "dtau_dq_below": [add(t4.dot(other.psi1.angular), other.psi2.dot(t1))],
        "dtau_dv_below": [add(t4.dot(other.S.angular), other.velocity_column.dot(t1))],
        "dtau_da_below": [M],
    }


def _rows(scratch_array: str, width: int, rows: Sequence[int]) -> Access:
    return Access(scratch_array, tuple(range(width)), tuple(width * row for row in rows))


def _packed_motion(frame: Transform, v: Motion, a: Motion) -> list[Scalar]:
    rotation = [value for row in frame.rotation for value in row]
    return [*rotation, *frame.translation, *v.angular, *v.linear, *a.angular, *a.linear]


def _unpacked_motion(values: Sequence[Scalar]) -> tuple[Transform, Motion, Motion]:
    R0, R1, R2, p, *motions = (Vector(*values[k : k + 3]) for k in range(0, MOTION, 3))
    return Transform(Matrix(R0, R1, R2), p), Motion(*motions[:2]), Motion(*motions[2:])


def _packed_direction(d: Direction) -> list[Scalar]:
    return [y for m in (d.S, d.psi1, d.psi2, d.velocity_column) for y in (*m.angular, *m.linear)]


def _unpacked_direction(values: Sequence[Scalar]) -> Direction:
    vectors = [Vector(*values[k : k + 3]) for k in range(0, DIRECTION, 3)]
    return Direction(*(Motion(*vectors[k : k + 2]) for k in range(0, 8, 2)))


def _packed_composite(c: Composite) -> list[Scalar]:
    Bt = [value for row in c.Bt for value in row]
    return [
        c.mass,
        *c.first_moment,
        *packed_symmetric(c.second_moment),
        *packed_force(c.force),
        *c.momentum,
        *Bt,
    ]


def _unpacked_composite(values: Sequence[Scalar]) -> Composite:
    Bt = Matrix(*(Vector(*values[k : k + 3]) for k in (19, 22, 25)))
    return Composite(
        values[0],
        Vector(*values[1:4]),
        unpacked_symmetric(values[4:10]),
        unpacked_force(values[10:16]),
        Vector(*values[16:19]),
        Bt,
    )


def _unpacked_column(values: Sequence[Scalar]) -> tuple[Force, Force, Force, Force, Vector]:
    t1, t2, t3, turned = (unpacked_force(values[k : k + 6]) for k in range(0, 24, 6))
    return t1, t2, t3, turned, Vector(*values[24:])
