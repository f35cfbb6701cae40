// The scenes, the canvas and comparisons of pixels (picture_fixture.h).
#include "picture_fixture.h"

#include <stdlib.h>

// Three springs along x, stretched, at rest and compressed, with a pin and a kinematic node.
const char chain_text[] = PICTURE_START
    "bodies:\n"
    "  - {name: chain, type: network, nodes: [[0, 0, 0], [1, 0, 0], [2, 0, 0], [3, 0, 0]],\n"
    "     node_mass: 1, stiffness: 10, pins: [0],\n"
    "     drives: [{node: 3, velocity: [[0, [0, 1, 0]]]}],\n"
    "     springs: [[0, 1, {rest_length: 0.5}], [1, 2], [2, 3, {rest_length: 2}]]}\n";

const char cloth_text[] =
    PICTURE_START "bodies:\n"
                  "  - {name: cloth, type: cloth, origin: [-1, 0, 0], u: [2, 0, 0], v: [0, 2, 0],\n"
                  "     nodes: [25, 25], mass: 1, springs: {structural: {stiffness: 100}}}\n";

// A cloth above the ground, and a sphere.
const char above_text[] = PICTURE_START
    "environment: {gravity: [0, -9.81, 0], wind: {velocity: [3, 0, 0]}}\n"
    "bodies:\n"
    "  - {name: cloth, type: cloth, origin: [-1, 1, 1], u: [2, 0, 0], v: [0, 0, -2],\n"
    "     nodes: [9, 9], mass: 1, springs: {structural: {stiffness: 100}}}\n"
    "colliders:\n"
    "  - {type: plane, point: [0, 0, 0], normal: [0, 1, 0], stiffness: 100}\n"
    "  - {type: sphere, center: [2, 0.5, 0], radius: 0.5, stiffness: 100}\n";

const char ring_text[] = PICTURE_START
    "environment: {gravity: [0, -9.81, 0]}\n"
    "bodies:\n"
    "  - {name: ring, type: ring, center: [0, 1.5, 0], radius: 1, nodes: 24, mass: 1,\n"
    "     springs: {edges: {stiffness: 50}}}\n"
    "colliders: [{type: plane, point: [0, 0, 0], normal: [0, 1, 0], stiffness: 100}]\n";

static struct canvas *canvas;
static struct renderer *renderer;

bool pictures_begin(taut_error *error)
{
    return canvas_make(PICTURE_WIDTH, PICTURE_HEIGHT, &canvas, error) == TAUT_OK &&
           renderer_make(&renderer, error) == TAUT_OK;
}

void pictures_end(void)
{
    renderer_free(renderer);
    canvas_free(canvas);
}

struct renderer *pictures_renderer(void)
{
    return renderer;
}

unsigned pictures_framebuffer(void)
{
    return canvas_framebuffer(canvas);
}

struct scenery scenery_of(const char *text)
{
    struct scenery scenery = {.solver = solver_of("%s", text)};
    taut_error error = {0};
    struct subject_options options = {UINT64_MAX};
    if (subject_make(scenery.solver, &options, &scenery.subject, &error) != TAUT_OK ||
        subject_make_frame(&scenery.subject, SUBJECT_STRAINS | SUBJECT_CONTACTS, &scenery.frame,
                           &error) != TAUT_OK)
        fail_msg("%s", error.text);
    solver_read_frame(scenery.solver, scenery.frame.allocated, &scenery.frame);
    render_options_default(&scenery.options);
    scenery_look(&scenery, 0, scenery.subject.flat ? 0 : 20);
    return scenery;
}

void scenery_free(struct scenery *scenery)
{
    frame_free(&scenery->frame);
    subject_free(&scenery->subject);
    taut_solver_destroy(scenery->solver);
}

void scenery_look(struct scenery *scenery, double azimuth, double elevation)
{
    double low[3], high[3];
    for (int axis = 0; axis < 3; axis++) {
        low[axis] = (double)scenery->subject.low[axis];
        high[axis] = (double)scenery->subject.high[axis];
        for (size_t i = 0; i < scenery->subject.collider_count; i++) {
            const struct frame_collider *sphere = &scenery->frame.colliders[i];
            double centre = (double)sphere->centre[axis], radius = (double)sphere->radius;
            low[axis] = radius > 0 ? fmin(low[axis], centre - radius) : low[axis];
            high[axis] = radius > 0 ? fmax(high[axis], centre + radius) : high[axis];
        }
    }
    const float *up = scenery->subject.up;
    scenery->camera =
        camera_fit(vec3_make(low[0], low[1], low[2]), vec3_make(high[0], high[1], high[2]),
                   vec3_make((double)up[0], (double)up[1], (double)up[2]), azimuth, elevation, 35,
                   PICTURE_WIDTH, PICTURE_HEIGHT);
    camera_zoom(&scenery->camera, 1.4); // a margin around it
}

struct image picture_of(struct scenery *scenery, unsigned layers)
{
    struct image image = {0};
    taut_error error = {0};
    scenery->options.layers = layers;
    if (renderer_set_subject(renderer, &scenery->subject, &error) != TAUT_OK ||
        renderer_draw(renderer, &scenery->frame, &scenery->camera, &scenery->options,
                      canvas_framebuffer(canvas), &error) != TAUT_OK ||
        canvas_read(canvas, &image, &error) != TAUT_OK)
        fail_msg("%s", error.text);
    return image;
}

struct pixel pixel_at(const struct image *image, double x, double y)
{
    int column = (int)floor(x), row = (int)floor(y);
    assert_in_range(column, 0, image->width - 1);
    assert_in_range(row, 0, image->height - 1);
    const uint8_t *at = image->pixels + 3 * (row * image->width + column);
    return (struct pixel){at[0], at[1], at[2]};
}

struct pixel pixel_of(const struct image *image, const struct scenery *scenery, vec3 point)
{
    double x, y, depth;
    assert_true(camera_project(&scenery->camera, point, &x, &y, &depth));
    return pixel_at(image, x, y);
}

int apart(struct pixel a, struct pixel b)
{
    int red = abs(a.red - b.red), green = abs(a.green - b.green), blue = abs(a.blue - b.blue);
    int most = red > green ? red : green;
    return most > blue ? most : blue;
}

size_t differing(const struct image *a, const struct image *b, int left, int top, int right,
                 int bottom, int more_than)
{
    size_t count = 0;
    for (int y = top; y < bottom; y++)
        for (int x = left; x < right; x++)
            count += apart(pixel_at(a, x, y), pixel_at(b, x, y)) > more_than;
    return count;
}

size_t differ_at_all(const struct image *a, const struct image *b, int more_than)
{
    return differing(a, b, 0, 0, PICTURE_WIDTH, PICTURE_HEIGHT, more_than);
}
