// A window with an OpenGL 3.3 core context, and the queue of the user's events. Positions are
// pixels of the framebuffer from the top left, whatever the scale of the screen. interaction.c and
// the panels interpret the events.
#ifndef TAUT_VIEW_WINDOW_H
#define TAUT_VIEW_WINDOW_H

#include "base/status.h"

#include <stdbool.h>

enum event_kind {
    EVENT_BUTTON,
    EVENT_MOVE,
    EVENT_WHEEL,
    EVENT_KEY,
    EVENT_TEXT,  // a letter was typed
    EVENT_ENTER, // the pointer entered (down) or left
    EVENT_FOCUS  // the keyboard focus came (down) or left
};

// Modifiers and keys have GLFW's numbers.
struct event {
    enum event_kind kind;
    int code;      // the button (0 left, 1 right, 2 middle), the key or the letter (Unicode)
    bool down;     // else up
    bool repeated; // a key held down
    int modifiers;
    double x, y;   // of the pointer
    double amount; // of the wheel, notches away from the user
};

struct window;

// The message of TAUT_ERROR_UNSUPPORTED has the reason: no display, no OpenGL 3.3.
taut_status window_open(int width, int height, const char *title, struct window **window,
                        taut_error *error);
void window_close(struct window *window);

struct GLFWwindow *window_handle(struct window *window);

// Sleeps until an event arrives, at most that long.
void window_wait(struct window *window, double seconds);

// Ends such a sleep; may be called from any thread, even if there is no window. Ignores `context`.
void window_wake(void *context);

// Removes the oldest event from the queue; false if there is none.
bool window_next_event(struct window *window, struct event *event);

// Event `index` of the queue, the oldest first, without removing it.
bool window_see_event(const struct window *window, int index, struct event *event);

// Whether there was any event since the last call, or the window must be redrawn.
bool window_is_touched(struct window *window);

void window_size(struct window *window, int *width, int *height);
double window_scale(struct window *window); // pixels per unit of text size: 1, 2 on fine screens
bool window_is_leaving(struct window *window);
void window_stay(struct window *window); // cancels closing
void window_title(struct window *window, const char *title);
void window_show(struct window *window); // presents the drawn frame

// The name of the renderer, e.g. "llvmpipe (LLVM 15.0.6, 256 bits)", and whether it draws on the
// processor.
const char *window_device(const struct window *window);
bool window_draws_in_software(const struct window *window);

#endif
