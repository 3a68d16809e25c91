"""Every URDF of example-robot-data that Pinocchio loads, fixed and floating: all functions against it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import partial
from importlib.metadata import distribution
from pathlib import Path

import numpy as np
from support.forms import FORMS, FunctionForm, run_on_floats
from support.pinocchio_oracle import PinocchioOracle, model_of_urdf

from agreement.row import STATES, Row, distance
from rbdgen.errors import RbdgenError
from rbdgen.functions.table import TABLE
from rbdgen.model.build import Base, Robot
from rbdgen.pipeline.robot import load_robot

FOLDER = Path(
    str(distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data/robots"))
)

COLUMNS = tuple(TABLE)

LARGEST = 60
"""Degrees of freedom up to which derivatives are compared: both take long beyond."""


def rows() -> Iterator[Row]:
    for path in sorted(FOLDER.rglob("*.urdf")):
        for base in ("fixed", "floating"):
            yield row_of(path, base)


def row_of(path: Path, base: Base) -> Row:
    name = f"{path.relative_to(FOLDER)}, {base}"
    try:
        robot = load_robot(str(path), base, snap=0.0, mimic="independent")
    except RbdgenError as error:
        return Row(name, "", remark=str(error).removeprefix(f"{path}:"))
    try:
        theirs = model_of_urdf(path.read_text(encoding="utf-8"), base)
        oracle = PinocchioOracle(theirs, robot.model)
    except ValueError as error:
        return Row(name, joints_of(robot), remark=f"Pinocchio: {str(error).splitlines()[0]}")
    return Row(name, joints_of(robot), errors_of(robot, oracle), remark_of(robot))


def joints_of(robot: Robot) -> str:
    counts = Counter(joint.type.name for joint in robot.joints)
    return ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))


def remark_of(robot: Robot) -> str:
    return f"derivatives left out beyond {LARGEST} degrees of freedom" if robot.model.nv > LARGEST else ""


def errors_of(robot: Robot, oracle: PinocchioOracle) -> dict[str, float]:
    """The cheapest forms in one straight line, beside the textbook's; the worst of them."""
    model = robot.model
    arguments = {x.name: x for row in TABLE.values() for x in row.signature.sized(model.sizes).inputs}
    inputs = model.manifold.random_inputs(arguments.values(), np.random.default_rng(0), (STATES,))
    inputs["fext"] = inputs["fext"].reshape(STATES, -1)
    return {
        name: max(map(partial(error_of, model=model, inputs=inputs, oracle=oracle), forms))
        for name in COLUMNS
        if (forms := straight_forms(name)) and (model.nv <= LARGEST or "derivatives" not in name)
    }


def straight_forms(name: str) -> list[FunctionForm]:
    return [form for form in FORMS if form.function.name == name and form.form.loops is None]


def error_of(form: FunctionForm, model: object, inputs: object, oracle: PinocchioOracle) -> float:
    pairs = zip(run_on_floats(form, model, inputs), oracle(form.function.name, inputs), strict=True)  # type: ignore[arg-type]
    return max(distance(ours, theirs) for ours, theirs in pairs)
