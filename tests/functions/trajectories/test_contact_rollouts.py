"""Rollouts of `contact_step` equal single calls bit for bit, with constants of a rollout or one a step."""

from __future__ import annotations

import pickle
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.few import few
from support.hopper import DT, FURTHER, STEPS, at_start, drawn, hopper, same

import rbdgen
from rbdgen.runtime import Library

Array = np.ndarray[Any, Any]
FUNCTIONS = ("contact_step", "contact_step_one", "difference")


def without_vectors() -> Library:
    return rbdgen.build(hopper(), FUNCTIONS, target="portable")


def in_float() -> Library:
    return rbdgen.build(hopper(), FUNCTIONS, real="float")


def in_levels() -> Library:
    return rbdgen.build(hopper(), FUNCTIONS, arch="x86-64-v2")


@pytest.fixture(scope="module")
def lib() -> Library:
    return rbdgen.build(hopper(), FUNCTIONS)


def looped(lib: Library, x: dict[str, Array], *apart: str, name: str = "contact_step") -> list[Array]:
    """The results of single calls, stacked along the axis of steps."""
    axis, now, found = x["dt"].ndim, (x["q"], x["v"]), []
    for k in range(STEPS):
        own = {n: a.take(k, axis) if n in ("tau", *apart) else a for n, a in x.items() if n not in ("q", "v")}
        results = lib.functions[name](*now, **own)
        now = results[:2]
        found.append(results)
    return [np.stack(part, axis) for part in zip(*found, strict=True)]


@pytest.mark.parametrize("leading", [(), (1,), (3,), (2, 19)])
@pytest.mark.parametrize("name", ["contact_step", "contact_step_one"])
def test_rollouts_are_steps_bit_for_bit(lib: Library, name: str, leading: tuple[int, ...]) -> None:
    """Further inputs are constants of a rollout, or have a value for each step; one may do as the others do
    not."""
    x = drawn(lib, leading, name)
    for apart in ((), FURTHER, ("ground",), ("law", "friction")):
        given = at_start(x, *(n for n in FURTHER if n not in apart))
        found = lib.rollout(**given, per_step=apart, scheme=name)
        assert found._fields == ("q", "v", "impulse", "residual")
        expected = looped(lib, given, *apart, name=name)
        same(found, expected)
        end = lib.rollout(**given, per_step=apart, scheme=name, last=True)
        same(end, [part.take(-1, len(leading)) for part in expected])
        same(lib.rollout(**given, per_step=apart, scheme=name, threads=3), expected)
    touching = found.impulse.reshape(-1, 3).any(axis=-1)
    assert len(touching) < 100 or 0.1 < touching.mean() < 0.9


@pytest.mark.parametrize("made", few([in_float], [without_vectors, in_float, in_levels]))
def test_of_all_libraries(made: Any) -> None:
    library = made()
    for leading in ((), (2, 19)):
        x = {
            name: value.astype(library.contact_step.dtype) for name, value in drawn(library, leading).items()
        }
        same(library.rollout(**x, per_step=FURTHER), looped(library, x, *FURTHER))


def test_inputs_are_shared_and_have_defaults(lib: Library) -> None:
    x = drawn(lib, (20,))
    friction = np.array([0.5, 0.7])
    plain = {name: x[name] for name in ("q", "v", "tau", "dt")}
    found = lib.rollout(**plain, friction=friction)
    same(
        found,
        lib.rollout(**plain, friction=friction, ground=[[0, 0, 1, 0]] * 2, law=[1e-4, 0.2, 1, 0, 0.05, 0]),
    )
    same(found, looped(lib, {**plain, "friction": friction}))
    ground = x["ground"][0]
    shared = lib.rollout(**plain, friction=friction, ground=ground, per_step="ground")
    same(shared, lib.rollout(**plain, friction=friction, ground=[ground] * 20, per_step=["ground"]))


@pytest.mark.parametrize("leading", [(), (21,)])
def test_feedback_is_that_of_a_loop(lib: Library, leading: tuple[int, ...]) -> None:
    """The controls are those of a loop in Python; with these, the results are those of steps, bit for bit."""
    x, rng = drawn(lib, leading), np.random.default_rng(3)
    each = (*leading, STEPS)
    gains = rng.uniform(-1, 1, (*each, lib.nv, 2 * lib.nv))
    goals = np.concatenate([lib.random(rng, each), rng.uniform(-1, 1, (*each, lib.nv))], axis=-1)
    found = lib.rollout(**x, per_step=FURTHER, gains=gains, states=goals)
    assert found._fields == ("q", "v", "impulse", "residual", "tau")
    q, v = x["q"], x["v"]
    for k in range(STEPS):
        goal = goals[..., k, :]
        off = np.concatenate([lib.difference(goal[..., : lib.nq], q), v - goal[..., lib.nq :]], axis=-1)
        u = x["tau"][..., k, :] + np.einsum("...ij,...j->...i", gains[..., k, :, :], off)
        np.testing.assert_allclose(found.tau[..., k, :], u, rtol=1e-10, atol=1e-10)
        own = {name: x[name].take(k, len(leading)) for name in FURTHER}
        q, v, _, _ = lib.contact_step(q, v, found.tau[..., k, :], x["dt"], **own)
    same(found[:4], looped(lib, {**x, "tau": found.tau}, *FURTHER))
    end = lib.rollout(**x, per_step=FURTHER, gains=gains, states=goals, last=True, threads=2)
    same(end, [part.take(-1, len(leading)) for part in found])
    held = at_start(x, *FURTHER)
    constant = lib.rollout(**held, gains=0 * gains, states=goals)
    same(constant[:4], looped(lib, held))


@pytest.mark.parametrize("leading", [(), (3,)])
def test_bound_rollouts_and_given_arrays(lib: Library, leading: tuple[int, ...]) -> None:
    x = drawn(lib, leading)
    call = lib.rollout.bind(**x, per_step=FURTHER)
    for _ in range(2):
        same(call(), lib.rollout(**x, per_step=FURTHER))
        x["friction"] *= 0.5
        x["ground"][..., 3] += 1e-3
    out = tuple(np.empty_like(part) for part in call.out)
    assert lib.rollout(**x, per_step=FURTHER, out=out) is out
    same(out, call())
    with pytest.raises(
        rbdgen.RbdgenError, match=r"out must be a tuple of 4 arrays: q, v, impulse, residual$"
    ):
        lib.rollout(**x, per_step=FURTHER, out=out[:2])


def test_nan_stays_in_its_own_rollout(lib: Library) -> None:
    for name in ("q", "tau", "ground", "friction"):
        x = drawn(lib, (9,))
        x["ground"][..., 3] = 1  # all contacts touch
        x[name][4].flat[-1] = np.nan  # of the last step where there is one for each
        found = lib.rollout(**x, per_step=FURTHER)
        assert np.isnan(found.v[4, -1]).any(), name
        assert all(np.isfinite(np.delete(part, 4, axis=0)).all() for part in found)


def test_loaded_and_pickled_libraries(lib: Library, tmp_path: Path) -> None:
    x = drawn(lib, (7,))
    expected = lib.rollout(**x, per_step=FURTHER)
    folder = rbdgen.generate(hopper(), tmp_path, list(FUNCTIONS))
    for other in (rbdgen.build(hopper(), FUNCTIONS), rbdgen.load(folder), pickle.loads(pickle.dumps(lib))):
        same(other.rollout(**x, per_step=FURTHER), expected)


def test_lazy_rollouts(lib: Library) -> None:
    da = pytest.importorskip("dask.array")
    x = drawn(lib, (10,))
    lazy = {name: da.from_array(value, chunks=(4, *value.shape[1:])) for name, value in x.items()}
    found = lib.rollout(**lazy, per_step=FURTHER)
    same([part.compute(scheduler="synchronous") for part in found], lib.rollout(**x, per_step=FURTHER))


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"tau": np.zeros((0, 8))}, r"tau has shape \(0, 8\); give one step at least$"),
    ({"friction": None}, r"friction has dtype object; pass real numbers$"),
    ({"friction": np.zeros(3)}, r"friction has shape \(3,\), expected \(..., 2\)"),
    ({"ground": np.zeros((2, 3))}, r"ground has shape \(2, 3\), expected \(..., 2, 4\)"),
    ({"per_step": ["ground"]}, r"ground has shape \(2, 4\), expected \(..., 5, 2, 4\)"),
    ({"per_step": "tau"}, "per_step names 'tau'; it may name: ground, friction, law$"),
    ({"per_step": 3}, "per_step names 3; it may name: ground, friction, law$"),
    ({"per_step": [["law"]]}, r"per_step names \['law'\]; it may name: ground, friction, law$"),
    (
        {"mu": 1},
        r"unexpected argument 'mu'; call contact_step\.rollout\(q, v, tau, dt, ground, friction, law\)",
    ),
    ({"ground": np.tile([0, 0, 1, 0], (3, 2, 1)), "q": np.zeros((2, 9))}, "leading axes do not broadcast"),
]


@pytest.mark.parametrize(("changed", "message"), REFUSED)
def test_what_does_not_fit_is_refused_in_one_line(
    lib: Library, changed: dict[str, Any], message: str
) -> None:
    given = {**at_start(drawn(lib, ()), *FURTHER), **changed}
    with pytest.raises(rbdgen.RbdgenError, match=message) as raised:
        lib.rollout(**given)
    assert str(raised.value).startswith("contact_step.rollout: ")
    assert "\n" not in str(raised.value)


NO_MEANING: list[tuple[str, int, float, str]] = [
    ("friction", 7, -1, r"friction\[3, 1\] is -1; pass a number that is not negative$"),
    ("law", 12, -1, r"law\[2, 0\] is -1; pass a number that is not negative$"),
    ("ground", 14, 2, r"ground has a normal of length 2, at the point with the number 1; scale normals"),
]


@pytest.mark.parametrize(("name", "place", "value", "message"), NO_MEANING)
def test_what_has_no_meaning_in_a_step_is_refused(
    lib: Library, name: str, place: int, value: float, message: str
) -> None:
    x = drawn(lib, ())
    x[name].flat[place] = value
    with pytest.raises(rbdgen.RbdgenError, match=rf"^contact_step\.rollout: {message}"):
        lib.rollout(**x, per_step=FURTHER)


def test_what_is_missing_is_named(lib: Library) -> None:
    given = at_start(drawn(lib, ()), *FURTHER)
    del given["friction"]
    with pytest.raises(rbdgen.RbdgenError, match=r"^contact_step\.rollout: friction is missing; call"):
        lib.rollout(**given)
    del given["ground"]
    with pytest.raises(rbdgen.RbdgenError, match=r"^contact_step\.rollout: ground is missing; call"):
        lib.rollout(**given, friction=[1, 1], per_step=["ground"])  # its default has no value for each step


def test_a_step_without_further_inputs_has_none_per_step() -> None:
    library = rbdgen.build("double_pendulum", ["step"])
    with pytest.raises(
        rbdgen.RbdgenError, match=r"^step\.rollout: per_step names 'dt'; its step has no such"
    ):
        library.rollout([0, 0], [0, 0], np.zeros((2, 2)), DT, per_step=["dt"])


PROGRAM = """
#include <stdio.h>
#include <string.h>
#include "hopper.h"
#include "hopper_batch.h"
enum {{ N = {steps} }};
int main(void)
{{
    const double q[9] = {{{q}}}, v[8] = {{{v}}}, tau[N * 8] = {{{tau}}}, dt = {dt};
    const double ground[N * 8] = {{{ground}}}, friction[2] = {{{friction}}}, law[6] = {{{law}}};
    double qs[2][N * 9], vs[2][N * 8], impulses[2][N * 6], residuals[2][N];
    hopper_contact_step_rollout(q, v, tau, &dt, ground, 8, friction, 0, law, 0, N, 0,
                                qs[0], vs[0], impulses[0], residuals[0]);
    hopper_contact_step_rollout_batch(1, q, 0, v, 0, tau, 0, &dt, 0, ground, 0, 8, friction, 0, 0, law, 0, 0,
                                      N, 0, qs[1], vs[1], impulses[1], residuals[1]);
    for (int k = 0; k < N * 6; ++k)
        printf("%.17g\\n", impulses[0][k]);
    return memcmp(qs[0], qs[1], sizeof qs[0]) || memcmp(impulses[0], impulses[1], sizeof impulses[0]);
}}
"""


def test_c_takes_the_distance_between_the_values_of_steps(lib: Library, tmp_path: Path) -> None:
    """The ground changes from step to step, and nothing else does."""
    x = at_start(drawn(lib, ()), "friction", "law")
    numbers = {name: ", ".join(map(repr, value.ravel().tolist())) for name, value in x.items()}
    folder = rbdgen.generate(hopper(), tmp_path, ["contact_step"], compiled=False)
    source, program = tmp_path / "rolled.c", tmp_path / "rolled"
    source.write_text(PROGRAM.format(steps=STEPS, **numbers))
    files = [folder / f"hopper_contact_step{suffix}.c" for suffix in ("", "_batch")]
    flags = ["-O1", "-ffp-contract=off", "-march=native", "-Wall", "-Werror", f"-I{folder}"]
    command = ["gcc", *flags, source, *files, "-lm", "-o", program]
    subprocess.run(list(map(str, command)), check=True)
    told = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    found = np.array(told.split(), float).reshape(STEPS, 6)
    np.testing.assert_allclose(found, lib.rollout(**x, per_step=["ground"]).impulse, rtol=1e-9, atol=1e-12)
