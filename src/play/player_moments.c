// What others see of a player: moments, the recent past, and how it does.
#include "play/player_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"

// Of the time that passes, copying moments may take a thirtieth, or a tenth where strains are
// wanted, of which many springs have more than their nodes have places; and energies, of which a
// look costs about a step, a hundredth.
static const double MOMENTS_TAKE = 30, STRAINS_TAKE = 10, ENERGIES_TAKE = 100;

// ---- Moments

static bool brings_energy(enum work_cause cause)
{
    return cause == WORK_WIND || cause == WORK_DRIVES || cause == WORK_INFLATION;
}

static void take_budget(struct player *player)
{
    const taut_solver *solver = player->show.solver;
    const struct work_account *work = solver->functions->work(solver->system);
    struct player_budget *budget = &player->budget;
    if (!work || !budget->kept)
        return;
    budget->change = budget->unexplained = player->energy.total - player->budget_energy;
    for (int cause = 0; cause < WORK_CAUSES; cause++) {
        double done = work->done[cause] - player->budget_work[cause];
        budget->work[cause] = brings_energy((enum work_cause)cause) ? done : -done;
        budget->unexplained -= budget->work[cause];
    }
}

void player_begin_budget(struct player *player)
{
    taut_solver *solver = player->show.solver;
    player->budget = (struct player_budget){.since = taut_solver_time(solver)};
    if (!player->budget_wanted || player->failed)
        return;
    solver_look(solver, false, &player->energy);
    const struct work_account *work = solver->functions->work(solver->system);
    if (!work)
        return;
    player->budget.kept = true;
    player->budget_energy = player->energy.total;
    memcpy(player->budget_work, work->done, sizeof player->budget_work);
}

static void take_energies(struct player *player)
{
    double begin = clock_seconds();
    taut_solver *solver = player->show.solver;
    solver_look(solver, false, &player->energy);
    take_budget(player);
    double cost = clock_seconds() - begin;
    player->next_look = begin + fmax(player->frame_seconds, ENERGIES_TAKE * cost);
    player->volume = 0;
    for (size_t b = 0; b < player->show.setting->subject->body_count; b++)
        player->volume += solver->functions->volume(solver->system, b);
    struct player_row row = {taut_solver_time(solver), player->energy, player->volume};
    if (taut_solver_step_count(solver) != player->published_step)
        history_add_row(&player->history, &row);
}

static void draw_hand(const struct player *player, struct published_slot *slot)
{
    slot->moment.moment.pulls = NULL;
    slot->moment.moment.pull_count = 0;
    if (!player->hand.pulls)
        return;
    const float *from = slot->store.positions + 3 * player->hand.node;
    for (int axis = 0; axis < 3; axis++) {
        slot->pull.from[axis] = from[axis];
        slot->pull.to[axis] = (float)player->hand.target[axis];
    }
    slot->moment.moment.pulls = &slot->pull;
    slot->moment.moment.pull_count = 1;
}

static void fill(struct player *player, struct published_slot *slot)
{
    taut_solver *solver = player->show.solver;
    struct setting *setting = player->show.setting;
    bool strains = player->strains || taut_solver_broken_count(solver) > 0;
    subject_store_take(solver, setting->subject, strains, &slot->store);
    for (size_t b = 0; b < setting->subject->body_count; b++)
        slot->volumes[b] = solver->functions->volume(solver->system, b);
    slot->moment = (struct player_moment){
        .moment = slot->store.moment,
        .energy = player->energy,
        .volumes = slot->volumes,
        .generation = setting->shown->generation,
    };
    draw_hand(player, slot);
}

void player_publish(struct player *player)
{
    double now = clock_seconds();
    struct show *show = &player->show;
    uint64_t step = taut_solver_step_count(show->solver);
    bool goes = player->playing || player->steps_asked > 0;
    bool looks = player->energies || player->budget.kept;
    if (looks && (now >= player->next_look || !goes))
        take_energies(player);
    double begin = clock_seconds();
    bool room = player->strains || show->solver->topology->any_breaks;
    taut_error error = {0};
    struct published_slot *slot = published_slot(&player->published, show->setting, room, &error);
    if (slot) {
        fill(player, slot);
        if (step != player->published_step)
            history_add(&player->history, &slot->moment);
        published_send(&player->published);
    } else {
        player_say(player, error.text);
    }
    player->published_step = step;
    player->changed = false;
    double cost = clock_seconds() - begin;
    double share = player->strains ? STRAINS_TAKE : MOMENTS_TAKE;
    double least = fmax(player->frame_seconds, share * cost);
    player->next_frame = fmax(player->next_frame + least, now);
    if (player->on_moment)
        player->on_moment(player->on_moment_context);
}

// ---- What is told

enum { MESSAGE_LENGTH = sizeof((struct player_status){0}.message) - 1 };

void player_say(struct player *player, const char *text)
{
    pthread_mutex_lock(&player->lock);
    struct player_status *told = &player->told;
    if (text)
        snprintf(told->message, sizeof told->message, "%.*s", MESSAGE_LENGTH, text);
    else
        told->message[0] = '\0';
    told->message_number += text != NULL;
    pthread_mutex_unlock(&player->lock);
}

// The kernel of the body that has most springs.
static const char *main_kernel(const taut_solver *solver)
{
    const struct topology *topology = solver->topology;
    size_t most = 0;
    for (size_t b = 1; b < topology->body_count; b++)
        if (topology->bodies[b].spring_count > topology->bodies[most].spring_count)
            most = b;
    return topology->body_count > 0 ? solver_body_kernel(solver, most) : "";
}

void player_tell(struct player *player)
{
    const taut_solver *solver = player->show.solver;
    struct player_status status = {
        .playing = player->playing,
        .speed_wanted = player->pace.speed,
        .speed = player->pace.reached_speed,
        .time = taut_solver_time(solver),
        .dt = solver->dt,
        .critical_dt = player->critical.dt,
        .critical_fresh = player->critical.stage == CRITICAL_SHARP,
        .step = taut_solver_step_count(solver),
        .spring_updates_per_second = player->pace.reached_updates,
        .threads = solver->threads,
        .kernel = main_kernel(solver),
        .integrator = integrator_name(solver->integrator),
        .isa = isa_name(solver->isa),
        .broken = taut_solver_broken_count(solver),
        .failed = player->failed,
        .published = !player->changed,
        .budget = player->budget,
        .pending = player->waiting_count + (player->building != NULL),
    };
    if (player->building)
        building_look(player->building, &status.building);
    pthread_mutex_lock(&player->lock);
    struct player_status *told = &player->told;
    status.message_number = told->message_number;
    memcpy(status.message, told->message, sizeof status.message);
    *told = status;
    pthread_mutex_unlock(&player->lock);
}
