// Cuts the motion of a step so that no surface passes through another (divide and truncate: Chen et
// al. 2025, offset geometric contact). The nodes of a candidate lie on both sides of the plane
// midway between its closest points, at right angles to the line between them. As long as every node
// stays on its side of that plane, which may move, the two cannot cross.
//
// Displacements are cut along the line between the closest points, relative to the centre of mass of
// the candidate, so that bodies that move together are not slowed and momentum is kept; what one
// candidate cuts may be too much for another, so this is repeated. If it does not end soon, candidates
// that are still passed are cut in every direction at planes at rest, which always ends: the start of
// the step satisfies all of them. A plane that moves with a prescribed motion may push nodes into planes at
// rest without end, as where matter piles up before a wall: then planes move with that motion, too.
//
// All workers look for what passes, of pairs with a node that has moved since they were looked at; the
// first one cuts these pairs, and those next to what it has just cut, in the order of the lists. So the
// order of the cuts, on which the result depends, does not depend on threads.
//
// What a cut takes along the line is an impulse of the contact as the force of its barrier is: where it
// is the cuts that carry a body, they also are the normal force of its friction.
#include "contact/shape_contact.h"
#include "contact/surface_friction_contact.h"
#include "contact/surface_motion.h"
#include "contact/surface_shares.h"
#include "contact/surface_way.h"

#include <string.h>

#include "base/memory.h"

enum { ROUNDS_TOGETHER = 24, ROUNDS_AT_REST = 42, ROUNDS = 60 };

// ---- Which pairs may pass

// The distance, m, below which the sides of a pair are not brought.
static double least_distance(const struct surface_contact *it, const struct block_pair *pair)
{
    return CUT_LEAST * thickness_between(it, it->surfaces.blocks[pair->a].body,
                                         it->surfaces.blocks[pair->b].body);
}

// `steps` are from the start that distances of pairs belong to, which is not to the last digit that of the cut,
// unless an implicit step has it.
static double way_with_rounding(const struct surface_contact *it, double way)
{
    return it->rows ? way : way + it->rounding;
}

// The distance, m, at the start of candidates that two nodes of the blocks may have used up by moving
// relative to each other, but for what is left.
static double distance_used(const struct surface_contact *it, const struct block_pair *pair)
{
    return distance_of_cuts(way_with_rounding(it, pair_displacement(it, pair)),
                            least_distance(it, pair));
}

// As much as any two nodes of listed blocks can have used up: most pairs are farther apart.
static double distance_used_at_most(const struct surface_contact *it)
{
    struct displacements all = no_displacements();
    for (size_t b = 0; b < it->surfaces.block_count; b++)
        if (it->listed[b]) {
            displacements_include(&all, it->steps[b].least);
            displacements_include(&all, it->steps[b].most);
        }
    return 1.0001 * distance_of_cuts(way_with_rounding(it, relative_displacement(&all, &all)),
                                     CUT_LEAST * greatest_thickness(it));
}

// With fewer candidates a kernel costs more than it saves.
enum { NEAR_MIN = 8 };

// The candidates of a pair that may pass; false if none may, or without memory, which `failed` shows
// then.
static bool passing_candidates(struct surface_contact *it, struct pair_finder *finder, size_t list,
                               size_t p, struct near_codes *near, struct candidate_walk *walk)
{
    const struct surface_pair *pair = &it->lists[list].pairs[p];
    if (it->lists[list].sleeps)
        return false;
    const double used = distance_used(it, &pair->pair);
    if ((double)pair->pair.least > used)
        return false;
    if (!REAL_NAME(surface_pair_list)(it, finder, list, p, used)) {
        atomic_store(&it->failed, true);
        return false;
    }
    struct pair_codes codes = listed_codes(&it->lists[list], pair);
    // Lists, with their skins, reach farther than a step moves by far.
    if (code_total(codes.counts) > NEAR_MIN) {
        (void)least_at_start(it, &pair->pair, codes, used, near);
        codes = (struct pair_codes){near->codes, near->counts};
    }
    *walk = candidates_of(it, &pair->pair, codes);
    return true;
}

// The same of the two sides of a candidate, whose boxes were at least so far apart; most candidates
// of two blocks that turn are.
static bool candidate_may_pass(const struct system *system, const struct block_pair *pair,
                               const struct candidate *found)
{
    const struct surface_contact *it = system->surface_contact;
    const uint32_t blocks[2] = {pair->a, pair->b};
    const int split = found->edges ? 2 : 1;
    struct displacements moved[2] = {no_displacements(), no_displacements()};
    struct point start[4];
    for (int i = 0; i < 4; i++) {
        const uint32_t block = blocks[found->side[i]];
        const uint32_t entry = it->surfaces.blocks[block].first_node + (uint32_t)found->local[i];
        const uint32_t node = it->surfaces.nodes[entry];
        start[i] = REAL_NAME(surface_way_start)(system, node);
        const struct point d = point_difference(state_point(system->state, node), start[i]);
        displacements_include(&moved[i >= split], (const real[3]){d.x, d.y, d.z});
    }
    const double most = 1.001 * relative_displacement(&moved[0], &moved[1]);
    const double used =
        max_of(2 / (1 - CUT_MARGIN) * most, 2 * most + 1.001 * least_distance(it, pair));
    return !sides_are_apart(found, start, (real)used);
}

// ---- Cutting

// A candidate during the step: its nodes, where they were and how far they have moved.
struct crossing {
    uint32_t nodes[4];
    int split; // how many of them are on the first side
    vec3 start[4], moved[4], velocity[4];
    vec3 normal;
    double height[4]; // m, at the start, above the plane, each on its side
    double keep;      // m, the height that has to be left
};

static vec3 vec3_of(struct point p)
{
    return vec3_make((double)p.x, (double)p.y, (double)p.z);
}

// ---- The plane between two sides

static double within(double fraction)
{
    return fraction < 0 ? 0 : fraction > 1 ? 1 : fraction;
}

static void keep_nearest(vec3 apart, vec3 *nearest)
{
    if (vec3_dot(apart, apart) < vec3_dot(*nearest, *nearest))
        *nearest = apart;
}

// From the nearest point of the line a b to p.
static vec3 from_line(vec3 p, vec3 a, vec3 b)
{
    const vec3 along = vec3_subtract(b, a), to = vec3_subtract(p, a);
    const double square = vec3_dot(along, along);
    const double fraction = square > 0 ? within(vec3_dot(along, to) / square) : 0;
    return vec3_subtract(to, vec3_scale(fraction, along));
}

vec3 REAL_NAME(between_node_and_triangle)(const vec3 p[4])
{
    const vec3 u = vec3_subtract(p[2], p[1]), v = vec3_subtract(p[3], p[1]);
    const vec3 normal = vec3_cross(u, v), to = vec3_subtract(p[0], p[1]);
    const double square = vec3_dot(normal, normal);
    const double by_u = vec3_dot(vec3_cross(to, v), normal),
                 by_v = vec3_dot(vec3_cross(u, to), normal);
    if (square > 0 && by_u >= 0 && by_v >= 0 && by_u + by_v <= square)
        return vec3_scale(vec3_dot(to, normal) / square, normal);
    vec3 nearest = from_line(p[0], p[1], p[2]);
    keep_nearest(from_line(p[0], p[2], p[3]), &nearest);
    keep_nearest(from_line(p[0], p[3], p[1]), &nearest);
    return nearest;
}

vec3 REAL_NAME(between_edges)(const vec3 p[4])
{
    const vec3 u = vec3_subtract(p[1], p[0]), v = vec3_subtract(p[3], p[2]);
    const vec3 normal = vec3_cross(u, v), to = vec3_subtract(p[2], p[0]);
    const double square = vec3_dot(normal, normal);
    const double by_u = vec3_dot(vec3_cross(to, v), normal),
                 by_v = vec3_dot(vec3_cross(to, u), normal);
    if (square > 0 && by_u >= 0 && by_u <= square && by_v >= 0 && by_v <= square)
        return vec3_scale(-vec3_dot(to, normal) / square, normal);
    vec3 nearest = from_line(p[0], p[2], p[3]);
    keep_nearest(from_line(p[1], p[2], p[3]), &nearest);
    keep_nearest(vec3_scale(-1, from_line(p[2], p[0], p[1])), &nearest);
    keep_nearest(vec3_scale(-1, from_line(p[3], p[0], p[1])), &nearest);
    return nearest;
}

// `floor`: the least distance of the sides, m.
static void find_heights(struct crossing *it, double floor)
{
    double first = INFINITY, second = -INFINITY; // along the normal
    for (int i = 0; i < 4; i++) {
        it->height[i] = vec3_dot(it->normal, it->start[i]);
        if (i < it->split)
            first = fmin(first, it->height[i]);
        else
            second = fmax(second, it->height[i]);
    }
    // Both sides are convex, so that no point of either is nearer to the plane than these.
    const double middle = (first + second) / 2, half = fmax(0, first - second) / 2;
    it->keep = fmax(CUT_MARGIN * half, floor) / 2;
    for (int i = 0; i < 4; i++)
        it->height[i] = fmax(0, (i < it->split ? 1 : -1) * (it->height[i] - middle));
}

static void find_crossing(const struct system *system, const struct block_pair *pair,
                          const struct candidate *found, struct crossing *it)
{
    const struct surface_contact *contact = system->surface_contact;
    const uint32_t blocks[2] = {pair->a, pair->b};
    vec3 start[4];
    for (int i = 0; i < 4; i++) {
        const uint32_t block = blocks[found->side[i]];
        const struct surface_block *of = &contact->surfaces.blocks[block];
        it->nodes[i] = contact->surfaces.nodes[of->first_node + (uint32_t)found->local[i]];
        start[i] = vec3_of(REAL_NAME(surface_way_start)(system, it->nodes[i]));
        it->moved[i] = vec3_subtract(vec3_of(state_point(system->state, it->nodes[i])), start[i]);
        it->velocity[i] = step_velocity(system->state, it->nodes[i]);
    }
    memcpy(it->start, start, sizeof start);
    const vec3 apart = found->edges ? REAL_NAME(between_edges)(start)
                                    : REAL_NAME(between_node_and_triangle)(start);
    const double distance = vec3_length(apart);
    it->normal = distance > 0 ? vec3_scale(1 / distance, apart) : vec3_make(0, 0, 0);
    it->split = found->edges ? 2 : 1;
    find_heights(it, least_distance(contact, pair));
}

// The frame in which a candidate is cut, as displacements and velocities at its nodes: a common factor of
// what the nodes have relative to it is taken. It moves with the centre of mass of the nodes, so that this
// keeps momentum and takes energy; or with the nodes of prescribed motion, which nothing cuts; or it is at
// rest, if candidates are not cut together.
//
// Where such nodes would pass the plane, as those of a mesh collider that turns, and are one side, the frame
// turns and stretches with them: by an affine map x -> x + A x, A = sum of change[k] dual[k]T, which takes
// that side along, and of two edges also the turning of the other one. As affine maps keep planes and sides,
// a plane at rest in the frame keeps the sides apart.
struct frame {
    vec3 moved[4], velocity[4];
    vec3 carried[4]; // the velocities there that follow from the prescribed motion alone
    bool driven;     // there are nodes with a prescribed motion
    int directions;  // of A, 0 to 2
    vec3 change[2], dual[2];
    double size; // at least the norm of A
};

static struct frame moving_frame(const struct system *system, const struct crossing *it,
                                 bool together)
{
    const real *inverse_mass = system->constants->inverse_mass;
    vec3 moved[2] = {{0, 0, 0}, {0, 0, 0}}, velocity[2] = {{0, 0, 0}, {0, 0, 0}};
    double weights[2] = {0, 0}; // of nodes that are free, and of those that are not
    for (int i = 0; i < 4; i++) {
        const double inverse = (double)inverse_mass[it->nodes[i]];
        const double weight = inverse > 0 ? 1 / inverse : 1;
        moved[inverse == 0] = vec3_add(moved[inverse == 0], vec3_scale(weight, it->moved[i]));
        velocity[inverse == 0] =
            vec3_add(velocity[inverse == 0], vec3_scale(weight, it->velocity[i]));
        weights[inverse == 0] += weight;
    }
    const int which = weights[1] > 0;
    const double scale = which || together ? 1 / weights[which] : 0;
    struct frame frame = {.driven = which};
    for (int i = 0; i < 4; i++) {
        frame.moved[i] = vec3_scale(scale, moved[which]);
        frame.velocity[i] = frame.carried[i] = vec3_scale(scale, velocity[which]);
    }
    return frame;
}

// The vectors with a product of 1 with one of two directions and 0 with the other; false if these are nearly
// parallel: the square of their sine is below `least`.
static bool find_duals(vec3 e, vec3 f, double least, vec3 duals[2])
{
    const double ee = vec3_dot(e, e), ef = vec3_dot(e, f), ff = vec3_dot(f, f);
    const double determinant = ee * ff - ef * ef;
    if (!(determinant > least * ee * ff))
        return false;
    duals[0] = vec3_scale(1 / determinant, vec3_subtract(vec3_scale(ff, e), vec3_scale(ef, f)));
    duals[1] = vec3_scale(1 / determinant, vec3_subtract(vec3_scale(ee, f), vec3_scale(ef, e)));
    return true;
}

// A frame that moves with what pushes others, for candidates that it does not reach itself.
static struct frame carried_frame(const struct surface_contact *it)
{
    struct frame frame = {.driven = true};
    for (int i = 0; i < 4; i++) {
        frame.moved[i] = it->carrier_moved;
        frame.velocity[i] = frame.carried[i] = it->carrier_velocity;
    }
    return frame;
}

static void note_carrier(struct system *system, const struct crossing *crossing)
{
    struct surface_contact *it = system->surface_contact;
    for (int i = 0; i < 4; i++) {
        if (system->constants->inverse_mass[crossing->nodes[i]] != 0 ||
            !(vec3_dot(crossing->moved[i], crossing->moved[i]) >
              vec3_dot(it->carrier_moved, it->carrier_moved)))
            continue;
        it->carrier_moved = crossing->moved[i];
        it->carrier_velocity = crossing->velocity[i];
    }
}

// How far node i comes nearer to the plane in the frame, m.
static double approach_in(const struct frame *with, const struct crossing *it, int i)
{
    const double sign = i < it->split ? 1 : -1;
    return -sign * vec3_dot(it->normal, vec3_subtract(it->moved[i], with->moved[i]));
}

// How much more at most, as the frame turns: the height changes by that of (1 + t A)^-1 t r at the time t,
// from 0 to 1, with r the displacement relative to the frame; the terms of t2 by their value, and those of
// higher powers by a bound.
static double turned_in(const struct frame *with, const struct crossing *it, int i)
{
    if (with->directions == 0)
        return 0;
    const double sign = i < it->split ? 1 : -1;
    const vec3 relative = vec3_subtract(it->moved[i], with->moved[i]);
    double bent = 0, rest = 0;
    for (int k = 0; k < with->directions; k++) {
        const double by_normal = vec3_dot(it->normal, with->change[k]);
        bent += sign * by_normal * vec3_dot(with->dual[k], relative);
        rest += fabs(by_normal) * vec3_length(with->dual[k]);
    }
    return fmax(0, bent) + rest * (with->size / (1 - with->size) * vec3_length(relative));
}

static bool passes_plane(const struct crossing *it, int i, double approach)
{
    return approach > it->height[i] - it->keep / 2 && approach > 0;
}

static vec3 change_between(const vec3 values[4], const int nodes[2])
{
    return vec3_subtract(values[nodes[1]], values[nodes[0]]);
}

// Takes along the change of the vectors between these pairs of nodes; false if that map is not one to one.
static bool take_along(const struct crossing *it, int directions, const int between[2][2],
                       struct frame *frame)
{
    frame->directions = directions;
    frame->size = 0;
    for (int k = 0; k < directions; k++) {
        frame->change[k] = change_between(it->moved, between[k]);
        frame->size += vec3_length(frame->change[k]) * vec3_length(frame->dual[k]);
    }
    return frame->size < 0.5;
}

// Lets a frame turn with the nodes from `first` to `end`, all of which have a prescribed motion and no other
// one has.
static void turn_frame(const struct crossing *it, int first, int end, struct frame *frame)
{
    const bool edges = it->split == 2;
    const double least = edges ? 0.05 : 1e-6; // square of a sine
    const int other = edges ? 2 - first : first;
    const int between[2][2] = {{first, first + 1}, {other, edges ? other + 1 : end - 1}};
    const vec3 e = change_between(it->start, between[0]), f = change_between(it->start, between[1]);
    if (!find_duals(e, f, least, frame->dual) || !take_along(it, 2, between, frame)) {
        frame->dual[0] = vec3_scale(1 / vec3_dot(e, e), e);
        if (!edges || !take_along(it, 1, between, frame)) {
            frame->directions = 0;
            return;
        }
    }
    vec3 middle = {0, 0, 0};
    for (int i = first; i < end; i++)
        middle = vec3_add(middle, vec3_scale(1.0 / (end - first), it->start[i]));
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < frame->directions; k++) {
            const double along = vec3_dot(frame->dual[k], vec3_subtract(it->start[i], middle));
            const vec3 faster = vec3_scale(along, change_between(it->velocity, between[k]));
            frame->moved[i] = vec3_add(frame->moved[i], vec3_scale(along, frame->change[k]));
            frame->velocity[i] = vec3_add(frame->velocity[i], faster);
            if (!edges || k == 0)
                frame->carried[i] = vec3_add(frame->carried[i], faster);
        }
    for (int i = first; i < end; i++) // but for rounding
        frame->moved[i] = it->moved[i];
}

static struct frame frame_of_cut(const struct system *system, const struct crossing *it,
                                 bool together)
{
    struct frame frame = moving_frame(system, it, together);
    int driven[2] = {0, 0};
    bool passes = false;
    for (int i = 0; i < 4 && frame.driven; i++) {
        if (system->constants->inverse_mass[it->nodes[i]] != 0)
            continue;
        driven[i >= it->split]++;
        passes |= passes_plane(it, i, approach_in(&frame, it, i));
    }
    if (passes && driven[0] == it->split && driven[1] == 0)
        turn_frame(it, 0, it->split, &frame);
    else if (passes && driven[0] == 0 && driven[1] == 4 - it->split)
        turn_frame(it, it->split, 4, &frame);
    return frame;
}

// What is taken of the displacements of the nodes of a candidate, or of their velocities, if a fraction
// is left of what they have relative to the frame: along the normal, or in every direction.
static void take_all_but(double fraction, bool normal_only, const struct crossing *it,
                         const double inverse[4], const vec3 motion[4], const vec3 with[4],
                         vec3 taken[4])
{
    for (int i = 0; i < 4; i++) {
        vec3 relative = vec3_subtract(motion[i], with[i]);
        if (normal_only)
            relative = vec3_scale(vec3_dot(relative, it->normal), it->normal);
        taken[i] = vec3_scale(inverse[i] > 0 ? 1 - fraction : 0, relative);
    }
}

// Coulomb friction of that: takes of the motion along the plane of the two points, which are the sums
// of nodes with `weights`, what stops it, or as much as the coefficient allows of what has been taken
// along the normal. Between these points momentum and angular momentum are kept. Returns what the first
// point gives the second, kg m or N s.
static vec3 take_sliding(const struct crossing *it, const double inverse[4], const real weights[4],
                         const struct scene_friction *rule, const vec3 motion[4], vec3 taken[4])
{
    double pressed[2] = {0, 0}, mobility = 0; // kg m or N s, on each side; 1/kg
    vec3 sliding = {0, 0, 0};
    for (int i = 0; i < 4; i++) {
        const double weight = (double)weights[i], sign = i < it->split ? -1 : 1;
        if (inverse[i] > 0)
            pressed[i >= it->split] += sign / inverse[i] * vec3_dot(taken[i], it->normal);
        mobility += weight * weight * inverse[i];
        sliding = vec3_add(sliding, vec3_scale(weight, vec3_subtract(motion[i], taken[i])));
    }
    sliding = friction_along(sliding, it->normal);
    if (!(mobility > 0))
        return (vec3){0, 0, 0};
    const double stopped =
        friction_stopped_part(rule, mobility * fmax(pressed[0], pressed[1]), vec3_length(sliding));
    const vec3 given = vec3_scale(stopped / mobility, sliding);
    for (int i = 0; i < 4; i++)
        taken[i] = vec3_add(taken[i], vec3_scale((double)weights[i] * inverse[i], given));
    return given;
}

// The friction of a candidate, whose weights are at its closest points at the start of the step; NULL:
// none.
static const struct scene_friction *rule_and_weights(const struct system *system,
                                                     const struct block_pair *pair,
                                                     const struct candidate *found,
                                                     const struct crossing *it, real weights[4])
{
    if (!system->surface_contact->friction)
        return NULL;
    const struct scene_friction *rule = rule_of(system, pair->a, pair->b);
    if (!(rule->static_coefficient > 0))
        return NULL;
    struct point at[4];
    real parallel;
    for (int i = 0; i < 4; i++) // from one of them, so that single precision resolves them
        at[i] = (struct point){(real)(it->start[i].x - it->start[0].x),
                               (real)(it->start[i].y - it->start[0].y),
                               (real)(it->start[i].z - it->start[0].z)};
    const struct closest closest = closest_of(found, at, &parallel);
    memcpy(weights, closest.weights, sizeof closest.weights);
    return rule;
}

// Of a candidate whose motion has been cut in every direction: what momentum is lost. What a prescribed
// motion stops has given its momentum to that.
static void count_lost(struct system *system, const struct frame *with, const double inverse[4],
                       const vec3 slower[4])
{
    struct surface_cuts *cuts = &system->surface_contact->cuts;
    vec3 lost = {0, 0, 0};
    count_stopped(system);
    if (with->driven)
        return;
    for (int i = 0; i < 4; i++)
        lost = vec3_add(lost, vec3_scale(1 / inverse[i], slower[i]));
    cuts->lost[0] += lost.x;
    cuts->lost[1] += lost.y;
    cuts->lost[2] += lost.z;
    cuts->lost_lengths += vec3_length(lost);
}

// Leaves a fraction of the motion of a candidate.
static void keep_fraction(struct system *system, const struct block_pair *pair,
                          const struct candidate *found, const struct crossing *it,
                          const struct frame *with, double fraction, bool together)
{
    double inverse[4];
    real weights[4];
    vec3 back[4], slower[4];
    for (int i = 0; i < 4; i++)
        inverse[i] = (double)system->constants->inverse_mass[it->nodes[i]];
    const struct scene_friction *rule =
        together ? rule_and_weights(system, pair, found, it, weights) : NULL;
    take_all_but(fraction, together, it, inverse, it->moved, with->moved, back);
    take_all_but(fraction, together, it, inverse, it->velocity, with->velocity, slower);
    if (!together)
        count_lost(system, with, inverse, slower);
    vec3 given = {0, 0, 0};
    double work = 0; // J, of what moves the nodes with a prescribed motion
    for (int i = 0; i < 4 && with->driven; i++)
        if (inverse[i] > 0)
            work -= vec3_dot(slower[i], with->carried[i]) / inverse[i];
    if (rule) {
        (void)take_sliding(it, inverse, weights, rule, it->moved, back);
        given = take_sliding(it, inverse, weights, rule, it->velocity, slower);
    }
    for (int i = 0; i < 4; i++) {
        const uint32_t node = it->nodes[i];
        if (!(inverse[i] > 0)) {
            work += (double)(rule ? weights[i] : 0) * vec3_dot(given, it->velocity[i]);
            continue;
        }
        REAL_NAME(surface_way_log)(system, node);
        state_put(system->state, node, vec3_subtract(state_position(system->state, node), back[i]));
        put_step_velocity(system, node, vec3_subtract(it->velocity[i], slower[i]));
        REAL_NAME(surface_way_note)(system, node);
    }
    system->surface_contact->cut_work += work;
}

// The fraction of the motion relative to a plane at rest in the frame that leaves every node on its side, with
// some distance; 1: all of it; below 0 where nodes have to give way to a frame that turns. *stuck: a node
// with a prescribed motion passes the plane.
static double allowed_fraction(const struct system *system, const struct crossing *it,
                               const struct frame *with, bool *stuck)
{
    double fraction = 1;
    for (int i = 0; i < 4; i++) {
        const double approach = approach_in(with, it, i), turned = turned_in(with, it, i);
        if (!passes_plane(it, i, approach + turned))
            continue;
        double left = it->height[i] - it->keep - turned;
        if (with->directions == 0)
            left = fmax(0, left);
        if (system->constants->inverse_mass[it->nodes[i]] == 0 || !(approach > 0))
            *stuck = true;
        else
            fraction = fmin(fraction, left / approach);
    }
    return fraction;
}

// Cuts the nodes of a candidate at its plane; false if none had to be cut. A plane at rest is tried
// only where one that moves is passed: either keeps the sides apart.
static bool cut_candidate(struct system *system, const struct block_pair *pair,
                          const struct candidate *found, bool together, bool *stuck)
{
    struct crossing it;
    find_crossing(system, pair, found, &it);
    struct frame with = frame_of_cut(system, &it, true);
    double fraction = allowed_fraction(system, &it, &with, stuck);
    if (fraction < 1 && !together) {
        with = frame_of_cut(system, &it, false);
        if (!with.driven && system->surface_contact->carries)
            with = carried_frame(system->surface_contact);
        fraction = allowed_fraction(system, &it, &with, stuck);
    }
    if (with.driven)
        note_carrier(system, &it);
    if (fraction < 1)
        keep_fraction(system, pair, found, &it, &with, fraction, together);
    return fraction < 1;
}

// The fraction of its motion that leaves every node of a candidate on its side of the plane, as
// cut_candidate finds it first.
static double candidate_fraction(const struct system *system, const struct block_pair *pair,
                                 const struct candidate *found, bool *stuck)
{
    struct crossing it;
    find_crossing(system, pair, found, &it);
    const struct frame with = frame_of_cut(system, &it, true);
    return allowed_fraction(system, &it, &with, stuck);
}

// Whether any candidate of a pair has to be cut. Blocks show which pairs may pass, which in a cloth that
// turns are many; their candidates, whether one does, so that a step is only cut, and its energy
// measured, where there is something to cut.
static bool pair_passes(const struct system *system, struct pair_finder *finder, size_t index,
                        size_t p, struct near_codes *near)
{
    struct surface_contact *it = system->surface_contact;
    const struct block_pair *pair = &it->lists[index].pairs[p].pair;
    struct candidate_walk walk;
    struct candidate found;
    if (!passing_candidates(it, finder, index, p, near, &walk))
        return false;
    while (candidate_next(&walk, &found)) {
        bool stuck = false;
        if (candidate_may_pass(system, pair, &found) &&
            (candidate_fraction(system, pair, &found, &stuck) < 1 || stuck))
            return true;
    }
    return false;
}

// Finds the pairs of a list that have to be cut: all, or those of which a node has been moved in the
// round before, as no other one passes. Of pairs that are farther apart than `enough`, m, none is one.
static void find_passing(const struct system *system, struct pair_finder *finder, size_t index,
                         bool all, double enough)
{
    struct surface_contact *it = system->surface_contact;
    struct surface_list *list = &it->lists[index];
    struct near_codes near;
    list->passing_count = 0;
    for (size_t p = 0; p < list->pair_count && !list->sleeps; p++) {
        const struct block_pair *pair = &list->pairs[p].pair;
        if ((double)pair->least > enough)
            continue;
        if (!all && !blocks_have_changed(it, pair->a, pair->b, CHANGED_BEFORE))
            continue;
        if (!pair_passes(system, finder, index, p, &near))
            continue;
        if (!array_reserve((void **)&list->passing, &list->passing_capacity,
                           list->passing_count + 1, sizeof *list->passing)) {
            atomic_store(&it->failed, true);
            return;
        }
        list->passing[list->passing_count++] = (uint32_t)p;
    }
}

// After a step for which lists had to be made again, as wide as that step needed.
static void leave_wide_lists(struct surface_contact *it)
{
    it->lists_due = true;
    it->skin_least = 0;
    it->start_known = it->steps_known = it->overshot = it->bounds_known = false;
}

bool REAL_NAME(surface_contact_passes)(struct system *system, double end,
                                       const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    if (!it)
        return false;
    if (worker->index == 0)
        atomic_store(&it->passes, false);
    if (it->rows && it->start_known)
        REAL_NAME(surface_lists_cover)(system, worker);
    if (REAL_NAME(surface_lists_check)(system, worker))
        REAL_NAME(surface_lists_widen)(system, false, worker);
    const struct range lists = worker_share(worker, it->broad->list_count, 1);
    for (size_t i = lists.first; i < lists.end; i++)
        it->lists[i].passing_count = 0;
    if (it->pairs > 0) {
        struct pair_finder finder;
        REAL_NAME(pair_finder_begin)(&finder, it->broad, &it->rules);
        REAL_NAME(surface_steps_find)
        (system, worker_share(worker, it->surfaces.block_count, 1));
        worker_barrier(worker);
        const double enough = distance_used_at_most(it);
        for (size_t i = lists.first; i < lists.end; i++) {
            if (list_is_own(system, i))
                find_passing(system, &finder, i, true, enough);
            if (it->lists[i].passing_count > 0)
                atomic_store(&it->passes, true);
        }
        worker_barrier(worker);
        if (worker->index == 0 && atomic_exchange(&it->failed, false))
            REAL_NAME(surface_memory_has_run_out)(system);
        if (worker->index == 0)
            REAL_NAME(surface_shares_passing)(system);
        if (surface_shares(system))
            worker_barrier(worker);
    }
    const bool of_shapes = it->shapes && REAL_NAME(shape_contact_passes)(system, end, worker);
    const bool passes = of_shapes || atomic_load(&it->passes);
    worker_barrier(worker);
    if (worker->index == 0)
        it->steps_known = it->pairs > 0;
    if (!passes && worker->index == 0) {
        it->lists_due = it->lists_due_next;
        if (it->overshot)
            leave_wide_lists(it);
    }
    return passes;
}

// Cuts the pairs of a list that have been found to pass, and those with a node that has been moved in this
// round.
static bool cut_list(struct system *system, struct pair_finder *finder, size_t index, bool together,
                     bool *stuck)
{
    struct surface_contact *it = system->surface_contact;
    const struct surface_list *list = &it->lists[index];
    struct near_codes near;
    size_t passing = 0;
    bool cut = false;
    for (size_t p = 0; p < list->pair_count; p++) {
        const struct block_pair *pair = &list->pairs[p].pair;
        const bool passes = passing < list->passing_count && list->passing[passing] == p;
        bool stays = false;
        struct candidate_walk walk;
        struct candidate found;
        passing += passes;
        if (!passes && !blocks_have_changed(it, pair->a, pair->b, CHANGED_NOW))
            continue;
        if (!passing_candidates(it, finder, index, p, &near, &walk))
            continue;
        while (candidate_next(&walk, &found))
            if (candidate_may_pass(system, pair, &found))
                cut |= cut_candidate(system, pair, &found, together, &stays);
        if (stays) // so that it is looked at again
            it->changed[pair->a] |= CHANGED_NOW;
        *stuck |= stays;
    }
    return cut;
}

static bool cut_all(struct system *system, struct pair_finder *finder, bool together, bool *stuck)
{
    struct surface_contact *it = system->surface_contact;
    bool cut = false;
    *stuck = false;
    for (size_t i = 0; i < it->broad->list_count; i++)
        if (cut || *stuck || it->lists[i].passing_count > 0)
            cut |= cut_list(system, finder, i, together, stuck);
    if (it->shapes)
        cut |= REAL_NAME(shape_contact_cut)(system, together, stuck);
    return cut;
}

// What passes after a round. Ends with a barrier.
static void look_again(struct system *system, struct pair_finder *finder,
                       const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    const struct range lists = worker_share(worker, it->broad->list_count, 1);
    const struct range blocks = worker_share(worker, it->surfaces.block_count, 1);
    for (size_t b = blocks.first; b < blocks.end; b++) {
        const bool now = it->changed[b] & CHANGED_NOW;
        it->changed[b] = (uint8_t)((it->changed[b] & CHANGED) | (now ? CHANGED_BEFORE : 0));
        if (now)
            REAL_NAME(surface_steps_find)(system, (struct range){b, b + 1});
    }
    worker_barrier(worker);
    for (size_t i = lists.first; i < lists.end; i++)
        find_passing(system, finder, i, false, INFINITY);
    if (it->shapes) // which are in no list
        REAL_NAME(shape_contact_look)(system, false, worker);
    worker_barrier(worker);
}

// By the first worker, once the step has been cut as far as that is possible.
static void finish_cut(struct system *system, int rounds, bool stuck)
{
    struct surface_contact *it = system->surface_contact;
    const bool cut = rounds > 0;
    if (atomic_exchange(&it->failed, false))
        REAL_NAME(surface_memory_has_run_out)(system);
    if (integrator_is_implicit(system->settings.integrator)) // which may go on with the step
        it->steps_known &= !cut;
    if (cut)
        REAL_NAME(surface_contact_count_cut)(system);
    it->cuts.unresolved += rounds == ROUNDS || stuck;
    it->lists_due |= it->lists_due_next;
    it->lists_due_next = it->bounds_known = it->bounds_before = false;
    if (it->overshot)
        leave_wide_lists(it);
    if (cut)
        system->state->forces_current = system->state->energy_current = false;
}

// Cuts what passes until nothing does. Returns the number of rounds on the first worker.
static int cut_rounds(struct system *system, bool *stuck, const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    struct pair_finder finder;
    REAL_NAME(pair_finder_begin)(&finder, it->broad, &it->rules);
    for (int round = 0;; round++) {
        if (worker->index == 0) {
            it->carries =
                round >= ROUNDS_AT_REST && vec3_dot(it->carrier_moved, it->carrier_moved) > 0;
            it->cuts_again = !atomic_load(&it->failed) &&
                             cut_all(system, &finder, round < ROUNDS_TOGETHER, stuck);
        }
        worker_barrier(worker);
        const bool again = it->cuts_again && round + 1 < ROUNDS;
        if (!again)
            return round + it->cuts_again;
        look_again(system, &finder, worker);
    }
}

// Makes lists again that are complete for the way that the cut has taken, and finds what passes by these before
// it.
static void widen_lists_of_cut(struct system *system, bool most, const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    const size_t nodes =
        (size_t)system->topology->node_count + (size_t)system->topology->collider_node_count;
    real *kept = NULL; // of the first worker: the positions before the cut, for its energy
    if (worker->index == 0 && system->settings.keep_energy_budget) {
        kept = malloc(3 * nodes * sizeof *kept);
        if (kept) {
            memcpy(kept, it->old_x, nodes * sizeof *kept);
            memcpy(kept + nodes, it->old_y, nodes * sizeof *kept);
            memcpy(kept + 2 * nodes, it->old_z, nodes * sizeof *kept);
        } else {
            atomic_store(&it->failed, true);
        }
    }
    worker_barrier(worker);
    REAL_NAME(surface_lists_widen)(system, most, worker);
    if (kept) {
        memcpy(it->old_x, kept, nodes * sizeof *kept);
        memcpy(it->old_y, kept + nodes, nodes * sizeof *kept);
        memcpy(it->old_z, kept + 2 * nodes, nodes * sizeof *kept);
        free(kept);
    }
    REAL_NAME(surface_steps_find)
    (system, worker_share(worker, it->surfaces.block_count, 1));
    worker_barrier(worker);
    struct pair_finder finder;
    REAL_NAME(pair_finder_begin)(&finder, it->broad, &it->rules);
    const struct range lists = worker_share(worker, it->broad->list_count, 1);
    for (size_t i = lists.first; i < lists.end; i++)
        find_passing(system, &finder, i, true, INFINITY);
    if (it->shapes)
        REAL_NAME(shape_contact_look)(system, true, worker);
    worker_barrier(worker);
}

// By the first worker: before a cut.
static void begin_cut(struct surface_contact *it, const struct surface_cuts *before)
{
    it->cuts = *before;
    it->cut_work = 0;
    it->carrier_moved = it->carrier_velocity = (vec3){0, 0, 0};
}

// What one candidate leaves may take others where lists were not complete: then all is taken back, and the step
// is cut again by wider lists. So its cut is one that has been found by complete lists from its beginning,
// whichever they were.
void REAL_NAME(surface_contact_cut)(struct system *system, const struct worker *worker)
{
    enum { WIDENINGS = 6 };
    struct surface_contact *it = system->surface_contact;
    const struct range blocks = worker_share(worker, it->surfaces.block_count, 1);
    const struct surface_cuts before = it->cuts;
    memset(it->changed + blocks.first, 0, blocks.end - blocks.first);
    if (!REAL_NAME(surface_way_begin)(system, worker)) {
        if (worker->index == 0)
            REAL_NAME(surface_memory_has_run_out)(system);
        worker_barrier(worker);
        return;
    }
    REAL_NAME(surface_ways_find)(system, worker);
    if (system->settings.keep_energy_budget) // for the energy that the cut takes
        REAL_NAME(surface_positions_keep)(system, worker);
    if (worker->index == 0)
        begin_cut(it, &before);
    worker_barrier(worker);
    bool stuck = false; // on the first worker
    int rounds = cut_rounds(system, &stuck, worker);
    for (int i = 0; i < WIDENINGS && REAL_NAME(surface_lists_check_cut)(system, worker); i++) {
        if (worker->index == 0) {
            REAL_NAME(surface_way_undo)(system);
            begin_cut(it, &before);
        }
        memset(it->changed + blocks.first, 0, blocks.end - blocks.first);
        worker_barrier(worker);
        widen_lists_of_cut(system, i + 1 == WIDENINGS, worker);
        rounds = cut_rounds(system, &stuck, worker);
    }
    if (worker->index == 0) {
        REAL_NAME(surface_way_end)(it);
        finish_cut(system, rounds, stuck);
    }
    worker_barrier(worker);
    if (!it->steps_known)
        return;
    REAL_NAME(surface_steps_find)(system, blocks);
    worker_barrier(worker);
}

double REAL_NAME(surface_contact_cut_work)(const struct system *system)
{
    return system->surface_contact->cut_work;
}

bool REAL_NAME(surface_contact_has_cut)(struct system *system, const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    if (!it)
        return false;
    worker_barrier(worker); // the first worker has counted
    const bool has = it->cuts.cuts != it->cuts_seen;
    worker_barrier(worker);
    if (worker->index == 0)
        it->cuts_seen = it->cuts.cuts;
    return has;
}

void REAL_NAME(surface_contact_note_kinetic)(struct system *system, double kinetic)
{
    struct surface_contact *it = system->surface_contact;
    const bool first = it->cuts.cuts == it->cuts_seen;
    it->uncut_kinetic = first ? kinetic : fmax(kinetic, it->uncut_kinetic);
}

double REAL_NAME(surface_contact_uncut_kinetic)(const struct system *system)
{
    return system->surface_contact->uncut_kinetic;
}

// ---- The fraction of an implicit step

// Whether a candidate has nodes with a prescribed motion that move. Its plane moves with them, however
// much of the step is left, so that a shorter step leaves nodes in their way: these are cut instead.
static bool plane_is_driven(const struct system *system, const struct block_pair *pair,
                            const struct candidate *found)
{
    struct crossing it;
    find_crossing(system, pair, found, &it);
    for (int i = 0; i < 4; i++)
        if (system->constants->inverse_mass[it.nodes[i]] == 0 &&
            vec3_dot(it.moved[i], it.moved[i]) > 0)
            return true;
    return false;
}

static double fraction_of_list(const struct system *system, struct pair_finder *finder,
                               size_t index)
{
    struct surface_contact *it = system->surface_contact;
    const struct surface_list *list = &it->lists[index];
    struct near_codes near;
    double fraction = 1;
    for (size_t i = 0; i < list->passing_count; i++) {
        const size_t p = list->passing[i];
        struct candidate_walk walk;
        struct candidate found;
        if (!passing_candidates(it, finder, index, p, &near, &walk))
            continue;
        bool stuck = false;
        while (candidate_next(&walk, &found)) {
            if (!candidate_may_pass(system, &list->pairs[p].pair, &found))
                continue;
            const double allowed = candidate_fraction(system, &list->pairs[p].pair, &found, &stuck);
            if (allowed < fraction && !plane_is_driven(system, &list->pairs[p].pair, &found))
                fraction = allowed;
        }
    }
    return fraction;
}

double REAL_NAME(surface_contact_fraction)(struct system *system, const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    const struct range lists = worker_share(worker, it->broad->list_count, 1);
    struct pair_finder finder;
    if (it->overshot)
        return 1;
    REAL_NAME(pair_finder_begin)(&finder, it->broad, &it->rules);
    for (size_t i = lists.first; i < lists.end; i++)
        it->energies[i] = fraction_of_list(system, &finder, i);
    if (it->shapes && worker->index == 0)
        it->shapes->fraction = REAL_NAME(shape_contact_fraction)(system);
    worker_barrier(worker);
    double fraction = it->shapes ? it->shapes->fraction : 1;
    for (size_t i = 0; i < it->broad->list_count; i++)
        fraction = fmin(fraction, it->energies[i]);
    if (worker->index == 0 && atomic_exchange(&it->failed, false))
        REAL_NAME(surface_memory_has_run_out)(system);
    worker_barrier(worker);
    return fraction;
}

void REAL_NAME(surface_contact_count_cut)(struct system *system)
{
    struct surface_contact *it = system->surface_contact;
    const uint64_t step = system->state->step + 1;
    it->cuts.cuts++;
    it->cuts.steps += it->cuts.last != step;
    it->cuts.last = step;
}

struct surface_cuts REAL_NAME(surface_contact_cuts)(const struct system *system)
{
    const struct surface_contact *it = system->surface_contact;
    return it ? it->cuts : (struct surface_cuts){0};
}

void REAL_NAME(surface_contact_put_cuts)(struct system *system, const struct surface_cuts *cuts)
{
    struct surface_contact *it = system->surface_contact;
    if (!it)
        return;
    it->cuts = *cuts;
    it->cuts_seen = cuts->cuts;
}
