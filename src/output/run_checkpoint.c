// Writes and reads checkpoints of runs (run_checkpoint.h). solver/checkpoint_archive.c has what a
// solver remembers; this file has the arrays of the output.
#include "output/run_checkpoint.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/os.h"
#include "base/text.h"
#include "output/file.h"
#include "ranks/ranks.h"

enum { ARRAYS = 13 };

#define NAME(text) ARCHIVE_OUTPUT text

// The block as arrays, in the order of the file. The numbers stay the position's.
static size_t list_arrays(const struct run_position *position, struct archive_array arrays[ARRAYS])
{
    const struct recording_position *files = &position->files;
    const struct archive_array list[ARRAYS] = {
        {NAME("frames"), ARCHIVE_U64, &files->frames, 1},
        {NAME("frame_times"), ARCHIVE_F64, files->times, files->frames},
        {NAME("energy_bytes"), ARCHIVE_U64, &files->energy_bytes, 1},
        {NAME("probe_bytes"), ARCHIVE_U64, &files->probe_bytes, 1},
        {NAME("volume_bodies"), ARCHIVE_U64, files->volume_bodies, files->volume_count},
        {NAME("schedule"), ARCHIVE_U64, &position->frame_steps, 2},
        {NAME("frame_seconds"), ARCHIVE_F64, &position->frame_seconds, 1},
        {NAME("last_frame"), ARCHIVE_U64, &position->last_frame, 1},
        {NAME("due"), ARCHIVE_U32, &position->due, 1},
        {NAME("kernel"), ARCHIVE_U32, &position->kernel, 1},
        {NAME("energy_at_start"), ARCHIVE_F64, &position->energy_at_start, 6},
        {NAME("state"), ARCHIVE_U8, position->state, position->state ? strlen(position->state) : 0},
        {NAME("checksums"), ARCHIVE_U64, files->checksums, files->checksum_count},
    };
    _Static_assert(sizeof(taut_energy) == 6 * sizeof(double), "six numbers");
    _Static_assert(offsetof(struct run_position, frame_number) ==
                       offsetof(struct run_position, frame_steps) + sizeof(uint64_t),
                   "two numbers in a row");
    memcpy(arrays, list, sizeof list);
    return ARRAYS;
}

void run_position_free(struct run_position *position)
{
    recording_position_free(&position->files);
    free(position->state);
    position->state = NULL;
}

// ---- Writing

struct writing {
    struct file file;
    run_checkpoint_stop *stop;
    void *context;
};

// A failure is kept in the file, and reported when it is committed.
static bool write_bytes(void *context, const void *bytes, size_t count)
{
    struct writing *writing = context;
    file_write(&writing->file, bytes, count);
    return !writing->file.failure && !(writing->stop && writing->stop(writing->context));
}

// ---- All ranks together

static bool put_bytes(void *context, uint64_t offset, const void *bytes, size_t count)
{
    struct writing *writing = context;
    file_put(&writing->file, offset, bytes, count);
    return !writing->file.failure;
}

static void pass_bytes(void *context, uint64_t count)
{
    struct writing *writing = context;
    file_pass(&writing->file, count);
}

// The text of rank 0: the file's temporary name, and the one that it will have.
void run_checkpoint_join(const taut_solver *solver, const char *text)
{
    enum { TRIES = 100 };
    const struct timespec pause = {.tv_nsec = 50000000};
    const char *const path = text + strlen(text) + 1;
    struct writing writing = {.stop = NULL};
    taut_error error = {0};
    // Over a network the file may be seen a short time later.
    for (int i = 0; access(text, F_OK) != 0 && i < TRIES; i++)
        (void)nanosleep(&pause, NULL);
    taut_status status = file_join(&writing.file, text, path, &error);
    if (status != TAUT_OK && access(text, F_OK) != 0)
        status =
            fail(&error, TAUT_ERROR_IO,
                 "rank %d does not find the file that rank 0 has begun for '%.400s': the folder "
                 "of the results must be one that all machines share (--output)",
                 ranks_number(), path);
    const bool joined = status == TAUT_OK;
    if (ranks_agree(status, &error) == TAUT_OK) {
        const struct checkpoint_sink sink = {put_bytes, pass_bytes, &writing};
        status = solver_join_checkpoint(solver, &sink, &error);
        const taut_status left = file_leave(&writing.file, status == TAUT_OK ? &error : NULL);
        (void)ranks_agree(status == TAUT_OK ? left : status, &error);
    } else if (joined) {
        (void)file_leave(&writing.file, NULL);
    }
}

static taut_status write_copy(struct writing *writing, struct solver_copy *copy,
                              const struct archive_array *arrays, size_t count,
                              const struct run_checkpoint_group *group, taut_error *error)
{
    if (!group || !solver_copy_has_parts(copy))
        return solver_copy_write(copy, arrays, count, write_bytes, writing, error);
    const struct checkpoint_sink sink = {put_bytes, pass_bytes, writing};
    taut_error failure = {0};
    taut_status status = file_name_now(&writing->file, error);
    char *text = status == TAUT_OK
                     ? text_format("%s%c%s", writing->file.temporary, '\n', writing->file.path)
                     : NULL;
    if (status == TAUT_OK && !text)
        status = fail_memory(error, "a checkpoint");
    if (status != TAUT_OK)
        return status;
    const size_t bytes = strlen(text) + 1;
    text[strlen(writing->file.temporary)] = '\0';
    group->begin(group->context, text, bytes);
    free(text);
    status = ranks_agree(TAUT_OK, &failure);
    if (status == TAUT_OK) {
        solver_copy_share(copy, &sink);
        status = solver_copy_write(copy, arrays, count, write_bytes, writing, &failure);
        solver_copy_share(copy, NULL);
        if (writing->file.failure)
            status = TAUT_OK; // committing reports it
        status = ranks_agree(status, &failure);
    }
    group->end(group->context);
    if (status != TAUT_OK && error)
        *error = failure;
    return status;
}

taut_status run_checkpoint_write(const char *path, struct solver_copy *copy,
                                 const struct run_position *position, run_checkpoint_stop *stop,
                                 void *context, const struct run_checkpoint_group *group,
                                 taut_error *error)
{
    struct writing writing = {.stop = stop, .context = context};
    struct archive_array arrays[ARRAYS];
    const size_t count = list_arrays(position, arrays);
    taut_status status = file_replace(&writing.file, path, error);
    if (status != TAUT_OK)
        return status;
    status = write_copy(&writing, copy, arrays, count, group, error);
    if (status == TAUT_OK || writing.file.failure)
        return file_commit(&writing.file, error); // reports the failure
    file_abandon(&writing.file);
    return stop && stop(context)
               ? fail(error, TAUT_ERROR_IO, "'%s' was not written: interrupted", path)
               : status;
}

// ---- Reading

// An array of the block whose length is known, or with `grown` where it is not.
struct wanted {
    const char *name;
    enum archive_type type;
    void *numbers;
    uint64_t count, received;
    void **grown;
    size_t capacity;
    uint64_t *length; // of the grown array
};

static taut_status fail_block(const char *path, const char *name, taut_error *error)
{
    return fail(error, TAUT_ERROR_IO,
                "'%.400s': array '%s' is missing or is not what a run writes: the file was saved "
                "by a program, or made by something else",
                path, name);
}

// Whole chunks have been checked: what is allocated here is in the file.
static bool take(struct wanted *wanted, const struct archive_chunk *chunk)
{
    const size_t size = archive_type_bytes(chunk->type);
    if (chunk->type != wanted->type || chunk->first != wanted->received)
        return false;
    if (wanted->grown) {
        if (!array_reserve(wanted->grown, &wanted->capacity,
                           (size_t)(chunk->first + chunk->count) + 1, size))
            return false;
        wanted->numbers = *wanted->grown;
        *wanted->length = chunk->first + chunk->count;
    } else if (chunk->total != wanted->count) {
        return false;
    }
    memcpy((unsigned char *)wanted->numbers + chunk->first * size, chunk->numbers,
           (size_t)chunk->count * size);
    wanted->received += chunk->count;
    return true;
}

static bool is_sound(const struct run_position *position, const struct archive_header *header,
                     uint64_t times, uint64_t state)
{
    const struct recording_position *files = &position->files;
    for (uint64_t i = 0; i < times; i++)
        if (!isfinite(files->times[i]) || (i > 0 && !(files->times[i] > files->times[i - 1])))
            return false;
    return times == files->frames && position->last_frame <= header->step &&
           (position->frame_steps > 0 || position->frame_seconds > 0) &&
           isfinite(position->frame_seconds) && position->frame_number > 0 &&
           position->due <= (DUE_FRAME | DUE_PROBE) && kernel_choice_name((int)position->kernel) &&
           (state == 0 || !memchr(position->state, '\0', state));
}

static taut_status read_block(struct archive_reader *archive, struct run_position *position,
                              taut_error *error)
{
    struct recording_position *files = &position->files;
    void *times = NULL, *bodies = NULL, *state = NULL, *checksums = NULL;
    uint64_t time_count = 0, state_length = 0;
    struct wanted wanted[] = {
        {NAME("frames"), ARCHIVE_U64, &files->frames, 1, 0, NULL, 0, NULL},
        {NAME("frame_times"), ARCHIVE_F64, NULL, 0, 0, &times, 0, &time_count},
        {NAME("energy_bytes"), ARCHIVE_U64, &files->energy_bytes, 1, 0, NULL, 0, NULL},
        {NAME("probe_bytes"), ARCHIVE_U64, &files->probe_bytes, 1, 0, NULL, 0, NULL},
        {NAME("volume_bodies"), ARCHIVE_U64, NULL, 0, 0, &bodies, 0, &files->volume_count},
        {NAME("schedule"), ARCHIVE_U64, &position->frame_steps, 2, 0, NULL, 0, NULL},
        {NAME("frame_seconds"), ARCHIVE_F64, &position->frame_seconds, 1, 0, NULL, 0, NULL},
        {NAME("last_frame"), ARCHIVE_U64, &position->last_frame, 1, 0, NULL, 0, NULL},
        {NAME("due"), ARCHIVE_U32, &position->due, 1, 0, NULL, 0, NULL},
        {NAME("kernel"), ARCHIVE_U32, &position->kernel, 1, 0, NULL, 0, NULL},
        {NAME("energy_at_start"), ARCHIVE_F64, &position->energy_at_start, 6, 0, NULL, 0, NULL},
        {NAME("state"), ARCHIVE_U8, NULL, 0, 0, &state, 0, &state_length},
        {NAME("checksums"), ARCHIVE_U64, NULL, 0, 0, &checksums, 0, &files->checksum_count},
    };
    enum { WANTED = sizeof wanted / sizeof wanted[0] };
    struct archive_chunk chunk;
    taut_status status;
    do {
        status = archive_next(archive, &chunk, error);
        for (size_t i = 0; i < WANTED && status == TAUT_OK; i++)
            if (strcmp(chunk.name, wanted[i].name) == 0 && !take(&wanted[i], &chunk))
                status = fail_block(archive->path, chunk.name, error);
    } while (status == TAUT_OK && chunk.name[0]);
    for (size_t i = 0; i < WANTED && status == TAUT_OK; i++)
        if (wanted[i].received != wanted[i].count && !wanted[i].grown)
            status = fail_block(archive->path, wanted[i].name, error);
    files->times = times;
    files->volume_bodies = bodies;
    files->checksums = checksums;
    position->state = state;
    if (state)
        position->state[state_length] = '\0'; // `take` has left space
    if (status == TAUT_OK && !is_sound(position, &archive->header, time_count, state_length))
        status = fail_block(archive->path, NAME("schedule"), error);
    return status;
}

taut_status run_checkpoint_read(const char *path, struct archive_header *header,
                                struct run_position *position, taut_error *error)
{
    const char *reason;
    *position = (struct run_position){.due = 0};
    FILE *file = open_to_read(path, &reason);
    if (!file)
        return fail(error, TAUT_ERROR_IO, "cannot read '%.400s': %s", path, reason);
    struct archive_reader archive;
    taut_status status = archive_open(&archive, archive_file_source, file, path, error);
    if (status == TAUT_OK)
        status = read_block(&archive, position, error);
    *header = archive.header;
    archive_close(&archive);
    fclose(file);
    if (status != TAUT_OK)
        run_position_free(position);
    return status;
}
