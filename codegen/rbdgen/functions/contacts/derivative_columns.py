"""Derivatives of forward dynamics in contact, solved column by column.

All quantities are in the axes of the contacts' links. In these axes the rows of a contact, its force, and the
external forces in the derivatives of inverse dynamics turn with the body, so they do not change with the
orientation of the body. Let u be one of q (in the tangent space), v and tau, dID the derivative of inverse
dynamics with respect to u at fixed a and lambda, and dc that of c = J a + drift at fixed a. Then

    t = W^T b,  dlambda = C (-dc - Y t),  da = W (D^-1 t + Y^T dlambda),     b = dtau - dID

where M = L^T D L (Featherstone 2008, section 6.5), W = L^-1, Y = J W D^-1 and G = J M^-1 J^T. C = (G + mu)^-1
is applied as a product of triangular and diagonal factors, too. In world axes the force also turns with its
link, and its derivative is R (dlambda + s x lambda), where s is the angular part of the column of J. The
system that is solved here is that of Carpentier, Budhiraja and Mansard, RSS 2021.

First, straight-line code computes the quantities that do not depend on the column. Then the same sparse
products run for every column, so that neighbouring columns can be the lanes of a vector. The unknown of a
floating base is its classical acceleration, which does not depend on its linear velocity (see
`derivatives/known_columns.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from rbdgen.access import Access, MatrixView, column, whole
from rbdgen.functions.contacts.row_derivatives import ContactRows
from rbdgen.functions.contacts.system import System, torque_derivatives, with_anchors
from rbdgen.functions.derivatives.columns import (
    by_rows,
    limbs,
    related_dofs,
    solved,
    transposed_times,
    without,
)
from rbdgen.functions.derivatives.forward import from_classical
from rbdgen.functions.derivatives.known_columns import KNOWN_BY_V, KnownColumns
from rbdgen.functions.inertia_matrix.inverse import unit_lower_inverse
from rbdgen.model.contacts import Contact
from rbdgen.model.model import Model
from rbdgen.model.reduce import ReducedModel
from rbdgen.spatial.ops import Matrix, Vector
from rbdgen.spatial.rows import Rows
from rbdgen.spatial.scalar import Scalar, add, dot, mul, neg, sub
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.loops import Arrays, FormLoop, LoopedForm

ZEROS: Final = "zeros"
"""The name of a table of zeros. A loop reads from it the columns that are zero."""


def contact_aba_derivatives_columns(
    reduced: ReducedModel, *, anchored: bool = False, values: bool = False
) -> LoopedForm:
    """The loops for da_dq, da_dv, da_dtau (nv, nv) and dlambda_dq, dlambda_dv, dlambda_dtau (nc, nv). With
    `values`, a (nv) and lambda (nc) come first.

    Inputs are q, v, tau, active, mu and, if contacts are `anchored`, gains and anchor.
    """
    model, known = reduced.model, known_columns(reduced, anchored=anchored)
    nv, nc, count = model.coupling.independent, model.sizes["nc"], len(model.contacts)
    columns = known.unknown["v"]
    solver = Solver(model)
    solved_for = {"a": nv, "forces": nc} if values else {}
    arrays = {name: access for name, access in solver.shared.items() if name != "W"}
    arrays |= solver.blocks(columns) | {"transposed_W": whole("transposed_W", nv * nv)}
    arrays |= {name: whole(name, size) for name, size in solved_for.items()}
    prepared = partial(prepare, reduced, columns=columns, anchored=anchored, values=values)
    loops = (
        first_loop("prepare", model, known, prepared, arrays, anchored=anchored),
        solver.loop("q", solver.solve, {"b": "b_q", "c": "c_q", "turned": "turned"}, columns),
        solver.loop("v", solver.solve, {"b": "b_v", "c": "c_v", "turned": ZEROS}, columns),
        solver.loop("tau", solver.invert, {"t": "transposed_W"}, range(nv)),
    )
    scratch = {
        **dict.fromkeys(("transposed_W", "b_q", "b_v"), nv * nv),
        **dict.fromkeys(("c_q", "c_v", "turned", "Y"), nc * nv),
        **{name: len(solver.shared[name].elements) for name in ("inverse_D", "W_G", "inverse_D_G")},
        "R": 9 * count,
    }
    outputs = solved_for | dict.fromkeys(("da_dq", "da_dv", "da_dtau"), nv * nv)
    outputs |= dict.fromkeys(("dlambda_dq", "dlambda_dv", "dlambda_dtau"), nc * nv)
    return LoopedForm((*loops, *known.shifts()), outputs, scratch, solver.tables)


def first_loop(
    name: str,
    model: Model,
    known: KnownColumns,
    prepared: Callable[[State], Arrays],
    arrays: Mapping[str, Access],
    *,
    anchored: bool,
) -> FormLoop:
    """The straight line that runs before the loops over columns. It computes the `arrays` that these loops
    read, by the function `prepared`, and the columns that are known.
    """
    unfelt_places, zeros = unfelt(known, model.sizes["nc"])
    reads = {"active": whole("active", len(model.contacts)), "mu": whole("mu", 1)}
    if anchored:
        reads |= {"gains": whole("gains", 2), "anchor": whole("anchor", model.sizes["nanchor"])}
    return FormLoop(
        name,
        lambda x: {**prepared(x), **known.values(x), **zeros},
        inputs=("q", "v", "tau"),
        reads=reads,
        writes={**arrays, **known.writes, **unfelt_places},
    )


def known_columns(reduced: ReducedModel, *, anchored: bool) -> KnownColumns:
    """The columns that need no solve: derivatives by the position and by the linear velocity of floating
    bases.

    Anchored contacts react to both, so there are no such columns then. The attitude changes gravity, to which
    all contacts react, so its columns always need a solve.
    """
    return KnownColumns(reduced, 0, 0) if anchored else KnownColumns(reduced, KNOWN_BY_V, KNOWN_BY_V)


def unfelt(known: KnownColumns, nc: int) -> tuple[dict[str, Access], Arrays]:
    """The places of the known columns in the derivatives of the forces, and the values of these columns,
    which are 0.
    """
    places = {
        f"unfelt_{u}": MatrixView(f"dlambda_d{u}", known.nv).block(range(nc), columns)
        for u, columns in known.known.items()
        if columns
    }
    return places, {name: [0] * len(access.elements) for name, access in places.items()}


class Solver:
    """Solves for a column of the whole system, from the results of `prepare`.

    `shared` gives the places of the arrays that all columns read. `rows` gives the number of rows of each
    matrix of columns, and `zeros` the elements that are 0 in each of its columns. For every row of a contact,
    `felt` lists the degrees of freedom at which its row of J L^-1 may be nonzero. The force also turns with
    its link, but only if q changes. In other columns, `turned` is read from a matrix of zeros in `tables`.
    The loops over all columns then share their compiled code, which would take time to fetch again.
    """

    def __init__(self, model: Model) -> None:
        nv, nc = model.coupling.independent, model.sizes["nc"]
        self.nv, self.nc, self.contacts = nv, nc, model.contacts
        self.ancestors, self.before = model.elimination.ancestors, [tuple(range(i)) for i in range(nc)]
        moving = [dofs for contact in model.contacts for dofs in [moving_dofs(model, contact)] * contact.rows]
        self.felt = [sorted(dofs.union(*(self.ancestors[k] for k in dofs))) for dofs in moving]
        self.rows = {"b_q": nv, "b_v": nv, "c_q": nc, "c_v": nc, "turned": nc, "transposed_W": nv}
        related = related_dofs(self.ancestors)
        unrelated = [without(nv, dofs) for dofs in related]
        unmoved = [tuple(a for a, dofs in enumerate(moving) if k not in dofs) for k in range(nv)]
        self.zeros = dict.fromkeys(("c_q", "c_v", "turned"), unmoved)
        self.zeros |= dict.fromkeys(("b_q", "b_v"), unrelated)
        self.zeros[ZEROS] = [tuple(range(nc))] * nv
        self.tables = {ZEROS: (0.0,) * (nc * nv)}
        self.zeros["transposed_W"] = [without(nv, dofs) for dofs in limbs(self.ancestors, related)]
        below = ((j, i) for i, above in enumerate(self.ancestors) for j in above)
        self.shared = {
            "W": MatrixView("transposed_W", nv).entries(below),
            "inverse_D": whole("inverse_D", nv),
            "Y": MatrixView("Y", nv).entries((a, k) for a, dofs in enumerate(self.felt) for k in dofs),
            "W_G": whole("W_G", nc * (nc - 1) // 2),
            "inverse_D_G": whole("inverse_D_G", nc),
            "R": MatrixView("R", 9).block(
                [k for k, contact in enumerate(model.contacts) if contact.second is None], range(9)
            ),
        }

    def blocks(self, columns: Sequence[int]) -> dict[str, Access]:
        """The places of these columns in all matrices of columns."""
        return {name: MatrixView(name, self.nv).block(range(n), columns) for name, n in self.rows.items()}

    def loop(
        self,
        u: str,
        trace: Callable[[Arrays], Arrays],
        read: Mapping[str, str],
        columns: Sequence[int],
    ) -> FormLoop:
        """The loop over columns of both outputs for u, one of q, v and tau. `read` gives the matrix of each
        column that is read.
        """
        nv, nc = self.nv, self.nc
        matrices = {
            name: column(array, self.rows.get(array, nc), nv, columns) for name, array in read.items()
        }
        return FormLoop(
            trace.__name__,
            lambda x: trace(x.arrays),
            reads={**self.shared, **matrices},
            writes={"x": column(f"da_d{u}", nv, nv, columns), "l": column(f"dlambda_d{u}", nc, nv, columns)},
            count=len(columns),
            zeros={name: tuple(self.zeros[array][k] for k in columns) for name, array in read.items()},
        )

    def solve(self, x: Arrays) -> Arrays:
        """A column of the derivatives with respect to q or v."""
        t = transposed_times(by_rows(self.ancestors, x["W"]), x["b"])
        return self.turned(x, self.column(x, t, x["c"]))

    def invert(self, x: Arrays) -> Arrays:
        """A column of the derivatives with respect to tau. W^T times a unit vector is a row of W."""
        found = self.column(x, x["t"], [0] * len(self.felt))
        return {"x": found["x"], "l": self.to_world(x, found["l"])}

    def turned(self, x: Arrays, found: Arrays) -> Arrays:
        """The column of both outputs in world axes."""
        forces = [add(own, turn) for own, turn in zip(found["l"], x["turned"], strict=True)]
        return {"x": found["x"], "l": self.to_world(x, forces)}

    def column(self, x: Arrays, t: Sequence[Scalar], c: Sequence[Scalar]) -> dict[str, list[Scalar]]:
        """The column of both outputs in the axes of the links, from the equations at the top of this file."""
        z = [mul(value, inverse) for value, inverse in zip(t, x["inverse_D"], strict=True)]
        return self.finished(x, z, self.missing(x["Y"], t, c))

    def missing(self, Y: Sequence[Scalar], t: Sequence[Scalar], c: Sequence[Scalar]) -> list[Scalar]:
        """c - Y t. The entries of Y are those at the degrees of freedom that every row feels."""
        rows = zip(c, self.by_felt(Y), strict=True)
        return [sub(own, dot(list(row.values()), [t[k] for k in row])) for own, row in rows]

    def by_felt(self, Y: Sequence[Scalar]) -> list[dict[int, Scalar]]:
        """The sparse rows of Y, made from their entries."""
        entries = iter(Y)
        return [{k: next(entries) for k in dofs} for dofs in self.felt]

    def finished(self, x: Arrays, z: Sequence[Scalar], missing: Sequence[Scalar]) -> dict[str, list[Scalar]]:
        """dlambda = C missing and da = W (z + Y^T dlambda)."""
        force, pushed = solved(by_rows(self.before, x["W_G"]), x["inverse_D_G"], missing), list(z)
        for row, pull in zip(self.by_felt(x["Y"]), force, strict=True):
            for k, value in row.items():
                pushed[k] = add(pushed[k], mul(value, pull))
        W = by_rows(self.ancestors, x["W"])
        return {"x": [dot(list(row.values()), [pushed[j] for j in row]) for row in W], "l": force}

    def to_world(self, x: Arrays, forces: Sequence[Scalar]) -> list[Scalar]:
        """Rotate the forces of contacts with the world from the axes of their links to world axes. Forces of
        closed loops are not changed.
        """
        rest, entries, found = iter(forces), iter(x["R"]), []
        for contact in self.contacts:
            parts = [Vector(*(next(rest) for _ in range(3))) for _ in range(contact.rows // 3)]
            if contact.second is None:
                R = Matrix(*(Vector(*(next(entries) for _ in range(3))) for _ in range(3)))
                parts = list(map(R.apply, parts))
            found += [value for part in parts for value in part]
        return found


def moving_dofs(model: Model, contact: Contact) -> set[int]:
    """The degrees of freedom that can move a contact."""
    groups = {i: g for g, members in enumerate(model.coupling.groups) for i, _ in members}
    root = model.seen_from(contact).body
    paths = (model.bodies[i].joint for end in contact.ends for i in model.path(root, end.body)[1])
    return {groups[k] for joint in paths for k in range(joint.idx_v, joint.idx_v + joint.nv)}


def prepare(
    reduced: ReducedModel, x: State, columns: Sequence[int], *, anchored: bool, values: bool
) -> Arrays:
    """Compute the quantities that do not depend on the column, and the right-hand sides of these columns.

    With `values`, a and lambda are among the quantities.
    """
    model, coupling = reduced.model, reduced.model.coupling
    s = System.of(reduced, x, anchored=anchored)
    b_q, b_v = torque_derivatives(reduced, s, x)
    linear = KnownColumns(reduced).known["v"]
    b_v = [[0 if k in linear else value for k, value in enumerate(row)] for row in b_v]
    given = {
        "transposed_W": [row.get(j, 0) for j in range(coupling.independent) for row in s.free.W],
        "inverse_D": s.free.factor.inverse_diagonal,
        "Y": [row[k] for row, dofs in zip(s.Y, Solver(model).felt, strict=True) for k in dofs],
        "W_G": [row[j] for i, row in enumerate(unit_lower_inverse(s.admittance)) for j in range(i)],
        "inverse_D_G": s.admittance.inverse_diagonal,
        "R": rotations(s.rows),
    }
    if values:
        given["a"] = from_classical(model, x.v, s.a)[: coupling.independent]
        given["forces"] = Solver(model).to_world(given, s.forces)
    right = row_columns(reduced, s.rows, s.forces, replace(x, v=s.free.v, a=s.a))
    if anchored:
        add_pulls(right, reduced, s.rows, x)
    right |= {name: [list(map(neg, row)) for row in m] for name, m in {"b_q": b_q, "b_v": b_v}.items()}
    return given | {name: [row[k] for row in matrix for k in columns] for name, matrix in right.items()}


def rotations(rows: Sequence[ContactRows]) -> list[Scalar]:
    """The rotation matrices of all contacts with the world, from the axes of their links to world axes."""
    poses = (own.pose for own in rows if own.contact.second is None)
    return [value for pose in poses for row in pose.rotation for value in row]


def row_columns(
    reduced: ReducedModel, rows: Sequence[ContactRows], forces: Sequence[Scalar], x: State
) -> dict[str, Rows]:
    """-dc/dq and -dc/dv, and the derivative of `forces` as their links turn, by the names of the arrays. The
    velocities and accelerations are those of `x`.
    """
    rest, found = iter(forces), dict[str, Rows](c_q=[], c_v=[], turned=[])
    linear = KnownColumns(reduced).known["v"]
    for own in rows:
        by_q, by_v = own.acceleration_derivatives(x.v, x.a)
        found["c_q"] += by_q
        found["c_v"] += [[0 if k in linear else value for k, value in enumerate(row)] for row in by_v]
        found["turned"] += own.turned([next(rest) for _ in range(own.contact.rows)], reduced.model.nv)
    folded = {name: list(map(reduced.model.coupling.folded, part)) for name, part in found.items()}
    minus = {name: [list(map(neg, row)) for row in folded[name]] for name in ("c_q", "c_v")}
    return folded | minus


def add_pulls(right: dict[str, Rows], reduced: ReducedModel, rows: Sequence[ContactRows], x: State) -> None:
    """Add the derivatives of the anchors' pulls to those of the rows, see `row_columns`."""
    pulls = [own.pull_derivatives(x, anchor) for own, anchor in with_anchors(rows, x)]
    for u, name in enumerate(("c_q", "c_v")):
        added = (reduced.model.coupling.folded(row) for pull in pulls for row in pull[u])
        right[name] = [list(map(sub, *pair)) for pair in zip(right[name], added, strict=True)]
