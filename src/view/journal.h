// What is in the window, for tests and scripts: lines of JSON, four a second and one at the end,
// with the state of the simulation, where the nodes and spheres are in the scene and on the screen,
// and where each widget is.
#ifndef TAUT_VIEW_JOURNAL_H
#define TAUT_VIEW_JOURNAL_H

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
struct journal {
    FILE *out;
    char *path;
    double next; // by clock_seconds
    struct widget widgets[WIDGETS_MAX];
    size_t widget_count; // of this frame
};

taut_status journal_open(struct journal *journal, const char *path, taut_error *error);
void journal_frame(struct journal *journal); // forgets the widgets of the last frame

// Writes a line if one is due, or `now`. After a failure nothing more is written, and that is said.
void journal_write(struct view *view, bool now);
double journal_due(const struct journal *journal); // when, by clock_seconds; INFINITY: never

void journal_close(struct journal *journal);

#endif
