// Statistics of the plan for each body, which `taut info` prints; no computation depends on them.
#include "springs/plan.h"

// Counts the lanes of one chunk of packed springs, for the bodies of its nodes.
static void count_chunk(const struct topology *topology, const struct plan_packed *packed,
                        uint64_t chunk, uint64_t first_node, uint64_t count,
                        struct plan_statistics *bodies)
{
    uint64_t start = packed->chunk_columns[chunk], end = packed->chunk_columns[chunk + 1];
    for (uint64_t lane = 0; lane < count; lane++) {
        struct plan_statistics *plan = &bodies[topology_body_of_node(topology, first_node + lane)];
        plan->lanes += end - start;
        for (uint64_t c = start; c < end; c++)
            plan->filled += packed->columns[c].lanes >> lane & 1;
    }
}

// Counts a tile of packed springs for each body on no grid that has nodes in it.
static void count_packed_tile(const struct topology *topology, const struct plan *plan,
                              const struct packed_tile *tile, struct plan_statistics *bodies)
{
    size_t last = topology_body_of_node(topology, tile->first_node + tile->node_count - 1);
    for (size_t b = topology_body_of_node(topology, tile->first_node); b <= last; b++)
        if (!plan_grid_of_body(plan, b)) {
            bodies[b].tiles++;
            bodies[b].colours = 1;
        }
    for (uint64_t i = 0; i < tile->sell_chunk_count; i++) {
        uint64_t done = i * PACKED_LANES, left = tile->node_count - done;
        count_chunk(topology, &plan->packed, tile->first_chunk + i, tile->first_node + done,
                    left < PACKED_LANES ? left : PACKED_LANES, bodies);
    }
}

// Counts a block, of a colour or of the overflow, for one of its bodies.
static void count_block(const struct plan *plan, uint32_t number, int colour,
                        struct plan_statistics *body)
{
    const struct plan_set *set = &plan->springs;
    const struct plan_coloured *coloured = &plan->coloured;
    body->tiles++;
    body->coloured = true;
    if (colour < set->colour_count) {
        body->colours = colour + 1;
        body->colour_blocks[colour]++;
    } else {
        body->overflow_blocks++;
        body->overflow_springs += set->blocks[number].count;
    }
    if (coloured->block_count == 0)
        return;
    const struct coloured_block *block = &coloured->blocks[number];
    body->plain_blocks += block->local_count == 0;
    for (uint64_t g = block->first_group; g < block->first_group + block->group_count; g++) {
        uint64_t springs = coloured->group_start[g + 1] - coloured->group_start[g];
        body->lanes += (springs + PACKED_LANES - 1) / PACKED_LANES * PACKED_LANES;
        body->filled += springs;
    }
}

// Counts blocks of springs as tiles, for the bodies from that of a block's first spring to that of
// its last. The colours of a body are those up to the highest of its blocks.
static void count_blocks(const struct topology *topology, const struct plan *plan,
                         struct plan_statistics *bodies)
{
    const struct plan_set *set = &plan->springs;
    int colour = 0;
    for (uint32_t block = 0; block < set->block_count; block++) {
        while (colour < set->colour_count && block >= set->colour_start[colour + 1])
            colour++;
        uint64_t first = set->blocks[block].first, last = first + set->blocks[block].count - 1;
        size_t end = topology_body_of_spring(topology, plan_element(set, last));
        for (size_t b = topology_body_of_spring(topology, plan_element(set, first)); b <= end; b++)
            count_block(plan, block, colour, &bodies[b]);
    }
}

void plan_count_bodies(const struct topology *topology, const struct plan *plan,
                       struct plan_statistics *bodies)
{
    for (size_t g = 0; g < plan->grid_count; g++) {
        const struct plan_grid *grid = &plan->grids[g];
        struct plan_statistics *body = &bodies[grid->body];
        body->nodes[0] = grid->nx;
        body->nodes[1] = grid->ny;
        body->nodes[2] = grid->nz;
        body->tiles = tiling_tile_count(&grid->tiling);
        body->colours = 1;
    }
    for (uint64_t t = 0; t < plan->packed.tile_count; t++)
        count_packed_tile(topology, plan, &plan->packed.tiles[t], bodies);
    for (uint64_t i = 0; i < plan->packed.overflow_count; i++)
        bodies[topology_body_of_node(topology, plan->packed.overflow[i].node)].overflow_ends++;
    if (!plan->packs && !plan->reference)
        count_blocks(topology, plan, bodies);
    for (size_t b = 0; plan->reference && b < topology->body_count; b++)
        bodies[b].tiles = bodies[b].colours = topology->bodies[b].spring_count > 0;
}
