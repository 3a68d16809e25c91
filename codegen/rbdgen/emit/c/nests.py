"""Loops within loops in C."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from rbdgen.emit.c.language import Language
from rbdgen.emit.c.offsets import Steps, sum_of
from rbdgen.graph.programs.nests import Item, Leaf, Place

Around: TypeAlias = Sequence[tuple[str, Sequence[Sequence[Place]]]]
"""The counters of loops, from outside, with the places of the leaves inside as they move in each of them."""

Call: TypeAlias = Callable[[Leaf, Mapping[str, Sequence[Steps]]], str]
"""Gives the call of a leaf's line, from the steps of its arrays in its own loop and those around it."""


def print_item(item: Item, language: Language, call: Call, around: Around = ()) -> list[str]:
    """The statements of a loop, or of loops within loops."""
    if isinstance(item, Leaf):
        return _leaf(item, language, call, around)
    counter = f"k_{len(around) + 1}"
    statements: list[str] = []
    at = 0
    for part in item.body:
        own = slice(at, at + len(part.leaves))
        inside = [(name, moves[own]) for name, moves in (*around, (counter, item.moves))]
        statements += print_item(part, language, call, inside)
        at = own.stop
    return language.loop(f"{item.times}", statements, counter)


def _leaf(leaf: Leaf, language: Language, call: Call, around: Around) -> list[str]:
    loop = leaf.first
    moves = [(counter, [place for (place,) in zip(*of_leaves, strict=True)]) for counter, of_leaves in around]
    counts, *begins = (
        [Steps(steps, counter) for counter, places in moves for steps in [tuple(p[k] for p in places)]]
        for k in range(1 + len(loop.accesses))
    )
    steps = {
        name: [*outer, Steps(access.steps(loop.count), "k")]
        for (name, access), outer in zip(loop.accesses.items(), begins, strict=True)
    }
    statement = call(leaf, steps)
    if loop.count == 1:
        return [statement]
    return language.loop(sum_of(loop.count, counts), [statement])
