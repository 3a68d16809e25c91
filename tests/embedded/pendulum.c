#include "pendulum.h"

#include "pendulum_sincos.h"

void pendulum_rnea(const real *q, const real *v, const real *a, real *tau)
{
    const real q1 = q[1];
    const real q12 = q[0] + q1;
    const real v0 = v[0];
    const real v1 = v[1];
    const real a0 = a[0];
    const real a1 = a[1];
    real s0;
    real s1;
    real c1;
    real s12;
    real unused;
    pendulum_sincos(q[0], &s0, &unused);
    pendulum_sincos(q1, &s1, &c1);
    pendulum_sincos(q12, &s12, &unused);
    const real third = (real)0.33333333333333331;
    const real half = (real)0.5;
    const real hc = half * c1;
    const real hs = half * s1;
    const real g12 = (real)4.905 * s12;
    const real sum = a0 + a1;
    tau[0] = ((third + (real)1.0 + c1) * a0 + (third * sum + hc * a1)) - hs * v1 * ((real)2.0 * v0 + v1)
        + ((real)14.715 * s0 + g12);
    tau[1] = (third * sum + hc * a0) + hs * v0 * v0 + g12;
}
