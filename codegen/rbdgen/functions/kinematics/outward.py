"""Velocities and accelerations of frames, computed from body to body in the bodies' own axes, without
gravity.

The motion of the body that carries a frame is rotated to the frame's axes, or up the tree to world axes. For
a few vectors this takes fewer operations than products of rotations. Classical accelerations need no velocity
of a point (Luh, Walker and Paul 1980).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rbdgen.functions.inverse_dynamics.classical import BodyMotion
from rbdgen.functions.inverse_dynamics.classical import moved as moved_classically
from rbdgen.functions.kinematics.columns import Convention
from rbdgen.functions.kinematics.motion import of_point
from rbdgen.model.model import WORLD
from rbdgen.model.reduce import PlacedFrame, ReducedBody, ReducedModel
from rbdgen.spatial.ops import NO_MOTION, ZERO, Motion
from rbdgen.sweeps.bodies import Body, motion_to_child, relative_motion
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.straight import straight
from rbdgen.sweeps.sweep import Given, Gives, Outward, without


@dataclass(frozen=True)
class Moving:
    """The velocity and spatial acceleration of a body, in its axes and at its origin."""

    velocity: Motion
    acceleration: Motion


def moved(body: Body, x: Given) -> Gives:
    """The motion of a body from that of its parent: v = X v_p + S qd, a = X a_p + S qdd + v x S qd."""
    own = relative_motion(body, x.v)
    v = motion_to_child(body, x.parent.velocity)
    a = motion_to_child(body, x.parent.acceleration) + relative_motion(body, x.a) + v.cross(own)
    return {"motion": Moving(v + own, a)}


SPATIAL = Outward(
    "outward",
    "motion",
    moved,
    world=lambda _: Moving(NO_MOTION, NO_MOTION),
    reads=("placement", "v", "a"),
    gives={"motion": Moving},
)
"""The sweep that computes the `motion` of every body."""

CLASSICAL = replace(
    SPATIAL,
    step=lambda body, x: {"motion": moved_classically(body, x)},
    world=lambda _: BodyMotion(ZERO, ZERO, ZERO),
    gives={"motion": BodyMotion},
)
"""The sweep of motions with the classical acceleration of each body's origin."""


class Frames:
    """The chosen frames of a reduced model at a state. `sweep` computes the motion of the bodies: it is
    `SPATIAL` or `CLASSICAL`.

    a is 0 for functions that do not take it.
    """

    def __init__(self, reduced: ReducedModel, x: State, sweep: Outward) -> None:
        driver = straight(reduced.in_metres, x)
        sweeps = (sweep,) if x.a else without((sweep,), "a")
        self.bodies: Sequence[ReducedBody] = driver.bodies
        self.frames = reduced.in_metres.frames_on(self.bodies)
        moving = driver.run(*sweeps)["motion"]
        self.motion = {WORLD: sweep.world(driver.world), **dict(enumerate(moving))}

    def velocities(self, convention: Convention) -> list[Motion]:
        return [self.seen(x, self.motion[x.parent].velocity, convention) for x in self.frames]

    def accelerations(self, convention: Convention) -> list[Motion]:
        """The spatial accelerations."""
        return [self.seen(x, self.motion[x.parent].acceleration, convention) for x in self.frames]

    def classical_from_spatial(self, convention: Convention) -> list[Motion]:
        """The classical accelerations, from spatial ones and velocities."""
        return list(map(of_point, self.accelerations(convention), self.velocities(convention)))

    def classical(self, convention: Convention) -> list[Motion]:
        """The classical accelerations of the frames' origins, from the sweep `CLASSICAL`. The convention is
        local or aligned.
        """
        found = []
        for x in self.frames:
            own: BodyMotion = self.motion[x.parent]
            m = Motion(own.wdot, own.a + own.U.apply(x.translation))
            found.append(self.turned(x, m, convention))
        return found

    def seen(self, frame: PlacedFrame, m: Motion, convention: Convention) -> Motion:
        """The motion of a frame in the coordinates of this convention. `m` is the motion of its body, in the
        body's axes and at the body's origin.
        """
        if convention == "world":
            return self.climbed(frame, m, shifted=True)
        at = Motion(m.angular, m.linear + m.angular.cross(frame.translation))
        return self.turned(frame, at, convention)

    def turned(self, frame: PlacedFrame, m: Motion, convention: Convention) -> Motion:
        """A motion in the axes of a frame's body, rotated to the frame's axes or to those of the world."""
        if convention == "local":
            return Motion(frame.rotation.to_child(m.angular), frame.rotation.to_child(m.linear))
        return self.climbed(frame, m)

    def climbed(self, frame: PlacedFrame, m: Motion, *, shifted: bool = False) -> Motion:
        """A motion in the axes of a frame's body, rotated to world axes; if `shifted`, also taken at the
        world's origin.
        """
        i = frame.parent
        while i != WORLD:
            body = self.bodies[i]
            w = body.rotation.to_parent(m.angular)
            v = body.rotation.to_parent(m.linear)
            m = Motion(w, v + body.translation.cross(w) if shifted else v)
            i = body.parent
        return m
