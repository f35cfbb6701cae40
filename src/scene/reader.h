// From a scene file to a taut_scene (scene.h): reads, applies overrides, validates. No file is
// created.
#ifndef TAUT_SCENE_READER_H
#define TAUT_SCENE_READER_H

#include "scene/scene.h"

// An override: PATH=VALUE as of --set. PATH is keys joined by dots; items of a list are chosen by
// their `name` or by number (bodies.flag.nodes, colliders.0.stiffness). VALUE is YAML. Where a key
// excludes another one (mass and node_mass, duration and steps, keys that belong to one integrator
// or law), what an override sets replaces what the file says.
struct scene_override {
    const char *text;
    bool wins; // over earlier overrides too; else two that exclude each other are an error
};

// NULL when anything is wrong; `diagnostics` then has at least one error, and diagnostics_status
// returns which kind: TAUT_ERROR_IO if the file cannot be read, TAUT_ERROR_MEMORY, or
// TAUT_ERROR_SCENE for anything that is wrong in it. All errors of its content are reported.
taut_scene *scene_read_file(const char *path, const struct scene_override *overrides, size_t count,
                            struct diagnostics *diagnostics);

// The same from memory; `name` is used as the file's name, its folder is where relative paths
// start.
taut_scene *scene_read_text(const char *text, size_t length, const char *name,
                            const struct scene_override *overrides, size_t count,
                            struct diagnostics *diagnostics);

// The scene as it is meant after overrides, as YAML that can be run from any folder (paths of files
// absolute, aliases expanded). NULL without memory; the caller frees it.
char *scene_resolved_yaml(const taut_scene *scene);

// A value of a scene's document in one line of YAML, as --set takes it: anchors are written out,
// paths stay as they are. NULL without memory; the caller frees it.
struct dom_node;
char *scene_value_yaml(const struct dom_node *value);

void scene_free(taut_scene *scene);

#endif
