// realpath() is of the X/Open extension to POSIX.
#define _XOPEN_SOURCE 700 // NOLINT(bugprone-reserved-identifier)

#include "output/file.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

enum { BUFFER_SIZE = 64 * 1024 };

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

// Renaming onto a symbolic link would replace the link, so that the file it leads to stayed as it
// was: follow it first. A link that leads nowhere is replaced.
static char *follow_links(const char *path)
{
    struct stat status;
    if (lstat(path, &status) == 0 && S_ISLNK(status.st_mode)) {
        char *resolved = realpath(path, NULL);
        if (resolved || errno == ENOMEM)
            return resolved;
    }
    return text_format("%s", path);
}

taut_status file_create(struct file *file, const char *path, taut_error *error)
{
    taut_status status = prepare(file, path, error);
    if (status != TAUT_OK)
        return status;
    struct stat present;
    bool direct = stat(path, &present) == 0 && !S_ISREG(present.st_mode);
    if (!direct) {
        file->target = follow_links(path);
        file->temporary = file->target ? text_format("%s.tmp", file->target) : NULL;
        if (!file->temporary) {
            release(file);
            return fail_memory(error, "an output file");
        }
        // What a killed run left, and never through a link that somebody put there.
        (void)unlink(file->temporary);
        file->descriptor =
            open(file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, (mode_t)0666);
    } else {
        file->descriptor = open(path, O_WRONLY | O_CLOEXEC);
    }
    if (file->descriptor < 0) {
        status = fail_write(file, errno, error);
        release(file);
        return status;
    }
    file->open = true;
    return TAUT_OK;
}

taut_status file_grow(struct file *file, const char *path, taut_error *error)
{
    taut_status status = prepare(file, path, error);
    if (status != TAUT_OK)
        return status;
    file->target = text_format("%s", path);
    if (!file->target) {
        release(file);
        return fail_memory(error, "an output file");
    }
    file->descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, (mode_t)0666);
    if (file->descriptor < 0) {
        status = fail_write(file, errno, error);
        release(file);
        return status;
    }
    file->open = true;
    return TAUT_OK;
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
        bytes += written;
        count -= (size_t)written;
        file->flushed += (uint64_t)written;
    }
}

static void flush(struct file *file)
{
    size_t count = file->used;
    file->used = 0;
    write_through(file, file->buffer, count);
}

// EINVAL: a pipe or a device, which have nothing to force to a disk.
static void synchronise(struct file *file)
{
    while (!file->failure && fsync(file->descriptor) != 0) {
        if (errno == EINVAL)
            return;
        if (errno != EINTR)
            file->failure = errno;
    }
}

// close() may report what an earlier write could not (network file systems). After EINTR the
// descriptor is gone on Linux, and closing again could hit another thread's file.
static void close_descriptor(struct file *file)
{
    if (close(file->descriptor) != 0 && errno != EINTR && !file->failure)
        file->failure = errno;
    file->open = false;
}

taut_status file_commit(struct file *file, taut_error *error)
{
    assert(file->open);
    flush(file);
    synchronise(file);
    close_descriptor(file);
    if (!file->failure && file->temporary && rename(file->temporary, file->target) != 0)
        file->failure = errno;
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
    if (file->target)
        (void)unlink(file->temporary ? file->temporary : file->target);
    release(file);
}

// Back to the last whole record. Should even this fail, there is nothing better left to do; the
// failure that led here is the one to report.
static void cut_back(struct file *file)
{
    file->used = 0;
    file->flushed = file->kept;
    file->failure = 0;
    while (ftruncate(file->descriptor, (off_t)file->kept) != 0 && errno == EINTR)
        continue;
    (void)lseek(file->descriptor, (off_t)file->kept, SEEK_SET);
}

taut_status file_keep(struct file *file, taut_error *error)
{
    assert(file->open && !file->temporary);
    flush(file);
    struct stat present;
    if (!file->failure && fstat(file->descriptor, &present) != 0)
        file->failure = errno;
    else if (!file->failure && present.st_nlink == 0)
        file->failure = ENOENT;
    if (!file->failure) {
        file->kept = file->flushed;
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
    if (file_length(file) > file->kept || file->failure)
        status = file_keep(file, error);
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
        flush(file);
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
    flush(file);
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
