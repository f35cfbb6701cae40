// Writes the files of network.h: collects the kinds of springs, and prints nodes and springs.
#include "bench/peers/network.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/text.h"

struct kind {
    double stiffness, rest_length;
};

struct kinds {
    struct kind *items;
    size_t count, capacity;
};

struct nodes {
    double *positions; // x, y, z per node
    uint64_t count;
};

// Reads springs in order. Nodes have builder numbers, like the positions.
struct reading {
    const struct topology *topology;
    struct spring_run near;
};

static struct kind spring_read(struct reading *reading, uint64_t spring, uint32_t ends[2])
{
    struct spring_run run = topology_spring_near(reading->topology, spring, &reading->near);
    ends[0] = (uint32_t)topology_builder_node(reading->topology, run.a);
    ends[1] = (uint32_t)topology_builder_node(reading->topology, run.b);
    return (struct kind){
        reading->topology->materials[run.material].stiffness,
        // Rounded, so that lengths which differ by rounding errors are one kind.
        (double)llround(run.rest_length * 1e14) * 1e-14,
    };
}

static bool is_fixed(const struct topology *topology, uint64_t outside)
{
    return topology_is_kinematic(topology, topology_internal_node(topology, outside));
}

static int compare_kinds(const void *a, const void *b)
{
    const struct kind *x = a, *y = b;
    if (x->stiffness != y->stiffness)
        return x->stiffness < y->stiffness ? -1 : 1;
    return (x->rest_length > y->rest_length) - (x->rest_length < y->rest_length);
}

static void remove_duplicates(struct kinds *kinds)
{
    if (kinds->count > 0)
        qsort(kinds->items, kinds->count, sizeof *kinds->items, compare_kinds);
    size_t kept = 0;
    for (size_t i = 0; i < kinds->count; i++)
        if (kept == 0 || compare_kinds(&kinds->items[i], &kinds->items[kept - 1]) != 0)
            kinds->items[kept++] = kinds->items[i];
    kinds->count = kept;
}

// There are millions of springs and few kinds: duplicates are removed whenever the array is full,
// and it grows only if that frees too little.
static bool add_kind(struct kinds *kinds, struct kind kind)
{
    if (kinds->count == kinds->capacity) {
        remove_duplicates(kinds);
        size_t capacity = kinds->capacity ? kinds->capacity : 4096;
        if (2 * kinds->count > capacity || kinds->capacity == 0) {
            struct kind *grown = realloc(kinds->items, 2 * capacity * sizeof *grown);
            if (!grown)
                return false;
            kinds->items = grown;
            kinds->capacity = 2 * capacity;
        }
    }
    kinds->items[kinds->count++] = kind;
    return true;
}

static bool find_kinds(const struct topology *topology, struct kinds *kinds)
{
    struct reading reading = {.topology = topology};
    for (uint64_t i = 0; i < topology->spring_count; i++) {
        uint32_t ends[2];
        if (!add_kind(kinds, spring_read(&reading, i, ends)))
            return false;
    }
    remove_duplicates(kinds);
    return true;
}

static taut_status read_nodes(const taut_solver *solver, struct nodes *nodes, taut_error *error)
{
    const struct topology *topology = solver_topology(solver);
    nodes->count = topology->node_count;
    for (uint64_t i = 1; i < nodes->count; i++)
        if (topology_mass(topology, i) != topology_mass(topology, 0))
            return fail(error, TAUT_ERROR_UNSUPPORTED, "nodes of different masses");
    nodes->positions = malloc(3 * nodes->count * sizeof *nodes->positions);
    double *velocities = malloc(3 * nodes->count * sizeof *velocities);
    double *forces = malloc(3 * nodes->count * sizeof *forces);
    bool whole = nodes->positions && velocities && forces;
    if (whole)
        solver_read_nodes(solver, 0, nodes->count, nodes->positions, velocities, forces);
    free(velocities);
    free(forces);
    return whole ? TAUT_OK : fail_memory(error, "the nodes");
}

static void put_box(FILE *file, const struct nodes *nodes, double margin)
{
    static const char *const names[] = {"xlo xhi", "ylo yhi", "zlo zhi"};
    for (int axis = 0; axis < 3; axis++) {
        double low = INFINITY, high = -INFINITY;
        for (uint64_t i = 0; i < nodes->count; i++) {
            low = fmin(low, nodes->positions[3 * i + (size_t)axis]);
            high = fmax(high, nodes->positions[3 * i + (size_t)axis]);
        }
        fprintf(file, "%.17g %.17g %s\n", low - margin, high + margin, names[axis]);
    }
}

static void put_lammps(FILE *file, const struct topology *topology, const struct nodes *nodes,
                       const struct kinds *kinds)
{
    fprintf(file, "a network of taut\n\n%" PRIu64 " atoms\n%" PRIu64 " bonds\n", nodes->count,
            topology->spring_count);
    fprintf(file, "2 atom types\n%zu bond types\n", kinds->count);
    double longest = 0;
    for (size_t k = 0; k < kinds->count; k++)
        longest = fmax(longest, kinds->items[k].rest_length);
    put_box(file, nodes, 4 * longest);
    fprintf(file, "\nMasses\n\n1 %.17g\n2 %.17g\n\nBond Coeffs\n\n", topology_mass(topology, 0),
            topology_mass(topology, 0));
    for (size_t k = 0; k < kinds->count; k++) // its energy is K (r - r0)^2
        fprintf(file, "%zu %.17g %.17g\n", k + 1, kinds->items[k].stiffness / 2,
                kinds->items[k].rest_length);
    fprintf(file, "\nAtoms # bond\n\n");
    for (uint64_t i = 0; i < nodes->count; i++)
        fprintf(file, "%" PRIu64 " 1 %d %.17g %.17g %.17g\n", i + 1, is_fixed(topology, i) ? 2 : 1,
                nodes->positions[3 * i], nodes->positions[3 * i + 1], nodes->positions[3 * i + 2]);
    fprintf(file, "\nBonds\n\n");
    struct reading reading = {.topology = topology};
    for (uint64_t i = 0; i < topology->spring_count; i++) {
        uint32_t ends[2];
        struct kind kind = spring_read(&reading, i, ends);
        const struct kind *found =
            bsearch(&kind, kinds->items, kinds->count, sizeof kind, compare_kinds);
        fprintf(file, "%" PRIu64 " %td %" PRIu32 " %" PRIu32 "\n", i + 1, found - kinds->items + 1,
                ends[0] + 1, ends[1] + 1);
    }
}

static FILE *open_file(const char *prefix, const char *ending, taut_error *error)
{
    char *path = text_format("%s%s", prefix, ending);
    FILE *file = path ? fopen(path, "wb") : NULL;
    if (!file)
        fail(error, TAUT_ERROR_IO, "%s%s: it cannot be written", prefix, ending);
    free(path);
    return file;
}

static taut_status close_file(FILE *file, const char *prefix, taut_error *error)
{
    bool whole = !ferror(file);
    whole = fclose(file) == 0 && whole;
    return whole ? TAUT_OK : fail(error, TAUT_ERROR_IO, "%s: it was not written whole", prefix);
}

taut_status network_write_lammps(const taut_solver *solver, const char *prefix, taut_error *error)
{
    struct nodes nodes = {0};
    struct kinds kinds = {0};
    taut_status status = read_nodes(solver, &nodes, error);
    if (status == TAUT_OK && !find_kinds(solver_topology(solver), &kinds))
        status = fail_memory(error, "the kinds of springs");
    if (status == TAUT_OK) {
        FILE *file = open_file(prefix, ".data", error);
        if (file) {
            put_lammps(file, solver_topology(solver), &nodes, &kinds);
            status = close_file(file, prefix, error);
        } else {
            status = error->code;
        }
    }
    free(nodes.positions);
    free(kinds.items);
    return status;
}

static void put_binary(FILE *file, const taut_solver *solver, const struct nodes *nodes)
{
    const struct topology *topology = solver_topology(solver);
    uint64_t counts[2] = {nodes->count, topology->spring_count};
    double constants[2] = {taut_solver_dt(solver), topology_mass(topology, 0)};
    fwrite(counts, sizeof counts, 1, file);
    fwrite(constants, sizeof constants, 1, file);
    fwrite(nodes->positions, 3 * sizeof(double), (size_t)nodes->count, file);
    for (uint64_t i = 0; i < nodes->count; i++)
        fputc(is_fixed(topology, i), file);
    struct reading reading = {.topology = topology};
    for (uint64_t i = 0; i < topology->spring_count; i++) {
        uint32_t ends[2];
        spring_read(&reading, i, ends);
        fwrite(ends, sizeof ends, 1, file);
    }
}

taut_status network_write_binary(const taut_solver *solver, const char *prefix, taut_error *error)
{
    struct nodes nodes = {0};
    taut_status status = read_nodes(solver, &nodes, error);
    if (status == TAUT_OK) {
        FILE *file = open_file(prefix, ".bin", error);
        if (file) {
            put_binary(file, solver, &nodes);
            status = close_file(file, prefix, error);
        } else {
            status = error->code;
        }
    }
    free(nodes.positions);
    return status;
}
