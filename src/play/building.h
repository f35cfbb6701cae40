// Builds a simulation from another scene, or from the present one with changes or cuts. Small
// scenes are built at once by the calling thread. For large ones a separate thread works beside the
// running simulation, after it has estimated the memory and, if that is much, asked for
// confirmation. A build can be cancelled at any time.
#ifndef TAUT_PLAY_BUILDING_H
#define TAUT_PLAY_BUILDING_H

#include "play/player.h"
#include "play/requests.h"
#include "play/setting.h"

// A simulation that is to be built. Everything is copied.
struct building_order {
    enum request_type type;        // of the request that caused it
    const char *path;              // a scene file; NULL: `base` again
    struct setting *base;          // its text is read again
    const struct changes *changes; // the changes so far,
    const struct request *sets;    // and those of these requests (REQUEST_SET)
    size_t set_count;
    const struct solver_cuts *cuts; // NULL: none
    bool continues;                 // from the state of the present simulation, if the nodes are
                                    // the same
    taut_config config;
    enum budget_choice budget;
};

struct building;

// NULL if memory is short.
struct building *building_make(const struct building_order *order);

// Builds it at once; false if that would take long, and then nothing has been done.
bool building_try(struct building *building);

// Builds it on a thread of its own; false if no thread can be created.
bool building_begin(struct building *building);

bool building_is_done(struct building *building);

// Confirms the build. `yes` false cancels it at any time before it is done, within a few tenths of
// a second. May be called from any thread.
void building_confirm(struct building *building, bool yes);

// The present stage and the estimates. May be called from any thread.
void building_progress(struct building *building, struct player_building *progress);

// ---- After the build

const struct building_order *building_order(const struct building *building);
bool building_was_cancelled(const struct building *building);

// Passes the simulation to the caller; false if none was built. `error` describes what failed; it
// may be set beside a simulation, if only some of the changes failed.
bool building_result(struct building *building, struct simulation *simulation, taut_error *error);

// Cancels the build if it is not done, and waits for its end.
void building_free(struct building *building);

#endif
