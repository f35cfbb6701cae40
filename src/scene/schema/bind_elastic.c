// Binds materials in SI units: the keys `elastic` and `fabric`, and the masses and constants of
// springs and elements that follow from them (scene/moduli.h, docs/materials.md). The builder
// weights those on the boundary (scene/build/build_shapes.c). Meshes and spheres have triangles
// instead of springs, and masses from their areas (build_surface.c).
//
// A lattice of cubes has springs along the edges (k1) and the face diagonals (k2) of its cells, a
// cloth along u (structural), along v (weft) and along both diagonals (shear), a rope between
// neighbours (chain). A cell of a lattice contributes k/4 to each of its 12 edges, k/2 to each of
// its 12 face diagonals, and an eighth of its mass to each of its corners; a cell of a cloth k/2 to
// each of its 4 edges, k to its diagonals and a fourth of its mass to each of its corners. So springs
// and nodes on the boundary, which belong to fewer cells, have smaller constants and masses; with
// equal ones a bar of 2, 4, 8 cells would be 75, 35, 17 % too stiff.
#include "scene/schema/binder.h"

#include <math.h>
#include <string.h>

#include "scene/direction.h"
#include "scene/fabrics.h"
#include "scene/moduli.h"

static const double POISSON_TOLERANCE = 1e-6;

// Poisson's ratio of a network of central forces in the plane (Cauchy's relations: C12 = C66).
static const double SHEET_POISSON = 1.0 / 3;

// Keys that a material replaces; NULL-terminated.
static const char *const replaced[] = {"mass",        "node_mass", "spring", "springs", "stiffness",
                                       "rest_length", "law",       "links",  NULL};

// A material while it is bound.
struct given {
    struct binder *binder;
    const struct bound *bound; // the body
    struct scene_body *body;
    const char *key;      // "elastic" or "fabric"
    mark at;              // of the key, or of the override that set it
    struct bound content; // of the mapping; empty if only a name was given
};

// Reports a number that follows from the material and that the run's precision cannot hold.
static bool fits_precision(const struct given *given, const char *what, double number,
                           const char *unit)
{
    const char *reason = precision_lacks(given->binder->scene->precision, number, true);
    if (!reason || !given->binder->precision_known)
        return true;
    return bind_report(given->binder, given->at, NULL, "'%s' gives %s of %g %s, which %s",
                       given->key, what, number, unit, reason);
}

// The position of a key of the material, or of the material if that was named.
static mark part_at(const struct given *given, const char *key)
{
    const struct dom_pair *pair = bound_find(&given->content, key);
    return pair ? pair->value.at : given->at;
}

static bool refuse(const struct given *given, const char *key, const char *reason)
{
    bound_refuse(given->binder, &given->content, key, reason);
    return !bound_find(&given->content, key);
}

// ---- The content of `elastic` and `fabric`

// Whether a name alone was given.
static bool is_name(const struct dom_value *value)
{
    return value->node->kind != DOM_MAPPING;
}

// The index of the material that is named, alone or in a mapping; -1 if none was named, or after an
// error.
static int bind_name(const struct given *given, const struct dom_value *value,
                     const char *const *names, bool *valid)
{
    if (is_name(value)) {
        const int index = value_name(given->binder, value, given->key, names);
        *valid = index >= 0;
        return index;
    }
    const struct dom_pair *pair = dom_find(value->node, "material");
    const int index = pair ? value_name(given->binder, &pair->value, "material", names) : -1;
    *valid = !pair || index >= 0;
    return index;
}

// Binds a mapping, whose keys replace those of a named material: then `prefilled`.
static bool bind_content(struct given *given, const struct dom_value *value,
                         const struct schema_table *table, void *target, bool prefilled)
{
    struct schema_part part = {table, target, prefilled};
    if (!bind_mapping(given->binder, value, table->what, &part, 1, false, &given->content))
        return false;
    for (size_t i = 0; i < table->count; i++)
        if (!bound_is_valid(&given->content, table->keys[i].name) &&
            (bound_find(&given->content, table->keys[i].name) || table->keys[i].required))
            return false;
    return true;
}

static bool bind_solid(struct given *given, const struct dom_value *value)
{
    struct scene_elastic *solid = &given->body->elastic;
    bool valid;
    const int named = bind_name(given, value, solid_names, &valid);
    if (named >= 0)
        *solid = solid_named((size_t)named);
    if (is_name(value))
        return valid;
    valid = bind_content(given, value, &schema_elastic, solid, named >= 0 || !valid) && valid;
    if (named < 0 && !bound_find(&given->content, "poisson"))
        solid->poisson = given->body->type == BODY_CLOTH ? SHEET_POISSON : LATTICE_POISSON;
    return valid;
}

static bool bind_textile(struct given *given, const struct dom_value *value)
{
    struct scene_fabric *fabric = &given->body->fabric;
    bool valid;
    const int named = bind_name(given, value, fabric_names, &valid);
    if (named >= 0)
        *fabric = fabric_named((size_t)named);
    if (is_name(value))
        return valid;
    valid = bind_content(given, value, &schema_fabric, fabric, named >= 0 || !valid) && valid;
    if (!bound_find(&given->content, "twist") &&
        (named < 0 || bound_find(&given->content, "bending")))
        fabric->twist = sqrt(fabric->bending[0] * fabric->bending[1]);
    return valid;
}

// ---- Springs

// The damping of a spring between nodes of this mass: the masses of both ends swing against each
// other.
static double damping_of(const struct scene_body *body, double stiffness, double node_mass)
{
    if (body->rayleigh_stiffness > 0)
        return body->rayleigh_stiffness * stiffness;
    if (body->damping_ratio > 0)
        return 2 * body->damping_ratio * sqrt(stiffness * node_mass / 2);
    return body->common.damping;
}

// Sets the springs of a kind, with the constants of springs inside; on the boundary they have down
// to the fraction `least` of them.
static bool set_kind(const struct given *given, size_t kind, double stiffness, double node_mass,
                     double least)
{
    struct material spring = given->body->common;
    spring.stiffness = stiffness;
    spring.damping = damping_of(given->body, stiffness, node_mass);
    if (!fits_precision(given, "springs", stiffness, "N/m") ||
        !fits_precision(given, "springs on the boundary", stiffness * least, "N/m") ||
        !fits_precision(given, "a damping", spring.damping, "N s/m") ||
        !fits_precision(given, "a damping on the boundary", spring.damping * least, "N s/m"))
        return false;
    given->body->kinds[kind] = (struct scene_spring_kind){.present = true, .material = spring};
    return true;
}

// Sets the mass of the body, whose nodes have down to the fraction `least` of those inside.
static bool set_mass(const struct given *given, double mass, double node_mass, double least)
{
    given->body->mass = mass;
    given->body->mass_per_node = false;
    return fits_precision(given, "nodes", node_mass, "kg") &&
           fits_precision(given, "nodes at corners", node_mass * least, "kg");
}

// ---- Lattices

// What the cells of a lattice cannot represent.
static bool check_lattice(const struct given *given)
{
    const struct scene_lattice *lattice = &given->body->shape.lattice;
    const struct dom_pair *nodes = bound_find(given->bound, "nodes"),
                          *shells = bound_find(given->bound, "shells");
    const double poisson = given->body->elastic.poisson;
    bool valid = refuse(given, "thickness", "is not for lattices, which have three dimensions");
    valid = refuse(given, "diameter", "is not for lattices, which have three dimensions") && valid;
    if (poisson > LATTICE_POISSON_MAX)
        valid = bind_report(given->binder, part_at(given, "poisson"), NULL,
                            "a lattice represents a Poisson's ratio from 0 to %g, not %g: give "
                            "'poisson: %g'",
                            LATTICE_POISSON_MAX, poisson, LATTICE_POISSON_MAX);
    if (nodes && bound_is_valid(given->bound, "nodes") &&
        (lattice->nodes_x < 2 || lattice->nodes_y < 2 || lattice->nodes_z < 2))
        valid = bind_report(given->binder, nodes->value.at, NULL,
                            "a lattice with 'elastic' needs at least 2 nodes along each axis: it "
                            "consists of cells");
    if (shells && bound_is_valid(given->bound, "shells") && lattice->shells != 1)
        valid = bind_report(given->binder, shells->value.at, NULL,
                            "'elastic' needs 'shells: 1': its springs join the nodes of one cell");
    return valid && bound_is_valid(given->bound, "nodes") &&
           bound_is_valid(given->bound, "spacing");
}

static void set_lattice(const struct given *given)
{
    enum { AXES, FACE_DIAGONALS };
    struct scene_body *body = given->body;
    const struct scene_lattice *lattice = &body->shape.lattice;
    if (!check_lattice(given))
        return;
    const double a = lattice->spacing;
    const double young = body->elastic.young;
    const bool cauchy = fabs(body->elastic.poisson - LATTICE_POISSON) <= POISSON_TOLERANCE;
    const double poisson = cauchy ? LATTICE_POISSON : body->elastic.poisson;
    const double stiffness = lattice_stiffness(young, poisson, a);
    const double node_mass = body_cell_mass(body); // inside
    const double cells = (double)(lattice->nodes_x - 1) * (double)(lattice->nodes_y - 1) *
                         (double)(lattice->nodes_z - 1);
    const double edge = boundary_share(2), corner = boundary_share(3);
    for (size_t kind = AXES; kind <= FACE_DIAGONALS; kind++)
        if (!set_kind(given, kind, stiffness, node_mass, edge))
            return;
    body->elements.volume = lattice_volume(young, poisson);
    body->elastic.present = set_mass(given, cells * node_mass, node_mass, corner);
}

// ---- Cloths

// Whether the sheet stores energy in every strain; otherwise reports the coupling.
static bool check_definite(const struct given *given, const struct sheet_moduli *moduli)
{
    if (moduli->c11 * moduli->c22 > moduli->c12 * moduli->c12)
        return true;
    return bind_report(given->binder, part_at(given, "coupling"), NULL,
                       "the square of 'coupling' (%g N/m) must be below 'warp' times 'weft' (%g "
                       "and %g N/m): such a fabric would stretch by itself",
                       moduli->c12, moduli->c11, moduli->c22);
}

// Numbers of cells along u and v, at least as many as there are, of which the springs can have these
// moduli.
static void find_cells(const struct scene_cloth *cloth, const struct sheet_moduli *moduli,
                       double *cells_u, double *cells_v)
{
    enum { FINER = 64 };
    const struct cell_sides given = cloth_cell(cloth);
    const double u = vec3_length(cloth->u), v = vec3_length(cloth->v);
    for (int times = 1; times <= FINER; times++) {
        const double side = fmin(given.u, given.v) / times;
        *cells_u = fmax(1, round(u / side));
        *cells_v = fmax(1, round(v / side));
        const struct sheet_springs springs = sheet_springs(moduli, u / *cells_u / (v / *cells_v));
        if (!(springs.u < 0) && !(springs.v < 0))
            return;
    }
}

// Whether the cells are rectangles whose springs can have these moduli.
static bool check_cells(const struct given *given, const struct sheet_moduli *moduli,
                        const struct sheet_springs *springs, struct cell_sides cell)
{
    const struct scene_cloth *cloth = &given->body->shape.cloth;
    const double u = vec3_length(cloth->u), v = vec3_length(cloth->v);
    const struct dom_pair *nodes = bound_find(given->bound, "nodes"),
                          *second = bound_find(given->bound, "v");
    if (!(fabs(vec3_dot(cloth->u, cloth->v)) <= 1e-6 * u * v))
        return bind_report(given->binder, second->value.at, NULL,
                           "'u' and 'v' of a cloth with '%s' must be at right angles", given->key);
    const bool along_u = springs->u < 0;
    if (!along_u && !(springs->v < 0))
        return true;
    const struct sheet_springs square = sheet_springs(moduli, 1);
    if (square.u < 0 || square.v < 0)
        return bind_report(given->binder, part_at(given, "coupling"), NULL,
                           "'coupling' (%g N/m) is above '%s' (%g N/m): springs along %s would "
                           "have a negative stiffness",
                           moduli->c12, square.u < 0 ? "warp" : "weft",
                           square.u < 0 ? moduli->c11 : moduli->c22, square.u < 0 ? "u" : "v");
    double cells_u, cells_v;
    find_cells(cloth, moduli, &cells_u, &cells_v);
    return bind_report(given->binder, nodes->value.at, NULL,
                       "springs along %s would have a negative stiffness (%g N/m): the cells, %g "
                       "by %g m, are too far from squares; give 'nodes: [%.0f, %.0f]'",
                       along_u ? "u" : "v", along_u ? springs->u : springs->v, cell.u, cell.v,
                       cells_u + 1, cells_v + 1);
}

// Sets masses, springs and elements of a cloth.
static void set_cloth(const struct given *given, const struct sheet_moduli *moduli, bool *present)
{
    enum { ALONG_U, DIAGONALS };
    struct scene_body *body = given->body;
    const struct scene_cloth *cloth = &body->shape.cloth;
    if (!bound_is_valid(given->bound, "nodes") || !bound_is_valid(given->bound, "u") ||
        !bound_is_valid(given->bound, "v"))
        return;
    const struct cell_sides cell = cloth_cell(cloth);
    const double ratio = cell.u / cell.v;
    if (!(ratio > 0) || isinf(ratio)) // reported with the shape
        return;
    const struct sheet_springs springs = sheet_springs(moduli, ratio);
    if (!check_definite(given, moduli) || !check_cells(given, moduli, &springs, cell))
        return;

    const double node_mass = moduli->areal_density * cell.u * cell.v; // inside
    const double cells = (double)(cloth->nodes_u - 1) * (double)(cloth->nodes_v - 1);
    const double edge = boundary_share(1), corner = boundary_share(2);
    if (!set_kind(given, ALONG_U, springs.u, node_mass, edge) ||
        !set_kind(given, CLOTH_WEFT, springs.v, node_mass, edge) ||
        !set_kind(given, DIAGONALS, springs.diagonal, node_mass, 1) ||
        !set_mass(given, cells * node_mass, node_mass, corner))
        return;
    body->elements.bending_u = moduli->bending_u;
    body->elements.bending_v = moduli->bending_v;
    body->elements.twist = moduli->twist;
    body->elements.area = fabs(springs.area) > 1e-9 * moduli->c66 ? springs.area : 0;
    *present = true;
}

static void set_sheet(const struct given *given)
{
    struct scene_elastic *solid = &given->body->elastic;
    bool valid = refuse(given, "diameter", "is not for cloths; give 'thickness'");
    if (!(solid->thickness > 0))
        valid = bind_report(given->binder, given->at, NULL,
                            "'thickness' is missing in 'elastic' of a cloth: give it, in m%s",
                            given->content.mapping ? "" : ", with 'material' in a mapping");
    const struct sheet_moduli moduli = sheet_of_solid(solid);
    if (valid)
        set_cloth(given, &moduli, &solid->present);
}

static void set_fabric(const struct given *given)
{
    const struct sheet_moduli moduli = sheet_of_fabric(&given->body->fabric);
    set_cloth(given, &moduli, &given->body->fabric.present);
}

// ---- Ropes

static void set_rope(const struct given *given)
{
    struct scene_body *body = given->body;
    const struct scene_rope *rope = &body->shape.rope;
    struct scene_elastic *solid = &body->elastic;
    bool valid = refuse(given, "thickness", "is not for ropes; give 'diameter'");
    valid = refuse(given, "poisson",
                   "is not for ropes, which have a stiffness along their length only") &&
            valid;
    if (!(solid->diameter > 0))
        valid = bind_report(given->binder, given->at, NULL,
                            "'diameter' is missing in 'elastic' of a rope: give it, in m%s",
                            given->content.mapping ? "" : ", with 'material' in a mapping");
    if (!valid || !bound_is_valid(given->bound, "nodes") || !bound_is_valid(given->bound, "from") ||
        !bound_is_valid(given->bound, "to"))
        return;
    const double spacing = rope_spacing(rope), area = circle_area(solid->diameter);
    const double node_mass = body_cell_mass(body);
    if (!(spacing > 0)) // reported with the shape
        return;
    if (!set_kind(given, 0, solid->young * area / spacing, node_mass, 1) ||
        !set_mass(given, node_mass * (double)(rope->nodes - 1), node_mass, boundary_share(1)))
        return;
    body->elements.bending_u = solid->young * circle_second_moment(solid->diameter);
    solid->present = true;
}

// ---- Meshes and spheres

// Reports what is missing, with the remedy. A solid that is named has a Poisson's ratio.
static bool check_membrane(const struct given *given)
{
    // Keys of springs, which such a body does not have; NULL-terminated.
    static const char *const of_springs[] = {"damping", "damping_law", "break_at", "yield_at",
                                             NULL};
    const struct scene_elastic *solid = &given->body->elastic;
    const char *const type = body_type_name(given->body->type);
    const mark here = given->content.mapping ? given->content.at : given->at;
    for (int i = 0; of_springs[i]; i++)
        bound_refuse(given->binder, given->bound, of_springs[i],
                     "is for springs; a body with 'elastic' and triangles has none: leave it out, "
                     "or give 'damping_ratio'");
    bool valid = true;
    if (!solid->material && !bound_find(&given->content, "poisson"))
        valid = bind_report(given->binder, here, NULL,
                            "'poisson' is missing in 'elastic' of a %s: give Poisson's ratio, from "
                            "0 to 0.5",
                            type);
    if (!(solid->thickness > 0))
        valid = bind_report(given->binder, here, NULL,
                            "'thickness' is missing in 'elastic' of a %s: give that of its wall, "
                            "in m",
                            type);
    return refuse(given, "diameter", "is for ropes; give 'thickness'") && valid;
}

static void set_membrane(const struct given *given)
{
    struct scene_body *body = given->body;
    struct scene_elastic *solid = &body->elastic;
    if (!check_membrane(given))
        return;
    const struct sheet_moduli sheet = sheet_of_solid(solid);
    body->elements.stretch = sheet.c11;
    body->elements.shear = sheet.c66;
    body->elements.bending_u = sheet.bending_u;
    body->elements.areal_density = sheet.areal_density;
    solid->present = fits_precision(given, "a stiffness", sheet.c66, "N/m") &&
                     fits_precision(given, "an areal density", sheet.areal_density, "kg/m2");
}

// ---- Bodies

static void set_body(struct given *given)
{
    struct scene_body *body = given->body;
    if (strcmp(given->key, "fabric") == 0)
        set_fabric(given);
    else if (body->type == BODY_CLOTH)
        set_sheet(given);
    else if (body->type == BODY_ROPE)
        set_rope(given);
    else if (body->type == BODY_LATTICE)
        set_lattice(given);
    else
        set_membrane(given);
    body->elements.damped = scene_elements_exist(&body->elements) && body->damping_ratio > 0;
}

static void bind_rayleigh(struct binder *binder, const struct bound *bound, struct scene_body *body)
{
    const struct dom_pair *rayleigh = bound_find(bound, "rayleigh");
    struct schema_part part = {&schema_rayleigh, body, false};
    struct bound content;
    if (rayleigh)
        bind_mapping(binder, &rayleigh->value, schema_rayleigh.what, &part, 1, false, &content);
}

// Removes or reports what excludes a material. An override that replaces it replaces its damping,
// too.
static void exclude(struct binder *binder, const struct bound *bound, bool is_cloth)
{
    static const char *const materials[] = {"elastic", "fabric"};
    static const char *const dampings[] = {"damping", "damping_ratio", "rayleigh"};
    if (is_cloth)
        bound_exclusive(binder, bound, "elastic", "fabric", true);
    for (int m = 0; m < 1 + is_cloth; m++)
        for (int i = 0; replaced[i] && bound_find(bound, materials[m]); i++) {
            bound_resolve(binder, bound, replaced[i], "damping_ratio");
            bound_resolve(binder, bound, replaced[i], "rayleigh");
            bound_exclusive(binder, bound, materials[m], replaced[i], true);
        }
    if (!bound_find(bound, "elastic") && !(is_cloth && bound_find(bound, "fabric")))
        return;
    for (int a = 0; a < 3; a++)
        for (int b = a + 1; b < 3; b++)
            bound_exclusive(binder, bound, dampings[a], dampings[b], true);
}

bool bind_elastic(struct binder *binder, const struct bound *bound, struct scene_body *body)
{
    const bool has_key =
        body->type == BODY_LATTICE || body->type == BODY_CLOTH || body->type == BODY_ROPE;
    const bool is_cloth = body->type == BODY_CLOTH;
    const bool is_surface = body->type == BODY_MESH || body->type == BODY_SPHERE;
    exclude(binder, bound, is_cloth);
    const struct dom_pair *fabric = is_cloth ? bound_find(bound, "fabric") : NULL;
    const struct dom_pair *material = fabric ? fabric : bound_find(bound, "elastic");
    if (!material || !(has_key || is_surface)) { // the key is unknown in other types
        const char *reason = is_cloth
                                 ? "is only for bodies with 'elastic' or 'fabric'; give 'damping', "
                                   "in N s/m"
                                 : "is only for bodies with 'elastic'; give 'damping', in N s/m";
        bound_refuse(binder, bound, "damping_ratio", reason);
        bound_refuse(binder, bound, "rayleigh", reason);
        return false;
    }
    bind_rayleigh(binder, bound, body);

    struct given given = {.binder = binder,
                          .bound = bound,
                          .body = body,
                          .key = fabric ? "fabric" : "elastic",
                          .at = given_at(material)};
    const bool valid =
        fabric ? bind_textile(&given, &material->value) : bind_solid(&given, &material->value);
    body->elastic.at = body->fabric.at = material->key_at;
    if (valid && bound_is_valid(bound, "damping_ratio"))
        set_body(&given);
    return true;
}
