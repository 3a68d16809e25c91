"""Nested loops visit the runs of a program in their order, at their places, and shorten its C."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

import pytest

from rbdgen.access import Access, element
from rbdgen.emit.c.language import C
from rbdgen.emit.c.nests import print_item
from rbdgen.emit.c.offsets import Offsets
from rbdgen.errors import EmitError
from rbdgen.graph.builder import Builder
from rbdgen.graph.node import Graph
from rbdgen.graph.programs.nests import Item, Leaf, Place, nested, run_counts
from rbdgen.graph.programs.program import Loop, Program

Run: TypeAlias = tuple[str, tuple[int, ...]]
"""The name of a loop, and the first element of each of its arrays in a run."""


def line() -> Graph:
    builder = Builder()
    (x,) = builder.input("x", 1)
    return builder.graph([("y", (1,), [x + 1])])


LINE, OTHER = line(), line()


def loop(name: str, reads: Sequence[int], writes: Sequence[int], kernel: Graph = LINE) -> Loop:
    count = max(len(reads), len(writes))
    return Loop(name, kernel, {"x": element("a", reads)}, {"y": element("b", writes)}, count)


def runs(loops: Sequence[Loop]) -> list[Run]:
    return [
        (one.name, tuple(access.address(k, 0) for access in one.accesses.values()))
        for one in loops
        for k in range(one.count)
    ]


def visited(item: Item, moved: Sequence[Place] = ()) -> Iterator[Run]:
    """The runs of an item whose leaves are moved by the nests around it."""
    moved = moved or [(0,) * len(place) for place in item.places]
    if isinstance(item, Leaf):
        ((more, *starts),) = moved
        accesses = item.first.accesses.values()
        for k in range(item.first.count + more):
            yield (
                item.first.name,
                tuple(x.address(k, 0) + start for x, start in zip(accesses, starts, strict=True)),
            )
        return
    for moves in zip(*item.moves, strict=True):
        at = 0
        for part in item.body:
            own = slice(at, at + len(part.leaves))
            pairs = zip(moved[own], moves[own], strict=True)
            yield from visited(part, [tuple(x + y for x, y in zip(a, b, strict=True)) for a, b in pairs])
            at = own.stop


def eliminated(n: int) -> list[Loop]:
    """The loops of an elimination of [A, b] without pivots, with fewer columns each time."""
    found = []
    for k in range(n):
        columns = range(k + 1, n + 1)
        found.append(loop("divide", [k], [(n + 1) * k + j for j in columns]))
        found += [loop("subtract", [(n + 1) * i + k], [(n + 1) * i + j for j in columns]) for i in range(n)]
    return found


PROGRAMS: dict[str, tuple[list[Loop], int]] = {
    "a sweep": ([loop("s", [3], [k]) for k in (0, 4, 1)], 1),
    "sweeps over contacts of two loops": (
        [loop(name, range(3), [9 + k]) for k in (2, 0, 1, 2, 0, 1) for name in ("s", "t")],
        1,
    ),
    "steps of rows": ([loop("s", range(k, k + 4), [k]) for _ in range(3) for k in range(5)], 1),
    "an elimination": (eliminated(4), 1),
    "more runs each time": ([loop("s", range(k), range(k)) for k in (1, 2, 3)], 3),
    "other steps": ([loop("s", [0, k], [0, 1]) for k in (1, 2, 3)], 3),
    "other lines": ([loop("s", [k], [k], kernel) for k in range(2) for kernel in (LINE, OTHER)], 1),
    "two loops are no nest": ([loop("s", [k], [k]) for k in range(2)], 2),
    "nothing": ([], 0),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_runs_and_their_order(name: str) -> None:
    loops, count = PROGRAMS[name]
    items = nested(loops)
    assert len(items) == count
    assert [run for item in items for run in visited(item)] == runs(loops)
    assert [run for item in nested(loops, lambda number: True) for run in visited(item)] == runs(loops)
    assert len(nested(loops, lambda number: True)) == len(loops)
    merged = [one for item in items for leaf in item.leaves for one in [leaf.merged]]
    assert sorted(runs(merged)) == sorted(runs(loops))


def test_one_loop_may_be_kept_apart() -> None:
    loops = [loop("s", [k], [k]) for k in range(7)]
    assert [len(item.leaves[0].loops) for item in nested(loops, lambda number: number == 3)] == [3, 1, 3]


def test_counts_of_runs() -> None:
    """Inner loops come before outer ones, with all their runs."""
    assert run_counts(Program((), (), tuple(eliminated(4)))) == [10, 40, 16, 4]
    assert run_counts(Program((), (), tuple(PROGRAMS["a sweep"][0]))) == [3]


def printed(loops: Sequence[Loop]) -> str:
    offsets = Offsets("f")
    statements: list[str] = []
    for item in nested(loops):
        statements += print_item(
            item,
            C,
            lambda leaf, steps: (
                f"{leaf.first.name}(b + {offsets.begin(leaf.places[0][2], steps['y']) or 0});"
            ),
        )
    tables = [f"{x.name}: {list(x_of)}" for x_of, x in offsets.tables.items()]
    return "\n".join([*tables, *statements])


def test_c_of_an_elimination() -> None:
    assert printed(eliminated(4)) == (
        "for (int k_1 = 0; k_1 < 4; ++k_1) {\n"
        "    for (int k = 0; k < 4 - k_1; ++k) {\n"
        "        divide(b + 1 + 6 * k_1 + k);\n"
        "    }\n"
        "    for (int k_2 = 0; k_2 < 4; ++k_2) {\n"
        "        for (int k = 0; k < 4 - k_1; ++k) {\n"
        "            subtract(b + 1 + k_1 + 5 * k_2 + k);\n"
        "        }\n"
        "    }\n"
        "}"
    )


def test_tables_of_places() -> None:
    """Uneven places come from tables; the first one also has the beginning."""
    loops = [loop("s", [0], [7 + first + k for k in (0, 5, 1)]) for first in (4, 0, 9)]
    assert printed(loops) == (
        "offsets1: [11, 7, 16]\n"
        "offsets2: [0, 5, 1]\n"
        "for (int k_1 = 0; k_1 < 3; ++k_1) {\n"
        "    for (int k = 0; k < 3; ++k) {\n"
        "        s(b + offsets1[k_1] + offsets2[k]);\n"
        "    }\n"
        "}"
    )


def test_large_offsets_are_refused() -> None:
    with pytest.raises(EmitError, match="f: an array is too long for a loop"):
        Offsets("f").table((0, 65536))


def test_steps_of_an_access() -> None:
    assert Access("a", (0, 1), (5,)).steps(3) == (0, 0, 0)
    assert Access("a", (0, 1), (5, 3, 9)).steps(3) == (0, -2, 4)
