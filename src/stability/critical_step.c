#include "stability/critical_step.h"

#include "base/memory.h"

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
static void add_stiffness(struct symmetric *m, vec3 n, double along, double across)
{
    double d = along - across;
    m->xx += across + d * n.x * n.x;
    m->yy += across + d * n.y * n.y;
    m->zz += across + d * n.z * n.z;
    m->xy += d * n.x * n.y;
    m->xz += d * n.x * n.z;
    m->yz += d * n.y * n.z;
}

static void add_spring(const struct system *system, size_t i, struct symmetric *nodes)
{
    const struct state *s = system->state;
    const struct constants *constants = system->constants;
    if (s->broken && s->broken[i])
        return;
    uint32_t a = constants->spring_nodes[i][0], b = constants->spring_nodes[i][1];
    double k = (double)constants->material[constants->spring_material[i]].stiffness;
    vec3 d = vec3_make((double)s->x[a] - (double)s->x[b], (double)s->y[a] - (double)s->y[b],
                       (double)s->z[a] - (double)s->z[b]);
    double length = vec3_length(d);
    double rest = (double)(s->rest_length ? s->rest_length[i] : constants->rest_length[i]);
    double along = k, across = k; // without a direction: all of them
    vec3 n = {0, 0, 0};
    if (length > 0) {
        n = vec3_scale(1 / length, d);
        across = length > rest ? k * (1 - rest / length) : 0;
    }
    bool free_a = constants->inverse_mass[a] != 0, free_b = constants->inverse_mass[b] != 0;
    double weight = free_a && free_b ? 2 : 1;
    if (free_a)
        add_stiffness(&nodes[a], n, weight * along, weight * across);
    if (free_b)
        add_stiffness(&nodes[b], n, weight * along, weight * across);
}

static void add_colliders(const struct topology *topology, struct symmetric *node)
{
    for (size_t c = 0; c < topology->collider_count; c++) {
        const struct scene_collider *collider = &topology->colliders[c];
        if (collider->response != RESPONSE_PENALTY)
            continue;
        bool plane = collider->type == COLLIDER_PLANE;
        add_stiffness(node, collider->normal, collider->stiffness, plane ? 0 : collider->stiffness);
    }
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
    for (size_t i = 0; i < (size_t)system->constants->springs; i++)
        add_spring(system, i, nodes);
    double largest = 0;
    *result = (struct critical_step){0};
    for (size_t i = 0; i < count; i++) {
        if (system->constants->inverse_mass[i] == 0)
            continue;
        add_colliders(system->topology, &nodes[i]);
        double square = largest_eigenvalue(&nodes[i]) / system->topology->mass[i];
        if (square > largest) {
            largest = square;
            result->node = i;
        }
    }
    memory_release(NULL, nodes, count, sizeof *nodes);
    if (!(largest > 0))
        return TAUT_OK;
    result->known = REAL_NAME(stiffest_spring)(system, result->node, &result->spring);
    result->omega = sqrt(largest);
    result->bound = 2 / result->omega;
    return TAUT_OK;
}
