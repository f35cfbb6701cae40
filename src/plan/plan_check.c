// The plan proves itself: complete, conflict-free, in range.
#include "plan/plan.h"

#include "base/memory.h"

static taut_status check_complete(const struct plan_set *set, const char *what, taut_error *error)
{
    size_t count = (size_t)set->element_count;
    uint8_t *seen = memory_allocate(NULL, count, 1);
    if (!seen)
        return fail_memory(error, "checking the plan");
    taut_status status = TAUT_OK;
    for (size_t i = 0; i < count && status == TAUT_OK; i++) {
        if (set->order[i] >= count || seen[set->order[i]])
            status = fail(error, TAUT_ERROR_ARGUMENT, "plan: %s %lu stands twice or out of range",
                          what, (unsigned long)set->order[i]);
        else
            seen[set->order[i]] = 1;
    }
    memory_release(NULL, seen, count, 1);
    uint64_t covered = 0;
    for (uint32_t b = 0; b < set->block_count && status == TAUT_OK; b++) {
        if (set->blocks[b].first != covered)
            status = fail(error, TAUT_ERROR_ARGUMENT, "plan: a gap before %s block %lu", what,
                          (unsigned long)b);
        covered += set->blocks[b].count;
    }
    if (status == TAUT_OK && covered != set->blocked_count)
        status = fail(error, TAUT_ERROR_ARGUMENT, "plan: blocks cover %llu of %llu %ss",
                      (unsigned long long)covered, (unsigned long long)set->blocked_count, what);
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
    uint64_t springs = plan->springs.blocked_count;
    for (size_t g = 0; g < plan->grid_count; g++) {
        const struct plan_grid *grid = &plan->grids[g];
        struct plan_grid found;
        if (!grid_find(topology, grid->body, &found) || !same_directions(&found, grid))
            return fail(error, TAUT_ERROR_ARGUMENT,
                        "plan: body %zu is not the grid it is taken for", grid->body);
        const struct topology_body *body = &topology->bodies[grid->body];
        for (uint64_t i = 0; i < body->spring_count; i++)
            if (plan->springs.order[springs++] != body->first_spring + i)
                return fail(error, TAUT_ERROR_ARGUMENT, "plan: springs of grids out of order");
    }
    if (springs != plan->springs.element_count)
        return fail(error, TAUT_ERROR_ARGUMENT, "plan: blocks and grids have %llu of %llu springs",
                    (unsigned long long)springs, (unsigned long long)plan->springs.element_count);
    return TAUT_OK;
}

// The same of faces.
static taut_status check_face_grids(const struct topology *topology, const struct plan *plan,
                                    taut_error *error)
{
    uint64_t faces = plan->faces.blocked_count;
    for (size_t g = 0; g < plan->face_grid_count; g++) {
        const struct plan_face_grid *grid = &plan->face_grids[g];
        struct plan_face_grid found;
        if (!face_grid_find(topology, grid->body, &found) || found.first_node != grid->first_node ||
            found.nx != grid->nx || found.ny != grid->ny)
            return fail(error, TAUT_ERROR_ARGUMENT,
                        "plan: the faces of body %zu are not the grid they are taken for",
                        grid->body);
        const struct topology_body *body = &topology->bodies[grid->body];
        for (uint64_t i = 0; i < body->face_count; i++)
            if (plan->faces.order[faces++] != body->first_face + i)
                return fail(error, TAUT_ERROR_ARGUMENT, "plan: faces of grids out of order");
    }
    if (faces != plan->faces.element_count)
        return fail(error, TAUT_ERROR_ARGUMENT, "plan: blocks and grids have %llu of %llu faces",
                    (unsigned long long)faces, (unsigned long long)plan->faces.element_count);
    return TAUT_OK;
}

// owner[node] is the last block (+ 1) that touched the node; within one colour it must not change.
static taut_status check_colour(const struct plan_set *set, int colour, const uint32_t *nodes,
                                int arity, uint32_t *owner, const char *what, taut_error *error)
{
    uint32_t first = set->colour_start[colour], end = set->colour_start[colour + 1];
    for (uint32_t b = first; b < end; b++) {
        const struct plan_block *block = &set->blocks[b];
        for (uint64_t i = block->first; i < block->first + block->count; i++)
            for (int corner = 0; corner < arity; corner++) {
                uint32_t node = nodes[(size_t)set->order[i] * (size_t)arity + (size_t)corner];
                if (node == FACE_EDGE)
                    continue;
                if (owner[node] > first && owner[node] != b + 1)
                    return fail(error, TAUT_ERROR_ARGUMENT,
                                "plan: %s blocks %lu and %lu of colour %d share node %lu", what,
                                (unsigned long)owner[node] - 1, (unsigned long)b, colour,
                                (unsigned long)node);
                owner[node] = b + 1;
            }
    }
    return TAUT_OK;
}

static taut_status check_set(const struct topology *topology, const struct plan_set *set,
                             const uint32_t *nodes, int arity, const char *what, taut_error *error)
{
    taut_status status = check_complete(set, what, error);
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
        status = check_colour(set, colour, nodes, arity, owner, what, error);
    memory_release(NULL, owner, node_count, sizeof *owner);
    return status;
}

taut_status plan_check(const struct topology *topology, const struct plan *plan, taut_error *error)
{
    taut_status status =
        check_set(topology, &plan->springs, &topology->springs[0][0], 2, "spring", error);
    if (status == TAUT_OK)
        status = check_set(topology, &plan->faces, &topology->faces[0][0], 3, "face", error);
    if (status == TAUT_OK)
        status = check_spring_grids(topology, plan, error);
    if (status == TAUT_OK)
        status = check_face_grids(topology, plan, error);
    for (uint64_t i = 0; i < plan->fragile_count && status == TAUT_OK; i++)
        if (plan->fragile[i] >= topology->spring_count ||
            (i > 0 && plan->fragile[i] <= plan->fragile[i - 1]))
            status = fail(error, TAUT_ERROR_ARGUMENT, "plan: fragile springs out of order");
    return status;
}
