// Prepares the folder of a run or a study: creates it, and on request removes the files of an
// earlier one.
//
// Only files that the folder's manifest lists, and that have not changed since, are ever removed,
// and in the folder of an interrupted run those that it lacks and that begin as taut's files do, or
// have the name of a temporary file. Files that the scene is read from are never removed, wherever
// they are and whatever lists them.
#ifndef TAUT_OUTPUT_FOLDER_H
#define TAUT_OUTPUT_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

// The first bytes of every scene.yaml that taut writes.
#define SCENE_YAML_HEADER "# taut: the scene of this run, resolved.\n"

struct folder_claim {
    const char *folder;
    const char *kind;          // what is to be written, as named in the manifest
    bool force;                // replace an earlier one of this kind; otherwise that is an error
    const char *const *inputs; // files that the scene is read from
    size_t input_count;
    // Whether a file of this name may be written; folder_clear leaves no file of such a name.
    bool (*writes)(const void *context, const char *name);
    const void *context;
};

// Creates the folder with its parents. Fails without changing anything else if an earlier run or
// study must not or cannot be replaced, or if the folder has other files.
taut_status folder_check(const struct folder_claim *claim, taut_error *error);

// The same, and then removes the files of the earlier one and its manifest.
taut_status folder_clear(const struct folder_claim *claim, taut_error *error);

// Whether a regular file in a folder begins as taut's files do, or is empty. After a power failure
// such a file may be there though the manifest, whose last lines were not on the disk yet, lacks
// it.
bool folder_has_own(const char *folder, const char *name);

// Whether it is a folder with nothing in it but such files, as a process leaves that is killed
// before it writes others.
bool folder_is_bare(const char *folder);

// Removes the files with names that taut gives temporary files (file.h), which a killed process has
// left. Only in the folder of a run that was interrupted, and to which nobody else writes.
taut_status folder_remove_temporaries(const char *folder, taut_error *error);

// Creates a folder with its parents; an existing folder is no error.
taut_status folder_make(const char *path, taut_error *error);

// The same of the folder that a file will be in.
taut_status folder_make_parent(const char *file, taut_error *error);

#endif
