// The constants of the elements of a body: bending and twist of cloths, bending of ropes, one area
// or volume term per cell (docs/materials.md). They follow from the moduli of the material and the
// lengths of a cell, as the reader has checked them.
#include <math.h>

#include "scene/build/build.h"
#include "scene/moduli.h"

// Damping as a fraction of the critical damping of an element whose nodes have `mass` and whose
// force on them is k times the gradient of c (or M): the squares of the gradients add up to
// `squares`. Or Rayleigh's, in proportion to the stiffness.
static void set_damping(const struct scene_body *given, struct element_constants *element,
                        double mass, double squares)
{
    const double stiffness = fabs(element->stiffness);
    if (!(stiffness > 0))
        return;
    if (given->rayleigh_stiffness > 0)
        element->time = given->rayleigh_stiffness;
    else if (given->elements.damped)
        element->time = 2 * given->damping_ratio * sqrt(mass / (stiffness * squares));
}

static void set_rope(const struct scene_body *given, struct body_elements *elements)
{
    const double h = rope_spacing(&given->shape.rope);
    elements->bend[0].stiffness = given->elements.bending_u / (h * h * h);
    set_damping(given, &elements->bend[0], given->mass / (double)(given->shape.rope.nodes - 1), 6);
}

static void set_cloth(const struct scene_body *given, struct body_elements *elements)
{
    const struct scene_cloth *cloth = &given->shape.cloth;
    const struct scene_elements *moduli = &given->elements;
    const struct cell_sides sides = cloth_cell(cloth);
    const double au = sides.u, av = sides.v, cell = au * av;
    const double mass = given->mass / ((double)(cloth->nodes_u - 1) * (double)(cloth->nodes_v - 1));

    elements->bend[0].stiffness = moduli->bending_u * av / (au * au * au);
    elements->bend[1].stiffness = moduli->bending_v * au / (av * av * av);
    elements->twist.stiffness = 2 * moduli->twist / (au * av);
    elements->area = (struct element_constants){.stiffness = moduli->area / cell, .rest = cell};
    set_damping(given, &elements->bend[0], mass, 6);
    set_damping(given, &elements->bend[1], mass, 6);
    set_damping(given, &elements->twist, mass, 4);
    set_damping(given, &elements->area, mass, au * au + av * av);
}

static void set_lattice(const struct scene_body *given, struct body_elements *elements)
{
    const struct scene_lattice *lattice = &given->shape.lattice;
    const double a = lattice->spacing, cell = a * a * a;
    const double cells = (double)(lattice->nodes_x - 1) * (double)(lattice->nodes_y - 1) *
                         (double)(lattice->nodes_z - 1);
    elements->volume =
        (struct element_constants){.stiffness = given->elements.volume / cell, .rest = cell};
    set_damping(given, &elements->volume, given->mass / cells, 1.5 * a * a * a * a);
}

static void set_surface(const struct scene_body *given, struct body_elements *elements)
{
    elements->membrane = (struct element_membrane){
        .stretch = given->elements.stretch,
        .shear = given->elements.shear,
        .bending = given->elements.bending_u,
        .areal_density = given->elements.areal_density,
        .damping_ratio = given->elements.damped ? given->damping_ratio : 0,
        .damping_time = given->rayleigh_stiffness};
}

// The elements of a cell or a line would still join nodes whose springs are broken.
static bool may_break(const struct scene_body *given)
{
    for (size_t kind = 0; kind < SPRING_KINDS_MAX; kind++)
        if (given->kinds[kind].present && isfinite(given->kinds[kind].material.break_at))
            return true;
    return false;
}

struct body_elements body_elements_of(const struct scene_body *given)
{
    const struct scene_elements *moduli = &given->elements;
    struct body_elements elements = {.present = scene_elements_exist(moduli)};
    if (given->type == BODY_ROPE && given->shape.rope.nodes < 3) // no three nodes, no bending
        elements.present = false;
    if (!elements.present)
        return elements;
    if (given->type == BODY_ROPE)
        set_rope(given, &elements);
    else if (given->type == BODY_CLOTH)
        set_cloth(given, &elements);
    else if (given->type == BODY_LATTICE)
        set_lattice(given, &elements);
    else if (moduli->stretch != 0)
        set_surface(given, &elements);
    return elements;
}

taut_status build_elements(struct build *build)
{
    const struct scene_body *given = build->given;
    build->body->elements = body_elements_of(given);
    if (build->body->elements.present && may_break(given))
        return build_refuse(build, given->fabric.present ? given->fabric.at : given->elastic.at,
                            "the springs of body '%s' cannot break: its bending, area or volume "
                            "elements would still join its parts; leave out 'break_at'",
                            given->name);
    return TAUT_OK;
}
