/* Whether ten numbers are the inertia of a body with certainty: m; m c, or c; Ixx Ixy Iyy Ixz Iyz Izz about the origin, or about c.

   They are if the second moments about the centre of mass are positive definite, that is, if all pivots of their Cholesky
   factor are above 0. Here every pivot is multiplied by those before it, so that no division is needed. This is as stable as
   with divisions, because each product is rounded on its own scale. */
#ifndef RBDGEN_BODIES_H
#define RBDGEN_BODIES_H

#include <stddef.h>

/* The kinds of links: by the linear numbers, by those about the centre of mass, or by these with a constant inertia. */
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

/* Whether the inertias of all links are certainly those of bodies, for all `rows` of `np` parameters. A link has ten `values`; a
   value whose entry of `places` is not -1 is replaced by the parameter of that index. */
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
