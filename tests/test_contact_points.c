// The list of what touches (contact/contact_points.c): against all pairs of nodes, edges and
// triangles, whose distances are found here with other formulas, and against the forces on bodies;
// on shapes, meshes and penalty colliders; whether friction holds; and that listing changes
// nothing, for any number of threads.
#include "contact_fixture.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double THICKNESS = 0.02, STIFFNESS = 100;

// N, of the barrier at a distance (docs/numerics.md).
static double barrier_at(double distance)
{
    const double depth = THICKNESS / 2, s = 1.5 * THICKNESS - distance;
    if (!(s > 0))
        return 0;
    return s < depth ? 2 * STIFFNESS / depth * s * s
                     : 2 * STIFFNESS * depth + 4 * STIFFNESS * (s - depth);
}

struct found {
    vec3 first, second; // the nearest points
};

struct found_list {
    struct found *items;
    size_t count, capacity;
};

static void found_add(struct found_list *list, vec3 first, vec3 second)
{
    const double distance = vec3_length(vec3_subtract(first, second));
    assert_true(fabs(distance - 1.5 * THICKNESS) > 1e-9); // not a matter of rounding
    if (distance > 1.5 * THICKNESS)
        return;
    if (list->count == list->capacity) {
        list->capacity = 2 * list->capacity + 64;
        list->items = realloc(list->items, list->capacity * sizeof *list->items);
        assert_non_null(list->items);
    }
    list->items[list->count++] = (struct found){first, second};
}

// The point of a triangle nearest to p: its projection if that is inside, otherwise on a side.
static vec3 nearest_on_triangle(vec3 p, const vec3 t[3])
{
    const vec3 normal = vec3_cross(vec3_subtract(t[1], t[0]), vec3_subtract(t[2], t[0]));
    const double square = vec3_dot(normal, normal);
    const vec3 foot =
        vec3_subtract(p, vec3_scale(vec3_dot(vec3_subtract(p, t[0]), normal) / square, normal));
    bool inside = true;
    vec3 best = t[0];
    for (int i = 0; i < 3; i++) {
        const vec3 side = vec3_subtract(t[(i + 1) % 3], t[i]);
        inside &= vec3_dot(vec3_cross(side, vec3_subtract(foot, t[i])), normal) >= 0;
        const vec3 on = nearest_on_side(p, t[i], t[(i + 1) % 3]);
        if (vec3_length(vec3_subtract(on, p)) < vec3_length(vec3_subtract(best, p)))
            best = on;
    }
    return inside ? foot : best;
}

// The nearest points of two edges: where their common normal meets both, or an end of one of them.
static void nearest_on_edges(const vec3 a[2], const vec3 b[2], vec3 *on_a, vec3 *on_b)
{
    const vec3 d = vec3_subtract(a[1], a[0]), e = vec3_subtract(b[1], b[0]);
    const vec3 normal = vec3_cross(d, e), offset = vec3_subtract(b[0], a[0]);
    const double square = vec3_dot(normal, normal);
    assert_true(square > 1e-3 * vec3_dot(d, d) * vec3_dot(e, e)); // parallel ones have less force
    const double s = vec3_dot(vec3_cross(offset, e), normal) / square,
                 t = vec3_dot(vec3_cross(offset, d), normal) / square;
    if (s >= 0 && s <= 1 && t >= 0 && t <= 1) {
        *on_a = vec3_add(a[0], vec3_scale(s, d));
        *on_b = vec3_add(b[0], vec3_scale(t, e));
        return;
    }
    double least = INFINITY;
    for (int i = 0; i < 2; i++) {
        const vec3 p = nearest_on_side(a[i], b[0], b[1]), q = nearest_on_side(b[i], a[0], a[1]);
        if (vec3_length(vec3_subtract(p, a[i])) < least) {
            least = vec3_length(vec3_subtract(p, a[i]));
            *on_a = a[i];
            *on_b = p;
        }
        if (vec3_length(vec3_subtract(q, b[i])) < least) {
            least = vec3_length(vec3_subtract(q, b[i]));
            *on_a = q;
            *on_b = b[i];
        }
    }
}

static void read_corners(const taut_solver *solver, const uint32_t *nodes, int count, vec3 *at)
{
    for (int i = 0; i < count; i++)
        at[i] = position_of(solver, nodes[i]);
}

// All contacts of surfaces of different bodies.
static struct found_list all_pairs(const taut_solver *solver, const struct everything *all)
{
    struct found_list list = {0};
    for (uint32_t node = 0; node < all->nodes; node++)
        for (size_t t = 0; t < all->triangle_count; t++) {
            vec3 corners[3];
            if (all->bodies[node] == all->bodies[all->triangles[t][0]])
                continue;
            read_corners(solver, all->triangles[t], 3, corners);
            const vec3 p = position_of(solver, node);
            found_add(&list, p, nearest_on_triangle(p, corners));
        }
    for (size_t e = 0; e < all->edge_count; e++)
        for (size_t f = 0; f < e; f++) {
            vec3 a[2], b[2], on_a, on_b;
            if (all->bodies[all->edges[e][0]] == all->bodies[all->edges[f][0]])
                continue;
            read_corners(solver, all->edges[e], 2, a);
            read_corners(solver, all->edges[f], 2, b);
            nearest_on_edges(a, b, &on_a, &on_b);
            found_add(&list, on_a, on_b);
        }
    return list;
}

static taut_contact_point *points_of(taut_solver *solver, uint64_t *count)
{
    taut_error error = {0};
    assert_int_equal(taut_solver_get_contact_points(solver, 0, NULL, count, &error), TAUT_OK);
    taut_contact_point *points = calloc((size_t)*count + 1, sizeof *points);
    uint64_t again;
    assert_non_null(points);
    assert_int_equal(taut_solver_get_contact_points(solver, (size_t)*count, points, &again, &error),
                     TAUT_OK);
    assert_int_equal(again, *count);
    return points;
}

static vec3 vector_of(const double v[3])
{
    return vec3_make(v[0], v[1], v[2]);
}

// Checks that the points are those of the list, each once, with the forces of the barrier.
static void assert_listed(const struct found_list *list, const taut_contact_point *points,
                          uint64_t count)
{
    assert_int_equal(count, list->count);
    bool *taken = calloc((size_t)count + 1, sizeof *taken);
    assert_non_null(taken);
    for (size_t i = 0; i < list->count; i++) {
        const struct found *it = &list->items[i];
        const vec3 middle = vec3_scale(0.5, vec3_add(it->first, it->second));
        const double distance = vec3_length(vec3_subtract(it->first, it->second));
        bool known = false;
        for (uint64_t p = 0; p < count && !known; p++) {
            if (taken[p] ||
                vec3_length(vec3_subtract(vector_of(points[p].point), middle)) > 1e-10 ||
                fabs(points[p].distance - distance) > 1e-10)
                continue;
            known = taken[p] = true;
            assert_near(points[p].force, barrier_at(distance), 1e-8);
            assert_near(vec3_length(vector_of(points[p].normal)), 1, 1e-12);
        }
        assert_true(known);
    }
    free(taken);
}

// Two sheets that overlap in part, one of them tilted, so that no edges are parallel.
#define TWO_SHEETS                                                                                 \
    "- {name: top, type: cloth, origin: [-0.21, 0.021, -0.3], u: [0.57, 0.002, 0.19],\n"           \
    "   v: [-0.19, 0.003, 0.57], nodes: [7, 7], mass: 0.1, spring: {stiffness: 200}}\n"            \
    "- {name: low, type: cloth, origin: [-0.3, 0, -0.3], u: [0.6, 0, 0], v: [0, 0, 0.6],\n"        \
    "   nodes: [8, 8], mass: 0.1, spring: {stiffness: 200}}\n"

static void test_two_sheets_touch_where_all_pairs_do(void **state)
{
    (void)state;
    taut_solver *solver =
        solver_of(HEADER("symplectic_euler", "1e-4") "contact: {thickness: " NUM ", stiffness: " NUM
                                                     "}\nbodies:\n" TWO_SHEETS,
                  THICKNESS, STIFFNESS);
    struct everything all = everything_of(solver);
    struct found_list list = all_pairs(solver, &all);
    uint64_t count;
    taut_contact_point *points = points_of(solver, &count);
    assert_true(count > 100);
    assert_listed(&list, points, count);
    // Nothing else acts on the upper sheet: its springs are at rest.
    vec3 sum = {0, 0, 0}, expected = {0, 0, 0};
    for (uint64_t i = 0; i < count; i++) {
        const double sign = points[i].body == 0 ? 1 : -1;
        assert_int_equal(points[i].collider, -1);
        assert_int_equal((ptrdiff_t)points[i].body + points[i].other, 1);
        assert_int_equal(points[i].friction, TAUT_CONTACT_FRICTIONLESS);
        sum = vec3_add(sum, vec3_scale(sign * points[i].force, vector_of(points[i].normal)));
    }
    for (uint64_t node = 0; node < 49; node++)
        expected = vec3_add(expected, force_on(solver, node));
    assert_true(expected.y > 1);
    assert_vector_near(sum, expected, 1e-9 * expected.y);
    free(points);
    free(list.items);
    free_everything(&all);
    taut_solver_destroy(solver);
}

// Less room than there are contacts: the first ones.
static void test_a_shorter_list_has_the_first_ones(void **state)
{
    (void)state;
    taut_solver *solver =
        solver_of(HEADER("symplectic_euler", "1e-4") "contact: {thickness: " NUM ", stiffness: " NUM
                                                     "}\nbodies:\n" TWO_SHEETS,
                  THICKNESS, STIFFNESS);
    uint64_t count, all;
    taut_contact_point *points = points_of(solver, &count), few[12] = {0};
    assert_int_equal(taut_solver_get_contact_points(solver, 10, few, &all, NULL), TAUT_OK);
    assert_int_equal(all, count);
    for (int i = 0; i < 10; i++)
        assert_true(few[i].force == points[i].force && few[i].distance == points[i].distance);
    assert_true(few[10].force == 0 && few[11].force == 0);

    // A frame spreads them out.
    const struct frame_shape shape = {.contact_capacity = 10};
    struct frame frame;
    assert_int_equal(frame_make(&shape, FRAME_CONTACTS, &frame, NULL), TAUT_OK);
    solver_read_frame(solver, FRAME_CONTACTS, &frame);
    const uint64_t every = (count + 9) / 10;
    assert_true(frame_has(&frame, FRAME_CONTACTS));
    assert_int_equal(frame.all_contacts, count);
    assert_int_equal(frame.contact_count, (count + every - 1) / every);
    for (size_t i = 0; i < frame.contact_count; i++)
        assert_true(frame.contacts[i].force == (float)points[i * every].force &&
                    frame.contacts[i].point[0] == (float)points[i * every].point[0]);
    frame_free(&frame);
    free(points);
    taut_solver_destroy(solver);
}

// A sheet on a sphere, a floor or in a room, and what is near it.
#define SHEET_ON(collider)                                                                         \
    solver_of(HEADER("symplectic_euler", "1e-4") "contact: {thickness: " NUM ", stiffness: " NUM   \
                                                 "}\n"                                             \
                                                 "colliders:\n- " collider "\n"                    \
                                                 "bodies:\n- {name: sheet, type: cloth,\n"         \
                                                 "   origin: [-0.3, 0.022, -0.31],\n"              \
                                                 "   u: [0.6, 0.004, 0], v: [0, 0.003, 0.6],\n"    \
                                                 "   nodes: [8, 8], mass: 0.1,\n"                  \
                                                 "   spring: {stiffness: 200}}\n",                 \
              THICKNESS, STIFFNESS)

static vec3 force_on_all(taut_solver *solver)
{
    vec3 sum = {0, 0, 0};
    for (uint64_t node = 0; node < taut_solver_node_count(solver); node++)
        sum = vec3_add(sum, force_on(solver, node));
    return sum;
}

static vec3 sum_of_forces(const taut_contact_point *points, uint64_t count)
{
    vec3 sum = {0, 0, 0};
    for (uint64_t i = 0; i < count; i++)
        sum = vec3_add(sum, vec3_scale(points[i].force, vector_of(points[i].normal)));
    return sum;
}

static void test_triangles_touch_a_sphere(void **state)
{
    (void)state;
    const vec3 centre = {0.01, -0.5, 0.02};
    taut_solver *solver =
        SHEET_ON("{type: sphere, center: [0.01, -0.5, 0.02], radius: 0.5, response: contact}");
    struct everything all = everything_of(solver);
    struct found_list list = {0};
    for (size_t t = 0; t < all.triangle_count; t++) {
        vec3 corners[3];
        read_corners(solver, all.triangles[t], 3, corners);
        const vec3 p = nearest_on_triangle(centre, corners);
        const vec3 out = vec3_subtract(p, centre);
        found_add(&list, p, vec3_add(centre, vec3_scale(0.5 / vec3_length(out), out)));
    }
    uint64_t count;
    taut_contact_point *points = points_of(solver, &count);
    assert_true(count >= 6);
    assert_listed(&list, points, count);
    assert_vector_near(sum_of_forces(points, count), force_on_all(solver), 1e-9);
    for (uint64_t i = 0; i < count; i++)
        assert_true(points[i].body == 0 && points[i].other == -1 && points[i].collider == 0);
    free(points);
    free(list.items);
    free_everything(&all);
    taut_solver_destroy(solver);
}

// Nodes at heights of 0.022 and more, below the reach of 0.03 or not.
static void test_nodes_touch_planes_and_rooms(void **state)
{
    (void)state;
    taut_solver *solvers[2] = {
        SHEET_ON("{type: plane, point: [0, 0, 0], normal: [0, 1, 0], response: contact}"),
        SHEET_ON("{type: room, min: [-0.325, 0, -1], max: [1, 1, 1], response: contact}")};
    for (int i = 0; i < 2; i++) {
        struct found_list list = {0};
        for (uint64_t node = 0; node < 64; node++) {
            const vec3 p = position_of(solvers[i], node);
            found_add(&list, p, vec3_make(p.x, 0, p.z));
            if (i == 1)
                found_add(&list, p, vec3_make(-0.325, p.y, p.z));
        }
        uint64_t count;
        taut_contact_point *points = points_of(solvers[i], &count);
        assert_true(count > 20);
        assert_listed(&list, points, count);
        assert_vector_near(sum_of_forces(points, count), force_on_all(solvers[i]), 1e-9);
        free(points);
        free(list.items);
        taut_solver_destroy(solvers[i]);
    }
}

// Contacts with penalty colliders have the depth and k times it, also without contact of surfaces.
static void test_nodes_in_penalty_colliders(void **state)
{
    (void)state;
    taut_solver *solver = solver_of(
        HEADER("symplectic_euler", "1e-4") "colliders:\n"
                                           "- {type: sphere, center: [9, 0, 0], radius: 1,\n"
                                           "   stiffness: 50}\n"
                                           "- {type: plane, point: [0, 0, 0], normal: [0, 1, 0],\n"
                                           "   stiffness: 50}\n"
                                           "bodies:\n- {name: rope, type: rope,\n"
                                           "   from: [0, -0.05, 0], to: [1, 0.05, 0], nodes: 11,\n"
                                           "   mass: 0.1, spring: {stiffness: 20}}\n");
    uint64_t count;
    taut_contact_point *points = points_of(solver, &count);
    assert_int_equal(count, 5);
    for (uint64_t i = 0; i < count; i++) {
        const double depth = 0.05 - 0.01 * (double)i;
        assert_near(points[i].force, 50 * depth, 1e-12);
        assert_near(points[i].distance, -depth, 1e-14);
        assert_vector_near(vector_of(points[i].point), vec3_make(0.1 * (double)i, -depth / 2, 0),
                           1e-12);
        assert_vector_near(vector_of(points[i].normal), vec3_make(0, 1, 0), 0);
        assert_int_equal(points[i].collider, 1);
        assert_int_equal(points[i].other, -1);
    }
    free(points);
    taut_solver_destroy(solver);
}

// The forces of all contacts on the first body, friction included, and its weight and drag are the
// forces on its nodes; friction is along the surface, and within the cone, on which contacts slide
// downwards.
static void assert_friction(taut_solver *solver, const taut_contact_point *points, uint64_t count,
                            double coefficient)
{
    const double drag = 0.005, mass = 0.02 / 25;
    double slides = 0, limit = 0; // N, of what slides
    vec3 expected = {0, 0, 0}, sum = {0, 0, 0};
    for (uint64_t node = 0; node < 25; node++) {
        const vec3 weight = vec3_make(mass * 4.387165, mass * -8.77433, 0);
        sum = vec3_add(sum, vec3_subtract(weight, vec3_scale(drag, velocity_of(solver, node))));
        expected = vec3_add(expected, force_on(solver, node));
    }
    for (uint64_t i = 0; i < count; i++) {
        const vec3 friction = vector_of(points[i].friction_force),
                   normal = vector_of(points[i].normal);
        const double sign = points[i].body == 0 ? 1 : -1, size = vec3_length(friction);
        const vec3 all = vec3_add(friction, vec3_scale(points[i].force, normal));
        sum = vec3_add(sum, vec3_scale(sign, all));
        // At the corners of a triangle on a sphere it is at right angles to their own normals.
        assert_near(vec3_dot(friction, normal), 0, 2e-3 * size + 1e-9);
        assert_true(size <= coefficient * points[i].force * (1 + 1e-9) + 1e-12);
        if (points[i].friction == TAUT_CONTACT_SLIDES) {
            slides += size;
            limit += coefficient * points[i].force;
        }
    }
    if (coefficient < 0.5) // otherwise few slide, and these turn round
        assert_near(slides, limit, 0.05 * limit);
    // Contacts have no dampers along their normals here, which act while what slides vibrates.
    assert_vector_near(sum, expected, coefficient < 0.5 ? 1e-4 : 1e-6);
}

// A sheet on a slope, tan = 1/2, on a plane, a sphere, a mesh and another sheet: held with mu far
// above 1/2 (nodes with little of the load may slide where others hold), sliding with less.
static void assert_slope(const char *collider, const char *bodies, double coefficient,
                         taut_contact_friction expected)
{
    taut_solver *solver = solver_of(
        "precision: double\nsimulation: {dt: 1e-4, steps: 1, integrator: symplectic_euler}\n"
        "environment: {gravity: [4.387165, -8.77433, 0], air_drag: 0.005}\n"
        "contact: {thickness: 0.01, stiffness: 100, friction_coefficient: " NUM "}\n"
        "%s"
        "bodies:\n"
        "- {name: sheet, type: cloth, origin: [-0.1, 0.0146, -0.11], u: [0.2, 0, 0],\n"
        "   v: [0, 0, 0.2], nodes: [5, 5], mass: 0.02, spring: {stiffness: 200, damping: 0.2}}\n"
        "%s",
        coefficient, collider, bodies);
    advance(solver, 6000);
    uint64_t count, as_expected = 0;
    taut_contact_point *points = points_of(solver, &count);
    assert_true(count > 10);
    for (uint64_t i = 0; i < count; i++) {
        as_expected += points[i].friction == expected;
        assert_true(points[i].friction != TAUT_CONTACT_FRICTIONLESS);
        assert_true(points[i].normal[1] * (points[i].body == 0 ? 1 : -1) > 0.9);
        assert_int_equal(points[i].collider, *collider ? 0 : -1);
    }
    assert_true(as_expected > count * 2 / 3);
    assert_friction(solver, points, count, coefficient);
    free(points);
    taut_solver_destroy(solver);
}

static void test_friction_holds_or_slides(void **state)
{
    (void)state;
    static const char plane[] =
        "colliders: [{type: plane, point: [0, 0, 0], normal: [0, 1, 0], response: contact}]\n";
    static const char sphere[] =
        "colliders: [{type: sphere, center: [0, -100, 0], radius: 100, response: contact}]\n";
    static const char below[] =
        "- {name: low, type: cloth, origin: [-1, 0, -0.5], u: [2, 0, 0], v: [0, 0, 1],\n"
        "   nodes: [9, 7], mass: 0.2, spring: {stiffness: 200}, pins: [{box: [[-2, -1, -2],\n"
        "   [2, 1, 2]]}]}\n";
    char mesh[512];
    snprintf(mesh, sizeof mesh, "colliders: [{type: mesh, file: %s}]\n",
             physics_file("floor.obj", "v -1 0 -1\nv -1.03 0 1.02\nv 1 0 1.1\nv 1.2 0 -1\n"
                                       "f 1 2 3\nf 1 3 4\n"));
    const char *const colliders[] = {plane, sphere, "", mesh};
    for (int i = 0; i < 4; i++) {
        assert_slope(colliders[i], i == 2 ? below : "", 2, TAUT_CONTACT_STICKS);
        assert_slope(colliders[i], i == 2 ? below : "", 0.3, TAUT_CONTACT_SLIDES);
    }
}

#define FALLING                                                                                    \
    "simulation: {integrator: symplectic_euler, dt: 2e-4, steps: 1}\n"                             \
    "environment: {gravity: [0, -9.81, 0]}\n"                                                      \
    "contact: {thickness: 0.02, stiffness: 50, friction_coefficient: 0.3}\n"                       \
    "colliders: [{type: plane, point: [0, 0, 0], normal: [0, 1, 0], response: contact},\n"         \
    "            {type: sphere, center: [0, 0, 0], radius: 0.2, response: contact}]\n"             \
    "bodies:\n"                                                                                    \
    "- {name: top, type: cloth, origin: [-0.4, 0.3, -0.4], u: [0.8, 0.02, 0.1],\n"                 \
    "   v: [-0.1, 0, 0.8], nodes: [21, 21], mass: 0.1, spring: {stiffness: 100, damping: 0.01}}\n" \
    "- {name: low, type: cloth, origin: [-0.4, 0.24, -0.4], u: [0.8, 0, 0], v: [0, 0, 0.8],\n"     \
    "   nodes: [21, 21], mass: 0.1, spring: {stiffness: 100, damping: 0.01}}\n"

// A run in which contacts are listed now and then; the list at its end.
static taut_contact_point *list_with(int threads, bool lists, uint64_t *count, uint64_t *hash)
{
    struct solver_options options = {.config.threads = threads};
    taut_solver *solver = solver_from(scene_of(FALLING), &options);
    for (int i = 0; i < 30; i++) {
        advance(solver, 50);
        if (lists)
            free(points_of(solver, count));
    }
    *hash = taut_solver_hash(solver);
    taut_contact_point *points = points_of(solver, count);
    taut_solver_destroy(solver);
    return points;
}

// The same bits, but of the padding after `friction`.
static void assert_same_point(const taut_contact_point *a, const taut_contact_point *b)
{
    assert_memory_equal(a, b, offsetof(taut_contact_point, friction) + sizeof a->friction);
    assert_memory_equal(a->friction_force, b->friction_force, sizeof a->friction_force);
}

static void test_lists_have_the_same_bits_and_change_nothing(void **state)
{
    (void)state;
    uint64_t count, hash;
    taut_contact_point *points = list_with(1, false, &count, &hash);
    assert_true(count > 200);
    for (int threads = 1; threads <= 3; threads++) {
        uint64_t again, other;
        taut_contact_point *same = list_with(threads, true, &again, &other);
        assert_int_equal(other, hash);
        assert_int_equal(again, count);
        for (uint64_t i = 0; i < count; i++)
            assert_same_point(&same[i], &points[i]);
        free(same);
    }
    free(points);
}

// Four nodes over one triangle of a pinned sheet, each with one contact of weight 1: the step that
// they allow is that of an oscillator, 2 sqrt(m / psi''), since springs act at right angles.
static void test_contacts_beyond_what_dt_allows_for_are_found(void **state)
{
    (void)state;
    const double distance = 0.021, mass = 0.01;
    const double curvature = 4 * STIFFNESS * (1.5 * THICKNESS - distance) / (THICKNESS / 2), // N/m
        critical = 2 * sqrt(mass / curvature);
    static const char *const integrators[] = {"symplectic_euler", "velocity_verlet",
                                              "implicit_midpoint", "xpbd"};
    for (int i = 0; i < 8; i++) {
        const bool limited = i / 2 < 2, exceeds = limited && i % 2 == 0;
        const double dt = (i % 2 == 0 ? 1.3 : 0.99) * critical;
        taut_solver *solver = solver_of(
            HEADER(
                "%s",
                NUM) "contact: {thickness: " NUM ", stiffness: " NUM "}\nbodies:\n"
                     "- {name: low, type: cloth, origin: [-2, 0, -2], u: [4, 0, 0], v: [0, 0, 4],\n"
                     "   nodes: [2, 2], mass: 1, spring: {stiffness: 1}, pins: [left, right]}\n"
                     "- {name: top, type: cloth, origin: [0.9, " NUM ", -0.3], u: [0.1, 0, 0],\n"
                     "   v: [0, 0, 0.1], nodes: [2, 2], mass: 0.04, spring: {stiffness: 0.001}}\n",
            integrators[i / 2], dt, THICKNESS, STIFFNESS, distance);
        struct contact_excess found;
        assert_int_equal(solver_contact_excess(solver, &found, NULL), TAUT_OK);
        if (exceeds) {
            assert_near(found.stable, critical, 1e-3 * critical);
            assert_near(found.times, 1.69, 0.001);
            assert_string_equal(found.body, "top");
            assert_int_equal(found.node, 0);
        } else {
            assert_true(found.times == 0);
        }
        taut_solver_destroy(solver);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_sheets_touch_where_all_pairs_do),
        cmocka_unit_test(test_a_shorter_list_has_the_first_ones),
        cmocka_unit_test(test_triangles_touch_a_sphere),
        cmocka_unit_test(test_nodes_touch_planes_and_rooms),
        cmocka_unit_test(test_nodes_in_penalty_colliders),
        cmocka_unit_test(test_friction_holds_or_slides),
        cmocka_unit_test(test_lists_have_the_same_bits_and_change_nothing),
        cmocka_unit_test(test_contacts_beyond_what_dt_allows_for_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
