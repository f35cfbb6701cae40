// The wind, as arrows in a corner of the picture that point where it blows, hands that pull at
// nodes, and the threads of masses that move by a formula.
#ifndef TAUT_PICTURE_ARROWS_H
#define TAUT_PICTURE_ARROWS_H

#include "picture/solids.h"

// Whether there is wind to be shown.
bool arrows_have_wind(const struct frame *frame);

// Over all that was drawn before. Where the picture's writing about it goes: wind_label.
void arrows_draw_wind(const struct solids *solids, const struct frame *frame);

// The middle of the line of writing below the arrows, pixels from the top left.
void arrows_wind_label(const struct frame *frame, double *x, double *y);

// From where a mass hangs to it, where no spring is drawn between them.
void arrows_draw_threads(const struct solids *solids, const struct frame *frame);

void arrows_draw_pulls(const struct solids *solids, const struct frame *frame);

#endif
