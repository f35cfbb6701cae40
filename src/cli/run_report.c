// Prints the summary of a run, as a table and as JSON, with its energy balance. It only reads the
// finished run.
#include "cli/run.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "base/json.h"
#include "base/text.h"
#include "cli/human.h"
#include "cli/signals.h"
#include "ranks/ranks.h"
#include "stability/limits.h"

// ---- Rates.

static double run_spring_rate(const struct run *run)
{
    double seconds = solver_step_seconds(run->solver);
    return seconds > 0 ? solver_spring_updates(run->solver) / seconds : NAN;
}

static double run_node_rate(const struct run *run)
{
    double seconds = solver_step_seconds(run->solver);
    double steps = (double)(taut_solver_step_count(run->solver) - run->first_step);
    return seconds > 0 ? (double)taut_solver_node_count(run->solver) * steps / seconds : NAN;
}

static uint64_t run_peak_bytes(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (uint64_t)usage.ru_maxrss * 1024 : 0;
}

// ---- The energy balance.
//
// Whether the energy balance of a run closes: E(t) - E(0) is compared with the work of the energy
// budget, and the residual with what a method of its order leaves at this dt.
//
// The energy error of a step of a method of order p is O(h^(p+1)), like differences of order p + 1
// of the energy exchanged in a step. The residual of all steps is therefore estimated by R, the sum
// of the absolute differences of order p + 1 of the kinetic energy between steps, which is O(h^p).
//
// Work is integrated by trapezoids, which leave h/12 of the second differences of the power of all
// causes, and methods of order 1 use the power at one end of a step: h/2 of its differences. Twice
// the sums of the absolute values of these are in R too. No difference extends over a
// jump of the powers, as where a drive changes its velocity at the end of a step.
//
// For symplectic Euler, x' = x + h v', v' = v + h a, this can be derived: with F_c the conservative
// force, K its stiffness and F_d = -C v, a step changes the energy by
//
//   h F_c.(v + v')/2 + h F_d.(v + v')/2 - h F_c.v' + h^2 v'.K v'/2 + O(h^3)
//     = h F_d.v + (h^2/2)(v.K v - F_c.a + F_d.a) + O(h^3) = h F_d.v + (h^2/2)(F_d.a - (F_c.v)') ,
//
// of which the trapezoids of the energy budget have h F_d.v + h^2 F_d.a. In the difference,
// -(h^2/2)((F_c.v)' + F_d.a), h^2 (F_c.v)' is the change of h F_c.v from the beginning to the end
// of a step, and h F_c.v is the change of the kinetic energy in a step without the work of the
// other forces. So over the run the residual is half of the sum of the second differences of the
// kinetic energy (with sign), plus terms of the same kind and O(h^2).
//
// A step of explicit or implicit Euler adds or removes h^2 (a.M a + v.K v) / 2, whose second
// difference of the kinetic energy, h^2 (a.M a - v.K v), cancels where many modes vibrate. With
// h^2 a.M a, the sum of m |v' - v|^2 over nodes, R is not below it where h resolves the modes.
//
// A method of order 2 that takes a step of implicit Euler, as bdf2 does at its start, has in it the
// error of order 1, so that the second differences around this step are added: a free fall with
// bdf2 loses 3/4 m g^2 h^2 by it, while all third differences of K are 0.
//
// The error of a step of bdf2 is four times that of a trapezoid; R is doubled for it.
//
// A run of n steps has n - p differences of order p + 1, so that R is n / (n - p) times their sum.
// If n is not above p there is no estimate, and the residual is only known to be at most the sum of
// the magnitudes of all terms of the balance.
//
// Impacts that follow one another, as of a cloth that meets a floor row by row, cancel in the
// powers of the whole, of which R is made. For each, -(h^2/2) F_d.a remains: at a penalty collider,
// with F_d = -c v and m a = -c v - k x, x at most v sqrt(m / k), no more than h (c + sqrt(k m)) /
// 2m of the work of F_d, which is added to R (impact_error).
//
// Linear systems of implicit steps are solved to `tolerance`, so that this part of a velocity, and
// of the kinetic energy, is uncertain even where R is less, as at the start of a slow motion.
//
// Projection moves nodes back to the surface at the end of steps. The energy that a step lost by
// moving them into the surface then appears as work of the projection, so that work is added to R.
//
// Work is integrated by the trapezoidal rule, of order 2, so the order of the balance is at most 2.
// Verlet and velocity Verlet use velocities that lag by half a step, and are of order 1 if any
// force depends on them; so is Verlet with keep_velocity, which also shortens the part of the last
// displacement that is due to the acceleration. With implicit methods one linear system leaves an
// error of order h in forces that depend on velocities and are not in the tangent: the wind on
// nodes. With keep_velocity the powers at the end of a step are known at the velocities after it,
// and at those before it only if no force depends on the velocity relative to something that moves
// (weigh_kept in forces/energy_budget.c).

// Whether the energy balance closes within the error of the integrator's order; gas whose pressure
// has no potential energy has no balance that could.
enum balance_verdict { BALANCE_CLOSES, BALANCE_COARSE, BALANCE_NO_POTENTIAL, BALANCE_OPEN };

struct balance {
    double change, accounted, residual; // J; residual = change - accounted
    double exchanged;                   // J, energy that changed its form, or was gained or lost
    double allowed;                     // J, the residual that the order explains at this dt
    int order;
    enum balance_verdict verdict;
    const char *cause; // certain or probable cause of the residual; NULL: nothing to explain
};

static const char *const CAUSE_CONTACTS =
    "probably contacts of surfaces, which are stiffer than dt allows for (contact_exceeds)";

static bool depends_on_velocity(const taut_solver *solver)
{
    const struct topology *topology = solver_topology(solver);
    const struct scene_environment *around = &topology->environment;
    if (around->air_drag != 0 || topology->any_mass_drag ||
        (around->wind.present && around->wind.relative))
        return true;
    for (size_t i = 0; i < topology->material_count; i++)
        if (topology->materials[i].damping != 0)
            return true;
    for (size_t c = 0; c < topology->collider_count; c++)
        if (topology->colliders[c].friction != 0 || topology->colliders[c].coulomb.present ||
            topology->colliders[c].absorption != 0)
            return true;
    return false;
}

// Whether a force depends on the velocity of a node relative to something that moves.
static bool depends_on_relative_velocity(const taut_solver *solver)
{
    const struct topology *topology = solver_topology(solver);
    const struct scene_wind *wind = &topology->environment.wind;
    bool moves = topology->motion_count > 0;
    for (size_t c = 0; c < topology->collider_count; c++)
        moves |= vec3_length(topology->colliders[c].velocity) > 0 ||
                 collider_moves(&topology->colliders[c]);
    return (wind->present && wind->relative) || (moves && depends_on_velocity(solver));
}

static int balance_order(const struct run *run)
{
    const taut_solver *solver = run->solver;
    const struct scene_simulation *simulation = &run->scene->simulation;
    if (simulation->keep_velocity != 1 && depends_on_relative_velocity(solver))
        return 1;
    // The memory of friction changes, and motion is cut, once a step.
    for (size_t c = 0; c < run->scene->collider_count; c++)
        if (run->scene->colliders[c].coulomb.present)
            return 1;
    if (scene_has_surface_friction(run->scene))
        return 1;
    if (solver_surface_cuts(solver).steps > 0)
        return 1;
    switch (solver_integrator(solver)) {
    case INTEGRATOR_VERLET:
        return depends_on_velocity(solver) || simulation->keep_velocity != 1 ? 1 : 2;
    case INTEGRATOR_VELOCITY_VERLET:
        return depends_on_velocity(solver) ? 1 : 2;
    case INTEGRATOR_IMPLICIT_MIDPOINT:
    case INTEGRATOR_BDF2:
        return simulation->implicit.newton == 1 &&
                       topology_wind_damps_nodes(solver_topology(solver))
                   ? 1
                   : 2;
    case INTEGRATOR_MIDPOINT:
    case INTEGRATOR_RK4:
        return 2;
    default:
        return 1;
    }
}

// The energy that rounding of positions leaves with Verlet, J. Its velocities are their
// differences, so that a coordinate x adds up to e = epsilon |x| / 2h to them in each step, by
// either sign over n steps but alike in neighbouring ones: up to 16 e sqrt(n), and the sum of m v
// times that, which is at most sqrt(2 K M). In free fall 5 e sqrt(n) were measured.
static double verlet_rounding(const struct run *run, double spacing)
{
    const taut_solver *solver = run->solver;
    if (solver_integrator(solver) != INTEGRATOR_VERLET ||
        solver_precision(solver) == PRECISION_MIXED)
        return 0;
    const double kinetic = fmax(run->frame.energy.kinetic, run->first_energy.kinetic);
    const double steps = (double)taut_solver_step_count(solver);
    const double speed = 0.5 * spacing / taut_solver_dt(solver);
    return 16 * speed * sqrt(steps * 2 * kinetic * topology_total_mass(solver_topology(solver)));
}

// The energy that rounding of positions stores in springs and elements, J, also in those of a body
// at rest, whose energies are nothing else. With u the spacing of numbers at the greatest
// coordinate, the length of a spring has an error of at most sqrt(3) u, so that 3 k u^2 / 2, or 3 /
// 4 of its trace 2 k, is uncertain in either of the two elastic energies that are compared; and
// rounding all new positions adds u^2 / 24 times the trace on average (docs/numerics.md,
// Divergence). In precision mixed no position is rounded, but forces are those of rounded
// positions, which is as much.
static double strain_rounding(const struct run *run, double spacing)
{
    const enum integrator integrator = solver_integrator(run->solver);
    const double roundings =
        integrator_roundings(integrator, (int)run->scene->simulation.substeps) *
        (double)taut_solver_step_count(run->solver);
    return solver_stiffness_trace(run->solver) * spacing * spacing * (1.5 + roundings / 24);
}

// The relative spacing of the numbers of a run. In precision mixed heights are rounded as in
// double, and their changes as forces are.
static double number_spacing(const struct run *run)
{
    return solver_precision(run->solver) == PRECISION_DOUBLE ? DBL_EPSILON : FLT_EPSILON;
}

// The sum of the energies that are rounded, J.
static double rounded_energy(const struct run *run)
{
    const taut_energy *now = &run->frame.energy, *first = &run->first_energy;
    const double heights = fabs(now->gravity) + fabs(first->gravity);
    const double size = now->kinetic + first->kinetic + now->elastic + first->elastic +
                        fabs(now->gas) + fabs(first->gas) + now->contact + first->contact;
    if (solver_precision(run->solver) != PRECISION_MIXED)
        return size + heights;
    return size + fabs(now->gravity - first->gravity) + DBL_EPSILON / number_spacing(run) * heights;
}

// The residual from rounding: energies are rounded in each step, with random signs.
static double rounding(const struct run *run)
{
    const double epsilon = number_spacing(run);
    const double spacing = epsilon * solver_greatest_coordinate(run->solver);
    return 4 * epsilon * rounded_energy(run) *
               sqrt((double)taut_solver_step_count(run->solver) + 1) +
           strain_rounding(run, spacing) + verlet_rounding(run, spacing);
}

// The energy that rounding may leave at most: the small increments of many steps, as of a fall, are
// alike, and so are their rounding errors. With xpbd the constraints change velocities one after
// another.
static double aligned_rounding(const struct run *run)
{
    const taut_solver *solver = run->solver;
    const struct scene_simulation *simulation = &run->scene->simulation;
    if (solver_precision(solver) == PRECISION_MIXED) // which loses no increment
        return 0;
    double changes = (double)taut_solver_step_count(solver);
    if (solver_integrator(solver) == INTEGRATOR_XPBD) {
        const double at_a_node =
            2 * (double)taut_solver_spring_count(solver) / (double)taut_solver_node_count(solver);
        changes *= (double)simulation->substeps * (1 + at_a_node * (double)simulation->iterations);
    }
    return number_spacing(run) * rounded_energy(run) * changes;
}

// The sum of the magnitudes of all terms of the balance, J.
static double sum_of_terms(const struct run *run)
{
    const taut_energy *now = &run->frame.energy, *first = &run->first_energy;
    double sum = fabs(now->kinetic - first->kinetic) + fabs(now->elastic - first->elastic) +
                 fabs(now->gravity - first->gravity) + fabs(now->gas - first->gas) +
                 fabs(now->contact - first->contact);
    for (int cause = 0; cause < WORK_CAUSES; cause++)
        sum += fabs(run->frame.work[cause]);
    return sum;
}

// Whether a body contains gas of one of the volumes that only approximate the enclosed one. Its
// pressure acts along the normals of the faces, whose work is not that of the change of this
// volume.
static bool has_gas_without_potential(const taut_solver *solver)
{
    const struct topology *topology = solver_topology(solver);
    for (size_t b = 0; b < topology->body_count; b++) {
        const struct scene_pressure *gas = &topology->bodies[b].pressure;
        if (gas->present && gas->volume != VOLUME_DIVERGENCE)
            return true;
    }
    return false;
}

// Whether springs or surfaces act on nodes, whose oscillations grow with some integrators, and
// which are the constraints of xpbd.
static bool has_springs(const taut_solver *solver)
{
    return taut_solver_spring_count(solver) > 0 || solver_topology(solver)->collider_count > 0;
}

// The error of a method of this order in the work of dampers at penalty colliders, J, where impacts
// follow one another.
static double impact_error(const struct run *run, int order)
{
    const taut_solver *solver = run->solver;
    const struct topology *topology = solver_topology(solver);
    const double dt = taut_solver_dt(solver);
    const double mass = topology_least_mass(topology, 0, topology->node_count);
    double part = 0;
    if (integrator_is_implicit(solver_integrator(solver)) ||
        solver_integrator(solver) == INTEGRATOR_XPBD)
        return 0;
    for (size_t c = 0; c < topology->collider_count; c++) {
        const struct scene_collider *it = &topology->colliders[c];
        if (it->response != RESPONSE_PENALTY || it->absorption == 0)
            continue;
        part = fmax(part, dt * (it->absorption + sqrt(it->stiffness * mass)) / (2 * mass));
    }
    return pow(fmin(part, 1), order) * fabs(run->frame.work[WORK_FRICTION]);
}

// Why an implicit method with cuts has gained energy: its forces act elsewhere than where cuts
// leave nodes.
static const char *cause_of_cuts(const taut_solver *solver)
{
    return solver_surface_cuts(solver).steps > 0
               ? "probably steps whose motion was cut; a smaller dt, or a larger contact.stiffness"
               : NULL;
}

// A gain or loss of energy that is no work of a force but a property of the integrator.
static const char *cause_of_integrator(const taut_solver *solver, const taut_scene *scene,
                                       double residual)
{
    switch (solver_integrator(solver)) {
    case INTEGRATOR_IMPLICIT_EULER:
        return residual < 0 ? "the numerical damping of implicit_euler" : cause_of_cuts(solver);
    case INTEGRATOR_BDF2:
        return residual < 0 ? "the numerical damping of bdf2" : cause_of_cuts(solver);
    case INTEGRATOR_XPBD:
        return has_springs(solver) ? "the work of the constraints of xpbd" : NULL;
    case INTEGRATOR_EXPLICIT_EULER:
    case INTEGRATOR_MIDPOINT:
        return residual > 0 && (has_springs(solver) ||
                                solver_integrator(solver) == INTEGRATOR_EXPLICIT_EULER)
                   ? "the growth of this integrator, which is stable at no dt without damping"
                   : NULL;
    case INTEGRATOR_IMPLICIT_MIDPOINT:
        return residual < 0 && scene->contact.present
                   ? "probably implicit Euler, with which implicit_midpoint repeats steps in which "
                     "surfaces meet; a smaller dt"
                   : cause_of_cuts(solver);
    case INTEGRATOR_SYMPLECTIC_EULER:
        return solver_position_ratio(solver) != 1 ? "position_step, which is not dt" : NULL;
    default:
        return NULL;
    }
}

// The cause of a residual: terms that the energy budget lacks, and gains or losses of energy that
// are not the work of a force. `explained` is what the order of the integrator leaves: more than
// that is no property of the integrator where rounding may leave as much.
static const char *cause_of(const struct run *run, double residual, double explained)
{
    const taut_solver *solver = run->solver;
    const struct implicit_statistics *implicit = solver_implicit_statistics(solver);
    if (rounding(run) >= fabs(residual))
        return solver_integrator(solver) == INTEGRATOR_VERLET
                   ? "perhaps rounding of positions, of which verlet makes velocities"
                   : "rounding of numbers";
    if (run->dt_exceeded.stable > 0 && run->dt_exceeded.is_exact)
        return "dt, which is larger than the largest stable step";
    if (implicit && implicit->unconverged > 0)
        return "implicit steps whose equations were not solved";
    if (has_gas_without_potential(solver))
        return "gas whose 'volume' is not 'divergence': its pressure has no potential";
    if (-run->frame.work[WORK_PROJECTION] > 0.5 * fabs(residual))
        return "projection, which puts back what steps lose by moving nodes into a surface";
    if (run->contact_excess.times > 0)
        return CAUSE_CONTACTS;
    const bool may_be_rounding = aligned_rounding(run) >= fabs(residual);
    const char *integrator = cause_of_integrator(solver, run->scene, residual);
    if (may_be_rounding && (!integrator || fabs(residual) > explained))
        return solver_precision(solver) == PRECISION_SINGLE
                   ? "probably rounding of velocities: try precision: mixed or double"
                   : "probably rounding of velocities";
    if (may_be_rounding && solver_integrator(solver) == INTEGRATOR_MIDPOINT)
        return "rounding of velocities, or the growth of this integrator";
    return integrator;
}

// The probable cause of a balance that does not close, or is too coarse to judge, where no cause is
// known; NULL: none. A step of an implicit method that is longer than 2 / omega does not resolve
// the fastest vibration, and the forces of its one linear system are not those of its end.
static const char *probable_cause(const struct run *run, enum balance_verdict verdict)
{
    const taut_solver *solver = run->solver;
    if (run->resolved > 0 && taut_solver_dt(solver) > run->resolved)
        return run->scene->simulation.implicit.newton == 1
                   ? "probably dt, which does not resolve the fastest vibrations, with one linear "
                     "system a step: 'newton' above 1, or a smaller dt"
                   : "probably dt, which does not resolve the fastest vibrations";
    if (verdict != BALANCE_OPEN)
        return NULL;
    return solver_precision(solver) == PRECISION_SINGLE
               ? "not known: half of dt shows whether it is dt, precision: double whether it is "
                 "rounding"
               : "not known: half of dt shows whether it is dt";
}

static struct balance run_balance(const struct run *run)
{
    // A residual below the fraction `small` of the exchanged energy needs no cause; if the order
    // allows more than the fraction `coarse`, the comparison shows little.
    const double small = 0.01, coarse = 0.1;

    const taut_solver *solver = run->solver;
    const struct frame *now = &run->frame;
    const double *work = now->work;
    const struct energy_budget *budget = solver_energy_budget(solver);

    struct balance balance = {
        .change = now->energy.total - run->first_energy.total,
        .accounted = work[WORK_WIND] + work[WORK_DRIVES] + work[WORK_INFLATION] -
                     work[WORK_DAMPING] - work[WORK_DRAG] - work[WORK_FRICTION] - work[WORK_KEEP] -
                     work[WORK_PROJECTION] - work[WORK_BREAKING] - work[WORK_TRUNCATION],
        .exchanged = budget->exchanged,
        .order = balance_order(run),
    };

    balance.residual = balance.change - balance.accounted;
    const double steps = (double)taut_solver_step_count(solver);
    const double lacking = (double)balance.order * (1 + (double)budget->restarts);
    const bool brief = steps <= lacking;
    const double times = solver_integrator(solver) == INTEGRATOR_BDF2 ? 2 : 1;
    const double explained =
        brief ? sum_of_terms(run)
              : times * budget->difference_sums[balance.order - 1] * steps / (steps - lacking) +
                    impact_error(run, balance.order);
    const double rounded = rounding(run);
    balance.allowed = explained + fabs(work[WORK_PROJECTION]) + rounded;
    if (integrator_is_implicit(solver_integrator(solver)))
        balance.allowed =
            fmax(balance.allowed, run->scene->simulation.implicit.tolerance *
                                      (now->energy.kinetic + run->first_energy.kinetic));

    const double size = fabs(balance.residual);
    if (!(size <= balance.allowed))
        balance.verdict = has_gas_without_potential(solver) ? BALANCE_NO_POTENTIAL : BALANCE_OPEN;
    else if (size > rounded && size > small * balance.exchanged &&
             balance.allowed > coarse * balance.exchanged)
        balance.verdict = BALANCE_COARSE;
    else
        balance.verdict = BALANCE_CLOSES;

    if (size > small * balance.exchanged || !(size <= balance.allowed))
        balance.cause = cause_of(run, balance.residual, explained);
    if (brief && balance.verdict == BALANCE_COARSE)
        balance.cause = "too few steps for an estimate";
    if (!balance.cause && (balance.verdict == BALANCE_OPEN || balance.verdict == BALANCE_COARSE))
        balance.cause = probable_cause(run, balance.verdict);
    return balance;
}

bool run_balance_shows_little(const struct run *run)
{
    if (!run->frame.has_work)
        return false;
    const enum balance_verdict verdict = run_balance(run).verdict;
    return verdict == BALANCE_OPEN || verdict == BALANCE_COARSE;
}

static const char *balance_verdict_name(enum balance_verdict verdict)
{
    switch (verdict) {
    case BALANCE_CLOSES:
        return "closes";
    case BALANCE_COARSE:
        return "coarse";
    case BALANCE_NO_POTENTIAL:
        return "no_potential";
    case BALANCE_OPEN:
        break;
    }
    return "open";
}

// ---- The table.

enum { FILES_SHOWN = 6, BODIES_SHOWN = 12, TEXT_COLUMN = 13, TABLE_WIDTH = 80 };

// Prints an item of a list with line breaks; `column` is the column after the last item.
static void print_item(int *column, const char *format, ...) PRINTF_FORMAT(2, 3);

static void print_item(int *column, const char *format, ...)
{
    char text[120];
    va_list arguments;
    va_start(arguments, format);
    // NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): clang-tidy 14, of many files at once
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (*column + 1 + length > TABLE_WIDTH)
        *column = printf("\n%*s", TEXT_COLUMN - 1, "") - 1;
    *column += printf(" %s", text);
}

static void print_run(const struct run *run)
{
    const taut_solver *solver = run->solver;
    const taut_scene *scene = run->scene;
    uint64_t steps = taut_solver_step_count(solver);
    printf("%s%s%s\n", scene->name, scene->title ? ": " : "", scene->title ? scene->title : "");
    printf("  system     %s, %s, %s, %s\n",
           human_counted(taut_solver_body_count(solver), "body").text,
           human_counted(taut_solver_node_count(solver), "node").text,
           human_counted(taut_solver_spring_count(solver), "spring").text,
           human_counted(taut_solver_face_count(solver), "face").text);
    printf("  simulated  %.6g s in %s%s of %g s%s\n", taut_solver_time(solver),
           human_counted(steps, "step").text,
           solver_dt_rule(solver)->since_step > 0 ? ", the last" : "", taut_solver_dt(solver),
           steps < taut_solver_steps_planned(solver) ? " (cut short)" : "");
    printf("  computed   %s, %s precision, instruction set %s, %s\n",
           integrator_name(solver_integrator(solver)), precision_name(solver_precision(solver)),
           isa_name(solver_isa(solver)),
           human_counted((uint64_t)taut_solver_threads(solver), "thread").text);
    if (ranks_count() > 1)
        printf("  ranks      %d on %s, each with so many threads, by %s\n", ranks_count(),
               human_counted((uint64_t)ranks_hosts(), "machine").text, ranks_library());
}

static const char *stage_name(enum stage stage)
{
    static const char *const names[STAGE_COUNT] = {
        [STAGE_GRAVITY_DRAG] = "gravity_drag",
        [STAGE_SPRINGS] = "springs",
        [STAGE_ELEMENTS] = "elements",
        [STAGE_WIND] = "wind",
        [STAGE_PRESSURE] = "pressure",
        [STAGE_COLLIDERS] = "colliders",
        [STAGE_INTEGRATE] = "integrate",
        [STAGE_SOLVE] = "solve",
        [STAGE_MOTIONS] = "motions",
        [STAGE_WORK] = "work",
        [STAGE_CHECK] = "check",
        [STAGE_RANKS] = "ranks",
    };
    return names[stage];
}

static void print_stages(const struct run *run)
{
    const struct stage_clock *clock = solver_stage_clock(run->solver);
    double total = run->output_seconds;
    for (int stage = 0; stage < STAGE_COUNT; stage++)
        total += clock->seconds[stage];
    if (!(total > 0))
        return;
    int column = printf("  %-*s", TEXT_COLUMN - 3, "stages");
    for (int stage = 0; stage <= STAGE_COUNT; stage++) {
        bool output = stage == STAGE_COUNT;
        double share = 100 * (output ? run->output_seconds : clock->seconds[stage]) / total;
        if (share >= 0.05)
            print_item(&column, "%s %.1f%%", output ? "output" : stage_name((enum stage)stage),
                       share);
    }
    puts("");
}

static void print_times(const struct run *run)
{
    const taut_solver *solver = run->solver;
    printf("  set-up     %s\n", human_seconds(run->setup_seconds).text);
    printf("  stepping   %s", human_seconds(solver_step_seconds(solver)).text);
    if (isfinite(run_spring_rate(run)))
        printf(": %s spring updates/s, %s node updates/s", human_scaled(run_spring_rate(run)).text,
               human_scaled(run_node_rate(run)).text);
    puts("");
    print_stages(run);
    printf("  memory     %s for the system, %s at most in all\n",
           human_bytes((double)solver_bytes(solver)).text,
           human_bytes((double)run_peak_bytes()).text);
}

// Prints a term of the balance, unless it is 0.
static void print_term(int *column, const char *name, double value, char sign)
{
    if (value != 0)
        print_item(column, "%c %s %.5g", sign, name, value);
}

// The step that is advised is shorter than the guaranteed one, as others are (solver/dt.c).
static void print_contact_excess(const struct contact_excess *it)
{
    printf("%*scause: probably contacts of surfaces: at node %" PRIu64
           " of body '%s' they are %.2g times\n"
           "%*sas stiff as dt allows for at the end; give a dt of %.2g s, or a smaller\n"
           "%*scontact.stiffness\n",
           TEXT_COLUMN, "", it->node, it->body, it->times, TEXT_COLUMN, "", 0.8 * it->stable,
           TEXT_COLUMN, "");
}

// Prints the residual of the balance, compared with the exchanged energy and with what the order of
// the integrator leaves.
static void print_closure(const struct balance *balance, const struct contact_excess *excess)
{
    printf("  closure    residual %.3g J", balance->residual);
    if (balance->exchanged > 0)
        printf(", %.2g%% of the %.4g J exchanged",
               100 * fabs(balance->residual) / balance->exchanged, balance->exchanged);
    printf(";\n%*s", TEXT_COLUMN, "");
    switch (balance->verdict) {
    case BALANCE_CLOSES:
        printf("closes: order %d leaves up to %.2g J at this dt", balance->order, balance->allowed);
        break;
    case BALANCE_COARSE:
        printf("too coarse to judge: order %d leaves up to %.2g J at this dt", balance->order,
               balance->allowed);
        break;
    case BALANCE_NO_POTENTIAL:
        printf("cannot close: besides the gas, order %d leaves up to %.2g J at this dt",
               balance->order, balance->allowed);
        break;
    case BALANCE_OPEN:
        printf("does not close: order %d leaves no more than %.2g J at this dt", balance->order,
               balance->allowed);
        break;
    }
    puts("");
    if (balance->cause && strcmp(balance->cause, CAUSE_CONTACTS) == 0)
        print_contact_excess(excess);
    else if (balance->cause)
        printf("%*scause: %s\n", TEXT_COLUMN, "", balance->cause);
}

static void print_energy(const struct run *run)
{
    const struct frame *now = &run->frame;
    const taut_energy *energy = &now->energy;
    printf("  energy     kinetic %.5g, elastic %.5g, gravity %.5g", energy->kinetic,
           energy->elastic, energy->gravity);
    if (energy->gas != 0)
        printf(", gas %.5g", energy->gas);
    if (energy->contact != 0)
        printf(", contact %.5g", energy->contact);
    printf(", total %.6g J\n", energy->total);
    if (!now->has_work) {
        printf("  balance    changed by %.5g J; the energy budget is off (output.work)\n",
               energy->total - run->first_energy.total);
        return;
    }
    const double *work = now->work;
    const struct balance balance = run_balance(run);
    int column = printf("  balance    changed by %.5g J, accounted for are %.5g J", balance.change,
                        balance.accounted);
    print_term(&column, "wind", work[WORK_WIND], '+');
    print_term(&column, "drives", work[WORK_DRIVES], '+');
    print_term(&column, "inflation", work[WORK_INFLATION], '+');
    print_term(&column, "damping", work[WORK_DAMPING], '-');
    print_term(&column, "drag", work[WORK_DRAG], '-');
    print_term(&column, "friction", work[WORK_FRICTION], '-');
    print_term(&column, "keep", work[WORK_KEEP], '-');
    print_term(&column, "projection", work[WORK_PROJECTION], '-');
    print_term(&column, "breaking", work[WORK_BREAKING], '-');
    print_term(&column, "truncation", work[WORK_TRUNCATION], '-');
    puts("");
    print_closure(&balance, &run->contact_excess);
}

// Prints how well the equations of implicit steps were solved, and at what cost.
static void print_implicit(const struct run *run)
{
    const struct implicit_statistics *statistics = solver_implicit_statistics(run->solver);
    if (!statistics || statistics->solves == 0)
        return;
    printf("  implicit   %s, %.3g iterations each, residual %.2g at worst",
           human_counted(statistics->solves, "linear system").text,
           (double)statistics->iterations / (double)statistics->solves, statistics->worst_residual);
    if (statistics->unconverged > 0)
        printf("; not converged in %s", human_counted(statistics->unconverged, "step").text);
    puts("");
}

// How far nodes have moved in a step, of the thickness of contact: by the mean square of their
// speeds at the start or at the end, whichever is faster.
static double thicknesses_a_step(const struct run *run)
{
    const double kinetic = fmax(run->frame.energy.kinetic, run->first_energy.kinetic);
    const double mass = topology_total_mass(solver_topology(run->solver));
    return sqrt(2 * kinetic / mass) * taut_solver_dt(run->solver) / run->scene->contact.thickness;
}

// A contact of surfaces that come to touch takes up to 3.2 k t2, with the thickness t; the force
// that it carries, surface_stiffness.carries, is 5 k t.
static const double TAKEN_OVER_CARRIED = 3.2 / 5; // 1/t

// Whether a body's barrier is too soft for the speed of the run, whatever dt: it takes less than
// the kinetic energy of one of its nodes at that speed, even by as many contacts as the critical
// step allows for.
static bool is_too_soft_for_speed(const struct run *run)
{
    const struct topology *topology = solver_topology(run->solver);
    const double kinetic = fmax(run->frame.energy.kinetic, run->first_energy.kinetic);
    const double square = 2 * kinetic / topology_total_mass(topology); // of a speed, m2/s2
    for (size_t b = 0; b < topology->body_count; b++) {
        const struct topology_body *body = &topology->bodies[b];
        const struct surface_stiffness contact = solver_surface_stiffness(run->solver, b);
        const double mass =
            topology_least_mass(topology, body->first_node, body->first_node + body->node_count);
        const double taken = TAKEN_OVER_CARRIED * contact.carries * run->scene->contact.thickness;
        if (contact.stiffness > 0 && mass * square / 2 > SURFACE_WEIGHTS * taken)
            return true;
    }
    return false;
}

// Whether cuts in every direction have taken momentum that is worth a line. Cuts in the frame of
// what exerts the force, and those at planes, spheres and rooms, take none of their own. It is
// compared by its lengths, since what is taken of two bodies may be opposite, with sqrt(2 K M):
// with M the mass of all bodies that is not below the sum of m |v| at a kinetic energy K, for which
// all energy that has been exchanged counts where it is known, since bodies may be at rest at the
// start and at the end.
static bool takes_noticeable_momentum(const struct run *run, const struct surface_cuts *cuts)
{
    const double noticeable = 1e-4;
    const struct energy_budget *budget = solver_energy_budget(run->solver);
    const double exchanged = budget ? budget->exchanged : 0;
    const double kinetic =
        fmax(fmax(run->frame.energy.kinetic, run->first_energy.kinetic), exchanged);
    const double mass = topology_total_mass(solver_topology(run->solver));
    return cuts->lost_lengths > noticeable * sqrt(2 * kinetic * mass);
}

// The effect of cuts, if it is more than a hundredth of the energy that was exchanged. Those that
// hold a body at rest take none. In implicit steps forces act where the step would have ended
// without its cut, so that less of a drive is counted than a body gets that is pressed so that
// steps are cut; and what bodies gain that meet by many thicknesses in a step is no part of what
// cuts take, but of the residual.
static const char *effect_of_cuts(const struct run *run)
{
    const double noticeable = 0.01;
    const struct energy_budget *budget = solver_energy_budget(run->solver);
    const double taken = budget ? run->frame.work[WORK_TRUNCATION] / budget->exchanged : 0;
    const bool implicit = integrator_is_implicit(solver_integrator(run->solver));
    const double gained =
        budget && implicit ? run_balance(run).residual / budget->exchanged - taken : -taken;
    return gained > noticeable  ? ", which adds energy"
           : taken > noticeable ? ", which takes energy"
                                : "";
}

static void print_contact(const struct run *run)
{
    const struct surface_cuts cuts = solver_surface_cuts(run->solver);
    const struct solver_relaxed relaxed = solver_surface_relaxed(run->solver);
    if (relaxed.nodes > 0)
        printf("  relaxed    %s of %s moved before the start, by up to %.3g m\n",
               human_counted(relaxed.nodes, "node").text,
               human_counted(relaxed.bodies, "body").text, relaxed.farthest);
    if (cuts.steps == 0)
        return;
    printf("  contact    motion cut in %s, where surfaces would have passed through each other\n",
           human_counted(cuts.steps, "step").text);
    const double moved = thicknesses_a_step(run);
    const char *effect = effect_of_cuts(run);
    const bool too_soft = is_too_soft_for_speed(run);
    if (cuts.steps > taut_solver_step_count(run->solver) / 10 && moved > 1)
        printf("             in so many as nodes move by %.2g times the thickness in a step%s:\n"
               "             give a smaller dt%s\n",
               moved, effect, too_soft ? ", and a larger contact.stiffness" : "");
    else if (cuts.steps > taut_solver_step_count(run->solver) / 10 && too_soft)
        printf("             in so many that the barrier is too soft for the speed, at any dt%s:\n"
               "             give a larger contact.stiffness ('taut info' shows what it is, and\n"
               "             the dt that it needs), or a larger thickness\n",
               effect);
    else if (cuts.steps > taut_solver_step_count(run->solver) / 10)
        printf("             in so many that the barrier is too soft for what presses on it%s:\n"
               "             give a larger contact.stiffness ('taut info' shows "
               "what it is), or a larger thickness\n",
               effect);
    if (takes_noticeable_momentum(run, &cuts))
        printf("             in %s in every direction, as cuts along normals found no end, which\n"
               "             took %.3g N s of momentum (%.3g N s where opposite losses cancel):\n"
               "             give a%s larger contact.stiffness\n",
               human_counted(cuts.stopped, "step").text, cuts.lost_lengths,
               vec3_length(vec3_make(cuts.lost[0], cuts.lost[1], cuts.lost[2])),
               too_soft ? "" : " smaller dt or a");
    if (cuts.unresolved > 0)
        printf(
            "             in %s that was not possible, where what is driven leaves no way within "
            "a\n"
            "             step: surfaces may have passed all the same, or nodes are left inside a\n"
            "             collider; give a smaller dt or a larger contact.stiffness\n",
            human_counted(cuts.unresolved, "step").text);
}

static void print_bodies(const struct run *run)
{
    uint64_t broken = taut_solver_broken_count(run->solver);
    if (broken > 0)
        printf("  broken     %s of %s\n", human_counted(broken, "spring").text,
               human_count(taut_solver_spring_count(run->solver)).text);
    size_t shown = 0, closed = 0;
    for (size_t b = 0; b < run->frame.shape.body_count; b++) {
        if (!solver_topology(run->solver)->bodies[b].closed)
            continue;
        if (closed++ >= BODIES_SHOWN)
            continue;
        const struct frame_body *body = &run->frame.bodies[b];
        printf("  %-9s  %s %.6g %s\n", shown++ == 0 ? "volume" : "", body->name,
               run->frame.volumes[b], body->face_arity == 2 ? "m2" : "m3");
    }
    if (closed > shown)
        printf("             and %s more\n", human_counted(closed - shown, "body").text);
}

static void print_files(const struct run *run)
{
    for (size_t i = 0; i < run->file_count && i < FILES_SHOWN; i++)
        printf("  %-9s  %s\n", i == 0 ? "files" : "", run->files[i]);
    if (run->file_count > FILES_SHOWN)
        printf("             and %s more\n", human_count(run->file_count - FILES_SHOWN).text);
}

// Prints how to open the results.
static void print_viewers(const struct run *run)
{
    bool caches = false;
    for (size_t i = 0; i < run->file_count; i++) {
        const char *file = run->files[i];
        if (text_ends_with(file, ".pvd"))
            printf("  ParaView   open %s\n", file);
        if (!text_ends_with(file, ".pc2") || caches)
            continue;
        caches = true;
        printf("  Blender    import %.*s.obj (axes as they are: Y up), and give it a Mesh Cache\n"
               "             modifier with %s\n",
               (int)(strlen(file) - strlen(".pc2")), file, file);
    }
}

// Warns if dt exceeds the stable step of the scene's state.
static void print_dt_exceeded(const struct run *run)
{
    const struct dt_exceeded *it = &run->dt_exceeded;
    if (!(it->stable > 0))
        return;
    const char *when = it->at_start ? "start" : "end";
    const double times = taut_solver_dt(run->solver) / it->stable;
    if (it->is_tested)
        printf("  warning    dt is %.3g times %.4g s, up to which xpbd has been stable in tests\n"
               "             beside elements that soften springs, as at the %s,\n",
               times, it->stable, when);
    else
        printf("  warning    dt is %.3g times the largest %s step at the %s, %.4g s,\n", times,
               it->is_exact ? "stable" : "certainly stable", when, it->stable);
    printf("             set near node %" PRIu64 " of body '%s'\n", it->node, it->body);
}

void run_print_table(const struct run *run)
{
    print_run(run);
    print_dt_exceeded(run);
    print_times(run);
    print_energy(run);
    print_implicit(run);
    print_contact(run);
    print_bodies(run);
    print_files(run);
    print_viewers(run);
}

// ---- JSON.

static void write_energy(struct json *json, const taut_energy *energy)
{
    json_open_object(json, "energy");
    json_number(json, "kinetic", energy->kinetic);
    json_number(json, "elastic", energy->elastic);
    json_number(json, "gravity", energy->gravity);
    json_number(json, "gas", energy->gas);
    json_number(json, "contact", energy->contact);
    json_number(json, "total", energy->total);
    json_close_object(json);
}

static void write_bodies(struct json *json, const struct run *run)
{
    json_open_array(json, "bodies");
    for (size_t b = 0; b < run->frame.shape.body_count; b++) {
        const struct frame_body *body = &run->frame.bodies[b];
        json_open_object(json, NULL);
        json_string(json, "name", body->name);
        json_count(json, "nodes", body->node_count);
        json_count(json, "springs", body->spring_count);
        json_count(json, "faces", body->face_count);
        json_string(json, "kernel", solver_body_kernel(run->solver, b));
        json_number(json, "volume",
                    solver_topology(run->solver)->bodies[b].closed ? run->frame.volumes[b] : NAN);
        json_close_object(json);
    }
    json_close_array(json);
}

static void write_stages(struct json *json, const struct run *run)
{
    const struct stage_clock *clock = solver_stage_clock(run->solver);
    json_open_object(json, "stages");
    for (int stage = 0; stage < STAGE_COUNT; stage++)
        json_number(json, stage_name((enum stage)stage), clock->seconds[stage]);
    json_number(json, "output", run->output_seconds);
    json_close_object(json);
}

static void write_output(struct json *json, const struct run *run)
{
    json_open_array(json, "output");
    for (size_t i = 0; i < run->file_count; i++)
        json_string(json, NULL, run->files[i]);
    json_close_array(json);
}

static void write_work(struct json *json, const struct run *run)
{
    const struct frame *now = &run->frame;
    if (!now->has_work) {
        json_null(json, "work");
        return;
    }
    const double *work = now->work;
    json_open_object(json, "work");
    json_number(json, "damping", work[WORK_DAMPING]);
    json_number(json, "drag", work[WORK_DRAG]);
    json_number(json, "friction", work[WORK_FRICTION]);
    json_number(json, "keep", work[WORK_KEEP]);
    json_number(json, "projection", work[WORK_PROJECTION]);
    json_number(json, "breaking", work[WORK_BREAKING]);
    json_number(json, "wind", work[WORK_WIND]);
    json_number(json, "drives", work[WORK_DRIVES]);
    json_number(json, "inflation", work[WORK_INFLATION]);
    if (run->scene->contact.present)
        json_number(json, "truncation", work[WORK_TRUNCATION]);
    json_close_object(json);
}

static void write_balance(struct json *json, const struct run *run)
{
    if (!run->frame.has_work) {
        json_null(json, "balance");
        return;
    }
    const struct balance balance = run_balance(run);
    json_open_object(json, "balance");
    json_number(json, "change", balance.change);
    json_number(json, "accounted", balance.accounted);
    json_number(json, "residual", balance.residual);
    json_number(json, "exchanged", balance.exchanged);
    json_number(json, "allowed", balance.allowed);
    json_count(json, "order", (uint64_t)balance.order);
    json_string(json, "verdict", balance_verdict_name(balance.verdict));
    json_string(json, "cause", balance.cause);
    json_close_object(json);
}

static void write_implicit(struct json *json, const struct run *run)
{
    const struct implicit_statistics *statistics = solver_implicit_statistics(run->solver);
    if (!statistics) {
        json_null(json, "implicit");
        return;
    }
    json_open_object(json, "implicit");
    json_count(json, "solves", statistics->solves);
    json_count(json, "iterations", statistics->iterations);
    json_number(json, "worst_residual", statistics->worst_residual);
    json_count(json, "unconverged", statistics->unconverged);
    json_close_object(json);
}

static void write_contact(struct json *json, const struct run *run)
{
    const struct surface_cuts cuts = solver_surface_cuts(run->solver);
    if (!run->scene->contact.present)
        return;
    const struct surface_counts counts = solver_surface_counts(run->solver);
    json_open_object(json, "surface_contact");
    json_count(json, "triangles", counts.triangles);
    json_count(json, "candidates", counts.candidates);
    json_count(json, "touching", counts.touching);
    json_count(json, "cut_steps", cuts.steps);
    json_count(json, "unresolved_steps", cuts.unresolved);
    json_count(json, "stopped_steps", cuts.stopped);
    json_numbers(json, "momentum_lost", cuts.lost, 3);
    json_number(json, "momentum_lost_lengths", cuts.lost_lengths);
    if (run->scene->contact.existing == EXISTING_RELAX) {
        const struct solver_relaxed relaxed = solver_surface_relaxed(run->solver);
        json_open_object(json, "relaxed");
        json_count(json, "crossing_pairs", relaxed.crossings);
        json_count(json, "rounds", relaxed.rounds);
        json_count(json, "bodies", relaxed.bodies);
        json_count(json, "nodes", relaxed.nodes);
        json_number(json, "farthest", relaxed.farthest);
        json_close_object(json);
    }
    json_close_object(json);
}

static void write_dt_exceeded(struct json *json, const struct run *run)
{
    const struct dt_exceeded *it = &run->dt_exceeded;
    json_bool(json, "dt_checked", it->checked);
    if (!(it->stable > 0)) {
        json_null(json, "dt_exceeds");
        return;
    }
    json_open_object(json, "dt_exceeds");
    json_number(json, "critical_step", it->stable);
    json_bool(json, "exact", it->is_exact);
    json_bool(json, "at_start", it->at_start);
    json_string(json, "body", it->body);
    json_count(json, "node", it->node);
    json_close_object(json);
}

static void write_contact_excess(struct json *json, const struct run *run)
{
    const struct contact_excess *it = &run->contact_excess;
    if (!(it->times > 0)) {
        json_null(json, "contact_exceeds");
        return;
    }
    json_open_object(json, "contact_exceeds");
    json_number(json, "times", it->times);
    json_number(json, "critical_step", it->stable);
    json_string(json, "body", it->body);
    json_count(json, "node", it->node);
    json_close_object(json);
}

static void write_counts(struct json *json, const struct run *run)
{
    const taut_solver *solver = run->solver;
    json_string(json, "scene", run->options->scene);
    json_count(json, "nodes", taut_solver_node_count(solver));
    json_count(json, "springs", taut_solver_spring_count(solver));
    json_count(json, "faces", taut_solver_face_count(solver));
    json_count(json, "steps", taut_solver_step_count(solver));
    json_number(json, "time", taut_solver_time(solver));
    json_number(json, "dt", taut_solver_dt(solver));
    json_count(json, "threads", (uint64_t)taut_solver_threads(solver));
    json_count(json, "ranks", (uint64_t)ranks_count());
    json_count(json, "hosts", (uint64_t)ranks_hosts());
    json_string(json, "mpi", ranks_count() > 1 ? ranks_library() : NULL);
    json_count(json, "received_bytes", solver_step_received(solver));
    json_string(json, "isa", isa_name(solver_isa(run->solver)));
    json_string(json, "precision", precision_name(solver_precision(solver)));
    json_string(json, "integrator", integrator_name(solver_integrator(solver)));
    json_number(json, "setup_seconds", run->setup_seconds);
    json_number(json, "step_seconds", solver_step_seconds(solver));
    json_number(json, "spring_updates_per_second", run_spring_rate(run));
    json_count(json, "bytes", solver_bytes(solver));
    json_count(json, "peak_rss_bytes", run_peak_bytes());
    json_count(json, "broken_springs", taut_solver_broken_count(solver));
}

void run_print_json(const struct run *run)
{
    char hash[20];
    snprintf(hash, sizeof hash, "%016" PRIx64, taut_solver_hash(run->solver));
    struct json json = {.out = stdout};
    json_open_object(&json, NULL);
    write_counts(&json, run);
    json_string(&json, "hash", hash);
    write_energy(&json, &run->frame.energy);
    write_bodies(&json, run);
    write_stages(&json, run);
    write_output(&json, run);
    json_string(&json, "kernel", kernel_choice_name((int)solver_kernel(run->solver)));
    json_number(&json, "node_updates_per_second", run_node_rate(run));
    json_number(&json, "energy_at_start", run->first_energy.total);
    write_work(&json, run);
    write_balance(&json, run);
    write_implicit(&json, run);
    write_contact(&json, run);
    write_dt_exceeded(&json, run);
    write_contact_excess(&json, run);
    json_count(&json, "steps_planned", taut_solver_steps_planned(run->solver));
    json_string(&json, "interrupted",
                run->signal_number != 0 ? signals_name(run->signal_number) : NULL);
    json_string(&json, "error", run->status == TAUT_OK ? NULL : run->error.text);
    json_close_object(&json);
}
