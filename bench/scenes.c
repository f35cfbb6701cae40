// Builds the scenes of scenes.h: YAML texts at a given size, and lists of springs for networks.
#include "bench/scenes.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/text.h"

// The sizes of docs/performance.md: 500 x 520 nodes of cloth, 66 x 66 x 66 of jelly. The ball is an
// icosphere of 7 subdivisions.
const struct bench_scene bench_scenes[BENCH_SCENES] = {
    {"rope", BENCH_ROPE, true, 40000, 0},
    {"cloth", BENCH_CLOTH, true, 1560000, 0},
    {"cloth-wind", BENCH_CLOTH, true, 1560000, BENCH_WIND | BENCH_EXTRA | BENCH_NO_PLAIN},
    {"cloth-collider", BENCH_CLOTH, true, 1560000, BENCH_COLLIDER | BENCH_EXTRA | BENCH_NO_PLAIN},
    {"cloth-contact", BENCH_CLOTH, true, 1560000, BENCH_CONTACT | BENCH_EXTRA | BENCH_NO_PLAIN},
    {"layers", BENCH_LAYERS, true, 3000000, BENCH_CONTACT | BENCH_EXTRA | BENCH_NO_PLAIN},
    {"cloth-undamped", BENCH_CLOTH, false, 1560000, 0},
    {"cloth-large", BENCH_CLOTH, true, 12600000, BENCH_EXTRA | BENCH_NO_PLAIN},
    {"jelly26", BENCH_JELLY_26, true, 3737448, 0},
    {"jelly26-undamped", BENCH_JELLY_26, false, 3737448, 0},
    {"jelly52", BENCH_JELLY_52, true, 7474896, 0},
    {"jelly52-undamped", BENCH_JELLY_52, false, 7474896, 0},
    {"jelly-large", BENCH_JELLY_26, true, 53248000, BENCH_EXTRA | BENCH_NO_PLAIN},
    {"ball", BENCH_BALL, true, 491520, 0},
    {"ball-airless", BENCH_BALL, true, 491520, BENCH_AIRLESS | BENCH_EXTRA},
    {"ball-undamped", BENCH_BALL, false, 491520, BENCH_AIRLESS | BENCH_EXTRA},
    {"network", BENCH_NETWORK, true, 1437696, 0},
    {"shuffled", BENCH_SHUFFLED, true, 1437696, 0},
    {"network-undamped", BENCH_NETWORK, false, 1437696, BENCH_EXTRA},
    {"shuffled-undamped", BENCH_SHUFFLED, false, 1437696, 0},
    {"holes", BENCH_SHUFFLED, true, 1437696, BENCH_HOLES | BENCH_EXTRA},
    {"holes-undamped", BENCH_SHUFFLED, false, 1437696, BENCH_HOLES | BENCH_EXTRA},
};

// ---- The lists of a network, such as a mesh file might have

struct lists {
    uint64_t side, node_count, spring_count;
    bool holes;
    uint64_t seed;    // for the holes
    uint32_t *number; // per node of the lattice
    vec3 *positions;
    double *masses;
    uint32_t (*springs)[2];
    uint32_t *materials;
};

// splitmix64 (Steele, Lea and Flood 2014): the same sequence on every machine.
static uint64_t next_random(uint64_t *seed)
{
    uint64_t z = *seed += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

// The remainder favours small numbers by less than one in 2^32.
static uint64_t random_below(uint64_t *seed, uint64_t bound)
{
    return next_random(seed) % bound;
}

static void shuffle_nodes(struct lists *lists, uint64_t *seed)
{
    for (uint64_t i = lists->node_count; i > 1; i--) {
        uint64_t j = random_below(seed, i);
        uint32_t swapped = lists->number[i - 1];
        lists->number[i - 1] = lists->number[j];
        lists->number[j] = swapped;
    }
}

static void shuffle_springs(struct lists *lists, uint64_t *seed)
{
    for (uint64_t i = lists->spring_count; i > 1; i--) {
        uint64_t j = random_below(seed, i);
        uint32_t swapped[2];
        memcpy(swapped, lists->springs[i - 1], sizeof swapped);
        memcpy(lists->springs[i - 1], lists->springs[j], sizeof swapped);
        memcpy(lists->springs[j], swapped, sizeof swapped);
    }
}

// The 13 offsets whose first nonzero component, from z to x, is positive.
static bool is_forward(int dx, int dy, int dz)
{
    return dz > 0 || (dz == 0 && (dy > 0 || (dy == 0 && dx > 0)));
}

static bool is_inside(const struct lists *lists, int64_t x, int64_t y, int64_t z)
{
    int64_t side = (int64_t)lists->side;
    return x >= 0 && y >= 0 && z >= 0 && x < side && y < side && z < side;
}

static void add_springs(struct lists *lists, int64_t x, int64_t y, int64_t z)
{
    int64_t side = (int64_t)lists->side, from = (z * side + y) * side + x;
    for (int d = 0; d < 27; d++) {
        int dx = d % 3 - 1, dy = d / 3 % 3 - 1, dz = d / 9 - 1;
        if (!is_forward(dx, dy, dz) || !is_inside(lists, x + dx, y + dy, z + dz))
            continue;
        if (lists->holes && random_below(&lists->seed, 10) == 0)
            continue;
        int64_t to = from + (dz * side + dy) * side + dx;
        lists->springs[lists->spring_count][0] = lists->number[from];
        lists->springs[lists->spring_count++][1] = lists->number[to];
    }
}

static void fill_lists(struct lists *lists)
{
    static const double SPACING = 0.05, NODE_MASS = 0.002; // m, kg
    uint64_t side = lists->side;
    for (uint64_t i = 0; i < lists->node_count; i++) {
        uint64_t x = i % side, y = i / side % side, z = i / side / side;
        uint32_t node = lists->number[i];
        lists->positions[node] =
            vec3_make(SPACING * (double)x, SPACING * (double)y, SPACING * (double)z);
        lists->masses[node] = NODE_MASS;
        add_springs(lists, (int64_t)x, (int64_t)y, (int64_t)z);
    }
}

static bool allocate(struct lists *lists)
{
    size_t nodes = (size_t)lists->node_count, springs = 13 * nodes;
    lists->number = malloc(nodes * sizeof *lists->number);
    lists->positions = malloc(nodes * sizeof *lists->positions);
    lists->masses = malloc(nodes * sizeof *lists->masses);
    lists->springs = malloc(springs * sizeof *lists->springs);
    lists->materials = calloc(springs, sizeof *lists->materials);
    return lists->number && lists->positions && lists->masses && lists->springs && lists->materials;
}

// Replaces the lists. There are no marks, because the springs have no lines in a file.
static void replace_lists(struct scene_network *network, const struct lists *lists)
{
    free(network->positions);
    free(network->masses);
    free(network->springs);
    free(network->spring_materials);
    free(network->spring_marks);
    network->positions = lists->positions;
    network->masses = lists->masses;
    network->node_count = lists->node_count;
    network->springs = lists->springs;
    network->spring_materials = lists->materials;
    network->spring_marks = NULL;
    network->spring_count = lists->spring_count;
}

// Replaces the lists of a network by those of a lattice of side^3 nodes with 26 neighbours; all
// springs get its first material. `shuffled`: nodes are renumbered and springs reordered at random,
// always in the same way. `holes`: one spring of ten, chosen at random, is left out. False, with
// the lists unchanged, if memory is short.
static bool fill_network(struct scene_network *network, uint64_t side, bool shuffled, bool holes)
{
    struct lists lists = {
        .side = side, .holes = holes, .seed = 2, .node_count = side * side * side};
    if (!allocate(&lists)) {
        free(lists.number);
        free(lists.positions);
        free(lists.masses);
        free(lists.springs);
        free(lists.materials);
        return false;
    }
    uint64_t seed = 1;
    for (uint64_t i = 0; i < lists.node_count; i++)
        lists.number[i] = (uint32_t)i;
    if (shuffled)
        shuffle_nodes(&lists, &seed);
    fill_lists(&lists);
    if (shuffled)
        shuffle_springs(&lists, &seed);
    free(lists.number);
    replace_lists(network, &lists);
    return true;
}

// ---- Scenes as text

// Node masses, stiffnesses and dt do not change with the size, and stay well below the critical
// step; gravity and pins keep everything moving, so that no step computes with zeros.
#define HEAD                                                                                       \
    "simulation: {integrator: symplectic_euler, dt: %s, steps: 1}\n"                               \
    "environment: {gravity: [0, -9.81, 0]}\n"                                                      \
    "output: {work: false}\n"                                                                      \
    "bodies:\n"

static uint64_t at_least_two(double count)
{
    return count < 2 ? 2 : (uint64_t)(count + 0.5);
}

static char *rope_text(const struct bench_scene *scene, uint64_t springs)
{
    uint64_t nodes = at_least_two((double)springs / 2);
    return text_format(HEAD "  - {name: rope, type: rope, from: [0, 0, 0], to: [%.17g, 0, 0],\n"
                            "     nodes: %" PRIu64 ", node_mass: 0.001, links: skip,\n"
                            "     pins: [first], spring: {stiffness: 100, damping: %s}}\n",
                       "0.0001", 0.01 * (double)(nodes - 1), nodes, scene->damped ? "0.01" : "0");
}

static char *cloth_text(const struct bench_scene *scene, uint64_t springs)
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
                       "0.0001", 0.02 * (double)(nu - 1), 0.02 * (double)(nv - 1), nu, nv, damping,
                       damping, damping);
}

// Layers of cells of 2 mm, 1.2 mm apart, where the thickness of 1 mm makes them touch; each is
// turned a little, so that edges are not parallel.
static char *layers_text(const struct bench_scene *scene, uint64_t springs)
{
    enum { LAYERS = 10 };
    static const double CELL = 0.002, GAP = 0.0012, TURN = 0.1; // m, m, radians
    const uint64_t side = at_least_two(sqrt((double)springs / 6 / LAYERS));
    const double length = CELL * (double)(side - 1);
    char *text = text_format(HEAD, "0.000002");
    for (int layer = 0; layer < LAYERS && text; layer++) {
        const double c = length * cos(TURN * layer), s = length * sin(TURN * layer);
        char *more = text_format(
            "%s  - {name: layer-%d, type: cloth, origin: [%.17g, %.17g, %.17g],\n"
            "     u: [%.17g, 0, %.17g], v: [%.17g, 0, %.17g], nodes: [%" PRIu64 ", %" PRIu64 "],\n"
            "     node_mass: 0.0000008, damping: %s,\n"
            "     springs: {structural: {stiffness: 400}, shear: {stiffness: 400},\n"
            "               bend: {stiffness: 40}}}\n",
            text, layer, -(c - s) / 2, GAP * layer, -(s + c) / 2, c, s, -s, c, side, side,
            scene->damped ? "0.00001" : "0");
        free(text);
        text = more;
    }
    return text;
}

static uint64_t lattice_side(uint64_t springs, int per_node)
{
    return at_least_two(cbrt((double)springs / per_node));
}

static char *jelly_text(const struct bench_scene *scene, uint64_t springs)
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
                       "0.0002", n, n, n, shells, scene->damped ? "0.05" : "0", outer);
}

static char *ball_text(const struct bench_scene *scene, uint64_t springs)
{
    int subdivisions = 0; // an icosphere has 30 * 4^subdivisions edges; the nearest size by ratio
    while (subdivisions < 10 && 60.0 * pow(4, subdivisions) < (double)springs)
        subdivisions++;
    return text_format(HEAD "  - {name: ball, type: sphere, center: [0, 0, 0], radius: 1,\n"
                            "     subdivisions: %d, node_mass: 0.0001,\n"
                            "     springs: {edges: {stiffness: 300, damping: %s}},\n"
                            "     pressure: {amount: 10, inflate: 0.01}}\n",
                       "0.0001", subdivisions, scene->damped ? "0.001" : "0");
}

// Two nodes and a spring; fill_network replaces the lists afterwards.
static char *network_text(const struct bench_scene *scene)
{
    return text_format(HEAD "  - {name: network, type: network, nodes: [[0, 0, 0], [1, 0, 0]],\n"
                            "     node_mass: [1, 1], pins: [0],\n"
                            "     springs: [[0, 1, {stiffness: 240, damping: %s}]]}\n",
                       "0.0002", scene->damped ? "0.05" : "0");
}

static char *scene_text(const struct bench_scene *scene, uint64_t springs)
{
    switch (scene->shape) {
    case BENCH_ROPE:
        return rope_text(scene, springs);
    case BENCH_CLOTH:
        return cloth_text(scene, springs);
    case BENCH_JELLY_26:
    case BENCH_JELLY_52:
        return jelly_text(scene, springs);
    case BENCH_BALL:
        return ball_text(scene, springs);
    case BENCH_LAYERS:
        return layers_text(scene, springs);
    default:
        return network_text(scene);
    }
}

const struct bench_scene *bench_scene_find(const char *name)
{
    for (int s = 0; s < BENCH_SCENES; s++)
        if (strcmp(bench_scenes[s].name, name) == 0)
            return &bench_scenes[s];
    return NULL;
}

// Adds traits that the text of a shape does not have: wind, a ball without gas.
static void apply_traits(const struct bench_scene *scene, taut_scene *made)
{
    if (scene->traits & BENCH_WIND)
        made->environment.wind = (struct scene_wind){
            .present = true,
            .velocity = {0.5, 0.3, 0.2},
            .law = WIND_FACE,
            .coefficient = 1e-4,
            .relative = true,
        };
    if (scene->traits & BENCH_AIRLESS)
        made->bodies[0].pressure.present = false;
}

taut_scene *bench_scene_make(const struct bench_scene *scene, uint64_t springs,
                             const struct scene_override *overrides, size_t override_count,
                             taut_error *error)
{
    char *body = scene_text(scene, springs);
    const char *collider = "colliders:\n"
                           "  - {type: sphere, center: [0, -1000, 0], radius: 1, stiffness: 400}\n";
    const char *contact = scene->shape == BENCH_LAYERS
                              ? "contact: {thickness: 0.001, stiffness: 100}\n"
                              : "contact: {thickness: 0.002, stiffness: 100}\n";
    char *text = body ? text_format("%s%s%s", body, scene->traits & BENCH_COLLIDER ? collider : "",
                                    scene->traits & BENCH_CONTACT ? contact : "")
                      : NULL;
    free(body);
    if (!text) {
        fail_memory(error, "the scene");
        return NULL;
    }
    struct diagnostics findings = {0};
    taut_scene *made =
        scene_read_text(text, strlen(text), scene->name, overrides, override_count, &findings);
    free(text);
    if (!made)
        fail(error, TAUT_ERROR_SCENE, "scene '%s': %s", scene->name,
             findings.count > 0 ? findings.items[0].text : "it is not valid");
    diagnostics_free(&findings);
    if (!made)
        return NULL;
    apply_traits(scene, made);
    bool network = scene->shape == BENCH_NETWORK || scene->shape == BENCH_SHUFFLED;
    if (network && !fill_network(&made->bodies[0].shape.network, lattice_side(springs, 13),
                                 scene->shape == BENCH_SHUFFLED, scene->traits & BENCH_HOLES)) {
        fail_memory(error, "the scene");
        scene_free(made);
        return NULL;
    }
    return made;
}
