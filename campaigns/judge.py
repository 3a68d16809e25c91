"""Judges results of one robot at one state: they are right, wrong, or of a problem that no double can solve.

The error that a problem excuses is measured: the reference computes the results again, with 60 digits, for
robots whose numbers differ by one rounding of a double. The changed numbers are those that algorithms compute
with: the entries of every rotation (which is then not orthogonal), every length, and the moments of every
link (mass, first moment and inertia). A link's moments are changed in proportion to those of all that the
link carries, as M, base parameters and articulated bodies are sums of moments about the link's frame, in some
axes. For example, a body 4 km along a joint's axis adds m p^2 = 6e7 kg m^2 to the inertia that the joint
carries, but nothing to the 1 kg m^2 about the joint's axis. In axes other than the joint's, the rounding of
6e7 disturbs this 1 kg m^2. A form whose axes happen to be those of the joint loses nothing, but no form can
rely on this.

The textbook's forms, which use spatial vectors, and forms with all quantities in one frame take moments about
points as far away as the world's origin or the first joint of another limb. For these forms alone, lengths
and moments are changed in proportion to their sizes as seen from there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from support.forms import FunctionForm

from campaigns.decimals import rounded
from campaigns.reference import Reference, rounding
from campaigns.trouble import Plan
from campaigns.verdicts import Verdict

ROUNDING = 2.0**-52

GOOD = 1e-12
"""The error, relative to the output's largest element, up to which every result is right."""

OFF = 1e-8
"""The relative error above which an excused case is counted as ill-conditioned."""

ROUNDINGS, CHANGES = 100.0, 20.0
"""The multiples of the effects of a rounding and of snapping that are allowed. A rotation in a chain is a
product of three rotations whose angles are sums: errors of 30 roundings were observed."""

SAMPLES = 8
"""The number of perturbed robots with which the effect of rounding is measured."""

ENERGIES = ("kinetic_energy", "potential_energy")

INVERTING = ("aba", "minv", "aba_derivatives", "aba_fext")

IN_ONE_FRAME = ("rnea_derivatives-looped", "aba_derivatives-looped")
"""Forms on a reduced model that do not compute in the bodies' own frames."""

Inputs = dict[str, np.ndarray]

Outputs = Sequence[np.ndarray]


@dataclass(frozen=True)
class Excuse:
    """The error that the problem itself allows, due to rounding and due to snapping, and both in words."""

    rounding: float
    snapping: float
    words: str


def difference(x: Outputs, y: Outputs, floor: float = 0.0) -> float:
    """The largest error of an output x relative to the largest element of y; infinite if x is not finite.

    The scale is at least `floor`, for outputs whose terms cancel.
    """
    worst = 0.0
    for ours, right in zip(x, y, strict=True):
        if not np.isfinite(ours).all():
            return math.inf
        error, scale = np.abs(ours - right).max(initial=0.0), np.abs(right).max(initial=floor)
        worst = max(worst, float(error / scale) if scale > 0 else float(error))
    return worst


class Judge:
    """Judges results of a plan's robot. Snapping changed its rotations and axes by `change`."""

    def __init__(self, plan: Plan, change: float) -> None:
        self.plan, self.change = plan, change
        self.reference = self._reference()
        self.nq, self.nv = self.reference.nq, self.reference.nv
        self._known: dict[bytes, dict[str, list[np.ndarray]]] = {}
        self._excuses: dict[tuple[bytes, str, bool], Excuse] = {}

    def _reference(self, **perturbed: Any) -> Reference:
        return Reference(self.plan.urdf, self.plan.floating, self.plan.gravity, **perturbed)

    @cached_property
    def _near(self) -> list[Reference]:
        """Robots with roundings of the numbers in the bodies' own frames."""
        return self._neighbours(afar=False)

    @cached_property
    def _afar(self) -> list[Reference]:
        """Robots with roundings of the numbers as seen from the first joint."""
        return self._neighbours(afar=True)

    def _neighbours(self, afar: bool) -> list[Reference]:
        rngs = map(np.random.default_rng, range(SAMPLES))
        return [self._reference(rounds=rounding(rng, ROUNDING), afar=afar) for rng in rngs]

    @cached_property
    def _snapped(self) -> list[Reference]:
        """Robots whose angles and axes differ by as much as snapping changed them, if it changed any."""
        if self.change < ROUNDING:
            return []
        return [self._reference(turns=rounding(np.random.default_rng(k), self.change)) for k in range(2)]

    def configuration(self, rng: np.random.Generator) -> np.ndarray:
        """Draws a random configuration, in two of five cases with zeros or right angles."""
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
        """The right results at a state, by function; those that invert M are missing if M is singular."""
        key = inputs["q"].tobytes() + inputs["v"].tobytes()
        if key not in self._known:
            self._known = {key: _rounded(self.reference(inputs))}
        return self._known[key]

    def __call__(
        self, label: str, form: FunctionForm, result: Outputs | Exception, inputs: Inputs
    ) -> Verdict:
        function = form.function.name
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
        excuse = self.excuse(form, inputs)
        if error <= excuse.rounding + excuse.snapping:
            return Verdict(ill_conditioned=error > OFF + excuse.snapping)
        return Verdict(f"{label}: off by {error:.1e}, allowed {excuse.words}", wrong=True)

    def floor(self, function: str, inputs: Inputs) -> float:
        """The least scale to which errors of a function are relative.

        It is a thousandth of the torque of the robot's weight at its full reach, with at least 1 m/s^2 in
        place of gravity. For functions that invert M, it is the acceleration due to this torque; for an
        energy, the sum of the magnitudes of all links' energies.
        """
        if function in ("crba", "minv"):
            return 0.0
        if function in ENERGIES:
            T, U = self.reference.energies(inputs)
            return float(np.abs(T if function == "kinetic_energy" else U).sum())
        pull = max(1.0, float(np.linalg.norm(self.plan.gravity)))
        moment = 1e-3 * pull * self.first_moment
        return moment * self._compliance(inputs) if function in INVERTING else moment

    def _compliance(self, inputs: Inputs) -> float:
        return float(np.abs(self.at(inputs)["minv"][0]).max())

    @cached_property
    def first_moment(self) -> float:
        """The largest first moment that a joint may carry, in kg m."""
        return max(float(link.carried.first) for link in self.reference.bodies)

    def is_singular(self, inputs: Inputs) -> bool:
        """Whether M cannot be inverted, or its inverse has fewer than three correct digits."""
        return "minv" not in self.at(inputs) or self._condition(inputs) * ROUNDING > 1e-3

    def _condition(self, inputs: Inputs) -> float:
        """The condition number of M, scaled so that its diagonal is 1."""
        M = self.at(inputs)["crba"][0]
        scale = np.sqrt(np.abs(np.diag(M)))
        if not scale.all():
            return math.inf
        return float(np.linalg.cond(M / np.outer(scale, scale)))

    def excuse(self, form: FunctionForm, inputs: Inputs) -> Excuse:
        afar = not form.form.reduced or str(form) in IN_ONE_FRAME
        key = inputs["q"].tobytes() + inputs["v"].tobytes(), form.function.name, afar
        if key not in self._excuses:
            self._excuses[key] = self._excuse(form.function.name, inputs, afar)
        return self._excuses[key]

    def _excuse(self, function: str, inputs: Inputs, afar: bool) -> Excuse:
        right = self.at(inputs)[function]
        moved = self._spread(self._afar if afar else self._near, function, inputs, right)
        snapped = self._spread(self._snapped, function, inputs, right)
        allowed = max(GOOD, ROUNDINGS * moved)
        words = f"{allowed:.1e} (effect of a rounding {moved:.1e}, of snapping {snapped:.1e})"
        return Excuse(allowed, CHANGES * snapped, words)

    def _spread(self, others: list[Reference], function: str, inputs: Inputs, right: Outputs) -> float:
        """The largest difference of the results of the other robots from the right ones."""
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
