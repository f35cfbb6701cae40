// Records and counts the signals that request the end of a run (signals.h). Reacting to them is
// left to the loops that check for them.
#include "cli/signals.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "cli/terminal.h"

static atomic_int caught, count;

// "\r" and what clears the line that a terminal shows while a scene is read.
static const char *before_message = "";

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

// Handles them also if they were ignored: a shell script starts background jobs with SIGINT
// ignored, and a run there must still be stoppable. SIGHUP ignored by nohup stays ignored.
static void handle_ends(void (*handler)(int))
{
    handle(SIGINT, handler);
    handle(SIGTERM, handler);
    struct sigaction hangup;
    if (sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN)
        handle(SIGHUP, handler);
}

static void print(const char *text)
{
    if (write(STDERR_FILENO, text, strlen(text)) < 0)
        return; // nobody can be notified
}

// Makes only calls that a handler may make.
static void end_setup(int signal_number)
{
    print(before_message);
    print("taut: interrupted by ");
    print(signals_name(signal_number));
    print(" before the first step; nothing was written\n");
    _exit(EXIT_CODE_FAILED);
}

void signals_end_setup(void)
{
    if (isatty(STDERR_FILENO))
        before_message = "\r\033[K";
    handle_ends(end_setup);
}

void signals_watch(void)
{
    handle_ends(record);
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
