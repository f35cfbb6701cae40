// Elements of ropes, cloths and lattices (src/elements/): kernels against the plain reference,
// forces against differences of energies, tangents against differences of forces, hashes, stability
// limits, and the shape of a cloth bent by its own weight against that of the elastica.
#include "physics.h"

#include <math.h>
#include <stdlib.h>

#include "solver/internals.h"
#include "tangent_fixture.h"
#include "topology/topology.h"

#define ROPE(nodes)                                                                                \
    "bodies: [{name: b, type: rope, from: [0,0,0], to: [1,0,0], nodes: " nodes ", mass: 0.3,\n"    \
    "stiffness: 40, pins: [0, 1]}]\n"
#define CLOTH(nodes)                                                                               \
    "bodies: [{name: b, type: cloth, origin: [0,0,0], u: [1,0,0], v: [0,0.8,0], nodes: " nodes     \
    ", mass: 0.4,\n"                                                                               \
    "springs: {structural: {stiffness: 40}, shear: {stiffness: 20}}, pins: [left, 3]}]\n"
// With smaller constants on the boundary.
#define FABRIC(nodes, pins)                                                                        \
    "bodies: [{name: b, type: cloth, origin: [0,0,0], u: [1,0,0], v: [0,0.8,0], nodes: " nodes     \
    ",\n elastic: {young: 2e4, density: 400, thickness: 0.002}, damping_ratio: 0.05, pins: " pins  \
    "}]\n"
#define LATTICE(nodes)                                                                             \
    "bodies: [{name: b, type: lattice, nodes: " nodes ", spacing: 0.1,\n"                          \
    "elastic: {young: 1.0e4, density: 800}, damping_ratio: 0.05, pins: [left]}]\n"

#define MEMBRANE(shape, more)                                                                      \
    "bodies: [{name: b, " shape ", elastic: {young: 3e3, density: 900, " more "},\n"               \
    "damping_ratio: 0.05}]\n"
#define SHEET "type: mesh, file: '" TAUT_TEST_SOURCE "/tests/data/meshes/sheet.obj', pins: [0, 9]"

#define PRISM "type: mesh, file: '" TAUT_TEST_SOURCE "/tests/data/meshes/l_prism.obj', pins: [0]"

// The elements of membranes follow from `elastic`, those of others from `moduli`.
struct subject {
    const char *name, *text;
    struct scene_elements moduli;
    enum { CUT_NOTHING, CUT_SOME, CUT_THROUGH } cut; // of the springs
};

static const struct subject subjects[] = {
    {"rope", ROPE("17"), {.bending_u = 0.002, .damped = true}, CUT_NOTHING},
    {"long rope", ROPE("1100"), {.bending_u = 0.0001}, CUT_NOTHING},
    {"bending along u", CLOTH("[9, 7]"), {.bending_u = 0.2}, CUT_NOTHING},
    {"bending along v", CLOTH("[9, 7]"), {.bending_v = 0.2, .damped = true}, CUT_NOTHING},
    {"twist", CLOTH("[9, 7]"), {.twist = 0.2, .damped = true}, CUT_NOTHING},
    {"area", CLOTH("[9, 7]"), {.area = 30, .damped = true}, CUT_NOTHING},
    {"negative area", CLOTH("[9, 7]"), {.area = -15, .damped = true}, CUT_NOTHING},
    {"all of a cloth", CLOTH("[12, 5]"), {0.3, 0.2, 0.1, 20, .damped = true}, CUT_NOTHING},
    {"two rows", CLOTH("[9, 2]"), {0.3, 0.2, 0.1, 20, .damped = true}, CUT_NOTHING},
    {"wide cloth", CLOTH("[1030, 3]"), {3e-6, 0.2, 1e-4, 20, .damped = true}, CUT_NOTHING},
    {"high cloth", CLOTH("[4, 70]"), {3e-3, 2e-5, 1e-4, 20, .damped = true}, CUT_NOTHING},
    {"volume", LATTICE("[5, 4, 6]"), {.volume = 5e4, .damped = true}, CUT_NOTHING},
    {"negative volume", LATTICE("[5, 4, 6]"), {.volume = -4e3}, CUT_NOTHING},
    {"membrane", MEMBRANE(SHEET, "poisson: 0.3, thickness: 0.003"), {.damped = true}, CUT_NOTHING},
    {"plate", MEMBRANE(SHEET, "poisson: 0, thickness: 0.2"), {.damped = true}, CUT_NOTHING},
    {"incompressible membrane",
     MEMBRANE(SHEET, "poisson: 0.5, thickness: 0.003"),
     {.damped = true},
     CUT_NOTHING},
    {"shell",
     MEMBRANE("type: sphere, radius: 0.5, subdivisions: 3", "poisson: 0.4, thickness: 0.003"),
     {.damped = true},
     CUT_NOTHING},
    {"thick shell",
     MEMBRANE("type: sphere, radius: 0.5, subdivisions: 2", "poisson: 0.4, thickness: 0.2"),
     {.damped = true},
     CUT_NOTHING},
    {"prism", MEMBRANE(PRISM, "poisson: 0, thickness: 0.2"), {.damped = true}, CUT_NOTHING},
    {"large lattice", LATTICE("[67, 19, 18]"), {.volume = 5e4, .damped = true}, CUT_NOTHING},
    // Rows of the kernel of cloths; then with several tiles, and with clamps on single rows.
    {"rows", CLOTH("[33, 28]"), {3e-4, 2e-4, 1e-4, 20, .damped = true}, CUT_NOTHING},
    {"rows without areas",
     FABRIC("[33, 27]", "[left]"),
     {3e-4, 2e-4, 1e-4, 0, .damped = false},
     CUT_NOTHING},
    {"tiles", FABRIC("[90, 72]", "[bottom]"), {3e-4, 2e-4, 1e-4, 20, .damped = true}, CUT_NOTHING},
    {"clamps",
     FABRIC("[90, 72]", "[left, 1, 91, 181, 4, 94, 3601, 3610, 3700]"),
     {3e-4, 2e-4, 1e-4, 0, .damped = true},
     CUT_NOTHING},
    // Springs that are missing here and there; then a line of them, which divides the body.
    {"cut rope", ROPE("40"), {.bending_u = 0.002, .damped = true}, CUT_SOME},
    {"cut cloth", CLOTH("[12, 9]"), {0.3, 0.2, 0.1, 20, .damped = true}, CUT_SOME},
    {"cut twist", CLOTH("[12, 9]"), {.twist = 0.2, .damped = true}, CUT_SOME},
    {"cut blocks", CLOTH("[300, 40]"), {3e-6, 2e-2, 1e-4, -9, .damped = true}, CUT_SOME},
    {"cut lattice", LATTICE("[7, 6, 5]"), {.volume = 5e4, .damped = true}, CUT_SOME},
    {"cut blocks of a lattice", LATTICE("[67, 5, 4]"), {.volume = -4e3, .damped = true}, CUT_SOME},
    {"torn rope", ROPE("17"), {.bending_u = 0.002, .damped = true}, CUT_THROUGH},
    {"torn cloth",
     FABRIC("[33, 27]", "[left]"),
     {3e-4, 2e-4, 1e-4, 20, .damped = true},
     CUT_THROUGH},
    {"torn lattice", LATTICE("[7, 6, 5]"), {.volume = 5e4, .damped = true}, CUT_THROUGH},
    {"clamped columns",
     FABRIC("[90, 73]", "[left, right, 1, 91]"),
     {.bending_u = 3e-4},
     CUT_NOTHING},
};

enum { SUBJECTS = sizeof subjects / sizeof *subjects };

static void set_moduli(taut_scene *scene, const struct subject *subject)
{
    if (!body_is_membrane(&scene->bodies[0]))
        scene->bodies[0].elements = subject->moduli;
}

enum { FIRST_COLUMNS = 3 }; // of a body that is divided

static bool is_in_first_part(const struct topology *topology, uint64_t node)
{
    return node % topology->bodies[0].grid[0] < FIRST_COLUMNS;
}

static bool is_cut(const struct topology *topology, const struct subject *subject, uint64_t spring)
{
    const struct spring_run it = topology_spring(topology, spring);
    if (subject->cut == CUT_THROUGH)
        return is_in_first_part(topology, it.a) != is_in_first_part(topology, it.b);
    return subject->cut == CUT_SOME && spring * 2654435761 / 65536 % 12 == 0;
}

// A solver of the subject's scene, without the springs that are cut.
static taut_solver *solver_of_subject(taut_scene *scene, const struct subject *subject,
                                      const struct solver_options *options)
{
    const struct solver_options none = {.config = {.threads = 1}};
    const struct solver_options *used = options ? options : &none;
    taut_solver *whole = NULL, *cut = NULL;
    taut_error error = {0};
    if (subject->cut == CUT_NOTHING)
        return solver_from(scene, options);
    assert_int_equal(solver_create(scene, used, &whole, &error), TAUT_OK);
    const struct topology *topology = solver_topology(whole);
    struct solver_cuts cuts = {.spring_count = topology->spring_count,
                               .face_count = topology->face_count};
    cuts.springs = calloc((size_t)cuts.spring_count + 1, 1);
    cuts.faces = calloc((size_t)cuts.face_count + 1, 1);
    assert_non_null(cuts.springs);
    assert_non_null(cuts.faces);
    for (uint64_t spring = 0; spring < cuts.spring_count; spring++)
        cuts.springs[spring] = is_cut(topology, subject, spring);
    if (solver_create_cut(scene, used, &cuts, &cut, &error) != TAUT_OK)
        fail_msg("%s: %s", subject->name, error.text);
    assert_true(taut_solver_spring_count(cut) < cuts.spring_count);
    free(cuts.springs);
    free(cuts.faces);
    taut_solver_destroy(whole);
    taut_scene_destroy(scene);
    return cut;
}

static taut_solver *subject_with(const struct subject *subject, const char *integrator, double dt,
                                 const char *precision, const struct solver_options *options)
{
    taut_scene *scene =
        scene_of("precision: %s\nsimulation: {integrator: %s, dt: " NUM ", steps: 1}\n%s",
                 precision, integrator, dt, subject->text);
    set_moduli(scene, subject);
    if (scene->bodies[0].damping_ratio == 0)
        scene->bodies[0].damping_ratio = 0.05;
    return solver_of_subject(scene, subject, options);
}

// Every node is displaced by a fraction of a cell, and has a velocity of its own.
static void shake(taut_solver *solver, double most, double speed)
{
    uint64_t seed = 7;
    for (uint64_t node = 0; node < taut_solver_node_count(solver); node++) {
        double r[6];
        for (int i = 0; i < 6; i++)
            r[i] = next_random(&seed);
        put(solver, node,
            vec3_add(position_of(solver, node), vec3_scale(most, vec3_make(r[0], r[1], r[2]))));
        put_velocity(solver, node, vec3_scale(speed, vec3_make(r[3], r[4], r[5])));
    }
}

// A fraction of the distance between the first nodes.
static double small_distance(const taut_solver *solver, double part)
{
    return part * vec3_length(vec3_subtract(position_of(solver, 1), position_of(solver, 0)));
}

// ---- Kernels

static void test_kernels_agree_with_the_reference(void **state)
{
    (void)state;
    static const taut_kernel kernels[] = {TAUT_KERNEL_AUTO, TAUT_KERNEL_PACKED,
                                          TAUT_KERNEL_COLOURED};
    for (int i = 0; i < SUBJECTS; i++)
        for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
            taut_solver *both[2];
            for (int second = 0; second < 2; second++) {
                struct solver_options options = {.config = {.threads = 1 + second}};
                options.config.kernel = second ? kernels[k] : TAUT_KERNEL_REFERENCE;
                both[second] =
                    subject_with(&subjects[i], "symplectic_euler", 1e-5, "double", &options);
                shake(both[second], small_distance(both[second], 0.2), 0.5);
            }
            assert_same_forces(both[0], both[1], 1e-12);
            const double elastic = energy_of(both[0]).elastic;
            assert_true(elastic > 0);
            assert_near(energy_of(both[1]).elastic, elastic, 1e-12 * elastic);

            // The kernels measure the power of the damping, the reference by a loop.
            advance(both[0], 2);
            advance(both[1], 2);
            const double work = work_of(both[0]).damping;
            assert_true(work > 0 || !subjects[i].moduli.damped);
            assert_near(work_of(both[1]).damping, work, 1e-11 * work);
            assert_same_forces(both[0], both[1], 1e-11);
            taut_solver_destroy(both[0]);
            taut_solver_destroy(both[1]);
        }
}

static uint64_t hash_of(const void *context, const struct solver_options *options)
{
    const struct subject *subject = context;
    taut_scene *scene = scene_of("simulation: {dt: 1e-5, steps: 1}\n%s", subject->text);
    set_moduli(scene, subject);
    scene->bodies[0].velocity = vec3_make(0.3, -0.7, 0.9);
    taut_solver *solver = solver_of_subject(scene, subject, options);
    advance(solver, 20);
    const uint64_t hash = taut_solver_hash(solver);
    taut_solver_destroy(solver);
    return hash;
}

static void test_hashes_depend_on_nothing_else(void **state)
{
    (void)state;
    for (int i = 0; i < SUBJECTS; i++)
        assert_same_hashes(hash_of, &subjects[i]);
}

// ---- Forces and energies

static void test_forces_are_derivatives_of_the_energy(void **state)
{
    (void)state;
    for (int i = 0; i < SUBJECTS; i++) {
        taut_solver *solver = subject_with(&subjects[i], "symplectic_euler", 1e-5, "double", NULL);
        const uint64_t count = taut_solver_node_count(solver);
        if (count <= 1100) {
            shake(solver, small_distance(solver, 0.2), 0);
            double *forces = all_forces(solver);
            double greatest = 0;
            for (uint64_t n = 0; n < 3 * count; n++)
                greatest = fmax(greatest, fabs(forces[n]));
            for (uint64_t node = 0; node < count; node += 1 + count / 40)
                for (int axis = 0; axis < 3; axis++) {
                    const double h = small_distance(solver, 1e-5);
                    const vec3 at = position_of(solver, node);
                    const vec3 by =
                        vec3_make(axis == 0 ? h : 0, axis == 1 ? h : 0, axis == 2 ? h : 0);
                    put(solver, node, vec3_add(at, by));
                    const double ahead = energy_of(solver).elastic;
                    put(solver, node, vec3_subtract(at, by));
                    const double behind = energy_of(solver).elastic;
                    put(solver, node, at);
                    assert_near(forces[3 * node + (uint64_t)axis], (behind - ahead) / (2 * h),
                                1e-5 * greatest);
                }
            free(forces);
        }
        taut_solver_destroy(solver);
    }
}

// A rotation and a translation strain nothing.
static void test_rigid_motions_cost_nothing(void **state)
{
    (void)state;
    for (int i = 0; i < SUBJECTS; i++) {
        taut_solver *solver = subject_with(&subjects[i], "symplectic_euler", 1e-5, "double", NULL);
        const double c = cos(0.7), s = sin(0.7);
        for (uint64_t node = 0; node < taut_solver_node_count(solver); node++) {
            const vec3 p = position_of(solver, node);
            put(solver, node, vec3_make(c * p.x - s * p.z + 0.1, p.y - 0.2, s * p.x + c * p.z));
        }
        // The matrix of a plate's bending multiplies rounded differences of positions.
        const bool plate = solver_topology(solver)->triangle_count > 0;
        assert_near(energy_of(solver).elastic, 0, plate ? 1e-12 : 1e-15);
        taut_solver_destroy(solver);
    }
}

// Parts between which all springs were cut exert nothing on each other.
static void test_elements_end_where_springs_do(void **state)
{
    (void)state;
    static const taut_kernel kernels[] = {TAUT_KERNEL_AUTO, TAUT_KERNEL_REFERENCE};
    for (int i = 0; i < SUBJECTS; i++)
        for (int k = 0; subjects[i].cut == CUT_THROUGH && k < 2; k++)
            for (int whole = 0; whole < 2; whole++) {
                struct subject subject = subjects[i];
                subject.cut = whole ? CUT_NOTHING : CUT_THROUGH;
                const struct solver_options options = {
                    .config = {.threads = 1, .kernel = kernels[k]}};
                taut_solver *solver =
                    subject_with(&subject, "symplectic_euler", 1e-5, "double", &options);
                const struct topology *topology = solver_topology(solver);
                const uint64_t count = taut_solver_node_count(solver);
                uint64_t seed = 3;
                for (uint64_t node = 0; node < count; node++)
                    if (!is_in_first_part(topology, node)) {
                        const vec3 by = vec3_make(next_random(&seed), next_random(&seed), 2);
                        put(solver, node, vec3_add(position_of(solver, node), by));
                        put_velocity(solver, node, by);
                    }
                double *forces = all_forces(solver), first = 0, second = 0;
                for (uint64_t n = 0; n < 3 * count; n++)
                    if (is_in_first_part(topology, n / 3))
                        first = fmax(first, fabs(forces[n]));
                    else
                        second = fmax(second, fabs(forces[n]));
                assert_true(second > 1e-3);
                if (whole ? first < 1e-4 * second : first > 1e-11 * second)
                    fail_msg("%s: " NUM " N and " NUM " N", subject.name, first, second);
                free(forces);
                taut_solver_destroy(solver);
            }
}

// ---- Tangents and stability

static double *difference_of(taut_solver *solver, bool velocities, const double *p)
{
    const uint64_t count = taut_solver_node_count(solver);
    const double epsilon = small_distance(solver, 1e-5);
    double *forces[2];
    for (int side = 0; side < 2; side++) {
        const double by = side == 0 ? -epsilon : epsilon;
        for (int there = 1; there >= 0; there--) {
            for (uint64_t i = 0; i < count; i++) {
                const uint64_t in = 3 * topology_internal_node(solver_topology(solver), i);
                const vec3 step =
                    vec3_scale(there ? by : -by, vec3_make(p[in], p[in + 1], p[in + 2]));
                if (velocities)
                    put_velocity(solver, i, vec3_add(velocity_of(solver, i), step));
                else
                    put(solver, i, vec3_add(position_of(solver, i), step));
            }
            if (there)
                forces[side] = all_forces(solver);
        }
    }
    double *result = calloc((size_t)count * 3, sizeof *result);
    assert_non_null(result);
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t in = topology_internal_node(solver_topology(solver), i);
        if (!topology_is_kinematic(solver_topology(solver), in))
            for (uint64_t axis = 0; axis < 3; axis++)
                result[3 * in + axis] =
                    (forces[0][3 * i + axis] - forces[1][3 * i + axis]) / (2 * epsilon);
    }
    free(forces[0]);
    free(forces[1]);
    return result;
}

static void test_tangents_are_derivatives_of_the_forces(void **state)
{
    (void)state;
    static const struct product K = {false, 1, 0}, C = {false, 0, 1};
    for (int i = 0; i < SUBJECTS; i++)
        for (int velocities = 0; velocities < 2; velocities++) {
            struct solver_options options = {.config = {.threads = 2}};
            taut_solver *solver =
                subject_with(&subjects[i], "symplectic_euler", 1e-5, "double", &options);
            shake(solver, small_distance(solver, 0.1), 0);
            const uint64_t count = 3 * taut_solver_node_count(solver);
            if (count <= 3300) {
                double *p = random_vector(solver, false, 3);
                double *expected = difference_of(solver, velocities, p);
                double *got = product_of(solver, velocities ? C : K, p);
                assert_vectors_near(subjects[i].name, got, expected, count, 1e-6);
                assert_true(velocities || greatest_of(expected, count) > 1);
                free(p);
                free(expected);
                free(got);
            }
            taut_solver_destroy(solver);
        }
}

// The computed limit of symplectic Euler is that at which runs diverge; the guaranteed one is below
// it, and within a factor of 2.
static void test_critical_steps_are_those_of_runs(void **state)
{
    (void)state;
    static const char *const integrators[] = {"symplectic_euler", "rk4"};
    for (int i = 0; i < SUBJECTS; i++)
        for (int k = 0; k < (quick() ? 1 : 2); k++) {
            taut_error error = {0};
            taut_critical_step step;
            taut_solver *solver = subject_with(&subjects[i], integrators[k], 1e-6, "double", NULL);
            if (taut_solver_node_count(solver) > 1000) {
                taut_solver_destroy(solver);
                continue;
            }
            assert_int_equal(taut_solver_critical_step(solver, 1, &step, &error), TAUT_OK);
            taut_solver_destroy(solver);
            assert_true(step.dt_bound > 0 && step.dt_bound <= step.dt_computed * (1 + 1e-9));
            if (step.dt_bound < step.dt_computed / 2.5)
                fail_msg("%s, %s: bound %g, computed %g", subjects[i].name, integrators[k],
                         step.dt_bound, step.dt_computed);
            for (int beyond = 0; beyond < 2; beyond++) {
                const double dt = step.dt_computed * (beyond ? 1.02 : 0.99);
                solver = subject_with(&subjects[i], integrators[k], dt, "double", NULL);
                shake(solver, small_distance(solver, 1e-6), 0);
                const double start = energy_of(solver).total;
                const taut_status status = taut_solver_step(solver, 1500, &error);
                const bool grows = status != TAUT_OK || energy_of(solver).total > 1e3 * fabs(start);
                if (grows != (beyond == 1))
                    fail_msg("%s, %s at %g of the computed step %g: %s", subjects[i].name,
                             integrators[k], beyond ? 1.02 : 0.99, step.dt_computed,
                             grows ? "diverges" : "is stable");
                taut_solver_destroy(solver);
            }
        }
}

// In xpbd springs are stable at every step, elements are not.
static void test_elements_limit_the_step_of_xpbd(void **state)
{
    (void)state;
    for (int i = 0; i < SUBJECTS; i++) {
        taut_error error = {0};
        taut_critical_step step;
        taut_solver *solver = subject_with(&subjects[i], "xpbd", 1e-6, "double", NULL);
        const uint64_t count = taut_solver_node_count(solver);
        const taut_status status = taut_solver_critical_step(solver, 1, &step, &error);
        taut_solver_destroy(solver);
        if (count > 1000)
            continue;
        assert_int_equal(status, TAUT_OK);
        if (subjects[i].moduli.area < 0 || subjects[i].moduli.volume < 0) {
            assert_true(step.dt_bound == 0); // they only soften: none is known
            continue;
        }
        assert_true(step.dt_bound > 0 && isfinite(step.dt_bound));
        for (int beyond = 0; beyond < 2; beyond++) {
            const double dt = step.dt_bound * (beyond ? 4 : 0.99);
            solver = subject_with(&subjects[i], "xpbd", dt, "double", NULL);
            shake(solver, small_distance(solver, 1e-6), 0);
            const double start = energy_of(solver).total;
            const bool grows = taut_solver_step(solver, 400, &error) != TAUT_OK ||
                               energy_of(solver).total > 1e3 * fabs(start);
            if (grows != (beyond == 1))
                fail_msg("%s with xpbd at %g of %g: %s", subjects[i].name, beyond ? 4 : 0.99,
                         step.dt_bound, grows ? "diverges" : "is stable");
            taut_solver_destroy(solver);
        }
    }
}

// Drag is a force of the start of a substep there, too: it makes the step shorter that elements
// allow.
static taut_solver *rope_with_drag(double dt, double rate)
{
    return solver_of(
        "precision: double\nsimulation: {integrator: xpbd, dt: " NUM ", substeps: 1, steps: 1}\n"
        "bodies:\n- {name: rope, type: rope, from: [0, 0, 0], to: [1, 0, 0], nodes: 12,\n"
        "   pins: [first, 1], elastic: {young: 1.8e6, density: 1000, diameter: 0.014},\n"
        "   rayleigh: {mass: " NUM "}}\n",
        dt, rate);
}

static void test_drag_limits_the_step_of_xpbd(void **state)
{
    (void)state;
    static const double rates[] = {0, 1, 4, 16, 50, 200, 1000, 1e5};
    double before = INFINITY;
    for (int i = 0; i < 8; i++) {
        taut_error error = {0};
        taut_critical_step step;
        taut_solver *solver = rope_with_drag(1e-6, rates[i]);
        assert_int_equal(taut_solver_critical_step(solver, 0, &step, &error), TAUT_OK);
        taut_solver_destroy(solver);
        assert_true(step.dt_bound > 0 && step.dt_bound <= before);
        solver = rope_with_drag(0.99 * step.dt_bound, rates[i]);
        shake(solver, 1e-6, 0);
        const double start = energy_of(solver).total;
        if (taut_solver_step(solver, 4000, &error) != TAUT_OK || !(energy_of(solver).total < start))
            fail_msg("drag %g at 0.99 of %g: diverges", rates[i], step.dt_bound);
        taut_solver_destroy(solver);
        before = step.dt_bound * (1 + 1e-12);
    }
}

// ---- A strip under its own weight

// The drop of the end of a cantilever of cloth of length 1, clamped by two rows of pinned nodes, as
// a fraction of its length. c = (B / (rho g))^(1/3) is its bending length.
static double tip_drop(double ratio, int cells)
{
    const double c = 1 / ratio, density = 0.2, g = 9.81, h = 1.0 / cells;
    taut_scene *scene = scene_of(
        "precision: double\n"
        "simulation: {integrator: implicit_euler, dt: 0.2, steps: 1, implicit: {newton: 8,\n"
        "  tolerance: 1e-8}}\n"
        "environment: {gravity: [0, 0, " NUM "]}\n"
        "bodies: [{name: b, type: cloth, origin: [" NUM ",0,0], u: [" NUM ",0,0], v: [0," NUM
        ",0],\n"
        "nodes: [%d, 3], mass: " NUM ", springs: {structural: {stiffness: 2000}, shear:\n"
        "{stiffness: 2000}}, pins: [left, 1, %d, %d]}]\n",
        -g, -h, 1 + h, 2 * h, cells + 2, density * 2 * h * (1 + h), cells + 3, 2 * cells + 5);
    // All nodes have one mass; the middle row's is that of its width, and the stiffness likewise.
    scene->bodies[0].elements.bending_u = density * g * c * c * c;
    taut_solver *solver = solver_from(scene, NULL);
    advance(solver, 400);
    double drop = 0;
    for (uint64_t row = 0; row < 3; row++)
        drop -= position_of(solver, (row + 1) * (uint64_t)(cells + 2) - 1).z / 3;
    taut_solver_destroy(solver);
    return drop;
}

// From B alone; expected drops of the elastica by numerical integration. A cloth whose nodes have
// equal masses is heavier at its sides and its end than that of a fabric, so that this is a check
// of the bending and of the clamp, to a few per cent; tests/test_fabric.c has the exact weights.
static void test_a_strip_bends_as_the_elastica(void **state)
{
    (void)state;
    assert_near(tip_drop(1, 20), 0.123471, 0.02);
    assert_near(tip_drop(2, 20), 0.640631, 0.04);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernels_agree_with_the_reference),
        cmocka_unit_test(test_hashes_depend_on_nothing_else),
        cmocka_unit_test(test_forces_are_derivatives_of_the_energy),
        cmocka_unit_test(test_elements_end_where_springs_do),
        cmocka_unit_test(test_rigid_motions_cost_nothing),
        cmocka_unit_test(test_tangents_are_derivatives_of_the_forces),
        cmocka_unit_test(test_critical_steps_are_those_of_runs),
        cmocka_unit_test(test_elements_limit_the_step_of_xpbd),
        cmocka_unit_test(test_drag_limits_the_step_of_xpbd),
        cmocka_unit_test(test_a_strip_bends_as_the_elastica),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
