#include "cli/bench_model.h"

#include <assert.h>

#include "base/extremes.h"
#include "solver.h"

// Numbers of the run's precision that a node has in these, and other things in bytes.
enum { PLACE = 3, SPEED = 3, FORCE = 3, GRADIENT = 3, MASS = 1, ENDS = 8, MATERIAL = 4, FACE = 12 };
enum { FACE_BODY = 4, READ_AND_WRITTEN = 2 };

struct moved {
    double reals, bytes;
};

static void add(struct moved *moved, double count, double reals, double bytes)
{
    moved->reals += count * reals;
    moved->bytes += count * bytes;
}

static bool wind_blows(const struct topology *topology)
{
    return topology->environment.wind.present && topology->face_count > 0;
}

// What wind reads and adds to.
static double wind_reals(const struct topology *topology)
{
    return PLACE + (topology->environment.wind.relative ? SPEED : 0) + MASS +
           READ_AND_WRITTEN * FORCE;
}

// Nodes of rows that springs of other tiles reach.
static double waiting_nodes(const struct plan_tiling *tiling)
{
    assert(tiling->tiles_y > 0);
    uint64_t rows = 0;
    for (uint64_t number = 0; number < tiling_tile_count(tiling); number++) {
        struct plan_tile tile = tiling_tile(tiling, number);
        uint64_t layers = tile.k1 - tile.k0, height = tile.j1 - tile.j0;
        uint64_t below = tile.tz > 0 ? smaller(tiling->above, layers) : 0;
        uint64_t beside = (tile.ty > 0 ? tiling->after : 0) +
                          (tile.ty + 1 < tiling->tiles_y ? tiling->before : 0);
        rows += below * height + (layers - below) * smaller(beside, height);
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

static void add_grid(const taut_solver *solver, const struct plan_grid *grid, struct moved *moved)
{
    const struct topology *topology = solver->topology;
    const struct topology_body *body = &topology->bodies[grid->body];
    double nodes = (double)body->node_count;
    add(moved, nodes, READ_AND_WRITTEN * (PLACE + SPEED) + MASS, 0);
    double again = PLACE + (is_damped(topology, grid) ? SPEED : 0);
    add(moved, waiting_nodes(&grid->tiling), READ_AND_WRITTEN * (FORCE + FORCE) + again, 0);
    if (wind_blows(topology) && plan_face_grid_of_body(solver->plan, grid->body))
        add(moved, nodes, wind_reals(topology) + READ_AND_WRITTEN * FORCE, 0);
}

static void add_packed(const taut_solver *solver, struct moved *moved)
{
    const struct plan_packed *packed = &solver->plan->packed;
    for (uint64_t t = 0; t < packed->tile_count; t++) {
        const struct packed_tile *tile = &packed->tiles[t];
        double springs = PLACE + (tile->damped ? SPEED : 0) + READ_AND_WRITTEN * FORCE;
        double gas = tile->ring_body != 0 ? READ_AND_WRITTEN * GRADIENT : 0;
        double motion = READ_AND_WRITTEN * (PLACE + SPEED + FORCE) + MASS;
        add(moved, (double)tile->node_count, springs + gas + motion, 0);
    }
    if (packed->tile_count > 0) {
        add(moved, (double)packed->slot_count, 1, 0);
        add(moved, (double)packed_bytes(packed), 0, 1);
    }
}

// Gas that does not go with the springs, and wind on faces in blocks.
static void add_faces(const taut_solver *solver, size_t index, struct moved *moved)
{
    const struct topology_body *body = &solver->topology->bodies[index];
    double nodes = (double)body->node_count, faces = (double)body->face_count;
    const struct plan_rings *rings = plan_rings_of_body(solver->plan, index);
    bool with_springs = packed_ring_tiles(&solver->plan->packed, solver->topology, index) != NULL;
    if (body->pressure.present && !with_springs && rings) {
        add(moved, nodes, PLACE + READ_AND_WRITTEN * (GRADIENT + FORCE), 0);
        add(moved, (double)rings_bytes(rings), 0, 1);
    } else if (body->pressure.present && !with_springs) { // the volume, then the forces
        add(moved, nodes, PLACE + PLACE + READ_AND_WRITTEN * FORCE, 0);
        add(moved, faces, 0, FACE + FACE + FACE_BODY);
    }
    if (faces > 0 && wind_blows(solver->topology) && !plan_face_grid_of_body(solver->plan, index)) {
        add(moved, nodes, wind_reals(solver->topology), 0);
        add(moved, faces, 0, FACE);
    }
}

static void add_plain_loops(const taut_solver *solver, struct moved *moved)
{
    const struct topology *topology = solver->topology;
    double springs = PLACE + SPEED + READ_AND_WRITTEN * FORCE;
    double gravity = SPEED + READ_AND_WRITTEN * FORCE;
    double motion = READ_AND_WRITTEN * (PLACE + SPEED) + FORCE + MASS;
    add(moved, (double)topology->node_count, FORCE + springs + gravity + motion, 0);
    add(moved, (double)topology->mass_count, 0, sizeof(double));
    add(moved, (double)topology->spring_count, 1, ENDS + MATERIAL);
}

double bench_model_bytes(const taut_solver *solver)
{
    const struct plan *plan = solver->plan;
    struct moved moved = {0, 0};
    if (plan->reference) {
        add_plain_loops(solver, &moved);
    } else {
        add_packed(solver, &moved);
        add(&moved, (double)solver->topology->mass_count, MASS, 0); // for gravity
    }
    for (size_t g = 0; g < plan->grid_count; g++)
        add_grid(solver, &plan->grids[g], &moved);
    for (size_t b = 0; b < solver->topology->body_count; b++)
        add_faces(solver, b, &moved);
    return moved.reals * (double)solver->functions->real_bytes + moved.bytes;
}
