"""Random trees of joints of all types."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
from support.rationals import Rationals

from rbdgen.model.inertia import Inertia
from rbdgen.model.joints import Angle, Floating, Helical, Joint, Resistance, rotation_about
from rbdgen.model.model import WORLD, Body, Model
from rbdgen.spatial.ops import NO_TRANSFORM, ZERO, Matrix, Transform, Vector


def random_tree(seed: int, most: int) -> Model:
    """A tree of up to `most` bodies on joints of all types; those with one axis are more frequent."""
    random = Random(seed)
    count = random.randint(1, most)
    parents: list[int] = []
    for i in range(count):
        # In depth-first order, the parent is the last body or one of its ancestors.
        parent = i - 1
        while parent != WORLD and random.random() < 0.3:
            parent = parents[parent]
        parents.append(parent)
    letters = "".join(random.choice("RRRPHLSF") for _ in range(count))
    model = Rationals(seed).model(tuple(parents), letters)
    return replace(model, bodies=tuple(map(in_floats, model.bodies)), gravity=floats(model.gravity))


def in_floats(body: Any) -> Any:
    R, p = body.placement
    joint, own = body.joint, body.inertia
    if isinstance(joint.type, Helical):
        joint = replace(joint, type=Helical(float(joint.type.pitch)))
    return replace(
        body,
        joint=replace(joint, axis=floats(joint.axis)),
        placement=Transform(Matrix(*map(floats, R)), floats(p)),
        inertia=Inertia(float(own.mass), floats(own.first_moment), Matrix(*map(floats, own.rotational))),
    )


def floats(vector: Vector) -> Vector:
    return Vector(*(x if x in (0, 1, -1) else float(x) for x in vector))


def between_revolutes(letter: str) -> Model:
    """A chain of three bodies with no special angles or lengths; the second joint is of this type."""
    rng = np.random.default_rng(5)
    bodies = []
    for body in Rationals(1).model((WORLD, 0, 1), f"R{letter}R").bodies:
        axis, about, center = rng.normal(size=(3, 3)).tolist()
        spread = rng.normal(size=(3, 3))
        J = np.trace(spread @ spread.T) * np.eye(3) - spread @ spread.T
        inertia = Inertia.from_center_of_mass(float(rng.uniform(0.5, 2)), Vector(*center), Matrix(*rows(J)))
        placement = Transform(
            rotation_about(unit(about), Angle(0.6, 0.8)), Vector(*rng.normal(size=3).tolist())
        )
        joint = replace(body.joint, axis=unit(axis))
        bodies.append(in_floats(replace(body, joint=joint, placement=placement, inertia=inertia)))
    return Model(f"R{letter}R", tuple(bodies))


def resisting_tree(seed: int, most: int) -> Model:
    """A random tree whose joints have random terms of resistance, with both kinds of friction."""
    model, random = random_tree(seed, most), Random(seed)

    def some(low: float, high: float) -> float:
        return random.uniform(low, high) if random.random() < 0.6 else 0.0

    bodies = []
    for body in model.bodies:
        own = Resistance(some(0.1, 2), some(0.1, 2), some(0.05, 0.5))
        own = replace(own, armature=some(0.01, 3))
        if body.joint.nv == 1:
            own = replace(own, stiffness=some(0.5, 5), reference=random.uniform(-1, 1))
        if not body.joint.type.resists:
            own = Resistance()
        bodies.append(replace(body, joint=replace(body.joint, resistance=own)))
    return replace(model, bodies=tuple(bodies))


def on_a_base(model: Model) -> Model:
    """The robot on a floating base, whose frame is turned and moved in the world at q = 0."""
    numbers = Rationals(7)
    base = Body("base", WORLD, Joint("base", Floating(), ZERO, 0, 0), NO_TRANSFORM, numbers.inertia())
    base = replace(
        in_floats(base), placement=in_floats(replace(base, placement=numbers.transform())).placement
    )
    bodies = [base]
    for body in model.bodies:
        joint = replace(body.joint, idx_q=body.joint.idx_q + 7, idx_v=body.joint.idx_v + 6)
        bodies.append(replace(body, joint=joint, parent=body.parent + 1))
    return replace(model, bodies=tuple(bodies))


def rows(matrix: Any) -> list[Vector]:
    return [Vector(*row) for row in matrix.tolist()]


def unit(numbers: list[float]) -> Vector:
    return Vector(*(np.array(numbers) / np.linalg.norm(numbers)).tolist())
