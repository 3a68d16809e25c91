"""WebAssembly and JavaScript in node give the bits of the C that gcc compiles."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import nextafter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.carts import BODY, cart_with_a_ball
from support.elementary import ARITY, arguments
from support.few import few
from support.toys import facts, function, toys
from support.web import (
    NODE,
    WEBASSEMBLY,
    by_gcc,
    by_node,
    different,
    manifest_of,
    module_options,
    modules_of,
    need,
    states_of,
    written_module,
)

import rbdgen
from rbdgen.emit.package import FunctionSource
from rbdgen.functions.table import rows_of
from rbdgen.graph.builder import Builder
from rbdgen.graph.kernels import computed
from rbdgen.machine import Real
from rbdgen.signature import SizedArgument
from rbdgen.toolchain.cache import Cache

STATES = 300

SHANKS = [rbdgen.Point(name, name, (0, 0, -0.2)) for name in ("front_left_shank", "hind_right_shank")]


def pendulum() -> rbdgen.Robot:
    return rbdgen.load_robot("double_pendulum")


def arm() -> rbdgen.Robot:
    return rbdgen.load_robot("arm7", frames=["link7"])


def quadruped() -> rbdgen.Robot:
    return rbdgen.load_robot("quadruped12", base="floating", contacts=SHANKS)


def cart() -> rbdgen.Robot:
    """A robot with a planar, a spherical, a revolute and a helical joint, and a follower."""
    builder = cart_with_a_ball()
    builder.add_body(
        "screw", parent="hand", type="helical", axis=(0, 0, 1), pitch=0.02, xyz=(0, 0.1, 0), **BODY
    )
    builder.add_body(
        "finger", parent="screw", type="revolute", axis=(1, 0, 0), mimic=("hand_joint", -0.5, 0.1), **BODY
    )
    return rbdgen.load_robot(builder)


CASES: Mapping[str, tuple[Callable[[], rbdgen.Robot], tuple[str, ...], Mapping[str, Any]]] = {
    "pendulum, every function": (pendulum, (), {}),
    "arm": (
        arm,
        ("rnea", "minv", "aba_derivatives", "frame_jacobian_rate_local", "rnea_vjp"),
        {},
    ),
    "arm in loops": (
        arm,
        ("rnea", "aba", "crba", "minv"),
        {"variants": dict.fromkeys(("rnea", "aba", "crba", "minv"), "looped")},
    ),
    "arm with parameters": (arm, ("rnea", "aba", "step"), {"params": ["mass:*", "com:link7"]}),
    "given sines": (pendulum, ("rnea", "aba"), {"trig": "input"}),
    "quadruped": (quadruped, ("contact_aba", "contact_step", "difference"), {}),
    "loops within loops": (quadruped, ("contact_step",), {"variants": {"contact_step": "looped"}}),
    "cart": (cart, ("rnea", "aba", "crba", "integrate", "difference", "step", "rnea_derivatives"), {}),
    "quadruped in float": (quadruped, ("rnea", "contact_impulse"), {"real": "float"}),
    "cart in float": (cart, ("aba", "difference"), {"real": "float"}),
}

LONG = ("quadruped", "quadruped in float", "arm")
"""Cases that take long and have no kind of code that others lack."""


@pytest.mark.parametrize("case", few([case for case in CASES if case not in LONG], CASES))
def test_bits_of_functions(case: str, tmp_path: Path) -> None:
    need(*WEBASSEMBLY, NODE)
    make, functions, options = CASES[case]
    robot = make()
    in_javascript = {} if options.get("real") == "float" else {"emit": ["javascript"]}
    folder = rbdgen.generate(
        robot, tmp_path, functions or list(rows_of(robot.model)), target="wasm32", **in_javascript, **options
    )
    states = states_of(manifest_of(folder), STATES)
    expected = by_gcc(folder, states)
    assert all(np.isfinite(outputs).all() for outputs in expected.values())
    modules = modules_of(folder)
    assert len(modules) == 1 + bool(in_javascript)
    for name, module in modules.items():
        assert different(expected, by_node(module, folder, states, tmp_path)) == {}, name


def test_another_bit_is_seen(tmp_path: Path, build_cache: Cache) -> None:
    """The comparison notices the smallest change of a constant."""
    need(*WEBASSEMBLY, NODE)
    folder = written_module(tmp_path, facts(), toys(), module_options(), build_cache)
    module = modules_of(folder)["javascript"]
    text = module.read_text()
    assert text.count("9.81") == 1
    module.write_text(text.replace("9.81", repr(nextafter(9.81, 10))))
    states = states_of(manifest_of(folder), STATES)
    counts = different(by_gcc(folder, states), by_node(module, folder, states, tmp_path))
    assert 0 < counts.pop("torque") < 2 * STATES
    assert counts == {}


def kernel(op: str) -> FunctionSource:
    """z = op(x) or op(x, y)."""
    builder = Builder()
    names = ["x", "y"][: ARITY[op]]
    operands = [builder.input(name, 1)[0] for name in names]
    graph = builder.graph([("z", (1,), [operands[0].applied(op, *operands)])])
    return function(
        f"of_{op}",
        graph,
        tuple(SizedArgument(name, (1,), "1", "an operand") for name in names),
        (SizedArgument("z", (1,), "1", "the result"),),
    )


@pytest.mark.parametrize("real", ["double", "float"])
def test_bits_of_elementary_functions(real: Real, tmp_path: Path, build_cache: Cache) -> None:
    """They have the bits of the interpreter, also for numbers that are special to a function."""
    need(*WEBASSEMBLY, NODE)
    folder = written_module(
        tmp_path, facts(), [kernel(op) for op in ARITY], module_options(real), build_cache
    )
    dtype = {"double": np.float64, "float": np.float32}[real]
    given = {op: arguments(op, dtype, 2000) for op in ARITY}
    states = {
        f"of_{op}": {name: np.reshape(array, (-1, 1)) for name, array in zip("xy", arrays, strict=False)}
        for op, arrays in given.items()
    }
    expected = {f"of_{op}": computed(op, *arrays).reshape(-1, 1) for op, arrays in given.items()}
    for name, module in modules_of(folder).items():
        assert different(expected, by_node(module, folder, states, tmp_path)) == {}, name
