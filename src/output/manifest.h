// manifest.json: which files of a folder taut wrote, each with its size and its checksum, so that
// they can be distinguished from files of others before anything is replaced.
//
// It is made in two steps. While files are written it is a log that grows by a line: a file is
// announced before it exists ("writing": true), and listed with size and checksum when it is whole;
// the later line counts. So whatever was there when a process was killed is known. At the end it is
// written again, whole, as one JSON object with a line for each file:
//
//   {
//   "taut_manifest": 1,
//   "kind": "run",
//   "name": "flag",
//   "checksum": "XXH64",
//   "files": [
//   {"name": "scene.yaml", "size": 1034, "checksum": "27b3f2d1c0a98e54"},
//   ...
//   ],
//   "complete": true
//   }
//
// Names are of files in the same folder. The checksum is XXH64 with seed 0 (xxh64sum prints it); it
// finds changes, not forgery. "complete" is false, or is missing, where a run ended early.
#ifndef TAUT_OUTPUT_MANIFEST_H
#define TAUT_OUTPUT_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "output/file.h"

#define MANIFEST_NAME "manifest.json"

struct manifest_entry {
    char *name;
    bool writing; // size and checksum are not known
    uint64_t size, checksum;
    size_t line; // in the order of the file
};

// As read, or as being written.
struct manifest {
    char *folder;
    char *kind; // "run" or "study"
    char *name; // of the scene
    bool complete;
    struct manifest_entry *entries;
    size_t count, capacity;
    struct file log; // while it is being written
};

// Reads FOLDER/manifest.json. *present is false where there is none; a file of that name that taut
// did not write is an error. `busy` returns whether a process is still writing it. manifest_free
// after success.
taut_status manifest_read(const char *folder, struct manifest *manifest, bool *present, bool *busy,
                          taut_error *error);

// Reports that another process writes to the folder.
taut_status manifest_fail_busy(const char *folder, taut_error *error);

// Begins one, in a folder that has none. manifest_end or manifest_abandon, also after a failure.
taut_status manifest_begin(const char *folder, const char *kind, const char *name,
                           struct manifest *manifest, taut_error *error);

// Records that a file is going to be written, and, later, that it is whole. `path` is that of a
// file in the folder.
taut_status manifest_announce(struct manifest *manifest, const char *path, taut_error *error);
taut_status manifest_add(struct manifest *manifest, const char *path, taut_error *error);

// Lists files that were announced and are whole now, leaves out those that are not there, and
// writes the manifest again. It is freed.
taut_status manifest_end(struct manifest *manifest, bool complete, taut_error *error);

// Removes it.
void manifest_abandon(struct manifest *manifest);

void manifest_free(struct manifest *manifest);

// Size and checksum of a regular file; links are not followed.
taut_status manifest_measure(const char *path, uint64_t *size, uint64_t *checksum,
                             taut_error *error);

#endif
