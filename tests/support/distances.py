"""Segments in special positions, a reference for their distances, and robots with capsules."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any, Final

import mpmath
import numpy as np
from numpy.typing import NDArray
from support.robots import PANDA_COLLISION

from rbdgen.description.capsules import Capsule, Distances, Obstacles, Segments
from rbdgen.description.schema import Vector3
from rbdgen.functions.distances.segments import Segment
from rbdgen.model.build import build_robot
from rbdgen.model.distances import Capsule as Placed
from rbdgen.model.distances import DistanceSet
from rbdgen.model.model import Model
from rbdgen.model.robot import Base, Robot
from rbdgen.pipeline.robot import load_robot
from rbdgen.spatial.ops import Vector

Array = NDArray[np.float64]

ONE_SPHERE: Final = Obstacles(spheres=1)

RADIUS: Final = 0.06
"""The radius of every capsule of the arm, in m."""

KINDS: Final = (
    "random",
    "points",
    "identical",
    "inside",
    "collinear",
    "parallel",
    "nearly parallel",
    "nearly parallel, crossing",
    "crossing",
    "touching",
    "short",
)
"""The positions of two segments."""


def segments_of(kind: str, count: int, seed: int = 0) -> tuple[Segment, Segment]:
    """Pairs of segments in a position of `KINDS`, as arrays over the pairs. Radii are 0."""
    rng = np.random.default_rng(seed)
    c, u = rng.uniform(-0.5, 0.5, (2, 3, count)), rng.normal(size=(2, 3, count))
    h = rng.uniform(0.0, 0.5, (2, count))
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    if kind == "points":
        h[0], u[0] = 0.0, 0.0
        h[1, ::2] = 0.0
    elif kind == "identical":
        c[1], u[1], h[1] = c[0], u[0], h[0]
    elif kind == "inside":
        c[1], u[1], h[1] = c[0], u[0], h[0] / 2
    elif kind == "collinear":
        u[1] = u[0] * rng.choice([-1, 1], count)
        c[1] = c[0] + u[0] * rng.uniform(-1, 1, count)
    elif kind == "parallel":
        u[1] = u[0] * rng.choice([-1, 1], count)
    elif kind == "nearly parallel":
        u[1] = u[0] + 10 ** rng.uniform(-16, -1, count) * rng.normal(size=(3, count))
        across = np.cross(u[0], rng.normal(size=(3, count)), axis=0)
        c[1] = c[0] + u[0] * rng.uniform(-0.5, 0.5, count) + 0.3 * across / np.linalg.norm(across, axis=0)
    elif kind == "nearly parallel, crossing":
        u[1] = u[0] + 10 ** rng.uniform(-16, -1, count) * rng.normal(size=(3, count))
        u[1] /= np.linalg.norm(u[1], axis=0)
        s, t = rng.uniform(-1, 1, (2, count)) * h
        c[1] = c[0] + s * u[0] - t * u[1]
    elif kind in ("crossing", "short"):
        h *= 1e-3 if kind == "short" else 1.0
        s, t = rng.uniform(-1, 1, (2, count)) * h
        c[1] = c[0] + s * u[0] - t * u[1]
    elif kind == "touching":
        c[1] = c[0] + h[0] * u[0] + h[1] * u[1]
    u[1] /= np.maximum(np.linalg.norm(u[1], axis=0), 1e-300)
    return tuple(Segment(Vector(*c[k]), Vector(*u[k]), h[k], 0.0) for k in range(2))  # type: ignore[return-value]


def of_pair(segment: Segment, k: int) -> tuple[list[Any], list[Any], Any]:
    """Centre, axis and half length of the k-th segment, as numbers of mpmath."""
    center, axis = ([mpmath.mpf(float(x[k])) for x in v] for v in (segment.center, segment.axis))
    return center, axis, mpmath.mpf(float(segment.half_length[k]))


def exact_distance(one: Segment, other: Segment, k: int) -> Any:
    """The distance of the k-th pair of axes to 60 digits: the least over the ends and the inside of both."""
    with mpmath.workdps(60):
        (c1, u1, h1), (c2, u2, h2) = of_pair(one, k), of_pair(other, k)
        r = [a - b for a, b in zip(c1, c2, strict=True)]
        A, E, B, C, F = _dot(u1, u1), _dot(u2, u2), _dot(u1, u2), _dot(u1, r), _dot(u2, r)
        places = [(s, t) for s, t in product((-h1, h1), (-h2, h2))]
        places += [(s, _limited((B * s + F) / E, h2)) for s in (-h1, h1) if E]
        places += [(_limited((B * t - C) / A, h1), t) for t in (-h2, h2) if A]
        determinant = A * E - B * B
        if determinant > 0:
            s, t = (B * F - C * E) / determinant, (A * F - B * C) / determinant
            places += [(s, t)] if abs(s) <= h1 and abs(t) <= h2 else []

        def length(s: Any, t: Any) -> Any:
            return mpmath.sqrt(sum((r[i] + s * u1[i] - t * u2[i]) ** 2 for i in range(3)))

        return min(length(s, t) for s, t in places)


def _dot(a: list[Any], b: list[Any]) -> Any:
    return sum(x * y for x, y in zip(a, b, strict=True))


def _limited(x: Any, h: Any) -> Any:
    return max(-h, min(h, x))


def arm(form: Segments = "plain", obstacles: Obstacles = Obstacles(), snap: float = 1e-9) -> Robot:  # noqa: B008
    """The bundled arm with a capsule from each joint to the next, and all 15 pairs that are no neighbours."""
    plain = load_robot("arm7", snap=snap)
    bodies = plain.model.bodies
    capsules = []
    for k, body in enumerate(bodies):
        end = np.array([0.0, 0.0, 0.1])
        if k + 1 < len(bodies):
            end = np.array([float(x) for x in bodies[k + 1].placement.translation])
        length = float(np.linalg.norm(end))
        axis = np.where(np.abs(end) < 1e-9 * length, 0.0, end / length)
        capsules.append(
            Capsule(body.name, body.name, _vector(end / 2), _vector(axis), length / 2, RADIUS, 0.0)
        )
    names = [capsule.name for capsule in capsules]
    pairs = tuple((names[i], names[j]) for i in range(7) for j in range(i + 2, 7))
    distances = Distances(tuple(capsules), pairs, (), obstacles, form)
    return with_distances(plain, distances)


def panda(form: Segments = "plain", spheres: int = 8) -> Robot:
    """Panda with its collision shapes, which are 13 capsules, and the 42 pairs of them that are neither
    neighbours nor proved apart, with spheres in the world.
    """
    plain = load_robot(PANDA_COLLISION, pairs="auto", mimic="independent")
    found = plain.description.distances
    touching = tuple((a, b) for a, b, reason in found.left_out if reason == "always in contact")
    asked = replace(found, pairs=found.pairs + touching, obstacles=Obstacles(spheres=spheres), segments=form)
    return build_robot(replace(plain.description, distances=asked), "fixed", plain.snap, mimic="independent")


def reach() -> Robot:
    """A planar arm of three links, with distances from itself and from a sphere."""
    return load_robot("planar3r", shapes="visual", pairs="auto", obstacles="spheres=1")


def among_balls() -> tuple[Array, Array, Array]:
    """Configurations of `reach` beside spheres, away from kinks, and weights of its distances."""
    rng = np.random.default_rng(0)
    q, balls = rng.uniform(0.3, 0.9, (5, 3)), np.tile([1.2, 0.3, 0.4, 0.1], (5, 1, 1))
    return q, balls, rng.normal(size=21)


def with_distances(robot: Robot, distances: Distances, base: Base = "fixed") -> Robot:
    """The robot with these capsules and pairs."""
    return build_robot(replace(robot.description, distances=distances), base, robot.snap)


def with_capsules(model: Model, seed: int, obstacles: Obstacles = ONE_SPHERE) -> Model:
    """The model with a capsule on every body, or a sphere on every third, and with all pairs of bodies."""
    rng = np.random.default_rng(seed)
    capsules = []
    for k in range(model.nbodies):
        axis = rng.normal(size=3)
        axis /= np.linalg.norm(axis)
        center, half = rng.uniform(-1, 1, 3), rng.uniform(0, 0.5)
        capsules.append(
            Placed(
                f"c{k}",
                "",
                k,
                Vector(*map(float, center)),
                Vector(*map(float, axis)),
                half * (k % 3 < 2),
                0.05,
            )
        )
    own = tuple((i, j) for i in range(model.nbodies) for j in range(i + 1, model.nbodies))
    return replace(model, distances=DistanceSet(tuple(capsules), own, (), obstacles))


def _vector(x: Array) -> Vector3:
    a, b, c = map(float, x)
    return a, b, c
