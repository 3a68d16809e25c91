"""The spaces of joints as rows of a manifest: the formulas of a joint type become texts."""

from __future__ import annotations

from functools import cache
from typing import Any

from rbdgen.errors import GraphError
from rbdgen.graph.builder import Builder
from rbdgen.graph.node import Graph
from rbdgen.runtime.configuration import Manifold
from rbdgen.runtime.space import MOVES, Move, Space
from rbdgen.runtime.straight_line import OPERATIONS, StraightLine


def manifold_rows(manifold: Manifold) -> dict[str, Any]:
    """The manifold as a manifest describes it, from which `Manifold.of` makes it again."""
    return {
        "manifold": [joint.row for joint in manifold.joints],
        "spaces": {name: _row(space) for name, space in manifold.spaces.items()},
    }


@cache
def _row(space: Space) -> dict[str, Any]:
    """The row of a space."""
    sizes = (space.nv, space.nq, space.nq)  # the sizes of the second inputs of the formulas
    formulas = {
        move: _recorded(getattr(space, move), space.nq, size) for move, size in zip(MOVES, sizes, strict=True)
    }
    return {
        "elements": list(space.elements),
        "nv": space.nv,
        "layout": space.layout,
        "flat": space.flat,
        **formulas,
    }


def _recorded(move: Move, first: int, second: int) -> str:
    """The text of a formula with two inputs of these sizes."""
    builder = Builder()
    found = list(move(builder.input("first", first), builder.input("second", second)))
    return _line_of(builder.graph([("found", (len(found),), found)])).text


def _line_of(graph: Graph) -> StraightLine:
    """The operations of a graph with one output."""
    steps: list[tuple[str, tuple[int, ...]]] = []
    number, inputs = [], sum(array.size for array in graph.inputs)
    for op, args, value in graph.nodes:
        if op == "input":
            number.append(int(value))
            continue
        number.append(inputs + len(steps))
        if op != "const" and op not in OPERATIONS:
            raise GraphError(f"a formula of a space of q has the operation '{op}', which packages do not run")
        step = (repr(value), ()) if op == "const" else (op, tuple(number[k] for k in args))
        steps.append(step)
    (output,) = graph.outputs
    return StraightLine(tuple(steps), tuple(number[element] for element in output.elements))
