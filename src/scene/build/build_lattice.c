// A box of nx by ny by nz nodes at one spacing; node (i, j, k) is (k ny + j) nx + i. Springs go to
// the 26 neighbours, and with two shells to the 26 twice as far: half of the directions are listed,
// each spring belongs to its lower node.
#include <assert.h>

#include "scene/build/build.h"

enum { DIRECTION_COUNT = 13, KINDS_PER_SHELL = 3, SHELLS_MAX = 2 };

// Three along the axes (k1), six along face diagonals (k2), four along body diagonals (k3).
static const struct {
    size_t kind;
    int x, y, z;
} directions[DIRECTION_COUNT] = {{0, 1, 0, 0},  {0, 0, 1, 0}, {0, 0, 0, 1},  {1, 1, 1, 0},
                                 {1, -1, 1, 0}, {1, 1, 0, 1}, {1, -1, 0, 1}, {1, 0, 1, 1},
                                 {1, 0, -1, 1}, {2, 1, 1, 1}, {2, -1, 1, 1}, {2, 1, -1, 1},
                                 {2, -1, -1, 1}};

// The kind of the springs along a direction, or SPRING_KINDS_MAX if the scene wants none there.
static size_t kind_of(const struct scene_body *given, size_t direction, int shell)
{
    size_t kind = directions[direction].kind + (size_t)(shell - 1) * KINDS_PER_SHELL;
    return kind < SPRING_KINDS_MAX && given->kinds[kind].present ? kind : SPRING_KINDS_MAX;
}

static void link(const struct scene_body *given, struct grid *grid)
{
    for (int shell = 1; shell <= given->shape.lattice.shells; shell++)
        for (size_t d = 0; d < DIRECTION_COUNT; d++) {
            const int steps[3] = {directions[d].x * shell, directions[d].y * shell,
                                  directions[d].z * shell};
            size_t kind = kind_of(given, d, shell);
            if (kind < SPRING_KINDS_MAX)
                grid_link(grid, kind, steps);
        }
}

static void place_nodes(const struct scene_lattice *lattice, struct body *body)
{
    uint64_t node = 0;
    for (uint64_t k = 0; k < lattice->nodes_z; k++)
        for (uint64_t j = 0; j < lattice->nodes_y; j++)
            for (uint64_t i = 0; i < lattice->nodes_x; i++) {
                vec3 cell = {(double)i, (double)j, (double)k};
                vec3_store(body->positions, node++,
                           vec3_add(lattice->origin, vec3_scale(lattice->spacing, cell)));
            }
}

// One pair of opposite sides of the box: squares along axes `a` and `b`, of which a x b points
// along the third axis `c`. Two triangles a square, outwards.
static uint64_t cover_pair(const struct grid *grid, int a, int b, int c, struct body *body,
                           uint64_t face)
{
    const uint64_t strides[3] = {1, grid->nodes[0], grid->nodes[0] * grid->nodes[1]};
    uint64_t to_far_side = (grid->nodes[c] - 1) * strides[c];
    for (uint64_t j = 0; j + 1 < grid->nodes[b]; j++)
        for (uint64_t i = 0; i + 1 < grid->nodes[a]; i++) {
            uint64_t p = i * strides[a] + j * strides[b];
            uint64_t q = p + strides[a], r = q + strides[b], s = p + strides[b];
            face_write(body, face++, p, r, q);
            face_write(body, face++, p, s, r);
            p += to_far_side, q += to_far_side, r += to_far_side, s += to_far_side;
            face_write(body, face++, p, q, r);
            face_write(body, face++, p, r, s);
        }
    return face;
}

static void cover(const struct grid *grid, struct body *body)
{
    uint64_t face = cover_pair(grid, 0, 1, 2, body, 0);
    face = cover_pair(grid, 1, 2, 0, body, face);
    face = cover_pair(grid, 2, 0, 1, body, face);
    assert(face == body->face_count);
}

// A box of one node's thickness has no inside, so no surface either.
static bool is_solid(const struct scene_lattice *lattice)
{
    return lattice->nodes_x >= 2 && lattice->nodes_y >= 2 && lattice->nodes_z >= 2;
}

bool lattice_count(const struct scene_body *given, struct grid *grid, struct build_counts *counts)
{
    const struct scene_lattice *lattice = &given->shape.lattice;
    uint64_t nx = lattice->nodes_x, ny = lattice->nodes_y, nz = lattice->nodes_z;
    *counts = (struct build_counts){.face_arity = 3};
    *grid = (struct grid){.nodes = {nx, ny, nz}};
    if (nx == 0 || ny == 0 || nz == 0 || !node_product(nx, ny, nz, &counts->nodes))
        return false;
    if (is_solid(lattice))
        counts->faces = 4 * ((nx - 1) * (ny - 1) + (ny - 1) * (nz - 1) + (nz - 1) * (nx - 1));
    link(given, grid);
    grid_count(grid, counts);
    return true;
}

taut_status build_lattice(struct build *build)
{
    const struct scene_body *given = build->given;
    const struct scene_lattice *lattice = &given->shape.lattice;
    uint64_t nx = lattice->nodes_x, ny = lattice->nodes_y, nz = lattice->nodes_z;
    struct build_counts counts;
    struct grid grid;
    if (nx == 0 || ny == 0 || nz == 0)
        return build_refuse(build, given->at, "lattice '%s' needs at least 1 node along each axis",
                            given->name);
    if (!(lattice->spacing > 0.0))
        return build_refuse(build, given->at, "lattice '%s' needs a spacing above 0", given->name);
    if (lattice->shells < 1 || lattice->shells > SHELLS_MAX)
        return build_refuse(build, given->at, "lattice '%s' has 1 or %d shells, not %d",
                            given->name, (int)SHELLS_MAX, lattice->shells);
    if (!lattice_count(given, &grid, &counts))
        return build_refuse(build, given->at,
                            "lattice '%s' of %llu by %llu by %llu nodes is too large", given->name,
                            (unsigned long long)nx, (unsigned long long)ny, (unsigned long long)nz);

    taut_status status = build_allocate(build, &counts);
    if (status != TAUT_OK)
        return status;
    struct body *body = build->body;
    place_nodes(lattice, body);
    grid_springs(&grid, body);
    body->closed = is_solid(lattice);
    if (body->closed)
        cover(&grid, body);
    return TAUT_OK;
}
