// A pipe to a child process of ffmpeg, and the file that it writes (film.h). Images come from the
// caller.
#include "picture/film.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/os.h"
#include "base/text.h"
#include "output/file.h"

// ffmpeg gets no file name: it writes to a descriptor of this process, which it opens again,
// because it seeks in an MP4 file and reads it back.
enum { DRAFT_DESCRIPTOR = 3 };
#define DRAFT_URL "file:/dev/fd/3"

struct film {
    struct film_options options; // the path in it is the caller's; `path` is a copy
    char *path;
    struct file draft; // has no name until it is complete
    pid_t child;
    int frames;     // the write end of its standard input
    FILE *messages; // its standard error
};

static bool is_program(const char *folder, size_t length, const char *name)
{
    char *path = text_format("%.*s%s%s", (int)length, folder, length > 0 ? "/" : "./", name);
    bool found = path && access(path, X_OK) == 0;
    free(path);
    return found;
}

taut_status film_possible(taut_error *error)
{
    const char *folders = getenv("PATH");
    for (const char *at = folders; at;) {
        size_t length = strcspn(at, ":");
        if (is_program(at, length, "ffmpeg"))
            return TAUT_OK;
        at = at[length] ? at + length + 1 : NULL;
    }
    return fail(error, TAUT_ERROR_UNSUPPORTED,
                "videos are made by the program ffmpeg, which is not installed (apt-get install "
                "ffmpeg); pictures and strips (.png) need none");
}

enum { WORDS_MAX = 40 };

// The arguments of ffmpeg; `texts` are the two numbers among them.
static void list_words(const struct film *film, char *const texts[2], const char **words)
{
    // Without -xerror a disk that is full at the end counts as success.
    static const char *const common[] = {"ffmpeg",    "-hide_banner", "-nostdin", "-xerror",
                                         "-loglevel", "error",        "-y",       "-f",
                                         "rawvideo",  "-pix_fmt",     "rgb24",    "-s:v"};
    static const char *const mp4[] = {"-c:v",      "libx264",    "-preset",  "medium",
                                      "-crf",      "18",         "-pix_fmt", "yuv420p",
                                      "-movflags", "+faststart", "-f",       "mp4"};
    // One palette for all frames, computed from their differences, and a dither pattern that does
    // not move.
    static const char palette[] =
        "split[a][b];[a]palettegen=stats_mode=diff[p];[b][p]paletteuse=dither=bayer:bayer_scale=4:"
        "diff_mode=rectangle";
    static const char *const gif[] = {"-filter_complex", palette, "-loop", "0", "-f", "gif"};
    size_t count = 0;
    for (size_t i = 0; i < sizeof common / sizeof common[0]; i++)
        words[count++] = common[i];
    words[count++] = texts[0];
    words[count++] = "-framerate";
    words[count++] = texts[1];
    words[count++] = "-i";
    words[count++] = "pipe:0";
    bool is_gif = film->options.format == FILM_GIF;
    size_t own = is_gif ? sizeof gif / sizeof gif[0] : sizeof mp4 / sizeof mp4[0];
    for (size_t i = 0; i < own; i++)
        words[count++] = is_gif ? gif[i] : mp4[i];
    words[count++] = DRAFT_URL;
    words[count] = NULL;
}

// The child process, in a process group of its own: Ctrl-C reaches only the parent, which then ends
// it.
static void become(const char *const *words, int frames, int messages, int draft)
{
    (void)setpgid(0, 0);
    (void)signal(SIGPIPE, SIG_DFL);
    // Duplicates above all descriptors that are replaced below; those made by dup2 stay open.
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    frames = fcntl(frames, F_DUPFD_CLOEXEC, DRAFT_DESCRIPTOR + 1);
    messages = fcntl(messages, F_DUPFD_CLOEXEC, DRAFT_DESCRIPTOR + 1);
    draft = fcntl(draft, F_DUPFD_CLOEXEC, DRAFT_DESCRIPTOR + 1);
    nowhere = nowhere < 0 ? -1 : fcntl(nowhere, F_DUPFD_CLOEXEC, DRAFT_DESCRIPTOR + 1);
    if (frames >= 0 && nowhere >= 0 && messages >= 0 && draft >= 0 && dup2(frames, 0) == 0 &&
        dup2(nowhere, 1) == 1 && dup2(messages, 2) == 2 &&
        dup2(draft, DRAFT_DESCRIPTOR) == DRAFT_DESCRIPTOR)
        execvp(words[0], (char *const *)words);
    _exit(127);
}

static taut_status start(struct film *film, char *const texts[2], taut_error *error)
{
    const char *words[WORDS_MAX];
    int ends[2];
    list_words(film, texts, words);
    if (pipe(ends) != 0)
        return fail(error, TAUT_ERROR_IO, "cannot start ffmpeg: %s", strerror(errno));
    // Otherwise ffmpeg would inherit the write end, and never see the end of the frames.
    (void)fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    film->child = fork();
    if (film->child == 0)
        become(words, ends[0], fileno(film->messages), film->draft.descriptor);
    (void)close(ends[0]);
    film->frames = ends[1];
    if (film->child < 0)
        return fail(error, TAUT_ERROR_IO, "cannot start ffmpeg: %s", strerror(errno));
    return TAUT_OK;
}

static void release(struct film *film)
{
    if (film->frames >= 0)
        (void)close(film->frames);
    if (film->messages)
        (void)fclose(film->messages);
    file_abandon(&film->draft);
    free(film->path);
    free(film);
}

taut_status film_open(const struct film_options *options, struct film **film, taut_error *error)
{
    *film = NULL;
    taut_status status = film_possible(error);
    if (status != TAUT_OK)
        return status;
    // yuv420p, which every player supports, halves the resolution of colours in both directions.
    if (options->format == FILM_MP4 && (options->width % 2 != 0 || options->height % 2 != 0))
        return fail(error, TAUT_ERROR_ARGUMENT,
                    "an .mp4 video has an even width and height, not %dx%d", options->width,
                    options->height);
    struct film *opened = calloc(1, sizeof *opened);
    if (!opened)
        return fail_memory(error, "a video");
    *opened = (struct film){.options = *options, .child = -1, .frames = -1};
    opened->path = text_format("%s", options->path);
    opened->messages = tmpfile();
    char *texts[2] = {text_format("%dx%d", options->width, options->height),
                      text_format("%.0f/1000", options->frames_per_second * 1000)};
    if (!opened->path || !opened->messages || !texts[0] || !texts[1])
        status = fail_memory(error, "a video");
    else
        status = file_create(&opened->draft, options->path, error);
    if (status == TAUT_OK)
        status = start(opened, texts, error);
    free(texts[0]);
    free(texts[1]);
    if (status == TAUT_OK)
        *film = opened;
    else
        release(opened);
    return status;
}

// Copies the last line that ffmpeg wrote to `line`.
static void last_message(struct film *film, char *line, size_t size)
{
    char next[512];
    snprintf(line, size, "it printed nothing");
    rewind(film->messages);
    while (fgets(next, sizeof next, film->messages)) {
        next[strcspn(next, "\r\n")] = '\0';
        if (next[0])
            snprintf(line, size, "%s", next);
    }
}

// Waits until ffmpeg ends; false if it did not succeed.
static bool finish(struct film *film)
{
    (void)close(film->frames);
    film->frames = -1;
    int result = process_wait(film->child);
    film->child = -1;
    return WIFEXITED(result) && WEXITSTATUS(result) == 0;
}

static taut_status fail_film(struct film *film, taut_error *error)
{
    char line[512];
    last_message(film, line, sizeof line);
    file_abandon(&film->draft);
    return fail(error, TAUT_ERROR_IO, "cannot write '%s': ffmpeg failed: %s", film->path, line);
}

taut_status film_add(struct film *film, const struct image *image, taut_error *error)
{
    if (image->width != film->options.width || image->height != film->options.height)
        return fail(error, TAUT_ERROR_ARGUMENT, "the size of the frame differs from the video's");
    if (film->child < 0)
        return fail_film(film, error);
    const uint8_t *bytes = image->pixels;
    size_t count = (size_t)image->width * (size_t)image->height * 3;
    while (count > 0) {
        ssize_t written = write(film->frames, bytes, count);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0) {
            (void)finish(film);
            return fail_film(film, error);
        }
        bytes += written;
        count -= (size_t)written;
    }
    return TAUT_OK;
}

taut_status film_close(struct film *film, taut_error *error)
{
    taut_status status = TAUT_OK;
    if (film->child < 0 || !finish(film))
        status = fail_film(film, error);
    else
        status = file_commit(&film->draft, error);
    release(film);
    return status;
}

void film_abandon(struct film *film)
{
    if (!film)
        return;
    if (film->child > 0) {
        (void)kill(film->child, SIGKILL);
        (void)finish(film);
    }
    release(film);
}
