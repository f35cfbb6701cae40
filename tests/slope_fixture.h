// For tests of Coulomb friction on colliders: a node on a slope, whose motion has a closed form.
#ifndef TAUT_TESTS_SLOPE_FIXTURE_H
#define TAUT_TESTS_SLOPE_FIXTURE_H

#include "physics.h"

static const double GRAVITY = 9.81, STIFFNESS = 1e4, MASS = 0.01; // m/s2, N/m, kg

// A node of MASS on a plane that falls by `tangent` along +x, pressed in as far as its weight does.
struct slope {
    const char *integrator, *coefficient, *precision;
    double dt, tangent, speed;
};

taut_solver *slope_solver(struct slope it);

double distance_between(vec3 a, vec3 b); // m

// a = g (sin - mu cos), from three positions in `duration` (s), when the spring of the contact has
// been stretched, m/s2.
double measured_acceleration(struct slope slope, double duration);

#endif
