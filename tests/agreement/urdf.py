"""Compares all functions with Pinocchio for every URDF of example-robot-data, on fixed and floating bases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
from support.forms import FunctionForm, run_on_floats
from support.pinocchio_oracle import PinocchioOracle, model_of_urdf

from agreement.row import STATES, Row, distance
from rbdgen.errors import RbdgenError
from rbdgen.functions.function import Function
from rbdgen.functions.table import ALL, rows_of
from rbdgen.model.build import Base, Robot
from rbdgen.model.contacts import Contact
from rbdgen.model.model import Model
from rbdgen.pipeline.robot import load_robot
from rbdgen.runtime.arrays import Array

FOLDER = Path(
    str(distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data/robots"))
)

FAMILIES: Mapping[str, tuple[str, ...]] = {
    "inverse dynamics": ("rnea", "rnea_fext", "nle", "gravity"),
    "forward dynamics": ("aba", "aba_fext"),
    "M": ("crba",),
    "1/M": ("minv",),
    "derivatives of inverse dynamics": ("rnea_derivatives", "rnea_fext_derivatives"),
    "derivatives of forward dynamics": ("aba_derivatives", "aba_fext_derivatives"),
    "coriolis": ("coriolis",),
    "energies": ("kinetic_energy", "potential_energy"),
    "momentum": tuple(name for name in ALL if name.startswith(("com", "centroidal"))),
    "regressors": ("regressor", "kinetic_regressor", "potential_regressor"),
    "in world axes": ("crba_world", "nle_world"),
    "frames": tuple(name for name, row in ALL.items() if row.of_frames and not row.derivative_of),
    "derivatives of frames": tuple(name for name, row in ALL.items() if row.of_frames and row.derivative_of),
    "contacts": tuple(name for name, row in ALL.items() if row.of_contacts and row.pinocchio),
}
"""The columns of the table, each with the functions whose largest error it shows."""

COLUMNS = tuple(FAMILIES)

EXPECTED = 1e-10
"""The error above which a remark gives the reason."""

LIMBS = 3
"""The number of limbs that have a frame and a contact at their ends."""


def columns() -> str:
    """A Markdown table with the functions of every column."""
    lines = [
        f"| {family} | {', '.join(f'`{name}`' for name in names)} |" for family, names in FAMILIES.items()
    ]
    return "\n".join(["| column | functions |", "| --- | --- |", *lines, ""])


def rows() -> Iterator[Row]:
    left_out = {name for name, row in ALL.items() if row.pinocchio} - set(sum(FAMILIES.values(), ()))
    assert not left_out, f"in no column: {left_out}"
    for path in sorted(FOLDER.rglob("*.urdf")):
        for base in ("fixed", "floating"):
            yield row_of(path, base)


def row_of(path: Path, base: Base) -> Row:
    name = f"{path.relative_to(FOLDER)}, {base}"
    try:
        robot = load_robot(str(path), base, snap=0.0, mimic="independent")
    except RbdgenError as error:
        return Row(name, "", remark=str(error).removeprefix(f"{path}:"))
    model = with_ends(robot)
    try:
        oracle = PinocchioOracle(reading_of(path, base, model), model)
    except ValueError as error:
        return Row(name, joints_of(robot), remark=f"Pinocchio: {str(error).splitlines()[0]}")
    errors = errors_of(model, oracle)
    return Row(name, joints_of(robot), errors, reason_of(model, oracle, max(errors.values())))


def reading_of(path: Path, base: Base, model: Model) -> Any:
    """Pinocchio's own reading of the file, with the frames of the model."""
    theirs = model_of_urdf(path.read_text(encoding="utf-8"), base)
    for frame in model.frames:
        found = theirs.frames[theirs.getFrameId(frame.name)]
        chosen = pin.FrameType.OP_FRAME
        theirs.addFrame(pin.Frame(f"chosen {frame.name}", found.parentJoint, 0, found.placement, chosen))
    return theirs


def joints_of(robot: Robot) -> str:
    counts = Counter(joint.type.name for joint in robot.joints)
    return ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))


def with_ends(robot: Robot) -> Model:
    """The model with frames at the ends of the first limbs: one has its axes in contact, others a point."""
    model = robot.model
    parents = {body.parent for body in model.bodies}
    last = {frame.body: frame for frame in robot.known_frames.values() if frame.body not in parents}
    frames = tuple(last[body] for body in sorted(last)[:LIMBS] if body >= 0)
    contacts = (Contact(frame.name, "point" if k else "frame", frame) for k, frame in enumerate(frames))
    return replace(model, frames=frames, contacts=tuple(contacts))


def reason_of(model: Model, oracle: PinocchioOracle, error: float) -> str:
    """A remark that explains the largest error if it is above the usual rounding errors."""
    if error < EXPECTED:
        return ""
    q = model.manifold.random(np.random.default_rng(0), (STATES,))
    return f"M has a condition number of {np.linalg.cond(oracle('crba', {'q': q})[0]).max():.0e}"


def errors_of(model: Model, oracle: PinocchioOracle) -> dict[str, float]:
    """The largest error of every family of functions."""
    rows = {name: row for name, row in rows_of(model).items() if row.pinocchio}
    arguments = {x.name: x for row in rows.values() for x in row.signature.sized(model.sizes).inputs}
    drawn = model.manifold.random_inputs(arguments.values(), np.random.default_rng(0), (STATES,))
    inputs = {name: values.reshape(STATES, -1) for name, values in drawn.items()}
    return {
        family: max(error_of(rows[name], model, inputs, oracle) for name in names if name in rows)
        for family, names in FAMILIES.items()
        if any(name in rows for name in names)
    }


def error_of(row: Function, model: Model, inputs: Mapping[str, Array], oracle: PinocchioOracle) -> float:
    """The largest error of all forms without loops, the textbook's and cheaper ones."""
    expected = oracle(row.name, inputs)
    found = [
        run_on_floats(FunctionForm(row, form), model, inputs) for form in row.forms if form.loops is None
    ]
    return max(distance(*pair) for outputs in found for pair in zip(outputs, expected, strict=True))
