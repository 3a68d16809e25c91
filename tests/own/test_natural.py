"""Texts as users write them: what they take for granted works, in the library and in frameworks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.own import ARM

import rbdgen
from rbdgen.cli import main
from rbdgen.errors import ArrayTypeError, OptionError
from rbdgen.functions.table import lookup

WEIGHTS = {"w": rbdgen.Quantity("1", 2, held=True, range=(0, 1))}


@rbdgen.function(inputs=WEIGHTS, outputs={"cost": "1"})
def barrier(robot: Any, q: Any, v: Any, tau: Any, w: Any) -> Any:
    """The effort, and a barrier at the limits of the joints; the logarithm of a negative number is NaN."""
    return w[0] * tau @ tau - w[1] * np.sum(np.log(robot.upper - q) + np.log(q - robot.lower))


@rbdgen.function(outputs={"m": "1", "d": "1"})
def manipulability(robot: Any, q: Any) -> Any:
    """The manipulability of the tool (Yoshikawa 1985), and a determinant without symmetry."""
    J = robot.frame_jacobian_local(q)[0, :3]
    return np.sqrt(np.linalg.det(J @ J.T)), np.linalg.det(J[:, :3])


def test_self_tests_leave_out_states_without_results() -> None:
    """Half of the self-test's first states are outside of the barrier."""
    library = rbdgen.build(ARM, functions=[barrier, "barrier_gradient", "barrier_hessian"])
    q, v, tau, w = 0.3 * np.ones(7), np.zeros(7), np.arange(7.0), np.array([0.5, 0.25])
    value, by_q, _, by_tau = library.barrier_gradient(q, v, tau, w)
    assert value == pytest.approx(barrier(ARM, q, v, tau, w), rel=1e-12)
    np.testing.assert_allclose(by_q, 0.25 * (1 / (ARM.upper - q) - 1 / (q - ARM.lower)), rtol=1e-12)
    np.testing.assert_allclose(by_tau, tau, rtol=1e-12)
    assert np.isnan(library.barrier(4 * np.ones(7), v, tau, w))


def test_a_function_without_finite_results_asks_for_a_range() -> None:
    @rbdgen.function(inputs={"x": "1"}, outputs={"y": "1"})
    def far(robot: Any, x: Any) -> Any:
        """Finite for large numbers alone."""
        return np.log(x - 100)

    with pytest.raises(
        rbdgen.RbdgenError, match=r"^function 'far': its results are finite in only 0 .* a range"
    ):
        rbdgen.build(ARM, functions=[far])


@pytest.fixture
def jax() -> Iterator[Any]:
    """JAX with numbers of double precision."""
    jax = pytest.importorskip("jax")
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield jax
    jax.config.update("jax_enable_x64", before)


def test_jax_differentiates_by_inputs_that_are_not_held(jax: Any) -> None:
    library = rbdgen.build(ARM, functions=[barrier, "barrier_vjp", "barrier_jvp"])
    q, v, tau, w = 0.3 * np.ones(7), np.zeros(7), np.arange(7.0), np.array([0.5, 0.25])
    by_q, by_tau = jax.grad(library.jax.barrier, argnums=(0, 2))(q, v, tau, w)
    np.testing.assert_allclose(by_q, 0.25 * (1 / (ARM.upper - q) - 1 / (q - ARM.lower)), rtol=1e-12)
    np.testing.assert_allclose(by_tau, tau, rtol=1e-12)
    with pytest.raises(ArrayTypeError, match=r"no derivatives by w; .* without held=True"):
        jax.grad(library.jax.barrier, argnums=3)(q, v, tau, w)


def test_determinants() -> None:
    library = rbdgen.build(ARM, functions=[manipulability])
    q = np.linspace(-1, 1, 7)
    for found, expected in zip(library.manipulability(q), manipulability(ARM, q), strict=True):
        assert found == pytest.approx(expected, rel=1e-12)
    with pytest.raises(OptionError, match=r"np\.linalg\.det: the matrix is 7 x 7, and 4 is the largest"):
        rbdgen.function(
            lambda robot, q: np.linalg.det(robot.crba(q)), outputs={"d": "1"}, name="d"
        ).composition(ARM)


def test_unfinished_names_are_completed() -> None:
    """`frame_jacobian` is no Jacobian of a function called frame."""
    with pytest.raises(
        OptionError, match=r"^unknown function 'frame_jacobian'; did you mean 'frame_jacobian_"
    ):
        lookup("frame_jacobian", ARM.model)


TWO = '''
import rbdgen

@rbdgen.function(outputs={"tau": "tau"})
def balanced(robot, q, v):
    """Damping with compensation of gravity."""
    return robot.gravity(q) - 0.5 * v

@rbdgen.function(outputs={"p": ("m", 3)})
def tool(robot, q):
    """The tool, of robots that have a frame."""
    return robot.frame_placement(q).p[0]
'''


def test_functions_of_a_file_that_are_not_named_need_not_fit(tmp_path: Path, capsys: Any) -> None:
    file = tmp_path / "two.py"
    file.write_text(TWO, encoding="utf-8")
    told = ["arm7", "--own", str(file), "--out", str(tmp_path / "out"), "--no-compile"]
    assert main([*told, "-f", "balanced,balanced_vjp"]) == 0
    assert main([*told, "-f", "balanced,tool"]) == 2
    assert "'tool'" in capsys.readouterr().err
    assert main([*told, "-f", "balancd"]) == 2
    assert "did you mean 'balanced'" in capsys.readouterr().err
