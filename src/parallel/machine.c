#include "parallel/machine.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/status.h"
#include "parallel/allowed.h"
#include "parallel/quota.h"

taut_status find_allowed(hwloc_topology_t topology, hwloc_bitmap_t allowed, taut_error *error)
{
    hwloc_const_bitmap_t all = hwloc_topology_get_allowed_cpuset(topology);
    if (hwloc_topology_is_thissystem(topology) &&
        hwloc_get_cpubind(topology, allowed, HWLOC_CPUBIND_PROCESS) == 0) {
        if (hwloc_bitmap_and(allowed, allowed, all) != 0)
            return fail_memory(error, "the set of processors");
        if (!hwloc_bitmap_iszero(allowed))
            return TAUT_OK;
    }
    if (hwloc_bitmap_copy(allowed, all) != 0)
        return fail_memory(error, "the set of processors");
    return TAUT_OK;
}

// Objects of a type that contain at least one of the processors.
static int count_objects(hwloc_topology_t topology, hwloc_obj_type_t type,
                         hwloc_const_bitmap_t allowed)
{
    int count = 0;
    hwloc_obj_t object = NULL;
    while ((object = hwloc_get_next_obj_by_type(topology, type, object)) != NULL)
        count += hwloc_bitmap_intersects(object->cpuset, allowed) != 0;
    return count;
}

// The size of the first cache of a level that one of the processors uses.
static size_t cache_bytes(hwloc_topology_t topology, hwloc_obj_type_t type,
                          hwloc_const_bitmap_t allowed)
{
    hwloc_obj_t object = NULL;
    while ((object = hwloc_get_next_obj_by_type(topology, type, object)) != NULL)
        if (hwloc_bitmap_intersects(object->cpuset, allowed))
            return (size_t)object->attr->cache.size;
    return 0;
}

// The model, without the runs of blanks that some processors pad it with.
static void set_name(struct machine *machine, const char *model)
{
    size_t length = 0;
    for (; *model && length + 1 < sizeof machine->name; model++) {
        if (*model == ' ' && (length == 0 || machine->name[length - 1] == ' '))
            continue;
        machine->name[length++] = *model;
    }
    while (length > 0 && machine->name[length - 1] == ' ')
        length--;
    machine->name[length] = '\0';
}

static void find_name(hwloc_topology_t topology, struct machine *machine)
{
    hwloc_obj_t package = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PACKAGE, 0);
    const char *model = package ? hwloc_obj_get_info_by_name(package, "CPUModel") : NULL;
    if (!model)
        model = hwloc_obj_get_info_by_name(hwloc_get_root_obj(topology), "CPUModel");
    if (model)
        set_name(machine, model);
}

static taut_status measure(hwloc_topology_t topology, struct machine *machine, taut_error *error)
{
    hwloc_bitmap_t allowed = hwloc_bitmap_alloc();
    if (!allowed)
        return fail_memory(error, "the set of processors");
    taut_status status = find_allowed(topology, allowed, error);
    if (status == TAUT_OK) {
        machine->logical = count_objects(topology, HWLOC_OBJ_PU, allowed);
        machine->cores = count_objects(topology, HWLOC_OBJ_CORE, allowed);
        machine->packages = count_objects(topology, HWLOC_OBJ_PACKAGE, allowed);
        machine->numa_nodes = count_objects(topology, HWLOC_OBJ_NUMANODE, allowed);
        machine->l1 = cache_bytes(topology, HWLOC_OBJ_L1CACHE, allowed);
        machine->l2 = cache_bytes(topology, HWLOC_OBJ_L2CACHE, allowed);
        machine->l3 = cache_bytes(topology, HWLOC_OBJ_L3CACHE, allowed);
        find_name(topology, machine);
    }
    hwloc_bitmap_free(allowed);
    return status;
}

// What hwloc could not say. Some virtual machines show processors and no cores; then each processor
// counts as one.
static void fill_gaps(struct machine *machine)
{
    if (machine->logical < 1) {
        long online = sysconf(_SC_NPROCESSORS_ONLN);
        machine->logical = online > 0 ? (int)online : 1;
    }
    if (machine->cores < 1)
        machine->cores = machine->logical;
    if (machine->packages < 1)
        machine->packages = 1;
    if (machine->numa_nodes < 1)
        machine->numa_nodes = 1;
    struct utsname system;
    if (machine->name[0] == '\0' && uname(&system) == 0)
        set_name(machine, system.machine);
    if (machine->name[0] == '\0')
        set_name(machine, "unknown");
}

taut_status machine_detect(struct machine *machine, taut_error *error)
{
    *machine = (struct machine){0};
    taut_status status = TAUT_OK;
    int real = 1;
    hwloc_topology_t topology;
    if (hwloc_topology_init(&topology) == 0) {
        if (hwloc_topology_load(topology) == 0) {
            status = measure(topology, machine, error);
            real = hwloc_topology_is_thissystem(topology);
        }
        hwloc_topology_destroy(topology);
    }
    if (status != TAUT_OK)
        return status;
    fill_gaps(machine);
    int quota = real ? quota_of_this_process() : 0;
    if (quota > 0 && machine->cores > quota)
        machine->cores = quota;
    return TAUT_OK;
}

int machine_threads_max(const struct machine *machine)
{
    enum { ALWAYS = 16, A_PROCESSOR = 4 };
    int most = machine->logical <= INT_MAX / A_PROCESSOR ? A_PROCESSOR * machine->logical : INT_MAX;
    return most > ALWAYS ? most : ALWAYS;
}

taut_status machine_cap_threads(int wanted, int *threads, taut_error *error)
{
    *threads = wanted;
    if (wanted <= machine_threads_max(&(struct machine){0}))
        return TAUT_OK;
    struct machine machine;
    taut_status status = machine_detect(&machine, error);
    if (status != TAUT_OK)
        return status;
    int most = machine_threads_max(&machine);
    *threads = wanted < most ? wanted : most;
    return TAUT_OK;
}
