// A long piece of work that another thread may cancel, such as a scene that is built while another
// one runs. The working thread enters the task; once the task is cancelled, every allocation of
// that thread fails (memory.h), so that the work ends as it would without memory, and loops that
// run for long without allocating check for it (task_is_cancelled). Threads that help it do not see
// the task.
#ifndef TAUT_BASE_TASK_H
#define TAUT_BASE_TASK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

// A zeroed struct is a task that has not begun.
struct task {
    atomic_bool cancelled;
    _Atomic(const char *) stage; // what is being done; a constant text, NULL: nothing yet
};

// The calling thread works on `task` from now on, or on none (NULL).
void task_enter(struct task *task);

// Whether the task of the calling thread has been cancelled; false without a task.
bool task_is_cancelled(void);

// For loops: checks in round 0 and then every so many rounds; this is number `round`.
static inline bool task_ends(uint64_t round)
{
    return round % 65536 == 0 && task_is_cancelled();
}

// Sets what the calling thread does from now on: a constant text. No effect without a task.
void task_stage(const char *stage);

#endif
