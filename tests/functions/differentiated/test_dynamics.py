"""NAME_vjp, NAME_jvp and NAME_hvp of inverse and forward dynamics, interpreted.

Forward mode is compared with differences along the manifold, and reverse mode with forward mode.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from support.contacts import SOLID
from support.directions import STATES, Interpreted, all_inputs, check_both_ways, product
from support.few import few
from support.forms import FunctionForm, interpreted, relative_error, run_on_floats
from support.random_trees import floats, in_floats, random_tree
from support.rationals import Rationals
from support.robots import robot
from support.trees import chain

import rbdgen
from rbdgen.functions.differentiated import in_coordinates
from rbdgen.functions.table import lookup
from rbdgen.graph.programs.run import run
from rbdgen.model.model import Model
from rbdgen.selection.axes import search
from rbdgen.selection.choice import Choice
from rbdgen.selection.differentiate import Chooser
from rbdgen.selection.trace import trace_graph

Array = NDArray[np.float64]

BASES = {"arm7": "fixed", "quadruped12": "floating", "humanoid30": "floating"}

MOST = {
    "rnea_vjp": (825, 2323, 4656),
    "rnea_jvp": (838, 2356, 4725),
    "rnea_hvp": (1962, 5337, 11045),
    "aba_vjp": (1452, 4671, 9764),
    "aba_jvp": (1467, 4704, 9826),
    "aba_hvp": (3603, 11526, 24676),
}
"""The numbers of operations on the three robots."""

QUICK = [("arm7", name) for name in MOST if name != "aba_hvp"] + [("quadruped12", "rnea_vjp")]


PAGE = Path(__file__).parents[3] / "docs" / "functions.md"


def test_the_page_tells_these_operations() -> None:
    text = PAGE.read_text(encoding="utf-8")
    rows = text[text.index("| operations | `rnea` |") :].partition("\n\n")[0].splitlines()[2:]
    told = [[int(cell) for cell in row.strip("|").split("|")[1:]] for row in rows]
    for k, numbers in enumerate(told):
        assert [*numbers[1:4], *numbers[5:8]] == [counts[k] for counts in MOST.values()]


@cache
def chosen(name: str, function: str) -> Choice:
    """The form that is selected on a bundled robot, in searched axes."""
    model = robot(name, BASES[name]).model  # type: ignore[arg-type]
    return Chooser(model, search(model), "casadi").choose(lookup(function))


def in_a_row(kinds: str) -> Model:
    """A chain of joints of these types."""
    model = Rationals(3).model(*chain(kinds))
    return replace(model, bodies=tuple(map(in_floats, model.bodies)), gravity=floats(model.gravity))


@pytest.mark.parametrize("letters", ["FR", "LHP", "SR"])
def test_chains_of_all_joint_types(letters: str) -> None:
    for name in ("rnea", "aba"):
        check_both_ways(in_a_row(letters), name)


@pytest.mark.parametrize(
    ("name", "mimic"),
    [("nle", True), ("gravity", True), ("rnea_fext", True), ("aba", True), ("aba_fext", False)],
)
def test_joints_that_follow_and_resist(name: str, mimic: bool) -> None:
    """Directions are those of the independent joints; the slopes of all resistance terms are included."""
    more = {**SOLID, "damping": 0.3, "friction": 0.2, "stiffness": 2.0}
    arm = rbdgen.RobotBuilder("arm").add_body("base")
    arm.add_body("upper", parent="base", type="revolute", axis=(0, 1, 0), armature=0.1, **more)
    arm.add_body("lower", parent="upper", type="revolute", axis=(0.6, 0, 0.8), xyz=(0.1, 0, 0.4), **more)
    follows = {"mimic": ("upper_joint", -0.7, 0.2)} if mimic else {}
    arm.add_body("slider", parent="lower", type="prismatic", axis=(0, 0.8, 0.6), **follows, **more)
    check_both_ways(rbdgen.load_robot(arm, damping=True, friction=("smooth", 0.1)).model, name)


@pytest.mark.parametrize("name", ["integrate", "difference"])
def test_configurations_move_in_their_tangent_space(name: str) -> None:
    """Inputs and results are configurations of planar, spherical and floating joints."""
    check_both_ways(in_a_row("LSF"), name)


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(50))
def test_random_trees(seed: int) -> None:
    for name in ("rnea", "aba"):
        check_both_ways(random_tree(seed, 4), name)


@pytest.mark.parametrize(("letters", "name"), [("RPS", "rnea"), ("RP", "aba")])
def test_gradients_change_as_told(letters: str, name: str) -> None:
    """NAME_hvp is the rate of NAME_vjp along the manifold, in all forms."""
    outputs = Interpreted(in_a_row(letters))
    of, vjp, hvp = (lookup(f"{name}{mode}") for mode in ("", "_vjp", "_hvp"))
    inputs = all_inputs(outputs.model, hvp)
    expected = outputs.differences(vjp, of, inputs)
    for form in hvp.forms:
        for ours, theirs in zip(outputs(hvp, inputs, form.name), expected, strict=True):
            assert relative_error(ours, theirs, floor=1.0) < 1e-7, form.name


@pytest.mark.parametrize("letters", ["FLP", "SH"])
def test_in_coordinates(letters: str) -> None:
    """Gradients and rates of nq elements agree with the tangent space; rates normal to it have no effect."""
    model = in_a_row(letters)
    vjp, jvp = lookup("rnea_vjp"), lookup("rnea_jvp")
    inputs = all_inputs(model, vjp, jvp)
    outputs = Interpreted(model)
    (tangent, *others), (rate,) = outputs(vjp, inputs), outputs(jvp, inputs)
    q_dot = np.stack([in_numbers(model, q, v) for q, v in zip(inputs["q"], inputs["q_dot"], strict=True)])
    off = 0.7 * np.where(off_manifold(model), inputs["q"], 0)
    for (forward, reverse), further in itertools.product(zip(jvp.forms, vjp.forms, strict=True), (0, off)):
        given = {**inputs, "q_dot": q_dot + further}
        gradient, *same = outputs(in_coordinates(vjp), given, reverse.name)
        (own,) = outputs(in_coordinates(jvp), given, forward.name)
        assert gradient.shape == (STATES, model.sizes["nq"])
        along = product([gradient], [given["q_dot"]])
        np.testing.assert_allclose(along, product([tangent], [inputs["q_dot"]]), rtol=1e-8)
        np.testing.assert_allclose(own, rate, rtol=1e-8, atol=1e-8)
        for ours, theirs in zip(same, others, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)


def in_numbers(model: Model, q: Array, v: Array) -> Array:
    """The rates of the elements of q at v, by finite differences."""
    ends = [model.manifold.integrate(q, way * 1e-6 * v) for way in (1, -1)]
    return (ends[0] - ends[1]) / 2e-6


def off_manifold(model: Model) -> Array:
    """The elements of q that belong to quaternions."""
    neutral = np.zeros(model.sizes["nq"], bool)
    for joint in model.manifold.joints:
        if joint.kind in ("spherical", "floating"):
            neutral[joint.idx_q + joint.nq - 4 : joint.idx_q + joint.nq] = True
    return neutral


@pytest.mark.parametrize(
    ("name", "of"),
    few([("arm7", "aba"), ("quadruped12", "rnea")], list(itertools.product(BASES, ("rnea", "aba")))),
)
def test_contracted_derivatives(name: str, of: str) -> None:
    """The chosen forms agree with products of the matrices of analytical derivatives."""
    model = robot(name, BASES[name]).model  # type: ignore[arg-type]
    full, vjp, jvp = (lookup(f"{of}_{what}") for what in ("derivatives", "vjp", "jvp"))
    inputs = all_inputs(model, vjp, jvp)
    graph = trace_graph(model, full, full.forms[1], "graph")
    matrices = interpreted(FunctionForm(full, full.forms[1]), graph, inputs)
    (y,) = lookup(of).signature.outputs
    bars, rates = (run(chosen(name, f"{of}_{what}").program, inputs) for what in ("vjp", "jvp"))
    expected = 0
    for x, J in zip(lookup(of).signature.inputs, matrices, strict=True):
        ours, theirs = bars[f"{x.name}_bar"], np.einsum("kij,ki->kj", J, inputs[f"{y.name}_bar"])
        assert relative_error(ours, theirs) < 1e-11
        expected = expected + np.einsum("kij,kj->ki", J, inputs[f"{x.name}_dot"])
    assert relative_error(rates[f"{y.name}_dot"], np.asarray(expected)) < 1e-11


@pytest.mark.parametrize(
    ("name", "function"),
    few(QUICK, list(itertools.product(BASES, MOST))),
)
def test_operations(name: str, function: str) -> None:
    """Pins the operations of the chosen form, which is a form of its own for derivatives along directions."""
    choice = chosen(name, function)
    assert choice.program.cost.total == MOST[function][list(BASES).index(name)]
    assert choice.form == "own_axes"


def test_products_with_the_hessian_are_those_of_the_second_derivatives() -> None:
    """On a floating base the order of two derivatives matters; the derivative by q_dot is the second one."""
    model = robot("double_pendulum", "floating").model
    second, hvp = lookup("rnea_second"), lookup("rnea_hvp")
    inputs = all_inputs(model, hvp)
    tensors = run_on_floats(FunctionForm(second, second.forms[0]), model, inputs)
    qq, qv, vv, qa = tensors
    w = inputs["tau_bar"]
    q_dot, v_dot, a_dot = (inputs[f"{x}_dot"] for x in "qva")
    ours = Interpreted(model)(hvp, inputs)

    def by(T: Array, x: Array, way: str) -> Array:
        """Contracts a tensor with the weights, and along one axis with a rate."""
        return np.asarray(np.einsum(f"sijk,si,s{way}->s{'jk'.replace(way, '')}", T, w, x))

    expected = [
        by(qq, q_dot, "k") + by(qv, v_dot, "k") + by(qa, a_dot, "j"),
        by(qv, q_dot, "j") + by(vv, v_dot, "k"),
        by(qa, q_dot, "k"),
    ]
    for x, y in zip(ours, expected, strict=True):
        assert relative_error(x, y) < 1e-10
