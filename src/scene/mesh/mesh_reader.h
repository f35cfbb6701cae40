// What the readers of mesh files share; everyone else uses mesh.h. A reader turns the text of a
// file into a draft: vertices and polygons as the file lists them, each corner with its position in
// the file, so that what only shows at the end (a vertex that is missing) can still be reported
// where it is used. The draft then becomes a mesh of triangles.
#ifndef TAUT_SCENE_MESH_READER_H
#define TAUT_SCENE_MESH_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diagnostics.h"
#include "base/vec3.h"
#include "scene/mesh/mesh.h"

// ---- The text of a file, read line by line and word by word. No reader counts lines: a position
// is a pointer into the text, and only a message counts the lines up to it.

struct mesh_text {
    const char *path;
    const char *data, *end;
    const char *at;    // the next byte to be read
    bool continuation; // a backslash at the end of a line joins the next one to it (OBJ)
    char comment;      // begins a comment that lasts to the end of the line; 0: there are none
    struct diagnostics *diagnostics;
    size_t error_count;
};

// A run of bytes without blanks; not terminated.
struct token {
    const char *text;
    size_t length;
};

// Beyond so many errors a reader stops: more would not help.
enum { MESH_ERRORS_MAX = 20 };

// Begins at the first byte of `size` bytes, behind a byte order mark; they must outlive the
// reading.
void text_begin(struct mesh_text *text, const char *path, const char *data, size_t size,
                struct diagnostics *diagnostics);

// The next word of this line; false, with nothing read, at the end of the line.
bool text_token(struct mesh_text *text, struct token *token);

// The next word of this line or a later one; false at the end of the file.
bool text_word(struct mesh_text *text, struct token *token);

// Goes past blank lines to the first word of a line; false at the end of the file.
bool text_find_line(struct mesh_text *text);

// Goes to the beginning of the next line, whatever is left of this one.
void text_skip_line(struct mesh_text *text);

// The same, but reports words that are left.
bool text_finish_line(struct mesh_text *text);

// Takes `label` (any case) from this line, with no blank needed behind it ("X:-1"); false, with
// nothing read, if something else is there.
bool text_label(struct mesh_text *text, const char *label);

// Whether the word is `word`, in any case or in just this one.
bool token_is(struct token token, const char *word);
bool token_is_exactly(struct token token, const char *word);

// The word as a finite number, or as a whole number; reports an error and gives false otherwise.
bool text_real(struct mesh_text *text, struct token token, double *value);
bool text_whole(struct mesh_text *text, struct token token, int64_t *value);

// The next word of this line as a number; reports an error if there is none. `what` names it.
bool text_next_real(struct mesh_text *text, const char *what, double *value);
bool text_next_whole(struct mesh_text *text, const char *what, int64_t *value);

// Adds an error at a position of the text (NULL: about the file as a whole) and returns false, so
// that a failing reader ends in one line.
bool text_report(struct mesh_text *text, const char *at, const char *format, ...)
    PRINTF_FORMAT(3, 4);

bool text_no_memory(struct mesh_text *text);

// Whether there have been so many errors that reading on is of no use.
bool text_hopeless(const struct mesh_text *text);

// A word as messages show it: shortened, without control characters.
struct token_shown {
    char text[48];
};
struct token_shown token_show(struct token token);

// ---- A mesh while it is read

// One less than 32 bits hold: the greatest number is kept free for "none".
#define MESH_VERTICES_MAX (UINT32_MAX - 1)

struct corner {
    uint64_t vertex; // counted from 0
    const char *at;  // its position in the text; NULL in a binary file
};

struct mesh_draft {
    double *vertices; // 3 a vertex
    size_t vertex_count, vertex_capacity;
    struct corner *corners; // polygon p has corners [polygon_ends[p - 1], polygon_ends[p])
    size_t corner_count, corner_capacity;
    size_t *polygon_ends;
    size_t polygon_count, polygon_capacity;
    uint64_t first_number; // what the file calls its first vertex: 0, or 1 in OBJ
    uint64_t merged_vertices;
};

// Adds a vertex; false without memory or with too many vertices (which it reports).
bool draft_vertex(struct mesh_draft *draft, struct mesh_text *text, const double position[3]);

// Adds a corner to the current polygon; draft_polygon ends it, draft_abandon forgets it.
bool draft_corner(struct mesh_draft *draft, struct mesh_text *text, uint64_t vertex,
                  const char *at);
bool draft_polygon(struct mesh_draft *draft, struct mesh_text *text);
void draft_abandon(struct mesh_draft *draft);

// Checks all corners, cuts polygons into triangles and leaves out unused vertices. `mesh` must be
// zeroed; on failure, which is in the diagnostics, it may have arrays for mesh_free.
bool draft_finish(const struct mesh_draft *draft, struct mesh_text *text, struct mesh *mesh);

void draft_free(struct mesh_draft *draft);

// ---- Cutting a polygon in space into triangles, without new vertices

struct polygon_corner {
    uint32_t vertex;
    vec3 position;
    double u, v; // filled by polygon_cut: its position in the polygon's mean plane
};

enum polygon_result {
    POLYGON_CUT,
    POLYGON_FLAT,     // no area, so no plane and no side
    POLYGON_CROSSED,  // its outline crosses or touches itself
    POLYGON_TOO_LARGE // more than POLYGON_CONCAVE_MAX corners and not convex
};

// Ear clipping takes n^3 steps at worst, so larger polygons must be convex.
enum { POLYGON_CONCAVE_MAX = 1000 };

// Cuts a polygon of 3 or more corners into count - 2 triangles that go round as it does: a fan
// from the first corner where it is strictly convex in its mean plane (Newell's normal), otherwise
// by clipping ears. `corners` is used up.
enum polygon_result polygon_cut(struct polygon_corner *corners, size_t count,
                                uint32_t (*triangles)[3]);

// ---- The four formats

enum mesh_format { MESH_ASC, MESH_OBJ, MESH_PLY, MESH_STL, MESH_FORMAT_COUNT };

// As mesh_read, from `size` bytes in memory; `path` is what messages call them.
bool mesh_read_memory(enum mesh_format format, const void *data, size_t size, const char *path,
                      struct mesh *mesh, struct diagnostics *diagnostics);

// Each reads the whole text into an empty draft. False when the file could not be understood to its
// end; a reader may also continue after an error, so `text->error_count` has the last word.
bool asc_read(struct mesh_text *text, struct mesh_draft *draft);
bool obj_read(struct mesh_text *text, struct mesh_draft *draft);
bool ply_read(struct mesh_text *text, struct mesh_draft *draft);
bool stl_read(struct mesh_text *text, struct mesh_draft *draft);

#endif
