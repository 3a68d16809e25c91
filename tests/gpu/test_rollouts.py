"""Rollouts on a GPU, by a driver that runs kernels on the CPU."""

from __future__ import annotations

import ctypes
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.cuda import interpreted, same_bits
from support.driver import StandIn, compiled
from support.tools import need_modules

import rbdgen
from rbdgen.emit.package import FunctionSource
from rbdgen.gpu.launch import Launch
from rbdgen.gpu.library import KernelLibrary
from rbdgen.options import Options
from rbdgen.pipeline.design import design_functions
from rbdgen.pipeline.request import Request

Array = np.ndarray[Any, Any]

ROLLOUTS, STEPS, DT = 70, 4, 0.01


@cache
def step() -> FunctionSource:
    options = Options.of(target="cuda", functions=["step"], real="float")
    return design_functions(Request(rbdgen.load_robot("double_pendulum"), options, package=False))[0]


def drawn(*leading: int, seed: int = 0) -> Array:
    """An array (*leading, 2)."""
    return np.random.default_rng(seed).standard_normal((*leading, 2)).astype(np.float32)


def repeated(q: Array, v: Array, tau: Array) -> tuple[Array, Array]:
    """The states after every step, (ROLLOUTS, STEPS, 2) each, by the interpreter; tau has these axes."""
    dt, states = np.full((len(q), 1), DT, np.float32), []
    for k in range(STEPS):
        found = interpreted(step(), {"q": q, "v": v, "tau": tau[:, k], "dt": dt}, fuse=True)
        q, v = found["q_next"], found["v_next"]
        states.append((q, v))
    return np.stack([q for q, _ in states], axis=1), np.stack([v for _, v in states], axis=1)


def test_bits_of_rollouts(lib: KernelLibrary, driver: StandIn) -> None:
    q, v, tau = drawn(ROLLOUTS), drawn(ROLLOUTS, seed=1), drawn(ROLLOUTS, STEPS, seed=2)
    arrays = [lib.to_device(x) for x in (q, v, tau)]
    expected = repeated(q, v, tau)
    found = lib.rollout(*arrays, DT)
    assert found._fields == ("q", "v")
    assert [part.shape for part in found] == [(ROLLOUTS, STEPS, 2)] * 2
    last = lib.step.rollout(*arrays, dt=DT, last=True)
    assert [part.shape for part in last] == [(ROLLOUTS, 2)] * 2
    for part, end, wanted in zip(found, last, expected, strict=True):
        assert same_bits(part.numpy(), wanted)
        assert same_bits(end.numpy(), wanted[:, -1])
    assert driver.settings.launches == 2
    assert driver.settings.modules == 1


def test_controls_and_states_of_all_rollouts(lib: KernelLibrary, driver: StandIn) -> None:
    """An array without leading axes is that of all rollouts; without any there is one rollout."""
    q, v, tau = drawn(ROLLOUTS), drawn(), drawn(STEPS)
    found = lib.rollout(*map(lib.to_device, (q, v, tau)), DT, last=True)
    expected = repeated(q, np.tile(v, (ROLLOUTS, 1)), np.tile(tau, (ROLLOUTS, 1, 1)))
    for part, wanted in zip(found, expected, strict=True):
        assert same_bits(part.numpy(), wanted[:, -1])
    single = lib.rollout(*map(lib.to_device, (q[0], v, tau)), DT)
    for part, wanted in zip(single, expected, strict=True):
        assert part.shape == (STEPS, 2)
        assert same_bits(part.numpy(), wanted[0])


def test_reading_beyond_an_array_is_seen(
    lib: KernelLibrary, driver: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kernel that computes one step more than there are controls fails on the stand-in for the driver."""
    own = Launch.set_arguments

    def one_more(launch: Launch, caller: str, arguments: Any, facts: Any) -> None:
        own(launch, caller, {**arguments, "steps": STEPS + 1}, facts)

    monkeypatch.setattr(Launch, "set_arguments", one_more)
    q, v, tau = (lib.to_device(x) for x in (drawn(ROLLOUTS), drawn(ROLLOUTS), drawn(ROLLOUTS, STEPS)))
    found = lib.rollout(q, v, tau, DT, last=True)
    with pytest.raises(rbdgen.RbdgenError, match=r"CUDA_ERROR_ILLEGAL_ADDRESS"):
        found.q.numpy()
    ctypes.c_int.in_dll(driver.library, "fake_error").value = 0


def test_bound_rollouts_only_launch(lib: KernelLibrary, driver: StandIn) -> None:
    arrays = [lib.to_device(x) for x in (drawn(ROLLOUTS), drawn(ROLLOUTS), drawn(ROLLOUTS, STEPS))]
    out = [lib.to_device(np.zeros((ROLLOUTS, 2))) for _ in range(2)]
    bound = lib.rollout.bind(*arrays, DT, last=True, out=out)
    before = driver.settings.copies, driver.settings.allocated
    assert bound() is out
    assert bound() is out
    assert (driver.settings.copies, driver.settings.allocated) == before
    expected = repeated(drawn(ROLLOUTS), drawn(ROLLOUTS), drawn(ROLLOUTS, STEPS))
    assert same_bits(out[0].numpy(), expected[0][:, -1])


@rbdgen.function(inputs={"bias": ("N m", "nv"), "scale": "1"}, outputs={"q_next": "q", "v_next": "v"})
def pushed(robot: Any, q: Any, v: Any, tau: Any, dt: Any, bias: Any, scale: Any) -> Any:
    """A step with scaled torques and further ones."""
    return robot.step(q, v, scale * tau + bias, dt)


@rbdgen.function(inputs={"step": "s", "last": "m"}, outputs={"far": ("m", "nv")})
def ahead(robot: Any, q: Any, v: Any, step: Any, last: Any) -> Any:
    """Positions one step ahead; its inputs are named like variables of other kernels."""
    return q + step * v + last


def test_inputs_of_every_step_and_of_every_rollout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    need_modules("nvidia", packages="nvidia-cuda-nvrtc")
    folder = rbdgen.generate("double_pendulum", tmp_path, [pushed, ahead], target="cuda", real="float")
    driver = StandIn(compiled(folder, tmp_path / "driver"), tmp_path)
    monkeypatch.setenv("RBDGEN_LIBCUDA", str(driver.path))
    lib = rbdgen.load(folder)
    q, v, dt = drawn(ROLLOUTS), drawn(ROLLOUTS, seed=1), abs(drawn(ROLLOUTS)[:, 0]) / 100
    tau, bias = drawn(ROLLOUTS, STEPS, seed=2), drawn(ROLLOUTS, STEPS, seed=3)
    scales = drawn(STEPS, seed=4)[:, 0]  # shared by all rollouts
    arrays = [lib.to_device(x) for x in (q, v, tau, dt, bias, scales)]
    found = lib.rollout(*arrays, per_step=["scale", "bias"])
    kept = lib.rollout(*arrays[:4], lib.to_device(bias[0, 0]), 0.5, last=True, gains=None)
    state = plain = lib.to_device(q), lib.to_device(v)
    for k in range(STEPS):
        torques, extra = lib.to_device(tau[:, k]), lib.to_device(bias[:, k])
        state = lib.pushed(*state, torques, arrays[3], extra, float(scales[k]))
        plain = lib.pushed(*plain, torques, arrays[3], lib.to_device(bias[0, 0]), 0.5)
        for part, own in zip(found, state, strict=True):
            assert same_bits(part.numpy()[:, k], own.numpy())
    for part, own in zip(kept, plain, strict=True):
        assert same_bits(part.numpy(), own.numpy())
    far = lib.ahead(*arrays[:2], 0.5, 0.25).numpy()
    np.testing.assert_allclose(far, q + 0.5 * v + 0.25, rtol=1e-6, atol=1e-6)
    driver.finish()


def test_what_is_refused(lib: KernelLibrary, driver: StandIn) -> None:
    q, v, tau = (lib.to_device(x) for x in (drawn(3), drawn(3), drawn(3, STEPS)))
    refused = [
        (
            {"tau": lib.to_device(drawn(2, STEPS))},
            r"^step.rollout: leading axes differ: q \(3,\), v \(3,\), tau \(2,\); pass",
        ),
        ({"tau": lib.to_device(drawn())}, r"^step.rollout: tau has shape \(2,\), expected \(..., N, 2\)"),
        ({"tau": lib.to_device(drawn(3, 0))}, r"^step.rollout: tau has shape \(3, 0, 2\); give one step"),
        ({"tau": tau, "last": 1}, r"^step.rollout: last is int; pass True or False"),
        ({"tau": tau, "per_step": ["dt"]}, r"^step.rollout: per_step names 'dt'; its step has no"),
        ({"tau": tau, "gains": tau}, r"^step.rollout: gains is an argument of rollouts on the host only"),
        ({"tau": tau, "out": [q, v]}, r"^step.rollout: out for q has shape \(3, 2\), expected \(3, 4, 2\)"),
        ({"tau": drawn(3, STEPS)}, r"^step.rollout: tau is a numpy.ndarray on the host"),
        ({"tau": tau, "out": [q, v], "last": True}, r"^step.rollout: out for q overlaps q"),
        ({"tau": tau, "scheme": "step_rk4"}, r"^rollout: no scheme 'step_rk4' was generated"),
    ]
    for given, words in refused:
        with pytest.raises(rbdgen.RbdgenError, match=words):
            lib.rollout(q, v, dt=DT, **given)
    assert driver.settings.launches == 0
    assert repr(lib.step.rollout) == "<step.rollout(q, v, tau, dt) on a GPU>"
    assert repr(lib.rollout) == "<rollouts of step>"
