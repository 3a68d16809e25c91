"""A robot with joints of all types, from its description to compiled C, agrees with Pinocchio."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.forms import forms_of, run_on_floats
from support.pinocchio_oracle import PinocchioOracle, model_of_numbers

import rbdgen
from rbdgen.functions.table import TABLE
from rbdgen.runtime import Library

NAMES = ("rnea", "crba", "aba_fext", "kinetic_energy")
"""The functions that are compiled; others, such as derivatives, are tested with the interpreter."""

IN_FLOAT = ("rnea",)

STATES = 5


def body(builder: rbdgen.RobotBuilder, name: str, parent: str, type: Any, **joint: Any) -> None:
    inertia = {"mass": 1.3, "com": (0.1, -0.05, 0.2), "inertia": (0.03, 0.04, 0.02)}
    builder.add_body(
        name, parent=parent, type=type, xyz=(0.1, 0.2, -0.1), rpy=(0.3, 0.0, 0.1), **joint, **inertia
    )


def every_type() -> rbdgen.RobotBuilder:
    builder = rbdgen.RobotBuilder("every_type")
    builder.add_body("ground")
    body(builder, "cart", "ground", "planar")
    body(builder, "screw", "cart", "helical", axis=(0, 0.6, 0.8), pitch=0.05)
    body(builder, "ball", "screw", "spherical")
    body(builder, "cross", "cart", "universal", axis=(1, 0, 0), second_axis=(0, 1, 0))
    body(builder, "slide", "cross", "prismatic", axis=(0, 0, 1))
    body(builder, "free", "slide", "floating")
    body(builder, "hand", "free", "revolute", axis=(0, 1, 0))
    return builder


@pytest.fixture(scope="module", params=["double", "float"])
def library(request: pytest.FixtureRequest) -> Library:
    functions = NAMES if request.param == "double" else IN_FLOAT
    return rbdgen.build(rbdgen.load_robot(every_type()), functions=functions, real=request.param)


@pytest.fixture(scope="module")
def oracle() -> PinocchioOracle:
    model = rbdgen.load_robot(every_type()).model
    return PinocchioOracle(model_of_numbers(model), model)


@pytest.mark.parametrize("name", NAMES)
def test_compiled_functions_are_pinocchios(library: Library, oracle: PinocchioOracle, name: str) -> None:
    if name not in library.manifest["functions"]:
        assert name not in IN_FLOAT
        return
    function = getattr(library, name)
    inputs = library.manifold.random_inputs(
        [x.sized(library.manifest) for x in TABLE[name].signature.inputs], np.random.default_rng(3), (STATES,)
    )
    inputs = {key: np.asarray(value, function.dtype) for key, value in inputs.items()}
    inputs["q"] = library.normalize(inputs["q"])
    outputs = function(*inputs.values())
    expected = oracle(name, {key: value.astype(float) for key, value in inputs.items()})
    tolerance = 1e-11 if function.dtype == np.float64 else 3e-3
    for ours, theirs in zip(outputs if isinstance(outputs, tuple) else (outputs,), expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=tolerance * np.abs(theirs).max())


def test_names_and_indices(library: Library) -> None:
    names = ["cart", "screw", "ball", "cross_joint_1", "cross_joint_2", "slide", "free", "hand"]
    assert [name.removesuffix("_joint") for name in library.joint_names] == sorted_by_tree(names)
    assert (library.manifest["nq"], library.manifest["nv"]) == (3 + 1 + 4 + 2 + 1 + 7 + 1, 17)
    assert library.manifest["nbodies"] == 7
    assert list(library.idx_q) == [row["idx_q"] for row in library.manifest["manifold"]]


def sorted_by_tree(names: list[str]) -> list[str]:
    """The names in depth-first order, with siblings by name: the cross comes before the screw."""
    first, ball, cross = names[0], names[1:3], names[3:]
    return [first, *cross, *ball]


def test_no_external_force_acts_between_two_joints_in_series() -> None:
    builder = rbdgen.RobotBuilder("crosses").add_body("ground")
    for name, parent in (("first", "ground"), ("second", "first")):
        body(builder, name, parent, "universal", axis=(1, 0, 0), second_axis=(0, 1, 0))
    model = rbdgen.load_robot(builder).model
    oracle, generator = PinocchioOracle(model_of_numbers(model), model), np.random.default_rng(4)
    for form in forms_of("rnea_fext", "aba_fext", "rnea_fext_derivatives", "aba_fext_derivatives"):
        signature = form.function.signature.sized(model.sizes)
        inputs = model.manifold.random_inputs(signature.inputs, generator, (STATES,))
        assert inputs["fext"].shape == (STATES, 2, 6)
        inputs["fext"] = inputs["fext"].reshape(STATES, -1)
        found = run_on_floats(form, model, inputs)
        for ours, theirs in zip(found, oracle(form.function.name, inputs), strict=True):
            derived = form.function.derivative_of is not None
            least = 1e-10 * (np.abs(theirs).max() if derived else 1.0)
            np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=least)


def test_the_folder_tells_layouts(tmp_path: Path) -> None:
    rbdgen.generate(rbdgen.load_robot(every_type()), tmp_path, functions=["rnea"], compiled=False)
    header = (tmp_path / "every_type" / "every_type.h").read_text()
    assert "cart_joint; q: x y angle; v: linear along x and y of the body, angular */" in header
    assert "ball_joint; q: quaternion x y z w; v: angular, in body axes */" in header
    assert "#define EVERY_TYPE_NBODIES 7" in header


def test_screws_need_their_angle(tmp_path: Path) -> None:
    with pytest.raises(
        rbdgen.errors.OptionError, match=r"joint 'screw_joint' is helical.*take trig='builtin'"
    ):
        rbdgen.generate(rbdgen.load_robot(every_type()), tmp_path, functions=["rnea"], trig="input")
    assert not list(tmp_path.iterdir())


def test_loops_say_which_joint_they_cannot_do(tmp_path: Path) -> None:
    with pytest.raises(rbdgen.errors.ModelError, match=r"joint 'cart_joint' is planar.*another form"):
        rbdgen.generate(
            rbdgen.load_robot(every_type()), tmp_path, functions=["rnea"], variants={"rnea": "looped"}
        )
