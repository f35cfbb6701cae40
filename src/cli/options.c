// Parses the options of all commands and prints their help, both from one table (option_entries).
// Values are checked here; their meaning is left to the commands. A new option needs a key, a row
// of the table and a case in apply_option.
#include "cli/options.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/diagnostics.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/terminal.h"
#include "parallel/quota.h"
#include "scene/text/number.h"
#include "simd/isa.h"

enum option_key {
    KEY_SET = 256, // above all character codes
    KEY_THREADS,
    KEY_NO_PIN,
    KEY_ISA,
    KEY_KERNEL,
    KEY_STRICT,
    KEY_PRECISION,
    KEY_JSON,
    KEY_QUIET,
    KEY_OUTPUT,
    KEY_FORCE,
    KEY_NO_OUTPUT,
    KEY_STEPS,
    KEY_DURATION,
    KEY_STATE,
    KEY_HASH,
    KEY_CHECKPOINT_EVERY,
    KEY_INTEGRATORS,
    KEY_MAP,
    KEY_BUDGET,
    KEY_TIME,
    KEY_FRAMES,
    KEY_COLUMNS,
    KEY_FPS,
    KEY_SPEED,
    KEY_SIZE,
    KEY_CAMERA,
    KEY_LOOK_AT,
    KEY_ZOOM,
    KEY_COLOUR,
    KEY_SHOW,
    KEY_HIDE,
    KEY_RANGE,
    KEY_DARK,
    KEY_PAIRS,
    KEY_TOUCHING,
    KEY_PAUSED,
    KEY_FAST,
    KEY_SCREENSHOT,
    KEY_REPORT,
    KEY_RANKS,
    KEY_HELP
};

struct option_entry {
    const char *name, *argument; // argument NULL: none
    enum option_key key;
    int kinds;        // the kinds of command with this option: bits of enum command_kind
    const char *help; // lines separated by \n
};

enum {
    RUN = COMMAND_SIMULATES,
    RESUME = COMMAND_RESUMES,
    STUDY = COMMAND_STUDIES,
    RENDER = COMMAND_DRAWS,
    VIEW = COMMAND_VIEWS,
    COMPARE = COMMAND_COMPARES,
    INFO = COMMAND_PLANS,
    SCENE = COMMAND_READS | INFO | RUN | STUDY | RENDER |
            COMPARE, // every command with a scene, except the window
    ANY = SCENE | VIEW | RESUME
};

static const struct option_entry option_entries[] = {
    {"integrators", "LIST", KEY_INTEGRATORS, STUDY, "only these, e.g. --integrators verlet,rk4"},
    {"map", "NAME", KEY_MAP, STUDY,
     "the second axis of the map: stiffness, damping,\nor none (default: stiffness)"},
    {"budget", "S", KEY_BUDGET, STUDY,
     "about how long to measure; of larger scenes runs\nare shortened (default: 30)"},
    {"frames", "A[:B[:STEP]]", KEY_FRAMES, COMPARE,
     "of a run, frame A, or frames A to B, or each\nSTEP-th of them (default: all)"},
    {"time", "T[,T...]", KEY_TIME, COMPARE,
     "the frames nearest to these times, in s; a scene\nis simulated up to them (default: its "
     "start)"},
    {"pairs", "N", KEY_PAIRS, COMPARE, "print the first N pairs of each frame (default: 0)"},
    {"touching", NULL, KEY_TOUCHING, COMPARE,
     "exit status 3 also where surfaces only touch or\noverlap"},
    {"output", "FILE", KEY_OUTPUT, RENDER,
     "the picture (.png) or video (.mp4, .gif; by ffmpeg)\n(default: out/SCENE-NAME.png)"},
    {"force", NULL, KEY_FORCE, RENDER, "replace that file even if it is something else"},
    {"time", "T[,T...]", KEY_TIME, RENDER,
     "the time, in s (default: the end); several make a\nstrip, two are the beginning and end of "
     "a video"},
    {"frames", "N", KEY_FRAMES, RENDER, "a strip or video of N frames from 0 to the end"},
    {"columns", "N", KEY_COLUMNS, RENDER, "frames per row of a strip"},
    {"fps", "N", KEY_FPS, RENDER, "frame rate of a video (default: 30; of a run,\nits own)"},
    {"speed", "X", KEY_SPEED, RENDER, "of a video: simulated seconds per second\n(default: 1)"},
    {"size", "WxH", KEY_SIZE, RENDER,
     "pixels (default: 1280x720); of a strip, of each\nof its frames (default: 480x360)"},
    {"camera", "A,E[,D]", KEY_CAMERA, RENDER,
     "where the eye is: degrees about the vertical and\nabove the level, metres away (default: all "
     "is seen)"},
    {"look-at", "X,Y,Z", KEY_LOOK_AT, RENDER, "the point in the middle of the picture"},
    {"size", "WxH", KEY_SIZE, VIEW, "of the window, in pixels (default: 1280x800)"},
    {"zoom", "X", KEY_ZOOM, RENDER, "how much larger than fits, e.g. 1.5"},
    {"colour", "NAME", KEY_COLOUR, RENDER | VIEW,
     "plain, kind, strain, tension or curvature (default: plain)"},
    {"range", "LEAST,MOST", KEY_RANGE, RENDER,
     "ends of the scale of strains (%) or tensions (N)\n(default: those that occur)"},
    {"show", "LIST", KEY_SHOW, RENDER,
     "also: faces, springs, nodes, pins, colliders,\nwind, ground, legend, contacts, caption"},
    {"hide", "LIST", KEY_HIDE, RENDER, "leave out, of the same"},
    {"dark", NULL, KEY_DARK, RENDER | VIEW, "a dark background"},
    {"paused", NULL, KEY_PAUSED, VIEW, "start paused"},
    {"fast", NULL, KEY_FAST, VIEW, "start as fast as possible, not in real time"},
    {"speed", "X", KEY_SPEED, VIEW, "start with X simulated seconds per second\n(default: 1)"},
    {"frames", "N", KEY_FRAMES, VIEW, "draw N frames and leave, for scripts"},
    {"screenshot", "FILE", KEY_SCREENSHOT, VIEW, "a PNG of the whole window on exit"},
    {"report", "FILE", KEY_REPORT, VIEW,
     "a line of JSON a second on what is there, for\nscripts (docs/viewer.md)"},
    {"ranks", "R", KEY_RANKS, INFO,
     "also print how R processes would share the scene\n(docs/ranks.md)"},
    {"output", "DIR", KEY_OUTPUT, STUDY,
     "the folder of tables and report (default:\nout/SCENE-NAME-stability)"},
    {"output", "DIR", KEY_OUTPUT, RUN, "the folder of the results (default: out/SCENE-NAME)"},
    {"force", NULL, KEY_FORCE, RUN, "replace an earlier run in that folder"},
    {"no-output", NULL, KEY_NO_OUTPUT, RUN, "simulate, and leave no files"},
    {"steps", "N", KEY_STEPS, RUN, "perform N steps; overrides the scene"},
    {"duration", "T", KEY_DURATION, RUN, "simulate T seconds; overrides the scene"},
    {"steps", "N", KEY_STEPS, RESUME, "continue to step N instead of the scene's end"},
    {"duration", "T", KEY_DURATION, RESUME, "continue to T seconds instead of the scene's end"},
    {"checkpoint-every", "S", KEY_CHECKPOINT_EVERY, RUN | RESUME,
     "seconds of wall time between checkpoints, from which\n'taut resume' continues; 0: none "
     "(default: 60)"},
    {"state", "FILE", KEY_STATE, RUN | RESUME, "write the final state to FILE, as CSV"},
    {"hash", NULL, KEY_HASH, RUN | RESUME, "print the hash of the final state"},
    {"set", "PATH=VALUE", KEY_SET, SCENE | VIEW,
     "change a key of the scene (repeatable), e.g.\n--set simulation.dt=0.001 or\n"
     "--set bodies.flag.nodes=[500,400]"},
    {"threads", "N", KEY_THREADS, ANY,
     "threads to use (default: the physical cores that\nthis process may use)"},
    {"no-pin", NULL, KEY_NO_PIN, ANY & ~STUDY,
     "let threads run anywhere, also on machines with\nseveral memory nodes"},
    {"isa", "NAME", KEY_ISA, ANY,
     "instruction set: auto, base, v3 or v4 (default:\nauto, or the environment variable "
     "TAUT_ISA)"},
    {"kernel", "NAME", KEY_KERNEL, ANY,
     "how springs are computed: auto (the fastest), grid,\npacked, coloured, or reference, plain "
     "serial\nloops (default: auto)"},
    {"precision", "NAME", KEY_PRECISION, (SCENE & ~STUDY) | VIEW,
     "single, mixed or double; overrides the scene"},
    {"strict", NULL, KEY_STRICT, SCENE, "treat warnings as errors, e.g. that dt is not stable"},
    {"json", NULL, KEY_JSON, SCENE | RESUME, "print the results as one JSON object"},
    {"quiet", NULL, KEY_QUIET, SCENE | RESUME,
     "no progress and no table: only errors, and what\n--json or --hash ask for"},
    {"help", NULL, KEY_HELP, ANY, "print this and exit"},
    {0},
};

enum { OPTION_ENTRY_COUNT = sizeof option_entries / sizeof option_entries[0] };

// ---- Values

// Prints what is wrong with the value of an option. Returns false, for the caller to return.
static bool refuse_value(const struct command *command, const char *option, const char *value,
                         const char *wanted)
{
    complain("%s: --%s takes %s, not '%s'", command->name, option, wanted, value);
    return false;
}

// The same for a word, with the nearest of the words that are possible.
static bool refuse_word(const struct command *command, const char *option, const char *value,
                        const char *wanted, const char *nearest)
{
    complain("%s: --%s takes %s, not '%s'", command->name, option, wanted, value);
    if (nearest)
        fprintf(stderr, "    did you mean '%s'?\n", nearest);
    return false;
}

// The same for a number: a decimal comma and the like are named.
static bool refuse_number(const struct command *command, const char *option, const char *value,
                          const char *wanted)
{
    double number;
    const enum number_fault fault = number_parse(value, strlen(value), &number);
    if (fault != NUMBER_COMMA && fault != NUMBER_UNDERSCORE && fault != NUMBER_HEXADECIMAL &&
        fault != NUMBER_OCTAL)
        return refuse_value(command, option, value, wanted);
    complain("%s: --%s takes %s, but '%s' %s", command->name, option, wanted, value,
             number_fault_text(fault));
    return false;
}

// Takes ownership of `text`.
static bool add_override(struct options *options, char *text)
{
    size_t bytes = (options->override_count + 1) * sizeof *options->overrides;
    char **grown = text ? realloc(options->overrides, bytes) : NULL;
    if (!grown) {
        free(text);
        complain("out of memory for the options");
        return false;
    }
    options->overrides = grown;
    options->overrides[options->override_count++] = text;
    return true;
}

enum { THREADS_MAX = 4096 }; // as in the solver

static bool set_threads(const struct command *command, const char *value, struct options *options)
{
    uint64_t count;
    if (number_parse_count(value, strlen(value), &count) != NUMBER_OK || count < 1 ||
        count > THREADS_MAX)
        return refuse_value(command, "threads", value, "a whole number from 1 to 4096");
    options->threads = (int)count;
    return true;
}

// Sets the option of --isa and TAUT_ISA; `source` is the one that was set.
static bool set_isa(const char *source, const char *value, struct options *options)
{
    if (strcmp(value, "auto") == 0)
        return true;
    for (int isa = 0; isa < ISA_COUNT; isa++) {
        if (strcmp(value, isa_name((enum isa)isa)) != 0)
            continue;
        if (isa_available((enum isa)isa)) {
            options->isa = (taut_isa)(TAUT_ISA_BASE + isa);
            return true;
        }
        complain("%s: this machine cannot run the instruction set '%s'", source, value);
        return false;
    }
    static const char *const names[] = {"auto", "base", "v3", "v4"};
    const char *nearest = nearest_name(value, names, sizeof names / sizeof names[0]);
    complain("%s: there is no instruction set '%s'; choose auto, base, v3 or v4", source, value);
    if (nearest)
        fprintf(stderr, "    did you mean '%s'?\n", nearest);
    return false;
}

static bool set_kernel(const struct command *command, const char *value, struct options *options)
{
    enum { NAMES_MAX = 8 };
    const char *names[NAMES_MAX];
    size_t count = 0;
    for (int kernel = 0; count < NAMES_MAX && kernel_choice_name(kernel); kernel++) {
        names[count++] = kernel_choice_name(kernel);
        if (strcmp(value, kernel_choice_name(kernel)) == 0) {
            options->kernel = (taut_kernel)kernel;
            return true;
        }
    }
    return refuse_word(command, "kernel", value, "auto, reference, packed, grid or coloured",
                       nearest_name(value, names, count));
}

static bool set_ranks(const struct command *command, const char *value, struct options *options)
{
    enum { RANKS_MAX = 100000 };
    uint64_t count;
    if (number_parse_count(value, strlen(value), &count) != NUMBER_OK || count < 1 ||
        count > RANKS_MAX)
        return refuse_value(command, "ranks", value, "a whole number from 1 to 100000");
    options->ranks = (int)count;
    return true;
}

static bool set_steps(const struct command *command, const char *value, struct options *options)
{
    const uint64_t most = 1000000000000000; // as for the key simulation.steps
    uint64_t count;
    if (number_parse_count(value, strlen(value), &count) != NUMBER_OK || count == 0 || count > most)
        return refuse_value(command, "steps", value, "a whole number above 0, up to 1e15");
    return add_override(options, text_format("simulation.steps=%s", value));
}

static bool set_duration(const struct command *command, const char *value, struct options *options)
{
    double seconds;
    if (number_parse(value, strlen(value), &seconds) != NUMBER_OK || !(seconds > 0))
        return refuse_number(command, "duration", value, "seconds above 0");
    return add_override(options, text_format("simulation.duration=%s", value));
}

static bool set_seconds(const struct command *command, const char *option, const char *value,
                        double *seconds)
{
    if (number_parse(value, strlen(value), seconds) != NUMBER_OK || !(*seconds > 0))
        return refuse_number(command, option, value, "seconds above 0");
    return true;
}

static bool set_interval(const struct command *command, const char *value, double *seconds)
{
    if (number_parse(value, strlen(value), seconds) != NUMBER_OK || !(*seconds >= 0))
        return refuse_value(command, "checkpoint-every", value, "seconds, or 0 for none");
    return true;
}

static bool set_map(const struct command *command, const char *value, struct options *options)
{
    const char *names[STUDY_MAP_KINDS];
    for (int kind = 0; kind < STUDY_MAP_KINDS; kind++) {
        names[kind] = study_map_name((enum study_map_kind)kind);
        if (strcmp(value, names[kind]) == 0) {
            options->map = (enum study_map_kind)kind;
            return true;
        }
    }
    return refuse_word(command, "map", value, "stiffness, damping or none",
                       nearest_name(value, names, STUDY_MAP_KINDS));
}

static bool set_precision(const struct command *command, const char *value, struct options *options)
{
    static const char *const names[] = {"single", "mixed", "double"};
    if (strcmp(value, "single") != 0 && strcmp(value, "mixed") != 0 && strcmp(value, "double") != 0)
        return refuse_word(command, "precision", value, "single, mixed or double",
                           nearest_name(value, names, 3));
    return add_override(options, text_format("precision=%s", value));
}

static bool set_path(const struct command *command, const char *option, const char *value,
                     const char **path)
{
    if (value[0] == '\0')
        return refuse_value(command, option, value, "a path");
    *path = value;
    return true;
}

// ---- Values of render and view

// Parses numbers separated by commas. Returns their count, or -1 if one is invalid or there are too
// many.
static int parse_numbers(const char *text, double *numbers, int most)
{
    int count = 0;
    for (const char *at = text;; at++) {
        size_t length = strcspn(at, ",");
        if (count == most || number_parse(at, length, &numbers[count]) != NUMBER_OK)
            return -1;
        count++;
        at += length;
        if (*at == '\0')
            return count;
    }
}

static bool set_positive(const struct command *command, const char *option, const char *value,
                         double *number)
{
    if (number_parse(value, strlen(value), number) != NUMBER_OK || !(*number > 0))
        return refuse_number(command, option, value, "a number above 0");
    return true;
}

static bool set_times(const struct command *command, const char *value,
                      struct render_request *request)
{
    const char *wanted = "up to 64 ascending times in seconds, separated by commas";
    int count = parse_numbers(value, request->times, RENDER_TIMES_MAX);
    bool sound = count > 0;
    for (int i = 0; i < count; i++)
        sound = sound && request->times[i] >= 0 &&
                (i == 0 || request->times[i] > request->times[i - 1]);
    request->time_count = count;
    return sound || refuse_value(command, "time", value, wanted);
}

static bool set_frames(const struct command *command, const char *value,
                       struct render_request *request)
{
    if (number_parse_count(value, strlen(value), &request->frames) != NUMBER_OK ||
        request->frames < 1 || request->frames > RENDER_FRAMES_MAX)
        return refuse_value(command, "frames", value, "a whole number from 1 to 100000");
    return true;
}

// A, A:B or A:B:STEP.
static bool set_frame_numbers(const struct command *command, const char *value,
                              struct options *options)
{
    uint64_t numbers[3] = {0, UINT64_MAX, 1};
    int count = 0;
    bool sound = true;
    for (const char *at = value; sound; at++) {
        const size_t length = strcspn(at, ":");
        sound = count < 3 && number_parse_count(at, length, &numbers[count]) == NUMBER_OK;
        count++;
        at += length;
        if (*at == '\0')
            break;
    }
    if (count == 1)
        numbers[1] = numbers[0];
    options->frame_first = numbers[0];
    options->frame_last = numbers[1];
    options->frame_step = numbers[2];
    if (sound && numbers[0] <= numbers[1] && numbers[2] > 0)
        return true;
    return refuse_value(command, "frames", value,
                        "A, A:B or A:B:STEP, whole numbers of which B is not below A");
}

static bool set_pairs(const struct command *command, const char *value, struct options *options)
{
    if (number_parse_count(value, strlen(value), &options->pairs) != NUMBER_OK ||
        options->pairs > PAIRS_MAX)
        return refuse_value(command, "pairs", value, "a whole number up to 1000000");
    return true;
}

static bool set_columns(const struct command *command, const char *value,
                        struct render_request *request)
{
    uint64_t count;
    if (number_parse_count(value, strlen(value), &count) != NUMBER_OK || count < 1 ||
        count > RENDER_TIMES_MAX)
        return refuse_value(command, "columns", value, "a whole number from 1 to 64");
    request->columns = (int)count;
    return true;
}

static bool is_pixels(double pixels)
{
    return pixels >= 16 && pixels <= RENDER_PIXELS_MAX && pixels == floor(pixels);
}

static bool set_size(const struct command *command, const char *value,
                     struct render_request *request)
{
    double width, height;
    size_t length = strcspn(value, "xX");
    if (value[length] == '\0' || number_parse(value, length, &width) != NUMBER_OK ||
        number_parse(value + length + 1, strlen(value + length + 1), &height) != NUMBER_OK ||
        !is_pixels(width) || !is_pixels(height))
        return refuse_value(command, "size", value, "WIDTHxHEIGHT in pixels, each from 16 to 8192");
    request->width = (int)width;
    request->height = (int)height;
    return true;
}

static bool set_camera(const struct command *command, const char *value,
                       struct render_request *request)
{
    double numbers[3] = {0};
    int count = parse_numbers(value, numbers, 3);
    if (count < 2 || fabs(numbers[1]) > 90 || (count == 3 && !(numbers[2] > 0)))
        return refuse_value(command, "camera", value,
                            "AZIMUTH,ELEVATION in degrees (-90 to 90 above the level), and perhaps "
                            "a DISTANCE in metres");
    request->has_angles = true;
    request->azimuth = numbers[0];
    request->elevation = numbers[1];
    request->distance = numbers[2];
    return true;
}

static bool set_target(const struct command *command, const char *value,
                       struct render_request *request)
{
    request->has_target = parse_numbers(value, request->target, 3) == 3;
    return request->has_target || refuse_value(command, "look-at", value, "X,Y,Z in metres");
}

static bool set_colouring(const struct command *command, const char *value,
                          struct render_request *request)
{
    const char *names[COLOURING_COUNT];
    for (int i = 0; i < COLOURING_COUNT; i++) {
        names[i] = colouring_name((enum colouring)i);
        if (strcmp(value, names[i]) == 0) {
            request->colouring = (enum colouring)i;
            return true;
        }
    }
    return refuse_word(command, "colour", value, "plain, kind, strain, tension or curvature",
                       nearest_name(value, names, COLOURING_COUNT));
}

static bool set_range(const struct command *command, const char *value,
                      struct render_request *request)
{
    double numbers[2];
    if (parse_numbers(value, numbers, 2) != 2 || !(numbers[0] < numbers[1]))
        return refuse_value(command, "range", value, "LEAST,MOST, of which the second is more");
    request->least = numbers[0];
    request->most = numbers[1];
    return true;
}

// The bit of a layer's name; 0 if there is none.
static unsigned layer_of(const char *name, size_t length)
{
    const char *layer;
    for (int i = 0; (layer = layer_name(i)) != NULL; i++)
        if (strlen(layer) == length && strncmp(layer, name, length) == 0)
            return 1U << i;
    return length == strlen("caption") && strncmp("caption", name, length) == 0 ? RENDER_CAPTION
                                                                                : 0;
}

static bool refuse_layer(const struct command *command, const char *option, const char *value,
                         const char *layer, size_t length)
{
    enum { NAMES_MAX = 16 };
    const char *names[NAMES_MAX] = {"caption"};
    size_t count = 1;
    for (int i = 0; count < NAMES_MAX && layer_name(i); i++)
        names[count++] = layer_name(i);
    char *name = text_format("%.*s", (int)length, layer);
    refuse_word(command, option, value,
                "faces, springs, nodes, pins, colliders, wind, ground, legend, contacts or "
                "caption, separated by commas",
                name ? nearest_name(name, names, count) : NULL);
    free(name);
    return false;
}

static bool set_layers(const struct command *command, const char *option, const char *value,
                       unsigned *layers)
{
    for (const char *at = value;; at++) {
        size_t length = strcspn(at, ",");
        unsigned layer = layer_of(at, length);
        if (layer == 0)
            return refuse_layer(command, option, value, at, length);
        *layers |= layer;
        at += length;
        if (*at == '\0')
            return true;
    }
}

// Applies one option; false after printing what is wrong with its value.
static bool apply_option(const struct command *command, enum option_key key, const char *value,
                         struct options *options)
{
    struct render_request *request = &options->render;
    switch (key) {
    case KEY_SET:
        return add_override(options, text_format("%s", value));
    case KEY_THREADS:
        return set_threads(command, value, options);
    case KEY_RANKS:
        return set_ranks(command, value, options);
    case KEY_ISA:
        return set_isa("--isa", value, options);
    case KEY_KERNEL:
        return set_kernel(command, value, options);
    case KEY_PRECISION:
        return set_precision(command, value, options);
    case KEY_STEPS:
        return set_steps(command, value, options);
    case KEY_DURATION:
        return set_duration(command, value, options);
    case KEY_OUTPUT:
        return set_path(command, "output", value, &options->output);
    case KEY_STATE:
        return set_path(command, "state", value, &options->state);
    case KEY_INTEGRATORS:
        options->integrators = value;
        return true;
    case KEY_MAP:
        return set_map(command, value, options);
    case KEY_BUDGET:
        return set_seconds(command, "budget", value, &options->budget);
    case KEY_JSON:
        return options->json = true;
    case KEY_QUIET:
        return options->quiet = true;
    case KEY_FORCE:
        return options->force = true;
    case KEY_STRICT:
        return options->strict = true;
    case KEY_NO_PIN:
        return options->no_pin = true;
    case KEY_CHECKPOINT_EVERY:
        return set_interval(command, value, &options->checkpoint_every);
    case KEY_NO_OUTPUT:
        return options->no_output = true;
    case KEY_HASH:
        return options->hash = true;
    case KEY_PAUSED:
        return options->paused = true;
    case KEY_FAST:
        return options->fast = true;
    case KEY_SCREENSHOT:
        return set_path(command, "screenshot", value, &options->screenshot);
    case KEY_REPORT:
        return set_path(command, "report", value, &options->report);
    case KEY_TIME:
        return set_times(command, value, request);
    case KEY_FRAMES:
        return command->kind == COMMAND_COMPARES ? set_frame_numbers(command, value, options)
                                                 : set_frames(command, value, request);
    case KEY_PAIRS:
        return set_pairs(command, value, options);
    case KEY_TOUCHING:
        return options->touching = true;
    case KEY_COLUMNS:
        return set_columns(command, value, request);
    case KEY_FPS:
        return set_positive(command, "fps", value, &request->fps) &&
               (request->fps <= 1000 || refuse_value(command, "fps", value, "at most 1000"));
    case KEY_SPEED:
        return set_positive(command, "speed", value, &request->speed);
    case KEY_SIZE:
        return set_size(command, value, request);
    case KEY_CAMERA:
        return set_camera(command, value, request);
    case KEY_LOOK_AT:
        return set_target(command, value, request);
    case KEY_ZOOM:
        return set_positive(command, "zoom", value, &request->zoom);
    case KEY_COLOUR:
        return set_colouring(command, value, request);
    case KEY_RANGE:
        return set_range(command, value, request);
    case KEY_SHOW:
        return set_layers(command, "show", value, &request->shown);
    case KEY_HIDE:
        return set_layers(command, "hide", value, &request->hidden);
    default: // KEY_DARK
        return request->dark = true;
    }
}

// ---- Help

static bool accepts_option(const struct command *command, const struct option_entry *entry)
{
    return (entry->kinds & (int)command->kind) != 0;
}

static void print_entry(const struct option_entry *entry)
{
    enum { HELP_COLUMN = 25 };
    int column = printf("  --%s%s%s", entry->name, entry->argument ? " " : "",
                        entry->argument ? entry->argument : "");
    for (const char *line = entry->help; line;) {
        int length = (int)strcspn(line, "\n");
        if (column >= 0 && column < HELP_COLUMN)
            printf("%*s", HELP_COLUMN - column, "");
        printf("%.*s\n", length, line);
        column = 0;
        line = line[length] ? line + length + 1 : NULL;
    }
}

void options_help(const struct command *command)
{
    printf("Usage: taut %s [OPTIONS]%s%s\n%s.\n", command->name, command->operand ? " " : "",
           command->operand ? command->operand : "", command->does);
    for (int own = 1; own >= 0; own--) {
        bool titled = false;
        for (const struct option_entry *entry = option_entries; entry->name; entry++) {
            bool is_own = entry->kinds == (int)command->kind;
            if (is_own != (own == 1) || !accepts_option(command, entry))
                continue;
            if (!titled)
                printf(own ? "\nOptions of taut %s:\n" : "\nCommon options:\n", command->name);
            titled = true;
            print_entry(entry);
        }
    }
    puts(command->kind == COMMAND_COMPARES
             ? "\nExit status: 0 no crossing pairs; 1 failed; 2 wrong usage or scene; 3 crossing "
               "pairs."
             : "\nExit status: 0 done; 1 the run failed; 2 wrong usage or scene.");
}

// ---- Parsing

// The option that was perhaps meant: the only one that begins with `name`, or else the nearest
// name.
static const char *find_similar(const struct command *command, const char *name)
{
    const char *names[OPTION_ENTRY_COUNT], *beginning = NULL;
    size_t count = 0, beginnings = 0, length = strlen(name);
    for (const struct option_entry *entry = option_entries; entry->name; entry++) {
        if (!accepts_option(command, entry))
            continue;
        names[count++] = entry->name;
        if (length > 0 && strncasecmp(entry->name, name, length) == 0) {
            beginning = entry->name;
            beginnings++;
        }
    }
    return beginnings == 1 ? beginning : nearest_name(name, names, count);
}

static bool refuse_unknown(const struct command *command, const char *word)
{
    complain("%s: unrecognized option '%s'", command->name, word);
    char *name = word[1] == '-' ? text_format("%.*s", (int)strcspn(word + 2, "="), word + 2) : NULL;
    const char *similar = name ? find_similar(command, name) : NULL;
    if (similar)
        fprintf(stderr, "    did you mean '--%s'?\n", similar);
    free(name);
    return false;
}

static bool wrong(const struct command *command, int *exit_code)
{
    fprintf(stderr, "Try 'taut %s --help' for more information.\n", command->name);
    *exit_code = EXIT_CODE_WRONG;
    return false;
}

// Checks combinations of options, and the environment.
static bool check_combinations(const struct command *command, const bool *given, char **operands,
                               int operand_count, struct options *options)
{
    const char *isa = getenv("TAUT_ISA");
    if (isa && isa[0] && !given[KEY_ISA - KEY_SET] && !set_isa("TAUT_ISA", isa, options))
        return false;

    const char *memory = getenv("TAUT_MEMORY_LIMIT");
    double bytes;
    if (memory && strcmp(memory, "none") != 0 && !memory_size_read(memory, &bytes)) {
        complain("TAUT_MEMORY_LIMIT is a size, such as 500M or 20G, or none, not '%s'", memory);
        return false;
    }

    if (given[KEY_STEPS - KEY_SET] && given[KEY_DURATION - KEY_SET]) {
        complain("%s: --steps and --duration exclude each other: give one", command->name);
        return false;
    }
    if (options->no_output && (options->output || options->force)) {
        complain("%s: --no-output writes no files, so it excludes --output and --force",
                 command->name);
        return false;
    }

    if (options->no_output && options->checkpoint_every > 0) {
        complain("%s: checkpoints are in the folder of the output, so --no-output excludes "
                 "--checkpoint-every",
                 command->name);
        return false;
    }

    // The operand.
    if (!command->operand) {
        if (operand_count > 0)
            complain("%s: it takes no scene, but '%s' was given", command->name, operands[0]);
        return operand_count == 0;
    }
    if (operand_count == 0)
        complain(
            command->kind == COMMAND_RESUMES ? "%s: which run? Give the path of its folder%s"
                                             : "%s: which scene? Give the path of a scene file%s",
            command->name,
            command->kind == COMMAND_DRAWS      ? ", or of a run's folder"
            : command->kind == COMMAND_COMPARES ? ", of a run's folder, or of a .vtp or mesh file"
                                                : "");
    else if (operand_count > 1)
        complain("%s: one %s at a time; '%s' is a second one", command->name,
                 command->kind == COMMAND_RESUMES ? "run" : "scene", operands[1]);
    return operand_count == 1;
}

// The option that `word` names: --NAME, --NAME=VALUE or -h; NULL if the command has none. Names
// cannot be abbreviated: a later option could make an abbreviation ambiguous.
static const struct option_entry *find_option(const struct command *command, const char *word)
{
    const char *name = strcmp(word, "-h") == 0 ? "help" : word + 2;
    size_t length = strcspn(name, "=");
    if (word[1] != '-' && name == word + 2)
        return NULL;
    for (const struct option_entry *entry = option_entries; entry->name; entry++)
        if (accepts_option(command, entry) && strlen(entry->name) == length &&
            strncmp(entry->name, name, length) == 0)
            return entry;
    return NULL;
}

// The value of the option argv[*at], given as --NAME=VALUE or --NAME VALUE; *at advances to the
// last word used. *value is empty for an option without one.
static bool option_value(const struct command *command, const struct option_entry *entry, int argc,
                         char **argv, int *at, const char **value)
{
    const char *equals = strchr(argv[*at], '=');
    *value = NULL;
    if (!entry->argument) {
        *value = "";
        if (equals)
            complain("%s: option '--%s' takes no value", command->name, entry->name);
        return !equals;
    }
    if (equals)
        *value = equals + 1;
    else if (*at + 1 < argc)
        *value = argv[++*at];
    else
        complain("%s: option '--%s' requires an argument: --%s %s", command->name, entry->name,
                 entry->name, entry->argument);
    return *value != NULL;
}

bool options_parse(const struct command *command, int argc, char **argv, struct options *options,
                   int *exit_code)
{
    bool given[KEY_HELP - KEY_SET + 1] = {false}, options_end = false;
    int operand_count = 0;

    *options = (struct options){
        .map = STUDY_MAP_STIFFNESS,
        .budget = 30,
        .checkpoint_every = -1,
        .render = {.zoom = 1, .colouring = COLOURING_PLAIN},
    };

    for (int at = 1; at < argc; at++) {
        const char *word = argv[at], *value;

        // An operand is moved to the front of argv.
        if (options_end || word[0] != '-' || word[1] == '\0') {
            argv[operand_count++] = argv[at]; // never beyond the words already parsed
            continue;
        }
        if (strcmp(word, "--") == 0) {
            options_end = true;
            continue;
        }

        const struct option_entry *entry = find_option(command, word);
        if (!entry) {
            refuse_unknown(command, word);
            return wrong(command, exit_code);
        }
        if (!option_value(command, entry, argc, argv, &at, &value))
            return wrong(command, exit_code);
        if (entry->key == KEY_HELP) {
            options_help(command);
            *exit_code = output_finish(EXIT_CODE_DONE);
            return false;
        }
        given[entry->key - KEY_SET] = true;
        if (!apply_option(command, entry->key, value, options))
            return wrong(command, exit_code);
    }

    if (!check_combinations(command, given, argv, operand_count, options))
        return wrong(command, exit_code);
    options->scene = command->operand ? argv[0] : NULL;
    return true;
}

void options_free(struct options *options)
{
    for (size_t i = 0; i < options->override_count; i++)
        free(options->overrides[i]);
    free(options->overrides);
    *options = (struct options){0};
}
