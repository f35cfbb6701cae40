// recording.h if the disk is full, or the folder is missing or not writable: a clear error, and all
// earlier frames are complete.
#include "test.h"

#include "output/recording.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "output_fixture.h"

static size_t length_of(const char *folder, const char *name)
{
    struct stat status;
    assert_int_equal(stat(fixture_path(folder, name), &status), 0);
    return (size_t)status.st_size;
}

// A recording of three frames, about to write its fourth.
static struct recording *record_three(const struct recording_options *options,
                                      struct fixture *fixture)
{
    struct recording *recording;
    taut_error error = {0};
    fixture_fill(fixture, 0, false);
    if (recording_open(options, &fixture->frame, &recording, &error) != TAUT_OK)
        fail_msg("%s", error.text);
    for (unsigned frame = 0; frame < 3; frame++) {
        fixture_fill(fixture, frame, false);
        assert_int_equal(recording_frame(recording, &fixture->frame, &error), TAUT_OK);
    }
    fixture_fill(fixture, 3, false);
    return recording;
}

// The fourth frame must fail with this error; afterwards everything is closed without another
// error.
static void fail_fourth(struct recording *recording, const struct fixture *fixture, rlim_t limit,
                        const char *reason, size_t expected_files)
{
    taut_error error = {0};
    fixture_limit_file_size(limit);
    taut_status status = recording_frame(recording, &fixture->frame, &error);
    fixture_limit_file_size(RLIM_INFINITY);
    assert_int_equal(status, TAUT_ERROR_IO);
    assert_contains(error.text, reason);
    char **files;
    size_t count;
    assert_int_equal(recording_close(recording, &files, &count, &error), TAUT_OK);
    assert_int_equal(count, expected_files);
    for (size_t i = 0; i < count; i++)
        free(files[i]);
    free(files);
}

// Runs a reader of tests/; skips the test if it cannot run.
static void assert_readable(const char *script, const char *path, const char *expected)
{
    if (!fixture_exists("/usr/bin/python3")) {
        print_message("skipped in part: no /usr/bin/python3 here\n");
        return;
    }
    char command[2048];
    snprintf(command, sizeof command, "/usr/bin/python3 '%s/tests/%s' '%s' 2>&1", TAUT_TEST_SOURCE,
             script, path);
    int code;
    char *text = fixture_run(command, &code);
    if (code == 77) {
        print_message("skipped in part: %s", text);
    } else {
        assert_int_equal(code, 0);
        assert_contains(text, expected);
    }
    free(text);
}

static size_t count_of(const char *path, const char *word)
{
    char *text = fixture_read(path, NULL);
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, word)) != NULL; at++)
        count++;
    free(text);
    return count;
}

static void test_disk_full_in_a_frame(void **state)
{
    (void)state;
    const char *folder = fixture_folder("failures");
    struct recording_options options = {
        .folder = folder, .name = "flag", .resolved_yaml = "", .vtp = true};
    struct fixture fixture;
    struct recording *recording = record_three(&options, &fixture);
    fail_fourth(recording, &fixture, length_of(folder, "flag_000002.vtp") - 100,
                "flag_000003.vtp': File too large", 7);
    assert_false(fixture_has_temporary(folder));
    assert_int_equal(fixture_count(folder), 7);
    const char *collection = fixture_path(folder, "flag.pvd");
    assert_int_equal(count_of(collection, ".vtp\""), 3);
    assert_readable("read_vtp.py", collection,
                    "0.5 flag_000002.vtp: time 0.5, 14 points, 12 cells\n");
    assert_int_equal(count_of(fixture_path(folder, "energy.csv"), "\n"), 4);
}

// The manifest grows faster than the collection: a frame that it cannot list is removed.
static void test_disk_full_in_the_manifest(void **state)
{
    (void)state;
    const char *folder = fixture_folder("failures");
    char name[101];
    memset(name, 'n', 100);
    name[100] = '\0';
    struct recording_options options = {
        .folder = folder, .name = name, .resolved_yaml = "", .vtp = true};
    struct fixture fixture;
    struct frame empty;
    struct recording *recording;
    taut_error error = {0};
    fixture_fill(&fixture, 0, false);
    empty = fixture.frame;
    empty.shape.body_count = 0;
    assert_int_equal(recording_open(&options, &empty, &recording, &error), TAUT_OK);
    size_t frames = 0;
    while (length_of(folder, "manifest.json") < 8000) {
        assert_int_equal(recording_frame(recording, &empty, &error), TAUT_OK);
        frames++;
    }
    // First when the frame is announced, then when it is listed.
    for (size_t room = 20; room <= 180; room += 160) {
        fixture_limit_file_size(length_of(folder, "manifest.json") + room);
        taut_status status = recording_frame(recording, &empty, &error);
        fixture_limit_file_size(RLIM_INFINITY);
        assert_int_equal(status, TAUT_ERROR_IO);
        assert_non_null(strstr(error.text, "manifest.json': File too large"));
    }
    assert_int_equal(recording_close(recording, NULL, NULL, &error), TAUT_OK);
    char collection[128];
    snprintf(collection, sizeof collection, "%s.pvd", name);
    assert_int_equal(count_of(fixture_path(folder, collection), ".vtp\""), frames);
    assert_int_equal(count_of(fixture_path(folder, "manifest.json"), ".vtp\""), frames);
    assert_int_equal(fixture_count(folder), frames + 4);
    assert_false(fixture_has_temporary(folder));
}

// A frame that the collection cannot list is removed.
static void test_collection_that_cannot_be_written(void **state)
{
    (void)state;
    const char *folder = fixture_folder("failures");
    struct recording_options options = {
        .folder = folder, .name = "flag", .resolved_yaml = "", .vtp = true};
    struct fixture fixture;
    struct recording *recording = record_three(&options, &fixture);
    assert_int_equal(unlink(fixture_path(folder, "flag.pvd")), 0);
    assert_int_equal(mkdir(fixture_path(folder, "flag.pvd"), 0777), 0);
    taut_error error = {0};
    assert_int_equal(recording_frame(recording, &fixture.frame, &error), TAUT_ERROR_IO);
    assert_non_null(strstr(error.text, "flag.pvd': Is a directory"));
    assert_int_equal(recording_close(recording, NULL, NULL, &error), TAUT_ERROR_IO);
    assert_non_null(strstr(error.text, "cannot read"));
    assert_false(fixture_exists(fixture_path(folder, "flag_000003.vtp")));
    assert_int_equal(count_of(fixture_path(folder, "manifest.json"), ".vtp\""), 3);
    assert_int_equal(fixture_count(folder), 7);
}

static void test_disk_full_in_a_point_cache(void **state)
{
    (void)state;
    const char *folder = fixture_folder("failures");
    struct recording_options options = {
        .folder = folder, .name = "flag", .resolved_yaml = "", .pc2 = true, .frame_seconds = 0.25};
    struct fixture fixture;
    struct recording *recording = record_three(&options, &fixture);
    size_t whole = length_of(folder, "tet.pc2");
    assert_int_equal(whole, 32 + 3 * 5 * 12);
    // A limit below the present size of energy.csv, which is not written to before the failure.
    fail_fourth(recording, &fixture, whole + 30, "tet.pc2': File too large", 11);
    assert_int_equal(length_of(folder, "tet.pc2"), whole);
    assert_readable("read_pc2.py", fixture_path(folder, "tet.pc2"),
                    "points 5 start 0 rate 0.25 samples 3\n");
    assert_readable("read_pc2.py", fixture_path(folder, "bob.pc2"), "samples 3\n");
}

static void test_disk_full_in_the_energy_table(void **state)
{
    (void)state;
    const char *folder = fixture_folder("failures");
    struct recording_options options = {.folder = folder, .name = "flag", .resolved_yaml = ""};
    struct fixture fixture;
    struct recording *recording = record_three(&options, &fixture);
    size_t whole = length_of(folder, "energy.csv");
    fail_fourth(recording, &fixture, whole + 10, "energy.csv': File too large", 3);
    assert_int_equal(length_of(folder, "energy.csv"), whole);
    assert_int_equal(count_of(fixture_path(folder, "energy.csv"), "\n"), 4);
}

static void test_disk_full_at_the_beginning(void **state)
{
    (void)state;
    const char *folder = fixture_folder("failures");
    static char yaml[4096];
    memset(yaml, '#', sizeof yaml - 1);
    struct recording_options options = {
        .folder = folder, .name = "flag", .resolved_yaml = yaml, .vtp = true, .pc2 = true};
    struct fixture fixture;
    fixture_fill(&fixture, 0, false);
    fixture.frame.has_work = false; // otherwise the header of the table would be longer than a mesh
    // The header of a table has a body's name once, and the body's mesh twice; the manifest does
    // not have it before that mesh.
    char name[201];
    memset(name, 'n', 200);
    name[200] = '\0';
    fixture.bodies[FIXTURE_TETRAHEDRON].name = name;
    // In this order: the scene, the manifest, the header of the energy table, the first mesh.
    static const struct {
        const char *yaml, *reason;
        rlim_t limit;
    } cases[] = {{yaml, "scene.yaml': File too large", 500},
                 {"", "manifest.json': File too large", 60},
                 {"", "energy.csv': File too large", 250},
                 {"", "n.obj': File too large", 520}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct recording *recording;
        taut_error error = {0};
        options.resolved_yaml = cases[i].yaml;
        fixture_limit_file_size(cases[i].limit);
        taut_status status = recording_open(&options, &fixture.frame, &recording, &error);
        fixture_limit_file_size(RLIM_INFINITY);
        assert_int_equal(status, TAUT_ERROR_IO);
        assert_null(recording);
        assert_contains(error.text, cases[i].reason);
        assert_int_equal(fixture_count(folder), 0);
    }
}

static void check_vanished(bool vtp, const char *reason)
{
    const char *folder = fixture_folder("failures");
    struct recording_options options = {
        .folder = folder, .name = "flag", .resolved_yaml = "", .vtp = vtp};
    struct fixture fixture;
    struct recording *recording = record_three(&options, &fixture);
    fixture_remove(folder);
    fail_fourth(recording, &fixture, RLIM_INFINITY, reason, vtp ? 7 : 3);
    assert_false(fixture_exists(folder));
}

static void test_vanished_folder(void **state)
{
    (void)state;
    check_vanished(true, "failures/manifest.json': No such file or directory");
}

// No new file can be opened, and the files that are open are in no folder.
static void test_vanished_folder_with_tables_only(void **state)
{
    (void)state;
    check_vanished(false, "failures/energy.csv': No such file or directory");
}

static void assert_cannot_open(const char *folder, const char *reason)
{
    struct recording_options options = {.folder = folder, .name = "flag", .resolved_yaml = ""};
    struct fixture fixture;
    struct recording *recording;
    taut_error error = {0};
    fixture_fill(&fixture, 0, true);
    assert_int_equal(recording_open(&options, &fixture.frame, &recording, &error), TAUT_ERROR_IO);
    assert_null(recording);
    assert_contains(error.text, reason);
}

static void test_folder_that_is_a_file(void **state)
{
    (void)state;
    const char *folder = fixture_folder("failures");
    fixture_write(fixture_path(folder, "plain"), "x");
    assert_cannot_open(fixture_path(folder, "plain"),
                       "failures/plain': there is a file of that name");
    assert_cannot_open(fixture_path(folder, "plain/below"),
                       "failures/plain': there is a file of that name");
}

static void test_folder_that_may_not_be_written(void **state)
{
    (void)state;
    if (geteuid() == 0) {
        print_message("skipped: root may write in read-only folders\n");
        skip();
    }
    const char *folder = fixture_folder("failures-read-only");
    assert_int_equal(chmod(folder, 0555), 0);
    assert_cannot_open(folder, "failures-read-only/scene.yaml': Permission denied");
    assert_cannot_open(fixture_path(folder, "deeper"), "cannot create the folder");
    assert_int_equal(chmod(folder, 0755), 0);
}

int main(void)
{
    signal(SIGXFSZ, SIG_IGN);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_disk_full_in_a_frame),
        cmocka_unit_test(test_disk_full_in_the_manifest),
        cmocka_unit_test(test_collection_that_cannot_be_written),
        cmocka_unit_test(test_disk_full_in_a_point_cache),
        cmocka_unit_test(test_disk_full_in_the_energy_table),
        cmocka_unit_test(test_disk_full_at_the_beginning),
        cmocka_unit_test(test_vanished_folder),
        cmocka_unit_test(test_vanished_folder_with_tables_only),
        cmocka_unit_test(test_folder_that_is_a_file),
        cmocka_unit_test(test_folder_that_may_not_be_written),
    };
    return cmocka_run_group_tests_name("recording_failures", tests, NULL, NULL);
}
