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

taut_status pvd_write(const char *path, const char *name, const double *times, size_t count,
                      taut_error *error)
{
    struct file file;
    taut_status status = file_create(&file, path, error);
    if (status != TAUT_OK)
        return status;
    file_print(&file, "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\" "
                      "byte_order=\"LittleEndian\">\n  <Collection>\n");
    for (size_t i = 0; i < count; i++) {
        file_print(&file, "    <DataSet timestep=\"");
        file_number(&file, times[i], 17);
        file_print(&file, "\" part=\"0\" file=\"");
        print_escaped(&file, name);
        file_print(&file, "_%06zu.vtp\"/>\n", i);
    }
    file_print(&file, "  </Collection>\n</VTKFile>\n");
    return file_commit(&file, error);
}
