"""Integration steps have the right order, energy and derivatives; rollouts equal them bit for bit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support.forms import FunctionForm, run_on_floats
from support.functions import OF_TRAJECTORIES
from support.mimic import with_mimics
from support.rationals import Rationals
from support.robots import PATHS, robot

import rbdgen
from rbdgen.description.urdf import parse_urdf
from rbdgen.functions.table import lookup
from rbdgen.graph.programs.passes import TO_C, apply
from rbdgen.graph.programs.program import Program, straight_line
from rbdgen.graph.programs.run import run
from rbdgen.graph.programs.trig_stages import in_trig_stages
from rbdgen.graph.programs.verify import verify_program
from rbdgen.model.build import build_robot
from rbdgen.model.model import WORLD, Model
from rbdgen.runtime import Library
from rbdgen.selection.trace import trace_graph

Array = NDArray[Any]

TURNING = Model("turning joints", Rationals(3).model((WORLD, 0, 0, 1), "FLRS").bodies)
"""A robot with a floating, a planar, a revolute and a spherical joint."""

NV = TURNING.nv


@pytest.fixture(scope="module")
def compute() -> Callable[..., list[Array]]:
    """Computes the outputs of a function by its first form; programs are made once."""
    known: dict[str, Program] = {}

    def outputs(name: str, *inputs: Array | float) -> list[Array]:
        if name not in known:
            row = lookup(name)
            traced = trace_graph(TURNING, row, row.forms[0], "graph")
            known[name] = straight_line(traced)
        program = known[name]
        named = {x.name: value for x, value in zip(program.inputs, inputs, strict=True)}
        if "dt" in named:
            named["dt"] = np.asarray(named["dt"])[..., None]
        return list(run(program, named).values())

    return outputs


def start() -> tuple[Array, Array, Array]:
    """A state, and torques."""
    generator = np.random.default_rng(4)
    q = TURNING.manifold.random(generator)
    return q, generator.uniform(-1, 1, NV), generator.uniform(-1, 1, NV)


def test_order_of_convergence(compute: Callable[..., list[Array]]) -> None:
    """Half the step size divides the error by 2^order, also where rotations do not commute."""
    q0, v0, tau = start()

    def end(name: str, steps: int) -> tuple[Array, Array]:
        q, v = q0, v0
        for _ in range(steps):
            q, v = compute(name, q, v, tau, 0.1 / steps)
        return q, v

    exact_q, exact_v = end("step_rk4", 80)

    def error(name: str, steps: int) -> Any:
        q, v = end(name, steps)
        turned = TURNING.manifold.difference(exact_q, q)
        return max(np.abs(turned).max(), np.abs(v - exact_v).max())

    for name, steps, order in (("step", 40, 1), ("step_rk4", 10, 4)):
        errors = error(name, steps), error(name, 2 * steps)
        assert abs(np.log2(errors[0] / errors[1]) - order) < 0.2, (name, errors)


@pytest.mark.parametrize(("name", "drift"), [("step", 1e-2), ("step_rk4", 1e-9)])
def test_energy_stays(compute: Callable[..., list[Array]], name: str, drift: float) -> None:
    q, v, _ = start()
    before = compute("kinetic_energy", q, v)[0] + compute("potential_energy", q)[0]
    scale = abs(compute("kinetic_energy", q, v)[0])
    for _ in range(100):
        q, v = compute(name, q, v, np.zeros(NV), 1e-3)
    after = compute("kinetic_energy", q, v)[0] + compute("potential_energy", q)[0]
    assert abs(after - before) < drift * max(scale, 1.0)


def test_derivatives_are_differences_and_the_linearisation(compute: Callable[..., list[Array]]) -> None:
    (q, v, tau), h, d = start(), 0.01, 1e-5
    A, B = compute("step_derivatives", q, v, tau, h)
    da_dq, da_dv, da_dtau = compute("aba_derivatives", q, v, tau)
    lower = np.hstack([h * da_dq, np.eye(NV) + h * da_dv])
    np.testing.assert_allclose(A[NV:], lower, rtol=0, atol=1e-12 * np.abs(lower).max())
    np.testing.assert_allclose(B[NV:], h * da_dtau, rtol=0, atol=1e-12 * np.abs(h * da_dtau).max())

    manifold, unit = TURNING.manifold, d * np.eye(3 * NV)
    ends = [
        compute(
            "step",
            manifold.integrate(q, s * unit[:, :NV]),
            v + s * unit[:, NV : 2 * NV],
            tau + s * unit[:, 2 * NV :],
            h,
        )
        for s in (1, -1)
    ]
    by_all = np.hstack([manifold.difference(ends[1][0], ends[0][0]), ends[0][1] - ends[1][1]]).T / (2 * d)
    np.testing.assert_allclose(np.hstack([A, B]), by_all, rtol=0, atol=1e-7 * np.abs(by_all).max())


@pytest.mark.parametrize("name", OF_TRAJECTORIES)
def test_stages_change_no_bit(name: str) -> None:
    """The angles of a stage depend on sines of earlier stages only, and no operation is added.

    A step of fourth order has two evaluations of the dynamics in each of two stages, as the second and the
    fourth only need accelerations of the stage before. The last stage rotates the base.
    """
    model, row = robot("double_pendulum", "floating").model, lookup(name)
    whole = apply(straight_line(trace_graph(model, row, row.forms[0])), TO_C)
    parts = in_trig_stages(whole)
    verify_program(parts)
    assert len(parts.loops) == (3 if name == "step_rk4" else 2)
    assert parts.cost == whole.cost
    for loop in parts.loops:
        assert in_trig_stages(replace(straight_line(loop.kernel))).straight is not None
    inputs = model.manifold.random_inputs(row.sized(model).inputs, np.random.default_rng(1), (3,))
    flat = {key: value.reshape(3, -1) for key, value in inputs.items()}
    for ours, expected in zip(run(parts, flat).values(), run(whole, flat).values(), strict=True):
        np.testing.assert_array_equal(ours, expected)


def test_one_stage_stays_as_it_is() -> None:
    model, row = robot("double_pendulum").model, lookup("step")
    whole = straight_line(trace_graph(model, row, row.forms[0]))
    assert in_trig_stages(whole) is whole


def test_joints_that_follow_others() -> None:
    """All suitable forms agree, and q moves as without followers."""
    mimics = with_mimics(parse_urdf(PATHS["arm7"].read_bytes()), np.random.default_rng(5))
    model = build_robot(mimics).model
    assert not model.coupling.is_trivial
    row = lookup("step")
    inputs = model.manifold.random_inputs(row.sized(model).inputs, np.random.default_rng(2), (4,))
    inputs["dt"] = inputs["dt"][:, None]
    aba = lookup("aba")
    for form in row.forms_for(model):
        q, v = run_on_floats(FunctionForm(row, form), model, inputs)
        (a,) = run_on_floats(FunctionForm(aba, aba.form(form.name)), model, inputs)
        np.testing.assert_allclose(v, inputs["v"] + inputs["dt"] * a, rtol=1e-13)
        np.testing.assert_allclose(
            q, model.manifold.integrate(inputs["q"], inputs["dt"] * v), rtol=0, atol=1e-14
        )


@pytest.fixture(scope="module")
def library() -> Library:
    return rbdgen.build(robot("double_pendulum", "floating"), ["step", "step_rk4"])


@pytest.fixture(scope="module")
def small() -> Library:
    """A robot whose state does not fill a vector."""
    return rbdgen.build(robot("double_pendulum"), ["step"])


@pytest.mark.parametrize("count", [1, 3, 35])
@pytest.mark.parametrize("name", ["step", "step_rk4"])
def test_rollouts_are_steps_bit_for_bit(library: Library, name: str, count: int) -> None:
    """q has more elements than a vector has lanes; v has as many, or fewer."""
    step, generator = library.functions[name], np.random.default_rng(count)
    q, v = library.random(0, (count,)), generator.uniform(-1, 1, (count, 8))
    tau, dt = generator.uniform(-1, 1, (count, 4, 8)), generator.uniform(1e-4, 1e-3, count)
    found = library.rollout(q, v, tau, dt, scheme=name)
    shared = library.rollout(q, v, tau[0], 1e-3, scheme=name, threads=2)
    end = library.rollout(q, v, tau, dt, scheme=name, last=True)
    assert (found.q.shape, found.v.shape) == ((count, 4, 9), (count, 4, 8))
    here, there = (q, v), (q, v)
    for k in range(4):
        here, there = step(*here, tau[:, k], dt), step(*there, tau[0, k], 1e-3)
        for array, states in zip(here, found, strict=True):
            np.testing.assert_array_equal(states[:, k], array)
        for array, states in zip(there, shared, strict=True):
            np.testing.assert_array_equal(states[:, k], array)
    for array, last in zip(here, end, strict=True):
        np.testing.assert_array_equal(last, array)
    alone = step.rollout(q[0], v[0], tau[0], dt[0])  # type: ignore[attr-defined]
    np.testing.assert_array_equal(alone.q, found.q[0])


@pytest.mark.parametrize("steps", [1, 9, 12])
@pytest.mark.parametrize("count", [8, 16, 35])
def test_short_rows_leave_their_neighbours_alone(small: Library, count: int, steps: int) -> None:
    """A vector holds several rows of two numbers, and states of several steps are stored together."""
    generator = np.random.default_rng(count)
    q, v = generator.standard_normal((2, count, 2))
    tau = generator.standard_normal((count, steps, 2))
    states, end = small.rollout(q, v, tau, 0.01), small.rollout(q, v, tau, 0.01, last=True)
    here = q, v
    for k in range(steps):
        here = small.step(*here, tau[:, k], 0.01)
        for ours, expected in zip(states, here, strict=True):
            np.testing.assert_array_equal(ours[:, k], expected)
    np.testing.assert_array_equal(end.v, here[1])


def test_rollouts_pass_nan_through_and_refuse_in_one_line(library: Library) -> None:
    q, v, tau = library.neutral(), np.zeros(8), np.zeros((3, 8))
    assert np.isnan(library.rollout(q, v, tau * np.nan, 1e-3).v[-1]).all()
    for wrong, what in (
        ((q, v, tau[:0], 1e-3), r"tau has shape \(0, 8\); give one step at least"),
        ((q, v, tau[0], 1e-3), r"tau has shape \(8,\), expected \(..., N, 8\)"),
        ((q, v, tau[:, :7], 1e-3), r"tau has shape \(3, 7\), expected \(..., 3, 8\)"),
        ((q, v, tau, np.ones(2), 1), r"5 arrays given; call step.rollout\(q, v, tau, dt\)"),
        ((q, v, tau), "dt is missing; call step.rollout"),
        ((np.stack([q, q]), v, tau, np.ones(3)), "leading axes do not broadcast"),
        ((q, v, [[1.0], [1.0, 2.0]], 1e-3), "tau is not an array"),
        ((q, v, tau, "a second"), "dt has dtype"),
    ):
        with pytest.raises(rbdgen.errors.RbdgenError, match=what) as raised:
            library.rollout(*wrong)
        assert str(raised.value).startswith("step.rollout: ")
        assert "\n" not in str(raised.value)
    with pytest.raises(rbdgen.errors.ArrayTypeError, match="rollout: unexpected argument 'controls'"):
        library.rollout(q, v, controls=tau, dt=1e-3)
    with pytest.raises(rbdgen.errors.ArrayValueError, match="rollout: threads is 0; pass 1 or more"):
        library.rollout(q, v, tau, 1e-3, threads=0)
    with pytest.raises(rbdgen.errors.ArrayTypeError, match="last is ndarray; pass True or False"):
        library.rollout(q, v, tau, 1e-3, last=np.ones(2))
    with pytest.raises(rbdgen.errors.ArrayValueError, match="there are: step, step_rk4"):
        library.rollout(q, v, tau, 1e-3, scheme="euler")


def test_small_machines_have_the_step_alone(tmp_path: Path) -> None:
    """Boards get no rollouts: a loop whose length the caller chooses has no bound on its time."""
    given = robot("double_pendulum")
    for target, loops in (("cortex-m4f", False), ("portable", True)):
        options = {"target": target, "real": "float", "compiled": False}
        folder = rbdgen.generate(given, tmp_path / target, ["step"], **options)
        text = "".join(path.read_text() for path in sorted(folder.glob("*.[ch]")))
        assert ("double_pendulum_step_rollout(" in text) == loops
