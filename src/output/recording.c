#include "output/recording.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/text.h"
#include "output/energy_csv.h"
#include "output/folder.h"
#include "output/obj.h"
#include "output/pc2.h"
#include "output/probes_csv.h"
#include "output/pvd.h"
#include "output/vtp.h"

struct recording {
    char *folder, *name;
    bool vtp;
    char *collection; // path of the .pvd
    double *times;    // s, of the frames in the collection
    size_t frame_count, time_capacity;
    struct energy_csv energy;
    struct probes_csv probes;
    struct pc2 *caches; // one a body; NULL: none asked for
    size_t cache_count;
    char **files; // all that exist
    size_t file_count, file_capacity;
};

// The path of a file of the run, owned by the list of files: room for it is made before the file
// is, so that no file is ever written that the list cannot hold.
static char *add_path(struct recording *recording, const char *stem, const char *ending,
                      taut_error *error)
{
    char *path = text_format("%s/%s%s", recording->folder, stem, ending);
    if (!path || !array_reserve((void **)&recording->files, &recording->file_capacity,
                                recording->file_count + 1, sizeof *recording->files)) {
        free(path);
        (void)fail_memory(error, "the list of files");
        return NULL;
    }
    recording->files[recording->file_count++] = path;
    return path;
}

// Takes the newest path back, whose file could not be made.
static taut_status drop_path(struct recording *recording, taut_status status)
{
    free(recording->files[--recording->file_count]);
    return status;
}

static taut_status write_scene(struct recording *recording, const char *yaml, taut_error *error)
{
    const char *path = add_path(recording, "scene", ".yaml", error);
    if (!path)
        return TAUT_ERROR_MEMORY;
    struct file file;
    taut_status status = file_create(&file, path, error);
    if (status == TAUT_OK) {
        file_print(&file, SCENE_YAML_OPENING);
        file_write(&file, yaml, strlen(yaml));
        status = file_commit(&file, error);
    }
    return status == TAUT_OK ? status : drop_path(recording, status);
}

static taut_status open_tables(struct recording *recording, const struct recording_options *options,
                               const struct snapshot *first, taut_error *error)
{
    const char *path = add_path(recording, "energy", ".csv", error);
    if (!path)
        return TAUT_ERROR_MEMORY;
    taut_status status = energy_csv_open(&recording->energy, path, first, error);
    if (status != TAUT_OK)
        return drop_path(recording, status);
    if (options->probe_count == 0)
        return TAUT_OK;
    path = add_path(recording, "probes", ".csv", error);
    if (!path)
        return TAUT_ERROR_MEMORY;
    status =
        probes_csv_open(&recording->probes, path, options->probes, options->probe_count, error);
    return status == TAUT_OK ? status : drop_path(recording, status);
}

static taut_status open_collection(struct recording *recording, taut_error *error)
{
    recording->collection = add_path(recording, recording->name, ".pvd", error);
    if (!recording->collection)
        return TAUT_ERROR_MEMORY;
    taut_status status = pvd_write(recording->collection, recording->name, NULL, 0, error);
    return status == TAUT_OK ? status : drop_path(recording, status);
}

static taut_status open_cache(struct recording *recording, const struct snapshot *first,
                              size_t body, double sample_seconds, taut_error *error)
{
    const struct snapshot_body *rest = &first->bodies[body];
    const char *path = add_path(recording, rest->name, ".obj", error);
    if (!path)
        return TAUT_ERROR_MEMORY;
    taut_status status = obj_write(path, rest, error);
    if (status != TAUT_OK)
        return drop_path(recording, status);
    path = add_path(recording, rest->name, ".pc2", error);
    if (!path)
        return TAUT_ERROR_MEMORY;
    status = pc2_open(&recording->caches[body], path, rest->node_count, first->time, sample_seconds,
                      error);
    return status == TAUT_OK ? status : drop_path(recording, status);
}

static taut_status open_caches(struct recording *recording, const struct snapshot *first,
                               double sample_seconds, taut_error *error)
{
    recording->caches = calloc(first->body_count + 1, sizeof *recording->caches);
    if (!recording->caches)
        return fail_memory(error, "the point caches");
    recording->cache_count = first->body_count;
    taut_status status = TAUT_OK;
    for (size_t b = 0; b < first->body_count && status == TAUT_OK; b++)
        status = open_cache(recording, first, b, sample_seconds, error);
    return status;
}

static taut_status open_all(struct recording *recording, const struct recording_options *options,
                            const struct snapshot *first, taut_error *error)
{
    taut_status status = folder_prepare(options, first, error);
    if (status == TAUT_OK)
        status = write_scene(recording, options->resolved_yaml, error);
    if (status == TAUT_OK)
        status = open_tables(recording, options, first, error);
    if (status == TAUT_OK && options->vtp)
        status = open_collection(recording, error);
    if (status == TAUT_OK && options->pc2)
        status = open_caches(recording, first, options->frame_seconds, error);
    return status;
}

// The name becomes part of file names and of XML, which knows no control characters.
static bool is_name_sound(const char *name)
{
    for (const char *c = name; *c; c++)
        if (*c == '/' || (unsigned char)*c < ' ' || *c == 0x7f)
            return false;
    return *name != '\0';
}

taut_status recording_open(const struct recording_options *options, const struct snapshot *first,
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
    opened->vtp = options->vtp;
    taut_status status = TAUT_OK;
    if (!opened->folder || !opened->name)
        status = fail_memory(error, "the recording");
    else
        status = open_all(opened, options, first, error);
    if (status == TAUT_OK) {
        *recording = opened;
        return TAUT_OK;
    }
    // A run that never began leaves nothing that would pass for one.
    for (size_t i = 0; i < opened->file_count; i++)
        (void)unlink(opened->files[i]);
    (void)recording_close(opened, NULL, NULL, NULL);
    return status;
}

static taut_status add_vtp(struct recording *recording, const struct snapshot *now,
                           taut_error *error)
{
    if (!array_reserve((void **)&recording->times, &recording->time_capacity,
                       recording->frame_count + 1, sizeof *recording->times))
        return fail_memory(error, "the list of frames");
    char *stem = text_format("%s_%06zu", recording->name, recording->frame_count);
    if (!stem)
        return fail_memory(error, "the name of a frame");
    const char *path = add_path(recording, stem, ".vtp", error);
    free(stem);
    if (!path)
        return TAUT_ERROR_MEMORY;
    taut_status status = vtp_write(path, now, error);
    if (status != TAUT_OK)
        return drop_path(recording, status);
    recording->times[recording->frame_count] = now->time;
    status = pvd_write(recording->collection, recording->name, recording->times,
                       recording->frame_count + 1, error);
    if (status == TAUT_OK) {
        recording->frame_count++;
        return TAUT_OK;
    }
    // A frame that no collection lists would be taken for one of the next run's.
    (void)unlink(path);
    return drop_path(recording, status);
}

taut_status recording_frame(struct recording *recording, const struct snapshot *now,
                            taut_error *error)
{
    taut_status status = TAUT_OK;
    if (recording->vtp)
        status = add_vtp(recording, now, error);
    for (size_t b = 0; b < recording->cache_count && status == TAUT_OK; b++)
        status = pc2_add(&recording->caches[b], now->bodies[b].positions, error);
    if (status == TAUT_OK)
        status = energy_csv_add(&recording->energy, now, error);
    if (status == TAUT_OK)
        status = probes_csv_keep(&recording->probes, error);
    return status;
}

bool recording_wants_probe(const struct recording *recording, uint64_t step)
{
    return probes_csv_wants(&recording->probes, step);
}

taut_status recording_probe(struct recording *recording, const struct snapshot *now,
                            taut_error *error)
{
    return probes_csv_add(&recording->probes, now, error);
}

// Keeps the sentence of the first failure.
static taut_status first_of(taut_status status, taut_status next, const taut_error *said,
                            taut_error *error)
{
    if (status != TAUT_OK || next == TAUT_OK)
        return status;
    if (error)
        *error = *said;
    return next;
}

taut_status recording_close(struct recording *recording, char ***files, size_t *file_count,
                            taut_error *error)
{
    taut_error said = {0};
    taut_status status = TAUT_OK;
    for (size_t b = 0; b < recording->cache_count; b++)
        status = first_of(status, pc2_close(&recording->caches[b], &said), &said, error);
    status = first_of(status, energy_csv_close(&recording->energy, &said), &said, error);
    status = first_of(status, probes_csv_close(&recording->probes, &said), &said, error);
    if (files) {
        *files = recording->files;
        *file_count = recording->file_count;
    } else {
        for (size_t i = 0; i < recording->file_count; i++)
            free(recording->files[i]);
        free(recording->files);
    }
    free(recording->caches);
    free(recording->times);
    free(recording->folder);
    free(recording->name);
    free(recording);
    return status;
}
