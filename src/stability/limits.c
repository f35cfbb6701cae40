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
    case INTEGRATOR_XPBD:
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

int integrator_forms(enum integrator integrator, double position_ratio, bool damped,
                     struct step_form forms[INTEGRATOR_FORMS_MAX])
{
    // The classical method's region holds this half disc (least radius 2.61, at 122 degrees).
    const double radius = 2.6;
    double limit = integrator_limit(integrator);
    if (limit == 0 || isinf(limit))
        return 0;
    if (integrator != INTEGRATOR_RK4) {
        double ratio = integrator == INTEGRATOR_SYMPLECTIC_EULER ? position_ratio : 1;
        forms[0] = (struct step_form){ratio, 2, limit * limit};
        return 1;
    }
    forms[0] = (struct step_form){1, 0, damped ? radius * radius : limit * limit};
    forms[1] = (struct step_form){0, 1, radius};
    return damped ? 2 : 1;
}

double step_of_form(const struct step_form *form, double square, double damping)
{
    // The root of s K h^2 + d C h = limit, without cancellation.
    double linear = form->damping * damping;
    double below = linear + sqrt(linear * linear + 4 * form->stiffness * square * form->limit);
    return below > 0 ? 2 * form->limit / below : INFINITY;
}
