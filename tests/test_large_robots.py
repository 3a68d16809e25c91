"""A chain of 100 joints and a tree of 200 bodies: compiled C against Pinocchio, straight and in loops."""

from __future__ import annotations

from functools import cache

import pytest
from support import synthetic
from support.forms import relative_error
from support.pinocchio_oracle import PinocchioOracle, model_of_numbers
from support.states import random_inputs

import rbdgen
from rbdgen.description.urdf import parse_urdf
from rbdgen.functions.table import TABLE
from rbdgen.model.build import Robot, build_robot
from rbdgen.runtime import Library

TREES = {"chain": tuple(synthetic.chain(100)), "tree": tuple(synthetic.binary_tree(200))}
LOOPED = ("rnea", "aba", "crba", "minv")
STATES = 3
TOLERANCE = 1e-10

LONG = pytest.mark.campaign


@cache
def large(tree: str) -> Robot:
    return build_robot(parse_urdf(synthetic.urdf(TREES[tree])))


def assert_agreement(robot: Robot, lib: Library) -> None:
    oracle = PinocchioOracle(model_of_numbers(robot.model), robot.model)
    for name, function in lib.functions.items():
        signature = TABLE[name].signature
        inputs = random_inputs(robot.model, signature, STATES)
        ours = function(*(inputs[argument.name] for argument in signature.inputs))
        (reference,) = oracle(name, inputs)
        assert relative_error(ours, reference) < TOLERANCE, name


@pytest.mark.parametrize("tree", [pytest.param("chain", marks=LONG), "tree"])
def test_in_loops(tree: str) -> None:
    lib = rbdgen.build(large(tree), LOOPED, variants=dict.fromkeys(LOOPED, "looped"))
    assert_agreement(large(tree), lib)
    for name in LOOPED:
        assert lib.manifest["functions"][name]["object_bytes"] < 1_000_000


@pytest.mark.parametrize(("tree", "name"), [pytest.param("chain", "aba", marks=LONG), ("tree", "rnea")])
def test_unrolled(tree: str, name: str) -> None:
    lib = rbdgen.build(large(tree), (name,))
    assert_agreement(large(tree), lib)
    facts = lib.manifest["functions"][name]
    assert facts["operations"]["total"] > 30_000
    assert facts["stack_bytes"] < 100_000
