// The object under the pointer, and the elements that a cut crosses: a square of two triangles in
// front of a sphere.
#include "test.h"

#include "view/pick.h"

#include <stdlib.h>
#include <string.h>

enum { WIDTH = 400, HEIGHT = 300 };

// Nodes 0 to 3 are a square in the plane z = 0, from (-1, -1) to (1, 1); 4 is a loose node beside
// it.
static float positions[] = {-1, -1, 0, 1, -1, 0, 1, 1, 0, -1, 1, 0, 2, 0, 0};
static uint32_t springs[][2] = {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {2, 4}};
static uint32_t faces[][3] = {{0, 1, 2}, {0, 2, 3}};
static struct scene_collider collider = {.type = COLLIDER_SPHERE};
static struct frame_collider sphere;

static struct subject square(void)
{
    return (struct subject){
        .node_count = 5,
        .spring_count = 5,
        .springs_in_all = 5,
        .face_count = 2,
        .springs = springs,
        .faces = faces,
        .colliders = &collider,
        .collider_count = 1,
        .up = {0, 1, 0},
    };
}

static struct frame frame_with_sphere(float z, float radius)
{
    sphere = (struct frame_collider){.centre = {0, 0, z}, .radius = radius};
    return (struct frame){.drawn_positions = positions, .colliders = &sphere};
}

// From the front, ten metres away.
static struct camera camera_before(double field)
{
    struct camera camera = camera_fit(vec3_make(-3, -2, -1), vec3_make(3, 2, 1), vec3_make(0, 1, 0),
                                      0, 0, field, WIDTH, HEIGHT);
    return camera;
}

static void seen_at(const struct camera *camera, vec3 point, double *x, double *y)
{
    double depth;
    assert_true(camera_project(camera, point, x, y, &depth));
}

static struct pick pick_point(const struct camera *camera, const struct frame *frame, vec3 point)
{
    struct subject subject = square();
    double x, y;
    seen_at(camera, point, &x, &y);
    return pick_at(&subject, frame, camera, x, y, 10);
}

static void the_nearest_corner_of_a_face(void **state)
{
    (void)state;
    struct frame frame = frame_with_sphere(0, 0);
    for (int projection = 0; projection < 2; projection++) {
        struct camera camera = camera_before(projection == 0 ? 35 : 0);
        struct pick pick = pick_point(&camera, &frame, vec3_make(0.6, 0.5, 0));
        assert_int_equal(pick.kind, PICK_NODE);
        assert_int_equal(pick.node, 2);
        pick = pick_point(&camera, &frame, vec3_make(-0.5, -0.7, 0));
        assert_int_equal(pick.node, 0);
        assert_true(pick.point.x == -1 && pick.point.y == -1);
    }
}

static void a_node_without_faces_near_the_pointer(void **state)
{
    (void)state;
    struct frame frame = frame_with_sphere(0, 0);
    struct subject subject = square();
    struct camera camera = camera_before(35);
    double x, y;
    seen_at(&camera, vec3_make(2, 0, 0), &x, &y);
    struct pick pick = pick_at(&subject, &frame, &camera, x + 6, y - 5, 10);
    assert_int_equal(pick.kind, PICK_NODE);
    assert_int_equal(pick.node, 4);
    pick = pick_at(&subject, &frame, &camera, x + 9, y - 9, 10);
    assert_int_equal(pick.kind, PICK_NOTHING);
}

static void whichever_is_in_front(void **state)
{
    (void)state;
    struct camera camera = camera_before(35);
    vec3 towards = vec3_subtract(camera_eye(&camera), camera.target);
    float before = towards.z > 0 ? 0.8F : -0.8F;
    struct frame frame = frame_with_sphere(before, 0.4F);
    struct pick pick = pick_point(&camera, &frame, vec3_make(0, 0, 0));
    assert_int_equal(pick.kind, PICK_COLLIDER);
    assert_int_equal(pick.collider, 0);
    assert_true(fabs(fabs(pick.point.z) - 1.2) < 1e-3);
    frame = frame_with_sphere(-before, 0.4F);
    pick = pick_point(&camera, &frame, vec3_make(0.1, 0.1, 0));
    assert_int_equal(pick.kind, PICK_NODE);
}

// A node behind the sphere is not picked through it.
static void no_node_behind_a_sphere(void **state)
{
    (void)state;
    struct camera camera = camera_before(0);
    vec3 towards = vec3_subtract(camera_eye(&camera), camera.target);
    sphere = (struct frame_collider){.centre = {2, 0, towards.z > 0 ? 1 : -1}, .radius = 0.5F};
    struct frame frame = {.drawn_positions = positions, .colliders = &sphere};
    assert_int_equal(pick_point(&camera, &frame, vec3_make(2, 0, 0)).kind, PICK_COLLIDER);
}

// A mesh collider, a triangle across the square, where it has been moved to: in front of it, or
// behind.
static void a_mesh_where_it_has_been_moved(void **state)
{
    (void)state;
    struct scene_collider mesh_collider = {.type = COLLIDER_MESH, .translate = {0, 0, 50}};
    struct subject_mesh mesh = {.collider = 0, .corner_count = 3};
    struct subject_corner corners[3] = {
        {.position = {-2, -2, 0}}, {.position = {2, -2, 0}}, {.position = {0, 2, 0}}};
    struct camera camera = camera_before(0);
    vec3 towards = vec3_subtract(camera_eye(&camera), camera.target);
    const double front = towards.z > 0 ? 1 : -1;
    for (int behind = 0; behind < 2; behind++) {
        sphere = (struct frame_collider){.translate = {0.5, 0, behind ? -front : front}};
        struct frame frame = {.drawn_positions = positions, .colliders = &sphere};
        struct subject subject = square();
        double x, y;
        subject.colliders = &mesh_collider;
        subject.meshes = &mesh;
        subject.mesh_count = 1;
        subject.corners = corners;
        seen_at(&camera, vec3_make(0.6, 0.1, 0), &x, &y);
        struct pick pick = pick_at(&subject, &frame, &camera, x, y, 10);
        if (behind) {
            assert_int_equal(pick.kind, PICK_NODE);
            continue;
        }
        assert_int_equal(pick.kind, PICK_COLLIDER);
        assert_int_equal(pick.collider, 0);
        assert_float_equal(pick.point.x, 0.6, 1e-9);
        assert_float_equal(pick.point.z, front, 1e-9);
        seen_at(&camera, vec3_make(-1.4, 0, 0), &x, &y); // beside it as moved, not as it was
        assert_int_equal(pick_at(&subject, &frame, &camera, x, y, 10).kind, PICK_NOTHING);
    }
}

static void points_on_planes_and_lines(void **state)
{
    (void)state;
    struct camera camera = camera_fit(vec3_make(-1, -1, -1), vec3_make(1, 1, 1), vec3_make(0, 1, 0),
                                      30, 25, 35, WIDTH, HEIGHT);
    vec3 wanted = vec3_make(0.3, 0.2, 0.5), position;
    double x, y;
    seen_at(&camera, wanted, &x, &y);
    assert_true(pick_on_plane(&camera, x, y, vec3_make(0, 0, 0.5), vec3_make(0, 0, 1), &position));
    assert_true(vec3_length(vec3_subtract(position, wanted)) < 1e-9);
    assert_true(
        pick_on_line(&camera, x, y, vec3_make(0.3, 0.2, -3), vec3_make(0, 0, 1), &position));
    assert_true(vec3_length(vec3_subtract(position, wanted)) < 1e-9);
    // Seen edge on, or end on, no such point exists.
    vec3 right, up, forward;
    camera_axes(&camera, &right, &up, &forward);
    assert_false(pick_on_plane(&camera, WIDTH / 2.0, HEIGHT / 2.0, camera.target, up, &position));
    assert_false(
        pick_on_line(&camera, WIDTH / 2.0, HEIGHT / 2.0, camera.target, forward, &position));
}

static void cut(const struct camera *camera, struct stroke *stroke, const vec3 *path, size_t count)
{
    struct subject subject = square();
    struct frame frame = frame_with_sphere(0, 0);
    taut_error error;
    double x, y;
    seen_at(camera, path[0], &x, &y);
    assert_int_equal(stroke_begin(stroke, &subject, x, y, &error), TAUT_OK);
    for (size_t i = 1; i < count; i++) {
        seen_at(camera, path[i], &x, &y);
        assert_true(stroke_to(stroke, &subject, &frame, camera, x, y));
    }
}

static void assert_marks(const uint8_t *marks, uint64_t count, const char *wanted)
{
    assert_int_equal(count, strlen(wanted));
    for (uint64_t i = 0; i < count; i++)
        assert_int_equal(marks[i], wanted[i] == 'x');
}

static void a_stroke_through_all(void **state)
{
    (void)state;
    struct camera camera = camera_before(35);
    struct stroke stroke;
    // Across the lower and the upper side, through both faces.
    const vec3 path[] = {{0.2, -1.5, 0}, {0.2, 0, 0}, {0.2, 1.5, 0}};
    cut(&camera, &stroke, path, 3);
    assert_marks(stroke.springs, stroke.spring_count, "x.x..");
    assert_marks(stroke.faces, stroke.face_count, "xx");
    size_t count;
    uint32_t *numbers = stroke_marked(stroke.springs, stroke.spring_count, &count);
    assert_int_equal(count, 2);
    assert_int_equal(numbers[0], 0);
    assert_int_equal(numbers[1], 2);
    free(numbers);
    stroke_end(&stroke);
}

static void a_stroke_inside_a_face(void **state)
{
    (void)state;
    struct camera camera = camera_before(35);
    struct stroke stroke;
    const vec3 path[] = {{0.6, -0.4, 0}, {0.7, -0.3, 0}};
    cut(&camera, &stroke, path, 2);
    assert_marks(stroke.springs, stroke.spring_count, ".....");
    assert_marks(stroke.faces, stroke.face_count, "x.");
    stroke_end(&stroke);
}

static void a_stroke_beside(void **state)
{
    (void)state;
    struct camera camera = camera_before(35);
    struct stroke stroke;
    const vec3 path[] = {{-2, -1.5, 0}, {-2, 1.5, 0}};
    size_t count;
    cut(&camera, &stroke, path, 2);
    assert_null(stroke_marked(stroke.springs, stroke.spring_count, &count));
    assert_int_equal(count, 0);
    assert_null(stroke_marked(stroke.faces, stroke.face_count, &count));
    stroke_end(&stroke);
}

// The subject was replaced during the stroke: elements that no longer exist must not be marked.
static void a_stroke_of_another_subject(void **state)
{
    (void)state;
    struct camera camera = camera_before(35);
    struct stroke stroke;
    const vec3 path[] = {{0.2, -1.5, 0}};
    cut(&camera, &stroke, path, 1);
    struct subject other = square();
    struct frame frame = frame_with_sphere(0, 0);
    other.spring_count = 4;
    assert_false(stroke_to(&stroke, &other, &frame, &camera, 0, 0));
    stroke_end(&stroke);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_nearest_corner_of_a_face),
        cmocka_unit_test(a_node_without_faces_near_the_pointer),
        cmocka_unit_test(whichever_is_in_front),
        cmocka_unit_test(no_node_behind_a_sphere),
        cmocka_unit_test(a_mesh_where_it_has_been_moved),
        cmocka_unit_test(points_on_planes_and_lines),
        cmocka_unit_test(a_stroke_through_all),
        cmocka_unit_test(a_stroke_inside_a_face),
        cmocka_unit_test(a_stroke_beside),
        cmocka_unit_test(a_stroke_of_another_subject),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
