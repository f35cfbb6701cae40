// The readers of a run's own frames (vtp_reader.h, pvd_reader.h, pc2_reader.h and finished_run.h)
// read the files of their writers, and reject everything else with a message.
#include "test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "output/finished_run.h"
#include "output/pc2.h"
#include "output/pvd.h"
#include "output/vtp.h"
#include "output/vtp_reader.h"
#include "output_fixture.h"

static void assert_positions(const struct fixture *fixture, const float *positions)
{
    for (size_t b = 0; b < FIXTURE_BODY_COUNT; b++)
        for (size_t i = 0; i < 3 * fixture->bodies[b].node_count; i++)
            assert_true(*positions++ == (float)fixture->positions[b][i]);
}

// As they are in the file.
static void assert_exact_positions(const struct fixture *fixture, const double *positions)
{
    for (size_t b = 0; b < FIXTURE_BODY_COUNT; b++)
        for (size_t i = 0; i < 3 * fixture->bodies[b].node_count; i++) {
            const double value = fixture->positions[b][i];
            assert_true(*positions++ == (fixture->frame.single ? (double)(float)value : value));
        }
}

static void assert_springs(const struct fixture *fixture, const float *strains,
                           const uint8_t *broken)
{
    for (size_t b = 0; b < FIXTURE_BODY_COUNT; b++) {
        const struct frame_body *body = &fixture->bodies[b];
        for (size_t i = 0; i < body->spring_count; i++) {
            assert_true(*strains++ == (float)fixture->strains[b][i]);
            assert_int_equal(*broken++, fixture->broken[b][i]);
        }
    }
}

static const struct vtp_options with_springs = {.springs = true};

static void check_frame(bool single)
{
    struct fixture fixture;
    fixture_fill(&fixture, 3, single);
    const char *path = fixture_path(fixture_folder("finished-run"), "a.vtp");
    assert_int_equal(vtp_write(path, &fixture.frame, &with_springs, NULL), TAUT_OK);
    struct vtp_frame frame;
    taut_error error = {0};
    assert_int_equal(vtp_frame_open(path, &frame, &error), TAUT_OK);
    assert_int_equal(frame.points, FIXTURE_NODE_COUNT);
    assert_int_equal(frame.lines, FIXTURE_SPRING_COUNT);
    assert_int_equal(frame.verts, 2);
    assert_int_equal(frame.polys, 4);
    assert_true(frame.single == single);
    assert_true(frame.time == 0.75);
    float positions[3 * FIXTURE_NODE_COUNT], strains[FIXTURE_SPRING_COUNT];
    uint8_t broken[FIXTURE_SPRING_COUNT];
    double exact[3 * FIXTURE_NODE_COUNT];
    assert_int_equal(vtp_frame_exact_positions(&frame, exact, &error), TAUT_OK);
    assert_exact_positions(&fixture, exact);
    static const uint32_t faces[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
    uint32_t triangles[4][3], bodies[FIXTURE_NODE_COUNT];
    assert_int_equal(vtp_frame_triangles(&frame, triangles, bodies, &error), TAUT_OK);
    assert_memory_equal(triangles, faces, sizeof faces);
    for (int i = 0; i < 4; i++)
        assert_int_equal(bodies[i], 0);
    assert_int_equal(vtp_frame_node_bodies(&frame, bodies, &error), TAUT_OK);
    for (size_t b = 0, i = 0; b < FIXTURE_BODY_COUNT; b++)
        for (size_t node = 0; node < fixture.bodies[b].node_count; node++)
            assert_int_equal(bodies[i++], b);
    assert_int_equal(frame.name_count, FIXTURE_BODY_COUNT);
    for (size_t b = 0; b < FIXTURE_BODY_COUNT; b++)
        assert_string_equal(frame.names[b], fixture.bodies[b].name);
    // In either order, and more than once.
    for (int round = 0; round < 2; round++) {
        assert_int_equal(vtp_frame_springs(&frame, strains, broken, &error), TAUT_OK);
        assert_int_equal(vtp_frame_positions(&frame, positions, &error), TAUT_OK);
    }
    assert_positions(&fixture, positions);
    assert_springs(&fixture, strains, broken);
    vtp_frame_close(&frame);
}

static void test_frame_in_single(void **state)
{
    (void)state;
    check_frame(true);
}

static void test_frame_in_double(void **state)
{
    (void)state;
    check_frame(false);
}

// Older frames must stay readable: the files in tests/data were written when the readers were made,
// the first two without compression and with all springs.
static void test_frames_of_earlier_days(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        bool single, springs;
    } files[] = {{TAUT_TEST_DATA "/frames/single.vtp", true, true},
                 {TAUT_TEST_DATA "/frames/double.vtp", false, true},
                 {TAUT_TEST_DATA "/frames/compressed.vtp", true, false},
                 {TAUT_TEST_DATA "/frames/compressed-springs.vtp", false, true}};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        struct fixture fixture;
        struct vtp_frame frame;
        taut_error error = {0};
        if (vtp_frame_open(files[i].path, &frame, &error) != TAUT_OK)
            fail_msg("%s", error.text);
        fixture_fill(&fixture, (unsigned)(frame.time / 0.25), files[i].single);
        float positions[3 * FIXTURE_NODE_COUNT], strains[FIXTURE_SPRING_COUNT];
        uint8_t broken[FIXTURE_SPRING_COUNT];
        assert_int_equal(vtp_frame_positions(&frame, positions, &error), TAUT_OK);
        assert_positions(&fixture, positions);
        assert_int_equal(frame.lines, files[i].springs ? FIXTURE_SPRING_COUNT : 6);
        assert_int_equal(vtp_frame_springs(&frame, strains, broken, &error), TAUT_OK);
        if (files[i].springs)
            assert_springs(&fixture, strains, broken);
        assert_int_equal(frame.compressed, i >= 2);
        vtp_frame_close(&frame);
    }
}

static void write_bytes(const char *path, const char *bytes, size_t length)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

static void assert_refused(const char *path, const char *why)
{
    struct vtp_frame frame;
    taut_error error = {0};
    assert_int_equal(vtp_frame_open(path, &frame, &error), TAUT_ERROR_IO);
    assert_contains(error.text, why);
    assert_contains(error.text, path);
}

// A file that is cut anywhere, or has a letter of its head changed, is rejected.
static void test_broken_frames_are_refused(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_fill(&fixture, 0, true);
    const char *folder = fixture_folder("finished-run");
    const char *path = fixture_path(folder, "a.vtp"), *broken = fixture_path(folder, "b.vtp");
    assert_int_equal(vtp_write(path, &fixture.frame, NULL, NULL), TAUT_OK);
    size_t length;
    char *bytes = fixture_read(path, &length);
    size_t head = (size_t)(strstr(bytes, "   _") - bytes) + 4;
    for (size_t cut = 0; cut < length; cut += 37) {
        write_bytes(broken, bytes, cut);
        assert_refused(broken, cut < head ? "its header is different" : "is incomplete");
    }
    for (size_t at = 0; at < head; at++) {
        char kept = bytes[at];
        bytes[at] = 'x';
        write_bytes(broken, bytes, length);
        bytes[at] = kept;
        if (kept != 'x')
            assert_refused(broken, "'");
    }
    assert_refused(fixture_path(folder, "absent.vtp"), "No such file");
    free(bytes);
}

static void assert_unreadable(const char *path, const char *why)
{
    struct vtp_frame frame;
    float values[3 * FIXTURE_NODE_COUNT];
    uint8_t broken[FIXTURE_SPRING_COUNT];
    taut_error error = {0};
    taut_status status = vtp_frame_open(path, &frame, &error);
    if (status == TAUT_OK) {
        status = vtp_frame_positions(&frame, values, &error);
        if (status == TAUT_OK)
            status = vtp_frame_springs(&frame, values, broken, &error);
        vtp_frame_close(&frame);
    }
    assert_int_equal(status, TAUT_ERROR_IO);
    assert_contains(error.text, why);
}

// The head is valid, but the data it refers to is not: its lengths, or the compressed values.
static void test_broken_values_are_refused(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_fill(&fixture, 0, false);
    const char *path = fixture_path(fixture_folder("finished-run"), "a.vtp");
    assert_int_equal(vtp_write(path, &fixture.frame, &with_springs, NULL), TAUT_OK);
    struct vtp_frame frame;
    assert_int_equal(vtp_frame_open(path, &frame, NULL), TAUT_OK);
    const uint64_t arrays[] = {frame.positions.offset, frame.strains.offset, frame.broken.offset};
    vtp_frame_close(&frame);
    const char *changed = fixture_path(TAUT_TEST_OUT "/finished-run", "b.vtp");
    size_t length;
    char *bytes = fixture_read(path, &length);
    for (size_t i = 0; i < 3; i++)
        // The number of blocks, their size, the size of the last, its compressed size; and
        // compressed bytes.
        for (size_t at = 0; at < 32 + 8; at++) {
            char kept = bytes[arrays[i] + at];
            bytes[arrays[i] + at] = (char)~kept;
            write_bytes(changed, bytes, length);
            bytes[arrays[i] + at] = kept;
            assert_unreadable(changed, at < 32 ? "is incomplete" : "cannot be read to its end");
        }
    free(bytes);
}

// A small block that unpacks to gigabytes gets no more memory than the head asks for.
static void test_a_bomb_is_refused(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_fill(&fixture, 0, true);
    const char *folder = fixture_folder("finished-run"), *path = fixture_path(folder, "a.vtp");
    assert_int_equal(vtp_write(path, &fixture.frame, NULL, NULL), TAUT_OK);
    struct vtp_frame frame;
    assert_int_equal(vtp_frame_open(path, &frame, NULL), TAUT_OK);
    uint64_t position = frame.positions.offset;
    vtp_frame_close(&frame);
    size_t length;
    char *bytes = fixture_read(path, &length);
    uint64_t packed;
    memcpy(&packed, bytes + position + 24, sizeof packed);
    // As many compressed bytes, with zeros after the end.
    static unsigned char zeros[50000];
    unsigned char bomb[256] = {0};
    uLongf size = sizeof bomb;
    assert_int_equal(compress2(bomb, &size, zeros, sizeof zeros, 9), Z_OK);
    assert_in_range(size, 1, packed);
    memcpy(bytes + position + 32, bomb, packed < sizeof bomb ? (size_t)packed : sizeof bomb);
    const char *changed = fixture_path(folder, "b.vtp");
    write_bytes(changed, bytes, length);
    assert_unreadable(changed, "cannot be read to its end");
    free(bytes);
}

static void test_numbers_that_are_none_are_refused(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct fixture fixture;
        fixture_fill(&fixture, 0, i == 0);
        fixture.positions[FIXTURE_ROPE][4] = i == 0 ? NAN : INFINITY;
        const char *path = fixture_path(fixture_folder("finished-run"), "a.vtp");
        assert_int_equal(vtp_write(path, &fixture.frame, NULL, NULL), TAUT_OK);
        assert_unreadable(path, "positions that are not numbers");
    }
}

static void test_collection(void **state)
{
    (void)state;
    const char *path = fixture_path(fixture_folder("finished-run"), "c.pvd");
    const struct pvd_frame written[] = {
        {.time = 0}, {.time = 0.1, .in_pieces = true}, {.time = 0.25}};
    const char *name = "a & <\"b's\">";
    assert_int_equal(pvd_write(path, name, written, 3, NULL), TAUT_OK);
    struct pvd_frame *frames = NULL;
    size_t count = 0;
    taut_error error = {0};
    assert_int_equal(pvd_read(path, name, &frames, &count, &error), TAUT_OK);
    assert_int_equal(count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_true(frames[i].time == written[i].time);
        assert_int_equal(frames[i].in_pieces, written[i].in_pieces);
    }
    free(frames);
    assert_int_equal(pvd_read(path, "another", &frames, &count, &error), TAUT_ERROR_IO);
    assert_non_null(strstr(error.text, "is not a collection that taut wrote"));
    assert_int_equal(pvd_write(path, name, NULL, 0, NULL), TAUT_OK);
    assert_int_equal(pvd_read(path, name, &frames, &count, &error), TAUT_OK);
    assert_int_equal(count, 0);
    free(frames);
    const struct pvd_frame back[] = {{.time = 1}, {.time = 0.5}};
    assert_int_equal(pvd_write(path, name, back, 2, NULL), TAUT_OK);
    assert_int_equal(pvd_read(path, name, &frames, &count, &error), TAUT_ERROR_IO);
}

static const struct finished_body bodies[] = {
    {"tet", 5, 7}, {"rope", 3, 2}, {"ring-2D", 4, 4}, {"bob", 2, 0}};
static const struct finished_system fixture_system = {
    .bodies = bodies,
    .body_count = FIXTURE_BODY_COUNT,
    .node_count = FIXTURE_NODE_COUNT,
    .spring_count = FIXTURE_SPRING_COUNT,
    .end = 0.7,
};

static void write_caches(const char *folder, unsigned frames)
{
    for (size_t b = 0; b < FIXTURE_BODY_COUNT; b++) {
        char name[64];
        snprintf(name, sizeof name, "%s.pc2", bodies[b].name);
        struct pc2 cache;
        assert_int_equal(
            pc2_open(&cache, fixture_path(folder, name), bodies[b].node_count, 0, 0.4, NULL),
            TAUT_OK);
        for (unsigned frame = 0; frame < frames; frame++) {
            struct fixture fixture;
            fixture_fill(&fixture, frame, true);
            assert_int_equal(pc2_add(&cache, fixture.positions[b], NULL), TAUT_OK);
        }
        assert_int_equal(pc2_close(&cache, NULL), TAUT_OK);
    }
}

static void write_frames(const char *folder, unsigned frames)
{
    struct pvd_frame listed[16];
    for (unsigned frame = 0; frame < frames; frame++) {
        char name[64];
        snprintf(name, sizeof name, "fix_%06u.vtp", frame);
        struct fixture fixture;
        fixture_fill(&fixture, frame, true);
        listed[frame] = (struct pvd_frame){.time = fixture.frame.time};
        assert_int_equal(vtp_write(fixture_path(folder, name), &fixture.frame, NULL, NULL),
                         TAUT_OK);
    }
    assert_int_equal(pvd_write(fixture_path(folder, "fix.pvd"), "fix", listed, frames, NULL),
                     TAUT_OK);
}

static void assert_second_frame(struct finished_run *run, bool with_strains)
{
    struct fixture fixture;
    fixture_fill(&fixture, 1, true);
    float positions[3 * FIXTURE_NODE_COUNT], strains[FIXTURE_SPRING_COUNT];
    double read_strains[FIXTURE_SPRING_COUNT];
    uint8_t broken[FIXTURE_SPRING_COUNT];
    struct frame frame = {.allocated = FRAME_DRAWN_POSITIONS | FRAME_SPRINGS,
                          .drawn_positions = positions,
                          .strains = read_strains,
                          .broken = broken};
    taut_error error = {0};
    assert_int_equal(finished_run_read(run, 1, FRAME_SPRINGS, &frame, &error), TAUT_OK);
    assert_positions(&fixture, positions);
    assert_true(frame_has(&frame, FRAME_DRAWN_POSITIONS));
    assert_true(frame.time == run->times[1]);
    bool has_strains = frame_has(&frame, FRAME_SPRINGS);
    assert_true(has_strains == with_strains);
    for (size_t i = 0; i < FIXTURE_SPRING_COUNT && has_strains; i++)
        strains[i] = (float)read_strains[i];
    // The frames have no strains of the tetrahedron's springs, since they have its triangles.
    for (size_t i = 0; i < 7 && has_strains; i++) {
        assert_true(isnan(strains[i]));
        assert_int_equal(broken[i], 0);
        strains[i] = (float)fixture.strains[FIXTURE_TETRAHEDRON][i];
    }
    if (has_strains)
        assert_springs(&fixture, strains, broken);
}

static void test_run_of_caches(void **state)
{
    (void)state;
    const char *folder = fixture_folder("finished-run");
    write_caches(folder, 3);
    struct finished_run run;
    taut_error error = {0};
    assert_int_equal(finished_run_open(folder, &fixture_system, &run, &error), TAUT_OK);
    assert_int_equal(run.frame_count, 3);
    assert_true(run.times[1] == 0.4); // not the value of the float 0.4f
    assert_true(run.times[2] == 0.7); // the run ends before the time of the third sample
    assert_int_equal(finished_run_nearest(&run, 0.1), 0);
    assert_int_equal(finished_run_nearest(&run, 0.45), 1);
    assert_int_equal(finished_run_nearest(&run, 99), 2);
    assert_second_frame(&run, false);
    finished_run_close(&run);
}

// Frames have strains, so they are preferred to caches.
static void test_run_of_frames(void **state)
{
    (void)state;
    const char *folder = fixture_folder("finished-run");
    write_caches(folder, 2);
    write_frames(folder, 3);
    struct finished_run run;
    taut_error error = {0};
    assert_int_equal(finished_run_open(folder, &fixture_system, &run, &error), TAUT_OK);
    assert_int_equal(run.frame_count, 3);
    assert_string_equal(run.name, "fix");
    assert_second_frame(&run, true);
    finished_run_close(&run);
}

static void assert_no_run(const char *folder, const struct finished_system *expected,
                          const char *why)
{
    struct finished_run run;
    taut_error error = {0};
    float positions[3 * FIXTURE_NODE_COUNT + 3];
    struct frame frame = {.allocated = FRAME_DRAWN_POSITIONS, .drawn_positions = positions};
    taut_status status = finished_run_open(folder, expected, &run, &error);
    if (status == TAUT_OK) {
        status = finished_run_read(&run, 0, FRAME_SPRINGS, &frame, &error);
        finished_run_close(&run);
    }
    assert_int_equal(status, TAUT_ERROR_IO);
    assert_contains(error.text, why);
}

static void test_what_is_no_run(void **state)
{
    (void)state;
    const char *folder = fixture_folder("finished-run");
    assert_null(finished_run_scene(folder, NULL));
    assert_no_run(folder, &fixture_system, "has no frames: neither a .pvd");
    write_caches(folder, 0);
    assert_no_run(folder, &fixture_system, "has no frames");
    write_caches(fixture_folder("finished-run"), 2);
    struct finished_body others[FIXTURE_BODY_COUNT];
    memcpy(others, bodies, sizeof others);
    others[1].node_count = 4;
    struct finished_system other = fixture_system;
    other.bodies = others;
    assert_no_run(folder, &other, "it is not of the run that scene.yaml describes");
    write_frames(folder, 1);
    others[1].node_count = 3;
    others[1].spring_count++;
    assert_no_run(folder, &other, "but scene.yaml makes 14 and");
    fixture_write(fixture_path(folder, "second.pvd"), "");
    assert_no_run(folder, &fixture_system, "has several collections");
    assert_no_run("/nonexistent", &fixture_system, "cannot read the folder");
}

static void test_broken_caches(void **state)
{
    (void)state;
    const char *folder = fixture_folder("finished-run");
    write_caches(folder, 2);
    const char *path = fixture_path(folder, "tet.pc2");
    size_t length;
    char *bytes = fixture_read(path, &length);
    static const struct {
        size_t at;
        char value;
        const char *why;
    } faults[] = {
        {0, 'Q', "is not a point cache"},         {11, 1, "is not a point cache"},
        {12, 2, "is not a point cache"},          {19, (char)0x80, "is not a point cache"},
        {27, (char)0xbf, "is not a point cache"}, {28, 3, "is shorter than its header states"},
    };
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        char kept = bytes[faults[i].at];
        bytes[faults[i].at] = faults[i].value;
        write_bytes(path, bytes, length);
        bytes[faults[i].at] = kept;
        assert_no_run(folder, &fixture_system, faults[i].why);
    }
    for (size_t cut = 0; cut < 32; cut++) {
        write_bytes(path, bytes, cut);
        assert_no_run(folder, &fixture_system, "is not a point cache");
    }
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frame_in_single),
        cmocka_unit_test(test_frame_in_double),
        cmocka_unit_test(test_frames_of_earlier_days),
        cmocka_unit_test(test_broken_frames_are_refused),
        cmocka_unit_test(test_broken_values_are_refused),
        cmocka_unit_test(test_a_bomb_is_refused),
        cmocka_unit_test(test_numbers_that_are_none_are_refused),
        cmocka_unit_test(test_collection),
        cmocka_unit_test(test_run_of_caches),
        cmocka_unit_test(test_run_of_frames),
        cmocka_unit_test(test_what_is_no_run),
        cmocka_unit_test(test_broken_caches),
    };
    return cmocka_run_group_tests_name("finished_run", tests, NULL, NULL);
}
