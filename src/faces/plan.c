// Finds cloths whose faces are computed by rows, makes the vertex rings of closed surfaces, and
// checks the rings against the faces.
#include "faces/plan.h"

#include <string.h>

#include "base/memory.h"
#include "base/sort.h"

// ---- Faces of a cloth

// Shorter rows are computed in blocks, as in springs/grid/plan.c.
enum { ROW_MIN = 4 };

bool face_grid_find(const struct topology *topology, size_t index, struct plan_face_grid *grid)
{
    const struct topology_body *body = &topology->bodies[index];
    *grid = (struct plan_face_grid){index, body->first_node, body->grid[0], body->grid[1]};
    return body->is_sheet && body->grid[0] >= ROW_MIN;
}

// ---- Corners of a body's triangles, sorted by their node: rings are made from them, and checked
// against them

// A triangle (node, from, to).
struct ring_corner {
    uint32_t from, to;
};

// Node i of the body has the corners items[starts[i]] .. items[starts[i + 1] - 1], in the order of
// the faces.
struct ring_corners {
    uint64_t node_count, corner_count;
    uint64_t *starts; // node_count + 1
    struct ring_corner *items;
};

// For a body of triangles. The arrays must be freed also after a failure.
static taut_status ring_corners_make(const struct topology *topology,
                                     const struct topology_body *body, struct ring_corners *corners,
                                     taut_error *error)
{
    *corners =
        (struct ring_corners){.node_count = body->node_count, .corner_count = 3 * body->face_count};
    size_t starts = (size_t)body->node_count + 1;
    corners->starts = memory_allocate(NULL, starts, sizeof *corners->starts);
    corners->items = memory_allocate(NULL, (size_t)corners->corner_count, sizeof *corners->items);
    if (!corners->starts || !corners->items)
        return fail_memory(error, "the plan");
    const uint32_t *nodes = &topology->faces[body->first_listed_face][0];
    for (uint64_t i = 0; i < corners->corner_count; i++)
        corners->starts[nodes[i] - body->first_node + 1]++;
    counting_sort_starts(corners->starts, body->node_count);
    for (uint64_t face = 0; face < body->face_count; face++)
        for (int corner = 0; corner < 3; corner++) {
            const uint32_t *of_face = &nodes[3 * face];
            uint64_t *next = &corners->starts[of_face[corner] - body->first_node + 1];
            corners->items[(*next)++] =
                (struct ring_corner){of_face[(corner + 1) % 3], of_face[(corner + 2) % 3]};
        }
    return TAUT_OK;
}

static void ring_corners_free(struct ring_corners *corners)
{
    memory_release(NULL, corners->starts, (size_t)corners->node_count + 1, sizeof *corners->starts);
    memory_release(NULL, corners->items, (size_t)corners->corner_count, sizeof *corners->items);
}

// ---- Rings

enum { LENGTH_MAX = UINT8_MAX - 1 };

// Orders the corners of a node so that each begins with the neighbour with which the previous one
// ends; false if they do not form one ring.
static bool order_ring(struct ring_corner *corners, uint64_t count)
{
    for (uint64_t i = 0; i + 1 < count; i++) {
        uint64_t next = i + 1;
        while (next < count && corners[next].from != corners[i].to)
            next++;
        if (next == count)
            return false;
        struct ring_corner swapped = corners[i + 1];
        corners[i + 1] = corners[next];
        corners[next] = swapped;
    }
    return count == 0 || corners[count - 1].to == corners[0].from;
}

static bool order_rings(struct ring_corners *corners)
{
    for (uint64_t i = 0; i < corners->node_count; i++) {
        uint64_t count = corners->starts[i + 1] - corners->starts[i];
        if (count > LENGTH_MAX || !order_ring(&corners->items[corners->starts[i]], count))
            return false;
    }
    return true;
}

// ---- Tiles

// The slots of nodes in the buffer of the tile being made.
struct tile_slots {
    const struct topology_body *body;
    uint32_t *tile_seen; // for each node of the body: the number of the last tile (+ 1) whose halo
                         // contains it
    uint16_t *slot_seen; // and its slot there
};

static uint16_t slot_of(const struct tile_slots *slots, const struct ring_tile *tile, uint32_t node)
{
    uint64_t inside = node - tile->first_node;
    return node >= tile->first_node && inside < tile->node_count
               ? (uint16_t)inside
               : slots->slot_seen[node - slots->body->first_node];
}

// Collects the halo of a tile; false if the buffer is too small.
static bool find_halo(const struct ring_corners *corners, struct tile_slots *slots, uint32_t number,
                      struct ring_tile *tile, uint32_t *halo)
{
    const uint64_t first = tile->first_node - slots->body->first_node;
    tile->halo_count = 0;
    for (uint64_t i = first; i < first + tile->node_count; i++) {
        for (uint64_t c = corners->starts[i]; c < corners->starts[i + 1]; c++) {
            uint64_t other = corners->items[c].from - slots->body->first_node;
            if ((other >= first && other < first + tile->node_count) ||
                slots->tile_seen[other] == number)
                continue;
            if (tile->node_count + tile->halo_count == RING_BUFFER)
                return false;
            slots->tile_seen[other] = number;
            slots->slot_seen[other] = (uint16_t)(tile->node_count + tile->halo_count);
            halo[tile->halo_count++] = corners->items[c].from;
        }
    }
    return true;
}

static uint8_t group_length(const struct ring_corners *corners, uint64_t first, uint64_t end)
{
    uint64_t length = 0;
    for (uint64_t i = first; i < end; i++)
        if (corners->starts[i + 1] - corners->starts[i] > length)
            length = corners->starts[i + 1] - corners->starts[i];
    return (uint8_t)(length + length % 2);
}

// Writes a group's entries; lanes beyond the tile's last node read its first one.
static void write_group(const struct ring_corners *corners, const struct tile_slots *slots,
                        const struct ring_tile *tile, uint32_t group, uint8_t length,
                        uint16_t *entries)
{
    for (uint32_t lane = 0; lane < RING_GROUP; lane++) {
        uint32_t inside = group * RING_GROUP + lane;
        uint64_t i = tile->first_node - slots->body->first_node + inside;
        bool real_node = inside < tile->node_count;
        const struct ring_corner *ring = real_node ? &corners->items[corners->starts[i]] : NULL;
        uint64_t count = real_node ? corners->starts[i + 1] - corners->starts[i] : 0;
        uint16_t filler = count > 0 ? slot_of(slots, tile, ring[0].from) : 0;
        for (uint8_t position = 0; position < length; position++) {
            uint16_t at = position < count ? slot_of(slots, tile, ring[position].from) : filler;
            entries[position * RING_GROUP + lane] = (uint16_t)(4 * at);
        }
    }
}

static void write_tile(const struct ring_corners *corners, const struct tile_slots *slots,
                       const struct ring_tile *tile, struct plan_rings *rings)
{
    uint64_t first = tile->first_node - slots->body->first_node, entry = tile->first_entry;
    for (uint32_t group = 0; group < ring_tile_groups(tile); group++) {
        uint64_t begin = first + (uint64_t)group * RING_GROUP, end = begin + RING_GROUP;
        if (end > first + tile->node_count)
            end = first + tile->node_count;
        uint8_t length = group_length(corners, begin, end);
        rings->lengths[tile->first_group + group] = length;
        write_group(corners, slots, tile, group, length, &rings->entries[entry]);
        entry += (uint64_t)length * RING_GROUP;
    }
    rings->entry_count = entry;
}

// A tile that starts at `node`, as large as its buffer allows; false if not even one group fits.
static bool next_tile(const struct ring_corners *corners, struct tile_slots *slots, uint64_t node,
                      uint32_t *number, struct ring_tile *tile, uint32_t *halo)
{
    uint64_t left = slots->body->first_node + slots->body->node_count - node;
    tile->first_node = node;
    for (uint32_t size = RING_TILE; size >= RING_GROUP; size /= 2) {
        tile->node_count = left < size ? (uint32_t)left : size;
        if (find_halo(corners, slots, ++*number, tile, halo))
            return true;
    }
    return false;
}

// Divides the rings into tiles. Called twice: first to count, with only the array of halos, which
// has its maximum length; then, with all arrays allocated, to write.
static bool cut(const struct ring_corners *corners, struct tile_slots *slots, bool write,
                struct plan_rings *rings)
{
    const struct topology_body *body = slots->body;
    uint64_t end = body->first_node + body->node_count;
    uint32_t number = 0, spare[RING_BUFFER] = {0};
    rings->tile_count = rings->halo_count = rings->group_count = rings->entry_count = 0;
    memset(slots->tile_seen, 0, (size_t)body->node_count * sizeof *slots->tile_seen);
    for (uint64_t node = body->first_node; node < end;) {
        struct ring_tile tile = {.first_halo = rings->halo_count,
                                 .first_group = rings->group_count,
                                 .first_entry = rings->entry_count};
        if (!next_tile(corners, slots, node, &number, &tile,
                       write ? &rings->halo[tile.first_halo] : spare))
            return false;
        if (write) {
            rings->tiles[rings->tile_count] = tile;
            write_tile(corners, slots, &tile, rings);
        } else {
            uint64_t first = node - body->first_node, last = first + tile.node_count;
            for (uint64_t i = first; i < last; i += RING_GROUP)
                rings->entry_count +=
                    RING_GROUP * (uint64_t)group_length(
                                     corners, i, i + RING_GROUP < last ? i + RING_GROUP : last);
        }
        rings->tile_count++;
        rings->group_count += ring_tile_groups(&tile);
        rings->halo_count += tile.halo_count;
        node += tile.node_count;
    }
    return true;
}

static bool allocate_rings(const taut_allocator *allocator, struct plan_rings *rings)
{
    rings->tiles = memory_allocate(allocator, (size_t)rings->tile_count, sizeof *rings->tiles);
    rings->halo = memory_allocate(allocator, (size_t)rings->halo_count, sizeof *rings->halo);
    rings->lengths = memory_allocate(allocator, (size_t)rings->group_count, sizeof *rings->lengths);
    rings->entries = memory_allocate(allocator, (size_t)rings->entry_count, sizeof *rings->entries);
    return rings->tiles && rings->halo && rings->lengths && rings->entries;
}

static taut_status make_tiles(const struct ring_corners *corners, const struct topology_body *body,
                              const taut_allocator *allocator, struct plan_rings *rings,
                              taut_error *error)
{
    size_t nodes = (size_t)body->node_count;
    struct tile_slots slots = {.body = body};
    slots.tile_seen = memory_allocate(NULL, nodes, sizeof *slots.tile_seen);
    slots.slot_seen = memory_allocate(NULL, nodes, sizeof *slots.slot_seen);
    bool memory = slots.tile_seen && slots.slot_seen;
    if (memory) {
        rings->found = cut(corners, &slots, false, rings);
        memory = !rings->found || allocate_rings(allocator, rings);
        if (rings->found && memory)
            cut(corners, &slots, true, rings);
    }
    memory_release(NULL, slots.tile_seen, nodes, sizeof *slots.tile_seen);
    memory_release(NULL, slots.slot_seen, nodes, sizeof *slots.slot_seen);
    return memory ? TAUT_OK : fail_memory(error, "the plan");
}

taut_status rings_make(const struct topology *topology, size_t index,
                       const taut_allocator *allocator, struct plan_rings *rings, taut_error *error)
{
    const struct topology_body *body = &topology->bodies[index];
    *rings = (struct plan_rings){.body = index};
    if (!body->closed || body->face_arity != 3 || body->face_count < body->node_count)
        return TAUT_OK;
    struct ring_corners corners;
    taut_status status = ring_corners_make(topology, body, &corners, error);
    if (status == TAUT_OK && order_rings(&corners))
        status = make_tiles(&corners, body, allocator, rings, error);
    ring_corners_free(&corners);
    if (status != TAUT_OK || !rings->found) {
        rings_free(allocator, rings);
        *rings = (struct plan_rings){.body = index};
    }
    return status;
}

void rings_free(const taut_allocator *allocator, struct plan_rings *rings)
{
    memory_release(allocator, rings->tiles, (size_t)rings->tile_count, sizeof *rings->tiles);
    memory_release(allocator, rings->halo, (size_t)rings->halo_count, sizeof *rings->halo);
    memory_release(allocator, rings->lengths, (size_t)rings->group_count, sizeof *rings->lengths);
    memory_release(allocator, rings->entries, (size_t)rings->entry_count, sizeof *rings->entries);
}

void rings_clear(const taut_allocator *allocator, struct plan_rings *rings)
{
    rings_free(allocator, rings);
    *rings = (struct plan_rings){.body = rings->body, .found = rings->found};
}

uint64_t rings_bytes(const struct plan_rings *rings)
{
    return rings->tile_count * sizeof *rings->tiles + rings->halo_count * sizeof *rings->halo +
           rings->group_count * sizeof *rings->lengths +
           rings->entry_count * sizeof *rings->entries;
}

int ring_walk_next(struct ring_walk *walk, uint32_t *nodes)
{
    const struct plan_rings *rings = walk->rings;
    if (walk->tile == rings->tile_count)
        return 0;
    const struct ring_tile *tile = &rings->tiles[walk->tile];
    const int length = rings->lengths[tile->first_group + walk->group];
    for (int i = 0; i < length * RING_GROUP; i++) {
        uint32_t slot = rings->entries[walk->entry++] / 4u;
        nodes[i] = slot < tile->node_count
                       ? (uint32_t)(tile->first_node + slot)
                       : rings->halo[tile->first_halo + slot - tile->node_count];
    }
    if (++walk->group == ring_tile_groups(tile)) {
        walk->group = 0;
        walk->tile++;
    }
    return length;
}

int rings_longest(const struct plan_rings *rings)
{
    int longest = 0;
    for (uint64_t group = 0; group < rings->group_count; group++)
        if (rings->lengths[group] > longest)
            longest = rings->lengths[group];
    return longest;
}

// ---- Check

// The node at a slot of a tile's buffer; false if there is none.
static bool node_at(const struct plan_rings *rings, const struct ring_tile *tile, uint16_t entry,
                    uint32_t *node)
{
    uint32_t slot = entry / 4u;
    if (entry % 4 != 0 || slot >= tile->node_count + tile->halo_count)
        return false;
    if (slot < tile->node_count)
        *node = (uint32_t)tile->first_node + slot;
    else
        *node = rings->halo[tile->first_halo + slot - tile->node_count];
    return true;
}

// Removes the corner (node, from, to) from the remaining ones; false if it is not among them.
static bool remove_corner(struct ring_corners *left, uint64_t i, struct ring_corner corner)
{
    for (uint64_t at = left->starts[i]; at < left->starts[i + 1]; at++)
        if (left->items[at].from == corner.from && left->items[at].to == corner.to) {
            left->items[at] = (struct ring_corner){UINT32_MAX, UINT32_MAX};
            left->corner_count--;
            return true;
        }
    return false;
}

// Checks the products of a node: those of equal factors are 0; all others must be corners of faces.
static bool check_node(const struct plan_rings *rings, const struct ring_tile *tile,
                       const uint16_t *entries, int length, uint64_t body_first,
                       struct ring_corners *left, uint32_t node)
{
    for (int position = 0; position < length; position++) {
        struct ring_corner corner;
        int next = position + 1 < length ? position + 1 : 0;
        if (!node_at(rings, tile, entries[position * RING_GROUP], &corner.from) ||
            !node_at(rings, tile, entries[next * RING_GROUP], &corner.to))
            return false;
        if (corner.from != corner.to && !remove_corner(left, node - body_first, corner))
            return false;
    }
    return true;
}

static bool check_ring_tile(const struct plan_rings *rings, const struct ring_tile *tile,
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
        const struct ring_tile *tile = &rings->tiles[t];
        right = tile->first_node == next && tile->node_count > 0 &&
                tile->node_count + tile->halo_count <= RING_BUFFER &&
                check_ring_tile(rings, tile, body->first_node, &left);
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
