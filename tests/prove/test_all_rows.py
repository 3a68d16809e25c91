"""The campaign of `make prove`: every function of the bundled robots in portable C, one function a row."""

from __future__ import annotations

from functools import cache

import pytest
from support.contacts import arm, humanoid, quadruped
from support.own import ARM, computed_torque, reach, rk4, terms
from support.robots import BUNDLED

import rbdgen
from rbdgen.functions.table import ALL
from rbdgen.machine import Real
from rbdgen.model.build import Robot
from rbdgen.options import Options
from rbdgen.own.asked import compositions
from rbdgen.own.text import Own
from rbdgen.prove.prove import Proof, prove_robot

WITH_CONTACTS = {"arm7": arm, "quadruped12": quadruped, "humanoid30": humanoid}


@cache
def robot_of(name: str) -> Robot:
    return WITH_CONTACTS[name]() if name in WITH_CONTACTS else rbdgen.load_robot(name, frames=["*"])


def rows() -> list[tuple[str, str]]:
    return [
        (name, row.name) for name in BUNDLED for row in ALL.values() if not row.missing(robot_of(name).model)
    ]


def assert_proved(proofs: list[Proof]) -> None:
    assert proofs
    assert all(proof.proved for proof in proofs), proofs


@pytest.mark.campaign
@pytest.mark.usefixtures("frama_c")
@pytest.mark.parametrize(("name", "function"), rows())
def test_a_function_of_a_bundled_robot(name: str, function: str) -> None:
    """No alarms, and all statements reached. Functions of parameters also have the one that updates these."""
    params = ("mass:*",) if ALL[function].by_parameters else ()
    options = Options(functions=(function,), target="portable", params=params)
    assert_proved(prove_robot(robot_of(name), options))


@pytest.mark.campaign
@pytest.mark.usefixtures("frama_c")
@pytest.mark.parametrize("real", ["float", "double"])
@pytest.mark.parametrize("own", [computed_torque, reach, rk4, terms], ids=lambda own: own.name)
def test_a_function_of_a_users_own(own: Own, real: Real) -> None:
    options = Options(functions=(own.name,), target="portable", real=real)
    assert_proved(prove_robot(ARM, options, own=compositions([own], (own.name,), ARM)))
