"""Names of parameters, refusals, and calls with tables of parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.robots import robot

import rbdgen
from rbdgen.checks.check import check
from rbdgen.errors import ArrayTypeError, OptionError
from rbdgen.model.inertial_parameters import NAMES
from rbdgen.model.parameters import asked_parameters
from rbdgen.options import Options
from rbdgen.pipeline.design import design_functions
from rbdgen.pipeline.request import Request
from rbdgen.runtime import Library
from rbdgen.runtime.parameters import Parameters


@pytest.mark.parametrize(
    ("asked", "names"),
    [
        (["mass:link2"], ["mass:link2"]),
        (["xyz:joint2"], ["xyz:joint2.y", "xyz:joint2.z"]),
        (["xyz:joint2.*"], ["xyz:joint2.x", "xyz:joint2.y", "xyz:joint2.z"]),
        (["xyz:joint2.x"], ["xyz:joint2.x"]),
        (["gravity"], ["gravity.z"]),
        (["gravity.x", "gravity"], ["gravity.x", "gravity.z"]),
        (["ten:link1"], [f"ten:link1.{name}" for name in NAMES]),
        (["mass:*1", "mass:link1"], ["mass:link1"]),
        (["com:link1"], ["com:link1.y", "com:link1.z"]),
        (["armature:joint1"], ["armature:joint1"]),
    ],
)
def test_names(asked: list[str], names: list[str]) -> None:
    assert [parameter.name for parameter in asked_parameters(robot("arm7"), asked)] == names


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (["mass:link9"], "params=['mass:link9']: no such parameter; did you mean 'mass:link"),
        (
            ["weight"],
            "there are mass, com, inertia, ten, logchol, xyz, stiffness, armature, gravity",
        ),
        (["link7.mass"], "no such parameter; did you mean 'mass:link7'?"),
        (["mass:base"], "link 'base' does not move, so nothing depends on it"),
        (["damping:joint1"], "damping is left out of the functions; pass damping=True as well"),
        (["xyz:joint1.a"], "did you mean 'xyz:joint1.z' or 'xyz:joint1.y' or 'xyz:joint1.x'?"),
        (["rpy:joint1"], "directions cannot be inputs, lengths can: xyz:JOINT"),
        (["stiffness:*"], "all of its components are 0 and stay constants; name "),
        (["ten:link1", "mass:*"], "params=['ten:link1', 'mass:link1']: both determine the same numbers"),
    ],
)
def test_what_there_is_none_of_is_refused(asked: list[str], said: str) -> None:
    with pytest.raises(OptionError) as caught:
        asked_parameters(robot("arm7"), asked)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"functions": ["regressor_base"]}, "'regressor_base' has columns that depend on the parameters"),
        (
            {"functions": ["rnea"], "variants": {"rnea": "looped"}},
            "variants={'rnea': 'looped'}: forms in loops",
        ),
        ({"functions": ["rnea"], "budget_flash": 1000}, "budget_flash needs forms in loops"),
    ],
)
def test_what_does_not_go_with_them_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(OptionError, match=said):
        rbdgen.build(robot("double_pendulum"), params=["mass:*"], **given)


def test_a_list_is_wanted() -> None:
    with pytest.raises(OptionError, match=r"params='mass:\*': give a list of names"):
        rbdgen.build(robot("double_pendulum"), params="mass:*")


@pytest.fixture(scope="module", params=["double", "float"])
def library(request: pytest.FixtureRequest) -> Library:
    loaded = rbdgen.load_robot("double_pendulum", gravity=(0, 0, -5))
    return rbdgen.build(loaded, ["rnea", "aba"], params=["ten:*", "gravity"], real=request.param)


def test_calls(library: Library) -> None:
    """Calls may have a table, none, a table by name or for every state, and may be bound."""
    tolerance = 1e-12 if library.rnea.dtype == np.float64 else 1e-5
    plain = rbdgen.build(rbdgen.load_robot("double_pendulum", gravity=(0, 0, -5)), ["rnea"])
    rng = np.random.default_rng(0)
    q, v, a = rng.normal(size=(3, 2)).astype(library.rnea.dtype)
    expected, table = plain.rnea(q, v, a), library.update()
    for found in (
        library.rnea(q, v, a),
        library.rnea(q, v, a, table),
        library.rnea(q, v, a=a),
        library.rnea(q, v, a, table=library.update(library.parameters.defaults)),
    ):
        np.testing.assert_allclose(found, expected, rtol=tolerance)
    bound = library.rnea.bind(q, v, a)
    bound()
    np.testing.assert_allclose(bound.out, expected, rtol=tolerance)
    gravities = np.linspace(0, 9, 4)
    tables = library.update({"gravity.z": -gravities})
    assert tables.shape == (4, *table.shape)
    still = library.rnea(q, 0 * v, 0 * v, tables)
    np.testing.assert_allclose(still, gravities[:, None] * still[-1] / 9, rtol=tolerance, atol=tolerance)
    with pytest.raises(ArrayTypeError, match=r"a is missing; call rnea\(q, v, a, table\)"):
        library.rnea(q, v)
    assert all(finding.passed for finding in check(library.folder) if finding.passed is not None)


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("gravity", "give its components by name: gravity.z"),
        ("gravity.x", "of 'gravity' there is gravity.z; build with params=['gravity.*'] for all components"),
        ("ten:lower.M", "did you mean 'ten:lower.m'?"),
    ],
)
def test_parameters_that_do_not_exist(library: Library, name: str, advice: str) -> None:
    with pytest.raises(ArrayTypeError) as raised:
        library.update({name: 1.0})
    assert str(raised.value) == f"update: there is no parameter '{name}'; {advice}"


def test_other_numbers_of_the_file_are_in_use(library: Library) -> None:
    """The torque is proportional to an inertia that was changed."""
    ten = [k for k, name in enumerate(library.parameters.names) if name.startswith("ten:")]
    p = library.parameters.defaults.copy()
    p[ten] *= 2
    q, v, a = np.random.default_rng(1).normal(size=(3, 2))
    tolerance = 1e-12 if library.rnea.dtype == np.float64 else 1e-4
    np.testing.assert_allclose(
        library.rnea(q, v, a, library.update(p)), 2 * library.rnea(q, v, a), rtol=tolerance
    )


def test_no_body_has_such_inertia(library: Library) -> None:
    parameters: Parameters = library.parameters
    assert parameters.unphysical(parameters.defaults) == {}
    link = parameters.names[0].split(":")[1].split(".")[0]
    with pytest.warns(UserWarning, match=f"no body has the inertia of link '{link}': it is off by 2 kg"):
        library.update({f"ten:{link}.m": -2.0})
    heavy = {
        f"ten:{link}.{name}": value for name, value in zip(NAMES, (1, 0, 0, 0, 1, 0, 1, 0, 0, 3), strict=True)
    }
    with pytest.warns(UserWarning, match=f"link '{link}': it is off by 1 kg"):
        library.update(heavy)
    with pytest.raises(ArrayTypeError, match=r"there is no parameter 'ten:.*'; did you mean 'ten:"):
        library.update({f"ten:{link}.M": 1.0})


def test_tables_are_those_of_all_functions() -> None:
    """Functions of another library take the same table, such as derivatives that a framework builds later.

    On small machines, the table only has the columns that the functions read.
    """
    robot, params = rbdgen.load_robot("double_pendulum"), ["mass:lower", "gravity"]
    one, other = (rbdgen.build(robot, [name], params=params) for name in ("potential_energy", "aba"))
    changed = {"mass:lower": 2.5, "gravity.z": -3.0}
    table = one.update(changed)
    np.testing.assert_array_equal(table, other.update(changed))
    q, v, tau = np.random.default_rng(0).normal(size=(3, 2))
    again = rbdgen.build(robot, ["aba", "rnea"], params=params)
    np.testing.assert_array_equal(other.aba(q, v, tau, table), again.aba(q, v, tau, again.update(changed)))
    sizes = []
    for target in ("host", "cortex-m7"):
        options = Options.of(functions=["potential_energy"], params=params, target=target)
        sizes.append(design_functions(Request(robot, options))[-1].signature.outputs[0].size)
    assert sizes[1] < sizes[0]
