#include "scene/text/document_anchors.h"

#include <stdlib.h>
#include <string.h>

// FNV-1a.
static size_t hash_name(const char *name)
{
    uint64_t hash = 0xCBF29CE484222325u;
    for (const char *c = name; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 0x100000001B3u;
    return (size_t)(hash ^ hash >> 32);
}

// The slot that holds `name`, or the empty one where it belongs.
static struct anchor *find_slot(struct anchor *slots, size_t slot_count, const char *name)
{
    size_t at = hash_name(name) & (slot_count - 1);
    while (slots[at].name && strcmp(slots[at].name, name) != 0)
        at = (at + 1) & (slot_count - 1);
    return &slots[at];
}

static bool grow(struct anchors *anchors)
{
    size_t slot_count = anchors->slot_count ? 2 * anchors->slot_count : 32;
    struct anchor *slots = calloc(slot_count, sizeof *slots);
    if (!slots)
        return false;
    for (size_t i = 0; i < anchors->slot_count; i++)
        if (anchors->slots[i].name)
            *find_slot(slots, slot_count, anchors->slots[i].name) = anchors->slots[i];
    free(anchors->slots);
    anchors->slots = slots;
    anchors->slot_count = slot_count;
    return true;
}

bool anchors_define(struct anchors *anchors, struct scene_document *document, const char *name,
                    struct dom_node *node)
{
    if (2 * (anchors->count + 1) > anchors->slot_count && !grow(anchors))
        return false;
    struct anchor *slot = find_slot(anchors->slots, anchors->slot_count, name);
    if (!slot->name) {
        size_t bytes = strlen(name) + 1;
        char *copy = document_allocate(document, bytes);
        if (!copy)
            return false;
        memcpy(copy, name, bytes);
        slot->name = copy;
        anchors->count++;
    }
    slot->node = node;
    return true;
}

struct dom_node *anchors_find(const struct anchors *anchors, const char *name)
{
    if (anchors->slot_count == 0)
        return NULL;
    return find_slot(anchors->slots, anchors->slot_count, name)->node;
}

const char *anchors_nearest(const struct anchors *anchors, const char *name)
{
    enum { CANDIDATES_MAX = 1000 };
    const char *candidates[CANDIDATES_MAX];
    size_t count = 0;
    for (size_t i = 0; i < anchors->slot_count && count < CANDIDATES_MAX; i++)
        if (anchors->slots[i].name)
            candidates[count++] = anchors->slots[i].name;
    return nearest_name(name, candidates, count);
}

void anchors_free(struct anchors *anchors)
{
    free(anchors->slots);
    *anchors = (struct anchors){0};
}
