// Bodies from triangle meshes, and the springs of a surface.
#include "builders_fixture.h"

#include <stdio.h>
#include <stdlib.h>

#include "scene/build/surface.h"

static const mark file_mark = {11, 9};

static struct scene_body *add_mesh(struct fixture *fixture, const char *path)
{
    struct scene_body *mesh = fixture_add(fixture, BODY_MESH, "duck");
    mesh->shape.mesh = (struct scene_mesh){.path = (char *)path, .scale = 1, .at = file_mark};
    fixture_kind(mesh, 0, 10);
    fixture_kind(mesh, 1, 10);
    return mesh;
}

#define CUBE_VERTICES                                                                              \
    "v -1 -1 -1\nv 1 -1 -1\nv 1 1 -1\nv -1 1 -1\nv -1 -1 1\nv 1 -1 1\nv 1 1 1\nv -1 1 1\n"
#define CUBE_SIDES "f 1 4 3 2\nf 5 6 7 8\nf 1 2 6 5\nf 3 4 8 7\nf 2 3 7 6\n"

static const char cube[] = CUBE_VERTICES CUBE_SIDES "f 1 5 8 4\n";

static bool is_edge(const struct body *body, uint32_t a, uint32_t b)
{
    for (uint64_t s = body->kind_start[0]; s < body->kind_start[1]; s++)
        if ((body->springs[s][0] == a && body->springs[s][1] == b) ||
            (body->springs[s][0] == b && body->springs[s][1] == a))
            return true;
    return false;
}

// The vertex of a face that the other face does not have, if the two share an edge.
static bool far_vertex(const uint32_t *face, const uint32_t *other, uint32_t *vertex)
{
    int common = 0;
    for (int i = 0; i < 3; i++) {
        bool shared = face[i] == other[0] || face[i] == other[1] || face[i] == other[2];
        common += shared;
        if (!shared)
            *vertex = face[i];
    }
    return common == 2;
}

// Counts them by trying all pairs of faces: opposite vertices of adjacent faces, once each, unless
// an edge joins them.
static uint64_t expected_bends(const struct body *body)
{
    uint64_t n = body->node_count, count = 0;
    bool *found = calloc(n * n, sizeof *found);
    assert_non_null(found);
    for (uint64_t f = 0; f < body->face_count; f++)
        for (uint64_t g = 0; g < body->face_count; g++) {
            uint32_t a = 0, b = 0;
            if (!far_vertex(&body->faces[3 * f], &body->faces[3 * g], &a) ||
                !far_vertex(&body->faces[3 * g], &body->faces[3 * f], &b))
                continue;
            if (a < b && !is_edge(body, a, b) && !found[a * n + b]) {
                found[a * n + b] = true;
                count++;
            }
        }
    free(found);
    return count;
}

static void test_cube(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_begin(&fixture);
    struct scene_body *given = add_mesh(&fixture, fixture_file("cube.obj", cube));
    given->shape.mesh.scale = 0.5;
    given->translate = vec3_make(0, 2, 0);
    given->pressure = fixture_pressure();
    const struct body *body = fixture_build(&fixture);
    assert_int_equal(fixture.diagnostics.count, 0);
    assert_int_equal(body->node_count, 8);
    assert_int_equal(body->face_count, 12);
    assert_int_equal(kind_count(body, 0), 18);
    assert_int_equal(kind_count(body, 1), expected_bends(body));
    assert_surface_closed(body);
    assert_near(body_volume(body), 1, 1e-14);
    assert_position(body, 6, 0.5, 2.5, 0.5);
    assert_int_equal(body->unused_vertices, 0);
    fixture_reset(&fixture);
}

static void test_far_from_the_origin_the_volume_keeps(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_begin(&fixture);
    struct scene_body *given = add_mesh(&fixture, fixture_file("cube.obj", cube));
    given->translate = vec3_make(2e6, -2e6, 2e6);
    given->rotate = vec3_make(10, 20, 30);
    assert_near(body_volume(fixture_build(&fixture)), 8, 8e-9);
    fixture_reset(&fixture);
}

// A negative scale mirrors the mesh; its faces still point outwards.
static void test_mirrored_mesh_is_turned_outwards(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_begin(&fixture);
    const char *path = fixture_file("cube.obj", cube);
    struct scene_body *given = add_mesh(&fixture, path);
    given->shape.mesh.scale = -1;
    const struct body *body = fixture_build(&fixture);
    assert_surface_closed(body);
    assert_near(body_volume(body), 8, 1e-13);
    char expected[4200];
    snprintf(expected, sizeof expected,
             "'%s': 12 triangles were turned round so that neighbours agree and normals point "
             "outwards",
             path);
    fixture_assert_warning(&fixture, file_mark, expected);
    fixture_reset(&fixture);
}

static void test_one_triangle_the_wrong_way_round(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_begin(&fixture);
    const char *path = fixture_file("flipped.obj", CUBE_VERTICES CUBE_SIDES "f 1 5 8\nf 1 4 8\n");
    struct scene_body *given = add_mesh(&fixture, path);
    given->pressure = fixture_pressure();
    const struct body *body = fixture_build(&fixture);
    assert_surface_closed(body);
    assert_near(body_volume(body), 8, 1e-13);
    char expected[4200];
    snprintf(expected, sizeof expected,
             "'%s': 1 triangle was turned round so that neighbours agree and normals point "
             "outwards",
             path);
    fixture_assert_warning(&fixture, file_mark, expected);
    fixture_reset(&fixture);
}

static void test_a_cavity_is_named(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_begin(&fixture);
    const char *path = fixture_file("cavity.obj", CUBE_VERTICES CUBE_SIDES
                                    "f 1 5 8 4\n"
                                    "v 0 0 0\nv 0.5 0 0\nv 0 0.5 0\nv 0 0 0.5\n"
                                    "f 9 11 10\nf 9 10 12\nf 10 11 12\nf 11 9 12\n");
    add_mesh(&fixture, path)->pressure = fixture_pressure();
    assert_near(body_volume(fixture_build(&fixture)), 8 - 0.125 / 6, 1e-13);
    char expected[4200];
    snprintf(expected, sizeof expected,
             "'%s': 4 triangles were turned round so that neighbours agree and normals point "
             "outwards, of the inner shell into the cavity",
             path);
    fixture_assert_warning(&fixture, file_mark, expected);
    fixture_reset(&fixture);
}

static void test_unused_vertices_are_left_out_with_a_warning(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_begin(&fixture);
    const char *path = fixture_file("unused.obj", "v 9 9 9\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 2 3 4\n");
    add_mesh(&fixture, path);
    const struct body *body = fixture_build(&fixture);
    assert_int_equal(body->node_count, 3);
    assert_int_equal(body->unused_vertices, 1);
    assert_position(body, 1, 1, 0, 0);
    assert_false(body->closed);
    char expected[4200];
    snprintf(expected, sizeof expected, "'%s': 1 vertex is used by no face and is left out", path);
    fixture_assert_warning(&fixture, file_mark, expected);
    fixture_reset(&fixture);
}

static void test_repeated_faces_have_a_warning(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_begin(&fixture);
    const char *path =
        fixture_file("repeated.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\nf 2 3 1\nf 3 1 2\n");
    add_mesh(&fixture, path);
    assert_int_equal(fixture_build(&fixture)->face_count, 3);
    char expected[4200];
    snprintf(expected, sizeof expected,
             "'%s': 2 faces have the same vertices as another one: wind and mass count them again; "
             "remove them",
             path);
    fixture_assert_warning(&fixture, file_mark, expected);
    fixture_reset(&fixture);
}

static void test_tetrahedron_has_no_bend_springs(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_begin(&fixture);
    add_mesh(&fixture, fixture_file("tetrahedron.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"
                                                       "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"));
    const struct body *body = fixture_build(&fixture);
    assert_int_equal(kind_count(body, 0), 6);
    assert_int_equal(kind_count(body, 1), 0); // an edge joins every such pair
    assert_near(body_volume(body), 1.0 / 6, 1e-15);
    fixture_reset(&fixture);
}

static void test_octahedron_joins_opposite_corners_once(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_begin(&fixture);
    add_mesh(&fixture, fixture_file("octahedron.obj",
                                    "v 1 0 0\nv -1 0 0\nv 0 1 0\nv 0 -1 0\nv 0 0 1\nv 0 0 -1\n"
                                    "f 1 3 5\nf 3 2 5\nf 2 4 5\nf 4 1 5\n"
                                    "f 3 1 6\nf 2 3 6\nf 4 2 6\nf 1 4 6\n"));
    const struct body *body = fixture_build(&fixture);
    assert_int_equal(kind_count(body, 0), 12);
    assert_int_equal(kind_count(body, 1), 3); // each found at four edges
    for (uint64_t s = 12; s < 15; s++)
        assert_near(spring_length(body, s), 2, 1e-15);
    fixture_reset(&fixture);
}

// A fan of 100 triangles: one row of the tables is long.
static void test_fan(void **state)
{
    (void)state;
    enum { BLADES = 100 };
    struct fixture fixture;
    static char text[BLADES * 64];
    int length = snprintf(text, sizeof text, "v 0 0 0\n");
    for (int i = 0; i < BLADES; i++)
        length += snprintf(text + length, sizeof text - (size_t)length, "v %.9f %.9f 0\n",
                           cos(2 * PI * i / BLADES), sin(2 * PI * i / BLADES));
    for (int i = 0; i < BLADES; i++)
        length += snprintf(text + length, sizeof text - (size_t)length, "f 1 %d %d\n", i + 2,
                           (i + 1) % BLADES + 2);
    assert_true((size_t)length < sizeof text);
    fixture_begin(&fixture);
    add_mesh(&fixture, fixture_file("fan.obj", text));
    const struct body *body = fixture_build(&fixture);
    assert_int_equal(kind_count(body, 0), 2 * BLADES);
    assert_int_equal(kind_count(body, 1), BLADES);
    assert_int_equal(kind_count(body, 1), expected_bends(body));
    assert_false(body->closed);
    fixture_reset(&fixture);
}

// Three triangles share an edge: their opposite vertices form a chain, each joined to the one
// listed before it.
static void test_three_faces_at_an_edge(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_begin(&fixture);
    add_mesh(&fixture, fixture_file("book.obj", "v 0 0 0\nv 0 0 1\nv 1 0 0\nv 0 1 0\nv -1 0 0\n"
                                                "f 1 2 3\nf 1 2 4\nf 1 2 5\n"));
    const struct body *body = fixture_build(&fixture);
    assert_int_equal(kind_count(body, 0), 7);
    assert_int_equal(kind_count(body, 1), 2);
    assert_int_equal(body->springs[7][0], 2);
    assert_int_equal(body->springs[7][1], 3);
    assert_int_equal(body->springs[8][0], 3);
    assert_int_equal(body->springs[8][1], 4);
    fixture_reset(&fixture);
}

// ---- Membranes

static void test_membranes_need_areas(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_begin(&fixture);
    struct scene_body *given =
        add_mesh(&fixture, fixture_file("line.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 2 0 0\n"
                                                    "f 1 2 3\nf 1 4 2\n"));
    given->elastic = (struct scene_elastic){.present = true, .at = pressure_mark};
    given->elements = (struct scene_elements){.stretch = 1, .shear = 0.4, .areal_density = 1};
    fixture_refuse(&fixture, NULL, pressure_mark,
                   "face 1 of body 'duck', at (0, 0, 0), has no area, so that it is no part of an "
                   "elastic surface; remove it from the mesh");
}

// The first repeated face is named, in whichever order its vertices are.
static void test_membranes_have_no_face_twice(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\nf 1 2 3\n",
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\nf 1 3 2\n",
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 5\nf 4 2 3\nf 1 2 3\nf 1 2 4\nf 2 3 1\nf 4 3 2\n",
    };
    static const char *const places[] = {
        "faces 0 and 1 of body 'duck', at (0, 0, 0)",
        "faces 0 and 1 of body 'duck', at (0, 0, 0)",
        "faces 1 and 3 of body 'duck', at (1, 0, 0)",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct fixture fixture;
        fixture_begin(&fixture);
        const char *path = fixture_file("twice.obj", texts[i]);
        struct scene_body *given = add_mesh(&fixture, path);
        given->elastic = (struct scene_elastic){.present = true, .at = pressure_mark};
        given->elements =
            (struct scene_elements){.stretch = 1, .shear = 0.4, .areal_density = 1, .bending_u = 1};
        char expected[4600];
        snprintf(expected, sizeof expected,
                 "%s, have the same vertices, so that the angle between them is none by which an "
                 "elastic surface bends; remove one of them from '%s' (%s)",
                 places[i], path,
                 i < 2 ? "1 face repeats another one" : "2 faces repeat another one");
        fixture_refuse(&fixture, NULL, pressure_mark, expected);
    }
}

// ---- Pressure

static void refuse_with_pressure(const char *name, const char *text, const char *format)
{
    struct fixture fixture;
    char expected[4200];
    fixture_begin(&fixture);
    const char *path = fixture_file(name, text);
    struct scene_body *given = add_mesh(&fixture, path);
    given->pressure = fixture_pressure();
    const char *position = strstr(format, "PATH");
    assert_non_null(position);
    snprintf(expected, sizeof expected, "%.*s%s%s", (int)(position - format), format, path,
             position + 4);
    fixture_refuse(&fixture, NULL, pressure_mark, expected);
}

static void test_pressure_refuses_what_has_no_inside(void **state)
{
    (void)state;
    refuse_with_pressure("open.obj", CUBE_VERTICES CUBE_SIDES,
                         "pressure needs a closed surface: 'PATH' has 4 edges with only one face; "
                         "close its holes or leave out 'pressure'");
    refuse_with_pressure(
        "doubled.obj", CUBE_VERTICES CUBE_SIDES "f 1 5 8 4\nf 1 5 8 4\n",
        "pressure needs a surface with an inside: 'PATH' has 5 edges with three or "
        "more faces; remove inner walls and duplicate faces");
    refuse_with_pressure("touching.obj",
                         "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nv -1 0 0\nv 0 -1 0\nv 0 0 -1\n"
                         "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\nf 1 5 6\nf 1 7 5\nf 1 6 7\nf 5 7 6\n",
                         "pressure needs a surface with an inside: at 1 vertex of 'PATH' several "
                         "parts touch; give each part a vertex of its own");
}

static void test_what_has_no_inside_may_be_built_without_pressure(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_begin(&fixture);
    add_mesh(&fixture, fixture_file("open.obj", CUBE_VERTICES CUBE_SIDES));
    const struct body *body = fixture_build(&fixture);
    assert_false(body->closed);
    assert_int_equal(body->face_count, 10);
    assert_int_equal(kind_count(body, 1), expected_bends(body));
    fixture_reset(&fixture);
}

static void test_moebius_strip(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_begin(&fixture);
    // Five triangles around a strip of five vertices: the smallest Moebius strip.
    const char *path = fixture_file("moebius.obj", "v 1 0 0\nv 0.3 0.9 0.1\nv -0.8 0.6 0.3\n"
                                                   "v -0.8 -0.6 0\nv 0.3 -0.9 0.5\n"
                                                   "f 1 2 3\nf 2 3 4\nf 3 4 5\nf 4 5 1\nf 5 1 2\n");
    add_mesh(&fixture, path);
    const struct body *body = fixture_build(&fixture);
    assert_false(body->closed);
    assert_int_equal(kind_count(body, 0), 10);
    char expected[4200];
    snprintf(expected, sizeof expected,
             "'%s': the surface has only one side, so that wind on it has no direction", path);
    bool reported = false;
    for (size_t i = 0; i < fixture.diagnostics.count; i++)
        reported |= strcmp(fixture.diagnostics.items[i].text, expected) == 0;
    assert_true(reported);
    fixture_reset(&fixture);
}

static void test_file_that_is_not_there(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_begin(&fixture);
    add_mesh(&fixture, TAUT_TEST_OUT "/no-such-file.obj");
    assert_int_equal(fixture_try(&fixture), TAUT_ERROR_SCENE);
    assert_int_equal(fixture.diagnostics.error_count, 1);
    assert_non_null(strstr(fixture.diagnostics.items[0].file, "no-such-file.obj"));
    fixture_reset(&fixture);
}

// ---- Tables of pairs

static void make_pair_table(struct pair_table *table, const uint32_t (*pairs)[2], size_t count,
                            uint64_t rows)
{
    assert_true(pair_table_begin(table, rows));
    for (size_t i = 0; i < count; i++)
        pair_table_count(table, pairs[i][0]);
    assert_true(pair_table_allocate(table));
    for (size_t i = 0; i < count; i++)
        pair_table_add(table, pairs[i][0], pairs[i][1]);
    pair_table_finish(table);
}

static void test_pair_table(void **state)
{
    (void)state;
    static const uint32_t pairs[][2] = {{3, 1}, {0, 2}, {3, 0}, {0, 2}, {3, 1}, {2, 2}, {3, 9}};
    struct pair_table table;
    uint64_t index = 0;
    make_pair_table(&table, pairs, sizeof pairs / sizeof pairs[0], 5);
    assert_int_equal(table.pair_count, 5);
    assert_true(pair_table_find(&table, 3, 1, &index));
    assert_int_equal(index, 3);
    assert_false(pair_table_find(&table, 3, 2, &index));
    assert_false(pair_table_find(&table, 1, 0, &index));
    assert_false(pair_table_find(&table, 4, 0, &index));
    uint32_t copied[5][2];
    static const uint32_t expected[5][2] = {{0, 2}, {2, 2}, {3, 0}, {3, 1}, {3, 9}};
    pair_table_copy(&table, copied);
    assert_memory_equal(copied, expected, sizeof expected);
    pair_table_free(&table);
    make_pair_table(&table, pairs, 0, 0);
    assert_int_equal(table.pair_count, 0);
    pair_table_free(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_membranes_need_areas),
        cmocka_unit_test(test_membranes_have_no_face_twice),
        cmocka_unit_test(test_cube),
        cmocka_unit_test(test_far_from_the_origin_the_volume_keeps),
        cmocka_unit_test(test_mirrored_mesh_is_turned_outwards),
        cmocka_unit_test(test_one_triangle_the_wrong_way_round),
        cmocka_unit_test(test_a_cavity_is_named),
        cmocka_unit_test(test_unused_vertices_are_left_out_with_a_warning),
        cmocka_unit_test(test_repeated_faces_have_a_warning),
        cmocka_unit_test(test_tetrahedron_has_no_bend_springs),
        cmocka_unit_test(test_octahedron_joins_opposite_corners_once),
        cmocka_unit_test(test_fan),
        cmocka_unit_test(test_three_faces_at_an_edge),
        cmocka_unit_test(test_pressure_refuses_what_has_no_inside),
        cmocka_unit_test(test_what_has_no_inside_may_be_built_without_pressure),
        cmocka_unit_test(test_moebius_strip),
        cmocka_unit_test(test_file_that_is_not_there),
        cmocka_unit_test(test_pair_table),
    };
    return cmocka_run_group_tests_name("builders_mesh", tests, NULL, NULL);
}
