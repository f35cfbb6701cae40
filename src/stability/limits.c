#include "stability/limits.h"

#include <math.h>

double integrator_limit(enum integrator integrator)
{
    switch (integrator) {
    case INTEGRATOR_SYMPLECTIC_EULER:
    case INTEGRATOR_VERLET:
    case INTEGRATOR_VELOCITY_VERLET:
        return 2;
    case INTEGRATOR_RK4:
        return 2 * sqrt(2);
    case INTEGRATOR_IMPLICIT_EULER:
    case INTEGRATOR_IMPLICIT_MIDPOINT:
    case INTEGRATOR_BDF2:
        return INFINITY;
    case INTEGRATOR_EXPLICIT_EULER:
    case INTEGRATOR_MIDPOINT:
    case INTEGRATOR_COUNT:
        break;
    }
    return 0;
}

double integrator_critical_dt(enum integrator integrator, double omega, double position_ratio)
{
    double limit = integrator_limit(integrator);
    if (integrator == INTEGRATOR_SYMPLECTIC_EULER)
        limit /= sqrt(position_ratio);
    return limit / omega;
}

double integrator_damped_dt(enum integrator integrator, const struct critical_step *critical,
                            double position_ratio)
{
    double c = critical->damping, square = critical->omega * critical->omega;
    if (c == 0 || integrator_limit(integrator) == 0 || isinf(integrator_limit(integrator)))
        return integrator_critical_dt(integrator, critical->omega, position_ratio);
    if (integrator == INTEGRATOR_RK4) {
        double radius =
            2.6; // the classical method's region holds this half disc (least 2.61, at 122 degrees)
        return 2 * radius / (c + sqrt(c * c + 4 * square));
    }
    double r = integrator == INTEGRATOR_SYMPLECTIC_EULER ? position_ratio : 1;
    return 4 / (sqrt(c * c + 4 * r * square) +
                c); // the root of r w^2 h^2 + 2 c h = 4, without cancellation
}
