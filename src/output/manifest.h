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
// The manifest of a run that is not complete also has, after the name, what the command line gave
// and scene.yaml lacks, for a run that begins again: "kernel" (unless it is auto), and "state".
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
    size_t line;           // line number in the file
    bool passing;          // removed at the end of the run
    uint64_t announced_at; // length of the log before it was announced
};

// A manifest that was read or is being written.
struct manifest {
    char *folder;
    char *kind; // "run" or "study"
    char *name; // of the scene
    // For a run that is not complete: the kernel and the final state's file as given on the command
    // line; NULL: not given.
    char *kernel, *state;
    bool complete;
    // It ends within its header, or is empty: a power failure came before it was on the disk. It
    // has no kind, name and entries then.
    bool is_cut;
    struct manifest_entry *entries;
    size_t count, capacity;
    struct file log; // open while it is being written
    // For a manifest that is continued: the files that nothing has kept yet, and the length of the
    // log with their entries.
    struct manifest_entry *earlier;
    size_t earlier_count;
    uint64_t log_bytes;
};

// Reads FOLDER/manifest.json. *present is false if there is none; a file of that name that taut did
// not write is an error. *busy is true if a process is still writing it. Call manifest_free after
// success.
taut_status manifest_read(const char *folder, struct manifest *manifest, bool *present, bool *busy,
                          taut_error *error);

// Reports that another process writes to the folder.
taut_status manifest_fail_busy(const char *folder, taut_error *error);

// Begins a manifest in a folder without one. `kernel` and `state` may be NULL. Call manifest_end or
// manifest_abandon, also after a failure.
taut_status manifest_begin(const char *folder, const char *kind, const char *name,
                           const char *kernel, const char *state, struct manifest *manifest,
                           taut_error *error);

// Opens the manifest of an interrupted or finished run in order to continue it, and locks it; fails
// if there is none, or if another process holds it. Its entries are in `earlier`, and the file does
// not change before manifest_continue.
taut_status manifest_reopen(const char *folder, struct manifest *manifest, taut_error *error);

// Makes the file a log again, to which entries are added.
taut_status manifest_continue(struct manifest *manifest, taut_error *error);

// The same of a run that begins again, with this kernel and this final state (may be NULL): where
// these are others than before, the manifest is replaced by one that has them.
taut_status manifest_restart(struct manifest *manifest, const char *kernel, const char *state,
                             taut_error *error);

// Lists a file among the entries that were read, or among those of a manifest that is continued, as
// one that was being written.
taut_status manifest_adopt(struct manifest *manifest, const char *name, taut_error *error);

// How an earlier file stays in the manifest.
enum manifest_keep {
    KEEP_WHOLE,   // unchanged: it must have the size that is listed
    KEEP_WRITING, // it is written again, or continued
    KEEP_PASSING, // as announced by manifest_announce_passing
};

// Checks, without a change, that an earlier file can be kept: it must be listed, exist and have at
// least `length` bytes. The error contains the remedy.
taut_status manifest_check(const struct manifest *manifest, const char *path,
                           enum manifest_keep keep, uint64_t length, taut_error *error);

// Checks that an earlier file has the checksum that is listed, if one is.
taut_status manifest_check_content(const struct manifest *manifest, const char *path,
                                   taut_error *error);

// Keeps an earlier file in the manifest. Fails if the manifest does not list it.
taut_status manifest_keep(struct manifest *manifest, const char *path, enum manifest_keep keep,
                          taut_error *error);

// Removes all earlier files that have not been kept.
taut_status manifest_drop_earlier(struct manifest *manifest, taut_error *error);

// Whether an earlier file of this name is listed.
bool manifest_lists_earlier(const struct manifest *manifest, const char *name);

// Takes the last announcement back: the file could not be created, so one of its name is not ours.
// After nothing but announcements it can be repeated with those before.
void manifest_withdraw(struct manifest *manifest, const char *path);

// Records that a file is about to be written and, later, that it is complete. `path` is the path of
// a file in the folder.
taut_status manifest_announce(struct manifest *manifest, const char *path, taut_error *error);
taut_status manifest_add(struct manifest *manifest, const char *path, taut_error *error);

// The same of a file that has been measured (manifest_measure).
taut_status manifest_add_measured(struct manifest *manifest, const char *path, uint64_t size,
                                  uint64_t checksum, taut_error *error);

// The same for a file that is removed when the run is complete, and perhaps earlier.
taut_status manifest_announce_passing(struct manifest *manifest, const char *path,
                                      taut_error *error);

// Removes a file, and what the manifest has of it.
taut_status manifest_remove(struct manifest *manifest, const char *path, taut_error *error);

// From now on the file stays when the run is complete, as the last of those listed until now: its
// position does not depend on when it was announced.
taut_status manifest_retain(struct manifest *manifest, const char *path, taut_error *error);

// Lists announced files that are complete now, drops those that do not exist, and rewrites the
// manifest. If the run is complete, files that are passing are removed; until they are, the log
// states that it is complete, so that a run killed here is not continued but tidied up. Frees it.
taut_status manifest_end(struct manifest *manifest, bool complete, taut_error *error);

// Removes the manifest file and frees the manifest.
void manifest_abandon(struct manifest *manifest);

void manifest_free(struct manifest *manifest);

// Size and checksum of a regular file; links are not followed.
taut_status manifest_measure(const char *path, uint64_t *size, uint64_t *checksum,
                             taut_error *error);

#endif
