#include "picture/strip.h"

#include <assert.h>
#include <string.h>

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
