// The number type of the hot arrays. Numeric sources are compiled twice, for float and for double,
// into one library; REAL_NAME gives each copy its own symbols, so that a file reads as if there
// were one type.
#ifndef TAUT_BASE_REAL_H
#define TAUT_BASE_REAL_H

#include <float.h>
#include <math.h>
#include <stddef.h>

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

// The low part of element i of `high`; 0 where there are no low parts.
static inline real real_low(const real *low, size_t i)
{
    return low ? low[i] : 0;
}

// Adds to high[i] + low[i] (precision mixed), or to high[i] if `low` is NULL. What rounding takes
// from the sum stays in the low part, at most half a spacing of the high part: the error is one of
// the increment, 2^-23 of it, and not one of the sum (docs/numerics.md). Four operations instead of
// the seven of a two-sum: high - before is inexact only if the increment exceeds the number, and
// then by no more than that.
static inline void real_accumulate(real *high, real *low, size_t i, real increment)
{
    if (!low) {
        high[i] += increment;
        return;
    }
    const real before = high[i], change = low[i] + increment;
    high[i] = before + change;
    low[i] = change - (high[i] - before);
}

// a - b of elements i, which may have low parts (NULL: none). Near numbers of 24 bits have an exact
// difference.
static inline real real_difference(const real *a, const real *a_low, const real *b,
                                   const real *b_low, size_t i)
{
    const real difference = a[i] - b[i];
    return a_low ? difference + (a_low[i] - b_low[i]) : difference;
}

static inline void real_copy(real *to, real *to_low, const real *from, const real *from_low,
                             size_t i)
{
    to[i] = from[i];
    if (to_low)
        to_low[i] = from_low[i];
}

// Sets to[i] to from[i] + a + b, added in this order; all may have low parts.
static inline void real_set_sum(real *to, real *to_low, const real *from, const real *from_low,
                                size_t i, real a, real b)
{
    real_copy(to, to_low, from, from_low, i);
    real_accumulate(to, to_low, i, a);
    real_accumulate(to, to_low, i, b);
}

// Sets high[i] + low[i], or high[i] where `low` is NULL, to a number in double.
static inline void real_split(real *high, real *low, size_t i, double number)
{
    high[i] = (real)number;
    if (low)
        low[i] = (real)(number - (double)high[i]);
}

#endif
