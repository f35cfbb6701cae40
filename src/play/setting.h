// A scene with its subject for drawing (a setting), and the solver that runs it (a simulation).
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
    uint64_t generation; // increases with each new subject
    struct subject subject;
};

struct setting {
    atomic_int references;
    taut_scene *scene;
    struct changes changes;        // the changes of the scene file that lead to this scene
    struct shared_subject *shared; // reference held: most changes leave it as it is, and settings
                                   // share it
    const struct subject *subject;
    uint64_t origin; // increases when the uncut scene numbers its springs or faces differently
    // The number in the uncut scene of each remaining spring and face.
    uint32_t *springs, *faces; // NULL: nothing is cut
};

// Takes ownership of the scene, after a failure as well, and copies the rest; `cuts` may be NULL.
// The solver must not have made a step. The caller owns a reference, and numbers the setting
// (setting_follow).
taut_status setting_make(taut_scene *scene, const struct changes *changes,
                         const taut_solver *solver, const struct solver_cuts *cuts,
                         struct setting **setting, taut_error *error);

// Creates another setting of the same solver and cuts, with a changed scene; takes ownership of the
// scene, after a failure as well. `solver`: the subject is updated from its present constants;
// NULL: the subject is the same.
taut_status setting_make_again(const struct setting *before, taut_scene *scene,
                               const struct changes *changes, const taut_solver *solver,
                               struct setting **setting, taut_error *error);

// Numbers a setting that is not shared yet as the successor of `before`, whose subject it shares if
// its own is the same.
void setting_follow(struct setting *setting, const struct setting *before, bool same_origin);

struct setting *setting_retain(struct setting *setting);
void setting_release(struct setting *setting); // NULL is ignored

// ---- Simulations
//
// A simulation: a solver, the scene that it was made from, and the user's changes and cuts. A
// change of anything but a constant (changes.h) builds another simulation beside the running one,
// which continues from its state; so every key of a scene can be changed, and a change that fails
// leaves everything as it was.

struct simulation {
    taut_solver *solver;
    struct setting *setting; // reference held
    struct changes changes;
    struct solver_cuts cuts; // the counts are those of the scene as built; springs NULL: no cuts
};

// Creates a simulation at t = 0. Takes ownership of `scene`, and copies the rest; `cuts` may be
// NULL. The simulation is empty after a failure.
taut_status simulation_make(struct simulation *simulation, taut_scene *scene,
                            const struct changes *changes, const struct solver_cuts *cuts,
                            const struct solver_options *options, taut_error *error);

// Whether both simulations have the same nodes, so that one can continue from the other.
bool simulation_has_same_nodes(const struct simulation *simulation, const struct simulation *other);

// Numbers a simulation as the successor of `before`, which may be empty, and restores the state of
// that one if `continues`.
taut_status simulation_follow(struct simulation *simulation, struct simulation *before,
                              bool continues, taut_error *error);

void simulation_close(struct simulation *simulation);

// The body of a node that is numbered over all bodies, and its number in the body; false if there
// is none.
bool simulation_find_node(const struct simulation *simulation, uint64_t node, size_t *body,
                          uint64_t *number);

#endif
