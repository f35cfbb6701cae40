// The player from inside.
#ifndef TAUT_PLAY_PLAYER_PARTS_H
#define TAUT_PLAY_PLAYER_PARTS_H

#include "play/building.h"
#include "play/frames.h"
#include "play/player.h"
#include "play/requests.h"
#include "play/setting.h"

// ---- Pace
//
// How fast simulated time goes: how many steps are due, and what was reached.

struct pace_sample {
    double wall, simulated, updates;
};

struct pace {
    double speed;      // simulated seconds a second; INFINITY: as fast as it goes
    double since_wall; // from when on, and which simulated time it was then, s
    double since_time;
    double simulated, updates; // in all: s; spring updates
    struct pace_sample samples[32];
    size_t first, count;
    double reached_speed, reached_updates; // of the last second
};

// Continues from here: after a pause, a change of speed, or of the scene.
void pace_begin(struct pace *pace, double now, double time);

// Forgets what was reached.
void pace_forget(struct pace *pace);

// Steps that are due by now; UINT64_MAX: as many as can be done. What could not be done for a tenth
// of a second is forgotten: it is not made up for.
uint64_t pace_due(struct pace *pace, double now, double time, double dt);

// So much has been done.
void pace_count(struct pace *pace, double simulated, double updates);

// Looks at what was reached.
void pace_measure(struct pace *pace, double now);

// ---- The player

struct player_grab {
    bool pulls;
    uint64_t node; // over all bodies
    double target[3];
};

// What is known of the critical step.
enum critical_stage { CRITICAL_UNKNOWN, CRITICAL_BOUND, CRITICAL_SHARP };

struct critical {
    enum critical_stage stage;
    double dt;    // s; 0: not known, or no step is stable
    double since; // when the scene changed last, s
};

struct player {
    pthread_t thread;
    struct requests requests;
    struct published published;
    struct history history;
    pthread_mutex_t lock;        // of the next three
    struct player_status status; // the published status; `pending` is counted when it is read
    struct setting *latest;      // held: that of the simulation
    struct building *building;   // NULL: none; written by the player's own thread

    // ---- What follows is the player's own thread's.
    taut_config config;
    void (*on_frame)(void *context);
    void *on_frame_context;
    struct simulation simulation;
    uint64_t builds;         // simulations that were made so far
    struct changes noted;    // what was changed in the solver while another one is built
    struct request *waiting; // what waits for that one
    size_t waiting_count, waiting_capacity;
    bool scene_is_behind; // simulation.changes has what simulation.setting->scene does not say yet,
    double record_at;     // which is to be repaired then, s
    double record_seconds; // what that took last; 0: it has not been done
    struct pace pace;
    bool playing, strains, energies;
    bool budget_wanted;
    int threads_before;              // the present number, as it is being changed
    struct player_budget budget;     // as of the last look; not kept where it is not wanted
    double budget_energy;            // J, when it began
    double budget_work[WORK_CAUSES]; // as the solver counts it, when it began
    bool failed;
    bool played_when_failed; // so that it plays again once it can
    uint64_t steps_asked;    // single steps
    struct player_grab grab; // of the mouse
    double seconds_per_step; // 0: not known
    struct critical critical;
    bool changed; // since the last frame was published
    uint64_t published_step;
    double frame_seconds, next_frame, next_evaluation;
    double next_change; // s; a change before then waits for steps
    taut_energy energy;
    double volume; // of all closed bodies
};

// Reports what the last request came to; NULL: it succeeded.
void player_report(struct player *player, const char *text);

// ---- player_actions.c

// Opens the first scene. Findings go to `diagnostics`.
taut_status player_open_scene(struct player *player, const char *path,
                              const struct changes *changes, struct diagnostics *diagnostics,
                              taut_error *error);

// Does what has been asked for, and what waited for a scene that has been built.
void player_act(struct player *player);

// Lets the scene say what was changed in the solver alone.
void player_record(struct player *player);

// ---- frames.c

// Publishes the present frame.
void player_publish(struct player *player);

// Begins the balance of energies now, if one is wanted.
void player_begin_budget(struct player *player);

// Publishes the present status.
void player_publish_status(struct player *player);

// ---- player.c

// Forgets the critical step of before, and bounds it anew if that is quickly done.
void player_forget_critical(struct player *player);

// When it is to be looked for: seconds from now; INFINITY: not at all as things stand.
double player_critical_wait(const struct player *player, double now);

// Finds the bound where there is none, else the sharp value.
void player_find_critical(struct player *player);

// ---- player.c

void *player_run(void *context);

#endif
