// The values that sliders show: what the scene says, and of those that are being changed, what the
// user wants, until the scene says so too.
#ifndef TAUT_VIEW_SETTINGS_H
#define TAUT_VIEW_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SETTING_VALUES = 3 };

struct setting {
    char *path;
    double first[SETTING_VALUES];  // when the scene was opened: what a slider's range is made of
    double wanted[SETTING_VALUES]; // valid while held or waiting
    bool held;                     // by the mouse
    int waiting; // frames since it was sent to the player, from 1 on; 0: it was not
};

struct settings {
    struct setting *items; // in the order of their paths
    size_t count, capacity;
};

// The setting of that path, made with these values where there is none. NULL without memory.
struct setting *settings_find(struct settings *settings, const char *path, const double *values,
                              int count);

// Each frame: what was sent is over once the player has nothing to do any more.
void settings_settle(struct settings *settings, bool player_is_done);

void settings_clear(struct settings *settings);

#endif
