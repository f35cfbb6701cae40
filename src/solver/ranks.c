// A solver of several ranks: what they agree on, who leads, and what is refused.
//
// Every rank has created the solver of the whole scene. Rank 0 leads: when it advances, it tells the
// others to do the same (solver_serve). Everything else that reads the state, energies, frames,
// hashes and checkpoints, is done by rank 0 alone, as by one process: the nodes of the others are
// collected first, at most once per step. So decisions that depend on the clock or on signals are
// made by one rank, and output has the same bytes.
#include "solver/private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "ranks/ranks.h"
#include "springs/plan_parts.h"

struct solver_ranks {
    struct plan_parts *parts;
    struct exchange *exchange;
    bool whole;            // every rank computes the whole scene
    struct shares *shares; // of what they share then; NULL: nothing
    bool steps;            // between solver_begin_steps and solver_end_steps
    bool collected;        // on rank 0: its arrays have the present state of all nodes
};

enum { ORDER_ADVANCE, ORDER_COLLECT, ORDER_EVALUATE, ORDER_COUNT, ORDER_END };

struct order {
    uint64_t kind;
    uint64_t steps; // or whether forces are wanted
};

// ---- What is refused

static taut_status refuse(taut_error *error, const char *key, const char *what)
{
    return fail(error, TAUT_ERROR_UNSUPPORTED,
                "%s: %s on several ranks yet (docs/ranks.md lists what is); start one process", key,
                what);
}

// Whether every rank computes the steps of the whole scene, as one process does, and shares only what
// takes most of the time (springs/shares.h): with integrators that solve systems of equations.
static bool is_whole(const taut_solver *solver)
{
    return integrator_is_implicit(solver->integrator) || solver->integrator == INTEGRATOR_XPBD;
}

// Whether ranks share the linear systems of implicit integrators. All must then come to the same sums,
// one after another. With contact of surfaces that is not certain: when lists are made, and so what is
// measured, depends on what rank 0 has evaluated for output. With few nodes messages take longer than
// what they save.
static bool may_share(const taut_solver *solver)
{
    const size_t chunks = chunk_count((size_t)solver->topology->node_count);
    return integrator_is_implicit(solver->integrator) && chunks > (size_t)ranks_count() &&
           !solver->topology->has_contact && solver->topology->mesh_collider_count == 0;
}

// Whatever the steps of a scene need and what only one process can do is an error at the start,
// with its key.
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

// Whether all ranks have made the same of the scene. Collective; the same result on all.
static taut_status check_same(const taut_solver *solver, taut_error *error)
{
    const int count = ranks_count();
    uint64_t *keys = calloc((size_t)count, sizeof *keys);
    if (!keys)
        ranks_abort(1, "out of memory for the comparison of ranks");
    struct hash hash;
    hash_begin(&hash);
    const uint64_t numbers[] = {solver->digest,
                                solver->topology->node_count,
                                solver->topology->spring_count,
                                solver->steps_planned,
                                plan_counts(solver->topology, solver->plan).grid_tiles,
                                plan_counts(solver->topology, solver->plan).packed_tiles};
    hash_add(&hash, TAUT_VERSION_STRING, strlen(TAUT_VERSION_STRING));
    hash_add(&hash, numbers, sizeof numbers);
    hash_add(&hash, &solver->dt, sizeof solver->dt);
    ranks_share(hash_end(&hash), keys);
    int other = 1;
    while (other < count && keys[other] == keys[0])
        other++;
    free(keys);
    if (other == count)
        return TAUT_OK;
    return fail(error, TAUT_ERROR_UNSUPPORTED,
                "rank %d has made another model of the scene than rank 0: all ranks must run the "
                "same build of taut on the same files",
                other);
}

// ---- Making

taut_status solver_own_nodes(const taut_solver *solver, struct range *own, taut_error *error)
{
    struct plan_parts *parts;
    const taut_status status =
        plan_parts_make(solver->topology, solver->plan, ranks_count(), &parts, error);
    if (status != TAUT_OK)
        return status;
    const uint64_t *cuts = parts->cuts + ranks_number();
    *own = (struct range){(size_t)cuts[0], (size_t)cuts[1]};
    plan_parts_free(parts);
    return TAUT_OK;
}

taut_status solver_share(taut_solver *solver, taut_error *error)
{
    if (ranks_count() == 1)
        return TAUT_OK;
    taut_status status = check_same(solver, error);
    if (status == TAUT_OK)
        status = check_scene(solver, error);
    if (status != TAUT_OK)
        return status;
    solver->ranks = calloc(1, sizeof *solver->ranks);
    if (!solver->ranks)
        ranks_abort(1, "out of memory for the parts of ranks");
    solver->ranks->collected = true; // every rank has made all of it
    solver->ranks->whole = is_whole(solver);
    if (may_share(solver))
        solver->ranks->shares = solver->functions->shares_make(solver->system);
    if (solver->ranks->whole)
        return TAUT_OK;
    if (plan_parts_make(solver->topology, solver->plan, ranks_count(), &solver->ranks->parts,
                        error) != TAUT_OK)
        ranks_abort(1, "out of memory for the parts of ranks");
    return solver->functions->exchange_make(solver->system, solver->ranks->parts,
                                            &solver->ranks->exchange, error);
}

static void give_order(uint64_t kind, uint64_t steps)
{
    struct order order = {kind, steps};
    ranks_broadcast(&order, sizeof order);
}

void solver_ranks_free(taut_solver *solver)
{
    struct solver_ranks *ranks = solver->ranks;
    if (!ranks)
        return;
    // Where exchange could not be made, the others are not waiting for orders.
    if ((ranks->exchange || ranks->whole) && ranks_number() == 0)
        give_order(ORDER_END, 0);
    solver->functions->exchange_free(ranks->exchange);
    solver->functions->shares_free(ranks->shares);
    plan_parts_free(ranks->parts);
    free(ranks);
    solver->ranks = NULL;
}

// ---- Stepping

void solver_begin_steps(taut_solver *solver, uint64_t steps)
{
    if (!solver->ranks)
        return;
    if (ranks_number() == 0)
        give_order(ORDER_ADVANCE, steps);
    solver->ranks->steps = true;
    if (solver->ranks->whole) {
        solver->functions->shares_use(solver->system, solver->ranks->shares);
        return;
    }
    solver->ranks->collected = false;
    solver->functions->exchange_use(solver->system, solver->ranks->exchange);
}

void solver_end_steps(taut_solver *solver)
{
    if (!solver->ranks)
        return;
    if (solver->ranks->whole)
        solver->functions->shares_use(solver->system, NULL);
    else
        solver->functions->exchange_use(solver->system, NULL);
    solver->ranks->steps = false;
}

void solver_collect(const taut_solver *solver)
{
    struct solver_ranks *ranks = solver->ranks;
    if (!ranks || ranks->collected || ranks->steps || ranks_number() != 0)
        return;
    give_order(ORDER_COLLECT, 0);
    solver->functions->exchange_collect(solver->system, ranks->exchange);
    ranks->collected = true;
}

// Every rank keeps lists of surfaces, which are made at the same times, and what they have is counted.
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

void solver_serve(taut_solver *solver)
{
    struct order order = {ORDER_END, 0};
    taut_energy energy;
    do {
        ranks_broadcast(&order, sizeof order);
        if (order.kind == ORDER_ADVANCE)
            solver_step_together(solver, order.steps);
        else if (order.kind == ORDER_COLLECT)
            solver->functions->exchange_collect(solver->system, solver->ranks->exchange);
        else if (order.kind == ORDER_EVALUATE)
            solver_evaluate(solver, order.steps != 0, &energy);
        else if (order.kind == ORDER_COUNT)
            (void)solver_surface_counts(solver);
    } while (order.kind != ORDER_END);
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
