// camera.h: projections and fitted views as numbers; no picture is drawn.
#include "test.h"

#include "picture/camera.h"

static const vec3 LOW = {-1.0, 0.5, -2.0}, HIGH = {3.0, 2.0, 0.5}, Y = {0, 1, 0}, Z = {0, 0, 1};

static vec3 corner_of(unsigned corner)
{
    return vec3_make(corner & 1 ? HIGH.x : LOW.x, corner & 2 ? HIGH.y : LOW.y,
                     corner & 4 ? HIGH.z : LOW.z);
}

static void assert_near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance))
        fail_msg("%.17g and %.17g are %g apart", a, b, fabs(a - b));
}

static void assert_same_point(vec3 a, vec3 b, double tolerance)
{
    assert_near(a.x, b.x, tolerance);
    assert_near(a.y, b.y, tolerance);
    assert_near(a.z, b.z, tolerance);
}

// All cameras of the tests: directions, both up directions, perspective and parallel, wide and
// tall.
static size_t cameras(struct camera all[36])
{
    static const double angles[][2] = {{0, 0},    {32, 20}, {-120, -45},
                                       {200, 89}, {30, 90}, {-70, -90}};
    size_t count = 0;
    for (int i = 0; i < 6; i++)
        for (int up = 0; up < 2; up++)
            for (int kind = 0; kind < 3; kind++)
                all[count++] = camera_fit(LOW, HIGH, up ? Z : Y, angles[i][0], angles[i][1],
                                          kind == 0 ? 0.0 : 35.0, kind == 2 ? 300 : 900, 500);
    return count;
}

static void test_fit_sees_all_corners_and_wastes_little(void **state)
{
    (void)state;
    struct camera all[36];
    size_t count = cameras(all);
    for (size_t c = 0; c < count; c++) {
        double widest = 0.0;
        for (unsigned i = 0; i < 8; i++) {
            double x, y, depth;
            assert_true(camera_project(&all[c], corner_of(i), &x, &y, &depth));
            double across = fabs(x / all[c].width - 0.5), down = fabs(y / all[c].height - 0.5);
            assert_true(across < 0.5 && down < 0.5);
            widest = fmax(widest, fmax(across, down));
        }
        assert_true(widest > 0.40); // 0.5 is the edge
    }
}

static void test_fit_of_a_point_is_a_camera(void **state)
{
    (void)state;
    struct camera camera = camera_fit(LOW, LOW, Y, 30, 20, 35, 640, 480);
    double x, y, depth;
    assert_true(camera.distance > 0.0);
    assert_true(camera_project(&camera, LOW, &x, &y, &depth));
    assert_near(x, 320, 1e-6);
    assert_near(y, 240, 1e-6);
}

static void test_axes_are_a_right_handed_frame(void **state)
{
    (void)state;
    struct camera all[36];
    size_t count = cameras(all);
    for (size_t c = 0; c < count; c++) {
        vec3 right, up, forward;
        camera_axes(&all[c], &right, &up, &forward);
        assert_near(vec3_length(right), 1, 1e-12);
        assert_near(vec3_length(forward), 1, 1e-12);
        assert_same_point(vec3_cross(right, up), vec3_scale(-1, forward), 1e-12);
        assert_near(vec3_dot(right, all[c].up), 0, 1e-12); // the horizon is horizontal
        assert_true(vec3_dot(up, all[c].up) > 0);
    }
}

static void test_azimuth_0_looks_along_minus_z_with_x_to_the_right(void **state)
{
    (void)state;
    struct camera camera = camera_fit(LOW, HIGH, Y, 0, 0, 35, 640, 480);
    vec3 right, up, forward;
    camera_axes(&camera, &right, &up, &forward);
    assert_same_point(right, vec3_make(1, 0, 0), 1e-12);
    assert_same_point(up, Y, 1e-12);
    assert_same_point(forward, vec3_make(0, 0, -1), 1e-12);
}

static void test_ray_goes_through_what_is_seen_at_its_pixel(void **state)
{
    (void)state;
    struct camera all[36];
    size_t count = cameras(all);
    for (size_t c = 0; c < count; c++) {
        struct camera_ray ray = camera_ray_at(&all[c], 123.25, 301.5);
        assert_near(vec3_length(ray.direction), 1, 1e-12);
        for (int along = 1; along < 9; along *= 2) {
            double x, y, depth;
            vec3 point = vec3_add(ray.origin, vec3_scale(along, ray.direction));
            assert_true(camera_project(&all[c], point, &x, &y, &depth));
            assert_near(x, 123.25, 1e-8);
            assert_near(y, 301.5, 1e-8);
        }
    }
}

static void test_what_is_behind_the_eye_is_not_seen(void **state)
{
    (void)state;
    struct camera camera = camera_fit(LOW, HIGH, Y, 30, 20, 35, 640, 480);
    vec3 right, up, forward;
    camera_axes(&camera, &right, &up, &forward);
    double x, y, depth;
    assert_false(
        camera_project(&camera, vec3_subtract(camera_eye(&camera), forward), &x, &y, &depth));
    assert_true(depth < 0);
}

static void multiply(const float matrix[16], const double from[4], double to[4])
{
    for (int row = 0; row < 4; row++) {
        to[row] = 0;
        for (int i = 0; i < 4; i++)
            to[row] += (double)matrix[4 * i + row] * from[i];
    }
}

static void test_matrices_agree_with_project(void **state)
{
    (void)state;
    struct camera all[36];
    size_t count = cameras(all);
    for (size_t c = 0; c < count; c++) {
        float view[16], projection[16];
        camera_matrices(&all[c], LOW, HIGH, view, projection);
        for (unsigned i = 0; i < 8; i++) {
            vec3 corner = corner_of(i);
            double from[4] = {corner.x, corner.y, corner.z, 1}, seen[4], clip[4], x, y, depth;
            multiply(view, from, seen);
            multiply(projection, seen, clip);
            assert_true(camera_project(&all[c], corner, &x, &y, &depth));
            assert_near(-seen[2], depth, 1e-4);
            assert_near((clip[0] / clip[3] + 1) / 2 * all[c].width, x, 0.01);
            assert_near((1 - clip[1] / clip[3]) / 2 * all[c].height, y, 0.01);
            assert_true(fabs(clip[2] / clip[3]) < 1); // between near and far
        }
    }
}

static void test_pan_follows_the_pointer(void **state)
{
    (void)state;
    struct camera all[36];
    size_t count = cameras(all);
    for (size_t c = 0; c < count; c++) {
        vec3 held = all[c].target;
        double x, y, depth, moved_x, moved_y;
        camera_project(&all[c], held, &x, &y, &depth);
        camera_pan(&all[c], 40, -25);
        camera_project(&all[c], held, &moved_x, &moved_y, &depth);
        assert_near(moved_x - x, 40, 1e-6);
        assert_near(moved_y - y, -25, 1e-6);
    }
}

static void test_turning_keeps_target_and_distance_and_stops_at_the_poles(void **state)
{
    (void)state;
    struct camera camera = camera_fit(LOW, HIGH, Y, 30, 20, 35, 640, 480), before = camera;
    camera_turn(&camera, 100, 40);
    assert_true(camera.azimuth < before.azimuth); // the front of the scene moves to the right, too
    assert_true(camera.elevation > before.elevation);
    assert_same_point(camera.target, before.target, 0);
    assert_near(vec3_length(vec3_subtract(camera_eye(&camera), camera.target)), before.distance,
                1e-9);
    camera_turn(&camera, 0, 1e6);
    assert_true(camera.elevation > 80 && camera.elevation < 90);
    camera_turn(&camera, 0, -1e6);
    assert_true(camera.elevation < -80 && camera.elevation > -90);
    for (int i = 0; i < 1000; i++)
        camera_turn(&camera, 333, 0);
    assert_true(fabs(camera.azimuth) <= 180);
}

static void test_zoom_changes_what_a_pixel_covers(void **state)
{
    (void)state;
    for (int parallel = 0; parallel < 2; parallel++) {
        struct camera camera = camera_fit(LOW, HIGH, Y, 30, 20, parallel ? 0.0 : 35.0, 640, 480);
        double before = camera_pixel_size(&camera, camera.distance);
        camera_zoom(&camera, 0.5);
        assert_near(camera_pixel_size(&camera, camera.distance), before / 2, 1e-12);
        double distance = camera.distance;
        camera_zoom(&camera, 0);
        camera_zoom(&camera, -1);
        assert_true(camera.distance == distance);
    }
}

static void test_plane_scenes_are_seen_from_in_front(void **state)
{
    (void)state;
    double azimuth, elevation;
    struct subject subject = {.flat = true};
    camera_angles_for(&subject, &azimuth, &elevation);
    assert_true(azimuth == 0 && elevation == 0);
    subject.flat = false;
    camera_angles_for(&subject, &azimuth, &elevation);
    assert_true(azimuth != 0 && elevation > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fit_sees_all_corners_and_wastes_little),
        cmocka_unit_test(test_fit_of_a_point_is_a_camera),
        cmocka_unit_test(test_axes_are_a_right_handed_frame),
        cmocka_unit_test(test_azimuth_0_looks_along_minus_z_with_x_to_the_right),
        cmocka_unit_test(test_ray_goes_through_what_is_seen_at_its_pixel),
        cmocka_unit_test(test_what_is_behind_the_eye_is_not_seen),
        cmocka_unit_test(test_matrices_agree_with_project),
        cmocka_unit_test(test_pan_follows_the_pointer),
        cmocka_unit_test(test_turning_keeps_target_and_distance_and_stops_at_the_poles),
        cmocka_unit_test(test_zoom_changes_what_a_pixel_covers),
        cmocka_unit_test(test_plane_scenes_are_seen_from_in_front),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
