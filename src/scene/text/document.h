// The scene file as a tree: mappings, lists and scalars, each with its position. Aliases are not
// copied: they point at what they name, so the tree is a directed graph without cycles, and
// `weight` counts it as if it were expanded.
//
// A position in an override k has line -(k + 1) and its column in the text PATH=VALUE, so that one
// mark is enough (document_report knows how to show it).
#ifndef TAUT_SCENE_DOCUMENT_H
#define TAUT_SCENE_DOCUMENT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diagnostics.h"

// A text that messages point into: the scene file, or one --set PATH=VALUE.
struct source {
    char *name; // as messages call it
    char *text; // owned, NUL-terminated, without a byte order mark
    size_t length;
};

// Copies `length` bytes of text. False without memory; source_free may be called all the same.
bool source_init(struct source *source, const char *name, const char *text, size_t length);

// NULL if the text is UTF-8 without characters that YAML forbids; else what is wrong, and where.
const char *source_check(const struct source *source, mark *at);

// A copy of line `line` (from 1) without its end; NULL without memory or beyond the last line. It
// is searched from the start each time: only messages ask, and an index would cost every good
// scene.
char *source_line(const struct source *source, int line);

void source_free(struct source *source);

enum {
    DOCUMENT_DEPTH_MAX = 64,
    DOCUMENT_BYTES_MAX = 64 << 20,
    DOCUMENT_NODES_MAX = 4000000, // after aliases are expanded; keys count as well
};

enum dom_kind { DOM_SCALAR, DOM_LIST, DOM_MAPPING };

struct dom_node;

// A use of a node. `at` is where it is used: at an alias, the position of the alias.
struct dom_value {
    struct dom_node *node;
    mark at;
    bool shared; // an alias, or reached through one: to be copied before it is changed
};

struct dom_pair {
    const char *key;
    mark key_at;
    bool merge; // a plain '<<', before it is worked in
    struct dom_value value;
};

struct dom_node {
    enum dom_kind kind;
    bool plain;    // a scalar without quotes
    bool flow;     // a list or mapping written in brackets
    bool complete; // false while its own content is being read
    int height;    // levels of lists and mappings, itself included; a scalar has 0
    mark at;
    uint64_t weight;  // nodes and keys, aliases expanded
    const char *text; // of a scalar; NUL-terminated, without NUL inside
    size_t count;     // items, pairs or bytes of text
    struct dom_value *items;
    struct dom_pair *pairs;
};

struct arena_block;

struct scene_document {
    struct source source;     // the scene file
    struct source *overrides; // one for each --set, in their order
    size_t override_count;
    bool later_override_wins;  // of two overrides that exclude each other: no error
    struct arena_block *arena; // holds all nodes and their texts
    struct dom_value root;
    uint64_t weight;
};

// NULL without memory.
struct scene_document *document_create(const char *text, size_t length, const char *name,
                                       size_t override_count);

// Reads the YAML of the scene file into document->root. False if there is no tree: after a syntax
// error, or where a limit is passed. Other errors (duplicate keys, tags) are in `diagnostics` too,
// but leave a tree whose binding may find more.
bool document_load(struct scene_document *document, struct diagnostics *diagnostics);

// Reads one value out of override `index`, from byte `offset` of its text on.
bool document_load_value(struct scene_document *document, size_t index, size_t offset,
                         struct dom_value *value, struct diagnostics *diagnostics);

// Applies override `index` of the document (PATH=VALUE: reader.h). A key that is missing
// is added; whether the scene knows it is seen when it is bound. Where the path leads through an
// alias, only this use changes; where it leads to the anchor itself, all uses do. False after
// errors, which are in `diagnostics`.
struct scene_override;
bool override_apply(struct scene_document *document, size_t index,
                    const struct scene_override *override, struct diagnostics *diagnostics);

void document_free(struct scene_document *document);

// Zeroed memory that lives as long as the document; NULL when there is none.
void *document_allocate(struct scene_document *document, size_t bytes);

// The pair of that key in a mapping, or NULL.
const struct dom_pair *dom_find(const struct dom_node *mapping, const char *key);

// Which override gave the value or a part of it: the number of the last one, from 1; 0 if all of it
// is the scene file's.
int dom_override(const struct dom_value *value);

// Makes the value's node its own, so that a change of it is not seen through other aliases; its
// children are still shared. False without memory.
bool document_own(struct scene_document *document, struct dom_value *value);

// Takes the key out of a mapping. Pairs that were found in it before stay readable. False without
// memory.
bool document_remove(struct scene_document *document, struct dom_node *mapping, const char *key);

// "a list", "a mapping", "text", "nothing": what a value is, for messages.
const char *dom_kind_text(const struct dom_node *node);

// Adds an error at a position of the scene file or of an override. The same error at the same
// position is added once, however many aliases lead there.
void document_report(const struct scene_document *document, struct diagnostics *diagnostics,
                     mark at, const char *hint, const char *format, ...) PRINTF_FORMAT(5, 6);

void document_report_va(const struct scene_document *document, struct diagnostics *diagnostics,
                        mark at, const char *hint, const char *format, va_list arguments);

// A piece of text from the file as a message can show it: cut to a few dozen characters.
struct shown {
    char text[64];
};

struct shown show_text(const char *text);

#endif
