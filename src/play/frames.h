// Frames of a run for those who watch it: published ones, and the recent past.
#ifndef TAUT_PLAY_FRAMES_H
#define TAUT_PLAY_FRAMES_H

#include <pthread.h>

#include "play/player.h"
#include "play/setting.h"

// ---- Published frames
//
// Whole frames on their way from the thread that steps to the one that draws. Of three slots one
// is being filled, one is being read, and the third lies between: publishing and refreshing swap it
// in with one atomic exchange, so that neither side ever waits for the other, or sees half a
// frame.

struct published_slot {
    struct setting *setting; // held; NULL: never filled
    bool has_room;           // for strains
    struct frame frame;
};

struct published {
    struct published_slot slots[3];
    atomic_int between; // a slot's index, and FRESH where it has not been read
    int filled, read;   // the others' indices, each of its own thread
};

void published_make(struct published *published);
void published_free(struct published *published);

// The slot to fill, with room for a frame of that setting; NULL without memory.
struct published_slot *published_slot(struct published *published, struct setting *setting,
                                      bool strains, taut_error *error);

// Hands the filled slot on.
void published_send(struct published *published);

// Takes the newest slot for reading; false if there is none that is new.
bool published_refresh(struct published *published);

// The slot that is being read.
const struct published_slot *published_read(const struct published *published);

// ---- The recent past
//
// The recent past: rings of frames, within a budget of bytes, and of energies. One thread adds,
// another reads; the one that adds never waits for a copy to be finished, but leaves a frame out.

enum { HISTORY_ROWS = 4096 };

struct history {
    size_t budget; // bytes
    pthread_mutex_t lock;
    struct frame_shape shape;
    struct frame *frames; // each gets its arrays when it is first used
    size_t first, count, capacity;
    uint64_t every, seen; // one frame of so many is kept
    uint64_t generation;
    struct player_row *rows;
    size_t first_row, row_count;
    struct frame read; // of the thread that reads: the frame that it looks at
};

// False without memory, or locks.
bool history_make(struct history *history, size_t budget);
void history_free(struct history *history);

// Forgets all and makes room for frames of that shape. Without memory for any there is no past.
void history_begin(struct history *history, const struct frame_shape *shape);

// Continues with frames of the same shape and another subject.
void history_renumber(struct history *history, uint64_t generation);

void history_add(struct history *history, const struct frame *frame);
void history_add_row(struct history *history, const struct player_row *row);

size_t history_count(struct history *history);
double history_time(struct history *history, size_t index);

// A copy of a past frame, which stays until the next call; NULL where it is there no more.
const struct frame *history_frame(struct history *history, size_t index);

size_t history_rows(struct history *history, struct player_row *rows, size_t most);

#endif
