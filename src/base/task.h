// A long computation that another thread may cancel, such as building a scene while another one
// runs. The working thread enters the task. Once the task is cancelled, every allocation of that
// thread fails (memory.h), so that the computation ends as it would if memory ran out; loops that
// run for long without allocating check for cancellation (task_is_cancelled). Helper threads do not
// see the task.
#ifndef TAUT_BASE_TASK_H
#define TAUT_BASE_TASK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

// A zeroed struct is a task that has not started.
struct task {
    atomic_bool cancelled;
    _Atomic(const char *) stage; // the current stage, a constant text; NULL before the first
};

// Makes `task` the current task of the calling thread; NULL for none.
void task_enter(struct task *task);

// Whether the task of the calling thread has been cancelled; false without a task.
bool task_is_cancelled(void);

// For loops: checks for cancellation in every 65,536th round, round 0 included.
static inline bool task_ends(uint64_t round)
{
    return round % 65536 == 0 && task_is_cancelled();
}

// Sets the current stage of the calling thread's task, a constant text. No effect without a task.
void task_stage(const char *stage);

#endif
