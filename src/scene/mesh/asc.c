// Reads 3D Studio ASCII (.asc), as Matyka describes it in section 2.9.6.1 and as 3D Studio R3 wrote
// it: objects one after the other, each with its counts, its vertices and its faces, numbered from
// 0. Several objects become one mesh. Lines about lights, pages, materials and smoothing, texture
// coordinates (U:, V:) and the visibility of edges (AB:, BC:, CA:) do not affect the shape and are
// ignored.
#include "scene/mesh/mesh_reader.h"

#include <inttypes.h>

#include "base/text.h"

struct asc_object {
    struct token line;        // the first word of its counts, for messages
    uint64_t vertices, faces; // as announced
    uint64_t vertices_read, faces_read;
    size_t first_vertex; // in the draft
    bool open;           // its counts have been read
};

static bool expect_label(struct mesh_text *text, const char *label)
{
    if (text_label(text, label))
        return true;
    const char *at = text->at;
    struct token token;
    if (!text_token(text, &token))
        return text_report(text, at, "'%s' is missing", label);
    return text_report(text, token.text, "expected '%s', not '%s'", label, token_show(token).text);
}

static bool expect_count(struct mesh_text *text, const char *label, uint64_t *count)
{
    int64_t value;
    if (!expect_label(text, label))
        return false;
    const char *at = text->at;
    if (!text_next_whole(text, "count", &value))
        return false;
    if (value < 0 || (uint64_t)value > MESH_VERTICES_MAX)
        return text_report(text, at, "a count must be from 0 to %" PRIu32, MESH_VERTICES_MAX);
    *count = (uint64_t)value;
    return true;
}

static bool object_is_complete(struct mesh_text *text, const struct asc_object *object)
{
    if (!object->open)
        return true;
    if (object->vertices_read != object->vertices)
        return text_report(text, object->line.text,
                           "this object announces %" PRIu64 " %s but has %" PRIu64,
                           object->vertices, text_noun(object->vertices, "vertex", "vertices"),
                           object->vertices_read);
    if (object->faces_read != object->faces)
        return text_report(text, object->line.text,
                           "this object announces %" PRIu64 " %s but has %" PRIu64, object->faces,
                           text_noun(object->faces, "face", "faces"), object->faces_read);
    return true;
}

static bool read_counts(struct mesh_text *text, struct mesh_draft *draft, struct token line,
                        struct asc_object *object)
{
    if (!object_is_complete(text, object))
        return false;
    *object = (struct asc_object){.line = line, .first_vertex = draft->vertex_count, .open = true};
    if (!expect_count(text, "Vertices:", &object->vertices) ||
        !expect_count(text, "Faces:", &object->faces))
        return false;
    return text_finish_line(text);
}

// The titles "Vertex list:" and "Face list:" begin with the same words as the lines of the lists.
static bool skip_list_title(struct mesh_text *text)
{
    return text_label(text, "list:");
}

// Reads the number of a vertex or face, which must be the next in order, and the colon.
static bool read_number(struct mesh_text *text, const char *what, uint64_t expected,
                        uint64_t announced)
{
    struct token token;
    const char *at = text->at;
    if (!text_token(text, &token))
        return text_report(text, at, "the number of the %s is missing", what);
    if (token.text[token.length - 1] == ':')
        --token.length;
    else if (!expect_label(text, ":"))
        return false;
    int64_t value;
    if (!text_whole(text, token, &value))
        return false;
    if (expected >= announced)
        return text_report(text, token.text,
                           "more of them than announced: the object has only %" PRIu64, announced);
    if (value < 0 || (uint64_t)value != expected)
        return text_report(text, token.text, "out of order: this should be %s %" PRIu64, what,
                           expected);
    return true;
}

static bool read_vertex(struct mesh_text *text, struct mesh_draft *draft, struct asc_object *object)
{
    static const char *const labels[3] = {"X:", "Y:", "Z:"};
    double position[3], ignored;
    if (!read_number(text, "vertex", object->vertices_read, object->vertices))
        return false;
    for (int i = 0; i < 3; ++i)
        if (!expect_label(text, labels[i]) || !text_next_real(text, "coordinate", &position[i]))
            return false;
    if (text_label(text, "U:") &&
        !(text_next_real(text, "coordinate", &ignored) && expect_label(text, "V:") &&
          text_next_real(text, "coordinate", &ignored)))
        return false;
    ++object->vertices_read;
    return draft_vertex(draft, text, position) && text_finish_line(text);
}

static bool read_corner(struct mesh_text *text, struct mesh_draft *draft,
                        const struct asc_object *object, const char *label)
{
    struct token token;
    int64_t value;
    if (!expect_label(text, label))
        return false;
    const char *at = text->at;
    if (!text_token(text, &token))
        return text_report(text, at, "the vertex is missing");
    if (!text_whole(text, token, &value))
        return false;
    if (object->vertices_read == 0)
        return text_report(text, token.text, "this object has no vertices");
    if (value < 0 || (uint64_t)value >= object->vertices_read)
        return text_report(text, token.text,
                           "there is no vertex %" PRId64
                           " in this object: the last one is %" PRIu64,
                           value, object->vertices_read - 1);
    return draft_corner(draft, text, object->first_vertex + (uint64_t)value, token.text);
}

static bool read_face(struct mesh_text *text, struct mesh_draft *draft, struct asc_object *object)
{
    static const char *const corners[3] = {"A:", "B:", "C:"};
    static const char *const edges[3] = {"AB:", "BC:", "CA:"};
    if (!read_number(text, "face", object->faces_read, object->faces))
        return false;
    for (int i = 0; i < 3; ++i)
        if (!read_corner(text, draft, object, corners[i]))
            return false;
    for (int i = 0; i < 3; ++i) {
        int64_t visible;
        if (text_label(text, edges[i]) && !text_next_whole(text, "edge's visibility", &visible))
            return false;
    }
    ++object->faces_read;
    return draft_polygon(draft, text) && text_finish_line(text);
}

static bool is_appearance(struct token word)
{
    static const char *const words[] = {"Ambient", "Material:", "Smoothing:", "Page", "Mapped"};
    for (size_t i = 0; i < sizeof words / sizeof *words; ++i)
        if (token_is(word, words[i]))
            return true;
    // Real files write Material:"name" without a blank.
    return word.length > 9 && token_is((struct token){word.text, 9}, "Material:");
}

static bool read_line(struct mesh_text *text, struct mesh_draft *draft, struct asc_object *object)
{
    struct token word;
    if (!text_token(text, &word))
        return true;
    if (is_appearance(word) || token_is(word, "Named")) {
        text_skip_line(text);
        return true;
    }
    if (token_is(word, "Tri-mesh,"))
        return read_counts(text, draft, word, object);
    bool is_vertex = token_is(word, "Vertex"), is_face = token_is(word, "Face");
    if (!is_vertex && !is_face)
        return text_report(text, word.text,
                           "'%s' begins no line of a 3D Studio ASCII file that holds triangles",
                           token_show(word).text);
    if (!object->open)
        return text_report(text, word.text,
                           "a 'Tri-mesh, Vertices: ... Faces: ...' line must come before this");
    if (skip_list_title(text))
        return text_finish_line(text);
    return is_vertex ? read_vertex(text, draft, object) : read_face(text, draft, object);
}

// Stops at the first error: the following lines depend on the counts.
bool asc_read(struct mesh_text *text, struct mesh_draft *draft)
{
    struct asc_object object = {0};
    while (text_find_line(text))
        if (!read_line(text, draft, &object))
            return false;
    return object_is_complete(text, &object);
}
