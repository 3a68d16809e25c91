/* A hand-written replacement of emitted code, which is small and has all features of emitted code. */
#ifndef PENDULUM_H
#define PENDULUM_H

typedef REAL real;

#ifdef __cplusplus
extern "C" {
#endif

/* The torques tau (N m) of a planar arm of two rods of 1 m and 1 kg, for angles q, rates v and accelerations a. All
   arrays have 2 elements. */
void pendulum_rnea(const real *q, const real *v, const real *a, real *tau);

#ifdef __cplusplus
}
#endif

#endif
