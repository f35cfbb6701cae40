// A command on several ranks: mpirun -n R taut run SCENE. Every rank does the same with the same
// arguments; only rank 0 prints. Where ranks may fare differently (a file that one of them cannot
// read), they agree on one exit code and one message.
#ifndef TAUT_CLI_GROUP_H
#define TAUT_CLI_GROUP_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/command.h"

// From now on only the first of the processes that a launcher has started prints; the output of the
// others is kept.
void group_silence_others(void);

// Joins the other ranks, if a launcher has started several processes. Returns EXIT_CODE_DONE, or
// the exit code after printing what is wrong: the build has no MPI, ranks have different commands,
// or this one is not for several ranks.
int group_begin(const struct command *command);

// The exit code of the lowest rank that has failed, on all ranks; EXIT_CODE_DONE if none has. Rank
// 0 prints what that rank has printed, which was kept until then. Collective.
int group_agree(int code);

// Whether this rank takes part in the command: rank 0 alone does those that only print.
bool group_takes_part(const struct command *command);

// Whether this rank prints and writes: rank 0, or the only one.
bool group_leads(void);

// A copy of the text of rank 0, which the caller frees; NULL on rank 0 itself, and if that gives
// NULL. Collective.
char *group_share_text(const char *text);

// The number of rank 0. Collective.
uint64_t group_share_number(uint64_t number);

void group_end(void);

#endif
