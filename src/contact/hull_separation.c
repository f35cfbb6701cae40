// See hull_separation.h. Bodies are only translated, so that a pair is apart along an axis if one
// inequality, linear in the displacements of both, holds. Those of least mass times squared length
// that satisfy all of them solve a convex quadratic program, whose dual is solved bound by bound
// (projected Gauss-Seidel): an impulse per bound, which pushes only.
#include "contact/hull_separation.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

enum { SWEEPS = 3000, RECHOICES = 60, MOST_TRIES = 4 };

// Directions that are tried for each pair, and their opposites: those of the edges, faces and
// corners of a cube, and others all over a hemisphere; the best ones are then turned.
enum { CUBE_DIRECTIONS = 13, SPIRAL_DIRECTIONS = 60, TURNED = 3, TURNS = 120 };
static const double TURN = 0.2, TURN_LEAST = 1e-3; // radians
// How much better another axis must be, as a fraction of the best overlap. The first one of two
// that are equally good counts.
static const double BETTER = 1e-6;
// The cosine to an axis with which there is no displacement, from which another one is not tried.
static const double SAME = 0.8;
// How exactly bounds are satisfied, as a fraction of the thickness.
static const double TOLERANCE = 0.005;

bool REAL_NAME(hulls_begin)(struct hull_separation *it, const struct system *system, double beyond)
{
    const struct topology *topology = system->topology;
    size_t most[2] = {0, 0}; // nodes of the two largest bodies
    *it = (struct hull_separation){
        .system = system, .beyond = beyond, .body_count = system->surface_contact->body_count};
    for (size_t b = 0; b < it->body_count; b++) {
        const struct range nodes = surface_nodes(topology, b);
        const size_t count = nodes.end - nodes.first;
        most[1] = count > most[0] ? most[0] : count > most[1] ? count : most[1];
        most[0] = count > most[0] ? count : most[0];
    }
    it->point_count = most[0] + most[1];
    it->bodies = memory_allocate(NULL, it->body_count, sizeof *it->bodies);
    it->points = memory_allocate(NULL, it->point_count, sizeof *it->points);
    if (!it->bodies || !it->points)
        return false;
    for (size_t b = 0; b < it->body_count; b++) {
        const struct range nodes = surface_nodes(topology, b);
        struct hull_body *body = &it->bodies[b];
        *body = (struct hull_body){.least = {INFINITY, INFINITY, INFINITY},
                                   .most = {-INFINITY, -INFINITY, -INFINITY}};
        for (size_t i = nodes.first; i < nodes.end; i++) {
            const vec3 position = state_position(system->state, i);
            const double at[3] = {position.x, position.y, position.z};
            for (int axis = 0; axis < 3; axis++) {
                body->least[axis] = fmin(body->least[axis], at[axis]);
                body->most[axis] = fmax(body->most[axis], at[axis]);
            }
        }
    }
    return true;
}

void REAL_NAME(hulls_end)(struct hull_separation *it)
{
    memory_release(NULL, it->points, it->point_count, sizeof *it->points);
    memory_release(NULL, it->bodies, it->body_count, sizeof *it->bodies);
    free(it->bounds);
}

bool REAL_NAME(hulls_have)(const struct hull_separation *it, size_t a, size_t b)
{
    for (size_t i = it->bound_count; i-- > 0;) {
        const struct hull_bound *bound = &it->bounds[i];
        if ((bound->one == a && bound->other == b) || (bound->one == b && bound->other == a))
            return true;
    }
    return false;
}

// ---- Axes

// The nodes of two bodies.
struct cloud {
    const double (*one)[3], (*other)[3];
    size_t one_count, other_count;
};

static struct cloud cloud_of(struct hull_separation *it, size_t one, size_t other)
{
    const size_t bodies[2] = {one, other};
    size_t count = 0, counts[2];
    for (int side = 0; side < 2; side++) {
        const struct range nodes = surface_nodes(it->system->topology, bodies[side]);
        for (size_t i = nodes.first; i < nodes.end; i++, count++) {
            const vec3 at = state_position(it->system->state, i);
            it->points[count][0] = at.x;
            it->points[count][1] = at.y;
            it->points[count][2] = at.z;
        }
        counts[side] = nodes.end - nodes.first;
    }
    return (struct cloud){(const double(*)[3])it->points,
                          (const double(*)[3])it->points + counts[0], counts[0], counts[1]};
}

// The greatest coordinate along an axis.
static double support(const double (*points)[3], size_t count, vec3 axis)
{
    double most = -INFINITY;
    for (size_t i = 0; i < count; i++) {
        const double along = axis.x * points[i][0] + axis.y * points[i][1] + axis.z * points[i][2];
        most = along > most ? along : most;
    }
    return most;
}

// How far the first one has to move along an axis to be beyond the other one, m.
static double overlap_along(const struct cloud *cloud, vec3 axis)
{
    return support(cloud->other, cloud->other_count, axis) +
           support(cloud->one, cloud->one_count, vec3_scale(-1, axis));
}

static vec3 unit(vec3 direction)
{
    return vec3_scale(1 / vec3_length(direction), direction);
}

static vec3 direction_of(int number)
{
    static const signed char cube[CUBE_DIRECTIONS][3] = {
        {1, 0, 0}, {0, 1, 0},  {0, 0, 1}, {1, 1, 0},  {1, -1, 0}, {1, 0, 1},   {1, 0, -1},
        {0, 1, 1}, {0, 1, -1}, {1, 1, 1}, {1, 1, -1}, {1, -1, 1}, {1, -1, -1},
    };
    if (number < CUBE_DIRECTIONS)
        return unit(vec3_make(cube[number][0], cube[number][1], cube[number][2]));
    const double golden = 2.399963229728653; // radians
    const double at = number - CUBE_DIRECTIONS, z = (at + 0.5) / SPIRAL_DIRECTIONS;
    const double beside = sqrt(1 - z * z);
    return vec3_make(beside * cos(golden * at), beside * sin(golden * at), z);
}

static bool is_tried(const struct hull_bound *bound, vec3 axis)
{
    for (int i = 0; i < bound->tries; i++)
        if (vec3_dot(bound->tried[i], axis) > SAME)
            return true;
    return false;
}

struct axis_choice {
    vec3 axis;
    double overlap; // m
};

// Turns an axis as long as that makes the overlap less.
static void turn_axis(const struct cloud *cloud, const struct hull_bound *bound,
                      struct axis_choice *best)
{
    double angle = TURN;
    for (int turns = 0; turns < TURNS && angle > TURN_LEAST;) {
        const vec3 axis = best->axis;
        const vec3 beside = unit(vec3_cross(axis, fabs(axis.x) < 0.6   ? vec3_make(1, 0, 0)
                                                  : fabs(axis.y) < 0.6 ? vec3_make(0, 1, 0)
                                                                       : vec3_make(0, 0, 1)));
        const vec3 above = vec3_cross(axis, beside);
        bool better = false;
        for (int i = 0; i < 4; i++, turns++) {
            const vec3 turned = unit(
                vec3_add(axis, vec3_scale(i % 2 == 0 ? angle : -angle, i < 2 ? beside : above)));
            const double overlap = overlap_along(cloud, turned);
            if (is_tried(bound, turned) ||
                !(overlap < best->overlap - BETTER * fabs(best->overlap)))
                continue;
            *best = (struct axis_choice){turned, overlap};
            better = true;
        }
        if (!better)
            angle /= 2;
    }
}

// The axis along which two bodies are least in each other, but those that have been tried; false if
// there is no other one.
static bool choose_axis(struct hull_separation *it, struct hull_bound *bound)
{
    const struct cloud cloud = cloud_of(it, bound->one, bound->other);
    struct axis_choice best[TURNED] = {0};
    int count = 0;
    for (int i = 0; i < 2 * (CUBE_DIRECTIONS + SPIRAL_DIRECTIONS); i++) {
        const vec3 axis = vec3_scale(i % 2 == 0 ? 1 : -1, direction_of(i / 2));
        if (is_tried(bound, axis))
            continue;
        const double overlap = overlap_along(&cloud, axis);
        int at = count;
        while (at > 0 && overlap < best[at - 1].overlap - BETTER * fabs(best[at - 1].overlap))
            at--;
        if (at >= TURNED)
            continue;
        count = count < TURNED ? count + 1 : TURNED;
        memmove(best + at + 1, best + at, (size_t)(count - 1 - at) * sizeof *best);
        best[at] = (struct axis_choice){axis, overlap};
    }
    if (count == 0)
        return false;
    for (int i = 0; i < count; i++) {
        turn_axis(&cloud, bound, &best[i]);
        if (best[i].overlap < best[0].overlap - BETTER * fabs(best[0].overlap))
            best[0] = best[i];
    }
    const struct surface_contact *contact = it->system->surface_contact;
    const double thickness = thickness_between(contact, bound->one, bound->other);
    const vec3 apart = vec3_subtract(it->bodies[bound->one].done, it->bodies[bound->other].done);
    bound->axis = best[0].axis;
    bound->least = best[0].overlap + it->beyond * thickness + vec3_dot(best[0].axis, apart);
    bound->tolerance = TOLERANCE * thickness;
    return true;
}

// ---- Bounds

static struct hull_bound *new_bound(struct hull_separation *it)
{
    if (!array_reserve((void **)&it->bounds, &it->bound_capacity, it->bound_count + 1,
                       sizeof *it->bounds))
        return NULL;
    return &it->bounds[it->bound_count++];
}

bool REAL_NAME(hulls_add_pair)(struct hull_separation *it, size_t a, size_t b)
{
    struct hull_bound *bound = new_bound(it);
    if (!bound)
        return false;
    *bound = (struct hull_bound){.one = a, .other = b};
    choose_axis(it, bound);
    return true;
}

bool REAL_NAME(hulls_add_shape)(struct hull_separation *it, size_t body, vec3 normal, double least)
{
    const double parallel = 1 - 1e-9; // cosine
    const double from_first = least + vec3_dot(normal, it->bodies[body].done);
    for (size_t i = 0; i < it->bound_count; i++) {
        struct hull_bound *bound = &it->bounds[i];
        if (bound->one != body || bound->other != HULL_SHAPE ||
            !(vec3_dot(bound->axis, normal) > parallel))
            continue;
        bound->least = fmax(bound->least, from_first);
        return true;
    }
    struct hull_bound *bound = new_bound(it);
    if (!bound)
        return false;
    *bound = (struct hull_bound){
        .one = body,
        .other = HULL_SHAPE,
        .axis = normal,
        .least = from_first,
        .tolerance = TOLERANCE * thickness_between(it->system->surface_contact, body, body)};
    return true;
}

struct surface_overlap REAL_NAME(surface_contact_overlap)(const struct system *system, size_t one,
                                                          size_t other)
{
    struct hull_separation it;
    struct surface_overlap overlap = {.distance = NAN};
    if (REAL_NAME(hulls_begin)(&it, system, 0) && REAL_NAME(hulls_add_pair)(&it, one, other)) {
        const struct hull_bound *bound = &it.bounds[0];
        const double apart = (double)barrier_between(system, (uint32_t)one, (uint32_t)other).reach;
        overlap = (struct surface_overlap){bound->least > 0 ? bound->least + apart : bound->least,
                                           {bound->axis.x, bound->axis.y, bound->axis.z}};
    }
    REAL_NAME(hulls_end)(&it);
    return overlap;
}

// ---- Ways

static double missing(const struct hull_separation *it, const struct hull_bound *bound)
{
    vec3 shift = it->bodies[bound->one].wanted;
    if (bound->other != HULL_SHAPE)
        shift = vec3_subtract(shift, it->bodies[bound->other].wanted);
    return bound->least - vec3_dot(bound->axis, shift);
}

static bool is_missed(const struct hull_separation *it, const struct hull_bound *bound)
{
    return missing(it, bound) > bound->tolerance;
}

static void push(struct hull_separation *it, struct hull_bound *bound)
{
    struct hull_body *one = &it->bodies[bound->one],
                     *other = bound->other == HULL_SHAPE ? NULL : &it->bodies[bound->other];
    const double inverse = one->inverse_mass + (other ? other->inverse_mass : 0);
    if (!(inverse > 0))
        return;
    const double impulse = fmax(0, bound->impulse + missing(it, bound) / inverse);
    const double change = impulse - bound->impulse;
    bound->impulse = impulse;
    one->wanted = vec3_add(one->wanted, vec3_scale(change * one->inverse_mass, bound->axis));
    if (other)
        other->wanted =
            vec3_subtract(other->wanted, vec3_scale(change * other->inverse_mass, bound->axis));
}

// Whether all bounds are satisfied.
static bool sweep_bounds(struct hull_separation *it)
{
    for (size_t b = 0; b < it->body_count; b++)
        it->bodies[b].wanted = vec3_make(0, 0, 0);
    for (size_t i = 0; i < it->bound_count; i++)
        it->bounds[i].impulse = 0;
    bool misses = true;
    for (int sweep = 0; sweep < SWEEPS && misses; sweep++) {
        misses = false;
        for (size_t i = 0; i < it->bound_count; i++)
            push(it, &it->bounds[i]);
        for (size_t i = 0; i < it->bound_count && !misses; i++)
            misses = is_missed(it, &it->bounds[i]);
    }
    return !misses;
}

// Another axis for the pair that is farthest from where it should be; false if none has another
// one.
static bool choose_another(struct hull_separation *it)
{
    struct hull_bound *worst = NULL;
    for (size_t i = 0; i < it->bound_count; i++) {
        struct hull_bound *bound = &it->bounds[i];
        if (bound->other != HULL_SHAPE && bound->tries < MOST_TRIES && is_missed(it, bound) &&
            (!worst || missing(it, bound) > missing(it, worst)))
            worst = bound;
    }
    if (!worst)
        return false;
    worst->tried[worst->tries++] = worst->axis;
    return choose_axis(it, worst);
}

// Bodies of bounds that are missed, and all that these push.
static void find_stuck(struct hull_separation *it)
{
    bool more = true;
    for (size_t i = 0; i < it->bound_count; i++) {
        const struct hull_bound *bound = &it->bounds[i];
        if (!is_missed(it, bound))
            continue;
        it->bodies[bound->one].stuck = true;
        if (bound->other != HULL_SHAPE)
            it->bodies[bound->other].stuck = true;
    }
    while (more) {
        more = false;
        for (size_t i = 0; i < it->bound_count; i++) {
            const struct hull_bound *bound = &it->bounds[i];
            if (bound->other == HULL_SHAPE || it->bodies[bound->one].inverse_mass == 0 ||
                it->bodies[bound->other].inverse_mass == 0 ||
                it->bodies[bound->one].stuck == it->bodies[bound->other].stuck)
                continue;
            it->bodies[bound->one].stuck = it->bodies[bound->other].stuck = more = true;
        }
    }
}

bool REAL_NAME(hulls_solve)(struct hull_separation *it)
{
    for (size_t b = 0; b < it->body_count; b++)
        it->bodies[b].stuck = false;
    bool solved = sweep_bounds(it);
    for (int i = 0; i < RECHOICES && !solved && choose_another(it); i++)
        solved = sweep_bounds(it);
    if (!solved)
        find_stuck(it);
    for (size_t b = 0; b < it->body_count; b++)
        if (it->bodies[b].stuck)
            it->bodies[b].wanted = vec3_make(0, 0, 0);
    return solved;
}

bool REAL_NAME(hulls_meet)(const struct hull_separation *it, size_t a, size_t b)
{
    const struct hull_body *one = &it->bodies[a], *other = &it->bodies[b];
    const vec3 shift = vec3_subtract(one->wanted, other->wanted);
    const double shifts[3] = {shift.x, shift.y, shift.z};
    bool before = true, now = true;
    for (int axis = 0; axis < 3; axis++) {
        before &= one->least[axis] <= other->most[axis] && other->least[axis] <= one->most[axis];
        now &= one->least[axis] + shifts[axis] <= other->most[axis] &&
               other->least[axis] <= one->most[axis] + shifts[axis];
    }
    return now && !before;
}
