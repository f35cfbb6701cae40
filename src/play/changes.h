// The user's changes of a scene: keys of its file (including constants of the run), and cuts.
#ifndef TAUT_PLAY_CHANGES_H
#define TAUT_PLAY_CHANGES_H

#include <stdbool.h>

#include "play/requests.h"
#include "scene/scene.h"
#include "solver/solver.h"

// ---- Changes of the file
//
// The user's changes of the scene file so far: PATH=VALUE, as --set takes them.

// A zeroed struct is an empty list.
struct changes {
    char **texts;
    size_t count, capacity;
};

// False if memory is short; `to` is empty then.
bool changes_copy(const struct changes *from, struct changes *to);

// Adds a change. It replaces earlier changes of that path, of paths below it, and of keys that it
// excludes.
bool changes_set(struct changes *changes, const char *text);

// Reads the scene file with all changes; NULL after an error, with the reasons in `diagnostics`.
taut_scene *changes_read(const struct changes *changes, const char *path,
                         struct diagnostics *diagnostics);

// The same, from the text of the file as it was read before: later changes of the file have no
// effect on the run.
taut_scene *changes_read_again(const struct changes *changes, const taut_scene *scene,
                               struct diagnostics *diagnostics);

// The length of that text in bytes.
size_t changes_text_length(const taut_scene *scene);

// Turns the first error of the diagnostics into a message of one sentence.
taut_status changes_fail(const struct diagnostics *diagnostics, taut_error *error);

void changes_free(struct changes *changes);

// ---- Constants
//
// Some changes of a scene affect constants of the run only: these are set in the running solver,
// and nothing is rebuilt. The scene is still read again with all changes, so that it, and a file
// saved from it, has the values of the solver; comparing the two scenes shows which constants
// differ.

// Whether PATH=VALUE may be a constant, judged by its path; if so, reading the scene is worth
// while.
bool constants_may_have(const taut_scene *scene, const char *text);

// Whether two scenes that differ by such changes differ in constants only. A wind where there was
// none, another law, or another distribution of masses are not constants.
bool constants_are_all(const taut_scene *before, const taut_scene *after);

// Sets the constants that differ in a solver of the scene `before`. After a failure nothing has
// changed.
taut_status constants_set(taut_solver *solver, const taut_scene *before, const taut_scene *after,
                          taut_error *error);

// Whether the difference is visible: stiffness of springs, the up direction, or whether everything
// stays in a plane.
bool constants_show(const taut_scene *before, const taut_scene *after);

// ---- Cuts
//
// What has been cut out of a scene so far (solver/solver.h), numbered as in the scene as built.

// Adds the cuts of a stroke to those before, which may be empty (a zeroed struct); numbers that the
// scene does not have are ignored. False if memory is short; `cuts` is empty then.
bool cuts_add(const struct solver_cuts *before, const struct request *stroke,
              struct solver_cuts *cuts);

void cuts_free(struct solver_cuts *cuts);

#endif
