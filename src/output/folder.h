// The folder of a run or a study before anything is written there: created, and cleared of what an
// earlier one left where that is wished.
//
// Only files that the folder's manifest lists, and that have not changed since, are ever removed;
// what the scene is made of never is, wherever it lies and whatever lists it.
#ifndef TAUT_OUTPUT_FOLDER_H
#define TAUT_OUTPUT_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

// How every scene.yaml of ours begins.
#define SCENE_YAML_OPENING "# taut: the scene of this run, resolved.\n"

struct folder_claim {
    const char *folder;
    const char *kind; // of what is to be written, as the manifest calls it
    bool force;       // replace what an earlier one of this kind left; else that is an error
    const char *const *inputs; // files that the scene is made of
    size_t input_count;
    // Whether a file of that name may be written; there is none of that name afterwards.
    bool (*writes)(const void *context, const char *name);
    const void *context;
};

// Creates the folder with its parents. Fails, and changes nothing else, where an earlier run or
// study must not or cannot be replaced, or where files of others are in the way.
taut_status folder_check(const struct folder_claim *claim, taut_error *error);

// The same, and then removes the files of the earlier one with its manifest.
taut_status folder_clear(const struct folder_claim *claim, taut_error *error);

// Creates a folder with its parents, unless it is there.
taut_status folder_make(const char *path, taut_error *error);

#endif
