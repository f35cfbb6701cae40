// Dear ImGui for the C files of the window: start, events, frames, and whether it uses mouse and
// keys. Panels call ImGui directly (panels.cc and others, widgets.h). Lengths are pixels from the
// top left.
#ifndef TAUT_VIEW_GUI_H
#define TAUT_VIEW_GUI_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

struct GLFWwindow;
struct event;

struct gui_box {
    float x, y, width, height;
};

// `font` may be NULL.
bool gui_start(struct GLFWwindow *window, const char *font, float font_size);
void gui_stop(void);
void gui_theme(bool dark);

// Passes an event of the window to ImGui, before the frame that it belongs to.
void gui_event(struct GLFWwindow *window, const struct event *event);

// Begins a frame. `placed`: the pointer is at (x, y), and buttons are down according to the events
// passed to ImGui; otherwise both have their present state, which on a slow machine is ahead of the
// events.
void gui_frame(bool placed, float x, float y);
void gui_draw(void); // all panels of the frame, into the bound framebuffer

bool gui_wants_mouse(void); // the pointer is on a panel or drags a widget
bool gui_wants_keys(void);  // a text is being typed

// Calls `seen` in every frame for each widget that is visible, with its name
// ("environment.gravity": its scopes and its label, see widgets.h) and its rectangle.
void gui_watch(void (*seen)(void *context, const char *name, struct gui_box box), void *context);

#ifdef __cplusplus
}
#endif

#endif
