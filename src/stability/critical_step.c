#include "stability/critical_step.h"

#include <string.h>

#include "base/memory.h"
#include "state/reading.h"

// The upper triangle of a symmetric 3 x 3 matrix.
struct symmetric {
    double xx, yy, zz, xy, xz, yz;
};

// The largest eigenvalue, in closed form (Smith 1961: trigonometric solution of the cubic).
static double largest_eigenvalue(const struct symmetric *m)
{
    double mean = (m->xx + m->yy + m->zz) / 3;
    double off = m->xy * m->xy + m->xz * m->xz + m->yz * m->yz;
    double dx = m->xx - mean, dy = m->yy - mean, dz = m->zz - mean;
    double spread = sqrt((dx * dx + dy * dy + dz * dz + 2 * off) / 6);
    if (spread == 0)
        return mean;
    double a = dx / spread, b = dy / spread, c = dz / spread;
    double d = m->xy / spread, e = m->xz / spread, f = m->yz / spread;
    double half_determinant = (a * (b * c - f * f) - d * (d * c - f * e) + e * (d * f - b * e)) / 2;
    double cosine = fmax(-1, fmin(1, half_determinant));
    return mean + 2 * spread * cos(acos(cosine) / 3);
}

// Adds along n n' + across (I - n n').
static void add_block(struct symmetric *m, vec3 n, double along, double across)
{
    double d = along - across;
    m->xx += across + d * n.x * n.x;
    m->yy += across + d * n.y * n.y;
    m->zz += across + d * n.z * n.z;
    m->xy += d * n.x * n.y;
    m->xz += d * n.x * n.z;
    m->yz += d * n.y * n.z;
}

// The two matrices whose blocks are summed: what resists displacement, and what resists velocity.
enum tangent { TANGENT_STIFFNESS, TANGENT_DAMPING };

// A spring's part along its direction n and across it; without a direction all of it is along and
// across.
static void spring_parts(const struct spring_constants *material, enum tangent tangent,
                         double length, double rest, double *along, double *across)
{
    if (tangent == TANGENT_DAMPING) {
        *along = (double)material->damping;
        *across = material->damping_law == DAMPING_FULL || length == 0 ? *along : 0;
        return;
    }
    *along = *across = (double)material->stiffness;
    if (length > 0)
        *across = length > rest ? *along * (1 - rest / length) : 0;
}

struct joint {
    uint32_t a, b;
    double rest;
    const struct spring_constants *material;
};

static void add_spring(const struct system *system, enum tangent tangent, struct joint it,
                       struct symmetric *nodes)
{
    const struct constants *constants = system->constants;
    vec3 d = vec3_subtract(node_position(system->state, it.a), node_position(system->state, it.b));
    double length = vec3_length(d);
    if (!isfinite(length)) // of a run that diverged: its spring counts in every direction
        length = 0;
    vec3 n = length > 0 ? vec3_scale(1 / length, d) : vec3_make(0, 0, 0);
    double along, across;
    spring_parts(it.material, tangent, length, it.rest, &along, &across);
    bool free_a = constants->inverse_mass[it.a] != 0, free_b = constants->inverse_mass[it.b] != 0;
    double weight = free_a && free_b ? 2 : 1;
    if (free_a)
        add_block(&nodes[it.a], n, weight * along, weight * across);
    if (free_b)
        add_block(&nodes[it.b], n, weight * along, weight * across);
}

// The springs of blocks in the plan's order, then those of grids.
static void add_springs(const struct system *system, enum tangent tangent, struct symmetric *nodes)
{
    const struct constants *constants = system->constants;
    for (size_t i = 0; i < (size_t)constants->springs; i++) {
        const uint32_t *ends = constants->spring_nodes[i];
        struct joint joint = {ends[0], ends[1], (double)spring_rest_length(system, i),
                              spring_material(system, i)};
        if (!spring_is_broken(system, i))
            add_spring(system, tangent, joint, nodes);
    }
    for (size_t g = 0; g < system->plan->grid_count; g++) {
        const struct topology_body *body = &system->topology->bodies[system->plan->grids[g].body];
        uint64_t end = body->first_spring + body->spring_count;
        for (uint64_t spring = body->first_spring; spring < end;) {
            struct spring_run run = topology_run(system->topology, spring, end);
            struct run_memory memory = run_memory(system, &system->plan->grids[g], &run);
            for (uint32_t i = 0; i < run.count; i++) {
                struct joint joint = {run.a + i, run.b + i,
                                      (double)run_rest_length(&memory, &run, i),
                                      &constants->material[run.material]};
                if (!run_is_broken(&memory, i))
                    add_spring(system, tangent, joint, nodes);
            }
            spring += run.count;
        }
    }
}

static void add_surroundings(const struct topology *topology, enum tangent tangent,
                             struct symmetric *node)
{
    const vec3 any = {0, 0, 0};
    if (tangent == TANGENT_DAMPING)
        add_block(node, any, topology->environment.air_drag, topology->environment.air_drag);
    for (size_t c = 0; c < topology->collider_count; c++) {
        const struct scene_collider *collider = &topology->colliders[c];
        if (collider->response != RESPONSE_PENALTY)
            continue;
        bool plane = collider->type == COLLIDER_PLANE;
        if (tangent == TANGENT_STIFFNESS)
            add_block(node, collider->normal, collider->stiffness, plane ? 0 : collider->stiffness);
        else if (plane)
            add_block(node, collider->normal, collider->absorption, collider->friction);
        else
            add_block(node, any, fmax(collider->absorption, collider->friction),
                      fmax(collider->absorption, collider->friction));
    }
}

// The bound of the largest eigenvalue of M^-1 times the matrix, and the node that sets it.
static double largest_rate(const struct system *system, enum tangent tangent,
                           struct symmetric *nodes, uint64_t *node)
{
    size_t count = (size_t)system->state->nodes;
    memset(nodes, 0, count * sizeof *nodes);
    add_springs(system, tangent, nodes);
    double largest = 0;
    for (size_t outside = 0; outside < count; outside++) {
        size_t i = (size_t)topology_node_inside(system->topology, outside);
        if (system->constants->inverse_mass[i] == 0)
            continue;
        add_surroundings(system->topology, tangent, &nodes[i]);
        double rate = largest_eigenvalue(&nodes[i]) / topology_mass(system->topology, i);
        if (rate > largest) {
            largest = rate;
            *node = i;
        }
    }
    return largest;
}

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
            offer(system, body->first_spring + i, topology->spring_material[body->first_listed + i],
                  stiffest, spring);
    }
}

bool REAL_NAME(stiffest_spring)(const struct system *system, uint64_t node, uint64_t *spring)
{
    const struct constants *constants = system->constants;
    double stiffest = -1;
    for (uint64_t i = 0; i < constants->springs; i++) {
        const uint32_t *ends = constants->spring_nodes[i];
        if ((ends[0] == node || ends[1] == node) && !spring_is_broken(system, (size_t)i))
            offer(system, plan_element(&system->plan->springs, i), constants->spring_material[i],
                  &stiffest, spring);
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

taut_status REAL_NAME(critical_step_bound)(const struct system *system,
                                           struct critical_step *result, taut_error *error)
{
    size_t count = (size_t)system->state->nodes;
    struct symmetric *nodes = memory_allocate(NULL, count, sizeof *nodes);
    if (!nodes)
        return fail_memory(error, "the critical step");
    *result = (struct critical_step){0};
    uint64_t most_damped = 0;
    result->damping = largest_rate(system, TANGENT_DAMPING, nodes, &most_damped);
    double square = largest_rate(system, TANGENT_STIFFNESS, nodes, &result->node);
    memory_release(NULL, nodes, count, sizeof *nodes);
    if (!(square > 0))
        return TAUT_OK;
    result->known = REAL_NAME(stiffest_spring)(system, result->node, &result->spring);
    result->node = topology_node_outside(system->topology, result->node);
    result->spring = topology_spring_outside(system->topology, result->spring);
    result->omega = sqrt(square);
    result->bound = 2 / result->omega;
    return TAUT_OK;
}
