"""Rollouts with feedback in C equal a loop of `difference` and `step` in Python; bound rollouts."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest

import rbdgen
from rbdgen.runtime import Library

Array = np.ndarray[Any, Any]
STEPS = 4
DT = 0.01


@pytest.fixture(scope="module")
def pendulum() -> Library:
    return rbdgen.build("double_pendulum", ["step", "step_rk4", "difference"])


def of_all_joint_types() -> Library:
    """A robot with all joint types on a floating base, one of which follows another."""
    builder = rbdgen.RobotBuilder("joints").add_body("root", mass=2, inertia=(0.1, 0.2, 0.15))
    types: tuple[Any, ...] = (
        "revolute",
        "spherical",
        "prismatic",
        "planar",
        "helical",
        "universal",
        "revolute",
    )
    for k, kind in enumerate(types):
        one = kind not in ("spherical", "planar")
        builder.add_body(
            f"body{k}",
            parent=f"body{k - 1}" if k % 3 else "root",
            type=kind,
            axis=(0.6, 0.8, 0) if one else None,
            second_axis=(0, 0, 1) if kind == "universal" else None,
            pitch=0.1 if kind == "helical" else None,
            mimic=("body0_joint", -0.5, 0.1) if k == len(types) - 1 else None,
            xyz=(0.1, -0.2, 0.3),
            mass=1,
            com=(0.05, 0, 0.1),
            inertia=(0.02, 0.03, 0.025),
        )
    lib = rbdgen.build(rbdgen.load_robot(builder, base="floating"), ["step", "difference"])
    kinds = {joint["kind"] for joint in lib.manifest["manifold"]}
    assert kinds == {"floating", "spherical", "planar", "angle", "slide", "screw"}
    assert lib.manifest["mimic"]
    return lib


def with_parameters() -> Library:
    """Every function takes a table as its last argument."""
    return rbdgen.build("double_pendulum", ["step", "difference"], params=["mass:*"])


def without_vectors() -> Library:
    """A library for a target without batch functions, so that every call in C handles one state."""
    return rbdgen.build("double_pendulum", ["step", "difference"], target="portable")


def in_float() -> Library:
    return rbdgen.build("double_pendulum", ["step", "difference"], real="float")


def drawn(lib: Library, leading: tuple[int, ...], rows: int = STEPS) -> dict[str, Array]:
    """Inputs of a rollout with feedback whose controls stay bounded."""
    rng = np.random.default_rng(len(leading))
    return {
        "q": lib.random(rng, leading),
        "v": rng.uniform(-1, 1, (*leading, lib.nv)),
        "tau": rng.uniform(-1, 1, (*leading, STEPS, lib.nv)),
        "dt": rng.uniform(0.5, 1, leading) * DT,
        "gains": rng.uniform(-1, 1, (*leading, STEPS, lib.nv, 2 * lib.nv)),
        "states": np.concatenate(
            [lib.random(rng, (*leading, rows)), rng.uniform(-1, 1, (*leading, rows, lib.nv))], axis=-1
        ),
    }


def looped(lib: Library, x: dict[str, Array], **table: Array) -> tuple[Array, Array, Array]:
    """Computes the same rollouts by single calls of `difference` and `step`."""
    q, v, found = x["q"], x["v"], []
    for k in range(STEPS):
        qs, vs = np.split(x["states"][..., k, :], [lib.nq], axis=-1)
        off = np.concatenate([lib.difference(qs, q), v - vs], axis=-1)
        tau = x["tau"][..., k, :] + np.einsum("...ij,...j->...i", x["gains"][..., k, :, :], off)
        q, v = lib.step(q, v, tau, x["dt"], **table)
        found.append((q, v, tau))
    return cast(
        tuple[Array, Array, Array], tuple(np.stack(part, axis=-2) for part in zip(*found, strict=True))
    )


def close(results: Any, expected: Any, tolerance: float = 1e-10) -> None:
    for result, right in zip(results, expected, strict=True):
        assert result.shape == right.shape
        np.testing.assert_allclose(result, right, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("made", [of_all_joint_types, with_parameters, without_vectors, in_float])
def test_the_feedback_is_that_of_difference_and_step(made: Any) -> None:
    lib = made()
    tolerance = 1e-4 if lib.step.dtype == np.float32 else 1e-9
    for leading in ((), (1,), (2, 19)):
        x = drawn(lib, leading)
        close(lib.rollout(**x), looped(lib, x), tolerance)


def test_shared_gains_threads_and_schemes(pendulum: Library) -> None:
    x = drawn(pendulum, (40,), STEPS + 1)
    x["gains"], x["tau"], x["dt"] = x["gains"][0], x["tau"][0], np.array(DT)
    found = pendulum.rollout(**x)
    assert found._fields == ("q", "v", "tau")
    close(found, looped(pendulum, x))
    for threads in (2, 3):
        for result, right in zip(pendulum.rollout(**x, threads=threads), found, strict=True):
            np.testing.assert_array_equal(result, right)
    end = pendulum.rollout(**x, last=True)
    for result, right in zip(end, found, strict=True):
        np.testing.assert_array_equal(result, right[:, -1])
    for k in (0, 39):  # a single rollout has the bits of one in a batch
        one = {name: a[k] if name in ("q", "v", "states") else a for name, a in x.items()}
        for result, right in zip(pendulum.rollout(**one), found, strict=True):
            np.testing.assert_array_equal(result, right[k])
    fourth = pendulum.rollout(**x, scheme="step_rk4")
    assert not np.array_equal(fourth.q, found.q)
    np.testing.assert_allclose(fourth.q, found.q, atol=1e-2)


def test_without_gains_the_controls_are_those_given(pendulum: Library) -> None:
    x = drawn(pendulum, (3,))
    plain = {name: x[name] for name in ("q", "v", "tau", "dt")}
    without = pendulum.rollout(**plain)
    found = pendulum.rollout(**plain, gains=0 * x["gains"], states=x["states"])
    np.testing.assert_array_equal(found.tau, x["tau"])
    np.testing.assert_array_equal(found.q, without.q)
    assert pendulum.rollout(**plain, gains=None, states=None)._fields == ("q", "v")


def test_nan_stays_in_its_own_rollout(pendulum: Library) -> None:
    x = drawn(pendulum, (5,))
    x["gains"][2, 1, 0, 0] = np.nan
    found = pendulum.rollout(**x)
    assert np.isnan(found.q[2, 1:]).any(axis=-1).all()
    assert np.isfinite(np.delete(found.q, 2, axis=0)).all()
    assert np.isfinite(found.q[2, 0]).all()


@pytest.mark.parametrize("leading", [(), (3,)])
def test_bound_rollouts_read_their_arrays_anew(pendulum: Library, leading: tuple[int, ...]) -> None:
    x = drawn(pendulum, leading)
    q, v, tau = x["q"], x["v"], x["tau"]
    plain = pendulum.rollout.bind(q, v, tau, DT)
    feedback = pendulum.rollout.bind(q, v, tau, DT, gains=x["gains"], states=x["states"], scheme="step")
    end = pendulum.step.rollout.bind(q, v, tau, dt=np.array(DT), last=True)  # type: ignore[attr-defined]
    for _ in range(2):
        assert plain() is plain.out
        for result, right in zip(plain(), pendulum.rollout(q, v, tau, DT), strict=True):
            np.testing.assert_array_equal(result, right)
        for result, right in zip(feedback(), pendulum.rollout(**{**x, "dt": DT}), strict=True):
            np.testing.assert_array_equal(result, right)
        for result, right in zip(end(), plain.out, strict=True):
            np.testing.assert_array_equal(result, right[..., -1, :])
        q[...] += 0.5
    with pytest.raises(
        rbdgen.RbdgenError, match=r"^step\.rollout\.bind: v must be a float64 array in C order"
    ):
        pendulum.rollout.bind(q, v.tolist(), tau, DT)


def test_results_are_written_where_they_are_wanted(pendulum: Library) -> None:
    x = drawn(pendulum, (2,))
    out = (np.empty((2, STEPS, 2)), np.empty((2, STEPS, 2)), np.empty((2, STEPS, 2)))
    assert pendulum.rollout(**x, out=out) is out
    for result, right in zip(out, pendulum.rollout(**x), strict=True):
        np.testing.assert_array_equal(result, right)
    with pytest.raises(
        rbdgen.RbdgenError, match=r"^step\.rollout: out must be a tuple of 3 arrays: q, v, tau$"
    ):
        pendulum.rollout(**x, out=out[:2])
    with pytest.raises(rbdgen.RbdgenError, match=r"^step\.rollout: out for tau overlaps tau"):
        pendulum.rollout(**x, out=(*out[:2], x["tau"]))


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"gains": np.zeros((STEPS, 2, 3))}, r"gains has shape \(4, 2, 3\), expected \(..., 4, 2, 4\)"),
    ({"gains": np.zeros((STEPS - 1, 2, 4))}, r"gains has shape \(3, 2, 4\), expected"),
    ({"states": np.zeros((STEPS, 3))}, r"states has shape \(4, 3\), expected \(..., 4, 4\)"),
    ({"states": np.zeros((STEPS + 2, 4))}, r"states has shape \(6, 4\), expected \(..., 4, 4\)"),
    ({"states": np.zeros(4)}, r"states has shape \(4,\), expected"),
    ({"states": [[1.0], [1.0, 2.0]]}, "states is not an array; pass numbers, no ragged lists"),
    ({"states": None}, r"states is missing; call step\.rollout\(q, v, tau, dt, gains, states\)"),
    ({"gains": None}, r"gains is missing; call step\.rollout"),
    ({"gains": np.zeros((2, STEPS, 2, 4)), "q": np.zeros((3, 2))}, "leading axes do not broadcast"),
    ({"gains": np.zeros((STEPS, 2, 4), complex)}, "gains has dtype complex128; pass real numbers"),
    ({"tau": np.zeros(2)}, r"tau has shape \(2,\), expected \(..., N, 2\), a row for each of N steps"),
]


@pytest.mark.parametrize(("changed", "message"), REFUSED)
def test_what_does_not_fit_is_refused_in_one_line(
    pendulum: Library, changed: dict[str, Any], message: str
) -> None:
    with pytest.raises(rbdgen.RbdgenError, match=message) as raised:
        pendulum.rollout(**{**drawn(pendulum, ()), **changed})
    assert str(raised.value).startswith("step.rollout: ")
    assert "\n" not in str(raised.value)


def test_the_function_that_feedback_needs_is_named(pendulum: Library) -> None:
    lib = rbdgen.build("double_pendulum", ["step"])
    with pytest.raises(
        rbdgen.RbdgenError, match=r"^step\.rollout: feedback takes the function difference, wh"
    ):
        lib.rollout(**drawn(pendulum, ()))


def test_many_numbers_of_steps(pendulum: Library) -> None:
    """The calls for a few numbers of steps are kept; those for others replace them."""
    q, v, tau = np.zeros(2), np.zeros(2), np.ones((200, 2))
    whole = pendulum.rollout(q, v, tau, DT)
    for steps in range(1, 200):
        np.testing.assert_array_equal(pendulum.rollout(q, v, tau[:steps], DT).q, whole.q[:steps])
