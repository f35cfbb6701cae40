// Pictures of small scenes for tests: a scene from text, its frame at t = 0, a camera on it, and
// the pixels.
#ifndef TAUT_TESTS_PICTURE_FIXTURE_H
#define TAUT_TESTS_PICTURE_FIXTURE_H

#include "physics.h"

#include "picture/canvas.h"
#include "picture/renderer.h"

enum { PICTURE_WIDTH = 320, PICTURE_HEIGHT = 240 };

// The beginning of a scene's text.
#define PICTURE_START                                                                              \
    "precision: double\n"                                                                          \
    "simulation: {integrator: symplectic_euler, dt: 0.001, steps: 10}\n"

// A chain of three springs along x, stretched, at rest and compressed, with a pin and a kinematic
// node; a cloth; a cloth above the ground, and a sphere; a ring above the ground.
extern const char chain_text[], cloth_text[], above_text[], ring_text[];

struct scenery {
    taut_solver *solver;
    struct subject subject;
    struct frame frame;   // may be changed between pictures
    struct camera camera; // shows all nodes and spheres
    struct render_options options;
};

// Creates the canvas and renderer for all pictures; false, with an error, if this machine cannot
// draw.
bool pictures_begin(taut_error *error);
void pictures_end(void);
struct renderer *pictures_renderer(void);
unsigned pictures_framebuffer(void);

struct scenery scenery_of(const char *text);
void scenery_free(struct scenery *scenery);

// Shows the scene from another side, or after its frame was changed.
void scenery_look(struct scenery *scenery, double azimuth, double elevation);

// A picture with only these layers; the caller frees it.
struct image picture_of(struct scenery *scenery, unsigned layers);

struct pixel {
    int red, green, blue;
};

struct pixel pixel_at(const struct image *image, double x, double y);
struct pixel pixel_of(const struct image *image, const struct scenery *scenery, vec3 point);

// The distance of two colours: the greatest difference of a component.
int apart(struct pixel a, struct pixel b);

// The number of pixels of a rectangle that differ by more than `more_than`.
size_t differing(const struct image *a, const struct image *b, int left, int top, int right,
                 int bottom, int more_than);

// The same for whole pictures.
size_t differ_at_all(const struct image *a, const struct image *b, int more_than);

#endif
