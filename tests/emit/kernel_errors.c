/* Measures the largest error of an elementary function in ulp, and counts wrong limits and results of numbers that differ from those
   of vectors. Compiled with OP (the function), ARITY, REAL with its WORD, MANTISSA and LEAST exponent, RANGE (beyond which results
   are NaN), REACH (of random numbers), and WIDE, a wider type with its function EXACT, which is __float128 if QUAD is defined. The
   arguments are how many operands are tried, and the first one: the bits of a float for ARITY 1, otherwise the seed of random
   numbers. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef QUAD
#include <quadmath.h>
#endif
#include "toy_math.h"
#include "toy_lanes.h"

#define JOINED(a, b) a##b
#define NAMED(a, b) JOINED(a, b)
#define LANES TOY_LANES
#if ARITY == 1
#define VALUE(prefix, x, y) NAMED(prefix, OP)(x)
#define TRUTH(x, y) EXACT((WIDE)(x))
#else
#define VALUE(prefix, x, y) NAMED(prefix, OP)(x, y)
#define TRUTH(x, y) EXACT((WIDE)(x), (WIDE)(y))
#endif

#ifdef QUAD
static int exponent_of(WIDE x) { return ilogbq(x); }
static WIDE power_of_two(int exponent) { return ldexpq(1, exponent); }
#else
static WIDE power_of_two(int exponent)
{
    const uint64_t bits = (uint64_t)(exponent + 1023) << 52;
    WIDE x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
static int exponent_of(WIDE x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return (int)(bits >> 52 & 2047) - 1023;
}
#endif

static uint64_t state;

static uint64_t drawn(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

static double uniform(double low, double high) { return low + (high - low) * ((double)(drawn() >> 11) * 0x1p-53); }

static REAL of_bits(WORD bits)
{
    REAL x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static double either(double x) { return drawn() & 1 ? x : -x; }

/* A number of any magnitude, between -1 and 1, where the function varies most, or near 1. */
static REAL operand(void)
{
    switch (drawn() % 5) {
    case 0: return of_bits((WORD)drawn());
    case 1: return (REAL)uniform(-1, 1);
    case 2: return (REAL)either(exp2(uniform(-60, 17)));
    case 3: return (REAL)either(1 - exp2(uniform(-MANTISSA - 1, -1)));
    default: return (REAL)uniform(-REACH, REACH);
    }
}

static WORD bits_of(REAL x)
{
    WORD bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

int main(int argc, char **argv)
{
    const uint64_t count = strtoull(argv[1], 0, 10), first = strtoull(argv[2], 0, 10);
    double worst = 0;
    REAL at[2] = {0, 0};
    unsigned long wrong = 0, differ = 0, compared = 0;
    (void)argc;
    state = 88172645463325252u + first;
    for (uint64_t i = 0; i < count; i += LANES) {
        REAL x[LANES], y[LANES], z[LANES], one[LANES];
        for (int k = 0; k < LANES; ++k) {
#if ARITY == 1 && !defined(QUAD)
            x[k] = of_bits((WORD)(first + i + (uint64_t)k));
            y[k] = 0;
#else
            x[k] = operand();
            y[k] = drawn() & 1 ? operand() : (REAL)((double)x[k] * exp2(uniform(-3, 3)));
#endif
        }
        TOY_AT(z) = VALUE(toy_lanes_, TOY_FROM(x), TOY_FROM(y));
        for (int k = 0; k < LANES; ++k)
            one[k] = VALUE(toy_math_, x[k], y[k]);
        for (int k = 0; k < LANES; ++k) {
            const int none = z[k] != z[k];
            if (bits_of(z[k]) != bits_of(one[k]) && !(none && one[k] != one[k]))
                ++differ;
            if (x[k] != x[k] || (ARITY == 2 && y[k] != y[k]) || (REAL)fabs((double)x[k]) > (REAL)RANGE) {
                wrong += !none;
                continue;
            }
            const WIDE exact = TRUTH(x[k], y[k]);
            const REAL rounded = (REAL)exact;
            ++compared;
            if (!isfinite(rounded) || !isfinite(z[k])) {
                wrong += !(rounded == z[k] || (none && rounded != rounded));
                continue;
            }
            const int exponent = exact == 0 ? LEAST : exponent_of(exact);
            const WIDE error = ((WIDE)z[k] - exact) * power_of_two(MANTISSA - (exponent < LEAST ? LEAST : exponent));
            const double ulp = fabs((double)error);
            if (ulp > worst) {
                worst = ulp;
                at[0] = x[k];
                at[1] = y[k];
            }
        }
    }
    printf("%.4f %.17g %.17g %lu %lu %lu\n", worst, (double)at[0], (double)at[1], wrong, differ, compared);
    return 0;
}
