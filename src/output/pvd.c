// Writes and reads .pvd files (pvd.h). The frames that they list are written by vtp.c.
#include "output/pvd.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/os.h"
#include "output/file.h"
#include "output/scan.h"

const char *pvd_frame_ending(const struct pvd_frame *frame)
{
    return frame->in_pieces ? ".pvtp" : ".vtp";
}

static taut_status write_list(struct file *file, const char *name, const struct pvd_frame *frames,
                              size_t count, taut_error *error)
{
    file_print(file, "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\" "
                     "byte_order=\"LittleEndian\">\n  <Collection>\n");
    for (size_t i = 0; i < count; i++) {
        file_print(file, "    <DataSet timestep=\"");
        file_number(file, frames[i].time, 17);
        file_print(file, "\" part=\"0\" file=\"");
        file_print_escaped(file, name);
        file_print(file, "_%06zu%s\"/>\n", i, pvd_frame_ending(&frames[i]));
    }
    file_print(file, "  </Collection>\n</VTKFile>\n");
    return file_commit(file, error);
}

taut_status pvd_create(const char *path, const char *name, taut_error *error)
{
    struct file file;
    taut_status status = file_create_new(&file, path, error);
    return status == TAUT_OK ? write_list(&file, name, NULL, 0, error) : status;
}

taut_status pvd_write(const char *path, const char *name, const struct pvd_frame *frames,
                      size_t count, taut_error *error)
{
    struct file file;
    taut_status status = file_replace(&file, path, error);
    return status == TAUT_OK ? write_list(&file, name, frames, count, error) : status;
}

// ---- Reading.

static void expect_escaped(struct scan *scan, const char *name)
{
    for (; *name; name++) {
        const char plain[2] = {*name, '\0'};
        scan_expect(scan, *name == '&'    ? "&amp;"
                          : *name == '<'  ? "&lt;"
                          : *name == '>'  ? "&gt;"
                          : *name == '"'  ? "&quot;"
                          : *name == '\'' ? "&apos;"
                                          : plain);
    }
}

// Reads "    <DataSet ..." without the leading blanks, which it shares with the end of the list.
static struct pvd_frame parse_entry(struct scan *scan, const char *name, size_t number)
{
    char file[32];
    snprintf(file, sizeof file, "_%06zu.", number);
    scan_expect(scan, "  <DataSet timestep=\"");
    struct pvd_frame frame = {.time = scan_number(scan, '"')};
    scan_expect(scan, " part=\"0\" file=\"");
    expect_escaped(scan, name);
    scan_expect(scan, file);
    frame.in_pieces = scan_next_is(scan, 'p');
    scan_expect(scan, pvd_frame_ending(&frame) + 1);
    scan_expect(scan, "\"/>\n");
    return frame;
}

static taut_status read_entries(struct scan *scan, const char *name, struct pvd_frame **frames,
                                size_t *count, taut_error *error)
{
    size_t capacity = 0;
    scan_expect(scan, "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\" "
                      "byte_order=\"LittleEndian\">\n  <Collection>\n  ");
    while (!scan->failed && scan_next_is(scan, ' ')) {
        if (!array_reserve((void **)frames, &capacity, *count + 1, sizeof **frames))
            return fail_memory(error, "the list of frames");
        const struct pvd_frame frame = parse_entry(scan, name, *count);
        if (*count > 0 && !(frame.time > (*frames)[*count - 1].time))
            scan->failed = true;
        (*frames)[(*count)++] = frame;
        scan_expect(scan, "  ");
    }
    scan_expect(scan, "</Collection>\n</VTKFile>\n");
    return TAUT_OK;
}

taut_status pvd_read(const char *path, const char *name, struct pvd_frame **frames, size_t *count,
                     taut_error *error)
{
    *frames = NULL;
    *count = 0;
    const char *reason;
    struct scan scan = {.file = open_to_read(path, &reason)};
    if (!scan.file)
        return fail(error, TAUT_ERROR_IO, "cannot read '%s': %s", path, reason);
    taut_status status = read_entries(&scan, name, frames, count, error);
    if (status == TAUT_OK && scan.failed)
        status = fail(error, TAUT_ERROR_IO, "'%s' is not a collection that taut wrote", path);
    (void)fclose(scan.file);
    if (status != TAUT_OK) {
        free(*frames);
        *frames = NULL;
    }
    return status;
}
