// Reads PLY 1.0: ASCII and both binary forms. Elements and properties may come in any order; those
// that a mesh does not need are skipped. Faces are polygons (element 'face'), triangle strips
// (element 'tristrips', as in the models of the Stanford 3D Scanning Repository), or both.
#include "scene/mesh/mesh_reader.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- The header: the elements, their counts and their properties

enum ply_encoding { PLY_ASCII, PLY_LITTLE_ENDIAN, PLY_BIG_ENDIAN };

enum ply_type {
    PLY_INT8,
    PLY_UINT8,
    PLY_INT16,
    PLY_UINT16,
    PLY_INT32,
    PLY_UINT32,
    PLY_FLOAT32,
    PLY_FLOAT64,
    PLY_TYPE_COUNT
};

// The role of a property in a mesh.
enum ply_role { PLY_X, PLY_Y, PLY_Z, PLY_CORNERS, PLY_STRIPS, PLY_IGNORED };

struct ply_property {
    struct token name;
    enum ply_role role;
    bool is_list;
    enum ply_type count_type; // of the length of a list
    enum ply_type type;       // of the value, or of the items of a list
};

struct ply_element {
    struct token name;
    const char *count_at;
    uint64_t count;
    size_t first_property, property_count;
};

// Far more than programs write; dynamic arrays are not worthwhile for a header.
enum { PLY_ELEMENTS_MAX = 64, PLY_PROPERTIES_MAX = 1000 };

struct ply_header {
    enum ply_encoding encoding;
    struct ply_element elements[PLY_ELEMENTS_MAX];
    size_t element_count;
    struct ply_property properties[PLY_PROPERTIES_MAX];
    size_t property_count;
};

static const struct {
    const char *name, *other_name;
    size_t size;
    int64_t least, greatest;
} types[PLY_TYPE_COUNT] = {
    [PLY_INT8] = {"char", "int8", 1, INT8_MIN, INT8_MAX},
    [PLY_UINT8] = {"uchar", "uint8", 1, 0, UINT8_MAX},
    [PLY_INT16] = {"short", "int16", 2, INT16_MIN, INT16_MAX},
    [PLY_UINT16] = {"ushort", "uint16", 2, 0, UINT16_MAX},
    [PLY_INT32] = {"int", "int32", 4, INT32_MIN, INT32_MAX},
    [PLY_UINT32] = {"uint", "uint32", 4, 0, UINT32_MAX},
    [PLY_FLOAT32] = {"float", "float32", 4, 0, 0},
    [PLY_FLOAT64] = {"double", "float64", 8, 0, 0},
};

static size_t ply_type_size(enum ply_type type)
{
    return types[type].size;
}

static bool ply_type_is_whole(enum ply_type type)
{
    return type < PLY_FLOAT32;
}

static int64_t ply_type_min(enum ply_type type)
{
    return types[type].least;
}

static int64_t ply_type_max(enum ply_type type)
{
    return types[type].greatest;
}

static bool tokens_equal(struct token a, struct token b)
{
    return a.length == b.length && memcmp(a.text, b.text, a.length) == 0;
}

static bool expect_token(struct mesh_text *text, const char *what, struct token *token)
{
    return text_token(text, token) || text_report(text, text->at, "the %s is missing", what);
}

static bool read_type(struct mesh_text *text, enum ply_type *type)
{
    struct token token;
    if (!expect_token(text, "type", &token))
        return false;
    for (int t = 0; t < PLY_TYPE_COUNT; ++t) {
        if (token_is_exactly(token, types[t].name) ||
            token_is_exactly(token, types[t].other_name)) {
            *type = (enum ply_type)t;
            return true;
        }
    }
    return text_report(text, token.text, "'%s' is no PLY type", token_show(token).text);
}

// ---- The lines of the header

static bool read_format(struct mesh_text *text, struct ply_header *header)
{
    static const char *const names[] = {"ascii", "binary_little_endian", "binary_big_endian"};
    struct token name, version;
    if (!expect_token(text, "format", &name))
        return false;
    int encoding = 0;
    while (encoding < 3 && !token_is_exactly(name, names[encoding]))
        ++encoding;
    if (encoding == 3)
        return text_report(text, name.text, "'%s' is no PLY format", token_show(name).text);
    header->encoding = (enum ply_encoding)encoding;
    if (!expect_token(text, "version", &version))
        return false;
    if (!token_is_exactly(version, "1.0"))
        return text_report(text, version.text, "PLY version '%s' is not known, only 1.0",
                           token_show(version).text);
    return text_finish_line(text);
}

static bool read_element(struct mesh_text *text, struct ply_header *header)
{
    struct token name, count;
    int64_t value;
    if (!expect_token(text, "name of the element", &name) ||
        !expect_token(text, "count of the element", &count) || !text_whole(text, count, &value))
        return false;
    if (value < 0)
        return text_report(text, count.text, "a count cannot be negative");
    if (token_is_exactly(name, "vertex") && (uint64_t)value > MESH_VERTICES_MAX)
        return text_report(text, count.text, "the mesh has more than %" PRIu32 " vertices",
                           MESH_VERTICES_MAX);
    for (size_t e = 0; e < header->element_count; ++e)
        if (tokens_equal(header->elements[e].name, name))
            return text_report(text, name.text, "there is a second element '%s'",
                               token_show(name).text);
    if (header->element_count == PLY_ELEMENTS_MAX)
        return text_report(text, name.text, "more than %d elements", PLY_ELEMENTS_MAX);
    header->elements[header->element_count++] =
        (struct ply_element){.name = name,
                             .count_at = count.text,
                             .count = (uint64_t)value,
                             .first_property = header->property_count};
    return text_finish_line(text);
}

static enum ply_role role_of(const struct ply_element *element, struct token name)
{
    if (token_is_exactly(element->name, "vertex")) {
        static const char *const axes[] = {"x", "y", "z"};
        for (int i = 0; i < 3; ++i)
            if (token_is_exactly(name, axes[i]))
                return (enum ply_role)(PLY_X + i);
    }
    bool indices =
        token_is_exactly(name, "vertex_indices") || token_is_exactly(name, "vertex_index");
    if (indices && token_is_exactly(element->name, "face"))
        return PLY_CORNERS;
    if (indices && token_is_exactly(element->name, "tristrips"))
        return PLY_STRIPS;
    return PLY_IGNORED;
}

static bool check_property(struct mesh_text *text, const struct ply_header *header,
                           const struct ply_element *element, const struct ply_property *property)
{
    const char *at = property->name.text;
    for (size_t i = 0; i < element->property_count; ++i) {
        const struct ply_property *other = &header->properties[element->first_property + i];
        if (tokens_equal(other->name, property->name) ||
            (other->role == property->role && other->role != PLY_IGNORED))
            return text_report(text, at, "there is a second property '%s'",
                               token_show(other->name).text);
    }
    bool indices = property->role == PLY_CORNERS || property->role == PLY_STRIPS;
    if (indices && !(property->is_list && ply_type_is_whole(property->type)))
        return text_report(text, at, "'%s' must be a list of whole numbers",
                           token_show(property->name).text);
    if (property->role < PLY_CORNERS && property->is_list)
        return text_report(text, at, "'%s' must be one number, not a list",
                           token_show(property->name).text);
    return true;
}

static bool read_property(struct mesh_text *text, struct ply_header *header)
{
    struct ply_property property = {0};
    const char *at = text->at;
    if (header->element_count == 0)
        return text_report(text, at, "a property must come after its element");
    struct ply_element *element = &header->elements[header->element_count - 1];
    property.is_list = text_label(text, "list ") || text_label(text, "list\t");
    if (property.is_list) {
        at = text->at;
        if (!read_type(text, &property.count_type))
            return false;
        if (!ply_type_is_whole(property.count_type))
            return text_report(text, at, "the length of a list must be a whole number");
    }
    if (!read_type(text, &property.type) ||
        !expect_token(text, "name of the property", &property.name))
        return false;
    property.role = role_of(element, property.name);
    if (!check_property(text, header, element, &property))
        return false;
    if (header->property_count == PLY_PROPERTIES_MAX)
        return text_report(text, property.name.text, "more than %d properties", PLY_PROPERTIES_MAX);
    header->properties[header->property_count++] = property;
    ++element->property_count;
    return text_finish_line(text);
}

// ---- The whole header

// The fewest bytes that `element` can occupy: in ASCII a value is at least a digit and a blank or
// newline, and the last newline may be missing.
static uint64_t min_bytes(const struct ply_header *header, const struct ply_element *element)
{
    uint64_t each = 0;
    for (size_t i = 0; i < element->property_count; ++i) {
        const struct ply_property *property = &header->properties[element->first_property + i];
        each += header->encoding == PLY_ASCII
                    ? 2
                    : ply_type_size(property->is_list ? property->count_type : property->type);
    }
    if (each && element->count > UINT64_MAX / each)
        return UINT64_MAX;
    uint64_t all = each * element->count;
    return header->encoding == PLY_ASCII && all ? all - 1 : all;
}

static bool check_counts(struct mesh_text *text, const struct ply_header *header)
{
    uint64_t left = (uint64_t)(text->end - text->at);
    for (size_t e = 0; e < header->element_count; ++e) {
        const struct ply_element *element = &header->elements[e];
        if (min_bytes(header, element) > left)
            return text_report(text, element->count_at,
                               "the file is too short: %" PRIu64
                               " bytes follow the header, too few for %" PRIu64 " of '%s'",
                               left, element->count, token_show(element->name).text);
    }
    return true;
}

static bool has_role(const struct ply_header *header, enum ply_role role)
{
    for (size_t i = 0; i < header->property_count; ++i)
        if (header->properties[i].role == role)
            return true;
    return false;
}

static bool check_roles(struct mesh_text *text, const struct ply_header *header, const char *at)
{
    static const char *const missing[] = {
        [PLY_X] = "the element 'vertex' with its property 'x' is missing",
        [PLY_Y] = "the property 'y' of the element 'vertex' is missing",
        [PLY_Z] = "the property 'z' of the element 'vertex' is missing"};
    for (int role = PLY_X; role <= PLY_Z; ++role)
        if (!has_role(header, (enum ply_role)role))
            return text_report(text, at, "%s", missing[role]);
    return has_role(header, PLY_CORNERS) || has_role(header, PLY_STRIPS) ||
           text_report(text, at,
                       "the element 'face' or 'tristrips' with its list 'vertex_indices' is "
                       "missing");
}

// Reads up to and including the line end_header into a zeroed header, and checks that it describes
// a mesh and that the rest of the file is long enough for its counts.
static bool ply_header_read(struct mesh_text *text, struct ply_header *header)
{
    struct token word;
    if (!text_token(text, &word) || !token_is_exactly(word, "ply"))
        return text_report(text, text->data, "a PLY file begins with a line 'ply'");
    if (!text_finish_line(text))
        return false;
    bool has_format = false;
    while (text_word(text, &word)) {
        bool sound = true;
        if (token_is_exactly(word, "comment") || token_is_exactly(word, "obj_info")) {
            text_skip_line(text);
        } else if (token_is_exactly(word, "format")) {
            sound = read_format(text, header);
            has_format = true;
        } else if (!has_format) {
            return text_report(text, word.text, "the line 'format ...' must come first");
        } else if (token_is_exactly(word, "element")) {
            sound = read_element(text, header);
        } else if (token_is_exactly(word, "property")) {
            sound = read_property(text, header);
        } else if (token_is_exactly(word, "end_header")) {
            return text_finish_line(text) && check_roles(text, header, word.text) &&
                   check_counts(text, header);
        } else {
            sound = text_report(text, word.text, "'%s' begins no line of a PLY header",
                                token_show(word).text);
        }
        if (!sound)
            return false;
    }
    return text_report(text, text->at, "the file ends before 'end_header'");
}

// ---- The elements

// The state of the reader, also for messages.
struct ply_body {
    struct mesh_text *text;
    struct mesh_draft *draft;
    const struct ply_header *header;
    const struct ply_element *element;
    uint64_t instance; // index within the element
};

static bool report_end(struct ply_body *body)
{
    const char *at = body->header->encoding == PLY_ASCII ? body->text->end : NULL;
    return text_report(body->text, at,
                       "the file ends in '%s' %" PRIu64 ", counted from 0, of %" PRIu64,
                       token_show(body->element->name).text, body->instance, body->element->count);
}

// ---- Single values; a double represents the values of every type exactly

static bool ascii_value(struct ply_body *body, enum ply_type type, double *value)
{
    struct token token;
    if (!text_token(body->text, &token))
        return text_report(body->text, body->text->at, "the line ends too early for '%s' %" PRIu64,
                           token_show(body->element->name).text, body->instance);
    if (!ply_type_is_whole(type))
        return text_real(body->text, token, value);
    int64_t whole;
    if (!text_whole(body->text, token, &whole))
        return false;
    if (whole < ply_type_min(type) || whole > ply_type_max(type))
        return text_report(body->text, token.text,
                           "'%s' is outside its type's range, %" PRId64 " to %" PRId64,
                           token_show(token).text, ply_type_min(type), ply_type_max(type));
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
        return report_end(body);
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

// The position of the next value in the text; NULL in a binary file.
static const char *position_of_next(struct ply_body *body)
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

// Checks a strip that has ended; `begin` is the index of its first vertex. An empty strip is
// allowed, since lists also end with -1.
static bool end_strip(struct ply_body *body, uint64_t vertices, uint64_t begin, const char *at)
{
    return vertices == 0 || vertices >= 3 ||
           text_report(body->text, at,
                       "list %" PRIu64 " of strips has at item %" PRIu64 " a strip of %" PRIu64
                       " %s; a triangle takes 3",
                       body->instance, begin, vertices, vertices == 1 ? "vertex" : "vertices");
}

static bool strip_vertex(struct ply_body *body, double value, uint64_t vertices, uint64_t item,
                         const char *at)
{
    if (value < 0)
        return text_report(body->text, at,
                           "item %" PRIu64 " of list %" PRIu64
                           " of strips is %.0f: neither a vertex nor -1, the end of a strip",
                           item, body->instance, value);
    if (vertices == 0)
        return text_report(body->text, at, "the file has strips but no vertices");
    return value < (double)vertices ||
           text_report(body->text, at,
                       "item %" PRIu64 " of list %" PRIu64
                       " of strips is vertex %.0f, but the last one is %" PRIu64,
                       item, body->instance, value, vertices - 1);
}

// Reads a list of triangle strips: from the third vertex on, each forms a triangle with the two
// before it, reversed for every second one so that all face the same side; -1 begins a new strip.
// Triangles that use a vertex twice only connect parts of a strip and are dropped.
static bool read_strips(struct ply_body *body, const struct ply_property *property, uint64_t length)
{
    const uint64_t vertices = vertices_promised(body->header);
    struct corner before[2] = {{0}};
    uint64_t count = 0, begin = 0; // of the current strip
    const char *begin_at = NULL;
    for (uint64_t i = 0; i < length; ++i) {
        const char *at = position_of_next(body);
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
    const char *at = position_of_next(body);
    double length, value;
    if (!next_value(body, property->count_type, &length))
        return false;
    if (length < 0)
        return text_report(body->text, at, "'%s' %" PRIu64 " has a list of negative length",
                           token_show(body->element->name).text, body->instance);
    if (property->role == PLY_STRIPS)
        return read_strips(body, property, (uint64_t)length);

    bool corners = property->role == PLY_CORNERS;
    if (corners && length < 3)
        return text_report(body->text, at, "face %" PRIu64 " has fewer than 3 corners",
                           body->instance);
    for (uint64_t i = 0; i < (uint64_t)length; ++i) {
        at = position_of_next(body);
        if (!next_value(body, property->type, &value))
            return false;
        if (!corners)
            continue;
        if (value < 0)
            return text_report(body->text, at, "face %" PRIu64 " has the negative vertex %.0f",
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
    if (!isfinite(value)) // possible only in a binary file
        return text_report(body->text, NULL,
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
        return report_end(body);
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
    if (body->header->encoding != PLY_ASCII && !text_load_rest(body->text))
        return false;
    for (size_t e = 0; e < body->header->element_count; ++e) {
        body->element = &body->header->elements[e];
        if (body->element->property_count == 0)
            continue; // it occupies no bytes, so its count cannot be checked
        for (body->instance = 0; body->instance < body->element->count; ++body->instance)
            if (!read_instance(body))
                return false;
    }
    struct mesh_text *text = body->text;
    if (body->header->encoding == PLY_ASCII)
        return !text_find_line(text) ||
               text_report(text, text->at, "unexpected text after the last element");
    return text->at == text->end ||
           text_report(text, NULL, "%zu unexpected bytes after the last element",
                       (size_t)(text->end - text->at));
}

// Stops at the first error: the rest could only be guessed.
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
