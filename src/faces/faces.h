// Wind and gas. All workers call these functions together. Numeric.
#ifndef TAUT_FACES_FACES_H
#define TAUT_FACES_FACES_H

#include "faces/face.h"
#include "kernels/kernels.h"

// Adds the wind, except on rows whose wind is computed by the sweep with this finish
// (sweep_computes_wind).
void REAL_NAME(wind_add)(struct system *system, struct evaluation evaluation,
                         enum sweep_finish finish, const struct worker *worker);

// Parts of system->powers for the wind on all cloths on grids.
size_t REAL_NAME(wind_parts)(const struct system *system);

// The wind at a time, including gusts; .factor is 0 if there is none.
struct wind_now REAL_NAME(wind_at)(const struct topology *topology, double time);

// Iterates over faces on which wind acts, for a range of their common order: those in blocks, in
// the order of the constants, followed by those of each cloth.
struct face_walk {
    const struct system *system;
    size_t at, end;
    size_t grid, begin; // the cloth, and the index of its first face
};

static inline struct face_walk faces_walk(const struct system *system, struct range range)
{
    return (struct face_walk){system, range.first, range.end, 0,
                              (size_t)system->plan->faces.element_count};
}

// The nodes of the next face; false at the end.
static inline bool faces_next(struct face_walk *walk, struct face *face)
{
    const struct system *system = walk->system;
    const struct topology *topology = system->topology;
    if (walk->at >= walk->end)
        return false;
    if (walk->at < (size_t)system->plan->faces.element_count) {
        const uint32_t *nodes = system->constants->face_nodes[walk->at++];
        *face = (struct face){{nodes[0], nodes[1], nodes[2]}};
        return true;
    }
    for (; walk->grid < system->plan->face_grid_count; walk->grid++) {
        const struct topology_body *body =
            &topology->bodies[system->plan->face_grids[walk->grid].body];
        const size_t inside = walk->at - walk->begin;
        if (inside < (size_t)body->face_count) {
            *face = topology_body_face(topology, body, inside);
            walk->at++;
            return true;
        }
        walk->begin += (size_t)body->face_count;
    }
    return false;
}

// How gas acts on a body: not at all, in a pass of its own (pressure_add), or in the pass over its
// packed springs, which also computes the gradient of the volume (pressure_after_springs).
static inline bool gas_acts_with_springs(const struct system *system, size_t body)
{
    return packed_ring_tiles(&system->plan->packed, system->topology, body) != NULL;
}

static inline bool gas_acts_alone(const struct system *system, size_t body)
{
    return system->topology->bodies[body].pressure.present && !gas_acts_with_springs(system, body);
}

// Whether the state at the start of this step has a body whose gas has no volume left. Forces are
// not defined then, so that nothing moves and the step does not count: the run ends in the same
// state, whether it was evaluated at the end of the last step, as before a row of output, or only
// at the start of this one. Called after an evaluation, with a barrier in between.
static inline bool gas_has_collapsed(const struct system *system)
{
    return system->fault.code == TAUT_ERROR_COLLAPSED && system->fault.at_start;
}

// Computes state->volume of closed bodies (of all, or only of those whose gas acts in a pass of its
// own) by the body's rule, and for the latter also the gradient that pressure_add needs. Sets
// TAUT_ERROR_COLLAPSED in system->fault if gas has no volume left. All ranks get all volumes; those
// of bodies without gas only where ranks hold their parts.
void REAL_NAME(volumes_measure)(struct system *system, double time, bool only_gas,
                                const struct worker *worker);

// The same for bodies whose gas acts with springs, from the results of the springs' pass. Called by
// worker 0 of all ranks.
void REAL_NAME(volumes_collect)(struct system *system, double time);

void REAL_NAME(pressure_add)(struct system *system, struct evaluation evaluation,
                             const struct worker *worker);

// Computes the pressure of bodies whose gas acts with springs; pressure_apply then adds its forces
// to a range of nodes.
void REAL_NAME(pressure_after_springs)(struct system *system, struct evaluation evaluation,
                                       const struct worker *worker);
void REAL_NAME(pressure_apply)(const struct system *system, struct range nodes);

// nRT of the gas in the body in the step of that number, J.
double REAL_NAME(gas_amount)(const struct system *system, size_t body, uint64_t gas_step);

// After a change of `amount` or `inflate`, pumping continues from the present gas. `before`,
// `start` and `since`: the pressure, gas_start and gas_since (state/arrays.h) before the change.
void REAL_NAME(gas_continue)(struct system *system, size_t body,
                             const struct scene_pressure *before, double start, double since);

// The step after which the gas of all bodies is pumped.
double REAL_NAME(gas_pumped_at)(const struct system *system);

// Gauge pressure, Pa, of the amount nRT at a volume; `built` is the volume as built.
double REAL_NAME(gas_pressure)(const struct scene_pressure *gas, double amount, double volume,
                               double built);

// Energy of the gas, J: -nRT ln(V / V0) + P_atm (V - V0), or its adiabatic work.
double REAL_NAME(gas_energy)(const struct scene_pressure *gas, double amount, double volume,
                             double built);

#endif
