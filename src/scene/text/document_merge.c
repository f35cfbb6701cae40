#include "scene/text/document_merge.h"

#include <stdlib.h>
#include <string.h>

enum { SMALL_MAPPING = 16 }; // so many keys are compared each with each, more are sorted

struct merger {
    struct scene_document *document;
    struct dom_node *mapping;
    struct diagnostics *diagnostics;
    struct merge_result result;
};

static void complain_duplicate(struct merger *merger, const struct dom_pair *first,
                               const struct dom_pair *second)
{
    struct shown key = show_text(second->key);
    if (first->key_at.line > 0)
        document_complain(merger->document, merger->diagnostics, second->key_at, NULL,
                          "duplicate key '%s'; it is given before at line %d", key.text,
                          first->key_at.line);
    else
        document_complain(merger->document, merger->diagnostics, second->key_at, NULL,
                          "duplicate key '%s'", key.text);
}

static int compare_keys(const void *a, const void *b)
{
    const struct dom_pair *const *first = a, *const *second = b;
    int order = strcmp((*first)->key, (*second)->key);
    if (order != 0)
        return order;
    return *first < *second ? -1 : *first > *second; // both in one array: in the file's order
}

// Marks by a NULL key each pair whose key stands before it; of the pairs from `own` on, which came
// in through a merge, silently.
static bool strike_duplicates(struct merger *merger, size_t own)
{
    struct dom_pair *pairs = merger->mapping->pairs;
    size_t count = merger->mapping->count;
    if (count <= SMALL_MAPPING) {
        for (size_t i = 1; i < count; i++)
            for (size_t j = 0; j < i; j++) {
                if (!pairs[j].key || strcmp(pairs[i].key, pairs[j].key) != 0)
                    continue;
                if (i < own)
                    complain_duplicate(merger, &pairs[j], &pairs[i]);
                pairs[i].key = NULL;
                break;
            }
        return true;
    }
    struct dom_pair **sorted = malloc(count * sizeof *sorted);
    if (!sorted)
        return false;
    for (size_t i = 0; i < count; i++)
        sorted[i] = &pairs[i];
    qsort(sorted, count, sizeof *sorted, compare_keys);
    for (size_t i = 1, first = 0; i < count; i++) {
        if (strcmp(sorted[first]->key, sorted[i]->key) != 0) {
            first = i;
            continue;
        }
        if ((size_t)(sorted[i] - pairs) < own)
            complain_duplicate(merger, sorted[first], sorted[i]);
        sorted[i]->key = NULL;
    }
    free(sorted);
    return true;
}

static void remove_struck(struct dom_node *mapping)
{
    size_t kept = 0;
    for (size_t i = 0; i < mapping->count; i++)
        if (mapping->pairs[i].key)
            mapping->pairs[kept++] = mapping->pairs[i];
    mapping->count = kept;
}

// The mappings that a merge key names; false after an error.
static bool merge_sources(struct merger *merger, const struct dom_pair *merge,
                          const struct dom_value **sources, size_t *count)
{
    const struct dom_node *node = merge->value.node;
    *sources = node->kind == DOM_LIST ? node->items : &merge->value;
    *count = node->kind == DOM_LIST ? node->count : 1;
    for (size_t i = 0; i < *count; i++)
        if ((*sources)[i].node->kind != DOM_MAPPING) {
            document_complain(merger->document, merger->diagnostics, (*sources)[i].at, NULL,
                              "the merge key '<<' takes a mapping or a list of mappings, not %s",
                              dom_kind_text((*sources)[i].node));
            return false;
        }
    return true;
}

// Replaces the merge key at `index` by the pairs of its mappings, which go to the end.
static bool work_in(struct merger *merger, size_t index)
{
    struct dom_node *mapping = merger->mapping;
    struct dom_pair merge = mapping->pairs[index];
    const struct dom_value *sources;
    size_t source_count, added = 0;
    memmove(&mapping->pairs[index], &mapping->pairs[index + 1],
            (mapping->count - index - 1) * sizeof *mapping->pairs);
    mapping->count--;
    if (!merge_sources(merger, &merge, &sources, &source_count))
        return true;
    for (size_t i = 0; i < source_count; i++) {
        added += sources[i].node->count;
        merger->result.added_weight += sources[i].node->weight;
        // The caller refuses so much; no need to gather it first.
        if (merger->result.added_weight > DOCUMENT_NODES_MAX)
            return true;
    }
    struct dom_pair *pairs =
        document_allocate(merger->document, (mapping->count + added) * sizeof *pairs);
    if (!pairs)
        return false;
    if (mapping->count > 0)
        memcpy(pairs, mapping->pairs, mapping->count * sizeof *pairs);
    for (size_t i = 0; i < source_count; i++)
        for (size_t j = 0; j < sources[i].node->count; j++) {
            pairs[mapping->count] = sources[i].node->pairs[j];
            pairs[mapping->count++].value.shared = true;
        }
    mapping->pairs = pairs;
    return true;
}

struct merge_result mapping_merge(struct scene_document *document, struct dom_node *mapping,
                                  struct diagnostics *diagnostics)
{
    struct merger merger = {document, mapping, diagnostics, {0}};
    bool enough = strike_duplicates(&merger, mapping->count);
    remove_struck(mapping);
    for (size_t i = 0; i < mapping->count && enough; i++) {
        if (!mapping->pairs[i].merge)
            continue;
        size_t own = mapping->count - 1;
        enough = work_in(&merger, i) && strike_duplicates(&merger, own);
        remove_struck(mapping);
        break; // a second '<<' was a duplicate
    }
    merger.result.no_memory = !enough;
    return merger.result;
}
