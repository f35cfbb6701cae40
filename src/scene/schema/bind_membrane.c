// Binds `elastic` of meshes and spheres: the moduli of a membrane from those of a solid and its
// thickness (docs/materials.md). Such a body has no springs; the builder computes the masses of its
// nodes from the areas of the triangles (scene/build/build_surface.c).
#include "scene/schema/binder.h"

// Keys of springs that a lattice with `elastic` may have, and a membrane has not; NULL-terminated.
static const char *const of_springs[] = {"damping", "damping_law", "break_at", "yield_at", NULL};

static bool is_held(struct binder *binder, mark at, const char *what, double number,
                    const char *unit)
{
    const char *reason = precision_lacks(binder->scene->precision, number, true);
    if (!reason || !binder->precision_known)
        return true;
    return bind_report(binder, at, NULL, "'elastic' gives %s of %g %s, which %s", what, number,
                       unit, reason);
}

// Reports what is missing, with the remedy. A solid that is named has a Poisson's ratio.
static bool has_all(struct binder *binder, mark at, const struct bound *content,
                    const struct scene_body *body)
{
    const char *const type = body_type_name(body->type);
    const mark here = content->mapping ? content->at : at;
    bool valid = true;
    if (!body->elastic.material && !bound_find(content, "poisson"))
        valid = bind_report(binder, here, NULL,
                            "'poisson' is missing in 'elastic' of a %s: give Poisson's ratio, from "
                            "0 to 0.5",
                            type);
    if (!(body->elastic.thickness > 0))
        valid = bind_report(binder, here, NULL,
                            "'thickness' is missing in 'elastic' of a %s: give that of its wall, "
                            "in m",
                            type);
    bound_refuse(binder, content, "diameter", "is for ropes; give 'thickness'");
    return valid && !bound_find(content, "diameter");
}

void bind_membrane(struct binder *binder, const struct bound *bound, const struct bound *content,
                   mark at, struct scene_body *body)
{
    struct scene_elastic *solid = &body->elastic;
    for (int i = 0; of_springs[i]; i++)
        bound_refuse(binder, bound, of_springs[i],
                     "is for springs; a body with 'elastic' and triangles has none: leave it out, "
                     "or give 'damping_ratio'");
    if (!has_all(binder, at, content, body))
        return;

    const double tension = solid->young * solid->thickness, nu = solid->poisson;
    struct scene_elements *moduli = &body->elements;
    moduli->stretch = tension / (1 - nu * nu);
    moduli->shear = tension / (2 * (1 + nu));
    moduli->bending_u = moduli->stretch * solid->thickness * solid->thickness / 12;
    moduli->areal_density = solid->density * solid->thickness;
    moduli->damped = body->damping_ratio > 0;
    if (is_held(binder, at, "a stiffness", moduli->shear, "N/m") &&
        is_held(binder, at, "an areal density", moduli->areal_density, "kg/m2"))
        solid->present = true;
}
