// Decides the storage format of each body's springs and faces (plan.h), and checks the finished
// plan: complete, free of conflicts, in range. How a grid is recognised, springs are packed and
// blocks are coloured is in the folders of the formats.
#include "springs/plan.h"

#include <string.h>

#include "base/memory.h"
#include "base/sort.h"
#include "parallel/team.h"

// Nodes per tile of coloured blocks and packed springs. Small scenes get small tiles, so that there
// are enough for many threads; large scenes get tiles whose nodes (9 floats each) fit in the
// first-level cache or nearly. It never depends on the number of threads.
static uint32_t choose_tile_nodes(uint64_t node_count)
{
    uint64_t nodes = node_count / 64 / 16 * 16;
    return nodes < 128 ? 128 : nodes > 2048 ? 2048 : (uint32_t)nodes;
}

bool plan_faces_in_blocks(const struct topology *topology, const struct plan *plan, size_t body)
{
    bool gas = topology->bodies[body].pressure.present && !plan_rings_of_body(plan, body);
    bool wind = topology->environment.wind.present && !plan_face_grid_of_body(plan, body);
    return topology->bodies[body].face_count > 0 && (gas || wind);
}

static bool in_blocks(const struct topology *topology, const struct plan *plan, size_t body,
                      bool faces)
{
    if (faces)
        return plan_faces_in_blocks(topology, plan, body);
    return topology->bodies[body].spring_count > 0 && !plan_grid_of_body(plan, body);
}

// The springs or faces that go into blocks, listed while the plan is made.
struct blocked {
    int arity;
    uint64_t count, listed;
    uint32_t *nodes;
    uint32_t *numbers; // the topology's
};

static void list_springs(const struct topology *topology, const struct topology_body *body,
                         struct blocked *blocked)
{
    uint64_t end = body->first_spring + body->spring_count;
    for (uint64_t spring = body->first_spring; spring < end;) {
        struct spring_run run = topology_run(topology, spring, end);
        for (uint32_t i = 0; i < run.count; i++) {
            blocked->nodes[2 * blocked->listed] = run.a + i;
            blocked->nodes[2 * blocked->listed + 1] = run.b + i;
            blocked->numbers[blocked->listed++] = (uint32_t)(run.first + i);
        }
        spring += run.count;
    }
}

static void list_faces(const struct topology *topology, const struct topology_body *body,
                       struct blocked *blocked)
{
    for (uint64_t i = 0; i < body->face_count; i++) {
        struct face face = topology_body_face(topology, body, i);
        for (uint64_t corner = 0; corner < 3; corner++)
            blocked->nodes[3 * blocked->listed + corner] = face.nodes[corner];
        blocked->numbers[blocked->listed++] = (uint32_t)(body->first_face + i);
    }
}

static void blocked_free(struct blocked *blocked)
{
    memory_release(NULL, blocked->nodes, (size_t)blocked->count * (size_t)blocked->arity,
                   sizeof *blocked->nodes);
    memory_release(NULL, blocked->numbers, (size_t)blocked->count, sizeof *blocked->numbers);
}

static taut_status list_blocked(const struct topology *topology, const struct plan *plan,
                                bool faces, struct blocked *blocked, taut_error *error)
{
    uint64_t end = 0;
    for (size_t b = 0; b < topology->body_count; b++) {
        const struct topology_body *body = &topology->bodies[b];
        if (!in_blocks(topology, plan, b, faces))
            continue;
        uint64_t count = faces ? body->face_count : body->spring_count;
        blocked->count += count;
        end = (faces ? body->first_face : body->first_spring) + count;
    }
    if (end > UINT32_MAX)
        return fail(error, TAUT_ERROR_UNSUPPORTED,
                    "%llu springs or faces in one scene, some of them on no regular grid; at most "
                    "%lu yet",
                    (unsigned long long)end, (unsigned long)UINT32_MAX);
    blocked->nodes = memory_allocate(NULL, (size_t)blocked->count * (size_t)blocked->arity,
                                     sizeof *blocked->nodes);
    blocked->numbers = memory_allocate(NULL, (size_t)blocked->count, sizeof *blocked->numbers);
    if (!blocked->nodes || !blocked->numbers)
        return fail_memory(error, "the plan");
    for (size_t b = 0; b < topology->body_count; b++) {
        if (!in_blocks(topology, plan, b, faces))
            continue;
        if (faces)
            list_faces(topology, &topology->bodies[b], blocked);
        else
            list_springs(topology, &topology->bodies[b], blocked);
    }
    return TAUT_OK;
}

static bool all_faces_in_blocks(const struct topology *topology, const struct plan *plan)
{
    bool all = true;
    for (size_t b = 0; b < topology->body_count; b++)
        all &= topology->bodies[b].face_count == 0 || plan_faces_in_blocks(topology, plan, b);
    return all;
}

// Plans the springs or faces that are on no grid: blocks, or the topology's order for packed
// springs.
static taut_status plan_blocks(const struct topology *topology, const struct plan_options *wanted,
                               struct plan *plan, bool faces, taut_error *error)
{
    const struct set_options made = {.allocator = plan->allocator,
                                     .tile_nodes = plan->tile_nodes,
                                     .reference = wanted->reference || (plan->packs && !faces),
                                     .colours_allowed = wanted->colours_allowed};

    struct plan_set *set = faces ? &plan->faces : &plan->springs;

    // If everything goes into blocks and the topology lists it, its lists are used.
    if (faces && topology->listed_face_count == topology->face_count &&
        all_faces_in_blocks(topology, plan)) {
        struct elements all = {&topology->faces[0][0],
                               3,
                               topology->face_count,
                               topology->node_count,
                               NULL,
                               false,
                               false};
        return plan_set_make(&all, &made, set, error);
    }
    if (!faces && plan->grid_count == 0 && topology->listed_count == topology->spring_count) {
        struct elements all = {&topology->springs[0][0],
                               2,
                               topology->spring_count,
                               topology->node_count,
                               NULL,
                               plan->packs,
                               !plan->packs};
        return plan_set_make(&all, &made, set, error);
    }

    struct blocked blocked = {.arity = faces ? 3 : 2};
    taut_status status = list_blocked(topology, plan, faces, &blocked, error);
    struct elements some = {blocked.nodes,         blocked.arity,   blocked.count,
                            topology->node_count,  blocked.numbers, false,
                            !faces && !plan->packs};
    if (status == TAUT_OK)
        status = plan_set_make(&some, &made, set, error);
    blocked_free(&blocked);
    return status;
}

// Plans coloured blocks for the vector kernel. If more than a sixteenth of the springs lies in
// blocks that touch too many nodes for records, which the plain loop would compute, tiles of half
// the nodes are tried. A block of a hub may remain, which no tile is small enough for.
static taut_status plan_coloured(const struct topology *topology,
                                 const struct plan_options *options, struct plan *plan,
                                 taut_error *error)
{
    enum { TILE_NODES_MIN = 128, PLAIN_SHARE = 16 };
    const uint32_t tile_nodes = plan->tile_nodes;
    taut_status status = TAUT_OK;
    for (;;) {
        status = plan_blocks(topology, options, plan, false, error);
        if (status == TAUT_OK)
            status = plan_coloured_make(topology, &plan->springs, plan->allocator, &plan->coloured,
                                        error);
        if (status != TAUT_OK || options->tile_nodes || plan->tile_nodes / 2 < TILE_NODES_MIN ||
            plan->coloured.plain_springs * PLAIN_SHARE <= plan->springs.element_count)
            break;
        plan_set_free(plan->allocator, &plan->springs);
        plan_coloured_free(plan->allocator, &plan->coloured);
        plan->springs = (struct plan_set){0};
        plan->coloured = (struct plan_coloured){0};
        plan->tile_nodes /= 2;
    }
    plan->tile_nodes = tile_nodes; // for faces
    return status;
}

static bool is_fragile(const struct topology *topology, uint64_t spring, struct spring_run *near)
{
    struct spring_run it = topology_spring_near(topology, spring, near);
    const struct material *material = &topology->materials[it.material];
    return isfinite(material->break_at) || isfinite(material->yield_at);
}

static taut_status list_fragile(const struct topology *topology, struct plan *plan,
                                taut_error *error)
{
    if (!topology->any_breaks && !topology->any_yields)
        return TAUT_OK;
    const struct plan_set *set = &plan->springs;
    struct spring_run near = {0};
    for (uint64_t i = 0; i < set->element_count; i++)
        plan->fragile_count += is_fragile(topology, plan_element(set, i), &near);
    plan->fragile =
        memory_allocate(plan->allocator, (size_t)plan->fragile_count, sizeof *plan->fragile);
    if (!plan->fragile)
        return fail_memory(error, "the plan");
    uint64_t found = 0;
    for (uint64_t i = 0; i < set->element_count; i++)
        if (is_fragile(topology, plan_element(set, i), &near))
            plan->fragile[found++] = (uint32_t)i;
    return TAUT_OK;
}

static uint64_t fragile_number(const struct plan *plan, uint32_t index)
{
    uint64_t low = 0, high = plan->fragile_count;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (plan->fragile[middle] < index)
            low = middle + 1;
        else
            high = middle;
    }
    return low < plan->fragile_count && plan->fragile[low] == index ? low : plan->fragile_count;
}

// The slots of each fragile spring among the packed ones, once for each end.
static taut_status find_fragile_slots(struct plan *plan, taut_error *error)
{
    size_t count = (size_t)plan->fragile_count;
    if (!plan->packs || count == 0)
        return TAUT_OK;
    if (!plan->fragile_slots)
        plan->fragile_slots = memory_allocate(plan->allocator, count, sizeof *plan->fragile_slots);
    uint8_t *found = memory_allocate(NULL, count, sizeof *found);
    if (!plan->fragile_slots || !found) {
        memory_release(NULL, found, count, sizeof *found);
        return fail_memory(error, "the plan");
    }
    for (size_t i = 0; i < count; i++)
        plan->fragile_slots[i][0] = plan->fragile_slots[i][1] = PLAN_NO_SLOT;
    for (uint64_t slot = 0; slot < plan->packed.slot_count; slot++) {
        uint64_t i = fragile_number(plan, plan->packed.slot_springs[slot]);
        if (i < count)
            plan->fragile_slots[i][found[i]++] = slot;
    }
    memory_release(NULL, found, count, sizeof *found);
    return TAUT_OK;
}

// Assigns indices in the state's arrays to the springs of stateful grids, after those of the
// springs on no grid.
static void assign_state_indices(const struct topology *topology, struct plan *plan)
{
    plan->state_spring_count = plan->springs.element_count;
    for (size_t g = 0; g < plan->grid_count; g++) {
        struct plan_grid *grid = &plan->grids[g];
        const struct topology_body *body = &topology->bodies[grid->body];
        if (!grid->stateful)
            continue;
        grid->first_state_index = plan->state_spring_count;
        plan->state_spring_count += body->spring_count;
    }
}

// Finds the grids of faces and, if `springs`, of springs, with gaps if `gaps`.
static taut_status find_grids(const struct topology *topology, bool springs, bool gaps,
                              struct plan *plan, taut_error *error)
{
    plan->grid_capacity = topology->body_count;
    plan->grids = memory_allocate(plan->allocator, plan->grid_capacity, sizeof *plan->grids);
    plan->face_grids =
        memory_allocate(plan->allocator, plan->grid_capacity, sizeof *plan->face_grids);
    if (!plan->grids || !plan->face_grids)
        return fail_memory(error, "the plan");
    for (size_t body = 0; body < topology->body_count; body++) {
        if (topology->environment.wind.present &&
            face_grid_find(topology, body, &plan->face_grids[plan->face_grid_count]))
            plan->face_grid_count++;
        if (!springs)
            continue;
        struct plan_grid *grid = &plan->grids[plan->grid_count];
        bool found;
        taut_status status = grid_find(topology, body, gaps, plan->allocator, grid, &found, error);
        if (status != TAUT_OK)
            return status;
        if (!found)
            continue;
        tiling_make(grid, &grid->tiling);
        grid->tiling.first_tile = plan->tile_count;
        plan->tile_count += tiling_tile_count(&grid->tiling);
        plan->grid_count++;
    }
    return TAUT_OK;
}

size_t plan_ranges_add(struct plan_nodes *ranges, size_t count, struct plan_nodes body)
{
    struct plan_nodes *last = count > 0 ? &ranges[count - 1] : NULL;
    if (body.count == 0)
        return count;
    if (last && last->first + last->count == body.first && last->count < RANGE_NODES) {
        last->count += body.count;
        return count;
    }
    ranges[count] = body;
    return count + 1;
}

static taut_status list_off_grid(const struct topology *topology, struct plan *plan,
                                 taut_error *error)
{
    plan->off_grid_capacity = topology->body_count;
    plan->off_grid =
        memory_allocate(plan->allocator, plan->off_grid_capacity, sizeof *plan->off_grid);
    if (!plan->off_grid)
        return fail_memory(error, "the plan");
    for (size_t b = 0; b < topology->body_count; b++) {
        const struct topology_body *body = &topology->bodies[b];
        const struct plan_nodes nodes = {body->first_node, body->node_count};
        if (!plan_grid_of_body(plan, b))
            plan->off_grid_count = plan_ranges_add(plan->off_grid, plan->off_grid_count, nodes);
    }
    return TAUT_OK;
}

// Among `count` items of `size` bytes, sorted by body, the item of a body, or NULL. The number of
// the body is the first member of each item.
static const void *item_of_body(const void *items, size_t count, size_t size, size_t body)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (*(const size_t *)((const char *)items + middle * size) < body)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == count)
        return NULL;
    const void *item = (const char *)items + low * size;
    return *(const size_t *)item == body ? item : NULL;
}

const struct plan_grid *plan_grid_of_body(const struct plan *plan, size_t body)
{
    return item_of_body(plan->grids, plan->grid_count, sizeof *plan->grids, body);
}

const struct plan_face_grid *plan_face_grid_of_body(const struct plan *plan, size_t body)
{
    return item_of_body(plan->face_grids, plan->face_grid_count, sizeof *plan->face_grids, body);
}

const struct plan_rings *plan_rings_of_body(const struct plan *plan, size_t body)
{
    return plan->rings && plan->rings[body].found ? &plan->rings[body] : NULL;
}

// The rings of bodies with gas, whose volume and its gradient are evaluated in every step.
static taut_status make_rings(const struct topology *topology, const struct plan_options *options,
                              struct plan *plan, taut_error *error)
{
    plan->rings = memory_allocate(plan->allocator, topology->body_count, sizeof *plan->rings);
    if (!plan->rings)
        return fail_memory(error, "the plan");
    plan->ring_capacity = topology->body_count;
    taut_status status = TAUT_OK;
    for (size_t body = 0; body < topology->body_count && status == TAUT_OK; body++) {
        const bool absent = topology->bodies[body].faces_absent && options->load;
        if (!topology->bodies[body].pressure.present)
            continue;
        if (absent)
            status = options->load(options->find_kept_context, body, error);
        if (status == TAUT_OK)
            status = rings_make(topology, body, plan->allocator, &plan->rings[body], error);
        if (status == TAUT_OK && absent)
            options->unload(options->find_kept_context, body);
    }
    return status;
}

static taut_status pack(const struct topology *topology, const struct plan_options *options,
                        struct plan *plan, taut_error *error)
{
    struct plan_nodes kept = {0, topology->node_count};
    taut_status status = TAUT_OK;
    if (options->find_kept)
        status = options->find_kept(options->find_kept_context, topology, plan, &kept, error);
    const struct packed_choice choice = {.kept = kept.count == topology->node_count ? NULL : &kept,
                                         .load = options->load,
                                         .packed = options->packed,
                                         .context = options->find_kept_context};
    return status == TAUT_OK ? packed_make(topology, &choice, plan, error) : status;
}

static taut_status list_chunk_nodes(const struct topology *topology, struct plan *plan,
                                    taut_error *error)
{
    struct spring_run near = {0};
    const uint64_t springs = plan->springs.element_count;
    plan->chunk_node_count = chunk_count((size_t)springs);
    plan->chunk_nodes =
        memory_allocate(plan->allocator, (size_t)plan->chunk_node_count, sizeof *plan->chunk_nodes);
    if (!plan->chunk_nodes)
        return fail_memory(error, "the plan");
    for (uint64_t i = 0; i < springs; i += SUM_CHUNK)
        plan->chunk_nodes[i / SUM_CHUNK] =
            topology_spring_near(topology, plan_element(&plan->springs, i), &near).a;
    return TAUT_OK;
}

bool plan_packs_all(const struct plan *plan)
{
    const struct plan_packed *packed = &plan->packed;
    return packed->end_kept - packed->first_kept == packed->tile_count;
}

taut_status plan_pack_rest(const struct topology *topology, struct plan *plan, taut_error *error)
{
    struct plan_packed part = plan->packed;
    taut_status status = TAUT_OK;
    for (size_t body = 0; body < plan->ring_capacity && status == TAUT_OK; body++) {
        struct plan_rings *rings = &plan->rings[body];
        if (rings->found && !rings->tiles) // cleared by plan_release_build_data
            status = rings_make(topology, body, plan->allocator, rings, error);
    }
    plan->packed = (struct plan_packed){0};
    if (status == TAUT_OK)
        status = packed_make(topology, &(struct packed_choice){.kept = NULL}, plan, error);
    if (status == TAUT_OK)
        status = find_fragile_slots(plan, error);
    if (status != TAUT_OK) {
        packed_free(plan->allocator, &plan->packed);
        plan->packed = part;
        return status;
    }
    packed_free(plan->allocator, &part);
    return TAUT_OK;
}

taut_status plan_make(const struct topology *topology, const struct plan_options *options,
                      const taut_allocator *allocator, struct plan **result, taut_error *error)
{
    *result = NULL;
    struct plan *plan = memory_allocate(allocator, 1, sizeof *plan);
    if (!plan)
        return fail_memory(error, "the plan");

    plan->allocator = allocator;
    plan->reference = options->reference;
    plan->tile_nodes =
        options->tile_nodes ? options->tile_nodes : choose_tile_nodes(topology->node_count);
    plan->packs = !options->reference && !options->no_packing;

    // Finds grids of springs and faces first; all others go into lists.
    taut_status status = TAUT_OK;
    if (!options->reference && !options->no_grids)
        // Constraints have multipliers by spring and no masks, so cut bodies of `xpbd` are listed.
        status = find_grids(topology, !options->no_spring_grids, !options->no_packing, plan, error);
    if (status == TAUT_OK && !options->reference && !options->no_grids)
        status = make_rings(topology, options, plan, error);
    if (status == TAUT_OK)
        status = list_off_grid(topology, plan, error);

    const bool coloured = options->coloured && !plan->packs && !plan->reference;
    if (status == TAUT_OK)
        status = coloured ? plan_coloured(topology, options, plan, error)
                          : plan_blocks(topology, options, plan, false, error);
    if (status == TAUT_OK)
        status = plan_blocks(topology, options, plan, true, error);

    // Indices in the state, and the list of springs that can break or yield.
    if (status == TAUT_OK) {
        assign_state_indices(topology, plan);
        status = list_fragile(topology, plan, error);
    }
    if (status == TAUT_OK && plan->packs)
        status = list_chunk_nodes(topology, plan, error);
    if (status == TAUT_OK && plan->packs)
        status = pack(topology, options, plan, error);
    if (status == TAUT_OK)
        status = find_fragile_slots(plan, error);

    if (status != TAUT_OK) {
        plan_free(plan);
        return status;
    }
    *result = plan;
    return TAUT_OK;
}

void plan_release_build_data(const struct topology *topology, struct plan *plan)
{
    for (size_t body = 0; body < plan->ring_capacity; body++)
        if (packed_ring_tiles(&plan->packed, topology, body))
            rings_clear(plan->allocator, &plan->rings[body]);
    packed_release_slot_springs(plan->allocator, &plan->packed);
}

void plan_free(struct plan *plan)
{
    if (!plan)
        return;
    plan_set_free(plan->allocator, &plan->springs);
    plan_set_free(plan->allocator, &plan->faces);
    for (size_t body = 0; body < plan->ring_capacity; body++)
        rings_free(plan->allocator, &plan->rings[body]);
    memory_release(plan->allocator, plan->rings, plan->ring_capacity, sizeof *plan->rings);
    memory_release(plan->allocator, plan->fragile, (size_t)plan->fragile_count,
                   sizeof *plan->fragile);
    memory_release(plan->allocator, plan->fragile_slots, (size_t)plan->fragile_count,
                   sizeof *plan->fragile_slots);
    memory_release(plan->allocator, plan->chunk_nodes, (size_t)plan->chunk_node_count,
                   sizeof *plan->chunk_nodes);
    packed_free(plan->allocator, &plan->packed);
    plan_coloured_free(plan->allocator, &plan->coloured);
    for (size_t g = 0; g < plan->grid_count; g++)
        grid_free(plan->allocator, &plan->grids[g]);
    memory_release(plan->allocator, plan->grids, plan->grid_capacity, sizeof *plan->grids);
    memory_release(plan->allocator, plan->face_grids, plan->grid_capacity,
                   sizeof *plan->face_grids);
    memory_release(plan->allocator, plan->off_grid, plan->off_grid_capacity,
                   sizeof *plan->off_grid);
    memory_release(plan->allocator, plan, 1, sizeof *plan);
}

// ---- Queries of other modules

// The largest number of tiles of any body's rings.
static uint64_t ring_tiles(const struct topology *topology, const struct plan *plan)
{
    uint64_t most = 0;
    for (size_t body = 0; body < topology->body_count; body++)
        if (plan_rings_of_body(plan, body) && plan->rings[body].tile_count > most)
            most = plan->rings[body].tile_count;
    return most;
}

uint64_t plan_off_grid_index(const struct plan *plan, uint64_t spring)
{
    uint64_t low = 0, high = plan->springs.element_count;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (plan_element(&plan->springs, middle) < spring)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// The index of the first spring on no grid after those of the body that has a spring; that body.
static uint64_t end_of_body(const struct topology *topology, const struct plan *plan,
                            uint64_t index, const struct topology_body **body)
{
    *body =
        &topology->bodies[topology_body_of_spring(topology, plan_element(&plan->springs, index))];
    return plan_off_grid_index(plan, (*body)->first_spring) + (*body)->spring_count;
}

bool plan_next_listed(const struct topology *topology, const struct plan *plan,
                      struct plan_nodes *run)
{
    const struct topology_body *body;
    const uint64_t end = plan->springs.element_count;
    uint64_t first = run->first + run->count, last = plan->packs ? first : end;
    while (plan->packs && first < end && (last = end_of_body(topology, plan, first, &body)) &&
           body->springs_absent)
        first = last;
    while (first < end && last < end) {
        const uint64_t next = end_of_body(topology, plan, last, &body);
        if (body->springs_absent)
            break;
        last = next;
    }
    *run = (struct plan_nodes){first, first < end ? last - first : 0};
    return run->count > 0;
}

struct plan_nodes plan_listed_near(const struct topology *topology, const struct plan *plan,
                                   uint64_t node)
{
    const size_t b = topology_body_of_node(topology, node);
    const struct topology_body *body = &topology->bodies[b];
    if (!plan->packs)
        return (struct plan_nodes){0, plan->springs.element_count};
    if (body->springs_absent || plan_grid_of_body(plan, b))
        return (struct plan_nodes){0, 0};
    return (struct plan_nodes){plan_off_grid_index(plan, body->first_spring), body->spring_count};
}

struct plan_counts plan_counts(const struct topology *topology, const struct plan *plan)
{
    const uint64_t rings = ring_tiles(topology, plan), packed = plan->packed.tile_count;
    return (struct plan_counts){
        .grids = plan->grid_count,
        .off_grid_springs = plan->springs.element_count,
        .state_springs = plan->state_spring_count,
        .slots = plan->packed.slot_count,
        .block_faces = plan->faces.element_count,
        .grid_tiles = plan->tile_count,
        .packed_tiles = packed,
        .volume_tiles = rings > packed ? rings : packed,
        .rings = rings > 0,
    };
}

enum plan_format plan_off_grid_format(const struct plan *plan)
{
    if (plan->reference)
        return PLAN_REFERENCE;
    if (plan->packs)
        return PLAN_PACKED;
    return plan->coloured.block_count > 0 ? PLAN_COLOURED : PLAN_BLOCKS;
}

bool plan_sweeps_elements(const struct topology *topology, const struct plan *plan)
{
    for (size_t b = 0; b < topology->body_count; b++) {
        const struct plan_grid *grid = plan_grid_of_body(plan, b);
        if (topology->bodies[b].elements.present && !(grid && grid->has_elements))
            return false;
    }
    return true;
}

bool plan_has_order_of_lists(const struct topology *topology, const struct plan *plan)
{
    bool same =
        (plan->packs || plan->reference) && plan->springs.element_count == topology->listed_count;
    for (size_t b = 0; b < topology->body_count; b++)
        same &= topology->bodies[b].direction_count == 0 || plan_grid_of_body(plan, b) != NULL;
    return same;
}

struct plan_state_run plan_state_run(const struct topology *topology, const struct plan *plan,
                                     uint64_t at)
{
    if (at < plan->springs.element_count)
        return (struct plan_state_run){plan_element(&plan->springs, at), 1};
    for (size_t g = 0; g < plan->grid_count; g++) {
        const struct plan_grid *grid = &plan->grids[g];
        const struct topology_body *body = &topology->bodies[grid->body];
        const uint64_t inside = at - grid->first_state_index;
        if (grid->stateful && at >= grid->first_state_index && inside < body->spring_count)
            return (struct plan_state_run){body->first_spring + inside,
                                           body->spring_count - inside};
    }
    return (struct plan_state_run){0, 0};
}

// ---- Changed constants

void plan_find_damped(const struct topology *topology, struct plan *plan)
{
    packed_find_damped(topology, &plan->packed);
    plan_coloured_find_damped(topology, &plan->springs, &plan->coloured);
}

void plan_find_rest_lengths(const struct topology *topology, struct plan *plan, size_t body)
{
    for (size_t g = 0; g < plan->grid_count; g++)
        if (plan->grids[g].body == body)
            grid_find_rest_lengths(topology, &plan->grids[g]);
}

uint64_t plan_bytes(const struct plan *plan)
{
    const struct plan_set *sets[2] = {&plan->springs, &plan->faces};
    uint64_t bytes = sizeof *plan + plan->fragile_count * sizeof *plan->fragile +
                     plan->chunk_node_count * sizeof *plan->chunk_nodes +
                     plan->grid_capacity * (sizeof *plan->grids + sizeof *plan->face_grids) +
                     plan->off_grid_capacity * sizeof *plan->off_grid;
    for (size_t body = 0; body < plan->ring_capacity; body++)
        bytes += sizeof *plan->rings + rings_bytes(&plan->rings[body]);
    for (size_t g = 0; g < plan->grid_count; g++)
        bytes += plan->grids[g].missing_length + plan->grids[g].row_count;
    bytes += packed_bytes(&plan->packed) + plan_coloured_bytes(&plan->coloured);
    if (plan->fragile_slots)
        bytes += plan->fragile_count * sizeof *plan->fragile_slots;
    for (int i = 0; i < 2; i++)
        bytes += (sets[i]->order ? sets[i]->element_count : 0) * sizeof *sets[i]->order +
                 sets[i]->block_capacity * sizeof *sets[i]->blocks;
    return bytes;
}

// ---- The checker

// Every element of the set is below `count`, none occurs twice, and blocks cover all of them.
static taut_status check_complete(const struct plan_set *set, uint64_t count, const char *what,
                                  taut_error *error)
{
    size_t length = set->element_count ? (size_t)count : 0;
    uint8_t *seen = memory_allocate(NULL, length, 1);
    if (!seen)
        return fail_memory(error, "checking the plan");
    taut_status status = TAUT_OK;
    for (uint64_t i = 0; i < set->element_count && status == TAUT_OK; i++) {
        uint32_t element = plan_element(set, i);
        if (element >= count || seen[element])
            status =
                fail(error, TAUT_ERROR_ARGUMENT, "plan: %s %lu is listed twice or out of range",
                     what, (unsigned long)element);
        else
            seen[element] = 1;
    }
    memory_release(NULL, seen, length, 1);
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

static bool same_gaps(const struct plan_grid *a, const struct plan_grid *b)
{
    if (!a->missing || !b->missing)
        return !a->missing && !b->missing;
    return a->missing_length == b->missing_length && a->row_count == b->row_count &&
           memcmp(a->missing, b->missing, (size_t)a->missing_length) == 0 &&
           memcmp(a->rows_with_gaps, b->rows_with_gaps, (size_t)a->row_count) == 0;
}

static bool same_directions(const struct plan_grid *a, const struct plan_grid *b)
{
    bool same = a->direction_count == b->direction_count;
    for (int d = 0; same && d < a->direction_count; d++) {
        const struct direction *p = &a->directions[d], *q = &b->directions[d];
        same = p->dx == q->dx && p->dy == q->dy && p->dz == q->dz && p->offset == q->offset &&
               p->material == q->material && p->rest_length == q->rest_length &&
               p->weighted == q->weighted && p->boundary_material == q->boundary_material;
    }
    return same;
}

// The grids are those that would be found again, and every spring is either in a block or on a
// grid.
static taut_status check_spring_grids(const struct topology *topology, const struct plan *plan,
                                      taut_error *error)
{
    uint64_t springs = plan->springs.element_count;

    // The grids are those that would be found now.
    for (size_t g = 0; g < plan->grid_count; g++) {
        const struct plan_grid *grid = &plan->grids[g];
        struct plan_grid found;
        bool is_grid;
        taut_status status =
            grid_find(topology, grid->body, grid->missing != NULL, NULL, &found, &is_grid, error);
        if (status != TAUT_OK)
            return status;
        const bool same = is_grid && found.weighted == grid->weighted &&
                          found.has_elements == grid->has_elements &&
                          same_directions(&found, grid) && same_gaps(&found, grid);
        grid_free(NULL, &found);
        if (!same)
            return fail(error, TAUT_ERROR_ARGUMENT,
                        "plan: body %zu is not the grid that the plan describes", grid->body);
        if (g > 0 && plan->grids[g - 1].body >= grid->body)
            return fail(error, TAUT_ERROR_ARGUMENT, "plan: grids out of order");
        springs += topology->bodies[grid->body].spring_count;
    }

    // No spring of a grid is in a block as well.
    for (uint64_t i = 0; plan->grid_count > 0 && i < plan->springs.element_count; i++)
        if (plan_grid_of_body(plan,
                              topology_body_of_spring(topology, plan_element(&plan->springs, i))))
            return fail(error, TAUT_ERROR_ARGUMENT, "plan: spring %lu is in a block and in a grid",
                        (unsigned long)plan_element(&plan->springs, i));

    // State indices are consecutive, and no spring is missing.
    uint64_t state_index = plan->springs.element_count;
    for (size_t g = 0; g < plan->grid_count; g++)
        if (plan->grids[g].stateful) {
            if (plan->grids[g].first_state_index != state_index)
                return fail(error, TAUT_ERROR_ARGUMENT,
                            "plan: state indices of grids out of order");
            state_index += topology->bodies[plan->grids[g].body].spring_count;
        }
    if (state_index != plan->state_spring_count)
        return fail(error, TAUT_ERROR_ARGUMENT, "plan: %llu state indices of %llu",
                    (unsigned long long)state_index, (unsigned long long)plan->state_spring_count);
    if (springs != topology->spring_count)
        return fail(error, TAUT_ERROR_ARGUMENT, "plan: blocks and grids have %llu of %llu springs",
                    (unsigned long long)springs, (unsigned long long)topology->spring_count);
    return TAUT_OK;
}

// The tiles of a grid cover its rows and layers, are numbered consecutively over all grids, and
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

// Every node belongs either to one grid or to one range of nodes on no grid.
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
    for (size_t i = 0; i < plan->off_grid_count; i++) {
        const struct plan_nodes *run = &plan->off_grid[i];
        for (uint64_t n = run->first; n < run->first + run->count; n++)
            if (plan_grid_of_body(plan, topology_body_of_node(topology, n)) || n < end)
                return fail(error, TAUT_ERROR_ARGUMENT, "plan: node %llu is on a grid",
                            (unsigned long long)n);
        end = run->first + run->count;
        nodes += run->count;
    }
    if (tiles != plan->tile_count || nodes != topology->node_count)
        return fail(error, TAUT_ERROR_ARGUMENT,
                    "plan: tiles and nodes off grids leave something out");
    return TAUT_OK;
}

// The grids of faces are those that would be found again.
static taut_status check_face_grids(const struct topology *topology, const struct plan *plan,
                                    taut_error *error)
{
    for (size_t g = 0; g < plan->face_grid_count; g++) {
        const struct plan_face_grid *grid = &plan->face_grids[g];
        struct plan_face_grid found;
        if (!face_grid_find(topology, grid->body, &found) || found.first_node != grid->first_node ||
            found.nx != grid->nx || found.ny != grid->ny)
            return fail(error, TAUT_ERROR_ARGUMENT,
                        "plan: the faces of body %zu are not the grid that the plan describes",
                        grid->body);
        if (g > 0 && plan->face_grids[g - 1].body >= grid->body)
            return fail(error, TAUT_ERROR_ARGUMENT, "plan: grids of faces out of order");
    }
    return TAUT_OK;
}

// Blocks contain the faces on which wind or gas acts, except those on grids and those replaced by
// rings.
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

// The nodes of an element of the plan, up to three; FACE_EDGE if there are fewer.
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

// No two blocks of a colour share a node. owner[node] is 1 + the last block that had the node.
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
    // Rings first, since packed springs are compared with them.
    for (size_t body = 0; body < topology->body_count && status == TAUT_OK; body++)
        if (plan_rings_of_body(plan, body) &&
            (plan->rings[body].tiles || !packed_ring_tiles(&plan->packed, topology, body)))
            status = rings_check(topology, &plan->rings[body], error);
    if (status == TAUT_OK)
        status = packed_check(topology, plan, error);
    if (status == TAUT_OK)
        status = plan_coloured_check(topology, &plan->springs, &plan->coloured, error);
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
