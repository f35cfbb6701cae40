// taut render as users run it. Tests that need OpenGL or a build with pictures are skipped without
// them.
#include "test.h"

#include "cli_fixture.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifdef TAUT_WITH_PICTURES
#    include "picture/canvas.h"
#endif

static void write_falling(void)
{
    fixture_write("falling.yaml",
                  "simulation: {dt: 0.001, duration: 0.4}\n"
                  "environment: {gravity: [0, -9.81, 0]}\n"
                  "bodies:\n"
                  "  - {name: cloth, type: cloth, origin: [0, 0, 0], u: [1, 0, 0], v: [0, 0, 1],\n"
                  "     nodes: [12, 9], mass: 0.2, pins: [left],\n"
                  "     springs: {structural: {stiffness: 40, damping: 0.01}}}\n"
                  "  - {name: rope, type: rope, from: [0, 0, 0], to: [0, 1, 0], nodes: 5,\n"
                  "     node_mass: 0.05, spring: {stiffness: 1000}, pins: [first]}\n"
                  "colliders:\n"
                  "  - {type: sphere, center: [0.6, -0.4, 0.5], radius: 0.2, stiffness: 100,\n"
                  "     velocity: [0.1, 0, 0]}\n"
                  "output: {every: 0.1, vtp: true, pc2: true}\n");
}

static int enter(void **state)
{
    (void)state;
    cli_enter("cli_render");
    write_falling();
    return 0;
}

static void wrong_options_are_reported(void **state)
{
    (void)state;
    static const struct {
        const char *options, *message;
    } cases[] = {
        {"", "which scene? Give the path of a scene file, or of a run's folder"},
        {"--time 1,1 falling.yaml", "--time takes up to 64 ascending times"},
        {"--time=-1 falling.yaml", "--time takes"},
        {"--time a falling.yaml", "--time takes"},
        {"--frames 0 falling.yaml", "--frames takes a whole number from 1 to 100000"},
        {"--columns 65 falling.yaml", "--columns takes a whole number from 1 to 64"},
        {"--fps 0 falling.yaml", "--fps takes a number above 0"},
        {"--fps 2000 falling.yaml", "--fps takes at most 1000"},
        {"--speed x falling.yaml", "--speed takes a number above 0"},
        {"--size 640 falling.yaml", "--size takes WIDTHxHEIGHT"},
        {"--size 640x8 falling.yaml", "each from 16 to 8192"},
        {"--size 640.5x80 falling.yaml", "each from 16 to 8192"},
        {"--camera 10 falling.yaml", "--camera takes AZIMUTH,ELEVATION"},
        {"--camera 10,91 falling.yaml", "-90 to 90"},
        {"--camera 10,-90.5 falling.yaml", "-90 to 90"},
        {"--size 641x360 --output a.mp4 falling.yaml", "use 642x360"},
        {"--size 640x361 --output a.mp4 falling.yaml", "use 640x362"},
        {"--camera 10,20,0 falling.yaml", "DISTANCE"},
        {"--look-at 1,2 falling.yaml", "--look-at takes X,Y,Z"},
        {"--zoom 0 falling.yaml", "--zoom takes a number above 0"},
        {"--colour red falling.yaml", "--colour takes plain, kind, strain, tension or curvature"},
        {"--range 1,1 falling.yaml", "--range takes LEAST,MOST"},
        {"--show cats falling.yaml", "--show takes faces, springs, nodes"},
        {"--hide faces, falling.yaml", "--hide takes"},
        {"--steps 3 falling.yaml", "unrecognized option '--steps'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char command[256];
        snprintf(command, sizeof command, "taut render %s", cases[i].options);
        struct outcome outcome = cli_expect(2, command);
        assert_contains(outcome.err, cases[i].message);
        outcome_free(&outcome);
    }
    assert_false(fixture_exists("out"));
}

#ifdef TAUT_WITH_PICTURES

// Skips the test if nothing can be drawn.
static void need_drawing(void)
{
    struct outcome outcome =
        cli_run("taut render falling.yaml --time 0 --size 16x16 --output try.png");
    bool absent = outcome.code == 1 && strstr(outcome.err, "EGL");
    if (absent)
        print_message("skipped: %s", outcome.err);
    outcome_free(&outcome);
    if (absent)
        skip();
}

static void need_ffmpeg(void)
{
    need_drawing();
    // NOLINTNEXTLINE(cert-env33-c): only checks that the programs exist
    if (system("command -v ffmpeg >/dev/null && command -v ffprobe >/dev/null") == 0)
        return;
    print_message("skipped: no ffmpeg here\n");
    skip();
}

static void render(const char *arguments)
{
    char command[512];
    snprintf(command, sizeof command, "taut render --size 200x150 %s", arguments);
    struct outcome outcome = cli_expect(0, command);
    assert_string_equal(outcome.err, "");
    outcome_free(&outcome);
}

static double difference(const char *a, const char *b)
{
    struct image first, second;
    taut_error error = {0};
    if (image_read_png(a, &first, &error) != TAUT_OK ||
        image_read_png(b, &second, &error) != TAUT_OK)
        fail_msg("%s", error.text);
    double apart = image_difference(&first, &second);
    image_free(&first);
    image_free(&second);
    return apart;
}

static void a_scene_is_drawn_at_its_end_or_when_asked(void **state)
{
    (void)state;
    need_drawing();
    struct outcome outcome = cli_expect(0, "taut render falling.yaml --size 200x150");
    assert_string_equal(outcome.out, "out/falling.png: 200 x 150 pixels, t = 0.4 s\n");
    outcome_free(&outcome);
    render("falling.yaml --output end.png --time 0.4");
    render("falling.yaml --output begin.png --time 0");
    assert_true(difference("out/falling.png", "end.png") < 0.5);
    assert_true(difference("begin.png", "end.png") > 5);
    outcome = cli_expect(2, "taut render falling.yaml --time 0.5 --output no.png");
    assert_contains(outcome.err, "there is no t = 0.5 s: it ends at 0.4 s");
    outcome_free(&outcome);
    assert_false(fixture_exists("no.png"));
}

static void options_change_the_picture(void **state)
{
    (void)state;
    need_drawing();
    render("falling.yaml --output plain.png --time 0.2");
    static const char *const changes[] = {"--dark",
                                          "--colour strain",
                                          "--colour tension",
                                          "--zoom 2",
                                          "--hide faces",
                                          "--camera 80,40",
                                          "--look-at 0.5,-1,0",
                                          "--show springs,caption",
                                          "--show contacts",
                                          "--set bodies.cloth.nodes=[6,5]"};
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        char arguments[256];
        snprintf(arguments, sizeof arguments, "falling.yaml --time 0.2 --output changed.png %s",
                 changes[i]);
        render(arguments);
        if (!(difference("plain.png", "changed.png") > 0.5))
            fail_msg("%s changes nothing", changes[i]);
    }
}

static void a_picture_has_the_size_that_is_asked_for(void **state)
{
    (void)state;
    need_drawing();
    struct outcome outcome =
        cli_expect(0, "taut render falling.yaml --size 201x151 --output odd.png");
    assert_string_equal(outcome.out, "odd.png: 201 x 151 pixels, t = 0.4 s\n");
    outcome_free(&outcome);
    struct image image;
    assert_int_equal(image_read_png("odd.png", &image, NULL), TAUT_OK);
    assert_true(image.width == 201 && image.height == 151);
    image_free(&image);
}

// The picture is the limit of pictures from beside the pole.
static void the_camera_looks_straight_down_and_up(void **state)
{
    (void)state;
    need_drawing();
    static const char *const angles[][2] = {{"30,90", "30,89.99"}, {"0,-90", "0,-89.99"}};
    for (size_t i = 0; i < 2; i++) {
        char arguments[128];
        snprintf(arguments, sizeof arguments,
                 "falling.yaml --time 0.4 --output pole.png --camera %s", angles[i][0]);
        render(arguments);
        snprintf(arguments, sizeof arguments,
                 "falling.yaml --time 0.4 --output near.png --camera %s", angles[i][1]);
        render(arguments);
        assert_true(difference("pole.png", "near.png") < 0.5);
    }
    render("falling.yaml --time 0.4 --output below.png --camera 0,-90");
    render("falling.yaml --time 0.4 --output above.png --camera 0,90");
    assert_true(difference("below.png", "above.png") > 0.5);
}

// A run drawn from its frames, or from its point caches, looks like the scene at the same time.
static void a_finished_run_looks_as_its_scene_does(void **state)
{
    (void)state;
    need_drawing();
    struct outcome outcome =
        cli_expect(0, "taut run --quiet falling.yaml --output run && rm run/cloth.obj");
    outcome_free(&outcome);
    const char *colours[] = {"plain", "strain"};
    for (int i = 0; i < 2; i++) {
        char arguments[256];
        snprintf(arguments, sizeof arguments,
                 "falling.yaml --time 0.2 --colour %s --output scene.png", colours[i]);
        render(arguments);
        snprintf(arguments, sizeof arguments, "run/ --time 0.22 --colour %s --output run.png",
                 colours[i]);
        render(arguments);
        assert_true(difference("scene.png", "run.png") < 0.5);
    }
    render("falling.yaml --time 0.4 --output scene.png");
    outcome = cli_expect(0, "rm run/*.pvd");
    outcome_free(&outcome);
    render("run --output run.png --json");
    assert_true(difference("scene.png", "run.png") < 0.5);
    outcome = cli_expect(0, "taut render run --quiet --show contacts --output contacts.png "
                            "&& taut render run/scene.yaml --quiet --show contacts --output b.png");
    assert_contains(outcome.err, "the files of a run have no contacts; 'taut render "
                                 "run/scene.yaml' simulates it again and shows them");
    outcome_free(&outcome);
    assert_true(difference("contacts.png", "run.png") > 0);
    outcome = cli_expect(2, "taut render run --set simulation.dt=1 --output run.png");
    assert_contains(outcome.err, "--set and --precision cannot be used with a finished run");
    outcome_free(&outcome);
    outcome = cli_expect(1, "rm run/rope.pc2 && taut render run --output run.png");
    assert_contains(outcome.err, "has no frames: neither a .pvd with .vtp files nor 'rope.pc2'");
    outcome_free(&outcome);
    outcome = cli_expect(2, "taut render . --output run.png");
    assert_contains(outcome.err, "contains no run: there is no scene.yaml in it");
    outcome_free(&outcome);
}

static void a_strip_has_its_frames_side_by_side(void **state)
{
    (void)state;
    need_drawing();
    struct outcome outcome = cli_expect(
        0, "taut render falling.yaml --frames 5 --columns 3 --size 100x80 --output s.png --json");
    if (cli_has_python())
        cli_assert_json(outcome.out,
                        "assert d['scene'] == 'falling' and d['files'] == ['s.png']\n"
                        "assert d['frames'] == 5 and len(d['times']) == 5\n"
                        "assert all(abs(t - 0.1 * i) < 1e-9 for i, t in enumerate(d['times']))\n"
                        "assert (d['width'], d['height']) == (304, 162) and d['device']\n");
    outcome_free(&outcome);
    struct image strip, frame;
    assert_int_equal(image_read_png("s.png", &strip, NULL), TAUT_OK);
    assert_true(strip.width == 304 && strip.height == 162);
    // The third frame is in the upper right corner. A strip has another camera than a single
    // picture, so it is compared with the third frame of another strip.
    render("falling.yaml --time 0,0.1,0.2,0.3,0.4 --columns 1 --size 100x80 --output t.png");
    assert_int_equal(image_read_png("t.png", &frame, NULL), TAUT_OK);
    assert_true(frame.width == 100 && frame.height == 408);
    for (int y = 0; y < 80; y++)
        for (int i = 0; i < 300; i++)
            assert_in_range(128 + strip.pixels[3 * (y * 304 + 204) + i] -
                                frame.pixels[3 * (2 * 82 + y) * 100 + i],
                            126, 130);
    image_free(&strip);
    image_free(&frame);
}

static void films_have_their_frames(void **state)
{
    (void)state;
    need_ffmpeg();
    static const struct {
        const char *arguments, *name, *expected;
    } films[] = {
        {"--fps 20 --speed 0.5 --output a.mp4", "a.mp4", "h264,200,150,20/1,17\n"},
        {"--frames 4 --fps 10 --output a.gif", "a.gif", "gif,200,150,10/1,4\n"},
        {"--time 0.1,0.3 --fps 10 --speed 1 --output b.mp4", "b.mp4", "h264,200,150,10/1,3\n"},
    };
    for (size_t i = 0; i < sizeof films / sizeof films[0]; i++) {
        char text[256];
        snprintf(text, sizeof text, "falling.yaml %s", films[i].arguments);
        render(text);
        snprintf(text, sizeof text,
                 "ffprobe -v error -count_frames -of csv=p=0 -show_entries "
                 "stream=codec_name,width,height,r_frame_rate,nb_read_frames %s",
                 films[i].name);
        struct outcome outcome = cli_expect(0, text);
        assert_string_equal(outcome.out, films[i].expected);
        outcome_free(&outcome);
    }
}

static void without_ffmpeg_there_are_no_films(void **state)
{
    (void)state;
    need_drawing();
    struct outcome outcome =
        cli_expect(1, "PATH=/nonexistent; taut render falling.yaml --output f.mp4");
    assert_contains(outcome.err, "which is not installed (apt-get install ffmpeg)");
    assert_string_equal(outcome.out, "");
    outcome_free(&outcome);
    assert_false(fixture_exists("f.mp4"));
}

// A limit of 8 KiB on file size simulates a full disk.
static void a_full_disk_leaves_nothing(void **state)
{
    (void)state;
    need_ffmpeg();
    static const char *const names[] = {"full.mp4", "full.gif", "full.png"};
    for (int i = 0; i < 3; i++) {
        char command[256];
        snprintf(command, sizeof command,
                 "(ulimit -f 8; taut render falling.yaml --size 640x480 --output %s)", names[i]);
        struct outcome outcome = cli_expect(1, command);
        assert_contains(outcome.err, "cannot write 'full.");
        assert_false(fixture_exists(names[i]));
        outcome_free(&outcome);
    }
    assert_false(fixture_has_temporary("."));
}

static void what_is_no_picture_is_not_replaced(void **state)
{
    (void)state;
    need_drawing();
    fixture_write("mine.png", "my notes\n");
    struct outcome outcome = cli_expect(1, "taut render falling.yaml --output mine.png");
    assert_contains(outcome.err, "'mine.png' exists and is no such picture");
    outcome_free(&outcome);
    outcome = cli_expect(0, "grep -q notes mine.png");
    outcome_free(&outcome);
    render("falling.yaml --time 0 --output mine.png --force");
    render("falling.yaml --time 0 --output mine.png");
    outcome = cli_expect(1, "cp falling.yaml own.png && "
                            "taut render own.png --time 0 --output own.png --force");
    assert_contains(outcome.err, "'own.png': it is one of the files that the scene is made of");
    outcome_free(&outcome);
    outcome = cli_expect(0, "cmp falling.yaml own.png");
    outcome_free(&outcome);
    outcome = cli_expect(1, "mkdir dir.png && taut render falling.yaml --output dir.png");
    assert_contains(outcome.err, "there is a folder of that name");
    outcome_free(&outcome);
}

// A run that diverges is reported, and not drawn.
static void a_diverged_run_is_reported(void **state)
{
    (void)state;
    need_drawing();
    struct outcome outcome =
        cli_expect(1, "taut render falling.yaml --output d.png --set simulation.dt=0.2 "
                      "--set simulation.duration=400");
    assert_contains(outcome.err, "diverged");
    assert_false(fixture_exists("d.png"));
    outcome_free(&outcome);
}

// Waits until the process has started a child.
static bool wait_for_child(pid_t process)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)process, (int)process);
    for (int i = 0; i < 6000; i++) {
        FILE *file = fopen(path, "r");
        int child = 0;
        bool found = file && fscanf(file, "%d", &child) == 1; // NOLINT(cert-err34-c)
        if (file)
            (void)fclose(file);
        if (found)
            return true;
        if (!file && errno == ENOENT)
            return false;
        const struct timespec pause = {.tv_nsec = 10000000};
        (void)nanosleep(&pause, NULL);
    }
    return false;
}

// A file, or a link, with the name of the film and .tmp may be the user's.
static void a_film_writes_over_nothing_else(void **state)
{
    (void)state;
    need_ffmpeg();
    fixture_write("victim", "mine\n");
    fixture_write("g.gif.tmp", "notes\n");
    assert_int_equal(symlink("victim", "f.mp4.tmp"), 0);
    render("falling.yaml --output f.mp4 --frames 3");
    render("falling.yaml --output g.gif --frames 3");
    struct outcome outcome =
        cli_expect(0, "test -L f.mp4.tmp && grep -qx mine victim && grep -qx notes g.gif.tmp");
    outcome_free(&outcome);
}

static void an_interrupted_film_leaves_nothing(void **state)
{
    (void)state;
    need_ffmpeg();
    // Interrupted first during the simulation, then while drawing.
    for (int i = 0; i < 2; i++) {
        const char *duration = i == 0 ? "simulation.duration=1e6" : "simulation.duration=0.4";
        const char *frames = i == 0 ? "10" : "50000";
        const char *arguments[] = {"render", "falling.yaml", "--set",        duration, "--frames",
                                   frames,   "--output",     "folder/i.mp4", NULL};
        pid_t process = cli_start(arguments);
        assert_true(i == 0 ? cli_wait_for_file(process, "folder") : wait_for_child(process));
        assert_int_equal(kill(process, SIGINT), 0);
        assert_int_equal(cli_wait(process), 1);
        size_t length;
        char *errors = fixture_read("err.txt", &length);
        assert_contains(errors, "interrupted by SIGINT: nothing was written");
        free(errors);
        assert_int_equal(fixture_count("folder"), 0);
    }
}

#else

static void it_names_what_to_install(void **state)
{
    (void)state;
    struct outcome outcome = cli_expect(1, "taut render falling.yaml");
    assert_contains(outcome.err, "built without pictures");
    assert_contains(outcome.err, "libepoxy-dev libegl-dev libcairo2-dev");
    outcome_free(&outcome);
}

#endif

#ifdef TAUT_WITH_PICTURES
// Drivers crash if memory is short, so they must not be loaded then.
static void without_memory_no_driver_is_loaded(void **state)
{
    (void)state;
    fixture_write("thin.yaml",
                  "simulation: {dt: 0.001, steps: 2}\nbodies:\n  - {name: r, type: rope, from: [0, "
                  "0, 0], to: [1, 0, 0], nodes: 5, mass: 1, springs: {chain: {stiffness: 10}}}\n");
    struct outcome outcome =
        cli_expect(1, "TAUT_MEMORY_LIMIT=100M taut render --output thin.png thin.yaml");
    assert_contains(outcome.err, "drawing 1280 x 720 pixels needs about");
    assert_contains(outcome.err, "this process may take 100 MiB (by TAUT_MEMORY_LIMIT)");
    outcome_free(&outcome);
    outcome = cli_run("ulimit -v 400000; taut check --quiet thin.yaml");
    bool works = outcome.code == 0; // a sanitizer needs more
    outcome_free(&outcome);
    if (!works)
        skip();
    for (int limit = 100000; limit < 720000; limit += 60000) { // in KiB
        char line[200];
        snprintf(line, sizeof line, "ulimit -v %d; taut render --output thin.png thin.yaml", limit);
        outcome = cli_expect(1, line);
        assert_contains(outcome.err, "ulimit -v");
        outcome_free(&outcome);
    }
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(wrong_options_are_reported, enter),
#ifdef TAUT_WITH_PICTURES
        cmocka_unit_test_setup(a_scene_is_drawn_at_its_end_or_when_asked, enter),
        cmocka_unit_test_setup(options_change_the_picture, enter),
        cmocka_unit_test_setup(a_picture_has_the_size_that_is_asked_for, enter),
        cmocka_unit_test_setup(the_camera_looks_straight_down_and_up, enter),
        cmocka_unit_test_setup(a_finished_run_looks_as_its_scene_does, enter),
        cmocka_unit_test_setup(a_strip_has_its_frames_side_by_side, enter),
        cmocka_unit_test_setup(films_have_their_frames, enter),
        cmocka_unit_test_setup(without_ffmpeg_there_are_no_films, enter),
        cmocka_unit_test_setup(a_full_disk_leaves_nothing, enter),
        cmocka_unit_test_setup(what_is_no_picture_is_not_replaced, enter),
        cmocka_unit_test_setup(a_diverged_run_is_reported, enter),
        cmocka_unit_test_setup(a_film_writes_over_nothing_else, enter),
        cmocka_unit_test_setup(an_interrupted_film_leaves_nothing, enter),
        cmocka_unit_test_setup(without_memory_no_driver_is_loaded, enter),
#else
        cmocka_unit_test_setup(it_names_what_to_install, enter),
#endif
    };
    return cmocka_run_group_tests_name("cli_render", tests, NULL, NULL);
}
