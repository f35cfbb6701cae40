// Records and counts the signals that request the end of a run (signals.h). Reacting to them is
// left to the loops that check for them.
#include "cli/signals.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>

static atomic_int caught, count;

static void record(int signal_number)
{
    atomic_store(&caught, signal_number);
    atomic_fetch_add(&count, 1);
}

static void handle(int signal_number, void (*handler)(int))
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    (void)sigaction(signal_number, &action, NULL); // fails only for a signal that does not exist
}

void signals_ignore_writes(void)
{
    handle(SIGPIPE, SIG_IGN);
    handle(SIGXFSZ, SIG_IGN);
}

void signals_watch(void)
{
    // Also if they were ignored: a shell script starts background jobs with SIGINT ignored, and a
    // run there must still be stoppable. SIGHUP ignored by nohup stays ignored.
    handle(SIGINT, record);
    handle(SIGTERM, record);
    struct sigaction hangup;
    if (sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN)
        handle(SIGHUP, record);
}

int signals_caught(void)
{
    return atomic_load(&caught);
}

int signals_count(void)
{
    return atomic_load(&count);
}

const char *signals_name(int signal_number)
{
    switch (signal_number) {
    case SIGINT:
        return "SIGINT";
    case SIGTERM:
        return "SIGTERM";
    case SIGHUP:
        return "SIGHUP";
    default:
        return "a signal";
    }
}
