// Solids and what is drawn with them: spheres, cylinders and cones; colliders and the ground
// (planes with a grid, rooms that one sees into); arrows of the wind, strings of pendulums and
// mouse springs.
#ifndef TAUT_PICTURE_SOLIDS_H
#define TAUT_PICTURE_SOLIDS_H

#include "picture/context.h"

// ---- Solids

enum solid { SOLID_SPHERE, SOLID_CYLINDER, SOLID_CONE, SOLID_COUNT };

struct solids {
    GLuint program;
    GLuint vertices[SOLID_COUNT], buffers[SOLID_COUNT];
    GLsizei counts[SOLID_COUNT];
};

taut_status solids_make(struct solids *solids, taut_error *error);
void solids_free(struct solids *solids);

// Sets the colour and gloss of the solids that are drawn next.
void solids_paint(const struct solids *solids, struct colour colour, double gloss);

// What is less than `behind` metres behind the surface of the sphere is drawn over it.
void solids_sphere(const struct solids *solids, vec3 centre, double radius, double behind);

// An arrow (or a rod, without a head) of a round shaft, from tail to tip.
void solids_arrow(const struct solids *solids, vec3 tail, vec3 tip, double radius, bool head);

// ---- Colliders, and below scenes without a floor a ground that only shows shadows

struct colliders {
    GLuint plain, with_grid; // programs
    GLuint vertices;
};

taut_status colliders_make(struct colliders *colliders, taut_error *error);
void colliders_free(struct colliders *colliders);

void colliders_draw_spheres(const struct solids *solids, const struct render_context *context);

// What lies behind and below bodies, drawn before them.
void colliders_draw_planes(const struct colliders *colliders, const struct render_context *context);

// Planes that are seen from behind: a veil over all.
void colliders_draw_veils(const struct colliders *colliders, const struct render_context *context);

// ---- Arrows

// Whether there is wind to be shown.
bool arrows_have_wind(const struct render_context *context);

// Over everything drawn before. arrows_wind_label is the position of its text.
void arrows_draw_wind(const struct solids *solids, const struct render_context *context);

// The middle of the line of text below the arrows, pixels from the top left.
void arrows_wind_label(const struct render_context *context, double *x, double *y);

// The thread from the anchor to a mass, where no spring is drawn between them.
void arrows_draw_strings(const struct solids *solids, const struct render_context *context);

// From the node that the mouse has grabbed to the pointer.
void arrows_draw_mouse_spring(const struct solids *solids, const struct render_context *context);

#endif
