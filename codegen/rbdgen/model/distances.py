"""Capsules on the bodies of a model, and the pairs whose distances functions compute."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Final, NamedTuple

from rbdgen.description import capsules as given
from rbdgen.description.capsules import Obstacles
from rbdgen.description.quoting import quoted
from rbdgen.description.schema import Description
from rbdgen.errors import ModelError
from rbdgen.model.frames import Frame
from rbdgen.spatial.ops import Vector
from rbdgen.spatial.scalar import Scalar, is_number
from rbdgen.wording import choose

Segments = given.Segments

_WORLD: Final = -1  # model.WORLD; that module imports this one

ALL_PAIRS: Final = "all"
"""The name of the group of all pairs."""

RESIDUE: Final = 1e-15
"""Coordinates below this, in m, are the rounding of rotations."""

KINDS: Final = ("sphere", "capsule", "box", "halfspace")
"""The kinds of obstacles in the order of the rows."""


@dataclass(frozen=True)
class Capsule:
    """A capsule on a body. The lengths are in m, and `axis` has unit length."""

    name: str
    link: str
    body: int
    """The index of the body, or WORLD."""
    center: Vector
    """In the frame of the body's joint, or in world axes."""
    axis: Vector
    half_length: float
    """0 for a sphere."""
    radius: float
    excess: float | None = None

    @property
    def ends(self) -> tuple[Vector, Vector]:
        """The ends of its segment."""
        reach = self.axis * self.half_length
        return self.center - reach, self.center + reach


class Pair(NamedTuple):
    """Two things whose distance is one element of the results."""

    first: int
    """The number of a capsule or, if `kind` is given, of an obstacle."""
    second: int
    """The number of a capsule."""
    kind: str | None = None
    """The kind of the obstacle, one of `KINDS`; None for a pair of the robot with itself."""


NO_OBSTACLES: Final = Obstacles()


@dataclass(frozen=True)
class DistanceSet:
    """All that functions of distances need to know of a robot."""

    capsules: tuple[Capsule, ...] = ()
    own: tuple[tuple[int, int], ...] = ()
    """The pairs of the robot with itself, as numbers of capsules."""
    left_out: tuple[tuple[str, str, str], ...] = ()
    obstacles: Obstacles = NO_OBSTACLES
    segments: Segments = "plain"
    floor: float = 0.0
    softmin: float = 100.0
    asked_groups: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        """The pairs in the order of the results: those of the robot with itself, and then obstacle by
        obstacle those with each capsule that a joint moves.
        """
        moving = [k for k, capsule in enumerate(self.capsules) if capsule.body != _WORLD]
        counts = zip(KINDS, self.counts.values(), strict=True)
        touched = (Pair(m, k, kind) for kind, count in counts for m in range(count) for k in moving)
        return (*(Pair(*two) for two in self.own), *touched)

    @property
    def counts(self) -> Mapping[str, int]:
        """The number of obstacles by the name of the input that has them."""
        return asdict(self.obstacles)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the pairs, such as `link3/0~hand/1` and `sphere[2]~link3/0`."""
        return tuple(
            f"{self.capsules[x.first].name if x.kind is None else f'{x.kind}[{x.first}]'}"
            f"~{self.capsules[x.second].name}"
            for x in self.pairs
        )

    @cached_property
    def groups(self) -> tuple[tuple[str, tuple[int, ...]], ...]:
        """The groups of pairs that have one smooth minimum each, by name, as numbers of pairs."""
        if not self.asked_groups:
            return ((ALL_PAIRS, tuple(range(len(self.pairs)))),) if self.pairs else ()
        return tuple((name, self._matching(patterns)) for name, patterns in self.asked_groups)

    def _matching(self, patterns: tuple[str, ...]) -> tuple[int, ...]:
        # [ and ] belong to the names of obstacles, so they are no marks of patterns
        plain = [pattern.replace("[", "[[]") for pattern in patterns]
        return tuple(k for k, name in enumerate(self.names) if any(fnmatchcase(name, x) for x in plain))

    @property
    def sizes(self) -> Mapping[str, int]:
        """The symbolic sizes in signatures."""
        return {
            "npairs": len(self.pairs),
            "ngroups": len(self.groups),
            **{f"n{name}": count for name, count in self.counts.items()},
        }

    def suited(self, asked: Segments | None, real: str) -> DistanceSet:
        """The set with the formula that suits a number type, unless the user asked for one: the determinant
        of "plain" has few digits in float.
        """
        form: Segments = asked or ("exact" if real == "float" else "plain")
        return self if form == self.segments else replace(self, segments=form)

    def renumbered(self, number: Mapping[int, int]) -> DistanceSet:
        """The capsules and pairs on the bodies of a part of a robot, with their new indices.

        There are none if the part lacks a body with a capsule.
        """
        if any(capsule.body not in number for capsule in self.capsules):
            return NO_DISTANCES
        moved = tuple(replace(capsule, body=number[capsule.body]) for capsule in self.capsules)
        return replace(self, capsules=moved)

    def bodies(self, pair: Pair) -> tuple[int, int]:
        """The bodies of the first and the second of a pair; WORLD for an obstacle."""
        first = _WORLD if pair.kind is not None else self.capsules[pair.first].body
        return first, self.capsules[pair.second].body


NO_DISTANCES: Final = DistanceSet()


def model_distances(description: Description, known: Mapping[str, Frame]) -> DistanceSet:
    """The capsules on bodies, with fixed links merged. `known` has all frames by name.

    Raises ModelError for an unknown link or capsule, for two capsules of one name, for a pair on one body,
    and for a group without a pair.
    """
    asked = description.distances
    capsules = tuple(_on_body(one, known, description.path) for one in asked.capsules)
    number: dict[str, int] = {}
    for k, one in enumerate(capsules):
        if number.setdefault(one.name, k) != k:
            raise ModelError(f"{description.path}: there are two capsules {quoted(one.name)}; rename one")
    own = tuple(_pair(names, number, capsules, description.path) for names in asked.pairs)
    made = DistanceSet(
        capsules,
        own,
        asked.left_out,
        asked.obstacles,
        asked.segments or "plain",
        asked.floor,
        asked.softmin,
        asked.groups,
    )
    for name, numbers in made.groups:
        if not numbers:
            what = f"{description.path}: group {quoted(name)} has no pair"
            raise ModelError(f"{what}; give patterns of names such as {quoted('link3/0~*')}")
    return made


def cleared(v: Vector) -> Vector:
    """A constant vector without the rounding of rotations, so that zeros and ones fold."""
    return Vector(*map(_cleared, v))


def _cleared(x: Scalar) -> Scalar:
    if not is_number(x):
        return x
    near = round(x) if abs(x) <= 1 else x
    return near if abs(x - near) <= RESIDUE else x


def _on_body(one: given.Capsule, known: Mapping[str, Frame], path: str) -> Capsule:
    if one.link not in known:
        what = f"{path}: capsule {quoted(one.name)}: there is no link {quoted(one.link)}"
        raise ModelError(f"{what}; {choose(one.link, list(known))}")
    carrier = known[one.link]
    R, p = carrier.placement
    center = cleared(p + R.apply(Vector(*one.center)))
    axis = cleared(R.apply(Vector(*one.axis)))
    return Capsule(one.name, one.link, carrier.body, center, axis, one.half_length, one.radius, one.excess)


def _pair(
    names: tuple[str, str], number: Mapping[str, int], capsules: tuple[Capsule, ...], path: str
) -> tuple[int, int]:
    for name in names:
        if name not in number:
            what = f"{path}: pair {' '.join(names)}: there is no capsule {quoted(name)}"
            raise ModelError(f"{what}; {choose(name, list(number))}")
    first, second = (number[name] for name in names)
    if capsules[first].body == capsules[second].body:
        raise ModelError(f"{path}: pair {' '.join(names)}: both are on one body; leave it out")
    return first, second
