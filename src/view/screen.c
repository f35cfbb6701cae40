#include "view/screen.h"

#include "picture/gl.h"

enum { SAMPLES = 4 };

taut_status screen_resize(struct screen *screen, int width, int height, taut_error *error)
{
    if (screen->width == width && screen->height == height)
        return TAUT_OK;
    screen_free(screen);
    GLint most = 0;
    glGetIntegerv(GL_MAX_SAMPLES, &most);
    int samples = most < SAMPLES ? most : SAMPLES;
    glGenFramebuffers(1, &screen->framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, screen->framebuffer);
    screen->colour = gl_renderbuffer_make(GL_RGBA8, GL_COLOR_ATTACHMENT0, samples, width, height);
    screen->depth =
        gl_renderbuffer_make(GL_DEPTH_COMPONENT24, GL_DEPTH_ATTACHMENT, samples, width, height);
    bool whole = glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE;
    glGenFramebuffers(1, &screen->plain);
    glBindFramebuffer(GL_FRAMEBUFFER, screen->plain);
    screen->plain_colour = gl_renderbuffer_make(GL_RGBA8, GL_COLOR_ATTACHMENT0, 0, width, height);
    whole = whole && glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE;
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    screen->width = width;
    screen->height = height;
    if (whole)
        return TAUT_OK;
    screen_free(screen);
    return fail(error, TAUT_ERROR_UNSUPPORTED,
                "OpenGL gives no picture of %d x %d pixels with %d samples each", width, height,
                samples);
}

void screen_resolve(const struct screen *screen)
{
    glBindFramebuffer(GL_READ_FRAMEBUFFER, screen->framebuffer);
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, screen->plain);
    glDisable(GL_SCISSOR_TEST);
    glBlitFramebuffer(0, 0, screen->width, screen->height, 0, 0, screen->width, screen->height,
                      GL_COLOR_BUFFER_BIT, GL_NEAREST);
}

void screen_show(const struct screen *screen, int x, int y, int width, int height,
                 int window_height)
{
    int bottom = window_height - y - height;
    bool same = width == screen->width && height == screen->height;
    glBindFramebuffer(GL_READ_FRAMEBUFFER, screen->plain);
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, 0);
    glDisable(GL_SCISSOR_TEST);
    glBlitFramebuffer(0, 0, screen->width, screen->height, x, bottom, x + width, bottom + height,
                      GL_COLOR_BUFFER_BIT, same ? GL_NEAREST : GL_LINEAR);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
}

static taut_status read(unsigned framebuffer, int width, int height, struct image *image,
                        taut_error *error)
{
    taut_status status = image_make(width, height, image, error);
    if (status != TAUT_OK)
        return status;
    glBindFramebuffer(GL_READ_FRAMEBUFFER, framebuffer);
    glPixelStorei(GL_PACK_ALIGNMENT, 1);
    // OpenGL's first row is the lowest.
    for (int row = 0; row < height; row++)
        glReadPixels(0, height - 1 - row, width, 1, GL_RGB, GL_UNSIGNED_BYTE,
                     image->pixels + (size_t)row * (size_t)width * 3);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, 0);
    return TAUT_OK;
}

taut_status screen_read(const struct screen *screen, struct image *image, taut_error *error)
{
    return read(screen->plain, screen->width, screen->height, image, error);
}

taut_status screen_read_window(int width, int height, struct image *image, taut_error *error)
{
    return read(0, width, height, image, error);
}

void screen_free(struct screen *screen)
{
    glDeleteFramebuffers(1, &screen->framebuffer);
    glDeleteFramebuffers(1, &screen->plain);
    glDeleteRenderbuffers(1, &screen->colour);
    glDeleteRenderbuffers(1, &screen->depth);
    glDeleteRenderbuffers(1, &screen->plain_colour);
    *screen = (struct screen){0};
}
