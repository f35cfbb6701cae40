// Reads the pieces of a frame and puts their values where they are in the whole (vtp_pieces.h). One
// piece at a time is in memory beside the whole.
#include "output/vtp_pieces.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/os.h"
#include "base/text.h"
#include "output/vtp.h"

static taut_status refuse(const char *path, const char *what, taut_error *error)
{
    return fail(error, TAUT_ERROR_IO, "'%s' %s", path, what);
}

// ---- The list

void vtp_piece_names_free(struct vtp_piece_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->items[i]);
    free(names->items);
    *names = (struct vtp_piece_names){0};
}

static const char *const escapes[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&apos;"};

// Replaces what file_print_escaped writes; false if there is anything else.
static bool unescape(char *text)
{
    char *to = text;
    while (*text) {
        size_t i = 0;
        if (*text != '&') {
            *to++ = *text++;
            continue;
        }
        while (i < 5 && strncmp(text, escapes[i], strlen(escapes[i])) != 0)
            i++;
        if (i == 5)
            return false;
        *to++ = "&<>\"'"[i];
        text += strlen(escapes[i]);
    }
    *to = '\0';
    return true;
}

// Skips the lines that describe arrays up to their end: their order is that of the pieces, which is
// checked there.
static void skip_arrays(struct scan *scan)
{
    char line[256];
    static const char *const known[] = {"    <P", "      <PDataArray ", "    </P"};
    for (;;) {
        scan_until(scan, '\n', line, sizeof line);
        if (scan->failed || strcmp(line, "    </PPoints>") == 0)
            return;
        bool is_known = false;
        for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
            is_known |= strncmp(line, known[i], strlen(known[i])) == 0;
        scan->failed |= !is_known;
    }
}

static taut_status read_names(struct scan *scan, struct vtp_piece_names *names, taut_error *error)
{
    char name[8 * 256]; // a name with every letter escaped
    scan_expect(scan, VTP_PIECES_HEADER
                "    <FieldData>\n      <DataArray type=\"Float64\" Name=\"TimeValue\" "
                "NumberOfTuples=\"1\" format=\"ascii\">");
    (void)scan_number(scan, '<');
    scan_expect(scan, "/DataArray>\n    </FieldData>\n");
    skip_arrays(scan);
    scan_expect(scan, "  ");
    while (!scan->failed && scan_next_is(scan, ' ')) {
        scan_expect(scan, "  <Piece Source=\"");
        scan_until(scan, '"', name, sizeof name);
        scan_expect(scan, "/>\n  ");
        scan->failed |= !unescape(name) || strchr(name, '/') || !text_ends_with(name, ".vtp");
        if (scan->failed)
            break;
        char *copy = text_format("%s", name);
        if (!copy || !array_reserve((void **)&names->items, &names->capacity, names->count + 1,
                                    sizeof *names->items)) {
            free(copy);
            return fail_memory(error, "the pieces of a frame");
        }
        names->items[names->count++] = copy;
    }
    scan_expect(scan, "</PPolyData>\n</VTKFile>\n");
    scan->failed |= !scan->failed && scan_position(scan) != scan_length(scan);
    return TAUT_OK;
}

taut_status vtp_piece_names_read(const char *path, struct vtp_piece_names *names, taut_error *error)
{
    const char *reason;
    *names = (struct vtp_piece_names){0};
    struct scan scan = {.file = open_to_read(path, &reason)};
    if (!scan.file)
        return fail(error, TAUT_ERROR_IO, "cannot read '%s': %s", path, reason);
    taut_status status = read_names(&scan, names, error);
    if (status == TAUT_OK && scan.failed)
        status = refuse(path, "is not a list of pieces that taut wrote", error);
    (void)fclose(scan.file);
    if (status != TAUT_OK)
        vtp_piece_names_free(names);
    return status;
}

// ---- Opening

static bool has_same_bodies(const struct vtp_frame *a, const struct vtp_frame *b)
{
    bool same = a->name_count == b->name_count && a->body_count == b->body_count;
    for (uint64_t i = 0; same && i < a->name_count; i++)
        same = strcmp(a->names[i] ? a->names[i] : "", b->names[i] ? b->names[i] : "") == 0;
    return same && a->body_springs && b->body_springs &&
           memcmp(a->body_springs, b->body_springs, (size_t)a->body_count) == 0;
}

static taut_status check_pieces(const struct vtp_frame *frame, taut_error *error)
{
    const struct vtp_frame *first = &frame->pieces[0];
    uint64_t points = 0, verts = 0, lines = 0, polys = 0;
    for (size_t i = 0; i < frame->piece_count; i++) {
        const struct vtp_frame *piece = &frame->pieces[i];
        if (!piece->is_piece || piece->time != first->time || piece->single != first->single ||
            memcmp(piece->whole_counts, first->whole_counts, sizeof piece->whole_counts) != 0 ||
            !has_same_bodies(piece, first))
            return refuse(piece->path, "is not a piece of the same frame as the others", error);
        points += piece->points; // copies too
        verts += piece->verts;
        lines += piece->lines;
        polys += piece->polys;
    }
    if (frame->piece_count == 0 || points < frame->points || verts != frame->verts ||
        lines != frame->lines || polys != frame->polys)
        return refuse(frame->path, "has pieces that do not make up a frame", error);
    return TAUT_OK;
}

static void take_header(struct vtp_frame *frame)
{
    const struct vtp_frame *first = &frame->pieces[0];
    frame->single = first->single;
    frame->time = first->time;
    frame->points = first->whole_counts[0];
    frame->verts = first->whole_counts[1];
    frame->lines = first->whole_counts[2];
    frame->polys = first->whole_counts[3];
    frame->body_springs = first->body_springs;
    frame->body_count = first->body_count;
    frame->names = first->names;
    frame->name_count = first->name_count;
}

static taut_status open_piece(struct vtp_frame *frame, const char *name, taut_error *error)
{
    const char *const end = strrchr(frame->path, '/');
    const int folder = end ? (int)(end - frame->path) + 1 : 0;
    char *path = text_format("%.*s%s", folder, frame->path, name);
    if (!path)
        return fail_memory(error, "the name of a piece");
    taut_status status = vtp_frame_open(path, &frame->pieces[frame->piece_count], error);
    frame->piece_count += status == TAUT_OK;
    free(path);
    return status;
}

taut_status vtp_pieces_open(const char *path, struct vtp_frame *frame, taut_error *error)
{
    struct vtp_piece_names names = {0};
    *frame = (struct vtp_frame){.path = text_format("%s", path)};
    taut_status status = frame->path ? vtp_piece_names_read(path, &names, error)
                                     : fail_memory(error, "the name of a frame");
    frame->is_list = true;
    frame->pieces = calloc(names.count + 1, sizeof *frame->pieces);
    if (status == TAUT_OK && !frame->pieces)
        status = fail_memory(error, "the pieces of a frame");
    for (size_t i = 0; i < names.count && status == TAUT_OK; i++)
        status = open_piece(frame, names.items[i], error);
    vtp_piece_names_free(&names);
    if (status == TAUT_OK && frame->piece_count > 0)
        take_header(frame);
    if (status == TAUT_OK)
        status = check_pieces(frame, error);
    if (status != TAUT_OK)
        vtp_pieces_close(frame);
    return status;
}

void vtp_pieces_close(struct vtp_frame *frame)
{
    for (size_t i = 0; i < frame->piece_count; i++)
        vtp_frame_close(&frame->pieces[i]);
    free(frame->pieces);
    free(frame->path);
    *frame = (struct vtp_frame){0};
}

// ---- Values

// The values that are read from a piece: the numbers of its points or cells, and their values.
struct values {
    uint64_t *numbers;
    void *items;
    uint64_t count;
    size_t bytes; // of an item
};

static bool values_make(struct values *values, uint64_t count, size_t bytes)
{
    *values = (struct values){.count = count, .bytes = bytes};
    values->numbers = memory_allocate(NULL, (size_t)count, sizeof *values->numbers);
    values->items = memory_allocate(NULL, (size_t)count, bytes);
    return values->numbers && values->items;
}

static void values_free(struct values *values)
{
    memory_release(NULL, values->numbers, (size_t)values->count, sizeof *values->numbers);
    memory_release(NULL, values->items, (size_t)values->count, values->bytes);
}

static void spread(const struct values *values, void *to)
{
    for (uint64_t i = 0; i < values->count; i++)
        memcpy((char *)to + values->numbers[i] * values->bytes,
               (const char *)values->items + i * values->bytes, values->bytes);
}

// Which points or cells of the whole some piece has had.
struct coverage {
    uint8_t *seen;
    uint64_t count, missing;
};

static bool coverage_make(struct coverage *coverage, uint64_t count)
{
    *coverage = (struct coverage){
        .seen = memory_allocate(NULL, (size_t)count, 1), .count = count, .missing = count};
    return coverage->seen;
}

static void coverage_free(struct coverage *coverage)
{
    memory_release(NULL, coverage->seen, (size_t)coverage->count, 1);
}

static void cover(struct coverage *coverage, const struct values *values)
{
    for (uint64_t i = 0; i < values->count; i++) {
        coverage->missing -= !coverage->seen[values->numbers[i]];
        coverage->seen[values->numbers[i]] = 1;
    }
}

static taut_status check_coverage(const struct vtp_frame *frame, const struct coverage *coverage,
                                  const char *what, taut_error *error)
{
    return coverage->missing == 0
               ? TAUT_OK
               : fail(error, TAUT_ERROR_IO, "'%s' has pieces that lack %s of the frame",
                      frame->path, what);
}

enum kind { ROUNDED, EXACT, BODIES };

static taut_status read_points(struct vtp_frame *piece, enum kind kind, struct values *values,
                               taut_error *error)
{
    if (kind == ROUNDED)
        return vtp_frame_positions(piece, values->items, error);
    return kind == EXACT ? vtp_frame_exact_positions(piece, values->items, error)
                         : vtp_frame_node_bodies(piece, values->items, error);
}

// Every point has to be in some piece.
static taut_status read_all_points(struct vtp_frame *frame, enum kind kind, void *to,
                                   taut_error *error)
{
    static const size_t bytes[] = {
        [ROUNDED] = sizeof(float[3]), [EXACT] = sizeof(double[3]), [BODIES] = sizeof(uint32_t)};
    struct coverage coverage;
    taut_status status = coverage_make(&coverage, frame->points)
                             ? TAUT_OK
                             : fail_memory(error, "the pieces of a frame");
    for (size_t i = 0; i < frame->piece_count && status == TAUT_OK; i++) {
        struct vtp_frame *piece = &frame->pieces[i];
        struct values values;
        status = values_make(&values, piece->points, bytes[kind])
                     ? vtp_frame_numbers(piece, VTP_POINT_NUMBERS, 0, piece->points, frame->points,
                                         values.numbers, error)
                     : fail_memory(error, "the pieces of a frame");
        if (status == TAUT_OK)
            status = read_points(piece, kind, &values, error);
        if (status == TAUT_OK) {
            spread(&values, to);
            cover(&coverage, &values);
        }
        values_free(&values);
    }
    if (status == TAUT_OK)
        status = check_coverage(frame, &coverage, "points", error);
    coverage_free(&coverage);
    return status;
}

taut_status vtp_pieces_positions(struct vtp_frame *frame, float *rounded, double *exact,
                                 taut_error *error)
{
    return exact ? read_all_points(frame, EXACT, exact, error)
                 : read_all_points(frame, ROUNDED, rounded, error);
}

taut_status vtp_pieces_node_bodies(struct vtp_frame *frame, uint32_t *bodies, taut_error *error)
{
    return read_all_points(frame, BODIES, bodies, error);
}

// The numbers of cells first .. first + count - 1 of a piece, which lie between `begin` and `end`
// in the whole; counted from there.
static taut_status read_cell_numbers(struct vtp_frame *piece, uint64_t first, uint64_t count,
                                     uint64_t begin, uint64_t end, uint64_t *numbers,
                                     taut_error *error)
{
    taut_status status =
        vtp_frame_numbers(piece, VTP_CELL_NUMBERS, first, count, end, numbers, error);
    for (uint64_t i = 0; i < count && status == TAUT_OK; i++) {
        if (numbers[i] < begin)
            return refuse(piece->path, "has wrong numbers of cells", error);
        numbers[i] -= begin;
    }
    return status;
}

// The pieces have as many cells as the whole (check_pieces): none is in two of them if none is
// missing.
taut_status vtp_pieces_springs(struct vtp_frame *frame, float *strains, uint8_t *broken,
                               taut_error *error)
{
    struct coverage coverage;
    taut_status status = coverage_make(&coverage, frame->lines)
                             ? TAUT_OK
                             : fail_memory(error, "the pieces of a frame");
    for (size_t i = 0; i < frame->piece_count && status == TAUT_OK; i++) {
        struct vtp_frame *piece = &frame->pieces[i];
        struct values values;
        uint8_t *flags = memory_allocate(NULL, (size_t)piece->lines, 1);
        status = values_make(&values, piece->lines, sizeof *strains) && flags
                     ? read_cell_numbers(piece, piece->verts, piece->lines, frame->verts,
                                         frame->verts + frame->lines, values.numbers, error)
                     : fail_memory(error, "the pieces of a frame");
        if (status == TAUT_OK)
            status = vtp_frame_springs(piece, values.items, flags, error);
        for (uint64_t s = 0; s < piece->lines && status == TAUT_OK; s++)
            broken[values.numbers[s]] = flags[s];
        if (status == TAUT_OK) {
            spread(&values, strains);
            cover(&coverage, &values);
        }
        values_free(&values);
        memory_release(NULL, flags, (size_t)piece->lines, 1);
    }
    if (status == TAUT_OK)
        status = check_coverage(frame, &coverage, "springs", error);
    coverage_free(&coverage);
    return status;
}

taut_status vtp_pieces_triangles(struct vtp_frame *frame, uint32_t (*triangles)[3],
                                 uint32_t *bodies, taut_error *error)
{
    const uint64_t before = frame->verts + frame->lines;
    struct coverage coverage;
    taut_status status = coverage_make(&coverage, frame->polys)
                             ? TAUT_OK
                             : fail_memory(error, "the pieces of a frame");
    for (size_t i = 0; i < frame->piece_count && status == TAUT_OK; i++) {
        struct vtp_frame *piece = &frame->pieces[i];
        struct values values;
        uint64_t *points = memory_allocate(NULL, (size_t)piece->points, sizeof *points);
        uint32_t *owners = memory_allocate(NULL, (size_t)piece->polys, sizeof *owners);
        const bool made = values_make(&values, piece->polys, sizeof *triangles) && points && owners;
        uint32_t(*corners)[3] = values.items;
        status = made ? read_cell_numbers(piece, piece->verts + piece->lines, piece->polys, before,
                                          before + frame->polys, values.numbers, error)
                      : fail_memory(error, "the pieces of a frame");
        if (status == TAUT_OK)
            status = vtp_frame_numbers(piece, VTP_POINT_NUMBERS, 0, piece->points, frame->points,
                                       points, error);
        if (status == TAUT_OK)
            status = vtp_frame_triangles(piece, corners, owners, error);
        for (uint64_t t = 0; t < piece->polys && status == TAUT_OK; t++) {
            for (int corner = 0; corner < 3; corner++)
                corners[t][corner] = (uint32_t)points[corners[t][corner]];
            bodies[values.numbers[t]] = owners[t];
        }
        if (status == TAUT_OK) {
            spread(&values, triangles);
            cover(&coverage, &values);
        }
        values_free(&values);
        memory_release(NULL, points, (size_t)piece->points, sizeof *points);
        memory_release(NULL, owners, (size_t)piece->polys, sizeof *owners);
    }
    if (status == TAUT_OK)
        status = check_coverage(frame, &coverage, "triangles", error);
    coverage_free(&coverage);
    return status;
}
