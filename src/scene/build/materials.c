#include "scene/build/materials.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static size_t hash(const struct material *material)
{
    uint64_t bits[2];
    memcpy(&bits[0], &material->stiffness, sizeof bits[0]);
    memcpy(&bits[1], &material->damping, sizeof bits[1]);
    // The finaliser of SplitMix64, twice.
    uint64_t mixed = 0;
    for (int i = 0; i < 2; i++) {
        mixed += bits[i] + UINT64_C(0x9e3779b97f4a7c15);
        mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
        mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94d049bb133111eb);
        mixed ^= mixed >> 31;
    }
    return (size_t)mixed;
}

// The slot that holds the material, or the free one where it belongs.
static size_t find_slot(const struct material_set *set, const struct material *material)
{
    size_t slot = hash(material) & (set->slot_count - 1);
    while (set->slots[slot] != 0) {
        const struct material *held = &set->items[set->slots[slot] - 1];
        if (held->stiffness == material->stiffness && held->damping == material->damping)
            break;
        slot = (slot + 1) & (set->slot_count - 1);
    }
    return slot;
}

// Twice as many slots, a power of two, everything put in again.
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
    // At most half full, so that a search is short.
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

void material_set_free(struct material_set *set)
{
    free(set->items);
    memory_release(NULL, set->slots, set->slot_count, sizeof *set->slots);
    *set = (struct material_set){0};
}
