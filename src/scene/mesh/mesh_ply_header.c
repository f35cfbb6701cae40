#include "scene/mesh/mesh_ply_header.h"

#include "scene/mesh/mesh_draft.h"

#include <inttypes.h>
#include <string.h>

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

size_t ply_type_size(enum ply_type type)
{
    return types[type].size;
}

bool ply_type_is_whole(enum ply_type type)
{
    return type < PLY_FLOAT32;
}

int64_t ply_type_least(enum ply_type type)
{
    return types[type].least;
}

int64_t ply_type_greatest(enum ply_type type)
{
    return types[type].greatest;
}

static bool tokens_equal(struct token a, struct token b)
{
    return a.length == b.length && memcmp(a.text, b.text, a.length) == 0;
}

static bool want_token(struct mesh_text *text, const char *what, struct token *token)
{
    return text_token(text, token) || text_complain(text, text->at, "the %s is missing", what);
}

static bool read_type(struct mesh_text *text, enum ply_type *type)
{
    struct token token;
    if (!want_token(text, "type", &token))
        return false;
    for (int t = 0; t < PLY_TYPE_COUNT; ++t) {
        if (token_is_exactly(token, types[t].name) ||
            token_is_exactly(token, types[t].other_name)) {
            *type = (enum ply_type)t;
            return true;
        }
    }
    return text_complain(text, token.text, "'%s' is no PLY type", token_show(token).text);
}

// ---- Lines

static bool read_format(struct mesh_text *text, struct ply_header *header)
{
    static const char *const names[] = {"ascii", "binary_little_endian", "binary_big_endian"};
    struct token name, version;
    if (!want_token(text, "format", &name))
        return false;
    int encoding = 0;
    while (encoding < 3 && !token_is_exactly(name, names[encoding]))
        ++encoding;
    if (encoding == 3)
        return text_complain(text, name.text, "'%s' is no PLY format", token_show(name).text);
    header->encoding = (enum ply_encoding)encoding;
    if (!want_token(text, "version", &version))
        return false;
    if (!token_is_exactly(version, "1.0"))
        return text_complain(text, version.text, "PLY version '%s' is not known, only 1.0",
                             token_show(version).text);
    return text_finish_line(text);
}

static bool read_element(struct mesh_text *text, struct ply_header *header)
{
    struct token name, count;
    int64_t value;
    if (!want_token(text, "name of the element", &name) ||
        !want_token(text, "count of the element", &count) || !text_whole(text, count, &value))
        return false;
    if (value < 0)
        return text_complain(text, count.text, "a count cannot be negative");
    if (token_is_exactly(name, "vertex") && (uint64_t)value > MESH_VERTICES_MAX)
        return text_complain(text, count.text, "the mesh has more than %" PRIu32 " vertices",
                             MESH_VERTICES_MAX);
    for (size_t e = 0; e < header->element_count; ++e)
        if (tokens_equal(header->elements[e].name, name))
            return text_complain(text, name.text, "there is a second element '%s'",
                                 token_show(name).text);
    if (header->element_count == PLY_ELEMENTS_MAX)
        return text_complain(text, name.text, "more than %d elements", PLY_ELEMENTS_MAX);
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
            return text_complain(text, at, "there is a second property '%s'",
                                 token_show(other->name).text);
    }
    bool indices = property->role == PLY_CORNERS || property->role == PLY_STRIPS;
    if (indices && !(property->is_list && ply_type_is_whole(property->type)))
        return text_complain(text, at, "'%s' must be a list of whole numbers",
                             token_show(property->name).text);
    if (property->role < PLY_CORNERS && property->is_list)
        return text_complain(text, at, "'%s' must be one number, not a list",
                             token_show(property->name).text);
    return true;
}

static bool read_property(struct mesh_text *text, struct ply_header *header)
{
    struct ply_property property = {0};
    const char *at = text->at;
    if (header->element_count == 0)
        return text_complain(text, at, "a property must come behind its element");
    struct ply_element *element = &header->elements[header->element_count - 1];
    property.is_list = text_label(text, "list ") || text_label(text, "list\t");
    if (property.is_list) {
        at = text->at;
        if (!read_type(text, &property.count_type))
            return false;
        if (!ply_type_is_whole(property.count_type))
            return text_complain(text, at, "the length of a list must be a whole number");
    }
    if (!read_type(text, &property.type) ||
        !want_token(text, "name of the property", &property.name))
        return false;
    property.role = role_of(element, property.name);
    if (!check_property(text, header, element, &property))
        return false;
    if (header->property_count == PLY_PROPERTIES_MAX)
        return text_complain(text, property.name.text, "more than %d properties",
                             PLY_PROPERTIES_MAX);
    header->properties[header->property_count++] = property;
    ++element->property_count;
    return text_finish_line(text);
}

// ---- The whole

// The fewest bytes that `element` can take: in ASCII each value is a digit and a blank or newline,
// and the last newline may be missing.
static uint64_t least_bytes(const struct ply_header *header, const struct ply_element *element)
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
        if (least_bytes(header, element) > left)
            return text_complain(text, element->count_at,
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
            return text_complain(text, at, "%s", missing[role]);
    return has_role(header, PLY_CORNERS) || has_role(header, PLY_STRIPS) ||
           text_complain(text, at,
                         "the element 'face' or 'tristrips' with its list 'vertex_indices' is "
                         "missing");
}

bool ply_header_read(struct mesh_text *text, struct ply_header *header)
{
    struct token word;
    if (!text_token(text, &word) || !token_is_exactly(word, "ply"))
        return text_complain(text, text->data, "a PLY file begins with a line 'ply'");
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
            return text_complain(text, word.text, "the line 'format ...' must come first");
        } else if (token_is_exactly(word, "element")) {
            sound = read_element(text, header);
        } else if (token_is_exactly(word, "property")) {
            sound = read_property(text, header);
        } else if (token_is_exactly(word, "end_header")) {
            return text_finish_line(text) && check_roles(text, header, word.text) &&
                   check_counts(text, header);
        } else {
            sound = text_complain(text, word.text, "'%s' begins no line of a PLY header",
                                  token_show(word).text);
        }
        if (!sound)
            return false;
    }
    return text_complain(text, text->at, "the file ends before 'end_header'");
}
