// The machine as hwloc, OpenMP and the control groups describe it (machine.h). Starting threads is
// left to team.c.
#include "parallel/machine.h"

#include <hwloc.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/status.h"
#include "parallel/quota.h"
#include "parallel/team.h"

// Adds the processors of OpenMP's places if OMP_PROC_BIND or OMP_PLACES binds threads. The calling
// thread is then bound to one of them, so its mask does not show what the process may use.
static bool add_openmp_places(hwloc_bitmap_t allowed)
{
    int count = team_bound_processors(NULL, 0);
    int *processors = count > 0 ? malloc((size_t)count * sizeof *processors) : NULL;
    if (!processors)
        return false;
    count = team_bound_processors(processors, count);
    bool added = true;
    for (int i = 0; i < count; i++)
        added &= hwloc_bitmap_set(allowed, (unsigned)processors[i]) == 0;
    free(processors);
    return added;
}

// The processors that this process may run on: those of the topology (hwloc leaves out what the
// cpuset forbids) that are in its affinity mask.
static taut_status find_allowed(hwloc_topology_t topology, hwloc_bitmap_t allowed,
                                taut_error *error)
{
    hwloc_const_bitmap_t all = hwloc_topology_get_allowed_cpuset(topology);
    hwloc_bitmap_zero(allowed);
    if (hwloc_topology_is_thissystem(topology) &&
        (add_openmp_places(allowed) ||
         hwloc_get_cpubind(topology, allowed, HWLOC_CPUBIND_PROCESS) == 0)) {
        if (hwloc_bitmap_and(allowed, allowed, all) != 0)
            return fail_memory(error, "the set of processors");
        if (!hwloc_bitmap_iszero(allowed))
            return TAUT_OK;
    }
    if (hwloc_bitmap_copy(allowed, all) != 0)
        return fail_memory(error, "the set of processors");
    return TAUT_OK;
}

// The number of objects of a type that contain at least one of the processors.
static int count_objects(hwloc_topology_t topology, hwloc_obj_type_t type,
                         hwloc_const_bitmap_t allowed)
{
    int count = 0;
    hwloc_obj_t object = NULL;
    while ((object = hwloc_get_next_obj_by_type(topology, type, object)) != NULL)
        count += hwloc_bitmap_intersects(object->cpuset, allowed) != 0;
    return count;
}

// The size of the first cache of a level that at least one of the processors uses.
static size_t cache_bytes(hwloc_topology_t topology, hwloc_obj_type_t type,
                          hwloc_const_bitmap_t allowed)
{
    hwloc_obj_t object = NULL;
    while ((object = hwloc_get_next_obj_by_type(topology, type, object)) != NULL)
        if (hwloc_bitmap_intersects(object->cpuset, allowed))
            return (size_t)object->attr->cache.size;
    return 0;
}

// Stores the model name without the runs of blanks that pad some of them.
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

// Fills in what hwloc does not report. Some virtual machines show processors but no cores; then
// each processor counts as a core.
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

int machine_default_threads(const struct machine *machine)
{
    int requested = team_threads_requested(), most = machine_threads_max(machine);
    int threads = requested > 0 ? requested : machine->cores;
    most = most < team_thread_limit() ? most : team_thread_limit();
    return threads < most ? threads : most;
}

int machine_threads_max(const struct machine *machine)
{
    enum { ALWAYS = 16, PER_PROCESSOR = 4 };
    int most =
        machine->logical <= INT_MAX / PER_PROCESSOR ? PER_PROCESSOR * machine->logical : INT_MAX;
    return most > ALWAYS ? most : ALWAYS;
}

taut_status machine_cap_threads(int wanted, int *threads, taut_error *error)
{
    wanted = wanted < team_thread_limit() ? wanted : team_thread_limit();
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

// ---- NUMA nodes

struct numa_binding {
    hwloc_topology_t topology;
    int workers, node_count;
    int *nodes;              // index of each worker's node
    hwloc_bitmap_t *allowed; // the usable processors of each node
};

// Loading a topology takes milliseconds, which a machine with one NUMA node need not spend.
// Synthetic machines from hwloc's environment variables are always inspected.
static bool may_have_nodes(void)
{
    if (getenv("HWLOC_SYNTHETIC") || getenv("HWLOC_XMLFILE"))
        return true;
    char text[16] = "";
    FILE *file = fopen("/sys/devices/system/node/online", "r");
    if (!file)
        return true;
    bool read = fgets(text, sizeof text, file) != NULL;
    fclose(file);
    return !read || strcmp(text, "0\n") != 0;
}

// The object type counted as a core: a processor if the machine shows no cores.
static hwloc_obj_type_t core_type(hwloc_topology_t topology)
{
    return hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE) > 0 ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
}

static int count_cores(hwloc_topology_t topology, hwloc_const_bitmap_t processors)
{
    int count = 0;
    hwloc_obj_t core = NULL;
    while ((core = hwloc_get_next_obj_by_type(topology, core_type(topology), core)) != NULL)
        count += hwloc_bitmap_intersects(core->cpuset, processors) != 0;
    return count;
}

// Gives each NUMA node the processors that no earlier node has (fast and slow memory of one package
// are two nodes with the same processors), and one worker for each of its cores.
static bool assign(struct numa_binding *binding, hwloc_bitmap_t left)
{
    int worker = 0;
    hwloc_obj_t node = NULL;
    while ((node = hwloc_get_next_obj_by_type(binding->topology, HWLOC_OBJ_NUMANODE, node)) !=
           NULL) {
        if (!hwloc_bitmap_intersects(node->cpuset, left))
            continue;
        hwloc_bitmap_t own = hwloc_bitmap_dup(node->cpuset);
        if (!own)
            return false;
        int index = binding->node_count++; // from here on released with the binding
        binding->allowed[index] = own;
        if (hwloc_bitmap_and(own, own, left) != 0 || hwloc_bitmap_andnot(left, left, own) != 0)
            return false;
        for (int i = count_cores(binding->topology, own); i > 0 && worker < binding->workers; i--)
            binding->nodes[worker++] = index;
    }
    // Workers beyond the cores of all nodes are assigned to the last node.
    for (; worker < binding->workers && binding->node_count > 0; worker++)
        binding->nodes[worker] = binding->node_count - 1;
    return true;
}

static taut_status find_numa_binding(struct numa_binding *binding, hwloc_bitmap_t allowed,
                                     taut_error *error)
{
    taut_status status = find_allowed(binding->topology, allowed, error);
    if (status != TAUT_OK)
        return status;
    int nodes = hwloc_get_nbobjs_by_type(binding->topology, HWLOC_OBJ_NUMANODE);
    int quota = hwloc_topology_is_thissystem(binding->topology) ? quota_of_this_process()
                                                                : binding->workers;
    bool whole = count_cores(binding->topology, allowed) == binding->workers;
    if (nodes < 2 || !whole || (quota > 0 && quota < binding->workers))
        return TAUT_OK;
    binding->nodes = calloc((size_t)binding->workers, sizeof *binding->nodes);
    binding->allowed = calloc((size_t)nodes, sizeof *binding->allowed);
    if (!binding->nodes || !binding->allowed || !assign(binding, allowed))
        return fail_memory(error, "the binding of workers");
    return TAUT_OK;
}

taut_status numa_binding_make(int workers, struct numa_binding **result, taut_error *error)
{
    *result = NULL;
    if (workers < 2 || !may_have_nodes())
        return TAUT_OK;
    struct numa_binding *binding = calloc(1, sizeof *binding);
    if (!binding)
        return fail_memory(error, "the binding of workers");
    binding->workers = workers;
    if (hwloc_topology_init(&binding->topology) != 0) {
        free(binding);
        return TAUT_OK;
    }
    taut_status status = TAUT_OK;
    hwloc_bitmap_t allowed = hwloc_bitmap_alloc();
    if (!allowed)
        status = fail_memory(error, "the set of processors");
    else if (hwloc_topology_load(binding->topology) == 0)
        status = find_numa_binding(binding, allowed, error);
    hwloc_bitmap_free(allowed);
    if (status != TAUT_OK || binding->node_count < 2) {
        numa_binding_free(binding);
        return status;
    }
    *result = binding;
    return TAUT_OK;
}

void numa_binding_free(struct numa_binding *binding)
{
    if (!binding)
        return;
    for (int i = 0; i < binding->node_count; i++)
        hwloc_bitmap_free(binding->allowed[i]);
    free(binding->allowed);
    free(binding->nodes);
    hwloc_topology_destroy(binding->topology);
    free(binding);
}

int numa_binding_node(const struct numa_binding *binding, int worker)
{
    return binding->nodes[worker];
}

// Returns NULL, without binding, if the present binding cannot be read and so could not be
// restored.
void *numa_bind_thread(const struct numa_binding *binding, int worker)
{
    if (!binding)
        return NULL;
    hwloc_bitmap_t before = hwloc_bitmap_alloc();
    if (!before)
        return NULL;
    if (hwloc_get_cpubind(binding->topology, before, HWLOC_CPUBIND_THREAD) != 0) {
        hwloc_bitmap_free(before);
        return NULL;
    }
    hwloc_set_cpubind(binding->topology, binding->allowed[binding->nodes[worker]],
                      HWLOC_CPUBIND_THREAD);
    return before;
}

void numa_unbind_thread(const struct numa_binding *binding, void *before)
{
    if (!before)
        return;
    hwloc_set_cpubind(binding->topology, before, HWLOC_CPUBIND_THREAD);
    hwloc_bitmap_free(before);
}
