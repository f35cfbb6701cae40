// The header of a PLY file: which elements follow, how many, and what each of them holds.
#ifndef TAUT_SCENE_MESH_PLY_HEADER_H
#define TAUT_SCENE_MESH_PLY_HEADER_H

#include "scene/mesh/mesh_text.h"

enum ply_encoding { PLY_ASCII, PLY_LITTLE_ENDIAN, PLY_BIG_ENDIAN };

enum ply_type {
    PLY_INT8,
    PLY_UINT8,
    PLY_INT16,
    PLY_UINT16,
    PLY_INT32,
    PLY_UINT32,
    PLY_FLOAT32,
    PLY_FLOAT64,
    PLY_TYPE_COUNT
};

// What a property means to a mesh.
enum ply_role { PLY_X, PLY_Y, PLY_Z, PLY_CORNERS, PLY_STRIPS, PLY_IGNORED };

struct ply_property {
    struct token name;
    enum ply_role role;
    bool is_list;
    enum ply_type count_type; // of a list
    enum ply_type type;       // of the value, or of the list's items
};

struct ply_element {
    struct token name;
    const char *count_at;
    uint64_t count;
    size_t first_property, property_count;
};

// Far beyond what programs write; a header is not worth lists that grow.
enum { PLY_ELEMENTS_MAX = 64, PLY_PROPERTIES_MAX = 1000 };

struct ply_header {
    enum ply_encoding encoding;
    struct ply_element elements[PLY_ELEMENTS_MAX];
    size_t element_count;
    struct ply_property properties[PLY_PROPERTIES_MAX];
    size_t property_count;
};

size_t ply_type_size(enum ply_type type);
bool ply_type_is_whole(enum ply_type type);

// The least and greatest value of a whole type.
int64_t ply_type_least(enum ply_type type);
int64_t ply_type_greatest(enum ply_type type);

// Reads up to and with the line end_header into a zeroed header, and makes sure that it describes a
// mesh and that its counts are not beyond what the rest of the file can hold.
bool ply_header_read(struct mesh_text *text, struct ply_header *header);

#endif
