"""A step with friction on small machines: the bits of this machine, and no branches but its counted loops."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from embedded.board import BOARDS, build_image, compile_subject, run_at_home, run_on_board
from embedded.subjects import Product
from support.cross import PINNED
from support.few import few

import rbdgen
from rbdgen import Point
from rbdgen.figures.code import Figures, figures
from rbdgen.figures.guarantees import violations
from rbdgen.model.contacts import SolverPlan
from rbdgen.options import Options
from rbdgen.pipeline.page import generate
from rbdgen.toolchain.cross import cross_compiler
from rbdgen.toolchain.targets import TARGETS

PAGE = Path(__file__).parents[2] / "docs" / "friction.md"

STATES = 3


def hopper() -> rbdgen.Robot:
    """A body on a leg with two joints, which touches the ground with a sphere and a point."""
    built = rbdgen.RobotBuilder("hopper").add_body("trunk", mass=3, inertia=(0.02, 0.03, 0.03))
    for name, parent, at in (("thigh", "trunk", (0, 0, 0)), ("shank", "thigh", (0, 0, -0.2))):
        solid = {"mass": 0.4, "com": (0, 0, -0.1), "inertia": (1e-3, 1e-3, 1e-4)}
        built.add_body(name, parent=parent, xyz=at, type="revolute", axis=(0, 1, 0), **solid)
    points = [Point("foot", "shank", (0, 0, -0.2), radius=0.02), Point("tail", "trunk", (-0.1, 0, -0.1))]
    return rbdgen.load_robot(built, base="floating", contacts=points, contact_solver=(3, 2, 0))


FORMS = {"straight": {}, "looped": {"contact_step": "looped"}}
"""The cheapest form, whose Newton steps are straight lines, and that for size."""


@pytest.fixture(scope="module", params=FORMS)
def product(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Product:
    form = FORMS[request.param]
    options = Options(functions=("contact_step",), real="float", target="cortex-m4f", variants=form)
    made = generate(hopper(), options, tmp_path_factory.mktemp("hopper"), compiled=False)
    return Product(made.folder, made.manifest)


def states(product: Product) -> np.ndarray:
    """Random states with a softness as it is in use; contacts are near the ground."""
    inputs = product.states("contact_step", STATES)
    law = [1e-2, 0.25, 1, 0, 0.0625, 0]
    inputs[:, -6:] = np.float32(law)
    return inputs


@pytest.mark.parametrize("board", few(["cortex-m4f", "rv32imafc"], ["cortex-m4f", "cortex-m7", "rv32imafc"]))
def test_on_the_board(board: str, product: Product, tmp_path: Path) -> None:
    subject, target = product.subject("contact_step"), TARGETS[board]
    assert board in BOARDS
    inputs = states(product)
    loops = product.manifest["functions"]["contact_step"]["loops"]
    home = run_at_home(subject, inputs, tmp_path / "home")
    image = build_image(subject, inputs, target, tmp_path / "board")
    result, executed = run_on_board(subject, image, target, list(image.figures.functions))
    np.testing.assert_array_equal(result.bits, home.bits)
    assert np.isfinite(result.values()).all()
    assert (result.values()[:, -7:-1] != 0).any()  # impulses
    assert sum(executed.values()) == 2 * STATES * image.figures.instructions(subject.function, loops)
    assert violations(image.figures, loops={subject.function: len(loops)}) == ()
    found = violations(image.figures)
    assert found[0].startswith(f"{subject.function}: {len(loops)} conditional branches")


def quadruped() -> rbdgen.Robot:
    feet = [f"{end}_{side}_shank" for end in ("front", "hind") for side in ("left", "right")]
    return rbdgen.load_robot("quadruped12", "floating", contacts=[Point(x, point=(0, 0, -0.2)) for x in feet])


class Code(NamedTuple):
    """The bytes of a step, and the instructions of a call."""

    flash: int
    solver: int
    """The bytes of the solver: of all but the straight line around it."""
    stack: int
    instructions: int


def code_of(robot: rbdgen.Robot, folder: Path, form: str) -> Code:
    """The figures of a step for a Cortex-M4F."""
    target = TARGETS["cortex-m4f"]
    options = Options(functions=("contact_step",), real="float", target=target.name, variants=FORMS[form])
    made = generate(robot, options, folder, compiled=False)
    subject = Product(made.folder, made.manifest).subject("contact_step")

    def compiled(name: str) -> Figures:
        (folder / name).mkdir()
        return figures(compile_subject(subject, target, folder / name), target.prefix)

    whole, name = compiled("whole"), subject.function
    (source,) = subject.sources
    line = rf"{name}_part\d\w*"
    apart = re.sub(
        rf"^static (void {line}\()", r"static __attribute__((noinline)) \1", source.read_text(), flags=re.M
    )
    source.write_text(apart)
    other = compiled("apart")
    around = sum(x.text for x in other.functions.values() if re.match(rf"{line}|\w+_sincos", x.name))
    instructions = whole.instructions(name, made.manifest["functions"]["contact_step"]["loops"])
    return Code(whole.flash(name), other.flash(name) - around, whole.stack(name), instructions)


def pinned_compiler() -> None:
    """Skips the test where another compiler is installed than that of the figures in the docs."""
    compiler = cross_compiler(TARGETS["cortex-m4f"])
    if compiler is None or not f"{compiler.family} {compiler.version}".startswith(PINNED):
        pytest.skip(f"told of {PINNED} for Arm")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("robot", few(["hopper"], ["hopper", "quadruped"]))
def test_code_as_told(robot: str, form: str, tmp_path: Path) -> None:
    """The figures are those in docs/friction.md, and the solver in loops takes less than 4 kB."""
    pinned_compiler()
    code = code_of({"hopper": hopper, "quadruped": quadruped}[robot](), tmp_path, form)
    (line,) = re.findall(rf"^\| {robot} on .*, {form} \|.*", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert code == tuple(int(x) for x in re.findall(r"\d+", line.replace(" ", "")))
    assert (code.solver < 4000) == (form == "looped")


def with_tail(points: int) -> rbdgen.Robot:
    """The hopper on more points."""
    robot = hopper()
    more = [replace(robot.model.contacts[1], name=f"tail{k}") for k in range(points - 2)]
    return replace(robot, model=replace(robot.model, contacts=(*robot.model.contacts, *more)))


@pytest.mark.campaign
def test_code_of_the_solver_does_not_grow(tmp_path: Path) -> None:
    """More sweeps, Newton steps and contacts take the code of few, except for tables of offsets."""
    pinned_compiler()
    long = replace(hopper().model, contact_solver=SolverPlan(10, 8, 0))
    robots = hopper(), replace(hopper(), model=long), with_tail(6)
    few_rows, many_steps, many_rows = (
        code_of(robot, tmp_path / f"{k}", "looped").solver for k, robot in enumerate(robots)
    )
    assert few_rows <= many_steps < few_rows + 200
    assert few_rows <= many_rows < few_rows + 500


def test_a_budget_of_flash_takes_the_loops(tmp_path: Path) -> None:
    options = Options(functions=("contact_step",), real="float", target="cortex-m4f", budget_flash=16_000)
    made = generate(hopper(), options, tmp_path)
    facts = made.manifest["functions"]["contact_step"]
    assert (facts["form"], facts["object_bytes"] < 16_000) == ("looped", True)


def test_code_does_not_grow_with_the_plan(tmp_path: Path) -> None:
    """Ten sweeps and eight Newton steps are calls of the functions of three sweeps and two Newton steps."""
    found = []
    for k, plan in enumerate((SolverPlan(3, 2, 0), SolverPlan(10, 8, 2))):
        robot = hopper()
        planned = replace(robot, model=replace(robot.model, contact_solver=plan))
        found.append(code_of(planned, tmp_path / f"{k}", "straight"))
    few_steps, many = found
    assert few_steps.solver > 8000
    assert many.flash < 1.15 * few_steps.flash


def test_its_error_in_float_leaves_the_residual_out(tmp_path: Path) -> None:
    """The residual is 0 except for rounding, so its relative error would be thousands."""
    options = Options(functions=("contact_step",), real="float", target="cortex-m4f")
    made = generate(hopper(), options, tmp_path)
    facts = made.manifest["functions"]["contact_step"]
    assert facts["float_error"] <= 1
    assert facts["object_bytes"] > 4000
    assert len(facts["loops"]) == 2  # the impulses are cleared, and the sweeps
