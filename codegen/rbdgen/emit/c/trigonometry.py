"""Sines and cosines of a graph: what is printed before anything else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rbdgen.errors import EmitError
from rbdgen.graph.node import Graph, Node

TRIGONOMETRY = ("sin", "cos")


@dataclass(frozen=True)
class Trigonometry:
    """What is printed before anything else.

    `first`: the nodes that the angles need; `calls`: their sines and cosines; `angles`: the place of every
    angle among the arguments of `sincos`, none where the C library is called.
    """

    first: Sequence[int]
    calls: Sequence[int]
    angles: Mapping[int, int]


def live_nodes(graph: Graph) -> Iterator[Node]:
    """The nodes that an output needs: those that are printed."""
    return (graph.nodes[index] for index in _live(graph))


def angle_nodes(graph: Graph) -> tuple[int, ...]:
    """The nodes whose sine or cosine an output needs, in order, each once."""
    return tuple(dict.fromkeys(node.args[0] for node in live_nodes(graph) if node.op in TRIGONOMETRY))


def trigonometry_of(graph: Graph, *, builtin: bool) -> Trigonometry:
    """The angles that depend on no other angle's sine, with all they need.

    Raises:
        EmitError: with `builtin` ones, where there is another angle.
    """
    needed = {angle: _ancestors(graph, angle) for angle in angle_nodes(graph)}
    plain = [
        angle
        for angle, ancestors in needed.items()
        if not any(graph.nodes[k].op in TRIGONOMETRY for k in ancestors)
    ]
    if builtin and (entangled := needed.keys() - set(plain)):
        raise EmitError(
            f"--trig builtin: node {min(entangled)} is an angle that depends on a sine;"
            " generate with --trig libm"
        )
    first = sorted(set().union(*(needed[angle] for angle in plain)))
    calls = [
        index
        for index in _live(graph)
        if graph.nodes[index].op in TRIGONOMETRY and graph.nodes[index].args[0] in plain
    ]
    return Trigonometry(first, calls, _angle_places(graph, plain) if builtin else {})


def _angle_places(graph: Graph, angles: Iterable[int]) -> dict[int, int]:
    """Where in the arrays of sines and cosines each angle stands, one with lanes in as many places."""
    with_lanes, places, count = graph.with_lanes(), {}, 0
    for angle in angles:
        places[angle] = count
        count += graph.lanes if with_lanes[angle] else 1
    return places


def angle_count(graph: Graph) -> int:
    """How many numbers the angles are whose sine or cosine an output needs."""
    with_lanes = graph.with_lanes()
    return sum(graph.lanes if with_lanes[angle] else 1 for angle in angle_nodes(graph))


def other_nodes(graph: Graph, trigonometry: Trigonometry) -> list[int]:
    """The nodes that an output needs and that are not printed first, in order."""
    printed = {*trigonometry.first, *trigonometry.calls}
    return [index for index in _live(graph) if index not in printed]


def _live(graph: Graph) -> list[int]:
    """The nodes that an output needs, in order."""
    live = bytearray(len(graph.nodes))
    for output in graph.outputs:
        for element in output.elements:
            live[element] = 1
    for index in range(len(graph.nodes) - 1, -1, -1):
        if live[index]:
            for argument in graph.nodes[index].args:
                live[argument] = 1
    return [index for index, needed in enumerate(live) if needed]


def _ancestors(graph: Graph, index: int) -> set[int]:
    """The node and all that it depends on."""
    found: set[int] = set()
    waiting = [index]
    while waiting:
        current = waiting.pop()
        if current not in found:
            found.add(current)
            waiting.extend(graph.nodes[current].args)
    return found
