"""Alike limbs of a robot, such as legs, arms or fingers: they have the same joints and differ only in
numbers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rbdgen.model.contacts import Contact
from rbdgen.model.model import WORLD, Model

LANES: Final = (2, 4, 8)
"""The numbers of limbs that may be the lanes of a vector together."""

Limb = tuple[int, ...]
"""The numbers of a limb's bodies, in order."""


@dataclass(frozen=True)
class Limbs:
    """Limbs that go together: each of the `groups` has `lanes` alike ones."""

    lanes: int
    groups: tuple[tuple[Limb, ...], ...]

    def bodies(self, model: Model, lane: int) -> list[int]:
        """The bodies of a smaller robot that has only one limb of each group: the limb of this lane, in the
        place of the first one.
        """
        instead = {
            first: own for limbs in self.groups for first, own in zip(limbs[0], limbs[lane], strict=True)
        }
        gone = {body for limbs in self.groups for limb in limbs[1:] for body in limb}
        return [instead.get(i, i) for i in range(model.nbodies) if i not in gone]

    def several(self, model: Model) -> frozenset[int]:
        """The bodies that stand for several bodies of the model, by their indices in the smaller robot."""
        first = {body for limbs in self.groups for body in limbs[0]}
        return frozenset(k for k, body in enumerate(self.bodies(model, 0)) if body in first)


def limbs_in_lanes(model: Model, numbers: Iterable[int] = LANES) -> Iterator[Limbs]:
    """The alike limbs that fill the lanes, for each possible number of lanes. Other limbs are treated on
    their own.
    """
    groups = alike_limbs(model)
    for lanes in numbers:
        full = tuple(
            limbs[k : k + lanes] for limbs in groups for k in range(0, len(limbs) - lanes + 1, lanes)
        )
        if full:
            yield Limbs(lanes, full)


def limbs_in_turn(model: Model) -> Iterator[Limbs]:
    """The alike limbs that are processed one after the other, for each possible number of them in a group."""
    most = max(map(len, alike_limbs(model)), default=1)
    return limbs_in_lanes(model, range(2, most + 1))


def alike_limbs(model: Model) -> list[tuple[Limb, ...]]:
    """Groups of two or more limbs on one body, or on the world, with the same joints in the same tree.

    Limbs that are parts of these limbs are not listed: two arms are, but their fingers are not.
    """
    shapes, found = _shapes(model), []
    waiting: list[Sequence[int]] = [_children(model, WORLD)]
    for children in waiting:
        kinds = defaultdict(list)
        for i in children:
            kinds[shapes[i]].append(i)
        for roots in kinds.values():
            if len(roots) > 1:
                found.append(tuple(tuple(range(i, model.subtree_end[i])) for i in roots))
            else:
                waiting.append(model.children[roots[0]])
    return found


def contact_between(model: Model, limbs: Limbs) -> Contact | None:
    """The first contact that is between two limbs that go together; None if there is none."""
    lanes = [{WORLD, *limbs.bodies(model, lane)} for lane in range(limbs.lanes)]
    ends = ((contact, {end.body for end in contact.ends}) for contact in model.contacts)
    return next((contact for contact, own in ends if not any(own <= lane for lane in lanes)), None)


def unlike_limbs(model: Model) -> str | None:
    """The reason why a robot has no alike limbs, with the first difference; None if it has some that no
    contact holds together.
    """
    every = [contact_between(model, limbs) for limbs in limbs_in_lanes(model)]
    if every:
        held = next(filter(None, every), None)
        return None if None in every or held is None else f"contact '{held.name}' holds two of them together"
    for above in (WORLD, *range(model.nbodies)):
        roots = _children(model, above)
        if len(roots) > 1:
            first, second = (_described(model, i) for i in _difference(model, roots[0], roots[1]))
            names = [model.bodies[i].joint.name for i in roots[:2]]
            return f"the limbs of joints '{names[0]}' and '{names[1]}' differ: {first}, {second}"
    return "no body carries two"


def _children(model: Model, i: int) -> Sequence[int]:
    return [k for k, body in enumerate(model.bodies) if body.parent == i]


def _shapes(model: Model) -> list[Any]:
    """The property that alike limbs must share, for every body: the joint types of its subtree."""
    shapes: list[Any] = [None] * model.nbodies
    for i in reversed(range(model.nbodies)):
        body = model.bodies[i]
        shapes[i] = (body.joint.type.name, body.hidden, *(shapes[k] for k in model.children[i]))
    return shapes


def _difference(model: Model, i: int, j: int) -> tuple[int, int]:
    """The first pair of bodies that differ in the subtrees of i and j."""
    shapes = _shapes(model)
    if shapes[i][:2] == shapes[j][:2] and len(shapes[i]) == len(shapes[j]):
        for a, b in zip(model.children[i], model.children[j], strict=True):
            if shapes[a] != shapes[b]:
                return _difference(model, a, b)
    return i, j


def _described(model: Model, i: int) -> str:
    joint, below = model.bodies[i].joint, len(model.children[i])
    return f"'{joint.name}' is {joint.type.name} with {below} joint{'' if below == 1 else 's'} on it"
