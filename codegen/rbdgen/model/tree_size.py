"""The size of a robot's tree, as the sums on which operation counts depend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from rbdgen.model.contacts import Contact
from rbdgen.model.model import WORLD, Model


@dataclass(frozen=True)
class TreeSize:
    """Sums over a robot's tree on which operation counts depend."""

    bodies: int
    """The number of moving bodies."""
    ancestors: int
    """The number of pairs of a body and a body that moves it, which may be the body itself."""
    connected: int
    """The number of ordered pairs of bodies on the same branch from the world."""
    factor: int
    """The sum of the squared depths of degrees of freedom, for the sparse factorisation."""
    inverse: int
    """The sum of the squared subtree sizes of degrees of freedom, for the product of the factor's inverse."""
    products: int
    """The number of terms of M^-1 times a matrix that is as sparse as M."""
    loops: int
    """The number of bodies that move only one of the two frames of a closed loop, summed over all loops."""
    carriers: int
    """The number of bodies that move any of the chosen frames."""
    frames: int
    """The number of bodies that move a frame, summed over all frames."""
    frame_pairs: int
    """The squared number of bodies that move a frame, summed over all frames."""
    frame_solves: int
    """The squared number of frames that share a body with a frame, summed over all frames."""
    carrier_pairs: int
    """The number of ordered pairs of bodies that both move one of the frames."""
    holders: int
    """The number of bodies that move any contact."""
    contacts: int
    """The number of bodies that move an end of a contact, summed over all ends of contacts."""
    rows: int
    """The number of bodies that move an end of a contact, times the contact's rows, over all ends."""
    forces: int
    """The number of rows of all contacts."""
    carried: int
    """The sum over these rows of the squared number of degrees of freedom that move them."""
    shared: int
    """The sum over pairs of rows of the number of degrees of freedom that move both."""
    triples: int
    """The sum of the bodies' squared depths, for second derivatives."""
    solves: int
    """The number of terms of M^-1 times dM/dq times a matrix, for second derivatives."""


@dataclass(frozen=True)
class _Position:
    """The position in the tree of a body or of a degree of freedom."""

    depth: int
    """The number of degrees of freedom that move it, counting itself."""
    subtree: int
    """The number of degrees of freedom that it moves, counting itself."""
    branch: int
    """The number of degrees of freedom on its branch from the world."""


def tree_size(model: Model) -> TreeSize:
    """Computes the sums for a model."""
    bodies = _positions(model, [1] * model.nbodies)
    last = _positions(model, [body.joint.nv for body in model.bodies])
    # a joint with several degrees of freedom counts as a chain of them
    freedoms = [
        _Position(place.depth - k, place.subtree - body.joint.nv + k + 1, place.branch)
        for body, place in zip(model.bodies, last, strict=True)
        for k in range(body.joint.nv)
    ]
    paths = [model.path(WORLD, frame.body)[1] for frame in model.frames]
    chains = [
        (contact.rows, model.path(model.seen_from(contact).body, end.body)[1])
        for contact in model.contacts
        for end in contact.ends
    ]
    moving = [dofs for contact in model.contacts for dofs in [_moving(model, contact)] * contact.rows]
    return TreeSize(
        bodies=model.nbodies,
        ancestors=sum(x.depth for x in bodies),
        connected=sum(x.branch for x in bodies),
        factor=sum(x.depth**2 for x in freedoms),
        inverse=sum(x.subtree**2 for x in freedoms),
        products=sum((x.depth + x.subtree - 1) * x.branch for x in freedoms),
        loops=sum(len(part) for x in model.loops for part in model.path(x.first.body, x.second.body)),
        carriers=len(set().union(*paths)),
        frames=sum(map(len, paths)),
        frame_pairs=sum(len(path) ** 2 for path in paths),
        frame_solves=sum(sum(not set(a).isdisjoint(b) for b in paths) ** 2 for a in paths),
        carrier_pairs=len({pair for path in paths for pair in product(path, path)}),
        holders=len(set().union(*(chain for _, chain in chains))),
        contacts=sum(len(chain) for _, chain in chains),
        rows=sum(rows * len(chain) for rows, chain in chains),
        forces=len(moving),
        carried=sum(len(dofs) ** 2 for dofs in moving),
        shared=sum(len(a & b) for k, a in enumerate(moving) for b in moving[k:]),
        triples=sum(x.depth**2 for x in bodies),
        solves=sum(
            (x.depth + x.subtree - body.joint.nv) * x.branch**2
            for x, body in zip(last, model.bodies, strict=True)
            if body.parent != WORLD
        ),
    )


def _moving(model: Model, contact: Contact) -> frozenset[int]:
    """The degrees of freedom that move a contact."""
    seen = model.seen_from(contact).body
    joints = [model.bodies[i].joint for end in contact.ends for i in model.path(seen, end.body)[1]]
    return frozenset(k for joint in joints for k in range(joint.idx_v, joint.idx_v + joint.nv))


def _positions(model: Model, weights: Sequence[int]) -> list[_Position]:
    """The position of every body, where each body counts as much as its weight."""
    depth: list[int] = []
    root: list[int] = []
    for i, body in enumerate(model.bodies):
        depth.append(weights[i] + (0 if body.parent == WORLD else depth[body.parent]))
        root.append(i if body.parent == WORLD else root[body.parent])
    subtree = list(weights)
    for i in reversed(range(model.nbodies)):
        if model.bodies[i].parent != WORLD:
            subtree[model.bodies[i].parent] += subtree[i]
    return [_Position(depth[i], subtree[i], subtree[root[i]]) for i in range(model.nbodies)]
