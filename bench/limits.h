// What the machine itself can do: its memory bandwidth, and the arithmetic peak of an instruction
// set. taut-bench shows both as benchmarks (bandwidth/..., peak/...) and gives the bandwidth of
// every step as a share of the triad.
#ifndef TAUT_BENCH_LIMITS_H
#define TAUT_BENCH_LIMITS_H

#include <stdint.h>

#include "parallel/machine.h"
#include "simd/isa.h"

enum bandwidth {
    BANDWIDTH_TRIAD,  // a = b + 3 c, as STREAM has it
    BANDWIDTH_UPDATE, // a = a + 3 b, which writes only where it has read, as a step does
    BANDWIDTH_READ,
    BANDWIDTH_COUNT
};

// "triad", "update", "read".
const char *bandwidth_name(enum bandwidth kind);

// Bytes per second of a kind on so many threads, over arrays larger than the caches that are
// allocated for this call; the best of a few passes.
taut_status bandwidth_measure(const struct machine *machine, enum bandwidth kind, int threads,
                              double *bytes_per_second, taut_error *error);

// The triad on so many threads, the best of several calls of bandwidth_measure. Measured when it is
// first asked for, and remembered.
taut_status bandwidth_of_triad(int threads, double *bytes_per_second, taut_error *error);

// Single-precision operations per second of independent chains of a multiplication and an addition.
// Not fused, because the solver's kernels never fuse.
double peak_measure(enum isa isa, int threads);

// The chains themselves (peak.c, compiled once for each instruction set): `rounds` rounds of a
// multiplication and an addition of each of PEAK_CHAINS registers; the operations done. *sink
// depends on all of them. As many chains as hide the latencies and still fit 16 registers.
enum { PEAK_CHAINS = 12 };
double peak_chains_base(uint64_t rounds, float *sink);
double peak_chains_v3(uint64_t rounds, float *sink);
double peak_chains_v4(uint64_t rounds, float *sink);

#endif
