// The plain loops over listed springs, one at a time, written to be compared with the equations
// (docs/numerics.md). Every other kernel is tested against them.
#include "springs/listed/reference.h"

#include <assert.h>

#include "springs/law.h"

// F_a = -k (L - L0) u - c (w.u) u   (axial)   or   -k (L - L0) u - c w   (full);  F_b = -F_a.
// At L = 0 there is no direction u: no elastic and no axial damping force.
void REAL_NAME(reference_springs)(const struct system *system, const void *unused,
                                  struct plan_block block)
{
    (void)unused;
    const struct constants *constants = system->constants;
    struct state *s = system->state;
    const real *rest_lengths = s->rest_length ? s->rest_length : constants->rest_length;

    for (uint64_t i = block.first; i < block.first + block.count; i++) {
        if (s->broken && s->broken[i])
            continue;
        const struct spring_constants *material =
            &constants->material[spring_material_number(constants, i)];

        uint32_t a = constants->spring_nodes[i][0], b = constants->spring_nodes[i][1];

        real dx = s->x[a] - s->x[b], dy = s->y[a] - s->y[b], dz = s->z[a] - s->z[b];
        real square = dx * dx + dy * dy + dz * dz;
        real length = real_sqrt(square);
        real rest = rest_lengths[i];
        if (spring_is_slack(material, (double)length, (double)rest))
            continue;

        // Elastic force and damping.
        real wx = s->vx[a] - s->vx[b], wy = s->vy[a] - s->vy[b], wz = s->vz[a] - s->vz[b];
        real along = 0; // force on a is along * d + across * w
        if (length > 0)
            along = -material->stiffness * (length - rest) / length;
        real across = 0;
        if (material->damping_law == DAMPING_FULL)
            across = -material->damping;
        else if (square > 0)
            along -= material->damping * (wx * dx + wy * dy + wz * dz) / square;

        real fx = along * dx + across * wx;
        real fy = along * dy + across * wy;
        real fz = along * dz + across * wz;

        s->fx[a] += fx;
        s->fy[a] += fy;
        s->fz[a] += fz;
        s->fx[b] -= fx;
        s->fy[b] -= fy;
        s->fz[b] -= fz;
    }
}

static void finish_component(const struct system *system, const struct finish_range *range,
                             const real *v, real *f, double gravity)
{
    const real g = (real)gravity, drag = (real)system->topology->environment.air_drag;
    const uint64_t end = (uint64_t)range->first + (uint64_t)range->count;
    for (uint64_t i = (uint64_t)range->first; i < end;) {
        struct node_masses masses = topology_masses(system->topology, i, end);
        for (; i < masses.end; i++)
            f[i] += (real)mass_in(&masses, i) * g - drag * v[i];
    }
}

// F += m g - c v (docs/numerics.md, "Forces"; NeHe lesson 40). The reference plan has no grids, so
// the integrators move nodes in loops of their own, and `finish` is not used.
void REAL_NAME(reference_finish)(const struct system *system, const struct finish_range *range,
                                 enum sweep_finish finish)
{
    (void)finish;
    const struct state *s = system->state;
    const vec3 g = system->topology->environment.gravity;
    finish_component(system, range, s->vx, s->fx, g.x);
    finish_component(system, range, s->vy, s->fy, g.y);
    finish_component(system, range, s->vz, s->fz, g.z);
}

// ---- Constraints (springs/constraint.h), solved one after another

// The quantities of a spring whose constraint is solved.
struct constraint {
    real x, y, z;    // d, from b to a at the end of the substep
    real wx, wy, wz; // v_a - v_b
    real square, length, rest;
    real along;    // d.w
    real inverse;  // 1/m_a + 1/m_b
    real rounding; // the error of the length that rounding explains, of a rigid constraint
};

// The part of |x_a - x_b| - L0 that rounding explains (springs/constraint.h), between -r and r.
static real constraint_rounding(const struct system *system, const struct constraint_law *law,
                                size_t i, real rest)
{
    const struct state *s = system->state;
    uint32_t a = system->constants->spring_nodes[i][0], b = system->constants->spring_nodes[i][1];
    real dx = s->x[a] - s->x[b], dy = s->y[a] - s->y[b], dz = s->z[a] - s->z[b];
    real error = real_sqrt(dx * dx + dy * dy + dz * dz) - rest;
    real size = (real_abs(s->x[a]) + real_abs(s->y[a])) + (real_abs(s->z[a]) + rest);
    real most = law->rounding * size;
    real below = error < most ? error : most;
    return below > -most ? below : -most;
}

static struct constraint constraint_at(const struct system *system, size_t i, double step)
{
    const struct constants *constants = system->constants;
    const struct state *s = system->state;
    const real h = (real)step;
    uint32_t a = constants->spring_nodes[i][0], b = constants->spring_nodes[i][1];
    struct constraint it = {
        .wx = s->vx[a] - s->vx[b], .wy = s->vy[a] - s->vy[b], .wz = s->vz[a] - s->vz[b]};
    it.x = (s->x[a] - s->x[b]) + h * it.wx;
    it.y = (s->y[a] - s->y[b]) + h * it.wy;
    it.z = (s->z[a] - s->z[b]) + h * it.wz;
    it.square = it.x * it.x + it.y * it.y + it.z * it.z;
    it.length = real_sqrt(it.square);
    it.rest = (s->rest_length ? s->rest_length : constants->rest_length)[i];
    it.along = it.x * it.wx + it.y * it.wy + it.z * it.wz;
    it.inverse = constants->inverse_mass[a] + constants->inverse_mass[b];
    return it;
}

// The change of velocity along d per unit of inverse mass: -(change of lambda) / (h L).
static real constraint_impulse(const struct constraint_law *law, const struct constraint *it,
                               real lambda)
{
    real stretch = it->length - it->rest - it->rounding;
    bool slack = law->one_sided && !(law->side * stretch > 0);
    real damping = slack ? 0 : law->damping * it->along;
    real wanted = (law->elastic * stretch + law->compliant * lambda) * it->length + damping;
    real divisor = (law->weight * it->inverse + law->compliant) * law->step * it->square;
    if (!(divisor > 0))
        return 0;
    real pull = wanted / divisor;
    if (law->one_sided) {
        real least = law->side * lambda / (law->step * it->length);
        pull = law->side * (law->side * pull > least ? law->side * pull : least);
    }
    return pull;
}

// The factor of the transverse damping of the full law, to be multiplied by w - u (u.w).
static real constraint_damping_across(const struct constraint_law *law, const struct constraint *it)
{
    real stretch = law->side * (it->length - it->rest);
    if (law->one_sided && !(stretch > 0))
        return 0;
    return law->across / (1 + law->across * it->inverse);
}

static void change_ends(const struct system *system, size_t i, real x, real y, real z)
{
    struct state *s = system->state;
    const struct constants *constants = system->constants;
    uint32_t a = constants->spring_nodes[i][0], b = constants->spring_nodes[i][1];
    real per_a = constants->inverse_mass[a], per_b = constants->inverse_mass[b];
    real_accumulate(s->vx, s->vx_low, a, -(per_a * x));
    real_accumulate(s->vy, s->vy_low, a, -(per_a * y));
    real_accumulate(s->vz, s->vz_low, a, -(per_a * z));
    real_accumulate(s->vx, s->vx_low, b, per_b * x);
    real_accumulate(s->vy, s->vy_low, b, per_b * y);
    real_accumulate(s->vz, s->vz_low, b, per_b * z);
}

void REAL_NAME(reference_constraints)(const struct system *system, const void *argument,
                                      struct plan_block block)
{
    const struct constraint_pass *pass = argument;
    const struct constants *constants = system->constants;
    const struct spring_constants *known = NULL;
    struct constraint_law law = {0};
    struct state *s = system->state;

    for (size_t i = (size_t)block.first; i < (size_t)(block.first + block.count); i++) {
        if (s->broken && s->broken[i])
            continue;
        const struct spring_constants *material =
            &constants->material[spring_material_number(constants, i)];
        assert(material);
        if (material != known)
            law = constraint_law_of(material, pass->step);
        known = material;

        struct constraint it = constraint_at(system, i, pass->step);
        if (law.rounding > 0)
            it.rounding = constraint_rounding(system, &law, i, it.rest);

        real lambda = s->multiplier && !pass->first ? s->multiplier[i] : 0;
        real pull = constraint_impulse(&law, &it, lambda);
        if (s->multiplier)
            s->multiplier[i] = lambda - pull * (law.step * it.length);

        real x = pull * it.x, y = pull * it.y, z = pull * it.z;
        if (pass->first && law.across > 0) {
            real share = constraint_damping_across(&law, &it);
            real parallel = it.square > 0 ? it.along / it.square : 0;
            x += share * (it.wx - parallel * it.x);
            y += share * (it.wy - parallel * it.y);
            z += share * (it.wz - parallel * it.z);
        }

        change_ends(system, i, x, y, z);
    }
}
