"""The experiments of examples/derivatives: all methods give the same derivatives, and the page tells them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.few import few
from support.limbs import limbed
from support.robots import BUNDLED

import rbdgen
from benchmarks.contestants import Contest
from benchmarks.measurement import Measurement
from benchmarks.peers import pinocchio_cpp
from benchmarks.states import random_states
from benchmarks.toolchain import ToolError
from examples.derivatives import __main__ as experiments
from examples.derivatives import precision
from examples.derivatives.automatic import in_tangent_space
from examples.derivatives.generated import Effort
from examples.derivatives.measured import ROWS, Entry, measured, of_rbdgen, relative_error, told
from examples.derivatives.page import PAPER, page
from examples.derivatives.robots import IN_THE_PAPER, robots
from rbdgen.model.build import Base
from rbdgen.pipeline.robot import load_robot

FOLDER = Path(experiments.__file__).parent
LEGS, JOINTS = 3, 1
NV = 6 + LEGS * JOINTS
LITTLE = Effort(1, 0.0)


def pendulum(base: Base) -> Contest:
    return Contest("double_pendulum", BUNDLED["double_pendulum"], base)


@pytest.fixture(scope="module")
def legged(tmp_path_factory: pytest.TempPathFactory) -> Contest:
    """A floating trunk with three legs of one joint each."""
    path = tmp_path_factory.mktemp("legged") / "legged.urdf"
    path.write_text(limbed([("revolute",) * JOINTS] * LEGS))
    return Contest("legged", path, "floating")


@pytest.mark.parametrize("base", few(["fixed"], ["fixed", "floating"]))
def test_all_methods_agree(base: Base) -> None:
    found = measured(pendulum(base), LITTLE, compiled_peers=False)["functions"]
    assert list(found) == list(ROWS)
    for name, entries in found.items():
        automatic = name in ("rnea", "aba") or name.endswith("jacobian")
        assert list(entries) == (["rbdgen", "CasADi"] if automatic else ["rbdgen"])
        for entry in entries.values():
            if name.endswith("differences"):
                assert 1e-11 < entry["error"] < 1e-5
            else:
                assert entry["error"] < 1e-12


def test_generated_derivatives_are_those_of_pinocchio() -> None:
    contest = pendulum("floating")
    states = random_states(8, floating=True)
    entries = of_rbdgen(load_robot(contest.urdf, contest.base), states, LITTLE)
    model = pinocchio_cpp.load_model(contest.urdf, floating=True)
    shapes = {1: (8,), 2: (8, 8)}
    for name, matrices in (
        ("rnea", 1),
        ("aba", 1),
        ("rnea_derivatives", 2),
        ("aba_derivatives", 2),
        ("minv", 2),
    ):
        outputs = [x[:4].reshape(4, *shapes[matrices]) for x in entries[name].outputs]
        assert pinocchio_cpp.worst_error({name: outputs}, model, states) < 1e-12


@pytest.mark.parametrize("wrong", [1e-3, np.nan])
def test_wrong_results_are_not_timed(wrong: float) -> None:
    entry = Entry(Measurement((1.0,), "", ()), (np.full((2, 3), 1 + wrong),))
    with pytest.raises(ToolError, match=r"minv of somebody: .* off from the analytical results"):
        told("minv of somebody", entry, (np.ones((2, 3)),))


def test_errors_are_relative_to_each_result() -> None:
    big, small = np.full((1, 2), 1e6), np.full((1, 2), 1e-6)
    assert relative_error((big + 1, small), (big, small)) == pytest.approx(1e-6)
    assert relative_error((big, 2 * small), (big, small)) == pytest.approx(1)


def test_the_tangent_space_is_that_of_integrate() -> None:
    """Derivatives by q of the components of q themselves are T(q), the derivative of `integrate`."""
    lib = rbdgen.build(load_robot(BUNDLED["double_pendulum"], "floating"), ["integrate"])
    q, h = lib.random(0), 1e-6
    nv, nq = lib.nv, lib.nq
    rows = np.zeros((1, nv, nq + 2 * nv))
    for first in (0, 1):  # nv of the nq coordinates at a time
        rows[0, :, :nq] = np.eye(nv, nq, first)
        found = in_tangent_space(rows, q[None])[0][0]
        steps = h * np.eye(nv)
        moved = (lib.integrate(np.tile(q, (nv, 1)), steps) - lib.integrate(np.tile(q, (nv, 1)), -steps)) / (
            2 * h
        )
        np.testing.assert_allclose(found, moved.T[first : first + nv], rtol=0, atol=1e-9)


def test_analytical_zeros_are_exact_and_differences_miss_them(legged: Contest) -> None:
    """Fig. 3 of the paper; joints of different legs do not act on each other at any state."""
    for found in precision.zeros(legged).values():
        assert (found.analytical == 0).all()
        assert np.count_nonzero(found.differences) > NV**2 / 4
        assert np.abs(found.differences).max() > 1e-10
    library = precision._library(legged)
    q, v = library.random(0), np.linspace(-1, 1, NV)
    leg = (np.arange(NV) - 6) // JOINTS
    apart = (leg[:, None] != leg) & (leg >= 0) & (leg[:, None] >= 0)
    for matrix in library.rnea_derivatives(q, v, v):
        assert (matrix[apart] == 0).all()
        assert np.count_nonzero(matrix[~apart]) > NV**2 / 4


def test_errors_of_differences_have_their_orders(legged: Contest) -> None:
    """At large steps, errors fall with the step or with its square; at small ones they grow by rounding."""
    steps = np.array(precision.STEPS)
    for found in precision.errors(legged).values():
        assert found.forward.min() > found.central.min()
        assert found.forward[-1] > 10 * found.forward.min()
        for errors, order in ((found.forward, 1), (found.central, 2)):
            # Between 1e-2 and 1e-3; a function that is quadratic in v has no error of the second order.
            slope = np.log(errors[2] / errors[4]) / np.log(steps[2] / steps[4])
            assert slope == pytest.approx(order, abs=0.1) or errors[2] < 1e-11


def test_the_page_tells_the_results() -> None:
    results = json.loads((FOLDER / "results.json").read_text(encoding="utf-8"))
    assert page(results) == (FOLDER / "results.md").read_text(encoding="utf-8")
    assert [robot["robot"] for robot in results["robots"]] == [contest.name for contest in robots()]
    assert [robot["dof"] for robot in results["robots"]] == [7, 18, 36]
    for robot in results["robots"]:
        assert list(robot["functions"]) == list(ROWS)
        assert set(robot["functions"]["rnea_differences"]) == {"rbdgen", "Pinocchio"}
    assert set(PAPER) == set(IN_THE_PAPER.values())


def test_the_page_says_where_rbdgen_is_slower() -> None:
    results = json.loads((FOLDER / "results.json").read_text(encoding="utf-8"))
    fast: dict[str, Any] = results["robots"][1]["functions"]["minv"]
    fast["Pinocchio"]["ns"] = fast["rbdgen"]["ns"] / 4
    assert "- M^-1, recursion of hyq: Pinocchio takes 1/4.00 of rbdgen's time" in page(results)


def test_pages_and_figures_are_written(tmp_path: Path) -> None:
    """The same results give the same files."""
    results = json.loads((FOLDER / "results.json").read_text(encoding="utf-8"))
    experiments.written(tmp_path, results["robots"], pendulum("floating"))
    first = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert set(first) == {"results.json", "results.md", "times.svg", "precision.svg"}
    experiments.written(tmp_path, [], pendulum("floating"))
    assert first == {path.name: path.read_bytes() for path in tmp_path.iterdir()}
