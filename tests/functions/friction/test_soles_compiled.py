"""Steps with soles in C: bits, sets of contacts, parameters, uneven ground, and operations."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.few import few
from support.friction import Array, near_ground, step
from support.soles import humanoid, planned, walker

import rbdgen
from rbdgen import Point, Sole
from rbdgen.checks.check import check_robot
from rbdgen.functions.friction.rows import SOLVER
from rbdgen.graph.programs.passes import TO_C, apply
from rbdgen.options import Options
from rbdgen.pipeline.design import count
from rbdgen.runtime import Library
from rbdgen.selection.trace import trace_inner

GOLDEN = Path(__file__).parents[2] / "golden"

NAMES = ("q", "v", "tau", "dt", "ground", "friction", "law")

CORNERS = ((0.1, 0.05, 0), (0.1, -0.05, 0), (-0.1, 0.05, 0), (-0.1, -0.05, 0))


def robot(mass: float = 2.0) -> rbdgen.Robot:
    """A free body on a point and a sole, with a set of the sole alone."""
    built = rbdgen.RobotBuilder("body").add_body("body", mass=mass, inertia=(0.01, 0.015, 0.02))
    held = [Point("top", "body", (0, 0, 0.05)), Sole("sole", "body", (0.2, 0.1), (0.01, 0, -0.05))]
    sets = {"flat": ["sole"], "turned": ["sole", "top"]}
    return rbdgen.load_robot(built, base="floating", contacts=held, contact_sets=sets)


@pytest.fixture(scope="module")
def lib() -> Library:
    steps = ["contact_step", "contact_step_flat", "contact_step_turned"]
    return rbdgen.build(robot(), [*steps, "contact_pose", "contact_pose_turned", "contact_pose_flat"])


def given(lib: Library, count: int) -> dict[str, Array]:
    """States near the ground as a call takes them."""
    inputs = near_ground(robot().model, count)
    shapes = {x.name: x.shape for x in lib.contact_step.signature.inputs}
    return {name: inputs[name].reshape(count, *shapes[name]) for name in NAMES}


def test_bits_of_calls_batches_and_threads(lib: Library) -> None:
    inputs = given(lib, 37)
    batch = lib.contact_step(*inputs.values())
    assert batch.impulse.shape == (37, 15)
    assert (batch.impulse[:, 3:] != 0).any(1).mean() > 0.3
    for k in range(37):
        for one, many in zip(lib.contact_step(*(x[k] for x in inputs.values())), batch, strict=True):
            np.testing.assert_array_equal(one, many[k])
    for one, other in zip(lib.contact_step(*inputs.values(), threads=2), batch, strict=True):
        np.testing.assert_array_equal(one, other)
    expected = step(robot().model, **{x: y.reshape(37, -1) for x, y in inputs.items()})
    solved = expected.residual[:, 0] < 1e-9
    assert solved.mean() > 0.9
    for one, other in zip(batch, expected, strict=True):
        np.testing.assert_allclose(one[solved], other[solved], rtol=0, atol=1e-9)


def test_sets_of_soles(lib: Library) -> None:
    """A set has the planes, the friction and the impulses of its contacts, in its order."""
    inputs = given(lib, 20)
    far = inputs["ground"].copy()
    far[:, 0, 3] -= 10
    whole = lib.contact_step(*{**inputs, "ground": far}.values())
    alone = {**inputs, "ground": inputs["ground"][:, 1:], "friction": inputs["friction"][:, 1:]}
    flat = lib.contact_step_flat(*alone.values())
    np.testing.assert_allclose(flat.v_next, whole.v_next, rtol=0, atol=1e-9)
    np.testing.assert_allclose(flat.impulse, whole.impulse[:, 3:], rtol=0, atol=1e-9)
    order = [1, 2, 3, 4, 0]
    turned = {**inputs, "ground": inputs["ground"][:, order], "friction": inputs["friction"][:, order]}
    found, expected = lib.contact_step_turned(*turned.values()), lib.contact_step(*inputs.values())
    solved = (found.residual[:, 0] < 1e-11) & (expected.residual[:, 0] < 1e-11)
    assert solved.mean() > 0.8
    by_point = expected.impulse.reshape(20, 5, 3)[:, order].reshape(20, 15)
    np.testing.assert_allclose(found.impulse[solved], by_point[solved], rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("name", "order"), [("", [0, 1, 2, 3, 4]), ("_flat", [1, 2, 3, 4]), ("_turned", [1, 2, 3, 4, 0])]
)
def test_uneven_ground_below_corners(lib: Library, name: str, order: list[int]) -> None:
    """The planes of a heightfield of one slope are this slope, below every corner."""
    slope, q, v = np.array([0.2, -0.1]), lib.neutral(), np.array([0.3, 0.1, -0.5, 0.4, -0.3, 0.2])
    x = np.linspace(-1, 1, 5)
    heights, q[2] = slope[0] * x[:, None] + slope[1] * x, 0.08
    n = np.append(-slope, 1) / np.sqrt(1 + slope @ slope)
    given: dict[str, Any] = {"friction": np.linspace(0.2, 0.8, 5)[order]}
    scheme, tau = f"contact_step{name}", np.zeros((30, 6))
    plane = np.tile([*n, 0], (len(order), 1))
    level = lib.rollout(q, v, tau, 2e-3, scheme=scheme, ground=plane, **given)
    hills = lib.rollout(q, v, tau, 2e-3, scheme=scheme, heights=heights, grid=(-1, -1, 0.5, 0.5), **given)
    for one, other in zip(hills, level, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-9)
    assert (level[2] != 0).any()


def test_bumps_below_corners(lib: Library) -> None:
    """A corner above a hill touches it before the other ones."""
    q, heights = lib.neutral(), np.zeros((41, 41))
    q[2] = 0.0521
    heights[31:34, 24:28] = 2e-3  # below the corner at (0.11, 0.05)
    found = lib.rollout(
        q,
        np.array([0, 0, -0.1, 0, 0, 0]),
        np.zeros((1, 6)),
        1e-3,
        heights=heights,
        grid=(-0.2, -0.2, 0.01, 0.01),
        friction=np.full(5, 0.5),
        last=True,
    )
    assert (found[2].reshape(5, 3)[:, 2] > 0).tolist() == [False, True, False, False, False]


@pytest.mark.campaign
def test_parameters_at_run_time() -> None:
    """The compliance of corners is an expression of the mass."""
    tabled = rbdgen.build(robot(), ["contact_step"], params=["mass:body"])
    fixed = rbdgen.build(robot(3.5), ["contact_step"])
    inputs = given(fixed, 10)
    for one, other in zip(
        tabled.contact_step(*inputs.values(), table=tabled.update([3.5])),
        fixed.contact_step(*inputs.values()),
        strict=True,
    ):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-9)


@pytest.mark.parametrize("real", few(["double"], ["double", "float"]))
def test_the_emitted_self_test_has_the_interpreters_bits(real: Any) -> None:
    findings = check_robot(walker(), Options(functions=("contact_step",), real=real))
    assert [finding for finding in findings if finding.passed is False] == []
    assert {finding.what for finding in findings if finding.passed} == {
        "emitted self-test",
        "batches of any size, bit for bit",
    }


@pytest.mark.campaign
def test_in_float() -> None:
    """In float, most steps are nearly as good, and their velocities differ little."""
    inputs = near_ground(robot().model, 200)
    single = rbdgen.build(robot(), ["contact_step"], real="float")
    shapes = {x.name: x.shape for x in single.contact_step.signature.inputs}
    taken = [np.float32(inputs[name].reshape(200, *shapes[name])) for name in NAMES]
    found = single.contact_step(*taken)
    rounded = {name: np.float64(x).reshape(200, -1) for name, x in zip(NAMES, taken, strict=True)}
    exact = step(robot().model, **rounded)
    solved = exact.residual[:, 0] < 1e-9
    error = np.abs(found.v_next - exact.v).max(1)[solved]
    assert np.median(error) < 1e-4
    assert np.quantile(error, 0.95) < 2e-3
    assert np.median(found.residual) < 1e-6


def solver_of(plan: tuple[int, int, int]) -> str:
    """A line with the operations of the solver of the humanoid on two soles."""
    return f"solver {plan}: {apply(trace_inner(planned(humanoid(), *plan), SOLVER, 'graph'), TO_C).cost}\n"


def test_operations_of_the_smallest_plan() -> None:
    """The campaign pins all others."""
    line = solver_of((4, 2, 0))
    assert int(line.split(" = ")[0].split()[-1]) <= 70_000
    assert line in (GOLDEN / "chosen_counts" / "contact_step_soles.txt").read_text()


@pytest.mark.campaign
def test_operations(golden: Callable[[str, str], None]) -> None:
    """Pins the operations of each plan for two soles, and of all functions of the step of the humanoid."""
    lines = [solver_of(plan) for plan in ((4, 2, 0), (6, 2, 0), (8, 3, 0), (5, 8, 2))]
    modes = ("", "_servo", "_jvp", "_vjp", "_derivatives")
    counted = count(humanoid(), [*(f"contact_step{mode}" for mode in modes), "contact_aba_derivatives"])
    lines += [f"{function}: {form}: {cost}\n" for function, (form, cost) in counted.items()]
    golden("chosen_counts/contact_step_soles.txt", "".join(lines))
