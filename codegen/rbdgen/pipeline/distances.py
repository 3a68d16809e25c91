"""The capsules and pairs of a robot whose distances are wanted, from the options of a user."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import Final, NamedTuple

from rbdgen.description.capsules import NO_DISTANCES, Capsule, Distances
from rbdgen.description.quoting import escaped, told
from rbdgen.description.schema import Description
from rbdgen.description.shapes.covers.links import capsules_of
from rbdgen.description.shapes.covers.pairs_file import Disabled, read_disabled, read_pairs
from rbdgen.description.shapes.covers.wanted import wanted_of
from rbdgen.errors import DescriptionError, OptionError
from rbdgen.model.build import Base, build_robot
from rbdgen.model.distances import Capsule as OnBody
from rbdgen.model.mimic import Mimics
from rbdgen.model.model import Model
from rbdgen.model.pairs import (
    NEAR,
    SAMPLES,
    Chosen,
    Pair,
    all_pairs,
    automatic,
    neighbours,
    without_disabled,
)
from rbdgen.wording import both, option

_WAYS: Final = ("auto", "all", "srdf")

MOST_PAIRS: Final = 10_000
"""The largest number of pairs of capsules, unless a file lists them."""

_LISTED: Final = 8
"""The largest number of pairs that a line lists."""


class Given(NamedTuple):
    """The options of capsules and pairs, as `rbdgen.load_robot` takes them."""

    cover: object = None
    capsules: object = None
    shapes: object = None
    pairs: object = None
    srdf: object = None
    obstacles: object = None


def distances_of(
    description: Description,
    given: Given,
    base: Base = "fixed",
    mimic: Mimics = "eliminate",
) -> tuple[Distances, list[str]]:
    """The capsules of a robot and the pairs of them whose distances are wanted, and lines that tell what a
    user should know about them. There are none if no option is given.

    Raises OptionError and DescriptionError, one line each, for options and files that do not fit the robot.
    """
    if all(value is None for value in given):
        return NO_DISTANCES, []
    for name in ("capsules", "srdf"):
        path = getattr(given, name)
        if not (path is None or (isinstance(path, str | os.PathLike) and os.fspath(path))):
            raise OptionError(f"{name} {told(path)} is no path; give that of a file")
    ways = given.pairs
    if ways is None and (given.obstacles is None or given.srdf is not None):
        ways = "auto"
    if ways is not None and not (isinstance(ways, str | os.PathLike) and os.fspath(ways)):
        raise OptionError(f"pairs {told(ways)} is not known; give auto, all, srdf or the path of a file")
    if ways == "srdf" and given.srdf is None:
        raise OptionError(
            f"{option('pairs', 'srdf')} needs the pairs of an SRDF; give {option('srdf', 'FILE')}"
        )
    if given.srdf is not None and ways not in ("auto", "srdf"):
        raise OptionError(
            f"{option('srdf', str(given.srdf))} is for {option('pairs', 'auto')} and "
            f"{option('pairs', 'srdf')}; leave it out"
        )
    role = "collision" if given.shapes is None else given.shapes
    capsules, lines = capsules_of(description, wanted_of(given.cover), given.capsules, role)  # type: ignore[arg-type]
    covered = replace(description, distances=Distances(tuple(capsules)))
    model = build_robot(covered, base, mimic=mimic).model
    links = [link.name for link in description.links]
    disabled = Disabled({}, []) if given.srdf is None else read_disabled(given.srdf, links)  # type: ignore[arg-type]
    about: list[str] = []
    if ways is None:
        chosen = Chosen([])
    elif ways in _WAYS:
        chosen, about = _by_rule(str(ways), model, disabled)
    else:
        chosen = _of_file(ways, capsules, model, links)
    names = [x.name for x in capsules]
    lines = [*lines, *disabled.unknown, *(f"{description.path}: {line}" for line in about)]
    return Distances(
        tuple(capsules),
        tuple((names[i], names[j]) for i, j in chosen.kept),
        tuple((names[i], names[j], reason) for (i, j), reason in sorted(chosen.left_out.items())),
    ), lines


def _by_rule(rule: str, model: Model, disabled: Disabled) -> tuple[Chosen, list[str]]:
    """The pairs of a robot by a rule of `_WAYS`, and lines about them."""
    capsules = model.distances.capsules
    pairs, lines = all_pairs(capsules), []
    if len(pairs) > MOST_PAIRS:
        what = f"{len(capsules)} capsules have {len(pairs):,} pairs, more than {MOST_PAIRS:,}"
        raise OptionError(f"{what}; give {option('pairs', 'FILE')}, or fewer capsules")
    if rule == "auto":
        chosen = automatic(model, disabled.reasons)
        always = [pair for pair, reason in chosen.left_out.items() if reason == "always in contact"]
        if always:
            what = f"in contact in all of {SAMPLES} random configurations, and left out"
            lines.append(_listed(always, capsules, what))
        if chosen.far:
            what = f"never within {NEAR * 1000:g} mm in {SAMPLES} random configurations, but not proved apart"
            kept = f"kept: {both('pairs', 'FILE')} can leave out more"
            lines.append(f"{_listed(chosen.far, capsules, what)}; {kept}")
    else:
        chosen = without_disabled(pairs, capsules, disabled.reasons if rule == "srdf" else {})
        close = sorted(neighbours(model, pairs) & set(chosen.kept))
        if close and rule == "srdf":
            lines.append(f"{_listed(close, capsules, 'neighbours, which the SRDF does not disable')}; kept")
    if not chosen.kept:
        lines.append("no pair of its capsules is left, so it has only distances to obstacles")
    return chosen, lines


def _of_file(
    path: str | os.PathLike[str], capsules: Sequence[Capsule], model: Model, links: Sequence[str]
) -> Chosen:
    """The pairs that a file lists, in its order."""
    bodies = [x.body for x in model.distances.capsules]
    found: dict[Pair, None] = {}
    for asked in read_pairs(path, capsules, links):
        for i in asked.capsules[0]:
            for j in asked.capsules[1]:
                if bodies[i] == bodies[j]:
                    where, _, line = asked.where.rpartition(":")
                    what = f"pair {' '.join(escaped(x, 40) for x in asked.names)}: one body"
                    raise DescriptionError(where, int(line), what, "name two that move against each other")
                found[min(i, j), max(i, j)] = None
    return Chosen(list(found))


def _listed(pairs: Sequence[Pair], capsules: Sequence[OnBody], what: str) -> str:
    """A sentence about pairs, with the first ones by name."""
    named = (" ".join(escaped(capsules[k].name, 40) for k in pair) for pair in islice(pairs, _LISTED))
    more = f" and {len(pairs) - _LISTED} more" if len(pairs) > _LISTED else ""
    count = "1 pair is" if len(pairs) == 1 else f"{len(pairs)} pairs are"
    return f"{count} {what}: {', '.join(named)}{more}"
