// The pictures of the documents are reproducible: some of them are drawn again (docs/pictures.sh),
// and must agree with docs/pictures. The runs have the same bits on every machine, and so have
// pictures by one version of Mesa's llvmpipe, whatever its vector width and threads; other OpenGL
// drivers may round differently. Mesa's softpipe, which does not antialias edges, differs by 8
// (root mean square of 255) and is rejected.
#include "test.h"

#include "cli_fixture.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "picture/canvas.h"

static const double DIFFERENCE_MAX = 3; // root mean square, of 255
static const double CHANGED_MAX = 0.01; // share of pixels in which a component differs by more
                                        // than
enum { CHANGE = 32 };                   // this

static const char *const names[] = {"flag", "jelly-spheres", "ring-pressure", "rope-breaks"};
enum { NAME_COUNT = sizeof names / sizeof names[0] };

static struct image picture_at(const char *folder, const char *name)
{
    struct image image;
    taut_error error = {0};
    char *path = text_format("%s/%s.png", folder, name);
    assert_non_null(path);
    if (image_read_png(path, &image, &error) != TAUT_OK)
        fail_msg("%s", error.text);
    free(path);
    return image;
}

static double share_changed(const struct image *a, const struct image *b)
{
    if (a->width != b->width || a->height != b->height)
        return 1;
    size_t count = (size_t)a->width * (size_t)a->height, changed = 0;
    for (size_t i = 0; i < count; i++) {
        bool differs = false;
        for (size_t c = 0; c < 3; c++)
            differs |= abs(a->pixels[3 * i + c] - b->pixels[3 * i + c]) > CHANGE;
        changed += differs;
    }
    return (double)changed / (double)count;
}

static bool is_same(const struct image *a, const struct image *b)
{
    return image_difference(a, b) <= DIFFERENCE_MAX && share_changed(a, b) <= CHANGED_MAX;
}

// Draws them once for all tests.
static void make_again(void)
{
    static bool made;
    if (made)
        return;
    cli_enter("pictures");
    struct outcome outcome = cli_run("taut render '" TAUT_TEST_SOURCE
                                     "/scenes/quads.yaml' --time 0 --size 16x16 --output try.png");
    bool absent = outcome.code == 1 && strstr(outcome.err, "EGL");
    if (absent)
        print_message("skipped: %s", outcome.err);
    outcome_free(&outcome);
    if (absent)
        skip();
    char *line = text_format("'%s/docs/pictures.sh' --output \"$PWD\" '%s' %s %s %s %s",
                             TAUT_TEST_SOURCE, TAUT_BINARY, names[0], names[1], names[2], names[3]);
    assert_non_null(line);
    outcome = cli_expect(0, line);
    outcome_free(&outcome);
    free(line);
    made = true;
}

static void pictures_are_made_again(void **state)
{
    (void)state;
    make_again();
    for (int i = 0; i < NAME_COUNT; i++) {
        struct image kept = picture_at(TAUT_TEST_SOURCE "/docs/pictures", names[i]);
        struct image made = picture_at(".", names[i]);
        print_message("%s: apart by %.3f, changed %.3f%%\n", names[i],
                      image_difference(&kept, &made), 100 * share_changed(&kept, &made));
        bool same = is_same(&kept, &made);
        image_free(&kept);
        image_free(&made);
        if (!same)
            fail_msg("%s is another picture than docs/pictures/%s.png; if it should be, make it "
                     "again by ./dev pictures",
                     names[i], names[i]);
    }
}

// The comparison detects another time, another colour and another scene.
static void other_pictures_are_distinguished(void **state)
{
    (void)state;
    make_again();
    static const struct {
        const char *name, *command;
    } others[] = {
        {"flag", "--columns 3 --size 290x220 --time 0.8,2.3,3.6 --zoom 0.9 --hide legend"},
        {"ring-pressure", "--columns 4 --size 220x200 --time 0,4,7,40"},
        {"ring-pressure", "--columns 4 --size 220x200 --time 0,4,8,40 --hide nodes"},
    };
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        char *line = text_format("taut render '%s/scenes/%s.yaml' --quiet --output other.png %s",
                                 TAUT_TEST_SOURCE, others[i].name, others[i].command);
        assert_non_null(line);
        struct outcome outcome = cli_expect(0, line);
        outcome_free(&outcome);
        free(line);
        struct image kept = picture_at(TAUT_TEST_SOURCE "/docs/pictures", others[i].name);
        struct image other = picture_at(".", "other");
        assert_int_equal(kept.width, other.width);
        print_message("%s: apart by %.3f, changed %.3f%%\n", others[i].command,
                      image_difference(&kept, &other), 100 * share_changed(&kept, &other));
        if (is_same(&kept, &other))
            fail_msg("'%s' is taken for docs/pictures/%s.png", others[i].command, others[i].name);
        image_free(&kept);
        image_free(&other);
    }
}

static void every_scene_has_its_picture(void **state)
{
    (void)state;
    DIR *folder = opendir(TAUT_TEST_SOURCE "/scenes");
    assert_non_null(folder);
    size_t count = 0;
    struct dirent *entry;
    while ((entry = readdir(folder)) != NULL) {
        size_t length = strlen(entry->d_name), ending = strlen(".yaml");
        if (length <= ending || strcmp(entry->d_name + length - ending, ".yaml") != 0)
            continue;
        char *name = text_format("%.*s", (int)(length - ending), entry->d_name);
        assert_non_null(name);
        struct image image = picture_at(TAUT_TEST_SOURCE "/docs/pictures", name);
        assert_in_range(image.width, 400, 1000);
        image_free(&image);
        free(name);
        count++;
    }
    (void)closedir(folder);
    assert_true(count >= 28);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pictures_are_made_again),
        cmocka_unit_test(other_pictures_are_distinguished),
        cmocka_unit_test(every_scene_has_its_picture),
    };
    return cmocka_run_group_tests_name("pictures", tests, NULL, NULL);
}
