"""Prints the constants of `templates/c/sincos_kernel.jinja`: `python -m benchmarks.sincos_coefficients`.

The polynomials come from Remez exchange in 200-bit arithmetic. Coefficients are rounded to the working
precision from the lowest degree up, and the others are fitted again after each rounding (the problem is that
of Brisebarre, Muller and Tisserand, "Computing machine-efficient polynomial approximations", 2006). The
reduction uses pi/2 in three parts, the first two short enough for exact products with the number of the
quadrant (Cody and Waite, "Software Manual for the Elementary Functions", 1980).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, get_args

import numpy as np
from mpmath import ceil, cos, floor, frexp, ldexp, log, lu_solve, matrix, mp, mpf, nint, nstr, pi, sin, sqrt

Function = Callable[[mpf], mpf]
Real = type[np.floating[Any]]
RealName = Literal["double", "float"]

PRECISION = 200  # bits
GRID = 400  # points at which an error is evaluated
ROUNDS = 40  # of exchanges, of which some ten are needed
ZERO = mpf(0)


def constants(real: RealName) -> dict[str, list[str]]:
    """The constants of each group as C literals without sign. The name of a group states its errors."""
    with mp.workprec(PRECISION):
        return _double() if real == "double" else _float()


def _double() -> dict[str, list[str]]:
    # |x| <= 1e5 is below 2^16 quadrants: 37 bits leave their products exact. No part is negative: -0 stays.
    groups = _reduction(np.float64, _split(53, 37, floor), 1e5)
    top = (pi / 4 + mpf(2) ** -30) ** 2
    # The error is relative for the sine, which may be small, and absolute for the cosine, as cos r >= 0.7.
    p, error = fit(
        lambda z: (sin(sqrt(z)) / sqrt(z) - 1) / z, lambda z: z * sqrt(z) / sin(sqrt(z)), 6, top, 53
    )
    groups[f"(sin(r) / r - 1) / z, relative error of the sine {error}"] = literals(np.float64, p)
    q, error = fit(lambda z: (cos(sqrt(z)) - 1 + z / 2) / z**2, lambda z: z**2, 6, top, 53)
    groups[f"(cos(r) - 1 + z / 2) / z^2, error of the cosine {error}"] = literals(np.float64, q)
    return groups


def _float() -> dict[str, list[str]]:
    # |x| <= 1e4 is below 2^13 quadrants. The second part is negative: -inf + inf makes NaN of an overflow.
    groups = _reduction(np.float32, _split(24, 11, ceil), 1e4)
    top = (pi / 4 + mpf("0.0015")) ** 2  # at 1e4 the rounding of x / (pi/2) passes the half by so much
    # Absolute errors; the cosine's weight grows towards the end, where rounding leaves it the least room.
    p, error = fit(lambda z: (sin(sqrt(z)) / sqrt(z) - 1) / z, lambda z: z * sqrt(z), 3, top, 24)
    groups[f"(sin(r) / r - 1) / z, error of the sine {error}"] = literals(np.float32, p)
    q, error = fit(lambda z: (cos(sqrt(z)) - 1) / z, lambda z: z * (1 + 3 * (z / top) ** 2), 3, top, 24)
    groups[f"(cos(r) - 1) / z, weighted error of the cosine {error}"] = literals(np.float32, q)
    return groups


def _reduction(real: Real, parts: list[mpf], limit: float) -> dict[str, list[str]]:
    scale = _overflow_scale(real, limit)
    magic = 3 << (np.finfo(real).nmant - 1)  # 1.5 times the first number without a fraction
    return {
        f"pi/2, error {_power_of_two(pi / 2 - sum(parts))}": literals(real, parts),
        f"scale that overflows beyond {limit:g}, 2/pi over it": literals(real, [scale, 2 / pi / scale]),
        "added, leaves no fraction": [f"{magic}.0{_suffix(real)}"],
    }


def _split(bits: int, part: int, first: Function) -> list[mpf]:
    """pi/2 as two parts of `part` bits, rounded by `first` and toward zero, and one of `bits` bits."""
    high = ldexp(first(ldexp(pi / 2, part - 1)), 1 - part)
    exponent = frexp(pi / 2 - high)[1]
    scaled = ldexp(pi / 2 - high, part - exponent)
    middle = ldexp(floor(scaled) if scaled > 0 else ceil(scaled), exponent - part)
    return [high, middle, rounded(pi / 2 - high - middle, bits)]


def _overflow_scale(real: Real, limit: float) -> mpf:
    """The largest factor that leaves `limit` finite; the next number after `limit` must overflow."""
    infinity, edge = real(np.inf), real(limit)
    with np.errstate(over="ignore"):
        factor = np.nextafter(np.finfo(real).max / edge, infinity)
        while not np.isfinite(factor * edge):
            factor = np.nextafter(factor, real(0))
        if np.isfinite(factor * np.nextafter(edge, infinity)):
            raise ValueError(f"no factor tells {limit} from its successor; choose another limit")
    return mpf(float(factor))


def fit(
    target: Function, weight: Function, size: int, top: mpf, bits: int, points: int = GRID
) -> tuple[list[mpf], str]:
    """Rounded coefficients of degree < `size` for `target` on (0, top], and the weighted error with them."""
    fixed: list[mpf] = []
    while len(fixed) < size:
        found = remez(target, weight, size, top, fixed, points=points)
        fixed.append(rounded(found[len(fixed)], bits))
    return fixed, error_of(fixed, target, weight, [top * i / GRID for i in range(1, GRID + 1)])


def error_of(coefficients: list[mpf], target: Function, weight: Function, at: list[mpf]) -> str:
    """The largest weighted error of a polynomial at some points."""
    return _power_of_two(max(abs(weight(z) * (target(z) - value(coefficients, z))) for z in at))


def remez(
    target: Function,
    weight: Function,
    size: int,
    top: mpf,
    fixed: list[mpf],
    low: mpf = ZERO,
    points: int = GRID,
) -> list[mpf]:
    """Coefficients that minimise max |weight (target - polynomial)| between `low` and `top`, the lowest ones
    `fixed`.
    """
    free = size - len(fixed)
    steps = [(1 - cos(pi * (i + mpf("0.1")) / (points + 1))) / 2 for i in range(points + 1)]
    grid = [*(low + (top - low) * step for step in steps), top]
    targets, weights = [target(z) for z in grid], [weight(z) for z in grid]
    nodes = [(2 * i + 1) * points // (2 * free + 2) for i in range(free + 1)]
    coefficients: list[mpf] = []
    for _ in range(ROUNDS):
        rows, right = matrix(free + 1, free + 1), matrix(free + 1, 1)
        for i, node in enumerate(nodes):
            for j in range(free):
                rows[i, j] = grid[node] ** (len(fixed) + j)
            rows[i, free] = (-1) ** i / weights[node]
            right[i] = targets[node] - value(fixed, grid[node])
        solution = lu_solve(rows, right)
        coefficients = fixed + [solution[j] for j in range(free)]
        errors = [w * (t - value(coefficients, z)) for w, t, z in zip(weights, targets, grid, strict=True)]
        if max(abs(error) for error in errors) <= abs(solution[free]) * (1 + mpf("1e-9")):
            break
        nodes = _alternation(errors, free + 1)
        if len(nodes) <= free:  # rounding in the function's own terms hides an extremum
            break
    return coefficients


def _alternation(errors: list[mpf], size: int) -> list[int]:
    """The points of extreme error, one in each run of equal sign: the `size` neighbouring ones that are
    largest."""
    runs = [[0]]
    for i in range(1, len(errors)):
        if errors[i] * errors[i - 1] < 0:
            runs.append([])
        runs[-1].append(i)
    peaks = [max(run, key=lambda i: abs(errors[i])) for run in runs]
    while len(peaks) > size:
        peaks.pop(0 if abs(errors[peaks[0]]) < abs(errors[peaks[-1]]) else -1)
    return peaks


def value(coefficients: list[mpf], z: mpf) -> mpf:
    return sum((c * z**i for i, c in enumerate(coefficients)), mpf(0))


def rounded(value: mpf, bits: int) -> mpf:
    """`value`, rounded to nearest with `bits` significant bits."""
    mantissa, exponent = frexp(value)
    return ldexp(nint(ldexp(mantissa, bits)), exponent - bits)


def literals(real: Real, values: list[mpf]) -> list[str]:
    return [f"{real(abs(float(value)))!s}{_suffix(real)}" for value in values]


def _suffix(real: Real) -> str:
    return "f" if real is np.float32 else ""


def _power_of_two(value: mpf) -> str:
    return f"2^{nstr(log(abs(value), 2), 4)}"


def main() -> None:
    """Prints the constants of both precisions."""
    for real in get_args(RealName):
        print(real)
        for name, values in constants(real).items():
            print(f"  {name}: {', '.join(values)}")


if __name__ == "__main__":
    main()
