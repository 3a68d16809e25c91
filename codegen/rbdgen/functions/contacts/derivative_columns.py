"""Derivatives of forward dynamics in contact, solved column by column.

Everything is said in the axes of the contacts' links: there the rows of a contact, its force and the external
forces of the derivatives of inverse dynamics all turn with the body, so that nothing of them changes with q.
At a and lambda of the same point, u one of q, v (in the tangent space) and tau, with dID at these forces and
c = J a + drift at this a:

    t = W^T b,  dlambda = C (-dc - Y t),  da = W (D^-1 t + Y^T dlambda),     b = dtau - dID

where M = L^T D L (Featherstone 2008, section 6.5), W = L^-1, Y = J W D^-1 and C = (G + mu)^-1 with
G = J M^-1 J^T. In world axes the force also turns with its link: R (dlambda + s x lambda), s the angular
part of the column of J. Carpentier, Budhiraja and Mansard, RSS 2021, have the system that is solved here.

Loops: first all that does not depend on the column, then the same sparse products for every column; so
neighbouring columns can be the lanes of a vector. The unknown of a floating base is its classical
acceleration, in which its linear velocity does not appear (see `derivatives/factored.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rbdgen.access import Access, column, whole
from rbdgen.functions.contacts.in_link_axes import LinkRows
from rbdgen.functions.contacts.row_derivatives import Rows
from rbdgen.functions.contacts.system import System, anchored, pull_derivatives, torque_derivatives
from rbdgen.functions.derivatives.columns import by_rows, shifted, transposed_times
from rbdgen.functions.derivatives.factored import (
    KNOWN_BY_V,
    floating_bases,
    known_columns,
)
from rbdgen.functions.derivatives.forward import add_base_velocity
from rbdgen.functions.function import flat
from rbdgen.model.model import Model
from rbdgen.model.reduce import ReducedModel
from rbdgen.spatial.ops import Matrix, Vector
from rbdgen.spatial.scalar import Scalar, add, dot, mul, neg, sub
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.loops import Arrays, FormLoop, LoopedForm


def contact_aba_derivatives_columns(reduced: ReducedModel, *, held: bool = False) -> LoopedForm:
    """The loops for outputs da_dq, da_dv, da_dtau (nv, nv) and dlambda_dq, dlambda_dv, dlambda_dtau (nc, nv)
    of inputs q, v, tau, active, mu and (`held`) gains, anchor."""
    model, bases = reduced.model, floating_bases(reduced)
    nv, nc, count = model.coupling.independent, model.sizes["nc"], len(model.contacts)
    still = [] if held else known_columns(bases, KNOWN_BY_V)
    anchored = {"gains": whole("gains", 2), "anchor": whole("anchor", model.sizes["nanchor"])}
    solved = [k for k in range(nv) if k not in still]
    solver = Solver(model)
    prepared = FormLoop(
        "prepare",
        lambda x: prepare(reduced, x, held=held),
        inputs=("q", "v", "tau"),
        reads={"active": whole("active", count), "mu": whole("mu", 1), **(anchored if held else {})},
        writes={
            **{name: access for name, access in solver.shared.items() if name != "W"},
            **{name: whole(name, nv * nv) for name in ("transposed_W", "b_q", "b_v")},
            **{name: whole(name, nc * nv) for name in ("c_q", "c_v", "turned")},
            **(of_bases(model, still) if still else {}),
            **({"shift": whole("shift", len(turning(nv, bases, still).elements))} if bases else {}),
        },
    )

    def solve(name: str, trace: Callable[[Arrays], Arrays], columns: Sequence[int], **read: int) -> FormLoop:
        """Columns of both outputs by q, v or tau; `read`: arrays of so many rows whose columns it takes."""
        return FormLoop(
            f"by_{name}",
            lambda x: trace(x.arrays),
            reads={**solver.shared, **{x: column(x, rows, nv, columns) for x, rows in read.items()}},
            writes={
                "x": column(f"da_d{name}", nv, nv, columns),
                "l": column(f"dlambda_d{name}", nc, nv, columns),
            },
            count=len(columns),
        )

    loops = (
        prepared,
        solve("q", solver.by_q, solved, b_q=nv, c_q=nc, turned=nc),
        solve("v", solver.by_v, solved, b_v=nv, c_v=nc),
        solve("tau", solver.by_tau, range(nv), transposed_W=nv),
    )
    scratch = {
        **dict.fromkeys(("transposed_W", "b_q", "b_v"), nv * nv),
        **dict.fromkeys(("c_q", "c_v", "turned", "Y"), nc * nv),
        **{"inverse_D": nv, "C": nc * nc, "R": len(solver.shared["R"].elements)},
    }
    outputs = dict.fromkeys(("da_dq", "da_dv", "da_dtau"), nv * nv)
    outputs |= dict.fromkeys(("dlambda_dq", "dlambda_dv", "dlambda_dtau"), nc * nv)
    if bases:
        entries = turning(nv, bases, still)
        shift = FormLoop(
            "shift",
            shifted,
            reads={"solved": entries, "shift": whole("shift", len(entries.elements))},
            writes={"sum": entries},
        )
        return LoopedForm((*loops, shift), outputs, {**scratch, "shift": len(entries.elements)})
    return LoopedForm(loops, outputs, scratch)


class Solver:
    """A column of the whole system, from what `prepare` gives; `shared`: where that lies."""

    def __init__(self, model: Model) -> None:
        nv, nc = model.coupling.independent, model.sizes["nc"]
        self.ancestors = model.elimination.ancestors
        self.felt = [
            dofs
            for contact, dofs in zip(model.contacts, felt(model), strict=True)
            for _ in range(contact.rows)
        ]
        below = (j * nv + i for i, above in enumerate(self.ancestors) for j in above)
        self.shared = {
            "W": Access("transposed_W", tuple(below)),
            "inverse_D": whole("inverse_D", nv),
            "Y": Access("Y", tuple(a * nv + k for a, dofs in enumerate(self.felt) for k in dofs)),
            "C": Access("C", tuple(i * nc + j for i in range(nc) for j in range(i + 1))),
            "R": whole("R", 9 * sum(contact.second is None for contact in model.contacts)),
        }
        self.contacts = model.contacts

    def by_q(self, x: Arrays) -> Arrays:
        """Its force also turns with its link."""
        solved = self.solved(x, transposed_times(by_rows(self.ancestors, x["W"]), x["b_q"]), x["c_q"])
        forces = [add(own, turn) for own, turn in zip(solved["l"], x["turned"], strict=True)]
        return {"x": solved["x"], "l": self.to_world(x, forces)}

    def by_v(self, x: Arrays) -> Arrays:
        solved = self.solved(x, transposed_times(by_rows(self.ancestors, x["W"]), x["b_v"]), x["c_v"])
        return {"x": solved["x"], "l": self.to_world(x, solved["l"])}

    def by_tau(self, x: Arrays) -> Arrays:
        """W^T times a unit vector is a row of W."""
        solved = self.solved(x, x["transposed_W"], [0] * len(self.felt))
        return {"x": solved["x"], "l": self.to_world(x, solved["l"])}

    def solved(self, x: Arrays, t: Sequence[Scalar], c: Sequence[Scalar]) -> dict[str, list[Scalar]]:
        """The column of both outputs, in the axes of the links: see the top."""
        entries = iter(x["Y"])
        Y = [{k: next(entries) for k in dofs} for dofs in self.felt]
        missing = [
            sub(own, dot(list(row.values()), [t[k] for k in row])) for own, row in zip(c, Y, strict=True)
        ]
        lower = iter(x["C"])
        C = mirrored_rows([[next(lower) for _ in range(i + 1)] for i in range(len(c))])
        force = [dot(row, missing) for row in C]
        z = [mul(value, inverse) for value, inverse in zip(t, x["inverse_D"], strict=True)]
        for row, pull in zip(Y, force, strict=True):
            for k, value in row.items():
                z[k] = add(z[k], mul(value, pull))
        return {
            "x": [dot(list(row.values()), [z[j] for j in row]) for row in by_rows(self.ancestors, x["W"])],
            "l": force,
        }

    def to_world(self, x: Arrays, forces: Sequence[Scalar]) -> list[Scalar]:
        """Forces with the world from their links' axes, those of loops as they are."""
        rest, entries, found = iter(forces), iter(x["R"]), []
        for contact in self.contacts:
            parts = [Vector(*(next(rest) for _ in range(3))) for _ in range(contact.rows // 3)]
            if contact.second is None:
                R = Matrix(*(Vector(*(next(entries) for _ in range(3))) for _ in range(3)))
                parts = list(map(R.apply, parts))
            found += [value for part in parts for value in part]
        return found


def mirrored_rows(lower: Sequence[Sequence[Scalar]]) -> Rows:
    """A symmetric matrix from its lower triangle."""
    n = range(len(lower))
    return [[lower[max(i, j)][min(i, j)] for j in n] for i in n]


def felt(model: Model) -> list[list[int]]:
    """For every contact the degrees of freedom in which its row of J L^-1 may be nonzero."""
    groups = {i: g for g, members in enumerate(model.coupling.groups) for i, _ in members}
    found = []
    for contact in model.contacts:
        root = model.seen_from(contact).body
        paths = (model.bodies[i].joint for end in contact.ends for i in model.path(root, end.body)[1])
        own = {groups[k] for joint in paths for k in range(joint.idx_v, joint.idx_v + joint.nv)}
        found.append(sorted(own | {above for k in own for above in model.elimination.ancestors[k]}))
    return found


def prepare(reduced: ReducedModel, x: State, *, held: bool) -> Arrays:
    """All that does not depend on the column."""
    model, coupling, nv = reduced.model, reduced.model.coupling, reduced.model.nv
    s = System.of(reduced, x, held=held)
    b_q, b_v = torque_derivatives(reduced, s, x)
    c_q, c_v, turned, R = [], [], [], []
    for own, forces in s.each():
        by_q, by_v = own.acceleration_derivatives(s.v, s.a)
        c_q += list(map(coupling.folded, by_q))
        c_v += list(map(coupling.folded, by_v))
        if isinstance(own, LinkRows):
            turned += list(map(coupling.folded, own.turned(forces, nv)))
            R += [value for row in own.rotation for value in row]
        else:
            turned += [[0] * coupling.independent for _ in by_q]
    unfelt = known_columns(floating_bases(reduced), KNOWN_BY_V)
    b_v, c_v = ([[0 if k in unfelt else x for k, x in enumerate(row)] for row in rows] for rows in (b_v, c_v))
    given = {
        "transposed_W": [row.get(j, 0) for j in range(coupling.independent) for row in s.W],
        "inverse_D": s.inverse_diagonal,
        "Y": [row[k] for row, dofs in zip(s.Y, Solver(model).felt, strict=True) for k in dofs],
        "C": [value for i, row in enumerate(s.C) for value in row[: i + 1]],
        "R": R,
        "b_q": list(map(neg, flat(b_q))),
        "b_v": list(map(neg, flat(b_v))),
        "c_q": list(map(neg, flat(c_q))),
        "c_v": list(map(neg, flat(c_v))),
        "turned": flat(turned),
    }
    if held:
        pulls = [pull_derivatives(own, anchor, x) for own, anchor in anchored(s.rows, x)]
        for u, name in enumerate(("c_q", "c_v")):
            rows = (coupling.folded(row) for pull in pulls for row in pull[u])
            given[name] = [sub(c, p) for c, p in zip(given[name], flat(list(rows)), strict=True)]
    if not (bases := floating_bases(reduced)):
        return given
    still = [] if held else known_columns(bases, KNOWN_BY_V)
    return {**given, **known_by_bases(reduced, bases, still, x.v)}


# ---- floating bases, whose linear velocity enters only through the linear acceleration of their own, and
# through contacts that are pulled


def of_bases(model: Model, still: Sequence[int]) -> dict[str, Access]:
    """Where the columns lie that need no solve, of their positions and linear velocities."""
    nv, nc = model.coupling.independent, model.sizes["nc"]

    def columns(array: str, rows: int) -> Access:
        return Access(array, tuple(i * nv + k for i in range(rows) for k in still))

    return {
        "known": columns("da_dv", nv),
        "unmoved": columns("da_dq", nv),
        **{f"unfelt_{u}": columns(f"dlambda_d{u}", nc) for u in "qv"},
    }


def turning(nv: int, bases: Sequence[int], still: Sequence[int]) -> Access:
    """The entries of floating bases' linear accelerations by their own velocities, but for columns that need
    no solve."""
    entries = ((own + i, own + k) for own in bases for i in range(3) for k in range(6))
    return Access("da_dv", tuple(i * nv + k for i, k in entries if k not in still))


def known_by_bases(
    reduced: ReducedModel, bases: Sequence[int], still: Sequence[int], v: Sequence[Scalar]
) -> Arrays:
    """The same entries."""
    model = reduced.model
    nv = model.coupling.independent
    da_dv: Rows = [[0] * nv for _ in range(nv)]
    for body in model.bodies:
        if body.floats:
            add_base_velocity(body.joint, v, da_dv)
    entries = flat(da_dv)
    shift = {"shift": [entries[k] for k in turning(nv, bases, still).elements]}
    if not still:
        return shift
    places = of_bases(model, still)
    zeros = {name: [0] * len(access.elements) for name, access in places.items()}
    return {**zeros, **shift, "known": [entries[k] for k in places["known"].elements]}
