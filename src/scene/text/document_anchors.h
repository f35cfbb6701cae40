// The anchors of one YAML text by name: a hash table, so that a file of a million anchors and
// aliases is still read in linear time.
#ifndef TAUT_SCENE_DOCUMENT_ANCHORS_H
#define TAUT_SCENE_DOCUMENT_ANCHORS_H

#include "scene/text/document.h"

struct anchor {
    const char *name;
    struct dom_node *node;
};

struct anchors {
    struct anchor *slots; // open addressing; a power of two
    size_t slot_count, count;
};

// A later definition of a name replaces the earlier one, as YAML has it. False without memory.
bool anchors_define(struct anchors *anchors, struct scene_document *document, const char *name,
                    struct dom_node *node);

struct dom_node *anchors_find(const struct anchors *anchors, const char *name);

// The known name nearest to `name`, or NULL.
const char *anchors_nearest(const struct anchors *anchors, const char *name);

void anchors_free(struct anchors *anchors);

#endif
