// Springs of a regular grid, and faces of a sheet, by arithmetic instead of lists. Node (i, j, k)
// of a grid of nx by ny by nz nodes is (k ny + j) nx + i. A direction has a spring from every node
// to its partner at (dx, dy, dz), if that exists. These lower nodes fill a box, and the springs are
// numbered in their order. So number, position and ends of a spring follow from each other, and a
// hundred bytes describe any number of springs.
//
// This is the only description of a direction: the builder makes it, the topology adds material and
// rest length, and the plan, kernels, tangents, constraints and constants use it unchanged.
#ifndef TAUT_SCENE_DIRECTION_H
#define TAUT_SCENE_DIRECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct direction {
    int dx, dy, dz;              // the last one that is not 0 is positive
    int64_t offset;              // from a node's number to its partner's, > 0
    uint64_t nx, ny;             // of the grid
    uint64_t first[3], count[3]; // lower nodes: first + 0 .. count - 1 along each axis
    uint64_t first_spring;       // number of the first spring within the body
    uint32_t material;           // index into the body's materials; in the topology, into all
                                 // materials
    bool weighted;               // springs on the boundary have a fraction of the constants inside:
    uint32_t boundary_material;  // on one side of the box; the next material is that of springs on
                                 // two sides, where it has an edge
    double rest_length;          // m, as built; set by the topology
};

// The materials of springs on the boundary of a weighted direction: half and a quarter of the
// constants.
enum { BOUNDARY_MATERIALS = 2 };

// The share of a spring or node on so many sides of the box in the constants and mass of one
// inside.
static inline double boundary_share(int sides)
{
    return 1.0 / (double)(1 << sides);
}

// Whether some of the springs may have this material.
static inline bool direction_has_material(const struct direction *direction, uint32_t material)
{
    return material == direction->material ||
           (direction->weighted && material >= direction->boundary_material &&
            material < direction->boundary_material + BOUNDARY_MATERIALS);
}

// Whether position `index` of `count` along an axis is on a side of the box.
static inline bool is_on_side(uint64_t index, uint64_t count)
{
    return count > 1 && (index == 0 || index + 1 == count);
}

// The number of sides of a box of so many nodes along its axes that a node lies on.
static inline int sides_of_node(const uint64_t nodes[3], uint64_t node)
{
    const uint64_t row = node / nodes[0];
    return is_on_side(node % nodes[0], nodes[0]) + is_on_side(row % nodes[1], nodes[1]) +
           is_on_side(row / nodes[1], nodes[2]);
}

// Sets the offsets and the box; the rest is 0.
struct direction direction_make(const uint64_t nodes[3], const int steps[3]);

// The number of springs in the direction; may be 0.
uint64_t direction_springs(const struct direction *direction);

// The direction, of `count` in the order of their springs, that has spring `spring` of the body.
const struct direction *direction_of_spring(const struct direction *directions, size_t count,
                                            uint64_t spring);

// The lower node of spring `index` of the direction. *left springs, including this one, remain in
// the row: spring index + n of them has the lower node + n.
uint64_t direction_lower(const struct direction *direction, uint64_t index, uint64_t *left);

// The material of spring `index` of the direction. *left, from direction_lower, is reduced to the
// springs that have the same material.
//
// The constants of a weighted direction belong to the cells of the grid: a spring inside is shared
// by two cells for each axis that it does not move along, one on a side of the box by half as many,
// one on an edge of the box by a quarter. An axis with one node has no cells and no sides: a cloth
// has edges in the plane only.
uint32_t direction_material(const struct direction *direction, uint64_t index, uint64_t *left);

// Finds the spring with this lower node; false if there is none.
bool direction_find(const struct direction *direction, uint64_t lower, uint64_t *index);

// The faces of a sheet with nx nodes per row: two triangles per cell, cell by cell along the rows,
// (a, b, d) and (a, d, c), where b follows a in the row and c, d are in the next row.
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
