// A file being written, of one of two sorts.
//
// A whole file (file_create, file_create_new, file_replace; file_commit) gets its name when all of
// it is on the disk: whoever opens PATH sees the old file, or none, or the new one, and never
// half of it. Until then it has no name at all (O_TMPFILE), so that a killed process leaves
// nothing. File systems that cannot do this (NFS, FAT) get a file .taut-RANDOM.tmp in the same
// folder, with 64 random bits, created exclusively and never through a link; that one is left by
// SIGKILL alone. A whole file also has such a name while it replaces another one.
//
// A growing file (file_grow, file_end_record, file_close) is written in place and grows by whole
// records: what could not be written entirely is cut off again, so that it ends with its last whole
// record.
//
// All of them are closed in the programs that this one starts, unless it passes them a descriptor.
//
// The writing functions return nothing: the first failure is kept, later writes do nothing, and the
// function that ends the file or the record reports it, with the path and the reason.
#ifndef TAUT_OUTPUT_FILE_H
#define TAUT_OUTPUT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/status.h"

enum file_sort {
    FILE_DIRECT,    // a device or a pipe
    FILE_GROWING,   // written in place
    FILE_NEW,       // whole, where nothing is
    FILE_REPLACING, // whole, in place of what is there
};

// A zeroed struct is a file that is not open; abandoning or closing it does nothing.
struct file {
    bool open;
    int descriptor; // for reading and writing; a child may be given a duplicate to write to
    int failure;    // errno of the first write that failed; 0: none did
    char *path;     // as the caller named it: what messages show
    char *target;   // the same with symbolic links followed; NULL: a device or a pipe
    enum file_sort sort;
    char *temporary; // the name of a whole file until it is renamed; NULL: it has none
    unsigned char *buffer;
    size_t used;         // bytes waiting in the buffer
    uint64_t flushed;    // bytes before those of the buffer
    uint64_t record_end; // length of a growing file's whole records
};

// Begins a whole file at a path that the user has named; what is there is replaced. A symbolic
// link there leads to the file that is replaced, as with cp and shells, unless somebody else made
// it, in a folder that is not theirs: such a link is refused. A path that is no regular file
// (/dev/stdout, a pipe) is written directly. A file that is replaced must be writable, and the new
// one has its mode.
taut_status file_create(struct file *file, const char *path, taut_error *error);

// Whether a symbolic link may be followed: it is this user's or its folder's owner's.
bool file_is_trusted_link(const char *path, const struct stat *link);

// Begins a whole file where nothing is, not even a link: else the commit fails.
taut_status file_create_new(struct file *file, const char *path, taut_error *error);

// Begins a whole file that replaces one of ours; a link there is replaced, not followed.
taut_status file_replace(struct file *file, const char *path, taut_error *error);

// Ends a whole file: on the disk, then under its name. After a failure nothing is left of it, and
// what was at the path before is untouched.
taut_status file_commit(struct file *file, taut_error *error);

// For tests: whole files have names from the beginning, as where file systems need it.
void file_name_temporaries(bool always);

// Abandons a file of either sort and removes what was written of it.
void file_abandon(struct file *file);

// Begins a growing file, which must not exist yet.
taut_status file_grow(struct file *file, const char *path, taut_error *error);

// Continues a growing file that is there, behind its contents.
taut_status file_extend(struct file *file, const char *path, taut_error *error);

// Ends a record: everything since the last one is written to the system, or, on failure, cut
// off. Fails too where the file has been deleted meanwhile, since its rows would vanish with it.
// The file stays usable.
taut_status file_end_record(struct file *file, taut_error *error);

// Ends a growing file: keeps what was written, forces it to the disk and closes it.
taut_status file_close(struct file *file, taut_error *error);

// The bytes written so far, those still in the buffer included.
uint64_t file_length(const struct file *file);

void file_write(struct file *file, const void *bytes, size_t count);

// Overwrites bytes in the middle of what was written before.
void file_patch(struct file *file, uint64_t offset, const void *bytes, size_t count);

// Text. Not for floating-point numbers: printf writes those as the locale likes.
void file_print(struct file *file, const char *format, ...) PRINTF_FORMAT(2, 3);

// A number as %.*g, with a decimal point in every locale. 9 digits identify a float, 17 a double.
void file_number(struct file *file, double value, int digits);

// Binary values, little endian on every machine.
void file_put_u8(struct file *file, uint8_t value);
void file_put_u32(struct file *file, uint32_t value);
void file_put_u64(struct file *file, uint64_t value);
void file_put_f32(struct file *file, double value);
void file_put_f64(struct file *file, double value);

#endif
