// What the control groups and the limits of this process leave it of the machine. A container that
// may use two processors' worth of time often still sees all sixty-four of the machine; sixty-four
// threads there would spend most of their time throttled, waiting for each other at barriers. And
// one that may use 4 GiB of memory often sees all 256, and is killed without a word when it takes
// more.
#ifndef TAUT_PARALLEL_QUOTA_H
#define TAUT_PARALLEL_QUOTA_H

#include <stdbool.h>

// The smallest quota / period along the process's groups, rounded up: 1 or more, or 0 where there
// is no limit (or none that can be read). `membership` is the text of /proc/self/cgroup and `mount`
// the place of the hierarchy, usually /sys/fs/cgroup: version 2 (cpu.max) there or in its
// `unified`, version 1 (cpu.cfs_quota_us) in its `cpu,cpuacct` or `cpu`.
int quota_processors(const char *membership, const char *mount);

// The same of this process.
int quota_of_this_process(void);

// Bytes that the process's groups leave: the least of limit - usage along them, where pages of
// files that were not used lately do not count as used; INFINITY where there is no limit. Version 2
// reads memory.max and memory.high, version 1 memory.limit_in_bytes in its `memory`.
double quota_memory(const char *membership, const char *mount);

enum memory_source {
    MEMORY_UNKNOWN,
    MEMORY_MACHINE,   // MemAvailable + SwapFree; where unknown, all of the physical memory
    MEMORY_GROUP,     // quota_memory
    MEMORY_ADDRESSES, // RLIMIT_AS
    MEMORY_DATA,      // RLIMIT_DATA
    MEMORY_WISHED,    // TAUT_MEMORY_LIMIT
};

// What this process may still take, and what says so: the least of them.
struct memory_left {
    double bytes; // INFINITY: no limit is known
    enum memory_source source;
};

// The environment variable TAUT_MEMORY_LIMIT (bytes, or 500M, 20G, 1.5T; or none) takes the place
// of everything else; one that is no such size is ignored here (the command line refuses it).
struct memory_left memory_left_to_this_process(void);

// What RLIMIT_AS leaves alone: it counts what is mapped, stacks of threads among it, whether it is
// touched or not.
double addresses_left_to_this_process(void);

// A size as of TAUT_MEMORY_LIMIT, "none" excepted; false if it is none.
bool memory_size_read(const char *text, double *bytes);

// "free on this machine, swap included", "left by the limit of its control group", ...
const char *memory_source_text(enum memory_source source);

#endif
