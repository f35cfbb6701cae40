// When a frame is drawn: as soon as something changed, but at most 60 times a second; where the
// processor draws, at most half of its time; and when nothing happens, never.
#ifndef TAUT_VIEW_REDRAW_H
#define TAUT_VIEW_REDRAW_H

#include "view/window.h"

struct redraw {
    bool software;
    double began;      // the last frame, s
    double began_work; // the same by the time that this thread has worked
    double cost;       // of a frame, s of work
    bool coarse;       // frames of motion should be drawn with fewer pixels
    int frames_left;   // frames that panels still need to settle
};

struct redraw redraw_make(bool software);

// Sleeps until a frame may be drawn, or until `due`; while nothing is going on, long.
// `held`: by the mouse, whose movements are followed as fast as can be.
void redraw_wait(const struct redraw *redraw, struct window *window, bool busy, bool held,
                 double due);

// Whether a frame is to be drawn now: something changed, or was touched a short while ago.
bool redraw_draws(struct redraw *redraw, struct window *window, bool changed);

void redraw_begin(struct redraw *redraw);
void redraw_end(struct redraw *redraw, bool was_coarse);

#endif
