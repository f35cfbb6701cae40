// Records of nodes side by side, and their gathering into registers: for springs whose ends lie
// anywhere. A record is 4 reals (x, y, z and nothing) or 8 (x, y, z, nothing, vx, vy, vz, nothing),
// so that a node comes by one or two loads, and registers of one component are made by transposing.
// A gather instruction loads every component by itself, and is slower by a third to a half.
//
//   wide_records_4(records, at, &x, &y, &z)   of WIDE_LANES records: lane l of x, y and z is that
//                                             of the record that begins at records[at[l]]
//   wide_records_8(records, at, &x, ..., &vz) the same of records of 8, at records[2 * at[l]]
//
// Records are aligned to their size. Include after simd/wide.h.
#ifndef TAUT_SIMD_RECORDS_H
#define TAUT_SIMD_RECORDS_H

#include <stdint.h>

#include "simd/wide.h"

#if TAUT_WIDE_ISA == 4
#    include "simd/records_v4.h"
#elif TAUT_WIDE_ISA == 3
#    include "simd/records_v3.h"
#elif defined(__x86_64__)
#    include "simd/records_sse2.h"
#else
#    include "simd/records_plain.h"
#endif

#endif
