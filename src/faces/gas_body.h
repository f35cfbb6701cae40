// The kernels of volume and gas on vertex rings (plan.h), compiled for each instruction set by
// kernels/table.h. Positions of a tile and its halo are copied into records of four reals, from
// which a register of nodes gathers one neighbour of each at a time. The sum of a node follows its
// ring whatever the number of lanes. The pressure itself is computed in gas.c.
#include "kernels/kernels.h"
#include "simd/wide.h"
#include "simd/wide3.h"
#include "state/reading.h"

static inline void fill_ring_records(const struct state *s, const struct plan_rings *rings,
                                     const struct ring_tile *tile, real *records)
{
    const uint32_t *halo = rings->halo + tile->first_halo;
    for (size_t i = 0; i < tile->node_count; i++, records += 4) {
        records[0] = s->x[tile->first_node + i];
        records[1] = s->y[tile->first_node + i];
        records[2] = s->z[tile->first_node + i];
        records[3] = 0;
    }
    for (size_t i = 0; i < tile->halo_count; i++, records += 4) {
        records[0] = s->x[halo[i]];
        records[1] = s->y[halo[i]];
        records[2] = s->z[halo[i]];
        records[3] = 0;
    }
}

WIDE_INLINE struct wide3 ring_neighbours(const real *records, const uint16_t *entries)
{
    struct wide3 x;
    wide_records_4(records, entries, &x.x, &x.y, &x.z);
    return x;
}

// sum (p_i - p) x (p_{i+1} - p) for a register of nodes. The products with an odd p_i are combined,
// which halves their number: (p_{i-1} - p_{i+1}) x (p_i - p). `length` is even.
WIDE_INLINE struct wide3 ring_sum(const real *records, const uint16_t *entries, int length,
                                  struct wide3 centre)
{
    if (length == 0) // no node of the group is on the surface
        return wide3_zero();
    const struct wide3 first = ring_neighbours(records, entries);
    struct wide3 before = first, sum = wide3_zero();
    for (int position = 1; position < length; position += 2) {
        const uint16_t *at = entries + position * RING_GROUP;
        struct wide3 odd = wide3_subtract(ring_neighbours(records, at), centre);
        struct wide3 after =
            position + 1 < length ? ring_neighbours(records, at + RING_GROUP) : first;
        sum = wide3_add(sum, wide3_cross(wide3_subtract(before, after), odd));
        before = after;
    }
    return sum;
}

// Six times the gradient of the volume at the nodes of a tile: written to the state if `keep`,
// otherwise only its x component to ax.
WIDE_INLINE void ring_gradients(struct state *s, const struct plan_rings *rings,
                                const struct ring_tile *tile, const real *records, bool keep,
                                real *ax)
{
    const uint8_t *lengths = rings->lengths + tile->first_group;
    const uint16_t *entries = rings->entries + tile->first_entry;
    for (uint32_t done = 0; done < tile->node_count; done += RING_GROUP) {
        const int length = lengths[done / RING_GROUP];
        for (int lane = 0; lane < RING_GROUP; lane += WIDE_LANES) {
            const long left = (long)tile->node_count - (long)done - lane;
            if (left <= 0)
                break;
            const int64_t node = (int64_t)tile->first_node + done + lane;
            struct wide3 centre = wide3_load(s->x, s->y, s->z, node);
            struct wide3 sum = length == 6 ? ring_sum(records, entries + lane, 6, centre)
                                           : ring_sum(records, entries + lane, length, centre);
            if (keep)
                wide3_store_first(s->ax, s->ay, s->az, node, sum, left);
            else
                wide_store(ax + done + lane, sum.x);
        }
        entries += (size_t)length * RING_GROUP;
    }
}

static double ring_volume(const struct system *system, const struct plan_rings *rings,
                          uint64_t number, bool keep)
{
    _Alignas(64) real records[4 * RING_BUFFER];
    _Alignas(64) real ax[RING_TILE];
    const struct ring_tile *tile = &rings->tiles[number];
    struct state *s = system->state;
    fill_ring_records(s, rings, tile, records);
    if (keep)
        ring_gradients(s, rings, tile, records, true, ax);
    else
        ring_gradients(s, rings, tile, records, false, ax);
    double origin = (double)s->x[system->topology->bodies[rings->body].first_node];
    return volume_partial_sum(s->x + tile->first_node, keep ? s->ax + tile->first_node : ax,
                              tile->node_count, origin);
}

static void gas_force(const struct system *system, real factor, struct range nodes)
{
    struct state *s = system->state;
    real *restrict fx = s->fx, *restrict fy = s->fy, *restrict fz = s->fz;
    const real *restrict ax = s->ax, *restrict ay = s->ay, *restrict az = s->az;
    for (size_t i = nodes.first; i < nodes.end; i++) {
        fx[i] += factor * ax[i];
        fy[i] += factor * ay[i];
        fz[i] += factor * az[i];
    }
}
