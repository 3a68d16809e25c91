"""The textbook forms of a robot's functions at some states, and their differences."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from support.below.links import poses
from support.below.types import Array, Inputs
from support.forms import FunctionForm, run_on_floats

from rbdgen.functions.table import lookup
from rbdgen.model.build import Robot

STENCIL: Final = ((1, 8 / 12), (-1, -8 / 12), (2, -1 / 12), (-2, 1 / 12))
"""The steps and weights of central differences of fourth order."""


STEP: Final = 5e-4


class Below:
    """The functions of a robot at some states, in their textbook forms."""

    def __init__(self, robot: Robot, inputs: Inputs) -> None:
        self.robot, self.model, self.inputs = robot, robot.model, inputs
        self._known: dict[str, tuple[Array, ...]] = {}

    def all(self, name: str, inputs: Inputs | None = None) -> tuple[Array, ...]:
        """The outputs of a function."""
        if inputs is not None:
            return self._run(name, inputs)
        if name not in self._known:
            self._known[name] = self._run(name, self.inputs)
        return self._known[name]

    def __call__(self, name: str, **changed: Array) -> Any:
        """The output of a function, or the outputs if it has several."""
        flat = {x: values.reshape(len(values), -1) for x, values in changed.items()}
        found = self.all(name, {**self.inputs, **flat} if changed else None)
        if len(found) == 1:
            return found[0]
        names = (
            [y.name for y in lookup(name, self.model).signature.outputs] if name != "poses" else ["R", "p"]
        )
        return namedtuple(name, names)(*found)

    @property
    def shaped(self) -> Inputs:
        """The inputs in the shapes that identities take."""
        bodies = self.inputs["fext"].reshape(len(self.inputs["fext"]), -1, 6)
        return {**self.inputs, "fext": bodies}

    def _run(self, name: str, inputs: Inputs) -> tuple[Array, ...]:
        if name == "poses":
            return poses(self.robot, inputs["q"])
        row = lookup(name, self.model)
        return tuple(run_on_floats(FunctionForm(row, row.forms_for(self.model)[0]), self.model, inputs))

    def along(self, name: str, directions: Mapping[str, Array]) -> list[Array]:
        """Derivatives of the outputs along directions (D, states, size) of inputs: (D, states, ...)."""
        first = next(iter(directions.values()))
        count, states = first.shape[:2]
        leading = (len(STENCIL), count, states)
        at = {x: np.broadcast_to(values, (*leading, values.shape[-1])) for x, values in self.inputs.items()}
        scale = STEP * np.array([k for k, _ in STENCIL])[:, None, None, None]
        for x, direction in directions.items():
            if x in ("q", "q0", "q1"):
                at[x] = self.model.manifold.integrate(at[x], scale * direction)
            else:
                at[x] = at[x] + scale * direction
        rows = {x: values.reshape(-1, values.shape[-1]) for x, values in at.items()}
        weights = np.array([w for _, w in STENCIL]) / STEP
        here = self.all(name)
        kinds = [] if name == "poses" else [y.kind for y in lookup(name, self.model).signature.outputs]
        found = []
        for k, y in enumerate(self._run(name, rows)):
            values = y.reshape(*leading, *y.shape[1:])
            if kinds and kinds[k] == "configuration":
                values = self.model.manifold.difference(here[k], values)
            found.append(np.einsum("s,s...->...", weights, values))
        return found

    def by(self, name: str, variable: str, size: int | None = None) -> list[Array]:
        """Derivatives of the outputs by an input, q in its tangent space: (states, ..., size)."""
        states = len(self.inputs["q"])
        n = size or (self.model.sizes["nv"] if variable[0] == "q" else self.inputs[variable].shape[-1])
        directions = np.repeat(np.eye(n)[:, None], states, axis=1)
        return [np.moveaxis(y, 0, -1) for y in self.along(name, {variable: directions})]

    def rate(self, name: str, **directions: Array) -> list[Array]:
        """The rates of the outputs at these rates of inputs."""
        return [y[0] for y in self.along(name, {x: rate[None] for x, rate in directions.items()})]
