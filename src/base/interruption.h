// Requests to end the process that steps of a solver heed. A step is finished before they are
// followed, so that a checkpoint can be written of it; but a step whose nodes fly far may have to
// search for minutes. Then it is given up, as if memory had run out, and the run ends with a state
// of no step.
#ifndef TAUT_BASE_INTERRUPTION_H
#define TAUT_BASE_INTERRUPTION_H

#include <stdbool.h>
#include <stdint.h>

// From now on any thread calls `count` to find how many requests there have been; NULL: there are
// none. Called only while no steps are done.
void interruption_watch(int (*count)(void));

// Around steps: only within them anything is given up. `steps` have been done at the end, from
// which follows how long a step takes.
void interruption_steps_begin(void);
void interruption_steps_end(uint64_t steps);

// Whether what takes long is to be given up: it has been a second since a request was first seen
// here, or twice the time of a step, if that is more. For loops of searches, each round of which
// takes more than a microsecond. True until the steps end.
bool interruption_is_due(void);

#endif
