// The manifest of a folder (manifest.h): its log while files are written, its final form, and
// reading both. Which files may be removed is decided in folder.c.
//
// flock() is a function of BSD and Linux.
#define _DEFAULT_SOURCE // NOLINT(bugprone-reserved-identifier)

#include "output/manifest.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/text.h"
#include "output/folder.h"
#include "output/scan.h"

enum { VERSION = 1, STRING_BYTES_MAX = 4096 }; // as long as a path

void manifest_free(struct manifest *manifest)
{
    for (size_t i = 0; i < manifest->count; i++)
        free(manifest->entries[i].name);
    for (size_t i = 0; i < manifest->earlier_count; i++)
        free(manifest->earlier[i].name);
    free(manifest->entries);
    free(manifest->earlier);
    free(manifest->folder);
    free(manifest->kind);
    free(manifest->name);
    free(manifest->kernel);
    free(manifest->state);
    *manifest = (struct manifest){0};
}

static char *path_of(const struct manifest *manifest)
{
    return text_format("%s/" MANIFEST_NAME, manifest->folder);
}

// Takes ownership of the name.
static bool add_entry(struct manifest *manifest, struct manifest_entry entry)
{
    if (!entry.name || !array_reserve((void **)&manifest->entries, &manifest->capacity,
                                      manifest->count + 1, sizeof *manifest->entries)) {
        free(entry.name);
        return false;
    }
    entry.line = manifest->count;
    manifest->entries[manifest->count++] = entry;
    return true;
}

// ---- Measuring

static taut_status fail_read(const char *path, int reason, taut_error *error)
{
    return fail(error, TAUT_ERROR_IO, "cannot read '%s': %s", path, strerror(reason));
}

taut_status manifest_measure(const char *path, uint64_t *size, uint64_t *checksum,
                             taut_error *error)
{
    enum { BLOCK = 1 << 20 };
    struct stat status = {0};
    unsigned char *block = malloc(BLOCK);
    if (!block)
        return fail_memory(error, "a checksum");
    int descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    int reason = descriptor < 0 || fstat(descriptor, &status) != 0 ? errno : 0;
    if (reason == 0 && !S_ISREG(status.st_mode))
        reason = EINVAL;
    struct hash hash;
    hash_begin(&hash);
    while (reason == 0) {
        ssize_t got = read(descriptor, block, BLOCK);
        if (got == 0)
            break;
        if (got > 0)
            hash_add(&hash, block, (size_t)got);
        else if (errno != EINTR)
            reason = errno;
    }
    if (descriptor >= 0)
        (void)close(descriptor);
    free(block);
    *size = hash.total;
    *checksum = hash_end(&hash);
    return reason == 0 ? TAUT_OK : fail_read(path, reason, error);
}

// ---- Writing

static void put_string(struct file *file, const char *text)
{
    file_print(file, "\"");
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            file_print(file, "\\");
        if ((unsigned char)*text < ' ')
            file_print(file, "\\u%04x", (unsigned)*text);
        else
            file_write(file, text, 1);
    }
    file_print(file, "\"");
}

static void put_member(struct file *file, const char *name, const char *text)
{
    if (!text)
        return;
    file_print(file, ",\n\"%s\": ", name);
    put_string(file, text);
}

// A run that is complete does not begin again, and its folder does not depend on where the state
// is.
static void write_header(struct file *file, const struct manifest *manifest, bool complete)
{
    file_print(file, "{\n\"taut_manifest\": %d", VERSION);
    put_member(file, "kind", manifest->kind);
    put_member(file, "name", manifest->name);
    put_member(file, "kernel", complete ? NULL : manifest->kernel);
    put_member(file, "state", complete ? NULL : manifest->state);
    file_print(file, ",\n\"checksum\": \"XXH64\",\n\"files\": [");
}

static void put_entry(struct file *file, const struct manifest_entry *entry, bool first)
{
    file_print(file, "%s\n{\"name\": ", first ? "" : ",");
    put_string(file, entry->name);
    if (entry->writing)
        file_print(file, ", \"writing\": true}");
    else
        file_print(file, ", \"size\": %" PRIu64 ", \"checksum\": \"%016" PRIx64 "\"}", entry->size,
                   entry->checksum);
}

static void put_tail(struct file *file, bool complete)
{
    file_print(file, "\n],\n\"complete\": %s\n}\n", complete ? "true" : "false");
}

taut_status manifest_fail_busy(const char *folder, taut_error *error)
{
    return fail(error, TAUT_ERROR_IO,
                "'%s' is being written by another taut: choose another folder with "
                "--output",
                folder);
}

// False: another process holds it.
static bool lock(const struct file *log)
{
    return flock(log->descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

// The same after 2 s at most: a run on several ranks continues for a short time after mpirun has
// been killed.
static bool lock_soon(const struct file *log)
{
    enum { TRIES = 40 };
    const struct timespec pause = {.tv_nsec = 50000000};
    for (int i = 0; !lock(log); i++) {
        if (i == TRIES)
            return false;
        (void)nanosleep(&pause, NULL);
    }
    return true;
}

taut_status manifest_begin(const char *folder, const char *kind, const char *name,
                           const char *kernel, const char *state, struct manifest *manifest,
                           taut_error *error)
{
    *manifest = (struct manifest){.folder = text_format("%s", folder),
                                  .kind = text_format("%s", kind),
                                  .name = text_format("%s", name),
                                  .kernel = kernel ? text_format("%s", kernel) : NULL,
                                  .state = state ? text_format("%s", state) : NULL};

    char *path = manifest->folder ? path_of(manifest) : NULL;
    taut_status status = TAUT_OK;
    if (!path || !manifest->kind || !manifest->name || (kernel && !manifest->kernel) ||
        (state && !manifest->state))
        status = fail_memory(error, "the manifest");

    // Created whole: a process killed here must not leave an empty manifest.
    struct file header = {0};
    if (status == TAUT_OK)
        status = file_create_new(&header, path, error);
    if (status == TAUT_OK) {
        write_header(&header, manifest, false);
        status = file_commit(&header, error);
        // It did not exist when the folder was checked (folder.c).
        if (status != TAUT_OK && access(path, F_OK) == 0)
            status = manifest_fail_busy(folder, error);
    }

    if (status == TAUT_OK) {
        status = file_extend(&manifest->log, path, error);
        if (status != TAUT_OK)
            (void)unlink(path);
    }

    // The lock is held until the process ends (see manifest_read). On a file system that has no
    // locks the log is used without one.
    if (status == TAUT_OK && !lock(&manifest->log)) {
        status = manifest_fail_busy(folder, error);
        (void)file_close(&manifest->log, NULL); // it is the other process's now
    }
    free(path);
    return status;
}

static const char *name_in(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static taut_status announce(struct manifest *manifest, const char *path, bool passing,
                            taut_error *error)
{
    struct manifest_entry entry = {.name = text_format("%s", name_in(path)),
                                   .writing = true,
                                   .passing = passing,
                                   .announced_at = file_length(&manifest->log)};
    bool first = manifest->count == 0;
    if (!add_entry(manifest, entry))
        return fail_memory(error, "the manifest");
    put_entry(&manifest->log, &manifest->entries[manifest->count - 1], first);
    taut_status status = file_end_record(&manifest->log, error);
    if (status != TAUT_OK)
        free(manifest->entries[--manifest->count].name);
    return status;
}

taut_status manifest_announce(struct manifest *manifest, const char *path, taut_error *error)
{
    return announce(manifest, path, false, error);
}

static taut_status measure_entry(const struct manifest *manifest, struct manifest_entry *entry,
                                 taut_error *error)
{
    char *path = text_format("%s/%s", manifest->folder, entry->name);
    if (!path)
        return fail_memory(error, "the manifest");
    taut_status status = manifest_measure(path, &entry->size, &entry->checksum, error);
    entry->writing = status != TAUT_OK;
    free(path);
    return status;
}

// NULL if there is none.
static struct manifest_entry *find_entry(const struct manifest *manifest, const char *path)
{
    for (size_t i = manifest->count; i > 0; i--)
        if (strcmp(manifest->entries[i - 1].name, name_in(path)) == 0)
            return &manifest->entries[i - 1];
    return NULL;
}

taut_status manifest_announce_passing(struct manifest *manifest, const char *path,
                                      taut_error *error)
{
    return find_entry(manifest, path) ? TAUT_OK : announce(manifest, path, true, error);
}

static void forget_entry(struct manifest *manifest, struct manifest_entry *entry)
{
    free(entry->name);
    for (manifest->count--; entry < manifest->entries + manifest->count; entry++)
        *entry = entry[1];
}

void manifest_withdraw(struct manifest *manifest, const char *path)
{
    struct manifest_entry *last = manifest->entries + manifest->count;
    if (manifest->count == 0 || strcmp((--last)->name, name_in(path)) != 0)
        return;
    // If this fails, the list that is written at the end is still without it.
    (void)file_cut(&manifest->log, last->announced_at, NULL);
    forget_entry(manifest, last);
}

static taut_status remove_file(const char *path, taut_error *error)
{
    if (unlink(path) == 0 || errno == ENOENT)
        return TAUT_OK;
    return fail(error, TAUT_ERROR_IO, "cannot remove '%s': %s", path, strerror(errno));
}

taut_status manifest_remove(struct manifest *manifest, const char *path, taut_error *error)
{
    struct manifest_entry *entry = find_entry(manifest, path);
    taut_status status = remove_file(path, error);
    if (status == TAUT_OK && entry)
        forget_entry(manifest, entry);
    return status;
}

static taut_status list_entry(struct manifest *manifest, const struct manifest_entry *entry,
                              taut_error *error)
{
    put_entry(&manifest->log, entry, false);
    return file_end_record(&manifest->log, error);
}

static taut_status fail_unannounced(const char *path, taut_error *error)
{
    return fail(error, TAUT_ERROR_ARGUMENT, "'%s' was not announced", path);
}

taut_status manifest_add(struct manifest *manifest, const char *path, taut_error *error)
{
    struct manifest_entry *entry = find_entry(manifest, path);
    if (!entry)
        return fail_unannounced(path, error);
    taut_status status = measure_entry(manifest, entry, error);
    return status == TAUT_OK ? list_entry(manifest, entry, error) : status;
}

taut_status manifest_add_measured(struct manifest *manifest, const char *path, uint64_t size,
                                  uint64_t checksum, taut_error *error)
{
    struct manifest_entry *entry = find_entry(manifest, path);
    if (!entry)
        return fail_unannounced(path, error);
    entry->size = size;
    entry->checksum = checksum;
    entry->writing = false;
    return list_entry(manifest, entry, error);
}

taut_status manifest_retain(struct manifest *manifest, const char *path, taut_error *error)
{
    taut_status status = manifest_add(manifest, path, error);
    if (status != TAUT_OK)
        return status;
    struct manifest_entry *entry = find_entry(manifest, path), kept = *entry;
    struct manifest_entry *last = manifest->entries + manifest->count - 1;
    for (; entry < last; entry++)
        *entry = entry[1];
    kept.passing = false;
    *last = kept;
    return status;
}

// ---- Continuing

taut_status manifest_continue(struct manifest *manifest, taut_error *error)
{
    return file_cut(&manifest->log, manifest->log_bytes, error);
}

static bool is_same(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

// Replaces a member by a copy of a text, which may be NULL; false without memory.
static bool replace_text(char **member, const char *text)
{
    char *copy = text ? text_format("%s", text) : NULL;
    if (text && !copy)
        return false;
    free(*member);
    *member = copy;
    return true;
}

// Others find either file, and both are locked.
static taut_status replace_log(struct manifest *manifest, const char *path, taut_error *error)
{
    struct file whole, log = {0};
    taut_status status = file_replace(&whole, path, error);
    if (status != TAUT_OK)
        return status;
    write_header(&whole, manifest, false);
    for (size_t i = 0; i < manifest->earlier_count; i++)
        put_entry(&whole, &manifest->earlier[i], i == 0);
    status = file_commit(&whole, error);
    if (status == TAUT_OK)
        status = file_extend(&log, path, error);
    if (status != TAUT_OK)
        return status;
    if (!lock(&log)) {
        (void)file_close(&log, NULL);
        return manifest_fail_busy(manifest->folder, error);
    }
    (void)file_close(&manifest->log, NULL);
    manifest->log = log;
    manifest->log_bytes = file_length(&log);
    return TAUT_OK;
}

taut_status manifest_restart(struct manifest *manifest, const char *kernel, const char *state,
                             taut_error *error)
{
    if (is_same(manifest->kernel, kernel) && is_same(manifest->state, state))
        return manifest_continue(manifest, error);
    char *path = path_of(manifest);
    taut_status status = TAUT_OK;
    if (!path || !replace_text(&manifest->kernel, kernel) || !replace_text(&manifest->state, state))
        status = fail_memory(error, "the manifest");
    if (status == TAUT_OK)
        status = replace_log(manifest, path, error);
    free(path);
    return status;
}

taut_status manifest_adopt(struct manifest *manifest, const char *name, taut_error *error)
{
    struct manifest_entry entry = {.name = text_format("%s", name), .writing = true};
    if (!manifest->earlier)
        return add_entry(manifest, entry) ? TAUT_OK : fail_memory(error, "the manifest");
    const size_t bytes = (manifest->earlier_count + 1) * sizeof *manifest->earlier;
    struct manifest_entry *longer = entry.name ? realloc(manifest->earlier, bytes) : NULL;
    if (!longer) {
        free(entry.name);
        return fail_memory(error, "the manifest");
    }
    manifest->earlier = longer;
    manifest->earlier[manifest->earlier_count++] = entry;
    return TAUT_OK;
}

static struct manifest_entry *find_earlier(const struct manifest *manifest, const char *name)
{
    for (size_t i = 0; i < manifest->earlier_count; i++)
        if (manifest->earlier[i].name && strcmp(manifest->earlier[i].name, name) == 0)
            return &manifest->earlier[i];
    return NULL;
}

bool manifest_lists_earlier(const struct manifest *manifest, const char *name)
{
    return find_earlier(manifest, name) != NULL;
}

taut_status manifest_check(const struct manifest *manifest, const char *path,
                           enum manifest_keep keep, uint64_t length, taut_error *error)
{
    const struct manifest_entry *entry = find_earlier(manifest, name_in(path));
    struct stat present;
    if (!entry)
        return fail(error, TAUT_ERROR_IO, "'%s' is not among the files that the manifest lists",
                    path);
    if (lstat(path, &present) != 0 && errno == ENOENT)
        return fail(error, TAUT_ERROR_IO,
                    "'%s' is missing: restore the file, or run the scene again with --force", path);
    if (lstat(path, &present) != 0)
        return fail_read(path, errno, error);
    // --force would replace none of the files.
    if (!S_ISREG(present.st_mode) ||
        (keep == KEEP_WHOLE && !entry->writing && (uint64_t)present.st_size != entry->size))
        return fail(
            error, TAUT_ERROR_IO,
            "'%s' has changed since taut wrote it: restore the file, or move it and run the "
            "scene again with --force",
            path);
    if ((uint64_t)present.st_size < length)
        return fail(error, TAUT_ERROR_IO,
                    "'%s' is shorter than when the checkpoint was written, %" PRIu64
                    " bytes, not %" PRIu64
                    ": restore the file, or run the scene again with --force",
                    path, (uint64_t)present.st_size, length);
    return TAUT_OK;
}

taut_status manifest_check_content(const struct manifest *manifest, const char *path,
                                   taut_error *error)
{
    const struct manifest_entry *entry = find_earlier(manifest, name_in(path));
    uint64_t size, checksum;
    if (!entry || entry->writing)
        return TAUT_OK;
    taut_status status = manifest_measure(path, &size, &checksum, error);
    if (status != TAUT_OK || (size == entry->size && checksum == entry->checksum))
        return status;
    return fail(error, TAUT_ERROR_IO,
                "'%s' has changed since taut wrote it: restore the file, or move it and run the "
                "scene again with --force",
                path);
}

taut_status manifest_keep(struct manifest *manifest, const char *path, enum manifest_keep keep,
                          taut_error *error)
{
    const bool writing = keep != KEEP_WHOLE;
    taut_status status = manifest_check(manifest, path, keep, 0, error);
    if (status != TAUT_OK)
        return status;
    struct manifest_entry *entry = find_earlier(manifest, name_in(path));
    struct manifest_entry kept = *entry;
    entry->name = NULL; // it has another owner now
    kept.writing |= writing;
    kept.passing = keep == KEEP_PASSING;
    if (!add_entry(manifest, kept))
        return fail_memory(error, "the manifest");
    if (!writing)
        return TAUT_OK;
    put_entry(&manifest->log, &kept, false);
    return file_end_record(&manifest->log, error);
}

taut_status manifest_drop_earlier(struct manifest *manifest, taut_error *error)
{
    taut_status status = TAUT_OK;
    for (size_t i = 0; i < manifest->earlier_count && status == TAUT_OK; i++) {
        if (!manifest->earlier[i].name)
            continue;
        char *path = text_format("%s/%s", manifest->folder, manifest->earlier[i].name);
        status = path ? remove_file(path, error) : fail_memory(error, "the name of a file");
        free(path);
    }
    return status;
}

// ---- The end

static bool is_listed(const struct manifest *manifest, const char *name)
{
    struct stat status;
    char *path = text_format("%s/%s", manifest->folder, name);
    bool there = !path || lstat(path, &status) == 0 || errno != ENOENT;
    free(path);
    return there;
}

// Removes entries of files that do not exist, and measures the others where that is missing.
static taut_status list_finished_files(struct manifest *manifest, taut_error *error)
{
    taut_status status = TAUT_OK;
    size_t kept = 0;
    for (size_t i = 0; i < manifest->count; i++) {
        struct manifest_entry *entry = &manifest->entries[i];
        if (!is_listed(manifest, entry->name)) {
            free(entry->name);
            continue;
        }
        if (entry->writing && status == TAUT_OK)
            status = measure_entry(manifest, entry, error);
        manifest->entries[kept++] = *entry;
    }
    manifest->count = kept;
    return status;
}

static taut_status write_whole(const struct manifest *manifest, bool complete, taut_error *error)
{
    char *path = path_of(manifest);
    if (!path)
        return fail_memory(error, "the manifest");
    struct file file;
    taut_status status = file_replace(&file, path, error);
    if (status == TAUT_OK) {
        write_header(&file, manifest, complete);
        for (size_t i = 0; i < manifest->count; i++)
            put_entry(&file, &manifest->entries[i], i == 0);
        put_tail(&file, complete);
        status = file_commit(&file, error);
    }
    free(path);
    return status;
}

static bool is_any_passing(const struct manifest *manifest)
{
    for (size_t i = 0; i < manifest->count; i++)
        if (manifest->entries[i].passing)
            return true;
    return false;
}

// Says in the log that the run is complete, and then removes its passing files.
static taut_status remove_passing(struct manifest *manifest, taut_error *error)
{
    if (!is_any_passing(manifest))
        return TAUT_OK;
    put_tail(&manifest->log, true);
    taut_status status = file_end_record(&manifest->log, error);
    if (status == TAUT_OK)
        status = file_synchronise(&manifest->log, error);
    for (size_t i = 0; i < manifest->count && status == TAUT_OK; i++) {
        if (!manifest->entries[i].passing)
            continue;
        char *path = text_format("%s/%s", manifest->folder, manifest->entries[i].name);
        status = path ? remove_file(path, error) : fail_memory(error, "the name of a file");
        free(path);
    }
    return status;
}

taut_status manifest_end(struct manifest *manifest, bool complete, taut_error *error)
{
    taut_status status = TAUT_OK;
    struct stat there;
    // If the folder has been removed there is nothing to list.
    if (manifest->log.open && stat(manifest->folder, &there) == 0) {
        if (complete)
            status = remove_passing(manifest, error);
        if (status == TAUT_OK)
            status = list_finished_files(manifest, error);
        taut_status written =
            write_whole(manifest, complete && status == TAUT_OK, status == TAUT_OK ? error : NULL);
        status = status == TAUT_OK ? written : status;
    }
    if (manifest->log.open)
        (void)file_close(&manifest->log, NULL); // the log is not needed any more, so errors do not
                                                // matter
    manifest_free(manifest);
    return status;
}

void manifest_abandon(struct manifest *manifest)
{
    file_abandon(&manifest->log);
    manifest_free(manifest);
}

// ---- Reading

// Reads the four digits of a control character.
static int read_code(struct scan *scan)
{
    char digits[5] = {0};
    for (int i = 0; i < 4 && !scan->failed; i++) {
        const int next = getc(scan->file);
        scan->failed = next == EOF || !strchr("0123456789abcdef", next);
        digits[i] = (char)next;
    }
    const long code = scan->failed ? 0 : strtol(digits, NULL, 16);
    scan->failed |= code <= 0 || code >= ' ';
    return (int)code;
}

// Reads a string after its opening quote; a backslash stands for the character that follows it, or
// before u and four digits for a control character. False without memory for it; *string is NULL
// then, and where the scan has failed.
static bool read_string(struct scan *scan, char **string)
{
    char text[STRING_BYTES_MAX];
    size_t length = 0;
    while (!scan->failed) {
        int next = getc(scan->file);
        if (next == '"')
            break;
        const bool escaped = next == '\\';
        if (escaped)
            next = getc(scan->file);
        const bool control = escaped && next == 'u';
        if (control)
            next = read_code(scan);
        if (next == EOF || (next < ' ' && !control) || length + 1 == sizeof text)
            scan->failed = true;
        else
            text[length++] = (char)next;
    }
    text[length] = '\0';
    *string = scan->failed ? NULL : text_format("%s", text);
    return scan->failed || *string;
}

// Whether it names a file in the folder other than the manifest. A forged manifest must not make us
// remove other files.
static bool is_plain_name(const char *name)
{
    return *name && !strchr(name, '/') && strcmp(name, ".") != 0 && strcmp(name, "..") != 0 &&
           strcmp(name, MANIFEST_NAME) != 0;
}

static uint64_t read_checksum(struct scan *scan)
{
    char text[17];
    scan_until(scan, '"', text, sizeof text);
    char *end = text;
    errno = 0;
    uint64_t value = strtoull(text, &end, 16);
    scan->failed |= end != text + 16 || errno != 0 || strspn(text, "0123456789abcdef") != 16;
    return value;
}

// Reads an entry after its "{"; false without memory for it. An entry cut short by a killed process
// or a full disk is ignored.
static bool read_entry(struct scan *scan, struct manifest *manifest)
{
    struct manifest_entry entry = {0};
    scan_expect(scan, "\"name\": \"");
    if (!read_string(scan, &entry.name))
        return false;
    scan->failed |= !entry.name || !is_plain_name(entry.name);
    scan_expect(scan, ", \"");
    entry.writing = !scan->failed && scan_next_is(scan, 'w');
    if (entry.writing) {
        scan_expect(scan, "writing\": true}");
    } else {
        scan_expect(scan, "size\": ");
        entry.size = scan_count(scan, ',');
        scan_expect(scan, " \"checksum\": \"");
        entry.checksum = read_checksum(scan);
        scan_expect(scan, "}");
    }
    if (!scan->failed)
        return add_entry(manifest, entry);
    free(entry.name);
    return true;
}

static int by_name_and_line(const void *left, const void *right)
{
    const struct manifest_entry *a = left, *b = right;
    int order = strcmp(a->name, b->name);
    return order != 0 ? order : a->line < b->line ? -1 : 1;
}

static int by_line(const void *left, const void *right)
{
    const struct manifest_entry *a = left, *b = right;
    return a->line < b->line ? -1 : a->line > b->line;
}

// Keeps only the last of the lines about the same file, in the order of the first ones: that in
// which the files were announced.
static void drop_outdated_lines(struct manifest *manifest)
{
    if (manifest->count == 0)
        return;
    struct manifest_entry *entries = manifest->entries;
    qsort(entries, manifest->count, sizeof *entries, by_name_and_line);
    size_t kept = 0, line = entries[0].line;
    for (size_t i = 0; i < manifest->count; i++) {
        bool last = i + 1 == manifest->count || strcmp(entries[i].name, entries[i + 1].name) != 0;
        if (last) {
            entries[kept] = entries[i];
            entries[kept++].line = line;
            line = i + 1 < manifest->count ? entries[i + 1].line : 0;
        } else {
            free(entries[i].name);
        }
    }
    manifest->count = kept;
    qsort(entries, kept, sizeof *entries, by_line);
}

// The lines before the list of files; false without memory for them.
static bool read_head(struct scan *scan, struct manifest *manifest)
{
    scan_expect(scan, "\n\"kind\": \"");
    bool done = read_string(scan, &manifest->kind);
    scan_expect(scan, ",\n\"name\": \"");
    done = done && read_string(scan, &manifest->name);
    scan_expect(scan, ",\n\"");
    if (done && scan_next_is(scan, 'k')) {
        scan_expect(scan, "kernel\": \"");
        done = read_string(scan, &manifest->kernel);
        scan_expect(scan, ",\n\"");
    }
    if (done && scan_next_is(scan, 's')) {
        scan_expect(scan, "state\": \"");
        done = read_string(scan, &manifest->state);
        scan_expect(scan, ",\n\"");
    }
    scan_expect(scan, "checksum\": \"XXH64\",\n\"files\": [");
    return done;
}

static taut_status read_all(FILE *file, const char *path, struct manifest *manifest,
                            taut_error *error)
{
    struct scan scan = {.file = file};
    scan_expect(&scan, "{\n\"taut_manifest\": ");
    uint64_t version = scan_count(&scan, ',');
    if (!scan.failed && version > VERSION)
        return fail(error, TAUT_ERROR_IO,
                    "'%s' was written by a newer version of taut: move the folder, or choose "
                    "another one with --output",
                    path);

    if (!read_head(&scan, manifest))
        return fail_memory(error, "the manifest");
    manifest->is_cut = scan.failed && feof(file);
    if (manifest->is_cut)
        return TAUT_OK;
    if (scan.failed)
        return fail(error, TAUT_ERROR_IO,
                    "'%s' exists and was not written by taut: move it, or choose another "
                    "folder with --output",
                    path);

    // One entry per line; the log of a killed process may end anywhere.
    manifest->log_bytes = scan_position(&scan);
    scan_expect(&scan, "\n");
    while (!scan.failed && scan_next_is(&scan, '{')) {
        scan_expect(&scan, "{");
        if (!read_entry(&scan, manifest))
            return fail_memory(error, "the manifest");
        if (!scan.failed)
            manifest->log_bytes = scan_position(&scan);
        if (scan_next_is(&scan, ','))
            scan_expect(&scan, ",");
        scan_expect(&scan, "\n");
    }

    scan_expect(&scan, "],\n\"complete\": ");
    manifest->complete = !scan.failed && scan_next_is(&scan, 't');
    drop_outdated_lines(manifest);
    return TAUT_OK;
}

taut_status manifest_read(const char *folder, struct manifest *manifest, bool *present, bool *busy,
                          taut_error *error)
{
    *manifest = (struct manifest){.folder = text_format("%s", folder)};
    *present = false;
    *busy = false;
    char *path = manifest->folder ? path_of(manifest) : NULL;
    if (!path) {
        manifest_free(manifest);
        return fail_memory(error, "the manifest");
    }

    // Only an ordinary file, and no link.
    struct stat status;
    int descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    int reason = descriptor < 0 ? errno : 0;
    if (descriptor >= 0 && (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)))
        reason = ELOOP;
    FILE *file = reason == 0 ? fdopen(descriptor, "rb") : NULL;
    if (!file && descriptor >= 0)
        (void)close(descriptor);

    taut_status result = TAUT_OK;
    if (file) {
        *present = true;
        *busy = flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
        result = read_all(file, path, manifest, error);
        (void)fclose(file);
    } else if (reason == ELOOP) {
        result = fail(error, TAUT_ERROR_IO,
                      "'%s' exists and is not a regular file: move it, or choose another "
                      "folder with --output",
                      path);
    } else if (reason != ENOENT) {
        result = fail_read(path, reason, error);
    }

    if (result != TAUT_OK || !*present)
        manifest_free(manifest);
    free(path);
    return result;
}

static bool is_named(const struct file *file, const char *path)
{
    struct stat named, opened;
    return lstat(path, &named) == 0 && fstat(file->descriptor, &opened) == 0 &&
           S_ISREG(opened.st_mode) && named.st_ino == opened.st_ino &&
           named.st_dev == opened.st_dev;
}

// Opens and locks the file that has this name once it is locked: a run that has ended meanwhile has
// replaced it.
static taut_status open_present(struct manifest *manifest, const char *path, taut_error *error)
{
    enum { TRIES = 3 };
    for (int i = 0; i < TRIES; i++) {
        const taut_status status = file_extend(&manifest->log, path, error);
        if (status != TAUT_OK)
            return status;
        if (!lock_soon(&manifest->log))
            return fail(error, TAUT_ERROR_IO, "'%s' is being written by another taut",
                        manifest->folder);
        if (is_named(&manifest->log, path))
            return TAUT_OK;
        if (i + 1 < TRIES)
            (void)file_close(&manifest->log, NULL);
    }
    return fail(error, TAUT_ERROR_IO, "'%s' has just been replaced: try again", path);
}

// Reports that a run which was killed before it wrote anything left nothing: its folder is empty.
static taut_status fail_no_run(const char *folder, taut_error *error)
{
    char *word = folder_is_bare(folder) ? text_shell_path(folder) : NULL;
    const taut_status status =
        word ? fail(error, TAUT_ERROR_IO,
                    "'%s' is empty: if a run was to be in it, that was killed before it began. "
                    "Begin it again with: taut run SCENE --output %s",
                    folder, word)
             : fail(error, TAUT_ERROR_IO,
                    "'%s' is not the folder of a run: there is no " MANIFEST_NAME " in it", folder);
    free(word);
    return status;
}

taut_status manifest_reopen(const char *folder, struct manifest *manifest, taut_error *error)
{
    *manifest = (struct manifest){.folder = text_format("%s", folder)};
    char *path = manifest->folder ? path_of(manifest) : NULL;
    struct stat named;
    taut_status status = path ? TAUT_OK : fail_memory(error, "the manifest");
    if (status == TAUT_OK && lstat(path, &named) != 0)
        status = errno == ENOENT || errno == ENOTDIR ? fail_no_run(folder, error)
                                                     : fail_read(path, errno, error);
    if (status == TAUT_OK)
        status = open_present(manifest, path, error);

    int copy = status == TAUT_OK ? dup(manifest->log.descriptor) : -1;
    FILE *file = copy >= 0 ? fdopen(copy, "rb") : NULL;
    if (status == TAUT_OK && !file) {
        status = fail_read(path, errno, error);
        if (copy >= 0)
            (void)close(copy);
    }
    if (file) {
        rewind(file);
        status = read_all(file, path, manifest, error);
        (void)fclose(file);
    }
    if (status == TAUT_OK && manifest->is_cut) {
        char *word = text_shell_path(folder);
        status =
            fail(error, TAUT_ERROR_IO,
                 "'%s' is cut off: the run was interrupted before it was on the disk. Begin it "
                 "again with: taut run SCENE --force --output %s",
                 path, word ? word : "FOLDER");
        free(word);
    }
    manifest->earlier = manifest->entries;
    manifest->earlier_count = manifest->count;
    manifest->entries = NULL;
    manifest->count = manifest->capacity = 0;
    if (status != TAUT_OK) {
        (void)file_close(&manifest->log, NULL);
        manifest_free(manifest);
    }
    free(path);
    return status;
}
