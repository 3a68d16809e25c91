"""Rollouts of `contact_step` on uneven ground, whose planes below the contacts are those of a heightfield."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.hopper import FURTHER, STEPS, at_start, drawn, hopper, same

import rbdgen
from rbdgen.runtime import Library

Array = np.ndarray[Any, Any]
FUNCTIONS = ("contact_step", "contact_step_one", "contact_pose", "contact_pose_one", "difference")


@pytest.fixture(scope="module")
def hills() -> Library:
    return rbdgen.build(hopper(), FUNCTIONS)


def plane(point: Array, heights: Array, grid: Any) -> Array:
    """The plane that touches a heightfield below a point, by its bilinear interpolation."""
    x0, y0, dx, dy = grid
    at = np.clip([(point[0] - x0) / dx, (point[1] - y0) / dy], 0, np.array(heights.shape) - 1)
    i, j = np.minimum(at.astype(int), np.array(heights.shape) - 2)
    u, w = at - (i, j)
    (a, b), (c, d) = heights[i : i + 2, j : j + 2]
    height = (1 - u) * ((1 - w) * a + w * b) + u * ((1 - w) * c + w * d)
    slope = np.array([((1 - w) * (c - a) + w * (d - b)) / dx, ((1 - u) * (b - a) + u * (d - c)) / dy])
    slope[(at <= 0) | (at >= np.array(heights.shape) - 1)] = 0
    normal = np.append(-slope, 1) / np.sqrt(1 + slope @ slope)
    return np.append(normal, normal @ [point[0], point[1], height])


def grounds(points: Array, heights: Array, grid: Any) -> Array:
    """The planes below all contacts."""
    flat = [plane(point, heights, grid) for point in points.reshape(-1, 3)]
    return np.array(flat).reshape(*points.shape[:-1], 4)


@pytest.mark.parametrize("name", ["contact_step", "contact_step_one"])
@pytest.mark.parametrize("leading", [(), (1,), (40,)])
def test_uneven_ground_is_that_below_each_contact(
    hills: Library, name: str, leading: tuple[int, ...]
) -> None:
    """Some contacts are beyond the border; with feedback, the controls are those that were applied."""
    x, rng = drawn(hills, leading, name), np.random.default_rng(5)
    x["q"][..., :2] = rng.uniform(-0.6, 0.6, (*leading, 2))
    x = {n: a for n, a in at_start(x, "friction", "law").items() if n != "ground"}
    heights, grid = rng.uniform(-0.02, 0.02, (5, 4)), (-0.4, -0.3, 0.2, 0.2)
    pose = hills.functions[name.replace("step", "pose")]
    each = (*leading, STEPS)
    gains = rng.uniform(-1, 1, (*each, hills.nv, 2 * hills.nv))
    goals = np.concatenate([hills.random(rng, each), rng.uniform(-1, 1, (*each, hills.nv))], axis=-1)
    on_hills: dict[str, Any] = {**x, "heights": heights, "grid": grid, "scheme": name}
    for found in (
        hills.rollout(**on_hills),
        hills.rollout(**on_hills, gains=gains, states=goals, threads=2),
    ):
        tau = found.tau if "tau" in found._fields else x["tau"]
        q, v = x["q"], x["v"]
        for k in range(STEPS):
            given = {"ground": grounds(pose(q)[0], heights, grid), "friction": x["friction"], "law": x["law"]}
            results = hills.functions[name](q, v, tau[..., k, :], x["dt"], **given)
            for part, right in zip(found, results, strict=False):
                np.testing.assert_allclose(part[..., k, :], right, rtol=1e-9, atol=1e-11)
            q, v = (part[..., k, :] for part in found[:2])
    same(hills.rollout(**on_hills, last=True), [part[..., -1, :] for part in hills.rollout(**on_hills)])
    steered, flat = hills.rollout(**on_hills, gains=gains, states=goals), hills.rollout(**x, scheme=name)
    if len(leading) and leading[0] > 1:
        assert np.abs(hills.rollout(**on_hills).impulse - flat.impulse).max() > 1e-3
    assert np.abs(steered.q - hills.rollout(**on_hills).q).max() > 1e-6


def test_flat_heights_are_the_default_ground(hills: Library) -> None:
    """A batch, with heights for each rollout, equals one on the default ground in bits; NaN stays in its own
    rollout."""
    x = {name: a for name, a in at_start(drawn(hills, (20,)), *FURTHER).items() if name != "ground"}
    heights, grid = np.zeros((20, 3, 2)), [-10, -10, 10, 20]
    same(hills.rollout(**x, heights=heights, grid=grid), hills.rollout(**x))
    call = hills.rollout.bind(**x, heights=heights, grid=np.array(grid, float))
    heights[7] = np.nan
    found, plain = call(), hills.rollout(**x)
    assert np.isnan(found.v[7]).any()
    same([np.delete(part, 7, axis=0) for part in found], [np.delete(part, 7, axis=0) for part in plain])
    x["q"][3] = np.nan
    assert np.isnan(hills.rollout(**x, heights=0 * heights[0], grid=grid).v[3]).all()


TERRAIN_REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"ground": np.zeros((2, 4))}, "heights take the place of ground; pass one of them$"),
    ({"per_step": ["ground"]}, "heights take the place of ground; pass one of them$"),
    ({"heights": np.zeros(4)}, r"heights has shape \(4,\); pass heights along x and y"),
    ({"heights": np.zeros((1, 4))}, r"heights has shape \(1, 4\); pass heights along x and y"),
    ({"heights": None}, "heights is missing; pass heights along x and y"),
    (
        {"grid": None},
        r"grid is missing; call contact_step\.rollout\(q, v, tau, dt, ground, friction, law, heights",
    ),
    ({"grid": [0, 0, 1]}, r"grid has shape \(3,\), expected \(..., 4\)"),
]


@pytest.mark.parametrize(("changed", "message"), TERRAIN_REFUSED)
def test_heights_that_do_not_fit_are_refused(hills: Library, changed: dict[str, Any], message: str) -> None:
    given = {"heights": np.zeros((3, 3)), "grid": [0, 0, 1, 1], **at_start(drawn(hills, ()), *FURTHER)}
    del given["ground"]
    with pytest.raises(rbdgen.RbdgenError, match=message) as raised:
        hills.rollout(**{**given, **changed})
    assert str(raised.value).startswith("contact_step.rollout: ")
    assert "\n" not in str(raised.value)


def test_the_function_that_heights_need_is_named() -> None:
    lib = rbdgen.build(hopper(), ["contact_step"])
    given = at_start(drawn(lib, ()), *FURTHER)
    del given["ground"]
    with pytest.raises(
        rbdgen.RbdgenError, match=r"^contact_step\.rollout: heights take the function contact_p"
    ):
        lib.rollout(**given, heights=np.zeros((2, 2)), grid=[0, 0, 1, 1])
