// The sphere colliders: how many there are, and how large.
#ifndef TAUT_VIEW_SPHERES_H
#define TAUT_VIEW_SPHERES_H

#include "view/view.h"

enum { SPHERES_MAX = 8 };

void spheres_draw(struct view *view);

#endif
