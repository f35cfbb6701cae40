// The four mesh formats, each a function from a text in memory to a draft. Inside the mesh readers
// only: everyone else uses mesh.h.
#ifndef TAUT_SCENE_MESH_FORMATS_H
#define TAUT_SCENE_MESH_FORMATS_H

#include "scene/mesh/mesh_draft.h"

enum mesh_format { MESH_ASC, MESH_OBJ, MESH_PLY, MESH_STL, MESH_FORMAT_COUNT };

// As mesh_read, from `size` bytes in memory; `path` is what messages call them.
bool mesh_read_memory(enum mesh_format format, const void *data, size_t size, const char *path,
                      struct mesh *mesh, struct diagnostics *diagnostics);

// Each reads the whole text into an empty draft. False when the file could not be understood to its
// end; a reader may also go on after an error, so `text->error_count` has the last word.
bool asc_read(struct mesh_text *text, struct mesh_draft *draft);
bool obj_read(struct mesh_text *text, struct mesh_draft *draft);
bool ply_read(struct mesh_text *text, struct mesh_draft *draft);
bool stl_read(struct mesh_text *text, struct mesh_draft *draft);

#endif
