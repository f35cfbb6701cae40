#define TAUT_REAL_BITS 32
#define TAUT_WIDE_ISA  0
#define BENCH_PEAK     bench_peak_base
#include "cli/bench_peak_body.h"
