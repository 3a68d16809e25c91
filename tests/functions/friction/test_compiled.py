"""Steps in C: bits, precision in float, operations, and objects without branches on numbers."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support import soles
from support.contacts import robot_with_contacts
from support.few import few
from support.friction import Array, near_ground, problem, quadruped, recorded, step

import rbdgen
from rbdgen import Loop, Point
from rbdgen.checks.check import check_robot
from rbdgen.functions.friction.rows import SOLVER
from rbdgen.functions.friction.step import solver_of
from rbdgen.graph.programs.passes import TO_C, apply
from rbdgen.graph.programs.run import run
from rbdgen.options import Options
from rbdgen.pipeline.design import count, design_functions
from rbdgen.pipeline.request import Request
from rbdgen.runtime import Library
from rbdgen.selection.trace import trace_inner


def walker() -> rbdgen.Robot:
    """A body with two legs, on a point and a sphere, that hangs on a rope."""
    built = rbdgen.RobotBuilder("walker").add_body("trunk", mass=3, inertia=(0.02, 0.03, 0.03))
    for side, y in (("left", 0.1), ("right", -0.1)):
        solid: dict[str, Any] = {"mass": 0.5, "com": (0.01, 0, -0.1), "inertia": (2e-3, 2e-3, 1e-3)}
        built.add_body(side, parent="trunk", xyz=(0, y, 0), type="revolute", axis=(0, 1, 0.2), **solid)
    held = [
        Point("left", "left", (0, 0, -0.2)),
        Loop("rope", "trunk", (0, 0, 0.2), "world", (0, 0, 1)),
        Point("right", "right", (0, 0, -0.2), radius=0.02),
    ]
    return rbdgen.load_robot(
        built,
        base="floating",
        contacts=held,
        contact_solver=(3, 3, 1),
    )


GOLDEN = Path(__file__).parents[2] / "golden"

NAMES = ("q", "v", "tau", "dt", "ground", "friction", "law")


@pytest.fixture(scope="module")
def lib() -> Library:
    return rbdgen.build(walker(), ["contact_step"])


def given(lib: Library, count: int) -> dict[str, Array]:
    """States near the ground as a call takes them."""
    inputs = near_ground(walker().model, count)
    shapes = {x.name: x.shape for x in lib.contact_step.signature.inputs}
    return {name: inputs[name].reshape(count, *shapes[name]) for name in NAMES}


def test_bits_of_calls_batches_and_threads(lib: Library) -> None:
    """The result for a state does not depend on the states beside it, or on threads."""
    inputs = given(lib, 37)
    batch = lib.contact_step(*inputs.values())
    assert (batch.impulse != 0).any(1).mean() > 0.3
    for k in range(37):
        for one, many in zip(lib.contact_step(*(x[k] for x in inputs.values())), batch, strict=True):
            np.testing.assert_array_equal(one, many[k])
    for one, other in zip(lib.contact_step(*inputs.values(), threads=2), batch, strict=True):
        np.testing.assert_array_equal(one, other)


def test_compiled_steps_are_those_of_the_algorithm(lib: Library) -> None:
    inputs = given(lib, 50)
    found = lib.contact_step(*inputs.values())
    expected = step(walker().model, **{x: y.reshape(50, -1) for x, y in inputs.items()})
    solved = expected.residual[:, 0] < 1e-9
    assert solved.mean() > 0.8
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one[solved], other[solved], rtol=0, atol=1e-10)


def test_nan_stays_in_its_lane(lib: Library) -> None:
    inputs = given(lib, 16)
    clean = lib.contact_step(*inputs.values())
    for name in ("q", "v", "tau"):
        spoilt = inputs[name].copy()
        spoilt[5, 0] = np.nan
        found = lib.contact_step(*{**inputs, name: spoilt}.values())
        for one, other in zip(found, clean, strict=True):
            assert np.isnan(one[5]).any()
            np.testing.assert_array_equal(np.delete(one, 5, 0), np.delete(other, 5, 0))


@pytest.mark.parametrize("real", few(["float"], ["double", "float"]))  # that of soles is in double
def test_the_emitted_self_test_has_the_interpreters_bits(real: Any) -> None:
    """`rbdgen check` compares the bits of the interpreter with those of C, and batches with single calls."""
    findings = check_robot(walker(), Options(functions=("contact_step",), real=real))
    assert [finding for finding in findings if finding.passed is False] == []
    assert {finding.what for finding in findings if finding.passed} == {
        "emitted self-test",
        "batches of any size, bit for bit",
    }


def test_the_solver_in_float() -> None:
    """In float, the velocities that impulses of recorded motions cause have errors below 1e-5 m/s.

    Velocities of the whole step also have the error of the height above the ground divided by dt.
    """
    motions, solver = recorded().inputs, solver_of(quadruped())
    arrays, count = problem(motions), len(motions["q"])
    columns = {name: [np.broadcast_to(x, (count,)) for x in xs] for name, xs in arrays.items() if xs}
    narrow = {name: np.float32(np.stack(xs, 1)) for name, xs in columns.items()}
    rounded = {name: np.float64(xs) for name, xs in narrow.items()}
    program = trace_inner(quadruped(), SOLVER, "graph")
    with np.errstate(all="ignore"):
        found, expected = run(program, narrow), run(program, rounded)
    assert found["solved"].dtype == np.float32
    assert expected["residual"].max() < 1e-9
    G = np.array([np.stack(row) for row in solver.unstripped(list(rounded["strips"].T))])
    change = np.einsum("ijs,sj->si", G, np.float64(found["solved"]) - expected["solved"])
    assert 1e-9 < np.abs(change).max() < 1e-5


def test_all_engines_generate_steps(tmp_path: Path) -> None:
    built = rbdgen.RobotBuilder("ball").add_body("ball", mass=2, inertia=(0.1, 0.1, 0.1))
    robot = rbdgen.load_robot(built, base="floating", contacts=[Point("at", "ball", radius=0.1)])
    costs = []
    for engine in ("casadi", "sympy", "graph"):
        folder = rbdgen.generate(robot, tmp_path / engine, ["contact_step"], engine=engine, compiled=False)
        manifest = json.loads((folder / "manifest.json").read_text())
        costs.append(manifest["functions"]["contact_step"]["operations"]["total"])
    assert costs[0] == costs[1] == costs[2]


# ---- operations


def counted(plans: Sequence[tuple[int, int, int]], names: Sequence[str]) -> list[str]:
    """The operations of the solver of the quadruped for each plan, and of its functions."""
    lines = []
    for plan in plans:
        program = apply(trace_inner(quadruped(plan), SOLVER, "graph"), TO_C)
        lines.append(f"solver {plan}: {program.cost}\n")
    found = count(robot_with_contacts("quadruped"), names)
    return [*lines, *(f"{function}: {form}: {cost}\n" for function, (form, cost) in found.items())]


def total(line: str) -> int:
    """The number of operations in a line of `counted`."""
    return int(line.split(" = ", maxsplit=1)[0].rsplit(maxsplit=1)[-1])


def test_operations_of_the_default_solver() -> None:
    """The campaign pins all others."""
    solver, step = counted([(3, 2, 0)], ["contact_step"])
    assert total(solver) <= 13_200
    pinned = (GOLDEN / "chosen_counts" / "contact_step.txt").read_text().splitlines(keepends=True)
    assert {solver, step} <= set(pinned)


@pytest.mark.campaign
def test_operations(golden: Callable[[str, str], None]) -> None:
    """Pins the operations of each plan for four points, and of all functions of the step of the quadruped."""
    derivatives = ["contact_step_derivatives", "contact_aba_derivatives"]
    names = ["contact_step", "contact_step_servo", "contact_step_jvp", "contact_step_vjp", *derivatives]
    lines = counted([(3, 1, 0), (3, 2, 0), (3, 3, 1)], names)
    asked = Options(functions=("contact_aba_derivatives",), variants={"contact_aba_derivatives": "columns"})
    (closed,) = design_functions(Request(robot_with_contacts("quadruped"), asked))
    assert total(lines[-2]) <= 1.1 * closed.cost.total  # both solve column by column
    golden("chosen_counts/contact_step.txt", "".join(lines))


def compared_before_jumps(text: str) -> list[str]:
    """The comparisons of two numbers upon which an assembly text jumps.

    Sines compare a number with itself, to find angles that are too large for their own polynomials.
    """
    found: list[str] = []
    flags: list[str] = []
    for line in text.splitlines():
        words = line.replace(",", " ").split()
        if words and re.match(r"v?u?comis[sd]|cmp|test|add|sub|dec|inc|and|or\b|xor|neg", words[0]):
            flags = words
        elif words and re.match(r"j(?!mp)", words[0]) and "comis" in flags[0] and flags[1] != flags[2]:
            found.append(" ".join(flags))
    return found


@pytest.mark.parametrize("make", few([walker], [walker, soles.walker]), ids=["points", "soles"])
@pytest.mark.parametrize("compiler", [name for name in ("gcc", "clang") if shutil.which(name)])
def test_objects_do_not_branch_on_numbers(
    make: Callable[[], rbdgen.Robot], compiler: str, tmp_path: Path
) -> None:
    """Conditional jumps close counted loops, and none depends on a comparison of numbers."""
    assert compared_before_jumps(" ucomisd %xmm0, %xmm1\n movq %rax, %rbx\n ja .L2") != []
    assert compared_before_jumps(" ucomisd %xmm0, %xmm1\n cmpq $4, %rax\n jne .L2") == []
    folder = rbdgen.generate(make(), tmp_path, ["contact_step"], compiled=False)
    (source,) = (path for path in folder.glob("*_contact_step.c"))
    flags = ["-std=gnu99", "-O2", "-fno-math-errno", "-ffp-contract=off", "-S", f"-I{source.parent}"]
    target = tmp_path / "step.s"
    subprocess.run([compiler, *flags, str(source), "-o", str(target)], check=True, capture_output=True)
    text = target.read_text()
    assert compared_before_jumps(text) == []
    assert len(re.findall(r"^\s+v?u?comis[sd]|^\s+v?cmp\w*s[sd]", text, re.MULTILINE)) > 10
