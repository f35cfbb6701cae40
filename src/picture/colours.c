// Names of colourings and layers, palettes and colour maps (colours.h).
#include "picture/colours.h"

#include <math.h>

const char *colouring_name(enum colouring colouring)
{
    static const char *const names[COLOURING_COUNT] = {"plain", "kind", "strain", "tension",
                                                       "curvature"};
    return names[colouring];
}

const char *layer_name(int number)
{
    static const char *const names[] = {"faces", "springs", "nodes",  "pins",    "colliders",
                                        "wind",  "ground",  "legend", "contacts"};
    return number < (int)(sizeof names / sizeof names[0]) ? names[number] : NULL;
}

static struct colour from_bytes(unsigned rgb)
{
    return (struct colour){(float)(rgb >> 16 & 255) / 255.0f, (float)(rgb >> 8 & 255) / 255.0f,
                           (float)(rgb & 255) / 255.0f};
}

// M. Okabe and K. Ito, "Color Universal Design" (2008).
enum {
    OKABE_BLUE = 0x0072b2,
    OKABE_ORANGE = 0xe69f00,
    OKABE_GREEN = 0x009e73,
    OKABE_PURPLE = 0xcc79a7,
    OKABE_SKY = 0x56b4e9,
    OKABE_VERMILION = 0xd55e00,
    OKABE_YELLOW = 0xf0e442
};

struct colour colour_of_body(size_t body)
{
    static const unsigned colours[] = {OKABE_BLUE, OKABE_ORANGE,    OKABE_GREEN, OKABE_PURPLE,
                                       OKABE_SKY,  OKABE_VERMILION, OKABE_YELLOW};
    return from_bytes(colours[body % (sizeof colours / sizeof colours[0])]);
}

struct colour colour_of_kind(size_t kind)
{
    static const unsigned colours[] = {OKABE_BLUE,   OKABE_VERMILION, OKABE_GREEN,
                                       OKABE_ORANGE, OKABE_PURPLE,    OKABE_SKY};
    return from_bytes(colours[kind % (sizeof colours / sizeof colours[0])]);
}

struct colour colour_mix(struct colour a, struct colour b, double part_of_b)
{
    float part = (float)part_of_b;
    return (struct colour){a.red + part * (b.red - a.red), a.green + part * (b.green - a.green),
                           a.blue + part * (b.blue - a.blue)};
}

struct colour colour_pale(struct colour colour)
{
    return colour_mix(colour, from_bytes(0xfaf7f0), 0.80);
}

struct colour colour_back(struct colour colour)
{
    return colour_mix(colour, from_bytes(0x5b6470), 0.42);
}

// The colours of the maps at equal distances, from the least value to the greatest.
//
// Diverging: "vik" of F. Crameri, Scientific colour maps (doi 10.5281/zenodo.1243862), blue to red
// brown; its middle is greyer here, so that a spring at rest is visible on a white background.
// Sequential: "viridis" of S. van der Walt and N. Smith.
static const unsigned vik[] = {0x001261, 0x033e7d, 0x1e6f9d, 0x71a8c4, 0xaecbd8, 0xcfcdc9,
                               0xe0bfa6, 0xd29773, 0xb9643d, 0x8b2706, 0x590008};
static const unsigned viridis[] = {0x440154, 0x482475, 0x414487, 0x355f8d, 0x2a788e, 0x21918c,
                                   0x22a884, 0x44bf70, 0x7ad151, 0xbddf26, 0xfde725};

void colour_map_fill(enum colour_map map, uint8_t texels[3 * MAP_LENGTH])
{
    enum { LAST = sizeof vik / sizeof vik[0] - 1 };
    const unsigned *fixed = map == MAP_DIVERGING ? vik : viridis;
    for (int i = 0; i < MAP_LENGTH; i++) {
        double at = (double)LAST * i / (MAP_LENGTH - 1);
        int before = at < LAST ? (int)at : LAST - 1;
        struct colour colour =
            colour_mix(from_bytes(fixed[before]), from_bytes(fixed[before + 1]), at - before);
        texels[3 * i] = (uint8_t)lroundf(255.0f * colour.red);
        texels[3 * i + 1] = (uint8_t)lroundf(255.0f * colour.green);
        texels[3 * i + 2] = (uint8_t)lroundf(255.0f * colour.blue);
    }
}
