// Parts of the command line that need no process: JSON text, formatting of numbers, the schedule of
// output.
#include "test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/human.h"
#include "base/json.h"
#include "cli/schedule.h"

static char *finish(struct json *json, char **text)
{
    assert_int_equal(fclose(json->out), 0);
    return *text;
}

static struct json begin(char **text, size_t *size)
{
    struct json json = {.out = open_memstream(text, size)};
    assert_non_null(json.out);
    return json;
}

static void json_nests_and_separates(void **state)
{
    (void)state;
    char *text;
    size_t size;
    struct json json = begin(&text, &size);
    json_open_object(&json, NULL);
    json_count(&json, "n", UINT64_MAX);
    json_open_array(&json, "a");
    json_bool(&json, NULL, true);
    json_open_object(&json, NULL);
    json_close_object(&json);
    json_close_array(&json);
    json_null(&json, "z");
    json_close_object(&json);
    assert_string_equal(finish(&json, &text), "{\n  \"n\": 18446744073709551615,\n  \"a\": [\n"
                                              "    true,\n    {}\n  ],\n  \"z\": null\n}\n");
    free(text);
}

static void json_numbers_are_exact_or_null(void **state)
{
    (void)state;
    char *text;
    size_t size;
    struct json json = begin(&text, &size);
    json_open_array(&json, NULL);
    json_number(&json, NULL, 0.1);
    json_number(&json, NULL, NAN);
    json_number(&json, NULL, -INFINITY);
    json_close_array(&json);
    assert_string_equal(finish(&json, &text), "[\n  0.10000000000000001,\n  null,\n  null\n]\n");
    assert_true(strtod(text + 4, NULL) == 0.1);
    free(text);
}

static void json_strings_are_escaped(void **state)
{
    (void)state;
    static const struct {
        const char *value, *written;
    } cases[] = {
        {"a\"b\\c", "\"a\\\"b\\\\c\""},
        {"\n\t\x01\x7f", "\"\\n\\t\\u0001\\u007f\""},
        {"\xC3\xBC \xE2\x82\xAC \xF0\x9F\x98\x80", "\"\xC3\xBC \xE2\x82\xAC \xF0\x9F\x98\x80\""},
        {"\xFF!", "\"\xEF\xBF\xBD!\""},                               // not a lead byte
        {"\xC3", "\"\xEF\xBF\xBD\""},                                 // cut short
        {"\xED\xA0\x80", "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\""}, // half of a surrogate pair
        {"\xC0\xAF", "\"\xEF\xBF\xBD\xEF\xBF\xBD\""},                 // overlong
        {NULL, "null"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *text;
        size_t size;
        struct json json = begin(&text, &size);
        json_string(&json, NULL, cases[i].value);
        assert_string_equal(finish(&json, &text), cases[i].written);
        free(text);
    }
}

static void counts_are_grouped_by_thousands(void **state)
{
    (void)state;
    assert_string_equal(human_count(0).text, "0");
    assert_string_equal(human_count(999).text, "999");
    assert_string_equal(human_count(1000).text, "1,000");
    assert_string_equal(human_count(12345678).text, "12,345,678");
    assert_string_equal(human_count(UINT64_MAX).text, "18,446,744,073,709,551,615");
    assert_string_equal(human_counted(1, "spring").text, "1 spring");
    assert_string_equal(human_counted(2000, "spring").text, "2,000 springs");
    assert_string_equal(human_counted(1, "body").text, "1 body");
    assert_string_equal(human_counted(0, "body").text, "0 bodies");
}

static void sizes_have_three_digits_and_a_unit(void **state)
{
    (void)state;
    assert_string_equal(human_scaled(0).text, "0");
    assert_string_equal(human_scaled(831).text, "831");
    assert_string_equal(human_scaled(118.4e6).text, "118 M");
    assert_string_equal(human_scaled(999.7e6).text, "1.00 G");
    assert_string_equal(human_scaled(2.0472e9).text, "2.05 G");
    assert_string_equal(human_bytes(512).text, "512 B");
    assert_string_equal(human_bytes(4.25 * 1024 * 1024).text, "4.25 MiB");
    assert_string_equal(human_seconds(0).text, "0 s");
    assert_string_equal(human_seconds(0.0142).text, "14.2 ms");
    assert_string_equal(human_seconds(3.2e-6).text, "3.2 us");
    assert_string_equal(human_seconds(61.54).text, "61.5 s");
    assert_string_equal(human_seconds(12345).text, "12345 s");
    assert_string_equal(human_remaining(6.2).text, "0:07");
    assert_string_equal(human_remaining(750).text, "12:30");
    assert_string_equal(human_remaining(3 * 3600 + 240).text, "3:04:00");
    assert_string_equal(human_remaining(INFINITY).text, "?");
    assert_string_equal(human_remaining(NAN).text, "?");
}

// A solver of one oscillator; a schedule only reads its dt and number of steps.
static taut_solver *solver_with(double dt, uint64_t steps)
{
    char text[256];
    int length =
        snprintf(text, sizeof text,
                 "simulation: {dt: %.17g, steps: %llu}\n"
                 "bodies: [{name: o, type: oscillator, mass: 1, stiffness: 1, amplitude: 1}]\n",
                 dt, (unsigned long long)steps);
    taut_scene *scene = NULL;
    taut_solver *solver = NULL;
    taut_error error = {0};
    if (taut_scene_parse(text, (size_t)length, "schedule", NULL, &scene, &error) != TAUT_OK ||
        taut_solver_create(scene, NULL, &solver, &error) != TAUT_OK)
        fail_msg("%s", error.text);
    taut_scene_destroy(scene);
    return solver;
}

// The steps of all frames after t = 0, as a list.
static char *frames(const struct scene_output *output, double dt, uint64_t steps)
{
    taut_scene scene = {.output = *output};
    taut_solver *solver = solver_with(dt, steps);
    struct schedule schedule = schedule_make(&scene, solver);
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    uint64_t step = 0;
    while (step < steps) {
        uint64_t next = schedule_next_frame(&schedule, step);
        assert_true(next > step);
        fprintf(out, "%s%llu", step > 0 ? " " : "", (unsigned long long)next);
        step = next;
    }
    assert_int_equal(fclose(out), 0);
    taut_solver_destroy(solver);
    return text;
}

static void assert_frames(struct scene_output output, double dt, uint64_t steps,
                          const char *expected)
{
    char *text = frames(&output, dt, steps);
    assert_string_equal(text, expected);
    free(text);
}

static void frames_follow_the_scene(void **state)
{
    (void)state;
    struct scene_output by_steps = {.every_steps = 4};
    assert_frames(by_steps, 0.1, 10, "4 8 10");
    assert_frames(by_steps, 0.1, 8, "4 8");
    assert_frames(by_steps, 0.1, 3, "3");
    // Frame k is at the step nearest to k times 2.5 steps.
    struct scene_output by_time = {.has_every = true, .every = 0.25};
    assert_frames(by_time, 0.1, 12, "3 5 8 10 12");
    struct scene_output exact = {.has_every = true, .every = 0.3};
    assert_frames(exact, 0.1, 9, "3 6 9");
    struct scene_output finer = {.has_every = true, .every = 0.01};
    assert_frames(finer, 0.1, 4, "1 2 3 4");
    struct scene_output nearly_each = {.has_every = true, .every = 0.14};
    assert_frames(nearly_each, 0.1, 7, "1 3 4 6 7");
}

static void frames_do_not_drift(void **state)
{
    (void)state;
    taut_scene scene = {.output = {.has_every = true, .every = 0.02}};
    const double dt = 0.0003;
    const uint64_t planned = 10000000;
    taut_solver *solver = solver_with(dt, planned);
    struct schedule schedule = schedule_make(&scene, solver);
    uint64_t step = 0, frame = 0;
    while (step < planned) {
        step = schedule_next_frame(&schedule, step);
        frame++;
        if (step < planned)
            assert_true(fabs((double)step * dt - (double)frame * 0.02) <= 0.5001 * dt);
    }
    assert_int_equal(frame, 150000);
    taut_solver_destroy(solver);
}

static void without_a_wish_there_are_about_a_hundred_frames(void **state)
{
    (void)state;
    const uint64_t steps[] = {1, 7, 100, 199, 1000, 12345};
    const size_t expected[] = {1, 7, 100, 199, 100, 101};
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        struct scene_output silent = {0};
        char *text = frames(&silent, 0.1, steps[i]);
        size_t count = 1;
        for (const char *c = text; *c; c++)
            count += *c == ' ';
        assert_int_equal(count, expected[i]);
        free(text);
    }
}

static void probes_are_due_at_their_own_multiples(void **state)
{
    (void)state;
    struct scene_probe probes[] = {{.every_steps = 6}, {.every_steps = 4}};
    taut_scene scene = {.output = {.probes = probes, .probe_count = 2}};
    taut_solver *solver = solver_with(0.1, 100);
    struct schedule schedule = schedule_make(&scene, solver);
    assert_int_equal(schedule_next_probe(&schedule, 0), 4);
    assert_int_equal(schedule_next_probe(&schedule, 4), 6);
    assert_int_equal(schedule_next_probe(&schedule, 6), 8);
    assert_int_equal(schedule_next_probe(&schedule, 8), 12);
    scene.output.probe_count = 0;
    schedule = schedule_make(&scene, solver);
    assert_true(schedule_next_probe(&schedule, 0) == UINT64_MAX);
    taut_solver_destroy(solver);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_nests_and_separates),
        cmocka_unit_test(json_numbers_are_exact_or_null),
        cmocka_unit_test(json_strings_are_escaped),
        cmocka_unit_test(counts_are_grouped_by_thousands),
        cmocka_unit_test(sizes_have_three_digits_and_a_unit),
        cmocka_unit_test(frames_follow_the_scene),
        cmocka_unit_test(frames_do_not_drift),
        cmocka_unit_test(without_a_wish_there_are_about_a_hundred_frames),
        cmocka_unit_test(probes_are_due_at_their_own_multiples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
