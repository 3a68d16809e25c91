"""Whole derivatives: their columns are derivatives along unit vectors, and their operations are pinned."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.few import few
from support.own import ARM, QUADRUPED, reach, running

import rbdgen
from rbdgen.errors import OptionError
from rbdgen.functions.composed import composed
from rbdgen.functions.function import Function
from rbdgen.functions.table import lookup
from rbdgen.graph.evaluate import evaluate
from rbdgen.graph.node import Graph
from rbdgen.model.build import Robot
from rbdgen.selection.axes import search
from rbdgen.selection.differentiate import Chooser

OWN = {"reach": (reach, ARM), "running": (running, QUADRUPED)}

BALL = rbdgen.load_robot("planar3r", base="floating")

FOREARM = rbdgen.load_robot("arm7", tip="link5", frames=["link5"])
"""The first five joints of the arm."""


def rubbing() -> Robot:
    """A double pendulum with damping and friction."""
    body: dict[str, Any] = {"mass": 2.0, "com": (0, 0.1, -0.5), "inertia": (0.1, 0.2, 0.1)}
    joint: dict[str, Any] = {"type": "revolute", "axis": (0, 1, 0), "damping": 0.3, "friction": 0.2}
    builder = rbdgen.RobotBuilder("rubbing").add_body("base")
    builder.add_body("upper", parent="base", **joint, **body)
    builder.add_body("lower", parent="upper", xyz=(0, 0.1, -1), **(joint | {"axis": (1, 0, 0)}), **body)
    return rbdgen.load_robot(builder, damping=True, friction=("smooth", 0.1))


RUBBING = rubbing()

TOUCHING = rbdgen.load_robot(
    "double_pendulum",
    base="floating",
    frames=["lower"],
    contacts=[rbdgen.Point("tip", "lower", (0, 0, 0.5))],
)

PINNED = [
    ("reach_jacobian", ARM, 10058),
    ("step_jacobian", ARM, 4035),
    ("rnea_jacobian", ARM, 1649),
    ("aba_jacobian", ARM, 3378),
    ("running_gradient", QUADRUPED, 6637),
    ("kinetic_energy_hessian", ARM, 1897),
]


def row(name: str, robot: Robot) -> Function:
    own = {x: composed(f.composition(robot), robot.model) for x, (f, of) in OWN.items() if of is robot}
    return lookup(name, robot.model, own=own)


def graph_of(name: str, robot: Robot) -> Graph:
    program = Chooser(robot.model, search(robot.model), "graph").choose(row(name, robot)).program
    assert program.straight is not None
    return program.straight


def inputs(robot: Robot, name: str) -> dict[str, Any]:
    drawn = robot.model.manifold.random_inputs(
        row(name, robot).sized(robot.model).inputs, np.random.default_rng(4)
    )
    return {x: np.ravel(value) for x, value in drawn.items()}


QUICK = [x for x in PINNED if x[0] in ("rnea_jacobian", "running_gradient", "kinetic_energy_hessian")]
"""A derivative of each kind; the campaign pins all of them."""


@pytest.mark.parametrize(("name", "robot", "most"), few(QUICK, PINNED), ids=[x[0] for x in PINNED])
def test_operations(name: str, robot: Robot, most: int) -> None:
    choice = Chooser(robot.model, search(robot.model), "graph").choose(row(name, robot))
    assert choice.program.cost.total == most


@pytest.mark.parametrize(
    ("name", "robot", "form"),
    [
        pytest.param("reach", ARM, None, marks=pytest.mark.campaign),
        ("rnea", BALL, "columns"),
        ("rnea", BALL, "rows"),
        ("rnea", BALL, "derivatives"),
        ("rnea", RUBBING, "derivatives"),
        ("aba_fext", RUBBING, "derivatives"),
        ("frame_acceleration_aligned", TOUCHING, "derivatives"),
        ("contact_aba", TOUCHING, "derivatives"),
        ("contact_aba_held", TOUCHING, None),
        ("step", BALL, "columns"),
        pytest.param("step", BALL, "rows", marks=pytest.mark.campaign),
        ("difference", BALL, None),
        ("centroidal_momentum", BALL, None),
    ],
)
def test_columns_are_derivatives_along_unit_vectors(name: str, robot: Robot, form: str | None) -> None:
    made = row(f"{name}_jacobian", robot)
    program = Chooser(robot.model, search(robot.model), "graph").choose(made, form).program
    assert program.straight is not None
    given = inputs(robot, name)
    found = evaluate(program.straight, given)
    along = graph_of(f"{name}_jvp", robot)
    assert made.whole is not None
    moving = [
        x.sized(robot.model.sizes)
        for x in row(f"{name}_jvp", robot).signature.inputs
        if x.name.endswith("_dot")
    ]
    for x in moving:
        for k in range(x.size):
            rates = {y.name: np.zeros(y.size) for y in moving}
            rates[x.name][k] = 1
            for output, column in evaluate(along, {**given, **rates}).items():
                block = found[f"d{output.removesuffix('_dot')}_d{x.name.removesuffix('_dot')}"]
                block = np.reshape(block, (-1, x.size))
                np.testing.assert_allclose(block[:, k], np.ravel(column), rtol=1e-9, atol=1e-9)


def test_rows_of_derivatives_have_the_fewest_operations() -> None:
    """Where a row of the table has the derivatives, the Jacobian is that row unless some are missing."""
    forms = {name: row(f"{name}_jacobian", TOUCHING).forms for name in ("contact_aba", "contact_aba_held")}
    assert [form.name for form in forms["contact_aba"]] == ["columns", "rows", "derivatives"]
    assert [form.name for form in forms["contact_aba_held"]] == ["columns", "rows"]  # by anchors, too
    choice = Chooser(ARM.model, search(ARM.model), "graph").choose(row("aba_jacobian", ARM))
    assert choice.form == "derivatives"
    assert choice.program.cost.total == min(cost.total for cost in choice.alternatives.values())


@pytest.mark.parametrize(("name", "robot"), [("kinetic_energy", ARM), ("kinetic_energy", BALL)])
def test_hessians_are_derivatives_of_gradients(name: str, robot: Robot) -> None:
    """A Hessian has the rates of the gradient along unit vectors, for every pair of inputs once."""
    given = inputs(robot, name)
    value, *gradient = evaluate(graph_of(f"{name}_gradient", robot), given).values()
    assert value == pytest.approx(
        evaluate(graph_of(name, robot), given)[row(name, robot).signature.outputs[0].name]
    )
    y = row(name, robot).signature.outputs[0].name
    back = evaluate(graph_of(f"{name}_vjp", robot), {**given, f"{y}_bar": np.ones(1)})
    for ours, theirs in zip(gradient, back.values(), strict=True):
        np.testing.assert_allclose(np.ravel(ours), np.ravel(theirs), rtol=1e-10, atol=1e-10)
    second = evaluate(graph_of(f"{name}_hessian", robot), given)
    assert list(second) == [f"d{y}_dq_dq", f"d{y}_dq_dv", f"d{y}_dv_dv"]
    along = graph_of(f"{name}_hvp", robot)
    for k in range(robot.nv):
        for x in "qv":
            rates = {f"{z}_dot": np.eye(robot.nv)[k] * (z == x) for z in "qv"}
            found = evaluate(along, {**given, f"{y}_bar": np.ones(1), **rates})
            for z in "qv":
                if f"d{y}_d{z}_d{x}" in second:
                    column = np.reshape(second[f"d{y}_d{z}_d{x}"], (robot.nv, robot.nv))[:, k]
                    np.testing.assert_allclose(column, np.ravel(found[f"{z}_bar_dot"]), rtol=1e-9, atol=1e-9)


def test_compiled() -> None:
    """The library has the outputs as arrays, in batches too."""
    library = rbdgen.build(FOREARM, functions=["reach_jacobian", "potential_energy_gradient"], own=[reach])
    taken = library.reach_jacobian.signature.inputs
    drawn = library.manifold.random_inputs(taken, np.random.default_rng(2), (5,))
    found = library.reach_jacobian(*drawn.values())
    assert found._fields == ("dtau_dq", "dtau_dv", "dtau_dtarget", "dtau_dgains")
    assert [x.shape for x in found] == [(5, 5, 5), (5, 5, 5), (5, 5, 3), (5, 5, 2)]
    h = 1e-6
    q, *rest = (x[0] for x in drawn.values())
    for k in range(5):
        ends = [reach(FOREARM, q + s * h * np.eye(5)[k], *rest) for s in (1, -1)]
        np.testing.assert_allclose(
            found.dtau_dq[0, :, k], (ends[0] - ends[1]) / (2 * h), rtol=1e-5, atol=1e-4
        )
    value, gradient = library.potential_energy_gradient(q)
    assert value.shape == ()
    assert gradient.shape == (5,)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("rnea_gradient", "'rnea' returns more than one number; take rnea_jacobian"),
        ("rnea_vjp_jacobian", "'rnea_vjp' is a derivative itself"),
        ("rnea_jacobian_jacobian", "'rnea_jacobian' is a derivative itself"),
        ("nothing_jacobian", "unknown function 'nothing'"),
    ],
)
def test_refused(name: str, said: str) -> None:
    with pytest.raises(OptionError, match=said):
        lookup(name, ARM.model)


def test_texts_call_whole_derivatives() -> None:
    """A Newton step of a text: the Jacobian of a row is one call."""

    def text(robot: Any, q: Any, x: Any) -> Any:
        _, slope = robot.potential_energy_gradient(q)
        return rbdgen.solve(np.eye(3) + np.diag(x**2), robot.com_jacobian(q) @ slope)

    made = rbdgen.function(inputs={"x": ("m", 3)}, outputs={"y": ("m", 3)}, name="newton")(text)
    library = rbdgen.build(ARM, functions=[made])
    q, x = np.random.default_rng(1).normal(size=7), np.ones(3)
    np.testing.assert_allclose(library.newton(q, x), made(ARM, q, x), rtol=1e-11, atol=1e-12)


def test_rows_of_the_table_keep_their_names() -> None:
    assert lookup("com_jacobian", ARM.model).whole is None
    assert lookup("com_jacobian_jacobian", ARM.model).whole is not None
