// The critical step of what is played. It changes with every change, and a little with the state;
// it is looked for after changes only, and while it is, nothing else is done.
#include "play/player_parts.h"

#include <math.h>

#include "base/clock.h"

// What a look costs, in steps (scenes/: a bound 5 to 70; eigenvalues 10 to 1300, and 4600 on a
// large cloth), and what it may cost, s: bounds at once, or when the scene has stood unchanged for
// a while; sharp values when it stands still, and when it plays.
enum { BOUND_STEPS = 60, SHARP_STEPS = 800 };
static const double BOUND_AT_ONCE = 0.005, SHARP_AT_REST = 0.4, SHARP_AT_PLAY = 0.03;
static const double BOUND_AFTER = 0.15, SHARP_AFTER = 0.3;

static double step_seconds(const struct player *player)
{
    const double guess = 2e-9; // s a spring, until it is known
    const double springs = (double)taut_solver_spring_count(player->show.solver);
    return player->seconds_per_step > 0 ? player->seconds_per_step : guess * springs;
}

void player_forget_critical(struct player *player)
{
    player->critical = (struct critical){CRITICAL_UNKNOWN, 0, clock_seconds()};
    if (BOUND_STEPS * step_seconds(player) < BOUND_AT_ONCE)
        player_find_critical(player);
}

double player_critical_wait(const struct player *player, double now)
{
    const struct critical *critical = &player->critical;
    if (player->failed || critical->stage == CRITICAL_SHARP)
        return INFINITY;
    if (critical->stage == CRITICAL_UNKNOWN)
        return fmax(0, critical->since + BOUND_AFTER - now);
    bool goes = player->playing || player->steps_asked > 0;
    if (SHARP_STEPS * step_seconds(player) > (goes ? SHARP_AT_PLAY : SHARP_AT_REST))
        return INFINITY;
    return fmax(0, critical->since + SHARP_AFTER - now);
}

void player_find_critical(struct player *player)
{
    taut_solver *solver = player->show.solver;
    struct critical *critical = &player->critical;
    struct critical_step found;
    bool sharp = critical->stage == CRITICAL_BOUND;
    taut_status status = sharp ? solver_own_sharp_step(solver, &found, NULL)
                               : solver_critical_step(solver, &found, NULL);
    critical->stage = sharp ? CRITICAL_SHARP : CRITICAL_BOUND;
    if (status == TAUT_OK)
        critical->dt = sharp ? found.sharp_dt[solver->integrator] : found.dt[solver->integrator];
    if (status != TAUT_OK || !found.known)
        critical->dt = 0;
    // Where no spring sets a limit, or every step passes it, there is nothing to find.
    if (critical->dt == 0 || isinf(critical->dt))
        critical->stage = CRITICAL_SHARP;
    pace_begin(&player->pace, clock_seconds(), taut_solver_time(solver));
}
