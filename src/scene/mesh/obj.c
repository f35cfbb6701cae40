// Reads Wavefront OBJ: v and f lines make the mesh. Texture coordinates, normals, groups,
// materials, lines and points are not part of the surface and are ignored; any other statement
// (free-form curves and surfaces) would be part of the shape, so it is an error.
#include "scene/mesh/mesh_reader.h"

#include <inttypes.h>
#include <string.h>

static bool read_vertex(struct mesh_text *text, struct mesh_draft *draft)
{
    // x y z, optionally followed by a weight, a colour, or both.
    double values[8] = {0};
    size_t count = 0;
    struct token token;
    const char *at = text->at;
    bool sound = true;
    while (sound && count < 8 && text_token(text, &token))
        sound = text_real(text, token, &values[count++]);
    // The vertex is added even after an error: otherwise all later numbers would cause misleading
    // errors.
    if (!draft_vertex(draft, text, values))
        return false;
    if (sound && count < 3)
        text_report(text, at, "a vertex needs x, y and z");
    else if (sound && (count == 5 || count > 7))
        text_report(text, at,
                    "a vertex has 3 numbers, 4 with a weight, 6 with a colour or 7 with both, "
                    "but not %zu%s",
                    count, count > 7 ? " or more" : "");
    text_skip_line(text);
    return true;
}

static struct token part_before(struct token *rest, char separator)
{
    const char *found = memchr(rest->text, separator, rest->length);
    size_t length = found ? (size_t)(found - rest->text) : rest->length;
    struct token part = {rest->text, length};
    rest->text += length;
    rest->length -= length;
    return part;
}

// Positive numbers count from 1, negative ones back from the latest vertex.
static bool read_index(struct mesh_text *text, const struct mesh_draft *draft, struct token part,
                       uint64_t *vertex)
{
    int64_t number;
    if (!text_whole(text, part, &number))
        return false;
    if (number == 0)
        return text_report(text, part.text, "vertices are counted from 1, not from 0");
    if (number < 0 && (uint64_t)-number > draft->vertex_count)
        return text_report(text, part.text,
                           "vertex %" PRId64 " is before the first: only %zu so far", number,
                           draft->vertex_count);
    *vertex = number > 0 ? (uint64_t)number - 1 : draft->vertex_count - (uint64_t)-number;
    return true;
}

// a, a/t, a//n or a/t/n.
static bool read_corner(struct mesh_text *text, struct mesh_draft *draft, struct token token)
{
    uint64_t vertex = 0;
    struct token rest = token;
    if (!read_index(text, draft, part_before(&rest, '/'), &vertex))
        return false;
    for (int part = 1; rest.length; ++part) {
        ++rest.text;
        --rest.length;
        struct token index = part_before(&rest, '/');
        int64_t ignored;
        bool left_out = index.length == 0 && part == 1 && rest.length > 1;
        if (part > 2 || (index.length == 0 && !left_out))
            return text_report(text, token.text,
                               "'%s' is not a corner: it should be v, v/t, v//n or v/t/n",
                               token_show(token).text);
        if (!left_out && !text_whole(text, index, &ignored))
            return false;
    }
    return draft_corner(draft, text, vertex, token.text);
}

static bool read_face(struct mesh_text *text, struct mesh_draft *draft)
{
    struct token token;
    size_t before = text->error_count, first = draft->corner_count;
    const char *at = text->at;
    while (text_token(text, &token) && text->error_count == before)
        read_corner(text, draft, token);
    if (text->error_count == before && draft->corner_count - first < 3)
        text_report(text, at, "a face needs 3 corners or more");
    if (text->error_count == before) {
        if (!draft_polygon(draft, text))
            return false;
    } else {
        draft_abandon(draft);
    }
    text_skip_line(text);
    return true;
}

static bool is_ignored(struct token word)
{
    static const char *const words[] = {"vt", "vn",     "vp",     "g", "o",
                                        "s",  "usemtl", "mtllib", "l", "p"};
    for (size_t i = 0; i < sizeof words / sizeof *words; ++i)
        if (token_is_exactly(word, words[i]))
            return true;
    return false;
}

// Continues after an error, since lines are independent.
bool obj_read(struct mesh_text *text, struct mesh_draft *draft)
{
    text->continuation = true;
    text->comment = '#';
    draft->first_number = 1;
    while (text_find_line(text) && !text_has_too_many_errors(text)) {
        struct token word;
        if (!text_token(text, &word))
            continue;
        if (token_is_exactly(word, "v")) {
            if (!read_vertex(text, draft))
                return false;
        } else if (token_is_exactly(word, "f")) {
            if (!read_face(text, draft))
                return false;
        } else {
            if (!is_ignored(word))
                text_report(text, word.text,
                            "'%s' is no OBJ statement that a triangle mesh can have",
                            token_show(word).text);
            text_skip_line(text);
        }
    }
    return !text_has_too_many_errors(text);
}
