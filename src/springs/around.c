// The nodes and springs of others that a rank has to know around some nodes (around.h): the lists
// of those that it wants.
#include "springs/around.h"

#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "springs/exchange.h"
#include "springs/part_springs.h"
#include "springs/part_sums.h"

// The part of this rank.
struct rank_part {
    const struct plan_parts *parts;
    const struct plan_part *part;
};

// How far the numbers of the corners of a face are apart at most; it is half a side of a grid's
// cell.
static uint64_t widest_face(const struct topology_body *body)
{
    if (body->face_count == 0)
        return 0;
    const uint64_t columns = body->grid[0], layer = columns * body->grid[1];
    return body->is_sheet ? columns + 1 : layer + columns;
}

// Wants nodes [from, to), except those of this rank, and fills the masses of these.
static bool want_others(const struct system *system, const struct rank_part *it, uint64_t from,
                        uint64_t to, struct node_lists *reach)
{
    const struct plan_part *part = it->part;
    const uint64_t before = min_u64(to, max_u64(from, part->first_node));
    const uint64_t after = min_u64(to, max_u64(from, part->end_node));
    const struct plan_nodes sides[] = {{from, before - from}, {after, to - after}};
    for (size_t s = 0; s < sizeof sides / sizeof *sides; s++) {
        const struct range nodes = {(size_t)sides[s].first,
                                    (size_t)(sides[s].first + sides[s].count)};
        REAL_NAME(constants_fill_nodes)(system->constants, system->topology, nodes);
        if (!REAL_NAME(node_lists_want)(reach, it->parts, sides[s]))
            return false;
    }
    return true;
}

// Which nodes of a divided body a rank is concerned with, and which of others it needs for them.
enum { NODE_INSIDE = 1, NODE_NEEDED = 2, NODE_RING = 4 };

struct concern {
    size_t body;
    uint8_t *marks; // of each node of the body
};

static bool concern_begin(const struct system *system, size_t body, struct concern *concern)
{
    concern->body = body;
    concern->marks = calloc((size_t)system->topology->bodies[body].node_count, 1);
    return concern->marks;
}

// Marks the other ends of springs at nodes that are inside. `springs`: also wants the states of
// these springs, if they break or yield.
static bool need_ends(const struct system *system, const struct rank_part *it,
                      const struct concern *concern, struct node_lists *springs)
{
    const struct topology *topology = system->topology;
    const struct topology_body *body = &topology->bodies[concern->body];
    const uint64_t end = body->first_spring + body->spring_count, first = body->first_node;
    uint8_t *const marks = concern->marks;
    for (uint64_t spring = body->first_spring; spring < end;) {
        const struct spring_run run = topology_run(topology, spring, end);
        for (uint64_t i = 0; i < run.count; i++) {
            uint8_t *const a = &marks[run.a + i - first], *const b = &marks[run.b + i - first];
            if (!((*a | *b) & NODE_INSIDE))
                continue;
            *a |= NODE_NEEDED;
            *b |= NODE_NEEDED;
            if (springs && !REAL_NAME(part_springs_want)(
                               system, it->parts, it->part,
                               plan_off_grid_index(system->plan, spring + i), 1, springs))
                return false;
        }
        spring += run.count;
    }
    return true;
}

// How many triangles away the nodes may be on which the forces at a node depend: a fold depends on
// the nodes of the folds beside it.
static int rings_of(const struct topology_body *body)
{
    return elements_are_membrane(&body->elements) ? 3 : 1;
}

// Marks the corners of faces at nodes that are inside, and so on, ring by ring.
static void need_corners(const struct system *system, const struct concern *concern)
{
    const struct topology_body *body = &system->topology->bodies[concern->body];
    for (int ring = 0; ring < rings_of(body); ring++) {
        const uint8_t found = (uint8_t)(NODE_RING << ring);
        const uint8_t before = (uint8_t)(found - NODE_RING);
        for (uint64_t f = 0; f < body->face_count; f++) {
            const struct face face = topology_body_face(system->topology, body, f);
            const int corners = face.nodes[2] == FACE_EDGE ? 2 : 3;
            uint8_t *marks[3], all = 0;
            for (int c = 0; c < corners; c++) {
                marks[c] = &concern->marks[face.nodes[c] - body->first_node];
                all |= *marks[c];
            }
            for (int c = 0; c < corners && all & (NODE_INSIDE | before); c++)
                *marks[c] |= found;
        }
    }
}

// Wants the marked nodes.
static bool want_marked(const struct system *system, const struct rank_part *it,
                        const struct concern *concern, struct node_lists *reach)
{
    const struct topology_body *body = &system->topology->bodies[concern->body];
    for (uint64_t node = 0, end; node < body->node_count; node = end) {
        for (end = node; end < body->node_count && concern->marks[end]; end++)
            ;
        if (!want_others(system, it, body->first_node + node, body->first_node + end, reach))
            return false;
        end += end < body->node_count;
    }
    return true;
}

static bool around_begin(struct around *around)
{
    *around = (struct around){0};
    return REAL_NAME(node_lists_begin)(&around->nodes) &&
           REAL_NAME(node_lists_begin)(&around->springs) &&
           REAL_NAME(node_lists_begin)(&around->weighted);
}

// Wants the nodes around those of a divided body whose bounds this rank finds, and the states of
// the springs there.
static bool want_bounded(const struct system *system, const struct rank_part *it, size_t body,
                         struct around *around)
{
    const struct topology_body *const of = &system->topology->bodies[body];
    const struct range nodes = REAL_NAME(exchange_bounds_nodes)(system, body);
    struct concern concern;
    if (nodes.first == nodes.end)
        return true;
    bool wanted = concern_begin(system, body, &concern);
    if (wanted) {
        memset(concern.marks,
               joins_most_pairs((double)of->node_count, (double)of->spring_count) ? NODE_NEEDED : 0,
               (size_t)of->node_count);
        memset(concern.marks + (nodes.first - of->first_node), NODE_INSIDE,
               nodes.end - nodes.first);
        need_corners(system, &concern);
        wanted =
            need_ends(system, it, &concern, around_has_springs(system) ? &around->springs : NULL) &&
            want_marked(system, it, &concern, &around->nodes) &&
            want_marked(system, it, &concern, &around->weighted);
    }
    free(concern.marks);
    return wanted;
}

// The nodes to which the springs, faces and elements at nodes [first, end) reach, of a body on a
// grid.
static bool want_around(const struct system *system, const struct rank_part *it, size_t index,
                        struct range nodes, struct node_lists *reach)
{
    const struct topology *topology = system->topology;
    const struct topology_body *body = &topology->bodies[index];
    const uint64_t begin = body->first_node, end = begin + body->node_count;
    uint64_t farthest = max_u64(widest_face(body), elements_reach(body));
    for (size_t d = 0; d < body->direction_count; d++)
        farthest =
            max_u64(farthest, (uint64_t)topology->directions[body->first_direction + d].offset);
    const uint64_t first = max_u64(begin, nodes.first), last = min_u64(end, nodes.end);
    const uint64_t from = first - begin < farthest ? begin : first - farthest;
    const uint64_t to = min_u64(end, last + farthest);
    return want_others(system, it, from, to, reach);
}

bool REAL_NAME(around_find_reach)(const struct system *system, const struct plan_parts *parts,
                                  const struct plan_part *part, struct around *around)
{
    const struct rank_part of_rank = {parts, part}, *it = &of_rank;
    const struct topology *topology = system->topology;
    const struct range nodes = REAL_NAME(exchange_chunk_nodes)(system);
    bool found = around_begin(around);
    for (size_t b = 0; found && b < topology->body_count; b++) {
        const struct topology_body *body = &topology->bodies[b];
        if (plan_body_is_divided(topology, system->plan, it->parts, b)) {
            found = want_bounded(system, it, b, around);
            continue;
        }
        if (!body_has_nodes(body, nodes))
            continue;
        found = plan_grid_of_body(system->plan, b)
                    ? want_around(system, it, b, nodes, &around->nodes)
                    : want_others(system, it, body->first_node, body->first_node + body->node_count,
                                  &around->nodes);
    }
    return found &&
           REAL_NAME(part_springs_want_at)(system, it->parts, it->part, nodes, &around->springs);
}

// Wants the nodes and springs around those nodes of a divided body that a frame has; `list` has
// their builders' numbers.
static bool want_listed(const struct system *system, const struct rank_part *it, size_t body,
                        const uint64_t *list, uint64_t count, struct around *around)
{
    const struct topology_body *of = &system->topology->bodies[body];
    struct concern concern;
    bool wanted = concern_begin(system, body, &concern);
    for (uint64_t i = 0; wanted && i < count; i++) {
        const uint64_t inside = topology_internal_node(system->topology, list[i]) - of->first_node;
        if (inside < of->node_count)
            concern.marks[inside] = NODE_INSIDE;
    }
    wanted =
        wanted &&
        need_ends(system, it, &concern, around_has_springs(system) ? &around->springs : NULL) &&
        want_marked(system, it, &concern, &around->nodes);
    free(concern.marks);
    return wanted;
}

bool REAL_NAME(around_find)(const struct system *system, const struct plan_parts *parts,
                            const struct plan_part *part, struct range nodes, const uint64_t *list,
                            uint64_t count, struct around *around)
{
    const struct rank_part of_rank = {parts, part}, *it = &of_rank;
    const struct topology *topology = system->topology;
    bool found = around_begin(around);
    for (size_t b = 0; found && b < topology->body_count; b++)
        if (plan_body_is_divided(topology, system->plan, it->parts, b))
            found = want_listed(system, it, b, list, count, around);
        else if (plan_grid_of_body(system->plan, b) && body_has_nodes(&topology->bodies[b], nodes))
            found = want_around(system, it, b, nodes, &around->nodes);
    return found &&
           REAL_NAME(part_springs_want_at)(system, it->parts, it->part, nodes, &around->springs);
}
