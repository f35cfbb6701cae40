#include "scene/text/document_tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "scene/text/document_merge.h"

void tree_complain(struct tree *tree, mark at, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    document_complain_va(tree->document, tree->diagnostics, at, NULL, format, arguments);
    va_end(arguments);
}

void tree_stop(struct tree *tree, mark at, const char *hint, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    document_complain_va(tree->document, tree->diagnostics, at, hint, format, arguments);
    va_end(arguments);
    tree->stop = true;
    tree->broken = true;
}

void tree_stop_without_memory(struct tree *tree)
{
    tree->diagnostics->failure = TAUT_ERROR_MEMORY;
    tree_stop(tree, (mark){0, 0}, NULL, "out of memory while reading the scene");
}

static bool count_nodes(struct tree *tree, mark at, uint64_t weight)
{
    tree->document->weight += weight;
    if (tree->document->weight <= DOCUMENT_NODES_MAX)
        return true;
    tree_stop(tree, at, NULL,
              "the scene has more than %d values, aliases expanded; put large lists in files "
              "(nodes_file, springs_file)",
              DOCUMENT_NODES_MAX);
    return false;
}

// Puts a value where the file is now: as the root, an item, or the value of the key before it.
static void place_value(struct tree *tree, struct dom_value value)
{
    if (tree->depth == 0) {
        tree->root = value;
        tree->has_root = true;
        return;
    }
    struct tree_frame *frame = &tree->stack[tree->depth - 1];
    if (frame->node->kind == DOM_MAPPING) {
        frame->pairs[frame->count++].value = value;
        frame->has_key = false;
        return;
    }
    void *items = frame->items;
    bool grown = array_reserve(&items, &frame->capacity, frame->count + 1, sizeof value);
    frame->items = items;
    if (grown)
        frame->items[frame->count++] = value;
    else
        tree_stop_without_memory(tree);
}

static struct dom_node *new_node(struct tree *tree, enum dom_kind kind, mark at)
{
    if (!count_nodes(tree, at, 1))
        return NULL;
    struct dom_node *node = document_allocate(tree->document, sizeof *node);
    if (!node) {
        tree_stop_without_memory(tree);
        return NULL;
    }
    node->kind = kind;
    node->at = at;
    node->weight = 1;
    return node;
}

// ---- Keys and scalars

bool tree_wants_key(const struct tree *tree)
{
    if (tree->depth == 0)
        return false;
    const struct tree_frame *frame = &tree->stack[tree->depth - 1];
    return frame->node->kind == DOM_MAPPING && !frame->has_key;
}

void tree_add_key(struct tree *tree, mark at, const char *text, bool plain)
{
    struct tree_frame *frame = &tree->stack[tree->depth - 1];
    void *pairs = frame->pairs;
    if (!count_nodes(tree, at, 1))
        return;
    bool grown = array_reserve(&pairs, &frame->capacity, frame->count + 1, sizeof *frame->pairs);
    frame->pairs = pairs;
    if (!grown) {
        tree_stop_without_memory(tree);
        return;
    }
    bool merge = plain && strcmp(text, "<<") == 0;
    frame->pairs[frame->count] = (struct dom_pair){.key = text, .key_at = at, .merge = merge};
    frame->has_key = true;
}

struct dom_node *tree_add_scalar(struct tree *tree, mark at, const char *text, bool plain)
{
    struct dom_node *node = new_node(tree, DOM_SCALAR, at);
    if (!node)
        return NULL;
    node->plain = plain;
    node->complete = true;
    node->text = text;
    node->count = strlen(text);
    place_value(tree, (struct dom_value){.node = node, .at = at});
    return node;
}

void tree_add_alias(struct tree *tree, mark at, struct dom_node *node)
{
    if (tree->depth + node->height > DOCUMENT_DEPTH_MAX)
        tree_stop(tree, at, NULL,
                  "lists and mappings are nested more than %d deep, aliases expanded",
                  DOCUMENT_DEPTH_MAX);
    else if (count_nodes(tree, at, node->weight))
        place_value(tree, (struct dom_value){.node = node, .at = at, .shared = true});
}

// ---- Lists and mappings

struct dom_node *tree_open(struct tree *tree, mark at, enum dom_kind kind, bool flow)
{
    if (tree->depth == DOCUMENT_DEPTH_MAX) {
        tree_stop(tree, at, NULL, "lists and mappings are nested more than %d deep",
                  DOCUMENT_DEPTH_MAX);
        return NULL;
    }
    struct dom_node *node = new_node(tree, kind, at);
    if (!node)
        return NULL;
    node->flow = flow;
    tree->stack[tree->depth++] = (struct tree_frame){.node = node};
    return node;
}

// Moves what the frame gathered into the document.
static bool store_content(struct tree *tree, struct tree_frame *frame)
{
    bool mapping = frame->node->kind == DOM_MAPPING;
    size_t bytes = frame->count * (mapping ? sizeof *frame->pairs : sizeof *frame->items);
    void *content = document_allocate(tree->document, bytes);
    if (!content)
        return false;
    if (bytes > 0)
        memcpy(content, mapping ? (void *)frame->pairs : (void *)frame->items, bytes);
    frame->node->pairs = mapping ? content : NULL;
    frame->node->items = mapping ? NULL : content;
    frame->node->count = frame->count;
    return true;
}

static void measure(struct dom_node *node)
{
    bool mapping = node->kind == DOM_MAPPING;
    node->height = 1;
    for (size_t i = 0; i < node->count; i++) {
        const struct dom_node *child = mapping ? node->pairs[i].value.node : node->items[i].node;
        node->weight += child->weight + mapping;
        if (child->height >= node->height)
            node->height = child->height + 1;
    }
}

static bool merge_keys(struct tree *tree, struct dom_node *node)
{
    struct merge_result merged = mapping_merge(tree->document, node, tree->diagnostics);
    if (merged.no_memory) {
        tree_stop_without_memory(tree);
        return false;
    }
    return count_nodes(tree, node->at, merged.added_weight);
}

void tree_close(struct tree *tree)
{
    struct tree_frame *frame = &tree->stack[--tree->depth];
    struct dom_node *node = frame->node;
    bool stored = store_content(tree, frame);
    free(frame->items);
    free(frame->pairs);
    if (!stored) {
        tree_stop_without_memory(tree);
        return;
    }
    if (node->kind == DOM_MAPPING && !merge_keys(tree, node))
        return;
    measure(node);
    node->complete = true;
    place_value(tree, (struct dom_value){.node = node, .at = node->at});
}

void tree_abandon(struct tree *tree)
{
    for (int i = 0; i < tree->depth; i++) {
        free(tree->stack[i].items);
        free(tree->stack[i].pairs);
    }
    tree->depth = 0;
}
