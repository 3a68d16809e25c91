"""The C function that converts rows of a Jacobian from the tangent space of q to the elements of q."""

from __future__ import annotations

from dataclasses import dataclass

from rbdgen.emit.casadi.entries import Place
from rbdgen.emit.coordinates import statements, statements_of_lanes


@dataclass(frozen=True)
class CRows:
    """The function that turns rows in the tangent space of q into rows by its elements."""

    statements: tuple[str, ...]
    trigonometry: tuple[str, ...]
    """The functions that it calls: "sin", "cos", both or none."""


def conversion(place: Place, lanes: str | None) -> CRows:
    """The function of `CRows` for numbers, or for vectors of the type `lanes`."""
    graph = place.to_coordinates
    used = {node.op for node in graph.nodes}
    every = f"{place.macro}_ALL"
    body = statements(graph) if lanes is None else statements_of_lanes(graph, lanes, every)
    return CRows(body, tuple(name for name in ("sin", "cos") if name in used))
