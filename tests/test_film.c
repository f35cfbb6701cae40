// film.h, strips and the frame cache. ffprobe checks the files that ffmpeg makes.
#include "test.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "output_fixture.h"
#include "picture/film.h"
#include "picture/subject.h"
#include "picture/image.h"

static void need_ffmpeg(void)
{
    // NOLINTNEXTLINE(cert-env33-c): only checks that the programs exist
    if (film_possible(NULL) == TAUT_OK && system("command -v ffprobe >/dev/null") == 0)
        return;
    print_message("skipped: no ffmpeg here\n");
    skip();
}

static struct image plain(int width, int height, int shade)
{
    struct image image;
    assert_int_equal(image_make(width, height, &image, NULL), TAUT_OK);
    memset(image.pixels, shade, 3 * (size_t)width * (size_t)height);
    return image;
}

static const char *film_path(const char *name)
{
    return fixture_path(TAUT_TEST_OUT "/film", name);
}

static struct film *begin(const char *path, enum film_format format, int width, int height)
{
    const struct film_options options = {path, format, width, height, 12.5};
    struct film *film;
    taut_error error = {0};
    if (film_open(&options, &film, &error) != TAUT_OK)
        fail_msg("%s", error.text);
    return film;
}

static void check_film(const char *name, enum film_format format, int width, const char *expected)
{
    need_ffmpeg();
    (void)fixture_folder("film");
    const char *path = film_path(name);
    struct film *film = begin(path, format, width, 18);
    taut_error error = {0};
    for (int i = 0; i < 7; i++) {
        struct image image = plain(width, 18, 30 * i);
        assert_int_equal(film_add(film, &image, &error), TAUT_OK);
        image_free(&image);
    }
    assert_false(fixture_exists(path)); // not before it is complete
    assert_int_equal(film_close(film, &error), TAUT_OK);
    char command[1024];
    snprintf(command, sizeof command,
             "ffprobe -v error -count_frames -of csv=p=0 -show_entries "
             "stream=codec_name,width,height,pix_fmt,r_frame_rate,nb_read_frames '%s'",
             path);
    int code;
    char *text = fixture_run(command, &code);
    assert_int_equal(code, 0);
    assert_string_equal(text, expected);
    free(text);
    assert_int_equal(fixture_count(TAUT_TEST_OUT "/film"), 1);
}

static void test_mp4(void **state)
{
    (void)state;
    check_film("a.mp4", FILM_MP4, 34, "h264,34,18,yuv420p,25/2,7\n");
}

// A film always has the requested size, so an odd one is rejected.
static void test_an_odd_mp4_is_refused(void **state)
{
    (void)state;
    need_ffmpeg();
    const int sizes[][2] = {{33, 18}, {34, 17}, {33, 17}};
    for (size_t i = 0; i < 3; i++) {
        const struct film_options options = {film_path("a.mp4"), FILM_MP4, sizes[i][0], sizes[i][1],
                                             25};
        struct film *film;
        taut_error error = {0};
        assert_int_equal(film_open(&options, &film, &error), TAUT_ERROR_ARGUMENT);
        assert_null(film);
        assert_non_null(strstr(error.text, "even width and height"));
    }
}

static void test_gif(void **state)
{
    (void)state;
    check_film("-a b:c.gif", FILM_GIF, 33, "gif,33,18,bgra,25/2,7\n");
}

static void test_an_abandoned_film_leaves_nothing(void **state)
{
    (void)state;
    need_ffmpeg();
    (void)fixture_folder("film");
    struct film *film = begin(film_path("a.mp4"), FILM_MP4, 32, 32);
    struct image image = plain(32, 32, 9);
    assert_int_equal(film_add(film, &image, NULL), TAUT_OK);
    film_abandon(film);
    film_abandon(NULL);
    assert_int_equal(fixture_count(TAUT_TEST_OUT "/film"), 0);
    image_free(&image);
}

static void test_a_place_that_cannot_be_written(void **state)
{
    (void)state;
    need_ffmpeg();
    (void)fixture_folder("film");
    const struct film_options options = {film_path("nowhere/a.mp4"), FILM_MP4, 32, 32, 25};
    struct film *film;
    taut_error error = {0};
    assert_int_equal(film_open(&options, &film, &error), TAUT_ERROR_IO);
    assert_non_null(strstr(error.text, "nowhere/a.mp4': No such file or directory"));
    assert_null(film);
}

static void test_ffmpegs_failure_is_reported(void **state)
{
    (void)state;
    need_ffmpeg();
    (void)fixture_folder("film");
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    rlim_t before = limit.rlim_cur;
    limit.rlim_cur = 100; // bytes
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    struct film *film = begin(film_path("a.mp4"), FILM_MP4, 640, 480);
    struct image image = plain(640, 480, 9);
    taut_error error = {0};
    // The failure may be noticed with any of the frames, or at the end.
    for (int i = 0; i < 50 && film_add(film, &image, &error) == TAUT_OK; i++)
        ;
    taut_status status = film_close(film, &error);
    limit.rlim_cur = before;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    assert_int_equal(status, TAUT_ERROR_IO);
    assert_non_null(strstr(error.text, "ffmpeg failed: "));
    assert_int_equal(fixture_count(TAUT_TEST_OUT "/film"), 0);
    image_free(&image);
}

// The names that a draft could have may be a link to somebody's file, or a file of the user.
static void test_drafts_are_never_files_of_others(void **state)
{
    (void)state;
    need_ffmpeg();
    (void)fixture_folder("film");
    fixture_write(film_path("victim"), "mine\n");
    fixture_write(film_path("b.mp4.tmp"), "notes\n");
    assert_int_equal(symlink("victim", film_path("a.mp4.tmp")), 0);
    struct image image = plain(32, 32, 9);
    for (int i = 0; i < 3; i++) {
        struct film *film = begin(film_path(i == 0 ? "a.mp4" : "b.mp4"), FILM_MP4, 32, 32);
        assert_int_equal(film_add(film, &image, NULL), TAUT_OK);
        if (i == 1)
            film_abandon(film);
        else
            assert_int_equal(film_close(film, NULL), TAUT_OK);
    }
    image_free(&image);
    static const char *const names[] = {"victim", "a.mp4.tmp", "b.mp4.tmp"};
    for (int i = 0; i < 3; i++) {
        char *text = fixture_read(film_path(names[i]), NULL);
        assert_string_equal(text, i < 2 ? "mine\n" : "notes\n");
        free(text);
    }
    assert_int_equal(fixture_count(TAUT_TEST_OUT "/film"), 5);
}

static void test_without_ffmpeg(void **state)
{
    (void)state;
    const char *folders = getenv("PATH");
    char *kept = folders ? strdup(folders) : NULL;
    assert_int_equal(setenv("PATH", "/nonexistent:", 1), 0);
    taut_error error = {0};
    const struct film_options options = {"a.mp4", FILM_MP4, 32, 32, 25};
    struct film *film;
    assert_int_equal(film_open(&options, &film, &error), TAUT_ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.text, "apt-get install ffmpeg"));
    assert_null(film);
    if (kept)
        assert_int_equal(setenv("PATH", kept, 1), 0);
    free(kept);
}

static void test_strip(void **state)
{
    (void)state;
    assert_int_equal(strip_columns(1), 1);
    assert_int_equal(strip_columns(4), 4);
    assert_int_equal(strip_columns(6), 3);
    assert_int_equal(strip_columns(17), 5);
    struct strip strip;
    assert_int_equal(strip_make(5, 3, 4, 3, 255, &strip, NULL), TAUT_OK);
    assert_int_equal(strip.image.width, 3 * 4 + 2 * STRIP_GAP);
    assert_int_equal(strip.image.height, 2 * 3 + STRIP_GAP);
    for (int i = 0; i < 5; i++) {
        struct image image = plain(4, 3, 10 * (i + 1));
        strip_put(&strip, i, &image);
        image_free(&image);
    }
    // Each pixel belongs to its picture, to a gap, or to the empty cell.
    for (int y = 0; y < strip.image.height; y++)
        for (int x = 0; x < strip.image.width; x++) {
            int column = x / (4 + STRIP_GAP), row = y / (3 + STRIP_GAP);
            bool gap = x % (4 + STRIP_GAP) >= 4 || y % (3 + STRIP_GAP) >= 3;
            int number = 3 * row + column;
            int expected = gap || number == 5 ? 255 : 10 * (number + 1);
            assert_int_equal(strip.image.pixels[3 * (y * strip.image.width + x)], expected);
        }
    strip_free(&strip);
}

static void test_frame_cache(void **state)
{
    (void)state;
    float positions[6] = {1, 2, 3, 4, 5, 6}, strain = 0.5f;
    uint8_t broken = 1;
    struct frame frame = {.shape = {.node_count = 2, .spring_count = 1, .drawn_count = 1},
                          .fields = FRAME_DRAWN_POSITIONS | FRAME_DRAWN_SPRINGS,
                          .drawn_positions = positions,
                          .drawn_strains = &strain,
                          .drawn_broken = &broken};
    struct frame_cache cache = frame_cache_make(3 * (6 * sizeof(float) + sizeof(float) + 1));
    for (int i = 0; i < 3; i++) {
        frame.time = i;
        positions[5] = (float)i;
        assert_int_equal(frame_cache_add(&cache, &frame, NULL), TAUT_OK);
    }
    assert_false(cache.overflowed);
    assert_int_equal(cache.count, 3);
    for (int i = 0; i < 3; i++) {
        const struct frame *kept = &cache.frames[i];
        assert_true(frame_has(kept, FRAME_DRAWN_POSITIONS | FRAME_DRAWN_SPRINGS));
        assert_true(kept->time == i && kept->drawn_positions[0] == 1.0f &&
                    kept->drawn_positions[5] == (float)i && kept->drawn_strains[0] == 0.5f &&
                    kept->drawn_broken[0] == 1);
    }
    assert_int_equal(frame_cache_add(&cache, &frame, NULL), TAUT_OK);
    assert_true(cache.overflowed); // one too many: no frames are stored any more
    assert_int_equal(cache.count, 0);
    frame_cache_free(&cache);
    // The first frame is stored whatever its size.
    cache = frame_cache_make(1);
    frame.fields = FRAME_DRAWN_POSITIONS;
    assert_int_equal(frame_cache_add(&cache, &frame, NULL), TAUT_OK);
    assert_int_equal(cache.count, 1);
    assert_null(cache.frames[0].drawn_strains);
    assert_false(cache.frames[0].fields & FRAME_DRAWN_SPRINGS);
    frame_cache_free(&cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mp4),
        cmocka_unit_test(test_an_odd_mp4_is_refused),
        cmocka_unit_test(test_gif),
        cmocka_unit_test(test_an_abandoned_film_leaves_nothing),
        cmocka_unit_test(test_a_place_that_cannot_be_written),
        cmocka_unit_test(test_ffmpegs_failure_is_reported),
        cmocka_unit_test(test_drafts_are_never_files_of_others),
        cmocka_unit_test(test_without_ffmpeg),
        cmocka_unit_test(test_strip),
        cmocka_unit_test(test_frame_cache),
    };
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGXFSZ, SIG_IGN);
    return cmocka_run_group_tests_name("film", tests, NULL, NULL);
}
