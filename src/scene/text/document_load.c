// From YAML text to the tree of document.h, in four layers: the anchors by name, the keys of a
// complete mapping (duplicates, merge keys), the tree under construction, and libyaml's events.
// Limits protect against malicious files: on depth and on the number of nodes with aliases
// expanded; and an alias must not refer to a node that contains it.
#include "scene/text/document.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <yaml.h>

#include "base/memory.h"
#include "base/text.h"

// ---- Anchors by name: a hash table, so that a million anchors and aliases take linear time

struct anchor {
    const char *name;
    struct dom_node *node;
};

struct anchors {
    struct anchor *slots; // open addressing; the length is a power of two
    size_t slot_count, count;
};

// FNV-1a.
static size_t hash_name(const char *name)
{
    uint64_t hash = 0xCBF29CE484222325u;
    for (const char *c = name; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 0x100000001B3u;
    return (size_t)(hash ^ hash >> 32);
}

// The slot of `name`, or the empty slot where it belongs.
static struct anchor *find_slot(struct anchor *slots, size_t slot_count, const char *name)
{
    size_t at = hash_name(name) & (slot_count - 1);
    while (slots[at].name && strcmp(slots[at].name, name) != 0)
        at = (at + 1) & (slot_count - 1);
    return &slots[at];
}

static bool anchors_grow(struct anchors *anchors)
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

// A later definition of a name replaces the earlier one, as in YAML. False if memory runs out.
static bool anchors_define(struct anchors *anchors, struct scene_document *document,
                           const char *name, struct dom_node *node)
{
    if (2 * (anchors->count + 1) > anchors->slot_count && !anchors_grow(anchors))
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

static struct dom_node *anchors_find(const struct anchors *anchors, const char *name)
{
    if (anchors->slot_count == 0)
        return NULL;
    return find_slot(anchors->slots, anchors->slot_count, name)->node;
}

// The known name nearest to `name`, or NULL.
static const char *anchors_nearest(const struct anchors *anchors, const char *name)
{
    enum { CANDIDATES_MAX = 1000 };
    const char *candidates[CANDIDATES_MAX];
    size_t count = 0;
    for (size_t i = 0; i < anchors->slot_count && count < CANDIDATES_MAX; i++)
        if (anchors->slots[i].name)
            candidates[count++] = anchors->slots[i].name;
    return nearest_name(name, candidates, count);
}

static void anchors_free(struct anchors *anchors)
{
    free(anchors->slots);
    *anchors = (struct anchors){0};
}

// ---- Keys of a mapping: duplicates, and YAML 1.1's merge key '<<'

struct merge_result {
    bool no_memory;
    uint64_t added_weight; // nodes added by merge keys
};

enum { SMALL_MAPPING = 16 }; // up to this many keys are compared pairwise; more are sorted

struct merger {
    struct scene_document *document;
    struct dom_node *mapping;
    struct diagnostics *diagnostics;
    struct merge_result result;
};

static void report_duplicate(struct merger *merger, const struct dom_pair *first,
                             const struct dom_pair *second)
{
    struct shown key = show_text(second->key);
    if (first->key_at.line > 0)
        document_report(merger->document, merger->diagnostics, second->key_at, NULL,
                        "duplicate key '%s'; it is given before at line %d", key.text,
                        first->key_at.line);
    else
        document_report(merger->document, merger->diagnostics, second->key_at, NULL,
                        "duplicate key '%s'", key.text);
}

static int compare_keys(const void *a, const void *b)
{
    const struct dom_pair *const *first = a, *const *second = b;
    int order = strcmp((*first)->key, (*second)->key);
    if (order != 0)
        return order;
    return *first < *second ? -1 : *first > *second; // pointers into the same array: the order of
                                                     // the file
}

// Marks, by a NULL key, each pair whose key occurs in an earlier pair. Reports it, unless it is one
// of the pairs from index `own` on, which were added by a merge.
static bool mark_duplicates(struct merger *merger, size_t own)
{
    struct dom_pair *pairs = merger->mapping->pairs;
    size_t count = merger->mapping->count;
    if (count <= SMALL_MAPPING) {
        for (size_t i = 1; i < count; i++)
            for (size_t j = 0; j < i; j++) {
                if (!pairs[j].key || strcmp(pairs[i].key, pairs[j].key) != 0)
                    continue;
                if (i < own)
                    report_duplicate(merger, &pairs[j], &pairs[i]);
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
            report_duplicate(merger, sorted[first], sorted[i]);
        sorted[i]->key = NULL;
    }
    free(sorted);
    return true;
}

static void remove_marked(struct dom_node *mapping)
{
    size_t kept = 0;
    for (size_t i = 0; i < mapping->count; i++)
        if (mapping->pairs[i].key)
            mapping->pairs[kept++] = mapping->pairs[i];
    mapping->count = kept;
}

// Finds the mappings that a merge key names; false after an error.
static bool merge_sources(struct merger *merger, const struct dom_pair *merge,
                          const struct dom_value **sources, size_t *count)
{
    const struct dom_node *node = merge->value.node;
    *sources = node->kind == DOM_LIST ? node->items : &merge->value;
    *count = node->kind == DOM_LIST ? node->count : 1;
    for (size_t i = 0; i < *count; i++)
        if ((*sources)[i].node->kind != DOM_MAPPING) {
            document_report(merger->document, merger->diagnostics, (*sources)[i].at, NULL,
                            "the merge key '<<' takes a mapping or a list of mappings, not %s",
                            dom_kind_text((*sources)[i].node));
            return false;
        }
    return true;
}

// Replaces the merge key at `index` by the pairs of its mappings, which are appended.
static bool replace_merge_key(struct merger *merger, size_t index)
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
        // The caller rejects this size, so nothing needs to be copied.
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

// Reports duplicate keys of a complete mapping, and replaces its merge key (`<<: *silk` or `<<:
// [*a, *b]`) by those keys of the merged mappings that it does not have itself.
static struct merge_result mapping_merge(struct scene_document *document, struct dom_node *mapping,
                                         struct diagnostics *diagnostics)
{
    struct merger merger = {document, mapping, diagnostics, {0}};
    bool enough = mark_duplicates(&merger, mapping->count);
    remove_marked(mapping);
    for (size_t i = 0; i < mapping->count && enough; i++) {
        if (!mapping->pairs[i].merge)
            continue;
        size_t own = mapping->count - 1;
        enough = replace_merge_key(&merger, i) && mark_duplicates(&merger, own);
        remove_marked(mapping);
        break; // a second '<<' was a duplicate
    }
    merger.result.no_memory = !enough;
    return merger.result;
}

// ---- The tree under construction: nodes arrive in the order of the file

// A list or mapping that is still open.
struct tree_frame {
    struct dom_node *node;
    struct dom_value *items;
    struct dom_pair *pairs;
    size_t count, capacity;
    bool has_key; // in a mapping: pairs[count] has its key, but not its value yet
};

struct tree {
    struct scene_document *document;
    struct diagnostics *diagnostics;
    struct tree_frame stack[DOCUMENT_DEPTH_MAX];
    int depth;
    struct dom_value root;
    bool has_root;
    bool stop;   // stop reading
    bool broken; // stopped by an error; the tree is incomplete
};

static void tree_report(struct tree *tree, mark at, const char *format, ...) PRINTF_FORMAT(3, 4);
static void tree_stop(struct tree *tree, mark at, const char *hint, const char *format, ...)
    PRINTF_FORMAT(4, 5);

static void tree_report(struct tree *tree, mark at, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    document_report_va(tree->document, tree->diagnostics, at, NULL, format, arguments);
    va_end(arguments);
}

// Reports an error and stops reading.
static void tree_stop(struct tree *tree, mark at, const char *hint, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    document_report_va(tree->document, tree->diagnostics, at, hint, format, arguments);
    va_end(arguments);
    tree->stop = true;
    tree->broken = true;
}

static void tree_stop_without_memory(struct tree *tree)
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

// Adds a value at the current position: as the root, as an item, or for the preceding key.
static void add_value(struct tree *tree, struct dom_value value)
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

// ---- Tree: keys and scalars

// Whether the next node must be a key.
static bool tree_wants_key(const struct tree *tree)
{
    if (tree->depth == 0)
        return false;
    const struct tree_frame *frame = &tree->stack[tree->depth - 1];
    return frame->node->kind == DOM_MAPPING && !frame->has_key;
}

static void tree_add_key(struct tree *tree, mark at, const char *text, bool plain)
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

// Adds a scalar node with `text`, which belongs to the document; NULL after an error.
static struct dom_node *tree_add_scalar(struct tree *tree, mark at, const char *text, bool plain)
{
    struct dom_node *node = new_node(tree, DOM_SCALAR, at);
    if (!node)
        return NULL;
    node->plain = plain;
    node->complete = true;
    node->text = text;
    node->count = strlen(text);
    add_value(tree, (struct dom_value){.node = node, .at = at});
    return node;
}

// Adds another use of a complete node.
static void tree_add_alias(struct tree *tree, mark at, struct dom_node *node)
{
    if (tree->depth + node->height > DOCUMENT_DEPTH_MAX)
        tree_stop(tree, at, NULL,
                  "lists and mappings are nested more than %d deep, aliases expanded",
                  DOCUMENT_DEPTH_MAX);
    else if (count_nodes(tree, at, node->weight))
        add_value(tree, (struct dom_value){.node = node, .at = at, .shared = true});
}

// ---- Tree: lists and mappings

// Opens a list or mapping; NULL after an error.
static struct dom_node *tree_open(struct tree *tree, mark at, enum dom_kind kind, bool flow)
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

// Moves the content of the frame into the document.
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

static void measure_node(struct dom_node *node)
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

static void tree_close(struct tree *tree)
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
    measure_node(node);
    node->complete = true;
    add_value(tree, (struct dom_value){.node = node, .at = node->at});
}

// Releases frames that are still open.
static void tree_abandon(struct tree *tree)
{
    for (int i = 0; i < tree->depth; i++) {
        free(tree->stack[i].items);
        free(tree->stack[i].pairs);
    }
    tree->depth = 0;
}

// ---- Loader: libyaml's events and their positions

struct loader {
    struct tree tree;
    yaml_parser_t parser;
    struct anchors anchors;
    bool single_line; // an override: all positions are on `line`, `column` characters further right
    int line, column, end_column;
};

static mark mark_of(const struct loader *loader, yaml_mark_t at)
{
    size_t line = at.line < INT_MAX ? at.line : INT_MAX - 1;
    size_t column = at.column < INT_MAX / 2 ? at.column : INT_MAX / 2;
    // libyaml reports the end of the text on an additional line.
    if (loader->single_line)
        return (mark){loader->line,
                      line > 0 ? loader->end_column : (int)column + 1 + loader->column};
    return (mark){(int)line + 1, (int)column + 1};
}

// ---- Events that build the tree

static void define_anchor(struct loader *loader, const yaml_char_t *anchor, struct dom_node *node)
{
    struct scene_document *document = loader->tree.document;
    if (anchor && node && !anchors_define(&loader->anchors, document, (const char *)anchor, node))
        tree_stop_without_memory(&loader->tree);
}

static void refuse_tag(struct loader *loader, mark at, const yaml_char_t *tag)
{
    if (tag)
        tree_report(&loader->tree, at, "tags such as '%s' are not used in scenes",
                    show_text((const char *)tag).text);
}

// A copy of the scalar's text in the document, or NULL after an error.
static const char *scalar_text(struct loader *loader, mark at, const yaml_event_t *event)
{
    size_t length = event->data.scalar.length;
    if (memchr(event->data.scalar.value, 0, length)) {
        tree_stop(&loader->tree, at, NULL, "the text has a NUL character");
        return NULL;
    }
    char *text = document_allocate(loader->tree.document, length + 1);
    if (!text) {
        tree_stop_without_memory(&loader->tree);
        return NULL;
    }
    memcpy(text, event->data.scalar.value, length);
    return text;
}

static void add_scalar(struct loader *loader, mark at, const yaml_event_t *event)
{
    bool plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    const char *text = scalar_text(loader, at, event);
    if (!text)
        return;
    refuse_tag(loader, at, event->data.scalar.tag);
    if (tree_wants_key(&loader->tree))
        tree_add_key(&loader->tree, at, text, plain);
    else
        define_anchor(loader, event->data.scalar.anchor,
                      tree_add_scalar(&loader->tree, at, text, plain));
}

static void add_alias(struct loader *loader, mark at, const char *name)
{
    struct dom_node *node = anchors_find(&loader->anchors, name);
    if (tree_wants_key(&loader->tree))
        tree_stop(&loader->tree, at, NULL, "a key must be written out, not be an alias");
    else if (!node)
        tree_stop(&loader->tree, at, anchors_nearest(&loader->anchors, name),
                  "no anchor '&%s' precedes this alias", show_text(name).text);
    else if (!node->complete)
        tree_stop(&loader->tree, at, NULL, "the alias '*%s' is inside what it names",
                  show_text(name).text);
    else
        tree_add_alias(&loader->tree, at, node);
}

static void open_container(struct loader *loader, mark at, enum dom_kind kind, bool flow,
                           const yaml_char_t *anchor, const yaml_char_t *tag)
{
    if (tree_wants_key(&loader->tree)) {
        tree_stop(&loader->tree, at, NULL, "a key must be a word, not a list or mapping");
        return;
    }
    refuse_tag(loader, at, tag);
    define_anchor(loader, anchor, tree_open(&loader->tree, at, kind, flow));
}

static void handle_event(struct loader *loader, const yaml_event_t *event)
{
    mark at = mark_of(loader, event->start_mark);
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        if (loader->tree.has_root)
            tree_stop(&loader->tree, at, NULL,
                      "a second document begins here; a scene is one document");
        break;
    case YAML_SCALAR_EVENT:
        add_scalar(loader, at, event);
        break;
    case YAML_ALIAS_EVENT:
        add_alias(loader, at, (const char *)event->data.alias.anchor);
        break;
    case YAML_SEQUENCE_START_EVENT:
        open_container(loader, at, DOM_LIST,
                       event->data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE,
                       event->data.sequence_start.anchor, event->data.sequence_start.tag);
        break;
    case YAML_MAPPING_START_EVENT:
        open_container(loader, at, DOM_MAPPING,
                       event->data.mapping_start.style == YAML_FLOW_MAPPING_STYLE,
                       event->data.mapping_start.anchor, event->data.mapping_start.tag);
        break;
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        tree_close(&loader->tree);
        break;
    case YAML_STREAM_END_EVENT:
        loader->tree.stop = true;
        break;
    default:
        break;
    }
}

// ---- Syntax errors

// Detects tabs in indentation, for which libyaml's message, "found character that cannot start any
// token", is hard to understand.
static bool is_tab_indentation(const struct loader *loader, mark at)
{
    if (loader->parser.error != YAML_SCANNER_ERROR || loader->single_line)
        return false;
    char *line = source_line(&loader->tree.document->source, at.line);
    size_t blank = line ? strspn(line, " \t") : 0;
    bool tab = line && memchr(line, '\t', blank) && (size_t)at.column <= blank + 1;
    free(line);
    return tab;
}

// The meaning of libyaml's problems in a scene, and what to do; `at_context`: the position to
// correct is where the construct begins.
static const struct {
    const char *problem, *text;
    bool at_context;
} syntax_errors[] = {
    {"did not find expected <document start>",
     "unexpected text after the end of a value; is there a bracket too many?", false},
    {"did not find expected key",
     "expected a key, indented like those before it, or a bracket is too many", false},
    {"did not find expected '-' indicator", "expected an item, '- ', indented like those before it",
     false},
    {"did not find expected node content", "expected a value here", false},
    {"could not find expected ':'", "expected ':' and a blank after this key", true},
    {"mapping values are not allowed in this context",
     "unexpected ':'; check the indentation, and quote text that contains ': '", false},
    {"found unexpected end of stream", "the quotation mark is never closed", true},
    {"found character that cannot start any token",
     "text cannot begin with this character; put it in quotation marks", false},
};

static const char *translate(const yaml_parser_t *parser, bool *at_context)
{
    const char *problem = parser->problem ? parser->problem : "this is not YAML";
    for (size_t i = 0; i < sizeof syntax_errors / sizeof syntax_errors[0]; i++)
        if (strcmp(problem, syntax_errors[i].problem) == 0) {
            *at_context = syntax_errors[i].at_context && parser->context;
            return syntax_errors[i].text;
        }
    return problem;
}

static void report_syntax(struct loader *loader)
{
    const yaml_parser_t *parser = &loader->parser;
    bool at_context = false;
    const char *problem = translate(parser, &at_context);
    mark at = mark_of(loader, at_context ? parser->context_mark : parser->problem_mark);
    const char *list = parser->context ? strstr(parser->context, "flow sequence") : NULL;
    const char *mapping = parser->context ? strstr(parser->context, "flow mapping") : NULL;
    const bool is_flow = problem == parser->problem && (list || mapping);
    if (parser->error == YAML_MEMORY_ERROR)
        tree_stop_without_memory(&loader->tree);
    else if (parser->error == YAML_READER_ERROR)
        tree_stop(&loader->tree, (mark){0, 0}, NULL, "%s", problem);
    else if (is_tab_indentation(loader, at))
        tree_stop(&loader->tree, at, NULL, "a tab in the indentation; YAML requires spaces");
    else if (is_flow && loader->single_line)
        tree_stop(&loader->tree, at, NULL, "expected ',' or '%c'", list ? ']' : '}');
    else if (is_flow)
        tree_stop(&loader->tree, at, NULL, "expected ',' or '%c' of the %s that begins at line %zu",
                  list ? ']' : '}', list ? "list" : "mapping", parser->context_mark.line + 1);
    else if (parser->context && problem == parser->problem)
        tree_stop(&loader->tree, at, NULL, "%s (%s)", problem, parser->context);
    else
        tree_stop(&loader->tree, at, NULL, "%s", problem);
}

// ---- Reading

static bool load(struct loader *loader, const char *text, size_t length)
{
    struct tree *tree = &loader->tree;
    if (!yaml_parser_initialize(&loader->parser)) {
        tree_stop_without_memory(tree);
        return false;
    }
    yaml_parser_set_encoding(&loader->parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&loader->parser, (const unsigned char *)text, length);
    while (!tree->stop) {
        yaml_event_t event;
        if (!yaml_parser_parse(&loader->parser, &event)) {
            report_syntax(loader);
            break;
        }
        handle_event(loader, &event);
        yaml_event_delete(&event);
    }
    tree_abandon(tree);
    anchors_free(&loader->anchors);
    yaml_parser_delete(&loader->parser);
    return !tree->broken;
}

bool document_load(struct scene_document *document, struct diagnostics *diagnostics)
{
    const struct source *source = &document->source;
    struct loader loader = {.tree = {.document = document, .diagnostics = diagnostics}};
    mark at = {0, 0};
    const char *wrong = source->length > DOCUMENT_BYTES_MAX ? "the scene is larger than 64 MiB"
                                                            : source_check(source, &at);
    if (wrong) {
        document_report(document, diagnostics, at, NULL, "%s", wrong);
        return false;
    }
    bool sound = load(&loader, source->text, source->length);
    if (sound && !loader.tree.has_root) {
        document_report(document, diagnostics, (mark){1, 1}, NULL, "the scene is empty");
        return false;
    }
    document->root = loader.tree.root;
    return sound;
}

bool document_load_value(struct scene_document *document, size_t index, size_t offset,
                         struct dom_value *value, struct diagnostics *diagnostics)
{
    const struct source *source = &document->overrides[index];
    struct loader loader = {.tree = {.document = document, .diagnostics = diagnostics},
                            .single_line = true,
                            .line = -(int)index - 1};
    // Columns count characters.
    loader.column = (int)text_utf8_count(source->text, offset);
    loader.end_column = 1 + (int)text_utf8_count(source->text, source->length);
    bool sound = load(&loader, source->text + offset, source->length - offset);
    if (sound && !loader.tree.has_root) {
        document_report(document, diagnostics, (mark){loader.line, loader.column + 1}, NULL,
                        "no value after '='");
        return false;
    }
    *value = loader.tree.root;
    return sound;
}
