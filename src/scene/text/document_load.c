// From libyaml's events to the tree of document.h. What a hostile file could make large is bounded
// (document_tree.c): depth, nodes after aliases are expanded, and no alias may name what holds it.
#include "scene/text/document.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <yaml.h>

#include "scene/text/document_anchors.h"
#include "scene/text/document_tree.h"

struct loader {
    struct tree tree;
    yaml_parser_t parser;
    struct anchors anchors;
    bool single_line; // an override: all places are on `line`, `column` characters further right
    int line, column, end_column;
};

static mark mark_of(const struct loader *loader, yaml_mark_t at)
{
    size_t line = at.line < INT_MAX ? at.line : INT_MAX - 1;
    size_t column = at.column < INT_MAX / 2 ? at.column : INT_MAX / 2;
    // libyaml puts the end of the text on a line of its own.
    if (loader->single_line)
        return (mark){loader->line,
                      line > 0 ? loader->end_column : (int)column + 1 + loader->column};
    return (mark){(int)line + 1, (int)column + 1};
}

// ---- Events

static void define_anchor(struct loader *loader, const yaml_char_t *anchor, struct dom_node *node)
{
    struct scene_document *document = loader->tree.document;
    if (anchor && node && !anchors_define(&loader->anchors, document, (const char *)anchor, node))
        tree_stop_without_memory(&loader->tree);
}

static void refuse_tag(struct loader *loader, mark at, const yaml_char_t *tag)
{
    if (tag)
        tree_complain(&loader->tree, at, "tags such as '%s' are not used in scenes",
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

static void take_scalar(struct loader *loader, mark at, const yaml_event_t *event)
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

static void take_alias(struct loader *loader, mark at, const char *name)
{
    struct dom_node *node = anchors_find(&loader->anchors, name);
    if (tree_wants_key(&loader->tree))
        tree_stop(&loader->tree, at, NULL, "a key must be written out, not be an alias");
    else if (!node)
        tree_stop(&loader->tree, at, anchors_nearest(&loader->anchors, name),
                  "no anchor '&%s' stands before this alias", show_text(name).text);
    else if (!node->complete)
        tree_stop(&loader->tree, at, NULL, "the alias '*%s' stands inside what it names",
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

static void take_event(struct loader *loader, const yaml_event_t *event)
{
    mark at = mark_of(loader, event->start_mark);
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        if (loader->tree.has_root)
            tree_stop(&loader->tree, at, NULL,
                      "a second document begins here; a scene is one document");
        break;
    case YAML_SCALAR_EVENT:
        take_scalar(loader, at, event);
        break;
    case YAML_ALIAS_EVENT:
        take_alias(loader, at, (const char *)event->data.alias.anchor);
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

// libyaml's "found character that cannot start any token" means nothing to most people.
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

static void report_syntax(struct loader *loader)
{
    const yaml_parser_t *parser = &loader->parser;
    mark at = mark_of(loader, parser->problem_mark);
    const char *problem = parser->problem ? parser->problem : "this is not YAML";
    if (parser->error == YAML_MEMORY_ERROR)
        tree_stop_without_memory(&loader->tree);
    else if (parser->error == YAML_READER_ERROR)
        tree_stop(&loader->tree, (mark){0, 0}, NULL, "%s", problem);
    else if (is_tab_indentation(loader, at))
        tree_stop(&loader->tree, at, NULL, "a tab stands in the indentation; YAML wants spaces");
    else if (parser->context && parser->context_mark.line != parser->problem_mark.line)
        tree_stop(&loader->tree, at, NULL, "%s (%s that begins at line %zu)", problem,
                  parser->context, parser->context_mark.line + 1);
    else if (parser->context)
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
        take_event(loader, &event);
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
        document_complain(document, diagnostics, at, NULL, "%s", wrong);
        return false;
    }
    bool sound = load(&loader, source->text, source->length);
    if (sound && !loader.tree.has_root) {
        document_complain(document, diagnostics, (mark){1, 1}, NULL, "the scene is empty");
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
    loader.end_column = 1;
    // Columns count characters.
    for (size_t i = 0; i < source->length; i++) {
        int starts = ((unsigned char)source->text[i] & 0xC0) != 0x80;
        loader.column += i < offset ? starts : 0;
        loader.end_column += starts;
    }
    bool sound = load(&loader, source->text + offset, source->length - offset);
    if (sound && !loader.tree.has_root) {
        document_complain(document, diagnostics, (mark){loader.line, loader.column + 1}, NULL,
                          "no value stands after '='");
        return false;
    }
    *value = loader.tree.root;
    return sound;
}
