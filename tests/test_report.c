// Pictures of a study: the numbers marked on axes and how they are written, text that XML reserves,
// lines that leave their panel, and studies in which there is nothing to be seen.
#include "test.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "output_fixture.h"
#include "report/panel.h"
#include "report/report.h"

// ---- Axes

static struct axis axis_of(bool logarithmic, double low, double high)
{
    return (struct axis){
        .logarithmic = logarithmic, .low = low, .high = high, .first = 0, .last = 100};
}

static void assert_ticks(struct axis axis, int most, const char *wanted)
{
    char found[400] = "";
    struct ticks ticks = axis_ticks(&axis, most);
    for (int i = 0; i < ticks.count; i++)
        if (ticks.named[i]) {
            strcat(found, found[0] ? " " : ""); // NOLINT: short
            strcat(found, tick_text(&ticks, ticks.values[i]).text);
        }
    assert_string_equal(found, wanted);
}

static void ticks_are_round_numbers(void **state)
{
    (void)state;
    assert_ticks(axis_of(false, 0, 1), 6, "0 0.2 0.4 0.6 0.8 1.0");
    assert_ticks(axis_of(false, 0, 10), 6, "0 2 4 6 8 10");
    assert_ticks(axis_of(false, -1.2, 0.9), 5, "−1.0 −0.5 0 0.5");
    assert_ticks(axis_of(false, 0.031, 0.052), 5, "0.035 0.040 0.045 0.050");
    assert_ticks(axis_of(false, 0, 3e7), 4, "0 10⁷ 2·10⁷ 3·10⁷");
    assert_ticks(axis_of(false, -2e-6, 2e-6), 5, "−2·10⁻⁶ −10⁻⁶ 0 10⁻⁶ 2·10⁻⁶");
    assert_ticks(axis_of(true, 0.004, 0.3), 8, "0.005 0.01 0.02 0.05 0.1 0.2");
    assert_ticks(axis_of(true, 0.004, 0.3), 4, "0.01 0.1");
    assert_ticks(axis_of(true, 0.5, 2000), 8, "1 10 100 1000");
    assert_ticks(axis_of(true, 1e-12, 10), 8, "10⁻¹² 10⁻¹⁰ 10⁻⁸ 10⁻⁶ 10⁻⁴ 10⁻² 10⁰");
    assert_ticks(axis_of(true, 2, 3), 6, "2.0 2.2 2.4 2.6 2.8 3.0");
}

// Whatever is to be shown, there are at least two ticks and no more than asked for, in order and on
// the axis.
static void every_axis_has_ticks(void **state)
{
    (void)state;
    for (int i = 0; i < 4000; i++) {
        bool logarithmic = i % 2 == 0;
        double low = pow(10, -20 + 0.01 * i), factor = 1 + pow(10, -3 + i % 41 * 0.5);
        double high = low * factor;
        if (!logarithmic && i % 3 == 0)
            low = -low;
        struct axis axis = axis_make(logarithmic, (struct span){low, high}, 0.05, 0, 100);
        for (int most = 3; most <= 12; most += 3) {
            struct ticks ticks = axis_ticks(&axis, most);
            int named = 0;
            for (int t = 0; t < ticks.count; t++) {
                named += ticks.named[t];
                double place = axis_place(&axis, ticks.values[t]);
                assert_true(place > -1e-3 && place < 100 + 1e-3);
                assert_true(t == 0 || ticks.values[t] > ticks.values[t - 1]);
            }
            assert_in_range(named, 1, most + 1);
        }
    }
}

static void axes_show_what_cannot_be_shown_somehow(void **state)
{
    (void)state;
    const struct span spans[] = {span_of_nothing(), {0, 0}, {5, 5}, {1e-300, 1e300}, {-3, -3}};
    for (size_t i = 0; i < sizeof spans / sizeof spans[0]; i++)
        for (int logarithmic = 0; logarithmic < 2; logarithmic++) {
            struct axis axis = axis_make(logarithmic != 0, spans[i], 0.05, 10, 90);
            assert_true(isfinite(axis.low) && isfinite(axis.high) && axis.low < axis.high);
            assert_true(axis_ticks(&axis, 5).count > 0);
        }
    struct span span = span_of_nothing();
    span_add(&span, NAN);
    span_add(&span, INFINITY);
    span_add_positive(&span, 0);
    span_add_positive(&span, -1);
    assert_true(span_is_empty(span));
    span_add_positive(&span, 3);
    span_add(&span, -2);
    assert_true(span.low == -2 && span.high == 3);
    struct axis axis = axis_of(true, 1, 100);
    assert_true(fabs(axis_place(&axis, 10) - 50) < 1e-12);
}

static void numbers_read_as_people_write_them(void **state)
{
    (void)state;
    static const struct {
        double value;
        int digits;
        const char *wanted;
    } cases[] = {
        {0.0035831, 3, "0.00358"},
        {3.58e-5, 3, "3.58·10⁻⁵"},
        {1e-5, 3, "10⁻⁵"},
        {-1e-5, 3, "−10⁻⁵"},
        {123456, 3, "123456"},
        {1.5e6, 3, "1.5·10⁶"},
        {0, 3, "0"},
        {-0.25, 3, "−0.25"},
        {1, 4, "1"},
        {99.96, 3, "100"},
        {NAN, 3, "none"},
        {1e300, 2, "10³⁰⁰"},
        {2e-7, 1, "2·10⁻⁷"},
        {12.345, 6, "12.345"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_string_equal(number_text(cases[i].value, cases[i].digits).text, cases[i].wanted);
    assert_string_equal(fixed_text(1, 2).text, "1.00");
    if (setlocale(LC_NUMERIC, "de_DE.UTF-8")) {
        assert_string_equal(number_text(0.25, 3).text, "0.25");
        setlocale(LC_NUMERIC, "C");
    }
}

// ---- Text and lines

// What `write` writes to a file, as a text to be freed.
static char *written_by(void (*write)(struct file *file))
{
    const char *path = fixture_path(fixture_folder("report"), "text");
    struct file file;
    taut_error error;
    size_t length;
    assert_int_equal(file_create(&file, path, &error), TAUT_OK);
    write(&file);
    assert_int_equal(file_commit(&file, &error), TAUT_OK);
    return fixture_read(path, &length);
}

static void write_strange_text(struct file *file)
{
    xml_text(file, "a<b> & \"c\" ω\t|");
    xml_text(file, "\x01|\xff|\xc3|\xed\xa0\x80|\xef\xbf\xbf|\xf0\x9f\x98\x80|\xc0\xaf|");
}

static void text_is_escaped(void **state)
{
    (void)state;
    char *text = written_by(write_strange_text);
    assert_string_equal(text, "a&lt;b&gt; &amp; &quot;c&quot; ω\t|"
                              "�|�|�|���|���|\xf0\x9f\x98\x80|��|");
    free(text);
}

static void write_lines(struct file *file)
{
    struct svg svg = {.file = file, .width = 100, .height = 100};
    struct panel panel = {.svg = &svg, .left = 0, .top = 0, .right = 100, .bottom = 100};
    panel_axes(&panel, false, (struct span){0, 10}, 0, false, (struct span){0, 10}, 0);
    const struct stroke stroke = {.colour = COLOUR_INK, .width = 1};
    // Out through the top and back in; a gap; wholly outside.
    const struct panel_point points[] = {{0, 0},   {5, 20},  {10, 0}, {NAN, 0}, {1, 1}, {2, 1},
                                         {2, NAN}, {-5, 20}, {5, 20}, {15, 20}, {15, 5}};
    panel_line(&panel, points, sizeof points / sizeof points[0], &stroke);
    panel_marks(&panel, points, sizeof points / sizeof points[0], &stroke);
}

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, part)); at++)
        count++;
    return count;
}

static void lines_are_cut_to_their_panel(void **state)
{
    (void)state;
    char *text = written_by(write_lines);
    const char *wanted = "<path d=\"M0 100L25 0M75 0L100 100M10 90L20 90\"";
    if (strncmp(text, wanted, strlen(wanted)) != 0)
        print_message("%s\n", text);
    assert_int_equal(strncmp(text, wanted, strlen(wanted)), 0);
    assert_int_equal(count_of(text, "translate("), 4); // of the points that are inside
    free(text);
}

static void write_cut_text(struct file *file)
{
    struct svg svg = {.file = file, .width = 100, .height = 100};
    const struct lettering lettering = {.size = 10, .colour = COLOUR_INK, .room = 60};
    svg_text(&svg, 0, 0, &lettering, "ωωωωωωωωωωωωωωωωωωωω");
    svg_text(&svg, 0, 0, &lettering, "short");
}

static void long_text_is_cut_between_characters(void **state)
{
    (void)state;
    char *text = written_by(write_cut_text);
    assert_non_null(strstr(text, ">ωωωωωωωωωω…</text>"));
    assert_non_null(strstr(text, ">short</text>"));
    free(text);
}

// ---- Pictures

static void nothing_measured_is_no_picture(void **state)
{
    (void)state;
    enum integrator integrators[] = {INTEGRATOR_RK4};
    struct study_limit limit = {.kind = STUDY_LIMIT_UNKNOWN, .predicted = 1};
    struct study_order order = {.order = NAN};
    struct study_accuracy accuracy = {.error = NAN};
    struct study_drift drift = {.drift = NAN};
    const struct study study = {.integrator_count = 1,
                                .integrators = integrators,
                                .limits = &limit,
                                .orders = &order,
                                .accuracy_count = 1,
                                .accuracies = &accuracy,
                                .drift_count = 1,
                                .drifts = &drift};
    for (int i = 0; i < PICTURE_COUNT; i++)
        assert_false(pictures[i].is_there(&study));
}

static void write_lone_limit(struct file *file)
{
    enum integrator integrators[] = {INTEGRATOR_RK4, INTEGRATOR_EXPLICIT_EULER};
    struct study_limit limits[] = {
        {.integrator = INTEGRATOR_RK4, .kind = STUDY_LIMIT_BEYOND, .predicted = NAN, .stable = 7},
        {.integrator = INTEGRATOR_EXPLICIT_EULER, .kind = STUDY_LIMIT_GROWS, .predicted = NAN}};
    struct study study = {.integrator_count = 2,
                          .integrators = integrators,
                          .limits = limits,
                          .unit = 0.1,
                          .scene_dt = 0.05};
    taut_scene scene = {.name = (char *)"<&>", .title = (char *)"\"a\" < b & c"};
    const struct subject subject = {.study = &study, .scene = &scene};
    assert_true(pictures[0].is_there(&study));
    pictures[0].draw(&subject, &pictures[0], file, false);
}

static void a_picture_of_little_is_whole(void **state)
{
    (void)state;
    char *text = written_by(write_lone_limit);
    assert_int_equal(strncmp(text, SVG_OPENING, strlen(SVG_OPENING)), 0);
    assert_non_null(strstr(text, "&lt;&amp;&gt;: &quot;a&quot; &lt; b &amp; c"));
    assert_non_null(strstr(text, "none found up to 7 s"));
    assert_non_null(strstr(text, "none: energy always grows"));
    assert_null(strstr(text, "nan"));
    assert_null(strstr(text, "inf"));
    assert_string_equal(text + strlen(text) - 7, "</svg>\n");
    free(text);
}

static void integrators_look_different(void **state)
{
    (void)state;
    for (int i = 0; i < INTEGRATOR_COUNT; i++)
        for (int j = 0; j < i; j++) {
            struct stroke a = stroke_of((enum integrator)i), b = stroke_of((enum integrator)j);
            assert_true(a.colour != b.colour || (a.dash != b.dash && a.shape != b.shape));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ticks_are_round_numbers),
        cmocka_unit_test(every_axis_has_ticks),
        cmocka_unit_test(axes_show_what_cannot_be_shown_somehow),
        cmocka_unit_test(numbers_read_as_people_write_them),
        cmocka_unit_test(text_is_escaped),
        cmocka_unit_test(lines_are_cut_to_their_panel),
        cmocka_unit_test(long_text_is_cut_between_characters),
        cmocka_unit_test(nothing_measured_is_no_picture),
        cmocka_unit_test(a_picture_of_little_is_whole),
        cmocka_unit_test(integrators_look_different),
    };
    return cmocka_run_group_tests_name("report", tests, NULL, NULL);
}
