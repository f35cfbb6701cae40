// An OpenGL context and framebuffer without a window. Memory is checked before the driver is
// loaded.
#include "picture/canvas.h"

#include <epoxy/egl.h>
#include <epoxy/gl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "parallel/quota.h"
#include "picture/gl.h"

enum { SAMPLES = 4 };

static const char PACKAGES[] =
    "install a driver, for example Mesa's, which needs no graphics card (libegl1 libgl1-mesa-dri)";

struct canvas {
    int width, height;
    EGLDisplay display;
    EGLContext context;
    GLuint drawn, drawn_colour, drawn_depth; // multisampled framebuffer and renderbuffers
    GLuint resolved, resolved_colour;        // with one sample per pixel
    char device[128];
};

// ---- Memory. Software drivers crash if memory is short, so the need is compared with the free
// memory before they are loaded.

// The memory that Mesa's llvmpipe uses once it has compiled our shaders, and the address space that
// it maps for that and for each of its threads (one per processor): stacks and malloc arenas
// (measured: 105 MB; 700 MB with 2 threads). Per pixel: colour and depth of several samples, the
// resolved picture, and its copies.
#define DRIVER_BYTES     120e6
#define DRIVER_ADDRESSES 540e6
#define THREAD_ADDRESSES 76e6
enum { THREADS_MAX = 32, PIXEL_BYTES = SAMPLES * 8 + 4 + 8 };

static taut_status require_memory(int width, int height, taut_error *error)
{
    double pixels = (double)width * (double)height * PIXEL_BYTES;
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    double threads = processors < 1             ? 1
                     : processors < THREADS_MAX ? (double)processors
                                                : THREADS_MAX;
    double bytes = DRIVER_BYTES + pixels;
    double addresses = DRIVER_ADDRESSES + THREAD_ADDRESSES * threads + pixels;
    struct memory_left left = memory_left_to_this_process();
    double mappable = addresses_left_to_this_process();
    const char *source = memory_source_text(left.source);
    if (left.source != MEMORY_ADDRESSES && bytes > left.bytes)
        mappable = left.bytes;
    else if (addresses > mappable) {
        bytes = addresses;
        source = memory_source_text(MEMORY_ADDRESSES);
    } else
        return TAUT_OK;
    return fail(error, TAUT_ERROR_MEMORY,
                "drawing %d x %d pixels needs about %.3g MiB of memory, and this process may take "
                "%.3g MiB (%s). Make the picture smaller, or raise the limit",
                width, height, bytes / 1048576, mappable / 1048576, source);
}

// ---- The context

static bool start_display(struct canvas *canvas, EGLenum platform, void *native)
{
    canvas->display = eglGetPlatformDisplayEXT(platform, native, NULL);
    return canvas->display != EGL_NO_DISPLAY && eglInitialize(canvas->display, NULL, NULL);
}

// The first graphics device that EGL lists, for drivers without a surfaceless platform.
static bool start_device(struct canvas *canvas)
{
    EGLDeviceEXT device;
    EGLint count = 0;
    return epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_EXT_platform_device") &&
           epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_EXT_device_enumeration") &&
           eglQueryDevicesEXT(1, &device, &count) && count > 0 &&
           start_display(canvas, EGL_PLATFORM_DEVICE_EXT, device);
}

static bool start_any(struct canvas *canvas)
{
    if (!epoxy_has_egl() || !epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_EXT_platform_base"))
        return false;
    if (epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_MESA_platform_surfaceless") &&
        start_display(canvas, EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY))
        return true;
    return start_device(canvas);
}

static taut_status context_make(struct canvas *canvas, taut_error *error)
{
    if (!start_any(canvas))
        return fail(error, TAUT_ERROR_UNSUPPORTED,
                    "EGL finds nothing that draws without a window; %s", PACKAGES);
    static const EGLint wanted[] = {EGL_CONTEXT_MAJOR_VERSION,
                                    3,
                                    EGL_CONTEXT_MINOR_VERSION,
                                    3,
                                    EGL_CONTEXT_OPENGL_PROFILE_MASK,
                                    EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT,
                                    EGL_NONE};
    if (eglBindAPI(EGL_OPENGL_API))
        canvas->context =
            eglCreateContext(canvas->display, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, wanted);
    if (canvas->context == EGL_NO_CONTEXT)
        return fail(error, TAUT_ERROR_UNSUPPORTED, "EGL has no OpenGL 3.3; %s", PACKAGES);
    if (!eglMakeCurrent(canvas->display, EGL_NO_SURFACE, EGL_NO_SURFACE, canvas->context))
        return fail(error, TAUT_ERROR_UNSUPPORTED, "EGL cannot draw without a surface; %s",
                    PACKAGES);
    snprintf(canvas->device, sizeof canvas->device, "%s", (const char *)glGetString(GL_RENDERER));
    return TAUT_OK;
}

// ---- The framebuffers

static taut_status framebuffers_make(struct canvas *canvas, taut_error *error)
{
    GLint samples = 0, largest = 0;
    glGetIntegerv(GL_MAX_SAMPLES, &samples);
    glGetIntegerv(GL_MAX_RENDERBUFFER_SIZE, &largest);
    if (canvas->width > largest || canvas->height > largest)
        return fail(error, TAUT_ERROR_UNSUPPORTED,
                    "a picture of %d x %d pixels: '%s' draws %d x %d at most", canvas->width,
                    canvas->height, canvas->device, largest, largest);
    samples = samples < SAMPLES ? samples : SAMPLES;
    glGenFramebuffers(1, &canvas->drawn);
    glBindFramebuffer(GL_FRAMEBUFFER, canvas->drawn);
    canvas->drawn_colour = gl_renderbuffer_make(GL_RGBA8, GL_COLOR_ATTACHMENT0, samples,
                                                canvas->width, canvas->height);
    canvas->drawn_depth = gl_renderbuffer_make(GL_DEPTH24_STENCIL8, GL_DEPTH_STENCIL_ATTACHMENT,
                                               samples, canvas->width, canvas->height);
    bool complete = glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE;
    glGenFramebuffers(1, &canvas->resolved);
    glBindFramebuffer(GL_FRAMEBUFFER, canvas->resolved);
    canvas->resolved_colour =
        gl_renderbuffer_make(GL_RGBA8, GL_COLOR_ATTACHMENT0, 0, canvas->width, canvas->height);
    complete = complete && glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE;
    glBindFramebuffer(GL_FRAMEBUFFER, canvas->drawn);
    if (!complete || glGetError() != GL_NO_ERROR)
        return fail(error, TAUT_ERROR_UNSUPPORTED,
                    "'%s' has no memory for a picture of %d x %d pixels", canvas->device,
                    canvas->width, canvas->height);
    return TAUT_OK;
}

taut_status canvas_make(int width, int height, struct canvas **canvas, taut_error *error)
{
    *canvas = NULL;
    if (width <= 0 || height <= 0)
        return fail(error, TAUT_ERROR_ARGUMENT, "a picture of %d x %d pixels", width, height);
    taut_status status = require_memory(width, height, error);
    if (status != TAUT_OK)
        return status;
    struct canvas *made = calloc(1, sizeof *made);
    if (!made)
        return fail_memory(error, "a picture");
    made->width = width;
    made->height = height;
    status = context_make(made, error);
    if (status == TAUT_OK)
        status = framebuffers_make(made, error);
    if (status != TAUT_OK) {
        canvas_free(made);
        return status;
    }
    *canvas = made;
    return TAUT_OK;
}

unsigned canvas_framebuffer(const struct canvas *canvas)
{
    return canvas->drawn;
}

const char *canvas_device(const struct canvas *canvas)
{
    return canvas->device;
}

// If there are several canvases, the one created last is current.
static bool make_current(struct canvas *canvas)
{
    return eglGetCurrentContext() == canvas->context ||
           eglMakeCurrent(canvas->display, EGL_NO_SURFACE, EGL_NO_SURFACE, canvas->context);
}

// OpenGL's first row is the lowest.
static void flip_rows(struct image *image)
{
    size_t row = 3 * (size_t)image->width;
    for (int y = 0; y < image->height / 2; y++) {
        uint8_t *above = image->pixels + (size_t)y * row;
        uint8_t *below = image->pixels + (size_t)(image->height - 1 - y) * row;
        for (size_t i = 0; i < row; i++) {
            uint8_t kept = above[i];
            above[i] = below[i];
            below[i] = kept;
        }
    }
}

taut_status canvas_read(struct canvas *canvas, struct image *image, taut_error *error)
{
    if (image->pixels && (image->width != canvas->width || image->height != canvas->height))
        image_free(image);
    if (!image->pixels) {
        taut_status status = image_make(canvas->width, canvas->height, image, error);
        if (status != TAUT_OK)
            return status;
    }
    if (!make_current(canvas))
        return fail(error, TAUT_ERROR_IO, "'%s' is in use by another thread", canvas->device);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, canvas->drawn);
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, canvas->resolved);
    glBlitFramebuffer(0, 0, canvas->width, canvas->height, 0, 0, canvas->width, canvas->height,
                      GL_COLOR_BUFFER_BIT, GL_NEAREST);
    glBindFramebuffer(GL_FRAMEBUFFER, canvas->resolved);
    glPixelStorei(GL_PACK_ALIGNMENT, 1);
    glReadPixels(0, 0, canvas->width, canvas->height, GL_RGB, GL_UNSIGNED_BYTE, image->pixels);
    glBindFramebuffer(GL_FRAMEBUFFER, canvas->drawn);
    GLenum wrong = glGetError();
    if (wrong != GL_NO_ERROR)
        return fail(error, TAUT_ERROR_IO, "cannot read the picture from '%s': OpenGL error 0x%x",
                    canvas->device, wrong);
    flip_rows(image);
    return TAUT_OK;
}

void canvas_free(struct canvas *canvas)
{
    if (!canvas)
        return;
    if (canvas->drawn != 0 && make_current(canvas)) {
        const GLuint framebuffers[] = {canvas->drawn, canvas->resolved};
        const GLuint renderbuffers[] = {canvas->drawn_colour, canvas->drawn_depth,
                                        canvas->resolved_colour};
        glDeleteFramebuffers(2, framebuffers);
        glDeleteRenderbuffers(3, renderbuffers);
    }
    if (canvas->context != EGL_NO_CONTEXT) {
        eglMakeCurrent(canvas->display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
        eglDestroyContext(canvas->display, canvas->context);
    }
    // The display is not terminated: the process has only one, which another canvas may be using.
    free(canvas);
}
