"""Derive every constant of `templates/c/sincos.h.jinja` and print it as it stands there.

Polynomials: Remez exchange in 200-bit arithmetic; coefficients are rounded to the working precision from the lowest
degree up, and those still free are fitted anew after each rounding (Brisebarre, Muller, Tisserand, "Computing
machine-efficient polynomial approximations", 2006, describe the problem). Reduction: pi/2 in three parts, the first two
short enough for exact products with the quadrant's number (Cody and Waite, "Software Manual for the Elementary
Functions", 1980).

    python benchmarks/sincos_coefficients.py
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from mpmath import ceil, cos, floor, frexp, ldexp, log, lu_solve, matrix, mp, mpf, nint, nstr, pi, sin, sqrt

Function = Callable[[mpf], mpf]

GRID = 400


def rounded(value: mpf, bits: int) -> mpf:
    """`value` rounded to nearest with `bits` significant bits."""
    mantissa, exponent = frexp(value)
    return ldexp(nint(ldexp(mantissa, bits)), exponent - bits)


def split(bits: int, part: int, first: Function) -> list[mpf]:
    """pi/2 as three parts: two of `part` bits, the first rounded by `first`, the second towards zero; one of `bits` bits."""
    high = ldexp(first(ldexp(pi / 2, part - 1)), 1 - part)
    exponent = frexp(pi / 2 - high)[1]
    scaled = ldexp(pi / 2 - high, part - exponent)
    middle = ldexp(floor(scaled) if scaled > 0 else ceil(scaled), exponent - part)
    return [high, middle, rounded(pi / 2 - high - middle, bits)]


def overflow_scale(real: type[np.floating[Any]], limit: float) -> np.floating[Any]:
    """The largest factor that leaves `limit` finite; the next number after `limit` must overflow."""
    factor = np.finfo(real).max / real(limit)
    with np.errstate(over="ignore"):
        while np.isfinite(np.nextafter(factor, real(np.inf)) * real(limit)):
            factor = np.nextafter(factor, real(np.inf))
        while not np.isfinite(factor * real(limit)):
            factor = np.nextafter(factor, real(0))
        if np.isfinite(factor * np.nextafter(real(limit), real(np.inf))):
            raise ValueError(f"no factor separates {limit} from its successor; choose another limit")
    return factor


def remez(target: Function, weight: Function, size: int, top: mpf, fixed: list[mpf]) -> tuple[list[mpf], mpf]:
    """Coefficients of degree < `size` that minimise max |weight (target - p)| on (0, top], the lowest ones `fixed`."""
    free = size - len(fixed)
    grid = [top * (1 - cos(pi * (i + mpf(1) / 9) / (GRID + 1))) / 2 for i in range(GRID + 1)] + [top]

    def rest(z: mpf) -> mpf:
        return target(z) - sum(c * z**i for i, c in enumerate(fixed))

    nodes = [top * (1 - cos(pi * (2 * i + 1) / (2 * free + 2))) / 2 for i in range(free + 1)]
    while True:
        rows, right = matrix(free + 1, free + 1), matrix(free + 1, 1)
        for i, z in enumerate(nodes):
            for j in range(free):
                rows[i, j] = z ** (len(fixed) + j)
            rows[i, free] = (-1) ** i / weight(z)
            right[i] = rest(z)
        solution = lu_solve(rows, right)
        coefficients = fixed + [solution[j] for j in range(free)]
        errors = [weight(z) * (target(z) - sum(c * z**i for i, c in enumerate(coefficients))) for z in grid]
        worst = max(abs(error) for error in errors)
        if worst <= abs(solution[free]) * (1 + mpf(10) ** -3):
            return coefficients, worst
        nodes = alternation(grid, errors, free + 1)


def alternation(grid: list[mpf], errors: list[mpf], size: int) -> list[mpf]:
    """The `size` points of `grid` where the error is extreme, one for each run of equal sign."""
    runs = [[0]]
    for i in range(1, len(grid)):
        if errors[i] * errors[i - 1] < 0:
            runs.append([])
        runs[-1].append(i)
    peaks = [max(run, key=lambda i: abs(errors[i])) for run in runs]
    while len(peaks) > size:
        peaks.pop(0 if abs(errors[peaks[0]]) < abs(errors[peaks[-1]]) else -1)
    return [grid[i] for i in peaks]


def fit(name: str, target: Function, weight: Function, size: int, top: mpf, bits: int) -> None:
    """Print the rounded coefficients and the weighted error with them."""
    fixed: list[mpf] = []
    while len(fixed) < size:
        coefficients, _ = remez(target, weight, size, top, fixed)
        fixed.append(rounded(coefficients[len(fixed)], bits))
    points = [top * i / GRID for i in range(1, GRID + 1)]
    worst = max(abs(weight(z) * (target(z) - sum(c * z**i for i, c in enumerate(fixed)))) for z in points)
    real = np.float64 if bits == 53 else np.float32
    print(
        f"{name}: {', '.join(str(real(float(c))) for c in fixed)}  (weighted error 2^{nstr(log(worst, 2), 4)})"
    )


def derive(real: type[np.floating[Any]], bits: int, part: int, limit: float, first: Function) -> None:
    """Print the constants of the reduction for one precision."""
    parts = split(bits, part, first)
    scale = overflow_scale(real, limit)
    print(f"{real.__name__}: pi/2 = {' + '.join(str(real(float(p))) for p in parts)}")
    print(
        f"    error 2^{nstr(log(abs(pi / 2 - sum(parts)), 2), 4)}, scale {scale!s}, 2/pi/scale {real(float(2 / pi / mpf(float(scale))))}"
    )


def main() -> None:
    mp.prec = 200
    derive(np.float64, 53, 37, 1e5, floor)
    top = (pi / 4 + mpf(2) ** -30) ** 2
    # Relative for the sine, whose small values count; cos r >= 0.7 there, so absolute for the cosine.
    fit(
        "sine",
        lambda z: (sqrt(z) - sin(sqrt(z))) / sqrt(z) ** 3,
        lambda z: sqrt(z) ** 3 / sin(sqrt(z)),
        6,
        top,
        53,
    )
    fit("cosine", lambda z: (cos(sqrt(z)) - 1 + z / 2) / z**2, lambda z: z**2, 6, top, 53)
    derive(np.float32, 24, 11, 1e4, ceil)
    top = (pi / 4 + mpf("0.0015")) ** 2
    # Absolute errors; the cosine's weight grows to the end, where rounding leaves it the least room.
    fit("sine", lambda z: (sin(sqrt(z)) / sqrt(z) - 1) / z, lambda z: sqrt(z) ** 3, 3, top, 24)
    fit("cosine", lambda z: (cos(sqrt(z)) - 1) / z, lambda z: z * (1 + 3 * (z / top) ** 2), 3, top, 24)


if __name__ == "__main__":
    main()
