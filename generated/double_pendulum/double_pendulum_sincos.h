/* Sine and cosine together, for |x| <= double_pendulum_SINCOS_RANGE with an error of at most 1 ulp;
   beyond it both are NaN; NaN and infinities give NaN. The results must not overlap x.

   By + - * alone and without branches: the same instructions for every value,
   with contraction off the same bits on every IEEE 754 machine. Rounding to nearest, the default, is assumed.

   n is x / (pi/2) rounded to nearest, by adding a constant so large that no fraction is left in t; t's lowest
   bits then hold n mod 4. The factor before it makes x overflow just beyond the range, and NaN of all that follows.
   x - n pi/2 is taken with pi/2 in three parts, the first two short enough for exact products (Cody and Waite).
   On |r| <= pi/4 minimax polynomials in z = r^2 give sine and cosine; n mod 4 exchanges and negates them. */
#ifndef double_pendulum_SINCOS_H
#define double_pendulum_SINCOS_H

#include <float.h>
#include <stdint.h>

/* gcc and clang need no C library to copy a number's bits. */
#if defined(__GNUC__)
#define double_pendulum_COPY __builtin_memcpy
#else
#include <string.h>
#define double_pendulum_COPY memcpy
#endif

#if defined(__FAST_MATH__) || defined(_M_FP_FAST)
#error "double_pendulum_sincos needs IEEE 754 arithmetic: compile without -ffast-math, -Ofast or /fp:fast"
#endif
/* 16: half precision is its own type too, which changes nothing here. */
#if defined(FLT_EVAL_METHOD) && FLT_EVAL_METHOD != 0 && FLT_EVAL_METHOD != 16
#error "double_pendulum_sincos needs operations rounded to their own type: on 32-bit x86 compile with -msse2 -mfpmath=sse, on s390x with -std=gnu99"
#endif

#define double_pendulum_SINCOS_RANGE 1e5

static inline void double_pendulum_sincos(double x, double *s, double *c)
{
    /* sin of 0, 1, 2, 3, 4 quarter turns, so cos from the second on; -0 lets the sign of a zero through. */
    static const double quarter[5] = {-0.0, 1.0, 0.0, -1.0, 0.0};
    const double t = x * 1.7976931348623158e+303 * 3.5413150332597764e-304 + 6755399441055744.0;
    const double n = t - 6755399441055744.0;
    /* x - n pi/2 = a - b - ... is r - d, with d below half an ulp of r. */
    const double a = x - n * 1.5707963267923333;
    const double b = n * 2.5633441515839558e-12;
    const double y = a - b;
    const double w = n * 1.0562999066987428e-23 - ((a - y) - b);
    const double r = y - w;
    const double d = (r - y) + w;
    const double z = r * r;
    const double zz = z * z;
    const double h = 0.5 * z;
    const double u = 1.0 - h;
    const double p = (0.1666666666666663 - z * 0.00833333333332184)
        + zz * ((0.0001984126982935849 - z * 2.7557313538482428e-06)
        + zz * (2.505073438119292e-08 - z * 1.5895432648872005e-10));
    const double q = (0.0416666666666666 - z * 0.0013888888888874474)
        + zz * ((2.4801587289671533e-05 - z * 2.755731440102736e-07)
        + zz * (2.0875729280384376e-09 - z * 1.135993417623345e-11));
    /* sin(r - d) = sin r - d cos r; cos(r - d) = (1 - h) + what rounding took from it + r^4 q + d sin r. */
    const double sine = r - (r * z * p + d * u);
    const double cosine = u + (((1.0 - u) - h) + (zz * q + d * r));

    const double *turn;
    uint64_t bits;
    (void)double_pendulum_COPY(&bits, &t, sizeof bits);
    turn = &quarter[bits & 3u];
    *s = turn[1] * sine + turn[0] * cosine;
    *c = turn[1] * cosine - turn[0] * sine;
}

/* The 2 values of x. */
static inline void double_pendulum_sincos_n(const double *x, double *s, double *c)
{
    for (int i = 0; i < 2; ++i)
        double_pendulum_sincos(x[i], &s[i], &c[i]);
}

#endif
