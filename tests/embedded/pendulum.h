/* A hand-written stand-in for emitted code: small enough to read, with all that emitted code has. */
#ifndef PENDULUM_H
#define PENDULUM_H

typedef REAL real;

#ifdef __cplusplus
extern "C" {
#endif

/* Torques (N m) of a planar arm of two 1 m rods of 1 kg, at angles q, rates v, accelerations a; each of size 2. */
void pendulum_rnea(const real *q, const real *v, const real *a, real *tau);

#ifdef __cplusplus
}
#endif

#endif
