// Reads STL, ASCII and binary: facets that each list their own three corners. Corners at exactly
// the same position (with -0 = 0) are merged into one vertex; otherwise the facets would not be
// connected. The stored normals are ignored, since the order of the corners determines them.
#include "scene/mesh/mesh_reader.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

enum { BINARY_HEADER = 84, BINARY_FACET = 50 };

// Vertices by position: an open-addressing hash table of vertex numbers + 1.
struct vertex_table {
    uint32_t *slots;
    size_t capacity; // a power of two
    uint64_t dropped_facets;
};

static uint64_t hash_position(const double position[3])
{
    uint64_t hash = 0;
    for (int i = 0; i < 3; ++i) {
        uint64_t bits;
        memcpy(&bits, &position[i], sizeof bits);
        hash = (hash ^ bits) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 32;
    }
    return hash;
}

static bool same_position(const double a[3], const double b[3])
{
    return a[0] == b[0] && a[1] == b[1] && a[2] == b[2];
}

// The slot of the vertex at `position`, or the empty slot where it belongs.
static uint32_t *find_slot(const struct vertex_table *table, const struct mesh_draft *draft,
                           const double position[3])
{
    size_t slot = (size_t)hash_position(position) & (table->capacity - 1);
    while (table->slots[slot] &&
           !same_position(draft->vertices + 3 * (size_t)(table->slots[slot] - 1), position))
        slot = (slot + 1) & (table->capacity - 1);
    return &table->slots[slot];
}

// Keeps the table at most half full.
static bool reserve_slot(struct vertex_table *table, const struct mesh_draft *draft)
{
    if (2 * (draft->vertex_count + 1) <= table->capacity)
        return true;
    size_t capacity = table->capacity ? 2 * table->capacity : 1024;
    uint32_t *slots = calloc(capacity, sizeof *slots);
    if (!slots)
        return false;
    free(table->slots);
    table->slots = slots;
    table->capacity = capacity;
    for (size_t v = 0; v < draft->vertex_count; ++v)
        *find_slot(table, draft, draft->vertices + 3 * v) = (uint32_t)v + 1;
    return true;
}

static bool find_or_add(struct vertex_table *table, struct mesh_text *text,
                        struct mesh_draft *draft, const double position[3], uint32_t *vertex)
{
    if (!reserve_slot(table, draft))
        return text_no_memory(text);
    uint32_t *slot = find_slot(table, draft, position);
    if (*slot) {
        ++draft->merged_vertices;
    } else {
        if (!draft_vertex(draft, text, position))
            return false;
        *slot = (uint32_t)draft->vertex_count;
    }
    *vertex = *slot - 1;
    return true;
}

static bool add_facet(struct vertex_table *table, struct mesh_text *text, struct mesh_draft *draft,
                      double corners[3][3], const char *at)
{
    uint32_t vertices[3];
    for (int i = 0; i < 3; ++i) {
        for (int axis = 0; axis < 3; ++axis)
            corners[i][axis] += 0.0; // -0 becomes 0
        if (!find_or_add(table, text, draft, corners[i], &vertices[i]))
            return false;
    }
    if (vertices[0] == vertices[1] || vertices[1] == vertices[2] || vertices[2] == vertices[0]) {
        ++table->dropped_facets;
        return true;
    }
    for (int i = 0; i < 3; ++i)
        if (!draft_corner(draft, text, vertices[i], at))
            return false;
    return draft_polygon(draft, text);
}

// ---- ASCII

static bool expect_word(struct mesh_text *text, const char *word)
{
    struct token token;
    if (!text_word(text, &token))
        return text_report(text, text->at, "the file ends where '%s' should come", word);
    return token_is(token, word) ||
           text_report(text, token.text, "expected '%s', not '%s'", word, token_show(token).text);
}

static bool skip_normal(struct mesh_text *text)
{
    if (!expect_word(text, "normal"))
        return false;
    // Not checked: some programs write nan for the normal of a facet without area.
    for (int i = 0; i < 3; ++i) {
        struct token ignored;
        if (!text_token(text, &ignored))
            return text_report(text, text->at, "the normal needs three numbers");
    }
    return true;
}

static bool read_facet(struct vertex_table *table, struct mesh_text *text, struct mesh_draft *draft,
                       const char *at)
{
    double corners[3][3];
    if (!skip_normal(text) || !expect_word(text, "outer") || !expect_word(text, "loop"))
        return false;
    for (int i = 0; i < 3; ++i) {
        if (!expect_word(text, "vertex"))
            return false;
        for (int axis = 0; axis < 3; ++axis)
            if (!text_next_real(text, "coordinate", &corners[i][axis]))
                return false;
    }
    return expect_word(text, "endloop") && expect_word(text, "endfacet") &&
           add_facet(table, text, draft, corners, at);
}

static bool read_ascii(struct vertex_table *table, struct mesh_text *text, struct mesh_draft *draft)
{
    struct token word;
    while (text_word(text, &word)) {
        if (!token_is(word, "solid"))
            return text_report(text, word.text, "expected 'solid', not '%s'",
                               token_show(word).text);
        text_skip_line(text); // the name
        for (;;) {
            if (!text_word(text, &word))
                return text_report(text, text->at, "the file ends where 'endsolid' should come");
            if (token_is(word, "endsolid"))
                break;
            if (!token_is(word, "facet"))
                return text_report(text, word.text, "expected 'facet' or 'endsolid', not '%s'",
                                   token_show(word).text);
            if (!read_facet(table, text, draft, word.text))
                return false;
        }
        text_skip_line(text);
    }
    return true;
}

// ---- Binary, little-endian

static uint32_t load32(const char *bytes)
{
    uint32_t value = 0;
    for (int i = 3; i >= 0; --i)
        value = value << 8 | (unsigned char)bytes[i];
    return value;
}

static double load_float(const char *bytes)
{
    uint32_t bits = load32(bytes);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static bool read_binary(struct vertex_table *table, struct mesh_text *text,
                        struct mesh_draft *draft, uint32_t facet_count)
{
    const char *facet = text->data + BINARY_HEADER;
    for (uint32_t f = 0; f < facet_count; ++f, facet += BINARY_FACET) {
        double corners[3][3];
        for (int i = 0; i < 9; ++i) {
            corners[i / 3][i % 3] = load_float(facet + 12 + 4 * i);
            if (!isfinite(corners[i / 3][i % 3]))
                return text_report(text, NULL,
                                   "facet %" PRIu32 " has a coordinate that is not finite", f);
        }
        if (!add_facet(table, text, draft, corners, NULL))
            return false;
    }
    return true;
}

static bool begins_with_solid(const struct mesh_text *text)
{
    struct mesh_text ahead = *text;
    struct token word;
    return text_word(&ahead, &word) && token_is(word, "solid");
}

// Programs also write "solid" at the head of binary files, so the size is checked first: a binary
// file has exactly the length that follows from its count of facets.
static bool read_either(struct vertex_table *table, struct mesh_text *text,
                        struct mesh_draft *draft)
{
    size_t size = (size_t)(text->end - text->data);
    bool has_count = size >= BINARY_HEADER;
    uint32_t facet_count = has_count ? load32(text->data + BINARY_HEADER - 4) : 0;
    uint64_t expected = BINARY_HEADER + (uint64_t)BINARY_FACET * facet_count;
    if (has_count && size == expected)
        return read_binary(table, text, draft, facet_count);
    size_t head = size < BINARY_HEADER ? size : BINARY_HEADER;
    if (begins_with_solid(text) && !memchr(text->data, '\0', head))
        return read_ascii(table, text, draft);
    if (!has_count)
        return text_report(text, NULL,
                           "neither an ASCII STL file, which begins with 'solid', nor a binary "
                           "one, which has at least 84 bytes");
    return text_report(text, NULL,
                       "not an ASCII STL file, which begins with 'solid', and a binary one of "
                       "%" PRIu32 " %s would have %" PRIu64 " bytes, not %zu",
                       facet_count, text_noun(facet_count, "facet", "facets"), expected, size);
}

bool stl_read(struct mesh_text *text, struct mesh_draft *draft)
{
    struct vertex_table table = {0};
    bool sound = text_load_rest(text) && read_either(&table, text, draft);
    free(table.slots);
    if (sound && table.dropped_facets)
        diagnostics_add(text->diagnostics, DIAGNOSTIC_WARNING, text->path, (mark){0, 0}, NULL, NULL,
                        table.dropped_facets == 1
                            ? "%" PRIu64 " facet with two equal corners is left out"
                            : "%" PRIu64 " facets with two equal corners are left out",
                        table.dropped_facets);
    return sound;
}
