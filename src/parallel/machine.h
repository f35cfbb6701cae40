// What this process may use of the machine it runs on: the default number of threads, the sizes
// that plans are cut to, and the NUMA nodes that workers are bound to. The only file that includes
// hwloc is machine.c.
#ifndef TAUT_PARALLEL_MACHINE_H
#define TAUT_PARALLEL_MACHINE_H

#include <stddef.h>

#include "taut.h"

struct machine {
    // Physical cores with at least one logical processor that the affinity mask and the cpuset of
    // this process allow, and no more than its control groups' processor time pays for. 1 or more.
    // One thread for each is the default: the solver is bound by arithmetic and caches, which two
    // threads of one core share.
    int cores;
    int logical;       // logical processors allowed, without regard to the time quota; 1 or more
    int packages;      // sockets with at least one of them; 1 or more
    int numa_nodes;    // memory nodes local to those processors; 1 or more
    size_t l1, l2, l3; // bytes of one data or unified cache of each level; 0 where unknown
    char name[64];     // the processor's model, e.g. "AMD EPYC 9R14"; never empty
};

// Fills `machine` from hwloc, and from sysconf where hwloc knows nothing. Fails only without
// memory. The environment variables of hwloc work (HWLOC_SYNTHETIC, HWLOC_XMLFILE): a made-up
// machine has no affinity mask and no quota.
taut_status machine_detect(struct machine *machine, taut_error *error);

// The number of threads where none is requested: that of the environment (OMP_NUM_THREADS), or one
// for each core.
int machine_default_threads(const struct machine *machine);

// The most threads that a team may have on this machine, whatever was asked for: many more than
// there are processors take turns at every barrier, and a step takes a second. Results do not
// depend on how many there are. 16 at least.
int machine_threads_max(const struct machine *machine);

// The lesser of `wanted` and that number on this machine, which is only determined where it
// matters.
taut_status machine_cap_threads(int wanted, int *threads, taut_error *error);

// Where workers are bound, on machines with several NUMA nodes: each to the node whose memory it
// touched first, on whatever core of that node the system likes.
//
// Not to one core: beside a busy process the system could not move a worker to a core that is idle.
// And only if the team has a worker for every core that the process may use: of two runs that share
// a machine, with fewer workers each, both would be bound to its first cores. With one NUMA node
// nothing is bound at all.
struct numa_binding;

// For a team of so many workers; *result is NULL where they need none. Neighbouring workers share a
// node, and each node has as many of them as it has cores. Fails only without memory.
taut_status numa_binding_make(int workers, struct numa_binding **result, taut_error *error);
void numa_binding_free(struct numa_binding *binding);

// The NUMA node of a worker, counted from 0 over those that the process may use.
int numa_binding_node(const struct numa_binding *binding, int worker);

// Binds the calling thread to the NUMA node of a worker and returns what it was bound to before,
// which numa_unbind_thread restores and releases. Where binding is not allowed the thread stays as
// it is. Both accept NULL.
void *numa_bind_thread(const struct numa_binding *binding, int worker);
void numa_unbind_thread(const struct numa_binding *binding, void *before);

#endif
