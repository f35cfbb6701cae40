// The resources of the machine that this process may use: the default number of threads, the cache
// sizes that plans are made for, and the NUMA nodes that workers are bound to. Only machine.c
// includes hwloc.
#ifndef TAUT_PARALLEL_MACHINE_H
#define TAUT_PARALLEL_MACHINE_H

#include <stddef.h>

#include "taut.h"

struct machine {
    // Physical cores with at least one logical processor that the affinity mask and the cpuset of
    // this process allow, but no more than the processor-time quota of its control groups; 1 or
    // more. The default is one thread per core: the solver is limited by arithmetic and caches,
    // which the two threads of a core share.
    int cores;
    int logical;       // allowed logical processors, ignoring the time quota; 1 or more
    int packages;      // sockets with at least one of these processors; 1 or more
    int numa_nodes;    // memory nodes local to these processors; 1 or more
    size_t l1, l2, l3; // bytes of one data or unified cache of each level; 0: unknown
    char name[64];     // the processor model, e.g. "AMD EPYC 9R14"; never empty
};

// Fills `machine` from hwloc, and from sysconf where hwloc reports nothing. Fails only if memory
// runs out. hwloc's environment variables work (HWLOC_SYNTHETIC, HWLOC_XMLFILE): a synthetic
// machine has no affinity mask and no quota.
taut_status machine_detect(struct machine *machine, taut_error *error);

// The number of threads if none is requested: that of the environment (OMP_NUM_THREADS), or one per
// core; at most OMP_THREAD_LIMIT.
int machine_default_threads(const struct machine *machine);

// The largest number of threads that a team may have on this machine, at least 16. Many more
// threads than processors would take turns at every barrier, and a step would take a second.
// Results do not depend on the number of threads.
int machine_threads_max(const struct machine *machine);

// The smallest of `wanted`, machine_threads_max and OMP_THREAD_LIMIT; the machine is inspected only
// if `wanted` is above the smallest such maximum.
taut_status machine_cap_threads(int wanted, int *threads, taut_error *error);

// Binds workers on machines with several NUMA nodes: each to the node whose memory it touched
// first, on any core of that node.
//
// Workers are not bound to single cores, because the system could then not move a worker away from
// a core with a busy process to an idle one. They are bound only if the team has a worker for every
// core that the process may use: two runs that share a machine, with fewer workers each, would both
// be bound to its first cores. With one NUMA node nothing is bound.
struct numa_binding;

// For a team of `workers`; *result is NULL if binding is not needed. Neighbouring workers share a
// node, and each node has as many of them as cores. Fails only if memory runs out.
taut_status numa_binding_make(int workers, struct numa_binding **result, taut_error *error);
void numa_binding_free(struct numa_binding *binding);

// The NUMA node of a worker, counted from 0 over the nodes that the process may use.
int numa_binding_node(const struct numa_binding *binding, int worker);

// Binds the calling thread to the NUMA node of a worker and returns its previous binding, which
// numa_unbind_thread restores and releases. If binding is not allowed the thread stays as it is.
// Both accept NULL.
void *numa_bind_thread(const struct numa_binding *binding, int worker);
void numa_unbind_thread(const struct numa_binding *binding, void *before);

#endif
