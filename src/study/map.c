// Computes a map of stable and unstable runs over the step and the springs' stiffness or damping.
#include <stdlib.h>

#include "base/memory.h"
#include "study/setup.h"

static const double MAP_SHARE = 0.25; // of the budget

// At an eighth of a unit, rk4 loses some 1% of the fastest oscillation in the longest window.
enum { ROW_SAMPLES = 64, ROW_PARTS = 8 };

// A grid of rows and columns, with the steps of a run at one unit. The ranges below are decades on
// either side of 1.
struct mesh {
    size_t rows, columns;
    uint64_t steps;
};

static const double ROW_DECADES = 2, COLUMN_DECADES = 1.25;

static struct mesh choose_mesh(const struct setup *setup)
{
    static const struct mesh meshes[] = {{17, 26, 300}, {13, 21, 200}, {9, 16, 200},
                                         {9, 11, 100},  {5, 11, 100},  {5, 6, 50}};
    enum { COUNT = sizeof meshes / sizeof meshes[0] };
    const struct study *study = setup->study;
    double seconds = MAP_SHARE * setup->options->budget * (double)setup->options->threads;
    size_t i = 0;
    for (; i + 1 < COUNT; i++) {
        double reference = ROW_PARTS * (double)meshes[i].steps;
        double cost = (double)meshes[i].rows *
                      estimated_seconds(setup, INTEGRATOR_RK4, reference, ROW_SAMPLES);
        for (size_t j = 0; j < study->integrator_count; j++)
            cost += (double)(meshes[i].rows * meshes[i].columns) *
                    estimated_seconds(setup, study->integrators[j], (double)meshes[i].steps, 16);
        if (cost <= seconds)
            break;
    }
    return meshes[i];
}

struct row {
    struct energy_scale scale;
    bool sound;
    double gained[ROW_SAMPLES + 1]; // J, gained by the reference run, at equal intervals of the
                                    // map's window
};

static struct variant variant_at(const struct setup *setup, enum integrator integrator,
                                 double factor, double dt)
{
    const struct study_map *map = &setup->study->map;
    struct variant variant = variant_of(integrator, dt);
    variant.kick = setup->kick;
    if (map->kind == STUDY_MAP_STIFFNESS)
        variant.stiffness = factor;
    else if (map->of_critical)
        variant.relaxation = factor * 2 / setup->study->omega;
    else
        variant.damping = factor;
    return variant;
}

// Finds the predicted limits of a row and its energy scale, from an rk4 run.
static taut_status inspect_row(struct setup *setup, void *context, size_t index, taut_error *error)
{
    struct study *study = setup->study;
    struct study_map *map = &study->map;
    struct row *row = (struct row *)context + index;
    struct variant variant = variant_at(setup, INTEGRATOR_RK4, map->factors[index], study->unit);

    // The predicted limits.
    taut_solver *solver;
    struct critical_step critical;
    taut_status status = variant_open(setup, &variant, &solver, error);
    if (status == TAUT_OK)
        status = solver_computed_steps(solver, &critical, error);
    taut_solver_destroy(solver);
    if (status != TAUT_OK)
        return status;
    for (size_t i = 0; i < study->integrator_count; i++)
        map->predicted[i * map->row_count + index] =
            predicted_step(study->integrators[i], &critical);

    // A stable rk4 run; the step is halved as long as energies grow.
    struct trace *trace = calloc(1, sizeof *trace);
    if (!trace)
        return fail_memory(error, "a run");
    variant.dt = fmin(study->unit, predicted_step(INTEGRATOR_RK4, &critical)) / ROW_PARTS;
    for (int tries = 0; tries < 4 && status == TAUT_OK && !row->sound; tries++) {
        trace->steps = (uint64_t)ceil(study->map_window / variant.dt);
        trace->samples = ROW_SAMPLES;
        status = trace_variant(setup, &variant, trace, error);
        row->sound = trace->verdict == STUDY_STABLE;
        variant.dt /= 2;
    }

    // Its energies.
    double gained = 0;
    for (size_t i = 0; i < trace->count; i++)
        gained = fmax(gained, trace->energies[i] - trace->energies[0]);
    row->scale = (struct energy_scale){trace->kinetic_max + gained, study->map_window};
    for (size_t i = 0; row->sound && i <= ROW_SAMPLES; i++)
        row->gained[i] = setup->conservative ? 0 : trace->energies[i] - trace->energies[0];
    free(trace);
    return status;
}

// The energy that the reference run has gained at a fraction of the window.
static double gained_by(const struct row *row, double part)
{
    double position = fmax(0, fmin(1, part)) * ROW_SAMPLES;
    size_t before = (size_t)fmin(position, ROW_SAMPLES - 1);
    double fraction = position - (double)before;
    return (1 - fraction) * row->gained[before] + fraction * row->gained[before + 1];
}

// The energy gained relative to the reference run, at the last sample within its duration: runs
// with long steps last longer.
static double drift_of(const struct row *row, const struct trace *trace, double dt)
{
    double window = row->scale.time, each = dt * (double)trace->steps / (double)trace->samples;
    size_t last = trace->samples;
    while (last > 1 && (double)last * each > 1.001 * window)
        last--;
    double time = (double)last * each;
    double gained = trace->energies[last] - trace->energies[0] - gained_by(row, time / window);
    return gained / (row->scale.available * time);
}

static taut_status measure_cell(struct setup *setup, void *context, size_t index, taut_error *error)
{
    const struct row *rows = context;
    struct study *study = setup->study;
    struct study_map *map = &study->map;
    size_t column = index % map->column_count, row = index / map->column_count % map->row_count;
    size_t integrator = index / map->column_count / map->row_count;
    if (!rows[row].sound)
        return TAUT_OK;
    struct variant variant =
        variant_at(setup, study->integrators[integrator], map->factors[row], map->steps[column]);
    struct trace *trace = calloc(1, sizeof *trace);
    if (!trace)
        return fail_memory(error, "a run");
    double steps = (double)setup->map_steps, units = variant.dt / study->unit;
    trace->steps = (uint64_t)ceil(units < 1 ? fmin(steps / units, 2 * steps) : steps);
    trace->samples = trace->steps < 64 ? 16 : 32;
    trace->scale = &rows[row].scale;
    taut_status status = trace_variant(setup, &variant, trace, error);
    struct study_cell *cell = &map->cells[index];
    cell->verdict = trace->verdict;
    if (trace->verdict == STUDY_STABLE)
        cell->drift = drift_of(&rows[row], trace, variant.dt);
    free(trace);
    return status;
}

static taut_status make_map(struct setup *setup, const struct mesh *mesh, taut_error *error)
{
    struct study_map *map = &setup->study->map;
    size_t integrators = setup->study->integrator_count;
    map->row_count = mesh->rows;
    map->column_count = mesh->columns;
    map->factors = memory_allocate(NULL, mesh->rows, sizeof *map->factors);
    map->steps = memory_allocate(NULL, mesh->columns, sizeof *map->steps);
    map->predicted = memory_allocate(NULL, integrators * mesh->rows, sizeof *map->predicted);
    map->cells =
        memory_allocate(NULL, integrators * mesh->rows * mesh->columns, sizeof *map->cells);
    if (!map->factors || !map->steps || !map->predicted || !map->cells)
        return fail_memory(error, "the map");
    for (size_t i = 0; i < mesh->rows; i++)
        map->factors[i] = pow(10, ROW_DECADES * (2 * (double)i / (double)(mesh->rows - 1) - 1));
    for (size_t i = 0; i < mesh->columns; i++)
        map->steps[i] = setup->study->unit *
                        pow(10, COLUMN_DECADES * (2 * (double)i / (double)(mesh->columns - 1) - 1));
    for (size_t i = 0; i < integrators * mesh->rows; i++)
        map->predicted[i] = NAN;
    for (size_t i = 0; i < integrators * mesh->rows * mesh->columns; i++)
        map->cells[i].drift = NAN;
    return TAUT_OK;
}

static bool is_damped(const taut_solver *solver)
{
    const struct topology *topology = solver_topology(solver);
    for (size_t i = 0; i < topology->material_count; i++)
        if (topology->materials[i].damping > 0)
            return true;
    return false;
}

static taut_status find_damping(struct setup *setup, taut_error *error)
{
    struct variant variant = variant_of(INTEGRATOR_RK4, setup->study->unit);
    taut_solver *solver;
    taut_status status = variant_open(setup, &variant, &solver, error);
    if (status == TAUT_OK)
        setup->study->map.of_critical =
            setup->study->map.kind == STUDY_MAP_DAMPING && !is_damped(solver);
    taut_solver_destroy(solver);
    return status;
}

taut_status study_maps(struct setup *setup, taut_error *error)
{
    struct study *study = setup->study;
    struct study_map *map = &study->map;
    map->kind = setup->options->map;
    if (map->kind == STUDY_MAP_NONE)
        return TAUT_OK;
    struct mesh mesh = choose_mesh(setup);
    taut_status status = make_map(setup, &mesh, error);
    if (status == TAUT_OK)
        status = find_damping(setup, error);
    if (status != TAUT_OK)
        return status;
    setup->map_steps = mesh.steps;
    study->map_window = (double)mesh.steps * study->unit;
    struct row *rows = memory_allocate(NULL, map->row_count, sizeof *rows);
    if (!rows)
        return fail_memory(error, "the map");
    status = run_cases(setup, map->row_count, inspect_row, rows, error);
    if (status == TAUT_OK)
        status = run_cases(setup, study->integrator_count * map->row_count * map->column_count,
                           measure_cell, rows, error);
    memory_release(NULL, rows, map->row_count, sizeof *rows);
    return status;
}
