#include "report/convert.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "parallel/quota.h"
#include "output/file.h"

enum { WORDS_MAX = 10 };

// SVG stands for the path of what is converted, which is never taken for an option: it has a
// folder. All of them write to their standard output, which is a file of ours, so that none is told
// a name.
static const char *const programs[][WORDS_MAX] = {
    {"rsvg-convert", "--zoom", "2", "--format", "png", "SVG", NULL},
    {"inkscape", "--export-type=png", "--export-dpi=192", "--export-filename=-", "SVG", NULL},
    {"magick", "-density", "192", "SVG", "png:-", NULL},
    {"convert", "-density", "192", "SVG", "png:-", NULL},
};

enum { PROGRAM_COUNT = sizeof programs / sizeof programs[0] };

// Far longer than any of them takes for such a picture (ImageMagick half a second). One that waits
// for something must not hold up the study: then no other is tried either.
static const double SECONDS_MOST = 15;

// Address space that they need to come up (ImageMagick, Inkscape's libraries). With less some of
// them neither end nor work: their threads wait for one that could not be made.
#define BYTES_LEAST 200e6

// The child: silent but for the picture, and away if there is no such program.
static void become(const char *const *words, int picture)
{
    int nowhere = open("/dev/null", O_RDWR);
    if (nowhere >= 0 && dup2(picture, 1) == 1 && dup2(nowhere, 0) == 0 && dup2(nowhere, 2) == 2)
        execvp(words[0], (char *const *)words);
    _exit(127);
}

static bool wait_for(pid_t child, bool *late)
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
        if (!killed && clock_seconds() - begun > SECONDS_MOST) {
            killed = kill(child, SIGKILL) == 0;
            *late = true;
        }
        const struct timespec moment = {.tv_nsec = 5000000};
        (void)nanosleep(&moment, NULL);
    }
}

// Programs may say something before the picture, or instead of it.
static bool is_png(int picture)
{
    static const char signature[] = {'\x89', 'P', 'N', 'G'};
    char begins[sizeof signature];
    return pread(picture, begins, sizeof begins, 0) == (ssize_t)sizeof begins &&
           memcmp(begins, signature, sizeof begins) == 0;
}

static bool run(const char *const *program, const char *svg, int picture, bool *late)
{
    const char *words[WORDS_MAX] = {NULL};
    for (int i = 0; program[i]; i++)
        words[i] = strcmp(program[i], "SVG") == 0 ? svg : program[i];
    pid_t child = fork();
    if (child == 0)
        become(words, picture);
    return child > 0 && wait_for(child, late) && is_png(picture);
}

taut_status convert_picture(struct converter *converter, const char *svg, const char *png,
                            bool *converted, taut_error *error)
{
    *converted = false;
    if (converter->absent)
        return TAUT_OK;
    if (memory_left_to_this_process().bytes < BYTES_LEAST) {
        converter->absent = true;
        converter->reason = "there is too little memory for a program that converts them";
        return TAUT_OK;
    }
    bool late = false;
    // A path that begins with a dash would be an option, and one with a colon a format.
    char *from = text_format("%s%s", svg[0] == '/' ? "" : "./", svg);
    taut_status status = from ? TAUT_OK : fail_memory(error, "the name of a file");
    while (status == TAUT_OK && converter->chosen < PROGRAM_COUNT && !*converted && !late) {
        struct file draft;
        status = file_create_new(&draft, png, error);
        if (status != TAUT_OK)
            break;
        *converted = run(programs[converter->chosen], from, draft.descriptor, &late);
        if (*converted)
            status = file_commit(&draft, error);
        else
            file_abandon(&draft);
        converter->chosen += !*converted;
    }
    if (status != TAUT_OK)
        *converted = false;
    converter->absent = status == TAUT_OK && !*converted;
    if (late)
        converter->reason = "the program that converts them did not end within 15 s";
    free(from);
    return status;
}
