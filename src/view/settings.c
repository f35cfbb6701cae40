#include "view/settings.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

struct setting *settings_find(struct settings *settings, const char *path, const double *values,
                              int count)
{
    size_t low = 0, high = settings->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(settings->items[middle].path, path);
        if (order == 0)
            return &settings->items[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    char *copy = text_format("%s", path);
    if (!copy || !array_reserve((void **)&settings->items, &settings->capacity, settings->count + 1,
                                sizeof *settings->items)) {
        free(copy);
        return NULL;
    }
    struct setting *item = settings->items + low;
    memmove(item + 1, item, (settings->count - low) * sizeof *item);
    settings->count++;
    *item = (struct setting){.path = copy};
    for (int i = 0; i < count; i++)
        item->first[i] = item->wanted[i] = values[i];
    return item;
}

void settings_settle(struct settings *settings, bool player_is_done)
{
    // What was sent just now may not have been counted by the player yet.
    enum { COUNTED_BY = 3 };
    for (size_t i = 0; i < settings->count; i++) {
        struct setting *item = &settings->items[i];
        if (item->waiting > 0 && ++item->waiting > COUNTED_BY && player_is_done)
            item->waiting = 0;
    }
}

void settings_clear(struct settings *settings)
{
    for (size_t i = 0; i < settings->count; i++)
        free(settings->items[i].path);
    free(settings->items);
    *settings = (struct settings){0};
}
