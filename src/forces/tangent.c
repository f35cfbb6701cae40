#include "forces/tangent_parts.h"

#include <string.h>

#include "base/memory.h"
#include "base/search.h"

// Nodes at a time: few enough that what they read stays near.
enum { NODES_AT_ONCE = 2048 };

static const struct tangent_grid *grid_of_body(const struct tangent *tangent, size_t body)
{
    for (size_t g = 0; g < tangent->system->plan->grid_count; g++)
        if (tangent->grids[g].grid->body == body)
            return &tangent->grids[g];
    return NULL;
}

static const struct packed_tile *tile_of_node(const struct tangent *tangent, size_t node)
{
    const struct plan *plan = tangent->system->plan;
    return plan->packs ? packed_tile_of_node(&plan->packed, node) : NULL;
}

// The item that begins with this node.
static struct tangent_item item_from(const struct tangent *tangent, size_t node)
{
    const struct topology *topology = tangent->system->topology;
    size_t index = topology_body_of_node(topology, node);
    const struct topology_body *body = &topology->bodies[index];
    size_t end = (size_t)(body->first_node + body->node_count);
    const struct tangent_grid *grid = grid_of_body(tangent, index);
    const struct packed_tile *tile = grid ? NULL : tile_of_node(tangent, node);
    if (tile) {
        end = (size_t)(tile->first_node + tile->node_count);
    } else {
        end = end - node > NODES_AT_ONCE ? node + NODES_AT_ONCE : end;
        for (size_t i = node; !grid && i < end; i++)
            if (tile_of_node(tangent, i))
                end = i;
    }
    return (struct tangent_item){grid, tile, {node, end}};
}

static taut_status make_items(struct tangent *tangent, taut_error *error)
{
    size_t count = 0;
    for (size_t node = 0; node < tangent->nodes; count++)
        node = item_from(tangent, node).nodes.end;
    tangent->items = memory_allocate(tangent->system->allocator, count, sizeof *tangent->items);
    if (!tangent->items)
        return fail_memory(error, "the tangent");
    tangent->item_count = count;
    size_t node = 0;
    for (size_t i = 0; i < count; i++) {
        tangent->items[i] = item_from(tangent, node);
        node = tangent->items[i].nodes.end;
    }
    return TAUT_OK;
}

taut_status REAL_NAME(tangent_make)(struct system *system, struct tangent **result,
                                    taut_error *error)
{
    *result = NULL;
    struct tangent *tangent = memory_allocate(system->allocator, 1, sizeof *tangent);
    if (!tangent)
        return fail_memory(error, "the tangent");
    tangent->system = system;
    tangent->nodes = (size_t)system->state->nodes;
    taut_status status = REAL_NAME(tangent_springs_make)(tangent, error);
    if (status == TAUT_OK)
        status = REAL_NAME(tangent_grids_make)(tangent, error);
    if (status == TAUT_OK)
        status = make_items(tangent, error);
    if (status == TAUT_OK)
        status = REAL_NAME(tangent_contacts_make)(tangent, error);
    if (status == TAUT_OK)
        status = REAL_NAME(tangent_faces_make)(tangent, error);
    if (status != TAUT_OK) {
        REAL_NAME(tangent_free)(tangent);
        return status;
    }
    *result = tangent;
    return TAUT_OK;
}

void REAL_NAME(tangent_free)(struct tangent *tangent)
{
    if (!tangent)
        return;
    REAL_NAME(tangent_faces_free)(tangent);
    REAL_NAME(tangent_contacts_free)(tangent);
    REAL_NAME(tangent_grids_free)(tangent);
    REAL_NAME(tangent_springs_free)(tangent);
    memory_release(tangent->system->allocator, tangent->items, tangent->item_count,
                   sizeof *tangent->items);
    memory_release(tangent->system->allocator, tangent, 1, sizeof *tangent);
}

uint64_t REAL_NAME(tangent_bytes)(const struct tangent *tangent)
{
    uint64_t bytes = sizeof *tangent + tangent->item_count * sizeof *tangent->items +
                     REAL_NAME(tangent_grids_bytes)(tangent) +
                     REAL_NAME(tangent_faces_bytes)(tangent);
    if (tangent->springs.first)
        bytes += (tangent->nodes + 1) * sizeof *tangent->springs.first +
                 tangent->springs.count * sizeof *tangent->springs.ends;
    if (tangent->contacts)
        bytes += tangent->nodes * (sizeof *tangent->contacts + sizeof *tangent->touching);
    return bytes;
}

void REAL_NAME(tangent_update)(struct tangent *tangent, enum tangent_kind kind,
                               struct moment moment, const struct worker *worker)
{
    worker_barrier(worker); // all have done with what the last update left
    if (worker->index == 0)
        tangent->kind = kind;
    worker_barrier(worker);
    REAL_NAME(tangent_grids_update)(tangent, worker);
    REAL_NAME(tangent_contacts_update)
    (tangent, moment.time, node_share(tangent->system, worker));
    REAL_NAME(tangent_faces_update)(tangent, moment, worker);
    worker_barrier(worker);
}

static void add_drag(const struct tangent *tangent, real damping, struct node_vectors in,
                     struct node_vectors out, struct range nodes)
{
    const real drag = damping * (real)tangent->system->topology->environment.air_drag;
    if (drag == 0)
        return;
    for (size_t node = nodes.first; node < nodes.end; node++) {
        out.x[node] += drag * in.x[node];
        out.y[node] += drag * in.y[node];
        out.z[node] += drag * in.z[node];
    }
}

// The place in the list of fixed nodes of the first that is not below this one.
static size_t first_fixed(const struct topology *topology, size_t node)
{
    return first_not_below(topology->fixed, (size_t)topology->fixed_count, node);
}

static void clear_fixed(const struct tangent *tangent, struct node_vectors out, struct range nodes)
{
    const struct topology *topology = tangent->system->topology;
    for (size_t i = first_fixed(topology, nodes.first);
         i < (size_t)topology->fixed_count && topology->fixed[i] < nodes.end; i++)
        out.x[topology->fixed[i]] = out.y[topology->fixed[i]] = out.z[topology->fixed[i]] = 0;
}

static void multiply_springs(const struct tangent *tangent, const struct tangent_product *product,
                             struct node_vectors in, struct node_vectors out,
                             const struct tangent_item *item)
{
    if (item->grid) {
        size_t first = (size_t)item->grid->first_node;
        struct range nodes = {item->nodes.first - first, item->nodes.end - first};
        tangent->system->kernels->tangent_grid(item->grid, product, nodes);
    } else if (item->tile) {
        const struct system *system = tangent->system;
        system->kernels->tangent_packed(system, product,
                                        (size_t)(item->tile - system->plan->packed.tiles));
    } else {
        REAL_NAME(tangent_springs_apply)
        (tangent, product->stiffness, product->damping, in, out, item->nodes);
    }
}

void REAL_NAME(tangent_apply)(struct tangent *tangent, real stiffness, real damping,
                              struct node_vectors in, struct node_vectors out,
                              const struct worker *worker)
{
    const struct state *s = tangent->system->state;
    const struct tangent_product product = {
        .x = s->x,
        .y = s->y,
        .z = s->z,
        .in = {in.x, in.y, in.z},
        .out = {out.x, out.y, out.z},
        .stiffness = stiffness,
        .damping = damping,
        .floor = tangent->kind == TANGENT_DEFINITE ? 0 : -(real)INFINITY,
    };
    REAL_NAME(tangent_faces_push)(tangent, stiffness, damping, in, worker);
    REAL_NAME(tangent_gas_squeeze)(tangent, in, worker);
    struct range range;
    while (worker_take(worker, tangent->item_count, 1, &range)) {
        const struct tangent_item *item = &tangent->items[range.first];
        multiply_springs(tangent, &product, in, out, item);
        REAL_NAME(tangent_contacts_apply)(tangent, stiffness, damping, in, out, item->nodes);
        REAL_NAME(tangent_faces_apply)(tangent, out, item->nodes);
        REAL_NAME(tangent_gas_apply)(tangent, stiffness, out, item->nodes);
        add_drag(tangent, damping, in, out, item->nodes);
        clear_fixed(tangent, out, item->nodes);
    }
    worker_barrier(worker);
}

static void fill_blocks(const struct tangent *tangent, real stiffness, real damping,
                        real (*blocks)[6], const struct tangent_item *item)
{
    const real drag = damping * (real)tangent->system->topology->environment.air_drag;
    const real *free_node = tangent->system->constants->inverse_mass;
    const struct range nodes = item->nodes;
    for (size_t node = nodes.first; node < nodes.end; node++) {
        memset(blocks[node], 0, sizeof blocks[node]);
        block_add(blocks[node], 0, 0, 0, drag, drag);
    }
    if (item->grid) {
        REAL_NAME(tangent_grid_blocks)(tangent, item->grid, stiffness, damping, blocks, nodes);
    } else if (item->tile) {
        REAL_NAME(tangent_packed_blocks)(tangent, item->tile, stiffness, damping, blocks);
    } else {
        REAL_NAME(tangent_springs_blocks)(tangent, stiffness, damping, blocks, nodes);
    }
    REAL_NAME(tangent_contacts_blocks)(tangent, stiffness, damping, blocks, nodes);
    REAL_NAME(tangent_faces_blocks)(tangent, stiffness, damping, blocks, nodes);
    for (size_t node = nodes.first; node < nodes.end; node++)
        if (free_node[node] == 0)
            memset(blocks[node], 0, sizeof blocks[node]);
}

void REAL_NAME(tangent_blocks)(struct tangent *tangent, real stiffness, real damping,
                               real (*blocks)[6], const struct worker *worker)
{
    struct range range;
    while (worker_take(worker, tangent->item_count, 1, &range))
        fill_blocks(tangent, stiffness, damping, blocks, &tangent->items[range.first]);
    worker_barrier(worker);
}
