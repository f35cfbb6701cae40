// The memory estimate of a scene (solver/memory_estimate.c): counts and bytes compared with the
// bodies that builders make, the solver's part with a counting allocator, the maximum with the
// system's measurement; and scenes that are too large are rejected with both figures.
#include "samples.h"

#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "base/os.h"
#include "parallel/machine.h"
#include "parallel/quota.h"
#include "scene/reader.h"
#include "solver/solver.h"

static taut_scene *read(const char *body, const char *sections, const char *integrator,
                        const char *precision)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    fprintf(out,
            "precision: %s\nsimulation: {integrator: %s, dt: 1e-6, steps: 1}\n"
            "output: {every_steps: 1000000}\n%sbodies:\n  - {name: b, %s}\n",
            precision, integrator, sections, body);
    assert_int_equal(fclose(out), 0);
    struct diagnostics findings = {0};
    taut_scene *scene = scene_read_text(text, size, "memory.yaml", NULL, 0, &findings);
    if (!scene)
        print_error("%s\n%s\n", text, findings.count > 0 ? findings.items[0].text : "");
    assert_non_null(scene);
    diagnostics_free(&findings);
    free(text);
    return scene;
}

#define MATERIAL      "{stiffness: 10}"
#define CLOTH         "mass: 1, type: cloth, origin: [0, 0, 0], u: [1, 0, 0], v: [0, 1, 0], "
#define CLOTH_SPRINGS "springs: {structural: " MATERIAL ", shear: " MATERIAL ", bend: " MATERIAL "}"
#define SPHERE        "mass: 1, type: sphere, radius: 1, "
#define LATTICE       "mass: 1, type: lattice, spacing: 0.1, "

static const struct {
    const char *name, *body, *sections;
    bool guessed; // estimated springs, to within a tenth of a percent
} bodies[] = {
    {"rope",
     "mass: 1, type: rope, from: [0, 0, 0], to: [1, 0, 0], nodes: 20000, springs: {chain: "
     "{stiffness: 10}}, links: chain",
     "", false},
    {"rope, all",
     "mass: 1, type: rope, from: [0, 0, 0], to: [1, 0, 0], nodes: 900, links: all, "
     "springs: {all: {stiffness: 10}}",
     "", false},
    {"cloth", CLOTH "nodes: [150, 120], " CLOTH_SPRINGS, "", false},
    {"cloth, wind", CLOTH "nodes: [150, 120], " CLOTH_SPRINGS,
     "environment: {wind: {velocity: [1, 0, 0], law: quadratic}}\n", false},
    {"cloth, breaks",
     CLOTH "nodes: [150, 120], springs: {structural: {stiffness: 10, break_at: 2, yield_at: 0.5}}",
     "", false},
    {"cloth, all", CLOTH "nodes: [30, 30], links: all, springs: {all: {stiffness: 10}}", "", false},
    {"narrow cloth", CLOTH "nodes: [3, 8000], " CLOTH_SPRINGS, "", false},
    {"ring", "mass: 1, type: ring, radius: 1, nodes: 30000, springs: {edges: {stiffness: 10}}", "",
     false},
    {"ring, gas",
     "mass: 1, type: ring, radius: 1, nodes: 30000, springs: {edges: {stiffness: 10}}, "
     "pressure: {amount: 1}",
     "", false},
    {"quad",
     "mass: 1, type: quad, origin: [0, 0, 0], u: [1, 0, 0], v: [0, 1, 0], springs: "
     "{sides: {stiffness: 10}, diagonals: {stiffness: 10}}",
     "", false},
    {"sphere", SPHERE "subdivisions: 5, springs: {edges: " MATERIAL "}", "", false},
    {"sphere, gas", SPHERE "subdivisions: 5, springs: {edges: " MATERIAL "}, pressure: {amount: 1}",
     "", false},
    {"sphere, bends", SPHERE "subdivisions: 5, springs: {edges: " MATERIAL ", bend: " MATERIAL "}",
     "", false},
    {"sphere, second neighbours",
     SPHERE "subdivisions: 5, springs: {edges: " MATERIAL ", bend: " MATERIAL ", second: " MATERIAL
            "}",
     "", true},
    {"lattice",
     LATTICE "nodes: [30, 25, 20], springs: {k1: " MATERIAL ", k2: " MATERIAL ", k3: " MATERIAL "}",
     "", false},
    {"lattice, two shells",
     LATTICE "nodes: [30, 25, 20], shells: 2, springs: {k1: " MATERIAL ", kb1: " MATERIAL
             ", kb3: " MATERIAL "}",
     "", false},
    {"lattice, elastic",
     "type: lattice, nodes: [30, 25, 20], spacing: 0.1, elastic: {young: 1.0e+5, density: 100}", "",
     false},
    {"cloth, fabric",
     "type: cloth, u: [1, 0, 0], v: [0, 1, 0], nodes: [150, 120], fabric: tablecloth", "", false},
    {"rope, elastic",
     "type: rope, from: [0, 0, 0], to: [1, 0, 0], nodes: 30000, elastic: {material: nylon, "
     "diameter: 0.01}",
     "", false},
    {"sphere, elastic",
     "type: sphere, radius: 1, subdivisions: 5, elastic: {young: 1.0e+5, poisson: 0.3, density: "
     "1000, thickness: 0.01}",
     "", false},
    {"lattice, gas",
     LATTICE "nodes: [30, 25, 20], springs: {k1: " MATERIAL "}, pressure: {amount: 1}", "", false},
    {"rope, contact",
     "mass: 1, type: rope, from: [0, 0, 0], to: [1, 0, 0], nodes: 20000, stiffness: 10",
     "contact: {thickness: 1.0e-5}\n", false},
    {"pendulum",
     "mass: 1, type: pendulum, pivot: [0, 0, 0], length: 1, angle: 10, model: spring, "
     "stiffness: 100",
     "environment: {gravity: [0, -9.81, 0]}\n", false},
};

enum { BODY_COUNT = sizeof bodies / sizeof bodies[0] };

// The bytes that build_allocate allocated for the body.
static double bytes_of(const struct body *body)
{
    double nodes = (double)body->node_count;
    return nodes + (body->positions ? 24 * nodes : 0) + (body->velocities ? 24 * nodes : 0) +
           (body->masses ? 8 * nodes : 0) + (body->springs ? 8 * (double)body->spring_count : 0) +
           (body->faces ? 4.0 * body->face_arity * (double)body->face_count : 0);
}

static void test_sizes_are_those_of_the_builders(void **state)
{
    (void)state;
    for (int i = 0; i < BODY_COUNT; i++) {
        taut_scene *scene = read(bodies[i].body, bodies[i].sections, "symplectic_euler", "single");
        struct body_size size;
        body_size_find(scene, 0, &size);
        struct bodies built;
        struct diagnostics findings = {0};
        assert_int_equal(bodies_build(scene, &built, &findings, NULL), TAUT_OK);
        const struct body *body = &built.items[0];
        double springs = (double)body->spring_count;
        if (size.nodes != (double)body->node_count || size.faces != (double)body->face_count ||
            fabs(size.springs - springs) > (bodies[i].guessed ? 1e-3 * springs : 0))
            fail_msg("%s: %g nodes, %g springs, %g faces are not %g, %g, %g", bodies[i].name,
                     size.nodes, size.springs, size.faces, (double)body->node_count, springs,
                     (double)body->face_count);
        double excess = size.bytes - bytes_of(body); // independent of its size
        if (excess < 0 || excess > 4000 + 1e-3 * bytes_of(body))
            fail_msg("%s: %g bytes are not %g", bodies[i].name, size.bytes, bytes_of(body));
        assert_true(size.exact);
        assert_true(size.building >= size.bytes);
        bodies_free(&built);
        diagnostics_free(&findings);
        scene_free(scene);
    }
}

// ---- The solver, compared with a counting allocator

struct counting {
    size_t now, most;
};

static void *counting_allocate(void *context, size_t bytes, size_t alignment)
{
    struct counting *counting = context;
    void *block = memory_default_allocator.allocate(NULL, bytes, alignment);
    counting->now += block ? bytes : 0;
    counting->most = counting->now > counting->most ? counting->now : counting->most;
    return block;
}

static void counting_release(void *context, void *block, size_t bytes)
{
    struct counting *counting = context;
    counting->now -= bytes;
    memory_default_allocator.release(NULL, block, bytes);
}

static void compare_solver(int body, const char *integrator, const char *precision,
                           taut_kernel kernel)
{
    taut_scene *scene = read(bodies[body].body, bodies[body].sections, integrator, precision);
    struct counting counting = {0};
    taut_allocator allocator = {counting_allocate, counting_release, &counting};
    struct solver_options options = {.config.allocator = &allocator, .config.threads = 1};
    options.config.kernel = kernel;
    struct memory_estimate estimate;
    memory_estimate_make(scene, &options, &estimate);
    taut_solver *solver;
    taut_error error = {0};
    if (solver_create(scene, &options, &solver, &error) != TAUT_OK)
        fail_msg("%s, %s: %s", bodies[body].name, integrator, error.text);
    // Leaves out memory that does not depend on the size: some 100 kB.
    double held = (double)counting.now;
    const double most = scene->contact.present ? 1.6 : 1.3; // beside the memory of cut steps
    if (estimate.solver < 0.8 * held - 150e3 || estimate.solver > most * held + 100e3)
        fail_msg("%s, %s, %s: %.3g MB are not %.3g MB", bodies[body].name, integrator, precision,
                 estimate.solver / 1e6, held / 1e6);
    assert_true(estimate.making >= estimate.solver);
    taut_solver_destroy(solver);
    assert_int_equal(counting.now, 0);
    scene_free(scene);
}

static void test_solvers_hold_what_was_estimated(void **state)
{
    (void)state;
    static const char *const integrators[] = {"symplectic_euler", "rk4", "bdf2", "xpbd"};
    for (int body = 0; body < BODY_COUNT; body++)
        for (int i = 0; i < 4; i++) {
            compare_solver(body, integrators[i], "single", TAUT_KERNEL_AUTO);
            compare_solver(body, integrators[i], "double", TAUT_KERNEL_AUTO);
            compare_solver(body, integrators[i], "mixed", TAUT_KERNEL_AUTO);
        }
    for (int body = 0; body < BODY_COUNT; body++)
        compare_solver(body, "verlet", "single", TAUT_KERNEL_REFERENCE);
    for (int body = 0; body < BODY_COUNT; body++) {
        compare_solver(body, "symplectic_euler", "single", TAUT_KERNEL_PACKED);
        compare_solver(body, "symplectic_euler", "single", TAUT_KERNEL_COLOURED);
        compare_solver(body, "symplectic_euler", "double", TAUT_KERNEL_COLOURED);
    }
}

// Tests the memory that contact adds, also once motion has been cut in the frame of a collider that
// carries nodes.
static void test_contact_holds_what_was_estimated(void **state)
{
    (void)state;
    static const char *const rope =
        "type: rope, from: [-20, 0.052, 0], to: [20, 0.052, 0], nodes: 20000, node_mass: 0.001, "
        "stiffness: 20}\n"
        "  - {name: c, type: rope, from: [0.0001, 0.055, -20], to: [0.0001, 0.055, 20], "
        "nodes: 20000, node_mass: 0.001, stiffness: 20";
    static const char *const sphere =
        "colliders:\n  - {type: sphere, radius: 0.05, velocity: [0.5, 5, 0], response: project}\n";
    char with[300];
    snprintf(with, sizeof with, "contact: {thickness: 0.0005}\n%s", sphere);
    double held[2], estimated[2];
    for (int contact = 0; contact < 2; contact++) {
        taut_scene *scene = read(rope, contact ? with : sphere, "velocity_verlet", "single");
        scene->simulation.dt = 0.0004;
        const struct solver_options options = {.config.threads = 1};
        struct memory_estimate estimate;
        memory_estimate_make(scene, &options, &estimate);
        taut_solver *solver;
        assert_int_equal(solver_create(scene, &options, &solver, NULL), TAUT_OK);
        const double before = (double)solver_bytes(solver);
        assert_int_equal(taut_solver_step(solver, 60, NULL), TAUT_OK);
        assert_true(!contact || solver_surface_cuts(solver).stopped > 0);
        held[contact] = (double)solver_bytes(solver);
        // Positions and velocities before a cut are only kept from the first one on.
        assert_true(!contact || held[contact] - before > 9 * sizeof(float) * 40000);
        estimated[contact] = estimate.solver;
        taut_solver_destroy(solver);
        scene_free(scene);
    }
    const double ratio = (estimated[1] - estimated[0]) / (held[1] - held[0]);
    if (ratio < 0.87 || ratio > 1.1)
        fail_msg("%g", ratio);
}

// Bytes of a solver with six sheets that are turned against each other, have slid over each other,
// and have come apart.
static double bytes_of_layers(const char *contact, uint64_t *faces)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    for (int i = 0; i < 6; i++) {
        if (i > 0)
            fprintf(out, "}\n  - {name: c%d, ", i);
        fprintf(out,
                "type: cloth, mass: 0.05, nodes: [41, 41], origin: [-0.138, -0.138, 0], "
                "u: [0.276, 0, 0], v: [0, 0.276, 0], rotate: [0, 0, %d], translate: [0, 0, %g], "
                "stiffness: 200, velocity: [%d, 0, 0]",
                9 * i, 0.0028 * i, i % 2 ? 4 : -4);
    }
    assert_int_equal(fclose(out), 0);
    taut_scene *scene = read(text, contact, "symplectic_euler", "single");
    const struct solver_options options = {.config.threads = 1};
    taut_solver *solver;
    scene->simulation.dt = 1e-5;
    assert_int_equal(solver_create(scene, &options, &solver, NULL), TAUT_OK);
    assert_int_equal(taut_solver_step(solver, 200, NULL), TAUT_OK);
    *faces = taut_solver_face_count(solver);
    const double bytes = (double)solver_bytes(solver);
    taut_solver_destroy(solver);
    scene_free(scene);
    free(text);
    return bytes;
}

// The memory of contacts is released when there are none any more.
static void test_contact_of_layers_is_small(void **state)
{
    (void)state;
    uint64_t faces;
    const double without = bytes_of_layers("", &faces);
    const double contact = bytes_of_layers("contact: {thickness: 0.002}\n", &faces),
                 friction = bytes_of_layers(
                     "contact: {thickness: 0.002, friction_coefficient: 0.3}\n", &faces);
    print_message("%.0f, with friction %.0f\n", (contact - without) / (double)faces,
                  (friction - without) / (double)faces);
    assert_true(contact - without < 200 * (double)faces);
    assert_true(friction - contact < 100 * (double)faces);
}

// ---- The maximum, as measured by the system

// A line of /proc/self/status in bytes; 0 if it is missing.
static double status_bytes(const char *name)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    double bytes = 0;
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, name, strlen(name)) == 0)
            bytes = 1024 * strtod(line + strlen(name), NULL);
    if (file)
        assert_int_equal(fclose(file), 0);
    return bytes;
}

// Resets the peak memory of this process to its present use.
static bool forget_peak(void)
{
    FILE *file = fopen("/proc/self/clear_refs", "w");
    return file && fputs("5", file) >= 0 && fclose(file) == 0;
}

static void test_making_takes_what_was_estimated(void **state)
{
    (void)state;
    static const char *const large[] = {
        CLOTH "nodes: [1000, 1000], " CLOTH_SPRINGS,
        SPHERE "subdivisions: 8, springs: {edges: " MATERIAL ", bend: " MATERIAL "}, pressure: "
               "{amount: 1}",
        "mass: 1, type: ring, radius: 1, nodes: 1000000, springs: {edges: {stiffness: 10}}",
        LATTICE "nodes: [100, 100, 100], shells: 2, springs: {k1: " MATERIAL ", kb3: " MATERIAL "}",
        CLOTH "nodes: [50, 40], links: all, springs: {all: {stiffness: 10}}",
    };
    taut_scene *first = read(bodies[0].body, "", "verlet", "single"); // memory that libraries keep
    scene_free(first);
    bool is_sanitized = status_bytes("VmSize:") > 1e12; // shadow memory
    if (is_sanitized || !forget_peak() || status_bytes("VmHWM:") == 0)
        skip();
    for (size_t i = 0; i < sizeof large / sizeof large[0]; i++) {
        taut_scene *scene = read(large[i], "", "symplectic_euler", "single");
        struct memory_estimate estimate;
        memory_estimate_make(scene, NULL, &estimate);
#ifdef __GLIBC__
        (void)malloc_trim(0); // otherwise memory freed by earlier solvers counts
#endif
        assert_true(forget_peak());
        double before = status_bytes("VmRSS:");
        taut_solver *solver;
        assert_int_equal(solver_create(scene, &(struct solver_options){0}, &solver, NULL), TAUT_OK);
        double peak = status_bytes("VmHWM:") - before;
        if (estimate.making < 0.8 * peak || estimate.making > 1.5 * peak)
            fail_msg("%s: %.3g MB are not %.3g MB", large[i], estimate.making / 1e6, peak / 1e6);
        taut_solver_destroy(solver);
        scene_free(scene);
    }
}

// ---- Refusals

static void assert_refused(const char *body, const char *amount)
{
    taut_scene *scene = read(body, "", "symplectic_euler", "single");
    taut_solver *solver;
    taut_error error = {0};
    assert_int_equal(solver_create(scene, &(struct solver_options){0}, &solver, &error),
                     TAUT_ERROR_MEMORY);
    assert_contains(error.text, amount);
    assert_contains(error.text, "0.0977 GiB (by TAUT_MEMORY_LIMIT)");
    scene_free(scene);
}

static void test_too_large_a_scene_is_refused(void **state)
{
    (void)state;
    assert_int_equal(setenv("TAUT_MEMORY_LIMIT", "100M", 1), 0);
    assert_refused("mass: 1, type: ring, radius: 1, nodes: 400000000, springs: {edges: {stiffness: "
                   "10}}, pressure: {amount: 1}",
                   "body 'b'");
    assert_refused("mass: 1, type: rope, from: [0, 0, 0], to: [1, 0, 0], nodes: 4000000000, "
                   "springs: {chain: {stiffness: 10}}",
                   "4e+09 nodes");
    assert_refused(SPHERE "subdivisions: 8, springs: {edges: " MATERIAL "}", "655362 nodes");
    assert_refused(CLOTH "nodes: [140, 140], links: all, springs: {all: {stiffness: 10}}",
                   "1.9207e+08 springs");
    assert_refused(CLOTH "nodes: [60000, 60000], " CLOTH_SPRINGS, "3.6e+09 nodes");
    // The same through taut.h, where the bodies are built first.
    const char *text =
        "simulation: {dt: 1e-6, steps: 1}\nbodies:\n  - {name: many, type: ring, radius: 1, nodes: "
        "400000000, mass: 1, springs: {edges: {stiffness: 10}}}\n";
    taut_scene *scene;
    taut_error error = {0};
    assert_int_equal(taut_scene_parse(text, strlen(text), "x.yaml", NULL, &scene, &error),
                     TAUT_ERROR_MEMORY);
    assert_non_null(strstr(error.text, "body 'many'"));
    assert_int_equal(unsetenv("TAUT_MEMORY_LIMIT"), 0);
}

// Counts that no builder accepts are rejected by the builder, with its own message.
static void test_absurd_counts_do_not_overflow(void **state)
{
    (void)state;
    static const char *const absurd[] = {
        CLOTH "nodes: [60000, 60000], links: all, springs: {all: {stiffness: 10}}",
    };
    assert_int_equal(setenv("TAUT_MEMORY_LIMIT", "none", 1), 0);
    for (size_t i = 0; i < sizeof absurd / sizeof absurd[0]; i++) {
        taut_scene *scene = read(absurd[i], "", "symplectic_euler", "single");
        taut_solver *solver;
        taut_error error = {0};
        taut_status status = solver_create(scene, &(struct solver_options){0}, &solver, &error);
        if (status != TAUT_ERROR_SCENE)
            fail_msg("%s: %d, %s", absurd[i], (int)status, error.text);
        scene_free(scene);
    }
    assert_int_equal(unsetenv("TAUT_MEMORY_LIMIT"), 0);
}

static void test_all_bodies_together_are_counted(void **state)
{
    (void)state;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    fputs("simulation: {dt: 1e-6, steps: 1}\nbodies:\n", out);
    for (int i = 0; i < 40; i++)
        fprintf(out,
                "  - {name: r%d, type: rope, from: [0, 0, 0], to: [1, 0, 0], nodes: 200000000, "
                "mass: 1, springs: {chain: {stiffness: 10}}}\n",
                i);
    assert_int_equal(fclose(out), 0);
    struct diagnostics findings = {0};
    taut_scene *scene = scene_read_text(text, size, "many.yaml", NULL, 0, &findings);
    assert_non_null(scene);
    taut_solver *solver;
    taut_error error = {0};
    // Enough for each body, but not for all.
    assert_int_equal(setenv("TAUT_MEMORY_LIMIT", "100G", 1), 0);
    assert_int_equal(solver_create(scene, &(struct solver_options){0}, &solver, &error),
                     TAUT_ERROR_MEMORY);
    assert_non_null(strstr(error.text, "8e+09 nodes"));
    assert_non_null(strstr(error.text, "100 GiB"));
    // Enough for all, but node numbers have 32 bits.
    assert_int_equal(setenv("TAUT_MEMORY_LIMIT", "100T", 1), 0);
    assert_int_equal(solver_create(scene, &(struct solver_options){0}, &solver, &error),
                     TAUT_ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.text, "8000000000 nodes"));
    assert_int_equal(unsetenv("TAUT_MEMORY_LIMIT"), 0);
    scene_free(scene);
    free(text);
}

static void test_what_a_caller_holds_beside_counts(void **state)
{
    (void)state;
    taut_scene *scene = read(bodies[2].body, "", "symplectic_euler", "single");
    taut_solver *solver;
    taut_error error = {0};
    struct solver_options options = {.extra_bytes = 1e9};
    assert_int_equal(setenv("TAUT_MEMORY_LIMIT", "1G", 1), 0);
    assert_int_equal(solver_create(scene, &options, &solver, &error), TAUT_OK);
    taut_solver_destroy(solver);
    options.extra_bytes = 1.2e9;
    assert_int_equal(solver_create(scene, &options, &solver, &error), TAUT_ERROR_MEMORY);
    assert_int_equal(unsetenv("TAUT_MEMORY_LIMIT"), 0);
    scene_free(scene);
}

// Threads beyond those that the machine can keep busy are never started, so they need no memory.
static void test_threads_count_as_they_start(void **state)
{
    (void)state;
    taut_scene *scene = read(bodies[2].body, "", "symplectic_euler", "single");
    struct machine machine;
    assert_int_equal(machine_detect(&machine, NULL), TAUT_OK);
    int most = machine_threads_max(&machine) < 4096 ? machine_threads_max(&machine) : 4096;
    struct memory_estimate one, capped, asked;
    memory_estimate_make(scene, &(struct solver_options){.config.threads = 1}, &one);
    memory_estimate_make(scene, &(struct solver_options){.config.threads = most}, &capped);
    memory_estimate_make(scene, &(struct solver_options){.config.threads = 4096}, &asked);
    assert_true(asked.solver == capped.solver);
    assert_true(capped.solver > one.solver);
    scene_free(scene);
}

static void refuse_config(const taut_scene *scene, const taut_config *config, const char *text)
{
    taut_solver *solver;
    taut_error error = {0};
    assert_int_equal(taut_solver_create(scene, config, &solver, &error), TAUT_ERROR_ARGUMENT);
    assert_null(solver);
    if (strncmp(error.text, text, strlen(text)) != 0)
        fail_msg("'%s' does not begin with '%s'", error.text, text);
}

// Out-of-range values are reported even if memory is short too.
static void test_ranges_are_checked_before_memory(void **state)
{
    (void)state;
    taut_scene *scene = read(SPHERE "subdivisions: 8, springs: {edges: " MATERIAL "}", "",
                             "symplectic_euler", "single");
    assert_int_equal(setenv("TAUT_MEMORY_LIMIT", "1M", 1), 0);
    refuse_config(scene, &(taut_config){.threads = 99999}, "99999 threads: choose 1 to 4096");
    refuse_config(scene, &(taut_config){.threads = -1}, "-1 threads");
    refuse_config(scene, &(taut_config){.isa = (taut_isa)77}, "instruction set 77: choose");
    refuse_config(scene, &(taut_config){.isa = (taut_isa)(TAUT_ISA_V4 + 1)}, "instruction set 4");
    refuse_config(scene, &(taut_config){.kernel = (taut_kernel)77}, "kernel 77: choose");
    assert_int_equal(unsetenv("TAUT_MEMORY_LIMIT"), 0);
    scene_free(scene);
}

// ---- Files: sizes from headers and samples

// Without a line end, a header alone.
static const char *write_mesh(const char *name, int rows, const char *line_end)
{
    static char path[4096];
    if (mkdir(TAUT_TEST_OUT, 0777) != 0)
        assert_int_equal(errno, EEXIST);
    snprintf(path, sizeof path, "%s/%s", TAUT_TEST_OUT, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    if (!line_end)
        fprintf(file,
                "ply\nformat ascii 1.0\nelement vertex 4000000000\nproperty float x\nproperty "
                "float y\nproperty float z\nelement face 4000000000\nproperty list uchar int "
                "vertex_indices\nend_header\n");
    for (int j = 0; line_end && j < rows; j++)
        for (int i = 0; i < rows; i++)
            fprintf(file, "v %d %d 0.%d%s", i, j, i * j % 10, line_end);
    for (int j = 0; line_end && j + 1 < rows; j++)
        for (int i = 0; i + 1 < rows; i++)
            fprintf(file, "f %d %d %d %d%s", j * rows + i + 1, j * rows + i + 2,
                    (j + 1) * rows + i + 2, (j + 1) * rows + i + 1, line_end);
    assert_int_equal(fclose(file), 0);
    return path;
}

static void test_files_are_sampled(void **state)
{
    (void)state;
    static const char *const line_ends[] = {"\n", "\r\n", "\r"};
    char body[4200];
    struct body_size size;
    taut_scene *scene;
    for (int i = 0; i < 3; i++) {
        snprintf(body, sizeof body,
                 "mass: 1, type: mesh, file: '%s', springs: {edges: " MATERIAL "}",
                 write_mesh("memory.obj", 300, line_ends[i]));
        scene = read(body, "", "symplectic_euler", "single");
        body_size_find(scene, 0, &size);
        assert_false(size.exact);
        assert_true(fabs(size.nodes - 90000) < 9000);
        assert_true(fabs(size.faces - 178802) < 18000);
        assert_true(fabs(size.springs - 268201) < 27000);
        scene_free(scene);
    }
    // A header that declares more than the file has.
    snprintf(body, sizeof body, "mass: 1, type: mesh, file: '%s', springs: {edges: " MATERIAL "}",
             write_mesh("memory.ply", 0, NULL));
    scene = read(body, "", "symplectic_euler", "single");
    body_size_find(scene, 0, &size);
    assert_true(size.nodes < 1000);
    scene_free(scene);
}

// ---- Free memory

static void test_sizes_in_words(void **state)
{
    (void)state;
    double bytes = 0;
    assert_true(memory_size_read("1500", &bytes) && bytes == 1500);
    assert_true(memory_size_read("64K", &bytes) && bytes == 65536);
    assert_true(memory_size_read("1.5GiB", &bytes) && bytes == 1.5 * 1073741824);
    assert_true(memory_size_read("2TB", &bytes) && bytes == 2 * 1099511627776.0);
    static const char *const wrong[] = {"", "much", "-1G", "0", "1X", "1GG", "nan", "inf", "1 G"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_false(memory_size_read(wrong[i], &bytes));
}

static void test_limits_of_the_process_count(void **state)
{
    (void)state;
    assert_int_equal(unsetenv("TAUT_MEMORY_LIMIT"), 0);
    struct memory_left free_now = memory_left_to_this_process();
    assert_true(free_now.bytes > 0);
    struct rlimit before, tight;
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    if (status_bytes("VmSize:") == 0 || status_bytes("VmSize:") > 1e12)
        skip();
    tight = before;
    tight.rlim_cur = (rlim_t)status_bytes("VmSize:") + 50000000;
    assert_int_equal(setrlimit(RLIMIT_AS, &tight), 0);
    struct memory_left left = memory_left_to_this_process();
    assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
    assert_int_equal(left.source, MEMORY_ADDRESSES);
    assert_true(left.bytes > 40e6 && left.bytes <= 51e6);
}

// Arrays that grow during a run are not planned; an allowance of less than 256 MiB may be left from
// before.
static void test_arrays_do_not_grow_beyond_the_limit(void **state)
{
    (void)state;
    assert_int_equal(setenv("TAUT_MEMORY_LIMIT", "100M", 1), 0);
    (void)memory_left_to_this_process();
    assert_false(memory_may_grow(400e6));
    static char *blocks[64];
    int count = 0;
    for (; count < 64 && memory_may_grow(8 << 20); count++) {
        blocks[count] = malloc(8 << 20);
        assert_non_null(blocks[count]);
        memset(blocks[count], 1, 8 << 20);
    }
    print_message("%d blocks of 8 MiB\n", count);
    assert_in_range(count, 0, 60); // 512 MiB would be all
    while (count > 0)
        free(blocks[--count]);
    assert_int_equal(setenv("TAUT_MEMORY_LIMIT", "none", 1), 0);
    assert_true(memory_may_grow(400e6));
    assert_int_equal(unsetenv("TAUT_MEMORY_LIMIT"), 0);
    assert_false(memory_may_grow(1e18));
}

int main(void)
{
    process_keep_little_memory(); // as programs do, whose memory is estimated
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes_are_those_of_the_builders),
        cmocka_unit_test(test_solvers_hold_what_was_estimated),
        cmocka_unit_test(test_contact_holds_what_was_estimated),
        cmocka_unit_test(test_contact_of_layers_is_small),
        cmocka_unit_test(test_making_takes_what_was_estimated),
        cmocka_unit_test(test_too_large_a_scene_is_refused),
        cmocka_unit_test(test_absurd_counts_do_not_overflow),
        cmocka_unit_test(test_all_bodies_together_are_counted),
        cmocka_unit_test(test_what_a_caller_holds_beside_counts),
        cmocka_unit_test(test_threads_count_as_they_start),
        cmocka_unit_test(test_ranges_are_checked_before_memory),
        cmocka_unit_test(test_files_are_sampled),
        cmocka_unit_test(test_sizes_in_words),
        cmocka_unit_test(test_limits_of_the_process_count),
        cmocka_unit_test(test_arrays_do_not_grow_beyond_the_limit),
    };
    return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
