#include "parallel/places.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "parallel/allowed.h"
#include "parallel/quota.h"

struct places {
    hwloc_topology_t topology;
    int workers, node_count;
    int *nodes;              // of each worker
    hwloc_bitmap_t *allowed; // processors of each node that may be used
};

// To load a topology takes milliseconds, which machines with one memory node can do without. A
// made-up machine of hwloc's environment is always looked at.
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

// What counts as a core: a processor where the machine shows no cores.
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

// Goes through the memory nodes and gives each the processors that no node before it had (fast and
// slow memory of one package are two nodes with the same processors), and workers for its cores.
static bool assign(struct places *places, hwloc_bitmap_t left)
{
    int worker = 0;
    hwloc_obj_t node = NULL;
    while ((node = hwloc_get_next_obj_by_type(places->topology, HWLOC_OBJ_NUMANODE, node)) !=
           NULL) {
        if (!hwloc_bitmap_intersects(node->cpuset, left))
            continue;
        hwloc_bitmap_t own = hwloc_bitmap_dup(node->cpuset);
        if (!own)
            return false;
        int index = places->node_count++; // from now on released with the places
        places->allowed[index] = own;
        if (hwloc_bitmap_and(own, own, left) != 0 || hwloc_bitmap_andnot(left, left, own) != 0)
            return false;
        for (int i = count_cores(places->topology, own); i > 0 && worker < places->workers; i--)
            places->nodes[worker++] = index;
    }
    // No node has the rest: it shares the last one's fate.
    for (; worker < places->workers && places->node_count > 0; worker++)
        places->nodes[worker] = places->node_count - 1;
    return true;
}

static taut_status find_places(struct places *places, hwloc_bitmap_t allowed, taut_error *error)
{
    taut_status status = find_allowed(places->topology, allowed, error);
    if (status != TAUT_OK)
        return status;
    int nodes = hwloc_get_nbobjs_by_type(places->topology, HWLOC_OBJ_NUMANODE);
    int quota =
        hwloc_topology_is_thissystem(places->topology) ? quota_of_this_process() : places->workers;
    bool whole = count_cores(places->topology, allowed) == places->workers;
    if (nodes < 2 || !whole || (quota > 0 && quota < places->workers))
        return TAUT_OK;
    places->nodes = calloc((size_t)places->workers, sizeof *places->nodes);
    places->allowed = calloc((size_t)nodes, sizeof *places->allowed);
    if (!places->nodes || !places->allowed || !assign(places, allowed))
        return fail_memory(error, "the places of workers");
    return TAUT_OK;
}

taut_status places_make(int workers, struct places **result, taut_error *error)
{
    *result = NULL;
    if (workers < 2 || !may_have_nodes())
        return TAUT_OK;
    struct places *places = calloc(1, sizeof *places);
    if (!places)
        return fail_memory(error, "the places of workers");
    places->workers = workers;
    if (hwloc_topology_init(&places->topology) != 0) {
        free(places);
        return TAUT_OK;
    }
    taut_status status = TAUT_OK;
    hwloc_bitmap_t allowed = hwloc_bitmap_alloc();
    if (!allowed)
        status = fail_memory(error, "the set of processors");
    else if (hwloc_topology_load(places->topology) == 0)
        status = find_places(places, allowed, error);
    hwloc_bitmap_free(allowed);
    if (status != TAUT_OK || places->node_count < 2) {
        places_free(places);
        return status;
    }
    *result = places;
    return TAUT_OK;
}

void places_free(struct places *places)
{
    if (!places)
        return;
    for (int i = 0; i < places->node_count; i++)
        hwloc_bitmap_free(places->allowed[i]);
    free(places->allowed);
    free(places->nodes);
    hwloc_topology_destroy(places->topology);
    free(places);
}

int places_node(const struct places *places, int worker)
{
    return places->nodes[worker];
}

void places_enter(const struct places *places, int worker)
{
    hwloc_set_cpubind(places->topology, places->allowed[places->nodes[worker]],
                      HWLOC_CPUBIND_THREAD);
}

void *places_visit(const struct places *places)
{
    if (!places)
        return NULL;
    hwloc_bitmap_t before = hwloc_bitmap_alloc();
    if (before && hwloc_get_cpubind(places->topology, before, HWLOC_CPUBIND_THREAD) != 0) {
        hwloc_bitmap_free(before);
        before = NULL;
    }
    if (before) // else it could not be brought back
        places_enter(places, 0);
    return before;
}

void places_leave(const struct places *places, void *before)
{
    if (!before)
        return;
    hwloc_set_cpubind(places->topology, before, HWLOC_CPUBIND_THREAD);
    hwloc_bitmap_free(before);
}
