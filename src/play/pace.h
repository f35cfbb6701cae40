// How fast simulated time goes: how many steps are due, and what was reached.
#ifndef TAUT_PLAY_PACE_H
#define TAUT_PLAY_PACE_H

#include <stddef.h>
#include <stdint.h>

struct pace_sample {
    double wall, simulated, updates;
};

struct pace {
    double speed;      // simulated seconds a second; INFINITY: as fast as it goes
    double since_wall; // from when on, and which simulated time it was then, s
    double since_time;
    double simulated, updates; // in all: s; spring updates
    struct pace_sample samples[32];
    size_t first, count;
    double reached_speed, reached_updates; // of the last second
};

// Goes on from here: after a pause, a change of speed, or of the scene.
void pace_begin(struct pace *pace, double now, double time);

// Forgets what was reached.
void pace_forget(struct pace *pace);

// Steps that are due by now; UINT64_MAX: as many as can be done. What could not be done for a tenth
// of a second is forgotten: it is not made up for.
uint64_t pace_due(struct pace *pace, double now, double time, double dt);

// So much has been done.
void pace_count(struct pace *pace, double simulated, double updates);

// Looks at what was reached.
void pace_measure(struct pace *pace, double now);

#endif
