// The folder of a run: all files that a run writes are opened together, extended frame by frame and
// closed together.
#ifndef TAUT_OUTPUT_RECORDING_H
#define TAUT_OUTPUT_RECORDING_H

#include "base/status.h"
#include "output/csv.h"
#include "state/frame.h"
#include "output/vtp.h"

struct manifest;
struct recording;

// For several ranks that write pieces of frames (output/vtp.h, "Pieces"): the ranks that have one,
// and how all write theirs.
struct recording_pieces {
    const int *ranks;
    size_t count;
    // Writes the pieces of a frame that has been evaluated, as files STEM_0000.vtp, ... by the
    // number of the rank; files[i] describes the i-th one. After a failure there is none of them.
    struct recording_piece {
        uint64_t size, checksum; // as manifest_measure has them
    } * files;
    taut_status (*write)(void *owner, const char *stem, struct recording_piece *files,
                         taut_error *error);
    const struct frame *piece; // that of this rank
    void *owner;
};

struct recording_options {
    const char *folder; // created with its parents
    const char *name;   // the scene's name: NAME.pvd, NAME_000000.vtp, BODY.obj, BODY.pc2; in
                        // pieces NAME_000000.pvtp, NAME_000000_0000.vtp
    const char *resolved_yaml;  // written as scene.yaml
    const char *kernel, *state; // for the manifest (manifest.h); may be NULL
    bool force;                 // replace an existing run; otherwise an existing run is an error
    const char *const *inputs;  // files that the scene is read from, which are never removed
    size_t input_count;
    bool vtp, pc2;
    struct vtp_options vtp_options;
    const struct recording_pieces *pieces; // must live as long as the recording; NULL: whole frames
    double frame_seconds; // simulated time between frames, for the sample rate of PC2; 0: unknown
    const struct recording_probe *probes;
    size_t probe_count;
};

// Whether the recording may write a file of this name in its folder.
bool recording_writes(const struct recording_options *options, const struct frame *first,
                      const char *file);

// Opens the folder. An existing run is one whose files manifest.json lists; with options->force
// they are removed first, provided that none has changed. Other files are never touched (folder.h).
taut_status recording_open(const struct recording_options *options, const struct frame *first,
                           struct recording **recording, taut_error *error);

// ---- Checkpoints
//
// They are files checkpoint_STEP.taut of the run's folder, of which the last two are kept until the
// run is complete (run_checkpoint.h has their content).

// How much of the run's files belongs to a state.
struct recording_position {
    uint64_t frames;                    // in all files
    uint64_t energy_bytes, probe_bytes; // of energy.csv and probes.csv; 0: no such file
    double *times;                      // s, of each frame
    uint64_t *volume_bodies;            // bodies whose volume has a column in energy.csv
    uint64_t volume_count;
    // The checksums of these bytes of energy.csv and probes.csv, and of the samples of each point
    // cache, as file_checksum has them. Checkpoints of older versions have none.
    uint64_t *checksums;
    uint64_t checksum_count;
};

// The present position: whole frames, and all rows of probes, which are written first. Fails if
// rows have been lost (a disk was full). Call recording_position_free after success.
taut_status recording_position(struct recording *recording, struct recording_position *position,
                               taut_error *error);
void recording_position_free(struct recording_position *position);

// Continues the run whose folder `manifest` has reopened (manifest_reopen), whose files must be
// those of `options`: cuts its files back to `position`, and removes what belongs to none. Without
// a position the run begins again, with its first frame; only scene.yaml stays. `rewrites_scene`:
// scene.yaml is replaced by options->resolved_yaml. `checkpoint` is the name of the checkpoint that
// is continued; NULL: none. Takes the manifest over, also after a failure.
taut_status recording_resume(const struct recording_options *options, const struct frame *present,
                             const struct recording_position *position, bool rewrites_scene,
                             const char *checkpoint, struct manifest *manifest,
                             struct recording **recording, taut_error *error);

// The path of the checkpoint of a step, which the manifest lists from now on; the caller frees it.
taut_status recording_announce_checkpoint(struct recording *recording, uint64_t step, char **path,
                                          taut_error *error);

// Synchronises all files and the folder to the disk, before a checkpoint that refers to them gets
// its name. Any thread may do so, while another one writes to them.
taut_status recording_synchronise(const struct recording *recording, taut_error *error);

// Records that a checkpoint is whole, and removes those before the last two.
taut_status recording_keep_checkpoint(struct recording *recording, const char *path,
                                      taut_error *error);

// The newest checkpoint stays when the run is complete, and is listed among its files.
void recording_retain_checkpoint(struct recording *recording);

// Whether there is a checkpoint.
bool recording_has_checkpoint(const struct recording *recording);

// Whether a file of this name is a checkpoint, and of which step.
bool recording_is_checkpoint(const char *name, uint64_t *step);

// Removes what a run that was killed after its completion had no time to remove, and writes its
// manifest. Takes the manifest over.
taut_status recording_tidy(struct manifest *manifest, taut_error *error);

// ---- Frames

// Adds a frame: a row of energy.csv, and .vtp and .pc2 samples if requested. Each .vtp is written
// under a temporary name and renamed; the .pvd and the headers of the .pc2 are valid after every
// frame.
taut_status recording_frame(struct recording *recording, const struct frame *now,
                            taut_error *error);

// Whether any probe is due at this step.
bool recording_wants_probe(const struct recording *recording, uint64_t step);

// Adds rows for the probes that are due, from the positions and velocities of `now`.
taut_status recording_probe(struct recording *recording, const struct frame *now,
                            taut_error *error);

// Marks the run as complete in the manifest.
void recording_complete(struct recording *recording);

// Flushes and closes everything and rewrites the manifest, also after a failure. The recording is
// freed. *files (may be NULL) gets a malloc'ed array of malloc'ed paths of all files of the run.
taut_status recording_close(struct recording *recording, char ***files, size_t *file_count,
                            taut_error *error);

#endif
