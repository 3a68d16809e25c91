"""The options of distances as users give them."""

from __future__ import annotations

import numbers
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Final, NamedTuple, get_args

from rbdgen.description.capsules import Distances, Obstacles, Segments
from rbdgen.description.quoting import told
from rbdgen.errors import OptionError
from rbdgen.wording import choose, option

MOST: Final = 1000
"""The largest number of obstacles of a kind."""

KINDS: Final = tuple(field.name for field in fields(Obstacles))


class _Asked(NamedTuple):
    """The options that pairs and obstacles have in common, with their defaults."""

    distance: object = None
    distance_floor: object = 0.0
    softmin: object = 100.0
    groups: object = None


def with_options(
    made: Distances,
    obstacles: object = None,
    distance: object = None,
    floor: object = 0.0,
    softmin: object = 100.0,
    groups: object = None,
) -> Distances:
    """The distances with these options, see `rbdgen.load_robot`.

    Raises OptionError for an option that is not known, and for one that nothing would use.
    """
    if not (distance is None or (isinstance(distance, str) and distance in get_args(Segments))):
        raise OptionError(f"distance {told(distance)} is not known; choose plain or exact")
    asked = _Asked(distance, floor, softmin, groups)
    given = [name for name, *both in zip(asked._fields, asked, _Asked(), strict=True) if both[0] != both[1]]
    if given and not made.capsules:
        wanted = " or ".join((option("pairs", "auto"), option("obstacles", "spheres=1")))
        raise OptionError(f"{given[0]} is an option of distances, and none are wanted; give {wanted}, too")
    form: Segments | None = None if distance is None else "exact" if distance == "exact" else "plain"
    return replace(
        made,
        obstacles=obstacles_of(obstacles),
        segments=form,
        floor=_number("distance_floor", floor, 0.0, 1.0, "m, from 0 to 1"),
        softmin=_number("softmin", softmin, 1e-3, 1e9, "1/m, from 1e-3 to 1e9"),
        groups=_groups(groups),
    )


def obstacles_of(given: object) -> Obstacles:
    """The largest numbers of obstacles: a text such as "spheres=8,boxes=2", or a dict."""
    if given is None or isinstance(given, Obstacles):
        return given or Obstacles()
    if isinstance(given, str):
        parts = [part.partition("=") for part in given.split(",") if part.strip()]
        given = {name.strip(): count.strip() for name, _, count in parts}
    if not isinstance(given, Mapping):
        raise OptionError(f"obstacles {told(given)} are no numbers; give {option('obstacles', 'spheres=8')}")
    counts = {}
    for kind, count in given.items():
        if kind not in KINDS:
            raise OptionError(f"obstacles: {told(kind)} is not known; {choose(kind, KINDS)}")
        text = str(count)
        if not (text.isascii() and text.isdigit() and int(text) <= MOST):
            raise OptionError(f"obstacles: {kind}={text[:40]} is no number from 0 to {MOST}; give one")
        counts[str(kind)] = int(text)
    return Obstacles(**counts)


def _number(name: str, given: object, least: float, most: float, range_: str) -> float:
    if isinstance(given, numbers.Real) and not isinstance(given, bool) and least <= float(given) <= most:
        return float(given)
    raise OptionError(f"{name} {told(given)} is not a number in range; give one in {range_}")


def _groups(given: object) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Groups as a dict from names to lists of patterns, or as a TOML file with the same."""
    if given is None:
        return ()
    where = "groups"
    if isinstance(given, (str, Path)):
        where = str(given)
        try:
            given = tomllib.loads(Path(given).read_text(encoding="utf-8"))
        except OSError as error:
            raise OptionError(f"{where}: {error.strerror}; give a TOML file") from None
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise OptionError(f"{where}: {error}; give a TOML file") from None
    if not isinstance(given, Mapping) or not given:
        raise OptionError(f"{where}: no groups; give lists of patterns, such as arm = ['hand/*~*']")
    return tuple((str(name), _patterns(where, str(name), value)) for name, value in given.items())


def _patterns(where: str, name: str, given: object) -> tuple[str, ...]:
    patterns = list(given) if isinstance(given, Iterable) and not isinstance(given, str) else []
    if not patterns or not all(isinstance(x, str) and x for x in patterns):
        raise OptionError(f"{where}: group {told(name)} is no list of patterns; give some, such as ['*~*']")
    return tuple(patterns)
