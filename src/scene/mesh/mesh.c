// Reads mesh files: chooses the reader, and has what all formats share: the text, the draft and the
// triangulation of its polygons. The formats are read by asc.c, obj.c, ply.c and stl.c; holes and
// orientation of the surface are left to orient.c.
#include "scene/mesh/mesh_reader.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "base/os.h"
#include "base/text.h"
#include "scene/text/number.h"

// ---- Text

// The beginning of the text, after a byte order mark.
static const char *text_start(const struct mesh_text *text)
{
    return text->data + text_byte_order_mark(text->data, (size_t)(text->end - text->data));
}

void text_begin(struct mesh_text *text, const char *path, const char *data, size_t size,
                struct diagnostics *diagnostics)
{
    *text = (struct mesh_text){.path = path,
                               .data = data,
                               .end = data + size,
                               .loaded = data + size,
                               .diagnostics = diagnostics};
    text->at = text_start(text);
}

// ---- Text: chunks

enum { CHUNK = 1 << 20 };

// The end of the last line that begins or continues behind byte `from` of the text, and that no
// other line continues; NULL if there is none. Lone \r are passed over: the \n after one may be in
// the next chunk.
static const char *last_line(const struct mesh_text *text, size_t from)
{
    for (const char *at = text->data + text->read; at > text->data + from; --at) {
        if (at[-1] != '\n')
            continue;
        const char *before = at - 1 > text->data && at[-2] == '\r' ? at - 2 : at - 1;
        if (before == text->data || before[-1] != '\\')
            return at;
    }
    return NULL;
}

static bool read_chunk(struct mesh_text *text, size_t most)
{
    const size_t left = (size_t)(text->end - text->data) - text->read;
    const size_t wanted = left < most ? left : most;
    const size_t got = fread(text->bytes + text->read, 1, wanted, text->file);
    text->read += got;
    if (got == wanted)
        return true;
    text_report(text, NULL, "cannot read the mesh: %s",
                ferror(text->file) ? strerror(errno) : "the file became shorter meanwhile");
    text->at = text->loaded = text->end;
    text->is_cut_short = true;
    return false;
}

// Reads at least another line, and forgets what is more than a chunk back.
static bool load_more(struct mesh_text *text)
{
    const size_t passed = (size_t)(text->at - text->data);
    if (passed > text->forgotten + 2 * CHUNK) {
        const size_t forgotten = (passed - CHUNK) / CHUNK * CHUNK;
        memory_forget(NULL, text->bytes, (size_t)(text->end - text->data) + 1, text->forgotten,
                      forgotten);
        text->forgotten = forgotten;
    }
    const char *loaded;
    do {
        const size_t from = text->read;
        if (!read_chunk(text, CHUNK))
            return false;
        loaded = text->data + text->read == text->end ? text->end : last_line(text, from);
    } while (!loaded);
    text->loaded = loaded;
    return true;
}

bool text_load_rest(struct mesh_text *text)
{
    if (text->file && !read_chunk(text, SIZE_MAX))
        return false;
    text->loaded = text->end;
    return true;
}

// Reads again what has been forgotten. False if that cannot be done.
static bool recall(struct mesh_text *text)
{
    const size_t bytes = text->forgotten;
    if (bytes == 0)
        return true;
    memory_recall(NULL, text->bytes, (size_t)(text->end - text->data) + 1, 0, bytes);
    text->forgotten = 0;
    const bool back =
        fseeko(text->file, 0, SEEK_SET) == 0 && fread(text->bytes, 1, bytes, text->file) == bytes;
    return fseeko(text->file, (off_t)text->read, SEEK_SET) == 0 && back;
}

// ---- Text: words and lines

static bool is_line_end(char c)
{
    return c == '\n' || c == '\r';
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\v' || c == '\f';
}

// The beginning of the line after the line end, or end of the text, at `at`.
static const char *after_line_end(const struct mesh_text *text, const char *at)
{
    return at + text_line_end(at, (size_t)(text->end - at));
}

static bool is_continued(const struct mesh_text *text, const char *at)
{
    return text->continuation && *at == '\\' && at + 1 < text->end && is_line_end(at[1]);
}

static void skip_blanks(struct mesh_text *text)
{
    while (text->at < text->end) {
        if (is_blank(*text->at))
            ++text->at;
        else if (is_continued(text, text->at))
            text->at = after_line_end(text, text->at + 1);
        else
            break;
    }
}

bool text_token(struct mesh_text *text, struct token *token)
{
    skip_blanks(text);
    const char *at = text->at;
    if (at == text->end || is_line_end(*at) || (text->comment && *at == text->comment))
        return false;
    while (at < text->end && !is_blank(*at) && !is_line_end(*at) && !is_continued(text, at))
        ++at;
    *token = (struct token){text->at, (size_t)(at - text->at)};
    text->at = at;
    return true;
}

void text_skip_line(struct mesh_text *text)
{
    bool in_comment = false;
    while (text->at < text->end && !is_line_end(*text->at)) {
        in_comment |= text->comment && *text->at == text->comment;
        if (!in_comment && is_continued(text, text->at))
            text->at = after_line_end(text, text->at + 1);
        else
            ++text->at;
    }
    text->at = after_line_end(text, text->at);
    if (text->at == text->loaded && text->loaded < text->end)
        load_more(text);
}

bool text_finish_line(struct mesh_text *text)
{
    struct token token;
    bool clean = !text_token(text, &token);
    if (!clean)
        text_report(text, token.text, "unexpected '%s' at the end of the line",
                    token_show(token).text);
    text_skip_line(text);
    return clean;
}

bool text_find_line(struct mesh_text *text)
{
    while (text->at < text->end) {
        skip_blanks(text);
        if (text->at == text->end)
            return false;
        if (!is_line_end(*text->at) && !(text->comment && *text->at == text->comment))
            return true;
        text_skip_line(text);
    }
    return false;
}

bool text_word(struct mesh_text *text, struct token *token)
{
    return text_find_line(text) && text_token(text, token);
}

bool text_label(struct mesh_text *text, const char *label)
{
    skip_blanks(text);
    size_t length = strlen(label);
    if ((size_t)(text->end - text->at) < length || strncasecmp(text->at, label, length) != 0)
        return false;
    text->at += length;
    return true;
}

bool token_is(struct token token, const char *word)
{
    return token.length == strlen(word) && strncasecmp(token.text, word, token.length) == 0;
}

bool token_is_exactly(struct token token, const char *word)
{
    return token.length == strlen(word) && memcmp(token.text, word, token.length) == 0;
}

// ---- Text: messages

struct token_shown token_show(struct token token)
{
    struct token_shown shown;
    size_t capacity = sizeof shown.text - 4;
    size_t length = token.length < capacity ? token.length : capacity;
    for (size_t i = 0; i < length; ++i) {
        unsigned char c = (unsigned char)token.text[i];
        shown.text[i] = c < 0x20 || c == 0x7f ? '?' : (char)c;
    }
    snprintf(shown.text + length, sizeof shown.text - length, "%s",
             length < token.length ? "..." : "");
    return shown;
}

// Columns count characters, not bytes, as in other messages.
static mark mark_at(const struct mesh_text *text, const char *at, const char **line)
{
    mark position = {1, 1};
    *line = text_start(text);
    for (const char *next = *line; next < at;) {
        next = is_line_end(*next) ? after_line_end(text, next) : next + 1;
        if (next <= at && is_line_end(next[-1])) {
            ++position.line;
            *line = next;
        }
    }
    for (const char *next = *line; next < at; ++next)
        position.column += !text_utf8_continues(*next);
    return position;
}

// Copies the line for a message; false if it is too long to be useful.
static bool copy_line(const struct mesh_text *text, const char *line, char *copy, size_t size)
{
    size_t length = 0;
    while (line + length < text->end && !is_line_end(line[length])) {
        if (length + 1 == size)
            return false;
        copy[length] = line[length] ? line[length] : '?';
        ++length;
    }
    copy[length] = '\0';
    return true;
}

bool text_report(struct mesh_text *text, const char *at, const char *format, ...)
{
    char sentence[512], copy[4096];
    bool has_line = false;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    mark position = {0, 0};
    if (at && recall(text)) {
        const char *line;
        position = mark_at(text, at, &line);
        has_line = copy_line(text, line, copy, sizeof copy) && copy[0];
    }
    diagnostics_add(text->diagnostics, DIAGNOSTIC_ERROR, text->path, position,
                    has_line ? copy : NULL, NULL, "%s", sentence);
    if (++text->error_count == MESH_ERRORS_MAX)
        diagnostics_add(text->diagnostics, DIAGNOSTIC_NOTE, text->path, (mark){0, 0}, NULL, NULL,
                        "too many errors: the rest of the file is not checked");
    return false;
}

bool text_no_memory(struct mesh_text *text)
{
    text->diagnostics->failure = TAUT_ERROR_MEMORY;
    return text_report(text, NULL, "out of memory for the mesh");
}

bool text_has_too_many_errors(const struct mesh_text *text)
{
    return text->error_count >= MESH_ERRORS_MAX;
}

// ---- Text: numbers

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool text_real(struct mesh_text *text, struct token token, double *value)
{
    // Leading zeros are allowed here: only YAML would read them as octal.
    struct token plain = token;
    bool negative = token.length && token.text[0] == '-';
    if (token.length && (token.text[0] == '-' || token.text[0] == '+'))
        plain = (struct token){token.text + 1, token.length - 1};
    while (plain.length > 1 && plain.text[0] == '0' && is_digit(plain.text[1]))
        plain = (struct token){plain.text + 1, plain.length - 1};
    bool has_second_sign = plain.length && (plain.text[0] == '-' || plain.text[0] == '+');
    enum number_fault fault =
        has_second_sign ? NUMBER_JUNK : number_parse(plain.text, plain.length, value);
    if (fault == NUMBER_OCTAL) // 0o17
        fault = NUMBER_JUNK;
    if (fault != NUMBER_OK)
        return text_report(text, token.text, "'%s' %s", token_show(token).text,
                           number_fault_text(fault));
    if (negative)
        *value = -*value;
    return true;
}

bool text_whole(struct mesh_text *text, struct token token, int64_t *value)
{
    bool negative = token.length && token.text[0] == '-';
    size_t i = token.length && (negative || token.text[0] == '+');
    int64_t result = 0;
    bool sound = i < token.length;
    for (; sound && i < token.length; ++i) {
        if (!is_digit(token.text[i]))
            sound = false;
        else if (result > (INT64_MAX - 9) / 10)
            return text_report(text, token.text, "'%s' is too large", token_show(token).text);
        else
            result = 10 * result + (token.text[i] - '0');
    }
    if (!sound)
        return text_report(text, token.text, "'%s' is not a whole number", token_show(token).text);
    *value = negative ? -result : result;
    return true;
}

bool text_next_real(struct mesh_text *text, const char *what, double *value)
{
    struct token token;
    if (text_token(text, &token))
        return text_real(text, token, value);
    return text_report(text, text->at, "the %s is missing", what);
}

bool text_next_whole(struct mesh_text *text, const char *what, int64_t *value)
{
    struct token token;
    if (text_token(text, &token))
        return text_whole(text, token, value);
    return text_report(text, text->at, "the %s is missing", what);
}

// ---- Polygons

// Areas below this fraction of the squared extent are considered round-off.
static const double FLATNESS = 1e-12;

// Newell's normal: the sum of cross products of neighbouring corners, whose length is twice the
// area. Relative to the first corner, so that a polygon far from the origin loses no precision.
static vec3 newell_normal(const struct polygon_corner *corners, size_t count)
{
    vec3 normal = {0, 0, 0};
    for (size_t i = 1; i + 1 < count; ++i) {
        vec3 a = vec3_subtract(corners[i].position, corners[0].position);
        vec3 b = vec3_subtract(corners[i + 1].position, corners[0].position);
        normal = vec3_add(normal, vec3_cross(a, b));
    }
    return normal;
}

static double extent(const struct polygon_corner *corners, size_t count)
{
    double greatest = 0;
    for (size_t i = 1; i < count; ++i) {
        vec3 d = vec3_subtract(corners[i].position, corners[0].position);
        greatest = fmax(greatest, fmax(fabs(d.x), fmax(fabs(d.y), fabs(d.z))));
    }
    return greatest;
}

// Translates the polygon to its first corner and scales it to size 1, so that a distant or huge
// polygon neither overflows nor loses small differences. False if all corners coincide.
static bool normalise(struct polygon_corner *corners, size_t count)
{
    double size = extent(corners, count);
    if (!(size > 0) || !isfinite(size) || !isfinite(1 / size))
        return false;
    vec3 origin = corners[0].position;
    for (size_t i = 0; i < count; ++i)
        corners[i].position = vec3_scale(1 / size, vec3_subtract(corners[i].position, origin));
    return true;
}

// Projects the corners onto the plane perpendicular to `normal`, counter-clockwise.
static void project(struct polygon_corner *corners, size_t count, vec3 normal)
{
    // Any direction not parallel to the normal: the axis of its smallest component.
    double x = fabs(normal.x), y = fabs(normal.y), z = fabs(normal.z);
    vec3 other = x <= y && x <= z ? vec3_make(1, 0, 0)
                 : y <= z         ? vec3_make(0, 1, 0)
                                  : vec3_make(0, 0, 1);
    vec3 u = vec3_cross(other, normal);
    u = vec3_scale(1 / vec3_length(u), u);
    vec3 v = vec3_cross(normal, u);
    v = vec3_scale(1 / vec3_length(v), v);
    for (size_t i = 0; i < count; ++i) {
        corners[i].u = vec3_dot(corners[i].position, u);
        corners[i].v = vec3_dot(corners[i].position, v);
    }
}

// Twice the signed area of a triangle in the plane.
static double turn(const struct polygon_corner *a, const struct polygon_corner *b,
                   const struct polygon_corner *c)
{
    return (b->u - a->u) * (c->v - a->v) - (b->v - a->v) * (c->u - a->u);
}

// Whether all corners turn left and all triangles of the fan have the same orientation: a star that
// winds twice around its centre passes the first test but not the second.
static bool is_strictly_convex(const struct polygon_corner *corners, size_t count)
{
    for (size_t i = 0; i < count; ++i)
        if (!(turn(&corners[i], &corners[(i + 1) % count], &corners[(i + 2) % count]) > FLATNESS))
            return false;
    for (size_t i = 1; i + 1 < count; ++i)
        if (!(turn(&corners[0], &corners[i], &corners[i + 1]) > FLATNESS))
            return false;
    return true;
}

static bool same_position(const struct polygon_corner *a, const struct polygon_corner *b)
{
    return a->u == b->u && a->v == b->v;
}

// Whether corner `tip` can be clipped: it turns left, and no other corner lies in the triangle or
// on its boundary (clipping would then leave a triangle without area, or an outline that touches
// itself).
static bool is_ear(const struct polygon_corner *corners, size_t count, size_t tip)
{
    const struct polygon_corner *a = &corners[(tip + count - 1) % count];
    const struct polygon_corner *b = &corners[tip];
    const struct polygon_corner *c = &corners[(tip + 1) % count];
    if (!(turn(a, b, c) > FLATNESS))
        return false;
    for (size_t i = 0; i < count; ++i) {
        const struct polygon_corner *p = &corners[i];
        if (same_position(p, a) || same_position(p, b) || same_position(p, c))
            continue;
        if (turn(a, b, p) >= -FLATNESS && turn(b, c, p) >= -FLATNESS && turn(c, a, p) >= -FLATNESS)
            return false;
    }
    return true;
}

static void set_triangle(uint32_t triangle[3], const struct polygon_corner *a,
                         const struct polygon_corner *b, const struct polygon_corner *c)
{
    triangle[0] = a->vertex;
    triangle[1] = b->vertex;
    triangle[2] = c->vertex;
}

static enum polygon_result clip_ears(struct polygon_corner *corners, size_t count,
                                     uint32_t (*triangles)[3])
{
    size_t tip = 0;
    while (count > 3) {
        size_t tried = 0;
        while (tried < count && !is_ear(corners, count, tip % count)) {
            ++tip;
            ++tried;
        }
        if (tried == count)
            return POLYGON_CROSSED;
        tip %= count;
        set_triangle(*triangles++, &corners[(tip + count - 1) % count], &corners[tip],
                     &corners[(tip + 1) % count]);
        memmove(corners + tip, corners + tip + 1, (count - tip - 1) * sizeof *corners);
        --count;
    }
    if (!(turn(&corners[0], &corners[1], &corners[2]) > FLATNESS))
        return POLYGON_CROSSED;
    set_triangle(*triangles, &corners[0], &corners[1], &corners[2]);
    return POLYGON_CUT;
}

enum polygon_result polygon_cut(struct polygon_corner *corners, size_t count,
                                uint32_t (*triangles)[3])
{
    if (!normalise(corners, count))
        return POLYGON_FLAT;
    vec3 normal = newell_normal(corners, count);
    double length = vec3_length(normal);
    if (!(length > FLATNESS))
        return POLYGON_FLAT;
    project(corners, count, vec3_scale(1 / length, normal));
    if (!is_strictly_convex(corners, count)) {
        if (count > POLYGON_CONCAVE_MAX)
            return POLYGON_TOO_LARGE;
        return clip_ears(corners, count, triangles);
    }
    for (size_t i = 1; i + 1 < count; ++i)
        set_triangle(triangles[i - 1], &corners[0], &corners[i], &corners[i + 1]);
    return POLYGON_CUT;
}

// ---- Drafts

bool draft_vertex(struct mesh_draft *draft, struct mesh_text *text, const double position[3])
{
    if (draft->vertex_count >= MESH_VERTICES_MAX)
        return text_report(text, NULL, "the mesh has more than %" PRIu32 " vertices",
                           MESH_VERTICES_MAX);
    if (!array_reserve((void **)&draft->vertices, &draft->vertex_capacity, draft->vertex_count + 1,
                       3 * sizeof *draft->vertices))
        return text_no_memory(text);
    memcpy(draft->vertices + 3 * draft->vertex_count++, position, 3 * sizeof *position);
    return true;
}

#define DRAFT_LARGE UINT32_MAX

struct large_corner {
    size_t corner;
    uint64_t vertex;
};

static bool add_large(struct mesh_draft *draft, uint64_t vertex)
{
    if (!array_reserve((void **)&draft->large, &draft->large_capacity, draft->large_count + 1,
                       sizeof *draft->large))
        return false;
    draft->large[draft->large_count++] = (struct large_corner){draft->corner_count, vertex};
    return true;
}

bool draft_corner(struct mesh_draft *draft, struct mesh_text *text, uint64_t vertex, const char *at)
{
    if (!array_reserve((void **)&draft->corners, &draft->corner_capacity, draft->corner_count + 1,
                       sizeof *draft->corners) ||
        (at && !array_reserve((void **)&draft->corner_at, &draft->at_capacity,
                              draft->corner_count + 1, sizeof *draft->corner_at)) ||
        (vertex >= DRAFT_LARGE && !add_large(draft, vertex)))
        return text_no_memory(text);
    draft->corners[draft->corner_count] = vertex < DRAFT_LARGE ? (uint32_t)vertex : DRAFT_LARGE;
    if (at)
        draft->corner_at[draft->corner_count] = at;
    draft->corner_count++;
    return true;
}

static struct corner corner_of(const struct mesh_draft *draft, size_t corner)
{
    struct corner result = {draft->corners[corner],
                            draft->corner_at ? draft->corner_at[corner] : NULL};
    for (size_t i = 0; draft->corners[corner] == DRAFT_LARGE && i < draft->large_count; i++)
        if (draft->large[i].corner == corner)
            result.vertex = draft->large[i].vertex;
    return result;
}

// The number of corners of the first `count` polygons.
static size_t corners_of(const struct mesh_draft *draft, size_t count)
{
    return count == 0 ? 0 : draft->polygon_ends ? draft->polygon_ends[count - 1] : 3 * count;
}

bool draft_polygon(struct mesh_draft *draft, struct mesh_text *text)
{
    const size_t polygons = draft->polygon_count;
    const bool lists =
        draft->polygon_ends || draft->corner_count - corners_of(draft, polygons) != 3;
    if (lists) {
        const bool begins = !draft->polygon_ends;
        if (!array_reserve((void **)&draft->polygon_ends, &draft->polygon_capacity, polygons + 1,
                           sizeof *draft->polygon_ends))
            return text_no_memory(text);
        for (size_t p = 0; begins && p < polygons; p++)
            draft->polygon_ends[p] = 3 * (p + 1);
        draft->polygon_ends[polygons] = draft->corner_count;
    }
    draft->polygon_count++;
    return true;
}

void draft_abandon(struct mesh_draft *draft)
{
    draft->corner_count = corners_of(draft, draft->polygon_count);
    while (draft->large_count > 0 &&
           draft->large[draft->large_count - 1].corner >= draft->corner_count)
        draft->large_count--;
}

static void free_polygons(struct mesh_draft *draft)
{
    free(draft->corners);
    free(draft->corner_at);
    free(draft->large);
    free(draft->polygon_ends);
    draft->corners = NULL;
    draft->corner_at = NULL;
    draft->large = NULL;
    draft->polygon_ends = NULL;
}

void draft_free(struct mesh_draft *draft)
{
    free(draft->vertices);
    free_polygons(draft);
    *draft = (struct mesh_draft){0};
}

// ---- Checking a draft

static bool corners_in_range(const struct mesh_draft *draft, struct mesh_text *text, size_t first,
                             size_t count, size_t polygon)
{
    for (size_t i = first; i < first + count; ++i) {
        if (draft->corners[i] < draft->vertex_count)
            continue;
        const struct corner corner = corner_of(draft, i);
        uint64_t number = corner.vertex + draft->first_number;
        uint64_t last = draft->vertex_count + draft->first_number - 1;
        if (draft->vertex_count == 0)
            return text_report(text, corner.at, "the file has faces but no vertices");
        if (corner.at)
            return text_report(text, corner.at,
                               "there is no vertex %" PRIu64 ": the last one is %" PRIu64, number,
                               last);
        return text_report(text, NULL,
                           "face %zu uses vertex %" PRIu64 ", but the last one is %" PRIu64,
                           polygon, number, last);
    }
    return true;
}

static int compare_corners(const void *a, const void *b)
{
    const struct corner *one = a, *two = b;
    if (one->vertex != two->vertex)
        return one->vertex < two->vertex ? -1 : 1;
    return one->at < two->at ? -1 : one->at > two->at;
}

static bool report_repeated(const struct mesh_draft *draft, struct mesh_text *text,
                            struct corner corner, size_t polygon)
{
    if (corner.at)
        return text_report(text, corner.at, "this face uses the same vertex twice");
    return text_report(text, NULL, "face %zu uses vertex %" PRIu64 " twice", polygon,
                       corner.vertex + draft->first_number);
}

// Few corners are compared pairwise; a polygon with thousands is sorted instead.
static bool corners_differ(const struct mesh_draft *draft, struct mesh_text *text, size_t first,
                           size_t count, size_t polygon)
{
    enum { FEW = 16 };
    if (count <= FEW) {
        const uint32_t *corners = draft->corners + first;
        for (size_t i = 1; i < count; ++i)
            for (size_t j = 0; j < i; ++j)
                if (corners[i] == corners[j])
                    return report_repeated(draft, text, corner_of(draft, first + i), polygon);
        return true;
    }
    struct corner *sorted = malloc(count * sizeof *sorted);
    if (!sorted)
        return text_no_memory(text);
    for (size_t i = 0; i < count; i++)
        sorted[i] = corner_of(draft, first + i);
    qsort(sorted, count, sizeof *sorted, compare_corners);
    bool differ = true;
    for (size_t i = 1; i < count && differ; ++i)
        if (sorted[i].vertex == sorted[i - 1].vertex)
            differ = report_repeated(draft, text, sorted[i], polygon);
    free(sorted);
    return differ;
}

static bool check_polygons(const struct mesh_draft *draft, struct mesh_text *text)
{
    size_t errors_before = text->error_count;
    for (size_t p = 0; p < draft->polygon_count && !text_has_too_many_errors(text); ++p) {
        const size_t first = corners_of(draft, p), count = corners_of(draft, p + 1) - first;
        if (corners_in_range(draft, text, first, count, p))
            corners_differ(draft, text, first, count, p);
    }
    return text->error_count == errors_before;
}

// ---- From a draft to a mesh

static bool cut_polygon(const struct mesh_draft *draft, struct mesh_text *text, size_t start,
                        size_t count, uint32_t (*triangles)[3])
{
    static const char *const reasons[] = {
        [POLYGON_FLAT] = "this polygon has no area, so it cannot be cut into triangles",
        [POLYGON_CROSSED] = "this polygon crosses or touches itself, so it cannot be cut into "
                            "triangles",
        [POLYGON_TOO_LARGE] = "this polygon is not convex and has more corners than can be cut "
                              "into triangles (1000)",
    };
    assert(count > 3);
    struct polygon_corner *corners = malloc(count * sizeof *corners);
    if (!corners)
        return text_no_memory(text);
    for (size_t i = 0; i < count; ++i) {
        uint32_t vertex = draft->corners[start + i];
        const double *position = draft->vertices + 3 * (size_t)vertex;
        corners[i] =
            (struct polygon_corner){vertex, vec3_make(position[0], position[1], position[2]), 0, 0};
    }
    enum polygon_result result = polygon_cut(corners, count, triangles);
    free(corners);
    return result == POLYGON_CUT ||
           text_report(text, corner_of(draft, start).at, "%s", reasons[result]);
}

static bool cut_polygons(struct mesh_draft *draft, struct mesh_text *text, struct mesh *mesh)
{
    // A polygon of n corners gives n - 2 triangles.
    size_t triangle_count = draft->corner_count - 2 * draft->polygon_count;
    size_t errors_before = text->error_count;
    if (!draft->polygon_ends) {
        mesh->triangles = draft->corners;
        draft->corners = NULL;
    } else {
        mesh->triangles = calloc(triangle_count, 3 * sizeof *mesh->triangles);
        if (!mesh->triangles)
            return text_no_memory(text);
    }
    mesh->triangle_count = triangle_count;
    uint32_t(*triangles)[3] = (uint32_t(*)[3])mesh->triangles;
    for (size_t p = 0; draft->polygon_ends && p < draft->polygon_count; ++p) {
        const size_t start = corners_of(draft, p), count = corners_of(draft, p + 1) - start;
        if (text_has_too_many_errors(text))
            break;
        if (count == 3)
            memcpy(*triangles, draft->corners + start, sizeof *triangles);
        else
            cut_polygon(draft, text, start, count, triangles);
        triangles += count - 2;
    }
    free_polygons(draft);
    return text->error_count == errors_before;
}

// The vertices of the mesh are those of the draft, moved together.
static bool keep_used_vertices(struct mesh_draft *draft, struct mesh_text *text, struct mesh *mesh)
{
    uint32_t *number = calloc(draft->vertex_count, sizeof *number); // 1: used; later the new number
    if (!number)
        return text_no_memory(text);
    for (uint64_t i = 0; i < 3 * mesh->triangle_count; ++i)
        number[mesh->triangles[i]] = 1;
    for (size_t v = 0; v < draft->vertex_count; ++v) {
        if (!number[v])
            continue;
        number[v] = (uint32_t)mesh->vertex_count;
        memmove(draft->vertices + 3 * mesh->vertex_count++, draft->vertices + 3 * v,
                3 * sizeof *mesh->vertices);
    }
    for (uint64_t i = 0; i < 3 * mesh->triangle_count; ++i)
        mesh->triangles[i] = number[mesh->triangles[i]];
    free(number);
    double *fitting = realloc(draft->vertices, 3 * mesh->vertex_count * sizeof *mesh->vertices);
    mesh->vertices = fitting ? fitting : draft->vertices;
    draft->vertices = NULL;
    mesh->unused_vertices = draft->vertex_count - mesh->vertex_count;
    mesh->merged_vertices = draft->merged_vertices;
    return true;
}

bool draft_finish(struct mesh_draft *draft, struct mesh_text *text, struct mesh *mesh)
{
    if (!check_polygons(draft, text) || text->error_count)
        return false;
    if (draft->polygon_count == 0)
        return text_report(text, NULL, "the file has no faces");
    if (draft->corner_count - 2 * draft->polygon_count > MESH_TRIANGLES_MAX)
        return text_report(text, NULL, "the mesh has more than %" PRIu32 " triangles",
                           MESH_TRIANGLES_MAX);
    return cut_polygons(draft, text, mesh) && keep_used_vertices(draft, text, mesh);
}

// ---- Files

static bool (*const readers[MESH_FORMAT_COUNT])(struct mesh_text *, struct mesh_draft *) = {
    [MESH_ASC] = asc_read,
    [MESH_OBJ] = obj_read,
    [MESH_PLY] = ply_read,
    [MESH_STL] = stl_read,
};

void mesh_free(struct mesh *mesh)
{
    free(mesh->vertices);
    free(mesh->triangles);
    *mesh = (struct mesh){0};
}

static bool read_text(enum mesh_format format, struct mesh_text *text, struct mesh *mesh)
{
    struct mesh_draft draft = {0};
    const bool sound =
        readers[format](text, &draft) && !text->is_cut_short && draft_finish(&draft, text, mesh);
    draft_free(&draft);
    if (!sound)
        mesh_free(mesh);
    return sound;
}

bool mesh_read_memory(enum mesh_format format, const void *data, size_t size, const char *path,
                      struct mesh *mesh, struct diagnostics *diagnostics)
{
    *mesh = (struct mesh){0};
    struct mesh_text text;
    text_begin(&text, path, data, size, diagnostics);
    return read_text(format, &text, mesh);
}

static bool report(struct diagnostics *diagnostics, const char *path, const char *what,
                   const char *why)
{
    diagnostics_add(diagnostics, DIAGNOSTIC_ERROR, path, (mark){0, 0}, NULL, NULL, "%s%s%s", what,
                    why[0] ? ": " : "", why);
    return false;
}

static bool find_format(const char *path, enum mesh_format *format)
{
    static const char *const endings[MESH_FORMAT_COUNT] = {
        [MESH_ASC] = ".asc", [MESH_OBJ] = ".obj", [MESH_PLY] = ".ply", [MESH_STL] = ".stl"};
    for (int f = 0; f < MESH_FORMAT_COUNT; ++f)
        if (text_ends_with_any_case(path, endings[f])) {
            *format = (enum mesh_format)f;
            return true;
        }
    return false;
}

bool mesh_has_known_ending(const char *path)
{
    enum mesh_format format;
    return find_format(path, &format);
}

static bool format_of(const char *path, enum mesh_format *format, struct diagnostics *diagnostics)
{
    return find_format(path, format) ||
           report(diagnostics, path, "the name of a mesh file must end in .asc, .obj, .ply or .stl",
                  "");
}

static bool read_file(enum mesh_format format, FILE *file, const char *path, struct mesh *mesh,
                      struct diagnostics *diagnostics)
{
    struct stat facts;
    struct mesh_text text;
    if (fstat(fileno(file), &facts) != 0)
        return report(diagnostics, path, "cannot read the mesh", strerror(errno));
    if (!S_ISREG(facts.st_mode)) // the size of a pipe is unknown
        return report(diagnostics, path, "cannot read the mesh", "not an ordinary file");
    const size_t size = (size_t)facts.st_size;
    char *bytes = memory_allocate(NULL, size + 1, 1);
    if (!bytes) {
        diagnostics_fail(diagnostics, TAUT_ERROR_MEMORY, path, "out of memory for the mesh");
        return false;
    }
    memory_sparse(bytes, size + 1, 0, size + 1);
    text_begin(&text, path, bytes, 0, diagnostics);
    text.end = bytes + size;
    text.bytes = bytes;
    text.file = file;
    bool sound = size == 0 || load_more(&text);
    text.at = text_start(&text);
    sound = sound && read_text(format, &text, mesh);
    memory_release(NULL, bytes, size + 1, 1);
    return sound;
}

bool mesh_read(const char *path, struct mesh *mesh, struct diagnostics *diagnostics)
{
    *mesh = (struct mesh){0};
    enum mesh_format format;
    if (!format_of(path, &format, diagnostics))
        return false;
    const char *reason;
    FILE *file = open_to_read(path, &reason);
    if (!file)
        return report(diagnostics, path, "cannot read the mesh", reason);
    const bool sound = read_file(format, file, path, mesh, diagnostics);
    fclose(file);
    return sound;
}
