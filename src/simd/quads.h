// Records of four reals (x, y, z and one to spare) in registers, for kernels whose elements name
// their nodes: a record is fetched by one load, where an array for each coordinate takes three.
// Which registers, says TAUT_WIDE_ISA, as in wide.h; a register holds QUADS records, and four
// records, a group, take QUAD_REGISTERS of them. Nothing is ever added across records, so that
// results do not depend on QUADS.
//
//   quads_load(p)             QUADS records, one after the other
//   quads_fetch(p, at)        QUADS records that begin at p[at[0]], p[at[1]], ...
//   quads_add, _subtract, _multiply
//   quads_zero()
//   quads_turn(a)             (y, z, x, spare) of each record
//   quads_write(p, x, y, z)   four records at p from their coordinates, each four in a row
//   quads_store_columns(x, y, z, group)   a group's coordinates, each four in a row
#ifndef TAUT_SIMD_QUADS_H
#define TAUT_SIMD_QUADS_H

#include <stdint.h>

#include "base/real.h"

enum { QUAD_GROUP = 4 };

#if TAUT_WIDE_ISA == 4
#    include "simd/quads_v4.h"
#elif TAUT_WIDE_ISA == 3
#    include "simd/quads_v3.h"
#elif defined(__x86_64__) && TAUT_REAL_BITS == 32
#    include "simd/quads_sse.h"
#else
#    include "simd/quads_plain.h"
#endif

enum { QUAD_REGISTERS = (int)QUAD_GROUP / (int)QUADS };

#endif
