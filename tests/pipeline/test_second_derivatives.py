"""Second derivatives from the description to Python: packed entries, their indices, and dense tensors."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from support.forms import FunctionForm, relative_error, run_on_floats
from support.functions import SECOND
from support.robots import robot
from support.states import random_inputs

import rbdgen
from rbdgen.checks.check import check
from rbdgen.functions.table import TABLE
from rbdgen.options import Options
from rbdgen.runtime import Library


@pytest.fixture(scope="module")
def library() -> Library:
    return rbdgen.build(robot("double_pendulum"), list(SECOND))


@pytest.mark.parametrize("function", SECOND)
def test_compiled(library: Library, function: str) -> None:
    """Dense tensors are those of the textbook's form; single calls and batches give the same bits."""
    row = SECOND[function]
    inputs = random_inputs(robot("double_pendulum").model, row.signature, 33)
    compiled = library.functions[row.name]
    packed = compiled(*inputs.values())
    wanted = run_on_floats(FunctionForm(row, row.forms[0]), robot("double_pendulum").model, inputs)
    for name, ours, theirs in zip(packed._fields, compiled.dense(packed), wanted, strict=True):
        assert ours.shape == (33, 2, 2, 2)
        assert relative_error(ours, theirs, floor=1.0) < 1e-12
        assert (np.abs(theirs[:, ~compiled.sparsity[name]]) < 1e-12).all()
        at = compiled.entries[name]
        assert np.allclose(getattr(packed, name), theirs[(..., *at)], rtol=1e-12, atol=1e-12)
    alone = compiled(*(values[7] for values in inputs.values()))
    for ours, theirs in zip(alone, packed, strict=True):
        assert ours.tolist() == theirs[7].tolist()


def test_entries(library: Library) -> None:
    """Only derivatives by the elbow's angle are not 0, and only one of two symmetric elements is kept."""
    indices = np.stack(library.rnea_second.entries["qa"], axis=1).tolist()
    assert indices == [[0, 0, 1], [1, 0, 1]]


def test_a_folder(tmp_path: Path) -> None:
    """The manifest has the functions, and identities with the first derivatives are checked."""
    folder = rbdgen.generate(
        robot("double_pendulum"),
        tmp_path,
        ["rnea_derivatives", "rnea_second", "aba_derivatives", "aba_second"],
    )
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    qq, *_, qa = manifest["functions"]["rnea_second"]["outputs"]
    assert (qa["kind"], qa["shape"], qa["dense_shape"]) == ("tensor", [2], [2, 2, 2])
    assert (qa["nonzero"], qa["symmetric"], qq["symmetric"]) == ("1 5", [0, 1], [1, 2])
    findings = {finding.what: finding.passed for finding in check(folder)}
    assert False not in findings.values()
    assert findings["rnea_derivatives is affine in a, as rnea_second says"]
    assert findings["aba_derivatives is affine in tau, as aba_second says"]
    assert all(findings[f"{name} = Pinocchio's"] is None for name in SECOND)


def test_never_by_default() -> None:
    assert not set(SECOND) & set(Options().functions)
    assert not set(SECOND) & set(TABLE)


@pytest.mark.parametrize("engine", ["casadi", "sympy"])
def test_traced_by_other_engines(engine: str) -> None:
    """A traced tensor is one matrix with the rows of all its matrices in order."""
    traced = rbdgen.trace(robot("double_pendulum"), "rnea_second", engine=engine)
    shapes = [traced.size_out(k) for k in range(4)] if engine == "casadi" else [x.shape for x in traced[1]]
    assert [tuple(shape) for shape in shapes] == [(4, 2)] * 4
