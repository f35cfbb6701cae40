// Starts a Python tool as a child process and waits for it (python_tool.h). The meaning of its
// arguments is left to the tool.
#include "cli/python_tool.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/os.h"
#include "base/text.h"
#include "parallel/quota.h"

// ---- Finding the tool

// Relative to the folder of the program: as installed (cmake/install.cmake), and in a build.
static const char *const folders[] = {TAUT_TOOLS_FROM_PROGRAM, "tools"};

char *python_tool_find(const char *name, taut_error *error)
{
    char program[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length < 0) {
        (void)fail(error, TAUT_ERROR_IO, "cannot find the tool '%s': /proc/self/exe: %s", name,
                   strerror(errno));
        return NULL;
    }
    program[length] = '\0';
    char *slash = strrchr(program, '/');
    if (slash)
        *slash = '\0';

    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        char *path = text_format("%s/%s/%s", program, folders[i], name);
        if (!path) {
            (void)fail_memory(error, "the name of a tool");
            return NULL;
        }
        if (access(path, R_OK) == 0)
            return path;
        free(path);
    }
    (void)fail(
        error, TAUT_ERROR_IO,
        "the tool '%s' is neither in %s/%s nor in %s/%s: the installation of taut is incomplete",
        name, program, folders[0], program, folders[1]);
    return NULL;
}

// ---- Running one interpreter

enum { WORDS_MAX = 64, MESSAGES_MAX = 4096 };

// Standard error of the tool; only its end if it does not fit.
struct messages {
    char text[MESSAGES_MAX + 1];
    size_t length;
};

enum outcome {
    OUTCOME_DONE,
    OUTCOME_FAILED, // the messages give the reason
    OUTCOME_KILLED, // by a signal that this process did not send
    OUTCOME_STOPPED,
    OUTCOME_LATE,
    OUTCOME_NO_INTERPRETER,
    OUTCOME_NO_PACKAGE,
    OUTCOME_NOT_STARTED // errno gives the reason
};

// The child process. It gets its own process group, so that Ctrl-C reaches only the parent, which
// then kills it. Only functions that are safe after fork() in a process with threads are called.
static void become(const char *const *words, const struct python_tool *tool, int messages)
{
    (void)setpgid(0, 0);
    (void)signal(SIGPIPE, SIG_DFL);
    int nowhere = open("/dev/null", O_RDWR);
    if (nowhere < 0 || dup2(nowhere, 0) != 0 || dup2(nowhere, 1) != 1 || dup2(messages, 2) != 2)
        _exit(126);
    for (size_t i = 0; i < tool->descriptor_count; i++)
        if (fcntl(tool->descriptors[i], F_SETFD, 0) != 0)
            _exit(126);
    execvp(words[0], (char *const *)words);
    _exit(127);
}

static void append(struct messages *messages, const char *more, size_t count)
{
    size_t kept = messages->length + count > MESSAGES_MAX ? MESSAGES_MAX - count : messages->length;
    memmove(messages->text, messages->text + messages->length - kept, kept);
    memcpy(messages->text + kept, more, count);
    messages->length = kept + count;
    messages->text[messages->length] = '\0';
}

// Reads until the tool closes its end. A signal ends poll() early, so that Ctrl-C takes effect at
// once.
static enum outcome follow(const struct python_tool *tool, int from, struct messages *messages)
{
    enum { POLL_INTERVAL = 200 }; // ms
    double begun = clock_seconds();
    for (;;) {
        if (tool->stop && tool->stop(tool->context))
            return OUTCOME_STOPPED;
        if (clock_seconds() - begun > tool->seconds_max)
            return OUTCOME_LATE;
        struct pollfd end = {.fd = from, .events = POLLIN};
        if (poll(&end, 1, POLL_INTERVAL) <= 0)
            continue;
        char bytes[512];
        ssize_t count = read(from, bytes, sizeof bytes);
        if (count > 0)
            append(messages, bytes, (size_t)count);
        else if (count == 0 || (errno != EINTR && errno != EAGAIN))
            return OUTCOME_DONE;
    }
}

static enum outcome run(const char *interpreter, const struct python_tool *tool,
                        struct messages *messages)
{
    // -B: the folder of the tools may be read-only or belong to another user.
    const char *words[WORDS_MAX] = {interpreter, "-B", tool->script};
    size_t count = 3;
    for (size_t i = 0; tool->arguments[i] && count < WORDS_MAX - 1; i++)
        words[count++] = tool->arguments[i];
    messages->length = 0;
    messages->text[0] = '\0';
    int ends[2];
    if (pipe(ends) != 0)
        return OUTCOME_NOT_STARTED;
    (void)fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    (void)fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    pid_t child = fork();
    int reason = errno;
    if (child == 0)
        become(words, tool, ends[1]);
    (void)close(ends[1]);
    if (child < 0) {
        (void)close(ends[0]);
        errno = reason;
        return OUTCOME_NOT_STARTED;
    }
    (void)setpgid(child, child); // the child calls it too; whichever comes first

    enum outcome outcome = follow(tool, ends[0], messages);
    if (outcome != OUTCOME_DONE)
        (void)kill(-child, SIGKILL);
    (void)close(ends[0]);
    int result = process_wait(child);
    if (outcome != OUTCOME_DONE)
        return outcome;
    if (!WIFEXITED(result))
        return OUTCOME_KILLED;
    switch (WEXITSTATUS(result)) {
    case 0:
        return OUTCOME_DONE;
    case PYTHON_TOOL_PACKAGE_MISSING:
        return OUTCOME_NO_PACKAGE;
    case 127:
        return OUTCOME_NO_INTERPRETER;
    default:
        return OUTCOME_FAILED;
    }
}

// ---- Trying the interpreters

// The last line that is not empty: in a Python traceback, the error itself.
static const char *last_line(struct messages *messages)
{
    while (messages->length > 0 && strchr(" \r\n", messages->text[messages->length - 1]))
        messages->text[--messages->length] = '\0';
    const char *newline = strrchr(messages->text, '\n');
    const char *line = newline ? newline + 1 : messages->text;
    return *line ? line : "it printed no reason";
}

static taut_status report_outcome(const struct python_tool *tool, enum outcome outcome, int reason,
                                  struct messages *messages, taut_error *error)
{
    switch (outcome) {
    case OUTCOME_DONE:
        return TAUT_OK;
    case OUTCOME_NO_INTERPRETER:
        return fail(error, TAUT_ERROR_IO,
                    "python3 is missing: install the packages python3 and %s, or set TAUT_PYTHON",
                    tool->package);
    case OUTCOME_NO_PACKAGE:
        return fail(error, TAUT_ERROR_IO, "the package %s is missing (%s)", tool->package,
                    last_line(messages));
    case OUTCOME_STOPPED:
        return fail(error, TAUT_ERROR_IO, "it was interrupted");
    case OUTCOME_LATE:
        return fail(error, TAUT_ERROR_IO, "the tool did not end within %g s", tool->seconds_max);
    case OUTCOME_NOT_STARTED:
        return fail(error, TAUT_ERROR_IO, "cannot start python3: %s", strerror(reason));
    case OUTCOME_KILLED:
        return fail(error, TAUT_ERROR_IO, "the tool was killed");
    default:
        return fail(error, TAUT_ERROR_IO, "%s", last_line(messages));
    }
}

taut_status python_tool_run(const struct python_tool *tool, taut_error *error)
{
    if (memory_left_to_this_process().bytes < tool->bytes_min)
        return fail(error, TAUT_ERROR_MEMORY, "not enough memory: it needs %.0f MB",
                    tool->bytes_min / 1e6);
    const char *chosen = getenv("TAUT_PYTHON");
    const char *const interpreters[] = {chosen && *chosen ? chosen : "python3", "/usr/bin/python3"};
    size_t count = chosen && *chosen ? 1 : sizeof interpreters / sizeof interpreters[0];

    // A missing package is reported in preference to a missing interpreter.
    struct messages messages = {.length = 0}, lacking = {.length = 0};
    enum outcome outcome = OUTCOME_NO_INTERPRETER;
    bool lacks = false;
    int reason = 0;
    for (size_t i = 0; i < count; i++) {
        outcome = run(interpreters[i], tool, &messages);
        reason = errno;
        if (outcome == OUTCOME_NO_PACKAGE && !lacks) {
            lacks = true;
            lacking = messages;
        }
        if (outcome != OUTCOME_NO_INTERPRETER && outcome != OUTCOME_NO_PACKAGE)
            return report_outcome(tool, outcome, reason, &messages, error);
    }
    return lacks ? report_outcome(tool, OUTCOME_NO_PACKAGE, reason, &lacking, error)
                 : report_outcome(tool, outcome, reason, &messages, error);
}
