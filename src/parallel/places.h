// Where workers are held, on machines with several memory nodes: each in the node whose memory it
// touched first, on whatever core of that node the system likes.
//
// Not to one core: beside a busy neighbour the system could not move a worker to a core that is
// idle. And only if the team has a worker for every core that the process may use: of two runs that
// share a machine, with fewer workers each, both would be held to the first cores of it. With one
// memory node nobody is held at all.
#ifndef TAUT_PARALLEL_PLACES_H
#define TAUT_PARALLEL_PLACES_H

#include <stdbool.h>

#include "taut.h"

struct places;

// Places for a team of so many workers; *result is NULL where they need none. Neighbouring workers
// share a node, and each node has as many of them as it has cores. Fails only without memory.
taut_status places_make(int workers, struct places **result, taut_error *error);

void places_free(struct places *places);

// The memory node of a worker, counted from 0 over those that the process may use.
int places_node(const struct places *places, int worker);

// Holds the calling thread to the place of a worker; where that is not allowed, it goes on as it
// is.
void places_enter(const struct places *places, int worker);

// For worker 0, a thread that is only lent to the team: holds it to worker 0's place and returns
// what it was held to before, which places_leave restores and releases. NULL is what either can
// cope with.
void *places_visit(const struct places *places);
void places_leave(const struct places *places, void *before);

#endif
