#include "parallel/team.h"

#include <omp.h>

void team_run(int threads, team_function function, void *context)
{
#pragma omp parallel num_threads(threads) default(none) shared(function, context)
    {
        struct worker worker = {omp_get_thread_num(), omp_get_num_threads()};
        function(context, &worker);
    }
}

void worker_barrier(void)
{
#pragma omp barrier
}

struct range worker_share(const struct worker *worker, size_t count, size_t grain)
{
    size_t grains = (count + grain - 1) / grain;
    size_t workers = (size_t)worker->count, index = (size_t)worker->index;
    size_t each = grains / workers, rest = grains % workers;
    size_t first = index * each + (index < rest ? index : rest);
    size_t end = first + each + (index < rest ? 1 : 0);
    struct range share = {first * grain, end * grain};
    if (share.first > count)
        share.first = count;
    if (share.end > count)
        share.end = count;
    return share;
}
