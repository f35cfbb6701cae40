#include "picture_fixture.h"

#include <stdlib.h>

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
        subject_store_make(&scenery.subject, true, &scenery.store, &error) != TAUT_OK)
        fail_msg("%s", error.text);
    subject_store_take(scenery.solver, &scenery.subject, true, &scenery.store);
    render_options_default(&scenery.options);
    scenery_look(&scenery, 0, scenery.subject.flat ? 0 : 20);
    return scenery;
}

void scenery_free(struct scenery *scenery)
{
    subject_store_free(&scenery->store);
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
            const struct subject_sphere *sphere = &scenery->store.spheres[i];
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
    camera_zoom(&scenery->camera, 1.4); // room around
}

struct image picture_of(struct scenery *scenery, unsigned layers)
{
    struct image image = {0};
    taut_error error = {0};
    scenery->options.layers = layers;
    if (renderer_set_subject(renderer, &scenery->subject, &error) != TAUT_OK ||
        renderer_draw(renderer, &scenery->store.moment, &scenery->camera, &scenery->options,
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
