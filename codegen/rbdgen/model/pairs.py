"""Chooses the pairs of capsules of a robot whose distances are computed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from rbdgen.description.capsules import Reason
from rbdgen.model.apart import Range, proved_apart, ranges
from rbdgen.model.clearances import Array, sampled
from rbdgen.model.distances import Capsule
from rbdgen.model.model import WORLD, Model

SAMPLES = 2000
"""The number of random configurations."""

NEAR = 0.02
"""Pairs that are never closer than this in m in random configurations are told."""

CLEAR = 0.002
"""The least sampled distance in m of pairs that are worth a proof."""

Pair = tuple[int, int]
"""The indices of two capsules, in order."""


@dataclass
class Chosen:
    """The pairs of a robot."""

    kept: list[Pair] = field(default_factory=list)
    left_out: dict[Pair, Reason] = field(default_factory=dict)
    far: list[Pair] = field(default_factory=list)
    """Kept pairs that are never closer than `NEAR` in random configurations, which is no proof."""


def all_pairs(capsules: Sequence[Capsule]) -> list[Pair]:
    """All pairs of capsules of different bodies. Links that do not move are one body."""
    return [(i, j) for i, j in combinations(range(len(capsules)), 2) if capsules[i].body != capsules[j].body]


def neighbours(model: Model, pairs: Sequence[Pair]) -> set[Pair]:
    """The pairs of which one body is the nearest one above the other that has capsules."""
    capsules = model.distances.capsules
    having = {x.body for x in capsules}
    above = {}
    for i in having - {WORLD}:
        parent = model.bodies[i].parent
        while parent != WORLD and parent not in having:
            parent = model.bodies[parent].parent
        above[i] = parent
    return {
        (i, j)
        for i, j in pairs
        if above.get(capsules[i].body) == capsules[j].body or above.get(capsules[j].body) == capsules[i].body
    }


def automatic(model: Model, disabled: Mapping[frozenset[str], str]) -> Chosen:
    """All pairs without those of neighbours, those that are disabled, those that are in contact in all random
    configurations, and those that are proved never to meet.

    `disabled` maps pairs of links to the reason of an SRDF.
    """
    capsules = model.distances.capsules
    pairs = all_pairs(capsules)
    near = neighbours(model, pairs)
    chosen = without_disabled([x for x in pairs if x not in near], capsules, disabled)
    chosen.left_out = {**dict.fromkeys(sorted(near), "neighbours"), **chosen.left_out}
    of = ranges(model)
    candidates, chosen.kept = chosen.kept, []
    least, most = sampled(model, capsules, candidates, samples(model, of))
    for pair, low, high in zip(candidates, least, most, strict=True):
        if high < 0:
            chosen.left_out[pair] = "always in contact"
            continue
        boxes = proved_apart(model, capsules[pair[0]], capsules[pair[1]], of) if low > CLEAR else None
        if boxes is not None:
            chosen.left_out[pair] = f"proved apart: {boxes} box{'' if boxes == 1 else 'es'}"
            continue
        chosen.kept.append(pair)
        chosen.far += [pair] if low > NEAR else []
    return chosen


def without_disabled(
    pairs: Sequence[Pair], capsules: Sequence[Capsule], disabled: Mapping[frozenset[str], str]
) -> Chosen:
    """These pairs without those of links that an SRDF disables."""
    chosen = Chosen()
    for i, j in pairs:
        reason = disabled.get(frozenset((capsules[i].link, capsules[j].link)))
        if reason is None:
            chosen.kept.append((i, j))
        else:
            chosen.left_out[i, j] = f"SRDF: {reason}"
    return chosen


def samples(model: Model, of: Range, count: int = SAMPLES) -> Array:
    """Random configurations (nq, count) within limits, always the same. Lengths without limits are within 1 m
    of 0."""
    random = np.random.default_rng(0)
    lower, upper = np.clip(of.lower, -1e6, 1e6), np.clip(of.upper, -1e6, 1e6)
    free = ~(np.isfinite(of.lower) & np.isfinite(of.upper))
    lower, upper = np.where(free, -1.0, lower), np.where(free, 1.0, upper)
    q = random.uniform(lower[:, None], upper[:, None], (len(lower), count))
    for joint in model.manifold.joints:
        for first in joint.space.quaternions:
            rows = slice(joint.idx_q + first, joint.idx_q + first + 4)
            quaternion = random.standard_normal((4, count))
            q[rows] = quaternion / np.linalg.norm(quaternion, axis=0)
    return q
