// Whole and growing files on Linux (file.h): unnamed files, their links, records and permissions.
// What the files contain is left to the writers of the formats.
//
// O_TMPFILE, renameat2() and sync_file_range() are Linux functions.
#define _GNU_SOURCE // NOLINT(bugprone-reserved-identifier)

#include "output/file.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"

enum { BUFFER_SIZE = 64 * 1024, WRITEBACK = 8 << 20 };

static taut_status fail_write(const struct file *file, int reason, taut_error *error)
{
    return fail(error, TAUT_ERROR_IO, "cannot write '%s': %s", file->path, strerror(reason));
}

static void release(struct file *file)
{
    free(file->path);
    free(file->target);
    free(file->temporary);
    free(file->buffer);
    memset(file, 0, sizeof *file);
}

static taut_status prepare(struct file *file, const char *path, taut_error *error)
{
    memset(file, 0, sizeof *file);
    file->path = text_format("%s", path);
    file->buffer = malloc(BUFFER_SIZE);
    if (file->path && file->buffer)
        return TAUT_OK;
    release(file);
    return fail_memory(error, "an output file");
}

static bool always_named;

void file_name_temporaries(bool always)
{
    always_named = always;
}

// The part of a path before the last slash; "." if there is none.
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return text_format(".");
    return slash == path ? text_format("/") : text_format("%.*s", (int)(slash - path), path);
}

// An unpredictable name in the same folder; NULL if memory or random numbers are not available.
static char *temporary_name(const char *target)
{
    uint64_t number;
    if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number)
        return NULL;
    const char *slash = strrchr(target, '/');
    int length = slash ? (int)(slash - target) + 1 : 0;
    return text_format("%.*s.taut-%016llx.tmp", length, target, (unsigned long long)number);
}

// In a folder that many users write to (/tmp), another user may have placed a link that makes us
// overwrite one of our own files. This is the rule of fs.protected_symlinks, which does not apply
// to renaming.
bool file_is_trusted_link(const char *path, const struct stat *link)
{
    struct stat folder;
    char *name = link->st_uid == geteuid() ? NULL : folder_of(path);
    bool trusted = !name || (stat(name, &folder) == 0 && folder.st_uid == link->st_uid);
    free(name);
    return trusted;
}

// Follows a symbolic link first, because renaming onto it would replace the link and leave the file
// that it refers to unchanged. A dangling link is replaced.
static taut_status find_target(struct file *file, taut_error *error)
{
    struct stat status;
    bool link = lstat(file->path, &status) == 0 && S_ISLNK(status.st_mode);
    if (link && !file_is_trusted_link(file->path, &status))
        return fail(error, TAUT_ERROR_IO,
                    "cannot write '%s': it is a symbolic link that another user has made",
                    file->path);
    if (link)
        file->target = realpath(file->path, NULL);
    if (!file->target)
        file->target = text_format("%s", file->path);
    return file->target ? TAUT_OK : fail_memory(error, "an output file");
}

static taut_status open_failed(struct file *file, int reason, taut_error *error)
{
    taut_status status = fail_write(file, reason, error);
    release(file);
    return status;
}

// Without /proc an unnamed file cannot be given a name.
static bool can_be_named(int descriptor)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    return access(path, F_OK) == 0;
}

static int open_unnamed(const char *target)
{
    char *folder = always_named ? NULL : folder_of(target);
    int descriptor = folder ? open(folder, O_RDWR | O_TMPFILE | O_CLOEXEC, (mode_t)0666) : -1;
    free(folder);
    if (descriptor >= 0 && !can_be_named(descriptor)) {
        (void)close(descriptor);
        return -1;
    }
    return descriptor;
}

static int open_named(struct file *file)
{
    enum { TRIES = 16 };
    for (int i = 0; i < TRIES; i++) {
        file->temporary = temporary_name(file->target);
        if (!file->temporary) {
            errno = ENOMEM;
            return -1;
        }
        int descriptor =
            open(file->temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, (mode_t)0666);
        if (descriptor >= 0 || errno != EEXIST)
            return descriptor;
        free(file->temporary);
        file->temporary = NULL;
    }
    errno = EEXIST;
    return -1;
}

// Gives the new file the permissions of the regular file that it replaces and, if the system allows
// it, its owner and group. If the group changes, the new group does not get the old group's rights.
static void copy_mode(const struct file *file)
{
    struct stat present;
    if (lstat(file->target, &present) != 0 || !S_ISREG(present.st_mode))
        return;
    mode_t mode = present.st_mode & (mode_t)0777;
    uid_t owner = geteuid() == 0 ? present.st_uid : (uid_t)-1;
    struct stat given;
    bool kept = fchown(file->descriptor, owner, present.st_gid) == 0 ||
                (fstat(file->descriptor, &given) == 0 && given.st_gid == present.st_gid);
    if (!kept)
        mode = (mode & ~(mode_t)0070) | (mode & (mode_t)0007) << 3;
    (void)fchmod(file->descriptor, mode);
}

// Opens a whole file whose target is known.
static taut_status open_whole(struct file *file, enum file_kind kind, taut_error *error)
{
    file->kind = kind;
    file->descriptor = open_unnamed(file->target);
    if (file->descriptor < 0)
        file->descriptor = open_named(file);
    if (file->descriptor < 0)
        return open_failed(file, errno, error);
    if (kind == FILE_REPLACING)
        copy_mode(file);
    file->open = true;
    return TAUT_OK;
}

// Opens a device or a pipe for writing, with blocking writes. Opening a named pipe waits for a
// program that reads it, and signals do not end that, since calls are restarted: hence PIPE_SECONDS
// at most, and ENXIO after that.
static int open_for_writing(const char *path)
{
    enum { PIPE_SECONDS = 10, TRIES_A_SECOND = 50 };
    const struct timespec pause = {0, 1000000000 / TRIES_A_SECOND};
    int descriptor = -1;
    for (int i = 0; i < PIPE_SECONDS * TRIES_A_SECOND; i++) {
        descriptor = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
        if (descriptor >= 0 || errno != ENXIO)
            break;
        (void)nanosleep(&pause, NULL);
    }
    if (descriptor >= 0 && fcntl(descriptor, F_SETFL, O_WRONLY) != 0) {
        const int reason = errno;
        (void)close(descriptor);
        errno = reason;
        return -1;
    }
    return descriptor;
}

// The type is checked again, because the path could have become a regular file since the first
// check.
static taut_status open_direct(struct file *file, taut_error *error)
{
    struct stat present;
    file->kind = FILE_DIRECT;
    file->descriptor = open_for_writing(file->path);
    if (file->descriptor < 0 && errno == ENXIO) {
        taut_status status = fail(error, TAUT_ERROR_IO,
                                  "cannot write '%s': no program reads from this pipe", file->path);
        release(file);
        return status;
    }
    if (file->descriptor < 0)
        return open_failed(file, errno, error);
    if (fstat(file->descriptor, &present) != 0 || S_ISREG(present.st_mode)) {
        (void)close(file->descriptor);
        return open_failed(file, EEXIST, error);
    }
    file->open = true;
    return TAUT_OK;
}

taut_status file_create(struct file *file, const char *path, taut_error *error)
{
    taut_status status = prepare(file, path, error);
    if (status != TAUT_OK)
        return status;
    status = find_target(file, error);
    if (status != TAUT_OK) {
        release(file);
        return status;
    }
    struct stat present;
    bool there = stat(path, &present) == 0;
    if (there && !S_ISREG(present.st_mode))
        return open_direct(file, error);
    // Replacing a file requires write permission for the folder only; write permission for the file
    // is required as well.
    if (there && faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) != 0)
        return open_failed(file, errno, error);
    return open_whole(file, FILE_REPLACING, error);
}

static taut_status create_as(struct file *file, const char *path, enum file_kind kind,
                             taut_error *error)
{
    taut_status status = prepare(file, path, error);
    if (status != TAUT_OK)
        return status;
    file->target = text_format("%s", path);
    if (!file->target) {
        release(file);
        return fail_memory(error, "an output file");
    }
    return open_whole(file, kind, error);
}

taut_status file_create_new(struct file *file, const char *path, taut_error *error)
{
    return create_as(file, path, FILE_NEW, error);
}

taut_status file_replace(struct file *file, const char *path, taut_error *error)
{
    return create_as(file, path, FILE_REPLACING, error);
}

static taut_status open_growing(struct file *file, const char *path, int flags, taut_error *error)
{
    taut_status status = prepare(file, path, error);
    if (status != TAUT_OK)
        return status;
    file->kind = FILE_GROWING;
    hash_begin(&file->written);
    hash_begin(&file->records);
    file->target = text_format("%s", path);
    if (!file->target) {
        release(file);
        return fail_memory(error, "an output file");
    }
    file->descriptor = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | flags, (mode_t)0666);
    if (file->descriptor < 0)
        return open_failed(file, errno, error);
    file->open = true;
    return TAUT_OK;
}

taut_status file_grow(struct file *file, const char *path, taut_error *error)
{
    return open_growing(file, path, O_CREAT | O_EXCL, error);
}

taut_status file_extend(struct file *file, const char *path, taut_error *error)
{
    taut_status status = open_growing(file, path, 0, error);
    if (status != TAUT_OK)
        return status;
    off_t length = lseek(file->descriptor, 0, SEEK_END);
    if (length < 0) {
        int reason = errno;
        (void)close(file->descriptor);
        return open_failed(file, reason, error);
    }
    file->flushed = file->record_end = (uint64_t)length;
    return TAUT_OK;
}

taut_status file_cut(struct file *file, uint64_t length, taut_error *error)
{
    int result;
    while ((result = ftruncate(file->descriptor, (off_t)length)) != 0 && errno == EINTR)
        continue;
    if (result != 0 || lseek(file->descriptor, (off_t)length, SEEK_SET) < 0)
        return fail_write(file, errno, error);
    file->used = 0;
    file->flushed = file->record_end = length;
    return TAUT_OK;
}

taut_status file_resume(struct file *file, const char *path, uint64_t length, taut_error *error)
{
    taut_status status = file_extend(file, path, error);
    if (status != TAUT_OK)
        return status;
    if (file->flushed < length)
        status = fail(error, TAUT_ERROR_IO,
                      "'%s' is shorter than when the checkpoint was written: %llu bytes, not %llu",
                      path, (unsigned long long)file->flushed, (unsigned long long)length);
    else
        status = file_cut(file, length, error);
    if (status != TAUT_OK) {
        (void)close(file->descriptor);
        release(file);
    }
    return status;
}

uint64_t file_checksum(const struct file *file)
{
    return hash_end(&file->records);
}

void file_continue_hash(struct file *file, const struct hash *hash)
{
    file->records = file->written = *hash;
}

taut_status file_hash(const char *path, uint64_t length, uint64_t patch, size_t patched,
                      struct hash *hash, taut_error *error)
{
    enum { BLOCK = 1 << 20 };
    unsigned char *block = malloc(BLOCK);
    if (!block)
        return fail_memory(error, "a checksum");
    hash_begin(hash);
    const int descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    int reason = descriptor < 0 ? errno : 0;
    bool ends = false;
    while (reason == 0 && !ends && hash->total < length) {
        const uint64_t left = length - hash->total, at = hash->total;
        const ssize_t got = read(descriptor, block, left < BLOCK ? (size_t)left : BLOCK);
        if (got < 0) {
            reason = errno == EINTR ? 0 : errno;
            continue;
        }
        for (uint64_t i = patch; i < patch + patched; i++)
            if (i >= at && i < at + (uint64_t)got)
                block[i - at] = 0;
        hash_add(hash, block, (size_t)got);
        ends = got == 0;
    }
    if (descriptor >= 0)
        (void)close(descriptor);
    free(block);
    if (reason != 0)
        return fail(error, TAUT_ERROR_IO, "cannot read '%s': %s", path, strerror(reason));
    return ends ? fail(error, TAUT_ERROR_IO, "'%s' is shorter than when the checkpoint was written",
                       path)
                : TAUT_OK;
}

taut_status file_synchronise(const struct file *file, taut_error *error)
{
    while (file->open && fsync(file->descriptor) != 0)
        if (errno != EINTR)
            return fail_write(file, errno, error);
    return TAUT_OK;
}

taut_status file_synchronise_folder(const char *path, taut_error *error)
{
    int descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), reason = 0;
    while (descriptor >= 0 && fsync(descriptor) != 0)
        if ((reason = errno) != EINTR)
            break;
    if (descriptor < 0)
        reason = errno;
    else
        (void)close(descriptor);
    // EINVAL: a file system that cannot do so, or need not.
    if (reason == 0 || reason == EINTR || reason == EINVAL)
        return TAUT_OK;
    return fail(error, TAUT_ERROR_IO, "cannot write the folder '%s': %s", path, strerror(reason));
}

// Has the disk begin with what a large whole file has so far, while the rest is computed. Failures
// cost only speed; those of the disk are reported when the file is synchronised.
static void start_writeback(struct file *file)
{
    const uint64_t waiting = file->flushed - file->started;
    if (waiting < WRITEBACK || (file->kind != FILE_NEW && file->kind != FILE_REPLACING))
        return;
    (void)sync_file_range(file->descriptor, (off_t)file->started, (off_t)waiting,
                          SYNC_FILE_RANGE_WRITE);
    file->started = file->flushed;
}

static void write_through(struct file *file, const unsigned char *bytes, size_t count)
{
    while (count > 0 && !file->failure) {
        ssize_t written = write(file->descriptor, bytes, count);
        if (written < 0) {
            if (errno != EINTR)
                file->failure = errno;
            continue;
        }
        if (file->kind == FILE_GROWING)
            hash_add(&file->written, bytes, (size_t)written);
        bytes += written;
        count -= (size_t)written;
        file->flushed += (uint64_t)written;
    }
    start_writeback(file);
}

static void write_buffer(struct file *file)
{
    size_t count = file->used;
    file->used = 0;
    write_through(file, file->buffer, count);
}

// EINVAL: a pipe or a device, which cannot be synchronised.
static void synchronise(struct file *file)
{
    while (!file->failure && fsync(file->descriptor) != 0) {
        if (errno == EINVAL)
            return;
        if (errno != EINTR)
            file->failure = errno;
    }
}

// close() may report the failure of an earlier write (network file systems). After EINTR the
// descriptor is closed on Linux, and closing it again could close another thread's file.
static void close_descriptor(struct file *file)
{
    if (close(file->descriptor) != 0 && errno != EINTR && !file->failure)
        file->failure = errno;
    file->open = false;
}

static bool link_as(int descriptor, const char *name)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    return linkat(AT_FDCWD, path, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0;
}

// Gives an unnamed file its name; if that replaces a file, it gets a temporary name first.
static bool name_unnamed(struct file *file)
{
    if (link_as(file->descriptor, file->target))
        return true;
    for (int i = 0; errno == EEXIST && file->kind == FILE_REPLACING && i < 16; i++) {
        free(file->temporary);
        file->temporary = temporary_name(file->target);
        if (!file->temporary)
            errno = ENOMEM;
        else if (link_as(file->descriptor, file->temporary))
            return rename(file->temporary, file->target) == 0;
    }
    int reason = errno;
    free(file->temporary); // not created, or another process's
    file->temporary = NULL;
    errno = reason;
    return false;
}

static bool rename_to_target(const struct file *file)
{
    if (file->kind == FILE_REPLACING)
        return rename(file->temporary, file->target) == 0;
    if (renameat2(AT_FDCWD, file->temporary, AT_FDCWD, file->target, RENAME_NOREPLACE) == 0)
        return true;
    if (errno != EINVAL && errno != ENOSYS)
        return false;
    // The file system does not support RENAME_NOREPLACE.
    return link(file->temporary, file->target) == 0 && unlink(file->temporary) == 0;
}

static void name_file(struct file *file)
{
    if (file->failure || file->kind == FILE_DIRECT)
        return;
    if (!(file->temporary ? rename_to_target(file) : name_unnamed(file)))
        file->failure = errno;
}

taut_status file_name_now(struct file *file, taut_error *error)
{
    for (int i = 0; !file->temporary && i < 16; i++) {
        file->temporary = temporary_name(file->target);
        if (!file->temporary)
            return fail_write(file, ENOMEM, error);
        if (link_as(file->descriptor, file->temporary))
            return TAUT_OK;
        const int reason = errno;
        free(file->temporary);
        file->temporary = NULL;
        if (reason != EEXIST)
            return fail_write(file, reason, error);
    }
    return file->temporary ? TAUT_OK : fail_write(file, EEXIST, error);
}

taut_status file_join(struct file *file, const char *temporary, const char *path, taut_error *error)
{
    taut_status status = prepare(file, path, error);
    if (status != TAUT_OK)
        return status;
    file->kind = FILE_NEW;
    file->descriptor = open(temporary, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
    if (file->descriptor < 0)
        return open_failed(file, errno, error);
    file->open = true;
    return TAUT_OK;
}

void file_pass(struct file *file, uint64_t count)
{
    write_buffer(file);
    file->flushed += count;
    if (!file->failure && lseek(file->descriptor, (off_t)count, SEEK_CUR) < 0)
        file->failure = errno;
}

taut_status file_leave(struct file *file, taut_error *error)
{
    synchronise(file);
    close_descriptor(file);
    const taut_status status = file->failure ? fail_write(file, file->failure, error) : TAUT_OK;
    release(file);
    return status;
}

taut_status file_commit(struct file *file, taut_error *error)
{
    assert(file->open && file->kind != FILE_GROWING);
    write_buffer(file);
    synchronise(file);
    name_file(file);
    close_descriptor(file);
    taut_status status = TAUT_OK;
    if (file->failure) {
        status = fail_write(file, file->failure, error);
        if (file->temporary)
            (void)unlink(file->temporary);
    }
    release(file);
    return status;
}

void file_abandon(struct file *file)
{
    if (!file->open)
        return;
    close_descriptor(file);
    if (file->temporary)
        (void)unlink(file->temporary);
    else if (file->kind == FILE_GROWING)
        (void)unlink(file->target);
    release(file);
}

// Truncates the file to its last whole record. If this fails as well, nothing more can be done; the
// failure that led here is the one that is reported.
static void cut_back(struct file *file)
{
    file->used = 0;
    file->flushed = file->record_end;
    file->written = file->records;
    file->failure = 0;
    while (ftruncate(file->descriptor, (off_t)file->record_end) != 0 && errno == EINTR)
        continue;
    (void)lseek(file->descriptor, (off_t)file->record_end, SEEK_SET);
}

taut_status file_end_record(struct file *file, taut_error *error)
{
    assert(file->open && file->kind == FILE_GROWING);
    write_buffer(file);
    struct stat present;
    if (!file->failure && fstat(file->descriptor, &present) != 0)
        file->failure = errno;
    else if (!file->failure && present.st_nlink == 0)
        file->failure = ENOENT;
    if (!file->failure) {
        file->record_end = file->flushed;
        file->records = file->written;
        return TAUT_OK;
    }
    taut_status status = fail_write(file, file->failure, error);
    cut_back(file);
    return status;
}

taut_status file_close(struct file *file, taut_error *error)
{
    if (!file->open)
        return TAUT_OK;
    taut_status status = TAUT_OK;
    if (file_length(file) > file->record_end || file->failure)
        status = file_end_record(file, error);
    synchronise(file);
    close_descriptor(file);
    if (status == TAUT_OK && file->failure)
        status = fail_write(file, file->failure, error);
    release(file);
    return status;
}

uint64_t file_length(const struct file *file)
{
    return file->flushed + file->used;
}

void file_write(struct file *file, const void *bytes, size_t count)
{
    if (file->failure)
        return;
    if (count > BUFFER_SIZE - file->used)
        write_buffer(file);
    if (count > BUFFER_SIZE) {
        write_through(file, bytes, count);
        return;
    }
    memcpy(file->buffer + file->used, bytes, count);
    file->used += count;
}

void file_patch(struct file *file, uint64_t offset, const void *bytes, size_t count)
{
    assert(offset + count <= file_length(file));
    write_buffer(file);
    file_put(file, offset, bytes, count);
}

void file_put(struct file *file, uint64_t offset, const void *bytes, size_t count)
{
    const unsigned char *rest = bytes;
    while (count > 0 && !file->failure) {
        ssize_t written = pwrite(file->descriptor, rest, count, (off_t)offset);
        if (written < 0) {
            if (errno != EINTR)
                file->failure = errno;
            continue;
        }
        rest += written;
        offset += (uint64_t)written;
        count -= (size_t)written;
    }
}

void file_print(struct file *file, const char *format, ...)
{
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (length >= 0 && (size_t)length < sizeof line) {
        file_write(file, line, (size_t)length);
        return;
    }
    char *text = length < 0 ? NULL : malloc((size_t)length + 1);
    if (!text) {
        file->failure = file->failure ? file->failure : ENOMEM;
        return;
    }
    va_start(arguments, format);
    vsnprintf(text, (size_t)length + 1, format, arguments);
    va_end(arguments);
    file_write(file, text, (size_t)length);
    free(text);
}

void file_print_escaped(struct file *file, const char *text)
{
    for (; *text; text++) {
        switch (*text) {
        case '&':
            file_print(file, "&amp;");
            break;
        case '<':
            file_print(file, "&lt;");
            break;
        case '>':
            file_print(file, "&gt;");
            break;
        case '"':
            file_print(file, "&quot;");
            break;
        case '\'':
            file_print(file, "&apos;");
            break;
        default:
            file_write(file, text, 1);
        }
    }
}

void file_number(struct file *file, double value, int digits)
{
    char text[64];
    int length = snprintf(text, sizeof text, "%.*g", digits, value);
    assert(length > 0 && (size_t)length < sizeof text);
    const char *point = localeconv()->decimal_point;
    char *found = strcmp(point, ".") == 0 ? NULL : strstr(text, point);
    if (!found) {
        file_write(file, text, (size_t)length);
        return;
    }
    file_write(file, text, (size_t)(found - text));
    file_write(file, ".", 1);
    file_print(file, "%s", found + strlen(point));
}

static void put(struct file *file, uint64_t value, size_t size)
{
    unsigned char bytes[8];
    for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)(value >> (8 * i));
    file_write(file, bytes, size);
}

void file_put_u8(struct file *file, uint8_t value)
{
    put(file, value, sizeof value);
}

void file_put_u32(struct file *file, uint32_t value)
{
    put(file, value, sizeof value);
}

void file_put_u64(struct file *file, uint64_t value)
{
    put(file, value, sizeof value);
}

void file_put_f32(struct file *file, double value)
{
    float narrow = (float)value;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof bits);
    put(file, bits, sizeof bits);
}

void file_put_f64(struct file *file, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    put(file, bits, sizeof bits);
}

bool file_is_same(const char *path, const char *other)
{
    struct stat one, two;
    return stat(path, &one) == 0 && stat(other, &two) == 0 && one.st_dev == two.st_dev &&
           one.st_ino == two.st_ino;
}
