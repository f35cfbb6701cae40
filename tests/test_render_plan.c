// render_plan.h: the frames that the options of taut render select.
#include "test.h"

#include <math.h>
#include <string.h>

#include "cli/render_plan.h"

static const struct render_span five_seconds = {.end = 5};

static struct render_plan plan_of(const struct render_request *request, const char *path,
                                  const struct render_span *span)
{
    struct render_plan plan;
    taut_error error = {0};
    if (render_plan_make(request, path, span, &plan, &error) != TAUT_OK)
        fail_msg("%s", error.text);
    return plan;
}

static void assert_refused(const struct render_request *request, const char *path, const char *why)
{
    struct render_plan plan;
    taut_error error = {0};
    assert_int_equal(render_plan_make(request, path, &five_seconds, &plan, &error),
                     TAUT_ERROR_ARGUMENT);
    assert_contains(error.text, why);
}

static void test_picture(void **state)
{
    (void)state;
    struct render_request request = {.fps = 0};
    struct render_plan plan = plan_of(&request, "a.png", &five_seconds);
    assert_int_equal(plan.kind, RENDER_PICTURE);
    assert_int_equal(plan.count, 1);
    assert_true(plan.times[0] == 5);
    assert_int_equal(plan.width, 1280);
    render_plan_free(&plan);
    request = (struct render_request){.times = {2}, .time_count = 1, .width = 10, .height = 20};
    plan = plan_of(&request, "a.png", &five_seconds);
    assert_true(plan.count == 1 && plan.times[0] == 2);
    assert_true(plan.width == 10 && plan.height == 20);
    render_plan_free(&plan);
}

static void test_strip(void **state)
{
    (void)state;
    struct render_request request = {.times = {0, 1, 4}, .time_count = 3};
    struct render_plan plan = plan_of(&request, "a.png", &five_seconds);
    assert_int_equal(plan.kind, RENDER_STRIP);
    assert_int_equal(plan.columns, 3);
    assert_true(plan.count == 3 && plan.times[1] == 1 && plan.times[2] == 4);
    render_plan_free(&plan);
    request = (struct render_request){.frames = 6, .columns = 2};
    plan = plan_of(&request, "a.png", &five_seconds);
    assert_int_equal(plan.columns, 2);
    for (int i = 0; i < 6; i++)
        assert_true(fabs(plan.times[i] - i) < 1e-12);
    render_plan_free(&plan);
    request = (struct render_request){.frames = 3, .times = {1, 2}, .time_count = 2};
    plan = plan_of(&request, "a.png", &five_seconds);
    assert_true(plan.times[0] == 1 && plan.times[1] == 1.5 && plan.times[2] == 2);
    render_plan_free(&plan);
}

static void test_film(void **state)
{
    (void)state;
    struct render_request request = {.fps = 0};
    struct render_plan plan = plan_of(&request, "a.mp4", &five_seconds);
    assert_int_equal(plan.kind, RENDER_MP4);
    assert_true(plan.fps == 30 && plan.speed == 1);
    assert_int_equal(plan.count, 151);
    assert_true(plan.times[150] == 5);
    render_plan_free(&plan);
    request = (struct render_request){.times = {1, 3}, .time_count = 2, .fps = 10, .speed = 0.5};
    plan = plan_of(&request, "a.gif", &five_seconds);
    assert_int_equal(plan.kind, RENDER_GIF);
    assert_int_equal(plan.count, 41);
    assert_true(plan.times[0] == 1 && plan.times[40] == 3);
    render_plan_free(&plan);
    request = (struct render_request){.frames = 11, .fps = 10};
    plan = plan_of(&request, "a.gif", &five_seconds);
    assert_true(plan.count == 11 && plan.times[10] == 5 && fabs(plan.speed - 5) < 1e-12);
    render_plan_free(&plan);
}

// Runs of a hundredth of a second, or of an hour, become films of eight seconds.
static void test_speed_of_very_short_and_long_films(void **state)
{
    (void)state;
    const struct render_request request = {.fps = 0};
    const double ends[] = {0.01, 3600};
    for (int i = 0; i < 2; i++) {
        const struct render_span span = {.end = ends[i]};
        struct render_plan plan = plan_of(&request, "a.mp4", &span);
        assert_int_equal(plan.count, 8 * 30 + 1);
        assert_true(fabs(plan.speed - ends[i] / 8) < 1e-12 * ends[i]);
        render_plan_free(&plan);
    }
    const struct render_span nothing = {.end = 0};
    struct render_plan plan = plan_of(&request, "a.mp4", &nothing);
    assert_int_equal(plan.count, 1);
    render_plan_free(&plan);
}

// A run with 25 frames per second is shown with all of them.
static void test_rate_of_a_finished_run(void **state)
{
    (void)state;
    double times[26];
    for (int i = 0; i < 26; i++)
        times[i] = 0.04 * i;
    const struct render_span span = {1, times, 26};
    const struct render_request request = {.fps = 0};
    struct render_plan plan = plan_of(&request, "a.mp4", &span);
    assert_true(plan.fps == 25);
    assert_int_equal(plan.count, 26);
    render_plan_free(&plan);
}

static void test_contradictions(void **state)
{
    (void)state;
    const struct {
        struct render_request request;
        const char *path, *why;
    } cases[] = {
        {{.fps = 0}, "a.jpg", "should end in .png"},
        {{.fps = 0}, ".png", "should end in .png"},
        {{.fps = 10}, "a.png", "--fps and --speed are for videos"},
        {{.columns = 2}, "a.png", "--columns is only for strips"},
        {{.columns = 2, .frames = 4}, "a.mp4", "--columns is only for strips"},
        {{.times = {1}, .time_count = 1}, "a.mp4", "--time FROM,TO"},
        {{.times = {1, 2, 3}, .time_count = 3, .frames = 9}, "a.png", "--time FROM,TO"},
        {{.frames = 9, .speed = 2}, "a.mp4", "give one"},
        {{.frames = 65}, "a.png", "at most 64 frames"},
        {{.times = {5.1}, .time_count = 1}, "a.png", "there is no t = 5.1 s: it ends at 5 s"},
        {{.speed = 1e-6}, "a.mp4", "more than 100000"},
        {{.width = 641, .height = 361}, "a.mp4", "not 641x361: use 642x362"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_refused(&cases[i].request, cases[i].path, cases[i].why);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_picture),
        cmocka_unit_test(test_strip),
        cmocka_unit_test(test_film),
        cmocka_unit_test(test_speed_of_very_short_and_long_films),
        cmocka_unit_test(test_rate_of_a_finished_run),
        cmocka_unit_test(test_contradictions),
    };
    return cmocka_run_group_tests_name("render_plan", tests, NULL, NULL);
}
