// Culling of nodes that touch nothing, for the files of this folder. Numeric.
//
// Most nodes touch nothing. Nodes are therefore tested in blocks of CONTACT_BLOCK: the bounding box
// of a block shows which colliders may be near, and for these a vector kernel shows which nodes may
// touch (near_body.h). Both tests have a margin; the contact itself is computed in double, node by
// node.
#ifndef TAUT_CONTACT_CULLING_H
#define TAUT_CONTACT_CULLING_H

#include "base/bits.h"
#include "contact/shapes.h"

// ---- Bounding boxes

// `origin` of the coordinates found (state.h). `low`: the greatest ratio of low parts, which they
// do not have, to them.
static inline struct block_box block_box_of(const struct node_box *found, vec3 origin, double low)
{
    const double from[3] = {origin.x, origin.y, origin.z};
    struct block_box box = {.reach = 0};
    for (int axis = 0; axis < 3; axis++) {
        const double high[2] = {(double)found->least[axis], (double)found->most[axis]};
        const double least = from[axis] + (high[0] - low * fabs(high[0]));
        const double most = from[axis] + (high[1] + low * fabs(high[1]));
        box.least[axis] = least;
        box.most[axis] = most;
        box.reach = max_of(box.reach, max_of(fabs(least), fabs(most)));
    }
    return box;
}

// The box of any vectors, not measured from the origin of the state.
static inline struct block_box box_of(const struct system *system, const real *x, const real *y,
                                      const real *z, struct range nodes)
{
    struct node_box found;
    system->kernels->node_box(x, y, z, nodes, &found);
    return block_box_of(&found, vec3_make(0, 0, 0), 0);
}

static inline struct node_box find_node_box(const struct system *system, struct range nodes)
{
    const struct state *s = system->state;
    struct node_box found;
    system->kernels->node_box(s->x, s->y, s->z, nodes, &found);
    return found;
}

// For a box of nodes.
static inline struct block_box block_box_of_nodes(const struct system *system,
                                                  const struct node_box *found)
{
    const struct state *s = system->state;
    return block_box_of(found, s->origin, state_is_mixed(s) ? (double)REAL_EPSILON : 0);
}

static inline struct block_box box_of_nodes(const struct system *system, struct range nodes)
{
    const struct node_box found = find_node_box(system, nodes);
    return block_box_of_nodes(system, &found);
}

// ---- Clear boxes
//
// For a small body the tests above cost as much as the nodes themselves: a rope of 10 nodes takes
// 0.2 us per step. A block that is near nothing is therefore given a larger box around its own that
// is near nothing either. While its own box stays inside that one, six comparisons in the run's
// precision show that it is still near nothing, whatever the number of colliders. The test of a box
// can only change from near to clear when the box shrinks, in floating-point numbers too, so the
// result is that of the full tests.

static inline double block_slack(const struct block_box *box)
{
    return 12 * (double)REAL_EPSILON * box->reach + (double)REAL_TINY;
}

// The distance from a surface within which a node counts as touching: the rounding of its
// coordinates, of that precision.
static inline double touching_slack(double epsilon, vec3 position)
{
    const double size = fabs(position.x) + fabs(position.y) + fabs(position.z);
    return 4 * epsilon * size + (double)REAL_TINY;
}

// `slack` is in addition to that of rounding, which every clear box includes. False if it is not a
// number.
static inline bool is_clear(const struct clear_box *clear, const struct node_box *box, double slack)
{
    bool inside = clear->known & (slack <= clear->slack);
    for (int axis = 0; axis < 3; axis++)
        inside &= (box->least[axis] >= clear->least[axis]) & (box->most[axis] <= clear->most[axis]);
    return inside;
}

static inline struct clear_box *clear_box_of(const struct system *system, struct range nodes,
                                             enum collider_response response)
{
    return &system->contacts.clear[nodes.first / CONTACT_BLOCK][response];
}

// Called when the box of a block has been found near no collider of the response. There is no clear
// box around moving spheres.
void REAL_NAME(make_clear)(const struct system *system, enum collider_response response,
                           double time, const struct block_box *box, struct clear_box *clear);

// ---- Nodes that may touch, a bit each in words of 64

enum { BLOCK_WORDS = CONTACT_BLOCK / 64 };

// Sets bit i of the block's words if node i of the range may be deeper than -slack. Returns whether
// any may.
bool REAL_NAME(find_near)(const struct system *system, const struct surface *surface,
                          const struct block_box *box, double slack, struct range nodes,
                          uint64_t near[BLOCK_WORDS]);

// Whether a node of the block may be deeper than -slack in this collider, if it has the given
// response; if so, also its position and these nodes.
static inline bool find_near_collider(const struct system *system, size_t collider,
                                      enum collider_response response, double time,
                                      const struct block_box *box, double slack, struct range nodes,
                                      struct surface *surface, uint64_t near[BLOCK_WORDS])
{
    if (system->topology->colliders[collider].response != response)
        return false;
    *surface = surface_at(system, collider, time);
    return REAL_NAME(surface_is_near_box)(surface, box, slack) &&
           REAL_NAME(find_near)(system, surface, box, slack, nodes, near);
}

// The nodes of a word of a block.
static inline struct range word_nodes(struct range nodes, int word)
{
    const size_t first = nodes.first + 64 * (size_t)word;
    if (first >= nodes.end)
        return (struct range){nodes.end, nodes.end};
    return (struct range){first, nodes.end - first < 64 ? nodes.end : first + 64};
}

// With fewer near nodes, node by node is faster.
enum { TOUCH_MIN = 10 };

#endif
