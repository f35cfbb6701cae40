// What is played: a solver, the scene that it was made of, and what people changed and cut. Every
// change makes another show, beside the one that runs, and goes on where that one is; so whatever a
// scene can say can be changed, and a change that fails leaves all as it was.
#ifndef TAUT_PLAY_SHOW_H
#define TAUT_PLAY_SHOW_H

#include "play/changes.h"
#include "play/cuts.h"
#include "play/setting.h"

struct show {
    taut_solver *solver;
    struct setting *setting; // held
    struct changes changes;
    struct solver_cuts cuts; // the counts are those of the scene as built; springs NULL: no cuts
};

// Makes a show that stands as built. Takes `scene` over, and copies the rest; `cuts` may be NULL.
// The show is empty after a failure.
taut_status show_make(struct show *show, taut_scene *scene, const struct changes *changes,
                      const struct solver_cuts *cuts, const struct solver_options *options,
                      taut_error *error);

// Whether a show has the nodes of another one, so that it can go on with them.
bool show_has_same_nodes(const struct show *show, const struct show *other);

// Numbers a show after the one before it, which may be empty, and goes on where that is, if told
// so.
taut_status show_follow(struct show *show, struct show *before, bool goes_on, taut_error *error);

void show_close(struct show *show);

// The body that a node over all bodies belongs to, and its number there; false where there is none.
bool show_find_node(const struct show *show, uint64_t node, size_t *body, uint64_t *number);

#endif
