// The vocabulary of the vector kernels: some thirty operations on a register of reals. Which
// registers, says TAUT_WIDE_ISA (0 base, 3, 4), set by the thin file that includes a kernel's body.
// Every operation is exact to IEEE 754, and none is fused, so a kernel gives the same bits at every
// width.
//
//   wide_load(p)            WIDE_LANES reals from anywhere
//   wide_load_first(p, n)   the first n of them, n >= 0, and 0 in the other lanes; nothing beyond
//                           is read, which another thread may be writing
//   wide_store(p, a)        all lanes to anywhere
//   wide_store_first(p, a, n)  the first n lanes, n <= WIDE_LANES; nothing beyond is touched
//   wide_set(r)             r in every lane
//   wide_add, _subtract, _multiply, _divide, _sqrt
//   wide_max(a, b)          the larger; b where one is no number
//   wide_multiply_where(m, a, b)  the product where the mask is set, 0 elsewhere
//   wide_behind_1(b, a), _2 lane l of the result is lane l - 1 (l - 2) of a; the first ones are the
//                           last of b, the register before a
//   wide_ahead_1(a, b), _2  lane l of the result is lane l + 1 (l + 2) of a; the last ones are the
//                           first of b, the register after a
//   wide_lanes(first, end)  mask of lanes first .. end - 1; both may lie outside the register
//   wide_bits(p, at)        mask from bits at, at + 1, ... of 32-bit words; at is a multiple of
//                           WIDE_LANES
//   wide_positive(a)        mask of lanes that are > 0
//   wide_both(m, n)         lanes in both masks
//   wide_keep(m, a)         a where the mask is set, 0 elsewhere
//   wide_choose(m, a, b)    a where the mask is set, b elsewhere
#ifndef TAUT_SIMD_WIDE_H
#define TAUT_SIMD_WIDE_H

#include <stdint.h>

#include "base/real.h"

// What must be inlined for its constant arguments to become constants. Kernels are written once for
// all variants (damped, undamped), and a compiler left to itself keeps one copy that asks at run
// time.
#if defined(__GNUC__)
#    define WIDE_INLINE static inline __attribute__((always_inline))
#else
#    define WIDE_INLINE static inline
#endif

#if TAUT_WIDE_ISA == 4
#    include "simd/wide_v4.h"
#elif TAUT_WIDE_ISA == 3
#    include "simd/wide_v3.h"
#elif defined(__x86_64__)
#    include "simd/wide_sse2.h"
#elif defined(__aarch64__) && defined(__ARM_NEON)
#    include "simd/wide_neon.h"
#else
#    include "simd/wide_plain.h"
#endif

#endif
