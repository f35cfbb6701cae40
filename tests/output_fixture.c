// The values of the run made in code, and functions for folders and files (output_fixture.h).
#include "test.h"

#include "output_fixture.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const uint32_t tetrahedron_springs[][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2},
                                                  {1, 3}, {2, 3}, {0, 4}};
static const uint32_t tetrahedron_faces[] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
static const uint32_t rope_springs[][2] = {{0, 1}, {1, 2}};
static const uint32_t ring_springs[][2] = {{0, 1}, {1, 2}, {2, 3}, {3, 0}};
static const uint32_t ring_faces[] = {0, 1, 1, 2, 2, 3, 3, 0};
static const double strains[FIXTURE_SPRING_COUNT] = {
    0.5,   0.25, 0.125, -0.5, 0, 1, 2, // of the tetrahedron
    0.1,   0.75,                       // of the rope, whose second spring broke
    -0.25, 0,    0.25,  0.5,           // of the ring
};
static const uint8_t broken[FIXTURE_SPRING_COUNT] = {[8] = 1};
static const double volumes[FIXTURE_BODY_COUNT] = {
    [FIXTURE_TETRAHEDRON] = 1.0 / 6, [FIXTURE_RING] = 1};

static const struct frame_body shapes[FIXTURE_BODY_COUNT] = {
    {.name = "tet",
     .node_count = 5,
     .spring_count = 7,
     .springs = tetrahedron_springs,
     .face_count = 4,
     .face_arity = 3,
     .faces = tetrahedron_faces},
    {.name = "rope", .node_count = 3, .spring_count = 2, .springs = rope_springs},
    {.name = "ring-2D",
     .node_count = 4,
     .spring_count = 4,
     .springs = ring_springs,
     .face_count = 4,
     .face_arity = 2,
     .faces = ring_faces},
    {.name = "bob", .node_count = 2},
};

void fixture_fill(struct fixture *fixture, unsigned frame, bool single)
{
    memset(fixture, 0, sizeof *fixture);
    memcpy(fixture->all_strains, strains, sizeof strains);
    memcpy(fixture->all_broken, broken, sizeof broken);
    memcpy(fixture->volumes, volumes, sizeof volumes);
    uint64_t node = 0, spring = 0;
    for (size_t b = 0; b < FIXTURE_BODY_COUNT; b++) {
        struct frame_body *body = &fixture->bodies[b];
        *body = shapes[b];
        body->first_node = node;
        body->first_spring = spring;
        fixture->positions[b] = fixture->all_positions + 3 * node;
        fixture->velocities[b] = fixture->all_velocities + 3 * node;
        fixture->forces[b] = fixture->all_forces + 3 * node;
        fixture->strains[b] = fixture->all_strains + spring;
        fixture->broken[b] = fixture->all_broken + spring;
        for (size_t i = 0; i < 3 * body->node_count; i++) {
            // Thirds, so that rounding to float and to 9 digits has an effect.
            fixture->positions[b][i] = (double)(100 * b + i) / 3 + 0.1 * frame;
            fixture->velocities[b][i] = -(double)i / 3 - frame;
            fixture->forces[b][i] = 1e-3 * (double)(i + 1) * (frame + 1);
        }
        node += body->node_count;
        spring += body->spring_count;
    }
    fixture->frame = (struct frame){
        .shape = {.node_count = FIXTURE_NODE_COUNT,
                  .spring_count = FIXTURE_SPRING_COUNT,
                  .body_count = FIXTURE_BODY_COUNT},
        .fields =
            FRAME_NODES | FRAME_FORCES | FRAME_SPRINGS | FRAME_ENERGY | FRAME_BODIES | FRAME_LISTS,
        .time = 0.25 * frame,
        .step = 10 * (uint64_t)frame,
        .single = single,
        .energy = {.kinetic = 1 + frame,
                   .elastic = 0.1,
                   .gravity = -2.5,
                   .gas = 0.75,
                   .contact = 0,
                   .total = -0.65 + frame},
        .has_work = true,
        .work = {[WORK_DAMPING] = 1,
                 [WORK_DRAG] = 2,
                 [WORK_FRICTION] = 3,
                 [WORK_KEEP] = 4,
                 [WORK_PROJECTION] = 5,
                 [WORK_BREAKING] = 6,
                 [WORK_WIND] = 7,
                 [WORK_DRIVES] = 8,
                 [WORK_INFLATION] = 9},
        .positions = fixture->all_positions,
        .velocities = fixture->all_velocities,
        .forces = fixture->all_forces,
        .strains = fixture->all_strains,
        .broken = fixture->all_broken,
        .volumes = fixture->volumes,
        .bodies = fixture->bodies,
    };
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

void fixture_assert_text(const char *path, const char *expected)
{
    char *text = fixture_read(path, NULL);
    assert_string_equal(text, expected);
    free(text);
}

void fixture_limit_file_size(rlim_t bytes)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
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
    FILE *pipe = popen(command, "r"); // NOLINT(cert-env33-c): runs this project's scripts
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
