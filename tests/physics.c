// Implements physics.h. Compiled for double (TAUT_REAL_BITS=64), since it accesses the state of
// double precision solvers.
#include "physics.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "solver/internals.h"
#include "springs/plan.h"
#include "state/system.h"

static void show_message(void *context, const char *message)
{
    (void)context;
    print_error("%s", message);
}

taut_scene *scene_of_text(char *text)
{
    assert_non_null(text);
    taut_scene_options options;
    taut_scene_options_default(&options);
    options.on_message = show_message;
    taut_scene *scene;
    taut_error error = {0};
    if (taut_scene_parse(text, strlen(text), "test.yaml", &options, &scene, &error) != TAUT_OK)
        fail_msg("%s in\n%s", error.text, text);
    free(text);
    return scene;
}

taut_solver *solver_from(taut_scene *scene, const struct solver_options *options)
{
    struct solver_options one_thread = {.config = {.threads = 1}};
    taut_solver *solver;
    taut_error error = {0};
    if (solver_create(scene, options ? options : &one_thread, &solver, &error) != TAUT_OK)
        fail_msg("%s", error.text);
    taut_scene_destroy(scene);
    return solver;
}

taut_solver *oscillator_of(struct oscillator wanted)
{
    return solver_of(
        "precision: double\n"
        "simulation: {integrator: %s, dt: " NUM ", steps: 1}\n"
        "output: {work: false}\n"
        "bodies:\n"
        "  - {name: o, type: network, nodes: [[0,0,0],[" NUM ",0,0]], node_mass: [1,1],\n"
        "     velocities: [[0,0,0],[" NUM ",0,0]], pins: [0], springs: [[1, 0,\n"
        "     {stiffness: " NUM ", rest_length: 0, damping: " NUM ", damping_law: full}]]}\n",
        wanted.integrator, wanted.dt, wanted.position, wanted.speed, wanted.omega * wanted.omega,
        wanted.damping);
}

void advance(taut_solver *solver, uint64_t steps)
{
    taut_error error = {0};
    if (taut_solver_step(solver, steps, &error) != TAUT_OK)
        fail_msg("%s", error.text);
}

static vec3 vector_at(const double *values, uint64_t node)
{
    return vec3_make(values[3 * node], values[3 * node + 1], values[3 * node + 2]);
}

vec3 position_of(const taut_solver *solver, uint64_t node)
{
    double values[3];
    solver_read_nodes(solver, node, 1, values, NULL, NULL);
    return vector_at(values, 0);
}

vec3 velocity_of(const taut_solver *solver, uint64_t node)
{
    double values[3];
    solver_read_nodes(solver, node, 1, NULL, values, NULL);
    return vector_at(values, 0);
}

double *all_positions(const taut_solver *solver)
{
    uint64_t count = taut_solver_node_count(solver);
    double *positions = calloc((size_t)count * 3, sizeof *positions);
    assert_non_null(positions);
    solver_read_nodes(solver, 0, count, positions, NULL, NULL);
    return positions;
}

static struct frame view_of(taut_solver *solver, unsigned wanted)
{
    struct frame view;
    taut_error error = {0};
    if (solver_make_frame(solver, wanted, &view, &error) != TAUT_OK)
        fail_msg("%s", error.text);
    solver_read_frame(solver, wanted, &view);
    return view;
}

double *all_forces(taut_solver *solver)
{
    struct frame view = view_of(solver, FRAME_FORCES);
    size_t bytes = (size_t)view.shape.node_count * 3 * sizeof *view.forces;
    double *forces = malloc(bytes);
    assert_non_null(forces);
    memcpy(forces, view.forces, bytes);
    frame_free(&view);
    return forces;
}

vec3 force_on(taut_solver *solver, uint64_t node)
{
    struct frame view = view_of(solver, FRAME_FORCES);
    vec3 force = vector_at(view.forces, node);
    frame_free(&view);
    return force;
}

void assert_same_forces(taut_solver *expected, taut_solver *solver, double tolerance)
{
    uint64_t count = 3 * taut_solver_node_count(expected);
    assert_int_equal(3 * taut_solver_node_count(solver), count);
    double *a = all_forces(expected), *b = all_forces(solver), greatest = 0;
    for (uint64_t i = 0; i < count; i++)
        greatest = fmax(greatest, fabs(a[i]));
    assert_true(greatest > 0);
    for (uint64_t i = 0; i < count; i++)
        assert_near(b[i], a[i], tolerance * greatest);
    free(a);
    free(b);
}

void assert_grid_agrees(taut_solver *expected, taut_solver *grid, bool damped)
{
    taut_error error = {0};
    if (plan_check(solver_topology(grid), solver_plan(grid), &error) != TAUT_OK)
        fail_msg("%s", error.text);
    assert_string_equal(solver_body_kernel(grid, 0), "grid");
    assert_same_forces(expected, grid, 1e-13);
    const double elastic = energy_of(expected).elastic;
    assert_near(energy_of(grid).elastic, elastic, 1e-12 * elastic);

    advance(expected, 2);
    advance(grid, 2);
    const double work = work_of(expected).damping;
    assert_true(damped ? work > 0 : work == 0);
    assert_near(work_of(grid).damping, work, 1e-11 * work);
    assert_same_forces(expected, grid, 1e-12);
}

void assert_only_ends_differ(taut_solver *whole, taut_solver *cut, double least)
{
    double *all = all_forces(whole), *left = all_forces(cut);
    for (uint64_t node = 0; node < taut_solver_node_count(whole); node++) {
        double apart = 0;
        for (uint64_t i = 3 * node; i < 3 * node + 3; i++)
            apart += fabs(all[i] - left[i]);
        if (node < 2)
            assert_true(apart > least);
        else
            assert_near(apart, 0, 1e-9);
    }
    free(all);
    free(left);
}

void assert_same_hashes(hash_function *hash_of, const void *context)
{
    struct solver_options options = {.config = {.threads = 1, .isa = TAUT_ISA_BASE}};
    uint64_t expected = hash_of(context, &options);
    for (int isa = 0; isa < ISA_COUNT; isa++)
        for (int threads = 1; isa_available((enum isa)isa) && threads <= 4; threads++) {
            options.config.isa = (taut_isa)(TAUT_ISA_BASE + isa);
            options.config.threads = threads;
            if (hash_of(context, &options) != expected)
                fail_msg("%s and %d threads give another hash", isa_name((enum isa)isa), threads);
        }
}

taut_energy energy_of(taut_solver *solver)
{
    taut_energy energy;
    assert_int_equal(taut_solver_energy(solver, &energy, NULL), TAUT_OK);
    return energy;
}

struct work_done work_of(taut_solver *solver)
{
    struct frame view = view_of(solver, FRAME_ENERGY);
    assert_true(view.has_work);
    const double *by_cause = view.work;
    struct work_done work = {.damping = by_cause[WORK_DAMPING],
                             .drag = by_cause[WORK_DRAG],
                             .friction = by_cause[WORK_FRICTION],
                             .keep = by_cause[WORK_KEEP],
                             .projection = by_cause[WORK_PROJECTION],
                             .breaking = by_cause[WORK_BREAKING],
                             .wind = by_cause[WORK_WIND],
                             .drives = by_cause[WORK_DRIVES],
                             .inflation = by_cause[WORK_INFLATION],
                             .truncation = by_cause[WORK_TRUNCATION]};
    frame_free(&view);
    return work;
}

double residual_of(taut_solver *solver, double start)
{
    const double change = energy_of(solver).total - start;
    const struct work_done work = work_of(solver);
    return change + work.friction + work.damping + work.projection + work.truncation - work.drives;
}

// A change from outside may bring any energy, and must not count as divergence.
static struct state *open_state(taut_solver *solver)
{
    assert_int_equal(solver_precision(solver), PRECISION_DOUBLE);
    solver_system(solver)->energy_start = 1e200;
    solver_system(solver)->state->forces_current = false;
    return solver_system(solver)->state;
}

void put(taut_solver *solver, uint64_t node, vec3 position)
{
    struct state *s = open_state(solver);
    node = topology_internal_node(solver_topology(solver), node);
    s->x[node] = position.x;
    s->y[node] = position.y;
    s->z[node] = position.z;
}

void put_velocity(taut_solver *solver, uint64_t node, vec3 velocity)
{
    struct state *s = open_state(solver);
    node = topology_internal_node(solver_topology(solver), node);
    s->vx[node] = velocity.x;
    s->vy[node] = velocity.y;
    s->vz[node] = velocity.z;
}

double rest_length_of(const taut_solver *solver, uint64_t spring)
{
    const struct system *system = solver_system(solver);
    assert_int_equal(solver_precision(solver), PRECISION_DOUBLE);
    const double *lengths = system->state->rest_length;
    for (uint64_t i = 0; i < system->constants->springs; i++)
        if (topology_builder_spring(solver_topology(solver),
                                    plan_element(&system->plan->springs, i)) == spring)
            return lengths ? lengths[i]
                           : topology_spring(solver_topology(solver),
                                             plan_element(&system->plan->springs, i))
                                 .rest_length;
    size_t body = topology_body_of_spring(solver_topology(solver), spring);
    const struct plan_grid *grid = plan_grid_of_body(system->plan, body);
    if (lengths && grid && grid->stateful)
        return lengths[grid->first_state_index + spring -
                       solver_topology(solver)->bodies[body].first_spring];
    return topology_spring(solver_topology(solver), spring).rest_length;
}

// Knuth's MMIX generator; its low bits are poor, only the high ones are used.
void assert_moves_alike(const taut_solver *expected, const taut_solver *start,
                        const taut_solver *solver, double part)
{
    double moved = 0, apart = 0;
    for (uint64_t node = 0; node < taut_solver_node_count(solver); node++) {
        const vec3 at = position_of(expected, node);
        moved = fmax(moved, vec3_length(vec3_subtract(at, position_of(start, node))));
        apart = fmax(apart, vec3_length(vec3_subtract(at, position_of(solver, node))));
    }
    assert_true(apart < part * moved);
}

void assert_velocity_is_scaled(const char *integrator)
{
    taut_solver *solver =
        solver_of("precision: double\n"
                  "simulation: {integrator: %s, dt: 0.1, keep_velocity: 0.9, steps: 1}\n"
                  "bodies: [{name: o, type: network, nodes: [[0,0,0]], node_mass: [2],\n"
                  "  springs: [], velocities: [[1,-2,3]]}]\n",
                  integrator);
    assert_int_equal(taut_solver_step(solver, 30, NULL), TAUT_OK);
    double kept = pow(0.9, 30), path = 0.1 * (1 - kept) / (1 - 0.9);
    assert_vector_near(velocity_of(solver, 0), vec3_make(kept, -2 * kept, 3 * kept), 1e-13);
    assert_vector_near(position_of(solver, 0), vec3_make(path, -2 * path, 3 * path), 1e-13);
    taut_solver_destroy(solver);
}

double next_random(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*seed >> 11) / 4503599627370496.0 - 1;
}

void assert_near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance))
        fail_msg("%.17g is not %.17g: they differ by %g, more than %g", a, b, fabs(a - b),
                 tolerance);
}

void assert_vector_near(vec3 a, vec3 b, double tolerance)
{
    if (!(vec3_length(vec3_subtract(a, b)) <= tolerance))
        fail_msg("(%.17g, %.17g, %.17g) is not (%.17g, %.17g, %.17g): %g apart, more than %g", a.x,
                 a.y, a.z, b.x, b.y, b.z, vec3_length(vec3_subtract(a, b)), tolerance);
}

void assert_same_bits(double a, double b)
{
    uint64_t bits[2];
    memcpy(&bits[0], &a, sizeof a);
    memcpy(&bits[1], &b, sizeof b);
    if (bits[0] != bits[1])
        fail_msg("%.17g and %.17g are not the same bits", a, b);
}

double order_between(double coarse_error, double fine_error)
{
    assert_true(coarse_error > 0 && fine_error > 0);
    return log2(coarse_error / fine_error);
}

bool quick(void)
{
    const char *value = getenv("TAUT_TEST_QUICK");
    return value && strcmp(value, "1") == 0;
}

static void make_folder(const char *path)
{
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
        fail_msg("cannot make %s: %s", path, strerror(errno));
}

const char *physics_file(const char *name, const char *text)
{
    static char path[4096];
    make_folder(TAUT_TEST_OUT);
    make_folder(TAUT_TEST_OUT "/physics");
    int length = snprintf(path, sizeof path, "%s/physics/%s", TAUT_TEST_OUT, name);
    assert_true(length > 0 && (size_t)length < sizeof path);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    return path;
}

void *failing_allocate(void *context, size_t bytes, size_t alignment)
{
    struct failing *it = context;
    it->calls++;
    if (it->countdown == 0)
        return NULL;
    it->countdown--;
    it->held++;
    it->bytes += bytes;
    return aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

void failing_release(void *context, void *block, size_t bytes)
{
    struct failing *it = context;
    assert_true(it->held > 0 && it->bytes >= bytes);
    it->held--;
    it->bytes -= bytes; // releases pass the requested size, so the sum returns to 0
    free(block);
}
