// The player's internals, shared by player.c, player_actions.c and frames.c.
#ifndef TAUT_PLAY_PLAYER_PARTS_H
#define TAUT_PLAY_PLAYER_PARTS_H

#include "play/building.h"
#include "play/frames.h"
#include "play/player.h"
#include "play/requests.h"
#include "play/setting.h"

// ---- Pace
//
// The speed of simulated time: how many steps are due, and the speed that was reached.

struct pace_sample {
    double wall, simulated, updates;
};

struct pace {
    double speed;      // simulated seconds per second; INFINITY: as fast as possible
    double since_wall; // the start of the pace in wall time, s
    double since_time;
    double simulated, updates; // in total: s; spring updates
    struct pace_sample samples[32];
    size_t first, count;
    double reached_speed, reached_updates; // over the last second
};

// Starts counting here: after a pause, or a change of the speed or the scene.
void pace_begin(struct pace *pace, double now, double time);

// Discards the measured speed.
void pace_reset(struct pace *pace);

// Steps that are due by now; UINT64_MAX: as many as possible. A delay of more than a tenth of a
// second is not caught up with.
uint64_t pace_due(struct pace *pace, double now, double time, double dt);

// Adds simulated time (s) and spring updates to the totals.
void pace_count(struct pace *pace, double simulated, double updates);

// Measures the speed and update rate that were reached.
void pace_measure(struct pace *pace, double now);

// ---- The player

struct player_grab {
    bool pulls;
    uint64_t node; // over all bodies
    double target[3];
};

// The last position that a sphere or mesh was dragged to. While the scene runs, it moves there from
// where it is, so that what it touches feels its velocity (player_arrive).
struct player_drag {
    bool present, moves; // a drag is active; the sphere is moving
    size_t collider;
    double target[3];   // m, where it arrives
    double velocity[3]; // m/s, from then on
    double asked;       // s of simulated time, of the last request
    double arrives;     // s of simulated time
};

// How well the critical step is known.
enum critical_stage { CRITICAL_UNKNOWN, CRITICAL_BOUND, CRITICAL_COMPUTED };

struct critical {
    enum critical_stage stage;
    double dt;    // s; 0: not known, or no step is stable
    double since; // time of the last change of the scene, s
};

struct player {
    pthread_t thread;
    struct requests requests;
    struct published published;
    struct history history;
    pthread_mutex_t lock;        // protects the next three
    struct player_status status; // the published status; `pending` is counted when it is read
    struct setting *latest;      // reference held: the setting of the simulation
    struct building *building;   // NULL: none; written by the player's own thread

    // ---- The following members belong to the player's own thread.
    taut_config config;
    void (*on_frame)(void *context);
    void *on_frame_context;
    struct simulation simulation;
    uint64_t builds;                // simulations created so far
    struct changes pending_changes; // made in the solver while another one is being built
    struct request *waiting;        // requests that wait for that one
    size_t waiting_count, waiting_capacity;
    bool scene_is_outdated; // simulation.changes has changes that simulation.setting->scene lacks
    double record_at;       // time of the next update of the scene, s
    double record_seconds;  // the duration of the last update; 0: none yet
    struct pace pace;
    bool playing, strains, contacts, energies;
    bool budget_wanted;
    int threads_before;              // restored if the change of the number fails
    struct player_budget budget;     // at the last evaluation
    double budget_energy;            // J, when the budget began
    double budget_work[WORK_CAUSES]; // as counted by the solver when the budget began
    bool failed;
    bool was_playing;        // so that it plays again after a reset or change
    uint64_t steps_asked;    // single steps still to make
    struct player_grab grab; // the mouse spring
    struct player_drag drag; // of a collider
    double seconds_per_step; // 0: not known
    struct critical critical;
    bool changed; // since the last frame was published
    uint64_t published_step;
    double frame_seconds, next_frame, next_evaluation;
    double next_change; // s; changes wait for steps until then
    taut_energy energy;
    double volume; // of all closed bodies
};

// Reports the failure of the last request; NULL: it succeeded.
void player_report(struct player *player, const char *text);

// ---- player_actions.c

// Opens the first scene. Messages about the scene go to `diagnostics`.
taut_status player_open_scene(struct player *player, const char *path,
                              const struct changes *changes, struct diagnostics *diagnostics,
                              taut_error *error);

// Executes the queued requests, and those that waited for a build that is now complete.
void player_act(struct player *player);

// The steps until a collider that is dragged arrives, UINT64_MAX where none is moving.
// player_arrive is called after steps, and has it arrive.
uint64_t player_steps_to_arrival(const struct player *player);
void player_arrive(struct player *player);

// Updates the scene with the changes that so far only the solver has.
void player_record(struct player *player);

// ---- frames.c

// Publishes the present frame.
void player_publish(struct player *player);

// Starts the energy budget now, if it is wanted.
void player_begin_budget(struct player *player);

// Publishes the present status.
void player_publish_status(struct player *player);

// ---- player.c

// Discards the critical step, and computes a new bound if that is quick.
void player_reset_critical(struct player *player);

// Seconds until the critical step is to be evaluated; INFINITY: not in the present state.
double player_critical_wait(const struct player *player, double now);

// Evaluates the bound if it is not known, otherwise the computed value.
void player_find_critical(struct player *player);

// ---- player.c

void *player_run(void *context);

#endif
