// Reads the frames of a finished run with the readers of .pvd, .vtp and .pc2 files, and checks that
// they match the system.
#include "output/finished_run.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "base/text.h"
#include "output/pc2.h"
#include "output/pvd.h"
#include "output/vtp_reader.h"

bool finished_run_is_folder(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

char *finished_run_scene(const char *folder, taut_error *error)
{
    char *path = text_format("%s/scene.yaml", folder);
    struct stat status;
    if (!path) {
        (void)fail_memory(error, "the name of a scene");
    } else if (stat(path, &status) != 0) {
        if (errno == ENOENT)
            (void)fail(error, TAUT_ERROR_SCENE,
                       "the folder '%s' contains no run: there is no scene.yaml in it", folder);
        else
            (void)fail(error, TAUT_ERROR_IO, "cannot read '%s': %s", path, strerror(errno));
        free(path);
        path = NULL;
    }
    return path;
}

// Finds the only collection in the folder: its name without .pvd, or NULL if there is none.
static taut_status find_collection(struct finished_run *run, taut_error *error)
{
    DIR *folder = opendir(run->folder);
    if (!folder)
        return fail(error, TAUT_ERROR_IO, "cannot read the folder '%s': %s", run->folder,
                    strerror(errno));
    taut_status status = TAUT_OK;
    struct dirent *entry;
    while (status == TAUT_OK && (entry = readdir(folder)) != NULL) {
        if (!text_ends_with(entry->d_name, ".pvd"))
            continue;
        const int stem = (int)(strlen(entry->d_name) - strlen(".pvd"));
        if (run->name)
            status = fail(error, TAUT_ERROR_IO,
                          "the folder '%s' has several collections ('%s.pvd', '%s'): one run is "
                          "expected there",
                          run->folder, run->name, entry->d_name);
        else if (!(run->name = text_format("%.*s", stem, entry->d_name)))
            status = fail_memory(error, "the name of a run");
    }
    (void)closedir(folder);
    return status;
}

static taut_status open_collection(struct finished_run *run, taut_error *error)
{
    char *path = text_format("%s/%s.pvd", run->folder, run->name);
    if (!path)
        return fail_memory(error, "the name of a collection");
    taut_status status = pvd_read(path, run->name, &run->frames, &run->frame_count, error);
    free(path);
    if (status != TAUT_OK)
        return status;
    run->times = calloc(run->frame_count + 1, sizeof *run->times);
    if (!run->times)
        return fail_memory(error, "the list of frames");
    for (size_t i = 0; i < run->frame_count; i++)
        run->times[i] = run->frames[i].time;
    return TAUT_OK;
}

// The number with the fewest decimals that rounds to the given float: 0.04 for 0.0399999991.
static double decimal_of(double real)
{
    static const double scales[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8};
    for (size_t i = 0; i < sizeof scales / sizeof scales[0]; i++)
        if ((float)(round(real * scales[i]) / scales[i]) == (float)real)
            return round(real * scales[i]) / scales[i];
    return real;
}

// Caches store the time of the first sample and the interval; the last sample is at the run's end.
static taut_status list_sample_times(struct finished_run *run, taut_error *error)
{
    const struct pc2_reader *first = &run->caches[0];
    run->frame_count = first->sample_count;
    run->times = calloc(run->frame_count + 1, sizeof *run->times);
    if (!run->times)
        return fail_memory(error, "the list of frames");
    double start = decimal_of(first->start), rate = decimal_of(first->rate);
    for (size_t i = 0; i < run->frame_count; i++)
        run->times[i] = fmin(start + rate * (double)i, run->system.end);
    return TAUT_OK;
}

static taut_status open_caches(struct finished_run *run, taut_error *error)
{
    const struct finished_system *system = &run->system;
    run->caches = calloc(system->body_count + 1, sizeof *run->caches);
    if (!run->caches)
        return fail_memory(error, "the point caches");
    for (size_t b = 0; b < system->body_count; b++) {
        char *path = text_format("%s/%s.pc2", run->folder, system->bodies[b].name);
        if (!path)
            return fail_memory(error, "the name of a point cache");
        struct stat there;
        taut_status status =
            stat(path, &there) == 0
                ? pc2_reader_open(path, &run->caches[b], error)
                : fail(error, TAUT_ERROR_IO,
                       "the run in '%s' has no frames: neither a .pvd with .vtp files nor "
                       "'%s.pc2'; run it with --set output.vtp=true",
                       run->folder, system->bodies[b].name);
        free(path);
        if (status != TAUT_OK)
            return status;
        if (run->caches[b].node_count != system->bodies[b].node_count ||
            run->caches[b].sample_count != run->caches[0].sample_count)
            return fail(error, TAUT_ERROR_IO,
                        "'%s' has %" PRIu64 " %s and %" PRIu64
                        " %s: it is not of the run that scene.yaml describes",
                        run->caches[b].path, run->caches[b].node_count,
                        text_noun(run->caches[b].node_count, "node", "nodes"),
                        run->caches[b].sample_count,
                        text_noun(run->caches[b].sample_count, "sample", "samples"));
    }
    return list_sample_times(run, error);
}

taut_status finished_run_open(const char *folder, const struct finished_system *system,
                              struct finished_run *run, taut_error *error)
{
    *run = (struct finished_run){.system = *system, .folder = text_format("%s", folder)};
    taut_status status =
        run->folder ? find_collection(run, error) : fail_memory(error, "the name of a folder");
    if (status == TAUT_OK)
        status = run->name ? open_collection(run, error) : open_caches(run, error);
    if (status == TAUT_OK && run->frame_count == 0)
        status = fail(error, TAUT_ERROR_IO, "the run in '%s' has no frames", folder);
    if (status != TAUT_OK)
        finished_run_close(run);
    return status;
}

size_t finished_run_nearest(const struct finished_run *run, double time)
{
    size_t nearest = 0;
    for (size_t i = 1; i < run->frame_count; i++)
        if (fabs(run->times[i] - time) < fabs(run->times[nearest] - time))
            nearest = i;
    return nearest;
}

static bool has_springs(const struct vtp_frame *frame, size_t body)
{
    return !frame->body_springs || frame->body_springs[body];
}

// The number of springs that the frame should have, by the counts of each body.
static uint64_t expected_lines(const struct finished_system *system, const struct vtp_frame *frame)
{
    uint64_t lines = 0;
    if (!frame->body_springs)
        return system->spring_count;
    for (size_t b = 0; b < system->body_count; b++)
        lines += has_springs(frame, b) ? system->bodies[b].spring_count : 0;
    return lines;
}

// Moves the values of the springs in the file to their positions among all springs; the springs of
// other bodies get NaN and not broken.
static void spread_springs(const struct finished_system *system, const struct vtp_frame *frame,
                           float *strains, uint8_t *broken)
{
    uint64_t from = frame->lines, to = system->spring_count;
    for (size_t b = system->body_count; b > 0; b--) {
        uint64_t count = system->bodies[b - 1].spring_count;
        to -= count;
        if (has_springs(frame, b - 1)) {
            from -= count;
            memmove(strains + to, strains + from, count * sizeof *strains);
            memmove(broken + to, broken + from, count);
            continue;
        }
        for (uint64_t i = 0; i < count; i++) {
            strains[to + i] = NAN;
            broken[to + i] = 0;
        }
    }
}

static taut_status read_springs(struct finished_run *run, struct vtp_frame *file,
                                struct frame *frame, taut_error *error)
{
    const uint64_t count = run->system.spring_count;
    if (!run->strains)
        run->strains = memory_allocate(NULL, count, sizeof *run->strains);
    if (!run->strains)
        return fail_memory(error, "the strains of a frame");
    taut_status status = vtp_frame_springs(file, run->strains, frame->broken, error);
    if (status != TAUT_OK)
        return status;
    if (file->body_springs)
        spread_springs(&run->system, file, run->strains, frame->broken);
    for (uint64_t i = 0; i < count; i++)
        frame->strains[i] = (double)run->strains[i];
    frame->fields |= FRAME_SPRINGS;
    return TAUT_OK;
}

static taut_status read_frame(struct finished_run *run, struct vtp_frame *file, unsigned fields,
                              struct frame *frame, taut_error *error)
{
    bool bodies = !file->body_springs || file->body_count == run->system.body_count;
    if (file->points != run->system.node_count || !bodies ||
        file->lines != expected_lines(&run->system, file))
        return fail(error, TAUT_ERROR_IO,
                    "'%s' has %" PRIu64 " %s and %" PRIu64 " %s, but scene.yaml makes %" PRIu64
                    " and %" PRIu64,
                    file->path, file->points, text_noun(file->points, "node", "nodes"), file->lines,
                    text_noun(file->lines, "spring", "springs"), run->system.node_count,
                    run->system.spring_count);
    const bool exact = (fields & FRAME_POSITIONS) != 0;
    taut_status status = exact ? vtp_frame_exact_positions(file, frame->positions, error)
                               : vtp_frame_positions(file, frame->drawn_positions, error);
    if (status == TAUT_OK)
        frame->fields |= exact ? FRAME_POSITIONS : FRAME_DRAWN_POSITIONS;
    if (status == TAUT_OK && fields & FRAME_STRAINS)
        status = read_springs(run, file, frame, error);
    return status;
}

static taut_status read_samples(struct finished_run *run, size_t number, float *positions,
                                taut_error *error)
{
    taut_status status = TAUT_OK;
    for (size_t b = 0; b < run->system.body_count && status == TAUT_OK; b++) {
        status = pc2_reader_sample(&run->caches[b], number, positions, error);
        positions += 3 * run->system.bodies[b].node_count;
    }
    return status;
}

// The same as doubles.
static taut_status read_exact_samples(struct finished_run *run, size_t number, double *positions,
                                      taut_error *error)
{
    const uint64_t count = 3 * run->system.node_count;
    float *samples = memory_allocate(NULL, count, sizeof *samples);
    if (!samples)
        return fail_memory(error, "a frame");
    taut_status status = read_samples(run, number, samples, error);
    for (uint64_t i = 0; i < count; i++)
        positions[i] = (double)samples[i];
    memory_release(NULL, samples, count, sizeof *samples);
    return status;
}

taut_status finished_run_read(struct finished_run *run, size_t number, unsigned fields,
                              struct frame *frame, taut_error *error)
{
    fields &= frame->allocated;
    frame->fields = 0;
    frame->time = run->times[number];
    if (run->caches && fields & FRAME_POSITIONS) {
        frame->fields = FRAME_POSITIONS;
        return read_exact_samples(run, number, frame->positions, error);
    }
    if (run->caches) {
        frame->fields = FRAME_DRAWN_POSITIONS;
        return read_samples(run, number, frame->drawn_positions, error);
    }
    char *path = text_format("%s/%s_%06zu%s", run->folder, run->name, number,
                             pvd_frame_ending(&run->frames[number]));
    if (!path)
        return fail_memory(error, "the name of a frame");
    struct vtp_frame opened;
    taut_status status = vtp_frame_open(path, &opened, error);
    free(path);
    if (status != TAUT_OK)
        return status;
    status = read_frame(run, &opened, fields, frame, error);
    vtp_frame_close(&opened);
    return status;
}

void finished_run_close(struct finished_run *run)
{
    for (size_t b = 0; run->caches && b < run->system.body_count; b++)
        pc2_reader_close(&run->caches[b]);
    memory_release(NULL, run->strains, run->system.spring_count, sizeof *run->strains);
    free(run->caches);
    free(run->times);
    free(run->frames);
    free(run->name);
    free(run->folder);
    *run = (struct finished_run){0};
}
