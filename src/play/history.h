// The recent past: rings of positions, within a budget of bytes, and of energies. One thread adds,
// another reads; the one that adds never waits for a copy to be finished, but leaves a frame out.
#ifndef TAUT_PLAY_HISTORY_H
#define TAUT_PLAY_HISTORY_H

#include <pthread.h>

#include "play/player.h"

enum { HISTORY_ROWS = 4096 };

struct history_frame {
    double time;
    uint64_t step;
    float wind[3];
    taut_energy energy;
};

// What a frame has beside its head, of which all frames lie in one block each.
struct history_arrays {
    float *positions;
    struct subject_sphere *spheres;
    double *volumes;
};

struct history_shape {
    size_t nodes, spheres, bodies;
};

struct history {
    size_t budget; // bytes
    pthread_mutex_t lock;
    struct history_shape shape;
    struct history_frame *frames;
    struct history_arrays arrays;
    size_t first, count, capacity;
    uint64_t every, seen; // one moment of so many is kept
    uint64_t generation;
    struct player_row *rows;
    size_t first_row, row_count;
    // Of the thread that reads: the frame that it looks at.
    struct history_shape read_shape;
    struct history_arrays read;
};

// False without memory, or locks.
bool history_make(struct history *history, size_t budget);
void history_free(struct history *history);

// Forgets all and makes room for moments of that shape. Without memory for any there is no past.
void history_begin(struct history *history, const struct history_shape *shape);

// Goes on with moments of the same shape and another subject.
void history_renumber(struct history *history, uint64_t generation);

void history_add(struct history *history, const struct player_moment *moment);
void history_add_row(struct history *history, const struct player_row *row);

size_t history_count(struct history *history);
double history_time(struct history *history, size_t index);

// What the moment points at stays until the next call.
bool history_moment(struct history *history, size_t index, struct player_moment *moment);

size_t history_rows(struct history *history, struct player_row *rows, size_t most);

#endif
