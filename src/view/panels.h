// Shared by the files of panels: the state of the window, the widgets, and the panels themselves.
// Panels are C++ because Dear ImGui is; everything else of the window is C.
#ifndef TAUT_VIEW_PANELS_H
#define TAUT_VIEW_PANELS_H

#include <cfloat>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

// In C a function and a struct may have the same name (player_status).
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
extern "C" {
#include "view/view.h"
}
#pragma GCC diagnostic pop
#include "view/widgets.h"

// Converts a length on a screen of scale 1 to pixels.
inline float scaled(const struct view *view, double length)
{
    return (float)(length * window_scale(view->window));
}

// ---- The tabs of the options that change the scene (panels_physics.cc)
void panel_physics(struct view *view);
void panel_body(struct view *view);
void panel_solver(struct view *view);

#endif
