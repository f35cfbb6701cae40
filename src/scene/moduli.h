// Converts the moduli of materials to the constants of springs and elements, and back: what a
// network of springs represents. docs/materials.md has the derivations.
#ifndef TAUT_SCENE_MODULI_H
#define TAUT_SCENE_MODULI_H

#include "scene/scene.h"

// The mass of one cell of a body with `elastic` or `fabric`, kg, which is that of a node inside: a
// cell of a lattice or cloth, or a rope between two nodes. For a membrane the mass per area, kg/m2.
double body_cell_mass(const struct scene_body *body);

// Why the network of a body cannot represent its moduli, as a sentence without a full stop, and the
// key of the body or of its material that it is about; "": the material as a whole.
struct moduli_problem {
    const char *key;
    char reason[320];
};

// Which numbers the run can hold: NULL if that is not known.
typedef const enum precision *moduli_precision;

// Sets the mass of a body and the constants of its springs inside and of its elements, from
// `fabric` or else `elastic`, its shape and its damping. False, with the problem, if these cannot
// be represented; the body is then partly set.
bool body_set_constants(struct scene_body *body, bool of_fabric, moduli_precision precision,
                        struct moduli_problem *problem);

// Whether a lattice represents the Poisson's ratio of its `elastic`.
bool lattice_has_poisson(const struct scene_body *body, struct moduli_problem *problem);

// ---- Lattices of cubes: springs along the edges and the face diagonals of their cells

// Poisson's ratio of the springs alone, the least and the greatest with an element for the volume.
#define LATTICE_POISSON     0.25
#define LATTICE_POISSON_MAX 0.45

// The constant of edges and face diagonals, N/m, and that of the volume of a cell, Pa.
double lattice_stiffness(double young, double poisson, double spacing);
double lattice_volume(double young, double poisson);

// The moduli that a lattice represents: Young's modulus, Pa, Poisson's ratio and the shear modulus,
// Pa.
struct solid_moduli {
    double young, poisson, shear;
};

struct solid_moduli lattice_moduli(double stiffness, double volume, double spacing);

// ---- Sheets: springs along u, along v and along the diagonals of rectangular cells

// Resultants per width of a sheet over strains, N/m (struct scene_fabric), bending stiffnesses, N
// m, and mass per area, kg/m2.
struct sheet_moduli {
    double c11, c22, c12, c66;
    double bending_u, bending_v, twist;
    double areal_density;
};

// The constants of springs, and gamma of the area of a cell, N/m.
struct sheet_springs {
    double u, v, diagonal, area;
};

struct sheet_moduli sheet_of_solid(const struct scene_elastic *solid);
struct sheet_moduli sheet_of_fabric(const struct scene_fabric *fabric);

// That of a cloth with `elastic` or `fabric`.
struct sheet_moduli sheet_of_body(const struct scene_body *body);

// Sides of the cells of a cloth along u and v, m.
struct cell_sides {
    double u, v;
};

struct cell_sides cloth_cell(const struct scene_cloth *cloth);

// `ratio`: side of a cell along u over that along v. Constants may be negative.
struct sheet_springs sheet_springs(const struct sheet_moduli *moduli, double ratio);

// The inverse: C11, C22, C12 and C66; the other members are 0.
struct sheet_moduli sheet_of_springs(const struct sheet_springs *springs, double ratio);

// The moduli of strips without lateral force: force per width over strain, N/m, of strips along u,
// along v and along the diagonal of squares; Poisson's ratio of the strip along u. NAN if the sheet
// has no compliance.
struct strip_moduli {
    double along_u, along_v, diagonal, poisson;
};

struct strip_moduli sheet_strips(const struct sheet_moduli *moduli);

// ---- Ropes

// The distance between nodes, m.
double rope_spacing(const struct scene_rope *rope);

// The area, m2, and the second moment of area, m4, of a circular cross-section.
double circle_area(double diameter);
double circle_second_moment(double diameter);

#endif
