// The player from inside.
#ifndef TAUT_PLAY_PLAYER_PARTS_H
#define TAUT_PLAY_PLAYER_PARTS_H

#include "play/building.h"
#include "play/history.h"
#include "play/pace.h"
#include "play/player.h"
#include "play/published.h"
#include "play/requests.h"
#include "play/show.h"

struct hand {
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
    pthread_mutex_t lock;      // of the next three
    struct player_status told; // what everybody may know; `pending` is counted when it is read
    struct setting *latest;    // held: that of the show
    struct building *building; // NULL: none; written by the player's own thread

    // ---- What follows is the player's own thread's.
    taut_config config;
    void (*on_moment)(void *context);
    void *on_moment_context;
    struct show show;
    struct changes noted;    // what was changed in the solver while another one is built
    struct request *waiting; // what waits for that one
    size_t waiting_count, waiting_capacity;
    bool scene_is_behind;  // show.changes has what show.setting->scene does not say yet,
    double record_at;      // which is to be mended then, s
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
    struct hand hand;
    double seconds_per_step; // 0: not known
    struct critical critical;
    bool changed; // since the last moment was published
    uint64_t published_step;
    double frame_seconds, next_frame, next_look;
    double next_change; // s; a change before then waits for steps
    taut_energy energy;
    double volume; // of all closed bodies
};

// What the last thing asked for came to; NULL: it went well.
void player_say(struct player *player, const char *text);

// ---- player_acts.c

// Opens the first scene. Findings go to `diagnostics`.
taut_status player_show(struct player *player, const char *path, const struct changes *changes,
                        struct diagnostics *diagnostics, taut_error *error);

// Does what has been asked for, and what waited for a scene that has been built.
void player_act(struct player *player);

// Lets the scene say what was changed in the solver alone.
void player_record(struct player *player);

// ---- player_moments.c

// Publishes the present moment.
void player_publish(struct player *player);

// Begins the balance of energies at the present moment, if one is wanted.
void player_begin_budget(struct player *player);

// Brings up to now what everybody may know.
void player_tell(struct player *player);

// ---- player_critical.c

// Forgets the critical step of before, and bounds it anew if that is quickly done.
void player_forget_critical(struct player *player);

// When it is to be looked for: seconds from now; INFINITY: not at all as things stand.
double player_critical_wait(const struct player *player, double now);

// Finds the bound where there is none, else the sharp value.
void player_find_critical(struct player *player);

// ---- player_thread.c

void *player_run(void *context);

#endif
