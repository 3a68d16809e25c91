/* The part of <math.h> that generated functions call: instructions of WebAssembly, which has no C library. */
#ifndef RBDGEN_MATH_H
#define RBDGEN_MATH_H

#define sqrt __builtin_sqrt
#define sqrtf __builtin_sqrtf
#define fabs __builtin_fabs
#define fabsf __builtin_fabsf

#endif
