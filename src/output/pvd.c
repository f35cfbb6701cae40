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

static void print_escaped(struct file *file, const char *text)
{
    for (; *text; text++) {
        switch (*text) {
        case '&':
            file_print(file, "&amp;");
            break;
        case '<':
            file_print(file, "&lt;");
            break;
        case '>':
            file_print(file, "&gt;");
            break;
        case '"':
            file_print(file, "&quot;");
            break;
        case '\'':
            file_print(file, "&apos;");
            break;
        default:
            file_write(file, text, 1);
        }
    }
}

static taut_status write_list(struct file *file, const char *name, const double *times,
                              size_t count, taut_error *error)
{
    file_print(file, "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\" "
                     "byte_order=\"LittleEndian\">\n  <Collection>\n");
    for (size_t i = 0; i < count; i++) {
        file_print(file, "    <DataSet timestep=\"");
        file_number(file, times[i], 17);
        file_print(file, "\" part=\"0\" file=\"");
        print_escaped(file, name);
        file_print(file, "_%06zu.vtp\"/>\n", i);
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

taut_status pvd_write(const char *path, const char *name, const double *times, size_t count,
                      taut_error *error)
{
    struct file file;
    taut_status status = file_replace(&file, path, error);
    return status == TAUT_OK ? write_list(&file, name, times, count, error) : status;
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
static double parse_entry(struct scan *scan, const char *name, size_t number)
{
    char file[32];
    snprintf(file, sizeof file, "_%06zu.vtp\"/>\n", number);
    scan_expect(scan, "  <DataSet timestep=\"");
    double time = scan_number(scan, '"');
    scan_expect(scan, " part=\"0\" file=\"");
    expect_escaped(scan, name);
    scan_expect(scan, file);
    return time;
}

static taut_status read_entries(struct scan *scan, const char *name, double **times, size_t *count,
                                taut_error *error)
{
    size_t capacity = 0;
    scan_expect(scan, "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\" "
                      "byte_order=\"LittleEndian\">\n  <Collection>\n  ");
    while (!scan->failed && scan_next_is(scan, ' ')) {
        if (!array_reserve((void **)times, &capacity, *count + 1, sizeof **times))
            return fail_memory(error, "the list of frames");
        double time = parse_entry(scan, name, *count);
        if (*count > 0 && !(time > (*times)[*count - 1]))
            scan->failed = true;
        (*times)[(*count)++] = time;
        scan_expect(scan, "  ");
    }
    scan_expect(scan, "</Collection>\n</VTKFile>\n");
    return TAUT_OK;
}

taut_status pvd_read(const char *path, const char *name, double **times, size_t *count,
                     taut_error *error)
{
    *times = NULL;
    *count = 0;
    const char *reason;
    struct scan scan = {.file = open_to_read(path, &reason)};
    if (!scan.file)
        return fail(error, TAUT_ERROR_IO, "cannot read '%s': %s", path, reason);
    taut_status status = read_entries(&scan, name, times, count, error);
    if (status == TAUT_OK && scan.failed)
        status = fail(error, TAUT_ERROR_IO, "'%s' is not a collection that taut wrote", path);
    (void)fclose(scan.file);
    if (status != TAUT_OK) {
        free(*times);
        *times = NULL;
    }
    return status;
}
