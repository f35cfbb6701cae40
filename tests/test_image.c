// Images in memory (image.h): PNG files, the difference of two images, and failures of a canvas.
#include "output_fixture.h"
#include "test.h"

#include <math.h>
#include <string.h>

#include "picture/canvas.h"

static struct image pattern_of(int width, int height)
{
    struct image image;
    assert_int_equal(image_make(width, height, &image, NULL), TAUT_OK);
    for (int i = 0; i < 3 * width * height; i++)
        image.pixels[i] = (uint8_t)(i * 37 + i / 7);
    return image;
}

static void test_png_keeps_every_pixel(void **state)
{
    (void)state;
    const char *path = fixture_path(fixture_folder("image"), "a.png");
    struct image image = pattern_of(37, 23), read;
    assert_int_equal(image_write_png(&image, path, NULL), TAUT_OK);
    assert_int_equal(image_read_png(path, &read, NULL), TAUT_OK);
    assert_int_equal(read.width, 37);
    assert_int_equal(read.height, 23);
    assert_memory_equal(read.pixels, image.pixels, 3 * 37 * 23);
    image_free(&read);
    image_free(&image);
}

static void test_difference_is_a_root_mean_square(void **state)
{
    (void)state;
    struct image a, b;
    assert_int_equal(image_make(10, 10, &a, NULL), TAUT_OK);
    assert_int_equal(image_make(10, 10, &b, NULL), TAUT_OK);
    assert_true(image_difference(&a, &b) == 0.0);
    b.pixels[0] = 30; // of 300 values
    assert_true(fabs(image_difference(&a, &b) - 30 / sqrt(300)) < 1e-12);
    memset(b.pixels, 255, 300);
    assert_true(image_difference(&a, &b) == 255.0);
    struct image other = pattern_of(10, 9);
    assert_true(image_difference(&a, &other) == 255.0); // sizes differ
    image_free(&a);
    image_free(&b);
    image_free(&other);
}

static void test_failures_name_the_file(void **state)
{
    (void)state;
    const char *folder = fixture_folder("image");
    struct image image = pattern_of(4, 4), read;
    taut_error error = {0};
    const char *nowhere = fixture_path(folder, "no/such/a.png");
    assert_int_equal(image_write_png(&image, nowhere, &error), TAUT_ERROR_IO);
    assert_non_null(strstr(error.text, "no/such/a.png"));
    assert_int_equal(image_read_png(nowhere, &read, &error), TAUT_ERROR_IO);
    assert_non_null(strstr(error.text, "no/such/a.png"));
    const char *text = fixture_path(folder, "text.png");
    fixture_write(text, "this is no picture");
    assert_int_equal(image_read_png(text, &read, &error), TAUT_ERROR_IO);
    assert_non_null(strstr(error.text, "text.png"));
    assert_null(read.pixels);
    assert_false(fixture_has_temporary(folder));
    image_free(&image);
}

static void test_empty_pictures_are_refused(void **state)
{
    (void)state;
    struct image image;
    struct canvas *canvas;
    taut_error error = {0};
    assert_int_equal(image_make(0, 5, &image, &error), TAUT_ERROR_ARGUMENT);
    assert_int_equal(canvas_make(640, -1, &canvas, &error), TAUT_ERROR_ARGUMENT);
    assert_non_null(strstr(error.text, "640 x -1"));
    assert_null(canvas);
}

static void test_two_canvases_live_side_by_side(void **state)
{
    (void)state;
    struct canvas *first, *second;
    taut_error error = {0};
    if (canvas_make(20, 10, &first, &error) != TAUT_OK) {
        print_message("skipped: %s\n", error.text);
        skip();
    }
    assert_int_equal(canvas_make(30, 10, &second, &error), TAUT_OK);
    assert_true(strlen(canvas_device(second)) > 0);
    canvas_free(first);
    struct image image = {0};
    assert_int_equal(canvas_read(second, &image, &error), TAUT_OK);
    assert_int_equal(image.width, 30);
    image_free(&image);
    canvas_free(second);
}

static void test_pictures_too_large_to_draw_are_refused(void **state)
{
    (void)state;
    struct canvas *canvas;
    taut_error error = {0};
    assert_int_equal(canvas_make(1000000, 10, &canvas, &error), TAUT_ERROR_UNSUPPORTED);
    assert_true(strlen(error.text) > 0);
    assert_null(canvas);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_png_keeps_every_pixel),
        cmocka_unit_test(test_difference_is_a_root_mean_square),
        cmocka_unit_test(test_failures_name_the_file),
        cmocka_unit_test(test_empty_pictures_are_refused),
        cmocka_unit_test(test_two_canvases_live_side_by_side),
        cmocka_unit_test(test_pictures_too_large_to_draw_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
