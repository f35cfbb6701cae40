// Contact between surfaces at the stages of an implicit step.
//
// A stage is evaluated at a guess, at which surfaces may have passed through each other: a step of
// free fall is often longer than their thickness. The start of the step shows on which side of each
// other they belong. Where a node has passed through a triangle since then, or an edge through an
// edge, their distance counts as negative, and the barrier, which goes on below a distance of 0 as
// a linear spring, pushes them back.
//
// The tangent of a contact is psi'' (w n) (w n)', with the weights w of its nodes and the direction
// n between the closest points, which is positive semidefinite, and at most 4 kappa. Left out is
// psi' times the second derivative of the distance, which is negative or couples the turning of the
// surfaces: with it the matrix would not be definite (docs/numerics.md, contact of surfaces). Edges
// that are nearly parallel have a weight, whose force turns them; its tangent is psi m'' across the
// edges, as if they were turned about each other.
#include "contact/surface_tangent.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "contact/shape_contact.h"
#include "contact/surface_friction_contact.h"
#include "contact/tangent.h"
#include "state/reading.h"

// ---- Memory

bool REAL_NAME(surface_rows_make)(struct surface_contact *contact, size_t nodes,
                                  const taut_allocator *allocator)
{
    struct surface_rows *it = memory_allocate(allocator, 1, sizeof *it);
    if (!it)
        return false;
    contact->rows = it;
    it->list_count = contact->broad->list_count + (contact->shapes ? SHAPE_LISTS : 0);
    it->lists = memory_allocate(allocator, it->list_count, sizeof *it->lists);
    it->first = memory_allocate(allocator, nodes, sizeof *it->first);
    it->counts = memory_allocate(allocator, nodes, sizeof *it->counts);
    return it->lists && it->first && it->counts;
}

void REAL_NAME(surface_rows_free)(struct surface_contact *contact, size_t nodes,
                                  const taut_allocator *allocator)
{
    struct surface_rows *it = contact->rows;
    if (!it)
        return;
    for (size_t i = 0; it->lists && i < it->list_count; i++)
        free(it->lists[i].rows);
    memory_release(allocator, it->lists, it->list_count, sizeof *it->lists);
    memory_release(allocator, it->first, nodes, sizeof *it->first);
    memory_release(allocator, it->counts, nodes, sizeof *it->counts);
    free(it->rows);
    free(it->pulls);
    free(it->entries);
    free(it->totals);
    memory_release(allocator, it, 1, sizeof *it);
    contact->rows = NULL;
}

uint64_t REAL_NAME(surface_rows_bytes)(const struct surface_contact *contact, size_t nodes)
{
    const struct surface_rows *it = contact->rows;
    if (!it)
        return 0;
    uint64_t bytes = sizeof *it + nodes * (sizeof *it->first + sizeof *it->counts);
    bytes += it->list_count * sizeof *it->lists;
    for (size_t i = 0; i < it->list_count; i++)
        bytes += it->lists[i].capacity * sizeof *it->lists[i].rows;
    return bytes + it->capacity * (sizeof *it->rows + 2 * sizeof *it->pulls) +
           it->entry_capacity * sizeof *it->entries + it->total_capacity * sizeof *it->totals;
}

// ---- Whether surfaces have passed through each other

// How far apart surfaces that meet may be, as a fraction of the thickness. It is less than what
// cuts of a step leave (CUT_LEAST), so that surfaces which glide over each other under pressure do
// not meet.
#define PASSING_LEAST 0.005

// Where the first part of a candidate is relative to the second: a node to the plane of a triangle,
// or an edge to the line of another.
struct relative_position {
    bool known;  // not of a triangle without area, nor of parallel edges
    real height; // m, along the normal
    struct point normal;
};

static struct relative_position relative_position_of(const struct candidate *found,
                                                     const struct point p[4])
{
    const bool edges = found->edges;
    const struct point u = edges ? point_difference(p[1], p[0]) : point_difference(p[2], p[1]);
    const struct point v = edges ? point_difference(p[3], p[2]) : point_difference(p[3], p[1]);
    const struct point normal = point_cross(u, v);
    const real square = point_dot(normal, normal);
    if (!(square > EDGES_PARALLEL * EDGES_PARALLEL * point_dot(u, u) * point_dot(v, v)))
        return (struct relative_position){.known = false};
    const real length = real_sqrt(square);
    const struct point apart = point_difference(p[0], edges ? p[2] : p[1]);
    return (struct relative_position){
        .known = true,
        .height = point_dot(apart, normal) / length,
        .normal = {normal.x / length, normal.y / length, normal.z / length}};
}

// A vector that changes evenly in the step.
struct moving_vector {
    vec3 start, change;
};

static struct moving_vector moving_difference(const struct point start[4],
                                              const struct point now[4], int a, int b)
{
    const vec3 before = {(double)start[a].x - (double)start[b].x,
                         (double)start[a].y - (double)start[b].y,
                         (double)start[a].z - (double)start[b].z};
    const vec3 after = {(double)now[a].x - (double)now[b].x, (double)now[a].y - (double)now[b].y,
                        (double)now[a].z - (double)now[b].z};
    return (struct moving_vector){before, vec3_subtract(after, before)};
}

// By powers of the part of the step that has passed.
struct cubic {
    double of[4];
};

static double cubic_at(const struct cubic *c, double t)
{
    return c->of[0] + t * (c->of[1] + t * (c->of[2] + t * c->of[3]));
}

// Six times the volume between the four nodes, on straight paths; they lie in a plane where it is
// 0.
static struct cubic volume_between(const struct candidate *found, const struct point start[4],
                                   const struct point now[4])
{
    const bool edges = found->edges;
    const struct moving_vector a = moving_difference(start, now, 0, edges ? 2 : 1),
                               u = moving_difference(start, now, edges ? 1 : 2, edges ? 0 : 1),
                               v = moving_difference(start, now, 3, edges ? 2 : 1);
    const vec3 normal = vec3_cross(u.start, v.start);
    const vec3 turn = vec3_add(vec3_cross(u.change, v.start), vec3_cross(u.start, v.change));
    const vec3 turn_more = vec3_cross(u.change, v.change);
    return (struct cubic){
        {vec3_dot(a.start, normal), vec3_dot(a.change, normal) + vec3_dot(a.start, turn),
         vec3_dot(a.change, turn) + vec3_dot(a.start, turn_more), vec3_dot(a.change, turn_more)}};
}

// Splits the step where the cubic has an extremum. Returns the number of parts, `ends` one more.
static int monotonic_parts(const struct cubic *c, double ends[4])
{
    const double a = 3 * c->of[3], b = c->of[2], at_0 = c->of[1];
    const double discriminant = b * b - a * at_0;
    int parts = 0;
    ends[0] = 0;
    if (discriminant > 0) {
        // Both without cancellation; one that is not finite is in no step.
        const double sum = -(b + (b < 0 ? -1 : 1) * sqrt(discriminant));
        const double one = sum / a, other = at_0 / sum;
        const double first = one < other ? one : other, second = one < other ? other : one;
        if (first > 0 && first < 1)
            ends[++parts] = first;
        if (second > 0 && second < 1)
            ends[++parts] = second;
    }
    ends[++parts] = 1;
    return parts;
}

static vec3 at_time(const struct moving_vector *it, double time)
{
    return vec3_add(it->start, vec3_scale(time, it->change));
}

// The square of the distance between two edges in one plane, p + s d and q + t e with r = p - q,
// m2. In double, as lines that are nearly parallel meet where s = -(r x e).(d x e) / |d x e|^2 also
// where single precision has no angle between them; of parallel ones this takes the end of d.
static double square_of_edges(vec3 r, vec3 d, vec3 e)
{
    const vec3 normal = vec3_cross(d, e);
    const double dd = vec3_dot(d, d), ee = vec3_dot(e, e);
    const double crossing = -vec3_dot(vec3_cross(r, e), normal) / vec3_dot(normal, normal);
    double s = crossing > 0 ? (crossing < 1 ? crossing : 1) : 0;
    const double on_e = vec3_dot(vec3_add(r, vec3_scale(s, d)), e) / ee;
    const double t = on_e > 0 ? (on_e < 1 ? on_e : 1) : 0;
    const double on_d = vec3_dot(vec3_subtract(vec3_scale(t, e), r), d) / dd;
    s = on_d > 0 ? (on_d < 1 ? on_d : 1) : 0;
    const vec3 apart = vec3_subtract(vec3_add(r, vec3_scale(s, d)), vec3_scale(t, e));
    return vec3_dot(apart, apart);
}

// Whether the two parts, in one plane at a time of the step, are no farther apart than `least`
// there.
static bool are_together(const struct candidate *found, const struct point start[4],
                         const struct point now[4], double time, double least)
{
    if (found->edges) {
        const struct moving_vector r = moving_difference(start, now, 0, 2),
                                   d = moving_difference(start, now, 1, 0),
                                   e = moving_difference(start, now, 3, 2);
        return square_of_edges(at_time(&r, time), at_time(&d, time), at_time(&e, time)) <=
               least * least;
    }
    struct point at[4] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    for (int i = 0; i < 3; i++) {
        const struct moving_vector from_last = moving_difference(start, now, i, 3);
        const vec3 p = at_time(&from_last, time);
        at[i] = (struct point){(real)p.x, (real)p.y, (real)p.z};
    }
    return (double)closest_on_triangle(at[0], at[1], at[2], at[3]).square <= least * least;
}

// Whether a node passes through a triangle in the step, or an edge through an edge: where their
// nodes come into one plane they are together, and not only the plane and the line beyond them;
// `least`, m, leaves a margin for rounding where triangles meet. Nodes that come into one plane
// several times change sides if they are together at an odd number of these times.
static bool passes_through(const struct candidate *found, const struct point start[4],
                           const struct point now[4], double least)
{
    enum { HALVINGS = 32 };
    const struct cubic volume = volume_between(found, start, now);
    double ends[4];
    const int parts = monotonic_parts(&volume, ends);
    bool through = false;
    for (int i = 0; i < parts; i++) {
        double low = ends[i], high = ends[i + 1];
        const bool above = cubic_at(&volume, low) > 0;
        if ((cubic_at(&volume, high) > 0) == above)
            continue;
        for (int k = 0; k < HALVINGS; k++) {
            const double middle = (low + high) / 2;
            if ((cubic_at(&volume, middle) > 0) == above)
                low = middle;
            else
                high = middle;
        }
        through ^= are_together(found, start, now, high, least);
    }
    return through;
}

// Where a candidate was at the start of the step; NULL: it cannot have passed through since.
// `moved`: how far, m, its nodes may have moved relative to each other, so that what was farther
// apart has not passed: lists have all others. `thickness`: m, of the pair.
struct start_of_step {
    const struct point *positions;
    real moved, thickness;
};

// The direction in which the first part of a candidate is pushed, and the distance, which is
// negative if it has passed the second one since the start.
struct separation {
    struct point direction;
    real distance;
};

// The separation of parallel edges, which have no plane to pass through. Where their closest
// points, on straight paths, come nearer than the thickness, the edges are separated in the
// direction in which they do. What stays farther apart passes beside.
static struct separation parallel_separation(const struct closest *start, const struct closest *now,
                                             real thickness, struct separation plain)
{
    const struct point a = start->apart, d = point_difference(now->apart, a);
    const real dd = point_dot(d, d), ad = point_dot(a, d);
    if (!(point_dot(a, now->apart) < 0)) // not to the other side
        return plain;
    const real least = start->square - ad * ad / dd;
    const real within = thickness * thickness;
    if (!(least < within))
        return plain;
    // Where |a + t d| is the thickness for the first time; 0 if it is less from the start.
    const real t = start->square > within ? (-ad - real_sqrt(dd * (within - least))) / dd : 0;
    const struct point met = point_along(a, t, d);
    const real scale = 1 / real_sqrt(point_dot(met, met));
    const struct point n = {scale * met.x, scale * met.y, scale * met.z};
    return (struct separation){n, point_dot(n, now->apart)};
}

static struct separation separation_of(const struct candidate *found, const struct closest *closest,
                                       struct start_of_step since, const struct point now[4])
{
    const real distance = real_sqrt(closest->square), scale = 1 / distance;
    const struct point apart = closest->apart;
    const struct separation plain = {{scale * apart.x, scale * apart.y, scale * apart.z}, distance};
    const struct point *start = since.positions;
    real parallel;
    if (!start)
        return plain;
    const struct relative_position before = relative_position_of(found, start),
                                   after = relative_position_of(found, now);
    if (before.known && after.known) {
        if (!(before.height * after.height < 0) || !(point_dot(before.normal, after.normal) > 0) ||
            !(closest_of(found, start, &parallel).square <= since.moved * since.moved) ||
            !passes_through(found, start, now, PASSING_LEAST * (double)since.thickness))
            return plain;
        const real side = before.height > 0 ? 1 : -1;
        const struct point n = after.normal;
        return (struct separation){{side * n.x, side * n.y, side * n.z}, side * after.height};
    }
    // Parallel edges of surfaces without triangles: by the directions between the closest points.
    if (!found->bare)
        return plain;
    const struct closest first = closest_of(found, start, &parallel);
    if (!(first.square <= since.moved * since.moved))
        return plain;
    return parallel_separation(&first, closest, since.thickness, plain);
}

// ---- Rows

bool REAL_NAME(surface_row_add)(struct row_list *list, const struct surface_row *row)
{
    if (!array_reserve((void **)&list->rows, &list->capacity, list->count + 1, sizeof *list->rows))
        return false;
    list->rows[list->count++] = *row;
    list->entries += row->coupled ? 8 : 4;
    return true;
}

static struct surface_row row_of(const uint32_t nodes[4], const real weights[4],
                                 struct point direction, real force, real stiffness)
{
    struct surface_row row = {.direction = direction, .force = force, .stiffness = stiffness};
    memcpy(row.nodes, nodes, sizeof row.nodes);
    memcpy(row.weights, weights, sizeof row.weights);
    return row;
}

// A vector of length 1 at right angles to one of length 1.
static struct point across(struct point n)
{
    const real x = n.x < 0 ? -n.x : n.x, y = n.y < 0 ? -n.y : n.y, z = n.z < 0 ? -n.z : n.z;
    const struct point axis = x <= y && x <= z ? (struct point){1, 0, 0}
                              : y <= z         ? (struct point){0, 1, 0}
                                               : (struct point){0, 0, 1};
    const struct point side = point_cross(n, axis);
    const real scale = 1 / real_sqrt(point_dot(side, side));
    return (struct point){scale * side.x, scale * side.y, scale * side.z};
}

// The weight of two edges changes as they turn: the forces of add_turning_force in barrier.h. With
// the difference f of their directions it is m = 2 f^2 / e for small ones, e = EDGES_PARALLEL, and
// nowhere curved by more than 4 / e (1 - sin^2 / e).
static bool add_turning_rows(struct row_list *list, const uint32_t nodes[4],
                             const struct point p[4], real energy, real slope)
{
    const struct point d = point_difference(p[1], p[0]), e = point_difference(p[3], p[2]);
    const real dd = point_dot(d, d), ee = point_dot(e, e), de = point_dot(d, e);
    if (!(dd > 0 && ee > 0))
        return true;
    const real common = -2 * de / (dd * ee) * energy * slope, by_d = common * de / dd,
               by_e = common * de / ee;
    const struct point on_d = {by_d * d.x - common * e.x, by_d * d.y - common * e.y,
                               by_d * d.z - common * e.z};
    const struct point on_e = {by_e * e.x - common * d.x, by_e * e.y - common * d.y,
                               by_e * e.z - common * d.z};
    const real along_d = 1 / real_sqrt(dd), along_e = (de < 0 ? -1 : 1) / real_sqrt(ee);
    const struct point u = {along_d * d.x, along_d * d.y, along_d * d.z};
    const struct point first = across(u), second = point_cross(u, first);
    const real turns[4] = {-along_d, along_d, along_e, -along_e};
    const real stiffness = energy > 0 ? 2 * energy * slope : 0;
    const struct surface_row rows[4] = {
        row_of(nodes, (const real[4]){-1, 1, 0, 0}, on_d, 1, 0),
        row_of(nodes, (const real[4]){0, 0, -1, 1}, on_e, 1, 0),
        row_of(nodes, turns, first, 0, stiffness),
        row_of(nodes, turns, second, 0, stiffness),
    };
    for (int i = 0; i < 4; i++)
        if (!REAL_NAME(surface_row_add)(list, &rows[i]))
            return false;
    return true;
}

// The rows of the friction of a contact, of whose barrier the last `barriers` rows are. False
// without memory.
static bool add_friction_rows(struct row_list *list, const struct candidate *found,
                              const uint32_t nodes[4], const struct point now[4],
                              struct stage_friction *friction,
                              const struct touching_candidate *touching, int barriers)
{
    struct surface_row rubs[2];
    const int count = REAL_NAME(surface_stage_rows)(friction, found, nodes, now, touching,
                                                    list->count - (size_t)barriers, barriers, rubs);
    for (int i = 0; i < count; i++)
        if (!REAL_NAME(surface_row_add)(list, &rubs[i]))
            return false;
    return !friction->failed;
}

// Edges without triangles that are nearly parallel and have passed through each other: the contacts
// of barrier.h push them back in one direction, along which their distances count, where the edges
// run side by side.
static bool add_passed_edges(struct row_list *list, const uint32_t nodes[4],
                             const struct edge_contacts *contacts, const struct barrier *barrier,
                             struct point direction)
{
    for (int i = 0; i < contacts->count; i++) {
        const struct closest *closest = &contacts->closest[i];
        const real weight = contacts->weights[i], distance = point_dot(direction, closest->apart),
                   along = point_dot(contacts->along, closest->apart);
        if (!(weight > 0 && distance < barrier->reach && real_abs(along) < barrier->reach))
            continue;
        struct surface_row row =
            row_of(nodes, closest->weights, direction, weight * barrier_force(barrier, distance),
                   weight * barrier_curvature(barrier, distance));
        row.crossed = distance < 0;
        if (!REAL_NAME(surface_row_add)(list, &row))
            return false;
    }
    return true;
}

// Those that have not: how the ends' part of their energy turns them is left out where that would
// not be definite.
static bool add_edges(struct row_list *list, const struct candidate *found, const uint32_t nodes[4],
                      const struct point now[4], const struct edge_contacts *contacts,
                      const struct barrier *barrier, struct stage_friction *friction, uint32_t key)
{
    int count = 0;
    for (int i = 0; i < contacts->count; i++) {
        const struct closest *closest = &contacts->closest[i];
        const real weight = contacts->weights[i];
        if (!(weight > 0) || !edges_touch(closest, barrier))
            continue;
        const real distance = real_sqrt(closest->square), scale = 1 / distance;
        const struct point apart = closest->apart;
        const struct surface_row row =
            row_of(nodes, closest->weights,
                   (struct point){scale * apart.x, scale * apart.y, scale * apart.z},
                   weight * barrier_force(barrier, distance),
                   weight * barrier_curvature(barrier, distance));
        if (!REAL_NAME(surface_row_add)(list, &row))
            return false;
        count++;
    }
    if (friction && count > 0) {
        const struct touching_candidate touching = touching_edges(contacts, barrier, key);
        if (touching.weight > 0 &&
            !add_friction_rows(list, found, nodes, now, friction, &touching, count))
            return false;
    }
    return count == 0 || contacts->slope == 0 ||
           add_turning_rows(list, nodes, now, edges_beyond_ends(contacts, barrier),
                            contacts->slope);
}

// `friction`: of the pair, NULL: none; `key`: of the candidate.
static bool add_candidate(struct row_list *list, const struct candidate *found,
                          const uint32_t nodes[4], struct start_of_step start,
                          const struct point now[4], const struct barrier *barrier,
                          struct stage_friction *friction, uint32_t key)
{
    real parallel = 1, slope = 0;
    const struct edge_contacts contacts =
        found->bare ? find_edge_contacts(now) : (struct edge_contacts){.count = 0};
    const struct closest closest =
        found->bare ? nearest_of(&contacts) : closest_of(found, now, &parallel);
    if (closest.square == 0 ||
        (!start.positions && !(closest.square < barrier->reach * barrier->reach)))
        return true;
    const struct separation it = separation_of(found, &closest, start, now);
    if (contacts.count > 1)
        return it.distance == real_sqrt(closest.square) // none has passed
                   ? add_edges(list, found, nodes, now, &contacts, barrier, friction, key)
                   : add_passed_edges(list, nodes, &contacts, barrier, it.direction);
    if (!(it.distance < barrier->reach))
        return true;
    const real weight = parallel < EDGES_PARALLEL ? edges_weight(parallel, &slope) : 1;
    struct surface_row row =
        row_of(nodes, closest.weights, it.direction, weight * barrier_force(barrier, it.distance),
               weight * barrier_curvature(barrier, it.distance));
    row.crossed = it.distance < 0;
    if (!REAL_NAME(surface_row_add)(list, &row))
        return false;
    if (friction && !row.crossed) {
        const struct touching_candidate touching = {
            .key = key,
            .parts = {found->edges ? closest.weights[1] : -closest.weights[2], -closest.weights[3]},
            .apart = closest.apart,
            .square = closest.square,
            .weight = weight,
        };
        if (!add_friction_rows(list, found, nodes, now, friction, &touching, 1))
            return false;
    }
    return slope == 0 ||
           add_turning_rows(list, nodes, now, barrier_energy(barrier, it.distance), slope);
}

// ---- Finding them

// Adds the rows of the candidates of a pair of blocks, if some may have come within reach since the
// start.
static bool find_in_pair(const struct system *system, struct pair_finder *finder,
                         struct row_list *rows, size_t index, size_t p,
                         struct stage_friction *friction)
{
    struct surface_contact *it = system->surface_contact;
    struct surface_pair *known = &it->lists[index].pairs[p];
    const struct block_pair *pair = &known->pair;
    const double least = (double)pair->least;
    const struct surface_block *blocks = it->surfaces.blocks;
    const struct barrier barrier =
        barrier_between(system, blocks[pair->a].body, blocks[pair->b].body);
    const double moved = pair_displacement(it, pair);
    if (!(0.9999 * least - moved < (double)barrier.reach))
        return true;
    if (0.9999 * (double)known->others - moved < (double)barrier.reach &&
        !REAL_NAME(surface_pair_list)(it, finder, index, p,
                                      1.001 * ((double)barrier.reach + moved)))
        return false;
    const struct pair_codes of = listed_codes(&it->lists[index], known);
    count_evaluated(known, code_total(of.counts));
    // Parts that have passed through each other are no farther apart than they have moved.
    const bool may_pass = moved > 0.9999 * least;
    const real far = may_pass ? (real)fmax((double)barrier.reach, 1.0001 * moved) : barrier.reach;
    const uint32_t sides[2] = {pair->a, pair->b};
    struct point start[4]; // of a candidate
    const struct start_of_step since = {may_pass ? start : NULL, (real)moved,
                                        barrier.reach - barrier.depth};
    const bool rubs = friction && REAL_NAME(surface_stage_pair)(friction, pair->a, pair->b);
    struct candidate_walk walk = candidates_of(it, pair, of);
    struct candidate found;
    while (candidate_next(&walk, &found)) {
        uint32_t nodes[4];
        struct point now[4];
        for (int i = 0; i < 4; i++)
            now[i] = block_point(it->now[sides[found.side[i]]], found.local[i]);
        if (sides_are_apart(&found, now, far))
            continue;
        candidate_nodes(&walk, &found, nodes);
        for (int i = 0; i < 4; i++)
            start[i] = block_point(it->start[sides[found.side[i]]], found.local[i]);
        const uint32_t key = touching_key(walk.group, walk.code[-1]);
        if (!add_candidate(rows, &found, nodes, since, now, &barrier, rubs ? friction : NULL, key))
            return false;
    }
    return true;
}

static bool find_in_list(struct system *system, struct pair_finder *finder, size_t index)
{
    const struct surface_contact *it = system->surface_contact;
    struct row_list *rows = &it->rows->lists[index];
    rows->count = rows->entries = 0;
    if (it->pairs == 0)
        return true;
    struct stage_friction friction;
    if (it->friction)
        REAL_NAME(surface_stage_begin)(&friction, system, index);
    for (size_t p = 0; p < it->lists[index].pair_count; p++)
        if (!find_in_pair(system, finder, rows, index, p, it->friction ? &friction : NULL))
            return false;
    if (it->friction)
        REAL_NAME(surface_stage_end)(&friction, index);
    return true;
}

// Room for the rows of all lists, and for their entries.
static bool reserve_rows(struct surface_contact *contact, size_t workers)
{
    struct surface_rows *it = contact->rows;
    size_t count = 0, entries = 0;
    for (size_t i = 0; i < it->list_count; i++) {
        count += it->lists[i].count;
        entries += it->lists[i].entries;
    }
    it->count = 0;
    size_t capacity = it->capacity;
    if (!array_reserve((void **)&it->rows, &capacity, count, sizeof *it->rows))
        return false;
    if (!array_reserve((void **)&it->pulls, &it->capacity, count, 2 * sizeof *it->pulls) ||
        !array_reserve((void **)&it->entries, &it->entry_capacity, entries, sizeof *it->entries) ||
        !array_reserve((void **)&it->totals, &it->total_capacity, workers, sizeof *it->totals))
        return false;
    it->count = count;
    return true;
}

// Copies the rows of this worker's lists, one list after another.
static void gather_rows(struct surface_contact *contact, const struct worker *worker)
{
    const struct surface_rows *it = contact->rows;
    const struct range lists = worker_share(worker, it->list_count, 1);
    size_t at = 0;
    for (size_t i = 0; i < lists.end; i++) {
        const struct row_list *list = &it->lists[i];
        if (i >= lists.first && list->count > 0)
            memcpy(it->rows + at, list->rows, list->count * sizeof *list->rows);
        at += list->count;
    }
    worker_barrier(worker);
}

// Lists for every node of this worker the rows that act on it, in their order. A node whose weight
// is 0 has no part in a row.
static void sort_entries(struct system *system, const struct worker *worker)
{
    const struct surface_rows *it = system->surface_contact->rows;
    const struct range share = node_share(system, worker);
    if (share.end > share.first)
        memset(it->counts + share.first, 0, (share.end - share.first) * sizeof *it->counts);
    size_t total = 0;
    for (size_t r = 0; r < it->count; r++)
        for (int i = 0; i < 4; i++) {
            const struct surface_row *row = &it->rows[r];
            const uint32_t node = row->nodes[i];
            if (node < share.first || node >= share.end)
                continue;
            const uint32_t entries =
                (uint32_t)(row->weights[i] != 0) + (row->coupled && row->couple_weights[i] != 0);
            it->counts[node] += entries;
            total += entries;
        }
    it->totals[worker->index] = total;
    worker_barrier(worker);
    size_t at = 0;
    for (int w = 0; w < worker->index; w++)
        at += it->totals[w];
    for (size_t node = share.first; node < share.end; node++) {
        it->first[node] = (uint32_t)at;
        at += it->counts[node];
        it->counts[node] = 0;
    }
    for (uint32_t r = 0; r < it->count; r++)
        for (int i = 0; i < 4; i++) {
            const uint32_t node = it->rows[r].nodes[i];
            const struct surface_row *row = &it->rows[r];
            if (node < share.first || node >= share.end)
                continue;
            if (row->weights[i] != 0)
                it->entries[it->first[node] + it->counts[node]++] =
                    (struct row_entry){r, row->weights[i]};
            if (row->coupled && row->couple_weights[i] != 0)
                it->entries[it->first[node] + it->counts[node]++] =
                    (struct row_entry){(uint32_t)it->count + r, row->couple_weights[i]};
        }
    worker_barrier(worker);
}

bool REAL_NAME(surface_contact_crossed)(const struct system *system)
{
    const struct surface_rows *it = system->surface_contact->rows;
    for (size_t r = 0; r < it->count; r++)
        if (it->rows[r].crossed)
            return true;
    return false;
}

bool REAL_NAME(surface_rows_find)(struct system *system, const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    const struct range blocks = worker_share(worker, it->surfaces.block_count, 1);
    const struct range lists = worker_share(worker, it->rows->list_count, 1);
    struct pair_finder finder;
    REAL_NAME(pair_finder_begin)(&finder, it->broad, &it->rules);
    if (it->pairs > 0)
        REAL_NAME(surface_steps_find)(system, blocks);
    worker_barrier(worker);
    for (size_t i = lists.first; i < lists.end; i++)
        if (!(i < it->broad->list_count
                  ? find_in_list(system, &finder, i)
                  : REAL_NAME(shape_rows_find)(system, i - it->broad->list_count,
                                               &it->rows->lists[i])))
            atomic_store(&it->failed, true);
    worker_barrier(worker);
    if (worker->index == 0 && !reserve_rows(it, (size_t)worker->count))
        atomic_store(&it->failed, true);
    worker_barrier(worker);
    const bool failed = atomic_load(&it->failed);
    worker_barrier(worker); // all have read it
    if (failed)
        return false;
    gather_rows(it, worker);
    if (it->rows->count > 0)
        sort_entries(system, worker);
    return true;
}

// ---- Forces and products

static void add_pulls(const struct surface_rows *it, struct node_vectors out, struct range nodes)
{
    for (size_t node = nodes.first; node < nodes.end; node++)
        for (uint32_t e = 0; e < it->counts[node]; e++) {
            const struct row_entry entry = it->entries[it->first[node] + e];
            const struct point pull = it->pulls[entry.row];
            out.x[node] += entry.weight * pull.x;
            out.y[node] += entry.weight * pull.y;
            out.z[node] += entry.weight * pull.z;
        }
}

static void put_pull(const struct surface_rows *it, size_t row, real size)
{
    const struct point direction = it->rows[row].direction, couple = it->rows[row].couple_direction;
    it->pulls[row] = (struct point){size * direction.x, size * direction.y, size * direction.z};
    if (it->rows[row].coupled)
        it->pulls[it->count + row] =
            (struct point){size * couple.x, size * couple.y, size * couple.z};
}

void REAL_NAME(surface_rows_add)(struct system *system, const struct worker *worker)
{
    const struct surface_rows *it = system->surface_contact->rows;
    const struct state *s = system->state;
    const struct range rows = worker_share(worker, it->count, 8);
    for (size_t r = rows.first; r < rows.end; r++)
        put_pull(it, r, it->rows[r].force);
    worker_barrier(worker);
    add_pulls(it, (struct node_vectors){s->fx, s->fy, s->fz}, node_share(system, worker));
    stage_end(&system->clock, STAGE_COLLIDERS, worker);
}

// The prescribed velocity of a node of a mesh collider, or of a shape.
static vec3 given_velocity(const struct system *system, size_t node)
{
    const size_t nodes = all_surface_nodes(system->topology);
    return node < nodes ? node_velocity(system->state, node)
                        : system->state->collider_velocity[node - nodes];
}

double REAL_NAME(surface_rows_collider_power)(const struct system *system)
{
    const struct surface_rows *it = system->surface_contact->rows;
    const size_t nodes = (size_t)system->state->nodes;
    double power = 0;
    for (size_t r = 0; r < it->count; r++) {
        const struct surface_row *row = &it->rows[r];
        const struct point d = row->direction, e = row->couple_direction;
        for (int i = 0; i < 4; i++) {
            if (row->nodes[i] < nodes)
                continue;
            const vec3 v = given_velocity(system, row->nodes[i]);
            if (row->weights[i] != 0)
                power -= (double)(row->weights[i] * row->force) *
                         ((double)d.x * v.x + (double)d.y * v.y + (double)d.z * v.z);
            if (row->coupled)
                power -= (double)(row->couple_weights[i] * row->force) *
                         ((double)e.x * v.x + (double)e.y * v.y + (double)e.z * v.z);
        }
    }
    return power;
}

static const struct surface_rows *rows_of(const struct system *system)
{
    const struct surface_contact *contact = system->surface_contact;
    return contact && contact->rows && contact->rows->count > 0 ? contact->rows : NULL;
}

void REAL_NAME(surface_tangent_collider_powers)(const struct system *system, double g,
                                                struct node_vectors solution, double powers[2])
{
    const struct surface_rows *it = rows_of(system);
    const size_t nodes = (size_t)system->state->nodes;
    powers[0] = powers[1] = 0;
    for (size_t r = 0; it && r < it->count; r++) {
        const struct surface_row *row = &it->rows[r];
        double speed = 0; // of the row's arms on what moves
        for (int i = 0; i < 4; i++) {
            if (row->nodes[i] < nodes)
                continue;
            const vec3 v = given_velocity(system, row->nodes[i]);
            speed += (double)row_part(row, i, (struct point){(real)v.x, (real)v.y, (real)v.z});
        }
        if (speed == 0)
            continue;
        powers[0] -= (double)row->force * speed;
        powers[1] += (g * (double)row->stiffness + (double)row->damping) *
                     (double)along_row(system, row, &solution) * speed;
    }
}

void REAL_NAME(surface_tangent_prepare)(const struct system *system, real stiffness, real damping,
                                        struct node_vectors in, const struct worker *worker)
{
    const struct surface_rows *it = rows_of(system);
    if (!it)
        return;
    const size_t nodes = (size_t)system->state->nodes;
    const struct range rows = worker_share(worker, it->count, 8);
    for (size_t r = rows.first; r < rows.end; r++) {
        const struct surface_row *row = &it->rows[r];
        real sum = 0;
        for (int i = 0; i < 4; i++) {
            const size_t node = row->nodes[i];
            if (node >= nodes) // of a mesh collider, whose motion is given
                continue;
            sum += row_part(row, i, (struct point){in.x[node], in.y[node], in.z[node]});
        }
        put_pull(it, r, (stiffness * row->stiffness + damping * row->damping) * sum);
    }
    worker_barrier(worker);
}

void REAL_NAME(surface_tangent_apply)(const struct system *system, struct node_vectors out,
                                      struct range nodes)
{
    const struct surface_rows *it = rows_of(system);
    if (it)
        add_pulls(it, out, nodes);
}

// The arm of a node in a row that has couples.
static struct point arm_of(const struct surface_row *row, uint32_t node)
{
    int i = 0;
    while (i < 3 && row->nodes[i] != node)
        i++;
    const real w = row->weights[i], u = row->couple_weights[i];
    const struct point d = row->direction, e = row->couple_direction;
    return (struct point){w * d.x + u * e.x, w * d.y + u * e.y, w * d.z + u * e.z};
}

void REAL_NAME(surface_tangent_blocks)(const struct system *system, real stiffness, real damping,
                                       real (*blocks)[6], struct range nodes)
{
    const struct surface_rows *it = rows_of(system);
    for (size_t node = nodes.first; it && node < nodes.end; node++)
        for (uint32_t e = 0; e < it->counts[node]; e++) {
            const struct row_entry entry = it->entries[it->first[node] + e];
            const bool couple = entry.row >= it->count;
            const struct surface_row *row = &it->rows[entry.row - (couple ? it->count : 0)];
            const struct point n = row->direction;
            if (row->coupled) {
                // Its entries for a node follow each other: the whole of it with the first one.
                if (couple && e > 0 &&
                    it->entries[it->first[node] + e - 1].row + it->count == entry.row)
                    continue;
                const struct point a = arm_of(row, (uint32_t)node);
                block_add(blocks[node], a.x, a.y, a.z,
                          stiffness * row->stiffness + damping * row->damping, 0);
                continue;
            }
            block_add(blocks[node], n.x, n.y, n.z,
                      (stiffness * row->stiffness + damping * row->damping) * entry.weight *
                          entry.weight,
                      0);
        }
}
