// Numbers of nodes by the builders' numbers where ranks hold only their parts. The nodes of a rank
// are a run in the order of the plan, and so in that of the builders, but for bodies on no grid:
// any rank may have each of the builder's nodes of a body that is divided among ranks.
#include "solver/private.h"

#include <string.h>

#include "base/sort.h"
#include "ranks/ranks.h"
#include "springs/plan_parts.h"

struct plan_spring_piece solver_node_piece(const taut_solver *solver, uint64_t first, uint64_t end)
{
    const struct topology *topology = solver->topology;
    const struct plan_parts *parts = solver_parts(solver);
    size_t b = topology_body_of_node(topology, first);
    const struct topology_body *body = &topology->bodies[b];
    if (plan_body_is_divided(topology, solver->plan, parts, b)) {
        end = min_u64(end, body->first_node + body->node_count);
        end = min_u64(end, first + SCATTERED_AT_ONCE);
        return (struct plan_spring_piece){end - first, PLAN_SEVERAL_PARTS};
    }
    const int owner = plan_part_of_node(parts, first);
    end = min_u64(end, parts->cuts[owner + 1]);
    while (++b < topology->body_count && topology->bodies[b].first_node < end)
        if (plan_body_is_divided(topology, solver->plan, parts, b))
            end = topology->bodies[b].first_node;
    return (struct plan_spring_piece){end - first, owner};
}

// The nodes of one rank among `count` ones, from index `at` on: how many follow each other there.
static uint64_t next_run(const int *owners, uint64_t count, int rank, uint64_t *at)
{
    while (*at < count && owners[*at] != rank)
        ++*at;
    uint64_t end = *at;
    while (end < count && owners[end] == rank)
        end++;
    return end - *at;
}

// Reads the nodes of this rank into `to`, one after another, or each at its own index. Returns how
// many.
static uint64_t read_own(const taut_solver *solver, const struct scattered *it, const int *owners,
                         bool in_place, unsigned char *to)
{
    uint64_t at = 0, read = 0, run;
    while ((run = next_run(owners, it->count, ranks_number(), &at)) > 0) {
        it->read(solver, it->context, it->first + at, run, to + (in_place ? at : read) * it->bytes);
        read += run;
        at += run;
    }
    return read;
}

// Puts what a rank has sent at the indices of its nodes.
static void spread(const struct scattered *it, const int *owners, int rank,
                   const unsigned char *from, unsigned char *to)
{
    uint64_t at = 0, run;
    while ((run = next_run(owners, it->count, rank, &at)) > 0) {
        memcpy(to + at * it->bytes, from, run * it->bytes);
        from += run * it->bytes;
        at += run;
    }
}

void solver_pass_scattered(const taut_solver *solver, const struct scattered *it, int to,
                           void *numbers, void *space)
{
    const struct plan_parts *parts = solver_parts(solver);
    const int rank = ranks_number();
    int owners[SCATTERED_AT_ONCE], lowest = parts->count, highest = -1;
    for (uint64_t i = 0; i < it->count; i++) {
        owners[i] =
            plan_part_of_node(parts, topology_internal_node(solver->topology, it->first + i));
        lowest = owners[i] < lowest ? owners[i] : lowest;
        highest = owners[i] > highest ? owners[i] : highest;
    }
    for (int r = lowest; r <= highest; r++) {
        uint64_t count = 0;
        for (uint64_t i = 0; i < it->count; i++)
            count += owners[i] == r;
        if (count == 0 || (r != rank && to != rank))
            continue;
        if (r == rank)
            read_own(solver, it, owners, r == to, r == to ? numbers : space);
        ranks_pass(space, count * it->bytes, r, to);
        if (r != rank)
            spread(it, owners, r, space, numbers);
    }
}
