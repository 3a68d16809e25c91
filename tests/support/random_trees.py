"""Random trees of joints of all types."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

from support.rationals import Rationals

from rbdgen.model.inertia import Inertia
from rbdgen.model.joints import Helical
from rbdgen.model.model import WORLD, Model
from rbdgen.spatial.ops import Matrix, Transform, Vector


def random_tree(seed: int, most: int) -> Model:
    """Up to `most` bodies on joints of all types, one axis more often than several."""
    random = Random(seed)
    count = random.randint(1, most)
    parents: list[int] = []
    for i in range(count):
        # depth first: the last body or one that it hangs on
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
