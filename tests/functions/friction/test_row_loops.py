"""The solver in loops over rows is the solver for speed up to rounding, in a fixed number of operations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import pytest
from support import soles
from support.few import few
from support.friction import near_ground, problem, quadruped, recorded, step

import rbdgen
from rbdgen import Point
from rbdgen.checks.check import check_robot
from rbdgen.functions.friction.rows import SOLVER
from rbdgen.functions.friction.step import solver_of
from rbdgen.graph.programs.nests import run_counts
from rbdgen.graph.programs.passes import TO_C, apply
from rbdgen.graph.programs.run import run
from rbdgen.graph.programs.verify import verify_program
from rbdgen.model.model import Model
from rbdgen.options import Options
from rbdgen.selection.trace import trace_inner

STRAIGHT, LOOPED = SOLVER, SOLVER.for_size


def test_recorded_problems_and_their_operations(golden: Callable[[str, str], None]) -> None:
    """Velocities differ by rounding, and the residual is as small as that of straight Newton steps."""
    motions, lines = recorded().inputs, list[str]()
    model, count = quadruped(), len(motions["q"])
    arrays = problem(motions)
    given = {
        name: np.stack([np.broadcast_to(x, (count,)) for x in xs], 1) for name, xs in arrays.items() if xs
    }
    found = []
    for name, inner in (("straight", STRAIGHT), ("looped", LOOPED)):
        program = apply(trace_inner(model, inner, "graph"), TO_C)
        verify_program(program)
        with np.errstate(all="ignore"):
            found.append(run(program, given))
        lines.append(f"solver {name}: {program.cost}; loops {run_counts(program)}\n")
    first, looped = found
    G = np.array([np.stack(row) for row in solver_of(model).unstripped(list(given["strips"].T))])
    change = np.einsum("ijs,sj->si", G, looped["solved"] - first["solved"])
    assert np.abs(change).max() < 1e-12
    assert looped["residual"].max() < 1e-12
    golden("chosen_counts/contact_step_looped.txt", "".join(lines))


def test_plans_and_contacts_do_not_lengthen_the_lines() -> None:
    """As many operations are written down for any plan and any number of points; more are executed."""
    programs = [
        trace_inner(model, LOOPED, "graph")
        for model in (quadruped((3, 2, 0)), quadruped((8, 6, 2)), on_points(1), on_points(6))
    ]
    assert programs[0].length == programs[1].length == programs[3].length < 400
    assert programs[2].length <= programs[0].length
    assert programs[1].cost.total > 3 * programs[0].cost.total > 15 * programs[2].cost.total


def on_points(count: int) -> Model:
    """A body on points along a line."""
    body = rbdgen.RobotBuilder("body").add_body("body", mass=2, inertia=(0.1, 0.1, 0.1))
    points = [Point(f"p{k}", "body", (0.1 * k, 0.02 * k * k, -0.1)) for k in range(count)]
    return rbdgen.load_robot(body, base="floating", contacts=points, contact_solver=(3, 2, 0)).model


def test_nan_stays_in_its_state() -> None:
    model = on_points(3)
    inputs = near_ground(model, 8)
    clean = step(model, "looped", **inputs)
    v = inputs["v"].copy()
    v[3, 0] = np.nan
    found = step(model, "looped", **{**inputs, "v": v})
    assert np.isnan(found.residual[3])
    for one, other in zip(found, clean, strict=True):
        np.testing.assert_array_equal(np.delete(one, 3, 0), np.delete(other, 3, 0))


def test_a_step_with_servos() -> None:
    model = quadruped()
    gains = {"kp": np.full(12, 40.0), "kd": np.full(12, 1.0), "target": np.full(12, 0.1)}
    inputs = {**near_ground(model, 20), **gains}
    straight, looped = (step(model, form, "contact_step_servo", **inputs) for form in ("composite", "looped"))
    for one, other in zip(straight, looped, strict=True):
        np.testing.assert_allclose(other, one, rtol=0, atol=1e-11)


def legged() -> rbdgen.Robot:
    """A leg on a point, with limits and dry friction of its joints, and a rope."""
    built = rbdgen.RobotBuilder("leg").add_body("trunk", mass=3, inertia=(0.02, 0.03, 0.03))
    solid: dict[str, Any] = {"mass": 0.5, "com": (0.01, 0, -0.1), "inertia": (2e-3, 2e-3, 1e-3)}
    joint: dict[str, Any] = {"type": "revolute", "axis": (0, 1, 0.2), "limit": (-0.3, 0.3), "friction": 0.2}
    built.add_body("thigh", parent="trunk", xyz=(0, 0.1, 0), **joint, **solid)
    built.add_body("shank", parent="thigh", xyz=(0, 0, -0.2), **joint, **solid)
    held = [
        Point("foot", "shank", (0, 0, -0.2), radius=0.02),
        rbdgen.Loop("rope", "trunk", (0, 0, 0.2), "world", (0, 0, 1)),
    ]
    return rbdgen.load_robot(
        built,
        base="floating",
        friction="exact",
        contacts=held,
        contact_with=["limits", "friction"],
        contact_solver=(5, 6, 1),
    )


def test_joints_with_limits_and_dry_friction() -> None:
    model = legged().model
    inputs = near_ground(model, 80)
    straight, looped = (step(model, form, **inputs) for form in ("composite", "looped"))
    solved = straight.residual[:, 0] < 1e-9
    assert solved.mean() > 0.8
    assert (np.abs(straight.impulse[:, -2:]) > 0).any(0).all()
    for one, other in zip(straight, looped, strict=True):
        np.testing.assert_allclose(other[solved], one[solved], rtol=0, atol=1e-10)


@pytest.mark.parametrize("real", few(["double"], ["double", "float"]))
def test_c_has_the_interpreters_bits(real: Literal["double", "float"]) -> None:
    """Loops within loops in C compute what the flat program does, in batches too."""
    options = Options(functions=("contact_step",), real=real, variants={"contact_step": "looped"})
    findings = check_robot(legged(), options)
    assert [finding for finding in findings if finding.passed is False] == []
    assert {finding.what for finding in findings if finding.passed} == {
        "emitted self-test",
        "batches of any size, bit for bit",
    }


def test_soles_keep_their_loops() -> None:
    model = soles.walker().model
    assert trace_inner(model, LOOPED, "graph") == trace_inner(model, STRAIGHT, "graph")
