"""The contacts of the smaller robots on which one limb stands for several alike ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from rbdgen.model.model import WORLD
from rbdgen.model.reduce import ReducedModel
from rbdgen.selection.axes import part_of
from rbdgen.selection.limb_places import Lanes


def alike_contacts(reduced: ReducedModel, chosen: Sequence[Sequence[int]]) -> list[Lanes]:
    """The contacts of a smaller robot: for each, the number of the whole robot's contact in each lane.

    `chosen` has the bodies of the smaller robot in each lane. Contacts are alike if they are of one kind and
    on the same bodies of their limbs; several of them are taken in order. In a lane that holds no such
    contact, the number is None. A contact on no limb has a single number.
    """
    found = dict[tuple[object, ...], list[int | None]]()
    for lane, bodies in enumerate(chosen):
        number = {WORLD: WORLD, **{old: new for new, old in enumerate(bodies)}}
        seen = Counter[tuple[object, ...]]()
        for k, (contact, ends) in enumerate(zip(reduced.model.contacts, reduced.contacts, strict=True)):
            if all(end.parent in number for end in ends):
                kind = (contact.kind, len(contact.corners), *(number[end.parent] for end in ends))
                found.setdefault((*kind, seen[kind]), [None for _ in chosen])[lane] = k
                seen[kind] += 1
    assert {k for own in found.values() for k in own} >= {*range(len(reduced.contacts))}, "a contact is left"
    return [tuple(own[:1] if len(set(own)) == 1 else own) for own in found.values()]


def parts_of(
    reduced: ReducedModel, chosen: Sequence[Sequence[int]], contacts: Sequence[Lanes]
) -> list[ReducedModel]:
    """The smaller robot with the limb of each lane.

    A lane that does not hold a contact gets that of a lane that does, so that all lanes are alike.
    """
    bare = replace(reduced, model=replace(reduced.model, contacts=()), contacts=())
    parts = [part_of(bare, list(bodies)) for bodies in chosen]

    def contact_of(own: Lanes, lane: int) -> ReducedModel:
        by_lane = own * len(chosen) if len(own) == 1 else own
        if by_lane[lane] is None:
            lane = next(k for k, number in enumerate(by_lane) if number is not None)
        number = by_lane[lane]
        assert number is not None
        model = replace(reduced.model, contacts=(reduced.model.contacts[number],))
        return part_of(
            replace(reduced, model=model, contacts=(reduced.contacts[number],)), list(chosen[lane])
        )

    found = []
    for lane, part in enumerate(parts):
        each = [contact_of(own, lane) for own in contacts]
        held = tuple(contact for one in each for contact in one.model.contacts)
        ends = tuple(own for one in each for own in one.contacts)
        found.append(replace(part, model=replace(part.model, contacts=held), contacts=ends))
    return found
