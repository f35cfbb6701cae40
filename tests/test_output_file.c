// file.h: complete files appear as a whole or not at all, growing files end with a complete record.
#include "test.h"

#include "output/file.h"
#include "output/folder.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "output_fixture.h"

static bool named; // tests run twice: with drafts that have a name, and with drafts that have none

static void test_whole_file_appears_at_commit(void **state)
{
    (void)state;
    const char *folder = fixture_folder("file");
    const char *path = fixture_path(folder, "a.txt");
    struct file file;
    assert_int_equal(file_create(&file, path, NULL), TAUT_OK);
    file_print(&file, "%s %d\n", "one", 1);
    assert_false(fixture_exists(path));
    assert_int_equal(fixture_count(folder), named ? 1 : 0);
    assert_true(fixture_has_temporary(folder) == named);
    assert_int_equal(file_commit(&file, NULL), TAUT_OK);
    fixture_assert_text(path, "one 1\n");
    assert_int_equal(fixture_count(folder), 1);
}

static void test_abandoned_file_leaves_the_old_one(void **state)
{
    (void)state;
    const char *folder = fixture_folder("file");
    const char *path = fixture_path(folder, "a.txt");
    fixture_write(path, "old");
    struct file file;
    assert_int_equal(file_create(&file, path, NULL), TAUT_OK);
    file_print(&file, "new");
    file_abandon(&file);
    fixture_assert_text(path, "old");
    assert_int_equal(fixture_count(folder), 1);
    file_abandon(&file); // the second call has nothing open
}

static void test_commit_replaces_and_follows_links(void **state)
{
    (void)state;
    const char *folder = fixture_folder("file");
    const char *path = fixture_path(folder, "a.txt"), *link = fixture_path(folder, "link");
    fixture_write(path, "old");
    assert_int_equal(symlink("a.txt", link), 0);
    struct file file;
    assert_int_equal(file_create(&file, link, NULL), TAUT_OK);
    file_print(&file, "new");
    assert_int_equal(file_commit(&file, NULL), TAUT_OK);
    fixture_assert_text(path, "new");
    struct stat status;
    assert_int_equal(lstat(link, &status), 0);
    assert_true(S_ISLNK(status.st_mode));
}

// A former name of temporary files may be a file of the user, or a trap.
static void test_temporary_files_are_never_those_of_others(void **state)
{
    (void)state;
    static const char *const names[] = {"a.txt.tmp", ".taut-0000000000000000.tmp"};
    const char *folder = fixture_folder("file");
    const char *victim = fixture_path(folder, "victim");
    fixture_write(victim, "mine");
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(symlink("victim", fixture_path(folder, names[i])), 0);
    fixture_write(fixture_path(folder, "b.txt.tmp"), "draft");
    struct file file;
    for (int i = 0; i < 4; i++) {
        const char *path = fixture_path(folder, i % 2 == 0 ? "a.txt" : "b.txt");
        assert_int_equal(file_create(&file, path, NULL), TAUT_OK);
        file_print(&file, "new %d", i);
        if (i < 2)
            assert_int_equal(file_commit(&file, NULL), TAUT_OK);
        else
            file_abandon(&file);
    }
    fixture_assert_text(fixture_path(folder, "a.txt"), "new 0");
    fixture_assert_text(fixture_path(folder, "b.txt"), "new 1");
    fixture_assert_text(fixture_path(folder, "b.txt.tmp"), "draft");
    fixture_assert_text(fixture_path(folder, "victim"), "mine");
    assert_int_equal(fixture_count(folder), 6);
}

static void test_new_file_replaces_nothing(void **state)
{
    (void)state;
    const char *folder = fixture_folder("file");
    const char *path = fixture_path(folder, "a.txt"), *link = fixture_path(folder, "link");
    struct file file;
    taut_error error = {0};
    assert_int_equal(file_create_new(&file, path, NULL), TAUT_OK);
    file_print(&file, "first");
    assert_int_equal(file_commit(&file, NULL), TAUT_OK);
    assert_int_equal(symlink("nowhere", link), 0);
    const char *const taken[] = {path, link};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(file_create_new(&file, taken[i], NULL), TAUT_OK);
        file_print(&file, "second");
        assert_int_equal(file_commit(&file, &error), TAUT_ERROR_IO);
        assert_non_null(strstr(error.text, "File exists"));
    }
    fixture_assert_text(path, "first");
    assert_int_equal(fixture_count(folder), 2);
}

static void test_replacing_does_not_follow_links(void **state)
{
    (void)state;
    const char *folder = fixture_folder("file");
    const char *victim = fixture_path(folder, "victim"), *link = fixture_path(folder, "link");
    fixture_write(victim, "mine");
    assert_int_equal(symlink("victim", link), 0);
    struct file file;
    assert_int_equal(file_replace(&file, link, NULL), TAUT_OK);
    file_print(&file, "new");
    assert_int_equal(file_commit(&file, NULL), TAUT_OK);
    fixture_assert_text(victim, "mine");
    fixture_assert_text(link, "new");
    struct stat status;
    assert_int_equal(lstat(link, &status), 0);
    assert_true(S_ISREG(status.st_mode));
}

// As in /tmp: a folder of root in which another user has put a link to one of our files.
static void test_symbolic_links_of_other_users_are_refused(void **state)
{
    (void)state;
    if (geteuid() != 0) {
        print_message("skipped: only root may give files to other users\n");
        skip();
    }
    const char *folder = fixture_folder("file");
    const char *victim = fixture_path(folder, "victim"), *link = fixture_path(folder, "link");
    fixture_write(victim, "mine");
    assert_int_equal(symlink("victim", link), 0);
    assert_int_equal(lchown(link, 12345, 12345), 0);
    struct file file;
    taut_error error = {0};
    assert_int_equal(file_create(&file, link, &error), TAUT_ERROR_IO);
    assert_non_null(strstr(error.text, "a symbolic link that another user has made"));
    assert_false(file.open);
    fixture_assert_text(victim, "mine");
    assert_int_equal(chown(folder, 12345, 12345), 0); // who could put files there as well
    assert_int_equal(file_create(&file, link, &error), TAUT_OK);
    file_abandon(&file);
    fixture_assert_text(victim, "mine");
}

static void replace_text(const char *path, bool with_name)
{
    struct file file;
    taut_error error = {0};
    file_name_temporaries(with_name);
    assert_int_equal(file_create(&file, path, &error), TAUT_OK);
    file_print(&file, "new");
    assert_int_equal(file_commit(&file, &error), TAUT_OK);
    file_name_temporaries(named);
}

static void test_replaced_file_keeps_its_mode(void **state)
{
    (void)state;
    const char *folder = fixture_folder("file"), *path = fixture_path(folder, "a.txt");
    static const mode_t modes[] = {0600, 0640, 0755, 0666};
    for (size_t i = 0; i < 2 * sizeof modes / sizeof modes[0]; i++) {
        struct stat status;
        fixture_write(path, "old");
        assert_int_equal(chmod(path, modes[i / 2]), 0);
        if (geteuid() == 0)
            assert_int_equal(chown(path, 12345, 12346), 0);
        replace_text(path, i % 2);
        fixture_assert_text(path, "new");
        assert_int_equal(stat(path, &status), 0);
        assert_int_equal(status.st_mode & 07777, modes[i / 2]);
        if (geteuid() == 0) {
            assert_int_equal(status.st_uid, 12345);
            assert_int_equal(status.st_gid, 12346);
        }
        assert_int_equal(unlink(path), 0);
    }
}

// The permissions of the folder would allow it.
static void test_read_only_file_is_not_replaced(void **state)
{
    (void)state;
    const char *folder = fixture_folder("file"), *path = fixture_path(folder, "a.txt");
    fixture_write(path, "old");
    assert_int_equal(chmod(path, 0444), 0);
    assert_int_equal(chmod(folder, 0777), 0);
    bool root = geteuid() == 0;
    if (root)
        assert_int_equal(seteuid(12345), 0);
    struct stat there;
    bool reachable = stat(path, &there) == 0;
    struct file file;
    taut_error error = {0};
    taut_status status = file_create(&file, path, &error);
    if (root)
        assert_int_equal(seteuid(0), 0);
    if (!reachable) {
        print_message("skipped: other users cannot come to this folder\n");
        skip();
    }
    assert_int_equal(status, TAUT_ERROR_IO);
    assert_non_null(strstr(error.text, strerror(EACCES)));
    fixture_assert_text(path, "old");
}

static void test_folders_are_not_made_through_links(void **state)
{
    (void)state;
    const char *folder = fixture_folder("file"), *link = fixture_path(folder, "link"),
               *below = fixture_path(folder, "link/below");
    taut_error error = {0};
    assert_int_equal(symlink("nowhere", link), 0);
    assert_int_equal(folder_make(link, &error), TAUT_ERROR_IO);
    assert_non_null(strstr(error.text, "a dangling symbolic link"));
    assert_int_equal(mkdir(fixture_path(folder, "nowhere"), 0777), 0);
    assert_int_equal(folder_make(below, &error), TAUT_OK);
    if (geteuid() != 0) {
        print_message("partly skipped: only root may give files to other users\n");
        return;
    }
    assert_int_equal(lchown(link, 12345, 12345), 0);
    assert_int_equal(folder_make(link, &error), TAUT_ERROR_IO);
    assert_non_null(strstr(error.text, "a symbolic link that another user has made"));
    assert_int_equal(folder_make(below, &error), TAUT_ERROR_IO);
    assert_int_equal(chown(folder, 12345, 12345), 0);
    assert_int_equal(folder_make(below, &error), TAUT_OK);
}

static void test_killed_process_leaves_nothing(void **state)
{
    (void)state;
    if (named) {
        print_message("skipped: a file with a name outlives SIGKILL\n");
        skip();
    }
    const char *folder = fixture_folder("file");
    const char *path = fixture_path(folder, "a.txt");
    fixture_write(path, "old");
    pid_t child = fork();
    if (child == 0) {
        static const char block[300000];
        struct file file;
        if (file_create(&file, path, NULL) == TAUT_OK)
            file_write(&file, block, sizeof block);
        (void)raise(SIGKILL);
    }
    int result;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFSIGNALED(result));
    fixture_assert_text(path, "old");
    assert_int_equal(fixture_count(folder), 1);
}

static void test_full_device(void **state)
{
    (void)state;
    if (access("/dev/full", W_OK) != 0) {
        print_message("skipped: no /dev/full here\n");
        skip();
    }
    struct file file;
    taut_error error = {0};
    assert_int_equal(file_create(&file, "/dev/full", &error), TAUT_OK);
    file_print(&file, "x");
    assert_int_equal(file_commit(&file, &error), TAUT_ERROR_IO);
    assert_string_equal(error.text, "cannot write '/dev/full': No space left on device");
    assert_int_equal(error.code, TAUT_ERROR_IO);
    assert_true(fixture_exists("/dev/full"));
    assert_false(fixture_exists("/dev/full.tmp"));
}

static void test_device_is_written_and_not_replaced(void **state)
{
    (void)state;
    struct file file;
    assert_int_equal(file_create(&file, "/dev/null", NULL), TAUT_OK);
    file_print(&file, "x");
    assert_int_equal(file_commit(&file, NULL), TAUT_OK);
    struct stat status;
    assert_int_equal(stat("/dev/null", &status), 0);
    assert_true(S_ISCHR(status.st_mode));
}

static void assert_cannot_create(const char *path, int reason)
{
    struct file file;
    taut_error error = {0};
    char expected[1200];
    snprintf(expected, sizeof expected, "cannot write '%s': %s", path, strerror(reason));
    assert_int_equal(file_create(&file, path, &error), TAUT_ERROR_IO);
    assert_string_equal(error.text, expected);
    assert_false(file.open);
    assert_int_equal(file_grow(&file, path, &error), TAUT_ERROR_IO);
    assert_false(file.open);
}

static void test_paths_that_cannot_be_written(void **state)
{
    (void)state;
    const char *folder = fixture_folder("file");
    fixture_write(fixture_path(folder, "plain"), "");
    assert_cannot_create(fixture_path(folder, "plain/below"), ENOTDIR);
    assert_cannot_create(fixture_path(folder, "absent/a.txt"), ENOENT);
    assert_cannot_create(folder, EISDIR);
}

static void test_read_only_folder(void **state)
{
    (void)state;
    if (geteuid() == 0) {
        print_message("skipped: root may write in read-only folders\n");
        skip();
    }
    const char *folder = fixture_folder("file-read-only");
    assert_int_equal(chmod(folder, 0555), 0);
    assert_cannot_create(fixture_path(folder, "a.txt"), EACCES);
    assert_int_equal(chmod(folder, 0755), 0);
}

static void test_too_large_whole_file_vanishes(void **state)
{
    (void)state;
    const char *folder = fixture_folder("file");
    const char *path = fixture_path(folder, "a.bin");
    fixture_write(path, "old");
    static const char block[400000]; // larger than the buffer, so that it is cut in the middle
    struct file file;
    taut_error error = {0};
    assert_int_equal(file_create(&file, path, &error), TAUT_OK);
    fixture_limit_file_size(300000);
    file_write(&file, block, sizeof block);
    assert_int_equal(file.failure, EFBIG);
    file_write(&file, block, sizeof block); // after a failure nothing is written
    taut_status status = file_commit(&file, &error);
    fixture_limit_file_size(RLIM_INFINITY);
    assert_int_equal(status, TAUT_ERROR_IO);
    assert_non_null(strstr(error.text, "a.bin': File too large"));
    fixture_assert_text(path, "old");
    assert_int_equal(fixture_count(folder), 1);
}

static void test_growing_file_is_cut_to_whole_records(void **state)
{
    (void)state;
    const char *folder = fixture_folder("file");
    const char *path = fixture_path(folder, "a.csv");
    struct file file;
    taut_error error = {0};
    assert_int_equal(file_grow(&file, path, &error), TAUT_OK);
    file_print(&file, "head\n");
    assert_int_equal(file_end_record(&file, &error), TAUT_OK);
    fixture_assert_text(path, "head\n");
    fixture_limit_file_size(10);
    file_print(&file, "0123456789\n");
    taut_status status = file_end_record(&file, &error);
    fixture_limit_file_size(RLIM_INFINITY);
    assert_int_equal(status, TAUT_ERROR_IO);
    assert_non_null(strstr(error.text, "a.csv': File too large"));
    fixture_assert_text(path, "head\n");
    file_print(&file, "tail\n"); // there is space again
    file_patch(&file, 0, "H", 1);
    assert_int_equal(file_close(&file, &error), TAUT_OK);
    fixture_assert_text(path, "Head\ntail\n");
}

static void test_growing_file_never_replaces(void **state)
{
    (void)state;
    const char *folder = fixture_folder("file");
    const char *path = fixture_path(folder, "a.csv");
    fixture_write(path, "mine");
    struct file file;
    taut_error error = {0};
    assert_int_equal(file_grow(&file, path, &error), TAUT_ERROR_IO);
    assert_non_null(strstr(error.text, "a.csv': File exists"));
    fixture_assert_text(path, "mine");
}

static void test_abandoned_growing_file_is_gone(void **state)
{
    (void)state;
    const char *folder = fixture_folder("file");
    struct file file;
    assert_int_equal(file_grow(&file, fixture_path(folder, "a.csv"), NULL), TAUT_OK);
    file_print(&file, "head\n");
    file_abandon(&file);
    assert_int_equal(fixture_count(folder), 0);
}

static void test_deleted_growing_file_is_noticed(void **state)
{
    (void)state;
    const char *folder = fixture_folder("file");
    const char *path = fixture_path(folder, "a.csv");
    struct file file;
    taut_error error = {0};
    assert_int_equal(file_grow(&file, path, &error), TAUT_OK);
    assert_int_equal(unlink(path), 0);
    file_print(&file, "row\n");
    assert_int_equal(file_end_record(&file, &error), TAUT_ERROR_IO);
    assert_non_null(strstr(error.text, "a.csv': No such file or directory"));
    assert_int_equal(file_close(&file, &error), TAUT_OK);
}

static void test_long_text_and_numbers(void **state)
{
    (void)state;
    const char *folder = fixture_folder("file");
    const char *path = fixture_path(folder, "a.txt");
    char word[2001];
    memset(word, 'w', 2000);
    word[2000] = '\0';
    struct file file;
    assert_int_equal(file_create(&file, path, NULL), TAUT_OK);
    file_print(&file, "%s", word);
    assert_int_equal(file_length(&file), 2000);
    file_print(&file, "\n");
    file_number(&file, 0.1, 17);
    file_print(&file, " ");
    file_number(&file, -1e-300, 9);
    file_print(&file, " ");
    file_number(&file, INFINITY, 9);
    assert_int_equal(file_commit(&file, NULL), TAUT_OK);
    char *text = fixture_read(path, NULL);
    assert_memory_equal(text, word, 2000);
    assert_string_equal(text + 2000, "\n0.10000000000000001 -1e-300 inf");
    free(text);
}

// Not every system has a locale with a decimal comma: uses one of the installed ones.
static void test_numbers_in_a_locale_with_a_comma(void **state)
{
    (void)state;
    static const char *const names[] = {"de_DE.UTF-8", "pl_PL.UTF-8", "fr_FR.UTF-8", "de_DE",
                                        "pl_PL"};
    bool found = false;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && !found; i++)
        found = setlocale(LC_NUMERIC, names[i]) != NULL;
    if (!found) {
        print_message("skipped: no locale with a decimal comma here\n");
        skip();
    }
    const char *folder = fixture_folder("file");
    const char *path = fixture_path(folder, "a.txt");
    struct file file;
    assert_int_equal(file_create(&file, path, NULL), TAUT_OK);
    file_number(&file, 1.5e30, 9);
    file_print(&file, " ");
    file_number(&file, 2, 9);
    taut_status status = file_commit(&file, NULL);
    setlocale(LC_NUMERIC, "C");
    assert_int_equal(status, TAUT_OK);
    fixture_assert_text(path, "1.5e+30 2");
}

static void test_binary_values_are_little_endian(void **state)
{
    (void)state;
    const char *folder = fixture_folder("file");
    const char *path = fixture_path(folder, "a.bin");
    struct file file;
    assert_int_equal(file_create(&file, path, NULL), TAUT_OK);
    file_put_u8(&file, 0xfe);
    file_put_u32(&file, 0x01020304);
    file_put_u64(&file, 0x05060708090a0b0c);
    file_put_f32(&file, 1.5);
    file_put_f64(&file, -2);
    assert_int_equal(file_commit(&file, NULL), TAUT_OK);
    static const unsigned char expected[] = {0xfe, 4, 3,    2,    1, 12, 11, 10, 9, 8, 7, 6,   5,
                                             0,    0, 0xc0, 0x3f, 0, 0,  0,  0,  0, 0, 0, 0xc0};
    size_t length;
    char *bytes = fixture_read(path, &length);
    assert_int_equal(length, sizeof expected);
    assert_memory_equal(bytes, expected, sizeof expected);
    free(bytes);
}

int main(void)
{
    signal(SIGXFSZ, SIG_IGN);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_file_appears_at_commit),
        cmocka_unit_test(test_abandoned_file_leaves_the_old_one),
        cmocka_unit_test(test_commit_replaces_and_follows_links),
        cmocka_unit_test(test_temporary_files_are_never_those_of_others),
        cmocka_unit_test(test_new_file_replaces_nothing),
        cmocka_unit_test(test_replacing_does_not_follow_links),
        cmocka_unit_test(test_symbolic_links_of_other_users_are_refused),
        cmocka_unit_test(test_replaced_file_keeps_its_mode),
        cmocka_unit_test(test_read_only_file_is_not_replaced),
        cmocka_unit_test(test_folders_are_not_made_through_links),
        cmocka_unit_test(test_killed_process_leaves_nothing),
        cmocka_unit_test(test_full_device),
        cmocka_unit_test(test_device_is_written_and_not_replaced),
        cmocka_unit_test(test_paths_that_cannot_be_written),
        cmocka_unit_test(test_read_only_folder),
        cmocka_unit_test(test_too_large_whole_file_vanishes),
        cmocka_unit_test(test_growing_file_is_cut_to_whole_records),
        cmocka_unit_test(test_growing_file_never_replaces),
        cmocka_unit_test(test_abandoned_growing_file_is_gone),
        cmocka_unit_test(test_deleted_growing_file_is_noticed),
        cmocka_unit_test(test_long_text_and_numbers),
        cmocka_unit_test(test_numbers_in_a_locale_with_a_comma),
        cmocka_unit_test(test_binary_values_are_little_endian),
    };
    int failed = cmocka_run_group_tests_name("output_file", tests, NULL, NULL);
    named = true;
    file_name_temporaries(true);
    return failed + cmocka_run_group_tests_name("output_file_named", tests, NULL, NULL);
}
