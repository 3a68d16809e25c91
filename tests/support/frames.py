"""Robots with chosen frames."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from support.rationals import Rationals, Z
from support.robots import robot

from rbdgen.functions.function import Function
from rbdgen.model.build import Base
from rbdgen.model.frames import Frame
from rbdgen.model.model import WORLD, Model
from rbdgen.spatial.ops import IDENTITY, Matrix, Transform, Vector


def in_floats(placement: Transform) -> Transform:
    R, p = placement
    return Transform(Matrix(*(Vector(*map(float, row)) for row in R)), Vector(*map(float, p)))


def with_frames(model: Model, seed: int, count: int = 3, *, exact: bool = False) -> Model:
    """The model with frames at random places on random bodies, including the world."""
    numbers, rng = Rationals(seed), np.random.default_rng(seed)
    frames = []
    for k in range(count):
        body = int(rng.integers(WORLD, model.nbodies))
        joint = None if body == WORLD else model.bodies[body].joint
        # The rotation has rational angles to the axes that a reduced model aligns with the joint's axis.
        placement = numbers.placement(Z, joint.axis if joint and joint.type.one_axis else None)
        frames.append(Frame(f"frame{k}", body, placement if exact else in_floats(placement)))
    return replace(model, frames=tuple(frames))


def with_links(name: str, base: Base) -> Model:
    """A robot with the frames of its last link, of a link in its middle, and of its first link."""
    found = robot(name, base)
    last = found.model.nbodies - 1
    chosen = [found.model.bodies[k].name for k in sorted({last, last // 2})]
    return replace(
        found.model, frames=tuple(found.known_frames[x] for x in (*chosen, found.description.root))
    )


def with_tool() -> Model:
    """The arm with a frame 0.1 m beyond its last joint."""
    model = robot("arm7").model
    tool = Frame("tool", model.nbodies - 1, Transform(IDENTITY, Vector(0, 0, 0.1)))
    return replace(model, frames=(tool,))


def with_feet() -> Model:
    """The quadruped with a foot on each shank."""
    model = robot("quadruped12", "floating").model
    shanks = [k for k, body in enumerate(model.bodies) if body.name.endswith("shank")]
    feet = (Frame(f"foot{k}", k, Transform(IDENTITY, Vector(0, 0, -0.33))) for k in shanks)
    return replace(model, frames=tuple(feet))


def convention_of(row: Function) -> str:
    """The convention, which is the last part of a function's name."""
    return row.name.rpartition("_")[2]
