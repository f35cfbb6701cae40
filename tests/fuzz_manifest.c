// libFuzzer: any bytes as the manifest of a run's folder. Reading must refuse it with a sentence,
// or list names of files in the folder alone; and a manifest that a run which begins again has
// replaced lists the same files.
//
// mkdtemp() is a function of POSIX 2008.
#define _DEFAULT_SOURCE // NOLINT(bugprone-reserved-identifier)

#include "output/manifest.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[64], path[96];

static void make_folder(void)
{
    // In memory where there is such a folder: files are synchronised.
    snprintf(folder, sizeof folder, "/dev/shm/taut-fuzz-XXXXXX");
    if (!mkdtemp(folder)) {
        snprintf(folder, sizeof folder, "/tmp/taut-fuzz-XXXXXX");
        if (!mkdtemp(folder))
            abort();
    }
    snprintf(path, sizeof path, "%s/" MANIFEST_NAME, folder);
}

static void put(const uint8_t *data, size_t size)
{
    (void)unlink(path); // it may have been replaced
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0)
        abort();
}

static void check_names(const struct manifest *manifest)
{
    for (size_t i = 0; i < manifest->earlier_count; i++) {
        const char *name = manifest->earlier[i].name;
        if (!*name || strchr(name, '/') || strcmp(name, "..") == 0 || strcmp(name, ".") == 0 ||
            strcmp(name, MANIFEST_NAME) == 0)
            abort();
        for (size_t k = 0; k < i; k++)
            if (strcmp(name, manifest->earlier[k].name) == 0)
                abort();
    }
}

static void close_manifest(struct manifest *manifest)
{
    (void)file_close(&manifest->log, NULL);
    manifest_free(manifest);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!folder[0])
        make_folder();
    put(data, size);
    struct manifest manifest, again;
    taut_error error = {0};
    if (manifest_reopen(folder, &manifest, &error) != TAUT_OK) {
        if (!error.text[0])
            abort();
        return 0;
    }
    check_names(&manifest);
    if (manifest_restart(&manifest, "reference", "end \"1\".csv", &error) != TAUT_OK)
        abort();
    const size_t count = manifest.earlier_count;
    (void)file_close(&manifest.log, NULL);
    if (manifest_reopen(folder, &again, &error) != TAUT_OK)
        abort();
    if (again.earlier_count != count || strcmp(again.kernel, "reference") != 0 ||
        strcmp(again.state, "end \"1\".csv") != 0 || strcmp(again.name, manifest.name) != 0)
        abort();
    for (size_t i = 0; i < count; i++)
        if (strcmp(again.earlier[i].name, manifest.earlier[i].name) != 0 ||
            again.earlier[i].writing != manifest.earlier[i].writing ||
            again.earlier[i].checksum != manifest.earlier[i].checksum)
            abort();
    close_manifest(&again);
    manifest_free(&manifest);
    return 0;
}
