// What this process may use of the machine it runs on: the default number of threads, and the sizes
// that plans are cut to.
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

// The most threads that a team may have on this machine, whatever was asked for: many more than
// there are processors take turns at every barrier, and a step takes a second. Results do not
// depend on how many there are. 16 at least.
int machine_threads_max(const struct machine *machine);

// The lesser of `wanted` and that number on this machine, which is only looked at where it matters.
taut_status machine_cap_threads(int wanted, int *threads, taut_error *error);

#endif
