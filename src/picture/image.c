// Images in memory, PNG files and strips (image.h). Drawing them is left to the renderer.
#include "picture/image.h"

#include "output/file.h"

#include <assert.h>
#include <cairo.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

taut_status image_make(int width, int height, struct image *image, taut_error *error)
{
    *image = (struct image){.width = width, .height = height};
    if (width <= 0 || height <= 0)
        return fail(error, TAUT_ERROR_ARGUMENT, "a picture of %d x %d pixels", width, height);
    image->pixels = calloc((size_t)width * (size_t)height, 3);
    if (!image->pixels) {
        *image = (struct image){0};
        return fail_memory(error, "a picture");
    }
    return TAUT_OK;
}

void image_free(struct image *image)
{
    free(image->pixels);
    *image = (struct image){0};
}

double image_difference(const struct image *a, const struct image *b)
{
    if (a->width != b->width || a->height != b->height)
        return 255.0;
    size_t count = (size_t)a->width * (size_t)a->height * 3;
    double sum = 0.0;
    for (size_t i = 0; i < count; i++) {
        double apart = (double)a->pixels[i] - b->pixels[i];
        sum += apart * apart;
    }
    return count > 0 ? sqrt(sum / (double)count) : 0.0;
}

// ---- PNG. cairo's pixels are native words of alpha, red, green, blue.

static cairo_status_t write_bytes(void *closure, const unsigned char *bytes, unsigned count)
{
    file_write(closure, bytes, count);
    return CAIRO_STATUS_SUCCESS;
}

static void image_to_cairo(const struct image *image, cairo_surface_t *surface)
{
    cairo_surface_flush(surface);
    unsigned char *to = cairo_image_surface_get_data(surface);
    int stride = cairo_image_surface_get_stride(surface);
    for (int y = 0; y < image->height; y++) {
        const uint8_t *from = image->pixels + 3 * (size_t)y * (size_t)image->width;
        for (int x = 0; x < image->width; x++) {
            uint32_t word = 0xff000000u | (uint32_t)from[3 * x] << 16 |
                            (uint32_t)from[3 * x + 1] << 8 | from[3 * x + 2];
            memcpy(to + (size_t)y * (size_t)stride + 4 * (size_t)x, &word, sizeof word);
        }
    }
    cairo_surface_mark_dirty(surface);
}

static void image_from_cairo(cairo_surface_t *surface, struct image *image)
{
    const unsigned char *from = cairo_image_surface_get_data(surface);
    int stride = cairo_image_surface_get_stride(surface);
    for (int y = 0; y < image->height; y++) {
        uint8_t *to = image->pixels + 3 * (size_t)y * (size_t)image->width;
        for (int x = 0; x < image->width; x++) {
            uint32_t word;
            memcpy(&word, from + (size_t)y * (size_t)stride + 4 * (size_t)x, sizeof word);
            to[3 * x] = (uint8_t)(word >> 16);
            to[3 * x + 1] = (uint8_t)(word >> 8);
            to[3 * x + 2] = (uint8_t)word;
        }
    }
}

taut_status image_write_png(const struct image *image, const char *path, taut_error *error)
{
    cairo_surface_t *surface =
        cairo_image_surface_create(CAIRO_FORMAT_RGB24, image->width, image->height);
    if (cairo_surface_status(surface) != CAIRO_STATUS_SUCCESS) {
        cairo_surface_destroy(surface);
        return fail_memory(error, "a picture");
    }
    image_to_cairo(image, surface);
    struct file file = {0};
    taut_status status = file_create(&file, path, error);
    if (status == TAUT_OK) {
        cairo_status_t written = cairo_surface_write_to_png_stream(surface, write_bytes, &file);
        if (written == CAIRO_STATUS_SUCCESS) {
            status = file_commit(&file, error);
        } else {
            file_abandon(&file);
            status = fail(error, TAUT_ERROR_IO, "cannot write '%s': %s", path,
                          cairo_status_to_string(written));
        }
    }
    cairo_surface_destroy(surface);
    return status;
}

// Returns a surface without alpha: the given one, or a copy of it painted on one.
static cairo_surface_t *opaque(cairo_surface_t *surface)
{
    if (cairo_surface_status(surface) != CAIRO_STATUS_SUCCESS ||
        cairo_image_surface_get_format(surface) == CAIRO_FORMAT_RGB24)
        return surface;
    cairo_surface_t *copy =
        cairo_image_surface_create(CAIRO_FORMAT_RGB24, cairo_image_surface_get_width(surface),
                                   cairo_image_surface_get_height(surface));
    cairo_t *cairo = cairo_create(copy);
    cairo_set_source_surface(cairo, surface, 0.0, 0.0);
    cairo_paint(cairo);
    cairo_destroy(cairo);
    cairo_surface_destroy(surface);
    cairo_surface_flush(copy);
    return copy;
}

taut_status image_read_png(const char *path, struct image *image, taut_error *error)
{
    *image = (struct image){0};
    errno = 0;
    cairo_surface_t *surface = opaque(cairo_image_surface_create_from_png(path));
    cairo_status_t read = cairo_surface_status(surface);
    taut_status status = TAUT_OK;
    if (read != CAIRO_STATUS_SUCCESS) {
        const char *reason = read == CAIRO_STATUS_READ_ERROR && errno != 0
                                 ? strerror(errno)
                                 : cairo_status_to_string(read);
        status = fail(error, TAUT_ERROR_IO, "cannot read '%s' as PNG: %s", path, reason);
    } else {
        status = image_make(cairo_image_surface_get_width(surface),
                            cairo_image_surface_get_height(surface), image, error);
    }
    if (status == TAUT_OK)
        image_from_cairo(surface, image);
    cairo_surface_destroy(surface);
    return status;
}

// ---- Strips

int strip_columns(int count)
{
    enum { ONE_ROW = 4 };
    if (count <= ONE_ROW)
        return count;
    int columns = 3;
    while (columns * columns < count)
        columns++;
    return columns;
}

taut_status strip_make(int count, int columns, int width, int height, uint8_t shade,
                       struct strip *strip, taut_error *error)
{
    int rows = (count + columns - 1) / columns;
    *strip = (struct strip){.columns = columns, .rows = rows, .width = width, .height = height};
    taut_status status = image_make(columns * width + (columns - 1) * STRIP_GAP,
                                    rows * height + (rows - 1) * STRIP_GAP, &strip->image, error);
    if (status == TAUT_OK)
        memset(strip->image.pixels, shade,
               3 * (size_t)strip->image.width * (size_t)strip->image.height);
    return status;
}

void strip_put(struct strip *strip, int number, const struct image *picture)
{
    assert(picture->width == strip->width && picture->height == strip->height);
    size_t left = (size_t)(number % strip->columns) * (size_t)(strip->width + STRIP_GAP);
    size_t top = (size_t)(number / strip->columns) * (size_t)(strip->height + STRIP_GAP);
    size_t row = 3 * (size_t)strip->width;
    for (size_t y = 0; y < (size_t)strip->height; y++)
        memcpy(strip->image.pixels + 3 * ((top + y) * (size_t)strip->image.width + left),
               picture->pixels + y * row, row);
}

void strip_free(struct strip *strip)
{
    image_free(&strip->image);
    *strip = (struct strip){0};
}
