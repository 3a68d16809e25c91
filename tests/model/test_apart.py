"""Pairs of capsules that are proved never to meet do not meet, and those that meet are not proved."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.covers import Array, joint, origin, robot

from rbdgen.model.apart import proved_apart, ranges
from rbdgen.model.clearances import Placed, distances, sampled
from rbdgen.model.distances import Capsule
from rbdgen.model.model import WORLD, Model
from rbdgen.model.pairs import samples
from rbdgen.pipeline.robot import load_robot
from rbdgen.spatial.ops import Vector

KINDS = ("revolute", "continuous", "prismatic")


def arm(folder: Path, joints: list[str]) -> Model:
    """A chain of links b1, b2, ... with these joints."""
    links = dict.fromkeys(["base", *(f"b{k + 1}" for k in range(len(joints)))], "")
    return load_robot(robot(folder, links, joints)).model


def ball(body: int, center: tuple[float, float, float], radius: float) -> Capsule:
    return Capsule("", "", body, Vector(*center), Vector(0.0, 0.0, 1.0), 0.0, radius)


def closest(model: Model, pair: tuple[Capsule, Capsule], count: int = 4000) -> float:
    """The least distance of two capsules in random configurations and at the corners of the limits."""
    of = ranges(model)
    q = samples(model, of, count)
    random = np.random.default_rng(1)
    corners = np.where(random.random((len(q), 200)) < 0.5, of.lower[:, None], of.upper[:, None])
    low, _ = sampled(model, pair, [(0, 1)], np.concatenate([q, corners], axis=1))
    return float(low[0])


@st.composite
def chains(draw: st.DrawFn) -> tuple[list[str], list[Capsule]]:
    """Joints of random kinds, limits and places, some of which follow others, and two capsules."""
    number = st.floats(-0.5, 0.5).map(lambda x: round(x, 3))
    count = draw(st.integers(1, 4))
    joints = []
    for k in range(count):
        kind = draw(st.sampled_from(KINDS))
        low = draw(number)
        xyz = draw(st.tuples(number, number, number))
        rpy = draw(st.tuples(number, number, number))
        follows = k > 0 and kind != "continuous" and draw(st.booleans())
        mimic = (
            f'<mimic joint="to_b1" multiplier="{draw(number)}" offset="{draw(number)}"/>' if follows else ""
        )
        parent = "base" if k == 0 else f"b{draw(st.integers(1, k))}"
        joints.append(joint(parent, f"b{k + 1}", origin(xyz, rpy) + mimic, kind, f"{low} {low + 0.8}"))
    pair = []
    for body in (draw(st.integers(-1, count - 2)), count - 1):
        x, y, z = draw(st.tuples(number, number, number))
        axis = Vector(math.sin(x), 0.0, math.cos(x))
        pair.append(Capsule("", "", body, Vector(x, y, z), axis, abs(y), 0.01 + abs(z) / 8))
    return joints, pair


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(chains())
def test_what_is_proved_is_true(tmp_path: Path, chain: tuple[list[str], list[Capsule]]) -> None:
    joints, (one, other) = chain
    model = arm(tmp_path, joints)
    if one.body == other.body or max(one.body, other.body) >= model.nbodies:
        return  # a follower with the multiplier 0 is no joint
    if proved_apart(model, one, other, ranges(model)) is not None:
        assert closest(model, (one, other)) > 0


def test_a_pendulum_and_a_wall(tmp_path: Path) -> None:
    """A ball at 1 m from the axis turns within +-1 rad; at angle a and 1 m + d, a fixed ball is near."""
    model = arm(tmp_path, [joint("base", "b1", "", "revolute", "-1 1")])
    moving = ball(0, (1.0, 0.0, 0.0), 0.1)
    for angle, meets in ((1.15, True), (1.25, False), (-1.15, True), (math.pi, False)):
        fixed = ball(WORLD, (math.cos(angle), math.sin(angle), 0.0), 0.1)
        assert (proved_apart(model, moving, fixed, ranges(model)) is None) == meets
        assert (closest(model, (moving, fixed)) < 0) == meets


def test_what_cannot_be_proved_is_not(tmp_path: Path) -> None:
    """A slide without limits, and a ball joint, can be anywhere; a joint without limits takes all angles."""
    far = ball(WORLD, (50.0, 0.0, 0.0), 0.1)
    endless = '<joint name="j" type="floating"><parent link="base"/><child link="b1"/></joint>'
    model = arm(tmp_path, [endless])
    assert proved_apart(model, ball(0, (0.0, 0.0, 0.0), 0.1), far, ranges(model)) is None
    model = arm(tmp_path, [joint("base", "b1", "", "continuous")])
    near = ball(WORLD, (-1.0, 0.0, 0.0), 0.1)
    assert proved_apart(model, ball(0, (0.7, 0.0, 0.0), 0.1), near, ranges(model)) is not None
    assert proved_apart(model, ball(0, (0.9, 0.0, 0.0), 0.1), near, ranges(model)) is None


def test_slides_and_followers(tmp_path: Path) -> None:
    """Two fingers, of which one mirrors the other, meet in the middle if they are thick enough."""
    first = joint("base", "b1", '<axis xyz="0 1 0"/>', "prismatic", "0.02 0.1")
    mimic = '<axis xyz="0 -1 0"/><mimic joint="to_b1"/>'
    second = joint("base", "b2", mimic, "prismatic", "0.02 0.1")
    model = arm(tmp_path, [first, second])
    for radius, meets in ((0.019, False), (0.021, True)):
        fingers = [ball(k, (0.0, 0.0, 0.0), radius) for k in (0, 1)]
        assert (proved_apart(model, fingers[0], fingers[1], ranges(model)) is None) == meets


def segment_distance(a: Array, u: Array, h: float, b: Array, v: Array, k: float) -> float:
    """The distance of two segments by a fine grid, then by halving around its best point."""
    s0, t0, ds, dt = 0.0, 0.0, h, k
    for _ in range(60):
        s = np.clip(s0 + ds * np.linspace(-1, 1, 9), -h, h)[:, None]
        t = np.clip(t0 + dt * np.linspace(-1, 1, 9), -k, k)[None]
        x = (a + s[..., None] * u) - (b + t[..., None] * v)
        best = np.unravel_index(np.argmin(np.linalg.norm(x, axis=-1)), (9, 9))
        s0, t0, ds, dt = float(s[best[0], 0]), float(t[0, best[1]]), 0.6 * ds, 0.6 * dt
    return float(np.linalg.norm(a + s0 * u - b - t0 * v))


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**31), st.sampled_from(["random", "parallel", "sphere", "collinear"]))
def test_distances_of_segments(seed: int, case: str) -> None:
    random = np.random.default_rng(seed)
    centers, axes = random.standard_normal((2, 3)), random.standard_normal((2, 3))
    axes /= np.linalg.norm(axes, axis=1)[:, None]
    lengths = random.uniform(0, 1, 2) * ([1, 0] if case == "sphere" else [1, 1])
    if case in ("parallel", "collinear"):
        axes[1] = axes[0]
    if case == "collinear":
        centers[1] = centers[0] + 3 * axes[0]
    both = [Placed(c, u, np.array(h), np.array(0.1)) for c, u, h in zip(centers, axes, lengths, strict=True)]
    exact = segment_distance(centers[0], axes[0], lengths[0], centers[1], axes[1], lengths[1])
    assert float(distances(*both)) == pytest.approx(exact - 0.2, abs=1e-7)
