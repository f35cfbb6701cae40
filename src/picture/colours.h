// Colours that people with any sort of colour vision tell apart.
#ifndef TAUT_PICTURE_COLOURS_H
#define TAUT_PICTURE_COLOURS_H

#include <stddef.h>
#include <stdint.h>

struct colour {
    float red, green, blue; // sRGB, 0 to 1
};

// Of a body, by its number; they repeat after seven.
struct colour colour_of_body(size_t body);

// Of a kind of springs.
struct colour colour_of_kind(size_t kind);

// A body's other tone: the checker's second squares.
struct colour colour_pale(struct colour colour);

// The back of a surface.
struct colour colour_back(struct colour colour);

struct colour colour_mix(struct colour a, struct colour b, double part_of_b);

enum colour_map { MAP_DIVERGING, MAP_SEQUENTIAL, MAP_COUNT };
enum { MAP_LENGTH = 256 };

// A map from its least value to its most, as bytes of red, green and blue.
void colour_map_fill(enum colour_map map, uint8_t texels[3 * MAP_LENGTH]);

#endif
