"""Derivatives with respect to parameters that stay inputs, compared with differences and the regressor."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support.robots import robot
from support.states import random_inputs

import rbdgen
from rbdgen.checks.check import check
from rbdgen.errors import ArrayTypeError, OptionError
from rbdgen.functions.table import lookup
from rbdgen.graph.programs.run import run
from rbdgen.options import Options
from rbdgen.pipeline.design import design_functions
from rbdgen.pipeline.request import Request

Array = NDArray[np.float64]


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        pytest.param("puma560", ("ten:*", "xyz:*", "gravity.*", "armature:*"), marks=pytest.mark.campaign),
        ("puma560", ("mass:*", "com:*", "inertia:forearm")),
        ("floating pendulum", ("ten:*", "xyz:*")),
    ],
)
def test_derivatives_by_parameters(name: str, asked: tuple[str, ...]) -> None:
    """The derivatives agree with fourth-order central differences of the functions in every parameter."""
    described = robot("double_pendulum", "floating") if name == "floating pendulum" else robot("puma560")
    if "armature:*" in asked:
        described = rbdgen.load_robot("puma560", armature=dict.fromkeys(described.joint_names, 0.3))
    names = ("rnea", "aba", "rnea_dparams", "aba_dparams")
    found = design_functions(Request(described, Options(functions=names, params=asked)))
    programs = {function.name: function.program for function in found}
    (p,) = (np.array(x.default) for x in found[-1].signature.inputs)
    steps = zip(2e-3 * np.maximum(np.abs(p), 1e-2), np.eye(len(p)), strict=True)
    moves = [(h, h * e) for h, e in steps]
    for function in ("rnea", "aba"):
        inputs = random_inputs(described.model, lookup(function).signature, 3)

        def outputs(p: Array, function: str = function, inputs: Any = inputs) -> Array:
            table = run(programs["update"], {"p": p})["table"]
            return next(iter(run(programs[function], {**inputs, "table": table}).values()))

        table = run(programs["update"], {"p": p})["table"]
        (ours,) = run(programs[f"{function}_dparams"], {**inputs, "p": p, "table": table}).values()
        columns = [
            sum(w * (outputs(p + k * move) - outputs(p - k * move)) for k, w in ((1, 8), (2, -1))) / (12 * h)
            for h, move in moves
        ]
        assert ours.shape == (3, described.model.nv, len(p))
        for k, column in enumerate(columns):
            scale = np.abs(ours[..., k]).max() + 1e-3
            np.testing.assert_allclose(ours[..., k], column, rtol=0, atol=2e-6 * scale)


def test_derivatives_by_inertia_are_the_regressor() -> None:
    names = ("regressor", "rnea_dparams")
    found = design_functions(Request(robot("puma560"), Options(functions=names, params=("ten:*",))))
    regressor, slopes, update = found
    inputs = random_inputs(robot("puma560").model, lookup("regressor").signature, 4)
    p, table = (np.array(x.default) for x in slopes.signature.inputs[-2:])
    Y = run(regressor.program, {**inputs, "table": table})["Y"]
    dtau = run(slopes.program, {**inputs, "p": p, "table": table})["dtau_dp"]
    assert update.signature.inputs[0].shape == (60,)
    np.testing.assert_allclose(dtau, Y, rtol=0, atol=1e-12 * np.abs(Y).max())


def test_derivatives_from_c() -> None:
    """A call takes the parameters p together with the table that `update` makes of them, or neither."""
    library = rbdgen.build(rbdgen.load_robot("double_pendulum"), ["rnea", "rnea_dparams"], params=["mass:*"])
    q, v, a = np.random.default_rng(3).normal(size=(3, 2))
    p = 2 * library.parameters.defaults
    J = library.rnea_dparams(q, v, a)
    np.testing.assert_allclose(library.rnea_dparams(q, v, a, p, library.update(p)), J, rtol=1e-12)
    change = library.rnea(q, v, a, library.update(p)) - library.rnea(q, v, a)
    np.testing.assert_allclose(J @ library.parameters.defaults, change, rtol=1e-12)
    with pytest.raises(ArrayTypeError, match="rnea_dparams: table is missing"):
        library.rnea_dparams(q, v, a, p)
    assert all(finding.passed is not False for finding in check(library.folder))


def test_derivatives_without_parameters_are_refused() -> None:
    with pytest.raises(OptionError, match="'rnea_dparams' needs parameters that stay inputs; ask for some"):
        rbdgen.build(robot("double_pendulum"), ["rnea_dparams"])
