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
