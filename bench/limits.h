// The limits of the machine: memory bandwidth, and the arithmetic peak of an instruction set.
// taut-bench reports both as benchmarks (bandwidth/..., peak/...), and the bandwidth of every step
// as a share of the triad.
#ifndef TAUT_BENCH_LIMITS_H
#define TAUT_BENCH_LIMITS_H

#include <stdint.h>

#include "parallel/machine.h"
#include "simd/isa.h"

enum bandwidth {
    BANDWIDTH_TRIAD,  // a = b + 3 c, as in STREAM
    BANDWIDTH_UPDATE, // a = a + 3 b, which writes only lines that it has read, as a step does
    BANDWIDTH_READ,
    BANDWIDTH_COUNT
};

// "triad", "update", "read".
const char *bandwidth_name(enum bandwidth kind);

// The bandwidth in bytes per second on `threads` threads, over arrays that are larger than the
// caches and allocated for this call; the best of a few passes.
taut_status bandwidth_measure(const struct machine *machine, enum bandwidth kind, int threads,
                              double *bytes_per_second, taut_error *error);

// The triad on `threads` threads, the best of several calls of bandwidth_measure. Measured at the
// first call, and remembered.
taut_status bandwidth_of_triad(int threads, double *bytes_per_second, taut_error *error);

// Single-precision operations per second of independent chains of a multiplication and an addition.
// Not fused, because the solver's kernels never fuse.
double peak_measure(enum isa isa, int threads);

// The chains (peak.c, compiled once per instruction set): `rounds` multiplications and additions of
// each of PEAK_CHAINS registers; returns the number of operations. *sink depends on all of them.
// The number of chains hides the latencies and still fits in 16 registers.
enum { PEAK_CHAINS = 12 };
double peak_chains_base(uint64_t rounds, float *sink);
double peak_chains_v3(uint64_t rounds, float *sink);
double peak_chains_v4(uint64_t rounds, float *sink);

#endif
