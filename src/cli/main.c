// taut COMMAND [OPTIONS] SCENE: finds the command and parses its options.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diagnostics.h"
#include "base/os.h"
#include "cli/command.h"
#include "cli/group.h"
#include "cli/signals.h"
#include "cli/terminal.h"
#include "parallel/team.h"
#include "ranks/ranks.h"
#include "simd/isa.h"
#include "version_info.h"

static const struct command *const commands[] = {
    &check_command,  &check_intersections_command, &info_command,   &run_command,
    &resume_command, &stability_command,           &render_command, &view_command,
    &bench_command};

enum { COMMAND_COUNT = sizeof commands / sizeof commands[0] };

static void print_usage(FILE *out)
{
    fputs("Usage: taut COMMAND [OPTIONS] [SCENE]\n"
          "Simulates systems of masses and springs that a scene file describes.\n\n"
          "Commands:\n",
          out);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        fprintf(out, "  %-20s %s\n", commands[i]->name, commands[i]->does);
    fputs("\n'taut COMMAND --help' lists the options of a command; 'taut --version' prints the\n"
          "version.\n",
          out);
}

static int print_version(void)
{
    printf("taut %s\n", taut_version());
    printf("commit: %s\n", TAUT_BUILD_COMMIT);
    printf("compiler: %s\n", TAUT_BUILD_COMPILER);
    printf("build: %s, %s\n", TAUT_BUILD_BUILD, TAUT_BUILD_FLAGS);
    printf("threads: %s\n", team_runtime());
    printf("ranks: %s\n", ranks_library() ? ranks_library() : "one, built without MPI");
    printf("instruction sets:");
    for (int isa = 0; isa < ISA_COUNT; isa++)
        if (isa_available((enum isa)isa))
            printf("%s %s (%s)", isa == ISA_BASE ? "" : ",", isa_name((enum isa)isa),
                   isa_registers((enum isa)isa));
    printf("\n");
    return output_finish(EXIT_CODE_DONE);
}

static const struct command *find_command(const char *name)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

static int refuse(const char *word)
{
    static const char *const options[] = {"--help", "--version"};
    const char *names[COMMAND_COUNT], *nearest;
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        names[i] = commands[i]->name;
    if (word[0] == '-') {
        complain("there is no option '%s' before the command", word);
        nearest = nearest_name(word, options, 2);
    } else {
        complain("there is no command '%s'; the commands are check, check-intersections, "
                 "info, run, resume, stability, render, view and bench",
                 word);
        nearest = nearest_name(word, names, COMMAND_COUNT);
    }
    if (nearest)
        fprintf(stderr, "    did you mean '%s'?\n", nearest);
    fputs("Try 'taut --help' for more information.\n", stderr);
    return EXIT_CODE_WRONG;
}

static int run_command_line(const struct command *command, int argc, char **argv)
{
    struct options options = {0};
    int exit_code = group_begin(command);
    if (exit_code == EXIT_CODE_DONE) { // which it stays where a rank does not take part
        const bool sound = options_parse(command, argc, argv, &options, &exit_code);
        // Help is printed, and ends the command, on all ranks alike.
        const int agreed = group_agree(sound ? EXIT_CODE_DONE : exit_code);
        if (agreed != EXIT_CODE_DONE)
            exit_code = agreed;
        else if (sound && group_takes_part(command))
            exit_code = command->run(&options);
    }
    options_free(&options);
    group_end();
    return exit_code;
}

int main(int argc, char **argv)
{
    process_keep_little_memory();
    terminal_open_missing_streams();
    signals_ignore_writes();
    group_silence_others();
    // If /sys is not mounted, hwloc would print its own message; machine.c works without it.
    (void)setenv("HWLOC_HIDE_ERRORS", "2", 0);

    if (argc < 2) {
        print_usage(stderr);
        return EXIT_CODE_WRONG;
    }

    const char *word = argv[1];
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 ||
        (strcmp(word, "help") == 0 && argc == 2)) {
        print_usage(stdout);
        return output_finish(EXIT_CODE_DONE);
    }
    if (strcmp(word, "--version") == 0)
        return print_version();

    // `taut help COMMAND` is `taut COMMAND --help`.
    const char *name = strcmp(word, "help") == 0 ? argv[2] : word;
    const struct command *command = find_command(name);
    if (!command)
        return refuse(name);

    if (command->execute) {
        char *help[] = {argv[2], "--help", NULL};
        return name != word ? command->execute(2, help) : command->execute(argc - 1, argv + 1);
    }

    if (name != word) {
        options_help(command);
        return output_finish(EXIT_CODE_DONE);
    }
    return run_command_line(command, argc - 1, argv + 1);
}
