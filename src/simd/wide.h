// The vocabulary of the vector kernels: some thirty operations on a register of reals. The
// instruction set is TAUT_WIDE_ISA (0 base, 3, 4), set by the thin file that includes a kernel's
// body. Every operation is exact to IEEE 754, and none is fused, so a kernel computes the same bits
// at every width.
//
//   WIDE_LANES, WIDE_REGISTERS    numbers in a register, and number of registers
//   wide_load(p)                  WIDE_LANES reals, unaligned
//   wide_load_first(p, n)         the first n of them, n >= 0, and 0 in the other lanes; no memory
//                                 beyond is read, since another thread may be writing it
//   wide_store(p, a)              all lanes, unaligned
//   wide_store_first(p, a, n)     the first n lanes, n <= WIDE_LANES; no memory beyond is written
//   wide_set(r)                   r in every lane
//   wide_add, _subtract, _multiply, _divide, _sqrt
//   wide_max(a, b), _min          maximum, minimum; b where either is NaN
//   wide_greatest(a)              the greatest lane; no lane may be NaN
//   wide_multiply_where(m, a, b)  the product where the mask is set, 0 elsewhere
//   wide_shift_up_1(b, a), _2     lane l of the result is lane l - 1 (l - 2) of a; the first ones
//                                 are the last of b, the register before a
//   wide_shift_down_1(a, b), _2   lane l of the result is lane l + 1 (l + 2) of a; the last ones
//                                 are the first of b, the register after a
//   wide_lane_range(first, end)   mask of lanes first .. end - 1; both may lie outside the register
//   wide_mask_load(p, at)         mask from bits at, at + 1, ... of 32-bit words; at is a multiple
//                                 of WIDE_LANES
//   wide_positive(a)              mask of lanes that are > 0
//   wide_at_most(a, b)            mask of lanes where a <= b
//   wide_mask_and(m, n)           lanes in both masks
//   wide_masked(m, a)             a where the mask is set, 0 elsewhere
//   wide_blend(m, a, b)           a where the mask is set, b elsewhere
//   wide_mask_zero_bytes(p)       mask of lanes whose byte, from p on, is 0
//   wide_mask_bits(m)             the lanes of a mask as bits of a number, lane 0 the lowest
//   wide_add_to(sums, a)          adds lane l to sums[l], in double
//   wide_prefetch(p)              asks for the cache line at p, which will be changed; p may lie
//                                 anywhere. For loops over more arrays than the hardware follows.
//
// Records of nodes, and gathering them into registers, for springs with arbitrary ends. A record is
// 4 reals (x, y, z, unused) or 8 (x, y, z, unused, vx, vy, vz, unused), so a node takes one or two
// loads, and transposing makes registers of one component. A gather instruction loads every
// component separately, and is slower by a third to a half.
//
//   wide_records_4(records, at, &x, &y, &z)   loads WIDE_LANES records of 4: lane l of x, y and z
//                                             is from the record that begins at records[at[l]]
//   wide_records_8(records, at, &x, ..., &vz) the same for records of 8, at records[2 * at[l]]
//   wide_records_add, _subtract(records, at, x, y, z)   changes the records of 4 at
//                                             records[at[l]], which must all be different
//   wide_records_put(records, x, y, z)        writes WIDE_LANES records of 4 one after the other;
//                                             the last component is 0
//   wide_record_add(record, f, by)            adds f times a record of 4 to one
//
// Records are aligned to their size.
#ifndef TAUT_SIMD_WIDE_H
#define TAUT_SIMD_WIDE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/real.h"

// Forces inlining, so that constant arguments become constants. Kernels are written once for all
// variants (damped, undamped), and without it a compiler may keep one copy that branches at run
// time.
#if defined(__GNUC__)
#    define WIDE_INLINE static inline __attribute__((always_inline))
#else
#    define WIDE_INLINE static inline
#endif

#if defined(__GNUC__)
#    define wide_prefetch(p) __builtin_prefetch((p), 1)
#else
#    define wide_prefetch(p) ((void)(p))
#endif

#if TAUT_WIDE_ISA == 4
#    include "simd/avx512.h"
#elif TAUT_WIDE_ISA == 3
#    include "simd/avx2.h"
#elif defined(__x86_64__)
#    include "simd/sse2.h"
#elif defined(__aarch64__) && defined(__ARM_NEON)
#    include "simd/neon.h"
#else
#    include "simd/plain.h"
#endif

// ---- Operations for instruction sets that have no instructions for them

#if TAUT_WIDE_ISA < 3 && !defined(__x86_64__)
#    define WIDE_COMPONENTS
// Goes through memory.
static inline void wide_components(const real *records, const uint16_t *at, int scale, wide *x,
                                   wide *y, wide *z)
{
    real lanes[3][WIDE_LANES];
    for (int l = 0; l < WIDE_LANES; l++)
        for (int component = 0; component < 3; component++)
            lanes[component][l] = records[scale * at[l] + component];
    *x = wide_load(lanes[0]);
    *y = wide_load(lanes[1]);
    *z = wide_load(lanes[2]);
}
#endif

#ifndef WIDE_ADD_TO
static inline void wide_add_to(double *sums, wide a)
{
    real lanes[WIDE_LANES];
    wide_store(lanes, a);
    for (int lane = 0; lane < WIDE_LANES; lane++)
        sums[lane] += (double)lanes[lane];
}
#endif

#ifndef WIDE_GREATEST
static inline real wide_greatest(wide a)
{
    real lanes[WIDE_LANES];
    wide_store(lanes, a);
    for (int half = WIDE_LANES / 2; half > 0; half /= 2)
        for (int lane = 0; lane < half; lane++)
            lanes[lane] = lanes[lane + half] > lanes[lane] ? lanes[lane + half] : lanes[lane];
    return lanes[0];
}
#endif

// For instruction sets on which a record of 8 is best loaded as two of 4: wide_components(records,
// at, scale, &x, &y, &z) loads three reals of each record, at records[scale * at[l]].
#ifdef WIDE_COMPONENTS
static inline void wide_records_4(const real *records, const uint16_t *at, wide *x, wide *y,
                                  wide *z)
{
    wide_components(records, at, 1, x, y, z);
}

static inline void wide_records_8(const real *records, const uint16_t *at, wide *x, wide *y,
                                  wide *z, wide *vx, wide *vy, wide *vz)
{
    wide_components(records, at, 2, x, y, z);
    wide_components(records + 4, at, 2, vx, vy, vz);
}
#endif

#include "simd/records_change.h"

#endif
