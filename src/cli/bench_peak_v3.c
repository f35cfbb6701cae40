#if defined(__x86_64__)
#    define TAUT_REAL_BITS 32
#    define TAUT_WIDE_ISA  3
#    define BENCH_PEAK     bench_peak_v3
#    include "cli/bench_peak_body.h"
#else
#    include "cli/bench_peak.h"

// Never called: isa_available says no.
double bench_peak_v3(uint64_t rounds, float *sink)
{
    (void)rounds;
    *sink = 0;
    return 0;
}
#endif
