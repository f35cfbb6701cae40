// Fabrics and solids with measured constants, which a scene can name. docs/materials.md lists them
// with their sources.
#ifndef TAUT_SCENE_FABRICS_H
#define TAUT_SCENE_FABRICS_H

#include "scene/scene.h"

// Their names, NULL-terminated.
extern const char *const fabric_names[];
extern const char *const solid_names[];

// The fabric or solid with the index in these names; `present` and `at` are not set. Solids have
// neither thickness nor diameter, fabrics no thickness.
struct scene_fabric fabric_named(size_t index);
struct scene_elastic solid_named(size_t index);

// Where the numbers were published.
const char *fabric_source(size_t index);
const char *solid_source(size_t index);

#endif
