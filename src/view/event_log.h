// The event log describes the window for tests and scripts: lines of JSON, four per second and one
// at the end, with the state of the simulation, the positions of nodes, spheres and meshes in
// the scene and on the screen, and the rectangle of each widget.
#ifndef TAUT_VIEW_EVENT_LOG_H
#define TAUT_VIEW_EVENT_LOG_H

#include "base/status.h"
#include "view/gui.h"

#include <stdio.h>

struct view;

enum { WIDGETS_MAX = 256 };

struct widget {
    char name[120];
    struct gui_box box;
};

// A zeroed struct reports nothing.
struct event_log {
    FILE *out;
    char *path;
    double next; // by clock_seconds
    struct widget widgets[WIDGETS_MAX];
    size_t widget_count; // of this frame
};

taut_status event_log_open(struct event_log *log, const char *path, taut_error *error);
void event_log_frame(struct event_log *log); // forgets the widgets of the last frame

// Writes a line if one is due, or `now`. After a failure nothing more is written, and the user is
// notified.
void event_log_write(struct view *view, bool now);
double event_log_due(const struct event_log *log); // when, by clock_seconds; INFINITY: never

void event_log_close(struct event_log *log);

#endif
