// Builds bodies from formulas: rope, cloth and lattice, whose springs follow from the directions of
// a grid and are not listed; ring and quad, plane bodies whose faces are the edges of their
// outline.
#include "scene/build/build.h"

#include <assert.h>

#include "scene/moduli.h"

// ---- Springs and faces in order

// Writes springs one after the other, in the order of their kinds.
struct spring_writer {
    uint32_t (*springs)[2];
    uint64_t count;
};

static void spring_write(struct spring_writer *writer, uint64_t a, uint64_t b)
{
    writer->springs[writer->count][0] = (uint32_t)a;
    writer->springs[writer->count][1] = (uint32_t)b;
    writer->count++;
}

static void face_write(struct body *body, uint64_t face, uint64_t a, uint64_t b, uint64_t c)
{
    body->faces[3 * face] = (uint32_t)a;
    body->faces[3 * face + 1] = (uint32_t)b;
    body->faces[3 * face + 2] = (uint32_t)c;
}

// ---- Springs of grids by direction; springs between all nodes

// Adds a direction, unless no node has a partner in it. Kinds must be added in their order.
static void grid_add_direction(struct grid *grid, size_t kind, const int steps[3])
{
    struct direction direction = direction_make(grid->nodes, steps);
    if (direction_springs(&direction) == 0)
        return;
    assert(grid->direction_count < GRID_DIRECTIONS_MAX);
    assert(grid->direction_count == 0 ||
           grid->directions[grid->direction_count - 1].material <= kind);
    direction.material = (uint32_t)kind;
    grid->directions[grid->direction_count++] = direction;
}

// Adds the springs of all directions to the counts.
static void grid_add_counts(const struct grid *grid, struct build_counts *counts)
{
    for (size_t i = 0; i < grid->direction_count; i++)
        counts->springs[grid->directions[i].material] += direction_springs(&grid->directions[i]);
    counts->directions = grid->direction_count;
}

// Sets the grid and the directions of a body that has been allocated by these counts.
static void grid_set_springs(const struct grid *grid, struct body *body)
{
    uint64_t first = 0;
    for (int axis = 0; axis < 3; axis++)
        body->grid[axis] = body->formula.nodes[axis] = grid->nodes[axis];
    for (size_t i = 0; i < body->direction_count; i++) {
        body->directions[i] = grid->directions[i];
        body->directions[i].first_spring = first;
        first += direction_springs(&grid->directions[i]);
    }
    assert(body->direction_count == 0 || first == body->spring_count);
}

// The number of springs between all pairs of nodes.
static uint64_t all_spring_count(uint64_t nodes)
{
    return nodes * (nodes - 1) / 2; // the factors have 32 bits
}

// Writes springs between all pairs of nodes, in the order of the lower node, if the body has this
// kind (and therefore no other).
static void write_all_springs(struct body *body, size_t all_kind)
{
    if (body->kind_start[all_kind] == body->kind_start[all_kind + 1])
        return;
    struct spring_writer writer = {body->springs, 0};
    for (uint64_t a = 0; a < body->node_count; a++)
        for (uint64_t b = a + 1; b < body->node_count; b++)
            spring_write(&writer, a, b);
    assert(writer.count == body->spring_count);
}

// Rejects `all` in combination with other kinds, and for too many nodes.
static taut_status check_all_springs(struct build *build, uint64_t nodes, size_t all_kind)
{
    const struct scene_body *given = build->given;
    if (!given->kinds[all_kind].present)
        return TAUT_OK;
    for (size_t kind = 0; kind < SPRING_KINDS_MAX; kind++)
        if (kind != all_kind && given->kinds[kind].present)
            return build_refuse(build, given->at,
                                "springs 'all' of body '%s' join each node with each already: "
                                "leave out '%s'",
                                given->name, spring_kind_name(given->type, kind));
    if (nodes > ALL_SPRINGS_NODES_MAX)
        return build_refuse(build, given->at,
                            "springs 'all' join each node with each: body '%s' of %llu nodes is "
                            "more than the %d that this is allowed for",
                            given->name, (unsigned long long)nodes, (int)ALL_SPRINGS_NODES_MAX);
    return TAUT_OK;
}

// ---- Positions of nodes

// The position of a node before the body's own rotation and translation.
static vec3 place_within(const struct body *body, uint64_t node)
{
    const struct body_formula *it = &body->formula;
    const uint64_t row = node / it->nodes[0], i = node - row * it->nodes[0];
    if (body->type == BODY_LATTICE) {
        const uint64_t layer = row / it->nodes[1], j = row - layer * it->nodes[1];
        const vec3 cell = {(double)i, (double)j, (double)layer};
        return vec3_add(it->origin, vec3_scale(it->spacing, cell));
    }
    const double along = (double)i / (double)(it->nodes[0] - 1);
    if (body->type == BODY_ROPE)
        return vec3_add(it->origin, vec3_scale(along, it->u));
    const double across = (double)row / (double)(it->nodes[1] - 1);
    return vec3_add(vec3_add(it->origin, vec3_scale(across, it->v)), vec3_scale(along, it->u));
}

vec3 body_formula_position(const struct body *body, uint64_t node)
{
    const struct body_formula *it = &body->formula;
    return vec3_add(rotate(&it->rotation, place_within(body, node)), it->translate);
}

// ---- Bodies with moduli: nodes and springs on the boundary have the masses and constants of fewer
// cells

static void weight_springs(const struct build *build)
{
    struct body *body = build->body;
    for (size_t d = 0; d < body->direction_count; d++) {
        struct direction *direction = &body->directions[d];
        direction->weighted = true;
        direction->boundary_material =
            (uint32_t)body_boundary_material(build->given, direction->material);
    }
}

static void weight_nodes(struct build *build)
{
    struct body *body = build->body;
    body->cell_mass = body_cell_mass(build->given);
    for (uint64_t node = 0; body->masses && node < body->node_count; node++)
        body->masses[node] = body->cell_mass * boundary_share(sides_of_node(body->grid, node));
    build->has_masses = true;
}

// ---- Rope: nodes on a line, 0 at `from` and the last at `to`

enum { ROPE_KIND_CHAIN, ROPE_KIND_SKIP, ROPE_KIND_ALL };

// Adds the directions whose springs have a material.
static void add_rope_directions(const struct scene_body *given, struct grid *grid)
{
    if (given->kinds[ROPE_KIND_CHAIN].present)
        grid_add_direction(grid, ROPE_KIND_CHAIN, (const int[3]){1, 0, 0});
    if (given->kinds[ROPE_KIND_SKIP].present)
        grid_add_direction(grid, ROPE_KIND_SKIP, (const int[3]){2, 0, 0});
}

bool rope_count(const struct scene_body *given, struct grid *grid, struct build_counts *counts)
{
    uint64_t nodes = given->shape.rope.nodes;
    *counts = (struct build_counts){.nodes = nodes};
    *grid = (struct grid){.nodes = {nodes, 1, 1}};
    if (nodes < 2 || nodes > BODY_NODES_MAX)
        return false;
    add_rope_directions(given, grid);
    grid_add_counts(grid, counts);
    if (given->kinds[ROPE_KIND_ALL].present)
        counts->springs[ROPE_KIND_ALL] = all_spring_count(nodes);
    return true;
}

taut_status build_rope(struct build *build)
{
    const struct scene_body *given = build->given;
    const struct scene_rope *rope = &given->shape.rope;
    struct body *body = build->body;
    vec3 along = vec3_subtract(rope->to, rope->from);
    if (rope->nodes < 2)
        return build_refuse(build, given->at, "rope '%s' needs at least 2 nodes", given->name);
    if (vec3_length(along) == 0.0)
        return build_refuse(build, given->at,
                            "rope '%s' has no length: 'from' and 'to' are the same point",
                            given->name);
    taut_status status = check_all_springs(build, rope->nodes, ROPE_KIND_ALL);
    if (status != TAUT_OK)
        return status;

    struct build_counts counts;
    struct grid grid;
    (void)rope_count(given, &grid, &counts); // too many nodes: build_allocate rejects them
    status = build_allocate(build, &counts);
    if (status != TAUT_OK)
        return status;
    body->formula.origin = rope->from;
    body->formula.u = along;
    grid_set_springs(&grid, body);
    write_all_springs(body, ROPE_KIND_ALL);
    if (body_has_moduli(given))
        weight_nodes(build);
    return TAUT_OK;
}

// ---- Cloth: a grid of nu by nv nodes over a parallelogram; node (i, j) is j nu + i, i along u

enum { CLOTH_STRUCTURAL, CLOTH_SHEAR, CLOTH_BEND, CLOTH_ALL };

static const struct {
    size_t kind;
    int steps[3];
} cloth_directions[] = {{CLOTH_STRUCTURAL, {1, 0, 0}}, {CLOTH_STRUCTURAL, {0, 1, 0}},
                        {CLOTH_SHEAR, {1, 1, 0}},      {CLOTH_SHEAR, {-1, 1, 0}},
                        {CLOTH_BEND, {2, 0, 0}},       {CLOTH_BEND, {0, 2, 0}},
                        {CLOTH_WEFT, {0, 1, 0}}};

enum { CLOTH_DIRECTIONS = sizeof cloth_directions / sizeof cloth_directions[0] };

// Whether structural springs along v are replaced by those of the kind weft.
static bool is_replaced_by_weft(const struct scene_body *given, size_t direction)
{
    return given->kinds[CLOTH_WEFT].present &&
           cloth_directions[direction].kind == CLOTH_STRUCTURAL &&
           cloth_directions[direction].steps[1] != 0;
}

static void add_cloth_directions(const struct scene_body *given, struct grid *grid)
{
    for (size_t i = 0; i < CLOTH_DIRECTIONS; i++)
        if (given->kinds[cloth_directions[i].kind].present && !is_replaced_by_weft(given, i))
            grid_add_direction(grid, cloth_directions[i].kind, cloth_directions[i].steps);
}

bool cloth_count(const struct scene_body *given, struct grid *grid, struct build_counts *counts)
{
    uint64_t nu = given->shape.cloth.nodes_u, nv = given->shape.cloth.nodes_v;
    *counts = (struct build_counts){.face_arity = 3, .is_sheet = true}; // normals along u x v
    *grid = (struct grid){.nodes = {nu, nv, 1}};
    if (nu < 2 || nv < 2 || !node_product(nu, nv, 1, &counts->nodes))
        return false;
    add_cloth_directions(given, grid);
    grid_add_counts(grid, counts);
    if (given->kinds[CLOTH_ALL].present)
        counts->springs[CLOTH_ALL] = all_spring_count(counts->nodes);
    counts->faces = 2 * (nu - 1) * (nv - 1);
    return true;
}

taut_status build_cloth(struct build *build)
{
    const struct scene_body *given = build->given;
    const struct scene_cloth *cloth = &given->shape.cloth;
    uint64_t nu = cloth->nodes_u, nv = cloth->nodes_v;
    struct build_counts counts;
    struct grid grid;
    if (nu < 2 || nv < 2)
        return build_refuse(build, given->at,
                            "cloth '%s' needs at least 2 nodes along u and along v", given->name);
    if (!(vec3_length(vec3_cross(cloth->u, cloth->v)) > 0.0))
        return build_refuse(build, given->at,
                            "cloth '%s' has no area: 'u' and 'v' are parallel or zero",
                            given->name);
    if (!cloth_count(given, &grid, &counts))
        return build_refuse(build, given->at, "cloth '%s' of %llu by %llu nodes is too large",
                            given->name, (unsigned long long)nu, (unsigned long long)nv);
    taut_status status = check_all_springs(build, counts.nodes, CLOTH_ALL);
    if (status != TAUT_OK)
        return status;

    status = build_allocate(build, &counts);
    if (status != TAUT_OK)
        return status;
    build->body->formula.origin = cloth->origin;
    build->body->formula.u = cloth->u;
    build->body->formula.v = cloth->v;
    grid_set_springs(&grid, build->body);
    write_all_springs(build->body, CLOTH_ALL);
    if (body_has_moduli(given)) {
        weight_springs(build);
        weight_nodes(build);
    }
    return TAUT_OK;
}

// ---- Lattice: a box of nx by ny by nz equally spaced nodes

// Node (i, j, k) is (k ny + j) nx + i. Springs join each node with its 26 neighbours, and with two
// shells also with the 26 nodes twice as far. Half of the directions are listed; each spring
// belongs to its lower node.
enum { LATTICE_DIRECTIONS = 13, KINDS_PER_SHELL = 3, SHELLS_MAX = 2 };

// Three along the axes (k1), six along face diagonals (k2), four along body diagonals (k3).
static const struct {
    size_t kind;
    int x, y, z;
} lattice_directions[LATTICE_DIRECTIONS] = {
    {0, 1, 0, 0},  {0, 0, 1, 0},  {0, 0, 0, 1},  {1, 1, 1, 0},  {1, -1, 1, 0},
    {1, 1, 0, 1},  {1, -1, 0, 1}, {1, 0, 1, 1},  {1, 0, -1, 1}, {2, 1, 1, 1},
    {2, -1, 1, 1}, {2, 1, -1, 1}, {2, -1, -1, 1}};

// The kind of the springs along a direction, or SPRING_KINDS_MAX if the scene has none there.
static size_t lattice_kind(const struct scene_body *given, size_t direction, int shell)
{
    size_t kind = lattice_directions[direction].kind + (size_t)(shell - 1) * KINDS_PER_SHELL;
    return kind < SPRING_KINDS_MAX && given->kinds[kind].present ? kind : SPRING_KINDS_MAX;
}

static void add_lattice_directions(const struct scene_body *given, struct grid *grid)
{
    for (int shell = 1; shell <= given->shape.lattice.shells; shell++)
        for (size_t d = 0; d < LATTICE_DIRECTIONS; d++) {
            const int steps[3] = {lattice_directions[d].x * shell, lattice_directions[d].y * shell,
                                  lattice_directions[d].z * shell};
            size_t kind = lattice_kind(given, d, shell);
            if (kind < SPRING_KINDS_MAX)
                grid_add_direction(grid, kind, steps);
        }
}

// Writes two triangles per square, facing outwards, for a pair of opposite sides of the box. The
// squares lie along axes `a` and `b`; a x b points along the third axis `c`.
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

// A box that is one node thick has no inside, and therefore no surface.
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
    add_lattice_directions(given, grid);
    grid_add_counts(grid, counts);
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
    body->formula.origin = lattice->origin;
    body->formula.spacing = lattice->spacing;
    grid_set_springs(&grid, body);
    if (body_has_moduli(given)) {
        weight_springs(build);
        weight_nodes(build);
    }
    body->closed = is_solid(lattice);
    if (body->closed)
        cover(&grid, body);
    return TAUT_OK;
}

// ---- Ring and quad

// The edges of the polygon 0, 1, ..., n - 1 as faces. If the body does not lie in a plane z =
// const, they are removed when it has been placed (enclosure.c).
static void outline(struct body *body)
{
    for (uint64_t i = 0; i < body->node_count; i++) {
        body->faces[2 * i] = (uint32_t)i;
        body->faces[2 * i + 1] = (uint32_t)((i + 1) % body->node_count);
    }
}

// Springs between consecutive nodes; the one that closes the ring comes last.
static void chain_around(uint64_t nodes, struct spring_writer *writer)
{
    for (uint64_t i = 0; i + 1 < nodes; i++)
        spring_write(writer, i, i + 1);
    spring_write(writer, 0, nodes - 1);
}

bool ring_count(const struct scene_body *given, struct build_counts *counts)
{
    uint64_t nodes = given->shape.ring.nodes;
    *counts = (struct build_counts){
        .nodes = nodes,
        .springs = {given->kinds[0].present ? nodes : 0},
        .faces = nodes,
        .face_arity = 2,
    };
    return nodes >= 3 && nodes <= BODY_NODES_MAX;
}

taut_status build_ring(struct build *build)
{
    const struct scene_body *given = build->given;
    const struct scene_ring *ring = &given->shape.ring;
    struct body *body = build->body;
    if (ring->nodes < 3)
        return build_refuse(build, given->at, "ring '%s' needs at least 3 nodes", given->name);
    if (!(ring->radius > 0.0))
        return build_refuse(build, given->at, "ring '%s' needs a radius above 0", given->name);
    struct build_counts counts;
    (void)ring_count(given, &counts); // too many nodes: build_allocate rejects them
    taut_status status = build_allocate(build, &counts);
    if (status != TAUT_OK)
        return status;
    for (uint64_t i = 0; i < ring->nodes; i++) {
        double angle = 2.0 * 3.14159265358979323846 * (double)i / (double)ring->nodes;
        vec3 out = {ring->radius * cos(angle), ring->radius * sin(angle), 0.0};
        vec3_store(body->positions, i, vec3_add(ring->centre, out));
    }
    struct spring_writer writer = {body->springs, 0};
    if (body->spring_count > 0)
        chain_around(ring->nodes, &writer);
    assert(writer.count == body->spring_count);
    outline(body);
    return TAUT_OK;
}

taut_status build_quad(struct build *build)
{
    enum { SIDES, DIAGONALS };
    const struct scene_body *given = build->given;
    const struct scene_quad *quad = &given->shape.quad;
    struct body *body = build->body;
    if (!(vec3_length(vec3_cross(quad->u, quad->v)) > 0.0))
        return build_refuse(build, given->at,
                            "quad '%s' has no area: 'u' and 'v' are parallel or zero", given->name);
    bool sides = given->kinds[SIDES].present, diagonals = given->kinds[DIAGONALS].present;
    struct build_counts counts = {
        .nodes = 4, .springs = {sides ? 4 : 0, diagonals ? 2 : 0}, .faces = 4, .face_arity = 2};
    taut_status status = build_allocate(build, &counts);
    if (status != TAUT_OK)
        return status;
    vec3 far_u = vec3_add(quad->origin, quad->u);
    vec3_store(body->positions, 0, quad->origin);
    vec3_store(body->positions, 1, far_u);
    vec3_store(body->positions, 2, vec3_add(far_u, quad->v));
    vec3_store(body->positions, 3, vec3_add(quad->origin, quad->v));
    struct spring_writer writer = {body->springs, 0};
    if (sides)
        chain_around(4, &writer);
    if (diagonals) {
        spring_write(&writer, 0, 2);
        spring_write(&writer, 1, 3);
    }
    assert(writer.count == body->spring_count);
    outline(body);
    return TAUT_OK;
}
