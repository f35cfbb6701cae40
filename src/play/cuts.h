// What has been cut out of a scene so far (solver_live.h), by the numbers of the scene as built.
#ifndef TAUT_PLAY_CUTS_H
#define TAUT_PLAY_CUTS_H

#include "play/requests.h"
#include "solver_live.h"

// What was cut before, which may be nothing (a zeroed struct), and what a stroke cuts; numbers that
// the scene does not have are left out. False without memory; `cuts` is empty then.
bool cuts_add(const struct solver_cuts *before, const struct request *stroke,
              struct solver_cuts *cuts);

void cuts_free(struct solver_cuts *cuts);

#endif
