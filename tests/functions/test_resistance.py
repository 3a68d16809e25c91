"""Damping, friction, springs and rotors in every form of every function.

The references are Pinocchio, which has rotors, plus the sum of the other terms, and differences.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from support.few import examples
from support.forms import (
    FunctionForm,
    forms_of,
    interpreted,
    parametrize,
    relative_error,
    run_on_floats,
)
from support.mujoco_oracle import MujocoOracle
from support.random_trees import resisting_tree
from support.robots import PATHS, robot
from support.states import random_inputs
from trees.check import check

from rbdgen.graph.programs.run import run
from rbdgen.graph.programs.verify import verify_program
from rbdgen.model.joints import Resistance
from rbdgen.model.model import Model
from rbdgen.model.reduce import reduce
from rbdgen.selection.trace import trace_graph, trace_program

TOLERANCE = 1e-11
"""The relative tolerance, which is multiplied by the condition number of M if M is inverted."""

STATES = 3


@settings(max_examples=examples(10, 100), deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(seed=st.integers(0, 2**32 - 1))
def test_random_trees(seed: int) -> None:
    check(resisting_tree(seed, 6), seed)


STEP = 1e-6


def arm(resistance: Resistance) -> Model:
    """The puma with this resistance at every joint."""
    model = robot("puma560").model
    bodies = (replace(b, joint=replace(b.joint, resistance=resistance)) for b in model.bodies)
    return replace(model, bodies=tuple(bodies))


@parametrize("rnea_derivatives", "aba_derivatives")
def test_differences(form: FunctionForm) -> None:
    """Derivatives agree with differences by q and v; the sign of v is constant while a joint moves."""
    for smoothing in (0.0, 0.3):
        model = arm(Resistance(0.7, 0.5, smoothing, 3.0, 0.2, 0.4))
        (function,) = forms_of(form.function.derivative_of or "")[:1]
        inputs = random_inputs(model, function.function.signature, 3)
        analytic = run_on_floats(form, model, inputs)
        for name, derivative in zip(("q", "v"), analytic, strict=False):
            columns = []
            for e in STEP * np.eye(model.nv):
                ends = [{**inputs, name: inputs[name] + side * e} for side in (1, -1)]
                above, below = (run_on_floats(function, model, end)[0] for end in ends)
                columns.append((above - below) / (2 * STEP))
            assert relative_error(np.stack(columns, axis=2), derivative) < 1e-7


def test_energy_is_what_torques_do() -> None:
    """dU/dq is equal to gravity torques, which include those of springs."""
    model = arm(Resistance(0.7, 0.5, 0.0, 3.0, 0.2, 0.4))
    (gravity, *_), (potential, *_) = forms_of("gravity"), forms_of("potential_energy")
    inputs = random_inputs(model, gravity.function.signature, 3)
    columns = []
    for e in STEP * np.eye(model.nv):
        above, below = (run_on_floats(potential, model, {"q": inputs["q"] + side * e})[0] for side in (1, -1))
        columns.append((above - below) / (2 * STEP))
    assert relative_error(np.stack(columns, axis=1), run_on_floats(gravity, model, inputs)[0]) < 1e-7


def test_mujoco_agrees() -> None:
    """MuJoCo has the same damping, springs and rotors; its friction is a constraint of another kind."""
    own = Resistance(damping=0.7, stiffness=3.0, reference=0.2, armature=0.4)
    model = arm(own)
    oracle = MujocoOracle(PATHS["puma560"].read_text(), robot("puma560").model, "fixed")
    oracle.mj.dof_damping[:], oracle.mj.dof_armature[:] = own.damping, own.armature
    oracle.mj.jnt_stiffness[:], oracle.mj.qpos_spring[:] = own.stiffness, own.reference
    for form in forms_of("aba"):
        inputs = random_inputs(model, form.function.signature, 5)
        states = zip(inputs["q"], inputs["v"], inputs["tau"], strict=True)
        theirs = np.stack([oracle.aba(*state) for state in states])
        assert relative_error(run_on_floats(form, model, inputs)[0], theirs) < 1e-10


@pytest.mark.parametrize("engine", ["casadi", "sympy", "graph"])
@pytest.mark.parametrize("smoothing", [0.0, 0.3])
def test_every_engine_traces_it(engine: str, smoothing: float) -> None:
    model = robot("double_pendulum").model
    own = Resistance(0.7, 0.5, smoothing, 3.0, 0.2, 0.4)
    bodies = (replace(b, joint=replace(b.joint, resistance=own)) for b in model.bodies)
    model = replace(model, bodies=tuple(bodies))
    for form in forms_of("rnea", "aba", "aba_derivatives"):
        inputs = random_inputs(model, form.function.signature, 3)
        expected = run_on_floats(form, model, inputs)
        if form.form.loops is not None:
            program = trace_program(reduce(model), form.function, form.form, engine)
            verify_program(program)
            outputs = run(program, inputs)
            assert all(
                relative_error(outputs[x.name], y) < 1e-12
                for x, y in zip(form.function.signature.outputs, expected, strict=True)
            )
        else:
            graph = trace_graph(model, form.function, form.form, engine)
            for ours, theirs in zip(interpreted(form, graph, inputs), expected, strict=True):
                assert relative_error(ours, theirs) < 1e-12
