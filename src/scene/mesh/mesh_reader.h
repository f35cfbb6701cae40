// Shared by the readers of mesh files; other code uses mesh.h. A reader turns the text of a file
// into a draft: vertices and polygons as the file lists them, each corner with its position in the
// file, so that an error found only at the end (a missing vertex) can still be reported where it is
// used. The draft is then converted to a mesh of triangles.
#ifndef TAUT_SCENE_MESH_READER_H
#define TAUT_SCENE_MESH_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/diagnostics.h"
#include "base/vec3.h"
#include "scene/mesh/mesh.h"

// ---- The text of a file, read by lines and words. Readers do not count lines: a position is a
// pointer into the text, and only a message counts the lines up to it. The text has the addresses
// of the whole file, and memory for a part of it: it is read in chunks of whole lines, and what has
// been passed is forgotten, and read again for a message.

struct mesh_text {
    const char *path;
    const char *data, *end; // of the whole file
    const char *at;         // the next byte to read
    const char *loaded;     // the beginning of a line up to which the text is there, or its end
    FILE *file;             // NULL: all is there. Otherwise:
    char *bytes;            // as `data`
    size_t read, forgotten; // bytes so far, of which so many have no memory any more
    bool is_cut_short;      // the file could not be read to its end
    bool continuation;      // a backslash at the end of a line joins the next line to it (OBJ)
    char comment;           // begins a comment that extends to the end of the line; 0: no comments
    struct diagnostics *diagnostics;
    size_t error_count;
};

// A sequence of non-blank bytes, not NUL-terminated.
struct token {
    const char *text;
    size_t length;
};

// The number of errors after which a reader stops.
enum { MESH_ERRORS_MAX = 20 };

// Begins at the first of `size` bytes, after a byte order mark. The bytes must outlive the reading.
void text_begin(struct mesh_text *text, const char *path, const char *data, size_t size,
                struct diagnostics *diagnostics);

// Reads what is left of the file, for formats that are not read by lines. False with an error.
bool text_load_rest(struct mesh_text *text);

// Reads the next word of this line; false, with nothing consumed, at the end of the line.
bool text_token(struct mesh_text *text, struct token *token);

// Reads the next word of this line or a later one; false at the end of the file.
bool text_word(struct mesh_text *text, struct token *token);

// Skips blank lines up to the first word of a line; false at the end of the file.
bool text_find_line(struct mesh_text *text);

// Skips the rest of this line.
void text_skip_line(struct mesh_text *text);

// The same, but reports remaining words as an error.
bool text_finish_line(struct mesh_text *text);

// Reads `label` (in any case) on this line, which need not be followed by a blank ("X:-1"); false,
// with nothing consumed, if there is something else.
bool text_label(struct mesh_text *text, const char *label);

// Whether the token is `word`, ignoring case or exactly.
bool token_is(struct token token, const char *word);
bool token_is_exactly(struct token token, const char *word);

// Converts the word to a finite number, or to a whole number; reports an error and returns false
// otherwise.
bool text_real(struct mesh_text *text, struct token token, double *value);
bool text_whole(struct mesh_text *text, struct token token, int64_t *value);

// Reads the next word of this line as a number; reports an error if there is none. `what` names it.
bool text_next_real(struct mesh_text *text, const char *what, double *value);
bool text_next_whole(struct mesh_text *text, const char *what, int64_t *value);

// Adds an error at a position of the text (NULL: for the file as a whole) and returns false, so
// that a failing reader ends in one line.
bool text_report(struct mesh_text *text, const char *at, const char *format, ...)
    PRINTF_FORMAT(3, 4);

bool text_no_memory(struct mesh_text *text);

// Whether there have been so many errors that the reader should stop.
bool text_has_too_many_errors(const struct mesh_text *text);

// A word for messages: shortened, without control characters.
struct token_shown {
    char text[48];
};
struct token_shown token_show(struct token token);

// ---- A mesh while it is read

// The largest 32-bit number is reserved for "none".
#define MESH_VERTICES_MAX (UINT32_MAX - 1)

struct corner {
    uint64_t vertex; // counted from 0
    const char *at;  // position in the text; NULL in a binary file
};

// Most memory that reading takes is that of corners and polygons, so it is not taken for what all
// files but a few have in common.
struct mesh_draft {
    double *vertices; // 3 coordinates per vertex
    size_t vertex_count, vertex_capacity;
    uint32_t *corners;          // the vertex of each; DRAFT_LARGE: one of `large`
    const char **corner_at;     // positions in the text; NULL: a binary file
    struct large_corner *large; // vertices with larger numbers, which no mesh can have
    size_t corner_count, corner_capacity, at_capacity, large_count, large_capacity;
    size_t *polygon_ends; // polygon p ends before this corner; NULL: all have three corners
    size_t polygon_count, polygon_capacity;
    uint64_t first_number; // number of the first vertex in the file: 0, or 1 in OBJ
    uint64_t merged_vertices;
};

// Adds a vertex; false, with an error reported, if memory runs out or there are too many vertices.
bool draft_vertex(struct mesh_draft *draft, struct mesh_text *text, const double position[3]);

// Adds a corner to the current polygon; draft_polygon ends the polygon, draft_abandon discards it.
bool draft_corner(struct mesh_draft *draft, struct mesh_text *text, uint64_t vertex,
                  const char *at);
bool draft_polygon(struct mesh_draft *draft, struct mesh_text *text);
void draft_abandon(struct mesh_draft *draft);

// Checks all corners, triangulates polygons and drops unused vertices. `mesh` must be zeroed. On
// failure, which is reported in the diagnostics, it may have arrays to be freed by mesh_free.
// The mesh takes over arrays of the draft, of which only draft_free is left then.
bool draft_finish(struct mesh_draft *draft, struct mesh_text *text, struct mesh *mesh);

void draft_free(struct mesh_draft *draft);

// ---- Triangulating a polygon in space without new vertices

struct polygon_corner {
    uint32_t vertex;
    vec3 position;
    double u, v; // set by polygon_cut: coordinates in the polygon's mean plane
};

enum polygon_result {
    POLYGON_CUT,
    POLYGON_FLAT,     // no area, and therefore no plane
    POLYGON_CROSSED,  // the outline crosses or touches itself
    POLYGON_TOO_LARGE // more than POLYGON_CONCAVE_MAX corners and not convex
};

// Ear clipping takes n^3 steps in the worst case, so larger polygons must be convex.
enum { POLYGON_CONCAVE_MAX = 1000 };

// Cuts a polygon of 3 or more corners into count - 2 triangles of the same orientation: a fan from
// the first corner if it is strictly convex in its mean plane (Newell's normal), otherwise by ear
// clipping. `corners` is modified.
enum polygon_result polygon_cut(struct polygon_corner *corners, size_t count,
                                uint32_t (*triangles)[3]);

// ---- The four formats

enum mesh_format { MESH_ASC, MESH_OBJ, MESH_PLY, MESH_STL, MESH_FORMAT_COUNT };

// As mesh_read, from `size` bytes in memory; `path` names them in messages.
bool mesh_read_memory(enum mesh_format format, const void *data, size_t size, const char *path,
                      struct mesh *mesh, struct diagnostics *diagnostics);

// Each reads the whole text into an empty draft. False if the file could not be understood to its
// end; a reader may also continue after an error, so callers must check `text->error_count`.
bool asc_read(struct mesh_text *text, struct mesh_draft *draft);
bool obj_read(struct mesh_text *text, struct mesh_draft *draft);
bool ply_read(struct mesh_text *text, struct mesh_draft *draft);
bool stl_read(struct mesh_text *text, struct mesh_draft *draft);

#endif
