// A scene that runs interactively. A player steps its solver on a thread of its own (with the
// solver's thread team), never waits for the drawing thread, and publishes complete frames. All
// functions except player_make, player_free and player_save_scene return at once. Requests may be
// made from any thread; the published state is read, and cuts are requested, by the drawing thread
// only, because cuts refer to the subject that it draws.
#ifndef TAUT_PLAY_PLAYER_H
#define TAUT_PLAY_PLAYER_H

#include "picture/subject.h"
#include "state/records.h"

struct player;

struct player_options {
    const char *const *overrides; // PATH=VALUE
    size_t override_count;
    taut_config config;
    double frames_per_second;        // maximum rate of published frames; 0: 60
    size_t history_bytes;            // for the recent frames; 0: 256 MiB
    void (*on_frame)(void *context); // called on the player's thread after each published frame (to
                                     // wake a window); may be NULL
    void *context;                   // passed to on_frame
};

// Reads the scene and creates its solver, paused at t = 0. Messages about the scene go to
// `diagnostics`.
taut_status player_make(const char *scene_path, const struct player_options *options,
                        struct diagnostics *diagnostics, struct player **player, taut_error *error);
void player_free(struct player *player);

// ---- The published state. Pointers stay valid until the next player_refresh.

// Takes the newest published frame (and the subject, if it changed) for the drawing thread; true if
// there is a new one.
bool player_refresh(struct player *player);
// The newest frame: positions in single precision, with strains and broken flags if requested
// (player_strains), and contacts (player_contacts); energies of the last evaluation if requested
// (player_energies); volumes; the mouse spring.
const struct frame *player_frame(const struct player *player);
const struct subject *player_subject(const struct player *player);
const taut_scene *player_scene(const struct player *player); // with all changes so far
// The changes of the scene file, PATH=VALUE as --set takes them.
const char *const *player_changes(const struct player *player, size_t *count);

// The energy budget since it was started. It is started on request, and again at every reset and
// every change of a parameter, because such a change alters energies itself.
struct player_budget {
    bool kept;
    double since;             // s
    double change;            // J, of the total energy
    double work[WORK_CAUSES]; // J; positive: energy supplied, negative: energy removed
    double unexplained;       // J: the error of the integrator, and the work of the mouse
};

// A scene that is being built while another one runs.
struct player_building {
    bool active;             // a build is in progress
    bool needs_confirmation; // waits for player_build, because the scene is large
    bool cancelled;          // and about to end
    bool done;               // and about to be shown, which of a large scene takes a while
    char what[128];          // the reason for the build: PATH=VALUE, or a file
    const char *stage;
    double seconds;        // since the build began
    double nodes, springs; // estimates; 0: not known yet
    double bytes, left;    // at most, during the build; and what this process may still allocate
};

struct player_status {
    double speed_wanted; // simulated seconds per second; INFINITY: as fast as possible
    double speed;        // measured
    double time, dt;     // s
    double critical_dt;  // s, of the present integrator and parameters; 0: not known, or no step is
                         // stable; INFINITY: every step is stable
    uint64_t step;
    double spring_updates_per_second;
    const char *kernel, *integrator, *isa;
    uint64_t broken;
    uint64_t message_number; // grows with each message
    uint64_t pending;        // requests that have not been executed yet
    uint64_t builds;         // solvers created so far; changes of constants need none
    int threads;
    bool playing;
    bool failed;         // the run diverged or collapsed; it needs a reset or a change
    bool critical_fresh; // critical_dt is computed; otherwise it is a certain bound
    bool published;      // the newest frame shows this state
    struct player_budget budget;
    struct player_building building;
    char message[512]; // why the last request failed; empty after success
};
void player_status(struct player *player, struct player_status *status);

// Energies and volumes of the recent past, recorded while energies were requested, oldest first.
// Returns the number of rows written.
struct player_row {
    double time;
    taut_energy energy;
    double volume; // of all closed bodies together
};
size_t player_rows(struct player *player, struct player_row *rows, size_t most);

// ---- Requests

void player_play(struct player *player, bool playing);
void player_step(struct player *player, uint64_t steps); // when paused
void player_speed(struct player *player, double speed);  // INFINITY: as fast as possible
// Requests that need another solver (player_reset, player_open, player_set, player_cut,
// player_budget, and the default number of threads) are executed at once if that is fast. Otherwise
// the solver is built in the background, while the present scene continues and accepts other
// requests; the new one replaces it when it is complete. A build that needs much memory first
// publishes an estimate (player_status) and waits for player_build; one that exceeds the available
// memory is rejected. Other requests that need a solver wait during a build; a second value of the
// same key, or another scene, replaces it.
void player_build(struct player *player, bool wanted); // false: cancels the build
void player_reset(struct player *player);              // to t = 0, with the present parameters
void player_open(struct player *player,
                 const char *scene_path); // another scene; after a failure the present one stays
void player_strains(struct player *player, bool wanted);  // frames contain strains
void player_contacts(struct player *player, bool wanted); // frames contain what touches

void player_energies(struct player *player, bool wanted); // energies are evaluated
// Whether the energy budget is kept; it makes a step several times as long (docs/viewer.md).
void player_budget(struct player *player, bool wanted);

// Changes a key of the scene (as --set does) and continues from the present state. Constants are
// set in the running solver: stiffness, damping, mass, gravity, drag, wind, gas, contacts, dt.
// Everything else needs another solver, and a new topology (bodies.NAME.nodes) restarts at t = 0.
// Only the last of successive changes of one key counts. An invalid value changes nothing, and is
// reported in the status.
void player_set(struct player *player, const char *path, const char *value);
void player_threads(struct player *player, int threads);

// Pulls a node, numbered over all bodies, with a mouse spring.
void player_grab(struct player *player, uint64_t node, const double target[3]);
void player_release(struct player *player);

// Moves a sphere or mesh collider: the centre of a sphere, or the `translate` of a mesh, becomes
// `position` (m). A sphere is at rest while it is dragged, and then continues with its velocity in
// the scene; a mesh keeps the motion that it has there. The change becomes part of the scene, so a
// reset and a saved scene keep it: `center`, which is for time 0, becomes the position minus
// velocity times time, so that the sphere's path passes through it. While the scene runs, a
// collider moves there in the time that the mouse took; while it is paused, a mesh that would cross
// a body there stays where it is, and the status reports this.
void player_move_collider(struct player *player, size_t collider, const double position[3],
                          bool held);
// The radius (m) of a sphere collider, likewise; unlike player_set it needs no other solver.
void player_scale_sphere(struct player *player, size_t collider, double radius);
void player_drive_node(struct player *player, uint64_t node, const double velocity[3]);
// Springs and faces by their numbers in the present subject.
void player_cut(struct player *player, const uint32_t *springs, size_t spring_count,
                const uint32_t *faces, size_t face_count);

// ---- The recent past

size_t player_history_count(struct player *player);
double player_history_time(struct player *player, size_t index); // s; 0 is the oldest
// A past frame, without strains and contacts; NULL if it is no longer stored. It stays valid until
// the next call.
const struct frame *player_history_frame(struct player *player, size_t index);

// Writes the scene with all changes as YAML that `taut run` reads: the scene that a reset would
// start. It has nothing of the present state: no node positions, cuts, kinematic targets or mouse
// spring. Waits until all earlier requests are done.
taut_status player_save_scene(struct player *player, const char *path, taut_error *error);

#endif
