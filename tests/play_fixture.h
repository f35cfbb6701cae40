// Shared by the tests of the player: players of the repository's scenes without a window, waiting
// for them (for conditions, with generous time limits, since machines may be busy), and plain runs
// to compare them with.
#ifndef TAUT_TESTS_PLAY_FIXTURE_H
#define TAUT_TESTS_PLAY_FIXTURE_H

#include "physics.h"

#include "play/player.h"

// A list of overrides.
#define CHANGES(...) ((const char *const[]){__VA_ARGS__, NULL})

// A player of scenes/NAME with these overrides and one thread. `overrides` ends with NULL.
struct player *player_of(const char *name, const char *const *overrides);

// A solver of the same scene, at t = 0.
taut_solver *plain_of(const char *name, const char *const *overrides);

struct player_status status_of(struct player *player);

// Waits until all requests are done.
struct player_status wait_until_idle(struct player *player);

// Waits until that step is reached, or the run has failed.
struct player_status wait_for_step(struct player *player, uint64_t step);
struct player_status wait_for_failure(struct player *player);

// Makes that many single steps, and waits for them.
struct player_status step(struct player *player, uint64_t steps);

// Waits for the frame of the present step, while paused.
const struct frame *newest(struct player *player);

// Asserts that the frame has the solver's time, step and positions, to the last bit of a float.
void assert_same_frame(const struct frame *frame, taut_solver *solver);

// A coordinate of a node in a frame.
double coordinate(const struct frame *frame, uint64_t node, int axis);

void nap(void);

#endif
