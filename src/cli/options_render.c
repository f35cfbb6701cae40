// The options of `taut render`.
#include "cli/options_parts.h"

#include <math.h>
#include <string.h>

#include "scene/text/number.h"

// Numbers parted by commas; how many, or -1 if they are none or too many.
static int parse_numbers(const char *text, double *numbers, int most)
{
    int count = 0;
    for (const char *at = text;; at++) {
        size_t length = strcspn(at, ",");
        if (count == most || number_parse(at, length, &numbers[count]) != NUMBER_OK)
            return -1;
        count++;
        at += length;
        if (*at == '\0')
            return count;
    }
}

static bool set_positive(const struct command *command, const char *option, const char *value,
                         double *number)
{
    if (number_parse(value, strlen(value), number) != NUMBER_OK || !(*number > 0))
        return option_refuse(command, option, value, "a number above 0");
    return true;
}

static bool set_times(const struct command *command, const char *value, struct render_wish *wish)
{
    const char *wanted = "up to 64 ascending times in seconds, parted by commas";
    int count = parse_numbers(value, wish->times, RENDER_TIMES_MAX);
    bool sound = count > 0;
    for (int i = 0; i < count; i++)
        sound = sound && wish->times[i] >= 0 && (i == 0 || wish->times[i] > wish->times[i - 1]);
    wish->time_count = count;
    return sound || option_refuse(command, "time", value, wanted);
}

static bool set_frames(const struct command *command, const char *value, struct render_wish *wish)
{
    if (number_parse_count(value, strlen(value), &wish->frames) != NUMBER_OK || wish->frames < 1 ||
        wish->frames > RENDER_FRAMES_MAX)
        return option_refuse(command, "frames", value, "a whole number from 1 to 100000");
    return true;
}

static bool set_columns(const struct command *command, const char *value, struct render_wish *wish)
{
    uint64_t count;
    if (number_parse_count(value, strlen(value), &count) != NUMBER_OK || count < 1 ||
        count > RENDER_TIMES_MAX)
        return option_refuse(command, "columns", value, "a whole number from 1 to 64");
    wish->columns = (int)count;
    return true;
}

static bool is_pixels(double pixels)
{
    return pixels >= 16 && pixels <= RENDER_PIXELS_MAX && pixels == floor(pixels);
}

static bool set_size(const struct command *command, const char *value, struct render_wish *wish)
{
    double width, height;
    size_t length = strcspn(value, "xX");
    if (value[length] == '\0' || number_parse(value, length, &width) != NUMBER_OK ||
        number_parse(value + length + 1, strlen(value + length + 1), &height) != NUMBER_OK ||
        !is_pixels(width) || !is_pixels(height))
        return option_refuse(command, "size", value,
                             "WIDTHxHEIGHT in pixels, each from 16 to 8192");
    wish->width = (int)width;
    wish->height = (int)height;
    return true;
}

static bool set_camera(const struct command *command, const char *value, struct render_wish *wish)
{
    double numbers[3] = {0};
    int count = parse_numbers(value, numbers, 3);
    if (count < 2 || fabs(numbers[1]) > 90 || (count == 3 && !(numbers[2] > 0)))
        return option_refuse(
            command, "camera", value,
            "AZIMUTH,ELEVATION in degrees (-90 to 90 above the level), and perhaps "
            "a DISTANCE in metres");
    wish->has_angles = true;
    wish->azimuth = numbers[0];
    wish->elevation = numbers[1];
    wish->distance = numbers[2];
    return true;
}

static bool set_target(const struct command *command, const char *value, struct render_wish *wish)
{
    wish->has_target = parse_numbers(value, wish->target, 3) == 3;
    return wish->has_target || option_refuse(command, "look-at", value, "X,Y,Z in metres");
}

static bool set_colouring(const struct command *command, const char *value,
                          struct render_wish *wish)
{
    for (int i = 0; i < COLOURING_COUNT; i++)
        if (strcmp(value, colouring_name((enum colouring)i)) == 0) {
            wish->colouring = (enum colouring)i;
            return true;
        }
    return option_refuse(command, "colour", value, "plain, kind, strain or tension");
}

static bool set_range(const struct command *command, const char *value, struct render_wish *wish)
{
    double numbers[2];
    if (parse_numbers(value, numbers, 2) != 2 || !(numbers[0] < numbers[1]))
        return option_refuse(command, "range", value, "LEAST,MOST, of which the second is more");
    wish->least = numbers[0];
    wish->most = numbers[1];
    return true;
}

// The bit of a name; 0: there is none.
static unsigned layer_of(const char *name, size_t length)
{
    const char *layer;
    for (int i = 0; (layer = layer_name(i)) != NULL; i++)
        if (strlen(layer) == length && strncmp(layer, name, length) == 0)
            return 1U << i;
    return length == strlen("caption") && strncmp("caption", name, length) == 0 ? RENDER_CAPTION
                                                                                : 0;
}

static bool set_layers(const struct command *command, const char *option, const char *value,
                       unsigned *layers)
{
    for (const char *at = value;; at++) {
        size_t length = strcspn(at, ",");
        unsigned layer = layer_of(at, length);
        if (layer == 0)
            return option_refuse(command, option, value,
                                 "faces, springs, nodes, pins, colliders, wind, ground, legend or "
                                 "caption, parted by commas");
        *layers |= layer;
        at += length;
        if (*at == '\0')
            return true;
    }
}

bool option_apply_render(const struct command *command, int key, const char *value,
                         struct render_wish *wish)
{
    switch (key) {
    case KEY_TIME:
        return set_times(command, value, wish);
    case KEY_FRAMES:
        return set_frames(command, value, wish);
    case KEY_COLUMNS:
        return set_columns(command, value, wish);
    case KEY_FPS:
        return set_positive(command, "fps", value, &wish->fps) &&
               (wish->fps <= 1000 || option_refuse(command, "fps", value, "at most 1000"));
    case KEY_SPEED:
        return set_positive(command, "speed", value, &wish->speed);
    case KEY_SIZE:
        return set_size(command, value, wish);
    case KEY_CAMERA:
        return set_camera(command, value, wish);
    case KEY_LOOK_AT:
        return set_target(command, value, wish);
    case KEY_ZOOM:
        return set_positive(command, "zoom", value, &wish->zoom);
    case KEY_COLOUR:
        return set_colouring(command, value, wish);
    case KEY_RANGE:
        return set_range(command, value, wish);
    case KEY_SHOW:
        return set_layers(command, "show", value, &wish->shown);
    case KEY_HIDE:
        return set_layers(command, "hide", value, &wish->hidden);
    default:
        return wish->dark = true;
    }
}
