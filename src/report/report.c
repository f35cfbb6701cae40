#include "report/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "output/folder.h"
#include "report/convert.h"
#include "report/svg.h"

static char *file_path(const char *folder, const char *name, const char *ending, taut_error *error)
{
    char *path = text_format("%s/%s%s", folder, name, ending);
    if (!path)
        (void)fail_memory(error, "the name of a file");
    return path;
}

// A PNG does not say who wrote it: it is ours if there is a picture of ours beside it.
static taut_status check_picture(const char *svg, const char *png, taut_error *error)
{
    struct stat status;
    taut_status result = folder_file_ours(svg, SVG_OPENING, error);
    if (result != TAUT_OK || lstat(png, &status) != 0 || lstat(svg, &status) == 0)
        return result;
    return folder_file_ours(png, SVG_OPENING, error); // which it is not
}

taut_status report_prepare(const char *folder, taut_error *error)
{
    taut_status status = TAUT_OK;
    for (int i = 0; i < PICTURE_COUNT && status == TAUT_OK; i++) {
        char *svg = file_path(folder, pictures[i].name, ".svg", error);
        char *png = file_path(folder, pictures[i].name, ".png", error);
        status = svg && png ? check_picture(svg, png, error) : TAUT_ERROR_MEMORY;
        free(svg);
        free(png);
    }
    if (status != TAUT_OK)
        return status;
    char *page = file_path(folder, "report", ".html", error);
    status = page ? folder_file_ours(page, REPORT_HTML_OPENING, error) : TAUT_ERROR_MEMORY;
    free(page);
    return status;
}

// Takes ownership of the path.
static void note(struct report_files *files, char *path)
{
    files->paths[files->count++] = path;
}

static taut_status remove_old(const char *path, taut_error *error)
{
    if (unlink(path) == 0 || errno == ENOENT)
        return TAUT_OK;
    return fail(error, TAUT_ERROR_IO, "cannot remove '%s': %s", path, strerror(errno));
}

static taut_status write_picture(const struct report *report, const struct picture *picture,
                                 const char *path, taut_error *error)
{
    struct file file;
    taut_status status = file_create(&file, path, error);
    if (status != TAUT_OK)
        return status;
    picture->draw(&report->subject, picture, &file, false);
    return file_commit(&file, error);
}

static taut_status make_picture(const struct report *report, const struct picture *picture,
                                struct converter *converter, const char *folder,
                                struct report_files *files, taut_error *error)
{
    char *svg = file_path(folder, picture->name, ".svg", error);
    char *png = file_path(folder, picture->name, ".png", error);
    bool there = picture->is_there(report->subject.study), converted = false;
    taut_status status = svg && png ? TAUT_OK : TAUT_ERROR_MEMORY;
    // Of an earlier study: what is not written again must not stay beside what is.
    if (status == TAUT_OK)
        status = remove_old(png, error);
    if (status == TAUT_OK)
        status = there ? write_picture(report, picture, svg, error) : remove_old(svg, error);
    if (status == TAUT_OK && there)
        status = convert_picture(converter, svg, png, &converted, error);
    if (status == TAUT_OK && there) {
        note(files, svg);
        svg = NULL;
    }
    if (converted) {
        note(files, png);
        png = NULL;
    }
    free(svg);
    free(png);
    return status;
}

static taut_status write_page(const struct report *report, const char *path, taut_error *error)
{
    struct file file;
    taut_status status = file_create(&file, path, error);
    if (status != TAUT_OK)
        return status;
    report_put_page(report, &file);
    return file_commit(&file, error);
}

taut_status report_write(const struct report *report, const char *folder,
                         struct report_files *files, taut_error *error)
{
    *files = (struct report_files){0};
    struct converter converter = {0};
    taut_status status = TAUT_OK;
    for (int i = 0; i < PICTURE_COUNT && status == TAUT_OK; i++)
        status = make_picture(report, &pictures[i], &converter, folder, files, error);
    files->unconverted = converter.absent;
    if (status != TAUT_OK)
        return status;
    char *page = file_path(folder, "report", ".html", error);
    status = page ? write_page(report, page, error) : TAUT_ERROR_MEMORY;
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
