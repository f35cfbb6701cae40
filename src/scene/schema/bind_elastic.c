// Binds materials in SI units: the keys `elastic` and `fabric`, and the masses and constants of
// springs and elements that follow from them (scene/moduli.h, docs/materials.md). The builder
// weights those on the boundary (scene/build/build_shapes.c). Meshes and spheres have triangles
// instead of springs, and masses from their areas (build_surface.c).
#include "scene/schema/binder.h"

#include <math.h>
#include <string.h>

#include "scene/fabrics.h"
#include "scene/moduli.h"

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

// ---- Constants

// The position of what cannot be represented.
static mark problem_at(const struct given *given, const struct moduli_problem *problem)
{
    const struct dom_pair *pair = bound_find(given->bound, problem->key);
    return pair ? pair->value.at : part_at(given, problem->key);
}

static bool report_problem(const struct given *given, const struct moduli_problem *problem)
{
    return bind_report(given->binder, problem_at(given, problem), NULL, "%s", problem->reason);
}

// Sets masses, springs and elements, or reports why the body cannot have them.
static bool set_constants(const struct given *given)
{
    const struct binder *binder = given->binder;
    struct moduli_problem problem;
    return body_set_constants(given->body, strcmp(given->key, "fabric") == 0,
                              binder->precision_known ? &binder->scene->precision : NULL,
                              &problem) ||
           report_problem(given, &problem);
}

// ---- Lattices

// Reports what the cells of a lattice cannot represent.
static bool check_lattice(const struct given *given)
{
    const struct scene_lattice *lattice = &given->body->shape.lattice;
    const struct dom_pair *nodes = bound_find(given->bound, "nodes"),
                          *shells = bound_find(given->bound, "shells");
    struct moduli_problem problem;
    bool valid = refuse(given, "thickness", "is not for lattices, which have three dimensions");
    valid = refuse(given, "diameter", "is not for lattices, which have three dimensions") && valid;
    if (!lattice_has_poisson(given->body, &problem))
        valid = report_problem(given, &problem);
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
    if (check_lattice(given))
        given->body->elastic.present = set_constants(given);
}

// ---- Cloths

static bool set_cloth(const struct given *given)
{
    if (!bound_is_valid(given->bound, "nodes") || !bound_is_valid(given->bound, "u") ||
        !bound_is_valid(given->bound, "v"))
        return false;
    const struct cell_sides cell = cloth_cell(&given->body->shape.cloth);
    const double ratio = cell.u / cell.v;
    if (!(ratio > 0) || isinf(ratio)) // reported with the shape
        return false;
    return set_constants(given);
}

static void set_sheet(const struct given *given)
{
    struct scene_elastic *solid = &given->body->elastic;
    bool valid = refuse(given, "diameter", "is not for cloths; give 'thickness'");
    if (!(solid->thickness > 0))
        valid = bind_report(given->binder, given->at, NULL,
                            "'thickness' is missing in 'elastic' of a cloth: give it, in m%s",
                            given->content.mapping ? "" : ", with 'material' in a mapping");
    solid->present = valid && set_cloth(given);
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
    if (rope_spacing(rope) > 0) // otherwise reported with the shape
        solid->present = set_constants(given);
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
                     strncmp(of_springs[i], "damping", strlen("damping")) == 0
                         ? "is for springs; a body with 'elastic' and triangles has none: leave it "
                           "out, or give 'damping_ratio'"
                         : "is for springs; a body with 'elastic' and triangles has none: leave it "
                           "out");
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
    if (check_membrane(given))
        given->body->elastic.present = set_constants(given);
}

// ---- Bodies

static void set_body(struct given *given)
{
    struct scene_body *body = given->body;
    if (strcmp(given->key, "fabric") == 0)
        body->fabric.present = set_cloth(given);
    else if (body->type == BODY_CLOTH)
        set_sheet(given);
    else if (body->type == BODY_ROPE)
        set_rope(given);
    else if (body->type == BODY_LATTICE)
        set_lattice(given);
    else
        set_membrane(given);
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
    // A type that does not have the key takes it for an unknown one; what else would be missing
    // without it has that cause.
    if ((bound_find(bound, "elastic") && !has_key && !is_surface) ||
        (bound_find(bound, "fabric") && !is_cloth))
        return true;
    exclude(binder, bound, is_cloth);
    const struct dom_pair *fabric = is_cloth ? bound_find(bound, "fabric") : NULL;
    const struct dom_pair *material = fabric ? fabric : bound_find(bound, "elastic");
    if (!material) {
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
