#include <math.h>
#include <stdlib.h>

#include "cli/bench.h"

void bench_rates_add(struct bench_rates *rates, double value)
{
    _Static_assert((int)BENCH_REPETITIONS > (int)BENCH_SCENES, "a limit's repetitions");
    _Static_assert((int)BENCH_REPETITIONS >= (int)BENCH_ROUNDS, "a scene's repetitions");
    rates->values[rates->count++] = value;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_best(const struct bench_rates *rates)
{
    double best = NAN;
    for (int i = 0; i < rates->count; i++)
        if (!(rates->values[i] <= best))
            best = rates->values[i];
    return best;
}

double bench_median(const struct bench_rates *rates)
{
    struct bench_rates sorted = *rates;
    int n = sorted.count;
    if (n == 0)
        return NAN;
    qsort(sorted.values, (size_t)n, sizeof sorted.values[0], compare);
    return n % 2 ? sorted.values[n / 2] : (sorted.values[n / 2 - 1] + sorted.values[n / 2]) / 2;
}
