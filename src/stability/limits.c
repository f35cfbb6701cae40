// Stability limits of the integrators for one mode, one root, or a range of modes. No system is
// involved; the modes of a system are found in computed_steps.c.
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

double integrator_roundings(enum integrator integrator, int substeps)
{
    switch (integrator) {
    case INTEGRATOR_XPBD:
        return substeps;
    case INTEGRATOR_IMPLICIT_EULER:
    case INTEGRATOR_BDF2:
        return 2;
    case INTEGRATOR_IMPLICIT_MIDPOINT:
        return 5;
    default:
        return 1;
    }
}

double integrator_critical_dt(enum integrator integrator, double omega, double position_ratio)
{
    double limit = integrator_limit(integrator);
    if (integrator == INTEGRATOR_SYMPLECTIC_EULER)
        limit /= sqrt(position_ratio);
    return limit / omega;
}

static struct step_form symplectic_form(enum integrator integrator, const struct stepping *stepping)
{
    double keep = integrator == INTEGRATOR_VELOCITY_VERLET ? 1 : stepping->keep_velocity;
    double ratio = integrator == INTEGRATOR_SYMPLECTIC_EULER ? stepping->position_ratio : 1;
    return (struct step_form){ratio, 2 * keep, 2 + 2 * keep, false};
}

int integrator_forms(enum integrator integrator, const struct stepping *stepping, bool damped,
                     struct step_form forms[INTEGRATOR_FORMS_MAX])
{
    // rk4's region contains this half disc (smallest radius 2.61, at 122 degrees).
    const double radius = 2.6;
    double limit = integrator_limit(integrator);
    if (limit == 0 || isinf(limit))
        return 0;
    if (integrator != INTEGRATOR_RK4) {
        forms[0] = symplectic_form(integrator, stepping);
        return 1;
    }
    forms[0] = (struct step_form){1, 0, damped ? radius * radius : limit * limit, false};
    forms[1] = (struct step_form){1, radius, radius * radius, true};
    return 2;
}

double step_of_form(const struct step_form *form, double square, double damping)
{
    // The smallest root of s K h^2 + d C h = limit, without cancellation; with K < 0 there may be
    // none.
    double linear = form->damping * damping;
    double under = linear * linear + 4 * form->stiffness * square * form->limit;
    double below = linear + sqrt(fmax(0, under));
    return below > 0 && under >= 0 ? 2 * form->limit / below : INFINITY;
}

// ---- Runge-Kutta methods, by the eigenvalue lambda of x'' + c x' + k x = 0

// The limit of h lambda on the negative real axis: 2, and the root of 1 - |R(-r)| = 0 for rk4.
static double real_limit(enum integrator integrator)
{
    return integrator == INTEGRATOR_RK4 ? 2.785293563405282 : 2;
}

// |R(z)|^2 - 1 of rk4
static double excess_of_rk4(double re, double im)
{
    double x = 1, y = 0; // Horner: 1 + z (1 + z/2 (1 + z/3 (1 + z/4)))
    for (int i = 4; i >= 1; i--) {
        double next = 1 + (re * x - im * y) / i;
        y = (re * y + im * x) / i;
        x = next;
    }
    return x * x + y * y - 1;
}

// r^3 - 4 z r^2 + 8 z^2 r - 8 z, which has one root: |R|^2 = 1 for the midpoint rule at |h lambda|
// = r and damping ratio z.
static double excess_of_midpoint(double ratio, double r)
{
    return ((r - 4 * ratio) * r + 8 * ratio * ratio) * r - 8 * ratio;
}

// The limit of |h lambda| for complex lambda, for the damping ratio -re lambda / |lambda| in [0,
// 1): every ray into the left half plane leaves the region once.
static double complex_limit(enum integrator integrator, double ratio)
{
    if (integrator == INTEGRATOR_EXPLICIT_EULER)
        return 2 * ratio;
    bool rk4 = integrator == INTEGRATOR_RK4;
    double low = rk4 ? 2.4 : 0, high = rk4 ? 3.2 : 2.5, slope = sqrt(1 - ratio * ratio);
    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        double excess = rk4 ? excess_of_rk4(-ratio * middle, slope * middle)
                            : excess_of_midpoint(ratio, middle);
        if (excess > 0)
            high = middle;
        else
            low = middle;
    }
    return low;
}

double integrator_mode_step(enum integrator integrator, const struct stepping *stepping,
                            double square, double damping)
{
    if (isinf(integrator_limit(integrator)))
        return INFINITY;
    bool runge_kutta = integrator == INTEGRATOR_RK4 || integrator == INTEGRATOR_MIDPOINT ||
                       integrator == INTEGRATOR_EXPLICIT_EULER;
    if (!runge_kutta) {
        struct step_form form = symplectic_form(integrator, stepping);
        return step_of_form(&form, square, damping);
    }
    double discriminant = damping * damping / 4 - square;
    if (discriminant >= 0) { // both roots are real; this is the faster one
        double fastest = damping / 2 + sqrt(discriminant);
        return fastest > 0 ? real_limit(integrator) / fastest : INFINITY;
    }
    double omega = sqrt(square);
    return complex_limit(integrator, fmin(1, damping / (2 * omega))) / omega;
}

double integrator_root_step(enum integrator integrator, double re, double im)
{
    double size = hypot(re, im);
    if (im == 0 || size == 0)
        return re < 0 ? real_limit(integrator) / -re : INFINITY;
    return complex_limit(integrator, fmax(0, fmin(1, -re / size))) / size;
}

typedef double (*step_function)(enum integrator integrator, const struct stepping *stepping,
                                double square, double damping);

static double least_on_segment(enum integrator integrator, const struct stepping *stepping,
                               const double from[2], const double to[2], step_function step)
{
    enum { PARTS = 64 };
    double least = INFINITY;
    for (int i = 0; i <= PARTS; i++) {
        double part = (double)i / PARTS;
        least = fmin(least, step(integrator, stepping, from[0] + part * (to[0] - from[0]),
                                 from[1] + part * (to[1] - from[1])));
    }
    return least;
}

double integrator_segment_step(enum integrator integrator, const struct stepping *stepping,
                               const double from[2], const double to[2])
{
    return least_on_segment(integrator, stepping, from, to, integrator_mode_step);
}

// Near critical damping both roots nearly coincide, and amplitudes grow with the number of steps
// before they decay: at 0.999 of the limit 400 times, at 0.95 of it 7 times.
static double guarded_step(enum integrator integrator, const struct stepping *stepping,
                           double square, double damping)
{
    const double near = 0.1, part = 0.95;
    double step = integrator_mode_step(integrator, stepping, square, damping);
    bool critical = square > 0 && fabs(damping / (2 * sqrt(square)) - 1) < near;
    return critical ? part * step : step;
}

// ---- Ranges of modes: a convex polygon in the plane of square and damping

enum { CORNERS_MAX = 16 };

struct polygon {
    int count;
    double corners[CORNERS_MAX][2];
};

// Cuts off the part with a square + b damping > limit (Sutherland and Hodgman 1974).
static void cut_polygon(struct polygon *polygon, double a, double b, double limit)
{
    struct polygon cut = {.count = 0};
    for (int i = 0; i < polygon->count; i++) {
        const double *p = polygon->corners[i];
        const double *q = polygon->corners[(i + 1) % polygon->count];
        double over_p = a * p[0] + b * p[1] - limit, over_q = a * q[0] + b * q[1] - limit;
        if (over_p <= 0) {
            cut.corners[cut.count][0] = p[0];
            cut.corners[cut.count++][1] = p[1];
        }
        if ((over_p < 0 && over_q > 0) || (over_p > 0 && over_q < 0)) {
            double part = over_p / (over_p - over_q);
            cut.corners[cut.count][0] = p[0] + part * (q[0] - p[0]);
            cut.corners[cut.count++][1] = p[1] + part * (q[1] - p[1]);
        }
    }
    *polygon = cut;
}

double integrator_range_step(enum integrator integrator, const struct stepping *stepping,
                             const struct mode_range *range)
{
    const double a = range->square_max, b = range->damping_max, h = range->form_step;
    const double lack = -range->square_negative;
    struct polygon polygon = {4, {{lack, 0}, {a, 0}, {a, b}, {lack, b}}};
    const double more = 1 + 1e-12, less = 1 - 1e-12; // protects lines from round-off
    if (isfinite(h))
        cut_polygon(&polygon, h * h, 2 * h, 4 * more);
    cut_polygon(&polygon, less * range->lower_ratio, -1, -less * range->lower);
    if (isfinite(range->upper_ratio))
        cut_polygon(&polygon, -more * range->upper_ratio, 1, more * range->upper);
    // The corner without damping has no stiffness either; one ulp of it would count as a mode that
    // explicit Euler cannot integrate.
    for (int i = 0; i < polygon.count; i++)
        if (fabs(polygon.corners[i][0]) <= (more - 1) * a)
            polygon.corners[i][0] = 0;
    double least = polygon.count > 0 ? INFINITY : 0;
    for (int i = 0; i < polygon.count; i++)
        least =
            fmin(least, least_on_segment(integrator, stepping, polygon.corners[i],
                                         polygon.corners[(i + 1) % polygon.count], guarded_step));
    return least;
}

static void list_form(struct form_list *list, struct step_form form, bool damped, int integrator)
{
    int f = 0;
    while (f < list->count &&
           (list->forms[f].stiffness != form.stiffness || list->forms[f].damping != form.damping ||
            list->forms[f].limit != form.limit || list->forms[f].negative != form.negative))
        f++;
    if (f == list->count) {
        list->forms[list->count++] = form;
        list->users[false][f] = list->users[true][f] = 0;
    }
    list->users[damped][f] |= (uint32_t)1 << integrator;
}

void form_list_add(struct form_list *list, const struct stepping *stepping, bool damped)
{
    for (int i = 0; i < INTEGRATOR_COUNT; i++) {
        struct step_form forms[INTEGRATOR_FORMS_MAX];
        int count = integrator_forms((enum integrator)i, stepping, damped, forms);
        for (int f = 0; f < count; f++)
            list_form(list, forms[f], damped, i);
    }
}

void form_list_steps(const struct form_list *list, bool damped, const double *steps,
                     double *by_integrator)
{
    for (int i = 0; i < INTEGRATOR_COUNT; i++) {
        by_integrator[i] = integrator_limit((enum integrator)i) > 0 ? INFINITY : 0;
        for (int f = 0; f < list->count; f++)
            if (list->users[damped][f] >> i & 1)
                by_integrator[i] = fmin(by_integrator[i], steps[f]);
    }
}
