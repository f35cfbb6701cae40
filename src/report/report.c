#include "report/report.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/convert.h"
#include "report/svg.h"

static char *file_path(const char *folder, const char *name, const char *ending, taut_error *error)
{
    char *path = text_format("%s/%s%s", folder, name, ending);
    if (!path)
        (void)fail_memory(error, "the name of a file");
    return path;
}

bool report_writes(const char *name)
{
    if (strcmp(name, "report.html") == 0)
        return true;
    for (int i = 0; i < PICTURE_COUNT; i++) {
        size_t length = strlen(pictures[i].name);
        if (strncmp(name, pictures[i].name, length) == 0 &&
            (strcmp(name + length, ".svg") == 0 || strcmp(name + length, ".png") == 0))
            return true;
    }
    return false;
}

// Takes ownership of the path.
static void note(struct report_files *files, char *path)
{
    files->paths[files->count++] = path;
}

static taut_status write_picture(const struct report *report, const struct picture *picture,
                                 const char *path, taut_error *error)
{
    struct file file;
    taut_status status = file_create_new(&file, path, error);
    if (status != TAUT_OK)
        return status;
    picture->draw(&report->subject, picture, &file, false);
    return file_commit(&file, error);
}

static taut_status make_picture(const struct report *report, const struct picture *picture,
                                struct converter *converter, struct manifest *manifest,
                                struct report_files *files, taut_error *error)
{
    if (!picture->is_there(report->subject.study))
        return TAUT_OK;
    char *svg = file_path(manifest->folder, picture->name, ".svg", error);
    char *png = file_path(manifest->folder, picture->name, ".png", error);
    bool converted = false;
    taut_status status = svg && png ? TAUT_OK : TAUT_ERROR_MEMORY;
    if (status == TAUT_OK)
        status = manifest_announce(manifest, svg, error);
    if (status == TAUT_OK)
        status = write_picture(report, picture, svg, error);
    bool written = status == TAUT_OK;
    if (status == TAUT_OK)
        status = manifest_announce(manifest, png, error);
    if (status == TAUT_OK)
        status = convert_picture(converter, svg, png, &converted, error);
    if (written)
        note(files, svg);
    else
        free(svg);
    if (converted)
        note(files, png);
    else
        free(png);
    return status;
}

static taut_status write_page(const struct report *report, const char *path, taut_error *error)
{
    struct file file;
    taut_status status = file_create_new(&file, path, error);
    if (status != TAUT_OK)
        return status;
    report_put_page(report, &file);
    return file_commit(&file, error);
}

taut_status report_write(const struct report *report, struct manifest *manifest,
                         struct report_files *files, taut_error *error)
{
    *files = (struct report_files){0};
    struct converter converter = {0};
    taut_status status = TAUT_OK;
    for (int i = 0; i < PICTURE_COUNT && status == TAUT_OK; i++)
        status = make_picture(report, &pictures[i], &converter, manifest, files, error);
    files->unconverted = converter.absent;
    files->unconverted_reason = converter.reason;
    if (status != TAUT_OK)
        return status;
    char *page = file_path(manifest->folder, "report", ".html", error);
    status = page ? manifest_announce(manifest, page, error) : TAUT_ERROR_MEMORY;
    if (status == TAUT_OK)
        status = write_page(report, page, error);
    if (status == TAUT_OK)
        note(files, page);
    else
        free(page);
    return status;
}

void report_files_free(struct report_files *files)
{
    for (int i = 0; i < files->count; i++)
        free(files->paths[i]);
    *files = (struct report_files){0};
}
