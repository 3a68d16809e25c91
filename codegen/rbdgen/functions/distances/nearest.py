"""The distance of every pair of a robot, with its normal and the points where it is taken."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from rbdgen.functions.distances.obstacles import Box, Halfspace, Obstacle, from_box, from_halfspace
from rbdgen.functions.distances.placed import Placed
from rbdgen.functions.distances.segments import Closest, Root, Segment, apart, segments
from rbdgen.model.distances import DistanceSet, Pair
from rbdgen.model.model import WORLD, Model
from rbdgen.model.reduce import ReducedModel
from rbdgen.spatial.ops import Vector
from rbdgen.spatial.scalar import Scalar, is_zero, neg
from rbdgen.sweeps.inputs import State


class Met(NamedTuple):
    """A pair at a configuration, in the axes of the root."""

    first: int
    """The body of the first of the pair; WORLD for an obstacle."""
    second: int
    at: Closest
    one: Segment | None
    """The first as a capsule; None for a box or a halfspace."""
    other: Segment


def nearest(placed: Placed, numbers: Iterable[int] | None = None) -> Iterator[Met]:
    """All pairs in the order of the results, or those of these numbers."""
    own = placed.model.distances
    pairs = own.pairs if numbers is None else [own.pairs[k] for k in numbers]
    return (meeting(own, pair, *sides(placed, pair), placed.x.sqrt) for pair in pairs)


def sides(placed: Placed, pair: Pair) -> tuple[Obstacle, Segment]:
    """The two that form a pair."""
    first = placed.capsules if pair.kind is None else placed.obstacles[pair.kind]
    return first[pair.first], placed.capsules[pair.second]


def meeting(own: DistanceSet, pair: Pair, one: Obstacle, other: Segment, sqrt: Root) -> Met:
    """A pair, of which the two sides are given."""
    first, second = own.bodies(pair)
    if isinstance(one, Segment):
        return Met(first, second, segments(one, other, own.segments, own.floor, sqrt), one, other)
    if isinstance(one, Box):
        at = from_box(other, one, own.floor, sqrt)
    else:
        assert isinstance(one, Halfspace)
        at = from_halfspace(other, one)
    return Met(first, second, _exchanged(at), None, other)


def _exchanged(at: Closest) -> Closest:
    return Closest(at.distance, -at.normal, at.second, at.first, at.length)


def distances(robot: Model | ReducedModel, x: State) -> list[list[Scalar]]:
    """d (npairs,) in m."""
    return [[met.at.distance for met in nearest(Placed.at(robot, x))]]


def witness(robot: Model | ReducedModel, x: State) -> list[list[Scalar]]:
    """The points on both surfaces (npairs, 2, 3) in m and the normals (npairs, 3), in world axes."""
    placed = Placed.at(robot, x)
    R, p = placed.base
    points: list[Scalar] = []
    normals: list[Scalar] = []
    for met in nearest(placed):
        normal = met.at.normal if met.one is None else apart(met.one, met.other, met.at, x.sqrt)
        first = met.at.first
        if met.one is not None:
            first = first - normal * met.one.radius
        second = met.at.second + normal * met.other.radius
        points += [*(R.apply(first) + p), *(R.apply(second) + p)]
        normals += R.apply(normal)
    return [points, normals]


def moved_by(model: Model, first: int, second: int) -> Iterator[tuple[int, int]]:
    """The bodies whose joints move the first of two bodies against the second, each with the sign 1 or -1."""
    up, down = model.path(first, second)
    yield from ((body, 1) for body in up)
    yield from ((body, -1) for body in down)


def is_moved_with_root(placed: Placed, met: Met) -> bool:
    """Whether the joint of the root moves one of the two alone."""
    return placed.root != WORLD and (met.first == WORLD) != (met.second == WORLD)


def wrench(met: Met) -> tuple[Vector, Vector]:
    """The normal and its moment about the origin of the root, which give the rate of the distance for a
    motion of the first.
    """
    point = met.at.second if met.one is None or met.one.is_sphere else met.at.first
    return met.at.normal, point.cross(met.at.normal)


def signed(x: Scalar, sign: int) -> Scalar:
    return x if sign > 0 or is_zero(x) else neg(x)
