// Several ranks on the command line (group.h). Which ranks there are, and their messages, is in
// ranks/.
#include "cli/group.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/terminal.h"
#include "ranks/ranks.h"
#include "solver/solver.h"

static bool prints_only(const struct command *command)
{
    return command->kind == COMMAND_READS || command->kind == COMMAND_PLANS;
}

bool group_takes_part(const struct command *command)
{
    return group_leads() || !prints_only(command);
}

void group_silence_others(void)
{
    if (ranks_launched() > 1 && ranks_launched_number() > 0)
        ranks_silence();
}

// Whether all ranks have been started with the same command: others would wait for each other for
// ever.
static bool commands_agree(const struct command *command)
{
    const int count = ranks_count();
    uint64_t mine = 0, *all = calloc((size_t)count, sizeof *all);
    if (!all)
        ranks_abort(EXIT_CODE_FAILED, "out of memory for the commands of all ranks");
    const size_t length = strlen(command->name);
    memcpy(&mine, command->name, length < sizeof mine ? length : sizeof mine);
    ranks_share(mine, all);
    int other = 0;
    while (other < count && all[other] == all[0])
        other++;
    free(all);
    if (other < count && group_leads())
        complain("%s: rank %d of %d was started with another command", command->name, other, count);
    return other == count;
}

int group_begin(const struct command *command)
{
    taut_error error = {0};
    taut_status status = ranks_begin(&error);
    if (status != TAUT_OK)
        complain("%s: %s", command->name, error.text);
    if (status != TAUT_OK)
        return exit_code_of(status);
    if (ranks_count() > 1 && !commands_agree(command))
        return EXIT_CODE_WRONG;
    if (ranks_count() > 1)
        memory_note_shared();
    if (ranks_count() == 1 || prints_only(command) || command->kind == COMMAND_SIMULATES ||
        command->kind == COMMAND_RESUMES)
        return EXIT_CODE_DONE;
    complain("%s: this command is not for several ranks yet; start it without mpirun",
             command->name);
    return EXIT_CODE_WRONG;
}

int group_agree(int code)
{
    enum { TEXT_MOST = 8000 };
    uint64_t agreed = (uint64_t)code;
    const int first = ranks_first_failed(&agreed);
    if (first == ranks_count() || first == 0)
        return (int)agreed; // rank 0 has printed its message
    char text[TEXT_MOST];
    const char *const message = ranks_message_of(first, "taut: ", text, sizeof text);
    if (group_leads())
        complain("rank %d of %d: %s", first, ranks_count(), message);
    return (int)agreed;
}

bool group_leads(void)
{
    return ranks_number() == 0;
}

uint64_t group_share_number(uint64_t number)
{
    ranks_broadcast(&number, sizeof number);
    return number;
}

char *group_share_text(const char *text)
{
    const uint64_t size = group_share_number(text ? strlen(text) + 1 : 0);
    char *copy = size > 0 ? malloc((size_t)size) : NULL;
    if (size == 0)
        return NULL;
    if (!copy)
        ranks_abort(EXIT_CODE_FAILED, "out of memory for a text of rank 0");
    if (text && group_leads())
        memcpy(copy, text, (size_t)size);
    ranks_broadcast(copy, (size_t)size);
    if (!group_leads())
        return copy;
    free(copy);
    return NULL;
}

void group_end(void)
{
    ranks_end();
}
