// Volume and gas of closed surfaces from the rings of their nodes (plan.h): the body of the
// kernels that are compiled for each instruction set. Positions of a tile and its halo are copied
// into records, four reals each; after that a neighbour costs one load, and four nodes, or two, or
// one, are lanes of a vector. A node's sum goes round its ring, whatever the lanes.
#include <stdalign.h>
#include <string.h>

#include "kernels/kernels.h"
#include "simd/wide.h"
#include "state/reading.h"

struct ring_buffer {
    alignas(64) real records[4 * RING_BUFFER];
    alignas(64) real ax[RING_TILE];
    alignas(64) real ay[RING_TILE];
    alignas(64) real az[RING_TILE];
};

// Lanes after the last node of a tile have arbitrary values; no sum uses them.
static void fill_ring_records(const struct state *s, const struct plan_rings *rings,
                              const struct ring_tile *tile, real *records)
{
    const uint32_t own = ring_tile_groups(tile) * RING_GROUP;
    for (uint32_t i = 0; i < own; i += RING_GROUP) {
        uint64_t node = tile->first_node + i;
        quads_write(records + 4 * (size_t)i, s->x + node, s->y + node, s->z + node);
    }
    const uint32_t *halo = rings->halo + tile->first_halo;
    real *record = records + 4 * (size_t)own;
    for (uint32_t i = 0; i < tile->halo_count; i++, record += 4) {
        record[0] = s->x[halo[i]];
        record[1] = s->y[halo[i]];
        record[2] = s->z[halo[i]];
    }
}

// a x b, turned back once; a x b = turn(a turn(b) - turn(a) b).
static inline quads ring_product(quads a, quads b)
{
    return quads_subtract(quads_multiply(a, quads_rotate(b)), quads_multiply(quads_rotate(a), b));
}

// sum (p_i - p) x (p_{i+1} - p) of one register's nodes, turned back. The products with an odd p_i
// are taken together, so that there are half as many: (p_{i-1} - p_{i+1}) x (p_i - p).
static inline quads ring_sum(const real *records, const uint16_t *entries, int length, quads centre)
{
    const quads first = quads_fetch(records, entries);
    quads before = first, sum = quads_zero();
    for (int position = 1; position < length; position += 2) {
        quads odd = quads_subtract(quads_fetch(records, entries + position * RING_GROUP), centre);
        quads after = position + 1 < length
                          ? quads_fetch(records, entries + (position + 1) * RING_GROUP)
                          : first;
        sum = quads_add(sum, ring_product(quads_subtract(before, after), odd));
        before = after;
    }
    return sum;
}

// Six times the gradient of the volume at the nodes of a tile, into columns.
static void ring_gradients(const struct plan_rings *rings, const struct ring_tile *tile,
                           const real *records, real *ax, real *ay, real *az)
{
    const uint8_t *lengths = rings->lengths + tile->first_group;
    const uint16_t *entries = rings->entries + tile->first_entry;
    const uint32_t groups = ring_tile_groups(tile);
    for (uint32_t group = 0; group < groups; group++) {
        size_t node = (size_t)group * RING_GROUP;
        int length = lengths[group];
        quads sums[QUAD_REGISTERS];
        for (int part = 0; part < QUAD_REGISTERS; part++) {
            quads centre = quads_load(records + 4 * (node + (size_t)(part * QUADS)));
            const uint16_t *ring = entries + part * QUADS;
            quads sum = length == 6 ? ring_sum(records, ring, 6, centre)
                                    : ring_sum(records, ring, length, centre);
            sums[part] = quads_rotate(sum);
        }
        quads_store_columns(ax + node, ay + node, az + node, sums);
        entries += (size_t)length * RING_GROUP;
    }
}

static double ring_volume(const struct system *system, const struct plan_rings *rings,
                          uint64_t number, bool keep)
{
    const struct ring_tile *tile = &rings->tiles[number];
    struct state *s = system->state;
    struct ring_buffer buffer;
    fill_ring_records(s, rings, tile, buffer.records);
    // The nodes that fill up the last group are another body's.
    bool straight = keep && tile->node_count % RING_GROUP == 0;
    real *ax = straight ? s->ax + tile->first_node : buffer.ax;
    real *ay = straight ? s->ay + tile->first_node : buffer.ay;
    real *az = straight ? s->az + tile->first_node : buffer.az;
    ring_gradients(rings, tile, buffer.records, ax, ay, az);
    if (keep && !straight) {
        memcpy(s->ax + tile->first_node, ax, tile->node_count * sizeof *ax);
        memcpy(s->ay + tile->first_node, ay, tile->node_count * sizeof *ay);
        memcpy(s->az + tile->first_node, az, tile->node_count * sizeof *az);
    }
    double origin = (double)s->x[system->topology->bodies[rings->body].first_node];
    return volume_moment(s->x + tile->first_node, ax, tile->node_count, origin);
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
