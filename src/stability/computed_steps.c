// Computed values of the largest stable step: from the ends of the spectra of M^-1 K and M^-1 C by
// Lanczos (lanczos.h) for the integrators whose limit is one of a form, and for the Runge-Kutta
// methods from all eigenvalues of few nodes, from the fastest of the quadratic problem
// (quadratic.h), or from an enclosure of what quotients there may be.
#include "stability/computed_steps.h"

#include <string.h>

#include "integrate/integrate.h"

// Ends of the spectra of M^-1 K and M^-1 C.
struct spectra {
    struct lanczos_mode stiffest, softest, most_damped; // softest: of -K
    double square, negative_part, damping;              // their values; negative_part 0: K >= 0
};

// The step at which the largest eigenvalue of s h^2 K + d h C reaches the limit: the least step of
// the form over all modes. Every mode found allows a step, and the most restrictive one is
// recomputed at that step, so that the steps decrease to the least one, starting from a guess. K is
// not negative.
static double computed_step(struct system *system, const struct step_form *form, double guess,
                            const struct worker *worker)
{
    enum { TRIES = 8 };
    const double near = 1e-3;
    double h = guess, least = INFINITY;
    for (int i = 0; i < TRIES && isfinite(h) && h > 0; i++) {
        struct lanczos_mode mode = REAL_NAME(lanczos_mode)(
            system->meter->lanczos, form->stiffness * h * h, form->damping * h, 0, worker);
        double next = step_of_form(form, fmax(0, mode.square), fmax(0, mode.damping));
        bool same = fabs(next - h) <= near * h; // and the error is of the order of its square
        least = fmin(least, next);
        h = next;
        if (same)
            break;
    }
    return least;
}

// The same of many nodes, where vectors take as long again, from values alone: at the step that the
// largest stiffness and the largest damping allow together, where the eigenvalue is the limit if
// one mode has both, and otherwise at longer ones that are no longer than the limit. The eigenvalue
// v(h) grows at least as h and at most as h^2, and log v is convex in log h, as that of each mode:
// both enclose the limit.
static double computed_step_of_many(struct system *system, const struct step_form *form,
                                    const struct spectra *ends, const struct worker *worker)
{
    enum { TRIES = 8 };
    const double near = 1e-3;
    double h = step_of_form(form, ends->square, ends->damping), before = 0, missing_before = 0;
    for (int i = 0; i < TRIES && isfinite(h) && h > 0; i++) {
        const double value = REAL_NAME(lanczos_largest)(
            system->meter->lanczos, form->stiffness * h * h, form->damping * h, worker);
        const double missing = log(form->limit / value); // of log v
        if (!(value > 0) || !(missing > 0))
            return h;
        const double slope = i > 0 ? (missing_before - missing) / log(h / before) : 1;
        before = h;
        missing_before = missing;
        h *= exp(missing / 2);
        if (missing / fmax(1, slope) - missing / 2 <= near)
            return h;
    }
    return h;
}

// The set of (x'Kx / x'Mx, x'Cx / x'Mx) over all complex x is convex (Toeplitz and Hausdorff), and
// contains the mode of every eigenvector. It is enclosed from two sides: eigenvectors of s K + d C
// are points of its boundary, and their eigenvalues s square + d damping are tangents. If K and C
// have common eigenvectors, its corners are modes, and the smallest step in it is exact; otherwise
// no mode has a smaller one. In units of the largest square and of the largest damping.
struct tangent_line {
    double normal[2], limit;
    double point[2], error[2]; // error: the maximum distance of an eigenvalue of K and C
};

enum { LINES_MAX = 24 };

struct enclosure {
    double scale[2]; // the largest square, of either sign, and damping
    int count;
    struct tangent_line lines[LINES_MAX]; // by the angle of the normal, counter-clockwise
};

// The tangent with a given normal. If it misses a known point only by round-off, it is moved to
// that point.
static struct tangent_line find_tangent(struct system *system, const struct enclosure *set,
                                        double square, double damping,
                                        const struct tangent_line *known,
                                        const struct worker *worker)
{
    const double near = sizeof(real) == sizeof(float) ? 1e-5 : 3e-6, fine = 0.1;
    double size = hypot(square, damping), s = square / size, d = damping / size;
    struct lanczos_mode mode =
        REAL_NAME(lanczos_mode)(system->meter->lanczos, s / set->scale[0], d / set->scale[1],
                                fine * (fabs(s) + fabs(d)), worker);
    struct tangent_line line = {
        .normal = {s, d},
        .limit = mode.value,
        .point = {mode.square / set->scale[0], mode.damping / set->scale[1]},
        .error = {mode.square_error / set->scale[0], mode.damping_error / set->scale[1]}};
    line.limit = fmax(line.limit, s * line.point[0] + d * line.point[1]);
    double through = s * known->point[0] + d * known->point[1];
    if (line.limit <= through + near) {
        line.limit = through;
        memcpy(line.point, known->point, sizeof line.point);
        memcpy(line.error, known->error, sizeof line.error);
    }
    return line;
}

// The intersection of two neighbouring tangents.
static void find_corner(const struct enclosure *set, int i, double corner[2])
{
    const struct tangent_line *p = &set->lines[i], *q = &set->lines[i + 1];
    double determinant = p->normal[0] * q->normal[1] - p->normal[1] * q->normal[0];
    corner[0] = (p->limit * q->normal[1] - q->limit * p->normal[1]) / determinant;
    corner[1] = (p->normal[0] * q->limit - q->normal[0] * p->limit) / determinant;
}

// Squares above this fraction of the largest one are more than round-off.
static double stationary_square(const struct enclosure *set)
{
    return (sizeof(real) == sizeof(float) ? 2e-5 : 1e-6) * set->scale[0];
}

// The step allowed by modes that count as stationary. Some of them may oscillate slowly, and only
// the ratio of their damping to stiffness is known.
static double step_of_stationary(const struct system *system, const struct enclosure *set,
                                 enum integrator integrator, const struct stepping *stepping)
{
    struct mode_range range = system->meter->range.modes;
    range.square_max = stationary_square(set);
    range.square_negative = 0; // growth and decay are equally slow
    range.lower_ratio = system->meter->range.lower_ratio;
    range.damping_max = set->scale[1];
    range.form_step = INFINITY;
    return integrator_range_step(integrator, stepping, &range);
}

// Modes so slow that round-off made them count as stationary.
static void put_mode(const struct enclosure *set, const double point[2], double mode[2])
{
    const double still = stationary_square(set) / set->scale[0];
    mode[0] = fabs(point[0]) <= still ? 0 : point[0] * set->scale[0];
    mode[1] = point[1] <= still && point[0] <= still ? 0 : fmax(0, point[1] * set->scale[1]);
}

// The error of the tangents at a corner: a fast mode whose damping is a small fraction of that of
// others may be damped even less. For slow modes this does not reduce the step.
static void subtract_error(const struct enclosure *set, double mode[2])
{
    const double error = 2e-4, slow = 1e-3;
    if (mode[0] > slow * set->scale[0])
        mode[1] = fmax(0, mode[1] - error * set->scale[1]);
}

// The largest step of a mode within the errors of the point. The point itself may be a mixture of
// modes on the same tangent.
static double step_near(const struct enclosure *set, const struct tangent_line *line,
                        enum integrator integrator, const struct stepping *stepping)
{
    double most = 0;
    for (int corner = 0; corner < 4; corner++) {
        double mode[2];
        const double point[2] = {line->point[0] + (corner & 1 ? line->error[0] : -line->error[0]),
                                 line->point[1] + (corner & 2 ? line->error[1] : -line->error[1])};
        put_mode(set, point, mode);
        most = fmax(most, integrator_mode_step(integrator, stepping, mode[0], mode[1]));
    }
    return most;
}

// The smallest step on the polygon of tangents, with the nearest corner, and the smallest step of
// the known modes.
struct least_step {
    double outside, inside;
    int corner;
};

static struct least_step find_least(const struct enclosure *set, enum integrator integrator,
                                    const struct stepping *stepping)
{
    struct least_step least = {INFINITY, INFINITY, -1};
    double before[2] = {0}, at = INFINITY;
    for (int i = 0; i + 1 < set->count; i++) {
        double corner[2], mode[2];
        find_corner(set, i, corner);
        put_mode(set, corner, mode);
        subtract_error(set, mode);
        double own = integrator_mode_step(integrator, stepping, mode[0], mode[1]);
        if (own < at) {
            at = own;
            least.corner = i;
        }
        if (i > 0)
            own = fmin(own, integrator_segment_step(integrator, stepping, before, mode));
        least.outside = fmin(least.outside, own);
        before[0] = mode[0];
        before[1] = mode[1];
    }
    for (int i = 0; i < set->count; i++)
        least.inside = fmin(least.inside, step_near(set, &set->lines[i], integrator, stepping));
    return least;
}

// Adds a tangent between two neighbours, parallel to the chord of their points.
static bool refine(struct system *system, struct enclosure *set, int corner,
                   const struct worker *worker)
{
    const struct tangent_line *p = &set->lines[corner], *q = &set->lines[corner + 1];
    double along[2] = {q->point[0] - p->point[0], q->point[1] - p->point[1]};
    double s = along[1], d = -along[0];
    bool same_point = hypot(s, d) < 1e-9;
    if (same_point) {
        s = p->normal[0] + q->normal[0];
        d = p->normal[1] + q->normal[1];
    }
    // If the chord lies on one of the two tangents, no point of the set is beyond it.
    double length = hypot(s, d);
    if (s * p->normal[0] + d * p->normal[1] > (1 - 1e-10) * length ||
        s * q->normal[0] + d * q->normal[1] > (1 - 1e-10) * length)
        return false;
    struct tangent_line line = find_tangent(system, set, s, d, p, worker);
    for (int i = set->count; i > corner + 1; i--)
        set->lines[i] = set->lines[i - 1];
    set->lines[corner + 1] = line;
    set->count++;
    return true;
}

static bool is_runge_kutta(enum integrator integrator)
{
    return integrator == INTEGRATOR_EXPLICIT_EULER || integrator == INTEGRATOR_MIDPOINT ||
           integrator == INTEGRATOR_RK4;
}

static struct tangent_line line_through(const struct enclosure *set, double s, double d,
                                        double limit, const struct lanczos_mode *mode)
{
    return (struct tangent_line){
        .normal = {s, d},
        .limit = limit,
        .point = {mode->square / set->scale[0], mode->damping / set->scale[1]},
        .error = {mode->square_error / set->scale[0], mode->damping_error / set->scale[1]}};
}

// C is positive semidefinite and includes drag. K is indefinite only where springs are compressed
// or gas and spheres exert forces.
static struct enclosure enclose(const struct mode_range *range, const struct spectra *ends)
{
    const struct lanczos_mode drag_alone = {.damping = range->lower}, still = {.value = 0};
    struct enclosure set = {.scale = {fmax(ends->square, ends->negative_part), ends->damping},
                            .count = 4};
    const double a = set.scale[0], b = set.scale[1];
    set.lines[0] = line_through(&set, 0, -1, -range->lower / b, &drag_alone);
    set.lines[1] = line_through(&set, 1, 0, ends->square / a, &ends->stiffest);
    set.lines[2] = line_through(&set, 0, 1, 1, &ends->most_damped);
    set.lines[3] = line_through(&set, -1, 0, ends->negative_part / a,
                                ends->negative_part > 0 ? &ends->softest : &still);
    return set;
}

// For many nodes only the largest eigenvalues and the ratio of damping to stiffness are used.
static double step_of_many(struct system *system, const struct critical_step *result,
                           enum integrator integrator, const struct spectra *ends)
{
    const struct stepping stepping = stepping_of(system);
    struct mode_range range = system->meter->range.modes;
    range.square_max = ends->square;
    range.square_negative = ends->negative_part;
    range.damping_max = ends->damping;
    range.form_step = result->computed_dt[INTEGRATOR_VELOCITY_VERLET] > 0
                          ? result->computed_dt[INTEGRATOR_VELOCITY_VERLET]
                          : INFINITY;
    return integrator_range_step(integrator, &stepping, &range);
}

// The Runge-Kutta methods whose computed values are wanted, a bit for each.
static unsigned wanted_runge_kutta(const struct system *system, enum critical_wanted wanted)
{
    unsigned bits = 0;
    for (int i = 0; i < INTEGRATOR_COUNT; i++) {
        bool own = i == (int)system->settings.integrator;
        if (is_runge_kutta((enum integrator)i) && (wanted == CRITICAL_WANT_ALL || own))
            bits |= 1u << i;
    }
    return bits;
}

// The steps of the integrators in `wanted`, from the enclosure. A step is the limit if K and C have
// common eigenvectors, or if some eigenvalue allows no more.
static void compute_by_quotients(struct system *system, unsigned wanted, bool common,
                                 const struct quadratic_steps *steps, const struct spectra *ends,
                                 struct critical_step *result, struct enclosure *set,
                                 const struct worker *worker)
{
    const double enough = 2e-3, certain = 0.99;
    const double none = sizeof(real) == sizeof(float) ? 1e-4 : 1e-6; // round-off of the enclosure
    const struct stepping stepping = stepping_of(system);
    const double fastest = fmax(sqrt(set->scale[0]), set->scale[1] / 2);
    bool many = system->state->nodes > LANCZOS_MANY_NODES;
    for (int i = 0; i < INTEGRATOR_COUNT; i++) {
        enum integrator integrator = (enum integrator)i;
        if (!(wanted >> i & 1))
            continue;
        struct least_step least = find_least(set, integrator, &stepping);
        while (!many && least.outside < (1 - enough) * least.inside && set->count < LINES_MAX &&
               refine(system, set, least.corner, worker))
            least = find_least(set, integrator, &stepping);
        double step =
            many ? step_of_many(system, result, integrator, ends)
                 : fmin(least.outside, step_of_stationary(system, set, integrator, &stepping));
        const double guaranteed = result->dt[i];
        bool none_at_all = common && !(guaranteed > 0) && least.inside * fastest < none;
        if (none_at_all || step * fastest < none)
            step = 0;
        step = fmax(step, guaranteed);
        result->computed_dt[i] = step;
        double seen = steps->stays[i] ? steps->step[i] : 0; // less than `step` if not converged
        bool met = seen > 0 && step >= certain * seen && seen >= certain * step;
        result->exact[i] =
            none_at_all || met || (common && !many && step >= certain * least.inside);
    }
}

// Without damping every oscillation grows with explicit Euler and midpoint. Modes that do not
// oscillate grow and decay at the same rate, and the decaying root limits all three methods.
static void compute_undamped(const struct system *system, const struct spectra *ends,
                             unsigned wanted, struct critical_step *result)
{
    const struct stepping stepping = stepping_of(system);
    for (int i = 0; i < INTEGRATOR_COUNT; i++) {
        enum integrator integrator = (enum integrator)i;
        if (!(wanted >> i & 1))
            continue;
        double oscillating = ends->square > 0
                                 ? integrator_mode_step(integrator, &stepping, ends->square, 0)
                                 : INFINITY;
        double decaying = integrator_mode_step(integrator, &stepping, -ends->negative_part, 0);
        result->computed_dt[i] = fmin(oscillating, decaying);
        result->exact[i] = true;
    }
}

// Computes the steps for few free nodes from all eigenvalues, which worker 0 computes.
static unsigned compute_few(struct system *system, const struct spectra *ends, unsigned wanted,
                            struct critical_step *result, const struct worker *worker)
{
    struct quadratic *quadratic = system->meter->quadratic;
    const struct dense *dense = REAL_NAME(quadratic_dense)(quadratic, worker);
    if (!dense)
        return wanted;
    if (worker->index == 0)
        system->meter->few =
            dense_find(dense, fmax(ends->square, ends->negative_part), ends->damping);
    REAL_NAME(quadratic_dense_release)(quadratic, worker);
    const struct dense_steps steps = system->meter->few;
    worker_barrier(worker); // all have read it
    for (int i = 0; i < INTEGRATOR_COUNT && steps.found; i++)
        if (wanted >> i & 1) {
            result->computed_dt[i] = fmax(steps.step[i], result->dt[i]);
            result->exact[i] = steps.exact[i] && (steps.step[i] > 0 || !(result->dt[i] > 0));
        }
    return steps.found ? 0 : wanted;
}

// Computes the steps for more nodes. If K and C have common eigenvectors, which a product shows,
// quotients suffice. Otherwise, and if the enclosure is not tight, the fastest eigenvalues of the
// quadratic problem are computed, with bounds by quotients for the limits that these do not
// determine.
static void compute_damped(struct system *system, const struct spectra *ends, unsigned wanted,
                           struct critical_step *result, const struct worker *worker)
{
    struct quadratic *quadratic = system->meter->quadratic;
    unsigned left = compute_few(system, ends, wanted, result, worker);
    if (!left)
        return;
    struct enclosure set = enclose(&system->meter->range.modes, ends);
    const double square = set.scale[0], damping = set.scale[1];
    bool many = system->state->nodes > LANCZOS_MANY_NODES, common = false;
    struct quadratic_steps steps = {.found = {false}};
    if (square == 0) { // only drag and damping
        const struct stepping stepping = stepping_of(system);
        for (int i = 0; i < INTEGRATOR_COUNT; i++)
            if (left >> i & 1) {
                result->computed_dt[i] =
                    integrator_mode_step((enum integrator)i, &stepping, 0, damping);
                result->exact[i] = true;
            }
        return;
    }
    if (!many)
        common = REAL_NAME(quadratic_commutes)(quadratic, square, damping, worker);
    if (common) {
        compute_by_quotients(system, left, true, &steps, ends, result, &set, worker);
        for (int i = 0; i < INTEGRATOR_COUNT; i++)
            if (result->exact[i])
                left &= ~(1u << i);
    }
    if (left && !many)
        steps = REAL_NAME(quadratic_find)(quadratic, square, damping, left, worker);
    for (int i = 0; i < INTEGRATOR_COUNT; i++)
        if (steps.found[i]) {
            result->computed_dt[i] = steps.step[i];
            result->exact[i] = true;
            left &= ~(1u << i);
        }
    if (!common)
        compute_by_quotients(system, left, false, &steps, ends, result, &set, worker);
}

// The guaranteed step of the integrators with this form. For the symplectic integrators it is the
// only limit.
static double guaranteed_step(const struct form_list *list, bool damped, int form,
                              const struct critical_step *result)
{
    int integrator = 0;
    while (!(list->users[damped][form] >> integrator & 1))
        integrator++;
    return result->dt[integrator];
}

// Whether limit M - d h C - s h^2 K is definite. Divided by h^2 it grows monotonically as h falls
// from twice the h at which damping alone reaches the limit, whatever K is: if it is definite at
// one of these h, it is at all smaller ones.
static bool is_form_definite(struct system *system, const struct step_form *form, double h,
                             const struct worker *worker)
{
    double largest = REAL_NAME(lanczos_largest)(system->meter->lanczos, form->stiffness * h * h,
                                                form->damping * h, worker);
    return largest < form->limit;
}

// The same for an indefinite K. Its negative modes do not limit the step by themselves, but reduce
// the stiffness of combinations with other modes. *exact: whether the result is the limit.
static double computed_pressed_step(struct system *system, const struct step_form *form,
                                    double guess, const struct spectra *ends, bool *exact,
                                    const struct worker *worker)
{
    enum { HALVINGS = 12 };
    const double certain = 0.999;
    struct quadratic *quadratic = system->meter->quadratic;
    const struct dense *dense = REAL_NAME(quadratic_dense)(quadratic, worker);
    *exact = true;
    if (dense) {
        if (worker->index == 0)
            system->meter->form_step = dense_form_step(dense, form, ends->damping);
        REAL_NAME(quadratic_dense_release)(quadratic, worker);
        double step = system->meter->form_step;
        worker_barrier(worker); // all have read it
        return step;
    }
    double high = 2 * form->limit / (form->damping * ends->damping), low = fmin(guess, high);
    if (is_form_definite(system, form, high, worker)) {
        // A larger step is possible only if damping and negative stiffness belong to the same
        // modes.
        *exact = false;
        return fmax(high, guess);
    }
    for (int i = 0; i < HALVINGS && low < certain * high; i++) {
        double middle = sqrt(low * high);
        if (is_form_definite(system, form, middle, worker))
            low = middle;
        else
            high = middle;
    }
    *exact = low >= 0.99 * high;
    return low;
}

// The ends of the spectra. How far K is below 0 is not computed where its bound shows that this is
// round-off. For many nodes no vectors are found, which would take as many products again, and the
// least of K takes no products of its own.
static struct spectra find_ends(struct system *system, bool damped, double negative_bound,
                                const struct worker *worker)
{
    const double round_off = sizeof(real) == sizeof(float) ? 2e-5 : 1e-9;
    struct lanczos *lanczos = system->meter->lanczos;
    const bool many = system->state->nodes > LANCZOS_MANY_NODES;
    // Below this largest square the least one counts.
    const double matters = !system->meter->range.pressed   ? 0
                           : system->topology->has_contact ? INFINITY
                                                           : negative_bound / round_off;
    struct spectra ends = {.square = 0};
    if (damped && !many) {
        ends.stiffest = REAL_NAME(lanczos_mode)(lanczos, 1, 0, 0, worker);
        ends.most_damped = REAL_NAME(lanczos_mode)(lanczos, 0, 1, 0, worker);
    } else {
        double least;
        ends.stiffest.value = REAL_NAME(lanczos_ends)(lanczos, many ? matters : 0, &least, worker);
        ends.softest.value = -least;
        if (damped)
            ends.most_damped.value = REAL_NAME(lanczos_largest)(lanczos, 0, 1, worker);
    }
    ends.square = fmax(0, ends.stiffest.value);
    ends.damping = fmax(0, ends.most_damped.value);
    if (ends.square < matters) {
        if (!many)
            ends.softest = REAL_NAME(lanczos_mode)(lanczos, -1, 0, ends.square, worker);
        if (ends.softest.value > round_off * ends.square)
            ends.negative_part = ends.softest.value;
    }
    return ends;
}

void REAL_NAME(computed_steps_find)(struct system *system, enum critical_wanted wanted,
                                    double negative_bound, struct critical_step *result,
                                    const struct worker *worker)
{
    const struct stepping stepping = stepping_of(system);
    REAL_NAME(lanczos_update)(system->meter->lanczos, REAL_NAME(evaluation_now)(system), worker);
    const bool may_be_damped = result->damping > 0;
    if (!may_be_damped) // otherwise it is known from the bounds
        REAL_NAME(damping_range_find)(system, &system->meter->range, worker);
    const struct spectra ends = find_ends(system, may_be_damped, negative_bound, worker);
    const bool damped = ends.damping > 0; // colliders that touch no node do not count
    result->computed_omega = sqrt(ends.square);
    result->computed = ends.square > 0 ? 2 / result->computed_omega : 0;

    struct form_list list = {.count = 0};
    form_list_add(&list, &stepping, damped);
    const uint32_t *const users = list.users[damped];
    double steps[LISTED_FORMS_MAX] = {0};
    bool exact[LISTED_FORMS_MAX];
    for (int f = 0; f < list.count; f++) {
        const struct step_form *form = &list.forms[f];
        exact[f] = true;
        double guess = guaranteed_step(&list, damped, f, result);
        if (form->negative || users[f] >> INTEGRATOR_RK4 & 1)
            steps[f] = guess; // the own limits of the Runge-Kutta methods follow
        else if (damped && ends.negative_part > 0)
            steps[f] = computed_pressed_step(system, form, guess, &ends, &exact[f], worker);
        else if (damped && ends.square > 0)
            steps[f] = system->state->nodes > LANCZOS_MANY_NODES
                           ? computed_step_of_many(system, form, &ends, worker)
                           : computed_step(system, form, guess, worker);
        else
            steps[f] =
                fmin(step_of_form(form, ends.square, 0), step_of_form(form, 0, ends.damping));
    }
    form_list_steps(&list, damped, steps, result->computed_dt);
    result->computed_dt[INTEGRATOR_XPBD] = result->dt[INTEGRATOR_XPBD];
    for (int i = 0; i < INTEGRATOR_COUNT; i++) {
        bool runge_kutta = is_runge_kutta((enum integrator)i);
        result->exact[i] = !runge_kutta;
        if (runge_kutta)
            result->computed_dt[i] = result->dt[i];
        for (int f = 0; f < list.count && !runge_kutta; f++)
            if (users[f] >> i & 1)
                result->exact[i] = exact[f];
    }
    result->exact[INTEGRATOR_XPBD] = !system->elements && !system->surface_contact;
    unsigned left = wanted_runge_kutta(system, wanted);
    if (left && !damped)
        compute_undamped(system, &ends, left, result);
    else if (left)
        compute_damped(system, &ends, left, result, worker);
}
