// recording.h: the files that a run creates, and its treatment of files that exist already.
#include "test.h"

#include "output/recording.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/hash.h"
#include "output/manifest.h"
#include "output_fixture.h"

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

// Records that many frames; returns the list of files as one text, one name per line.
static void record(const struct recording_options *options, unsigned frames, char *names,
                   size_t size)
{
    struct fixture fixture;
    struct recording *recording;
    taut_error error = {0};
    fixture_fill(&fixture, 0, true);
    if (recording_open(options, &fixture.frame, &recording, &error) != TAUT_OK)
        fail_msg("%s", error.text);
    for (unsigned frame = 0; frame < frames; frame++) {
        fixture_fill(&fixture, frame, true);
        if (recording_wants_probe(recording, fixture.frame.step))
            assert_int_equal(recording_probe(recording, &fixture.frame, &error), TAUT_OK);
        assert_int_equal(recording_frame(recording, &fixture.frame, &error), TAUT_OK);
    }
    char **files;
    size_t count, length = 0;
    recording_complete(recording);
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
    assert_int_equal(recording_open(options, &fixture.frame, &recording, &error), TAUT_ERROR_IO);
    assert_null(recording);
    assert_contains(error.text, reason);
}

static void test_files_of_a_whole_run(void **state)
{
    (void)state;
    const char *folder = fixture_folder("recording");
    struct recording_options options = all_of_it(folder);
    char names[2048];
    record(&options, 2, names, sizeof names);
    assert_string_equal(names,
                        "scene.yaml\nenergy.csv\nprobes.csv\nflag.pvd\n"
                        "tet.obj\ntet.pc2\nrope.obj\nrope.pc2\nring-2D.obj\nring-2D.pc2\n"
                        "bob.obj\nbob.pc2\nflag_000000.vtp\nflag_000001.vtp\nmanifest.json\n");
    assert_int_equal(fixture_count(folder), 15);
    fixture_assert_text(fixture_path(folder, "scene.yaml"),
                        "# taut: the scene of this run, resolved.\ntitle: x\n");
    fixture_assert_text(fixture_path(folder, "probes.csv"),
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
    assert_string_equal(names, "scene.yaml\nenergy.csv\nmanifest.json\n");
    assert_int_equal(fixture_count(folder), 3);
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

// ---- Replaced and protected files

static void test_existing_run_needs_force(void **state)
{
    (void)state;
    const char *folder = fixture_folder("recording");
    struct recording_options options = all_of_it(folder);
    char names[2048];
    record(&options, 1, names, sizeof names);
    assert_refused(&options, "already contains a run (flag): replace it with --force, or choose "
                             "another folder");
    assert_int_equal(fixture_count(folder), 14);
}

// Checksums equal those of xxh64sum.
static void test_manifest_lists_what_was_written(void **state)
{
    (void)state;
    const char *folder = fixture_folder("recording");
    struct recording_options options = all_of_it(folder);
    char names[2048];
    record(&options, 2, names, sizeof names);
    char *text = fixture_read(fixture_path(folder, "manifest.json"), NULL);
    const char *head = "{\n\"taut_manifest\": 1,\n\"kind\": \"run\",\n\"name\": \"flag\",\n"
                       "\"checksum\": \"XXH64\",\n\"files\": [\n"
                       "{\"name\": \"scene.yaml\", \"size\": 50, \"checksum\": ";
    assert_int_equal(strncmp(text, head, strlen(head)), 0);
    assert_non_null(strstr(text, "\n],\n\"complete\": true\n}\n"));
    assert_null(strstr(text, "writing"));
    free(text);
    struct manifest manifest;
    bool present, busy;
    assert_int_equal(manifest_read(folder, &manifest, &present, &busy, NULL), TAUT_OK);
    assert_true(present && manifest.complete && !busy);
    assert_int_equal(manifest.count, 14); // all except itself
    for (size_t i = 0; i < manifest.count; i++) {
        size_t length;
        char *bytes = fixture_read(fixture_path(folder, manifest.entries[i].name), &length);
        struct hash hash;
        hash_begin(&hash);
        hash_add(&hash, bytes, length);
        assert_int_equal(manifest.entries[i].size, length);
        assert_true(manifest.entries[i].checksum == hash_end(&hash));
        free(bytes);
    }
    manifest_free(&manifest);
}

static void test_force_removes_the_earlier_run_and_nothing_else(void **state)
{
    (void)state;
    const char *folder = fixture_folder("recording");
    struct recording_options options = all_of_it(folder);
    char names[2048];
    record(&options, 3, names, sizeof names);
    // Some begin like files of taut, some are empty, some are named like files of other scenes.
    static const char *const others[] = {"notes.txt",
                                         "flag_12.vtp",
                                         "flag_extra.vtp",
                                         "other_000000.vtp",
                                         "mesh.obj",
                                         "mesh.pc2",
                                         "flag.pvd.backup",
                                         "energy.csv~",
                                         "render.png.tmp",
                                         "summary.json",
                                         "flag_000003.vtp.tmp",
                                         "flag_000003.vtp",
                                         ".taut-0123456789abcdef.tmp",
                                         "wind.pvd"};
    enum { OTHERS = sizeof others / sizeof others[0] };
    for (size_t i = 0; i < OTHERS; i++)
        fixture_write(fixture_path(folder, others[i]), i % 2 == 0 ? others[i] : "");
    fixture_write(fixture_path(folder, "mesh.obj"), "# taut: rest mesh of body mesh\n");
    fixture_write(fixture_path(folder, "summary.json"), "{}");
    options = (struct recording_options){
        .folder = folder, .name = "flag", .resolved_yaml = "", .force = true};
    record(&options, 1, names, sizeof names);
    assert_string_equal(names, "scene.yaml\nenergy.csv\nmanifest.json\n");
    assert_int_equal(fixture_count(folder), 3 + OTHERS);
    fixture_assert_text(fixture_path(folder, "mesh.obj"), "# taut: rest mesh of body mesh\n");
    fixture_assert_text(fixture_path(folder, "summary.json"), "{}");
    for (size_t i = 0; i < OTHERS; i++)
        if (strcmp(others[i], "mesh.obj") != 0 && strcmp(others[i], "summary.json") != 0)
            fixture_assert_text(fixture_path(folder, others[i]), i % 2 == 0 ? others[i] : "");
}

static void test_force_removes_the_run_of_another_scene(void **state)
{
    (void)state;
    const char *folder = fixture_folder("recording");
    struct recording_options options = all_of_it(folder);
    char names[2048];
    options.name = "a \"b\" \\";
    record(&options, 3, names, sizeof names);
    options = (struct recording_options){
        .folder = folder, .name = "wind", .resolved_yaml = "", .force = true, .vtp = true};
    record(&options, 1, names, sizeof names);
    assert_string_equal(names, "scene.yaml\nenergy.csv\nwind.pvd\nwind_000000.vtp\n"
                               "manifest.json\n");
    assert_int_equal(fixture_count(folder), 5);
}

static void test_changed_files_are_kept(void **state)
{
    (void)state;
    static const char *const names[] = {"scene.yaml", "energy.csv", "flag_000001.vtp", "tet.obj"};
    char all[2048];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        for (int shorter = 0; shorter < 2; shorter++) {
            const char *folder = fixture_folder("recording");
            struct recording_options options = all_of_it(folder);
            record(&options, 2, all, sizeof all);
            const char *path = fixture_path(folder, names[i]);
            size_t length;
            char *text = fixture_read(path, &length);
            text[length / 2] = text[length / 2] == 'x' ? 'y' : 'x'; // of the same size
            FILE *file = fopen(path, "wb");
            assert_int_equal(fwrite(text, 1, length - (size_t)shorter, file),
                             length - (size_t)shorter);
            assert_int_equal(fclose(file), 0);
            free(text);
            options.force = true;
            char reason[256];
            snprintf(reason, sizeof reason, "%s' has changed since taut wrote it: move it",
                     names[i]);
            assert_refused(&options, reason);
            assert_int_equal(fixture_count(folder), 15);
        }
    }
}

// A run repeated from its own folder, a mesh in the folder, and a link to it.
static void test_inputs_are_kept_wherever_they_are(void **state)
{
    (void)state;
    const char *folder = fixture_folder("recording");
    struct recording_options options = all_of_it(folder);
    char names[2048], scene[1024], link_path[1024];
    record(&options, 1, names, sizeof names);
    snprintf(scene, sizeof scene, "%s/scene.yaml", folder);
    snprintf(link_path, sizeof link_path, "%s/link.obj", folder);
    assert_int_equal(symlink("tet.obj", link_path), 0);
    const char *const inputs[] = {"/nonexistent", scene, link_path};
    options.force = true;
    options.inputs = inputs;
    options.input_count = 3;
    assert_refused(&options, "scene.yaml' is one of the files that the scene is made of, and 1 "
                             "more files cannot be replaced (tet.obj)");
    options.input_count = 2;
    assert_refused(&options, "scene.yaml' is one of the files that the scene is made of: move it");
    assert_int_equal(fixture_count(folder), 15);
    options.input_count = 1;
    record(&options, 1, names, sizeof names);
}

// The user's scene in the output folder, or a mesh named like a body, must survive even --force; so
// must any file whose name equals one of ours.
static void test_files_of_others_are_never_written_over(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text;
    } files[] = {{"scene.yaml", "title: mine\n"},
                 {"energy.csv", ""},
                 {"energy.csv", "step,time,kinetic,elastic,gravity,gas,contact,total\n"},
                 {"probes.csv", "mine"},
                 {"flag.pvd", ""},
                 {"flag_000000.vtp", "<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\""},
                 {"tet.obj", "# taut: rest mesh of body tet\n"},
                 {"rope.pc2", ""}};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        for (int force = 0; force < 2; force++) {
            const char *folder = fixture_folder("recording");
            struct recording_options options = all_of_it(folder);
            options.force = force;
            const char *path = fixture_path(folder, files[i].name);
            fixture_write(path, files[i].text);
            char reason[256];
            snprintf(reason, sizeof reason, "%s' exists and was not written by taut",
                     files[i].name);
            assert_refused(&options, reason);
            fixture_assert_text(path, files[i].text);
            assert_int_equal(fixture_count(folder), 1);
        }
    }
}

// The copied mesh of another run and a cache of somebody else, beside a run.
static void test_strangers_beside_a_run_are_named(void **state)
{
    (void)state;
    const char *folder = fixture_folder("recording");
    struct recording_options options = {.folder = folder, .name = "flag", .resolved_yaml = ""};
    char names[2048];
    record(&options, 1, names, sizeof names);
    fixture_write(fixture_path(folder, "tet.obj"), "# taut: rest mesh of body tet\n");
    fixture_write(fixture_path(folder, "tet.pc2"), "mine\n");
    options.force = true;
    record(&options, 1, names, sizeof names); // it does not need these names
    options.pc2 = true;
    assert_refused(&options, "not written by taut (no manifest.json lists it), and 1 more files "
                             "cannot be replaced (tet.");
    fixture_assert_text(fixture_path(folder, "tet.pc2"), "mine\n");
    assert_int_equal(fixture_count(folder), 5);
}

static void test_runs_of_older_versions_are_reported(void **state)
{
    (void)state;
    const char *folder = fixture_folder("recording");
    struct recording_options options = all_of_it(folder);
    char names[2048];
    record(&options, 1, names, sizeof names);
    assert_int_equal(unlink(fixture_path(folder, "manifest.json")), 0);
    for (int force = 0; force < 2; force++) {
        options.force = force;
        assert_refused(&options, "contains a run of an older version of taut, without the "
                                 "manifest.json that distinguishes its files");
    }
    assert_int_equal(fixture_count(folder), 13);
}

static void test_manifests_that_are_none(void **state)
{
    (void)state;
    static const struct {
        const char *text, *reason;
    } cases[] = {
        {"{}\n", "manifest.json' exists and was not written by taut"},
        {"{\"name\": \"my web page\"}\n", "was not written by taut"},
        {"{\n\"taut_manifest\": 2,\n", "was written by a newer version of taut"},
        {"{\n\"taut_manifest\": 1,\n\"kind\": \"study\",\n\"name\": \"flag\",\n"
         "\"checksum\": \"XXH64\",\n\"files\": [",
         "contains a study (flag): choose another folder"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *folder = fixture_folder("recording");
        struct recording_options options = all_of_it(folder);
        options.force = true;
        fixture_write(fixture_path(folder, "manifest.json"), cases[i].text);
        assert_refused(&options, cases[i].reason);
        fixture_assert_text(fixture_path(folder, "manifest.json"), cases[i].text);
    }
    const char *folder = fixture_folder("recording");
    struct recording_options options = all_of_it(folder);
    options.force = true;
    fixture_write(fixture_path(folder, "victim"), "mine");
    assert_int_equal(symlink("victim", fixture_path(folder, "manifest.json")), 0);
    assert_refused(&options, "manifest.json' exists and is not a regular file");
}

// A manifest written by somebody else must not refer to files outside the folder.
static void test_manifests_do_not_lead_elsewhere(void **state)
{
    (void)state;
    static const char *const names[] = {"../recording-victim", "/etc/passwd", "..", "a/b",
                                        "manifest.json"};
    char victim[1024];
    snprintf(victim, sizeof victim, "%s", fixture_path(TAUT_TEST_OUT, "recording-victim"));
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *folder = fixture_folder("recording");
        struct recording_options options = all_of_it(folder);
        options.force = true;
        char text[512];
        snprintf(text, sizeof text,
                 "{\n\"taut_manifest\": 1,\n\"kind\": \"run\",\n\"name\": \"flag\",\n"
                 "\"checksum\": \"XXH64\",\n\"files\": [\n{\"name\": \"%s\", \"writing\": true}",
                 names[i]);
        fixture_write(victim, "mine");
        fixture_write(fixture_path(folder, "manifest.json"), text);
        char all[2048];
        record(&options, 1, all, sizeof all);
        fixture_assert_text(victim, "mine");
    }
    assert_int_equal(unlink(victim), 0);
}

// Killed at any time: the next run with --force knows every file, including the one being written.
static void test_a_killed_run_can_be_replaced(void **state)
{
    (void)state;
    for (unsigned frames = 0; frames < 4; frames++) {
        const char *folder = fixture_folder("recording");
        struct recording_options options = all_of_it(folder);
        pid_t child = fork();
        if (child == 0) {
            struct fixture fixture;
            struct recording *recording;
            fixture_fill(&fixture, 0, true);
            taut_status status = recording_open(&options, &fixture.frame, &recording, NULL);
            for (unsigned frame = 0; frame < frames && status == TAUT_OK; frame++)
                status = recording_frame(recording, &fixture.frame, NULL);
            (void)raise(status == TAUT_OK ? SIGKILL : SIGABRT);
        }
        int result;
        assert_int_equal(waitpid(child, &result, 0), child);
        assert_true(WIFSIGNALED(result) && WTERMSIG(result) == SIGKILL);
        // The name of the next frame is recorded before the frame exists.
        assert_refused(&options, "already contains an interrupted run (flag)");
        options.force = true;
        char names[2048];
        record(&options, 1, names, sizeof names);
        assert_int_equal(fixture_count(folder), 14);
    }
}

static void test_a_line_cut_short_is_an_entry_that_is_not_there(void **state)
{
    (void)state;
    static const char whole[] = "{\n\"taut_manifest\": 1,\n\"kind\": \"run\",\n\"name\": \"f\",\n"
                                "\"checksum\": \"XXH64\",\n\"files\": [\n"
                                "{\"name\": \"a\", \"writing\": true},\n"
                                "{\"name\": \"b\\\"\", \"size\": 3, \"checksum\": "
                                "\"0123456789abcdef\"},\n"
                                "{\"name\": \"a\", \"size\": 4, \"checksum\": "
                                "\"00000000000000ff\"}\n],\n\"complete\": true\n}\n";
    const char *folder = fixture_folder("recording");
    size_t head = (size_t)(strstr(whole, "[\n") + 1 - whole);
    for (size_t length = head; length < sizeof whole; length++) {
        char text[sizeof whole];
        memcpy(text, whole, length);
        text[length] = '\0';
        fixture_write(fixture_path(folder, "manifest.json"), text);
        struct manifest manifest;
        bool present, busy;
        assert_int_equal(manifest_read(folder, &manifest, &present, &busy, NULL), TAUT_OK);
        assert_true(manifest.count <= 2);
        bool all = strstr(text, "ff\"}") != NULL;
        assert_int_equal(manifest.complete,
                         strstr(text, ": t") && all && strstr(text, "\"complete\": t") != NULL);
        if (all) {
            assert_int_equal(manifest.count, 2);
            // Entries are in the order in which they were announced, with their last announced
            // values.
            assert_string_equal(manifest.entries[0].name, "a");
            assert_false(manifest.entries[0].writing);
            assert_int_equal(manifest.entries[0].size, 4);
            assert_string_equal(manifest.entries[1].name, "b\"");
            assert_true(manifest.entries[1].checksum == 0x0123456789abcdefu);
        }
        manifest_free(&manifest);
    }
}

// Two runs at the same time would remove each other's files.
static void test_a_run_in_progress_is_not_replaced(void **state)
{
    (void)state;
    const char *folder = fixture_folder("recording");
    struct recording_options options = all_of_it(folder);
    struct fixture fixture;
    struct recording *recording;
    taut_error error = {0};
    fixture_fill(&fixture, 0, true);
    assert_int_equal(recording_open(&options, &fixture.frame, &recording, &error), TAUT_OK);
    options.force = true;
    assert_refused(&options, "is being written by another taut");
    assert_int_equal(recording_frame(recording, &fixture.frame, &error), TAUT_OK);
    assert_int_equal(recording_close(recording, NULL, NULL, &error), TAUT_OK);
    assert_int_equal(fixture_count(folder), 14);
    options.force = false;
    assert_refused(&options, "already contains an interrupted run");
}

// Between the check of the folder and the write another process creates a file there.
static void test_a_frame_replaces_nothing(void **state)
{
    (void)state;
    const char *folder = fixture_folder("recording");
    struct recording_options options = all_of_it(folder);
    struct fixture fixture;
    struct recording *recording;
    taut_error error = {0};
    fixture_fill(&fixture, 0, true);
    assert_int_equal(recording_open(&options, &fixture.frame, &recording, &error), TAUT_OK);
    fixture_write(fixture_path(folder, "victim"), "mine");
    assert_int_equal(symlink("victim", fixture_path(folder, "flag_000000.vtp")), 0);
    assert_int_equal(recording_frame(recording, &fixture.frame, &error), TAUT_ERROR_IO);
    assert_non_null(strstr(error.text, "flag_000000.vtp': File exists"));
    (void)recording_close(recording, NULL, NULL, &error);
    fixture_assert_text(fixture_path(folder, "victim"), "mine");
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
        assert_int_equal(recording_open(&options, &fixture.frame, &recording, &error),
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
        cmocka_unit_test(test_manifest_lists_what_was_written),
        cmocka_unit_test(test_force_removes_the_earlier_run_and_nothing_else),
        cmocka_unit_test(test_force_removes_the_run_of_another_scene),
        cmocka_unit_test(test_changed_files_are_kept),
        cmocka_unit_test(test_inputs_are_kept_wherever_they_are),
        cmocka_unit_test(test_files_of_others_are_never_written_over),
        cmocka_unit_test(test_strangers_beside_a_run_are_named),
        cmocka_unit_test(test_runs_of_older_versions_are_reported),
        cmocka_unit_test(test_manifests_that_are_none),
        cmocka_unit_test(test_manifests_do_not_lead_elsewhere),
        cmocka_unit_test(test_a_killed_run_can_be_replaced),
        cmocka_unit_test(test_a_line_cut_short_is_an_entry_that_is_not_there),
        cmocka_unit_test(test_a_run_in_progress_is_not_replaced),
        cmocka_unit_test(test_a_frame_replaces_nothing),
        cmocka_unit_test(test_names_that_cannot_be_files),
    };
    return cmocka_run_group_tests_name("recording", tests, NULL, NULL);
}
