// What the two halves of the toolkit's shim share: gui.cc and gui_panels.cc.
#ifndef TAUT_VIEW_GUI_PARTS_H
#define TAUT_VIEW_GUI_PARTS_H

#include "view/gui.h"

#include <imgui.h>

#include <cfloat>

ImU32 gui_packed(struct gui_colour colour);

// Tells the watcher of the thing that was just said; of so much of its width, without its label.
// Returns the result.
bool gui_seen(const char *label, bool result, float width = FLT_MAX);

#endif
