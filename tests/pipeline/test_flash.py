"""Functions are fitted into flash with few changes, of which the largest saving is first, or are refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from support.toys import torque

from rbdgen.cli import main
from rbdgen.emit.package import FunctionSource
from rbdgen.errors import BuildError, OptionError
from rbdgen.graph.cost import Cost
from rbdgen.options import Options
from rbdgen.pipeline.flash import fitted
from rbdgen.pipeline.page import generate
from rbdgen.pipeline.robot import load_robot
from rbdgen.resources import robot_root

PLAIN = {"rnea": 500, "aba": 900, "crba": 300, "minv": 700, "rnea_derivatives": 1000}
SMALL = {"rnea": 200, "aba": 350, "crba": 320, "minv": 300}
"""The sizes of the small forms; that of crba is larger than the plain one."""


def source(name: str, form: str) -> FunctionSource:
    made = torque()
    return replace(made, signature=replace(made.signature, name=name), form=form)


class Compiler:
    """Returns known sizes, and records which functions have the small form.

    If only some functions have it, one function takes `rest` bytes more.
    """

    def __init__(self, rest: int = 0) -> None:
        self.rest = rest
        self.asked: list[tuple[str, ...]] = []

    def __call__(self, functions: Sequence[FunctionSource]) -> dict[str, int]:
        forms = tuple(f.name for f in functions if f.form == "small")
        self.asked.append(forms)
        sizes = {f.name: (SMALL if f.form == "small" else PLAIN)[f.name] for f in functions}
        mixed = 0 < len(forms) < len(SMALL)
        return sizes | ({"rnea_derivatives": PLAIN["rnea_derivatives"] + self.rest} if mixed else {})


def fit(budget: int, compiler: Compiler) -> set[str]:
    """The functions that get their small form."""
    chosen = fitted(
        [source(name, "plain") for name in PLAIN],
        lambda: {name: [source(name, "small")] for name in SMALL},
        budget,
        compiler,
    )
    assert [f.name for f in chosen] == list(PLAIN), "in the order asked for"
    return {f.name for f in chosen if f.form == "small"}


def test_what_fits_stays() -> None:
    compiler = Compiler()
    assert fit(sum(PLAIN.values()), compiler) == set()
    assert compiler.asked == [()], "nothing else was compiled"


@pytest.mark.parametrize(
    ("budget", "changed"),
    [
        (3399, {"aba"}),
        (2850, {"aba"}),
        (2849, {"aba", "minv"}),
        (2450, {"aba", "minv"}),
        (2449, {"aba", "minv", "rnea"}),
        (2150, {"aba", "minv", "rnea"}),
    ],
)
def test_the_largest_saving_first(budget: int, changed: set[str]) -> None:
    compiler = Compiler()
    assert fit(budget, compiler) == changed
    assert set(compiler.asked[-1]) == changed, "what is chosen was measured as it is"


def test_the_measurement_decides() -> None:
    """If the measured size exceeds the budget after a change, another function is made smaller."""
    compiler = Compiler(rest=40)
    assert fit(2850, compiler) == {"aba", "minv"}
    assert [set(forms) for forms in compiler.asked[2:]] == [{"aba"}, {"aba", "minv"}]


def test_a_budget_that_cannot_be_met() -> None:
    with pytest.raises(BuildError) as caught:
        fit(2149, Compiler())
    assert str(caught.value) == (
        "budget_flash=2149: 2150 bytes are the least that was reached, 1 too many (rnea_derivatives 1000, "
        "aba 350, crba 300, minv 300, rnea 200); leave functions out, take trig='input' or allow more"
    )


BYTES = {("rnea", "plain"): 700, ("rnea", "middle"): 240, ("rnea", "small"): 200}
BYTES |= {("aba", "plain"): 900, ("aba", "middle"): 480, ("aba", "small"): 500}
WORK = {"plain": 1, "middle": 2, "small": 5}


@pytest.mark.parametrize(
    ("budget", "forms"),
    [
        (1599, ["middle", "plain"]),
        (720, ["middle", "middle"]),
        (719, ["small", "middle"]),  # the slowest form of aba is larger than a faster one, and is not taken
    ],
)
def test_the_fastest_form_that_fits(budget: int, forms: list[str]) -> None:
    def made(name: str, form: str) -> FunctionSource:
        return replace(source(name, form), cost=Cost(add=WORK[form]))

    chosen = fitted(
        [made("rnea", "plain"), made("aba", "plain")],
        lambda: {name: [made(name, form) for form in ("small", "middle")] for name in ("rnea", "aba")},
        budget,
        lambda functions: {f.name: BYTES[f.name, f.form] for f in functions},
    )
    assert [f.form for f in chosen] == forms


def test_loops_over_bodies_come_last() -> None:
    """Loops over limbs in both functions are preferred, as they fit and are faster."""
    sizes = {("rnea", "plain"): 125, ("rnea", "limb-loops"): 78, ("aba", "plain"): 290}
    sizes |= {("aba", "limb-loops"): 173, ("aba", "looped"): 45}

    def made(name: str, form: str) -> FunctionSource:
        return replace(source(name, form), form=form)

    chosen = fitted(
        [made("rnea", "plain"), made("aba", "plain")],
        lambda: {
            "rnea": [made("rnea", "limb-loops")],
            "aba": [made("aba", "limb-loops"), made("aba", "looped")],
        },
        260,
        lambda functions: {function.name: sizes[function.name, function.form] for function in functions},
    )
    assert [function.form for function in chosen] == ["limb-loops", "limb-loops"]


def test_no_other_form() -> None:
    with pytest.raises(BuildError, match="500 bytes are the least that was reached, 400 too many"):
        fitted([source("rnea", "plain")], dict, 100, Compiler())


def test_functions_without_a_form_in_loops_are_told() -> None:
    with pytest.raises(BuildError, match=r"\(com 500, no form in loops\); leave functions out"):
        fitted([source("com", "plain")], dict, 100, lambda _: {"com": 500})


def test_refused_without_measuring(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    urdf = robot_root() / "double_pendulum.urdf"
    options = Options(functions=("gravity",), budget_flash=5000)
    with pytest.raises(
        OptionError, match="budget_flash=5000: needs measured sizes; leave compiled=False out"
    ):
        generate(load_robot(urdf), options, tmp_path, compiled=False)
    with pytest.raises(OptionError, match="budget_flash=0 holds nothing; give a positive number of bytes"):
        Options(budget_flash=0)
    for name in ("budget_flash", "ram", "budget"):
        for wrong in ("x", 2.5, 1j, ()):
            with pytest.raises(OptionError, match="give a positive number"):
                Options.of(**{name: wrong})
    assert main([str(urdf), "-o", str(tmp_path), "-q", "--no-compile", "--budget-flash", "5000"]) == 2
    assert capsys.readouterr().err.startswith("rbdgen: error: --budget-flash 5000: needs measured sizes")
    assert not list(tmp_path.iterdir())


def test_on_the_host(tmp_path: Path) -> None:
    """A budget chooses loops for a host too; which ones depends on the vectors of its processor."""
    robot = load_robot(robot_root() / "quadruped12.urdf", "floating")
    made = generate(robot, Options(functions=("rnea",)), tmp_path / "plain")
    size = made.manifest["functions"]["rnea"]["object_bytes"]
    small = generate(robot, Options(functions=("rnea",), budget_flash=size - 1), tmp_path / "small")
    facts = small.manifest["functions"]["rnea"]
    runs = {"looped": 12, "limb-loops": 4}[facts["form"]]
    assert facts["object_bytes"] < size
    assert small.manifest["options"]["budget_flash"] == size - 1
    assert f"for (int k = 0; k < {runs}; ++k)" in (small.folder / facts["source"]).read_text()
