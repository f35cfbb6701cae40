#include "output_fixture.h"

#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static const uint32_t tetrahedron_springs[][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2},
                                                  {1, 3}, {2, 3}, {0, 4}};
static const uint32_t tetrahedron_faces[] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
static const double tetrahedron_strains[] = {0.5, 0.25, 0.125, -0.5, 0, 1, 2};
static const uint32_t rope_springs[][2] = {{0, 1}, {1, 2}};
static const double rope_strains[] = {0.1, 0.75};
static const uint8_t rope_broken[] = {0, 1};
static const uint32_t ring_springs[][2] = {{0, 1}, {1, 2}, {2, 3}, {3, 0}};
static const uint32_t ring_faces[] = {0, 1, 1, 2, 2, 3, 3, 0};
static const double ring_strains[] = {-0.25, 0, 0.25, 0.5};

static const struct snapshot_body shapes[FIXTURE_BODY_COUNT] = {
    {.name = "tet",
     .node_count = 5,
     .spring_count = 7,
     .springs = tetrahedron_springs,
     .strains = tetrahedron_strains,
     .face_count = 4,
     .face_arity = 3,
     .faces = tetrahedron_faces,
     .volume = 1.0 / 6},
    {.name = "rope",
     .node_count = 3,
     .spring_count = 2,
     .springs = rope_springs,
     .strains = rope_strains,
     .broken = rope_broken},
    {.name = "ring-2D",
     .node_count = 4,
     .spring_count = 4,
     .springs = ring_springs,
     .strains = ring_strains,
     .face_count = 4,
     .face_arity = 2,
     .faces = ring_faces,
     .volume = 1},
    {.name = "bob", .node_count = 2},
};

void fixture_fill(struct fixture *fixture, unsigned frame, bool single)
{
    memset(fixture, 0, sizeof *fixture);
    for (size_t b = 0; b < FIXTURE_BODY_COUNT; b++) {
        fixture->bodies[b] = shapes[b];
        for (size_t i = 0; i < 3 * shapes[b].node_count; i++) {
            // Thirds, so that rounding to float and to 9 digits shows.
            fixture->positions[b][i] = (double)(100 * b + i) / 3 + 0.1 * frame;
            fixture->velocities[b][i] = -(double)i / 3 - frame;
            fixture->forces[b][i] = 1e-3 * (double)(i + 1) * (frame + 1);
        }
        fixture->bodies[b].positions = fixture->positions[b];
        fixture->bodies[b].velocities = fixture->velocities[b];
        fixture->bodies[b].forces = fixture->forces[b];
    }
    fixture->snapshot = (struct snapshot){.time = 0.25 * frame,
                                          .step = 10 * (uint64_t)frame,
                                          .single = single,
                                          .kinetic = 1 + frame,
                                          .elastic = 0.1,
                                          .gravity = -2.5,
                                          .gas = 0.75,
                                          .contact = 0,
                                          .total = -0.65 + frame,
                                          .has_work = true,
                                          .work = {1, 2, 3, 4, 5, 6, 7, 8, 9},
                                          .bodies = fixture->bodies,
                                          .body_count = FIXTURE_BODY_COUNT};
}

const char *fixture_path(const char *folder, const char *name)
{
    static char paths[4][1024];
    static unsigned turn;
    char *path = paths[turn++ % 4];
    int length = snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    assert_in_range(length, 1, sizeof paths[0] - 1);
    return path;
}

void fixture_remove(const char *path)
{
    DIR *folder = opendir(path);
    if (!folder) {
        assert_int_equal(errno, ENOENT);
        return;
    }
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        char inner[1024];
        snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name);
        struct stat status;
        assert_int_equal(lstat(inner, &status), 0);
        if (S_ISDIR(status.st_mode))
            fixture_remove(inner);
        else
            assert_int_equal(unlink(inner), 0);
    }
    closedir(folder);
    assert_int_equal(rmdir(path), 0);
}

const char *fixture_folder(const char *name)
{
    static char path[1024];
    if (mkdir(TAUT_TEST_OUT, 0777) != 0)
        assert_int_equal(errno, EEXIST);
    snprintf(path, sizeof path, "%s/%s", TAUT_TEST_OUT, name);
    fixture_remove(path);
    assert_int_equal(mkdir(path, 0777), 0);
    return path;
}

char *fixture_read(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        fail_msg("no file '%s'", path);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    long size = ftell(file);
    assert_true(size >= 0);
    rewind(file);
    char *text = malloc((size_t)size + 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, (size_t)size, file), size);
    fclose(file);
    text[size] = '\0';
    if (length)
        *length = (size_t)size;
    return text;
}

void fixture_write(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    if (!file)
        fail_msg("cannot make '%s'", path);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

bool fixture_exists(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0;
}

static size_t count_names(const char *path, const char *ending)
{
    DIR *folder = opendir(path);
    assert_non_null(folder);
    size_t count = 0;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        size_t length = strlen(entry->d_name), tail = strlen(ending);
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 && length >= tail &&
            strcmp(entry->d_name + length - tail, ending) == 0)
            count++;
    }
    closedir(folder);
    return count;
}

size_t fixture_count(const char *folder)
{
    return count_names(folder, "");
}

bool fixture_has_temporary(const char *folder)
{
    return count_names(folder, ".tmp") > 0;
}

char *fixture_run(const char *command, int *exit_code)
{
    FILE *pipe = popen(command, "r"); // NOLINT(cert-env33-c): of this project's own scripts
    assert_non_null(pipe);
    char *text = NULL;
    size_t length = 0, got;
    do {
        text = realloc(text, length + 4097);
        assert_non_null(text);
        got = fread(text + length, 1, 4096, pipe);
        length += got;
    } while (got > 0);
    text[length] = '\0';
    int status = pclose(pipe);
    *exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return text;
}
