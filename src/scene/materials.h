// A set of spring materials, each stored once: networks have few materials for many springs. Used
// for the lists of a scene and for tables of springs.
#ifndef TAUT_SCENE_MATERIALS_H
#define TAUT_SCENE_MATERIALS_H

#include "scene/scene.h"

// A zeroed struct is an empty set.
struct material_set {
    struct material *items; // malloc'ed, in the order of insertion
    size_t count, capacity;
    uint32_t
        *slots; // open-addressing hash table: 0 is free, otherwise an index into items, plus one
    size_t slot_count;
};

// Finds the index of an equal material, adding it if there is none. False if memory runs out.
bool material_set_add(struct material_set *set, const struct material *material, uint32_t *index);

// Returns the materials, which the caller frees; the set is then empty.
struct material *material_set_detach(struct material_set *set, size_t *count);

void material_set_free(struct material_set *set);

#endif
