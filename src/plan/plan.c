#include "plan/plan.h"

#include "base/memory.h"
#include "plan/blocks.h"

// Small scenes get small tiles, so that there are blocks enough for many threads; large ones get
// tiles whose nodes (9 floats each) stay in a first-level cache or just beyond. Never a function of
// threads.
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

// The springs, or faces, that go into blocks, as lists for the time of planning.
struct blocked {
    int arity;
    uint64_t count, placed;
    uint32_t *nodes;
    uint32_t *numbers; // the builder's
};

static void list_springs(const struct topology *topology, const struct topology_body *body,
                         struct blocked *blocked)
{
    uint64_t end = body->first_spring + body->spring_count;
    for (uint64_t spring = body->first_spring; spring < end;) {
        struct spring_run run = topology_run(topology, spring, end);
        for (uint32_t i = 0; i < run.count; i++) {
            blocked->nodes[2 * blocked->placed] = run.a + i;
            blocked->nodes[2 * blocked->placed + 1] = run.b + i;
            blocked->numbers[blocked->placed++] = (uint32_t)(run.first + i);
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
            blocked->nodes[3 * blocked->placed + corner] = face.nodes[corner];
        blocked->numbers[blocked->placed++] = (uint32_t)(body->first_face + i);
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

// Plans what is on no grid: blocks, or for springs that are packed the topology's order.
static taut_status plan_blocks(const struct topology *topology, const struct plan_options *wanted,
                               struct plan *plan, bool faces, taut_error *error)
{
    struct plan_options own = *wanted;
    own.reference |= plan->packs && !faces;
    const struct plan_options *options = &own;
    struct plan_set *set = faces ? &plan->faces : &plan->springs;
    // Where everything goes into blocks and is listed, the lists are there already.
    if (faces && topology->listed_face_count == topology->face_count &&
        all_faces_in_blocks(topology, plan)) {
        struct elements all = {&topology->faces[0][0],
                               3,
                               topology->face_count,
                               topology->node_count,
                               NULL,
                               false,
                               false};
        return plan_set_make(&all, options, plan, set, error);
    }
    if (!faces && plan->grid_count == 0 && topology->listed_count == topology->spring_count) {
        struct elements all = {&topology->springs[0][0],
                               2,
                               topology->spring_count,
                               topology->node_count,
                               NULL,
                               plan->packs,
                               !plan->packs};
        return plan_set_make(&all, options, plan, set, error);
    }
    struct blocked blocked = {.arity = faces ? 3 : 2};
    taut_status status = list_blocked(topology, plan, faces, &blocked, error);
    struct elements some = {blocked.nodes,         blocked.arity,   blocked.count,
                            topology->node_count,  blocked.numbers, false,
                            !faces && !plan->packs};
    if (status == TAUT_OK)
        status = plan_set_make(&some, options, plan, set, error);
    blocked_free(&blocked);
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

static uint64_t fragile_number(const struct plan *plan, uint32_t place)
{
    uint64_t low = 0, high = plan->fragile_count;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (plan->fragile[middle] < place)
            low = middle + 1;
        else
            high = middle;
    }
    return low < plan->fragile_count && plan->fragile[low] == place ? low : plan->fragile_count;
}

// Where each fragile spring stands among the packed ones, once for each end.
static taut_status find_fragile_slots(struct plan *plan, taut_error *error)
{
    size_t count = (size_t)plan->fragile_count;
    if (!plan->packs || count == 0)
        return TAUT_OK;
    plan->fragile_slots = memory_allocate(plan->allocator, count, sizeof *plan->fragile_slots);
    uint8_t *found = memory_allocate(NULL, count, sizeof *found);
    if (!plan->fragile_slots || !found) {
        memory_release(NULL, found, count, sizeof *found);
        return fail_memory(error, "the plan");
    }
    for (uint64_t slot = 0; slot < plan->packed.slot_count; slot++) {
        uint64_t i = fragile_number(plan, plan->packed.slot_springs[slot]);
        if (i < count)
            plan->fragile_slots[i][found[i]++] = slot;
    }
    memory_release(NULL, found, count, sizeof *found);
    return TAUT_OK;
}

// Places in the state for the springs of grids that remember, behind those of the blocks.
static void assign_places(const struct topology *topology, struct plan *plan)
{
    plan->place_count = plan->springs.element_count;
    for (size_t g = 0; g < plan->grid_count; g++) {
        struct plan_grid *grid = &plan->grids[g];
        const struct topology_body *body = &topology->bodies[grid->body];
        if (!grid->remembers)
            continue;
        grid->first_place = plan->place_count;
        for (int d = 0; d < grid->direction_count; d++)
            grid->directions[d].first_place =
                grid->first_place + topology->directions[body->first_direction + d].first_spring -
                body->first_spring;
        plan->place_count += body->spring_count;
    }
}

static taut_status find_grids(const struct topology *topology, struct plan *plan, taut_error *error)
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
        struct plan_grid *grid = &plan->grids[plan->grid_count];
        bool found;
        taut_status status = grid_find(topology, body, grid, &found, error);
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

static taut_status list_loose(const struct topology *topology, struct plan *plan, taut_error *error)
{
    plan->loose_capacity = plan->grid_count + 1;
    plan->loose = memory_allocate(plan->allocator, plan->loose_capacity, sizeof *plan->loose);
    if (!plan->loose)
        return fail_memory(error, "the plan");
    uint64_t node = 0;
    for (size_t g = 0; g <= plan->grid_count; g++) {
        const struct topology_body *body =
            g < plan->grid_count ? &topology->bodies[plan->grids[g].body] : NULL;
        uint64_t end = body ? body->first_node : topology->node_count;
        if (end > node)
            plan->loose[plan->loose_count++] = (struct plan_nodes){node, end - node};
        node = body ? end + body->node_count : end;
    }
    return TAUT_OK;
}

const struct plan_rings *plan_rings_of_body(const struct plan *plan, size_t body)
{
    return plan->rings && plan->rings[body].found ? &plan->rings[body] : NULL;
}

// Bodies with gas have their volume and its gradient evaluated every step.
static taut_status make_rings(const struct topology *topology, struct plan *plan, taut_error *error)
{
    plan->rings = memory_allocate(plan->allocator, topology->body_count, sizeof *plan->rings);
    if (!plan->rings)
        return fail_memory(error, "the plan");
    plan->ring_capacity = topology->body_count;
    taut_status status = TAUT_OK;
    for (size_t body = 0; body < topology->body_count && status == TAUT_OK; body++) {
        if (topology->bodies[body].pressure.present)
            status = rings_make(topology, body, plan->allocator, &plan->rings[body], error);
    }
    return status;
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
    taut_status status = TAUT_OK;
    if (!options->reference && !options->no_grids)
        status = find_grids(topology, plan, error);
    if (status == TAUT_OK && !options->reference && !options->no_grids)
        status = make_rings(topology, plan, error);
    if (status == TAUT_OK)
        status = list_loose(topology, plan, error);
    if (status == TAUT_OK)
        status = plan_blocks(topology, options, plan, false, error);
    if (status == TAUT_OK)
        status = plan_blocks(topology, options, plan, true, error);
    if (status == TAUT_OK) {
        assign_places(topology, plan);
        status = list_fragile(topology, plan, error);
    }
    if (status == TAUT_OK && plan->packs)
        status = packed_make(topology, plan, error);
    if (status == TAUT_OK)
        status = find_fragile_slots(plan, error);
    if (status != TAUT_OK) {
        plan_free(plan);
        return status;
    }
    *result = plan;
    return TAUT_OK;
}

void plan_forget(const struct topology *topology, struct plan *plan)
{
    for (size_t body = 0; body < plan->ring_capacity; body++)
        if (packed_ring_tiles(&plan->packed, topology, body))
            rings_forget(plan->allocator, &plan->rings[body]);
    packed_forget_slots(plan->allocator, &plan->packed);
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
    packed_free(plan->allocator, &plan->packed);
    memory_release(plan->allocator, plan->grids, plan->grid_capacity, sizeof *plan->grids);
    memory_release(plan->allocator, plan->face_grids, plan->grid_capacity,
                   sizeof *plan->face_grids);
    memory_release(plan->allocator, plan->loose, plan->loose_capacity, sizeof *plan->loose);
    memory_release(plan->allocator, plan, 1, sizeof *plan);
}

uint64_t plan_bytes(const struct plan *plan)
{
    const struct plan_set *sets[2] = {&plan->springs, &plan->faces};
    uint64_t bytes = sizeof *plan + plan->fragile_count * sizeof *plan->fragile +
                     plan->grid_capacity * (sizeof *plan->grids + sizeof *plan->face_grids) +
                     plan->loose_capacity * sizeof *plan->loose;
    for (size_t body = 0; body < plan->ring_capacity; body++)
        bytes += sizeof *plan->rings + rings_bytes(&plan->rings[body]);
    bytes += packed_bytes(&plan->packed);
    if (plan->fragile_slots)
        bytes += plan->fragile_count * sizeof *plan->fragile_slots;
    for (int i = 0; i < 2; i++)
        bytes += (sets[i]->order ? sets[i]->element_count : 0) * sizeof *sets[i]->order +
                 sets[i]->block_capacity * sizeof *sets[i]->blocks;
    return bytes;
}
