"""Velocities and accelerations of frames from body to body, each in its own axes, without gravity.

From the body that carries a frame they go to the frame's axes, or up to those of the world, whose way is the
shorter one for a few vectors: no rotation is multiplied with another. Where the classical acceleration is
asked for, no velocity of a point is needed (Luh, Walker and Paul 1980).
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
from rbdgen.sweeps.sweep import Given, Gives, Outward


@dataclass(frozen=True)
class Moving:
    """A body's velocity and spatial acceleration, in its axes at its origin."""

    velocity: Motion
    acceleration: Motion


def moved(body: Body, x: Given) -> Gives:
    """A body's motion from its parent's: v = X v_p + S qd, a = X a_p + S qdd + v x S qd."""
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
"""The sweep that gives every body's `motion`."""

CLASSICAL = replace(
    SPATIAL,
    step=lambda body, x: {"motion": moved_classically(body, x)},
    world=lambda _: BodyMotion(ZERO, ZERO, ZERO),
    gives={"motion": BodyMotion},
)
"""The same with the classical acceleration of its origin."""


class Frames:
    """The chosen frames of a reduced model at a state, on bodies whose motion one of the sweeps gives; a is 0
    where a function does not take it."""

    def __init__(self, reduced: ReducedModel, x: State, sweep: Outward) -> None:
        driver = straight(reduced.in_metres, x)
        if not x.a:
            sweep = replace(sweep, reads=[name for name in sweep.reads if name != "a"])
        self.bodies: Sequence[ReducedBody] = driver.bodies
        self.frames = reduced.in_metres.frames_on(self.bodies)
        moving = driver.run(sweep)["motion"]
        self.motion = {WORLD: sweep.world(driver.world), **dict(enumerate(moving))}

    def velocities(self, convention: Convention) -> list[Motion]:
        return [self.seen(x, self.motion[x.parent].velocity, convention) for x in self.frames]

    def accelerations(self, convention: Convention) -> list[Motion]:
        """Spatial ones."""
        return [self.seen(x, self.motion[x.parent].acceleration, convention) for x in self.frames]

    def classical_from_spatial(self, convention: Convention) -> list[Motion]:
        """Of points, by their velocities."""
        return list(map(of_point, self.accelerations(convention), self.velocities(convention)))

    def classical(self, convention: Convention) -> list[Motion]:
        """Of the frames' origins, by the sweep `CLASSICAL`; not of the world's."""
        found = []
        for x in self.frames:
            own: BodyMotion = self.motion[x.parent]
            m = Motion(own.wdot, own.a + own.U.apply(x.translation))
            found.append(self.turned(x, m, convention))
        return found

    def seen(self, frame: PlacedFrame, m: Motion, convention: Convention) -> Motion:
        """A motion of a frame's body in these coordinates."""
        if convention == "world":
            return self.climbed(frame, m, shifted=True)
        at = Motion(m.angular, m.linear + m.angular.cross(frame.translation))
        return self.turned(frame, at, convention)

    def turned(self, frame: PlacedFrame, m: Motion, convention: Convention) -> Motion:
        """A motion in the axes of a frame's body, in the frame's or in those of the world."""
        if convention == "local":
            return Motion(frame.rotation.to_child(m.angular), frame.rotation.to_child(m.linear))
        return self.climbed(frame, m)

    def climbed(self, frame: PlacedFrame, m: Motion, *, shifted: bool = False) -> Motion:
        """A motion in the axes of a frame's body, in those of the world; `shifted`: and at its origin."""
        i = frame.parent
        while i != WORLD:
            body = self.bodies[i]
            w = body.rotation.to_parent(m.angular)
            v = body.rotation.to_parent(m.linear)
            m = Motion(w, v + body.translation.cross(w) if shifted else v)
            i = body.parent
        return m
