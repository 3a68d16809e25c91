"""A library without a compiler: functions are traced, and their graphs interpreted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from support.forms import FunctionForm, interpreted

from rbdgen.functions.table import lookup
from rbdgen.model.build import Robot
from rbdgen.selection.trace import trace_graph


class Interpreted:
    """The part of a library that examples use, with every function in its first cheap form."""

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
