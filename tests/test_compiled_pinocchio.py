"""Compiled C, called in batches, agrees with Pinocchio for arms, quadrupeds and a humanoid.

Other tests run every form on every robot by the interpreter, which has the bits of the C; a few robots
suffice here.
"""

from __future__ import annotations

from typing import Any

import pytest
from support.few import few
from support.forms import relative_error
from support.pinocchio_oracle import PinocchioOracle, model_of_numbers
from support.robots import robot
from support.states import random_inputs

import rbdgen
from rbdgen.functions.table import TABLE
from rbdgen.model.build import Base
from rbdgen.options import Options

STATES = 100

TOLERANCE = 1e-10

QUICK = ("rnea", "aba", "crba", "minv")
"""The functions of the humanoid, whose derivatives take a minute to compile."""

CASES: tuple[tuple[str, Base, tuple[str, ...]], ...] = (
    ("arm7", "fixed", Options().functions),
    ("quadruped12", "floating", ("rnea", "crba")),
    ("arm7", "fixed", tuple(TABLE)),
    ("panda", "fixed", QUICK),
    ("quadruped12", "floating", Options().functions),
    ("hyq", "floating", QUICK),
    ("humanoid30", "floating", QUICK),
)


def assert_agreement(name: str, base: Base, functions: tuple[str, ...], **options: Any) -> None:
    subject = robot(name, base)
    lib = rbdgen.build(subject, functions, **options)
    oracle = PinocchioOracle(model_of_numbers(subject.model), subject.model)
    for function in functions:
        signature = TABLE[function].signature
        inputs = random_inputs(subject.model, signature, STATES)
        shapes = {x.name: x.shape for x in signature.sized(subject.model.sizes).inputs}
        arrays = [inputs[x.name].reshape(STATES, *shapes[x.name]) for x in signature.inputs]
        ours = lib.functions[function](*arrays)
        outputs = ours if isinstance(ours, tuple) else (ours,)
        for argument, x, y in zip(signature.outputs, outputs, oracle(function, inputs), strict=True):
            assert relative_error(x, y) < TOLERANCE, f"{function}: {argument.name}"


@pytest.mark.parametrize(
    ("name", "base", "functions"), few(CASES[:2], CASES), ids=[f"{n}-{b}-{len(f)}" for n, b, f in CASES]
)
def test_by_default(name: str, base: Base, functions: tuple[str, ...]) -> None:
    assert_agreement(name, base, functions)


@pytest.mark.parametrize("base", few(["fixed"], ["fixed", "floating"]))
def test_without_savings(base: Base) -> None:
    assert_agreement("double_pendulum", base, tuple(TABLE), savings=False)


@pytest.mark.parametrize("number", few([1], range(max(len(row.forms) for row in TABLE.values()))))
def test_forced_variants(number: int) -> None:
    """The form of this number is forced for every function that has as many forms."""
    chosen = {name: row.forms[number].name for name, row in TABLE.items() if number < len(row.forms)}
    subject = robot("double_pendulum", "floating")
    lib = rbdgen.build(subject, tuple(chosen), variants=chosen)
    for name, variant in chosen.items():
        assert lib.manifest["functions"][name]["form"] == variant
    assert_agreement("double_pendulum", "floating", tuple(chosen), variants=chosen)
