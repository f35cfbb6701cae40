// Moduli and constants (moduli.h).
//
// A lattice of cubes has springs along the edges (k1) and the face diagonals (k2) of its cells, a
// cloth along u (structural), along v (weft) and along both diagonals (shear), a rope between
// neighbours (chain). A cell of a lattice contributes k/4 to each of its 12 edges, k/2 to each of
// its 12 face diagonals, and an eighth of its mass to each of its corners; a cell of a cloth k/2 to
// each of its 4 edges, k to its diagonals and a fourth of its mass to each of its corners. So
// springs and nodes on the boundary, which belong to fewer cells, have smaller constants and
// masses; with equal ones a bar of 2, 4, 8 cells would be 75, 35, 17 % too stiff.
#include "scene/moduli.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "scene/direction.h"

static const double POISSON_TOLERANCE = 1e-6;

// A sheet whose C12 is C66 but for this fraction of it needs no element for the area, which costs
// as much as a spring more: '1/3' written with six digits is meant as it is.
static const double AREA_TOLERANCE = 1e-5;

static const double PI = 3.14159265358979323846;

// ---- Lattices
//
// Springs k along edges and face diagonals have C11 = 3 k/a and C12 = C44 = k/a; a volume element
// adds its constant to C11 and C12. With mu = k/a and lambda = k/a + volume the lattice is
// isotropic.

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
    const double excess = moduli->c12 - moduli->c66, square = ratio * ratio;
    const double area = fabs(excess) > AREA_TOLERANCE * moduli->c66 ? excess : 0;
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

// ---- The constants of a body

// Returns false, for the caller to return.
PRINTF_FORMAT(3, 4)
static bool problem_set(struct moduli_problem *problem, const char *key, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(problem->reason, sizeof problem->reason, format, arguments);
    va_end(arguments);
    problem->key = key;
    return false;
}

// A body while its constants are set.
struct setting {
    struct scene_body *body;
    bool of_fabric;
    moduli_precision precision;
    struct moduli_problem *problem;
};

// Reports a number that follows from the material and that the run's precision cannot hold.
static bool fits_precision(const struct setting *it, const char *what, double number,
                           const char *unit)
{
    const char *reason = it->precision ? precision_lacks(*it->precision, number, true) : NULL;
    return !reason || problem_set(it->problem, "", "'%s' gives %s of %g %s, which %s",
                                  it->of_fabric ? "fabric" : "elastic", what, number, unit, reason);
}

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
static bool set_kind(const struct setting *it, size_t kind, double stiffness, double node_mass,
                     double least)
{
    struct material spring = it->body->common;
    spring.stiffness = stiffness;
    spring.damping = damping_of(it->body, stiffness, node_mass);
    if (!fits_precision(it, "springs", stiffness, "N/m") ||
        !fits_precision(it, "springs on the boundary", stiffness * least, "N/m") ||
        !fits_precision(it, "a damping", spring.damping, "N s/m") ||
        !fits_precision(it, "a damping on the boundary", spring.damping * least, "N s/m"))
        return false;
    it->body->kinds[kind] = (struct scene_spring_kind){.present = true, .material = spring};
    return true;
}

// Sets the mass of the body, whose nodes have down to the fraction `least` of those inside.
static bool set_mass(const struct setting *it, double mass, double node_mass, double least)
{
    it->body->mass = mass;
    it->body->mass_per_node = false;
    return fits_precision(it, "nodes", node_mass, "kg") &&
           fits_precision(it, "nodes at corners", node_mass * least, "kg");
}

bool lattice_has_poisson(const struct scene_body *body, struct moduli_problem *problem)
{
    const double poisson = body->elastic.poisson;
    return poisson <= LATTICE_POISSON_MAX ||
           problem_set(problem, "poisson",
                       "a lattice represents a Poisson's ratio from 0 to %g, not %g: give "
                       "'poisson: %g'",
                       LATTICE_POISSON_MAX, poisson, LATTICE_POISSON_MAX);
}

static bool set_lattice(const struct setting *it)
{
    enum { AXES, FACE_DIAGONALS };
    struct scene_body *body = it->body;
    const struct scene_lattice *lattice = &body->shape.lattice;
    if (!lattice_has_poisson(body, it->problem))
        return false;
    const double a = lattice->spacing;
    const double young = body->elastic.young;
    const bool cauchy = fabs(body->elastic.poisson - LATTICE_POISSON) <= POISSON_TOLERANCE;
    const double poisson = cauchy ? LATTICE_POISSON : body->elastic.poisson;
    const double stiffness = lattice_stiffness(young, poisson, a);
    const double node_mass = body->elastic.density * a * a * a; // inside
    const double cells = (double)(lattice->nodes_x - 1) * (double)(lattice->nodes_y - 1) *
                         (double)(lattice->nodes_z - 1);
    const double edge = boundary_share(2), corner = boundary_share(3);
    for (size_t kind = AXES; kind <= FACE_DIAGONALS; kind++)
        if (!set_kind(it, kind, stiffness, node_mass, edge))
            return false;
    body->elements.volume = lattice_volume(young, poisson);
    return set_mass(it, cells * node_mass, node_mass, corner);
}

// Whether the sheet stores energy in every strain.
static bool check_definite(const struct setting *it, const struct sheet_moduli *moduli)
{
    return moduli->c11 * moduli->c22 > moduli->c12 * moduli->c12 ||
           problem_set(it->problem, "coupling",
                       "the square of 'coupling' (%g N/m) must be below 'warp' times 'weft' (%g "
                       "and %g N/m): such a fabric would stretch by itself",
                       moduli->c12, moduli->c11, moduli->c22);
}

// Finds numbers of cells along u and v, at least as many as there are, whose springs can have these
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
static bool check_cells(const struct setting *it, const struct sheet_moduli *moduli,
                        const struct sheet_springs *springs, struct cell_sides cell)
{
    const struct scene_cloth *cloth = &it->body->shape.cloth;
    const double u = vec3_length(cloth->u), v = vec3_length(cloth->v);
    if (!(fabs(vec3_dot(cloth->u, cloth->v)) <= 1e-6 * u * v))
        return problem_set(it->problem, "v",
                           "'u' and 'v' of a cloth with '%s' must be at right angles",
                           it->of_fabric ? "fabric" : "elastic");
    const bool along_u = springs->u < 0;
    if (!along_u && !(springs->v < 0))
        return true;
    const struct sheet_springs square = sheet_springs(moduli, 1);
    if (square.u < 0 || square.v < 0)
        return problem_set(it->problem, "coupling",
                           "'coupling' (%g N/m) is above '%s' (%g N/m): springs along %s would "
                           "have a negative stiffness",
                           moduli->c12, square.u < 0 ? "warp" : "weft",
                           square.u < 0 ? moduli->c11 : moduli->c22, square.u < 0 ? "u" : "v");
    double cells_u, cells_v;
    find_cells(cloth, moduli, &cells_u, &cells_v);
    return problem_set(it->problem, "nodes",
                       "springs along %s would have a negative stiffness (%g N/m): the cells, %g "
                       "by %g m, are too far from squares; give 'nodes: [%.0f, %.0f]'",
                       along_u ? "u" : "v", along_u ? springs->u : springs->v, cell.u, cell.v,
                       cells_u + 1, cells_v + 1);
}

static bool set_cloth(const struct setting *it)
{
    enum { ALONG_U, DIAGONALS };
    struct scene_body *body = it->body;
    const struct scene_cloth *cloth = &body->shape.cloth;
    const struct sheet_moduli moduli =
        it->of_fabric ? sheet_of_fabric(&body->fabric) : sheet_of_solid(&body->elastic);
    const struct cell_sides cell = cloth_cell(cloth);
    const struct sheet_springs springs = sheet_springs(&moduli, cell.u / cell.v);
    if (!check_definite(it, &moduli) || !check_cells(it, &moduli, &springs, cell))
        return false;

    const double node_mass = moduli.areal_density * cell.u * cell.v; // inside
    const double cells = (double)(cloth->nodes_u - 1) * (double)(cloth->nodes_v - 1);
    const double edge = boundary_share(1), corner = boundary_share(2);
    if (!set_kind(it, ALONG_U, springs.u, node_mass, edge) ||
        !set_kind(it, CLOTH_WEFT, springs.v, node_mass, edge) ||
        !set_kind(it, DIAGONALS, springs.diagonal, node_mass, 1) ||
        !set_mass(it, cells * node_mass, node_mass, corner))
        return false;
    body->elements.bending_u = moduli.bending_u;
    body->elements.bending_v = moduli.bending_v;
    body->elements.twist = moduli.twist;
    body->elements.area = springs.area;
    return true;
}

static bool set_rope(const struct setting *it)
{
    struct scene_body *body = it->body;
    const struct scene_rope *rope = &body->shape.rope;
    const struct scene_elastic *solid = &body->elastic;
    const double spacing = rope_spacing(rope), area = circle_area(solid->diameter);
    const double node_mass = solid->density * area * spacing;
    body->elements.bending_u = solid->young * circle_second_moment(solid->diameter);
    return set_kind(it, 0, solid->young * area / spacing, node_mass, 1) &&
           set_mass(it, node_mass * (double)(rope->nodes - 1), node_mass, boundary_share(1));
}

static bool set_membrane(const struct setting *it)
{
    struct scene_body *body = it->body;
    const struct sheet_moduli sheet = sheet_of_solid(&body->elastic);
    body->elements.stretch = sheet.c11;
    body->elements.shear = sheet.c66;
    body->elements.bending_u = sheet.bending_u;
    body->elements.areal_density = sheet.areal_density;
    return fits_precision(it, "a stiffness", sheet.c66, "N/m") &&
           fits_precision(it, "an areal density", sheet.areal_density, "kg/m2");
}

// An element of negative stiffness still exerts its force where springs have yielded: the body
// stretches by itself.
static bool check_yielding(const struct setting *it)
{
    const struct scene_elements *elements = &it->body->elements;
    if (isinf(it->body->common.yield_at) || !(elements->area < 0 || elements->volume < 0))
        return true;
    return problem_set(it->problem, "yield_at",
                       "'yield_at' is not possible for a %s, whose %s has a negative stiffness "
                       "beside the springs: %s",
                       elements->area < 0 ? "cloth with C12 below C66"
                                          : "lattice with a Poisson's ratio below 1/4",
                       elements->area < 0 ? "area" : "volume",
                       elements->area < 0 ? "leave it out, or give 'springs' instead of a material"
                                          : "leave it out, or give 'poisson: 0.25' or more");
}

bool body_set_constants(struct scene_body *body, bool of_fabric, moduli_precision precision,
                        struct moduli_problem *problem)
{
    const struct setting setting = {body, of_fabric, precision, problem};
    const bool set = (body->type == BODY_CLOTH     ? set_cloth(&setting)
                      : body->type == BODY_ROPE    ? set_rope(&setting)
                      : body->type == BODY_LATTICE ? set_lattice(&setting)
                                                   : set_membrane(&setting)) &&
                     check_yielding(&setting);
    body->elements.damped = set && scene_elements_exist(&body->elements) && body->damping_ratio > 0;
    return set;
}
