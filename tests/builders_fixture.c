// Scenes made in code, and checks of built bodies (builders_fixture.h).
#include "builders_fixture.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

const mark body_mark = {10, 5}, pressure_mark = {12, 16}, selector_mark = {13, 12};

void fixture_begin(struct fixture *fixture)
{
    *fixture = (struct fixture){0};
    fixture->scene.name = "test";
    fixture->scene.file = "test.yaml";
    fixture->scene.bodies = fixture->given;
}

struct material fixture_material(double stiffness)
{
    return (struct material){.stiffness = stiffness, .break_at = INFINITY, .yield_at = INFINITY};
}

struct scene_body *fixture_add(struct fixture *fixture, enum body_type type, const char *name)
{
    assert_true(fixture->scene.body_count < FIXTURE_BODIES);
    struct scene_body *given = &fixture->given[fixture->scene.body_count++];
    *given = (struct scene_body){.name = (char *)name, .type = type, .at = body_mark, .mass = 1.0};
    given->common = fixture_material(100.0);
    return given;
}

void fixture_kind(struct scene_body *given, size_t kind, double stiffness)
{
    given->kinds[kind] = (struct scene_spring_kind){true, fixture_material(stiffness)};
}

struct scene_body *fixture_rope(struct fixture *fixture, uint64_t nodes)
{
    struct scene_body *rope = fixture_add(fixture, BODY_ROPE, "rope");
    rope->shape.rope.from = vec3_make(0, 2, 0);
    rope->shape.rope.to = vec3_make(4, 2, 0);
    rope->shape.rope.nodes = nodes;
    return rope;
}

struct scene_body *fixture_cloth(struct fixture *fixture, uint64_t nu, uint64_t nv)
{
    struct scene_body *cloth = fixture_add(fixture, BODY_CLOTH, "flag");
    cloth->shape.cloth.origin = vec3_make(0, 2, 0);
    cloth->shape.cloth.u = vec3_make(1.5, 0, 0);
    cloth->shape.cloth.v = vec3_make(0, -1, 0);
    cloth->shape.cloth.nodes_u = nu;
    cloth->shape.cloth.nodes_v = nv;
    return cloth;
}

struct scene_body *fixture_lattice(struct fixture *fixture, uint64_t nx, uint64_t ny, uint64_t nz)
{
    struct scene_body *lattice = fixture_add(fixture, BODY_LATTICE, "jelly");
    lattice->shape.lattice = (struct scene_lattice){.origin = {1, 2, 3},
                                                    .nodes_x = nx,
                                                    .nodes_y = ny,
                                                    .nodes_z = nz,
                                                    .spacing = 0.25,
                                                    .shells = 2};
    for (size_t kind = 0; kind < 6; kind++)
        fixture_kind(lattice, kind, 1);
    return lattice;
}

struct scene_pressure fixture_pressure(void)
{
    return (struct scene_pressure){
        .present = true, .amount = 10, .gamma = 1, .inflate = 1, .at = pressure_mark};
}

struct selector fixture_node(uint64_t node)
{
    return (struct selector){.type = SELECT_NODE, .node = node, .at = selector_mark};
}

struct selector fixture_group(enum selector_type type)
{
    return (struct selector){.type = type, .at = selector_mark};
}

void fixture_reset(struct fixture *fixture)
{
    bodies_free(&fixture->built);
    diagnostics_free(&fixture->diagnostics);
    fixture->error = (taut_error){0};
}

static void print_findings(const struct fixture *fixture)
{
    for (size_t i = 0; i < fixture->diagnostics.count; i++) {
        const struct diagnostic *item = &fixture->diagnostics.items[i];
        print_message("%s:%d:%d: %s\n", item->file, item->at.line, item->at.column, item->text);
    }
}

taut_status fixture_try(struct fixture *fixture)
{
    return bodies_build(&fixture->scene, &fixture->built, &fixture->diagnostics, &fixture->error);
}

const struct body *fixture_build(struct fixture *fixture)
{
    taut_status status = fixture_try(fixture);
    if (status != TAUT_OK) {
        print_message("%s\n", fixture->error.text);
        print_findings(fixture);
    }
    assert_int_equal(status, TAUT_OK);
    assert_int_equal(fixture->diagnostics.error_count, 0);
    for (size_t i = 0; i < fixture->built.count; i++)
        assert_springs_sound(&fixture->built.items[i]);
    return &fixture->built.items[0];
}

static void assert_finding(const struct diagnostic *item, const char *file, mark at,
                           const char *text)
{
    assert_string_equal(item->text, text);
    assert_string_equal(item->file, file);
    assert_int_equal(item->at.line, at.line);
    assert_int_equal(item->at.column, at.column);
}

void fixture_refuse(struct fixture *fixture, const char *file, mark at, const char *text)
{
    taut_status status = fixture_try(fixture);
    if (fixture->diagnostics.error_count != 1)
        print_findings(fixture);
    assert_int_equal(status, TAUT_ERROR_SCENE);
    assert_int_equal(fixture->error.code, TAUT_ERROR_SCENE);
    assert_string_equal(fixture->error.text, "test.yaml: 1 error in the bodies of the scene");
    assert_int_equal(fixture->diagnostics.error_count, 1);
    size_t i = 0;
    while (fixture->diagnostics.items[i].level != DIAGNOSTIC_ERROR)
        i++;
    assert_finding(&fixture->diagnostics.items[i], file ? file : "test.yaml", at, text);
    fixture_reset(fixture);
}

void fixture_assert_warning(const struct fixture *fixture, mark at, const char *text)
{
    assert_int_equal(fixture->diagnostics.count, 1);
    assert_int_equal(fixture->diagnostics.items[0].level, DIAGNOSTIC_WARNING);
    assert_finding(&fixture->diagnostics.items[0], "test.yaml", at, text);
}

const char *fixture_file(const char *name, const char *text)
{
    static char path[4096];
    if (mkdir(TAUT_TEST_OUT, 0777) != 0)
        assert_int_equal(errno, EEXIST);
    int length = snprintf(path, sizeof path, "%s/%s", TAUT_TEST_OUT, name);
    assert_true(length > 0 && (size_t)length < sizeof path);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
    return path;
}

// ---- Checks of every body

static int compare_keys(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

void assert_springs_sound(const struct body *body)
{
    assert_int_equal(body->kind_start[0], 0);
    assert_int_equal(body->kind_start[SPRING_KINDS_MAX], body->spring_count);
    for (size_t kind = 0; kind < SPRING_KINDS_MAX; kind++)
        assert_true(body->kind_start[kind] <= body->kind_start[kind + 1]);
    if (body->spring_count == 0)
        return;
    uint64_t *keys = malloc(body->spring_count * sizeof *keys);
    assert_non_null(keys);
    for (uint64_t s = 0; s < body->spring_count; s++) {
        struct spring_ends ends = body_spring(body, s);
        uint64_t a = ends.a, b = ends.b;
        assert_true(a != b);
        assert_true(a < body->node_count && b < body->node_count);
        keys[s] = a < b ? a << 32 | b : b << 32 | a;
    }
    qsort(keys, body->spring_count, sizeof *keys, compare_keys);
    for (uint64_t s = 1; s < body->spring_count; s++)
        assert_true(keys[s - 1] < keys[s]);
    free(keys);
}

void assert_surface_closed(const struct body *body)
{
    assert_true(body->closed);
    assert_int_equal(body->face_arity, 3);
    uint64_t count = 3 * body->face_count;
    uint64_t *forward = malloc(count * sizeof *forward);
    uint64_t *backward = malloc(count * sizeof *backward);
    assert_non_null(forward);
    assert_non_null(backward);
    for (uint64_t h = 0; h < count; h++) {
        uint64_t a = body->faces[h], b = body->faces[h % 3 == 2 ? h - 2 : h + 1];
        forward[h] = a << 32 | b;
        backward[h] = b << 32 | a;
    }
    qsort(forward, count, sizeof *forward, compare_keys);
    qsort(backward, count, sizeof *backward, compare_keys);
    for (uint64_t h = 0; h < count; h++) {
        assert_true(forward[h] == backward[h]);
        assert_true(h == 0 || forward[h - 1] < forward[h]);
    }
    free(forward);
    free(backward);
}

uint64_t kind_count(const struct body *body, size_t kind)
{
    return body->kind_start[kind + 1] - body->kind_start[kind];
}

double spring_length(const struct body *body, uint64_t spring)
{
    struct spring_ends ends = body_spring(body, spring);
    return vec3_length(vec3_subtract(body_position(body, ends.a), body_position(body, ends.b)));
}

void assert_near(double a, double b, double tolerance)
{
    bool near = fabs(a - b) <= tolerance;
    if (!near)
        print_error("%.17g and %.17g differ by %g, more than %g\n", a, b, fabs(a - b), tolerance);
    assert_true(near);
}

static void assert_triple(const double *values, double x, double y, double z)
{
    double scale = 1.0 + fabs(x) + fabs(y) + fabs(z);
    assert_near(values[0], x, 1e-14 * scale);
    assert_near(values[1], y, 1e-14 * scale);
    assert_near(values[2], z, 1e-14 * scale);
}

void assert_position(const struct body *body, uint64_t node, double x, double y, double z)
{
    assert_true(node < body->node_count);
    const vec3 at = body_position(body, node);
    assert_triple((const double[3]){at.x, at.y, at.z}, x, y, z);
}

void assert_velocity(const struct body *body, uint64_t node, double x, double y, double z)
{
    assert_true(node < body->node_count);
    const vec3 velocity = body_velocity(body, node);
    assert_triple((const double[3]){velocity.x, velocity.y, velocity.z}, x, y, z);
}
