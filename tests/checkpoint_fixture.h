// Shared by the tests of checkpoints: solvers that are saved to memory and restored, and two runs
// compared by their next checkpoints, byte by byte, which have all that they remember.
#ifndef TAUT_TESTS_CHECKPOINT_FIXTURE_H
#define TAUT_TESTS_CHECKPOINT_FIXTURE_H

#include "physics.h"

// The largest instruction set of this machine.
enum isa best_isa(void);

taut_solver *create(const taut_scene *scene, int threads, enum isa isa);
taut_solver *create_with(const taut_scene *scene, const taut_config *config);

// A checkpoint, whose bytes taut_bytes_release releases.
struct saved {
    void *bytes;
    size_t count;
};

struct saved save(taut_solver *solver);
struct saved save_and_end(taut_solver *solver);
taut_solver *restore(const taut_scene *scene, struct saved saved, int threads, enum isa isa);
taut_solver *restore_with(const taut_scene *scene, struct saved saved, const taut_config *config);

// An archive_source of a `struct saved`, from which it removes the bytes that it has returned.
size_t feed_reader(void *context, void *bytes, size_t count, int *failure);

// Fails with `what` and the arrays that differ.
void assert_same_saved(struct saved a, struct saved b, const char *what);

#endif
