// The options of the commands, listed once: what is parsed, and what --help prints.
#ifndef TAUT_CLI_OPTIONS_H
#define TAUT_CLI_OPTIONS_H

#include "cli/command.h"

// Parses the arguments of a command (argv[0] is its name). Returns true if the command is to be
// run; else *exit_code is how the program ends: help was asked for and printed, or something was
// wrong and has been said. options_free after either.
bool options_parse(const struct command *command, int argc, char **argv, struct options *options,
                   int *exit_code);

void options_free(struct options *options);

// Prints the help of a command on standard output.
void options_help(const struct command *command);

#endif
