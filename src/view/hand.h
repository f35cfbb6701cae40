// What the mouse holds between a button's press and its release.
#ifndef TAUT_VIEW_HAND_H
#define TAUT_VIEW_HAND_H

#include "view/pick.h"
#include "view/stroke.h"

enum hand_does {
    HAND_NOTHING,
    HAND_TURNS,
    HAND_PANS,
    HAND_ZOOMS,
    HAND_MOVES_SPHERE_XY,
    HAND_MOVES_SPHERE_Z,
    HAND_MOVES_SPHERE_SCREEN,
    HAND_SCALES_SPHERE,
    HAND_PULLS,
    HAND_LEADS,
    HAND_CUTS
};

struct hand {
    enum hand_does does;
    int button;
    double x, y;           // where the pointer is, pixels of the scene
    double from_x, from_y; // where it was when it pressed
    bool moved;            // since the player was told last
    struct pick pick;      // what was under it then
    vec3 grip;             // of a sphere: from the place under the pointer to the centre
    vec3 centre;           // of the sphere, as it was then
    double radius;
    bool holds_sphere; // the player was told that it is held
    vec3 target;       // of the node that is pulled or led
    double led_at;     // s, simulated: when the node that is led was told where to go
    struct stroke stroke;
    bool cut_key; // is held: the left button cuts
};

#endif
