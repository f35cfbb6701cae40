#include "cli/options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diagnostics.h"
#include "base/text.h"
#include "cli/terminal.h"
#include "simd/isa.h"
#include "scene/text/number.h"

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
    KEY_HELP
};

struct option_entry {
    const char *name, *argument; // argument NULL: it takes none
    enum option_key key;
    int kinds;        // the kinds of command that take it: bits of enum command_kind
    const char *help; // lines parted by \n
};

enum {
    RUN = COMMAND_SIMULATES,
    BENCH = COMMAND_MEASURES,
    STUDY = COMMAND_STUDIES,
    SCENE = COMMAND_READS | RUN | STUDY, // every command that is given a scene
    ALL = SCENE | BENCH
};

static const struct option_entry entries[] = {
    {"scenes", "LIST", KEY_SCENES, BENCH, "only these, e.g. --scenes cloth,jelly26"},
    {"full", NULL, KEY_FULL, BENCH,
     "every scene: also with wind, without gas, larger\nthan the caches; and grids in double "
     "precision"},
    {"threads", "LIST", KEY_THREAD_COUNTS, BENCH,
     "numbers of threads to compare, e.g. --threads\n1,2,4 (default: 1, and the physical cores "
     "that\nthis process may use)"},
    {"seconds", "S", KEY_SECONDS, BENCH,
     "about how long to measure (default: 60, or 150\nwith --full)"},
    {"integrators", "LIST", KEY_INTEGRATORS, STUDY, "only these, e.g. --integrators verlet,rk4"},
    {"map", "NAME", KEY_MAP, STUDY,
     "what the map has beside the step: stiffness,\ndamping, or none (default: stiffness)"},
    {"budget", "S", KEY_BUDGET, STUDY,
     "about how long to measure; of larger scenes runs\nare shortened (default: 30)"},
    {"output", "DIR", KEY_OUTPUT, STUDY,
     "the folder of tables and pictures (default:\nout/SCENE-NAME-stability)"},
    {"output", "DIR", KEY_OUTPUT, RUN, "the folder of the results (default: out/SCENE-NAME)"},
    {"force", NULL, KEY_FORCE, RUN, "replace an earlier run in that folder"},
    {"no-output", NULL, KEY_NO_OUTPUT, RUN, "simulate, and leave no files"},
    {"steps", "N", KEY_STEPS, RUN, "do N steps, whatever the scene says"},
    {"duration", "T", KEY_DURATION, RUN, "simulate T seconds, whatever the scene says"},
    {"state", "FILE", KEY_STATE, RUN, "write the final state to FILE, as CSV"},
    {"hash", NULL, KEY_HASH, RUN, "print the hash of the final state"},
    {"set", "PATH=VALUE", KEY_SET, SCENE,
     "change a key of the scene (repeatable), e.g.\n--set simulation.dt=0.001 or\n"
     "--set bodies.flag.nodes=[500,400]"},
    {"threads", "N", KEY_THREADS, SCENE,
     "threads to use (default: the physical cores that\nthis process may use)"},
    {"no-pin", NULL, KEY_NO_PIN, ALL & ~STUDY,
     "let threads run anywhere, also on machines with\nseveral memory nodes"},
    {"isa", "NAME", KEY_ISA, ALL,
     "instruction set: auto, base, v3 or v4 (default:\nauto, or the environment variable "
     "TAUT_ISA)"},
    {"kernel", "NAME", KEY_KERNEL, ALL,
     "auto, or reference: plain serial loops, the\nbaseline (default: auto)"},
    {"precision", "NAME", KEY_PRECISION, ALL & ~STUDY, "single or double, whatever the scene says"},
    {"strict", NULL, KEY_STRICT, SCENE, "take warnings for errors, e.g. that dt is not stable"},
    {"json", NULL, KEY_JSON, ALL, "print the results as one JSON object"},
    {"quiet", NULL, KEY_QUIET, ALL,
     "no progress and no table: only errors, and what\n--json or --hash ask for"},
    {"help", NULL, KEY_HELP, ALL, "print this and exit"},
};

enum { ENTRY_COUNT = sizeof entries / sizeof entries[0] };

static bool takes(const struct command *command, const struct option_entry *entry)
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
    printf("Usage: taut %s [OPTIONS]%s\n%s.\n", command->name,
           command->kind & SCENE ? " SCENE" : "", command->does);
    for (int own = 1; own >= 0; own--) {
        bool titled = false;
        for (size_t i = 0; i < ENTRY_COUNT; i++) {
            bool is_own = entries[i].kinds == (int)command->kind;
            if (is_own != (own == 1) || !takes(command, &entries[i]))
                continue;
            if (!titled)
                printf(own ? "\nOptions of taut %s:\n" : "\nCommon options:\n", command->name);
            titled = true;
            print_entry(&entries[i]);
        }
    }
    puts("\nExit status: 0 done; 1 the run failed; 2 wrong usage or scene.");
}

// Says what is wrong with the value of an option; false, for the caller to pass on.
static bool refuse(const struct command *command, const char *option, const char *value,
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
        return refuse(command, "threads", value, "a whole number from 1 to 4096");
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
            return refuse(command, "threads", value, wanted);
        options->thread_counts[options->thread_counts_given++] = (int)count;
        at += length;
        if (*at == '\0')
            return true;
    }
}

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
        return refuse(command, "kernel", value, "auto or reference");
    return true;
}

static bool set_steps(const struct command *command, const char *value, struct options *options)
{
    uint64_t count;
    if (number_parse_count(value, strlen(value), &count) != NUMBER_OK || count == 0)
        return refuse(command, "steps", value, "a whole number above 0");
    return add_override(options, text_format("simulation.steps=%s", value));
}

static bool set_duration(const struct command *command, const char *value, struct options *options)
{
    double seconds;
    if (number_parse(value, strlen(value), &seconds) != NUMBER_OK || !(seconds > 0))
        return refuse(command, "duration", value, "seconds above 0");
    return add_override(options, text_format("simulation.duration=%s", value));
}

static bool set_seconds(const struct command *command, const char *option, const char *value,
                        double *seconds)
{
    if (number_parse(value, strlen(value), seconds) != NUMBER_OK || !(*seconds > 0))
        return refuse(command, option, value, "seconds above 0");
    return true;
}

static bool set_map(const struct command *command, const char *value, struct options *options)
{
    for (int kind = 0; kind < STUDY_MAP_KINDS; kind++)
        if (strcmp(value, study_map_name((enum study_map_kind)kind)) == 0) {
            options->map = (enum study_map_kind)kind;
            return true;
        }
    return refuse(command, "map", value, "stiffness, damping or none");
}

static bool set_precision(const struct command *command, const char *value, struct options *options)
{
    if (strcmp(value, "single") != 0 && strcmp(value, "double") != 0)
        return refuse(command, "precision", value, "single or double");
    options->double_precision = strcmp(value, "double") == 0;
    return add_override(options, text_format("precision=%s", value));
}

static bool set_path(const struct command *command, const char *option, const char *value,
                     const char **path)
{
    if (value[0] == '\0')
        return refuse(command, option, value, "a path");
    *path = value;
    return true;
}

static bool apply(const struct command *command, int key, const char *value,
                  struct options *options)
{
    switch (key) {
    case KEY_SET:
        return add_override(options, text_format("%s", value));
    case KEY_THREADS:
        return set_threads(command, value, options);
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
    default:
        return options->hash = true;
    }
}

// After getopt has said what is wrong: the option that was perhaps meant.
static void suggest(const struct command *command, const char *word)
{
    if (strncmp(word, "--", 2) != 0)
        return;
    const char *names[ENTRY_COUNT];
    size_t count = 0;
    for (size_t i = 0; i < ENTRY_COUNT; i++)
        if (takes(command, &entries[i]))
            names[count++] = entries[i].name;
    char *name = text_format("%.*s", (int)strcspn(word + 2, "="), word + 2);
    const char *nearest = name ? nearest_name(name, names, count) : NULL;
    if (nearest && strcmp(nearest, name) != 0)
        fprintf(stderr, "    did you mean '--%s'?\n", nearest);
    free(name);
}

static bool wrong(const struct command *command, int *exit_code)
{
    fprintf(stderr, "Try 'taut %s --help' for more information.\n", command->name);
    *exit_code = EXIT_CODE_WRONG;
    return false;
}

// What no single option shows.
static bool agree(const struct command *command, const bool *given, int argc, char **argv,
                  struct options *options)
{
    const char *isa = getenv("TAUT_ISA");
    if (isa && isa[0] && !given[KEY_ISA - KEY_SET] && !set_isa("TAUT_ISA", isa, options))
        return false;
    if (given[KEY_STEPS - KEY_SET] && given[KEY_DURATION - KEY_SET]) {
        complain("%s: --steps and --duration are two ways to say the same: give one",
                 command->name);
        return false;
    }
    if (options->no_output && (options->output || options->force)) {
        complain("%s: --no-output leaves no files, so --output and --force have no place",
                 command->name);
        return false;
    }
    if (command->kind == COMMAND_MEASURES) {
        if (optind < argc)
            complain("%s: it takes no scene; '%s' is one too many", command->name, argv[optind]);
        return optind == argc;
    }
    if (optind == argc)
        complain("%s: which scene? Give the path of a scene file", command->name);
    else if (optind + 1 < argc)
        complain("%s: one scene at a time; '%s' is one too many", command->name, argv[optind + 1]);
    return optind + 1 == argc;
}

static void fill_long_options(const struct command *command, struct option *options)
{
    for (size_t i = 0; i < ENTRY_COUNT; i++)
        if (takes(command, &entries[i]))
            *options++ = (struct option){
                .name = entries[i].name,
                .has_arg = entries[i].argument ? required_argument : no_argument,
                .val = (int)entries[i].key,
            };
    *options = (struct option){0};
}

bool options_parse(const struct command *command, int argc, char **argv, struct options *options,
                   int *exit_code)
{
    struct option long_options[ENTRY_COUNT + 1];
    bool given[KEY_HELP - KEY_SET + 1] = {false};
    fill_long_options(command, long_options);
    *options = (struct options){.map = STUDY_MAP_STIFFNESS, .budget = 30};
    optind = 1;
    int key;
    while ((key = getopt_long(argc, argv, "h", long_options, NULL)) != -1) {
        if (key == 'h' || key == KEY_HELP) {
            options_help(command);
            *exit_code = output_finish(EXIT_CODE_DONE);
            return false;
        }
        if (key == '?') {
            suggest(command, argv[optind - 1]);
            return wrong(command, exit_code);
        }
        given[key - KEY_SET] = true;
        if (!apply(command, key, optarg, options))
            return wrong(command, exit_code);
    }
    if (!agree(command, given, argc, argv, options))
        return wrong(command, exit_code);
    options->scene = argv[optind];
    return true;
}

void options_free(struct options *options)
{
    for (size_t i = 0; i < options->override_count; i++)
        free(options->overrides[i]);
    free(options->overrides);
    *options = (struct options){0};
}
