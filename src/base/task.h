// A long piece of work that another thread may give up: a scene that is built beside the one that
// runs, and that nobody wants to wait for. The thread that works enters the task; from the moment
// the task is cancelled, every allocation of that thread fails (memory.h), which ends whatever it
// does in the way that it would end without memory, and loops that run for long without allocating
// ask themselves (task_is_cancelled). Threads that help it know nothing of the task.
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

// For loops: asked at every so many rounds, of which this is number `round`.
static inline bool task_ends(uint64_t round)
{
    return round % 65536 == 0 && task_is_cancelled();
}

// Says what the calling thread does from now on: a constant text. Nothing without a task.
void task_stage(const char *stage);

#endif
