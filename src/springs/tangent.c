// The tangent of springs in every storage format (tangent.h): divides the nodes into items, and
// selects grid/tangent.c, packed/tangent.c or listed/tangent.c for each.
#include "springs/tangent.h"

#include "base/memory.h"
#include "kernels/kernels.h"

static const struct tangent_grid *grid_of_body(const struct spring_tangent *tangent, size_t body)
{
    for (size_t g = 0; g < tangent->system->plan->grid_count; g++)
        if (tangent->grids[g].grid->body == body)
            return &tangent->grids[g];
    return NULL;
}

static const struct packed_tile *tile_of_node(const struct spring_tangent *tangent, size_t node)
{
    const struct plan *plan = tangent->system->plan;
    return plan->packs ? packed_tile_of_node(&plan->packed, node) : NULL;
}

// The item that starts at this node.
static struct tangent_item item_from(const struct spring_tangent *tangent, size_t node)
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
        end = end - node > TANGENT_ITEM_NODES ? node + TANGENT_ITEM_NODES : end;
        for (size_t i = node; !grid && i < end; i++)
            if (tile_of_node(tangent, i))
                end = i;
    }
    return (struct tangent_item){grid, tile, {node, end}};
}

static taut_status make_items(struct spring_tangent *tangent, taut_error *error)
{
    size_t count = 0;
    for (size_t node = 0; node < (size_t)tangent->system->state->nodes; count++)
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

taut_status REAL_NAME(spring_tangent_make)(struct system *system, struct spring_tangent *tangent,
                                           taut_error *error)
{
    *tangent = (struct spring_tangent){.system = system};
    taut_status status = REAL_NAME(tangent_listed_make)(tangent, error);
    if (status == TAUT_OK)
        status = REAL_NAME(tangent_grids_make)(tangent, error);
    if (status == TAUT_OK)
        status = make_items(tangent, error);
    return status;
}

void REAL_NAME(spring_tangent_refresh)(struct spring_tangent *tangent)
{
    REAL_NAME(tangent_listed_refresh)(tangent);
    REAL_NAME(tangent_grids_refresh)(tangent);
}

void REAL_NAME(spring_tangent_free)(struct spring_tangent *tangent)
{
    if (!tangent->system)
        return;
    REAL_NAME(tangent_grids_free)(tangent);
    REAL_NAME(tangent_listed_free)(tangent);
    memory_release(tangent->system->allocator, tangent->items, tangent->item_count,
                   sizeof *tangent->items);
}

uint64_t REAL_NAME(spring_tangent_bytes)(const struct spring_tangent *tangent)
{
    uint64_t bytes =
        tangent->item_count * sizeof *tangent->items + REAL_NAME(tangent_grids_bytes)(tangent);
    if (tangent->rows.first)
        bytes += ((size_t)tangent->system->state->nodes + 1) * sizeof *tangent->rows.first +
                 tangent->rows.count * sizeof *tangent->rows.ends;
    return bytes;
}

void REAL_NAME(spring_tangent_update)(struct spring_tangent *tangent, struct range rows,
                                      const struct worker *worker)
{
    REAL_NAME(tangent_grids_update)(tangent, rows, worker);
}

void REAL_NAME(spring_tangent_apply)(const struct spring_tangent *tangent,
                                     const struct tangent_item *item, real stiffness, real damping,
                                     struct node_vectors in, struct node_vectors out)
{
    const struct system *system = tangent->system;
    const struct state *s = system->state;
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
    if (item->grid) {
        size_t first = (size_t)item->grid->first_node;
        struct range nodes = {item->nodes.first - first, item->nodes.end - first};
        system->kernels->grid_tangent(item->grid, &product, nodes);
    } else if (item->tile) {
        system->kernels->packed_tangent(system, &product,
                                        (size_t)(item->tile - system->plan->packed.tiles));
    } else {
        REAL_NAME(tangent_listed_apply)(tangent, stiffness, damping, in, out, item->nodes);
    }
}

void REAL_NAME(spring_tangent_blocks)(const struct spring_tangent *tangent,
                                      const struct tangent_item *item, real stiffness, real damping,
                                      real (*blocks)[6])
{
    if (item->grid)
        REAL_NAME(tangent_grid_blocks)
    (tangent, item->grid, stiffness, damping, blocks, item->nodes);
    else if (item->tile)
        REAL_NAME(tangent_packed_blocks)(tangent, item->tile, stiffness, damping, blocks);
    else REAL_NAME(tangent_listed_blocks)(tangent, stiffness, damping, blocks, item->nodes);
}
