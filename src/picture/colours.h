// The colourings and layers of pictures by name, for options and menus, and their colours, which
// are distinguishable with any type of colour vision. Needs neither OpenGL nor a scene; values.h
// determines the value of each spring.
#ifndef TAUT_PICTURE_COLOURS_H
#define TAUT_PICTURE_COLOURS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum colouring {
    COLOURING_PLAIN,     // each body its own colour; cloth with a checker pattern
    COLOURING_KIND,      // springs by kind
    COLOURING_STRAIN,    // by (L - L0) / L0: springs, and faces by the strain at their nodes
    COLOURING_TENSION,   // by k (L - L0), N
    COLOURING_CURVATURE, // faces by the sum of the principal curvatures at their nodes, 1/m
    COLOURING_COUNT
};

// Whether it is by a value of springs, and whether it has a scale of values.
static inline bool colouring_is_of_springs(enum colouring colouring)
{
    return colouring == COLOURING_STRAIN || colouring == COLOURING_TENSION;
}

static inline bool colouring_has_scale(enum colouring colouring)
{
    return colouring_is_of_springs(colouring) || colouring == COLOURING_CURVATURE;
}

// "plain", "kind", "strain", "tension", "curvature"
const char *colouring_name(enum colouring colouring);

enum layer { // bits
    LAYER_FACES = 1,
    LAYER_SPRINGS = 2,
    LAYER_NODES = 4,
    LAYER_PINS = 8,
    LAYER_COLLIDERS = 16,
    LAYER_WIND = 32,
    LAYER_GROUND = 64, // with the shadow on it
    LAYER_LEGEND = 128,
    LAYER_CONTACTS = 256, // of frames that have them (FRAME_CONTACTS)
    LAYER_ALL = 511
};

// The name of layer bit `number`: "faces", "springs", ...; NULL beyond the last.
const char *layer_name(int number);

// ---- Colours

struct colour {
    float red, green, blue; // sRGB, 0 to 1
};

// The colour of a body by its number; colours repeat after seven.
struct colour colour_of_body(size_t body);

// The colour of a kind of springs.
struct colour colour_of_kind(size_t kind);

// The second colour of a body, for the other squares of its checker pattern.
struct colour colour_pale(struct colour colour);

// The colour of the back of a surface.
struct colour colour_back(struct colour colour);

struct colour colour_mix(struct colour a, struct colour b, double part_of_b);

enum colour_map { MAP_DIVERGING, MAP_SEQUENTIAL, MAP_COUNT };
enum { MAP_LENGTH = 256 };

// Writes a colour map, from the least value to the greatest, as bytes of red, green and blue.
void colour_map_fill(enum colour_map map, uint8_t texels[3 * MAP_LENGTH]);

#endif
