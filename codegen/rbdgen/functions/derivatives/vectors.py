"""Derivatives of inverse dynamics with degrees of freedom as the lanes of vectors.

The algorithm is that of `one_frame.py`. In one common frame, every quantity of a degree of freedom depends on
plain sums over its ancestors or over its subtree. The steps between these sums are therefore equal for all
degrees of freedom, and neighbours share vectors. The motions of a floating base are unit vectors, so its rows
and columns take almost no operations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rbdgen.access import Access, whole
from rbdgen.functions.derivatives.one_frame import (
    OUTPUTS,
    Column,
    Composite,
    Direction,
    Moving,
    base_step,
    column,
    entries_above,
    own_composite,
    own_entries,
    placed,
)
from rbdgen.model.model import WORLD
from rbdgen.model.moments import MassMoments
from rbdgen.model.reduce import ReducedModel
from rbdgen.spatial.ops import (
    IDENTITY,
    NO_MOTION,
    NO_TRANSFORM,
    ZERO,
    Force,
    Matrix,
    Motion,
    Symmetric,
    Transform,
    Vector,
)
from rbdgen.spatial.scalar import Scalar, add
from rbdgen.sweeps.freedoms import FreedomLanes
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.loops import Arrays, FormLoop, LoopedForm
from rbdgen.sweeps.records import flat, of
from rbdgen.sweeps.sweep import BASE, Freedoms, Given, Gives, Pairs
from rbdgen.sweeps.tables import Screw, screw


@dataclass(frozen=True, slots=True)
class Load:
    """What is summed over a subtree. The mass is not included, because it is a constant of the robot."""

    first_moment: Vector
    second_moment: Symmetric
    force: Force
    momentum: Vector
    Bt: Matrix

    @staticmethod
    def of(own: Composite) -> Load:
        return Load(own.first_moment, own.second_moment, own.force, own.momentum, own.Bt)

    def composite(self, mass: Scalar) -> Composite:
        return Composite(mass, self.first_moment, self.second_moment, self.force, self.momentum, self.Bt)


@dataclass(frozen=True, slots=True)
class Wrench:
    """A force in the order of a floating base's degrees of freedom: linear part first."""

    force: Vector
    moment: Vector

    @staticmethod
    def of(force: Force) -> Wrench:
        return Wrench(force.force, force.moment)

    @property
    def plain(self) -> Force:
        return Force(self.moment, self.force)


@dataclass(frozen=True, slots=True)
class Forces:
    """The forces from which entries are computed: a `Column` without t3."""

    t1: Wrench
    t2: Wrench
    turned: Wrench
    t4: Vector

    @staticmethod
    def of(made: Column) -> Forces:
        return Forces(Wrench.of(made.t1), Wrench.of(made.t2), Wrench.of(made.turned), made.t4)

    @property
    def column(self) -> Column:
        return Column(self.t1.plain, self.t2.plain, self.turned.plain, self.turned.plain, self.t4)


@dataclass(frozen=True, slots=True)
class Beside:
    """The same forces, and the entries in the columns of a floating base."""

    by_q: Wrench
    by_v: Wrench
    forces: Forces

    @property
    def column(self) -> Column:
        return self.forces.column


def axes(x: Given) -> Gives:
    """S, and the joint's part of the velocity."""
    (own,) = Screw(*x.kinds).subspace
    S = x.frame.motion_to_parent(own)
    return {"S": S, "velocity": S * x.v}


def rates(x: Given) -> Gives:
    """Psi1, and the joint's part of the acceleration."""
    psi1 = x.velocity.cross(x.S)
    return {"psi1": psi1, "acceleration": x.S * x.a + psi1 * x.v}


def loads(x: Given) -> Gives:
    """Psi2, and the body's own part of the composites.

    Psi2 may be computed with the motion of the body instead of its parent's: the terms that the joint adds
    cancel.
    """
    psi2 = x.acceleration.cross(x.S) + x.velocity.cross(x.psi1)
    moving = Moving(x.frame.rotation, x.frame.translation, x.velocity, x.acceleration)
    return {"psi2": psi2, "load": Load.of(own_composite(of(MassMoments, x.moments), moving))}


AXES = Freedoms("axes", axes, ("frame", "kinds", "v"), {"S": Motion, "velocity": Motion})
RATES = Freedoms("rates", rates, ("S", "velocity", "v", "a"), {"psi1": Motion, "acceleration": Motion})
LOADS = Freedoms(
    "loads",
    loads,
    ("frame", "S", "psi1", "velocity", "acceleration", "moments"),
    {"psi2": Motion, "load": Load},
)


def direction(x: Given) -> Direction:
    """The directions of a degree of freedom. For a joint with one degree of freedom Psi1 + Sdot is 2 Psi1."""
    return Direction(x.S, x.psi1, x.psi2, x.psi1 * 2)


def columns(x: Given) -> Gives:
    """t1 to t4, and the entries of a degree of freedom in the columns of a floating base."""
    x.direction, x.composite = direction(x), x.load.composite(x.mass[0])
    made: Column = column(x)["column"]
    own = own_entries(Given(column=made, other=Given(direction=x.direction)))
    diagonal = {"diagonal": [own[name] for name in OUTPUTS]}
    if not hasattr(x, "base"):
        return {**diagonal, "forces": Forces.of(made)}
    entries = [entries_above(Given(column=made, other=Given(direction=d))) for d in _base_directions(x.base)]
    by_q, by_v = (
        of(Wrench, [entry[name] for entry in entries]) for name in ("dtau_dq_below", "dtau_dv_below")
    )
    return {**diagonal, "forces": Beside(by_q, by_v, Forces.of(made))}


def _base_directions(numbers: Sequence[Scalar]) -> list[Direction]:
    """The directions of a floating base, from its velocity and the upward acceleration in its axes."""
    v, upward = of(Motion, numbers[:BASE]), Vector(*numbers[BASE:])
    shifts, turns = [Motion(ZERO, e) for e in IDENTITY], [Motion(e, ZERO) for e in IDENTITY]
    return [Direction(S, NO_MOTION, Motion(ZERO, upward).cross(S), v.cross(S)) for S in (*shifts, *turns)]


def entries(x: Given) -> Gives:
    """The two entries between a degree of freedom and one above it."""
    return entries_above(Given(column=x.forces.column, other=Given(direction=direction(x.other))))


ENTRIES = Pairs(
    "entries", entries, own_entries, ("forces",), ("S", "psi1", "psi2"), OUTPUTS, symmetric=("dtau_da",)
)


def rnea_derivatives_vectors(reduced: ReducedModel) -> LoopedForm:
    """The loops for outputs `dtau_dq`, `dtau_dv`, `dtau_da`, nv x nv, from inputs q, v, a."""
    lanes = FreedomLanes(reduced)
    nv, floating = reduced.nv, bool(lanes.first)
    numbers_of_bodies(lanes)
    lanes.loops.append(placing(lanes))
    lanes.freedoms(AXES)
    lanes.outward("velocity", "base" if floating else None)
    lanes.freedoms(RATES)
    lanes.outward("acceleration", "base_acceleration")
    lanes.freedoms(LOADS)
    lanes.inward("load", "total" if floating else None)
    gives = {"diagonal": len(OUTPUTS), "forces": Beside if floating else Forces}
    lanes.freedoms(
        Freedoms("columns", columns, ("S", "psi1", "psi2", "load", "mass"), gives),
        {"base": whole("base", 9)} if floating else {},
    )
    lanes.clear(OUTPUTS)
    if floating:
        lanes.loops += [*_beside_base(lanes), _base_block(lanes)]
    lanes.loops.append(_diagonal(lanes))
    lanes.pairs(ENTRIES)
    return lanes.form(dict.fromkeys(OUTPUTS, nv * nv))


def numbers_of_bodies(lanes: FreedomLanes) -> None:
    """Add the tables of joint kinds, of moments, and of the masses of subtrees."""
    reduced, skipped = lanes.reduced, 1 if lanes.first else 0
    lanes.table("kinds", [screw(body) for body in reduced.bodies[skipped:]])
    moments = reduced.moments[skipped:]
    lanes.table("moments", [flat(MassMoments, own) for own in moments])
    lanes.table("mass", [[mass] for mass in _subtree_masses(lanes.parents, [own.mass for own in moments])])


def _subtree_masses(parents: Sequence[int], masses: Sequence[Scalar]) -> list[Scalar]:
    found = list(masses)
    for k, above in reversed(list(enumerate(parents))):
        if above >= 0:
            found[above] = add(found[above], found[k])
    return found


def placing(lanes: FreedomLanes, *, turning: bool = False) -> FormLoop:
    """A straight line that computes the poses of all bodies, and the motion of the base; with `turning`, only
    its rotation.
    """
    reduced, floating = lanes.reduced, bool(lanes.first)
    lanes.new("frame", Transform)
    lanes.sizes |= {"base_acceleration": BASE, **({"base": 9} if floating else {})}

    def trace(x: State) -> Arrays:
        frames: list[Transform] = []
        upward = -reduced.gravity
        for body in reduced.at(x.q):
            if floating and not frames:
                upward = body.rotation.to_child(upward)
                frames.append(NO_TRANSFORM)
                continue
            above = NO_TRANSFORM if body.parent == WORLD else frames[body.parent]
            frames.append(placed(body, Given(parent=above, naming=x.naming)))
        numbers = [flat(Transform, frame) for frame in frames[1 if floating else 0 :]]
        given = {"frame": [value for row in zip(*numbers, strict=True) for value in row]}
        acceleration = Motion(ZERO, upward)
        if floating:
            given["base"] = [*x.v[3:BASE], *([0] * 3 if turning else x.v[:3]), *upward]
            if not turning:
                acceleration = Motion(Vector(*x.a[3:BASE]), Vector(*x.a[:3]) + upward)
        given["base_acceleration"] = flat(Motion, acceleration)
        return {name: given[name] for name in writes}

    n, stride = lanes.count, lanes.stride
    frames_of_joints = Access("frame", tuple(stride * c + k for c in range(12) for k in range(n)))
    writes = {
        **({"frame": frames_of_joints} if n else {}),
        "base_acceleration": whole("base_acceleration", BASE),
        **({"base": whole("base", 9)} if floating else {}),
    }
    moving = ("v",) if turning else ("v", "a")
    return FormLoop("placing", trace, writes, inputs=("q", *moving) if floating else ("q",))


def _beside_base(lanes: FreedomLanes) -> list[FormLoop]:
    """The rows and columns of a floating base."""
    nv, stride = lanes.reduced.nv, lanes.stride
    six, runs = range(BASE), tuple(range(lanes.count))
    rows = ("dtau_da", "dtau_dv", "dtau_dq")  # from t1, t2 and `turned`
    columns = ("dtau_dq", "dtau_dv", "dtau_da")
    # torques do not depend on the base's position
    kept = {name: tuple(six) for name in columns} | {"dtau_dq": tuple(six[3:])}

    return [
        FormLoop(
            "base_rows",
            lambda x: {f"row_{name}": list(x.arrays[f"of_{name}"]) for name in rows},
            {
                f"row_{name}": Access(name, tuple(nv * i for i in six), tuple(BASE + k for k in runs))
                for name in rows
            },
            {
                f"of_{name}": Access("forces", tuple(stride * (BASE * k + c) for c in six), runs)
                for k, name in enumerate(rows, 2)
            },
            count=lanes.count,
        ),
        FormLoop(
            "base_columns",
            lambda x: {f"column_{name}": list(x.arrays[f"of_{name}"]) for name in columns},
            {
                f"column_{name}": Access(name, kept[name], tuple(nv * (BASE + k) for k in runs))
                for name in columns
            },
            {
                f"of_{name}": Access("forces", tuple(stride * (BASE * k + c) for c in kept[name]), runs)
                for k, name in enumerate(columns)
            },
            count=lanes.count,
        ),
    ]


def _base_block(lanes: FreedomLanes) -> FormLoop:
    """The entries between the degrees of freedom of a floating base."""
    nv, reduced, six = lanes.reduced.nv, lanes.reduced, range(BASE)
    mass = sum((own.mass for own in reduced.moments[1:]), 0)

    def trace(x: State) -> Arrays:
        given = Given(naming=x.naming, v=x.v[:BASE], a=x.a[:BASE], upward=-reduced.gravity, fext=None)
        base = base_step(reduced.at(x.q)[0], given)
        subtree = base["composite"] + of(Load, x.arrays["total"]).composite(mass)
        made = [column(Given(direction=d, composite=subtree))["column"] for d in base["direction"]]
        entries = [
            own_entries(Given(column=j, other=Given(direction=d))) for d in base["direction"] for j in made
        ]
        return {f"block_{name}": [entry[name] for entry in entries] for name in OUTPUTS}

    block = tuple(nv * i + k for i in six for k in six)
    return FormLoop(
        "base_block",
        trace,
        {f"block_{name}": Access(name, block) for name in OUTPUTS},
        {"total": whole("total", lanes.sizes["total"])},
        inputs=("q", "v", "a"),
    )


def _diagonal(lanes: FreedomLanes) -> FormLoop:
    """The entries of joints with themselves."""
    nv, first = lanes.reduced.nv, lanes.first
    places = tuple((nv + 1) * (first + k) for k in range(lanes.count))
    return FormLoop(
        "put",
        lambda x: {f"own_{name}": [value] for name, value in zip(OUTPUTS, x.arrays["diagonal"], strict=True)},
        {f"own_{name}": Access(name, (0,), places) for name in OUTPUTS},
        {"diagonal": lanes.place("diagonal")},
        count=lanes.count,
    )
