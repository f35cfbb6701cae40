// The options of the commands: what was parsed from the command line, and the help. All options are
// listed once, in options.c.
#ifndef TAUT_CLI_OPTIONS_H
#define TAUT_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "picture/colours.h"
#include "study/study.h"
#include "taut.h"

struct command;

enum { RENDER_TIMES_MAX = 64, RENDER_FRAMES_MAX = 100000, RENDER_PIXELS_MAX = 8192 };

// Beside the layers of the renderer.
enum { RENDER_CAPTION = LAYER_ALL + 1 };

// What `taut render` is asked for, and in part `taut view`.
struct render_request {
    double times[RENDER_TIMES_MAX]; // s, ascending
    int time_count;                 // 0: the end
    uint64_t frames;                // 0: not given
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

struct options {
    const char *scene; // path of the scene file
    char **overrides;  // PATH=VALUE, in the order they were given
    size_t override_count;
    int threads; // 0: chosen
    taut_kernel kernel;
    taut_isa isa;
    bool no_pin;
    bool double_precision; // asked for by name; among the overrides too
    bool strict;           // warnings are errors
    bool json, quiet;
    // Of `run`, `stability` and `render`.
    bool force;
    const char *output; // NULL: out/SCENE-NAME, and what else the command adds
    // Of `run` alone.
    const char *state; // NULL: none
    bool no_output, hash;
    // Of `stability` alone.
    const char *integrators; // names separated by commas; NULL: all
    enum study_map_kind map;
    double budget;                // s
    struct render_request render; // size, colours and the like of `view` too
    // Of `view` alone.
    bool paused, fast;
    const char *screenshot, *report; // NULL: none
};

// Parses the arguments of a command (argv[0] is its name). Returns true if the command is to be
// run; else *exit_code is how the program ends: help was asked for and printed, or something was
// wrong and has been reported. options_free after either.
bool options_parse(const struct command *command, int argc, char **argv, struct options *options,
                   int *exit_code);

void options_free(struct options *options);

// Prints the help of a command on standard output.
void options_help(const struct command *command);

#endif
