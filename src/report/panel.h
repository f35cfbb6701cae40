// A diagram's panel: two axes with what is drawn between them, and the legend beside it.
#ifndef TAUT_REPORT_PANEL_H
#define TAUT_REPORT_PANEL_H

#include "report/axis.h"
#include "report/svg.h"
#include "scene/scene.h"

struct panel {
    struct svg *svg;
    double left, top, right, bottom;
    struct axis across, up;
};

struct panel_labels {
    const char *title, *across, *up; // NULL: none
    bool no_numbers_up, rows;        // rows: the panel has no axis up
};

// Makes the axes of the panel's place. Margins are those of axis_make.
void panel_axes(struct panel *panel, bool log_across, struct span across, double margin_across,
                bool log_up, struct span up, double margin_up);

// The grid with its numbers and names, below what is drawn; and the frame, which is drawn last.
void panel_grid(struct panel *panel, const struct panel_labels *labels);
void panel_frame(struct panel *panel);

struct panel_point {
    double x, y; // not finite, or not above 0 on a logarithmic axis: the line is interrupted
};

// The line through the points, as much of it as lies in the panel.
void panel_line(struct panel *panel, const struct panel_point *points, size_t count,
                const struct stroke *stroke);

// A mark at each point that lies in the panel.
void panel_marks(struct panel *panel, const struct panel_point *points, size_t count,
                 const struct stroke *stroke);

// How an integrator is drawn, the same in all pictures. Lines that often lie on each other (those
// of the symplectic ones) differ in their dashes.
struct stroke stroke_of(enum integrator integrator);

// What everything is compared with.
struct stroke stroke_of_reference(void);

// A line of a legend: a piece of the stroke and its name.
void legend_stroke(struct svg *svg, double x, double y, double room, const struct stroke *stroke,
                   bool marked, const char *text);

// The heading of a picture: what it shows, and of what.
void picture_heading(struct svg *svg, const char *title, const char *subtitle);

enum { HEADING_HEIGHT = 56, TEXT_SIZE = 12, LEGEND_STEP = 20 };

#endif
