// A set of spring materials, each stored once: networks have few materials for many springs. Both
// the lists of a scene and tables of springs are read into one.
#ifndef TAUT_SCENE_MATERIALS_H
#define TAUT_SCENE_MATERIALS_H

#include "scene/scene.h"

// Zeroed: an empty set.
struct material_set {
    struct material *items; // malloc'ed, in the order in which they were added
    size_t count, capacity;
    uint32_t
        *slots; // hash table with open addressing: 0 is free, else an index into items, plus one
    size_t slot_count;
};

// The index of an equal material; added if there is none. False without memory.
bool material_set_add(struct material_set *set, const struct material *material, uint32_t *index);

// The materials, which are the caller's to free; the set is empty afterwards.
struct material *material_set_take(struct material_set *set, size_t *count);

void material_set_free(struct material_set *set);

#endif
