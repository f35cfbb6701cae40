// The keys of a mapping once it is read: duplicates are found, and YAML 1.1's merge key is worked
// in (`<<: *silk` or `<<: [*a, *b]`: their keys are taken where the mapping has none of its own).
#ifndef TAUT_SCENE_DOCUMENT_MERGE_H
#define TAUT_SCENE_DOCUMENT_MERGE_H

#include "scene/text/document.h"

struct merge_result {
    bool no_memory;
    uint64_t added_weight; // nodes that came in through merge keys
};

struct merge_result mapping_merge(struct scene_document *document, struct dom_node *mapping,
                                  struct diagnostics *diagnostics);

#endif
