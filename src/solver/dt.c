// The time step of a solver: given by the scene, or (dt: auto) a safe fraction of the guaranteed
// bound that follows the state; and the critical steps on which it is based.
#include "solver/private.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "scene/schema/schema.h"

// dt is set again when it is nearer to the bound than DT_NEAR, or below DT_FAR of its target. It
// stays constant in between, because a symplectic integrator conserves energy only with a constant
// dt.
static const double DT_NEAR = 0.95, DT_FAR = 0.8;

// Steps between two checks. A check costs as much as a few steps if all springs are on grids and
// nothing acts through faces, or if there are few elements; otherwise as much as some 40 steps,
// because worker 0 does most of it alone. With few elements, checks keep up with gas that is pumped
// in; with many, each check assumes all the gas that will have been added by the next check.
enum {
    STEPS_OF_FEW = 512,
    STEPS_OF_MANY = 4096,
    FEW = 1024,
    STEPS_OF_PUMPING = 32,
    WIND_STEPS = 16
};

bool dt_is_due(const taut_solver *solver, uint64_t steps_done)
{
    const struct dt_rule *rule = &solver->dt_rule;
    uint64_t interval = steps_done < rule->pumping ? rule->pumping_interval : rule->interval;
    if (rule->load > 1)
        interval = interval < STEPS_OF_FEW ? interval : STEPS_OF_FEW;
    return rule->automatic && (steps_done % interval == 0 || mesh_step_is_due(solver, steps_done));
}

// Wind limits the step by the areas of faces and by their speeds, which may grow a hundredfold
// between two checks where springs tear or are soft. So dt is checked every WIND_STEPS, and at
// powers of two before, where h lambda may be a quarter of 2, above which symplectic Euler is
// unstable.
bool dt_is_due_to_wind(taut_solver *solver, uint64_t steps_done, const struct worker *worker)
{
    const bool power = steps_done < WIND_STEPS && (steps_done & (steps_done - 1)) == 0;
    if (!solver->dt_rule.automatic || (steps_done % WIND_STEPS != 0 && !power))
        return false;
    return solver->functions->critical_may_fall(solver->system, solver->dt, worker);
}

// Contacts of surfaces limit the step by how many of them press on a node; the bound allows for
// SURFACE_WEIGHTS. They come and go faster than anything else: where the greatest load has grown by
// LOAD_RISES since it was last found, and is above LOAD_LEAST of what is allowed for, it is found
// again after LOAD_STEPS_RISING, otherwise after twice as many steps as before, at most LOAD_STEPS.
// Loads beyond what is allowed for make dt wait for no regular check if they have grown by
// LOAD_GROWTH since it was adapted.
enum { LOAD_STEPS = 64, LOAD_STEPS_RISING = 8 };
static const double LOAD_RISES = 1.25, LOAD_LEAST = 0.1, LOAD_GROWTH = 1.1;

double dt_load(taut_solver *solver, uint64_t steps_done, bool adapts, const struct worker *worker)
{
    struct dt_rule *rule = &solver->dt_rule;
    if (!rule->automatic || !solver->topology->has_contact ||
        !(adapts || steps_done >= rule->load_due))
        return 0;
    const double load = solver->functions->greatest_load(solver->system, worker);
    worker_barrier(worker); // all have read when it is due
    if (worker->index == 0) {
        const bool rises = load > LOAD_LEAST && load > LOAD_RISES * rule->load_seen;
        rule->load_steps =
            rises ? LOAD_STEPS_RISING
                  : (rule->load_steps < LOAD_STEPS / 2 ? 2 * rule->load_steps + 1 : LOAD_STEPS);
        rule->load_due = steps_done + rule->load_steps;
        rule->load_seen = load;
    }
    worker_barrier(worker);
    return load;
}

double dt_load_now(taut_solver *solver, const struct worker *worker)
{
    return dt_load(solver, solver->functions->steps(solver->system), true, worker);
}

bool dt_is_due_to_load(const taut_solver *solver, double load)
{
    return load > LOAD_GROWTH * fmax(1, solver->dt_rule.load);
}

static uint64_t check_interval(const taut_solver *solver)
{
    const struct topology *topology = solver->topology;
    uint64_t slow = plan_counts(topology, solver->plan).off_grid_springs;
    for (size_t b = 0; b < topology->body_count; b++)
        if (topology->bodies[b].pressure.present || topology->environment.wind.present)
            slow += topology->bodies[b].face_count;
    return slow <= FEW ? STEPS_OF_FEW : STEPS_OF_MANY;
}

// Sets how often to check while gas is pumped in: up to the check that finds all of it present.
void dt_plan_checks(taut_solver *solver)
{
    struct dt_rule *rule = &solver->dt_rule;
    rule->pumping = 0;
    rule->interval = rule->pumping_interval = check_interval(solver);
    const double steps = solver->functions->gas_pumped_at(solver->system);
    if (rule->interval == STEPS_OF_FEW && steps > STEPS_OF_PUMPING && steps < 1e15) {
        rule->pumping = (uint64_t)ceil(steps / STEPS_OF_FEW) * STEPS_OF_FEW;
        rule->pumping_interval = STEPS_OF_PUMPING;
    }
    solver->functions->set_dt_interval(solver->system,
                                       rule->automatic ? rule->pumping_interval : 0);
}

double solver_time_of(const taut_solver *solver, uint64_t step)
{
    const struct dt_rule *rule = &solver->dt_rule;
    return rule->since_time + (double)(step - rule->since_step) * solver->dt;
}

double solver_planned_time(const taut_solver *solver)
{
    return solver_time_of(solver, solver->steps_planned);
}

double solver_steps_until(const taut_solver *solver, double time)
{
    const struct dt_rule *rule = &solver->dt_rule;
    return (double)rule->since_step + round((time - rule->since_time) / solver->dt);
}

// The number of steps that reaches the duration, counted from the last change of dt. At most
// STEPS_MAX from there: more are refused in a scene, but a setter or a checkpoint may have any dt.
static uint64_t count_steps(const taut_solver *solver)
{
    const struct dt_rule *rule = &solver->dt_rule;
    double exact = (rule->duration - rule->since_time) / solver->dt, whole = round(exact);
    bool near = fabs(exact - whole) <= 1e-6 * fmax(1, whole);
    return rule->since_step + (uint64_t)fmin(fmax(0, near ? whole : ceil(exact)), STEPS_MAX);
}

void dt_plan_steps(taut_solver *solver)
{
    if (solver->dt_rule.duration > 0)
        solver->steps_planned = count_steps(solver);
}

struct up_to {
    taut_solver *solver;
    double dt;
    int products;
    bool exceeded;
};

static void find_up_to(void *context, const struct worker *worker)
{
    struct up_to *it = context;
    double dt = it->solver->functions->critical_up_to(it->solver->system, it->dt, worker);
    worker_barrier(worker); // all have read the initial dt
    if (worker->index == 0)
        it->dt = dt;
}

double dt_find_up_to(taut_solver *solver, double dt)
{
    uint64_t bits;
    memcpy(&bits, &dt, sizeof bits);
    const bool together = solver_begin_part(solver, PART_STEP_UP_TO, bits);
    struct up_to all = {.solver = solver, .dt = dt};
    solver_work(solver, find_up_to, &all);
    if (together)
        solver_end_part(solver);
    return all.dt;
}

static void test_exceeded(void *context, const struct worker *worker)
{
    struct up_to *it = context;
    bool exceeded =
        it->solver->functions->critical_exceeded(it->solver->system, it->dt, it->products, worker);
    if (worker->index == 0)
        it->exceeded = exceeded;
}

// A scene whose `dt: auto` finds no step: an error at the key, if there are `diagnostics`.
static taut_status refuse_automatic(const taut_scene *scene, struct diagnostics *diagnostics,
                                    const char *reason, taut_error *error)
{
    if (diagnostics)
        scene_report(scene, diagnostics, scene->simulation.dt_at, "'dt: auto' finds no step: %s",
                     reason);
    return fail(error, TAUT_ERROR_SCENE, "simulation.dt: auto: %s", reason);
}

static taut_status choose_automatic(taut_solver *solver, const taut_scene *scene,
                                    struct diagnostics *diagnostics, taut_error *error)
{
    struct critical_step critical;
    taut_status status = solver_critical_step(solver, &critical, error);
    if (status != TAUT_OK)
        return status;
    if (!(critical.omega > 0))
        return refuse_automatic(scene, diagnostics,
                                "it needs a spring at a free node; give dt in seconds", error);
    char reason[300];
    if (!(critical.followed > 0)) {
        snprintf(reason, sizeof reason,
                 "%s has no stable step without damping, and its limit with damping is not "
                 "followed during a run; choose another integrator or give dt in seconds",
                 integrator_name(solver->integrator));
        return refuse_automatic(scene, diagnostics, reason, error);
    }
    if (!isfinite(critical.followed)) {
        snprintf(reason, sizeof reason,
                 "%s is stable at every step, so accuracy decides; give dt in seconds",
                 integrator_name(solver->integrator));
        return refuse_automatic(scene, diagnostics, reason, error);
    }
    if (diagnostics)
        mesh_warn_of_short_steps(solver, scene, critical.followed, diagnostics);
    solver->dt = solver->dt_rule.safety * fmin(critical.followed, mesh_step_at(solver, 0));
    solver->functions->set_dt(solver->system, solver->dt);
    return TAUT_OK;
}

// Whether there is enough memory for eigenvalues. If not, a warning reports that they are not
// computed, if there are `diagnostics`.
static bool has_memory(const taut_scene *scene, struct diagnostics *diagnostics)
{
    taut_error lacking;
    if (memory_check_computed(scene, &lacking) == TAUT_OK)
        return true;
    if (!diagnostics)
        return false;
    scene_warn(scene, diagnostics, scene->simulation.dt_at,
               "the stability of dt was not checked: %s", lacking.text);
    return false;
}

// The time that a check of dt may take: a fraction of the time of the steps, or at least this long
// at the start and at the end. All times are estimated from counts: with measured times, the
// findings, and so the printed output, would differ from run to run.
static const double CHECK_SHARE = 0.1, CHECK_AT_START = 1, CHECK_AT_END = 0.1; // s

// Numbers of products with the tangent: enough to detect a step that is too long
// (PRODUCTS_TO_DETECT, or PRODUCTS_MIN if it is far too long), and enough, approximately, to find
// the longest stable step (PRODUCTS_TO_FIND). For a system of a few nodes all eigenvalues are
// computed instead, which takes some operations of a ns times the cube of the number of unknowns. A
// solve of an implicit step also takes PRODUCTS_TO_SOLVE products.
enum {
    PRODUCTS_MIN = 8,
    PRODUCTS_TO_DETECT = 48,
    PRODUCTS_TO_FIND = 3000,
    NODES_OF_FEW = 80,
    PRODUCTS_TO_SOLVE = 30
};

static double elements(const taut_solver *solver)
{
    const struct topology *topology = solver->topology;
    return (double)topology->spring_count + (double)topology->node_count +
           (double)topology->face_count;
}

static double product_seconds(const taut_solver *solver)
{
    return 2e-6 + 20e-9 * elements(solver);
}

static double seconds_to_find(const taut_solver *solver)
{
    double nodes = (double)solver->topology->node_count - (double)solver->topology->kinematic_count;
    double all = nodes <= NODES_OF_FEW ? 15e-9 * pow(6 * nodes, 3) : 0;
    return all + PRODUCTS_TO_FIND * product_seconds(solver);
}

static double seconds_of_step(const taut_solver *solver, const struct scene_simulation *simulation)
{
    const double evaluation = 1e-6 + 2e-9 * elements(solver);
    switch (solver->integrator) {
    case INTEGRATOR_MIDPOINT:
        return 2 * evaluation;
    case INTEGRATOR_RK4:
        return 4 * evaluation;
    case INTEGRATOR_IMPLICIT_EULER:
    case INTEGRATOR_IMPLICIT_MIDPOINT:
    case INTEGRATOR_BDF2:
        return evaluation + PRODUCTS_TO_SOLVE * product_seconds(solver);
    case INTEGRATOR_XPBD:
        return evaluation * (double)simulation->substeps * (1 + (double)simulation->iterations);
    case INTEGRATOR_EXPLICIT_EULER:
    case INTEGRATOR_SYMPLECTIC_EULER:
    case INTEGRATOR_VERLET:
    case INTEGRATOR_VELOCITY_VERLET:
    case INTEGRATOR_COUNT:
        break;
    }
    return evaluation;
}

double solver_tested_step(const struct critical_step *bounds, uint64_t substeps)
{
    return bounds->dt[INTEGRATOR_XPBD] > 0
               ? 0
               : (double)substeps * bounds->dt[INTEGRATOR_SYMPLECTIC_EULER];
}

// Called before a tangent is made: makes the elements and the packed springs of all nodes, of which
// a rank that holds only its part keeps its own.
static taut_status pack_rest(taut_solver *solver, taut_error *error)
{
    solver_know_lists(solver);
    taut_status status = solver->functions->elements_complete(solver->system, error);
    if (status != TAUT_OK || plan_packs_all(solver->plan))
        return status;
    status = plan_pack_rest(solver->topology, solver->plan, error);
    if (status == TAUT_OK && !solver->functions->repack(solver->system))
        status = fail_memory(error, "the constants");
    if (status == TAUT_OK)
        plan_release_build_data(solver->topology, solver->plan);
    return status;
}

// *checked: whether the result is known.
static taut_status check_exceeded(taut_solver *solver, const taut_scene *scene,
                                  struct diagnostics *diagnostics, double seconds, bool *exceeded,
                                  bool *checked, taut_error *error)
{
    taut_status status = solver->functions->prepare_critical(solver->system, false, error);
    if (status != TAUT_OK)
        return status;
    struct up_to quick = {.solver = solver, .dt = solver->dt};
    const double bound = dt_find_up_to(solver, solver->dt);
    *checked = bound >= solver->dt;
    // No eigenvalues of elements alone are computed, which are all that limits xpbd. Where they
    // have no bound, find_exceeded compares dt with the tested step.
    if (solver->integrator == INTEGRATOR_XPBD) {
        *exceeded = !*checked && topology_has_elements(solver->topology);
        *checked |= *exceeded && bound > 0;
        return TAUT_OK;
    }
    const double products = floor(seconds / product_seconds(solver));
    quick.products = (int)fmin(PRODUCTS_TO_DETECT, fmax(PRODUCTS_MIN, products));
    if (*checked || !has_memory(scene, diagnostics))
        return TAUT_OK;
    if (topology_wind_damps_nodes(solver->topology)) { // nothing is known beyond the bound
        *exceeded = *checked = true;
        return TAUT_OK;
    }
    status = pack_rest(solver, error);
    if (status == TAUT_OK)
        status = solver->functions->prepare_critical(solver->system, true, error);
    if (status == TAUT_OK)
        solver_work(solver, test_exceeded, &quick);
    *exceeded = quick.exceeded;
    *checked = quick.exceeded || quick.products == PRODUCTS_TO_DETECT;
    return status;
}

// Finds the stable step if the dt in use is found to be unstable at the present state: `critical`
// then has the computed step of the integrator in use, otherwise .omega is 0. The first test is a
// bound from materials and nodes, which most scenes pass; the second whether eigenvalues show an
// instability; only then are they computed accurately. Whatever is expected to take longer than
// `seconds` is left out, and the bound replaces the stable step. *checked: whether it is known that
// dt is stable or unstable.
static taut_status find_exceeded(taut_solver *solver, const taut_scene *scene,
                                 struct diagnostics *diagnostics, double seconds,
                                 struct critical_step *critical, bool *checked, taut_error *error)
{
    const bool follows = integrator_limit(solver->integrator) > 0;
    bool exceeded = false;
    *checked = false;
    *critical = (struct critical_step){.omega = 0};
    taut_status status =
        follows ? check_exceeded(solver, scene, diagnostics, seconds, &exceeded, checked, error)
                : solver_critical_step(solver, critical, error);
    const bool is_long = solver->integrator == INTEGRATOR_XPBD || seconds_to_find(solver) > seconds;
    if (!follows) { // without damping every step is known to grow
        *checked = !(critical->damping > 0) || solver->dt <= critical->dt[solver->integrator];
        exceeded = !*checked && has_memory(scene, diagnostics);
        *checked |= exceeded && !is_long;
    }
    critical->omega = 0;
    if (status == TAUT_OK && exceeded && !is_long) {
        status = solver_own_computed_step(solver, critical, error);
    } else if (status == TAUT_OK && exceeded && follows) {
        status = solver_critical_step(solver, critical, error);
        critical->computed_dt[solver->integrator] = critical->dt[solver->integrator];
        critical->exact[solver->integrator] = false;
        if (solver->integrator == INTEGRATOR_XPBD && !(critical->dt[INTEGRATOR_XPBD] > 0))
            critical->computed_dt[INTEGRATOR_XPBD] =
                solver_tested_step(critical, scene->simulation.substeps);
    }
    solver->functions->release_critical(solver->system);
    const double stable = critical->computed_dt[solver->integrator];
    if (!(critical->omega > 0) || !(stable > 0) || solver->dt <= stable)
        critical->omega = 0;
    return status;
}

static struct dt_exceeded make_exceeded(const taut_solver *solver,
                                        const struct critical_step *critical)
{
    const struct topology *topology = solver->topology;
    const size_t body =
        topology_body_of_node(topology, topology_internal_node(topology, critical->node));
    return (struct dt_exceeded){
        .stable = critical->computed_dt[solver->integrator],
        .is_exact = critical->exact[solver->integrator],
        .is_tested = solver->integrator == INTEGRATOR_XPBD && !(critical->dt[INTEGRATOR_XPBD] > 0),
        .body = topology->bodies[body].name,
        .node = critical->node - topology->bodies[body].first_node,
    };
}

// Warns if the dt of the scene is not stable.
static taut_status check_given_dt(taut_solver *solver, const taut_scene *scene,
                                  struct diagnostics *diagnostics, taut_error *error)
{
    const bool follows = integrator_limit(solver->integrator) > 0;
    struct critical_step critical;
    bool checked;
    const double seconds = fmax(CHECK_AT_START, CHECK_SHARE * (double)solver->steps_planned *
                                                    seconds_of_step(solver, &scene->simulation));
    taut_status status =
        find_exceeded(solver, scene, diagnostics, seconds, &critical, &checked, error);
    if (status != TAUT_OK || !(critical.omega > 0))
        return status;
    const double stable = critical.computed_dt[solver->integrator];
    const struct topology *topology = solver->topology;
    size_t body = topology_body_of_node(topology, topology_internal_node(topology, critical.node));
    solver->exceeded = make_exceeded(solver, &critical);
    solver->exceeded.at_start = true;
    solver->exceeded.checked = !solver->exceeded.is_tested;
    solver->exceeded_by = solver->dt;
    if (solver->exceeded.is_tested) {
        scene_warn(
            scene, diagnostics, scene->simulation.dt_at,
            "dt is %.3g times %.4g s, up to which xpbd has been stable in tests beside elements "
            "that soften springs, as those of this scene; no step is certain. Use more "
            "'substeps', or at most %.3g s",
            solver->dt / stable, stable, 0.8 * stable);
        return TAUT_OK;
    }
    if (solver->integrator == INTEGRATOR_XPBD) {
        scene_warn(scene, diagnostics, scene->simulation.dt_at,
                   "dt is %.3g times the largest certainly stable step, %.4g s for xpbd, of the "
                   "elements of this scene, which are forces in each of its substeps. Use more "
                   "'substeps', or at most %.3g s",
                   solver->dt / stable, stable, 0.8 * stable);
        return TAUT_OK;
    }
    scene_warn(scene, diagnostics, scene->simulation.dt_at,
               "dt is %.3g times the largest %s step, %.4g s for %s in this state; the "
               "limit is set near node %llu of body '%s'. Use %sat most %.3g s",
               solver->dt / stable,
               critical.exact[solver->integrator] ? "stable" : "certainly stable", stable,
               integrator_name(solver->integrator),
               (unsigned long long)(critical.node - topology->bodies[body].first_node),
               topology->bodies[body].name, follows ? "'dt: auto', or " : "", 0.8 * stable);
    return TAUT_OK;
}

// Refuses too many steps, as the reader does for a given dt.
static taut_status refuse_many_steps(const taut_solver *solver, const taut_scene *scene,
                                     struct diagnostics *diagnostics, taut_error *error)
{
    const double steps = scene->simulation.duration / solver->dt;
    char text[200];
    if (steps <= STEPS_MAX)
        return TAUT_OK;
    snprintf(text, sizeof text,
             "'duration' takes %.3g steps of %.3g s, the dt that 'dt: auto' has chosen; at most %g "
             "are possible",
             steps, solver->dt, STEPS_MAX);
    if (diagnostics)
        scene_report(scene, diagnostics, scene->simulation.dt_at, "%s", text);
    return fail(error, TAUT_ERROR_SCENE, "%s", text);
}

taut_status dt_choose(taut_solver *solver, const taut_scene *scene,
                      const struct solver_options *wanted, taut_error *error)
{
    const struct scene_simulation *simulation = &scene->simulation;
    struct diagnostics *diagnostics = wanted->tolerant ? NULL : wanted->diagnostics;
    solver->dt = simulation->dt;
    solver->position_ratio = 1;
    solver->dt_rule = (struct dt_rule){
        .automatic = simulation->dt_auto,
        .safety = simulation->safety,
        .duration = simulation->has_duration ? simulation->duration : 0,
    };
    solver->dt_rule.mesh_motion_max = mesh_motion_allowed(solver, scene);
    dt_plan_checks(solver);
    solver->position_step = simulation->position_step;
    if (!simulation->dt_auto && simulation->position_step > 0)
        solver->position_ratio = simulation->position_step / simulation->dt;
    taut_status status = contact_refuse_crossings(solver, scene, wanted, diagnostics, error);
    if (status == TAUT_OK)
        status = contact_choose_stiffness(solver, scene, diagnostics, error);
    if (status != TAUT_OK)
        return status;
    if (simulation->dt_auto && wanted->continued_dt > 0) {
        solver->dt = wanted->continued_dt;
        solver->functions->set_dt(solver->system, solver->dt);
        // The weights of the bound that is followed come with the state.
        status = solver->functions->prepare_critical(solver->system, false, error);
    } else if (simulation->dt_auto) {
        status = choose_automatic(solver, scene, diagnostics, error);
        if (status == TAUT_OK && simulation->has_duration)
            status = refuse_many_steps(solver, scene, diagnostics, error);
    }
    solver->dt_rule.built = solver->dt;
    solver->steps_planned = simulation->steps;
    if (status == TAUT_OK && simulation->has_duration)
        solver->steps_planned = count_steps(solver);
    if (!simulation->dt_auto && diagnostics)
        status = check_given_dt(solver, scene, diagnostics, error);
    if (status == TAUT_OK && !simulation->dt_auto && diagnostics)
        contact_check_stiffness(solver, scene, diagnostics);
    if (status == TAUT_OK && !simulation->dt_auto && diagnostics)
        mesh_warn_of_long_steps(solver, scene, diagnostics);
    return status;
}

// The bound of the present state, or somewhat more than shows that dt is too far below it. Where a
// mesh collider has kept dt short, the bound may be far above.
static double bound_beyond(taut_solver *solver, double time, const struct worker *worker)
{
    const double safety = solver->dt_rule.safety, meshes = mesh_step_at(solver, time);
    const int rounds = mesh_step_grows(solver, time) ? 4 : 1;
    double most = 2 * solver->dt / (safety * DT_FAR), bound = 0;
    for (int round = 0; round < rounds; round++) {
        const double end = fmin(most, meshes);
        bound = solver->functions->critical_up_to(solver->system, end, worker);
        if (bound < end || end == meshes)
            break;
        most *= 64;
    }
    return bound;
}

// Goes down with the contacts of the present state, but up only where twice these would leave it:
// otherwise it would go up and down with them.
void dt_adapt(taut_solver *solver, double load, const struct worker *worker)
{
    const struct system_functions *call = solver->functions;
    const double before = solver->dt, safety = solver->dt_rule.safety;
    const uint64_t done = call->steps(solver->system);
    const double time = solver_time_of(solver, done);
    call->count_loads(solver->system, load > LOAD_THAT_COUNTS ? 1 : 0, worker);
    if (worker->index == 0)
        solver->dt_rule.load = load;
    double bound = bound_beyond(solver, time, worker);
    const bool near = before > DT_NEAR * bound;
    if (!near && load > LOAD_THAT_COUNTS) {
        call->count_loads(solver->system, 2, worker);
        bound = bound_beyond(solver, time, worker);
    }
    call->count_loads(solver->system, 0, worker);
    const double wanted = safety * bound;
    const bool far = !near && before < DT_FAR * wanted;
    // The bound is not finite if the run has diverged, which the next check detects.
    if ((!near && !far) || !(wanted > 0) || !isfinite(wanted))
        return;
    call->change_dt(solver->system, wanted, worker);
    if (worker->index == 0) {
        struct dt_rule *rule = &solver->dt_rule;
        rule->since_time = time;
        rule->since_step = done;
        rule->changes++;
        solver->dt = wanted;
        dt_plan_steps(solver);
    }
    worker_barrier(worker);
}

bool dt_restore(taut_solver *solver, const taut_solver *from)
{
    const struct dt_rule *before = &from->dt_rule;
    struct dt_rule *rule = &solver->dt_rule;
    uint64_t step = taut_solver_step_count(from);
    double present = solver_time_of(from, step);
    bool follows = rule->automatic && before->automatic && solver->integrator == from->integrator;
    if (follows) { // the dt found during the run is more accurate than the one chosen for the scene
                   // as built
        solver->dt = from->dt;
        solver->functions->set_dt(solver->system, solver->dt);
    }
    bool stays = solver->dt == from->dt;
    rule->since_time = stays ? before->since_time : present;
    rule->since_step = stays ? before->since_step : step;
    dt_plan_steps(solver);
    bool same = follows && rule->built == before->built && rule->safety == before->safety;
    return rule->automatic && !same;
}

// ---- Queries

struct dt_exceeded solver_dt_at_start(const taut_solver *solver)
{
    if (!solver->dt_rule.automatic && solver->exceeded_by > 0 && solver->exceeded_by == solver->dt)
        return solver->exceeded;
    return (struct dt_exceeded){.checked = solver->dt_rule.automatic};
}

taut_status solver_check_dt(taut_solver *solver, const taut_scene *scene,
                            struct dt_exceeded *exceeded, taut_error *error)
{
    struct critical_step critical;
    *exceeded = solver_dt_at_start(solver);
    if (exceeded->checked)
        return TAUT_OK;
    const double seconds = fmax(CHECK_AT_END, CHECK_SHARE * (double)taut_solver_step_count(solver) *
                                                  seconds_of_step(solver, &scene->simulation));
    bool checked = false;
    taut_status status = find_exceeded(solver, scene, NULL, seconds, &critical, &checked, error);
    if (status == TAUT_OK && critical.omega > 0)
        *exceeded = make_exceeded(solver, &critical);
    exceeded->checked = status == TAUT_OK && checked;
    return status;
}

// ---- What contacts ask of dt at the end

struct loading {
    taut_solver *solver;
    struct contact_load found;
};

static void load(void *context, const struct worker *worker)
{
    struct loading *it = context;
    it->solver->functions->contact_load(it->solver->system, &it->found, worker);
}

taut_status solver_contact_excess(taut_solver *solver, struct contact_excess *excess,
                                  taut_error *error)
{
    const struct topology *topology = solver->topology;
    struct loading all = {.solver = solver};
    *excess = (struct contact_excess){.times = 0};
    if (!topology->has_contact)
        return TAUT_OK;
    taut_status status = solver->functions->prepare_critical(solver->system, false, error);
    if (status == TAUT_OK)
        solver_work(solver, load, &all);
    if (!solver->dt_rule.automatic)
        solver->functions->release_critical(solver->system);
    if (status == TAUT_OK && all.found.no_memory)
        status = fail_memory(error, "the contacts of nodes");
    if (status != TAUT_OK || !(all.found.stable < solver->dt))
        return status;
    const size_t body =
        topology_body_of_node(topology, topology_internal_node(topology, all.found.node));
    *excess = (struct contact_excess){
        .times = all.found.times,
        .stable = all.found.stable,
        .body = topology->bodies[body].name,
        .node = all.found.node - topology->bodies[body].first_node,
    };
    return TAUT_OK;
}

struct measurement {
    taut_solver *solver;
    enum critical_wanted wanted;
    struct critical_step *result;
};

static void measure(void *context, const struct worker *worker)
{
    struct measurement *it = context;
    it->solver->functions->critical_step(it->solver->system, it->wanted, it->result, worker);
}

static taut_status measure_critical(taut_solver *solver, enum critical_wanted wanted,
                                    struct critical_step *result, taut_error *error)
{
    const bool bounds = wanted == CRITICAL_WANT_BOUNDS;
    *result = (struct critical_step){.known = false};
    const bool together = bounds && solver_begin_part(solver, PART_MEASURE_BOUNDS, 0);
    taut_status status = bounds ? TAUT_OK : pack_rest(solver, error);
    if (status == TAUT_OK)
        status = solver->functions->prepare_critical(solver->system, !bounds, error);
    if (together)
        status = solver_agree(status, "the critical step", error);
    if (status == TAUT_OK)
        solver_work(solver, measure, &(struct measurement){solver, wanted, result});
    if (together)
        solver_end_part(solver);
    if (!solver->dt_rule.automatic) // otherwise it will be needed again
        solver->functions->release_critical(solver->system);
    return status;
}

taut_status solver_critical_step(taut_solver *solver, struct critical_step *result,
                                 taut_error *error)
{
    return measure_critical(solver, CRITICAL_WANT_BOUNDS, result, error);
}

taut_status solver_own_computed_step(taut_solver *solver, struct critical_step *result,
                                     taut_error *error)
{
    return measure_critical(solver, CRITICAL_WANT_OWN, result, error);
}

taut_status solver_computed_steps(taut_solver *solver, struct critical_step *result,
                                  taut_error *error)
{
    return measure_critical(solver, CRITICAL_WANT_ALL, result, error);
}

taut_status taut_solver_critical_step(taut_solver *solver, int with_computed,
                                      taut_critical_step *result, taut_error *error)
{
    struct critical_step found = {0};
    taut_status status = with_computed ? solver_own_computed_step(solver, &found, error)
                                       : solver_critical_step(solver, &found, error);
    critical_step_absorb_rounding(&found);
    *result = (taut_critical_step){
        .bound = found.bound,
        .computed = found.computed,
        .dt_bound = found.dt[solver->integrator],
        .dt_computed = found.computed_dt[solver->integrator],
        .node = found.node,
    };
    return status;
}
