"""How large a robot's tree is, in the sums that operation counts grow with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rbdgen.model.contacts import Contact
from rbdgen.model.model import WORLD, Model


@dataclass(frozen=True)
class TreeSize:
    """Sums over a robot's tree that operation counts grow with.

    `bodies`: moving bodies; `ancestors`: pairs of a body and one that moves it, itself included; `connected`:
    pairs of bodies on one branch from the world. Of degrees of freedom: `factor`, the sum of squared depths,
    and `inverse`, of squared sizes of subtrees (sparse factorisation, product of the factor's inverse);
    `products`, the terms of M^-1 times a matrix as sparse as M. `loops`: bodies that the two frames of a loop
    do not share, over all loops. `carriers`: bodies that move any of the chosen frames; `frames`: bodies that
    move a frame, over all of them. `holders`: bodies that move any contact; `contacts`: bodies that move a
    contact, over all of them; `rows`: these, each with the contact's rows; `forces`: rows of all contacts;
    `carried`: over them, squared numbers of the degrees of freedom that move them; `shared`: over pairs of
    them, numbers of those that move both. Of second derivatives: `triples`, the sum of the bodies' squared
    depths, and `solves`, the terms of M^-1 times dM/dq times a matrix.
    """

    bodies: int
    ancestors: int
    connected: int
    factor: int
    inverse: int
    products: int
    loops: int
    carriers: int
    frames: int
    holders: int
    contacts: int
    rows: int
    forces: int
    carried: int
    shared: int
    triples: int
    solves: int


@dataclass(frozen=True)
class _Position:
    """A body, or a degree of freedom, in the tree: how many move it, how many it moves, both counting itself,
    and how many are on its branch from the world."""

    depth: int
    subtree: int
    branch: int


def tree_size(model: Model) -> TreeSize:
    """The sums for a model."""
    bodies = _positions(model, [1] * model.nbodies)
    last = _positions(model, [body.joint.nv for body in model.bodies])
    # a joint of several freedoms counts as a chain of them
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
    """The place of every body, each counting as much as its weight."""
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
