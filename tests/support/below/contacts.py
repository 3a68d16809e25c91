"""Computes rows of contacts from the poses and motions of their links."""

from __future__ import annotations

import numpy as np
from support.below.evaluated import Below
from support.below.frames import frames, times, velocity
from support.below.links import crossed
from support.below.types import Array


def held(f: Below) -> tuple[list[int], Array]:
    """The indices of links with contacts among the moving links, and the points of contact in their axes."""
    visible = list(f.model.visible)
    ends = [contact.first for contact in f.model.contacts]
    points = [[float(x) for x in end.placement.translation] for end in ends]
    return [visible.index(end.body) for end in ends], np.array(points)


def contact_pose(f: Below) -> list[Array]:
    (R, p), (links, points) = frames(f), held(f)
    return [p[:, links] + times(R[:, links], np.broadcast_to(points, (len(p), *points.shape))), R[:, links]]


def contact_rows(f: Below, jacobian: Array) -> Array:
    """The rows of contacts, from the aligned motions (states, links, 6, ...) of the links."""
    R, _ = frames(f)
    rows = []
    for link, point, contact in zip(*held(f), f.model.contacts, strict=True):
        own, arm = jacobian[:, link], R[:, link] @ point
        linear = own[:, :3] - np.einsum("sij,sj...->si...", crossed(arm), own[:, 3:])
        rows += [linear, own[:, 3:]][: contact.rows // 3]
    return np.concatenate(rows, axis=1)


def contact_motion(f: Below) -> list[Array]:
    v = f.inputs["v"]
    (change,) = f.rate("contact_jacobian", q=v)
    return [contact_rows(f, velocity(f, "aligned")), times(change, v)]
