"""The operations of the forms chosen for the bundled robots are pinned; the search never adds any."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support import synthetic
from support.few import few
from support.robots import BUNDLED, PATHS, robot

from rbdgen import load_robot
from rbdgen.description.urdf import parse_urdf, read_urdf
from rbdgen.functions.table import lookup
from rbdgen.model.build import Base, build_robot
from rbdgen.model.reduce import ReducedModel, reduce
from rbdgen.options import Options
from rbdgen.pipeline.design import count
from rbdgen.selection import axes as axes_module
from rbdgen.selection.axes import Count, operations, search

GOLDEN = Path(__file__).parents[1] / "golden" / "chosen_counts"

BASES: dict[str, Base] = {"quadruped12": "floating", "humanoid30": "floating"}
"""The bases of robots; all others are fixed."""


QUICK = {"quadruped12": ("rnea", "crba"), "humanoid30": ("rnea",), "puma560": ("aba", "minv")}
"""The functions of robots of which `make test` counts only some; `make test-long` counts all of them."""


def table(name: str, functions: Sequence[str] = Options().functions) -> str:
    """A line for each function: its form, the number of operations, and the numbers of each kind."""
    counted = count(robot(name, BASES.get(name, "fixed")), functions)
    return "".join(f"{function}: {form}: {cost}\n" for function, (form, cost) in counted.items())


@pytest.mark.parametrize("name", few([x for x in BUNDLED if x not in QUICK], BUNDLED))
def test_pinned(name: str, golden: Callable[[str, str], None]) -> None:
    golden(f"chosen_counts/{name}.txt", table(name))


@pytest.mark.parametrize("name", QUICK)
def test_quick_ones_pinned(name: str) -> None:
    pinned = (GOLDEN / f"{name}.txt").read_text().splitlines(keepends=True)
    assert table(name, QUICK[name]) == "".join(x for x in pinned if x.split(":")[0] in QUICK[name])


def test_pinned_with_rotors(golden: Callable[[str, str], None]) -> None:
    """If every joint has a rotor, forward dynamics of arms uses M, and that of a tree articulated bodies."""
    lines = []
    for name in ("arm7", "planar3r", "puma560", "quadruped12"):
        plain = read_urdf(PATHS[name])
        geared = [joint if joint.type == "fixed" else replace(joint, armature=0.1) for joint in plain.joints]
        description = replace(plain, joints=tuple(geared))
        ((form, cost),) = count(build_robot(description, BASES.get(name, "fixed")), ("aba",)).values()
        lines.append(f"{name}: {form}: {cost}\n")
    golden("chosen_counts/with_rotors.txt", "".join(lines))


@pytest.mark.parametrize("name", few(["arm7"], ["arm7", "quadruped12"]))
def test_pinned_derivatives_with_external_forces(name: str, golden: Callable[[str, str], None]) -> None:
    """Pins a robot with few columns, and one that solves columns as SIMD lanes."""
    lines = table(name, ("rnea_fext_derivatives", "aba_fext_derivatives")).splitlines(keepends=True)
    golden(f"chosen_counts/with_forces_{name}.txt", "".join(f"{name} {line}" for line in lines))


def test_forms_that_cannot_win_are_not_tried() -> None:
    """Forward dynamics by M and its factor is only tried if there are rotors or joints that follow others."""
    aba = lookup("aba")
    tried = [form.name for form in aba.forms_for(robot("quadruped12", "floating").model)]
    assert tried == ["articulated", "bias", "looped"]


def test_inverse_dynamics_of_the_puma() -> None:
    """Inverse dynamics of the puma takes at most 185 multiplications and 155 additions."""
    ((_, cost),) = count(robot("puma560"), ("rnea",)).values()
    assert cost.multiplications <= 185
    assert cost.additions + cost.neg <= 155


@pytest.mark.parametrize("name", BUNDLED)
def test_the_search_never_makes_it_worse_and_finds_the_same_again(name: str) -> None:
    model = robot(name, BASES.get(name, "fixed")).model
    axes = search(model)
    found = operations(reduce(model, axes.turns, axes.slides))
    assert found <= operations(reduce(model))
    axes_module._searched.cache_clear()
    assert search(model) == axes


def test_a_search_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """An equal model and equal arguments have the same search; another budget has another one."""
    axes_module._searched.cache_clear()
    first = search(robot("double_pendulum").model)
    monkeypatch.setattr(axes_module, "_Descent", None)
    assert search(robot("double_pendulum").model) is first
    with pytest.raises(TypeError):
        search(robot("double_pendulum").model, budget=1)


def test_an_exhausted_budget_leaves_the_frames_as_they_are() -> None:
    model = robot("arm7").model
    axes = search(model, budget=0)
    assert set(axes.turns) | set(axes.slides) == {0.0}


def test_an_exhausted_budget_ends_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a long chain a single count may use all of the budget, so that other bodies are not counted."""
    model = build_robot(parse_urdf(synthetic.urdf(synthetic.chain(20)))).model
    counted: list[int] = []

    def counting(*arguments: Any) -> Count:
        count = axes_counted(*arguments)
        counted.append(count.least)
        return count

    axes_counted = axes_module.counted
    monkeypatch.setattr(axes_module, "counted", counting)
    budget = 10_000
    axes_module._searched.cache_clear()
    search(model, budget=budget)
    assert sum(counted) < budget + 3 * max(counted)


def test_legs_that_are_alike_are_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Legs that only differ in signs take as many operations, so only one of four is traced."""
    model = robot("quadruped12", "floating").model
    traced: list[int] = []

    def counting(reduced: ReducedModel, *arguments: Any) -> Count:
        traced.append(reduced.nbodies)
        return axes_counted(reduced, *arguments)

    axes_counted = axes_module.counted
    monkeypatch.setattr(axes_module, "counted", counting)
    axes_module._searched.cache_clear()
    axes = search(model)
    alike = len(traced)
    monkeypatch.setattr(axes_module, "_magnitudes", lambda reduced: (object(),))
    axes_module._searched.cache_clear()
    assert search(model) == axes
    assert len(traced) - alike > 3 * alike


def test_the_search_counts_the_equations_that_are_used() -> None:
    """If parallel joints share a frame, axes that were searched for one frame per body are not the best."""
    model = load_robot(PATHS["quadruped12"], tip="front_left_shank").model
    row = lookup("aba")
    form = row.form("bias")
    parallel = [k for k, body in enumerate(model.bodies) if body.name.endswith("shank")]
    assert len(parallel) == 1

    def together(*, searched: bool) -> int:
        axes = search(model, row, form, parallel=parallel if searched else ())
        return operations(reduce(model, axes.turns, axes.slides, parallel=parallel), row, form)

    assert together(searched=True) < together(searched=False)


def test_massless_bodies_between_joints() -> None:
    """A body that a joint moves may be beyond the chain of bodies that the search counts."""
    mass = '<inertial><mass value="2"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
    joints = (
        ("a", "revolute", "base", "one", "0 0 1"),
        ("b", "prismatic", "one", "two", "0.6 0.8 0"),
        ("c", "revolute", "two", "three", "0 0.6 0.8"),
        ("d", "prismatic", "three", "four", "0.8 0 0.6"),
        ("e", "prismatic", "three", "five", "0 0.8 0.6"),
        ("f", "revolute", "five", "six", "0.6 0 0.8"),
    )
    links = ["base", *(child for _, _, _, child, _ in joints)]
    text = "".join(
        f'<link name="{name}">{"" if name in ("two", "three") else mass}</link>' for name in links
    ) + "".join(
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="0.1 0.2 0.3" rpy="0.3 0.2 0.1"/><axis xyz="{axis}"/>'
        '<limit effort="1" velocity="1" lower="-1" upper="1"/></joint>'
        for name, kind, parent, child, axis in joints
    )
    model = build_robot(parse_urdf(f'<robot name="massless">{text}</robot>'.encode(), "massless.urdf")).model
    row = lookup("minv")
    found = search(model, row, row.form("moments"))
    reduced = reduce(model, found.turns, found.slides)
    assert operations(reduced, row, row.form("moments")) <= operations(
        reduce(model), row, row.form("moments")
    )
