#include "scene/mesh/mesh.h"

#include "scene/mesh/mesh_formats.h"

#include "base/open.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

static bool (*const readers[MESH_FORMAT_COUNT])(struct mesh_text *, struct mesh_draft *) = {
    [MESH_ASC] = asc_read,
    [MESH_OBJ] = obj_read,
    [MESH_PLY] = ply_read,
    [MESH_STL] = stl_read,
};

void mesh_free(struct mesh *mesh)
{
    free(mesh->vertices);
    free(mesh->triangles);
    *mesh = (struct mesh){0};
}

bool mesh_read_memory(enum mesh_format format, const void *data, size_t size, const char *path,
                      struct mesh *mesh, struct diagnostics *diagnostics)
{
    *mesh = (struct mesh){0};
    struct mesh_text text;
    text_begin(&text, path, data, size, diagnostics);
    struct mesh_draft draft = {0};
    bool sound = readers[format](&text, &draft) && draft_finish(&draft, &text, mesh);
    draft_free(&draft);
    if (!sound)
        mesh_free(mesh);
    return sound;
}

static bool complain(struct diagnostics *diagnostics, const char *path, const char *what,
                     const char *why)
{
    diagnostics_add(diagnostics, DIAGNOSTIC_ERROR, path, (mark){0, 0}, NULL, NULL, "%s%s%s", what,
                    why[0] ? ": " : "", why);
    return false;
}

static bool format_of(const char *path, enum mesh_format *format, struct diagnostics *diagnostics)
{
    static const char *const endings[MESH_FORMAT_COUNT] = {
        [MESH_ASC] = ".asc", [MESH_OBJ] = ".obj", [MESH_PLY] = ".ply", [MESH_STL] = ".stl"};
    size_t length = strlen(path);
    for (int f = 0; f < MESH_FORMAT_COUNT; ++f) {
        size_t ending = strlen(endings[f]);
        if (length > ending && strcasecmp(path + length - ending, endings[f]) == 0) {
            *format = (enum mesh_format)f;
            return true;
        }
    }
    return complain(diagnostics, path,
                    "the name of a mesh file must end in .asc, .obj, .ply or .stl", "");
}

static bool read_bytes(FILE *file, const char *path, char **data, size_t *size,
                       struct diagnostics *diagnostics)
{
    struct stat facts;
    if (fstat(fileno(file), &facts) != 0)
        return complain(diagnostics, path, "cannot read the mesh", strerror(errno));
    if (!S_ISREG(facts.st_mode)) // the size of a pipe is not known
        return complain(diagnostics, path, "cannot read the mesh", "not an ordinary file");
    *size = (size_t)facts.st_size;
    *data = malloc(*size + 1);
    if (!*data) {
        diagnostics_fail(diagnostics, TAUT_ERROR_MEMORY, path, "out of memory for the mesh");
        return false;
    }
    if (fread(*data, 1, *size, file) == *size)
        return true;
    return complain(diagnostics, path, "cannot read the mesh",
                    ferror(file) ? strerror(errno) : "the file became shorter meanwhile");
}

bool mesh_read(const char *path, struct mesh *mesh, struct diagnostics *diagnostics)
{
    *mesh = (struct mesh){0};
    enum mesh_format format;
    if (!format_of(path, &format, diagnostics))
        return false;
    const char *reason;
    FILE *file = open_to_read(path, &reason);
    if (!file)
        return complain(diagnostics, path, "cannot read the mesh", reason);
    char *data = NULL;
    size_t size = 0;
    bool sound = read_bytes(file, path, &data, &size, diagnostics);
    fclose(file);
    sound = sound && mesh_read_memory(format, data, size, path, mesh, diagnostics);
    free(data);
    return sound;
}
