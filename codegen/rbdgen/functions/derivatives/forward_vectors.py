"""Derivatives of forward dynamics with degrees of freedom, then columns, as the lanes of vectors.

dFD/du = -M^-1 dID/du at qdd = FD(q, v, tau) (Carpentier and Mansard, RSS 2018, eq. 24). dID/du is computed by
the sweeps of `one_frame.py`, except that bodies are placed only once for all steps. First, sweeps without
joint accelerations compute the composites, the unit forces and the bias. Then qdd is solved for, chain by
chain (see `inertia_matrix/chains.py`), and further sweeps compute the terms that qdd adds to motions and
forces. Last, the columns of -M^-1 dID/dq, -M^-1 dID/dv and M^-1 are solved for, again chain by chain.

A floating base's linear velocity and attitude are left out and added at the end, as in `columns.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from rbdgen.access import MatrixView, whole
from rbdgen.functions.derivatives.columns import related_dofs
from rbdgen.functions.derivatives.forward import from_classical
from rbdgen.functions.derivatives.known_columns import KNOWN_BY_V, KnownColumns
from rbdgen.functions.derivatives.one_frame import COLUMNS, base_step, column, derivatives
from rbdgen.functions.inertia_matrix.chains import ROW_WIDTH, ChainLanes
from rbdgen.functions.resistance import Added, by_position, by_velocity, less, loops_with_added
from rbdgen.model.reduce import ReducedModel
from rbdgen.spatial.ops import NO_MOTION, Force, Motion, Vector
from rbdgen.spatial.scalar import Scalar, add, neg, sub
from rbdgen.sweeps.base_line import Totals
from rbdgen.sweeps.bodies import Body, Jointed
from rbdgen.sweeps.columns import ROOT, split
from rbdgen.sweeps.distributed import Between, Distributed
from rbdgen.sweeps.freedoms import FreedomLanes
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.loops import Arrays, FormLoop, LoopedForm, copied
from rbdgen.sweeps.sweep import BASE, Freedoms, Given, Gives, Inward, Outward, Sum

SOLVED: Final = ("dtau_dq", "dtau_dv")

RESISTED: Final = (Added("dtau_dq", by_position), Added("dtau_dv", by_velocity))


@dataclass(frozen=True, slots=True)
class Wrench:
    """A force in the order of a floating base's degrees of freedom: linear part first."""

    force: Vector
    moment: Vector


# ---- without joint accelerations

OUTWARD, COMPOSITES, _, ENTRIES = derivatives(SOLVED, by_own_motion=True)


def turning_base(body: Body, x: Given) -> Gives:
    """The step of a floating base without linear velocity and without accelerations. Its columns by linear
    velocity and by attitude are known, so their entries are left out.
    """
    gives = base_step(body, Given(v=[0, 0, 0, *x.v[3:]], a=[0] * BASE, upward=x.upward, fext=None))
    shifts, turns = gives["direction"][:3], gives["direction"][3:]
    still = [replace(d, psi2=NO_MOTION, velocity_column=NO_MOTION) for d in shifts]
    return {**gives, "direction": [*still, *(replace(d, psi2=NO_MOTION) for d in turns)]}


def with_rotor(body: Body, x: Given) -> Gives:
    """The step of a body, which also gives the inertia of the rotors of its joint."""
    return {**OUTWARD.step(body, x), "rotor": list(body.armature)}


MOTIONS = replace(
    OUTWARD,
    step=with_rotor,
    base=lambda body, x: {**turning_base(body, x), "rotor": [0] * BASE},
    reads=[name for name in OUTWARD.reads if name != "a"],
    gives={**OUTWARD.gives, "rotor": Scalar},
)


def unit_forces(x: Given) -> Gives:
    """Compute S, the force t1 at unit acceleration of the joint, the torque of the joint at this
    acceleration, and the bias torque.
    """
    S = x.direction.S
    t1 = x.composite.moments.apply(S)
    return {
        "S": S,
        "unit": Wrench(t1.force, t1.moment),
        "own": add(S.dot(t1), x.rotor),
        "bias": S.dot(x.composite.force),
    }


UNIT_FORCES = Freedoms(
    "unit_forces",
    unit_forces,
    ("direction", "composite", "rotor"),
    {"S": Motion, "unit": Wrench, "own": Scalar, "bias": Scalar},
)

# ---- with joint accelerations


def change(_: Jointed, x: Given) -> Gives:
    """Compute the term that qdd adds to the acceleration of a body."""
    return {"change": sum((d.S * a for d, a in zip(x.direction, x.a, strict=True)), x.parent)}


CHANGES = Outward(
    "changes", "change", change, world=lambda _: NO_MOTION, reads=("direction", "a"), gives={"change": Motion}
)


def weight(x: Given) -> Gives:
    """Compute the term that the acceleration of a joint adds to the forces on its ancestors."""
    return {"weight": Force(x.unit.moment, x.unit.force) * x.a}


WEIGHTS = Freedoms("weights", weight, ("unit", "a"), {"weight": Force})

WEIGHTS_BELOW = Inward("weights_below", {"weight": Sum(Force)}, lambda _, x: {"weight": x.weight})


def at_accelerations(x: Given) -> Gives:
    """Compute the directions and the composite at qdd.

    qdd changes the force on a subtree by the unit forces t1 of the subtree's joints, times their
    accelerations, and by the composite inertia times the change of the parent's acceleration.
    """
    d, still = x.direction, x.composite
    above = x.change - d.S * x.a
    psi2 = (x.motion.a + above).cross(d.S) + x.motion.v.cross(d.psi1)
    force = still.force + x.weight + still.moments.apply(above)
    return {"direction": replace(d, psi2=psi2), "composite": replace(still, force=force)}


AT_ACCELERATIONS = Freedoms(
    "at_accelerations",
    at_accelerations,
    ("direction", "motion", "composite", "change", "weight", "a"),
    {"direction": OUTWARD.gives["direction"], "composite": OUTWARD.gives["composite"]},
)


def aba_derivatives_vectors(reduced: ReducedModel, *, values: bool = False) -> LoopedForm:
    """The loops for outputs `da_dq`, `da_dv`, `da_dtau`, nv x nv, from inputs q, v, tau. With `values`, they
    also give `a`.
    """
    lanes, nv = FreedomLanes(reduced), reduced.nv
    chains = ChainLanes(lanes)

    def solve(totals: Totals) -> list[FormLoop]:
        base = [_base(chains, totals)] if lanes.first else []
        return [*chains.blocks(), _rows(lanes), *chains.factor(), *base, chains.accelerations()]

    accelerations = Between("accelerations", ("S", "unit", "own", "bias"), ("a",), solve, ("composite",))
    without = (MOTIONS, COMPOSITES, UNIT_FORCES)
    with_them = (CHANGES, WEIGHTS, WEIGHTS_BELOW, AT_ACCELERATIONS, COLUMNS, ENTRIES)
    Distributed(lanes, (*without, accelerations, *with_them), block=False).run()
    resisted = loops_with_added(reduced, lanes.form({}), RESISTED)
    lanes.loops, lanes.tables = list(resisted.loops), dict(resisted.tables)
    known, shift = _known(lanes) if lanes.first else ([], [])
    by_state, by_torque = _solves(chains)
    given = [_base_acceleration(reduced)] if values and lanes.first else []
    lanes.loops += [*known, *by_state, *shift, *by_torque, *given]
    outputs = {"a": nv} if values else {}
    return lanes.form(outputs | dict.fromkeys(("da_dq", "da_dv", "da_dtau"), nv * nv))


def _base_acceleration(reduced: ReducedModel) -> FormLoop:
    """The loop that makes the accelerations those of the coordinates of the base."""
    own = whole("a", BASE)
    return FormLoop(
        "acceleration",
        lambda x: {"new_a": from_classical(reduced.model, x.v, x.arrays["a"])},
        {"new_a": own},
        {"a": own},
        ("v",),
    )


def _rows(lanes: FreedomLanes) -> FormLoop:
    """The loop that writes a row for every joint: its unit force, followed by its bias minus its torque."""
    n = lanes.count

    def trace(x: State) -> Arrays:
        torque = less(lanes.reduced.model, x)[lanes.first :]
        found: list[Scalar] = []
        for k in range(n):
            found += [*x.arrays["unit"][k::n], sub(x.arrays["bias"][k], torque[k]), 0]
        return {"row": found}

    return FormLoop(
        "rows",
        trace,
        {"row": whole("rows", ROW_WIDTH * n)},
        {
            "unit": MatrixView("unit", lanes.stride).block(range(BASE), range(n)),
            "bias": whole("bias", n),
        },
        ("q", "v", "tau"),
        count=min(n, 1),
    )


def _base(chains: ChainLanes, totals: Totals) -> FormLoop:
    """The loop that computes minus the inverse of a floating base's articulated-body inertia, the right-hand
    side for its acceleration, and its block of dtau_dv.
    """
    reduced, nv = chains.lanes.reduced, chains.lanes.reduced.nv
    roots = chains.on[ROOT]

    def trace(x: State) -> Arrays:
        given = Given(v=x.v[:BASE], upward=-reduced.gravity, naming=x.naming)
        base = turning_base(reduced.at(x.q)[0], given)
        subtree = base["composite"] + totals.of(x, "composite")
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
            "block": MatrixView("dtau_dv", nv).block(range(BASE), range(3, BASE)),
        },
        {**totals.reads, **{f"back_{k}": chains.back(k) for k in roots}},
        ("q", "v", "tau"),
    )


def _solves(chains: ChainLanes) -> tuple[list[FormLoop], list[FormLoop]]:
    """The loops that solve for da_dq and da_dv, and those that solve for da_dtau, whose right-hand sides are
    the columns of the matrix -1.
    """
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

    by_q = chains.columns("dtau_dq", "da_dq", first, by_state)
    by_v = chains.columns("dtau_dv", "da_dv", KNOWN_BY_V if first else 0, by_state)
    by_tau = chains.columns("minus_one", "da_dtau", first, by_torque)
    return [*by_q, *by_v], [*by_tau, *(_by_base_force(lanes) if first else [])]


def _by_base_force(lanes: FreedomLanes) -> list[FormLoop]:
    """The loops that write the floating base's columns of M^-1. Its own block is known, and the rest follows
    from symmetry.
    """
    nv, six = lanes.reduced.nv, range(BASE)
    inverse = MatrixView("da_dtau", nv)
    return [
        FormLoop(
            "block",
            lambda x: {"block": [neg(value) for value in x.arrays["base_inverse"]]},
            {"block": inverse.block(six, six)},
            {"base_inverse": whole("base_inverse", BASE**2)},
        ),
        copied(
            "mirrored",
            inverse.down(BASE, ((0, k) for k in range(BASE, nv))),
            inverse.block((0,), six, ((k, 0) for k in range(BASE, nv))),
        ),
    ]


def _known(lanes: FreedomLanes) -> tuple[list[FormLoop], list[FormLoop]]:
    """The loop that writes the columns by a floating base's linear velocity and attitude, and the loop that
    adds terms to solved columns.
    """
    known = KnownColumns(lanes.reduced)
    return [FormLoop("known", known.values, known.writes, {}, ("q", "v"))], known.shifts()
