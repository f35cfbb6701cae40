#include "play/changes.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "scene/reader.h"
#include "scene/text/document.h"

void changes_free(struct changes *changes)
{
    for (size_t i = 0; i < changes->count; i++)
        free(changes->texts[i]);
    free(changes->texts);
    *changes = (struct changes){0};
}

// Takes `text` over; false without memory for the list, or for the text.
static bool add(struct changes *changes, char *text)
{
    void *texts = changes->texts;
    bool room =
        text && array_reserve(&texts, &changes->capacity, changes->count + 1, sizeof(char *));
    changes->texts = texts;
    if (room)
        changes->texts[changes->count++] = text;
    else
        free(text);
    return room;
}

bool changes_copy(const struct changes *from, struct changes *to)
{
    *to = (struct changes){0};
    for (size_t i = 0; i < from->count; i++)
        if (!add(to, strdup(from->texts[i]))) {
            changes_free(to);
            return false;
        }
    return true;
}

// Whether `text` sets what `path`, of that length, sets, or a part of it.
static bool is_within(const char *text, const char *path, size_t length)
{
    return strncmp(text, path, length) == 0 && (text[length] == '=' || text[length] == '.');
}

bool changes_set(struct changes *changes, const char *text)
{
    size_t kept = 0, length = strcspn(text, "=");
    for (size_t i = 0; i < changes->count; i++) {
        if (is_within(changes->texts[i], text, length))
            free(changes->texts[i]);
        else
            changes->texts[kept++] = changes->texts[i];
    }
    changes->count = kept;
    return add(changes, strdup(text));
}

// `text` NULL: what the file at `path` has.
static taut_scene *read_scene(const struct changes *changes, const struct source *text,
                              const char *path, struct diagnostics *diagnostics)
{
    struct scene_override *overrides = calloc(changes->count + 1, sizeof *overrides);
    if (!overrides) {
        diagnostics_fail(diagnostics, TAUT_ERROR_MEMORY, path, "out of memory");
        return NULL;
    }
    for (size_t i = 0; i < changes->count; i++)
        overrides[i] = (struct scene_override){.text = changes->texts[i], .wins = true};
    taut_scene *scene = text ? scene_read_text(text->text, text->length, path, overrides,
                                               changes->count, diagnostics)
                             : scene_read_file(path, overrides, changes->count, diagnostics);
    free(overrides);
    return scene;
}

taut_scene *changes_read(const struct changes *changes, const char *path,
                         struct diagnostics *diagnostics)
{
    return read_scene(changes, NULL, path, diagnostics);
}

taut_scene *changes_read_again(const struct changes *changes, const taut_scene *scene,
                               struct diagnostics *diagnostics)
{
    return read_scene(changes, &scene->document->source, scene->file, diagnostics);
}

taut_status changes_fail(const struct diagnostics *diagnostics, taut_error *error)
{
    for (size_t i = 0; i < diagnostics->count; i++) {
        const struct diagnostic *item = &diagnostics->items[i];
        if (item->level != DIAGNOSTIC_ERROR)
            continue;
        taut_status status = diagnostics_status(diagnostics);
        return item->hint ? fail(error, status, "%s; did you mean '%s'?", item->text, item->hint)
                          : fail(error, status, "%s", item->text);
    }
    return fail_memory(error, "the scene");
}

size_t changes_text_length(const taut_scene *scene)
{
    return scene->document->source.length;
}
