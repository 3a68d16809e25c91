"""Elements of outputs that are always 0, and programs that only compute the others."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from support.forms import FunctionForm, forms_of, parametrize
from support.rationals import Rationals
from support.robots import robot
from support.states import random_inputs

from rbdgen.graph.builder import Builder
from rbdgen.graph.programs.program import Program, straight_line
from rbdgen.graph.programs.run import run
from rbdgen.graph.programs.sparsity import nonzero, sparse
from rbdgen.graph.programs.verify import verify_program
from rbdgen.model.model import WORLD, Model
from rbdgen.model.reduce import reduce
from rbdgen.runtime.sparsity import dense_of, entries_of, sparsity_of
from rbdgen.selection.trace import trace_graph, trace_program
from rbdgen.signature import SizedArgument, SizedSignature, numbers_of, ranges_text

TWO_ARMS = (WORLD, 0, 1, 0)


def program_of(form: FunctionForm, model: Model) -> Program:
    if form.form.loops is None:
        return straight_line(trace_graph(model, form.function, form.form, "graph"))
    return trace_program(reduce(model), form.function, form.form, "graph")


def connected(model: Model) -> NDArray[np.bool_]:
    """The pairs of degrees of freedom of which one moves the other: booleans (nv, nv)."""
    pairs = np.eye(model.nv, dtype=bool)
    for k in range(model.nv):
        for above in model.ancestor_dofs(k):
            pairs[k, above] = pairs[above, k] = True
    return pairs


@parametrize("crba", "rnea_derivatives", "rnea_fext_derivatives")
def test_branches_do_not_meet(form: FunctionForm) -> None:
    """Without other zeros, a matrix of a tree is 0 exactly between branches, in straight lines and in
    loops."""
    model = Rationals(4).model(TWO_ARMS, "RRRR")
    signature = form.function.signature.sized(model.sizes)
    told, _ = sparse(signature, program_of(form, model))
    for output in told.outputs:
        pattern = sparsity_of(output)
        assert not pattern[~connected(model)].any()
        if output.symmetric:
            assert (pattern == connected(model)).all()


@parametrize("crba", "minv", "rnea_derivatives", "aba_derivatives", "aba_fext_derivatives")
def test_packed_outputs_hold_the_same_values(form: FunctionForm) -> None:
    """The packed elements of all forms are those of dense outputs, and symmetric ones are held once."""
    model = Rationals(4).model(TWO_ARMS, "RRPR")
    program, inputs = program_of(form, model), random_inputs(model, form.function.signature, 3)
    signature = form.function.signature.sized(model.sizes)
    told, lean = sparse(signature, program, [x.name for x in signature.outputs])
    verify_program(lean)
    before, after = run(program, inputs), run(lean, inputs)
    for output, whole in zip(told.outputs, signature.outputs, strict=True):
        assert output.dense == whole.shape
        assert after[output.name].shape == (3, *output.shape)
        expected = before[output.name]
        assert (after[output.name] == expected[(..., *entries_of(output))]).all()
        assert np.allclose(dense_of(output, after[output.name]), expected, rtol=1e-13, atol=1e-13)
        if output.symmetric:
            i, j = entries_of(output)
            assert len(i) == (8 if output.name in ("M", "dtau_da") else 10)
            assert (i >= j).all()


def test_quadruped() -> None:
    """M of a quadruped has a block of the base, and for each leg 3 x 6 elements and a triangle of 3 rows."""
    model = robot("quadruped12", "floating").model
    (form, *_) = forms_of("crba")
    signature = form.function.signature.sized(model.sizes)
    (M,) = sparse(signature, program_of(form, model), ["M"])[0].outputs
    assert M.size <= 21 + 4 * (18 + 6)
    assert not sparsity_of(M)[6:9, 9:].any()


def signature_of(*outputs: SizedArgument) -> SizedSignature:
    return SizedSignature("f", (SizedArgument("x", (2,), "1", "anything"),), outputs)


@pytest.mark.parametrize("packed", [False, True])
def test_elements_that_are_computed_apart_are_both_held(packed: bool) -> None:
    """If one pair of elements of a tensor is not symmetric, (0, 1) is held in addition to (1, 0)."""
    builder = Builder()
    x, y = builder.input("x", 2)
    elements = [x, x + y, 0, x - y, y, 0, 0, 0, y]
    program = straight_line(builder.graph([("T", (3, 3), elements)]))
    T = SizedArgument("T", (3, 3), "1", "anything", symmetric=(0, 1))
    signature, lean = sparse(signature_of(T), program, ["T"] if packed else [])
    (told,) = signature.outputs
    assert told.nonzero == (0, 1, 3, 4, 8)
    values = run(lean, {"x": np.array([[2.0, 3.0]])})["T"]
    dense = dense_of(told, values)
    assert dense.shape == (1, 3, 3)
    assert dense[0].tolist() == [[2, 5, 0], [-1, 3, 0], [0, 0, 3]]


def test_an_element_beside_a_zero_is_not_mirrored() -> None:
    """If only one element of a symmetric pair is always 0, both are kept."""
    builder = Builder()
    x, _ = builder.input("x", 2)
    program = straight_line(builder.graph([("T", (2, 2), [0, x, 0, 0])]))
    T = SizedArgument("T", (2, 2), "1", "anything", symmetric=(0, 1))
    signature, lean = sparse(signature_of(T), program, ["T"])
    (told,) = signature.outputs
    assert told.nonzero == (1, 2)
    values = run(lean, {"x": np.array([2.0, 3.0])})["T"]
    assert dense_of(told, values).tolist() == [[0, 2], [0, 0]]


def test_an_output_of_zeros_holds_one() -> None:
    builder = Builder()
    builder.input("x", 2)
    program = straight_line(builder.graph([("T", (2, 2), [0, 0, 0, 0])]))
    T = SizedArgument("T", (2, 2), "1", "anything")
    told, lean = sparse(signature_of(T), program, ["T"])
    assert nonzero(program) == {"T": ()}
    assert told.outputs[0] == replace(T, shape=(1,), nonzero=(0,), dense=(2, 2))
    assert lean.outputs[0].shape == (1,)


@pytest.mark.parametrize(
    ("numbers", "text"), [((), ""), ((3,), "3"), ((0, 1, 2, 5, 7, 8), "0-2 5 7-8"), ((0, 2), "0 2")]
)
def test_texts_of_positions(numbers: tuple[int, ...], text: str) -> None:
    assert ranges_text(numbers) == text
    assert numbers_of(text) == numbers
