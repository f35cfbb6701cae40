// Writes two kinds of files.
//
// A whole file (file_create, file_create_new, file_replace; file_commit) gets its name when all of
// it is on the disk: a reader of PATH sees the old file, or none, or the new one, but never a part
// of it. Until then it has no name (O_TMPFILE), so that a killed process leaves nothing. On file
// systems that do not support this (NFS, FAT) it is a file .taut-RANDOM.tmp in the same folder,
// with 64 random bits, created exclusively and never through a link; only SIGKILL leaves it behind.
// A whole file also has such a name while it replaces another one.
//
// A growing file (file_grow, file_end_record, file_close) is written in place by whole records: a
// record that cannot be written entirely is truncated, so that the file ends with its last whole
// record.
//
// All files are closed in child processes, except for a descriptor that is passed to them.
//
// The writing functions return nothing: the first failure is stored, later writes have no effect,
// and the function that ends the file or the record reports it, with the path and the reason.
#ifndef TAUT_OUTPUT_FILE_H
#define TAUT_OUTPUT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/hash.h"
#include "base/status.h"

enum file_kind {
    FILE_DIRECT,    // a device or a pipe
    FILE_GROWING,   // written in place
    FILE_NEW,       // whole, at a path that must not exist
    FILE_REPLACING, // whole, replaces an existing file
};

// A zeroed struct is a file that is not open; abandoning or closing it has no effect.
struct file {
    bool open;
    int descriptor; // for reading and writing; a child process may get a duplicate to write to
    int failure;    // errno of the first failed write; 0: none failed
    char *path;     // as the caller passed it, for messages
    char *target;   // `path` with symbolic links followed; NULL: a device or a pipe
    enum file_kind kind;
    char *temporary; // name of a whole file until it is renamed; NULL: it has none
    unsigned char *buffer;
    size_t used;                  // bytes in the buffer
    uint64_t flushed;             // bytes written before those of the buffer
    uint64_t record_end;          // length of the whole records of a growing file
    struct hash records, written; // of a growing file: up to there, and of all that was written
    uint64_t started;             // bytes of a whole file that the disk has begun with
};

// Begins a whole file at a path given by the user; an existing file is replaced. A symbolic link is
// followed, as cp and shells do, unless another user made it in a folder that is not theirs: such a
// link is an error. A path that is not a regular file (/dev/stdout, a pipe) is written directly. A
// file that is replaced must be writable, and the new one gets its mode.
taut_status file_create(struct file *file, const char *path, taut_error *error);

// Whether a symbolic link may be followed: it belongs to this user or to the owner of its folder.
bool file_is_trusted_link(const char *path, const struct stat *link);

// Begins a whole file at a path that must not exist, not even as a link; otherwise the commit
// fails.
taut_status file_create_new(struct file *file, const char *path, taut_error *error);

// Begins a whole file that replaces one of taut's own; a link is replaced, not followed.
taut_status file_replace(struct file *file, const char *path, taut_error *error);

// Ends a whole file: synchronises it to the disk, then names it. After a failure it is removed, and
// the file that was at the path is unchanged.
taut_status file_commit(struct file *file, taut_error *error);

// Gives a whole file a temporary name in its folder now, so that others can open it:
// file->temporary.
taut_status file_name_now(struct file *file, taut_error *error);

// Opens such a file of another process, `path` being its name in messages: for file_put alone.
taut_status file_join(struct file *file, const char *temporary, const char *path,
                      taut_error *error);

// Puts bytes at an offset, which need not be within the file.
void file_put(struct file *file, uint64_t offset, const void *bytes, size_t count);

// Skips `count` bytes that others put there; what is written next follows them.
void file_pass(struct file *file, uint64_t count);

// Ends the use of a joined file: synchronises it to the disk.
taut_status file_leave(struct file *file, taut_error *error);

// Synchronises a folder to the disk: the names of the files in it.
taut_status file_synchronise_folder(const char *path, taut_error *error);

// For tests: whole files have temporary names from the beginning, as on file systems that need it.
void file_name_temporaries(bool always);

// Abandons a file of either kind and removes what was written of it.
void file_abandon(struct file *file);

// Begins a growing file, which must not exist yet.
taut_status file_grow(struct file *file, const char *path, taut_error *error);

// Continues an existing growing file at its end.
taut_status file_extend(struct file *file, const char *path, taut_error *error);

// Continues an existing growing file after its first `length` bytes, and removes the others. Fails,
// and leaves the file as it is, if it is shorter.
taut_status file_resume(struct file *file, const char *path, uint64_t length, taut_error *error);

// The checksum of the whole records of a growing file as they were written, before any file_patch.
// A file that is continued needs the hash of what it has (file_hash).
uint64_t file_checksum(const struct file *file);
void file_continue_hash(struct file *file, const struct hash *hash);

// The hash of the first `length` bytes of a file, where those that file_patch has changed later,
// `patched` from offset `patch` on, count as zeros. Fails if the file is shorter.
taut_status file_hash(const char *path, uint64_t length, uint64_t patch, size_t patched,
                      struct hash *hash, taut_error *error);

// Removes what a growing file has after its first `length` bytes.
taut_status file_cut(struct file *file, uint64_t length, taut_error *error);

// Synchronises what has been written of a growing file to the disk. Any thread may do so.
taut_status file_synchronise(const struct file *file, taut_error *error);

// Ends a record: everything since the last one is written to the system, or truncated on failure.
// Also fails if the file has been deleted meanwhile, since its rows would be lost with it. The file
// stays usable.
taut_status file_end_record(struct file *file, taut_error *error);

// Ends a growing file: keeps its records, synchronises it to the disk and closes it.
taut_status file_close(struct file *file, taut_error *error);

// The bytes written so far, including those in the buffer.
uint64_t file_length(const struct file *file);

void file_write(struct file *file, const void *bytes, size_t count);

// Overwrites bytes written earlier.
void file_patch(struct file *file, uint64_t offset, const void *bytes, size_t count);

// Formatted text. Not for floating-point numbers, which printf writes according to the locale.
void file_print(struct file *file, const char *format, ...) PRINTF_FORMAT(2, 3);

// A text within XML.
void file_print_escaped(struct file *file, const char *text);

// A number as %.*g, with a decimal point in every locale. 9 digits identify a float, 17 a double.
void file_number(struct file *file, double value, int digits);

// Binary values, little endian on every machine.
void file_put_u8(struct file *file, uint8_t value);
void file_put_u32(struct file *file, uint32_t value);
void file_put_u64(struct file *file, uint64_t value);
void file_put_f32(struct file *file, double value);
void file_put_f64(struct file *file, double value);

// Whether two paths name the same file, which exists.
bool file_is_same(const char *path, const char *other);

#endif
