#include "report/convert.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"

enum { WORDS_MAX = 10 };

// SVG and PNG stand for the two paths. The paths are never taken for options: they have a folder.
static const char *const programs[][WORDS_MAX] = {
    {"rsvg-convert", "--zoom", "2", "--format", "png", "--output", "PNG", "SVG", NULL},
    {"inkscape", "--export-type=png", "--export-dpi=192", "--export-filename", "PNG", "SVG", NULL},
    {"magick", "-density", "192", "SVG", "PNG", NULL},
    {"convert", "-density", "192", "SVG", "PNG", NULL},
};

enum { PROGRAM_COUNT = sizeof programs / sizeof programs[0] };

// Longer than any of them takes; one that waits for something must not hold up the study for ever.
static const double SECONDS_MOST = 60;

// The child: silent, and away if there is no such program.
static void become(const char *const *words)
{
    int nowhere = open("/dev/null", O_RDWR);
    if (nowhere >= 0 && dup2(nowhere, 0) == 0 && dup2(nowhere, 1) == 1 && dup2(nowhere, 2) == 2)
        execvp(words[0], (char *const *)words);
    _exit(127);
}

static bool wait_for(pid_t child)
{
    double begun = clock_seconds();
    bool killed = false;
    for (;;) {
        int result;
        pid_t ended = waitpid(child, &result, WNOHANG);
        if (ended == child)
            return WIFEXITED(result) && WEXITSTATUS(result) == 0;
        if (ended < 0 && errno != EINTR)
            return false;
        if (!killed && clock_seconds() - begun > SECONDS_MOST)
            killed = kill(child, SIGKILL) == 0;
        const struct timespec moment = {.tv_nsec = 5000000};
        (void)nanosleep(&moment, NULL);
    }
}

static bool run(const char *const *program, const char *svg, const char *png)
{
    const char *words[WORDS_MAX] = {NULL};
    for (int i = 0; program[i]; i++)
        words[i] = strcmp(program[i], "SVG") == 0   ? svg
                   : strcmp(program[i], "PNG") == 0 ? png
                                                    : program[i];
    pid_t child = fork();
    if (child == 0)
        become(words);
    return child > 0 && wait_for(child);
}

taut_status convert_picture(struct converter *converter, const char *svg, const char *png,
                            bool *converted, taut_error *error)
{
    *converted = false;
    if (converter->absent)
        return TAUT_OK;
    // A path that begins with a dash would be an option, and one with a colon a format.
    char *from = text_format("%s%s", svg[0] == '/' ? "" : "./", svg);
    char *draft = text_format("%s%s.tmp.png", png[0] == '/' ? "" : "./", png);
    if (!from || !draft) {
        free(from);
        free(draft);
        return fail_memory(error, "the name of a file");
    }
    for (; converter->chosen < PROGRAM_COUNT && !*converted; converter->chosen += !*converted) {
        (void)unlink(draft); // what a killed study left
        struct stat status;
        *converted = run(programs[converter->chosen], from, draft) && stat(draft, &status) == 0 &&
                     status.st_size > 0 && rename(draft, png) == 0;
    }
    if (!*converted)
        (void)unlink(draft);
    converter->absent = !*converted;
    free(from);
    free(draft);
    return TAUT_OK;
}
