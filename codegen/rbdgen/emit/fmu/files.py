"""The files of an FMU: its description, its C, and a script that packs them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Final
from xml.sax.saxutils import quoteattr

from rbdgen.emit.backends import asked_for
from rbdgen.emit.folder import Folder
from rbdgen.emit.motions import MovingFunction, moving_functions
from rbdgen.emit.numbers import literal
from rbdgen.emit.text import filled
from rbdgen.signature import SizedArgument

TIME_STEP: Final = 1e-3
"""The longest internal time step, in s, unless a simulator sets another one."""

FIRST: Final = 2
"""The first value reference of an array, after those of the time and of the time step."""


@dataclass(frozen=True)
class Variable:
    """An array of the FMU."""

    name: str
    reference: int
    size: int
    causality: str
    """The attributes `causality` and `initial` of the description."""
    about: str
    """The description as a quoted attribute of XML."""
    start: tuple[str, ...]
    """The numbers at the start; empty if the FMU computes them."""
    state: bool = False
    """Whether it is q or v, which simulators only set before the simulation starts."""

    @property
    def settable(self) -> bool:
        return bool(self.start)


def files(folder: Folder) -> dict[str, str]:
    """The FMU by path: its description, its C, and the script that packs it."""
    chosen = dict(asked_for(folder.options.emit))["fmu"]
    steps = [moving for moving in moving_functions(folder) if moving.motion.discrete]
    moving = next((x for x in steps if x.name == chosen), steps[0])
    variables = _variables(folder, moving)
    identity = f"{folder.facts.urdf_sha256} {folder.facts.version} {moving.function.shown.symbol}"
    context = {
        "robot": folder.robot,
        "moving": moving,
        "variables": variables,
        "time_step": literal(TIME_STEP, "double"),
        "token": hashlib.sha256(identity.encode()).hexdigest()[:32],
        "arguments": _arguments(moving),
    }
    return {
        "fmu/modelDescription.xml": filled("fmu/modelDescription.xml.jinja", **context),
        f"fmu/{folder.name}_fmu.c": filled("fmu/fmu.c.jinja", **context),
        "fmu/pack.py": filled("fmu/pack.py.jinja", **context),
    }


def _variables(folder: Folder, moving: MovingFunction) -> list[Variable]:
    inputs, motion = moving.signature.inputs, moving.motion
    starts = {0: folder.facts.manifold.neutral().tolist()}
    found: list[Variable] = []
    for k, x in enumerate(inputs):
        if k == motion.time_step:
            continue
        values = starts.get(k) or x.default or (0.0,) * x.size
        start = tuple(literal(float(value), "double") for value in values)
        causality = 'causality="output" initial="exact"' if k < 2 else 'causality="input"'
        found.append(_variable(x, len(found), causality, start, state=k < 2))
    for y in moving.signature.outputs[2:]:
        found.append(_variable(y, len(found), 'causality="output" initial="calculated"', ()))
    return found


def _variable(
    x: SizedArgument, number: int, causality: str, start: tuple[str, ...], *, state: bool = False
) -> Variable:
    about = quoteattr(f"{x.meaning}, in {x.unit}")
    return Variable(x.name, FIRST + number, x.size, causality, about, start, state)


def _arguments(moving: MovingFunction) -> list[str]:
    """The arguments of the call of the step, with the state at its end in arrays of its own."""
    inputs, outputs = moving.signature.inputs, moving.signature.outputs
    given = ["&h" if k == moving.motion.time_step else f"one->{x.name}" for k, x in enumerate(inputs)]
    return [*given, "q_end", "v_end", *(f"one->{y.name}" for y in outputs[2:])]
