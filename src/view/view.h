// The whole state of the window: what is shown, the user's actions, which panels are open. One
// thread owns it; the solver runs behind the player (play/player.h) on others. view.c has the loop,
// drawing.c draws the scene, interaction.c handles mouse and keys, panels*.cc have the panels.
#ifndef TAUT_VIEW_VIEW_H
#define TAUT_VIEW_VIEW_H

#include "picture/camera.h"
#include "picture/renderer.h"
#include "play/player.h"
#include "view/event_log.h"
#include "view/gui.h"
#include "view/pick.h"
#include "view/screen.h"
#include "view/window.h"

enum dialogue { DIALOGUE_NONE, DIALOGUE_OPEN, DIALOGUE_SAVE_SCENE, DIALOGUE_SAVE_PICTURE };

enum { PATH_SIZE = 1024, PLOT_ROWS = 400 };

// The open panels, and the division of the window between them and the scene.
struct layout {
    bool options, playback, plots, controls, about;
    struct gui_box scene, options_box, playback_box;
};

// A message that is shown for a while over the scene.
struct banner {
    char text[600];
    bool is_error;
    double until; // by clock_seconds
};

// The action of the mouse between the press of a button and its release.
enum mouse_action {
    MOUSE_IDLE,
    MOUSE_ORBITS,
    MOUSE_PANS,
    MOUSE_ZOOMS,
    MOUSE_MOVES_COLLIDER_XY,
    MOUSE_MOVES_COLLIDER_Z,
    MOUSE_MOVES_COLLIDER_SCREEN,
    MOUSE_SCALES_SPHERE,
    MOUSE_GRABS,  // a mouse spring pulls a free node
    MOUSE_DRIVES, // a pinned node moves towards the pointer, as a kinematic target
    MOUSE_CUTS
};

struct mouse {
    enum mouse_action action;
    int button;
    double x, y;            // of the pointer, pixels of the scene
    double from_x, from_y;  // the same at the press
    bool moved;             // since the last request to the player
    struct pick pick;       // the object under it at the press
    vec3 collider_position; // at the press: the centre of a sphere, `translate` of a mesh
    vec3 grab_offset;       // to there from the picked point
    double radius;          // of a sphere; 0: a mesh
    bool grabs_collider;    // the player has been sent that the collider is held
    vec3 target;            // of the node that is grabbed or driven
    double driven_at;       // s, simulated: when the driven node was last given a velocity
    struct stroke stroke;
    bool cut_key; // pressed: the left button cuts
};

// The node that keys drive: the end of a rope, or another pinned node.
struct driven_node {
    bool present;
    uint64_t node;
    double speed;       // m/s
    bool down[6];       // left, right, up, down, Home, End
    double velocity[3]; // as last requested
};

// The past frame that is shown while paused.
struct scrub {
    bool active;
    int index;
    const struct frame *frame; // of the player; NULL until it has been read
};

// Values that sliders show: those of the scene; a value that is being changed is the user's until
// the scene has it too (fields.cc).
enum { SETTING_VALUES = 3 };

struct setting {
    char *path;
    double first[SETTING_VALUES];  // when the scene was opened: a slider's range depends on it
    double wanted[SETTING_VALUES]; // valid while held or waiting
    bool held;                     // by the mouse
    int waiting;                   // frames since it was sent to the player, from 1 on; 0: not sent
};

struct settings {
    struct setting *items; // sorted by path
    size_t count, capacity;
};

struct view {
    struct player *player;
    struct window *window;
    struct renderer *renderer;
    struct screen screen;
    struct camera camera;
    struct render_options render;
    bool strains_wanted, contacts_wanted, energies_wanted, budget_wanted; // as last requested
    bool budget; // the user wants to see the energy budget
    struct player_status status;
    uint64_t generation; // of the renderer's subject; 0: none yet
    const struct subject *subject;
    uint64_t message_seen; // number of the player's last message that was shown
    char *scene_file;      // of the scene that camera and settings belong to
    bool fit_wanted;
    struct layout layout;
    struct mouse mouse;
    struct driven_node driven;
    struct scrub scrub;
    struct settings settings;
    struct banner banner;
    enum dialogue dialogue;
    char path[PATH_SIZE];    // in a dialogue
    bool fast;               // as fast as the solver can run
    double speed;            // simulated seconds per second, unless `fast`
    struct player_row *rows; // PLOT_ROWS of them
    size_t row_count;
    char picture_path[PATH_SIZE]; // the file for the next frame; empty: none
    bool scene_stale;             // the scene must be drawn again
    bool coarse; // half the pixels in each direction: faster without a graphics card
    int frames;  // drawn so far
    bool leaving;
    struct event_log event_log;
};

struct view_options {
    const char *scene;
    struct player_options player;
    int width, height;
    bool paused, fast, dark;
    double speed; // unless `fast`
    enum colouring colouring;
    int frames;             // leave after this number; 0: never
    const char *screenshot; // of the whole window when leaving; NULL: none
    const char *report;     // the event log; NULL: none
};

// Shows the window until the user leaves. Messages about the scene go to `diagnostics`.
taut_status view_run(const struct view_options *options, struct diagnostics *diagnostics,
                     taut_error *error);

// The frame that is shown: a past one while the user views the history.
const struct frame *view_frame(const struct view *view);

void view_notify(struct view *view, bool is_error, const char *format, ...) PRINTF_FORMAT(3, 4);

// ---- Drawing the scene (drawing.c)
void view_fit_camera(struct view *view);
taut_status view_draw_scene(struct view *view, taut_error *error);
void view_save_picture(struct view *view, const char *path);

// ---- Mouse and keys (interaction.c)
void interaction_event(struct view *view, const struct event *event);
void mouse_follow(struct view *view);           // in each frame while something is held
void mouse_release_collider(struct view *view); // at its position, if one is held
void driven_node_choose(struct view *view);

// ---- Panels (panels.cc)
void panels_draw(struct view *view); // all of them, and the layout
void open_dialogue(struct view *view, enum dialogue dialogue);

// ---- Settings (fields.cc)

// Called each frame: values that were sent are taken from the scene again once the player is done.
void settings_update(struct settings *settings, bool player_is_done);
void settings_clear(struct settings *settings);

#endif
