// Parts of a plan: which rank owns which nodes, and what it needs from the others. Every rank owns
// one run of consecutive nodes, and no tile of a grid is divided: a rope and a cloth are cut
// between tiles of rows, a lattice between layers of tiles, and nodes on no grid between small
// bodies (plan_parts_whole), or at multiples of PART_NODES. Numbers stay those of the whole scene,
// so that no other module translates any.
//
// A part computes the springs of its own tiles. It reads positions and velocities of nodes of
// others, its halo, and adds the halo contributions (springs/grid/plan.h) of their tiles to its own
// nodes. Packed springs are summed at each of their ends, and have no contributions.
#ifndef TAUT_SPRINGS_PLAN_PARTS_H
#define TAUT_SPRINGS_PLAN_PARTS_H

#include "springs/plan.h"

// On no grid, a part ends where a chunk of the sums of the energy budget does (POWER_NODES).
enum { PART_NODES = 1024 };

// Rows of a grid of faces that are computed at once, and whose powers are one sum.
static inline uint64_t plan_face_rows_at_once(const struct plan_face_grid *grid)
{
    enum { NODES_AT_ONCE = 8192 };
    return NODES_AT_ONCE / grid->nx + 1;
}

// Tiles that lie beside each other in the same layers are one part: their nodes are not
// consecutive.
static inline uint64_t plan_tiles_together(const struct plan_tiling *tiling)
{
    return tiling->nz > 1 ? tiling->tiles_y : 1;
}

static inline uint64_t halo_box_nodes(const struct plan_tiling *tiling, const struct halo_box *box)
{
    return (box->j1 - box->j0) * (box->k1 - box->k0) * tiling->nx;
}

struct plan_parts {
    int count;
    uint64_t *cuts;       // part p has nodes [cuts[p], cuts[p + 1])
    uint64_t *chunk_cuts; // and sums the chunks (SUM_CHUNK) of nodes [chunk_cuts[p], [p + 1]),
                          // which begin at its nodes
    uint64_t *block_cuts; // and has the blocks of contacts (PART_NODES) that begin at them
};

// Halo contributions of a tile of another part: the box `which` (halo_box) of tile `tile`, in the
// numbering of all grids.
struct plan_box {
    uint64_t tile;
    uint64_t which;
};

// A chunk (SUM_CHUNK) of springs that may break or yield (plan_fragile_total). Every part that has
// nodes of any of them evaluates all of them, with the same results; one part counts their
// energies.
struct plan_chunk {
    size_t number;
    bool counts;
};

// The tasks and needs of one part. The lists ascend.
struct plan_part {
    uint64_t first_node, end_node;
    uint64_t first_tile, end_tile;     // of grids
    uint64_t first_packed, end_packed; // tiles of packed springs that have nodes of the part
    // The nodes whose forces are computed: also those of other parts in these tiles, whose results
    // are meaningless.
    uint64_t first_computed, end_computed;
    struct plan_nodes *halo;
    size_t halo_count, halo_capacity;
    struct plan_box *boxes;
    size_t box_count, box_capacity;
    // The nodes whose contacts with colliders are computed: whole blocks with nodes of the part,
    // and all of its chunks. Parts that have nodes of the same block both compute it, with the same
    // result.
    uint64_t first_touched, end_touched;
    // Nodes of others, which complete its last chunk; with colliders its blocks of contacts too.
    struct plan_nodes rest_before, rest;
    // Whether it computes a block of faces: it computes each that has nodes of the part. NULL
    // without any.
    uint8_t *face_blocks;
    // How it treats each part of the elements that no sweep computes, and whether it needs the
    // strains of a chunk of folds (elements/parts.h). NULL without any.
    uint8_t *elements, *folds;
    struct plan_chunk *fragile;
    size_t fragile_count, fragile_capacity;
};

static inline bool plan_part_owns(const struct plan_part *part, uint64_t node)
{
    return node >= part->first_node && node < part->end_node;
}

// Whether some of a tile's nodes are those of the part.
static inline bool plan_part_has_tile(const struct plan_part *part, const struct ring_tile *tile)
{
    return part->first_node < part->end_node && tile->first_node < part->end_node &&
           tile->first_node + tile->node_count > part->first_node;
}

// Divides the plan into `count` parts of about the same number of nodes and springs. With too few
// tiles, some parts have no nodes.
taut_status plan_parts_make(const struct topology *topology, const struct plan *plan, int count,
                            struct plan_parts **result, taut_error *error);
void plan_parts_free(struct plan_parts *parts);

// Consecutive springs of a grid, or one other spring, with the ends of those that may break or
// yield from number `at` on (plan_fragile_total), at most up to `end`.
struct spring_run plan_fragile_run(const struct topology *topology, const struct plan *plan,
                                   uint64_t at, uint64_t end);

// The part that counts a chunk of springs that may break or yield: that with the first node of its
// first spring.
int plan_part_of_fragile(const struct topology *topology, const struct plan *plan,
                         const struct plan_parts *parts, size_t chunk);

// The parts that count springs of a body on no grid, some of which may break or yield, from the
// first to the last.
struct plan_part_range {
    int first, last;
};

struct plan_part_range plan_parts_of_fragile(const struct topology *topology,
                                             const struct plan *plan,
                                             const struct plan_parts *parts, size_t body);

// How many of springs [first, end) of the topology, from the first on, are alike: one part counts
// them all (`owner`; on no grid, it has them), none of them breaks or yields (PLAN_NO_PART), or
// they are those of a body that is divided, in the builders' order (PLAN_SEVERAL_PARTS).
enum { PLAN_NO_PART = -1, PLAN_SEVERAL_PARTS = -2 };

struct plan_spring_piece {
    uint64_t count;
    int owner;
};

struct plan_spring_piece plan_spring_piece(const struct topology *topology, const struct plan *plan,
                                           const struct plan_parts *parts, uint64_t first,
                                           uint64_t end);

// Whether every range of bodies on no grid (plan_ranges_add) is whole in one of `count` parts: each
// is small, with a sixteenth of all nodes at most, or a quarter of what a part has on average, so
// that parts are of about the same size.
bool plan_parts_whole(const struct topology *topology, const struct plan *plan, int count);

// Whether several parts have nodes of a body on no grid.
bool plan_body_is_divided(const struct topology *topology, const struct plan *plan,
                          const struct plan_parts *parts, size_t body);

// The part of a node.
int plan_part_of_node(const struct plan_parts *parts, uint64_t node);

// The part of a tile of grids.
int plan_part_of_tile(const struct plan *plan, const struct plan_parts *parts, uint64_t tile);

taut_status plan_part_make(const struct topology *topology, const struct plan *plan,
                           const struct plan_parts *parts, int number, struct plan_part *part,
                           taut_error *error);
void plan_part_free(struct plan_part *part);

// Where ranks hold only their parts: whether a part needs no lists of springs of a body, of which
// it has no node, and reads none except by messages. The springs of a chunk that begins with one of
// its own are needed, and so are bodies with nodes in its last chunk. Bodies with elements, springs
// with materials of their own, most pairs of nodes joined, or in scenes where springs on no grid
// may break or yield, are always needed.
bool plan_part_forgets(const struct topology *topology, const struct plan *plan,
                       const struct plan_parts *parts, int number, size_t body);

// Whether then the faces are not needed either.
bool plan_forgets_faces(const struct plan *plan);

// Adds nodes [first, end) to the halo, except those of the part itself; false without memory. The
// lists must be made tidy afterwards.
bool plan_part_need(struct plan_part *part, uint64_t first, uint64_t end);
void plan_part_tidy(struct plan_part *part);

// The nodes of a box.
uint64_t plan_box_nodes(const struct plan *plan, struct plan_box box);

// Counts that `taut info --ranks` prints.
struct plan_part_counts {
    uint64_t first_node;
    uint64_t nodes, springs; // springs by their first node
    uint64_t halo_nodes, contribution_nodes;
    uint64_t own_contribution_nodes; // of its own tiles, to any other tiles
    uint64_t off_grid;               // nodes on no grid
    int peers;                       // parts that it receives from
};

struct plan_part_counts plan_part_counts(const struct topology *topology, const struct plan *plan,
                                         const struct plan_parts *parts,
                                         const struct plan_part *part);

// The same of part `number` of `count`, without springs, before there is a plan: only the numbers
// of first nodes, nodes and springs of bodies are read, and only body, first node and tiling of
// grids. The halo omits the nodes that springs on no grid reach. TAUT_ERROR_MEMORY.
struct expected_grids {
    struct plan_grid *grids;
    size_t grid_count;
    struct plan_face_grid *face_grids;
    size_t face_grid_count;
    struct plan_nodes *off_grid; // of bodies on no grid
    size_t off_grid_count;
};

taut_status plan_part_expect(const struct topology *topology, const struct expected_grids *expected,
                             int count, int number, struct plan_part_counts *counts,
                             taut_error *error);

#endif
