#include "cli/options_parts.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diagnostics.h"
#include "base/text.h"
#include "cli/terminal.h"

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
    printf("Usage: taut %s [OPTIONS]%s%s\n%s.\n", command->name, command->operand ? " " : "",
           command->operand ? command->operand : "", command->does);
    for (int own = 1; own >= 0; own--) {
        bool titled = false;
        for (const struct option_entry *entry = option_entries; entry->name; entry++) {
            bool is_own = entry->kinds == (int)command->kind;
            if (is_own != (own == 1) || !takes(command, entry))
                continue;
            if (!titled)
                printf(own ? "\nOptions of taut %s:\n" : "\nCommon options:\n", command->name);
            titled = true;
            print_entry(entry);
        }
    }
    puts("\nExit status: 0 done; 1 the run failed; 2 wrong usage or scene.");
}

// After getopt has said what is wrong: the option that was perhaps meant.
static void suggest(const struct command *command, const char *word)
{
    if (strncmp(word, "--", 2) != 0)
        return;
    const char *names[OPTION_ENTRIES_MAX];
    size_t count = 0;
    for (const struct option_entry *entry = option_entries; entry->name; entry++)
        if (takes(command, entry))
            names[count++] = entry->name;
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
    if (isa && isa[0] && !given[KEY_ISA - KEY_SET] && !option_set_isa("TAUT_ISA", isa, options))
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
    if (!command->operand) {
        if (optind < argc)
            complain("%s: it takes no scene; '%s' is one too many", command->name, argv[optind]);
        return optind == argc;
    }
    if (optind == argc)
        complain("%s: which scene? Give the path of a scene file%s", command->name,
                 command->kind == COMMAND_DRAWS ? ", or of a run's folder" : "");
    else if (optind + 1 < argc)
        complain("%s: one scene at a time; '%s' is one too many", command->name, argv[optind + 1]);
    return optind + 1 == argc;
}

static void fill_long_options(const struct command *command, struct option *options)
{
    for (const struct option_entry *entry = option_entries; entry->name; entry++)
        if (takes(command, entry))
            *options++ = (struct option){
                .name = entry->name,
                .has_arg = entry->argument ? required_argument : no_argument,
                .val = (int)entry->key,
            };
    *options = (struct option){0};
}

bool options_parse(const struct command *command, int argc, char **argv, struct options *options,
                   int *exit_code)
{
    struct option long_options[OPTION_ENTRIES_MAX + 1];
    bool given[KEY_HELP - KEY_SET + 1] = {false};
    fill_long_options(command, long_options);
    *options = (struct options){
        .map = STUDY_MAP_STIFFNESS,
        .budget = 30,
        .render = {.zoom = 1, .colouring = COLOURING_PLAIN},
    };
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
        if (!option_apply(command, key, optarg, options))
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
