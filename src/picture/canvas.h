// Drawing without a window: an OpenGL context by EGL (no display, no X server), a framebuffer of
// several samples per pixel, and reading its pixels into an image. Drawing is left to the renderer
// (renderer.h); the viewer's window has a context of its own.
#ifndef TAUT_PICTURE_CANVAS_H
#define TAUT_PICTURE_CANVAS_H

#include "base/status.h"
#include "picture/image.h"

struct canvas;

// The context is current for the calling thread until canvas_free. The message of
// TAUT_ERROR_UNSUPPORTED names what is missing and the package that has it.
taut_status canvas_make(int width, int height, struct canvas **canvas, taut_error *error);

unsigned canvas_framebuffer(const struct canvas *canvas);

// The name of the device that draws, e.g. "llvmpipe (LLVM 15.0.6, 256 bits)".
const char *canvas_device(const struct canvas *canvas);

// Copies the picture that was drawn. `image` has no pixels before the first read; later reads reuse
// them.
taut_status canvas_read(struct canvas *canvas, struct image *image, taut_error *error);

void canvas_free(struct canvas *canvas);

#endif
