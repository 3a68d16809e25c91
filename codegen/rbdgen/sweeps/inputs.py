"""The state an algorithm runs on, made from the flat vectors of the interface.

Pinocchio's layout: a floating base has q = [x y z qx qy qz qw] and v = [linear, angular] in base axes; a
spatial force in a row of fext is [force, moment].
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from rbdgen.model.angles import TracedAngle
from rbdgen.model.joints import Angle, Coordinate, Follows, Joint, elements
from rbdgen.model.model import Model
from rbdgen.signature import Kind, SizedArgument
from rbdgen.spatial.exponential import Elementary
from rbdgen.spatial.ops import ZERO, Force, Vector
from rbdgen.spatial.scalar import Naming, Scalar, mul, unnamed

NO_ROW = Force(ZERO, ZERO)
"""The force on a hidden body, which has no row in fext."""

Trigonometric = Callable[[Scalar], Scalar]

ByParameters = Callable[[Scalar], list[Scalar]]
"""From a value to its derivatives by all numbers of the robot that stay inputs."""


def _without_parameters(*_: object) -> list[Scalar]:
    raise AssertionError("no parameters are inputs")


def angle_as_given(q: Scalar) -> Angle:
    """A coordinate that is an angle already."""
    assert isinstance(q, Angle)
    return q


def no_lanes(_: Scalar) -> Scalar:
    """Where no body stands for several."""
    raise AssertionError("no value has lanes")


@dataclass(frozen=True)
class Lanes:
    """The bodies that stand for `count` alike ones each, a lane for each: those of limbs.

    `join`: the sum over the lanes of a value; `turn`: in each lane the value of the next one.
    """

    bodies: Collection[int] = ()
    count: int = 1
    join: Trigonometric = no_lanes
    turn: Trigonometric = no_lanes


ALONE = Lanes()
"""No body stands for several."""


@dataclass(frozen=True)
class State:
    """Inputs of a function by name; those it does not take are empty (fext: None).

    q has a coordinate a body. q, v and a are those of all joints; tau is of those that follow no other.
    `positions`: the elements of q themselves; `arrays`: by name what is none of these, such as a second q,
    and what a loop reads beside them, see `sweeps/loops.py`;
    `angle` makes an angle of an element of q that is read so; `sqrt`, `sign`: functions of the scalars, the
    sign of 0 being 0; `order`: the bodies in the order of their coordinates, empty where that is theirs;
    `p`: numbers of the robot that stay inputs, `by_parameters`: derivatives by them; `lanes`: which bodies
    stand for several; `smooth`: whether what is computed will be differentiated.
    """

    q: Sequence[Coordinate]
    v: Sequence[Scalar] = ()
    a: Sequence[Scalar] = ()
    tau: Sequence[Scalar] = ()
    fext: Sequence[Force] | None = None
    naming: Naming = unnamed
    arrays: Mapping[str, Sequence[Scalar]] = field(default_factory=dict)
    angle: Callable[[Scalar], Angle] = angle_as_given
    positions: Sequence[Scalar] = ()
    sqrt: Trigonometric = np.sqrt
    sign: Trigonometric = np.sign
    order: Sequence[int] = ()
    p: Sequence[Scalar] = ()
    lanes: Lanes = ALONE
    by_parameters: ByParameters = _without_parameters
    smooth: bool = False

    @property
    def elementary(self) -> Elementary:
        """The engine's functions."""
        return Elementary(self.angle, self.sqrt, self.sign, self.smooth)

    @property
    def vectors(self) -> dict[str, list[Scalar]]:
        """The inputs as the flat vectors of the interface; where only angles are known, q has those."""
        in_order = [self.q[i] for i in self.order] if self.order else self.q
        q = list(self.positions) or [value for coordinate in in_order for value in elements(coordinate)]
        felt = (row for row in self.fext or () if row is not NO_ROW)
        fext = [value for row in felt for value in (*row.force, *row.moment)]
        return {"q": q, "v": list(self.v), "a": list(self.a), "tau": list(self.tau), "fext": fext}

    def of(self, names: Collection[str], arrays: Mapping[str, Sequence[Scalar]]) -> State:
        """These inputs alone, and arrays."""
        fext = self.fext if "fext" in names else None
        q, v, a, tau = (getattr(self, name) if name in names else () for name in ("q", "v", "a", "tau"))
        positions = self.positions if "q" in names else ()
        return replace(self, q=q, v=v, a=a, tau=tau, fext=fext, arrays=arrays, positions=positions)


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
    """The inputs of a function, each with its elements, in the terms of the algorithms; `sums` as below.

    Joints that follow others get their positions, velocities and accelerations from them.
    """
    given: dict[Kind, Sequence[Scalar]] = {}
    others = {}
    for argument, values in inputs:
        if argument.kind in ("nonnegative", "time_step", "values") or argument.kind in given:
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
    """One coordinate a body from the elements of q, those of joints that follow no other.

    `sums`: whether cosines of sums of angles may be asked for; where only the sine and cosine of every
    single coordinate are to be had, sums are made by the addition theorems.
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
    """The elements of q of all joints, those that follow others behind the others; a follower's offset stands
    in its placement."""
    followers = sorted((body.joint for body in model.bodies if body.joint.follows), key=lambda x: x.idx_q)
    led = [joint.follows for joint in followers if joint.follows]
    return [*q, *(mul(follows.multiplier, q[follows.idx_q]) for follows in led)]


def _following(
    joint: Joint, follows: Follows, q: Sequence[Scalar], angle: Callable[[Scalar], Angle]
) -> Coordinate:
    """The coordinate of a joint that follows another; the opposite angle has the sine and cosine known."""
    primary = q[follows.idx_q]
    multiple = [mul(follows.multiplier, primary)]
    if follows.multiplier == -1:
        return joint.type.coordinate(multiple, lambda _: angle(primary).opposite)
    return joint.type.coordinate(multiple, angle)


def external_forces(flat: Sequence[Scalar]) -> list[Force]:
    """One force a row [force, moment] of fext, row-major."""
    return [Force(Vector(*flat[k + 3 : k + 6]), Vector(*flat[k : k + 3])) for k in range(0, len(flat), 6)]


def on_bodies(model: Model, forces: Sequence[Force]) -> list[Force]:
    """The force on every body; none on a hidden one."""
    row = iter(forces)
    return [NO_ROW if body.hidden else next(row) for body in model.bodies]
