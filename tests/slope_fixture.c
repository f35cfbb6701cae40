// A node on a slope (slope_fixture.h).
#include "slope_fixture.h"

#include <math.h>

taut_solver *slope_solver(struct slope it)
{
    const double across = 1 / sqrt(1 + it.tangent * it.tangent), along = it.tangent * across;
    const double depth = MASS * GRAVITY * across / STIFFNESS;
    const double absorption = sqrt(STIFFNESS * MASS);
    return solver_of("precision: %s\n"
                     "simulation: {integrator: %s, dt: " NUM ", steps: 1}\n"
                     "environment: {gravity: [0, " NUM ", 0]}\n"
                     "bodies:\n"
                     "  - {name: b, type: network, nodes: [[" NUM ", " NUM ", 0]], node_mass: " NUM
                     ",\n     springs: [], velocities: [[" NUM ", " NUM ", 0]]}\n"
                     "colliders:\n"
                     "  - {type: plane, normal: [" NUM ", " NUM ", 0], stiffness: " NUM
                     ", absorption: " NUM ",\n     friction_coefficient: %s}\n",
                     it.precision ? it.precision : "double", it.integrator, it.dt, -GRAVITY,
                     -depth * along, -depth * across, MASS, it.speed * across, -it.speed * along,
                     along, across, STIFFNESS, absorption, it.coefficient);
}

double distance_between(vec3 a, vec3 b)
{
    return vec3_length(vec3_subtract(a, b));
}

double measured_acceleration(struct slope slope, double duration)
{
    taut_solver *solver = slope_solver(slope);
    const uint64_t part = (uint64_t)round(duration / 2 / slope.dt);
    vec3 at[3];
    for (int i = 0; i < 3; i++) {
        advance(solver, part);
        at[i] = position_of(solver, 0);
    }
    const double time = (double)part * slope.dt;
    taut_solver_destroy(solver);
    return (distance_between(at[2], at[1]) - distance_between(at[1], at[0])) / (time * time);
}
