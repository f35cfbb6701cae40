// The contents of pictures (renderer.h): each object is looked for at its pixels, and a picture
// without it shows that the test would notice its absence. OpenGL implementations round
// differently, so colours are compared with a tolerance.
#include "picture_fixture.h"

#include <epoxy/gl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void test_springs_have_the_colour_of_their_strain(void **state)
{
    (void)state;
    static const enum colouring colourings[] = {COLOURING_STRAIN, COLOURING_TENSION};
    struct scenery scenery = scenery_of(chain_text);
    for (int i = 0; i < 2; i++) {
        scenery.options.colouring = colourings[i];
        struct image image = picture_of(&scenery, LAYER_SPRINGS);
        struct pixel stretched = pixel_of(&image, &scenery, vec3_make(0.5, 0, 0));
        struct pixel resting = pixel_of(&image, &scenery, vec3_make(1.5, 0, 0));
        struct pixel compressed = pixel_of(&image, &scenery, vec3_make(2.5, 0, 0));
        assert_true(stretched.red > stretched.blue + 30);
        assert_true(abs(resting.red - resting.blue) < 20);
        assert_true(compressed.blue > compressed.red + 30);
        double least, most;
        renderer_scale(pictures_renderer(), &least, &most);
        assert_true(most >= (i == 0 ? 1.0 : 10.0 * 0.5) * 0.9);
        assert_true(least == -most); // symmetric about 0
        image_free(&image);
    }
    scenery_free(&scenery);
}

static void test_strains_that_were_not_taken_are_found_from_positions(void **state)
{
    (void)state;
    struct scenery scenery = scenery_of(chain_text);
    scenery.options.colouring = COLOURING_STRAIN;
    struct image taken = picture_of(&scenery, LAYER_SPRINGS);
    scenery.frame.fields &= ~(unsigned)FRAME_DRAWN_STRAINS;
    struct image found = picture_of(&scenery, LAYER_SPRINGS);
    assert_true(image_difference(&taken, &found) < 0.5);
    image_free(&taken);
    image_free(&found);
    scenery_free(&scenery);
}

static void test_scale_that_is_asked_for_is_kept(void **state)
{
    (void)state;
    struct scenery scenery = scenery_of(chain_text);
    scenery.options.colouring = COLOURING_STRAIN;
    scenery.options.least = -4;
    scenery.options.most = 8;
    struct image image = picture_of(&scenery, LAYER_SPRINGS);
    double least, most;
    renderer_scale(pictures_renderer(), &least, &most);
    assert_true(least == -4 && most == 8);
    image_free(&image);
    scenery_free(&scenery);
}

static void test_broken_springs_are_not_drawn(void **state)
{
    (void)state;
    struct scenery scenery = scenery_of(chain_text);
    struct image empty = picture_of(&scenery, LAYER_GROUND);
    struct image whole = picture_of(&scenery, LAYER_SPRINGS);
    scenery.frame.drawn_broken[1] = 1;
    scenery.frame.fields |= FRAME_DRAWN_BROKEN;
    struct image image = picture_of(&scenery, LAYER_SPRINGS);
    vec3 first = {0.5, 0, 0}, second = {1.5, 0, 0};
    struct pixel background = pixel_of(&empty, &scenery, second);
    assert_true(apart(pixel_of(&whole, &scenery, second), background) > 50);
    assert_true(apart(pixel_of(&image, &scenery, second), background) < 5);
    assert_true(apart(pixel_of(&image, &scenery, first), background) > 50);
    image_free(&empty);
    image_free(&whole);
    image_free(&image);
    scenery_free(&scenery);
}

static void test_fewer_springs_are_drawn_where_that_is_asked_for(void **state)
{
    (void)state;
    struct scenery scenery = scenery_of(cloth_text);
    struct image empty = picture_of(&scenery, LAYER_GROUND);
    struct image all = picture_of(&scenery, LAYER_SPRINGS);
    scenery.options.springs_max = scenery.subject.spring_count / 4;
    struct image some = picture_of(&scenery, LAYER_SPRINGS);
    size_t of_all = differ_at_all(&all, &empty, 20), of_some = differ_at_all(&some, &empty, 20);
    assert_true(of_some > 100 && of_some < of_all * 2 / 3);
    image_free(&empty);
    image_free(&all);
    image_free(&some);
    scenery_free(&scenery);
}

static void test_pinned_and_moved_nodes_are_marked(void **state)
{
    (void)state;
    struct scenery scenery = scenery_of(chain_text);
    struct image without = picture_of(&scenery, LAYER_SPRINGS);
    struct image with = picture_of(&scenery, LAYER_SPRINGS | LAYER_PINS);
    struct pixel pinned = pixel_of(&with, &scenery, vec3_make(0, 0, 0));
    struct pixel moved = pixel_of(&with, &scenery, vec3_make(3, 0, 0));
    vec3 free_node = {1, 0, 0};
    assert_true(apart(pinned, (struct pixel){33, 38, 46}) < 20); // ink
    assert_true(apart(moved, (struct pixel){230, 159, 0}) < 20); // amber
    assert_true(
        apart(pixel_of(&with, &scenery, free_node), pixel_of(&without, &scenery, free_node)) < 3);
    image_free(&without);
    image_free(&with);
    scenery_free(&scenery);
}

static void test_nodes_are_drawn_as_balls(void **state)
{
    (void)state;
    struct scenery scenery = scenery_of(chain_text);
    struct image empty = picture_of(&scenery, LAYER_GROUND);
    struct image nodes = picture_of(&scenery, LAYER_NODES);
    for (int node = 0; node < 4; node++) {
        vec3 at = {node, 0, 0}, between = {node + 0.5, 0, 0};
        assert_true(apart(pixel_of(&nodes, &scenery, at), pixel_of(&empty, &scenery, at)) > 50);
        if (node < 3)
            assert_true(apart(pixel_of(&nodes, &scenery, between),
                              pixel_of(&empty, &scenery, between)) < 3);
    }
    image_free(&empty);
    image_free(&nodes);
    scenery_free(&scenery);
}

static void test_cloth_is_seen_from_both_sides(void **state)
{
    (void)state;
    struct scenery scenery = scenery_of(cloth_text);
    struct image front_empty = picture_of(&scenery, LAYER_GROUND);
    struct image front = picture_of(&scenery, LAYER_FACES);
    scenery_look(&scenery, 180, 20);
    struct image back_empty = picture_of(&scenery, LAYER_GROUND);
    struct image back = picture_of(&scenery, LAYER_FACES);
    size_t pixels_front = differ_at_all(&front, &front_empty, 15);
    size_t pixels_back = differ_at_all(&back, &back_empty, 15);
    assert_true(pixels_front > 5000);
    assert_true(labs((long)pixels_front - (long)pixels_back) < 400);
    long blue_front = 0, blue_back = 0;
    for (size_t i = 0; i < 3 * PICTURE_WIDTH * PICTURE_HEIGHT; i += 3) {
        blue_front += front.pixels[i + 2] - front.pixels[i];
        blue_back += back.pixels[i + 2] - back.pixels[i];
    }
    assert_true(blue_front > blue_back * 11 / 10); // the back is greyer
    image_free(&front_empty);
    image_free(&front);
    image_free(&back_empty);
    image_free(&back);
    scenery_free(&scenery);
}

static void test_cloth_has_a_checker(void **state)
{
    (void)state;
    struct scenery scenery = scenery_of(cloth_text);
    struct image image = picture_of(&scenery, LAYER_FACES);
    // Squares of two nodes: the middle of one, of the next along u, and of the next along both.
    double side = 2.0 * 2.0 / 24;
    vec3 first = {-1 + 4.2 * side, 4.2 * side, 0}, next = first, both = first;
    next.x += side;
    both.x += side;
    both.y += side;
    struct pixel one = pixel_of(&image, &scenery, first), two = pixel_of(&image, &scenery, next);
    assert_true(apart(one, two) > 60);
    assert_true(apart(one, pixel_of(&image, &scenery, both)) < 30);
    image_free(&image);
    scenery_free(&scenery);
}

static void test_large_cloth_is_drawn_by_fewer_triangles_at_the_same_place(void **state)
{
    (void)state;
    static const char large_text[] = PICTURE_START
        "bodies:\n"
        "  - {name: cloth, type: cloth, origin: [-1, 0, 0], u: [2, 0, 0], v: [0, 2, 0],\n"
        "     nodes: [250, 250], mass: 1, springs: {structural: {stiffness: 100}}}\n";
    struct scenery small = scenery_of(cloth_text), large = scenery_of(large_text);
    struct image empty = picture_of(&small, LAYER_GROUND);
    struct image of_small = picture_of(&small, LAYER_FACES);
    struct image of_large = picture_of(&large, LAYER_FACES);
    size_t covered = differ_at_all(&of_small, &empty, 12);
    assert_true(labs((long)covered - (long)differ_at_all(&of_large, &empty, 12)) < 150);
    image_free(&empty);
    image_free(&of_small);
    image_free(&of_large);
    scenery_free(&small);
    scenery_free(&large);
}

static void test_pictures_are_the_same_again(void **state)
{
    (void)state;
    struct scenery scenery = scenery_of(above_text), other = scenery_of(ring_text);
    scenery.options.colouring = COLOURING_TENSION;
    struct image first = picture_of(&scenery, LAYER_ALL);
    struct image between = picture_of(&other, LAYER_ALL);
    struct image again = picture_of(&scenery, LAYER_ALL);
    assert_true(image_difference(&first, &again) < 0.1);
    assert_true(image_difference(&first, &between) > 10);
    image_free(&first);
    image_free(&between);
    image_free(&again);
    scenery_free(&scenery);
    scenery_free(&other);
}

static void test_layers_that_suit_a_subject(void **state)
{
    (void)state;
    struct scenery chain = scenery_of(chain_text), cloth = scenery_of(cloth_text);
    unsigned of_chain = renderer_layers_for(&chain.subject, &chain.options);
    unsigned of_cloth = renderer_layers_for(&cloth.subject, &cloth.options);
    assert_true(of_chain & LAYER_SPRINGS && of_chain & LAYER_NODES && of_chain & LAYER_PINS);
    assert_true(of_cloth & LAYER_FACES && !(of_cloth & LAYER_SPRINGS));
    cloth.options.colouring = COLOURING_KIND;
    assert_true(renderer_layers_for(&cloth.subject, &cloth.options) & LAYER_SPRINGS);
    // No layers requested: the default ones.
    struct image chosen = picture_of(&chain, 0), given = picture_of(&chain, of_chain);
    assert_true(image_difference(&chosen, &given) < 0.1);
    image_free(&chosen);
    image_free(&given);
    scenery_free(&chain);
    scenery_free(&cloth);
}

static void test_drawing_needs_a_subject(void **state)
{
    (void)state;
    struct scenery scenery = scenery_of(chain_text);
    struct renderer *renderer;
    taut_error error = {0};
    assert_int_equal(renderer_make(&renderer, &error), TAUT_OK);
    assert_int_equal(renderer_draw(renderer, &scenery.frame, &scenery.camera, &scenery.options,
                                   pictures_framebuffer(), &error),
                     TAUT_ERROR_ARGUMENT);
    assert_non_null(strstr(error.text, "subject"));
    renderer_free(renderer);
    scenery_free(&scenery);
}

static void test_state_is_left_as_others_expect_it(void **state)
{
    (void)state;
    struct scenery scenery = scenery_of(above_text);
    struct image image = picture_of(&scenery, LAYER_ALL);
    static const GLenum off[] = {GL_DEPTH_TEST,         GL_BLEND,        GL_CULL_FACE,
                                 GL_STENCIL_TEST,       GL_SCISSOR_TEST, GL_POLYGON_OFFSET_FILL,
                                 GL_PROGRAM_POINT_SIZE, GL_DEPTH_CLAMP};
    for (size_t i = 0; i < sizeof off / sizeof off[0]; i++)
        assert_false(glIsEnabled(off[i]));
    GLint program, vertices, framebuffer, viewport[4];
    glGetIntegerv(GL_CURRENT_PROGRAM, &program);
    glGetIntegerv(GL_VERTEX_ARRAY_BINDING, &vertices);
    glGetIntegerv(GL_DRAW_FRAMEBUFFER_BINDING, &framebuffer);
    glGetIntegerv(GL_VIEWPORT, viewport);
    assert_int_equal(program, 0);
    assert_int_equal(vertices, 0);
    assert_int_equal(framebuffer, pictures_framebuffer());
    assert_int_equal(viewport[2], PICTURE_WIDTH);
    assert_int_equal(viewport[3], PICTURE_HEIGHT);
    assert_int_equal(glGetError(), GL_NO_ERROR);
    image_free(&image);
    scenery_free(&scenery);
}

static void test_nodes_that_are_nowhere_do_no_harm(void **state)
{
    (void)state;
    struct scenery scenery = scenery_of(cloth_text);
    scenery.options.colouring = COLOURING_STRAIN;
    scenery.frame.drawn_positions[3 * 100] = NAN;
    scenery.frame.drawn_strains[7] = NAN;
    struct image image = picture_of(&scenery, LAYER_ALL);
    double least, most;
    renderer_scale(pictures_renderer(), &least, &most);
    assert_true(least < most && isfinite(most));
    image_free(&image);
    scenery.frame.drawn_positions[3 * 100] = INFINITY;
    image = picture_of(&scenery, LAYER_ALL);
    image_free(&image);
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
        cmocka_unit_test(test_springs_have_the_colour_of_their_strain),
        cmocka_unit_test(test_strains_that_were_not_taken_are_found_from_positions),
        cmocka_unit_test(test_scale_that_is_asked_for_is_kept),
        cmocka_unit_test(test_broken_springs_are_not_drawn),
        cmocka_unit_test(test_fewer_springs_are_drawn_where_that_is_asked_for),
        cmocka_unit_test(test_pinned_and_moved_nodes_are_marked),
        cmocka_unit_test(test_nodes_are_drawn_as_balls),
        cmocka_unit_test(test_cloth_is_seen_from_both_sides),
        cmocka_unit_test(test_cloth_has_a_checker),
        cmocka_unit_test(test_large_cloth_is_drawn_by_fewer_triangles_at_the_same_place),
        cmocka_unit_test(test_pictures_are_the_same_again),
        cmocka_unit_test(test_layers_that_suit_a_subject),
        cmocka_unit_test(test_drawing_needs_a_subject),
        cmocka_unit_test(test_state_is_left_as_others_expect_it),
        cmocka_unit_test(test_nodes_that_are_nowhere_do_no_harm),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    pictures_end();
    return failed;
}
