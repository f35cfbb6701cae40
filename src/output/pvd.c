#include "output/pvd.h"

#include "output/file.h"

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
