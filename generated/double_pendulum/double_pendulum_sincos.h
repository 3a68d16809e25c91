/* Sine and cosine together, for |x| <= double_pendulum_SINCOS_RANGE with an error of at most 1 ulp.
   Beyond this range both are NaN; NaN and infinities give NaN. The results must not overlap x.

   Only + - * are used, without branches, so every value takes the same instructions.
   With contraction off, results have the same bits on every IEEE 754 machine. Rounding to nearest, the default, is assumed.

   n is x / (pi/2) rounded to nearest. It comes from adding a constant so large that t has no fraction, and the lowest bits
   of t are n mod 4. The factor before it makes x overflow just beyond the range, so that all results are NaN there.
   x - n pi/2 is computed with pi/2 in three parts, the first two short enough for exact products (Cody and Waite).
   For |r| <= pi/4, minimax polynomials in z = r^2 give sine and cosine; n mod 4 determines which is which, and their signs. */
#ifndef double_pendulum_SINCOS_H
#define double_pendulum_SINCOS_H

#include <float.h>
#include <stdint.h>

/* gcc and clang have a builtin that copies the bits of a number, so they need no C library. */
#if defined(__GNUC__)
#define double_pendulum_COPY __builtin_memcpy
#else
#include <string.h>
#define double_pendulum_COPY memcpy
#endif

#if defined(__FAST_MATH__) || defined(_M_FP_FAST)
#error "double_pendulum_sincos needs IEEE 754 arithmetic: compile without -ffast-math, -Ofast or /fp:fast"
#endif
/* FLT_EVAL_METHOD 16 means that half precision is evaluated in its own type too, which makes no difference here. */
#if defined(FLT_EVAL_METHOD) && FLT_EVAL_METHOD != 0 && FLT_EVAL_METHOD != 16
#error "double_pendulum_sincos needs operations rounded to their own type: on 32-bit x86 compile with -msse2 -mfpmath=sse, on s390x with -std=gnu99"
#endif

#define double_pendulum_SINCOS_RANGE 1e5

static inline void double_pendulum_sincos(double x, double *s, double *c)
{
    /* The sines of 0, 1, 2, 3, 4 quarter turns; from the second on they are the cosines. -0 keeps the sign of a zero. */
    static const double quarter[5] = {-0.0, 1.0, 0.0, -1.0, 0.0};
    const double t = x * 1.7976931348623158e+303 * 3.5413150332597764e-304 + 6755399441055744.0;
    const double n = t - 6755399441055744.0;
    /* r - d = x - n pi/2 = a - b - ..., where d is below half an ulp of r. */
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
    /* sin(r - d) = sin r - d cos r; cos(r - d) = (1 - h) + the rounding error of 1 - h + r^4 q + d sin r. */
    const double sine = r - (r * z * p + d * u);
    const double cosine = u + (((1.0 - u) - h) + (zz * q + d * r));

    const double *turn;
    uint64_t bits;
    (void)double_pendulum_COPY((unsigned char *)&bits, (const unsigned char *)&t, sizeof bits);
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
