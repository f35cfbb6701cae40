// Springs of a regular grid, and faces of a sheet, by arithmetic instead of a list. Node (i, j, k)
// of a grid of nx by ny by nz nodes is (k ny + j) nx + i. A direction has a spring from every node
// with a partner (dx, dy, dz) away to that partner; these lower nodes fill a box, and the springs
// are counted in their order. So number, position and ends of a spring follow from each other, and
// a hundred bytes describe any number of springs.
//
// This is the one description of a direction: the builder makes it, the topology gives it material
// and rest length, and the plan, kernels, tangents, constraints and constants use that unchanged.
#ifndef TAUT_SCENE_DIRECTION_H
#define TAUT_SCENE_DIRECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct direction {
    int dx, dy, dz;              // the last that is not 0 is positive
    int64_t offset;              // from a node's number to its partner's, > 0
    uint64_t nx, ny;             // of the grid
    uint64_t first[3], count[3]; // lower nodes: first + 0 .. count - 1 along each axis
    uint64_t first_spring;       // number of the first spring within the body
    uint32_t material;           // index into the body's materials, from the topology on into all
    double rest_length;          // m, as built; from the topology on
};

// The offsets and the box; the rest is 0.
struct direction direction_make(const uint64_t nodes[3], const int steps[3]);

// Springs in the direction; may be 0.
uint64_t direction_springs(const struct direction *direction);

// The lower node of spring `index` of the direction. Until the end of the row, *left springs with
// this one, spring index + n goes from node + n.
uint64_t direction_lower(const struct direction *direction, uint64_t index, uint64_t *left);

// The spring whose lower node this is; false if there is none.
bool direction_find(const struct direction *direction, uint64_t lower, uint64_t *index);

// The faces of a sheet of nx nodes a row: two triangles a cell, cell by cell along the rows,
// (a, b, d) and (a, d, c) with b after a in the row and c, d above them.
struct sheet_face {
    uint64_t nodes[3];
};

static inline struct sheet_face sheet_face(uint64_t nx, uint64_t face)
{
    uint64_t cell = face / 2, a = cell / (nx - 1) * nx + cell % (nx - 1);
    if (face % 2 == 0)
        return (struct sheet_face){{a, a + 1, a + nx + 1}};
    return (struct sheet_face){{a, a + nx + 1, a + nx}};
}

#endif
