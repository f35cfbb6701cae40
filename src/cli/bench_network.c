#include "cli/bench_network.h"

#include <stdlib.h>
#include <string.h>

struct lists {
    uint64_t side, node_count, spring_count;
    bool holes;
    uint64_t seed;    // of the holes
    uint32_t *number; // of the lattice's node
    vec3 *positions;
    double *masses;
    uint32_t (*springs)[2];
    uint32_t *materials;
};

// splitmix64 (Steele, Lea and Flood 2014): the same numbers everywhere.
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
        uint32_t held = lists->number[i - 1];
        lists->number[i - 1] = lists->number[j];
        lists->number[j] = held;
    }
}

static void shuffle_springs(struct lists *lists, uint64_t *seed)
{
    for (uint64_t i = lists->spring_count; i > 1; i--) {
        uint64_t j = random_below(seed, i);
        uint32_t held[2];
        memcpy(held, lists->springs[i - 1], sizeof held);
        memcpy(lists->springs[i - 1], lists->springs[j], sizeof held);
        memcpy(lists->springs[j], held, sizeof held);
    }
}

// The 13 steps whose first component that is not 0, from z to x, is positive.
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

static void fill(struct lists *lists)
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

// The old lists go; there are no marks, because no line of a file is meant.
static void take(struct scene_network *network, const struct lists *lists)
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

bool bench_network_fill(struct scene_network *network, uint64_t side, bool shuffled, bool holes)
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
    fill(&lists);
    if (shuffled)
        shuffle_springs(&lists, &seed);
    free(lists.number);
    take(network, &lists);
    return true;
}
