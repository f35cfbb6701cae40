// Cuts the motion of a step so that no surface passes through another (divide and truncate: Chen et
// al. 2025, offset geometric contact). The nodes of a candidate lie on both sides of the plane
// midway between its closest points, at right angles to the line between them. As long as every node
// stays on its side of that plane, which may move, the two cannot cross.
//
// Displacements are cut relative to the mean displacement of the candidate, so that bodies that move
// together are not slowed; what one candidate cuts may be too much for another, so this is repeated.
// If it does not end soon, displacements are cut relative to planes at rest, which always ends: the
// start of the step satisfies all of them.
#include "contact/surface_lists.h"

#include <string.h>

// A node may use all but this part of its distance from the plane. Nor may it come so near to it
// that the two sides are nearer than this part of the thickness, which rounding of positions must not
// use up.
static const double MARGIN = 0.1, LEAST = 0.02;

enum { ROUNDS_TOGETHER = 24, ROUNDS = 60 };

// ---- Which pairs may pass

static void find_step(const struct system *system, size_t b)
{
    const struct surface_contact *it = system->surface_contact;
    const struct surface_block *block = &it->surfaces.blocks[b];
    struct displacements *step = &it->steps[b];
    for (int axis = 0; axis < 3; axis++) {
        step->least[axis] = REAL_HUGE;
        step->most[axis] = -REAL_HUGE;
    }
    for (uint32_t i = 0; i < block->nodes; i++) {
        const struct point now =
            state_point(system->state, it->surfaces.nodes[block->first_node + i]);
        const struct point d = point_difference(now, block_point(it->start[b], (int)i));
        const real by_axis[3] = {d.x, d.y, d.z};
        for (int axis = 0; axis < 3; axis++) {
            step->least[axis] =
                by_axis[axis] < step->least[axis] ? by_axis[axis] : step->least[axis];
            step->most[axis] = by_axis[axis] > step->most[axis] ? by_axis[axis] : step->most[axis];
        }
    }
}

static double thickness_between(const struct surface_contact *it, const struct block_pair *pair)
{
    return it->half_thickness[it->surfaces.blocks[pair->a].body] +
           it->half_thickness[it->surfaces.blocks[pair->b].body];
}

// Whether two nodes of the blocks may have moved relative to each other by as much as would use up
// the least distance.
static bool pair_may_pass(const struct surface_contact *it, const struct block_pair *pair,
                          float least)
{
    const struct displacements *a = &it->steps[pair->a], *b = &it->steps[pair->b];
    double square = 0;
    for (int axis = 0; axis < 3; axis++) {
        const double most = fmax(fabs((double)a->most[axis] - (double)b->least[axis]),
                                 fabs((double)b->most[axis] - (double)a->least[axis]));
        square += most * most;
    }
    // Each of the two sides may use half of the distance.
    const double floor = LEAST * thickness_between(it, pair);
    const double allowed = fmin((1 - MARGIN) * (double)least, (double)least - floor) / 2;
    return !(allowed > 0 && square < allowed * allowed);
}

static bool list_may_pass(const struct surface_contact *it, size_t index)
{
    const struct pair_list *list = &it->broad->lists[index];
    for (size_t p = 0; p < list->pair_count; p++)
        if (pair_may_pass(it, &list->pairs[p], it->least[index][p]))
            return true;
    return false;
}

bool REAL_NAME(surface_contact_passes)(struct system *system, const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    if (!it)
        return false;
    if (worker->index == 0)
        atomic_store(&it->may_pass, false);
    const bool overshot = REAL_NAME(surface_lists_check)(system, worker);
    if (!overshot && it->candidates > 0) {
        const struct range blocks = worker_share(worker, it->surfaces.block_count, 1);
        const struct range lists = worker_share(worker, it->broad->list_count, 1);
        for (size_t b = blocks.first; b < blocks.end; b++)
            if (it->listed[b])
                find_step(system, b);
        worker_barrier(worker);
        for (size_t i = lists.first; i < lists.end; i++)
            if (list_may_pass(it, i))
                atomic_store(&it->may_pass, true);
        worker_barrier(worker);
    }
    const bool passes = overshot || atomic_load(&it->may_pass);
    worker_barrier(worker);
    if (!passes && worker->index == 0)
        it->lists_due = it->lists_due_next;
    return passes;
}

// ---- Cutting

// A candidate during the step: its nodes, where they were and how far they have moved.
struct crossing {
    uint32_t nodes[4];
    vec3 start[4], moved[4];
    double weights[4];
    vec3 normal;
    double distance;
};

static vec3 vec3_of(struct point p)
{
    return vec3_make((double)p.x, (double)p.y, (double)p.z);
}

// Where a node was at the start of the step; or, if lists were not complete for it, when they were
// made the last time.
static struct point start_of(const struct system *system, size_t block, int local, uint32_t node)
{
    const struct surface_contact *it = system->surface_contact;
    if (!it->overshot)
        return block_point(it->start[block], local);
    return (struct point){it->old_x[node], it->old_y[node], it->old_z[node]};
}

static void find_crossing(const struct system *system, const struct block_pair *pair,
                          const struct candidate *found, struct crossing *it)
{
    const struct surface_contact *contact = system->surface_contact;
    const uint32_t blocks[2] = {pair->a, pair->b};
    struct point start[4];
    for (int i = 0; i < 4; i++) {
        const uint32_t block = blocks[found->side[i]];
        const struct surface_block *of = &contact->surfaces.blocks[block];
        it->nodes[i] = contact->surfaces.nodes[of->first_node + (uint32_t)found->local[i]];
        start[i] = start_of(system, block, found->local[i], it->nodes[i]);
        it->start[i] = vec3_of(start[i]);
        it->moved[i] =
            vec3_subtract(vec3_of(state_point(system->state, it->nodes[i])), it->start[i]);
    }
    real parallel;
    const struct closest closest = closest_of(found, start, &parallel);
    it->distance = sqrt((double)closest.square);
    it->normal = it->distance > 0 ? vec3_scale(1 / it->distance, vec3_of(closest.apart))
                                  : vec3_make(0, 0, 0);
    for (int i = 0; i < 4; i++)
        it->weights[i] = (double)closest.weights[i];
}

// How far the plane moves with the candidate: as the centre of mass of its nodes does, so that a
// common factor of their displacements relative to it keeps their momentum and takes energy; with a
// side that has a prescribed motion as that one. It is at rest if candidates are not cut together.
static vec3 plane_displacement(const struct system *system, const struct crossing *it, int split,
                               bool together)
{
    const real *inverse_mass = system->constants->inverse_mass;
    vec3 sum[2] = {{0, 0, 0}, {0, 0, 0}}, prescribed[2] = {{0, 0, 0}, {0, 0, 0}};
    double mass[2] = {0, 0};
    for (int i = 0; i < 4; i++) {
        const int side = i >= split;
        const double inverse = (double)inverse_mass[it->nodes[i]];
        prescribed[side] =
            vec3_add(prescribed[side], vec3_scale(1.0 / (side ? 4 - split : split), it->moved[i]));
        if (inverse > 0) {
            sum[side] = vec3_add(sum[side], vec3_scale(1 / inverse, it->moved[i]));
            mass[side] += 1 / inverse;
        }
    }
    if ((mass[0] == 0) != (mass[1] == 0))
        return mass[0] == 0 ? prescribed[0] : prescribed[1];
    if (!together || mass[0] == 0)
        return vec3_make(0, 0, 0);
    return vec3_scale(1 / (mass[0] + mass[1]), vec3_add(sum[0], sum[1]));
}

static void set_displacement(struct system *system, const struct crossing *it, int i, vec3 moved)
{
    struct state *s = system->state;
    const uint32_t node = it->nodes[i];
    const vec3 change = vec3_subtract(moved, it->moved[i]);
    const vec3 faster = vec3_scale(1 / system->settings.position_step, change);
    state_put(s, node, vec3_add(state_position(s, node), change));
    const vec3 velocity = vec3_make((double)s->vx[node] + (double)real_low(s->vx_low, node),
                                    (double)s->vy[node] + (double)real_low(s->vy_low, node),
                                    (double)s->vz[node] + (double)real_low(s->vz_low, node));
    state_put_velocity(s, node, vec3_add(velocity, faster));
}

// Cuts the nodes of a candidate at its plane; false if none had to be cut.
static bool cut_candidate(struct system *system, const struct block_pair *pair,
                          const struct candidate *found, bool together)
{
    struct crossing it;
    find_crossing(system, pair, found, &it);
    const int split = found->edges ? 2 : 1;
    const vec3 with = plane_displacement(system, &it, split, together);
    vec3 relative[4];
    double first = INFINITY, second = -INFINITY; // heights along the normal at the start
    for (int i = 0; i < 4; i++) {
        const double height = vec3_dot(it.normal, it.start[i]);
        relative[i] = vec3_subtract(it.moved[i], with);
        if (i < split)
            first = fmin(first, height);
        else
            second = fmax(second, height);
    }
    // Both sides are convex, so that no point of either is nearer to the plane than these.
    const double middle = (first + second) / 2, half = fmax(0, first - second) / 2;
    const double floor = LEAST * thickness_between(system->surface_contact, pair);
    const double keep = fmax(MARGIN * half, floor) / 2;
    double part = 1;
    for (int i = 0; i < 4; i++) {
        const double sign = i < split ? 1 : -1;
        const double height = fmax(0, sign * (vec3_dot(it.normal, it.start[i]) - middle));
        const double approach = -sign * vec3_dot(it.normal, relative[i]);
        // Nodes with a prescribed motion stay where it puts them.
        if (approach > height - keep / 2 && approach > 0 &&
            system->constants->inverse_mass[it.nodes[i]] != 0)
            part = fmin(part, fmax(0, height - keep) / approach);
    }
    for (int i = 0; i < 4 && part < 1; i++)
        if (system->constants->inverse_mass[it.nodes[i]] != 0)
            set_displacement(system, &it, i, vec3_add(with, vec3_scale(part, relative[i])));
    return part < 1;
}

static bool cut_all(struct system *system, bool together)
{
    const struct surface_contact *it = system->surface_contact;
    bool cut = false;
    for (size_t b = 0; b < it->surfaces.block_count; b++)
        if (it->listed[b] && !it->overshot)
            find_step(system, b);
    for (size_t i = 0; i < it->broad->list_count; i++) {
        const struct pair_list *list = &it->broad->lists[i];
        for (size_t p = 0; p < list->pair_count; p++) {
            if (!it->overshot && !pair_may_pass(it, &list->pairs[p], it->least[i][p]))
                continue;
            struct candidate_walk walk = candidates_of(it, list, &list->pairs[p]);
            struct candidate found;
            while (candidate_next(&walk, &found))
                cut |= cut_candidate(system, &list->pairs[p], &found, together);
        }
    }
    return cut;
}

void REAL_NAME(surface_contact_cut)(struct system *system, const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    if (it->overshot) { // to lists that are complete for the whole step
        const struct range share = node_share(system, worker);
        const size_t bytes = (share.end - share.first) * sizeof(real);
        memcpy(it->old_x + share.first, it->list_x + share.first, bytes);
        memcpy(it->old_y + share.first, it->list_y + share.first, bytes);
        memcpy(it->old_z + share.first, it->list_z + share.first, bytes);
        if (worker->index == 0)
            it->lists_due = it->lists_due_next = true;
        REAL_NAME(surface_lists_prepare)(system, worker);
    }
    if (worker->index == 0) {
        int round = 0;
        bool cut = false;
        while (round < ROUNDS && cut_all(system, round < ROUNDS_TOGETHER)) {
            cut = true;
            round++;
        }
        it->cut_steps += cut;
        it->unresolved += round == ROUNDS;
        it->lists_due |= it->lists_due_next;
        if (it->overshot)
            it->lists_due = true;
        it->overshot = it->lists_due_next = false;
        if (cut)
            system->state->forces_current = system->state->energy_current = false;
    }
    worker_barrier(worker);
}

struct surface_cuts REAL_NAME(surface_contact_cuts)(const struct system *system)
{
    const struct surface_contact *it = system->surface_contact;
    return it ? (struct surface_cuts){it->cut_steps, it->unresolved} : (struct surface_cuts){0, 0};
}
