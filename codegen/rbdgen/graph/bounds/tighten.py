"""Tighter bounds: a box is cut into parts, and the largest bounds of the parts hold for the box."""

from __future__ import annotations

from typing import Final

import numpy as np

from rbdgen.graph.bounds.enclosure import Array, Enclosure, Precision
from rbdgen.graph.bounds.interpreter import Bounder

_HUGE: Final = 1e300
"""Stands for infinity where bounds are compared."""


def tightened(bounder: Bounder, box: Enclosure, to: Precision, parts: int) -> Enclosure:
    """The enclosures of all elements, (elements,), over one box (size, 1), cut into this many parts at most.

    The parts with the largest bounds are halved first, each along the input that lowers its bounds most.
    """
    found = bounder.bound(box, to)
    free = [k for k in bounder.read if box.low[k, 0] < box.high[k, 0]]
    while free and box.low.shape[1] < parts:
        worst = _worst(found, min(parts - box.low.shape[1], max(1, box.low.shape[1] // 2), 4096))
        halves = _halved(box, worst, free)
        bounds = bounder.bound(halves, to)
        best = _best(bounds, _measure(found)[:, worst], len(free))
        kept = np.setdiff1d(np.arange(box.low.shape[1]), worst)
        box = _joined(_columns(box, kept), _columns(halves, best))
        found = _joined(_columns(found, kept), _columns(bounds, best))
    return Enclosure(found.low.min(axis=1), found.high.max(axis=1), found.error.max(axis=1))


def _measure(found: Enclosure) -> Array:
    """The numbers that cuts should make small: the errors and the largest magnitudes of all elements."""
    return np.asarray(np.minimum(np.concatenate([found.error, found.largest]), _HUGE))


def _worst(found: Enclosure, count: int) -> Array:
    """The parts with the largest bounds."""
    measure = _measure(found)
    most = measure.max(axis=1, keepdims=True)
    score = np.divide(measure, most, out=np.zeros_like(measure), where=most > 0).max(axis=0)
    return np.argsort(-score, kind="stable")[:count]


def _halved(box: Enclosure, worst: Array, free: list[int]) -> Enclosure:
    """Both halves of every part along every input: (size, parts * inputs * 2)."""
    rows = _columns(box, np.repeat(worst, 2 * len(free)))
    low, high = rows.low.copy(), rows.high.copy()
    inputs = np.tile(np.repeat(free, 2), len(worst))
    columns = np.arange(len(inputs))
    middle = low[inputs, columns] + (high[inputs, columns] - low[inputs, columns]) / 2
    upper = columns % 2 == 1
    low[inputs[upper], columns[upper]] = middle[upper]
    high[inputs[~upper], columns[~upper]] = middle[~upper]
    return Enclosure(low, high, rows.error)


def _best(bounds: Enclosure, before: Array, inputs: int) -> Array:
    """The columns of the best pair of halves of every part."""
    measure = _measure(bounds).reshape(len(before), -1, inputs, 2)
    old = before[:, :, None, None]
    ratios = np.divide(measure, old, out=np.ones_like(measure), where=old > 0)
    chosen = np.argmin(ratios.mean(axis=0).max(axis=-1), axis=-1)
    first = 2 * (np.arange(len(chosen)) * inputs + chosen)
    return np.concatenate([first, first + 1])


def _columns(found: Enclosure, columns: Array) -> Enclosure:
    return Enclosure(*(x[:, columns] for x in found))


def _joined(a: Enclosure, b: Enclosure) -> Enclosure:
    return Enclosure(*(np.concatenate(pair, axis=1) for pair in zip(a, b, strict=True)))
