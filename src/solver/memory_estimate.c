// Estimates by formula how much memory a scene needs, before anything is built, and compares it
// with the available memory. Without the estimate an allocation would fail late, after minutes of
// building, or not at all: a system that overcommits kills the process when the pages are touched.
#include "solver/private.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "parallel/machine.h"
#include "parallel/quota.h"
#include "ranks/ranks.h"
#include "scene/direction.h"
#include "springs/plan_parts.h"
#include "stability/hessenberg.h"

// ---- What is allocated now, and the maximum

struct memory_use {
    double now, most;
};

static void allocate(struct memory_use *memory_use, double bytes)
{
    memory_use->now += bytes;
    memory_use->most = fmax(memory_use->most, memory_use->now);
}

static void release(struct memory_use *memory_use, double bytes)
{
    memory_use->now -= bytes;
}

// Allocates and frees.
static void allocate_briefly(struct memory_use *memory_use, double bytes)
{
    allocate(memory_use, bytes);
    release(memory_use, bytes);
}

// ---- Counts of the scene

struct totals {
    const taut_scene *scene;
    bool packs, reference;       // as in struct plan
    bool spring_grids, coloured; // as in struct plan_options
    double real;                 // bytes per number
    double nodes, springs, faces;
    double edges;        // of bodies without faces that contact has as edges
    double part;         // nodes: all, or of a rank its own and its halo
    double held;         // for which arrays have memory: these, or all where arrays are small
    double held_springs; // of the stored springs of grids, likewise
    double collider_nodes, collider_faces; // of mesh colliders
    double listed, listed_faces;           // in the topology's lists
    double body_lists;          // bytes of lists of bodies that are in the topology's then,
    double largest_lists;       // and those of the body with the most
    double massed;              // nodes of bodies that list masses
    bool masses_differ;         // in any body
    double off_grid;            // nodes of bodies that the kernels do not compute as grids,
    double bounded_off_grid;    // and those of them whose bounds a rank finds
    bool bends_off_grid;        // some of them have elements
    double planned;             // springs on no such grid, listed or not
    double largest_planned;     // and those of the body with the most
    double stored_grid_springs; // springs of grids that break or yield
    double fragile;             // planned springs that break or yield
    double loose_nodes;         // bytes that bodies on no grid have of their nodes; of a rank those
    double others_nodes;        // of bodies of others, which are freed before packing
    double packed_nodes;        // nodes whose packed springs are kept, of a rank its own,
    double columns, gathered;   // their columns, and those of them that gather
    double mixed;               // and those with several materials
    double blocked_faces;       // faces in blocks
    double ringed, ring_faces;  // nodes and faces of bodies with gas that have vertex rings
    double acting;              // nodes to which faces add a bound of the step
    double outlines;            // faces of plane bodies
    double grids;               // bodies that are grids
    double grid_numbers;        // nodes of grids times their directions
    double shares;              // numbers in the shares of springs of weighted grids
    double line_slots;          // slots in the lines solved by implicit integrators
    double elements;            // bytes of elements beside springs,
    double divided_elements;    // those of them that a rank has of its part alone,
    double making_elements;     // and what is there while they are made
    double layer_before;        // nodes before those of a rank that elements of lattices read
    double halo;                // nodes whose contributions are exchanged between tiles
    uint64_t first_own, end_own; // nodes of a rank
    bool sheds;                  // it keeps counts alone of bodies of others (part_bodies.c)
    double shed_nodes;           // bytes that these would have of their nodes,
    double shed_loading;         // that one of them takes while it is looked at,
    double absent_lists;         // of their lists in the topology, and
    double listed_first;         // of lists of others that are there before they are forgotten
    double first_renumbered, end_renumbered; // nodes from the first renumbered body to the last
    bool sorts, breaks, yields, gas, penalty, projects;
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

static bool is_grid(const struct totals *totals, const struct body_size *size)
{
    return totals->spring_grids && size->directions > 0 && size->grid[0] >= ROW_MIN &&
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

// The share of springs that are mixed, for networks whose springs each have their own material; a
// guess for files.
static double mixed_share(const struct scene_body *body)
{
    if (body->type != BODY_NETWORK)
        return 0;
    const struct scene_network *network = &body->shape.network;
    return network->nodes_path ? 0.3 : network->material_count > 8 ? 1 : 0;
}

// Bending, twist or areas.
static bool has_sheet_elements(const struct scene_body *body)
{
    const struct scene_elements *it = &body->elements;
    return it->bending_u != 0 || it->bending_v != 0 || it->twist != 0 || it->area != 0;
}

// The grid of a body as the plan will have it, as far as its tiles depend on it.
static struct plan_grid grid_of(const struct scene_body *body, const struct body_size *size)
{
    int x = (int)size->reach[0], y = (int)size->reach[1], z = (int)size->reach[2];
    struct plan_grid grid = {
        .nx = size->grid[0],
        .ny = size->grid[1],
        .nz = size->grid[2],
        .directions = {{.dx = x}, {.dy = y}, {.dy = z > 0 ? -y : 0, .dz = z}},
        .direction_count = 3,
        .has_elements = size->grid[1] > 1 && size->grid[2] == 1 && has_sheet_elements(body),
    };
    if (size->type == BODY_CLOTH || size->type == BODY_ROPE)
        grid.directions[2].dx = x;
    tiling_make(&grid, &grid.tiling);
    return grid;
}

// springs/grid/sweep.c: reactions exchanged between tiles.
static double halo_of(const struct scene_body *body, const struct body_size *size)
{
    const struct plan_grid grid = grid_of(body, size);
    const struct plan_tiling tiling = grid.tiling;
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
static double line_slots_of(const struct scene_body *body, const struct body_size *size)
{
    enum { LANES = 8 };
    double others = 0, x = (double)size->grid[0], y = (double)size->grid[1], line_slots = 0;
    const struct scene_spring_kind *along_x = &body->kinds[0], *along_y = along_x;
    const bool has_weft = body->type == BODY_CLOTH && body->kinds[CLOTH_WEFT].present;
    if (has_weft)
        along_y = &body->kinds[CLOTH_WEFT];
    for (size_t kind = 1; kind < SPRING_KINDS_MAX; kind++)
        if (body->kinds[kind].present && !(has_weft && kind == CLOTH_WEFT))
            others = fmax(others, body->kinds[kind].material.stiffness);
    if (size->grid[2] != 1)
        return 0;
    if (x >= 3 && along_x->present && along_x->material.stiffness >= 2 * others)
        line_slots += LANES * ceil(y / LANES) * x;
    if (y >= 3 && along_y->present && along_y->material.stiffness >= 2 * others)
        line_slots += LANES * ceil(x / LANES) * y;
    return line_slots;
}

static void count_faces(struct totals *totals, const struct scene_body *body,
                        const struct body_size *size)
{
    bool gas = body->pressure.present, wind = totals->scene->environment.wind.present;
    // faces/plan.c: closed surfaces that contain most nodes of their body.
    bool ringed = gas && !totals->reference && size->face_arity == 3 && size->faces >= size->nodes;
    bool face_grid = !totals->reference && size->is_sheet && size->grid[0] >= ROW_MIN;
    if ((gas && !ringed) || (wind && !face_grid))
        totals->blocked_faces += size->faces;
    if (ringed) {
        totals->ringed += size->nodes;
        totals->ring_faces += size->faces;
    }
}

// springs/grid/tangent.c: the springs of two shells do not move along one or two axes, those of a
// cloth along one.
static double shares_a_node(const struct body_size *size)
{
    return size->grid[2] == 1 ? 2 : 6;
}

// elements/elements.c: most rows of nodes share the weights of their lines. springs/grid/sweep.c
// repeats these, and the shares of springs, up to 16 times.
static double element_bytes_of(const struct totals *totals, const struct scene_body *body,
                               const struct body_size *size)
{
    enum { BLOCK_NODES = 1024, LAYER_NODES = 256, REPEATS = 8 };
    const double weight_rows = size->grid[1] == 1 ? 2 : 6 + 3 * REPEATS;
    const struct scene_elements *it = &body->elements;
    if (body_is_membrane(body))
        return 0;
    if (!has_sheet_elements(body))
        return it->volume == 0 ? 0 : sizeof(double) * size->nodes / LAYER_NODES;
    return weight_rows * totals->real * (double)size->grid[0] +
           2 * (sizeof(size_t) + 2 * sizeof(int64_t)) * (double)size->grid[1] +
           sizeof(double) * size->nodes / BLOCK_NODES;
}

// elements/triangles.c, folds.c; bending.c, where a mesh is flat, has less. Counts the nodes and
// the order of triangles, and the numbers of each node, with positions as built.
static double divided_bytes_of(const struct totals *totals, const struct scene_body *body,
                               const struct body_size *size)
{
    enum { COLUMNS = 8, FOLD_NUMBERS = 12, FOLD_COLUMNS = 19 };
    const double fold = FOLD_NUMBERS * sizeof(uint32_t) + FOLD_COLUMNS * totals->real;
    if (!body_is_membrane(body))
        return 0;
    return size->faces * (16 + COLUMNS * totals->real + 1.5 * fold) +
           size->nodes * (24 + 3 * sizeof(size_t) + 2 * totals->real);
}

// Bytes of the lists of a body.
static double lists_of_body(const struct body_size *size)
{
    return (size->directions == 0 ? 8 * size->springs : 0) +
           (size->is_sheet ? 0 : 4 * size->face_arity * size->faces) +
           (is_renumbered(size) ? 4 * size->nodes + 4 * size->springs : 0);
}

static void count_body(struct totals *totals, const struct scene_body *body,
                       const struct body_size *size)
{
    bool grid = is_grid(totals, size);
    bool own_masses = body->type == BODY_NETWORK || body->type == BODY_OSCILLATOR ||
                      body->type == BODY_PENDULUM || size->has_density;
    bool by_grid = size->has_density && size->directions > 0; // body_mass

    totals->nodes += size->nodes;
    totals->springs += size->springs;
    totals->faces += size->faces;
    if (body->type == BODY_ROPE || (body->type == BODY_RING && size->faces == 0))
        totals->edges += size->nodes;
    totals->massed += own_masses && !by_grid ? size->nodes : 0;
    totals->masses_differ |= own_masses;
    totals->listed_faces += size->is_sheet ? 0 : size->faces;
    const double lists = lists_of_body(size);
    totals->body_lists += lists;
    totals->largest_lists = fmax(totals->largest_lists, lists);

    const struct scene_wind *wind = &totals->scene->environment.wind;
    if (body->pressure.present || (wind->present && wind->relative && size->faces > 0)) {
        const bool inside = wind->present && wind->relative && wind->law == WIND_NODE;
        // A closed surface of triangles has half as many nodes.
        totals->acting += size->directions > 0 && !size->is_sheet && !inside
                              ? fmin(size->nodes, size->faces / 2 + 2)
                              : size->nodes;
    }

    bool fragile = any_material(body, breaks) || any_material(body, yields);
    totals->breaks |= any_material(body, breaks);
    totals->yields |= any_material(body, yields);
    totals->gas |= body->pressure.present;

    // Listed springs.
    if (size->directions == 0 && size->springs > 0) {
        totals->listed += size->springs;
        totals->listing++;
        int kinds = 0;
        for (size_t kind = 0; kind < SPRING_KINDS_MAX; kind++)
            kinds += body->kinds[kind].present;
        totals->one_kind = body->type == BODY_NETWORK ? body->shape.network.material_count == 1 &&
                                                            !body->shape.network.nodes_path
                                                      : kinds <= 1;
        totals->sorts |= is_renumbered(size);
        if (is_renumbered(size)) {
            totals->first_renumbered =
                totals->end_renumbered > 0 ? totals->first_renumbered : totals->nodes - size->nodes;
            totals->end_renumbered = totals->nodes;
        }
    }

    count_faces(totals, body, size);
    totals->elements += element_bytes_of(totals, body, size);
    totals->divided_elements += divided_bytes_of(totals, body, size);
    if (body_is_membrane(body)) // the lists of all triangles, twice, and their order, and positions
        totals->making_elements += 28 * size->faces + 24 * size->nodes;
    if (body->elements.volume != 0)
        totals->layer_before = fmax(totals->layer_before, (double)(size->grid[0] * size->grid[1]));

    if (grid) {
        totals->grids++;
        totals->grid_numbers += size->nodes * (double)size->directions;
        totals->shares += size->weighted ? shares_a_node(size) * size->nodes : 0;
        totals->line_slots += line_slots_of(body, size);
        totals->halo += halo_of(body, size);
        totals->stored_grid_springs += fragile ? size->springs : 0;
        return;
    }

    totals->bends_off_grid |= scene_elements_exist(&body->elements) && !body_is_membrane(body);

    // Packed springs, one in each lane of a column.
    double columns = 2 * size->springs / PACKED_LANES * lanes_a_half(size);
    totals->off_grid += size->nodes;
    totals->loose_nodes += (own_masses ? 56 : 24) * size->nodes;
    totals->planned += size->springs;
    totals->largest_planned = fmax(totals->largest_planned, size->springs);
    totals->fragile += fragile ? size->springs : 0;
    totals->columns += columns;
    totals->gathered += columns * gathered_share(size);
    totals->mixed += columns * mixed_share(body);
}

// Whether a rank keeps no lists of a body when it has been planned (plan_part_forgets), and has
// none before (part_bodies.c), except for a short time.
enum lists { LISTS_KEPT, LISTS_FORGOTTEN, LISTS_SHED };

static enum lists lists_of(const struct totals *totals, const struct scene_body *body,
                           const struct body_size *size, double first_node)
{
    const double before = (double)totals->first_own - SUM_CHUNK;
    const double after = (double)totals->end_own + SUM_CHUNK;
    const bool is_other = totals->first_own == totals->end_own || first_node >= after ||
                          first_node + size->nodes <= before;
    const bool own_materials =
        body->type == BODY_NETWORK || body->type == BODY_OSCILLATOR || body->type == BODY_PENDULUM;
    const bool clique = joins_most_pairs(size->nodes, size->springs);
    if (!is_other || own_materials || clique || size->directions > 0 || size->springs == 0 ||
        scene_elements_exist(&body->elements) || body_is_membrane(body) || totals->fragile > 0 ||
        !totals->packs)
        return LISTS_KEPT;
    return totals->sheds && size->is_surface && body->pin_count == 0 && body->drive_count == 0 &&
                   !size->has_density
               ? LISTS_SHED
               : LISTS_FORGOTTEN;
}

// Bytes in the topology.
static double listed_bytes_of(const struct totals *totals, const struct body_size *size)
{
    const bool one = totals->listing <= 1 && totals->one_kind;
    const bool faces = totals->blocked_faces == 0 && !size->is_sheet;
    return size->springs * (8 + (one ? 0 : 4) + totals->real + (totals->sorts ? 4 : 0)) +
           (faces ? 12 * size->faces : 0);
}

// ---- The stages, in the order of solver/create.c

// topology/reorder.c
static void renumber(struct memory_use *memory_use, const struct body_size *size)
{
    if (size->directions > 0 || size->springs == 0 || size->nodes < NODES_RENUMBERED_MIN)
        return;
    double nodes = size->nodes, springs = size->springs;
    double orders = 8 * nodes, neighbours = 8 * nodes + 8 * springs;
    allocate(memory_use, orders + neighbours);
    if (is_renumbered(size))
        allocate_briefly(memory_use, 24 * nodes); // positions in their new order
    release(memory_use, orders + neighbours);
    if (!is_renumbered(size))
        return;
    allocate(memory_use, 4 * nodes + 4 * springs); // the orders, which are kept
    allocate_briefly(memory_use, fmax(8 * nodes, 8 * springs));
}

static double topology_bytes_of(const struct totals *totals)
{
    // Memory of a body in the topology and in the plan that does not depend on its size, with its
    // name, which is a block of its own, and the rounding of block sizes.
    double bodies =
        (double)totals->scene->body_count *
        (sizeof(struct topology_body) + sizeof(struct scene_body) + sizeof(struct plan_grid) +
         sizeof(struct plan_face_grid) + sizeof(struct plan_rings) + 128);
    bool one = totals->listing <= 1 && totals->one_kind;
    return bodies + 8 * (totals->end_renumbered - totals->first_renumbered) + 8 * totals->massed +
           totals->listed * (8 + (one ? 0 : 4) + totals->real + (totals->sorts ? 4 : 0)) +
           12 * totals->listed_faces;
}

// faces/plan.c: a ring's entries and its share of the lengths and halos.
static const double ring_bytes = 2 * 6.5 + 1.0 / RING_GROUP + 1;

// Corners and slots of nodes, and then what is kept until the springs are packed.
static double rings(struct memory_use *memory_use, const struct totals *totals)
{
    double kept = totals->ringed * ring_bytes;
    allocate(memory_use, 8 * totals->ringed + 24 * totals->ring_faces);
    allocate_briefly(memory_use, 6 * totals->ringed + kept);
    release(memory_use, 8 * totals->ringed + 24 * totals->ring_faces);
    allocate(memory_use, kept);
    return kept;
}

// springs/listed/plan.c, for springs that are not packed and for faces.
static void blocks(struct memory_use *memory_use, const struct totals *totals, double elements,
                   int arity, bool lists)
{
    if (elements == 0)
        return;
    double listed = lists ? elements * (4.0 * arity + 4) : 0;
    allocate(memory_use, listed);
    allocate(memory_use, 4 * elements); // the order, which is kept
    allocate_briefly(memory_use,
                     4 * elements + 8 * totals->nodes); // sorting; the colours at each node
    release(memory_use, listed);
}

// springs/listed/plan_coloured.c
static void colour(struct memory_use *memory_use, const struct totals *totals)
{
    // Groups at a third of the springs' tiles are few; nodes around a tile are at most as many.
    double kept = totals->planned * (2 * sizeof(uint16_t) + 0.5) + 2 * 4 * totals->nodes;
    allocate(memory_use, kept);
    allocate_briefly(memory_use, 12 * totals->nodes);
}

// springs/packed/plan.c
static void pack(struct memory_use *memory_use, const struct totals *totals)
{
    enum { COLUMN = sizeof(struct packed_column), LANES = PACKED_LANES };
    // Springs are listed for some bodies at a time, or for a part of a large one
    // (springs/packed/plan_node_springs.c).
    const double some = 1 << 18;
    const double at_once = fmin(totals->planned, some + totals->largest_planned);
    const double listed = fmin(totals->planned, some);
    double node_springs = (24 + 8 * totals->off_grid / fmax(1, totals->planned)) * listed;
    double ends = sizeof(uint32_t[LANES]), slots = sizeof(uint32_t[LANES]);
    double mixed = totals->mixed * sizeof(uint32_t[LANES]);
    double growing = totals->columns * (COLUMN + slots) + totals->gathered * ends + mixed +
                     totals->packed_nodes / LANES * 64;
    double halo = 4 * 0.5 * totals->packed_nodes;
    double kept = totals->columns * (COLUMN + slots) + totals->gathered * sizeof(uint16_t[LANES]) +
                  totals->packed_nodes / LANES * 9 + halo + mixed;
    if (totals->planned == 0)
        return;
    const double tiles = 8 * totals->nodes; // what nodes are in a tile
    release(memory_use, totals->listed_first);
    // Bodies that have been shed are listed as long as their springs are.
    const double bytes_a_spring = 20 + 12 * totals->listed_faces / fmax(1, totals->listed);
    const double loaded =
        totals->absent_lists > 0 ? totals->shed_loading + bytes_a_spring * at_once : 0;
    allocate_briefly(memory_use, loaded);
    allocate(memory_use, tiles + node_springs + growing + halo);
    release(memory_use, tiles + node_springs);
    allocate_briefly(memory_use, totals->columns * slots); // each array is stored, and then freed
    release(memory_use, growing + halo);
    allocate(memory_use, kept);
}

static void plan(struct memory_use *memory_use, const struct totals *totals)
{
    double rings_kept = totals->ringed > 0 ? rings(memory_use, totals) : 0;
    bool all_listed = totals->grids == 0 && totals->listed == totals->springs;
    if (!totals->packs)
        blocks(memory_use, totals, totals->planned, 2, !all_listed);
    else if (!all_listed) {
        allocate(memory_use, 4 * totals->planned); // the order
        allocate_briefly(memory_use, 12 * totals->planned);
    }
    blocks(memory_use, totals, totals->blocked_faces, 3, true);
    if (totals->packs)
        pack(memory_use, totals);
    if (totals->coloured && totals->planned > 0)
        colour(memory_use, totals);
    if (totals->fragile > 0)
        allocate(memory_use, totals->fragile * (totals->packs ? 20 : 4));
    // The rings of bodies with packed springs are freed with the slots, when constants are made
    // (plan_release_build_data).
    (void)rings_kept;
}

static double constants_bytes_of(const struct totals *totals)
{
    bool same = (totals->packs || totals->reference) && totals->planned == totals->listed;
    bool rests = !same || !totals->packs || totals->fragile > 0;
    return totals->real * (totals->held + totals->collider_nodes +
                           (totals->masses_differ ? totals->held : 0)) +
           (same ? 0 : 12 * totals->planned) + (rests ? totals->real * totals->planned : 0) +
           (totals->packs ? totals->real * PACKED_LANES * totals->columns : 0) +
           16 * totals->blocked_faces;
}

// state/state.h, by the system's own count; integrate/implicit.h.
static double state_bytes_of(const struct totals *totals, const struct system_functions *call)
{
    const taut_scene *scene = totals->scene;
    struct topology topology = {
        .node_count = (uint64_t)totals->held,
        .collider_node_count = (uint64_t)totals->collider_nodes,
        .spring_count = (uint64_t)totals->springs,
        .body_count = scene->body_count,
        .colliders = scene->colliders,
        .collider_count = scene->collider_count,
        .any_breaks = totals->breaks,
        .any_yields = totals->yields,
        .environment = scene->environment,
    };
    struct plan_counts counts = {
        .state_springs = (uint64_t)(totals->planned + totals->held_springs),
        .slots = totals->packs ? (uint64_t)(PACKED_LANES * totals->columns) : 0,
        .grids = (size_t)totals->grids,
        .rings = totals->ringed > 0,
    };
    return (double)call->state_bytes(scene, &topology, &counts);
}

// faces/tangent.c: the part allocated when the tangent is made.
static double tangent_faces_bytes_of(const struct totals *totals)
{
    const struct scene_wind *wind = &totals->scene->environment.wind;
    if (totals->faces == 0 || !(totals->gas || (wind->present && wind->relative)))
        return 0;
    const double held = totals->nodes > 0 ? totals->held / totals->nodes : 1;
    return held * (totals->faces * (12 + 4 + 12 + 4 * totals->real) + 8 * totals->nodes);
}

// forces/tangent.h
static double tangent_bytes_of(const struct totals *totals)
{
    const double held = totals->nodes > 0 ? totals->held / totals->nodes : 1;
    double bytes =
        tangent_faces_bytes_of(totals) +
        totals->real * (totals->grid_numbers * held * (totals->yields ? 2 : 1) + totals->shares);
    if (!totals->packs)
        bytes += 8 * totals->nodes + 2 * 24 * totals->planned;
    if (totals->penalty)
        bytes += totals->held * (12 * totals->real + 1);
    if (totals->gas)
        bytes += 3 * totals->real * totals->nodes;
    return bytes;
}

// contact/constraints.h
static double constraints_bytes_of(const struct totals *totals)
{
    const bool midpoint = totals->scene->simulation.integrator == INTEGRATOR_IMPLICIT_MIDPOINT;
    const double parts = totals->scene->precision == PRECISION_MIXED ? 6 : 0;
    const bool surfaces = totals->scene->contact.present &&
                          integrator_is_implicit(totals->scene->simulation.integrator);
    return totals->projects || surfaces || (midpoint && totals->penalty)
               ? totals->nodes * (136 + (18 + parts) * totals->real)
               : 0;
}

// contact/surface_lists.h. A node takes its position as built and three earlier ones, of which two
// (surface_motion.h, surface_rollback.h) are only there once a step has been cut, as is what
// carries it (surface_carriers.h), and its indices in blocks. A triangle takes the surfaces, boxes
// and buffers of blocks, and lists of pairs and of 20 candidates, as measured for a cloth in
// layers. The edge of a rope has few candidates, but blocks of more nodes. Lists depend on the
// state, so this is a typical amount.
static double contact_bytes_of(const struct totals *totals)
{
    const double candidates = 20, pairs = 10;
    const double triangle = 7.5 * totals->real + 9 + 2 * candidates + pairs,
                 edge = 11.5 * totals->real + 16;
    // For a triangle in layers, with space to grow (contact/surface_friction.h).
    const double records = scene_has_surface_friction(totals->scene) ? 5 : 0;
    if (!totals->scene->contact.present)
        return 0;
    const double nodes = totals->nodes + totals->collider_nodes,
                 faces = totals->faces + totals->edges + totals->collider_faces;
    const double bytes = 4 * totals->nodes + nodes * (32 + 9 * totals->real) +
                         (totals->faces + totals->collider_faces) * triangle +
                         totals->edges * edge + faces * records * (24 + 2 * totals->real);
    const enum integrator integrator = totals->scene->simulation.integrator;
    const double beyond = integrator_velocities_lag(integrator) ? 0 : 8;
    if (!integrator_is_implicit(integrator)) // contact/surface_cut_work.c
        return bytes + totals->nodes * (beyond + 6 * totals->real);
    // surface_tangent.h: positions at stages, and a row for one of four triangles; with friction
    // two more for each record, and what is assumed of it, twice.
    const double row = 68 + 35 * totals->real, assumption = 24 + 16 * totals->real;
    return bytes + 8 * nodes + 6 * totals->real * totals->nodes + // integrate/implicit_energy.c
           faces * (3 * totals->real + row / 4 + records * (2 * row / 4 + 2 * assumption));
}

// contact/shape_contact.h. A node takes the start of the step; a block of 24 triangles takes marks
// by sphere, and one of eight blocks takes slots. Implicit integrators take a row for one of eight
// nodes and one of eight triangles (shape_tangent.c), and with friction, for one of eight nodes,
// what is assumed of it and two more rows.
static double shapes_bytes_of(const struct totals *totals)
{
    const taut_scene *scene = totals->scene;
    double shapes = 0, spheres = 0, implicit = 0;
    bool friction = false;
    for (size_t c = 0; c < scene->collider_count; c++) {
        const struct scene_collider *it = &scene->colliders[c];
        const bool acts = it->response == RESPONSE_CONTACT && it->type != COLLIDER_MESH;
        shapes += acts;
        spheres += acts && it->type == COLLIDER_SPHERE;
        friction |= acts && it->coulomb.present;
    }
    if (shapes == 0)
        return 0;
    const double blocks = totals->faces / 24, slot = 24 * 32 + 16;
    if (integrator_is_implicit(scene->simulation.integrator)) {
        const double row = 68 + 35 * totals->real;
        implicit = row / 8 * (totals->nodes + (spheres > 0 ? totals->faces : 0));
        implicit += friction ? (2 * row + 96) / 8 * totals->nodes : 0;
    }
    const double parts = scene->precision == PRECISION_MIXED ? 6 : 3;
    return implicit + parts * totals->real * totals->nodes +
           blocks * (5 * spheres + 17 + (spheres > 0 ? slot / 8 : 0));
}

// topology/topology.h: points, positions as built and triangles of mesh colliders.
static double collider_bytes_of(const struct totals *totals)
{
    return 24 * totals->collider_nodes + 12 * totals->collider_faces;
}

static double implicit_bytes_of(const struct totals *totals)
{
    if (!integrator_is_implicit(totals->scene->simulation.integrator))
        return 0;
    enum { VECTORS = 3 * 2 + 3 * 5 + 1, BLOCK = 6 };
    const double parts = totals->scene->precision == PRECISION_MIXED ? 6 : 0;
    double lines = 18 * totals->real * totals->line_slots;
    // contact/friction.h: what is assumed of contacts
    const double slots =
        (double)friction_slots(totals->scene->colliders, totals->scene->collider_count);
    return slots * totals->nodes * (6 * totals->real + 1) +
           totals->held * totals->real * (VECTORS + BLOCK + parts) + tangent_bytes_of(totals) +
           lines + constraints_bytes_of(totals);
}

// Smaller blocks take memory as a whole (base/memory.c, LARGE).
static const double SPARSE_BYTES = 4 << 20;

// What ranks that share grid lines store of each other (springs/grid/lines.c): the solutions for
// columns, and messages of a part of the columns at the nodes of the others, twice to and fro.
static double shared_lines_bytes_of(const struct totals *totals, int count)
{
    const double others = (double)(count - 1) / ((double)count * count);
    const bool shares = count > 1 && integrator_is_implicit(totals->scene->simulation.integrator) &&
                        totals->line_slots > 0;
    return shares ? 3 * totals->real * totals->nodes * (1 + 4 * others) : 0;
}

// stability/spectral_bound.c, while dt is checked: the blocks of bodies on no grid, and what faces
// add to nodes, those of the rank.
static double bound_bytes_of(const struct totals *totals)
{
    const double all = 128 * totals->acting;
    const double own = all * totals->part / totals->nodes;
    return 20 * totals->real * totals->bounded_off_grid + (all < SPARSE_BYTES ? all : own);
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

static struct totals totals_begin(const taut_scene *scene, const struct solver_options *options)
{
    struct totals totals = {.scene = scene, .one_kind = true};
    totals.real = scene->precision == PRECISION_DOUBLE ? sizeof(double) : sizeof(float);
    const taut_kernel kernel = options ? options->config.kernel : TAUT_KERNEL_AUTO;
    totals.reference = kernel == TAUT_KERNEL_REFERENCE;
    totals.coloured = kernel == TAUT_KERNEL_COLOURED;
    totals.spring_grids = !totals.reference && !totals.coloured && kernel != TAUT_KERNEL_PACKED;
    totals.packs =
        !totals.reference && !totals.coloured && scene->simulation.integrator != INTEGRATOR_XPBD;
    for (size_t c = 0; c < scene->collider_count; c++)
        if (scene->colliders[c].response == RESPONSE_PENALTY)
            totals.penalty = true;
        else if (scene->colliders[c].response == RESPONSE_PROJECT)
            totals.projects = true;
    return totals;
}

// Whether steps need all nodes because of some bodies (solver/ranks.c, plan_needs_all).
static bool needs_all(const struct totals *totals)
{
    if (totals->off_grid > 0 && (!totals->packs || totals->bends_off_grid))
        return true;
    return integrator_is_implicit(totals->scene->simulation.integrator) &&
           (totals->off_grid > 0 || totals->gas || totals->breaks || totals->yields ||
            totals->elements > 0 || totals->shares > 0 || totals->line_slots > 0);
}

// Finds what rank `number` of `count` will hold of a scene; false without memory for that.
static bool hold_part(struct totals *totals, int count, int number)
{
    const taut_scene *scene = totals->scene;
    const size_t bodies = scene->body_count;
    struct topology topology = {.node_count = (uint64_t)totals->nodes,
                                .bodies = calloc(bodies + 1, sizeof *topology.bodies),
                                .body_count = bodies,
                                .collider_count = scene->collider_count};
    struct expected_grids expected = {
        .grids = calloc(bodies + 1, sizeof *expected.grids),
        .face_grids = calloc(bodies + 1, sizeof *expected.face_grids),
        .off_grid = calloc(bodies + 1, sizeof *expected.off_grid),
    };
    struct plan_part_counts counts;
    bool found = topology.bodies && expected.grids && expected.face_grids && expected.off_grid;
    uint64_t node = 0, tile = 0;
    for (size_t b = 0; found && b < bodies; b++) {
        struct body_size size;
        body_size_find(scene, b, &size);
        topology.bodies[b].first_node = node;
        topology.bodies[b].node_count = (uint64_t)size.nodes;
        topology.bodies[b].spring_count = (uint64_t)size.springs;
        const bool on_grid = is_grid(totals, &size);
        struct plan_grid *grid = &expected.grids[expected.grid_count];
        if (on_grid) {
            *grid = grid_of(&scene->bodies[b], &size);
            grid->body = b;
            grid->first_node = node;
            grid->tiling.first_tile = tile;
            tile += tiling_tile_count(&grid->tiling);
            expected.grid_count++;
        } else {
            expected.off_grid_count =
                plan_ranges_add(expected.off_grid, expected.off_grid_count,
                                (struct plan_nodes){node, (uint64_t)size.nodes});
        }
        if (scene->environment.wind.present && size.is_sheet)
            expected.face_grids[expected.face_grid_count++] =
                (struct plan_face_grid){b, node, size.grid[0], size.grid[1]};
        node += (uint64_t)size.nodes;
    }
    found =
        found && plan_part_expect(&topology, &expected, count, number, &counts, NULL) == TAUT_OK;
    if (found) {
        const double kept = (double)counts.off_grid / fmax(1, totals->off_grid);
        totals->first_own = counts.first_node;
        totals->end_own = counts.first_node + counts.nodes;
        totals->bounded_off_grid = totals->packed_nodes = (double)counts.off_grid;
        totals->others_nodes = (1 - kept) * totals->loose_nodes;
        totals->columns *= kept;
        totals->divided_elements *= kept;
        totals->gathered *= kept;
        totals->mixed *= kept;
        totals->part = (double)(counts.nodes + counts.halo_nodes);
        if (number > 0 && counts.nodes > 0)
            totals->part += totals->layer_before;
        if (totals->real * totals->nodes >= SPARSE_BYTES)
            totals->held = totals->part;
        if ((totals->yields ? totals->real : 1) * totals->stored_grid_springs >= SPARSE_BYTES)
            totals->held_springs *= totals->part / totals->nodes;
        totals->halo = (double)(counts.own_contribution_nodes + counts.contribution_nodes);
    }
    free(topology.bodies);
    free(expected.grids);
    free(expected.face_grids);
    free(expected.off_grid);
    return found;
}

void memory_estimate_make(const taut_scene *scene, const struct solver_options *options,
                          struct memory_estimate *estimate)
{
    memory_estimate_of_rank(scene, options, 1, 0, estimate);
}

void memory_estimate_of_rank(const taut_scene *scene, const struct solver_options *options,
                             int count, int number, struct memory_estimate *estimate)
{
    struct totals totals = totals_begin(scene, options);
    struct memory_use memory_use = {0, 0};
    double largest = -1;
    *estimate = (struct memory_estimate){.exact = true};
    for (size_t b = 0; b < scene->body_count; b++) {
        struct body_size size;
        body_size_find(scene, b, &size);
        estimate->exact &= size.exact;
        count_body(&totals, &scene->bodies[b], &size);
    }
    totals.held = totals.part = totals.nodes;
    totals.held_springs = totals.stored_grid_springs;
    totals.bounded_off_grid = totals.packed_nodes = totals.off_grid;
    estimate->in_parts = count > 1 && ranks_may_hold_parts(scene, needs_all(&totals)) &&
                         hold_part(&totals, count, number);
    estimate->share = totals.nodes > 0 ? totals.part / totals.nodes : 1;
    estimate->first_node = totals.first_own;
    estimate->end_node = totals.end_own;
    // All bodies on no grid will be packed, and no list is needed of faces in wind.
    totals.sheds = estimate->sheds = estimate->in_parts && totals.packs && !scene->initial &&
                                     !scene->environment.wind.present &&
                                     !(options && (options->change || options->keep_numbering));

    // All bodies are built first and then all are renumbered. One loop suffices: the maximum is
    // reached with the last of the large ones in either order.
    double bodies = 0, renumbering = 0, node = 0;
    for (size_t b = 0; b < scene->body_count; b++) {
        struct body_size size;
        body_size_find(scene, b, &size);
        struct memory_use own = {0, 0};
        renumber(&own, &size);
        const enum lists lists =
            estimate->in_parts ? lists_of(&totals, &scene->bodies[b], &size, node) : LISTS_KEPT;
        const bool shed = lists == LISTS_SHED;
        node += size.nodes;
        allocate(&memory_use, size.building);
        release(&memory_use, size.building - (shed ? 0 : size.bytes));
        bodies += shed ? 0 : own.now;
        renumbering = fmax(renumbering, shed ? 0 : own.most - own.now);
        const double listed = listed_bytes_of(&totals, &size);
        if (shed) {
            totals.shed_nodes += 24 * size.nodes;
            totals.body_lists -= lists_of_body(&size);
            totals.absent_lists += listed;
            totals.shed_loading = fmax(totals.shed_loading, size.building + own.most);
        } else if (lists == LISTS_FORGOTTEN) {
            totals.listed_first += listed;
        }
        if (size.building > largest) {
            largest = size.building;
            estimate->largest = b;
        }
    }
    for (size_t c = 0; c < scene->collider_count; c++) {
        struct collider_size size;
        collider_size_find(&scene->colliders[c], &size);
        estimate->exact &= size.nodes == 0;
        allocate(&memory_use, size.building);
        release(&memory_use, size.building - size.bytes);
        totals.collider_nodes += size.nodes;
        totals.collider_faces += size.faces;
    }
    estimate->building = memory_use.most;
    allocate(&memory_use, bodies);
    allocate_briefly(&memory_use, renumbering);
    bodies = memory_use.now;

    const struct system_functions *call =
        scene->precision == PRECISION_DOUBLE ? &system_functions_f64 : &system_functions_f32;
    // The lists of each body are freed when the topology has them.
    totals.others_nodes = fmax(0, totals.others_nodes - totals.shed_nodes);
    allocate(&memory_use, topology_bytes_of(&totals) - totals.absent_lists +
                              collider_bytes_of(&totals) + totals.largest_lists -
                              totals.body_lists);
    release(&memory_use, totals.largest_lists + totals.others_nodes);
    bodies -= totals.others_nodes;
    bodies -= totals.body_lists;
    plan(&memory_use, &totals);
    allocate(&memory_use, constants_bytes_of(&totals) + state_bytes_of(&totals, call) +
                              totals.elements + totals.divided_elements +
                              3 * totals.real * totals.halo + threads_bytes(options));
    // Before there are any folds. In one process these take more, and while they are made less than
    // their vectors, which forces touch first.
    if (estimate->in_parts)
        allocate_briefly(&memory_use, fmax(0, totals.making_elements - totals.divided_elements));
    if (integrator_is_implicit(scene->simulation.integrator))
        allocate_briefly(&memory_use, tangent_faces_bytes_of(&totals));
    release(&memory_use, bodies);
    if (totals.packs) // plan_release_build_data
        release(&memory_use, sizeof(uint32_t[PACKED_LANES]) * totals.columns +
                                 (totals.planned > 0 ? ring_bytes * totals.ringed : 0));
    allocate(&memory_use, contact_bytes_of(&totals) + shapes_bytes_of(&totals));
    allocate_briefly(&memory_use, bound_bytes_of(&totals));
    allocate(&memory_use, implicit_bytes_of(&totals) +
                              shared_lines_bytes_of(&totals, count)); // touched by the first step
    if (scene->simulation.integrator == INTEGRATOR_XPBD)
        allocate(&memory_use, constraints_bytes_of(&totals));

    estimate->nodes = totals.nodes;
    estimate->springs = totals.springs;
    estimate->faces = totals.faces;
    estimate->collider_nodes = totals.collider_nodes;
    estimate->collider_faces = totals.collider_faces;
    const struct checkpoint_conditions keeps =
        checkpoint_conditions(scene->precision, scene->simulation.integrator, &scene->environment);
    const bool weights = scene->simulation.dt_auto && totals.off_grid > 0; // of its bound
    estimate->copy =
        (copy_bytes_a_node(&keeps, totals.real) + weights * totals.real) * totals.nodes +
        ((double)scene->collider_count + friction_bytes(scene->colliders, scene->collider_count)) *
            totals.nodes +
        ((totals.yields ? sizeof(double) : 0) + totals.breaks) * totals.springs;
    estimate->making = memory_use.most;
    estimate->solver = memory_use.now;
    estimate->critical = 12 * totals.real * totals.nodes +
                         quadratic_bytes(totals.nodes, totals.real) + tangent_bytes_of(&totals) +
                         bound_bytes_of(&totals);
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
    return source == MEMORY_REQUESTED ? "Make it smaller, or raise TAUT_MEMORY_LIMIT"
                                      : "Make it smaller, free memory or raise the limit; "
                                        "TAUT_MEMORY_LIMIT=none builds it anyway";
}

static taut_status refuse(double bytes, const char *what, const char *takers,
                          struct memory_left left, taut_error *error)
{
    return fail(error, TAUT_ERROR_MEMORY,
                "%s needs about %.3g GiB of memory, and %s may take %.3g GiB (%s). %s", what,
                bytes / GIBIBYTE, takers, left.bytes / GIBIBYTE, memory_source_text(left.source),
                remedy(left.source));
}

taut_status memory_check(double bytes, const char *what, taut_error *error)
{
    if (bytes < BYTES_CHECKED)
        return TAUT_OK;
    struct memory_left left = memory_left_to_this_process();
    if (bytes <= left.bytes)
        return TAUT_OK;
    return refuse(bytes, what, "this process", left, error);
}

// The memory that this machine had for all its ranks before any of them built anything.
static struct {
    bool known;
    struct memory_left left;
} shared;

void memory_note_shared(void)
{
    shared.left = memory_left_on_this_machine();
    shared.known = true;
    (void)ranks_any(false); // now all ranks have read it
}

static void describe(const taut_scene *scene, const struct memory_estimate *estimate, char *what,
                     size_t size)
{
    snprintf(what, size,
             "a scene of %.6g nodes and %.6g springs (body '%.99s' takes the most to build)",
             estimate->nodes, estimate->springs, scene->bodies[estimate->largest].name);
}

static double bytes_of_rank(const struct memory_estimate *estimate,
                            const struct solver_options *options, int rank)
{
    const double extra = options && (rank == 0 || estimate->in_parts) ? options->extra_bytes : 0;
    return fmax(estimate->making, estimate->solver + extra);
}

// Ranks on one machine share its memory, and take it at about the same time.
static taut_status check_machine(const taut_scene *scene, const struct solver_options *options,
                                 taut_error *error)
{
    const struct memory_left left = shared.known ? shared.left : memory_left_on_this_machine();
    struct memory_estimate estimate = {.nodes = 0};
    double bytes = 0;
    char what[200], takers[40];
    for (int r = 0; r < ranks_count(); r++) {
        if (!ranks_share_host(r))
            continue;
        memory_estimate_of_rank(scene, options, ranks_count(), r, &estimate);
        bytes += bytes_of_rank(&estimate, options, r);
    }
    if (bytes < BYTES_CHECKED || bytes <= left.bytes)
        return TAUT_OK;
    describe(scene, &estimate, what, sizeof what);
    snprintf(takers, sizeof takers, "the %d ranks of this machine", ranks_on_host());
    return refuse(bytes, what, takers, left, error);
}

static taut_status check(const taut_scene *scene, const struct memory_estimate *estimate,
                         double bytes, taut_error *error)
{
    char what[200];
    describe(scene, estimate, what, sizeof what);
    return memory_check(bytes, what, error);
}

taut_status memory_check_scene(const taut_scene *scene, const struct solver_options *options,
                               taut_error *error)
{
    struct memory_estimate estimate;
    const bool shares = options && options->shares && ranks_count() > 1;
    memory_estimate_of_rank(scene, options, shares ? ranks_count() : 1, shares ? ranks_number() : 0,
                            &estimate);
    taut_status status = check(
        scene, &estimate, bytes_of_rank(&estimate, options, shares ? ranks_number() : 0), error);
    if (status == TAUT_OK && shares && ranks_on_host() > 1)
        status = check_machine(scene, options, error);
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

taut_status memory_check_computed(const taut_scene *scene, taut_error *error)
{
    struct memory_estimate estimate;
    memory_estimate_make(scene, NULL, &estimate);
    return memory_check(estimate.critical, "it", error);
}
