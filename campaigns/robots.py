"""Random robots: every function in every form, judged by 60 digits.

A case is a robot of one of the kinds below, written as a URDF and loaded with snap 0 or the default. At one
state (random, or all zeros, or right angles) half of the forms of the functions run on floats; the other half
run with the next robot of its kind. For every 20th robot, one function is designed as for a user (searched
frames, the cheapest form, all passes) and interpreted. For every 200th robot, one function is compiled, in
double or in float; single calls and batches must have the interpreter's bits, except for the sign of a zero.

The judge, `reference.py`, reads the URDF by itself and computes with 60 digits. Errors of 1e-12 of the
largest element always pass. A larger error is wrong unless the problem excuses it: it is within 100 times the
effect of one rounding of rotations, of lengths and of the moments that every link carries, or 20 times the
effect of what snapping changed, both computed with 60 digits as well.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from campaigns.judge import Judge
from campaigns.paths import compiled_results, designed_results, float_results
from campaigns.tally import Tally, total
from campaigns.trouble import KINDS as TROUBLE
from campaigns.trouble import Plan, plan
from campaigns.verdicts import Verdict
from rbdgen.errors import ModelError
from rbdgen.model.build import DEFAULT_SNAP, Robot, build_robot
from rbdgen.model.model import Body
from rbdgen.model.robot import Base
from rbdgen.pipeline.robot import load_robot

KINDS = {name: words for name, (words, _) in TROUBLE.items()}

SIZE = 10_000

Inputs = dict[str, np.ndarray]


@dataclass(frozen=True)
class Case:
    """A robot, a snap and a random generator for states, which follow from the seed and the number."""

    seed: int
    number: int
    plan: Plan
    snap: float
    rng: np.random.Generator

    @property
    def name(self) -> str:
        return f"--only robots --seed {self.seed} --case {self.number} ({self.plan.kind}, snap {self.snap:g})"


def case_of(seed: int, number: int) -> Case:
    rng = Random(f"{seed} {number}")
    kind = list(KINDS)[number % len(KINDS)]
    robot = plan(kind, rng)
    snap = rng.choice((0.0, DEFAULT_SNAP))
    return Case(seed, number, robot, snap, np.random.default_rng([seed, number]))


def run(seed: int, size: int) -> Tally:
    return total(run_case(seed, number) for number in range(size))


def run_case(seed: int, number: int) -> Tally:
    case = case_of(seed, number)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "attacked.urdf"
        file.write_text(case.plan.urdf, encoding="utf-8")
        base: Base = "floating" if case.plan.floating else "fixed"
        try:
            robot = load_robot(file, base, case.snap, case.plan.gravity)
        except ModelError as error:
            return _refused(case, error)
        except Exception as error:
            return Tally(1, crashed=1, notes=(f"{case.name}: load: {error!r}",))
        return _judged(case, robot)


def _refused(case: Case, error: ModelError) -> Tally:
    """The tally of a refused robot: the refusal is right if M is singular, else wrong."""
    judge = Judge(case.plan, 0.0)
    if judge.nv == 0 or all(judge.is_singular(judge.rest(case.rng)) for _ in range(3)):
        return Tally(1)
    return Tally(1, wrong=1, notes=(f"{case.name}: refused, though M is regular: {error}",))


def _judged(case: Case, robot: Robot) -> Tally:
    judge = Judge(case.plan, _change(robot))
    inputs = judge.state(case.rng)
    verdicts = list(_verdicts(case, robot, judge, inputs))
    notes = tuple(f"{case.name}: {verdict.words}" for verdict in verdicts if verdict.failed)
    return Tally(
        1,
        wrong=int(any(verdict.wrong for verdict in verdicts)),
        crashed=int(any(verdict.crashed for verdict in verdicts)),
        ill_conditioned=int(any(verdict.ill_conditioned for verdict in verdicts)),
        notes=notes[:3],
    )


def _verdicts(case: Case, robot: Robot, judge: Judge, inputs: Inputs) -> Iterator[Verdict]:
    turn, rest = divmod(case.number, len(KINDS))
    for label, form, outputs in float_results(robot.model, inputs, turn):
        yield judge(label, form, outputs, inputs)
    if rest == turn % len(KINDS):
        for label, form, outputs in designed_results(robot, inputs, case.rng):
            yield judge(label, form, outputs, inputs)
        if turn % 10 == 0:
            yield from compiled_results(robot, judge, case.rng)


def _change(robot: Robot) -> float:
    """The largest change by snapping of an entry of a rotation or an axis, or, relatively, of an inertia."""
    if robot.snap == 0:
        return 0.0
    free = build_robot(robot.description, robot.base, 0.0, robot.model.gravity).model
    return max(map(_distance, robot.model.bodies, free.bodies))


def _distance(a: Body, b: Body) -> float:
    J = _rows(b.inertia.rotational)
    size = np.trace(np.abs(J)) or 1.0
    return float(
        max(
            np.abs(_rows(a.placement.rotation) - _rows(b.placement.rotation)).max(),
            np.abs(_rows([a.joint.axis]) - _rows([b.joint.axis])).max(),
            np.abs(_rows(a.inertia.rotational) - J).max() / size,
        )
    )


def _rows(matrix: Any) -> np.ndarray:
    return np.array([[float(x) for x in row] for row in matrix])
