// The current task of each thread, and its cancellation (task.h).
#include "base/task.h"

#include <stddef.h>

static _Thread_local struct task *present;

void task_enter(struct task *task)
{
    present = task;
}

bool task_is_cancelled(void)
{
    return present && atomic_load_explicit(&present->cancelled, memory_order_relaxed);
}

void task_stage(const char *stage)
{
    if (present)
        atomic_store_explicit(&present->stage, stage, memory_order_relaxed);
}
