// Binds the material of a solid in SI units: the key `elastic` of a lattice, and the masses and
// spring constants that follow from it (docs/materials.md). The builder weights those on the
// boundary (scene/build/build_shapes.c).
//
// A lattice of cubes with side a has springs along the edges (k1) and the face diagonals (k2) of
// its cells. Its moduli of elasticity are those of an isotropic solid if k1 = k2 = k; then E = 2.5
// k / a, and Poisson's ratio is 1/4, as of every network of central forces in which each node is a
// centre of symmetry (Cauchy's relations). A cell contributes k/4 to each of its 12 edges, k/2 to
// each of its 12 face diagonals, and rho a^3 / 8 to each of its corners. So springs and nodes on
// the boundary, which belong to fewer cells, have smaller constants and masses; with equal ones a
// bar of 2, 4, 8 cells would be 75, 35, 17 % too stiff.
#include "scene/schema/binder.h"

#include <math.h>

#include "scene/direction.h"

static const double POISSON_TOLERANCE = 1e-6;

// Keys that `elastic` replaces; NULL-terminated.
static const char *const replaced[] = {"mass",      "node_mass",   "spring", "springs",
                                       "stiffness", "rest_length", "law",    NULL};

// Reports a number that follows from `elastic` and that the run's precision cannot hold.
static bool is_held(struct binder *binder, mark at, const char *what, double number,
                    const char *unit)
{
    const char *reason = precision_lacks(binder->scene->precision, number, true);
    if (!reason || !binder->precision_known)
        return true;
    return bind_report(binder, at, NULL, "'elastic' gives %s of %g %s, which %s", what, number,
                       unit, reason);
}

// What the springs of a lattice cannot represent.
static bool check_lattice(struct binder *binder, const struct bound *bound,
                          const struct bound *content, const struct scene_body *body)
{
    const struct scene_lattice *lattice = &body->shape.lattice;
    const struct dom_pair *poisson = bound_find(content, "poisson");
    const struct dom_pair *nodes = bound_find(bound, "nodes"),
                          *shells = bound_find(bound, "shells");
    bool valid = true;
    if (poisson && bound_is_valid(content, "poisson") &&
        fabs(body->elastic.poisson - LATTICE_POISSON) > POISSON_TOLERANCE)
        valid = bind_report(binder, poisson->value.at, NULL,
                            "the springs of a lattice represent a Poisson's ratio of %g only, not "
                            "%g: leave out 'poisson'",
                            LATTICE_POISSON, body->elastic.poisson);
    if (nodes && bound_is_valid(bound, "nodes") &&
        (lattice->nodes_x < 2 || lattice->nodes_y < 2 || lattice->nodes_z < 2))
        valid = bind_report(binder, nodes->value.at, NULL,
                            "a lattice with 'elastic' needs at least 2 nodes along each axis: it "
                            "consists of cells");
    if (shells && bound_is_valid(bound, "shells") && lattice->shells != 1)
        valid = bind_report(binder, shells->value.at, NULL,
                            "'elastic' needs 'shells: 1': its springs join the nodes of one cell");
    return valid && bound_is_valid(bound, "nodes") && bound_is_valid(bound, "spacing") &&
           bound_is_valid(content, "young") && bound_is_valid(content, "density") &&
           bound_is_valid(bound, "damping_ratio");
}

// Sets the mass of the body and the constants of springs inside.
static void set_lattice(struct binder *binder, mark at, struct scene_body *body)
{
    enum { AXES, FACE_DIAGONALS };
    const struct scene_lattice *lattice = &body->shape.lattice;
    const double a = lattice->spacing;
    const double stiffness = lattice_stiffness(body->elastic.young, a);
    const double node_mass = body->elastic.density * a * a * a; // inside
    const double cells = (double)(lattice->nodes_x - 1) * (double)(lattice->nodes_y - 1) *
                         (double)(lattice->nodes_z - 1);
    struct material spring = body->common;
    spring.stiffness = stiffness;
    if (body->damping_ratio > 0) // the masses of both ends swing against each other
        spring.damping = 2 * body->damping_ratio * sqrt(stiffness * node_mass / 2);

    if (!is_held(binder, at, "springs", stiffness, "N/m") ||
        !is_held(binder, at, "springs on the boundary",
                 stiffness * boundary_share(BOUNDARY_MATERIALS), "N/m") ||
        !is_held(binder, at, "a damping", spring.damping, "N s/m") ||
        !is_held(binder, at, "nodes", node_mass, "kg") ||
        !is_held(binder, at, "nodes at corners", node_mass / 8, "kg"))
        return;
    body->mass = cells * node_mass;
    body->mass_per_node = false;
    for (int kind = AXES; kind <= FACE_DIAGONALS; kind++)
        body->kinds[kind] = (struct scene_spring_kind){.present = true, .material = spring};
}

bool bind_elastic(struct binder *binder, const struct bound *bound, struct scene_body *body)
{
    // An override that replaces `elastic` replaces its damping, too.
    for (int i = 0; replaced[i] && bound_find(bound, "elastic"); i++) {
        bound_resolve(binder, bound, replaced[i], "damping_ratio");
        bound_exclusive(binder, bound, "elastic", replaced[i], true);
    }
    const struct dom_pair *elastic = bound_find(bound, "elastic");
    if (!elastic || body->type != BODY_LATTICE) { // the key is unknown in other types
        bound_refuse(binder, bound, "damping_ratio",
                     "is only for bodies with 'elastic'; give 'damping', in N s/m");
        return false;
    }
    bound_exclusive(binder, bound, "damping", "damping_ratio", true);

    struct schema_part part = {&schema_elastic, &body->elastic, false};
    struct bound content;
    body->elastic.at = elastic->key_at;
    const mark at = given_at(elastic);
    if (bind_mapping(binder, &elastic->value, schema_elastic.what, &part, 1, false, &content) &&
        check_lattice(binder, bound, &content, body)) {
        body->elastic.present = true;
        set_lattice(binder, at, body);
    }
    return true;
}
