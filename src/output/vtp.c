// Writes .vtp files (vtp.h): the arrays of all bodies, in blocks that threads compress in parallel.
#include "output/vtp.h"

#include <assert.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define ZLIB_CONST // makes zlib's input pointers const
#include <zlib.h>

#include "base/memory.h"
#include "base/sort.h"
#include "output/file.h"

// ---- Contents

// Where a body begins in each list of the file, or of the whole frame; the array has one more
// element than bodies.
struct start {
    uint64_t points, verts, lines, polys;
};

struct content {
    const struct frame *now;
    const struct vtp_options *options;
    const struct frame_piece *piece; // NULL: the frame is whole
    struct start *starts, *whole;    // both the same of a whole frame
    uint64_t points, verts, lines, polys;
    bool has_cloths;
    bool wide; // indices need 64 bits
    // For each node, the sum of strains over its unbroken springs, and their number.
    double *strain_sums;
    uint32_t *strain_counts;
};

bool vtp_has_triangles(const struct frame_body *body)
{
    return body->face_arity == 3 && body->face_count > 0;
}

bool vtp_has_lines(const struct vtp_options *options, const struct frame_body *body)
{
    bool shown = options->springs || body->springs_change || !vtp_has_triangles(body);
    return shown && body->spring_count > 0;
}

static uint64_t line_count(const struct vtp_options *options, const struct frame_body *body)
{
    return vtp_has_lines(options, body) ? body->spring_count : 0;
}

static uint64_t poly_count(const struct frame_body *body)
{
    return vtp_has_triangles(body) ? body->face_count : 0;
}

// The bodies of the whole frame.
static const struct frame_body *whole_bodies(const struct frame *now)
{
    return now->piece ? now->piece->whole : now->bodies;
}

static bool is_cloth(const struct frame_body *body)
{
    return body->sheet[0] > 0 && body->sheet[1] > 0;
}

static void count_whole(struct content *content)
{
    const struct frame_body *bodies = whole_bodies(content->now);
    struct start end = {0};
    for (size_t b = 0; b < content->now->shape.body_count; b++) {
        const struct frame_body *body = &bodies[b];
        content->whole[b] = end;
        uint64_t lines = line_count(content->options, body), polys = poly_count(body);
        end.points += body->node_count;
        end.lines += lines;
        end.polys += polys;
        end.verts += lines + polys == 0 ? body->node_count : 0;
        content->has_cloths |= is_cloth(body);
    }
    content->whole[content->now->shape.body_count] = end;
}

static void count_piece(struct content *content)
{
    const struct frame *now = content->now;
    struct start end = {0};
    for (size_t b = 0; b < now->shape.body_count; b++) {
        const struct frame_body *body = &now->piece->whole[b];
        const struct frame_piece_body *part = &now->piece->bodies[b];
        content->starts[b] = end;
        end.points += now->bodies[b].node_count;
        end.lines += part[1].first_line - part->first_line;
        end.polys += now->bodies[b].face_count;
        end.verts +=
            line_count(content->options, body) + poly_count(body) == 0 ? part->own_nodes : 0;
    }
    content->starts[now->shape.body_count] = end;
}

static taut_status count(const struct frame *now, const struct vtp_options *options,
                         struct content *content, taut_error *error)
{
    const size_t bodies = now->shape.body_count;
    *content = (struct content){.now = now, .options = options, .piece = now->piece};
    content->starts = calloc(2 * (bodies + 1), sizeof *content->starts);
    if (!content->starts)
        return fail_memory(error, "a frame");
    content->whole = now->piece ? content->starts + bodies + 1 : content->starts;
    count_whole(content);
    if (now->piece)
        count_piece(content);
    const struct start end = content->starts[bodies];
    content->points = end.points;
    content->verts = end.verts;
    content->lines = end.lines;
    content->polys = end.polys;
    content->wide =
        end.points > INT32_MAX || 2 * end.lines > INT32_MAX || 3 * end.polys > INT32_MAX;
    return TAUT_OK;
}

static void gather_strains(const struct content *content)
{
    const struct frame *now = content->now;
    const bool has_strains = frame_has(now, FRAME_STRAINS);
    const bool has_broken = frame_has(now, FRAME_BROKEN);
    memset(content->strain_sums, 0, content->points * sizeof *content->strain_sums);
    memset(content->strain_counts, 0, content->points * sizeof *content->strain_counts);
    for (size_t b = 0; b < now->shape.body_count; b++) {
        const struct frame_body *body = &now->bodies[b];
        double *sums = content->strain_sums + content->starts[b].points;
        uint32_t *counts = content->strain_counts + content->starts[b].points;
        for (uint64_t i = 0; has_strains && i < body->spring_count; i++) {
            if (has_broken && now->broken[body->first_spring + i])
                continue;
            for (int end = 0; end < 2; end++) {
                const uint32_t node = body->springs[i][end];
                if (node == FRAME_OUTSIDE)
                    continue;
                sums[node] += now->strains[body->first_spring + i];
                counts[node]++;
            }
        }
    }
}

// ---- Values, filled in units: all values of one point or one cell.

static unsigned char *put_32(unsigned char *out, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        out[i] = (unsigned char)(value >> (8 * i));
    return out + 4;
}

static unsigned char *put_64(unsigned char *out, uint64_t value)
{
    for (int i = 0; i < 8; i++)
        out[i] = (unsigned char)(value >> (8 * i));
    return out + 8;
}

static unsigned char *put_float(unsigned char *out, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return put_32(out, bits);
}

static unsigned char *put_real(unsigned char *out, const struct content *content, double value)
{
    if (content->now->single)
        return put_float(out, (float)value);
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return put_64(out, bits);
}

static unsigned char *put_index(unsigned char *out, const struct content *content, uint64_t value)
{
    return content->wide ? put_64(out, value) : put_32(out, (uint32_t)value);
}

// Part of a range of units of a list, within one body.
struct walk {
    size_t body;
    uint64_t first, end; // within the body
};

enum list { LIST_POINTS, LIST_VERTS, LIST_LINES, LIST_POLYS };

static const uint64_t *list_starts(const struct content *content, enum list list)
{
    const struct start *starts = content->starts;
    switch (list) {
    case LIST_POINTS:
        return &starts->points;
    case LIST_VERTS:
        return &starts->verts;
    case LIST_LINES:
        return &starts->lines;
    case LIST_POLYS:
        break;
    }
    return &starts->polys;
}

static uint64_t list_start(const struct content *content, enum list list, size_t body)
{
    return *(const uint64_t *)((const char *)list_starts(content, list) +
                               body * sizeof(struct start));
}

// The next part of units [*first, end); false at the end.
static bool next_part(const struct content *content, enum list list, uint64_t *first, uint64_t end,
                      struct walk *walk)
{
    if (*first >= end)
        return false;
    walk->body = find_interval(list_starts(content, list), sizeof(struct start),
                               content->now->shape.body_count, *first);
    uint64_t start = list_start(content, list, walk->body);
    uint64_t next = list_start(content, list, walk->body + 1);
    walk->first = *first - start;
    walk->end = (next < end ? next : end) - start;
    *first = start + walk->end;
    return true;
}

static void fill_vectors(const struct content *content, uint64_t first, uint64_t end,
                         unsigned char *out, const double *vectors)
{
    struct walk walk;
    while (next_part(content, LIST_POINTS, &first, end, &walk)) {
        const double *values = vectors + 3 * content->now->bodies[walk.body].first_node;
        for (uint64_t i = 3 * walk.first; i < 3 * walk.end; i++)
            out = put_real(out, content, values[i]);
    }
}

static void fill_positions(const struct content *content, uint64_t first, uint64_t end,
                           unsigned char *out)
{
    fill_vectors(content, first, end, out, content->now->positions);
}

static void fill_velocities(const struct content *content, uint64_t first, uint64_t end,
                            unsigned char *out)
{
    fill_vectors(content, first, end, out, content->now->velocities);
}

static void fill_forces(const struct content *content, uint64_t first, uint64_t end,
                        unsigned char *out)
{
    fill_vectors(content, first, end, out, content->now->forces);
}

static void fill_node_strains(const struct content *content, uint64_t first, uint64_t end,
                              unsigned char *out)
{
    for (uint64_t i = first; i < end; i++) {
        uint32_t springs = content->strain_counts[i];
        out = put_real(out, content, springs ? content->strain_sums[i] / springs : 0);
    }
}

static void fill_point_bodies(const struct content *content, uint64_t first, uint64_t end,
                              unsigned char *out)
{
    struct walk walk;
    while (next_part(content, LIST_POINTS, &first, end, &walk))
        for (uint64_t i = walk.first; i < walk.end; i++)
            out = put_32(out, (uint32_t)walk.body);
}

// The number of a point of a body among the nodes of the body in the whole frame.
static uint64_t number_in_body(const struct content *content, size_t body, uint64_t point)
{
    const struct frame_piece *piece = content->piece;
    return piece
               ? piece->nodes[content->starts[body].points + point] - piece->whole[body].first_node
               : point;
}

static float fraction(uint64_t number, uint64_t nodes)
{
    return nodes > 1 ? (float)((double)number / (double)(nodes - 1)) : 0;
}

static void fill_texture(const struct content *content, uint64_t first, uint64_t end,
                         unsigned char *out)
{
    struct walk walk;
    while (next_part(content, LIST_POINTS, &first, end, &walk)) {
        const struct frame_body *body = &content->now->bodies[walk.body];
        for (uint64_t i = walk.first; i < walk.end; i++) {
            bool cloth = is_cloth(body);
            const uint64_t node = number_in_body(content, walk.body, i);
            out = put_float(out, cloth ? fraction(node % body->sheet[0], body->sheet[0]) : 0);
            out = put_float(out, cloth ? fraction(node / body->sheet[0], body->sheet[1]) : 0);
        }
    }
}

static void fill_point_numbers(const struct content *content, uint64_t first, uint64_t end,
                               unsigned char *out)
{
    for (uint64_t i = first; i < end; i++)
        out = put_64(out, content->piece->nodes[i]);
}

// VTK's mark of points that another piece has as its own.
static void fill_ghosts(const struct content *content, uint64_t first, uint64_t end,
                        unsigned char *out)
{
    enum { DUPLICATE_POINT = 1 };
    struct walk walk;
    while (next_part(content, LIST_POINTS, &first, end, &walk))
        for (uint64_t i = walk.first; i < walk.end; i++)
            *out++ = i < content->piece->bodies[walk.body].own_nodes ? 0 : DUPLICATE_POINT;
}

static void fill_verts(const struct content *content, uint64_t first, uint64_t end,
                       unsigned char *out)
{
    struct walk walk;
    while (next_part(content, LIST_VERTS, &first, end, &walk))
        for (uint64_t i = walk.first; i < walk.end; i++)
            out = put_index(out, content, content->starts[walk.body].points + i);
}

// The spring, among those of the frame, of a line of a body.
static uint64_t spring_of_line(const struct content *content, size_t body, uint64_t line)
{
    const struct frame_piece *piece = content->piece;
    return piece ? piece->lines[piece->bodies[body].first_line + line].spring
                 : content->now->bodies[body].first_spring + line;
}

static void fill_lines(const struct content *content, uint64_t first, uint64_t end,
                       unsigned char *out)
{
    struct walk walk;
    while (next_part(content, LIST_LINES, &first, end, &walk)) {
        const struct frame_body *body = &content->now->bodies[walk.body];
        uint64_t base = content->starts[walk.body].points;
        for (uint64_t i = walk.first; i < walk.end; i++) {
            const uint64_t spring = spring_of_line(content, walk.body, i);
            const uint32_t *ends = body->springs[spring - body->first_spring];
            out = put_index(out, content, base + ends[0]);
            out = put_index(out, content, base + ends[1]);
        }
    }
}

static void fill_polys(const struct content *content, uint64_t first, uint64_t end,
                       unsigned char *out)
{
    struct walk walk;
    while (next_part(content, LIST_POLYS, &first, end, &walk)) {
        const uint32_t *faces = content->now->bodies[walk.body].faces;
        uint64_t base = content->starts[walk.body].points;
        for (uint64_t i = 3 * walk.first; i < 3 * walk.end; i++)
            out = put_index(out, content, base + faces[i]);
    }
}

// For each cell, VTK stores the index at which the points of the next cell begin.
static void fill_offsets_1(const struct content *content, uint64_t first, uint64_t end,
                           unsigned char *out)
{
    for (uint64_t i = first; i < end; i++)
        out = put_index(out, content, i + 1);
}

static void fill_offsets_2(const struct content *content, uint64_t first, uint64_t end,
                           unsigned char *out)
{
    for (uint64_t i = first; i < end; i++)
        out = put_index(out, content, 2 * (i + 1));
}

static void fill_offsets_3(const struct content *content, uint64_t first, uint64_t end,
                           unsigned char *out)
{
    for (uint64_t i = first; i < end; i++)
        out = put_index(out, content, 3 * (i + 1));
}

// Cells [first, end) split into the three lists.
struct cells {
    uint64_t verts, first_line, end_line, first_poly, end_poly;
};

static uint64_t clamp_to(uint64_t cell, uint64_t start, uint64_t count)
{
    return cell <= start ? 0 : cell - start < count ? cell - start : count;
}

static struct cells split_cells(const struct content *content, uint64_t first, uint64_t end)
{
    uint64_t lines = content->verts, polys = lines + content->lines;
    return (struct cells){
        .verts = clamp_to(end, 0, content->verts) - clamp_to(first, 0, content->verts),
        .first_line = clamp_to(first, lines, content->lines),
        .end_line = clamp_to(end, lines, content->lines),
        .first_poly = clamp_to(first, polys, content->polys),
        .end_poly = clamp_to(end, polys, content->polys),
    };
}

static double strain_of_face(const struct content *content, size_t body, uint64_t face)
{
    const uint32_t *corners = content->now->bodies[body].faces + 3 * face;
    uint64_t base = content->starts[body].points, springs = 0;
    double sum = 0;
    for (int i = 0; i < 3; i++) {
        sum += content->strain_sums[base + corners[i]];
        springs += content->strain_counts[base + corners[i]];
    }
    return springs ? sum / (double)springs : 0;
}

static void fill_cell_strains(const struct content *content, uint64_t first, uint64_t end,
                              unsigned char *out)
{
    struct cells cells = split_cells(content, first, end);
    struct walk walk;
    for (uint64_t i = 0; i < cells.verts; i++)
        out = put_real(out, content, 0);
    while (next_part(content, LIST_LINES, &cells.first_line, cells.end_line, &walk)) {
        for (uint64_t i = walk.first; i < walk.end; i++)
            out = put_real(out, content,
                           content->now->strains[spring_of_line(content, walk.body, i)]);
    }
    while (next_part(content, LIST_POLYS, &cells.first_poly, cells.end_poly, &walk))
        for (uint64_t i = walk.first; i < walk.end; i++)
            out = put_real(out, content, strain_of_face(content, walk.body, i));
}

static void fill_cell_bodies(const struct content *content, uint64_t first, uint64_t end,
                             unsigned char *out)
{
    struct cells cells = split_cells(content, first, end);
    uint64_t first_vert = clamp_to(first, 0, content->verts), end_vert = first_vert + cells.verts;
    const struct {
        enum list list;
        uint64_t first, end;
    } parts[] = {{LIST_VERTS, first_vert, end_vert},
                 {LIST_LINES, cells.first_line, cells.end_line},
                 {LIST_POLYS, cells.first_poly, cells.end_poly}};
    for (int part = 0; part < 3; part++) {
        struct walk walk;
        uint64_t at = parts[part].first;
        while (next_part(content, parts[part].list, &at, parts[part].end, &walk))
            for (uint64_t i = walk.first; i < walk.end; i++)
                out = put_32(out, (uint32_t)walk.body);
    }
}

static void fill_broken(const struct content *content, uint64_t first, uint64_t end,
                        unsigned char *out)
{
    const struct frame *now = content->now;
    const bool has_broken = frame_has(now, FRAME_BROKEN);
    struct cells cells = split_cells(content, first, end);
    struct walk walk;
    memset(out, 0, end - first);
    out += cells.verts;
    while (next_part(content, LIST_LINES, &cells.first_line, cells.end_line, &walk)) {
        for (uint64_t i = walk.first; i < walk.end; i++)
            *out++ = has_broken && now->broken[spring_of_line(content, walk.body, i)];
    }
}

// The numbers of cells in the whole frame, of a piece.
static void fill_cell_numbers(const struct content *content, uint64_t first, uint64_t end,
                              unsigned char *out)
{
    const struct frame_piece *piece = content->piece;
    const struct start *all = &content->whole[content->now->shape.body_count];
    struct cells cells = split_cells(content, first, end);
    uint64_t first_vert = clamp_to(first, 0, content->verts), end_vert = first_vert + cells.verts;
    struct walk walk;
    while (next_part(content, LIST_VERTS, &first_vert, end_vert, &walk))
        for (uint64_t i = walk.first; i < walk.end; i++)
            out = put_64(out,
                         content->whole[walk.body].verts + number_in_body(content, walk.body, i));
    while (next_part(content, LIST_LINES, &cells.first_line, cells.end_line, &walk)) {
        const struct frame_line_number *lines = piece->lines + piece->bodies[walk.body].first_line;
        for (uint64_t i = walk.first; i < walk.end; i++)
            out = put_64(out, all->verts + content->whole[walk.body].lines + lines[i].number);
    }
    while (next_part(content, LIST_POLYS, &cells.first_poly, cells.end_poly, &walk)) {
        const uint64_t *faces = piece->faces + piece->bodies[walk.body].first_face;
        for (uint64_t i = walk.first; i < walk.end; i++)
            out = put_64(out, all->verts + all->lines + content->whole[walk.body].polys + faces[i]);
    }
}

// ---- The arrays

static uint64_t count_points(const struct content *content)
{
    return content->points;
}

static uint64_t count_cells(const struct content *content)
{
    return content->verts + content->lines + content->polys;
}

static uint64_t count_verts(const struct content *content)
{
    return content->verts;
}

static uint64_t count_lines(const struct content *content)
{
    return content->lines;
}

static uint64_t count_polys(const struct content *content)
{
    return content->polys;
}

enum type { TYPE_REAL, TYPE_FLOAT, TYPE_INDEX, TYPE_INT32, TYPE_INT64, TYPE_UINT8 };

enum condition { ALWAYS, WITH_FORCES, WITH_CLOTHS, WITH_LINES, IN_PIECES };

struct array {
    const char *section, *name;
    enum type type;
    int components, values; // per tuple of VTK, and per unit
    bool constant;          // the same in all frames
    enum condition condition;
    uint64_t (*units)(const struct content *content);
    void (*fill)(const struct content *content, uint64_t first, uint64_t end, unsigned char *out);
};

// In the order of the file; arrays of the same section are adjacent.
static const struct array arrays[] = {
    {"PointData", "velocity", TYPE_REAL, 3, 3, false, ALWAYS, count_points, fill_velocities},
    {"PointData", "strain", TYPE_REAL, 1, 1, false, ALWAYS, count_points, fill_node_strains},
    {"PointData", "body", TYPE_INT32, 1, 1, true, ALWAYS, count_points, fill_point_bodies},
    {"PointData", "force", TYPE_REAL, 3, 3, false, WITH_FORCES, count_points, fill_forces},
    {"PointData", "TextureCoordinates", TYPE_FLOAT, 2, 2, true, WITH_CLOTHS, count_points,
     fill_texture},
    {"PointData", "GlobalPointIds", TYPE_INT64, 1, 1, true, IN_PIECES, count_points,
     fill_point_numbers},
    {"PointData", "vtkGhostType", TYPE_UINT8, 1, 1, true, IN_PIECES, count_points, fill_ghosts},
    {"CellData", "body", TYPE_INT32, 1, 1, true, ALWAYS, count_cells, fill_cell_bodies},
    {"CellData", "strain", TYPE_REAL, 1, 1, false, WITH_LINES, count_cells, fill_cell_strains},
    {"CellData", "broken", TYPE_UINT8, 1, 1, false, WITH_LINES, count_cells, fill_broken},
    {"CellData", "GlobalCellIds", TYPE_INT64, 1, 1, true, IN_PIECES, count_cells,
     fill_cell_numbers},
    {"Points", "Points", TYPE_REAL, 3, 3, false, ALWAYS, count_points, fill_positions},
    {"Verts", "connectivity", TYPE_INDEX, 1, 1, true, ALWAYS, count_verts, fill_verts},
    {"Verts", "offsets", TYPE_INDEX, 1, 1, true, ALWAYS, count_verts, fill_offsets_1},
    {"Lines", "connectivity", TYPE_INDEX, 1, 2, true, ALWAYS, count_lines, fill_lines},
    {"Lines", "offsets", TYPE_INDEX, 1, 1, true, ALWAYS, count_lines, fill_offsets_2},
    {"Polys", "connectivity", TYPE_INDEX, 1, 3, true, ALWAYS, count_polys, fill_polys},
    {"Polys", "offsets", TYPE_INDEX, 1, 1, true, ALWAYS, count_polys, fill_offsets_3},
};

enum { ARRAY_COUNT = sizeof arrays / sizeof arrays[0] };

static bool is_present(const struct array *array, const struct content *content)
{
    switch (array->condition) {
    case ALWAYS:
        break;
    case WITH_FORCES:
        return content->options->forces;
    case WITH_CLOTHS:
        return content->has_cloths;
    case WITH_LINES: // of the whole frame: all pieces have the same arrays
        return content->whole[content->now->shape.body_count].lines > 0;
    case IN_PIECES:
        return content->piece;
    }
    return true;
}

static const char *type_name(const struct array *array, const struct content *content)
{
    switch (array->type) {
    case TYPE_REAL:
        return content->now->single ? "Float32" : "Float64";
    case TYPE_FLOAT:
        return "Float32";
    case TYPE_INDEX:
        return content->wide ? "Int64" : "Int32";
    case TYPE_INT32:
        return "Int32";
    case TYPE_INT64:
        return "Int64";
    case TYPE_UINT8:
        break;
    }
    return "UInt8";
}

static size_t unit_bytes(const struct array *array, const struct content *content)
{
    size_t value = 4;
    if (array->type == TYPE_UINT8)
        value = 1;
    else if ((array->type == TYPE_REAL && !content->now->single) ||
             (array->type == TYPE_INDEX && content->wide) || array->type == TYPE_INT64)
        value = 8;
    return value * (size_t)array->values;
}

// ---- Compression

// The compressed blocks of an array with the header that VTK requires before them, kept for later
// frames.
struct cached_array {
    unsigned char *bytes;
    size_t length;
    uint64_t units; // units of the array that was compressed
};

enum {
    BATCH = 64,              // blocks compressed in parallel
    CACHE_BYTES = 256 << 20, // for all arrays together
    SAMPLE = 16 * 1024,
};

struct block {
    const struct array *array;
    uint64_t first, end; // units
    unsigned char *out;
    size_t length;
};

struct vtp_writer {
    struct vtp_options options;
    struct cached_array cache[ARRAY_COUNT];
    size_t cached_bytes;
    unsigned char *scratch; // output of a batch
    size_t bound;           // largest size of a compressed block
};

struct batch {
    const struct content *content;
    struct block blocks[BATCH];
    size_t count;
    atomic_bool failed;
};

// Always level 1: higher levels gain nothing on indices and still less on numbers
// (docs/performance.md has the figures).
static size_t deflate_bytes(const unsigned char *bytes, size_t count, int strategy,
                            unsigned char *out, size_t capacity)
{
    z_stream stream = {0};
    if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, MAX_WBITS, MAX_MEM_LEVEL, strategy) != Z_OK)
        return 0;
    stream.next_in = bytes;
    stream.avail_in = (uInt)count;
    stream.next_out = out;
    stream.avail_out = (uInt)capacity;
    bool done = deflate(&stream, Z_FINISH) == Z_STREAM_END;
    size_t length = stream.total_out;
    (void)deflateEnd(&stream);
    return done ? length : 0;
}

// In arrays of varying numbers zlib finds hardly any repetition and spends most of its time on the
// search; then only Huffman coding is used. A sample decides.
static int choose_strategy(const struct array *array, const unsigned char *bytes, size_t count,
                           unsigned char *out, size_t capacity)
{
    if (array->type != TYPE_REAL || count < 2 * SAMPLE)
        return Z_DEFAULT_STRATEGY;
    const unsigned char *sample = bytes + (count / 2 / SAMPLE) * SAMPLE;
    size_t plain = deflate_bytes(sample, SAMPLE, Z_HUFFMAN_ONLY, out, capacity);
    size_t searched = deflate_bytes(sample, SAMPLE, Z_DEFAULT_STRATEGY, out, capacity);
    return searched + searched / 16 < plain ? Z_DEFAULT_STRATEGY : Z_HUFFMAN_ONLY;
}

static void compress_batch(void *context, const struct worker *worker)
{
    struct batch *batch = context;
    size_t bound = compressBound(VTP_BLOCK_BYTES);
    unsigned char *values = malloc(VTP_BLOCK_BYTES);
    if (!values)
        atomic_store(&batch->failed, true);
    struct range range;
    while (worker_claim(worker, batch->count, 1, &range)) {
        struct block *block = &batch->blocks[range.first];
        if (!values)
            continue;
        size_t count =
            (size_t)(block->end - block->first) * unit_bytes(block->array, batch->content);
        block->array->fill(batch->content, block->first, block->end, values);
        int strategy = choose_strategy(block->array, values, count, block->out, bound);
        block->length = deflate_bytes(values, count, strategy, block->out, bound);
        if (block->length == 0)
            atomic_store(&batch->failed, true);
    }
    free(values);
}

static taut_status compress_blocks(const struct vtp_writer *writer, struct batch *batch,
                                   taut_error *error)
{
    if (writer->options.work)
        writer->options.work(writer->options.owner, compress_batch, batch);
    else
        team_work(NULL, compress_batch, batch);
    return atomic_load(&batch->failed) ? fail_memory(error, "a frame's compression") : TAUT_OK;
}

// ---- The file

// A block consists of whole units.
static uint64_t units_of_block(size_t bytes)
{
    return VTP_BLOCK_BYTES / bytes;
}

static void cache_block(struct cached_array *cached, const unsigned char *bytes, size_t length)
{
    if (!cached->bytes)
        return;
    memcpy(cached->bytes + cached->length, bytes, length);
    cached->length += length;
}

// Allocates the cache of a constant array; without memory the array is compressed again for each
// frame.
static void begin_caching(struct vtp_writer *writer, struct cached_array *cached, uint64_t units,
                          size_t header, uint64_t raw)
{
    uint64_t most = header + raw + raw / 1000 + (raw / VTP_BLOCK_BYTES + 1) * 64;
    if (writer->cached_bytes + most > CACHE_BYTES)
        return;
    cached->bytes = malloc((size_t)most);
    cached->length = header;
    cached->units = units;
}

static void end_caching(struct vtp_writer *writer, struct cached_array *cached,
                        const unsigned char *header, size_t header_bytes, taut_status status)
{
    if (!cached->bytes)
        return;
    unsigned char *fitting = status == TAUT_OK ? realloc(cached->bytes, cached->length) : NULL;
    if (!fitting) {
        free(cached->bytes);
        *cached = (struct cached_array){0};
        return;
    }
    cached->bytes = fitting;
    memcpy(cached->bytes, header, header_bytes);
    writer->cached_bytes += cached->length;
}

// The header: the number of blocks, the bytes of a block before compression, those of the last
// block if it is shorter, and the compressed bytes of each block.
static taut_status write_blocks(struct vtp_writer *writer, struct file *file,
                                const struct content *content, size_t index, taut_error *error)
{
    const struct array *array = &arrays[index];
    struct cached_array *cached = &writer->cache[index];
    size_t bytes = unit_bytes(array, content);
    uint64_t units = array->units(content), step = units_of_block(bytes);
    uint64_t blocks = (units + step - 1) / step;
    size_t header_bytes = (size_t)(3 + blocks) * 8;

    // Space for the header; the compressed sizes are written at the end.
    unsigned char *header = calloc(3 + (size_t)blocks, 8);
    if (!header)
        return fail_memory(error, "a frame");
    put_64(header, blocks);
    put_64(header + 8, step * bytes);
    put_64(header + 16, units % step * bytes);

    uint64_t start = file_length(file);
    file_write(file, header, header_bytes);
    if (array->constant)
        begin_caching(writer, cached, units, header_bytes, units * bytes);

    taut_status status = TAUT_OK;
    struct batch batch = {.content = content};
    for (uint64_t done = 0; done < blocks && status == TAUT_OK && !file->failure;
         done += batch.count) {
        batch.count = blocks - done < BATCH ? (size_t)(blocks - done) : BATCH;
        for (size_t i = 0; i < batch.count; i++) {
            uint64_t first = (done + i) * step, end = first + step;
            batch.blocks[i] = (struct block){array, first, end < units ? end : units,
                                             writer->scratch + i * writer->bound, 0};
        }
        status = compress_blocks(writer, &batch, error);
        for (size_t i = 0; i < batch.count && status == TAUT_OK; i++) {
            put_64(header + 8 * (size_t)(3 + done + i), batch.blocks[i].length);
            file_write(file, batch.blocks[i].out, batch.blocks[i].length);
            cache_block(cached, batch.blocks[i].out, batch.blocks[i].length);
        }
    }

    if (status == TAUT_OK && !file->failure)
        file_patch(file, start, header, header_bytes);
    end_caching(writer, cached, header, header_bytes, status);
    free(header);
    return status;
}

static taut_status write_array(struct vtp_writer *writer, struct file *file,
                               const struct content *content, size_t index, taut_error *error)
{
    struct cached_array *cached = &writer->cache[index];
    if (cached->bytes && cached->units == arrays[index].units(content)) {
        file_write(file, cached->bytes, cached->length);
        return TAUT_OK;
    }
    if (cached->bytes)
        writer->cached_bytes -= cached->length;
    free(cached->bytes);
    *cached = (struct cached_array){0};
    return write_blocks(writer, file, content, index, error);
}

// Writes the time and the names of the bodies. VTK encodes a string as its character codes and a 0.
static void write_field_data(struct file *file, const struct content *content)
{
    const struct frame *now = content->now;
    file_print(file, "    <FieldData>\n      <DataArray type=\"Float64\" Name=\"TimeValue\" "
                     "NumberOfTuples=\"1\" format=\"ascii\">");
    file_number(file, now->time, 17);
    file_print(file,
               "</DataArray>\n      <Array type=\"String\" Name=\"body_names\" "
               "NumberOfTuples=\"%zu\" format=\"ascii\">\n",
               now->shape.body_count);
    for (size_t b = 0; b < now->shape.body_count; b++) {
        for (const char *c = now->bodies[b].name; *c; c++)
            file_print(file, "%d ", (unsigned char)*c);
        file_print(file, "0\n");
    }
    file_print(file,
               "      </Array>\n      <DataArray type=\"UInt8\" Name=\"body_springs\" "
               "NumberOfTuples=\"%zu\" format=\"ascii\">\n",
               now->shape.body_count);
    for (size_t b = 0; b < now->shape.body_count; b++)
        file_print(file, "%d\n", line_count(content->options, &whole_bodies(now)[b]) > 0);
    file_print(file, "      </DataArray>\n");
    if (content->piece) {
        const struct start *all = &content->whole[now->shape.body_count];
        file_print(file,
                   "      <DataArray type=\"UInt64\" Name=\"whole_counts\" NumberOfTuples=\"4\" "
                   "format=\"ascii\">%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "</DataArray>\n",
                   all->points, all->verts, all->lines, all->polys);
    }
    file_print(file, "    </FieldData>\n");
}

// Space for any offset, padded with blanks.
enum { OFFSET_WIDTH = 21 };

// The attributes by which VTK finds the arrays of texture coordinates and of numbers.
static const char *attributes_of(const char *section, const struct content *content)
{
    const bool points = strcmp(section, "PointData") == 0;
    if (content->piece && strcmp(section, "CellData") == 0)
        return " GlobalIds=\"GlobalCellIds\"";
    if (content->piece && points)
        return content->has_cloths ? " TCoords=\"TextureCoordinates\" GlobalIds=\"GlobalPointIds\""
                                   : " GlobalIds=\"GlobalPointIds\"";
    return points && content->has_cloths ? " TCoords=\"TextureCoordinates\"" : "";
}

// VTK has a type of its own for numbers of points and cells.
static const char *id_of(const struct array *array)
{
    return array->type == TYPE_INT64 ? " IdType=\"1\"" : "";
}

// offsets[i] is the position at which the offset of array i is to be written.
static void write_header(struct file *file, const struct content *content,
                         uint64_t offsets[ARRAY_COUNT])
{
    file_print(file, "<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" version=\"1.0\" "
                     "byte_order=\"LittleEndian\" header_type=\"UInt64\" "
                     "compressor=\"vtkZLibDataCompressor\">\n  <PolyData>\n");
    write_field_data(file, content);
    file_print(file,
               "    <Piece NumberOfPoints=\"%" PRIu64 "\" NumberOfVerts=\"%" PRIu64
               "\" NumberOfLines=\"%" PRIu64 "\" NumberOfStrips=\"0\" NumberOfPolys=\"%" PRIu64
               "\">\n",
               content->points, content->verts, content->lines, content->polys);
    const char *section = NULL;
    for (size_t i = 0; i < ARRAY_COUNT; i++) {
        const struct array *array = &arrays[i];
        if (!is_present(array, content))
            continue;
        if (!section || strcmp(section, array->section) != 0) {
            if (section)
                file_print(file, "      </%s>\n", section);
            section = array->section;
            file_print(file, "      <%s%s>\n", section, attributes_of(section, content));
        }
        file_print(file,
                   "        <DataArray type=\"%s\"%s Name=\"%s\" NumberOfComponents=\"%d\" "
                   "format=\"appended\" offset=\"",
                   type_name(array, content), id_of(array), array->name, array->components);
        offsets[i] = file_length(file);
        file_print(file, "%*s/>\n", OFFSET_WIDTH, "");
    }
    file_print(file, "      </%s>\n    </Piece>\n  </PolyData>\n", section);
}

static taut_status write_all(struct vtp_writer *writer, struct file *file,
                             const struct content *content, taut_error *error)
{
    uint64_t offsets[ARRAY_COUNT] = {0};
    write_header(file, content, offsets);
    file_print(file, "  <AppendedData encoding=\"raw\">\n   _");
    uint64_t data = file_length(file);
    taut_status status = TAUT_OK;
    for (size_t i = 0; i < ARRAY_COUNT && status == TAUT_OK && !file->failure; i++) {
        if (!is_present(&arrays[i], content))
            continue;
        char text[OFFSET_WIDTH + 1];
        int length = snprintf(text, sizeof text, "%" PRIu64 "\"", file_length(file) - data);
        file_patch(file, offsets[i], text, (size_t)length);
        status = write_array(writer, file, content, i, error);
    }
    file_print(file, "\n  </AppendedData>\n</VTKFile>\n");
    return status;
}

taut_status vtp_writer_make(const struct vtp_options *options, struct vtp_writer **writer,
                            taut_error *error)
{
    *writer = calloc(1, sizeof **writer);
    if (!*writer)
        return fail_memory(error, "the frames");
    if (options)
        (*writer)->options = *options;
    (*writer)->bound = compressBound(VTP_BLOCK_BYTES);
    (*writer)->scratch = malloc(BATCH * (*writer)->bound);
    if ((*writer)->scratch)
        return TAUT_OK;
    vtp_writer_free(*writer);
    *writer = NULL;
    return fail_memory(error, "the frames");
}

void vtp_writer_free(struct vtp_writer *writer)
{
    if (!writer)
        return;
    for (size_t i = 0; i < ARRAY_COUNT; i++)
        free(writer->cache[i].bytes);
    free(writer->scratch);
    free(writer);
}

taut_status vtp_writer_frame(struct vtp_writer *writer, const char *path, const struct frame *now,
                             taut_error *error)
{
    struct content content;
    struct file file = {0};
    taut_status status = count(now, &writer->options, &content, error);
    if (status != TAUT_OK)
        return status;
    content.strain_sums = memory_allocate(NULL, content.points, sizeof *content.strain_sums);
    content.strain_counts = memory_allocate(NULL, content.points, sizeof *content.strain_counts);
    if (!content.strain_sums || !content.strain_counts)
        status = fail_memory(error, "the strains of nodes");
    else
        status = file_create_new(&file, path, error);
    if (status == TAUT_OK) {
        gather_strains(&content);
        status = write_all(writer, &file, &content, error);
        if (status == TAUT_OK)
            status = file_commit(&file, error);
        else
            file_abandon(&file);
    }
    memory_release(NULL, content.strain_sums, content.points, sizeof *content.strain_sums);
    memory_release(NULL, content.strain_counts, content.points, sizeof *content.strain_counts);
    free(content.starts);
    return status;
}

// The arrays of the sections of points and cells, which all pieces have.
static void write_piece_arrays(struct file *file, const struct content *content)
{
    const char *section = NULL;
    for (size_t i = 0; i < ARRAY_COUNT && arrays[i].units != count_verts; i++) {
        const struct array *array = &arrays[i];
        if (!is_present(array, content))
            continue;
        if (!section || strcmp(section, array->section) != 0) {
            if (section)
                file_print(file, "    </P%s>\n", section);
            section = array->section;
            file_print(file, "    <P%s%s>\n", section, attributes_of(section, content));
        }
        file_print(file,
                   "      <PDataArray type=\"%s\"%s Name=\"%s\" NumberOfComponents=\"%d\"/>\n",
                   type_name(array, content), id_of(array), array->name, array->components);
    }
    file_print(file, "    </P%s>\n", section);
}

void vtp_piece_ending(int rank, char ending[VTP_PIECE_ENDING])
{
    snprintf(ending, VTP_PIECE_ENDING, "_%04d.vtp", rank);
}

taut_status vtp_write_pieces(const char *path, const struct frame *piece,
                             const struct vtp_options *options, const char *const *names,
                             size_t names_count, taut_error *error)
{
    struct content content;
    struct file file = {0};
    taut_status status = count(piece, options, &content, error);
    if (status == TAUT_OK)
        status = file_create_new(&file, path, error);
    if (status == TAUT_OK) {
        file_print(&file, VTP_PIECES_HEADER);
        file_print(&file, "    <FieldData>\n      <DataArray type=\"Float64\" Name=\"TimeValue\" "
                          "NumberOfTuples=\"1\" format=\"ascii\">");
        file_number(&file, piece->time, 17);
        file_print(&file, "</DataArray>\n    </FieldData>\n");
        write_piece_arrays(&file, &content);
        for (size_t i = 0; i < names_count; i++) {
            file_print(&file, "    <Piece Source=\"");
            file_print_escaped(&file, names[i]);
            file_print(&file, "\"/>\n");
        }
        file_print(&file, "  </PPolyData>\n</VTKFile>\n");
        status = file_commit(&file, error);
    }
    free(content.starts);
    return status;
}

taut_status vtp_write(const char *path, const struct frame *now, const struct vtp_options *options,
                      taut_error *error)
{
    struct vtp_writer *writer;
    taut_status status = vtp_writer_make(options, &writer, error);
    if (status != TAUT_OK)
        return status;
    status = vtp_writer_frame(writer, path, now, error);
    vtp_writer_free(writer);
    return status;
}
