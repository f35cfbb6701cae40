// The scene file as a tree: mappings, lists and scalars, each with its position. Aliases are not
// copied but point to their nodes, so the tree is a directed acyclic graph; `weight` is its size if
// aliases were expanded.
//
// A position in override k has line -(k + 1) and the column in the text PATH=VALUE, so that one
// mark is sufficient (document_report interprets it).
#ifndef TAUT_SCENE_DOCUMENT_H
#define TAUT_SCENE_DOCUMENT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diagnostics.h"

// A text that messages point into: the scene file, or one --set PATH=VALUE.
struct source {
    char *name; // for messages
    char *text; // owned, NUL-terminated, without a byte order mark
    size_t length;
};

// Copies `length` bytes of text. False if memory runs out; source_free may be called in either
// case.
bool source_init(struct source *source, const char *name, const char *text, size_t length);

// NULL if the text is UTF-8 without characters that YAML forbids; otherwise the reason, with its
// position in *at.
const char *source_check(const struct source *source, mark *at);

// A copy of line `line` (from 1) without its line break; NULL if memory runs out or after the last
// line. It searches from the start each time: only messages need it, and an index would slow down
// every valid scene.
char *source_line(const struct source *source, int line);

void source_free(struct source *source);

enum {
    DOCUMENT_DEPTH_MAX = 64,
    DOCUMENT_BYTES_MAX = 64 << 20,
    DOCUMENT_NODES_MAX = 4000000, // with aliases expanded; keys count as well
};

enum dom_kind { DOM_SCALAR, DOM_LIST, DOM_MAPPING };

struct dom_node;

// A use of a node. `at` is the position of the use: for an alias, that of the alias.
struct dom_value {
    struct dom_node *node;
    mark at;
    bool shared; // an alias, or reached through one: must be copied before it is changed
};

struct dom_pair {
    const char *key;
    mark key_at;
    bool merge; // a plain '<<' that has not been replaced yet
    struct dom_value value;
};

struct dom_node {
    enum dom_kind kind;
    bool plain;    // a scalar without quotes
    bool flow;     // a list or mapping in brackets
    bool complete; // false while its content is being read
    int height;    // levels of lists and mappings, including itself; 0 for a scalar
    mark at;
    uint64_t weight;  // nodes and keys, with aliases expanded
    const char *text; // of a scalar; NUL-terminated, without NUL inside
    size_t count;     // items, pairs or bytes of text
    struct dom_value *items;
    struct dom_pair *pairs;
};

struct arena_block;

struct scene_document {
    struct source source;     // the scene file
    struct source *overrides; // one per --set, in their order
    size_t override_count;
    bool later_override_wins;  // of two overrides that exclude each other, the later one wins
                               // instead of an error
    struct arena_block *arena; // memory of all nodes and their texts
    struct dom_value root;
    uint64_t weight;
};

// NULL if memory runs out.
struct scene_document *document_create(const char *text, size_t length, const char *name,
                                       size_t override_count);

// Reads the YAML of the scene file into document->root. False if there is no tree: after a syntax
// error, or if a limit is exceeded. Other errors (duplicate keys, tags) are also in `diagnostics`,
// but leave a tree, whose binding may find more.
bool document_load(struct scene_document *document, struct diagnostics *diagnostics);

// Reads one value from override `index`, starting at byte `offset` of its text.
bool document_load_value(struct scene_document *document, size_t index, size_t offset,
                         struct dom_value *value, struct diagnostics *diagnostics);

// Applies override `index` of the document (PATH=VALUE, see reader.h). A missing key is added;
// whether the scene has such a key is checked when it is bound. If the path leads through an alias,
// only this use changes; if it leads to the anchor itself, all uses do. False after errors, which
// are in `diagnostics`.
struct scene_override;
bool override_apply(struct scene_document *document, size_t index,
                    const struct scene_override *override, struct diagnostics *diagnostics);

void document_free(struct scene_document *document);

// Zeroed memory that lives as long as the document; NULL if memory runs out.
void *document_allocate(struct scene_document *document, size_t bytes);

// The pair with this key in a mapping, or NULL.
const struct dom_pair *dom_find(const struct dom_node *mapping, const char *key);

// The override that set the value or a part of it: the number of the last one, from 1; 0 if all of
// it is from the scene file.
int dom_override(const struct dom_value *value);

// Copies the value's node if it is shared, so that a change is not seen through other aliases; its
// children are still shared. False if memory runs out.
bool document_own(struct scene_document *document, struct dom_value *value);

// Removes the key from a mapping. Pairs found in it earlier stay readable. False if memory runs
// out.
bool document_remove(struct scene_document *document, struct dom_node *mapping, const char *key);

// The same, and moves the key `by`, if it comes later, to where the key was.
bool document_replace(struct scene_document *document, struct dom_node *mapping, const char *key,
                      const char *by);

// The kind of a value for messages: "a list", "a mapping", "text", "nothing".
const char *dom_kind_text(const struct dom_node *node);

// Adds an error at a position of the scene file or of an override. The same error at the same
// position is added once, even if several aliases lead there.
void document_report(const struct scene_document *document, struct diagnostics *diagnostics,
                     mark at, const char *hint, const char *format, ...) PRINTF_FORMAT(5, 6);

void document_report_va(const struct scene_document *document, struct diagnostics *diagnostics,
                        mark at, const char *hint, const char *format, va_list arguments);

// A piece of text from the file for messages: cut to a few dozen characters.
struct shown {
    char text[64];
};

struct shown show_text(const char *text);

#endif
