// Different spring materials of a network, found again by what they consist of.
#ifndef TAUT_SCENE_MATERIALS_H
#define TAUT_SCENE_MATERIALS_H

#include "scene/scene.h"

// Zeroed: an empty set.
struct material_set {
    struct material *items;
    size_t count, capacity;
    uint32_t *slots; // hash table: 0 is free, else an index into items, plus one
    size_t slot_count;
};

// The index of the material that has this stiffness and damping; added if there is none. All else
// in `material` must be the same at every call. False without memory.
bool material_set_add(struct material_set *set, const struct material *material, uint32_t *index);

void material_set_free(struct material_set *set);

#endif
