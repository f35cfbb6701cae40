// Applies --set PATH=VALUE: changes of the document before it is bound.
#include "scene/text/document.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "scene/reader.h"
#include "scene/text/number.h"

struct setter {
    struct scene_document *document;
    struct diagnostics *diagnostics;
    size_t index; // of the override
    const char *text;
    size_t path_length;
};

struct segment {
    char *name; // in the document's arena
    mark at;
};

static bool report(const struct setter *setter, mark at, const char *hint, const char *format, ...)
    PRINTF_FORMAT(4, 5);

static bool report(const struct setter *setter, mark at, const char *hint, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    document_report_va(setter->document, setter->diagnostics, at, hint, format, arguments);
    va_end(arguments);
    return false;
}

static bool report_no_memory(const struct setter *setter)
{
    setter->diagnostics->failure = TAUT_ERROR_MEMORY;
    return report(setter, (mark){0, 0}, NULL, "out of memory while applying --set");
}

// The position of byte `offset` of the override.
static mark mark_at(const struct setter *setter, size_t offset)
{
    return (mark){-(int)setter->index - 1, 1 + (int)text_utf8_count(setter->text, offset)};
}

// Reads the segment that starts at *offset; *offset advances past its dot.
static bool next_segment(const struct setter *setter, size_t *offset, struct segment *segment)
{
    size_t start = *offset, end = start;
    while (end < setter->path_length && setter->text[end] != '.')
        end++;
    segment->at = mark_at(setter, start);
    if (end == start)
        return report(setter, segment->at, NULL, "a part of the path is empty");
    segment->name = document_allocate(setter->document, end - start + 1);
    if (!segment->name)
        return report_no_memory(setter);
    memcpy(segment->name, setter->text + start, end - start);
    *offset = end + 1;
    return true;
}

static bool split_path(const struct setter *setter, struct segment segments[DOCUMENT_DEPTH_MAX],
                       size_t *depth)
{
    for (size_t offset = 0; offset <= setter->path_length; ++*depth) {
        if (*depth == DOCUMENT_DEPTH_MAX)
            return report(setter, mark_at(setter, offset), NULL, "the path has more than %d parts",
                          DOCUMENT_DEPTH_MAX);
        if (!next_segment(setter, &offset, &segments[*depth]))
            return false;
    }
    return true;
}

// ---- Steps along the path

static const char *item_name(const struct dom_value *item)
{
    const struct dom_pair *name = dom_find(item->node, "name");
    return name && name->value.node->kind == DOM_SCALAR ? name->value.node->text : NULL;
}

static bool report_no_item(const struct setter *setter, const struct dom_node *list,
                           const struct segment *segment)
{
    enum { NAMES_MAX = 200 };
    const char *names[NAMES_MAX];
    size_t count = 0;
    for (size_t i = 0; i < list->count && count < NAMES_MAX; i++)
        if (item_name(&list->items[i]))
            names[count++] = item_name(&list->items[i]);
    return report(setter, segment->at, nearest_name(segment->name, names, count),
                  "the list has no item '%s'; items are chosen by their name or by a number "
                  "from 0",
                  show_text(segment->name).text);
}

static struct dom_value *find_item(const struct setter *setter, const struct dom_node *list,
                                   const struct segment *segment)
{
    for (size_t i = 0; i < list->count; i++) {
        const char *name = item_name(&list->items[i]);
        if (name && strcmp(name, segment->name) == 0)
            return &list->items[i];
    }
    uint64_t number;
    if (number_parse_count(segment->name, strlen(segment->name), &number) != NUMBER_OK) {
        report_no_item(setter, list, segment);
        return NULL;
    }
    if (number < list->count)
        return &list->items[number];
    report(setter, segment->at, NULL, "the list has %zu %s, numbered from 0; there is no %s",
           list->count, text_noun(list->count, "item", "items"), show_text(segment->name).text);
    return NULL;
}

// The value of a key, which is added at the end, with an empty mapping as its value, if it is
// missing.
static struct dom_value *find_or_add_key(const struct setter *setter, struct dom_node *mapping,
                                         const struct segment *segment)
{
    for (size_t i = 0; i < mapping->count; i++)
        if (strcmp(mapping->pairs[i].key, segment->name) == 0)
            return &mapping->pairs[i].value;
    size_t bytes = (mapping->count + 1) * sizeof *mapping->pairs;
    struct dom_pair *pairs = document_allocate(setter->document, bytes);
    struct dom_node *node = document_allocate(setter->document, sizeof *node);
    if (!pairs || !node) {
        report_no_memory(setter);
        return NULL;
    }
    if (mapping->count > 0)
        memcpy(pairs, mapping->pairs, mapping->count * sizeof *pairs);
    *node = (struct dom_node){.kind = DOM_MAPPING,
                              .flow = mapping->flow,
                              .complete = true,
                              .height = 1,
                              .at = segment->at,
                              .weight = 1};
    pairs[mapping->count] = (struct dom_pair){
        .key = segment->name, .key_at = segment->at, .value = {.node = node, .at = segment->at}};
    mapping->pairs = pairs;
    return &mapping->pairs[mapping->count++].value;
}

static struct dom_value *step(struct setter *setter, struct dom_value *value,
                              const struct segment *segment)
{
    if (!document_own(setter->document, value)) {
        report_no_memory(setter);
        return NULL;
    }
    struct dom_node *node = value->node;
    if (node->kind == DOM_MAPPING)
        return find_or_add_key(setter, node, segment);
    if (node->kind == DOM_LIST)
        return find_item(setter, node, segment);
    report(setter, segment->at, NULL,
           "the path continues to '%s', but the value there is '%s', not a mapping or list",
           show_text(segment->name).text, show_text(node->text).text);
    return NULL;
}

// ---- Applying

static bool prepare(struct setter *setter, const char *text)
{
    static const char prefix[] = "--set ";
    size_t length = strlen(text);
    char *name = malloc(sizeof prefix + length);
    struct source *source = &setter->document->overrides[setter->index];
    bool ready = false;
    if (name) {
        memcpy(name, prefix, sizeof prefix - 1);
        memcpy(name + sizeof prefix - 1, text, length + 1);
        ready = source_init(source, name, text, length);
    }
    free(name);
    if (!ready)
        return report_no_memory(setter);
    setter->text = source->text;
    setter->path_length = strcspn(setter->text, "=");
    mark whole = mark_at(setter, 0), at;
    if (source_check(source, &at) || strpbrk(setter->text, "\r\n"))
        return report(setter, whole, NULL, "--set takes one line of UTF-8 text");
    if (setter->text[setter->path_length] != '=')
        return report(setter, whole, NULL, "--set takes PATH=VALUE, such as simulation.dt=0.001");
    return true;
}

bool override_apply(struct scene_document *document, size_t index,
                    const struct scene_override *override, struct diagnostics *diagnostics)
{
    struct setter setter = {.document = document, .diagnostics = diagnostics, .index = index};
    struct segment segments[DOCUMENT_DEPTH_MAX];
    struct dom_value *value = &document->root, replacement;
    size_t depth = 0;
    if (override->ignores)
        return true;
    // The whole text is parsed before anything is changed, so that an error leaves no partly added
    // keys.
    if (!prepare(&setter, override->text) || !split_path(&setter, segments, &depth) ||
        !document_load_value(document, index, setter.path_length + 1, &replacement, diagnostics))
        return false;
    for (size_t i = 0; i < depth; i++) {
        value = step(&setter, value, &segments[i]);
        if (!value)
            return false;
    }
    *value = replacement;
    document->later_override_wins |= override->wins;
    return true;
}
