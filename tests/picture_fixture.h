// Pictures of small scenes, for tests: a scene in a text, its frame at t = 0, a camera on it, and
// the pixels.
#ifndef TAUT_TESTS_PICTURE_FIXTURE_H
#define TAUT_TESTS_PICTURE_FIXTURE_H

#include "physics.h"

#include "picture/canvas.h"
#include "picture/renderer.h"

enum { PICTURE_WIDTH = 320, PICTURE_HEIGHT = 240 };

// How the text of a scene begins.
#define PICTURE_START                                                                              \
    "precision: double\n"                                                                          \
    "simulation: {integrator: symplectic_euler, dt: 0.001, steps: 10}\n"

// A chain of three springs along x, stretched, at rest and compressed, with a pin and a driven
// node; a cloth; a cloth that lies above the ground, and a sphere; a ring above the ground.
extern const char chain_text[], cloth_text[], above_text[], ring_text[];

struct scenery {
    taut_solver *solver;
    struct subject subject;
    struct frame frame;   // may be changed between pictures
    struct camera camera; // sees all nodes and spheres
    struct render_options options;
};

// Makes the canvas and renderer that all pictures are drawn with; false, with a sentence, where
// this machine cannot.
bool pictures_begin(taut_error *error);
void pictures_end(void);
struct renderer *pictures_renderer(void);
unsigned pictures_framebuffer(void);

struct scenery scenery_of(const char *text);
void scenery_free(struct scenery *scenery);

// The scene from another side, or after the store was changed.
void scenery_look(struct scenery *scenery, double azimuth, double elevation);

// A picture with just these layers; the caller frees it.
struct image picture_of(struct scenery *scenery, unsigned layers);

struct pixel {
    int red, green, blue;
};

struct pixel pixel_at(const struct image *image, double x, double y);
struct pixel pixel_of(const struct image *image, const struct scenery *scenery, vec3 point);

// How far two colours are apart: the greatest difference of a value.
int apart(struct pixel a, struct pixel b);

// How many pixels of a rectangle are further apart than so much.
size_t differing(const struct image *a, const struct image *b, int left, int top, int right,
                 int bottom, int more_than);

// The same of whole pictures.
size_t differ_at_all(const struct image *a, const struct image *b, int more_than);

#endif
