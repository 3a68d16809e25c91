"""Derivatives of forward dynamics in contact for robots with alike limbs, whose limbs are lanes up to the
last products.

The notation is that of `derivative_columns.py`. With M^-1 = W D^-1 W^T, a straight line computes a and
lambda, y = J W, Y = y D^-1, the factors of G + mu, and h = D^-1 W^T b for every column b. Its sweeps hand
values on from body to body, so alike limbs can be lanes; only the system of all contact forces is solved on
numbers. The column of a limb's joint is zero at other limbs, and so is its part of h, but the contacts
connect all limbs. The rest is therefore dense. It runs for every column, with columns as lanes:

    dlambda = C (-dc - y h),  da = W (h + Y^T dlambda)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from rbdgen.access import MatrixView, whole
from rbdgen.functions.contacts.derivative_columns import (
    ZEROS,
    Solver,
    add_pulls,
    first_loop,
    known_columns,
    rotations,
    row_columns,
)
from rbdgen.functions.contacts.in_lanes import RowLanes
from rbdgen.functions.contacts.multipliers import Multipliers, softness
from rbdgen.functions.contacts.row_derivatives import ContactRows, turning_rows
from rbdgen.functions.contacts.system import with_anchors
from rbdgen.functions.derivatives.columns import without
from rbdgen.functions.derivatives.forward import from_classical
from rbdgen.functions.derivatives.in_limbs import Factor
from rbdgen.functions.derivatives.known_columns import KnownColumns, without_base_translation
from rbdgen.functions.derivatives.local import derivatives_in_own_axes
from rbdgen.functions.derivatives.solved import named
from rbdgen.functions.inertia_matrix.inverse import unit_lower_inverse
from rbdgen.functions.inertia_matrix.inverse_hybrid import inverse_factor
from rbdgen.functions.inverse_dynamics.classical import inverse_dynamics
from rbdgen.functions.resistance import add_to_diagonal, less, slopes
from rbdgen.model.model import Model
from rbdgen.model.reduce import ReducedModel
from rbdgen.spatial.ldl import LDL
from rbdgen.spatial.ops import NO_FORCE
from rbdgen.spatial.rows import Rows, transposed
from rbdgen.spatial.scalar import Scalar, is_zero, mul, neg, sub
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.loops import Arrays, LoopedForm
from rbdgen.sweeps.straight import straight


def contact_aba_derivatives_in_limbs(
    reduced: ReducedModel, *, anchored: bool = False, values: bool = False
) -> LoopedForm:
    """The loops for the outputs of `contact_aba_derivatives_columns`, from the same inputs."""
    model, known = reduced.model, known_columns(reduced, anchored=anchored)
    nv, nc, count = reduced.nv, model.sizes["nc"], len(model.contacts)
    columns, solver = known.unknown["v"], HalfSolver(model)
    solved_for = {"a": nv, "forces": nc} if values else {}
    arrays = {**solver.shared, **solver.blocks(columns), "h_tau": whole("h_tau", nv * nv)}
    arrays |= {name: whole(name, size) for name, size in solved_for.items()}
    prepared = partial(prepare, reduced, columns=columns, anchored=anchored, values=values)
    line = first_loop("halves", model, known, prepared, arrays, anchored=anchored)
    loops = (
        solver.loop("q", solver.solve, {"h": "h_q", "c": "c_q", "turned": "turned"}, columns),
        solver.loop("v", solver.solve, {"h": "h_v", "c": "c_v", "turned": ZEROS}, columns),
        solver.loop("tau", solver.solve, {"h": "h_tau", "c": ZEROS, "turned": ZEROS}, range(nv)),
    )
    numbers = {name: len(solver.shared[name].elements) for name in ("W_G", "inverse_D_G")}
    matrices = dict.fromkeys(("W", "h_q", "h_v", "h_tau"), nv * nv)
    of_rows = dict.fromkeys(("y", "Y", "c_q", "c_v", "turned"), nc * nv)
    by_rows = dict.fromkeys(("dlambda_dq", "dlambda_dv", "dlambda_dtau"), nc * nv)
    return LoopedForm(
        (line, *loops, *known.shifts()),
        solved_for | dict.fromkeys(("da_dq", "da_dv", "da_dtau"), nv * nv) | by_rows,
        numbers | matrices | of_rows | {"R": 9 * count},
        solver.tables,
        axes=dict.fromkeys(numbers, ())
        | dict.fromkeys((*of_rows, *by_rows), ("nc", "nv"))
        | {"R": ("ncontacts", 9), "forces": ("nc",)},
    )


class HalfSolver(Solver):
    """Solves for a column of which h = D^-1 W^T b is known."""

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        nv, nc = self.nv, self.nc
        self.rows = {"h_q": nv, "h_v": nv, "h_tau": nv, "c_q": nc, "c_v": nc, "turned": nc}
        self.zeros = {
            **{name: self.zeros[name] for name in ("c_q", "c_v", "turned", ZEROS)},
            **dict.fromkeys(("h_q", "h_v"), self.zeros["b_q"]),
            "h_tau": [without(nv, {k, *above}) for k, above in enumerate(self.ancestors)],
        }
        below = [(i, j) for i, above in enumerate(self.ancestors) for j in above]
        felt = [(a, k) for a, dofs in enumerate(self.felt) for k in dofs]
        self.shared = {
            "W": MatrixView("W", nv).entries(below),
            **{name: MatrixView(name, nv).entries(felt) for name in ("y", "Y")},
            **{name: self.shared[name] for name in ("W_G", "inverse_D_G", "R")},
        }

    def solve(self, x: Arrays) -> Arrays:
        """A column of the derivatives."""
        return self.turned(x, self.finished(x, x["h"], self.missing(x["y"], x["h"], x["c"])))


@dataclass(frozen=True)
class InContact:
    """A robot in contact at a state, without the linear velocity of a floating base."""

    rows: Sequence[ContactRows]
    factor: Factor
    system: Multipliers
    admittance: LDL
    """The factors of G + mu, for the rows of all limbs."""
    still: State
    """The state, with the accelerations a, and with the contact forces as external forces."""
    forces: Sequence[Scalar]

    @classmethod
    def at(cls, reduced: ReducedModel, x: State, *, anchored: bool) -> InContact:
        """Solve for a and lambda. With `anchored`, the contacts are anchored."""
        model, naming, lanes = reduced.model, x.naming, x.lanes
        factor = Factor(*inverse_factor(reduced, x), lanes, lanes.freedoms(reduced.bodies))
        still = replace(x, v=without_base_translation(model, x.v), a=[0] * reduced.nv)
        rows = turning_rows(reduced, still)
        felt = Solver(model).felt
        J = [row for own in rows for row in own.jacobian(reduced.nv)]
        carried = [factor.to_base(row, of_one_limb=True) for row in J]
        y = [{k: naming(f"y[{i},{k}]", row[k]) for k in felt[i]} for i, row in enumerate(carried)]
        of_limbs = RowLanes.of(model.contacts, lanes, factor.inside)
        system = Multipliers(y, factor.inverse_diagonal, of_limbs)
        admittance = system.factored(softness(model.contacts, x), naming)
        bias = straight(reduced, still).run(*inverse_dynamics())["tau"]
        rates = factor.half(list(map(sub, less(model, x), bias)))
        wanted = [neg(value) for own in rows for value in own.acceleration(still.v, still.a)]
        if anchored:
            pulls = [value for own, anchor in with_anchors(rows, x) for value in own.pull(x, anchor)]
            wanted = list(map(sub, wanted, pulls))
        forces = system.forces(admittance, wanted, rates, naming)
        a = named(factor.other_half(system.pushed(forces, rates)), naming, "a")
        held, rest = [NO_FORCE] * model.nbodies, iter(forces)
        for own in rows:
            held[own.contact.first.body] += own.force([next(rest) for _ in range(own.contact.rows)])
        return cls(rows, factor, system, admittance, replace(still, a=a, fext=held), forces)


def prepare(
    reduced: ReducedModel, x: State, columns: Sequence[int], *, anchored: bool, values: bool
) -> Arrays:
    """Compute the quantities that do not depend on the column, and h, -dc and the turned forces of these
    columns; h of all columns of tau. With `values`, a and lambda are among the quantities.
    """
    model, solver, s = reduced.model, Solver(reduced.model), InContact.at(reduced, x, anchored=anchored)
    factor, system = s.factor, s.system
    given = {
        "W": [row[j] for row, above in zip(factor.W, reduced.ancestors, strict=True) for j in above],
        "h_tau": [
            mul(row.get(i, 0), inverse)
            for i, inverse in enumerate(factor.inverse_diagonal)
            for row in factor.W
        ],
        "y": [row[k] for row, dofs in zip(system.y, solver.felt, strict=True) for k in dofs],
        "Y": [row[k] for row, dofs in zip(system.scaled, solver.felt, strict=True) for k in dofs],
        "W_G": [row[j] for i, row in enumerate(unit_lower_inverse(s.admittance)) for j in range(i)],
        "inverse_D_G": s.admittance.inverse_diagonal,
        "R": rotations(s.rows),
    }
    if values:
        given["a"] = from_classical(model, x.v, s.still.a)
        given["forces"] = solver.to_world(given, s.forces)
    right = row_columns(reduced, s.rows, s.forces, s.still)
    if anchored:
        add_pulls(right, reduced, s.rows, x)
    found = {name: [row[k] for row in matrix for k in columns] for name, matrix in right.items()}
    for u, rows in torque_derivatives(reduced, s, x).items():
        minus = ([neg(row[k]) for row in rows] for k in columns)
        h = [factor.half(b, of_one_limb=k in factor.inside) for k, b in zip(columns, minus, strict=True)]
        found[f"h_{u}"] = [value for row in transposed(h) for value in row]
    return given | found


def torque_derivatives(reduced: ReducedModel, s: InContact, x: State) -> dict[str, Rows]:
    """dID/dq and dID/dv at these accelerations and forces, by the letter q or v."""
    found = straight(reduced, s.still).run(*derivatives_in_own_axes(external=True))
    rest, lanes, inside = iter(s.forces), x.lanes, s.factor.inside
    for k, own in enumerate(s.rows):
        of_limbs = len(lanes.contacts[k]) > 1 if lanes.contacts else False
        part = own.torque_derivatives([next(rest) for _ in range(own.contact.rows)], reduced.nv)
        for i, (row, others) in enumerate(zip(found["dtau_dq"], part, strict=True)):
            for j, value in enumerate(others):
                handed = of_limbs and not is_zero(value) and inside.isdisjoint((i, j))
                row[j] = sub(row[j], lanes.join(value) if handed else value)
    resistance, linear = slopes(reduced.model, x), KnownColumns(reduced).known["v"]
    add_to_diagonal(found["dtau_dq"], resistance.by_q)
    add_to_diagonal(found["dtau_dv"], resistance.by_v)
    by_v = [[0 if k in linear else value for k, value in enumerate(row)] for row in found["dtau_dv"]]
    return {"q": found["dtau_dq"], "v": by_v}
