"""The state on which an algorithm runs, made from the flat vectors of a function's interface.

The layout is that of Pinocchio: a floating base has q = [x y z qx qy qz qw] and v = [linear, angular] in the
base's axes. A row of fext holds a spatial force as [force, moment].
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np

from rbdgen.model.angles import TracedAngle
from rbdgen.model.joints import Angle, Coordinate, Follows, Joint, elements
from rbdgen.model.model import Model
from rbdgen.signature import Kind, SizedArgument
from rbdgen.spatial.exponential import Elementary
from rbdgen.spatial.ops import ZERO, Force, Vector
from rbdgen.spatial.scalar import Naming, Scalar, mul, unnamed
from rbdgen.sweeps.records import Kind as Record
from rbdgen.sweeps.records import flat, of

NO_ROW = Force(ZERO, ZERO)
"""The force on a hidden body, which has no row in fext."""

Trigonometric = Callable[[Scalar], Scalar]

ByParameters = Callable[[Scalar], list[Scalar]]
"""Maps a value to its derivatives with respect to all parameters of the robot that stay inputs."""


def _without_parameters(*_: object) -> list[Scalar]:
    raise AssertionError("no parameters are inputs")


def angle_as_given(q: Scalar) -> Angle:
    """The coordinate itself, which must be an angle already."""
    assert isinstance(q, Angle)
    return q


def no_lanes(_: Any) -> Any:
    """Stands for an operation over lanes where no body stands for several."""
    raise AssertionError("no value has lanes")


@dataclass(frozen=True)
class Lanes:
    """The bodies that stand for several alike ones, one SIMD lane for each.

    For example, the bodies of one leg stand for those of four equal legs.
    """

    bodies: Collection[int] = ()
    """The bodies that stand for several."""
    count: int = 1
    """The number of bodies for which each of them stands."""
    join: Trigonometric = no_lanes
    """Gives the sum of a value over all lanes."""
    turn: Trigonometric = no_lanes
    """Gives, in each lane, the value of the next lane."""
    apart: Callable[[Scalar], list[Scalar]] = no_lanes
    """Gives the number of a value in each lane."""
    together: Callable[[Sequence[Scalar]], Scalar] = no_lanes
    """Gives the value that has one of these numbers in each lane; the inverse of `apart`."""
    contacts: Sequence[Sequence[int | None]] = ()
    """For each contact, its number in the whole robot in each lane, None in lanes that do not hold it. A
    contact that stands for itself alone has a single number.
    """

    def handed_on(self, kind: Record, value: Any, body: int, parent: int) -> Any:
        """The value that a body hands on to its parent: the sum of those of all bodies for which it stands,
        if the parent stands for itself alone.
        """
        if body not in self.bodies or parent in self.bodies:
            return value
        return self.joined(kind, value)

    def joined(self, kind: Record, value: Any) -> Any:
        """The sum of a value of a kind of `records` over all lanes."""
        return of(kind, [self.join(number) for number in flat(kind, value)])

    def freedoms(self, bodies: Sequence[Any]) -> set[int]:
        """The degrees of freedom of the bodies that stand for several, of all bodies of a model."""
        joints = [body.joint for i, body in enumerate(bodies) if i in self.bodies]
        return {k for joint in joints for k in range(joint.idx_v, joint.idx_v + joint.nv)}


ALONE = Lanes()
"""No body stands for several."""


@dataclass(frozen=True)
class State:
    """The inputs of a function by name. Inputs that it does not take are empty (`fext` is None)."""

    q: Sequence[Coordinate]
    """One coordinate per body, for all joints."""
    v: Sequence[Scalar] = ()
    """Velocities of all joints, including those that follow others."""
    a: Sequence[Scalar] = ()
    """Accelerations of all joints, including those that follow others."""
    tau: Sequence[Scalar] = ()
    """Torques of the joints that follow no other."""
    fext: Sequence[Force] | None = None
    """External forces, one per body, in the bodies' joint frames."""
    naming: Naming = unnamed
    arrays: Mapping[str, Sequence[Scalar]] = field(default_factory=dict)
    """Inputs that are none of these, such as a second q, and the arrays that a loop reads."""
    angle: Callable[[Scalar], Angle] = angle_as_given
    """Makes an angle of an element of q that was read from an array."""
    positions: Sequence[Scalar] = ()
    """The elements of q as numbers, where `q` has angles."""
    sqrt: Trigonometric = np.sqrt
    """The square root of the scalars in use."""
    sign: Trigonometric = np.sign
    """The sign function of the scalars in use; the sign of 0 is 0."""
    order: Sequence[int] = ()
    """The bodies in the order of their coordinates in q; empty if the two orders are equal."""
    p: Sequence[Scalar] = ()
    """The parameters of the robot that stay inputs."""
    lanes: Lanes = ALONE
    """The bodies that stand for several alike ones."""
    by_parameters: ByParameters = _without_parameters
    """Gives the derivatives of a value with respect to `p`."""
    smooth: bool = False
    """Whether the results will be differentiated."""

    @property
    def elementary(self) -> Elementary:
        """The elementary functions of the scalars in use."""
        return Elementary(self.angle, self.sqrt, self.sign, self.smooth)

    @property
    def vectors(self) -> dict[str, list[Scalar]]:
        """The inputs as the flat vectors of the interface. If angles are known only as cosines and sines, q
        has an `Angle` in place of each.
        """
        in_order = [self.q[i] for i in self.order] if self.order else self.q
        q = list(self.positions) or [value for coordinate in in_order for value in elements(coordinate)]
        felt = (row for row in self.fext or () if row is not NO_ROW)
        fext = [value for row in felt for value in (*row.force, *row.moment)]
        return {"q": q, "v": list(self.v), "a": list(self.a), "tau": list(self.tau), "fext": fext}

    def of(self, names: Collection[str], arrays: Mapping[str, Sequence[Scalar]]) -> State:
        """Keep only the inputs that `names` lists, and replace the arrays."""
        fext = self.fext if "fext" in names else None
        q, v, a, tau = (getattr(self, name) if name in names else () for name in ("q", "v", "a", "tau"))
        positions = self.positions if "q" in names else ()
        return replace(self, q=q, v=v, a=a, tau=tau, fext=fext, arrays=arrays, positions=positions)


_OTHERS: Final[frozenset[Kind]] = frozenset(
    {"nonnegative", "coefficients", "time_step", "held", "obstacles", "outward_planes", "planes", "values"}
)
"""The kinds of inputs that are in `State.arrays`."""


def state_of(
    model: Model,
    inputs: Iterable[tuple[SizedArgument, Sequence[Scalar]]],
    cos: Trigonometric,
    sin: Trigonometric,
    *,
    sums: bool = True,
    naming: Naming = unnamed,
    sqrt: Trigonometric = np.sqrt,
    sign: Trigonometric = np.sign,
) -> State:
    """The state for the inputs of a function, each given with its elements.

    Positions, velocities and accelerations of joints that follow others are computed from those of the joints
    that they follow. For `sums`, see `coordinates`.
    """
    given: dict[Kind, Sequence[Scalar]] = {}
    others = {}
    for argument, values in inputs:
        if argument.kind in _OTHERS or argument.kind in given:
            others[argument.name] = values
        else:
            given[argument.kind] = values
    extended = model.coupling.extended
    q, fext = given.get("configuration"), given.get("external_forces")
    return State(
        q=() if q is None else coordinates(model, q, cos, sin, sums=sums),
        v=extended(given["velocity"]) if "velocity" in given else (),
        a=extended(given["acceleration"]) if "acceleration" in given else (),
        tau=given.get("force", ()),
        fext=None if fext is None else on_bodies(model, external_forces(fext)),
        naming=naming,
        arrays=others,
        angle=lambda x: Angle(cos(x), sin(x)),
        positions=() if q is None else positions(model, q),
        sqrt=sqrt,
        sign=sign,
        p=given.get("parameters", ()),
    )


def coordinates(
    model: Model, q: Sequence[Scalar], cos: Trigonometric, sin: Trigonometric, *, sums: bool = True
) -> list[Coordinate]:
    """One coordinate per body, from the elements of q of the joints that follow no other.

    `sums` says whether the cosine and sine of a sum of angles may be computed directly. If only those of
    single coordinates are available, the addition theorems give those of sums.
    """

    def angle(q: Scalar) -> Angle:
        return TracedAngle(q, (cos, sin)) if sums else Angle(cos(q), sin(q))

    result: list[Coordinate] = []
    for body in model.bodies:
        joint = body.joint
        if joint.follows is None:
            result.append(joint.type.coordinate(q[joint.idx_q : joint.idx_q + joint.nq], angle))
        else:
            result.append(_following(joint, joint.follows, q, angle))
    return result


def positions(model: Model, q: Sequence[Scalar]) -> list[Scalar]:
    """The elements of q of all joints: first those of independent joints, then those of joints that follow
    them.

    A follower's offset is part of its placement and is not added here.
    """
    followers = sorted((body.joint for body in model.bodies if body.joint.follows), key=lambda x: x.idx_q)
    led = [joint.follows for joint in followers if joint.follows]
    return [*q, *(mul(follows.multiplier, q[follows.idx_q]) for follows in led)]


def _following(
    joint: Joint, follows: Follows, q: Sequence[Scalar], angle: Callable[[Scalar], Angle]
) -> Coordinate:
    """The coordinate of a joint that follows another one. For a multiplier of -1 the known sine and cosine
    are reused.
    """
    primary = q[follows.idx_q]
    multiple = [mul(follows.multiplier, primary)]
    if follows.multiplier == -1:
        return joint.type.coordinate(multiple, lambda _: angle(primary).opposite)
    return joint.type.coordinate(multiple, angle)


def external_forces(flat: Sequence[Scalar]) -> list[Force]:
    """The forces in the rows [force, moment] of a row-major fext."""
    return [Force(Vector(*flat[k + 3 : k + 6]), Vector(*flat[k : k + 3])) for k in range(0, len(flat), 6)]


def on_bodies(model: Model, forces: Sequence[Force]) -> list[Force]:
    """The force on every body; hidden bodies get none."""
    row = iter(forces)
    return [NO_ROW if body.hidden else next(row) for body in model.bodies]
