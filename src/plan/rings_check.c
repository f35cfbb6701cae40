// Proves rings against faces, from what their kernel reads.
#include "base/memory.h"
#include "plan/ring_corners.h"
#include "plan/rings.h"

// The node at a place of a tile's buffer; false if there is none.
static bool node_at(const struct plan_rings *rings, const struct plan_ring_tile *tile,
                    uint16_t entry, uint32_t *node)
{
    uint32_t place = entry / 4u, own = ring_tile_groups(tile) * RING_GROUP;
    if (entry % 4 != 0 || place >= own + tile->halo_count)
        return false;
    if (place >= own)
        *node = rings->halo[tile->first_halo + place - own];
    else
        *node = (uint32_t)tile->first_node + place;
    return place >= own || place < tile->node_count;
}

// Takes the corner (node, from, to) out of those that are left; false if it is not among them.
static bool take_corner(struct ring_corners *left, uint64_t i, struct ring_corner corner)
{
    for (uint64_t at = left->starts[i]; at < left->starts[i + 1]; at++)
        if (left->items[at].from == corner.from && left->items[at].to == corner.to) {
            left->items[at] = (struct ring_corner){UINT32_MAX, UINT32_MAX};
            left->corner_count--;
            return true;
        }
    return false;
}

// A node's products: those of equal factors are 0; all others must be corners of faces.
static bool check_node(const struct plan_rings *rings, const struct plan_ring_tile *tile,
                       const uint16_t *entries, int length, uint64_t body_first,
                       struct ring_corners *left, uint32_t node)
{
    for (int place = 0; place < length; place++) {
        struct ring_corner corner;
        int next = place + 1 < length ? place + 1 : 0;
        if (!node_at(rings, tile, entries[place * RING_GROUP], &corner.from) ||
            !node_at(rings, tile, entries[next * RING_GROUP], &corner.to))
            return false;
        if (corner.from != corner.to && !take_corner(left, node - body_first, corner))
            return false;
    }
    return true;
}

static bool check_tile(const struct plan_rings *rings, const struct plan_ring_tile *tile,
                       uint64_t body_first, struct ring_corners *left)
{
    const uint16_t *entries = &rings->entries[tile->first_entry];
    for (uint32_t group = 0; group < ring_tile_groups(tile); group++) {
        int length = rings->lengths[tile->first_group + group];
        for (uint32_t lane = 0; lane < RING_GROUP; lane++) {
            uint32_t inside = group * RING_GROUP + lane;
            if (inside < tile->node_count &&
                !check_node(rings, tile, entries + lane, length, body_first, left,
                            (uint32_t)tile->first_node + inside))
                return false;
        }
        entries += (size_t)length * RING_GROUP;
    }
    return true;
}

taut_status rings_check(const struct topology *topology, const struct plan_rings *rings,
                        taut_error *error)
{
    const struct topology_body *body = &topology->bodies[rings->body];
    struct ring_corners left;
    taut_status status = ring_corners_make(topology, body, &left, error);
    uint64_t corners = left.corner_count, next = body->first_node;
    bool right = true;
    for (uint64_t t = 0; status == TAUT_OK && right && t < rings->tile_count; t++) {
        const struct plan_ring_tile *tile = &rings->tiles[t];
        right = tile->first_node == next && tile->node_count > 0 &&
                ring_tile_groups(tile) * RING_GROUP + tile->halo_count <= RING_BUFFER &&
                check_tile(rings, tile, body->first_node, &left);
        next += tile->node_count;
    }
    if (status == TAUT_OK &&
        (!right || left.corner_count > 0 || next != body->first_node + body->node_count))
        status = fail(error, TAUT_ERROR_ARGUMENT, "plan: the rings of body %zu are not its faces",
                      rings->body);
    left.corner_count = corners;
    ring_corners_free(&left);
    return status;
}
