#include "cli/options_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/terminal.h"
#include "scene/text/number.h"
#include "simd/isa.h"

bool option_refuse(const struct command *command, const char *option, const char *value,
                   const char *wanted)
{
    complain("%s: --%s takes %s, not '%s'", command->name, option, wanted, value);
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

enum { THREADS_MAX = 4096 }; // as the solver's

static bool set_threads(const struct command *command, const char *value, struct options *options)
{
    uint64_t count;
    if (number_parse_count(value, strlen(value), &count) != NUMBER_OK || count < 1 ||
        count > THREADS_MAX)
        return option_refuse(command, "threads", value, "a whole number from 1 to 4096");
    options->threads = (int)count;
    return true;
}

// A list of numbers parted by commas.
static bool set_thread_counts(const struct command *command, const char *value,
                              struct options *options)
{
    const char *wanted = "up to 16 whole numbers from 1 to 4096, parted by commas";
    options->thread_counts_given = 0;
    for (const char *at = value;; at++) {
        size_t length = strcspn(at, ",");
        uint64_t count;
        if (number_parse_count(at, length, &count) != NUMBER_OK || count < 1 ||
            count > THREADS_MAX || options->thread_counts_given == BENCH_THREADS_MAX)
            return option_refuse(command, "threads", value, wanted);
        options->thread_counts[options->thread_counts_given++] = (int)count;
        at += length;
        if (*at == '\0')
            return true;
    }
}

bool option_set_isa(const char *source, const char *value, struct options *options)
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
    complain("%s: there is no instruction set '%s'; choose auto, base, v3 or v4", source, value);
    return false;
}

static bool set_kernel(const struct command *command, const char *value, struct options *options)
{
    if (strcmp(value, "auto") == 0)
        options->kernel = TAUT_KERNEL_AUTO;
    else if (strcmp(value, "reference") == 0)
        options->kernel = TAUT_KERNEL_REFERENCE;
    else
        return option_refuse(command, "kernel", value, "auto or reference");
    return true;
}

static bool set_steps(const struct command *command, const char *value, struct options *options)
{
    const uint64_t most = 1000000000000000; // as the key's
    uint64_t count;
    if (number_parse_count(value, strlen(value), &count) != NUMBER_OK || count == 0 || count > most)
        return option_refuse(command, "steps", value, "a whole number above 0, up to 1e15");
    return add_override(options, text_format("simulation.steps=%s", value));
}

static bool set_duration(const struct command *command, const char *value, struct options *options)
{
    double seconds;
    if (number_parse(value, strlen(value), &seconds) != NUMBER_OK || !(seconds > 0))
        return option_refuse(command, "duration", value, "seconds above 0");
    return add_override(options, text_format("simulation.duration=%s", value));
}

static bool set_seconds(const struct command *command, const char *option, const char *value,
                        double *seconds)
{
    if (number_parse(value, strlen(value), seconds) != NUMBER_OK || !(*seconds > 0))
        return option_refuse(command, option, value, "seconds above 0");
    return true;
}

static bool set_map(const struct command *command, const char *value, struct options *options)
{
    for (int kind = 0; kind < STUDY_MAP_KINDS; kind++)
        if (strcmp(value, study_map_name((enum study_map_kind)kind)) == 0) {
            options->map = (enum study_map_kind)kind;
            return true;
        }
    return option_refuse(command, "map", value, "stiffness, damping or none");
}

static bool set_precision(const struct command *command, const char *value, struct options *options)
{
    if (strcmp(value, "single") != 0 && strcmp(value, "double") != 0)
        return option_refuse(command, "precision", value, "single or double");
    options->double_precision = strcmp(value, "double") == 0;
    return add_override(options, text_format("precision=%s", value));
}

static bool set_path(const struct command *command, const char *option, const char *value,
                     const char **path)
{
    if (value[0] == '\0')
        return option_refuse(command, option, value, "a path");
    *path = value;
    return true;
}

bool option_apply(const struct command *command, int key, const char *value,
                  struct options *options)
{
    switch (key) {
    case KEY_SET:
        return add_override(options, text_format("%s", value));
    case KEY_THREADS:
        return set_threads(command, value, options);
    case KEY_ISA:
        return option_set_isa("--isa", value, options);
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
    case KEY_SCENES:
        options->scenes = value;
        return true;
    case KEY_THREAD_COUNTS:
        return set_thread_counts(command, value, options);
    case KEY_SECONDS:
        return set_seconds(command, "seconds", value, &options->seconds);
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
    case KEY_FULL:
        return options->full = true;
    case KEY_FORCE:
        return options->force = true;
    case KEY_STRICT:
        return options->strict = true;
    case KEY_NO_PIN:
        return options->no_pin = true;
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
    default:
        return option_apply_render(command, key, value, &options->render);
    }
}
