/* Whether ten numbers are the inertia of a body with certainty: m; m c, or c; Ixx Ixy Iyy Ixz Iyz Izz about the origin, or about c.

   That is so where the second moments about the centre of mass are positive definite: where all pivots of their Cholesky
   factor are above 0. Here the pivots are multiplied by those before them, so that there is no division; as each of them is
   rounded on its own scale, that is as stable. */
#ifndef RBDGEN_BODIES_H
#define RBDGEN_BODIES_H

#include <stddef.h>

/* What a link has: the linear numbers, those about the centre of mass, or a constant inertia about it. */
enum { LINEAR, ABOUT_CENTER, CONSTANT_INERTIA };

static int is_certainly_a_body(const double *ten, int kind)
{
    const double m = ten[0], x = ten[1], y = ten[2], z = ten[3];
    const double half = 0.5 * (ten[4] + ten[6] + ten[9]);
    double a = half - ten[4], b = half - ten[6], c = half - ten[9], d = -ten[5], e = -ten[7], f = -ten[8], rounding = 0;
    if (kind == LINEAR) {
        a = m * a - x * x, b = m * b - y * y, c = m * c - z * z;
        d = m * d - x * y, e = m * e - x * z, f = m * f - y * z;
        rounding = 2e-15 * (m * half + x * x + y * y + z * z);
    }
    const double little = 0.99e-12 * (a + b + c) - rounding;
    a += little, b += little, c += little;
    const double ab = a * b - d * d, ac = a * c - e * e, af = a * f - d * e;
    return m > 0 && a > 0 && ab > 0 && ab * ac - af * af > 0;
}

/* Whether all links are, in all `rows` of `np` parameters. A link has ten `values`, and ten `places` among the parameters, which
   are -1 where it has the value. */
static int are_certainly_bodies(const double *p, size_t rows, size_t np, size_t links, const double *values,
                                const ptrdiff_t *places, const unsigned char *kinds)
{
    for (size_t row = 0; row < rows; ++row)
        for (size_t link = 0; link < links; ++link) {
            double ten[10];
            const int numbers = kinds[link] == CONSTANT_INERTIA ? 1 : 10;
            for (int k = 0; k < numbers; ++k) {
                const ptrdiff_t place = places[10 * link + k];
                ten[k] = place < 0 ? values[10 * link + k] : p[row * np + place];
            }
            if (numbers == 1 ? !(ten[0] > 0) : !is_certainly_a_body(ten, kinds[link]))
                return 0;
        }
    return 1;
}

#endif
