// --set PATH=VALUE: changes of the document before it is bound (reader.h says what PATH is).
#ifndef TAUT_SCENE_OVERRIDE_H
#define TAUT_SCENE_OVERRIDE_H

#include "scene/text/document.h"
#include "scene/reader.h"

// Applies override `index` of the document. A key that is not there is added; whether the scene
// knows it is seen when it is bound. Where the path leads through an alias, only this use changes;
// where it leads to an anchor's own place, all uses do. False after errors, which are in
// `diagnostics`.
bool override_apply(struct scene_document *document, size_t index,
                    const struct scene_override *override, struct diagnostics *diagnostics);

#endif
