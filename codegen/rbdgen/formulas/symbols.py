"""The numbers of a robot that become symbols, and the model with symbols in their place."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from math import floor, log10
from typing import Final, Literal, TypeAlias

from rbdgen.description.quoting import escaped, told
from rbdgen.errors import OptionError
from rbdgen.formulas.ring import Polynomial, Ring, rational
from rbdgen.model.inertia import Inertia
from rbdgen.model.joints import Joint
from rbdgen.model.model import WORLD, Body, Model
from rbdgen.spatial.ops import Matrix, Vector, mirrored
from rbdgen.spatial.scalar import Scalar, is_zero

SETS: Final = ("masses", "lengths", "inertias", "gravity")
"""The sets of numbers that can become symbols: m1 ..; l1, lc1 ..; I1 ..; g."""


def sets_of(given: object) -> tuple[str, ...]:
    """The names in a sequence or in a text with commas, or "all" or "none"; OptionError for unknown names."""
    names = given.split(",") if isinstance(given, str) else given
    if not isinstance(names, Iterable):
        raise OptionError(f"symbols {told(given)} are not a list; give some of: {', '.join(SETS)}")
    asked = tuple(name.strip() if isinstance(name, str) else name for name in names)
    if asked in (("all",), ("none",)):
        return SETS if asked == ("all",) else ()
    for one in asked:
        if one not in SETS:
            known = ", ".join((*SETS, "all", "none"))
            raise OptionError(f"unknown set of symbols {told(one)}; choose from: {known}")
    return asked


Role: TypeAlias = Literal["inertia", "mass", "gravity", "length", "position", "velocity", "acceleration"]


@dataclass(frozen=True)
class Symbol:
    """A symbol: how it is written, and what it means."""

    letter: str
    subscript: str
    role: Role
    unit: str
    meaning: str
    value: Fraction | None = None
    """The robot's value, in `unit`; None for q, v and a."""
    component: str = ""
    """The component of a vector or matrix of such symbols, such as "xx". It is left out of the name if it is
    the only one that affects the motion.
    """

    @property
    def name(self) -> str:
        return self.letter + self.subscript


class Symbols:
    """The symbols of one robot's equations, in order."""

    def __init__(self, ring: Ring) -> None:
        self.ring = ring
        self.table: list[Symbol] = []

    def add(self, symbol: Symbol) -> Polynomial:
        """Add a symbol; the result is its polynomial."""
        self.table.append(symbol)
        return self.ring.symbol(len(self.table) - 1)

    def shorten(self, felt: Collection[int]) -> None:
        """Shorten names: I1yy becomes I1 if it is the only component of I1 that affects the motion."""
        for index, symbol in enumerate(self.table):
            stem = symbol.letter, symbol.subscript.removesuffix(symbol.component)
            others = [
                k
                for k, other in enumerate(self.table)
                if k in felt
                and (other.letter, other.subscript.removesuffix(other.component)) == stem
                and other.component
            ]
            if others == [index]:
                self.table[index] = replace(symbol, subscript=stem[1], component="")


def symbolic(model: Model, symbols: Symbols, sets: Collection[str]) -> Model:
    """The model with exact numbers, and with symbols for the sets in `sets`.

    Bodies are numbered from 1, with fixed links merged into them. A length is positive, and its sign stays in
    the equations. Moments of inertia are about the centre of mass, in the body's axes.
    """
    offsets = dict(_offsets(model, symbols, "lengths" in sets))
    bodies = []
    for i, body in enumerate(model.bodies):
        rotation = Matrix(*(Vector(*map(_exact, row)) for row in body.placement.rotation))
        placement = body.placement._replace(rotation=rotation, translation=offsets[i])
        inertia = _inertia(body, i + 1, symbols, sets)
        bodies.append(replace(body, placement=placement, inertia=inertia, joint=_exact_joint(body.joint)))
    gravity = Vector(*map(_exact, model.gravity))
    if "gravity" in sets:
        gravity = _vector(gravity, symbols, Symbol("g", "", "gravity", "m/s^2", "gravity"))
    return replace(model, bodies=tuple(bodies), gravity=gravity)


def _offsets(model: Model, symbols: Symbols, asked: bool) -> Iterator[tuple[int, Vector]]:
    """The positions of joints in the bodies that carry them.

    l1 is on body 1. If a body carries several joints, l1_3 leads from body 1 to body 3.
    """
    for parent in range(WORLD, model.nbodies):
        children = [i for i, body in enumerate(model.bodies) if body.parent == parent]
        for i in children:
            body = model.bodies[i]
            given = _exact_vector(body.placement.translation)
            if asked:
                own = str(parent + 1) if len(children) == 1 else f"{parent + 1}_{i + 1}"
                whence = "world" if parent == WORLD else escaped(model.bodies[parent].name)
                meaning = f"{whence}, to joint {escaped(body.joint.name)}"
                given = _vector(given, symbols, Symbol("l", own, "length", "m", meaning))
            yield i, given


def _inertia(body: Body, number: int, symbols: Symbols, sets: Collection[str]) -> Inertia:
    given, own, name = body.inertia, str(number), escaped(body.name)
    mass = _exact(given.mass)
    center = _exact_vector(Vector(*(h / given.mass for h in given.first_moment))) if mass else Vector()
    about_origin = Inertia.from_center_of_mass(mass, center, Matrix.diagonal(0, 0, 0)).rotational
    scale = max((abs(float(x)) for row in given.rotational for x in row), default=0.0)

    def about_center(i: int, j: int) -> Scalar:
        """A moment of inertia about the centre of mass, rounded to the precision of those about the
        origin."""
        value = _rounded(float(given.rotational[i][j] - about_origin[i][j]), scale)
        if is_zero(value) or "inertias" not in sets:
            return value
        component = "xyz"[i] + "xyz"[j]
        meaning = f"{name}, about its centre of mass, {component}"
        return symbols.add(
            Symbol("I", own + component, "inertia", "kg m^2", meaning, Fraction(value), component)
        )

    moments = mirrored([[about_center(i, j) if i <= j else 0 for j in range(3)] for i in range(3)])
    if mass and "masses" in sets:
        mass = symbols.add(Symbol("m", own, "mass", "kg", name, Fraction(mass)))
    if "lengths" in sets:
        meaning = f"{name}, to its centre of mass"
        center = _vector(center, symbols, Symbol("l", f"c{own}", "length", "m", meaning))
    return Inertia.from_center_of_mass(mass, center, moments)


def _vector(given: Vector, symbols: Symbols, kind: Symbol) -> Vector:
    """A symbol for the magnitude of every nonzero component."""

    def component(axis: str, value: Scalar) -> Scalar:
        if is_zero(value):
            return 0
        meaning = f"{kind.meaning}, along {'-' if value < 0 else ''}{axis}"
        subscript = kind.subscript + axis
        size = symbols.add(
            replace(kind, subscript=subscript, meaning=meaning, value=Fraction(abs(value)), component=axis)
        )
        return size if value > 0 else -size

    return Vector(*(component(axis, value) for axis, value in zip("xyz", given, strict=True)))


def _exact(value: Scalar) -> Scalar:
    """The decimal as a rational; 0 and +-1 as integers."""
    exact = rational(value)
    return int(exact) if exact in (0, 1, -1) else exact


def _exact_vector(given: Vector) -> Vector:
    scale = max(abs(float(x)) for x in given)
    return Vector(*(_rounded(float(x), scale) for x in given))


def _rounded(value: float, scale: float) -> Scalar:
    """The value rounded to 15 digits of `scale`; smaller differences are rounding errors."""
    if value == 0 or abs(value) < 1e-15 * scale:
        return 0
    return _exact(round(value, 14 - floor(log10(scale))))


def _exact_joint(joint: Joint) -> Joint:
    own = joint.resistance
    resistance = replace(
        own,
        damping=_exact(own.damping),
        stiffness=_exact(own.stiffness),
        reference=_exact(own.reference),
        armature=_exact(own.armature),
    )
    return replace(joint, axis=Vector(*map(_exact, joint.axis)), resistance=resistance)
