"""A graph is shared among lines: nothing is read before it is handed over, and places are free when taken."""

from __future__ import annotations

import pytest

import rbdgen
from rbdgen.emit.cuda.fused import fused
from rbdgen.graph.builder import Builder
from rbdgen.graph.node import Graph
from rbdgen.graph.partition import loads_of, operands, partitioned, places, work_of
from rbdgen.graph.programs.unrolled import unrolled
from rbdgen.options import Options
from rbdgen.pipeline.design import design_functions
from rbdgen.pipeline.request import Request


@pytest.fixture(scope="module")
def arm() -> Graph:
    request = Request(rbdgen.load_robot("arm7"), Options.of(target="cuda", functions=["aba"]), package=False)
    return fused(unrolled(design_functions(request)[0].program))


@pytest.mark.parametrize("lines", [1, 3, 4, 8])
@pytest.mark.parametrize("grain", [1, 12, 10_000])
def test_values_are_handed_over_between_supersteps(arm: Graph, lines: int, grain: int) -> None:
    partition = partitioned(arm, lines, grain)
    placed = [node for step in partition.steps for nodes in step for node in nodes]
    assert len(placed) == len(set(placed))
    results = {element for output in arm.outputs for element in output.elements}
    live = {k for k in arm.live() if arm.nodes[k].args and (arm.nodes[k].op != "neg" or k in results)}
    assert set(placed) == live
    seen = set[int]()
    for at, step in enumerate(partition.steps):
        for line, nodes in enumerate(step):
            for node in nodes:
                for argument in operands(arm, node, partition.line_of):
                    before = partition.step_of[argument] < at
                    assert before or (partition.line_of[argument] == line and argument in seen)
                    assert partition.line_of[argument] == line or argument in partition.slots
                seen.add(node)
    assert lines > 1 or not partition.slots


def test_a_sine_and_the_cosine_of_its_angle_are_in_one_line(arm: Graph) -> None:
    partition = partitioned(arm, 4, 20)
    angles: dict[int, set[int]] = {}
    for node, line in partition.line_of.items():
        if arm.nodes[node].op in ("sin", "cos"):
            angles.setdefault(arm.nodes[node].args[0], set()).add(line)
    assert len(angles) == 6
    assert all(len(lines) == 1 for lines in angles.values())


def test_lines_are_balanced(arm: Graph) -> None:
    """The longest line of all supersteps has less than twice its share of the work, barriers not counted."""
    partition = partitioned(arm, 4, work_of(arm) // (4 * 48) + 10)
    longest = sum(max(loads) for loads in loads_of(partition))
    assert longest < 2 * work_of(arm) / 4


def test_places_are_taken_again_after_the_last_superstep() -> None:
    assert places([(0, 1, 7), (1, 2, 8), (2, 2, 9), (3, 3, 6)]) == {7: 0, 8: 1, 9: 0, 6: 0}
    assert places([]) == {}


def test_a_graph_that_computes_nothing_has_no_supersteps() -> None:
    builder = Builder()
    x = builder.input("x", 2)
    assert partitioned(builder.graph([("y", (2,), [x[1], x[0]])]), 4, 10).steps == ()
