// Networks in two CSV files.
#include "builders_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/os.h"

static char nodes_path[4096], springs_path[4096];

static struct scene_body *add_files(struct fixture *fixture, const char *nodes, const char *springs)
{
    snprintf(nodes_path, sizeof nodes_path, "%s", fixture_file("big.nodes.csv", nodes));
    snprintf(springs_path, sizeof springs_path, "%s", fixture_file("big.springs.csv", springs));
    fixture_begin(fixture);
    struct scene_body *given = fixture_add(fixture, BODY_NETWORK, "big");
    given->shape.network.nodes_path = nodes_path;
    given->shape.network.springs_path = springs_path;
    given->shape.network.nodes_at = (mark){30, 7};
    given->shape.network.springs_at = (mark){31, 7};
    return given;
}

#define NODES   "x,y,z,mass\n0,0,0,1\n1,0,0,2\n1,2,0,0.5\n"
#define SPRINGS "a,b,stiffness\n0,1,10\n1,2,20\n"

static void test_files(void **state)
{
    (void)state;
    struct fixture fixture;
    struct scene_body *given = add_files(&fixture, NODES, SPRINGS);
    given->common.damping = 0.25;
    given->common.law = LAW_TENSION_ONLY;
    given->velocity = vec3_make(0, 0, 4);
    const struct body *body = fixture_build(&fixture);
    assert_int_equal(body->node_count, 3);
    assert_int_equal(body->spring_count, 2);
    assert_position(body, 2, 1, 2, 0);
    assert_velocity(body, 2, 0, 0, 4);
    assert_true(body->masses[2] == 0.5);
    assert_int_equal(body->material_count, 2);
    const struct material *material = &body->materials[body->spring_materials[1]];
    assert_true(material->stiffness == 20.0);
    assert_true(material->damping == 0.25);
    assert_int_equal(material->law, LAW_TENSION_ONLY);
    assert_null(body->rest_lengths);
    fixture_reset(&fixture);
}

static void test_files_with_all_columns_in_another_order(void **state)
{
    (void)state;
    struct fixture fixture;
    struct scene_body *given =
        add_files(&fixture,
                  "\xEF\xBB\xBFpinned,mass, z ,y,x,vz,vy,vx\r\n"
                  "0,1,0,0,0,3,2,1\r\n1,2,0,0,1,6,5,4\r\n0 , 0.5,0,2,1,0,0,-1e-3\r\n\r\n\n",
                  "rest_length,damping,stiffness,b,a\n0.5,0.1,10,1,0\n,,20,2,1\n0,0.1,10,2,0");
    given->rotate = vec3_make(0, 0, 90);
    const struct body *body = fixture_build(&fixture);
    assert_position(body, 2, -2, 1, 0);
    assert_velocity(body, 0, 1, 2, 3);
    assert_velocity(body, 1, 0, 0, 0);
    assert_velocity(body, 2, -1e-3, 0, 0);
    assert_int_equal(body->kinematic[0], 0);
    assert_int_equal(body->kinematic[1], 1);
    assert_int_equal(body->springs[0][0], 0);
    assert_int_equal(body->springs[0][1], 1);
    assert_true(body->rest_lengths[0] == 0.5);
    assert_near(body->rest_lengths[1], 2, 1e-15); // empty: the length as built
    assert_true(body->rest_lengths[2] == 0.0);
    assert_int_equal(body->material_count, 2);
    assert_int_equal(body->spring_materials[0], body->spring_materials[2]);
    assert_true(body->materials[body->spring_materials[0]].damping == 0.1);
    assert_true(body->materials[body->spring_materials[1]].damping == 0.0);
    fixture_reset(&fixture);
}

static void test_rest_length_left_out_falls_back_to_the_body(void **state)
{
    (void)state;
    struct fixture fixture;
    struct scene_body *given =
        add_files(&fixture, NODES, "a,b,stiffness,rest_length\n0,1,10,0.5\n1,2,20,\n");
    given->common.has_rest_length = true;
    given->common.rest_length = 0.75;
    const struct body *body = fixture_build(&fixture);
    assert_true(body->rest_lengths[0] == 0.5);
    assert_true(body->rest_lengths[1] == 0.75);
    fixture_reset(&fixture);
}

static void test_more_materials_than_16_bits(void **state)
{
    (void)state;
    enum { SIDE = 400, LINKS = 70000 };
    struct fixture fixture;
    char *springs = malloc(LINKS * 40), *nodes = malloc(SIDE * 40);
    assert_non_null(springs);
    assert_non_null(nodes);
    int filled = snprintf(nodes, 40, "x,y,z,mass\n");
    for (int i = 0; i < SIDE; i++)
        filled += snprintf(nodes + filled, 40, "%d,0,0,1\n", i);
    filled = snprintf(springs, 40, "a,b,stiffness\n");
    int count = 0;
    for (int a = 0; a < SIDE && count < LINKS; a++)
        for (int b = a + 1; b < SIDE && count < LINKS; b++, count++)
            filled += snprintf(springs + filled, 40, "%d,%d,%d.5\n", a, b, count);
    assert_int_equal(count, LINKS);
    add_files(&fixture, nodes, springs);
    const struct body *body = fixture_build(&fixture);
    assert_int_equal(body->spring_count, LINKS);
    assert_int_equal(body->material_count, LINKS);
    for (uint64_t s = 0; s < LINKS; s++)
        assert_true(body->materials[body->spring_materials[s]].stiffness == (double)s + 0.5);
    fixture_reset(&fixture);
    free(springs);
    free(nodes);
}

// ---- Errors in files

struct wrong {
    const char *nodes, *springs; // NULL: valid
    int line, column;
    const char *text;
};

static const struct wrong wrong_files[] = {
    {"", NULL, 0, 0, "the file is empty; its first line must name the columns"},
    {" \n\n", NULL, 0, 0, "the file is empty; its first line must name the columns"},
    {"x,y,z\n0,0,0\n", NULL, 1, 1, "the header has no column 'mass'"},
    {"x,y,z,mass,colour\n0,0,0,1,2\n", NULL, 1, 12, "unknown column 'colour'"},
    {"\xEF\xBB\xBF", NULL, 0, 0, "the file is empty; its first line must name the columns"},
    {"\xEF\xBB\xBF\r \r", NULL, 0, 0, "the file is empty; its first line must name the columns"},
    {"\nx,y,z,mass\n0,0,0,1\n", NULL, 1, 1, "the first line is empty; it must name the columns"},
    {"\xEF\xBB\xBF \r\nx,y,z,mass\r\n", NULL, 1, 1,
     "the first line is empty; it must name the columns"},
    {"x,y,z,mass,\n0,0,0,1,2\n", NULL, 1, 12, "a column without a name"},
    {"x,y, ,mass\n0,0,0,1,2\n", NULL, 1, 6, "a column without a name"},
    {"x,y,z,mass\n0,0,0,1,\n1,0,0,1\n1,1,0,1\n", NULL, 2, 1,
     "this row has 5 cells, the header has 4"},
    {"x;y;z;mass\n0;0;0;1\n", NULL, 1, 2, "commas must separate the cells, not semicolons or tabs"},
    {"x y z mass\n0 0 0 1\n", NULL, 1, 2, "commas must separate the cells, not spaces or '|'"},
    {"x|y|z|mass\n0|0|0|1\n", NULL, 1, 2, "commas must separate the cells, not spaces or '|'"},
    {"x,y,z,mass\n0,0,0,1\n1,0,0,1\n1,1,0,1\n0\n", NULL, 5, 1,
     "this row has 1 cell, the header has 4"},
    {"xyz\ty\tz\tmass\n0\t0\t0\t1\n", NULL, 1, 4,
     "commas must separate the cells, not semicolons or tabs"},
    {"x,y,z,\"mass\n0,0,0,1\"\n", NULL, 1, 7,
     "a cell in quotes must not have commas, quotes or line ends"},
    {"x,y,z,mass\n0,\"0,5\",0,1\n1,0,0,1\n1,1,0,1\n", NULL, 2, 3,
     "a cell in quotes must not have commas, quotes or line ends"},
    {"x,y,z,mass\n0,0,0,\"1\"\"\"\n1,0,0,1\n1,1,0,1\n", NULL, 2, 7,
     "a cell in quotes must not have commas, quotes or line ends"},
    {"x,y,z,mass\n0,0,0,\"\"\n1,0,0,1\n1,1,0,1\n", NULL, 2, 8, "'mass' is missing"},
    {"x,y,z,mass\r0,0,0,1\r1,0,zero,1\r1,1,0,1\r", NULL, 3, 5, "'zero' is not a number"},
    {"x,y,z,mass\r0,0,0,1\r\r1,1,0,1\r1,2,0,1\r", NULL, 3, 1, "an empty line among the rows"},
    {"x,y,z,mass\r\n0,0,0,1\r\n\r\n1,1,0,1\r\n1,2,0,1", NULL, 3, 1, "an empty line among the rows"},
    {"x,y,z,mass, y\n0,0,0,1,2\n", NULL, 1, 13, "a second column 'y'"},
    {"x,y,z,mass,vx,vy,vz,pinned,x,y\n0,0,0,1\n", NULL, 1, 28, "a second column 'x'"},
    {"x,y,z,mass,vy\n0,0,0,1,2\n1,0,0,1,2\n1,1,0,1,2\n", NULL, 1, 12,
     "a velocity is the three columns vx, vy, vz"},
    {"x,y,z,mass\n0,0,0,1\n1,0,0\n1,1,0,1\n", NULL, 3, 1, "this row has 3 cells, the header has 4"},
    {"x,y,z,mass\n0,0,0,1\n1,0,0,1,7\n1,1,0,1\n", NULL, 3, 1,
     "this row has 5 cells, the header has 4"},
    {"x,y,z,mass\n0,0,0,1\n\n1,0,0,1\n1,1,0,1\n", NULL, 3, 1, "an empty line among the rows"},
    {"x,y,z,mass\n0,0,0,1\n1,abc,0,1\n1,1,0,1\n", NULL, 3, 3, "'abc' is not a number"},
    {"x,y,z,mass\n0,0,0,1\n1,0,nan,1\n1,1,0,1\n", NULL, 3, 5, "'nan' is not a finite number"},
    {"x,y,z,mass\n0,0,0,1\n1,, 0,1\n1,1,0,1\n", NULL, 3, 3, "'y' is missing"},
    {"x,y,z,mass\n0,0,0,1\n1,0,0,0\n1,1,0,1\n", NULL, 3, 7, "a mass must be above 0"},
    {"x,y,z,mass\n0,0,0,1\n1,0,0,-1\n1,1,0,1\n", NULL, 3, 7, "a mass must be above 0"},
    {"x,y,z,mass\n0,0,0,1\n1,0,0,1e-39\n1,1,0,1\n", NULL, 3, 7,
     "this is below the range of single precision (from 1.2e-38 on); use 'precision: double'"},
    {"x,y,z,mass\n0,0,0,1\n1,-1e39,0,1\n1,1,0,1\n", NULL, 3, 3,
     "this exceeds the range of single precision (up to 3.4e38); use 'precision: double'"},
    {"x,y,z,mass,vx,vy,vz\n0,0,0,1,0,0,0\n1,0,0,1,0,1e39,0\n1,1,0,1,0,0,0\n", NULL, 3, 11,
     "this exceeds the range of single precision (up to 3.4e38); use 'precision: double'"},
    {NULL, "a,b,stiffness\n0,1,10\n1,2,4e38\n", 3, 5,
     "this exceeds the range of single precision (up to 3.4e38); use 'precision: double'"},
    {NULL, "a,b,stiffness,rest_length\n0,1,10,\n1,2,3,1e-50\n", 3, 7,
     "this is below the range of single precision (from 1.2e-38 on); use 'precision: double'"},
    {"x,y,z,mass,pinned\n0,0,0,1,0\n1,0,0,1,2\n1,1,0,1,1\n", NULL, 3, 9, "'pinned' is 0 or 1"},
    {"x,y,z,mass,pinned\n0,0,0,1,0\n1,0,0,1,yes\n1,1,0,1,1\n", NULL, 3, 9, "'yes' is not a number"},
    {"x,y,z,mass,pinned\n0,0,0,1,0\n1,0,0,1,\n1,1,0,1,1\n", NULL, 3, 9, "'pinned' is missing"},
    {NULL, "a,b\n0,1\n", 1, 1, "the header has no column 'stiffness'"},
    {NULL, "a,b,stifness\n0,1,10\n", 1, 5, "unknown column 'stifness'"},
    {NULL, "a,b,stiffness\n0,1,10\n0,3,10\n", 3, 3, "there is no node 3: the nodes are 0 to 2"},
    {NULL, "a,b,stiffness\n0,1,10\n18446744073709551615,1,10\n", 3, 1,
     "there is no node 18446744073709551615: the nodes are 0 to 2"},
    {NULL, "a,b,stiffness\n0,1,10\n-1,1,10\n", 3, 1, "'-1' is negative"},
    {NULL, "a,b,stiffness\n0,1,10\n1.5,1,10\n", 3, 1, "'1.5' is not a whole number"},
    {NULL, "a,b,stiffness\n0,1,10\n,1,10\n", 3, 1, "'a' is missing"},
    {NULL, "a,b,stiffness\n0,1,10\n2,2,10\n", 3, 3,
     "a spring joins two different nodes, not 2 with itself"},
    {NULL, "a,b,stiffness\n0,1,10\n1,2,10\n1,0,10\n", 4, 1,
     "nodes 1 and 0 have a spring already, in line 2"},
    {NULL, "a,b,stiffness\n0,1,10\n1,2,-10\n", 3, 5, "'stiffness' must not be negative"},
    {NULL, "a,b,stiffness\n0,1,10\n1,2,\n", 3, 5, "'stiffness' is missing"},
    {NULL, "a,b,stiffness,damping\n0,1,10,\n1,2,3,-1\n", 3, 7, "'damping' must not be negative"},
    {NULL, "a,b,stiffness,rest_length\n0,1,10,\n1,2,3,-1\n", 3, 7,
     "'rest_length' must not be negative"},
};

static void test_wrong_files(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof wrong_files / sizeof wrong_files[0]; i++) {
        const struct wrong *wrong = &wrong_files[i];
        struct fixture fixture;
        add_files(&fixture, wrong->nodes ? wrong->nodes : NODES,
                  wrong->springs ? wrong->springs : SPRINGS);
        fixture_refuse(&fixture, wrong->nodes ? nodes_path : springs_path,
                       (mark){wrong->line, wrong->column}, wrong->text);
    }
}

// Limits are relative to the rest length, be it that of a row or of the body.
static void test_limits_of_springs_without_length(void **state)
{
    (void)state;
    static const struct {
        const char *springs, *limit;
        uint32_t line, column;
        bool common; // the rest length is the body's
    } cases[] = {
        {"a,b,stiffness,rest_length\n0,1,10,\n1,2,3,0\n", "break_at", 3, 7, false},
        {"a,b,stiffness,rest_length\n0,1,10,0\n1,2,3,1\n", "yield_at", 2, 8, false},
        {"a,b,stiffness,rest_length\n0,1,10,2\n1,2,3,\n", "break_at", 3, 7, true},
        {"a,b,stiffness\n1,2,3\n", "break_at", 2, 1, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fixture fixture;
        char expected[300];
        struct scene_body *given = add_files(&fixture, NODES, cases[i].springs);
        *(strcmp(cases[i].limit, "break_at") == 0 ? &given->common.break_at
                                                  : &given->common.yield_at) = 1.5;
        given->common.has_rest_length = cases[i].common;
        given->common.rest_length = 0;
        snprintf(expected, sizeof expected, MATERIAL_LIMIT_MESSAGE, cases[i].limit, cases[i].limit);
        fixture_refuse(&fixture, springs_path, (mark){cases[i].line, cases[i].column}, expected);
    }
}

static void test_nodes_file_with_a_header_only(void **state)
{
    (void)state;
    struct fixture fixture;
    char expected[4200];
    add_files(&fixture, "x,y,z,mass\n", "a,b,stiffness\n");
    snprintf(expected, sizeof expected, "'%s' has a header but no nodes", nodes_path);
    fixture_refuse(&fixture, NULL, (mark){30, 7}, expected);
}

static void test_springs_file_with_a_header_only(void **state)
{
    (void)state;
    struct fixture fixture;
    add_files(&fixture, NODES, "a,b,stiffness,rest_length\n");
    const struct body *body = fixture_build(&fixture);
    assert_int_equal(body->node_count, 3);
    assert_int_equal(body->spring_count, 0);
    fixture_reset(&fixture);
}

static void test_misspelt_column_is_offered(void **state)
{
    (void)state;
    struct fixture fixture;
    add_files(&fixture, NODES, "a,b,stifness\n0,1,10\n");
    assert_int_equal(fixture_try(&fixture), TAUT_ERROR_SCENE);
    assert_int_equal(fixture.diagnostics.count, 1);
    assert_string_equal(fixture.diagnostics.items[0].hint, "stiffness");
    assert_string_equal(fixture.diagnostics.items[0].source_line, "a,b,stifness");
    fixture_reset(&fixture);
}

static void test_faults_of_both_files_are_found_in_one_go(void **state)
{
    (void)state;
    struct fixture fixture;
    add_files(&fixture, "x,y,z,mass\n0,zero,0,0\n1,0,0,1\n", "a,b,stiffness\n0,7,soft\n1,0,1\n");
    assert_int_equal(fixture_try(&fixture), TAUT_ERROR_SCENE);
    assert_int_equal(fixture.diagnostics.error_count, 4);
    fixture_reset(&fixture);
}

static void test_a_second_column_is_not_offered_again(void **state)
{
    (void)state;
    struct fixture fixture;
    add_files(&fixture, NODES, "a,b,b,stiffness\n0,1,1,10\n");
    assert_int_equal(fixture_try(&fixture), TAUT_ERROR_SCENE);
    assert_int_equal(fixture.diagnostics.count, 1);
    assert_string_equal(fixture.diagnostics.items[0].text, "a second column 'b'");
    assert_null(fixture.diagnostics.items[0].hint);
    fixture_reset(&fixture);
}

// Columns of messages count characters.
static void test_columns_after_other_letters(void **state)
{
    (void)state;
    struct fixture fixture;
    add_files(&fixture, "x,y,z,mass\n\xC3\xA9,?,0,1\n1,0,0,1\n1,1,0,1\n", SPRINGS);
    assert_int_equal(fixture_try(&fixture), TAUT_ERROR_SCENE);
    assert_int_equal(fixture.diagnostics.count, 2);
    assert_int_equal(fixture.diagnostics.items[0].at.column, 1);
    assert_int_equal(fixture.diagnostics.items[1].at.column, 3);
    fixture_reset(&fixture);
}

// As they come from old Macs, from Windows and from R, with names and numbers in quotes, and with
// or without line ends after the last row.
static void test_dialects(void **state)
{
    (void)state;
    static const struct {
        const char *nodes, *springs;
    } cases[] = {
        {"x,y,z,mass\r0,0,0,1\r1,0,0,2\r1,2,0,0.5\r", "a,b,stiffness\r0,1,10\r1,2,20"},
        {"\xEF\xBB\xBFx,y,z,mass\r\n0,0,0,1\r\n1,0,0,2\r\n1,2,0,0.5",
         "a,b,stiffness\r\n0,1,10\r\n1,2,20\r\n\r\n"},
        {"x,y,z,mass\n0,0,0,1\r1,0,0,2\r\n1,2,0,0.5\r\r", "a,b,stiffness\n0,1,10\r1,2,20\n"},
        {"\"x\",\"y\", \"z\" ,\"mass\"\n0,0,0,1\n1,0,\"0\",2\n\"1\",2,0,\"0.5\"\n \n\t\n", SPRINGS},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fixture fixture;
        add_files(&fixture, cases[i].nodes, cases[i].springs);
        const struct body *body = fixture_build(&fixture);
        assert_int_equal(body->node_count, 3);
        assert_int_equal(body->spring_count, 2);
        assert_position(body, 2, 1, 2, 0);
        assert_true(body->masses[2] == 0.5);
        assert_true(body->materials[body->spring_materials[1]].stiffness == 20.0);
        fixture_reset(&fixture);
    }
}

static void test_many_faults_are_cut_off(void **state)
{
    (void)state;
    struct fixture fixture;
    char nodes[4096];
    int filled = snprintf(nodes, sizeof nodes, "x,y,z,mass\n");
    for (int i = 0; i < 100; i++)
        filled += snprintf(nodes + filled, sizeof nodes - (size_t)filled, "%d,?,0,1\n", i);
    add_files(&fixture, nodes, SPRINGS);
    assert_int_equal(fixture_try(&fixture), TAUT_ERROR_SCENE);
    assert_int_equal(fixture.diagnostics.error_count, 20);
    fixture_reset(&fixture);
}

// Tables are read in chunks of 64 KiB: rows that lie across their ends, one that is longer than a
// chunk, and one that only line ends follow for longer than that.
enum { ROWS = 20000, BLANKS = 70000 };

static char *make_large_table(size_t *length)
{
    const size_t size = 64 * (size_t)ROWS + 2 * (size_t)BLANKS;
    char *text = malloc(size);
    assert_non_null(text);
    size_t filled = (size_t)snprintf(text, size, "x,y,z,mass\n");
    for (int i = 0; i < ROWS; i++) {
        filled += (size_t)snprintf(text + filled, size - filled, "%d,%d.25,", i, i);
        memset(text + filled, ' ', BLANKS);
        filled += i == ROWS / 2 ? BLANKS : 0;
        filled += (size_t)snprintf(text + filled, size - filled, "-%d,1\n", i);
    }
    memset(text + filled, '\n', BLANKS);
    text[filled + BLANKS] = '\0';
    *length = filled + BLANKS;
    return text;
}

static void check_large_table(struct fixture *fixture)
{
    const struct body *body = fixture_build(fixture);
    assert_int_equal(body->node_count, ROWS);
    for (int i = 0; i < ROWS; i++)
        assert_position(body, (uint64_t)i, i, i + 0.25, -i);
    fixture_reset(fixture);
}

// Also tests the end of a chunk between CR and LF.
static void test_line_ends_across_chunks(void **state)
{
    (void)state;
    enum { CHUNK = 1 << 16, PADDINGS = 4 };
    char *text = malloc(2 * CHUNK);
    assert_non_null(text);
    for (int ends = 0; ends < 2; ends++)
        for (int padding = 0; padding < PADDINGS; padding++) {
            struct fixture fixture;
            const char *end = ends ? "\r\n" : "\r";
            size_t filled = (size_t)sprintf(text, "x,y,z,mass%s0,0,0,", end);
            const size_t blanks = CHUNK - filled - 3 + (size_t)padding;
            memset(text + filled, ' ', blanks);
            filled += blanks;
            sprintf(text + filled, "1%s1,0,0,2%s1,2,0,zero%s", end, end, end);
            add_files(&fixture, text, SPRINGS);
            fixture_refuse(&fixture, nodes_path, (mark){4, 7}, "'zero' is not a number");
            memcpy(strstr(text, "zero"), "0.50", 4);
            add_files(&fixture, text, SPRINGS);
            const struct body *body = fixture_build(&fixture);
            assert_int_equal(body->node_count, 3);
            assert_position(body, 2, 1, 2, 0);
            fixture_reset(&fixture);
        }
    free(text);
}

static void test_a_table_of_many_chunks(void **state)
{
    (void)state;
    struct fixture fixture;
    size_t length;
    char *text = make_large_table(&length);
    add_files(&fixture, text, SPRINGS);
    check_large_table(&fixture);

    char *last = strstr(text, "-19999");
    assert_non_null(last);
    last[0] = '?';
    add_files(&fixture, text, "a,b,stiffness\n0,1,10\n1,2,20\n1,0,30\n");
    assert_int_equal(fixture_try(&fixture), TAUT_ERROR_SCENE);
    assert_int_equal(fixture.diagnostics.error_count, 2);
    assert_int_equal(fixture.diagnostics.items[0].at.line, ROWS + 1);
    assert_int_equal(fixture.diagnostics.items[0].at.column, 16);
    assert_int_equal(fixture.diagnostics.items[1].at.line, 4);
    fixture_reset(&fixture);
    free(text);
}

// A pipe cannot be read twice.
static void test_a_table_from_a_pipe(void **state)
{
    (void)state;
    struct fixture fixture;
    size_t length;
    char *text = make_large_table(&length), path[32];
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    const pid_t writer = fork();
    assert_true(writer >= 0);
    if (writer == 0) {
        close(ends[0]);
        for (size_t at = 0; at < length;) {
            const ssize_t written = write(ends[1], text + at, length - at);
            if (written < 0)
                _exit(1);
            at += (size_t)written;
        }
        _exit(0);
    }
    close(ends[1]);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    struct scene_body *given = add_files(&fixture, NODES, SPRINGS);
    given->shape.network.nodes_path = path;
    check_large_table(&fixture);
    close(ends[0]);
    assert_int_equal(process_wait(writer), 0);
    free(text);
}

static void test_files_that_cannot_be_read(void **state)
{
    (void)state;
    struct fixture fixture;
    struct scene_body *given = add_files(&fixture, NODES, SPRINGS);
    given->shape.network.nodes_path = TAUT_TEST_OUT "/no-such-file.csv";
    fixture_refuse(&fixture, TAUT_TEST_OUT "/no-such-file.csv", (mark){0, 0},
                   "cannot read the file: No such file or directory");
    given->shape.network.nodes_path = TAUT_TEST_OUT;
    fixture_refuse(&fixture, TAUT_TEST_OUT, (mark){0, 0}, "cannot read the file: Is a directory");
    FILE *file = fopen(nodes_path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite("x,y,z,mass\n0,\0,0,1\n", 1, 19, file), 19);
    assert_int_equal(fclose(file), 0);
    given->shape.network.nodes_path = nodes_path;
    fixture_refuse(&fixture, nodes_path, (mark){0, 0},
                   "this is not a text file: it has a NUL byte");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_files_with_all_columns_in_another_order),
        cmocka_unit_test(test_rest_length_left_out_falls_back_to_the_body),
        cmocka_unit_test(test_more_materials_than_16_bits),
        cmocka_unit_test(test_wrong_files),
        cmocka_unit_test(test_limits_of_springs_without_length),
        cmocka_unit_test(test_nodes_file_with_a_header_only),
        cmocka_unit_test(test_springs_file_with_a_header_only),
        cmocka_unit_test(test_misspelt_column_is_offered),
        cmocka_unit_test(test_faults_of_both_files_are_found_in_one_go),
        cmocka_unit_test(test_a_second_column_is_not_offered_again),
        cmocka_unit_test(test_columns_after_other_letters),
        cmocka_unit_test(test_dialects),
        cmocka_unit_test(test_many_faults_are_cut_off),
        cmocka_unit_test(test_line_ends_across_chunks),
        cmocka_unit_test(test_a_table_of_many_chunks),
        cmocka_unit_test(test_a_table_from_a_pipe),
        cmocka_unit_test(test_files_that_cannot_be_read),
    };
    return cmocka_run_group_tests_name("builders_csv", tests, NULL, NULL);
}
