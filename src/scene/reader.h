// From a scene file to a taut_scene (scene.h): reads, applies overrides, validates. Creates no
// files.
#ifndef TAUT_SCENE_READER_H
#define TAUT_SCENE_READER_H

#include "scene/scene.h"

// An override, PATH=VALUE as in --set. PATH consists of keys joined by dots; items of a list are
// selected by their `name` or by number (bodies.flag.nodes, colliders.0.stiffness). VALUE is YAML.
// If a key excludes another one (mass and node_mass, duration and steps, keys of one integrator or
// law), the override replaces the key in the file.
struct scene_override {
    const char *text;
    bool wins;    // also replaces excluded keys of earlier overrides; otherwise two of them are an
                  // error
    bool ignores; // `text` is a key of the scene, which is not read if it is there
};

// Returns NULL on any error; `diagnostics` then has at least one error, and diagnostics_status
// returns the kind: TAUT_ERROR_IO if the file cannot be read, TAUT_ERROR_MEMORY, or
// TAUT_ERROR_SCENE for errors in its content, all of which are reported.
taut_scene *scene_read_file(const char *path, const struct scene_override *overrides, size_t count,
                            struct diagnostics *diagnostics);

// The same from memory; `name` is used as the file's name, and relative paths start from its
// folder.
taut_scene *scene_read_text(const char *text, size_t length, const char *name,
                            const struct scene_override *overrides, size_t count,
                            struct diagnostics *diagnostics);

// The scene after overrides, as YAML that can be run from any folder (absolute paths, aliases
// expanded). NULL if memory runs out; the caller frees it.
char *scene_resolved_yaml(const taut_scene *scene);

// A value of a scene's document as one line of YAML, in the form that --set accepts: aliases are
// expanded, paths are unchanged. NULL if memory runs out; the caller frees it.
struct dom_node;
char *scene_value_yaml(const struct dom_node *value);

void scene_free(taut_scene *scene);

#endif
