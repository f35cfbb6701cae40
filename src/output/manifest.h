// manifest.json lists the files of a folder that taut wrote, each with its size and checksum, so
// that they can be distinguished from other files before anything is replaced.
//
// It is written in two stages. While files are written it is a log that grows by lines: a file is
// announced before it exists ("writing": true), and listed with size and checksum when it is
// complete; the later line counts. So the files are known if the process is killed. At the end it
// is rewritten as one JSON object with a line for each file:
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
// detects changes, not forgery. "complete" is false or missing if a run ended early.
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
    bool writing; // size and checksum are not known yet
    uint64_t size, checksum;
    size_t line; // line number in the file
};

// A manifest that was read or is being written.
struct manifest {
    char *folder;
    char *kind; // "run" or "study"
    char *name; // of the scene
    bool complete;
    struct manifest_entry *entries;
    size_t count, capacity;
    struct file log; // open while it is being written
};

// Reads FOLDER/manifest.json. *present is false if there is none; a file of that name that taut did
// not write is an error. *busy is true if a process is still writing it. Call manifest_free after
// success.
taut_status manifest_read(const char *folder, struct manifest *manifest, bool *present, bool *busy,
                          taut_error *error);

// Reports that another process writes to the folder.
taut_status manifest_fail_busy(const char *folder, taut_error *error);

// Begins a manifest in a folder without one. Call manifest_end or manifest_abandon, also after a
// failure.
taut_status manifest_begin(const char *folder, const char *kind, const char *name,
                           struct manifest *manifest, taut_error *error);

// Records that a file is about to be written and, later, that it is complete. `path` is the path of
// a file in the folder.
taut_status manifest_announce(struct manifest *manifest, const char *path, taut_error *error);
taut_status manifest_add(struct manifest *manifest, const char *path, taut_error *error);

// Lists announced files that are complete now, drops those that do not exist, and rewrites the
// manifest. Frees it.
taut_status manifest_end(struct manifest *manifest, bool complete, taut_error *error);

// Removes the manifest file and frees the manifest.
void manifest_abandon(struct manifest *manifest);

void manifest_free(struct manifest *manifest);

// Size and checksum of a regular file; links are not followed.
taut_status manifest_measure(const char *path, uint64_t *size, uint64_t *checksum,
                             taut_error *error);

#endif
