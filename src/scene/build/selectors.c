// Which nodes `pins`, `drives` and `probes` mean.
#include "scene/build/build.h"

const char *selector_name(enum selector_type type)
{
    static const char *const names[] = {
        [SELECT_NODE] = "node",       [SELECT_FIRST] = "first", [SELECT_LAST] = "last",
        [SELECT_LEFT] = "left",       [SELECT_RIGHT] = "right", [SELECT_TOP] = "top",
        [SELECT_BOTTOM] = "bottom",   [SELECT_FRONT] = "front", [SELECT_BACK] = "back",
        [SELECT_CORNERS] = "corners", [SELECT_EDGES] = "edges", [SELECT_BOX] = "box"};
    return names[type];
}

bool body_select_node(const struct body *body, const struct selector *selector, uint64_t *node)
{
    uint64_t count = body->node_count;
    if (count == 0)
        return false;
    if (selector->type == SELECT_FIRST)
        *node = 0;
    else if (selector->type == SELECT_LAST)
        *node = count - 1;
    else if (selector->type == SELECT_NODE && selector->node < count)
        *node = selector->node;
    else
        return false;
    return true;
}

bool selector_names_group(const struct body *body, enum selector_type type)
{
    switch (type) {
    case SELECT_BOX:
        return true;
    case SELECT_FRONT:
    case SELECT_BACK:
        return body->type == BODY_LATTICE;
    case SELECT_LEFT:
    case SELECT_RIGHT:
    case SELECT_TOP:
    case SELECT_BOTTOM:
    case SELECT_CORNERS:
    case SELECT_EDGES:
        return body->type == BODY_LATTICE || body->type == BODY_CLOTH;
    default:
        return false;
    }
}

// A node's place in a grid: for each axis, whether it is the first or the last of its row.
struct grid_ends {
    bool first[3], last[3];
};

static struct grid_ends grid_ends(const struct body *body, uint64_t node)
{
    struct grid_ends ends;
    for (int axis = 0; axis < 3; axis++) {
        uint64_t place = node % body->grid[axis];
        node /= body->grid[axis];
        ends.first[axis] = place == 0;
        ends.last[axis] = place + 1 == body->grid[axis];
    }
    return ends;
}

// A corner ends the rows of all axes, a node of the edges those of all axes but one. The third axis
// of a cloth has one node, so that it ends there always.
static int axes_ended(const struct grid_ends *ends)
{
    int count = 0;
    for (int axis = 0; axis < 3; axis++)
        count += ends->first[axis] || ends->last[axis];
    return count;
}

static bool in_box(const struct body *body, const struct selector *selector, uint64_t node)
{
    vec3 p = body_position(body, node), min = selector->min, max = selector->max;
    return p.x >= min.x && p.x <= max.x && p.y >= min.y && p.y <= max.y && p.z >= min.z &&
           p.z <= max.z;
}

bool selector_takes(const struct body *body, const struct selector *selector, uint64_t node)
{
    if (selector->type == SELECT_BOX)
        return in_box(body, selector, node);
    // `top` is the first row of a cloth, which hangs from there, and the upper side of a lattice.
    bool cloth = body->type == BODY_CLOTH;
    struct grid_ends ends = grid_ends(body, node);
    switch (selector->type) {
    case SELECT_LEFT:
        return ends.first[0];
    case SELECT_RIGHT:
        return ends.last[0];
    case SELECT_TOP:
        return cloth ? ends.first[1] : ends.last[1];
    case SELECT_BOTTOM:
        return cloth ? ends.last[1] : ends.first[1];
    case SELECT_FRONT:
        return ends.last[2];
    case SELECT_BACK:
        return ends.first[2];
    case SELECT_CORNERS:
        return axes_ended(&ends) == 3;
    case SELECT_EDGES:
        return axes_ended(&ends) >= 2;
    default:
        return false;
    }
}
