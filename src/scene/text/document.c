// The document of document.h: its texts with their lines, the memory of its nodes, lookup, changes,
// and messages that point into it. YAML is read by document_load.c.
#include "scene/text/document.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

// ---- Texts that messages point into

// Length in bytes of the line break at text[at]: CR, LF, CR LF, and Unicode's NEL, LS and PS, as in
// libyaml; 0 if there is none.
static size_t line_break_bytes(const char *text, size_t length, size_t at)
{
    const unsigned char *c = (const unsigned char *)text + at;
    size_t left = length - at;
    if (c[0] == '\r' || c[0] == '\n')
        return text_line_end(text + at, left);
    if (left > 1 && c[0] == 0xC2 && c[1] == 0x85)
        return 2;
    if (left > 2 && c[0] == 0xE2 && c[1] == 0x80 && (c[2] == 0xA8 || c[2] == 0xA9))
        return 3;
    return 0;
}

bool source_init(struct source *source, const char *name, const char *text, size_t length)
{
    *source = (struct source){0};
    const size_t skipped = text_byte_order_mark(text, length);
    text += skipped;
    length -= skipped;
    source->name = strdup(name);
    source->text = malloc(length + 1);
    if (!source->name || !source->text)
        return false;
    if (length > 0)
        memcpy(source->text, text, length);
    source->text[length] = '\0';
    source->length = length;
    return true;
}

// The characters of YAML 1.1, section 5.1.
static bool is_allowed(uint32_t point)
{
    return point == '\t' || point == '\n' || point == '\r' || (point >= 0x20 && point <= 0x7E) ||
           point == 0x85 || (point >= 0xA0 && point <= 0xD7FF) ||
           (point >= 0xE000 && point <= 0xFFFD) || point >= 0x10000;
}

const char *source_check(const struct source *source, mark *at)
{
    int line = 1, column = 1;
    for (size_t i = 0; i < source->length;) {
        uint32_t point = 0;
        size_t bytes = text_utf8_decode(source->text + i, source->length - i, &point);
        if (bytes == 0 || !is_allowed(point)) {
            *at = (mark){line, column};
            return bytes == 0   ? "the text is not UTF-8 here"
                   : point == 0 ? "a NUL byte; is this a text file?"
                                : "a control character, which YAML does not allow";
        }
        size_t end = line_break_bytes(source->text, source->length, i);
        line += end > 0;
        column = end > 0 ? 1 : column + 1;
        i += end > 0 ? end : bytes;
    }
    return NULL;
}

char *source_line(const struct source *source, int line)
{
    size_t start = 0;
    for (int number = 1; number < line; number++) {
        size_t bytes = 0;
        while (start < source->length &&
               (bytes = line_break_bytes(source->text, source->length, start)) == 0)
            start++;
        if (start >= source->length)
            return NULL;
        start += bytes;
    }
    size_t end = start;
    while (end < source->length && line_break_bytes(source->text, source->length, end) == 0)
        end++;
    // A NUL byte would end the copy early; it is replaced by another control character, which
    // messages show as '?'.
    char *copy = line < 1 ? NULL : malloc(end - start + 1);
    if (!copy)
        return NULL;
    for (size_t i = start; i < end; i++)
        copy[i - start] = source->text[i] ? source->text[i] : '\x01';
    copy[end - start] = '\0';
    return copy;
}

void source_free(struct source *source)
{
    free(source->name);
    free(source->text);
    *source = (struct source){0};
}

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
        // A large block is full at once, so it is placed after the block that still has space.
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

// ---- Lookup

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

// ---- Changes

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

static size_t index_of(const struct dom_node *mapping, const char *key)
{
    size_t i = 0;
    while (i < mapping->count && strcmp(mapping->pairs[i].key, key) != 0)
        i++;
    return i;
}

bool document_replace(struct scene_document *document, struct dom_node *mapping, const char *key,
                      const char *by)
{
    const size_t to = index_of(mapping, key);
    if (!document_remove(document, mapping, key))
        return false;
    const size_t from = index_of(mapping, by);
    if (from >= to && from < mapping->count) {
        const struct dom_pair moved = mapping->pairs[from];
        memmove(mapping->pairs + to + 1, mapping->pairs + to, (from - to) * sizeof moved);
        mapping->pairs[to] = moved;
    }
    return true;
}

// ---- Messages

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

void document_report_va(const struct scene_document *document, struct diagnostics *diagnostics,
                        mark at, const char *hint, const char *format, va_list arguments)
{
    char text[1024];
    // Once the list is full, errors are only counted.
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

void document_report(const struct scene_document *document, struct diagnostics *diagnostics,
                     mark at, const char *hint, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    document_report_va(document, diagnostics, at, hint, format, arguments);
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
    while (limit > 0 && text_utf8_continues(text[limit]))
        limit--;
    memcpy(shown.text, text, limit);
    memcpy(shown.text + limit, "...", 4);
    return shown;
}
