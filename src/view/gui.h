// The panels' toolkit: the little that the window uses of Dear ImGui, for C. Everything is said
// anew each frame, between gui_frame and gui_draw. Lengths are pixels from the top left.
#ifndef TAUT_VIEW_GUI_H
#define TAUT_VIEW_GUI_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct GLFWwindow;
struct event;

struct gui_box {
    float x, y, width, height;
};

struct gui_colour {
    float red, green, blue, alpha;
};

// `font` may be NULL.
bool gui_start(struct GLFWwindow *window, const char *font, float font_size);
void gui_stop(void);
void gui_look(bool dark);
const char *gui_version(void);

// Tells it of an event of the window, before the frame in which it counts.
void gui_event(struct GLFWwindow *window, const struct event *event);

// Begins a frame. A button that was pressed or let go since the last one was so at (x, y): the
// toolkit itself would take it to be where the pointer is by now.
void gui_frame(bool button, float x, float y);
void gui_draw(void); // all that was said, into the framebuffer that is bound

bool gui_wants_mouse(void); // the pointer is on a panel, or holds something of one
bool gui_wants_keys(void);  // a text is being typed
bool gui_is_busy(void);     // something is held or open

// ---- Who wants to know where things are: called for each thing that is seen, with its name
// ("environment.gravity": what gui_push said, and its label). Of a label "shown##name" the first
// part is shown, the second is the name.
void gui_watch(void (*seen)(void *context, const char *name, struct gui_box box), void *context);
void gui_push(const char *name);
void gui_pop(void);

// ---- Panels. gui_panel_end and gui_window_end in any case, the other ends only after true.
bool gui_panel(const char *title, struct gui_box box); // stands still, without a title
void gui_panel_end(void);
bool gui_window(const char *title, struct gui_box first, bool *open); // can be moved and closed
void gui_window_end(void);
bool gui_tabs(const char *name);
void gui_tabs_end(void);
bool gui_tab(const char *title);
void gui_tab_end(void);
bool gui_section(const char *title, bool open_at_first);
bool gui_branch(const char *title); // inside a section
void gui_branch_end(void);
bool gui_menu_bar(float *height);
void gui_menu_bar_end(void);
bool gui_menu(const char *title);
void gui_menu_end(void);
bool gui_menu_item(const char *title, const char *key, bool chosen, bool possible);

// ---- Things. Those that return bool say whether they were used or changed just now.
void gui_text(const char *text);
void gui_text_wrapped(const char *text);
void gui_text_coloured(struct gui_colour colour, const char *text);
bool gui_button(const char *label);
bool gui_check(const char *label, bool *on);
bool gui_choice(const char *label, int *index, const char *const *names, int count);
bool gui_slider(const char *label, double *values, int count, double least, double most,
                const char *format, bool logarithmic);
bool gui_count(const char *label, int *values, int count);
bool gui_line(const char *label, char *text, size_t size); // Enter ends it
void gui_begin_to_type(void);                              // into the next thing, a line
bool gui_entry(const char *label, bool chosen);            // of a list
bool gui_list(const char *name, float height);
void gui_list_end(void);
void gui_plot(const char *label, const float *values, int count, const char *over, float height);
void gui_tooltip(const char *text); // of the thing before, while the pointer rests on it
bool gui_is_held(void);             // the thing before
bool gui_is_let_go(void);           // it was held, was changed, and is no more held

// ---- Layout
void gui_same_line(void);
void gui_separator(void);
void gui_width(float width); // of the next thing; below 0: so much short of the right end
float gui_line_height(void);
void gui_disable(bool disabled); // until gui_enable
void gui_enable(void);

// ---- On the scene, behind all panels
void gui_stroke(float x0, float y0, float x1, float y1, struct gui_colour colour, float width);
void gui_ring(float x, float y, float radius, struct gui_colour colour, float width);

#ifdef __cplusplus
}
#endif

#endif
