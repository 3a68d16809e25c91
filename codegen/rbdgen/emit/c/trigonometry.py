"""The sines and cosines of a graph, which are printed before all other nodes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rbdgen.errors import EmitError
from rbdgen.graph.node import Graph, Node
from rbdgen.wording import option

TRIGONOMETRY = ("sin", "cos")


@dataclass(frozen=True)
class Trigonometry:
    """The nodes that are printed before all others."""

    first: Sequence[int]
    """The nodes that the angles depend on."""
    calls: Sequence[int]
    """The sines and cosines of the angles."""
    angles: Mapping[int, int]
    """The position of every angle among the arguments of `sincos`; empty if the C library is called."""


def live_nodes(graph: Graph) -> Iterator[Node]:
    """The nodes that an output depends on; only these are printed."""
    return (graph.nodes[index] for index in graph.live())


def angle_nodes(graph: Graph) -> tuple[int, ...]:
    """The nodes whose sine or cosine an output needs, in order, each once."""
    return tuple(dict.fromkeys(node.args[0] for node in live_nodes(graph) if node.op in TRIGONOMETRY))


def trigonometry_of(graph: Graph, *, builtin: bool) -> Trigonometry:
    """The angles that do not depend on the sine or cosine of another angle, and the nodes that they need.

    Raises:
        EmitError: `builtin` is set and an angle depends on the sine or cosine of another.
    """
    needed = {angle: _ancestors(graph, angle) for angle in angle_nodes(graph)}
    plain = [
        angle
        for angle, ancestors in needed.items()
        if not any(graph.nodes[k].op in TRIGONOMETRY for k in ancestors)
    ]
    if builtin and (entangled := needed.keys() - set(plain)):
        raise EmitError(
            f"{option('trig', 'builtin')}: node {min(entangled)} is an angle that depends on a sine; "
            f"generate with {option('trig', 'libm')}"
        )
    first = sorted(set().union(*(needed[angle] for angle in plain)))
    calls = [
        index
        for index in graph.live()
        if graph.nodes[index].op in TRIGONOMETRY and graph.nodes[index].args[0] in plain
    ]
    return Trigonometry(first, calls, _angle_places(graph, plain) if builtin else {})


def _angle_places(graph: Graph, angles: Iterable[int]) -> dict[int, int]:
    """The place of each angle in the arrays of sines and cosines; an angle with lanes takes one place per
    lane.
    """
    with_lanes, places, count = graph.with_lanes(), {}, 0
    for angle in angles:
        places[angle] = count
        count += graph.lanes if with_lanes[angle] else 1
    return places


def angle_count(graph: Graph) -> int:
    """The number of angles whose sine or cosine an output needs; an angle with lanes counts once per lane."""
    with_lanes = graph.with_lanes()
    return sum(graph.lanes if with_lanes[angle] else 1 for angle in angle_nodes(graph))


def other_nodes(graph: Graph, trigonometry: Trigonometry) -> list[int]:
    """The nodes that an output needs and that are not printed first, in order."""
    printed = {*trigonometry.first, *trigonometry.calls}
    return [index for index in graph.live() if index not in printed]


def _ancestors(graph: Graph, index: int) -> set[int]:
    """The node and all nodes that it depends on."""
    found: set[int] = set()
    waiting = [index]
    while waiting:
        current = waiting.pop()
        if current not in found:
            found.add(current)
            waiting.extend(graph.nodes[current].args)
    return found
