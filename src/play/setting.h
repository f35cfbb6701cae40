// A scene with its subject for drawing, and the solver that runs it.
#ifndef TAUT_PLAY_SETTING_H
#define TAUT_PLAY_SETTING_H

#include <stdatomic.h>

#include "picture/subject.h"
#include "play/changes.h"
#include "solver/solver.h"

// ---- Settings
//
// A scene and its subject between two changes. Immutable once it is shared; reference-counted, for
// users on any thread.

struct shared_subject {
    atomic_int references;
    uint64_t generation; // grows whenever it is another one
    struct subject subject;
};

struct setting {
    atomic_int references;
    taut_scene *scene;
    struct changes changes;        // of its file, that make it
    struct shared_subject *shared; // held: most changes leave it as it is, and settings share it
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

// ---- Simulations
//
// A simulation: a solver, the scene that it was made from, and the user's changes and cuts. A
// change of anything but a constant (changes.h) builds another simulation beside the running one,
// which continues from its state; so every key of a scene can be changed, and a change that fails
// leaves everything as it was.

struct simulation {
    taut_solver *solver;
    struct setting *setting; // held
    struct changes changes;
    struct solver_cuts cuts; // the counts are those of the scene as built; springs NULL: no cuts
};

// Makes a simulation that stands as built. Takes `scene` over, and copies the rest; `cuts` may be
// NULL. The simulation is empty after a failure.
taut_status simulation_make(struct simulation *simulation, taut_scene *scene,
                            const struct changes *changes, const struct solver_cuts *cuts,
                            const struct solver_options *options, taut_error *error);

// Whether a simulation has the nodes of another one, so that it can continue from it.
bool simulation_has_same_nodes(const struct simulation *simulation, const struct simulation *other);

// Numbers a simulation after the one before it, which may be empty, and restores it from that one
// if it `continues`.
taut_status simulation_follow(struct simulation *simulation, struct simulation *before,
                              bool continues, taut_error *error);

void simulation_close(struct simulation *simulation);

// The body that a node over all bodies belongs to, and its number there; false where there is none.
bool simulation_find_node(const struct simulation *simulation, uint64_t node, size_t *body,
                          uint64_t *number);

#endif
