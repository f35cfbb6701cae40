// The constants of a checkpoint (checkpoint.h). A setter of taut.h writes its value into the
// topology, from which everything else is derived (set.c). So a checkpoint has these values, as
// they are, and a solver that continues from one is made with them: after the plan, which is that
// of the scene as built, and before anything is derived from them.
#ifndef TAUT_SOLVER_CHECKPOINT_CONSTANTS_H
#define TAUT_SOLVER_CHECKPOINT_CONSTANTS_H

#include "solver/private.h"

enum { SAVED_CONSTANTS = 34 };

// The prefix of their names in a checkpoint.
#define CONSTANTS_PREFIX "constants."

struct saved_constants {
    uint64_t counts[SAVED_CONSTANTS], listed;
    double *values[SAVED_CONSTANTS];
    double *listed_rest; // of listed springs, by the builders' numbers; NULL: as built
};

const char *saved_constants_name(unsigned constant);

// Zeros, without rest lengths of listed springs, which add_listed adds; take: those of a topology.
// False without memory; free takes what there is.
bool saved_constants_make(const struct topology *topology, struct saved_constants *constants);
bool saved_constants_add_listed(struct saved_constants *constants);
bool saved_constants_take(struct topology *topology, struct saved_constants *constants);
void saved_constants_free(struct saved_constants *constants);

// The name of the first with a value that no setter accepts; NULL: all may be.
const char *saved_constants_find_impossible(const struct saved_constants *constants,
                                            const struct topology *topology);

// Into a topology from which nothing but the plan has been derived; false if it cannot have them.
bool saved_constants_put(const struct saved_constants *constants, struct topology *topology,
                         struct plan *plan, enum precision precision);

#endif
