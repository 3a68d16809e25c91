"""The page docs/friction.md: its examples run, and its figures are those that are pinned and measured."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from support.pages import DOCS, example, results_of, text_of

import rbdgen
from rbdgen.functions.friction.arguments import LAW

PAGE = text_of("friction.md")

WORDS = " ".join(PAGE.split())


def test_a_ball_that_lands_slides_and_rolls(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {}
    exec(example("friction.md"), names)
    assert f"```\n{capsys.readouterr().out}```" in PAGE
    assert float(names["residual"][0]) < 1e-12


def test_slopes_of_a_smoothed_step(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {}
    exec(example("friction.md"), names)
    capsys.readouterr()
    exec(example("friction.md", "Derivatives"), names)
    assert f"```\n{capsys.readouterr().out}```" in PAGE


def test_a_box_that_lands_on_its_sole(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {}
    exec(example("friction.md"), names)
    capsys.readouterr()
    exec(example("friction.md", "Soles"), names)
    assert f"```\n{capsys.readouterr().out}```" in PAGE
    assert float(names["residual"][0]) < 1e-12


def test_operations_of_steps_with_soles_are_those_pinned() -> None:
    counts = DOCS.parent / "tests" / "golden" / "chosen_counts" / "contact_step_soles.txt"
    pinned = dict(re.findall(r"^(.*?): .*?(\d+) = ", counts.read_text(), re.MULTILINE))
    for plan, told in re.findall(r"^\| humanoid, (\d,\d,\d) \| ([\d ]+) \|", PAGE, re.MULTILINE):
        assert told.replace(" ", "") == pinned[f"solver ({plan.replace(',', ', ')})"]
    for name in ("contact_step", "contact_step_derivatives", "contact_aba_derivatives"):
        told = f"{int(pinned[name]):,}".replace(",", " ")
        assert re.search(
            rf"`{name}` (of the humanoid|on two frames)? ?takes {told}( operations|\.)", WORDS
        ), name


def test_operations_of_steps_with_friction_are_those_pinned() -> None:
    pinned = (DOCS.parent / "tests" / "golden" / "chosen_counts" / "contact_step.txt").read_text()
    counts = [int(x) for x in re.findall(r": (\d+) = ", pinned)]
    told = re.findall(r"^\| \d,\d,\d \| ([\d ]+) \|$", PAGE, re.MULTILINE)
    assert re.findall(r"`contact_step` of the quadruped with 3,2,0 takes ([\d ]+) operations", PAGE) == [
        "19 219"
    ]
    rows = re.findall(
        r"^\| `contact_step\w*`; `contact_\w*`[^|]* \| ([\d ]+); ([\d ]+) \|$", PAGE, re.MULTILINE
    )
    told += [count for row in rows for count in row]
    assert [int(x.replace(" ", "")) for x in told] == counts
    assert "(1e-4, 0.2, 1, 0, 0.05, 0)" in PAGE
    assert LAW.default == (1e-4, 0.2, 1.0, 0.0, 0.05, 0.0)
    names = ("softness", "pull", "push", "restitution", "slow", "smoothing")
    assert re.findall(r"^\| (\w+) \| [\d.e-]+ \| ", PAGE, re.MULTILINE) == list(names)


def told(number: float, digits: int = 0) -> str:
    """A small number as pages show it, such as 2e-16."""
    return re.sub(r"e-0", "e-", f"{number:.{digits}e}")


def test_shares_of_solved_steps_are_those_measured() -> None:
    """By `python -m benchmarks.impacts`."""
    found = results_of("impacts")
    for robot, plans in found["impacts"].items():
        for plan, row in plans.items():
            shares = " | ".join(f"{share:.1f} %" for share in row["solved"].values())
            operations = f"{row['operations']:,}".replace(",", " ")
            assert f"| {robot}, {plan} | {operations} | {shares} |" in PAGE
            assert row["states"] == 4096
    largest = max(row["largest"] for plans in found["impacts"].values() for row in plans.values())
    assert f"have residuals of up to {largest:.0f} m/s" in WORDS
    slow, fast = found["standing"]["0.05"], found["standing"]["0.5"]
    assert slow["steps"] == fast["steps"] == 25_600
    assert f"the residual is {told(slow['median'])} m/s in the median" in WORDS
    assert f"below 1e-6 m/s in {slow['solved']:.2f} %" in WORDS
    assert f"fall, {fast['solved']:.2f} %" in WORDS
    assert f"largest ones are {told(slow['largest'])} m/s and {fast['largest']:.1f} m/s" in WORDS
    recorded, hits = found["recorded"], found["hits"]
    assert (recorded["steps"], hits["steps"]) == (1200, 8192)
    assert f"| {told(recorded['median'])} m/s in the median, at most {told(recorded['largest'])} |" in PAGE
    assert f"| {hits['solved']:.1f} % below 1e-6 m/s; 99 % below about {told(hits['99 %'])} |" in PAGE


def test_steps_on_soles_are_as_quick_as_measured() -> None:
    """The text has us of CPU time per step, and how much longer MuJoCo takes."""
    ways = results_of("standing_humanoid30")["ways"]
    ours = ways["contact_step, all states"][0]
    others = ("MuJoCo with contacts, all states, 1 thread", "MuJoCo with contacts, elliptic cones, 1 thread")
    default, elliptic = (ways[name][0] / ours for name in others)
    assert f"took {ours:.1f} us of CPU time per step" in WORDS
    assert f"took {default:.1f} times as long, or {elliptic:.1f} times with elliptic cones" in WORDS


def test_steps_on_feet_are_as_quick_as_measured() -> None:
    ways = results_of("standing_quadruped12")["ways"]
    double, real, bound = (
        ways[f"contact_step{way}"][0] for way in (", all states", " in float, all states", ", bound calls")
    )
    assert f"{double:.2f} us of CPU time per step ({real:.2f} us in float)" in WORDS
    assert f"a bound call {bound:.1f} us" in WORDS
    longer = ways["MuJoCo with contacts, all states, 1 thread"][0] / double
    assert f"of the same quadruped {longer:.1f} times as long" in WORDS


def crept(contact: list[Any], **given: Any) -> float:
    """The way in m of a cube that stands for 5 s on a slope of 20 degrees."""
    cube = rbdgen.RobotBuilder("cube").add_body("cube", mass=1, inertia=(1 / 150,) * 3)
    lib = rbdgen.build(rbdgen.load_robot(cube, base="floating", contacts=contact), ["contact_step"])
    angle = np.deg2rad(20)
    normal, down = [np.sin(angle), 0, np.cos(angle)], [np.cos(angle), 0, -np.sin(angle)]
    q = lib.neutral()
    q[:3], q[4], q[6] = 0.1 * np.array(normal), np.sin(angle / 2), np.cos(angle / 2)
    ground, friction = np.tile([*normal, 0], (4, 1)), np.full(4, 0.5)
    end = lib.rollout(
        q, np.zeros(6), np.zeros((5000, 6)), 1e-3, ground=ground, friction=friction, last=True, **given
    )
    return float((end.q[:3] - q[:3]) @ down)


def test_a_cube_on_a_slope_creeps_as_is_told() -> None:
    """On points it creeps less with the default softness, and on a sole without any."""
    corners = [(x, y, -0.1) for x in (0.1, -0.1) for y in (0.1, -0.1)]
    points = [rbdgen.Point(f"c{k}", "cube", at) for k, at in enumerate(corners)]
    sole = [rbdgen.Sole("sole", "cube", corners=corners)]
    stiff, stiffest = [1e-5, *LAW.default[1:]], [0.0, *LAW.default[1:]]
    assert abs(crept(points)) < 1e-7
    assert f"moves by {1e3 * abs(crept(points, law=stiff)):.1f} mm in 5 s with a softness of 1e-5" in WORDS
    assert f"creeps by {1e3 * crept(sole):.1f} mm in 5 s on 20 degrees by default" in WORDS
    assert abs(crept(sole, law=stiffest)) < 1e-10
