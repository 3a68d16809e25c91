"""Loops over alike limbs give the values of the textbook's form, by as few loops as sums over limbs allow."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from support.limbs import with_limbs

from rbdgen.errors import OptionError
from rbdgen.functions.form import LIMB_LOOPS
from rbdgen.functions.table import lookup
from rbdgen.graph.programs.program import Program, straight_line
from rbdgen.graph.programs.run import run
from rbdgen.graph.programs.verify import verify_program
from rbdgen.model.build import Base
from rbdgen.model.model import Model
from rbdgen.model.reduce import reduce
from rbdgen.options import Options
from rbdgen.pipeline.design import design_functions
from rbdgen.pipeline.request import Request
from rbdgen.selection.limb_loops import smallest_in_limb_loops
from rbdgen.selection.trace import trace_graph

LEG, SLIDE = ("revolute", "revolute"), ("revolute", "prismatic", "revolute")

CASES: list[tuple[Sequence[Sequence[str]], Base, int]] = [
    ([LEG] * 4, "floating", 4),
    ([SLIDE, LEG, ("prismatic",), SLIDE, LEG], "floating", 2),  # two pairs, and a single limb
    ([SLIDE] * 3, "fixed", 3),  # no trunk, and a number of limbs that no vector has
]

LOOPS = {"rnea_fext": 1, "gravity": 1, "aba": 2, "crba": 1, "minv": 3}
"""The numbers of loops: one sums forces, one follows the trunk's acceleration, one has products of limbs."""


def in_loops(name: str, model: Model) -> Program:
    program, _ = smallest_in_limb_loops(lookup(name), model, [("as given", reduce(model))], sums=True)
    verify_program(program)
    return program


@pytest.mark.parametrize("name", LOOPS)
@pytest.mark.parametrize(("limbs", "base", "together"), CASES)
def test_values(limbs: Sequence[Sequence[str]], base: Base, together: int, name: str) -> None:
    model, function = with_limbs(limbs, base).model, lookup(name)
    textbook = straight_line(trace_graph(model, function, function.forms[0], "graph"))
    random = np.random.default_rng(3)
    inputs = {x.name: random.normal(size=(5, x.size)) for x in textbook.inputs}
    program = in_loops(name, model)
    counts = [loop.count for loop in program.loops if loop.count > 1]
    assert set(counts) == {together}
    assert len(counts) == LOOPS[name] if base == "floating" else len(counts) <= LOOPS[name]
    given = run(program, inputs)
    for output, values in run(textbook, inputs).items():
        np.testing.assert_allclose(given[output], values, rtol=0, atol=1e-12 * abs(values).max())


def test_zeros_between_limbs_are_written_in_the_loop() -> None:
    """The lines of the trunk only write the block of the base in M, for a base and four legs."""
    program = in_loops("crba", with_limbs([LEG] * 4).model)
    written = {
        at
        for loop in program.loops
        for access in loop.writes.values()
        if loop.count == 1 and access.array == "M"
        for at in access.addresses(0)
    }
    assert written <= {14 * i + j for i in range(6) for j in range(6)}


@pytest.mark.parametrize(
    ("limbs", "options", "reason"),
    [
        ([LEG, SLIDE], {}, "form 'limb-loops' of 'rnea': 'limbed' has no alike limbs, the limbs of joints"),
        ([LEG] * 2, {"params": ("mass:trunk",)}, "'limb-loops'}: params makes numbers inputs"),
    ],
)
def test_refused(limbs: Sequence[Sequence[str]], options: dict[str, object], reason: str) -> None:
    asked = Options(functions=("rnea",), variants={"rnea": LIMB_LOOPS}, **options)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match=reason):
        design_functions(Request(with_limbs(limbs), asked))


def test_sines_as_inputs() -> None:
    """Each limb reads its own sines and cosines."""
    robot = with_limbs([LEG] * 2, "fixed")
    asked = Options(functions=("gravity",), variants={"gravity": LIMB_LOOPS}, target="portable")
    given = Options(functions=("gravity",), variants={"gravity": LIMB_LOOPS}, target="portable", trig="input")
    (own,), (handed,) = design_functions(Request(robot, asked)), design_functions(Request(robot, given))
    q = np.random.default_rng(3).normal(size=(5, 4))
    wanted = run(own.program, {"q": q})["tau"]
    found = run(handed.program, {"sin_q": np.sin(q), "cos_q": np.cos(q)})["tau"]
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-14 * abs(wanted).max())
