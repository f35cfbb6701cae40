// Diagonal blocks of the tangent of packed springs. The products are in packed/tangent_body.h.
#include "springs/tangent.h"

#include "springs/packed/plan.h"

// A tile, the factors of stiffness and damping, and the blocks to add to.
struct packed_blocks {
    const struct spring_tangent *tangent;
    const struct packed_tile *tile;
    real stiffness, damping;
    real (*blocks)[6];
};

static const real *rest_lengths(const struct system *system)
{
    return system->state->slot_rest ? system->state->slot_rest : system->constants->slot_rest;
}

static void add_spring(const struct packed_blocks *it, size_t node, size_t other, uint32_t material,
                       uint64_t slot)
{
    const struct system *system = it->tangent->system;
    real rest = rest_lengths(system)[slot];
    struct spring_part part;
    if (rest >= 0 && spring_part_of(system->state, it->tangent->kind, node, other,
                                    &system->constants->material[material], rest, it->stiffness,
                                    it->damping, &part))
        block_add(it->blocks[node], part.ux, part.uy, part.uz, part.along, part.across);
}

// The node at the other end of a lane that has a spring.
static size_t other_end(const struct plan_packed *packed, const struct packed_tile *tile,
                        const struct packed_column *column, int lane, size_t node)
{
    if (column->step == 0) {
        uint32_t record = packed->ends[column->group][lane] / PACKED_SCALE;
        return record < tile->own_records
                   ? (size_t)tile->first_node + record
                   : packed->halo[tile->first_halo + record - tile->own_records];
    }
    int64_t step = column->step;
    for (int alternative = 0; alternative < column->alternative_count; alternative++)
        if (packed->alternatives[column->group].lanes[alternative] >> lane & 1)
            step = packed->alternatives[column->group].step[alternative];
    return (size_t)((int64_t)node + step);
}

static void add_column(const struct packed_blocks *it, uint64_t number, size_t first_node)
{
    const struct plan_packed *packed = &it->tangent->system->plan->packed;
    const struct packed_column *column = &packed->columns[number];
    for (int lane = 0; lane < PACKED_LANES; lane++) {
        if (!(column->lanes >> lane & 1))
            continue;
        size_t node = first_node + (size_t)lane;
        uint32_t material = column->material == PACKED_MIXED
                                ? packed->lane_materials[column->mixed][lane]
                                : column->material;
        add_spring(it, node, other_end(packed, it->tile, column, lane, node), material,
                   number * PACKED_LANES + (uint64_t)lane);
    }
}

void REAL_NAME(tangent_packed_blocks)(const struct spring_tangent *tangent,
                                      const struct packed_tile *tile, real stiffness, real damping,
                                      real (*blocks)[6])
{
    const struct plan_packed *packed = &tangent->system->plan->packed;
    const struct packed_blocks it = {tangent, tile, stiffness, damping, blocks};
    for (uint64_t i = 0; i < tile->sell_chunk_count; i++) {
        uint64_t chunk = tile->first_chunk + i;
        size_t first_node = (size_t)(tile->first_node + i * PACKED_LANES);
        for (uint64_t c = packed->chunk_columns[chunk]; c < packed->chunk_columns[chunk + 1]; c++)
            add_column(&it, c, first_node);
    }
    for (uint64_t i = tile->first_overflow; i < tile->first_overflow + tile->overflow_count; i++) {
        const struct packed_overflow *overflow = &packed->overflow[i];
        add_spring(&it, overflow->node, overflow->other, overflow->material,
                   packed->column_count * PACKED_LANES + i);
    }
}
