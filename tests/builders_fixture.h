// Scenes made in code for the tests of the builders, so that these need no reader, and checks of
// every body that is built.
#ifndef TAUT_TESTS_BUILDERS_FIXTURE_H
#define TAUT_TESTS_BUILDERS_FIXTURE_H

#include "test.h"

#include <math.h>
#include <string.h>

#include "scene/build/build.h"

#define PI 3.14159265358979323846

enum { FIXTURE_BODIES = 4 };

struct fixture {
    taut_scene scene;
    struct scene_body given[FIXTURE_BODIES];
    struct bodies built;
    struct diagnostics diagnostics;
    taut_error error;
};

// Positions in the scene file, as the fixture sets them.
extern const mark body_mark, pressure_mark, selector_mark;

// An empty scene called "test.yaml".
void fixture_begin(struct fixture *fixture);

// Adds a body of 1 kg, without springs, pins or anything else, and returns it to be filled.
struct scene_body *fixture_add(struct fixture *fixture, enum body_type type, const char *name);

// A rope "rope" from (0, 2, 0) to (4, 2, 0); a cloth "flag" 1.5 wide and 1 high that hangs from
// there; a lattice "jelly" of cells of 0.25 at (1, 2, 3). Only the lattice has springs, of all
// kinds.
struct scene_body *fixture_rope(struct fixture *fixture, uint64_t nodes);
struct scene_body *fixture_cloth(struct fixture *fixture, uint64_t nu, uint64_t nv);
struct scene_body *fixture_lattice(struct fixture *fixture, uint64_t nx, uint64_t ny, uint64_t nz);

// A linear material of that stiffness; a kind of springs with such a material.
struct material fixture_material(double stiffness);
void fixture_kind(struct scene_body *given, size_t kind, double stiffness);

struct scene_pressure fixture_pressure(void);
struct selector fixture_node(uint64_t node);
struct selector fixture_group(enum selector_type type);

// Builds the scene and returns the status.
taut_status fixture_try(struct fixture *fixture);

// Builds the scene and returns its first body; the test fails if there is any error.
const struct body *fixture_build(struct fixture *fixture);

// Builds the scene; the test fails unless there is exactly this error, at this position of `file`
// (NULL: the scene file).
void fixture_refuse(struct fixture *fixture, const char *file, mark at, const char *text);

// Frees the bodies and the diagnostics; the scene stays and can be changed and built again.
void fixture_reset(struct fixture *fixture);

// Asserts the text and position of the only warning.
void fixture_assert_warning(const struct fixture *fixture, mark at, const char *text);

// Writes a file for the test and returns its path, which stays valid until the next call.
const char *fixture_file(const char *name, const char *text);

// ---- Checks of every body

// Springs have valid nodes, are not repeated, join different nodes, and are sorted by kind.
void assert_springs_sound(const struct body *body);

// Every edge is in two faces, once in each direction.
void assert_surface_closed(const struct body *body);

uint64_t kind_count(const struct body *body, size_t kind);

// The length of a spring as built.
double spring_length(const struct body *body, uint64_t spring);

void assert_position(const struct body *body, uint64_t node, double x, double y, double z);
void assert_velocity(const struct body *body, uint64_t node, double x, double y, double z);

// |a - b| <= tolerance, with the numbers in the message.
void assert_near(double a, double b, double tolerance);

#endif
