// Prints the state hashes of a few scenes after some steps, one per line: scene, precision, hash,
// broken springs. It is built for this machine and for 64-bit ARM (test_neon.sh), and the lines
// must be equal. The scenes are made in memory and stepped without a solver, so neither libyaml nor
// hwloc is needed; they use no sine, exponential or logarithm, in which C libraries may differ by
// the last bit: no gusts, no ring, no adiabatic gas, no closed forms.
//
// Usage: hashes [STEPS]. The instruction set is the widest, or the one in TAUT_ISA. Every scene
// runs with 1 and with 3 threads; the program fails if the hashes differ.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "scene/bodies.h"
#include "simd/isa.h"
#include "solver/system.h"

#define PLAIN(k, c)                                                                                \
    {                                                                                              \
        .stiffness = (k), .damping = (c), .break_at = INFINITY, .yield_at = INFINITY               \
    }

// ---- Scenes

static taut_scene begin(enum integrator integrator)
{
    return (taut_scene){
        .name = (char *)"neon",
        .simulation = {.integrator = integrator, .dt = 0.0005, .steps = 1, .keep_velocity = 1},
        .environment = {.gravity = {0.3, -9.81, 0.1}, .air_drag = 0.001},
    };
}

static struct scene_body *first_body(enum body_type type)
{
    static struct scene_body body;
    body = (struct scene_body){.name = (char *)"body",
                               .type = type,
                               .mass_per_node = true,
                               .node_mass = 0.01,
                               .velocity = {0.5, 0.25, -1}};
    for (size_t kind = 0; kind < SPRING_KINDS_MAX; kind++)
        body.kinds[kind].material = (struct material)PLAIN(0, 0);
    return &body;
}

static void set_kind(struct scene_body *body, size_t kind, struct material material)
{
    body->kinds[kind] = (struct scene_spring_kind){true, material};
}

static taut_scene add(taut_scene scene, struct scene_body *body)
{
    scene.bodies = body;
    scene.body_count = 1;
    return scene;
}

// 37 nodes on a row fill no register of any instruction set; one rope for each law of damping.
static taut_scene rope(void)
{
    static struct selector pin = {.type = SELECT_FIRST};
    struct scene_body *body = first_body(BODY_ROPE);
    body->shape.rope = (struct scene_rope){{0, 0, 0}, {3.6, 0.7, 0}, 37, ROPE_SKIP};
    set_kind(body, 0, (struct material)PLAIN(300, 0.02));
    struct material skip = PLAIN(40, 0.01);
    skip.damping_law = DAMPING_FULL;
    set_kind(body, 1, skip);
    body->pins = &pin;
    body->pin_count = 1;
    return add(begin(INTEGRATOR_VERLET), body);
}

static struct scene_body *cloth_body(uint64_t nodes_u, uint64_t nodes_v)
{
    static struct selector pin = {.type = SELECT_LEFT};
    struct scene_body *body = first_body(BODY_CLOTH);
    body->shape.cloth =
        (struct scene_cloth){{0, 1, 0}, {1.5, 0, 0.1}, {0, -1, 0.3}, nodes_u, nodes_v};
    set_kind(body, 0, (struct material)PLAIN(400, 0.02));
    set_kind(body, 1, (struct material)PLAIN(300, 0.01));
    set_kind(body, 2, (struct material)PLAIN(40, 0.005));
    body->pins = &pin;
    body->pin_count = 1;
    return body;
}

// Wind on faces, and a sphere that approaches.
static taut_scene cloth(void)
{
    static struct scene_collider sphere = {.type = COLLIDER_SPHERE,
                                           .centre = {0.7, 0.5, 0.6},
                                           .velocity = {0, 0, -2},
                                           .radius = 0.25,
                                           .stiffness = 200,
                                           .friction = 0.01,
                                           .absorption = 0.05};
    taut_scene scene = begin(INTEGRATOR_SYMPLECTIC_EULER);
    scene.environment.wind = (struct scene_wind){.present = true,
                                                 .velocity = {2, 0, 5},
                                                 .law = WIND_FACE,
                                                 .coefficient = 1,
                                                 .relative = true};
    scene.colliders = &sphere;
    scene.collider_count = 1;
    return add(scene, cloth_body(29, 23));
}

// Without damping, with an integrator of four evaluations per step.
static taut_scene undamped_cloth(void)
{
    struct scene_body *body = cloth_body(18, 7);
    for (size_t kind = 0; kind < 3; kind++)
        body->kinds[kind].material.damping = 0;
    return add(begin(INTEGRATOR_RK4), body);
}

// Structural springs that tear, diagonals that yield, and others that only push.
static taut_scene torn_cloth(void)
{
    struct scene_body *body = cloth_body(21, 17);
    body->kinds[0].material.break_at = 1.005;
    body->kinds[1].material.yield_at = 0.002;
    body->kinds[2].material.law = LAW_COMPRESSION_ONLY;
    return add(begin(INTEGRATOR_SYMPLECTIC_EULER), body);
}

static taut_scene lattice(void)
{
    static struct scene_collider room = {.type = COLLIDER_ROOM,
                                         .response = RESPONSE_PROJECT,
                                         .min = {-0.01, -0.01, -0.01},
                                         .max = {3, 3, 3},
                                         .keep = 0.8};
    struct scene_body *body = first_body(BODY_LATTICE);
    body->shape.lattice = (struct scene_lattice){{0, 0, 0}, 11, 6, 5, 0.1, 2};
    for (size_t kind = 0; kind < 6; kind++)
        set_kind(body, kind, (struct material)PLAIN(200 - 30 * (double)kind, 0.02));
    taut_scene scene = begin(INTEGRATOR_SYMPLECTIC_EULER);
    scene.colliders = &room;
    scene.collider_count = 1;
    scene.simulation.keep_velocity = 0.999;
    return add(scene, body);
}

// Closed, with isothermal gas, falling onto a floor.
static taut_scene ball(void)
{
    static struct scene_collider floor_plane = {.type = COLLIDER_PLANE,
                                                .point = {0, -0.99, 0},
                                                .normal = {0, 1, 0},
                                                .stiffness = 500,
                                                .friction = 0.05,
                                                .absorption = 0.1};
    struct scene_body *body = first_body(BODY_SPHERE);
    body->shape.sphere = (struct scene_sphere){{0, 0, 0}, 1, 3};
    set_kind(body, 0, (struct material)PLAIN(300, 0.1));
    body->pressure = (struct scene_pressure){
        .present = true, .amount = 60, .gamma = 1, .inflate = 0.1, .volume = VOLUME_DIVERGENCE};
    taut_scene scene = begin(INTEGRATOR_VELOCITY_VERLET);
    scene.colliders = &floor_plane;
    scene.collider_count = 1;
    return add(scene, body);
}

// Random nodes joined to nodes with near numbers, by springs of every law.
static taut_scene network(void)
{
    enum { NODES = 2000, REACHES = 3, SPRINGS = NODES * REACHES };
    static vec3 positions[NODES], velocities[NODES];
    static double masses[NODES];
    static uint32_t springs[SPRINGS][2], spring_materials[SPRINGS];
    static struct material materials[4] = {PLAIN(30, 0.01), PLAIN(20, 0), PLAIN(20, 0.02),
                                           PLAIN(10, 0.01)};
    static const uint32_t reaches[REACHES] = {1, 17, 310};
    materials[1].law = LAW_TENSION_ONLY;
    materials[2].break_at = 1.01;
    materials[3].yield_at = 0.005;
    uint32_t seed = 1;
    for (uint32_t node = 0; node < NODES; node++) {
        double at[3];
        for (int axis = 0; axis < 3; axis++) {
            seed = seed * 1664525u + 1013904223u; // linear congruential generator (Knuth)
            at[axis] = (double)(seed >> 16) / 65536;
        }
        positions[node] = vec3_make(at[0], at[1], at[2]);
        velocities[node] = vec3_make(at[1] - 0.5, at[2] - 0.5, at[0] - 0.5);
        masses[node] = 0.01;
        for (uint32_t r = 0; r < REACHES; r++) {
            uint32_t spring = node * REACHES + r;
            springs[spring][0] = node;
            springs[spring][1] = (node + reaches[r]) % NODES;
            spring_materials[spring] = (node + r) % 4;
        }
    }
    struct scene_body *body = first_body(BODY_NETWORK);
    body->velocity = vec3_make(0, 0, 0); // the nodes have velocities of their own
    body->shape.network = (struct scene_network){.positions = positions,
                                                 .velocities = velocities,
                                                 .masses = masses,
                                                 .node_count = NODES,
                                                 .springs = springs,
                                                 .spring_materials = spring_materials,
                                                 .spring_count = SPRINGS,
                                                 .materials = materials,
                                                 .material_count = 4};
    return add(begin(INTEGRATOR_MIDPOINT), body);
}

static const struct {
    const char *name;
    taut_scene (*make)(void);
} scenes[] = {{"rope", rope},
              {"cloth", cloth},
              {"undamped_cloth", undamped_cloth},
              {"torn_cloth", torn_cloth},
              {"lattice", lattice},
              {"ball", ball},
              {"network", network}};

// ---- Runs

struct run {
    const struct system_functions *functions;
    struct system *system;
    uint64_t steps;
};

static void work(void *context, const struct worker *worker)
{
    struct run *run = context;
    run->functions->start(run->system, worker);
    for (uint64_t step = 0; step < run->steps; step++) {
        run->functions->integrate(run->system, worker);
        run->functions->finish(run->system, worker);
        worker_barrier(worker); // one worker has counted the step, and all read the count in the
                                // next one
    }
    run->functions->complete(run->system, worker);
    run->functions->check(run->system, worker);
}

static taut_status prepare(const taut_scene *scene, const struct topology *topology,
                           const struct bodies *bodies, struct plan **plan, struct run *run,
                           taut_error *error)
{
    const struct plan_options plan_options = {0};
    struct system_options options = {.scene = scene, .dt = scene->simulation.dt, .threads = 3};
    taut_status status = plan_make(topology, &plan_options, NULL, plan, error);
    if (status == TAUT_OK)
        status = plan_check(topology, *plan, error);
    if (status == TAUT_OK)
        status = isa_choose(TAUT_ISA_AUTO, &options.isa, error);
    if (status == TAUT_OK)
        status = run->functions->make(topology, *plan, bodies, &options, NULL, &run->system, error);
    return status;
}

struct outcome {
    uint64_t hash, broken;
};

static taut_status outcome_of(const taut_scene *scene, int threads, uint64_t steps,
                              struct outcome *outcome, taut_error *error)
{
    struct bodies bodies = {0};
    struct diagnostics diagnostics = {0};
    struct topology *topology = NULL;
    struct plan *plan = NULL;
    bool wide = scene->precision == PRECISION_DOUBLE;
    struct run run = {wide ? &system_functions_f64 : &system_functions_f32, NULL, steps};
    taut_status status = bodies_build(scene, &bodies, &diagnostics, error);
    if (status == TAUT_ERROR_SCENE)
        fail(error, status, "%s", diagnostics.items[0].text);
    if (status == TAUT_OK)
        status = topology_cook(scene, &bodies, NULL, &topology, error);
    if (status == TAUT_OK)
        status = prepare(scene, topology, &bodies, &plan, &run, error);
    if (status == TAUT_OK) {
        team_run(threads, work, &run);
        status = run.functions->fault(run.system)->code;
        *outcome = (struct outcome){run.functions->hash(run.system),
                                    run.functions->broken_count(run.system)};
    }
    if (run.system)
        run.functions->free(run.system);
    plan_free(plan);
    topology_free(topology);
    bodies_free(&bodies);
    diagnostics_free(&diagnostics);
    return status;
}

// Prints one line of the output; false after an error.
static bool print_outcome(const char *name, const taut_scene *scene, uint64_t steps)
{
    static const char *const precisions[] = {"single", "double", "mixed"};
    const char *precision = precisions[scene->precision];
    struct outcome one = {0}, three = {0};
    taut_error error = {0};
    taut_status status = outcome_of(scene, 1, steps, &one, &error);
    if (status == TAUT_OK)
        status = outcome_of(scene, 3, steps, &three, &error);
    if (status != TAUT_OK) {
        fprintf(stderr, "hashes: %s, %s: %s\n", name, precision,
                *error.text ? error.text : taut_status_text(status));
        return false;
    }
    printf("%s %s %016" PRIx64 " %" PRIu64 "\n", name, precision, one.hash, one.broken);
    if (one.hash == three.hash && one.broken == three.broken)
        return true;
    fprintf(stderr, "hashes: %s, %s: 3 threads give other bits than 1\n", name, precision);
    return false;
}

int main(int argc, char **argv)
{
    long steps = argc > 1 ? strtol(argv[1], NULL, 10) : 50;
    bool sound = steps > 0;
    for (size_t s = 0; sound && s < sizeof scenes / sizeof *scenes; s++)
        for (int precision = PRECISION_SINGLE; precision <= PRECISION_MIXED; precision++) {
            taut_scene scene = scenes[s].make();
            scene.precision = (enum precision)precision;
            sound = print_outcome(scenes[s].name, &scene, (uint64_t)steps) && sound;
        }
    return !sound || fflush(stdout) != 0;
}
