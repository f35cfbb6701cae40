// Sums over elements that have the same bits for every number of threads: fixed chunks, each summed
// by one worker, then added in order. The summed terms are left to the callers; reading one node or
// spring is inline in the header. Numeric.
#include "state/reading.h"

#include <string.h>

void REAL_NAME(sum_over_chunks)(struct system *system, size_t count, chunk_sum sum,
                                const void *argument, double total[SUM_WIDTH],
                                const struct worker *worker)
{
    size_t chunks = chunk_count(count);
    struct range share = worker_share(worker, chunks, 1);
    for (size_t chunk = share.first; chunk < share.end; chunk++) {
        memset(system->chunk_sums[chunk], 0, sizeof system->chunk_sums[chunk]);
        sum(system, argument, chunk_range(chunk, count), system->chunk_sums[chunk]);
    }
    worker_barrier(worker);
    memset(total, 0, SUM_WIDTH * sizeof *total);
    for (size_t chunk = 0; chunk < chunks; chunk++)
        for (int column = 0; column < SUM_WIDTH; column++)
            total[column] += system->chunk_sums[chunk][column];
    worker_barrier(worker); // all have read before the next sum writes
}
