// Moduli and constants (moduli.h).
#include "scene/moduli.h"

#include <math.h>

static const double PI = 3.14159265358979323846;

// ---- Lattices
//
// Springs k along edges and face diagonals have C11 = 3 k/a and C12 = C44 = k/a; a volume element
// adds its constant to C11 and C12. With mu = k/a and lambda = k/a + volume the lattice is isotropic.

double lattice_stiffness(double young, double poisson, double spacing)
{
    if (poisson == LATTICE_POISSON)
        return 0.4 * young * spacing;
    return young / (2 * (1 + poisson)) * spacing;
}

double lattice_volume(double young, double poisson)
{
    if (poisson == LATTICE_POISSON)
        return 0;
    return young / (2 * (1 + poisson)) * (4 * poisson - 1) / (1 - 2 * poisson);
}

struct solid_moduli lattice_moduli(double stiffness, double volume, double spacing)
{
    const double mu = stiffness / spacing, lambda = mu + volume;
    if (volume == 0)
        return (struct solid_moduli){2.5 * stiffness / spacing, LATTICE_POISSON, mu};
    return (struct solid_moduli){mu * (3 * lambda + 2 * mu) / (lambda + mu),
                                 lambda / (2 * (lambda + mu)), mu};
}

// ---- Sheets
//
// In a cell of sides a_u, a_v the two diagonals, of length d and stiffness k_d, store 1/2 (2 k_d)
// (c^2 e11 + s^2 e22)^2 d^2 + 1/2 (2 k_d) (c s g12)^2 d^2 with c = a_u / d, s = a_v / d. Per area
// a_u a_v and with r = a_u / a_v that is C66 = 2 k_d / (r + 1/r), and C66 r^2, C66 / r^2 and C66 of
// C11, C22 and C12. Edges along u add k_u r to C11, those along v add k_v / r to C22. The area
// element adds gamma to C11, C22 and C12.

struct sheet_moduli sheet_of_solid(const struct scene_elastic *solid)
{
    const double nu = solid->poisson, t = solid->thickness;
    const double plane = solid->young * t / (1 - nu * nu), bending = plane * t * t / 12;
    return (struct sheet_moduli){.c11 = plane,
                                 .c22 = plane,
                                 .c12 = nu * plane,
                                 .c66 = solid->young * t / (2 * (1 + nu)),
                                 .bending_u = bending,
                                 .bending_v = bending,
                                 .twist = bending,
                                 .areal_density = solid->density * t};
}

struct sheet_moduli sheet_of_fabric(const struct scene_fabric *fabric)
{
    return (struct sheet_moduli){.c11 = fabric->warp,
                                 .c22 = fabric->weft,
                                 .c12 = fabric->coupling,
                                 .c66 = fabric->shear,
                                 .bending_u = fabric->bending[0],
                                 .bending_v = fabric->bending[1],
                                 .twist = fabric->twist,
                                 .areal_density = fabric->areal_density};
}

struct sheet_moduli sheet_of_body(const struct scene_body *body)
{
    return body->fabric.present ? sheet_of_fabric(&body->fabric) : sheet_of_solid(&body->elastic);
}

struct cell_sides cloth_cell(const struct scene_cloth *cloth)
{
    return (struct cell_sides){vec3_length(cloth->u) / (double)(cloth->nodes_u - 1),
                               vec3_length(cloth->v) / (double)(cloth->nodes_v - 1)};
}

struct sheet_springs sheet_springs(const struct sheet_moduli *moduli, double ratio)
{
    const double area = moduli->c12 - moduli->c66, square = ratio * ratio;
    return (struct sheet_springs){.u = (moduli->c11 - area - moduli->c66 * square) / ratio,
                                  .v = (moduli->c22 - area - moduli->c66 / square) * ratio,
                                  .diagonal = moduli->c66 * (ratio + 1 / ratio) / 2,
                                  .area = area};
}

struct sheet_moduli sheet_of_springs(const struct sheet_springs *springs, double ratio)
{
    const double shear = 2 * springs->diagonal / (ratio + 1 / ratio), square = ratio * ratio;
    return (struct sheet_moduli){.c11 = springs->u * ratio + shear * square + springs->area,
                                 .c22 = springs->v / ratio + shear / square + springs->area,
                                 .c12 = shear + springs->area,
                                 .c66 = shear};
}

struct strip_moduli sheet_strips(const struct sheet_moduli *moduli)
{
    const double c11 = moduli->c11, c22 = moduli->c22, c12 = moduli->c12;
    const double determinant = c11 * c22 - c12 * c12;
    const double s11 = c22 / determinant, s22 = c11 / determinant, s12 = -c12 / determinant;
    if (!(determinant > 0) || !(moduli->c66 > 0))
        return (struct strip_moduli){NAN, NAN, NAN, NAN};
    return (struct strip_moduli){.along_u = 1 / s11,
                                 .along_v = 1 / s22,
                                 .diagonal = 4 / (s11 + 2 * s12 + s22 + 1 / moduli->c66),
                                 .poisson = -s12 / s11};
}

// ---- Ropes

double rope_spacing(const struct scene_rope *rope)
{
    return vec3_length(vec3_subtract(rope->to, rope->from)) / (double)(rope->nodes - 1);
}

double circle_area(double diameter)
{
    return PI / 4 * diameter * diameter;
}

double circle_second_moment(double diameter)
{
    return PI / 64 * diameter * diameter * diameter * diameter;
}

// ---- Bodies

double body_cell_mass(const struct scene_body *body)
{
    const double density = body->elastic.density, a = body->shape.lattice.spacing;
    if (body_is_membrane(body))
        return body->elements.areal_density;
    if (body->type == BODY_LATTICE)
        return density * a * a * a;
    if (body->type == BODY_ROPE)
        return density * circle_area(body->elastic.diameter) * rope_spacing(&body->shape.rope);
    const struct cell_sides cell = cloth_cell(&body->shape.cloth);
    return sheet_of_body(body).areal_density * cell.u * cell.v;
}
