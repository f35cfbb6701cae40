// The number type of the hot arrays. Numeric sources are compiled twice, for float and for double,
// into one library; REAL_NAME gives each copy its own symbols, so that a file reads as if there
// were one type.
#ifndef TAUT_BASE_REAL_H
#define TAUT_BASE_REAL_H

#include <float.h>
#include <math.h>

#if TAUT_REAL_BITS == 32
typedef float real;
#    define REAL_NAME(name) name##_f32
#    define real_sqrt       sqrtf
#    define real_abs        fabsf
#    define REAL_TINY       FLT_MIN
#    define REAL_HUGE       FLT_MAX
#    define REAL_EPSILON    FLT_EPSILON
#elif TAUT_REAL_BITS == 64
typedef double real;
#    define REAL_NAME(name) name##_f64
#    define real_sqrt       sqrt
#    define real_abs        fabs
#    define REAL_TINY       DBL_MIN
#    define REAL_HUGE       DBL_MAX
#    define REAL_EPSILON    DBL_EPSILON
#else
#    error "numeric sources are compiled with TAUT_REAL_BITS=32 and with TAUT_REAL_BITS=64"
#endif

#endif
