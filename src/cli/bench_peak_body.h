// The loop of bench_peak.h, for the instruction set TAUT_WIDE_ISA; included once by each thin file.
#include "cli/bench_peak.h"
#include "simd/wide.h"

double BENCH_PEAK(uint64_t rounds, float *sink)
{
    wide chain[PEAK_CHAINS];
    for (int c = 0; c < PEAK_CHAINS; c++)
        chain[c] = wide_set((float)c);
    // Each chain runs towards 1, so that no number becomes denormal or infinite.
    wide factor = wide_set(0.999F), term = wide_set(0.001F);
    for (uint64_t round = 0; round < rounds; round++)
        for (int c = 0; c < PEAK_CHAINS; c++)
            chain[c] = wide_add(wide_multiply(chain[c], factor), term);
    wide sum = chain[0];
    for (int c = 1; c < PEAK_CHAINS; c++)
        sum = wide_add(sum, chain[c]);
    float first[WIDE_LANES];
    wide_store_first(first, sum, WIDE_LANES);
    *sink = first[0];
    return 2.0 * PEAK_CHAINS * WIDE_LANES * (double)rounds;
}
