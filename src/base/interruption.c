// See interruption.h.
#include "base/interruption.h"

#include <stdatomic.h>
#include <stddef.h>

#include "base/os.h"

// s, and steps: a step that takes no longer is finished.
static const double PATIENCE = 1, PATIENCE_STEPS = 2;

static int (*_Atomic requests)(void);
static atomic_bool is_stepping;
static _Atomic double begun;     // s, when the present steps began
static _Atomic double of_a_step; // s, the longest mean of steps that were done together
static _Atomic double seen;      // s, when a request was first seen; 0: not yet

void interruption_watch(int (*count)(void))
{
    atomic_store(&requests, count);
    atomic_store(&seen, 0);
}

void interruption_steps_begin(void)
{
    atomic_store(&begun, clock_seconds());
    atomic_store(&is_stepping, true);
}

void interruption_steps_end(uint64_t steps)
{
    const bool due = interruption_is_due();
    atomic_store(&is_stepping, false);
    if (steps == 0 || due)
        return;
    const double each = (clock_seconds() - atomic_load(&begun)) / (double)steps;
    if (each > atomic_load(&of_a_step))
        atomic_store(&of_a_step, each);
}

bool interruption_is_due(void)
{
    int (*const count)(void) = atomic_load_explicit(&requests, memory_order_relaxed);
    if (!count || !atomic_load_explicit(&is_stepping, memory_order_relaxed) || count() == 0)
        return false;
    const double now = clock_seconds();
    double since = 0;
    if (atomic_compare_exchange_strong(&seen, &since, now))
        since = now;
    const double steps = PATIENCE_STEPS * atomic_load(&of_a_step);
    return now - since > (steps > PATIENCE ? steps : PATIENCE);
}
