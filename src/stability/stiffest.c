// The stiffest spring at a node, for messages.
#include "stability/critical_step.h"

#include "state/reading.h"

// Takes the spring if it is the stiffest so far, and of equals the first that the user has.
static void offer(const struct system *system, uint64_t spring, uint32_t material, double *stiffest,
                  uint64_t *result)
{
    double k = (double)system->constants->material[material].stiffness;
    if (k > *stiffest ||
        (k == *stiffest && topology_spring_outside(system->topology, spring) <
                               topology_spring_outside(system->topology, *result))) {
        *stiffest = k;
        *result = spring;
    }
}

// The springs at a node of a grid: of each direction the one that ends there and the one that
// starts there.
static void offer_grid(const struct system *system, const struct plan_grid *grid, uint64_t node,
                       double *stiffest, uint64_t *spring)
{
    const struct topology_body *body = &system->topology->bodies[grid->body];
    for (size_t d = 0; d < body->direction_count; d++) {
        const struct topology_direction *direction =
            &system->topology->directions[body->first_direction + d];
        uint64_t own = node - body->first_node, index;
        for (int back = 1; back >= 0; back--) {
            uint64_t apart = back ? direction->to.apart : 0;
            if (own < apart || !direction_find(&direction->to, own - apart, &index))
                continue;
            if (!grid->remembers ||
                !spring_is_broken(system, (size_t)(grid->directions[d].first_place + index)))
                offer(system, direction->first_spring + index, direction->material, stiffest,
                      spring);
        }
    }
}

// The same where the springs of a grid are listed.
static void offer_listed(const struct system *system, const struct topology_body *body,
                         uint64_t node, double *stiffest, uint64_t *spring)
{
    const struct topology *topology = system->topology;
    for (uint64_t i = 0; i < body->spring_count; i++) {
        const uint32_t *ends = topology->springs[body->first_listed + i];
        if (ends[0] == node || ends[1] == node)
            offer(system, body->first_spring + i,
                  topology_listed_material(topology, body->first_listed + i), stiffest, spring);
    }
}

bool REAL_NAME(stiffest_spring)(const struct system *system, uint64_t node, uint64_t *spring)
{
    const struct constants *constants = system->constants;
    double stiffest = -1;
    for (uint64_t i = 0; i < constants->springs; i++) {
        const uint32_t *ends = constants->spring_nodes[i];
        if ((ends[0] == node || ends[1] == node) && !spring_is_broken(system, (size_t)i))
            offer(system, plan_element(&system->plan->springs, i),
                  spring_material_number(constants, i), &stiffest, spring);
    }
    size_t index = topology_body_of_node(system->topology, node);
    const struct topology_body *body = &system->topology->bodies[index];
    const struct plan_grid *grid = plan_grid_of_body(system->plan, index);
    if (grid && body->direction_count)
        offer_grid(system, grid, node, &stiffest, spring);
    else if (grid)
        offer_listed(system, body, node, &stiffest, spring);
    return stiffest >= 0;
}
