"""Prints the constants of `rbdgen/graph/kernel_constants.py`: `python -m benchmarks.kernel_coefficients`.

The polynomials come from Remez exchange in 200-bit arithmetic, like those in
`benchmarks/sincos_coefficients.py`.
"""

from __future__ import annotations

from typing import get_args

import numpy as np
from mpmath import asin, atan, atanh, expm1, floor, frexp, ldexp, log, mp, mpf, nint, pi, sqrt, tan

from benchmarks.sincos_coefficients import PRECISION, RealName, error_of, fit, remez, rounded

GRID = 600  # points at which an error is evaluated

SLACK = 1 + mpf(2) ** -12
"""The factor by which intervals are larger than those of exact arithmetic."""

SIZES = {
    "double": {"exp": 11, "log": 7, "atan": 10, "asin": 12, "tan": 9},
    "float": {"exp": 6, "log": 3, "atan": 4, "asin": 5, "tan": 4},
}


def polynomials(real: RealName) -> dict[str, tuple[list[float], str]]:
    """The coefficients of each polynomial, and its error relative to the function."""
    with mp.workprec(PRECISION):
        bits, sizes = _bits(real), SIZES[real]
        found = {"exp": _exp(sizes["exp"], bits)}
        found["log"] = fit(
            lambda z: (2 * atanh(sqrt(z)) / sqrt(z) - 2) / z,
            lambda z: z / 2,
            sizes["log"],
            ((sqrt(2) - 1) / (sqrt(2) + 1)) ** 2 * SLACK,
            bits,
            GRID,
        )
        found["atan"] = fit(
            lambda z: (atan(sqrt(z)) / sqrt(z) - 1) / z, lambda z: z, sizes["atan"], SLACK / 9, bits, GRID
        )
        found["asin"] = fit(
            lambda z: (asin(sqrt(z)) / sqrt(z) - 1) / z, lambda z: z, sizes["asin"], mpf(1) / 4, bits, GRID
        )
        found["tan"] = fit(
            lambda z: (tan(sqrt(z)) / sqrt(z) - 1) / z,
            lambda z: z * sqrt(z) / tan(sqrt(z)),
            sizes["tan"],
            (pi / 8 * (1 + (mpf("0.002") if real == "float" else mpf(2) ** -10))) ** 2,
            bits,
            GRID,
        )
        return {name: ([_plain(real, c) for c in row], error) for name, (row, error) in found.items()}


def _exp(size: int, bits: int) -> tuple[list[mpf], str]:
    """(e^r - 1 - r) / r^2 on both sides of 0, where the powers of r vanish: after 1/2, the coefficients are
    rounded together, as they cannot be exchanged one by one.
    """

    def target(r: mpf) -> mpf:
        return (expm1(r) - r) / r**2

    def weight(r: mpf) -> mpf:
        return r**2 / abs(expm1(r))

    top = log(2) / 2 * SLACK
    others = remez(
        lambda r: (target(r) - 0.5) / r,
        lambda r: weight(r) * abs(r),
        size - 1,
        top,
        [],
        low=-top,
        points=GRID,
    )
    found = [mpf(1) / 2, *(rounded(c, bits) for c in others)]
    at = [top * (2 * i + 1 - GRID) / GRID for i in range(GRID)]
    return found, error_of(found, target, weight, at)


def splits(real: RealName) -> dict[str, tuple[float, float]]:
    """The numbers that are sums of a head and a tail."""
    with mp.workprec(PRECISION):
        short, grid = (42, 51) if real == "double" else (15, 22)
        head = ldexp(floor(ldexp(log(2), short)), -short)  # a multiple of it by an exponent is exact
        found = {"ln2": (head, log(2) - head)}
        for name, exact in (("half_angle", atan(mpf(1) / 2)), ("half_pi", pi / 2), ("pi", +pi)):
            head = ldexp(nint(ldexp(exact, grid)), -grid)  # sums of heads are exact
            found[name] = head, exact - head
        return {name: (_plain(real, head), _plain(real, tail)) for name, (head, tail) in found.items()}


def quarter_turn(real: RealName) -> list[float]:
    """pi/2 as a sum. Products of all parts but the last with numbers up to 2^16, or 2^13 for float, are
    exact.
    """
    bits, count = (37, 2) if real == "double" else (11, 4)
    with mp.workprec(PRECISION):
        rest, parts = pi / 2, []
        for _ in range(count):
            parts.append(ldexp(_nearest(real, ldexp(rest, bits - frexp(rest)[1])), frexp(rest)[1] - bits))
            rest -= parts[-1]
        parts.append(rounded(rest, _bits(real)))
        return [_plain(real, part) for part in parts]


def _nearest(real: RealName, x: mpf) -> mpf:
    return floor(x) if real == "double" else nint(x)


def _bits(real: RealName) -> int:
    return 53 if real == "double" else 24


def _plain(real: RealName, x: mpf) -> float:
    """The number as a float that prints in the fewest digits of its type."""
    return float(x) if real == "double" else float(str(np.float32(float(x))))


def main() -> None:
    """Prints the constants of both precisions."""
    for real in get_args(RealName):
        print(real)
        for name, (coefficients, error) in polynomials(real).items():
            print(f"  {name}: {', '.join(map(str, coefficients))} (error {error})")
        for name, (head, tail) in splits(real).items():
            print(f"  {name}: {head}, {tail}")
        print(f"  quarter_turn: {', '.join(map(str, quarter_turn(real)))}")


if __name__ == "__main__":
    main()
