// The arithmetic peak of each instruction set: independent chains of a multiplication and an
// addition in single precision, nothing from memory. Not fused, because the solver's kernels never
// fuse.
#ifndef TAUT_CLI_BENCH_PEAK_H
#define TAUT_CLI_BENCH_PEAK_H

#include <stdint.h>

// As many chains as hide the latencies of both and still fit 16 registers.
enum { PEAK_CHAINS = 12 };

// Does `rounds` rounds of PEAK_CHAINS multiplications and additions of a register; returns the
// floating-point operations done. *sink is something that depends on all of them.
double bench_peak_base(uint64_t rounds, float *sink);
double bench_peak_v3(uint64_t rounds, float *sink);
double bench_peak_v4(uint64_t rounds, float *sink);

#endif
