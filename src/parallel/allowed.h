// The processors that this process may run on; only the files that look at the machine see it.
#ifndef TAUT_PARALLEL_ALLOWED_H
#define TAUT_PARALLEL_ALLOWED_H

#include <hwloc.h>

#include "taut.h"

// Those of the topology (hwloc has already left out what the cpuset forbids) that are in the
// affinity mask of this process.
taut_status find_allowed(hwloc_topology_t topology, hwloc_bitmap_t allowed, taut_error *error);

#endif
