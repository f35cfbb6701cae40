// Pinned and driven nodes: selection of nodes by `pins`, `drives` and `probes`; pins; and drives,
// whose nodes follow a prescribed velocity and angular velocity.
#include "scene/build/build.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

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

// A function that is called for each selected node.
typedef taut_status node_visitor(struct build *build, uint64_t node, mark at, void *context);

struct selection {
    struct build *build;
    const struct selector *selector;
    node_visitor *visit;
    void *context;
    uint64_t taken; // nodes that it has
};

// Finds the node of a single-node selector; reports an error and returns false if it does not
// exist.
static bool find_node(struct build *build, const struct selector *selector, uint64_t *node)
{
    if (body_select_node(build->body, selector, node))
        return true;
    build_refuse(build, selector->at,
                 "there is no node %" PRIu64 " in body '%s': its nodes are 0 to %" PRIu64,
                 selector->node, build->given->name, build->body->node_count - 1);
    return false;
}

// Visits nodes first .. first + count - 1 if the selector selects the first; the caller ensures
// that it selects all of them or none.
static taut_status visit_run(struct selection *it, uint64_t first, uint64_t count)
{
    if (count == 0 || !selector_selects(it->build->body, it->selector, first))
        return TAUT_OK;
    taut_status status = TAUT_OK;
    for (uint64_t node = first; node < first + count && status == TAUT_OK; node++)
        status = it->visit(it->build, node, it->selector->at, it->context);
    it->taken += count;
    return status;
}

// `does`: what the selection is for, as in "it pins none".
static taut_status visit_selected(struct selection *it, const char *does)
{
    struct build *build = it->build;
    const struct selector *selector = it->selector;
    const struct body *body = build->body;
    bool single = selector->type == SELECT_NODE || selector->type == SELECT_FIRST ||
                  selector->type == SELECT_LAST;
    uint64_t node, row = body->grid[0];
    if (single)
        return find_node(build, selector, &node) ? it->visit(build, node, selector->at, it->context)
                                                 : TAUT_ERROR_SCENE;
    if (!body_type_has_selector(body->type, selector->type))
        return build_refuse(build, selector->at, "a %s has no nodes called '%s'",
                            body_type_name(body->type), selector_name(selector->type));
    taut_status status = TAUT_OK;
    if (selector->type == SELECT_BOX) // each node by its position
        for (node = 0; node < body->node_count && status == TAUT_OK; node++)
            status = visit_run(it, node, 1);
    else // sides of a grid: all inner nodes of a row are alike
        for (node = 0; node < body->node_count && status == TAUT_OK; node += row) {
            status = visit_run(it, node, 1);
            if (status == TAUT_OK && row > 2)
                status = visit_run(it, node + 1, row - 2);
            if (status == TAUT_OK && row > 1)
                status = visit_run(it, node + row - 1, 1);
        }
    if (status == TAUT_OK && it->taken == 0)
        build_warn(build, selector->at, "no node of body '%s' is in this box, so it %s none",
                   build->given->name, does);
    return status;
}

// ---- Pins

static taut_status pin_node(struct build *build, uint64_t node, mark at, void *unused)
{
    (void)unused;
    uint8_t *motion = &build->body->kinematic[node];
    if (*motion == NODE_MOVED)
        return build_refuse(build, at,
                            "node %" PRIu64 " of '%s' has a prescribed motion and cannot be pinned",
                            node, build->given->name);
    *motion = NODE_PINNED;
    return TAUT_OK;
}

static taut_status pin(struct build *build, const struct selector *selector)
{
    struct selection selection = {.build = build, .selector = selector, .visit = pin_node};
    return visit_selected(&selection, "pins");
}

// ---- Drives

// The velocity of a node at the start of the run.
static vec3 first_velocity(const struct scene_drive *drive, vec3 position)
{
    const double radians = 3.14159265358979323846 / 180;
    vec3 velocity = {0, 0, 0};
    for (size_t i = 0; i < drive->piece_count && drive->pieces[i].start <= 0.0; i++) {
        velocity = drive->pieces[i].velocity;
        if (drive->turns)
            velocity = vec3_add(velocity,
                                vec3_cross(vec3_scale(radians, drive->pieces[i].angular_velocity),
                                           vec3_subtract(position, drive->center)));
    }
    return velocity;
}

// The motions of a body so far.
struct driving {
    const struct scene_drive *given;
    struct motion *motions; // of array_reserve
    size_t count, capacity;
};

static taut_status drive_node(struct build *build, uint64_t node, mark at, void *context)
{
    struct driving *driving = context;
    const struct scene_drive *given = driving->given;
    struct body *body = build->body;
    if (body->kinematic[node] == NODE_PINNED)
        return build_refuse(build, at, "node %" PRIu64 " of '%s' is pinned and cannot be driven",
                            node, build->given->name);
    if (body->kinematic[node] == NODE_MOVED)
        return build_refuse(build, at, "node %" PRIu64 " of '%s' is driven already", node,
                            build->given->name);

    if (!array_reserve((void **)&driving->motions, &driving->capacity, driving->count + 1,
                       sizeof *driving->motions))
        return build_no_memory(build);
    struct drive_piece *pieces =
        memory_copy(NULL, given->pieces, given->piece_count, sizeof *pieces);
    if (!pieces)
        return build_no_memory(build);
    const vec3 position = body_position(body, node);
    struct motion *motion = &driving->motions[driving->count++];
    *motion = (struct motion){.type = MOTION_DRIVE,
                              .node = (uint32_t)node,
                              .pieces = pieces,
                              .piece_count = given->piece_count,
                              .turns = given->turns};
    if (given->turns) {
        motion->origin = given->center;
        motion->length = vec3_length(vec3_subtract(position, given->center));
    }
    body->kinematic[node] = NODE_MOVED;
    assert(body->velocities); // ensured by has_own_velocities in build.c
    vec3_store(body->velocities, node, first_velocity(given, position));
    return TAUT_OK;
}

static taut_status drive(struct build *build, struct driving *driving)
{
    const struct scene_drive *given = driving->given;
    taut_status status = TAUT_OK;
    if (!given->nodes && given->node.type > SELECT_LAST)
        return build_refuse(build, given->node.at,
                            "a drive moves one node: 'first', 'last' or a number");
    for (size_t i = 0; i < (given->nodes ? given->node_count : 1) && status == TAUT_OK; i++) {
        struct selection selection = {.build = build,
                                      .selector = given->nodes ? &given->nodes[i] : &given->node,
                                      .visit = drive_node,
                                      .context = driving};
        status = visit_selected(&selection, "drives");
    }
    return status;
}

static taut_status drive_all(struct build *build)
{
    const struct scene_body *given = build->given;
    struct body *body = build->body;
    if (given->drive_count == 0)
        return TAUT_OK;
    const struct scene_drive *first = &given->drives[0];
    if (body->motion_count > 0)
        return build_refuse(build, first->nodes ? first->nodes[0].at : first->node.at,
                            "the nodes of '%s' have a prescribed motion and cannot be driven",
                            given->name);
    struct driving driving = {.motions = NULL};
    taut_status status = TAUT_OK;
    for (size_t i = 0; i < given->drive_count && status != TAUT_ERROR_MEMORY; i++) {
        driving.given = &given->drives[i];
        taut_status own = drive(build, &driving);
        status = own != TAUT_OK ? own : status;
    }
    body->motions = memory_copy(NULL, driving.motions, driving.count, sizeof *body->motions);
    for (size_t i = 0; !body->motions && i < driving.count; i++)
        memory_release(NULL, (void *)driving.motions[i].pieces, driving.motions[i].piece_count,
                       sizeof *driving.motions[i].pieces);
    free(driving.motions);
    if (!body->motions)
        return build_no_memory(build);
    body->motion_count = driving.count;
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
        if (body->kinematic[node] == NODE_PINNED &&
            !are_plus_zero(body->velocities + 3 * node)) // else 0 takes memory
            vec3_store(body->velocities, node, vec3_make(0, 0, 0));
    taut_status driven = drive_all(build);
    for (uint64_t node = 0; node < body->node_count; node++)
        if (body->kinematic[node] != NODE_FREE) // pages without any have no memory yet
            body->kinematic[node] = 1;
    return driven != TAUT_OK ? driven : status;
}
