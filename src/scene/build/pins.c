// Pinned and driven nodes: selection of nodes by `pins`, `drives` and `probes`; pins; and drives,
// whose nodes follow a prescribed velocity.
#include "scene/build/build.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/memory.h"

// ---- Selectors

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

// The position of a node in a grid: for each axis, whether it is the first or the last of its row.
struct grid_ends {
    bool first[3], last[3];
};

static struct grid_ends grid_ends(const struct body *body, uint64_t node)
{
    struct grid_ends ends;
    for (int axis = 0; axis < 3; axis++) {
        uint64_t index = node % body->grid[axis];
        node /= body->grid[axis];
        ends.first[axis] = index == 0;
        ends.last[axis] = index + 1 == body->grid[axis];
    }
    return ends;
}

// The number of axes along which a node is at an end: all of them at a corner, all but one on an
// edge. The third axis of a cloth has one node, which always is at an end.
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

// Whether a selector of several nodes selects this one.
static bool selector_selects(const struct body *body, const struct selector *selector,
                             uint64_t node)
{
    if (selector->type == SELECT_BOX)
        return in_box(body, selector, node);
    // `top` is the first row of a cloth, from which it hangs, and the upper side of a lattice.
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

// ---- Pins

// Finds the node of a single-node selector; reports an error and returns false if it does not
// exist.
static bool find_node(struct build *build, const struct selector *selector, uint64_t *node)
{
    if (body_select_node(build->body, selector, node))
        return true;
    build_refuse(
        build, selector->at,
        "there is no node %" PRIu64 " in body '%s': its %" PRIu64 " nodes are 0 to %" PRIu64,
        selector->node, build->given->name, build->body->node_count, build->body->node_count - 1);
    return false;
}

static taut_status pin_node(struct build *build, uint64_t node, mark at)
{
    uint8_t *motion = &build->body->kinematic[node];
    if (*motion == NODE_MOVED)
        return build_refuse(build, at,
                            "node %" PRIu64 " of '%s' has a prescribed motion and cannot be pinned",
                            node, build->given->name);
    *motion = NODE_PINNED;
    return TAUT_OK;
}

// Pins nodes first .. first + count - 1 if the selector selects the first; the caller ensures that
// it selects all of them or none.
static taut_status pin_run(struct build *build, const struct selector *selector, uint64_t first,
                           uint64_t count, uint64_t *taken)
{
    if (count == 0 || !selector_selects(build->body, selector, first))
        return TAUT_OK;
    taut_status status = TAUT_OK;
    for (uint64_t node = first; node < first + count && status == TAUT_OK; node++)
        status = pin_node(build, node, selector->at);
    *taken += count;
    return status;
}

static taut_status pin_group(struct build *build, const struct selector *selector)
{
    struct body *body = build->body;
    uint64_t taken = 0, row = body->grid[0];
    taut_status status = TAUT_OK;
    if (selector->type == SELECT_BOX) // each node by its position
        for (uint64_t node = 0; node < body->node_count && status == TAUT_OK; node++)
            status = pin_run(build, selector, node, 1, &taken);
    else // sides of a grid: all inner nodes of a row are alike
        for (uint64_t node = 0; node < body->node_count && status == TAUT_OK; node += row) {
            status = pin_run(build, selector, node, 1, &taken);
            if (status == TAUT_OK && row > 2)
                status = pin_run(build, selector, node + 1, row - 2, &taken);
            if (status == TAUT_OK && row > 1)
                status = pin_run(build, selector, node + row - 1, 1, &taken);
        }
    if (status == TAUT_OK && taken == 0)
        build_warn(build, selector->at, "no node of body '%s' is in this box, so it pins none",
                   build->given->name);
    return status;
}

static taut_status pin(struct build *build, const struct selector *selector)
{
    bool single = selector->type == SELECT_NODE || selector->type == SELECT_FIRST ||
                  selector->type == SELECT_LAST;
    uint64_t node;
    if (single)
        return find_node(build, selector, &node) ? pin_node(build, node, selector->at)
                                                 : TAUT_ERROR_SCENE;
    if (!body_type_has_selector(build->body->type, selector->type))
        return build_refuse(build, selector->at, "a %s has no nodes called '%s'",
                            body_type_name(build->body->type), selector_name(selector->type));
    return pin_group(build, selector);
}

// The velocity of a drive at the start of the run.
static vec3 first_velocity(const struct scene_drive *drive)
{
    vec3 velocity = {0, 0, 0};
    for (size_t i = 0; i < drive->piece_count && drive->pieces[i].start <= 0.0; i++)
        velocity = drive->pieces[i].velocity;
    return velocity;
}

static taut_status drive(struct build *build, const struct scene_drive *given,
                         struct motion *motion)
{
    struct body *body = build->body;
    uint64_t node;
    mark at = given->node.at;
    if (given->node.type > SELECT_LAST)
        return build_refuse(build, at, "a drive moves one node: 'first', 'last' or a number");
    if (!find_node(build, &given->node, &node))
        return TAUT_ERROR_SCENE;
    if (body->kinematic[node] == NODE_PINNED)
        return build_refuse(build, at, "node %" PRIu64 " of '%s' is pinned and cannot be driven",
                            node, build->given->name);
    if (body->kinematic[node] == NODE_MOVED)
        return build_refuse(build, at, "node %" PRIu64 " of '%s' is driven already", node,
                            build->given->name);

    struct drive_piece *pieces = memory_allocate(NULL, given->piece_count, sizeof *pieces);
    if (!pieces)
        return build_no_memory(build);
    if (given->piece_count > 0)
        memcpy(pieces, given->pieces, given->piece_count * sizeof *pieces);
    *motion = (struct motion){.type = MOTION_DRIVE,
                              .node = (uint32_t)node,
                              .pieces = pieces,
                              .piece_count = given->piece_count};
    body->kinematic[node] = NODE_MOVED;
    assert(body->velocities); // ensured by is_moving in build.c
    vec3_store(body->velocities, node, first_velocity(given));
    return TAUT_OK;
}

static taut_status drive_all(struct build *build)
{
    const struct scene_body *given = build->given;
    struct body *body = build->body;
    if (given->drive_count == 0)
        return TAUT_OK;
    if (body->motion_count > 0)
        return build_refuse(build, given->drives[0].node.at,
                            "the nodes of '%s' have a prescribed motion and cannot be driven",
                            given->name);
    body->motions = memory_allocate(NULL, given->drive_count, sizeof *body->motions);
    if (!body->motions)
        return build_no_memory(build);
    body->motion_count = given->drive_count;
    taut_status status = TAUT_OK;
    for (size_t i = 0; i < given->drive_count && status != TAUT_ERROR_MEMORY; i++) {
        taut_status own = drive(build, &given->drives[i], &body->motions[i]);
        status = own != TAUT_OK ? own : status;
    }
    return status;
}

taut_status pin_and_drive_nodes(struct build *build)
{
    struct body *body = build->body;
    taut_status status = TAUT_OK;
    for (size_t i = 0; i < build->given->pin_count; i++) {
        taut_status own = pin(build, &build->given->pins[i]);
        status = own != TAUT_OK ? own : status;
    }
    for (uint64_t node = 0; body->velocities && node < body->node_count; node++)
        if (body->kinematic[node] == NODE_PINNED)
            vec3_store(body->velocities, node, vec3_make(0, 0, 0));
    taut_status driven = drive_all(build);
    for (uint64_t node = 0; node < body->node_count; node++)
        body->kinematic[node] = body->kinematic[node] != NODE_FREE;
    return driven != TAUT_OK ? driven : status;
}
