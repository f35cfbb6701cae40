#include "scene/text/document.h"

#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

// ---- Memory: blocks that are released together

enum { ARENA_BYTES = 1 << 16 };

struct arena_block {
    struct arena_block *next;
    size_t used, size;
    alignas(max_align_t) char bytes[];
};

void *document_allocate(struct scene_document *document, size_t bytes)
{
    size_t rounded = (bytes + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);
    if (rounded < bytes)
        return NULL;
    struct arena_block *block = document->arena;
    if (!block || block->size - block->used < rounded) {
        size_t size = rounded > ARENA_BYTES ? rounded : ARENA_BYTES;
        if (size > SIZE_MAX - sizeof *block)
            return NULL;
        block = calloc(1, sizeof *block + size);
        if (!block)
            return NULL;
        block->size = size;
        // A large block is full at once: it goes behind the one that still has room.
        if (rounded > ARENA_BYTES && document->arena) {
            block->next = document->arena->next;
            document->arena->next = block;
        } else {
            block->next = document->arena;
            document->arena = block;
        }
    }
    void *memory = block->bytes + block->used;
    block->used += rounded;
    return memory;
}

struct scene_document *document_create(const char *text, size_t length, const char *name,
                                       size_t override_count)
{
    struct scene_document *document = calloc(1, sizeof *document);
    if (!document)
        return NULL;
    document->overrides = calloc(override_count + 1, sizeof *document->overrides);
    document->override_count = override_count;
    if (!document->overrides || !source_init(&document->source, name, text, length)) {
        document_free(document);
        return NULL;
    }
    return document;
}

void document_free(struct scene_document *document)
{
    if (!document)
        return;
    for (struct arena_block *block = document->arena, *next; block; block = next) {
        next = block->next;
        free(block);
    }
    if (document->overrides)
        for (size_t i = 0; i < document->override_count; i++)
            source_free(&document->overrides[i]);
    free(document->overrides);
    source_free(&document->source);
    free(document);
}

// ---- Looking

const struct dom_pair *dom_find(const struct dom_node *mapping, const char *key)
{
    if (mapping->kind != DOM_MAPPING)
        return NULL;
    for (size_t i = 0; i < mapping->count; i++)
        if (strcmp(mapping->pairs[i].key, key) == 0)
            return &mapping->pairs[i];
    return NULL;
}

const char *dom_kind_text(const struct dom_node *node)
{
    switch (node->kind) {
    case DOM_LIST:
        return "a list";
    case DOM_MAPPING:
        return "a mapping";
    case DOM_SCALAR:
        break;
    }
    return node->plain ? (node->count > 0 ? "text" : "nothing") : "text in quotes";
}

// ---- Complaining

static bool is_known(const struct diagnostics *diagnostics, mark at, const char *file,
                     const char *text)
{
    for (size_t i = 0; i < diagnostics->count; i++) {
        const struct diagnostic *item = &diagnostics->items[i];
        if (item->at.line == at.line && item->at.column == at.column &&
            strcmp(item->text, text) == 0 && strcmp(item->file, file) == 0)
            return true;
    }
    return false;
}

void document_complain_va(const struct scene_document *document, struct diagnostics *diagnostics,
                          mark at, const char *hint, const char *format, va_list arguments)
{
    char text[1024];
    // Once the list is full there is nothing left to show, only to count.
    if (diagnostics->count >= DIAGNOSTICS_MAX) {
        diagnostics_add(diagnostics, DIAGNOSTIC_ERROR, "", at, NULL, NULL, "%s", "");
        return;
    }
    vsnprintf(text, sizeof text, format, arguments);
    const struct source *source = &document->source;
    if (at.line < 0 && (size_t)(-(at.line + 1)) < document->override_count) {
        source = &document->overrides[-(at.line + 1)];
        at.line = 1;
    }
    if (is_known(diagnostics, at, source->name, text))
        return;
    char *line = source_line(source, at.line);
    diagnostics_add(diagnostics, DIAGNOSTIC_ERROR, source->name, at, line, hint, "%s", text);
    free(line);
}

void document_complain(const struct scene_document *document, struct diagnostics *diagnostics,
                       mark at, const char *hint, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    document_complain_va(document, diagnostics, at, hint, format, arguments);
    va_end(arguments);
}

struct shown show_text(const char *text)
{
    struct shown shown;
    size_t limit = sizeof shown.text - 4, length = strlen(text);
    if (length <= limit) {
        memcpy(shown.text, text, length + 1);
        return shown;
    }
    // Not in the middle of a UTF-8 sequence.
    while (limit > 0 && ((unsigned char)text[limit] & 0xC0) == 0x80)
        limit--;
    memcpy(shown.text, text, limit);
    memcpy(shown.text + limit, "...", 4);
    return shown;
}
