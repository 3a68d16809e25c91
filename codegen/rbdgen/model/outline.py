"""The outline of a robot as nested lines of text: the tree of its bodies, then frames, contacts and closed
loops.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import NamedTuple

from rbdgen.description.quoting import escaped
from rbdgen.model.attachments import Attachment
from rbdgen.model.joints import Joint, Resistance
from rbdgen.model.model import WORLD, Model


@dataclass(frozen=True)
class Line:
    """A line of text, and the lines below it."""

    text: str
    below: list[Line] = field(default_factory=list)

    def add(self, text: str) -> Line:
        """Adds a line below this one, after those that it has, and returns the new line."""
        line = Line(text)
        self.below.append(line)
        return line

    def drawn(self) -> str:
        """The lines as plain text, with branches drawn in front."""
        found, waiting = [], [(self, "", "")]
        while waiting:  # chains may be longer than Python's stack is deep
            line, front, indent = waiting.pop()
            found.append(front + line.text)
            for k, other in enumerate(reversed(line.below)):
                bar, space = ("└── ", "    ") if k == 0 else ("├── ", "│   ")
                waiting.append((other, indent + bar, indent + space))
        return "\n".join(found)

    def html(self) -> str:
        """The lines as nested HTML lists."""
        found: list[str] = []
        waiting: list[Line | str] = [self]
        while waiting:
            line = waiting.pop()
            if isinstance(line, str):
                found.append(line)
                continue
            found.append(f"<li>{escape(line.text)}")
            if line.below:
                found.append("<ul>")
            waiting += ["</ul></li>" if line.below else "</li>", *reversed(line.below)]
        return f"<ul>{''.join(found)}</ul>"


def outline(model: Model, base: str, merged: Iterable[Attachment], places: Iterable[tuple[str, int]]) -> Line:
    """The tree of bodies with their joints, indices and masses, and the merged links and places on each body.

    `places` has the name and the body of each place.
    """
    sizes = "nq {nq}, nv {nv}, bodies {nbodies}".format_map(model.sizes)
    tree = Line(f"{escaped(model.name)}: {base} base, {sizes}")
    carried = _Carried({}, {})
    for link in merged:
        carried.links.setdefault(link.body, []).append(escaped(link.link))
    for name, body in places:
        carried.places.setdefault(body, []).append(escaped(name))
    branches = {WORLD: tree.add(carried.describe("world", WORLD))}
    for i, moving in enumerate(model.bodies):
        label = f"{escaped(moving.name)}: {float(moving.inertia.mass):.6g} kg; {_joint(moving.joint)}"
        branches[i] = branches[moving.parent].add(carried.describe(label, i))
    for k, frame in enumerate(model.frames):
        carrier = "the world" if frame.body == WORLD else escaped(model.bodies[frame.body].name)
        tree.add(f"frame {k}: {escaped(frame.name)}, on {carrier}")
    for line in _contacts(model):
        tree.add(line)
    for loop in model.loops:
        frames = f"{escaped(loop.first.name)} and {escaped(loop.second.name)}"
        tree.add(f"loop: {frames} stay together ({loop.kind}, {loop.rows} rows)")
    if model.independent:
        tree.add(f"independent velocities: {', '.join(f'v[{k}]' for k in model.independent)}")
    return tree


def position_limits(joints: Sequence[Joint]) -> tuple[list[float], list[float]]:
    """The lower and the upper limits of q of these joints, in order; infinite without a limit."""
    lower, upper = [], []
    for joint in joints:
        limit = joint.limit if joint.nq == 1 else None
        below, above = (None, None) if limit is None else (limit.lower, limit.upper)
        lower += [-float("inf") if below is None else below] * joint.nq
        upper += [float("inf") if above is None else above] * joint.nq
    return lower, upper


def _contacts(model: Model) -> Iterator[str]:
    """A line for every contact, then for every contact set."""
    first = 0
    for k, contact in enumerate(model.contacts):
        links = " and ".join(escaped(end.name) for end in contact.ends)
        loop = ", loop" if contact.second is not None else ""
        rows = f"rows {first}:{first + contact.rows}"
        kind = f"sole with {contact.touching} corners" if contact.corners else contact.kind
        yield f"contact {k}: {escaped(contact.name)}, {kind}{loop} of {links}, {rows}"
        first += contact.rows
    for chosen in model.contact_sets:
        yield f"contact set {chosen.name}: {', '.join(map(escaped, chosen.contacts))}"


class _Carried(NamedTuple):
    """The parts of bodies, by their index: links that are merged into them, and further frames."""

    links: dict[int, list[str]]
    places: dict[int, list[str]]

    def describe(self, label: str, body: int) -> str:
        """A body's label, followed by the links and frames that it carries."""
        for what, names in (("merged", self.links.get(body)), ("frames", self.places.get(body))):
            label += f"; {what}: {', '.join(names)}" if names else ""
        return label


def _joint(joint: Joint) -> str:
    text = f"joint {escaped(joint.name)}, {joint.type.name}"
    if joint.type.one_axis:
        text += f" about ({', '.join(f'{float(x):.6g}' for x in joint.axis)})"
    text += resisting(joint.resistance)
    if joint.follows is not None:
        return f"{text}, follows {joint.follows.multiplier:.6g} q[{joint.follows.idx_q}]"
    return f"{text}, q[{_indices(joint.idx_q, joint.nq)}], v[{_indices(joint.idx_v, joint.nv)}]"


def resisting(own: Resistance) -> str:
    """The resistance of a joint, in words."""
    kind = f"smooth below {own.smoothing:g}" if own.smoothing else "exact"
    told = {
        "damping": f"{own.damping:.6g}",
        "friction": f"{own.friction:.6g} ({kind})",
        "stiffness": f"{own.stiffness:.6g} about {own.reference:.6g}",
        "armature": f"{own.armature:.6g}",
    }
    return "".join(f", {what} {text}" for what, text in told.items() if getattr(own, what))


def _indices(first: int, count: int) -> str:
    return str(first) if count == 1 else f"{first}:{first + count}"
