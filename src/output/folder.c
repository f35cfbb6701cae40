// Creates the folder of a run or a study, and removes the files of an earlier one that its manifest
// lists. Writing the manifest is left to manifest.c.
#include "output/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "output/csv.h"
#include "output/file.h"
#include "output/manifest.h"
#include "output/obj.h"
#include "output/vtp.h"

// A link of another user would redirect output to a path of that user's choice, as with files
// (file.h). `exists`: the folder that the path names.
static taut_status check_link(const char *path, bool exists, taut_error *error)
{
    struct stat link;
    if (lstat(path, &link) != 0 || !S_ISLNK(link.st_mode))
        return TAUT_OK;
    if (!file_is_trusted_link(path, &link))
        return fail(error, TAUT_ERROR_IO,
                    "cannot write to the folder '%s': it is a symbolic link that another user has "
                    "made",
                    path);
    if (!exists)
        return fail(error, TAUT_ERROR_IO,
                    "cannot create the folder '%s': it is a dangling symbolic link", path);
    return TAUT_OK;
}

static taut_status make_each(char *path, taut_error *error)
{
    for (char *end = path + 1;; end++) {
        if (*end != '/' && *end != '\0')
            continue;
        char separator = *end;
        *end = '\0';
        if (mkdir(path, (mode_t)0777) != 0) {
            int reason = errno;
            struct stat status;
            bool present = stat(path, &status) == 0;
            taut_status checked = check_link(path, present, error);
            if (checked != TAUT_OK)
                return checked;
            if (!present || !S_ISDIR(status.st_mode))
                return fail(error, TAUT_ERROR_IO, "cannot create the folder '%s': %s", path,
                            present ? "there is a file of that name" : strerror(reason));
        }
        *end = separator;
        if (separator == '\0')
            return TAUT_OK;
    }
}

taut_status folder_make(const char *path, taut_error *error)
{
    char *copy = text_format("%s", path);
    if (!copy)
        return fail_memory(error, "the name of a folder");
    taut_status status = make_each(copy, error);
    free(copy);
    return status;
}

taut_status folder_make_parent(const char *file, taut_error *error)
{
    const char *slash = strrchr(file, '/');
    if (!slash || slash == file)
        return TAUT_OK;
    char *folder = text_format("%.*s", (int)(slash - file), file);
    if (!folder)
        return fail_memory(error, "the name of a folder");
    taut_status status = folder_make(folder, error);
    free(folder);
    return status;
}

// ---- Findings, reported in one message

enum verdict { REMOVABLE, ABSENT, CHANGED, FOREIGN, INPUT };

enum { NAMES_SHOWN = 4 };

struct file_id {
    dev_t device;
    ino_t number;
};

struct findings {
    const struct folder_claim *claim;
    struct file_id *inputs; // sorted
    size_t input_count;
    const char **listed; // names in the manifest, sorted
    size_t listed_count;
    size_t count;
    char *first;  // the first finding, as a sentence
    char *others; // names of the others
    bool failed;  // memory ran out
    bool older;   // there is a run without a manifest
};

static char *path_in(const struct folder_claim *claim, const char *name)
{
    return text_format("%s/%s", claim->folder, name);
}

static void add_finding(struct findings *findings, const char *name, enum verdict verdict)
{
    static const char *const sentences[] = {
        [CHANGED] = "has changed since taut wrote it",
        [FOREIGN] = ("exists and was not written by taut (no " MANIFEST_NAME " lists it)"),
        [INPUT] = "is one of the files that the scene is made of",
    };
    if (findings->count == 0) {
        findings->first =
            text_format("'%s/%s' %s", findings->claim->folder, name, sentences[verdict]);
        findings->failed |= !findings->first;
    } else if (findings->count <= NAMES_SHOWN) {
        char *longer = findings->others ? text_format("%s, %s", findings->others, name)
                                        : text_format("%s", name);
        free(findings->others);
        findings->others = longer;
        findings->failed |= !longer;
    }
    findings->count++;
}

static taut_status report_findings(const struct findings *findings, taut_error *error)
{
    if (findings->failed)
        return fail_memory(error, "the list of conflicting files");
    if (findings->count == 0)
        return TAUT_OK;
    if (findings->older)
        return fail(
            error, TAUT_ERROR_IO,
            "'%s' contains a run of an older version of taut, without the " MANIFEST_NAME
            " that distinguishes its files from those of others: move or delete the folder, or "
            "choose another one with --output",
            findings->claim->folder);
    if (findings->count == 1)
        return fail(error, TAUT_ERROR_IO, "%s: move it, or choose another folder with --output",
                    findings->first);
    return fail(error, TAUT_ERROR_IO,
                "%s, and %zu more files cannot be replaced (%s%s): move them, or choose another "
                "folder with --output",
                findings->first, findings->count - 1, findings->others,
                findings->count > NAMES_SHOWN + 1 ? ", ..." : "");
}

static int compare_ids(const void *left, const void *right)
{
    const struct file_id *a = left, *b = right;
    if (a->device != b->device)
        return a->device < b->device ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

static int compare_names(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

static bool is_input(const struct findings *findings, const struct stat *file)
{
    const struct file_id id = {file->st_dev, file->st_ino};
    return findings->input_count > 0 &&
           bsearch(&id, findings->inputs, findings->input_count, sizeof id, compare_ids) != NULL;
}

static bool is_listed(const struct findings *findings, const char *name)
{
    return findings->listed_count > 0 && bsearch(&name, findings->listed, findings->listed_count,
                                                 sizeof name, compare_names) != NULL;
}

// `manifest` is NULL if there is none.
static taut_status prepare_findings(const struct folder_claim *claim,
                                    const struct manifest *manifest, struct findings *findings,
                                    taut_error *error)
{
    *findings = (struct findings){.claim = claim,
                                  .inputs = calloc(claim->input_count + 1, sizeof(struct file_id)),
                                  .listed_count = manifest ? manifest->count : 0};
    findings->listed = calloc(findings->listed_count + 1, sizeof *findings->listed);
    if (!findings->inputs || !findings->listed)
        return fail_memory(error, "the list of conflicting files");
    for (size_t i = 0; i < claim->input_count; i++) {
        struct stat status;
        if (stat(claim->inputs[i], &status) == 0)
            findings->inputs[findings->input_count++] =
                (struct file_id){status.st_dev, status.st_ino};
    }
    for (size_t i = 0; i < findings->listed_count; i++)
        findings->listed[i] = manifest->entries[i].name;
    qsort(findings->inputs, findings->input_count, sizeof *findings->inputs, compare_ids);
    qsort(findings->listed, findings->listed_count, sizeof *findings->listed, compare_names);
    return TAUT_OK;
}

// ---- Files listed by the manifest

// The cheap checks: whether the file exists, has the right size, and is no input.
static enum verdict judge_entry(const struct findings *findings, const struct manifest_entry *entry,
                                const char *path)
{
    struct stat status;
    if (lstat(path, &status) != 0)
        return errno == ENOENT ? ABSENT : CHANGED;
    if (!S_ISREG(status.st_mode))
        return CHANGED;
    if (is_input(findings, &status))
        return INPUT;
    return entry->writing || (uint64_t)status.st_size == entry->size ? REMOVABLE : CHANGED;
}

static enum verdict judge_content(const struct manifest_entry *entry, const char *path)
{
    uint64_t size, checksum;
    if (entry->writing)
        return REMOVABLE;
    bool same = manifest_measure(path, &size, &checksum, NULL) == TAUT_OK && size == entry->size &&
                checksum == entry->checksum;
    return same ? REMOVABLE : CHANGED;
}

// The cheap checks of all files first; their contents only if those found nothing.
static void check_entries(const struct manifest *manifest, struct findings *findings)
{
    for (int contents = 0; contents < 2 && findings->count == 0; contents++)
        for (size_t i = 0; i < manifest->count && !findings->failed; i++) {
            const struct manifest_entry *entry = &manifest->entries[i];
            char *path = path_in(findings->claim, entry->name);
            findings->failed |= !path;
            enum verdict verdict = path ? judge_entry(findings, entry, path) : ABSENT;
            if (verdict == REMOVABLE && contents)
                verdict = judge_content(entry, path);
            if (verdict != REMOVABLE && verdict != ABSENT)
                add_finding(findings, entry->name, verdict);
            free(path);
        }
}

// Whether the folder has the scene, without which `taut resume` cannot continue.
static bool has_scene(const struct folder_claim *claim)
{
    struct stat there;
    char *path = path_in(claim, "scene.yaml");
    const bool has = path && stat(path, &there) == 0;
    free(path);
    return has;
}

static taut_status check_kind(const struct folder_claim *claim, const struct manifest *manifest,
                              bool busy, taut_error *error)
{
    if (busy)
        return manifest_fail_busy(claim->folder, error);
    if (manifest->is_cut && !claim->force)
        return fail(error, TAUT_ERROR_IO,
                    "'%s/" MANIFEST_NAME "' is cut off, by a power failure or a full disk: replace "
                    "what taut wrote there with --force, or choose another folder with --output",
                    claim->folder);
    if (manifest->is_cut)
        return TAUT_OK;
    if (strcmp(manifest->kind, claim->kind) != 0)
        return fail(error, TAUT_ERROR_IO,
                    "'%s' contains a %s (%s): choose another folder with --output", claim->folder,
                    manifest->kind, manifest->name);
    if (!claim->force && !manifest->complete && strcmp(manifest->kind, "run") == 0 &&
        has_scene(claim)) {
        char *word = text_shell_path(claim->folder);
        taut_status status = fail(error, TAUT_ERROR_IO,
                                  "'%s' already contains an interrupted run (%s): replace it with "
                                  "--force, choose another "
                                  "folder with --output, or continue it with: taut resume %s",
                                  claim->folder, manifest->name, word ? word : "FOLDER");
        free(word);
        return status;
    }
    if (!claim->force)
        return fail(error, TAUT_ERROR_IO,
                    "'%s' already contains %s %s (%s): replace it with --force, or choose another "
                    "folder with --output",
                    claim->folder, manifest->complete ? "a" : "an interrupted", manifest->kind,
                    manifest->name);
    return TAUT_OK;
}

// ---- Files that the manifest does not list

static bool is_older_run(const struct folder_claim *claim, const char *name)
{
    char text[sizeof SCENE_YAML_HEADER];
    char *path = strcmp(name, "scene.yaml") == 0 ? path_in(claim, name) : NULL;
    int descriptor = path ? open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) : -1;
    size_t length = strlen(SCENE_YAML_HEADER);
    bool older = descriptor >= 0 && read(descriptor, text, length) == (ssize_t)length &&
                 memcmp(text, SCENE_YAML_HEADER, length) == 0;
    if (descriptor >= 0)
        (void)close(descriptor);
    free(path);
    return older;
}

bool folder_has_own(const char *folder, const char *name)
{
    static const struct {
        const char *text;
        size_t length;
    } beginnings[] = {
#define BEGINNING(text) {text, sizeof text - 1}
        BEGINNING(SCENE_YAML_HEADER),
        BEGINNING(ENERGY_CSV_HEADER),
        BEGINNING(PROBES_CSV_HEADER),
        BEGINNING(OBJ_HEADER),
        BEGINNING("POINTCACHE2\0\1\0\0\0"),
        BEGINNING("\x89TAUT\r\x1a\n"), // archive_magic
        BEGINNING("<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" version=\"1.0\" "
                  "byte_order=\"LittleEndian\" header_type=\"UInt64\" "),
        BEGINNING(VTP_PIECES_HEADER),
        BEGINNING("<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\" "
                  "byte_order=\"LittleEndian\">\n  <Collection>\n"),
#undef BEGINNING
    };
    char text[256];
    struct stat status;
    char *path = text_format("%s/%s", folder, name);
    const int descriptor = path ? open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) : -1;
    ssize_t got = -1;
    if (descriptor >= 0 && fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode))
        got = read(descriptor, text, sizeof text);
    bool own = got == 0;
    for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0] && !own; i++)
        own = got >= (ssize_t)beginnings[i].length &&
              memcmp(text, beginnings[i].text, beginnings[i].length) == 0;
    if (descriptor >= 0)
        (void)close(descriptor);
    free(path);
    return own;
}

// Finds files in the folder that the run would overwrite but the manifest (NULL: there is none)
// does not list. Those of an interrupted run are listed again.
static taut_status check_foreign_files(struct findings *findings, struct manifest *manifest,
                                       taut_error *error)
{
    const struct folder_claim *claim = findings->claim;
    const bool is_interrupted = manifest && !manifest->complete;
    taut_status status = TAUT_OK;
    DIR *folder = opendir(claim->folder);
    int reason = folder ? 0 : errno;
    while (folder && !findings->failed && status == TAUT_OK) {
        errno = 0;
        struct dirent *entry = readdir(folder);
        if (!entry) {
            reason = errno;
            break;
        }
        if (!claim->writes(claim->context, entry->d_name) || is_listed(findings, entry->d_name))
            continue;
        if (is_interrupted && folder_has_own(claim->folder, entry->d_name)) {
            status = manifest_adopt(manifest, entry->d_name, error);
            continue;
        }
        findings->older |= !manifest && is_older_run(claim, entry->d_name);
        add_finding(findings, entry->d_name, FOREIGN);
    }
    if (folder)
        (void)closedir(folder);
    if (status != TAUT_OK || reason == 0)
        return status;
    return fail(error, TAUT_ERROR_IO, "cannot read the folder '%s': %s", claim->folder,
                strerror(reason));
}

// ---- Checking and removing

static taut_status remove_file(const struct folder_claim *claim, const char *name,
                               taut_error *error)
{
    char *path = path_in(claim, name);
    if (!path)
        return fail_memory(error, "the name of a file");
    taut_status status = TAUT_OK;
    if (unlink(path) != 0 && errno != ENOENT)
        status = fail(error, TAUT_ERROR_IO, "cannot remove '%s': %s", path, strerror(errno));
    free(path);
    return status;
}

// A name of this form, of a file that a killed process had no time to give its own (file.h).
static bool is_temporary(const char *name)
{
    enum { DIGITS = 16 };
    const char *digits = name + strlen(".taut-");
    return strncmp(name, ".taut-", strlen(".taut-")) == 0 &&
           strspn(digits, "0123456789abcdef") == DIGITS && strcmp(digits + DIGITS, ".tmp") == 0;
}

bool folder_is_bare(const char *folder)
{
    DIR *stream = opendir(folder);
    const struct dirent *entry;
    bool bare = stream != NULL;
    while (bare && (entry = readdir(stream)) != NULL)
        bare = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
               is_temporary(entry->d_name);
    if (stream)
        (void)closedir(stream);
    return bare;
}

taut_status folder_remove_temporaries(const char *folder, taut_error *error)
{
    DIR *stream = opendir(folder);
    taut_status status = TAUT_OK;
    struct dirent *entry;
    while (stream && status == TAUT_OK && (entry = readdir(stream)) != NULL) {
        if (!is_temporary(entry->d_name))
            continue;
        char *path = text_format("%s/%s", folder, entry->d_name);
        if (!path)
            status = fail_memory(error, "the name of a file");
        else
            (void)unlink(path);
        free(path);
    }
    if (stream)
        (void)closedir(stream);
    return status;
}

// Removes the manifest last: if the process is killed here, the remaining files are still listed.
static taut_status remove_entries(const struct folder_claim *claim, const struct manifest *manifest,
                                  taut_error *error)
{
    taut_status status = TAUT_OK;
    for (size_t i = 0; i < manifest->count && status == TAUT_OK; i++)
        status = remove_file(claim, manifest->entries[i].name, error);
    return status == TAUT_OK ? remove_file(claim, MANIFEST_NAME, error) : status;
}

static taut_status check_files(const struct folder_claim *claim, struct manifest *manifest,
                               taut_error *error)
{
    struct findings findings;
    taut_status status = prepare_findings(claim, manifest, &findings, error);
    if (status == TAUT_OK)
        status = check_foreign_files(&findings, manifest, error);
    if (status == TAUT_OK && manifest)
        check_entries(manifest, &findings);
    if (status == TAUT_OK)
        status = report_findings(&findings, error);
    free(findings.inputs);
    free(findings.listed);
    free(findings.first);
    free(findings.others);
    return status;
}

static bool manifest_appeared(const struct folder_claim *claim)
{
    struct stat there;
    char *path = path_in(claim, MANIFEST_NAME);
    bool appeared = path && lstat(path, &there) == 0 && S_ISREG(there.st_mode);
    free(path);
    return appeared;
}

static taut_status claim_folder(const struct folder_claim *claim, bool clear, taut_error *error)
{
    struct manifest manifest;
    bool present, busy;
    taut_status status = folder_make(claim->folder, error);
    if (status == TAUT_OK)
        status = manifest_read(claim->folder, &manifest, &present, &busy, error);
    if (status != TAUT_OK)
        return status;
    if (present)
        status = check_kind(claim, &manifest, busy, error);
    if (status == TAUT_OK)
        status = check_files(claim, present ? &manifest : NULL, error);
    // Another process may have begun to write these files since the manifest was read.
    if (status != TAUT_OK && !present && manifest_appeared(claim))
        status = manifest_fail_busy(claim->folder, error);
    if (status == TAUT_OK && present && clear && !manifest.complete)
        status = folder_remove_temporaries(claim->folder, error);
    if (status == TAUT_OK && present && clear)
        status = remove_entries(claim, &manifest, error);
    if (present)
        manifest_free(&manifest);
    return status;
}

taut_status folder_check(const struct folder_claim *claim, taut_error *error)
{
    return claim_folder(claim, false, error);
}

taut_status folder_clear(const struct folder_claim *claim, taut_error *error)
{
    return claim_folder(claim, true, error);
}
