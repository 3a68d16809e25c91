"""Damping, friction, springs and rotors, which are added to the outputs of functions. The terms and their
letters are those of `model/joints/resistance.py`.

Every term acts on one degree of freedom and reads only the q, v and a of this degree of freedom. It can
therefore be added to the outputs of a form, or subtracted from the input torques, for any algorithm. Rotors
also enter the factors of M, through `body.armature`. The row of a function lists the terms that the function
needs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from rbdgen.access import element
from rbdgen.model.joints import Resistance
from rbdgen.model.model import Model
from rbdgen.model.reduce import ReducedModel
from rbdgen.spatial.scalar import Scalar, add, is_zero, mul, neg, sub
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.looped_bodies import Rows
from rbdgen.sweeps.loops import Arrays, FormLoop, LoopedForm


class Motion(NamedTuple):
    """The motion of one degree of freedom, and the elementary functions of the scalars in use."""

    q: Scalar
    v: Scalar
    a: Scalar
    sqrt: Callable[[Scalar], Scalar]
    sign: Callable[[Scalar], Scalar]


@dataclass(frozen=True)
class Term:
    """A term of the resistance at one degree of freedom. Calling it returns the value of the term, which is a
    plain 0 if the term is absent.
    """

    name: str
    """The name of the table of its constants in loops."""
    value: Callable[[Resistance, Motion], Scalar]
    fields: tuple[str, ...]
    """The fields of `Resistance` that the term needs. The term is absent if all of them except those in
    `SHAPES` are 0.
    """
    reads: str = ""
    """The inputs that the term may need, as a text of the letters q, v and a."""

    def __call__(self, joint: Resistance, x: Motion) -> Scalar:
        return self.value(joint, x)

    def acts(self, joint: Resistance) -> bool:
        """Whether the term is present at this joint."""
        return not all(is_zero(getattr(joint, name)) for name in self.fields if name not in SHAPES)


SHAPES = ("smoothing", "reference")
"""The fields of `Resistance` that only change the effect of other fields and have no effect of their own."""


def _torque(joint: Resistance, x: Motion) -> Scalar:
    return add(add(mul(joint.damping, x.v), mul(joint.friction, _way(joint, x))), _spring(joint, x))


def _way(joint: Resistance, x: Motion) -> Scalar:
    """s(v): the sign of v, or v / sqrt(v^2 + e^2)."""
    if is_zero(joint.friction) or is_zero(x.v):
        return 0
    return x.sign(x.v) if is_zero(joint.smoothing) else mul(x.v, _steepness(joint, x))


def _spring(joint: Resistance, x: Motion) -> Scalar:
    return 0 if is_zero(joint.stiffness) else mul(joint.stiffness, sub(x.q, joint.reference))


def _by_velocity(joint: Resistance, x: Motion) -> Scalar:
    """d + f s'(v), where s'(v) is 0 for the sign, and otherwise e^2 / sqrt(v^2 + e^2)^3."""
    if is_zero(joint.friction) or is_zero(joint.smoothing):
        return joint.damping
    r = _steepness(joint, x)
    return add(joint.damping, mul(mul(joint.friction, mul(joint.smoothing, joint.smoothing)), r * r * r))


def _by_velocity_twice(joint: Resistance, x: Motion) -> Scalar:
    """f s''(v), where s''(v) = -3 e^2 v / sqrt(v^2 + e^2)^5."""
    if is_zero(joint.friction) or is_zero(joint.smoothing):
        return 0
    r = _steepness(joint, x)
    return mul(mul(-3 * joint.friction, mul(joint.smoothing, joint.smoothing)), x.v * r * (r * r) * (r * r))


def _rotor_energy(joint: Resistance, x: Motion) -> Scalar:
    return 0 if is_zero(joint.armature) else mul(joint.armature / 2, x.v * x.v)


def _spring_energy(joint: Resistance, x: Motion) -> Scalar:
    if is_zero(joint.stiffness):
        return 0
    stretch = sub(x.q, joint.reference)
    return mul(joint.stiffness / 2, stretch * stretch)


def _steepness(joint: Resistance, x: Motion) -> Scalar:
    """1 / sqrt(v^2 + e^2)."""
    return 1 / x.sqrt(x.v * x.v + mul(joint.smoothing, joint.smoothing))


_LOSSES = ("damping", "friction", "smoothing")

torque = Term("torques", _torque, (*_LOSSES, "stiffness", "reference"), "qv")
"""d v + f s(v) + k (q - q0)."""

spring = Term("springs", _spring, ("stiffness", "reference"), "q")
"""k (q - q0)."""

rotor_torque = Term("rotors", lambda joint, x: mul(joint.armature, x.a), ("armature",), "a")
"""A a."""

against = Term("against", lambda joint, x: neg(_torque(joint, x)), torque.fields, torque.reads)
"""-(d v + f s(v) + k (q - q0))."""

rotor_momentum = Term("momenta", lambda joint, x: mul(joint.armature, x.v), ("armature",), "v")
"""A v."""

by_position = Term("stiffness", lambda joint, _: joint.stiffness, ("stiffness",))
"""The derivative of the torque with respect to q: k."""

by_velocity = Term("slopes", _by_velocity, _LOSSES, "v")
"""The derivative of the torque with respect to v: d + f s'(v)."""

by_velocity_twice = Term("bends", _by_velocity_twice, _LOSSES, "v")
"""The second derivative of the torque with respect to v: f s''(v)."""

by_acceleration = Term("armature", lambda joint, _: joint.armature, ("armature",))
"""The derivative of the rotor torque with respect to a: A."""

rotor_energy = Term("rotors", _rotor_energy, ("armature",), "v")
"""A v^2 / 2."""

spring_energy = Term("springs", _spring_energy, ("stiffness", "reference"), "q")
"""k (q - q0)^2 / 2."""


@dataclass(frozen=True)
class Added:
    """A term that is added to the elements of a vector, to the diagonal of a matrix or to a single number."""

    array: str
    """The name of the output to which the term is added, or `tau`, from which it is subtracted."""
    term: Term

    def place(self, size: int, nv: int, k: int) -> int:
        """The index of the element for degree of freedom k, in an array of this size."""
        return {nv: k, nv * nv: k * (nv + 1)}.get(size, 0)


class Freedom(NamedTuple):
    """A degree of freedom: its index in q (valid only if the joint has no other), its index in v, and the
    resistance of the joint.
    """

    q: int
    v: int
    joint: Resistance


def freedoms(model: Model) -> Iterator[Freedom]:
    """The degrees of freedom with resistance."""
    for body in model.bodies:
        joint = body.joint
        if joint.resistance.acts:
            for k in range(joint.nv):
                yield Freedom(joint.idx_q, joint.idx_v + k, joint.resistance)


def terms_of(model: Model, term: Term, x: State) -> list[Scalar]:
    """The value of the term for every degree of freedom; 0 for those without resistance."""
    found: list[Scalar] = [0] * model.nv
    for at, k, joint in freedoms(model):
        v, a = (values[k] if values else 0 for values in (x.v, x.a))
        q = x.positions[at] if x.positions else 0
        found[k] = term(joint, Motion(q, v, a, x.sqrt, x.sign))
    return found


def less(model: Model, x: State) -> list[Scalar]:
    """tau minus damping, friction and springs: the torque that is left for bodies and rotors."""
    against = model.coupling.folded(terms_of(model, torque, x))
    return [sub(tau, own) for tau, own in zip(x.tau, against, strict=True)]


class Slopes(NamedTuple):
    """The derivatives of the resisting torques with respect to q and v, one number per degree of freedom."""

    by_q: Sequence[Scalar]
    by_v: Sequence[Scalar]


def slopes(model: Model, x: State) -> Slopes:
    """The slopes at a state. They are 0 for degrees of freedom without resistance."""
    return Slopes(terms_of(model, by_position, x), terms_of(model, by_velocity, x))


def add_to_diagonal(matrix: Sequence[list[Scalar]], values: Sequence[Scalar]) -> None:
    """Add diag(values) to a matrix, in place."""
    for k, value in enumerate(values):
        matrix[k][k] = add(matrix[k][k], value)


# ---- every form of a function


def with_added(model: Model, parts: Sequence[Added], outputs: Mapping[str, list[Scalar]], x: State) -> None:
    """Add the terms to the outputs, in place."""
    for part in parts:
        elements = outputs[part.array]
        for k, value in enumerate(terms_of(model, part.term, x)):
            place = part.place(len(elements), model.nv, k)
            elements[place] = add(elements[place], value)


def loops_with_added(reduced: ReducedModel, form: LoopedForm, parts: Sequence[Added]) -> LoopedForm:
    """The loops of a form, followed by the loops that add the terms."""
    for part in parts:
        chosen = [freedom for freedom in freedoms(reduced.model) if part.term.acts(freedom.joint)]
        loops = list(
            _loops(part, chosen, reduced.nv, {**form.outputs, **form.scratch}[part.array], part.array)
        )
        form = replace(form, loops=(*form.loops, *(loop for loop, _ in loops)), tables=_tables(form, loops))
    return form


def loops_with_less(reduced: ReducedModel, form: LoopedForm) -> LoopedForm:
    """The form with tau replaced by tau minus the resisting torques. Added loops compute this difference
    first, in a scratch array.
    """
    nv, chosen = reduced.nv, {freedom.v: freedom for freedom in freedoms(reduced.model)}
    if not any(torque.acts(freedom.joint) for freedom in chosen.values()):
        return form
    every = [chosen.get(k, Freedom(0, k, Resistance())) for k in range(nv)]
    loops = list(_loops(Added("tau", against), every, nv, nv, "applied"))
    return replace(
        form,
        loops=(*(loop for loop, _ in loops), *form.renamed({"tau": "applied"}).loops),
        scratch={**form.scratch, "applied": nv},
        tables=_tables(form, loops),
    )


def _tables(form: LoopedForm, loops: Sequence[tuple[FormLoop, Rows]]) -> dict[str, tuple[float, ...]]:
    """The tables of a form and of the added loops."""
    return {**form.tables, **{rows.name: rows.values for _, rows in loops if rows.varying}}


def _loops(
    part: Added, chosen: Sequence[Freedom], nv: int, size: int, to: str
) -> Iterator[tuple[FormLoop, Rows]]:
    """Loops over degrees of freedom that add a term and write the sum. Each comes with the table that it
    reads.

    Smooth friction and the sign take different operations, so each has its own loop.
    """
    for smooth in (False, True):
        own = [freedom for freedom in chosen if smooth == (not is_zero(freedom.joint.smoothing))]
        if own:
            fields = part.term.fields
            rows = tuple(tuple(getattr(freedom.joint, name) for name in fields) for freedom in own)
            table = Rows(f"{part.term.name}{'_smooth' if smooth else ''}", rows)
            yield _loop(part, own, table, [part.place(size, nv, freedom.v) for freedom in own], to), table


def _loop(part: Added, own: Sequence[Freedom], table: Rows, places: Sequence[int], to: str) -> FormLoop:
    reads = {name: element(name, (freedom.v for freedom in own)) for name in part.term.reads}
    if reads.pop("q", None) and any(not is_zero(freedom.joint.stiffness) for freedom in own):
        reads["q"] = element("q", (freedom.q for freedom in own))

    def trace(x: State) -> Arrays:
        values = table.complete(x.arrays.get("resistance", ()))
        joint = Resistance(**dict(zip(part.term.fields, values, strict=True)))
        q, v, a = (x.arrays[name][0] if name in x.arrays else 0 for name in "qva")
        value = part.term(joint, Motion(q, v, a, x.sqrt, x.sign))
        return {"sum": [add(x.arrays["before"][0], value)]}

    if table.varying:
        reads["resistance"] = table.place(range(len(own)))
    reads["before"] = element(part.array, places)
    return FormLoop("resistance", trace, {"sum": element(to, places)}, reads, count=len(own))


def model_of(robot: Any) -> Model:
    """The model of the robot on which a form is traced."""
    return robot if isinstance(robot, Model) else robot.model
