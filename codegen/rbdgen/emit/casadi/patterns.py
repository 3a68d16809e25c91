"""The derivatives of a function that may be other than 0, and the directions that share one product."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rbdgen.emit.casadi.entries import Callee, Pattern
from rbdgen.runtime.configuration import Manifold
from rbdgen.signature import BAR, DOT, SizedSignature


def first_pattern(value: SizedSignature, vjp: Callee | None, jvp: Callee | None) -> Pattern:
    """The pattern for each result and input of a function, from one of its products; empty without
    products.
    """
    names = [(y.name, x.name) for y in value.outputs for x in value.inputs]
    if jvp is not None:
        found = {(y, x): _pairs(jvp, y + DOT, x + DOT) for y, x in names}
    elif vjp is not None:
        by_weights = {(y, x): _pairs(vjp, x + BAR, y + BAR) for y, x in names}
        found = {key: pairs and [(row, k) for k, row in pairs] for key, pairs in by_weights.items()}
    else:
        return {}
    return {key: sorted(pairs) for key, pairs in found.items() if pairs is not None}


def second_pattern(value: SizedSignature, hvp: Callee, manifold: Manifold) -> Pattern:
    """The pattern for every two inputs: the derivatives, by the second, of the gradient with respect to the
    first.
    """
    found = {}
    for x in value.inputs:
        for by in value.inputs:
            pairs = _pairs(hvp, x.name + BAR + DOT, by.name + DOT)
            if pairs is not None:
                own = _lengths(manifold) if x == by and x.kind == "configuration" else set()
                found[x.name, by.name] = sorted({*pairs, *own})
    return found


def _pairs(product: Callee, output: str, direction: str) -> list[tuple[int, int]] | None:
    """The elements of an output, each with the elements of the direction on which it depends.

    None if the product has no such output or direction.
    """
    flat = product.dependence.get(output, {}).get(direction)
    if flat is None:
        return None
    size = next(x.size for x in product.signature.inputs if x.name == direction)
    return [divmod(number, size) for number in flat]


def _lengths(manifold: Manifold) -> set[tuple[int, int]]:
    """The elements of the gradient that change with the lengths of quaternions."""
    return {(at + i, at + k) for at in manifold.quaternions for i in range(4) for k in range(4)}


def in_disjoint_groups(reached: Mapping[int, Iterable[object]]) -> list[list[int]]:
    """Groups directions so that no two in a group reach the same number; one product then serves a group.

    This is the method of Curtis, Powell and Reid, 1974. Directions that reach nothing are in no group.
    """
    groups: list[tuple[list[int], set[object]]] = []
    for direction, numbers in reached.items():
        own = set(numbers)
        if not own:
            continue
        group = next((group for group in groups if group[1].isdisjoint(own)), None)
        if group is None:
            groups.append(([direction], own))
        else:
            group[0].append(direction)
            group[1].update(own)
    return [directions for directions, _ in groups]
