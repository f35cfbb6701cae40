// The loop behind peak_measure (limits.h). CMake compiles this file once for each instruction set,
// with PEAK_CHAINS_NAME, TAUT_WIDE_ISA and TAUT_REAL_BITS defined.
#include "bench/limits.h"

#if TAUT_WIDE_ISA == 0 || defined(__x86_64__)

#    include "simd/wide.h"

double PEAK_CHAINS_NAME(uint64_t rounds, float *sink)
{
    // Each chain converges to 1, so that no number becomes denormal or infinite.
    wide chain[PEAK_CHAINS];
    for (int c = 0; c < PEAK_CHAINS; c++)
        chain[c] = wide_set((float)c);
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

#else

// Never called: isa_available returns false.
double PEAK_CHAINS_NAME(uint64_t rounds, float *sink)
{
    (void)rounds;
    *sink = 0;
    return 0;
}

#endif
