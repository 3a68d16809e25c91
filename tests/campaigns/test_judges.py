"""The judges of the campaigns condemn wrong results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from support.complex_step import Derivatives
from support.forms import forms_of
from support.pinocchio_oracle import PinocchioOracle, model_of_urdf

from campaigns import directions, emitted, forms, parameters, pytorch, sanitized
from campaigns.judge import GOOD, Judge, difference
from campaigns.paths import float_results
from campaigns.reference import FUNCTIONS
from campaigns.robots import case_of
from campaigns.trouble import plan
from rbdgen.emit.package import FunctionSource
from rbdgen.functions.differentiated import MODES
from rbdgen.functions.table import lookup
from rbdgen.model.build import Robot
from rbdgen.pipeline.robot import load_robot
from rbdgen.signature import BAR
from rbdgen.spatial.ops import Vector

SEED = 20


@pytest.mark.parametrize("mode", MODES)
def test_the_judge_of_directions_condemns(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Results that are off by 1e-5 of their size are wrong, at every state at which they are not 0."""
    right = directions.Subject.outputs
    attempt = directions.Subject(SEED, 4).attempt(0, mode)
    results = attempt.subject.outputs(attempt.row, attempt.form, attempt.inputs)
    large = [max(np.abs(x[k]).max() for x in results) > 1e-2 for k in range(len(directions.STATES))]
    assert any(large)
    monkeypatch.setattr(directions.Subject, "outputs", lambda *given: [x * (1 + 1e-5) for x in right(*given)])
    for verdict, seen in zip(attempt.verdicts(), large, strict=True):
        assert verdict.wrong == seen


def test_the_judge_of_parameters_condemns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Results that are off by 1e-7 of their size, and those for the values of the file, are wrong."""
    first = parameters.Subject(SEED, 4, range(8))
    trace = first.names.index("rnea")
    subject = parameters.Subject(SEED, 4, [trace])
    right, inputs = parameters.Subject.outputs, subject.inputs
    assert not any(verdict.wrong for verdict in subject.verdicts("rnea"))
    monkeypatch.setattr(parameters.Subject, "outputs", lambda *given: [x * (1 + 1e-7) for x in right(*given)])
    assert all(verdict.wrong for verdict in subject.verdicts("rnea"))
    defaults = np.tile([x.default for x in subject.values.parameters], (len(parameters.SETS), 1))
    monkeypatch.setattr(
        parameters.Subject, "outputs", lambda self, name, _: right(self, name, {**inputs, "p": defaults})
    )
    assert all(verdict.wrong for verdict in subject.verdicts("rnea"))


@pytest.fixture
def subject() -> forms.Subject:
    """A robot whose functions compute in double and have no packed results."""
    return next(x for k in range(99) if (x := forms.Subject(SEED, k)).real == "double" and not x.packed)


@pytest.mark.parametrize("change", [lambda x: x * (1 + 1e-7), lambda x: x + 1e-7])
def test_the_judge_of_forms_condemns(
    subject: forms.Subject, change: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Results that are off by 1e-7 are wrong, and a design that raises an unintended error crashes."""
    attempt = forms.Attempt(subject, lookup("crba"), "composite")
    assert not attempt.verdict(None).failed
    right = forms.interpreted
    monkeypatch.setattr(
        forms, "interpreted", lambda *given: {name: change(x) for name, x in right(*given).items()}
    )
    assert attempt.verdict(None).wrong
    monkeypatch.setattr(forms, "design_function", lambda task: 1 / 0)
    assert forms.Attempt(subject, lookup("crba"), "composite").verdict(None).crashed


def test_the_judge_of_emitted_code_condemns(subject: forms.Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong last bit, numbers beyond a result, a failing program and C that does not compile are found."""
    attempts = [forms.Attempt(subject, lookup(name), "composite") for name in ("aba", "crba")]
    sources = [(x.source, subject.states(x.row)) for x in attempts]
    library = emitted.Emitted(subject.robot, "double", subject.native, sources)
    assert [x.failed for x in library.verdicts()] == [False, False]
    right = emitted.interpreted

    def rounded(*given: Any) -> Any:
        return {k: np.nextafter(x, np.inf) for k, x in right(*given).items()}

    with monkeypatch.context() as patch:
        patch.setattr(emitted, "interpreted", rounded)
        assert [x.wrong for x in library.verdicts()] == [True, True]
    results = emitted.results

    def spilled(*given: Any) -> Any:
        """Returns results around which memory was overwritten."""
        found = results(*given)
        for _, around in (pair for call in found for pair in call):
            around[-1] = 0
        return found

    with monkeypatch.context() as patch:
        patch.setattr(emitted, "results", spilled)
        found = list(library.verdicts())
        assert all(x.wrong and "wrote beyond" in x.words for x in found)
    with monkeypatch.context() as patch:
        patch.setattr(emitted, "CALLED", Path(__file__))
        assert all(x.crashed for x in library.verdicts())
    monkeypatch.setattr(emitted, "FLAGS", ("-shared", "-fPIC", "-Werror", "-Dconst=nothing"))
    assert all(x.crashed and "does not compile" in x.words for x in library.verdicts())


def test_the_sanitizers_condemn(subject: forms.Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    """Arrays that are a byte too short, and a wrong last bit, are found."""
    attempt = forms.Attempt(subject, lookup("crba"), "composite")
    assert isinstance(attempt.source, FunctionSource)
    code = emitted.Emitted(subject.robot, "double", False, [(attempt.source, subject.states(attempt.row))])
    monkeypatch.setattr(sanitized, "COMPILERS", sanitized.COMPILERS[:1])
    with monkeypatch.context() as patch:
        patch.setattr(sanitized, "DRIVER", sanitized.DRIVER.replace("malloc(size)", "malloc(size - 1)"))
        [verdict] = sanitized.Sanitized(code, ["crba"]).verdicts()
    assert verdict.wrong
    assert "AddressSanitizer" in verdict.words
    right = emitted.interpreted
    monkeypatch.setattr(
        emitted, "interpreted", lambda *given: {k: np.nextafter(x, np.inf) for k, x in right(*given).items()}
    )
    [verdict] = sanitized.Sanitized(code, ["crba"]).verdicts()
    assert verdict.wrong
    assert "not the interpreter's" in verdict.words


def test_the_judge_of_gradients_condemns(subject: forms.Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    """Gradients that are off by 1e-7 of their size, and wrong values, are found."""
    row, model = lookup("rnea"), subject.robot.model
    exact: list[Any] = []

    def right(robot: Robot, name: str, arrays: Any, weights: Any, places: Any) -> Any:
        made = lookup(f"{name}_vjp", model).differentiated
        assert made is not None
        inputs = {x.name: y.reshape(len(y), -1) for x, y in zip(row.sized(model).inputs, arrays, strict=True)}
        bars = {y.name + BAR: w for y, w in zip(row.sized(model).outputs, weights, strict=True)}
        exact[:] = Derivatives(model, made.of, made.by, coordinates=True).gradients({**inputs, **bars})
        return None, exact

    monkeypatch.setattr(pytorch, "gradients", right)
    assert not pytorch.verdict(subject, row).failed
    monkeypatch.setattr(pytorch, "gradients", lambda *given: (None, [x * (1 + 1e-7) for x in exact]))
    assert pytorch.verdict(subject, row).wrong
    monkeypatch.setattr(pytorch, "gradients", lambda *given: ("no", []))
    assert pytorch.verdict(subject, row).wrong


def _loaded(kind: str, seed: int, folder: Path) -> tuple[Judge, Robot]:
    made = plan(kind, Random(seed))
    file = folder / "robot.urdf"
    file.write_text(made.urdf, encoding="utf-8")
    robot = load_robot(file, "floating" if made.floating else "fixed", 0.0)
    return Judge(made, 0.0), robot


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("kind", ["axis_aligned", "floating_base"])
def test_the_judge_condemns(kind: str, function: str, tmp_path: Path) -> None:
    """An element that is off by 1e-9 of the largest one, one that is no number, and an error are found."""
    judge, _ = _loaded(kind, 5, tmp_path)
    inputs = judge.state(np.random.default_rng(0))
    right, textbook = judge.at(inputs)[function], forms_of(function)[0]
    assert not judge("right", textbook, right, inputs).failed
    wrong = [x.copy() for x in right]
    wrong[-1].flat[-1] += 1e-9 * max(np.abs(wrong[-1]).max(), judge.floor(function, inputs))
    assert judge("off", textbook, wrong, inputs).wrong
    wrong[-1].flat[-1] = np.nan
    assert judge("nan", textbook, wrong, inputs).wrong
    assert judge("raised", textbook, ValueError("no"), inputs).crashed


def test_what_a_problem_excuses_is_measured(tmp_path: Path) -> None:
    """For bodies 4 km along the first joint's axis, in axes other than the joint's, 1e-11 is excused.

    An error of 1e-6 is wrong for this robot; one of 2e-12 is wrong for a robot of ordinary size.
    """
    long, looped = case_of(0, 2206), forms_of("rnea")[-1]
    judge = Judge(long.plan, 0.0)
    inputs = judge.state(long.rng)
    [right] = judge.at(inputs)["rnea"]
    assert str(looped) == "rnea-looped"
    assert not judge("lost", looped, [right * (1 + 1e-10)], inputs).failed
    assert judge("off", looped, [right * (1 + 1e-6)], inputs).wrong
    judge, _ = _loaded("axis_aligned", 5, tmp_path)
    inputs = judge.state(np.random.default_rng(0))
    [right] = judge.at(inputs)["rnea"]
    assert judge("off", looped, [right * (1 + 2 * GOOD)], inputs).wrong


def test_a_tilt_of_an_axis_is_seen(tmp_path: Path) -> None:
    """The results of a robot with one axis turned by 1e-9 rad are wrong in all forms."""
    judge, robot = _loaded("axis_aligned", 2, tmp_path)
    inputs = judge.state(np.random.default_rng(2))
    first, *others = robot.model.bodies
    x, y, z = first.joint.axis
    tilted = replace(first.joint, axis=Vector(x + 1e-9, y + 1e-9, z + 1e-9))
    model = replace(robot.model, bodies=(replace(first, joint=tilted), *others))
    for turn in (0, 1):
        for label, form, outputs in float_results(model, inputs, turn):
            assert judge(label, form, outputs, inputs).wrong, label


@pytest.mark.parametrize("kind", ["near_aligned", "wide_tree", "fixed_links", "floating_base"])
def test_the_reference_against_pinocchio(kind: str, tmp_path: Path) -> None:
    judge, robot = _loaded(kind, 7, tmp_path)
    inputs = judge.state(np.random.default_rng(1))
    oracle = PinocchioOracle(model_of_urdf(judge.plan.urdf, robot.base), robot.model)
    for function, right in judge.at(inputs).items():
        theirs = oracle(function, {name: x[None] for name, x in inputs.items()})
        assert difference([x[0] for x in theirs], right, judge.floor(function, inputs)) < 1e3 * GOOD, function
