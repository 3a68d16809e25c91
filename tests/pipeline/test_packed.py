"""`--packed` and patterns of nonzero elements, from the description to Python, for two arms on one base."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import rbdgen
from rbdgen.checks.check import check
from rbdgen.cli import main
from rbdgen.model.build import Robot
from rbdgen.runtime import Library, open_library

FUNCTIONS = ["rnea", "crba", "minv", "rnea_derivatives"]


def two_arms() -> Robot:
    builder = rbdgen.RobotBuilder("two_arms").add_body("base")
    inertial = {"mass": 2.0, "com": (0.1, 0.02, 0.2), "inertia": (0.02, 0.03, 0.01)}
    for side, y in (("left", 0.3), ("right", -0.3)):
        parent = "base"
        for part, axis in (("upper", (0, 1, 0)), ("lower", (1, 0, 0))):
            body = f"{side}_{part}"
            builder.add_body(body, parent=parent, type="revolute", axis=axis, xyz=(0.1, y, 0.3), **inertial)
            parent = body
    return rbdgen.load_robot(builder)


@pytest.fixture(scope="module")
def dense() -> Library:
    return rbdgen.build(two_arms(), FUNCTIONS)


@pytest.fixture(scope="module")
def packed() -> Library:
    return rbdgen.build(two_arms(), FUNCTIONS, packed=True, variants={"crba": "looped"})


BLOCKS = np.kron(np.eye(2, dtype=bool), np.ones((2, 2), dtype=bool))
"""The nonzero elements of M: the two arms are not coupled."""


def test_python_tells_patterns(dense: Library, packed: Library) -> None:
    for library in (dense, packed):
        assert library.rnea.sparsity.tolist() == [True] * 4
        assert (library.minv.sparsity == BLOCKS).all()
        patterns = library.rnea_derivatives.sparsity
        assert list(patterns) == ["dtau_dq", "dtau_dv", "dtau_da"]
        assert not any((pattern & ~BLOCKS).any() for pattern in patterns.values())
    assert dense.crba.sparsity.shape == dense.crba.signature.outputs[0].shape == (4, 4)
    i, j = packed.crba.entries
    assert list(zip(i, j, strict=True)) == [(0, 0), (1, 0), (1, 1), (2, 2), (3, 2), (3, 3)]


@pytest.mark.parametrize("leading", [(), (33,)])
def test_packed_results_are_the_dense_ones(dense: Library, packed: Library, leading: tuple[int, ...]) -> None:
    """Packed results are those of dense functions up to rounding, in single calls and in batches."""
    q, v, a = np.random.default_rng(0).normal(size=(3, *leading, 4))
    for name, arrays in (("minv", (q,)), ("rnea_derivatives", (q, v, a)), ("crba", (q,))):
        ours, theirs = packed.functions[name](*arrays), dense.functions[name](*arrays)
        filled = packed.functions[name].dense(ours)
        outputs = (filled, theirs) if isinstance(theirs, tuple) else ((filled,), (theirs,))
        for one, other in zip(*outputs, strict=True):
            assert one.shape == other.shape == (*leading, 4, 4)
            assert np.allclose(one, other, rtol=1e-13, atol=1e-13 if name == "crba" else 0.0)
    assert packed.crba(q).shape == (*leading, 6)
    assert (dense.crba.dense(dense.crba(q)) == dense.crba(q)).all()


def test_a_folder_says_what_its_arrays_hold(tmp_path: Path) -> None:
    """The header and the manifest list the elements that arrays hold, and all checks pass."""
    folder = rbdgen.generate(two_arms(), tmp_path, FUNCTIONS, packed=True)
    assert "M [6]" in (folder / "two_arms.h").read_text(encoding="utf-8")
    told = "holds these elements of an array 4 x 4, row by row: 0: 0; 1: 0-1; 2: 2; 3: 2-3; all others are 0"
    assert told in " ".join((folder / "two_arms.h").read_text(encoding="utf-8").split())
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["options"]["packed"] is True
    (M,) = manifest["functions"]["crba"]["outputs"]
    assert (M["shape"], M["dense_shape"], M["symmetric"]) == ([6], [4, 4], [0, 1])
    assert M["nonzero"] == "0 4-5 10 14-15"
    findings = check(folder)
    assert all(finding.passed for finding in findings), findings
    assert {f"{name} = Pinocchio's" for name in FUNCTIONS} <= {finding.what for finding in findings}


def test_a_folder_from_before_patterns_opens(tmp_path: Path) -> None:
    """If the manifest does not list nonzero elements, every element may be nonzero."""
    folder = rbdgen.generate(two_arms(), tmp_path, ["crba"])
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    (M,) = manifest["functions"]["crba"]["outputs"]
    for name in ("symmetric", "nonzero"):
        del M[name]
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    assert open_library(folder).crba.sparsity.all()


def test_command(tmp_path: Path) -> None:
    assert main(["double_pendulum", "-o", str(tmp_path), "-f", "crba", "--packed", "--no-compile"]) == 0
    header = (tmp_path / "double_pendulum" / "double_pendulum.h").read_text(encoding="utf-8")
    assert "M [3]" in header
