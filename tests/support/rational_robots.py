"""Exact rational robots with parallel axes, and exact choices of body axes."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from support.rationals import Rationals

from rbdgen.model.angles import ZERO_ANGLE
from rbdgen.model.axes import axes_on
from rbdgen.model.joints import Floating, rotation_about
from rbdgen.model.model import Model
from rbdgen.spatial.ops import IDENTITY, Transform, Vector

GRAVITY = Vector(Fraction(1, 3), Fraction(-7, 2), Fraction(-9))


def choices(r: Rationals, model: Model) -> dict[str, list[Any]]:
    """A random turn and slide of every body's axes; they are zero for joints with several axes."""
    given = [not body.joint.type.one_axis for body in model.bodies]
    turns = [ZERO_ANGLE if fixed else r.angle() for fixed in given]
    return {"turns": turns, "slides": [Fraction(0) if fixed else r.number() for fixed in given]}


def planar(parents: tuple[int, ...], kinds: str, parallel: tuple[int, ...]) -> tuple[Rationals, Model]:
    """A rational robot in which the joint axes of some bodies are parallel to those of their parents."""
    r = Rationals(11)
    model = r.model(parents, kinds)
    bodies = list(model.bodies)
    for i in parallel:
        parent = bodies[parents[i]].joint
        above = IDENTITY if isinstance(parent.type, Floating) else axes_on(parent.axis)
        R = above @ rotation_about(IDENTITY[2], r.angle()) @ axes_on(bodies[i].joint.axis).T
        bodies[i] = replace(bodies[i], placement=Transform(R, r.vector()))
    return r, replace(model, bodies=tuple(bodies), gravity=GRAVITY)
