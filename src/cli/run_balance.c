// Whether the energy balance of a run closes: E(t) - E(0) against the work accounted for, and the
// residual against what a method of its order leaves at this dt.
//
// Of a method of order p a step's error in the energy is O(h^(p+1)): differences of order p + 1 of
// what is exchanged in a step. What all steps may leave is estimated by R = the sum of the absolute
// differences of order p + 1 of the kinetic energy between steps, which goes as h^p.
//
// For symplectic Euler, x' = x + h v', v' = v + h a, this can be derived: with F_c the conservative
// force, K its stiffness and F_d = -C v, a step changes the energy by
//
//   h F_c.(v + v')/2 + h F_d.(v + v')/2 - h F_c.v' + h^2 v'.K v'/2 + O(h^3)
//     = h F_d.v + (h^2/2)(v.K v - F_c.a + F_d.a) + O(h^3) = h F_d.v + (h^2/2)(F_d.a - (F_c.v)') ,
//
// and the trapezoids of the account have h F_d.v + h^2 F_d.a of it. The difference,
// -(h^2/2)((F_c.v)'
// + F_d.a), is one of a step's beginning and end; h F_c.v is the change of K in a step but for the
// work of the other forces. So over the run the residual is half of the sum of the second
// differences of K (with sign), plus terms of the same kind and O(h^2). For explicit and implicit
// Euler on an oscillator the energy gained or lost is pi/4 = 0.79 of R.
//
// Projection sets nodes back at the end of steps. What such a step lost by moving them into the
// surface then counts as put in by the projection, so the work of projections is added to R.
//
// The work is joined by trapezoids, of order 2, so no method has more here. Verlet and velocity
// Verlet see velocities half a step late, and are of order 1 where any force depends on them.
#include "cli/run.h"

#include <float.h>
#include <math.h>

static bool depends_on_velocity(const taut_solver *solver)
{
    const struct topology *topology = solver->topology;
    const struct scene_environment *around = &topology->environment;
    if (around->air_drag != 0 || (around->wind.present && around->wind.relative))
        return true;
    for (size_t i = 0; i < topology->material_count; i++)
        if (topology->materials[i].damping != 0)
            return true;
    for (size_t c = 0; c < topology->collider_count; c++)
        if (topology->colliders[c].friction != 0 || topology->colliders[c].absorption != 0)
            return true;
    return false;
}

static int balance_order(const taut_solver *solver)
{
    switch (solver->integrator) {
    case INTEGRATOR_VERLET:
    case INTEGRATOR_VELOCITY_VERLET:
        return depends_on_velocity(solver) ? 1 : 2;
    case INTEGRATOR_MIDPOINT:
    case INTEGRATOR_RK4:
    case INTEGRATOR_IMPLICIT_MIDPOINT:
    case INTEGRATOR_BDF2:
        return 2;
    default:
        return 1;
    }
}

// What rounding leaves: energies whose numbers are rounded in each step, by either sign.
static double rounding(const struct run *run)
{
    const struct snapshot *now = &run->view.snapshot, *first = &run->first;
    const double epsilon = run->solver->precision == PRECISION_DOUBLE ? DBL_EPSILON : FLT_EPSILON;
    double size = fabs(now->gravity) + fabs(first->gravity) + now->kinetic + first->kinetic +
                  now->elastic + first->elastic + fabs(now->gas) + fabs(first->gas) + now->contact +
                  first->contact;
    return 4 * epsilon * size * sqrt((double)taut_solver_step_count(run->solver) + 1);
}

// What the account does not have, and what takes or gives energy that no force accounts for.
static const char *cause_of(const struct run *run, double residual)
{
    const taut_solver *solver = run->solver;
    const struct implicit_account *implicit = solver->functions->implicit(solver->system);
    if (implicit && implicit->unconverged > 0)
        return "implicit steps whose equations were not solved";
    if (fabs(run->view.snapshot.work.projection) > 0.5 * fabs(residual))
        return "projection, which puts back what steps lose by moving nodes into a surface";
    switch (solver->integrator) {
    case INTEGRATOR_IMPLICIT_EULER:
        if (residual < 0)
            return "the numerical damping of implicit_euler";
        break;
    case INTEGRATOR_BDF2:
        if (residual < 0)
            return "the numerical damping of bdf2";
        break;
    case INTEGRATOR_XPBD:
        return "what the constraints of xpbd take and give";
    case INTEGRATOR_EXPLICIT_EULER:
    case INTEGRATOR_MIDPOINT:
        if (residual > 0)
            return "the growth of this integrator, which is stable at no dt without damping";
        break;
    case INTEGRATOR_SYMPLECTIC_EULER:
        if (solver->position_ratio != 1)
            return "position_step, which is not dt";
        break;
    default:
        break;
    }
    return NULL;
}

struct balance run_balance(const struct run *run)
{
    // A residual below this part of what was exchanged is worth no cause, and an order that allows
    // more than this part says little.
    const double small = 0.01, coarse = 0.1;
    const taut_solver *solver = run->solver;
    const struct snapshot *now = &run->view.snapshot;
    const struct snapshot_work *work = &now->work;
    const struct work_account *account = solver->functions->work(solver->system);
    struct balance balance = {
        .change = now->total - run->first.total,
        .accounted = work->wind + work->drives + work->inflation - work->damping - work->drag -
                     work->friction - work->keep - work->projection - work->breaking,
        .exchanged = account->exchanged,
        .order = balance_order(solver),
    };
    balance.residual = balance.change - balance.accounted;
    balance.allowed =
        account->difference_sums[balance.order - 1] + fabs(work->projection) + rounding(run);
    const double size = fabs(balance.residual);
    if (!(size <= balance.allowed))
        balance.verdict = BALANCE_OPEN;
    else if (size > small * balance.exchanged && balance.allowed > coarse * balance.exchanged)
        balance.verdict = BALANCE_COARSE;
    else
        balance.verdict = BALANCE_CLOSES;
    if (size > small * balance.exchanged || balance.verdict == BALANCE_OPEN)
        balance.cause = cause_of(run, balance.residual);
    if (!balance.cause && balance.verdict == BALANCE_OPEN)
        balance.cause = solver->precision == PRECISION_SINGLE
                            ? "rounding, where precision: double closes it, else not known"
                            : "not known";
    return balance;
}

const char *balance_verdict_name(enum balance_verdict verdict)
{
    switch (verdict) {
    case BALANCE_CLOSES:
        return "closes";
    case BALANCE_COARSE:
        return "coarse";
    case BALANCE_OPEN:
        break;
    }
    return "open";
}
