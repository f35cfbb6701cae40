// Cuts the surfaces of bodies into blocks (surfaces.h).
//
// Sheets are cut into squares of 4 by 4 cells along a Z curve. Blocks of listed faces grow over
// neighbours: the next face is the one that has most sides in common with the block, or the one of
// several that was found first, so that blocks are round. Blocks are then grouped likewise into
// groups of at most 16, these into groups of 16, and so on; their order is that of the groups.
#include "contact/surfaces.h"

#include <string.h>

#include "base/memory.h"
#include "base/sort.h"

enum {
    SHEET_CELLS = 4, // of a block, along each axis
    PATH_EDGES = 16, // of a block: twice as many make boxes that are four times as large in a coil
    GROUP = 16,      // blocks
    LEVELS_MAX = 32,
    NO_NODE = 255,
};

struct builder {
    const struct topology *topology;
    const taut_allocator *allocator;
    struct surfaces made; // with space for more:
    size_t block_capacity, node_capacity, corner_capacity;
    uint32_t body;
    taut_error *error;
};

// ---- Growing arrays

// Space for `needed` elements, of which `used` are copied; false if memory runs out.
static bool grow(const taut_allocator *allocator, void **array, size_t *capacity, size_t used,
                 size_t needed, size_t size)
{
    if (needed <= *capacity)
        return true;
    const size_t wanted = needed < 512 ? 1024 : 2 * needed;
    void *larger = memory_allocate(allocator, wanted, size);
    if (!larger)
        return false;
    if (used > 0)
        memcpy(larger, *array, used * size);
    memory_release(allocator, *array, *capacity, size);
    *array = larger;
    *capacity = wanted;
    return true;
}

// Cuts an array to its elements; false if memory runs out.
static bool trim(const taut_allocator *allocator, void **array, size_t *capacity, size_t used,
                 size_t size)
{
    void *copy = memory_copy(allocator, *array, used, size);
    if (!copy)
        return false;
    memory_release(allocator, *array, *capacity, size);
    *array = copy;
    *capacity = used;
    return true;
}

#define BUILDER_ARRAYS(X)                                                                          \
    X(blocks, block_count, block_capacity, 1)                                                      \
    X(nodes, node_entries, node_capacity, SURFACE_NODES)                                           \
    X(corners, corner_count, corner_capacity, 1)

// Begins a block, with space for as much as a block may have; NULL, with the reason in
// builder->error, if that is not possible.
static struct surface_block *open_block(struct builder *builder, taut_status *status)
{
    struct surfaces *made = &builder->made;
    if (made->node_entries > UINT32_MAX - SURFACE_NODES || made->block_count == SURFACE_BLOCKS) {
        *status = fail(builder->error, TAUT_ERROR_UNSUPPORTED,
                       "the surfaces of contact have too many edges or triangles: they are cut "
                       "into at most %lu parts, and have %lu nodes in these",
                       (unsigned long)SURFACE_BLOCKS, (unsigned long)UINT32_MAX);
        return NULL;
    }
#define RESERVE(name, count, capacity, more)                                                       \
    if (!grow(builder->allocator, (void **)&made->name, &builder->capacity, made->count,           \
              made->count + (more), sizeof *made->name)) {                                         \
        *status = fail_memory(builder->error, "the surfaces of contact");                          \
        return NULL;                                                                               \
    }
    BUILDER_ARRAYS(RESERVE)
#undef RESERVE
    struct surface_block *block = &made->blocks[made->block_count];
    *block = (struct surface_block){.body = builder->body,
                                    .first_node = (uint32_t)made->node_entries,
                                    .corners = (uint32_t)made->corner_count};
    memset(&made->corners[made->corner_count], 0, sizeof *made->corners);
    return block;
}

// Adds a node of another block, or of this one if `own`: these come first. Returns its number.
static int add_node(struct builder *builder, struct surface_block *block, uint64_t node, bool own)
{
    builder->made.nodes[block->first_node + block->nodes] = (uint32_t)node;
    block->own_nodes += own;
    return block->nodes++;
}

static void add_edge(struct builder *builder, struct surface_block *block, int a, int b)
{
    struct block_corners *corners = &builder->made.corners[block->corners];
    corners->edges[0][block->edges] = (uint8_t)a;
    corners->edges[1][block->edges] = (uint8_t)b;
    block->edges++;
}

static void add_triangle(struct builder *builder, struct surface_block *block, int a, int b, int c)
{
    struct block_corners *corners = &builder->made.corners[block->corners];
    corners->triangles[0][block->triangles] = (uint8_t)a;
    corners->triangles[1][block->triangles] = (uint8_t)b;
    corners->triangles[2][block->triangles] = (uint8_t)c;
    block->triangles++;
}

// Squares inside of a sheet and at each of its sides and ends differ.
enum { CORNERS_COMPARED = 16 };

// Takes the corners of one of the last blocks that have the same ones; none is written over.
static void share_corners(struct builder *builder, struct surface_block *block)
{
    struct surfaces *made = &builder->made;
    const struct block_corners *own = &made->corners[made->corner_count];
    const size_t most =
        made->corner_count < CORNERS_COMPARED ? made->corner_count : CORNERS_COMPARED;
    for (size_t i = 1; i <= most; i++)
        if (memcmp(own - i, own, sizeof *own) == 0) {
            block->corners -= (uint32_t)i;
            return;
        }
    made->corner_count++;
}

static void close_block(struct builder *builder, struct surface_block *block)
{
    struct surfaces *made = &builder->made;
    share_corners(builder, block);
    made->block_count++;
    made->node_entries += block->nodes;
    made->edge_count += block->edges;
    made->triangle_count += block->triangles;
    made->own_node_count += block->own_nodes;
}

// ---- Sheets

struct sheet {
    uint64_t first_node, nodes[2]; // along each axis
};

static uint64_t sheet_node(const struct sheet *sheet, uint64_t x, uint64_t y)
{
    return sheet->first_node + y * sheet->nodes[0] + x;
}

// The cells from (first) to (end), exclusive. Nodes and edges on the far sides belong to the next
// blocks, or to this one if there is none.
static void fill_square(struct builder *builder, struct surface_block *block,
                        const struct sheet *sheet, const uint64_t first[2], const uint64_t end[2])
{
    const uint64_t cells[2] = {sheet->nodes[0] - 1, sheet->nodes[1] - 1};
    const int nx = (int)(end[0] - first[0]), ny = (int)(end[1] - first[1]);
    const int own_x = nx + (end[0] == cells[0]), own_y = ny + (end[1] == cells[1]);
    int at[SHEET_CELLS + 1][SHEET_CELLS + 1];
    for (int own = 1; own >= 0; own--)
        for (int y = 0; y <= ny; y++)
            for (int x = 0; x <= nx; x++)
                if ((x < own_x && y < own_y) == (own == 1))
                    at[y][x] = add_node(
                        builder, block,
                        sheet_node(sheet, first[0] + (uint64_t)x, first[1] + (uint64_t)y), own);
    for (int y = 0; y < own_y; y++)
        for (int x = 0; x < nx; x++)
            add_edge(builder, block, at[y][x], at[y][x + 1]);
    for (int y = 0; y < ny; y++)
        for (int x = 0; x < own_x; x++)
            add_edge(builder, block, at[y][x], at[y + 1][x]);
    for (int y = 0; y < ny; y++)
        for (int x = 0; x < nx; x++) {
            add_edge(builder, block, at[y][x], at[y + 1][x + 1]);
            add_triangle(builder, block, at[y][x], at[y][x + 1], at[y + 1][x + 1]);
            add_triangle(builder, block, at[y][x], at[y + 1][x + 1], at[y + 1][x]);
        }
}

// Bits 0, 2, 4, ... of a number.
static uint64_t even_bits(uint64_t code)
{
    uint64_t bits = code & 0x5555555555555555;
    bits = (bits | bits >> 1) & 0x3333333333333333;
    bits = (bits | bits >> 2) & 0x0f0f0f0f0f0f0f0f;
    bits = (bits | bits >> 4) & 0x00ff00ff00ff00ff;
    bits = (bits | bits >> 8) & 0x0000ffff0000ffff;
    return (bits | bits >> 16) & 0x00000000ffffffff;
}

static taut_status cut_sheet(struct builder *builder, const struct sheet *sheet)
{
    uint64_t squares[2], size = 1;
    for (int axis = 0; axis < 2; axis++) {
        squares[axis] = (sheet->nodes[axis] - 1 + SHEET_CELLS - 1) / SHEET_CELLS;
        while (size < squares[axis])
            size *= 2;
    }
    for (uint64_t code = 0; code < size * size;) {
        const uint64_t at[2] = {even_bits(code), even_bits(code >> 1)};
        if (at[0] >= squares[0] || at[1] >= squares[1]) {
            // So is the whole part of the curve that begins here. Code 0 is inside.
            uint64_t skipped = 1;
            while (code % (4 * skipped) == 0)
                skipped *= 4;
            code += skipped;
            continue;
        }
        taut_status status = TAUT_OK;
        struct surface_block *block = open_block(builder, &status);
        if (!block)
            return status;
        uint64_t first[2], end[2];
        for (int axis = 0; axis < 2; axis++) {
            first[axis] = SHEET_CELLS * at[axis];
            end[axis] = min_u64(first[axis] + SHEET_CELLS, sheet->nodes[axis] - 1);
        }
        fill_square(builder, block, sheet, first, end);
        close_block(builder, block);
        code++;
    }
    return TAUT_OK;
}

// ---- Paths

// Sets missing[i] to 1 unless a spring joins builder's nodes i and i + 1 of the body, or the last
// node and the first.
static void find_missing(const struct topology *topology, const struct topology_body *body,
                         uint8_t *missing)
{
    const uint64_t last = body->node_count - 1;
    memset(missing, 1, (size_t)body->node_count);
    for (uint64_t s = 0; s < body->spring_count; s++) {
        const struct spring_run spring = topology_spring(topology, body->first_spring + s);
        const uint64_t a = topology_builder_node(topology, spring.a) - body->first_node;
        const uint64_t b = topology_builder_node(topology, spring.b) - body->first_node;
        if (a + 1 == b || b + 1 == a)
            missing[min_u64(a, b)] = 0;
        else if (min_u64(a, b) == 0 && max_u64(a, b) == last)
            missing[last] = 0;
    }
}

// Edges from node `first` to node `end` of the path. The first node belongs to the block only if no
// block is before it.
static taut_status cut_run(struct builder *builder, const struct topology_body *body,
                           uint64_t first, uint64_t end)
{
    for (uint64_t at = first; at < end;) {
        const uint64_t last = min_u64(at + PATH_EDGES, end);
        const bool own = at == first;
        taut_status status = TAUT_OK;
        struct surface_block *block = open_block(builder, &status);
        if (!block)
            return status;
        for (uint64_t i = own ? at : at + 1; i <= last; i++)
            add_node(builder, block,
                     topology_internal_node(builder->topology, body->first_node + i), true);
        if (!own)
            add_node(builder, block,
                     topology_internal_node(builder->topology, body->first_node + at), false);
        const int edges = (int)(last - at), before = own ? 0 : block->nodes - 1;
        for (int e = 0; e < edges; e++)
            add_edge(builder, block, e == 0 ? before : e - !own, e + own);
        close_block(builder, block);
        at = last;
    }
    return TAUT_OK;
}

static taut_status cut_path(struct builder *builder, const struct topology_body *body)
{
    const uint64_t nodes = body->node_count;
    // A rope that is no grid any more has lost springs `all`.
    if (body->grid[0] > 0 && !body->is_cut_grid)
        return cut_run(builder, body, 0, nodes - 1);
    uint8_t *missing = memory_allocate(builder->allocator, (size_t)nodes, 1);
    if (!missing)
        return fail_memory(builder->error, "the surfaces of contact");
    find_missing(builder->topology, body, missing);
    taut_status status = TAUT_OK;
    for (uint64_t i = 0; i + 1 < nodes && status == TAUT_OK;) {
        const uint64_t first = i;
        while (i + 1 < nodes && !missing[i])
            i++;
        status = cut_run(builder, body, first, i);
        i += i == first;
    }
    memory_release(builder->allocator, missing, (size_t)nodes, 1);
    return status;
}

// ---- Groups of vertices of a graph

// Vertex v is linked with items[start[v]] to items[start[v + 1] - 1]; two links between the same
// vertices count twice.
struct graph {
    uint32_t count;
    uint64_t *start;
    uint32_t *items;
};

// Group g has members[start[g]] to members[start[g + 1] - 1].
struct groups {
    uint32_t vertices, count;
    uint32_t *start;   // vertices + 1, of which count + 1 are used
    uint32_t *members; // vertices
    uint32_t *of;      // the group of each vertex
};

// Scratch of the growth.
struct growth {
    uint32_t *queue;      // vertices next to groups, in the order in which they were found
    uint32_t *candidates; // of the present group
    uint32_t *links;      // of each candidate to the group
    uint8_t *queued;
};

// Whether a vertex still fits into group `group`; if so, it is added.
typedef bool fit_function(void *context, uint32_t group, uint32_t vertex);

static void graph_free(const taut_allocator *allocator, struct graph *graph)
{
    const size_t items = graph->start ? (size_t)graph->start[graph->count] : 0;
    memory_release(allocator, graph->items, items, sizeof *graph->items);
    memory_release(allocator, graph->start, (size_t)graph->count + 1, sizeof *graph->start);
    *graph = (struct graph){0};
}

static void groups_free(const taut_allocator *allocator, struct groups *groups)
{
    const size_t vertices = groups->vertices;
    memory_release(allocator, groups->start, vertices + 1, sizeof *groups->start);
    memory_release(allocator, groups->members, vertices, sizeof *groups->members);
    memory_release(allocator, groups->of, vertices, sizeof *groups->of);
    *groups = (struct groups){0};
}

// Grows one group from `seed`, and appends the candidates that are left to the queue.
static void grow_group(const struct graph *graph, uint32_t most, fit_function *fits, void *context,
                       uint32_t seed, struct groups *groups, struct growth *growth,
                       uint32_t *queue_end)
{
    const uint32_t group = groups->count;
    uint32_t *members = groups->members + groups->start[group];
    uint32_t size = 0, candidate_count = 0, left = 0;
    if (fits)
        (void)fits(context, group, seed); // one always fits
    for (uint32_t vertex = seed;;) {
        members[size++] = vertex;
        groups->of[vertex] = group;
        for (uint64_t i = graph->start[vertex]; i < graph->start[vertex + 1]; i++) {
            const uint32_t next = graph->items[i];
            if (groups->of[next] == UINT32_MAX && growth->links[next]++ == 0)
                growth->candidates[candidate_count++] = next;
        }
        bool found = false;
        while (size < most && !found) {
            uint32_t best = candidate_count;
            for (uint32_t c = left; c < candidate_count; c++)
                if (best == candidate_count ||
                    growth->links[growth->candidates[c]] > growth->links[growth->candidates[best]])
                    best = c;
            if (best == candidate_count)
                break;
            vertex = growth->candidates[best];
            found = !fits || fits(context, group, vertex);
            // Candidates that do not fit are at the front; all keep their order.
            memmove(growth->candidates + left + 1, growth->candidates + left,
                    (best - left) * sizeof *growth->candidates);
            growth->candidates[left++] = vertex;
        }
        if (!found)
            break;
    }
    for (uint32_t c = 0; c < candidate_count; c++) {
        const uint32_t vertex = growth->candidates[c];
        growth->links[vertex] = 0;
        if (groups->of[vertex] == UINT32_MAX && !growth->queued[vertex]) {
            growth->queued[vertex] = 1;
            growth->queue[(*queue_end)++] = vertex;
        }
    }
    groups->start[++groups->count] = groups->start[group] + size;
}

static void group_vertices(const struct graph *graph, uint32_t most, fit_function *fits,
                           void *context, struct groups *groups, struct growth *growth)
{
    uint32_t queue_at = 0, queue_end = 0, next = 0;
    memset(groups->of, 0xff, graph->count * sizeof *groups->of);
    for (;;) {
        while (queue_at < queue_end && groups->of[growth->queue[queue_at]] != UINT32_MAX)
            queue_at++;
        while (next < graph->count && groups->of[next] != UINT32_MAX)
            next++;
        if (next == graph->count)
            return;
        const uint32_t seed = queue_at < queue_end ? growth->queue[queue_at] : next;
        grow_group(graph, most, fits, context, seed, groups, growth, &queue_end);
    }
}

// Groups of at most `most` vertices; false if memory runs out.
static bool groups_make(const taut_allocator *allocator, const struct graph *graph, uint32_t most,
                        fit_function *fits, void *context, struct groups *groups)
{
    const size_t count = graph->count;
    struct growth growth = {
        .queue = memory_allocate(allocator, count, sizeof *growth.queue),
        .candidates = memory_allocate(allocator, count, sizeof *growth.candidates),
        .links = memory_allocate(allocator, count, sizeof *growth.links),
        .queued = memory_allocate(allocator, count, 1),
    };
    *groups = (struct groups){
        .vertices = graph->count,
        .start = memory_allocate(allocator, count + 1, sizeof *groups->start),
        .members = memory_allocate(allocator, count, sizeof *groups->members),
        .of = memory_allocate(allocator, count, sizeof *groups->of),
    };
    const bool allocated = growth.queue && growth.candidates && growth.links && growth.queued &&
                           groups->start && groups->members && groups->of;
    if (allocated)
        group_vertices(graph, most, fits, context, groups, &growth);
    memory_release(allocator, growth.queue, count, sizeof *growth.queue);
    memory_release(allocator, growth.candidates, count, sizeof *growth.candidates);
    memory_release(allocator, growth.links, count, sizeof *growth.links);
    memory_release(allocator, growth.queued, count, 1);
    return allocated;
}

// The graph of groups, linked as their members are; false if memory runs out.
static bool graph_of_groups(const taut_allocator *allocator, const struct graph *graph,
                            const struct groups *groups, struct graph *result)
{
    uint64_t links = 0;
    for (uint32_t v = 0; v < graph->count; v++)
        for (uint64_t i = graph->start[v]; i < graph->start[v + 1]; i++)
            links += groups->of[v] != groups->of[graph->items[i]];
    *result = (struct graph){
        .count = groups->count,
        .start = memory_allocate(allocator, (size_t)groups->count + 1, sizeof *result->start)};
    if (!result->start)
        return false;
    result->items = memory_allocate(allocator, (size_t)links, sizeof *result->items);
    if (!result->items)
        return false;
    uint64_t end = 0;
    for (uint32_t g = 0; g < groups->count; g++) {
        for (uint32_t m = groups->start[g]; m < groups->start[g + 1]; m++) {
            const uint32_t v = groups->members[m];
            for (uint64_t i = graph->start[v]; i < graph->start[v + 1]; i++) {
                const uint32_t other = groups->of[graph->items[i]];
                if (other != g)
                    result->items[end++] = other;
            }
        }
        result->start[g + 1] = end;
    }
    return true;
}

// Orders blocks, which are groups of vertices, by groups of groups; `order` has space for all of
// them. False if memory runs out.
static bool order_blocks(const taut_allocator *allocator, const struct graph *graph,
                         const struct groups *blocks, uint32_t *order)
{
    struct groups levels[LEVELS_MAX] = {{0}};
    struct graph above = {0};
    int level_count = 0;
    bool done = graph_of_groups(allocator, graph, blocks, &above);
    // Until all are in one group, or groups are not joined any more.
    for (uint32_t before = UINT32_MAX;
         done && level_count < LEVELS_MAX && above.count > 1 && above.count <= before / 2;) {
        struct groups *level = &levels[level_count++];
        struct graph next = {0};
        before = above.count;
        done = groups_make(allocator, &above, GROUP, NULL, NULL, level) &&
               graph_of_groups(allocator, &above, level, &next);
        graph_free(allocator, &above);
        above = next;
    }
    uint32_t *other = done ? memory_allocate(allocator, blocks->count, sizeof *other) : NULL;
    if (other) {
        uint32_t count = above.count;
        for (uint32_t i = 0; i < count; i++)
            order[i] = i;
        for (int l = level_count - 1; l >= 0; l--) {
            const struct groups *level = &levels[l];
            uint32_t at = 0;
            for (uint32_t i = 0; i < count; i++)
                for (uint32_t m = level->start[order[i]]; m < level->start[order[i] + 1]; m++)
                    other[at++] = level->members[m];
            memcpy(order, other, at * sizeof *order);
            count = at;
        }
    }
    memory_release(allocator, other, blocks->count, sizeof *other);
    graph_free(allocator, &above);
    for (int l = 0; l < level_count; l++)
        groups_free(allocator, &levels[l]);
    return other != NULL;
}

// ---- Listed faces

// The listed faces of a body or a collider and what its blocks need to know of them. Side s of a
// triangle joins its corners s and s + 1; those of a face that is an edge are its nodes.
struct mesh {
    uint64_t first_node, node_count;
    const uint32_t (*faces)[3]; // nodes over all bodies
    uint32_t face_count;
    uint32_t corners; // of a face: 3, or 2 for edges, and as many sides
    uint32_t *edges;  // the number of each side's edge; equal ones follow each other in `sides`
    uint32_t *sides;  // face * corners + side, sorted by edge
    uint32_t edge_count;
    struct graph graph;     // of faces with a common side
    uint32_t *node_group;   // one more than the last group that has the node
    uint32_t *edge_group;   // the same for edges
    uint32_t group;         // being filled, plus one
    int nodes, group_edges; // of it
    uint8_t *number;        // of a node in its block
};

static uint32_t side_end(const struct mesh *mesh, uint32_t side, int end)
{
    const uint32_t face = side / mesh->corners, corner = side % mesh->corners;
    const uint32_t other = mesh->corners == 2 ? corner : (corner + 1) % 3;
    const uint32_t a = mesh->faces[face][corner], b = mesh->faces[face][other];
    return (uint32_t)((end == 0 ? min_u64(a, b) : max_u64(a, b)) - mesh->first_node);
}

// Sorts sides by one of their ends, the lower one if `end` is 0.
static void sort_sides(const struct mesh *mesh, int end, const uint32_t *from, uint32_t *to,
                       uint64_t *starts)
{
    const uint32_t count = mesh->face_count * mesh->corners;
    memset(starts, 0, ((size_t)mesh->node_count + 1) * sizeof *starts);
    for (uint32_t i = 0; i < count; i++)
        starts[side_end(mesh, i, end) + 1]++;
    counting_sort_starts(starts, mesh->node_count);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t side = from ? from[i] : i;
        to[starts[side_end(mesh, side, end) + 1]++] = side;
    }
}

static bool same_edge(const struct mesh *mesh, uint32_t a, uint32_t b)
{
    return side_end(mesh, a, 0) == side_end(mesh, b, 0) &&
           side_end(mesh, a, 1) == side_end(mesh, b, 1);
}

// Numbers the edges.
static bool make_edges(const taut_allocator *allocator, struct mesh *mesh)
{
    const size_t count = (size_t)mesh->face_count * mesh->corners;
    const size_t nodes = (size_t)mesh->node_count;
    uint64_t *starts = memory_allocate(allocator, nodes + 1, sizeof *starts);
    mesh->edges = memory_allocate(allocator, count, sizeof *mesh->edges);
    mesh->sides = memory_allocate(allocator, count, sizeof *mesh->sides);
    const bool allocated = starts && mesh->edges && mesh->sides;
    if (allocated) {
        sort_sides(mesh, 1, NULL, mesh->edges, starts);
        sort_sides(mesh, 0, mesh->edges, mesh->sides, starts);
        for (size_t i = 0; i < count; i++) {
            mesh->edge_count += i == 0 || !same_edge(mesh, mesh->sides[i - 1], mesh->sides[i]);
            mesh->edges[mesh->sides[i]] = mesh->edge_count - 1;
        }
    }
    memory_release(allocator, starts, nodes + 1, sizeof *starts);
    return allocated;
}

// Links faces that follow each other at a side: where a thousand faces have a common side, all are
// linked, by two links each.
static bool link_faces(const taut_allocator *allocator, struct mesh *mesh)
{
    const size_t count = (size_t)mesh->face_count * mesh->corners;
    struct graph *graph = &mesh->graph;
    uint64_t links = 0;
    graph->start = memory_allocate(allocator, (size_t)mesh->face_count + 1, sizeof *graph->start);
    graph->count = mesh->face_count;
    if (!graph->start)
        return false;
    for (size_t i = 1; i < count; i++) {
        const uint32_t a = mesh->sides[i - 1], b = mesh->sides[i];
        if (mesh->edges[a] == mesh->edges[b]) {
            graph->start[a / mesh->corners + 1]++;
            graph->start[b / mesh->corners + 1]++;
            links += 2;
        }
    }
    graph->items = memory_allocate(allocator, (size_t)links, sizeof *graph->items);
    if (!graph->items)
        return false;
    counting_sort_starts(graph->start, graph->count);
    for (size_t i = 1; i < count; i++) {
        const uint32_t a = mesh->sides[i - 1], b = mesh->sides[i];
        if (mesh->edges[a] == mesh->edges[b]) {
            graph->items[graph->start[a / mesh->corners + 1]++] = b / mesh->corners;
            graph->items[graph->start[b / mesh->corners + 1]++] = a / mesh->corners;
        }
    }
    return true;
}

static bool mesh_make(const taut_allocator *allocator, struct mesh *mesh)
{
    const size_t nodes = (size_t)mesh->node_count;
    if (!make_edges(allocator, mesh) || !link_faces(allocator, mesh))
        return false;
    mesh->node_group = memory_allocate(allocator, nodes, sizeof *mesh->node_group);
    mesh->edge_group = memory_allocate(allocator, mesh->edge_count, sizeof *mesh->edge_group);
    mesh->number = memory_allocate(allocator, nodes, 1);
    return mesh->node_group && mesh->edge_group && mesh->number;
}

static void mesh_free(const taut_allocator *allocator, struct mesh *mesh)
{
    const size_t nodes = (size_t)mesh->node_count;
    const size_t sides = (size_t)mesh->face_count * mesh->corners;
    memory_release(allocator, mesh->number, nodes, 1);
    memory_release(allocator, mesh->edge_group, mesh->edge_count, sizeof *mesh->edge_group);
    memory_release(allocator, mesh->node_group, nodes, sizeof *mesh->node_group);
    graph_free(allocator, &mesh->graph);
    memory_release(allocator, mesh->sides, sides, sizeof *mesh->sides);
    memory_release(allocator, mesh->edges, sides, sizeof *mesh->edges);
}

// Whether a face fits into a block beside the nodes and edges that it has (fit_function). Edges of
// other blocks count too, so that their number does not depend on the order of the blocks.
static bool face_fits(void *context, uint32_t group, uint32_t face)
{
    struct mesh *mesh = context;
    const uint32_t stamp = group + 1;
    if (mesh->group != stamp) {
        mesh->group = stamp;
        mesh->nodes = mesh->group_edges = 0;
    }
    int nodes = 0, edges = 0; // at most; a face may have the same one twice
    for (uint32_t c = 0; c < mesh->corners; c++) {
        nodes += mesh->node_group[mesh->faces[face][c] - mesh->first_node] != stamp;
        edges += mesh->edge_group[mesh->edges[face * mesh->corners + c]] != stamp;
    }
    if (mesh->nodes + nodes > SURFACE_NODES || mesh->group_edges + edges > SURFACE_EDGES)
        return false;
    for (uint32_t c = 0; c < mesh->corners; c++) {
        mesh->node_group[mesh->faces[face][c] - mesh->first_node] = stamp;
        mesh->edge_group[mesh->edges[face * mesh->corners + c]] = stamp;
    }
    mesh->nodes += nodes;
    mesh->group_edges += edges;
    return true;
}

// The block of these faces. A node or edge belongs to the first block that has it; `node_group` and
// `edge_group` are now 1 for those that have been given to one.
static void fill_block(struct builder *builder, struct mesh *mesh, struct surface_block *block,
                       const uint32_t *faces, uint32_t count)
{
    const uint64_t first = mesh->first_node;
    for (int own = 1; own >= 0; own--)
        for (uint32_t f = 0; f < count; f++)
            for (uint32_t c = 0; c < mesh->corners; c++) {
                const uint32_t node = mesh->faces[faces[f]][c];
                if (mesh->number[node - first] != NO_NODE ||
                    (int)mesh->node_group[node - first] == own)
                    continue;
                mesh->number[node - first] = (uint8_t)add_node(builder, block, node, own);
            }
    for (uint32_t f = 0; f < count; f++) {
        int at[3] = {0};
        for (uint32_t c = 0; c < mesh->corners; c++)
            at[c] = mesh->number[mesh->faces[faces[f]][c] - first];
        if (mesh->corners == 2) {
            add_edge(builder, block, at[0], at[1]);
            continue;
        }
        add_triangle(builder, block, at[0], at[1], at[2]);
        for (uint32_t c = 0; c < 3; c++) {
            uint32_t *given = &mesh->edge_group[mesh->edges[3 * faces[f] + c]];
            if (!*given && at[c] != at[(c + 1) % 3])
                add_edge(builder, block, at[c], at[(c + 1) % 3]);
            *given = 1;
        }
    }
    for (uint32_t f = 0; f < count; f++)
        for (uint32_t c = 0; c < mesh->corners; c++) {
            const uint32_t node = mesh->faces[faces[f]][c];
            mesh->number[node - first] = NO_NODE;
            mesh->node_group[node - first] = 1;
        }
}

static taut_status fill_blocks(struct builder *builder, struct mesh *mesh,
                               const struct groups *groups, const uint32_t *order)
{
    const size_t nodes = (size_t)mesh->node_count;
    memset(mesh->number, NO_NODE, nodes);
    memset(mesh->node_group, 0, nodes * sizeof *mesh->node_group);
    memset(mesh->edge_group, 0, mesh->edge_count * sizeof *mesh->edge_group);
    for (uint32_t i = 0; i < groups->count; i++) {
        const uint32_t first = groups->start[order[i]], end = groups->start[order[i] + 1];
        taut_status status = TAUT_OK;
        struct surface_block *block = open_block(builder, &status);
        if (!block)
            return status;
        fill_block(builder, mesh, block, groups->members + first, end - first);
        close_block(builder, block);
    }
    return TAUT_OK;
}

static taut_status cut_mesh(struct builder *builder, struct mesh *mesh)
{
    const taut_allocator *allocator = builder->allocator;
    struct groups groups = {0};
    uint32_t *order = NULL;
    const uint32_t most = mesh->corners == 2 ? PATH_EDGES : SURFACE_TRIANGLES;
    bool done = mesh_make(allocator, mesh) &&
                groups_make(allocator, &mesh->graph, most, face_fits, mesh, &groups);
    if (done)
        order = memory_allocate(allocator, groups.count, sizeof *order);
    done = order && order_blocks(allocator, &mesh->graph, &groups, order);
    taut_status status = done ? fill_blocks(builder, mesh, &groups, order)
                              : fail_memory(builder->error, "the surfaces of contact");
    memory_release(allocator, order, groups.count, sizeof *order);
    groups_free(allocator, &groups);
    mesh_free(allocator, mesh);
    return status;
}

static taut_status cut_listed(struct builder *builder, const struct topology_body *body)
{
    if (body->face_count > UINT32_MAX / 3)
        return fail(builder->error, TAUT_ERROR_UNSUPPORTED,
                    "the surface of body '%s' has more than %lu faces: too many for contact",
                    body->name, (unsigned long)(UINT32_MAX / 3));
    struct mesh mesh = {
        .first_node = body->first_node,
        .node_count = body->node_count,
        .faces = (const uint32_t(*)[3])builder->topology->faces + body->first_listed_face,
        .face_count = (uint32_t)body->face_count,
        .corners = body->face_arity == 2 ? 2 : 3,
    };
    return cut_mesh(builder, &mesh);
}

// A ring or a quad that does not lie in a plane z = const has no faces (scene/build/enclosure.c):
// the edges between its nodes that are springs, or all of a quad that has diagonals alone.
static taut_status cut_outline(struct builder *builder, const struct topology_body *body)
{
    const taut_allocator *allocator = builder->allocator;
    const size_t nodes = (size_t)body->node_count;
    if (nodes > UINT32_MAX / 3)
        return fail(builder->error, TAUT_ERROR_UNSUPPORTED,
                    "body '%s' has more than %lu edges: too many for contact", body->name,
                    (unsigned long)(UINT32_MAX / 3));
    uint8_t *missing = memory_allocate(allocator, nodes, 1);
    uint32_t(*edges)[3] = memory_allocate(allocator, nodes, sizeof *edges);
    taut_status status =
        missing && edges ? TAUT_OK : fail_memory(builder->error, "the surfaces of contact");
    if (status == TAUT_OK) {
        struct mesh mesh = {.first_node = body->first_node,
                            .node_count = nodes,
                            .faces = (const uint32_t(*)[3])edges,
                            .corners = 2};
        find_missing(builder->topology, body, missing);
        const bool all = body->spring_count > 0 && !memchr(missing, 0, nodes);
        for (size_t i = 0; i < nodes; i++) {
            if (missing[i] && !all)
                continue;
            uint32_t *edge = edges[mesh.face_count++];
            edge[0] = (uint32_t)topology_internal_node(builder->topology, body->first_node + i);
            edge[1] = (uint32_t)topology_internal_node(builder->topology,
                                                       body->first_node + (i + 1) % nodes);
        }
        if (mesh.face_count > 0)
            status = cut_mesh(builder, &mesh);
    }
    memory_release(allocator, edges, nodes, sizeof *edges);
    memory_release(allocator, missing, nodes, 1);
    return status;
}

static taut_status cut_collider(struct builder *builder, const struct topology_collider *collider)
{
    if (collider->face_count > UINT32_MAX / 3)
        return fail(builder->error, TAUT_ERROR_UNSUPPORTED,
                    "the mesh of a collider has more than %lu faces: too many for contact",
                    (unsigned long)(UINT32_MAX / 3));
    struct mesh mesh = {
        .first_node = collider->first_node,
        .node_count = collider->node_count,
        .faces = (const uint32_t(*)[3])builder->topology->collider_faces + collider->first_face,
        .face_count = (uint32_t)collider->face_count,
        .corners = 3,
    };
    return cut_mesh(builder, &mesh);
}

// ---- Bodies

static taut_status cut_body(struct builder *builder, const struct topology_body *body)
{
    if (body->is_sheet)
        return cut_sheet(builder,
                         &(struct sheet){body->first_node, {body->grid[0], body->grid[1]}});
    if (body->face_count > 0)
        return cut_listed(builder, body);
    if (body->type == BODY_ROPE)
        return cut_path(builder, body);
    if (body->type == BODY_RING || body->type == BODY_QUAD)
        return cut_outline(builder, body);
    if (body->type != BODY_LATTICE)
        return TAUT_OK;

    struct sheet sheet = {.first_node = body->first_node};
    int axes = 0;
    for (int axis = 0; axis < 3; axis++)
        if (body->grid[axis] > 1 && axes++ < 2)
            sheet.nodes[axes - 1] = body->grid[axis];
    if (axes == 2)
        return cut_sheet(builder, &sheet);
    return axes == 1 ? cut_path(builder, body) : TAUT_OK;
}

taut_status surfaces_make(const struct topology *topology, const bool *wanted,
                          const taut_allocator *allocator, struct surfaces *result,
                          taut_error *error)
{
    struct builder builder = {
        .topology = topology, .allocator = allocator, .made = {.allocator = allocator}};
    struct surfaces *made = &builder.made;
    taut_status status = TAUT_OK;
    builder.error = error;
    for (size_t b = 0; b < topology->body_count && status == TAUT_OK; b++) {
        builder.body = (uint32_t)b;
        if (wanted[b])
            status = cut_body(&builder, &topology->bodies[b]);
    }
    for (size_t m = 0; m < topology->mesh_collider_count && status == TAUT_OK; m++) {
        builder.body = (uint32_t)(topology->body_count + m);
        status = cut_collider(&builder, &topology->mesh_colliders[m]);
    }
#define TRIM(name, count, capacity, more)                                                          \
    if (status == TAUT_OK && !trim(allocator, (void **)&made->name, &builder.capacity,             \
                                   made->count, sizeof *made->name))                               \
        status = fail_memory(error, "the surfaces of contact");
    BUILDER_ARRAYS(TRIM)
#undef TRIM
    if (status == TAUT_OK) {
        *result = *made;
        return TAUT_OK;
    }
#define RELEASE(name, count, capacity, more)                                                       \
    memory_release(allocator, made->name, builder.capacity, sizeof *made->name);
    BUILDER_ARRAYS(RELEASE)
#undef RELEASE
    *result = (struct surfaces){.allocator = allocator};
    return status;
}

void surfaces_free(struct surfaces *surfaces)
{
#define RELEASE(name, count, capacity, more)                                                       \
    memory_release(surfaces->allocator, surfaces->name, surfaces->count, sizeof *surfaces->name);
    BUILDER_ARRAYS(RELEASE)
#undef RELEASE
    *surfaces = (struct surfaces){.allocator = surfaces->allocator};
}

uint64_t surfaces_bytes(const struct surfaces *surfaces)
{
    uint64_t bytes = 0;
#define ADD_BYTES(name, count, capacity, more)                                                     \
    bytes += (uint64_t)surfaces->count * sizeof *surfaces->name;
    BUILDER_ARRAYS(ADD_BYTES)
#undef ADD_BYTES
    return bytes;
}
