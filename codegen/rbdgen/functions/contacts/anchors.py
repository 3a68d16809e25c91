"""Anchored contacts, which are pulled back to the poses at which they were made.

They satisfy J a + drift + mu lambda = -kp e - kd J v. The anchor of a contact is its pose when it was made:
x0, and R0 for a frame. The error e is x - x0 and, for a frame, also half the sum of r0_k x r_k over the
columns of R0 and R. This half sum is the axis of the rotation from R0 to R, times the sine of its angle.
Closed loops can be anchored only as points. Their x is the position of end 1 minus that of end 2, seen from
the last body that carries both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rbdgen.functions.contacts.on_bodies import outward, seen_from
from rbdgen.functions.contacts.relative import contact_pose
from rbdgen.functions.contacts.unit_forces import Contacts, Rows
from rbdgen.functions.momentum.energy import half
from rbdgen.model.contacts import Contact
from rbdgen.model.joints import Coordinate
from rbdgen.model.model import Model
from rbdgen.model.reduce import PlacedFrame, ReducedModel
from rbdgen.spatial.ops import IDENTITY, ZERO, Matrix, Vector
from rbdgen.spatial.scalar import Scalar, add, mul, neg
from rbdgen.sweeps.inputs import State


def pulled(x: State, apart: Sequence[Scalar], rates: Sequence[Scalar]) -> list[Scalar]:
    """-kp e - kd J v for all rows."""
    kp, kd = x.arrays["gains"]
    return [neg(add(mul(kp, e), mul(kd, rate))) for e, rate in zip(apart, rates, strict=True)]


def anchors(
    contacts: Sequence[Contact], values: Sequence[Scalar]
) -> Iterator[tuple[Vector, tuple[Vector, ...]]]:
    """For every contact, x0 of its anchor and, for a frame, the columns of R0."""
    for contact in contacts:
        own, values = values[: contact.anchor], values[contact.anchor :]
        x0, *rows = vectors(own)
        yield x0, Matrix(*rows).T.rows if rows else ()


def vectors(values: Sequence[Scalar]) -> list[Vector]:
    """The numbers in groups of three."""
    return [Vector(*values[k : k + 3]) for k in range(0, len(values), 3)]


def turned(before: Sequence[Vector], now: Sequence[Vector]) -> list[Scalar]:
    """Half the sum of r0_k x r_k. It is empty for a point, which has no axes."""
    total = ZERO
    for r0, r in zip(before, now, strict=False):
        total = total + r0.cross(r)
    return list(map(half, total)) if before else []


def apart(model: Model, q: Sequence[Coordinate], values: Sequence[Scalar]) -> list[Scalar]:
    """The errors e of all rows."""
    found: list[Scalar] = []
    position, rotation = map(vectors, contact_pose(model, q))
    for k, (x0, R0) in enumerate(anchors(model.contacts, values)):
        found += [*(position[k] - x0), *turned(R0, Matrix(*rotation[3 * k : 3 * k + 3]).T.rows)]
    return found


def apart_in_own_axes(reduced: ReducedModel, contacts: Contacts, values: Sequence[Scalar]) -> list[Scalar]:
    """The errors e of all rows, in the axes of the rows of `Contacts`. Anchors in the world are transformed
    to the bodies of their contacts.
    """
    placed = reduced.contacts_on(contacts.bodies)
    found: list[Scalar] = []
    for rows, one, (x0, R0) in zip(
        contacts.rows, placed, anchors(reduced.model.contacts, values), strict=True
    ):
        if rows.own:
            found += _on_body(contacts, rows, one.ends[0], x0, R0)
        else:
            found += _between(reduced, contacts, rows, one.ends) - x0
    return found


def _on_body(
    contacts: Contacts, rows: Rows, place: PlacedFrame, x0: Vector, R0: Sequence[Vector]
) -> list[Scalar]:
    (end,) = rows.held.ends
    for i in end.path:
        x0 = contacts.bodies[i].rotation.to_child(x0 - contacts.bodies[i].translation)
    before = [outward(contacts.bodies, end.path, r0) for r0 in R0]
    return [*(end.point - x0), *turned(before, [place.rotation.to_parent(e) for e in IDENTITY])]


def _between(reduced: ReducedModel, contacts: Contacts, rows: Rows, places: Sequence[PlacedFrame]) -> Vector:
    """The vector from end 2 of a closed loop to end 1, in the axes of its rows."""
    carrier = rows.held.carrier
    first, second = (
        seen_from(contacts.bodies, reduced.model.path(carrier, place.parent)[1], place.translation)
        for place in places
    )
    return rows.held.axes.to_child(first - second)
