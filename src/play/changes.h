// The user's changes of a scene: keys of its file, constants of the run among them, and cuts.
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

// False without memory; `to` is empty then.
bool changes_copy(const struct changes *from, struct changes *to);

// Adds a change. It replaces earlier changes of that path, of paths below it, and of keys that it
// excludes.
bool changes_set(struct changes *changes, const char *text);

// The scene of the file with all changes; NULL with the reasons in `diagnostics`.
taut_scene *changes_read(const struct changes *changes, const char *path,
                         struct diagnostics *diagnostics);

// The same from the text that the scene was read from, so that only the user's changes affect a
// run, even if the file changes.
taut_scene *changes_read_again(const struct changes *changes, const taut_scene *scene,
                               struct diagnostics *diagnostics);

// The length of that text.
size_t changes_text_length(const taut_scene *scene);

// The first thing that is wrong, as one sentence.
taut_status changes_fail(const struct diagnostics *diagnostics, taut_error *error);

void changes_free(struct changes *changes);

// ---- Constants
//
// Changes of a scene that are constants of a run: they are set in the running solver, and nothing
// is rebuilt. The scene is still read again with all changes, so that it, and a file saved from it,
// has the values of the solver; comparing the two scenes shows which constants differ.

// Whether PATH=VALUE can be a constant, by its path: worth finding out by reading the scene.
bool constants_may_have(const taut_scene *scene, const char *text);

// Whether what may differ between two scenes (by constants_may_have) are constants alone. A wind
// where there was none, another law, or another distribution of masses are not.
bool constants_are_all(const taut_scene *before, const taut_scene *after);

// Sets what differs in a solver of the scene `before`. After a failure nothing has changed.
taut_status constants_set(taut_solver *solver, const taut_scene *before, const taut_scene *after,
                          taut_error *error);

// Whether what is drawn differs: the stiffness of springs, up, or that all stays in a plane.
bool constants_show(const taut_scene *before, const taut_scene *after);

// ---- Cuts
//
// What has been cut out of a scene so far (solver/solver.h), by the numbers of the scene as built.

// What was cut before, which may be nothing (a zeroed struct), and what a stroke cuts; numbers that
// the scene does not have are left out. False without memory; `cuts` is empty then.
bool cuts_add(const struct solver_cuts *before, const struct request *stroke,
              struct solver_cuts *cuts);

void cuts_free(struct solver_cuts *cuts);

#endif
