// Solids and the objects that are drawn with them: spheres, cylinders and cones; colliders and the
// ground (planes with a grid, rooms that are open towards the eye); arrows of the wind, strings of
// pendulums and mouse springs.
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

// Sets the colour and gloss of the solids drawn next.
void solids_paint(const struct solids *solids, struct colour colour, double gloss);

// Draws a sphere. Objects less than `behind` metres behind its surface are drawn over it.
void solids_sphere(const struct solids *solids, vec3 centre, double radius, double behind);

// An arrow (or a rod, without a head) with a round shaft, from tail to tip.
void solids_arrow(const struct solids *solids, vec3 tail, vec3 tip, double radius, bool head);

// ---- Colliders, and a ground that only shows shadows below scenes without a floor

struct colliders {
    GLuint plain, with_grid; // programs
    GLuint vertices;
    GLuint mesh_vertices, mesh_corners; // a vertex array and the buffer of the corners of meshes
};

taut_status colliders_make(struct colliders *colliders, taut_error *error);
// Copies the meshes of colliders to graphics memory.
void colliders_set(struct colliders *colliders, const struct subject *subject);
void colliders_free(struct colliders *colliders);

void colliders_draw_spheres(const struct solids *solids, const struct render_context *context);

// Draws mesh colliders where they are at the time of the frame, from both sides.
void colliders_draw_meshes(const struct colliders *colliders, const struct solids *solids,
                           const struct render_context *context);

// Draws the planes behind and below the bodies, before these.
void colliders_draw_planes(const struct colliders *colliders, const struct render_context *context);

// Draws planes that are seen from behind, as a veil over everything.
void colliders_draw_veils(const struct colliders *colliders, const struct render_context *context);

// ---- Arrows

// Whether there is wind to show.
bool arrows_have_wind(const struct render_context *context);

// Draws over everything before. arrows_wind_label returns the position of the text.
void arrows_draw_wind(const struct solids *solids, const struct render_context *context);

// The centre of the line of text below the arrows, pixels from the top left.
void arrows_wind_label(const struct render_context *context, double *x, double *y);

// Draws the string from the anchor to a mass, if no spring is drawn between them.
void arrows_draw_strings(const struct solids *solids, const struct render_context *context);

// Draws the mouse spring, from the grabbed node to the pointer.
void arrows_draw_mouse_spring(const struct solids *solids, const struct render_context *context);

#endif
