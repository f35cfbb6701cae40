// The window's whole state, and its parts: what is shown, what the user is doing, which panels are
// open. One thread has it; the solver runs behind the player (play/player.h).
#ifndef TAUT_VIEW_VIEW_H
#define TAUT_VIEW_VIEW_H

#include "picture/camera.h"
#include "picture/renderer.h"
#include "play/player.h"
#include "view/gui.h"
#include "view/hand.h"
#include "view/journal.h"
#include "view/settings.h"
#include "view/screen.h"
#include "view/window.h"

enum dialogue { DIALOGUE_NONE, DIALOGUE_OPEN, DIALOGUE_SAVE_SCENE, DIALOGUE_SAVE_PICTURE };

enum { PATH_SIZE = 1024, PLOT_ROWS = 400 };

// Which panels are there, and how the window is parted between them and the scene.
struct layout {
    bool options, playback, plots, controls, about;
    struct gui_box scene, options_box, playback_box;
};

// What is shown for a while over the scene.
struct banner {
    char text[600];
    bool is_error;
    double until; // by clock_seconds
};

// The end of a rope, or another held node, that keys lead.
struct leader {
    bool present;
    uint64_t node;
    double speed;       // m/s
    bool down[6];       // left, right, up, down, Home, End
    double velocity[3]; // as last asked for
};

// Looking back while paused.
struct scrub {
    bool active;
    int index;
    struct player_moment moment; // the past one that is shown
};

struct view {
    struct player *player;
    struct window *window;
    struct renderer *renderer;
    struct screen screen;
    struct camera camera;
    struct render_options looks;
    bool strains_wanted, energies_wanted, budget_wanted; // as the player was told
    bool budget;                                         // the user wants to see it
    struct player_status status;
    uint64_t generation; // of the subject that the renderer has; 0: none yet
    const struct subject *subject;
    uint64_t message_seen; // number of the player's last message that was shown
    char *scene_file;      // of the scene that the camera and settings belong to
    bool fit_wanted;
    struct layout layout;
    struct hand hand;
    struct leader leader;
    struct scrub scrub;
    struct settings settings;
    struct banner banner;
    enum dialogue dialogue;
    char path[PATH_SIZE];    // in a dialogue
    bool fast;               // as fast as it goes
    double speed;            // simulated seconds a second, otherwise
    struct player_row *rows; // PLOT_ROWS of them
    size_t row_count;
    double rows_until;            // the time of the last row that was drawn
    char picture_path[PATH_SIZE]; // of a picture that is wanted of the next frame; empty: none
    bool scene_stale;             // the scene must be drawn anew
    bool coarse; // with half the pixels each way: to be quick without a graphics card
    int frames;  // drawn so far
    bool leaving;
    struct journal journal;
};

struct view_options {
    const char *scene;
    struct player_options player;
    int width, height;
    bool paused, fast, dark;
    double speed; // unless fast
    enum colouring colouring;
    int frames;             // leave after so many; 0: never
    const char *screenshot; // of the whole window when leaving; NULL: none
    const char *report;     // lines of JSON on what is there; NULL: none
};

// Shows the window until the user leaves. `diagnostics` gets what is wrong with the scene.
taut_status view_run(const struct view_options *options, struct diagnostics *diagnostics,
                     taut_error *error);

// The moment that is shown: of the past while the user looks back.
const struct player_moment *view_moment(const struct view *view);

void view_say(struct view *view, bool is_error, const char *format, ...) PRINTF_FORMAT(3, 4);
void view_fit_camera(struct view *view);

// ---- Drawing the scene (drawing.c)
taut_status view_draw_scene(struct view *view, taut_error *error);
void view_save_picture(struct view *view, const char *path);

// ---- What people do (mouse.c, keys.c, leader.c)
void view_take_event(struct view *view, const struct event *event);
void mouse_event(struct view *view, const struct event *event);
void mouse_follow(struct view *view); // each frame, while something is held
void mouse_let_go(struct view *view);
void mouse_drop_sphere(struct view *view); // where it is held, if one is
void key_event(struct view *view, const struct event *event);
void leader_choose(struct view *view);
bool leader_key(struct view *view, int key, bool down); // whether the key is one of its keys
void leader_stop(struct view *view);

// ---- Panels
void panels_draw(struct view *view); // all of them, and the layout
void panel_physics(struct view *view);
void panel_body(struct view *view);
void panel_solver(struct view *view);
void panel_looks(struct view *view);
void panel_playback(struct view *view);
void panel_plots(struct view *view);
void panel_help(struct view *view);
void panel_dialogue(struct view *view);
void panel_menu(struct view *view, float *height);
void panel_hand(struct view *view); // strokes and marks on the scene
void open_dialogue(struct view *view, enum dialogue dialogue);

#endif
