// What all x86 registers have in common: the intrinsics' names differ by WIDE_OP alone.
#ifndef TAUT_SIMD_WIDE_X86_H
#define TAUT_SIMD_WIDE_X86_H

#define WIDE_LOAD  WIDE_OP(loadu)
#define WIDE_STORE WIDE_OP(storeu)
#define WIDE_SET   WIDE_OP(set1)

#include "simd/wide_words.h"

static inline wide wide_max(wide a, wide b)
{
    return WIDE_OP(max)(a, b);
}

#endif
