#include "cli/batch.h"

static const double BATCH_SECONDS = 0.075;

struct batch batch_make(void)
{
    return (struct batch){.steps = 1};
}

uint64_t batch_steps(const struct batch *batch, uint64_t remaining)
{
    return remaining < batch->steps ? remaining : batch->steps;
}

void batch_learn(struct batch *batch, uint64_t steps, double elapsed)
{
    double each = elapsed / (double)steps;
    batch->step_seconds = batch->step_seconds > 0 ? (3 * batch->step_seconds + each) / 4 : each;
    double fitting = BATCH_SECONDS / (batch->step_seconds + 1e-9);
    // Not more than doubled at once: the first steps after a pause may have been quick.
    double limit = 2 * (double)batch->steps;
    batch->steps = (uint64_t)(fitting < 1 ? 1 : fitting < limit ? fitting : limit);
}
