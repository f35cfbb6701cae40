// The blocks of data of a .vtp file: which there are, how long each is, and who streams its values.
#ifndef TAUT_OUTPUT_VTP_ARRAYS_H
#define TAUT_OUTPUT_VTP_ARRAYS_H

#include "output/file.h"
#include "output/snapshot.h"

// What is being written, counted over all bodies.
struct vtp_content {
    const struct snapshot *now;
    uint64_t points, verts, lines, polys;
    bool wide; // indices need 64 bits
    // Scratch for the strains of faces, a node of the largest body that has some.
    uint64_t scratch_nodes;
    double *strain_sums;
    uint64_t *strain_counts;
};

enum vtp_type { VTP_REAL, VTP_INDEX, VTP_INT32, VTP_UINT8 };

struct vtp_array {
    const char *section, *name;
    enum vtp_type type;
    int components;
    uint64_t (*tuples)(const struct vtp_content *content);
    void (*write)(struct file *file, const struct vtp_content *content);
};

enum { VTP_ARRAY_COUNT = 13 };

// In the order of the file; arrays of one section stand together.
extern const struct vtp_array vtp_arrays[VTP_ARRAY_COUNT];

// "Float32", ...: a type as the file calls it.
const char *vtp_type_name(enum vtp_type type, const struct vtp_content *content);

// Bytes of an array's values.
uint64_t vtp_array_bytes(const struct vtp_array *array, const struct vtp_content *content);

// Whether indices need 64 bits.
bool vtp_is_wide(const struct vtp_content *content);

// Counts; the scratch is left to the caller.
struct vtp_content vtp_count(const struct snapshot *now);

#endif
