// See surface_rollback.h.
#include "contact/surface_rollback.h"

#include "base/memory.h"
#include "contact/surface_motion.h"
#include "contact/surface_shares.h"
#include "state/reading.h"

// ---- Where nodes come from

static int compare_driven(const void *a, const void *b)
{
    const struct driven_node *one = a, *other = b;
    return one->node < other->node ? -1 : one->node > other->node;
}

void REAL_NAME(surface_contact_drive)(struct system *system, size_t node, vec3 position)
{
    struct surface_contact *it = system->surface_contact;
    const vec3 origin = system->state->origin;
    if (!it)
        return;
    if (!array_reserve((void **)&it->driven, &it->driven_capacity, it->driven_count + 1,
                       sizeof *it->driven)) {
        atomic_store(&it->failed, true);
        return;
    }
    it->driven_sorted &= it->driven_count == 0 || it->driven[it->driven_count - 1].node < node;
    it->driven[it->driven_count++] = (struct driven_node){
        (uint32_t)node,
        {(real)(position.x - origin.x), (real)(position.y - origin.y),
         (real)(position.z - origin.z)},
    };
}

void REAL_NAME(surface_contact_drive_none)(struct system *system)
{
    if (!system->surface_contact)
        return;
    system->surface_contact->driven_count = 0;
    system->surface_contact->driven_sorted = true;
}

void REAL_NAME(surface_contact_set_step)(struct system *system, double begin, double step)
{
    struct surface_contact *it = system->surface_contact;
    it->step_begin = begin;
    it->step_length = step;
    if (!it->driven_sorted)
        qsort(it->driven, it->driven_count, sizeof *it->driven, compare_driven);
    it->driven_sorted = true;
}

static struct point driven_start(const struct system *system, size_t node)
{
    const struct surface_contact *it = system->surface_contact;
    const struct driven_node wanted = {.node = (uint32_t)node};
    const struct driven_node *found =
        it->driven_count == 0
            ? NULL
            : bsearch(&wanted, it->driven, it->driven_count, sizeof *it->driven, compare_driven);
    return found ? (struct point){found->at[0], found->at[1], found->at[2]}
                 : state_point(system->state, node);
}

// What is `change` before a number with a low part; rounded as state_point.
static real before(const real *high, const real *low, size_t i, real change)
{
    return (real)((double)high[i] + (double)real_low(low, i) - (double)change);
}

struct point REAL_NAME(surface_step_start)(const struct system *system, size_t node)
{
    const struct surface_contact *it = system->surface_contact;
    const struct state *s = system->state;
    if (it->being_cut || it->lifts)
        return (struct point){it->starts[0][node], it->starts[1][node], it->starts[2][node]};
    if (it->rows) { // of all blocks
        const uint32_t own = it->own_location[node];
        if (own == NO_LOCATION)
            return state_point(s, node);
        return block_point(it->start[block_of_location(own)], (int)local_of_location(own));
    }
    if (it->keeps_start)
        return (struct point){it->old_x[node], it->old_y[node], it->old_z[node]};
    if (node >= (size_t)system->topology->node_count)
        return REAL_NAME(mesh_collider_start)(system, node, it->step_begin);
    if (system->constants->inverse_mass[node] == 0)
        return driven_start(system, node);
    // That of Verlet is the difference of the two, and other ranks know no positions one step back.
    const real h = (real)it->step_length;
    return (struct point){before(s->x, s->x_low, node, h * s->vx[node]),
                          before(s->y, s->y_low, node, h * s->vy[node]),
                          before(s->z, s->z_low, node, h * s->vz[node])};
}

void REAL_NAME(surface_step_starts)(const struct system *system, real *const to[3],
                                    const struct worker *worker)
{
    const struct range share = surface_node_share(system, worker);
    for (size_t i = share.first; i < share.end; i++) {
        const struct point start = REAL_NAME(surface_step_start)(system, i);
        to[0][i] = start.x;
        to[1][i] = start.y;
        to[2][i] = start.z;
    }
}

// ---- A cut

// What a cut changes of a node.
enum { NODE_VALUES = 18 };

struct node_change {
    size_t node;
    real values[NODE_VALUES];
};

static void values_of(const struct state *s, real *arrays[NODE_VALUES])
{
    real *const all[NODE_VALUES] = {
        s->x,  s->y,  s->z,  s->x_low,  s->y_low,  s->z_low,
        s->vx, s->vy, s->vz, s->vx_low, s->vy_low, s->vz_low,
        s->x0, s->y0, s->z0, s->x0_low, s->y0_low, s->z0_low,
    };
    memcpy(arrays, all, sizeof all);
}

bool REAL_NAME(surface_rollback_begin)(struct system *system, const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    const size_t nodes = all_surface_nodes(system->topology);
    worker_barrier(worker);
    if (worker->index == 0) {
        for (int axis = 0; axis < 3; axis++)
            if (!it->starts[axis])
                it->starts[axis] = malloc(nodes * sizeof *it->starts[axis]);
        (void)REAL_NAME(surface_positions_allocate)(system); // looked at below
        it->starts_nodes = nodes;
        it->change_count = 0;
    }
    worker_barrier(worker);
    if (!it->starts[0] || !it->starts[1] || !it->starts[2] || !it->old_x || !it->old_y ||
        !it->old_z)
        return false;
    REAL_NAME(surface_step_starts)(system, it->starts, worker);
    worker_barrier(worker);
    if (worker->index == 0)
        it->being_cut = true;
    worker_barrier(worker);
    return true;
}

void REAL_NAME(surface_rollback_log)(struct system *system, size_t node)
{
    struct surface_contact *it = system->surface_contact;
    real *arrays[NODE_VALUES];
    if (!array_reserve((void **)&it->changes, &it->change_capacity, it->change_count + 1,
                       sizeof *it->changes)) {
        atomic_store(&it->failed, true);
        return;
    }
    struct node_change *change = &it->changes[it->change_count++];
    change->node = node;
    values_of(system->state, arrays);
    for (int i = 0; i < NODE_VALUES; i++)
        change->values[i] = arrays[i] ? arrays[i][node] : 0;
}

void REAL_NAME(surface_rollback_undo)(struct system *system, size_t count)
{
    struct surface_contact *it = system->surface_contact;
    real *arrays[NODE_VALUES];
    values_of(system->state, arrays);
    while (it->change_count > count) {
        const struct node_change *change = &it->changes[--it->change_count];
        for (int i = 0; i < NODE_VALUES; i++)
            if (arrays[i])
                arrays[i][change->node] = change->values[i];
    }
}

// Adds a node to the box of the displacements of a block, and to those of its tiles in this step.
static void extend_block(struct system *system, size_t node, uint32_t location)
{
    struct surface_contact *it = system->surface_contact;
    const uint32_t b = block_of_location(location);
    const struct surface_block *block = &it->surfaces.blocks[b];
    const struct block_tiles *tiles = &it->block_tiles[b];
    const struct point now = state_point(system->state, node);
    struct point d = point_difference(now, REAL_NAME(surface_step_start)(system, node));
    const real change[3] = {d.x, d.y, d.z};
    for (int t = 0; t < tiles->count; t++)
        displacements_include(&it->moved_in_step[tiles->tiles[t]], change);
    for (size_t t = 0; tiles->count == 0 && t < it->tile_count; t++)
        if (it->tile_bodies[t] == block->body)
            displacements_include(&it->moved_in_step[t], change);
    if (!it->listed[b])
        return;
    d = point_difference(now, block_point(it->start[b], (int)local_of_location(location)));
    displacements_include(&it->steps[b], (const real[3]){d.x, d.y, d.z});
}

void REAL_NAME(surface_rollback_note)(struct system *system, size_t node)
{
    struct surface_contact *it = system->surface_contact;
    for (uint32_t k = 0, location; (location = node_location(it, node, k)) != NO_LOCATION; k++) {
        it->changed[block_of_location(location)] |= CHANGED_NOW | CHANGED;
        extend_block(system, node, location);
    }
}

void REAL_NAME(surface_rollback_end)(struct surface_contact *it)
{
    it->being_cut = false;
}

void REAL_NAME(surface_contact_give_up)(struct system *system, const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    struct state *s = system->state;
    REAL_NAME(surface_shares_complete)(system, worker); // all ranks put all nodes back
    const bool has = REAL_NAME(surface_rollback_begin)(system, worker);
    const struct range share = worker_share(worker, (size_t)s->nodes, 16);
    for (size_t i = share.first; i < share.end && has; i++)
        if (system->constants->inverse_mass[i] != 0) {
            const vec3 start = vec3_make((double)it->starts[0][i], (double)it->starts[1][i],
                                         (double)it->starts[2][i]);
            state_put(s, i, vec3_add(s->origin, start));
        }
    worker_barrier(worker);
    if (worker->index == 0) {
        REAL_NAME(surface_rollback_end)(it);
        if (!has)
            REAL_NAME(surface_memory_has_run_out)(system);
        it->gives_up = it->lists_due = true;
        it->start_known = it->steps_known = it->bounds_known = it->overshot = false;
        s->forces_current = s->energy_current = false;
    }
    worker_barrier(worker);
}

bool REAL_NAME(surface_contact_gave_up)(const struct system *system)
{
    return system->surface_contact && system->surface_contact->gives_up;
}

void REAL_NAME(surface_rollback_free)(struct surface_contact *it)
{
    for (int axis = 0; axis < 3; axis++)
        free(it->starts[axis]);
    free(it->changes);
    free(it->candidate_cuts);
    free(it->driven);
    free(it->lifted);
}

uint64_t REAL_NAME(surface_rollback_bytes)(const struct surface_contact *it)
{
    return (it->starts[0] ? 3 * it->starts_nodes * sizeof(real) : 0) +
           it->change_capacity * sizeof *it->changes + it->driven_capacity * sizeof *it->driven +
           it->lifted_capacity * sizeof *it->lifted +
           it->candidate_cut_capacity * sizeof *it->candidate_cuts;
}
