"""Functions of configurations agree with Pinocchio and with 50 digits, and their C with NumPy."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pinocchio as pin
import pytest
from numpy.typing import NDArray
from support.functions import OF_CONFIGURATIONS
from support.pinocchio_oracle import model_of_numbers
from support.rationals import Rationals
from support.robots import robot

import rbdgen
from rbdgen.checks.pinocchio import configuration_of
from rbdgen.functions.table import lookup
from rbdgen.graph.programs.passes import TO_C, apply
from rbdgen.graph.programs.program import Program, straight_line
from rbdgen.graph.programs.run import run
from rbdgen.model.model import WORLD, Model
from rbdgen.selection.differentiate import Chooser
from rbdgen.selection.trace import trace_graph

Array = NDArray[Any]

EVERY_KIND = Model("every kind of joint", Rationals(1).model((WORLD, 0, 1, 2, 3, 4), "HLSFPR").bodies)
"""A chain of a helical, planar, spherical, floating, prismatic and revolute joint."""

STATES = 5

TINY = (0.0, 1e-300, 1e-160, 1e-30, 1e-15, 1e-12, 1e-9, 1e-7, 1e-5, 1e-4, 1e-3, 0.02)
LARGE = (0.4, 0.9999, 1.0001, 2.0, 3.0)
NEARLY_HALF = (np.pi - 1e-6, np.pi - 1e-12)


@pytest.fixture(scope="module")
def programs() -> dict[str, Program]:
    """The programs as they are printed."""
    return {
        name: apply(straight_line(trace_graph(EVERY_KIND, row, row.forms[0])), TO_C)
        for name, row in OF_CONFIGURATIONS.items()
    }


def states(turn: float) -> tuple[Array, Array]:
    """Draws q and v; v rotates every spherical, floating and planar joint by this angle in unit time."""
    generator = np.random.default_rng(7)
    q, v = (
        EVERY_KIND.manifold.random(generator, (STATES,)),
        generator.standard_normal((STATES, EVERY_KIND.nv)),
    )
    for joint in EVERY_KIND.manifold.joints:
        if joint.nv > 1:
            last = joint.idx_v + joint.nv
            turning = v[:, last - 1 if joint.kind == "planar" else last - 3 : last]
            turning *= turn / np.linalg.norm(turning, axis=1, keepdims=True)
    return q, v


def every_output(programs: dict[str, Program], q: Array, v: Array, end: Array) -> dict[str, Array]:
    """The outputs of all four functions; the last two are from q to `end`."""
    given = {"q": q, "v": v, "q0": q, "q1": end}
    return {
        f"{name} {output}": value
        for name, program in programs.items()
        for output, value in run(program, {x.name: given[x.name] for x in program.inputs}).items()
    }


@pytest.mark.parametrize("turn", [0.0, *LARGE])
def test_they_are_pinocchios(programs: dict[str, Program], turn: float) -> None:
    """They agree with Pinocchio's, except for angles at which Pinocchio's lose digits."""
    theirs = model_of_numbers(EVERY_KIND)
    q, v = states(turn)
    end = EVERY_KIND.manifold.integrate(q, v)
    ours = list(every_output(programs, q, v, end).values())
    for k in range(STATES):
        here, there = (configuration_of(theirs, EVERY_KIND.manifold.joints, x[k]) for x in (q, end))
        expected = (
            pin.integrate(theirs, here, v[k]),
            pin.difference(theirs, here, there),
            *pin.dIntegrate(theirs, here, v[k]),
            *pin.dDifference(theirs, here, there),
        )
        next_q = configuration_of(theirs, EVERY_KIND.manifold.joints, ours[0][k])
        for a, b in zip((next_q, *(x[k] for x in ours[1:])), expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=0, atol=1e-12)


@pytest.mark.parametrize("turn", [*TINY, *LARGE, *NEARLY_HALF])
def test_no_digit_is_lost(programs: dict[str, Program], turn: float) -> None:
    """The results agree with the same operations with 50 digits."""
    q, v = (x[:2] for x in states(turn))
    end = EVERY_KIND.manifold.integrate(q, v)
    ours = every_output(programs, q, v, end)
    with mpmath.workdps(50):
        exactly = np.vectorize(mpmath.mpf, otypes=[object])
        exact = every_output(programs, *map(exactly, (q, v, end)))
    for name, value in ours.items():
        np.testing.assert_allclose(value, exact[name].astype(float), rtol=0, atol=1e-14, err_msg=name)


@pytest.mark.parametrize("turn", [0.02, 0.9999, 1.0001])
def test_what_is_differentiated_is_the_same(programs: dict[str, Program], turn: float) -> None:
    """Below 1 rad these forms use series, whose only error is the rounding of their coefficients."""
    smooth = {
        name: straight_line(trace_graph(EVERY_KIND, row, row.forms[0].for_derivatives))
        for name, row in OF_CONFIGURATIONS.items()
    }
    q, v = (x[:1] for x in states(turn))
    with mpmath.workdps(50):
        exactly = np.vectorize(mpmath.mpf, otypes=[object])
        given = [exactly(x) for x in (q, v, EVERY_KIND.manifold.integrate(q, v))]
        plain, ours = (every_output(each, *given) for each in (programs, smooth))
        for name, value in plain.items():
            assert np.max(np.abs(ours[name] - value)) < 2e-16, name


@pytest.mark.parametrize("name", ["integrate_hvp", "integrate_derivatives_hvp", "difference_derivatives_hvp"])
def test_second_derivatives_lose_no_digit_either(name: str) -> None:
    """A floating joint at rest and in slow rotation is compared with the same operations with 50 digits."""
    model = Model("free", Rationals(1).model((WORLD,), "F").bodies)
    program = Chooser(model, None, "graph").choose(lookup(name, model)).program
    generator = np.random.default_rng(5)
    given = {x.name: generator.standard_normal((1, x.size)) for x in program.inputs}
    q, direction = model.manifold.random(generator, (1,)), generator.standard_normal((1, 6))
    for turn in (0.0, 1e-15, 1e-8, 1e-3):
        v = direction * [1, 1, 1, turn, turn, turn]
        chosen = {**given, "q": q, "v": v, "q0": q, "q1": model.manifold.integrate(q, v)}
        chosen = {x.name: chosen[x.name] for x in program.inputs}
        with mpmath.workdps(50):
            exactly = np.vectorize(mpmath.mpf, otypes=[object])
            exact = run(program, {name: exactly(x) for name, x in chosen.items()})
        for output, value in run(program, chosen).items():
            np.testing.assert_allclose(value, exact[output].astype(float), rtol=0, atol=1e-12, err_msg=output)


@pytest.mark.parametrize("turn", [4.0, 40.0])
def test_more_than_half_a_turn(programs: dict[str, Program], turn: float) -> None:
    q, v = states(turn)
    found = run(programs["integrate"], {"q": q, "v": v})["q_next"]
    np.testing.assert_allclose(found, EVERY_KIND.manifold.integrate(q, v), rtol=0, atol=1e-13)


@pytest.mark.parametrize("turn", [1e-6, 0.3, 2.9])
def test_both_derivatives_are_inverses(programs: dict[str, Program], turn: float) -> None:
    """Separate code computes each derivative. Pinocchio is not accurate enough at the small angles."""
    q, v = states(turn)
    end = EVERY_KIND.manifold.integrate(q, v)
    forth = run(programs["integrate_derivatives"], {"q": q, "v": v})
    back = run(programs["difference_derivatives"], {"q0": q, "q1": end})
    np.testing.assert_allclose(
        back["dv_dq1"] @ forth["dnext_dv"], np.eye(EVERY_KIND.nv) + 0 * back["dv_dq1"], rtol=0, atol=1e-13
    )
    np.testing.assert_allclose(-back["dv_dq1"] @ forth["dnext_dq"], back["dv_dq0"], rtol=0, atol=1e-13)


def test_quaternions_of_any_length_and_sign(programs: dict[str, Program]) -> None:
    q, v = states(1.0)
    other = q.copy()
    for joint in EVERY_KIND.manifold.joints:
        if joint.nq > joint.nv:
            other[:, joint.idx_q + joint.nq - 4 : joint.idx_q + joint.nq] *= -3.0
    end = EVERY_KIND.manifold.integrate(q, v)
    back = run(programs["difference"], {"q0": other, "q1": end})["v"]
    np.testing.assert_allclose(back, v, rtol=0, atol=1e-13)
    found = run(programs["integrate"], {"q": other, "v": v})["q_next"]
    np.testing.assert_allclose(found, EVERY_KIND.manifold.integrate(other, v), rtol=0, atol=1e-13)


@pytest.mark.parametrize("real", ["double", "float"])
def test_the_library_takes_the_c(real: str) -> None:
    """Calls and batches for a floating base agree with NumPy, also where a formula would divide 0 by 0."""
    lib = rbdgen.build(robot("double_pendulum", "floating"), ["integrate", "difference"], real=real)
    q, v = lib.random(0, (9, 1)), np.random.default_rng(1).uniform(-1, 1, (2, lib.manifest["nv"]))
    v[1] = 0
    tolerance = 1e-14 if real == "double" else 1e-6
    end = lib.integrate(q, v)
    assert lib.integrate is lib.functions["integrate"]
    np.testing.assert_allclose(end, lib.manifold.integrate(q, v), rtol=0, atol=tolerance)
    np.testing.assert_allclose(
        lib.difference(q, end), np.broadcast_to(v, (9, 2, 8)), rtol=0, atol=2 * tolerance
    )
    np.testing.assert_array_equal(lib.integrate(q[3, 0], v[0]), end[3, 0])
    np.testing.assert_array_equal(lib.difference(q[3, 0], q[3, 0])[3:6], 0)
