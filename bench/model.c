// Adds up the bytes of the model (model.h), format by format, from the plan of a solver.
#include "bench/model.h"

#include <assert.h>

#include "base/sort.h"
#include "solver/internals.h"

// Values per node, in the precision of the run; the others in bytes.
enum {
    POSITION = 3,
    VELOCITY = 3,
    FORCE = 3,
    GRADIENT = 3,
    MASS = 1,
    ENDS = 8,
    MATERIAL = 4,
    FACE = 12
};
enum { FACE_BODY = 4, READ_AND_WRITTEN = 2 };

struct traffic {
    double reals, bytes;
};

static void add(struct traffic *traffic, double count, double reals, double bytes)
{
    traffic->reals += count * reals;
    traffic->bytes += count * bytes;
}

static bool wind_blows(const struct topology *topology)
{
    return topology->environment.wind.present && topology->face_count > 0;
}

// The values per node that wind reads and changes.
static double wind_reals(const struct topology *topology)
{
    return POSITION + (topology->environment.wind.relative ? VELOCITY : 0) + MASS +
           READ_AND_WRITTEN * FORCE;
}

// The nodes of rows that springs of other tiles reach.
static double waiting_nodes(const struct plan_tiling *tiling)
{
    assert(tiling->tiles_y > 0);
    uint64_t rows = 0;
    for (uint64_t number = 0; number < tiling_tile_count(tiling); number++) {
        struct plan_tile tile = tiling_tile(tiling, number);
        uint64_t layers = tile.k1 - tile.k0, height = tile.j1 - tile.j0;
        uint64_t below = tile.tz > 0 ? min_u64(tiling->above, layers) : 0;
        uint64_t beside = (tile.ty > 0 ? tiling->after : 0) +
                          (tile.ty + 1 < tiling->tiles_y ? tiling->before : 0);
        rows += below * height + (layers - below) * min_u64(beside, height);
    }
    return (double)(rows * tiling->nx);
}

static bool is_damped(const struct topology *topology, const struct plan_grid *grid)
{
    for (int d = 0; d < grid->direction_count; d++)
        if (topology->materials[grid->directions[d].material].damping > 0)
            return true;
    return false;
}

static void add_grid(const taut_solver *solver, const struct plan_grid *grid,
                     struct traffic *traffic)
{
    const struct topology *topology = solver_topology(solver);
    const struct topology_body *body = &topology->bodies[grid->body];
    double nodes = (double)body->node_count;
    add(traffic, nodes, READ_AND_WRITTEN * (POSITION + VELOCITY) + MASS, 0);
    double again = POSITION + (is_damped(topology, grid) ? VELOCITY : 0);
    add(traffic, waiting_nodes(&grid->tiling), READ_AND_WRITTEN * (FORCE + FORCE) + again, 0);
    if (wind_blows(topology) && plan_face_grid_of_body(solver_plan(solver), grid->body))
        add(traffic, nodes, wind_reals(topology) + READ_AND_WRITTEN * FORCE, 0);
}

static void add_packed(const taut_solver *solver, struct traffic *traffic)
{
    const struct plan_packed *packed = &solver_plan(solver)->packed;
    for (uint64_t t = 0; t < packed->tile_count; t++) {
        const struct packed_tile *tile = &packed->tiles[t];
        double springs = POSITION + (tile->damped ? VELOCITY : 0) + READ_AND_WRITTEN * FORCE;
        double gas = tile->ring_body != 0 ? READ_AND_WRITTEN * GRADIENT : 0;
        double motion = READ_AND_WRITTEN * (POSITION + VELOCITY + FORCE) + MASS;
        add(traffic, (double)tile->node_count, springs + gas + motion, 0);
    }
    if (packed->tile_count > 0) {
        add(traffic, (double)packed->slot_count, 1, 0);
        add(traffic, (double)packed_bytes(packed), 0, 1);
    }
}

// Gas that is not computed with the springs, and wind on faces in coloured blocks.
static void add_faces(const taut_solver *solver, size_t index, struct traffic *traffic)
{
    const struct topology_body *body = &solver_topology(solver)->bodies[index];
    double nodes = (double)body->node_count, faces = (double)body->face_count;
    const struct plan_rings *rings = plan_rings_of_body(solver_plan(solver), index);
    bool with_springs =
        packed_ring_tiles(&solver_plan(solver)->packed, solver_topology(solver), index) != NULL;
    if (body->pressure.present && !with_springs && rings) {
        add(traffic, nodes, POSITION + READ_AND_WRITTEN * (GRADIENT + FORCE), 0);
        add(traffic, (double)rings_bytes(rings), 0, 1);
    } else if (body->pressure.present && !with_springs) { // the volume, then the forces
        add(traffic, nodes, POSITION + POSITION + READ_AND_WRITTEN * FORCE, 0);
        add(traffic, faces, 0, FACE + FACE + FACE_BODY);
    }
    if (faces > 0 && wind_blows(solver_topology(solver)) &&
        !plan_face_grid_of_body(solver_plan(solver), index)) {
        add(traffic, nodes, wind_reals(solver_topology(solver)), 0);
        add(traffic, faces, 0, FACE);
    }
}

// Two sweeps, as for packed springs: one of blocks, each of which reads the records of its nodes
// and their neighbours, and one of motion.
static void add_coloured(const taut_solver *solver, struct traffic *traffic)
{
    const struct topology *topology = solver_topology(solver);
    const struct plan_coloured *coloured = &solver_plan(solver)->coloured;
    double motion = READ_AND_WRITTEN * (POSITION + VELOCITY + FORCE) + MASS;
    add(traffic, (double)topology->node_count, motion, 0);
    for (uint64_t b = 0; b < coloured->block_count; b++) {
        const struct coloured_block *block = &coloured->blocks[b];
        double springs = POSITION + (block->damped ? VELOCITY : 0) + READ_AND_WRITTEN * FORCE;
        add(traffic, (double)block->local_count, springs, 0);
    }
    add(traffic, (double)coloured->spring_count, 1, MATERIAL);
    add(traffic, (double)plan_coloured_bytes(coloured), 0, 1);
}

static void add_reference(const taut_solver *solver, struct traffic *traffic)
{
    const struct topology *topology = solver_topology(solver);
    double springs = POSITION + VELOCITY + READ_AND_WRITTEN * FORCE;
    double gravity = VELOCITY + READ_AND_WRITTEN * FORCE;
    double motion = READ_AND_WRITTEN * (POSITION + VELOCITY) + FORCE + MASS;
    add(traffic, (double)topology->node_count, FORCE + springs + gravity + motion, 0);
    add(traffic, (double)topology->mass_count, 0, sizeof(double));
    add(traffic, (double)topology->spring_count, 1, ENDS + MATERIAL);
}

double bench_model_bytes(const taut_solver *solver)
{
    const struct plan *plan = solver_plan(solver);
    struct traffic traffic = {0, 0};
    if (plan->reference) {
        add_reference(solver, &traffic);
    } else {
        add_packed(solver, &traffic);
        if (plan->coloured.block_count > 0)
            add_coloured(solver, &traffic);
        add(&traffic, (double)solver_topology(solver)->mass_count, MASS, 0); // for gravity
    }
    for (size_t g = 0; g < plan->grid_count; g++)
        add_grid(solver, &plan->grids[g], &traffic);
    for (size_t b = 0; b < solver_topology(solver)->body_count; b++)
        add_faces(solver, b, &traffic);
    if (solver_precision(solver) == PRECISION_MIXED) // low parts
        add(&traffic, (double)solver_topology(solver)->node_count,
            READ_AND_WRITTEN * (POSITION + VELOCITY), 0);
    return traffic.reals * (double)solver_real_bytes(solver) + traffic.bytes;
}
