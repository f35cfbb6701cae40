// The tangent of listed springs, of plans that do not pack them: every node sums the contributions
// of its own springs in a fixed order, one by one.
#include "springs/tangent.h"

#include "base/memory.h"
#include "state/reading.h"

struct listed_spring {
    uint32_t ends[2];
    uint32_t material;
    uint64_t state_index;
    real rest_length;
};

typedef void (*spring_visit)(struct spring_tangent *tangent, const struct listed_spring *spring);

// Visits the listed springs in the plan's order.
static void visit_springs(struct spring_tangent *tangent, spring_visit visit)
{
    const struct system *system = tangent->system;
    const struct constants *constants = system->constants;
    for (uint64_t i = 0; i < constants->springs; i++) {
        struct listed_spring spring = {
            {constants->spring_nodes[i][0], constants->spring_nodes[i][1]},
            spring_material_number(constants, i),
            i,
            built_rest_length(constants, i),
        };
        visit(tangent, &spring);
    }
}

static void count_ends(struct spring_tangent *tangent, const struct listed_spring *spring)
{
    for (int end = 0; end < 2; end++)
        tangent->rows.first[spring->ends[end]]++;
}

// Stores both ends of a spring. first[node] starts as the end of the node's springs, which are
// stored backwards from there, and finishes as their start.
static void store_ends(struct spring_tangent *tangent, const struct listed_spring *spring)
{
    for (int end = 0; end < 2; end++)
        tangent->rows.ends[--tangent->rows.first[spring->ends[end]]] = (struct spring_end){
            spring->ends[1 - end], spring->material, spring->state_index, spring->rest_length};
}

taut_status REAL_NAME(tangent_listed_make)(struct spring_tangent *tangent, taut_error *error)
{
    struct spring_rows *rows = &tangent->rows;
    const taut_allocator *allocator = tangent->system->allocator;
    if (tangent->system->plan->packs || tangent->system->constants->springs == 0)
        return TAUT_OK;
    rows->first =
        memory_allocate(allocator, (size_t)tangent->system->state->nodes + 1, sizeof *rows->first);
    if (!rows->first)
        return fail_memory(error, "the tangent of springs");
    visit_springs(tangent, count_ends);
    for (size_t node = 0; node < (size_t)tangent->system->state->nodes; node++)
        rows->count = rows->first[node] += rows->count;
    rows->first[(size_t)tangent->system->state->nodes] = rows->count;
    rows->ends = memory_allocate(allocator, (size_t)rows->count, sizeof *rows->ends);
    if (!rows->ends)
        return fail_memory(error, "the tangent of springs");
    visit_springs(tangent, store_ends);
    return TAUT_OK;
}

void REAL_NAME(tangent_listed_refresh)(struct spring_tangent *tangent)
{
    struct spring_rows *rows = &tangent->rows;
    for (uint64_t i = 0; rows->ends && i < rows->count; i++)
        rows->ends[i].rest_length =
            built_rest_length(tangent->system->constants, rows->ends[i].state_index);
}

void REAL_NAME(tangent_listed_free)(struct spring_tangent *tangent)
{
    struct spring_rows *rows = &tangent->rows;
    const taut_allocator *allocator = tangent->system->allocator;
    memory_release(allocator, rows->ends, (size_t)rows->count, sizeof *rows->ends);
    memory_release(allocator, rows->first, (size_t)tangent->system->state->nodes + 1,
                   sizeof *rows->first);
}

static bool part_of_end(const struct spring_tangent *tangent, size_t node,
                        const struct spring_end *end, real stiffness, real damping,
                        struct spring_part *part)
{
    const struct state *s = tangent->system->state;
    if (s->broken && s->broken[end->state_index])
        return false;
    real rest = s->rest_length ? s->rest_length[end->state_index] : end->rest_length;
    return spring_part_of(s, tangent->kind, node, end->other,
                          &tangent->system->constants->material[end->material], rest, stiffness,
                          damping, part);
}

void REAL_NAME(tangent_listed_apply)(const struct spring_tangent *tangent, real stiffness,
                                     real damping, struct node_vectors in, struct node_vectors out,
                                     struct range nodes)
{
    const struct spring_rows *rows = &tangent->rows;
    struct spring_part part;
    for (size_t node = nodes.first; node < nodes.end; node++) {
        real x = 0, y = 0, z = 0;
        for (uint64_t i = rows->first ? rows->first[node] : 0;
             rows->first && i < rows->first[node + 1]; i++) {
            const struct spring_end *end = &rows->ends[i];
            if (!part_of_end(tangent, node, end, stiffness, damping, &part))
                continue;
            real px = in.x[node] - in.x[end->other];
            real py = in.y[node] - in.y[end->other];
            real pz = in.z[node] - in.z[end->other];
            real parallel =
                (part.along - part.across) * (part.ux * px + part.uy * py + part.uz * pz);
            x += part.across * px + parallel * part.ux;
            y += part.across * py + parallel * part.uy;
            z += part.across * pz + parallel * part.uz;
        }
        out.x[node] = x;
        out.y[node] = y;
        out.z[node] = z;
    }
}

void REAL_NAME(tangent_listed_blocks)(const struct spring_tangent *tangent, real stiffness,
                                      real damping, real (*blocks)[6], struct range nodes)
{
    const struct spring_rows *rows = &tangent->rows;
    struct spring_part part;
    if (!rows->first)
        return;
    for (size_t node = nodes.first; node < nodes.end; node++)
        for (uint64_t i = rows->first[node]; i < rows->first[node + 1]; i++)
            if (part_of_end(tangent, node, &rows->ends[i], stiffness, damping, &part))
                block_add(blocks[node], part.ux, part.uy, part.uz, part.along, part.across);
}
