// Estimates by formula how much memory a scene needs, before anything is built, and compares it
// with the available memory. Without the estimate an allocation would fail late, after minutes of
// building, or not at all: a system that overcommits kills the process when the pages are touched.
#include "solver/private.h"

#include <math.h>
#include <stdio.h>

#include "parallel/machine.h"
#include "parallel/quota.h"
#include "scene/direction.h"
#include "stability/hessenberg.h"

// ---- What is allocated now, and the maximum

struct ledger {
    double now, most;
};

static void take(struct ledger *ledger, double bytes)
{
    ledger->now += bytes;
    ledger->most = fmax(ledger->most, ledger->now);
}

static void drop(struct ledger *ledger, double bytes)
{
    ledger->now -= bytes;
}

// Allocates and frees.
static void touch(struct ledger *ledger, double bytes)
{
    take(ledger, bytes);
    drop(ledger, bytes);
}

// ---- Counts of the scene

struct census {
    const taut_scene *scene;
    bool packs, reference;       // as in struct plan
    bool spring_grids, coloured; // as in struct plan_options
    double real;                 // bytes per number
    double nodes, springs, faces;
    double listed, listed_faces; // in the topology's lists
    double massed;               // nodes of bodies that list masses
    double off_grid;             // nodes of bodies that the kernels do not compute as grids
    double planned;              // springs on no such grid, listed or not
    double remembered;           // springs of grids that break or yield
    double fragile;              // planned springs that break or yield
    double columns, gathered;    // of packed springs, and those of them that gather
    double mixed;                // and those with several materials
    double blocked_faces;        // faces in blocks
    double ringed, ring_faces;   // nodes and faces of bodies with gas that have vertex rings
    double outlines;             // faces of plane bodies
    double grids;                // bodies that are grids
    double grid_numbers;         // nodes of grids times their directions
    double lined;                // slots in the lines solved by implicit integrators
    double halo;                 // nodes whose contributions are exchanged between tiles
    bool renumbers, sorts, breaks, yields, gas, penalty, projects;
    int listing; // bodies that list springs
    bool one_kind;
};

static bool any_material(const struct scene_body *body, bool (*is)(const struct material *))
{
    if (body->type == BODY_NETWORK) {
        const struct scene_network *network = &body->shape.network;
        for (size_t i = 0; i < network->material_count; i++)
            if (is(&network->materials[i]))
                return true;
        return network->nodes_path && is(&body->common);
    }
    for (size_t kind = 0; kind < SPRING_KINDS_MAX; kind++)
        if (body->kinds[kind].present && is(&body->kinds[kind].material))
            return true;
    return false;
}

static bool breaks(const struct material *material)
{
    return isfinite(material->break_at);
}

static bool yields(const struct material *material)
{
    return isfinite(material->yield_at);
}

// springs/grid/plan.c: rows of at least four nodes.
enum { ROW_MIN = 4, NODES_RENUMBERED_MIN = 256 };

static bool is_grid(const struct census *census, const struct body_size *size)
{
    return census->spring_grids && size->directions > 0 && size->grid[0] >= ROW_MIN &&
           size->springs > 0;
}

// Bodies whose renumbering nearly always improves on the builder's numbering (topology/reorder.h):
// rings and complete graphs already have constant strides.
static bool is_renumbered(const struct body_size *size)
{
    return size->directions == 0 && size->springs > 0 && size->nodes >= NODES_RENUMBERED_MIN &&
           (size->is_surface || size->type == BODY_NETWORK);
}

// Lanes that a chunk of 16 nodes needs per end of a spring (packed/plan.h), and the fraction of
// columns that gather: measured on the plans of bodies of each kind.
static double lanes_a_half(const struct body_size *size)
{
    double springs_a_node = size->springs / size->nodes;
    if (size->is_surface) // edges only, with bending springs, with all second neighbours
        return 1.05 + 0.06 * fmax(0, springs_a_node - 3);
    return size->type == BODY_NETWORK ? 1.3 : 1.05;
}

static double gathered_share(const struct body_size *size)
{
    return size->is_surface ? 0.25 : size->type == BODY_NETWORK ? 0.6 : 0.02;
}

// For networks whose springs each have their own material; a guess for files.
static double mixed_share(const struct scene_body *body)
{
    if (body->type != BODY_NETWORK)
        return 0;
    const struct scene_network *network = &body->shape.network;
    return network->nodes_path ? 0.3 : network->material_count > 8 ? 1 : 0;
}

// springs/grid/sweep.c: reactions exchanged between tiles.
static double halo_of(const struct body_size *size)
{
    int x = (int)size->reach[0], y = (int)size->reach[1], z = (int)size->reach[2];
    struct plan_grid grid = {
        .nx = size->grid[0],
        .ny = size->grid[1],
        .nz = size->grid[2],
        .directions = {{.dx = x}, {.dy = y}, {.dy = z > 0 ? -y : 0, .dz = z}},
        .direction_count = 3,
    };
    if (size->type == BODY_CLOTH || size->type == BODY_ROPE)
        grid.directions[2].dx = x;
    struct plan_tiling tiling;
    tiling_make(&grid, &tiling);
    double tiles = (double)tiling_tile_count(&tiling);
    double rows = ceil((double)tiling.ny / (double)tiling.tiles_y);
    double layers = ceil((double)tiling.nz / (double)tiling.tiles_z);
    double around = (double)(tiling.before + tiling.after);
    if (tiles <= 1)
        return 0;
    return (layers * around + (double)tiling.above * (rows + around)) * (double)tiling.nx * tiles;
}

// springs/grid/lines.c: slots in the bundles of lines of ropes and cloths whose grid lines are
// twice as stiff as all other springs.
static double lined_by(const struct scene_body *body, const struct body_size *size)
{
    enum { LANES = 8 };
    double others = 0, x = (double)size->grid[0], y = (double)size->grid[1], lined = 0;
    for (size_t kind = 1; kind < SPRING_KINDS_MAX; kind++)
        if (body->kinds[kind].present)
            others = fmax(others, body->kinds[kind].material.stiffness);
    bool stiff = body->kinds[0].present && body->kinds[0].material.stiffness >= 2 * others;
    if (!stiff || size->grid[2] != 1)
        return 0;
    if (x >= 3)
        lined += LANES * ceil(y / LANES) * x;
    if (y >= 3)
        lined += LANES * ceil(x / LANES) * y;
    return lined;
}

static void count_faces(struct census *census, const struct scene_body *body,
                        const struct body_size *size)
{
    bool gas = body->pressure.present, wind = census->scene->environment.wind.present;
    // faces/plan.c: closed surfaces that contain most nodes of their body.
    bool ringed = gas && !census->reference && size->face_arity == 3 && size->faces >= size->nodes;
    bool face_grid = !census->reference && size->is_sheet && size->grid[0] >= ROW_MIN;
    if ((gas && !ringed) || (wind && !face_grid))
        census->blocked_faces += size->faces;
    if (ringed) {
        census->ringed += size->nodes;
        census->ring_faces += size->faces;
    }
}

static void count_body(struct census *census, const struct scene_body *body,
                       const struct body_size *size)
{
    bool grid = is_grid(census, size);
    bool own_masses =
        body->type == BODY_NETWORK || body->type == BODY_OSCILLATOR || body->type == BODY_PENDULUM;

    census->nodes += size->nodes;
    census->springs += size->springs;
    census->faces += size->faces;
    census->massed += own_masses ? size->nodes : 0;
    census->listed_faces += size->is_sheet ? 0 : size->faces;

    bool fragile = any_material(body, breaks) || any_material(body, yields);
    census->breaks |= any_material(body, breaks);
    census->yields |= any_material(body, yields);
    census->gas |= body->pressure.present;

    // Listed springs.
    if (size->directions == 0 && size->springs > 0) {
        census->listed += size->springs;
        census->listing++;
        int kinds = 0;
        for (size_t kind = 0; kind < SPRING_KINDS_MAX; kind++)
            kinds += body->kinds[kind].present;
        census->one_kind = body->type == BODY_NETWORK ? body->shape.network.material_count == 1 &&
                                                            !body->shape.network.nodes_path
                                                      : kinds <= 1;
        census->renumbers |= is_renumbered(size);
        census->sorts |= is_renumbered(size);
    }

    count_faces(census, body, size);

    if (grid) {
        census->grids++;
        census->grid_numbers += size->nodes * (double)size->directions;
        census->lined += lined_by(body, size);
        census->halo += halo_of(size);
        census->remembered += fragile ? size->springs : 0;
        return;
    }

    // Packed springs, one in each lane of a column.
    double columns = 2 * size->springs / PACKED_LANES * lanes_a_half(size);
    census->off_grid += size->nodes;
    census->planned += size->springs;
    census->fragile += fragile ? size->springs : 0;
    census->columns += columns;
    census->gathered += columns * gathered_share(size);
    census->mixed += columns * mixed_share(body);
}

// ---- The stages, in the order of solver/create.c

// topology/reorder.c
static void renumber(struct ledger *ledger, const struct body_size *size)
{
    if (size->directions > 0 || size->springs == 0 || size->nodes < NODES_RENUMBERED_MIN)
        return;
    double nodes = size->nodes, springs = size->springs;
    double orders = 8 * nodes, neighbours = 8 * nodes + 8 * springs;
    take(ledger, orders + neighbours);
    if (is_renumbered(size))
        touch(ledger, 24 * nodes); // positions in their new order
    drop(ledger, orders + neighbours);
    if (!is_renumbered(size))
        return;
    take(ledger, 4 * nodes + 4 * springs); // the orders, which are kept
    touch(ledger, fmax(8 * nodes, 8 * springs));
}

static double topology_bytes_of(const struct census *census)
{
    // Memory of a body in the topology and in the plan that does not depend on its size, with its
    // name, which is a block of its own, and the rounding of block sizes.
    double bodies = (double)census->scene->body_count *
                    (sizeof(struct topology_body) + sizeof(struct plan_grid) +
                     sizeof(struct plan_face_grid) + sizeof(struct plan_rings) + 128);
    bool one = census->listing <= 1 && census->one_kind;
    return bodies + (census->renumbers ? 8 * census->nodes : 0) + 8 * census->massed +
           census->listed * (8 + (one ? 0 : 4) + census->real + (census->sorts ? 4 : 0)) +
           12 * census->listed_faces;
}

// faces/plan.c: a ring's entries and its share of the lengths and halos.
static const double ring_bytes = 2 * 6.5 + 1.0 / RING_GROUP + 1;

// Corners and slots of nodes, and then what is kept until the springs are packed.
static double rings(struct ledger *ledger, const struct census *census)
{
    double kept = census->ringed * ring_bytes;
    take(ledger, 8 * census->ringed + 24 * census->ring_faces);
    touch(ledger, 6 * census->ringed + kept);
    drop(ledger, 8 * census->ringed + 24 * census->ring_faces);
    take(ledger, kept);
    return kept;
}

// springs/listed/plan.c, for springs that are not packed and for faces.
static void blocks(struct ledger *ledger, const struct census *census, double elements, int arity,
                   bool lists)
{
    if (elements == 0)
        return;
    double listed = lists ? elements * (4.0 * arity + 4) : 0;
    take(ledger, listed);
    take(ledger, 4 * elements);                      // the order, which is kept
    touch(ledger, 4 * elements + 8 * census->nodes); // sorting; the colours at each node
    drop(ledger, listed);
}

// springs/listed/plan_coloured.c
static void colour(struct ledger *ledger, const struct census *census)
{
    // Groups at a third of the springs' tiles are few; nodes around a tile are at most as many.
    double kept = census->planned * (2 * sizeof(uint16_t) + 0.5) + 2 * 4 * census->nodes;
    take(ledger, kept);
    touch(ledger, 12 * census->nodes);
}

// springs/packed/plan.c
static void pack(struct ledger *ledger, const struct census *census)
{
    enum { COLUMN = sizeof(struct packed_column), LANES = PACKED_LANES };
    double halves = 8 * census->nodes + 24 * census->planned;
    double ends = sizeof(uint32_t[LANES]), slots = sizeof(uint32_t[LANES]);
    double mixed = census->mixed * sizeof(uint32_t[LANES]);
    double growing = census->columns * (COLUMN + slots) + census->gathered * ends + mixed +
                     census->nodes / LANES * 48;
    double halo = 4 * 0.5 * census->off_grid;
    double kept = census->columns * (COLUMN + slots) + census->gathered * sizeof(uint16_t[LANES]) +
                  census->nodes / LANES * 9 + halo + mixed;
    if (census->planned == 0)
        return;
    take(ledger, halves + growing);
    drop(ledger, halves);
    touch(ledger, 8 * census->nodes + halo);
    take(ledger, kept);
    drop(ledger, growing);
}

static void plan(struct ledger *ledger, const struct census *census)
{
    double rings_kept = census->ringed > 0 ? rings(ledger, census) : 0;
    bool all_listed = census->grids == 0 && census->listed == census->springs;
    if (!census->packs)
        blocks(ledger, census, census->planned, 2, !all_listed);
    else if (!all_listed) {
        take(ledger, 4 * census->planned); // the order
        touch(ledger, 12 * census->planned);
    }
    blocks(ledger, census, census->blocked_faces, 3, true);
    if (census->packs)
        pack(ledger, census);
    if (census->coloured && census->planned > 0)
        colour(ledger, census);
    if (census->fragile > 0)
        take(ledger, census->fragile * (census->packs ? 20 : 4));
    // The rings of bodies with packed springs are freed with the slots, when constants are made
    // (plan_forget).
    (void)rings_kept;
}

static double constants_bytes_of(const struct census *census)
{
    bool same = (census->packs || census->reference) && census->planned == census->listed;
    bool rests = !same || !census->packs || census->fragile > 0;
    return census->real * (census->nodes + (census->massed > 0 ? census->nodes : 0)) +
           (same ? 0 : 12 * census->planned) + (rests ? census->real * census->planned : 0) +
           (census->packs ? census->real * PACKED_LANES * census->columns : 0) +
           16 * census->blocked_faces;
}

// state/state.h, by the system's own count; integrate/implicit.h.
static double state_bytes_of(const struct census *census, const struct system_functions *call)
{
    const taut_scene *scene = census->scene;
    struct topology topology = {
        .node_count = (uint64_t)census->nodes,
        .spring_count = (uint64_t)census->springs,
        .body_count = scene->body_count,
        .colliders = scene->colliders,
        .collider_count = scene->collider_count,
        .any_breaks = census->breaks,
        .any_yields = census->yields,
        .environment = scene->environment,
    };
    struct plan_counts counts = {
        .state_springs = (uint64_t)(census->planned + census->remembered),
        .slots = census->packs ? (uint64_t)(PACKED_LANES * census->columns) : 0,
        .grids = (size_t)census->grids,
        .rings = census->ringed > 0,
    };
    return (double)call->state_bytes(scene, &topology, &counts);
}

// faces/tangent.c: the part allocated when the tangent is made.
static double tangent_faces_bytes_of(const struct census *census)
{
    const struct scene_wind *wind = &census->scene->environment.wind;
    if (census->faces == 0 || !(census->gas || (wind->present && wind->relative)))
        return 0;
    return census->faces * (12 + 4 + 12 + 4 * census->real) + 8 * census->nodes;
}

// forces/tangent.h
static double tangent_bytes_of(const struct census *census)
{
    double bytes = tangent_faces_bytes_of(census) +
                   census->real * census->grid_numbers * (census->yields ? 2 : 1);
    if (!census->packs)
        bytes += 8 * census->nodes + 2 * 24 * census->planned;
    if (census->penalty)
        bytes += census->nodes * (12 * census->real + 1);
    if (census->gas)
        bytes += 3 * census->real * census->nodes;
    return bytes;
}

// contact/constraints.h
static double constraints_bytes_of(const struct census *census)
{
    const bool midpoint = census->scene->simulation.integrator == INTEGRATOR_IMPLICIT_MIDPOINT;
    return census->projects || (midpoint && census->penalty)
               ? census->nodes * (136 + 18 * census->real)
               : 0;
}

static double implicit_bytes_of(const struct census *census)
{
    if (!integrator_is_implicit(census->scene->simulation.integrator))
        return 0;
    enum { VECTORS = 3 * 2 + 3 * 5 + 1, BLOCK = 6 };
    double lines = 18 * census->real * census->lined;
    return census->nodes * census->real * (VECTORS + BLOCK) + tangent_bytes_of(census) + lines +
           constraints_bytes_of(census);
}

// stability/spectral_bound.c, while dt is checked.
static double bound_bytes_of(const struct census *census)
{
    bool faces = census->gas || (census->scene->environment.wind.present &&
                                 census->scene->environment.wind.relative && census->faces > 0);
    return 20 * census->real * census->off_grid + (faces ? 128 * census->nodes : 0);
}

// The threads of a team: their stacks, and their own arrays.
static double threads_bytes(const struct solver_options *options)
{
    int threads = options ? options->config.threads : 0;
    if (options && options->config.kernel == TAUT_KERNEL_REFERENCE)
        return 0;
    if (threads == 0)
        threads = team_threads_requested();
    taut_error error; // the solver reports missing memory for inspecting the machine
    if (machine_cap_threads(threads, &threads, &error) != TAUT_OK)
        return 0;
    return threads > 1 ? (threads - 1) * 256e3 : 0;
}

static struct census census_begin(const taut_scene *scene, const struct solver_options *options)
{
    struct census census = {.scene = scene, .one_kind = true};
    census.real = scene->precision == PRECISION_DOUBLE ? sizeof(double) : sizeof(float);
    const taut_kernel kernel = options ? options->config.kernel : TAUT_KERNEL_AUTO;
    census.reference = kernel == TAUT_KERNEL_REFERENCE;
    census.coloured = kernel == TAUT_KERNEL_COLOURED;
    census.spring_grids = !census.reference && !census.coloured && kernel != TAUT_KERNEL_PACKED;
    census.packs =
        !census.reference && !census.coloured && scene->simulation.integrator != INTEGRATOR_XPBD;
    for (size_t c = 0; c < scene->collider_count; c++)
        if (scene->colliders[c].response == RESPONSE_PENALTY)
            census.penalty = true;
        else
            census.projects = true;
    return census;
}

void memory_estimate_make(const taut_scene *scene, const struct solver_options *options,
                          struct memory_estimate *estimate)
{
    struct census census = census_begin(scene, options);
    struct ledger ledger = {0, 0};
    double largest = -1;
    *estimate = (struct memory_estimate){.exact = true};
    // All bodies are built first and then all are renumbered. One loop suffices: the maximum is
    // reached with the last of the large ones in either order.
    double bodies = 0, renumbering = 0;
    for (size_t b = 0; b < scene->body_count; b++) {
        struct body_size size;
        body_size_find(scene, b, &size);
        estimate->exact &= size.exact;
        take(&ledger, size.building);
        drop(&ledger, size.building - size.bytes);
        count_body(&census, &scene->bodies[b], &size);
        struct ledger own = {0, 0};
        renumber(&own, &size);
        bodies += own.now;
        renumbering = fmax(renumbering, own.most - own.now);
        if (size.building > largest) {
            largest = size.building;
            estimate->largest = b;
        }
    }
    estimate->building = ledger.most;
    take(&ledger, bodies);
    touch(&ledger, renumbering);
    bodies = ledger.now;

    const struct system_functions *call =
        scene->precision == PRECISION_DOUBLE ? &system_functions_f64 : &system_functions_f32;
    take(&ledger, topology_bytes_of(&census));
    plan(&ledger, &census);
    take(&ledger, constants_bytes_of(&census) + state_bytes_of(&census, call) +
                      3 * census.real * census.halo + threads_bytes(options));
    if (integrator_is_implicit(scene->simulation.integrator))
        touch(&ledger, tangent_faces_bytes_of(&census));
    drop(&ledger, bodies);
    if (census.packs) // plan_forget
        drop(&ledger, sizeof(uint32_t[PACKED_LANES]) * census.columns +
                          (census.planned > 0 ? ring_bytes * census.ringed : 0));
    touch(&ledger, bound_bytes_of(&census));
    take(&ledger, implicit_bytes_of(&census)); // touched by the first step
    if (scene->simulation.integrator == INTEGRATOR_XPBD)
        take(&ledger, constraints_bytes_of(&census));

    estimate->nodes = census.nodes;
    estimate->springs = census.springs;
    estimate->faces = census.faces;
    estimate->making = ledger.most;
    estimate->solver = ledger.now;
    estimate->sharp = 12 * census.real * census.nodes + quadratic_bytes(census.nodes, census.real) +
                      tangent_bytes_of(&census) + bound_bytes_of(&census);
}

double memory_of_frame(const struct memory_estimate *estimate, unsigned fields)
{
    const struct frame_shape shape = {.node_count = (uint64_t)estimate->nodes,
                                      .spring_count = (uint64_t)estimate->springs,
                                      .face_count = (uint64_t)estimate->faces};
    return (double)frame_bytes(&shape, fields);
}

// ---- Comparing with the available memory

#define GIBIBYTE 1073741824.0

// Smaller amounts are not worth reading the limits of the process.
#define BYTES_CHECKED 16e6

static const char *remedy(enum memory_source source)
{
    return source == MEMORY_WISHED ? "Make it smaller, or raise TAUT_MEMORY_LIMIT"
                                   : "Make it smaller, free memory or raise the limit; "
                                     "TAUT_MEMORY_LIMIT=none builds it anyway";
}

taut_status memory_check(double bytes, const char *what, taut_error *error)
{
    if (bytes < BYTES_CHECKED)
        return TAUT_OK;
    struct memory_left left = memory_left_to_this_process();
    if (bytes <= left.bytes)
        return TAUT_OK;
    return fail(error, TAUT_ERROR_MEMORY,
                "%s needs about %.3g GiB of memory, and this process may take %.3g GiB (%s). %s",
                what, bytes / GIBIBYTE, left.bytes / GIBIBYTE, memory_source_text(left.source),
                remedy(left.source));
}

static taut_status check(const taut_scene *scene, const struct memory_estimate *estimate,
                         double bytes, taut_error *error)
{
    char what[200];
    snprintf(what, sizeof what,
             "a scene of %.6g nodes and %.6g springs (most of them in body '%s')", estimate->nodes,
             estimate->springs, scene->bodies[estimate->largest].name);
    return memory_check(bytes, what, error);
}

taut_status memory_check_scene(const taut_scene *scene, const struct solver_options *options,
                               taut_error *error)
{
    struct memory_estimate estimate;
    memory_estimate_make(scene, options, &estimate);
    double beside = options ? options->beside : 0;
    taut_status status =
        check(scene, &estimate, fmax(estimate.making, estimate.solver + beside), error);
    if (status == TAUT_OK && estimate.exact && estimate.nodes >= (double)UINT32_MAX)
        return fail(error, TAUT_ERROR_UNSUPPORTED,
                    "%.0f nodes in one scene; at most %lu can be numbered", estimate.nodes,
                    (unsigned long)UINT32_MAX - 1);
    return status;
}

taut_status memory_check_bodies(const taut_scene *scene, taut_error *error)
{
    struct memory_estimate estimate;
    memory_estimate_make(scene, NULL, &estimate);
    return check(scene, &estimate, estimate.building, error);
}

taut_status memory_check_sharp(const taut_scene *scene, taut_error *error)
{
    struct memory_estimate estimate;
    memory_estimate_make(scene, NULL, &estimate);
    return memory_check(estimate.sharp, "it", error);
}
