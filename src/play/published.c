#include "play/published.h"

#include "base/memory.h"

enum { INDEX = 3, FRESH = 4 };

void published_make(struct published *published)
{
    *published = (struct published){.filled = 0, .read = 1};
    atomic_init(&published->between, 2);
}

static void empty(struct published_slot *slot)
{
    if (slot->setting)
        memory_release(NULL, slot->volumes, slot->setting->subject->body_count,
                       sizeof *slot->volumes);
    subject_store_free(&slot->store);
    setting_release(slot->setting);
    *slot = (struct published_slot){0};
}

void published_free(struct published *published)
{
    for (int i = 0; i < 3; i++)
        empty(&published->slots[i]);
}

struct published_slot *published_slot(struct published *published, struct setting *setting,
                                      bool strains, taut_error *error)
{
    struct published_slot *slot = &published->slots[published->filled];
    if (slot->setting == setting && slot->has_room == strains)
        return slot;
    empty(slot);
    size_t bodies = setting->subject->body_count;
    slot->volumes = memory_allocate(NULL, bodies, sizeof *slot->volumes);
    if (!slot->volumes) {
        fail_memory(error, "the volumes of a picture");
        return NULL;
    }
    slot->setting = setting_hold(setting);
    slot->has_room = strains;
    if (subject_store_make(setting->subject, strains, &slot->store, error) == TAUT_OK)
        return slot;
    empty(slot);
    return NULL;
}

void published_send(struct published *published)
{
    int before = atomic_exchange(&published->between, published->filled | FRESH);
    published->filled = before & INDEX;
}

bool published_refresh(struct published *published)
{
    if (!(atomic_load(&published->between) & FRESH))
        return false;
    published->read = atomic_exchange(&published->between, published->read) & INDEX;
    return true;
}

const struct published_slot *published_read(const struct published *published)
{
    return &published->slots[published->read];
}
