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

int dom_override(const struct dom_value *value)
{
    const struct dom_node *node = value->node;
    int last = value->at.line < 0 ? -value->at.line : 0;
    size_t count = node->kind == DOM_SCALAR ? 0 : node->count;
    for (size_t i = 0; i < count; i++) {
        int part = dom_override(node->kind == DOM_LIST ? &node->items[i] : &node->pairs[i].value);
        last = part > last ? part : last;
    }
    return last;
}

// ---- Changing

static bool own_items(struct scene_document *document, struct dom_node *list)
{
    struct dom_value *items = document_allocate(document, list->count * sizeof *items);
    if (!items)
        return false;
    for (size_t i = 0; i < list->count; i++) {
        items[i] = list->items[i];
        items[i].shared = true;
    }
    list->items = items;
    return true;
}

static bool own_pairs(struct scene_document *document, struct dom_node *mapping)
{
    struct dom_pair *pairs = document_allocate(document, mapping->count * sizeof *pairs);
    if (!pairs)
        return false;
    for (size_t i = 0; i < mapping->count; i++) {
        pairs[i] = mapping->pairs[i];
        pairs[i].value.shared = true;
    }
    mapping->pairs = pairs;
    return true;
}

bool document_own(struct scene_document *document, struct dom_value *value)
{
    if (!value->shared)
        return true;
    struct dom_node *copy = document_allocate(document, sizeof *copy);
    if (!copy)
        return false;
    *copy = *value->node;
    bool owned = copy->kind == DOM_LIST      ? own_items(document, copy)
                 : copy->kind == DOM_MAPPING ? own_pairs(document, copy)
                                             : true;
    if (!owned)
        return false;
    value->node = copy;
    value->shared = false;
    return true;
}

bool document_remove(struct scene_document *document, struct dom_node *mapping, const char *key)
{
    struct dom_pair *pairs = document_allocate(document, mapping->count * sizeof *pairs);
    if (!pairs)
        return false;
    size_t kept = 0;
    for (size_t i = 0; i < mapping->count; i++)
        if (strcmp(mapping->pairs[i].key, key) != 0)
            pairs[kept++] = mapping->pairs[i];
    mapping->pairs = pairs;
    mapping->count = kept;
    return true;
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
