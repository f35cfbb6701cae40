// A solver of several ranks: what they agree on, who leads, and what is refused.
//
// Every rank has created the solver of the whole scene. Rank 0 leads: when it advances, it tells
// the others to do the same (solver_serve). Everything else that reads the state, energies, frames,
// hashes and checkpoints, is done by rank 0 alone, as by one process: the nodes of the others are
// collected first, at most once per step. So decisions that depend on the clock or on signals are
// made by one rank, and output has the same bytes.
//
// In scenes in which nothing needs all nodes (solver_may_hold_part), a rank has memory only for its
// own nodes and its halo. All ranks then find the start, energies, hashes, and bounds of the step
// together (enum part_task); rare operations still collect all nodes.
#include "solver/private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/sort.h"
#include "ranks/ranks.h"
#include "solver/checkpoint.h"
#include "springs/plan_parts.h"

struct solver_ranks {
    struct plan_parts *parts;
    struct exchange *exchange;
    bool whole;            // every rank computes the whole scene
    struct shares *shares; // of what they share then; NULL: nothing
    bool steps;            // within steps, or what else all ranks do together
    bool served;           // on the others: what they do together has been ordered by rank 0
    bool collected;        // on rank 0: its arrays have the present state of all nodes
    solver_answer *answer; // on the others: to solver_begin_call
    void *answer_context;
};

// Orders from ORDER_PART on are those of enum part_task.
enum {
    ORDER_ADVANCE,
    ORDER_COLLECT,
    ORDER_EVALUATE,
    ORDER_COUNT,
    ORDER_READ,
    ORDER_CALL,
    ORDER_LISTS,
    ORDER_LIST,
    ORDER_STARTED,
    ORDER_END,
    ORDER_PART
};

struct order {
    uint64_t kind;
    uint64_t steps;        // or whether forces are wanted, the argument of a task, what is read of
    uint64_t first, count; // these nodes, or the bytes of a message, or of a list
    uint64_t body;         // of a list
    bool partway;          // of steps
};

// ---- What is refused

static taut_status refuse(taut_error *error, const char *key, const char *what)
{
    return fail(error, TAUT_ERROR_UNSUPPORTED,
                "%s: %s on several ranks yet (docs/ranks.md lists what is); start one process", key,
                what);
}

// Whether every rank computes the steps of the whole scene, as one process does, and shares only
// what takes most of the time (springs/shares.h): with integrators that solve systems of equations,
// unless ranks hold only their parts.
static bool is_whole(const taut_solver *solver)
{
    return !solver->only_part &&
           (integrator_is_implicit(solver->integrator) || solver->integrator == INTEGRATOR_XPBD);
}

// Whether ranks share the linear systems of implicit integrators. All must then come to the same
// sums, one after another. With contact of surfaces that is not certain: when lists are made, and
// so what is measured, depends on what rank 0 has evaluated for output. With few nodes messages
// take longer than what they save.
static bool may_share(const taut_solver *solver)
{
    const size_t chunks = chunk_count((size_t)solver->topology->node_count);
    return integrator_is_implicit(solver->integrator) && chunks > (size_t)ranks_count() &&
           !solver->topology->has_contact && solver->topology->mesh_collider_count == 0;
}

// Whatever the steps of a scene need and only one process can do is an error at the start, with its
// key.
static taut_status check_scene(const taut_solver *solver, taut_error *error)
{
    char key[100];
    if (is_whole(solver))
        return TAUT_OK;
    const enum plan_format format = plan_off_grid_format(solver->plan);
    if (plan_is_reference(solver->plan) || format == PLAN_BLOCKS || format == PLAN_COLOURED) {
        snprintf(key, sizeof key, "--kernel %s", kernel_choice_name((int)solver->kernel));
        return refuse(error, key, "only auto, grid and packed are possible");
    }
    return TAUT_OK;
}

// The first rank with another hash than rank 0; the number of ranks: all have the same. Collective.
static int find_other(const struct hash *hash)
{
    const int count = ranks_count();
    uint64_t *keys = calloc((size_t)count, sizeof *keys);
    if (!keys)
        ranks_abort(1, "out of memory for the comparison of ranks");
    ranks_share(hash_end(hash), keys);
    int other = 1;
    while (other < count && keys[other] == keys[0])
        other++;
    free(keys);
    return other;
}

static taut_status refuse_other(int other, const char *what, taut_error *error)
{
    if (other == ranks_count())
        return TAUT_OK;
    return fail(error, TAUT_ERROR_UNSUPPORTED,
                "rank %d %s: all ranks must run the same build of taut on the same files, with the "
                "same options",
                other, what);
}

// Whether all ranks have made the same of the scene. Collective; the same result on all.
static taut_status check_model(const taut_solver *solver, const taut_scene *scene,
                               taut_error *error)
{
    const struct scene_simulation *simulation = &scene->simulation;
    const struct plan_counts counts = plan_counts(solver->topology, solver->plan);
    const uint64_t numbers[] = {solver->digest,
                                solver->topology->node_count,
                                solver->topology->spring_count,
                                counts.grid_tiles,
                                counts.packed_tiles,
                                simulation->dt_auto,
                                solver_energy_budget(solver) != NULL};
    const double dt = simulation->dt_auto ? 0 : simulation->dt;
    struct hash hash;
    hash_begin(&hash);
    hash_add(&hash, TAUT_VERSION_STRING, strlen(TAUT_VERSION_STRING));
    hash_add(&hash, numbers, sizeof numbers);
    hash_add(&hash, &dt, sizeof dt);
    return refuse_other(find_other(&hash), "has made another model of the scene than rank 0",
                        error);
}

taut_status solver_check_start(const taut_solver *solver, taut_error *error)
{
    struct hash hash;
    hash_begin(&hash);
    hash_add(&hash, &solver->start, sizeof solver->start);
    hash_add(&hash, &solver->checkpoint, sizeof solver->checkpoint);
    if (solver->checkpoint)
        return refuse_other(find_other(&hash), "has another checkpoint of that name than rank 0",
                            error);
    return refuse_other(find_other(&hash),
                        "starts from another state than rank 0 (the velocities of its bodies, "
                        "'initial', or 'existing' of contact differ)",
                        error);
}

// Likewise, whether they do the same steps. dt: auto may follow the state at the start.
static taut_status check_time(const taut_solver *solver, const taut_scene *scene, taut_error *error)
{
    const struct scene_simulation *simulation = &scene->simulation;
    const uint64_t steps[] = {solver->steps_planned,
                              simulation->has_duration ? 0 : simulation->steps};
    const double times[] = {solver->dt, simulation->has_duration ? simulation->duration : 0};
    struct hash hash;
    hash_begin(&hash);
    hash_add(&hash, steps, sizeof steps);
    hash_add(&hash, times, sizeof times);
    return refuse_other(find_other(&hash),
                        "runs the scene for another time than rank 0, or with another dt", error);
}

static taut_status check_same(const taut_solver *solver, const taut_scene *scene, taut_error *error)
{
    taut_status status = check_model(solver, scene, error);
    if (status == TAUT_OK)
        status = solver_check_start(solver, error);
    if (status == TAUT_OK)
        status = check_time(solver, scene, error);
    return status;
}

// ---- Parts

// Whether some bodies whose springs are no directions of a grid have what needs all nodes in each
// step.
static bool needs_off_grid(const struct topology *topology, const struct plan *plan)
{
    bool any = false, needs = false;
    for (size_t b = 0; b < topology->body_count; b++) {
        const struct topology_body *body = &topology->bodies[b];
        if (plan_grid_of_body(plan, b) && body->direction_count > 0)
            continue;
        any |= body->node_count > 0;
        // These have a list of springs, or cells of a grid that has been cut.
        needs |= plan_grid_of_body(plan, b) ||
                 (body->elements.present && !elements_are_membrane(&body->elements));
    }
    return needs || (any && plan_off_grid_format(plan) != PLAN_PACKED);
}

// The same for the linear systems of implicit integrators. They need all nodes where there are
// other terms than springs of grids in their rows, states of springs, or grid lines along which
// nodes are solved together.
static bool needs_in_rows(const struct topology *topology, const struct plan *plan)
{
    bool needs = topology_has_gas(topology) || topology->any_breaks || topology->any_yields;
    for (size_t b = 0; b < topology->body_count; b++) {
        const struct plan_grid *grid = plan_grid_of_body(plan, b);
        needs |= topology->bodies[b].node_count > 0 &&
                 (!grid || grid->weighted || topology->bodies[b].elements.present ||
                  plan_grid_has_lines(topology, grid));
    }
    return needs;
}

static bool plan_needs_all(const taut_scene *scene, const struct topology *topology,
                           const struct plan *plan)
{
    return needs_off_grid(topology, plan) ||
           (integrator_is_implicit(scene->simulation.integrator) && needs_in_rows(topology, plan));
}

// Ranks may not hold parts with contact of surfaces, for which every rank has all nodes; nor where
// implicit steps are solved again, with constraints or because they have gained energy, or assume
// friction.
bool ranks_may_hold_parts(const taut_scene *scene, bool needs_all)
{
    const enum integrator integrator = scene->simulation.integrator;
    const bool implicit = integrator_is_implicit(integrator);
    for (size_t c = 0; c < scene->collider_count; c++) {
        const struct scene_collider *it = &scene->colliders[c];
        if (it->response == RESPONSE_CONTACT ||
            (implicit && (it->response != RESPONSE_PENALTY || it->coulomb.present ||
                          integrator == INTEGRATOR_IMPLICIT_MIDPOINT)))
            return false;
    }
    return integrator != INTEGRATOR_XPBD && !needs_all && !scene->contact.present;
}

bool solver_may_hold_part(const taut_solver *solver, const taut_scene *scene)
{
    return ranks_count() > 1 &&
           ranks_may_hold_parts(scene, plan_needs_all(scene, solver->topology, solver->plan));
}

bool solver_waits(const taut_solver *solver)
{
    return solver->only_part && !solver->ranks;
}

bool solver_has_part(const taut_solver *solver)
{
    return solver->only_part;
}

bool solver_find_held(const taut_solver *solver, struct held_part *held)
{
    struct plan_part part;
    if (!solver->only_part || !solver->ranks || !solver->ranks->parts ||
        plan_part_make(solver->topology, solver->plan, solver->ranks->parts, ranks_number(), &part,
                       NULL) != TAUT_OK)
        return false;
    const struct plan_part_counts counts =
        plan_part_counts(solver->topology, solver->plan, solver->ranks->parts, &part);
    const uint64_t tiles = plan_counts(solver->topology, solver->plan).grid_tiles;
    const double own = (double)(part.end_tile - part.first_tile);
    *held = (struct held_part){.nodes = counts.nodes + counts.halo_nodes,
                               .tiles = tiles > 0 ? own / (double)tiles : 0,
                               .springs = (uint64_t)part.fragile_count * SUM_CHUNK};
    plan_part_free(&part);
    return true;
}

// ---- Making

// Finds the own nodes of this rank in a scene that has been planned but for its packed springs.
static taut_status find_own_nodes(const struct topology *topology, const struct plan *plan,
                                  struct range *own, taut_error *error)
{
    struct plan_parts *parts;
    const taut_status status = plan_parts_make(topology, plan, ranks_count(), &parts, error);
    if (status != TAUT_OK)
        return status;
    const uint64_t *cuts = parts->cuts + ranks_number();
    *own = (struct range){(size_t)cuts[0], (size_t)cuts[1]};
    plan_parts_free(parts);
    return TAUT_OK;
}

// The nodes of a rank, of its chunks, and of all small bodies with any of these: the same as
// exchange_bounds_nodes, for all bodies together.
static struct range near_nodes(const struct topology *topology, const struct plan *plan,
                               const struct plan_parts *parts)
{
    const uint64_t *cuts = parts->cuts + ranks_number();
    const uint64_t chunks_end =
        min_u64(parts->chunk_cuts[ranks_number() + 1] * SUM_CHUNK, topology->node_count);
    uint64_t end = cuts[1];
    if (cuts[0] == cuts[1])
        return (struct range){(size_t)cuts[0], (size_t)end};
    if (parts->chunk_cuts[ranks_number()] < parts->chunk_cuts[ranks_number() + 1])
        end = max_u64(end, chunks_end);
    const size_t last = topology_body_of_node(topology, end - 1);
    const struct topology_body *body = &topology->bodies[last];
    if (body->first_node >= cuts[0] && !plan_body_is_divided(topology, plan, parts, last))
        end = body->first_node + body->node_count;
    return (struct range){(size_t)cuts[0], (size_t)end};
}

taut_status solver_own_nodes(const taut_solver *solver, struct range *own, struct range *near,
                             taut_error *error)
{
    struct plan_parts *parts;
    const taut_status status =
        plan_parts_make(solver->topology, solver->plan, ranks_count(), &parts, error);
    if (status != TAUT_OK)
        return status;
    const uint64_t *cuts = parts->cuts + ranks_number();
    *own = (struct range){(size_t)cuts[0], (size_t)cuts[1]};
    *near = near_nodes(solver->topology, solver->plan, parts);
    plan_parts_free(parts);
    return TAUT_OK;
}

taut_status ranks_find_kept(const taut_scene *scene, const struct topology *topology,
                            const struct plan *plan, struct plan_nodes *kept, taut_error *error)
{
    struct range own;
    if (!ranks_may_hold_parts(scene, plan_needs_all(scene, topology, plan)))
        return TAUT_OK;
    const taut_status status = find_own_nodes(topology, plan, &own, error);
    if (status == TAUT_OK)
        *kept = (struct plan_nodes){own.first, own.end - own.first};
    return status;
}

taut_status ranks_find_forgotten(const struct topology *topology, const struct plan *plan,
                                 uint8_t *forgotten, taut_error *error)
{
    struct plan_parts *parts;
    const taut_status status = plan_parts_make(topology, plan, ranks_count(), &parts, error);
    if (status != TAUT_OK)
        return status;
    for (size_t b = 0; b < topology->body_count; b++)
        forgotten[b] = plan_part_forgets(topology, plan, parts, ranks_number(), b);
    plan_parts_free(parts);
    return TAUT_OK;
}

static void give_order(uint64_t kind, uint64_t steps)
{
    struct order order = {.kind = kind, .steps = steps};
    ranks_broadcast(&order, sizeof order);
}

// Called on a rank that comes to a common task by itself, in the same order as rank 0.
static void await_order(uint64_t kind)
{
    struct order order;
    ranks_broadcast(&order, sizeof order);
    if (order.kind != kind)
        ranks_abort(1, "rank 0 does something else than this one");
}

static void serve_until(taut_solver *solver, uint64_t last);

// The start of a solver whose ranks hold only their parts. All choose the same dt, with dt: auto
// from bounds that they measure together; rank 0, which alone has findings, checks whether a given
// one is stable.
static taut_status start_parts(taut_solver *solver, const taut_scene *scene,
                               const struct solver_options *options, taut_error *error)
{
    taut_status status;
    if (solver->reading)
        options = reading_options(solver->reading);
    if (ranks_number() == 0) {
        status = solver_begin_run(solver, scene, options, error);
        give_order(ORDER_STARTED, 0);
    } else {
        struct solver_options silent = *options;
        silent.diagnostics = NULL;
        status = dt_choose(solver, scene, &silent, error);
        serve_until(solver, ORDER_STARTED);
    }
    if (!solver->reading)
        return status;
    taut_error failure = {0};
    const taut_status read = reading_continue(solver, status == TAUT_OK, &failure);
    if (status != TAUT_OK || read == TAUT_OK)
        return status;
    *error = failure;
    return read;
}

taut_status solver_share(taut_solver *solver, const taut_scene *scene,
                         const struct solver_options *options, taut_error *error)
{
    if (ranks_count() == 1)
        return TAUT_OK;
    taut_status status = check_same(solver, scene, error);
    if (status == TAUT_OK)
        status = check_scene(solver, error);
    if (status != TAUT_OK)
        return status;
    solver->ranks = calloc(1, sizeof *solver->ranks);
    if (!solver->ranks)
        ranks_abort(1, "out of memory for the parts of ranks");
    solver->ranks->collected = !solver->only_part; // otherwise every rank has made all of it
    solver->ranks->whole = is_whole(solver);
    if (solver->ranks->whole && may_share(solver))
        solver->ranks->shares = solver->functions->shares_make(solver->system, NULL);
    if (solver->ranks->whole)
        return TAUT_OK;
    if (plan_parts_make(solver->topology, solver->plan, ranks_count(), &solver->ranks->parts,
                        error) != TAUT_OK)
        ranks_abort(1, "out of memory for the parts of ranks");
    status = solver->functions->exchange_make(solver->system, solver->ranks->parts,
                                              solver->only_part, &solver->ranks->exchange, error);
    if (status == TAUT_OK && integrator_is_implicit(solver->integrator))
        solver->ranks->shares =
            solver->functions->shares_make(solver->system, solver->ranks->parts);
    return status == TAUT_OK && solver->only_part ? start_parts(solver, scene, options, error)
                                                  : status;
}

// Where exchange could not be made, the others are not waiting for orders.
bool solver_is_shared(const taut_solver *solver)
{
    return solver->ranks && (solver->ranks->exchange || solver->ranks->whole);
}

void solver_ranks_free(taut_solver *solver)
{
    struct solver_ranks *ranks = solver->ranks;
    if (!ranks)
        return;
    if (solver_is_shared(solver) && ranks_number() == 0)
        give_order(ORDER_END, 0);
    solver->functions->exchange_free(ranks->exchange);
    solver->functions->shares_free(ranks->shares);
    plan_parts_free(ranks->parts);
    free(ranks);
    solver->ranks = NULL;
}

// ---- Stepping

void solver_begin_steps(taut_solver *solver, uint64_t steps, bool partway)
{
    struct order order = {.kind = ORDER_ADVANCE, .steps = steps, .partway = partway};
    if (!solver->ranks)
        return;
    if (ranks_number() == 0)
        ranks_broadcast(&order, sizeof order);
    solver->ranks->steps = true;
    solver->functions->shares_use(solver->system, solver->ranks->shares);
    if (solver->ranks->whole)
        return;
    solver->ranks->collected = false;
    solver->functions->exchange_use(solver->system, solver->ranks->exchange);
}

void solver_end_steps(taut_solver *solver)
{
    if (!solver->ranks)
        return;
    solver->functions->shares_use(solver->system, NULL);
    if (!solver->ranks->whole)
        solver->functions->exchange_use(solver->system, NULL);
    solver->ranks->steps = false;
}

// Collects the nodes of all ranks on rank 0, and the weights of the bound that dt: auto follows,
// which are in checkpoints, too.
static void collect(const taut_solver *solver)
{
    const struct solver_ranks *ranks = solver->ranks;
    solver->functions->exchange_collect(solver->system, ranks->exchange);
    if (solver->dt_rule.automatic && solver->only_part)
        solver->functions->critical_collect_weights(solver->system, ranks->parts->cuts);
}

void solver_collect(const taut_solver *solver)
{
    struct solver_ranks *ranks = solver->ranks;
    if (!ranks || ranks->collected || ranks->steps || ranks_number() != 0)
        return;
    give_order(ORDER_COLLECT, 0);
    collect(solver);
    ranks->collected = true;
}

// ---- Lists of bodies of other ranks

// The rank with the lists of a body that rank 0 may not have.
static int list_holder(const taut_solver *solver, size_t body)
{
    return plan_part_of_node(solver->ranks->parts, solver->topology->bodies[body].first_node);
}

// Collects the positions as built of membranes on rank 0.
static void collect_membranes(taut_solver *solver)
{
    struct topology *topology = solver->topology;
    uint64_t *cuts = calloc((size_t)ranks_count() + 1, sizeof *cuts);
    if (!cuts)
        ranks_abort(1, "out of memory for the parts of ranks");
    for (int rank = 0; rank <= ranks_count(); rank++)
        cuts[rank] = topology_membrane_index(topology, solver->ranks->parts->cuts[rank]);
    if (ranks_number() == 0) {
        topology_recall_membranes(topology);
        solver->lacks_membranes = false;
    }
    ranks_collect(topology->membrane_nodes, sizeof *topology->membrane_nodes, cuts, false);
    free(cuts);
}

// Collects the lists of bodies on rank 0. All ranks call it.
static void collect_lists(taut_solver *solver)
{
    struct topology *topology = solver->topology;
    if (topology->membrane_node_count > 0)
        collect_membranes(solver);
    for (size_t b = 0; b < topology->body_count; b++) {
        if (!plan_part_forgets(topology, solver->plan, solver->ranks->parts, 0, b))
            continue;
        if (ranks_number() == 0)
            topology_recall_lists(topology, b);
        const int lists = plan_forgets_faces(solver->plan) ? TOPOLOGY_LISTS : TOPOLOGY_LISTS - 1;
        for (int i = 0; i < lists; i++) {
            const struct topology_list list = topology_list_of(topology, b, i);
            ranks_pass(list.items, list.bytes, list_holder(solver, b), 0);
        }
    }
    if (ranks_number() == 0)
        solver->functions->copy_springs(solver->system);
}

static bool lacks_lists(const taut_solver *solver)
{
    bool lacks = solver->lacks_membranes;
    for (size_t b = 0; b < solver->topology->body_count; b++)
        lacks |= solver->topology->bodies[b].springs_absent;
    return lacks;
}

void solver_know_lists(taut_solver *solver)
{
    if (!solver->ranks || ranks_number() != 0 || !lacks_lists(solver))
        return;
    give_order(ORDER_LISTS, 0);
    collect_lists(solver);
}

static void pass_list(const taut_solver *solver, const struct order *order, uint32_t *nodes)
{
    const int holder = list_holder(solver, (size_t)order->body);
    const bool triangles = order->steps != 0;
    const size_t bytes = (size_t)order->count * (triangles ? 3 : 2) * sizeof *nodes;
    uint32_t *read = nodes;
    if (holder == ranks_number() && !nodes) {
        read = malloc(bytes + 1);
        if (!read)
            ranks_abort(1, "out of memory for a list of a body");
    }
    if (holder == ranks_number())
        solver_read_own_list(solver, (size_t)order->body, triangles, order->first, order->count,
                             read);
    ranks_pass(read, bytes, holder, 0);
    if (!nodes)
        free(read);
}

bool solver_read_absent_list(const taut_solver *solver, size_t body, bool triangles, uint64_t first,
                             uint64_t count, uint32_t *nodes)
{
    const struct topology_body *it = &solver->topology->bodies[body];
    struct order order = {
        .kind = ORDER_LIST, .steps = triangles, .first = first, .count = count, .body = body};
    if (!solver->ranks || ranks_number() != 0 ||
        !(triangles ? it->faces_absent : it->springs_absent))
        return false;
    ranks_broadcast(&order, sizeof order);
    pass_list(solver, &order, nodes);
    return true;
}

// Every rank keeps lists of surfaces, which are made at the same times, and what they have is
// counted.
static void order_with_surfaces(const taut_solver *solver, uint64_t kind, bool want_forces)
{
    const struct solver_ranks *ranks = solver->ranks;
    if (!ranks || ranks->whole || ranks->steps || ranks_number() != 0 ||
        !solver->topology->has_contact)
        return;
    solver_collect(solver);
    give_order(kind, want_forces);
}

void solver_begin_evaluation(const taut_solver *solver, bool want_forces)
{
    order_with_surfaces(solver, ORDER_EVALUATE, want_forces);
}

void solver_begin_count(const taut_solver *solver)
{
    order_with_surfaces(solver, ORDER_COUNT, false);
}

// ---- What all ranks do together with their parts

bool solver_begin_part(const taut_solver *solver, enum part_task task, uint64_t argument)
{
    struct solver_ranks *ranks = solver->ranks;
    if (!ranks || !solver->only_part || ranks->steps)
        return false;
    if (ranks_number() == 0)
        give_order(ORDER_PART + (uint64_t)task, argument);
    else if (!ranks->served)
        await_order(ORDER_PART + (uint64_t)task);
    solver_begin_together(solver);
    return true;
}

void solver_begin_together(const taut_solver *solver)
{
    solver->ranks->steps = true;
    solver->functions->exchange_use(solver->system, solver->ranks->exchange);
}

// Forces may be those of the present state now, of each part on its own rank: what rank 0 has
// collected before is without them.
void solver_end_part(const taut_solver *solver)
{
    solver->functions->exchange_use(solver->system, NULL);
    solver->ranks->steps = false;
    solver->ranks->collected = false;
}

taut_status solver_agree(taut_status status, const char *what, taut_error *error)
{
    const bool failed = ranks_any(status != TAUT_OK);
    return failed && status == TAUT_OK ? fail_memory(error, what) : status;
}

static void read_hashed(const taut_solver *solver, const void *context, uint64_t first,
                        uint64_t count, void *to)
{
    (void)context;
    solver->functions->hash_read(solver->system, first, count, to);
}

// The nodes of a body that is divided are hashed by `holder`, which gets those of others.
static void hash_scattered(const taut_solver *solver, uint64_t first, uint64_t count, int holder,
                           struct hash *hash)
{
    const struct scattered nodes = {.first = first,
                                    .count = count,
                                    .bytes = solver->functions->hash_bytes(solver->system),
                                    .read = read_hashed};
    const size_t bytes = (size_t)count * nodes.bytes;
    unsigned char *space = malloc(2 * bytes);
    if (!space)
        ranks_abort(1, "out of memory for the hash");
    solver_pass_scattered(solver, &nodes, holder, space + bytes, space);
    if (holder == ranks_number())
        hash_add(hash, space + bytes, bytes);
    free(space);
}

uint64_t solver_hash_parts(const taut_solver *solver)
{
    const bool together = solver_begin_part(solver, PART_HASH, 0);
    const uint64_t nodes = solver->topology->node_count;
    struct hash hash;
    int holder = 0; // of what has been added
    solver->functions->hash_begin(solver->system, &hash);
    for (uint64_t node = 0; together && node < nodes;) {
        const struct plan_spring_piece piece = solver_node_piece(solver, node, nodes);
        if (piece.owner >= 0)
            ranks_pass(&hash, sizeof hash, holder, piece.owner);
        holder = piece.owner >= 0 ? piece.owner : holder;
        if (piece.owner < 0)
            hash_scattered(solver, node, piece.count, holder, &hash);
        else if (piece.owner == ranks_number())
            solver->functions->hash_add(solver->system, &hash, node, piece.count);
        node += piece.count;
    }
    if (together) {
        ranks_pass(&hash, sizeof hash, holder, 0);
        solver_end_part(solver);
    }
    return hash_end(&hash);
}

void solver_share_losses(const taut_solver *solver)
{
    const bool together = solver_begin_part(solver, PART_LOSSES, 0);
    if (!together)
        return;
    solver->functions->share_losses(solver->system);
    solver_end_part(solver);
}

bool solver_reads_parts(const taut_solver *solver)
{
    return solver->only_part && ranks_number() == 0 && solver->ranks && !solver->ranks->collected &&
           !solver->ranks->steps;
}

static void read_own(const taut_solver *solver, unsigned numbers, uint64_t first, uint64_t count,
                     double *to)
{
    solver->functions->read_nodes(
        solver->system, first, count, numbers == NODES_POSITIONS ? to : NULL,
        numbers == NODES_VELOCITIES ? to : NULL, numbers == NODES_FORCES ? to : NULL);
}

static void read_scattered(const taut_solver *solver, const void *context, uint64_t first,
                           uint64_t count, void *to)
{
    read_own(solver, *(const unsigned *)context, first, count, to);
}

// Passes numbers of nodes to rank 0. All ranks call it; `to` is that of rank 0.
static void pass_parts(const taut_solver *solver, unsigned numbers, uint64_t first, uint64_t count,
                       double *to)
{
    enum { NODES_AT_ONCE = SCATTERED_AT_ONCE };
    double space[3 * NODES_AT_ONCE];
    for (uint64_t node = first; node < first + count;) {
        const uint64_t end = min_u64(first + count, node + NODES_AT_ONCE);
        const struct plan_spring_piece piece = solver_node_piece(solver, node, end);
        const struct scattered some = {node, piece.count, 3 * sizeof *space, read_scattered,
                                       &numbers};
        // cppcheck-suppress legacyUninitvar ; it is read after it has been filled
        double *numbers_of_some = to ? to + 3 * (node - first) : space;
        if (piece.owner < 0)
            solver_pass_scattered(solver, &some, 0, to, space);
        if (piece.owner == ranks_number())
            read_own(solver, numbers, node, piece.count, numbers_of_some);
        if (piece.owner >= 0)
            ranks_pass(numbers_of_some, piece.count * some.bytes, piece.owner, 0);
        node += piece.count;
    }
}

void solver_read_parts(const taut_solver *solver, unsigned numbers, uint64_t first, uint64_t count,
                       double *to)
{
    struct order order = {.kind = ORDER_READ, .steps = numbers, .first = first, .count = count};
    ranks_broadcast(&order, sizeof order);
    pass_parts(solver, numbers, first, count, to);
}

// The step that rank 0 looks for; here only this rank's part of the work counts.
static void find_step(taut_solver *solver, uint64_t argument)
{
    double dt;
    memcpy(&dt, &argument, sizeof dt);
    if (solver->functions->prepare_critical(solver->system, false, NULL) != TAUT_OK)
        ranks_abort(1, "out of memory for the critical step");
    (void)dt_find_up_to(solver, dt);
    solver->functions->release_critical(solver->system);
}

static void do_part(taut_solver *solver, uint64_t task, uint64_t argument)
{
    struct critical_step critical;
    taut_energy energy;
    solver->ranks->served = true;
    if (task == PART_START)
        solver_start(solver);
    else if (task == PART_STEP_UP_TO)
        find_step(solver, argument);
    else if (task == PART_MEASURE_BOUNDS)
        (void)solver_critical_step(solver, &critical, NULL); // fails on all ranks alike
    else if (task == PART_EVALUATE)
        solver_evaluate(solver, argument != 0, &energy);
    else if (task == PART_SCALE)
        (void)solver_scale(solver);
    else if (task == PART_TRACE)
        (void)solver_stiffness_trace(solver);
    else if (task == PART_HASH)
        (void)solver_hash_parts(solver);
    else if (task == PART_BROKEN)
        (void)taut_solver_broken_count(solver);
    else if (task == PART_LOSSES)
        solver_share_losses(solver);
    solver->ranks->served = false;
}

struct range solver_nodes_of_rank(const taut_solver *solver, int rank)
{
    const uint64_t *cuts = solver->ranks->parts->cuts + rank;
    return (struct range){(size_t)cuts[0], (size_t)cuts[1]};
}

struct range solver_part_nodes(const taut_solver *solver)
{
    return solver_nodes_of_rank(solver, ranks_number());
}

uint64_t solver_rank_nodes(const taut_solver *solver, int rank)
{
    const struct range nodes = solver_nodes_of_rank(solver, rank);
    return nodes.end - nodes.first;
}

const struct plan_parts *solver_parts(const taut_solver *solver)
{
    return solver->ranks->parts;
}

int solver_rank_of_node(const taut_solver *solver, uint64_t node)
{
    return plan_part_of_node(solver->ranks->parts, node);
}

struct plan_spring_piece solver_spring_piece(const taut_solver *solver, uint64_t first,
                                             uint64_t end)
{
    return plan_spring_piece(solver->topology, solver->plan, solver->ranks->parts, first, end);
}

void solver_gather_counted(const taut_solver *solver, unsigned field, uint64_t first,
                           uint64_t count, void *to)
{
    solver->functions->checkpoint_gather_counted(solver->system, solver->ranks->exchange, field,
                                                 first, count, to);
}

void solver_exchange_around(const taut_solver *solver, struct range nodes, const uint64_t *list,
                            uint64_t count)
{
    solver->functions->exchange_around(solver->system, solver->ranks->exchange, nodes, list, count);
}

void solver_begin_call(const taut_solver *solver, const void *message, size_t bytes)
{
    struct order order = {.kind = ORDER_CALL, .steps = bytes};
    if (!solver->ranks)
        return;
    ranks_broadcast(&order, sizeof order);
    void *copy = malloc(bytes + 1);
    if (!copy)
        ranks_abort(1, "out of memory for a message to all ranks");
    memcpy(copy, message, bytes);
    ranks_broadcast(copy, bytes);
    free(copy);
    solver->ranks->steps = true;
}

void solver_end_call(const taut_solver *solver)
{
    if (solver->ranks)
        solver->ranks->steps = false;
}

static void answer_call(struct solver_ranks *ranks, size_t bytes)
{
    void *message = malloc(bytes + 1);
    if (!message)
        ranks_abort(1, "out of memory for a message to all ranks");
    ranks_broadcast(message, bytes);
    ranks->steps = true;
    if (ranks->answer)
        ranks->answer(ranks->answer_context, message);
    ranks->steps = false;
    free(message);
}

void solver_serve(taut_solver *solver, solver_answer *answer, void *context)
{
    solver->ranks->answer = answer;
    solver->ranks->answer_context = context;
    serve_until(solver, ORDER_END);
}

// Serves rank 0 until it gives the order `last`, or destroys its solver.
static void serve_until(taut_solver *solver, uint64_t last)
{
    struct order order = {.kind = ORDER_END};
    taut_energy energy;
    do {
        ranks_broadcast(&order, sizeof order);
        if (order.kind >= ORDER_PART)
            do_part(solver, order.kind - ORDER_PART, order.steps);
        else if (order.kind == ORDER_ADVANCE)
            (void)solver_step_together(solver, order.steps, order.partway);
        else if (order.kind == ORDER_COLLECT)
            collect(solver);
        else if (order.kind == ORDER_EVALUATE)
            solver_evaluate(solver, order.steps != 0, &energy);
        else if (order.kind == ORDER_READ)
            pass_parts(solver, (unsigned)order.steps, order.first, order.count, NULL);
        else if (order.kind == ORDER_COUNT)
            (void)solver_surface_counts(solver);
        else if (order.kind == ORDER_CALL)
            answer_call(solver->ranks, (size_t)order.steps);
        else if (order.kind == ORDER_LISTS)
            collect_lists(solver);
        else if (order.kind == ORDER_LIST)
            pass_list(solver, &order, NULL);
    } while (order.kind != last && order.kind != ORDER_END);
}

// ---- Parts of any number of ranks, without processes

taut_status solver_count_parts(const taut_solver *solver, int count,
                               struct plan_part_counts *counts, taut_error *error)
{
    struct plan_parts *parts;
    taut_status status = plan_parts_make(solver->topology, solver->plan, count, &parts, error);
    for (int p = 0; status == TAUT_OK && p < count; p++) {
        struct plan_part part;
        status = plan_part_make(solver->topology, solver->plan, parts, p, &part, error);
        if (status != TAUT_OK)
            break;
        if (solver->functions->part_needs(solver->system, &part)) {
            plan_part_tidy(&part);
            counts[p] = plan_part_counts(solver->topology, solver->plan, parts, &part);
        } else {
            status = fail_memory(error, "the parts of ranks");
        }
        plan_part_free(&part);
    }
    if (parts)
        plan_parts_free(parts);
    return status;
}
