// The options of the commands: the parsed command line, and the help. All options are listed once,
// in options.c.
#ifndef TAUT_CLI_OPTIONS_H
#define TAUT_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "picture/colours.h"
#include "study/study.h"
#include "taut.h"

struct command;

enum { PAIRS_MAX = 1000000 };

enum { RENDER_TIMES_MAX = 64, RENDER_FRAMES_MAX = 100000, RENDER_PIXELS_MAX = 8192 };

// In addition to the layers of the renderer.
enum { RENDER_CAPTION = LAYER_ALL + 1 };

// The options of `taut render`, some of which `taut view` shares.
struct render_request {
    double times[RENDER_TIMES_MAX]; // s, ascending
    int time_count;                 // 0: the end of the run
    uint64_t frames;                // 0: not given
    int columns;                    // 0: automatic
    double fps, speed;              // 0: automatic
    int width, height;              // 0: automatic
    bool has_angles, has_target;
    double azimuth, elevation; // degrees
    double distance;           // m; 0: automatic
    double target[3];          // m
    double zoom;
    enum colouring colouring;
    unsigned shown, hidden; // bits of enum layer, and RENDER_CAPTION
    double least, most;     // of the scale, strains in percent; both 0: automatic
    bool dark;
};

struct options {
    const char *scene; // path of the scene file
    char **overrides;  // PATH=VALUE, in the given order
    size_t override_count;
    int threads; // 0: automatic
    taut_kernel kernel;
    taut_isa isa;
    bool no_pin;
    bool strict; // warnings are errors
    bool json, quiet;
    // For `run`, `stability` and `render`:
    bool force;
    const char *output; // NULL: out/SCENE-NAME, with the suffix that the command adds
    // For `run` and `resume`:
    const char *state; // NULL: none
    bool no_output, hash;
    double checkpoint_every; // s of wall time; 0: none; negative: not given
    // For `resume` only, which sets them itself:
    const char *name;       // of the scene; NULL: its file's
    const char *checkpoint; // that the solver continues; NULL: none
    // For `stability` only:
    const char *integrators; // names separated by commas; NULL: all
    enum study_map_kind map;
    double budget;                // s
    struct render_request render; // size, colours and the like also for `view`
    int ranks;                    // for `info` only; 0: not given
    // For `check-intersections` only; its times are those of `render`:
    uint64_t frame_first, frame_last, frame_step; // step 0: all frames
    uint64_t pairs;                               // to print of each frame
    bool touching;                                // these pairs are failures too
    // For `view` only:
    bool paused, fast;
    const char *screenshot, *report; // NULL: none
};

// Parses the arguments of a command (argv[0] is its name). Returns true if the command is to be
// run; otherwise *exit_code is the exit code of the program: help was printed on request, or an
// error has been reported. Call options_free in either case.
bool options_parse(const struct command *command, int argc, char **argv, struct options *options,
                   int *exit_code);

void options_free(struct options *options);

// Prints the help of a command on standard output.
void options_help(const struct command *command);

#endif
