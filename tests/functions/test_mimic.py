"""Mimic joints by elimination: every form agrees with the projected robot without followers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from support.few import examples
from support.forms import FunctionForm, over_bodies, relative_error, run_on_floats
from support.mimic import Projection, with_mimics
from support.random_urdf import robots
from support.robots import PATHS

from rbdgen.description.urdf import parse_urdf, read_urdf
from rbdgen.functions.table import TABLE
from rbdgen.graph.programs.run import run
from rbdgen.model.build import Base
from rbdgen.model.model import WORLD, Model
from rbdgen.model.reduce import reduce
from rbdgen.selection.trace import trace_program

TOLERANCE = 1e-12
"""The relative tolerance, which is multiplied by the condition number of M if M is inverted."""

STATES = 3


def check(projection: Projection, seed: int, *, programs: bool = False) -> None:
    """Compares every form for the robot and, if `programs`, the programs with loops that C runs."""
    model = projection.coupled.model
    arguments = {x.name: x for row in TABLE.values() for x in row.signature.sized(model.sizes).inputs}
    inputs = model.manifold.random_inputs(arguments.values(), np.random.default_rng(seed), (STATES,))
    inputs["fext"] = inputs["fext"].reshape(STATES, -1)
    condition = np.linalg.cond(projection.outputs(TABLE["crba"], inputs)[0]).max()
    same_mass = mass(model) == mass(projection.free.model)
    for row in TABLE.values():
        if row.name.startswith(("com", "centroidal")) and not same_mass:
            continue  # a constant joint on the world moves in the robot with independent joints only
        expected = projection.outputs(row, inputs)
        scale = TOLERANCE * (condition if row.projected else 1.0)
        for form in row.forms:
            if not form.does(model) or (over_bodies(form) and not in_loops(model)):
                continue
            results = [run_on_floats(FunctionForm(row, form), model, inputs)]
            if programs and form.loops is not None:
                program = trace_program(reduce(model), row, form, "graph")
                found = run(program, {x.name: inputs[x.name] for x in row.signature.inputs})
                results.append([found[argument.name] for argument in row.signature.outputs])
            for outputs in results:
                for output, wanted in zip(outputs, expected, strict=True):
                    ours, theirs = output.reshape(wanted.shape), wanted
                    if row.name == "potential_energy":  # bodies fixed to the world add a constant
                        ours, theirs = ours - ours[0], theirs - theirs[0]
                    assert relative_error(ours, theirs, floor=1.0) < scale, (row.name, form.name)


def mass(model: Model) -> float:
    """The mass of all moving bodies, rounded, since bodies are merged in different orders."""
    return round(float(sum(body.inertia.mass for body in model.bodies)), 9)


def in_loops(model: Model) -> bool:
    """Whether forms that loop over bodies can handle the tree."""
    first = 1 if model.is_floating else 0
    beside = any(body.parent == WORLD for body in model.bodies[first:])
    return all(body.joint.type.one_axis for body in model.bodies[first:]) and not (first and beside)


@settings(max_examples=examples(6, 40), deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(robots(max_joints=8), st.integers(0, 2**32 - 1), st.sampled_from(("fixed", "floating")))
def test_random_trees(text: str, seed: int, base: Base) -> None:
    description = with_mimics(parse_urdf(text), np.random.default_rng(seed))
    projection = Projection.of(description, base)
    check(projection, seed, programs=seed % 8 == 0)


@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_a_public_gripper(base: Base) -> None:
    projection = Projection.of(read_urdf(PATHS["panda"]), base)
    assert projection.coupled.joint_names[-2:] == ("panda_joint7", "panda_finger_joint1")
    check(projection, 1, programs=True)
