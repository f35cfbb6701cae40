// Frames in pieces, as several ranks write them: read back they are the whole frame, and pieces
// that do not make up one are refused. tests/test_mpi.py has those of runs.
#include "test.h"

#include "output/vtp.h"
#include "output/vtp_pieces.h"
#include "output/vtp_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output_fixture.h"
#include "pieces_fixture.h"

enum { RANKS_MAX = 4 };

// The whole frame, and its pieces.
struct cutting {
    struct fixture fixture;
    struct vtp_options options;
    const char *folder;
    struct cut cuts[RANKS_MAX];
    int ranks;
};

static void cut_all(struct cutting *cutting, bool single, bool springs, const uint64_t *ends)
{
    bool with_lines[FIXTURE_BODY_COUNT];
    *cutting = (struct cutting){.options = {.springs = springs, .forces = true}};
    cutting->folder = fixture_folder("pieces");
    fixture_fill(&cutting->fixture, 1, single);
    const struct frame *whole = &cutting->fixture.frame;
    for (size_t b = 0; b < FIXTURE_BODY_COUNT; b++)
        with_lines[b] = vtp_has_lines(&cutting->options, &whole->bodies[b]);
    for (uint64_t first = 0; first < FIXTURE_NODE_COUNT; first = ends[cutting->ranks++])
        cut_piece(whole, with_lines, first, ends[cutting->ranks], &cutting->cuts[cutting->ranks]);
}

// Two pieces that divide the tetrahedron: of its springs and triangles both have some.
static void cut_in_two(struct cutting *cutting)
{
    static const uint64_t ends[] = {1, FIXTURE_NODE_COUNT};
    cut_all(cutting, false, true, ends);
}

static const char *piece_path(const struct cutting *cutting, int rank)
{
    char name[64], ending[VTP_PIECE_ENDING];
    vtp_piece_ending(rank, ending);
    snprintf(name, sizeof name, "whole%s", ending);
    return fixture_path(cutting->folder, name);
}

static const char *list_path(const struct cutting *cutting)
{
    return fixture_path(cutting->folder, "whole.pvtp");
}

// Writes the pieces, and the list of `listed` of them.
static void write_pieces(const struct cutting *cutting, const int *listed, size_t count)
{
    const char *names[RANKS_MAX];
    for (int rank = 0; rank < cutting->ranks; rank++)
        assert_int_equal(vtp_write(piece_path(cutting, rank), &cutting->cuts[rank].frame,
                                   &cutting->options, NULL),
                         TAUT_OK);
    char texts[RANKS_MAX][64];
    for (size_t i = 0; i < count; i++) {
        snprintf(texts[i], sizeof texts[i], "%s", strrchr(piece_path(cutting, listed[i]), '/') + 1);
        names[i] = texts[i];
    }
    assert_int_equal(vtp_write_pieces(list_path(cutting), &cutting->cuts[0].frame,
                                      &cutting->options, names, count, NULL),
                     TAUT_OK);
}

static const int in_order[RANKS_MAX] = {0, 1, 2, 3};

// All values of a frame in a file.
struct values {
    struct vtp_frame frame;
    double exact[3 * CUT_NODES];
    float rounded[3 * CUT_NODES], strains[CUT_SPRINGS];
    uint8_t broken[CUT_SPRINGS];
    uint32_t triangles[CUT_FACES][3], triangle_bodies[CUT_FACES], node_bodies[CUT_NODES];
};

static void read_values(const char *path, struct values *values)
{
    taut_error error = {0};
    *values = (struct values){.frame = {.path = NULL}};
    taut_status status = vtp_frame_open(path, &values->frame, &error);
    if (status != TAUT_OK)
        fail_msg("%s", error.text);
    status |= vtp_frame_exact_positions(&values->frame, values->exact, &error);
    status |= vtp_frame_positions(&values->frame, values->rounded, &error);
    status |= vtp_frame_springs(&values->frame, values->strains, values->broken, &error);
    status |=
        vtp_frame_triangles(&values->frame, values->triangles, values->triangle_bodies, &error);
    status |= vtp_frame_node_bodies(&values->frame, values->node_bodies, &error);
    if (status != TAUT_OK)
        fail_msg("%s", error.text);
}

static void check_pieces(bool single, bool springs, const uint64_t *ends)
{
    static struct cutting cutting;
    static struct values whole, pieces;
    cut_all(&cutting, single, springs, ends);
    assert_int_equal(vtp_write(fixture_path(cutting.folder, "whole.vtp"), &cutting.fixture.frame,
                               &cutting.options, NULL),
                     TAUT_OK);
    write_pieces(&cutting, in_order, (size_t)cutting.ranks);
    read_values(fixture_path(cutting.folder, "whole.vtp"), &whole);
    read_values(list_path(&cutting), &pieces);

    const struct vtp_frame *a = &whole.frame, *b = &pieces.frame;
    assert_true(a->time == b->time && a->single == b->single);
    assert_int_equal(a->points, b->points);
    assert_int_equal(a->verts, b->verts);
    assert_int_equal(a->lines, b->lines);
    assert_int_equal(a->polys, b->polys);
    assert_int_equal(a->points, FIXTURE_NODE_COUNT);
    assert_int_equal(a->lines, springs ? 7 + 2 + 4 : 2 + 4);
    assert_int_equal(a->polys, 4);
    assert_memory_equal(whole.exact, pieces.exact, sizeof whole.exact);
    assert_memory_equal(whole.rounded, pieces.rounded, sizeof whole.rounded);
    assert_memory_equal(whole.strains, pieces.strains, sizeof whole.strains);
    assert_memory_equal(whole.broken, pieces.broken, sizeof whole.broken);
    assert_memory_equal(whole.triangles, pieces.triangles, sizeof whole.triangles);
    assert_memory_equal(whole.triangle_bodies, pieces.triangle_bodies,
                        sizeof whole.triangle_bodies);
    assert_memory_equal(whole.node_bodies, pieces.node_bodies, sizeof whole.node_bodies);
    vtp_frame_close(&whole.frame);
    vtp_frame_close(&pieces.frame);
}

// Cuts between bodies and within them, also of two nodes each.
static void test_pieces_make_up_the_frame(void **state)
{
    (void)state;
    static const uint64_t cuts[][RANKS_MAX] = {{FIXTURE_NODE_COUNT},
                                               {5, FIXTURE_NODE_COUNT},
                                               {1, FIXTURE_NODE_COUNT},
                                               {2, 6, 10, FIXTURE_NODE_COUNT},
                                               {4, 7, 13, FIXTURE_NODE_COUNT}};
    for (size_t i = 0; i < sizeof cuts / sizeof cuts[0]; i++)
        for (int kind = 0; kind < 4; kind++)
            check_pieces(kind & 1, kind & 2, cuts[i]);
}

static void expect_refusal(const taut_error *error, const char *file, const char *reason)
{
    if (!strstr(error->text, file) || !strstr(error->text, reason))
        fail_msg("'%s' does not name '%s' and '%s'", error->text, file, reason);
}

static void expect_unreadable(const struct cutting *cutting, const char *file, const char *reason)
{
    struct vtp_frame frame;
    taut_error error = {0};
    assert_int_equal(vtp_frame_open(list_path(cutting), &frame, &error), TAUT_ERROR_IO);
    expect_refusal(&error, file, reason);
}

static void test_lists_of_other_pieces_are_refused(void **state)
{
    (void)state;
    static struct cutting cutting;
    cut_in_two(&cutting);
    write_pieces(&cutting, in_order, 1);
    expect_unreadable(&cutting, "whole.pvtp", "do not make up a frame");
    cut_in_two(&cutting);
    write_pieces(&cutting, (int[]){0, 1, 1}, 3);
    expect_unreadable(&cutting, "whole.pvtp", "do not make up a frame");
    cut_in_two(&cutting);
    write_pieces(&cutting, in_order, 0);
    expect_unreadable(&cutting, "whole.pvtp", "do not make up a frame");

    cut_in_two(&cutting);
    cutting.cuts[1].frame.time += 1;
    write_pieces(&cutting, in_order, 2);
    expect_unreadable(&cutting, "whole_0001.vtp", "not a piece of the same frame");

    cut_in_two(&cutting);
    write_pieces(&cutting, in_order, 2);
    assert_int_equal(remove(piece_path(&cutting, 1)), 0);
    expect_unreadable(&cutting, "whole_0001.vtp", "cannot read");
    assert_int_equal(
        vtp_write(piece_path(&cutting, 1), &cutting.fixture.frame, &cutting.options, NULL),
        TAUT_OK);
    expect_unreadable(&cutting, "whole_0001.vtp", "not a piece of the same frame");
}

// Counts of a whole frame for which no file is long enough are refused before there is memory for
// it.
static void test_more_points_than_all_pieces_have(void **state)
{
    (void)state;
    static struct cutting cutting;
    cut_in_two(&cutting);
    static struct frame_body bodies[FIXTURE_BODY_COUNT];
    memcpy(bodies, cutting.fixture.bodies, sizeof bodies);
    bodies[FIXTURE_ROPE].node_count += (uint64_t)1 << 39;
    cutting.cuts[0].piece.whole = cutting.cuts[1].piece.whole = bodies;
    write_pieces(&cutting, in_order, 2);
    expect_unreadable(&cutting, "whole.pvtp", "do not make up a frame");
}

static void write_and_open(const struct cutting *cutting, struct vtp_frame *frame)
{
    write_pieces(cutting, in_order, 2);
    assert_int_equal(vtp_frame_open(list_path(cutting), frame, NULL), TAUT_OK);
}

static void test_numbers_that_occur_twice_are_refused(void **state)
{
    (void)state;
    static struct cutting cutting;
    static struct values values;
    taut_error error = {0};
    struct vtp_frame *frame = &values.frame;

    cut_in_two(&cutting);
    cutting.cuts[1].nodes[0] = 0; // node 1 is its own
    write_and_open(&cutting, frame);
    // The other piece has a copy.
    assert_int_equal(vtp_frame_exact_positions(frame, values.exact, &error), TAUT_OK);
    vtp_frame_close(frame);

    cut_in_two(&cutting);
    cutting.cuts[1].nodes[5] = 4; // of node 5 there is no copy
    cutting.cuts[1].lines[0].number = 0;
    cutting.cuts[1].face_numbers[0] = 0;
    write_and_open(&cutting, frame);
    assert_int_equal(vtp_frame_exact_positions(frame, values.exact, &error), TAUT_ERROR_IO);
    expect_refusal(&error, "whole.pvtp", "lack points");
    assert_int_equal(vtp_frame_positions(frame, values.rounded, &error), TAUT_ERROR_IO);
    assert_int_equal(vtp_frame_node_bodies(frame, values.node_bodies, &error), TAUT_ERROR_IO);
    assert_int_equal(vtp_frame_springs(frame, values.strains, values.broken, &error),
                     TAUT_ERROR_IO);
    expect_refusal(&error, "whole.pvtp", "lack springs");
    assert_int_equal(vtp_frame_triangles(frame, values.triangles, values.triangle_bodies, &error),
                     TAUT_ERROR_IO);
    expect_refusal(&error, "whole.pvtp", "lack triangles");
    vtp_frame_close(frame);

    cut_in_two(&cutting);
    cutting.cuts[1].lines[0].number = (uint64_t)-1; // before the first spring
    cutting.cuts[1].face_numbers[0] = 4;            // behind the last triangle
    write_and_open(&cutting, frame);
    assert_int_equal(vtp_frame_springs(frame, values.strains, values.broken, &error),
                     TAUT_ERROR_IO);
    expect_refusal(&error, "whole_0001.vtp", "wrong numbers");
    assert_int_equal(vtp_frame_triangles(frame, values.triangles, values.triangle_bodies, &error),
                     TAUT_ERROR_IO);
    expect_refusal(&error, "whole_0001.vtp", "wrong numbers");
    vtp_frame_close(frame);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces_make_up_the_frame),
        cmocka_unit_test(test_lists_of_other_pieces_are_refused),
        cmocka_unit_test(test_more_points_than_all_pieces_have),
        cmocka_unit_test(test_numbers_that_occur_twice_are_refused),
    };
    return cmocka_run_group_tests_name("pieces", tests, NULL, NULL);
}
