"""Named trees of joints, for tests that draw the numbers of a robot with `Rationals.model`."""

from __future__ import annotations

from typing import NamedTuple

from rbdgen.model.model import WORLD


class Tree(NamedTuple):
    """The parent of every body, and the types of their joints, one letter each (`rationals.LETTERS`)."""

    parents: tuple[int, ...]
    kinds: str


def chain(kinds: str) -> Tree:
    """A chain of joints of these types."""
    return Tree(tuple(range(WORLD, len(kinds) - 1)), kinds)


_FORKED = (WORLD, 0, 1, 1, 0, 4, 4, 0, 7)
_FORKED_TWICE = (*_FORKED, 8, 8, 1)

TREES = {
    # chains
    "pendulum": chain("R"),
    "slider": chain("P"),
    "double pendulum": chain("RR"),
    "arm": chain("RPR"),
    "slides": chain("PPR"),
    "chain": chain("RRPR"),
    "sliders first": chain("PPRR"),
    "long chain": chain("RRPRRRRRR"),
    "very long chain": chain("RPRRRRPRRRRRHRRR"),
    "screws": chain("HPH"),
    "screws and a plane": chain("HPLR"),
    "plane on an arm": chain("RLP"),
    "plane inside": chain("RLR"),
    "ball": chain("SRS"),
    "ball inside": chain("PSR"),
    "free body inside": chain("RFR"),
    # trees on a fixed base
    "fork": Tree((WORLD, 0, 0), "RRR"),
    "fork of types": Tree((WORLD, 0, 0), "RPH"),
    "two chains": Tree((WORLD, 0, WORLD, 2), "RRPR"),
    "two arms": Tree((WORLD, 0, 1, 0, 3, WORLD), "RRPRRP"),
    "on an arm": Tree((WORLD, 0, 1, 0), "RLHS"),
    "tree": Tree((WORLD, 0, 1, 1, 0, 4, 4), "RPRRRRP"),
    "small tree": Tree((WORLD, 0, 1, 1, 0, 4), "RPRRRP"),
    "arms of types": Tree((WORLD, 0, 1, WORLD, 3), "RSPLH"),
    "tree of types": Tree((WORLD, 0, 1, 2, 1, 4, 5), "RPHSLFR"),
    "tree of turns": Tree((WORLD, 0, 1, 1, 0, 4, 4), "RRRRRRR"),
    "two roots": Tree((*_FORKED, WORLD, 9), "RRPRRRPRRRR"),
    "in a plane": Tree((WORLD, 0, 1, 1), "LRHR"),
    "balls on a plane": Tree((WORLD, 0, WORLD), "LSS"),
    "floating on an arm": Tree((WORLD, 0, 1, WORLD), "RFHF"),
    # floating bases
    "floating body": chain("F"),
    "floating fork": Tree((WORLD, 0, 0), "FRP"),
    "floating plane": Tree((WORLD, 0, 0), "FRL"),
    "floating tree": Tree((WORLD, 0, 1, 1, 0), "FRRPR"),
    "floating arms": Tree((WORLD, 0, 1, 0, 3), "FRRPR"),
    "floating arms with a ball": Tree((WORLD, 0, 1, 0, 3), "FRRPS"),
    "floating forks": Tree(_FORKED_TWICE, "FRRPRRRPRRHR"),
    "beside a base": Tree((WORLD, 0, WORLD, 2), "FRRP"),
    "ball beside a base": Tree((WORLD, 0, WORLD, 2), "FRSR"),
    "two bases": Tree((WORLD, 0, WORLD, 2), "FRFP"),
    "two bases with balls": Tree((WORLD, 0, WORLD, 2), "FSFR"),
    # joints of all types
    "some types": Tree((WORLD, 0, 1, 0), "FLSH"),
    "most types": Tree((WORLD, 0, 1, 1, 0, 4), "FLSHPR"),
    "all": Tree((WORLD, 0, 1, 1, 0, 4), "FLSHFR"),
}
"""The trees by name."""


def some(*names: str) -> dict[str, Tree]:
    """These trees, in this order."""
    return {name: TREES[name] for name in names}
