// Pieces of frames (pieces.h). A message of rank 0 is the name of a frame without its ending; an
// empty one has all ranks list what their pieces have. Each time all ranks agree on whether they
// have succeeded.
#include "cli/pieces.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "output/manifest.h"
#include "ranks/ranks.h"

struct pieces pieces_of(taut_solver *solver, const struct vtp_options *options)
{
    return (struct pieces){.solver = solver, .options = *options};
}

void pieces_free(struct pieces *pieces)
{
    vtp_writer_free(pieces->writer);
    frame_free(&pieces->frame);
    frame_free(&pieces->whole);
    free(pieces->ranks);
    free(pieces->files.files);
    *pieces = (struct pieces){.solver = pieces->solver, .options = pieces->options};
}

static unsigned fields_of(const struct pieces *pieces)
{
    return FRAME_NODES | FRAME_STRAINS | (pieces->options.forces ? FRAME_FORCES : 0);
}

// Whether the part of a rank has nodes: a rank without any has no piece.
static bool has_piece(const struct pieces *pieces, int rank)
{
    return solver_rank_nodes(pieces->solver, rank) > 0;
}

static taut_status make(struct pieces *pieces, taut_error *error)
{
    taut_status status = solver_make_frame(pieces->solver, FRAME_BODIES, &pieces->whole, error);
    if (status != TAUT_OK)
        return status;
    const size_t count = pieces->whole.shape.body_count;
    bool *with_lines = calloc(count + 1, sizeof *with_lines);
    if (!with_lines)
        return fail_memory(error, "the pieces of frames");
    for (size_t b = 0; b < count; b++)
        with_lines[b] = vtp_has_lines(&pieces->options, &pieces->whole.bodies[b]);
    status = solver_make_piece(pieces->solver, pieces->whole.bodies, with_lines, fields_of(pieces),
                               &pieces->frame, error);
    free(with_lines);
    return status == TAUT_OK ? vtp_writer_make(&pieces->options, &pieces->writer, error) : status;
}

static char *piece_path(const char *stem, int rank)
{
    char ending[VTP_PIECE_ENDING];
    vtp_piece_ending(rank, ending);
    return text_format("%s%s", stem, ending);
}

// This rank's piece of a frame. *written: it has been, and is listed; or it has none.
static taut_status write_own(struct pieces *pieces, const char *stem, struct recording_piece *file,
                             char **written, taut_error *error)
{
    *written = NULL;
    solver_read_piece(pieces->solver, fields_of(pieces), &pieces->frame);
    if (!has_piece(pieces, ranks_number()))
        return TAUT_OK;
    char *path = piece_path(stem, ranks_number());
    if (!path)
        return fail_memory(error, "the name of a frame");
    taut_status status = vtp_writer_frame(pieces->writer, path, &pieces->frame, error);
    if (status != TAUT_OK) {
        free(path);
        return status;
    }
    *written = path;
    return manifest_measure(path, &file->size, &file->checksum, error);
}

// Whether rank 0 finds the file of another rank in its own folder, which may take a few seconds
// over a network.
static bool is_found(const char *path, uint64_t size)
{
    enum { TRIES = 100 };
    const struct timespec pause = {.tv_nsec = 50000000};
    struct stat file;
    for (int i = 0; stat(path, &file) != 0 || (uint64_t)file.st_size != size; i++) {
        if (i == TRIES)
            return false;
        (void)nanosleep(&pause, NULL);
    }
    return true;
}

static taut_status find_files(const struct pieces *pieces, const char *stem,
                              const struct recording_piece *files, taut_error *error)
{
    for (int r = 0; r < ranks_count(); r++) {
        if (!has_piece(pieces, r))
            continue;
        char *path = piece_path(stem, r);
        if (!path)
            return fail_memory(error, "the name of a frame");
        const bool found = is_found(path, files->size);
        const taut_status status =
            found ? TAUT_OK
                  : fail(error, TAUT_ERROR_IO,
                         "rank %d has written '%s', but rank 0 does not find it there: the folder "
                         "of the results must be one that all machines share (--output)",
                         r, path);
        free(path);
        if (!found)
            return status;
        files++;
    }
    return TAUT_OK;
}

// Sizes and checksums of the pieces of all ranks.
static void share_files(const struct pieces *pieces, const struct recording_piece *own,
                        struct recording_piece *files)
{
    const int count = ranks_count();
    uint64_t *sizes = calloc(2 * (size_t)count, sizeof *sizes);
    if (!sizes)
        ranks_abort(1, "out of memory for the files of all ranks");
    uint64_t *const checksums = sizes + count;
    ranks_share(own->size, sizes);
    ranks_share(own->checksum, checksums);
    for (int r = 0; files && r < count; r++)
        if (has_piece(pieces, r))
            *files++ = (struct recording_piece){sizes[r], checksums[r]};
    free(sizes);
}

// Writes the pieces of all ranks. All ranks call it; `files` is NULL on others than rank 0.
static taut_status write_all(struct pieces *pieces, const char *stem, struct recording_piece *files,
                             taut_error *error)
{
    struct recording_piece own = {0};
    char *written;
    taut_status status = write_own(pieces, stem, &own, &written, error);
    status = ranks_agree(status, error);
    if (status == TAUT_OK) {
        share_files(pieces, &own, files);
        status = ranks_agree(files ? find_files(pieces, stem, files, error) : TAUT_OK, error);
    }
    if (status != TAUT_OK && written)
        (void)unlink(written);
    free(written);
    return status;
}

void pieces_answer(void *context, const void *message)
{
    struct pieces *pieces = context;
    const char *stem = message;
    taut_error error = {0};
    if (stem[0])
        (void)write_all(pieces, stem, NULL, &error);
    else
        (void)ranks_agree(make(pieces, &error), &error);
}

static taut_status write_frame(void *owner, const char *stem, struct recording_piece *files,
                               taut_error *error)
{
    struct pieces *pieces = owner;
    taut_error failure = {0};
    solver_begin_call(pieces->solver, stem, strlen(stem) + 1);
    taut_status status = write_all(pieces, stem, files, &failure);
    solver_end_call(pieces->solver);
    if (status != TAUT_OK && error)
        *error = failure;
    return status;
}

taut_status pieces_make(struct pieces *pieces, taut_error *error)
{
    taut_error failure = {0};
    solver_begin_call(pieces->solver, "", 1);
    taut_status status = ranks_agree(make(pieces, &failure), &failure);
    solver_end_call(pieces->solver);
    if (status != TAUT_OK) {
        *error = failure;
        return status;
    }
    const size_t count = (size_t)ranks_count();
    pieces->ranks = calloc(count, sizeof *pieces->ranks);
    pieces->files = (struct recording_pieces){
        .files = calloc(count, sizeof *pieces->files.files),
        .write = write_frame,
        .piece = &pieces->frame,
        .owner = pieces,
    };
    if (!pieces->ranks || !pieces->files.files)
        return fail_memory(error, "the pieces of frames");
    for (int r = 0; r < ranks_count(); r++)
        if (has_piece(pieces, r))
            pieces->ranks[pieces->files.count++] = r;
    pieces->files.ranks = pieces->ranks;
    return TAUT_OK;
}
