"""Bodies as rows of tables of constants, for the forms that loop over bodies.

Every body but a floating base moves on a screw about z: it turns by `turning` times its coordinate and slides
by `sliding` times it. These are 1 and 0 for a revolute joint, and 0 and 1 for a prismatic one; helical joints
have both. Joints of the three types therefore take the same operations.

A constant that is equal for all bodies is written into the straight line, where it saves operations (for
example `turning` and `sliding`, if all joints are of one type). Other constants are read from a row of a
table.

Scratch arrays have a row for every body. Row 0 is for the root, which is the world or the floating base; its
axes are turned about the root's z axis.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from rbdgen.access import Access, column, whole
from rbdgen.errors import ModelError
from rbdgen.model.angles import ZERO_ANGLE
from rbdgen.model.axes import AlignedBody
from rbdgen.model.joints import Angle, Coordinate
from rbdgen.model.model import WORLD, Model
from rbdgen.model.model import Body as ModelBody
from rbdgen.model.moments import MassMoments
from rbdgen.model.reduce import ReducedModel
from rbdgen.spatial.ops import Force, Motion, Transform, Vector
from rbdgen.spatial.planar import FactoredRotation, PlanarRotation, X, Z
from rbdgen.spatial.scalar import Scalar, mul
from rbdgen.sweeps.bodies import Body, Jointed, Unplaced
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.loops import Arrays, FormLoop, LoopedForm
from rbdgen.sweeps.records import flat, of
from rbdgen.sweeps.sweep import BASE

Runs = Sequence[int]
"""The body of every run of a loop, counted without the root."""


@dataclass(frozen=True)
class Rows:
    """A table with a row of numbers for every body.

    Columns of equal numbers are left out. Equal rows, such as those of identical limbs, are stored once if
    that saves more numbers than there are offsets to say which row belongs to which body.
    """

    name: str
    rows: tuple[tuple[Scalar, ...], ...]

    @cached_property
    def varying(self) -> tuple[int, ...]:
        """The columns that are not equal for all bodies."""
        columns = zip(*self.rows, strict=True)
        return tuple(k for k, column in enumerate(columns) if any(x != column[0] for x in column))

    @cached_property
    def _kept(self) -> tuple[tuple[Scalar, ...], ...]:
        """The rows that are stored."""
        rows = [tuple(row[k] for k in self.varying) for row in self.rows]
        distinct = tuple(dict.fromkeys(rows))
        saved = (len(rows) - len(distinct)) * len(self.varying)
        return distinct if saved > len(rows) else tuple(rows)

    @property
    def values(self) -> tuple[Scalar, ...]:
        """The numbers that are stored, row by row."""
        return tuple(value for row in self._kept for value in row)

    def place(self, runs: Runs) -> Access:
        """The places of the rows of these bodies."""
        width = len(self.varying)
        where: Sequence[int] = range(len(self.rows))
        if len(self._kept) < len(self.rows):
            where = [self._kept.index(tuple(row[k] for k in self.varying)) for row in self.rows]
        return Access(self.name, tuple(range(width)), tuple(width * where[k] for k in runs))

    def complete(self, read: Sequence[Scalar]) -> list[Scalar]:
        """A whole row, made of the columns that were read and those that were left out."""
        row = list(self.rows[0])
        for k, value in zip(self.varying, read, strict=True):
            row[k] = value
        return row


@dataclass(frozen=True)
class LoopedBody:
    """A body at its joint's position, as a run of a loop sees it. `moments` is None if they were not read."""

    rotation: FactoredRotation
    translation: Vector
    subspace: tuple[Motion, ...]
    armature: tuple[Scalar, ...]
    moments: MassMoments | None


class Screw(NamedTuple):
    """The rates at which a joint turns its body about z and slides it along z, and its rotor's inertia."""

    turning: Scalar
    sliding: Scalar
    rotor: Scalar

    @property
    def subspace(self) -> tuple[Motion, ...]:
        """The motion subspace S."""
        return (Motion(Vector(0, 0, self.turning), Vector(0, 0, self.sliding)),)

    @property
    def armature(self) -> tuple[Scalar, ...]:
        """The rotor inertia, as a tuple of one."""
        return (self.rotor,)


@dataclass(frozen=True)
class LoopedBodies:
    """The bodies of a reduced model over which loops run: all but a floating base."""

    reduced: ReducedModel
    floating: bool
    root: FactoredRotation
    """The rotation from the axes of row 0 to those of the world or the floating base."""
    bodies: tuple[AlignedBody, ...]
    """The bodies in frames for loops, see `looped_bodies`."""
    parents: tuple[int, ...]
    """The row of every body's parent."""
    depths: tuple[int, ...]
    """The number of ancestors of every body, including the root."""
    freedoms: tuple[int, ...]
    """The degree of freedom of every body."""
    zeros: Rows
    """The table of the angles theta0 at q = 0."""
    placements: Rows
    """The table of gamma, alpha and the origin."""
    kinds: Rows
    """The table of turning, sliding and rotor inertia."""
    moments: Rows
    """The table of mass moments."""
    frames: Rows
    """The table of the frames of external forces."""

    def loops(
        self, loops: Iterable[FormLoop], outputs: Mapping[str, int], scratch: Mapping[str, int]
    ) -> LoopedForm:
        """A form of these loops and of the tables that they read.

        Loops without runs are left out: on some robots no joint lies above another one.
        """
        kept = tuple(loop for loop in loops if loop.count > 0)
        read = {access.array for loop in kept for access in loop.reads.values()}
        tables = (self.zeros, self.placements, self.kinds, self.moments, self.frames)
        return LoopedForm(
            kept,
            outputs,
            {name: size for name, size in scratch.items() if size > 0},
            {rows.name: rows.values for rows in tables if rows.name in read},
        )

    @property
    def count(self) -> int:
        return len(self.parents)

    @property
    def outward(self) -> Runs:
        """All bodies, each after its parent."""
        return range(self.count)

    @property
    def inward(self) -> Runs:
        """All bodies, each before its parent."""
        return self.outward[::-1]

    @cached_property
    def branches(self) -> tuple[tuple[int, ...], ...]:
        """For every body, its own number and those of its ancestors, nearest first, without the root."""
        found: list[tuple[int, ...]] = []
        for k, parent in enumerate(self.parents):
            found.append((k, *(found[parent - 1] if parent else ())))
        return tuple(found)

    @property
    def steps(self) -> tuple[Runs, Runs, Runs]:
        """The steps from a body to its parent by which a record of every body climbs to all its ancestors.

        The step to the root is left out. The result is three lists with an element for each step: the body
        whose record it is, the body that the record leaves, and the body at which it arrives. The steps of
        one record follow each other.
        """
        found = [
            (k, below, above) for k, branch in enumerate(self.branches) for below, above in pairwise(branch)
        ]
        return tuple(k for k, _, _ in found), tuple(b for _, b, _ in found), tuple(a for _, _, a in found)

    def level(self, array: str, width: int, below: int) -> Access:
        """Rows by depth, for an outward sweep: the parent's row, or with `below` = 1 the body's own row.

        Bodies are numbered depth first, so the row of the parent's depth was last written by the parent.
        """
        columns = range(width * below, width * (below + 1))
        return Access(array, tuple(columns), tuple(width * (depth - 1) for depth in self.depths))

    def freedom(self, array: str, runs: Runs) -> Access:
        """The elements of these bodies' degrees of freedom."""
        return Access(array, (0,), tuple(self.freedoms[k] for k in runs))

    def external_rows(self, runs: Runs) -> Access:
        """The rows of fext. A hidden body reads the row of the next body and multiplies it by zeros."""
        hidden = [body.hidden for body in self.reduced.model.bodies]
        row = [k - sum(hidden[:k]) for k in range(len(hidden))]
        return Access("fext", tuple(range(6)), tuple(6 * row[k + self.floating] for k in runs))

    def entries(self, name: str, rows: Runs, columns: Runs) -> Access:
        """The entry in the row of one body's degree of freedom and the column of another's, for each run. If
        the name ends with `_below`, row and column are exchanged.
        """
        nv, freedoms = self.reduced.nv, self.freedoms
        if name.endswith("_below"):
            rows, columns = columns, rows
        at = tuple(nv * freedoms[i] + freedoms[k] for i, k in zip(rows, columns, strict=True))
        return Access(name.removesuffix("_below"), (0,), at)

    def base_entries(self, name: str) -> Access:
        """The six entries between a floating base and the degree of freedom of each body."""
        nv = self.reduced.nv
        if name.endswith("_below"):
            rows = tuple(nv * freedom for freedom in self.freedoms)
            return Access(name.removesuffix("_below"), tuple(range(BASE)), rows)
        return column(name, BASE, nv, self.freedoms)

    def constants(self, runs: Runs, *tables: Rows) -> dict[str, Access]:
        """The places of the rows of these tables for these bodies."""
        return {rows.name: rows.place(runs) for rows in tables if rows.varying}

    def joints(self, runs: Runs) -> dict[str, Access]:
        """All arrays that `placed` reads."""
        width = self.joint_width
        where = Access("joint", tuple(range(width)), tuple(width * k for k in runs))
        return {**self.constants(runs, self.placements, self.kinds), "joint": where}

    @property
    def joint_width(self) -> int:
        """The count of numbers per joint: a cosine and a sine, and a displacement if any joint slides."""
        return 3 if any(sliding for _, sliding, _ in self.kinds.rows) else 2

    @property
    def positions(self) -> FormLoop:
        """The loop that computes the positions of the joints, into the scratch array `joint`.

        If all joints are revolute, sines and cosines are computed in a loop; otherwise one straight line
        computes all joints.
        """
        count, width = len(self.bodies), self.joint_width
        if width == 3:
            return FormLoop(
                "joints", self._all_positions, {"joint": whole("joint", 3 * count)}, inputs=("q",)
            )
        return FormLoop(
            "joints",
            self._position,
            writes={"joint": Access("joint", (0, 1), tuple(2 * k for k in self.outward))},
            reads={
                "q": Access("q", (0,), tuple(body.joint.idx_q for body in self.bodies)),
                **self.constants(self.outward, self.zeros),
            },
            count=count,
        )

    def _position(self, x: State) -> Arrays:
        return {"joint": x.angle(x.arrays["q"][0]) + Angle(*self.row(self.zeros, x))}

    def _all_positions(self, x: State) -> Arrays:
        found: list[Scalar] = []
        for body, q in zip(self.bodies, x.q[self.floating :], strict=True):
            shift, turn, _ = body.joint.type.displacement(q)
            found += [*(body.theta0 if turn is None else turn + body.theta0), shift.z]
        return {"joint": found}

    def placed(self, x: State) -> LoopedBody:
        """The body whose constants and joint position were read."""
        cg, sg, ca, sa, *origin = self.row(self.placements, x)
        cosine, sine, *slid = x.arrays["joint"]
        rotation = FactoredRotation.of(
            PlanarRotation(Z, cg, sg), PlanarRotation(X, ca, sa), PlanarRotation(Z, cosine, sine)
        )
        axis = Vector(mul(sg, sa), -mul(cg, sa), ca)
        translation = Vector(*origin) + axis * slid[0] if slid else Vector(*origin)
        read = not self.moments.varying or "moments" in x.arrays
        moments = of(MassMoments, self.row(self.moments, x)) if read else None
        screw = Screw(*self.row(self.kinds, x))
        return LoopedBody(rotation, translation, screw.subspace, screw.armature, moments)

    def row(self, rows: Rows, x: State) -> list[Scalar]:
        """The row of a table that was read."""
        return rows.complete(x.arrays.get(rows.name, ()))

    def joint(self, x: State, kind: str) -> Jointed:
        """The joint whose row of the table `kinds` was read by the name `kind`."""
        return Screw(*self.kinds.complete(x.arrays.get(kind, ())))

    def base(self, q: Sequence[Coordinate]) -> Body:
        """The floating base, at its pose if q was read."""
        if q:
            return self.reduced.at(q)[0]
        return Unplaced(self.reduced.bodies[0].joint.motion_subspace, self.reduced.moments[0])

    def external_force(self, x: State) -> Force:
        """The external force that was read, in the body's axes."""
        force, moment = Vector(*x.arrays["fext"][:3]), Vector(*x.arrays["fext"][3:])
        frame: Transform = of(Transform, self.row(self.frames, x))
        return frame.force_to_child(Force(moment, force))


def looped_bodies(reduced: ReducedModel) -> LoopedBodies:
    """The bodies of a model in frames for loops: x lies on the common normal with a child's joint axis.

    In unbranched chains, the first of the rotations Rz(gamma) Rx(alpha) Rz(theta) of every body is then the
    identity (Khalil and Dombre 2002, section 3.2). In loops, only zeros that all bodies share save
    operations. Raises ModelError for robots for which there are no loops over bodies, see `not_in_loops`.
    """
    floating = reduced.model.is_floating
    first = 1 if floating else 0
    refused = not_in_loops(reduced.model)
    if refused is not None:
        raise ModelError(f"model '{reduced.model.name}': {refused}; choose another form")
    turns, root = _turns(reduced, first)
    reduced = reduced.with_axes(turns, reduced.slides)
    bodies = tuple(body if body.parent >= first else _below(body, root) for body in reduced.bodies[first:])
    parents = tuple(body.parent + 1 - first if body.parent != WORLD else 0 for body in bodies)
    depths: list[int] = []
    for parent in parents:
        depths.append(1 + (depths[parent - 1] if parent else 0))
    return LoopedBodies(
        reduced,
        floating,
        FactoredRotation.of(PlanarRotation(Z, *root)),
        bodies,
        parents,
        tuple(depths),
        tuple(body.joint.idx_v for body in bodies),
        Rows("zeros", tuple(tuple(body.theta0) for body in bodies)),
        Rows("placements", tuple((*body.gamma, *body.alpha, *body.translation) for body in bodies)),
        Rows("kinds", tuple(map(screw, bodies))),
        Rows("moments", tuple(tuple(flat(MassMoments, own)) for own in reduced.moments[first:])),
        Rows("frames", tuple(map(tuple, map(_force_frame, bodies, reduced.model.bodies[first:])))),
    )


def not_in_loops(model: Model) -> str | None:
    """The reason why forms in loops over bodies do not support a robot; None if they do."""
    bodies = model.bodies[1 if model.is_floating else 0 :]
    several = next((body.joint for body in bodies if not body.joint.type.one_axis), None)
    if several is not None:
        return (
            f"joint '{several.name}' is {several.type.name}, which forms in loops over bodies do not support"
        )
    beside = next((body.joint.name for body in bodies if body.parent == WORLD), None)
    if model.is_floating and beside is not None:
        return (
            f"joint '{beside}' is attached to the world beside a floating base, which forms "
            "in loops over bodies do not support"
        )
    return None


def _force_frame(aligned: AlignedBody, body: ModelBody) -> list[Scalar]:
    """The frame of external forces. It is all zeros for a hidden body, so that no force remains."""
    numbers = flat(Transform, aligned.frame)
    return [0] * len(numbers) if body.hidden else numbers


def _turns(reduced: ReducedModel, first: int) -> tuple[list[Angle], Angle]:
    """The angles by which the frames of all bodies, and that of the root, turn so that gamma becomes 0 for
    one child of each, the first one whose axis is not parallel.
    """
    turns, root = [ZERO_ANGLE] * reduced.nbodies, ZERO_ANGLE
    for body in reversed(reduced.aligned[first:]):
        if body.alpha.sin != 0 and body.parent >= first:
            turns[body.parent] = body.gamma
        elif body.alpha.sin != 0:
            root = body.gamma
    return turns, root


def _below(body: AlignedBody, turn: Angle) -> AlignedBody:
    """A child of the root, with the root's axes turned by `turn`."""
    return replace(body.moved(ZERO_ANGLE, 0, turn, 0), turn=body.turn, slide=body.slide)


def screw(body: AlignedBody) -> Screw:
    """The screw motion about z of a body's joint, with its rotor inertia."""
    (S,) = body.joint.type.motion_subspace(Vector(0, 0, 1))
    return Screw(S.angular.z, S.linear.z, body.joint.resistance.armature)
