// values.h: the values by which springs and nodes are coloured, and the scale, as numbers.
#include "test.h"

#include <math.h>
#include <string.h>

#include "picture/values.h"

// A strip of triangles: nodes 0 to 2 * COUNT + 1 in two rows, and a spring for each step of the
// lower row.
enum { COUNT = 100, NODES = 2 * (COUNT + 1), FACES = 2 * COUNT };

static uint32_t springs[COUNT][2], faces[FACES][3];
static float rest_lengths[COUNT], stiffnesses[COUNT], positions[3 * NODES], strains[COUNT];
static uint8_t broken[COUNT], laws[COUNT];

static struct subject subject_of_strip(void)
{
    for (uint32_t i = 0; i < COUNT; i++) {
        springs[i][0] = i;
        springs[i][1] = i + 1;
        uint32_t above = COUNT + 1 + i;
        const uint32_t lower[] = {i, i + 1, above}, upper[] = {i + 1, above + 1, above};
        for (int corner = 0; corner < 3; corner++) {
            faces[2 * i][corner] = lower[corner];
            faces[2 * i + 1][corner] = upper[corner];
        }
        rest_lengths[i] = 2.0f;
        stiffnesses[i] = 50.0f;
        strains[i] = 0.0f;
        broken[i] = 0;
        laws[i] = LAW_LINEAR;
    }
    for (uint32_t node = 0; node < NODES; node++) {
        positions[3 * node] = 2.0f * (float)(node % (COUNT + 1));
        positions[3 * node + 1] = node > COUNT ? 1.0f : 0.0f;
        positions[3 * node + 2] = 0.0f;
    }
    return (struct subject){.node_count = NODES,
                            .spring_count = COUNT,
                            .springs_in_all = COUNT,
                            .face_count = FACES,
                            .springs = springs,
                            .faces = faces,
                            .rest_lengths = rest_lengths,
                            .stiffnesses = stiffnesses,
                            .laws = laws};
}

static struct values values_of(const struct subject *subject, enum colouring colouring,
                               bool on_faces)
{
    struct values values;
    struct render_options options = {.colouring = colouring};
    struct frame frame = {.fields = FRAME_DRAWN_POSITIONS | FRAME_DRAWN_SPRINGS,
                          .drawn_positions = positions,
                          .drawn_strains = strains,
                          .drawn_broken = broken};
    assert_int_equal(values_make(subject, &values, NULL), TAUT_OK);
    values_compute(&values, subject, &frame, &options, on_faces, !on_faces, 1);
    return values;
}

static void test_tension_is_stiffness_times_elongation(void **state)
{
    (void)state;
    struct subject subject = subject_of_strip();
    strains[3] = 0.1f;
    struct values values = values_of(&subject, COLOURING_TENSION, false);
    assert_true(fabsf(values.springs[3] - 50.0f * 0.1f * 2.0f) < 1e-5f);
    assert_true(values.springs[4] == 0.0f);
    assert_true(values.of_springs && !values.of_nodes);
    values_free(&values);
}

static void test_scale_is_symmetric_where_there_are_both_signs(void **state)
{
    (void)state;
    struct subject subject = subject_of_strip();
    for (int i = 0; i < COUNT; i++)
        strains[i] = 0.028f * (float)(i % 3 - 1);
    struct values values = values_of(&subject, COLOURING_TENSION, false);
    assert_true(values.least == -values.most);
    assert_true(fabs(values.most - 3.0) < 1e-12); // 2.8 N, rounded up
    assert_int_equal(values.map, MAP_DIVERGING);
    values_free(&values);
}

static void test_scale_of_tension_begins_at_0_where_all_pull(void **state)
{
    (void)state;
    struct subject subject = subject_of_strip();
    for (int i = 0; i < COUNT; i++)
        strains[i] = 0.001f * (float)i;
    struct values values = values_of(&subject, COLOURING_TENSION, false);
    assert_true(values.least == 0.0);
    assert_true(fabs(values.most - 10.0) < 1e-12);
    assert_int_equal(values.map, MAP_SEQUENTIAL);
    values_free(&values);
}

static void test_a_few_extreme_springs_do_not_set_the_scale(void **state)
{
    (void)state;
    struct subject subject = subject_of_strip();
    for (int i = 0; i < COUNT; i++)
        strains[i] = 0.019f;
    strains[10] = strains[20] = 7000.0f;
    struct values values = values_of(&subject, COLOURING_STRAIN, false);
    assert_true(values.most > 0.018 && values.most < 0.025);
    values_free(&values);
}

static void test_broken_springs_are_reported_and_do_not_count(void **state)
{
    (void)state;
    struct subject subject = subject_of_strip();
    for (int i = 0; i < COUNT; i++) {
        strains[i] = i % 2 ? 40.0f : 0.019f;
        broken[i] = i % 2;
    }
    struct values values = values_of(&subject, COLOURING_STRAIN, false);
    assert_true(values.springs[1] == VALUE_BROKEN);
    assert_true(values.most > 0.018 && values.most < 0.025);
    values_free(&values);
    values = values_of(&subject, COLOURING_PLAIN, false); // the same without a scale
    assert_true(values.of_springs);
    assert_true(values.springs[1] == VALUE_BROKEN && values.springs[2] == 0.0f);
    values_free(&values);
}

static void test_nodes_have_the_mean_of_their_springs(void **state)
{
    (void)state;
    struct subject subject = subject_of_strip();
    strains[4] = 0.1f;
    strains[5] = 0.3f;
    broken[6] = 1;
    strains[6] = 9.0f;
    struct values values = values_of(&subject, COLOURING_STRAIN, true);
    assert_true(values.of_nodes);
    assert_true(fabsf(values.nodes[5] - 0.2f) < 1e-6f);
    assert_true(fabsf(values.nodes[6] - 0.3f) < 1e-6f); // the broken one does not count
    assert_true(values.nodes[50] == 0.0f);
    values_free(&values);
}

static void test_nodes_without_springs_get_values_from_their_faces(void **state)
{
    (void)state;
    struct subject subject = subject_of_strip();
    for (int i = 0; i < COUNT; i++)
        strains[i] = 0.25f;
    subject.springs_in_all = 2 * COUNT; // the subject lacks those of the upper row
    struct values values = values_of(&subject, COLOURING_STRAIN, true);
    for (int node = 0; node < NODES; node++)
        assert_true(fabsf(values.nodes[node] - 0.25f) < 1e-5f);
    values_free(&values);
}

static void test_slack_springs_have_no_tension(void **state)
{
    (void)state;
    struct subject subject = subject_of_strip();
    for (int i = 0; i < 4; i++) {
        strains[i] = i % 2 ? 0.25f : -0.25f;
        laws[i] = i < 2 ? LAW_TENSION_ONLY : LAW_COMPRESSION_ONLY;
    }
    struct values values = values_of(&subject, COLOURING_TENSION, false);
    const float expected[] = {0.0f, 25.0f, -25.0f, 0.0f};
    for (int i = 0; i < 4; i++)
        assert_float_equal(values.springs[i], expected[i], 1e-5);
    values_free(&values);
}

static void test_springs_without_rest_length_pull_all_the_same(void **state)
{
    (void)state;
    struct subject subject = subject_of_strip();
    rest_lengths[3] = 0.0f;
    struct values values = values_of(&subject, COLOURING_TENSION, false);
    assert_float_equal(values.springs[3], 50.0 * 2.0, 1e-4); // without a rest length: k times the
                                                             // length
    values_free(&values);
}

// A grid of nodes over a part of a cylinder or a sphere.
static void test_curvatures_are_those_of_surfaces(void **state)
{
    (void)state;
    enum { SIDE = 21, CELLS = SIDE - 1 };
    static float surface[SIDE * SIDE][3];
    static uint32_t corners[2 * CELLS * CELLS][3];
    const double radius = 0.5, step = 0.02;
    for (int j = 0, face = 0; j < CELLS; j++)
        for (int i = 0; i < CELLS; i++) {
            const uint32_t a = (uint32_t)(j * SIDE + i), b = a + 1, c = a + SIDE, d = c + 1;
            const uint32_t of_cell[2][3] = {{a, b, d}, {a, d, c}};
            memcpy(corners[face], of_cell, sizeof of_cell);
            face += 2;
        }
    const int middle = CELLS / 2;
    for (int sphere = 0; sphere < 2; sphere++) {
        for (int j = 0; j < SIDE; j++)
            for (int i = 0; i < SIDE; i++) {
                const double u = (i - middle) * step, v = (j - middle) * step;
                float *at = surface[j * SIDE + i];
                at[0] = (float)(radius * sin(u / radius) * (sphere ? cos(v / radius) : 1));
                at[1] = (float)(sphere ? radius * sin(v / radius) : v);
                at[2] = (float)(radius * cos(u / radius) * (sphere ? cos(v / radius) : 1));
            }
        struct subject subject = {.node_count = (uint64_t)SIDE * SIDE,
                                  .face_count = (uint64_t)2 * CELLS * CELLS,
                                  .faces = corners};
        struct frame frame = {.fields = FRAME_DRAWN_POSITIONS, .drawn_positions = surface[0]};
        struct render_options options = {.colouring = COLOURING_CURVATURE};
        struct values values;
        assert_int_equal(values_make(&subject, &values, NULL), TAUT_OK);
        values_compute(&values, &subject, &frame, &options, true, false, 1);
        assert_true(values.of_nodes);
        for (int j = 1; j + 1 < SIDE; j++)
            for (int i = 1; i + 1 < SIDE; i++)
                assert_float_equal(values.nodes[j * SIDE + i], (sphere ? 2 : 1) / radius,
                                   0.02 / radius);
        assert_true(values.most >= (sphere ? 2 : 1) / radius);
        values_free(&values);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_curvatures_are_those_of_surfaces),
        cmocka_unit_test(test_tension_is_stiffness_times_elongation),
        cmocka_unit_test(test_scale_is_symmetric_where_there_are_both_signs),
        cmocka_unit_test(test_scale_of_tension_begins_at_0_where_all_pull),
        cmocka_unit_test(test_a_few_extreme_springs_do_not_set_the_scale),
        cmocka_unit_test(test_broken_springs_are_reported_and_do_not_count),
        cmocka_unit_test(test_nodes_have_the_mean_of_their_springs),
        cmocka_unit_test(test_nodes_without_springs_get_values_from_their_faces),
        cmocka_unit_test(test_slack_springs_have_no_tension),
        cmocka_unit_test(test_springs_without_rest_length_pull_all_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
