// A scene that runs while people watch it and act on it. A player steps its solver on a thread of
// its own (and the solver's team), never waits for who draws, and publishes frames that are whole.
// All functions but player_make, player_free and player_save_scene return at once. What is asked
// for may be asked on any thread; what is there, and cuts, which go by it, are for the one that
// draws.
#ifndef TAUT_PLAY_PLAYER_H
#define TAUT_PLAY_PLAYER_H

#include "picture/subject.h"
#include "state/records.h"

struct player;

struct player_options {
    const char *const *overrides; // PATH=VALUE
    size_t override_count;
    taut_config config;
    double frames_per_second;        // how often frames are published, at most; 0: 60
    size_t history_bytes;            // for the recent past; 0: 256 MiB
    void (*on_frame)(void *context); // called on the player's thread after each frame that it
                                     // publishes (to wake a window); may be NULL
    void *context;                   // of on_frame
};

// Reads the scene and makes its solver, paused at t = 0. Findings go to `diagnostics`.
taut_status player_make(const char *scene_path, const struct player_options *options,
                        struct diagnostics *diagnostics, struct player **player, taut_error *error);
void player_free(struct player *player);

// ---- What is there. Pointers stay valid until player_refresh.

// Takes the newest published frame (and subject, where it changed) for the drawing thread; true if
// there is a new one.
bool player_refresh(struct player *player);
// The newest frame: positions in single precision, with strains and broken flags if requested
// (player_strains); energies of the last evaluation if requested (player_energies); volumes; the
// mouse spring.
const struct frame *player_frame(const struct player *player);
const struct subject *player_subject(const struct player *player);
const taut_scene *player_scene(const struct player *player); // with all changes so far
// These changes of the scene's file, PATH=VALUE as --set takes them.
const char *const *player_changes(const struct player *player, size_t *count);

// The energy budget since it was started: on request, and again at every reset and every change of
// a parameter, which changes energies by itself.
struct player_budget {
    bool kept;
    double since;             // s
    double change;            // J, of the total energy
    double work[WORK_CAUSES]; // J; positive: energy supplied, negative: energy removed
    double unexplained;       // J: the error of the integrator, and the work of the mouse
};

// A scene that is built beside the one that runs.
struct player_building {
    bool active;             // there is one
    bool needs_confirmation; // whether it is wanted (player_build), as large as it is
    bool cancelled;          // and about to end
    char what[128];          // what it is built for: PATH=VALUE, or a file
    const char *stage;
    double seconds;        // since it was begun
    double nodes, springs; // estimates; 0: not known yet
    double bytes, left;    // at most, while it is built; and what this process may still take
};

struct player_status {
    double speed_wanted; // simulated seconds a second; INFINITY: as fast as it goes
    double speed;        // reached
    double time, dt;     // s
    double critical_dt;  // s, of the present integrator and parameters; 0: not known, or no step is
                         // stable; INFINITY: every step is
    uint64_t step;
    double spring_updates_per_second;
    const char *kernel, *integrator, *isa;
    uint64_t broken;
    uint64_t message_number; // grows with each message
    uint64_t pending;        // requests not yet acted upon
    uint64_t builds;         // solvers that were made so far; changed constants need none
    int threads;
    bool playing;
    bool failed;         // the run diverged or collapsed; reset, or change something
    bool critical_fresh; // it is sharp; else a bound that is certain, found in the meantime
    bool published;      // the newest frame shows all of this
    struct player_budget budget;
    struct player_building building;
    char message[512]; // what the last thing asked for came to, where it failed; else empty
};
void player_status(struct player *player, struct player_status *status);

// Energies and volumes of the recent past, of the time in which they were wanted, oldest first;
// returns how many rows were written.
struct player_row {
    double time;
    taut_energy energy;
    double volume; // of all closed bodies together
};
size_t player_rows(struct player *player, struct player_row *rows, size_t most);

// ---- What to do.

void player_play(struct player *player, bool playing);
void player_step(struct player *player, uint64_t steps); // when paused
void player_speed(struct player *player, double speed);  // INFINITY: as fast as it goes
// Requests that need another solver (the next two, player_set, player_cut, and the default number
// of threads) are executed at once if that is fast. Otherwise the solver is built in the
// background, while the present scene continues and accepts other requests, and replaces the
// present one when it is complete. A build that needs much memory first publishes an estimate
// (player_status) and waits for player_build; one that exceeds the available memory is rejected.
// Other requests that need a solver wait during a build; a second value of the same key, or another
// scene, replaces it.
void player_build(struct player *player, bool wanted); // false: cancels the build
void player_reset(struct player *player);              // to t = 0, with the present parameters
void player_open(struct player *player,
                 const char *scene_path);                // another scene, on failure the old
void player_strains(struct player *player, bool wanted); // whether frames have strains

void player_energies(struct player *player, bool wanted); // whether they are evaluated
// Whether the energy budget is kept; it makes steps some times as long (docs/viewer.md).
void player_budget(struct player *player, bool wanted);

// Changes a key of the scene (as --set does) and continues from the present state. Constants are
// set in the solver that runs: stiffness, damping, mass, gravity, drag, wind, gas, contacts, dt.
// Everything else needs another solver, and a new topology (bodies.NAME.nodes) restarts at t = 0.
// Of successive changes of one key only the last counts. An invalid value changes nothing, and is
// reported in the status.
void player_set(struct player *player, const char *path, const char *value);
void player_threads(struct player *player, int threads);

void player_grab(struct player *player, uint64_t node, const double target[3]); // over all bodies
void player_release(struct player *player);

// Moves a sphere collider to a position (m): it is at rest while it is dragged, and then continues
// with its velocity in the scene. The change becomes part of the scene, so a reset and a saved
// scene keep it: `center`, which is for time 0, becomes the position minus velocity times time, so
// that the sphere's path passes through the new position.
void player_move_sphere(struct player *player, size_t collider, const double centre[3], bool held);
// The radius (m) of a sphere collider, likewise; without a new solver, as player_set needs.
void player_scale_sphere(struct player *player, size_t collider, double radius);
void player_drive_node(struct player *player, uint64_t node, const double velocity[3]);
// Springs and faces by their numbers in the present subject.
void player_cut(struct player *player, const uint32_t *springs, size_t spring_count,
                const uint32_t *faces, size_t face_count);

// ---- The recent past.

size_t player_history_count(struct player *player);
double player_history_time(struct player *player, size_t index); // s; 0 is the oldest
// A past frame, without strains; NULL where it is there no more. It stays until the next call.
const struct frame *player_history_frame(struct player *player, size_t index);

// The scene with all changes as YAML that `taut run` takes: what a reset would begin with. What is
// of the present state is no part of it: where the nodes are, cuts, kinematic targets, a mouse
// spring. Waits for what has been asked for before.
taut_status player_save_scene(struct player *player, const char *path, taut_error *error);

#endif
