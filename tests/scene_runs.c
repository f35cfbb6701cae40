// Solvers of scenes/, and measurements of their state (scene_runs.h).
#include "scene_runs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void show_message(void *context, const char *message)
{
    (void)context;
    print_error("%s", message);
}

taut_solver *scene_open(const char *name, const char *const *overrides,
                        const struct solver_options *options)
{
    enum { OVERRIDES_MAX = 16 };
    const char *list[OVERRIDES_MAX] = {"output.work=false"};
    size_t count = 1;
    for (; overrides && overrides[count - 1]; count++) {
        assert_true(count < OVERRIDES_MAX);
        list[count] = overrides[count - 1];
    }
    char path[1024];
    int length = snprintf(path, sizeof path, "%s/scenes/%s.yaml", TAUT_TEST_SOURCE, name);
    assert_true(length > 0 && (size_t)length < sizeof path);
    taut_scene_options scene_options;
    taut_scene_options_default(&scene_options);
    scene_options.overrides = list;
    scene_options.override_count = count;
    scene_options.on_message = show_message;
    taut_scene *scene;
    taut_error error = {0};
    if (taut_scene_load(path, &scene_options, &scene, &error) != TAUT_OK)
        fail_msg("%s", error.text);
    return solver_from(scene, options);
}

void advance_to(taut_solver *solver, double time)
{
    const double most = 32; // then dt: auto may have another dt
    double left = round((time - taut_solver_time(solver)) / taut_solver_dt(solver));
    assert_true(left >= 0);
    for (; left > 0; left = round((time - taut_solver_time(solver)) / taut_solver_dt(solver)))
        advance(solver, (uint64_t)fmin(left, most));
}

static const struct topology_body *find(const taut_solver *solver, const char *name)
{
    ptrdiff_t body = taut_solver_find_body(solver, name);
    if (body < 0)
        fail_msg("there is no body '%s'", name);
    return &solver_topology(solver)->bodies[body];
}

static uint64_t node_of(const taut_solver *solver, const char *name, uint64_t node)
{
    const struct topology_body *body = find(solver, name);
    assert_true(node < body->node_count);
    return body->first_node + node;
}

vec3 position_in_body(const taut_solver *solver, const char *body, uint64_t node)
{
    return position_of(solver, node_of(solver, body, node));
}

vec3 velocity_in_body(const taut_solver *solver, const char *body, uint64_t node)
{
    return velocity_of(solver, node_of(solver, body, node));
}

vec3 body_force(taut_solver *solver, const char *body, uint64_t node)
{
    return force_on(solver, node_of(solver, body, node));
}

uint64_t body_nodes(const taut_solver *solver, const char *body)
{
    return find(solver, body)->node_count;
}

double enclosed_volume(taut_solver *solver, const char *body)
{
    find(solver, body);
    return taut_solver_body_volume(solver, (size_t)taut_solver_find_body(solver, body));
}

struct extent body_extent(const taut_solver *solver, const char *body)
{
    uint64_t count = body_nodes(solver, body);
    double *positions = malloc((size_t)count * 3 * sizeof *positions);
    assert_non_null(positions);
    taut_solver_get_positions(solver, (size_t)taut_solver_find_body(solver, body), positions);
    vec3 first = vec3_make(positions[0], positions[1], positions[2]);
    struct extent extent = {first, first, {0, 0, 0}};
    for (uint64_t i = 0; i < count; i++) {
        vec3 p = vec3_make(positions[3 * i], positions[3 * i + 1], positions[3 * i + 2]);
        assert_true(isfinite(p.x) && isfinite(p.y) && isfinite(p.z));
        extent.min =
            vec3_make(fmin(extent.min.x, p.x), fmin(extent.min.y, p.y), fmin(extent.min.z, p.z));
        extent.max =
            vec3_make(fmax(extent.max.x, p.x), fmax(extent.max.y, p.y), fmax(extent.max.z, p.z));
        extent.mean = vec3_add(extent.mean, vec3_scale(1 / (double)count, p));
    }
    free(positions);
    return extent;
}

double greatest_strain(taut_solver *solver)
{
    struct frame view;
    taut_error error = {0};
    if (solver_make_frame(solver, FRAME_SPRINGS, &view, &error) != TAUT_OK)
        fail_msg("%s", error.text);
    solver_read_frame(solver, FRAME_SPRINGS, &view);
    double greatest = 0;
    for (uint64_t i = 0; i < view.shape.spring_count; i++) {
        if (solver_topology(solver)->any_breaks && view.broken[i])
            continue;
        assert_true(isfinite(view.strains[i]));
        greatest = fmax(greatest, view.strains[i]);
    }
    frame_free(&view);
    return greatest;
}

static void swap_rows(size_t n, double *a, double *b, size_t row, size_t other)
{
    for (size_t k = 0; k < n; k++) {
        double kept = a[row * n + k];
        a[row * n + k] = a[other * n + k];
        a[other * n + k] = kept;
    }
    double kept = b[row];
    b[row] = b[other];
    b[other] = kept;
}

void solve_linear(size_t n, double *a, double *b)
{
    for (size_t i = 0; i < n; i++) {
        size_t pivot = i;
        for (size_t row = i + 1; row < n; row++)
            if (fabs(a[row * n + i]) > fabs(a[pivot * n + i]))
                pivot = row;
        swap_rows(n, a, b, i, pivot);
        assert_true(a[i * n + i] != 0);
        for (size_t row = i + 1; row < n; row++) {
            double factor = a[row * n + i] / a[i * n + i];
            for (size_t k = i; k < n; k++)
                a[row * n + k] -= factor * a[i * n + k];
            b[row] -= factor * b[i];
        }
    }
    for (size_t i = n; i-- > 0;) {
        for (size_t k = i + 1; k < n; k++)
            b[i] -= a[i * n + k] * b[k];
        b[i] /= a[i * n + i];
    }
}
