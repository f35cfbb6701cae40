// The command line of taut-bench (options.h).
#include "bench/options.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diagnostics.h"
#include "base/text.h"
#include "bench/scenes.h"
#include "ranks/ranks.h"
#include "scene/text/number.h"
#include "solver/solver.h"
#include "version_info.h"

void complain(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("taut-bench: ", stderr);
    // NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): clang-tidy 14, of many files at once
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
}

// ---- Names of suites, kernels and instruction sets

static const struct {
    const char *name;
    enum bench_suite suite;
} suites[] = {{"steps", SUITE_STEPS},
              {"scaling", SUITE_SCALING},
              {"stages", SUITE_STAGES},
              {"limits", SUITE_LIMITS}};

static const char *const precisions[] = {"single", "mixed", "double"};

// ---- Help

enum option_key {
    KEY_SUITE,
    KEY_THREADS,
    KEY_INTEGRATOR,
    KEY_PRECISION,
    KEY_KERNEL,
    KEY_ISA,
    KEY_SPRINGS,
    KEY_ENERGY_BUDGET,
    KEY_FULL,
    KEY_SET,
    KEY_NO_PIN,
    KEY_VERBOSE,
    KEY_JSON,
    KEY_VERSION,
    KEY_HELP
};

static const struct option_entry {
    const char *name, *argument; // argument NULL: the option has none
    enum option_key key;
    const char *help; // lines separated by \n
} entries[] = {
    {"suite", "LIST", KEY_SUITE,
     "what to measure: steps, scaling (strong and weak),\nstages (of a step, volume, tangent, "
     "plan, set-up),\nlimits (bandwidth and peak of the machine)\n(default: steps,limits)"},
    {"threads", "LIST", KEY_THREADS,
     "numbers of threads, e.g. 1,2,4 (default: 1, and\nthe physical cores that this process may "
     "use)"},
    {"integrator", "LIST", KEY_INTEGRATOR,
     "integrators to compare (default:\nsymplectic_euler,velocity_verlet; of a scene\nfile its "
     "own)"},
    {"precision", "LIST", KEY_PRECISION,
     "single, mixed, double (default: single; of a scene\nfile its own)"},
    {"kernel", "LIST", KEY_KERNEL,
     "auto, grid, packed, coloured, reference (plain\nserial loops); default: auto,reference"},
    {"isa", "LIST", KEY_ISA,
     "instruction sets: base, v3, v4, or all (default:\nthe widest, or the variable TAUT_ISA)"},
    {"springs", "LIST", KEY_SPRINGS,
     "about how many springs built-in scenes have, e.g.\n10000,1000000 (default: their own; of "
     "stages\n1000,10000,100000,1000000)"},
    {"energy-budget", "LIST", KEY_ENERGY_BUDGET,
     "off, on: steps that keep the energy budget, as\n'taut run' does (default: off)"},
    {"full", NULL, KEY_FULL,
     "all built-in scenes: also with wind, a collider,\nwithout gas, with holes, larger than the "
     "caches"},
    {"set", "PATH=VALUE", KEY_SET, "change a key of every scene (repeatable)"},
    {"no-pin", NULL, KEY_NO_PIN,
     "let threads run anywhere, also on machines with\nseveral memory nodes"},
    {"verbose", NULL, KEY_VERBOSE,
     "print every repetition and statistic, not only the\nmedians (JSON and CSV always have all)"},
    {"json", NULL, KEY_JSON, "the same as --benchmark_format=json"},
    {"version", NULL, KEY_VERSION, "print the version and exit"},
    {"help", NULL, KEY_HELP, "print this and exit"},
};

enum { ENTRY_COUNT = sizeof entries / sizeof entries[0] };

static void print_help(void)
{
    enum { HELP_COLUMN = 25 };
    puts("Usage: taut-bench [OPTIONS] [SCENE...]\n"
         "Measures how fast this machine is, by Google Benchmark.\n\n"
         "A SCENE is a scene file, or the name of a built-in scene (default: all of these but the\n"
         "ones in brackets, which --full adds):");
    int column = 0;
    for (int s = 0; s < BENCH_SCENES; s++) {
        bool extra = bench_scenes[s].traits & BENCH_EXTRA;
        column += printf("%s%s%s%s", column == 0 ? "  " : " ", extra ? "[" : "",
                         bench_scenes[s].name, extra ? "]" : "");
        if (column > 70 || s + 1 == BENCH_SCENES) {
            puts("");
            column = 0;
        }
    }
    puts("\nOptions:");
    for (int e = 0; e < ENTRY_COUNT; e++) {
        int at = printf("  --%s%s%s", entries[e].name, entries[e].argument ? " " : "",
                        entries[e].argument ? entries[e].argument : "");
        for (const char *line = entries[e].help; line;) {
            int length = (int)strcspn(line, "\n");
            printf("%*s%.*s\n", at < HELP_COLUMN ? HELP_COLUMN - at : 1, "", length, line);
            at = 0;
            line = line[length] ? line + length + 1 : NULL;
        }
    }
    puts(
        "\nOptions of Google Benchmark, among others:\n"
        "  --benchmark_filter=REGEX, --benchmark_list_tests, --benchmark_repetitions=N (21),\n"
        "  --benchmark_min_time=S (0.02), --benchmark_min_warmup_time=S (0.05),\n"
        "  --benchmark_enable_random_interleaving=BOOL (true),\n"
        "  --benchmark_format=console|json|csv, --benchmark_out=FILE, --benchmark_out_format=...,\n"
        "  --benchmark_report_aggregates_only=BOOL, --benchmark_counters_tabular=BOOL\n\n"
        "Names are KIND/SCENE/INTEGRATOR/PRECISION/KERNEL/threads:N. Exit status: 0 done; 1 a\n"
        "benchmark failed, or a signal ended it; 2 wrong usage or scene.");
}

static void print_version(void)
{
    printf("taut-bench %s (%s), %s, %s\n", taut_version(), TAUT_BUILD_COMMIT, TAUT_BUILD_COMPILER,
           TAUT_BUILD_FLAGS);
}

// ---- Values

static bool refuse(const char *option, const char *value, const char *wanted)
{
    complain("--%s takes %s, not '%s'", option, wanted, value);
    return false;
}

// Reads a comma-separated list, each item at most once; `take` returns false if an item is wrong.
static bool parse_list(const char *option, const char *value, const char *wanted,
                       bool (*take)(struct bench_options *options, const char *item, size_t length),
                       struct bench_options *options)
{
    for (const char *at = value;; at++) {
        size_t length = strcspn(at, ",");
        if (length == 0 || !take(options, at, length))
            return refuse(option, value, wanted);
        at += length;
        if (*at == '\0')
            return true;
    }
}

static bool is(const char *item, size_t length, const char *name)
{
    return strlen(name) == length && strncmp(item, name, length) == 0;
}

static bool parse_suite(struct bench_options *options, const char *item, size_t length)
{
    for (size_t s = 0; s < sizeof suites / sizeof suites[0]; s++)
        if (is(item, length, suites[s].name)) {
            options->suites |= suites[s].suite;
            return true;
        }
    return false;
}

static bool parse_threads(struct bench_options *options, const char *item, size_t length)
{
    const uint64_t most = 4096; // the limit of the solver
    uint64_t count;
    if (number_parse_count(item, length, &count) != NUMBER_OK || count < 1 || count > most ||
        options->thread_count == BENCH_LIST_MAX)
        return false;
    for (int t = 0; t < options->thread_count; t++)
        if (options->threads[t] == (int)count)
            return false;
    options->threads[options->thread_count++] = (int)count;
    return true;
}

// Adds `name` to a list if the item is this name; false if it is not, or if the list has it
// already.
static bool parse_name(const char *name, const char *item, size_t length, const char **list,
                       int *count)
{
    if (!is(item, length, name) || *count == BENCH_LIST_MAX)
        return false;
    for (int i = 0; i < *count; i++)
        if (strcmp(list[i], name) == 0)
            return false;
    list[(*count)++] = name;
    return true;
}

static bool parse_integrator(struct bench_options *options, const char *item, size_t length)
{
    for (int i = 0; i < INTEGRATOR_COUNT; i++)
        if (parse_name(integrator_name((enum integrator)i), item, length, options->integrators,
                       &options->integrator_count))
            return true;
    return false;
}

static bool parse_precision(struct bench_options *options, const char *item, size_t length)
{
    for (size_t p = 0; p < sizeof precisions / sizeof precisions[0]; p++)
        if (parse_name(precisions[p], item, length, options->precisions, &options->precision_count))
            return true;
    return false;
}

static bool parse_kernel(struct bench_options *options, const char *item, size_t length)
{
    for (int k = 0; kernel_choice_name(k); k++) {
        if (!is(item, length, kernel_choice_name(k)) || options->kernel_count == BENCH_LIST_MAX)
            continue;
        options->kernels[options->kernel_count++] = (taut_kernel)k;
        return true;
    }
    return false;
}

static bool parse_isa(struct bench_options *options, const char *item, size_t length)
{
    bool all = is(item, length, "all"), found = all;
    for (int isa = 0; isa < ISA_COUNT; isa++) {
        bool named = is(item, length, isa_name((enum isa)isa));
        if (named && !isa_available((enum isa)isa)) {
            complain("this machine cannot run the instruction set '%s'", isa_name((enum isa)isa));
            return false;
        }
        if (named || (all && isa_available((enum isa)isa)))
            found = options->isas[isa] = true;
    }
    return found;
}

static bool parse_springs(struct bench_options *options, const char *item, size_t length)
{
    const uint64_t most = 100000000000; // 10^11, beyond any memory
    uint64_t count;
    if (number_parse_count(item, length, &count) != NUMBER_OK || count < 1 || count > most ||
        options->springs_count == BENCH_LIST_MAX)
        return false;
    options->springs[options->springs_count++] = count;
    return true;
}

static bool parse_energy_budget(struct bench_options *options, const char *item, size_t length)
{
    if (is(item, length, "off"))
        return options->energy_budgets[0] = true;
    return is(item, length, "on") && (options->energy_budgets[1] = true);
}

// ---- The command line

static bool add_flag(struct bench_options *options, char *flag)
{
    options->flags[options->flag_count++] = flag;
    return true;
}

static bool apply(const struct option_entry *entry, char *value, struct bench_options *options)
{
    static char json[] = "--benchmark_format=json";
    switch (entry->key) {
    case KEY_SUITE:
        return parse_list("suite", value, "some of steps, scaling, stages and limits", parse_suite,
                          options);
    case KEY_THREADS:
        return parse_list("threads", value,
                          "up to 16 different whole numbers from 1 to 4096, separated by commas",
                          parse_threads, options);
    case KEY_INTEGRATOR:
        return parse_list("integrator", value,
                          "names of integrators, each once, separated by commas", parse_integrator,
                          options);
    case KEY_PRECISION:
        return parse_list("precision", value, "single, mixed, double or a list of them",
                          parse_precision, options);
    case KEY_KERNEL:
        return parse_list("kernel", value,
                          "auto, reference, packed, grid, coloured or a list of them", parse_kernel,
                          options);
    case KEY_ISA:
        return parse_list("isa", value, "some of base, v3 and v4, or all", parse_isa, options);
    case KEY_SPRINGS:
        return parse_list("springs", value, "whole numbers from 1 to 10^11, separated by commas",
                          parse_springs, options);
    case KEY_ENERGY_BUDGET:
        return parse_list("energy-budget", value, "off, on or off,on", parse_energy_budget,
                          options);
    case KEY_FULL:
        return options->full = true;
    case KEY_SET:
        options->overrides[options->override_count++] = value;
        return true;
    case KEY_NO_PIN:
        return options->no_pin = true;
    case KEY_VERBOSE:
        options->medians_only = false;
        return true;
    default:
        options->medians_only = false;
        return add_flag(options, json);
    }
}

// Flags that Google Benchmark gets before those of the command line, which override them. A flag is
// omitted if its environment variable is set.
static void add_defaults(struct bench_options *options)
{
    static struct {
        const char *variable;
        char flag[48];
    } defaults[] = {
        {"BENCHMARK_REPETITIONS", "--benchmark_repetitions=21"},
        {"BENCHMARK_MIN_TIME", "--benchmark_min_time=0.02"},
        {"BENCHMARK_MIN_WARMUP_TIME", "--benchmark_min_warmup_time=0.05"},
        {"BENCHMARK_ENABLE_RANDOM_INTERLEAVING", "--benchmark_enable_random_interleaving=true"},
    };
    // Ranks have one solver at a time, and would make it again at each change.
    const size_t count = sizeof defaults / sizeof defaults[0] - (ranks_count() > 1);
    for (size_t d = 0; d < count; d++)
        if (!getenv(defaults[d].variable))
            add_flag(options, defaults[d].flag);
}

static bool refuse_unknown(const char *word)
{
    const char *names[ENTRY_COUNT];
    for (int e = 0; e < ENTRY_COUNT; e++)
        names[e] = entries[e].name;
    complain("unrecognized option '%s'", word);
    char *name = word[1] == '-' ? text_format("%.*s", (int)strcspn(word + 2, "="), word + 2) : NULL;
    const char *nearest = name ? nearest_name(name, names, ENTRY_COUNT) : NULL;
    if (nearest)
        fprintf(stderr, "    did you mean '--%s'?\n", nearest);
    free(name);
    return false;
}

// Reads the option argv[*at] and its value, which may be the next word.
static bool parse_option(int argc, char **argv, int *at, struct bench_options *options)
{
    char *word = argv[*at], *value = NULL;
    size_t length = strcspn(word, "=");
    for (int e = 0; e < ENTRY_COUNT; e++) {
        if (strlen(entries[e].name) + 2 != length ||
            strncmp(word + 2, entries[e].name, length - 2) != 0)
            continue;
        if (word[length] == '=')
            value = word + length + 1;
        if (!entries[e].argument && value) {
            complain("option '--%s' takes no value", entries[e].name);
            return false;
        }
        if (entries[e].argument && !value) {
            if (*at + 1 == argc) {
                complain("option '--%s' requires an argument: --%s %s", entries[e].name,
                         entries[e].name, entries[e].argument);
                return false;
            }
            value = argv[++*at];
        }
        return apply(&entries[e], value, options);
    }
    return refuse_unknown(word);
}

static bool allocate(int argc, struct bench_options *options)
{
    size_t count = (size_t)argc + 8; // with space for the defaults
    options->scenes = calloc(count, sizeof *options->scenes);
    options->overrides = calloc(count, sizeof *options->overrides);
    options->flags = calloc(count, sizeof *options->flags);
    return options->scenes && options->overrides && options->flags;
}

static bool choose_isa(struct bench_options *options)
{
    for (int isa = 0; isa < ISA_COUNT; isa++)
        if (options->isas[isa])
            return true;
    enum isa widest;
    taut_error error = {0};
    if (isa_choose(TAUT_ISA_AUTO, &widest, &error) != TAUT_OK) {
        complain("%s", error.text);
        return false;
    }
    return options->isas[widest] = true;
}

bool options_read(int argc, char **argv, struct bench_options *options, int *exit_code)
{
    *options = (struct bench_options){.medians_only = !getenv("BENCHMARK_FORMAT")};
    *exit_code = 2;
    if (!allocate(argc, options)) {
        complain("out of memory for the options");
        *exit_code = 1;
        return false;
    }
    add_flag(options, argv[0]);
    add_defaults(options);
    bool options_end = false;
    for (int at = 1; at < argc; at++) {
        char *word = argv[at];
        if (options_end || word[0] != '-' || word[1] == '\0') {
            options->scenes[options->scene_count++] = word;
        } else if (strcmp(word, "--") == 0) {
            options_end = true;
        } else if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 ||
                   strcmp(word, "--version") == 0) {
            (strcmp(word, "--version") == 0 ? print_version : print_help)();
            *exit_code = fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
            return false;
        } else if (strncmp(word, "--benchmark_", 12) == 0 || strncmp(word, "--v=", 4) == 0) {
            add_flag(options, word);
            options->lists_only |= strncmp(word, "--benchmark_list_tests", 22) == 0;
            // The user wants another form of output.
            if (strncmp(word, "--benchmark_format", 18) == 0 ||
                strstr(word, "aggregates_only") != NULL)
                options->medians_only = false;
        } else if (!parse_option(argc, argv, &at, options)) {
            fputs("Try 'taut-bench --help' for more information.\n", stderr);
            return false;
        }
    }
    return choose_isa(options);
}

void options_free(struct bench_options *options)
{
    free(options->scenes);
    free(options->overrides);
    free(options->flags);
    *options = (struct bench_options){0};
}
