// The plane between the two sides of a candidate, and frames (surface_planes.h).
#include "contact/surface_planes.h"

#include <float.h>
#include <string.h>

#include "contact/surface_tangent.h"
#include "contact/surface_rollback.h"

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

// What is less than this fraction of the least distance apart is tight: half of that distance is
// what a cut leaves alone, and approaches that are within rounding may use a quarter of it.
#define TIGHT 0.375

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
    it->tight = first - second < TIGHT * floor;
    for (int i = 0; i < 4; i++)
        it->height[i] = fmax(0, (i < it->split ? 1 : -1) * (it->height[i] - middle));
}

// A state rounds positions to its precision, and computes them in double from those that it has.
static void find_rounding(struct crossing *it, vec3 origin)
{
    it->rounding = it->digits = 0;
    for (int i = 0; i < 4; i++) {
        const vec3 n = it->normal, p = it->start[i], d = it->moved[i];
        const double along = fabs(n.x) * (fabs(p.x) + fabs(d.x)) +
                             fabs(n.y) * (fabs(p.y) + fabs(d.y)) +
                             fabs(n.z) * (fabs(p.z) + fabs(d.z));
        it->rounding = fmax(it->rounding, (double)REAL_EPSILON * along);
        it->digits = fmax(it->digits, 8 * DBL_EPSILON *
                                          (vec3_length(p) + vec3_length(d) + vec3_length(origin)));
    }
}

void REAL_NAME(crossing_find)(const struct system *system, const struct block_pair *pair,
                              const struct candidate *found, struct crossing *it)
{
    const struct surface_contact *contact = system->surface_contact;
    const uint32_t blocks[2] = {pair->a, pair->b};
    vec3 start[4];
    for (int i = 0; i < 4; i++) {
        it->nodes[i] = block_node(contact, blocks[found->side[i]], found->local[i]);
        start[i] = vec3_of_point(REAL_NAME(surface_step_start)(system, it->nodes[i]));
        it->moved[i] =
            vec3_subtract(vec3_of_point(state_point(system->state, it->nodes[i])), start[i]);
        it->velocity[i] = step_velocity(system->state, it->nodes[i]);
    }
    memcpy(it->start, start, sizeof start);
    const vec3 apart = found->edges ? REAL_NAME(between_edges)(start)
                                    : REAL_NAME(between_node_and_triangle)(start);
    const double distance = vec3_length(apart);
    it->normal = distance > 0 ? vec3_scale(1 / distance, apart) : vec3_make(0, 0, 0);
    it->split = found->edges ? 2 : 1;
    it->least = least_distance(contact, pair);
    find_heights(it, it->least);
    find_rounding(it, system->state->origin);
}

bool REAL_NAME(crossing_narrows)(const struct crossing *it)
{
    double start[2] = {INFINITY, INFINITY}, end[2] = {INFINITY, INFINITY}; // m, on each side
    for (int i = 0; i < 4; i++) {
        const int side = i >= it->split;
        const vec3 away = vec3_scale(side ? -1 : 1, it->normal);
        const double height = vec3_dot(away, it->start[i]);
        start[side] = fmin(start[side], height);
        end[side] = fmin(end[side], height + vec3_dot(away, it->moved[i]));
    }
    return end[0] + end[1] < start[0] + start[1] - it->digits;
}

// Additive continuous collision detection (Li et al. 2021, codimensional incremental potential
// contact): while the sides are a distance d apart they stay apart by half of `least` for as long
// as their points take for the rest of d, relative to each other. Nodes move evenly, relative to
// the mean of all four.
bool REAL_NAME(crossing_stays_apart)(const struct crossing *it)
{
    enum { ADVANCES = 100 };
    vec3 mean = {0, 0, 0}, relative[4];
    double speeds[2] = {0, 0}; // m in the step
    for (int i = 0; i < 4; i++)
        mean = vec3_add(mean, vec3_scale(0.25, it->moved[i]));
    for (int i = 0; i < 4; i++) {
        relative[i] = vec3_subtract(it->moved[i], mean);
        speeds[i >= it->split] = fmax(speeds[i >= it->split], vec3_length(relative[i]));
    }
    double time = 0;
    for (int advance = 0; advance < ADVANCES; advance++) {
        vec3 at[4];
        for (int i = 0; i < 4; i++)
            at[i] = vec3_add(it->start[i], vec3_scale(time, relative[i]));
        const vec3 apart = it->split == 2 ? REAL_NAME(between_edges)(at)
                                          : REAL_NAME(between_node_and_triangle)(at);
        const double distance = vec3_length(apart);
        if (!(distance >= it->least))
            return false;
        if (time == 1)
            return true;
        time += (distance - it->least / 2) / (speeds[0] + speeds[1]);
        if (!(time < 1))
            time = 1;
    }
    return false;
}

// ---- Frames

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
    const struct surface_contact *contact = system->surface_contact;
    const int which = weights[1] > 0;
    struct frame frame = {.driven = which, .common = !which && !together};
    if (frame.common && contact->moves) {
        for (int i = 0; i < 4; i++) {
            frame.moved[i] = contact->frame_moved;
            frame.velocity[i] = frame.carried[i] = contact->frame_velocity;
        }
        return frame;
    }
    const double scale = which || together ? 1 / weights[which] : 0;
    for (int i = 0; i < 4; i++) {
        frame.moved[i] = vec3_scale(scale, moved[which]);
        frame.velocity[i] = frame.carried[i] = vec3_scale(scale, velocity[which]);
    }
    return frame;
}

// The vectors with a product of 1 with one of two directions and 0 with the other; false if these
// are nearly parallel: the square of their sine is below `least`.
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

struct frame REAL_NAME(frame_carried)(const struct system *system, const struct crossing *it,
                                      const struct carrier *carrier)
{
    struct frame frame = {.driven = true, .directions = carrier->directions, .size = carrier->size};
    memcpy(frame.change, carrier->change, sizeof frame.change);
    memcpy(frame.dual, carrier->dual, sizeof frame.dual);
    for (int i = 0; i < 4; i++) {
        const vec3 from = vec3_subtract(it->start[i], carrier->origin);
        frame.moved[i] = carrier->moved;
        frame.velocity[i] = carrier->velocity;
        for (int k = 0; k < carrier->directions; k++) {
            const double along = vec3_dot(carrier->dual[k], from);
            frame.moved[i] = vec3_add(frame.moved[i], vec3_scale(along, carrier->change[k]));
            frame.velocity[i] = vec3_add(frame.velocity[i], vec3_scale(along, carrier->faster[k]));
        }
        frame.carried[i] = frame.velocity[i];
        if (it->nodes[i] >= system->topology->node_count) // but for rounding
            frame.moved[i] = it->moved[i];
    }
    return frame;
}

// ---- Planes that are passed

// How far node i comes nearer to the plane in the frame, m.
double REAL_NAME(frame_approach)(const struct frame *with, const struct crossing *it, int i)
{
    const double sign = i < it->split ? 1 : -1;
    return -sign * vec3_dot(it->normal, vec3_subtract(it->moved[i], with->moved[i]));
}

// How much more at most, as the frame turns: the height changes by that of (1 + t A)^-1 t r at the
// time t, from 0 to 1, with r the displacement relative to the frame; the terms of t2 by their
// value, and those of higher powers by a bound.
double REAL_NAME(frame_turned)(const struct frame *with, const struct crossing *it, int i)
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

// Less than a node that moves with the frame may come nearer as positions are rounded is no
// approach: where sides are as near as they may be, nothing that is done with their motion would
// end it.
bool REAL_NAME(crossing_passes)(const struct crossing *it, int i, double approach)
{
    const vec3 p = it->start[i];
    const double rounding = 4 * (double)REAL_EPSILON * (fabs(p.x) + fabs(p.y) + fabs(p.z));
    return approach > it->height[i] - it->keep / 2 && approach > fmin(rounding, it->height[i] / 16);
}

static vec3 change_between(const vec3 values[4], const int nodes[2])
{
    return vec3_subtract(values[nodes[1]], values[nodes[0]]);
}

// Takes along the change of the vectors between these pairs of nodes; false if that map is not one
// to one.
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

// Lets a frame turn with the nodes from `first` to `end`, all of which have a prescribed motion and
// no other one has.
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

// Where a node goes that a frame has to take along.
struct anchor {
    int node;
    vec3 moved, velocity;
};

// Lets a frame take one more along, in a direction at right angles to those that it has: those that
// it has taken along stay where they are. False if that is not possible, and then it is as before.
static bool add_anchor(const struct crossing *it, int base, const struct anchor *anchor,
                       struct frame *frame)
{
    struct frame with = *frame;
    const vec3 from = vec3_subtract(it->start[anchor->node], it->start[base]);
    vec3 e = from;
    for (int k = 0; k < with.directions; k++) {
        const vec3 dual = with.dual[k];
        e = vec3_subtract(e, vec3_scale(vec3_dot(dual, from) / vec3_dot(dual, dual), dual));
    }
    if (with.directions == 3 || !(vec3_dot(e, e) > 1e-6 * vec3_dot(from, from)))
        return false;
    const vec3 change = vec3_subtract(anchor->moved, with.moved[anchor->node]);
    const vec3 faster = vec3_subtract(anchor->velocity, with.velocity[anchor->node]);
    const vec3 dual = vec3_scale(1 / vec3_dot(e, e), e);
    with.size = sqrt(with.size * with.size +
                     vec3_dot(change, change) * vec3_dot(dual, dual)); // duals are at right angles
    if (!(with.size < 0.5))
        return false;
    for (int i = 0; i < 4; i++) {
        const double along = vec3_dot(dual, vec3_subtract(it->start[i], it->start[base]));
        with.moved[i] = vec3_add(with.moved[i], vec3_scale(along, change));
        with.velocity[i] = with.carried[i] = vec3_add(with.velocity[i], vec3_scale(along, faster));
    }
    with.moved[anchor->node] = anchor->moved; // but for rounding
    with.change[with.directions] = change;
    with.dual[with.directions++] = dual;
    *frame = with;
    return true;
}

// A frame that takes the nodes with a prescribed motion along, wherever they are, one after
// another. Returns one of them.
static int bend_frame(const struct system *system, const struct crossing *it, struct frame *frame)
{
    const real *inverse_mass = system->constants->inverse_mass;
    int base = -1;
    for (int i = 0; i < 4; i++) {
        const struct anchor anchor = {i, it->moved[i], it->velocity[i]};
        if (inverse_mass[it->nodes[i]] != 0)
            continue;
        if (base >= 0) {
            (void)add_anchor(it, base, &anchor, frame);
            continue;
        }
        base = i;
        *frame = (struct frame){.driven = true};
        for (int n = 0; n < 4; n++) {
            frame->moved[n] = it->moved[i];
            frame->velocity[n] = frame->carried[n] = it->velocity[i];
        }
    }
    return base;
}

struct frame REAL_NAME(frame_of_cut)(const struct system *system, const struct crossing *it,
                                     bool together)
{
    struct frame frame = moving_frame(system, it, together);
    int driven[2] = {0, 0};
    bool passes = false;
    for (int i = 0; i < 4 && frame.driven; i++) {
        if (system->constants->inverse_mass[it->nodes[i]] != 0)
            continue;
        driven[i >= it->split]++;
        passes |= REAL_NAME(crossing_passes)(it, i, REAL_NAME(frame_approach)(&frame, it, i));
    }
    if (passes && driven[0] == it->split && driven[1] == 0)
        turn_frame(it, 0, it->split, &frame);
    else if (passes && driven[0] == 0 && driven[1] == 4 - it->split)
        turn_frame(it, it->split, 4, &frame);
    else if (passes)
        (void)bend_frame(system, it, &frame);
    return frame;
}

bool REAL_NAME(frame_bent)(const struct system *system, const struct crossing *it,
                           struct frame *frame)
{
    const struct carriers *carriers = system->surface_contact->carriers;
    struct frame with;
    const int base = bend_frame(system, it, &with);
    bool any = false;
    for (int i = 0; i < 4 && base >= 0; i++) {
        const size_t node = it->nodes[i];
        if (system->constants->inverse_mass[node] == 0 || carriers->of[node] == NOT_CARRIED)
            continue;
        const struct frame carried =
            REAL_NAME(frame_carried)(system, it, &carriers->items[carriers->of[node]]);
        const struct anchor anchor = {i, carried.moved[i], carried.velocity[i]};
        const double sign = i < it->split ? 1 : -1;
        const vec3 relative = vec3_subtract(anchor.moved, with.moved[i]);
        if (REAL_NAME(crossing_passes)(it, i, -sign * vec3_dot(it->normal, relative)))
            any |= add_anchor(it, base, &anchor, &with);
    }
    if (any)
        *frame = with;
    return any;
}
