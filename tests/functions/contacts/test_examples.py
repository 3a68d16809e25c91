"""The examples of contacts run for some hundredths of a second, without a compiler."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from support.interpreted import Interpreted

EXAMPLES = Path(__file__).parents[3] / "examples"


def test_a_biped_tracks_by_inverse_dynamics_in_contacts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(EXAMPLES / "biped")
    import squat  # noqa: PLC0415

    robot = squat.Robot(Interpreted)
    assert abs(sum(body.inertia.mass for body in robot.model.bodies) - 40.13) < 0.01
    alone, *others = squat.errors(*squat.pelvis(robot, 1.0, 0.02))
    assert all(alone > 8 * error for error in others)
    alone, *others = squat.errors(*squat.squat(robot, 2.0, 0.04))
    assert all(alone > 4 * error for error in others)
    assert "equation 17, masses +10 %" in squat.table({"squat, 2 Hz, rad": np.array([alone, *others])})


def test_the_readme_has_its_table() -> None:
    lines = (EXAMPLES / "biped" / "errors.txt").read_text(encoding="utf-8").splitlines()
    cells = [re.split(r"\s{2,}", line) for line in lines]
    heading, *rows = (f"| {' | '.join(row)} |\n" for row in cells)
    text = (EXAMPLES.parent / "docs" / "contacts.md").read_text(encoding="utf-8")
    assert f"{heading}|---|---|---|---|\n{''.join(rows)}" in text


def test_a_quadruped_trots(monkeypatch: pytest.MonkeyPatch) -> None:
    """With larger steps, the trot passes the first touchdown: feet press on the ground, stand and land."""
    monkeypatch.syspath_prepend(EXAMPLES)
    import trot  # noqa: PLC0415

    monkeypatch.setattr(trot, "STEP", 4e-3)
    run = trot.trotted(trot.Trot(Interpreted), 0.2)
    stands = run.standing > 0
    assert (stands[0] != stands[-1]).all()
    assert run.forces[..., 2][stands].min() > 10
    assert not run.forces[~stands].any()
    assert np.abs(run.feet[..., 2][stands]).max() < 3e-3
    assert np.nanmax(trot.slips(run)) < 1e-3
    assert "trotted 0.0" in trot.told(run)
