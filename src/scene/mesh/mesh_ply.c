// PLY 1.0: ASCII and both binary forms. Elements and properties come in any order; those that a
// mesh has no use for are read past. Faces are polygons (element 'face'), triangle strips (element
// 'tristrips', as in the models of the Stanford 3D Scanning Repository), or both.
#include "scene/mesh/mesh_formats.h"
#include "scene/mesh/mesh_ply_header.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Where the reading stands, for complaints.
struct ply_body {
    struct mesh_text *text;
    struct mesh_draft *draft;
    const struct ply_header *header;
    const struct ply_element *element;
    uint64_t instance; // of the element
};

static bool complain_end(struct ply_body *body)
{
    const char *at = body->header->encoding == PLY_ASCII ? body->text->end : NULL;
    return text_complain(
        body->text, at, "the file ends in '%s' %" PRIu64 ", counted from 0, of %" PRIu64,
        token_show(body->element->name).text, body->instance, body->element->count);
}

// ---- Single values; a double holds every type's values exactly

static bool ascii_value(struct ply_body *body, enum ply_type type, double *value)
{
    struct token token;
    if (!text_token(body->text, &token))
        return text_complain(body->text, body->text->at,
                             "the line ends too early for '%s' %" PRIu64,
                             token_show(body->element->name).text, body->instance);
    if (!ply_type_is_whole(type))
        return text_real(body->text, token, value);
    int64_t whole;
    if (!text_whole(body->text, token, &whole))
        return false;
    if (whole < ply_type_least(type) || whole > ply_type_greatest(type))
        return text_complain(body->text, token.text,
                             "'%s' is outside its type's range, %" PRId64 " to %" PRId64,
                             token_show(token).text, ply_type_least(type), ply_type_greatest(type));
    *value = (double)whole;
    return true;
}

static double decode(enum ply_type type, uint64_t bits)
{
    switch (type) {
    case PLY_INT8:
        return bits < 0x80 ? (double)bits : (double)bits - 0x100;
    case PLY_INT16:
        return bits < 0x8000 ? (double)bits : (double)bits - 0x10000;
    case PLY_INT32:
        return bits < 0x80000000 ? (double)bits : (double)bits - 4294967296.0;
    case PLY_FLOAT32: {
        uint32_t narrow = (uint32_t)bits;
        float value;
        memcpy(&value, &narrow, sizeof value);
        return value;
    }
    case PLY_FLOAT64: {
        double value;
        memcpy(&value, &bits, sizeof value);
        return value;
    }
    default:
        return (double)bits;
    }
}

static bool binary_value(struct ply_body *body, enum ply_type type, double *value)
{
    struct mesh_text *text = body->text;
    size_t size = ply_type_size(type);
    if ((size_t)(text->end - text->at) < size)
        return complain_end(body);
    uint64_t bits = 0;
    for (size_t i = 0; i < size; ++i) {
        size_t byte = body->header->encoding == PLY_BIG_ENDIAN ? i : size - 1 - i;
        bits = bits << 8 | (unsigned char)text->at[byte];
    }
    text->at += size;
    *value = decode(type, bits);
    return true;
}

static bool next_value(struct ply_body *body, enum ply_type type, double *value)
{
    return body->header->encoding == PLY_ASCII ? ascii_value(body, type, value)
                                               : binary_value(body, type, value);
}

// The place of the next value in a text; NULL in a binary file.
static const char *place_of_next(struct ply_body *body)
{
    struct mesh_text ahead = *body->text;
    struct token token;
    if (body->header->encoding != PLY_ASCII)
        return NULL;
    return text_token(&ahead, &token) ? token.text : ahead.at;
}

// ---- Properties and elements

static bool add_triangle(struct ply_body *body, const struct corner *a, const struct corner *b,
                         const struct corner *c)
{
    return draft_corner(body->draft, body->text, a->vertex, a->at) &&
           draft_corner(body->draft, body->text, b->vertex, b->at) &&
           draft_corner(body->draft, body->text, c->vertex, c->at) &&
           draft_polygon(body->draft, body->text);
}

static uint64_t vertices_promised(const struct ply_header *header)
{
    for (size_t e = 0; e < header->element_count; ++e)
        if (token_is_exactly(header->elements[e].name, "vertex"))
            return header->elements[e].count;
    return 0;
}

// A strip that has ended, of which `begin` is the place of its first vertex. None at all is fine:
// lists end in -1, too.
static bool end_strip(struct ply_body *body, uint64_t vertices, uint64_t begin, const char *at)
{
    return vertices == 0 || vertices >= 3 ||
           text_complain(body->text, at,
                         "list %" PRIu64 " of strips has at item %" PRIu64 " a strip of %" PRIu64
                         " %s; a triangle takes 3",
                         body->instance, begin, vertices, vertices == 1 ? "vertex" : "vertices");
}

static bool strip_vertex(struct ply_body *body, double value, uint64_t vertices, uint64_t item,
                         const char *at)
{
    if (value < 0)
        return text_complain(body->text, at,
                             "item %" PRIu64 " of list %" PRIu64
                             " of strips is %.0f: neither a vertex nor -1, the end of a strip",
                             item, body->instance, value);
    if (vertices == 0)
        return text_complain(body->text, at, "the file has strips but no vertices");
    return value < (double)vertices ||
           text_complain(body->text, at,
                         "item %" PRIu64 " of list %" PRIu64
                         " of strips is vertex %.0f, but the last one is %" PRIu64,
                         item, body->instance, value, vertices - 1);
}

// A list of triangle strips: from its third vertex on each makes a triangle with the two before it,
// turned the other way round in every second one, so that all face the same side; -1 begins a new
// strip. Triangles that use a vertex twice only lead from one part of a strip to the next, and are
// left out.
static bool read_strips(struct ply_body *body, const struct ply_property *property, uint64_t length)
{
    const uint64_t vertices = vertices_promised(body->header);
    struct corner before[2] = {{0}};
    uint64_t count = 0, begin = 0; // of the strip that is being read
    const char *begin_at = NULL;
    for (uint64_t i = 0; i < length; ++i) {
        const char *at = place_of_next(body);
        double value;
        if (!next_value(body, property->type, &value))
            return false;
        if (value == -1) {
            if (!end_strip(body, count, begin, begin_at))
                return false;
            count = 0;
            continue;
        }
        if (!strip_vertex(body, value, vertices, i, at))
            return false;
        if (count == 0) {
            begin = i;
            begin_at = at;
        }
        struct corner corner = {(uint64_t)value, at};
        bool degenerate = corner.vertex == before[0].vertex || corner.vertex == before[1].vertex ||
                          before[0].vertex == before[1].vertex;
        bool turned = count % 2 != 0;
        if (count >= 2 && !degenerate &&
            !add_triangle(body, &before[turned], &before[!turned], &corner))
            return false;
        before[0] = before[1];
        before[1] = corner;
        ++count;
    }
    return end_strip(body, count, begin, begin_at);
}

static bool read_list(struct ply_body *body, const struct ply_property *property)
{
    const char *at = place_of_next(body);
    double length, value;
    if (!next_value(body, property->count_type, &length))
        return false;
    if (length < 0)
        return text_complain(body->text, at, "'%s' %" PRIu64 " has a list of negative length",
                             token_show(body->element->name).text, body->instance);
    if (property->role == PLY_STRIPS)
        return read_strips(body, property, (uint64_t)length);
    bool corners = property->role == PLY_CORNERS;
    if (corners && length < 3)
        return text_complain(body->text, at, "face %" PRIu64 " has fewer than 3 corners",
                             body->instance);
    for (uint64_t i = 0; i < (uint64_t)length; ++i) {
        at = place_of_next(body);
        if (!next_value(body, property->type, &value))
            return false;
        if (!corners)
            continue;
        if (value < 0)
            return text_complain(body->text, at, "face %" PRIu64 " has the negative vertex %.0f",
                                 body->instance, value);
        if (!draft_corner(body->draft, body->text, (uint64_t)value, at))
            return false;
    }
    return !corners || draft_polygon(body->draft, body->text);
}

static bool read_scalar(struct ply_body *body, const struct ply_property *property,
                        double position[3])
{
    double value;
    if (!next_value(body, property->type, &value))
        return false;
    if (property->role == PLY_IGNORED)
        return true;
    if (!isfinite(value)) // only a binary file can say so
        return text_complain(body->text, NULL,
                             "vertex %" PRIu64 " has a coordinate that is not finite",
                             body->instance);
    position[property->role] = value;
    return true;
}

static bool read_instance(struct ply_body *body)
{
    const struct ply_element *element = body->element;
    double position[3] = {0};
    bool ascii = body->header->encoding == PLY_ASCII;
    if (ascii && !text_find_line(body->text))
        return complain_end(body);
    for (size_t i = 0; i < element->property_count; ++i) {
        const struct ply_property *property =
            &body->header->properties[element->first_property + i];
        if (!(property->is_list ? read_list(body, property)
                                : read_scalar(body, property, position)))
            return false;
    }
    if (token_is_exactly(element->name, "vertex") &&
        !draft_vertex(body->draft, body->text, position))
        return false;
    return !ascii || text_finish_line(body->text);
}

static bool read_body(struct ply_body *body)
{
    for (size_t e = 0; e < body->header->element_count; ++e) {
        body->element = &body->header->elements[e];
        if (body->element->property_count == 0)
            continue; // it takes no bytes, so its count says nothing
        for (body->instance = 0; body->instance < body->element->count; ++body->instance)
            if (!read_instance(body))
                return false;
    }
    struct mesh_text *text = body->text;
    if (body->header->encoding == PLY_ASCII)
        return !text_find_line(text) ||
               text_complain(text, text->at, "unexpected text behind the last element");
    return text->at == text->end ||
           text_complain(text, NULL, "%zu unexpected bytes behind the last element",
                         (size_t)(text->end - text->at));
}

// Stops at the first error: what follows could only be guessed at.
bool ply_read(struct mesh_text *text, struct mesh_draft *draft)
{
    struct ply_header *header = calloc(1, sizeof *header);
    if (!header)
        return text_no_memory(text);
    struct ply_body body = {.text = text, .draft = draft, .header = header};
    bool sound = ply_header_read(text, header) && read_body(&body);
    free(header);
    return sound;
}
