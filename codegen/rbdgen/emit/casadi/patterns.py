"""Which derivatives of a function may be other than 0, and which directions go together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rbdgen.emit.casadi.entries import Callee, Pattern
from rbdgen.emit.casadi.matrices import quaternions_of
from rbdgen.runtime.configuration import Manifold
from rbdgen.signature import BAR, DOT, SizedSignature


def first_pattern(value: SizedSignature, vjp: Callee | None, jvp: Callee | None) -> Pattern:
    """By result and input of a function, from one of its products; nothing where there is none."""
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
    """By two inputs of a function: the derivatives of the gradient by the one along the other."""
    found = {}
    for x in value.inputs:
        for by in value.inputs:
            pairs = _pairs(hvp, x.name + BAR + DOT, by.name + DOT)
            if pairs is not None:
                own = _lengths(manifold) if x == by and x.kind == "configuration" else set()
                found[x.name, by.name] = sorted({*pairs, *own})
    return found


def _pairs(product: Callee, output: str, direction: str) -> list[tuple[int, int]] | None:
    """Elements of an output with those of the direction that they depend on; None where it has no such."""
    flat = product.dependence.get(output, {}).get(direction)
    if flat is None:
        return None
    size = next(x.size for x in product.signature.inputs if x.name == direction)
    return [divmod(number, size) for number in flat]


def _lengths(manifold: Manifold) -> set[tuple[int, int]]:
    """What changes along a quaternion's length."""
    return {(at + i, at + k) for at in quaternions_of(manifold) for i in range(4) for k in range(4)}


def together(reached: Mapping[int, Iterable[object]]) -> list[list[int]]:
    """Directions in groups, of which no two reach the same number: one product gives what all of them give.

    Curtis, Powell and Reid, 1974. Directions that reach nothing are in none.
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
