// A hash table of materials (materials.h).
#include "scene/materials.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static bool same_material(const struct material *a, const struct material *b)
{
    return a->stiffness == b->stiffness && a->damping == b->damping &&
           a->damping_law == b->damping_law && a->law == b->law &&
           a->has_rest_length == b->has_rest_length && a->rest_length == b->rest_length &&
           a->break_at == b->break_at && a->yield_at == b->yield_at;
}

static size_t hash_material(const struct material *m)
{
    const double numbers[] = {m->stiffness, m->damping, m->rest_length, m->break_at, m->yield_at};
    uint64_t hash = (uint64_t)m->damping_law * 3 + (uint64_t)m->law * 7 + m->has_rest_length;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        uint64_t bits;
        double number = numbers[i] + 0.0; // -0 and 0 are equal and must have the same hash
        memcpy(&bits, &number, sizeof bits);
        hash = (hash ^ bits) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 29;
    }
    return (size_t)hash;
}

// The slot of the material, or the free slot where it belongs.
static size_t find_slot(const struct material_set *set, const struct material *material)
{
    size_t slot = hash_material(material) & (set->slot_count - 1);
    while (set->slots[slot] != 0 && !same_material(&set->items[set->slots[slot] - 1], material))
        slot = (slot + 1) & (set->slot_count - 1);
    return slot;
}

// Doubles the slots (a power of two) and inserts everything again.
static bool grow(struct material_set *set)
{
    struct material_set grown = *set;
    grown.slot_count = set->slot_count ? 2 * set->slot_count : 64;
    grown.slots = memory_allocate(NULL, grown.slot_count, sizeof *grown.slots);
    if (!grown.slots)
        return false;
    for (size_t i = 0; i < set->count; i++)
        grown.slots[find_slot(&grown, &set->items[i])] = (uint32_t)(i + 1);
    memory_release(NULL, set->slots, set->slot_count, sizeof *set->slots);
    *set = grown;
    return true;
}

bool material_set_add(struct material_set *set, const struct material *material, uint32_t *index)
{
    // At most half full, so that searches are short.
    if (2 * (set->count + 1) > set->slot_count && !grow(set))
        return false;
    size_t slot = find_slot(set, material);
    if (set->slots[slot] == 0) {
        void *items = set->items;
        if (set->count >= UINT32_MAX - 1 ||
            !array_reserve(&items, &set->capacity, set->count + 1, sizeof *set->items))
            return false;
        set->items = items;
        set->items[set->count++] = *material;
        set->slots[slot] = (uint32_t)set->count;
    }
    *index = set->slots[slot] - 1;
    return true;
}

struct material *material_set_detach(struct material_set *set, size_t *count)
{
    struct material *items = set->items;
    *count = set->count;
    set->items = NULL;
    material_set_free(set);
    return items;
}

void material_set_free(struct material_set *set)
{
    free(set->items);
    memory_release(NULL, set->slots, set->slot_count, sizeof *set->slots);
    *set = (struct material_set){0};
}
