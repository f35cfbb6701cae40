// Springs as links, one after the other, written to be read beside the equations of links.h.
#include "kernels/kernels.h"

// A spring at its turn.
struct link {
    real x, y, z;    // d, from b to a at the end of the substep
    real wx, wy, wz; // v_a - v_b
    real square, length, rest;
    real along;    // d.w
    real inverse;  // 1/m_a + 1/m_b
    real rounding; // of a rigid link's length at the substep's start
};

// The part of |x_a - x_b| - L0 that rounding explains: between -r and r.
static real link_rounding(const struct system *system, const struct link_law *law, size_t i,
                          real rest)
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

static struct link link_at(const struct system *system, size_t i, double step)
{
    const struct constants *constants = system->constants;
    const struct state *s = system->state;
    const real h = (real)step;
    uint32_t a = constants->spring_nodes[i][0], b = constants->spring_nodes[i][1];
    struct link it = {
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

// What the ends get along d for each unit of inverse mass: -(change of lambda) / (h L).
static real link_pull(const struct link_law *law, const struct link *it, real lambda)
{
    real stretch = it->length - it->rest - it->rounding;
    bool slack = law->one_sided && !(law->side * stretch > 0);
    real damping = slack ? 0 : law->damping * it->along;
    real wanted = (law->elastic * stretch + law->give * lambda) * it->length + damping;
    real divisor = (law->weight * it->inverse + law->give) * law->step * it->square;
    if (!(divisor > 0))
        return 0;
    real pull = wanted / divisor;
    if (law->one_sided) {
        real least = law->side * lambda / (law->step * it->length);
        pull = law->side * (law->side * pull > least ? law->side * pull : least);
    }
    return pull;
}

// The damping of what lies across the spring, by the full law, for each component of w - u (u.w).
static real link_share_across(const struct link_law *law, const struct link *it)
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
    s->vx[a] -= per_a * x;
    s->vy[a] -= per_a * y;
    s->vz[a] -= per_a * z;
    s->vx[b] += per_b * x;
    s->vy[b] += per_b * y;
    s->vz[b] += per_b * z;
}

void REAL_NAME(links_plain)(const struct system *system, const void *argument,
                            struct plan_block block)
{
    const struct link_pass *pass = argument;
    const struct constants *constants = system->constants;
    const struct spring_constants *known = NULL;
    struct link_law law = {0};
    struct state *s = system->state;
    for (size_t i = (size_t)block.first; i < (size_t)(block.first + block.count); i++) {
        if (s->broken && s->broken[i])
            continue;
        const struct spring_constants *material =
            &constants->material[constants->spring_material[i]];
        if (material != known)
            law = link_law_of(material, pass->step);
        known = material;
        struct link it = link_at(system, i, pass->step);
        if (law.rounding > 0)
            it.rounding = link_rounding(system, &law, i, it.rest);
        real lambda = s->multiplier && !pass->first ? s->multiplier[i] : 0;
        real pull = link_pull(&law, &it, lambda);
        if (s->multiplier)
            s->multiplier[i] = lambda - pull * (law.step * it.length);
        real x = pull * it.x, y = pull * it.y, z = pull * it.z;
        if (pass->first && law.across > 0) {
            real share = link_share_across(&law, &it);
            real parallel = it.square > 0 ? it.along / it.square : 0;
            x += share * (it.wx - parallel * it.x);
            y += share * (it.wy - parallel * it.y);
            z += share * (it.wz - parallel * it.z);
        }
        change_ends(system, i, x, y, z);
    }
}
