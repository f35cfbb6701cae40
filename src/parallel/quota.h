// How much processor time the control groups of this process leave it. A container that may use
// two processors' worth of time often still sees all sixty-four of the machine; sixty-four threads
// there would spend most of their time throttled, waiting for each other at barriers.
#ifndef TAUT_PARALLEL_QUOTA_H
#define TAUT_PARALLEL_QUOTA_H

// The smallest quota / period along the process's groups, rounded up: 1 or more, or 0 where there
// is no limit (or none that can be read). `membership` is the text of /proc/self/cgroup and `mount`
// the place of the hierarchy, usually /sys/fs/cgroup: version 2 (cpu.max) there or in its
// `unified`, version 1 (cpu.cfs_quota_us) in its `cpu,cpuacct` or `cpu`.
int quota_processors(const char *membership, const char *mount);

// The same of this process.
int quota_of_this_process(void);

#endif
