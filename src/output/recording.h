// The folder of a run: all files that a run writes are opened together, extended frame by frame and
// closed together.
#ifndef TAUT_OUTPUT_RECORDING_H
#define TAUT_OUTPUT_RECORDING_H

#include "base/status.h"
#include "output/csv.h"
#include "state/frame.h"
#include "output/vtp.h"

struct recording;

struct recording_options {
    const char *folder;        // created with its parents
    const char *name;          // the scene's name: NAME.pvd, NAME_000000.vtp, BODY.obj, BODY.pc2
    const char *resolved_yaml; // written as scene.yaml
    bool force;                // replace an existing run; otherwise an existing run is an error
    const char *const *inputs; // files that the scene is read from, which are never removed
    size_t input_count;
    bool vtp, pc2;
    struct vtp_options vtp_options;
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
