#include "plan/plan.h"

#include "base/memory.h"
#include "plan/colouring.h"

_Static_assert(sizeof((struct plan_set *)0)->colour_start / sizeof(uint32_t) == COLOURS_MAX + 2,
               "one start a colour, one for the tail, one for the end");

// Small scenes get small tiles, so that there are blocks enough for many threads; large ones get
// tiles whose nodes (9 floats each) stay in a first-level cache or just beyond. Never a function of
// threads.
static uint32_t choose_tile_nodes(uint64_t node_count)
{
    uint64_t nodes = node_count / 64 / 16 * 16;
    return nodes < 128 ? 128 : nodes > 2048 ? 2048 : (uint32_t)nodes;
}

// What plan_set_make works on: the elements of one sort.
struct elements {
    const uint32_t *nodes;
    int arity;
    uint64_t count;
    uint64_t node_count;
    const struct topology *topology;
    const struct plan *plan; // whose grids' elements are left out
    bool faces;              // not springs
};

static bool is_on_grid(const struct elements *elements, size_t body)
{
    return elements->faces ? plan_face_grid_of_body(elements->plan, body) != NULL
                           : plan_grid_of_body(elements->plan, body) != NULL;
}

// The next run of elements that go into blocks, from *body on; false after the last.
static bool next_run(const struct elements *elements, size_t *body, uint64_t *first, uint64_t *end)
{
    while (*body < elements->topology->body_count && is_on_grid(elements, *body))
        (*body)++;
    if (*body == elements->topology->body_count)
        return false;
    const struct topology_body *it = &elements->topology->bodies[(*body)++];
    *first = elements->faces ? it->first_face : it->first_spring;
    *end = *first + (elements->faces ? it->face_count : it->spring_count);
    return true;
}

static uint32_t tile_of(const struct elements *elements, uint64_t element, uint32_t tile_nodes)
{
    const uint32_t *nodes = elements->nodes + element * (size_t)elements->arity;
    uint32_t lowest = nodes[0];
    for (int corner = 1; corner < elements->arity; corner++)
        if (nodes[corner] < lowest)
            lowest = nodes[corner];
    return lowest / tile_nodes;
}

// Counting sort by tile; inside a tile the builder's order stays. starts has tile_count + 1
// entries.
static void sort_by_tile(const struct elements *elements, uint32_t tile_nodes, uint32_t tile_count,
                         uint32_t *order, uint64_t *starts)
{
    uint64_t first, end;
    for (size_t body = 0; next_run(elements, &body, &first, &end);)
        for (uint64_t i = first; i < end; i++)
            starts[tile_of(elements, i, tile_nodes) + 1]++;
    for (uint32_t tile = 0; tile < tile_count; tile++)
        starts[tile + 1] += starts[tile];
    for (size_t body = 0; next_run(elements, &body, &first, &end);)
        for (uint64_t i = first; i < end; i++)
            order[starts[tile_of(elements, i, tile_nodes)]++] = (uint32_t)i;
    for (uint32_t tile = tile_count; tile > 0; tile--)
        starts[tile] = starts[tile - 1];
    starts[0] = 0;
}

// Writes the order anew, colour by colour, and makes the blocks; empty tiles give none.
static void gather_colours(const uint32_t *sorted, const uint64_t *starts, const uint8_t *colours,
                           uint32_t tile_count, struct plan_set *set)
{
    uint64_t placed = 0;
    uint32_t blocks = 0;
    for (int colour = 0; colour <= set->colour_count; colour++) {
        set->colour_start[colour] = blocks;
        int wanted = colour < set->colour_count ? colour : COLOUR_NONE;
        for (uint32_t tile = 0; tile < tile_count; tile++) {
            uint64_t count = starts[tile + 1] - starts[tile];
            if (colours[tile] != wanted || count == 0)
                continue;
            set->blocks[blocks++] = (struct plan_block){placed, count};
            for (uint64_t i = 0; i < count; i++)
                set->order[placed + i] = sorted[starts[tile] + i];
            placed += count;
        }
    }
    set->colour_start[set->colour_count + 1] = blocks;
    set->block_count = blocks;
    set->blocked_count = placed;
}

// Springs and faces of grids stand behind all blocks, body after body.
static void append_grids(const struct topology *topology, struct plan *plan)
{
    uint64_t placed = plan->springs.blocked_count;
    for (size_t g = 0; g < plan->grid_count; g++) {
        const struct topology_body *body = &topology->bodies[plan->grids[g].body];
        for (uint64_t i = 0; i < body->spring_count; i++)
            plan->springs.order[placed++] = (uint32_t)(body->first_spring + i);
    }
    placed = plan->faces.blocked_count;
    for (size_t g = 0; g < plan->face_grid_count; g++) {
        const struct topology_body *body = &topology->bodies[plan->face_grids[g].body];
        for (uint64_t i = 0; i < body->face_count; i++)
            plan->faces.order[placed++] = (uint32_t)(body->first_face + i);
    }
}

static void reference_set(struct plan_set *set)
{
    for (uint64_t i = 0; i < set->element_count; i++)
        set->order[i] = (uint32_t)i;
    set->blocked_count = set->element_count;
    set->block_count = set->element_count ? 1 : 0;
    set->blocks[0] = (struct plan_block){0, set->element_count};
    set->colour_count = (int)set->block_count;
    set->colour_start[1] = set->colour_start[2] = set->block_count;
}

static taut_status coloured_set(const struct elements *elements, const struct plan_options *options,
                                uint32_t tile_nodes, uint32_t tile_count, struct plan_set *set,
                                taut_error *error)
{
    size_t count = (size_t)elements->count;
    uint32_t *sorted = memory_allocate(NULL, count, sizeof *sorted);
    uint64_t *starts = memory_allocate(NULL, (size_t)tile_count + 1, sizeof *starts);
    uint8_t *colours = memory_allocate(NULL, tile_count, sizeof *colours);
    taut_status status = TAUT_OK;
    if (!sorted || !starts || !colours) {
        status = fail_memory(error, "the plan");
    } else {
        sort_by_tile(elements, tile_nodes, tile_count, sorted, starts);
        struct colouring_problem problem = {
            elements->nodes, elements->arity, elements->node_count,    sorted,
            starts,          tile_count,      options->colours_allowed};
        if (problem.colours_allowed <= 0 || problem.colours_allowed > COLOURS_MAX)
            problem.colours_allowed = COLOURS_MAX;
        status = colour_blocks(&problem, colours, &set->colour_count, error);
        if (status == TAUT_OK)
            gather_colours(sorted, starts, colours, tile_count, set);
    }
    memory_release(NULL, sorted, count, sizeof *sorted);
    memory_release(NULL, starts, (size_t)tile_count + 1, sizeof *starts);
    memory_release(NULL, colours, tile_count, sizeof *colours);
    return status;
}

static taut_status plan_set_make(const struct elements *elements,
                                 const struct plan_options *options, const struct plan *plan,
                                 struct plan_set *set, taut_error *error)
{
    uint32_t tile_count = (uint32_t)(elements->node_count / plan->tile_nodes) + 1;
    set->element_count = elements->count;
    set->block_capacity = options->reference ? 1 : tile_count;
    set->order = memory_allocate(plan->allocator, (size_t)elements->count, sizeof *set->order);
    set->blocks = memory_allocate(plan->allocator, set->block_capacity, sizeof *set->blocks);
    if (!set->order || !set->blocks)
        return fail_memory(error, "the plan");
    if (elements->count > UINT32_MAX)
        return fail(error, TAUT_ERROR_UNSUPPORTED, "%llu springs in one scene; at most %lu yet",
                    (unsigned long long)elements->count, (unsigned long)UINT32_MAX);
    if (options->reference) {
        reference_set(set);
        return TAUT_OK;
    }
    return coloured_set(elements, options, plan->tile_nodes, tile_count, set, error);
}

static bool is_fragile(const struct topology *topology, uint32_t spring)
{
    const struct material *material = &topology->materials[topology->spring_material[spring]];
    return isfinite(material->break_at) || isfinite(material->yield_at);
}

static taut_status list_fragile(const struct topology *topology, struct plan *plan,
                                taut_error *error)
{
    if (!topology->any_breaks && !topology->any_yields)
        return TAUT_OK;
    for (uint64_t i = 0; i < topology->spring_count; i++)
        plan->fragile_count += is_fragile(topology, (uint32_t)i);
    plan->fragile =
        memory_allocate(plan->allocator, (size_t)plan->fragile_count, sizeof *plan->fragile);
    if (!plan->fragile)
        return fail_memory(error, "the plan");
    uint64_t found = 0;
    for (uint64_t i = 0; i < topology->spring_count; i++)
        if (is_fragile(topology, plan->springs.order[i]))
            plan->fragile[found++] = (uint32_t)i;
    return TAUT_OK;
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
        if (grid_find(topology, body, &plan->grids[plan->grid_count]))
            plan->grid_count++;
        if (face_grid_find(topology, body, &plan->face_grids[plan->face_grid_count]))
            plan->face_grid_count++;
    }
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
    struct elements springs = {&topology->springs[0][0],
                               2,
                               topology->spring_count,
                               topology->node_count,
                               topology,
                               plan,
                               false};
    struct elements faces = {&topology->faces[0][0],
                             3,
                             topology->face_count,
                             topology->node_count,
                             topology,
                             plan,
                             true};
    taut_status status = TAUT_OK;
    if (!options->reference && !options->no_grids)
        status = find_grids(topology, plan, error);
    if (status == TAUT_OK)
        status = plan_set_make(&springs, options, plan, &plan->springs, error);
    if (status == TAUT_OK)
        status = plan_set_make(&faces, options, plan, &plan->faces, error);
    if (status == TAUT_OK)
        append_grids(topology, plan);
    if (status == TAUT_OK)
        status = list_fragile(topology, plan, error);
    if (status != TAUT_OK) {
        plan_free(plan);
        return status;
    }
    *result = plan;
    return TAUT_OK;
}

static void plan_set_free(const taut_allocator *allocator, struct plan_set *set)
{
    memory_release(allocator, set->order, (size_t)set->element_count, sizeof *set->order);
    memory_release(allocator, set->blocks, set->block_capacity, sizeof *set->blocks);
}

void plan_free(struct plan *plan)
{
    if (!plan)
        return;
    plan_set_free(plan->allocator, &plan->springs);
    plan_set_free(plan->allocator, &plan->faces);
    memory_release(plan->allocator, plan->fragile, (size_t)plan->fragile_count,
                   sizeof *plan->fragile);
    memory_release(plan->allocator, plan->grids, plan->grid_capacity, sizeof *plan->grids);
    memory_release(plan->allocator, plan->face_grids, plan->grid_capacity,
                   sizeof *plan->face_grids);
    memory_release(plan->allocator, plan, 1, sizeof *plan);
}

uint64_t plan_bytes(const struct plan *plan)
{
    const struct plan_set *sets[2] = {&plan->springs, &plan->faces};
    uint64_t bytes = sizeof *plan + plan->fragile_count * sizeof *plan->fragile +
                     plan->grid_capacity * (sizeof *plan->grids + sizeof *plan->face_grids);
    for (int i = 0; i < 2; i++)
        bytes += sets[i]->element_count * sizeof *sets[i]->order +
                 sets[i]->block_capacity * sizeof *sets[i]->blocks;
    return bytes;
}
