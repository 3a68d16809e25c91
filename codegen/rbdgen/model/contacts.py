"""Contacts on the bodies of a model: which rows they have, and where they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Literal

from rbdgen.description import contacts as given
from rbdgen.description.quoting import escaped, quoted
from rbdgen.errors import ModelError
from rbdgen.model.frames import Frame, nearest
from rbdgen.spatial.ops import Transform, Vector

ContactSet = given.ContactSet

ContactKind = Literal["point", "frame"]
"""What a contact holds: a point, or axes as well."""


@dataclass(frozen=True)
class Contact:
    """A place of a body that stands still: in the world, or (`second`) at a place of another body.

    `first`, `second`: the contact's point in the axes of the link that was named, as a frame on its body.
    """

    name: str
    kind: ContactKind
    first: Frame
    second: Frame | None = None

    @property
    def rows(self) -> int:
        """How many equations it is: linear, then those of axes."""
        return 3 if self.kind == "point" else 6

    @property
    def anchor(self) -> int:
        """How many numbers say where it is held: a point, then the rotation of its axes, row-major."""
        return 3 if self.kind == "point" else 12

    @property
    def anchored(self) -> bool:
        """Whether it can be pulled to an anchor: a loop of frames cannot."""
        return self.kind == "point" or self.second is None

    def renumbered(self, number: Mapping[int, int]) -> Contact:
        """The contact where its bodies have other indices."""
        first, *others = (replace(end, body=number[end.body]) for end in self.ends)
        return replace(self, first=first, second=others[0] if others else None)

    @property
    def ends(self) -> tuple[Frame, ...]:
        """Its places on bodies: one, or two of a loop."""
        return (self.first,) if self.second is None else (self.first, self.second)


def model_contacts(asked: Sequence[given.Contact], known: Mapping[str, Frame]) -> tuple[Contact, ...]:
    """The contacts on the bodies. `known`: all frames by name.

    Raises ModelError for an unknown link, for two contacts of one name, and where no joint moves a contact.
    """
    contacts: dict[str, Contact] = {}
    for one in asked:
        if one.name in contacts:
            raise ModelError(f"contact {quoted(one.name)}: there are two of this name; give each its own")
        contacts[one.name] = _model_contact(one, known)
    return tuple(contacts.values())


def model_sets(asked: Sequence[ContactSet], contacts: Sequence[Contact]) -> tuple[ContactSet, ...]:
    """The sets; ModelError for one of a contact that there is none of, or of one contact twice."""
    known = [contact.name for contact in contacts]
    for chosen in asked:
        for k, name in enumerate(chosen.contacts):
            what = f"contact set {quoted(chosen.name)}: "
            if name not in known:
                near = " or ".join(map(quoted, get_close_matches(name, known, n=3)))
                choose = (
                    f"choose from: {', '.join(map(escaped, known))}" if known else "give --contact NAME=LINK"
                )
                remedy = f"did you mean {near}?" if near else choose
                raise ModelError(f"{what}there is no contact {quoted(name)}; {remedy}")
            if name in chosen.contacts[:k]:
                raise ModelError(f"{what}contact {quoted(name)} is in it twice; name it once")
    return tuple(asked)


def overdetermined(contacts: Sequence[Contact], nv: int) -> list[str]:
    """A warning where contacts have more rows than the robot has degrees of freedom."""
    rows = sum(contact.rows for contact in contacts)
    if rows <= nv:
        return []
    what = f"contacts have {rows} rows, the robot has {nv} degrees of freedom: not all rows are independent"
    return [f"{what}; give mu > 0 where all of them are active, such as 1e-8"]


def _model_contact(one: given.Contact, known: Mapping[str, Frame]) -> Contact:
    if isinstance(one, given.Loop):
        kind: ContactKind = "frame" if one.frame else "point"
        first = _placed(one, one.link1, one.point1, known)
        second = _placed(one, one.link2, one.point2, known)
        if first.body == second.body:
            what = f"links {quoted(one.link1)} and {quoted(one.link2)} are on one body"
            raise ModelError(f"contact {quoted(one.name)}: {what}; name links with a joint between them")
        return Contact(one.name, kind, first, second)
    kind = "frame" if isinstance(one, given.Frame) else "point"
    first = _placed(one, one.link, one.point, known)
    if first.body < 0:
        what = f"no joint moves link {quoted(one.link)}"
        raise ModelError(f"contact {quoted(one.name)}: {what}; name a link behind a joint")
    return Contact(one.name, kind, first)


def _placed(one: given.Contact, link: str, point: Sequence[float], known: Mapping[str, Frame]) -> Frame:
    """The frame in the axes of the link of this name, at the point."""
    if link not in known:
        what = f"contact {quoted(one.name)}: there is no link {quoted(link)}"
        raise ModelError(f"{what}; {nearest(link, known, 'a link')}")
    carrier = known[link]
    R, p = carrier.placement
    return Frame(link, carrier.body, Transform(R, p + R.apply(Vector(*point))))
