"""The bounds that were found for a function: of its outputs, for ranges of its inputs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rbdgen.graph.bounds.enclosure import Array


@dataclass(frozen=True)
class OutputBounds:
    """Bounds of one output, as arrays in its shape and unit. Infinity says that there is no bound.

    Attributes:
        lowest, highest: between them is the exact value: that of real arithmetic on the numbers of the robot
            in double and on inputs within their ranges.
        error: by type of numbers, "float" or "double", the largest distance of the computed value from the
            exact one. Inputs are numbers of that type.
    """

    unit: str
    lowest: Array
    highest: Array
    error: Mapping[str, Array]

    def as_json(self) -> dict[str, Any]:
        """The bounds as nested lists, with null for infinity."""
        return {
            "unit": self.unit,
            "lowest": _listed(self.lowest),
            "highest": _listed(self.highest),
            "error": {real: _listed(error) for real, error in self.error.items()},
        }


@dataclass(frozen=True)
class Bounds:
    """The bounds of a function. `bounds["tau"]` are those of the output tau.

    Attributes:
        function: the name of the function.
        outputs: the bounds by output.
        inputs: the lowest and the highest value of every input, as arrays in its shape. Elements that no
            output depends on have NaN, because they may have any value.
    """

    function: str
    outputs: Mapping[str, OutputBounds]
    inputs: Mapping[str, tuple[Array, Array]] = field(default_factory=dict)

    def __getitem__(self, output: str) -> OutputBounds:
        return self.outputs[output]

    def as_json(self) -> dict[str, Any]:
        return {
            "function": self.function,
            "inputs": {
                name: {"lowest": _listed(low), "highest": _listed(high)}
                for name, (low, high) in self.inputs.items()
            },
            "outputs": {name: output.as_json() for name, output in self.outputs.items()},
        }


def _listed(array: Array) -> Any:
    def listed(value: Any) -> Any:
        if isinstance(value, list):
            return [listed(one) for one in value]
        return value if math.isfinite(value) else None

    return listed(array.tolist())
