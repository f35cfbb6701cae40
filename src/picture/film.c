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

#include "base/text.h"

struct film {
    struct film_options options; // its path is the caller's; this is ours
    char *path;
    char *draft; // where ffmpeg writes
    pid_t child;
    int frames;     // the writing end of its standard input
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
                "films are made by the program ffmpeg, which is not installed (apt-get install "
                "ffmpeg); pictures and strips (.png) need none");
}

enum { WORDS_MAX = 40 };

// Arguments of ffmpeg; `film` has the draft's path, and `texts` the two that are numbers.
static void list_words(const struct film *film, char *const texts[2], const char **words)
{
    // Without -xerror a disk that is full at the end passes for success.
    static const char *const common[] = {"ffmpeg",    "-hide_banner", "-nostdin", "-xerror",
                                         "-loglevel", "error",        "-y",       "-f",
                                         "rawvideo",  "-pix_fmt",     "rgb24",    "-s:v"};
    // Colours are halved across and down in H.264, so sizes must be even.
    static const char *const mp4[] = {"-vf",       "pad=ceil(iw/2)*2:ceil(ih/2)*2",
                                      "-c:v",      "libx264",
                                      "-preset",   "medium",
                                      "-crf",      "18",
                                      "-pix_fmt",  "yuv420p",
                                      "-movflags", "+faststart",
                                      "-f",        "mp4"};
    // One palette for all frames, found from what changes, and dots that stay where they are.
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
    words[count++] = film->draft;
    words[count] = NULL;
}

// The child. In a process group of its own, so that Ctrl-C reaches us alone, who then end it.
static void become(const char *const *words, int frames, int messages)
{
    (void)setpgid(0, 0);
    (void)signal(SIGPIPE, SIG_DFL);
    int nowhere = open("/dev/null", O_WRONLY);
    if (nowhere >= 0 && dup2(frames, 0) == 0 && dup2(nowhere, 1) == 1 && dup2(messages, 2) == 2)
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
    // Else ffmpeg would hold the writing end itself, and never see the end of the frames.
    (void)fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    film->child = fork();
    if (film->child == 0)
        become(words, ends[0], fileno(film->messages));
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
    free(film->path);
    free(film->draft);
    free(film);
}

taut_status film_open(const struct film_options *options, struct film **film, taut_error *error)
{
    *film = NULL;
    taut_status status = film_possible(error);
    if (status != TAUT_OK)
        return status;
    struct film *opened = calloc(1, sizeof *opened);
    if (!opened)
        return fail_memory(error, "a film");
    *opened = (struct film){.options = *options, .child = -1, .frames = -1};
    opened->path = text_format("%s", options->path);
    // "file:", since a name could look like an option or like an address.
    opened->draft = text_format("file:%s.tmp", options->path);
    opened->messages = tmpfile();
    char *texts[2] = {text_format("%dx%d", options->width, options->height),
                      text_format("%.0f/1000", options->frames_per_second * 1000)};
    if (!opened->path || !opened->draft || !opened->messages || !texts[0] || !texts[1])
        status = fail_memory(error, "a film");
    else
        status = start(opened, texts, error);
    free(texts[0]);
    free(texts[1]);
    if (status == TAUT_OK)
        *film = opened;
    else
        release(opened);
    return status;
}

// The last line that ffmpeg wrote, in `line`.
static void last_message(struct film *film, char *line, size_t size)
{
    char next[512];
    snprintf(line, size, "it said nothing");
    rewind(film->messages);
    while (fgets(next, sizeof next, film->messages)) {
        next[strcspn(next, "\r\n")] = '\0';
        if (next[0])
            snprintf(line, size, "%s", next);
    }
}

static int wait_for(pid_t child)
{
    int result = 0;
    while (waitpid(child, &result, 0) < 0)
        if (errno != EINTR)
            return -1;
    return result;
}

// Lets ffmpeg end; false if it did not succeed.
static bool finish(struct film *film)
{
    (void)close(film->frames);
    film->frames = -1;
    int result = wait_for(film->child);
    film->child = -1;
    return WIFEXITED(result) && WEXITSTATUS(result) == 0;
}

static const char *draft_path(const struct film *film)
{
    return film->draft + strlen("file:");
}

static taut_status fail_film(struct film *film, taut_error *error)
{
    char line[512];
    last_message(film, line, sizeof line);
    (void)unlink(draft_path(film));
    return fail(error, TAUT_ERROR_IO, "cannot write '%s': ffmpeg failed: %s", film->path, line);
}

taut_status film_add(struct film *film, const struct image *image, taut_error *error)
{
    if (image->width != film->options.width || image->height != film->options.height)
        return fail(error, TAUT_ERROR_ARGUMENT, "a frame of another size than the film's");
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

// On the disk, and then under its name.
static bool settle(const struct film *film)
{
    int file = open(draft_path(film), O_RDONLY | O_CLOEXEC);
    bool whole = file >= 0 && fsync(file) == 0;
    if (file >= 0)
        (void)close(file);
    return whole && rename(draft_path(film), film->path) == 0;
}

taut_status film_close(struct film *film, taut_error *error)
{
    taut_status status = TAUT_OK;
    if (film->child < 0 || !finish(film)) {
        status = fail_film(film, error);
    } else if (!settle(film)) {
        status = fail(error, TAUT_ERROR_IO, "cannot write '%s': %s", film->path, strerror(errno));
        (void)unlink(draft_path(film));
    }
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
    (void)unlink(draft_path(film));
    release(film);
}
