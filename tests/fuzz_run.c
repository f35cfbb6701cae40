// libFuzzer: any alteration of the folder of a run, whatever file it is in, and what `taut resume`
// makes of it: manifest, scene, checkpoints and output are read together. It must refuse the folder
// with a sentence, or continue the run to its end; a run that is continued is complete then, and
// can be read once more.
//
// mkdtemp() is a function of POSIX 2008.
#define _DEFAULT_SOURCE // NOLINT(bugprone-reserved-identifier)

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/terminal.h"
#include "fuzz_checksums.h"
#include "output/manifest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// A body, frames of every kind, rows of probes, and the checkpoint of the end, from which the run
// is continued to 12 steps.
static const char scene_text[] =
    "precision: double\nsimulation: {integrator: verlet, dt: 0.001, steps: 6}\n"
    "bodies: [{name: r, type: rope, from: [0,0,0], to: [1,0,0], nodes: 4, node_mass: 0.1,\n"
    "  pins: [first], links: chain, spring: {stiffness: 100, break_at: 1.5}}]\n"
    "output: {every: 0.002, vtp: true, pc2: true, checkpoint: {every: 0.003},\n"
    "  probes: [{body: r, node: last, every_steps: 2}]}\n";

enum { FILES_MAX = 64, PATH_BYTES = 512 };

static struct {
    char name[256];
    uint8_t *bytes;
    size_t size;
} files[FILES_MAX];
static size_t file_count;
static char folder[64], run_folder[80];

static void path_of(char path[PATH_BYTES], const char *name)
{
    snprintf(path, PATH_BYTES, "%s/%s", run_folder, name);
}

static void put(const char *path, const uint8_t *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    if (!file || (size > 0 && fwrite(bytes, 1, size, file) != size) || fclose(file) != 0)
        abort();
}

// The files of the folder are read (`keeps`) and removed.
static void empty_folder(bool keeps)
{
    DIR *listing = opendir(run_folder);
    for (struct dirent *entry; listing && (entry = readdir(listing));) {
        char path[PATH_BYTES];
        struct stat there;
        path_of(path, entry->d_name);
        if (stat(path, &there) != 0 || !S_ISREG(there.st_mode))
            continue;
        if (keeps) {
            FILE *file = fopen(path, "rb");
            if (file_count == FILES_MAX || !file)
                abort();
            snprintf(files[file_count].name, sizeof files[0].name, "%s", entry->d_name);
            files[file_count].size = (size_t)there.st_size;
            files[file_count].bytes = malloc((size_t)there.st_size + 1);
            if (!files[file_count].bytes || fread(files[file_count].bytes, 1, (size_t)there.st_size,
                                                  file) != (size_t)there.st_size)
                abort();
            fclose(file);
            file_count++;
        }
        (void)unlink(path);
    }
    if (listing)
        closedir(listing);
}

static int by_name(const void *left, const void *right)
{
    return strcmp(left, right);
}

static const struct options common = {.threads = 1, .quiet = true, .checkpoint_every = 0};

static void make_seed(void)
{
    // In memory where there is such a folder: files are synchronised.
    snprintf(folder, sizeof folder, "/dev/shm/taut-fuzz-XXXXXX");
    if (!mkdtemp(folder)) {
        snprintf(folder, sizeof folder, "/tmp/taut-fuzz-XXXXXX");
        if (!mkdtemp(folder))
            abort();
    }
    snprintf(run_folder, sizeof run_folder, "%s/run", folder);
    char scene[PATH_BYTES];
    snprintf(scene, sizeof scene, "%s/fuzz.yaml", folder);
    put(scene, (const uint8_t *)scene_text, sizeof scene_text - 1);
    struct options options = common;
    options.scene = scene;
    options.output = run_folder;
    if (run_command.run(&options) != EXIT_CODE_DONE)
        abort();
    empty_folder(true);
    qsort(files, file_count, sizeof files[0],
          by_name); // names come first; the order is that of inputs
}

static bool is_checkpoint(const char *name)
{
    return strncmp(name, "checkpoint_", 11) == 0;
}

static int resume(void)
{
    char *overrides[] = {"simulation.steps=12"};
    struct options options = common;
    options.scene = run_folder;
    options.overrides = overrides;
    options.override_count = 1;
    return resume_command.run(&options);
}

// Alterations of 5 bytes each: the file, what is done, an offset (2 bytes, little endian), and a
// byte. Several may concern the same file. Checksums of checkpoints are made right again if the
// input has an even length.
static void apply(const uint8_t *data, size_t size)
{
    enum { SET, SET_TOO, CUT, REMOVE, DOUBLE, ACTIONS };
    uint8_t *bytes[FILES_MAX];
    size_t sizes[FILES_MAX];
    bool there[FILES_MAX];
    for (size_t i = 0; i < file_count; i++) {
        sizes[i] = files[i].size;
        there[i] = true;
        bytes[i] = malloc(2 * files[i].size + 1);
        if (!bytes[i])
            abort();
        memcpy(bytes[i], files[i].bytes, files[i].size);
    }
    bool doubled[FILES_MAX] = {false};
    for (size_t k = 0; k + 5 <= size; k += 5) {
        const size_t i = data[k] % file_count, offset = data[k + 2] | (size_t)data[k + 3] << 8;
        const unsigned action = data[k + 1] % ACTIONS;
        if (action <= SET_TOO && sizes[i] > 0)
            bytes[i][offset % sizes[i]] = data[k + 4];
        else if (action == CUT)
            sizes[i] = offset % (sizes[i] + 1);
        else if (action == REMOVE)
            there[i] = false;
        else if (action == DOUBLE && !doubled[i] && sizes[i] <= files[i].size) {
            memcpy(bytes[i] + sizes[i], bytes[i], sizes[i]);
            sizes[i] *= 2;
            doubled[i] = true;
        }
    }
    for (size_t i = 0; i < file_count; i++) {
        char path[PATH_BYTES];
        path_of(path, files[i].name);
        if (size % 2 == 0 && is_checkpoint(files[i].name))
            fix_checksums(bytes[i], sizes[i]);
        if (there[i])
            put(path, bytes[i], sizes[i]);
        free(bytes[i]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (file_count == 0)
        make_seed();
    apply(data, size);
    const int code = resume();
    if (code != EXIT_CODE_DONE && code != EXIT_CODE_WRONG && code != EXIT_CODE_FAILED)
        abort();
    if (size < 5 && code != EXIT_CODE_DONE) // nothing was altered
        abort();
    if (code == EXIT_CODE_DONE) {
        struct manifest manifest;
        taut_error error = {0};
        if (manifest_reopen(run_folder, &manifest, &error) != TAUT_OK || !manifest.complete)
            abort();
        (void)file_close(&manifest.log, NULL);
        manifest_free(&manifest);
    }
    empty_folder(false);
    return 0;
}
