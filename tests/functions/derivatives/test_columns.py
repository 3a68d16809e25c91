"""The elements that forms in loops declare to be 0 are 0, and leaving them out changes no result."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from support.forms import FORMS, Form, watched
from support.rationals import Rationals
from support.robots import robot
from support.states import random_inputs
from support.trees import some

from rbdgen.graph.programs.program import Program
from rbdgen.graph.programs.run import run
from rbdgen.graph.programs.specialised import specialised
from rbdgen.graph.programs.verify import verify_program
from rbdgen.model.reduce import reduce
from rbdgen.selection.trace import trace_program
from rbdgen.spatial.ops import Force
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.loops import LoopedForm

COLUMNS, WITH_FORCES = (form for form in FORMS if str(form).startswith("aba") and form.form.name == "columns")

TREES = some("fork", "two chains", "tree", "floating tree")


@pytest.mark.parametrize("tree", TREES)
def test_declared_zeros_are_zero(tree: str) -> None:
    """The form with external forces is tested, as it has all loops of the form without."""
    r = Rationals(len(tree))
    model = r.model(*TREES[tree])
    assert WITH_FORCES.form.loops is not None
    loops: LoopedForm = WITH_FORCES.form.loops(reduce(model))
    n, fext = model.nv, [Force(r.vector(), r.vector()) for _ in model.bodies]
    x = State(q=r.coordinates(model), v=r.numbers(n), a=[], tau=r.numbers(n), fext=fext)
    seen: set[str] = set()
    watched(loops, seen).run(x)
    in_trees = {"motions"} if tree == "two chains" else set()
    assert seen == {"solve", "inverse"} | in_trees


@cache
def programs(form: Form, name: str) -> tuple[Program, Program]:
    """The form's program for a floating robot, and the same without its zeros."""
    reduced = reduce(robot(name, "floating").model)
    whole = trace_program(reduced, form.function, form.form, "graph")
    return whole, specialised(whole)


@pytest.mark.parametrize("name", ["quadruped12", "humanoid30"])
def test_zeros_left_out_change_no_result(name: str) -> None:
    whole, lean = programs(COLUMNS, name)
    verify_program(lean)
    assert lean.cost.total < 0.8 * whole.cost.total
    inputs = random_inputs(robot(name, "floating").model, COLUMNS.function.signature, 3)
    results: dict[str, Any] = run(lean, inputs)
    for output, values in run(whole, inputs).items():
        assert np.array_equal(values, results[output]), output


def test_a_limb_has_one_body() -> None:
    """The base and each of the four legs have an inverse; the loops for dq and dv share their bodies."""
    _, lean = programs(COLUMNS, "quadruped12")
    inverses = [loop for loop in lean.loops if loop.name == "inverse"]
    assert [loop.count for loop in inverses] == [6, 3, 3, 3, 3]
    solves = [loop for loop in lean.loops if loop.name == "solve"]
    assert [loop.count for loop in solves] == [3] * 4 + [3] + [3] * 4
    assert len({id(loop.kernel) for loop in solves}) == 5


def test_rooms_hold_what_is_read() -> None:
    whole, lean = programs(COLUMNS, "quadruped12")

    def touched(program: Program, kind: str) -> set[tuple[str, int]]:
        return {
            (access.array, address)
            for loop in program.loops
            for access in getattr(loop, kind).values()
            for k in range(loop.count)
            for address in access.addresses(k)
            if access.array in program.scratch
        }

    assert touched(whole, "writes") == touched(whole, "reads")
    assert touched(lean, "writes") == touched(lean, "reads") < touched(whole, "reads")
