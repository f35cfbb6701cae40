// Broken mesh files, each with the complete diagnostics that the reader must report.
#ifndef TAUT_TESTS_BROKEN_MESHES_H
#define TAUT_TESTS_BROKEN_MESHES_H

#include "scene/mesh/mesh_reader.h"

struct broken {
    const char *name;
    enum mesh_format format;
    const char *data;
    size_t size;
    const char *findings; // "FILE" stands for the file's name
};

extern const struct broken broken_meshes[];
extern const size_t broken_mesh_count;

#endif
