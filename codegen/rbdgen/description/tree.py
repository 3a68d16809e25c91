"""Checks that links and joints form one tree, and finds its root."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rbdgen.description.quoting import quoted
from rbdgen.description.schema import Joint, Link
from rbdgen.errors import DescriptionError


def find_root(path: str, links: Sequence[Link], joints: Sequence[Joint]) -> str:
    """The name of the root, the only link that is no joint's child, in time linear in the number of links.

    Raises DescriptionError, with the line of the offending element, for repeated names, unknown links, a link
    with two parents, loops, and no or several roots.
    """
    _refuse_doubled(path, "link", links)
    _refuse_doubled(path, "joint", joints)
    _refuse_unknown(path, links, joints)
    above: dict[str, Joint] = {}  # the joint above each link
    for joint in joints:
        first = above.setdefault(joint.child, joint)
        if first is not joint:
            named = f"{quoted(first.name)} (line {first.line}) and {quoted(joint.name)}"
            what = f"link {quoted(joint.child)} has two parents, by joints {named}"
            raise DescriptionError(path, joint.line, what, "keep one: closed chains cannot be described")
    roots = [link for link in links if link.name not in above]
    if len(roots) > 1:
        named = ", ".join(f"{quoted(link.name)} (line {link.line})" for link in roots[:4])
        what = f"{len(roots)} root links: {named}{', ...' if len(roots) > 4 else ''}"
        raise DescriptionError(
            path, roots[1].line, what, "connect them by joints into one tree, or delete what is not used"
        )
    _refuse_loop(path, links, above)
    return roots[0].name


def _refuse_doubled(path: str, kind: str, things: Iterable[Link | Joint]) -> None:
    first: dict[str, int] = {}
    for thing in things:
        if thing.name in first:
            what = f"{kind} {quoted(thing.name)} is already defined at line {first[thing.name]}"
            raise DescriptionError(path, thing.line, what, "rename one of the two")
        first[thing.name] = thing.line


def _refuse_unknown(path: str, links: Sequence[Link], joints: Sequence[Joint]) -> None:
    known = {link.name for link in links}
    for joint in joints:
        for role, name in (("parent", joint.parent), ("child", joint.child)):
            if name not in known:
                what = f"{role} {quoted(name)} of joint {quoted(joint.name)} is no link of this file"
                raise DescriptionError(path, joint.line, what, "add the link or correct the name")


def _refuse_loop(path: str, links: Sequence[Link], above: dict[str, Joint]) -> None:
    """Raises DescriptionError if the joints form a loop.

    It climbs from every link to the root or to a link that is known to be in no loop; a link that is met
    again on the same climb closes a loop.
    """
    good: set[str] = set()
    for link in links:
        climbed: dict[str, None] = {}  # an ordered set
        name = link.name
        while name not in good and name in above:
            if name in climbed:
                joint = above[name]
                what = f"joint {quoted(joint.name)} closes a loop: link {quoted(name)} is its own ancestor"
                raise DescriptionError(
                    path,
                    joint.line,
                    what,
                    "delete or redirect one joint of the loop: the joints must form a tree",
                )
            climbed[name] = None
            name = above[name].parent
        good.update(climbed)
