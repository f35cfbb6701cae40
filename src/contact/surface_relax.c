// `existing: relax`: separates surfaces that cross each other, or are nearer than their thickness,
// before a run begins. Positions change, velocities and rest lengths do not.
//
// Crossing surfaces have a curve in common. They are moved so that it gets shorter, until it is
// gone (Volino and Magnenat-Thalmann 2006, resolving surface collisions through intersection
// contour minimization): this needs no inside, so that open surfaces come apart, too. First whole
// bodies are moved; what then still crosses is moved node by node, and after each such move springs
// and edges get back the lengths that they had. Once nothing crosses, surfaces that are too near
// move apart by less than half the distance to what is near, which lets nothing cross.
//
// Before that free bodies move apart as a whole, to where contact does not act on them, as far as
// there is space: what surfaces have in the range of the barrier throws them apart, and what is
// moved node by node deforms them. Where curves do not say how, since bodies lie in the same
// position, or since a rope has no curve in common with a surface, they leave along axes that
// separate their hulls (hull_separation.h).
//
// Edges without triangles (ropes) have a point in common with a triangle: where a whole rope cannot
// leave, it is drawn back on the side of the nearer end.
#include "contact/hull_separation.h"
#include "contact/shape_contact.h"
#include "contact/surface_lists.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "springs/springs.h"

enum { ROUNDS = 4000, WHOLE_ROUNDS = 100, LENGTH_SWEEPS = 3 };

// How far a crossing moves its parts in one round, at first and at most, as a fraction of the mean
// length of edges.
static const double STEP = 0.05, STEP_MAX = 0.4;
// If there are no fewer crossings for so many rounds, steps become larger by this factor; if there
// are none for so many times as many, there is no solution.
enum { PATIENCE = 40, PATIENCE_TIMES = 20, WHOLE_PATIENCE_TIMES = 5 };
static const double STEP_GROWTH = 1.3;
// What is too near is pushed until so many rounds have not brought what it lacks, summed, below
// this part of the least so far.
enum { PUSH_PATIENCE = 100 };
static const double PUSH_GAIN = 0.999;
// How far a node may move in one round while nothing crosses, as a fraction of the distance to what
// is near.
static const double SAFE_PART = 0.4;
// As fractions of the thickness: the distance at which a pair is left alone, the distance up to
// which contact acts, and the distance to which whole bodies move apart.
static const double ENOUGH = 0.9, REACH = 1.5, BEYOND = 1.53;
// Below this fraction of the thickness it is not known on which side of each other two bodies are.
static const double TOUCHING = 1e-6;
// As fractions of the least thickness: how far a whole body moves apart from others in one round at
// most, so that what is not listed, and farther than the reach, cannot cross; and what is no
// motion.
static const double APART_MOST = 0.6, APART_LEAST = 0.01;
enum { APART_ROUNDS = 200 };
// Bodies that have left each other may have come into others.
enum { HULL_ROUNDS = 30 };

// A body as a whole.
struct whole {
    double mass;       // kg; INFINITY if a node is kinematic
    vec3 centre;       // m
    vec3 shorter, out; // the directions that shorten curves; and from the other bodies, summed
    uint64_t count;
    double deepest; // over the thickness: of its parts, that of the one farthest inside a shape
    double depth;   // m: up to the distance of the thickness
    vec3 leave;     // m: with which this part would have it
    vec3 leave_sum; // m: of all its parts that are too near
    vec3 away;      // the same at first
    // Apart from what contact acts on: the sum of moves by their lengths, that of these, and the
    // part of the resulting move that lets nothing cross.
    vec3 apart;
    double weight, part;
    vec3 first_centre; // m, before it is moved along curves
    bool tangled;      // it still crosses another body then
    bool leaves;       // along axes
};

struct relaxation {
    struct system *system;
    size_t nodes; // those of mesh colliders included, which nothing moves
    struct whole *bodies;
    size_t body_count; // mesh colliders included (surfaces.h)
    bool whole;        // bodies are moved, not nodes
    vec3 *moves;       // by node: m, the sum of its moves in this round
    uint32_t *parts;   // by node: how many
    double *nearest;   // by node: m, the distance to what is near
    vec3 *start;       // by node: m, before
    double *lengths;   // of springs, as springs_walk visits them, then of the edges of surfaces; m
    double edge, step; // m: the shortest mean length of a body's edges; of a round
    uint64_t crossings, fewest, rounds_since;
    bool near_shape; // in this round: whether something is too near to a plane, sphere or room
    double worst;    // and the least distance from one, over the thickness
    bool near;       // in this round: whether a candidate is too near
    // What is too near lacks of its thickness, over that, summed: in this round, and the least so
    // far; and the rounds since then.
    double lacking, least_lacking;
    int pushes_since;
    double least; // m: the least thickness
    int apart_rounds;
    struct hull_separation hulls;
    bool left;          // whole bodies have left each other
    bool apart;         // whole bodies have moved apart in the last round
    bool pushed, again; // nodes have been moved; and bodies once more
    bool no_memory;
};

static double inverse_mass_of(const struct relaxation *it, size_t node)
{
    return (double)it->system->constants->inverse_mass[node];
}

static vec3 position_of(const struct relaxation *it, size_t node)
{
    return state_position(it->system->state, node);
}

static void add_move(struct relaxation *it, size_t node, vec3 move)
{
    it->moves[node] = vec3_add(it->moves[node], move);
    it->parts[node]++;
}

// ---- Crossings

// Where an edge passes through a triangle: the part of the edge from its first node, and the
// weights of the corners.
struct piercing {
    uint32_t nodes[5]; // the edge, the triangle
    vec3 edge, normal; // of unit length
    vec3 point;
    double along, corners[3], first_height; // m, of the edge's first node over the triangle
};

static bool find_piercing(const struct relaxation *it, uint32_t p, uint32_t q,
                          const uint32_t triangle[3], struct piercing *found)
{
    const vec3 from = position_of(it, p), to = position_of(it, q), a = position_of(it, triangle[0]);
    const vec3 u = vec3_subtract(position_of(it, triangle[1]), a),
               v = vec3_subtract(position_of(it, triangle[2]), a), n = vec3_cross(u, v);
    const double area = vec3_length(n), length = vec3_length(vec3_subtract(to, from));
    if (!(area > 0 && length > 0))
        return false;
    const double at_p = vec3_dot(vec3_subtract(from, a), n) / area,
                 at_q = vec3_dot(vec3_subtract(to, a), n) / area;
    if (at_p == at_q || (at_p > 0) == (at_q > 0))
        return false;
    *found = (struct piercing){.nodes = {p, q, triangle[0], triangle[1], triangle[2]},
                               .edge = vec3_scale(1 / length, vec3_subtract(to, from)),
                               .normal = vec3_scale(1 / area, n),
                               .along = at_p / (at_p - at_q),
                               .first_height = at_p};
    found->point = vec3_add(from, vec3_scale(found->along, vec3_subtract(to, from)));
    const vec3 w = vec3_subtract(found->point, a);
    const double by_u = vec3_dot(vec3_cross(w, v), n) / (area * area),
                 by_v = vec3_dot(vec3_cross(u, w), n) / (area * area);
    found->corners[0] = 1 - by_u - by_v;
    found->corners[1] = by_u;
    found->corners[2] = by_v;
    return by_u >= 0 && by_v >= 0 && by_u + by_v <= 1;
}

// Moves the edge relative to the triangle by this much, each node by its part in the point where
// they cross and by its mass.
static void move_apart(struct relaxation *it, const struct piercing *at, vec3 move)
{
    const double weights[5] = {1 - at->along, at->along, -at->corners[0], -at->corners[1],
                               -at->corners[2]};
    double sum = 0;
    for (int i = 0; i < 5; i++)
        sum += weights[i] * weights[i] * inverse_mass_of(it, at->nodes[i]);
    for (int i = 0; i < 5 && sum > 0; i++) {
        const double inverse = inverse_mass_of(it, at->nodes[i]);
        if (inverse > 0)
            add_move(it, at->nodes[i], vec3_scale(weights[i] * inverse / sum, move));
    }
}

// ---- Whole bodies

static void find_wholes(struct relaxation *it)
{
    const struct topology *topology = it->system->topology;
    for (size_t b = 0; b < it->body_count; b++) {
        const struct range nodes = surface_nodes(topology, b);
        struct whole *whole = &it->bodies[b];
        *whole = (struct whole){.mass = 0};
        for (size_t i = nodes.first; i < nodes.end; i++) {
            const double inverse = inverse_mass_of(it, i);
            whole->mass += inverse > 0 ? 1 / inverse : INFINITY;
            whole->centre = vec3_add(whole->centre, position_of(it, i));
        }
        whole->centre = vec3_scale(1 / (double)(nodes.end - nodes.first), whole->centre);
    }
}

// The part of a relative motion of two bodies that the first one makes.
static double share_of(const struct whole *one, const struct whole *other)
{
    if (isinf(one->mass))
        return 0;
    return isinf(other->mass) ? 1 : other->mass / (one->mass + other->mass);
}

// One end of the curve of two bodies: as move_apart, for both of them.
static void move_wholes(struct relaxation *it, const struct piercing *at, vec3 move)
{
    const struct topology *topology = it->system->topology;
    struct whole *one = &it->bodies[surface_body_of(topology, at->nodes[0])],
                 *other = &it->bodies[surface_body_of(topology, at->nodes[2])];
    const vec3 between = vec3_subtract(one->centre, other->centre);
    const vec3 out = vec3_scale(vec3_dot(between, at->normal) < 0 ? -1 : 1, at->normal);
    const double part = share_of(one, other), rest = share_of(other, one);
    one->shorter = vec3_add(one->shorter, vec3_scale(part, move));
    one->out = vec3_add(one->out, vec3_scale(part, out));
    other->shorter = vec3_subtract(other->shorter, vec3_scale(rest, move));
    other->out = vec3_subtract(other->out, vec3_scale(rest, out));
    one->count++;
    other->count++;
}

// Where the curve passes from border to border no direction shortens it: out, then.
static vec3 direction_of_whole(const struct whole *whole, double step)
{
    const bool shortens = vec3_length(whole->shorter) > 0.1 * step * (double)whole->count;
    return shortens ? vec3_scale(1 / step, whole->shorter) : whole->out;
}

static void move_whole(struct relaxation *it, size_t body, vec3 move)
{
    const struct range nodes = surface_nodes(it->system->topology, body);
    it->bodies[body].centre = vec3_add(it->bodies[body].centre, move);
    for (size_t i = nodes.first; i < nodes.end; i++)
        state_put(it->system->state, i, vec3_add(position_of(it, i), move));
}

// Moves bodies by at most one step.
static void apply_wholes(struct relaxation *it)
{
    const struct topology *topology = it->system->topology;
    double longest = 0;
    for (size_t b = 0; b < topology->body_count; b++)
        longest = fmax(longest, vec3_length(direction_of_whole(&it->bodies[b], it->step)));
    for (size_t b = 0; b < topology->body_count && longest > 0; b++) {
        const vec3 move =
            vec3_scale(it->step / longest, direction_of_whole(&it->bodies[b], it->step));
        if (vec3_length(move) > 0)
            move_whole(it, b, move);
    }
}

// ---- Ends of curves

// The end of the curve moves by d - (d.N / e.N) e if the edge, of direction e, moves by d relative
// to the triangle of normal N; so the curve, which begins there in this direction, gets shorter
// fastest along direction - (e.direction / e.N) N.
static void shorten(struct relaxation *it, const struct piercing *at, vec3 direction)
{
    const double slope = vec3_dot(at->edge, at->normal);
    vec3 move = direction;
    if (slope != 0)
        move =
            vec3_subtract(direction, vec3_scale(vec3_dot(at->edge, direction) / slope, at->normal));
    const double length = vec3_length(move);
    if (!(length > 0))
        return;
    move = vec3_scale(it->step / (length > 1 ? length : 1), move);
    if (it->whole)
        move_wholes(it, at, move);
    else
        move_apart(it, at, move);
}

// The nearer end of the edge goes back through the triangle.
static void draw_back(struct relaxation *it, const struct piercing *at, bool first_end)
{
    const double side = (at->first_height > 0) == first_end ? 1 : -1;
    move_apart(it, at, vec3_scale(-side * it->step, at->normal));
}

static void separate_triangles(struct relaxation *it, const struct surface_parts *parts)
{
    struct piercing found[6];
    int count = 0;
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < 3; i++)
            count += find_piercing(it, parts->nodes[side][i], parts->nodes[side][(i + 1) % 3],
                                   parts->nodes[1 - side], &found[count]);
    if (count == 2) {
        const vec3 along = vec3_subtract(found[1].point, found[0].point);
        const double length = vec3_length(along);
        if (length > 0) {
            shorten(it, &found[0], vec3_scale(1 / length, along));
            shorten(it, &found[1], vec3_scale(-1 / length, along));
            return;
        }
    }
    for (int i = 0; i < count && !it->whole; i++)
        draw_back(it, &found[i], found[i].along < 0.5);
}

// Whether the first end of a rope is nearer to its node `a` than the last one.
static bool first_end_is_nearer(const struct topology *topology, uint32_t a)
{
    const struct topology_body *body = &topology->bodies[topology_body_of_node(topology, a)];
    const uint64_t number = topology_builder_node(topology, a) - body->first_node;
    return 2 * number < body->node_count;
}

static bool separate(void *context, const struct surface_parts *parts)
{
    struct relaxation *it = context;
    if (it->whole &&
        (parts->bodies[0] == parts->bodies[1] || parts->counts[0] == 2 ||
         (isinf(it->bodies[parts->bodies[0]].mass) && isinf(it->bodies[parts->bodies[1]].mass))))
        return true;
    it->crossings++;
    if (parts->counts[0] == 3) {
        separate_triangles(it, parts);
        return true;
    }
    struct piercing found;
    const struct topology *topology = it->system->topology;
    uint32_t p = parts->nodes[0][0], q = parts->nodes[0][1];
    if (topology_builder_node(topology, p) > topology_builder_node(topology, q)) {
        p = q;
        q = parts->nodes[0][0];
    }
    if (find_piercing(it, p, q, parts->nodes[1], &found))
        draw_back(it, &found, first_end_is_nearer(topology, p));
    return true;
}

// ---- Lengths

static void keep_length(struct relaxation *it, size_t a, size_t b, double *length, bool measure)
{
    const vec3 along = vec3_subtract(position_of(it, b), position_of(it, a));
    const double now = vec3_length(along);
    if (measure) {
        *length = now;
        return;
    }
    const double inverse_a = inverse_mass_of(it, a), inverse_b = inverse_mass_of(it, b);
    const double sum = inverse_a + inverse_b;
    if (!(sum > 0) || now == *length || now == 0)
        return;
    const vec3 change = vec3_scale((now - *length) / (now * sum), along);
    if (inverse_a > 0)
        state_put(it->system->state, a,
                  vec3_add(position_of(it, a), vec3_scale(inverse_a, change)));
    if (inverse_b > 0)
        state_put(it->system->state, b,
                  vec3_subtract(position_of(it, b), vec3_scale(inverse_b, change)));
}

// The springs, and the edges of surfaces, which may have no springs: their lengths are measured, or
// restored as well as one sweep can.
static void keep_lengths(struct relaxation *it, bool measure)
{
    const struct surfaces *surfaces = &it->system->surface_contact->surfaces;
    struct spring_walk walk = springs_walk(it->system);
    struct spring_view view;
    size_t at = 0;
    while (springs_next(&walk, &view))
        for (uint64_t i = 0; i < view.count; i++)
            keep_length(it, view.a + i, view.b + i, &it->lengths[at++], measure);
    for (size_t b = 0; b < surfaces->block_count; b++) {
        const struct surface_block *block = &surfaces->blocks[b];
        for (uint32_t e = 0; e < block->edges; e++)
            keep_length(it, edge_node(surfaces, block, e, 0), edge_node(surfaces, block, e, 1),
                        &it->lengths[at++], measure);
    }
}

// ---- Surfaces that are too near

// A direction at right angles to another one, the same for those that are nearly the same.
static vec3 at_right_angles(vec3 direction)
{
    const double x = fabs(direction.x), y = fabs(direction.y), z = fabs(direction.z);
    const vec3 axis = z <= x && z <= y ? vec3_make(0, 0, 1)
                      : y <= x         ? vec3_make(0, 1, 0)
                                       : vec3_make(1, 0, 0);
    return vec3_cross(direction, axis);
}

// The direction from the second side to the first where they have a point in common: the normal of
// the triangle, or that of both edges, on the same side of both surfaces.
static vec3 direction_of_touching(const uint32_t nodes[4], const vec3 p[4], bool edges)
{
    const double parallel = 1e-6; // sine
    const vec3 one = edges ? vec3_subtract(p[1], p[0]) : vec3_subtract(p[2], p[1]),
               other = edges ? vec3_subtract(p[3], p[2]) : vec3_subtract(p[3], p[1]);
    vec3 n = vec3_cross(one, other);
    if (edges && vec3_length(n) <= parallel * vec3_length(one) * vec3_length(other))
        n = at_right_angles(one);
    const double length = vec3_length(n);
    if (length == 0)
        return vec3_make(0, 0, 0);
    const double largest = fabs(n.x) > fabs(n.y) ? (fabs(n.x) > fabs(n.z) ? n.x : n.z)
                                                 : (fabs(n.y) > fabs(n.z) ? n.y : n.z);
    const bool flips = (largest < 0) != (nodes[0] < nodes[edges ? 2 : 1]);
    return vec3_scale((flips ? -1 : 1) / length, n);
}

// A candidate: the sides, of which the first has one node of four or two, and the line from the
// second.
struct close_pair {
    uint32_t nodes[4];
    int split;
    double distance, thickness; // m
    vec3 normal;
};

static struct close_pair close_pair_of(const struct relaxation *it,
                                       const struct candidate_walk *walk,
                                       const struct candidate *candidate, double thickness)
{
    struct close_pair pair = {.split = candidate->edges ? 2 : 1, .thickness = thickness};
    vec3 p[4];
    candidate_nodes(walk, candidate, pair.nodes);
    for (int i = 0; i < 4; i++)
        p[i] = position_of(it, pair.nodes[i]);
    const vec3 between =
        candidate->edges ? REAL_NAME(between_edges)(p) : REAL_NAME(between_node_and_triangle)(p);
    pair.distance = vec3_length(between);
    pair.normal = pair.distance > 0 ? vec3_scale(1 / pair.distance, between)
                                    : direction_of_touching(pair.nodes, p, candidate->edges);
    return pair;
}

typedef void pair_visitor(struct relaxation *it, const struct close_pair *pair);

// Visits all candidates up to 1.75 thicknesses; false without memory.
static bool visit_pairs(struct relaxation *it, pair_visitor *visit)
{
    struct surface_contact *contact = it->system->surface_contact;
    struct pair_finder finder;
    REAL_NAME(pair_finder_begin)(&finder, contact->broad, &contact->rules);
    for (size_t i = 0; i < contact->broad->list_count; i++) {
        const struct surface_list *list = &contact->lists[i];
        for (size_t p = 0; p < list->pair_count; p++) {
            const struct block_pair *pair = &list->pairs[p].pair;
            const double thickness =
                thickness_between(contact, contact->surfaces.blocks[pair->a].body,
                                  contact->surfaces.blocks[pair->b].body);
            if (!REAL_NAME(surface_pair_list)(contact, &finder, i, p, 1.75 * thickness)) {
                it->no_memory = true;
                return false;
            }
            struct candidate_walk walk =
                candidates_of(contact, pair, listed_codes(list, &list->pairs[p]));
            struct candidate candidate;
            while (candidate_next(&walk, &candidate)) {
                const struct close_pair close = close_pair_of(it, &walk, &candidate, thickness);
                visit(it, &close);
            }
        }
    }
    return true;
}

static void push_pair(struct relaxation *it, const struct close_pair *pair)
{
    if (pair->distance >= pair->thickness)
        return;
    double shares[2] = {0, 0}; // inverse masses
    for (int i = 0; i < 4; i++) {
        shares[i >= pair->split] += inverse_mass_of(it, pair->nodes[i]);
        if (pair->distance > 0)
            it->nearest[pair->nodes[i]] = fmin(it->nearest[pair->nodes[i]], pair->distance);
    }
    const double sum = shares[0] + shares[1];
    for (int i = 0; i < 4 && sum > 0; i++)
        if (inverse_mass_of(it, pair->nodes[i]) > 0)
            add_move(it, pair->nodes[i],
                     vec3_scale((i < pair->split ? shares[0] : -shares[1]) / sum *
                                    (pair->thickness - pair->distance),
                                pair->normal));
    it->near |= pair->distance < ENOUGH * pair->thickness;
    it->lacking += 1 - pair->distance / pair->thickness;
}

// A part that is nearer to a plane, sphere or room than the thickness moves away from it as a
// whole.
static void push_from_shape(void *context, const struct shape_nearest *part, vec3 normal)
{
    struct relaxation *it = context;
    if (!(part->part < 1))
        return;
    const double thickness =
        shape_thickness(it->system, part->body); // m; part->distance is below it
    const vec3 move = vec3_scale(thickness - part->distance, normal);
    it->near_shape |= part->part < ENOUGH;
    it->lacking += 1 - part->part;
    it->worst = fmin(it->worst, part->part);
    struct whole *whole = &it->bodies[part->body];
    whole->leave_sum = vec3_add(whole->leave_sum, move);
    if (part->part < whole->deepest) {
        whole->deepest = part->part;
        whole->depth = thickness - part->distance;
        whole->leave = move;
    }
    for (int i = 0; i < part->count; i++)
        if (inverse_mass_of(it, part->nodes[i]) > 0)
            add_move(it, part->nodes[i], move);
}

// Whether anything is too near to a shape.
static bool push_from_shapes(struct relaxation *it)
{
    it->near_shape = false;
    it->worst = INFINITY;
    for (size_t b = 0; b < it->body_count; b++) {
        it->bodies[b].deepest = INFINITY;
        it->bodies[b].leave_sum = vec3_make(0, 0, 0);
    }
    REAL_NAME(shape_contact_visit)(it->system, push_from_shape, it);
    return it->near_shape;
}

// False if nothing is too near, or if that helps no more.
static bool push_all(struct relaxation *it)
{
    for (size_t i = 0; i < it->nodes; i++)
        it->nearest[i] = INFINITY;
    it->near = false;
    it->lacking = 0;
    if (!visit_pairs(it, push_pair))
        return false;
    const bool near = push_from_shapes(it) || it->near;
    it->pushes_since++;
    if (it->lacking < PUSH_GAIN * it->least_lacking)
        it->pushes_since = 0;
    it->least_lacking = fmin(it->least_lacking, it->lacking);
    return near && it->pushes_since < PUSH_PATIENCE;
}

// ---- Whole bodies apart

// Both bodies of a pair; false if it is of one, or nothing moves.
static bool wholes_of_pair(struct relaxation *it, const struct close_pair *pair,
                           struct whole *wholes[2])
{
    const struct topology *topology = it->system->topology;
    for (int side = 0; side < 2; side++)
        wholes[side] = &it->bodies[surface_body_of(topology, pair->nodes[side * pair->split])];
    return wholes[0] != wholes[1] && !(isinf(wholes[0]->mass) && isinf(wholes[1]->mass));
}

// The longer the moves, the more they count.
static void add_apart(struct whole *whole, double share, double length, vec3 direction)
{
    whole->apart = vec3_add(whole->apart, vec3_scale(share * length * length, direction));
    whole->weight += length;
}

static void move_pair_apart(struct relaxation *it, const struct close_pair *pair)
{
    struct whole *wholes[2];
    const double length = BEYOND * pair->thickness - pair->distance;
    if (!(length > 0) || !wholes_of_pair(it, pair, wholes))
        return;
    if (pair->distance < TOUCHING * pair->thickness)
        wholes[0]->part = wholes[1]->part = 0;
    add_apart(wholes[0], share_of(wholes[0], wholes[1]), length, pair->normal);
    add_apart(wholes[1], -share_of(wholes[1], wholes[0]), length, pair->normal);
    it->near |= pair->distance < REACH * pair->thickness;
}

// What is inside has found no position (leave_shapes).
static void move_from_shape(void *context, const struct shape_nearest *part, vec3 normal)
{
    struct relaxation *it = context;
    struct whole *whole = &it->bodies[part->body];
    if (!(part->part > 0 && part->part < BEYOND) || isinf(whole->mass))
        return;
    const double thickness = part->distance / part->part;
    add_apart(whole, 1, BEYOND * thickness - part->distance, normal);
    it->near |= part->part < REACH;
}

// A body may come nearer to another one, or to a shape, by a part of their distance; it may leave
// as it likes, since a plane at right angles to the normal is between both.
static void limit_approach(struct whole *whole, double approach, double distance)
{
    if (approach > SAFE_PART * distance)
        whole->part = fmin(whole->part, SAFE_PART * distance / approach);
}

static void limit_pair(struct relaxation *it, const struct close_pair *pair)
{
    struct whole *wholes[2];
    if (!wholes_of_pair(it, pair, wholes))
        return;
    limit_approach(wholes[0], -vec3_dot(wholes[0]->apart, pair->normal), pair->distance);
    limit_approach(wholes[1], vec3_dot(wholes[1]->apart, pair->normal), pair->distance);
}

static void limit_at_shape(void *context, const struct shape_nearest *part, vec3 normal)
{
    struct relaxation *it = context;
    struct whole *whole = &it->bodies[part->body];
    if (part->distance > 0)
        limit_approach(whole, -vec3_dot(whole->apart, normal), part->distance);
}

// One round; false if none moves, or without memory.
static bool move_bodies_apart(struct relaxation *it)
{
    const size_t bodies = it->system->topology->body_count;
    for (size_t b = 0; b < it->body_count; b++) {
        it->bodies[b].apart = vec3_make(0, 0, 0);
        it->bodies[b].weight = 0;
        it->bodies[b].part = 1;
    }
    it->near = false;
    if (!visit_pairs(it, move_pair_apart))
        return false;
    REAL_NAME(shape_contact_visit)(it->system, move_from_shape, it);
    if (!it->near)
        return false;
    for (size_t b = 0; b < bodies; b++) {
        struct whole *whole = &it->bodies[b];
        if (whole->weight > 0)
            whole->apart = vec3_scale(1 / whole->weight, whole->apart);
        const double length = vec3_length(whole->apart), most = APART_MOST * it->least;
        if (length > most)
            whole->apart = vec3_scale(most / length, whole->apart);
    }
    if (!visit_pairs(it, limit_pair))
        return false;
    REAL_NAME(shape_contact_visit)(it->system, limit_at_shape, it);
    bool moves = false;
    for (size_t b = 0; b < bodies; b++) {
        const vec3 move = vec3_scale(it->bodies[b].part, it->bodies[b].apart);
        moves |= vec3_length(move) > APART_LEAST * it->least;
        if (vec3_length(move) > 0)
            move_whole(it, b, move);
    }
    return moves;
}

// ---- Rounds

static void clear_moves(struct relaxation *it)
{
    for (size_t i = 0; i < it->nodes; i++) {
        it->moves[i] = vec3_make(0, 0, 0);
        it->parts[i] = 0;
    }
}

// Every node moves by the mean of its moves; `safely`: so far at most that nothing can cross.
static void apply_moves(struct relaxation *it, bool safely)
{
    for (size_t i = 0; i < it->nodes; i++) {
        if (it->parts[i] == 0)
            continue;
        vec3 move = vec3_scale(1 / (double)it->parts[i], it->moves[i]);
        const double length = vec3_length(move);
        const double most = safely ? SAFE_PART * it->nearest[i] : INFINITY;
        if (length > most)
            move = vec3_scale(most / length, move);
        state_put(it->system->state, i, vec3_add(position_of(it, i), move));
    }
}

// One round against crossings; false if nothing crosses, or if there is no solution.
static bool untangle(struct relaxation *it)
{
    it->crossings = 0;
    clear_moves(it);
    for (size_t b = 0; b < it->body_count; b++) {
        it->bodies[b].shorter = it->bodies[b].out = vec3_make(0, 0, 0);
        it->bodies[b].count = 0;
    }
    if (!REAL_NAME(surface_crossings_visit)(it->system, separate, it)) {
        it->no_memory = true;
        return false;
    }
    if (it->crossings == 0)
        return false;
    if (it->whole) {
        apply_wholes(it);
    } else {
        apply_moves(it, false);
        for (int sweep = 0; sweep < LENGTH_SWEEPS; sweep++)
            keep_lengths(it, false);
    }
    if (it->crossings < it->fewest) {
        it->fewest = it->crossings;
        it->rounds_since = 0;
    } else if (++it->rounds_since % PATIENCE == 0) {
        it->step = fmin(STEP_MAX * it->edge, STEP_GROWTH * it->step);
    }
    return it->rounds_since < PATIENCE * (it->whole ? WHOLE_PATIENCE_TIMES : PATIENCE_TIMES);
}

static double shortest_edge(const struct system *system)
{
    double shortest = INFINITY;
    for (size_t b = 0; b < system->topology->body_count; b++)
        if (system->surface_contact->wanted[b])
            shortest = fmin(shortest, REAL_NAME(surface_contact_edge)(system, b));
    return shortest;
}

static void begin_rounds(struct relaxation *it)
{
    it->step = STEP * it->edge;
    it->fewest = UINT64_MAX;
    it->rounds_since = 0;
}

static bool relaxation_begin(struct relaxation *it)
{
    const struct system *system = it->system;
    const taut_allocator *allocator = NULL;
    const size_t nodes = all_surface_nodes(system->topology);
    const size_t lengths =
        (size_t)springs_count(system) + system->surface_contact->surfaces.edge_count;
    it->nodes = nodes;
    it->moves = memory_allocate(allocator, nodes, sizeof *it->moves);
    it->parts = memory_allocate(allocator, nodes, sizeof *it->parts);
    it->nearest = memory_allocate(allocator, nodes, sizeof *it->nearest);
    it->start = memory_allocate(allocator, nodes, sizeof *it->start);
    it->lengths = memory_allocate(allocator, lengths, sizeof *it->lengths);
    it->body_count = system->surface_contact->body_count;
    it->bodies = memory_allocate(allocator, it->body_count, sizeof *it->bodies);
    if (!it->bodies || !it->moves || !it->parts || !it->nearest || !it->start || !it->lengths)
        return false;
    for (size_t i = 0; i < nodes; i++)
        it->start[i] = position_of(it, i);
    keep_lengths(it, true);
    find_wholes(it);
    it->edge = shortest_edge(system);
    it->least = INFINITY;
    for (size_t b = 0; b < system->topology->body_count; b++)
        if (system->surface_contact->wanted[b])
            it->least = fmin(it->least, thickness_between(system->surface_contact, b, b));
    return true;
}

static void relaxation_end(struct relaxation *it, struct surface_relaxed *result)
{
    const size_t lengths =
        (size_t)springs_count(it->system) + it->system->surface_contact->surfaces.edge_count;
    for (size_t i = 0; it->start && i < it->nodes; i++)
        result->farthest =
            fmax(result->farthest, vec3_length(vec3_subtract(position_of(it, i), it->start[i])));
    memory_release(NULL, it->lengths, lengths, sizeof *it->lengths);
    memory_release(NULL, it->start, it->nodes, sizeof *it->start);
    memory_release(NULL, it->nearest, it->nodes, sizeof *it->nearest);
    memory_release(NULL, it->parts, it->nodes, sizeof *it->parts);
    memory_release(NULL, it->moves, it->nodes, sizeof *it->moves);
    memory_release(NULL, it->bodies, it->body_count, sizeof *it->bodies);
}

static void untangle_rounds(struct relaxation *it, bool whole, struct surface_relaxed *result)
{
    it->whole = whole;
    begin_rounds(it);
    while (untangle(it) && ++result->rounds < ROUNDS)
        if (result->crossings == 0)
            result->crossings = it->crossings;
}

static bool note_tangled(void *context, const struct surface_parts *parts)
{
    struct relaxation *it = context;
    for (int side = 0; side < 2; side++)
        it->bodies[parts->bodies[side]].tangled |= parts->bodies[0] != parts->bodies[1];
    return true;
}

// Whole bodies; those for which there is no solution go back to where they were.
static void untangle_wholes(struct relaxation *it, struct surface_relaxed *result)
{
    for (size_t b = 0; b < it->body_count; b++) {
        it->bodies[b].first_centre = it->bodies[b].centre;
        it->bodies[b].tangled = false;
    }
    untangle_rounds(it, true, result);
    if (it->crossings == 0 || it->no_memory)
        return;
    it->no_memory = !REAL_NAME(surface_crossings_visit)(it->system, note_tangled, it);
    for (size_t b = 0; b < it->body_count; b++) {
        const vec3 back = vec3_subtract(it->bodies[b].first_centre, it->bodies[b].centre);
        if (it->bodies[b].tangled && vec3_length(back) > 0)
            move_whole(it, b, back);
    }
}

// The move of a body in this round: what its deepest part needs, along the mean of what all parts
// needed at first (`straight`) or along that of the part.
static vec3 leaving_move(const struct whole *whole, bool straight)
{
    const double length = vec3_length(whole->away);
    return straight && length > 0 ? vec3_scale(whole->depth / length, whole->away) : whole->leave;
}

static bool is_stuck(const struct whole *whole)
{
    return isfinite(whole->mass) && whole->deepest < ENOUGH;
}

// Those that have found no position go back to where they were.
static void put_back_stuck(struct relaxation *it)
{
    for (size_t b = 0; b < it->system->topology->body_count; b++) {
        const struct range nodes = surface_nodes(it->system->topology, b);
        if (!is_stuck(&it->bodies[b]))
            continue;
        for (size_t i = nodes.first; i < nodes.end; i++)
            state_put(it->system->state, i, it->start[i]);
    }
    find_wholes(it);
}

// One round; false if no body is stuck.
static bool leave_once(struct relaxation *it, bool straight)
{
    bool moves = false;
    for (size_t b = 0; b < it->system->topology->body_count; b++)
        if (is_stuck(&it->bodies[b])) {
            move_whole(it, b, leaving_move(&it->bodies[b], straight));
            moves = true;
        }
    return moves;
}

// Bodies that nothing holds leave planes, spheres and rooms as a whole. Out of a shape that they
// surround their parts show in different directions, so that those that find no position otherwise
// go straight. Between walls that are nearer than a body is wide there is none.
static void leave_as_wholes(struct relaxation *it, struct surface_relaxed *result)
{
    bool near = push_from_shapes(it);
    for (int straight = 0; near && straight < 2; straight++) {
        for (size_t b = 0; b < it->body_count; b++)
            it->bodies[b].away = it->bodies[b].leave_sum;
        for (int round = 0; round < WHOLE_ROUNDS && near && leave_once(it, straight != 0);
             round++) {
            result->rounds++;
            near = push_from_shapes(it);
        }
        if (!near)
            break;
        put_back_stuck(it);
        near = push_from_shapes(it);
    }
    clear_moves(it);
}

// Then what is still inside, node by node, as far as it can; springs and edges get back their
// lengths after each round.
static void leave_shapes(struct relaxation *it, struct surface_relaxed *result)
{
    double best = -INFINITY;
    it->rounds_since = 0;
    clear_moves(it);
    while (push_from_shapes(it) && ++result->rounds < ROUNDS &&
           ++it->rounds_since < PATIENCE * PATIENCE_TIMES) {
        if (it->worst > best) {
            best = it->worst;
            it->rounds_since = 0;
        }
        apply_moves(it, false);
        for (int sweep = 0; sweep < LENGTH_SWEEPS; sweep++)
            keep_lengths(it, false);
        clear_moves(it);
    }
}

// ---- Hulls
//
// Bodies leave along axes that still cross when whole bodies have been moved along curves, as those
// in the same position, those that a rope passes through, and those that a shape has pushed into
// each other; and bodies that touch, of which it is not known on which side of each other they are.

// Two bodies, unless nothing moves them; false without memory.
static bool add_hulls(struct relaxation *it, size_t a, size_t b)
{
    if (a == b || (isinf(it->bodies[a].mass) && isinf(it->bodies[b].mass)) ||
        REAL_NAME(hulls_have)(&it->hulls, a, b))
        return true;
    it->no_memory = !REAL_NAME(hulls_add_pair)(&it->hulls, a, b);
    return !it->no_memory;
}

static bool add_crossing(void *context, const struct surface_parts *parts)
{
    struct relaxation *it = context;
    return add_hulls(it, parts->bodies[0], parts->bodies[1]);
}

static void add_touching(struct relaxation *it, const struct close_pair *pair)
{
    struct whole *wholes[2];
    if (pair->distance < TOUCHING * pair->thickness && wholes_of_pair(it, pair, wholes))
        add_hulls(it, (size_t)(wholes[0] - it->bodies), (size_t)(wholes[1] - it->bodies));
}

static bool hull_moves(const struct hull_body *body)
{
    return body->done.x != 0 || body->done.y != 0 || body->done.z != 0;
}

// Bodies that were beside each other and whose boxes overlap now.
static void add_meeting(struct relaxation *it)
{
    const struct surface_contact *contact = it->system->surface_contact;
    for (size_t a = 0; a < it->system->topology->body_count; a++)
        for (size_t b = 0; b < it->body_count && hull_moves(&it->hulls.bodies[a]); b++)
            if (a != b && contact->enabled[a * it->body_count + b] &&
                REAL_NAME(hulls_meet)(&it->hulls, a, b))
                add_hulls(it, a, b);
}

// Bodies inside of meshes that have an inside.
static void add_enclosed(struct relaxation *it)
{
    struct surface_parts found;
    bool encloses = true, no_memory = false;
    while (encloses && !it->no_memory) {
        const size_t before = it->hulls.bound_count;
        encloses = REAL_NAME(mesh_colliders_enclose)(it->system, &found, &no_memory);
        it->no_memory |= no_memory;
        encloses = encloses && add_hulls(it, found.bodies[0], found.bodies[1]) &&
                   it->hulls.bound_count > before;
    }
}

static void add_shape(void *context, const struct shape_nearest *part, vec3 normal)
{
    struct relaxation *it = context;
    struct whole *whole = &it->bodies[part->body];
    if (!(part->part < BEYOND) || !whole->leaves || it->no_memory)
        return;
    const double thickness = shape_thickness(it->system, part->body);
    it->no_memory = !REAL_NAME(hulls_add_shape)(&it->hulls, part->body, normal,
                                                BEYOND * thickness - part->distance);
}

// Others have left shapes by now as far as they can, and do not come nearer.
static void add_shapes(struct relaxation *it)
{
    for (size_t b = 0; b < it->body_count; b++)
        it->bodies[b].leaves = false;
    for (size_t i = 0; i < it->hulls.bound_count; i++) {
        const struct hull_bound *bound = &it->hulls.bounds[i];
        const size_t bodies[2] = {bound->one, bound->other};
        for (int side = 0; side < 2; side++)
            if (bodies[side] != HULL_SHAPE)
                it->bodies[bodies[side]].leaves = isfinite(it->bodies[bodies[side]].mass);
    }
    REAL_NAME(shape_contact_visit)(it->system, add_shape, it);
}

static void follow_hulls(struct relaxation *it)
{
    for (size_t b = 0; b < it->body_count; b++) {
        struct hull_body *hull = &it->hulls.bodies[b];
        const vec3 move = vec3_subtract(hull->wanted, hull->done);
        hull->done = hull->wanted;
        if (vec3_length(move) > 0)
            move_whole(it, b, move);
    }
}

static void leave_hulls(struct relaxation *it, struct surface_relaxed *result)
{
    size_t before = 0;
    it->no_memory |= !REAL_NAME(hulls_begin)(&it->hulls, it->system, BEYOND);
    for (size_t b = 0; b < it->body_count && !it->no_memory; b++)
        it->hulls.bodies[b].inverse_mass = 1 / it->bodies[b].mass;
    for (int round = 0; round < HULL_ROUNDS && !it->no_memory; round++) {
        if (round == 0)
            visit_pairs(it, add_touching);
        it->no_memory |= !REAL_NAME(surface_crossings_visit)(it->system, add_crossing, it);
        add_meeting(it);
        add_enclosed(it);
        add_shapes(it);
        if (it->hulls.bound_count == before || it->no_memory)
            break;
        before = it->hulls.bound_count;
        const bool solved = REAL_NAME(hulls_solve)(&it->hulls);
        follow_hulls(it);
        result->rounds++;
        if (!solved)
            break;
    }
    REAL_NAME(hulls_end)(&it->hulls);
}

// A round of surfaces that do not cross: whole bodies, as long as that moves any, then nodes, and
// bodies once more where nodes have been moved. False if there is nothing left to move.
static bool relax_once(struct relaxation *it)
{
    const bool moved = it->apart;
    it->apart = it->apart_rounds < APART_ROUNDS && move_bodies_apart(it);
    it->apart_rounds = it->apart ? it->apart_rounds + 1 : APART_ROUNDS;
    if (it->apart || moved || it->no_memory) // with another look at what crosses
        return true;
    const bool near = push_all(it);
    if (near) {
        apply_moves(it, true);
        it->pushed = true;
        return true;
    }
    const bool again = it->pushed && !it->again;
    it->again = true;
    it->apart_rounds = again ? 0 : APART_ROUNDS;
    return again;
}

void REAL_NAME(surface_contact_relax)(struct system *system, struct surface_relaxed *result,
                                      const struct worker *worker)
{
    struct surface_contact *contact = system->surface_contact;
    struct relaxation it = {.system = system, .least_lacking = INFINITY};
    if (worker->index == 0) {
        *result = (struct surface_relaxed){.no_memory = !relaxation_begin(&it)};
        result->ends = result->no_memory;
        if (!result->ends) {
            leave_as_wholes(&it, result);
            untangle_wholes(&it, result);
            leave_as_wholes(&it, result);
        }
    }
    worker_barrier(worker);
    while (!result->ends) {
        // Once whole bodies along curves, and along axes; then rounds of nodes against crossings
        // until there are none, and one in which whole bodies move apart, as long as that lasts, or
        // one against what is too near.
        if (worker->index == 0) {
            if (it.left && !it.apart)
                untangle_rounds(&it, false, result);
            contact->lists_due = contact->relaxes = true;
            contact->start_known = false;
        }
        REAL_NAME(surface_lists_prepare)(system, worker);
        if (worker->index == 0) {
            clear_moves(&it);
            result->no_memory = it.no_memory || system->fault.code != TAUT_OK;
            bool goes_on = !result->no_memory;
            if (!it.left) {
                leave_hulls(&it, result);
                leave_shapes(&it, result);
            } else {
                goes_on = goes_on && it.crossings == 0 && relax_once(&it);
                result->rounds += goes_on;
            }
            it.left = true;
            result->no_memory |= it.no_memory;
            result->ends = !goes_on || it.no_memory || result->rounds >= ROUNDS;
            contact->lists_due = true;
            contact->start_known = false;
        }
        worker_barrier(worker);
    }
    if (worker->index == 0) {
        relaxation_end(&it, result);
        contact->relaxes = false;
    }
    REAL_NAME(surface_friction_start)(system, step_time(system, system->state->step), worker);
}
