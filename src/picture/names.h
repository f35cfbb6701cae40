// What pictures can show, by name, for options and menus: it needs neither OpenGL nor a scene.
#ifndef TAUT_PICTURE_NAMES_H
#define TAUT_PICTURE_NAMES_H

enum colouring {
    COLOURING_PLAIN,   // each body its own colour; cloth with a checker
    COLOURING_KIND,    // springs by their kind
    COLOURING_STRAIN,  // springs, and faces through their nodes, by (L - L0) / L0
    COLOURING_TENSION, // by k (L - L0), N
    COLOURING_COUNT
};

// "plain", "kind", "strain", "tension"
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
    LAYER_ALL = 255
};

// "faces", "springs", ...: the name of bit `number`; NULL beyond the last.
const char *layer_name(int number);

#endif
