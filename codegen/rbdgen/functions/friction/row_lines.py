"""The straight lines of `row_loops.py`, each of which computes one run of a loop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from rbdgen.functions.friction.block import Slip, against, chosen_impulse, stopping_impulse
from rbdgen.functions.friction.cone import Cone, Scale, cone, shrunk
from rbdgen.functions.friction.held import Bounds, held
from rbdgen.functions.friction.linear import of_bounded, of_cone
from rbdgen.spatial.rows import Rows
from rbdgen.spatial.scalar import Scalar, add, maximum, mul, neg, select, sub
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.loops import Arrays

WEIGHTS: Final = 4
"""The number of elements of W of a point that can be other than 0: W_xx, W_xy, W_yy and W_nn."""


class Modes(NamedTuple):
    """What the derivative of F needs of a point, see `Cone`."""

    on: Scalar
    kappa: Scalar
    slides: Scalar
    x: Scalar
    y: Scalar
    held: Scalar


# ---- sweeps


def _block(x: State) -> tuple[Rows, Sequence[Scalar], Scalar]:
    """The block of G of a point, its velocity if its own impulse is 0, and its friction."""
    D = x.arrays["D"]
    return [list(D[k : k + 3]) for k in (0, 3, 6)], x.arrays["beside"], x.arrays["mu"][0]


def guess(x: State) -> Arrays:
    """The impulse that stops a point, and the first guess of the direction of its slip."""
    D, beside, mu = _block(x)
    stops = stopping_impulse(D, beside)
    return {"slip": Slip.of(D, beside, mu), "e": against(stops), "stops": stops}


def turn(x: State) -> Arrays:
    """A halving of the directions of the slip."""
    (a, b), (cosine, sine) = x.arrays["e"], x.arrays["halving"]
    return {"after": Slip(*x.arrays["slip"]).turned((a, b), cosine, sine)}


def choose(x: State) -> Arrays:
    """The impulse of a point, in both copies."""
    a, b = x.arrays["e"]
    return {"impulse": 2 * chosen_impulse(*_block(x), x.arrays["stops"], (a, b))}


def add_product(x: State) -> Arrays:
    """A sum with one more product."""
    (entry,), (factor,), (total,) = (x.arrays[name] for name in ("entry", "factor", "total"))
    return {"total_after": [add(total, mul(entry, factor))]}


# ---- the natural map


def _moved(x: State) -> tuple[list[Scalar], list[Scalar]]:
    """The impulses and velocities with a part of the change."""
    (factor,) = x.arrays["factor"]
    impulse, velocity = (
        [add(a, mul(factor, b)) for a, b in zip(x.arrays[name], x.arrays[change], strict=True)]
        for name, change in (("impulse", "change"), ("velocity", "faster"))
    )
    return impulse, velocity


def map_of_point(x: State) -> Arrays:
    """F of a point with friction, and its modes."""
    (mu,), (smoothing,), (tangential, _, normal) = (x.arrays[name] for name in ("mu", "smoothing", "r"))
    own = cone(*_moved(x), mu, Scale(tangential, normal, mul(smoothing, normal)))
    return {"values": own.F, "modes": Modes(own.on, own.kappa, own.slides, *own.direction, own.held)}


def map_of_row(x: State) -> Arrays:
    """F of a row of a bilateral contact."""
    _, (velocity,) = _moved(x)
    return {"values": [mul(x.arrays["r"][0], velocity)]}


def map_of_joint(x: State) -> Arrays:
    """F of a joint with limits or dry friction, and the derivative of P."""
    ((impulse,), (velocity,)), (r,) = _moved(x), x.arrays["r"]
    rho = 1 / r
    own = held(sub(velocity, mul(rho, impulse)), rho, Bounds(*x.arrays["law"]))
    return {"values": [mul(r, sub(velocity, own.velocity))], "freed": [own.free]}


def add_square(x: State) -> Arrays:
    """A sum with the square of one more number."""
    (value,), (total,) = x.arrays["value"], x.arrays["sum"]
    return {"sum_after": [add(total, mul(value, value))]}


# ---- a Newton step


def first(x: State) -> Arrays:
    """|F|^2 with the factor 0."""
    return {"best": [x.arrays["size"][0], 0]}


def better(x: State) -> Arrays:
    """The least |F|^2 and its factor. Comparisons with NaN are false."""
    (size,), (factor,), (least, taken) = (x.arrays[name] for name in ("size", "factor", "best"))
    return {"best_after": [select(size, least, size, least), select(size, least, factor, taken)]}


def twice(x: State) -> Arrays:
    """A number in both copies."""
    return {"copies": 2 * list(x.arrays["number"])}


def stepped(x: State) -> Arrays:
    """An impulse after the step, in both copies."""
    (impulse,), (change,), (_, taken) = (x.arrays[name] for name in ("number", "change", "best"))
    return {"copies": 2 * [add(impulse, select(0, taken, taken * change, 0))]}


def linear_of_point(x: State) -> Arrays:
    """W of a point, and D in the place of its block of N."""
    modes, r, (mu,) = Modes(*x.arrays["modes"]), x.arrays["r"], x.arrays["mu"]
    own = Cone((0, 0, 0), modes.on, modes.kappa, modes.slides, (modes.x, modes.y), 0, modes.held)
    equations = of_cone(own, r, mu, 0)
    (xx, xy, _), (_, yy, _), (_, _, nn) = equations.W
    return {"weights": [xx, xy, yy, nn], "own": [value for row in equations.D for value in row]}


def linear_of_joint(x: State) -> Arrays:
    """W and D of a joint."""
    equations = of_bounded(x.arrays["freed"][0], x.arrays["r"][0])
    return {"weight": equations.W[0], "own": equations.D[0]}


def weigh_point(x: State) -> Arrays:
    """A column of three rows of N with W times that of G."""
    (xx, xy, yy, nn), (a, b, c), before = (x.arrays[name] for name in ("weights", "G", "before"))
    column = (add(mul(xx, a), mul(xy, b)), add(mul(xy, a), mul(yy, b)), mul(nn, c))
    return {"after": [add(*pair) for pair in zip(before, column, strict=True)]}


def weigh_row(x: State) -> Arrays:
    """An element of N with w times that of G."""
    (weight,), (entry,), (before,) = (x.arrays[name] for name in ("weights", "G", "before"))
    return {"after": [add(before, mul(weight, entry))]}


def negated(x: State) -> Arrays:
    """-F."""
    return {"right": [neg(x.arrays["value"][0])]}


def pivot(x: State) -> Arrays:
    """The inverse of a pivot, which then is 0."""
    return {"inverse": [1 / x.arrays["pivot"][0]], "zero": [0]}


def divide(x: State) -> Arrays:
    """A number divided by a pivot."""
    return {"after": [mul(x.arrays["number"][0], x.arrays["inverse"][0])]}


def subtract(x: State) -> Arrays:
    """A number of another row less a multiple of that of the row of the pivot."""
    (number,), (factor,), (along,) = (x.arrays[name] for name in ("number", "factor", "along"))
    return {"after": [sub(number, mul(factor, along))]}


# ---- the end


def shrink(x: State) -> Arrays:
    """An impulse inside its cone, in both copies."""
    (a, b, z), (mu,) = x.arrays["impulse"], x.arrays["mu"]
    z = maximum(z, 0)
    return {"impulse_after": 2 * [*shrunk(a, b, mu * z), z]}


def start_error(x: State) -> Arrays:
    """The largest |F / r| and the sum of |F| before the first row: 0 and 0."""
    del x
    return {"largest": [0, 0]}


def error(x: State) -> Arrays:
    """The largest |F / r| with that of one more row, and the sum of |F|."""
    (value,), (r,), (largest, total) = (x.arrays[name] for name in ("value", "r", "largest"))
    size = abs(value)
    return {"largest_after": [maximum(largest, size / r), add(total, size)]}


def residual(x: State) -> Arrays:
    """The largest |F / r|, or NaN if any of them is."""
    largest, total = x.arrays["largest"]
    return {"residual": [select(-1, total, largest, total)]}
