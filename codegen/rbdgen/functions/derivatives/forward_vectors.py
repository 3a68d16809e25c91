"""Derivatives of forward dynamics with degrees of freedom, then columns, as the lanes of vectors.

dFD/du = -M^-1 dID/du at qdd = FD(q, v, tau) (Carpentier and Mansard, RSS 2018, eq. 24). dID/du is computed as
in `vectors.py`, with all quantities in one frame, but bodies are placed once for all steps. Without joint
accelerations they give the composites, the unit forces and the bias. Chains of joints then give qdd, and what
qdd adds to motions and forces follows. Last come the columns of -M^-1 dID/dq, -M^-1 dID/dv and M^-1, chain by
chain.

A floating base's linear velocity and attitude are left out and added at the end, as in `columns.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from rbdgen.access import Access, whole
from rbdgen.functions.derivatives.columns import related_dofs
from rbdgen.functions.derivatives.known_columns import KNOWN_BY_V, KnownColumns
from rbdgen.functions.derivatives.one_frame import (
    Direction,
    Moving,
    base_step,
    column,
    entries_above,
    own_composite,
    own_entries,
)
from rbdgen.functions.derivatives.vectors import AXES, Load, Wrench, numbers_of_bodies, placing
from rbdgen.functions.inertia_matrix.chain_columns import ChainColumns
from rbdgen.functions.inertia_matrix.chains import ROOM, ROOT, ChainLanes, split
from rbdgen.functions.resistance import by_acceleration, less, slopes, terms_of
from rbdgen.model.moments import MassMoments
from rbdgen.model.reduce import ReducedModel
from rbdgen.spatial.ops import IDENTITY, NO_MOTION, ZERO, Force, Motion, Vector
from rbdgen.spatial.scalar import Scalar, add, neg, sub
from rbdgen.sweeps.freedoms import FreedomLanes
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.loops import Arrays, FormLoop, LoopedForm
from rbdgen.sweeps.records import of, width
from rbdgen.sweeps.sweep import BASE, Freedoms, Given, Gives, Pairs

SOLVED: Final = ("dtau_dq", "dtau_dv")


@dataclass(frozen=True, slots=True)
class Forces:
    """The forces of a degree of freedom, beside t1, from which entries are computed."""

    t2: Wrench
    turned: Wrench
    t4: Vector


def rates(x: Given) -> Gives:
    """Psi1, and the joint's part of the acceleration for qdd = 0."""
    psi1 = x.velocity.cross(x.S)
    return {"psi1": psi1, "acceleration": psi1 * x.v}


RATES = Freedoms("rates", rates, ("S", "velocity", "v"), {"psi1": Motion, "acceleration": Motion})


def loads(x: Given) -> Gives:
    """The body's own part of the composites."""
    moving = Moving(x.frame.rotation, x.frame.translation, x.velocity, x.acceleration)
    return {"load": Load.of(own_composite(of(MassMoments, x.moments), moving))}


LOADS = Freedoms("loads", loads, ("frame", "velocity", "acceleration", "moments"), {"load": Load})


def unit_forces(x: Given) -> Gives:
    """The force t1 of a unit acceleration of the joint, its torque, and the bias."""
    composite = x.load.composite(x.mass[0])
    t1 = composite.inertia.apply(x.S)
    own = add(x.S.dot(t1), x.armature[0])
    return {"unit": Wrench.of(t1), "own": own, "bias": x.S.dot(composite.force)}


UNIT_FORCES = Freedoms(
    "unit_forces",
    unit_forces,
    ("S", "load", "mass", "armature"),
    {"unit": Wrench, "own": Scalar, "bias": Scalar},
)


def changes(x: Given) -> Gives:
    """What qdd adds to the acceleration of the body, and to the forces on its ancestors."""
    return {"change": x.S * x.a, "weight": x.unit.plain * x.a}


CHANGES = Freedoms("changes", changes, ("S", "a", "unit"), {"change": Motion, "weight": Force})


def columns(x: Given) -> Gives:
    """Psi2 and t2 to t4 at qdd.

    qdd changes the force on a subtree by the unit forces t1 of the subtree's joints, times their
    accelerations, and by the composite inertia times the change of the parent's acceleration.
    """
    psi2 = (x.acceleration + x.change).cross(x.S) + x.velocity.cross(x.psi1)
    still = x.load.composite(x.mass[0])
    force = still.force + x.weight + still.inertia.apply(x.change - x.S * x.a)
    d = Direction(x.S, x.psi1, psi2, x.psi1 * 2)
    made = column(Given(direction=d, composite=replace(still, force=force)))["column"]
    own = own_entries(Given(column=made, other=Given(direction=d)))
    gives = {
        "psi2": psi2,
        "forces": Forces(Wrench.of(made.t2), Wrench.of(made.turned), made.t4),
        "diagonal": [own[name] for name in SOLVED],
    }
    if hasattr(x, "base"):
        w = Motion(Vector(*x.base[:3]), ZERO)
        turns = [Motion(e, ZERO) for e in IDENTITY]
        directions = [Direction(S, NO_MOTION, NO_MOTION, w.cross(S)) for S in turns]
        entries = [entries_above(Given(column=made, other=Given(direction=d))) for d in directions]
        gives["beside"] = [entry["dtau_dv_below"] for entry in entries]
    return gives


def entries(x: Given) -> Gives:
    """The two entries between a degree of freedom and one above it."""
    j, S, psi1, psi2, t1 = x.forces, x.other.S, x.other.psi1, x.other.psi2, x.unit.plain
    return {
        "dtau_dq": S.dot(j.turned.plain),
        "dtau_dv": S.dot(j.t2.plain),
        "dtau_dq_below": add(j.t4.dot(psi1.angular), psi2.dot(t1)),
        "dtau_dv_below": add(j.t4.dot(S.angular), (psi1 * 2).dot(t1)),
    }


ENTRIES = Pairs("entries", entries, own_entries, ("forces", "unit"), ("S", "psi1", "psi2"), SOLVED)


def aba_derivatives_vectors(reduced: ReducedModel) -> LoopedForm:
    """The loops for outputs `da_dq`, `da_dv`, `da_dtau`, nv x nv, from inputs q, v, tau."""
    lanes, nv = FreedomLanes(reduced), reduced.nv
    chains = ChainLanes(lanes)
    _without_accelerations(lanes)
    lanes.sizes |= dict.fromkeys(SOLVED, nv * nv)
    lanes.clear(SOLVED)
    lanes.loops += [*chains.blocks(), _rows(lanes), *chains.factor()]
    if chains.based:
        lanes.loops.append(_base(chains))
    lanes.loops.append(chains.accelerations())
    _with_accelerations(lanes)
    known, shift = _known(lanes) if chains.based else ([], [])
    by_state, by_torque = _solves(chains)
    lanes.loops += [*known, *by_state, *shift, *by_torque]
    return lanes.form(dict.fromkeys(("da_dq", "da_dv", "da_dtau"), nv * nv))


def _without_accelerations(lanes: FreedomLanes) -> None:
    """Add the loops for motions without joint accelerations, the composites, the unit forces and the bias."""
    floating = bool(lanes.first)
    numbers_of_bodies(lanes)
    rotors = terms_of(lanes.reduced.model, by_acceleration, State(()))[lanes.first :]
    lanes.table("armature", [[rotor] for rotor in rotors])
    lanes.loops.append(placing(lanes, turning=True))
    lanes.freedoms(AXES)
    lanes.outward("velocity", "base" if floating else None)
    lanes.freedoms(RATES)
    lanes.outward("acceleration", "base_acceleration")
    lanes.freedoms(LOADS)
    lanes.inward("load", "total" if floating else None)
    lanes.freedoms(UNIT_FORCES)


def _with_accelerations(lanes: FreedomLanes) -> None:
    """Add the loops for what qdd changes, and for the derivatives of the torques."""
    floating = bool(lanes.first)
    lanes.freedoms(CHANGES)
    lanes.outward("change", "base_change" if floating else None)
    lanes.inward("weight", None)
    reads = ("S", "psi1", "velocity", "acceleration", "change", "a", "load", "mass", "weight")
    gives = {"psi2": Motion, "forces": Forces, "diagonal": len(SOLVED)}
    sweep = Freedoms("columns", columns, reads, {**gives, "beside": 3} if floating else gives)
    lanes.freedoms(sweep, {"base": whole("base", 9)} if floating else {})
    if floating:
        lanes.loops += _beside_base(lanes)
    lanes.loops.append(_diagonal(lanes))
    lanes.pairs(ENTRIES)


def _rows(lanes: FreedomLanes) -> FormLoop:
    """A row for every joint: its unit force, followed by its bias minus its torque."""
    n, stride = lanes.count, lanes.stride

    def trace(x: State) -> Arrays:
        torque = less(lanes.reduced.model, x)[lanes.first :]
        found: list[Scalar] = []
        for k in range(n):
            found += [*x.arrays["unit"][k::n], sub(x.arrays["bias"][k], torque[k]), 0]
        return {"row": found}

    return FormLoop(
        "rows",
        trace,
        {"row": whole("rows", ROOM * n)},
        {
            "unit": Access("unit", tuple(stride * c + k for c in range(BASE) for k in range(n))),
            "bias": whole("bias", n),
        },
        ("q", "v", "tau"),
        count=min(n, 1),
    )


def _base(chains: ChainLanes) -> FormLoop:
    """Minus the inverse of a floating base's inertia, the right-hand side for its acceleration, and its block
    of dtau_dv.
    """
    reduced, nv = chains.lanes.reduced, chains.lanes.reduced.nv
    mass = sum((own.mass for own in reduced.moments[1:]), 0)
    roots = chains.on[ROOT]

    def trace(x: State) -> Arrays:
        still = [0, 0, 0, *x.v[3:BASE]]
        given = Given(naming=x.naming, v=still, a=[0] * BASE, upward=-reduced.gravity, fext=None)
        base = base_step(reduced.at(x.q)[0], given)
        subtree = base["composite"] + of(Load, x.arrays["total"]).composite(mass)
        directions = base["direction"]
        made = [column(Given(direction=d, composite=subtree))["column"] for d in directions]
        inertia = [[d.S.dot(other.t1) for other in made[: k + 1]] for k, d in enumerate(directions)]
        backs = [split(x.arrays[f"back_{k}"], BASE + 1) for k in roots]
        bias = [*subtree.force.force, *subtree.force.moment]
        return {
            "inverse": chains.base_inverse(inertia, backs),
            "right": [sub(own, torque) for own, torque in zip(bias, x.tau[:BASE], strict=True)],
            "block": [d.S.dot(other.t2) for d in directions for other in made[3:]],
        }

    return FormLoop(
        "base",
        trace,
        {
            "inverse": whole("base_inverse", BASE**2),
            "right": whole("base_right", BASE),
            "block": Access("dtau_dv", tuple(nv * i + k for i in range(BASE) for k in range(3, BASE))),
        },
        {"total": whole("total", width(Load)), **{f"back_{k}": chains.back(k) for k in roots}},
        ("q", "v", "tau"),
    )


def _diagonal(lanes: FreedomLanes) -> FormLoop:
    """The entries of joints with themselves, including joint resistance."""
    nv, first, n, stride = lanes.reduced.nv, lanes.first, lanes.count, lanes.stride

    def trace(x: State) -> Arrays:
        resistance = slopes(lanes.reduced.model, x)
        own = split(x.arrays["diagonal"], n)
        by_q, by_v = (
            list(map(add, values, more[first:]))
            for values, more in zip(own, (resistance.by_q, resistance.by_v), strict=True)
        )
        return {"own_dtau_dq": by_q, "own_dtau_dv": by_v}

    joints = tuple((nv + 1) * (first + k) for k in range(n))
    return FormLoop(
        "diagonal",
        trace,
        {f"own_{name}": Access(name, joints) for name in SOLVED},
        {"diagonal": Access("diagonal", tuple(stride * c + k for c in range(len(SOLVED)) for k in range(n)))},
        ("v",),
        count=min(n, 1),
    )


def _beside_base(lanes: FreedomLanes) -> list[FormLoop]:
    """The rows and columns of a floating base."""
    nv, stride = lanes.reduced.nv, lanes.stride
    six, runs = range(BASE), tuple(range(lanes.count))
    rows = {"dtau_dv": 0, "dtau_dq": BASE}
    return [
        FormLoop(
            "base_rows",
            lambda x: {f"row_{name}": list(x.arrays[f"of_{name}"]) for name in rows},
            {
                f"row_{name}": Access(name, tuple(nv * i for i in six), tuple(BASE + k for k in runs))
                for name in rows
            },
            {
                f"of_{name}": Access("forces", tuple(stride * (k + c) for c in six), runs)
                for name, k in rows.items()
            },
            count=lanes.count,
        ),
        FormLoop(
            "base_columns",
            lambda x: {"column_beside": list(x.arrays["beside"])},
            {"column_beside": Access("dtau_dv", (3, 4, 5), tuple(nv * (BASE + k) for k in runs))},
            {"beside": lanes.place("beside")},
            count=lanes.count,
        ),
    ]


def _solves(chains: ChainLanes) -> tuple[list[FormLoop], list[FormLoop]]:
    """The columns of the torques' derivatives with respect to the state, and those of the matrix -1."""
    lanes = chains.lanes
    nv, first = lanes.reduced.nv, lanes.first
    above = [{k, *those} for k, those in enumerate(lanes.reduced.ancestors)]
    related = related_dofs(lanes.reduced.ancestors)
    rows = [{first + j for j in chain.joints} for chain in chains.chains]
    lanes.tables["minus_one"] = tuple(-1.0 if i == j else 0.0 for i in range(nv) for j in range(nv))

    def by_state(k: int, column: int) -> bool:
        return not related[column].isdisjoint(rows[k])

    def by_torque(k: int, column: int) -> bool:
        return not above[column].isdisjoint(rows[k])

    dq = ChainColumns(chains, "dtau_dq", "da_dq", first, by_state)
    dv = ChainColumns(chains, "dtau_dv", "da_dv", KNOWN_BY_V if first else 0, by_state)
    dtau = ChainColumns(chains, "minus_one", "da_dtau", first, by_torque)
    return [*dq.loops(), *dv.loops()], [*dtau.loops(), *(_by_base_force(lanes) if first else [])]


def _by_base_force(lanes: FreedomLanes) -> list[FormLoop]:
    """The floating base's columns of M^-1: its block is known, and the rest follows from symmetry."""
    nv, six = lanes.reduced.nv, range(BASE)
    return [
        FormLoop(
            "block",
            lambda x: {"block": [neg(value) for value in x.arrays["base_inverse"]]},
            {"block": Access("da_dtau", tuple(nv * i + j for i in six for j in six))},
            {"base_inverse": whole("base_inverse", BASE**2)},
        ),
        FormLoop(
            "mirrored",
            lambda x: {"row": list(x.arrays["column"])},
            {"row": Access("da_dtau", tuple(six), tuple(nv * k for k in range(BASE, nv)))},
            {"column": Access("da_dtau", tuple(nv * i for i in six), tuple(range(BASE, nv)))},
            count=lanes.count,
        ),
    ]


def _known(lanes: FreedomLanes) -> tuple[list[FormLoop], list[FormLoop]]:
    """The effect of a floating base's linear velocity and attitude, and the terms to add to solved
    columns.
    """
    known = KnownColumns(lanes.reduced)
    lanes.sizes |= known.scratch
    return [FormLoop("known", known.values, known.writes, {}, ("q", "v"))], known.shifts()
