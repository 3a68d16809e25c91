"""The picture of docs/friction.md shows the laws of friction and of impacts."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def example() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "examples" / "friction.py"))


def test_blocks_slide_above_the_angle_of_friction(example: dict[str, Any]) -> None:
    critical = np.arctan(example["SLOPE_FRICTION"])
    slid = example["slope"](critical + np.array([-0.5, -1e-2, -1e-3, 1e-2, 0.1, 0.4]))
    assert (slid.law[:3] == 0).all()
    assert (slid.speed[:3] < 1e-5).all()
    np.testing.assert_allclose(slid.speed[3:], slid.law[3:], rtol=1e-3)
    assert slid.law[3] > 0.04


def test_balls_rise_to_e2_h(example: dict[str, Any]) -> None:
    """Impacts lie within a step, so the heights are those of the law to a few per cent."""
    found = example["bounce"](1.2)
    for restitution, height in zip(example["RESTITUTIONS"], found.height, strict=True):
        assert height[0] == pytest.approx(example["HEIGHT"], abs=1e-4)
        assert example["peaks"](height)[0] == pytest.approx(example["HEIGHT"] * restitution**2, abs=3e-3)
        assert height.min() > -5e-3


def test_a_sliding_block_stays_on_the_ground(example: dict[str, Any]) -> None:
    ours = example["impact"](0.1)
    assert np.abs(ours.height).max() < 1e-6
    pytest.importorskip("mujoco")
    theirs = example["impact_of_mujoco"](0.1)
    assert theirs.height.max() == pytest.approx(6.6e-3, abs=1e-3)  # what docs/friction.md says


def test_the_picture_is_drawn(
    example: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("sys.argv", ["friction.py", str(tmp_path / "new")])
    example["main"]()
    text = capsys.readouterr().out
    assert "restitution 0.6: rises to 0.182 m; e^2 h = 0.180 m" in text
    assert "impact: leaves the ground by at most 0.0e+00 m" in text
    assert (tmp_path / "new" / "friction.svg").read_text(encoding="utf-8").startswith("<?xml")
    assert "](friction.svg)" in (ROOT / "docs" / "friction.md").read_text(encoding="utf-8")
