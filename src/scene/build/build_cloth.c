// A grid of nu by nv nodes over a parallelogram; node (i, j) is j nu + i, i along u.
#include "scene/build/build.h"

enum { STRUCTURAL, SHEAR, BEND, ALL };

static const struct {
    size_t kind;
    int steps[3];
} links[] = {{STRUCTURAL, {1, 0, 0}}, {STRUCTURAL, {0, 1, 0}}, {SHEAR, {1, 1, 0}},
             {SHEAR, {-1, 1, 0}},     {BEND, {2, 0, 0}},       {BEND, {0, 2, 0}}};

enum { LINK_COUNT = sizeof links / sizeof links[0] };

static void link(const struct scene_body *given, struct grid *grid)
{
    for (size_t i = 0; i < LINK_COUNT; i++)
        if (given->kinds[links[i].kind].present)
            grid_link(grid, links[i].kind, links[i].steps);
}

static void place_nodes(const struct scene_cloth *cloth, struct body *body)
{
    for (uint64_t j = 0; j < cloth->nodes_v; j++) {
        double part_v = (double)j / (double)(cloth->nodes_v - 1);
        vec3 row = vec3_add(cloth->origin, vec3_scale(part_v, cloth->v));
        for (uint64_t i = 0; i < cloth->nodes_u; i++) {
            double part_u = (double)i / (double)(cloth->nodes_u - 1);
            vec3_store(body->positions, j * cloth->nodes_u + i,
                       vec3_add(row, vec3_scale(part_u, cloth->u)));
        }
    }
}

bool cloth_count(const struct scene_body *given, struct grid *grid, struct build_counts *counts)
{
    uint64_t nu = given->shape.cloth.nodes_u, nv = given->shape.cloth.nodes_v;
    *counts = (struct build_counts){.face_arity = 3, .is_sheet = true}; // normals along u x v
    *grid = (struct grid){.nodes = {nu, nv, 1}};
    if (nu < 2 || nv < 2 || !node_product(nu, nv, 1, &counts->nodes))
        return false;
    link(given, grid);
    grid_count(grid, counts);
    if (given->kinds[ALL].present)
        counts->springs[ALL] = all_springs(counts->nodes);
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
    taut_status status = check_link_all(build, counts.nodes, ALL);
    if (status != TAUT_OK)
        return status;

    status = build_allocate(build, &counts);
    if (status != TAUT_OK)
        return status;
    place_nodes(cloth, build->body);
    grid_springs(&grid, build->body);
    springs_all(build->body, ALL);
    return TAUT_OK;
}
