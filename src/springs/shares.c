// What ranks share of steps that all of them compute (shares.h).
#include "springs/shares.h"

#include <stdlib.h>

#include "base/sort.h"
#include "ranks/ranks.h"

struct shares {
    uint64_t *cuts; // rank r has the rows of nodes [cuts[r], cuts[r + 1])
    bool any;       // the result of shares_any
};

struct shares *REAL_NAME(shares_make)(const struct system *system)
{
    const size_t count = (size_t)ranks_count(), nodes = (size_t)system->state->nodes;
    struct shares *shares = calloc(1, sizeof *shares);
    if (!shares)
        return NULL;
    shares->cuts = calloc(count + 1, sizeof *shares->cuts);
    if (!shares->cuts) {
        REAL_NAME(shares_free)(shares);
        return NULL;
    }
    for (size_t r = 0; r <= count; r++) // as sum_over_chunks divides them
        shares->cuts[r] = min_u64(chunk_count(nodes) * r / count * SUM_CHUNK, nodes);
    return shares;
}

void REAL_NAME(shares_free)(struct shares *shares)
{
    if (!shares)
        return;
    free(shares->cuts);
    free(shares);
}

struct range REAL_NAME(shares_rows)(const struct system *system)
{
    if (!system->shares)
        return (struct range){0, (size_t)system->state->nodes};
    const uint64_t *cuts = system->shares->cuts + ranks_number();
    return (struct range){(size_t)cuts[0], (size_t)cuts[1]};
}

struct range REAL_NAME(shares_rows_of)(const struct system *system, const struct worker *worker,
                                       size_t grain)
{
    const struct range rows = REAL_NAME(shares_rows)(system);
    const struct range share = worker_share(worker, rows.end - rows.first, grain);
    return (struct range){rows.first + share.first, rows.first + share.end};
}

void REAL_NAME(shares_collect)(struct system *system, struct node_vectors vectors,
                               const struct worker *worker)
{
    if (!system->shares)
        return;
    worker_barrier(worker); // all have written their rows
    real *const arrays[] = {vectors.x, vectors.y, vectors.z};
    for (size_t i = 0; worker->index == 0 && i < sizeof arrays / sizeof arrays[0]; i++)
        ranks_collect(arrays[i], sizeof(real), system->shares->cuts, true);
    stage_end(&system->clock, STAGE_RANKS, worker);
}

bool REAL_NAME(shares_any)(struct system *system, bool mine, const struct worker *worker)
{
    struct shares *it = system->shares;
    if (!it)
        return mine;
    worker_barrier(worker); // all have read the last result
    if (worker->index == 0) {
        double found = mine ? 1 : 0;
        ranks_add(&found, 1);
        it->any = found > 0;
    }
    stage_end(&system->clock, STAGE_RANKS, worker);
    return it->any;
}
