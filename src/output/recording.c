// Opens, writes and closes the files of a run together, and lists them in the manifest. The formats
// are left to the files named after them.
#include "output/recording.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/text.h"
#include "output/csv.h"
#include "output/folder.h"
#include "output/manifest.h"
#include "output/obj.h"
#include "output/pc2.h"
#include "output/pvd.h"
#include "output/vtp.h"
#include "output/vtp_pieces.h"

enum { CHECKPOINTS_KEPT = 2 };

// The files that grow, in the order of a checkpoint's checksums.
enum { ENERGY, PROBES, CACHES };

struct recording {
    char *folder, *name;
    struct vtp_writer *vtp;                // NULL: no .vtp frames
    const struct recording_pieces *pieces; // NULL: frames are whole
    struct vtp_options vtp_options;
    const char *collection;   // path of the .pvd
    struct pvd_frame *frames; // with their times, also without .vtp frames
    size_t frame_count, frame_capacity;
    // The files after the last whole frame; nothing before it is cut back.
    uint64_t whole_frames, whole_energy;
    uint64_t *whole_checksums; // of energy.csv and of the point caches from index CACHES on
    struct hash *hashes;       // of the files that are continued, in that order
    bool lost_rows;            // of probes, which could not be written
    struct energy_csv energy;
    struct probes_csv probes;
    struct pc2 *caches; // one per body; NULL: not requested
    size_t cache_count;
    struct manifest manifest;
    // Paths of the checkpoints that are whole; the last is the newest.
    char *checkpoints[CHECKPOINTS_KEPT];
    bool retains_checkpoint;
    bool complete;
    char **files; // paths of all existing files
    size_t file_count, file_capacity;
};

// Adds the path of a file of the run to the list of files, which owns it, and to the manifest:
// before the file is created or, if `kept` is not NULL, as one that is there.
static taut_status add_kept_path(struct recording *recording, const char *stem, const char *ending,
                                 const enum manifest_keep *kept, const char **added,
                                 taut_error *error)
{
    char *path = text_format("%s/%s%s", recording->folder, stem, ending);
    taut_status status = TAUT_OK;
    if (!path || !array_reserve((void **)&recording->files, &recording->file_capacity,
                                recording->file_count + 1, sizeof *recording->files))
        status = fail_memory(error, "the list of files");
    if (status == TAUT_OK)
        status = kept ? manifest_keep(&recording->manifest, path, *kept, error)
                      : manifest_announce(&recording->manifest, path, error);
    if (status == TAUT_OK)
        recording->files[recording->file_count++] = path;
    else
        free(path);
    *added = status == TAUT_OK ? path : NULL;
    return status;
}

static taut_status add_path(struct recording *recording, const char *stem, const char *ending,
                            const char **added, taut_error *error)
{
    return add_kept_path(recording, stem, ending, NULL, added, error);
}

// Removes the newest path, whose file could not be created.
static taut_status drop_path(struct recording *recording, taut_status status)
{
    manifest_withdraw(&recording->manifest, recording->files[recording->file_count - 1]);
    free(recording->files[--recording->file_count]);
    return status;
}

static taut_status write_scene(struct recording *recording, const char *yaml, taut_error *error)
{
    const char *path;
    taut_status status = add_path(recording, "scene", ".yaml", &path, error);
    if (status != TAUT_OK)
        return status;
    struct file file;
    status = file_create_new(&file, path, error);
    if (status == TAUT_OK) {
        file_print(&file, SCENE_YAML_HEADER);
        file_write(&file, yaml, strlen(yaml));
        status = file_commit(&file, error);
    }
    return status == TAUT_OK ? status : drop_path(recording, status);
}

static taut_status open_tables(struct recording *recording, const struct recording_options *options,
                               const struct frame *first, taut_error *error)
{
    const char *path;
    taut_status status = add_path(recording, "energy", ".csv", &path, error);
    if (status != TAUT_OK)
        return status;
    status = energy_csv_open(&recording->energy, path, first, error);
    if (status != TAUT_OK)
        return drop_path(recording, status);
    if (options->probe_count == 0)
        return TAUT_OK;
    status = add_path(recording, "probes", ".csv", &path, error);
    if (status != TAUT_OK)
        return status;
    status =
        probes_csv_open(&recording->probes, path, options->probes, options->probe_count, error);
    return status == TAUT_OK ? status : drop_path(recording, status);
}

static taut_status open_writer(struct recording *recording, const struct recording_options *options,
                               taut_error *error)
{
    recording->pieces = options->pieces;
    recording->vtp_options = options->vtp_options;
    return vtp_writer_make(&options->vtp_options, &recording->vtp, error);
}

static taut_status open_collection(struct recording *recording, taut_error *error)
{
    taut_status status =
        add_path(recording, recording->name, ".pvd", &recording->collection, error);
    if (status != TAUT_OK)
        return status;
    status = pvd_create(recording->collection, recording->name, error);
    return status == TAUT_OK ? status : drop_path(recording, status);
}

static taut_status open_cache(struct recording *recording, const struct frame *first, size_t body,
                              double sample_seconds, taut_error *error)
{
    const struct frame_body *rest = &first->bodies[body];
    const char *path;
    taut_status status = add_path(recording, rest->name, ".obj", &path, error);
    if (status != TAUT_OK)
        return status;
    status = obj_write(path, first, body, error);
    if (status != TAUT_OK)
        return drop_path(recording, status);
    status = manifest_add(&recording->manifest, path, error);
    if (status != TAUT_OK)
        return status;
    status = add_path(recording, rest->name, ".pc2", &path, error);
    if (status != TAUT_OK)
        return status;
    status = pc2_open(&recording->caches[body], path, rest->node_count, first->time, sample_seconds,
                      error);
    return status == TAUT_OK ? status : drop_path(recording, status);
}

static taut_status open_caches(struct recording *recording, const struct frame *first,
                               double sample_seconds, taut_error *error)
{
    recording->caches = calloc(first->shape.body_count + 1, sizeof *recording->caches);
    if (!recording->caches)
        return fail_memory(error, "the point caches");
    recording->cache_count = first->shape.body_count;
    taut_status status = TAUT_OK;
    for (size_t b = 0; b < first->shape.body_count && status == TAUT_OK; b++)
        status = open_cache(recording, first, b, sample_seconds, error);
    return status;
}

// ---- Checkpoints

static const char CHECKPOINT_STEM[] = "checkpoint_", CHECKPOINT_ENDING[] = ".taut";

bool recording_is_checkpoint(const char *name, uint64_t *step)
{
    enum { DIGITS = 15 }; // steps are up to 1e15
    const size_t stem = strlen(CHECKPOINT_STEM);
    if (strncmp(name, CHECKPOINT_STEM, stem) != 0)
        return false;
    const size_t digits = strspn(name + stem, "0123456789");
    if (digits < DIGITS || digits > DIGITS + 1 ||
        strcmp(name + stem + digits, CHECKPOINT_ENDING) != 0)
        return false;
    *step = strtoull(name + stem, NULL, 10);
    return true;
}

taut_status recording_announce_checkpoint(struct recording *recording, uint64_t step, char **path,
                                          taut_error *error)
{
    *path = text_format("%s/%s%015" PRIu64 "%s", recording->folder, CHECKPOINT_STEM, step,
                        CHECKPOINT_ENDING);
    taut_status status = *path ? manifest_announce_passing(&recording->manifest, *path, error)
                               : fail_memory(error, "the name of a checkpoint");
    if (status != TAUT_OK) {
        free(*path);
        *path = NULL;
    }
    return status;
}

taut_status recording_keep_checkpoint(struct recording *recording, const char *path,
                                      taut_error *error)
{
    char **last = &recording->checkpoints[CHECKPOINTS_KEPT - 1];
    if (*last && strcmp(*last, path) == 0)
        return TAUT_OK;
    char *copy = text_format("%s", path);
    if (!copy)
        return fail_memory(error, "the name of a checkpoint");
    char *oldest = recording->checkpoints[0];
    for (size_t i = 1; i < CHECKPOINTS_KEPT; i++)
        recording->checkpoints[i - 1] = recording->checkpoints[i];
    *last = copy;
    taut_status status = oldest ? manifest_remove(&recording->manifest, oldest, error) : TAUT_OK;
    free(oldest);
    return status;
}

void recording_retain_checkpoint(struct recording *recording)
{
    recording->retains_checkpoint = true;
}

bool recording_has_checkpoint(const struct recording *recording)
{
    return recording->checkpoints[CHECKPOINTS_KEPT - 1] != NULL;
}

taut_status recording_synchronise(const struct recording *recording, taut_error *error)
{
    taut_status status = file_synchronise(&recording->energy.file, error);
    if (status == TAUT_OK)
        status = file_synchronise(&recording->probes.file, error);
    for (size_t b = 0; b < recording->cache_count && status == TAUT_OK; b++)
        status = file_synchronise(&recording->caches[b].file, error);
    if (status == TAUT_OK)
        status = file_synchronise(&recording->manifest.log, error);
    return status == TAUT_OK ? file_synchronise_folder(recording->folder, error) : status;
}

taut_status recording_position(struct recording *recording, struct recording_position *position,
                               taut_error *error)
{
    *position = (struct recording_position){.frames = recording->whole_frames,
                                            .energy_bytes = recording->whole_energy,
                                            .volume_count = recording->energy.volume_count};
    if (recording->lost_rows)
        return fail(error, TAUT_ERROR_IO, "rows of probes.csv have been lost");
    taut_status status = probes_csv_flush(&recording->probes, error);
    recording->lost_rows = status != TAUT_OK;
    if (status != TAUT_OK)
        return status;
    position->probe_bytes = recording->probes.file.open ? file_length(&recording->probes.file) : 0;
    const size_t frames = recording->whole_frames, volumes = recording->energy.volume_count;
    const size_t checksums = CACHES + recording->cache_count;
    position->times = calloc(frames + 1, sizeof *position->times);
    position->volume_bodies = calloc(volumes + 1, sizeof *position->volume_bodies);
    position->checksums = calloc(checksums, sizeof *position->checksums);
    if (!position->times || !position->volume_bodies || !position->checksums) {
        recording_position_free(position);
        return fail_memory(error, "a checkpoint");
    }
    for (size_t i = 0; i < frames; i++)
        position->times[i] = recording->frames[i].time;
    for (size_t i = 0; i < volumes; i++)
        position->volume_bodies[i] = recording->energy.volume_bodies[i];
    memcpy(position->checksums, recording->whole_checksums, checksums * sizeof(uint64_t));
    position->checksums[PROBES] = file_checksum(&recording->probes.file);
    position->checksum_count = checksums;
    return TAUT_OK;
}

void recording_position_free(struct recording_position *position)
{
    free(position->times);
    free(position->volume_bodies);
    free(position->checksums);
    position->times = NULL;
    position->volume_bodies = NULL;
    position->checksums = NULL;
}

// Records what the files have after a whole frame.
static void note_whole_frame(struct recording *recording)
{
    recording->whole_frames = recording->frame_count;
    recording->whole_energy = file_length(&recording->energy.file);
    recording->whole_checksums[ENERGY] = file_checksum(&recording->energy.file);
    for (size_t b = 0; b < recording->cache_count; b++)
        recording->whole_checksums[CACHES + b] = file_checksum(&recording->caches[b].file);
}

static taut_status make_checksums(struct recording *recording, const struct frame *first,
                                  taut_error *error)
{
    const size_t count = CACHES + first->shape.body_count;
    recording->whole_checksums = calloc(count, sizeof *recording->whole_checksums);
    recording->hashes = calloc(count, sizeof *recording->hashes);
    return recording->whole_checksums && recording->hashes ? TAUT_OK
                                                           : fail_memory(error, "checksums");
}

// ---- The folder

static bool is_pair(const struct frame *first, const char *file)
{
    if (!text_ends_with(file, ".obj") && !text_ends_with(file, ".pc2"))
        return false;
    const size_t stem = strlen(file) - strlen(".obj"); // as long as ".pc2"
    for (size_t b = 0; b < first->shape.body_count; b++)
        if (strlen(first->bodies[b].name) == stem &&
            strncmp(first->bodies[b].name, file, stem) == 0)
            return true;
    return false;
}

// Whether `ending` is that of a frame, or of a piece: _0000.vtp and the like, with four digits or
// more.
static bool is_frame_ending(const char *ending)
{
    if (strcmp(ending, ".vtp") == 0 || strcmp(ending, ".pvtp") == 0)
        return true;
    const size_t digits = ending[0] == '_' ? strspn(ending + 1, "0123456789") : 0;
    return digits >= 4 && strcmp(ending + 1 + digits, ".vtp") == 0;
}

// Whether `file` is NAME.pvd or NAME_000000.vtp and the like, with six digits or more.
static bool is_frame(const char *name, const char *file)
{
    size_t length = strlen(name);
    if (strncmp(file, name, length) != 0)
        return false;
    if (strcmp(file + length, ".pvd") == 0)
        return true;
    if (file[length] != '_')
        return false;
    const char *digits = file + length + 1;
    size_t count = strspn(digits, "0123456789");
    return count >= 6 && is_frame_ending(digits + count);
}

struct plan_of_files {
    const struct recording_options *options;
    const struct frame *first;
};

// Whether a run may write a file of this name, apart from the manifest.
static bool writes(const void *context, const char *file)
{
    const struct plan_of_files *plan = context;
    const struct recording_options *options = plan->options;
    uint64_t step;
    if (strcmp(file, "scene.yaml") == 0 || strcmp(file, "energy.csv") == 0 ||
        recording_is_checkpoint(file, &step))
        return true;
    if (strcmp(file, "probes.csv") == 0)
        return options->probe_count > 0;
    return (options->vtp && is_frame(options->name, file)) ||
           (options->pc2 && is_pair(plan->first, file));
}

bool recording_writes(const struct recording_options *options, const struct frame *first,
                      const char *file)
{
    const struct plan_of_files plan = {options, first};
    return strcmp(file, MANIFEST_NAME) == 0 || writes(&plan, file);
}

static taut_status open_folder(struct recording *recording, const struct recording_options *options,
                               const struct frame *first, taut_error *error)
{
    const struct plan_of_files plan = {options, first};
    const struct folder_claim claim = {.folder = options->folder,
                                       .kind = "run",
                                       .force = options->force,
                                       .inputs = options->inputs,
                                       .input_count = options->input_count,
                                       .writes = writes,
                                       .context = &plan};
    taut_status status = folder_clear(&claim, error);
    return status == TAUT_OK
               ? manifest_begin(options->folder, "run", options->name, options->kernel,
                                options->state, &recording->manifest, error)
               : status;
}

// All files but the scene's, in the order in which they are listed.
static taut_status open_files(struct recording *recording, const struct recording_options *options,
                              const struct frame *first, taut_error *error)
{
    taut_status status = open_tables(recording, options, first, error);
    if (status == TAUT_OK && options->vtp)
        status = open_writer(recording, options, error);
    if (status == TAUT_OK && options->vtp)
        status = open_collection(recording, error);
    if (status == TAUT_OK && options->pc2)
        status = open_caches(recording, first, options->frame_seconds, error);
    return status;
}

static taut_status open_all(struct recording *recording, const struct recording_options *options,
                            const struct frame *first, taut_error *error)
{
    taut_status status = make_checksums(recording, first, error);
    if (status == TAUT_OK)
        status = open_folder(recording, options, first, error);
    if (status == TAUT_OK)
        status = write_scene(recording, options->resolved_yaml, error);
    if (status == TAUT_OK)
        status = open_files(recording, options, first, error);
    // The scene file is complete; the others are listed when they are closed.
    if (status == TAUT_OK)
        status = manifest_add(&recording->manifest, recording->files[0], error);
    return status;
}

// ---- Continuing

static const enum manifest_keep whole = KEEP_WHOLE, writing = KEEP_WRITING;

static taut_status resume_scene(struct recording *recording, const char *yaml, taut_error *error)
{
    const char *path;
    struct file file;
    taut_status status =
        add_kept_path(recording, "scene", ".yaml", yaml ? &writing : &whole, &path, error);
    if (status != TAUT_OK || !yaml)
        return status;
    status = file_replace(&file, path, error);
    if (status != TAUT_OK)
        return status;
    file_print(&file, SCENE_YAML_HEADER);
    file_write(&file, yaml, strlen(yaml));
    status = file_commit(&file, error);
    return status == TAUT_OK ? manifest_add(&recording->manifest, path, error) : status;
}

static taut_status resume_tables(struct recording *recording,
                                 const struct recording_options *options,
                                 const struct frame *present,
                                 const struct recording_position *position, taut_error *error)
{
    const char *path;
    taut_status status = add_kept_path(recording, "energy", ".csv", &writing, &path, error);
    for (uint64_t i = 0; i < position->volume_count && status == TAUT_OK; i++)
        if (position->volume_bodies[i] >= present->shape.body_count)
            status = fail(error, TAUT_ERROR_IO, "the checkpoint has columns of other bodies");
    if (status == TAUT_OK)
        status = energy_csv_resume(&recording->energy, path, position->energy_bytes, present,
                                   position->volume_bodies, (size_t)position->volume_count, error);
    if (status != TAUT_OK || options->probe_count == 0)
        return status;
    status = add_kept_path(recording, "probes", ".csv", &writing, &path, error);
    return status == TAUT_OK ? probes_csv_resume(&recording->probes, path, options->probes,
                                                 options->probe_count, position->probe_bytes, error)
                             : status;
}

static taut_status resume_caches(struct recording *recording, const struct frame *present,
                                 const struct recording_position *position, taut_error *error)
{
    taut_status status = TAUT_OK;
    recording->caches = calloc(present->shape.body_count + 1, sizeof *recording->caches);
    if (!recording->caches)
        return fail_memory(error, "the point caches");
    recording->cache_count = present->shape.body_count;
    for (size_t b = 0; b < present->shape.body_count && status == TAUT_OK; b++) {
        const char *path, *name = present->bodies[b].name;
        status = add_kept_path(recording, name, ".obj", &whole, &path, error);
        if (status == TAUT_OK)
            status = add_kept_path(recording, name, ".pc2", &writing, &path, error);
        if (status == TAUT_OK)
            status = pc2_resume(&recording->caches[b], path, present->bodies[b].node_count,
                                position->frames, error);
    }
    return status;
}

// Whether a frame of the run that is continued was written by several ranks, each its piece. The
// manifest may also list files of that number that are gone, if the run was continued before.
static taut_status is_in_pieces(const struct recording *recording, uint64_t number, bool *in_pieces,
                                taut_error *error)
{
    struct stat there;
    char *list = text_format("%s_%06" PRIu64 ".pvtp", recording->name, number);
    char *one = text_format("%s_%06" PRIu64 ".vtp", recording->name, number);
    char *path = text_format("%s/%s", recording->folder, list ? list : "");
    taut_status status = list && one && path ? TAUT_OK : fail_memory(error, "the name of a frame");
    *in_pieces = status == TAUT_OK && manifest_lists_earlier(&recording->manifest, list) &&
                 (lstat(path, &there) == 0 || !manifest_lists_earlier(&recording->manifest, one));
    free(list);
    free(one);
    free(path);
    return status;
}

static taut_status resume_collection(struct recording *recording,
                                     const struct recording_options *options, taut_error *error)
{
    taut_status status = open_writer(recording, options, error);
    if (status == TAUT_OK)
        status = add_kept_path(recording, recording->name, ".pvd", &writing, &recording->collection,
                               error);
    for (size_t i = 0; i < recording->frame_count && status == TAUT_OK; i++)
        status = is_in_pieces(recording, i, &recording->frames[i].in_pieces, error);
    return status == TAUT_OK ? pvd_write(recording->collection, recording->name, recording->frames,
                                         recording->frame_count, error)
                             : status;
}

// Calls `each` for the files of frame `number`, in the order in which they were written: the stem
// of a name, and the ending.
static taut_status visit_frame(struct recording *recording, uint64_t number,
                               taut_status (*each)(struct recording *recording, const char *stem,
                                                   const char *ending, taut_error *error),
                               taut_error *error)
{
    bool in_pieces;
    char *stem = text_format("%s_%06" PRIu64, recording->name, number);
    char *path = text_format("%s/%s.pvtp", recording->folder, stem ? stem : "");
    struct vtp_piece_names names = {0};
    taut_status status = stem && path ? is_in_pieces(recording, number, &in_pieces, error)
                                      : fail_memory(error, "the name of a frame");
    if (status == TAUT_OK && in_pieces)
        status = manifest_check(&recording->manifest, path, whole, 0, error);
    if (status == TAUT_OK && in_pieces)
        status = vtp_piece_names_read(path, &names, error);
    for (size_t i = 0; i < names.count && status == TAUT_OK; i++)
        status = each(recording, names.items[i], "", error);
    if (status == TAUT_OK)
        status = each(recording, stem, in_pieces ? ".pvtp" : ".vtp", error);
    vtp_piece_names_free(&names);
    free(path);
    free(stem);
    return status;
}

static taut_status keep_whole(struct recording *recording, const char *stem, const char *ending,
                              taut_error *error)
{
    const char *path;
    return add_kept_path(recording, stem, ending, &whole, &path, error);
}

static taut_status resume_frames(struct recording *recording, taut_error *error)
{
    taut_status status = TAUT_OK;
    for (size_t i = 0; i < recording->frame_count && status == TAUT_OK; i++)
        status = visit_frame(recording, i, keep_whole, error);
    return status;
}

static taut_status resume_files(struct recording *recording,
                                const struct recording_options *options,
                                const struct frame *present,
                                const struct recording_position *position, taut_error *error)
{
    const size_t frames = (size_t)position->frames;
    if (!array_reserve((void **)&recording->frames, &recording->frame_capacity, frames + 1,
                       sizeof *recording->frames))
        return fail_memory(error, "the list of frames");
    for (size_t i = 0; i < frames; i++)
        recording->frames[i] = (struct pvd_frame){.time = position->times[i]};
    recording->frame_count = frames;
    taut_status status = resume_tables(recording, options, present, position, error);
    if (status == TAUT_OK && options->vtp)
        status = resume_collection(recording, options, error);
    if (status == TAUT_OK && options->pc2)
        status = resume_caches(recording, present, position, error);
    if (status == TAUT_OK && options->vtp)
        status = resume_frames(recording, error);
    if (status != TAUT_OK)
        return status;
    file_continue_hash(&recording->energy.file, &recording->hashes[ENERGY]);
    file_continue_hash(&recording->probes.file, &recording->hashes[PROBES]);
    for (size_t b = 0; b < recording->cache_count; b++)
        file_continue_hash(&recording->caches[b].file, &recording->hashes[CACHES + b]);
    note_whole_frame(recording);
    return TAUT_OK;
}

static taut_status check_file(const struct recording *recording, const char *stem,
                              const char *ending, enum manifest_keep keep, uint64_t length,
                              taut_error *error)
{
    char *path = text_format("%s/%s%s", recording->folder, stem, ending);
    taut_status status = path ? manifest_check(&recording->manifest, path, keep, length, error)
                              : fail_memory(error, "the name of a file");
    if (status == TAUT_OK && keep == KEEP_WHOLE)
        status = manifest_check_content(&recording->manifest, path, error);
    free(path);
    return status;
}

// The same for the content of a file that grows, up to the position; it is read once, and its hash
// is continued. `nodes`: the number of nodes of a point cache.
static taut_status check_growing(const struct recording *recording, const char *stem,
                                 const char *ending, uint64_t length, size_t index,
                                 const uint64_t *nodes, const struct recording_position *position,
                                 taut_error *error)
{
    taut_status status = check_file(recording, stem, ending, KEEP_WRITING, length, error);
    if (status != TAUT_OK)
        return status;
    struct hash *hash = &recording->hashes[index];
    char *path = text_format("%s/%s%s", recording->folder, stem, ending);
    if (!path)
        return fail_memory(error, "the name of a file");
    status = nodes ? pc2_hash(path, *nodes, position->frames, hash, error)
                   : file_hash(path, length, 0, 0, hash, error);
    if (status == TAUT_OK && index < position->checksum_count &&
        hash_end(hash) != position->checksums[index]) {
        char *word = text_shell_path(recording->folder);
        status = fail(error, TAUT_ERROR_IO,
                      "'%s' has been altered: its first %" PRIu64
                      " bytes are not those of the checkpoint. Restore the file, or begin the run "
                      "again with: taut run SCENE --force --output %s",
                      path, length, word ? word : "FOLDER");
        free(word);
    }
    free(path);
    return status;
}

static taut_status check_caches(const struct recording *recording, const struct frame *present,
                                const struct recording_position *position, taut_error *error)
{
    taut_status status = TAUT_OK;
    for (size_t b = 0; b < present->shape.body_count && status == TAUT_OK; b++) {
        const struct frame_body *body = &present->bodies[b];
        status = check_file(recording, body->name, ".obj", KEEP_WHOLE, 0, error);
        if (status == TAUT_OK)
            status = check_growing(recording, body->name, ".pc2",
                                   pc2_bytes(body->node_count, position->frames), CACHES + b,
                                   &body->node_count, position, error);
    }
    return status;
}

static taut_status check_whole(struct recording *recording, const char *stem, const char *ending,
                               taut_error *error)
{
    return check_file(recording, stem, ending, KEEP_WHOLE, 0, error);
}

static taut_status check_frames(struct recording *recording, uint64_t frames, taut_error *error)
{
    taut_status status = check_file(recording, recording->name, ".pvd", KEEP_WRITING, 0, error);
    for (uint64_t i = 0; i < frames && status == TAUT_OK; i++)
        status = visit_frame(recording, i, check_whole, error);
    return status;
}

// Whether all that the run continues is there, before anything is cut.
static taut_status check_files(struct recording *recording, const struct recording_options *options,
                               const struct frame *present,
                               const struct recording_position *position, bool rewrites_scene,
                               taut_error *error)
{
    taut_status status = check_file(recording, "scene", ".yaml",
                                    rewrites_scene ? KEEP_WRITING : KEEP_WHOLE, 0, error);
    if (!position || status != TAUT_OK)
        return status;
    status = check_growing(recording, "energy", ".csv", position->energy_bytes, ENERGY, NULL,
                           position, error);
    if (status == TAUT_OK && options->probe_count > 0)
        status = check_growing(recording, "probes", ".csv", position->probe_bytes, PROBES, NULL,
                               position, error);
    if (status == TAUT_OK && options->vtp)
        status = check_frames(recording, position->frames, error);
    if (status == TAUT_OK && options->pc2)
        status = check_caches(recording, present, position, error);
    return status;
}

// Files of others that have the name of one that the run may write. Those of the run that a power
// failure has lost from the manifest are listed again, so that they are removed.
static taut_status check_foreign_files(struct recording *recording,
                                       const struct recording_options *options,
                                       const struct frame *present, taut_error *error)
{
    const struct plan_of_files plan = {options, present};
    DIR *folder = opendir(recording->folder);
    if (!folder)
        return fail(error, TAUT_ERROR_IO, "cannot read the folder '%s': %s", recording->folder,
                    strerror(errno));
    taut_status status = TAUT_OK;
    struct dirent *entry;
    while (status == TAUT_OK && (entry = readdir(folder)) != NULL) {
        if (!writes(&plan, entry->d_name) ||
            manifest_lists_earlier(&recording->manifest, entry->d_name))
            continue;
        if (!recording->manifest.complete && folder_has_own(recording->folder, entry->d_name))
            status = manifest_adopt(&recording->manifest, entry->d_name, error);
        else
            status =
                fail(error, TAUT_ERROR_IO,
                     "'%s/%s' is not a file of the run, which may write one of that name: move "
                     "it",
                     recording->folder, entry->d_name);
    }
    (void)closedir(folder);
    return status;
}

static taut_status resume_checkpoint(struct recording *recording, const char *name,
                                     taut_error *error)
{
    char *path = text_format("%s/%s", recording->folder, name);
    taut_status status = path ? manifest_keep(&recording->manifest, path, KEEP_PASSING, error)
                              : fail_memory(error, "the name of a checkpoint");
    if (status == TAUT_OK)
        status = recording_keep_checkpoint(recording, path, error);
    free(path);
    return status;
}

// The files that are kept are listed first: what is not listed then is removed.
static taut_status resume_all(struct recording *recording, const struct recording_options *options,
                              const struct frame *present,
                              const struct recording_position *position, bool rewrites_scene,
                              const char *checkpoint, taut_error *error)
{
    taut_status status = make_checksums(recording, present, error);
    if (status == TAUT_OK)
        status = check_files(recording, options, present, position, rewrites_scene, error);
    if (status == TAUT_OK)
        status = check_foreign_files(recording, options, present, error);
    if (status == TAUT_OK)
        status = position ? manifest_continue(&recording->manifest, error)
                          : manifest_restart(&recording->manifest, options->kernel, options->state,
                                             error);
    if (status == TAUT_OK)
        status = folder_remove_temporaries(options->folder, error);
    if (status == TAUT_OK)
        status = resume_scene(recording, rewrites_scene ? options->resolved_yaml : NULL, error);
    if (status == TAUT_OK && position)
        status = resume_files(recording, options, present, position, error);
    if (status == TAUT_OK && checkpoint)
        status = resume_checkpoint(recording, checkpoint, error);
    if (status == TAUT_OK)
        status = manifest_drop_earlier(&recording->manifest, error);
    if (status == TAUT_OK && !position)
        status = open_files(recording, options, present, error);
    return status;
}

taut_status recording_resume(const struct recording_options *options, const struct frame *present,
                             const struct recording_position *position, bool rewrites_scene,
                             const char *checkpoint, struct manifest *manifest,
                             struct recording **recording, taut_error *error)
{
    *recording = NULL;
    struct recording *opened = calloc(1, sizeof *opened);
    if (!opened) {
        (void)file_close(&manifest->log, NULL);
        manifest_free(manifest);
        return fail_memory(error, "the recording");
    }
    opened->manifest = *manifest;
    *manifest = (struct manifest){0};
    opened->folder = text_format("%s", options->folder);
    opened->name = text_format("%s", options->name);
    taut_status status =
        opened->folder && opened->name
            ? resume_all(opened, options, present, position, rewrites_scene, checkpoint, error)
            : fail_memory(error, "the recording");
    if (status == TAUT_OK) {
        *recording = opened;
        return TAUT_OK;
    }
    // The manifest stays a log, which lists all files, kept or not.
    (void)file_close(&opened->manifest.log, NULL);
    manifest_free(&opened->manifest);
    (void)recording_close(opened, NULL, NULL, NULL);
    return status;
}

// Whether a finished run has the files that its manifest lists. *tidy is false if it was killed
// while it removed its checkpoints: what it had not measured by then is still announced only. Such
// a run may have continued one that left measured checkpoints, and have removed them since, which
// the log does not record.
static taut_status check_finished(const struct manifest *manifest, bool *tidy, taut_error *error)
{
    taut_status status = TAUT_OK;
    *tidy = true;
    for (size_t i = 0; i < manifest->earlier_count; i++)
        *tidy &= !manifest->earlier[i].writing;
    for (size_t i = 0; i < manifest->earlier_count && status == TAUT_OK; i++) {
        const struct manifest_entry *entry = &manifest->earlier[i];
        uint64_t step;
        struct stat there;
        if (entry->writing)
            continue;
        char *path = text_format("%s/%s", manifest->folder, entry->name);
        const bool removed = path && !*tidy && recording_is_checkpoint(entry->name, &step) &&
                             lstat(path, &there) != 0 && errno == ENOENT;
        if (!path)
            status = fail_memory(error, "the name of a file");
        else if (!removed)
            status = manifest_check(manifest, path, KEEP_WHOLE, 0, error);
        free(path);
    }
    return status;
}

// Lists a file of a finished run again, or removes it if it is a checkpoint that was passing.
static taut_status tidy_entry(struct manifest *manifest, const struct manifest_entry *entry,
                              bool is_checkpoint, taut_error *error)
{
    char *path = text_format("%s/%s", manifest->folder, entry->name);
    struct stat present;
    taut_status status = TAUT_OK;
    if (!path)
        status = fail_memory(error, "the manifest");
    else if (entry->writing && is_checkpoint)
        status = manifest_remove(manifest, path, error);
    else if (lstat(path, &present) == 0)
        status = manifest_keep(manifest, path, entry->writing ? KEEP_WRITING : KEEP_WHOLE, error);
    free(path);
    return status;
}

taut_status recording_tidy(struct manifest *manifest, taut_error *error)
{
    bool tidy;
    taut_status status = check_finished(manifest, &tidy, error);
    if (status == TAUT_OK && tidy)
        return TAUT_OK;
    if (status == TAUT_OK)
        status = manifest_continue(manifest, error);
    if (status == TAUT_OK)
        status = folder_remove_temporaries(manifest->folder, error);
    // A checkpoint that is retained is listed last (manifest_retain). In the log it is where it was
    // announced, which depends on when the run was interrupted.
    for (int checkpoints = 0; checkpoints < 2; checkpoints++)
        for (size_t i = 0; i < manifest->earlier_count && status == TAUT_OK; i++) {
            const struct manifest_entry *entry = &manifest->earlier[i];
            uint64_t step;
            if (entry->name && recording_is_checkpoint(entry->name, &step) == (checkpoints == 1))
                status = tidy_entry(manifest, entry, checkpoints == 1, error);
        }
    if (status == TAUT_OK)
        return manifest_end(manifest, true, error);
    (void)file_close(&manifest->log, NULL);
    manifest_free(manifest);
    return status;
}

// The name becomes part of file names and of XML, which has no control characters.
static bool is_name_sound(const char *name)
{
    for (const char *c = name; *c; c++)
        if (*c == '/' || (unsigned char)*c < ' ' || *c == 0x7f)
            return false;
    return *name != '\0';
}

taut_status recording_open(const struct recording_options *options, const struct frame *first,
                           struct recording **recording, taut_error *error)
{
    *recording = NULL;
    if (!is_name_sound(options->name))
        return fail(error, TAUT_ERROR_ARGUMENT,
                    "the scene's name '%s' cannot be part of file names", options->name);
    if (options->folder[0] == '\0')
        return fail(error, TAUT_ERROR_ARGUMENT, "the name of the output folder is empty");

    struct recording *opened = calloc(1, sizeof *opened);
    if (!opened)
        return fail_memory(error, "the recording");
    opened->folder = text_format("%s", options->folder);
    opened->name = text_format("%s", options->name);

    taut_status status = TAUT_OK;
    if (!opened->folder || !opened->name)
        status = fail_memory(error, "the recording");
    else
        status = open_all(opened, options, first, error);

    if (status == TAUT_OK) {
        *recording = opened;
        return TAUT_OK;
    }

    // A run that failed to start leaves no files that look like one.
    for (size_t i = 0; i < opened->file_count; i++)
        (void)unlink(opened->files[i]);
    manifest_abandon(&opened->manifest);
    (void)recording_close(opened, NULL, NULL, NULL);
    return status;
}

static taut_status add_whole(struct recording *recording, const char *stem, const struct frame *now,
                             taut_error *error)
{
    const char *path;
    taut_status status = add_path(recording, stem, ".vtp", &path, error);
    if (status != TAUT_OK)
        return status;
    status = vtp_writer_frame(recording->vtp, path, now, error);
    return status == TAUT_OK ? manifest_add(&recording->manifest, path, error)
                             : drop_path(recording, status);
}

// The pieces, and then their list, whose paths are the last ones in `files`.
static taut_status write_pieces(struct recording *recording, const char *stem, taut_error *error)
{
    const struct recording_pieces *pieces = recording->pieces;
    const size_t first = recording->file_count - pieces->count - 1;
    char *const *files = recording->files + first, *const list = files[pieces->count];
    const char **names = calloc(pieces->count + 1, sizeof *names);
    char *path = text_format("%s/%s", recording->folder, stem);
    taut_status status = names && path ? pieces->write(pieces->owner, path, pieces->files, error)
                                       : fail_memory(error, "the names of pieces");
    const bool written = status == TAUT_OK;
    for (size_t i = 0; i < pieces->count && written; i++)
        names[i] = strrchr(files[i], '/') + 1;
    if (status == TAUT_OK)
        status = vtp_write_pieces(list, pieces->piece, &recording->vtp_options, names,
                                  pieces->count, error);
    for (size_t i = 0; i < pieces->count && written && status != TAUT_OK; i++)
        (void)unlink(files[i]);
    free(path);
    free(names);
    return status;
}

static taut_status add_pieces(struct recording *recording, const char *stem, taut_error *error)
{
    const struct recording_pieces *pieces = recording->pieces;
    const size_t first = recording->file_count;
    const char *path;
    taut_status status = TAUT_OK;
    for (size_t i = 0; i < pieces->count && status == TAUT_OK; i++) {
        char ending[VTP_PIECE_ENDING];
        vtp_piece_ending(pieces->ranks[i], ending);
        status = add_path(recording, stem, ending, &path, error);
    }
    if (status == TAUT_OK)
        status = add_path(recording, stem, ".pvtp", &path, error);
    if (status == TAUT_OK)
        status = write_pieces(recording, stem, error);
    while (status != TAUT_OK && recording->file_count > first)
        (void)drop_path(recording, status);
    for (size_t i = 0; i < pieces->count && status == TAUT_OK; i++)
        status = manifest_add_measured(&recording->manifest, recording->files[first + i],
                                       pieces->files[i].size, pieces->files[i].checksum, error);
    return status == TAUT_OK
               ? manifest_add(&recording->manifest, recording->files[first + pieces->count], error)
               : status;
}

static taut_status add_vtp(struct recording *recording, const struct frame *now, taut_error *error)
{
    const size_t first = recording->file_count;
    char *stem = text_format("%s_%06zu", recording->name, recording->frame_count);
    if (!stem)
        return fail_memory(error, "the name of a frame");
    recording->frames[recording->frame_count].in_pieces = recording->pieces != NULL;
    taut_status status = recording->pieces ? add_pieces(recording, stem, error)
                                           : add_whole(recording, stem, now, error);
    free(stem);
    if (status == TAUT_OK)
        status = pvd_write(recording->collection, recording->name, recording->frames,
                           recording->frame_count + 1, error);

    // A frame that no collection lists would be mistaken for one of the next run.
    while (status != TAUT_OK && recording->file_count > first) {
        (void)unlink(recording->files[--recording->file_count]);
        free(recording->files[recording->file_count]);
    }
    return status;
}

taut_status recording_frame(struct recording *recording, const struct frame *now, taut_error *error)
{
    taut_status status = TAUT_OK;
    if (!array_reserve((void **)&recording->frames, &recording->frame_capacity,
                       recording->frame_count + 1, sizeof *recording->frames))
        return fail_memory(error, "the list of frames");
    recording->frames[recording->frame_count] = (struct pvd_frame){.time = now->time};
    if (recording->vtp)
        status = add_vtp(recording, now, error);
    if (status == TAUT_OK)
        recording->frame_count++;
    for (size_t b = 0; b < recording->cache_count && status == TAUT_OK; b++)
        status = pc2_add_nodes(&recording->caches[b], now, now->bodies[b].first_node, error);
    if (status == TAUT_OK)
        status = energy_csv_add(&recording->energy, now, error);
    if (status != TAUT_OK)
        return status;
    note_whole_frame(recording);
    status = probes_csv_flush(&recording->probes, error);
    recording->lost_rows |= status != TAUT_OK;
    return status;
}

bool recording_wants_probe(const struct recording *recording, uint64_t step)
{
    return probes_csv_wants(&recording->probes, step);
}

taut_status recording_probe(struct recording *recording, const struct frame *now, taut_error *error)
{
    taut_status status = probes_csv_add(&recording->probes, now, error);
    recording->lost_rows |= status != TAUT_OK;
    return status;
}

// Keeps the first failure with its message.
static taut_status first_of(taut_status status, taut_status next, const taut_error *later,
                            taut_error *error)
{
    if (status != TAUT_OK || next == TAUT_OK)
        return status;
    if (error)
        *error = *later;
    return next;
}

void recording_complete(struct recording *recording)
{
    recording->complete = true;
}

// Takes ownership of the path; false without memory.
static bool list_file(struct recording *recording, char *path)
{
    bool listed = path && array_reserve((void **)&recording->files, &recording->file_capacity,
                                        recording->file_count + 1, sizeof *recording->files);
    if (listed)
        recording->files[recording->file_count++] = path;
    else
        free(path);
    return listed;
}

// manifest.json is the last in the list of files.
static taut_status close_manifest(struct recording *recording, taut_error *error)
{
    taut_status status = TAUT_OK;
    bool listed = true;
    const char *newest = recording->checkpoints[CHECKPOINTS_KEPT - 1];
    if (recording->complete && recording->retains_checkpoint && newest) {
        status = manifest_retain(&recording->manifest, newest, error);
        listed = list_file(recording, text_format("%s", newest));
    }
    listed = list_file(recording, text_format("%s/" MANIFEST_NAME, recording->folder)) && listed;
    taut_status ended = manifest_end(&recording->manifest, recording->complete && status == TAUT_OK,
                                     status == TAUT_OK ? error : NULL);
    status = status == TAUT_OK ? ended : status;
    return status == TAUT_OK && !listed ? fail_memory(error, "the list of files") : status;
}

taut_status recording_close(struct recording *recording, char ***files, size_t *file_count,
                            taut_error *error)
{
    taut_error later = {0};
    taut_status status = TAUT_OK;
    for (size_t b = 0; b < recording->cache_count; b++)
        status = first_of(status, pc2_close(&recording->caches[b], &later), &later, error);
    status = first_of(status, energy_csv_close(&recording->energy, &later), &later, error);
    status = first_of(status, probes_csv_close(&recording->probes, &later), &later, error);
    if (recording->manifest.folder)
        status = first_of(status, close_manifest(recording, &later), &later, error);
    for (size_t i = 0; i < CHECKPOINTS_KEPT; i++)
        free(recording->checkpoints[i]);
    if (files) {
        *files = recording->files;
        *file_count = recording->file_count;
    } else {
        for (size_t i = 0; i < recording->file_count; i++)
            free(recording->files[i]);
        free(recording->files);
    }
    vtp_writer_free(recording->vtp);
    free(recording->caches);
    free(recording->frames);
    free(recording->whole_checksums);
    free(recording->hashes);
    free(recording->folder);
    free(recording->name);
    free(recording);
    return status;
}
