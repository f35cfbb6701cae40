// The springs' materials of a body as sliders: the stiffness of each kind, and the rest behind
// them.
#ifndef TAUT_VIEW_MATERIALS_H
#define TAUT_VIEW_MATERIALS_H

#include "view/view.h"

void materials_draw(struct view *view, size_t number); // of that body of the scene

// What the scene file says of a body: of a key its scalar text, or NULL.
const char *body_scalar(const taut_scene *scene, size_t number, const char *key);

// The whole of a body's springs in the words of a scene, of those kinds (a bit each) that are
// present or, where they are not, with the material of the first that is; for `bodies.N.springs`.
// NULL without memory; the caller frees it.
char *materials_text(const struct scene_body *body, unsigned kinds);

#endif
