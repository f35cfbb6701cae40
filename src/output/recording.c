// Opens, writes and closes the files of a run together, and lists them in the manifest. The formats
// are left to the files named after them.
#include "output/recording.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
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

struct recording {
    char *folder, *name;
    struct vtp_writer *vtp; // NULL: no .vtp frames
    const char *collection; // path of the .pvd
    double *times;          // s, times of the frames in the collection
    size_t frame_count, time_capacity;
    struct energy_csv energy;
    struct probes_csv probes;
    struct pc2 *caches; // one per body; NULL: not requested
    size_t cache_count;
    struct manifest manifest;
    bool complete;
    char **files; // paths of all existing files
    size_t file_count, file_capacity;
};

// Adds the path of a file of the run to the list of files, which owns it, and to the manifest,
// before the file is created.
static taut_status add_path(struct recording *recording, const char *stem, const char *ending,
                            const char **added, taut_error *error)
{
    char *path = text_format("%s/%s%s", recording->folder, stem, ending);
    taut_status status = TAUT_OK;
    if (!path || !array_reserve((void **)&recording->files, &recording->file_capacity,
                                recording->file_count + 1, sizeof *recording->files))
        status = fail_memory(error, "the list of files");
    if (status == TAUT_OK)
        status = manifest_announce(&recording->manifest, path, error);
    if (status == TAUT_OK)
        recording->files[recording->file_count++] = path;
    else
        free(path);
    *added = status == TAUT_OK ? path : NULL;
    return status;
}

// Removes the newest path, whose file could not be created.
static taut_status drop_path(struct recording *recording, taut_status status)
{
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
        file_print(&file, SCENE_YAML_OPENING);
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

// ---- The folder

static bool is_pair(const struct frame *first, const char *file)
{
    size_t length = strlen(file), ending = strlen(".obj"); // as long as ".pc2"
    if (length <= ending || (strcmp(file + length - ending, ".obj") != 0 &&
                             strcmp(file + length - ending, ".pc2") != 0))
        return false;
    for (size_t b = 0; b < first->shape.body_count; b++)
        if (strlen(first->bodies[b].name) == length - ending &&
            strncmp(first->bodies[b].name, file, length - ending) == 0)
            return true;
    return false;
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
    return count >= 6 && strcmp(digits + count, ".vtp") == 0;
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
    if (strcmp(file, "scene.yaml") == 0 || strcmp(file, "energy.csv") == 0)
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
               ? manifest_begin(options->folder, "run", options->name, &recording->manifest, error)
               : status;
}

static taut_status open_all(struct recording *recording, const struct recording_options *options,
                            const struct frame *first, taut_error *error)
{
    taut_status status = open_folder(recording, options, first, error);
    if (status == TAUT_OK)
        status = write_scene(recording, options->resolved_yaml, error);
    if (status == TAUT_OK)
        status = open_tables(recording, options, first, error);
    if (status == TAUT_OK && options->vtp)
        status = vtp_writer_make(&options->vtp_options, &recording->vtp, error);
    if (status == TAUT_OK && options->vtp)
        status = open_collection(recording, error);
    if (status == TAUT_OK && options->pc2)
        status = open_caches(recording, first, options->frame_seconds, error);
    // The scene file is complete; the others are listed when they are closed.
    if (status == TAUT_OK)
        status = manifest_add(&recording->manifest, recording->files[0], error);
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

static taut_status add_vtp(struct recording *recording, const struct frame *now, taut_error *error)
{
    if (!array_reserve((void **)&recording->times, &recording->time_capacity,
                       recording->frame_count + 1, sizeof *recording->times))
        return fail_memory(error, "the list of frames");

    char *stem = text_format("%s_%06zu", recording->name, recording->frame_count);
    if (!stem)
        return fail_memory(error, "the name of a frame");
    const char *path;
    taut_status status = add_path(recording, stem, ".vtp", &path, error);
    free(stem);
    if (status != TAUT_OK)
        return status;

    status = vtp_writer_frame(recording->vtp, path, now, error);
    if (status != TAUT_OK)
        return drop_path(recording, status);

    status = manifest_add(&recording->manifest, path, error);
    recording->times[recording->frame_count] = now->time;
    if (status == TAUT_OK)
        status = pvd_write(recording->collection, recording->name, recording->times,
                           recording->frame_count + 1, error);
    if (status == TAUT_OK) {
        recording->frame_count++;
        return TAUT_OK;
    }

    // A frame that no collection lists would be mistaken for one of the next run.
    (void)unlink(path);
    return drop_path(recording, status);
}

taut_status recording_frame(struct recording *recording, const struct frame *now, taut_error *error)
{
    taut_status status = TAUT_OK;
    if (recording->vtp)
        status = add_vtp(recording, now, error);
    for (size_t b = 0; b < recording->cache_count && status == TAUT_OK; b++)
        status =
            pc2_add(&recording->caches[b], now->positions + 3 * now->bodies[b].first_node, error);
    if (status == TAUT_OK)
        status = energy_csv_add(&recording->energy, now, error);
    if (status == TAUT_OK)
        status = probes_csv_flush(&recording->probes, error);
    return status;
}

bool recording_wants_probe(const struct recording *recording, uint64_t step)
{
    return probes_csv_wants(&recording->probes, step);
}

taut_status recording_probe(struct recording *recording, const struct frame *now, taut_error *error)
{
    return probes_csv_add(&recording->probes, now, error);
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

// manifest.json is the last in the list of files.
static taut_status close_manifest(struct recording *recording, taut_error *error)
{
    char *path = text_format("%s/" MANIFEST_NAME, recording->folder);
    bool listed = path && array_reserve((void **)&recording->files, &recording->file_capacity,
                                        recording->file_count + 1, sizeof *recording->files);
    if (listed)
        recording->files[recording->file_count++] = path;
    else
        free(path);
    taut_status status = manifest_end(&recording->manifest, recording->complete, error);
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
    free(recording->times);
    free(recording->folder);
    free(recording->name);
    free(recording);
    return status;
}
