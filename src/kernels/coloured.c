#include "kernels/kernels.h"

void REAL_NAME(run_coloured)(const struct system *system, const struct plan_set *set,
                             block_kernel kernel, const void *argument, const struct worker *worker)
{
    for (int colour = 0; colour < set->colour_count; colour++) {
        uint32_t first = set->colour_start[colour];
        struct range range;
        while (worker_take(worker, set->colour_start[colour + 1] - first, 1, &range))
            kernel(system, argument, set->blocks[first + range.first]);
        worker_barrier(worker);
    }
    uint32_t tail = set->colour_start[set->colour_count];
    if (tail == set->block_count)
        return;
    if (worker->index == 0)
        for (uint32_t b = tail; b < set->block_count; b++)
            kernel(system, argument, set->blocks[b]);
    worker_barrier(worker);
}

void REAL_NAME(run_springs)(const struct system *system, const struct worker *worker)
{
    const struct plan *plan = system->plan;
    if (!plan->packs) {
        REAL_NAME(run_coloured)(system, &plan->springs, system->kernels->springs, NULL, worker);
        return;
    }
    struct range range;
    while (worker_take(worker, (size_t)plan->packed.tile_count, 1, &range))
        system->chunk_sums[range.first][0] = system->kernels->packed(system, range.first);
    if (plan->packed.tile_count > 0)
        worker_barrier(worker);
}
