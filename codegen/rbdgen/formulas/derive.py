"""The equations of a robot: its functions run on polynomials (`ring.py`), and Christoffel symbols of M."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Final, NoReturn

from rbdgen.description.quoting import quoted, told
from rbdgen.errors import OptionError
from rbdgen.formulas.ring import Polynomial, Ring, TooManyTermsError, rational
from rbdgen.formulas.symbols import Role, Symbol, Symbols, symbolic
from rbdgen.functions.table import lookup
from rbdgen.model.build import Robot
from rbdgen.model.joints import Joint
from rbdgen.model.model import WORLD, Model
from rbdgen.signature import Kind
from rbdgen.spatial.ops import Vector
from rbdgen.spatial.scalar import Scalar
from rbdgen.sweeps.inputs import state_of
from rbdgen.wording import option

MOST_TERMS: Final = 1000
"""The largest number of terms of all equations together; nobody reads more."""

WORK: Final = 200
"""The number of products of terms that may be computed for each term that may be shown."""


@dataclass(frozen=True)
class Quantity:
    """The result of a function, as people write it."""

    label: str
    meaning: str
    matrix: bool = False


QUANTITIES: Final[Mapping[str, Quantity]] = MappingProxyType(
    {
        "crba": Quantity("M", "joint-space inertia matrix", matrix=True),
        "coriolis": Quantity("C", "Coriolis and centrifugal terms, by Christoffel's symbols", matrix=True),
        "gravity": Quantity("g", "gravity"),
        "nle": Quantity("h", "nonlinear effects, C v + g"),
        "rnea": Quantity("tau", "inverse dynamics, M a + C v + g"),
        "kinetic_energy": Quantity("T", "kinetic energy"),
        "potential_energy": Quantity("U", "potential energy, 0 for a mass at the world's origin"),
    }
)
"""The quantities by function. `coriolis` is computed differently from the row of the table of functions."""

EQUATION: Final = ("crba", "coriolis", "gravity")
"""The functions of M a + C v + g = tau."""


@dataclass(frozen=True)
class Derived:
    """The elements of every function that was asked for, row-major, and the meaning of their symbols."""

    robot: Robot
    elements: Mapping[str, Sequence[Polynomial]]
    symbols: Sequence[Symbol]


def derive(robot: Robot, functions: Sequence[str], sets: Sequence[str], most_terms: int) -> Derived:
    """The equations of a robot, as polynomials.

    `functions` are keys of `QUANTITIES`, `sets` are the numbers that become symbols, and `most_terms` limits
    the terms of all elements together. Raises OptionError for an unknown name, for a robot whose equations
    are not polynomials, and for equations that are too long.
    """
    _check(robot, functions, sets, most_terms)
    ring = Ring(WORK * most_terms)
    symbols = Symbols(ring)
    model = symbolic(robot.model, symbols, sets)
    tracer = _Tracer(model, symbols)
    try:
        elements = {name: tracer.elements(name) for name in functions}
        if symbols.table:
            felt = [x.symbols for name in ("crba", "gravity") for x in tracer.elements(name)]
            symbols.shorten(set().union(*felt))
    except TooManyTermsError:
        products = f"take more than {ring.most:,} products of terms, the most for a budget of"
        _refuse(robot, products, most_terms)
    terms = sum(len(x.terms) for of in elements.values() for x in of)
    if terms > most_terms:
        _refuse(robot, f"have {terms:,} terms, more than the budget of", most_terms)
    return Derived(robot, elements, symbols.table)


def _check(robot: Robot, functions: Sequence[str], sets: Sequence[str], most_terms: int) -> None:
    name = quoted(robot.model.name)
    if not functions:
        raise OptionError(f"no function is asked for; choose from: {', '.join(QUANTITIES)}")
    for one in functions:
        if one not in QUANTITIES:
            raise OptionError(
                f"no closed expressions of function {told(one)} are known; "
                f"choose from: {', '.join(QUANTITIES)}"
            )
        if functions.count(one) > 1:
            raise OptionError(f"function {told(one)} is asked for twice; keep one")
    if not isinstance(most_terms, int) or most_terms < 1:
        raise OptionError(f"a budget of {told(most_terms)} terms is not a positive number; give 1 or more")
    if robot.model.loops:
        raise OptionError(
            f"{name} has closed loops, whose forces these equations do not include; remove the options or "
            "elements that close them"
        )
    for joint in (body.joint for body in robot.model.bodies):
        if joint.resistance.friction:
            raise OptionError(
                f"joint {quoted(joint.name)} has Coulomb friction, which is not a polynomial in v; leave "
                f"{option('friction')} out and add it to tau"
            )
        if "coriolis" in functions and not joint.type.flat:
            rest = ",".join(x for x in functions if x != "coriolis") or "nle"
            raise OptionError(
                f"joint {quoted(joint.name)} is {joint.type.name}: its v is not dq/dt, so Christoffel "
                f"symbols do not give C; ask for {option('functions', rest.split(','))}, or nle, which is "
                "C v + g"
            )


def _refuse(robot: Robot, how: str, most_terms: int) -> NoReturn:
    raise OptionError(
        f"the equations of {quoted(robot.model.name)} ({robot.model.sizes['nv']} degrees of freedom) {how} "
        f"{most_terms:,} terms; make fewer numbers symbols ({option('symbols', 'none')}), ask for less "
        f"({option('functions', ['gravity'])}), lock joints or raise {option('budget_terms')}"
    )


class _Tracer:
    """Runs functions on symbols of q, v and a, each of them once."""

    def __init__(self, model: Model, symbols: Symbols) -> None:
        self.model = model
        self.ring = symbols.ring
        self.known: dict[str, list[Polynomial]] = {}
        self.first_q = len(symbols.table)
        self.values = [float(symbol.value or 0) for symbol in symbols.table]
        self.inputs: dict[Kind, list[Polynomial]] = {
            kind: [symbols.add(symbol) for symbol in _motion_symbols(model, letter, role)]
            for kind, letter, role in _MOTIONS
        }
        self.ring.groups = parallel_groups(model, self.first_q)

    def elements(self, name: str) -> list[Polynomial]:
        """All elements of the result of a function."""
        if name not in self.known:
            raw = self.coriolis() if name == "coriolis" else self.run(name)
            self.known[name] = [(self.ring.number(0) + x).tidied(self.values) for x in raw]
        return self.known[name]

    def run(self, name: str) -> Sequence[Scalar]:
        """The elements of the result of a function of the table, by the textbook's form of it."""
        row = lookup(name)
        inputs = row.signature.sized(self.model.sizes).inputs
        given = [(argument, self.inputs[argument.kind]) for argument in inputs]
        state = state_of(self.model, given, self.ring.cos, self.ring.sin, sums=False)
        (output,) = row.trace(row.forms[0], self.model, state)
        return output

    def coriolis(self) -> list[Scalar]:
        """C_ij = sum_k (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) v_k / 2, with damping on its diagonal."""
        n, M, v = self.model.sizes["nv"], self.elements("crba"), self.inputs["velocity"]
        slopes = [[x.derivative(self.first_q + k) for k in range(n)] for x in M]
        C: list[Scalar] = []
        for i in range(n):
            for j in range(n):
                symbols = [
                    slopes[i * n + j][k] + slopes[i * n + k][j] - slopes[j * n + k][i] for k in range(n)
                ]
                terms = [symbol * (v_k / 2) for symbol, v_k in zip(symbols, v, strict=True)]
                C.append(sum(terms, start=self._damping(i) if i == j else self.ring.number(0)))
        return C

    def _damping(self, i: int) -> Polynomial:
        """The damping of an independent degree of freedom, including that of its followers."""
        joints = {body.joint.idx_v: body.joint for body in self.model.bodies}
        group = self.model.coupling.groups[i]
        damping = (rational(k) ** 2 * rational(joints[at].resistance.damping) for at, k in group)
        return self.ring.number(sum(damping, Fraction(0)))


_MOTIONS: Final[tuple[tuple[Kind, str, Role], ...]] = (
    ("configuration", "q", "position"),
    ("velocity", "v", "velocity"),
    ("acceleration", "a", "acceleration"),
)


def _motion_symbols(model: Model, letter: str, role: Role) -> list[Symbol]:
    """q1, q2 and so on, for the joints that follow no other."""
    found = {}
    for joint in (body.joint for body in model.bodies):
        if joint.follows is None:
            first, count = (joint.idx_q, joint.nq) if letter == "q" else (joint.idx_v, joint.nv)
            for k in range(first, first + count):
                found[k] = Symbol(letter, str(k + 1), role, "", joint.name)
    return [found[k] for k in sorted(found)]


def parallel_groups(model: Model, first_q: int) -> dict[int, int]:
    """The group of every element of q that is an angle, by symbol. Angles about parallel axes are in one
    group.
    """
    group: dict[int, int] = {}
    for i, body in enumerate(model.bodies):
        own = _angle_of(body.joint)
        if own is None:
            continue
        above = _parallel_above(model, i)
        mine = group.setdefault(first_q + own, first_q + own)
        if above is not None:
            other = group[first_q + above]
            group = {symbol: min(mine, other) if g in (mine, other) else g for symbol, g in group.items()}
    return group


def _angle_of(joint: Joint) -> int | None:
    """The index in q of the joint's angle; None if it has no angle."""
    at = joint.idx_q if joint.follows is None else joint.follows.idx_q
    angles = joint.type.space.of_kind("angle", "full_turn")
    return at + angles[0] if angles else None


def _parallel_above(model: Model, i: int) -> int | None:
    """The angle of the next turning joint towards the world, if its axis is parallel; otherwise None."""
    body = model.bodies[i]
    axis = _axis_of(body.joint)
    while body.parent != WORLD:
        axis = body.placement.rotation.apply(axis)
        body = model.bodies[body.parent]
        if body.joint.type.elements == ("length",):
            continue
        angle = _angle_of(body.joint)
        across = axis.cross(_axis_of(body.joint))
        return angle if angle is not None and all(abs(x) < 1e-9 for x in across) else None
    return None


def _axis_of(joint: Joint) -> Vector:
    return joint.axis if joint.type.one_axis else Vector(0, 0, 1)
