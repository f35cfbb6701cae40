// Springs of a grid by arithmetic: from spring numbers to nodes and back (direction.h).
#include "scene/direction.h"

#include <assert.h>
#include <stdlib.h>

struct direction direction_make(const uint64_t nodes[3], const int steps[3])
{
    struct direction direction = {
        .dx = steps[0], .dy = steps[1], .dz = steps[2], .nx = nodes[0], .ny = nodes[1]};
    for (int axis = 0; axis < 3; axis++) {
        uint64_t reach = (uint64_t)abs(steps[axis]);
        direction.first[axis] = steps[axis] < 0 ? reach : 0;
        direction.count[axis] = nodes[axis] > reach ? nodes[axis] - reach : 0;
    }
    direction.offset = steps[0] + (int64_t)nodes[0] * (steps[1] + (int64_t)nodes[1] * steps[2]);
    assert(direction.offset > 0 || direction_springs(&direction) == 0);
    return direction;
}

uint64_t direction_springs(const struct direction *direction)
{
    return direction->count[0] * direction->count[1] * direction->count[2];
}

const struct direction *direction_of_spring(const struct direction *directions, size_t count,
                                            uint64_t spring)
{
    const struct direction *direction = directions, *last = directions + count - 1;
    while (direction < last && direction[1].first_spring <= spring)
        direction++;
    return direction;
}

uint64_t direction_lower(const struct direction *direction, uint64_t index, uint64_t *left)
{
    uint64_t i = index % direction->count[0], row = index / direction->count[0];
    uint64_t j = row % direction->count[1], k = row / direction->count[1];
    *left = direction->count[0] - i;
    uint64_t layer = direction->first[2] + k;
    return (layer * direction->ny + direction->first[1] + j) * direction->nx + direction->first[0] +
           i;
}

uint32_t direction_material(const struct direction *direction, uint64_t index, uint64_t *left)
{
    if (!direction->weighted)
        return direction->material;
    const uint64_t *count = direction->count;
    const uint64_t i = index % count[0], row = index / count[0];
    unsigned sides = 0;
    if (direction->dy == 0)
        sides += is_on_side(row % count[1], count[1]);
    if (direction->dz == 0)
        sides += is_on_side(row / count[1], count[2]);

    // Along the row, the first and the last spring are on sides, unless the direction leads along
    // x.
    if (direction->dx == 0) {
        sides += is_on_side(i, count[0]);
        if (i == 0)
            *left = 1;
        else if (i + 1 < count[0] && *left > count[0] - 1 - i)
            *left = count[0] - 1 - i;
    }
    return sides == 0 ? direction->material : direction->boundary_material + (sides - 1);
}

bool direction_find(const struct direction *direction, uint64_t lower, uint64_t *index)
{
    uint64_t row = lower / direction->nx;
    const uint64_t index_of[3] = {lower % direction->nx, row % direction->ny, row / direction->ny};
    *index = 0;
    for (int axis = 2; axis >= 0; axis--) {
        uint64_t from_first =
            index_of[axis] - direction->first[axis]; // wraps to a huge value if before `first`
        if (from_first >= direction->count[axis])
            return false;
        *index = *index * direction->count[axis] + from_first;
    }
    return true;
}
