"""The squatting biped tracks as its example says, for some hundredths of a second, without a compiler."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support.forms import FunctionForm, interpreted

from rbdgen.functions.table import lookup
from rbdgen.model.build import Robot
from rbdgen.selection.trace import trace_graph

Array = NDArray[np.float64]

FOLDER = Path(__file__).parents[3] / "examples" / "biped"


class Interpreted:
    """A library whose functions are interpreted, of the forms that are traced at once."""

    def __init__(self, robot: Robot, functions: Sequence[str]) -> None:
        self.manifold = robot.model.manifold
        self.neutral, self.integrate = self.manifold.neutral, self.manifold.integrate
        self.functions = {name: self.function(robot, name) for name in functions}

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return self.functions[name]

    def function(self, robot: Robot, name: str) -> Callable[..., Any]:
        row = lookup(name)
        form = FunctionForm(row, row.forms[1])
        graph, sized = trace_graph(robot.model, row, form.form, "graph"), row.sized(robot.model)

        def call(*given: Any) -> Any:
            leading = np.shape(given[0])[:-1]
            inputs = {
                x.name: np.asarray(value, float).reshape(-1, x.size)
                for x, value in zip(sized.inputs, given, strict=True)
            }
            found = [
                output.reshape(*leading, *x.shape)
                for x, output in zip(sized.outputs, interpreted(form, graph, inputs), strict=True)
            ]
            return found[0] if len(found) == 1 else tuple(found)

        return call


def test_inverse_dynamics_in_contacts_track(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(FOLDER)
    import squat  # noqa: PLC0415

    robot = squat.Robot(Interpreted)
    assert abs(sum(body.inertia.mass for body in robot.model.bodies) - 40.13) < 0.01
    alone, *others = squat.errors(*squat.pelvis(robot, 1.0, 0.02))
    assert all(alone > 8 * error for error in others)
    alone, *others = squat.errors(*squat.squat(robot, 2.0, 0.04))
    assert all(alone > 4 * error for error in others)
    assert "equation 17, masses +10 %" in squat.table({"squat, 2 Hz, rad": np.array([alone, *others])})


def test_the_readme_has_its_table() -> None:
    lines = (FOLDER / "errors.txt").read_text(encoding="utf-8").splitlines()
    cells = [re.split(r"\s{2,}", line) for line in lines]
    heading, *rows = (f"| {' | '.join(row)} |\n" for row in cells)
    text = (FOLDER.parents[1] / "README.md").read_text(encoding="utf-8")
    assert f"{heading}|---|---|---|---|\n{''.join(rows)}" in text
