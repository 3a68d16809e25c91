"""Contacts on the bodies of a model: their rows, and the places on bodies where they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from rbdgen.description import contacts as given
from rbdgen.description.quoting import quoted
from rbdgen.description.schema import Description
from rbdgen.errors import ModelError
from rbdgen.model.frames import Frame, matching, nearest
from rbdgen.spatial.ops import Transform, Vector
from rbdgen.wording import choose, option

ContactSet = given.ContactSet

SolverPlan = given.SolverPlan

Extra = given.Extra

DEFAULT_PLAN = given.DEFAULT_PLAN

ContactKind = Literal["point", "frame"]
"""The thing that a contact constrains: a point, or a frame, which is a point and axes."""


@dataclass(frozen=True)
class Contact:
    """A place on a body that is held: in the world, or (with `second`) at a place on another body.

    `first` and `second` are the contact's point in the axes of the link that was named, as frames on bodies.
    """

    name: str
    kind: ContactKind
    first: Frame
    second: Frame | None = None
    radius: float = 0.0
    """The radius of a sphere about the point, in m."""
    corners: tuple[Vector, ...] = ()
    """The corners of a sole from the contact's point, in the axes of the link, in m."""

    @property
    def has_friction(self) -> bool:
        """Whether a step with friction lets the contact open and slide: a point that is not part of a closed
        loop, or a sole.
        """
        return bool(self.touching)

    @property
    def touching(self) -> int:
        """The number of points that can touch the ground in a step with friction: the corners of a sole."""
        return len(self.corners) or int(self.kind == "point" and self.second is None)

    @property
    def points(self) -> tuple[Contact, ...]:
        """The corners of a sole as contacts of their own, or the contact itself if it is no sole."""
        if not self.corners:
            return (self,)
        R, p = self.first.placement
        placements = (Transform(R, p + R.apply(corner)) for corner in self.corners)
        ends = (replace(self.first, placement=placement) for placement in placements)
        return tuple(Contact(self.name, "point", end) for end in ends)

    @property
    def rows(self) -> int:
        """The number of equations: three linear ones, followed for a frame by three angular ones."""
        return 3 if self.kind == "point" else 6

    @property
    def anchor(self) -> int:
        """The number of elements of its anchor: a point and, for a frame, a rotation, row-major."""
        return 3 if self.kind == "point" else 12

    @property
    def anchored(self) -> bool:
        """Whether it can be anchored. A closed loop of frames cannot."""
        return self.kind == "point" or self.second is None

    def renumbered(self, number: Mapping[int, int]) -> Contact:
        """The contact with new indices of its bodies: `number` maps each old index to the new one."""
        first, *others = (replace(end, body=number[end.body]) for end in self.ends)
        return replace(self, first=first, second=others[0] if others else None)

    @property
    def ends(self) -> tuple[Frame, ...]:
        """The places of the contact on bodies: two for a closed loop, otherwise one."""
        return (self.first,) if self.second is None else (self.first, self.second)


def model_contacts(
    asked: Sequence[given.Contact], known: Mapping[str, Frame], description: Description
) -> tuple[Contact, ...]:
    """The contacts on the bodies. `known` has all frames by name.

    Raises ModelError for an unknown link, for two contacts of one name, and if no joint moves a contact.
    """
    contacts: dict[str, Contact] = {}
    for one in (single for some in asked for single in _on_links(some, known, description)):
        if one.name in contacts:
            raise ModelError(f"contact {quoted(one.name)}: there are two of this name; give each its own")
        contacts[one.name] = _model_contact(one, known)
    return tuple(contacts.values())


def _on_links(
    one: given.Contact, known: Mapping[str, Frame], description: Description
) -> list[given.Contact]:
    """The contact itself if it gives its link; otherwise a contact for every link that its name matches."""
    if isinstance(one, given.Loop):
        return [one]
    links = matching(one.link or one.name, known, description)
    if one.link is None:
        named = next((link for link in links if any(mark in link for mark in given.MARKS)), None)
        if named is not None:
            what = f"contact {quoted(one.name)}: link {quoted(named)} has , = or : in its name"
            raise ModelError(f"{what}; give the contact a name of its own, as NAME=LINK")
        return [replace(one, name=link, link=link) for link in links or [one.name]]
    if len(links) > 1:
        what = f"contact {quoted(one.name)}: {quoted(one.link)} stands for {len(links)} links"
        raise ModelError(f"{what}; leave the contact's name out, so that each is called as its link")
    return [replace(one, link=links[0] if links else one.link)]


def model_sets(asked: Sequence[ContactSet], contacts: Sequence[Contact]) -> tuple[ContactSet, ...]:
    """The contact sets; ModelError if a set names an unknown contact, or one contact twice."""
    known = [contact.name for contact in contacts]
    for chosen in asked:
        for k, name in enumerate(chosen.contacts):
            what = f"contact set {quoted(chosen.name)}: "
            if name not in known:
                remedy = choose(name, known) if known else f"give {option('contacts', ['NAME=LINK'])}"
                raise ModelError(f"{what}there is no contact {quoted(name)}; {remedy}")
            if name in chosen.contacts[:k]:
                raise ModelError(f"{what}contact {quoted(name)} is in it twice; name it once")
    return tuple(asked)


def overdetermined(contacts: Sequence[Contact], nv: int) -> list[str]:
    """A warning if contacts have more rows than the robot has degrees of freedom."""
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
    kind = "point" if isinstance(one, given.Point) else "frame"
    link, point = one.link or one.name, one.point or given.ORIGIN
    first = _placed(one, link, point, known)
    if first.body < 0:
        what = f"no joint moves link {quoted(link)}"
        raise ModelError(f"contact {quoted(one.name)}: {what}; name a link behind a joint")
    if isinstance(one, given.Sole):
        corners = (Vector(*corner) - Vector(*point) for corner in one.corners or ())
        return Contact(one.name, kind, first, corners=tuple(corners))
    return Contact(one.name, kind, first, radius=one.radius if isinstance(one, given.Point) else 0.0)


def _placed(one: given.Contact, link: str, point: Sequence[float], known: Mapping[str, Frame]) -> Frame:
    """The frame at this point in the axes of the link of this name."""
    if link not in known:
        what = f"contact {quoted(one.name)}: there is no link {quoted(link)}"
        raise ModelError(f"{what}; {nearest(link, known, 'a link')}")
    carrier = known[link]
    R, p = carrier.placement
    return Frame(link, carrier.body, Transform(R, p + R.apply(Vector(*point))))
