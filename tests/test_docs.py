"""The examples of the pages in docs/ run, and their figures are those that were measured."""

from __future__ import annotations

import json
import re
from typing import Any, get_args

import numpy as np
import pytest
from support.kernels import LIMIT
from support.own import COUNTED, JACOBIANS
from support.pages import DOCS, example, results_of
from support.pages import text_of as page

import rbdgen
from rbdgen.description.schema import JointType
from rbdgen.graph.kernels import KERNELS


def test_a_robot_body_by_body() -> None:
    names: dict[str, Any] = {"rbdgen": rbdgen}
    exec(example("descriptions.md"), names)
    assert names["robot"].model.nv == 1
    assert f"`type` is one of {', '.join(get_args(JointType))}." in page("descriptions.md").replace("\n", " ")


def test_parameters_that_stay_inputs() -> None:
    names: dict[str, Any] = {"rbdgen": rbdgen, **dict.fromkeys("qva", np.full(7, 0.3))}
    exec(example("functions.md", "Parameters that stay inputs"), names)
    light, heavy = (names["lib"].rnea(*(names[x] for x in "qva"), *rest) for rest in ((), (names["table"],)))
    assert not np.allclose(light, heavy)
    np.testing.assert_array_equal(names["tau"], heavy)


def test_derivatives_along_directions() -> None:
    """Seven weights in one call give the rows of M."""
    vectors = ("q", "v", "a", "tau", "tau_bar", "q_dot", "v_dot", "tau_dot")
    names: dict[str, Any] = {"rbdgen": rbdgen, "np": np, **dict.fromkeys(vectors, np.full(7, 0.3))}
    exec(example("functions.md", "Derivatives along directions"), names)
    assert names["a_dot"].shape == (7,)
    np.testing.assert_allclose(names["a_bar"], names["a_bar"].T, atol=1e-14)


def test_all_derivatives_at_once() -> None:
    """The outputs have the names that the example gives them; the second derivative by v is M."""
    names: dict[str, Any] = {"rbdgen": rbdgen, "np": np, **dict.fromkeys(("q", "v"), np.full(7, 0.3))}
    exec(example("functions.md", "All derivatives at once"), names)
    assert list(names["lib"].nle_jacobian.signature.outputs[0].shape) == [7, 7]
    assert names["lib"].nle_jacobian(names["q"], names["v"])._fields == ("dtau_dq", "dtau_dv")
    M = rbdgen.build("arm7", functions=["crba"]).crba(names["q"])
    np.testing.assert_allclose(names["dT_dv_dv"], M, rtol=1e-10, atol=1e-12)


def test_functions_called_together(capsys: pytest.CaptureFixture[str]) -> None:
    """The example prints what the page says, and the table has the counts of `tests/own/test_together.py`."""
    names: dict[str, Any] = {"rbdgen": rbdgen, "np": np}
    exec(example("functions.md", "Functions called together"), names)
    text = page("functions.md").partition("## Functions called together\n")[2].partition("\n## ")[0]
    assert f"```\n{capsys.readouterr().out}```" in text
    assert [int(x) for x in re.findall(r"\| (\d+) \|$", text, re.MULTILINE)] == [2285, 2598, 927]


def test_elementary_functions() -> None:
    """The table lists all kernels, with errors that tests accept."""
    rows = re.findall(
        r"^\| `(\w+)` \| `(\w+)` \| ([\d.]+) \| ([\d.]+) \|", page("elementary.md"), re.MULTILINE
    )
    assert {op for _, op, *_ in rows} == set(KERNELS)
    for name, op, *errors in rows:
        assert hasattr(np, name)
        assert all(0.8 <= float(error) <= LIMIT[op] for error in errors)


def test_an_arm_that_leans_on_a_table() -> None:
    names: dict[str, Any] = {}
    exec(example("contacts.md"), names)
    np.testing.assert_allclose(names["idle"], 0, atol=1e-9)
    assert np.abs(names["force"]).max() > 1
    np.testing.assert_allclose(names["lib"].contact_jacobian(names["q"]) @ names["a"], 0, atol=1e-9)
    assert (names["none"] == 0).all()
    assert not np.allclose(names["falling"], names["a"])


def test_functions_of_casadi(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {}
    exec(example("frameworks.md"), names)
    assert f"```\n{capsys.readouterr().out}```" in page("frameworks.md")
    assert names["aba"].size_in("q") == (2, 1)


def test_a_lifted_problem_of_optimal_control(capsys: pytest.CaptureFixture[str]) -> None:
    """Both ways reach the cost on the page; the numbers of iterations may differ by a few due to rounding."""
    code, told = re.findall(
        r"```(?:python)?\n(.*?)```", page("frameworks.md").partition("### ")[2], re.DOTALL
    )[:2]
    exec(code, {})
    number = r" (\d+) iterations"
    found = capsys.readouterr().out
    assert re.sub(number, "", found) == re.sub(number, "", told)
    pairs = zip(re.findall(number, found), re.findall(number, told), strict=True)
    assert all(abs(int(one) - int(other)) <= 5 for one, other in pairs)
    shooting, lifted = map(int, re.findall(number, found))
    assert lifted < shooting


def test_functions_of_your_own(capsys: pytest.CaptureFixture[str]) -> None:
    """The examples of the page share their names, and those that print are followed by what they print."""
    pytest.importorskip("casadi")
    names: dict[str, Any] = {}
    blocks = re.findall(r"```(\w*)\n(.*?)```", page("own-functions.md"), re.DOTALL)
    shown = 0
    for k, (language, code) in enumerate(blocks):
        if language == "python":
            exec(code, names)
            printed = capsys.readouterr().out
            assert not printed or blocks[k + 1] == ("", printed)
            shown += bool(printed)
    assert shown == 3
    q, v = np.full(7, 0.2), np.full(7, 0.5)
    expected = names["motor_step"](names["robot"], q, v, np.full(7, 70.0), 0.01)
    slower = names["motor_step"](names["robot"], q, v, np.full(7, 58.0), 0.01)  # the largest torques
    for x, y in zip(expected, slower, strict=True):
        np.testing.assert_array_equal(x, y)


def test_what_is_impossible_in_functions_of_your_own() -> None:
    """The page shows this error of a text that branches on a value."""

    def text(robot: Any, q: Any) -> Any:
        return q if q[0] > 0 else -q

    with pytest.raises(rbdgen.RbdgenError) as caught:
        rbdgen.build("arm7", functions=[rbdgen.function(text, outputs={"y": "q"}, name="reach")])
    message = re.sub(r"line \d+", "line 17", str(caught.value))
    assert f"```\n{message}\n```" in page("own-functions.md")


def test_operations_of_functions_of_your_own_are_those_pinned() -> None:
    told = [
        int(x.replace(" ", ""))
        for x in re.findall(r"\| ([\d ]+) \| [^|]*\|$", page("own-functions.md"), re.M)
    ]
    assert sorted(told) == sorted([*(x[-1] for x in COUNTED), *(x[-1] for x in JACOBIANS)])


def test_rollouts_have_the_shapes_that_are_told() -> None:
    names: dict[str, Any] = {}
    exec(example("trajectories.md"), names)
    assert names["states"].q.shape == names["states"].v.shape == (100, 50, 2)
    np.testing.assert_array_equal(names["end"].q, names["states"].q[:, -1])
    np.testing.assert_array_equal(names["q_next"], names["states"].q[0, 0])
    assert (names["A"].shape, names["B"].shape) == ((4, 4), (4, 2))
    exec(example("trajectories.md", "Feedback"), names)
    found, nominal = names["found"], names["nominal"]
    assert np.abs(found.q[-1] - nominal.q[-1]).max() < 0.05  # 0.1 at the start
    np.testing.assert_allclose(found.tau[0], names["K"][0] @ [0.1, 0.1, 0, 0])


def test_rollouts_with_contacts_slide_as_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {"np": np, "rbdgen": rbdgen}
    exec(example("trajectories.md", "Contacts"), names)
    assert f"```\n{capsys.readouterr().out}```" in page("trajectories.md")
    gained = names["speed"][:, -1] - names["speed"][:, -1001]
    np.testing.assert_allclose(gained, np.maximum(0, names["coulomb"]), rtol=0, atol=0.01)
    assert names["states"].residual.max() < 1e-9
    exec(example("trajectories.md", "Uneven ground"), names)
    x, _, z = np.moveaxis(
        names["lib"].contact_pose(names["states"].q)[0], -1, 0
    )  # of the centres of the feet
    along, heights = -2 + 0.05 * np.arange(80), names["heights"][:, 0]
    slope = (np.diff(heights) / 0.05)[np.searchsorted(along, x) - 1]
    gaps = (z - np.interp(x, along, heights)) / np.sqrt(1 + slope**2) - 0.02
    assert gaps.min() > -1e-3
    assert np.abs(gaps[-1]).max() < 1e-5


@pytest.mark.parametrize(
    "name",
    [
        "batches.md",
        "contacts.md",
        "descriptions.md",
        "frameworks.md",
        "functions.md",
        "inertia.md",
        "limits.md",
        "own-functions.md",
        "recipes.md",
        "robots.md",
        "performance.md",
        "show.md",
        "trajectories.md",
    ],
)
def test_the_readme_or_the_tour_leads_to_every_page(name: str) -> None:
    readme = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    assert f"](docs/{name})" in readme or f"]({name})" in (DOCS / "tour.md").read_text(encoding="utf-8")


def test_second_derivatives_take_as_many_operations_as_are_pinned() -> None:
    pinned = (DOCS.parent / "tests/golden/chosen_counts/second_derivatives_arm7.txt").read_text(
        encoding="utf-8"
    )
    (total,) = re.findall(r"^rnea_second: .*?: (\d+) = ", pinned, re.MULTILINE)
    assert f"`rnea_second` takes {total} operations for the arm." in page("functions.md").replace("\n", " ")


ROBOTS = {"arm": "arm7", "quadruped": "quadruped12", "humanoid": "humanoid30"}


def test_operations_of_alike_limbs_are_those_pinned() -> None:
    """The operations of the six functions whose counts are pinned."""
    pinned = {}
    for robot in ("quadruped", "humanoid"):
        counts = DOCS.parent / "tests/golden/chosen_counts" / f"{ROBOTS[robot]}.txt"
        for name, vectors, lanes, numbers in re.findall(
            r"^(\w+): (?:limbs|columns) .*?(\d+) operations on (\d+) lanes, (\d+) on numbers",
            counts.read_text(encoding="utf-8"),
            re.MULTILINE,
        ):
            pinned[f"{robot} `{name}`"] = [lanes, f"{vectors}, {numbers}"]
    rows = re.findall(r"^\| (\w+ `\w+`) \| (\d+) \| (\d+, \d+) \|", page("functions.md"), re.MULTILINE)
    told = {name: [lanes, counts] for name, lanes, counts in rows if not name.endswith("`nle`")}
    assert told == pinned


@pytest.mark.parametrize(("name", "suite"), [("contacts.md", "contact"), ("functions.md", "more")])
def test_speeds_are_those_measured(name: str, suite: str) -> None:
    """The tables have us per call, then ns per state in batches, and speeds relative to Pinocchio."""
    text = page(name)
    results = DOCS.parent / "benchmarks" / "results"
    for way, prefix in (("one call", suite), ("a batch", f"{suite}_batch")):
        start = text.index(f"| {way} | ")
        heading, _, *rows = (
            [cell.strip() for cell in line.strip("|").split("|")]
            for line in text[start:].partition("\n\n")[0].splitlines()
        )
        for robot, *cells in zip(*[heading, *rows], strict=True):
            if robot == way:
                functions = [cell.strip("`") for cell in cells]
                continue
            measured = json.loads((results / f"{prefix}_{ROBOTS[robot]}.json").read_text(encoding="utf-8"))
            assert cells == [_told(measured["functions"].get(function), way) for function in functions]


def _told(measured: dict[str, Any] | None, way: str) -> str:
    if measured is None:
        return ""
    if way == "a batch":
        return f"{measured['batch']:.0f} ({measured['pinocchio'] / measured['batch']:.1f})"
    ns = {who: entry["ns"] for who, entry in measured["times"].items()}
    return f"{ns['rbdgen'] / 1000:.3f} ({ns['pinocchio'] / ns['rbdgen']:.1f})"


def test_rollouts_are_as_quick_as_measured() -> None:
    """The table has ns per step and the throughput relative to `aba`; the text has ms for the arm."""
    text = page("trajectories.md")
    for row, robot in (("7-dof arm", "arm7"), ("18-dof quadruped, floating", "quadruped12")):
        found = results_of(f"rollouts_{robot}")
        ways = found["ways"]
        told = [f"{ways['aba']:.0f}"]
        for way in ("rollout, last state", "rollout, all states"):
            told.append(f"{ways[way]:.0f} ({ways['aba'] / ways[way]:.2f})")
        told.append(f"{ways['MuJoCo, all states, 1 thread']:.0f}")
        assert f"| {row} | {' | '.join(told)} |" in text
        if robot == "arm7":
            rolled, alone = (
                found["rollouts"] * found["steps"] * ways[way] / 1e6 for way in ("rollout, last state", "aba")
            )
            words = (
                f"rollouts take {rolled:.1f} ms on that machine, and as many calls of `aba` {alone:.1f} ms."
            )
            assert words in text.replace("\n", " ")


def test_rollouts_with_contacts_are_as_quick_as_measured() -> None:
    """The table has us of CPU time per step."""
    told = (
        "contact_step, all states",
        "contact_step in float, all states",
        "contact_step, last state",
        "MuJoCo with contacts, all states, 1 thread",
        "MuJoCo with contacts, elliptic cones, 1 thread",
    )
    rows = {"quadruped12": "18-dof quadruped on four feet", "humanoid30": "36-dof humanoid on two soles"}
    for robot, row in rows.items():
        ways = results_of(f"standing_{robot}")["ways"]
        figures = " | ".join(f"{ways[way][0]:.2f}" for way in told)
        assert f"| {row} | {figures} |" in page("trajectories.md")


FRAMEWORKS = {"jax": "JAX", "torch": "PyTorch"}


def test_frameworks_take_as_long_as_measured() -> None:
    """The table has ns per state; the text has us for one state of the arm."""
    text, measured = (
        page("frameworks.md"),
        {name: results_of(f"bridges_{name}")["cases"] for name in FRAMEWORKS},
    )
    for case in measured["jax"]:
        columns = [
            measured["jax"][case]["bound"],
            *(measured[name][case][f"lib.{name}"] for name in FRAMEWORKS),
        ]
        told = [f"{x[f'{what}, ns a state']:.0f}" for x in columns for what in ("value", "gradient")]
        robot, function = case.split()
        (name,) = (name for name, other in ROBOTS.items() if other == robot)
        assert f"| {name} `{function}` | {' | '.join(told)} |" in text
    jax, torch = (measured[name]["arm7 rnea"] for name in FRAMEWORKS)
    one, its = "one state, ns", "its gradient, ns"
    us = [jax["lib.jax"][one], torch["lib.torch"][one], torch["lib.torch"][its]]
    own = [jax["JAX, a sum"][one], torch["PyTorch, a sum"][one], torch["PyTorch, a sum"][its]]
    calls, sums = ([f"{x / 1000:.2g}" for x in times] for times in (us, own))
    words = text.replace("\n", " ")
    assert (
        f"takes {calls[0]} us in JAX and {calls[1]} us in PyTorch, {calls[2]} us with the gradient" in words
    )
    assert f"takes {sums[0]}, {sums[1]} and {sums[2]} us." in words


def test_casadi_gains_as_much_as_measured() -> None:
    """The speeds relative to the SX of `rbdgen.trace`; the text has microseconds per state for one call."""
    text, cases = page("frameworks.md"), results_of("bridges_casadi")["cases"]
    ways = ("SX, textbook's form", "lib.casadi, knots=1", "lib.casadi, knots=32")
    told = []
    for case in cases:
        robot, _, function = case.partition(" ")
        for name in (name for name, other in ROBOTS.items() if other == robot):
            told += [(f"{name}, `{function}`", case, "value, ns a state")]
            told += [("its Jacobian", case, "Jacobian, ns a state")]
    told += [("the reach, functions", "reach", "functions, s"), ("the reach, in all", "reach", "in all, s")]
    shown = 0
    for row, case, what in told:
        gains = [cases[case]["SX of rbdgen.trace"][what] / cases[case][way][what] for way in ways]
        line = f"| {row} | {' | '.join(f'{gain:.0f}' if gain >= 10 else f'{gain:.1f}' for gain in gains)} |"
        assert line in text[shown:]
        shown = text.index(line, shown)
    arm = cases["arm7 rnea"]
    one, many = (
        [arm[f"lib.casadi, knots={knots}"][f"{what}, ns a state"] / 1000 for what in ("value", "Jacobian")]
        for knots in (1, 32)
    )
    words = f"a state takes {one[0]:.2f} us and its Jacobian {one[1]:.2f} us; with 32 knots per call,"
    assert f"{words} they take {many[0]:.3f} and {many[1]:.2f} us." in text.replace("\n", " ")
