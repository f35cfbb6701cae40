// The tree under construction: nodes come in the order of the file, and go where the file is at the
// moment. Knows the limits of document.h and nothing of libyaml.
#ifndef TAUT_SCENE_DOCUMENT_TREE_H
#define TAUT_SCENE_DOCUMENT_TREE_H

#include "scene/text/document.h"

// A list or mapping that is not closed yet.
struct tree_frame {
    struct dom_node *node;
    struct dom_value *items;
    struct dom_pair *pairs;
    size_t count, capacity;
    bool has_key; // of a mapping: pairs[count] has its key and waits for its value
};

struct tree {
    struct scene_document *document;
    struct diagnostics *diagnostics;
    struct tree_frame stack[DOCUMENT_DEPTH_MAX];
    int depth;
    struct dom_value root;
    bool has_root;
    bool stop;   // nothing more is to be read
    bool broken; // because of an error; what was read is no whole tree
};

// Adds an error.
void tree_complain(struct tree *tree, mark at, const char *format, ...) PRINTF_FORMAT(3, 4);

// Adds an error and ends the reading.
void tree_stop(struct tree *tree, mark at, const char *hint, const char *format, ...)
    PRINTF_FORMAT(4, 5);
void tree_stop_without_memory(struct tree *tree);

// Whether what comes next must be a key.
bool tree_wants_key(const struct tree *tree);
void tree_add_key(struct tree *tree, mark at, const char *text, bool plain);

// A scalar node with `text`, which lives in the document; NULL after an error.
struct dom_node *tree_add_scalar(struct tree *tree, mark at, const char *text, bool plain);

// One more use of a complete node.
void tree_add_alias(struct tree *tree, mark at, struct dom_node *node);

// Opens a list or mapping; NULL after an error.
struct dom_node *tree_open(struct tree *tree, mark at, enum dom_kind kind, bool flow);
void tree_close(struct tree *tree);

// Releases what is still open.
void tree_abandon(struct tree *tree);

#endif
