"""Loops over all bodies of a robot on which some joints follow others (mimic joints).

The loops over bodies know nothing of such joints: they read q, v and a of all joints, and write outputs of
all degrees of freedom. Let v_all = G v, where v has the velocities of the joints that follow no other. Short
loops before those over bodies spread each input: they compute q, v or a of all joints, such as G v, in a
longer scratch array. Short loops after them fold each output: they compute G^T tau_all or G^T M_all G from
scratch arrays.
"""

from __future__ import annotations

from rbdgen.access import element
from rbdgen.model.model import Model
from rbdgen.signature import Kind, SizedSignature
from rbdgen.spatial.scalar import add, mul
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.loops import Arrays, FormLoop, LoopedForm, cleared

SPREAD: tuple[Kind, ...] = ("configuration", "velocity", "acceleration")
"""The kinds of inputs that have an element for every joint, and therefore are spread."""


def coupled(form: LoopedForm, model: Model, signature: SizedSignature) -> LoopedForm:
    """The loops on the function's own arrays, made from loops on the degrees of freedom of all joints."""
    read = {access.array for loop in form.loops for access in loop.reads.values()}
    spread = {x.name: x.kind for x in signature.inputs if x.kind in SPREAD and x.name in read}
    folded = {x.name: x.kind for x in signature.outputs if x.kind in ("force", "matrix")}
    longer = {name: f"all_{name}" for name in (*spread, *folded)}
    folds = [loop for name, kind in folded.items() for loop in _folding(name, longer[name], kind, model)]
    multiples = {name: f"{name}_multiples" for name in spread}
    tables = {table: _multiples(model, spread[name]) for name, table in multiples.items()}
    tables |= {f"{name}_weights": _weights(model, kind) for name, kind in folded.items()}
    spreads = [_spreading(name, longer[name], kind, model) for name, kind in spread.items()]
    return LoopedForm(
        (*spreads, *form.renamed(longer).loops, *folds),
        {x.name: x.size for x in signature.outputs},
        {
            **form.scratch,
            **{
                longer[name]: model.nq if kind == "configuration" else model.nv
                for name, kind in spread.items()
            },
            **{longer[name]: form.outputs[name] for name in folded},
        },
        {**form.tables, **tables},
    )


def _sources(model: Model, kind: Kind) -> list[tuple[int, float]]:
    """For every element of a longer array, the element of the function's array that it follows and the
    multiplier.
    """
    found: dict[int, tuple[int, float]] = {}
    for body in model.bodies:
        joint, follows = body.joint, body.joint.follows
        first, count = (joint.idx_q, joint.nq) if kind == "configuration" else (joint.idx_v, joint.nv)
        for k in range(first, first + count):
            found[k] = (k, 1.0)
        if follows is not None:
            primary = follows.idx_q if kind == "configuration" else follows.idx_v
            found[first] = (primary, float(follows.multiplier))
    return [found[k] for k in range(len(found))]


def _multiples(model: Model, kind: Kind) -> tuple[float, ...]:
    return tuple(multiple for _, multiple in _sources(model, kind))


def _spreading(name: str, longer: str, kind: Kind, model: Model) -> FormLoop:
    """The loop that computes G times an input."""
    sources, table = _sources(model, kind), f"{name}_multiples"

    def trace(x: State) -> Arrays:
        return {"spread": [mul(x.arrays["multiple"][0], x.arrays["own"][0])]}

    every = tuple(range(len(sources)))
    return FormLoop(
        f"spread_{name}",
        trace,
        {"spread": element(longer, every)},
        {"own": element(name, tuple(k for k, _ in sources)), "multiple": element(table, every)},
        count=len(sources),
    )


def _places(model: Model, kind: Kind) -> list[tuple[int, float]]:
    """For every element of a longer output, the element of the function's output to which it is added, and
    its weight.
    """
    rows = _sources(model, "velocity")
    if kind == "force":
        return rows
    n = model.coupling.independent
    return [(n * i + j, k * m) for i, k in rows for j, m in rows]


def _weights(model: Model, kind: Kind) -> tuple[float, ...]:
    return tuple(weight for _, weight in _places(model, kind))


def _folding(name: str, longer: str, kind: Kind, model: Model) -> list[FormLoop]:
    """The loops that compute G^T tau for a vector, or G^T M G for a matrix."""
    places = _places(model, kind)
    where, every = tuple(place for place, _ in places), tuple(range(len(places)))

    def trace(x: State) -> Arrays:
        (before,), (weight,), (own,) = (x.arrays[array] for array in ("before", "weight", "own"))
        return {"sum": [add(before, mul(weight, own))]}

    return [
        cleared(element(name, range(1 + max(where)))),
        FormLoop(
            f"fold_{name}",
            trace,
            {"sum": element(name, where)},
            {
                "before": element(name, where),
                "weight": element(f"{name}_weights", every),
                "own": element(longer, every),
            },
            count=len(places),
        ),
    ]
