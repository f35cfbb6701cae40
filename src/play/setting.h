// A scene with what is drawn of it, and the solver that runs it.
#ifndef TAUT_PLAY_SETTING_H
#define TAUT_PLAY_SETTING_H

#include <stdatomic.h>

#include "picture/subject.h"
#include "play/changes.h"
#include "solver/solver.h"

// ---- Settings
//
// A scene and what is drawn of it, as they stand between two changes. Written once, before anybody
// else sees it; then held by whoever uses it, on whatever thread, and freed with the last.

struct shown {
    atomic_int holders;
    uint64_t generation; // grows whenever it is another one
    struct subject subject;
};

struct setting {
    atomic_int holders;
    taut_scene *scene;
    struct changes changes; // of its file, that make it
    struct shown *shown;    // held: most changes leave it as it is, and settings share it
    const struct subject *subject;
    uint64_t origin; // grows whenever the uncut scene numbers its springs or faces otherwise
    // Where something is cut: of each spring and face that is left, its number in the uncut scene.
    uint32_t *springs, *faces; // NULL: nothing is cut
};

// Takes the scene over, after a failure as well, and copies the rest; `cuts` may be NULL. The
// solver must stand as built. The caller holds it, and gives it its numbers (setting_follow).
taut_status setting_make(taut_scene *scene, const struct changes *changes,
                         const taut_solver *solver, const struct solver_cuts *cuts,
                         struct setting **setting, taut_error *error);

// Another setting of the same solver and cuts, whose scene says something else; takes the scene
// over, after a failure as well. `solver`: to take the subject from its present constants; NULL:
// the subject is the same.
taut_status setting_make_again(const struct setting *before, taut_scene *scene,
                               const struct changes *changes, const taut_solver *solver,
                               struct setting **setting, taut_error *error);

// Numbers a setting that nobody else sees yet, after the one before it, whose subject it shares if
// its own is the same.
void setting_follow(struct setting *setting, const struct setting *before, bool same_origin);

struct setting *setting_hold(struct setting *setting);
void setting_release(struct setting *setting); // NULL is ignored

// ---- Shows
//
// What is played: a solver, the scene that it was made of, and what people changed and cut. What is
// no constant (changes.h) is changed by making another show beside the one that runs, which
// continues from its state; so whatever a scene can say can be changed, and a change that fails
// leaves all as it was.

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
