#include "cli/options_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diagnostics.h"
#include "base/text.h"
#include "cli/terminal.h"
#include "parallel/quota.h"

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

// The option that was perhaps meant: the nearest name, or the only one that begins like `name`.
static const char *find_similar(const struct command *command, const char *name)
{
    const char *names[OPTION_ENTRIES_MAX], *beginning = NULL;
    size_t count = 0, beginnings = 0, length = strlen(name);
    for (const struct option_entry *entry = option_entries; entry->name; entry++) {
        if (!takes(command, entry))
            continue;
        names[count++] = entry->name;
        if (length > 0 && strncmp(entry->name, name, length) == 0) {
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

// What no single option shows.
static bool agree(const struct command *command, const bool *given, char **operands,
                  int operand_count, struct options *options)
{
    const char *isa = getenv("TAUT_ISA");
    if (isa && isa[0] && !given[KEY_ISA - KEY_SET] && !option_set_isa("TAUT_ISA", isa, options))
        return false;
    const char *memory = getenv("TAUT_MEMORY_LIMIT");
    double bytes;
    if (memory && strcmp(memory, "none") != 0 && !memory_size_read(memory, &bytes)) {
        complain("TAUT_MEMORY_LIMIT is a size, such as 500M or 20G, or none, not '%s'", memory);
        return false;
    }
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
        if (operand_count > 0)
            complain("%s: it takes no scene; '%s' is one too many", command->name, operands[0]);
        return operand_count == 0;
    }
    if (operand_count == 0)
        complain("%s: which scene? Give the path of a scene file%s", command->name,
                 command->kind == COMMAND_DRAWS ? ", or of a run's folder" : "");
    else if (operand_count > 1)
        complain("%s: one scene at a time; '%s' is one too many", command->name, operands[1]);
    return operand_count == 1;
}

// The option that `word` names: --NAME, --NAME=VALUE or -h; NULL if the command has none. A name is
// never abbreviated: a later option could make the abbreviation ambiguous.
static const struct option_entry *find_option(const struct command *command, const char *word)
{
    const char *name = strcmp(word, "-h") == 0 ? "help" : word + 2;
    size_t length = strcspn(name, "=");
    if (word[1] != '-' && name == word + 2)
        return NULL;
    for (const struct option_entry *entry = option_entries; entry->name; entry++)
        if (takes(command, entry) && strlen(entry->name) == length &&
            strncmp(entry->name, name, length) == 0)
            return entry;
    return NULL;
}

// The value of the option argv[*at], which is --NAME=VALUE or --NAME VALUE; *at moves to the last
// word taken. *value is NULL for an option without one.
static bool take_value(const struct command *command, const struct option_entry *entry, int argc,
                       char **argv, int *at, const char **value)
{
    const char *equals = strchr(argv[*at], '=');
    *value = NULL;
    if (!entry->argument) {
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
        .render = {.zoom = 1, .colouring = COLOURING_PLAIN},
    };
    for (int at = 1; at < argc; at++) {
        const char *word = argv[at], *value;
        if (options_end || word[0] != '-' || word[1] == '\0') {
            argv[operand_count++] = argv[at]; // never beyond what has been read
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
        if (!take_value(command, entry, argc, argv, &at, &value))
            return wrong(command, exit_code);
        if (entry->key == KEY_HELP) {
            options_help(command);
            *exit_code = output_finish(EXIT_CODE_DONE);
            return false;
        }
        given[entry->key - KEY_SET] = true;
        if (!option_apply(command, (int)entry->key, value, options))
            return wrong(command, exit_code);
    }
    if (!agree(command, given, argv, operand_count, options))
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
