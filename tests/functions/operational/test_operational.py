"""Frames in operational space, compiled, and their counts. Tests of frames compare them with Pinocchio."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.few import few
from support.frames import with_feet, with_tool
from support.robots import robot

import rbdgen
from rbdgen.functions.kinematics.columns import CONVENTIONS
from rbdgen.functions.operational import ik_rows
from rbdgen.functions.operational import rows as operational
from rbdgen.model.build import Base
from rbdgen.model.model import Model
from rbdgen.pipeline.design import count

GOLDEN = Path(__file__).parents[2] / "golden" / "chosen_counts"


@pytest.mark.parametrize("x", few(["aligned"], CONVENTIONS))
def test_a_force_moves_the_frame_as_its_inertia_says(x: str) -> None:
    """With tau = J^T F, the frame's acceleration A satisfies Lambda A + bias = F."""
    arm = rbdgen.load_robot("arm7", frames=["link7"])
    kind = "classical_acceleration" if x == "aligned" else "acceleration"
    names = [f"frame_{what}_{x}" for what in ("mobility", "inertia", "bias", "jacobian", kind)]
    lib = rbdgen.build(arm, [*names, "aba"])
    mobility, inertia, bias, jacobian, acceleration = (getattr(lib, name) for name in names)
    rng = np.random.default_rng(4)
    q, v, F = lib.random(4), rng.normal(size=7), rng.normal(size=6)
    a = lib.aba(q, v, jacobian(q)[0].T @ F)
    Lambda = inertia(q).reshape(6, 6)
    np.testing.assert_allclose(Lambda, Lambda.T, rtol=0, atol=0)
    found = Lambda @ acceleration(q, v, a)[0] + bias(q, v)[0]
    np.testing.assert_allclose(found, F, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(mobility(q).reshape(6, 6) @ Lambda, np.eye(6), rtol=0, atol=1e-9)


def test_a_singular_arm_has_a_finite_inertia_with_compliance() -> None:
    """Two joints move a frame in two of its six directions; in the others, the inertia is 1/mu."""
    arm = rbdgen.load_robot("double_pendulum", frames=["lower"])
    lib = rbdgen.build(arm, ["frame_inertia_local", "frame_mobility_local"])
    q = np.array([0.3, 0.7])
    values = np.linalg.eigvalsh(lib.frame_inertia_local(q, [1e-6]).reshape(6, 6))
    assert np.sum(np.abs(values * 1e-6 - 1) < 1e-6) == 4
    assert np.linalg.matrix_rank(lib.frame_mobility_local(q).reshape(6, 6), tol=1e-9) == 2


def counts(make: Callable[[], Model], base: Base, names: Sequence[str]) -> list[str]:
    """A line for each function: its chosen form and its operations after all passes."""
    model = make()
    found = robot("arm7" if base == "fixed" else "quadruped12", base)
    counted = count(replace(found, model=model), names)
    return [f"{model.name}: {name}: {form}: {cost}\n" for name, (form, cost) in counted.items()]


def test_pinned_counts_of_an_arm() -> None:
    """The campaign pins all functions, also for a robot with feet."""
    pinned = (GOLDEN / "operational.txt").read_text(encoding="utf-8").splitlines(keepends=True)
    assert set(counts(with_tool, "fixed", ["frame_mobility_local", "frame_inertia_local"])) <= set(pinned)


@pytest.mark.campaign
def test_pinned_counts(golden: Callable[[str, str], None]) -> None:
    """Pins the chosen forms for an arm with a tool and for a quadruped with feet, after all passes."""
    names = [row.name for row in (*operational.ROWS, *ik_rows.ROWS) if not row.name.endswith("_world")]
    lines = [*counts(with_tool, "fixed", names), *counts(with_feet, "floating", names)]
    golden("chosen_counts/operational.txt", "".join(lines))
