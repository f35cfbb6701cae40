// Whole moments on their way from the thread that steps to the one that draws. Of three slots one
// is being filled, one is being read, and the third lies between: publishing and refreshing swap it
// in with one atomic exchange, so that neither side ever waits for the other, or sees half a
// moment.
#ifndef TAUT_PLAY_PUBLISHED_H
#define TAUT_PLAY_PUBLISHED_H

#include "play/player.h"
#include "play/setting.h"

struct published_slot {
    struct setting *setting; // held; NULL: never filled
    struct subject_store store;
    bool has_room; // for strains
    double *volumes;
    struct subject_line pull;
    struct player_moment moment;
};

struct published {
    struct published_slot slots[3];
    atomic_int between; // a slot's index, and FRESH where it has not been read
    int filled, read;   // the others' indices, each of its own thread
};

void published_make(struct published *published);
void published_free(struct published *published);

// The slot to fill, with room for a moment of that setting; NULL without memory.
struct published_slot *published_slot(struct published *published, struct setting *setting,
                                      bool strains, taut_error *error);

// Hands the filled slot on.
void published_send(struct published *published);

// Takes the newest slot for reading; false if there is none that is new.
bool published_refresh(struct published *published);

// The slot that is being read.
const struct published_slot *published_read(const struct published *published);

#endif
