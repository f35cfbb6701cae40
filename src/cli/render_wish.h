// What `taut render` is asked for by its options.
#ifndef TAUT_CLI_RENDER_WISH_H
#define TAUT_CLI_RENDER_WISH_H

#include <stdbool.h>
#include <stdint.h>

#include "picture/names.h"

enum { RENDER_TIMES_MAX = 64, RENDER_FRAMES_MAX = 100000, RENDER_PIXELS_MAX = 8192 };

// Beside the layers of the renderer.
enum { RENDER_CAPTION = LAYER_ALL + 1 };

struct render_wish {
    double times[RENDER_TIMES_MAX]; // s, ascending
    int time_count;                 // 0: the end
    uint64_t frames;                // 0: not said
    int columns;                    // 0: chosen
    double fps, speed;              // 0: chosen
    int width, height;              // 0: chosen
    bool has_angles, has_target;
    double azimuth, elevation; // degrees
    double distance;           // m; 0: chosen
    double target[3];          // m
    double zoom;
    enum colouring colouring;
    unsigned shown, hidden; // bits of enum layer, and RENDER_CAPTION
    double least, most;     // of the scale, strains in percent; both 0: chosen
    bool dark;
};

#endif
