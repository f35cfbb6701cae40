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

static void add_spring(const struct system *system, enum tangent tangent, size_t i,
                       struct symmetric *nodes)
{
    const struct constants *constants = system->constants;
    if (spring_is_broken(system, i))
        return;
    uint32_t a = constants->spring_nodes[i][0], b = constants->spring_nodes[i][1];
    vec3 d = spring_vector(system, i);
    double length = vec3_length(d);
    if (!isfinite(length)) // of a run that diverged: its spring counts in every direction
        length = 0;
    double rest = (double)spring_rest_length(system, i);
    vec3 n = length > 0 ? vec3_scale(1 / length, d) : vec3_make(0, 0, 0);
    double along, across;
    spring_parts(spring_material(system, i), tangent, length, rest, &along, &across);
    bool free_a = constants->inverse_mass[a] != 0, free_b = constants->inverse_mass[b] != 0;
    double weight = free_a && free_b ? 2 : 1;
    if (free_a)
        add_block(&nodes[a], n, weight * along, weight * across);
    if (free_b)
        add_block(&nodes[b], n, weight * along, weight * across);
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
    for (size_t i = 0; i < (size_t)system->constants->springs; i++)
        add_spring(system, tangent, i, nodes);
    double largest = 0;
    for (size_t i = 0; i < count; i++) {
        if (system->constants->inverse_mass[i] == 0)
            continue;
        add_surroundings(system->topology, tangent, &nodes[i]);
        double rate = largest_eigenvalue(&nodes[i]) / system->topology->mass[i];
        if (rate > largest) {
            largest = rate;
            *node = i;
        }
    }
    return largest;
}

bool REAL_NAME(stiffest_spring)(const struct system *system, uint64_t node, uint64_t *spring)
{
    const struct constants *constants = system->constants;
    double stiffest = -1;
    for (uint64_t i = 0; i < constants->springs; i++) {
        const uint32_t *ends = constants->spring_nodes[i];
        if ((ends[0] != node && ends[1] != node) ||
            (system->state->broken && system->state->broken[i]))
            continue;
        double k = (double)constants->material[constants->spring_material[i]].stiffness;
        if (k > stiffest) {
            stiffest = k;
            *spring = system->plan->springs.order[i];
        }
    }
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
    result->omega = sqrt(square);
    result->bound = 2 / result->omega;
    return TAUT_OK;
}
