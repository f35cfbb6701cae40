// The plan proves itself: complete, conflict-free, in range.
#include "plan/plan.h"

#include "base/memory.h"

// Every element of the plan is one of `count`, none stands twice, and blocks cover them.
static taut_status check_complete(const struct plan_set *set, uint64_t count, const char *what,
                                  taut_error *error)
{
    size_t room = set->element_count ? (size_t)count : 0;
    uint8_t *seen = memory_allocate(NULL, room, 1);
    if (!seen)
        return fail_memory(error, "checking the plan");
    taut_status status = TAUT_OK;
    for (uint64_t i = 0; i < set->element_count && status == TAUT_OK; i++) {
        uint32_t element = plan_element(set, i);
        if (element >= count || seen[element])
            status = fail(error, TAUT_ERROR_ARGUMENT, "plan: %s %lu stands twice or out of range",
                          what, (unsigned long)element);
        else
            seen[element] = 1;
    }
    memory_release(NULL, seen, room, 1);
    uint64_t covered = 0;
    for (uint32_t b = 0; b < set->block_count && status == TAUT_OK; b++) {
        if (set->blocks[b].first != covered)
            status = fail(error, TAUT_ERROR_ARGUMENT, "plan: a gap before %s block %lu", what,
                          (unsigned long)b);
        covered += set->blocks[b].count;
    }
    if (status == TAUT_OK && covered != set->element_count)
        status = fail(error, TAUT_ERROR_ARGUMENT, "plan: blocks cover %llu of %llu %ss",
                      (unsigned long long)covered, (unsigned long long)set->element_count, what);
    return status;
}

static bool same_directions(const struct plan_grid *a, const struct plan_grid *b)
{
    bool same = a->direction_count == b->direction_count;
    for (int d = 0; same && d < a->direction_count; d++) {
        const struct plan_direction *p = &a->directions[d], *q = &b->directions[d];
        same = p->dx == q->dx && p->dy == q->dy && p->dz == q->dz && p->offset == q->offset &&
               p->material == q->material && p->rest_length == q->rest_length;
    }
    return same;
}

// What is in no block belongs to grids, and every grid is found again from its springs.
static taut_status check_spring_grids(const struct topology *topology, const struct plan *plan,
                                      taut_error *error)
{
    uint64_t springs = plan->springs.element_count;
    for (size_t g = 0; g < plan->grid_count; g++) {
        const struct plan_grid *grid = &plan->grids[g];
        struct plan_grid found;
        bool is_grid;
        taut_status status = grid_find(topology, grid->body, &found, &is_grid, error);
        if (status != TAUT_OK)
            return status;
        if (!is_grid || !same_directions(&found, grid))
            return fail(error, TAUT_ERROR_ARGUMENT,
                        "plan: body %zu is not the grid it is taken for", grid->body);
        if (g > 0 && plan->grids[g - 1].body >= grid->body)
            return fail(error, TAUT_ERROR_ARGUMENT, "plan: grids out of order");
        springs += topology->bodies[grid->body].spring_count;
    }
    for (uint64_t i = 0; plan->grid_count > 0 && i < plan->springs.element_count; i++)
        if (plan_grid_of_body(plan,
                              topology_body_of_spring(topology, plan_element(&plan->springs, i))))
            return fail(error, TAUT_ERROR_ARGUMENT, "plan: spring %lu is in a block and in a grid",
                        (unsigned long)plan_element(&plan->springs, i));
    uint64_t places = plan->springs.element_count;
    for (size_t g = 0; g < plan->grid_count; g++)
        if (plan->grids[g].remembers) {
            if (plan->grids[g].first_place != places)
                return fail(error, TAUT_ERROR_ARGUMENT, "plan: places of grids out of order");
            places += topology->bodies[plan->grids[g].body].spring_count;
        }
    if (places != plan->place_count)
        return fail(error, TAUT_ERROR_ARGUMENT, "plan: %llu places of %llu",
                    (unsigned long long)places, (unsigned long long)plan->place_count);
    if (springs != topology->spring_count)
        return fail(error, TAUT_ERROR_ARGUMENT, "plan: blocks and grids have %llu of %llu springs",
                    (unsigned long long)springs, (unsigned long long)topology->spring_count);
    return TAUT_OK;
}

// Rows and layers of the tiles follow one another without a gap, tiles are numbered through, and
// springs reach no further than the next tile.
static bool is_tiled(const struct plan_tiling *tiling, uint64_t first_tile)
{
    bool sound = tiling_is_sound(tiling) && tiling->first_tile == first_tile;
    uint64_t rows = 0, count = tiling_tile_count(tiling);
    for (uint64_t t = 0; sound && t < count; t++) {
        struct plan_tile tile = tiling_tile(tiling, t);
        sound = tile.j0 < tile.j1 && tile.j1 <= tiling->ny && tile.k0 < tile.k1 &&
                tile.k1 <= tiling->nz;
        rows += (tile.j1 - tile.j0) * (tile.k1 - tile.k0);
    }
    return sound && rows == tiling->ny * tiling->nz;
}

// Every node is a grid's or loose, once.
static taut_status check_tiles(const struct topology *topology, const struct plan *plan,
                               taut_error *error)
{
    uint64_t tiles = 0, nodes = 0;
    for (size_t g = 0; g < plan->grid_count; g++) {
        const struct plan_tiling *tiling = &plan->grids[g].tiling;
        if (!is_tiled(tiling, tiles))
            return fail(error, TAUT_ERROR_ARGUMENT, "plan: grid %zu is not cut into tiles", g);
        tiles += tiling_tile_count(tiling);
        nodes += tiling->nx * tiling->ny * tiling->nz;
    }
    uint64_t end = 0;
    for (size_t i = 0; i < plan->loose_count; i++) {
        const struct plan_nodes *loose = &plan->loose[i];
        for (uint64_t n = loose->first; n < loose->first + loose->count; n++)
            if (plan_grid_of_body(plan, topology_body_of_node(topology, n)) || n < end)
                return fail(error, TAUT_ERROR_ARGUMENT, "plan: node %llu is not loose",
                            (unsigned long long)n);
        end = loose->first + loose->count;
        nodes += loose->count;
    }
    if (tiles != plan->tile_count || nodes != topology->node_count)
        return fail(error, TAUT_ERROR_ARGUMENT, "plan: tiles and loose nodes leave something out");
    return TAUT_OK;
}

// The same of faces.
static taut_status check_face_grids(const struct topology *topology, const struct plan *plan,
                                    taut_error *error)
{
    for (size_t g = 0; g < plan->face_grid_count; g++) {
        const struct plan_face_grid *grid = &plan->face_grids[g];
        struct plan_face_grid found;
        if (!face_grid_find(topology, grid->body, &found) || found.first_node != grid->first_node ||
            found.nx != grid->nx || found.ny != grid->ny)
            return fail(error, TAUT_ERROR_ARGUMENT,
                        "plan: the faces of body %zu are not the grid they are taken for",
                        grid->body);
        if (g > 0 && plan->face_grids[g - 1].body >= grid->body)
            return fail(error, TAUT_ERROR_ARGUMENT, "plan: grids of faces out of order");
    }
    return TAUT_OK;
}

// Blocks have the faces that something acts on, but for those of grids and those that rings stand
// for.
static taut_status check_blocked_faces(const struct topology *topology, const struct plan *plan,
                                       taut_error *error)
{
    uint64_t expected = 0;
    for (size_t body = 0; body < topology->body_count; body++)
        if (plan_faces_in_blocks(topology, plan, body))
            expected += topology->bodies[body].face_count;
    for (uint64_t i = 0; i < plan->faces.element_count; i++) {
        size_t body = topology_body_of_face(topology, plan_element(&plan->faces, i));
        if (!plan_faces_in_blocks(topology, plan, body))
            return fail(error, TAUT_ERROR_ARGUMENT, "plan: face %lu is not to be in a block",
                        (unsigned long)plan_element(&plan->faces, i));
    }
    if (plan->faces.element_count != expected)
        return fail(error, TAUT_ERROR_ARGUMENT, "plan: blocks have %llu of %llu faces",
                    (unsigned long long)plan->faces.element_count, (unsigned long long)expected);
    return TAUT_OK;
}

// The nodes of an element of the plan, up to three; FACE_EDGE where there is none.
static void nodes_of(const struct topology *topology, bool faces, uint32_t element,
                     struct spring_run *near, uint32_t nodes[3])
{
    if (faces) {
        struct face face = topology_face(topology, element);
        for (int corner = 0; corner < 3; corner++)
            nodes[corner] = face.nodes[corner];
        return;
    }
    struct spring_run spring = topology_spring_near(topology, element, near);
    nodes[0] = spring.a;
    nodes[1] = spring.b;
    nodes[2] = FACE_EDGE;
}

// owner[node] is the last block (+ 1) that touched the node; within one colour it must not change.
static taut_status check_colour(const struct topology *topology, const struct plan_set *set,
                                bool faces, int colour, uint32_t *owner, taut_error *error)
{
    uint32_t first = set->colour_start[colour], end = set->colour_start[colour + 1];
    struct spring_run near = {0};
    for (uint32_t b = first; b < end; b++) {
        const struct plan_block *block = &set->blocks[b];
        for (uint64_t i = block->first; i < block->first + block->count; i++) {
            uint32_t nodes[3];
            nodes_of(topology, faces, plan_element(set, i), &near, nodes);
            for (int corner = 0; corner < 3; corner++) {
                uint32_t node = nodes[corner];
                if (node == FACE_EDGE)
                    continue;
                if (owner[node] > first && owner[node] != b + 1)
                    return fail(error, TAUT_ERROR_ARGUMENT,
                                "plan: %s blocks %lu and %lu of colour %d share node %lu",
                                faces ? "face" : "spring", (unsigned long)owner[node] - 1,
                                (unsigned long)b, colour, (unsigned long)node);
                owner[node] = b + 1;
            }
        }
    }
    return TAUT_OK;
}

static taut_status check_set(const struct topology *topology, const struct plan_set *set,
                             bool faces, taut_error *error)
{
    const char *what = faces ? "face" : "spring";
    uint64_t count = faces ? topology->face_count : topology->spring_count;
    taut_status status = check_complete(set, count, what, error);
    if (status != TAUT_OK)
        return status;
    if (set->colour_start[0] != 0 || set->colour_start[set->colour_count + 1] != set->block_count)
        return fail(error, TAUT_ERROR_ARGUMENT, "plan: colours do not cover the %s blocks", what);
    for (int colour = 0; colour <= set->colour_count; colour++)
        if (set->colour_start[colour] > set->colour_start[colour + 1])
            return fail(error, TAUT_ERROR_ARGUMENT, "plan: colour %d of the %s blocks ends first",
                        colour, what);
    size_t node_count = (size_t)topology->node_count;
    uint32_t *owner = memory_allocate(NULL, node_count, sizeof *owner);
    if (!owner)
        return fail_memory(error, "checking the plan");
    for (int colour = 0; colour < set->colour_count && status == TAUT_OK; colour++)
        status = check_colour(topology, set, faces, colour, owner, error);
    memory_release(NULL, owner, node_count, sizeof *owner);
    return status;
}

taut_status plan_check(const struct topology *topology, const struct plan *plan, taut_error *error)
{
    taut_status status = check_set(topology, &plan->springs, false, error);
    if (status == TAUT_OK)
        status = check_set(topology, &plan->faces, true, error);
    // Rings first: packed springs are held against them.
    for (size_t body = 0; body < topology->body_count && status == TAUT_OK; body++)
        if (plan_rings_of_body(plan, body) &&
            (plan->rings[body].tiles || !packed_ring_tiles(&plan->packed, topology, body)))
            status = rings_check(topology, &plan->rings[body], error);
    if (status == TAUT_OK)
        status = packed_check(topology, plan, error);
    if (status == TAUT_OK)
        status = check_spring_grids(topology, plan, error);
    if (status == TAUT_OK)
        status = check_face_grids(topology, plan, error);
    if (status == TAUT_OK)
        status = check_blocked_faces(topology, plan, error);
    if (status == TAUT_OK)
        status = check_tiles(topology, plan, error);
    for (uint64_t i = 0; i < plan->fragile_count && status == TAUT_OK; i++)
        if (plan->fragile[i] >= plan->springs.element_count ||
            (i > 0 && plan->fragile[i] <= plan->fragile[i - 1]))
            status = fail(error, TAUT_ERROR_ARGUMENT, "plan: fragile springs out of order");
    return status;
}
