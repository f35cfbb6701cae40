#include "output/folder.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/text.h"
#include "output/energy_csv.h"
#include "output/obj.h"
#include "output/probes_csv.h"

// The files of an earlier run.
struct leavings {
    char **paths;
    size_t count, capacity;
    const char *sign; // of those, one that shows that there was a run; NULL: none does
};

static taut_status make_each(char *path, taut_error *error)
{
    for (char *end = path + 1;; end++) {
        if (*end != '/' && *end != '\0')
            continue;
        char separator = *end;
        *end = '\0';
        if (mkdir(path, (mode_t)0777) != 0) {
            int reason = errno;
            struct stat status;
            bool present = stat(path, &status) == 0;
            if (!present || !S_ISDIR(status.st_mode))
                return fail(error, TAUT_ERROR_IO, "cannot create the folder '%s': %s", path,
                            present ? "there is a file of that name" : strerror(reason));
        }
        *end = separator;
        if (separator == '\0')
            return TAUT_OK;
    }
}

taut_status folder_make(const char *path, taut_error *error)
{
    char *copy = text_format("%s", path);
    if (!copy)
        return fail_memory(error, "the name of a folder");
    taut_status status = make_each(copy, error);
    free(copy);
    return status;
}

static bool ends_with(const char *text, const char *ending)
{
    size_t length = strlen(text), tail = strlen(ending);
    return length >= tail && strcmp(text + length - tail, ending) == 0;
}

// NAME_000000.vtp and its like: six digits or more.
static bool is_frame_name(const char *file, const char *run)
{
    size_t length = strlen(run);
    if (strncmp(file, run, length) != 0 || file[length] != '_')
        return false;
    const char *digits = file + length + 1;
    size_t count = strspn(digits, "0123456789");
    return count >= 6 && strcmp(digits + count, ".vtp") == 0;
}

static bool is_collection_name(const char *file, const char *run)
{
    size_t length = strlen(run);
    return strncmp(file, run, length) == 0 && strcmp(file + length, ".pvd") == 0;
}

// How a file of that name begins if it is of a run called `run`; NULL if no run writes such a name.
static const char *opening_of(const char *file, const char *run)
{
    static const struct {
        const char *file, *opening;
    } known[] = {
        {"scene.yaml", SCENE_YAML_OPENING},
        {"energy.csv", ENERGY_CSV_OPENING},
        {"probes.csv", PROBES_CSV_OPENING},
        {"summary.json", "{"},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(file, known[i].file) == 0)
            return known[i].opening;
    if (is_frame_name(file, run))
        return "<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\"";
    if (is_collection_name(file, run))
        return "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\"";
    return NULL;
}

// True for a regular file that begins so, or that a full disk cut short while it began so.
static bool begins_as(const char *path, const char *opening)
{
    char text[256];
    size_t length = strlen(opening);
    assert(length <= sizeof text);
    struct stat status;
    if (lstat(path, &status) != 0 || !S_ISREG(status.st_mode))
        return false;
    FILE *file = fopen(path, "rb");
    if (!file)
        return false;
    size_t got = fread(text, 1, length, file);
    bool sound = !ferror(file);
    (void)fclose(file);
    return sound && memcmp(text, opening, got) == 0;
}

taut_status folder_file_ours(const char *path, const char *opening, taut_error *error)
{
    struct stat status;
    if (lstat(path, &status) != 0 || begins_as(path, opening))
        return TAUT_OK;
    return fail(error, TAUT_ERROR_IO,
                "'%s' is in the way and was not written by taut: move it, or choose another "
                "folder with --output",
                path);
}

static bool is_body(const char *name, size_t length, const struct snapshot *first)
{
    for (size_t b = 0; b < first->body_count; b++)
        if (strlen(first->bodies[b].name) == length &&
            strncmp(first->bodies[b].name, name, length) == 0)
            return true;
    return false;
}

enum judgement { STRANGE, IN_THE_WAY, LEFT_BEHIND, SIGN_OF_A_RUN };

// A body's files are a pair: the mesh says in its first line that it is ours, and the cache belongs
// to the mesh of its name.
static enum judgement judge_pair(const struct recording_options *options,
                                 const struct snapshot *first, const char *file, const char *path)
{
    size_t stem = strlen(file) - strlen(".obj"); // as long as ".pc2"
    char *mesh = text_format("%.*s.obj", (int)(strlen(path) - strlen(".obj")), path);
    bool ours = mesh && begins_as(mesh, OBJ_OPENING);
    free(mesh);
    if (ours)
        return SIGN_OF_A_RUN;
    return options->pc2 && is_body(file, stem, first) ? IN_THE_WAY : STRANGE;
}

static enum judgement judge(const struct recording_options *options, const struct snapshot *first,
                            const char *file, const char *path)
{
    if (ends_with(file, ".obj") || ends_with(file, ".pc2"))
        return judge_pair(options, first, file, path);
    const char *opening = opening_of(file, options->name);
    if (opening && !begins_as(path, opening))
        return strcmp(file, "summary.json") == 0 ? STRANGE : IN_THE_WAY;
    if (opening)
        return strcmp(file, "summary.json") == 0 ? LEFT_BEHIND : SIGN_OF_A_RUN;
    if (!ends_with(file, ".tmp"))
        return STRANGE;
    // What a killed run was writing.
    char *whole = text_format("%.*s", (int)(strlen(file) - strlen(".tmp")), file);
    opening = whole ? opening_of(whole, options->name) : NULL;
    free(whole);
    return opening && begins_as(path, opening) ? LEFT_BEHIND : STRANGE;
}

static taut_status consider(const struct recording_options *options, const struct snapshot *first,
                            const char *file, struct leavings *leavings, taut_error *error)
{
    char *path = text_format("%s/%s", options->folder, file);
    if (!path || !array_reserve((void **)&leavings->paths, &leavings->capacity, leavings->count + 1,
                                sizeof *leavings->paths)) {
        free(path);
        return fail_memory(error, "the list of an earlier run's files");
    }
    enum judgement judgement = judge(options, first, file, path);
    if (judgement == IN_THE_WAY) {
        taut_status status =
            fail(error, TAUT_ERROR_IO,
                 "'%s' is in the way and was not written by taut: move it, or choose another "
                 "folder with --output",
                 path);
        free(path);
        return status;
    }
    if (judgement == STRANGE) {
        free(path);
        return TAUT_OK;
    }
    leavings->paths[leavings->count++] = path;
    if (judgement == SIGN_OF_A_RUN && !leavings->sign)
        leavings->sign = strrchr(path, '/') + 1;
    return TAUT_OK;
}

static taut_status survey(const struct recording_options *options, const struct snapshot *first,
                          struct leavings *leavings, taut_error *error)
{
    DIR *folder = opendir(options->folder);
    if (!folder)
        return fail(error, TAUT_ERROR_IO, "cannot read the folder '%s': %s", options->folder,
                    strerror(errno));
    taut_status status = TAUT_OK;
    while (status == TAUT_OK) {
        errno = 0;
        struct dirent *entry = readdir(folder);
        if (!entry) {
            if (errno != 0)
                status = fail(error, TAUT_ERROR_IO, "cannot read the folder '%s': %s",
                              options->folder, strerror(errno));
            break;
        }
        status = consider(options, first, entry->d_name, leavings, error);
    }
    (void)closedir(folder);
    return status;
}

static taut_status remove_leavings(const struct leavings *leavings, taut_error *error)
{
    for (size_t i = 0; i < leavings->count; i++)
        if (unlink(leavings->paths[i]) != 0 && errno != ENOENT)
            return fail(error, TAUT_ERROR_IO, "cannot remove '%s': %s", leavings->paths[i],
                        strerror(errno));
    return TAUT_OK;
}

taut_status folder_prepare(const struct recording_options *options, const struct snapshot *first,
                           taut_error *error)
{
    taut_status status = folder_make(options->folder, error);
    if (status != TAUT_OK)
        return status;
    struct leavings leavings = {0};
    status = survey(options, first, &leavings, error);
    if (status == TAUT_OK && leavings.sign && !options->force)
        status = fail(error, TAUT_ERROR_IO,
                      "'%s' already holds a run (%s): replace it with --force, or choose another "
                      "folder with --output",
                      options->folder, leavings.sign);
    if (status == TAUT_OK && options->force)
        status = remove_leavings(&leavings, error);
    for (size_t i = 0; i < leavings.count; i++)
        free(leavings.paths[i]);
    free(leavings.paths);
    return status;
}
