"""Derivatives along directions of functions of all kinds, compiled and traced; functions without them."""

from __future__ import annotations

import numpy as np
import pytest
from support.contacts import SOLID
from support.directions import check_both_ways
from support.few import few
from support.functions import SECOND

import rbdgen
from rbdgen.errors import OptionError
from rbdgen.functions.table import lookup, rows_of
from rbdgen.model.build import Robot


def leg() -> Robot:
    """A trunk and a shank with a sole, a frame and a contact set; the joint has resistance and a rotor."""
    built = rbdgen.RobotBuilder("leg").add_body("trunk", mass=9, com=(0, 0, 0.1), inertia=(0.4, 0.3, 0.2))
    shank = {"damping": 0.3, "friction": 0.2, "armature": 0.1, "type": "revolute", **SOLID}
    built.add_body("shank", parent="trunk", axis=(0, 0.6, 0.8), xyz=(0, 0, -0.4), **shank)
    sole = rbdgen.Frame("sole", "shank", (0.1, 0, -0.3))
    sets = {"one": ["sole"]}
    return rbdgen.load_robot(built, base="floating", contacts=[sole], frames=["shank"], contact_sets=sets)


ROBOT = leg()

NAMES = [*rows_of(ROBOT.model), "step", "rnea_vjp", "com_vjp"]

FIRST = [
    "aba_fext",
    "step",
    "frame_acceleration_aligned",
    "contact_aba_one",
    "contact_rnea_least",
    "rnea_vjp",
]


@pytest.mark.parametrize("name", few(FIRST, NAMES))
def test_both_ways(name: str) -> None:
    """Rates and gradients agree, also for sets of contacts and frames; `active` and gains are constant."""
    check_both_ways(ROBOT.model, name)


def test_what_has_none_says_why() -> None:
    pendulum = rbdgen.RobotBuilder("pendulum").add_body("base")
    pendulum.add_body("rod", parent="base", type="revolute", axis=(0, 1, 0), **SOLID)
    robot = rbdgen.load_robot(pendulum)
    for name, said in {
        "foo_vjp": "unknown function 'foo'; there are rnea, .* and \\d+ more: rbdgen list shows all",
        "_vjp": "unknown function '_vjp'",
        "rnea_vpj": "unknown function 'rnea_vpj'; did you mean 'rnea_vjp' or .*\\? rbdgen list shows all",
        "step_rk_jvp": "unknown function 'step_rk'; did you mean 'step_rk4'",
        "rnea_jvp_hvp": "'rnea_jvp' has rates among its inputs; take rnea_jvp_vjp",
        "rnea_vjp_vjp_vjp": "derivatives of 'rnea_vjp_vjp' are not made; take fewer",
        "rnea_second_vjp": "the results of 'rnea_second' are packed",
        "frame_jacobian_local_jvp": "function 'frame_jacobian_local' needs chosen frames",
        "crba_vjp": "its results are 0 at all states of 'pendulum', because .* of 'crba' are constant",
        "rnea_dparams_vjp": "needs parameters that stay inputs",
    }.items():
        with pytest.raises(OptionError, match=said):
            rbdgen.build(robot, functions=[name])
    with pytest.raises(OptionError, match="'rnea_vjp' is made of the graph of 'rnea'; trace that"):
        rbdgen.trace(robot, "rnea_vjp", variant="reverse")
    with pytest.raises(OptionError, match="coordinates is an option of NAME_vjp"):
        rbdgen.build(robot, functions=["rnea"], coordinates=True)
    for name in ("vjp", "left_hvp"):
        with pytest.raises(OptionError, match=f"contact set '{name}': .* names of derivatives"):
            rbdgen.load_robot(pendulum, contacts=[rbdgen.Point("tip", "rod")], contact_sets={name: ["tip"]})


def test_every_row_has_its_derivatives() -> None:
    for name, row in {**rows_of(ROBOT.model), **SECOND}.items():
        if any(y.packed for y in row.signature.outputs):
            continue
        for mode in ("vjp", "jvp", "hvp"):
            found = lookup(f"{name}_{mode}", ROBOT.model).signature
            arguments = [x.name for x in (*found.inputs, *found.outputs)]
            assert len(set(arguments)) == len(arguments), name


def test_compiled() -> None:
    """A batch may have many weights for one state, parameters stay inputs, and the identity of both ways is
    checked."""
    robot = rbdgen.load_robot("double_pendulum")
    names = ["rnea_derivatives", "rnea_vjp", "rnea_jvp"]
    library = rbdgen.build(robot, functions=names, params=["mass:*"])
    table = library.update(library.parameters.defaults * 1.3)
    q, v, a = np.random.default_rng(0).normal(size=(3, 2))
    found = library.rnea_vjp(q, v, a, np.eye(2), table)
    for ours, theirs in zip(found, library.rnea_derivatives(q, v, a, table), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-14)
    rows = library.rnea_jvp(q, v, a, np.eye(2), np.zeros(2), np.zeros(2), table)
    np.testing.assert_allclose(rows.T, found[0], rtol=1e-12, atol=1e-14)


def test_traced() -> None:
    """The function that is traced for CasADi agrees with the emitted one."""
    traced = rbdgen.trace(rbdgen.load_robot("double_pendulum"), "rnea_vjp")
    assert traced.name_in() == ["q", "v", "a", "tau_bar"]
    assert traced.name_out() == ["q_bar", "v_bar", "a_bar"]
