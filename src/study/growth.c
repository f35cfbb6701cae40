// Determines whether small perturbations of the reference run grow at a step size at which energies
// show no instability.
//
// An unstable run need not blow up: springs that rotate or stretch far have other frequencies, and
// the growth saturates at an energy that the scene may have had anyway. No energy threshold
// distinguishes this from an energetic scene. The linear growth of perturbations does: two runs
// with the same step start from a state of the reference run, separated by a small perturbation,
// and the growth of their difference is recorded. Falling, wind, drives and gas move both runs
// alike. Physical growth of perturbations (chaos, buckling, rolling) also occurs in the reference
// run and is subtracted.
//
// The runs restart from the next state of the reference run before they leave its neighbourhood,
// because an unstable run may reach a stable motion, about which perturbations decay. The
// perturbation is kept and rescaled to its initial size, so that it aligns with the fastest growing
// mode.
//
// Slightly above their limits for weakly damped oscillations, explicit Euler and midpoint grow more
// slowly than a run can show. About a state of rest, the eigenvalues of a step show it
// (multipliers.c). Otherwise such a step is undecided, unless all perturbations decay by so much
// that no single oscillation can have kept its amplitude. Where perturbations grow physically, by
// parametric driving or chaos, the step size changes that growth too; a step whose growth may have
// this cause is undecided.
//
// Integrators without a limit for linear motions are not examined: they are limited by large
// motions, which energies show.

#include "base/memory.h"
#include "study/setup.h"

// A step is unstable if a perturbation along a path grows by this many e-foldings more than in the
// reference run. Smaller growth may be a remainder of the oscillation of a symplectic method near
// its limit, or a contact that comes a step later. About a state of rest nothing else changes the
// perturbation, and a steady growth slightly above the scatter is visible.
static const double PATH_MARGIN = 8, REST_MARGIN = 0.02, REST_SCATTER = 0.5;

// The perturbation is rescaled, and the runs return to the reference run, when it has changed by
// this many e-foldings.
static const double PATH_CHANGE = 1.5, REST_CHANGE = 3;

enum {
    SEGMENT_STEPS = 32, // at most
    SEGMENT_SAMPLES = 4,
    REST_POINTS = 64, // about a state of rest
    REST_SAMPLES = 4  // per point
};

// The growth that a step size may add to physical growth, relative to it. Up to 6 times was
// observed below the limit (symplectic Euler at 0.97 of it, an undamped oscillator of 0.1 m);
// instabilities add far more.
static const double PHYSICAL_SHARE = 12;

// Logarithmic growth per step that exceeds the error of the eigenvalues: the differences have a
// rounding error of about 1e-9 (multipliers.c).
static const double MULTIPLIER_MARGIN = 1e-7;

// One oscillation of many may start with less than its share of the random perturbation; this is
// the margin for it, as a logarithm.
static const double SHARE_MARGIN = 3;

static const double REFERENCE_PARTS = 2; // steps per unit for the perturbation of the reference run
static const double REST_SHARE = 0.5;    // steps of each run, relative to those of a run for limits

struct pair {
    struct setup *setup;
    taut_solver *runs[2];
    size_t nodes;
    double *masses;                       // by builder number; 0: kinematic
    double *positions[2], *velocities[2]; // of the two runs
    double *offset_positions, *offset_velocities;
    double size;    // of the initial perturbation
    double scale;   // logarithm of the product of all rescalings
    bool broken;    // a value is not finite
    uint64_t steps; // of both runs
};

void bases_free(struct bases *bases)
{
    for (size_t i = 0; i < bases->count; i++)
        solver_checkpoint_free(bases->states[i]);
    bases->count = 0;
}

static bool allocate(struct pair *pair)
{
    double **const arrays[] = {&pair->positions[0],     &pair->positions[1],
                               &pair->velocities[0],    &pair->velocities[1],
                               &pair->offset_positions, &pair->offset_velocities};
    pair->masses = memory_allocate(NULL, pair->nodes, sizeof(double));
    bool there = pair->masses;
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
        *arrays[i] = memory_allocate(NULL, 3 * pair->nodes, sizeof(double));
        there = there && *arrays[i];
    }
    return there;
}

static void pair_close(struct pair *pair)
{
    double *const arrays[] = {pair->positions[0],  pair->positions[1],     pair->velocities[0],
                              pair->velocities[1], pair->offset_positions, pair->offset_velocities};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        memory_release(NULL, arrays[i], 3 * pair->nodes, sizeof(double));
    memory_release(NULL, pair->masses, pair->nodes, sizeof(double));
    for (int i = 0; i < 2; i++)
        taut_solver_destroy(pair->runs[i]);
}

static void read_masses(struct pair *pair)
{
    const struct topology *topology = solver_topology(pair->runs[0]);
    for (size_t i = 0; i < pair->nodes; i++) {
        uint64_t inside = topology_internal_node(topology, i);
        pair->masses[i] =
            topology_is_kinematic(topology, inside) ? 0 : topology_mass(topology, inside);
    }
}

// Twice the kinetic energy of the perturbation; *all also includes twice its potential energy, as
// if the whole perturbation were in the fastest oscillation.
static double kinetic_of(const struct pair *pair, double *all)
{
    const double omega = pair->setup->study->omega;
    double kinetic = 0, potential = 0;
    for (size_t i = 0; i < 3 * pair->nodes; i++) {
        double v = pair->offset_velocities[i], x = omega * pair->offset_positions[i];
        kinetic += pair->masses[i / 3] * v * v;
        potential += pair->masses[i / 3] * x * x;
    }
    *all = kinetic + potential;
    return kinetic;
}

static double random_next(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)*state * 0x1p-63;
}

static void begin_perturbation(struct pair *pair)
{
    uint64_t random = 1;
    const double distance = pair->setup->perturbation, speed = distance * pair->setup->study->omega;
    for (size_t i = 0; i < 3 * pair->nodes; i++) {
        bool is_free = pair->masses[i / 3] != 0;
        pair->offset_positions[i] = 0;
        pair->offset_velocities[i] = is_free ? speed * random_next(&random) : 0;
    }
    double all;
    kinetic_of(pair, &all);
    pair->size = all;
}

static taut_status pair_open(struct pair *pair, struct setup *setup, enum integrator integrator,
                             double dt, taut_error *error)
{
    struct variant variant = variant_of(integrator, dt);
    *pair = (struct pair){.setup = setup};
    taut_status status = variant_open(setup, &variant, &pair->runs[0], error);
    if (status == TAUT_OK)
        status = variant_open(setup, &variant, &pair->runs[1], error);
    if (status != TAUT_OK)
        return status;
    pair->nodes = (size_t)taut_solver_node_count(pair->runs[0]);
    if (!allocate(pair))
        return fail_memory(error, "a perturbation");
    read_masses(pair);
    begin_perturbation(pair);
    return TAUT_OK;
}

static void read_offset(struct pair *pair)
{
    for (int i = 0; i < 2; i++)
        solver_read_nodes(pair->runs[i], 0, pair->nodes, pair->positions[i], pair->velocities[i],
                          NULL);
    for (size_t i = 0; i < 3 * pair->nodes; i++) {
        pair->offset_positions[i] = pair->positions[1][i] - pair->positions[0][i];
        pair->offset_velocities[i] = pair->velocities[1][i] - pair->velocities[0][i];
    }
}

// Starts both runs from a state of the reference run, with the perturbation rescaled to its initial
// size.
static taut_status pair_begin(struct pair *pair, const struct solver_checkpoint *base,
                              taut_error *error)
{
    double all;
    kinetic_of(pair, &all);
    double factor = all > 0 ? sqrt(pair->size / all) : 1;
    pair->scale -= log(factor);
    taut_status status = solver_restore(pair->runs[0], base, NULL, NULL, error);
    if (status != TAUT_OK)
        return status;
    solver_read_nodes(pair->runs[0], 0, pair->nodes, pair->positions[1], pair->velocities[1], NULL);
    for (size_t i = 0; i < 3 * pair->nodes; i++) {
        pair->offset_positions[i] *= factor;
        pair->offset_velocities[i] *= factor;
        pair->positions[1][i] += pair->offset_positions[i];
        pair->velocities[1][i] += pair->offset_velocities[i];
    }
    return solver_restore(pair->runs[1], base, pair->positions[1], pair->velocities[1], error);
}

// Advances by a number of steps with some samples. Returns the logarithm of the perturbation's
// speed (root mean square of the samples) and of its change since the last rescaling.
static taut_status pair_advance(struct pair *pair, uint64_t steps, int samples, double *speed,
                                double *change, taut_error *error)
{
    taut_status status = TAUT_OK;
    double sum = 0, all = 0;
    int count = 0;
    for (int sample = 1; sample <= samples && status == TAUT_OK; sample++) {
        uint64_t before = steps * (uint64_t)(sample - 1) / (uint64_t)samples;
        uint64_t by = steps * (uint64_t)sample / (uint64_t)samples - before;
        if (by == 0)
            continue;
        for (int i = 0; i < 2 && status == TAUT_OK; i++)
            status = solver_advance(pair->runs[i], by, error);
        pair->steps += 2 * by;
        read_offset(pair);
        sum += kinetic_of(pair, &all);
        count++;
    }
    pair->broken = status == TAUT_ERROR_DIVERGED || status == TAUT_ERROR_COLLAPSED ||
                   !isfinite(sum) || !isfinite(all);
    *change = 0.5 * log(all / pair->size);
    *speed = pair->scale + 0.5 * log(fmax(sum / count, 1e-300));
    return pair->broken ? TAUT_OK : status;
}

// Follows the perturbation along the bases; *count: completed segments.
static taut_status follow_path(struct pair *pair, double dt, double paths[STUDY_BASES + 1],
                               size_t *count, taut_error *error)
{
    const struct bases *bases = &pair->setup->bases;
    const double length = STUDY_BASE_UNITS * pair->setup->study->unit;
    double exact = round(length / dt), change = INFINITY;
    uint64_t steps = (uint64_t)fmax(1, fmin(exact, SEGMENT_STEPS));
    bool is_gapless = fabs((double)steps * dt - length) < 0.1 * length;
    taut_status status = TAUT_OK;
    for (*count = 0; *count < bases->count && status == TAUT_OK && !pair->broken; (*count)++) {
        if (part_has_ended(pair->setup))
            return TAUT_OK;
        if (!is_gapless || *count % STUDY_BASE_GROUP == 0 || fabs(change) > PATH_CHANGE)
            status = pair_begin(pair, bases->states[*count], error);
        if (status == TAUT_OK)
            status = pair_advance(pair, steps, SEGMENT_SAMPLES, &paths[*count + 1], &change, error);
    }
    return status;
}

static double mean_of(const double *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return sum / (double)count;
}

// The largest growth of a perturbation between any two times in excess of that in the reference
// run. Means over several segments are compared, because near its limit a symplectic method
// amplifies an oscillation by a large factor and then reverses this.
static double path_excess(const struct growth *reference, const double *paths, size_t count)
{
    enum { MEAN_OF = 4 };
    const size_t width = count < (size_t)2 * MEAN_OF ? 1 : MEAN_OF;
    double most = -INFINITY;
    for (size_t i = 1; i + width <= count + 1; i++)
        for (size_t j = i + 1; j + width <= count + 1; j++) {
            double own = mean_of(paths + j, width) - mean_of(paths + i, width);
            double theirs =
                mean_of(reference->paths + j, width) - mean_of(reference->paths + i, width);
            most = fmax(most, own - fmax(0, theirs));
        }
    return most;
}

struct rest {
    double growth;  // from the second quarter to the last
    double scatter; // about the mean of a quarter
    double last;    // mean logarithm of the speed in the last quarter
    double time;    // s, of the whole run
    bool done;
};

static double scatter_of(const double *values, size_t count)
{
    double sum = 0, mean = mean_of(values, count);
    for (size_t i = 0; i < count; i++)
        sum += (values[i] - mean) * (values[i] - mean);
    return sqrt(sum / (double)count);
}

static const struct solver_checkpoint *state_of_rest(const struct setup *setup)
{
    const struct bases *bases = &setup->bases;
    return bases->states[setup->study->at_rest ? 0 : bases->count - 1];
}

static taut_status follow_rest(struct pair *pair, double dt, uint64_t steps, struct rest *rest,
                               taut_error *error)
{
    const struct solver_checkpoint *base = state_of_rest(pair->setup);
    enum { QUARTER = REST_POINTS / 4 };
    double points[REST_POINTS], change = INFINITY;
    uint64_t each = (steps + REST_POINTS - 1) / REST_POINTS;
    taut_status status = TAUT_OK;
    *rest = (struct rest){.time = dt * (double)each * REST_POINTS};
    for (size_t i = 0; i < REST_POINTS && status == TAUT_OK && !pair->broken; i++) {
        if (part_has_ended(pair->setup))
            return TAUT_OK;
        if (fabs(change) > REST_CHANGE)
            status = pair_begin(pair, base, error);
        if (status == TAUT_OK)
            status = pair_advance(pair, each, REST_SAMPLES, &points[i], &change, error);
    }
    rest->done = status == TAUT_OK;
    if (!rest->done || pair->broken)
        return status;
    const double *second = points + QUARTER, *last = points + REST_POINTS - QUARTER;
    rest->last = mean_of(last, QUARTER);
    rest->growth = rest->last - mean_of(second, QUARTER);
    rest->scatter = fmax(scatter_of(second, QUARTER), scatter_of(last, QUARTER));
    return status;
}

// The steps of a run about a state of rest; fewer if the window is short.
static uint64_t rest_steps(const struct setup *setup, double dt)
{
    double units = dt / setup->study->unit, steps = (double)setup->limit_steps;
    if (units < 1)
        steps = fmin(steps / units, 4 * steps);
    return (uint64_t)(REST_SHARE * steps);
}

taut_status growth_of_reference(struct setup *setup, taut_error *error)
{
    const struct study *study = setup->study;
    double dt = study->unit / REFERENCE_PARTS * setup->reference_fraction;
    struct pair pair;
    struct rest rest = {.growth = 0};
    size_t count = 0;
    taut_status status = pair_open(&pair, setup, INTEGRATOR_RK4, dt, error);
    if (status == TAUT_OK && !study->at_rest)
        status = follow_path(&pair, dt, setup->growth.paths, &count, error);
    if (status == TAUT_OK && setup->comes_to_rest)
        status = follow_rest(&pair, dt, rest_steps(setup, study->unit), &rest, error);
    setup->growth.rest = rest.growth;
    setup->growth.rest_time = rest.time;
    pair_close(&pair);
    return status;
}

// Measures the growth of a perturbation along the path and the final logarithm of its speed; NAN if
// the study ends before they are known.
static taut_status measure_path(struct pair *pair, double dt, double *excess, double *last,
                                taut_error *error)
{
    double paths[STUDY_BASES + 1] = {0};
    size_t count = 0;
    taut_status status = follow_path(pair, dt, paths, &count, error);
    *excess = pair->broken                        ? INFINITY
              : count == pair->setup->bases.count ? path_excess(&pair->setup->growth, paths, count)
                                                  : NAN;
    *last = paths[count];
    return status;
}

// At long steps a chaotic motion becomes a different one, in which perturbations also grow. Growth
// that also occurs at half the step is therefore subtracted; an instability does not occur there.
static taut_status find_baseline(struct setup *setup, enum integrator integrator, double dt,
                                 struct path_baseline *baseline, uint64_t *steps, taut_error *error)
{
    enum { NEAR = 3, PART = 4 }; // the baseline of a step is reused down to this fraction of it
    if (baseline->dt > 0 && PART * baseline->dt < NEAR * dt)
        return TAUT_OK;
    struct pair pair;
    double last;
    taut_status status = pair_open(&pair, setup, integrator, dt / 2, error);
    if (status == TAUT_OK)
        status = measure_path(&pair, dt / 2, &baseline->excess, &last, error);
    baseline->dt = isnan(baseline->excess) ? 0 : dt / 2;
    *steps += pair.steps;
    pair_close(&pair);
    return status;
}

// The largest physical growth of the reference run's own perturbation between any two times: a
// spring whose length oscillates, for example, drives transverse motion parametrically. Its rate
// depends on the frequency, which the step size changes.
static double physical_growth(const struct setup *setup)
{
    double most = 0;
    for (size_t i = 1; i < setup->bases.count; i++)
        for (size_t j = i + 1; j <= setup->bases.count; j++)
            most = fmax(most, setup->growth.paths[j] - setup->growth.paths[i]);
    return most;
}

// Integrators whose growth slightly above the limit is proportional to a power of the excess step,
// not to its square root.
static bool grows_slowly(enum integrator integrator)
{
    return integrator == INTEGRATOR_EXPLICIT_EULER || integrator == INTEGRATOR_MIDPOINT;
}

// Whether a perturbation has decayed so far that no oscillation can have kept its initial
// amplitude.
static bool has_decayed(const struct pair *pair, double speed)
{
    size_t motions = 0;
    for (size_t i = 0; i < pair->nodes; i++)
        motions += pair->masses[i] != 0 ? 3 : 0;
    if (motions == 0) // no free nodes
        return true;
    double share = 0.5 * log((double)motions) + SHARE_MARGIN;
    return speed - 0.5 * log(pair->size) < -share;
}

static taut_status classify_by_path(struct pair *pair, enum integrator integrator, double dt,
                                    struct path_baseline *baseline, enum study_verdict *verdict,
                                    taut_error *error)
{
    const struct setup *setup = pair->setup;
    double excess = NAN, last = NAN;
    taut_status status = measure_path(pair, dt, &excess, &last, error);
    if (status == TAUT_OK && isfinite(excess) && excess > PATH_MARGIN) {
        status = find_baseline(pair->setup, integrator, dt, baseline, &pair->steps, error);
        if (baseline->dt == 0)
            excess = NAN;
        else if (isfinite(baseline->excess)) // otherwise the smaller step is unstable too
            excess -= fmax(0, baseline->excess);
    }
    if (status != TAUT_OK || isnan(excess))
        return status;
    const double proof = PATH_MARGIN + PHYSICAL_SHARE * physical_growth(setup);
    bool is_shown = !grows_slowly(integrator) || setup->comes_to_rest || has_decayed(pair, last);
    *verdict = excess > proof                      ? STUDY_UNSTABLE
               : excess > PATH_MARGIN || !is_shown ? STUDY_UNDECIDED
                                                   : STUDY_STABLE;
    return status;
}

// Judges by the eigenvalues of a step if they are available and there is no physical growth.
static taut_status classify_by_multipliers(struct pair *pair, enum study_verdict *verdict,
                                           bool *classified, taut_error *error)
{
    const struct setup *setup = pair->setup;
    double growth = NAN;
    *classified = false;
    if (setup->growth.rest > REST_MARGIN)
        return TAUT_OK;
    taut_status status = multipliers_growth(setup, pair->runs[0], state_of_rest(setup),
                                            pair->masses, &growth, &pair->steps, error);
    *classified = status == TAUT_OK && !isnan(growth);
    if (*classified)
        *verdict = growth > MULTIPLIER_MARGIN    ? STUDY_UNSTABLE
                   : growth < -MULTIPLIER_MARGIN ? STUDY_STABLE
                                                 : STUDY_UNDECIDED;
    return status;
}

static taut_status classify_at_rest(struct pair *pair, enum integrator integrator, double dt,
                                    enum study_verdict *verdict, taut_error *error)
{
    const struct setup *setup = pair->setup;
    if (part_has_ended(pair->setup)) {
        *verdict = STUDY_UNKNOWN;
        return TAUT_OK;
    }
    if (grows_slowly(integrator)) {
        bool classified;
        taut_status status = classify_by_multipliers(pair, verdict, &classified, error);
        if (status != TAUT_OK || classified)
            return status;
    }
    struct rest rest;
    taut_status status = follow_rest(pair, dt, rest_steps(setup, dt), &rest, error);
    double longer = fmax(1, rest.time / setup->growth.rest_time);
    double growth = rest.growth - fmax(0, setup->growth.rest) * longer;
    bool has_grown = pair->broken || !(growth < REST_MARGIN + REST_SCATTER * rest.scatter);
    bool is_shown = !grows_slowly(integrator) || has_decayed(pair, rest.last);
    *verdict = !rest.done  ? STUDY_UNKNOWN
               : has_grown ? STUDY_UNSTABLE
               : is_shown  ? STUDY_STABLE
                           : STUDY_UNDECIDED;
    return status;
}

taut_status growth_classify(struct setup *setup, enum integrator integrator, double dt,
                            struct path_baseline *baseline, enum study_verdict *verdict,
                            uint64_t *steps, taut_error *error)
{
    struct pair pair;
    *verdict = setup->study->at_rest ? STUDY_STABLE : STUDY_UNKNOWN;
    taut_status status = pair_open(&pair, setup, integrator, dt, error);
    if (status == TAUT_OK && !setup->study->at_rest)
        status = classify_by_path(&pair, integrator, dt, baseline, verdict, error);
    if (status == TAUT_OK && *verdict == STUDY_STABLE && setup->comes_to_rest)
        status = classify_at_rest(&pair, integrator, dt, verdict, error);
    *steps += pair.steps;
    pair_close(&pair);
    return status;
}
