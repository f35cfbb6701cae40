// The scenes, and the meaning of each byte.
#include "calls_fixture.h"

#include <stdbool.h>
#include <string.h>

#include "taut.h"

enum { SOLVERS = 3, POINTS = 64 };

// Small, and together with every integrator of its own kind and everything that can be set. dt:
// auto is where solvers keep most between calls.
static const char *const scenes[] = {
    "precision: double\nsimulation: {integrator: rk4, dt: auto, duration: 50}\n"
    "bodies:\n"
    "  - {name: rope, type: rope, from: [0,0,0], to: [1,0,0], nodes: 60, links: skip, node_mass: "
    "0.01,\n"
    "     pins: [first], springs: {chain: {stiffness: 60, damping: 0.02},\n"
    "     skip: {stiffness: 20, yield_at: 1.1}}}\n"
    "  - {name: net, type: network, nodes: [[0,1,0],[1,1,0],[1,1,1]], node_mass: 0.1,\n"
    "     springs: [[0,1,{stiffness: 40, damping: 0.01}],[1,2,{stiffness: 30, break_at: 1.2}]]}\n",
    "simulation: {integrator: symplectic_euler, dt: auto, duration: 50}\n"
    "environment: {gravity: [0,-9.81,0], air_drag: 0.001}\n"
    "bodies:\n"
    "  - {name: ball, type: sphere, center: [0,0.5,0], radius: 0.2, subdivisions: 2, mass: 0.1,\n"
    "     spring: {stiffness: 60, damping: 0.01}, pressure: {amount: 2, inflate: 0.2}}\n"
    "colliders:\n"
    "  - {type: sphere, center: [0,-0.3,0], radius: 0.4, stiffness: 200, friction_coefficient: "
    "0.3}\n"
    "  - {type: plane, point: [0,-0.2,0], normal: [0,1,0], response: project, restitution: 0.5,\n"
    "     friction: 0.01}\n",
    "precision: mixed\nsimulation: {integrator: velocity_verlet, dt: auto, duration: 50}\n"
    "environment: {gravity: [0,-9.81,0], wind: {velocity: [3,0,1], law: quadratic, density: 1.2,\n"
    "  drag: 1, gusts: [{amplitude: [1,0,0], period: 0.3}]}}\n"
    "bodies:\n"
    "  - {name: sheet, type: cloth, origin: [0,0,0], u: [0.6,0,0], v: [0,0,0.6], nodes: [9,10],\n"
    "     fabric: denim, pins: [corners]}\n"
    "  - {name: block, type: lattice, origin: [1,0,0], nodes: [4,3,5], spacing: 0.05,\n"
    "     elastic: {material: gelatine, poisson: 0.4}, damping_ratio: 0.02, pins: [left]}\n",
    "simulation: {integrator: symplectic_euler, dt: auto, duration: 50}\n"
    "environment: {gravity: [0,-9.81,0]}\n"
    "contact: {thickness: 0.01, friction_coefficient: 0.4}\n"
    "bodies:\n"
    "  - {name: upper, type: cloth, origin: [0,0.05,0], u: [0.4,0,0], v: [0,0,0.4], nodes: [8,9],\n"
    "     mass: 0.1, springs: {structural: {stiffness: 60, damping: 0.01}}}\n"
    "  - {name: lower, type: lattice, origin: [0.1,-0.15,0.1], nodes: [4,3,4], spacing: 0.07,\n"
    "     mass: 0.3, stiffness: 60}\n"
    "colliders:\n"
    "  - {type: sphere, center: [0.2,-0.6,0.2], radius: 0.4, response: contact,\n"
    "     friction_coefficient: 0.3}\n"
    "  - {type: plane, point: [0,-0.25,0], normal: [0,1,0], stiffness: 200}\n",
    "precision: double\nsimulation: {integrator: implicit_euler, dt: 0.002, duration: 50}\n"
    "environment: {gravity: [0,-9.81,0]}\n"
    "contact: {thickness: 0.01}\n"
    "bodies:\n"
    "  - {name: sheet, type: cloth, origin: [0,0.1,0], u: [0.4,0,0], v: [0,0,0.4], nodes: [7,6],\n"
    "     elastic: {young: 2e4, poisson: 0.45, thickness: 0.01, density: 300}}\n"
    "  - {name: ring, type: sphere, center: [0.2,-0.1,0.2], radius: 0.1, subdivisions: 1,\n"
    "     elastic: {young: 1e5, poisson: 0.3, thickness: 0.005, density: 900},\n"
    "     pressure: {amount: 1, atmosphere: 10}}\n"
    "colliders:\n"
    "  - {type: plane, point: [0,-0.3,0], normal: [0,1,0], stiffness: 200,\n"
    "     friction_coefficient: 0.3}\n",
    "simulation: {integrator: xpbd, dt: 0.002, substeps: 3, duration: 50}\n"
    "environment: {gravity: [0,-9.81,0]}\n"
    "bodies:\n"
    "  - {name: rope, type: rope, from: [0,0,0], to: [0.5,0,0], nodes: 12, mass: 0.1,\n"
    "     spring: {stiffness: 500, damping: 0.1}, pins: [first]}\n"
    "  - {name: box, type: lattice, origin: [0,-0.3,0], nodes: [3,3,3], spacing: 0.05, mass: 0.2,\n"
    "     stiffness: 300}\n"
    "colliders:\n"
    "  - {type: plane, point: [0,-0.35,0], normal: [0,1,0], response: project, restitution: 0.2}\n",
    "precision: double\nsimulation: {integrator: verlet, dt: auto, duration: 50}\n"
    "bodies:\n"
    "  - {name: jelly, type: lattice, origin: [0,0,0], nodes: [5,4,6], spacing: 0.1, mass: 0.4,\n"
    "     stiffness: 60, damping: 0.02}\n"
    "colliders:\n"
    "  - {type: sphere, center: [0.2,-0.35,0.2], radius: 0.4, stiffness: 200}\n"
    "  - {type: plane, point: [0,-0.1,0], normal: [0,1,0], stiffness: 200, absorption: 0.05}\n",
};

const size_t calls_scene_count = sizeof scenes / sizeof scenes[0];

// ---- Input

struct input {
    const uint8_t *bytes;
    size_t size, position;
};

static unsigned next_byte(struct input *input)
{
    return input->position < input->size ? input->bytes[input->position++] : 0;
}

static size_t below(struct input *input, size_t limit)
{
    return limit > 0 ? next_byte(input) % limit : 0;
}

static double between(struct input *input, double low, double high)
{
    return low + (high - low) * next_byte(input) / 255;
}

// ---- Calls

struct calls {
    struct input input;
    taut_scene *scene;
    taut_solver *solvers[SOLVERS];
    size_t count;
    taut_status status;
};

// A call on each solver with the same arguments; true if all returned the same.
#define ON_EACH(calls, solver, call)                                                               \
    on_each_start(calls);                                                                          \
    for (size_t each = 0; each < (calls)->count; each++) {                                         \
        taut_solver *const solver = (calls)->solvers[each];                                        \
        on_each_note(calls, each, call);                                                           \
    }

static void on_each_start(struct calls *calls)
{
    calls->status = TAUT_OK;
}

enum { STATUS_DIFFERS = -1 };

static void on_each_note(struct calls *calls, size_t each, taut_status status)
{
    if (each == 0)
        calls->status = status;
    else if (status != calls->status)
        calls->status = (taut_status)STATUS_DIFFERS;
}

static void set_material(struct calls *calls, size_t body)
{
    struct input *in = &calls->input;
    const size_t material = below(in, taut_solver_material_count(calls->solvers[0], body) + 1);
    switch (below(in, 4)) {
    case 0: {
        const double stiffness = between(in, -2, 60);
        ON_EACH(calls, it, taut_solver_set_stiffness(it, body, material, stiffness, NULL));
        break;
    }
    case 1: {
        const double damping = between(in, -0.001, 0.04);
        ON_EACH(calls, it, taut_solver_set_damping(it, body, material, damping, NULL));
        break;
    }
    case 2: {
        const double factor = between(in, 0.9, 1.1);
        ON_EACH(calls, it, taut_solver_scale_rest_lengths(it, body, material, factor, NULL));
        break;
    }
    default: {
        const double mass = between(in, -0.001, 0.02);
        ON_EACH(calls, it, taut_solver_set_node_mass(it, body, mass, NULL));
        break;
    }
    }
}

static void set_solid(struct calls *calls, size_t body)
{
    struct input *in = &calls->input;
    taut_elastic elastic;
    taut_fabric fabric;
    if (taut_solver_get_elastic(calls->solvers[0], body, &elastic, NULL) == TAUT_OK) {
        elastic.young *= between(in, 0.5, 1.6);
        elastic.poisson = between(in, 0, 0.5);
        if (below(in, 3) == 0)
            elastic.damping = (taut_material_damping){.ratio = between(in, 0, 0.05)};
        ON_EACH(calls, it, taut_solver_set_elastic(it, body, &elastic, NULL));
    } else if (taut_solver_get_fabric(calls->solvers[0], body, &fabric, NULL) == TAUT_OK) {
        fabric.warp *= between(in, 0.5, 1.6);
        fabric.shear *= between(in, 0.5, 1.6);
        fabric.bending[below(in, 2)] *= between(in, 0, 2);
        ON_EACH(calls, it, taut_solver_set_fabric(it, body, &fabric, NULL));
    }
}

static void set_gas(struct calls *calls, size_t body)
{
    struct input *in = &calls->input;
    taut_gas gas;
    if (taut_solver_get_gas(calls->solvers[0], body, &gas, NULL) != TAUT_OK)
        return;
    gas.amount *= between(in, 0.5, 1.6);
    gas.gamma = between(in, 1, 1.5);
    gas.inflate = between(in, 0.01, 1);
    ON_EACH(calls, it, taut_solver_set_gas(it, body, &gas, NULL));
}

static void set_environment(struct calls *calls)
{
    struct input *in = &calls->input;
    taut_wind wind;
    if (below(in, 2) == 0 && taut_solver_get_wind(calls->solvers[0], &wind, NULL) == TAUT_OK) {
        wind.velocity[0] = between(in, -5, 5);
        wind.drag *= between(in, 0.5, 1.5);
        ON_EACH(calls, it, taut_solver_set_wind(it, &wind, NULL));
    } else if (below(in, 2) == 0) {
        const double gravity[3] = {between(in, -1, 1), between(in, -10, 1), 0};
        ON_EACH(calls, it, taut_solver_set_gravity(it, gravity, NULL));
    } else {
        const double drag = between(in, -0.001, 0.01);
        ON_EACH(calls, it, taut_solver_set_air_drag(it, drag, NULL));
    }
}

static void set_collider(struct calls *calls)
{
    struct input *in = &calls->input;
    const size_t collider = below(in, 3);
    taut_contact contact;
    if (below(in, 2) == 0) {
        const double to[3] = {between(in, -0.2, 0.4), between(in, -0.8, -0.3), 0};
        const double velocity[3] = {between(in, -1, 1), 0, 0};
        if (below(in, 2) == 0) {
            ON_EACH(calls, it, taut_solver_set_sphere(it, collider, to, velocity, NULL));
        } else {
            ON_EACH(calls, it, taut_solver_set_sphere_target(it, collider, to, 0.05, NULL));
        }
    } else if (taut_solver_get_contact(calls->solvers[0], collider, &contact, NULL) == TAUT_OK) {
        contact.stiffness *= between(in, 0.5, 1.5);
        contact.friction = between(in, 0, 0.02);
        contact.absorption *= between(in, 0, 2);
        contact.restitution = between(in, 0, 1);
        contact.friction_static = contact.friction_kinetic = between(in, 0, 0.6);
        ON_EACH(calls, it, taut_solver_set_contact(it, collider, &contact, NULL));
    }
}

// Compares the results of a call on all solvers.
static const char *compare(const struct calls *calls, const void *first, size_t size,
                           const char *difference)
{
    for (size_t i = 1; i < calls->count && calls->status == TAUT_OK; i++)
        if (memcmp(first, (const char *)first + i * size, size) != 0)
            return difference;
    return NULL;
}

// Bit by bit, but for what lies between the members.
static bool points_are_same(const taut_contact_point *a, const taut_contact_point *b)
{
    const void *one = a->friction_force, *other = b->friction_force;
    return memcmp(a, b, offsetof(taut_contact_point, friction)) == 0 &&
           a->friction == b->friction && memcmp(one, other, sizeof a->friction_force) == 0;
}

static const char *read_results(struct calls *calls)
{
    struct input *in = &calls->input;
    taut_critical_step steps[SOLVERS];
    taut_energy energies[SOLVERS];
    memset(steps, 0, sizeof steps);
    memset(energies, 0, sizeof energies);
    switch (below(in, 4)) {
    case 0: {
        const int computed = (int)below(in, 2);
        ON_EACH(calls, it, taut_solver_critical_step(it, computed, &steps[each], NULL));
        return compare(calls, steps, sizeof *steps, "critical steps");
    }
    case 1: {
        double volumes[SOLVERS];
        const size_t body = below(in, 3);
        calls->status = TAUT_OK;
        for (size_t i = 0; i < calls->count; i++)
            volumes[i] = taut_solver_body_volume(calls->solvers[i], body);
        return compare(calls, volumes, sizeof *volumes, "volumes");
    }
    case 2: {
        static taut_contact_point points[SOLVERS][POINTS];
        uint64_t counts[SOLVERS] = {0};
        ON_EACH(calls, it,
                taut_solver_get_contact_points(it, POINTS, points[each], &counts[each], NULL));
        const char *difference = compare(calls, counts, sizeof *counts, "numbers of contacts");
        for (size_t i = 1; i < calls->count && calls->status == TAUT_OK && !difference; i++)
            for (size_t k = 0; k < POINTS && k < counts[0]; k++)
                if (!points_are_same(&points[0][k], &points[i][k]))
                    difference = "contacts";
        return difference;
    }
    default:
        ON_EACH(calls, it, taut_solver_energy(it, &energies[each], NULL));
        return compare(calls, energies, sizeof *energies, "energies");
    }
}

// Replaces the third solver by one restored from the first. All are saved: settings take effect
// then, and dt: auto may follow two changes by another dt than both at once.
static const char *restore(struct calls *calls)
{
    void *bytes[SOLVERS] = {NULL};
    size_t sizes[SOLVERS] = {0};
    taut_solver *restored = NULL;
    const taut_config config = {.threads = 2};
    ON_EACH(calls, it, taut_solver_save_memory(it, &bytes[each], &sizes[each], NULL));
    const char *difference = calls->status == TAUT_OK ? NULL : "a checkpoint was refused";
    for (size_t i = 1; i < calls->count && !difference; i++)
        if (sizes[i] != sizes[0] || memcmp(bytes[i], bytes[0], sizes[0]) != 0)
            difference = "checkpoints";
    if (!difference && taut_solver_restore_memory(calls->scene, bytes[0], sizes[0], &config,
                                                  &restored, NULL) != TAUT_OK)
        difference = "a checkpoint could not be restored";
    for (size_t i = 0; i < calls->count; i++)
        taut_bytes_release(bytes[i]);
    if (!restored)
        return difference;
    if (calls->count == SOLVERS)
        taut_solver_destroy(calls->solvers[SOLVERS - 1]);
    calls->solvers[SOLVERS - 1] = restored;
    calls->count = SOLVERS;
    return difference;
}

// Constants that were set take effect in the next step, dt: auto with them: only then are solvers
// compared.
static const char *step(struct calls *calls)
{
    const uint64_t steps = 1 + below(&calls->input, 40);
    double values[SOLVERS][2];
    uint64_t hashes[SOLVERS];
    ON_EACH(calls, it, taut_solver_step(it, steps, NULL));
    for (size_t i = 0; i < calls->count; i++) {
        values[i][0] = taut_solver_time(calls->solvers[i]);
        values[i][1] = taut_solver_dt(calls->solvers[i]);
        hashes[i] = taut_solver_hash(calls->solvers[i]);
    }
    const char *const found = compare(calls, hashes, sizeof *hashes, "hashes");
    return found ? found : compare(calls, values, sizeof *values, "times");
}

static const char *make_call(struct calls *calls)
{
    const size_t body = below(&calls->input, 3); // one more than most scenes have
    calls->status = TAUT_OK;
    switch (below(&calls->input, 12)) {
    case 0:
    case 1:
        set_material(calls, body);
        return NULL;
    case 2:
        set_solid(calls, body);
        return NULL;
    case 3:
        set_gas(calls, body);
        return NULL;
    case 4:
        set_environment(calls);
        return NULL;
    case 5:
        set_collider(calls);
        return NULL;
    case 6: {
        const double dt = between(&calls->input, -1e-5, 5e-4);
        if (below(&calls->input, 4) == 0) { // rarely: it turns dt: auto off
            ON_EACH(calls, it, taut_solver_set_dt(it, dt, NULL));
        }
        return NULL;
    }
    case 7:
        return restore(calls);
    case 8:
    case 9:
        return read_results(calls);
    default:
        return step(calls);
    }
}

const char *calls_make(const uint8_t *bytes, size_t size)
{
    struct calls calls = {.input = {bytes, size, 0}};
    const char *const text = scenes[below(&calls.input, calls_scene_count)];
    const char *difference = NULL;
    if (taut_scene_parse(text, strlen(text), "calls.yaml", NULL, &calls.scene, NULL) != TAUT_OK)
        return "the scene was refused";
    for (; calls.count < 2 && !difference; calls.count++) {
        const taut_config config = {.threads = calls.count == 0 ? 1 : 3};
        if (taut_solver_create(calls.scene, &config, &calls.solvers[calls.count], NULL) != TAUT_OK)
            difference = "a solver was refused";
    }
    while (!difference && calls.input.position < size) {
        difference = make_call(&calls);
        if ((int)calls.status == STATUS_DIFFERS)
            difference = "statuses";
        if (calls.status == TAUT_ERROR_DIVERGED || calls.status == TAUT_ERROR_COLLAPSED)
            break;
    }
    for (size_t i = 0; i < calls.count; i++)
        taut_solver_destroy(calls.solvers[i]);
    taut_scene_destroy(calls.scene);
    return difference;
}
