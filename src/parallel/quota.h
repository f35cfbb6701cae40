// The part of the machine that control groups and resource limits leave to this process. A
// container that may use the time of two processors often still sees all sixty-four of the machine;
// sixty-four threads would spend most of their time throttled, waiting for each other at barriers.
// And one that may use 4 GiB of memory often sees all 256, and is killed without a message when it
// takes more.
#ifndef TAUT_PARALLEL_QUOTA_H
#define TAUT_PARALLEL_QUOTA_H

#include <stdbool.h>

// The smallest quota / period along the process's groups, rounded up: 1 or more, or 0 if there is
// no limit (or none can be read). `membership` is the text of /proc/self/cgroup and `mount` the
// mount point of the hierarchy, usually /sys/fs/cgroup: version 2 (cpu.max) there or in its
// `unified`, version 1 (cpu.cfs_quota_us) in its `cpu,cpuacct` or `cpu`.
int quota_processors(const char *membership, const char *mount);

// The same for this process.
int quota_of_this_process(void);

// Bytes that the process's groups leave: the smallest limit - usage along them, where file pages
// that were not used lately do not count as used; INFINITY if there is no limit. Version 2 reads
// memory.max and memory.high, version 1 memory.limit_in_bytes in its `memory`.
double quota_memory(const char *membership, const char *mount);

enum memory_source {
    MEMORY_UNKNOWN,
    MEMORY_MACHINE,   // MemAvailable + SwapFree; if unknown, all physical memory
    MEMORY_GROUP,     // quota_memory
    MEMORY_ADDRESSES, // RLIMIT_AS
    MEMORY_DATA,      // RLIMIT_DATA
    MEMORY_REQUESTED, // TAUT_MEMORY_LIMIT
};

// The memory that this process may still allocate, and the source of that limit: the tightest one.
struct memory_left {
    double bytes; // INFINITY: no known limit
    enum memory_source source;
};

// If the environment variable TAUT_MEMORY_LIMIT is set (bytes, or 500M, 20G, 1.5T; or none), it
// replaces all other sources. A value that is not a size is ignored here; the command line rejects
// it.
struct memory_left memory_left_to_this_process(void);

// The same at present: memory that this process has taken since the first call counts against
// TAUT_MEMORY_LIMIT.
struct memory_left memory_left_now(void);

// Whether an array that has not been planned for, such as lists that grow within steps, may have so
// many bytes more: false if less is left, as the system would end this process without a message,
// often long after it had granted the array. Called by any thread; it rarely asks the system.
bool memory_may_grow(double bytes);

// The same for the memory that all processes on this machine, or in the same control group, share:
// without the limits of one process, to which TAUT_MEMORY_LIMIT belongs.
struct memory_left memory_left_on_this_machine(void);

// The bytes that RLIMIT_AS leaves. It counts all mapped addresses, thread stacks included, touched
// or not.
double addresses_left_to_this_process(void);

// Parses a size as in TAUT_MEMORY_LIMIT, except "none"; false if `text` is not a size.
bool memory_size_read(const char *text, double *bytes);

// "free on this machine, swap included", "left by the limit of its control group", ...
const char *memory_source_text(enum memory_source source);

#endif
