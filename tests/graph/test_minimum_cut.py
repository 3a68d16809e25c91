"""Minimum cuts, compared with all cuts of small graphs."""

from __future__ import annotations

from itertools import chain, combinations

from hypothesis import given
from hypothesis import strategies as st

from rbdgen.graph.minimum_cut import UNCUT, minimum_cut

Arc = tuple[int, int, int]
SOURCE, SINK = 0, 5
vertices = st.integers(SOURCE, SINK)
graphs = st.lists(st.tuples(vertices, vertices, st.integers(0, 4)), max_size=20)


def weight(arcs: list[Arc], side: set[int]) -> int:
    """The capacity of the arcs that leave a side."""
    return sum(capacity for tail, head, capacity in arcs if tail in side and head not in side)


@given(graphs)
def test_of_all_cuts_it_is_the_cheapest_with_the_fewest_vertices(arcs: list[Arc]) -> None:
    inner = range(SOURCE + 1, SINK)
    choices = chain.from_iterable(combinations(inner, size) for size in range(len(inner) + 1))
    sides = [{SOURCE, *chosen} for chosen in choices]
    cheapest = min(weight(arcs, side) for side in sides)
    fewest = set.intersection(*(side for side in sides if weight(arcs, side) == cheapest))
    found = minimum_cut(arcs, SOURCE, SINK)
    assert found == fewest
    assert weight(arcs, found) == cheapest


def test_an_arc_that_may_not_be_cut_is_not() -> None:
    arcs = [("source", "a", UNCUT), ("a", "b", UNCUT), ("b", "c", 3), ("a", "c", 2), ("c", "sink", 6)]
    assert minimum_cut(arcs, "source", "sink") == {"source", "a", "b"}


def test_nothing_is_cut_where_no_path_leads_to_the_sink() -> None:
    assert minimum_cut([("source", "a", 1), ("b", "sink", 1)], "source", "sink") == {"source", "a"}
    assert minimum_cut([], "source", "sink") == {"source"}
