// The window by GLFW, and the ring buffer of its events (window.h).
#include "view/window.h"

#include <epoxy/gl.h>
#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EVENTS_MAX = 512 };

struct window {
    GLFWwindow *handle;
    struct event events[EVENTS_MAX]; // a ring buffer; events that do not fit are lost
    int first, count;
    double x, y; // of the pointer, after the last event
    bool touched;
    const char *device;
};

// GLFW reports errors to a function without a context.
static char glfw_message[256];

// Whether there is a window to wake up.
static atomic_bool is_open;

static void note_error(int code, const char *text)
{
    (void)code;
    snprintf(glfw_message, sizeof glfw_message, "%s", text);
}

static double pixels_a_unit(GLFWwindow *handle)
{
    int units, height, pixels;
    glfwGetWindowSize(handle, &units, &height);
    glfwGetFramebufferSize(handle, &pixels, &height);
    return units > 0 ? (double)pixels / units : 1;
}

static void add_event(GLFWwindow *handle, struct event event)
{
    struct window *window = glfwGetWindowUserPointer(handle);
    window->touched = true;
    // Not the present position (glfwGetCursorPos): between two frames the pointer may move far.
    event.x = window->x;
    event.y = window->y;
    if (window->count < EVENTS_MAX)
        window->events[(window->first + window->count++) % EVENTS_MAX] = event;
}

static void on_button(GLFWwindow *handle, int button, int action, int modifiers)
{
    add_event(handle, (struct event){.kind = EVENT_BUTTON,
                                     .code = button,
                                     .down = action == GLFW_PRESS,
                                     .modifiers = modifiers});
}

static void on_move(GLFWwindow *handle, double x, double y)
{
    struct window *window = glfwGetWindowUserPointer(handle);
    double scale = pixels_a_unit(handle);
    window->x = x * scale;
    window->y = y * scale;
    add_event(handle, (struct event){.kind = EVENT_MOVE});
}

static void on_wheel(GLFWwindow *handle, double across, double along)
{
    (void)across;
    add_event(handle, (struct event){.kind = EVENT_WHEEL, .amount = along});
}

static void on_key(GLFWwindow *handle, int key, int code, int action, int modifiers)
{
    (void)code;
    add_event(handle, (struct event){.kind = EVENT_KEY,
                                     .code = key,
                                     .down = action != GLFW_RELEASE,
                                     .repeated = action == GLFW_REPEAT,
                                     .modifiers = modifiers});
}

static void touch(GLFWwindow *handle)
{
    struct window *window = glfwGetWindowUserPointer(handle);
    window->touched = true;
}

static void on_size(GLFWwindow *handle, int width, int height)
{
    (void)width;
    (void)height;
    touch(handle);
}

static void on_entry(GLFWwindow *handle, int entered)
{
    add_event(handle, (struct event){.kind = EVENT_ENTER, .down = entered == GLFW_TRUE});
}

static void on_focus(GLFWwindow *handle, int focused)
{
    add_event(handle, (struct event){.kind = EVENT_FOCUS, .down = focused == GLFW_TRUE});
}

static void on_letter(GLFWwindow *handle, unsigned letter)
{
    add_event(handle, (struct event){.kind = EVENT_TEXT, .code = (int)letter});
}

static void set_callbacks(struct window *window)
{
    glfwSetWindowUserPointer(window->handle, window);
    glfwSetMouseButtonCallback(window->handle, on_button);
    glfwSetCursorPosCallback(window->handle, on_move);
    glfwSetScrollCallback(window->handle, on_wheel);
    glfwSetKeyCallback(window->handle, on_key);
    glfwSetFramebufferSizeCallback(window->handle, on_size);
    glfwSetWindowRefreshCallback(window->handle, touch);
    glfwSetWindowCloseCallback(window->handle, touch);
    glfwSetCursorEnterCallback(window->handle, on_entry);
    glfwSetWindowFocusCallback(window->handle, on_focus);
    glfwSetCharCallback(window->handle, on_letter);
}

// By default Mesa's software renderer uses every core, which the solver needs. Without threads of
// its own it draws on the calling thread, whose processor time can be measured (view.c).
static void limit_driver_threads(void)
{
    setenv("LP_NUM_THREADS", "0", 0);
}

static GLFWwindow *make_handle(int width, int height, const char *title)
{
    glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
    glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
    glfwWindowHint(GLFW_OPENGL_FORWARD_COMPAT, GLFW_TRUE);
    glfwWindowHint(GLFW_SAMPLES, 0); // the scene is multisampled separately (screen.h)
    glfwWindowHint(GLFW_DEPTH_BITS, 0);
    glfwWindowHint(GLFW_STENCIL_BITS, 0);
    return glfwCreateWindow(width, height, title, NULL, NULL);
}

taut_status window_open(int width, int height, const char *title, struct window **window,
                        taut_error *error)
{
    *window = NULL;
    glfw_message[0] = '\0';
    limit_driver_threads();

    glfwSetErrorCallback(note_error);
    if (!glfwInit())
        return fail(error, TAUT_ERROR_UNSUPPORTED,
                    "there is no display for a window (%s); 'taut render' draws without one",
                    glfw_message);

    struct window *made = calloc(1, sizeof *made);
    if (made)
        made->handle = make_handle(width, height, title);
    if (!made || !made->handle) {
        taut_status status =
            made ? fail(error, TAUT_ERROR_UNSUPPORTED,
                        "this display gives no window with OpenGL 3.3 (%s); 'taut render' draws "
                        "without one",
                        glfw_message)
                 : fail_memory(error, "the window");
        free(made);
        glfwTerminate();
        return status;
    }

    glfwMakeContextCurrent(made->handle);
    glfwSwapInterval(1);
    set_callbacks(made);

    made->touched = true;
    made->device = (const char *)glGetString(GL_RENDERER);
    atomic_store(&is_open, true);
    *window = made;
    return TAUT_OK;
}

void window_close(struct window *window)
{
    if (!window)
        return;
    atomic_store(&is_open, false);
    glfwDestroyWindow(window->handle);
    glfwTerminate();
    free(window);
}

struct GLFWwindow *window_handle(struct window *window)
{
    return window->handle;
}

void window_wait(struct window *window, double seconds)
{
    (void)window;
    if (seconds > 0)
        glfwWaitEventsTimeout(seconds);
    else
        glfwPollEvents();
}

void window_wake(void *context)
{
    (void)context;
    if (atomic_load(&is_open))
        glfwPostEmptyEvent();
}

bool window_next_event(struct window *window, struct event *event)
{
    if (window->count == 0)
        return false;
    *event = window->events[window->first];
    window->first = (window->first + 1) % EVENTS_MAX;
    window->count--;
    return true;
}

bool window_see_event(const struct window *window, int index, struct event *event)
{
    if (index >= window->count)
        return false;
    *event = window->events[(window->first + index) % EVENTS_MAX];
    return true;
}

bool window_is_touched(struct window *window)
{
    bool touched = window->touched;
    window->touched = false;
    return touched;
}

void window_size(struct window *window, int *width, int *height)
{
    glfwGetFramebufferSize(window->handle, width, height);
}

double window_scale(struct window *window)
{
    float x = 1, y = 1;
    glfwGetWindowContentScale(window->handle, &x, &y);
    return x > 0.5F && x < 8 ? (double)x : 1;
}

bool window_is_leaving(struct window *window)
{
    return glfwWindowShouldClose(window->handle);
}

void window_stay(struct window *window)
{
    glfwSetWindowShouldClose(window->handle, GLFW_FALSE);
}

void window_title(struct window *window, const char *title)
{
    glfwSetWindowTitle(window->handle, title);
}

void window_show(struct window *window)
{
    glfwSwapBuffers(window->handle);
}

const char *window_device(const struct window *window)
{
    return window->device ? window->device : "unknown";
}

bool window_draws_in_software(const struct window *window)
{
    const char *device = window_device(window);
    return strstr(device, "llvmpipe") || strstr(device, "softpipe") || strstr(device, "SWR");
}
