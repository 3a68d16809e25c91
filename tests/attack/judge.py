"""Judges results of one robot at one state: right, wrong, or of a problem that no double can solve."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from attack.reference import Reference, rounded, rounding
from attack.trouble import Plan
from support.pinocchio_oracle import PinocchioOracle, model_of_urdf

from rbdgen.model.build import Robot

ROUNDING = 2.0**-52

GOOD = 1e-12
"""Relative to the output's largest element: no question is asked below this."""

OFF = 1e-8
"""An excused error above this is called ill-conditioned."""

ROUNDINGS, PINOCCHIOS, CONDITIONS, CHANGES, DISTANCES = 100.0, 100.0, 50.0, 20.0, 10.0
"""How many times the effect of a rounding, Pinocchio's error, the rounding of M, what snapping changed, the
rounding of the moment that turns all mass at full reach."""

UNJUDGED = ("kinetic_energy", "potential_energy")
"""The reference does not compute these yet: their own tests hold them to Pinocchio and to rationals."""

INVERTING = ("aba", "minv", "aba_derivatives", "aba_fext")

Inputs = dict[str, np.ndarray]

Outputs = Sequence[np.ndarray]


@dataclass(frozen=True)
class Verdict:
    """`words` say what is wrong, with its size."""

    words: str = ""
    wrong: bool = False
    crashed: bool = False
    ill_conditioned: bool = False

    @property
    def failed(self) -> bool:
        return self.wrong or self.crashed


@dataclass(frozen=True)
class Excuse:
    """The error that the problem itself allows: by rounding, by what snapping changed, and both in words."""

    rounding: float
    snapping: float
    words: str


def difference(x: Outputs, y: Outputs, floor: float = 0.0) -> float:
    """The worst output's largest error over its largest element; infinite where x is no number.

    `floor`: what an output is worth at least, where all that it sums up cancels.
    """
    worst = 0.0
    for ours, right in zip(x, y, strict=True):
        if not np.isfinite(ours).all():
            return math.inf
        error, scale = np.abs(ours - right).max(initial=0.0), np.abs(right).max(initial=floor)
        worst = max(worst, float(error / scale) if scale > 0 else float(error))
    return worst


class Judge:
    """Of a plan's robot. `change`: by how much snapping moved entries of rotations and axes."""

    def __init__(self, plan: Plan, change: float, robot: Robot | None = None) -> None:
        self.plan, self.change, self.robot = plan, change, robot
        self.reference = self._reference()
        self.nq, self.nv = self.reference.nq, self.reference.nv
        self._known: dict[bytes, dict[str, list[np.ndarray]]] = {}
        self._excuses: dict[tuple[bytes, str], Excuse] = {}

    def _reference(self, **perturbed: Any) -> Reference:
        return Reference(self.plan.urdf, self.plan.floating, self.plan.gravity, **perturbed)

    @cached_property
    def _neighbours(self) -> list[Reference]:
        """Robots whose file differs by a rounding of every number."""
        found = []
        for seed in range(2):
            rng = np.random.default_rng(seed)
            found.append(self._reference(turns=rounding(rng, ROUNDING), sizes=rounding(rng, ROUNDING)))
        return found

    @cached_property
    def _snapped(self) -> list[Reference]:
        """Robots whose angles and axes differ by as much as snapping moved them."""
        if self.change < ROUNDING:
            return []
        return [self._reference(turns=rounding(np.random.default_rng(k), self.change)) for k in range(2)]

    @cached_property
    def _pinocchio(self) -> PinocchioOracle:
        model = model_of_urdf(self.plan.urdf, "floating" if self.plan.floating else "fixed")
        model.gravity.linear = np.array(self.plan.gravity)
        return PinocchioOracle(model, self.robot.model)

    def configuration(self, rng: np.random.Generator) -> np.ndarray:
        """At random; now and then all zeros or right angles."""
        kind = rng.choice(["random", "random", "random", "zeros", "right"])
        q = np.zeros(self.nq)
        for link in self.reference.bodies:
            k = link.q[0]
            if link.type == "floating":
                q[k : k + 3] = rng.uniform(-1, 1, 3)
                quaternion = rng.standard_normal(4) if kind == "random" else np.array([0.0, 0.0, 0.0, 1.0])
                q[k + 3 : k + 7] = quaternion / np.linalg.norm(quaternion)
            elif kind != "zeros":
                turn = rng.uniform(-np.pi, np.pi) if kind == "random" else rng.integers(-2, 3) * np.pi / 2
                q[k] = 0.1 * turn if link.type == "prismatic" else turn
        return q

    def state(self, rng: np.random.Generator) -> Inputs:
        sizes = {"v": self.nv, "a": self.nv, "tau": self.nv, "fext": 6 * len(self.reference.bodies)}
        return {"q": self.configuration(rng)} | {k: rng.standard_normal(n) for k, n in sizes.items()}

    def rest(self, rng: np.random.Generator) -> Inputs:
        return {name: x * (name == "q") for name, x in self.state(rng).items()}

    def at(self, inputs: Inputs) -> dict[str, list[np.ndarray]]:
        """What is right at a state, by function; those that invert M are missing where M is singular."""
        key = inputs["q"].tobytes() + inputs["v"].tobytes()
        if key not in self._known:
            self._known = {key: _rounded(self.reference(inputs))}
        return self._known[key]

    def __call__(self, label: str, function: str, result: Outputs | Exception, inputs: Inputs) -> Verdict:
        right = self.at(inputs).get(function)
        if isinstance(result, Exception):
            if isinstance(result, ZeroDivisionError) and self.is_singular(inputs):
                return Verdict(ill_conditioned=True)
            return Verdict(f"{label}: {result!r}", crashed=True)
        if right is None:
            return Verdict(ill_conditioned=True)
        error = difference(result, right, self.floor(function, inputs))
        if error <= GOOD:
            return Verdict()
        excuse = self.excuse(function, inputs)
        if error <= excuse.rounding + excuse.snapping:
            return Verdict(ill_conditioned=error > OFF + excuse.snapping)
        return Verdict(f"{label}: off by {error:.1e}, allowed {excuse.words}", wrong=True)

    def floor(self, function: str, inputs: Inputs) -> float:
        """A thousandth of the weight at the robot's full reach; of the acceleration that it gives.

        Without gravity, of what an acceleration of 1 m/s^2 takes.
        """
        if function in ("crba", "minv"):
            return 0.0
        pull = max(1.0, float(np.linalg.norm(self.plan.gravity)))
        moment = 1e-3 * pull * self.mass * self.reach
        return moment * self._compliance(inputs) if function in INVERTING else moment

    def _compliance(self, inputs: Inputs) -> float:
        return float(np.abs(self.at(inputs)["minv"][0]).max())

    def _distant(self, function: str, inputs: Inputs) -> float:
        """The moment that gives all mass at full reach 1 rad/s^2, relative to the function's outputs.

        Forms add up moments about points that may be as far away.
        """
        floor = self.floor(function, inputs)
        size = min(np.abs(output).max(initial=floor) for output in self.at(inputs)[function]) or 1.0
        moment = self.mass * self.reach**2
        if function in INVERTING:
            return moment * self._compliance(inputs) * max(1.0, 1.0 / size)
        return moment / size

    @cached_property
    def mass(self) -> float:
        return sum(float(link.mass) for link in self.reference.links)

    @cached_property
    def reach(self) -> float:
        """The sum of all lengths, m."""
        links = self.reference.links
        return float(sum(np.abs(rounded(x)).sum() for link in links for x in (link.p, link.center)))

    def is_singular(self, inputs: Inputs) -> bool:
        """Whether M cannot be inverted, or keeps fewer than three of its digits."""
        return "minv" not in self.at(inputs) or self._condition(inputs) * ROUNDING > 1e-3

    def _condition(self, inputs: Inputs) -> float:
        """Of M, its diagonal scaled to ones."""
        M = self.at(inputs)["crba"][0]
        scale = np.sqrt(np.abs(np.diag(M)))
        if not scale.all():
            return math.inf
        return float(np.linalg.cond(M / np.outer(scale, scale)))

    def excuse(self, function: str, inputs: Inputs) -> Excuse:
        key = inputs["q"].tobytes() + inputs["v"].tobytes(), function
        if key not in self._excuses:
            self._excuses[key] = self._excuse(function, inputs)
        return self._excuses[key]

    def _excuse(self, function: str, inputs: Inputs) -> Excuse:
        right = self.at(inputs)[function]
        moved = self._spread(self._neighbours, function, inputs, right)
        snapped = self._spread(self._snapped, function, inputs, right)
        theirs = self._pinocchio(function, {name: x[None] for name, x in inputs.items()})
        pinocchio = difference([x[0] for x in theirs], right, self.floor(function, inputs))
        condition = self._condition(inputs) * ROUNDING if function in INVERTING else 0.0
        distant = self._distant(function, inputs) * ROUNDING
        allowed = max(
            GOOD,
            ROUNDINGS * moved,
            PINOCCHIOS * pinocchio if pinocchio < 1 else 0.0,
            CONDITIONS * condition,
            DISTANCES * distant,
        )
        words = (
            f"{allowed:.1e} (effect of a rounding {moved:.1e}, of snapping {snapped:.1e}; Pinocchio is "
            f"{pinocchio:.1e} off; rounding of M {condition:.1e}, of all mass at full reach {distant:.1e})"
        )
        return Excuse(allowed, CHANGES * snapped, words)

    def _spread(self, others: list[Reference], function: str, inputs: Inputs, right: Outputs) -> float:
        """How far others are from what is right."""
        floor = self.floor(function, inputs)
        found = [self._others(other, inputs).get(function) for other in others]
        return max((math.inf if x is None else difference(x, right, floor) for x in found), default=0.0)

    def _others(self, other: Reference, inputs: Inputs) -> dict[str, list[np.ndarray]]:
        key = id(other).to_bytes(8, "little") + inputs["q"].tobytes() + inputs["v"].tobytes()
        if key not in self._perturbed:
            self._perturbed[key] = _rounded(other(inputs))
        return self._perturbed[key]

    @cached_property
    def _perturbed(self) -> dict[bytes, dict[str, list[np.ndarray]]]:
        return {}


def _rounded(results: dict[str, list[Any]]) -> dict[str, list[np.ndarray]]:
    return {name: [rounded(x) for x in outputs] for name, outputs in results.items()}
