#include "picture/overlay.h"

#include "picture/shaders.h"

#include <stdio.h>
#include <string.h>

// fontconfig, which cairo asks for letters, keeps what it has read until the process ends; leak
// checkers are told so.
#if defined(__SANITIZE_ADDRESS__)
#    define LEAKS_ARE_SOUGHT
#elif defined(__has_feature)
#    if __has_feature(address_sanitizer)
#        define LEAKS_ARE_SOUGHT
#    endif
#endif
#ifdef LEAKS_ARE_SOUGHT
#    include <sanitizer/lsan_interface.h>

__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void)
{
    return "leak:libfontconfig";
}
#endif

taut_status overlays_make(struct overlays *overlays, taut_error *error)
{
    *overlays = (struct overlays){0};
    glGenVertexArrays(1, &overlays->vertices);
    return gl_program_make("overlays", "", shader_overlays, &overlays->program, error);
}

void overlays_free(struct overlays *overlays)
{
    glDeleteProgram(overlays->program);
    glDeleteVertexArrays(1, &overlays->vertices);
    *overlays = (struct overlays){0};
}

void overlay_free(struct overlay *overlay)
{
    glDeleteTextures(1, &overlay->texture);
    *overlay = (struct overlay){0};
}

bool overlay_differs(struct overlay *overlay, const char *says)
{
    if (overlay->texture != 0 && strcmp(overlay->said, says) == 0)
        return false;
    snprintf(overlay->said, sizeof overlay->said, "%s", says);
    return true;
}

cairo_t *overlay_begin(struct overlay *overlay, double width, double height)
{
    overlay->width = ceil(width);
    overlay->height = ceil(height);
    cairo_surface_t *surface =
        cairo_image_surface_create(CAIRO_FORMAT_ARGB32, (int)overlay->width, (int)overlay->height);
    cairo_t *cairo = cairo_create(surface);
    cairo_surface_destroy(surface); // `cairo` keeps it
    return cairo;
}

taut_status overlay_take(struct overlay *overlay, cairo_t *cairo, taut_error *error)
{
    cairo_surface_t *surface = cairo_get_target(cairo);
    cairo_surface_flush(surface);
    if (cairo_status(cairo) != CAIRO_STATUS_SUCCESS) {
        taut_status status = fail(error, TAUT_ERROR_MEMORY, "cairo cannot draw a legend: %s",
                                  cairo_status_to_string(cairo_status(cairo)));
        cairo_destroy(cairo);
        return status;
    }
    if (overlay->texture == 0)
        glGenTextures(1, &overlay->texture);
    gl_texture_bind(overlay->texture, UNIT_PICTURE);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
    // cairo's pixels are native words of alpha, red, green, blue.
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, cairo_image_surface_get_width(surface),
                 cairo_image_surface_get_height(surface), 0, GL_BGRA, GL_UNSIGNED_INT_8_8_8_8_REV,
                 cairo_image_surface_get_data(surface));
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    cairo_destroy(cairo);
    return TAUT_OK;
}

void overlay_draw(const struct overlays *overlays, const struct overlay *overlay, double left,
                  double top)
{
    glUseProgram(overlays->program);
    gl_texture_bind(overlay->texture, UNIT_PICTURE);
    glUniform4f(glGetUniformLocation(overlays->program, "rectangle"), (float)floor(left),
                (float)floor(top), (float)overlay->width, (float)overlay->height);
    glDisable(GL_DEPTH_TEST);
    glEnable(GL_BLEND);
    glBlendFunc(GL_ONE, GL_ONE_MINUS_SRC_ALPHA);
    glBindVertexArray(overlays->vertices);
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    glBindVertexArray(0);
    glDisable(GL_BLEND);
    glEnable(GL_DEPTH_TEST);
}
