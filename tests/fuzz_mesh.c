// libFuzzer: any bytes as a mesh file. The first byte selects the format, the rest is the file. A
// mesh that a reader accepts must pass the inspection, and all its numbers must be in range.
#include "scene/mesh/mesh_reader.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct mesh *mesh)
{
    for (uint64_t i = 0; i < 3 * mesh->triangle_count; ++i)
        if (mesh->triangles[i] >= mesh->vertex_count)
            abort();
    for (uint64_t i = 0; i < 3 * mesh->vertex_count; ++i)
        if (!isfinite(mesh->vertices[i]))
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct mesh mesh;
    struct mesh_report report;
    struct diagnostics diagnostics = {0};
    enum mesh_format format = (enum mesh_format)(data[0] % MESH_FORMAT_COUNT);
    bool sound = mesh_read_memory(format, data + 1, size - 1, "fuzz", &mesh, &diagnostics);
    if (sound == (diagnostics.error_count > 0)) // an error without a message, or a message without
                                                // an error
        abort();
    if (sound) {
        check(&mesh);
        if (mesh_inspect_and_orient(&mesh, &report))
            check(&mesh);
    }
    for (size_t i = 0; i < diagnostics.count; ++i)
        free(diagnostic_render(&diagnostics.items[i]));
    diagnostics_free(&diagnostics);
    mesh_free(&mesh);
    return 0;
}
