// Checkpoints of a solver as files and as blocks of memory: the functions of taut.h.
// solver/checkpoint_archive.c has their content.
#include "solver/solver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/os.h"
#include "output/file.h"

// A failure is kept in the file, and reported when it is committed.
static bool write_to_file(void *context, const void *bytes, size_t count)
{
    file_write(context, bytes, count);
    return true;
}

taut_status taut_solver_save(taut_solver *solver, const char *path, taut_error *error)
{
    struct file file = {.open = false};
    taut_status status = file_create(&file, path, error);
    if (status == TAUT_OK)
        status = solver_write_checkpoint(solver, write_to_file, &file, error);
    if (status == TAUT_OK)
        return file_commit(&file, error);
    file_abandon(&file);
    return status;
}

taut_status taut_solver_restore(const taut_scene *scene, const char *path,
                                const taut_config *config, taut_solver **solver, taut_error *error)
{
    struct solver_options options = {0};
    if (config)
        options.config = *config;
    const char *reason;
    *solver = NULL;
    FILE *file = open_to_read(path, &reason);
    if (!file)
        return fail(error, TAUT_ERROR_IO, "cannot read '%.400s': %s", path, reason);
    taut_status status = solver_create_from_checkpoint(scene, &options, archive_file_source, file,
                                                       path, solver, error);
    fclose(file);
    return status;
}

// ---- Memory

struct block {
    void *bytes;
    size_t count, capacity;
};

static bool write_to_block(void *context, const void *bytes, size_t count)
{
    struct block *block = context;
    if (!array_reserve(&block->bytes, &block->capacity, block->count + count, 1))
        return false;
    memcpy((unsigned char *)block->bytes + block->count, bytes, count);
    block->count += count;
    return true;
}

taut_status taut_solver_save_memory(taut_solver *solver, void **bytes, size_t *count,
                                    taut_error *error)
{
    struct block block = {0};
    taut_status status = solver_write_checkpoint(solver, write_to_block, &block, error);
    if (status != TAUT_OK) {
        free(block.bytes);
        block = (struct block){0};
    }
    *bytes = block.bytes;
    *count = block.count;
    return status;
}

void taut_bytes_release(void *bytes)
{
    free(bytes);
}

struct bytes_left {
    const unsigned char *next;
    size_t count;
};

static size_t read_from_bytes(void *context, void *bytes, size_t count, int *failure)
{
    struct bytes_left *left = context;
    (void)failure;
    const size_t got = count < left->count ? count : left->count;
    if (got > 0)
        memcpy(bytes, left->next, got);
    left->next += got;
    left->count -= got;
    return got;
}

taut_status taut_solver_restore_memory(const taut_scene *scene, const void *bytes, size_t count,
                                       const taut_config *config, taut_solver **solver,
                                       taut_error *error)
{
    struct solver_options options = {0};
    if (config)
        options.config = *config;
    struct bytes_left left = {bytes, count};
    return solver_create_from_checkpoint(scene, &options, read_from_bytes, &left, "memory", solver,
                                         error);
}
