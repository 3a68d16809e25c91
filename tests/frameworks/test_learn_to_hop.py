"""The example of a hopper learns: its gradients go through touchdown."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

FRAMEWORK = "jax"

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of JAX itself
def test_a_hopper_jumps(monkeypatch: pytest.MonkeyPatch) -> None:
    """It jumps higher than it stands at first, and lands and leaves the ground on its way."""
    monkeypatch.syspath_prepend(EXAMPLES)
    import jax  # noqa: PLC0415
    import learn_to_hop  # noqa: PLC0415

    with jax.enable_x64(True):
        lib = learn_to_hop.built()
        forces, heights = learn_to_hop.learned(lib, 15)
        foot = np.asarray(learn_to_hop.motion(lib, forces, 0.0))[:, 1]
    assert heights[0] < 0.45
    assert heights[-1] > 0.65
    assert foot.min() > -1e-4
    assert foot.max() > 0.1
