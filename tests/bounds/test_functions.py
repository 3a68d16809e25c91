"""Bounds of functions of robots: never exceeded by computed states, over limits and given ranges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import mpmath
import numpy as np
import numpy.typing as npt
import pytest
from support.few import few

import rbdgen
from rbdgen.emit.package import FunctionSource
from rbdgen.emit.sincos import sincos
from rbdgen.errors import LoadError, OptionError
from rbdgen.graph.bounds.found import Bounds
from rbdgen.graph.bounds.interpreter import Bounder
from rbdgen.graph.programs.run import run
from rbdgen.graph.programs.unrolled import unrolled
from rbdgen.options import Options
from rbdgen.pipeline.bounded import bounded, bounds_of_functions
from rbdgen.pipeline.design import design_functions
from rbdgen.pipeline.request import Request

Array = npt.NDArray[Any]

EXACT = mpmath.MPContext()
EXACT.dps = 50

SINCOS = {"sin": lambda x: sincos(x)[0], "cos": lambda x: sincos(x)[1]}

AT_ONCE = 4000
"""The number of states that are computed at once, whose numbers fit into the caches of a processor."""

REALS: dict[str, Any] = {"float": np.float32, "double": np.float64}


@dataclass(frozen=True)
class Case:
    """Functions of a robot, and the ranges of their inputs around a point."""

    robot: str
    functions: tuple[str, ...]
    width: float
    options: tuple[tuple[str, Any], ...] = ()
    looped: bool = False
    base: str = "fixed"

    def __str__(self) -> str:
        return f"{self.robot}-{self.functions[0]}{'-looped' * self.looped}"

    @property
    def request(self) -> Request:
        robot = rbdgen.load_robot(self.robot, self.base)
        variants = dict.fromkeys(self.functions, "looped") if self.looped else {}
        return Request(robot, Options(functions=self.functions, variants=variants, **dict(self.options)))


WIDE = ("rnea", "crba", "coriolis", "rnea_derivatives")
SOLVED = ("aba", "minv", "aba_derivatives")

CASES = [
    Case("arm7", WIDE, 3.0),
    Case("arm7", ("rnea", "aba"), 1e-4, (("target", "portable"),), looped=True),
    Case("quadruped12", ("aba",), 0.001, base="floating"),
    Case("double_pendulum", (*WIDE, *SOLVED), 0.1),
    Case("double_pendulum", ("rnea",), 1.0, (("trig", "libm"), ("contract", True))),
]

MORE = [
    *CASES,
    Case("arm7", SOLVED, 0.01),
    Case("quadruped12", ("rnea", "crba"), 1.0, base="floating"),
    Case("arm7", ("rnea_vjp", "rnea_jvp", "rnea_fext_derivatives"), 1.0),
    Case("arm7", ("aba_derivatives", "minv"), 1e-4, (("target", "portable"),), looped=True),
    Case("quadruped12", ("rnea_derivatives", "coriolis"), 0.5, base="floating"),
    Case("quadruped12", ("minv", "aba_derivatives"), 1e-4, base="floating"),
]
"""The cases of the campaign."""


@cache
def designed(case: Case) -> tuple[Request, dict[str, FunctionSource]]:
    request = case.request
    return request, {function.name: function for function in design_functions(request)}


@cache
def found_bounds(case: Case) -> dict[str, tuple[dict[str, tuple[Array, Array]], Bounds]]:
    """The ranges and the bounds of every function."""
    request, functions = designed(case)
    made = {}
    for name, function in functions.items():
        ranges = ranges_of(request, function, case.width)
        (bounds,) = bounds_of_functions(request, ranges, 0, [function])
        made[name] = ranges, bounds
    return made


def ranges_of(request: Request, function: FunctionSource, width: float) -> dict[str, tuple[Array, Array]]:
    """Ranges of this width around random inputs, which are numbers in float."""
    rng = np.random.default_rng(11)
    drawn = request.model.manifold.random_inputs(function.signature.inputs, rng)
    return {
        name: tuple(end.astype(np.float32).astype(float) for end in (x - width, x + width))  # type: ignore[misc]
        for name, x in drawn.items()
    }


def states_within(ranges: Mapping[str, tuple[Array, Array]], count: int, seed: int) -> dict[str, Array]:
    """Random inputs, of which a half are at corners of the box."""
    rng = np.random.default_rng(seed)
    states = {}
    for name, (low, high) in ranges.items():
        share = rng.uniform(size=(count, *low.shape))
        share[count // 2 :] = np.round(share[count // 2 :])
        inside = (low + share * (high - low)).astype(np.float32)
        states[name] = np.clip(inside, low, high).reshape(count, -1).astype(float)
    return states


def assert_within(
    found: Bounds, name: str, real: str, computed: Array, reference: Array, slack: Array
) -> None:
    output = found[name]
    low, high, error = output.lowest, output.highest, output.error[real]
    assert np.isfinite(error).all()
    assert (low - slack <= reference).all()
    assert (reference <= high + slack).all()
    assert (np.abs(computed - reference) <= error + slack).all()


@pytest.mark.parametrize("case", few(CASES, MORE), ids=str)
def test_no_state_exceeds_the_bounds(case: Case) -> None:
    """In float and in double, against 50 digits."""
    _, functions = designed(case)
    for name, (ranges, found) in found_bounds(case).items():
        function, states = functions[name], states_within(ranges, 2, 1)
        objects = {x: np.vectorize(EXACT.mpf, otypes=[object])(values) for x, values in states.items()}
        exact = run(function.program, objects)
        for real, kind in REALS.items():
            computed = run(function.program, {x: v.astype(kind) for x, v in states.items()}, SINCOS)
            for output, values in exact.items():
                rough = np.vectorize(EXACT.mpf, otypes=[object])(computed[output].astype(float))
                assert_within(found, output, real, rough, values, np.zeros(1))


def compared(case: Case, count: int) -> None:
    """Compares many states: float with double, and double with longer numbers."""
    _, functions = designed(case)
    for name, (ranges, found) in found_bounds(case).items():
        function = functions[name]
        for first in range(0, count, AT_ONCE):
            states = states_within(ranges, min(AT_ONCE, count - first), first)
            results = {
                real: run(function.program, {x: v.astype(kind) for x, v in states.items()}, sines)
                for real, kind, sines in (
                    ("float", np.float32, SINCOS),
                    ("double", np.float64, SINCOS),
                    ("long", np.longdouble, None),
                )
            }
            for real in REALS:
                for output, values in results["long"].items():
                    slack = 2.0**-10 * found[output].error["double"]
                    assert_within(found, output, real, results[real][output], values, slack)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_many_states(case: Case) -> None:
    compared(case, 400)


@pytest.mark.campaign
@pytest.mark.parametrize("case", MORE, ids=str)
def test_a_million_states(case: Case) -> None:
    compared(case, 1_000_000)


def test_the_bounds_are_tight() -> None:
    """In double and in float, the bound of the torques of the arm is a few dozen times the worst sample."""
    request, functions = designed(CASES[0])
    given, function = {"a": (-50.0, 50.0)}, functions["rnea"]
    (found,) = bounds_of_functions(request, given, 0, [function])
    (cut,) = bounds_of_functions(request, given, 100, [function])
    limits = {joint.name: joint.limit for joint in request.robot.joints}
    assert all(limits.values())
    ends = {
        "q": [(x.lower, x.upper) for x in limits.values() if x],
        "v": [(-x.velocity, x.velocity) for x in limits.values() if x],
        "a": [(-50.0, 50.0)] * 7,
    }
    ranges = {name: tuple(np.array(pairs).T) for name, pairs in ends.items()}
    states = states_within(ranges, 20_000, 0)  # type: ignore[arg-type]
    exact = run(function.program, states)["tau"]
    rough = run(function.program, {x: v.astype(np.float32) for x, v in states.items()}, SINCOS)["tau"]
    worst = np.abs(rough - exact).max()
    assert cut["tau"].error["float"].max() <= found["tau"].error["float"].max()
    assert worst <= cut["tau"].error["float"].max() <= 50 * worst
    assert np.abs(exact).max() <= cut["tau"].highest.max() <= 5 * np.abs(exact).max()


def test_parameters() -> None:
    """Masses that differ by 10 % widen the bounds, and contain those of every robot with such masses."""
    robot = rbdgen.load_robot("double_pendulum")
    request = Request(robot, Options(functions=("gravity",), params=("mass:*",)))
    ranges: dict[str, object] = {"q": (-1.0, 1.0)}
    (still,) = bounded(request, ranges)
    (moving,) = bounded(request, {**ranges, "mass:*": "+-10%"})
    assert (moving["tau"].highest > still["tau"].highest).all()
    library = rbdgen.build(robot, ["gravity"], params=["mass:*"])
    defaults = dict(zip(library.parameters.names, library.parameters.defaults, strict=True))
    for share in (0.9, 1.1):
        table = library.update({name: share * value for name, value in defaults.items()})
        tau = library.gravity(np.linspace(-1, 1, 2000).reshape(-1, 2), table)
        assert (moving["tau"].lowest <= tau).all()
        assert (tau <= moving["tau"].highest).all()
    (one,) = bounded(request, {**ranges, "mass:*": (0.0, 0.0)})
    assert one["tau"].highest.max() < 1e-9


def test_of_a_library() -> None:
    library = rbdgen.build("double_pendulum", ["rnea"])
    given = {"q": (-1, 1), "v": (-2, 2), "a": ([-3, -4], [3, 4])}
    found = library.rnea.bounds(given)["tau"]
    same = library.rnea.bounds(**given)["tau"]
    assert found.lowest.shape == (2,)
    assert (found.error["float"] > found.error["double"]).all()
    assert (same.highest == found.highest).all()
    cut = library.rnea.bounds(given, tighten=64)["tau"]
    assert (cut.error["float"] <= found.error["float"]).all()
    assert cut.error["float"].max() < found.error["float"].max()
    assert (library.rnea([1, -1], [2, 2], [3, 4]) <= found.highest).all()


def test_a_folder_has_no_robot(tmp_path: Any) -> None:
    folder = rbdgen.generate("double_pendulum", tmp_path, ["rnea"])
    with pytest.raises(LoadError, match=r"call rbdgen\.build"):
        rbdgen.load(folder).rnea.bounds(q=(0, 1))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"a": (1, 0)}, "begins above its end"),
        ({"a": (0, np.inf)}, "is not finite"),
        ({"a": (0, np.nan)}, "is not finite"),
        ({"a": "0:inf"}, "is not finite"),
        ({"a": ([], [])}, "is empty"),
        ({"a": (0, [1, 2, 3])}, "shapes"),
        ({"a": ([1, 2], [1, 2, 3])}, "equal shapes"),
        ({"a": 3}, "is no range"),
        ({"a": "3"}, "is no range"),
        ({"a": "+-10%"}, "is no range"),
        ({"a": ""}, "is no range"),
        ({"a": None}, "is no range"),
        ({"a": (0, 1, 2)}, "is no range"),
        ({"a[2]": (0, 1)}, "a has 2 elements"),
        ({"a[0]": ([0, 1], [1, 2])}, "give two numbers"),
        ({"acceleration": (0, 1)}, "no input and no parameter"),
        ({"mass:*": (0, 1)}, "no input and no parameter"),
        ({"a\nb": (0, 1)}, "no input and no parameter"),
        ({}, r"a\[0\] \(joint .*\) has no limits; give a=\(LOWEST, HIGHEST\)"),
    ],
)
def test_impossible_ranges(given: dict[str, object], message: str) -> None:
    library = rbdgen.build("double_pendulum", ["rnea"])
    with pytest.raises(OptionError, match=message) as caught:
        library.rnea.bounds({"q": (-1, 1), "v": (-1, 1), **given})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("parts", [-1, 10**7, True, 1.5, "3", None])
def test_impossible_parts(parts: Any) -> None:
    library = rbdgen.build("double_pendulum", ["rnea"])
    with pytest.raises(OptionError, match="tighten"):
        library.rnea.bounds({"q": (-1, 1), "v": (-1, 1), "a": (-1, 1)}, tighten=parts)


def test_a_robot_without_limits(tmp_path: Any) -> None:
    text = """<robot name="free"><link name="base"/><link name="arm"><inertial><mass value="1"/>
<origin xyz="0.2 0 0"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="turn" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/></joint>
</robot>"""
    file = tmp_path / "free.urdf"
    file.write_text(text)
    request = Request(rbdgen.load_robot(file), Options(functions=("gravity",)))
    with pytest.raises(OptionError, match=r"gravity: q\[0\] \(joint turn\) has no limits; give q="):
        bounded(request, {})
    (found,) = bounded(request, {"q": (-9, 9)})
    assert found["tau"].highest.item() == pytest.approx(9.81 * 0.2)


def test_elements_that_are_not_read_need_no_range() -> None:
    """The position of a floating base, of which inverse dynamics do not depend."""
    request = Case("quadruped12", ("gravity",), 0, base="floating").request
    (found,) = bounded(request, {})
    assert np.isfinite(found["tau"].error["float"]).all()


def test_a_function_without_bound_says_so() -> None:
    request = Case("arm7", ("aba",), 0).request
    (found,) = bounded(request, {})
    assert np.isinf(found["a"].error["double"]).any()
    assert found.as_json()["outputs"]["a"]["error"]["double"][0] is None


def test_the_pass_takes_few_groups() -> None:
    """A function with thousands of operations takes some hundred groups of operations, which are bounded at
    once.
    """
    _, functions = designed(CASES[0])
    bounder = Bounder(unrolled(functions["rnea_derivatives"].program))
    assert len(bounder.graph.nodes) > 5 * len(bounder._groups)
