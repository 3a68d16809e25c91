"""Damping, friction, springs and rotors, added to what functions give: a text for every form.

Every term acts on one degree of freedom and reads nothing but its own q, v and a, so that it is added to the
outputs of a form, or taken from the torques that it is given, whatever its algorithm. Rotors also enter
factors of M, which `body.armature` serves where they are made. The terms are those of
`model/joints/resistance.py`; a function's row of the table names them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from typing import Any, NamedTuple

from rbdgen.access import Access
from rbdgen.model.joints import Resistance
from rbdgen.model.model import Model
from rbdgen.model.reduce import ReducedModel
from rbdgen.spatial.scalar import Scalar, add, is_zero, mul, neg, sub
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.loops import Arrays, FormLoop, LoopedForm
from rbdgen.sweeps.tables import Rows


class Motion(NamedTuple):
    """How one degree of freedom moves, and the engine's functions."""

    q: Scalar
    v: Scalar
    a: Scalar
    sqrt: Callable[[Scalar], Scalar]
    sign: Callable[[Scalar], Scalar]


Term = Callable[[Resistance, Motion], Scalar]


def torque(joint: Resistance, x: Motion) -> Scalar:
    """d v + f s(v) + k (q - q0)."""
    return add(add(mul(joint.damping, x.v), mul(joint.friction, direction(joint, x))), spring(joint, x))


def direction(joint: Resistance, x: Motion) -> Scalar:
    """s(v): the sign of v, or v / sqrt(v^2 + e^2)."""
    if is_zero(joint.friction) or is_zero(x.v):
        return 0
    return x.sign(x.v) if is_zero(joint.smoothing) else mul(x.v, _steepness(joint, x))


def spring(joint: Resistance, x: Motion) -> Scalar:
    """k (q - q0)."""
    return 0 if is_zero(joint.stiffness) else mul(joint.stiffness, sub(x.q, joint.reference))


def rotor_torque(joint: Resistance, x: Motion) -> Scalar:
    """A a."""
    return mul(joint.armature, x.a)


def by_position(joint: Resistance, x: Motion) -> Scalar:
    """The torque's derivative by q, k."""
    return joint.stiffness


def by_velocity(joint: Resistance, x: Motion) -> Scalar:
    """The torque's derivative by v, d + f s'(v): s' is 0 of the sign, else e^2 / sqrt(v^2 + e^2)^3."""
    if is_zero(joint.friction) or is_zero(joint.smoothing):
        return joint.damping
    r = _steepness(joint, x)
    return add(joint.damping, mul(mul(joint.friction, mul(joint.smoothing, joint.smoothing)), r * r * r))


def by_acceleration(joint: Resistance, x: Motion) -> Scalar:
    """A."""
    return joint.armature


def rotor_energy(joint: Resistance, x: Motion) -> Scalar:
    """A v^2 / 2."""
    return 0 if is_zero(joint.armature) else mul(joint.armature / 2, x.v * x.v)


def spring_energy(joint: Resistance, x: Motion) -> Scalar:
    """k (q - q0)^2 / 2."""
    if is_zero(joint.stiffness):
        return 0
    stretch = sub(x.q, joint.reference)
    return mul(joint.stiffness / 2, stretch * stretch)


def _steepness(joint: Resistance, x: Motion) -> Scalar:
    """1 / sqrt(v^2 + e^2)."""
    return 1 / x.sqrt(x.v * x.v + mul(joint.smoothing, joint.smoothing))


@dataclass(frozen=True)
class Added:
    """What is added to an array, a number for a degree of freedom: to its element of a vector, to the
    diagonal of a matrix, to a number.

    `reads`: which of q, v and a the term may read; `array`: an output, or `tau`, from which it is taken.
    """

    array: str
    term: Term
    reads: str = ""

    def place(self, size: int, nv: int, k: int) -> int:
        """Where the element of degree of freedom k is, of so many."""
        return {nv: k, nv * nv: k * (nv + 1)}.get(size, 0) if size > 1 else 0


def freedoms(model: Model) -> Iterator[tuple[int, int, Resistance]]:
    """Of every degree of freedom that resists: its place in q (of a joint of one), in v, and how."""
    for body in model.bodies:
        joint = body.joint
        if joint.resistance.acts:
            for k in range(joint.nv):
                yield joint.idx_q + min(k, joint.nq - 1), joint.idx_v + k, joint.resistance


def terms_of(model: Model, term: Term, x: State) -> list[Scalar]:
    """The term of every degree of freedom, 0 where nothing resists."""
    found: list[Scalar] = [0] * model.nv
    for at, k, joint in freedoms(model):
        v, a = (values[k] if values else 0 for values in (x.v, x.a))
        q = x.positions[at] if x.positions else 0
        found[k] = term(joint, Motion(q, v, a, x.sqrt, x.sign))
    return found


def less(model: Model, x: State) -> list[Scalar]:
    """tau less damping, friction and springs: what is left for bodies and rotors."""
    return [sub(tau, own) for tau, own in zip(x.tau, terms_of(model, torque, x), strict=True)]


class Slopes(NamedTuple):
    """The derivatives of the torques that resist, by q and by v, one number a degree of freedom."""

    by_q: Sequence[Scalar]
    by_v: Sequence[Scalar]


def slopes(model: Model, x: State) -> Slopes:
    """At a state; 0 where nothing resists."""
    return Slopes(terms_of(model, by_position, x), terms_of(model, by_velocity, x))


def add_to_diagonal(matrix: Sequence[list[Scalar]], values: Sequence[Scalar]) -> None:
    """M + diag(values), in place."""
    for k, value in enumerate(values):
        matrix[k][k] = add(matrix[k][k], value)


# ---- every form of a function


def with_added(model: Model, parts: Sequence[Added], outputs: Mapping[str, list[Scalar]], x: State) -> None:
    """Add to the elements of outputs, in place."""
    for part in parts:
        elements = outputs[part.array]
        for k, value in enumerate(terms_of(model, part.term, x)):
            place = part.place(len(elements), model.nv, k)
            elements[place] = add(elements[place], value)


def loops_with_added(reduced: ReducedModel, form: LoopedForm, parts: Sequence[Added]) -> LoopedForm:
    """The loops, then one for every part and kind of friction."""
    loops, tables = list(form.loops), dict(form.tables)
    chosen = list(freedoms(reduced.model))
    for part in parts:
        for loop, rows in _loops(part, chosen, reduced.nv, form.outputs | form.scratch):
            loops.append(loop)
            tables |= rows
    return replace(form, loops=tuple(loops), tables=tables)


def loops_with_less(reduced: ReducedModel, form: LoopedForm) -> LoopedForm:
    """First the torques less what resists, in a scratch array that the loops then read in place of tau."""
    chosen = {k: (at, k, joint) for at, k, joint in freedoms(reduced.model)}
    every = [chosen.get(k, (0, k, Resistance())) for k in range(reduced.nv)]
    part = Added("tau", lambda joint, x: neg(torque(joint, x)), "qv")
    first = list(_loops(part, every, reduced.nv, {"tau": reduced.nv}, "applied"))
    moved = (
        replace(
            loop,
            reads={
                name: replace(at, array="applied") if at.array == "tau" else at
                for name, at in loop.reads.items()
            },
        )
        for loop in form.loops
    )
    return replace(
        form,
        loops=(*(loop for loop, _ in first), *moved),
        scratch={**form.scratch, "applied": reduced.nv},
        tables=form.tables | {name: rows for _, tables in first for name, rows in tables.items()},
    )


def _loops(
    part: Added,
    chosen: Sequence[tuple[int, int, Resistance]],
    nv: int,
    sizes: Mapping[str, int],
    to: str | None = None,
) -> Iterator[tuple[FormLoop, dict[str, tuple[float, ...]]]]:
    """Loops over degrees of freedom that add a part, or write the sum elsewhere, and the table they read.

    Friction of the two kinds takes different operations, so that each has its loop.
    """
    for smooth in (False, True):
        own = [freedom for freedom in chosen if smooth == (not is_zero(freedom[2].smoothing))]
        if not own:
            continue
        rows = Rows(
            f"resistances_{part.array}{'_smooth' if smooth else ''}",
            tuple(astuple(joint) for _, _, joint in own),
        )
        yield _loop(part, own, rows, nv, sizes, to), {rows.name: rows.values} if rows.varying else {}


def _loop(
    part: Added,
    own: Sequence[tuple[int, int, Resistance]],
    rows: Rows,
    nv: int,
    sizes: Mapping[str, int],
    to: str | None,
) -> FormLoop:
    places = tuple(part.place(sizes[part.array], nv, k) for _, k, _ in own)
    reads = {name: Access(name, (0,), tuple(k for _, k, _ in own)) for name in part.reads if name != "q"}
    if "q" in part.reads and any(not is_zero(joint.stiffness) for _, _, joint in own):
        reads["q"] = Access("q", (0,), tuple(at for at, _, _ in own))

    def trace(x: State) -> Arrays:
        joint = Resistance(*rows.complete(x.arrays.get("resistance", ())))
        q, v, a = (x.arrays[name][0] if name in x.arrays else 0 for name in "qva")
        value = part.term(joint, Motion(q, v, a, x.sqrt, x.sign))
        return {"sum": [add(x.arrays["before"][0], value)]}

    return FormLoop(
        "resistance",
        trace,
        {"sum": Access(to or part.array, (0,), places)},
        {
            **reads,
            "before": Access(part.array, (0,), places),
            **({"resistance": rows.place(range(len(own)))} if rows.varying else {}),
        },
        count=len(own),
    )


def model_of(robot: Any) -> Model:
    """The model of what a form is traced on."""
    return robot if isinstance(robot, Model) else robot.model
