"""Compiled C of a chain of 100 joints and trees of up to 200 bodies agrees with Pinocchio, also in loops."""

from __future__ import annotations

from functools import cache

import pytest
from support import synthetic
from support.few import few
from support.forms import relative_error
from support.pinocchio_oracle import PinocchioOracle, model_of_numbers
from support.states import random_inputs

import rbdgen
from rbdgen.description.urdf import parse_urdf
from rbdgen.functions.table import TABLE
from rbdgen.model.build import Robot, build_robot
from rbdgen.runtime import Library

TREES = {
    "small tree": tuple(synthetic.binary_tree(40)),
    "tree": tuple(synthetic.binary_tree(80)),
    "chain": tuple(synthetic.chain(100)),
    "large tree": tuple(synthetic.binary_tree(200)),
}
LOOPED = ("rnea", "aba", "crba", "minv")
STATES = 3
TOLERANCE = 1e-10


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


@pytest.mark.parametrize("tree", few(["small tree"], TREES))
def test_in_loops(tree: str) -> None:
    lib = rbdgen.build(large(tree), LOOPED, variants=dict.fromkeys(LOOPED, "looped"))
    assert_agreement(large(tree), lib)
    for name in LOOPED:
        assert lib.manifest["functions"][name]["object_bytes"] < 1_000_000


UNROLLED = [("small tree", "rnea"), ("tree", "rnea"), ("chain", "aba"), ("large tree", "rnea")]


@pytest.mark.parametrize(("tree", "name"), few(UNROLLED[:1], UNROLLED))
def test_unrolled(tree: str, name: str) -> None:
    lib = rbdgen.build(large(tree), (name,))
    assert_agreement(large(tree), lib)
    facts = lib.manifest["functions"][name]
    assert facts["operations"]["total"] > 150 * len(TREES[tree])
    assert facts["stack_bytes"] < 100_000
