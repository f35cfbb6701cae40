// recording.h: what a run leaves, and what becomes of the files that were there before.
#include "output/recording.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "output_fixture.h"

#include <cmocka.h>

static const struct recording_probe probe = {FIXTURE_ROPE, 2, 10};

static struct recording_options all_of_it(const char *folder)
{
    return (struct recording_options){.folder = folder,
                                      .name = "flag",
                                      .resolved_yaml = "title: x\n",
                                      .vtp = true,
                                      .pc2 = true,
                                      .frame_seconds = 0.25,
                                      .probes = &probe,
                                      .probe_count = 1};
}

// A run of so many frames; the list of its files as one text, a name a line.
static void record(const struct recording_options *options, unsigned frames, char *names,
                   size_t size)
{
    struct fixture fixture;
    struct recording *recording;
    taut_error error = {0};
    fixture_fill(&fixture, 0, true);
    if (recording_open(options, &fixture.snapshot, &recording, &error) != TAUT_OK)
        fail_msg("%s", error.text);
    for (unsigned frame = 0; frame < frames; frame++) {
        fixture_fill(&fixture, frame, true);
        if (recording_wants_probe(recording, fixture.snapshot.step))
            assert_int_equal(recording_probe(recording, &fixture.snapshot, &error), TAUT_OK);
        assert_int_equal(recording_frame(recording, &fixture.snapshot, &error), TAUT_OK);
    }
    char **files;
    size_t count, length = 0;
    assert_int_equal(recording_close(recording, &files, &count, &error), TAUT_OK);
    for (size_t i = 0; i < count; i++) {
        assert_true(fixture_exists(files[i]));
        length +=
            (size_t)snprintf(names + length, size - length, "%s\n", strrchr(files[i], '/') + 1);
        assert_true(length < size);
        free(files[i]);
    }
    free(files);
}

static void assert_refused(const struct recording_options *options, const char *reason)
{
    struct fixture fixture;
    struct recording *recording;
    taut_error error = {0};
    fixture_fill(&fixture, 0, true);
    assert_int_equal(recording_open(options, &fixture.snapshot, &recording, &error), TAUT_ERROR_IO);
    assert_null(recording);
    if (!strstr(error.text, reason))
        fail_msg("'%s' does not say '%s'", error.text, reason);
}

static void assert_text(const char *path, const char *expected)
{
    char *text = fixture_read(path, NULL);
    assert_string_equal(text, expected);
    free(text);
}

static void test_files_of_a_whole_run(void **state)
{
    (void)state;
    const char *folder = fixture_folder("recording");
    struct recording_options options = all_of_it(folder);
    char names[2048];
    record(&options, 2, names, sizeof names);
    assert_string_equal(names, "scene.yaml\nenergy.csv\nprobes.csv\nflag.pvd\n"
                               "tet.obj\ntet.pc2\nrope.obj\nrope.pc2\nring-2D.obj\nring-2D.pc2\n"
                               "bob.obj\nbob.pc2\nflag_000000.vtp\nflag_000001.vtp\n");
    assert_int_equal(fixture_count(folder), 14);
    assert_text(fixture_path(folder, "scene.yaml"),
                "# taut: the scene of this run, resolved.\ntitle: x\n");
    assert_text(fixture_path(folder, "probes.csv"),
                "step,time,body,node,x,y,z,vx,vy,vz\n"
                "0,0,rope,2,35.3333333,35.6666667,36,-2,-2.33333333,-2.66666667\n"
                "10,0.25,rope,2,35.4333333,35.7666667,36.1,-3,-3.33333333,-3.66666667\n");
    char *energy = fixture_read(fixture_path(folder, "energy.csv"), NULL);
    assert_non_null(strstr(energy, "\n10,0.25,2,"));
    free(energy);
    char *collection = fixture_read(fixture_path(folder, "flag.pvd"), NULL);
    assert_non_null(strstr(collection, "\"0\" part=\"0\" file=\"flag_000000.vtp\""));
    assert_non_null(strstr(collection, "\"0.25\" part=\"0\" file=\"flag_000001.vtp\""));
    free(collection);
}

static void test_tables_only(void **state)
{
    (void)state;
    const char *folder = fixture_folder("recording");
    struct recording_options options = {.folder = folder, .name = "flag", .resolved_yaml = ""};
    char names[2048];
    record(&options, 3, names, sizeof names);
    assert_string_equal(names, "scene.yaml\nenergy.csv\n");
    assert_int_equal(fixture_count(folder), 2);
}

static void test_folder_is_made_with_its_parents(void **state)
{
    (void)state;
    const char *folder = fixture_path(fixture_folder("recording"), "a/b//c/");
    struct recording_options options = {.folder = folder, .name = "flag", .resolved_yaml = ""};
    char names[2048];
    record(&options, 1, names, sizeof names);
    assert_true(fixture_exists(fixture_path(folder, "energy.csv")));
}

static void test_existing_run_needs_force(void **state)
{
    (void)state;
    static const char *const signs[] = {"scene.yaml", "energy.csv", "flag.pvd", "flag_000000.vtp"};
    const char *folder = fixture_folder("recording");
    struct recording_options options = all_of_it(folder);
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++) {
        folder = fixture_folder("recording");
        char names[2048];
        record(&options, 1, names, sizeof names);
        const char *keep = fixture_path(folder, "keep"), *sign = fixture_path(folder, signs[i]);
        assert_int_equal(rename(sign, keep), 0);
        char moved[1024];
        snprintf(moved, sizeof moved, "%s/../recording-keep", folder);
        assert_int_equal(rename(keep, moved), 0);
        folder = fixture_folder("recording");
        assert_int_equal(rename(moved, fixture_path(folder, signs[i])), 0);
        char reason[256];
        snprintf(reason, sizeof reason,
                 "already holds a run (%s): replace it with --force, or choose another folder",
                 signs[i]);
        assert_refused(&options, reason);
        assert_int_equal(fixture_count(folder), 1);
    }
}

static void test_force_removes_the_earlier_run_and_nothing_else(void **state)
{
    (void)state;
    const char *folder = fixture_folder("recording");
    struct recording_options options = all_of_it(folder);
    char names[2048];
    record(&options, 3, names, sizeof names);
    static const char *const others[] = {"notes.txt",        "flag_12.vtp", "flag_extra.vtp",
                                         "other_000000.vtp", "mesh.obj",    "mesh.pc2",
                                         "flag.pvd.backup",  "energy.csv~", "render.png.tmp"};
    enum { OTHERS = sizeof others / sizeof others[0] };
    for (size_t i = 0; i < OTHERS; i++)
        fixture_write(fixture_path(folder, others[i]), others[i]);
    fixture_write(fixture_path(folder, "summary.json"), "{}");
    fixture_write(fixture_path(folder, "flag_000003.vtp.tmp"), "<?xml vers");
    options = (struct recording_options){
        .folder = folder, .name = "flag", .resolved_yaml = "", .force = true};
    record(&options, 1, names, sizeof names);
    assert_string_equal(names, "scene.yaml\nenergy.csv\n");
    assert_int_equal(fixture_count(folder), 2 + OTHERS);
    for (size_t i = 0; i < OTHERS; i++)
        assert_text(fixture_path(folder, others[i]), others[i]);
}

// A scene of the user's in the output folder, or a mesh that is called as a body, must survive even
// --force.
static void test_files_of_others_are_never_written_over(void **state)
{
    (void)state;
    static const char *const names[] = {"scene.yaml",      "energy.csv", "probes.csv", "flag.pvd",
                                        "flag_000000.vtp", "tet.obj",    "rope.pc2"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        for (int force = 0; force < 2; force++) {
            const char *folder = fixture_folder("recording");
            struct recording_options options = all_of_it(folder);
            options.force = force;
            const char *path = fixture_path(folder, names[i]);
            fixture_write(path, "v 1 2 3 # of my own\n");
            char reason[256];
            snprintf(reason, sizeof reason, "%s' is in the way and was not written by taut",
                     names[i]);
            assert_refused(&options, reason);
            assert_text(path, "v 1 2 3 # of my own\n");
            assert_int_equal(fixture_count(folder), 1);
        }
    }
}

static void test_mesh_of_others_stays_where_no_cache_is_asked_for(void **state)
{
    (void)state;
    const char *folder = fixture_folder("recording");
    const char *path = fixture_path(folder, "tet.obj");
    fixture_write(path, "v 1 2 3\n");
    struct recording_options options = {.folder = folder, .name = "flag", .resolved_yaml = ""};
    char names[2048];
    record(&options, 1, names, sizeof names);
    options.force = true;
    record(&options, 1, names, sizeof names);
    assert_text(path, "v 1 2 3\n");
}

// What a full disk left of a file's beginning is still ours.
static void test_force_removes_a_file_cut_short(void **state)
{
    (void)state;
    const char *folder = fixture_folder("recording");
    fixture_write(fixture_path(folder, "energy.csv"), "step,ti");
    struct recording_options options = {
        .folder = folder, .name = "flag", .resolved_yaml = "", .force = true};
    char names[2048];
    record(&options, 1, names, sizeof names);
    char *energy = fixture_read(fixture_path(folder, "energy.csv"), NULL);
    assert_non_null(strstr(energy, "step,time,kinetic"));
    free(energy);
}

static void test_names_that_cannot_be_files(void **state)
{
    (void)state;
    static const char *const names[] = {"", "a/b", "a\nb", "a\x7f"};
    const char *folder = fixture_folder("recording");
    struct fixture fixture;
    fixture_fill(&fixture, 0, true);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct recording_options options = {
            .folder = folder, .name = names[i], .resolved_yaml = ""};
        struct recording *recording;
        taut_error error = {0};
        assert_int_equal(recording_open(&options, &fixture.snapshot, &recording, &error),
                         TAUT_ERROR_ARGUMENT);
        assert_non_null(strstr(error.text, "cannot be part of file names"));
        assert_int_equal(fixture_count(folder), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files_of_a_whole_run),
        cmocka_unit_test(test_tables_only),
        cmocka_unit_test(test_folder_is_made_with_its_parents),
        cmocka_unit_test(test_existing_run_needs_force),
        cmocka_unit_test(test_force_removes_the_earlier_run_and_nothing_else),
        cmocka_unit_test(test_files_of_others_are_never_written_over),
        cmocka_unit_test(test_mesh_of_others_stays_where_no_cache_is_asked_for),
        cmocka_unit_test(test_force_removes_a_file_cut_short),
        cmocka_unit_test(test_names_that_cannot_be_files),
    };
    return cmocka_run_group_tests_name("recording", tests, NULL, NULL);
}
