// What the parts of the options share: options.c parses and helps, options_table.c lists them all,
// options_values.c and options_render.c take their values.
#ifndef TAUT_CLI_OPTIONS_PARTS_H
#define TAUT_CLI_OPTIONS_PARTS_H

#include "cli/options.h"

enum option_key {
    KEY_SET = 256, // beyond every letter
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
    KEY_SCENES,
    KEY_FULL,
    KEY_THREAD_COUNTS,
    KEY_SECONDS,
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
    KEY_PAUSED,
    KEY_FAST,
    KEY_SCREENSHOT,
    KEY_REPORT,
    KEY_HELP
};

struct option_entry {
    const char *name, *argument; // argument NULL: it takes none
    enum option_key key;
    int kinds;        // the kinds of command that take it: bits of enum command_kind
    const char *help; // lines parted by \n
};

enum { OPTION_ENTRIES_MAX = 96 };

// All of them, and then one without a name.
extern const struct option_entry option_entries[];

// Takes one option; false after saying what is wrong with its value.
bool option_apply(const struct command *command, int key, const char *value,
                  struct options *options);

// The same for those of `render` alone.
bool option_apply_render(const struct command *command, int key, const char *value,
                         struct render_wish *wish);

// --isa, and TAUT_ISA: `source` is what it was.
bool option_set_isa(const char *source, const char *value, struct options *options);

// Says what is wrong with the value of an option; false, for the caller to pass on.
bool option_refuse(const struct command *command, const char *option, const char *value,
                   const char *wanted);

#endif
