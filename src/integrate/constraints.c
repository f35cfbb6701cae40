// For a node that would end an implicit step inside a collider with `response: project`, the
// velocity along the normal is prescribed such that it ends on the surface; the linear system is
// solved for the remaining degrees of freedom (Baraff and Witkin 1998, section 5.3). The springs of
// the body therefore respond to an impact within its step. If nodes were projected only after the
// solve, a body would be compressed by up to v h, and the energy of stiff springs would exceed that
// of the motion.
//
// With convex energies and surfaces the step then adds no energy, at any stiffness and h: the
// positions at its start satisfy the constraints, so the residual of forces and change of momentum
// does no work along the path back to them.
//
// The preconditioner P of the conjugate gradients becomes the inverse of a node's block restricted
// to the directions across its normals; in every iteration, the components of the residual along
// normals are moved to `impulse`. These are the contact impulses with the opposite sign, which show
// the contacts that would pull.
#include "integrate/constraints.h"

#include <string.h>

#include "base/memory.h"
#include "contact/contact.h"
#include "forces/forces.h"
#include "state/reading.h"

// ---- Memory

taut_status REAL_NAME(constraints_make)(struct system *system, taut_error *error)
{
    const bool implicit = integrator_is_implicit(system->settings.integrator),
               midpoint = system->settings.integrator == INTEGRATOR_IMPLICIT_MIDPOINT;
    if (!system->settings.projects && !(implicit && system->surface_contact) &&
        !(midpoint && system->settings.penalises))
        return TAUT_OK;
    struct contact_constraints *all = memory_allocate(system->allocator, 1, sizeof *all);
    if (!all)
        return fail_memory(error, "the contacts of the implicit integrator");
    system->contacts.constraints = all;
    all->nodes =
        memory_allocate(system->allocator, (size_t)system->state->nodes, sizeof *all->nodes);
    all->changed =
        memory_allocate(system->allocator, system->contacts.blocks, sizeof *all->changed);
    all->work = memory_allocate(system->allocator, (size_t)system->state->nodes, sizeof *all->work);
    if (!all->nodes || !all->changed || !all->work ||
        !REAL_NAME(split_vectors_make)(system, &all->free_position) ||
        !REAL_NAME(split_vectors_make)(system, &all->free_velocity) ||
        !REAL_NAME(node_vectors_make)(system, &all->impulse) ||
        !REAL_NAME(node_vectors_make)(system, &all->removed))
        return fail_memory(error, "the contacts of the implicit integrator");
    return TAUT_OK;
}

void REAL_NAME(constraints_free)(struct system *system)
{
    struct contact_constraints *all = system->contacts.constraints;
    if (!all)
        return;
    memory_release(system->allocator, all->nodes, (size_t)system->state->nodes, sizeof *all->nodes);
    memory_release(system->allocator, all->changed, system->contacts.blocks, sizeof *all->changed);
    memory_release(system->allocator, all->work, (size_t)system->state->nodes, sizeof *all->work);
    REAL_NAME(split_vectors_free)(system, &all->free_position);
    REAL_NAME(split_vectors_free)(system, &all->free_velocity);
    REAL_NAME(node_vectors_free)(system, &all->impulse);
    REAL_NAME(node_vectors_free)(system, &all->removed);
    memory_release(system->allocator, all, 1, sizeof *all);
    system->contacts.constraints = NULL;
}

uint64_t REAL_NAME(constraints_bytes)(const struct system *system)
{
    const struct contact_constraints *all = system->contacts.constraints;
    const uint64_t nodes = system->state->nodes;
    if (!all)
        return 0;
    const uint64_t vectors = state_is_mixed(system->state) ? 6 : 4;
    return sizeof *all + nodes * (sizeof *all->nodes + sizeof *all->work) +
           system->contacts.blocks +
           3 * vectors * (nodes + 2 * (uint64_t)STATE_GUARD) * sizeof(real);
}

// ---- A node

// The symmetric 3 x 3 Gram matrix of the normals, xx, yy, zz, xy, xz, yz; missing normals count as
// orthogonal to all others.
static void gram(const struct constrained_node *it, double m[6])
{
    const vec3 *n = it->normal;
    m[0] = m[1] = m[2] = 1;
    m[3] = it->count > 1 ? vec3_dot(n[0], n[1]) : 0;
    m[4] = it->count > 2 ? vec3_dot(n[0], n[2]) : 0;
    m[5] = it->count > 2 ? vec3_dot(n[1], n[2]) : 0;
}

static double determinant(const double m[6])
{
    return m[0] * (m[1] * m[2] - m[5] * m[5]) - m[3] * (m[3] * m[2] - m[5] * m[4]) +
           m[4] * (m[3] * m[5] - m[1] * m[4]);
}

// The shortest combination sum of s_k n_k whose products with the normals are `wanted`: s.
static void combine(const struct constrained_node *it, const double wanted[NODE_CONSTRAINTS],
                    double s[NODE_CONSTRAINTS])
{
    double m[6], b[NODE_CONSTRAINTS] = {0};
    gram(it, m);
    for (int k = 0; k < it->count; k++)
        b[k] = wanted[k];
    const double cxx = m[1] * m[2] - m[5] * m[5], cxy = m[4] * m[5] - m[3] * m[2];
    const double cxz = m[3] * m[5] - m[4] * m[1], cyy = m[0] * m[2] - m[4] * m[4];
    const double cyz = m[3] * m[4] - m[0] * m[5], czz = m[0] * m[1] - m[3] * m[3];
    const double scale = 1 / determinant(m);
    s[0] = scale * (cxx * b[0] + cxy * b[1] + cxz * b[2]);
    s[1] = scale * (cxy * b[0] + cyy * b[1] + cyz * b[2]);
    s[2] = scale * (cxz * b[0] + cyz * b[1] + czz * b[2]);
}

static vec3 sum_normals(const struct constrained_node *it, const double s[NODE_CONSTRAINTS])
{
    vec3 sum = {0, 0, 0};
    for (int k = 0; k < it->count; k++)
        sum = vec3_add(sum, vec3_scale(s[k], it->normal[k]));
    return sum;
}

static void write_vector(struct node_vectors v, size_t i, vec3 value)
{
    v.x[i] = (real)value.x;
    v.y[i] = (real)value.y;
    v.z[i] = (real)value.z;
}

// The position of a node at the end of the step.
static vec3 end_of(const struct system *system, const struct end_rule *rule,
                   const struct linear_solver *solver, size_t i)
{
    vec3 velocity = node_velocity(system->state, i);
    if (solver)
        velocity = vec3_add(velocity, node_vector(solver->solution, i));
    return vec3_add(split_position(system->state, rule->base, i),
                    vec3_scale(rule->travel, velocity));
}

// The contact of a position with one wall of a collider, at any distance; false if it has none.
static bool contact_with(const struct system *system, size_t collider, uint8_t wall, double time,
                         vec3 position, struct contact *found)
{
    struct contact contacts[6];
    int count =
        REAL_NAME(collider_contacts_within)(system, collider, time, position, HUGE_VAL, contacts);
    for (int k = 0; k < count; k++)
        if (contacts[k].wall == wall) {
            *found = contacts[k];
            return true;
        }
    return false;
}

static bool is_listed(const struct constrained_node *it, size_t collider, int wall)
{
    for (int k = 0; k < it->count; k++)
        if (it->collider[k] == collider && it->wall[k] == wall)
            return true;
    return false;
}

// The changes found by a search.
enum { CHANGED = 1, IMPACT = 2 };

// A normal that is nearly a combination of the others is omitted: they stop the node already.
static int add_contact(const struct system *system, const struct end_rule *rule,
                       struct constrained_node *it, size_t i, size_t collider, uint8_t touched,
                       const struct contact *contact)
{
    const double independent = 1e-6;
    if (it->count == NODE_CONSTRAINTS || is_listed(it, collider, contact->wall))
        return 0;
    const int k = it->count++;
    double m[6];
    it->normal[k] = contact->normal;
    gram(it, m);
    if (!(determinant(m) > independent)) {
        it->count--;
        return 0;
    }
    const vec3 start = split_position(system->state, rule->start, i);
    const double rounding =
        16 * state_epsilon(system->state) * (fabs(start.x) + fabs(start.y) + fabs(start.z));
    struct contact before;
    it->allowed[k] = 0;
    if (contact_with(system, collider, (uint8_t)contact->wall, rule->start_time, start, &before) &&
        before.depth > rounding)
        it->allowed[k] = before.depth;
    it->collider[k] = (uint32_t)collider;
    it->wall[k] = (uint8_t)contact->wall;
    return touched >> contact->wall & 1 ? CHANGED : CHANGED | IMPACT;
}

static int add_contacts(const struct system *system, const struct end_rule *rule,
                        struct constrained_node *it, size_t i, vec3 end)
{
    const struct topology *topology = system->topology;
    const uint8_t *touching = system->state->touching;
    int changed = 0;
    for (size_t c = 0; c < topology->collider_count; c++) {
        if (topology->colliders[c].response != RESPONSE_PROJECT)
            continue;
        struct contact contacts[6];
        int count = REAL_NAME(collider_contacts)(system, c, rule->time, end, contacts);
        for (int k = 0; k < count; k++)
            changed |= add_contact(system, rule, it, i, c, touching[i], &contacts[k]);
        touching += system->state->nodes;
    }
    return changed;
}

// The part of the impulse that each surface exerts along its normal.
static void find_impulses(const struct constrained_node *it, vec3 impulse,
                          double given[NODE_CONSTRAINTS])
{
    double products[NODE_CONSTRAINTS] = {0};
    for (int k = 0; k < it->count; k++)
        products[k] = -vec3_dot(impulse, it->normal[k]);
    combine(it, products, given);
}

// Releases the contacts that pull by more than the error of the solution.
static bool release_contacts(struct constrained_node *it, vec3 impulse, double least)
{
    double s[NODE_CONSTRAINTS];
    find_impulses(it, impulse, s);
    int kept = 0;
    const int count = it->count;
    for (int k = 0; k < count; k++) {
        if (s[k] < -least)
            continue;
        it->normal[kept] = it->normal[k];
        it->allowed[kept] = it->allowed[k];
        it->collider[kept] = it->collider[k];
        it->wall[kept++] = it->wall[k];
    }
    it->count = (uint8_t)kept;
    return kept < count;
}

// ---- All nodes

void REAL_NAME(constraints_clear)(struct system *system, const struct worker *worker)
{
    struct contact_constraints *all = system->contacts.constraints;
    const struct range share = contact_block_share(system, worker);
    for (size_t block = share.first; block < share.end && all->present; block++) {
        const struct range nodes = contact_block_nodes(system, block);
        for (size_t i = nodes.first; i < nodes.end; i++)
            all->nodes[i].count = 0;
    }
    worker_barrier(worker); // all have read `present`
    if (worker->index == 0)
        all->present = false;
    worker_barrier(worker);
}

static uint8_t find_in_block(struct system *system, const struct end_rule *rule,
                             const struct linear_solver *solver, bool drops, struct range nodes)
{
    struct contact_constraints *all = system->contacts.constraints;
    const struct state *s = system->state;
    const double gravity = vec3_length(system->topology->environment.gravity);
    double slack = 0;
    if (rule->travel != rule->g)
        slack += fabs(rule->travel - rule->g) *
                 REAL_NAME(contact_greatest_length)(system, s->vx, s->vy, s->vz, nodes);
    if (solver)
        slack += rule->travel * REAL_NAME(contact_greatest_length)(system, solver->solution.x,
                                                                   solver->solution.y,
                                                                   solver->solution.z, nodes);
    uint64_t near[CONTACT_BLOCK / 64];
    REAL_NAME(contacts_within)
    (system, RESPONSE_PROJECT, rule->time, nodes, 1.001 * slack, near);
    int changed = 0;
    for (size_t i = nodes.first; i < nodes.end; i++) {
        struct constrained_node *it = &all->nodes[i];
        const size_t bit = i - nodes.first;
        const double inverse_mass = (double)system->constants->inverse_mass[i];
        if (solver && drops && it->count > 0) {
            vec3 velocity = node_velocity(s, i), change = node_vector(solver->solution, i);
            double speed = vec3_length(velocity) + vec3_length(change) + gravity * rule->g;
            changed |=
                release_contacts(it, node_vector(all->impulse, i), 1e-6 * speed / inverse_mass);
        }
        if ((near[bit / 64] >> (bit % 64) & 1) && inverse_mass != 0)
            changed |= add_contacts(system, rule, it, i, end_of(system, rule, solver, i));
    }
    return (uint8_t)changed;
}

bool REAL_NAME(constraints_impact)(const struct system *system)
{
    const struct contacts *contacts = &system->contacts;
    return memchr(contacts->constraints->changed, CHANGED | IMPACT, contacts->blocks) != NULL;
}

bool REAL_NAME(constraints_find)(struct system *system, const struct end_rule *rule,
                                 const struct linear_solver *solver, bool drops,
                                 const struct worker *worker)
{
    struct contact_constraints *all = system->contacts.constraints;
    const struct range share = contact_block_share(system, worker);
    worker_barrier(worker); // all have read the result of the last search, and d is complete
    for (size_t block = share.first; block < share.end; block++)
        all->changed[block] =
            find_in_block(system, rule, solver, drops, contact_block_nodes(system, block));
    worker_barrier(worker);
    const bool changed = memchr(all->changed, CHANGED, system->contacts.blocks) != NULL ||
                         REAL_NAME(constraints_impact)(system);
    if (worker->index == 0 && changed)
        all->present = true;
    return changed;
}

void REAL_NAME(constraints_find_direction)(struct system *system, const struct end_rule *rule,
                                           struct linear_solver *solver,
                                           const struct worker *worker)
{
    struct contact_constraints *all = system->contacts.constraints;
    const struct range share = contact_block_share(system, worker);
    for (size_t block = share.first; block < share.end; block++) {
        const struct range nodes = contact_block_nodes(system, block);
        for (size_t i = nodes.first; i < nodes.end; i++) {
            struct constrained_node *it = &all->nodes[i];
            double wanted[NODE_CONSTRAINTS] = {0}, along[NODE_CONSTRAINTS] = {0};
            const vec3 end = it->count > 0 ? end_of(system, rule, solver, i) : (vec3){0, 0, 0};
            for (int k = 0; k < it->count; k++) {
                struct contact contact;
                if (!contact_with(system, it->collider[k], it->wall[k], rule->time, end, &contact))
                    continue;
                it->normal[k] = contact.normal; // a sphere's normal changes with position
                wanted[k] = (contact.depth - it->allowed[k]) / rule->travel;
            }
            if (it->count > 0)
                combine(it, wanted, along);
            write_vector(solver->direction, i, sum_normals(it, along));
        }
    }
    worker_barrier(worker);
}

void REAL_NAME(constraints_finish)(struct system *system, const struct end_rule *rule,
                                   const struct worker *worker)
{
    struct contact_constraints *all = system->contacts.constraints;
    const double steps = system->settings.dt / rule->g; // the impulse is that of a stage
    const struct range share = contact_block_share(system, worker);
    for (size_t block = share.first; block < share.end; block++) {
        const struct range nodes = contact_block_nodes(system, block);
        for (size_t i = nodes.first; i < nodes.end; i++) {
            const struct constrained_node *it = &all->nodes[i];
            double given[NODE_CONSTRAINTS] = {0};
            all->work[i][0] = all->work[i][1] = 0;
            if (it->count == 0)
                continue;
            const vec3 before = split_vector(rule->start_velocity, i);
            vec3 after = node_velocity(system->state, i);
            if (rule->mirrored)
                after = vec3_subtract(vec3_scale(2, after), before);
            const vec3 mean = vec3_scale(0.5, vec3_add(before, after));
            find_impulses(it, node_vector(all->impulse, i), given);
            for (int k = 0; k < it->count; k++) {
                const vec3 moves = system->state->collider_velocity[it->collider[k]];
                all->work[i][0] += steps * given[k] * vec3_dot(it->normal[k], mean);
                all->work[i][1] += steps * given[k] * vec3_dot(it->normal[k], moves);
            }
        }
    }
    worker_barrier(worker);
}

// ---- The filter

static double quadratic(const double m[6], vec3 a, vec3 b)
{
    return m[0] * a.x * b.x + m[1] * a.y * b.y + m[2] * a.z * b.z + m[3] * (a.x * b.y + a.y * b.x) +
           m[4] * (a.x * b.z + a.z * b.x) + m[5] * (a.y * b.z + a.z * b.y);
}

// Removes n from the block m: m becomes 0 along n, and across n the inverse of the restriction of
// its own inverse.
static void project_block_out(double m[6], vec3 n)
{
    const double size = quadratic(m, n, n);
    if (!(size > 0))
        return;
    const vec3 w = {m[0] * n.x + m[3] * n.y + m[4] * n.z, m[3] * n.x + m[1] * n.y + m[5] * n.z,
                    m[4] * n.x + m[5] * n.y + m[2] * n.z};
    const double products[6] = {w.x * w.x, w.y * w.y, w.z * w.z, w.x * w.y, w.x * w.z, w.y * w.z};
    for (int k = 0; k < 6; k++)
        m[k] -= products[k] / size;
}

// Orthonormalises the normals (Gram-Schmidt).
static void orthonormal(const struct constrained_node *it, vec3 q[NODE_CONSTRAINTS])
{
    for (int k = 0; k < it->count; k++) {
        q[k] = it->normal[k];
        for (int before = 0; before < k; before++)
            q[k] = vec3_subtract(q[k], vec3_scale(vec3_dot(q[before], q[k]), q[before]));
        q[k] = vec3_scale(1 / vec3_length(q[k]), q[k]);
    }
}

static void filter_node(struct constrained_node *it, union block_group *group, size_t lane)
{
    double m[6];
    vec3 q[NODE_CONSTRAINTS];
    if (!it->saved)
        for (int k = 0; k < 6; k++)
            it->inverse[k] = group->entries[k][lane];
    it->saved = true;
    for (int k = 0; k < 6; k++)
        m[k] = (double)it->inverse[k];
    orthonormal(it, q);
    for (int k = 0; k < it->count; k++)
        project_block_out(m, q[k]);
    for (int k = 0; k < 6; k++)
        group->entries[k][lane] = it->count == NODE_CONSTRAINTS ? 0 : (real)m[k];
}

// The part of v along the normals.
static vec3 along_normals(const struct constrained_node *it, vec3 v)
{
    vec3 q[NODE_CONSTRAINTS], sum = {0, 0, 0};
    if (it->count == NODE_CONSTRAINTS)
        return v;
    orthonormal(it, q);
    for (int k = 0; k < it->count; k++)
        sum = vec3_add(sum, vec3_scale(vec3_dot(q[k], v), q[k]));
    return sum;
}

// The impulses of a node are returned to the residual first, because its constraints may have
// changed.
static void split_residual(struct contact_constraints *all, const struct constrained_node *it,
                           struct node_vectors residual, size_t i)
{
    const vec3 r = vec3_add(node_vector(residual, i), node_vector(all->impulse, i));
    const vec3 n = along_normals(it, r);
    write_vector(all->impulse, i, n);
    write_vector(residual, i, vec3_subtract(r, n));
}

void REAL_NAME(constraints_filter)(struct system *system, struct linear_solver *solver,
                                   bool renewed, const struct worker *worker)
{
    struct contact_constraints *all = system->contacts.constraints;
    const struct range share = contact_block_share(system, worker);
    for (size_t block = share.first; block < share.end; block++) {
        const struct range nodes = contact_block_nodes(system, block);
        for (size_t i = nodes.first; i < nodes.end; i++) {
            struct constrained_node *it = &all->nodes[i];
            if (renewed) {
                it->saved = false;
                write_vector(all->impulse, i, vec3_make(0, 0, 0));
            }
            if (it->count == 0 && !it->saved)
                continue;
            filter_node(it, &solver->preconditioner.inverse[i / LANES], i % LANES);
            split_residual(all, it, solver->residual, i);
        }
    }
    worker_barrier(worker);
}

void REAL_NAME(constraints_project_out)(const struct contact_constraints *all, struct range nodes,
                                        struct node_vectors vectors, struct node_vectors removed)
{
    for (size_t i = nodes.first; i < nodes.end; i++) {
        const struct constrained_node *it = &all->nodes[i];
        if (it->count == 0)
            continue;
        const vec3 v = node_vector(vectors, i), n = along_normals(it, v);
        write_vector(vectors, i, vec3_subtract(v, n));
        if (removed.x)
            write_vector(removed, i, n);
    }
}

void REAL_NAME(constraints_advance)(const struct contact_constraints *all, struct range nodes,
                                    double length)
{
    for (size_t i = nodes.first; i < nodes.end; i++)
        if (all->nodes[i].count > 0)
            write_vector(all->impulse, i,
                         vec3_subtract(node_vector(all->impulse, i),
                                       vec3_scale(length, node_vector(all->removed, i))));
}
