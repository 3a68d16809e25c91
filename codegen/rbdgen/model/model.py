"""The model: an immutable tree of bodies that are connected by moving joints, in the order of Pinocchio."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from rbdgen.model.closed_loops import Loop
from rbdgen.model.contacts import DEFAULT_PLAN, Contact, ContactSet, Extra, SolverPlan
from rbdgen.model.coupling import Coupling, Elimination, coupling_of, elimination_of
from rbdgen.model.distances import NO_DISTANCES, DistanceSet
from rbdgen.model.frames import WORLD_FRAME, Frame
from rbdgen.model.inertia import Inertia
from rbdgen.model.joints import Coordinate, Joint, Turning
from rbdgen.runtime.configuration import Manifold
from rbdgen.spatial.ops import NO_TRANSFORM, Transform, Vector
from rbdgen.spatial.scalar import is_zero

WORLD = -1
"""The index that stands for the world, which has no body, as a parent."""

STANDARD_GRAVITY = Vector(0, 0, -9.81)


@dataclass(frozen=True)
class Body:
    """A moving body, with its fixed links merged into it."""

    name: str
    parent: int
    joint: Joint
    placement: Transform
    """The joint's frame at q = 0 in the parent's frame, in m."""
    inertia: Inertia
    """The inertia in the body's own frame."""
    hidden: bool = False
    """Whether it only connects two joints in series. It is massless, and no external force acts on it."""

    @property
    def floats(self) -> bool:
        """Whether it is free in the world, as a floating base is."""
        return self.parent == WORLD and self.joint.type.free

    def transform(self, q: Coordinate) -> Transform:
        """The pose of the body's frame in the parent's frame at q."""
        return self.placement @ self.joint.transform(q)


@dataclass(frozen=True)
class Model:
    """Bodies numbered depth first: parents come before their children, and subtrees are contiguous.

    `nq` and `nv` count all joints, including those that follow others; `sizes` leaves these out, as functions
    do.
    """

    name: str
    bodies: tuple[Body, ...]
    gravity: Vector = STANDARD_GRAVITY
    """The acceleration of gravity, in m/s^2, in world axes."""
    loops: tuple[Loop, ...] = ()
    independent: tuple[int, ...] = ()
    """The elements of v that determine all others in closed loops; empty if they were not asked for."""
    frames: tuple[Frame, ...] = ()
    """The chosen frames."""
    contacts: tuple[Contact, ...] = ()
    """The contacts, in the order of their rows."""
    contact_sets: tuple[ContactSet, ...] = ()
    """Sets of some contacts, for functions of only these."""
    contact_solver: SolverPlan = DEFAULT_PLAN
    """The plan of the solver for contacts with friction."""
    contact_with: tuple[Extra, ...] = ()
    """The options of steps with friction, as "elastic"."""
    distances: DistanceSet = NO_DISTANCES
    """The capsules, pairs and obstacles of functions of distances."""

    @property
    def nbodies(self) -> int:
        return len(self.bodies)

    @cached_property
    def nq(self) -> int:
        return sum(body.joint.nq for body in self.bodies)

    @cached_property
    def nv(self) -> int:
        return sum(body.joint.nv for body in self.bodies)

    @property
    def sizes(self) -> Mapping[str, int]:
        """The values of the symbolic sizes in signatures."""
        followers = self.nv - self.coupling.independent
        bodies = len(self.visible)
        rows = sum(loop.rows for loop in self.loops)
        rows_of_contacts = sum(contact.rows for contact in self.contacts)
        touching = sum(contact.touching for contact in self.contacts)
        impulses = sum(3 * contact.touching or contact.rows for contact in self.contacts)
        return {
            "nq": self.nq - followers,
            "nv": self.nv - followers,
            "nx": 2 * (self.nv - followers),
            "nturns": sum(body.joint.nv for body in self.bodies if isinstance(body.joint.type, Turning)),
            "njoints": self.nv - followers - (6 if self.is_floating else 0),
            "nbodies": bodies,
            "ninertial": 10 * bodies,
            "nloop": rows,
            "nindependent": len(self.independent),
            "nf": len(self.frames),
            "nc": rows_of_contacts,
            "nshare": rows_of_contacts // 3,
            "ncontacts": len(self.contacts),
            "npoints": touching,
            "ncorners": sum(len(contact.corners) for contact in self.contacts),
            "nsprings": touching if "elastic" in self.contact_with else 0,
            "nslants": touching if "anisotropic" in self.contact_with else 0,
            "nheld": len(self.held_joints),
            "nrows": rows_of_contacts + len(self.held_joints),
            "nimpulses": impulses + len(self.held_joints),
            "nservos": sum(body.joint.can_have_a_servo for body in self.bodies),
            "nanchor": sum(contact.anchor for contact in self.contacts),
            **self.distances.sizes,
        }

    @cached_property
    def held_joints(self) -> tuple[Joint, ...]:
        """The joints whose limits or dry friction are rows of the solver in steps with friction, see
        `contact_with`. They have one coordinate of their own.
        """
        return tuple(
            joint
            for joint in (body.joint for body in self.bodies)
            if joint.can_have_a_servo and (self.has_limits(joint) or self.has_dry_friction(joint))
        )

    def has_limits(self, joint: Joint) -> bool:
        """Whether the limits of a joint with one coordinate are rows of the solver."""
        limit = joint.limit
        known = limit is not None and not (limit.lower is None and limit.upper is None)
        return "limits" in self.contact_with and known

    def has_dry_friction(self, joint: Joint) -> bool:
        """Whether the dry friction of a joint with one coordinate is a row of the solver."""
        return "friction" in self.contact_with and not is_zero(joint.resistance.friction)

    @cached_property
    def manifold(self) -> Manifold:
        """The space of the robot's configurations."""
        independent = (body.joint for body in self.bodies if body.joint.follows is None)
        return Manifold(tuple(joint.coordinates for joint in independent))

    @cached_property
    def coupling(self) -> Coupling:
        """The map from the independent degrees of freedom to all, as joints follow others."""
        return coupling_of(body.joint for body in self.bodies)

    @cached_property
    def elimination(self) -> Elimination:
        """The order in which M of the independent degrees of freedom is factored."""
        return elimination_of([self.ancestor_dofs(k) for k in range(self.nv)], self.coupling)

    @cached_property
    def visible(self) -> tuple[int, ...]:
        """The bodies that users see, in order: all but the hidden ones."""
        return tuple(i for i, body in enumerate(self.bodies) if not body.hidden)

    @property
    def has_rotors(self) -> bool:
        """Whether any joint has a rotor with inertia."""
        return not all(is_zero(rotor) for body in self.bodies for rotor in body.joint.armature)

    @property
    def is_floating(self) -> bool:
        return bool(self.bodies) and self.bodies[0].floats

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """The children of every body."""
        lists: list[list[int]] = [[] for _ in self.bodies]
        for i, body in enumerate(self.bodies):
            if body.parent != WORLD:
                lists[body.parent].append(i)
        return tuple(map(tuple, lists))

    @cached_property
    def subtree_end(self) -> tuple[int, ...]:
        """The end of each body's subtree, one past its last body: the subtree is range(i, subtree_end[i])."""
        ends = [i + 1 for i in range(self.nbodies)]
        for i in reversed(range(self.nbodies)):
            if (parent := self.bodies[i].parent) != WORLD:
                ends[parent] = max(ends[parent], ends[i])
        return tuple(ends)

    @cached_property
    def subtree_dof_end(self) -> tuple[int, ...]:
        """The index one past the last degree of freedom of the subtree of every body."""
        last = (self.bodies[end - 1].joint for end in self.subtree_end)
        return tuple(joint.idx_v + joint.nv for joint in last)

    @cached_property
    def parent_dof(self) -> tuple[int, ...]:
        """lambda(k): the next degree of freedom towards the root, or WORLD at the root (Featherstone 6.5)."""
        parents = [WORLD] * self.nv
        for body in self.bodies:
            own = body.joint
            if body.parent != WORLD:
                above = self.bodies[body.parent].joint
                parents[own.idx_v] = above.idx_v + above.nv - 1
            for k in range(own.idx_v + 1, own.idx_v + own.nv):
                parents[k] = k - 1
        return tuple(parents)

    def path(self, start: int, end: int) -> tuple[list[int], list[int]]:
        """The bodies from `start` up to the last body that carries both, and from there down to `end`.

        That body itself (or the world) is in neither list. Each argument may be WORLD.
        """
        up, down = [], []
        while start != end:
            # parents come first, so the later of the two is not an ancestor of the other
            if start > end:
                up.append(start)
                start = self.bodies[start].parent
            else:
                down.append(end)
                end = self.bodies[end].parent
        return up, down[::-1]

    def with_contacts(self, names: Sequence[str]) -> Model:
        """The robot with only these of its contacts, in this order. Names that it does not have are
        ignored.
        """
        own = {contact.name: contact for contact in self.contacts}
        return replace(self, contacts=tuple(own[name] for name in names if name in own), contact_sets=())

    @property
    def on_points(self) -> Model:
        """The robot with a contact at each corner of its soles in place of the soles."""
        points = tuple(point for contact in self.contacts for point in contact.points)
        return replace(self, contacts=points, contact_sets=())

    def common(self, start: int, end: int) -> int:
        """The last body that carries both bodies, or WORLD."""
        up, down = self.path(start, end)
        top = up[-1:] or down[:1]
        return self.bodies[top[0]].parent if top else start

    def seen_from(self, contact: Contact) -> Frame:
        """The body relative to which a contact is described, as a frame with the axes of its rows.

        It is the last body that carries both ends of a closed loop, and otherwise the world.
        """
        first, second = contact.first, contact.second
        body = WORLD if second is None else self.common(first.body, second.body)
        return Frame(WORLD_FRAME if body == WORLD else self.bodies[body].name, body, NO_TRANSFORM)

    @property
    def stands(self) -> bool:
        """Whether contacts with the world can hold a floating base: this takes a frame or three points."""
        held = [contact.kind for contact in self.contacts if self.seen_from(contact).body == WORLD]
        return "frame" in held or len(held) >= 3

    def ancestor_dofs(self, dof: int) -> list[int]:
        """The degrees of freedom from `dof`'s parent up to the root, nearest first."""
        chain = []
        while (dof := self.parent_dof[dof]) != WORLD:
            chain.append(dof)
        return chain
