// energy.csv, probes.csv and the final state, compared as text.
#include "test.h"

#include "output/csv.h"
#include "output/recording.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "output_fixture.h"

// Every row is written at once, so that a killed run leaves complete rows.
static void test_energy_rows(void **state)
{
    (void)state;
    const char *path = fixture_path(fixture_folder("tables"), "energy.csv");
    struct fixture fixture;
    struct energy_csv table;
    fixture_fill(&fixture, 0, false);
    assert_int_equal(energy_csv_open(&table, path, &fixture.frame, NULL), TAUT_OK);
    assert_int_equal(energy_csv_add(&table, &fixture.frame, NULL), TAUT_OK);
    fixture_fill(&fixture, 2, false);
    assert_int_equal(energy_csv_add(&table, &fixture.frame, NULL), TAUT_OK);
    fixture_assert_text(
        path, "step,time,kinetic,elastic,gravity,gas,contact,total,work_damping,work_drag,"
              "work_friction,work_keep,work_projection,work_breaking,work_wind,work_drives,"
              "work_inflation,"
              "volume_tet,volume_ring-2D\n"
              "0,0,1,0.10000000000000001,-2.5,0.75,0,-0.65000000000000002,1,2,3,4,5,6,7,8,9,"
              "0.16666666666666666,1\n"
              "20,0.5,3,0.10000000000000001,-2.5,0.75,0,1.3500000000000001,1,2,3,4,5,6,7,"
              "8,9,0.16666666666666666,1\n");
    assert_int_equal(energy_csv_close(&table, NULL), TAUT_OK);
}

static void test_energy_without_work_and_volumes(void **state)
{
    (void)state;
    const char *path = fixture_path(fixture_folder("tables"), "energy.csv");
    const struct frame now = {.step = 18446744073709551615u, .time = 1e-3, .energy = {.total = 5}};
    struct energy_csv table;
    assert_int_equal(energy_csv_open(&table, path, &now, NULL), TAUT_OK);
    assert_int_equal(energy_csv_add(&table, &now, NULL), TAUT_OK);
    assert_int_equal(energy_csv_close(&table, NULL), TAUT_OK);
    fixture_assert_text(path, "step,time,kinetic,elastic,gravity,gas,contact,total\n"
                              "18446744073709551615,0.001,0,0,0,0,0,5\n");
}

static void test_energy_row_that_does_not_fit_is_cut_off(void **state)
{
    (void)state;
    const char *path = fixture_path(fixture_folder("tables"), "energy.csv");
    const struct frame now = {.step = 1234, .energy = {.total = 5}};
    struct energy_csv table;
    taut_error error = {0};
    assert_int_equal(energy_csv_open(&table, path, &now, NULL), TAUT_OK);
    assert_int_equal(energy_csv_add(&table, &now, NULL), TAUT_OK);
    static const char whole[] = "step,time,kinetic,elastic,gravity,gas,contact,total\n"
                                "1234,0,0,0,0,0,0,5\n";
    fixture_limit_file_size(strlen(whole) + 7);
    taut_status status = energy_csv_add(&table, &now, &error);
    fixture_limit_file_size(RLIM_INFINITY);
    assert_int_equal(status, TAUT_ERROR_IO);
    assert_non_null(strstr(error.text, "energy.csv': File too large"));
    fixture_assert_text(path, whole);
    assert_int_equal(energy_csv_close(&table, NULL), TAUT_OK);
    fixture_assert_text(path, whole);
}

static void test_probes_by_their_steps(void **state)
{
    (void)state;
    const char *path = fixture_path(fixture_folder("tables"), "probes.csv");
    const struct recording_probe probes[] = {{FIXTURE_ROPE, 2, 20}, {FIXTURE_BOB, 0, 0}};
    struct probes_csv table;
    assert_int_equal(probes_csv_open(&table, path, probes, 1, NULL), TAUT_OK);
    assert_true(probes_csv_wants(&table, 0));
    assert_false(probes_csv_wants(&table, 10));
    assert_true(probes_csv_wants(&table, 40));
    assert_int_equal(probes_csv_close(&table, NULL), TAUT_OK);
    assert_int_equal(unlink(path), 0);

    assert_int_equal(probes_csv_open(&table, path, probes, 2, NULL), TAUT_OK);
    assert_true(probes_csv_wants(&table, 7)); // 0 means every step
    struct fixture fixture;
    for (unsigned frame = 1; frame < 3; frame++) {
        fixture_fill(&fixture, frame, true);
        assert_int_equal(probes_csv_add(&table, &fixture.frame, NULL), TAUT_OK);
    }
    assert_int_equal(probes_csv_close(&table, NULL), TAUT_OK);
    fixture_assert_text(path,
                        "step,time,body,node,x,y,z,vx,vy,vz\n"
                        "10,0.25,bob,0,100.1,100.433333,100.766667,-1,-1.33333333,-1.66666667\n"
                        "20,0.5,rope,2,35.5333333,35.8666667,36.2,-4,-4.33333333,-4.66666667\n"
                        "20,0.5,bob,0,100.2,100.533333,100.866667,-2,-2.33333333,-2.66666667\n");
}

// Far more rows than the buffer can take, into a file of limited size.
static void test_probe_rows_that_do_not_fit_are_cut_off(void **state)
{
    (void)state;
    const char *path = fixture_path(fixture_folder("tables"), "probes.csv");
    const struct recording_probe probe = {FIXTURE_BOB, 1, 1};
    struct fixture fixture;
    struct probes_csv table;
    taut_error error = {0};
    fixture_fill(&fixture, 1, false);
    assert_int_equal(probes_csv_open(&table, path, &probe, 1, NULL), TAUT_OK);
    fixture_limit_file_size(400000);
    taut_status status = TAUT_OK;
    for (int i = 0; i < 10000 && status == TAUT_OK; i++)
        status = probes_csv_add(&table, &fixture.frame, &error);
    fixture_limit_file_size(RLIM_INFINITY);
    assert_int_equal(status, TAUT_ERROR_IO);
    assert_non_null(strstr(error.text, "probes.csv': File too large"));
    assert_int_equal(probes_csv_close(&table, NULL), TAUT_OK);
    size_t length;
    char *text = fixture_read(path, &length);
    assert_in_range(length, 300000, 400000);
    assert_int_equal(text[length - 1], '\n');
    const char *head_end = strchr(text, '\n');
    size_t row = strcspn(head_end + 1, "\n") + 1;
    assert_int_equal((length - (size_t)(head_end + 1 - text)) % row, 0);
    free(text);
}

static void check_state(bool single, const char *expected_row)
{
    const char *folder = fixture_folder("tables");
    const char *path = fixture_path(folder, "state.csv");
    struct fixture fixture;
    fixture_fill(&fixture, 1, single);
    assert_int_equal(state_csv_write(path, &fixture.frame, NULL), TAUT_OK);
    char *text = fixture_read(path, NULL);
    static const char head[] = "body,node,x,y,z,vx,vy,vz\ntet,0,";
    assert_memory_equal(text, head, strlen(head));
    assert_non_null(strstr(text, expected_row));
    size_t rows = 0;
    for (const char *c = text; *c; c++)
        rows += *c == '\n';
    assert_int_equal(rows, 1 + FIXTURE_NODE_COUNT);
    assert_int_equal(fixture_count(folder), 1);
    free(text);
}

static void test_state_in_single(void **state)
{
    (void)state;
    check_state(true, "\nrope,1,34.4333333,34.7666667,35.1,-2,-2.33333333,-2.66666667\n");
}

static void test_state_in_double(void **state)
{
    (void)state;
    check_state(false, "\nrope,0,33.43333333333333");
    check_state(false, ",-1,-1.3333333333333333,-1.6666666666666665\n");
}

static void test_state_is_all_or_nothing(void **state)
{
    (void)state;
    const char *folder = fixture_folder("tables");
    const char *path = fixture_path(folder, "state.csv");
    fixture_write(path, "earlier");
    struct fixture fixture;
    taut_error error = {0};
    fixture_fill(&fixture, 1, false);
    fixture_limit_file_size(200);
    taut_status status = state_csv_write(path, &fixture.frame, &error);
    fixture_limit_file_size(RLIM_INFINITY);
    assert_int_equal(status, TAUT_ERROR_IO);
    assert_non_null(strstr(error.text, "state.csv': File too large"));
    fixture_assert_text(path, "earlier");
    assert_int_equal(fixture_count(folder), 1);
    status = state_csv_write(fixture_path(folder, "absent/state.csv"), &fixture.frame, &error);
    assert_int_equal(status, TAUT_ERROR_IO);
    assert_non_null(strstr(error.text, "absent/state.csv': No such file or directory"));
}

int main(void)
{
    signal(SIGXFSZ, SIG_IGN);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_energy_rows),
        cmocka_unit_test(test_energy_without_work_and_volumes),
        cmocka_unit_test(test_energy_row_that_does_not_fit_is_cut_off),
        cmocka_unit_test(test_probes_by_their_steps),
        cmocka_unit_test(test_probe_rows_that_do_not_fit_are_cut_off),
        cmocka_unit_test(test_state_in_single),
        cmocka_unit_test(test_state_in_double),
        cmocka_unit_test(test_state_is_all_or_nothing),
    };
    return cmocka_run_group_tests_name("tables", tests, NULL, NULL);
}
