// Replaces src/parallel/machine.c, which needs hwloc: threads are not bound to NUMA nodes.
#include "parallel/machine.h"

void *numa_bind_thread(const struct numa_binding *binding, int worker)
{
    (void)binding, (void)worker;
    return NULL;
}

void numa_unbind_thread(const struct numa_binding *binding, void *before)
{
    (void)binding, (void)before;
}
