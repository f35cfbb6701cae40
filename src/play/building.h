// A simulation in the making: of another scene, or of the present one with changes or cuts. Small
// ones are made at once, by the thread that asks; for large ones a thread of its own works beside
// the simulation that runs, after it has estimated what the scene takes, and asked where that is
// much. It can be given up at any time.
#ifndef TAUT_PLAY_BUILDING_H
#define TAUT_PLAY_BUILDING_H

#include "play/player.h"
#include "play/requests.h"
#include "play/setting.h"

// What is to be made. All of it is copied.
struct building_order {
    enum request_type type;        // of the request that it comes from
    const char *path;              // a scene file; NULL: `base` again
    struct setting *base;          // whose text is read again
    const struct changes *changes; // so far,
    const struct request *sets;    // and these, of REQUEST_SET
    size_t set_count;
    const struct solver_cuts *cuts; // NULL: none
    bool continues;                 // where the present simulation is, if it has the same nodes
    taut_config config;
    enum budget_choice budget;
};

struct building;

// NULL without memory.
struct building *building_make(const struct building_order *order);

// Makes it at once; false where that would take long, and then nothing has been done.
bool building_try(struct building *building);

// Builds it on a thread of its own; false if no thread can be created.
bool building_begin(struct building *building);

bool building_is_done(struct building *building);

// Answers the request for confirmation. `no` cancels the build at any time, within some tenths of a
// second. For any thread.
void building_answer(struct building *building, bool yes);

// What it is doing and what it needs. For any thread.
void building_progress(struct building *building, struct player_building *progress);

// ---- Once it is done

const struct building_order *building_order(const struct building *building);
bool building_was_cancelled(const struct building *building);

// The simulation, which the caller takes over; false where none was made. `error` has what went
// wrong, which may be said of some sets while others made a simulation.
bool building_take(struct building *building, struct simulation *simulation, taut_error *error);

// Cancels the build if it is not done, and waits for its end.
void building_free(struct building *building);

#endif
