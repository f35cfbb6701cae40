// The surroundings of bodies in pictures: ground and shadow, spheres, wind, mouse springs, legend,
// caption, outlines and backgrounds. As in test_picture.c, each is looked for at its pixels.
#include "picture_fixture.h"

#include <stdio.h>

static void test_shadow_darkens_the_ground(void **state)
{
    (void)state;
    struct scenery scenery = scenery_of(above_text);
    struct image empty = picture_of(&scenery, LAYER_GROUND);
    struct image cloth = picture_of(&scenery, LAYER_FACES);
    struct image ground = picture_of(&scenery, LAYER_COLLIDERS);
    struct image both = picture_of(&scenery, LAYER_COLLIDERS | LAYER_FACES);
    size_t darker = 0, lighter = 0;
    for (int y = 0; y < PICTURE_HEIGHT; y++) {
        for (int x = 0; x < PICTURE_WIDTH; x++) {
            if (apart(pixel_at(&cloth, x, y), pixel_at(&empty, x, y)) > 3)
                continue; // the cloth itself
            int change = pixel_at(&both, x, y).green - pixel_at(&ground, x, y).green;
            darker += change < -25;
            lighter += change > 25;
        }
    }
    assert_true(darker > 500);
    assert_true(lighter < 20);
    image_free(&empty);
    image_free(&cloth);
    image_free(&ground);
    image_free(&both);
    scenery_free(&scenery);
}

static void test_spheres_are_drawn_where_they_are_now(void **state)
{
    (void)state;
    struct scenery scenery = scenery_of(above_text);
    vec3 there = {2, 0.5, 0}, away = {-1.5, 0.5, 0.5};
    struct image before = picture_of(&scenery, LAYER_COLLIDERS);
    scenery.frame.colliders[1].centre[0] = (float)away.x;
    scenery.frame.colliders[1].centre[2] = (float)away.z;
    struct image after = picture_of(&scenery, LAYER_COLLIDERS);
    assert_true(apart(pixel_of(&before, &scenery, there), pixel_of(&after, &scenery, there)) > 15);
    assert_true(apart(pixel_of(&before, &scenery, away), pixel_of(&after, &scenery, away)) > 15);
    image_free(&before);
    image_free(&after);
    scenery_free(&scenery);
}

static void test_wind_is_shown_in_a_corner(void **state)
{
    (void)state;
    struct scenery scenery = scenery_of(above_text);
    struct image without = picture_of(&scenery, LAYER_FACES);
    struct image with = picture_of(&scenery, LAYER_FACES | LAYER_WIND);
    size_t in_corner =
        differing(&with, &without, PICTURE_WIDTH * 2 / 3, 0, PICTURE_WIDTH, PICTURE_HEIGHT / 3, 20);
    assert_true(in_corner > 40);
    assert_int_equal(differ_at_all(&with, &without, 20), in_corner);
    scenery.frame.wind[0] = 0;
    struct image calm = picture_of(&scenery, LAYER_FACES | LAYER_WIND);
    assert_true(image_difference(&calm, &without) < 0.01);
    image_free(&without);
    image_free(&with);
    image_free(&calm);
    scenery_free(&scenery);
}

static void test_mouse_springs_are_shown(void **state)
{
    (void)state;
    struct scenery scenery = scenery_of(chain_text);
    struct image without = picture_of(&scenery, LAYER_SPRINGS);
    scenery.frame.mouse_spring = (struct frame_line){{1, 0, 0}, {1.5f, 0.8f, 0}};
    scenery.frame.has_mouse_spring = true;
    struct image with = picture_of(&scenery, LAYER_SPRINGS);
    struct pixel mouse = pixel_of(&with, &scenery, vec3_make(1.5, 0.8, 0));
    assert_true(mouse.red > mouse.blue + 60);
    vec3 along = {1.25, 0.4, 0};
    assert_true(apart(pixel_of(&with, &scenery, along), pixel_of(&without, &scenery, along)) > 40);
    image_free(&without);
    image_free(&with);
    scenery_free(&scenery);
}

static void test_legend_is_in_the_corner_below(void **state)
{
    (void)state;
    static const enum colouring colourings[] = {COLOURING_STRAIN, COLOURING_KIND};
    struct scenery scenery = scenery_of(cloth_text);
    for (int i = 0; i < 2; i++) {
        scenery.options.colouring = colourings[i];
        struct image without = picture_of(&scenery, LAYER_FACES);
        struct image with = picture_of(&scenery, LAYER_FACES | LAYER_LEGEND);
        size_t in_corner = differing(&with, &without, PICTURE_WIDTH / 3, PICTURE_HEIGHT * 3 / 5,
                                     PICTURE_WIDTH, PICTURE_HEIGHT, 10);
        assert_true(in_corner > 300);
        assert_int_equal(differ_at_all(&with, &without, 10), in_corner);
        image_free(&without);
        image_free(&with);
    }
    scenery.options.colouring = COLOURING_PLAIN; // has no legend
    struct image without = picture_of(&scenery, LAYER_FACES);
    struct image with = picture_of(&scenery, LAYER_FACES | LAYER_LEGEND);
    assert_true(image_difference(&with, &without) < 0.01);
    image_free(&without);
    image_free(&with);
    scenery_free(&scenery);
}

static void test_caption_shows_the_time(void **state)
{
    (void)state;
    struct scenery scenery = scenery_of(cloth_text);
    struct image without = picture_of(&scenery, LAYER_FACES);
    scenery.options.caption = true;
    struct image at_0 = picture_of(&scenery, LAYER_FACES);
    scenery.frame.time = 2.5;
    struct image later = picture_of(&scenery, LAYER_FACES);
    int right = PICTURE_WIDTH / 2, bottom = PICTURE_HEIGHT / 5;
    size_t written = differing(&at_0, &without, 0, 0, right, bottom, 20);
    assert_true(written > 40);
    assert_int_equal(differ_at_all(&at_0, &without, 20), written);
    assert_true(differing(&later, &at_0, 0, 0, right, bottom, 20) > 5);
    image_free(&without);
    image_free(&at_0);
    image_free(&later);
    scenery_free(&scenery);
}

static void test_outline_is_filled_and_the_ground_below_it_shown(void **state)
{
    (void)state;
    struct scenery scenery = scenery_of(ring_text);
    camera_zoom(&scenery.camera, 1.6);
    struct image empty = picture_of(&scenery, LAYER_LEGEND);
    struct image faces = picture_of(&scenery, LAYER_FACES);
    struct image ground = picture_of(&scenery, LAYER_COLLIDERS);
    vec3 inside = {0.1, 1.4, 0}, outside = {1.2, 1.4, 0}, below = {0, -0.02, 0};
    struct pixel filled = pixel_of(&faces, &scenery, inside);
    assert_true(filled.blue > filled.red + 30);
    assert_true(apart(pixel_of(&faces, &scenery, outside), pixel_of(&empty, &scenery, outside)) <
                3);
    assert_true(apart(pixel_of(&ground, &scenery, below), pixel_of(&empty, &scenery, below)) > 15);
    assert_true(apart(pixel_of(&ground, &scenery, inside), pixel_of(&empty, &scenery, inside)) < 3);
    image_free(&empty);
    image_free(&faces);
    image_free(&ground);
    scenery_free(&scenery);
}

static void test_dark_pictures_are_dark(void **state)
{
    (void)state;
    struct scenery scenery = scenery_of(cloth_text);
    struct image light = picture_of(&scenery, LAYER_GROUND);
    scenery.options.dark = true;
    struct image dark = picture_of(&scenery, LAYER_GROUND);
    assert_true(pixel_at(&light, 5, 5).green > 200);
    assert_true(pixel_at(&dark, 5, 5).green < 60);
    image_free(&light);
    image_free(&dark);
    scenery_free(&scenery);
}

// A sheet that touches a floor with half of its nodes, and friction.
static const char touching_text[] = PICTURE_START
    "contact: {thickness: 0.02, stiffness: 100, friction_coefficient: 0.4}\n"
    "bodies:\n"
    "  - {name: sheet, type: cloth, origin: [-1, 0.022, -1], u: [2, 0.019, 0], v: [0, 0, 2],\n"
    "     nodes: [11, 11], mass: 1, springs: {structural: {stiffness: 100}}}\n"
    "colliders: [{type: plane, point: [0, 0, 0], normal: [0, 1, 0], response: contact}]\n";

// The point halfway between a node of the sheet and the floor.
static vec3 place_between(int column, int row)
{
    return vec3_make(-1 + 0.2 * column, 0.011 + 0.00095 * column, -1 + 0.2 * row);
}

static void test_contacts_are_drawn_where_they_are(void **state)
{
    (void)state;
    struct scenery scenery = scenery_of(touching_text);
    scenery_look(&scenery, 20, 40);
    struct image without = picture_of(&scenery, LAYER_FACES);
    struct image with = picture_of(&scenery, LAYER_FACES | LAYER_CONTACTS);
    assert_true(frame_has(&scenery.frame, FRAME_CONTACTS));
    assert_int_equal(scenery.frame.contact_count, 5 * 11); // up to a height of 0.03
    for (int row = 1; row < 10; row++)
        for (int column = 1; column < 10; column++) {
            const vec3 place = place_between(column, row);
            const int change =
                apart(pixel_of(&with, &scenery, place), pixel_of(&without, &scenery, place));
            assert_true(column < 5 ? change > 20 : change < 3);
        }
    // A contact that slides has another colour than one that sticks.
    for (size_t i = 0; i < scenery.frame.contact_count; i++)
        scenery.frame.contacts[i].friction = TAUT_CONTACT_SLIDES;
    struct image slides = picture_of(&scenery, LAYER_FACES | LAYER_CONTACTS);
    const vec3 place = place_between(2, 5);
    assert_true(apart(pixel_of(&with, &scenery, place), pixel_of(&slides, &scenery, place)) > 20);
    // A greater full length: shorter needles.
    scenery.options.full_force = 1e3;
    struct image shorter = picture_of(&scenery, LAYER_FACES | LAYER_CONTACTS);
    assert_true(differ_at_all(&shorter, &without, 20) < differ_at_all(&slides, &without, 20));
    assert_true(differ_at_all(&shorter, &without, 20) > 55);
    image_free(&shorter);
    image_free(&slides);
    image_free(&without);
    image_free(&with);
    scenery_free(&scenery);
}

// The legend of frames without contacts, such as those of finished runs, reports that.
static void test_the_legend_of_contacts(void **state)
{
    (void)state;
    struct scenery scenery = scenery_of(touching_text);
    struct image without = picture_of(&scenery, LAYER_FACES | LAYER_CONTACTS);
    struct image with = picture_of(&scenery, LAYER_FACES | LAYER_CONTACTS | LAYER_LEGEND);
    size_t in_corner =
        differing(&with, &without, 0, PICTURE_HEIGHT / 2, PICTURE_WIDTH * 2 / 3, PICTURE_HEIGHT, 5);
    assert_true(in_corner > 300);
    assert_int_equal(differ_at_all(&with, &without, 5), in_corner);
    image_free(&with);
    image_free(&without);
    scenery.frame.fields &= ~(unsigned)FRAME_CONTACTS;
    without = picture_of(&scenery, LAYER_FACES);
    with = picture_of(&scenery, LAYER_FACES | LAYER_CONTACTS);
    assert_true(image_difference(&with, &without) < 0.01);
    struct image legend = picture_of(&scenery, LAYER_FACES | LAYER_CONTACTS | LAYER_LEGEND);
    const size_t one_line = differ_at_all(&legend, &without, 5);
    assert_true(one_line > 60 && one_line < in_corner);
    image_free(&legend);
    image_free(&with);
    image_free(&without);
    scenery_free(&scenery);
}

int main(void)
{
    taut_error error = {0};
    if (!pictures_begin(&error)) {
        printf("skipped: %s\n", error.text);
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shadow_darkens_the_ground),
        cmocka_unit_test(test_spheres_are_drawn_where_they_are_now),
        cmocka_unit_test(test_wind_is_shown_in_a_corner),
        cmocka_unit_test(test_mouse_springs_are_shown),
        cmocka_unit_test(test_legend_is_in_the_corner_below),
        cmocka_unit_test(test_caption_shows_the_time),
        cmocka_unit_test(test_outline_is_filled_and_the_ground_below_it_shown),
        cmocka_unit_test(test_dark_pictures_are_dark),
        cmocka_unit_test(test_contacts_are_drawn_where_they_are),
        cmocka_unit_test(test_the_legend_of_contacts),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    pictures_end();
    return failed;
}
