// Published frames, and the frames of the recent past.
#ifndef TAUT_PLAY_FRAMES_H
#define TAUT_PLAY_FRAMES_H

#include <pthread.h>

#include "play/player.h"
#include "play/setting.h"

// ---- Published frames
//
// Complete frames that pass from the stepping thread to the drawing thread (triple buffering). Of
// three slots one is being filled, one is being read, and the third is between them: publishing and
// refreshing swap it in with one atomic exchange, so neither thread ever waits for the other or
// sees half a frame.

struct published_slot {
    struct setting *setting; // reference held; NULL: never filled
    unsigned wanted;         // strains, contacts (picture/subject.h): arrays for them
    struct frame frame;
};

struct published {
    struct published_slot slots[3];
    atomic_int between; // index of the slot, and FRESH until it is read
    int filled, read;   // indices of the others, each used by one thread only
};

void published_make(struct published *published);
void published_free(struct published *published);

// The slot to fill, with arrays for a frame of that setting; NULL if memory is short.
struct published_slot *published_slot(struct published *published, struct setting *setting,
                                      unsigned wanted, taut_error *error);

// Publishes the filled slot.
void published_send(struct published *published);

// Takes the newest slot for reading; false if there is no new one.
bool published_refresh(struct published *published);

// The slot that is being read.
const struct published_slot *published_read(const struct published *published);

// ---- The recent past
//
// Ring buffers of frames, within a budget of bytes, and of energies. One thread adds, another
// reads; the adding thread never waits for a copy to be finished, but skips a frame.

enum { HISTORY_ROWS = 4096 };

struct history {
    size_t budget; // bytes
    pthread_mutex_t lock;
    struct frame_shape shape;
    struct frame *frames; // the arrays of each are allocated when it is first used
    size_t first, count, capacity;
    uint64_t every, seen; // one frame of `every` is stored
    uint64_t generation;
    struct player_row *rows;
    size_t first_row, row_count;
    struct frame read; // used by the reading thread: its copy of a frame
};

// False if memory is short or a lock cannot be created.
bool history_make(struct history *history, size_t budget);
void history_free(struct history *history);

// Discards all frames and allocates for frames of that shape. If there is no memory for any, there
// is no history.
void history_begin(struct history *history, const struct frame_shape *shape);

// Continues with frames of the same shape and another subject.
void history_renumber(struct history *history, uint64_t generation);

void history_add(struct history *history, const struct frame *frame);
void history_add_row(struct history *history, const struct player_row *row);

size_t history_count(struct history *history);
double history_time(struct history *history, size_t index);

// A copy of a past frame, valid until the next call; NULL if it is no longer stored.
const struct frame *history_frame(struct history *history, size_t index);

size_t history_rows(struct history *history, struct player_row *rows, size_t most);

#endif
