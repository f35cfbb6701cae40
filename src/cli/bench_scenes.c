#include "cli/bench_scenes.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/text.h"
#include "cli/bench_network.h"
#include "scene/reader.h"

// The sizes of docs/performance.md: 500 x 520 nodes of cloth, 66 x 66 x 66 of jelly. The ball is an
// icosphere of 7 subdivisions.
const struct bench_scene bench_scenes[BENCH_SCENES] = {
    {"rope", BENCH_ROPE, true, 40000, 0, NULL},
    {"cloth", BENCH_CLOTH, true, 1560000, 0, "cloth"},
    {"cloth-wind", BENCH_CLOTH, true, 1560000, BENCH_WIND | BENCH_EXTRA | BENCH_NO_PLAIN, "cloth"},
    {"cloth-undamped", BENCH_CLOTH, false, 1560000, 0, NULL},
    {"cloth-large", BENCH_CLOTH, true, 12600000, BENCH_EXTRA | BENCH_NO_PLAIN, NULL},
    {"jelly26", BENCH_JELLY_26, true, 3737448, 0, NULL},
    {"jelly26-undamped", BENCH_JELLY_26, false, 3737448, 0, NULL},
    {"jelly52", BENCH_JELLY_52, true, 7474896, 0, NULL},
    {"jelly52-undamped", BENCH_JELLY_52, false, 7474896, 0, NULL},
    {"jelly-large", BENCH_JELLY_26, true, 53248000, BENCH_EXTRA | BENCH_NO_PLAIN, NULL},
    {"ball", BENCH_BALL, true, 491520, 0, "ball"},
    {"ball-airless", BENCH_BALL, true, 491520, BENCH_AIRLESS | BENCH_EXTRA, "ball"},
    {"ball-undamped", BENCH_BALL, false, 491520, BENCH_AIRLESS | BENCH_EXTRA, "ball"},
    {"network", BENCH_NETWORK, true, 1437696, 0, "network"},
    {"shuffled", BENCH_SHUFFLED, true, 1437696, 0, "network"},
    {"network-undamped", BENCH_NETWORK, false, 1437696, BENCH_EXTRA, "network-undamped"},
    {"shuffled-undamped", BENCH_SHUFFLED, false, 1437696, 0, "network-undamped"},
    {"holes", BENCH_SHUFFLED, true, 1437696, BENCH_HOLES | BENCH_EXTRA, NULL},
    {"holes-undamped", BENCH_SHUFFLED, false, 1437696, BENCH_HOLES | BENCH_EXTRA, NULL},
};

// Node masses, stiffnesses and dt do not change with the size, and stay well below the critical
// step; gravity and pins keep everything moving, so that no step computes zeros.
#define HEAD                                                                                       \
    "precision: %s\n"                                                                              \
    "simulation: {integrator: symplectic_euler, dt: %s, steps: 1}\n"                               \
    "environment: {gravity: [0, -9.81, 0]}\n"                                                      \
    "output: {work: false}\n"                                                                      \
    "bodies:\n"

static uint64_t at_least_two(double count)
{
    return count < 2 ? 2 : (uint64_t)(count + 0.5);
}

static char *rope_text(const struct bench_scene *scene, uint64_t springs, const char *precision)
{
    uint64_t nodes = at_least_two((double)springs / 2);
    return text_format(HEAD "  - {name: rope, type: rope, from: [0, 0, 0], to: [%.17g, 0, 0],\n"
                            "     nodes: %" PRIu64 ", node_mass: 0.001, links: skip,\n"
                            "     pins: [first], spring: {stiffness: 100, damping: %s}}\n",
                       precision, "0.0001", 0.01 * (double)(nodes - 1), nodes,
                       scene->damped ? "0.01" : "0");
}

static char *cloth_text(const struct bench_scene *scene, uint64_t springs, const char *precision)
{
    double nodes = (double)springs / 6;
    uint64_t nv = at_least_two(sqrt(1.04 * nodes)), nu = at_least_two(nodes / (double)nv);
    const char *damping = scene->damped ? "0.001" : "0";
    return text_format(HEAD "  - {name: cloth, type: cloth, u: [%.17g, 0, 0], v: [0, 0, %.17g],\n"
                            "     nodes: [%" PRIu64 ", %" PRIu64 "], node_mass: 0.00008,\n"
                            "     pins: [left],\n"
                            "     springs: {structural: {stiffness: 400, damping: %s},\n"
                            "               shear: {stiffness: 400, damping: %s},\n"
                            "               bend: {stiffness: 40, damping: %s}}}\n",
                       precision, "0.0001", 0.02 * (double)(nu - 1), 0.02 * (double)(nv - 1), nu,
                       nv, damping, damping, damping);
}

static uint64_t lattice_side(uint64_t springs, int per_node)
{
    return at_least_two(cbrt((double)springs / per_node));
}

static char *jelly_text(const struct bench_scene *scene, uint64_t springs, const char *precision)
{
    int shells = scene->shape == BENCH_JELLY_52 ? 2 : 1;
    uint64_t n = lattice_side(springs, 13 * shells);
    const char *outer = shells == 2 ? ", kb1: {stiffness: 60}, kb2: {stiffness: 48},\n"
                                      "               kb3: {stiffness: 36}"
                                    : "";
    return text_format(HEAD "  - {name: jelly, type: lattice, nodes: [%" PRIu64 ", %" PRIu64
                            ", %" PRIu64 "],\n"
                            "     origin: [0, 0, 0], spacing: 0.05, node_mass: 0.002, shells: %d,\n"
                            "     pins: [bottom], damping: %s,\n"
                            "     springs: {k1: {stiffness: 300}, k2: {stiffness: 240},\n"
                            "               k3: {stiffness: 180}%s}}\n",
                       precision, "0.0002", n, n, n, shells, scene->damped ? "0.05" : "0", outer);
}

static char *ball_text(const struct bench_scene *scene, uint64_t springs, const char *precision)
{
    int subdivisions = 0; // an icosphere has 30 * 4^subdivisions edges; up to the nearest by ratio
    while (subdivisions < 10 && 60.0 * pow(4, subdivisions) < (double)springs)
        subdivisions++;
    return text_format(HEAD "  - {name: ball, type: sphere, center: [0, 0, 0], radius: 1,\n"
                            "     subdivisions: %d, node_mass: 0.0001,\n"
                            "     springs: {edges: {stiffness: 300, damping: %s}},\n"
                            "     pressure: {amount: 10, inflate: 0.01}}\n",
                       precision, "0.0001", subdivisions, scene->damped ? "0.001" : "0");
}

// Two nodes and a spring; the lists are put in their place afterwards.
static char *network_text(const struct bench_scene *scene, const char *precision)
{
    return text_format(HEAD "  - {name: network, type: network, nodes: [[0, 0, 0], [1, 0, 0]],\n"
                            "     node_mass: [1, 1], pins: [0],\n"
                            "     springs: [[0, 1, {stiffness: 240, damping: %s}]]}\n",
                       precision, "0.0002", scene->damped ? "0.05" : "0");
}

static char *scene_text(const struct bench_scene *scene, uint64_t springs, const char *precision)
{
    switch (scene->shape) {
    case BENCH_ROPE:
        return rope_text(scene, springs, precision);
    case BENCH_CLOTH:
        return cloth_text(scene, springs, precision);
    case BENCH_JELLY_26:
    case BENCH_JELLY_52:
        return jelly_text(scene, springs, precision);
    case BENCH_BALL:
        return ball_text(scene, springs, precision);
    default:
        return network_text(scene, precision);
    }
}

taut_scene *bench_scene_make(const struct bench_scene *scene, uint64_t springs,
                             enum precision precision, taut_error *error)
{
    char *text = scene_text(scene, springs, precision == PRECISION_DOUBLE ? "double" : "single");
    if (!text) {
        fail_memory(error, "the scene");
        return NULL;
    }
    struct diagnostics findings = {0};
    taut_scene *made = scene_read_text(text, strlen(text), scene->name, NULL, 0, &findings);
    free(text);
    if (!made)
        fail(error, TAUT_ERROR_SCENE, "scene '%s': %s", scene->name,
             findings.count > 0 ? findings.items[0].text : "it is not sound");
    diagnostics_free(&findings);
    if (made && scene->traits & BENCH_WIND)
        made->environment.wind = (struct scene_wind){
            .present = true,
            .velocity = {0.5, 0.3, 0.2},
            .law = WIND_FACE,
            .coefficient = 1e-4,
            .relative = true,
        };
    if (made && scene->traits & BENCH_AIRLESS)
        made->bodies[0].pressure.present = false;
    bool network = scene->shape == BENCH_NETWORK || scene->shape == BENCH_SHUFFLED;
    if (made && network &&
        !bench_network_fill(&made->bodies[0].shape.network, lattice_side(springs, 13),
                            scene->shape == BENCH_SHUFFLED, scene->traits & BENCH_HOLES)) {
        fail_memory(error, "the scene");
        scene_free(made);
        return NULL;
    }
    return made;
}
